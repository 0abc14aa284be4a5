//! Values followed through the registers and stack slots of a function's code, as sums: of registers at some earlier instruction and of what
//! memory held then, each times a number. What they are wanted for is left to `origin`.

use iced_x86::{FlowControl, Instruction, InstructionInfoFactory, Mnemonic, OpAccess, OpKind, Register};
use std::collections::HashMap;

/// Memory that may have to be read on the way to a value, and the register that this begins with.
pub(super) const STEPS: usize = 3;
/// The number of the instruction pointer, at the instruction from which values are followed.
pub(crate) const IP: u8 = 16;
/// What a mask below this leaves of an address says nothing of where it is: less than a page.
const SMALL: i64 = 4096;
const RSP: u8 = 4;
const RBP: u8 = 5;
/// What a call may change, in the System V ABI; Go's compiler uses no register across one.
pub(super) const CLOBBERED: [Register; 9] = [
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

/// What a sum is made of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Term {
    /// A register, as instructions number them, or [`IP`].
    Register(u8),
    /// The 8 bytes at an address.
    Read(Box<Sum>),
}

/// Terms, each times a number, and a constant.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Sum {
    pub terms: Vec<(Term, i64)>,
    pub offset: i64,
}

impl Sum {
    pub(super) fn constant(offset: i64) -> Sum {
        Sum { terms: Vec::new(), offset }
    }

    pub(super) fn register(register: u8) -> Sum {
        Sum { terms: vec![(Term::Register(register), 1)], offset: 0 }
    }

    pub(super) fn plus(mut self, offset: i64) -> Sum {
        self.offset = self.offset.wrapping_add(offset);
        self
    }

    pub(super) fn times(mut self, factor: i64) -> Sum {
        self.terms.iter_mut().for_each(|(_, times)| *times = times.wrapping_mul(factor));
        self.offset = self.offset.wrapping_mul(factor);
        self
    }

    pub(super) fn and(mut self, other: Sum) -> Sum {
        for (term, times) in other.terms {
            match self.terms.iter_mut().find(|(known, _)| *known == term) {
                Some((_, sum)) => *sum = sum.wrapping_add(times),
                None => self.terms.push((term, times)),
            }
        }
        self.plus(other.offset)
    }

    /// Reads of memory one behind the other.
    pub(super) fn depth(&self) -> usize {
        let of = |term: &Term| if let Term::Read(inner) = term { 1 + inner.depth() } else { 0 };
        self.terms.iter().map(|(term, _)| of(term)).max().unwrap_or(0)
    }

    /// The stack slot that an address is: a register that leads to the stack, as rbp does where it is a `frame` pointer, and an offset.
    pub(super) fn slot(&self, frame: bool) -> Option<(u8, i64)> {
        match self.terms.as_slice() {
            [(Term::Register(register), 1)] if *register == RSP || frame && *register == RBP => {
                Some((*register, self.offset))
            }
            _ => None,
        }
    }
}

/// Registers and stack slots, in terms of what they were at some instruction before; none where that is not known.
pub(super) struct Registers {
    pub values: [Option<Sum>; 16],
    /// Slots that were written since.
    pub slots: HashMap<(u8, i64), Option<Sum>>,
    /// Offset of that instruction in the function.
    from: u64,
    /// rbp is the frame pointer.
    pub frame: bool,
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

    /// What the instructions right before make a number: an index that starts at nought.
    pub(super) fn take_constants(&mut self, before: &[Instruction]) {
        let Some(first) = before.first() else { return };
        let mut then = Registers::at(first.ip(), self.frame);
        before.iter().for_each(|instruction| then.step(instruction));
        for (value, then) in self.values.iter_mut().zip(then.values) {
            if let Some(number) = then.filter(|sum| sum.terms.is_empty()) {
                *value = Some(number);
            }
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

    pub(super) fn get(&self, register: Register) -> Option<Sum> {
        register.is_gpr64().then(|| self.values[register.number()].clone())?
    }

    fn set(&mut self, register: Register, value: Option<Sum>) {
        if let Some(slot) = number(register) {
            self.values[slot] = value;
        }
    }

    pub(super) fn read(&self, address: Sum) -> Option<Sum> {
        if let Some(known) = address.slot(self.frame).and_then(|slot| self.slots.get(&slot)) {
            return known.clone();
        }
        (address.depth() + 1 < STEPS)
            .then(|| Sum { terms: vec![(Term::Read(Box::new(address)), 1)], offset: 0 })
    }

    /// The address of the memory operand.
    pub(super) fn address(&self, instruction: &Instruction) -> Option<Sum> {
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

    /// At the end of a round: a register that was read again from a stack slot which nothing wrote meanwhile holds what it did before. A compiler puts
    /// a value there before a loop that calls a function, since that may change all registers, and takes it back after each call.
    pub(super) fn restore_spilled(&mut self) {
        for register in 0..self.values.len() {
            let spilled =
                match self.values[register].as_ref().map(|value| (value.terms.as_slice(), value.offset)) {
                    Some(([(Term::Read(address), 1)], 0)) => address.slot(self.frame),
                    _ => None,
                };
            if spilled.is_some_and(|slot| !self.slots.contains_key(&slot)) {
                self.values[register] = Some(Sum::register(register as u8));
            }
        }
    }

    /// A sum of another moment's registers, which are these.
    pub(super) fn substitute(&self, sum: &Sum) -> Option<Sum> {
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
    pub(super) fn stride(&self, sum: &Sum) -> Option<i64> {
        let after = self.substitute(sum)?;
        let difference = after.and(sum.clone().times(-1));
        difference.terms.iter().all(|(_, times)| *times == 0).then_some(difference.offset)
    }

    /// Which register now holds what `register` held at first.
    pub(super) fn holder(&self, register: Register) -> Option<u8> {
        let wanted = Some(Sum::register(number(register)? as u8));
        self.values.iter().position(|value| *value == wanted).map(|at| at as u8)
    }
}

pub(super) fn is_immediate(kind: OpKind) -> bool {
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

/// Whether it calls a function.
pub(super) fn calls(instruction: &Instruction) -> bool {
    matches!(instruction.flow_control(), FlowControl::Call | FlowControl::IndirectCall)
}

pub(super) fn written(instruction: &Instruction, infos: &mut InstructionInfoFactory) -> Vec<Register> {
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
