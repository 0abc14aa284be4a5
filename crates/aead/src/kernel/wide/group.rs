//! A group of up to sixteen counter blocks encrypted side by side, with other work in the gaps: as [`crate::kernel::group`], in
//! registers of two or four blocks.

use super::hash::Sum;
use super::isa::Wide;
use crate::kernel::aes::MAX_KEYS;
use crate::kernel::group::Gap;
use crate::kernel::isa::{Block, Isa, V, pin, reread};
use crate::kernel::schedule::Schedule;

/// Blocks in a group: eight registers of two, or four of four.
pub(super) const GROUP: usize = 16;

/// Hashes a group.
pub(super) struct Hash<'a, I: Wide> {
    pub(super) sum: Sum<I>,
    pub(super) group: &'a [Block; GROUP],
    pub(super) powers: &'a [V; GROUP],
}

impl<I: Wide> Gap<I> for Hash<'_, I> {
    #[inline(always)]
    fn fill(&mut self, isa: I, piece: usize) {
        // Two registers at a time, spread over eight gaps.
        if piece < 8 && piece.is_multiple_of(I::LANES) {
            let mut all = HashSome { sum: self.sum, bytes: self.group.as_flattened(), powers: self.powers };
            all.fill(isa, piece / I::LANES);
            self.sum = all.sum;
        }
    }
}

/// Hashes up to eight whole registers of bytes, two a gap.
pub(super) struct HashSome<'a, I: Wide> {
    pub(super) sum: Sum<I>,
    pub(super) bytes: &'a [u8],
    pub(super) powers: &'a [V],
}

impl<I: Wide> HashSome<'_, I> {
    /// How many gaps it fills.
    #[inline(always)]
    pub(super) fn gaps(&self) -> usize {
        self.bytes.len().div_ceil(2 * I::WIDTH)
    }
}

impl<I: Wide> Gap<I> for HashSome<'_, I> {
    #[inline(always)]
    fn fill(&mut self, isa: I, piece: usize) {
        let at = 2 * piece;
        if at >= GROUP / I::LANES || at * I::WIDTH >= self.bytes.len() {
            return;
        }
        let bytes = &self.bytes[at * I::WIDTH..];
        let powers = &self.powers[at * I::LANES..];
        let (first, rest) = bytes.split_at(I::WIDTH);
        let one = (isa.load(first), isa.blocks(powers));
        if rest.is_empty() {
            self.sum.add_pinned(isa, one.0, one.1);
        } else {
            let other = (isa.load(&rest[..I::WIDTH]), isa.blocks(&powers[I::LANES..]));
            self.sum.add_two_pinned(isa, one, other);
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

/// The block that the tag is encrypted with on its way through AES, round 1 behind it.
#[derive(Clone, Copy)]
pub(super) struct TagPad<'k> {
    state: V,
    keys: &'k [V; MAX_KEYS],
}

impl TagPad<'_> {
    #[inline(always)]
    pub(super) fn finish<I: Wide, const ROUNDS: usize>(&self, isa: I) -> V {
        isa.narrow().last_round(self.state, self.keys[ROUNDS])
    }
}

impl<I: Wide> Gap<I> for TagPad<'_> {
    #[inline(always)]
    fn fill(&mut self, isa: I, piece: usize) {
        self.state = pin(isa.narrow().round(self.state, self.keys[piece + 2]));
    }
}

/// The counter blocks of one message, from round 1 on.
///
/// The text begins at counter 2, so of each sixteenth group the last two blocks belong to the next 256, which have another base.
#[derive(Clone, Copy)]
pub(super) struct Counter<I: Wide> {
    nonce: V,
    /// After round 1, with the last byte of the counter 0.
    base: I::W,
    /// The counter of that base, and of the next.
    begin: u32,
    /// Groups of this base behind us, up to sixteen.
    done: usize,
}

/// Groups that begin with one base.
const GROUPS_OF_BASE: usize = 256 / GROUP;

/// Groups of counter blocks on their way: what tells the blocks apart, and what they have in common.
#[derive(Clone, Copy)]
pub(super) struct Blocks<'k, I: Wide> {
    pub(super) changes: &'k [[V; GROUP]],
    base: I::W,
    /// Of a group's last register.
    last_base: I::W,
}

impl<I: Wide> Counter<I> {
    /// Begins at 1: gives the block that the tag is encrypted with, of which the first round is done (SP 800-38D, section 7.1,
    /// step 2).
    #[inline(always)]
    pub(super) fn new<'k>(isa: I, key: &'k Schedule, nonce: &[u8; 12]) -> (Self, TagPad<'k>) {
        let nonce = isa.narrow().nonce(nonce);
        let base = after_round_1(isa, key, nonce, 0);
        let tag_pad = TagPad { state: isa.narrow().xor(base, key.first_states[1]), keys: &key.rounds };
        (Self { nonce, base: isa.broadcast(&base), begin: 0, done: 0 }, tag_pad)
    }

    /// The next groups: as many as have the same bases, up to `most`.
    #[inline(always)]
    pub(super) fn groups<'k>(&mut self, isa: I, key: &'k Schedule, most: usize) -> Blocks<'k, I> {
        if self.done == GROUPS_OF_BASE {
            self.begin = self.begin.wrapping_add(256);
            self.base = self.base_of(isa, key, self.begin);
            self.done = 0;
        }
        let groups = &key.first_states[2..].as_chunks().0[self.done..];
        let (most, last_base) = if self.done == GROUPS_OF_BASE - 1 {
            let next = self.base_of(isa, key, self.begin.wrapping_add(256));
            (most, isa.but_last_two_blocks(self.base, next))
        } else {
            (most.min(groups.len() - 1), self.base)
        };
        let changes = &groups[..most.min(groups.len())];
        self.done += changes.len();
        Blocks { changes, base: self.base, last_base }
    }

    #[inline(always)]
    fn base_of(&self, isa: I, key: &Schedule, counter: u32) -> I::W {
        isa.broadcast(&after_round_1(isa, key, self.nonce, counter))
    }
}

/// A counter block after round 1.
#[inline(always)]
fn after_round_1<I: Wide>(isa: I, key: &Schedule, nonce: V, counter: u32) -> V {
    let isa = isa.narrow();
    let block = isa.xor(nonce, isa.halves(0, u64::from(counter.swap_bytes()) << 32));
    isa.round(isa.xor(block, key.rounds[0]), key.rounds[1])
}

/// Registers in a group at most.
pub(super) const MOST: usize = 8;

/// The first `count` registers of counter blocks, encrypted but for the last round. The rest of what it gives means nothing.
#[inline(always)]
pub(super) fn lanes<I: Wide, const ROUNDS: usize>(
    isa: I,
    key: &Schedule,
    blocks: Blocks<'_, I>,
    changes: &[V; GROUP],
    count: usize,
    gap: &mut impl Gap<I>,
) -> [I::W; MOST] {
    let keys = reread(&key.rounds);
    let mut states = [isa.zero(); MOST];
    for (at, state) in states[..count].iter_mut().enumerate() {
        let base = if at == GROUP / I::LANES - 1 { blocks.last_base } else { blocks.base };
        *state = isa.xor(base, isa.blocks(&changes[at * I::LANES..]));
    }
    // Written out, since LLVM leaves some as loops otherwise.
    macro_rules! rounds {
        ($($round:literal)+) => {$(
            if $round < ROUNDS {
                let key = isa.broadcast(&keys[$round]);
                for state in &mut states[..count] {
                    *state = isa.pin(isa.round(*state, key));
                }
                gap.fill(isa, $round - 2);
            }
        )+};
    }
    rounds!(2 3 4 5 6 7 8 9 10 11 12 13);
    states
}

/// A whole group encrypted but for the last round.
#[inline(always)]
pub(super) fn whole_lanes<I: Wide, const ROUNDS: usize>(
    isa: I,
    key: &Schedule,
    blocks: Blocks<'_, I>,
    changes: &[V; GROUP],
    gap: &mut impl Gap<I>,
) -> [I::W; MOST] {
    lanes::<I, ROUNDS>(isa, key, blocks, changes, GROUP / I::LANES, gap)
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
