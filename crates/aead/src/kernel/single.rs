//! One message sealed or opened.
//!
//! A first group encrypts the tag's block and six of the text, so that all groups behind it begin at multiples of eight and
//! none crosses a boundary of 256 blocks. Groups of eight follow, and a last one of exactly as many lanes as are left: with a
//! latency of four to five cycles and up to two rounds begun a cycle, a lane in vain costs as much as one in use.
//! A message that fits into one group has only that. Sealing hashes the group before the one being encrypted; opening, which
//! has the ciphertext at once, hashes that very group.

use super::Message;
use super::exact;
use super::ghash::{Hasher, Sum, blocks, lengths};
use super::group::{Counter, Hash, HashSome, Idle, Mask, apply, apply_last, apply_one, lanes, split_last};
use super::isa::{Block, Isa, V};
use super::schedule::Schedule;

/// Blocks of text in the first group.
pub(crate) const LEAD: usize = 6;

/// Blocks of text that fit into one group with the tag's.
pub(crate) const ONE_GROUP: usize = 7;

/// Seals, and writes the tag; the mask as well if the sample lies within the text.
#[inline(always)]
pub(crate) fn seal<I: Isa, const ROUNDS: usize>(
    isa: I,
    key: &Schedule,
    message: Message<'_>,
    tag: &mut Block,
    mask: &mut Block,
) {
    let Message { nonce, aad, text, sample_at } = message;
    let count = blocks(text.len());
    let mut counter = Counter::new(isa, key, nonce);
    let mut hasher = Hasher::new(isa, &key.powers, aad, count, LEAD);
    let ends = lengths(isa, aad.len(), text.len());
    if count <= ONE_GROUP {
        let end = End { isa, key, counter, hasher, ends, tag_pad: None, done: 0, waiting: 0, sample_at };
        return exact!(count, 0 1 2 3 4 5 6 7, |N| end.seal::<ROUNDS, { N + 1 }, N>(text, tag, mask));
    }
    let full = full_groups(count);
    let (lead, groups) = body(text, full);
    let changes = counter.first(key);
    let states = lanes::<I, ROUNDS, 7>(isa, key, &counter, changes, &mut Idle);
    let tag_pad = isa.last_round(states[0], key.rounds[ROUNDS]);
    apply::<I, ROUNDS>(isa, key, &states[1..], lead);
    seal_groups::<I, ROUNDS>(isa, key, &mut counter, &mut hasher, lead, groups);
    let done = LEAD + 8 * full;
    let waiting = if full == 0 { LEAD } else { 8 };
    let end = End { isa, key, counter, hasher, ends, tag_pad: Some(tag_pad), done, waiting, sample_at };
    exact!(count - done, 1 2 3 4 5 6 7 8, |N| end.seal::<ROUNDS, N, N>(text, tag, mask))
}

/// How many groups of eight lie between the first group and the last, if there is more than one group.
#[inline(always)]
pub(crate) fn full_groups(count: usize) -> usize {
    (count - LEAD - 1) / 8
}

/// The blocks of the first group, and those of `full` groups of eight behind it.
#[inline(always)]
pub(crate) fn body(text: &mut [u8], full: usize) -> (&mut [Block; LEAD], &mut [[Block; 8]]) {
    match text.as_chunks_mut().0.split_first_chunk_mut() {
        Some((lead, rest)) => (lead, &mut rest.as_chunks_mut().0[..full]),
        None => unreachable!("there are more than seven blocks"),
    }
}

/// The groups in the middle: encrypts each and hashes the one before.
#[inline(always)]
pub(crate) fn seal_groups<I: Isa, const ROUNDS: usize>(
    isa: I,
    key: &Schedule,
    counter: &mut Counter,
    hasher: &mut Hasher<'_>,
    lead: &[Block; LEAD],
    groups: &mut [[Block; 8]],
) {
    let Some((group, mut groups)) = groups.split_first_mut() else { return };
    let mut gap = Hash { sum: hasher.sum, blocks: lead, powers: hasher.first() };
    let changes = &counter.groups(isa, key, 1)[0];
    let states = lanes::<I, ROUNDS, 8>(isa, key, counter, changes, &mut gap);
    hasher.sum = gap.sum;
    apply::<I, ROUNDS>(isa, key, &states, group);
    let mut waiting = &*group;
    // A run of groups needs neither a new base nor a new segment.
    while !groups.is_empty() {
        let powers = hasher.groups(isa, groups.len().min(counter.groups_of_base()));
        let changes = counter.groups(isa, key, powers.len());
        let (run, rest) = groups.split_at_mut(powers.len());
        let mut sum = hasher.sum;
        for ((group, changes), powers) in run.iter_mut().zip(changes).zip(powers) {
            let mut gap = Hash { sum, blocks: waiting, powers };
            let states = lanes::<I, ROUNDS, 8>(isa, key, counter, changes, &mut gap);
            sum = gap.sum;
            apply::<I, ROUNDS>(isa, key, &states, group);
            waiting = group;
        }
        hasher.sum = sum;
        groups = rest;
    }
}

/// Decrypts; whether `tag` is the message's.
#[inline(always)]
pub(crate) fn open<I: Isa, const ROUNDS: usize>(
    isa: I,
    key: &Schedule,
    message: Message<'_>,
    tag: &Block,
) -> bool {
    isa.equal(decrypt::<I, ROUNDS>(isa, key, message), isa.load(tag))
}

/// Decrypts, and gives the tag that the message should have.
#[inline(always)]
fn decrypt<I: Isa, const ROUNDS: usize>(isa: I, key: &Schedule, message: Message<'_>) -> V {
    let Message { nonce, aad, text, .. } = message;
    let count = blocks(text.len());
    let mut counter = Counter::new(isa, key, nonce);
    let mut hasher = Hasher::new(isa, &key.powers, aad, count, LEAD);
    let ends = lengths(isa, aad.len(), text.len());
    if count <= ONE_GROUP {
        let end =
            End { isa, key, counter, hasher, ends, tag_pad: None, done: 0, waiting: 0, sample_at: None };
        return exact!(count, 0 1 2 3 4 5 6 7, |N| end.open::<ROUNDS, { N + 1 }, N>(text));
    }
    let full = full_groups(count);
    let (lead, mut groups) = body(text, full);
    let mut gap = Hash { sum: hasher.sum, blocks: lead, powers: hasher.first() };
    let changes = counter.first(key);
    let states = lanes::<I, ROUNDS, 7>(isa, key, &counter, changes, &mut gap);
    hasher.sum = gap.sum;
    let tag_pad = isa.last_round(states[0], key.rounds[ROUNDS]);
    apply::<I, ROUNDS>(isa, key, &states[1..], lead);
    while !groups.is_empty() {
        let powers = hasher.groups(isa, groups.len().min(counter.groups_of_base()));
        let changes = counter.groups(isa, key, powers.len());
        let (run, rest) = groups.split_at_mut(powers.len());
        let mut sum = hasher.sum;
        for ((group, changes), powers) in run.iter_mut().zip(changes).zip(powers) {
            let mut gap = Hash { sum, blocks: group, powers };
            let states = lanes::<I, ROUNDS, 8>(isa, key, &counter, changes, &mut gap);
            sum = gap.sum;
            apply::<I, ROUNDS>(isa, key, &states, group);
        }
        hasher.sum = sum;
        groups = rest;
    }
    let done = LEAD + 8 * full;
    let end =
        End { isa, key, counter, hasher, ends, tag_pad: Some(tag_pad), done, waiting: 0, sample_at: None };
    exact!(count - done, 1 2 3 4 5 6 7 8, |N| end.open::<ROUNDS, N, N>(text))
}

/// The last group of a message, and its tag.
struct End<'k, I> {
    isa: I,
    key: &'k Schedule,
    counter: Counter,
    hasher: Hasher<'k>,
    /// The block of lengths.
    ends: V,
    /// What the tag is encrypted with; if absent, this group's first lane makes it.
    tag_pad: Option<V>,
    /// Blocks behind us.
    done: usize,
    /// Those of them that are encrypted and not yet hashed.
    waiting: usize,
    sample_at: Option<usize>,
}

impl<'k, I: Isa> End<'k, I> {
    /// Encrypts the last `N` blocks with `L` lanes.
    #[inline(always)]
    fn seal<const ROUNDS: usize, const L: usize, const N: usize>(
        mut self,
        text: &mut [u8],
        tag: &mut Block,
        mask: &mut Block,
    ) {
        let isa = self.isa;
        let (before, last) = text.split_at_mut(self.done * 16);
        let (powers, rest) = self.hasher.rest().split_at(self.waiting);
        let mut gap = HashSome {
            sum: self.hasher.sum,
            blocks: &before.as_chunks().0[self.done - self.waiting..],
            powers,
            mask: self.mask(before),
        };
        let changes = self.changes();
        let states = lanes::<I, ROUNDS, L>(isa, self.key, &self.counter, changes, &mut gap);
        let tag_pad = self.tag_pad.unwrap_or_else(|| isa.last_round(states[0], self.key.rounds[ROUNDS]));
        let (whole, last) = split_last::<N>(last);
        let mut sum = gap.sum;
        let states = &states[L - N..];
        for ((state, block), power) in states.iter().zip(whole).zip(rest) {
            let cipher = apply_one::<I, ROUNDS>(isa, self.key, *state, block);
            sum.add(isa, isa.reverse(cipher), *power);
        }
        if let Some(state) = states.last() {
            let cipher = apply_last::<I, ROUNDS>(isa, self.key, *state, last);
            sum.add(isa, isa.reverse(cipher), rest[N - 1]);
        }
        if let Some(made) = gap.mask {
            isa.store(mask, made.finish::<I, ROUNDS>(isa));
        } else if let Some(made) = self.mask(text) {
            isa.store(mask, made.whole::<I, ROUNDS>(isa));
        }
        isa.store(tag, self.tag(sum, rest[N], tag_pad));
    }

    /// Decrypts the last `N` blocks with `L` lanes.
    #[inline(always)]
    fn open<const ROUNDS: usize, const L: usize, const N: usize>(mut self, text: &mut [u8]) -> V {
        let isa = self.isa;
        let text = &mut text[self.done * 16..];
        let powers = self.hasher.rest();
        let mut gap = HashSome { sum: self.hasher.sum, blocks: text.as_chunks().0, powers, mask: None };
        let changes = self.changes();
        let states = lanes::<I, ROUNDS, L>(isa, self.key, &self.counter, changes, &mut gap);
        let tag_pad = self.tag_pad.unwrap_or_else(|| isa.last_round(states[0], self.key.rounds[ROUNDS]));
        let mut sum = gap.sum;
        let states = &states[L - N..];
        let (whole, last) = split_last::<N>(text);
        apply::<I, ROUNDS>(isa, self.key, states, whole);
        if let Some(state) = states.last() {
            if last.len() < 16 {
                sum.add(isa, isa.reverse(isa.load_partial(last)), powers[N - 1]);
            }
            apply_last::<I, ROUNDS>(isa, self.key, *state, last);
        }
        self.tag(sum, powers[N], tag_pad)
    }

    #[inline(always)]
    fn changes<const L: usize>(&mut self) -> &'k [V; L] {
        if self.done == 0 { self.counter.first(self.key) } else { self.counter.last(self.isa, self.key) }
    }

    /// The sample's AES block, if there is a sample and all of it is in `text`.
    #[inline(always)]
    fn mask(&self, text: &[u8]) -> Option<Mask<'k>> {
        // No closure: what is not always inlined loses the instructions.
        let sample = text.get(self.sample_at?..)?.first_chunk()?;
        Some(Mask::new(self.isa, &self.key.header_rounds, sample))
    }

    /// The tag (SP 800-38D, section 7.1, steps 5 and 6).
    #[inline(always)]
    fn tag(&self, mut sum: Sum, power: V, tag_pad: V) -> V {
        sum.add(self.isa, self.ends, power);
        self.isa.xor(tag_pad, self.isa.reverse(sum.reduce(self.isa)))
    }
}
