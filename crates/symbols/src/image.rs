//! The bytes of one file, mapped or in memory, and what identifies them. Reads no tables.

use std::borrow::Cow;
use std::fs::File;
use std::ops::Deref;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use object::{Object, ObjectSection};

use crate::error::Error;

/// Decompressed sections larger than this are taken for damage, not data, in bytes.
const LARGEST_SECTION: u64 = 16 << 30;

/// Bytes that stay where they are for as long as a clone of this lives.
#[derive(Clone)]
pub(crate) struct Image {
    bytes: Arc<Bytes>,
    /// The file, or the name that the caller gave to bytes in memory; for messages.
    pub(crate) path: PathBuf,
}

enum Bytes {
    Mapped(memmap2::Mmap),
    Owned(Vec<u8>),
}

impl Image {
    pub(crate) fn map(path: &Path) -> Result<Self, Error> {
        let failed = |source| Error::Read { path: path.to_owned(), source };
        let file = File::open(path).map_err(failed)?;
        // SAFETY: the mapping is private and read-only. Programs and libraries are replaced by
        // renaming, which leaves the mapped file whole; one that is cut short in place while it
        // is read faults, as it would in every tool that maps executables.
        let map = unsafe { memmap2::Mmap::map(&file) }.map_err(failed)?;
        Ok(Image { bytes: Arc::new(Bytes::Mapped(map)), path: path.to_owned() })
    }

    pub(crate) fn owned(bytes: Vec<u8>, name: &Path) -> Self {
        Image { bytes: Arc::new(Bytes::Owned(bytes)), path: name.to_owned() }
    }

    pub(crate) fn elf(&self) -> Result<object::File<'_>, Error> {
        parse(self).map_err(|reason| Error::Elf { path: self.path.clone(), reason })
    }
}

impl Deref for Image {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        match &*self.bytes {
            Bytes::Mapped(map) => map,
            Bytes::Owned(bytes) => bytes,
        }
    }
}

/// The ELF headers of `data`, or why they cannot be read.
pub(crate) fn parse(data: &[u8]) -> Result<object::File<'_>, String> {
    object::File::parse(data).map_err(|error| error.to_string())
}

/// The GNU build-id of an ELF file. `None` if it has none or is not a readable ELF file.
pub fn build_id(data: &[u8]) -> Option<Vec<u8>> {
    parse(data).ok()?.build_id().ok()?.map(<[u8]>::to_vec)
}

/// The contents of a section, decompressed if need be. `None` if it is missing, empty or damaged.
pub(crate) fn section<'data>(elf: &object::File<'data>, name: &str) -> Option<Cow<'data, [u8]>> {
    let compressed = elf.section_by_name(name)?.compressed_data().ok()?;
    if compressed.uncompressed_size > LARGEST_SECTION {
        return None;
    }
    compressed.decompress().ok().filter(|data| !data.is_empty())
}
