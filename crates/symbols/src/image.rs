//! The bytes of one file, mapped or in memory, and what identifies them. Reads no tables.

use std::borrow::Cow;
use std::ops::Deref;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use object::{CompressionFormat, Object, ObjectSection};

use crate::bounds::{Allowance, LONGEST_BUILD_ID};
use crate::error::Error;
use crate::open::open_regular;

/// Bytes that stay where they are for as long as a clone of this lives.
#[derive(Clone)]
pub(crate) struct Image {
    bytes: Arc<Bytes>,
    /// The file, or the name that the caller gave to bytes in memory; for messages.
    pub(crate) path: PathBuf,
    /// Device and inode; none of bytes in memory.
    pub(crate) identity: Option<(u64, u64)>,
}

enum Bytes {
    Mapped(memmap2::Mmap),
    Owned(Vec<u8>),
}

impl Image {
    pub(crate) fn map(path: &Path) -> Result<Self, Error> {
        let failed = |source| Error::Read { path: path.to_owned(), source };
        let file = open_regular(path).map_err(failed)?;
        let metadata = file.metadata().map_err(failed)?;
        // SAFETY: the mapping is private and read-only. Programs and libraries are replaced by
        // renaming, which leaves the mapped file whole; one that is cut short in place while it
        // is read faults, as it would in every tool that maps executables.
        let map = unsafe { memmap2::Mmap::map(&file) }.map_err(failed)?;
        let identity = Some((metadata.dev(), metadata.ino()));
        Ok(Image { bytes: Arc::new(Bytes::Mapped(map)), path: path.to_owned(), identity })
    }

    pub(crate) fn owned(bytes: Vec<u8>, name: &Path) -> Self {
        Image { bytes: Arc::new(Bytes::Owned(bytes)), path: name.to_owned(), identity: None }
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
    id_of(&parse(data).ok()?).map(<[u8]>::to_vec)
}

/// The same, of a file whose headers were read.
pub(crate) fn id_of<'data>(elf: &object::File<'data>) -> Option<&'data [u8]> {
    elf.build_id().ok()?.filter(|id| id.len() <= LONGEST_BUILD_ID)
}

/// The contents of a section, decompressed if need be and allowed. `None` if it is missing, empty, damaged or left out.
pub(crate) fn section<'data>(
    elf: &object::File<'data>,
    name: &str,
    allowance: &mut Allowance,
) -> Option<Cow<'data, [u8]>> {
    section_and_size(elf, name, allowance).map(|(contents, _)| contents)
}

/// The same, and how many bytes it takes in the file.
pub(crate) fn section_and_size<'data>(
    elf: &object::File<'data>,
    name: &str,
    allowance: &mut Allowance,
) -> Option<(Cow<'data, [u8]>, usize)> {
    let found = elf.section_by_name(name)?.compressed_data().ok()?;
    let plain = found.format == CompressionFormat::None;
    if !plain && !allowance.unfolds(name, found.data.len() as u64, found.uncompressed_size) {
        return None;
    }
    let size = found.data.len();
    Some((found.decompress().ok().filter(|data| !data.is_empty())?, size))
}

/// The contents of a section of the file `data`, decompressed if need be. `None` if it is missing, empty, damaged, or would
/// unfold to more than is believed of a file of its size.
pub fn section_of<'data>(data: &'data [u8], name: &str) -> Option<Cow<'data, [u8]>> {
    section(&parse(data).ok()?, name, &mut Allowance::default())
}
