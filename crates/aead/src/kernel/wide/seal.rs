//! Messages sealed, alone or several: each group's gaps hash the group before.
//!
//! A message's last group is hashed and its mask made at once if it is alone ([`Alone`]), or else in the gaps of the first group
//! of the message that follows ([`InBatch`]).

use super::four;
use super::group::{
    Both, Counter, GROUP, Hash, HashSome, TagPad, apply, apply_last, lanes, split, split_last, whole_lanes,
};
use super::hash::{Hasher, Sum};
use super::isa::Wide;
use super::registers;
use crate::Packet;
use crate::kernel::Message;
use crate::kernel::group::{Gap, Mask};
use crate::kernel::isa::{Block, Isa, V};
use crate::kernel::schedule::Schedule;

/// Seals, and writes the tag; the mask as well if the sample lies within the text.
#[inline(always)]
pub(crate) fn seal<I: Wide, const ROUNDS: usize>(
    isa: I,
    key: &Schedule,
    message: Message<'_>,
    tag: &mut Block,
    mask: &mut Block,
) {
    let Message { nonce, aad, text, sample_at } = message;
    let ending = &mut Alone { tag, mask };
    One { isa, key, sample_at, ending }.seal::<ROUNDS>(nonce, aad, text);
}

/// Seals each; `alike` says that all are like the first, as far as that is known. Where the sample does not lie in the text, the
/// mask is left as it was.
#[inline(always)]
pub(crate) fn seal_batch<I: Wide, const ROUNDS: usize>(
    isa: I,
    key: &Schedule,
    mut packets: &mut [Packet<'_>],
    alike: bool,
) {
    if let Some(isa) = isa.widest() {
        packets = four::seal_alike::<ROUNDS>(isa, key, packets, alike);
    }
    if packets.is_empty() {
        return;
    }
    let (mut no_tag, mut no_mask) = ([0; 16], [0; 16]);
    let zero = isa.narrow().zero();
    let hash = HashSome { sum: Sum::zero(isa), bytes: &[], powers: &key.powers };
    let unfinished = Unfinished { hash, last: isa.zero(), tag_pad: zero, mask: None };
    let mut batch = InBatch { unfinished, reduced: zero, tag_to: &mut no_tag, mask_to: &mut no_mask };
    for Packet { nonce, aad, text, sample_at, tag, mask } in packets {
        One { isa, key, sample_at: *sample_at, ending: &mut batch }.seal::<ROUNDS>(nonce, aad, text);
        batch.tag_to = tag;
        batch.mask_to = mask;
    }
    for piece in 0..ROUNDS - 2 {
        batch.fill(isa, piece);
    }
    batch.after_gaps::<ROUNDS>(isa);
}

/// A message of which all is encrypted; its last group is not hashed.
struct Unfinished<'p, I: Wide> {
    /// The whole registers before the last.
    hash: HashSome<'p, I>,
    /// The last register of ciphertext, padded with zeros.
    last: I::W,
    tag_pad: V,
    mask: Option<Mask<'p>>,
}

impl<I: Wide> Unfinished<'_, I> {
    #[inline(always)]
    fn hash_last(&mut self, isa: I) {
        let powers = isa.blocks(&self.hash.powers[self.hash.bytes.len() / 16..]);
        self.hash.sum.add_pinned(isa, self.last, powers);
    }

    #[inline(always)]
    fn tag(&self, isa: I, reduced: V) -> V {
        isa.narrow().xor(self.tag_pad, isa.narrow().reverse(reduced))
    }
}

/// What becomes of a message's end. Its gap is that of the next message's first group.
trait Ending<'p, I: Wide>: Gap<I> {
    /// When all gaps of a first group have been filled.
    fn after_gaps<const ROUNDS: usize>(&mut self, isa: I);

    /// When a message is encrypted.
    fn end<const ROUNDS: usize>(&mut self, isa: I, message: Unfinished<'p, I>);
}

/// Ended at once.
struct Alone<'a> {
    tag: &'a mut Block,
    mask: &'a mut Block,
}

impl<I> Gap<I> for Alone<'_> {
    #[inline(always)]
    fn fill(&mut self, _isa: I, _piece: usize) {}
}

impl<I: Wide> Ending<'_, I> for Alone<'_> {
    #[inline(always)]
    fn after_gaps<const ROUNDS: usize>(&mut self, _isa: I) {}

    #[inline(always)]
    fn end<const ROUNDS: usize>(&mut self, isa: I, mut message: Unfinished<'_, I>) {
        for piece in 0..message.hash.gaps() {
            message.hash.fill(isa, piece);
        }
        message.hash_last(isa);
        if let Some(mask) = message.mask {
            isa.narrow().store(self.mask, mask.whole::<_, ROUNDS>(isa.narrow()));
        }
        isa.narrow().store(self.tag, message.tag(isa, message.hash.sum.reduce(isa)));
    }
}

/// Ended in the next one's gaps.
///
/// Changed in place and never moved: a copy would read in other widths what was just written, and wait for it.
struct InBatch<'p, I: Wide> {
    unfinished: Unfinished<'p, I>,
    reduced: V,
    tag_to: &'p mut Block,
    mask_to: &'p mut Block,
}

impl<I: Wide> Gap<I> for InBatch<'_, I> {
    #[inline(always)]
    fn fill(&mut self, isa: I, piece: usize) {
        let message = &mut self.unfinished;
        let gaps = message.hash.gaps();
        if piece < gaps {
            message.hash.fill(isa, piece);
        } else if piece == gaps {
            message.hash_last(isa);
        } else if piece == gaps + 1 {
            self.reduced = message.hash.sum.reduce(isa);
        }
        if let Some(mask) = &mut message.mask {
            mask.fill(isa.narrow(), piece);
        }
    }
}

impl<'p, I: Wide> Ending<'p, I> for InBatch<'p, I> {
    #[inline(always)]
    fn after_gaps<const ROUNDS: usize>(&mut self, isa: I) {
        let tag = self.unfinished.tag(isa, self.reduced);
        isa.narrow().store(self.tag_to, tag);
        if let Some(mask) = &self.unfinished.mask {
            isa.narrow().store(self.mask_to, mask.finish::<_, ROUNDS>(isa.narrow()));
        }
    }

    #[inline(always)]
    fn end<const ROUNDS: usize>(&mut self, _isa: I, message: Unfinished<'p, I>) {
        let to = &mut self.unfinished;
        to.hash.sum = message.hash.sum;
        to.hash.bytes = message.hash.bytes;
        to.hash.powers = message.hash.powers;
        to.last = message.last;
        to.tag_pad = message.tag_pad;
        to.mask = message.mask;
    }
}

/// A message to be sealed.
struct One<'k, 'e, I, E> {
    isa: I,
    key: &'k Schedule,
    sample_at: Option<usize>,
    ending: &'e mut E,
}

impl<'k, I: Wide, E> One<'k, '_, I, E> {
    #[inline(always)]
    fn seal<'p, const ROUNDS: usize>(self, nonce: &[u8; 12], aad: &[u8], text: &'p mut [u8])
    where
        'k: 'p,
        E: Ending<'p, I>,
    {
        let Self { isa, key, .. } = self;
        let (mut counter, tag_pad) = Counter::new(isa, key, nonce);
        let mut hasher = Hasher::new(isa, &key.powers, aad, text.len());
        let (groups, last) = split(text);
        let done = groups.as_flattened().as_flattened().len();
        let registers = last.len().div_ceil(I::WIDTH);
        if let Some((first, groups)) = groups.split_first_mut() {
            let blocks = counter.groups(isa, key, 1);
            let states = whole_lanes::<I, ROUNDS>(isa, key, blocks, &blocks.changes[0], self.ending);
            self.ending.after_gaps::<ROUNDS>(isa);
            apply::<I, ROUNDS>(isa, key, &states, first.as_flattened_mut());
            seal_groups::<I, ROUNDS>(isa, key, &mut counter, &mut hasher, first, groups);
        }
        let last = Last { one: self, counter, hasher, tag_pad, done };
        if done == 0 {
            registers!(registers, |N| last.alone::<ROUNDS, N>(text));
        } else {
            registers!(registers, |N| last.behind_groups::<ROUNDS, N>(text));
        }
    }
}

/// The groups between the first and the last: encrypts each and hashes the one before.
#[inline(always)]
fn seal_groups<I: Wide, const ROUNDS: usize>(
    isa: I,
    key: &Schedule,
    counter: &mut Counter<I>,
    hasher: &mut Hasher<'_, I>,
    first: &[Block; GROUP],
    mut groups: &mut [[Block; GROUP]],
) {
    let mut waiting = first;
    // A run of groups needs neither a new base nor a new segment.
    while !groups.is_empty() {
        let blocks = counter.groups(isa, key, hasher.groups_left(isa, groups.len()));
        let powers = hasher.groups(blocks.changes.len());
        let (run, rest) = groups.split_at_mut(powers.len());
        let mut sum = hasher.sum;
        for ((group, changes), powers) in run.iter_mut().zip(blocks.changes).zip(powers) {
            let mut gap = Hash { sum, group: waiting, powers };
            let states = whole_lanes::<I, ROUNDS>(isa, key, blocks, changes, &mut gap);
            sum = gap.sum;
            apply::<I, ROUNDS>(isa, key, &states, group.as_flattened_mut());
            waiting = group;
        }
        hasher.sum = sum;
        groups = rest;
    }
}

/// The last group of a message.
struct Last<'k, 'e, I: Wide, E> {
    one: One<'k, 'e, I, E>,
    counter: Counter<I>,
    hasher: Hasher<'k, I>,
    tag_pad: TagPad<'k>,
    /// Bytes behind us.
    done: usize,
}

impl<'k, I: Wide, E> Last<'k, '_, I, E> {
    /// `N` registers that are the whole message.
    #[inline(always)]
    fn alone<'p, const ROUNDS: usize, const N: usize>(mut self, text: &'p mut [u8])
    where
        'k: 'p,
        E: Ending<'p, I>,
    {
        let One { isa, key, .. } = self.one;
        let mut gap = Both(self.one.ending, &mut self.tag_pad);
        let blocks = self.counter.groups(isa, key, 1);
        let states = lanes::<I, ROUNDS>(isa, key, blocks, &blocks.changes[0], N, &mut gap);
        self.one.ending.after_gaps::<ROUNDS>(isa);
        self.end::<ROUNDS, N>(&states, text);
    }

    /// `N` registers behind groups of which the last is not hashed.
    #[inline(always)]
    fn behind_groups<'p, const ROUNDS: usize, const N: usize>(mut self, text: &'p mut [u8])
    where
        'k: 'p,
        E: Ending<'p, I>,
    {
        let One { isa, key, .. } = self.one;
        let powers = self.hasher.group(isa);
        let Some(group) = text[..self.done].as_chunks().0.last_chunk() else {
            unreachable!("a whole group is done");
        };
        let mut hash = Hash { sum: self.hasher.sum, group, powers };
        let mut gap = Both(&mut hash, &mut self.tag_pad);
        let blocks = self.counter.groups(isa, key, 1);
        let states = lanes::<I, ROUNDS>(isa, key, blocks, &blocks.changes[0], N, &mut gap);
        self.hasher.sum = hash.sum;
        self.end::<ROUNDS, N>(&states, text);
    }

    /// Applies `N` registers to the end of the text, and hands over.
    #[inline(always)]
    fn end<'p, const ROUNDS: usize, const N: usize>(mut self, states: &[I::W], text: &'p mut [u8])
    where
        'k: 'p,
        E: Ending<'p, I>,
    {
        let One { isa, key, sample_at, ending } = self.one;
        let (whole, end) = split_last::<I, N>(&mut text[self.done..]);
        apply::<I, ROUNDS>(isa, key, states, whole);
        let mut last = isa.zero();
        if let Some(state) = states[..N].last() {
            last = apply_last::<I, ROUNDS>(isa, key, *state, end);
        }
        let text = &*text;
        let bytes = &text[self.done..][..N.saturating_sub(1) * I::WIDTH];
        let powers = self.hasher.last(isa);
        // No closure: what is not always inlined loses the instructions.
        let mut mask = None;
        if let Some(sample) = sample_at.and_then(|at| text.get(at..)?.first_chunk()) {
            mask = Some(Mask::new(isa.narrow(), &key.header_rounds, sample));
        }
        let hash = HashSome { sum: self.hasher.sum, bytes, powers };
        let tag_pad = self.tag_pad.finish::<I, ROUNDS>(isa);
        ending.end::<ROUNDS>(isa, Unfinished { hash, last, tag_pad, mask });
    }
}
