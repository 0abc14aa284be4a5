//! An ELF file's addresses as people know them: functions, files, lines, inlined frames.
//!
//! Puts together what `ranges` says of functions and `dwarf` of source lines. Names come from
//! symbols where there are any, because they are the names that other tools show as well.

use std::cell::OnceCell;
use std::path::{Path, PathBuf};

use crate::build::{self, Build, KnownBy};
use crate::debug_files;
use crate::dwarf::{Dwarf, DwarfFrames};
use crate::error::Error;
use crate::image::{Image, build_id};
use crate::names::demangle;
use crate::ranges::{FunctionRange, FunctionRanges, RangeSource};

/// One frame that an address stands for. An address in inlined code stands for several:
/// innermost first, the real function last.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Symbol {
    /// The name as its author wrote it, see [`demangle`]. Empty only if the line is known and
    /// the function is not.
    pub name: String,
    /// The name as the linker knows it, without symbol version and without `.cold`.
    pub mangled: String,
    /// First byte, svma, of the real function that contains the address, or of its fragment
    /// (`.cold`) that does. The same for inlined frames.
    pub start: u64,
    /// Bytes from `start` to the end of the function or fragment. 0 if unknown.
    pub size: u64,
    /// Full path of the source file, as the compiler saw it.
    pub file: Option<String>,
    /// Line of the address; in the callers of inlined code, line of the call.
    pub line: Option<u32>,
    /// First line of the function.
    pub decl_line: Option<u32>,
    /// True if the function was inlined into the next frame.
    pub inlined: bool,
}

/// The tables of one ELF file. Opening reads headers only; each table is read when first asked.
pub struct ElfSymbols {
    image: Image,
    debug: Option<Image>,
    debug_dirs: Vec<PathBuf>,
    ranges: OnceCell<FunctionRanges>,
    /// `Err` inside if there is no DWARF or it is left out, with the reasons.
    dwarf: OnceCell<Result<Dwarf, Vec<String>>>,
    has_dwarf: bool,
    judge: build::Judge,
}

impl ElfSymbols {
    /// Opens the file at `path` and its separate debug file, which is looked for under
    /// `/usr/lib/debug` by build-id and by `.gnu_debuglink`.
    ///
    /// # Errors
    /// [`Error::Read`] if the file cannot be read, [`Error::Elf`] if it is not ELF,
    /// [`Error::Mismatch`] if `build_id` is given and is not the file's.
    pub fn open(path: &Path, build_id: Option<&[u8]>) -> Result<Self, Error> {
        Self::open_with(path, build_id, &[])
    }

    /// Like [`open`](Self::open); looks for debug files under each of `debug_dirs` first.
    ///
    /// # Errors
    /// Those of [`open`](Self::open).
    pub fn open_with(path: &Path, build_id: Option<&[u8]>, debug_dirs: &[PathBuf]) -> Result<Self, Error> {
        Self::from_image(Image::map(path)?, build_id, debug_dirs)
    }

    /// The symbols of bytes in memory: the vDSO, or a file that was deleted while mapped. `name`
    /// is used in messages, and its directory to look for a `.gnu_debuglink`.
    ///
    /// # Errors
    /// [`Error::Elf`] and [`Error::Mismatch`], as [`open`](Self::open).
    pub fn from_bytes(
        bytes: Vec<u8>,
        name: &Path,
        build_id: Option<&[u8]>,
        debug_dirs: &[PathBuf],
    ) -> Result<Self, Error> {
        Self::from_image(Image::owned(bytes, name), build_id, debug_dirs)
    }

    fn from_image(image: Image, wanted: Option<&[u8]>, debug_dirs: &[PathBuf]) -> Result<Self, Error> {
        let own_dwarf = debug_files::has_dwarf(&image.elf()?);
        if let Some(wanted) = wanted {
            let found = build_id(&image);
            if found.as_deref() != Some(wanted) {
                return Err(Error::Mismatch { path: image.path, wanted: wanted.to_vec(), found });
            }
        }
        let debug = debug_files::separate_debug_file(&image, debug_dirs);
        let debug_dwarf =
            debug.as_ref().and_then(|debug| debug.elf().ok()).is_some_and(|elf| debug_files::has_dwarf(&elf));
        Ok(ElfSymbols {
            image,
            debug,
            debug_dirs: debug_dirs.to_vec(),
            ranges: OnceCell::new(),
            dwarf: OnceCell::new(),
            has_dwarf: own_dwarf || debug_dwarf,
            judge: build::Judge::default(),
        })
    }

    /// What the address `svma` stands for: its inlined frames, innermost first, then the real
    /// function. Empty when nothing is known.
    ///
    /// For a return address ask for the byte before it, which belongs to the call.
    pub fn lookup(&mut self, svma: u64) -> Vec<Symbol> {
        let found = match self.dwarf_mut() {
            Some(dwarf) => dwarf.frames(svma),
            None => DwarfFrames::default(),
        };
        let range = self.ranges().containing(svma);
        join(found, range)
    }

    /// True if there is DWARF, in the file itself or in its debug file.
    pub fn has_dwarf(&self) -> bool {
        self.has_dwarf
    }

    /// True if at least one function has a symbol.
    pub fn has_symbols(&self) -> bool {
        self.ranges().has_symbols()
    }

    /// What compiled the code at `svma` (`DW_AT_producer`). GCC and Go append the options that
    /// matter, `-O2` among them; Clang and rustc only their version. `None` without DWARF.
    pub fn producer(&self, svma: u64) -> Option<String> {
        self.dwarf().as_ref().ok()?.producer(svma)
    }

    /// Whether the code at `svma` was built with optimisation. `None` where neither the compiler's notes nor the code show it: without
    /// debug information of Go's compiler, of functions of a few instructions, and of code for other processors than x86-64.
    pub fn build(&mut self, svma: u64) -> Option<Build> {
        let producer = self.producer(svma);
        let compiler = producer.as_deref().map(build::compiler);
        if let Some(optimized) = producer.as_deref().and_then(build::by_producer) {
            return Some(Build { optimized, known_by: KnownBy::Compiler, compiler });
        }
        self.ranges();
        let optimized = self.judge.by_code(&self.image.elf().ok()?, self.ranges.get()?, svma)?;
        Some(Build { optimized, known_by: KnownBy::Code, compiler })
    }

    /// What of the tables that were read so far is left out because it is damaged, or asks for more than is believed of a file of
    /// its size: a sentence each, fit to stand behind the file's name and a colon.
    pub fn left_out(&self) -> Vec<String> {
        let ranges = self.ranges.get().map_or(&[][..], FunctionRanges::left_out);
        let dwarf = self.dwarf.get().map_or(&[][..], |dwarf| match dwarf {
            Ok(dwarf) => dwarf.left_out(),
            Err(why) => why,
        });
        ranges.iter().chain(dwarf).cloned().collect()
    }

    /// The functions of the file and its debug file, without DWARF.
    pub fn ranges(&self) -> &FunctionRanges {
        self.ranges.get_or_init(|| {
            let Ok(elf) = self.image.elf() else { return FunctionRanges::default() };
            let debug = self.debug.as_ref().and_then(|debug| debug.elf().ok());
            let size = self.image.len() + self.debug.as_ref().map_or(0, |debug| debug.len());
            FunctionRanges::read(&elf, debug.as_ref(), size)
        })
    }

    fn dwarf(&self) -> &Result<Dwarf, Vec<String>> {
        self.dwarf.get_or_init(|| {
            if !self.has_dwarf {
                return Err(Vec::new());
            }
            let source = self.debug.as_ref().unwrap_or(&self.image);
            let supplementary = debug_files::supplementary_file(source, &self.debug_dirs);
            // Damaged DWARF leaves the names of the symbols.
            Dwarf::read(source, supplementary.as_ref())
        })
    }

    fn dwarf_mut(&mut self) -> Option<&mut Dwarf> {
        self.dwarf();
        self.dwarf.get_mut()?.as_mut().ok()
    }
}

/// Joins the frames of DWARF with the function of the symbol tables.
fn join(found: DwarfFrames, range: Option<FunctionRange<'_>>) -> Vec<Symbol> {
    let bounds = range.filter(|range| range.name.is_some()).map(|range| (range.start, range.end));
    let bounds = bounds.or(found.range).or(range.map(|range| (range.start, range.end)));
    let (start, end) = bounds.unwrap_or_default();
    let size = end.saturating_sub(start);
    let symbol_name = range.and_then(|range| range.name);
    if found.frames.is_empty() {
        // A stub's or an assembler routine's name is all there is.
        let Some(name) = symbol_name else { return Vec::new() };
        let (name, mangled) = (demangle(name), name.to_owned());
        return vec![Symbol {
            name,
            mangled,
            start,
            size,
            file: None,
            line: None,
            decl_line: None,
            inlined: false,
        }];
    }
    let last = found.frames.len() - 1;
    let mut symbols = Vec::with_capacity(found.frames.len());
    for (index, frame) in found.frames.into_iter().enumerate() {
        let inlined = index < last;
        let by_symbol = range.is_some_and(|range| range.source != RangeSource::Fde);
        let mangled = match symbol_name {
            Some(name) if !inlined && by_symbol => name.to_owned(),
            _ => frame.name.unwrap_or_default(),
        };
        symbols.push(Symbol {
            name: demangle(&mangled),
            mangled,
            start,
            size,
            file: frame.file,
            line: frame.line,
            decl_line: frame.decl_line,
            inlined,
        });
    }
    symbols
}

#[cfg(test)]
mod tests {
    use super::ElfSymbols;

    #[test]
    fn files_can_be_symbolized_on_threads() {
        fn assert_send<T: Send>() {}
        assert_send::<ElfSymbols>();
    }
}
