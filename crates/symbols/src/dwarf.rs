//! Source files, lines and inlined frames from DWARF.
//!
//! Owns the bytes that it reads, and the account of what they cost (`metered`). Knows nothing of ELF symbols: a function's
//! name and bounds are only what DWARF says.

use std::borrow::Cow;

use addr2line::LookupResult;
use addr2line::gimli::{self, DwarfFileType, Reader, RunTimeEndian, SectionId, UnitRef};
use object::Object;

use crate::bounds::{Allowance, LONGEST_MANGLED, LONGEST_PATH, MOST_INLINED, cut};
use crate::decl_line::DeclLines;
use crate::image::{Image, section_and_size};
use crate::metered::{Meter, Metered, grant_bytes, grant_lookups};
use crate::split_dwarf;

pub(crate) type Slice = Metered;

/// What is said of a file that `metered` stopped.
const EXCEEDED: &str = "the rest of its debug information is not read: it claims more data than a file of its size can plausibly hold";

/// One frame of DWARF's debug information.
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
    meter: Meter,
    storage: Storage,
}

/// Everything that readers of one [`Dwarf`] borrow from.
#[derive(Default)]
pub(crate) struct Storage {
    images: Vec<Image>,
    decompressed: Vec<Vec<u8>>,
    pub(crate) allowance: Allowance,
}

impl Storage {
    /// The section `name` of `image`, which is its `id`, empty if there is none. The slice is good for as long as
    /// `self`: whoever calls must drop it before.
    pub(crate) fn load(&mut self, image: &Image, id: SectionId, name: &str) -> Slice {
        let elf = image.elf();
        let little = elf.as_ref().map_or(true, |elf| elf.is_little_endian());
        let endian = if little { RunTimeEndian::Little } else { RunTimeEndian::Big };
        let found = elf.ok().and_then(|elf| section_and_size(&elf, name, &mut self.allowance));
        grant_bytes(found.as_ref().map_or(0, |(_, size)| *size));
        let bytes = match found.map(|(contents, _)| contents) {
            // SAFETY: the slice points into `image`, whose bytes neither move nor change while a
            // clone of it lives, and `keep` has put a clone into `self.images`.
            Some(Cow::Borrowed(bytes)) => unsafe { extend(bytes) },
            Some(Cow::Owned(bytes)) => {
                // SAFETY: the allocation, which stays where it is, lives in `self.decompressed` from the next line on, and
                // nothing is ever taken out of it or changed.
                let slice = unsafe { extend(&bytes) };
                self.decompressed.push(bytes);
                slice
            }
            None => &[],
        };
        Slice::new(bytes, endian, id == SectionId::DebugLine)
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
        Ok(storage.load(image, id, name.unwrap_or_default()))
    })
}

impl Dwarf {
    /// Reads the list of compile units of `image`, and of the dwz file beside it if there is one.
    ///
    /// # Errors
    /// Why it is left out, a sentence each: it is damaged, or asks for more than is believed of such a file.
    pub(crate) fn read(image: &Image, supplementary: Option<&Image>) -> Result<Self, Vec<String>> {
        let meter = Meter::new();
        let mut storage = Storage::default();
        let context = meter.run(|| Self::context(&mut storage, image, supplementary));
        let why = match context {
            Ok(context) if !meter.exceeded() => {
                let dwo_files = split_dwarf::DwoFiles::beside(&image.path);
                return Ok(Dwarf { context, decl_lines: DeclLines::default(), dwo_files, meter, storage });
            }
            Err(error) if !meter.exceeded() => format!("its debug information is damaged: {error}"),
            _ => EXCEEDED.to_owned(),
        };
        storage.allowance.note(why);
        Err(storage.allowance.left_out().to_vec())
    }

    fn context(
        storage: &mut Storage,
        image: &Image,
        supplementary: Option<&Image>,
    ) -> gimli::Result<addr2line::Context<Slice>> {
        let main_name = |id: SectionId| Some(id.name());
        let mut dwarf = load_sections(storage, image, main_name)?;
        if let Some(supplementary) = supplementary {
            let mut shared = load_sections(storage, supplementary, main_name)?;
            shared.file_type = DwarfFileType::Main;
            dwarf.set_sup(shared);
        }
        dwarf.populate_abbreviations_cache(gimli::AbbreviationsCacheStrategy::Duplicates);
        let context = addr2line::Context::from_dwarf(dwarf)?;
        grant_lookups();
        Ok(context)
    }

    /// What is compiled into the address. Empty where DWARF is silent or damaged, or asked for more than it may.
    pub(crate) fn frames(&mut self, svma: u64) -> DwarfFrames {
        // The range of one byte that is searched for must not overflow.
        if svma == u64::MAX || self.meter.exceeded() {
            return DwarfFrames::default();
        }
        let Dwarf { context, decl_lines, dwo_files, meter, storage } = self;
        let found = meter.run(|| frames(context, decl_lines, dwo_files, storage, svma));
        if meter.exceeded() {
            storage.allowance.note(EXCEEDED.to_owned());
        }
        found.unwrap_or_default()
    }

    /// What was left out, a sentence each.
    pub(crate) fn left_out(&self) -> &[String] {
        self.storage.allowance.left_out()
    }

    /// What compiled the code at the address, and with which options if the compiler noted them.
    pub(crate) fn producer(&self, svma: u64) -> Option<String> {
        if svma == u64::MAX || self.meter.exceeded() {
            return None;
        }
        let producer = self.meter.run(|| {
            let unit = self.context.find_dwarf_and_unit(svma).skip_all_loads()?;
            let mut entries = unit.entries();
            entries.next_entry().ok()?;
            let value = entries.current()?.attr_value(gimli::DW_AT_producer)?;
            Some(unit.attr_string(value).ok()?.to_string_lossy().ok()?.into_owned())
        });
        producer.map(|producer| cut(producer, LONGEST_PATH))
    }
}

/// What [`Dwarf::frames`] gives, while the file is metered.
fn frames(
    context: &addr2line::Context<Slice>,
    decl_lines: &mut DeclLines,
    dwo_files: &mut split_dwarf::DwoFiles,
    storage: &mut Storage,
    svma: u64,
) -> gimli::Result<DwarfFrames> {
    let mut lookup = context.find_frames(svma);
    let mut iterator = loop {
        lookup = match lookup {
            LookupResult::Output(frames) => break frames?,
            LookupResult::Load { load, continuation } => {
                let dwo = dwo_files.find(storage, &load);
                addr2line::LookupContinuation::resume(continuation, dwo)
            }
        };
    };
    let unit = context.find_dwarf_and_unit(svma).skip_all_loads();
    let mut found = DwarfFrames::default();
    while let Some(frame) = iterator.next()? {
        let mut decl_line = None;
        if let (Some(unit), Some(die)) = (unit, frame.dw_die_offset) {
            decl_line = decl_lines.of_function(unit, die);
            found.range = range_of(unit, die, svma).or(found.range);
        }
        let name = frame.function.and_then(|function| Some(function.raw_name().ok()?.into_owned()));
        let name = name.map(|name| cut(name, LONGEST_MANGLED));
        let (file, line) = match frame.location {
            Some(location) => (location.file, location.line),
            None => (None, None),
        };
        let file = file.map(|file| cut(file.to_owned(), LONGEST_PATH));
        // The last one is the real function, and stays.
        found.frames.truncate(MOST_INLINED);
        found.frames.push(DwarfFrame { name, file, line, decl_line });
    }
    Ok(found)
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
