//! Copies of objects that a reference would have done for: until the memory of a copy is given back, or an assignment puts another one in its place, neither the copy nor
//! what it was copied from is changed.
//!
//! A copy is a call of a function that is known to make one, with all that it calls. What it read and did not write is what it copied from; counts of references, which it
//! reads and writes, are neither. Nothing is known of copies that are there at the end of the stretch, of those of more memory than is noted, and of those that are made between
//! two accesses that other threads see, as of a lock: others may change the original.
//!
//! A block is given back as well where a list or a text grows: then the place that led to it leads to one that was allocated before.

use super::calls::Key;
use std::collections::{HashMap, HashSet};
use std::ops::Range;

/// Pieces of memory of eight bytes that are noted for a copy: 32 KiB that it reads, and as many that it writes.
const NOTED: usize = 4_096;
/// Instructions before and after a copy in which a lock of it is taken and released: it may be one of several parts of an object. With 200, the later parts of a record that was copied under
/// a mutex were taken for copies without one. So many of the last places are looked at.
const LOCKED: u32 = 5_000;
const LOCKS: usize = 4;

/// Copies by one function for another one.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Copied {
    pub calls: u64,
    /// Those of which all memory was given back, or that were replaced.
    pub dropped: u64,
    /// … and of these, those that were not changed before, nor was the original.
    pub unchanged: u64,
}

/// What is known of a copy.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum Fate {
    #[default]
    There,
    Unknown,
    Changed,
    /// Nothing was changed when the first block of it was given back.
    Going,
    /// It is no more, and nothing was changed.
    Unchanged,
}

/// A copy.
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
    from: HashSet<u64>,
    to: HashSet<u64>,
    /// Locks that may be held.
    locks: Vec<u64>,
    fate: Fate,
    /// It is no more.
    gone: bool,
}

/// Where and when a copy is made.
pub(super) struct Begin {
    pub whose: Key,
    /// Calls that have not returned, and the stack pointer at the first instruction of the last of them.
    pub depth: usize,
    pub stack: u64,
    /// Where it is assigned to, if it replaces what was there.
    pub to: Option<u64>,
    /// What was changed shortly before in a way that other threads see at once, as a lock is, and is not zero, as one that is not held.
    pub locks: Vec<u64>,
    /// When the call began that asks for it, if that was in the stretch.
    pub asker: Option<u32>,
    pub now: u32,
}

/// The copies of a stretch.
#[derive(Default)]
pub(super) struct Copies {
    copies: Vec<Copy>,
    /// The last of them has not ended.
    is_open: bool,
    /// Which copy a block is of; when each block was allocated.
    blocks: HashMap<u64, usize>,
    allocated: HashMap<u64, u32>,
    /// Which copy a function assigned last to a place.
    places: HashMap<(u64, u64), usize>,
    /// Copies that a call asked for, by when that began.
    asked: HashMap<u32, Vec<usize>>,
    /// Which piece a copy made lead to a block of its own.
    leads: HashMap<u64, u64>,
    /// Places that led to blocks of copies which were given back: of which copy, and when.
    led: HashMap<u64, (usize, u32)>,
    /// Where and when memory was changed in a way that other threads see at once, the latest places last.
    locked: Vec<(u64, u32)>,
}

impl Copied {
    /// Whether there may be something to report.
    pub(super) fn shows(self) -> bool {
        self.unchanged > 0
    }
}

impl Copies {
    /// What became of them.
    pub(super) fn found(&self) -> HashMap<Key, Copied> {
        let mut found: HashMap<Key, Copied> = HashMap::new();
        for copy in &self.copies {
            let of = found.entry(copy.whose).or_default();
            of.calls += 1;
            of.dropped += u64::from(copy.gone && matches!(copy.fate, Fate::Changed | Fate::Unchanged));
            of.unchanged += u64::from(copy.gone && copy.fate == Fate::Unchanged);
        }
        found
    }

    /// A function is called that copies. `changed` says whether a piece of memory was changed from a moment on.
    pub(super) fn begins(&mut self, begin: &Begin, changed: impl FnMut(u64, u32) -> bool) {
        if self.is_open {
            return;
        }
        let (whose, number) = (begin.whose, self.copies.len());
        let before = begin.to.and_then(|to| self.places.insert((whose.0, to), number));
        if let Some(last) = before {
            self.copies[last].look(changed);
            self.copies[last].ends();
        }
        if let Some(asker) = begin.asker {
            self.asked.entry(asker).or_default().push(number);
        }
        self.is_open = true;
        let (start, depth, stack) = (begin.now, begin.depth, begin.stack);
        let locks = begin.locks.clone();
        self.copies.push(Copy { whose, start, depth, stack, locks, ..Copy::default() });
    }

    fn open(&mut self) -> Option<&mut Copy> {
        if self.is_open { self.copies.last_mut() } else { None }
    }

    /// When the copy began that has not ended, and where its frame on the stack ends.
    pub(super) fn since(&self) -> Option<(u32, u64)> {
        self.copies.last().filter(|_| self.is_open).map(|copy| (copy.start, copy.stack))
    }

    /// A call returned, so many have not.
    pub(super) fn returned(&mut self, depth: usize, now: u32, mut changed: impl FnMut(u64, u32) -> bool) {
        let Some(copy) = self.open().filter(|copy| depth < copy.depth) else { return };
        (copy.end, copy.left) = (now, copy.blocks.len());
        let start = copy.start;
        copy.from.retain(|piece| !changed(*piece, start));
        if copy.from.len().max(copy.to.len()) >= NOTED {
            copy.fate = Fate::Unknown;
        }
        self.is_open = false;
    }

    /// Whether a call may have asked for copies.
    pub(super) fn has_asked(&self, start: u32) -> bool {
        self.asked.contains_key(&start)
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
            let end = copy.end;
            let mut own_changed = false;
            copy.to.retain(|piece| {
                let is_own = stack.contains(&(piece * 8));
                own_changed |= is_own && changed(*piece, end);
                !is_own
            });
            if own_changed && copy.fate == Fate::There {
                copy.fate = Fate::Changed;
            }
        }
    }

    /// The open copy reads a piece that it did not write.
    pub(super) fn copies_from(&mut self, piece: u64) {
        if let Some(copy) = self.open().filter(|copy| copy.from.len() < NOTED) {
            copy.from.insert(piece);
        }
    }

    /// The open copy writes a piece that is in no block of its own.
    pub(super) fn copies_to(&mut self, piece: u64) {
        if let Some(copy) = self.open().filter(|copy| copy.to.len() < NOTED && !copy.from.contains(&piece)) {
            copy.to.insert(piece);
        }
    }

    /// Memory is changed in a way that other threads see at once.
    pub(super) fn locks(&mut self, address: u64, now: u32) {
        if self.is_open {
            return;
        }
        self.locked.retain(|(known, _)| *known != address);
        self.locked.push((address, now));
        if self.locked.len() > LOCKS {
            self.locked.remove(0);
        }
        let ended = self.copies.iter_mut().rev().take_while(|copy| now - copy.end < LOCKED);
        ended.filter(|copy| copy.locks.contains(&address)).for_each(|copy| copy.fate = Fate::Unknown);
    }

    /// What may be locks that were taken shortly before.
    pub(super) fn locks_before(&self, now: u32) -> impl Iterator<Item = u64> {
        let recent = self.locked.iter().filter(move |(_, at)| now - at < LOCKED);
        recent.map(|(address, _)| *address)
    }

    pub(super) fn allocated(&mut self, block: Range<u64>, now: u32) {
        self.allocated.insert(block.start, now);
        if let (true, Some(number)) = (self.is_open, self.copies.len().checked_sub(1)) {
            self.blocks.insert(block.start, number);
            self.copies[number].blocks.push(block);
        }
    }

    /// A block is made longer, or shorter.
    pub(super) fn resized(&mut self, block: u64) {
        if let Some(number) = self.blocks.remove(&block) {
            let copy = &mut self.copies[number];
            (copy.fate, copy.gone) = (Fate::Changed, true);
        }
    }

    /// A block is given back, while objects are destroyed since these moments. `changed` says whether a piece of memory changed within some time.
    pub(super) fn freed(
        &mut self,
        block: u64,
        destroyed: &[u32],
        now: u32,
        mut changed: impl FnMut(u64, Range<u32>) -> bool,
    ) {
        let Some(number) = self.blocks.remove(&block) else { return };
        let is_open = self.is_open && number + 1 == self.copies.len();
        let copy = &mut self.copies[number];
        // What is freed on the way is no part of the copy.
        if is_open {
            copy.blocks.retain(|one| one.start != block);
            return;
        }
        // What destroys an object changes it as well.
        let end = copy.end;
        let until = destroyed.iter().copied().filter(|start| *start >= end).min().unwrap_or(u32::MAX);
        copy.look(|piece, since| changed(piece, since..until));
        if copy.fate == Fate::Going {
            self.led.extend(self.leads.get(&block).map(|piece| (*piece, (number, now))));
        }
        copy.left = copy.left.saturating_sub(1);
        if copy.left == 0 {
            copy.ends();
        }
    }

    /// A piece of memory now holds this number, all of it.
    pub(super) fn holds(&mut self, piece: u64, value: u64) {
        if self.is_open {
            if self.blocks.get(&value).is_some_and(|number| number + 1 == self.copies.len()) {
                self.leads.insert(value, piece);
            }
            return;
        }
        if self.led.is_empty() {
            return;
        }
        let Some((number, freed)) = self.led.remove(&piece) else { return };
        let copy = &mut self.copies[number];
        let grows = self.allocated.get(&value).is_some_and(|at| (copy.end..=freed).contains(at));
        if grows && !copy.blocks.iter().any(|block| block.start == value) {
            copy.fate = Fate::Changed;
        }
    }
}

impl Copy {
    /// Notes whether it was changed, if that is not known yet.
    fn look(&mut self, mut changed: impl FnMut(u64, u32) -> bool) {
        if self.fate != Fate::There {
            return;
        }
        let pieces = self.blocks.iter().flat_map(|block| block.start / 8..block.end.div_ceil(8));
        let mut all = pieces.chain(self.from.iter().copied()).chain(self.to.iter().copied());
        self.fate = if all.any(|piece| changed(piece, self.end)) { Fate::Changed } else { Fate::Going };
    }

    fn ends(&mut self) {
        self.gone = true;
        if self.fate == Fate::Going {
            self.fate = Fate::Unchanged;
        }
    }
}
