//! Calls that do again what a call before did: the same function, given the same, reads the same memory, and none of it was changed in between.
//!
//! What a call is given is what it reads before it writes it, by itself or by what it calls: registers and memory. Memory is the same if it is at the same
//! address and holds the same, and nothing wrote another value there meanwhile, but for a few [`RESTORED`] places. On the stack, where arguments are
//! put by value, it is the same if it is as far from the call's own frame and holds the same. A call that gets other
//! memory each time, even of the same content, is another one: so is a line of a file like one before.
//!
//! Such a call comes to the same result, whatever it writes: all that it looks at is as it was. One that mostly writes is left out: its result is
//! used up each time, as a table that is cleared.

use super::copies::{Copied, Copies};
use super::natives::{Natives, Outcome, is_fresh};
use super::rounds::Rounds;
use super::texts::{Followed, Texts};
use slowpath_emulate::{End, Machine, Memory, Source, Watch};
use std::collections::{HashMap, HashSet};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::ops::Range;

mod copying;

/// Bytes that are told apart in memory.
const GRAIN: u64 = 8;
/// Grains of a page.
const GRAINS: usize = 4096 / GRAIN as usize;
/// Pages of which it is noted what was touched: 64 MiB.
const PAGES: usize = 16_384;
/// Grains that may have been changed and hold the same again: a count of references, a lock. More is data that came anew.
const RESTORED: usize = 2;
/// Grains of the caller's stack that a call may be given which were changed in the stretch: arguments by value have some words. More is data, as a line of text.
const BY_VALUE: u32 = 16;
/// What was written in the stretch and is read in pieces of fewer bytes is data: a text, whose letters are looked at.
const LETTERS: usize = 4;
/// A call that changes a grain for each so many of its instructions mostly writes.
const WRITES: u64 = 16;
/// Grains elsewhere from which on a call is given data: a function on numbers reads a few constants, and what guards the stack.
const DATA: u32 = 8;
/// Frames outwards for which an input is noted; calls further out are not judged.
const OUTWARD: usize = 48;
/// The stack pointer, which is no argument.
const NO_ARGUMENT: u32 = 1 << 4;
/// Registers that are returned in: rax, and the first vector register.
const RETURNED: u32 = 1 | 1 << 16;
/// Calls of fewer instructions cost less than to look up what was kept of them.
const LEAST: u64 = 300;
/// Instructions of a stub that leads to a function.
const STUB: u32 = 3;

/// When a grain was changed and read last, as counts of instructions from 1.
#[derive(Clone, Copy, Default)]
struct Touched {
    changed: u32,
    read: u32,
}

/// A function, and who called it, if that is known.
pub(crate) type Key = (u64, Option<u64>);

/// A call that has not returned.
struct Frame {
    function: u64,
    /// The stack pointer at its first instruction: there is where it returns to.
    stack: u64,
    start: u32,
    general: [u64; 16],
    vectors: [[u128; 2]; 16],
    reads: u32,
    writes: u32,
    /// Memory that it was given, the order left out.
    given: u64,
    /// Grains of it that are not on the stack.
    elsewhere: u32,
    by_value: u32,
    /// It was given data that came in the stretch.
    data: bool,
    /// Grains outside of its own frame that it changed first, on the stack and elsewhere.
    put_on_stack: u64,
    put: u64,
    /// When the memory that it was given changed, the latest times.
    changed: [u32; RESTORED + 1],
    /// Of functions called inside, by who called them, instructions of calls that did the same again.
    inside: Vec<(Key, u64)>,
    /// It formats a text to there, of so many bytes at most.
    formats: Option<(u64, u64)>,
    /// Where it returns to, if that is in no known call.
    returns_to: Option<u64>,
}

/// What is known of a function's calls.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Again {
    pub calls: u64,
    /// Those that did what one before did, and their instructions, but for those inside other such calls.
    pub again: u64,
    pub instructions: u64,
    /// Instructions of all its calls, but for those inside another call of it.
    pub all_instructions: u64,
    /// Instructions from the first of these calls to the end of the stretch.
    pub span: u64,
    /// Of those that did what one before did, how many did so within one call of the function.
    pub nested: u64,
    /// Different things that the function, whoever called it, was given several times.
    pub different: u64,
}

/// What a stretch showed: by the addresses of functions and those who called them, of functions that have texts formatted, and of copies.
#[derive(Default)]
pub(crate) struct Found {
    pub functions: HashMap<Key, Again>,
    pub texts: HashMap<u64, Texts>,
    pub copies: HashMap<Key, Copied>,
}

/// Watches a stretch of a thread.
pub(crate) struct Calls<N> {
    natives: N,
    stack: Range<u64>,
    now: u32,
    pages: HashMap<u64, usize>,
    touched: Vec<Box<[Touched; GRAINS]>>,
    last: (u64, usize),
    /// More pages were touched than are noted.
    full: bool,
    frames: Vec<Frame>,
    /// Frames below this number did not note all that they were given.
    blind: usize,
    /// When a call with these inputs began last, and whether one did the same again.
    seen: HashMap<(u64, u64), (u32, bool)>,
    functions: HashMap<Key, Again>,
    /// When the first call of a function began that may be judged.
    first: HashMap<u64, u32>,
    /// Functions that were called inside a call of their own.
    recursive: HashSet<u64>,
    /// How many different inputs came again, by function.
    different: HashMap<u64, u64>,
    texts: Followed,
    copies: Copies,
    /// Loops that are looked at.
    pub(super) rounds: Rounds,
    /// Functions that format and have not returned.
    formatting: u32,
    /// What the last function returned.
    returned: u64,
}

impl<N: Natives> Calls<N> {
    /// `stack` is where the thread's stack is.
    pub(crate) fn new(natives: N, stack: Range<u64>) -> Calls<N> {
        Calls {
            natives,
            stack,
            now: 1,
            pages: HashMap::new(),
            touched: Vec::new(),
            last: (u64::MAX, 0),
            full: false,
            frames: Vec::new(),
            blind: 0,
            seen: HashMap::new(),
            functions: HashMap::new(),
            first: HashMap::new(),
            recursive: HashSet::new(),
            different: HashMap::new(),
            texts: Followed::default(),
            copies: Copies::default(),
            rounds: Rounds::default(),
            formatting: 0,
            returned: 0,
        }
    }

    /// What it showed.
    pub(crate) fn found(mut self) -> Found {
        // Those that did not end.
        let open = std::mem::take(&mut self.frames);
        for (at, frame) in open.iter().enumerate() {
            let is_inside = open[..at].iter().any(|outer| outer.function == frame.function);
            let caller = self.called_by(frame, at.checked_sub(1).map(|outer| &open[outer]));
            if let Some(of) = self.functions.get_mut(&(frame.function, caller)).filter(|_| !is_inside) {
                of.all_instructions += u64::from(self.now - frame.start);
            }
            for (whose, instructions) in &frame.inside {
                self.functions.entry(*whose).or_default().instructions += instructions;
            }
        }
        for ((function, _), of) in &mut self.functions {
            of.different = self.different.get(function).copied().unwrap_or(0);
            of.span = self.first.get(function).map_or(0, |first| u64::from(self.now - first));
        }
        Found { functions: self.functions, texts: self.texts.found, copies: self.copies.found() }
    }

    fn touched(&mut self, grain: u64) -> &mut Touched {
        let page = grain / GRAINS as u64;
        if self.last.0 != page {
            let next = self.touched.len();
            let at = *self.pages.entry(page).or_insert(next);
            if at == next {
                self.full |= next == PAGES;
                self.touched.push(Box::new([Touched::default(); GRAINS]));
            }
            self.last = (page, at);
        }
        &mut self.touched[self.last.1][(grain % GRAINS as u64) as usize]
    }

    /// Memory now holds something else.
    fn change(&mut self, address: u64, size: u64) {
        let now = self.now;
        for grain in address / GRAIN..address.saturating_add(size).div_ceil(GRAIN) {
            let before = std::mem::replace(&mut self.touched(grain).changed, now);
            let at = grain * GRAIN;
            if let Some(frame) = self.frames.last_mut().filter(|frame| before < frame.start) {
                let on_stack = self.stack.contains(&at);
                frame.put_on_stack += u64::from(on_stack && at > frame.stack);
                frame.put += u64::from(!on_stack);
            }
        }
    }

    /// Memory is new: what is in it was given to no call before.
    fn renew(&mut self, range: Range<u64>) {
        let now = self.now;
        for grain in range.start / GRAIN..range.end.div_ceil(GRAIN) {
            self.touched(grain).read = now;
        }
    }

    fn enter<S: Source>(machine: &mut Machine<S, Self>)
    where
        Self: Watch<S>,
    {
        let mut returns_to = None;
        if machine.watch.frames.is_empty() {
            let mut bytes = [0; 8];
            let read = machine.memory.read(machine.registers.general[4], &mut bytes);
            returns_to = read.map(|()| u64::from_le_bytes(bytes));
        }
        let registers = &machine.registers;
        machine.watch.now = machine.count as u32 + 1;
        let frame = Frame {
            function: registers.ip,
            stack: registers.general[4],
            start: machine.watch.now,
            general: registers.general,
            vectors: registers.vectors,
            reads: 0,
            writes: 0,
            given: 0,
            elsewhere: 0,
            by_value: 0,
            data: false,
            put_on_stack: 0,
            put: 0,
            changed: [0; RESTORED + 1],
            inside: Vec::new(),
            formats: None,
            returns_to,
        };
        machine.watch.frames.push(frame);
    }

    /// The innermost call returned.
    fn leave(&mut self) {
        let Some(frame) = self.frames.pop() else { return };
        self.copies_returned(&frame);
        if let Some((buffer, size)) = frame.formats {
            self.formatting -= 1;
            if let Some(whose) =
                self.frames.last().map(|outer| outer.function).filter(|_| self.formatting == 0)
            {
                let is_own = self.stack.contains(&buffer);
                self.texts.formatted(whose, buffer, size, self.returned, is_own);
            }
        }
        let complete = self.frames.len() >= self.blind && frame.by_value <= BY_VALUE && !frame.data;
        self.blind = self.blind.min(self.frames.len());
        let instructions = u64::from(self.now - frame.start);
        let called_by = self.called_by(&frame, self.frames.last());
        let whose = (frame.function, called_by);
        if called_by == Some(frame.function) {
            self.recursive.insert(frame.function);
        }
        let mut again = false;
        if instructions >= LEAST {
            let key = (frame.function, self.key(&frame));
            let before = self.seen.get(&key).copied();
            let unchanged = |(before, _): (u32, bool)| frame.changed.iter().any(|changed| *changed <= before);
            let writes = WRITES * (frame.put + frame.put_on_stack) > instructions;
            let near = self.frames.iter().rev().take(OUTWARD);
            let is_inside = near.into_iter().any(|outer| outer.function == frame.function);
            if is_inside {
                self.recursive.insert(frame.function);
            }
            // Repeated by the outermost call that is known, and not with something that is repeated as a whole.
            let outermost = self.frames.iter().find(|outer| outer.function == frame.function);
            let within = outermost.zip(before).is_some_and(|(outer, (before, _))| before >= outer.start);
            // What calls itself with nothing but numbers is how to calculate, as Fibonacci's.
            let calculates = frame.elsewhere < DATA && self.recursive.contains(&frame.function);
            again = complete && !writes && !calculates && before.is_some_and(unchanged);
            let known = before.is_some_and(|(_, again)| again);
            self.seen.insert(key, (frame.start, again || known));
            *self.different.entry(frame.function).or_default() += u64::from(again && !known);
            self.first.entry(frame.function).or_insert(frame.start);
            let of = self.functions.entry(whose).or_default();
            of.calls += 1;
            of.again += u64::from(again);
            of.nested += u64::from(again && is_inside && within);
            of.all_instructions += if is_inside { 0 } else { instructions };
        }
        let inside = if again { vec![(whose, instructions)] } else { frame.inside };
        match self.frames.last_mut() {
            Some(outer) => {
                outer.reads |= frame.reads & !outer.writes;
                outer.writes |= frame.writes;
                outer.put += frame.put;
                for (function, instructions) in inside {
                    match outer.inside.iter_mut().find(|(known, _)| *known == function) {
                        Some((_, sum)) => *sum += instructions,
                        None => outer.inside.push((function, instructions)),
                    }
                }
            }
            None => {
                for (function, instructions) in inside {
                    self.functions.entry(function).or_default().instructions += instructions;
                }
            }
        }
    }

    /// The function that called a call, which is around it or called it before the stretch.
    fn called_by(&self, frame: &Frame, outer: Option<&Frame>) -> Option<u64> {
        match frame.returns_to {
            Some(to) => self.natives.function_around(to.wrapping_sub(1)),
            None => outer.map(|outer| outer.function),
        }
    }

    /// What the call was given.
    fn key(&self, frame: &Frame) -> u64 {
        let mut hash = DefaultHasher::new();
        let passes = frame.reads & !NO_ARGUMENT;
        for register in (0..32).filter(|register| passes >> register & 1 == 1) {
            register.hash(&mut hash);
            match register {
                16.. => frame.vectors[register - 16].hash(&mut hash),
                _ => relative(&self.stack, frame.general[register], frame.stack).hash(&mut hash),
            }
        }
        frame.given.hash(&mut hash);
        hash.finish()
    }

    /// A grain is read that may have been given.
    fn given(&mut self, grain: u64, value: u64, letters: bool, partly: bool) {
        let now = self.now;
        let touched = self.touched(grain);
        let Touched { changed, read } = *touched;
        touched.read = now;
        let at = grain * GRAIN;
        let on_stack = self.stack.contains(&at);
        if let Some((since, stack)) = self.copies.since().filter(|_| !partly)
            && changed < since
            && read < since
            && !(self.stack.start..=stack).contains(&at)
        {
            self.copies.copies_from(grain);
        }
        let depth = self.frames.len();
        for (outward, frame) in self.frames.iter_mut().rev().enumerate() {
            if changed >= frame.start || read >= frame.start {
                return;
            }
            if outward == OUTWARD {
                self.blind = self.blind.max(depth - outward);
                return;
            }
            // What is above its return address is its caller's; below it was left by others.
            if on_stack && at < frame.stack + GRAIN {
                continue;
            }
            frame.data |= letters && changed > 0;
            if on_stack {
                frame.by_value += u32::from(changed > 0);
            } else if let Some(least) = frame.changed.iter_mut().min().filter(|least| **least < changed) {
                *least = changed;
            }
            let place = if on_stack { at.wrapping_sub(frame.stack) } else { at };
            frame.elsewhere += u32::from(!on_stack);
            frame.given = frame.given.wrapping_add(mixed(place, relative(&self.stack, value, frame.stack)));
        }
    }

    fn look<S: Source>(&mut self, memory: &mut Memory<S>, address: u64, size: usize, partly: bool) {
        if !partly {
            self.texts.read(address, size as u64, self.formatting > 0);
        }
        if self.frames.is_empty() {
            return;
        }
        for grain in address / GRAIN..address.saturating_add(size as u64).div_ceil(GRAIN) {
            let at = grain * GRAIN;
            if partly && address <= at && address.saturating_add(size as u64) >= at + GRAIN {
                continue;
            }
            let mut bytes = [0; GRAIN as usize];
            let value = memory.read(at, &mut bytes).map_or(0, |()| u64::from_le_bytes(bytes));
            self.given(grain, value, size < LETTERS && !partly, partly);
        }
    }
}

/// A pointer into the stack by how far it is from a frame: so the same call is made by others as well.
fn relative(stack: &Range<u64>, value: u64, frame: u64) -> u64 {
    if stack.contains(&value) { value.wrapping_sub(frame) ^ 1 << 63 } else { value }
}

fn mixed(a: u64, b: u64) -> u64 {
    let mixed = (a ^ b.rotate_left(32)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    (mixed ^ mixed >> 29).wrapping_mul(0xbf58_476d_1ce4_e5b9)
}

impl<S: Source, N: Natives> Watch<S> for Calls<N> {
    fn about_to(&mut self, count: u64, reads: u32, writes: u32) {
        self.now = count as u32 + 1;
        if let Some(frame) = self.frames.last_mut() {
            frame.reads |= reads & !frame.writes;
            frame.writes |= writes;
        }
    }

    fn read(&mut self, memory: &mut Memory<S>, address: u64, size: usize) {
        self.look(memory, address, size, false);
    }

    /// What a grain holds beside what is written into it was given as well: it may be read later.
    fn writes(&mut self, memory: &mut Memory<S>, address: u64, size: usize) {
        self.look(memory, address, size, true);
    }

    fn written(&mut self, address: u64, bytes: &[u8], changed: bool) {
        let size = bytes.len() as u64;
        self.texts.overwritten(address, size);
        self.copies_written(address, bytes);
        if changed {
            self.change(address, size);
        }
    }

    fn locks(&mut self, address: u64) {
        self.copies.locks(address, self.now);
    }

    fn marked(&mut self, mark: u32) {
        self.rounds.hit(mark);
    }

    fn called(machine: &mut Machine<S, Self>) -> Result<(), End> {
        if machine.watch.full || !machine.watch.stack.contains(&machine.registers.general[4]) {
            return Err(End::Enough);
        }
        Self::enter(machine);
        Self::jumped(machine)
    }

    fn jumped(machine: &mut Machine<S, Self>) -> Result<(), End> {
        let ip = machine.registers.ip;
        let now = machine.count as u32 + 1;
        // A stub that leads to the function.
        if let Some(frame) = machine.watch.frames.last_mut()
            && now - frame.start <= STUB
        {
            frame.function = ip;
        }
        if let Some(sized) = machine.watch.natives.formats(ip) {
            let (size, buffer) = (machine.registers.general[6], machine.registers.general[7]);
            if let Some(frame) = machine.watch.frames.last_mut().filter(|frame| frame.formats.is_none()) {
                frame.formats = Some((buffer, if sized { size } else { u64::MAX }));
                machine.watch.formatting += 1;
            }
        }
        if let Some(assigns) = machine.watch.natives.copies(ip) {
            let to = assigns.then_some(machine.registers.general[7]);
            let mut locks: Vec<u64> = machine.watch.copies.locks_before(now).collect();
            locks.retain(|lock| {
                let mut word = [0; 4];
                machine.memory.read(*lock, &mut word).is_some() && word != [0; 4]
            });
            machine.watch.copies(ip, to, locks);
        }
        if machine.watch.natives.resizes(ip) {
            machine.watch.copies.resized(machine.registers.general[7]);
        }
        if machine.watch.natives.frees(ip) {
            let block = machine.registers.general[7];
            machine.watch.freed(block);
        }
        match N::instead(machine, |calls| &mut calls.natives)? {
            Outcome::NotNative => Ok(()),
            Outcome::Done { fresh, given } => {
                if let Some(frame) = machine.watch.frames.last_mut() {
                    frame.reads |= given & !frame.writes;
                    frame.writes |= RETURNED;
                }
                if let Some(range) = fresh.filter(|range| is_fresh(range.start)) {
                    machine.watch.renew(range.clone());
                    let now = machine.watch.now;
                    machine.watch.copies.allocated(range, now);
                }
                machine.leave()
            }
        }
    }

    fn returned(machine: &mut Machine<S, Self>) {
        let stack = machine.registers.general[4];
        machine.watch.now = machine.count as u32 + 1;
        machine.watch.returned = machine.registers.general[0];
        while machine.watch.frames.last().is_some_and(|frame| frame.stack < stack) {
            machine.watch.leave();
        }
        machine.watch.texts.gone(stack);
    }
}
