//! What can go wrong with a recording: what failed, on which file, and what to do.

use std::path::{Path, PathBuf};

/// An error of reading or writing a recording.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A file or folder could not be read or written.
    #[error("cannot {action} {path}: {source}", path = .path.display())]
    Io {
        /// What was tried, an infinitive such as "create".
        action: &'static str,
        /// On what.
        path: PathBuf,
        /// The system's answer.
        source: std::io::Error,
    },
    /// The folder is no recording.
    #[error("{path} is not a recording: {why}", path = .path.display())]
    Foreign {
        /// The folder.
        path: PathBuf,
        /// What is missing or wrong.
        why: String,
    },
    /// What was to be removed is left as it is.
    #[error("{path} was not removed: {why}", path = .path.display())]
    Kept {
        /// What was to be removed.
        path: PathBuf,
        /// Why it was not.
        why: String,
    },
    /// The recording was made by a later version with another format.
    #[error("{path} has format {found}, and this slowpath reads format {known}: read it with the version that made it", path = .path.display())]
    Version {
        /// The folder.
        path: PathBuf,
        /// Major version found.
        found: u32,
        /// Major version that this crate reads.
        known: u32,
    },
    /// The folder of recordings belongs to somebody else.
    #[error("{path} belongs to the user {owner}, who is neither root nor the caller: as root, slowpath does not \
             write to such a folder. Choose another one with --dir", path = .path.display())]
    NotOurs {
        /// The folder.
        path: PathBuf,
        /// Its owner, a user id.
        owner: u32,
    },
    /// A table could not be encoded.
    #[error("cannot write {path}: {source}", path = .path.display())]
    Encode {
        /// The segment.
        path: PathBuf,
        /// The encoder's answer.
        source: parquet::errors::ParquetError,
    },
    /// No recording of that name.
    #[error("there is no recording {name} in {root} or at that path: `slowpath list` lists the recordings", root = .root.display())]
    NotFound {
        /// What was asked for.
        name: String,
        /// Where recordings are kept.
        root: PathBuf,
    },
    /// No recording where one was asked for.
    #[error("no recording in {path}: make one with `slowpath -- COMMAND`", path = .path.display())]
    None {
        /// Where it was looked for.
        path: PathBuf,
    },
}

impl Error {
    pub(crate) fn io(action: &'static str, path: &Path, source: std::io::Error) -> Error {
        Error::Io { action, path: path.to_owned(), source }
    }

    pub(crate) fn foreign(path: &Path, why: impl Into<String>) -> Error {
        Error::Foreign { path: path.to_owned(), why: why.into() }
    }
}
