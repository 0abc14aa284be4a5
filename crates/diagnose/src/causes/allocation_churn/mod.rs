//! The allocator is asked far more often than the work needs, and takes a good part of the CPU time.
//!
//! Samples say who asks the allocator, and for how long; bursts of probes at its functions say for what.
//!
//! - `asked` — the samples in allocators, and who asks.
//! - `blocks` — the same few blocks, taken and given back for each item.
//! - `collected` — memory that a collector of garbage takes back.
//! - `growing` — lists that ask for a little more memory with each item.

mod asked;
mod blocks;
mod collected;
mod growing;

use super::{Find, Needs, Spec};
use crate::Evidence;
use crate::candidate::Candidate;
use crate::findings::Basis;
use crate::walks::{self, Entries};
use asked::Allocating;
use slowpath_interfaces::{Memory, memory_by_call};
use std::collections::{HashMap, HashSet};

/// See the file's head.
pub(super) const CAUSE: Spec = Spec {
    slug: "allocation-churn",
    title: "memory is allocated and freed again for each item",
    symptom: "temporary strings, lists or buffers are made for each item, and a large part of the time goes to the allocator",
    page: include_str!("../../../../../docs/causes/allocation-churn.md"),
    needs: &[Needs::Walks],
    find: Find::InRecording(find),
};

/// Calls that must have been looked at: a quarter of a burst.
const NOTED: usize = 64;
/// Bursts of them: two, a sixteenth of a second apart, are more than what happens once, as where a list is taken down.
const SEEN: usize = 2;
/// Share of what allocating takes that another cause in the same function must save: it makes what is allocated.
const EXPLAINED: f64 = 0.5;

fn find(evidence: &Evidence<'_>) -> Vec<Candidate> {
    let entries = walks::all(evidence);
    let (freed, grown, pieces) = (
        of_kind(evidence, &entries, Memory::Takes, blocks::Freed::of),
        of_kind(evidence, &entries, Memory::Moves, growing::Grown::of),
        of_kind(evidence, &entries, Memory::Gives, collected::Pieces::of),
    );
    let processes: HashSet<u32> = freed.keys().chain(grown.keys()).chain(pieces.keys()).copied().collect();
    if processes.is_empty() {
        return Vec::new();
    }
    let allocating = Allocating::of(evidence, &processes);
    let mut found = blocks::find(evidence, &allocating, &freed);
    found.extend(growing::find(evidence, &allocating, &grown));
    found.extend(collected::find(evidence, &allocating, &pieces));
    found
}

/// What calls of one kind of function of an allocator show, by process, where they show something.
fn of_kind<T>(
    evidence: &Evidence<'_>,
    entries: &[Entries<'_>],
    kind: Memory,
    judge: fn(&Entries<'_>) -> Option<T>,
) -> HashMap<u32, T> {
    let of_it = |one: &&Entries<'_>| {
        one.one_loop.is_none() && memory_by_call(evidence.name(one.function)) == Some(kind)
    };
    entries.iter().filter(of_it).filter_map(|one| Some((one.walk.process, judge(one)?))).collect()
}

/// What is copied, prepared or done again allocates its memory again each time: where that is reported in the same function, the memory goes with it. Keys
/// that a sort makes are allocated in what makes them, and all that calls the sort frees them.
pub(super) fn settle(found: &mut Vec<Candidate>) {
    let is = |one: &Candidate| one.finding.cause == CAUSE.cause();
    let others = found.iter().filter(|one| !is(one) && one.finding.cost.basis() == Basis::Cpu);
    // Where, its function, how much goes, and the share of the memory's that it must be.
    let known: Vec<(u32, String, f64, f64)> = others
        .flat_map(|one| {
            let finding = &one.finding;
            let gain = finding.cost.gain() as f64;
            let sorts = finding.variant == super::redundant_computation::COMPARISON;
            let called = finding.related.iter().filter(move |_| sorts).map(|frame| (frame, EXPLAINED));
            // Who calls the sort may do other things as well.
            let around = finding.place.path.iter().filter(move |_| sorts).map(|frame| (frame, 1.0));
            let all = called.chain(around).map(|(frame, part)| (frame.function.clone(), part));
            let all = all.chain([(one.function().0.to_owned(), EXPLAINED)]);
            all.map(|(function, part)| (one.process, function, gain, part)).collect::<Vec<_>>()
        })
        .collect();
    found.retain(|one| {
        let explains = |(process, function, gain, part): &(u32, String, f64, f64)| {
            *process == one.process
                && function == one.function().0
                && *gain >= part * one.finding.cost.gain() as f64
        };
        !is(one) || !known.iter().any(explains)
    });
}
