//! A group of up to sixteen counter blocks encrypted side by side, with other work in the gaps: as [`crate::kernel::group`], in
//! registers of two or four blocks.

use super::hash::Sum;
use super::isa::Wide;
use crate::kernel::group::{Gap, Mask};
use crate::kernel::isa::{Block, Isa, V, reread};
use crate::kernel::schedule::Schedule;

/// Blocks in a group: eight registers of two, or four of four.
pub(super) const GROUP: usize = 16;

/// Hashes a group, a register a gap.
pub(super) struct Hash<'a, I: Wide> {
    pub(super) sum: Sum<I>,
    pub(super) group: &'a [Block; GROUP],
    pub(super) powers: &'a [V; GROUP],
}

impl<I: Wide> Gap<I> for Hash<'_, I> {
    #[inline(always)]
    fn fill(&mut self, isa: I, piece: usize) {
        // Spread over eight gaps.
        let (at, off) = (piece * 2 / I::LANES, piece * 2 % I::LANES);
        if piece < 8 && off == 0 {
            let from = at * I::LANES;
            let blocks = isa.load(&self.group.as_flattened()[from * 16..][..I::WIDTH]);
            self.sum.add_pinned(isa, blocks, isa.blocks(&self.powers[from..]));
        }
    }
}

/// Hashes up to eight whole registers of bytes, one a gap.
pub(super) struct HashSome<'a, I: Wide> {
    pub(super) sum: Sum<I>,
    pub(super) bytes: &'a [u8],
    pub(super) powers: &'a [V],
}

impl<I: Wide> Gap<I> for HashSome<'_, I> {
    #[inline(always)]
    fn fill(&mut self, isa: I, piece: usize) {
        if piece < GROUP / I::LANES && piece < self.bytes.len() / I::WIDTH {
            let blocks = isa.load(&self.bytes[piece * I::WIDTH..][..I::WIDTH]);
            self.sum.add_pinned(isa, blocks, isa.blocks(&self.powers[piece * I::LANES..]));
        }
    }
}

/// Two kinds of work at once.
pub(super) struct Both<'a, A, B>(pub(super) &'a mut A, pub(super) &'a mut B);

impl<I: Copy, A: Gap<I>, B: Gap<I>> Gap<I> for Both<'_, A, B> {
    #[inline(always)]
    fn fill(&mut self, isa: I, piece: usize) {
        self.0.fill(isa, piece);
        self.1.fill(isa, piece);
    }
}

/// One block on its way through AES.
impl<I: Wide> Gap<I> for Mask<'_> {
    #[inline(always)]
    fn fill(&mut self, isa: I, piece: usize) {
        Mask::fill(self, isa.narrow(), piece);
    }
}

/// The counter blocks of one message's text.
#[derive(Clone, Copy)]
pub(super) struct Counter<I: Wide> {
    /// Of the next register; the number not yet in GCM's order.
    next: I::W,
}

impl<I: Wide> Counter<I> {
    /// Begins at 2, and gives the block before with which the tag is encrypted (SP 800-38D, section 7.1, step 2).
    #[inline(always)]
    pub(super) fn new(isa: I, nonce: &[u8; 12]) -> (Self, V) {
        let [a, b, c, d, e, f, g, h, i, j, k, l] = *nonce;
        let low = u64::from_le_bytes([a, b, c, d, e, f, g, h]);
        let high = u64::from(u32::from_le_bytes([i, j, k, l]));
        let tags = isa.narrow().halves(low, high | 1 << 56);
        (Self { next: isa.counters(isa.narrow().halves(low, high), 2) }, tags)
    }

    #[inline(always)]
    fn take(&mut self, isa: I) -> I::W {
        let blocks = isa.counter_blocks(self.next);
        self.next = isa.count_on(self.next, I::LANES as u32);
        blocks
    }
}

/// Registers in a group at most.
pub(super) const MOST: usize = 8;

/// The first `count` registers of counter blocks, encrypted but for the last round. The rest of what it gives means nothing.
#[inline(always)]
pub(super) fn lanes<I: Wide, const ROUNDS: usize>(
    isa: I,
    key: &Schedule,
    counter: &mut Counter<I>,
    count: usize,
    gap: &mut impl Gap<I>,
) -> [I::W; MOST] {
    let keys = reread(&key.rounds);
    let first = isa.broadcast(&keys[0]);
    let mut states = [isa.zero(); MOST];
    for state in &mut states[..count] {
        *state = isa.xor(counter.take(isa), first);
    }
    // Written out, since LLVM leaves some as loops otherwise.
    macro_rules! rounds {
        ($($round:literal)+) => {$(
            if $round < ROUNDS {
                let key = isa.broadcast(&keys[$round]);
                for state in &mut states[..count] {
                    *state = isa.pin(isa.round(*state, key));
                }
                gap.fill(isa, $round - 1);
            }
        )+};
    }
    rounds!(1 2 3 4 5 6 7 8 9 10 11 12 13);
    states
}

/// A whole group encrypted but for the last round.
#[inline(always)]
pub(super) fn whole_lanes<I: Wide, const ROUNDS: usize>(
    isa: I,
    key: &Schedule,
    counter: &mut Counter<I>,
    gap: &mut impl Gap<I>,
) -> [I::W; MOST] {
    lanes::<I, ROUNDS>(isa, key, counter, GROUP / I::LANES, gap)
}

/// Encrypts or decrypts whole registers of text in place: the text joins the last round key, so that the last round does both.
#[inline(always)]
pub(super) fn apply<I: Wide, const ROUNDS: usize>(isa: I, key: &Schedule, states: &[I::W], text: &mut [u8]) {
    let last = isa.broadcast(&key.rounds[ROUNDS]);
    for (state, bytes) in states.iter().zip(text.chunks_exact_mut(I::WIDTH)) {
        isa.store(bytes, isa.last_round(*state, isa.xor(last, isa.load(bytes))));
    }
}

/// As [`apply`], of up to a register. Gives what it wrote, with zeros behind.
#[inline(always)]
pub(super) fn apply_last<I: Wide, const ROUNDS: usize>(
    isa: I,
    key: &Schedule,
    state: I::W,
    bytes: &mut [u8],
) -> I::W {
    let last = isa.broadcast(&key.rounds[ROUNDS]);
    if bytes.len() == I::WIDTH {
        let out = isa.last_round(state, isa.xor(last, isa.load(bytes)));
        isa.store(bytes, out);
        return out;
    }
    let out = isa.last_round(state, isa.xor(last, isa.load_partial(bytes)));
    isa.store_partial(bytes, out);
    isa.keep(out, bytes.len())
}

/// The whole groups before the last, and the last: one to 256 bytes, or none of an empty text.
#[inline(always)]
pub(super) fn split(text: &mut [u8]) -> (&mut [[Block; GROUP]], &mut [u8]) {
    let whole = text.len().saturating_sub(1) / (16 * GROUP);
    let (groups, last) = text.split_at_mut(whole * 16 * GROUP);
    (groups.as_chunks_mut().0.as_chunks_mut().0, last)
}

/// The whole registers before the last of `N`, and the last.
#[inline(always)]
pub(super) fn split_last<I: Wide, const N: usize>(text: &mut [u8]) -> (&mut [u8], &mut [u8]) {
    text.split_at_mut(N.saturating_sub(1) * I::WIDTH)
}

/// What AES makes of a block of which the gaps of a group took all rounds but the last.
#[inline(always)]
pub(super) fn finished<I: Wide, const ROUNDS: usize>(isa: I, block: &Mask<'_>) -> V {
    isa.narrow().last_round(block.state, block.keys[ROUNDS])
}
