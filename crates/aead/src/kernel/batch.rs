//! Several messages sealed under one key, each one's end stitched into the next one's beginning.
//!
//! A message alone ends with nothing for the AES unit to do: the last blocks are hashed, the sum reduced, and header
//! protection's block goes its ten rounds. Here all of that fills the gaps of the next message's first group ([`Unfinished`]).

use super::exact;
use super::ghash::{Hasher, Sum, blocks, lengths};
use super::group::{Counter, Gap, HashSome, Mask, apply, apply_last, lanes, split_last};
use super::isa::{Block, Isa, V};
use super::schedule::Schedule;
use super::single::{LEAD, ONE_GROUP, body, full_groups, seal_groups};
use crate::Packet;

/// Seals each. It makes no difference here whether they are alike.
#[inline(always)]
pub(crate) fn seal_batch<I: Isa, const ROUNDS: usize>(
    isa: I,
    key: &Schedule,
    packets: &mut [Packet<'_>],
    _alike: bool,
) {
    let (mut no_tag, mut no_mask) = ([0; 16], [0; 16]);
    let mut unfinished = Unfinished {
        sum: Sum::zero(isa),
        blocks: &[],
        partial: None,
        powers: &key.powers,
        ends: isa.zero(),
        reduced: None,
        tag_pad: isa.zero(),
        mask: None,
        tag_to: &mut no_tag,
        mask_to: &mut no_mask,
    };
    for packet in packets {
        let count = blocks(packet.text.len());
        let one = One {
            isa,
            key,
            counter: Counter::new(isa, key, &packet.nonce),
            hasher: Hasher::new(isa, &key.powers, packet.aad, count, LEAD),
            packet,
        };
        let before = &mut unfinished;
        if count <= ONE_GROUP {
            exact!(count, 0 1 2 3 4 5 6 7, |N| one.in_one_group::<ROUNDS, { N + 1 }, N>(before));
        } else {
            one.in_groups::<ROUNDS>(before, count);
        }
    }
    unfinished.finish::<I, ROUNDS>(isa);
}

/// A packet of which all blocks are encrypted; its last ones are not hashed.
///
/// Changed in place and never moved: a copy would read in other widths what was just written, and wait for it.
struct Unfinished<'p> {
    sum: Sum,
    /// Whole blocks to be hashed, up to eight.
    blocks: &'p [Block],
    /// What the text ends with, if that is no whole block: padded with zeros, its bytes reversed.
    partial: Option<V>,
    powers: &'p [V],
    /// The block of lengths.
    ends: V,
    reduced: Option<V>,
    tag_pad: V,
    mask: Option<Mask<'p>>,
    tag_to: &'p mut Block,
    mask_to: &'p mut Block,
}

impl Unfinished<'_> {
    #[inline(always)]
    fn hash_end<I: Isa>(&mut self, isa: I) {
        let mut powers = &self.powers[self.blocks.len()..];
        if let (Some(partial), Some((power, rest))) = (self.partial, powers.split_first()) {
            self.sum.add(isa, partial, *power);
            powers = rest;
        }
        self.sum.add(isa, self.ends, powers[0]);
    }

    /// What did not fit into the gaps, and writes tag and mask.
    #[inline(always)]
    fn finish_after_gaps<I: Isa, const ROUNDS: usize>(&mut self, isa: I, pieces: usize) {
        if self.blocks.len() >= pieces {
            self.hash_end(isa);
        }
        let reduced = self.reduced.unwrap_or_else(|| self.sum.reduce(isa));
        isa.store(self.tag_to, isa.xor(self.tag_pad, isa.reverse(reduced)));
        if let Some(mask) = &self.mask {
            isa.store(self.mask_to, mask.finish::<I, ROUNDS>(isa));
        }
    }

    /// All of it, with no group to hide in.
    #[inline(always)]
    fn finish<I: Isa, const ROUNDS: usize>(mut self, isa: I) {
        for piece in 0..ROUNDS - 2 {
            self.fill(isa, piece);
        }
        self.finish_after_gaps::<I, ROUNDS>(isa, ROUNDS - 2);
    }
}

impl<I: Isa> Gap<I> for Unfinished<'_> {
    #[inline(always)]
    fn fill(&mut self, isa: I, piece: usize) {
        let blocks = self.blocks.len();
        if piece < blocks {
            self.sum.add_pinned(isa, &self.blocks[piece], self.powers[piece]);
        } else if piece == blocks {
            self.hash_end(isa);
        } else if piece == blocks + 1 {
            self.reduced = Some(self.sum.reduce(isa));
        }
        if let Some(mask) = &mut self.mask {
            mask.fill(isa, piece);
        }
    }
}

/// A packet to be sealed.
struct One<'k, 'p, 't, I> {
    isa: I,
    key: &'k Schedule,
    counter: Counter,
    hasher: Hasher<'k>,
    packet: &'p mut Packet<'t>,
}

impl<'k: 'p, 'p, I: Isa> One<'k, 'p, '_, I> {
    /// A packet of `N` blocks, with `L` lanes.
    #[inline(always)]
    fn in_one_group<const ROUNDS: usize, const L: usize, const N: usize>(
        mut self,
        before: &mut Unfinished<'p>,
    ) {
        let isa = self.isa;
        let changes = self.counter.first(self.key);
        let states = lanes::<I, ROUNDS, L>(isa, self.key, &self.counter, changes, before);
        before.finish_after_gaps::<I, ROUNDS>(isa, ROUNDS - 2);
        let tag_pad = isa.last_round(states[0], self.key.rounds[ROUNDS]);
        self.end::<ROUNDS, L, N>(&states, tag_pad, 0, before);
    }

    /// A packet of more blocks than fit into one.
    #[inline(always)]
    fn in_groups<const ROUNDS: usize>(mut self, before: &mut Unfinished<'p>, count: usize) {
        let Self { isa, key, .. } = self;
        let full = full_groups(count);
        let (lead, groups) = body(self.packet.text, full);
        let changes = self.counter.first(key);
        let states = lanes::<I, ROUNDS, 7>(isa, key, &self.counter, changes, before);
        before.finish_after_gaps::<I, ROUNDS>(isa, ROUNDS - 2);
        let tag_pad = isa.last_round(states[0], key.rounds[ROUNDS]);
        apply::<I, ROUNDS>(isa, key, &states[1..], lead);
        seal_groups::<I, ROUNDS>(isa, key, &mut self.counter, &mut self.hasher, lead, groups);
        let done = LEAD + 8 * full;
        let waiting = if full == 0 { LEAD } else { 8 };
        exact!(count - done, 1 2 3 4 5 6 7 8, |N| self.last_group::<ROUNDS, N>(tag_pad, done, waiting, before));
    }

    /// The last `N` blocks of a packet of several groups.
    #[inline(always)]
    fn last_group<const ROUNDS: usize, const N: usize>(
        mut self,
        tag_pad: V,
        done: usize,
        waiting: usize,
        before: &mut Unfinished<'p>,
    ) {
        let blocks = &self.packet.text.as_chunks::<16>().0[done - waiting..done];
        let mut gap = HashSome { sum: self.hasher.sum, blocks, powers: self.hasher.rest(), mask: None };
        let changes = self.counter.last(self.isa, self.key);
        let states = lanes::<I, ROUNDS, N>(self.isa, self.key, &self.counter, changes, &mut gap);
        self.hasher.sum = gap.sum;
        self.hasher.skip(waiting);
        self.end::<ROUNDS, N, N>(&states, tag_pad, done, before);
    }

    /// Applies the last `N` of the lanes to the text from block `done` on, and leaves the rest to the packet that follows.
    #[inline(always)]
    fn end<const ROUNDS: usize, const L: usize, const N: usize>(
        self,
        states: &[V; L],
        tag_pad: V,
        done: usize,
        unfinished: &mut Unfinished<'p>,
    ) {
        let Self { isa, key, hasher, packet, .. } = self;
        let Packet { aad, text, sample_at, tag, mask, .. } = packet;
        let ends = lengths(isa, aad.len(), text.len());
        let (whole, last) = split_last::<N>(&mut text[done * 16..]);
        let states = &states[L - N..];
        apply::<I, ROUNDS>(isa, key, states, whole);
        let mut partial = None;
        if let Some(state) = states.last() {
            let cipher = apply_last::<I, ROUNDS>(isa, key, *state, last);
            if last.len() < 16 {
                partial = Some(isa.reverse(cipher));
            }
        }
        let sample = sample_at.and_then(|at| text.get(at..)?.first_chunk());
        unfinished.sum = hasher.sum;
        unfinished.blocks = text[done * 16..].as_chunks().0;
        unfinished.partial = partial;
        unfinished.powers = hasher.rest();
        unfinished.ends = ends;
        unfinished.reduced = None;
        unfinished.tag_pad = tag_pad;
        unfinished.mask = sample.map(|sample| Mask::new(isa, &key.header_rounds, sample));
        unfinished.tag_to = tag;
        unfinished.mask_to = mask;
    }
}
