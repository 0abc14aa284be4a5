//! Work in the loops of a function, by what the loops do: walking, moving, calculating. Where a function is entered only
//! once or so, the rounds of its loops are counted instead of its calls.
//!
//! In such a loop the work that may grow is what walks through data or moves it: inner loops that do no more than that, and
//! what the runtime does on request (copying, comparing, searching bytes). All else in the loop is the rest that the growth
//! is held against. What the program's own functions do in it is shown by their own calls.

use super::candidate::{self, CALLS, Candidate, Round, costed};
use crate::Evidence;
use crate::causes::{allocators, runtime};
use crate::walks;
use slowpath_recording::tables::Loop;
use std::collections::{BTreeMap, HashSet};

/// What is done on the stacks of some samples, as shares of their time.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(super) struct Shares {
    /// In the runtime's functions that search, compare or copy bytes, or in loops that only read, compare and step on.
    pub walks: f64,
    /// In loops that also store what they read.
    pub moves: f64,
    /// In loops that calculate.
    pub calculates: f64,
}

/// Copying that spends more than this share on first touches of memory makes results, unless the loop spends so much of its
/// time on giving memory back.
const TOUCHED: f64 = 0.15;
const FREED: f64 = 0.01;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Work {
    Walks,
    /// The runtime copies bytes.
    Copies,
    Moves,
    Calculates,
    Other,
}

/// Whether a loop leaves a result: a number that it counted is one.
fn is_calculating(work: &str) -> bool {
    matches!(work, "calculates" | "counts" | "folds" | "groups" | "spins")
}

/// The loops of one function.
pub(super) struct Loops<'a> {
    function: u32,
    /// The function's first address.
    start: u64,
    loops: Vec<&'a Loop>,
    /// Functions that only read, such as those that compare two items.
    reading: HashSet<u32>,
}

impl<'a> Loops<'a> {
    pub(super) fn of(evidence: &Evidence<'a>, function: u32) -> Loops<'a> {
        let tables = &evidence.recording.tables;
        let loops = tables.loops.iter().filter(|one| evidence.function_at(one.location) == Some(function));
        // The usual way around a loop has its rounds, and is none within it.
        let loops = loops.filter(|one| one.usual != Some(true)).collect::<Vec<&Loop>>();
        let start = loops.first().map_or(0, |one| tables.locations[one.location as usize].address);
        Loops { function, start, loops, reading: walks::readers(evidence) }
    }

    /// The function's first address; 0 if it has no loops.
    pub(super) fn start(&self) -> u64 {
        self.start
    }

    /// The innermost loop at an offset, and those around it, outward.
    pub(super) fn around(&self, offset: u64) -> impl Iterator<Item = &'a Loop> + '_ {
        let holds =
            move |one: &Loop| one.ranges.chunks_exact(2).any(|range| (range[0]..range[1]).contains(&offset));
        // Inner loops stand behind those around them.
        self.loops.iter().rev().copied().filter(move |one| holds(one))
    }

    /// For each stack the offset of its innermost frame in the function; none if it has none.
    pub(super) fn offsets(&self, evidence: &Evidence<'_>) -> Vec<Option<u64>> {
        let tables = &evidence.recording.tables;
        let mut offsets: Vec<Option<u64>> = Vec::with_capacity(tables.stacks.len());
        for stack in &tables.stacks {
            let here = evidence.function_at(stack.location) == Some(self.function);
            offsets.push(if here {
                tables.locations[stack.location as usize].address.checked_sub(self.start)
            } else {
                stack.parent.and_then(|parent| offsets[parent as usize])
            });
        }
        offsets
    }

    /// What is done on a stack whose innermost frame in the function is at `offset`; as far as it goes on inside of loop
    /// `within`, if that is asked.
    fn work(&self, evidence: &Evidence<'_>, stack: u32, offset: u64, within: Option<u32>) -> Work {
        let tables = &evidence.recording.tables;
        let kernel = |location: u32| tables.locations[location as usize].kind == "kernel";
        let mut frames = evidence.locations(stack).skip_while(|location| kernel(*location)).peekable();
        let Some(leaf) = frames.peek().and_then(|location| evidence.function_at(*location)) else {
            return Work::Other;
        };
        if leaf != self.function {
            let between = frames.filter_map(|location| evidence.function_at(location));
            let mut called = between.take_while(|function| *function != self.function);
            // A function's calls are those of all that it calls; in a loop its own functions have calls of their own.
            let asked =
                within.is_none() || called.all(|function| runtime::is_name(&evidence.frame(function)));
            let frame = evidence.frame(leaf);
            let looks = |function: u32| {
                let frame = evidence.frame(function);
                self.reading.contains(&function)
                    || runtime::handles_bytes(&frame) && !runtime::copies_bytes(&frame)
            };
            // Each item is passed to functions that only look at it.
            let below = evidence.locations(stack).filter_map(|location| evidence.function_at(location));
            if within.is_none() && below.take_while(|function| *function != self.function).all(looks) {
                let walks = self
                    .around(offset)
                    .next()
                    .is_some_and(|one| matches!(one.work.as_str(), "walks" | "chains" | "buckets"));
                return if walks || runtime::handles_bytes(&frame) { Work::Walks } else { Work::Other };
            }
            // Where the program counts or sums up what is compared, comparing is no way to a place.
            let inner = self.around(offset).next().filter(|one| within != Some(one.loop_number));
            let sums = within.is_some() && inner.is_some_and(|one| is_calculating(&one.work));
            return match asked && !sums && runtime::handles_bytes(&frame) {
                true if runtime::copies_bytes(&frame) => Work::Copies,
                true => Work::Walks,
                false => Work::Other,
            };
        }
        let Some(innermost) = self.around(offset).next() else { return Work::Other };
        match innermost.work.as_str() {
            _ if within == Some(innermost.loop_number) => Work::Other,
            // The largest of all that was there before is known.
            "walks" | "chains" | "buckets" | "extremes" => Work::Walks,
            "moves" => Work::Moves,
            work if is_calculating(work) => Work::Calculates,
            _ => Work::Other,
        }
    }
}

/// What a function that was counted does under its calls, or in the rounds of its loop.
pub(super) fn shares(evidence: &Evidence<'_>, candidate: &Candidate) -> Shares {
    let loops = Loops::of(evidence, candidate.function);
    let offsets = loops.offsets(evidence);
    let within = candidate.round.as_ref().map(|round| round.loop_number);
    let under = |stack: usize| match &candidate.round {
        Some(round) => candidate.on[stack] || round.whole[stack],
        None => candidate.on[stack],
    };
    let frees = evidence.stacks_with(|function| allocators::frees(&evidence.frame(function)));
    let mut shares = Shares::default();
    let (mut all, mut copied, mut touched, mut whole, mut freed) = (0.0, 0.0, 0.0, 0.0, 0.0);
    for (sample, weight) in evidence.recording.tables.samples.iter().zip(&evidence.weights) {
        let Some(stack) = sample.stack.filter(|stack| under(*stack as usize)) else { continue };
        whole += weight;
        freed += if frees[stack as usize] { *weight } else { 0.0 };
        if !candidate.on[stack as usize] {
            continue;
        }
        all += weight;
        match offsets[stack as usize].map(|offset| loops.work(evidence, stack, offset, within)) {
            Some(Work::Walks) => shares.walks += weight,
            Some(Work::Copies) => {
                copied += weight;
                touched += if in_kernel(evidence, stack) { *weight } else { 0.0 };
            }
            Some(Work::Moves) => shares.moves += weight,
            Some(Work::Calculates) => shares.calculates += weight,
            _ => {}
        }
    }
    // Copies into memory that was never touched, and that is not given back, are results, and grow because the results do.
    let results = touched > TOUCHED * copied && freed < FREED * whole;
    *(if results { &mut shares.moves } else { &mut shares.walks }) += copied;
    let all = f64::max(all, 1.0);
    Shares { walks: shares.walks / all, moves: shares.moves / all, calculates: shares.calculates / all }
}

/// Whether what a function's innermost loops do is to keep the largest or smallest of all that they read.
pub(super) fn keeps_extremes(evidence: &Evidence<'_>, function: u32) -> bool {
    let loops = Loops::of(evidence, function);
    let is_innermost = |one: &&&Loop| loops.loops.iter().all(|other| other.parent != Some(one.loop_number));
    let innermost = loops.loops.iter().filter(is_innermost);
    let mut walking = innermost.filter(|one| one.work != "moves").peekable();
    walking.peek().is_some() && walking.all(|one| one.work == "extremes")
}

/// Share of a candidate's cost that is the kernel's own work.
pub(super) fn kernel_share(evidence: &Evidence<'_>, candidate: &Candidate) -> f64 {
    let (mut all, mut kernel) = (0.0, 0.0);
    for (sample, weight) in evidence.recording.tables.samples.iter().zip(&evidence.weights) {
        let Some(stack) = sample.stack.filter(|stack| candidate.on[*stack as usize]) else { continue };
        all += weight;
        kernel += if in_kernel(evidence, stack) { *weight } else { 0.0 };
    }
    kernel / f64::max(all, 1.0)
}

/// Whether a stack ends in the kernel.
fn in_kernel(evidence: &Evidence<'_>, stack: u32) -> bool {
    let tables = &evidence.recording.tables;
    let leaf = tables.stacks[stack as usize].location;
    tables.locations[leaf as usize].kind == "kernel"
}

/// The loops whose rounds were counted: what walks or moves in them, by the number of the round.
pub(super) fn rounds(evidence: &Evidence<'_>) -> Vec<Candidate> {
    let tables = &evidence.recording.tables;
    let allocates = evidence.stacks_with(|function| allocators::allocates(&evidence.frame(function)));
    let mut groups: BTreeMap<(u32, u64, Option<u32>), Vec<u32>> = BTreeMap::new();
    for probe in tables.probes.iter().filter(|probe| probe.kind == "loop") {
        let Some(function) = evidence.function_at(probe.location) else { continue };
        let key = (function, probe.offset, candidate::same_in_every_run(evidence, probe.process));
        groups.entry(key).or_default().push(probe.probe);
    }
    let mut found = Vec::new();
    for ((function, offset, _), probes) in groups {
        let windows = tables.windows.iter().filter(|window| probes.contains(&window.probe));
        if (windows.map(|window| window.hits).sum::<u64>() as f64) < CALLS {
            continue;
        }
        let loops = Loops::of(evidence, function);
        let Some(counted) = loops.around(offset).next().map(|one| one.loop_number) else { continue };
        let offsets = loops.offsets(evidence);
        let mut on = vec![false; offsets.len()];
        let mut rest = vec![false; offsets.len()];
        let mut whole = vec![false; offsets.len()];
        for (stack, offset) in offsets.iter().enumerate() {
            let Some(offset) = offset.filter(|at| loops.around(*at).any(|one| one.loop_number == counted))
            else {
                continue;
            };
            let work = loops.work(evidence, stack as u32, offset, Some(counted));
            whole[stack] = true;
            on[stack] = matches!(work, Work::Walks | Work::Copies | Work::Moves);
            // Blocks that grow cost more to allocate, and inner loops that go on for longer do more of all that is in
            // them: neither here nor there.
            let outside = loops.around(offset).next().is_some_and(|one| one.loop_number == counted);
            rest[stack] = !on[stack] && !allocates[stack] && outside;
        }
        if let Some(candidate) = costed(evidence, function, on, &probes) {
            found.push(Candidate { round: Some(Round { loop_number: counted, rest, whole }), ..candidate });
        }
    }
    found
}
