//! From a recording to findings.
//!
//! - [`resolve`] — names for the addresses of a recording.
//! - `goroutines` — goroutines as threads, so that what is known of threads holds for them.
//! - [`Evidence`] — a recording with the indexes that causes share.
//! - `calls` — system calls with the indexes that causes share.
//! - [`causes`] — one file a cause, all of one function type.
//! - [`candidate`] — what causes see, added up over processes and runs.
//! - [`hints`] — hints that a surer finding explains.
//! - [`gate`] — whether that saves enough to be a finding.
//! - [`draft`] — the one way in which findings are made.
//! - [`findings`] — what comes out: plain values.
//! - [`syscalls`](mod@syscalls) — system calls added up, for people to look at.
//! - [`diagnose`] — all of it: findings ranked by gain, and where the time goes.

mod asker;
mod calls;
pub mod candidate;
pub mod causes;
pub mod draft;
mod evidence;
pub mod findings;
pub mod gate;
mod goroutines;
pub mod hints;
mod hot;
mod intervals;
mod leads;
pub mod resolve;
mod scripts;
pub mod syscalls;
mod walks;

pub use evidence::Evidence;

pub use causes::words;

use findings::{Findings, RecordingSummary, SCHEMA};
use slowpath_recording::Recording;
use slowpath_recording::tables::Syscall;

/// A program that used less CPU time than this is too short to distinguish growth from chance, ns.
const SHORT_NS: u64 = 300_000_000;

/// Everything that a recording says.
pub fn diagnose(recording: &Recording) -> Findings {
    let with_goroutines = goroutines::as_threads(recording);
    let evidence = Evidence::new(&with_goroutines);
    let candidates = causes::candidates(&evidence);
    let mut findings = hints::without_explained(&evidence, candidate::merged(&evidence, candidates));
    // Of one recording all are times, or all instructions.
    findings
        .sort_by(|a, b| b.cost.gain().cmp(&a.cost.gain()).then_with(|| a.fingerprint.cmp(&b.fingerprint)));
    let mut notes = Vec::new();
    let about = &recording.about;
    let cpu_ns = about.user_ns.saturating_add(about.sys_ns);
    let counted = about.collectors.iter().any(|collector| collector.name == "counter");
    if findings.is_empty()
        && cpu_ns < SHORT_NS * u64::from(about.runs.max(1))
        && about.wall_ns < 2 * SHORT_NS
        && counted
    {
        notes.push(format!(
            "the program used {} ms of CPU time, too little to see whether a function's cost grows: --repeat 10 runs \
             it ten times and merges the samples",
            cpu_ns / 1_000_000
        ));
    }
    notes.extend(unseen_calls(recording));
    if !recording.damaged.is_empty() {
        notes.push(format!("{} segments of the recording could not be read", recording.damaged.len()));
    }
    Findings {
        kind: "findings",
        schema: SCHEMA,
        recording: summary(recording, &evidence),
        findings,
        hot: hot::hot(&evidence),
        leads: leads::leads(&evidence),
        notes,
    }
}

/// Work that was asked of the kernel in ways that the causes do not look at.
fn unseen_calls(recording: &Recording) -> Vec<String> {
    use slowpath_syscalls::IO_URING_ENTER;
    let calls = &recording.tables.syscalls;
    let sum =
        |of: &dyn Fn(&Syscall) -> bool| calls.iter().filter(|row| of(row)).map(|row| row.count).sum::<u64>();
    let submissions = sum(&|row| !row.compat && row.number == IO_URING_ENTER);
    let compat = sum(&|row| row.compat);
    let mut notes = Vec::new();
    if submissions > 0 {
        notes.push(format!(
            "work was submitted through io_uring {submissions} times; that work is not traced"
        ));
    }
    if compat > 0 {
        notes.push(format!("{compat} 32-bit system calls were counted but not analyzed"));
    }
    notes
}

fn summary(recording: &Recording, evidence: &Evidence<'_>) -> RecordingSummary {
    let about = &recording.about;
    let samples = &recording.tables.samples;
    let complete = samples.iter().filter(|sample| sample.complete).count();
    RecordingSummary {
        id: about.id.clone(),
        command: about.command.clone(),
        wall_ns: about.wall_ns,
        undisturbed_wall_ns: evidence.elapsed_ns as u64,
        user_ns: about.user_ns,
        sys_ns: about.sys_ns,
        exit: about.exit,
        samples: samples.len() as u64,
        sampled_share: about.sampled_share.min(1.0),
        tracing_ns: about.tracing_ns,
        cpu_ns: evidence.cpu_ns as u64,
        tracing_wall_ns: about.tracing_wall_ns,
        complete_stacks_share: complete as f64 / samples.len().max(1) as f64,
        degraded: about.degraded.clone(),
        lost: about.lost.clone(),
        cut_short: recording.cut_short(),
        runs: about.runs,
        instructions: about.instructions,
    }
}
