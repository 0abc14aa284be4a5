//! What two recordings say of the difference: findings gone, new and kept, and the functions and system calls whose cost changed
//! most. Never a verdict on time: recorded runs are slower than bare ones, and by how much depends on what they do.

use crate::values::{Change, Known, Why};
use slowpath_diagnose::Evidence;
use slowpath_diagnose::findings::{Finding, Findings};
use slowpath_recording::Recording;
use std::collections::{BTreeMap, HashSet};

/// Changes reported of each kind.
const MOST: usize = 5;
/// A change is reported from this share of the larger CPU time on.
const LEAST: f64 = 0.01;
/// … or, for system calls, if there are so many calls more or less.
const CALLS: u64 = 100;

/// Compares two recordings whose symbols were resolved, with what was diagnosed of each.
pub fn why(recordings: [&Recording; 2], findings: [&Findings; 2]) -> Why {
    let evidence = recordings.map(Evidence::new);
    let cpu_ns = [evidence[0].cpu_ns as u64, evidence[1].cpu_ns as u64];
    let least = (LEAST * cpu_ns[0].max(cpu_ns[1]) as f64) as u64;
    let mut functions = functions(&evidence);
    functions.retain(|change| change.ns[0].abs_diff(change.ns[1]) >= least.max(1));
    functions.sort_by_key(|change| std::cmp::Reverse(change.ns[0].abs_diff(change.ns[1])));
    let whole = cpu_ns[0] as f64 - cpu_ns[1] as f64;
    let told: f64 = functions.iter().take(MOST).map(|change| change.ns[0] as f64 - change.ns[1] as f64).sum();
    functions.truncate(MOST);
    let mut syscalls = syscalls(&recordings);
    syscalls.retain(|change| {
        let calls = change.calls.map(|calls| calls.unwrap_or(0));
        change.ns[0].abs_diff(change.ns[1]) >= least.max(1) || calls[0].abs_diff(calls[1]) >= CALLS
    });
    syscalls.sort_by_key(|change| std::cmp::Reverse(change.ns[0].abs_diff(change.ns[1])));
    syscalls.truncate(MOST);
    let of = |side: usize, fingerprint: &str| {
        findings[side].findings.iter().find(|finding| finding.fingerprint == fingerprint)
    };
    let known = |finding: &Finding| Known {
        cause: finding.cause.slug().to_owned(),
        title: finding.title.clone(),
        function: finding.place.frame.function.clone(),
        cost_ns: [0, 1].map(|side| {
            of(side, &finding.fingerprint).and_then(|finding| finding.cost.time_ns()).unwrap_or(0)
        }),
        fingerprint: finding.fingerprint.clone(),
    };
    let (kept, gone): (Vec<Known>, Vec<Known>) =
        findings[0].findings.iter().map(known).partition(|known| of(1, &known.fingerprint).is_some());
    let new =
        findings[1].findings.iter().map(known).filter(|known| of(0, &known.fingerprint).is_none()).collect();
    let explained = if whole.abs() < 1.0 { 0.0 } else { (told / whole).clamp(0.0, 1.0) };
    Why { gone, new, kept, functions, calls: Vec::new(), syscalls, cpu_ns, explained }
}

/// CPU time in each function itself (with what was inlined into it), per run, of both recordings.
fn functions(evidence: &[Evidence<'_>; 2]) -> Vec<Change> {
    let mut times: BTreeMap<(String, String), [f64; 2]> = BTreeMap::new();
    for (side, evidence) in evidence.iter().enumerate() {
        let tables = &evidence.recording.tables;
        let programs: HashSet<&str> = tables
            .processes
            .iter()
            .map(|process| process.program.rsplit('/').next().unwrap_or_default())
            .collect();
        let runs = f64::from(evidence.recording.about.runs.max(1));
        for (sample, weight) in tables.samples.iter().zip(&evidence.weights) {
            let Some(stack) = sample.stack else { continue };
            let inner = tables.stacks[stack as usize].location;
            let Some(function) = evidence.function_at(inner) else { continue };
            // The program itself has another name on each side, and a library's version may differ.
            let module = evidence.module(function);
            let module =
                if programs.contains(module.as_str()) { String::new() } else { unversioned(&module) };
            times.entry((evidence.name(function).to_owned(), module)).or_default()[side] += weight / runs;
        }
    }
    let changes = times.into_iter().map(|((name, module), ns)| Change {
        name,
        module,
        ns: ns.map(|ns| ns as u64),
        calls: [None, None],
    });
    changes.collect()
}

/// `libz.so.1.2.13` is `libz.so` in another version too.
pub(crate) fn unversioned(module: &str) -> String {
    module.find(".so").map_or(module, |at| &module[..at + 3]).to_owned()
}

/// Time and number of each system call, per run, of both recordings.
fn syscalls(recordings: &[&Recording; 2]) -> Vec<Change> {
    let mut sums: BTreeMap<String, ([u64; 2], [u64; 2])> = BTreeMap::new();
    for (side, recording) in recordings.iter().enumerate() {
        let runs = u64::from(recording.about.runs.max(1));
        let mut of: BTreeMap<(bool, u32), (u64, u64)> = BTreeMap::new();
        for row in &recording.tables.syscalls {
            let sum = of.entry((row.compat, row.number)).or_default();
            *sum = (sum.0 + row.duration_ns, sum.1 + row.count);
        }
        for ((compat, number), (ns, calls)) in of {
            let name = slowpath_syscalls::name(number);
            let sum = sums.entry(if compat { format!("32-bit call {number}") } else { name }).or_default();
            (sum.0[side], sum.1[side]) = (ns / runs, calls / runs);
        }
    }
    sums.into_iter()
        .map(|(name, (ns, calls))| Change { name, module: String::new(), ns, calls: calls.map(Some) })
        .collect()
}
