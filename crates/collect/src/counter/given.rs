//! Which arguments a function is given: those that its code reads before it writes them, on some way from its entry.
//!
//! What a function only passes on to another one, in the same register and before anything else is called, is not seen.

use super::flow::blocks;
use super::origin::argument_registers;
use super::values::calls;
use iced_x86::{Instruction, InstructionInfoFactory, OpAccess, Register};

/// Which arguments there are, by their numbers from 1. Some may be missing: a compiler leaves out what a function does not need.
pub(super) fn arguments(code: &[Instruction], go: bool) -> Vec<u8> {
    let blocks = blocks(code);
    let registers = argument_registers(go);
    let mut infos = InstructionInfoFactory::new();
    // Of each block, a bit for each argument: read before it is written there, and written.
    let of_block = |code: &[Instruction]| {
        code.iter().fold((0u8, 0u8), |(read, written), instruction| {
            let (reads, writes) = uses(instruction, registers, &mut infos);
            (read | reads & !written, written | writes)
        })
    };
    let seen: Vec<(u8, u8)> = blocks.iter().map(|block| &code[block.code.clone()]).map(of_block).collect();
    let mut wanted: Vec<u8> = seen.iter().map(|(read, _)| *read).collect();
    let mut changed = true;
    while changed {
        changed = false;
        for (at, block) in blocks.iter().enumerate().rev() {
            let behind = block.next.iter().fold(0, |all, next| all | wanted[*next]);
            let here = seen[at].0 | behind & !seen[at].1;
            changed |= std::mem::replace(&mut wanted[at], here) != here;
        }
    }
    let given = wanted.first().copied().unwrap_or(0);
    (1..=registers.len() as u8).filter(|number| given >> (number - 1) & 1 == 1).collect()
}

/// Which arguments an instruction reads, and which it writes.
fn uses(instruction: &Instruction, registers: &[Register], infos: &mut InstructionInfoFactory) -> (u8, u8) {
    let (mut reads, mut writes) = (0, 0);
    for used in infos.info(instruction).used_registers() {
        let Some(at) = registers.iter().position(|one| *one == used.register().full_register()) else {
            continue;
        };
        let access = used.access();
        let read = [OpAccess::Read, OpAccess::CondRead, OpAccess::ReadWrite, OpAccess::ReadCondWrite];
        reads |= u8::from(read.contains(&access)) << at;
        writes |= u8::from(matches!(access, OpAccess::Write | OpAccess::ReadWrite)) << at;
    }
    // What a call leaves in them is no argument.
    if calls(instruction) { (0, u8::MAX) } else { (reads, writes) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use iced_x86::{Decoder, DecoderOptions};

    fn given(bytes: &[u8]) -> Vec<u8> {
        let code: Vec<Instruction> =
            Decoder::with_ip(64, bytes, 0, DecoderOptions::NONE).into_iter().collect();
        arguments(&code, false)
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
}
