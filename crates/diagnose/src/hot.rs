//! Where the time goes: functions by self and total time. Not a finding.

use crate::Evidence;
use crate::causes::runtime;
use crate::findings::Hot;
use std::collections::{BTreeMap, HashMap};

/// Number of functions that are reported.
const FUNCTIONS: usize = 30;

/// The functions with the most self time. Inlined functions count as functions.
pub(crate) fn hot(evidence: &Evidence<'_>) -> Vec<Hot> {
    let tables = &evidence.recording.tables;
    if !tables.slices.is_empty() {
        return by_instructions(evidence);
    }
    // In order: sums of floats depend on it, and a report made again from its recording must be the same.
    let mut by_stack: BTreeMap<u32, f64> = BTreeMap::new();
    for (sample, weight) in tables.samples.iter().zip(&evidence.weights) {
        if let Some(stack) = sample.stack {
            *by_stack.entry(stack).or_default() += weight;
        }
    }
    for (stack, ns) in in_kernel(evidence) {
        *by_stack.entry(stack).or_default() += ns;
    }
    let mut times: HashMap<u32, (f64, f64)> = HashMap::new();
    let mut askers: HashMap<u32, HashMap<u32, f64>> = HashMap::new();
    let mut on_stack = Vec::new();
    for (stack, weight) in by_stack {
        on_stack.clear();
        for location in evidence.locations(stack) {
            on_stack.extend(evidence.recording.frames_of(location).iter().map(|frame| frame.function));
        }
        if let Some(innermost) = on_stack.first() {
            times.entry(*innermost).or_default().0 += weight;
            // Outward, the first that is the program's own.
            if let Some(asker) = on_stack.iter().find(|function| is_own(evidence, **function))
                && asker != innermost
            {
                *askers.entry(*innermost).or_default().entry(*asker).or_default() += weight;
            }
        }
        on_stack.sort_unstable();
        on_stack.dedup();
        for function in &on_stack {
            times.entry(*function).or_default().1 += weight;
        }
    }
    let mut hot: Vec<Hot> = times
        .into_iter()
        .filter(|(_, (own, _))| *own > 0.0)
        .map(|(function, (own, total))| {
            let asker = askers
                .get(&function)
                .and_then(|askers| askers.iter().max_by(|a, b| a.1.total_cmp(b.1).then(b.0.cmp(a.0))));
            let asker = asker.map(|(asker, _)| *asker);
            Hot { self_ns: own as u64, total_ns: total as u64, ..row(evidence, function, asker) }
        })
        .collect();
    hot.sort_by(|a, b| b.self_ns.cmp(&a.self_ns).then_with(|| a.function.cmp(&b.function)));
    hot.truncate(FUNCTIONS);
    hot
}

/// Time in the kernel by the stacks that led there, ns, where the kernel gives samples of user code alone: that of the system calls, which counts for the
/// function that makes them.
fn in_kernel<'a>(evidence: &Evidence<'a>) -> impl Iterator<Item = (u32, f64)> + use<'a> {
    let recording = evidence.recording;
    let unseen = evidence.is_kernel_unseen();
    let rows = recording.tables.syscalls.iter().filter(move |_| unseen);
    rows.filter_map(|row| Some((row.stack?, row.duration_ns.saturating_sub(row.blocked_ns) as f64)))
}

/// A function whose costs are still to be filled in.
fn row(evidence: &Evidence<'_>, function: u32, asker: Option<u32>) -> Hot {
    let frame = evidence.frame(function);
    Hot {
        function_id: function,
        function: frame.function,
        module: frame.module,
        file: frame.file,
        line: frame.line,
        self_ns: 0,
        total_ns: 0,
        self_instructions: None,
        total_instructions: None,
        asked_by: asker.map(|asker| evidence.name(asker).to_owned()),
    }
}

/// The same from a run under callgrind.
fn by_instructions(evidence: &Evidence<'_>) -> Vec<Hot> {
    let tables = &evidence.recording.tables;
    let mut costs: HashMap<u32, (u64, u64)> = HashMap::new();
    for row in &tables.slices {
        let sum = costs.entry(row.function).or_default();
        *sum = (sum.0.saturating_add(row.self_instructions), sum.1.saturating_add(row.instructions));
    }
    let mut askers: HashMap<u32, HashMap<u32, u64>> = HashMap::new();
    for row in tables.slice_calls.iter().filter(|row| is_own(evidence, row.caller)) {
        *askers.entry(row.callee).or_default().entry(row.caller).or_default() += row.instructions;
    }
    let asker = |function: u32| {
        let of = askers.get(&function).filter(|_| !is_own(evidence, function))?;
        of.iter().max_by(|a, b| a.1.cmp(b.1).then(b.0.cmp(a.0))).map(|(asker, _)| *asker)
    };
    let mut hot: Vec<Hot> = costs
        .into_iter()
        .filter(|(_, (own, _))| *own > 0)
        .map(|(function, (own, total))| {
            let row = row(evidence, function, asker(function));
            Hot { self_instructions: Some(own), total_instructions: Some(total), ..row }
        })
        .collect();
    hot.sort_by(|a, b| {
        b.self_instructions.cmp(&a.self_instructions).then_with(|| a.function.cmp(&b.function))
    });
    hot.truncate(FUNCTIONS);
    hot
}

/// Whether a function is the program's own, neither the kernel's nor a runtime's, and has a name.
pub(crate) fn is_own(evidence: &Evidence<'_>, function: u32) -> bool {
    let frame = evidence.frame(function);
    let unnamed = frame.function.strip_prefix(&frame.module).is_some_and(|rest| rest.starts_with("+0x"));
    !frame.module.is_empty() && frame.module != "[kernel]" && !unnamed && !runtime::is_name(&frame)
}
