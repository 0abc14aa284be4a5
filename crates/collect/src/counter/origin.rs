//! Where a walk begins: the address that a loop reads first, or a pointer that a function was given, as something that a probe shortly
//! before can compute from the registers there. `loops` finds where such a probe can be placed.
//!
//! Values are followed through registers and stack slots, as sums: of registers at some earlier moment and of what memory held then,
//! each times a number.

use iced_x86::{FlowControl, Instruction, InstructionInfoFactory, Mnemonic, OpAccess, OpKind, Register};
use std::collections::HashMap;

/// Memory that a probe may have to read on its way to an address.
const STEPS: usize = 3;
/// Walks with more moving pointers are not looked at.
pub(crate) const ORIGINS: usize = 3;
/// [`Origin::register`]: the instruction pointer, at the probed instruction.
pub(crate) const IP: u8 = 16;
/// What a mask below this leaves of an address says nothing of where it is.
const SMALL: i64 = 4096;
const RSP: u8 = 4;
const RBP: u8 = 5;
/// What a call may change, in the System V ABI; Go's compiler uses no register across one.
const CLOBBERED: [Register; 9] = [
    Register::RAX,
    Register::RCX,
    Register::RDX,
    Register::RSI,
    Register::RDI,
    Register::R8,
    Register::R9,
    Register::R10,
    Register::R11,
];

/// An address: `register + index * scale + offsets[0]`; for each further offset the 8 bytes there are read, and it is added to them.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct Origin {
    /// As instructions number them (rax is 0, rcx 1 …), or [`IP`].
    pub register: u8,
    /// A register and its scale.
    pub index: Option<(u8, i64)>,
    pub offsets: Vec<i64>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Term {
    Register(u8),
    /// The 8 bytes at an address.
    Read(Box<Sum>),
}

/// Terms, each times a number, and a constant.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
struct Sum {
    terms: Vec<(Term, i64)>,
    offset: i64,
}

impl Sum {
    fn constant(offset: i64) -> Sum {
        Sum { terms: Vec::new(), offset }
    }

    fn register(register: u8) -> Sum {
        Sum { terms: vec![(Term::Register(register), 1)], offset: 0 }
    }

    fn plus(mut self, offset: i64) -> Sum {
        self.offset = self.offset.wrapping_add(offset);
        self
    }

    fn times(mut self, factor: i64) -> Sum {
        self.terms.iter_mut().for_each(|(_, times)| *times = times.wrapping_mul(factor));
        self.offset = self.offset.wrapping_mul(factor);
        self
    }

    fn and(mut self, other: Sum) -> Sum {
        for (term, times) in other.terms {
            match self.terms.iter_mut().find(|(known, _)| *known == term) {
                Some((_, sum)) => *sum = sum.wrapping_add(times),
                None => self.terms.push((term, times)),
            }
        }
        self.plus(other.offset)
    }

    /// Reads of memory one behind the other.
    fn depth(&self) -> usize {
        let of = |term: &Term| if let Term::Read(inner) = term { 1 + inner.depth() } else { 0 };
        self.terms.iter().map(|(term, _)| of(term)).max().unwrap_or(0)
    }

    /// The stack slot that an address is: a register that leads to the stack, as rbp does where it is a `frame` pointer, and an offset.
    fn slot(&self, frame: bool) -> Option<(u8, i64)> {
        match self.terms.as_slice() {
            [(Term::Register(register), 1)] if *register == RSP || frame && *register == RBP => {
                Some((*register, self.offset))
            }
            _ => None,
        }
    }

    fn origin(&self) -> Option<Origin> {
        let single = |at: usize| self.terms.get(at).map(|(term, times)| (term, *times));
        match (single(0)?, single(1), self.terms.len()) {
            ((Term::Read(inner), 1), None, _) => {
                let mut origin = inner.origin()?;
                origin.offsets.push(self.offset);
                (origin.offsets.len() <= STEPS).then_some(origin)
            }
            ((Term::Register(register), 1), None, _) => {
                Some(Origin { register: *register, index: None, offsets: vec![self.offset] })
            }
            ((Term::Register(a), 1), Some((Term::Register(b), scale)), 2) if *b != IP => {
                Some(Origin { register: *a, index: Some((*b, scale)), offsets: vec![self.offset] })
            }
            ((Term::Register(b), scale), Some((Term::Register(a), 1)), 2) if *b != IP => {
                Some(Origin { register: *a, index: Some((*b, scale)), offsets: vec![self.offset] })
            }
            _ => None,
        }
    }
}

/// Registers and stack slots, in terms of what they were at some instruction before; none where that is not known.
pub(super) struct Registers {
    values: [Option<Sum>; 16],
    /// Slots that were written since.
    slots: HashMap<(u8, i64), Option<Sum>>,
    /// Offset of that instruction in the function.
    from: u64,
    /// rbp is the frame pointer.
    frame: bool,
    infos: InstructionInfoFactory,
}

impl Registers {
    /// As they are before the instruction at `from` is executed.
    pub(super) fn at(from: u64, frame: bool) -> Registers {
        Registers {
            values: std::array::from_fn(|register| Some(Sum::register(register as u8))),
            slots: HashMap::new(),
            from,
            frame,
            infos: InstructionInfoFactory::new(),
        }
    }

    /// Some path leads past instructions that may have changed these.
    pub(super) fn forget<'a>(&mut self, code: impl Iterator<Item = &'a Instruction>) {
        for instruction in code {
            self.lose(instruction);
            let stores = instruction.op0_kind() == OpKind::Memory;
            if let Some(slot) =
                self.address(instruction).filter(|_| stores).and_then(|address| address.slot(self.frame))
            {
                self.slots.insert(slot, None);
            }
        }
    }

    fn lose(&mut self, instruction: &Instruction) {
        for register in written(instruction, &mut self.infos) {
            self.set(register, None);
        }
    }

    fn get(&self, register: Register) -> Option<Sum> {
        register.is_gpr64().then(|| self.values[register.number()].clone())?
    }

    fn set(&mut self, register: Register, value: Option<Sum>) {
        if let Some(slot) = number(register) {
            self.values[slot] = value;
        }
    }

    fn read(&self, address: Sum) -> Option<Sum> {
        if let Some(known) = address.slot(self.frame).and_then(|slot| self.slots.get(&slot)) {
            return known.clone();
        }
        (address.depth() + 1 < STEPS)
            .then(|| Sum { terms: vec![(Term::Read(Box::new(address)), 1)], offset: 0 })
    }

    /// The address of the memory operand.
    fn address(&self, instruction: &Instruction) -> Option<Sum> {
        let displacement = instruction.memory_displacement64() as i64;
        if instruction.is_ip_rel_memory_operand() {
            return Some(Sum::register(IP).plus(displacement.wrapping_sub(self.from as i64)));
        }
        if instruction.segment_prefix() != Register::None {
            return None; // of the thread's own memory
        }
        let base = match instruction.memory_base() {
            Register::None => Sum::constant(0),
            base => self.get(base)?,
        };
        let whole = match instruction.memory_index() {
            Register::None => base,
            index => base.and(self.get(index)?.times(i64::from(instruction.memory_index_scale()))),
        };
        Some(whole.plus(displacement))
    }

    /// What an instruction does to them.
    pub(super) fn step(&mut self, instruction: &Instruction) {
        use Mnemonic as M;
        let to = instruction.op0_register();
        let to_register = instruction.op0_kind() == OpKind::Register;
        let wide = to_register && to.is_gpr64();
        let from = instruction.op1_kind();
        let immediate = || instruction.immediate(1) as i64;
        let operand = |this: &Self| match from {
            OpKind::Register => this.get(instruction.op1_register()),
            OpKind::Memory => this.address(instruction).and_then(|address| this.read(address)),
            kind if is_immediate(kind) => Some(Sum::constant(immediate())),
            _ => None,
        };
        let value = match instruction.mnemonic() {
            M::Mov if wide => operand(self),
            // 32 bits fill the register up with zeros: a constant, an index.
            M::Mov if to_register && to.is_gpr32() && is_immediate(from) => operand(self),
            // An index of 32 bits is taken as it is: were it negative, the array would begin elsewhere, and the same each time.
            M::Mov | M::Movsxd if to_register && (to.is_gpr32() || wide) => match from {
                OpKind::Register => self.get(instruction.op1_register().full_register()),
                _ => operand(self),
            },
            M::Lea if wide => self.address(instruction),
            M::Add if wide => self.get(to).zip(operand(self)).map(|(a, b)| a.and(b)),
            M::Sub if wide => self.get(to).zip(operand(self)).map(|(a, b)| a.and(b.times(-1))),
            // Rounding to a vector's size: the address is taken as it was, some bytes more or less.
            M::And if to_register && is_immediate(from) && immediate() < 0 => self.get(to.full_register()),
            M::And if to_register && is_immediate(from) && immediate() < SMALL => Some(Sum::constant(0)),
            M::Inc if wide => self.get(to).map(|value| value.plus(1)),
            M::Dec if wide => self.get(to).map(|value| value.plus(-1)),
            M::Shl | M::Sal if wide && is_immediate(from) => {
                self.get(to).map(|value| value.times(1i64.wrapping_shl(immediate() as u32)))
            }
            M::Imul if wide && instruction.op_count() == 3 => {
                operand(self).map(|value| value.times(instruction.immediate(2) as i64))
            }
            M::Xor if to_register && from == OpKind::Register && to == instruction.op1_register() => {
                Some(Sum::constant(0))
            }
            M::Cdqe => self.get(Register::RAX),
            M::Push => {
                self.values[RSP as usize] = self.get(Register::RSP).map(|value| value.plus(-8));
                return;
            }
            _ => {
                self.store(instruction);
                self.lose(instruction);
                return;
            }
        };
        if to_register {
            self.set(to, value);
        } else if instruction.mnemonic() == M::Cdqe {
            self.set(Register::RAX, value);
        } else {
            self.store(instruction);
        }
    }

    /// What an instruction writes to a stack slot.
    fn store(&mut self, instruction: &Instruction) {
        if instruction.op0_kind() != OpKind::Memory
            || matches!(instruction.mnemonic(), Mnemonic::Cmp | Mnemonic::Test)
        {
            return;
        }
        let Some(slot) = self.address(instruction).and_then(|address| address.slot(self.frame)) else {
            return;
        };
        let value = match (instruction.mnemonic(), instruction.op1_kind()) {
            (Mnemonic::Mov, OpKind::Register) => self.get(instruction.op1_register().full_register()),
            (Mnemonic::Mov, kind) if is_immediate(kind) => {
                Some(Sum::constant(instruction.immediate(1) as i64))
            }
            _ => None,
        };
        self.slots.insert(slot, value);
    }

    /// A sum of another moment's registers, which are these.
    fn substitute(&self, sum: &Sum) -> Option<Sum> {
        let mut whole = Sum::constant(sum.offset);
        for (term, times) in &sum.terms {
            let value = match term {
                Term::Register(IP) => None,
                Term::Register(register) => self.values[*register as usize].clone(),
                Term::Read(inner) => self.substitute(inner).and_then(|address| self.read(address)),
            };
            whole = whole.and(value?.times(*times));
        }
        Some(whole)
    }

    /// By how much a sum is larger at the end of a round than at its beginning, if that is a number.
    fn stride(&self, sum: &Sum) -> Option<i64> {
        let after = self.substitute(sum)?;
        let difference = after.and(sum.clone().times(-1));
        difference.terms.iter().all(|(_, times)| *times == 0).then_some(difference.offset)
    }

    /// Which register now holds what `register` held at first.
    fn holder(&self, register: Register) -> Option<u8> {
        let wanted = Some(Sum::register(number(register)? as u8));
        self.values.iter().position(|value| *value == wanted).map(|at| at as u8)
    }
}

fn is_immediate(kind: OpKind) -> bool {
    matches!(
        kind,
        OpKind::Immediate8
            | OpKind::Immediate16
            | OpKind::Immediate32
            | OpKind::Immediate64
            | OpKind::Immediate8to32
            | OpKind::Immediate8to64
            | OpKind::Immediate32to64
    )
}

fn number(register: Register) -> Option<usize> {
    let full = register.full_register();
    full.is_gpr64().then(|| full.number())
}

fn calls(instruction: &Instruction) -> bool {
    matches!(instruction.flow_control(), FlowControl::Call | FlowControl::IndirectCall)
}

fn written(instruction: &Instruction, infos: &mut InstructionInfoFactory) -> Vec<Register> {
    if calls(instruction) {
        return CLOBBERED.to_vec();
    }
    let writes = |access| {
        !matches!(access, OpAccess::None | OpAccess::Read | OpAccess::CondRead | OpAccess::NoMemAccess)
    };
    let info = infos.info(instruction);
    let used = info.used_registers().iter().filter(|used| writes(used.access()));
    used.map(|used| used.register().full_register()).collect()
}

/// The pointers that move through a loop whose code is `body`, its header first, as `entered` are when it is entered, and by how many bytes
/// each moves in a round, 0 where that differs. Empty if there is none, if one of them cannot be computed, or if there are too many.
pub(super) fn of_loop(body: &[&Instruction], entered: &Registers) -> Vec<(Origin, i64)> {
    let calls = body.iter().any(|instruction| calls(instruction));
    // One round, in terms of how it begins.
    let mut round = Registers::at(0, entered.frame);
    let mut looked_at: Vec<Sum> = Vec::new();
    for instruction in body {
        let memory =
            (0..instruction.op_count()).any(|operand| instruction.op_kind(operand) == OpKind::Memory);
        if memory && !matches!(instruction.mnemonic(), Mnemonic::Lea | Mnemonic::Nop) {
            looked_at.extend(round.address(instruction));
        }
        round.step(instruction);
        // Of an array of records each is passed to a function that compares.
        if calls
            && instruction.op0_kind() == OpKind::Register
            && ARGUMENTS.contains(&instruction.op0_register())
        {
            let pointer = |value: &Sum| value.terms.iter().any(|(_, times)| *times == 1);
            looked_at.extend(round.get(instruction.op0_register()).filter(pointer));
        }
    }
    let moves = |term: &Term| match term {
        Term::Register(IP) => false,
        Term::Register(register) => round.values[*register as usize] != Some(Sum::register(*register)),
        Term::Read(address) => {
            address.slot(entered.frame).is_some_and(|slot| round.slots.contains_key(&slot))
        }
    };
    // What is read elsewhere than on the stack belongs to an item.
    let of_an_item =
        |term: &Term| matches!(term, Term::Read(address) if address.slot(entered.frame).is_none());
    let mut origins: Vec<(Origin, i64)> = Vec::new();
    for address in looked_at {
        let terms = || address.terms.iter().map(|(term, _)| term);
        if address.slot(entered.frame).is_some() || terms().any(of_an_item) || !terms().any(moves) {
            continue;
        }
        let Some(first) = entered.substitute(&Sum { offset: 0, ..address.clone() }) else {
            return Vec::new();
        };
        if first.terms.is_empty() {
            continue; // a count that starts at a number is no pointer
        }
        let Some(origin) = first.origin() else { return Vec::new() };
        if !origins.iter().any(|(known, _)| *known == origin) {
            origins.push((origin, round.stride(&address).unwrap_or(0)));
        }
    }
    if origins.len() > ORIGINS { Vec::new() } else { origins }
}

/// Where a function's first arguments are, in the System V ABI, and in Go's.
const ARGUMENTS: [Register; 3] = [Register::RDI, Register::RSI, Register::RDX];
const GO_ARGUMENTS: [Register; 3] = [Register::RAX, Register::RBX, Register::RCX];

/// The first three arguments of a function, as found where `code` ends: what comes between its entry and the probe. Only as many as can
/// be found without a gap.
pub(super) fn of_arguments<'a>(code: impl Iterator<Item = &'a Instruction>, go: bool) -> Vec<Origin> {
    let mut registers = Registers::at(0, false);
    code.for_each(|instruction| registers.step(instruction));
    let arguments = if go { GO_ARGUMENTS } else { ARGUMENTS };
    let found = arguments.iter().map_while(|argument| registers.holder(*argument));
    found.map(|register| Origin { register, index: None, offsets: vec![0] }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use iced_x86::{Decoder, DecoderOptions};

    fn code(bytes: &[u8]) -> Vec<Instruction> {
        Decoder::with_ip(64, bytes, 0, DecoderOptions::NONE).into_iter().collect()
    }

    fn origins(before: &[u8], body: &[u8]) -> Vec<Origin> {
        with(false, before, body)
    }

    fn with(frame: bool, before: &[u8], body: &[u8]) -> Vec<Origin> {
        moving(frame, before, body).into_iter().map(|(origin, _)| origin).collect()
    }

    fn moving(frame: bool, before: &[u8], body: &[u8]) -> Vec<(Origin, i64)> {
        let mut registers = Registers::at(0, frame);
        code(before).iter().for_each(|instruction| registers.step(instruction));
        of_loop(&code(body).iter().collect::<Vec<_>>(), &registers)
    }

    fn origin(register: Register, offsets: &[i64]) -> Origin {
        Origin { register: register.number() as u8, index: None, offsets: offsets.to_vec() }
    }

    /// mov rax, [rax+8]; test rax, rax; jne
    const LIST: [u8; 9] = [0x48, 0x8b, 0x40, 0x08, 0x48, 0x85, 0xc0, 0x75, 0xf7];

    #[test]
    fn a_list_begins_where_its_head_leads_to() {
        // mov rax, [rdi+16]
        assert_eq!(origins(&[0x48, 0x8b, 0x47, 0x10], &LIST), [origin(Register::RDI, &[16, 0])]);
        // mov rax, [rip+0x100], 7 bytes long
        let global = origins(&[0x48, 0x8b, 0x05, 0x00, 0x01, 0, 0], &LIST);
        assert_eq!(global, [Origin { register: IP, index: None, offsets: vec![0x107, 0] }]);
    }

    #[test]
    fn an_array_with_an_index_begins_at_its_base_and_where_the_index_begins() {
        // cmp [rdi+rcx*4], esi; je; inc rcx; cmp rcx, rdx; jne
        let body = [0x39, 0x34, 0x8f, 0x74, 0x10, 0x48, 0xff, 0xc1, 0x48, 0x39, 0xd1, 0x75, 0xf3];
        // xor ecx, ecx
        assert_eq!(origins(&[0x31, 0xc9], &body), [origin(Register::RDI, &[0])]);
        // lea rcx, [rax+1]: the rest of the array
        let rest = origins(&[0x48, 0x8d, 0x48, 0x01], &body);
        assert_eq!(rest, [Origin { index: Some((0, 4)), ..origin(Register::RDI, &[4]) }]);
    }

    #[test]
    fn an_item_that_is_passed_to_a_function_and_a_key_that_is_not_walked() {
        // mov rsi, r12; mov rdi, rbp; add rbp, 32; call; test eax, eax; jne
        let body = [
            0x4c, 0x89, 0xe6, 0x48, 0x89, 0xef, 0x48, 0x83, 0xc5, 0x20, 0xe8, 0, 0, 0, 0, 0x85, 0xc0, 0x75,
            0xed,
        ];
        assert_eq!(origins(&[], &body), [origin(Register::RBP, &[0])]);
    }

    #[test]
    fn strides_are_known_where_a_pointer_moves_by_a_number() {
        // cmp [rax], edx; je; add rax, 4; cmp rax, rcx; jne
        let array = [0x39, 0x10, 0x74, 0x10, 0x48, 0x83, 0xc0, 0x04, 0x48, 0x39, 0xc8, 0x75, 0xf3];
        assert_eq!(moving(false, &[], &array), [(origin(Register::RAX, &[0]), 4)]);
        assert_eq!(moving(false, &[], &LIST), [(origin(Register::RAX, &[0]), 0)]);
        // mov esi, eax; and esi, 31; sub rax, rsi: rounded down
        let aligned = [0x89, 0xc6, 0x83, 0xe6, 0x1f, 0x48, 0x29, 0xf0];
        assert_eq!(moving(false, &aligned, &array), [(origin(Register::RAX, &[0]), 4)]);
    }

    #[test]
    fn what_a_call_returned_is_not_known() {
        // call; then the list in rax
        assert_eq!(origins(&[0xe8, 0, 0, 0, 0], &LIST), []);
    }

    #[test]
    fn what_an_item_leads_to_is_no_origin_of_its_own() {
        // mov rdx, [rax]; cmp [rdx], esi; je; add rax, 8; cmp rax, rcx; jne
        let body =
            [0x48, 0x8b, 0x10, 0x39, 0x32, 0x74, 0x10, 0x48, 0x83, 0xc0, 0x08, 0x48, 0x39, 0xc8, 0x75, 0xf0];
        assert_eq!(origins(&[], &body), [origin(Register::RAX, &[0])]);
    }

    #[test]
    fn pointers_are_followed_through_the_stack() {
        // mov rax, [rbp-8]; mov rax, [rax+8]; mov [rbp-8], rax; cmp qword [rbp-8], 0; jne
        let body = [
            0x48, 0x8b, 0x45, 0xf8, 0x48, 0x8b, 0x40, 0x08, 0x48, 0x89, 0x45, 0xf8, 0x48, 0x83, 0x7d, 0xf8,
            0x00, 0x75, 0xed,
        ];
        assert_eq!(with(true, &[], &body), [origin(Register::RBP, &[-8, 0])]);
        // mov [rbp-8], rdi
        assert_eq!(with(true, &[0x48, 0x89, 0x7d, 0xf8], &body), [origin(Register::RDI, &[0])]);
    }

    #[test]
    fn an_index_kept_on_the_stack_begins_at_its_number() {
        // mov rcx, [rsp+8]; mov rdx, [rsp+16]; shl rcx, 5; cmp [rdx+rcx], esi; inc qword [rsp+8]; jne
        let body = [
            0x48, 0x8b, 0x4c, 0x24, 0x08, 0x48, 0x8b, 0x54, 0x24, 0x10, 0x48, 0xc1, 0xe1, 0x05, 0x39, 0x34,
            0x0a, 0x48, 0xff, 0x44, 0x24, 0x08, 0x75, 0xe8,
        ];
        // mov qword [rsp+8], 0
        let zero = [0x48, 0xc7, 0x44, 0x24, 0x08, 0, 0, 0, 0];
        assert_eq!(origins(&zero, &body), [origin(Register::RSP, &[16, 0])]);
        assert_eq!(origins(&[], &body), [], "where the index begins cannot be computed");
    }

    #[test]
    fn arguments_are_found_where_they_were_moved_to() {
        // push rbx; mov rbx, rdi; xor edi, edi
        let found = of_arguments(code(&[0x53, 0x48, 0x89, 0xfb, 0x31, 0xff]).iter(), false);
        assert_eq!(found[0], origin(Register::RBX, &[0]));
        assert_eq!(found.len(), 3);
        // xor edi, edi: the first is gone
        assert!(of_arguments(code(&[0x31, 0xff]).iter(), false).is_empty());
    }
}
