//! How long threads were not asleep: on a CPU, or in line for one. On a busy machine who answers is no sooner done for being asked otherwise.

use crate::calls::Calls;
use slowpath_recording::tables::Syscall;
use std::collections::{BTreeMap, BTreeSet};

/// Time awake of each thread from its first call to its last one, ns: between calls, and in calls without being blocked. A call that never
/// returned has no row, so nothing is said of the time after the last. Threads with calls that were added up are left out, since it
/// is not known when each of those began.
pub(super) fn awake(calls: &Calls<'_>) -> BTreeMap<u32, f64> {
    let mut threads: BTreeMap<u32, Vec<&Syscall>> = BTreeMap::new();
    let mut added_up: BTreeSet<u32> = BTreeSet::new();
    for (row, _) in calls.all() {
        threads.entry(row.thread).or_default().push(row);
        if row.count > 1 {
            added_up.insert(row.thread);
        }
    }
    threads.retain(|thread, _| !added_up.contains(thread));
    let awake = |rows: &mut Vec<&Syscall>| -> f64 {
        rows.sort_by_key(|row| row.time_ns);
        let between = rows.windows(2).map(|pair| pair[1].time_ns.saturating_sub(pair[0].end_ns));
        let in_calls =
            rows.iter().map(|row| row.end_ns.saturating_sub(row.time_ns).saturating_sub(row.blocked_ns));
        between.chain(in_calls).map(|ns| ns as f64).sum()
    };
    threads.iter_mut().map(|(thread, rows)| (*thread, awake(rows))).collect()
}
