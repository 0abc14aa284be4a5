//! Instructions made for ciphers and checksums, which hash tables use as well: rounds of AES, products without carry, CRC-32C.

use crate::lanes::apply;
use crate::machine::{Done, Machine, Watch};
use crate::memory::Source;
use iced_x86::{Instruction, Mnemonic};

/// Runs an instruction; none if it is none of these.
pub(crate) fn act<S: Source, W: Watch<S>>(m: &mut Machine<S, W>, i: &Instruction) -> Option<Done> {
    use Mnemonic::*;
    Some(match i.mnemonic() {
        Aesenc | Vaesenc => apply(m, i, |state, key| mixed(substituted(state)) ^ key),
        Aesenclast | Vaesenclast => apply(m, i, |state, key| substituted(state) ^ key),
        Pclmulqdq | Vpclmulqdq => {
            let which = i.immediate(i.op_count() - 1) as u8;
            let half = |of: u128, upper: bool| (if upper { of >> 64 } else { of }) as u64;
            apply(m, i, |a, b| product(half(a, which & 1 == 1), half(b, which >> 4 & 1 == 1)))
        }
        Crc32 => {
            let bits = m.bits(i, 1);
            m.operand(i, 0).and_then(|old| {
                let value = m.operand(i, 1)?;
                m.set_operand(i, 0, checksum(old as u32, value, bits).into())
            })
        }
        _ => return None,
    })
}

/// A product in the field of AES, whose polynomial is x⁸ + x⁴ + x³ + x + 1.
fn times(mut a: u8, mut b: u8) -> u8 {
    let mut product = 0;
    while b != 0 {
        if b & 1 == 1 {
            product ^= a;
        }
        a = a << 1 ^ if a >> 7 == 1 { 0x1b } else { 0 };
        b >>= 1;
    }
    product
}

/// The substitution of AES: the inverse in the field (the 254th power), and what FIPS 197 adds to it.
fn substitute(byte: u8) -> u8 {
    let square = |a: u8| times(a, a);
    let mut power = byte;
    let mut inverse = 1;
    for _ in 0..7 {
        power = square(power);
        inverse = times(inverse, power);
    }
    (0..5).fold(0x63, |all, turn| all ^ inverse.rotate_left(turn))
}

/// Bytes substituted, and rows shifted.
fn substituted(state: u128) -> u128 {
    let bytes = state.to_le_bytes();
    u128::from_le_bytes(std::array::from_fn(|at| {
        let (column, row) = (at / 4, at % 4);
        substitute(bytes[(column + row) % 4 * 4 + row])
    }))
}

/// Columns mixed.
fn mixed(state: u128) -> u128 {
    let bytes = state.to_le_bytes();
    u128::from_le_bytes(std::array::from_fn(|at| {
        let of = |down: usize| bytes[at / 4 * 4 + (at + down) % 4];
        times(of(0), 2) ^ times(of(1), 3) ^ of(2) ^ of(3)
    }))
}

/// A product without carries.
fn product(a: u64, b: u64) -> u128 {
    (0..64).filter(|bit| b >> bit & 1 == 1).fold(0, |sum, bit| sum ^ u128::from(a) << bit)
}

/// CRC-32C of a number of `bits` bits behind what was summed before.
fn checksum(before: u32, value: u64, bits: u32) -> u32 {
    (0..bits).fold(before, |sum, bit| {
        let odd = (sum ^ (value >> bit) as u32) & 1 == 1;
        sum >> 1 ^ if odd { 0x82f6_3b78 } else { 0 }
    })
}
