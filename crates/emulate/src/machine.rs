//! The loop that runs instructions, and their operands.

use crate::memory::{Memory, Source};
use crate::registers::{Registers, mask};
use crate::{ciphers, floats, integer, lanes, moves, strings, x87};
use iced_x86::{
    Decoder, DecoderOptions, FlowControl, Instruction, InstructionInfoFactory, Mnemonic, OpAccess, OpKind,
    Register,
};
use std::collections::HashMap;
use std::rc::Rc;

/// Why a run ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum End {
    /// So many instructions were asked for.
    Limit,
    /// At a system call, which is the next instruction.
    SystemCall,
    /// At an instruction that is not known, by its name, at its address.
    Unknown(String, u64),
    /// At an address that cannot be read or written; 0 for a division by zero and the like.
    Fault(u64),
    /// Whoever watches wants no more.
    Enough,
}

/// What one instruction did, if it did not lead on.
pub(crate) type Done = Result<(), End>;

/// Whoever watches a run.
pub trait Watch<S> {
    /// The next instruction reads and writes registers: bits of general ones by their number, those of vector registers from 16 on. What a function only puts aside for its caller is not
    /// read.
    fn about_to(&mut self, count: u64, reads: u32, writes: u32) {
        let _ = (count, reads, writes);
    }
    /// Memory is read.
    fn read(&mut self, memory: &mut Memory<S>, address: u64, size: usize) {
        let _ = (memory, address, size);
    }
    /// Memory is about to be written.
    fn writes(&mut self, memory: &mut Memory<S>, address: u64, size: usize) {
        let _ = (memory, address, size);
    }
    /// Memory was written; `changed` says whether it holds something else now.
    fn written(&mut self, address: u64, bytes: &[u8], changed: bool) {
        let _ = (address, bytes, changed);
    }
    /// The next instruction changes memory in one step, for all threads.
    fn locks(&mut self, address: u64) {
        let _ = address;
    }
    /// A call was made: the next instruction is the first of what was called, and the stack pointer leads to where it returns. The watcher may do instead what
    /// the function does, and return from it ([`Machine::leave`]).
    fn called(machine: &mut Machine<S, Self>) -> Result<(), End>
    where
        Self: Sized,
    {
        let _ = machine;
        Ok(())
    }
    /// A function returned: the next instruction is one of its caller, and the stack pointer is above the address that led there.
    fn returned(machine: &mut Machine<S, Self>)
    where
        Self: Sized,
    {
        let _ = machine;
    }
    /// An instruction is next that was [marked](Machine::mark).
    fn marked(&mut self, mark: u32) {
        let _ = mark;
    }
    /// Another function may have been jumped to, as at the end of a function that calls as its last act, or out of a table of linked functions.
    fn jumped(machine: &mut Machine<S, Self>) -> Result<(), End>
    where
        Self: Sized,
    {
        let _ = machine;
        Ok(())
    }
}

/// Nobody watches.
impl<S> Watch<S> for () {}

/// A thread's state, and who watches it.
pub struct Machine<S, W> {
    /// Its registers.
    pub registers: Registers,
    /// Its memory.
    pub memory: Memory<S>,
    /// Who watches.
    pub watch: W,
    /// Instructions that were run.
    pub count: u64,
    /// What moving many bytes at once took besides, in instructions that move a vector.
    work: u64,
    /// Decoded instructions up to the next that may lead elsewhere, by the address of the first.
    blocks: HashMap<u64, Rc<[Decoded]>>,
    marks: HashMap<u64, Vec<u32>>,
    info: InstructionInfoFactory,
}

/// An instruction, and which registers it uses.
struct Decoded {
    instruction: Instruction,
    reads: u32,
    writes: u32,
    /// It is marked.
    marked: bool,
    /// It changes memory in one step.
    locks: bool,
}

/// Registers that a function has to keep for its caller.
const KEPT: [Register; 6] =
    [Register::RBX, Register::RBP, Register::R12, Register::R13, Register::R14, Register::R15];

/// The bit of a register: general ones by their number, vector registers from 16 on; 0 for others.
fn bit_of(register: Register) -> u32 {
    let whole = register.full_register();
    if whole.is_gpr64() {
        1 << whole.number()
    } else if whole.is_zmm() && whole.number() < 16 {
        1 << (16 + whole.number())
    } else {
        0
    }
}

/// Instructions of a block at most, and bytes of one.
const BLOCK: usize = 64;
const LONGEST: usize = 15;
/// Bytes that an instruction moves without being more work than another.
const VECTOR: u64 = 33;

impl<S: Source, W: Watch<S>> Machine<S, W> {
    /// A thread with these registers.
    pub fn new(registers: Registers, source: S, watch: W) -> Machine<S, W> {
        Machine {
            registers,
            memory: Memory::new(source),
            watch,
            count: 0,
            work: 0,
            blocks: HashMap::new(),
            marks: HashMap::new(),
            info: InstructionInfoFactory::new(),
        }
    }

    /// From now on the watcher is told when the instruction at `address` is next. For what was not run yet.
    pub fn mark(&mut self, address: u64, mark: u32) {
        self.marks.entry(address).or_default().push(mark);
    }

    /// Runs until `limit` instructions were run in all, or something ends it.
    pub fn run(&mut self, limit: u64) -> End {
        loop {
            if self.count + self.work >= limit {
                return End::Limit;
            }
            let Some(block) = self.block(self.registers.ip) else { return End::Fault(self.registers.ip) };
            for one in &*block {
                if self.count >= limit {
                    return End::Limit;
                }
                self.watch.about_to(self.count, one.reads, one.writes);
                if one.locks {
                    self.watch.locks(self.address(&one.instruction));
                }
                if one.marked {
                    let marks = self.marks.get(&one.instruction.ip());
                    marks.into_iter().flatten().for_each(|mark| self.watch.marked(*mark));
                }
                match self.step(&one.instruction) {
                    Ok(true) => {}
                    Ok(false) => break,
                    Err(end) => return end,
                }
            }
        }
    }

    /// The instructions from `start` to the next that may lead elsewhere.
    fn block(&mut self, start: u64) -> Option<Rc<[Decoded]>> {
        if let Some(block) = self.blocks.get(&start) {
            return Some(block.clone());
        }
        let mut bytes = [0; BLOCK * 4 + LONGEST];
        // At the end of what is mapped there are fewer.
        let mut length = bytes.len();
        while self.memory.read(start, &mut bytes[..length]).is_none() {
            length = (0x1000 - start % 0x1000).min(length as u64 - 1) as usize;
            if length == 0 {
                return None;
            }
        }
        let mut block = Vec::new();
        for instruction in &mut Decoder::with_ip(64, &bytes[..length], start, DecoderOptions::NONE) {
            if instruction.is_invalid() {
                break;
            }
            block.push(self.decoded(instruction));
            if instruction.flow_control() != FlowControl::Next || block.len() == BLOCK {
                break;
            }
        }
        if block.is_empty() {
            return None;
        }
        let block: Rc<[Decoded]> = block.into();
        self.blocks.insert(start, block.clone());
        Some(block)
    }

    fn decoded(&mut self, instruction: Instruction) -> Decoded {
        let (mut reads, mut writes) = (0, 0);
        // What is combined with itself to zero is not read, nor is what is only put aside, as the registers that a function keeps.
        let zeroes = matches!(
            instruction.mnemonic(),
            Mnemonic::Xor | Mnemonic::Pxor | Mnemonic::Xorps | Mnemonic::Xorpd | Mnemonic::Sub
        ) && instruction.op_count() == 2
            && instruction.op1_kind() == OpKind::Register
            && instruction.op_register(0) == instruction.op_register(1);
        let aside = instruction.mnemonic() == Mnemonic::Push && KEPT.contains(&instruction.op0_register());
        for used in self.info.info(&instruction).used_registers() {
            let bit = bit_of(used.register());
            match used.access() {
                OpAccess::Read | OpAccess::CondRead if !zeroes && !aside => reads |= bit,
                OpAccess::Write => writes |= bit,
                OpAccess::ReadWrite | OpAccess::ReadCondWrite => {
                    reads |= if zeroes { 0 } else { bit };
                    writes |= bit;
                }
                _ => {}
            }
        }
        let marked = self.marks.contains_key(&instruction.ip());
        // An exchange with memory needs no prefix.
        let exchanges = instruction.mnemonic() == Mnemonic::Xchg && instruction.op0_kind() == OpKind::Memory;
        let locks = instruction.has_lock_prefix() || exchanges;
        Decoded { instruction, reads, writes, marked, locks }
    }

    /// Runs one instruction; true if the next one follows.
    fn step(&mut self, instruction: &Instruction) -> Result<bool, End> {
        let next = instruction.next_ip();
        match instruction.flow_control() {
            FlowControl::Next => {
                self.act(instruction)?;
                self.count += 1;
                self.registers.ip = next;
                return Ok(true);
            }
            FlowControl::ConditionalBranch => {
                let taken = match instruction.mnemonic() {
                    Mnemonic::Jrcxz => self.registers.general[1] == 0,
                    Mnemonic::Jecxz => self.registers.general[1] as u32 == 0,
                    Mnemonic::Loop | Mnemonic::Loope | Mnemonic::Loopne => return Err(unknown(instruction)),
                    _ => self.registers.flags.meet(instruction.condition_code()),
                };
                self.count += 1;
                self.registers.ip = if taken { instruction.near_branch_target() } else { next };
            }
            FlowControl::UnconditionalBranch | FlowControl::IndirectBranch => {
                self.registers.ip = self.target(instruction)?;
                self.count += 1;
                W::jumped(self)?;
            }
            FlowControl::Call | FlowControl::IndirectCall if instruction.mnemonic() == Mnemonic::Call => {
                let target = self.target(instruction)?;
                self.push(next)?;
                self.registers.ip = target;
                self.count += 1;
                W::called(self)?;
            }
            FlowControl::Return if instruction.mnemonic() == Mnemonic::Ret => {
                self.count += 1;
                self.leave()?;
                if instruction.op_count() == 1 {
                    let above = self.registers.general[4].wrapping_add(instruction.immediate(0));
                    self.registers.general[4] = above;
                }
            }
            FlowControl::Call if instruction.mnemonic() == Mnemonic::Syscall => return Err(End::SystemCall),
            _ => return Err(unknown(instruction)),
        }
        Ok(false)
    }

    /// Returns to where the stack pointer leads.
    pub fn leave(&mut self) -> Result<(), End> {
        self.registers.ip = self.pop()?;
        W::returned(self);
        Ok(())
    }

    fn target(&mut self, instruction: &Instruction) -> Result<u64, End> {
        match instruction.op0_kind() {
            OpKind::NearBranch64 | OpKind::NearBranch32 | OpKind::NearBranch16 => {
                Ok(instruction.near_branch_target())
            }
            _ => self.operand(instruction, 0),
        }
    }

    fn act(&mut self, instruction: &Instruction) -> Done {
        if let Some(done) = integer::act(self, instruction) {
            return done;
        }
        if let Some(done) = moves::act(self, instruction) {
            return done;
        }
        if let Some(done) = lanes::act(self, instruction) {
            return done;
        }
        if let Some(done) = floats::act(self, instruction) {
            return done;
        }
        if let Some(done) = strings::act(self, instruction) {
            return done;
        }
        if let Some(done) = x87::act(self, instruction) {
            return done;
        }
        ciphers::act(self, instruction).unwrap_or_else(|| Err(unknown(instruction)))
    }

    /// The address of the memory operand.
    pub(crate) fn address(&self, instruction: &Instruction) -> u64 {
        let of = |register: Register| match register {
            Register::None => 0,
            // The displacement is the address already.
            Register::RIP | Register::EIP => 0,
            register => self.registers.get(register),
        };
        let segment = match instruction.segment_prefix() {
            Register::FS => self.registers.fs,
            Register::GS => self.registers.gs,
            _ => 0,
        };
        let index = of(instruction.memory_index()).wrapping_mul(instruction.memory_index_scale().into());
        let sum = of(instruction.memory_base())
            .wrapping_add(index)
            .wrapping_add(instruction.memory_displacement64());
        // Registers of four bytes make an address of four bytes.
        let short = instruction.memory_base().size() == 4 || instruction.memory_index().size() == 4;
        (if short { sum & mask(32) } else { sum }).wrapping_add(segment)
    }

    /// Bytes of memory, as a number.
    pub(crate) fn load(&mut self, address: u64, size: usize) -> Result<u64, End> {
        let mut bytes = [0; 8];
        self.load_bytes(address, &mut bytes[..size.min(8)])?;
        Ok(u64::from_le_bytes(bytes))
    }

    pub(crate) fn store(&mut self, address: u64, size: usize, value: u64) -> Done {
        self.store_bytes(address, &value.to_le_bytes()[..size.min(8)])
    }

    /// Reads memory as the thread does: it is watched.
    pub fn load_bytes(&mut self, address: u64, into: &mut [u8]) -> Result<(), End> {
        self.work += into.len() as u64 / VECTOR;
        self.memory.read(address, into).ok_or(End::Fault(address))?;
        self.watch.read(&mut self.memory, address, into.len());
        Ok(())
    }

    /// Writes memory as the thread does: it is watched.
    pub fn store_bytes(&mut self, address: u64, bytes: &[u8]) -> Result<(), End> {
        self.work += bytes.len() as u64 / VECTOR;
        // What a grain holds beside the bytes that are written stays as it is: whoever reads it later reads what was there before.
        self.watch.writes(&mut self.memory, address, bytes.len());
        let changed = self.memory.write(address, bytes).ok_or(End::Fault(address))?;
        self.watch.written(address, bytes, changed);
        Ok(())
    }

    pub(crate) fn push(&mut self, value: u64) -> Done {
        let to = self.registers.general[4].wrapping_sub(8);
        self.store(to, 8, value)?;
        self.registers.general[4] = to;
        Ok(())
    }

    pub(crate) fn pop(&mut self) -> Result<u64, End> {
        let from = self.registers.general[4];
        let value = self.load(from, 8)?;
        self.registers.general[4] = from.wrapping_add(8);
        Ok(value)
    }

    /// Bits of an operand.
    pub(crate) fn bits(&self, instruction: &Instruction, operand: u32) -> u32 {
        let size = match instruction.op_kind(operand) {
            OpKind::Register => instruction.op_register(operand).size(),
            OpKind::Memory => instruction.memory_size().size(),
            _ => 8,
        };
        8 * size.min(8) as u32
    }

    /// What an operand holds: a general register, memory or a number in the code (with its sign, in 64 bits).
    pub(crate) fn operand(&mut self, instruction: &Instruction, operand: u32) -> Result<u64, End> {
        match instruction.op_kind(operand) {
            OpKind::Register if instruction.op_register(operand).is_gpr() => {
                Ok(self.registers.get(instruction.op_register(operand)))
            }
            OpKind::Memory => {
                let size = instruction.memory_size().size();
                if size > 8 {
                    return Err(unknown(instruction));
                }
                self.load(self.address(instruction), size)
            }
            OpKind::Register => Err(unknown(instruction)),
            _ => Ok(instruction.immediate(operand)),
        }
    }

    pub(crate) fn set_operand(&mut self, instruction: &Instruction, operand: u32, value: u64) -> Done {
        match instruction.op_kind(operand) {
            OpKind::Register if instruction.op_register(operand).is_gpr() => {
                self.registers.set(instruction.op_register(operand), value);
                Ok(())
            }
            OpKind::Memory => self.store(self.address(instruction), instruction.memory_size().size(), value),
            _ => Err(unknown(instruction)),
        }
    }

    /// A vector operand: a register, or as much of memory as the instruction reads, the rest zero.
    pub(crate) fn vector(&mut self, instruction: &Instruction, operand: u32) -> Result<[u128; 2], End> {
        match instruction.op_kind(operand) {
            OpKind::Register => {
                let register = instruction.op_register(operand);
                if !(register.is_xmm() || register.is_ymm()) || register.number() > 15 {
                    return Err(unknown(instruction));
                }
                let [low, high] = self.registers.vectors[register.number()];
                Ok(if register.is_ymm() { [low, high] } else { [low, 0] })
            }
            OpKind::Memory => {
                let mut bytes = [0; 32];
                let size = instruction.memory_size().size();
                let Some(part) = bytes.get_mut(..size) else { return Err(unknown(instruction)) };
                self.load_bytes(self.address(instruction), part)?;
                let half = |at: usize| bytes[at..].first_chunk().map_or(0, |half| u128::from_le_bytes(*half));
                Ok([half(0), half(16)])
            }
            _ => Err(unknown(instruction)),
        }
    }

    /// Writes a vector operand. Instructions of the older encoding leave the upper half of a register as it is, those of the newer one clear it.
    pub(crate) fn set_vector(&mut self, instruction: &Instruction, operand: u32, value: [u128; 2]) -> Done {
        match instruction.op_kind(operand) {
            OpKind::Register => {
                let register = instruction.op_register(operand);
                if !(register.is_xmm() || register.is_ymm()) || register.number() > 15 {
                    return Err(unknown(instruction));
                }
                let old = self.registers.vectors[register.number()];
                self.registers.vectors[register.number()] = match (register.is_ymm(), is_newer(instruction)) {
                    (true, _) => value,
                    (_, true) => [value[0], 0],
                    _ => [value[0], old[1]],
                };
                Ok(())
            }
            OpKind::Memory => {
                let mut bytes = [0; 32];
                bytes[..16].copy_from_slice(&value[0].to_le_bytes());
                bytes[16..].copy_from_slice(&value[1].to_le_bytes());
                let size = instruction.memory_size().size();
                let Some(part) = bytes.get(..size) else { return Err(unknown(instruction)) };
                self.store_bytes(self.address(instruction), part)
            }
            _ => Err(unknown(instruction)),
        }
    }
}

/// Encoded as AVX is.
pub(crate) fn is_newer(instruction: &Instruction) -> bool {
    instruction.encoding() == iced_x86::EncodingKind::VEX
}

pub(crate) fn unknown(instruction: &Instruction) -> End {
    End::Unknown(format!("{:?}", instruction.mnemonic()).to_lowercase(), instruction.ip())
}
