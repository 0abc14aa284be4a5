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
use crate::findings::{Basis, Frame};
use crate::walks::{self, Entries};
use asked::Allocating;
pub(super) use collected::{asked_for_ns, collecting_ns, garbage_ns, of_collecting};
use slowpath_interfaces::{Memory, memory_by_call};
use std::collections::{HashMap, HashSet};

/// See the file's head.
pub(super) const CAUSE: Spec = Spec {
    slug: "allocation-churn",
    title: "memory is allocated and freed again for each item",
    symptom: "temporary strings, lists or buffers are made for each item, and a large part of the time goes to the allocator",
    not_known: "whether the program can do without this memory, or use one block for all items",
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
    // A costly call makes nothing.
    let calls = |one: &Candidate| one.finding.cause == super::costly_call::CAUSE.cause();
    let of_cpu = |one: &&Candidate| !is(one) && !calls(one) && one.finding.cost.basis() == Basis::Cpu;
    let others: Vec<Candidate> = found.iter().filter(of_cpu).cloned().collect();
    found.retain(|one| !is(one) || !others.iter().any(|other| explains(other, one)));
}

/// Whether the memory that a finding is about goes with what another one is about.
fn explains(other: &Candidate, one: &Candidate) -> bool {
    let (function, _) = one.function();
    let is_in = |frames: &[Frame]| frames.iter().any(|frame| frame.function == function);
    let share = other.finding.cost.gain() as f64 / one.finding.cost.gain().max(1) as f64;
    let sorts = other.finding.variant == super::redundant_computation::COMPARISON;
    // What is made again is allocated in it, and whoever asked for it frees it.
    let again = other.finding.variant == super::redundant_computation::DONE_AGAIN;
    let own = other.function().0;
    let is_around =
        is_in(&other.finding.place.path) || one.finding.place.path.iter().any(|frame| frame.function == own);
    other.process == one.process
        && (share >= EXPLAINED && again && is_around || share >= EXPLAINED && (other.function().0 == function || sorts && is_in(&other.finding.related))
            // Who calls the sort may do other things as well.
            || share >= 1.0 && sorts && is_in(&other.finding.place.path))
}
