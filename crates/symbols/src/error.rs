//! What can go wrong when a file's symbols are read. Says what failed, on what, and what to do.

use std::path::PathBuf;

/// Why the symbols of a file or of the kernel cannot be had.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The file cannot be opened or mapped.
    #[error("cannot read {path} for its symbols: {source}; check that it exists and is readable")]
    Read {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// The bytes are not an ELF file that can be understood.
    #[error("{path} is not a readable ELF file ({reason}); it is damaged, truncated or in another format")]
    Elf {
        /// The file, or the name given for bytes in memory.
        path: PathBuf,
        /// What the parser stumbled over.
        reason: String,
    },
    /// The file on disk is not the one that ran.
    #[error(
        "{path} has build-id {} but {} ran; the file was replaced since: give slowpath the file that ran, or record \
         again",
        found.as_deref().map_or_else(|| "none".to_owned(), hex),
        hex(wanted)
    )]
    Mismatch {
        /// The file.
        path: PathBuf,
        /// The build-id of the program that ran.
        wanted: Vec<u8>,
        /// The build-id in the file, if it has one.
        found: Option<Vec<u8>>,
    },
    /// `/proc/kallsyms` cannot be read.
    #[error("cannot read {path}: {source}; kernel frames have no names")]
    KernelUnreadable {
        /// The list of kernel symbols.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// `/proc/kallsyms` holds no addresses for this user.
    #[error(
        "{path} hides addresses from this user, so kernel frames have no names; run as root or set \
         kernel.kptr_restrict=0"
    )]
    KernelHidden {
        /// The list of kernel symbols.
        path: PathBuf,
    },
}

/// Bytes as lower-case hexadecimal, the way build-ids are written.
pub(crate) fn hex(bytes: &[u8]) -> String {
    use std::fmt::Write;
    bytes.iter().fold(String::with_capacity(bytes.len() * 2), |mut text, byte| {
        // Writing to a String cannot fail.
        let _ = write!(text, "{byte:02x}");
        text
    })
}
