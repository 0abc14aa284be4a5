//! Processes that a loop starts to look whether something has happened, as `ls` in `until [ "$(ls out)" ]; do sleep 0.1; done`: what the loop waits
//! for ends no sooner if they are faster. That it polls is left to the cause `waiting`.

use super::{Operation, subtree};
use crate::Evidence;
use crate::calls::{Calls, is_single, is_sleep};
use std::collections::{BTreeSet, HashMap};

/// A sleep is at least so long, ns: shorter ones keep a rate, or let others run.
const SLEEP_NS: u64 = 1_000_000;
/// Share of the operations after which somebody of the starter's sleeps before the next one. A script that waits for a service at its start has a few.
const AFTER: f64 = 0.8;

/// Whether the process that starts the operations sleeps after most of them, itself or by a child that it starts for that, such as `sleep`.
pub(super) fn sleeps_between(
    evidence: &Evidence<'_>,
    calls: &Calls<'_>,
    starter: u32,
    operations: &[Operation],
    children: &HashMap<u32, Vec<u32>>,
) -> bool {
    let family = subtree(starter, children);
    let of_operations: BTreeSet<u32> =
        operations.iter().flat_map(|one| one.members.iter().copied()).collect();
    let sleeps = calls.all().filter(|(row, process)| {
        family.contains(process)
            && !of_operations.contains(process)
            && is_sleep(row)
            && is_single(row)
            && row.end_ns.saturating_sub(row.time_ns) >= SLEEP_NS
    });
    // When each began, and whoever sleeps. One that was there before, as a server in the background, sleeps for reasons of its own.
    let started = |process: u32| match process == starter {
        true => u64::MAX,
        false => evidence.recording.tables.processes[process as usize].start_ns,
    };
    let mut begun: Vec<(u64, u64)> = sleeps.map(|(row, process)| (row.time_ns, started(process))).collect();
    begun.sort_unstable();
    let mut spans: Vec<(u64, u64)> = operations.iter().map(|one| (one.start, one.end)).collect();
    spans.sort_unstable();
    let sleeps_in = |from: u64, to: u64| {
        let after = begun.partition_point(|(at, _)| *at < from);
        begun[after..].iter().take_while(|(at, _)| *at < to).any(|(_, started)| *started >= from)
    };
    let between = spans.windows(2).filter(|pair| sleeps_in(pair[0].1, pair[1].0)).count();
    between > 0 && between as f64 >= AFTER * spans.len().saturating_sub(1) as f64
}
