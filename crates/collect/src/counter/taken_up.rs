//! What is surveyed: which loops and functions of a process, and what is noted of each entry.
//!
//! Loops that walk or count, and those around them; functions that work themselves; functions that `slowpath-interfaces` lists. When their bursts
//! are taken is left to `survey`.

use super::listed::Does;
use super::loops::Loop;
use super::origin::{self, Origin};
use super::survey::{BEGINNINGS, BEGINNINGS_NS, BLOCKS, CALLS, TEXTS};
use super::*;
use crate::bpf::{TEXT_AS_IT_IS, TEXT_LENGTH, TEXT_TO_ZERO};
use iced_x86::{Decoder, DecoderOptions, Instruction};
use slowpath_interfaces::{Input, What};

/// Loops of one process that are looked at (and as many around them), functions, and all: each takes up to two of 64 slots, and half of these
/// are left to the counting of calls.
const LOOPS: usize = 6;
const FUNCTIONS: usize = 4;
/// Two that call each other.
const RECURSIVE: usize = 2;
/// One that takes back, one that moves, one that hands out.
const MEMORY: usize = 3;
const INTERFACES: usize = 4;
/// An engine has one function that matches, or one that searches besides.
const MATCHERS: usize = 2;
const IN_ALL: usize = 16;
/// What is looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Of {
    /// A loop of the function, by its place among them.
    Loop(usize),
    /// A function that works itself.
    Function,
    /// A function that calls itself.
    Recursive,
    /// A function of an allocator.
    Memory,
    /// A function that matches a regular expression with a text.
    Matcher(What),
    /// A function that is meant to be called once for an input.
    Interface(&'static Input),
}

impl Of {
    pub(super) fn one_loop(self) -> Option<usize> {
        match self {
            Of::Loop(at) => Some(at),
            Of::Function | Of::Recursive | Of::Memory | Of::Matcher(_) | Of::Interface(_) => None,
        }
    }

    /// How many of one process are looked at.
    pub(super) fn most(self) -> usize {
        match self {
            Of::Loop(_) => LOOPS,
            Of::Function => FUNCTIONS,
            Of::Recursive => RECURSIVE,
            Of::Memory => MEMORY,
            Of::Matcher(_) => MATCHERS,
            Of::Interface(_) => INTERFACES,
        }
    }

    /// How many there are of all kinds before there is no room. Loops and functions leave some for those that are found later.
    pub(super) fn most_in_all(self) -> usize {
        match self {
            Of::Interface(_) | Of::Memory | Of::Matcher(_) => IN_ALL + INTERFACES,
            Of::Loop(_) | Of::Function | Of::Recursive => IN_ALL,
        }
    }

    /// Entries in a burst of beginnings.
    pub(super) fn beginnings(self) -> u64 {
        match self {
            Of::Memory => BLOCKS,
            Of::Matcher(_) => TEXTS,
            Of::Recursive => CALLS,
            Of::Loop(_) | Of::Function | Of::Interface(_) => BEGINNINGS,
        }
    }

    /// How what the first origin leads to is read.
    pub(super) fn texts(self) -> u32 {
        match self {
            Of::Function | Of::Matcher(What::Text(_)) => TEXT_LENGTH,
            Of::Interface(input) => match input.what {
                What::Text(_) => TEXT_TO_ZERO,
                What::Bytes(..) | What::Range(..) => TEXT_AS_IT_IS,
                What::Number(_) | What::None => 0,
            },
            Of::Loop(_) | Of::Recursive | Of::Memory | Of::Matcher(_) => 0,
        }
    }
}

impl Counter {
    /// Takes up the loops of a hot function that walk or count, and the function itself where it works itself and is entered often. Of a function that is entered by
    /// others which it called, only loops that call nothing and have no other in them: a round of another one may have the loop in it again.
    pub(super) fn take_up(&mut self, candidate: &Candidate, loops: &[Loop]) {
        let share = |one: &Loop| -> f64 {
            let inside =
                candidate.places.iter().filter(|(address, _)| one.contains(address - candidate.start));
            inside.map(|(_, share)| share).sum()
        };
        let listed = self.listed.get(candidate.function, &candidate.image, candidate.start);
        let searches = listed == Some(Does::Searches);
        for (at, one) in loops.iter().enumerate() {
            let is_leaf = one.is_whole && !one.varies;
            if share(one) < choose::SHARE || candidate.recursive && !is_leaf {
                continue;
            }
            let in_bucket = matches!(one.work, Work::Buckets | Work::Groups | Work::Places);
            if searches || in_bucket {
                // Where it begins does not matter, nor that it calculates hashes as it goes. A loop in a function that searches compares keys.
                let outermost = in_bucket || one.is_whole && one.parent.is_none();
                if let Some(entry) = one.entry.as_ref().filter(|_| outermost) {
                    let entry = Entry { of_table: true, ..Entry::of_loop(entry) };
                    self.survey(candidate, Of::Loop(at), entry, &[], one.count_at);
                }
                continue;
            }
            if !matches!(one.work, Work::Walks | Work::Chains | Work::Counts | Work::Folds) {
                continue;
            }
            let Some(entry) = one.entry.as_ref().filter(|entry| !entry.origins.is_empty()) else { continue };
            self.survey(candidate, Of::Loop(at), Entry::of_loop(entry), &entry.origins, one.count_at);
            if candidate.recursive {
                continue;
            }
            let whole = if one.is_whole { Some(one) } else { one.parent.and_then(|at| loops.get(at)) };
            self.take_up_around(candidate, loops, whole.and_then(|whole| whole.parent));
        }
        if !self.notes_beginnings() || candidate.recursive {
            return;
        }
        // Inputs of listed functions may be secrets: of those only a key is noted.
        if self.interfaces.get(candidate.function, &candidate.image, candidate.start).is_some() {
            return;
        }
        let known = self.by_function.get(&(candidate.process, candidate.function));
        if candidate.innermost < choose::SHARE || !known.is_some_and(|index| self.is_entered_often(*index)) {
            return;
        }
        self.take_up_function(candidate, Of::Function);
    }

    /// Takes up a function that copies something as a whole or matches a text (it may do so by others, and seldom), or hands out memory, takes it
    /// back or moves it.
    pub(super) fn take_up_listed(&mut self, candidate: &Candidate) {
        if !self.notes_beginnings() {
            return;
        }
        let Some(does) = self.listed.get(candidate.function, &candidate.image, candidate.start) else {
            return;
        };
        let of = match does {
            Does::Memory(_) => Of::Memory,
            Does::Copies(_) => Of::Function,
            Does::Matches(text) => Of::Matcher(text),
            Does::Searches => return,
        };
        if of != Of::Memory && candidate.share < choose::SHARE {
            return;
        }
        let Some((at, before)) = entry_of(candidate) else { return };
        let Some(origins) = listed::origins(does, before.iter(), candidate.image.go) else { return };
        self.survey(candidate, of, at, &still(origins), None);
    }

    /// Takes up a function that calls itself, where it only reads: what it is given again it works out again.
    pub(super) fn take_up_recursive(&mut self, candidate: &Candidate) {
        let key = (candidate.process, candidate.function, None);
        if !self.notes_beginnings() || candidate.share < choose::SHARE || self.surveyed.contains(&key) {
            return;
        }
        if self.interfaces.get(candidate.function, &candidate.image, candidate.start).is_some() {
            return;
        }
        let Some(given) = self.given_to_reader(candidate) else { return };
        let Some((at, before)) = entry_of(candidate) else { return };
        let arguments = origin::of_arguments(before.iter(), candidate.image.go, &given);
        // All that it is given must be noted.
        if arguments.is_empty() || arguments.len() < given.len() || at.sp_adjust.is_none() {
            return;
        }
        let at = Entry { given: Some(given.len() as u32), ..at };
        self.survey(candidate, Of::Recursive, at, &still(arguments), None);
    }

    /// Which arguments a function has that, with all that it calls, only reads; none if it does more.
    fn given_to_reader(&mut self, candidate: &Candidate) -> Option<Vec<u8>> {
        if let Some(known) = self.readers.get(&candidate.function) {
            return known.clone();
        }
        let reads = matches!(self.known(candidate).1, Work::Reads | Work::Walks);
        let all = || reads_only::only_reads(&candidate.image, candidate.start, candidate.end);
        let functions = reads.then(all).flatten();
        let given = functions.and_then(|functions| given::all_arguments(&candidate.image, &functions));
        self.readers.insert(candidate.function, given.clone());
        given
    }

    fn take_up_function(&mut self, candidate: &Candidate, of: Of) {
        let Some((at, before)) = entry_of(candidate) else { return };
        let Some(code) = code_of(candidate) else { return };
        let given = given::arguments(&code, candidate.image.go);
        let mut arguments = origin::of_arguments(before.iter(), candidate.image.go, &given);
        if !candidate.image.go {
            fills::note_end(&code, &given, &mut arguments);
        }
        if !arguments.is_empty() {
            self.survey(candidate, of, at, &still(arguments), None);
        }
    }

    /// Takes up a function that is meant to be called once for an input, wherever the work is done that it asks for.
    pub(super) fn take_up_interface(&mut self, candidate: &Candidate) {
        if !self.notes_beginnings() {
            return;
        }
        let known = self.interfaces.get(candidate.function, &candidate.image, candidate.start);
        let Some(input) = known.map(|interface| &interface.input) else { return };
        if self.surveyed.contains(&(candidate.process, candidate.function, None)) {
            return;
        }
        let Some((at, before)) = entry_of(candidate) else { return };
        let Some(origins) = input::origins(input, before.iter(), candidate.image.go) else { return };
        self.survey(candidate, Of::Interface(input), at, &still(origins), None);
    }

    /// The loops around one that is looked at: a call of the function goes through as many rounds as all of them together. Only where the
    /// function is entered often enough for a burst to see several entries.
    fn take_up_around(&mut self, candidate: &Candidate, loops: &[Loop], mut around: Option<usize>) {
        let known = self.by_function.get(&(candidate.process, candidate.function));
        if !known.is_some_and(|index| self.is_entered_often(*index)) {
            return;
        }
        while let Some(one) = around.and_then(|at| loops.get(at)) {
            if let (Some(at), Some(entry)) = (around, one.entry.as_ref().filter(|_| one.count_at.is_some())) {
                self.survey(candidate, Of::Loop(at), Entry::of_loop(entry), &[], one.count_at);
            }
            around = one.parent;
        }
    }

    /// Whether a function's probe was hit at least so often that a burst of beginnings is soon full.
    fn is_entered_often(&self, index: usize) -> bool {
        let probe = &self.probes[index];
        let least = BEGINNINGS as f64 * 1e9 / BEGINNINGS_NS as f64;
        match &probe.standing {
            Some(standing) if standing.trial => false,
            Some(standing) => rate(self.hits(index), clock::now_ns() - standing.opened_ns) >= least,
            None => probe.rate >= least,
        }
    }
}

/// Where the probe of a survey stands.
#[derive(Debug, Clone, Copy)]
pub(super) struct Entry {
    /// Bytes from the function's start.
    pub offset: u64,
    /// See [`Placement::stepped`].
    pub stepped: bool,
    /// At a function's entry: bytes that the stack pointer is below its value there, where that is known.
    pub sp_adjust: Option<u32>,
    /// How many arguments it is given, of a function that calls itself and only reads.
    pub given: Option<u32>,
    /// A look-up in a hash table: how far each goes is what matters, and they are unlike.
    pub of_table: bool,
}

impl Entry {
    /// Of a function that calls itself, where it can be told which entries an invocation makes before it returns: bytes as in `sp_adjust`.
    pub(super) fn nests(&self) -> Option<u32> {
        self.sp_adjust.filter(|_| self.given.is_some())
    }

    fn of_loop(entry: &loops::Entry) -> Entry {
        Entry { offset: entry.offset, stepped: entry.stepped, sp_adjust: None, given: None, of_table: false }
    }
}

/// Where a probe can stand at a function's entry, and the code before it.
fn entry_of(candidate: &Candidate) -> Option<(Entry, Vec<Instruction>)> {
    let code = candidate.image.code(candidate.start, (candidate.end - candidate.start) as usize)?;
    let Placement { offset, stepped, .. } =
        place::somewhere_at_entry(code, candidate.start, candidate.image.go)?;
    let placement = place::each_entry(code, candidate.start, candidate.image.go);
    let sp_adjust = placement.filter(|at| at.offset == offset).map(|at| at.sp_adjust);
    let before =
        code_of(candidate)?.into_iter().take_while(|instruction| instruction.ip() < offset).collect();
    Some((Entry { offset, stepped, sp_adjust, given: None, of_table: false }, before))
}

/// A function's code, from 0.
fn code_of(candidate: &Candidate) -> Option<Vec<Instruction>> {
    let code = candidate.image.code(candidate.start, (candidate.end - candidate.start) as usize)?;
    Some(Decoder::with_ip(64, code, 0, DecoderOptions::NONE).into_iter().collect())
}

/// Pointers that do not move.
fn still(origins: Vec<Origin>) -> Vec<(Origin, i64)> {
    origins.into_iter().map(|origin| (origin, 0)).collect()
}
