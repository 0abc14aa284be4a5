//! The causes. Each is one file (or folder) with one value, its [`Spec`]; [`ALL`] lists them. Whatever else names causes (the JSON, `slowpath
//! causes`, tables in the documentation) takes them from there, or a test holds it equal (`tests/all/registry.rs`).

mod allocation_churn;
pub(crate) mod allocators;
mod busy_wait;
mod call_overhead;
mod costly_call;
mod duplicate_build;
mod exception_per_operation;
mod failed_lookups;
mod lock_contention;
mod needless_calls;
mod page_fault_churn;
mod process_per_operation;
mod redundant_clearing;
mod redundant_computation;
mod redundant_copy;
mod redundant_file_access;
mod regex_backtracking;
mod repeated_scan;
mod rewritten_file;
mod round_trips;
pub(crate) mod runtime;
mod small_io;
mod superlinear_work;
mod sync_per_operation;
mod thread_per_operation;
mod unoptimized_build;
mod waiting;
pub mod words;

use crate::Evidence;
use crate::calls::{is_receive, is_send};
use crate::candidate::Candidate;
use crate::findings::Cause;
use slowpath_recording::tables::Syscall;
use slowpath_syscalls::POLLS;

pub use call_overhead::CAUSE as CALL_OVERHEAD;
pub use superlinear_work::CAUSE as SUPERLINEAR_WORK;

/// Every cause. To add one: its file, a line here, its page in `docs/causes/`, its case in `cases/`.
pub const ALL: &[Spec] = &[
    superlinear_work::CAUSE,
    repeated_scan::CAUSE,
    redundant_computation::CAUSE,
    regex_backtracking::CAUSE,
    redundant_copy::CAUSE,
    redundant_clearing::CAUSE,
    allocation_churn::CAUSE,
    redundant_file_access::CAUSE,
    rewritten_file::CAUSE,
    process_per_operation::CAUSE,
    thread_per_operation::CAUSE,
    duplicate_build::CAUSE,
    small_io::CAUSE,
    failed_lookups::CAUSE,
    needless_calls::CAUSE,
    sync_per_operation::CAUSE,
    waiting::CAUSE,
    lock_contention::CAUSE,
    round_trips::CAUSE,
    round_trips::connections::CAUSE,
    busy_wait::CAUSE,
    exception_per_operation::CAUSE,
    costly_call::CAUSE,
    page_fault_churn::CAUSE,
    unoptimized_build::CAUSE,
    call_overhead::CAUSE,
];

/// One cause: what it is called, what it needs, and how it is looked for.
#[derive(Debug)]
pub struct Spec {
    /// Its name in JSON, in fingerprints, of its page and for `slowpath causes`: words joined by `-`. Never changed.
    pub slug: &'static str,
    /// What it is called in headings and tables: a few words, the first one not capitalized.
    pub title: &'static str,
    /// What is seen of it, in a line.
    pub symptom: &'static str,
    /// What of it is presumed where it is not certain, behind "not known:". A draft may say another thing.
    pub not_known: &'static str,
    /// Its page, `docs/causes/SLUG.md`.
    pub page: &'static str,
    /// What a recording must hold. Where one of these is missing it is not looked for.
    pub needs: &'static [Needs],
    /// How it is looked for.
    pub find: Find,
}

/// What a recording may hold or lack, by the rights that slowpath had.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Needs {
    /// System calls; at least those that a tracer by ptrace sees: open, stat, exec, fork, wait, sync, sleep, connect.
    Syscalls,
    /// All system calls, reads and writes too, with times that are good to some 100 ns.
    AllSyscalls,
    /// Reads, writes and what waits for answers, with their files; at least in windows, from which they are scaled up.
    Transfers,
    /// These, or hot loops.
    TransfersOrLoops,
    /// Functions (or loops) whose calls were counted or whose entries were looked at, or a run under callgrind.
    CountedCalls,
    /// Hot loops and functions whose entries were looked at.
    Walks,
    /// Samples.
    Samples,
    /// Functions with samples of which it is known how they were built.
    Builds,
}

/// How a cause is looked for.
#[derive(Debug, Clone, Copy)]
pub enum Find {
    /// In one recording, process by process; what they have in common is added up later. Several signs of one cause in one place
    /// make one candidate.
    InRecording(fn(&Evidence<'_>) -> Vec<Candidate>),
    /// In runs at several sizes of the input, by `slowpath scale` (crate `slowpath-compare`).
    AcrossSizes,
}

impl Spec {
    /// The name that findings carry.
    pub const fn cause(&self) -> Cause {
        Cause::named(self.slug)
    }

    /// Whether the recording holds what it takes.
    fn is_possible(&self, evidence: &Evidence<'_>) -> bool {
        let tables = &evidence.recording.tables;
        // A tracer by ptrace sees them since it stops at all calls, not in older recordings.
        let moves = |row: &Syscall| is_send(row) || is_receive(row) || POLLS.contains(&row.number);
        let has_transfers = || tables.syscalls.iter().any(moves);
        let transfers = || !tables.syscalls.is_empty() && (!evidence.by_ptrace || has_transfers());
        self.needs.iter().all(|needs| match needs {
            Needs::Syscalls => !tables.syscalls.is_empty(),
            // Traced by ptrace in windows, short calls seem to take longer than they do, and how many there are is an estimate.
            Needs::AllSyscalls => {
                !tables.syscalls.is_empty()
                    && (!evidence.by_ptrace || !evidence.recording.about.in_windows() && has_transfers())
            }
            Needs::Transfers => transfers(),
            Needs::TransfersOrLoops => transfers() || !tables.loops.is_empty(),
            Needs::Walks => !tables.walks.is_empty(),
            Needs::Samples => !tables.samples.is_empty(),
            Needs::Builds => !tables.builds.is_empty(),
            Needs::CountedCalls => {
                !tables.probes.is_empty() || !tables.slices.is_empty() || !tables.walks.is_empty()
            }
        })
    }
}

/// What all causes see in a recording.
pub(crate) fn candidates(evidence: &Evidence<'_>) -> Vec<Candidate> {
    let possible = ALL.iter().filter(|spec| spec.is_possible(evidence));
    let found = possible.flat_map(|spec| match spec.find {
        Find::InRecording(find) => find(evidence),
        Find::AcrossSizes => Vec::new(),
    });
    let mut found: Vec<Candidate> = found.collect();
    repeated_scan::settle::settle(&mut found);
    round_trips::settle(&mut found);
    page_fault_churn::settle(&mut found);
    allocation_churn::settle(&mut found);
    regex_backtracking::settle(&mut found);
    redundant_computation::settle(evidence, &mut found);
    sync_per_operation::settle(&mut found);
    costly_call::settle(evidence, &mut found);
    found
}

/// The cause of this name.
pub fn named(slug: &str) -> Option<&'static Spec> {
    ALL.iter().find(|spec| spec.slug == slug)
}

/// Whether a function is of a language's runtime or standard library: it does what it is asked to, so whoever asks is guilty.
pub fn is_runtime(frame: &crate::findings::Frame) -> bool {
    runtime::is_name(frame)
}
