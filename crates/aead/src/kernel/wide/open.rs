//! One message opened. The ciphertext is at hand at once, so each group's gaps hash that very group.

use super::group::{
    Both, Counter, Hash, HashSome, apply, apply_last, finished, lanes, split, split_last, whole_lanes,
};
use super::hash::Hasher;
use super::isa::Wide;
use super::registers;
use crate::kernel::Message;
use crate::kernel::group::Mask;
use crate::kernel::isa::{Block, Isa, V};
use crate::kernel::schedule::Schedule;

/// Decrypts; whether `tag` is the message's.
#[inline(always)]
pub(crate) fn open<I: Wide, const ROUNDS: usize>(
    isa: I,
    key: &Schedule,
    message: Message<'_>,
    tag: &Block,
) -> bool {
    let Message { nonce, aad, text, .. } = message;
    let (mut counter, tags_block) = Counter::new(isa, nonce);
    let mut hasher = Hasher::new(isa, &key.powers, aad, text.len());
    let (mut groups, last) = split(text);
    while !groups.is_empty() {
        let powers = hasher.groups(isa, groups.len());
        let (run, rest) = groups.split_at_mut(powers.len());
        let mut sum = hasher.sum;
        for (group, powers) in run.iter_mut().zip(powers) {
            let mut gap = Hash { sum, group, powers };
            let states = whole_lanes::<I, ROUNDS>(isa, key, &mut counter, &mut gap);
            sum = gap.sum;
            apply::<I, ROUNDS>(isa, key, &states, group.as_flattened_mut());
        }
        hasher.sum = sum;
        groups = rest;
    }
    let powers = hasher.last(isa);
    let end = End { isa, key, counter, hasher, powers, tags_block };
    let expected = registers!(last.len().div_ceil(I::WIDTH), |N| end.open::<ROUNDS, N>(last));
    isa.narrow().equal(expected, isa.narrow().load(tag))
}

/// The last group of a message.
struct End<'k, I: Wide> {
    isa: I,
    key: &'k Schedule,
    counter: Counter<I>,
    hasher: Hasher<'k, I>,
    powers: &'k [V],
    tags_block: V,
}

impl<I: Wide> End<'_, I> {
    /// Decrypts the last `N` registers, and gives the tag that the message should have.
    #[inline(always)]
    fn open<const ROUNDS: usize, const N: usize>(mut self, text: &mut [u8]) -> V {
        let Self { isa, key, powers, .. } = self;
        let (whole, last) = split_last::<I, N>(text);
        let mut hash = HashSome { sum: self.hasher.sum, bytes: whole, powers };
        if N > 0 {
            hash.sum.add(isa, isa.reverse(isa.load_partial(last)), isa.blocks(&powers[(N - 1) * I::LANES..]));
        }
        let mut tag_pad = Mask::of_block(isa.narrow(), &key.rounds, self.tags_block);
        let mut gap = Both(&mut hash, &mut tag_pad);
        let states = lanes::<I, ROUNDS>(isa, key, &mut self.counter, N, &mut gap);
        let sum = hash.sum;
        apply::<I, ROUNDS>(isa, key, &states, whole);
        if let Some(state) = states[..N].last() {
            apply_last::<I, ROUNDS>(isa, key, *state, last);
        }
        isa.narrow().xor(finished::<I, ROUNDS>(isa, &tag_pad), isa.narrow().reverse(sum.reduce(isa)))
    }
}
