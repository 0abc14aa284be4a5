//! What forks of a large process cost: its page tables are copied, each page is made read-only and faults when it is written to again, and the copy is thrown away as
//! soon as the child executes its program. `posix_spawn` and `vfork` copy nothing.

use super::Group;
use crate::Evidence;
use crate::calls::{Calls, fact};
use crate::causes::words::{size, time};
use crate::findings::{Fact, Sure};
use slowpath_recording::tables::Syscall;
use slowpath_syscalls::EXECS;
use std::collections::BTreeSet;

/// A fork that copies this long, ns. Of a process of 10 MiB it takes 0.1 to 0.2 ms, of one of 800 MiB 18 ms (measured, in a virtual machine).
const LONG: f64 = 1e6;
/// To execute a program takes 0.3 to 0.6 ms where there is little to throw away; what it takes beyond this is throwing away, ns.
const EXEC: f64 = 1e6;
/// Share of the start-up time that must be copying before copying is reported in place of start-up.
const MOST: f64 = 0.5;
/// The kernel's function for the first write to a page that was shared by a fork.
const FIRST_WRITE: &str = "do_wp_page";

/// What copying took, ns in all operations.
pub(super) struct Copied {
    forks: f64,
    execs: f64,
    writes: f64,
    peak: Option<u64>,
}

impl Copied {
    /// None where forks are short, or where most of starting up is something else.
    pub(super) fn of(
        evidence: &Evidence<'_>,
        calls: &Calls<'_>,
        parent: u32,
        group: &Group,
        start_up: f64,
    ) -> Option<Copied> {
        // Under ptrace a fork is stopped on its way.
        if evidence.by_ptrace || group.forks.count == 0 {
            return None;
        }
        let forks = group.forks.working_ns();
        if forks / (group.forks.count as f64) < LONG {
            return None;
        }
        let children: BTreeSet<u32> = group.operations.iter().map(|operation| operation.process).collect();
        let mut first: BTreeSet<u32> = BTreeSet::new();
        let execs = calls.all().filter(|(row, process)| {
            EXECS.contains(&row.number)
                && row.result == 0
                && children.contains(process)
                && first.insert(*process)
        });
        let working = |row: &Syscall| row.duration_ns.saturating_sub(row.blocked_ns) as f64;
        let execs = execs.map(|(row, _)| (working(row) - EXEC).max(0.0)).sum::<f64>();
        if forks + execs < MOST * start_up {
            return None;
        }
        let with = evidence.stacks_with(|function| evidence.name(function) == FIRST_WRITE);
        let samples = evidence.recording.tables.samples.iter().zip(&evidence.weights);
        let writes = samples
            .filter(|(sample, _)| sample.stack.is_some_and(|stack| with[stack as usize]))
            .filter(|(sample, _)| evidence.process_of(sample) == parent)
            .map(|(_, weight)| weight)
            .sum();
        let peak = evidence.recording.tables.processes[parent as usize].peak_memory_bytes;
        Some(Copied { forks, execs, writes, peak })
    }

    /// All of it, ns.
    pub(super) fn ns(&self) -> f64 {
        self.forks + self.execs + self.writes
    }

    /// Its sentences.
    pub(super) fn said(&self, parent: &str, operations: f64) -> Vec<String> {
        let each = |ns: f64| time(ns / operations);
        let large =
            self.peak.map_or(String::new(), |bytes| format!(" (it used up to {})", size(bytes as f64)));
        let mut said = vec![format!(
            "each fork copied the page tables of {parent}{large}, which took {}, and the copy was thrown away {}",
            each(self.forks),
            match self.execs {
                0.0 => "when the new program was executed".to_owned(),
                execs => format!("when the new program was executed, which took {}", each(execs)),
            }
        )];
        if self.writes > 0.0 {
            said.push(format!(
                "after each fork the first write to each page faults: at least {} for each fork, sampled in the function that handles it",
                each(self.writes)
            ));
        }
        said
    }

    pub(super) fn facts(&self, operations: f64) -> Vec<Fact> {
        vec![
            fact("copying of each fork", self.forks / operations, "ns", Sure::Exact),
            fact("throwing away of each copy", self.execs / operations, "ns", Sure::Exact),
        ]
    }
}
