//! Runs or attaches to a program and fills a recording.
//!
//! - [`record`], [`attach`] — the two ways in.
//! - [`record_exact`] — the third, under valgrind: no rights, no times, every call counted.
//! - `sampler/` — CPU samples with user and kernel stacks.
//! - `counter/` — exact calls of a few chosen functions, in windows.
//! - `ahead/` — what a thread will do next, on a copy of its memory.
//! - `tracer/` — system calls, the files they concern, and waits.
//! - [`tally`] — every entry of a few functions over a whole run, and nothing else.
//! - `bpf/` — what the kernel does for all of these.
//! - `world`, `image`, `unwind`, `stacks` — processes, the files mapped into them, and stacks through these.
//! - `storage` — where a recording goes.
//! - `means`, `resources` — what there is to do it with, and what is short; `about` — what is known beside the tables.
//! - `cpu`, `weigh` — CPU time, and what samples stand for.
//! - `crash` — what is left to do if we crash while a program runs.
//! - `session` — one loop that joins all of it in order of time and writes it down.
//! - [`rights`] — what this machine allows.

mod about;
mod ahead;
mod attach;
mod bpf;
mod clock;
mod counter;
mod cpu;
mod crash;
mod error;
mod exact;
mod image;
mod launch;
mod means;
mod resources;
pub mod rights;
mod sampler;
mod session;
pub mod signals;
mod stacks;
mod storage;
mod tally;
mod target;
mod tracer;
mod unwind;
mod weigh;
mod world;

pub use attach::attach;
pub use error::Error;
pub use exact::record_exact;
pub use tally::{Entries, Entry, tally};
pub use target::record;

use slowpath_files::{Caller, Folder};
use std::path::PathBuf;
use std::sync::Arc;

/// How to record.
pub struct Options {
    /// The folder that recordings live in; none where there is no home for one.
    pub root: Option<PathBuf>,
    /// CPU samples a second.
    pub rate: u32,
    /// Bytes of user stack copied with each sample.
    pub stack_bytes: u32,
    /// Count calls too, where the machine allows it.
    pub count: bool,
    /// Trace system calls too, where the machine allows it.
    pub trace: bool,
    /// Store no arguments of programs.
    pub redact_arguments: bool,
    /// Run the command as this user.
    pub user: Option<String>,
    /// Run the command so often and join the evidence.
    pub repeat: u32,
    /// Whom the files shall belong to.
    pub caller: Caller,
    /// Called a few times a second.
    pub progress: Option<OnProgress>,
}

/// Called with how far a recording is.
pub type OnProgress = Box<dyn FnMut(&Progress)>;

/// How far a recording is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Progress {
    /// Since the start, ns.
    pub elapsed_ns: u64,
    /// Samples so far; under valgrind dumps.
    pub samples: u64,
    /// Functions that are being counted.
    pub counted: u64,
}

/// A finished recording.
#[derive(Debug)]
pub struct Outcome {
    /// Its folder, open; none where there was no room for any: the program has run all the same.
    pub folder: Option<Arc<Folder>>,
    /// Keeps a temporary folder until the report is out, where the recording could not be kept.
    pub temporary: Option<slowpath_leftovers::Folder>,
    /// How the target ended; none if it still runs.
    pub exit: Option<i32>,
    /// Why the recording is not whole, such as a full disk.
    pub trouble: Option<String>,
    /// The files of modules, by number, opened when they were mapped: they may have been deleted since.
    pub held: Vec<(u32, std::sync::Arc<std::fs::File>)>,
}
