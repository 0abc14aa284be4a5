//! What `valgrind --tool=callgrind` writes: exact counts of instructions and calls, function by function.
//!
//! - this file — what a profile is.
//! - `read` — the text, line by line (<https://valgrind.org/docs/manual/cl-format.html>).
//! - [`tool`] — how valgrind is asked for it.
//! - `totals` — what each function costs in all, by itself and with what it calls.
//!
//! A file may hold several parts: dumps one after the other, or threads. Costs are kept as they stand there, a part for
//! itself; which of them belong together is for the caller to say.

mod read;
pub mod tool;
mod totals;

pub use read::read;
pub use totals::{Caller, Function, functions};

use std::collections::HashMap;

/// The event that counts instructions.
pub const INSTRUCTIONS: &str = "Ir";

/// A file that cannot be read as callgrind's.
#[derive(Debug, thiserror::Error)]
#[error("{file}:{line}: {why}")]
pub struct Error {
    /// The file, as the caller named it.
    pub file: String,
    /// The line, from 1.
    pub line: usize,
    /// What is wrong there.
    pub why: String,
}

/// One file.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Profile {
    /// What is counted, such as `Ir`. Every list of costs is in this order.
    pub events: Vec<String>,
    /// Every function that a part mentions; costs refer to their place here.
    pub places: Vec<Place>,
    /// Lines of functions, by their place in `places`: of the entry where a call gives it, else the least with a cost.
    pub lines: HashMap<usize, u32>,
    /// Dumps and threads, in the order of the file.
    pub parts: Vec<Part>,
}

impl Profile {
    /// The place of an event in lists of costs; none if it was not counted.
    pub fn event(&self, name: &str) -> Option<usize> {
        self.events.iter().position(|event| event == name)
    }
}

/// A function at one level of recursion.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub struct Place {
    /// Its name, demangled if callgrind did so, without the mark of the level; `???` where unknown.
    pub name: String,
    /// Executable or library, empty where unknown.
    pub object: String,
    /// Source file, empty where unknown.
    pub file: String,
    /// 1 for a call from outside, 2 for one from within itself, and so on: `f'2`.
    pub level: u32,
}

/// One dump of one thread (or of all, without `--separate-threads`).
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Part {
    /// The process, where it is given.
    pub pid: Option<u32>,
    /// The number of the dump, where it is given.
    pub number: Option<u32>,
    /// The thread, where threads are separate.
    pub thread: Option<u32>,
    /// Why it was dumped, such as `Program termination`; empty where not given.
    pub trigger: String,
    /// The file's own sum of costs; empty where not given.
    pub summary: Vec<u64>,
    /// What each function cost by itself.
    pub own: HashMap<usize, Vec<u64>>,
    /// Calls from one function to another, and what they cost with all that they call in turn.
    pub calls: HashMap<(usize, usize), Calls>,
}

/// All calls from one function to another.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Calls {
    /// How many. 0 if one goes on that was made before this dump.
    pub count: u64,
    /// Inclusive cost.
    pub cost: Vec<u64>,
}

/// Adds costs event by event.
pub(crate) fn add(sum: &mut Vec<u64>, costs: &[u64]) {
    if sum.len() < costs.len() {
        sum.resize(costs.len(), 0);
    }
    for (sum, cost) in sum.iter_mut().zip(costs) {
        *sum = sum.saturating_add(*cost);
    }
}
