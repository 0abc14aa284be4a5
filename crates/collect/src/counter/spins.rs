//! Does a loop only wait for what another thread changes in memory? Each round reads the same places as the one before, stores nothing, and takes nothing over
//! from it: then it goes on until somebody else, or the time of day, ends it.
//!
//! What it calls is not looked at here: that may be the clock, or the work itself. The diagnosis knows it from samples.

use super::values::{CLOBBERED, IP, Registers, Sum, Term, calls};
use super::walk::stores_beside;
use iced_x86::{Instruction, InstructionInfoFactory, Mnemonic, OpAccess, OpKind, Register};
use std::collections::HashSet;

/// Whether a loop whose round is `round`, its header first, only waits. `always`: which instructions each round passes; `frame`: rbp is the frame pointer.
pub(super) fn spins(round: &[&Instruction], always: &dyn Fn(&Instruction) -> bool, frame: bool) -> bool {
    let mut registers = Registers::at(0, frame);
    let mut read = Vec::new();
    let mut infos = InstructionInfoFactory::new();
    for instruction in round {
        let memory = (0..instruction.op_count()).any(|at| instruction.op_kind(at) == OpKind::Memory);
        if memory && !matches!(instruction.mnemonic(), Mnemonic::Lea | Mnemonic::Nop) {
            let Some(address) = registers.address(instruction) else { return false };
            read.push(address);
        }
        // Trying to take a lock stores as well, and so does every update that is made with none.
        if infos.info(instruction).used_memory().iter().any(|one| stores_beside(one, frame)) {
            return false;
        }
        registers.step(instruction);
    }
    registers.restore_spilled();
    let beside = |address: &Sum| address.slot(frame).is_none();
    let still = |address: &Sum| is_still(address, &registers, frame);
    read.iter().any(beside)
        && read.iter().filter(|one| beside(one)).all(still)
        && !takes_over(round, always, frame)
}

/// Whether an address is the same in the next round.
fn is_still(address: &Sum, after: &Registers, frame: bool) -> bool {
    address.terms.iter().all(|(term, _)| match term {
        Term::Register(IP) => true,
        Term::Register(register) => after.values[usize::from(*register)] == Some(Sum::register(*register)),
        Term::Read(inner) => {
            let written = inner.slot(frame).is_some_and(|slot| after.slots.contains_key(&slot));
            !written && is_still(inner, after, frame)
        }
    })
}

/// Whether a round uses what the one before left in a register or in a variable on the stack.
fn takes_over(round: &[&Instruction], always: &dyn Fn(&Instruction) -> bool, frame: bool) -> bool {
    let mut infos = InstructionInfoFactory::new();
    // What may have been read before it was written, what was written in each round, and what was in some.
    let (mut first_read, mut written, mut changed) = (HashSet::new(), HashSet::new(), HashSet::new());
    let (mut slots_read, mut slots_written, mut slots_always) =
        (HashSet::new(), HashSet::new(), HashSet::new());
    for instruction in round {
        // Setting a register to zero reads nothing.
        let zeroes = matches!(
            instruction.mnemonic(),
            Mnemonic::Xor | Mnemonic::Pxor | Mnemonic::Vpxor | Mnemonic::Xorps
        ) && instruction.op0_kind() == OpKind::Register
            && instruction.op1_kind() == OpKind::Register
            && instruction.op0_register() == instruction.op1_register();
        if calls(instruction) {
            let lost = CLOBBERED.into_iter().chain((0..16).map(|at| Register::ZMM0 + at));
            changed.extend(lost.clone());
            if always(instruction) {
                written.extend(lost);
            }
            continue;
        }
        let info = infos.info(instruction);
        for used in info.used_registers() {
            let register = used.register().full_register();
            if register == Register::RSP || register == Register::RIP {
                continue;
            }
            if reads(used.access()) && !zeroes && !written.contains(&register) {
                first_read.insert(register);
            }
        }
        for used in info.used_registers().iter().filter(|used| writes(used.access())) {
            let register = used.register().full_register();
            if register != Register::RSP {
                changed.insert(register);
                if always(instruction) && used.access() == OpAccess::Write {
                    written.insert(register);
                }
            }
        }
        for memory in info.used_memory() {
            let on_the_stack = memory.index() == Register::None
                && (memory.base() == Register::RSP || frame && memory.base() == Register::RBP);
            let slot = (memory.base(), memory.displacement());
            if on_the_stack && reads(memory.access()) && !slots_always.contains(&slot) {
                slots_read.insert(slot);
            }
            if on_the_stack && writes(memory.access()) {
                slots_written.insert(slot);
                if always(instruction) && memory.access() == OpAccess::Write {
                    slots_always.insert(slot);
                }
            }
        }
    }
    first_read.iter().any(|register| changed.contains(register))
        || slots_read.iter().any(|slot| slots_written.contains(slot))
}

fn reads(access: OpAccess) -> bool {
    matches!(access, OpAccess::Read | OpAccess::CondRead | OpAccess::ReadWrite | OpAccess::ReadCondWrite)
}

fn writes(access: OpAccess) -> bool {
    matches!(access, OpAccess::Write | OpAccess::CondWrite | OpAccess::ReadWrite | OpAccess::ReadCondWrite)
}

#[cfg(test)]
mod tests {
    use super::*;
    use iced_x86::{Decoder, DecoderOptions};

    fn of(frame: bool, code: &[u8]) -> bool {
        let code: Vec<Instruction> =
            Decoder::with_ip(64, code, 0, DecoderOptions::NONE).into_iter().collect();
        spins(&code.iter().collect::<Vec<_>>(), &|_| true, frame)
    }

    #[test]
    fn who_reads_the_same_place_until_it_changes_spins() {
        assert!(of(false, &[0x8b, 0x07, 0x85, 0xc0, 0x74, 0xfa])); // mov eax, [rdi]; test eax, eax; je
        assert!(of(false, &[0xf3, 0x90, 0x83, 0x7f, 0x0c, 0x00, 0x75, 0xf8])); // pause; cmp dword [rdi+12], 0; jne
        // mov rax, [r12+56]; mov eax, [rax+64]; test eax, eax; je: by a pointer that stays
        assert!(of(false, &[0x49, 0x8b, 0x44, 0x24, 0x38, 0x8b, 0x40, 0x40, 0x85, 0xc0, 0x74, 0xf4]));
        // lea rdi, [rsp+8]; call; mov eax, [r12+12]; test eax, eax; jne
        let clock = [
            0x48, 0x8d, 0x7c, 0x24, 0x08, 0xe8, 0, 0, 0, 0, 0x41, 0x8b, 0x44, 0x24, 0x0c, 0x85, 0xc0, 0x75,
            0xed,
        ];
        assert!(of(false, &clock));
        // mov rax, [rbp-8]; mov eax, [rax]; test eax, eax; je: without optimisation
        assert!(of(true, &[0x48, 0x8b, 0x45, 0xf8, 0x8b, 0x00, 0x85, 0xc0, 0x74, 0xf6]));
    }

    #[test]
    fn who_steps_on_counts_or_stores_does_not() {
        assert!(!of(false, &[0x48, 0x8b, 0x3f, 0x48, 0x85, 0xff, 0x75, 0xf8])); // mov rdi, [rdi]; test; jne: a list
        assert!(!of(false, &[0x83, 0x3f, 0x00, 0x74, 0x05, 0xff, 0xc9, 0x75, 0xf7])); // cmp [rdi], 0; je; dec ecx; jne
        assert!(!of(false, &[0xff, 0x07, 0x83, 0x3f, 0x0a, 0x75, 0xf9])); // inc dword [rdi]; cmp; jne
        assert!(!of(false, &[0x01, 0xc8, 0x3d, 0, 1, 0, 0, 0x75, 0xf7])); // add eax, ecx; cmp; jne: nothing is read
        // mov eax, 1; xchg [rdi], eax; test eax, eax; jne: it takes a lock, as a rule at once
        assert!(!of(false, &[0xb8, 1, 0, 0, 0, 0x87, 0x07, 0x85, 0xc0, 0x75, 0xf5]));
        // mov eax, [rdi]; rep stosb; test eax, eax; jne
        assert!(!of(false, &[0x8b, 0x06, 0xf3, 0xaa, 0x85, 0xc0, 0x75, 0xf8]));
        // mov eax, [rdi]; add edx, eax; cmp edx, esi; jne: a sum
        assert!(!of(false, &[0x8b, 0x07, 0x01, 0xc2, 0x39, 0xf2, 0x75, 0xf8]));
        // mov eax, [rdi]; inc dword [rbp-4]; cmp dword [rbp-4], 100; jne: a count on the stack
        assert!(!of(true, &[0x8b, 0x07, 0xff, 0x45, 0xfc, 0x83, 0x7d, 0xfc, 0x64, 0x75, 0xf5]));
    }
    #[test]
    fn what_only_some_rounds_write_is_taken_over_by_others() {
        // mov eax, [rdi]; test eax, eax; je M; mov ecx, [rsi]; M: dec ecx; jne
        let code = [0x8b, 0x07, 0x85, 0xc0, 0x74, 0x02, 0x8b, 0x0e, 0xff, 0xc9, 0x75, 0xf4];
        let code: Vec<Instruction> =
            Decoder::with_ip(64, &code, 0, DecoderOptions::NONE).into_iter().collect();
        let round: Vec<&Instruction> = code.iter().collect();
        assert!(!spins(&round, &|one| one.ip() != 6, false));
        assert!(spins(&round, &|_| true, false));
    }
}
