//! The kernels for processors with VAES and VPCLMULQDQ, where one instruction does an AES round or a carry-less multiplication
//! of two or four blocks.
//!
//! - [`isa`]: the instructions
//! - [`hash`]: sums of products and the powers that blocks meet
//! - [`group`]: sixteen counter blocks side by side, with gaps for other work
//! - [`seal`], [`open`]: messages, alone or several
//! - [`short`]: one message of a register; [`four`], [`lanes`]: short ones that are alike, side by side
//!
//! What a key holds is [`super::schedule`]'s, as for the kernels of one block a register.
//! The tag's block, the mask's and the associated data are few and go beside the text's registers, in the gaps.

mod four;
mod group;
mod hash;
pub(super) mod isa;
mod lanes;
mod open;
mod seal;
pub(super) mod short;

use super::isa::{Block, V};
use super::schedule::{self, Schedule};
use isa::Wide;

pub(super) use open::open;
pub(super) use seal::{seal, seal_batch};

/// As [`schedule::build`].
#[inline(always)]
pub(super) fn build<I: Wide, const ROUNDS: usize>(
    isa: I,
    key: &[u8],
    header_protection_key: &[u8],
) -> Schedule {
    schedule::build::<_, ROUNDS>(isa.narrow(), key, header_protection_key)
}

/// As [`schedule::header_mask`].
#[inline(always)]
pub(super) fn header_mask<I: Wide, const ROUNDS: usize>(isa: I, key: &Schedule, sample: &Block) -> V {
    schedule::header_mask::<_, ROUNDS>(isa.narrow(), key, sample)
}

/// Calls with the constant number of registers that equals `$count`, which is at most sixteen blocks.
macro_rules! registers {
    ($count:expr, |N| $owner:ident.$method:ident::<ROUNDS, N>$arguments:tt) => {
        match $count {
            0 => $owner.$method::<ROUNDS, 0>$arguments,
            1 => $owner.$method::<ROUNDS, 1>$arguments,
            2 => $owner.$method::<ROUNDS, 2>$arguments,
            3 => $owner.$method::<ROUNDS, 3>$arguments,
            4 => $owner.$method::<ROUNDS, 4>$arguments,
            5 if I::LANES == 2 => $owner.$method::<ROUNDS, 5>$arguments,
            6 if I::LANES == 2 => $owner.$method::<ROUNDS, 6>$arguments,
            7 if I::LANES == 2 => $owner.$method::<ROUNDS, 7>$arguments,
            8 if I::LANES == 2 => $owner.$method::<ROUNDS, 8>$arguments,
            _ => unreachable!("a group has sixteen blocks"),
        }
    };
}
use registers;
