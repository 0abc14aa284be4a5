//! A group of up to eight counter blocks encrypted side by side, with other work in the gaps.
//!
//! This is the heart: the AES unit gets an instruction whenever it can take one, and everything else (GHASH, the end of the
//! packet before, header protection) is a [`Gap`] that is given a piece of its work after each round.

use super::aes::MAX_KEYS;
use super::ghash::Sum;
use super::isa::{Block, Isa, V, pin, reread};
use super::schedule::Schedule;

/// Work to be done between the rounds of a group.
pub(crate) trait Gap<I> {
    /// Does piece `piece` of the work: 0, 1, … up to the rounds less three.
    fn fill(&mut self, isa: I, piece: usize);
}

/// Nothing to do meanwhile.
pub(crate) struct Idle;

impl<I> Gap<I> for Idle {
    #[inline(always)]
    fn fill(&mut self, _isa: I, _piece: usize) {}
}

/// Hashes `N` blocks, one a gap.
pub(crate) struct Hash<'a, const N: usize> {
    pub(crate) sum: Sum,
    pub(crate) blocks: &'a [Block; N],
    pub(crate) powers: &'a [V; N],
}

impl<I: Isa, const N: usize> Gap<I> for Hash<'_, N> {
    #[inline(always)]
    fn fill(&mut self, isa: I, piece: usize) {
        if piece < N {
            self.sum.add_pinned(isa, &self.blocks[piece], self.powers[piece]);
        }
    }
}

/// Hashes up to eight blocks, one a gap, and encrypts a block of header protection's sample if there is one.
pub(crate) struct HashSome<'a> {
    pub(crate) sum: Sum,
    pub(crate) blocks: &'a [Block],
    pub(crate) powers: &'a [V],
    pub(crate) mask: Option<Mask<'a>>,
}

impl<I: Isa> Gap<I> for HashSome<'_> {
    #[inline(always)]
    fn fill(&mut self, isa: I, piece: usize) {
        if let (Some(block), Some(power)) = (self.blocks.get(piece), self.powers.get(piece)) {
            self.sum.add_pinned(isa, block, *power);
        }
        if let Some(mask) = &mut self.mask {
            mask.fill(isa, piece);
        }
    }
}

/// Header protection's AES block on its way, a round a gap.
#[derive(Clone, Copy)]
pub(crate) struct Mask<'k> {
    pub(crate) state: V,
    pub(crate) keys: &'k [V; MAX_KEYS],
}

impl<'k> Mask<'k> {
    #[inline(always)]
    pub(crate) fn new<I: Isa>(isa: I, keys: &'k [V; MAX_KEYS], sample: &Block) -> Self {
        Self::of_block(isa, keys, isa.load(sample))
    }

    /// As [`Mask::new`], of a block in a register.
    #[inline(always)]
    pub(crate) fn of_block<I: Isa>(isa: I, keys: &'k [V; MAX_KEYS], block: V) -> Self {
        Self { state: isa.xor(block, keys[0]), keys }
    }

    #[inline(always)]
    pub(crate) fn fill<I: Isa>(&mut self, isa: I, piece: usize) {
        self.state = pin(isa.round(self.state, self.keys[piece + 1]));
    }

    /// All at once, if nothing was done yet.
    #[inline(always)]
    pub(crate) fn whole<I: Isa, const ROUNDS: usize>(mut self, isa: I) -> V {
        for piece in 0..ROUNDS - 2 {
            self.fill(isa, piece);
        }
        self.finish::<I, ROUNDS>(isa)
    }

    /// The rounds for which a group has no gap.
    #[inline(always)]
    pub(crate) fn finish<I: Isa, const ROUNDS: usize>(&self, isa: I) -> V {
        isa.last_round(isa.round(self.state, self.keys[ROUNDS - 1]), self.keys[ROUNDS])
    }
}

/// The counter blocks of one message.
#[derive(Clone, Copy)]
pub(crate) struct Counter {
    nonce: V,
    /// After round 1, with the last byte of the counter 0.
    base: V,
    /// Of the next block: 1, and then multiples of eight.
    next: u32,
}

impl Counter {
    /// Begins at 1: the block that the tag is encrypted with (SP 800-38D, section 7.1, step 2).
    #[inline(always)]
    pub(crate) fn new<I: Isa>(isa: I, key: &Schedule, nonce: &[u8; 12]) -> Self {
        let nonce = isa.load_partial(nonce);
        let mut counter = Self { nonce, base: nonce, next: 0 };
        counter.rebase(isa, key);
        counter.next = 1;
        counter
    }

    /// Makes the base anew, when the last byte of the counter has come to 0.
    #[inline(always)]
    fn rebase<I: Isa>(&mut self, isa: I, key: &Schedule) {
        let high = isa.halves(0, u64::from(self.next.swap_bytes()) << 32);
        let block = isa.xor3(self.nonce, high, key.rounds[0]);
        self.base = isa.round(block, key.rounds[1]);
    }

    /// What tells the first `L` blocks apart.
    #[inline(always)]
    pub(crate) fn first<'k, const L: usize>(&mut self, key: &'k Schedule) -> &'k [V; L] {
        self.next = 8;
        match key.first_states[1..].first_chunk() {
            Some(changes) => changes,
            None => unreachable!("a group has at most eight lanes"),
        }
    }

    /// How many groups of eight are left of this base, or the next one if none are.
    #[inline(always)]
    pub(crate) fn groups_of_base(&self) -> usize {
        (256 - (self.next as usize & 0xff)) / 8
    }

    /// What tells the blocks of the next groups of eight apart: as many groups as have one base, up to `most`.
    #[inline(always)]
    pub(crate) fn groups<'k, I: Isa>(&mut self, isa: I, key: &'k Schedule, most: usize) -> &'k [[V; 8]] {
        if self.next & 0xff == 0 {
            self.rebase(isa, key);
        }
        let groups = &key.first_states[..256].as_chunks().0[(self.next as usize & 0xff) / 8..];
        let groups = &groups[..most.min(groups.len())];
        self.next = self.next.wrapping_add(8 * groups.len() as u32);
        groups
    }

    /// What tells the last `L` blocks apart.
    #[inline(always)]
    pub(crate) fn last<'k, I: Isa, const L: usize>(&mut self, isa: I, key: &'k Schedule) -> &'k [V; L] {
        match self.groups(isa, key, 1)[0].first_chunk() {
            Some(changes) => changes,
            None => unreachable!("a group has at most eight lanes"),
        }
    }
}

/// `L` counter blocks encrypted but for the last round.
#[inline(always)]
pub(crate) fn lanes<I: Isa, const ROUNDS: usize, const L: usize>(
    isa: I,
    key: &Schedule,
    counter: &Counter,
    changes: &[V; L],
    gap: &mut impl Gap<I>,
) -> [V; L] {
    let keys = reread(&key.rounds);
    let mut states = [isa.zero(); L];
    for (state, change) in states.iter_mut().zip(changes) {
        *state = isa.xor(counter.base, *change);
    }
    // Written out, since LLVM leaves some as loops otherwise.
    macro_rules! rounds {
        ($($round:literal)+) => {$(
            if $round < ROUNDS {
                for state in &mut states {
                    *state = pin(isa.round(*state, keys[$round]));
                }
                gap.fill(isa, $round - 2);
            }
        )+};
    }
    rounds!(2 3 4 5 6 7 8 9 10 11 12 13);
    states
}

/// Encrypts or decrypts whole blocks in place.
#[inline(always)]
pub(crate) fn apply<I: Isa, const ROUNDS: usize>(isa: I, key: &Schedule, states: &[V], blocks: &mut [Block]) {
    for (state, block) in states.iter().zip(blocks) {
        apply_one::<I, ROUNDS>(isa, key, *state, block);
    }
}

/// Encrypts or decrypts a block in place: the text joins the last round key, so that the last round does both.
/// Gives what it wrote.
#[inline(always)]
pub(crate) fn apply_one<I: Isa, const ROUNDS: usize>(
    isa: I,
    key: &Schedule,
    state: V,
    block: &mut Block,
) -> V {
    let out = isa.last_round(state, isa.xor(key.rounds[ROUNDS], isa.load(block)));
    isa.store(block, out);
    out
}

/// The last `N` blocks of a text: those that are whole in any case, and the last, which may be partial.
#[inline(always)]
pub(crate) fn split_last<const N: usize>(text: &mut [u8]) -> (&mut [Block], &mut [u8]) {
    let (whole, last) = text.split_at_mut(16 * N.saturating_sub(1));
    (whole.as_chunks_mut().0, last)
}

/// As [`apply_one`], of one to sixteen bytes.
#[inline(always)]
pub(crate) fn apply_last<I: Isa, const ROUNDS: usize>(
    isa: I,
    key: &Schedule,
    state: V,
    bytes: &mut [u8],
) -> V {
    match bytes.first_chunk_mut() {
        Some(block) => apply_one::<I, ROUNDS>(isa, key, state, block),
        None => apply_partial::<I, ROUNDS>(isa, key, state, bytes),
    }
}

/// As [`apply_one`], of one to fifteen bytes; zeros behind them in what it gives.
#[inline(always)]
fn apply_partial<I: Isa, const ROUNDS: usize>(isa: I, key: &Schedule, state: V, bytes: &mut [u8]) -> V {
    let out = isa.last_round(state, isa.xor(key.rounds[ROUNDS], isa.load_partial(bytes)));
    isa.store_partial(bytes, out);
    isa.keep(out, bytes.len())
}
