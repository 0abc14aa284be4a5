//! Children that somebody waits for: one that only sleeps is a sleep of its parent, as in a shell script; the exit code of another one says
//! whether it found something.

use crate::Evidence;
use crate::calls::{Calls, is_sleep};
use slowpath_recording::tables::{Process, Syscall};
use std::collections::{BTreeSet, HashMap};

const WAIT4: u32 = 61;
/// ECHILD.
const NO_CHILD: i64 = -10;
/// A child that sleeps for this share of its life does nothing else: starting and ending takes about 1 ms.
const ONLY_SLEEPS: f64 = 0.8;

/// Processes that ended, by parent and pid, and those that only slept.
pub(super) struct Children<'a> {
    by_pid: HashMap<(u32, u32), Vec<&'a Process>>,
    sleepers: BTreeSet<u32>,
    parents: BTreeSet<u32>,
}

impl<'a> Children<'a> {
    pub(super) fn new(evidence: &'a Evidence<'_>, calls: &Calls<'_>) -> Children<'a> {
        let mut asleep: HashMap<u32, u64> = HashMap::new();
        for (row, process) in calls.all().filter(|(row, _)| is_sleep(row)) {
            *asleep.entry(process).or_default() += row.blocked_ns;
        }
        let mut children =
            Children { by_pid: HashMap::new(), sleepers: BTreeSet::new(), parents: BTreeSet::new() };
        for process in &evidence.recording.tables.processes {
            let (Some(parent), Some(end)) = (process.parent, process.end_ns) else { continue };
            children.by_pid.entry((parent, process.pid)).or_default().push(process);
            let life = end.saturating_sub(process.start_ns) as f64;
            let slept = asleep.get(&process.process).copied().unwrap_or(0) as f64;
            if life > 0.0 && slept >= ONLY_SLEEPS * life {
                children.sleepers.insert(process.process);
                children.parents.insert(parent);
            }
        }
        children
    }

    /// The child whose end this call reports.
    pub(super) fn ended(&self, row: &Syscall, process: u32) -> Option<&'a Process> {
        let pid = u32::try_from(row.result).ok().filter(|pid| *pid > 0 && row.number == WAIT4)?;
        let of_pid = self.by_pid.get(&(process, pid))?;
        // Pids come again in long runs.
        of_pid.iter().filter(|child| child.start_ns <= row.end_ns).max_by_key(|child| child.start_ns).copied()
    }

    /// Whether a process has had a child of this pid.
    pub(super) fn is_child(&self, process: u32, pid: i64) -> bool {
        u32::try_from(pid).is_ok_and(|pid| self.by_pid.contains_key(&(process, pid)))
    }

    /// Whether the call waited for a child that only slept.
    pub(super) fn slept(&self, row: &Syscall, process: u32) -> bool {
        row.blocked_ns > 0
            && self.ended(row, process).is_some_and(|child| self.sleepers.contains(&child.process))
    }

    /// Whether the call asks, and there is no further child, of a process that sleeps through children: shells do so after each.
    pub(super) fn is_asked_for_more(&self, row: &Syscall, process: u32) -> bool {
        row.result == NO_CHILD && self.parents.contains(&process)
    }
}
