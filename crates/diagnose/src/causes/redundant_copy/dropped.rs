//! Copies that are dropped again: a good part of the CPU time goes to functions that copy structures as a whole, and to allocating memory for
//! them, while memory is freed all along.
//!
//! Whether it is the same data that is copied is not asked, so samples are enough: a scope that is cloned for each call, a table that is
//! returned by value and then searched. Copies that are kept free nothing until the program ends. Where copies were followed to their end (`fates`), it is known whether
//! they were needed.

use super::fates::{self, Fates};
use super::unchanged::{self, Needless};
use super::{CAUSE, Kinds, asks, freeing};
use crate::Evidence;
use crate::candidate::Candidate;
use crate::causes::words::time;
use crate::draft::Draft;
use crate::evidence::heaviest;
use crate::findings::{Basis, Confidence, Cost, Fact, Sure};
use crate::gate::Gate;
use slowpath_interfaces::copies_objects;
use std::collections::{BTreeMap, HashMap, HashSet};

/// Where copies take a third of the time it is worth asking whether they are needed, whatever they are of. They took 65 to 75 % in two slow programs; of 82 clean
/// programs, commands and fixed versions none comes to 2 % of what is looked for here.
const GATE: Gate = Gate { share: 0.35, ..Gate::TENTH_OF_CPU };
/// Share of the copying that allocating memory takes: less is copying of flat records, which a program may want to change.
const ALLOCATING: f64 = 0.2;
/// Freeing takes at least so much of the time of allocating where all that is copied is dropped again: it took 0.6 to 2.2 times as long in three programs.
const FREEING: f64 = 0.25;
/// The time from the first to the last copy is divided into so many parts, …
const PARTS: usize = 10;
/// … and in so many of them there must be both, copying and freeing: not where all is copied first and freed at the end.
const BOTH: usize = 6;

/// Time of a process in copies that one function asks for, ns.
#[derive(Default)]
pub(super) struct Spent {
    pub(super) ns: f64,
    allocating_ns: f64,
    pub(super) stacks: BTreeMap<u32, f64>,
    functions: BTreeMap<u32, f64>,
    /// When.
    times: Vec<u64>,
    /// Who calls the function.
    callers: HashSet<u32>,
    /// By functions that were not inlined and that it calls itself to copy, and what is in none of these.
    pub(super) called: BTreeMap<u32, f64>,
    pub(super) inlined_ns: f64,
}

/// A sample of freeing memory, with the functions on its stack.
struct Freeing {
    process: u32,
    ns: f64,
    time_ns: u64,
    functions: Vec<u32>,
}

/// What is found beside copies of the same data.
pub(super) fn find(evidence: &Evidence<'_>, kinds: &Kinds) -> Vec<Candidate> {
    let copiers = copiers(evidence);
    if copiers.is_empty() {
        return Vec::new();
    }
    let mut spent: BTreeMap<(u32, u32), Spent> = BTreeMap::new();
    let mut freeing: Vec<Freeing> = Vec::new();
    let tables = &evidence.recording.tables;
    for (sample, ns) in tables.samples.iter().zip(&evidence.weights).filter(|(sample, _)| sample.on_cpu) {
        let (Some(stack), process) = (sample.stack, evidence.process_of(sample)) else { continue };
        let frames: Vec<(u32, u32)> =
            evidence.locations(stack).filter_map(|at| Some((at, evidence.function_at(at)?))).collect();
        let functions: Vec<u32> = frames.iter().map(|(_, function)| *function).collect();
        let Some(at) = frames.iter().rposition(|(location, _)| copiers.contains_key(location)) else {
            if functions.iter().any(|function| kinds.frees[*function as usize]) {
                freeing.push(Freeing { process, ns: *ns, time_ns: sample.time_ns, functions });
            }
            continue;
        };
        // A copy that was inlined is a part of the function that asks for it.
        let copier = copiers[&frames[at].0];
        let around = if copier == functions[at] { at + 1 } else { at };
        let Some(asker) = kinds.asker(&functions[around..]) else { continue };
        let outer =
            functions.iter().skip_while(|function| **function != asker).find(|function| **function != asker);
        let of_asker = spent.entry((process, asker)).or_default();
        of_asker.ns += ns;
        if functions[..at].iter().any(|function| kinds.allocates[*function as usize]) {
            of_asker.allocating_ns += ns;
        }
        *of_asker.stacks.entry(stack).or_default() += ns;
        *of_asker.functions.entry(copier).or_default() += ns;
        // The outermost one that is a function of its own.
        let own = functions[..around].iter().rposition(|function| kinds.copies_objects[*function as usize]);
        match own {
            Some(own) if functions.get(own + 1) == Some(&asker) => {
                *of_asker.called.entry(functions[own]).or_default() += ns;
            }
            Some(_) => {}
            None => of_asker.inlined_ns += ns,
        }
        of_asker.times.push(sample.time_ns);
        of_asker.callers.extend(outer);
    }
    let fates = fates::all(evidence);
    let of = |((process, asker), spent): (&(u32, u32), &Spent)| {
        let fate = |copier: &u32| fates.get(&(*process, *asker, *copier));
        let most = heaviest(&spent.called);
        if most.and_then(|copier| fate(&copier)).is_some_and(Fates::are_needed) {
            return None;
        }
        let needless =
            Needless::of(spent, fate).filter(|needless| unchanged::GATE.may_pass(evidence, needless.ns));
        if needless.is_none() && !GATE.may_pass(evidence, spent.ns) {
            return None;
        }
        // What the function or its caller frees, as where the copy goes out of scope.
        let by = |one: &&Freeing| {
            let near = |function: &u32| function == asker || spent.callers.contains(function);
            one.process == *process && one.functions.iter().any(near)
        };
        let (mut ns, mut times) = (0.0, Vec::new());
        for one in freeing.iter().filter(by) {
            ns += one.ns;
            times.push(one.time_ns);
        }
        let near = spent.callers.iter().copied().chain([*asker]).collect();
        let copy = |location, _| copiers.contains_key(&location);
        let of_copies = freeing::with_copies(evidence, kinds, (*process, *asker), &near, copy);
        match needless {
            Some(needless) => unchanged::finding(evidence, (*process, *asker), spent, of_copies, &needless),
            None => finding(evidence, (*process, *asker), spent, (ns, &times), of_copies),
        }
    };
    spent.iter().filter_map(of).collect()
}

/// The function that copies at each location at which one does, inlined or not: the outermost of them.
fn copiers(evidence: &Evidence<'_>) -> HashMap<u32, u32> {
    let tables = &evidence.recording.tables;
    let copies: Vec<bool> = tables.functions.iter().map(|function| copies_objects(&function.name)).collect();
    // Inner frames of a location stand before outer ones.
    tables
        .frames
        .iter()
        .filter(|frame| copies.get(frame.function as usize) == Some(&true))
        .map(|frame| (frame.location, frame.function))
        .collect()
}

/// In how many parts of the time of copying there is both.
fn parts_with_both(copying: &[u64], freeing: &[u64]) -> usize {
    let (Some(first), Some(last)) = (copying.iter().min(), copying.iter().max()) else { return 0 };
    let length = ((last - first) / PARTS as u64).max(1);
    let part = |time: &u64| time.checked_sub(*first).map(|since| (since / length) as usize);
    let seen = |times: &[u64]| -> [bool; PARTS] {
        let mut seen = [false; PARTS];
        for at in times.iter().filter_map(part).map(|at| if at == PARTS { PARTS - 1 } else { at }) {
            if let Some(seen) = seen.get_mut(at) {
                *seen = true;
            }
        }
        seen
    };
    let (copying, freeing) = (seen(copying), seen(freeing));
    copying.iter().zip(freeing).filter(|(copies, frees)| **copies && *frees).count()
}

fn finding(
    evidence: &Evidence<'_>,
    (process, asker): (u32, u32),
    spent: &Spent,
    (freeing_ns, freeing): (f64, &[u64]),
    of_copies: f64,
) -> Option<Candidate> {
    let dropped =
        freeing_ns >= FREEING * spent.allocating_ns && parts_with_both(&spent.times, freeing) >= BOTH;
    if !dropped || spent.allocating_ns < ALLOCATING * spent.ns {
        return None;
    }
    let cost = (spent.ns + of_copies).min(evidence.cpu_ns);
    let stack = heaviest(&spent.stacks);
    let copier = evidence.frame(heaviest(&spent.functions)?);
    let draft = Draft {
        not_known: "whether a copy is changed before it is dropped",
        variant: "dropped",
        explanation: vec![
            format!(
                "{} copies whole structures: {} of CPU time, {} of it to allocate memory for the copies",
                copier.function,
                time(spent.ns),
                time(spent.allocating_ns)
            ),
            format!(
                "memory is freed all along, which took {} more, of which the copies have about {}: so most copies are probably dropped again",
                time(freeing_ns),
                time(of_copies)
            ),
        ],
        related: vec![copier],
        facts: vec![
            Fact::new("time in copies", spent.ns, "ns", "samples", Sure::Sampled),
            Fact::new("time allocating for copies", spent.allocating_ns, "ns", "samples", Sure::Sampled),
            Fact::new("time freeing", freeing_ns, "ns", "samples", Sure::Sampled),
        ],
        advice: "Pass a reference, a shared pointer or only the part that is needed; keep what is added in a structure of its own that refers to the original, \
                 or copy only what is changed"
            .to_owned(),
        ..Draft::new(
            &CAUSE,
            "structures are copied and dropped again",
            Confidence::Likely,
            Cost::new(Basis::Cpu, cost, cost),
            evidence.place(stack, asker, process, asks),
        )
    };
    // It is the copying alone that is held against the gate.
    let gate = Gate { share: GATE.share * cost / spent.ns.max(1.0), ..GATE };
    Some(draft.candidate(evidence, gate, process))
}
