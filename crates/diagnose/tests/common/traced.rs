//! Synthetic recordings of system calls, one by one or added up as the kernel does it above a rate.
//!
//! The program is `main → work → read_file (of libc)`: stack 0 to 2, and `main → other`: stack 3.

use crate::common::about;
use slowpath_diagnose::diagnose;
use slowpath_diagnose::findings::Finding;
use slowpath_recording::tables::*;
use slowpath_recording::{Recording, Tables};
use std::collections::BTreeMap;
use std::path::PathBuf;

pub const US: u64 = 1_000;
pub const MS: u64 = 1_000_000;
/// The place that calls: `main → work → read_file`.
pub const WORK: u32 = 2;
/// Another place: `main → other`.
pub const OTHER: u32 = 3;

/// How calls are recorded.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Mode {
    Each,
    AddedUp,
}
pub const BOTH: [Mode; 2] = [Mode::Each, Mode::AddedUp];

/// Thread, number, file, stack and error.
type Key = (u32, u32, Option<u32>, Option<u32>, i64);

/// A recording in the making.
pub struct Traced {
    pub tables: Tables,
    pub now: u64,
    mode: Mode,
}

impl Traced {
    pub fn new(mode: Mode) -> Traced {
        let mut tables = Tables::default();
        for (module, path) in (0..).zip(["/bin/program", "/lib/libc.so.6"]) {
            let path = path.into();
            tables.modules.push(Module {
                module,
                path,
                build_id: None,
                device: 0,
                inode: 1,
                size: 1,
                mtime_ns: 0,
            });
        }
        let functions =
            [("main", 0, None), ("work", 0, Some(0)), ("read_file", 1, Some(1)), ("other", 0, Some(0))];
        for (number, (name, module, parent)) in (0..).zip(functions) {
            let address = u64::from(number) * 0x100;
            let (file, line) = (Some("program.c".to_owned()), Some(number + 10));
            let kind = "native".to_owned();
            tables.locations.push(Location {
                location: number,
                module: Some(module),
                address,
                kind: kind.clone(),
            });
            tables.functions.push(Function {
                function: number,
                name: name.into(),
                module: Some(module),
                file: file.clone(),
                line,
                address,
            });
            tables.frames.push(Frame { location: number, depth: 0, function: number, file, line, kind });
            tables.stacks.push(Stack { stack: number, parent, location: number });
        }
        let mut traced = Traced { tables, now: MS, mode };
        traced.process(None, "/bin/program", 0);
        traced
    }

    /// A process with one thread of the same number, forked and executed now, alive to the end.
    pub fn process(&mut self, parent: Option<u32>, program: &str, cpu_ns: u64) -> u32 {
        let process = self.tables.processes.len() as u32;
        self.tables.processes.push(Process {
            process,
            parent,
            pid: process + 100,
            run: 0,
            program: program.into(),
            arguments: Vec::new(),
            directory: None,
            start_ns: self.now,
            exec_ns: Some(self.now),
            end_ns: None,
            exit: Some(0),
            cpu_ns: Some(cpu_ns),
            user_ns: Some(cpu_ns),
            peak_memory_bytes: None,
            tracing_ns: 0,
            sample_scale: 1.0,
        });
        self.tables.threads.push(Thread {
            thread: process,
            process,
            tid: process + 100,
            name: String::new(),
            start_ns: self.now,
            end_ns: None,
            cpu_ns: None,
        });
        process
    }

    /// So many further threads of the first process, which begin and end now; their numbers follow those of all before.
    pub fn threads(&mut self, number: u32) {
        let first = self.tables.threads.len() as u32;
        for thread in first..first + number {
            self.tables.threads.push(Thread {
                thread,
                process: 0,
                tid: thread + 10_000,
                name: String::new(),
                start_ns: self.now,
                end_ns: Some(self.now),
                cpu_ns: Some(20 * US),
            });
        }
    }

    /// Something that calls concern, of a size.
    pub fn file(&mut self, path: &str, kind: &str, size: u64) -> u32 {
        let file = self.tables.files.len() as u32;
        let inode = if kind == "path" || kind == "address" { 0 } else { u64::from(file) + 1 };
        self.tables.files.push(File {
            file,
            path: path.into(),
            device: 1,
            inode,
            size,
            mtime_ns: 1,
            kind: kind.into(),
        });
        file
    }

    /// A call of the first process from `work`, now, that takes `duration` ns; time goes on by that and 1 µs.
    pub fn call(&mut self, number: u32, file: Option<u32>, result: i64, duration: u64) -> &mut Syscall {
        let moves = matches!(number, 0 | 1 | 17 | 18 | 44 | 45 | 295 | 296 | 327 | 328);
        self.tables.syscalls.push(Syscall {
            time_ns: self.now,
            end_ns: self.now + duration,
            thread: 0,
            number,
            compat: false,
            count: 1,
            duration_ns: duration,
            blocked_ns: 0,
            result,
            bytes: if moves { result.max(0) as u64 } else { 0 },
            argument: 0,
            file,
            sync: false,
            stack: Some(WORK),
            goroutine: None,
            met: None,
        });
        self.now += duration + US;
        self.tables.syscalls.last_mut().expect("just pushed")
    }

    /// A call that is asleep for all of its time.
    pub fn sleep(&mut self, number: u32, file: Option<u32>, result: i64, duration: u64) -> &mut Syscall {
        let row = self.call(number, file, result, duration);
        row.blocked_ns = duration;
        row
    }

    /// Samples of the first process on a stack, one a ms, from now on.
    pub fn compute(&mut self, stack: u32, ns: u64) {
        for at in 0..ns / MS {
            let time_ns = self.now + at * MS;
            let (thread, on_cpu, weight_ns, complete) = (0, true, MS, true);
            self.tables.samples.push(Sample {
                time_ns,
                thread,
                on_cpu,
                weight_ns,
                stack: Some(stack),
                complete,
            });
        }
        self.now += ns;
    }

    /// The recording, of a run with so much CPU time; it ends now.
    pub fn recording(mut self, cpu_ns: u64) -> Recording {
        if self.mode == Mode::AddedUp {
            self.add_up();
        }
        let mut about = about(self.now);
        (about.user_ns, about.sys_ns) = (cpu_ns, 0);
        let recording = Recording::from_tables(PathBuf::from("synthetic"), about, self.tables, Vec::new());
        assert_eq!(recording.dangling, 0, "the synthetic recording is whole");
        recording
    }

    /// As the kernel adds up: calls of one thread, number, file, place and error, but no processes and no long waits.
    fn add_up(&mut self) {
        let mut sums: BTreeMap<Key, Syscall> = BTreeMap::new();
        let mut rows = Vec::new();
        for row in std::mem::take(&mut self.tables.syscalls) {
            if row.blocked_ns >= MS || matches!(row.number, 56 | 59 | 61 | 247) {
                rows.push(row);
                continue;
            }
            let key = (row.thread, row.number, row.file, row.stack, row.result.min(0));
            match sums.get_mut(&key) {
                None => {
                    sums.insert(key, Syscall { result: row.result.min(0), ..row });
                }
                Some(sum) => {
                    sum.count += 1;
                    sum.end_ns = row.end_ns;
                    sum.duration_ns += row.duration_ns;
                    sum.blocked_ns += row.blocked_ns;
                    sum.bytes += row.bytes;
                }
            }
        }
        rows.extend(sums.into_values());
        rows.sort_by_key(|row| row.time_ns);
        self.tables.syscalls = rows;
    }
}

/// The one finding there is.
pub fn only(recording: &Recording, cause: &str) -> Finding {
    let mut findings = diagnose(recording).findings;
    assert_eq!(findings.len(), 1, "{findings:#?}");
    assert_eq!(findings[0].cause, cause);
    findings.remove(0)
}

/// There is none.
pub fn silent(recording: &Recording) {
    let findings = diagnose(recording).findings;
    assert!(findings.is_empty(), "{findings:#?}");
}
