//! Which function an address lies in, from symbols, unwind tables and call stubs alone.
//!
//! Quick enough to run beside the program that is being recorded: reads no DWARF.

use std::path::Path;

use crate::bounds::{Allowance, NAMES_TIMES};
use crate::error::Error;
use crate::fde_table::FdeTable;
use crate::image::{self, Image};
use crate::names;
use crate::plt::Stubs;
use crate::symbol_table::SymbolTable;

/// Where the bounds of a function come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RangeSource {
    /// A symbol of `.symtab` or `.dynsym`.
    Symbol,
    /// An entry of `.eh_frame`: the bounds are sure, the name is unknown.
    Fde,
    /// A stub that calls into a shared library.
    Plt,
}

/// The bytes of one function, or of one fragment of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FunctionRange<'a> {
    /// First byte, svma.
    pub start: u64,
    /// Just behind the last byte, svma.
    pub end: u64,
    /// Mangled name, without symbol version and without `.cold`; see [`demangle`](crate::demangle).
    pub name: Option<&'a str>,
    /// Where the bounds come from.
    pub source: RangeSource,
    /// True if these are the bytes of `name.cold`, which the compiler moved away from the function
    /// `name`: `start` is then not the function's entry.
    pub fragment: bool,
}

/// The functions of one ELF file by address. Owns what it needs: the file's bytes may go.
#[derive(Default)]
pub struct FunctionRanges {
    symbols: SymbolTable,
    fdes: FdeTable,
    stubs: Stubs,
    allowance: Allowance,
}

impl FunctionRanges {
    /// Reads the symbol tables, the unwind table's index and the call stubs of an ELF file.
    ///
    /// # Errors
    /// [`Error::Elf`] if `data` is not a readable ELF file. Missing or damaged tables are no
    /// error: then fewer addresses are known.
    pub fn from_elf(data: &[u8]) -> Result<Self, Error> {
        let elf = image::parse(data).map_err(|reason| Error::Elf { path: "ELF data".into(), reason })?;
        Ok(Self::read(&elf, None, data.len()))
    }

    /// The same of a file, which is mapped and not read into memory.
    ///
    /// # Errors
    /// [`Error::Read`] if it cannot be opened or is no regular file, else as [`from_elf`](Self::from_elf).
    pub fn open(path: &Path) -> Result<Self, Error> {
        let image = Image::map(path)?;
        Ok(Self::read(&image.elf()?, None, image.len()))
    }

    /// Like [`from_elf`](Self::from_elf), with the symbols of a separate debug file. `size` is that of both files together.
    pub(crate) fn read(elf: &object::File<'_>, debug: Option<&object::File<'_>>, size: usize) -> Self {
        let mut allowance = Allowance::default();
        let files: Vec<_> = debug.into_iter().chain([elf]).collect();
        let room = NAMES_TIMES.saturating_mul(size);
        let symbols = SymbolTable::read(&files, room, &mut allowance);
        let name_at = |svma| symbols.containing(svma).map(|hit| hit.name.to_owned());
        let stubs = Stubs::read(elf, name_at, room, &mut allowance);
        FunctionRanges { fdes: FdeTable::read(elf, &mut allowance), symbols, stubs, allowance }
    }

    /// What was left out, a sentence each.
    pub(crate) fn left_out(&self) -> &[String] {
        self.allowance.left_out()
    }

    /// The innermost function around `svma`. `None` where nothing is known.
    pub fn containing(&self, svma: u64) -> Option<FunctionRange<'_>> {
        self.stub(svma).or_else(|| self.symbol(svma)).or_else(|| self.fde(svma))
    }

    /// The function that code calls through the slot at `svma` of the global offset table, mostly one of another file: its mangled name and `@plt`, as a
    /// stub's.
    pub fn called_through(&self, svma: u64) -> Option<&str> {
        self.stubs.at_slot(svma)
    }

    /// The slots of the global offset table that lead to functions, svma, and what they lead to, as [`called_through`](Self::called_through) says it.
    pub fn slots(&self) -> impl Iterator<Item = (u64, &str)> {
        self.stubs.slots()
    }

    /// Where the function of this mangled name begins, svma; `None` if no symbol has that name, or several.
    pub fn start_of(&self, name: &str) -> Option<u64> {
        self.symbols.start_of(name)
    }

    /// True if there is any named function.
    pub(crate) fn has_symbols(&self) -> bool {
        !self.symbols.is_empty()
    }

    fn stub(&self, svma: u64) -> Option<FunctionRange<'_>> {
        let stub = self.stubs.containing(svma)?;
        let source = RangeSource::Plt;
        Some(FunctionRange {
            start: stub.start,
            end: stub.end,
            name: Some(&stub.name),
            source,
            fragment: false,
        })
    }

    fn symbol(&self, svma: u64) -> Option<FunctionRange<'_>> {
        let hit = self.symbols.containing(svma)?;
        let end = if hit.sized { hit.end } else { self.end_of_unsized(hit.start, hit.end) };
        if svma >= end {
            return None;
        }
        let whole = names::fragment_of(hit.name);
        Some(FunctionRange {
            start: hit.start,
            end,
            name: Some(whole.unwrap_or(hit.name)),
            source: RangeSource::Symbol,
            fragment: whole.is_some(),
        })
    }

    fn fde(&self, svma: u64) -> Option<FunctionRange<'_>> {
        let (start, end) = self.fdes.containing(svma)?;
        Some(FunctionRange { start, end, name: None, source: RangeSource::Fde, fragment: false })
    }

    /// A symbol without a size ends where its own FDE ends, or where the next one begins.
    fn end_of_unsized(&self, start: u64, bound: u64) -> u64 {
        let limit = match self.fdes.containing(start) {
            Some((_, end)) => Some(end),
            None => self.fdes.next_start(start),
        };
        limit.map_or(bound, |limit| bound.min(limit))
    }
}

#[cfg(test)]
mod tests {
    use super::FunctionRanges;

    #[test]
    fn an_empty_table_knows_nothing() {
        let ranges = FunctionRanges::default();
        assert_eq!(ranges.containing(0), None);
        assert_eq!(ranges.containing(u64::MAX), None);
    }

    #[test]
    fn data_that_is_not_elf_is_an_error_that_says_so() {
        let message = FunctionRanges::from_elf(b"#!/bin/sh\n").err().map(|error| error.to_string());
        assert!(message.is_some_and(|text| text.contains("not a readable ELF file")));
    }
}
