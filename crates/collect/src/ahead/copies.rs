//! Copies of objects that a reference would have done for: the memory that was allocated for one is given back, or another copy takes its place, and until then neither the copy
//! nor what it was copied from was changed.
//!
//! A copy is a call of a function that is known to make one, with all that it calls. What it read and had not written itself is what it copied from. Counts of references,
//! which it reads and writes, are left out. One that goes where the last copy by the same function went replaces that. Of copies that were there at the end of the stretch nothing is known.

use super::calls::Key;
use std::collections::HashMap;
use std::ops::Range;

/// Pieces of memory that are noted for a copy: 32 KiB and what it writes.
const NOTED: usize = 4_096;

/// Copies by one function for another one.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Copied {
    pub calls: u64,
    /// Those of which all memory was given back, or that were replaced.
    pub dropped: u64,
    /// … and of these, those that were not changed before, nor was the original.
    pub unchanged: u64,
}

/// A copy of which memory is there.
#[derive(Default)]
struct Copy {
    whose: Key,
    /// When it began and ended.
    start: u32,
    end: u32,
    /// Calls that it is made in, and the stack pointer at its first instruction.
    depth: usize,
    stack: u64,
    blocks: Vec<Range<u64>>,
    left: usize,
    /// Pieces that it was copied from, and those that it wrote elsewhere than in its blocks.
    from: Vec<u64>,
    to: Vec<u64>,
    /// Nothing was changed when the first block was given back; none before that.
    unchanged: Option<bool>,
}

/// The copies of a stretch.
#[derive(Default)]
pub(super) struct Copies {
    pub found: HashMap<Key, Copied>,
    copies: Vec<Copy>,
    /// The last of them has not ended.
    is_open: bool,
    /// Which copy a block is of.
    blocks: HashMap<u64, usize>,
    /// Which copy a function made last to a place.
    places: HashMap<(u64, u64), usize>,
    /// Copies that a call asked for, by when that began.
    asked: HashMap<u32, Vec<usize>>,
}

/// Where and when a copy is made.
pub(super) struct Begin {
    pub whose: Key,
    /// Calls that have not returned, and the stack pointer at the first instruction of the last of them.
    pub depth: usize,
    pub stack: u64,
    /// Its first argument.
    pub to: u64,
    /// When the call began that asks for it, if that was in the stretch.
    pub asker: Option<u32>,
    pub now: u32,
}

impl Copied {
    /// Whether there may be something to report.
    pub(super) fn shows(self) -> bool {
        self.unchanged > 0
    }
}

impl Copies {
    /// A function is called that copies. For `changed` see [`freed`](Self::freed).
    pub(super) fn begins(&mut self, begin: &Begin, changed: impl FnMut(u64, u32) -> bool) {
        if self.is_open {
            return;
        }
        let (whose, number) = (begin.whose, self.copies.len());
        if let Some(last) = self.places.insert((whose.0, begin.to), number) {
            self.settle(last, changed);
        }
        if let Some(asker) = begin.asker {
            self.asked.entry(asker).or_default().push(number);
        }
        self.is_open = true;
        let (start, depth, stack) = (begin.now, begin.depth, begin.stack);
        self.copies.push(Copy { whose, start, depth, stack, ..Copy::default() });
    }

    /// A call returned that began at `start`: what it has on the `stack` is no more, but a copy may have been moved elsewhere.
    pub(super) fn asker_returned(
        &mut self,
        start: u32,
        stack: &Range<u64>,
        mut changed: impl FnMut(u64, u32) -> bool,
    ) {
        for number in self.asked.remove(&start).unwrap_or_default() {
            let copy = &mut self.copies[number];
            let (own, others) = copy.to.drain(..).partition(|piece| stack.contains(&(piece * 8)));
            copy.to = others;
            let own: Vec<u64> = own;
            if copy.unchanged.is_none() && own.iter().any(|piece| changed(*piece, copy.end)) {
                copy.unchanged = Some(false);
            }
        }
    }

    fn open(&mut self) -> Option<&mut Copy> {
        if self.is_open { self.copies.last_mut() } else { None }
    }

    /// When the copy began that has not ended, and where its frame on the stack ends.
    pub(super) fn since(&self) -> Option<(u32, u64)> {
        self.copies.last().filter(|_| self.is_open).map(|copy| (copy.start, copy.stack))
    }

    /// A call returned, so many have not.
    pub(super) fn returned(&mut self, depth: usize, now: u32) {
        let Some(copy) = self.open().filter(|copy| depth < copy.depth) else { return };
        (copy.end, copy.left) = (now, copy.blocks.len());
        let whose = copy.whose;
        self.is_open = false;
        self.found.entry(whose).or_default().calls += 1;
    }

    /// The open copy reads a piece that it did not write.
    pub(super) fn copies_from(&mut self, piece: u64) {
        if let Some(copy) = self.open() {
            copy.from.push(piece);
        }
    }

    /// The open copy writes a piece that is in no block of its own, and that it did not read.
    pub(super) fn copies_to(&mut self, piece: u64) {
        if let Some(copy) = self.open() {
            copy.to.push(piece);
        }
    }

    pub(super) fn allocated(&mut self, block: Range<u64>) {
        if let (true, Some(number)) = (self.is_open, self.copies.len().checked_sub(1)) {
            self.blocks.insert(block.start, number);
            self.copies[number].blocks.push(block);
        }
    }

    /// A block is given back. `changed` says whether a piece of memory changed from a moment on, before its destruction began.
    pub(super) fn freed(&mut self, block: u64, mut changed: impl FnMut(u64, u32) -> bool) {
        let Some(number) = self.blocks.remove(&block) else { return };
        let is_open = self.is_open && number + 1 == self.copies.len();
        let copy = &mut self.copies[number];
        // What is freed on the way is no part of the copy.
        if is_open {
            copy.blocks.retain(|one| one.start != block);
            return;
        }
        copy.look(&mut changed);
        copy.left -= 1;
        if copy.left == 0 {
            self.settle(number, changed);
        }
    }

    /// A copy is no more.
    fn settle(&mut self, number: usize, mut changed: impl FnMut(u64, u32) -> bool) {
        let mut copy = std::mem::take(&mut self.copies[number]);
        // Of one that is settled nothing is left.
        if copy.end == 0 {
            return;
        }
        copy.look(&mut changed);
        let of = self.found.entry(copy.whose).or_default();
        of.dropped += 1;
        of.unchanged += u64::from(copy.unchanged == Some(true));
        for block in copy.blocks {
            self.blocks.remove(&block.start);
        }
    }
}

impl Copy {
    /// Notes whether it was changed, if that is not known yet.
    fn look(&mut self, changed: &mut impl FnMut(u64, u32) -> bool) {
        if self.unchanged.is_some() {
            return;
        }
        let pieces = self.blocks.iter().flat_map(|block| block.start / 8..block.end.div_ceil(8));
        let mut all = pieces.chain(self.from.iter().copied()).chain(self.to.iter().copied());
        let noted = self.from.len().max(self.to.len()) < NOTED;
        self.unchanged = Some(noted && !all.any(|piece| changed(piece, self.end)));
    }
}
