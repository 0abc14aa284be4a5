//! GHASH on wide registers: as [`crate::kernel::ghash`], each lane with a power of its own.
//!
//! The lanes' sums are added up where a sum is reduced. The block of lengths always meets the first power, so it goes with the
//! end of the associated data, before anything is encrypted.

use super::group::GROUP;
use super::isa::Wide;
use crate::kernel::ghash::{self, POWERS, Powers};
use crate::kernel::isa::{Isa, V};

/// A sum of unreduced products in each lane.
#[derive(Clone, Copy)]
pub(super) struct Sum<I: Wide> {
    pub(super) low: I::W,
    pub(super) high: I::W,
    pub(super) middle: I::W,
}

impl<I: Wide> Sum<I> {
    #[inline(always)]
    pub(super) fn zero(isa: I) -> Self {
        Self { low: isa.zero(), high: isa.zero(), middle: isa.zero() }
    }

    /// `block · power` in each lane; the blocks' bytes already reversed.
    #[inline(always)]
    pub(super) fn product(isa: I, block: I::W, power: I::W) -> Self {
        Self {
            low: isa.carryless::<0x00>(block, power),
            high: isa.carryless::<0x11>(block, power),
            middle: isa.xor(isa.carryless::<0x01>(block, power), isa.carryless::<0x10>(block, power)),
        }
    }

    /// Adds `block · power` in each lane; the blocks' bytes already reversed.
    #[inline(always)]
    pub(super) fn add(&mut self, isa: I, block: I::W, power: I::W) {
        self.low = isa.xor(self.low, isa.carryless::<0x00>(block, power));
        self.high = isa.xor(self.high, isa.carryless::<0x11>(block, power));
        let (a, b) = (isa.carryless::<0x01>(block, power), isa.carryless::<0x10>(block, power));
        self.middle = isa.xor3(self.middle, a, b);
    }

    /// As [`Sum::add`] of blocks as they are in memory, held in its place among the instructions around.
    #[inline(always)]
    pub(super) fn add_pinned(&mut self, isa: I, blocks: I::W, power: I::W) {
        self.add(isa, isa.reverse(blocks), power);
        isa.pin_together(&mut self.low, &mut self.high, &mut self.middle);
    }

    /// As [`Sum::add_pinned`] of two: adding three at a time saves a third of the exclusive ors where one instruction does it.
    #[inline(always)]
    pub(super) fn add_two_pinned(&mut self, isa: I, one: (I::W, I::W), other: (I::W, I::W)) {
        if I::LANES == 2 {
            // No such instruction without AVX-512, and half of the registers.
            self.add(isa, isa.reverse(one.0), one.1);
            self.add_pinned(isa, other.0, other.1);
            return;
        }
        let (a, b) = (isa.reverse(one.0), isa.reverse(other.0));
        let lows = (isa.carryless::<0x00>(a, one.1), isa.carryless::<0x00>(b, other.1));
        let highs = (isa.carryless::<0x11>(a, one.1), isa.carryless::<0x11>(b, other.1));
        let middles = (isa.carryless::<0x01>(a, one.1), isa.carryless::<0x10>(a, one.1));
        self.middle = isa.xor3(self.middle, middles.0, middles.1);
        let middles = (isa.carryless::<0x01>(b, other.1), isa.carryless::<0x10>(b, other.1));
        self.middle = isa.xor3(self.middle, middles.0, middles.1);
        self.low = isa.xor3(self.low, lows.0, lows.1);
        self.high = isa.xor3(self.high, highs.0, highs.1);
        isa.pin_together(&mut self.low, &mut self.high, &mut self.middle);
    }

    /// All lanes' sum, reduced.
    #[inline(always)]
    pub(super) fn reduce(self, isa: I) -> V {
        let low = isa.fold(isa.xor(self.low, isa.low_to_high(self.middle)));
        let high = isa.fold(isa.xor(self.high, isa.high_to_low(self.middle)));
        ghash::Sum { low, high, middle: isa.narrow().zero() }.reduce(isa.narrow())
    }
}

/// The hash of one message on its way: the sum so far and which powers the next blocks of text meet.
#[derive(Clone, Copy)]
pub(super) struct Hasher<'k, I: Wide> {
    pub(super) sum: Sum<I>,
    all: &'k Powers,
    /// Index of the power that the next block meets, and of the first that belongs to no block of this segment.
    next: usize,
    end: usize,
    /// Blocks of text behind this segment.
    left: usize,
    /// The block of lengths, to be hashed when the last segment begins.
    ends: V,
}

impl<'k, I: Wide> Hasher<'k, I> {
    /// Hashes `aad` and the lengths, with a text of `length` bytes to come.
    #[inline(always)]
    pub(super) fn new(isa: I, all: &'k Powers, aad: &[u8], length: usize) -> Self {
        let ends = ghash::lengths(isa.narrow(), aad.len(), length);
        let (blocks, aad_blocks) = (ghash::blocks(length), ghash::blocks(aad.len()));
        let mut hasher = Self { sum: Sum::zero(isa), all, next: 0, end: POWERS - 1, left: blocks, ends };
        if aad_blocks + blocks < POWERS {
            hasher.next = POWERS - 1 - blocks - aad_blocks;
            hasher.left = 0;
            hasher.begin_short(isa, aad);
        } else {
            hasher.begin_long(isa, aad);
        }
        hasher
    }

    /// Where they do: mostly one register, in which case there is no sum yet to add to.
    #[inline(always)]
    fn begin_short(&mut self, isa: I, aad: &[u8]) {
        if aad.len() > I::WIDTH - 16 {
            self.add_with_ends(isa, aad);
        } else {
            let (blocks, powers) = self.with_ends(isa, aad);
            self.sum = Sum::product(isa, blocks, powers);
        }
    }

    /// Where the powers do not reach over associated data and text together.
    #[inline(always)]
    fn begin_long(&mut self, isa: I, aad: &[u8]) {
        for segment in aad.chunks(POWERS * 16) {
            self.continue_from(isa, segment.len().div_ceil(16), 0);
            for bytes in segment.chunks(I::WIDTH) {
                self.add_bytes(isa, bytes);
            }
        }
        self.next_segment(isa);
    }

    /// Begins a segment of `blocks` blocks and `more` that join later: what was hashed so far is reduced and joins as if it
    /// were a part of its first.
    #[inline(always)]
    fn continue_from(&mut self, isa: I, blocks: usize, more: usize) {
        let so_far = self.sum.reduce(isa);
        self.next = POWERS - blocks - more;
        self.end = POWERS - more;
        self.sum = Sum::zero(isa);
        self.sum.add(isa, isa.widen(so_far), self.powers(isa));
    }

    /// Begins a segment of text: the last one with all that is left, or another of whole groups.
    #[inline(always)]
    fn next_segment(&mut self, isa: I) {
        if self.left < POWERS {
            self.continue_from(isa, self.left, 1);
            self.left = 0;
            self.add_with_ends(isa, &[]);
        } else {
            let blocks = ((self.left - 1) / GROUP * GROUP).min(POWERS);
            self.continue_from(isa, blocks, 0);
            self.left -= blocks;
        }
    }

    /// The powers for the register that begins with the next block.
    #[inline(always)]
    fn powers(&self, isa: I) -> I::W {
        isa.blocks(&self.all[self.next..])
    }

    /// Up to a register of bytes, padded with zeros to whole blocks.
    #[inline(always)]
    fn add_bytes(&mut self, isa: I, bytes: &[u8]) {
        self.sum.add(isa, isa.reverse(isa.load_partial(bytes)), self.powers(isa));
        self.next += ghash::blocks(bytes.len());
    }

    /// The end of the associated data and the lengths: these in the last lane.
    #[inline(always)]
    fn add_with_ends(&mut self, isa: I, mut aad: &[u8]) {
        while aad.len() > I::WIDTH - 16 {
            let (bytes, rest) = aad.split_at(aad.len().min(I::WIDTH));
            self.add_bytes(isa, bytes);
            aad = rest;
        }
        let (blocks, powers) = self.with_ends(isa, aad);
        self.sum.add(isa, blocks, powers);
    }

    /// Less than a register of associated data with the lengths in the last lane, and the powers that they meet.
    #[inline(always)]
    fn with_ends(&mut self, isa: I, aad: &[u8]) -> (I::W, I::W) {
        let blocks = isa.with_last_lane(isa.reverse(isa.load_partial(aad)), self.ends);
        let powers = isa.with_last_lane(self.powers(isa), self.all[POWERS - 1]);
        self.next += ghash::blocks(aad.len());
        (blocks, powers)
    }

    /// How many of the next whole groups are in one segment, up to `most`. Begins a new segment where one has ended, which changes
    /// the sum.
    #[inline(always)]
    pub(super) fn groups_left(&mut self, isa: I, most: usize) -> usize {
        if self.next == self.end {
            self.next_segment(isa);
        }
        most.min((self.end - self.next) / GROUP)
    }

    /// Powers for the next `count` groups, which are in one segment ([`Hasher::groups_left`]).
    #[inline(always)]
    pub(super) fn groups(&mut self, count: usize) -> &'k [[V; GROUP]] {
        let groups = &self.all[self.next..self.end].as_chunks().0[..count];
        self.next += GROUP * count;
        groups
    }

    /// Powers for the next group.
    #[inline(always)]
    pub(super) fn group(&mut self, isa: I) -> &'k [V; GROUP] {
        let count = self.groups_left(isa, 1);
        &self.groups(count)[0]
    }

    /// Powers for the text's last blocks, up to a group, and what lies behind them. As [`Hasher::groups_left`].
    #[inline(always)]
    pub(super) fn last(&mut self, isa: I) -> &'k [V] {
        if self.left > 0 {
            self.next_segment(isa);
        }
        &self.all[self.next..]
    }
}
