//! Names for the stubs through which a program calls into shared libraries: `write@plt`.
//!
//! A stub has no symbol of its own. It jumps through a slot of the global offset table, and the
//! dynamic relocation of that slot names the function. x86-64 only; elsewhere no stub is named.

use std::collections::HashMap;
use std::sync::Arc;

use object::{Architecture, Object, ObjectSection, ObjectSymbol, ObjectSymbolTable, SymbolIndex};

use crate::bounds::{Allowance, LONGEST_MANGLED, cut};
use crate::image::section;
use crate::names;

const R_X86_64_GLOB_DAT: u64 = 6;
const R_X86_64_JUMP_SLOT: u64 = 7;
const R_X86_64_IRELATIVE: u64 = 37;
const RELA_SIZE: usize = 24;
/// Sections of stubs, and the size of a stub in each where the section does not say, in bytes.
const SECTIONS: [(&str, usize); 4] = [(".plt", 16), (".plt.sec", 16), (".plt.got", 8), (".iplt", 16)];

/// One stub.
pub(crate) struct Stub {
    /// svma of its first byte.
    pub(crate) start: u64,
    /// svma just behind it.
    pub(crate) end: u64,
    /// `callee@plt`, mangled.
    pub(crate) name: Arc<str>,
}

/// The stubs of one file, sorted by address.
#[derive(Default)]
pub(crate) struct Stubs {
    stubs: Vec<Stub>,
    /// Their names by the slots that they jump through; code that was built without stubs calls through the slot itself.
    slots: HashMap<u64, Arc<str>>,
}

impl Stubs {
    /// `name_at` names the function at an svma, for slots that hold a local function's address. The names may take `room` bytes
    /// together.
    pub(crate) fn read(
        elf: &object::File<'_>,
        name_at: impl Fn(u64) -> Option<String>,
        room: usize,
        allowance: &mut Allowance,
    ) -> Self {
        if elf.architecture() != Architecture::X86_64 || !elf.is_little_endian() {
            return Stubs::default();
        }
        let slots = Slots::read(elf, name_at, room, allowance);
        let mut stubs = Vec::new();
        for (name, usual_size) in SECTIONS {
            let Some(header) = elf.section_by_name(name) else { continue };
            let Ok(code) = header.data() else { continue };
            let size = stub_size(&header).unwrap_or(usual_size);
            for (index, stub) in code.chunks_exact(size).enumerate() {
                let start = header.address().wrapping_add((index * size) as u64);
                let Some(name) = slots.stub_name(stub, start) else { continue };
                let end = start.saturating_add(size as u64);
                stubs.push(Stub { start, end, name });
            }
        }
        stubs.sort_by_key(|stub| stub.start);
        Stubs { stubs, slots: slots.by_address }
    }

    pub(crate) fn containing(&self, svma: u64) -> Option<&Stub> {
        let above = self.stubs.partition_point(|stub| stub.start <= svma);
        self.stubs.get(above.checked_sub(1)?).filter(|stub| svma < stub.end)
    }

    pub(crate) fn slots(&self) -> impl Iterator<Item = (u64, &str)> {
        self.slots.iter().map(|(svma, name)| (*svma, name.as_ref()))
    }

    /// `callee@plt`, mangled, if the dynamic linker puts that function's address there.
    pub(crate) fn at_slot(&self, svma: u64) -> Option<&str> {
        self.slots.get(&svma).map(AsRef::as_ref)
    }
}

fn stub_size(section: &object::Section<'_, '_>) -> Option<usize> {
    // `.plt.got` with branch tracking holds stubs of 16 bytes that begin with `endbr64`.
    let code = section.data().ok()?;
    code.starts_with(&ENDBR64).then_some(16)
}

const ENDBR64: [u8; 4] = [0xf3, 0x0f, 0x1e, 0xfa];

/// The names of stubs by the slots that they jump through.
struct Slots {
    /// By the svma of a slot in the global offset table.
    by_address: HashMap<u64, Arc<str>>,
    /// Those of `.rela.plt` in order: lazy stubs push this index.
    by_index: Vec<Option<Arc<str>>>,
}

impl Slots {
    fn read(
        elf: &object::File<'_>,
        name_at: impl Fn(u64) -> Option<String>,
        mut room: usize,
        allowance: &mut Allowance,
    ) -> Self {
        let symbols = elf.dynamic_symbol_table();
        let callee = |rela: &Rela| match rela.kind {
            R_X86_64_GLOB_DAT | R_X86_64_JUMP_SLOT => {
                let symbol = symbols.as_ref()?.symbol_by_index(SymbolIndex(rela.symbol)).ok()?;
                let name = symbol.name().ok().filter(|name| !name.is_empty())?;
                Some(cut(names::without_version(name).to_owned(), LONGEST_MANGLED))
            }
            R_X86_64_IRELATIVE => name_at(rela.addend),
            _ => None,
        };
        // Many relocations may be of one symbol with a long name.
        let mut whole = true;
        let mut stub = |rela: &Rela| {
            let name = format!("{}@plt", callee(rela)?);
            let left = room.checked_sub(name.len());
            whole &= left.is_some();
            room = left?;
            Some(Arc::<str>::from(name))
        };
        let mut slots = Slots { by_address: HashMap::new(), by_index: Vec::new() };
        for rela in relocations(section(elf, ".rela.plt", allowance).as_deref().unwrap_or_default()) {
            let name = stub(&rela);
            if let Some(name) = &name {
                slots.by_address.insert(rela.slot, name.clone());
            }
            slots.by_index.push(name);
        }
        for rela in relocations(section(elf, ".rela.dyn", allowance).as_deref().unwrap_or_default()) {
            if let Some(name) = stub(&rela) {
                slots.by_address.entry(rela.slot).or_insert(name);
            }
        }
        if !whole {
            allowance.note("some call stubs have no name: their names are longer than the file".to_owned());
        }
        slots
    }

    fn stub_name(&self, stub: &[u8], start: u64) -> Option<Arc<str>> {
        // `jmp *slot(%rip)`: ff 25 and a displacement from the next instruction.
        let jump = stub.windows(6).enumerate().find(|(_, bytes)| bytes.starts_with(&[0xff, 0x25]));
        if let Some((at, bytes)) = jump {
            let next = start.wrapping_add(at as u64 + 6);
            let slot = next.wrapping_add_signed(displacement(bytes.get(2..6)?)?.into());
            return self.by_address.get(&slot).cloned();
        }
        // A lazy stub before `.plt.sec`: [endbr64] `push $index`, jump to the resolver.
        let body = stub.strip_prefix(&ENDBR64).unwrap_or(stub);
        let index = displacement(body.strip_prefix(&[0x68])?.get(..4)?)?;
        self.by_index.get(usize::try_from(index).ok()?)?.clone()
    }
}

fn displacement(bytes: &[u8]) -> Option<i32> {
    Some(i32::from_le_bytes(bytes.try_into().ok()?))
}

struct Rela {
    slot: u64,
    symbol: usize,
    kind: u64,
    addend: u64,
}

fn relocations(data: &[u8]) -> impl Iterator<Item = Rela> + '_ {
    data.chunks_exact(RELA_SIZE).filter_map(|row| {
        let word = |at: usize| Some(u64::from_le_bytes(row.get(at..at + 8)?.try_into().ok()?));
        let info = word(8)?;
        Some(Rela {
            slot: word(0)?,
            symbol: usize::try_from(info >> 32).ok()?,
            kind: info & 0xffff_ffff,
            addend: word(16)?,
        })
    })
}
