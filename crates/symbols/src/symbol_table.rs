//! Functions by address, from an ELF file's symbol tables.
//!
//! Holds mangled names only; which bytes belong to a function of unknown size is settled together
//! with the unwind table in `ranges`.

use std::borrow::Cow;

use object::{Object, ObjectSection, ObjectSymbol, SymbolKind, SymbolSection};

use crate::bounds::{Allowance, LONGEST_MANGLED, cut};
use crate::names;

/// One function.
struct Entry {
    /// svma of its first byte.
    start: u64,
    /// svma just behind it; where the size is unknown, the furthest that it can reach.
    end: u64,
    /// The largest `end` up to and including this entry, so that a search backwards knows where to stop.
    reach: u64,
    /// Where the name lies in `SymbolTable::names`, in bytes.
    name: (u32, u32),
    sized: bool,
}

/// A function that contains an address.
pub(crate) struct Hit<'a> {
    pub(crate) start: u64,
    pub(crate) end: u64,
    pub(crate) name: &'a str,
    /// False for symbols without a size, as assembly has them: `end` is then only a bound.
    pub(crate) sized: bool,
}

/// Functions sorted by address, one name each.
#[derive(Default)]
pub(crate) struct SymbolTable {
    entries: Vec<Entry>,
    names: String,
}

/// Why one name is better than another for the same address: greater wins. In this order: has a
/// size, global, a function by type, few leading underscores, no version, short.
type Rank = (bool, bool, bool, std::cmp::Reverse<usize>, bool, std::cmp::Reverse<usize>);

struct Candidate<'data> {
    start: u64,
    size: u64,
    section_end: u64,
    name: &'data [u8],
    global: bool,
    function: bool,
}

impl Candidate<'_> {
    fn rank(&self) -> Rank {
        use std::cmp::Reverse;
        let underscores = self.name.iter().take_while(|byte| **byte == b'_').count();
        // The leading "_Z" and "_R" of mangled names are not the underscores of a private alias.
        let mangled = underscores == 1 && matches!(self.name.get(1), Some(b'Z' | b'R'));
        (
            self.function && self.size > 0,
            self.global,
            self.function,
            Reverse(if mangled { 0 } else { underscores }),
            !self.name.contains(&b'@'),
            Reverse(self.name.len()),
        )
    }
}

impl SymbolTable {
    /// Reads `.symtab` and `.dynsym` of each file. All must share one address space, as a program
    /// and its separate debug file do.
    /// The names may take `room` bytes together.
    pub(crate) fn read(files: &[&object::File<'_>], room: usize, allowance: &mut Allowance) -> Self {
        // Their places are counted in 32 bits.
        let room = room.min(u32::MAX as usize);
        let mut candidates = Vec::new();
        for elf in files {
            collect(elf, &mut candidates);
        }
        // Stable, so that equal ranks keep the order of the file and every run says the same.
        candidates.sort_by_key(|candidate| candidate.start);
        let mut table = SymbolTable::default();
        table.entries.reserve(candidates.len());
        let groups: Vec<&[Candidate<'_>]> = candidates.chunk_by(|a, b| a.start == b.start).collect();
        let mut reach = 0;
        let mut sized_reach = 0;
        for (index, group) in groups.iter().enumerate() {
            let next_start = groups.get(index + 1).and_then(|next| next.first()).map(|next| next.start);
            let Some(best) = best_of(group) else { continue };
            let sized = best.size > 0;
            // A label inside a function is not a function.
            if !sized && best.start < sized_reach {
                continue;
            }
            let end = if sized {
                best.start.saturating_add(best.size)
            } else {
                next_start.unwrap_or(u64::MAX).min(best.section_end)
            };
            let Some(name) = table.keep_name(best.name, room) else {
                allowance.note(format!(
                    "functions from {:#x} on have no name: the names together are longer than the file",
                    best.start
                ));
                break;
            };
            reach = end.max(reach);
            sized_reach = if sized { end.max(sized_reach) } else { sized_reach };
            table.entries.push(Entry { start: best.start, end, reach, name, sized });
        }
        table
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Where the function of this mangled name begins; `None` if there is none, or several.
    pub(crate) fn start_of(&self, name: &str) -> Option<u64> {
        let mut named = self.entries.iter().filter(|entry| self.hit(entry).name == name);
        named.next().filter(|_| named.next().is_none()).map(|entry| entry.start)
    }

    /// The innermost function around `svma`.
    pub(crate) fn containing(&self, svma: u64) -> Option<Hit<'_>> {
        let above = self.entries.partition_point(|entry| entry.start <= svma);
        let candidates = self.entries.get(..above)?;
        candidates
            .iter()
            .rev()
            .take_while(|entry| entry.reach > svma)
            .find(|entry| entry.end > svma)
            .map(|entry| self.hit(entry))
    }

    fn hit(&self, entry: &Entry) -> Hit<'_> {
        let (from, to) = entry.name;
        let name = self.names.get(from as usize..to as usize).unwrap_or_default();
        Hit { start: entry.start, end: entry.end, name, sized: entry.sized }
    }

    /// `None` when `room` bytes of names are full.
    fn keep_name(&mut self, name: &[u8], room: usize) -> Option<(u32, u32)> {
        let text = String::from_utf8_lossy(name.get(..=LONGEST_MANGLED).unwrap_or(name));
        let mut text = Cow::Borrowed(names::without_version(&text));
        if text.len() > LONGEST_MANGLED {
            text = cut(text.into_owned(), LONGEST_MANGLED).into();
        }
        if self.names.len() + text.len() > room {
            return None;
        }
        let from = u32::try_from(self.names.len()).ok()?;
        self.names.push_str(&text);
        Some((from, u32::try_from(self.names.len()).ok()?))
    }
}

fn best_of<'a, 'data>(group: &'a [Candidate<'data>]) -> Option<&'a Candidate<'data>> {
    match group {
        [only] => Some(only),
        // `max_by_key` takes the last of equals; reversed, the first in the file.
        _ => group.iter().rev().max_by_key(|candidate| candidate.rank()),
    }
}

fn collect<'data>(elf: &object::File<'data>, into: &mut Vec<Candidate<'data>>) {
    let code = code_sections(elf);
    for symbol in elf.symbols().chain(elf.dynamic_symbols()) {
        if !matches!(symbol.section(), SymbolSection::Section(_)) {
            continue;
        }
        let function = match symbol.kind() {
            SymbolKind::Text => true,
            SymbolKind::Unknown | SymbolKind::Label => false,
            _ => continue,
        };
        // By address: `objcopy` leaves stale section numbers in `.dynsym`. Linker marks such as
        // `_etext` lie on a section's end and fall out here.
        let Some(section_end) = end_of_section(&code, symbol.address()) else { continue };
        let Ok(name) = symbol.name_bytes() else { continue };
        // `$x` and `$d` mark code and data in ARM files, `.L` names are the compiler's labels.
        if name.is_empty() || name.starts_with(b"$") || name.starts_with(b".L") {
            continue;
        }
        into.push(Candidate {
            start: symbol.address(),
            size: symbol.size(),
            section_end,
            name,
            global: symbol.is_global() || symbol.is_weak(),
            function,
        });
    }
}

/// (start, end) of every section of code, sorted.
fn code_sections(elf: &object::File<'_>) -> Vec<(u64, u64)> {
    let mut code: Vec<_> = elf
        .sections()
        .filter(is_executable)
        .map(|section| (section.address(), section.address().saturating_add(section.size())))
        .collect();
    code.sort_unstable();
    code
}

fn end_of_section(code: &[(u64, u64)], svma: u64) -> Option<u64> {
    let above = code.partition_point(|(start, _)| *start <= svma);
    let (_, end) = code.get(above.checked_sub(1)?)?;
    (svma < *end).then_some(*end)
}

fn is_executable(section: &object::Section<'_, '_>) -> bool {
    match section.flags() {
        object::SectionFlags::Elf { sh_flags, .. } => sh_flags.0 & object::elf::SHF_EXECINSTR.0 != 0,
        _ => false,
    }
}
