//! One message sealed whose text is in one register and whose associated data and lengths are in another.
//!
//! On packets of 64 bytes, what [`super::seal`] does to find out how a message lies takes as long as its AES. Here all of that is
//! known, but how many bytes there are.

use super::hash::Sum;
use super::isa::Wide;
use crate::kernel::ghash::{POWERS, blocks, lengths};
use crate::kernel::isa::{Isa, V};
use crate::kernel::schedule::Schedule;

/// Whether a message is one of those, with a sample in the text or none.
#[inline(always)]
pub(crate) fn fits<I: Wide>(aad: &[u8], text: &[u8], sample_at: Option<usize>) -> bool {
    text.len().wrapping_sub(1) < I::WIDTH
        && aad.len() <= I::WIDTH - 16
        && sample_at.is_none_or(|at| at < text.len() && at + 16 <= text.len())
}

/// As [`super::seal::seal`], of a message that [`fits`]: gives tag and mask, which means nothing if `MASK` is not set.
#[inline(always)]
pub(crate) fn seal<I: Wide, const ROUNDS: usize, const MASK: bool>(
    isa: I,
    key: &Schedule,
    nonce: &[u8; 12],
    aad: &[u8],
    text: &mut [u8],
    sample_at: usize,
) -> (V, V) {
    // They are no longer, which the compiler does not know.
    let (aad, count) = (&aad[..aad.len().min(I::WIDTH - 16)], text.len().min(I::WIDTH));
    let text = &mut text[..count];
    let narrow = isa.narrow();
    let base = narrow.xor(narrow.nonce(nonce), key.rounds[0]);
    let base = narrow.round(base, key.rounds[1]);
    let mut tag_pad = narrow.xor(base, key.first_states[1]);
    let mut state = isa.xor(isa.broadcast(&base), isa.blocks(&key.first_states[2..]));
    for key in &key.rounds[2..ROUNDS] {
        state = isa.round(state, isa.broadcast(key));
        tag_pad = narrow.round(tag_pad, *key);
    }

    // Associated data from the first lane on and the lengths in the last, each with its power; between them are zeros.
    let text_powers = POWERS - 1 - blocks(text.len()) % POWERS;
    let powers = isa.blocks(&key.powers[(text_powers - blocks(aad.len())) % POWERS..]);
    let ends = isa.with_last_lane(isa.reverse(isa.load_partial(aad)), lengths(narrow, aad.len(), text.len()));
    let mut sum = Sum::product(isa, ends, isa.with_last_lane(powers, key.powers[POWERS - 1]));

    let last = isa.broadcast(&key.rounds[ROUNDS]);
    let out = if text.len() == I::WIDTH {
        let out = isa.last_round(state, isa.xor(last, isa.load(text)));
        isa.store(text, out);
        out
    } else {
        let out = isa.last_round(state, isa.xor(last, isa.load_partial(text)));
        isa.store_partial(text, out);
        isa.keep(out, text.len())
    };
    let mut mask = narrow.zero();
    if MASK && let Some(sample) = text[sample_at..].first_chunk() {
        let keys = &key.header_rounds;
        mask = narrow.xor(narrow.load(sample), keys[0]);
        for key in &keys[1..ROUNDS] {
            mask = narrow.round(mask, *key);
        }
        mask = narrow.last_round(mask, keys[ROUNDS]);
    }
    sum.add(isa, isa.reverse(out), isa.blocks(&key.powers[text_powers..]));
    let tag_pad = narrow.last_round(tag_pad, key.rounds[ROUNDS]);
    (narrow.xor(tag_pad, narrow.reverse(sum.reduce(isa))), mask)
}
