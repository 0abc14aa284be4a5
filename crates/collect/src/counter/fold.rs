//! Does a loop that calculates make one result of what it reads, and come to the same one if it begins at the same place: a sum, a number of
//! characters? Then it stores nothing, and puts what it reads together with nothing that was there before the loop, but for what it compares with.
//!
//! What is kept as the largest or smallest is left out (but not where one of two is a number), and so is a loop that reads from the stack: there may be what differs from one time to the
//! next. That the addresses at which it reads are not themselves read from memory is for `chase` to tell.

use super::values::{calls, is_immediate};
use super::walk::stores_beside;
use iced_x86::{FlowControl, Instruction, InstructionInfoFactory, Mnemonic, OpAccess, OpKind, Register};
use std::collections::HashSet;

/// How the names of instructions begin, without the V of the newer ones, that compare or mask what a comparison gave, and that keep one of two.
const COMPARE: [&str; 7] = ["Cmp", "Test", "Ucomi", "Comi", "Pcmp", "Pand", "Ptest"];
const CHOOSE: [&str; 5] = ["Cmov", "Max", "Min", "Pmax", "Pmin"];

/// Whether the code of a loop does so. `frame`: RBP is a frame pointer.
pub(super) fn folds<'a>(code: impl Iterator<Item = &'a Instruction>, frame: bool) -> bool {
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
    let mut reads = false;
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
        let from_outside = !is(instruction, &COMPARE) && registers.any(|one| !written.contains(&one));
        if calls(instruction) || chooses || from_outside {
            return false;
        }
        for memory in infos.info(instruction).used_memory() {
            if stores_beside(memory, frame) || is_stack(memory.base()) {
                return false;
            }
            reads |=
                !matches!(memory.base(), Register::None | Register::RIP) || memory.index() != Register::None;
        }
    }
    reads
}

/// Whether it is one of some kinds; a bit is only compared by `bt`.
fn is(instruction: &Instruction, kinds: &[&str]) -> bool {
    let name = format!("{:?}", instruction.mnemonic());
    let name = name.strip_prefix('V').unwrap_or(&name);
    kinds.iter().any(|begin| name.starts_with(begin))
        || kinds == COMPARE && instruction.mnemonic() == Mnemonic::Bt
}
