//! Calls that do again what a call before did: the same function, given the same, reads the same memory, and none of it was changed in between.
//!
//! What a call is given is what it reads before it writes it, by itself or by what it calls: registers that pass arguments, and memory. Memory
//! is the same if it is at the same address and nothing wrote another value there; on the stack, where arguments are put by value, up to
//! [`BY_VALUE`] bytes are the same if they hold the same. Of pointers into the stack what they lead to counts, not where it is. A call that gets other
//! memory each time, even of the same content, is another one: so is a line of a file like one before.
//!
//! Such a call comes to the same result, whatever it writes: all that it looks at is as it was.

use super::natives::{Natives, Outcome};
use slowpath_emulate::{End, Machine, Memory, Source, Watch};
use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::ops::Range;

/// Bytes that are told apart in memory.
const GRAIN: u64 = 8;
/// Grains of a page.
const GRAINS: usize = 4096 / GRAIN as usize;
/// Grains that may have been changed and hold the same again: counts of references, locks. More is data that came anew.
const RESTORED: usize = 9;
/// Frames outwards for which an input is noted; calls further out are not judged.
const OUTWARD: usize = 48;
/// Registers that pass arguments: rcx, rdx, rsi, rdi, r8 to r11 (Go), rax and rbx (Go alone), and the first eight vector registers.
const IN_C: u32 = 1 << 1 | 1 << 2 | 1 << 6 | 1 << 7 | 1 << 8 | 1 << 9 | 0xff << 16;
const IN_GO: u32 = IN_C | 1 << 0 | 1 << 3 | 1 << 10 | 1 << 11;
/// Calls of fewer instructions cost less than to look up what was kept of them.
const LEAST: u64 = 300;

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
    vectors: [u64; 8],
    reads: u32,
    writes: u32,
    /// Memory that it was given, the order left out.
    given: u64,
    by_value: u32,
    /// When the memory that it was given changed, the latest times.
    changed: [u32; RESTORED],
    /// Of functions called inside, by who called them, instructions of calls that did the same again.
    inside: Vec<(Key, u64)>,
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
}

/// Watches a stretch of a thread.
pub(crate) struct Calls<N> {
    natives: N,
    go: bool,
    stack: Range<u64>,
    now: u32,
    pages: HashMap<u64, usize>,
    touched: Vec<Box<[Touched; GRAINS]>>,
    last: (u64, usize),
    frames: Vec<Frame>,
    /// Frames below this number did not note all that they were given.
    blind: usize,
    seen: HashMap<(u64, u64), u32>,
    functions: HashMap<Key, Again>,
}

impl<N> Calls<N> {
    /// `stack` is where the thread's stack is.
    pub(crate) fn new(natives: N, go: bool, stack: Range<u64>) -> Calls<N> {
        Calls {
            natives,
            go,
            stack,
            now: 1,
            pages: HashMap::new(),
            touched: Vec::new(),
            last: (u64::MAX, 0),
            frames: Vec::new(),
            blind: 0,
            seen: HashMap::new(),
            functions: HashMap::new(),
        }
    }

    /// By the addresses of functions and those who called them.
    pub(crate) fn found(mut self) -> HashMap<Key, Again> {
        for frame in std::mem::take(&mut self.frames) {
            for (function, instructions) in frame.inside {
                self.functions.entry(function).or_default().instructions += instructions;
            }
        }
        self.functions
    }

    fn touched(&mut self, grain: u64) -> &mut Touched {
        let page = grain / GRAINS as u64;
        if self.last.0 != page {
            let next = self.touched.len();
            let at = *self.pages.entry(page).or_insert(next);
            if at == next {
                self.touched.push(Box::new([Touched::default(); GRAINS]));
            }
            self.last = (page, at);
        }
        &mut self.touched[self.last.1][(grain % GRAINS as u64) as usize]
    }

    /// Memory now holds something else.
    fn change(&mut self, address: u64, size: u64) {
        let now = self.now;
        for grain in address / GRAIN..(address + size).div_ceil(GRAIN) {
            self.touched(grain).changed = now;
        }
    }

    fn enter<S>(machine: &mut Machine<S, Self>)
    where
        Self: Watch<S>,
    {
        let registers = &machine.registers;
        let frame = Frame {
            function: registers.ip,
            stack: registers.general[4],
            start: machine.watch.now,
            general: registers.general,
            vectors: std::array::from_fn(|at| registers.vectors[at][0] as u64),
            reads: 0,
            writes: 0,
            given: 0,
            by_value: 0,
            changed: [0; RESTORED],
            inside: Vec::new(),
        };
        machine.watch.frames.push(frame);
    }

    /// The innermost call returned.
    fn leave(&mut self) {
        let Some(frame) = self.frames.pop() else { return };
        let complete = self.frames.len() >= self.blind;
        self.blind = self.blind.min(self.frames.len());
        let instructions = u64::from(self.now - frame.start);
        let whose = (frame.function, self.frames.last().map(|outer| outer.function));
        let key = (frame.function, self.key(&frame));
        let again = complete
            && instructions >= LEAST
            && self
                .seen
                .insert(key, frame.start)
                .is_some_and(|before| frame.changed.iter().min().is_some_and(|least| *least <= before));
        if instructions >= LEAST {
            let near = self.frames.iter().rev().take(OUTWARD);
            let is_inside = near.into_iter().any(|outer| outer.function == frame.function);
            let of = self.functions.entry(whose).or_default();
            of.calls += 1;
            of.again += u64::from(again);
            of.all_instructions += if is_inside { 0 } else { instructions };
        }
        let inside = if again { vec![(whose, instructions)] } else { frame.inside };
        match self.frames.last_mut() {
            Some(outer) => {
                outer.reads |= frame.reads & !outer.writes;
                outer.writes |= frame.writes;
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

    /// What the call was given.
    fn key(&self, frame: &Frame) -> u64 {
        let mut hash = DefaultHasher::new();
        let passes = frame.reads & if self.go { IN_GO } else { IN_C };
        for register in (0..24).filter(|register| passes >> register & 1 == 1) {
            let value = match register {
                16.. => frame.vectors[register - 16],
                _ => frame.general[register],
            };
            (register, if self.stack.contains(&value) { 1 } else { value }).hash(&mut hash);
        }
        (frame.given, frame.by_value).hash(&mut hash);
        hash.finish()
    }
}

fn mixed(a: u64, b: u64) -> u64 {
    let mixed = (a ^ b.rotate_left(32)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    (mixed ^ mixed >> 29).wrapping_mul(0xbf58_476d_1ce4_e5b9)
}

impl<N> Calls<N> {
    fn given(&mut self, grain: u64, value: Option<u64>) {
        let now = self.now;
        let touched = self.touched(grain);
        let Touched { changed, read } = *touched;
        touched.read = now;
        let at = grain * GRAIN;
        let on_stack = self.stack.contains(&at);
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
            let value = value.unwrap_or(0);
            let value = if self.stack.contains(&value) { 1 } else { value };
            frame.given = frame.given.wrapping_add(if on_stack {
                frame.by_value += 1;
                mixed(u64::from(frame.by_value), value)
            } else {
                if let Some(least) = frame.changed.iter_mut().min().filter(|least| **least < changed) {
                    *least = changed;
                }
                mixed(grain, value)
            });
        }
    }
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
        if self.frames.is_empty() {
            return;
        }
        for grain in address / GRAIN..(address + size as u64).div_ceil(GRAIN) {
            let mut bytes = [0; 8];
            let value = memory.read(grain * GRAIN, &mut bytes).map(|()| u64::from_le_bytes(bytes));
            self.given(grain, value);
        }
    }

    fn written(&mut self, address: u64, size: usize, changed: bool) {
        if changed {
            self.change(address, size as u64);
        }
    }

    fn called(machine: &mut Machine<S, Self>) -> Result<(), End> {
        if !machine.watch.stack.contains(&machine.registers.general[4]) {
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
            && now - frame.start <= 3
        {
            frame.function = ip;
        }
        match N::instead(machine, |calls| &mut calls.natives)? {
            Outcome::NotNative => Ok(()),
            Outcome::Done { fresh } => {
                if let Some(range) = fresh {
                    machine.watch.change(range.start, range.end - range.start);
                }
                machine.leave()
            }
        }
    }

    fn returned(machine: &mut Machine<S, Self>) {
        let stack = machine.registers.general[4];
        machine.watch.now = machine.count as u32 + 1;
        while machine.watch.frames.last().is_some_and(|frame| frame.stack < stack) {
            machine.watch.leave();
        }
    }
}
