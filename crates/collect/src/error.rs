//! What can go wrong when a program is recorded: what failed, on what, and what to do.

use crate::resources;
use std::io;

/// An error of recording.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The command is not there.
    #[error("cannot run {program}: {source}")]
    NotFound {
        /// The program as given.
        program: String,
        /// The system's answer.
        source: io::Error,
    },
    /// The command is there but cannot be run.
    #[error("cannot run {program}: {source}")]
    NotExecutable {
        /// The program as given.
        program: String,
        /// The system's answer.
        source: io::Error,
    },
    /// The machine does not let this user sample.
    #[error("this machine does not allow sampling: {0}")]
    NoRights(String),
    /// Valgrind is missing, or could not run the program.
    #[error("{0}")]
    Valgrind(String),
    /// The process to attach to.
    #[error("cannot attach to process {pid}: {why}")]
    Attach {
        /// Its pid.
        pid: u32,
        /// Why not.
        why: String,
    },
    /// Nothing can be written anywhere.
    #[error("there is no place to store the recording: {0}")]
    NoPlace(String),
    /// `--user`.
    #[error("there is no user {0} on this machine")]
    NoSuchUser(String),
    /// A system call that should not fail.
    #[error("cannot {what}: {source}")]
    System {
        /// What was tried, an infinitive.
        what: &'static str,
        /// The system's answer.
        source: io::Error,
    },
    /// Something is short, without which nothing can be done.
    #[error("cannot {what}: {why}")]
    Short {
        /// What was tried, an infinitive.
        what: &'static str,
        /// What is short, how much of it there is, and what to do.
        why: String,
    },
    /// The recording cannot be written.
    #[error(transparent)]
    Recording(#[from] slowpath_recording::Error),
}

impl Error {
    pub(crate) fn system(what: &'static str) -> impl FnOnce(io::Error) -> Error {
        move |source| match resources::is_short(&source) {
            true => Error::Short { what, why: resources::why(&source) },
            false => Error::System { what, source },
        }
    }
}
