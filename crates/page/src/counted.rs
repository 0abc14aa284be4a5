//! Exact numbers of calls, where they were counted: hits of the probes at functions' entries, and what the function cost
//! while they stood.

use serde::Serialize;
use slowpath_diagnose::Evidence;
use std::collections::BTreeMap;

/// What the probes of one function counted.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct Counted {
    /// The function.
    pub function: u32,
    /// Calls counted.
    pub calls: u64,
    /// Share (0 to 1) of the samples of the function that were taken while it was counted: from 0.99 on `calls` is as good as all.
    pub covered: f64,
    /// CPU time in the function and all that it calls while it was counted, ns.
    pub inclusive_ns: f64,
}

/// What was counted of each function that had a probe at its entry.
pub(crate) fn counted(evidence: &Evidence<'_>) -> Vec<Counted> {
    let tables = &evidence.recording.tables;
    let mut windows: BTreeMap<u32, Vec<(u32, u64, u64)>> = BTreeMap::new();
    let mut hits: BTreeMap<u32, u64> = BTreeMap::new();
    for window in &tables.windows {
        let probe = &tables.probes[window.probe as usize];
        if probe.kind != "function" {
            continue;
        }
        let Some(function) = evidence.function_at(probe.location) else { continue };
        windows.entry(function).or_default().push((probe.process, window.start_ns, window.end_ns));
        *hits.entry(function).or_default() += window.hits;
    }
    let counted = windows.into_iter().map(|(function, windows)| {
        let with = evidence.stacks_with(|one| one == function);
        let (mut inside, mut whole) = (0.0, 0.0);
        for (sample, weight) in tables.samples.iter().zip(&evidence.weights) {
            if !sample.stack.is_some_and(|stack| with[stack as usize]) {
                continue;
            }
            whole += weight;
            let process = evidence.process_of(sample);
            let stood = windows
                .iter()
                .any(|(of, from, to)| *of == process && (*from..=*to).contains(&sample.time_ns));
            inside += if stood { *weight } else { 0.0 };
        }
        let covered = if whole > 0.0 { inside / whole } else { 0.0 };
        Counted { function, calls: hits[&function], covered, inclusive_ns: inside }
    });
    counted.filter(|one| one.calls > 0).collect()
}
