//! Instructions that move blocks between the lanes of a register, for four messages of which each has a lane: as [`super::isa`],
//! for registers of four blocks alone.

use super::isa::{Vaes512, Wide};
use crate::kernel::isa::V;
use core::arch::x86_64::*;

/// Messages side by side.
pub(super) const MESSAGES: usize = Vaes512::LANES;

/// A block for each message.
pub(super) type Four = __m512i;

impl Vaes512 {
    /// Each message's block in its lane.
    #[inline(always)]
    pub(super) fn together(self, [a, b, c, d]: [V; MESSAGES]) -> Four {
        // SAFETY: `self` proves the features.
        unsafe {
            let low = _mm256_inserti128_si256::<1>(_mm256_castsi128_si256(a), b);
            let high = _mm256_inserti128_si256::<1>(_mm256_castsi128_si256(c), d);
            _mm512_inserti64x4::<1>(_mm512_castsi256_si512(low), high)
        }
    }

    /// The blocks of the lanes.
    #[inline(always)]
    pub(super) fn apart(self, blocks: Four) -> [V; MESSAGES] {
        // SAFETY: `self` proves the features.
        unsafe {
            [
                _mm512_castsi512_si128(blocks),
                _mm512_extracti32x4_epi32::<1>(blocks),
                _mm512_extracti32x4_epi32::<2>(blocks),
                _mm512_extracti32x4_epi32::<3>(blocks),
            ]
        }
    }

    /// For each lane, a register that holds its block in every lane.
    #[inline(always)]
    pub(super) fn spread(self, blocks: Four) -> [__m512i; MESSAGES] {
        // SAFETY: `self` proves the features.
        unsafe {
            [
                _mm512_shuffle_i32x4::<0x00>(blocks, blocks),
                _mm512_shuffle_i32x4::<0x55>(blocks, blocks),
                _mm512_shuffle_i32x4::<0xaa>(blocks, blocks),
                _mm512_shuffle_i32x4::<0xff>(blocks, blocks),
            ]
        }
    }

    /// In each lane, the exclusive or of all lanes of that message's register: as [`Wide::fold`] of four at once.
    #[inline(always)]
    pub(super) fn fold_each(self, [a, b, c, d]: [__m512i; MESSAGES]) -> Four {
        // SAFETY: `self` proves the features.
        unsafe {
            let low = self.xor(_mm512_shuffle_i32x4::<0x44>(a, b), _mm512_shuffle_i32x4::<0xee>(a, b));
            let high = self.xor(_mm512_shuffle_i32x4::<0x44>(c, d), _mm512_shuffle_i32x4::<0xee>(c, d));
            self.xor(_mm512_shuffle_i32x4::<0x88>(low, high), _mm512_shuffle_i32x4::<0xdd>(low, high))
        }
    }

    /// As [`crate::kernel::isa::Isa::swap_halves`], in each lane.
    #[inline(always)]
    pub(super) fn swap_halves(self, value: Four) -> Four {
        // SAFETY: `self` proves the features.
        unsafe { _mm512_shuffle_epi32::<0x4e>(value) }
    }
}
