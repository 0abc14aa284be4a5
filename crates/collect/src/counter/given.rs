//! Which arguments a function is given: those that its code reads before it writes them, on some way from its entry, and those that it passes on
//! to functions that read them.

use super::flow::{Block, blocks};
use super::origin::argument_registers;
use super::reads_only;
use super::values::calls;
use crate::image::Image;
use iced_x86::{
    Decoder, DecoderOptions, FlowControl, Instruction, InstructionInfoFactory, Mnemonic, OpAccess, OpKind,
    Register,
};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::ops::Range;

/// Arguments are bits, the first one's the lowest; from this bit on, the registers that numbers with a fraction come in.
const FRACTIONS: usize = 16;
const XMM: [Register; 8] = [
    Register::ZMM0,
    Register::ZMM1,
    Register::ZMM2,
    Register::ZMM3,
    Register::ZMM4,
    Register::ZMM5,
    Register::ZMM6,
    Register::ZMM7,
];
/// Bytes from the stack pointer at a function's entry to what was passed on the stack: there is the return address.
const PASSED: i64 = 8;

/// What a function reads of what it is given.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Reads {
    registers: u32,
    stack: bool,
}

/// Which arguments there are, by their numbers from 1. Some may be missing: a compiler leaves out what a function does not need. What it only
/// passes on is not seen.
pub(super) fn arguments(code: &[Instruction], go: bool) -> Vec<u8> {
    numbers(reads(code, go, |_| Reads::default()).registers, go)
}

/// The arguments of the first of some functions, which are all that it calls. None if some of them are not in registers for whole numbers and
/// pointers.
pub(super) fn all_arguments(image: &Image, functions: &[Range<u64>]) -> Option<Vec<u8>> {
    let code = |function: &Range<u64>| -> Option<Vec<Instruction>> {
        let bytes = image.code(function.start, (function.end - function.start) as usize)?;
        Some(Decoder::with_ip(64, bytes, function.start, DecoderOptions::NONE).into_iter().collect())
    };
    let codes: Vec<Vec<Instruction>> = functions.iter().map(code).collect::<Option<_>>()?;
    let stub = |target| Reads { registers: (1 << reads_only::arguments_of(image, target)) - 1, stack: false };
    // They may call each other: until nothing is added.
    let mut known: HashMap<u64, Reads> =
        functions.iter().map(|function| (function.start, Reads::default())).collect();
    loop {
        let mut changed = false;
        for (function, code) in functions.iter().zip(&codes) {
            let at = |target: u64| known.get(&target).copied().unwrap_or_else(|| stub(target));
            let now = reads(code, image.go, at);
            changed |= known.insert(function.start, now) != Some(now);
        }
        if !changed {
            break;
        }
    }
    let first = known.get(&functions.first()?.start)?;
    (!first.stack && first.registers >> FRACTIONS == 0).then(|| numbers(first.registers, image.go))
}

fn numbers(read: u32, go: bool) -> Vec<u8> {
    (1..=argument_registers(go).len() as u8).filter(|number| read >> (number - 1) & 1 == 1).collect()
}

/// What code reads. `of` says what a function that it calls or jumps to reads.
fn reads(code: &[Instruction], go: bool, of: impl Fn(u64) -> Reads) -> Reads {
    let blocks = blocks(code);
    let registers = argument_registers(go);
    let mut infos = InstructionInfoFactory::new();
    let within = code.first().map_or(0, Instruction::ip)..code.last().map_or(0, Instruction::next_ip);
    let mut stack = is_passed_on_stack(code, &blocks, go);
    // Of each block, a bit for each argument: read before it is written there, and written.
    let of_block = |code: &[Instruction]| {
        code.iter().fold((0u32, 0u32), |(read, written), instruction| {
            let (mut reads, mut writes) = uses(instruction, registers, &mut infos);
            let target = reads_only::target(instruction);
            if target != 0 && !within.contains(&target) {
                let there = of(target);
                reads |= there.registers;
                // What was passed to it on the stack is what this function puts there, if it comes back.
                stack |= !calls(instruction) && there.stack;
            }
            // What a call leaves in them is no argument.
            writes |= if calls(instruction) { u32::MAX } else { 0 };
            (read | reads & !written, written | writes)
        })
    };
    let seen: Vec<(u32, u32)> = blocks.iter().map(|block| &code[block.code.clone()]).map(of_block).collect();
    let mut wanted: Vec<u32> = seen.iter().map(|(read, _)| *read).collect();
    let mut changed = true;
    while changed {
        changed = false;
        for (at, block) in blocks.iter().enumerate().rev() {
            let behind = block.next.iter().fold(0, |all, next| all | wanted[*next]);
            let here = seen[at].0 | behind & !seen[at].1;
            changed |= std::mem::replace(&mut wanted[at], here) != here;
        }
    }
    Reads { registers: wanted.first().copied().unwrap_or(0), stack }
}

/// Which arguments an instruction reads, and which it writes.
fn uses(instruction: &Instruction, registers: &[Register], infos: &mut InstructionInfoFactory) -> (u32, u32) {
    let (mut reads, mut writes) = (0, 0);
    if calls(instruction) {
        return (0, 0);
    }
    for used in infos.info(instruction).used_registers() {
        let full = used.register().full_register();
        let whole = registers.iter().position(|one| *one == full);
        let Some(at) = whole.or_else(|| Some(FRACTIONS + XMM.iter().position(|one| *one == full)?)) else {
            continue;
        };
        let access = used.access();
        let read = [OpAccess::Read, OpAccess::CondRead, OpAccess::ReadWrite, OpAccess::ReadCondWrite];
        reads |= u32::from(read.contains(&access)) << at;
        writes |= u32::from(matches!(access, OpAccess::Write | OpAccess::ReadWrite)) << at;
    }
    (reads, writes)
}

/// What is known of the stack between two instructions: how far the stack pointer is below its value at the entry, and how far the frame pointer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Depths {
    stack: Option<i64>,
    frame: Option<i64>,
}

impl Depths {
    /// Where an instruction's memory operand lies, counted from the stack pointer at the entry.
    fn place(&self, instruction: &Instruction) -> Option<i64> {
        let depth = match instruction.memory_base() {
            Register::RSP => self.stack?,
            Register::RBP => self.frame?,
            _ => return None,
        };
        Some(instruction.memory_displacement64() as i64 - depth)
    }

    fn step(&mut self, instruction: &Instruction) {
        let (to, mnemonic) = (instruction.op0_register(), instruction.mnemonic());
        let constant = matches!(instruction.op1_kind(), OpKind::Immediate8to64 | OpKind::Immediate32to64);
        match (mnemonic, to) {
            (Mnemonic::Leave, _) => *self = Depths { stack: self.frame.map(|frame| frame - 8), frame: None },
            (Mnemonic::Sub, Register::RSP) if constant => {
                self.stack = self.stack.map(|depth| depth + instruction.immediate(1) as i64);
            }
            (Mnemonic::Add, Register::RSP) if constant => {
                self.stack = self.stack.map(|depth| depth - instruction.immediate(1) as i64);
            }
            (Mnemonic::Mov, Register::RBP) => {
                self.frame = self.stack.filter(|_| instruction.op1_register() == Register::RSP);
            }
            (Mnemonic::Lea, Register::RBP) => self.frame = self.place(instruction).map(|place| -place),
            (Mnemonic::Lea, Register::RSP) => self.stack = self.place(instruction).map(|place| -place),
            (Mnemonic::Cmp | Mnemonic::Test, _) => {}
            (Mnemonic::Push | Mnemonic::Pop, _) => {
                self.stack = self.stack.map(|depth| depth - i64::from(instruction.stack_pointer_increment()));
                if mnemonic == Mnemonic::Pop && to == Register::RBP {
                    self.frame = None;
                }
            }
            (_, Register::RSP) => self.stack = None,
            (_, Register::RBP) => self.frame = None,
            _ => {}
        }
    }
}

/// Whether code uses what was passed on the stack. Go's functions have room there for arguments that came in registers: what they
/// store there themselves does not count.
fn is_passed_on_stack(code: &[Instruction], blocks: &[Block], go: bool) -> bool {
    if blocks.is_empty() {
        return false;
    }
    let mut infos = InstructionInfoFactory::new();
    let (mut used, mut stored) = (BTreeSet::new(), BTreeSet::new());
    let mut open = vec![(0, Depths { stack: Some(0), frame: None })];
    let mut seen = BTreeMap::new();
    while let Some((at, mut depths)) = open.pop() {
        if seen.insert(at, ()).is_some() {
            continue;
        }
        for instruction in &code[blocks[at].code.clone()] {
            if let Some(place) = depths.place(instruction).filter(|place| *place >= PASSED) {
                let info = infos.info(instruction);
                let only_stored = info.used_memory().iter().all(|memory| memory.access() == OpAccess::Write)
                    && instruction.mnemonic() != Mnemonic::Lea;
                if go && only_stored {
                    stored.insert(place)
                } else {
                    used.insert(place)
                };
            }
            depths.step(instruction);
        }
        let tail = code[blocks[at].code.clone()].last().map(Instruction::flow_control);
        if tail != Some(FlowControl::Return) {
            open.extend(blocks[at].next.iter().map(|next| (*next, depths)));
        }
    }
    used.difference(&stored).next().is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn code(bytes: &[u8]) -> Vec<Instruction> {
        Decoder::with_ip(64, bytes, 0x1000, DecoderOptions::NONE).into_iter().collect()
    }

    fn given(bytes: &[u8]) -> Vec<u8> {
        arguments(&code(bytes), false)
    }

    #[test]
    fn what_is_read_before_it_is_written_is_given() {
        // mov rax, [rdi]; cmp rax, rsi; ret
        assert_eq!(given(&[0x48, 0x8b, 0x07, 0x48, 0x39, 0xf0, 0xc3]), [1, 2]);
        // xor edx, edx; mov rax, [rdi]; add rax, rdx; ret
        assert_eq!(given(&[0x31, 0xd2, 0x48, 0x8b, 0x07, 0x48, 0x01, 0xd0, 0xc3]), [1]);
        // mov rax, rdx; ret
        assert_eq!(given(&[0x48, 0x89, 0xd0, 0xc3]), [3]);
        assert!(given(&[0x31, 0xc0, 0xc3]).is_empty());
    }

    #[test]
    fn every_way_is_followed_and_a_call_leaves_nothing() {
        // test rdi, rdi; je +3; xor esi, esi; nop; mov rax, rsi; ret
        assert_eq!(given(&[0x48, 0x85, 0xff, 0x74, 0x03, 0x31, 0xf6, 0x90, 0x48, 0x89, 0xf0, 0xc3]), [1, 2]);
        // test rdi, rdi; call; mov rax, rsi; ret: rsi is what the call left
        assert_eq!(given(&[0x48, 0x85, 0xff, 0xe8, 0, 0, 0, 0, 0x48, 0x89, 0xf0, 0xc3]), [1]);
    }

    #[test]
    fn what_is_passed_on_counts_if_it_is_read_there() {
        let second = |_| Reads { registers: 0b10, stack: false };
        let of = |bytes: &[u8]| reads(&code(bytes), false, second);
        // call outside; ret
        assert_eq!(of(&[0xe8, 0, 0x10, 0, 0, 0xc3]).registers, 0b10);
        // xor esi, esi; call outside; ret
        assert_eq!(of(&[0x31, 0xf6, 0xe8, 0, 0x10, 0, 0, 0xc3]).registers, 0);
        // jmp outside, with all that was passed on the stack
        assert_eq!(of(&[0xe9, 0, 0x10, 0, 0]), Reads { registers: 0b10, stack: false });
        let on_stack = |_| Reads { registers: 0, stack: true };
        assert!(reads(&code(&[0xe9, 0, 0x10, 0, 0]), false, on_stack).stack);
        assert!(!reads(&code(&[0xe8, 0, 0x10, 0, 0, 0xc3]), false, on_stack).stack);
    }

    #[test]
    fn fractions_and_what_is_on_the_stack_are_seen() {
        let of = |bytes: &[u8], go| reads(&code(bytes), go, |_| Reads::default());
        // ucomisd xmm0, xmm1; ret
        assert_eq!(of(&[0x66, 0x0f, 0x2e, 0xc1, 0xc3], false).registers >> FRACTIONS, 0b11);
        // pxor xmm0, xmm0; ret
        assert_eq!(of(&[0x66, 0x0f, 0xef, 0xc0, 0xc3], false).registers, 0);
        // push rbx; sub rsp, 16; mov rax, [rsp + 32]; add rsp, 16; pop rbx; ret: 24 bytes are the function's own, then the return address
        let at = |offset| {
            [0x53, 0x48, 0x83, 0xec, 16, 0x48, 0x8b, 0x44, 0x24, offset, 0x48, 0x83, 0xc4, 16, 0x5b, 0xc3]
        };
        assert!(of(&at(32), false).stack);
        assert!(!of(&at(16), false).stack);
        // push rbp; mov rbp, rsp; mov rax, [rbp + 16]; pop rbp; ret
        let frame = |offset| [0x55, 0x48, 0x89, 0xe5, 0x48, 0x8b, 0x45, offset, 0x5d, 0xc3];
        assert!(of(&frame(16), false).stack);
        assert!(!of(&frame(0xf8), false).stack);
        // mov [rsp + 8], rax; mov rcx, [rsp + 8]; ret: Go's room for an argument that came in a register
        let spilled = [0x48, 0x89, 0x44, 0x24, 8, 0x48, 0x8b, 0x4c, 0x24, 8, 0xc3];
        assert!(of(&spilled, false).stack);
        assert!(!of(&spilled, true).stack);
    }
}
