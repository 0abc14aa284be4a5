//! Each `poll` hands the kernel all descriptors, and it goes through them to find the few that are ready: thousands of them take longer
//! than what is done for one that is.
//!
//! How many descriptors there are is recorded, and so is what such a call takes of the CPU: a few are looked at within 1 or 2 µs. Of `select` only the
//! highest number is known, which says little of how many there are.

use super::{CAUSE, GATE};
use crate::Evidence;
use crate::calls::{CallSite, Calls, Sum, fact, from, is_single, place};
use crate::candidate::Candidate;
use crate::causes::words::{count, time};
use crate::draft::Draft;
use crate::findings::{Basis, Confidence, Cost, Sure};
use slowpath_syscalls::{POLL, PPOLL, name};
use std::collections::{BTreeMap, HashMap};

/// Calls from one place before they count.
const CALLS: u64 = 100;
/// Time in the kernel that a call takes, without waiting, from which on it goes through hundreds of descriptors, ns: one takes 20 to 100 ns.
const LONG_NS: f64 = 25_000.0;
/// … and for each descriptor that is ready: where most of them are ready the kernel has to go through them.
const LONG_EACH_NS: f64 = 10_000.0;
/// What it takes to learn of each that is ready, ns.
const NEEDED_NS: f64 = 2_000.0;
/// For each descriptor no more of a call's time counts, ns: a pipe took 107 in a virtual machine. What is beyond has other reasons, such as a busy
/// machine: there a call with one descriptor took 35 µs.
const EACH_NS: f64 = 100.0;

#[derive(Default)]
struct Polls {
    sum: Sum,
    /// Calls whose result is known, and the descriptors that they found ready.
    known: u64,
    ready: i64,
    descriptors: u64,
}

/// Findings; see the file's head.
pub(super) fn find(evidence: &Evidence<'_>, calls: &Calls<'_>) -> Vec<Candidate> {
    // A stop takes longer than the call. Before minor version 15 it was not recorded how many descriptors there are.
    let format = &evidence.recording.about.format;
    if evidence.by_ptrace || (format.major, format.minor) < (1, 15) {
        return Vec::new();
    }
    let mut polls: BTreeMap<(CallSite, u32), Polls> = BTreeMap::new();
    for (row, process) in calls.all().filter(|(row, _)| row.result >= 0) {
        if matches!(row.number, POLL | PPOLL) {
            let of = polls.entry(((process, calls.asks(row)), row.number)).or_default();
            of.sum.add(row);
            if is_single(row) {
                of.known += 1;
                of.ready = of.ready.saturating_add(row.result);
                of.descriptors += row.argument >> 32;
            }
        }
    }
    polls.into_iter().filter_map(|((site, number), polls)| finding(evidence, site, number, &polls)).collect()
}

fn finding(
    evidence: &Evidence<'_>,
    (process, own): CallSite,
    number: u32,
    polls: &Polls,
) -> Option<Candidate> {
    let Polls { sum, known, ready, descriptors } = polls;
    let descriptors = *descriptors as f64 / (*known).max(1) as f64;
    // A call that slept is over some time after it was woken, in which the CPU need not have been at work.
    let took = sum.working_ns().min(sampled(evidence, process, own));
    let cost = took.min((EACH_NS * descriptors + NEEDED_NS) * sum.count as f64);
    let each = cost / sum.count.max(1) as f64;
    let ready = *ready as f64 / (*known).max(1) as f64;
    let gain = cost - NEEDED_NS * ready.max(1.0) * sum.count as f64;
    let long = each >= LONG_NS && each >= LONG_EACH_NS * ready && *known > 0;
    if sum.count < CALLS || !long || !GATE.may_pass(evidence, gain) {
        return None;
    }
    let stack = sum.stack();
    let draft = Draft {
        variant: "polls",
        explanation: vec![
            format!(
                "{} was called {} times{} with {} descriptors each time, and found {ready:.1} of them ready (on average)",
                name(number),
                count(sum.count as f64),
                from(evidence, stack, own),
                count(descriptors.round())
            ),
            format!(
                "each call took {} of CPU time, waiting excluded, in which the kernel goes through all of them; with a few descriptors it takes 1 or 2 µs: \
                 {} in total{}",
                time(took / sum.count.max(1) as f64),
                time(took),
                if cost < took {
                    format!(", of which {} is what so many descriptors take", time(cost))
                } else {
                    String::new()
                }
            ),
        ],
        facts: vec![
            fact("calls", sum.count as f64, "calls", Sure::Exact),
            fact("descriptors", descriptors, "descriptors", Sure::Sampled),
            fact("descriptors ready", ready, "descriptors", Sure::Sampled),
            fact("time in the kernel", took, "ns", Sure::Exact),
        ],
        advice: "Register the descriptors once with epoll, which returns only those that are ready"
            .to_owned(),
        ..Draft::new(
            &CAUSE,
            "all descriptors are handed to the kernel for each event",
            Confidence::Likely,
            Cost::new(Basis::Cpu, cost, gain),
            place(evidence, stack, own, process),
        )
    };
    Some(draft.candidate(evidence, GATE, process))
}

/// CPU time of the samples of a process in the kernel, under its function `own`, ns.
fn sampled(evidence: &Evidence<'_>, process: u32, own: Option<u32>) -> f64 {
    let tables = &evidence.recording.tables;
    let in_kernel =
        |stack: u32| tables.locations[tables.stacks[stack as usize].location as usize].kind == "kernel";
    let under = |stack: u32| {
        own.is_none_or(|own| evidence.locations(stack).any(|at| evidence.function_at(at) == Some(own)))
    };
    let mut known: HashMap<u32, bool> = HashMap::new();
    let mut is_one = |stack: u32| *known.entry(stack).or_insert_with(|| in_kernel(stack) && under(stack));
    let samples = tables.samples.iter().zip(&evidence.weights);
    let of_process = samples.filter(|(sample, _)| evidence.process_of(sample) == process);
    of_process.filter(|(sample, _)| sample.stack.is_some_and(&mut is_one)).map(|(_, weight)| weight).sum()
}
