//! GHASH: sums of products in GF(2^128), with powers of the hash key computed once a key and few reductions.
//!
//! `X1·H^n + X2·H^(n-1) + … + Xn·H` needs one reduction however long it is, if the powers are at hand. [`POWERS`] of them
//! cover a packet of the usual 1.5 KB with its associated data; what is longer is taken in segments ([`Hasher`]).
//! Multiplication and reduction follow Gueron and Kounavis, "Intel Carry-Less Multiplication Instruction and its Usage for
//! Computing the GCM Mode": blocks with their bytes reversed, and the hash key multiplied by x beforehand, so that products of
//! reflected numbers need no shift. Schoolbook products (four multiplications) and not Karatsuba's three: the multiplier has
//! time where AES sets the pace, and the exclusive ors and moves around it do not.

use super::isa::{Block, Isa, V, pin_together};

/// Powers of the hash key held: H^128 … H^1, in this order, as the blocks of a segment meet them.
pub(crate) const POWERS: usize = 128;

/// With zeros behind them, so that a register of four can be read from the first power on.
pub(crate) const HELD: usize = POWERS + 3;

/// The powers and the zeros.
pub(crate) type Powers = [V; HELD];

/// The powers alone.
#[inline(always)]
fn without_zeros(held: &Powers) -> &[V; POWERS] {
    match held.first_chunk() {
        Some(powers) => powers,
        None => unreachable!("more are held"),
    }
}

/// Segments that are not the last leave at least this many blocks, so that the stitched end of a message lies in one.
const LAST_SEGMENT: usize = 24;

/// A sum of unreduced products.
#[derive(Clone, Copy)]
pub(crate) struct Sum {
    pub(crate) low: V,
    pub(crate) high: V,
    pub(crate) middle: V,
}

impl Sum {
    #[inline(always)]
    pub(crate) fn zero<I: Isa>(isa: I) -> Self {
        Self { low: isa.zero(), high: isa.zero(), middle: isa.zero() }
    }

    /// Adds `block · power`; the block's bytes already reversed.
    #[inline(always)]
    pub(crate) fn add<I: Isa>(&mut self, isa: I, block: V, power: V) {
        self.low = isa.xor(self.low, isa.carryless::<0x00>(block, power));
        self.high = isa.xor(self.high, isa.carryless::<0x11>(block, power));
        let (a, b) = (isa.carryless::<0x01>(block, power), isa.carryless::<0x10>(block, power));
        self.middle = isa.xor3(self.middle, a, b);
    }

    /// As [`Sum::add`] of a block in memory, held in its place among the instructions around.
    #[inline(always)]
    pub(crate) fn add_pinned<I: Isa>(&mut self, isa: I, block: &Block, power: V) {
        self.add(isa, isa.reverse(isa.load(block)), power);
        pin_together(&mut self.low, &mut self.high, &mut self.middle);
    }

    /// The sum modulo x^128 + x^127 + x^126 + x^121 + 1, by folding the low half twice.
    #[inline(always)]
    pub(crate) fn reduce<I: Isa>(self, isa: I) -> V {
        let polynomial = isa.halves(1, 0xc200_0000_0000_0000);
        let mut low = isa.xor(self.low, isa.low_to_high(self.middle));
        let high = isa.xor(self.high, isa.high_to_low(self.middle));
        for _ in 0..2 {
            low = isa.xor(isa.swap_halves(low), isa.carryless::<0x10>(low, polynomial));
        }
        isa.xor(low, high)
    }
}

/// H^128 … H^1 from H, which is the zero block encrypted.
#[inline(always)]
pub(crate) fn powers<I: Isa>(isa: I, hash_key: V) -> Powers {
    let mut bytes = [0; 16];
    isa.store(&mut bytes, hash_key);
    // Times x, without a branch on the bit that falls out.
    let h = u128::from_be_bytes(bytes);
    let h = (h << 1) ^ (0_u128.wrapping_sub(h >> 127) & 0xc200_0000_0000_0000_0000_0000_0000_0001);
    let h = isa.halves(h as u64, (h >> 64) as u64);
    let mut powers = [isa.zero(); HELD];
    powers[POWERS - 1] = h;
    // Each from the one half as high and its neighbour, so that the products do not wait for one another.
    for exponent in 2..=POWERS {
        let (a, b) = (exponent / 2, exponent - exponent / 2);
        let mut product = Sum::zero(isa);
        product.add(isa, powers[POWERS - a], powers[POWERS - b]);
        powers[POWERS - exponent] = product.reduce(isa);
    }
    powers
}

/// The hash of one message on its way: the sum so far and the powers that the next blocks meet.
#[derive(Clone, Copy)]
pub(crate) struct Hasher<'k> {
    pub(crate) sum: Sum,
    all: &'k [V; POWERS],
    /// Of the current segment.
    powers: &'k [V],
    /// Blocks to come, with that of the lengths.
    left: usize,
}

impl<'k> Hasher<'k> {
    /// Hashes `aad`, with `count` blocks of ciphertext and one of lengths to come, of which the first `lead` (fewer than
    /// eight) are a group, and all but the last are groups of eight.
    #[inline(always)]
    pub(crate) fn new<I: Isa>(isa: I, held: &'k Powers, aad: &[u8], count: usize, lead: usize) -> Self {
        let all = without_zeros(held);
        let aad_blocks = blocks(aad.len());
        let left = count + 1;
        let mut hasher = Self { sum: Sum::zero(isa), all, powers: all, left };
        if aad_blocks + left <= POWERS {
            hasher.powers = &all[POWERS - left - aad_blocks..];
            hasher.add_padded(isa, aad);
        } else {
            hasher.begin_long(isa, aad, lead);
        }
        hasher
    }

    /// Where the powers do not reach over associated data and ciphertext together.
    #[inline(always)]
    fn begin_long<I: Isa>(&mut self, isa: I, aad: &[u8], lead: usize) {
        for segment in aad.chunks(POWERS * 16) {
            self.continue_from(isa, segment.len().div_ceil(16));
            self.add_padded(isa, segment);
        }
        let segment = match self.left {
            left @ ..=POWERS => left,
            left if left < POWERS + LAST_SEGMENT => POWERS - LAST_SEGMENT - 8 + lead,
            _ => POWERS - 8 + lead,
        };
        self.continue_from(isa, segment);
    }

    /// Begins a segment of `blocks` blocks: what was hashed so far is reduced and joins as if it were a part of its first.
    #[inline(always)]
    fn continue_from<I: Isa>(&mut self, isa: I, blocks: usize) {
        let so_far = self.sum.reduce(isa);
        self.powers = &self.all[POWERS - blocks..];
        self.sum = Sum::zero(isa);
        self.sum.add(isa, so_far, self.powers[0]);
    }

    /// Bytes up to the end of the associated data, padded with zeros to whole blocks.
    #[inline(always)]
    fn add_padded<I: Isa>(&mut self, isa: I, bytes: &[u8]) {
        let (whole, rest) = bytes.as_chunks::<16>();
        let (powers, mut after) = self.powers.split_at(whole.len());
        for (block, power) in whole.iter().zip(powers) {
            self.sum.add(isa, isa.reverse(isa.load(block)), *power);
        }
        if let (false, Some((power, behind))) = (rest.is_empty(), after.split_first()) {
            self.sum.add(isa, isa.reverse(isa.load_partial(rest)), *power);
            after = behind;
        }
        self.powers = after;
    }

    /// Powers for the first group.
    #[inline(always)]
    pub(crate) fn first<const N: usize>(&mut self) -> &'k [V; N] {
        self.left -= N;
        match self.powers.split_first_chunk() {
            Some((taken, rest)) => {
                self.powers = rest;
                taken
            }
            None => unreachable!("the first segment begins with the first group"),
        }
    }

    /// Powers for the next groups of eight: as many as are in one segment, up to `most`. Begins a new segment where one has
    /// ended, which changes the sum.
    #[inline(always)]
    pub(crate) fn groups<I: Isa>(&mut self, isa: I, most: usize) -> &'k [[V; 8]] {
        if self.powers.is_empty() {
            let segment = match self.left {
                left @ ..=POWERS => left,
                left if left < POWERS + LAST_SEGMENT => POWERS - LAST_SEGMENT,
                _ => POWERS,
            };
            self.continue_from(isa, segment);
        }
        let groups = self.powers.as_chunks().0;
        let groups = &groups[..most.min(groups.len())];
        self.skip(8 * groups.len());
        groups
    }

    /// Goes on behind the next `count` blocks, which someone else hashes.
    #[inline(always)]
    pub(crate) fn skip(&mut self, count: usize) {
        self.left -= count;
        self.powers = &self.powers[count..];
    }

    /// The powers for the last blocks of the message, which lie in one segment ([`LAST_SEGMENT`]).
    #[inline(always)]
    pub(crate) fn rest(self) -> &'k [V] {
        self.powers
    }
}

/// Blocks that so many bytes take. Lengths are far from the type's limit ([`crate::MAX_TEXT`], [`crate::MAX_AAD`]), so this does
/// without the branch of `div_ceil`.
#[inline(always)]
pub(crate) fn blocks(bytes: usize) -> usize {
    bytes.wrapping_add(15) >> 4
}

/// The block of lengths that ends GHASH's input (SP 800-38D, section 7.1, step 5), its bytes reversed.
#[inline(always)]
pub(crate) fn lengths<I: Isa>(isa: I, aad: usize, text: usize) -> V {
    isa.halves(text as u64 * 8, aad as u64 * 8)
}
