//! Which functions of a process are done here in place of running their code, and where its stacks are.
//!
//! Most are found by their symbols. What the C library chooses for a processor at its start often has none: its address is in the slots of the
//! global offset table, whose relocations tell what it is.

use super::natives::{Native, Natives, is_of_system, named};
use super::read;
use crate::image::Image;
use crate::unwind::Mapped;
use slowpath_emulate::Registers;
use slowpath_symbols::RangeSource;
use std::collections::HashMap;
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

/// Slots of one file that are read at most: the C library has some dozens, a large program some thousands.
const SLOTS: usize = 100_000;
/// How the names of the files begin that a system's functions are in.
const SYSTEM: [&str; 3] = ["libc", "libm", "ld-"];
/// Programs that look into themselves by ptrace at their end have one of these.
const SANITIZERS: [&str; 2] = ["__asan_init", "__lsan_init"];

/// `int3`.
const BREAKPOINT: u8 = 0xcc;

/// Code of a process, as it was mapped at some moment.
pub(crate) struct Code {
    pid: u32,
    mapped: Vec<Mapped>,
    /// Functions that slots lead to.
    linked: HashMap<u64, Native>,
    go: bool,
}

impl Code {
    /// The executable mappings of a process. None if it is better left alone. Reads symbols: not while a thread stands.
    pub(crate) fn new(pid: u32, mapped: Vec<Mapped>) -> Option<Code> {
        let images = || mapped.iter().filter_map(|one| one.image.as_ref());
        let has = |image: &Arc<Image>, name: &&str| {
            image.functions().is_some_and(|functions| functions.start_of(name).is_some())
        };
        if images().any(|image| SANITIZERS.iter().any(|name| has(image, name))) {
            return None;
        }
        let go = images().any(|image| image.go);
        let mut code = Code { pid, mapped, linked: HashMap::new(), go };
        code.linked = code.linked();
        Some(code)
    }

    /// Whether these are its mappings.
    pub(crate) fn is_of(&self, mapped: &[Mapped]) -> bool {
        let ranges = |mapped: &[Mapped]| -> Vec<(Range<u64>, u32)> {
            mapped.iter().map(|one| (one.range.clone(), one.module)).collect()
        };
        ranges(&self.mapped) == ranges(mapped)
    }

    pub(super) fn pid(&self) -> u32 {
        self.pid
    }

    /// What slots lead to.
    fn linked(&self) -> HashMap<u64, Native> {
        let mut linked = HashMap::new();
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
                    if self.is_function(address, native) {
                        linked.insert(address, native);
                    }
                }
            }
        }
        linked
    }

    fn at(&self, address: u64) -> Option<(&Mapped, u64)> {
        let one = self.mapped.iter().find(|one| one.range.contains(&address))?;
        let svma = one.image.as_ref()?.svma_of_offset(address - one.range.start + one.offset)?;
        Some((one, svma))
    }

    /// Puts back what the file has where a page of code has breakpoints: those of probes are in the code while they are active.
    pub(super) fn without_breakpoints(&self, address: u64, page: &mut [u8]) {
        let Some(one) = self.mapped.iter().find(|one| one.range.contains(&address)) else { return };
        let Some(image) = &one.image else { return };
        let Some(offset) = address.checked_sub(one.range.start).map(|from| from + one.offset) else { return };
        let Some(of_file) = image.content(offset, page.len()) else { return };
        for (byte, of_file) in page.iter_mut().zip(of_file).filter(|(byte, _)| **byte == BREAKPOINT) {
            *byte = *of_file;
        }
    }

    /// Whether code begins there that is no stub, of a library that may have such a function.
    fn is_function(&self, address: u64, native: Native) -> bool {
        let Some((one, svma)) = self.at(address) else { return false };
        let Some(image) = &one.image else { return false };
        let function = image.functions().and_then(|functions| functions.containing(svma));
        let is_stub = function.is_some_and(|function| function.source == RangeSource::Plt);
        !is_stub && (is_system(&image.path) || !is_of_system(native))
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
        if let Some(native) = self.linked.get(&address) {
            return Some(*native);
        }
        let (one, svma) = self.at(address)?;
        let image = one.image.as_ref()?;
        let function = image.functions()?.containing(svma)?;
        let name = function.name.filter(|_| function.start == svma)?;
        let native = named(name).filter(|_| !name.ends_with("@plt"))?;
        (is_system(&image.path) || !is_of_system(native)).then_some(native)
    }
}

fn is_system(path: &Path) -> bool {
    let name = path.file_name().map(|name| name.to_string_lossy()).unwrap_or_default();
    SYSTEM.iter().any(|begin| name.starts_with(begin))
}

impl Code {
    fn function_around(&self, address: u64) -> Option<u64> {
        let (one, svma) = self.at(address)?;
        let function = one.image.as_ref()?.functions()?.containing(svma)?;
        Some(address - (svma - function.start))
    }

    /// The name of the function that begins at an address, and its file. A stub that leads to one is none.
    fn name_at(&self, address: u64) -> Option<(&str, &Image)> {
        let (one, svma) = self.at(address)?;
        let image = one.image.as_deref()?;
        let function = image.functions()?.containing(svma)?;
        let begins = function.start == svma && function.source != RangeSource::Plt;
        Some((function.name.filter(|_| begins)?, image))
    }

    fn kind(&self, address: u64) -> Kind {
        let native = self.look_up(address);
        let Some((name, image)) = self.name_at(address) else { return Kind { native, ..Kind::default() } };
        let formats = is_system(&image.path).then(|| slowpath_interfaces::formats(name)).flatten();
        // Names take long to be demangled; those of C are not mangled.
        let mangled = name.starts_with("_Z") || name.starts_with("_R");
        let has = |parts: &[&str]| !mangled || parts.iter().any(|part| name.contains(part));
        let demangled = || slowpath_symbols::demangle(name);
        let copied = Some(()).filter(|()| has(&COPIES)).map(|()| demangled());
        let copied = copied.filter(|name| slowpath_interfaces::copies_objects(name));
        Kind {
            native,
            formats,
            copies: copied.map(|name| slowpath_interfaces::assigns_objects(&name)),
            destroys: has(&DESTROYS) && slowpath_interfaces::destroys_objects(&demangled()),
        }
    }
}

/// What mangled names of C++ and Rust have of functions that copy or destroy objects.
const COPIES: [&str; 10] = [
    "C1ERK",
    "C2ERK",
    "aSERK",
    "5clone",
    "7_M_copy",
    "15__do_uninit_copy",
    "13_M_clone_node",
    "9_M_assign",
    "18_M_assign_elements",
    "13__uninit_copy",
];
const DESTROYS: [&str; 4] = ["D0Ev", "D1Ev", "D2Ev", "drop_in_place"];

/// What is known of a function.
#[derive(Clone, Copy, Default)]
struct Kind {
    native: Option<Native>,
    formats: Option<bool>,
    copies: Option<bool>,
    destroys: bool,
}

/// What is known of functions in one stretch, and what was allocated in it.
pub(super) struct InStretch<'c> {
    pub code: &'c Code,
    known: HashMap<u64, Kind>,
    /// The one that was asked for last.
    last: (u64, Kind),
    allocated: u64,
}

impl InStretch<'_> {
    pub(super) fn new(code: &Code) -> InStretch<'_> {
        InStretch { code, known: HashMap::new(), last: (0, Kind::default()), allocated: 0 }
    }

    fn kind(&mut self, address: u64) -> Kind {
        if self.last.0 != address {
            let code = self.code;
            self.last = (address, *self.known.entry(address).or_insert_with(|| code.kind(address)));
        }
        self.last.1
    }
}

impl Natives for InStretch<'_> {
    fn native(&mut self, address: u64) -> Option<Native> {
        self.kind(address).native
    }

    fn formats(&mut self, address: u64) -> Option<bool> {
        self.kind(address).formats
    }

    fn function_around(&self, address: u64) -> Option<u64> {
        self.code.function_around(address)
    }

    fn copies(&mut self, address: u64) -> Option<bool> {
        self.kind(address).copies
    }

    fn destroys(&mut self, address: u64) -> bool {
        self.kind(address).destroys
    }

    fn allocated(&mut self) -> &mut u64 {
        &mut self.allocated
    }
}
