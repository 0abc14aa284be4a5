//! All that is computed once a key, for the kernels.

use super::aes::{self, FIRST_STATES, MAX_KEYS};
use super::ghash::{self, Powers};
use super::isa::{Block, Isa, V};
use zeroize::Zeroize;

/// Round keys, the table of round-1 caching and the powers of the hash key: about 6.6 KB, all secret, wiped on drop.
#[repr(C, align(64))]
pub(crate) struct Schedule {
    pub(crate) powers: Powers,
    pub(crate) first_states: [V; FIRST_STATES],
    pub(crate) rounds: [V; MAX_KEYS],
    pub(crate) header_rounds: [V; MAX_KEYS],
}

/// From keys of 16 or 32 bytes; that of header protection may be empty.
#[inline(always)]
pub(crate) fn build<I: Isa, const ROUNDS: usize>(
    isa: I,
    key: &[u8],
    header_protection_key: &[u8],
) -> Schedule {
    let rounds = aes::expand(isa, key);
    let hash_key = aes::encrypt::<I, ROUNDS>(isa, &rounds, isa.zero());
    let header_rounds = match header_protection_key {
        [] => [isa.zero(); MAX_KEYS],
        key => aes::expand(isa, key),
    };
    let first_states = aes::first_states(isa, rounds[0]);
    Schedule { powers: ghash::powers(isa, hash_key), first_states, rounds, header_rounds }
}

/// Header protection's mask of a sample (RFC 9001, section 5.4.3).
#[inline(always)]
pub(crate) fn header_mask<I: Isa, const ROUNDS: usize>(isa: I, key: &Schedule, sample: &Block) -> V {
    aes::encrypt::<I, ROUNDS>(isa, &key.header_rounds, isa.load(sample))
}

impl Drop for Schedule {
    fn drop(&mut self) {
        self.powers.zeroize();
        self.first_states.zeroize();
        self.rounds.zeroize();
        self.header_rounds.zeroize();
    }
}
