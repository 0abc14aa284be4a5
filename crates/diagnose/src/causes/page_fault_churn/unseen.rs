//! Page faults where the kernel gives samples of user code alone: what a process's CPU time is more than its samples and its system calls. Nearly all
//! of the kernel's work that belongs to no call is for faults.

use crate::Evidence;
use crate::calls::Calls;

/// What the first touch of a page takes, ns: 250 to 700 were measured, the larger in virtual machines. It must be paid for whatever is mapped again.
const FIRST_NS: f64 = 700.0;

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
    let in_calls: f64 = calls
        .all()
        .filter(|(_, whose)| *whose == process)
        .map(|(row, _)| row.duration_ns.saturating_sub(row.blocked_ns) as f64)
        .sum();
    let first = of.peak_memory_bytes.unwrap_or(0) as f64 / super::PAGE * FIRST_NS;
    (cpu - evidence.recorded_ns(process) - user - in_calls - first).max(0.0)
}
