//! The target's processes and threads under numbers of our own, what is mapped into them, and their rows.

use crate::cpu::{self, Account, Cpu};
use crate::image::Image;
use crate::resources;
use crate::unwind::{AddressSpace, Mapped};
use crate::weigh::{Seen, Together, Weighed, weigh};
use framehop::x86_64::CacheX86_64;
use slowpath_recording::Tables;
use slowpath_recording::tables::{Mapping, Module, Process, REDACTED, Thread};
use std::collections::HashMap;
use std::fs::{File, Metadata};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// What is known of a live process.
pub(crate) struct Live {
    pub row: Process,
    pub space: AddressSpace,
    pub cache: CacheX86_64,
    /// The process's memory, opened when a stack is first found deeper than its copy. None inside if it cannot be.
    pub memory: Option<Option<File>>,
    pub seen: Seen,
    /// The command has executed (of our own child: it is the target from then on).
    pub executed: bool,
    /// It called for its end, and its largest size was measured then.
    ends: bool,
    threads: u32,
    /// What it had used when it was taken up.
    before: Account,
    /// What it has used since then, when it was last looked at.
    so_far: Option<Cpu>,
}

/// A process's memory, opened at its first use. It leaves descriptors for the files of modules.
pub(crate) fn memory(slot: &mut Option<Option<File>>, pid: u32) -> Option<&File> {
    const FOR_MODULES: i32 = 12;
    let open = || resources::keep(File::open(format!("/proc/{pid}/mem")).ok()?, FOR_MODULES);
    slot.get_or_insert_with(open).as_ref()
}

/// Every process and thread of the recording.
#[derive(Default)]
pub(crate) struct World {
    live: HashMap<u32, Live>,
    live_threads: HashMap<u32, Thread>,
    /// Rows of processes that ended; weighed at the end.
    ended: Vec<(Process, Seen)>,
    /// CPU time of threads before they were taken up, where they ran before, ns.
    before: HashMap<u32, u64>,
    processes: u32,
    threads: u32,
    modules: HashMap<ModuleKey, (u32, Option<Arc<Image>>)>,
    images: Vec<Option<Arc<Image>>>,
    /// Which run of `--repeat` is on.
    pub run: u32,
    /// Arguments of programs are not stored.
    pub redact: bool,
    /// Nothing reports what a process has used when it ends: it is looked at as long as it is there.
    pub looks: bool,
    /// Files whose mapping could not be read, so that stacks end in them.
    pub unreadable: u64,
}

#[derive(PartialEq, Eq, Hash)]
struct ModuleKey {
    path: PathBuf,
    device: (u32, u32),
    inode: u64,
}

impl World {
    /// The live process of a pid.
    pub(crate) fn process(&mut self, pid: u32) -> Option<&mut Live> {
        self.live.get_mut(&pid)
    }

    /// Live processes with their pids.
    pub(crate) fn processes(&self) -> impl Iterator<Item = (u32, &Live)> {
        self.live.iter().map(|(pid, live)| (*pid, live))
    }

    /// The number of a live thread; a thread of a known process that was not reported is added.
    pub(crate) fn thread(&mut self, pid: u32, tid: u32, time: u64, tables: &mut Tables) -> Option<u32> {
        if let Some(thread) = self.live_threads.get(&tid) {
            return Some(thread.thread);
        }
        self.start_thread(pid, tid, time, tables)
    }

    /// The number of a live thread.
    pub(crate) fn thread_number(&self, tid: u32) -> Option<u32> {
        self.live_threads.get(&tid).map(|thread| thread.thread)
    }

    /// The image of a module.
    pub(crate) fn image(&self, module: u32) -> Option<&Arc<Image>> {
        self.images[module as usize].as_ref()
    }

    /// The files of modules, by number.
    pub(crate) fn held(&self) -> Vec<(u32, Arc<File>)> {
        let files = self.images.iter().zip(0u32..);
        files.filter_map(|(image, module)| Some((module, image.as_ref()?.file()?.clone()))).collect()
    }

    /// Looks at what every process that runs has used. Of one that ends unseen the last look is all that is known.
    pub(crate) fn look(&mut self) {
        for (pid, live) in &mut self.live {
            live.look(*pid);
        }
    }

    /// Takes up a process that runs already, with its threads.
    pub(crate) fn take_up(&mut self, pid: u32, threads: &[u32], time: u64, tables: &mut Tables) {
        self.start(pid, true, time, tables);
        if let Some(live) = self.live.get_mut(&pid) {
            live.before = Account::of(pid).unwrap_or_default();
        }
        self.before.extend(threads.iter().filter_map(|tid| Some((*tid, cpu::of_thread(pid, *tid)?))));
    }

    /// Takes a process up, the command itself or one to attach to.
    pub(crate) fn start(&mut self, pid: u32, executed: bool, time: u64, tables: &mut Tables) {
        self.insert(
            pid,
            None,
            AddressSpace::default(),
            executed,
            String::new(),
            Vec::new(),
            None,
            time,
            tables,
        );
    }

    /// A fork: of a process, or of a thread where `pid` is its parent's.
    pub(crate) fn fork(&mut self, pid: u32, parent: u32, tid: u32, time: u64, tables: &mut Tables) {
        let Some(of) = self.live.get(&parent) else { return };
        if pid == parent {
            self.start_thread(pid, tid, time, tables);
            return;
        }
        let (space, executed, row) = (of.space.clone(), of.executed, of.row.clone());
        let parent = Some(row.process);
        self.insert(pid, parent, space, executed, row.program, row.arguments, row.directory, time, tables);
    }

    #[allow(clippy::too_many_arguments)] // one place makes processes; a struct of these would be Process again
    fn insert(
        &mut self,
        pid: u32,
        parent: Option<u32>,
        space: AddressSpace,
        executed: bool,
        program: String,
        arguments: Vec<String>,
        directory: Option<String>,
        time: u64,
        tables: &mut Tables,
    ) {
        self.end(pid, time, tables); // a pid used again, its exit lost
        let row = Process {
            process: self.processes,
            parent,
            pid,
            run: self.run,
            program,
            arguments,
            directory,
            start_ns: time,
            exec_ns: None,
            end_ns: None,
            exit: None,
            cpu_ns: None,
            user_ns: None,
            peak_memory_bytes: None,
            tracing_ns: 0,
            sample_scale: 1.0,
        };
        self.processes += 1;
        tables.processes.push(row.clone());
        let live = Live {
            row,
            space,
            cache: CacheX86_64::new(),
            memory: None,
            seen: Seen::default(),
            executed,
            ends: false,
            threads: 0,
            before: Account::default(),
            so_far: None,
        };
        self.live.insert(pid, live);
        self.start_thread(pid, pid, time, tables);
    }

    fn start_thread(&mut self, pid: u32, tid: u32, time: u64, tables: &mut Tables) -> Option<u32> {
        let live = self.live.get_mut(&pid)?;
        live.threads += 1;
        let name = live.row.program.rsplit('/').next().unwrap_or_default().to_owned();
        let row = Thread {
            thread: self.threads,
            process: live.row.process,
            tid,
            name,
            start_ns: time,
            end_ns: None,
            cpu_ns: None,
        };
        self.threads += 1;
        tables.threads.push(row.clone());
        let number = row.thread;
        self.live_threads.insert(tid, row);
        Some(number)
    }

    /// A new name of a thread, or a new program in a process.
    pub(crate) fn comm(&mut self, pid: u32, tid: u32, exec: bool, name: &[u8], tables: &mut Tables) {
        let name = String::from_utf8_lossy(name).into_owned();
        if exec && let Some(live) = self.live.get_mut(&pid) {
            live.space = AddressSpace::default();
            live.cache = CacheX86_64::new();
            live.memory = None;
            live.executed = true;
            let proc = PathBuf::from(format!("/proc/{pid}"));
            let text =
                |path: &str| Some(std::fs::read_link(proc.join(path)).ok()?.to_string_lossy().into_owned());
            live.row.program = text("exe").unwrap_or_else(|| name.clone());
            live.row.directory = text("cwd");
            let arguments = std::fs::read(proc.join("cmdline")).unwrap_or_default();
            live.row.arguments = arguments
                .strip_suffix(&[0])
                .map(|all| {
                    all.split(|byte| *byte == 0)
                        .map(|one| String::from_utf8_lossy(one).into_owned())
                        .collect()
                })
                .unwrap_or_default();
            if self.redact {
                live.row.arguments.truncate(1);
            }
            tables.processes.push(live.row.clone());
        }
        if let Some(thread) = self.live_threads.get_mut(&tid) {
            thread.name = name;
            tables.threads.push(thread.clone());
        }
    }

    /// What a process executes now, as ptrace saw it; `anew` where nothing else reports it.
    pub(crate) fn program(
        &mut self,
        pid: u32,
        anew: bool,
        program: Option<String>,
        directory: Option<String>,
        mut arguments: Vec<String>,
        tables: &mut Tables,
    ) {
        let Some(live) = self.live.get_mut(&pid) else { return };
        if anew {
            live.space = AddressSpace::default();
            live.cache = CacheX86_64::new();
            live.memory = None;
            live.executed = true;
        }
        if self.redact {
            arguments.truncate(1);
        }
        live.row.arguments = arguments;
        live.row.directory = directory.or(live.row.directory.take());
        live.row.program = program.unwrap_or_else(|| live.row.arguments.first().cloned().unwrap_or_default());
        let name = live.row.program.rsplit('/').next().unwrap_or_default().to_owned();
        tables.processes.push(live.row.clone());
        if let Some(thread) = self.live_threads.get_mut(&pid).filter(|_| anew) {
            thread.name = name;
            tables.threads.push(thread.clone());
        }
    }

    /// An exec, as BPF saw it: its arguments serve where the process was gone before they could be read.
    pub(crate) fn executed(&mut self, pid: u32, time: u64, arguments: Vec<String>, tables: &mut Tables) {
        if let Some(live) = self.live.get_mut(&pid) {
            live.row.exec_ns = Some(time);
            if live.row.arguments.is_empty() {
                live.row.arguments = arguments;
            }
            if self.redact && !live.row.arguments.is_empty() {
                live.row.arguments.truncate(1);
                live.row.arguments.push(REDACTED.to_owned());
            }
            tables.processes.push(live.row.clone());
        }
    }

    /// A thread's end. Its CPU time and what is known of its process's come from BPF, before perf's own record.
    pub(crate) fn exit(&mut self, pid: u32, tid: u32, time: u64, usage: Option<Usage>, tables: &mut Tables) {
        if self.looks
            && let Some(live) = self.live.get_mut(&pid)
        {
            live.look(pid);
        }
        let mut ended = false;
        let before = self.before.remove(&tid).unwrap_or(0);
        let usage = usage.map(|usage| Usage { cpu_ns: usage.cpu_ns.saturating_sub(before), ..usage });
        if let (Some(live), Some(usage)) = (self.live.get_mut(&pid), usage) {
            *live.row.cpu_ns.get_or_insert(0) += usage.cpu_ns;
            *live.row.user_ns.get_or_insert(0) += usage.user_ns();
            // The thread that calls for the end need not be the last; and a process that is killed did not call for it.
            if usage.peak_is_own || usage.last && !live.ends {
                live.row.peak_memory_bytes = live.row.peak_memory_bytes.max(Some(usage.peak_memory_bytes));
            }
            live.ends |= usage.peak_is_own;
            if usage.last {
                live.row.exit = Some(usage.exit);
                ended = true;
            }
        }
        if let Some(mut thread) = self.live_threads.remove(&tid) {
            thread.end_ns = Some(time);
            thread.cpu_ns = usage.map(|usage| usage.cpu_ns);
            tables.threads.push(thread);
            if let Some(live) = self.live.get_mut(&pid) {
                live.threads = live.threads.saturating_sub(1);
                ended |= live.threads == 0;
            }
        }
        if ended {
            self.end(pid, time, tables);
        }
    }

    fn end(&mut self, pid: u32, time: u64, tables: &mut Tables) {
        if let Some(mut live) = self.live.remove(&pid) {
            live.row.end_ns = Some(time);
            live.settle();
            tables.processes.push(live.row.clone());
            self.ended.push((live.row, live.seen));
        }
    }

    /// An executable mapping.
    #[allow(clippy::too_many_arguments)] // the fields of the kernel's record
    pub(crate) fn map(
        &mut self,
        pid: u32,
        time: u64,
        start: u64,
        len: u64,
        offset: u64,
        device: (u32, u32),
        inode: u64,
        path: &[u8],
        tables: &mut Tables,
    ) {
        use std::os::unix::ffi::OsStrExt;
        let Some(end) = start.checked_add(len) else { return };
        let path = Path::new(std::ffi::OsStr::from_bytes(path)).to_owned();
        let Some(live) = self.live.get_mut(&pid) else { return };
        let key = ModuleKey { path: path.clone(), device, inode };
        let (module, image) = match self.modules.get(&key) {
            Some((module, image)) => (*module, image.clone()),
            None => {
                let image = hold(pid, start..end, &path, inode).map(Arc::new);
                self.unreadable += u64::from(image.is_none() && inode != 0);
                let module = self.images.len() as u32;
                tables.modules.push(module_row(module, &path, image.as_deref()));
                self.images.push(image.clone());
                self.modules.insert(key, (module, image.clone()));
                (module, image)
            }
        };
        live.space.map(Mapped { range: start..end, offset, module, image });
        tables.mappings.push(Mapping {
            time_ns: time,
            process: live.row.process,
            module,
            start,
            end,
            file_offset: offset,
        });
    }

    /// Ends the recording: the last row of every process, weighed. `waited` is what the command used with all that it waited for;
    /// `stopped_ns` the part of it that a tracer by ptrace took; samples stand for what `together` says.
    pub(crate) fn finish(
        &mut self,
        waited: Cpu,
        stopped_ns: u64,
        together: Together,
        tables: &mut Tables,
    ) -> Weighed {
        let ended = std::mem::take(&mut self.ended);
        let running = self.live.drain().map(|(_, live)| live.so_far()).collect();
        weigh(ended, running, waited, stopped_ns, together, &mut tables.processes)
    }
}

impl Live {
    fn look(&mut self, pid: u32) {
        if let Some(now) = Account::of(pid) {
            self.so_far = Some(now.since(self.before));
        }
    }

    /// Where no event reported what it used the last look counts.
    fn settle(&mut self) {
        if let (None, Some(Cpu { user_ns, sys_ns })) = (self.row.cpu_ns, self.so_far) {
            (self.row.cpu_ns, self.row.user_ns) = (Some(user_ns + sys_ns), Some(user_ns));
        }
    }

    /// Its row as long as it runs: events report only its threads that have ended.
    fn so_far(mut self) -> (Process, Seen) {
        (self.row.cpu_ns, self.row.user_ns) = (None, None);
        self.settle();
        (self.row, self.seen)
    }
}

/// What a thread used, told at its exit.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Usage {
    pub cpu_ns: u64,
    pub user_ticks_ns: u64,
    pub sys_ticks_ns: u64,
    pub last: bool,
    pub exit: i32,
    pub peak_memory_bytes: u64,
    /// The peak is that of the program itself, not also of what its process was before.
    pub peak_is_own: bool,
}

impl Usage {
    fn user_ns(&self) -> u64 {
        Cpu::divided(self.cpu_ns, self.user_ticks_ns, self.sys_ticks_ns).user_ns
    }
}

/// Opens what was mapped: through the mapping itself, which reaches deleted files and other mount namespaces, else by
/// path if that still is the same file.
fn hold(pid: u32, range: std::ops::Range<u64>, path: &Path, inode: u64) -> Option<Image> {
    if path == Path::new("[vdso]") {
        return Image::vdso();
    }
    if inode == 0 {
        return None;
    }
    let same = |metadata: &Metadata| metadata.ino() == inode;
    let by_mapping = PathBuf::from(format!("/proc/{pid}/map_files/{:x}-{:x}", range.start, range.end));
    let by_root = PathBuf::from(format!("/proc/{pid}/root")).join(path.strip_prefix("/").unwrap_or(path));
    Image::open(&by_mapping, path, same)
        .or_else(|| Image::open(&by_root, path, same))
        .or_else(|| Image::open(path, path, same))
}

fn module_row(module: u32, path: &Path, image: Option<&Image>) -> Module {
    let [device, inode, size, mtime_ns] = image.map(|image| image.identity).unwrap_or_default();
    Module {
        module,
        path: path.to_string_lossy().into_owned(),
        build_id: image.and_then(|image| image.build_id.clone()),
        device,
        inode,
        size,
        mtime_ns,
    }
}
