//! Which functions of a process are done here in place of running their code, and where its stacks are.
//!
//! Most are found by their symbols. What the C library chooses for a processor at its start often has none: its address is in the slots of the
//! global offset table, whose relocations tell what it is.

use super::natives::{Native, Natives, named};
use super::read;
use crate::image::Image;
use crate::unwind::Mapped;
use slowpath_emulate::Registers;
use slowpath_symbols::RangeSource;
use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;

/// Slots of one file that are read at most: the C library has some dozens, a large program some thousands.
const SLOTS: usize = 100_000;

/// Code of a process.
pub(crate) struct Code {
    pid: u32,
    mapped: Vec<Mapped>,
    known: HashMap<u64, Option<Native>>,
    allocated: u64,
    go: bool,
}

impl Code {
    /// The executable mappings of a process.
    pub(crate) fn new(pid: u32, mapped: Vec<Mapped>) -> Code {
        let go = mapped.iter().any(|one| one.image.as_ref().is_some_and(|image| image.go));
        let mut code = Code { pid, mapped, known: HashMap::new(), allocated: 0, go };
        code.read_slots();
        code
    }

    pub(super) fn pid(&self) -> u32 {
        self.pid
    }

    pub(super) fn go(&self) -> bool {
        self.go
    }

    /// What slots lead to.
    fn read_slots(&mut self) {
        let mut known = Vec::new();
        for one in &self.mapped {
            let Some((image, functions)) =
                one.image.as_ref().and_then(|image| Some((image, image.functions()?)))
            else {
                continue;
            };
            let Some(first) = image.svma_of_offset(one.offset) else { continue };
            let base = one.range.start.wrapping_sub(first);
            for (slot, name) in functions.slots().take(SLOTS) {
                let Some(native) = named(name.strip_suffix("@plt").unwrap_or(name)) else { continue };
                let mut address = [0; 8];
                if read(self.pid, base.wrapping_add(slot), &mut address) == address.len() {
                    let address = u64::from_le_bytes(address);
                    // One that was not called yet leads to a stub.
                    if self.is_function(address) {
                        known.push((address, native));
                    }
                }
            }
        }
        self.known.extend(known.into_iter().map(|(address, native)| (address, Some(native))));
    }

    /// Whether code begins there that is no stub.
    fn is_function(&self, address: u64) -> bool {
        let Some(one) = self.mapped.iter().find(|one| one.range.contains(&address)) else { return false };
        let svma = |image: &Image| image.svma_of_offset(address - one.range.start + one.offset);
        let is_stub = |image: &Arc<Image>| {
            let function = image.functions()?.containing(svma(image)?)?;
            Some(function.source == RangeSource::Plt)
        };
        !one.image.as_ref().and_then(is_stub).unwrap_or(false)
    }

    /// The stack of a thread with these registers: of a goroutine, as its `g` in r14 says (Go's internal ABI), else the mapping that it is in.
    pub(super) fn stack(&self, registers: &Registers) -> Option<Range<u64>> {
        let at = registers.general[4];
        let stack = if self.go {
            let mut bounds = [[0; 8]; 2];
            for (part, bound) in bounds.iter_mut().enumerate() {
                read(self.pid, registers.general[14].wrapping_add(8 * part as u64), bound);
            }
            u64::from_le_bytes(bounds[0])..u64::from_le_bytes(bounds[1])
        } else {
            let maps = std::fs::read_to_string(format!("/proc/{}/maps", self.pid)).ok()?;
            let range = |line: &str| {
                let (start, end) = line.split(' ').next()?.split_once('-')?;
                Some(u64::from_str_radix(start, 16).ok()?..u64::from_str_radix(end, 16).ok()?)
            };
            maps.lines().filter_map(range).find(|range| range.contains(&at))?
        };
        stack.contains(&at).then_some(stack)
    }

    fn look_up(&self, address: u64) -> Option<Native> {
        let one = self.mapped.iter().find(|one| one.range.contains(&address))?;
        let image = one.image.as_ref()?;
        let svma = image.svma_of_offset(address - one.range.start + one.offset)?;
        let function = image.functions()?.containing(svma)?;
        let name = function.name.filter(|_| function.start == svma)?;
        named(name).filter(|_| !name.ends_with("@plt"))
    }
}

impl Natives for &mut Code {
    fn native(&mut self, address: u64) -> Option<Native> {
        if let Some(known) = self.known.get(&address) {
            return *known;
        }
        let native = self.look_up(address);
        self.known.insert(address, native);
        native
    }

    fn allocated(&mut self) -> &mut u64 {
        &mut self.allocated
    }
}
