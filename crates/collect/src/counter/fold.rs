//! Does a loop that calculates make one result of what it reads, and come to the same one if it begins at the same place: a sum, a number of
//! characters? Then it stores nothing, and puts what it reads together with nothing that was there before the loop, but for what it compares with.
//!
//! What is kept as the largest or smallest is told apart (but not where one of two is a number), and a loop that reads from the stack is left out: there may be what differs from one time to the
//! next. That the addresses at which it reads are not themselves read from memory is for `chase` to tell.

use super::values::{calls, is_immediate};
use super::walk::stores_beside;
use iced_x86::{FlowControl, Instruction, InstructionInfoFactory, Mnemonic, OpAccess, OpKind, Register};
use std::collections::HashSet;

/// How the names of instructions begin, without the V of the newer ones, that compare or mask what a comparison gave, and that keep one of two.
const COMPARE: [&str; 7] = ["Cmp", "Test", "Ucomi", "Comi", "Pcmp", "Pand", "Ptest"];
const CHOOSE: [&str; 5] = ["Cmov", "Max", "Min", "Pmax", "Pmin"];

/// What a loop makes of what it reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Fold {
    /// A sum, a number of characters, a checksum.
    Sum,
    /// The largest or smallest of all, which depends on nothing else.
    Extreme,
}

/// Whether the code of a loop does so, and what it makes. `frame`: RBP is a frame pointer.
pub(super) fn fold<'a>(code: impl Iterator<Item = &'a Instruction>, frame: bool) -> Option<Fold> {
    let code: Vec<&Instruction> = code.collect();
    let mut infos = InstructionInfoFactory::new();
    let mut written: HashSet<Register> = HashSet::new();
    for instruction in &code {
        let used = infos.info(instruction).used_registers().iter();
        let writes =
            used.filter(|one| !matches!(one.access(), OpAccess::Read | OpAccess::CondRead | OpAccess::None));
        written.extend(writes.map(|one| one.register().full_register()));
    }
    let is_stack = |base: Register| base == Register::RSP || frame && base.full_register() == Register::RBP;
    let (mut reads, mut keeps) = (false, false);
    // Registers that only step on, as to an end; what is compared with anything from outside depends on it.
    let steps: HashSet<Register> = code.iter().filter_map(|one| stepped(one)).collect();
    let (mut depends, mut calculates) = (false, false);
    // Registers that were just set to a number: to choose between it and what was read keeps no largest one.
    let mut numbers: HashSet<Register> = HashSet::new();
    for instruction in code {
        let chooses = is(instruction, &CHOOSE)
            && !(instruction.op_count() == 2
                && numbers.contains(&instruction.op1_register().full_register()));
        if instruction.flow_control() != FlowControl::Next {
            numbers.clear();
        } else if instruction.op_count() > 0 && instruction.op0_kind() == OpKind::Register {
            let to = instruction.op0_register().full_register();
            match instruction.mnemonic() == Mnemonic::Mov && is_immediate(instruction.op1_kind()) {
                true => numbers.insert(to),
                false => numbers.remove(&to),
            };
        }
        let operands = (0..instruction.op_count()).filter(|at| instruction.op_kind(*at) == OpKind::Register);
        let mut registers = operands.map(|at| instruction.op_register(at).full_register());
        let outside = registers.any(|one| !written.contains(&one));
        let compares = is(instruction, &COMPARE);
        if calls(instruction) || outside && !compares {
            return None;
        }
        keeps |= chooses;
        calculates |= !chooses && !looks(instruction);
        let mut operands = (0..instruction.op_count()).map(|at| instruction.op_register(at).full_register());
        depends |= outside && !operands.any(|one| steps.contains(&one));
        for memory in infos.info(instruction).used_memory() {
            if stores_beside(memory, frame) || is_stack(memory.base()) {
                return None;
            }
            reads |=
                !matches!(memory.base(), Register::None | Register::RIP) || memory.index() != Register::None;
        }
    }
    match (reads, keeps) {
        (true, false) => Some(Fold::Sum),
        (true, true) if !depends && !calculates => Some(Fold::Extreme),
        _ => None,
    }
}

/// Whether an instruction only reads, compares, jumps, steps on by a number or computes an address from others.
fn looks(instruction: &Instruction) -> bool {
    let makes_an_address = || {
        let to = instruction.op0_register().full_register();
        let from = [instruction.memory_base(), instruction.memory_index()].map(Register::full_register);
        instruction.mnemonic() == Mnemonic::Lea && !from.contains(&to)
    };
    instruction.flow_control() != FlowControl::Next
        || stepped(instruction).is_some()
        || makes_an_address()
        || is(instruction, &["Mov", "Cmp", "Test", "Ucomi", "Comi", "Nop", "Cdqe"])
}

/// The register that an instruction moves on by a number.
fn stepped(instruction: &Instruction) -> Option<Register> {
    let by_one = matches!(instruction.mnemonic(), Mnemonic::Inc | Mnemonic::Dec);
    let by_a_number = matches!(instruction.mnemonic(), Mnemonic::Add | Mnemonic::Sub)
        && is_immediate(instruction.op1_kind());
    let register = instruction.op_count() > 0 && instruction.op0_kind() == OpKind::Register;
    (register && (by_one || by_a_number)).then(|| instruction.op0_register().full_register())
}

/// Whether it is one of some kinds; a bit is only compared by `bt`.
fn is(instruction: &Instruction, kinds: &[&str]) -> bool {
    let name = format!("{:?}", instruction.mnemonic());
    let name = name.strip_prefix('V').unwrap_or(&name);
    kinds.iter().any(|begin| name.starts_with(begin))
        || kinds == COMPARE && instruction.mnemonic() == Mnemonic::Bt
}
