//! Registers and flags.

use crate::x87::Fractions;
use iced_x86::{ConditionCode, Register};

/// What a thread's registers hold.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Registers {
    /// rax, rcx, rdx, rbx, rsp, rbp, rsi, rdi, r8 to r15.
    pub general: [u64; 16],
    /// The next instruction.
    pub ip: u64,
    /// Flags.
    pub flags: Flags,
    /// Bases of the segments fs and gs.
    pub fs: u64,
    /// See `fs`.
    pub gs: u64,
    /// Vector registers, the lower 16 bytes first.
    pub vectors: [[u128; 2]; 16],
    /// Fractions of 80 bits.
    pub fractions: Fractions,
}

/// Flags that ordinary code looks at.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Flags {
    /// Carry.
    pub carry: bool,
    /// Parity of the lowest byte.
    pub parity: bool,
    /// Zero.
    pub zero: bool,
    /// Sign.
    pub sign: bool,
    /// Overflow.
    pub overflow: bool,
    /// Instructions that repeat go downwards.
    pub down: bool,
}

impl Flags {
    /// From the register of flags.
    pub fn of(bits: u64) -> Flags {
        let is = |bit: u32| bits >> bit & 1 == 1;
        Flags { carry: is(0), parity: is(2), zero: is(6), sign: is(7), down: is(10), overflow: is(11) }
    }

    /// As in the register of flags, all others zero.
    pub fn bits(self) -> u64 {
        let bit = |is: bool, at: u32| u64::from(is) << at;
        bit(self.carry, 0)
            | bit(self.parity, 2)
            | bit(self.zero, 6)
            | bit(self.sign, 7)
            | bit(self.down, 10)
            | bit(self.overflow, 11)
    }

    /// Zero, sign and parity of a result of `bits` bits.
    pub(crate) fn result(&mut self, result: u64, bits: u32) {
        self.zero = result & mask(bits) == 0;
        self.sign = result >> (bits - 1) & 1 == 1;
        self.parity = (result as u8).count_ones().is_multiple_of(2);
    }

    pub(crate) fn meet(self, condition: ConditionCode) -> bool {
        match condition {
            ConditionCode::None => false,
            ConditionCode::o => self.overflow,
            ConditionCode::no => !self.overflow,
            ConditionCode::b => self.carry,
            ConditionCode::ae => !self.carry,
            ConditionCode::e => self.zero,
            ConditionCode::ne => !self.zero,
            ConditionCode::be => self.carry || self.zero,
            ConditionCode::a => !self.carry && !self.zero,
            ConditionCode::s => self.sign,
            ConditionCode::ns => !self.sign,
            ConditionCode::p => self.parity,
            ConditionCode::np => !self.parity,
            ConditionCode::l => self.sign != self.overflow,
            ConditionCode::ge => self.sign == self.overflow,
            ConditionCode::le => self.zero || self.sign != self.overflow,
            ConditionCode::g => !self.zero && self.sign == self.overflow,
        }
    }
}

/// The lowest `bits` bits.
pub(crate) fn mask(bits: u32) -> u64 {
    if bits >= 64 { u64::MAX } else { (1 << bits) - 1 }
}

/// A number of `bits` bits with its sign.
pub(crate) fn signed(value: u64, bits: u32) -> i64 {
    ((value << (64 - bits)) as i64) >> (64 - bits)
}

fn is_high(register: Register) -> bool {
    matches!(register, Register::AH | Register::CH | Register::DH | Register::BH)
}

impl Registers {
    /// What a general register holds; the address of the next instruction for rip, which is in its operands already.
    pub(crate) fn get(&self, register: Register) -> u64 {
        let whole = self.general[register.full_register().number() & 15];
        let whole = if is_high(register) { whole >> 8 } else { whole };
        whole & mask(register.size() as u32 * 8)
    }

    pub(crate) fn set(&mut self, register: Register, value: u64) {
        let whole = &mut self.general[register.full_register().number() & 15];
        *whole = match register.size() {
            // The upper half becomes zero.
            8 => value,
            4 => value & mask(32),
            2 => *whole & !mask(16) | value & mask(16),
            _ if is_high(register) => *whole & !0xff00 | (value & 0xff) << 8,
            _ => *whole & !0xff | value & 0xff,
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_of_registers_are_read_and_written() {
        let mut registers = Registers::default();
        registers.set(Register::RAX, 0x1122_3344_5566_7788);
        assert_eq!(registers.get(Register::AH), 0x77);
        registers.set(Register::AH, 0xaa);
        registers.set(Register::AL, 0xbb);
        assert_eq!(registers.get(Register::RAX), 0x1122_3344_5566_aabb);
        registers.set(Register::AX, 1);
        assert_eq!(registers.get(Register::RAX), 0x1122_3344_5566_0001);
        registers.set(Register::EAX, 2);
        assert_eq!(registers.get(Register::RAX), 2);
        registers.set(Register::SIL, 3);
        registers.set(Register::R9D, u64::MAX);
        assert_eq!((registers.general[6], registers.general[9]), (3, 0xffff_ffff));
    }

    #[test]
    fn flags_are_the_same_as_bits() {
        let flags = Flags::of(0b1000_1100_0101);
        assert_eq!(
            flags,
            Flags { carry: true, parity: true, zero: true, sign: true, overflow: true, down: false }
        );
        assert_eq!(flags.bits(), 0b1000_1100_0101);
    }
}
