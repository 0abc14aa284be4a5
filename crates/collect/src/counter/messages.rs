//! Messages between the session, which knows what is hot, and the counter, which knows what was counted.

use super::loops::Loop;
use super::walk::Work;
use crate::bpf::event::Event;
use crate::image::Image;
use slowpath_interfaces::Input;
use slowpath_recording::tables::{Call, WalkBurst, Window};
use std::path::PathBuf;
use std::sync::Arc;

/// A function that may be counted, as the session describes it.
#[derive(Clone)]
pub(crate) struct Candidate {
    /// The process's number in the recording, and its pid.
    pub process: u32,
    pub pid: u32,
    /// The live function, and the one that calls it most.
    pub function: u32,
    pub caller: Option<u32>,
    pub share: f64,
    /// The share of the samples whose innermost frame of the program it is.
    pub innermost: f64,
    /// It is entered by others that it called; and that, or it calls itself directly.
    pub recursive: bool,
    pub calls_itself: bool,
    /// The recent samples of the process.
    pub samples: f64,
    pub image: Arc<Image>,
    /// Where the file can be opened.
    pub file: PathBuf,
    /// The function's addresses in its module.
    pub start: u64,
    pub end: u64,
    /// Where it begins in the process.
    pub live: u64,
    /// Where in it its own work was done: addresses and shares; empty if there is little of it.
    pub places: Vec<(u64, f64)>,
}

/// Messages from the session to the counter.
pub(crate) enum Order {
    /// These are worth counting in the process, the most worthwhile first.
    Choose(Vec<Candidate>),
    /// The process ended.
    Gone(u32),
}

/// Messages from the counter to the session.
pub(crate) enum Told {
    /// A probe was made: its number, the candidate's process and function, the offset of the instruction, and what it
    /// counts: `function` or `loop`.
    Probe {
        probe: u32,
        process: u32,
        function: u32,
        offset: u64,
        kind: &'static str,
    },
    /// The loops of a function that was hot, and what all of its code does.
    Loops {
        function: u32,
        loops: Arc<[Loop]>,
        work: Work,
    },
    /// The usual way around a loop of a function, by its place among the loops.
    Way {
        function: u32,
        at: usize,
        one: Loop,
    },
    /// The entries of a function, or of one of its loops (by its place among them), are looked at.
    Walk {
        walk: u32,
        process: u32,
        pid: u32,
        function: u32,
        of: Option<usize>,
        strides: Vec<u64>,
        /// Of a function, how many arguments it is given.
        arguments: Option<u32>,
        /// Of a loop, the addresses in the process of an instruction that is executed once each time it is entered, and of one that is once in each round.
        rounds: Option<(u64, u64)>,
        /// Of a function that is meant to be called once for its input.
        input: Option<&'static Input>,
    },
    Burst(WalkBurst),
    Window(Window),
    Call(Call),
    /// An entry of a function that reaches the session in no other way.
    Entry(Event),
    /// A probe could not be placed.
    Refused(String),
}
