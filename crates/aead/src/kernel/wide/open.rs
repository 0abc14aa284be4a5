//! One message opened. The ciphertext is at hand at once, so each group's gaps hash that very group.

use super::group::{
    Both, Counter, Hash, HashSome, TagPad, apply, apply_last, lanes, split, split_last, whole_lanes,
};
use super::hash::Hasher;
use super::isa::Wide;
use super::registers;
use crate::kernel::Message;
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
    let (mut counter, tag_pad) = Counter::new(isa, key, nonce);
    let mut hasher = Hasher::new(isa, &key.powers, aad, text.len());
    let (mut groups, last) = split(text);
    while !groups.is_empty() {
        let blocks = counter.groups(isa, key, hasher.groups_left(isa, groups.len()));
        let powers = hasher.groups(blocks.changes.len());
        let (run, rest) = groups.split_at_mut(powers.len());
        let mut sum = hasher.sum;
        for ((group, changes), powers) in run.iter_mut().zip(blocks.changes).zip(powers) {
            let mut gap = Hash { sum, group, powers };
            let states = whole_lanes::<I, ROUNDS>(isa, key, blocks, changes, &mut gap);
            sum = gap.sum;
            apply::<I, ROUNDS>(isa, key, &states, group.as_flattened_mut());
        }
        hasher.sum = sum;
        groups = rest;
    }
    let powers = hasher.last(isa);
    let end = End { isa, key, counter, hasher, powers, tag_pad };
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
    tag_pad: TagPad<'k>,
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
        let mut gap = Both(&mut hash, &mut self.tag_pad);
        let blocks = self.counter.groups(isa, key, 1);
        let states = lanes::<I, ROUNDS>(isa, key, blocks, &blocks.changes[0], N, &mut gap);
        let sum = hash.sum;
        apply::<I, ROUNDS>(isa, key, &states, whole);
        if let Some(state) = states[..N].last() {
            apply_last::<I, ROUNDS>(isa, key, *state, last);
        }
        isa.narrow().xor(self.tag_pad.finish::<I, ROUNDS>(isa), isa.narrow().reverse(sum.reduce(isa)))
    }
}
