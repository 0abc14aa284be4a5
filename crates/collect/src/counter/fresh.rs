//! What a round of a loop makes anew of the item that it looks at, and of what stays the same in all rounds: it adds nothing up, however much it combines. A
//! search may compare a difference, a bit or a remainder of each item.
//!
//! Seen along the code from the loop's header on; what only some ways through it write counts as written.

use super::values::{calls, written};
use super::walk::chooses;
use iced_x86::{Instruction, InstructionInfoFactory, Mnemonic, OpAccess, OpKind, Register};
use std::collections::HashSet;

/// Of each instruction of a round whether it only makes something anew, in a register.
pub(super) fn anew(round: &[&Instruction], frame: bool) -> Vec<bool> {
    in_rounds(round, frame, 1)
}

/// The same of the last of so many rounds: by the second it is known what the first has made.
fn in_rounds(round: &[&Instruction], frame: bool, rounds: usize) -> Vec<bool> {
    let mut infos = InstructionInfoFactory::new();
    let changed: HashSet<Register> = round.iter().flat_map(|one| written(one, &mut infos)).collect();
    // Registers that were written in this round, of nothing that another one left.
    let mut fresh: HashSet<Register> = HashSet::new();
    let mut of_round = |instruction: &Instruction| {
        let to = written(instruction, &mut infos);
        let info = infos.info(instruction);
        let reads = |access| {
            matches!(
                access,
                OpAccess::Read
                    | OpAccess::CondRead
                    | OpAccess::ReadWrite
                    | OpAccess::ReadCondWrite
                    // What is not written is what it was.
                    | OpAccess::CondWrite
            )
        };
        // A variable on the stack may be of the round before.
        let on_stack = |base: Register| base == Register::RSP || frame && base == Register::RBP;
        let from_stack = info
            .used_memory()
            .iter()
            .any(|memory| reads(memory.access()) && on_stack(memory.base().full_register()));
        // What is at an address is the item's, wherever the address is from.
        let of_address = [instruction.memory_base(), instruction.memory_index()].map(Register::full_register);
        let loads = info.used_memory().iter().any(|memory| reads(memory.access()));
        let sources = info.used_registers().iter().filter(|used| reads(used.access()));
        let mut sources = sources
            .map(|used| used.register().full_register())
            .filter(|one| !(loads && of_address.contains(one)));
        let is_new = !from_stack
            && !calls(instruction)
            && sources.all(|one| !changed.contains(&one) || fresh.contains(&one));
        for register in to {
            if is_new {
                fresh.insert(register)
            } else {
                fresh.remove(&register)
            };
        }
        is_new && instruction.op0_kind() == OpKind::Register
    };
    let mut last = Vec::new();
    for _ in 0..rounds {
        last = round.iter().map(|instruction| of_round(instruction)).collect();
    }
    last
}

/// Whether something that a round makes anew is kept for the next: as the least difference so far, to which the next item's is compared.
pub(super) fn keeps(round: &[&Instruction], frame: bool) -> bool {
    let mut infos = InstructionInfoFactory::new();
    let changed: HashSet<Register> = round.iter().flat_map(|one| written(one, &mut infos)).collect();
    let moves = |one: &Instruction| {
        let registers = one.op0_kind() == OpKind::Register && one.op1_kind() == OpKind::Register;
        registers && (one.mnemonic() == Mnemonic::Mov || chooses(one))
    };
    // What is read before this round writes it was left by the one before. A move may be jumped over.
    let (mut left, mut made) = (HashSet::new(), HashSet::new());
    for instruction in round {
        let used = infos.info(instruction).used_registers();
        let reads = used.iter().filter(|one| !matches!(one.access(), OpAccess::Write | OpAccess::None));
        left.extend(reads.map(|one| one.register().full_register()).filter(|one| !made.contains(one)));
        if !moves(instruction) {
            made.extend(written(instruction, &mut infos));
        }
    }
    let anew = in_rounds(round, frame, 2);
    let keeps = |one: &Instruction| {
        let (to, from) = (one.op0_register().full_register(), one.op1_register().full_register());
        moves(one) && left.contains(&to) && changed.contains(&from)
    };
    round.iter().zip(&anew).any(|(one, anew)| *anew && keeps(one))
}

#[cfg(test)]
mod tests {
    use super::super::loops::loops;
    use super::super::walk::Work;

    /// L: mov eax, [rdi+8]; …; cmp eax, edx; je end; mov rdi, [rdi]; test rdi, rdi; jne L; end: ret
    fn of(made: [u8; 3]) -> Work {
        let before = [0x8b, 0x47, 0x08];
        let behind = [0x39, 0xd0, 0x74, 0x08, 0x48, 0x8b, 0x3f, 0x48, 0x85, 0xff, 0x75, 0xee, 0xc3];
        let found = loops(&[&before[..], &made, &behind].concat());
        assert_eq!(found.len(), 1);
        found[0].work
    }

    /// The same with an instruction of four bytes.
    fn of_four(made: [u8; 4]) -> Work {
        let before = [0x8b, 0x47, 0x08];
        let behind = [0x39, 0xd0, 0x74, 0x08, 0x48, 0x8b, 0x3f, 0x48, 0x85, 0xff, 0x75, 0xed, 0xc3];
        loops(&[&before[..], &made, &behind].concat())[0].work
    }

    #[test]
    fn a_search_may_compare_what_it_makes_of_each_item() {
        // xor eax, [rdi+4]; or eax, esi
        assert_eq!(of([0x33, 0x47, 0x04]), Work::Walks);
        assert_eq!(of([0x09, 0xf0, 0x90]), Work::Walks);
    }

    #[test]
    fn what_is_left_for_the_next_round_is_a_result() {
        // xor ebx, eax; xor eax, ebx, where nothing writes ebx; xor [rdi+4], eax
        assert_eq!(of([0x31, 0xc3, 0x90]), Work::Calculates);
        assert_eq!(of([0x31, 0xd8, 0x90]), Work::Walks);
        assert_eq!(of([0x31, 0x47, 0x04]), Work::Calculates);
        // cmovg rbx, rax and cmovg ebx, eax: the largest so far
        assert_eq!(of_four([0x48, 0x0f, 0x4f, 0xd8]), Work::Calculates);
        assert_eq!(of([0x0f, 0x4f, 0xd8]), Work::Calculates);
        // mul eax
        assert_eq!(of([0xf7, 0xe0, 0x90]), Work::Calculates);
    }

    /// L: mov ecx, [rax]; xor ecx, edi; and ecx, 0xffff00; …; add rax, 8; cmp rax, rsi; jne L; ret
    fn of_array(behind: &[u8]) -> Work {
        let before = [0x8b, 0x08, 0x31, 0xf9, 0x81, 0xe1, 0x00, 0xff, 0xff, 0x00];
        let step = [0x48, 0x83, 0xc0, 0x08, 0x48, 0x39, 0xf0, 0x75];
        let length = before.len() + behind.len() + step.len() + 1;
        loops(&[&before[..], behind, &step, &[(-(length as i64)) as u8, 0xc3]].concat())[0].work
    }

    #[test]
    fn a_search_in_an_array_may_too() {
        // je behind the loop
        assert_eq!(of_array(&[0x74, 0x09]), Work::Walks);
    }

    #[test]
    fn the_least_difference_so_far_is_a_result() {
        // cmp ecx, ebx; jge over; mov ebx, ecx
        assert_eq!(of_array(&[0x39, 0xd9, 0x7d, 0x02, 0x89, 0xcb]), Work::Calculates);
        // mov ebx, ecx where the loop goes on from; cmp in the round before: L: mov ebx, ecx; N: mov ecx, [rax]; xor ecx, edi; add rax, 8; cmp ecx, ebx; jl L;
        // cmp rax, rsi; jne N; ret, entered at L
        let turned = [
            0x89, 0xcb, 0x8b, 0x08, 0x31, 0xf9, 0x48, 0x83, 0xc0, 0x08, 0x39, 0xd9, 0x7c, 0xf2, 0x48, 0x39,
            0xf0, 0x75, 0xef, 0xc3,
        ];
        assert_eq!(loops(&turned)[0].work, Work::Calculates);
    }
}
