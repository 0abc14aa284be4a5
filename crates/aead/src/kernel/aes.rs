//! AES on one machine word of sixteen bytes: key expansion, single blocks, and the table of round-1 caching.
//!
//! Many blocks at once are [`super::group`]'s.

use super::isa::{Isa, V};

/// Round keys at most: AES-256 has fourteen rounds and one key more.
pub(crate) const MAX_KEYS: usize = 15;

/// The round keys of a key of 16 or 32 bytes (FIPS 197, section 5.2).
///
/// The last AES round does the byte substitutions: on four equal columns its ShiftRows changes nothing, and the round
/// constant rides in as its key. So there is no table and no branch on the key.
#[inline(always)]
pub(crate) fn expand<I: Isa>(isa: I, key: &[u8]) -> [V; MAX_KEYS] {
    // The bytes of the last column, in their order or rotated by one.
    const LAST_COLUMN: u32 = 0x0f0e_0d0c;
    const LAST_COLUMN_ROTATED: u32 = 0x0c0f_0e0d;
    let mut keys = [isa.zero(); MAX_KEYS];
    let (halves, _) = key.as_chunks::<16>();
    for (to, half) in keys.iter_mut().zip(halves) {
        *to = isa.load(half);
    }
    let step = halves.len();
    let mut constant: u8 = 1;
    for at in step..if step == 1 { 11 } else { 15 } {
        let column = if at % step == 0 {
            let constants = isa.broadcast_bytes(isa.word(u32::from(constant)), 0x0303_0300);
            constant = (constant << 1) ^ ((constant >> 7) * 0x1b);
            isa.last_round(isa.broadcast_bytes(keys[at - 1], LAST_COLUMN_ROTATED), constants)
        } else {
            isa.last_round(isa.broadcast_bytes(keys[at - 1], LAST_COLUMN), isa.zero())
        };
        let mut sum = keys[at - step];
        for _ in 0..3 {
            sum = isa.xor(keys[at - step], isa.up_four_bytes(sum));
        }
        keys[at] = isa.xor(sum, column);
    }
    keys
}

/// One block encrypted.
#[inline(always)]
pub(crate) fn encrypt<I: Isa, const ROUNDS: usize>(isa: I, keys: &[V; MAX_KEYS], block: V) -> V {
    let mut state = isa.xor(block, keys[0]);
    for key in &keys[1..ROUNDS] {
        state = isa.round(state, *key);
    }
    isa.last_round(state, keys[ROUNDS])
}

/// Entries of round-1 caching's table: the last two are the first two again, so that sixteen blocks from counter 242 on are
/// sixteen entries.
pub(crate) const FIRST_STATES: usize = 258;

/// Round-1 caching's table: what each last counter byte changes in the state after round 1 ("FACE: Fast AES CTR mode
/// Encryption Techniques", TCHES 2018, section 3).
///
/// Counter blocks of which the last byte alone differs have states after round 1 that differ in the first column alone:
/// ShiftRows takes byte 15 there, MixColumns spreads it over the column. Entry `c` is that column for last byte `c`, exclusive
/// or that for last byte 0; zeros behind it make it a whole state, which is fetched and added by one instruction.
/// It depends on one byte of the first round key, so it is secret; its index is the public counter.
#[inline(always)]
pub(crate) fn first_states<I: Isa>(isa: I, first_key: V) -> [V; FIRST_STATES] {
    let zero = after_round_1(isa, first_key, 0);
    let mut states = [isa.zero(); FIRST_STATES];
    for (at, to) in states.iter_mut().enumerate() {
        *to = isa.xor(after_round_1(isa, first_key, at as u8), zero);
    }
    states
}

/// The zero block with `counter` as its last byte, after round 1 with a round key of zero.
#[inline(always)]
fn after_round_1<I: Isa>(isa: I, first_key: V, counter: u8) -> V {
    let block = isa.halves(0, u64::from(counter) << 56);
    isa.round(isa.xor(block, first_key), isa.zero())
}
