//! Does a loop look for a key among the places of a hash table, one after the other and around its end (open addressing)? The number of the place is
//! made from the one before, and kept within the table by a remainder or a mask; and the first one is made from a hash in the same way, see `heads`.
//!
//! A ring that is gone through begins where it was left. What is found by a number that memory holds (an automaton's next state, a compressor's
//! chain of matches) is no next place.

use super::heads::MASK;
use super::values::{calls, is_immediate, written};
use super::walk::{self, Work};
use iced_x86::{Instruction, InstructionInfoFactory, Mnemonic, OpKind, Register};
use std::collections::HashSet;

/// Rounds after which a register holds a place if it ever does: a number is moved through a few registers.
const ROUNDS: usize = 3;

/// Registers that hold the number of the next place, or where it is, at the end of a round of such a loop. Empty if it is none, or does more than look.
pub(super) fn next_places(round: &[&Instruction], frame: bool) -> HashSet<Register> {
    let looks = |wrap: usize, kept: &dyn Fn(&Instruction) -> bool| {
        let rest =
            round.iter().enumerate().filter(|(at, one)| *at != wrap && !kept(one)).map(|(_, one)| *one);
        matches!(walk::work(rest, frame, false), Work::Walks | Work::Counts)
    };
    let found = (0..round.len()).filter(|at| wrapped(round[*at]).is_some()).find_map(|wrap| {
        if !looks(wrap, &walk::chooses) {
            return None; // before what is dearer
        }
        let places = places(round, wrap);
        // The first place that is free is kept on the way.
        let of_place = |one: &Instruction| {
            let operands = [one.op0_register(), one.op1_register()].map(Register::full_register);
            walk::chooses(one) && operands.iter().any(|register| places.contains(register))
        };
        (!places.is_empty() && looks(wrap, &of_place) && ends_by_content(round, &places)).then_some(places)
    });
    found.unwrap_or_default()
}

/// Whether what is at a place, or what a function makes of it, ends the loop. What goes around a ring to its end, or a number of times, is no look-up.
fn ends_by_content(round: &[&Instruction], places: &HashSet<Register>) -> bool {
    let within: HashSet<u64> = round.iter().map(|one| one.ip()).collect();
    let (mut content, mut infos) = (HashSet::<Register>::new(), InstructionInfoFactory::new());
    // Twice: what was read in one round may be compared in the next. Other registers lead to the place within a round.
    let mut leads = places.clone();
    let mut compared = false;
    round.iter().chain(round).any(|one| {
        let memory = [one.memory_base(), one.memory_index()].map(Register::full_register);
        let by_memory = memory.iter().any(|register| leads.contains(register));
        let in_memory = (0..one.op_count()).any(|at| one.op_kind(at) == OpKind::Memory);
        let reads = by_memory && in_memory && one.mnemonic() != Mnemonic::Lea;
        let registers = (0..one.op_count()).filter(|at| one.op_kind(*at) == OpKind::Register);
        let holds = registers
            .map(|at| one.op_register(at).full_register())
            .any(|register| content.contains(&register));
        if one.is_jcc_short_or_near() {
            return compared && within.contains(&one.near_branch_target()) != within.contains(&one.next_ip());
        }
        if sets_flags(one) {
            compared = reads || holds;
        }
        let (to, leads_on) = (one.op0_register().full_register(), keeps(one, &leads, by_memory));
        let moves = holds && one.mnemonic() == Mnemonic::Mov && one.op1_kind() == OpKind::Register;
        for register in written(one, &mut infos) {
            content.remove(&register);
            leads.remove(&register);
        }
        if calls(one) {
            content.insert(Register::RAX);
        } else if one.op0_kind() == OpKind::Register && (reads || moves) {
            content.insert(to);
        } else if leads_on {
            leads.insert(to);
        }
        false
    })
}

/// Whether a conditional jump behind it may hang on what it compares.
fn sets_flags(instruction: &Instruction) -> bool {
    instruction.rflags_modified() != 0
}

/// What an instruction keeps within a table: the register that it is made of, and the one that it is left in.
fn wrapped(instruction: &Instruction) -> Option<(Register, Register)> {
    let to = instruction.op0_register().full_register();
    let of_register = instruction.op_count() > 1 && instruction.op0_kind() == OpKind::Register;
    match instruction.mnemonic() {
        Mnemonic::Div
            if instruction.op0_kind() != OpKind::Register || instruction.op0_register().size() > 1 =>
        {
            Some((Register::RAX, Register::RDX))
        }
        Mnemonic::And if of_register && instruction.op0_register().size() > 1 => {
            let by = instruction.op1_kind();
            let mask = is_immediate(by).then(|| instruction.immediate(1));
            let masks = mask.is_none_or(|mask| mask >= MASK && mask.wrapping_add(1).is_power_of_two());
            masks.then_some((to, to))
        }
        _ => None,
    }
}

/// Follows what the instruction at `wrap` left through some rounds: the registers at the end, if it came back there and led to memory meanwhile.
fn places(round: &[&Instruction], wrap: usize) -> HashSet<Register> {
    let (mut held, mut infos) = (HashSet::<Register>::new(), InstructionInfoFactory::new());
    // Variables on the stack that hold one, by their distance from the stack pointer.
    let mut spilled = HashSet::<u64>::new();
    let (mut comes_back, mut leads) = (false, false);
    for _ in 0..ROUNDS {
        for (at, instruction) in round.iter().enumerate() {
            let memory = [instruction.memory_base(), instruction.memory_index()].map(Register::full_register);
            let by_memory = memory.iter().any(|register| held.contains(register));
            let in_memory = (0..instruction.op_count()).any(|one| instruction.op_kind(one) == OpKind::Memory);
            let computes = instruction.mnemonic() == Mnemonic::Lea;
            leads |= by_memory && in_memory && !computes;
            let slot = slot(instruction);
            let loads = instruction.op0_kind() == OpKind::Register;
            let keeps = match slot {
                Some(slot) if instruction.mnemonic() == Mnemonic::Mov && loads => spilled.contains(&slot),
                _ => keeps(instruction, &held, by_memory),
            };
            if let Some(slot) = slot.filter(|_| !loads) {
                let kept = instruction.mnemonic() == Mnemonic::Mov
                    && instruction.op1_kind() == OpKind::Register
                    && held.contains(&instruction.op1_register().full_register());
                if kept {
                    spilled.insert(slot)
                } else {
                    spilled.remove(&slot)
                };
            }
            let wrapped = wrapped(instruction).filter(|_| at == wrap);
            comes_back |= wrapped.is_some_and(|(from, _)| held.contains(&from));
            written(instruction, &mut infos).into_iter().for_each(|register| _ = held.remove(&register));
            if let Some((_, to)) = wrapped {
                held.insert(to);
            } else if keeps {
                held.insert(instruction.op0_register().full_register());
            }
        }
    }
    if comes_back && leads { held } else { HashSet::new() }
}

/// The variable on the stack that an instruction is about, which is not compared.
fn slot(instruction: &Instruction) -> Option<u64> {
    let memory = (0..instruction.op_count()).any(|one| instruction.op_kind(one) == OpKind::Memory);
    let compares = matches!(instruction.mnemonic(), Mnemonic::Cmp | Mnemonic::Test);
    let on_the_stack =
        instruction.memory_base() == Register::RSP && instruction.memory_index() == Register::None;
    (memory && !compares && on_the_stack).then(|| instruction.memory_displacement64())
}

/// Whether an instruction makes a number of one that a register holds, and of nothing that is read.
fn keeps(instruction: &Instruction, held: &HashSet<Register>, by_memory: bool) -> bool {
    use Mnemonic as M;
    if instruction.op_count() == 0 {
        return instruction.mnemonic() == M::Cdqe && held.contains(&Register::RAX);
    }
    if instruction.op0_kind() != OpKind::Register {
        return false;
    }
    let holds = |operand: u32| {
        instruction.op_count() > operand
            && instruction.op_kind(operand) == OpKind::Register
            && held.contains(&instruction.op_register(operand).full_register())
    };
    match instruction.mnemonic() {
        M::Mov | M::Movzx | M::Movsx | M::Movsxd => holds(1),
        M::Lea => by_memory,
        M::Inc | M::Dec | M::Shl | M::Sal | M::And => holds(0),
        M::Add | M::Sub => (holds(0) || holds(1)) && instruction.op1_kind() != OpKind::Memory,
        M::Imul => holds(1),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::super::loops::loops;
    use super::super::walk::Work;

    /// xor edx, edx; div r8: the first place.
    const HASHED: [u8; 5] = [0x31, 0xd2, 0x49, 0xf7, 0xf0];

    /// L: mov rcx, [rdi+rdx*8]; cmp rcx, rsi; je end; lea rax, [rdx+1]; xor edx, edx; div r8; test rcx, rcx; jne L; end: ret
    const BY_REMAINDER: [u8; 24] = [
        0x48, 0x8b, 0x0c, 0xd7, 0x48, 0x39, 0xf1, 0x74, 0x0e, 0x48, 0x8d, 0x42, 0x01, 0x31, 0xd2, 0x49, 0xf7,
        0xf0, 0x48, 0x85, 0xc9, 0x75, 0xe9, 0xc3,
    ];

    fn of(code: &[u8]) -> Work {
        let found = loops(code);
        assert_eq!(found.len(), 1);
        found[0].work
    }

    #[test]
    fn places_one_after_the_other_by_a_remainder() {
        assert_eq!(of(&[&HASHED[..], &BY_REMAINDER].concat()), Work::Places);
        // It begins anywhere: a ring, perhaps.
        assert_ne!(of(&BY_REMAINDER), Work::Places);
        // mov rax, [rdi+rdx*8]: the next place is read.
        let mut read = BY_REMAINDER;
        read[9..13].copy_from_slice(&[0x48, 0x8b, 0x04, 0xd7]);
        assert_ne!(of(&[&HASHED[..], &read].concat()), Work::Places);
        // mov [rdi+rdx*8], rcx: it stores.
        let mut stores = BY_REMAINDER;
        stores[0..4].copy_from_slice(&[0x48, 0x89, 0x0c, 0xd7]);
        assert_ne!(of(&[&HASHED[..], &stores].concat()), Work::Places);
        // lea rax, [r9+1]: the same place each time.
        let mut same = BY_REMAINDER;
        same[9..13].copy_from_slice(&[0x49, 0x8d, 0x41, 0x01]);
        assert_ne!(of(&[&HASHED[..], &same].concat()), Work::Places);
    }

    #[test]
    fn places_ever_further_apart_by_a_mask() {
        let code = [
            0x4c, 0x21, 0xc2, // and rdx, r8: the first place
            0x31, 0xc0, // xor eax, eax
            0x48, 0x8b, 0x0c, 0xd7, // L: mov rcx, [rdi+rdx*8]
            0x48, 0x39, 0xf1, 0x74, 0x0f, // cmp rcx, rsi; je end
            0x48, 0xff, 0xc0, // inc rax
            0x48, 0x01, 0xc2, // add rdx, rax
            0x4c, 0x21, 0xc2, // and rdx, r8
            0x48, 0x85, 0xc9, 0x75, 0xe9, // test rcx, rcx; jne L
            0x90, 0xc3, // end: ret
        ];
        assert_eq!(of(&code), Work::Places);
        // nop: the first place is anywhere.
        let mut anywhere = code;
        anywhere[0..3].copy_from_slice(&[0x0f, 0x1f, 0x00]);
        assert_ne!(of(&anywhere), Work::Places);
    }

    #[test]
    fn a_place_is_kept_on_the_stack_while_keys_are_compared() {
        let code = [
            0x31, 0xd2, 0xf7, 0xf3, // xor edx, edx; div ebx
            0x89, 0x54, 0x24, 0x0c, // L: mov [rsp+12], edx
            0x48, 0x8b, 0x7c, 0xd5, 0x00, // mov rdi, [rbp+rdx*8]
            0x4c, 0x89, 0xe6, // mov rsi, r12
            0xe8, 0xf8, 0, 0, 0, // call equal
            0x8b, 0x54, 0x24, 0x0c, // mov edx, [rsp+12]
            0x84, 0xc0, 0x75, 0x09, // test al, al; jne end
            0x8d, 0x42, 0x01, // lea eax, [rdx+1]
            0x31, 0xd2, 0xf7, 0xf3, // xor edx, edx; div ebx
            0xeb, 0xde, // jmp L
            0xc3, // end: ret
        ];
        assert_eq!(of(&code), Work::Places);
        // mov edx, [rsp+16]: another number.
        let mut other = code;
        other[24] = 0x10;
        assert_ne!(of(&other), Work::Places);
    }

    #[test]
    fn a_ring_that_is_gone_through_to_its_end_is_none() {
        let code = [
            0x21, 0xca, // and edx, ecx: where it was left
            0x39, 0xf2, 0x74, 0x0f, // cmp edx, esi; je end
            0x48, 0x8b, 0x3c, 0xd3, // L: mov rdi, [rbx+rdx*8]
            0x48, 0x85, 0xff, // test rdi, rdi
            0xff, 0xc2, // inc edx
            0x21, 0xca, // and edx, ecx
            0x39, 0xf2, 0x75, 0xf1, // cmp edx, esi; jne L
            0xc3, // end: ret
        ];
        assert_ne!(of(&code), Work::Places);
        // test edi, edi; jne L: what is there ends it.
        let mut looked_up = code;
        looked_up[17..19].copy_from_slice(&[0x85, 0xff]);
        assert_eq!(of(&looked_up), Work::Places);
    }

    #[test]
    fn the_largest_of_a_window_is_none() {
        let code = [
            0x21, 0xca, // and edx, ecx
            0x48, 0x8b, 0x04, 0xd3, // L: mov rax, [rbx+rdx*8]
            0x48, 0x39, 0xf8, // cmp rax, rdi
            0x48, 0x0f, 0x47, 0xf8, // cmova rdi, rax
            0xff, 0xc2, 0x21, 0xca, // inc edx; and edx, ecx
            0xff, 0xce, 0x75, 0xeb, // dec esi; jne L
            0xc3,
        ];
        assert_ne!(of(&code), Work::Places);
    }

    #[test]
    fn a_checksum_by_a_table_is_none() {
        let code = [
            0x81, 0xe2, 0xff, 0, 0, 0, // and edx, 255
            0x48, 0x8b, 0x14, 0xd7, // L: mov rdx, [rdi+rdx*8]
            0x81, 0xe2, 0xff, 0, 0, 0, // and edx, 255
            0x48, 0xff, 0xc6, 0x48, 0x39, 0xce, 0x75, 0xee, // inc rsi; cmp rsi, rcx; jne L
            0xc3,
        ];
        assert_ne!(of(&code), Work::Places);
    }
}
