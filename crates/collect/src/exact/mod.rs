//! Records a program under valgrind's callgrind: every instruction and every call counted, in slices, where nothing may be
//! sampled or nothing shall be left to chance. It takes some 50 times as long.
//!
//! - `merge` — slices of a process, joined while they come so that there are never too many.
//! - this file — the run, and what is written of it.
//!
//! Callgrind dumps after every turn of valgrind's scheduler (about 200,000 basic blocks, a million instructions). Files are read
//! and removed as they come, so that neither disk nor memory fills in a long run.

mod merge;

use crate::about::about;
use crate::launch::{self, Command, Ended, Held};
use crate::storage::{self, Storage};
use crate::{Error, Options, Outcome, Progress, clock, crash, signals};
use merge::{Names, Slices};
use slowpath_formats::callgrind::{INSTRUCTIONS, functions, tool};
use slowpath_leftovers::{Folder, Guard, Wards};
use slowpath_recording::about::{Collector, State};
use slowpath_recording::tables::{Function, Module, Process, Slice, SliceCall, Thread};
use slowpath_recording::{About, Writer, folder};
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io;
use std::path::Path;

/// How long a round waits, ms.
const TURN_MS: i32 = 100;
/// Callgrind's option for a dump at every turn of the scheduler: it looks no more often.
const SLICED: &str = "--dump-every-bb=1";

/// Runs a command to its end under callgrind, and records what it counted.
pub fn record_exact(command: &[OsString], mut options: Options) -> Result<Outcome, Error> {
    signals::prepare();
    let program = command.first().map(|program| program.to_string_lossy().into_owned()).unwrap_or_default();
    let scratch = Folder::new().map_err(Error::system("make a temporary folder"))?;
    let mut words =
        tool::words(scratch.path(), &[SLICED]).map_err(|missing| Error::Valgrind(missing.to_string()))?;
    words.extend(command.iter().cloned());
    let command_text: Vec<String> = command.iter().map(|part| part.to_string_lossy().into_owned()).collect();
    let mut about = about(&options, &command_text, false);
    about.runs = 1;
    about.collectors.push(Collector {
        name: "callgrind".to_owned(),
        how: "valgrind --tool=callgrind with --trace-children and --dump-every-bb, instructions".to_owned(),
    });
    about.degraded.push(
        "everything ran under valgrind (--exact): instructions and calls are exact; times are not realistic and not \
         reported; system calls, waits and kernel time are not recorded; threads run one at a time; set-uid programs \
         gain no privileges"
            .to_owned(),
    );
    let Storage { mut writer, temporary } = storage::begin(&options, &mut about, command_text.first())?;
    let kept = writer.folder().clone();
    signals::install().map_err(Error::system("handle signals"))?;

    // If we are killed nobody reads what they count: they end.
    let mark = tool::mark(scratch.path());
    let _guard = Guard::start(Wards { group: None, argument: Some(&mark) })
        .map_err(Error::system("start the process that ends valgrind if slowpath is killed"))?;
    let start = clock::now_ns();
    let valgrind = Command::new(&words, None)?;
    let held = Held::fork(&valgrind)?;
    let pid = held.pid;
    if let Err(error) = held.go(false) {
        let _ = launch::ended(pid); // it has ended by itself
        folder::discard(&kept, &options.caller);
        return Err(error);
    }
    let pidfd = launch::pidfd(pid).ok(); // without it the end is noticed a little later
    let interrupted = signals::interrupts();
    let mut counted = Counted::default();
    let mut ended = None;
    while ended.is_none() && signals::interrupts() < interrupted + 2 {
        launch::wait_for(pidfd.as_ref(), TURN_MS);
        match launch::ended(pid) {
            Ok(how) => ended = how.inspect(|how| crash::ended(how.exit)),
            Err(_) => break, // somebody else has waited for it
        }
        counted.take(scratch.path(), false);
        if let Some(signal) = signals::to_pass_on() {
            // SAFETY: a signal to our own child, which was not yet waited for.
            unsafe { libc::kill(pid as i32, signal) };
        }
        if let Some(progress) = &mut options.progress {
            progress(&Progress { elapsed_ns: clock::now_ns() - start, samples: counted.dumps, counted: 0 });
        }
    }
    if ended.is_none() {
        // SAFETY: a signal to our own child, which was not yet waited for.
        unsafe { libc::kill(pid as i32, libc::SIGKILL) };
    }
    counted.take(scratch.path(), true);
    about.wall_ns = clock::now_ns() - start;
    about.state = if ended.is_some() { State::Complete } else { State::CutShort };
    if let Some(Ended { exit, user_ns, sys_ns, .. }) = ended {
        (about.exit, about.user_ns, about.sys_ns) = (Some(exit), user_ns, sys_ns);
    }
    if counted.processes.is_empty() {
        folder::discard(&kept, &options.caller);
        return Err(nothing(&program, ended, scratch.path()));
    }
    if let Some(unread) = counted.unread.take() {
        about.lost.insert("unread_slices".to_owned(), counted.failed);
        about.degraded.push(format!("some of callgrind's files could not be read: {unread}"));
    }
    about.instructions = Some(counted.instructions());
    counted.write(&mut writer, &about, &command_text);
    let exit = about.exit;
    let trouble = writer.finish(about).err().map(|error| error.to_string());
    Ok(Outcome { folder: Some(kept), temporary, exit, trouble, held: Vec::new() })
}

/// Why there is nothing: valgrind itself could not run the program.
fn nothing(program: &str, ended: Option<Ended>, scratch: &Path) -> Error {
    let program = program.to_owned();
    let exit = ended.map_or(0, |ended| ended.exit);
    match exit {
        127 => Error::NotFound { program, source: io::Error::from_raw_os_error(libc::ENOENT) },
        126 => Error::NotExecutable { program, source: io::Error::from_raw_os_error(libc::EACCES) },
        _ => Error::Valgrind(format!(
            "callgrind counted no instructions of {program}, which exited with {exit}: {}",
            tool::complaints(scratch).unwrap_or_else(|| "it wrote no file".to_owned())
        )),
    }
}

/// What was counted so far.
#[derive(Default)]
struct Counted {
    names: Names,
    /// By pid.
    processes: BTreeMap<u32, Slices>,
    dumps: u64,
    failed: u64,
    /// The first file that could not be read, and why.
    unread: Option<String>,
}

impl Counted {
    /// Takes the files that are whole: those after which their process has begun another, and in the end all.
    fn take(&mut self, scratch: &Path, all: bool) {
        let Ok(files) = tool::files(scratch) else { return };
        let mut dumps: BTreeMap<u32, Vec<(u32, std::path::PathBuf)>> = BTreeMap::new();
        for file in files {
            // The last dump has no number, and comes behind all others.
            if let Some((pid, number)) = tool::numbers(&file)
                && (all || number.is_some())
            {
                dumps.entry(pid).or_default().push((number.unwrap_or(u32::MAX), file));
            }
        }
        for (pid, mut files) in dumps {
            files.sort();
            if !all {
                files.pop(); // it may still be written
            }
            for (_, file) in files {
                match tool::profile(&file) {
                    Ok(Some(profile)) => {
                        let parts = profile.parts.iter().map(|part| (&profile, part));
                        if let Some(functions) = functions(parts, INSTRUCTIONS) {
                            let slice = self.names.slice(&functions);
                            self.processes.entry(pid).or_default().push(slice);
                            self.dumps += 1;
                        }
                    }
                    Ok(None) => {}
                    Err(error) => {
                        self.failed += 1;
                        self.unread.get_or_insert(error.to_string());
                    }
                }
                // One that stays would be read again; the folder goes at the end.
                let _ = std::fs::remove_file(file);
            }
        }
    }

    fn instructions(&self) -> u64 {
        self.processes.values().map(Slices::instructions).sum()
    }

    fn write(self, writer: &mut Writer, about: &About, command: &[String]) {
        let tables = &mut writer.tables;
        for (number, path) in self.names.modules.iter().enumerate() {
            tables.modules.push(Module {
                module: number as u32,
                path: path.clone(),
                build_id: None,
                device: 0,
                inode: 0,
                size: 0,
                mtime_ns: 0,
            });
        }
        for (number, name) in self.names.functions.into_iter().enumerate() {
            tables.functions.push(Function {
                function: number as u32,
                name: name.name,
                module: name.module,
                file: name.file,
                line: name.line,
                address: 0,
            });
        }
        for (process, (pid, slices)) in self.processes.into_iter().enumerate() {
            let process = process as u32;
            tables.processes.push(Process {
                process,
                parent: (process > 0).then_some(0),
                pid,
                run: 0,
                program: command.first().cloned().unwrap_or_default(),
                arguments: about.command.clone(),
                directory: None,
                start_ns: about.start_ns,
                exec_ns: None,
                end_ns: None,
                exit: None,
                cpu_ns: None,
                user_ns: None,
                peak_memory_bytes: None,
                tracing_ns: 0,
                sample_scale: 1.0,
            });
            tables.threads.push(Thread {
                thread: process,
                process,
                tid: pid,
                name: String::new(),
                start_ns: about.start_ns,
                end_ns: None,
                cpu_ns: None,
            });
            for (slice, one) in slices.into_iter().enumerate() {
                let slice = slice as u32;
                tables.slices.extend(one.functions.into_iter().map(|(function, cost)| Slice {
                    process,
                    slice,
                    function,
                    calls: cost.calls,
                    self_instructions: cost.own,
                    instructions: cost.inclusive,
                }));
                tables.slice_calls.extend(one.calls.into_iter().map(|((caller, callee), calls)| SliceCall {
                    process,
                    slice,
                    caller,
                    callee,
                    calls: calls.0,
                    instructions: calls.1,
                }));
            }
        }
    }
}
