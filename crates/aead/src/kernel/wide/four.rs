//! Short messages of a batch sealed side by side, four or eight, where a register holds four blocks.
//!
//! What a message has one block of (that of the tag, that of the mask, associated data, the end of its hash) takes a quarter of a
//! register, so four messages share one ([`super::lanes`]), and one instruction does what took four. Texts have registers of their
//! own, as many for each. All are alike in their lengths, so that what is done by length is done once.
//! Other messages are [`super::seal`]'s.

use super::hash::Sum;
use super::isa::{Vaes512, Wide};
use super::lanes::{Four, MESSAGES};
use crate::Packet;
use crate::kernel::ghash::{self, POWERS, blocks};
use crate::kernel::isa::{Isa, V, reread};
use crate::kernel::schedule::Schedule;

type W = <Vaes512 as Wide>::W;

/// Registers of text that a message may have. On the machine of the README's table four texts of four registers took 77 ticks
/// each, and 87 one after the other. More were not tried: with five, states and sums no longer fit the 32 registers, and a message
/// longer than 256 bytes has gaps enough of its own.
const MOST: usize = 4;

/// Registers of text that a message may have for eight to go side by side: with three, their states would take 24 of 32 registers.
const MOST_OF_EIGHT: usize = 2;

/// The most bytes of associated data.
const MOST_AAD: usize = 64;

/// Seals as many as can be sealed side by side, from the first on, and gives the rest. `alike` says that all are like the first;
/// if not, four at a time are looked at. Masks of samples that do not lie within the texts are left to others.
#[inline(always)]
pub(super) fn seal_alike<'b, 'p, const ROUNDS: usize>(
    isa: Vaes512,
    key: &Schedule,
    mut packets: &'b mut [Packet<'p>],
    alike: bool,
) -> &'b mut [Packet<'p>] {
    while let Some([first, others @ ..]) = packets.first_chunk::<MESSAGES>() {
        let Some(shape) = Shape::of(first) else { return packets };
        if !alike && !others.iter().all(|other| other.is_like(first)) {
            return packets;
        }
        let registers = shape.registers();
        let eight = alike && registers <= MOST_OF_EIGHT && packets.len() >= 2 * MESSAGES;
        let (these, rest) = packets.split_at_mut(if eight { 2 * MESSAGES } else { MESSAGES });
        match these.as_chunks_mut().0 {
            [one] => {
                let these = core::array::from_mut(one);
                match registers {
                    1 => seal::<ROUNDS, 1, 1>(isa, key, shape, these),
                    2 => seal::<ROUNDS, 2, 1>(isa, key, shape, these),
                    3 => seal::<ROUNDS, 3, 1>(isa, key, shape, these),
                    _ => seal::<ROUNDS, 4, 1>(isa, key, shape, these),
                }
            }
            fours => {
                let Some(these) = fours.first_chunk_mut() else { unreachable!("eight are two fours") };
                match registers {
                    1 => seal::<ROUNDS, 1, 2>(isa, key, shape, these),
                    _ => seal::<ROUNDS, 2, 2>(isa, key, shape, these),
                }
            }
        }
        packets = rest;
    }
    packets
}

/// What messages must have in common.
#[derive(Clone, Copy)]
struct Shape {
    text: usize,
    aad: usize,
    /// As [`Packet::sample_at`], if the sample lies within the text.
    sample_at: Option<usize>,
}

impl Shape {
    /// That of a message, if it is short enough.
    #[inline(always)]
    fn of(packet: &Packet<'_>) -> Option<Self> {
        let (text, aad) = (packet.text.len(), packet.aad.len());
        let sample_at = packet.sample_at.filter(|at| at + 16 <= text);
        let short = text.wrapping_sub(1) < MOST * Vaes512::WIDTH && aad <= MOST_AAD;
        short.then_some(Self { text, aad, sample_at })
    }

    /// Registers that each text takes.
    #[inline(always)]
    fn registers(self) -> usize {
        self.text.div_ceil(Vaes512::WIDTH)
    }
}

/// For each group of four, written out, since LLVM leaves some as loops otherwise.
macro_rules! fours {
    (|$four:ident| $does:expr) => {
        let $four = 0;
        $does;
        if FOURS == 2 {
            let $four = 1;
            $does;
        }
    };
}

/// Seals one group of four or two, of messages with `N` registers of text each.
#[inline(always)]
fn seal<const ROUNDS: usize, const N: usize, const FOURS: usize>(
    isa: Vaes512,
    key: &Schedule,
    shape: Shape,
    packets: &mut [[Packet<'_>; MESSAGES]; FOURS],
) {
    let narrow = isa.narrow();
    let key = reread(key);
    let powers = &key.powers[POWERS - 1 - blocks(shape.text) - blocks(shape.aad)..];
    let (of_aad, of_text) = powers.split_at(blocks(shape.aad));
    let of_text = &of_text[..Vaes512::LANES * N];

    let (states, tag_pads) = counters::<ROUNDS, N, FOURS>(isa, key, packets);
    let mut samples = [isa.zero(); FOURS];
    let mut of_texts = [[Sum::zero(isa); MESSAGES]; FOURS];
    let texts = Texts::<N>::new::<ROUNDS>(isa, key, shape, of_text);
    fours!(|at| {
        let [a, b, c, d] = &mut packets[at];
        let states = &states[at];
        let done = if shape.text == Vaes512::WIDTH * N {
            [
                texts.seal::<true>(isa, a, &states[0]),
                texts.seal::<true>(isa, b, &states[1]),
                texts.seal::<true>(isa, c, &states[2]),
                texts.seal::<true>(isa, d, &states[3]),
            ]
        } else {
            [
                texts.seal::<false>(isa, a, &states[0]),
                texts.seal::<false>(isa, b, &states[1]),
                texts.seal::<false>(isa, c, &states[2]),
                texts.seal::<false>(isa, d, &states[3]),
            ]
        };
        let [a, b, c, d] = done;
        samples[at] = isa.together([a.1, b.1, c.1, d.1]);
        of_texts[at] = [a.0, b.0, c.0, d.0]
    });
    if shape.sample_at.is_some() {
        let masks = masks::<ROUNDS, FOURS>(isa, key, samples);
        fours!(|at| {
            let masks = isa.apart(masks[at]);
            let [a, b, c, d] = &mut packets[at];
            narrow.store(&mut a.mask, masks[0]);
            narrow.store(&mut b.mask, masks[1]);
            narrow.store(&mut c.mask, masks[2]);
            narrow.store(&mut d.mask, masks[3])
        });
    }
    // Here it fills the time that the masks take.
    let mut sums = hash_ends(isa, key, shape, of_aad, packets);
    fours!(|at| {
        add_folded(isa, &mut sums[at], of_texts[at]);
        let tags = isa.apart(isa.xor(tag_pads[at], isa.reverse(reduce(isa, sums[at]))));
        let [a, b, c, d] = &mut packets[at];
        narrow.store(&mut a.tag, tags[0]);
        narrow.store(&mut b.tag, tags[1]);
        narrow.store(&mut c.tag, tags[2]);
        narrow.store(&mut d.tag, tags[3])
    });
}

/// The counter blocks of the texts, encrypted but for the last round, and those of the tags, encrypted.
#[inline(always)]
fn counters<const ROUNDS: usize, const N: usize, const FOURS: usize>(
    isa: Vaes512,
    key: &Schedule,
    packets: &[[Packet<'_>; MESSAGES]; FOURS],
) -> ([[[W; N]; MESSAGES]; FOURS], [Four; FOURS]) {
    let narrow = isa.narrow();
    let keys = reread(&key.rounds);
    let mut states = [[[isa.zero(); N]; MESSAGES]; FOURS];
    let mut tag_pads = [isa.zero(); FOURS];
    fours!(|at| {
        let [a, b, c, d] = &packets[at];
        let nonces =
            [narrow.nonce(&a.nonce), narrow.nonce(&b.nonce), narrow.nonce(&c.nonce), narrow.nonce(&d.nonce)];
        let start = isa.xor(isa.together(nonces), isa.broadcast(&keys[0]));
        let bases = isa.round(start, isa.broadcast(&keys[1]));
        tag_pads[at] = isa.xor(bases, isa.broadcast(&key.first_states[1]));
        for (states, base) in states[at].iter_mut().zip(isa.spread(bases)) {
            for (at, state) in states.iter_mut().enumerate() {
                *state = isa.xor(base, isa.blocks(&key.first_states[2 + Vaes512::LANES * at..]));
            }
        }
    });
    // Written out, since LLVM leaves some as loops otherwise.
    macro_rules! rounds {
        ($($round:literal)+) => {$(
            if $round < ROUNDS {
                let key = isa.broadcast(&keys[$round]);
                for state in states.as_flattened_mut().as_flattened_mut() {
                    *state = isa.pin(isa.round(*state, key));
                }
                for tag_pad in &mut tag_pads {
                    *tag_pad = isa.pin(isa.round(*tag_pad, key));
                }
            }
        )+};
    }
    rounds!(2 3 4 5 6 7 8 9 10 11 12 13);
    for tag_pad in &mut tag_pads {
        *tag_pad = isa.last_round(*tag_pad, isa.broadcast(&keys[ROUNDS]));
    }
    (states, tag_pads)
}

/// Hashes lengths and associated data, a message in each lane.
#[inline(always)]
fn hash_ends<const FOURS: usize>(
    isa: Vaes512,
    key: &Schedule,
    shape: Shape,
    powers: &[V],
    packets: &[[Packet<'_>; MESSAGES]; FOURS],
) -> [Sum<Vaes512>; FOURS] {
    let narrow = isa.narrow();
    let lengths = ghash::lengths(narrow, shape.aad, shape.text);
    let mut sums =
        [Sum::product(isa, isa.broadcast(&lengths), isa.broadcast(&key.powers[POWERS - 1])); FOURS];
    let mut aads = [[&[][..]; MESSAGES]; FOURS];
    fours!(|at| {
        let [a, b, c, d] = &packets[at];
        aads[at] = [&a.aad[..shape.aad], &b.aad[..shape.aad], &c.aad[..shape.aad], &d.aad[..shape.aad]]
    });
    for (block, power) in powers.iter().enumerate() {
        let (power, begin) = (isa.broadcast(power), 16 * block);
        let end = shape.aad.min(begin + 16);
        fours!(|at| {
            let [a, b, c, d] = aads[at];
            let [a, b] = [narrow.load_partial(&a[begin..end]), narrow.load_partial(&b[begin..end])];
            let [c, d] = [narrow.load_partial(&c[begin..end]), narrow.load_partial(&d[begin..end])];
            sums[at].add(isa, isa.reverse(isa.together([a, b, c, d])), power)
        });
    }
    sums
}

/// What the texts of `N` registers have in common.
struct Texts<const N: usize> {
    shape: Shape,
    last_key: W,
    powers: [W; N],
    /// The exclusive or of each power's halves, in both halves.
    halves: [W; N],
}

impl<const N: usize> Texts<N> {
    #[inline(always)]
    fn new<const ROUNDS: usize>(isa: Vaes512, key: &Schedule, shape: Shape, of_text: &[V]) -> Self {
        let (mut powers, mut halves) = ([isa.zero(); N], [isa.zero(); N]);
        for ((power, half), from) in
            powers.iter_mut().zip(&mut halves).zip(of_text.chunks_exact(Vaes512::LANES))
        {
            *power = isa.blocks(from);
            *half = isa.xor(*power, isa.swap_halves(*power));
        }
        Self { shape, last_key: isa.broadcast(&key.rounds[ROUNDS]), powers, halves }
    }

    /// Adds the products of a register of ciphertext by Karatsuba's rule, which wants three multiplications and not four: the
    /// middle one holds the other two as well, until [`add_folded`].
    #[inline(always)]
    fn hash(&self, isa: Vaes512, sum: &mut Sum<Vaes512>, out: W, at: usize) {
        let block = isa.reverse(out);
        let half = isa.xor(block, isa.swap_halves(block));
        sum.low = isa.xor(sum.low, isa.carryless::<0x00>(block, self.powers[at]));
        sum.high = isa.xor(sum.high, isa.carryless::<0x11>(block, self.powers[at]));
        sum.middle = isa.xor(sum.middle, isa.carryless::<0x00>(half, self.halves[at]));
    }

    /// Encrypts a text: gives the sum of its hash, and the sample if there is one. `WHOLE` says that the last register is.
    #[inline(always)]
    fn seal<const WHOLE: bool>(
        &self,
        isa: Vaes512,
        packet: &mut Packet<'_>,
        states: &[W; N],
    ) -> (Sum<Vaes512>, V) {
        let text = &mut packet.text[..self.shape.text];
        let (whole, last) = text.split_at_mut(Vaes512::WIDTH * (N - 1));
        let mut sum = Sum::zero(isa);
        // Written out, as above.
        macro_rules! rows {
            ($($at:literal)+) => {$(
                if $at < N - 1 {
                    let bytes = &mut whole[Vaes512::WIDTH * $at..][..Vaes512::WIDTH];
                    let out = isa.last_round(states[$at], isa.xor(self.last_key, isa.load(bytes)));
                    isa.store(bytes, out);
                    self.hash(isa, &mut sum, out, $at);
                }
            )+};
        }
        rows!(0 1 2);
        let out = if WHOLE {
            let out = isa.last_round(states[N - 1], isa.xor(self.last_key, isa.load(last)));
            isa.store(last, out);
            out
        } else {
            let out = isa.last_round(states[N - 1], isa.xor(self.last_key, isa.load_partial(last)));
            isa.store_partial(last, out);
            isa.keep(out, last.len())
        };
        self.hash(isa, &mut sum, out, N - 1);
        let mut sample = isa.narrow().zero();
        if let Some(block) = self.shape.sample_at.and_then(|at| text.get(at..)?.first_chunk()) {
            sample = isa.narrow().load(block);
        }
        (sum, sample)
    }
}

/// Header protection's masks of samples.
#[inline(always)]
fn masks<const ROUNDS: usize, const FOURS: usize>(
    isa: Vaes512,
    key: &Schedule,
    mut states: [Four; FOURS],
) -> [Four; FOURS] {
    let keys = reread(&key.header_rounds);
    fours!(|at| states[at] = isa.xor(states[at], isa.broadcast(&keys[0])));
    for key in &keys[1..ROUNDS] {
        fours!(|at| states[at] = isa.round(states[at], isa.broadcast(key)));
    }
    fours!(|at| states[at] = isa.last_round(states[at], isa.broadcast(&keys[ROUNDS])));
    states
}

/// Adds the sums of the texts, each to its lane.
#[inline(always)]
fn add_folded(isa: Vaes512, sum: &mut Sum<Vaes512>, [a, b, c, d]: [Sum<Vaes512>; MESSAGES]) {
    let low = isa.fold_each([a.low, b.low, c.low, d.low]);
    let high = isa.fold_each([a.high, b.high, c.high, d.high]);
    let all = isa.fold_each([a.middle, b.middle, c.middle, d.middle]);
    sum.low = isa.xor(sum.low, low);
    sum.high = isa.xor(sum.high, high);
    sum.middle = isa.xor(sum.middle, isa.xor3(all, low, high));
}

/// As [`ghash::Sum::reduce`], in each lane.
#[inline(always)]
fn reduce(isa: Vaes512, sum: Sum<Vaes512>) -> Four {
    let polynomial = isa.broadcast(&isa.narrow().halves(1, 0xc200_0000_0000_0000));
    let mut low = isa.xor(sum.low, isa.low_to_high(sum.middle));
    let high = isa.xor(sum.high, isa.high_to_low(sum.middle));
    for _ in 0..2 {
        low = isa.xor(isa.swap_halves(low), isa.carryless::<0x10>(low, polynomial));
    }
    isa.xor(low, high)
}
