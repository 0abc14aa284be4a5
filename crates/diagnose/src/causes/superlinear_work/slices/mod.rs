//! Growth from exact counts: a run under callgrind, in slices. The calls of a function and their instructions are known in
//! each slice, so nothing is estimated; what was not counted is time.
//!
//! As with samples the guilty function is the innermost whose calls cost ever more, and its caller's other work shows
//! whether the input grows.

mod told;

use super::CAUSE;
use crate::Evidence;
use crate::candidate::Candidate as Found;
use crate::causes::{runtime, words};
use crate::draft::Draft;
use crate::findings::{Basis, Calls, Confidence, Cost, Fact, Frame, Place, Series, Sure};
use crate::gate::{Gate, Whole};
use slowpath_stats::{CountFit, Growth, Point, Ramp, Shape, count_fit, growth, spearman};
use std::collections::{BTreeMap, HashMap};

/// Fewer calls than this show no growth.
const CALLS: f64 = 50.0;
/// Buckets of about as many calls each: bounds of their number.
const BUCKETS: f64 = 16.0;
const FEWEST: usize = 8;
/// As with samples.
const GATE: Gate = Gate { of: Whole::Instructions, ..super::GATE };
/// The last quarter of the calls costs more than so many times the first; the rank correlation with their number, and the
/// share of the variance that the curve explains. There is no noise to allow for.
const RATIO: f64 = 1.8;
const RANK: f64 = 0.9;
const R2: f64 = 0.9;
/// What the caller does besides says something if it has so many instructions a call, and this share of what the function
/// has at its cheapest: less may be what each call needs whatever its input. It stays the same if the second half has at most
/// so many times those of the first.
const REST: f64 = 30.0;
const REST_SHARE: f64 = 0.1;
const FLAT: f64 = 1.3;
/// … and its rank correlation is at most this, or the ratio so near to 1 that this does not matter.
const REST_RANK: f64 = 0.8;
const SAME: f64 = 1.1;
/// Without the rest the last calls must cost so many times what the first did.
const HINT_RATIO: f64 = 4.0;
/// A line through the calls of a callee explains so much.
const LINE: f64 = 0.95;
/// Calls of the C library by which input comes that the kernel, unseen, has made; and how many of them for each call of a
/// function mean that each has an input of its own.
const READS: [&str; 12] = [
    "read",
    "pread",
    "pread64",
    "readv",
    "preadv",
    "recv",
    "recvfrom",
    "recvmsg",
    "mmap",
    "mmap64",
    "__read",
    "__pread64",
];
const OWN_INPUT: f64 = 0.5;
/// Frames of a call path.
const FRAMES: usize = 32;

/// Sums of a function, or of calls to it, in the slices in which it had any: slice, calls, instructions.
#[derive(Default)]
struct Sparse(Vec<(u32, f64, f64)>);

impl Sparse {
    /// Adds to the last slice, or to one behind it.
    fn add(&mut self, slice: u32, calls: u64, instructions: u64) {
        if self.0.last().is_none_or(|last| last.0 != slice) {
            self.0.push((slice, 0.0, 0.0));
        }
        if let Some((_, sum, sum_instructions)) = self.0.last_mut() {
            *sum += calls as f64;
            *sum_instructions += instructions as f64;
        }
    }

    /// The same with zeros in the other slices.
    fn column(&self, slices: usize) -> Column {
        let mut column = Column { calls: vec![0.0; slices], instructions: vec![0.0; slices] };
        for (slice, calls, instructions) in &self.0 {
            let at = *slice as usize;
            (column.calls[at], column.instructions[at]) = (*calls, *instructions);
        }
        column
    }

    fn calls(&self) -> f64 {
        self.0.iter().map(|(_, calls, _)| calls).sum()
    }

    fn instructions(&self) -> f64 {
        self.0.iter().map(|(.., instructions)| instructions).sum()
    }
}

/// Sums of a function, or of calls to it, slice by slice. Made for one function at a time.
struct Column {
    calls: Vec<f64>,
    instructions: Vec<f64>,
}

/// A process, slice by slice.
struct Process {
    number: u32,
    slices: usize,
    functions: BTreeMap<u32, Sparse>,
    /// By callee and caller.
    calls: BTreeMap<(u32, u32), Sparse>,
    /// Callers of each function, the one with the most instructions first.
    callers: HashMap<u32, Vec<u32>>,
}

/// A function whose calls cost ever more.
struct Grower {
    function: u32,
    /// For each slice the bucket that it is in.
    buckets: Vec<usize>,
    points: Vec<Point>,
    growth: Growth,
    ramp: Ramp,
    ratio: f64,
    calls: f64,
    instructions: f64,
}

pub(super) fn find(evidence: &Evidence<'_>) -> Vec<Found> {
    let mut findings = Vec::new();
    for process in processes(evidence) {
        let mut order: Vec<u32> = process.functions.keys().copied().collect();
        // Who is called has less than who calls it: from the innermost outward.
        let all = |function: &u32| process.functions[function].instructions();
        order.sort_by(|a, b| all(a).total_cmp(&all(b)));
        let mut growers: Vec<Grower> = Vec::new();
        for function in order {
            if runtime::is_name(&evidence.frame(function)) {
                continue; // it does what it is asked to; whoever asks is guilty
            }
            let mut left = process.column(function);
            let Some(grower) = grows(function, &left).filter(|one| GATE.passes(evidence, one.gain())) else {
                continue;
            };
            // Without what growing callees cost it must grow still, else it grows because they do.
            for inner in growers.iter().filter(|inner| process.is_under(inner.function, function)) {
                let of_inner = process.column(inner.function).instructions;
                left.instructions
                    .iter_mut()
                    .zip(&of_inner)
                    .for_each(|(left, inner)| *left = (*left - inner).max(0.0));
            }
            if grows(function, &left).is_some_and(|left| GATE.passes(evidence, left.gain())) {
                growers.push(grower);
            }
        }
        let rests: Vec<Rest> = growers.iter().map(|grower| rest(&process, grower)).collect();
        for (grower, of_this) in growers.iter().zip(&rests) {
            // What was found under it to grow with its input is its own input growing.
            let inner = growers.iter().zip(&rests).any(|(inner, rest)| {
                matches!(rest, Rest::Grows) && process.is_under(inner.function, grower.function)
            });
            let of_this = if inner { Rest::Grows } else { *of_this };
            findings.extend(told::judged(evidence, &process, grower, of_this));
        }
    }
    findings
}

fn processes(evidence: &Evidence<'_>) -> Vec<Process> {
    let tables = &evidence.recording.tables;
    let mut slices: BTreeMap<u32, usize> = BTreeMap::new();
    for row in &tables.slices {
        let count = slices.entry(row.process).or_default();
        *count = (*count).max(row.slice as usize + 1);
    }
    let mut found: BTreeMap<u32, Process> = slices
        .into_iter()
        .map(|(process, slices)| {
            (
                process,
                Process {
                    number: process,
                    slices,
                    functions: BTreeMap::new(),
                    calls: BTreeMap::new(),
                    callers: HashMap::new(),
                },
            )
        })
        .collect();
    for row in &tables.slices {
        let Some(process) = found.get_mut(&row.process) else { continue };
        process.functions.entry(row.function).or_default().add(row.slice, row.calls, row.instructions);
    }
    for row in &tables.slice_calls {
        let Some(process) = found.get_mut(&row.process).filter(|of| (row.slice as usize) < of.slices) else {
            continue;
        };
        let call = process.calls.entry((row.callee, row.caller)).or_default();
        call.add(row.slice, row.calls, row.instructions);
    }
    let mut processes: Vec<Process> = found.into_values().collect();
    for process in &mut processes {
        let mut callers: HashMap<u32, Vec<(f64, u32)>> = HashMap::new();
        for ((callee, caller), calls) in &process.calls {
            callers.entry(*callee).or_default().push((calls.instructions(), *caller));
        }
        for (callee, mut of) in callers {
            of.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
            process.callers.insert(callee, of.into_iter().map(|(_, caller)| caller).collect());
        }
    }
    processes
}

impl Process {
    /// What a function of it cost, slice by slice.
    fn column(&self, function: u32) -> Column {
        self.functions[&function].column(self.slices)
    }

    fn callers(&self, function: u32) -> &[u32] {
        self.callers.get(&function).map_or(&[], Vec::as_slice)
    }

    /// Whether `inner` is called by `outer`, directly or through others.
    fn is_under(&self, inner: u32, outer: u32) -> bool {
        let mut seen = vec![inner];
        let mut at = 0;
        while let Some(function) = seen.get(at).copied() {
            for caller in self.callers(function) {
                if *caller == outer {
                    return true;
                }
                if !seen.contains(caller) {
                    seen.push(*caller);
                }
            }
            at += 1;
        }
        false
    }
}

impl Grower {
    /// Cost of the cheapest calls, at the end where they are.
    fn cheapest(&self) -> f64 {
        let end = if self.ramp.falling { self.points.last() } else { self.points.first() };
        end.map_or(0.0, |point| point.cost)
    }

    /// What is saved if every call costs what the cheapest does, instructions.
    fn gain(&self) -> f64 {
        (self.instructions - self.cheapest() * self.calls).max(0.0)
    }
}

/// Slices in buckets of about as many calls; of those behind the last call each belongs to the last bucket.
fn buckets(calls: &[f64]) -> Vec<usize> {
    let each = (calls.iter().sum::<f64>() / BUCKETS).max(1.0);
    let (mut bucket, mut sum) = (0, 0.0);
    calls
        .iter()
        .map(|calls| {
            if sum >= each && *calls > 0.0 {
                (bucket, sum) = (bucket + 1, 0.0);
            }
            sum += calls;
            bucket
        })
        .collect()
}

/// Sums of each bucket.
fn sums(buckets: &[usize], of: &[f64]) -> Vec<f64> {
    let mut sums = vec![0.0; buckets.last().map_or(0, |last| last + 1)];
    buckets.iter().zip(of).for_each(|(bucket, value)| sums[*bucket] += value);
    sums
}

/// Growth of the cost of a call, if it is steady.
fn grows(function: u32, column: &Column) -> Option<Grower> {
    let calls: f64 = column.calls.iter().sum();
    if calls < CALLS {
        return None;
    }
    let buckets = buckets(&column.calls);
    let mut before = 0.0;
    let points: Vec<Point> = sums(&buckets, &column.calls)
        .into_iter()
        .zip(sums(&buckets, &column.instructions))
        .filter(|(calls, _)| *calls > 0.0)
        .map(|(calls, instructions)| {
            before += calls;
            Point { k: before - calls / 2.0, cost: instructions / calls, variance: 0.0 }
        })
        .collect();
    if points.len() < FEWEST {
        return None;
    }
    let growth = growth(&points);
    let ramp = growth.ramp.clone()?;
    let quarter = points.len() / 4;
    let mean = |points: &[Point]| points.iter().map(|point| point.cost).sum::<f64>() / points.len() as f64;
    let (first, last) = (mean(&points[..quarter]), mean(&points[points.len() - quarter..]));
    let (rank, ratio, exponents) = if ramp.falling {
        (-growth.spearman, first / last.max(1e-9), 0.7..=2.6)
    } else {
        (growth.spearman, last / first.max(1e-9), 0.6..=2.6)
    };
    let steady = matches!(growth.shape, Shape::Power { .. })
        && rank >= RANK
        && ratio >= RATIO
        && ramp.r2 >= R2
        && exponents.contains(&ramp.exponent);
    let instructions = column.instructions.iter().sum();
    steady.then_some(Grower { function, buckets, points, growth, ramp, ratio, calls, instructions })
}

/// What the callers do besides, for each call.
#[derive(Clone, Copy)]
enum Rest {
    /// As much in the second half: who does it, and the ratio.
    Flat(u32, f64),
    /// More: the input grows.
    Grows,
    /// Too little data.
    Unknown,
}

fn rest(process: &Process, grower: &Grower) -> Rest {
    let Column { calls, instructions: own } = process.column(grower.function);
    let calls = sums(&grower.buckets, &calls);
    let mut seen = vec![grower.function];
    while let Some(caller) =
        process.callers(seen[seen.len() - 1]).iter().find(|caller| !seen.contains(caller))
    {
        seen.push(*caller);
        if !process.functions.contains_key(caller) {
            break;
        }
        let besides: Vec<f64> = process
            .column(*caller)
            .instructions
            .iter()
            .zip(&own)
            .map(|(all, own)| (all - own).max(0.0))
            .collect();
        let each: Vec<f64> = sums(&grower.buckets, &besides)
            .iter()
            .zip(&calls)
            .map(|(besides, calls)| besides / calls.max(1.0))
            .collect();
        let half = each.len() / 2;
        let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len().max(1) as f64;
        // What a program does once, before and after, is in the outermost buckets.
        let inner = if each.len() >= FEWEST { &each[1..each.len() - 1] } else { &each[..] };
        let (first, second) =
            (mean(&inner[..inner.len() / 2]), mean(&inner[inner.len() - half.min(inner.len() / 2)..]));
        if first.max(second) < REST.max(REST_SHARE * grower.cheapest()) {
            continue;
        }
        let number: Vec<f64> = (0..inner.len()).map(|at| at as f64).collect();
        let rank = spearman(&number, inner).unwrap_or(0.0);
        let (ratio, rank) = if grower.ramp.falling {
            (first / second.max(1e-9), -rank)
        } else {
            (second / first.max(1e-9), rank)
        };
        return if ratio <= SAME || ratio <= FLAT && rank <= REST_RANK {
            Rest::Flat(*caller, if grower.ramp.falling { 1.0 / ratio.max(1e-9) } else { ratio })
        } else {
            Rest::Grows
        };
    }
    Rest::Unknown
}

/// How often a process asked for input.
fn reads(evidence: &Evidence<'_>, process: &Process) -> f64 {
    let asked = process.functions.iter().filter(|(function, _)| {
        let frame = evidence.frame(**function);
        runtime::is_name(&frame) && READS.contains(&frame.function.as_str())
    });
    asked.map(|(_, sums)| sums.calls()).sum()
}

/// The callee whose calls a line in the number of the call explains best.
fn callee(process: &Process, grower: &Grower) -> Option<(u32, CountFit, Vec<f64>)> {
    let k: Vec<f64> = grower.points.iter().map(|point| point.k).collect();
    let calls = sums(&grower.buckets, &process.column(grower.function).calls);
    let of_callee = process.calls.iter().filter(|((_, caller), _)| *caller == grower.function);
    let fitted = of_callee.filter_map(|((callee, _), of)| {
        let each: Vec<f64> = sums(&grower.buckets, &of.column(process.slices).calls)
            .iter()
            .zip(&calls)
            .filter(|(_, calls)| **calls > 0.0)
            .map(|(of_callee, calls)| of_callee / calls)
            .collect();
        let fit = count_fit(&k, &each)?;
        let rising = if grower.ramp.falling { fit.per_call < 0.0 } else { fit.per_call > 0.0 };
        (rising && fit.r2 >= LINE).then_some((*callee, fit, each))
    });
    fitted.max_by(|a, b| a.1.per_call.abs().total_cmp(&b.1.per_call.abs()).then(b.0.cmp(&a.0)))
}
