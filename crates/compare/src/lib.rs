//! Two commands to a verdict, and two recordings to what changed between them.
//!
//! - [`timed`] — runs both commands bare in interleaved pairs until it knows, and says what it knows.
//! - [`why`] — what two recordings say of the difference: findings gone, new and kept, functions and system calls.
//! - [`entries`] — which functions' calls to count for that, and what the counts add.
//! - [`scale`] — one command at several sizes: how its time rises, and which function's does.
//! - [`exact`] — the same, in instructions that valgrind counts: no noise, and who is guilty by the counts of calls.
//! - [`overhead`] — what each call costs beside its bytes, from the same sizes: the cause `call-overhead`.
//! - [`values`] — what comes out: plain values, the stable JSON (`docs/comparison-json.md`).
//! - [`Enclosure`] — what commands are run in, so that all of it can be ended, also if slowpath is killed.
//!
//! Inside: `run` runs one command, `cgroup` counts what daemons take that it starts, `probe` asks how much of the machine we get, `evidence` turns pairs into an estimate,
//! `decide` says when it is enough.

mod cgroup;
mod decide;
mod enclosure;
pub mod entries;
mod evidence;
pub mod exact;
mod machine;
pub mod overhead;
mod probe;
mod run;
pub mod scale;
mod timed;
pub mod values;
mod why;

pub use decide::{Expectation, Outcome};
pub use enclosure::{Daemons, Enclosure};
pub use run::{Shell, Stop, words};
pub use timed::{Options, Plan, Progress, replay, timed};
pub use why::why;

/// What keeps a comparison from being made.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A command that cannot be taken apart or started.
    #[error("cannot run `{command}`: {why}")]
    Command {
        /// As it was typed.
        command: String,
        /// What the matter is.
        why: String,
    },
    /// A file for a command's input.
    #[error("cannot open {path}: {source}", path = .path.display())]
    Input {
        /// The file.
        path: std::path::PathBuf,
        /// The system's answer.
        source: std::io::Error,
    },
    /// There can be no guard.
    #[error("cannot start the process that ends the commands if slowpath is killed: {0}")]
    Guard(std::io::Error),
    /// It was stopped.
    #[error("interrupted")]
    Interrupted,
    /// Options that contradict each other.
    #[error("{0}")]
    Options(String),
}
