//! Source files, lines and inlined frames from DWARF.
//!
//! Owns the bytes that it reads. Knows nothing of ELF symbols: a function's name and bounds are
//! only what DWARF says.

use std::borrow::Cow;
use std::sync::Arc;

use addr2line::LookupResult;
use addr2line::gimli::{self, DwarfFileType, EndianSlice, RunTimeEndian, SectionId, UnitRef};
use object::Object;

use crate::decl_line::DeclLines;
use crate::error::Error;
use crate::image::{Image, section};
use crate::split_dwarf;

pub(crate) type Slice = EndianSlice<'static, RunTimeEndian>;

/// One frame as DWARF has it.
pub(crate) struct DwarfFrame {
    /// Linkage name, or the plain name in languages without one.
    pub(crate) name: Option<String>,
    pub(crate) file: Option<String>,
    pub(crate) line: Option<u32>,
    /// First line of the function.
    pub(crate) decl_line: Option<u32>,
}

/// The frames of an address, innermost first; the last is the real function.
#[derive(Default)]
pub(crate) struct DwarfFrames {
    pub(crate) frames: Vec<DwarfFrame>,
    /// First byte and end, svma, of the part of the real function that holds the address.
    pub(crate) range: Option<(u64, u64)>,
}

/// The DWARF of one file.
///
/// Fields are dropped in this order: all that borrows from `storage` stands before it.
pub(crate) struct Dwarf {
    context: addr2line::Context<Slice>,
    decl_lines: DeclLines,
    dwo_files: split_dwarf::DwoFiles,
    storage: Storage,
}

/// Everything that readers of one [`Dwarf`] borrow from.
#[derive(Default)]
pub(crate) struct Storage {
    images: Vec<Image>,
    decompressed: Vec<Arc<[u8]>>,
}

impl Storage {
    /// The section `name` of `image`, empty if there is none. The slice is good for as long as
    /// `self`: whoever calls must drop it before.
    pub(crate) fn load(&mut self, image: &Image, name: &str) -> Slice {
        let elf = image.elf();
        let little = elf.as_ref().map_or(true, |elf| elf.is_little_endian());
        let endian = if little { RunTimeEndian::Little } else { RunTimeEndian::Big };
        let bytes = match elf.ok().and_then(|elf| section(&elf, name)) {
            // SAFETY: the slice points into `image`, whose bytes neither move nor change while a
            // clone of it lives, and `keep` has put a clone into `self.images`.
            Some(Cow::Borrowed(bytes)) => unsafe { extend(bytes) },
            Some(Cow::Owned(bytes)) => {
                let bytes: Arc<[u8]> = bytes.into();
                // SAFETY: the allocation lives in `self.decompressed` from the next line on, and
                // nothing is ever taken out of it.
                let slice = unsafe { extend(&bytes) };
                self.decompressed.push(bytes);
                slice
            }
            None => &[],
        };
        EndianSlice::new(bytes, endian)
    }

    /// Keeps the bytes of `image` for as long as `self`.
    pub(crate) fn keep(&mut self, image: &Image) {
        self.images.push(image.clone());
    }
}

/// # Safety
/// The caller must see to it that the bytes outlive every use of the result.
unsafe fn extend(bytes: &[u8]) -> &'static [u8] {
    // SAFETY: promised by the caller.
    unsafe { std::slice::from_raw_parts(bytes.as_ptr(), bytes.len()) }
}

/// Sections that only debuggers need; decompressing them would be wasted.
fn is_needed(id: SectionId) -> bool {
    !matches!(
        id,
        SectionId::DebugLoc
            | SectionId::DebugLocLists
            | SectionId::DebugMacinfo
            | SectionId::DebugMacro
            | SectionId::DebugNames
            | SectionId::DebugTypes
    )
}

/// All the sections of `image` that symbolizing needs, under the names that `name_of` gives.
pub(crate) fn load_sections(
    storage: &mut Storage,
    image: &Image,
    name_of: impl Fn(SectionId) -> Option<&'static str>,
) -> Result<gimli::Dwarf<Slice>, gimli::Error> {
    storage.keep(image);
    gimli::Dwarf::load(|id| {
        let name = if is_needed(id) { name_of(id) } else { None };
        Ok(storage.load(image, name.unwrap_or_default()))
    })
}

impl Dwarf {
    /// Reads the list of compile units of `image`, and of the dwz file beside it if there is one.
    ///
    /// # Errors
    /// [`Error::Elf`] if the list is damaged.
    pub(crate) fn read(image: &Image, supplementary: Option<&Image>) -> Result<Self, Error> {
        let damaged = |error: gimli::Error| Error::Elf {
            path: image.path.clone(),
            reason: format!("damaged DWARF: {error}"),
        };
        let mut storage = Storage::default();
        let main_name = |id: SectionId| Some(id.name());
        let mut dwarf = load_sections(&mut storage, image, main_name).map_err(damaged)?;
        if let Some(supplementary) = supplementary {
            let mut shared = load_sections(&mut storage, supplementary, main_name).map_err(damaged)?;
            shared.file_type = DwarfFileType::Main;
            dwarf.set_sup(shared);
        }
        dwarf.populate_abbreviations_cache(gimli::AbbreviationsCacheStrategy::Duplicates);
        let context = addr2line::Context::from_dwarf(dwarf).map_err(damaged)?;
        let dwo_files = split_dwarf::DwoFiles::beside(&image.path);
        Ok(Dwarf { context, decl_lines: DeclLines::default(), dwo_files, storage })
    }

    /// What is compiled into the address. Empty where DWARF is silent or damaged.
    pub(crate) fn frames(&mut self, svma: u64) -> DwarfFrames {
        self.try_frames(svma).unwrap_or_default()
    }

    fn try_frames(&mut self, svma: u64) -> Result<DwarfFrames, gimli::Error> {
        // The range of one byte that is searched for must not overflow.
        if svma == u64::MAX {
            return Ok(DwarfFrames::default());
        }
        let mut lookup = self.context.find_frames(svma);
        let mut iterator = loop {
            lookup = match lookup {
                LookupResult::Output(frames) => break frames?,
                LookupResult::Load { load, continuation } => {
                    let dwo = self.dwo_files.find(&mut self.storage, &load);
                    addr2line::LookupContinuation::resume(continuation, dwo)
                }
            };
        };
        let unit = self.context.find_dwarf_and_unit(svma).skip_all_loads();
        let mut found = DwarfFrames::default();
        while let Some(frame) = iterator.next()? {
            let mut decl_line = None;
            if let (Some(unit), Some(die)) = (unit, frame.dw_die_offset) {
                decl_line = self.decl_lines.of_function(unit, die);
                found.range = range_of(unit, die, svma).or(found.range);
            }
            let name = frame.function.and_then(|function| Some(function.raw_name().ok()?.into_owned()));
            let (file, line) = match frame.location {
                Some(location) => (location.file.map(str::to_owned), location.line),
                None => (None, None),
            };
            found.frames.push(DwarfFrame { name, file, line, decl_line });
        }
        Ok(found)
    }

    /// What compiled the code at the address, and with which options if the compiler noted them.
    pub(crate) fn producer(&self, svma: u64) -> Option<String> {
        if svma == u64::MAX {
            return None;
        }
        let unit = self.context.find_dwarf_and_unit(svma).skip_all_loads()?;
        let mut entries = unit.entries();
        entries.next_entry().ok()?;
        let value = entries.current()?.attr_value(gimli::DW_AT_producer)?;
        Some(unit.attr_string(value).ok()?.to_string_lossy().into_owned())
    }
}

/// The range of a function's entry that holds `svma`.
fn range_of(unit: UnitRef<'_, Slice>, die: gimli::UnitOffset, svma: u64) -> Option<(u64, u64)> {
    let entry = unit.entry(die).ok()?;
    if entry.tag() != gimli::DW_TAG_subprogram {
        return None;
    }
    let mut ranges = unit.die_ranges(&entry).ok()?;
    while let Ok(Some(range)) = ranges.next() {
        if range.begin <= svma && svma < range.end {
            return Some((range.begin, range.end));
        }
    }
    None
}
