//! Page faults where the kernel gives samples of user code alone: what a process's CPU time is more than its samples and its system calls. Nearly all
//! of the kernel's work that belongs to no call is for faults.

use crate::Evidence;
use crate::calls::Calls;
use crate::findings::{Fact, Sure};
use slowpath_syscalls::FORKS;

/// What the first touch of a page takes at most, ns: touching 64 MiB took 1,660 to 2,010 a page in a virtual machine, where that is dearest. It must be paid for whatever is mapped again.
const FIRST_NS: f64 = 2_000.0;

/// What hits of breakpoints may take of it: as much as the counter lets them, at first, ns, and of the time. They are the kernel's as well.
const HITS_NS: f64 = 60e6;
const HITS: f64 = 0.03;
/// A process that starts so many others has page tables and pages copied for them, which no call's time shows. A choice: a pipeline of a dozen programs is below it.
const FORKS_MOST: u64 = 50;

/// What is said behind a time that was estimated so.
pub(super) fn estimated(evidence: &Evidence<'_>) -> &'static str {
    if evidence.is_kernel_unseen() {
        " (estimated: what is left of the CPU time beyond samples and system calls)"
    } else {
        ""
    }
}

/// Such a time, and how it is known.
pub(super) fn fact(evidence: &Evidence<'_>, name: &str, ns: f64) -> Fact {
    let (source, sure) =
        if evidence.is_kernel_unseen() { ("CPU time", Sure::Fitted) } else { ("samples", Sure::Sampled) };
    Fact::new(name, ns, "ns", source, sure)
}

/// CPU time of a process in page faults beyond the first of each page, ns; an estimate, 0 where faults are in samples.
pub(super) fn again_ns(evidence: &Evidence<'_>, calls: &Calls<'_>, process: u32) -> f64 {
    if !evidence.is_kernel_unseen() {
        return 0.0;
    }
    let tables = &evidence.recording.tables;
    let of = &tables.processes[process as usize];
    let threads = evidence.cpu_of_threads();
    let cpu: f64 = tables
        .threads
        .iter()
        .filter(|thread| thread.process == process)
        .filter_map(|thread| threads.get(&thread.thread))
        .sum();
    let samples = tables.samples.iter().zip(&evidence.weights);
    let user: f64 =
        samples.filter(|(sample, _)| evidence.process_of(sample) == process).map(|(_, ns)| ns).sum();
    let forks = calls.all().filter(|(row, whose)| *whose == process && FORKS.contains(&row.number));
    if forks.map(|(row, _)| row.count).sum::<u64>() >= FORKS_MOST {
        return 0.0;
    }
    let in_calls: f64 = calls
        .all()
        .filter(|(_, whose)| *whose == process)
        .map(|(row, _)| row.duration_ns.saturating_sub(row.blocked_ns) as f64)
        .sum();
    let first = of.peak_memory_bytes.unwrap_or(0) as f64 / super::PAGE * FIRST_NS;
    (cpu - evidence.recorded_ns(process) - user - in_calls - first - HITS_NS - HITS * cpu).max(0.0)
}
