//! Loops that wait for what another thread changes in memory: each round reads the same places, stores nothing and takes nothing over from the one before. Between
//! two looks such a loop asks at most what time it is, or lets others run.

use super::{CAUSE, GATE};
use crate::Evidence;
use crate::calls::fact;
use crate::candidate::Candidate;
use crate::causes::words::time;
use crate::draft::Draft;
use crate::evidence::heaviest;
use crate::findings::{Basis, Confidence, Cost, Place, Sure};
use slowpath_interfaces::without_arguments;
use slowpath_recording::tables::Loop;
use std::collections::{BTreeMap, HashMap};

/// What a loop does that waits.
const SPINS: &str = "spins";
/// Share of a loop's time in the loop itself and in what tells the time: if it calls anything else that takes time, that is work.
const WAITS: f64 = 0.95;
/// Functions that tell the time or let others run; and what the kernel maps into each process, which only tells the time.
const CLOCKS: [&str; 14] = [
    "time",
    "difftime",
    "clock",
    "clock_gettime",
    "__clock_gettime",
    "gettimeofday",
    "sched_yield",
    "pthread_yield",
    "thrd_yield",
    "std::this_thread::yield",
    "std::thread::yield_now",
    "std::time::Instant::now",
    "std::time::Instant::elapsed",
    "runtime.nanotime1",
];
const NOW: &str = "::now";
const VDSO: &str = "[vdso]";

/// Time in the loops of a function that wait, ns.
#[derive(Default)]
struct Spun {
    waits: f64,
    other: f64,
    stacks: BTreeMap<u32, f64>,
}

pub(super) fn find(evidence: &Evidence<'_>) -> Vec<Candidate> {
    let tables = &evidence.recording.tables;
    let mut loops: HashMap<u32, Vec<&Loop>> = HashMap::new();
    for one in &tables.loops {
        if let Some(function) = evidence.function_at(one.location) {
            loops.entry(function).or_default().push(one);
        }
    }
    loops.retain(|_, loops| loops.iter().any(|one| one.work == SPINS));
    if loops.is_empty() {
        return Vec::new();
    }
    let mut spun: BTreeMap<(u32, u32), Spun> = BTreeMap::new();
    for (sample, weight) in tables.samples.iter().zip(&evidence.weights).filter(|(sample, _)| sample.on_cpu) {
        let (Some(stack), process) = (sample.stack, evidence.process_of(sample)) else { continue };
        // The innermost function with such a loop, and whether all that it has called only tells the time.
        let mut waits = true;
        for location in evidence.locations(stack) {
            let row = &tables.locations[location as usize];
            let Some(function) = evidence.function_at(location) else {
                waits &= row.kind == "kernel";
                continue;
            };
            if let Some(loops) = loops.get(&function) {
                if innermost(
                    tables.locations.get(loops[0].location as usize).map_or(0, |at| at.address),
                    row.address,
                    loops,
                )
                .is_some_and(|one| one.work == SPINS)
                {
                    let of = spun.entry((process, function)).or_default();
                    *(if waits { &mut of.waits } else { &mut of.other }) += weight;
                    *of.stacks.entry(stack).or_default() += weight;
                }
                break;
            }
            waits &= is_clock(evidence, function);
        }
    }
    spun.iter()
        .filter_map(|((process, function), spun)| finding(evidence, *process, *function, spun))
        .collect()
}

/// The smallest loop around an address of a function that begins at `start`.
fn innermost<'a>(start: u64, address: u64, loops: &[&'a Loop]) -> Option<&'a Loop> {
    let offset = address.checked_sub(start)?;
    let holds = |one: &&&Loop| one.ranges.chunks_exact(2).any(|range| (range[0]..range[1]).contains(&offset));
    let size =
        |one: &Loop| one.ranges.chunks_exact(2).map(|range| range[1].saturating_sub(range[0])).sum::<u64>();
    loops.iter().filter(holds).min_by_key(|one| size(one)).copied()
}

fn is_clock(evidence: &Evidence<'_>, function: u32) -> bool {
    let frame = evidence.frame(function);
    let name = without_arguments(&frame.function);
    frame.module == VDSO || CLOCKS.contains(&name) || name.ends_with(NOW)
}

fn finding(evidence: &Evidence<'_>, process: u32, function: u32, spun: &Spun) -> Option<Candidate> {
    let cost = spun.waits;
    if cost < WAITS * (cost + spun.other) || !GATE.may_pass(evidence, cost) {
        return None;
    }
    let stack = heaviest(&spun.stacks);
    let path = stack.map_or_else(Vec::new, |stack| evidence.path_at(stack, function));
    let name = evidence.frame(function).function;
    let draft = Draft {
        variant: "spins",
        explanation: vec![
            format!(
                "{name} goes around a loop that reads the same places in memory each time, stores nothing and calls nothing that works: it waits until another \
                 thread changes what is there, or until it is late enough"
            ),
            format!("that used {} of CPU time, which other threads could use", time(cost)),
        ],
        facts: vec![fact("CPU time in the loop", cost, "ns", Sure::Sampled)],
        advice: "Wait for the event: a condition variable, a semaphore or a futex that the other thread signals; std::sync::Condvar or a channel; a future or a \
                 barrier. Where answers must come within a microsecond, spin for a few rounds and then wait"
            .to_owned(),
        ..Draft::new(
            &CAUSE,
            "waits in a loop without sleeping",
            Confidence::Likely,
            Cost::new(Basis::Cpu, cost, cost),
            Place::at_end_of(path, || evidence.whole_process(process)),
        )
    };
    Some(draft.candidate(evidence, GATE, process))
}
