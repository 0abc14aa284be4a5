//! Whether the code of a function was built with optimisation: as its compiler noted, or else as its instructions show.
//!
//! GCC and Go note their options in DWARF; Clang and rustc do not, and many programs have no debug information. Without optimisation a
//! compiler keeps every variable in memory: each statement loads what it needs from the stack and stores what it made there, so values
//! are loaded again that a register still holds, and the registers that survive calls are hardly used. Optimised code does each of
//! these at times, all of them together hardly ever.
//!
//! Measured with GCC 12, Clang 14 and rustc 1.95 on functions of at least [`LEAST`] instructions of zlib, zstd, bzip2, libbpf, xdiff and programs in C++
//! and Rust, at each level, and of the programs and libraries of Debian 12. By its own code alone ([`Looks::Unoptimized`]) 43 % (GCC), 55 % (Clang),
//! 32 % (g++) and 78 % (clang++) of the functions look so at -O0; at other levels at most 0.15 %. With the neighbours asked 90 to 100 % at -O0; at -Og,
//! -O1, -Os, -O2 and -O3 none of 6,231; of Debian's 5,665 of 615,530, all but 52 of these in gdb, libslang, libdevmapper and libgcrypt, of
//! which whole ranges have all the signs.

use crate::ranges::FunctionRanges;
use iced_x86::{
    Decoder, DecoderOptions, FlowControl, Instruction, InstructionInfoFactory, Mnemonic, OpAccess, OpKind,
    Register,
};
use object::{Architecture, Object, ObjectSection, SectionKind};
use std::collections::{HashMap, HashSet};

/// How it is known that code was built with optimisation or without.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KnownBy {
    /// By the options that the compiler noted in the debug information.
    Compiler,
    /// By its instructions.
    Code,
}

/// How the code of a function was built.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Build {
    /// With optimisation, of whatever level.
    pub optimized: bool,
    /// How that is known.
    pub known_by: KnownBy,
    /// Name and version of the compiler, if it noted them.
    pub compiler: Option<String>,
}

/// Instructions that it takes to judge a function, and to judge it with the help of others.
const LEAST: usize = 20;
const LEAST_SHORT: usize = 5;
/// Bytes of a function that are looked at: some 2,000 instructions show its kind, and 33 such functions are decoded in milliseconds.
const LONGEST: usize = 8 << 10;
/// Neighbours on each side that are asked. A compiler is called for a whole file, and its functions stand together: small files have
/// a dozen.
const NEIGHBOURS: usize = 16;
/// Bytes on each side in which they are searched: those of so many functions of 1,000 instructions.
const AROUND: u64 = 64 << 10;
/// The share of them, itself included, that must look unoptimised: far from both, the 32 % and more at -O0 and the 0.15 % of others. And the
/// number, where there are six or more: one or two may be written by hand.
const LIKE_IT: f64 = 0.125;
const ENOUGH: usize = 3;

/// What the instructions of a function look like.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Looks {
    /// Too few instructions.
    Unknown,
    /// Too few to be asked about others, such as a method that returns a member; its variables are in memory.
    Short,
    Optimized,
    /// Variables are in memory, but there is no more to it.
    Perhaps,
    Unoptimized,
}

/// What a producer (`DW_AT_producer`) says: with optimisation or without; none if it does not note its options.
pub(crate) fn by_producer(producer: &str) -> Option<bool> {
    let mut words = producer.split([' ', ';']).filter(|word| !word.is_empty());
    if producer.starts_with("Go cmd/compile") {
        return Some(!words.any(|word| word == "-N"));
    }
    // `GNU C17 12.2.0 -mtune=generic … -O2`; an assembler and older versions note no options.
    if !producer.starts_with("GNU ") || !producer.contains(" -m") {
        return None;
    }
    // Of several the last one holds.
    Some(words.rfind(|word| word.starts_with("-O")).is_some_and(|level| level != "-O0"))
}

/// The compiler's name and version, without options.
pub(crate) fn compiler(producer: &str) -> String {
    let without = producer.split([';', '(']).next().unwrap_or_default();
    let words = without.split(' ').take_while(|word| !word.starts_with('-'));
    let name = words.collect::<Vec<_>>().join(" ").trim().to_owned();
    // `clang LLVM (rustc version 1.80.0 (…))`
    match producer.split_once("rustc version ") {
        Some((_, version)) => format!("rustc {}", version.split([' ', ')']).next().unwrap_or_default()),
        None => name,
    }
}

/// Judges the functions of one file by their code. Keeps what it decoded, for neighbours are asked again and again.
#[derive(Default)]
pub(crate) struct Judge {
    /// By first byte.
    looks: HashMap<u64, Looks>,
}

impl Judge {
    /// Whether the function around `svma` was built with optimisation. None if there is too little code, or it is of another kind.
    pub(crate) fn by_code(
        &mut self,
        elf: &object::File<'_>,
        ranges: &FunctionRanges,
        svma: u64,
    ) -> Option<bool> {
        // Go keeps arguments on the stack, and no register survives a call.
        if elf.architecture() != Architecture::X86_64 || elf.section_by_name(".go.buildinfo").is_some() {
            return None;
        }
        let section = elf.sections().find(|section| {
            section.kind() == SectionKind::Text
                && svma.checked_sub(section.address()).is_some_and(|offset| offset < section.size())
        })?;
        let (code, base) = (section.data().ok()?, section.address());
        by_neighbours(ranges, svma, &mut |start, end| {
            *self.looks.entry(start).or_insert_with(|| {
                let at = |svma: u64| usize::try_from(svma.checked_sub(base)?).ok();
                let bytes =
                    at(start).zip(at(end)).and_then(|(start, end)| code.get(start..end.min(code.len())));
                bytes.map_or(Looks::Unknown, |bytes| looks(bytes, start))
            })
        })
    }
}

/// Asks the function around `svma` and its neighbours. `looks` gives what a function looks like by first byte and end.
fn by_neighbours(
    ranges: &FunctionRanges,
    svma: u64,
    looks: &mut impl FnMut(u64, u64) -> Looks,
) -> Option<bool> {
    let range = ranges.containing(svma)?;
    let own = looks(range.start, range.end);
    match own {
        Looks::Unknown => return None,
        Looks::Optimized => return Some(true),
        Looks::Short | Looks::Perhaps | Looks::Unoptimized => {}
    }
    let mut asked = if own == Looks::Short { Vec::new() } else { vec![own] };
    let mut below = range.start;
    let mut left = NEIGHBOURS;
    while left > 0 && below > range.start.saturating_sub(AROUND) {
        // Between two functions there are some bytes of padding.
        below -= 1;
        let Some(neighbour) = ranges.containing(below).filter(|neighbour| neighbour.start <= below) else {
            continue;
        };
        below = neighbour.start;
        push(&mut asked, &mut left, looks(neighbour.start, neighbour.end));
    }
    let mut above = range.end;
    let mut left = NEIGHBOURS;
    while left > 0 && above < range.end.saturating_add(AROUND) {
        let Some(neighbour) = ranges.containing(above).filter(|neighbour| neighbour.end > above) else {
            above += 1;
            continue;
        };
        above = neighbour.end;
        push(&mut asked, &mut left, looks(neighbour.start, neighbour.end));
    }
    if asked.is_empty() {
        return None;
    }
    let alike = asked.iter().filter(|looks| **looks == Looks::Unoptimized).count();
    let needed = (asked.len() / 2).clamp(1, ENOUGH);
    Some(alike < needed || (alike as f64) < LIKE_IT * asked.len() as f64)
}

fn push(asked: &mut Vec<Looks>, left: &mut usize, looks: Looks) {
    if !matches!(looks, Looks::Unknown | Looks::Short) {
        asked.push(looks);
        *left -= 1;
    }
}

/// Shares of all instructions: those that access a variable on the stack, that use a register which survives calls, and that load what a
/// register still holds. From here on a function looks unoptimised: at -O0 half of all have 0.37 to 0.44, 0 and 0.04 to 0.05; of
/// optimised ones 5 in 100 have more than 0.25 of the first, and 1 in 100 more than 0.02 of the third.
const ON_STACK: f64 = 0.3;
const SAVED: f64 = 0.05;
const AGAIN: f64 = 0.03;
/// … and so far it may be. g++ keeps the first argument of a call in such a register at times.
const PERHAPS_ON_STACK: f64 = 0.2;
const PERHAPS_SAVED: f64 = 0.2;

/// What a function of these bytes looks like.
fn looks(code: &[u8], start: u64) -> Looks {
    let code = &code[..code.len().min(LONGEST)];
    let instructions: Vec<Instruction> = Decoder::with_ip(64, code, start, DecoderOptions::NONE)
        .into_iter()
        .take_while(|instruction| !instruction.is_invalid())
        .filter(|instruction| {
            !matches!(instruction.mnemonic(), Mnemonic::Nop | Mnemonic::Endbr64 | Mnemonic::Int3)
        })
        .collect();
    if instructions.len() < LEAST_SHORT {
        return Looks::Unknown;
    }
    let (on_stack, saved, again) = count(&instructions);
    let share = |count: usize| count as f64 / instructions.len() as f64;
    let in_memory = share(on_stack) >= PERHAPS_ON_STACK && share(saved) <= PERHAPS_SAVED;
    if instructions.len() < LEAST {
        return if in_memory { Looks::Short } else { Looks::Unknown };
    }
    if share(on_stack) >= ON_STACK && share(saved) <= SAVED && share(again) >= AGAIN {
        Looks::Unoptimized
    } else if in_memory {
        Looks::Perhaps
    } else {
        Looks::Optimized
    }
}

/// Instructions that access a variable on the stack, that use a register which survives calls, and that load what a register holds.
fn count(instructions: &[Instruction]) -> (usize, usize, usize) {
    let targets: HashSet<u64> = instructions.iter().map(Instruction::near_branch_target).collect();
    let mut infos = InstructionInfoFactory::new();
    let (mut on_stack, mut saved, mut again) = (0, 0, 0);
    // Which registers hold the value of a variable.
    let mut held: HashMap<(Register, u64), Vec<Register>> = HashMap::new();
    let mut frame = false;
    for instruction in instructions {
        if targets.contains(&instruction.ip()) {
            held.clear();
        }
        frame |= instruction.mnemonic() == Mnemonic::Mov
            && (instruction.op0_register(), instruction.op1_register()) == (Register::RBP, Register::RSP);
        let variable = variable(instruction, frame);
        let loads = instruction.op_count() == 2 && instruction.op1_kind() == OpKind::Memory;
        if let Some(at) = variable {
            on_stack += 1;
            again += usize::from(loads && held.get(&at).is_some_and(|registers| !registers.is_empty()));
        }
        let moves_stack = matches!(instruction.mnemonic(), Mnemonic::Push | Mnemonic::Pop);
        for used in infos.info(instruction).used_registers() {
            let register = used.register().full_register();
            saved += usize::from(!moves_stack && SURVIVES.contains(&register));
            if writes(used.access()) {
                held.values_mut().for_each(|registers| registers.retain(|other| *other != register));
            }
        }
        if let Some(at) = variable {
            match (instruction.op0_kind(), instruction.op1_kind()) {
                (OpKind::Memory, OpKind::Register) if is_move(instruction) => {
                    held.insert(at, vec![instruction.op1_register().full_register()]);
                }
                (OpKind::Register, OpKind::Memory) if is_move(instruction) => {
                    held.entry(at).or_default().push(instruction.op0_register().full_register());
                }
                (OpKind::Memory, _) => drop(held.remove(&at)),
                _ => {}
            }
        }
        if instruction.flow_control() != FlowControl::Next {
            held.clear();
        }
    }
    (on_stack, saved, again)
}

/// Registers that survive calls by the System V ABI, beside the frame pointer.
const SURVIVES: [Register; 5] = [Register::RBX, Register::R12, Register::R13, Register::R14, Register::R15];

fn is_move(instruction: &Instruction) -> bool {
    matches!(
        instruction.mnemonic(),
        Mnemonic::Mov | Mnemonic::Movsd | Mnemonic::Movss | Mnemonic::Movaps | Mnemonic::Movups
    )
}

fn writes(access: OpAccess) -> bool {
    matches!(access, OpAccess::Write | OpAccess::ReadWrite | OpAccess::CondWrite | OpAccess::ReadCondWrite)
}

/// Where on the stack the variable is that an instruction accesses. At an index it is an array.
fn variable(instruction: &Instruction, frame: bool) -> Option<(Register, u64)> {
    let accesses = (0..instruction.op_count()).any(|at| instruction.op_kind(at) == OpKind::Memory);
    let base = instruction.memory_base();
    let on_stack = base == Register::RSP || frame && base == Register::RBP;
    (accesses
        && on_stack
        && instruction.memory_index() == Register::None
        && instruction.mnemonic() != Mnemonic::Lea)
        .then(|| (base, instruction.memory_displacement64()))
}

#[cfg(test)]
mod tests {
    use super::{by_producer, compiler};

    #[test]
    fn options_tell_the_level() {
        let gcc =
            |options: &str| by_producer(&format!("GNU C17 12.2.0 -mtune=generic -march=x86-64 {options}"));
        assert_eq!(gcc("-g -O2"), Some(true));
        assert_eq!(gcc("-g -Og"), Some(true));
        assert_eq!(gcc("-g"), Some(false));
        assert_eq!(gcc("-O2 -O0 -fPIC"), Some(false));
        assert_eq!(by_producer("GNU AS 2.40"), None);
        assert_eq!(by_producer("GNU C 4.4.7"), None);
        assert_eq!(by_producer("Debian clang version 14.0.6"), None);
        assert_eq!(by_producer("Go cmd/compile go1.22.1; regabi"), Some(true));
        assert_eq!(by_producer("Go cmd/compile go1.22.1; -N -l; regabi"), Some(false));
    }

    #[test]
    fn compilers_have_a_name_and_a_version() {
        assert_eq!(compiler("GNU C17 12.2.0 -mtune=generic -g"), "GNU C17 12.2.0");
        assert_eq!(compiler("clang LLVM (rustc version 1.80.0 (051478957 2024-07-21))"), "rustc 1.80.0");
        assert_eq!(compiler("Go cmd/compile go1.22.1; -N -l"), "Go cmd/compile go1.22.1");
        assert_eq!(compiler("Debian clang version 14.0.6"), "Debian clang version 14.0.6");
    }
}
