//! Exceptions are thrown and caught for what happens all the time: a cell that is no number, a key that is not there. Throwing takes a µs and
//! more (1.7 µs in the case), since the stack is unwound by tables, frame by frame and twice; returning takes some ns.
//!
//! Seen from samples alone: whatever runs under the functions of the C++ ABI and of the unwinder that throw and go on throwing. What is done
//! to make the exception's own content, and what destructors do, is left out.

use super::words::{count, time};
use super::{Find, Needs, Spec};
use crate::Evidence;
use crate::calls::{Calls, place};
use crate::candidate::Candidate;
use crate::draft::Draft;
use crate::evidence::heaviest;
use crate::findings::{Basis, Confidence, Cost, Fact, Sure};
use crate::gate::Gate;
use std::collections::BTreeMap;

/// See the file's head.
pub(super) const CAUSE: Spec = Spec {
    slug: "exception-per-operation",
    title: "an exception for every operation",
    symptom: "exceptions are thrown and caught again and again, and much of the time goes to unwinding the stack",
    not_known: "whether the errors can be returned in another way",
    page: include_str!("../../../../docs/causes/exception-per-operation.md"),
    needs: &[Needs::Samples],
    find: Find::InRecording(find),
};

/// Samples under the throwing functions that it takes: of fewer the share is not known to a third.
const SAMPLES: u64 = 30;
/// Handing errors back in another way is to be thought over.
const GATE: Gate = Gate::TENTH_OF_CPU;
/// What throws, of the Itanium C++ ABI (which Rust's panics and D use as well), and of its unwinder.
const THROWS: [&str; 9] = [
    "__cxa_throw",
    "__cxa_rethrow",
    "__cxa_allocate_exception",
    "__cxa_free_exception",
    "__cxa_begin_catch",
    "__cxa_end_catch",
    "_Unwind_RaiseException",
    "_Unwind_Resume",
    "_Unwind_Resume_or_Rethrow",
];

/// Time under the throwing functions, in one process.
#[derive(Default)]
struct Thrown {
    samples: u64,
    ns: f64,
    /// By the program's own function that throws: time, by stack.
    throwers: BTreeMap<Option<u32>, BTreeMap<u32, f64>>,
}

fn find(evidence: &Evidence<'_>) -> Vec<Candidate> {
    let throwing = evidence.stacks_with(|function| THROWS.contains(&evidence.name(function)));
    if !throwing.contains(&true) {
        return Vec::new();
    }
    let calls = Calls::new(evidence);
    let tables = &evidence.recording.tables;
    let mut processes: BTreeMap<u32, Thrown> = BTreeMap::new();
    for (sample, weight) in tables.samples.iter().zip(&evidence.weights).filter(|(sample, _)| sample.on_cpu) {
        let Some(stack) = sample.stack.filter(|stack| throwing[*stack as usize]) else { continue };
        let thrown = processes.entry(evidence.process_of(sample)).or_default();
        thrown.samples += 1;
        thrown.ns += weight;
        *thrown.throwers.entry(calls.own_of(stack)).or_default().entry(stack).or_default() += weight;
    }
    processes.into_iter().filter_map(|(process, thrown)| finding(evidence, process, &thrown)).collect()
}

fn finding(evidence: &Evidence<'_>, process: u32, thrown: &Thrown) -> Option<Candidate> {
    if thrown.samples < SAMPLES || !GATE.may_pass(evidence, thrown.ns) {
        return None;
    }
    let mut throwers: Vec<(f64, Option<u32>, &BTreeMap<u32, f64>)> =
        thrown.throwers.iter().map(|(own, stacks)| (stacks.values().sum(), *own, stacks)).collect();
    throwers.sort_by(|a, b| b.0.total_cmp(&a.0));
    let (most, own, stacks) = *throwers.first()?;
    let place = place(evidence, heaviest(stacks), own, process);
    let mut explanation = vec![format!(
        "{} of the samples are in throwing and catching exceptions, {} in all; most are thrown in {}",
        count(thrown.samples as f64),
        time(thrown.ns),
        place.frame.function
    )];
    if throwers.len() > 1 {
        explanation.push(format!(
            "{} thrown there, the rest in {} other functions",
            time(most),
            count((throwers.len() - 1) as f64)
        ));
    }
    explanation.push(
        "each throw goes through the stack twice, frame by frame; returning a result does not".to_owned(),
    );
    let draft = Draft {
        explanation,
        facts: vec![Fact::new("time of throwing and catching", thrown.ns, "ns", "samples", Sure::Sampled)],
        related: throwers.iter().skip(1).take(4).filter_map(|(_, own, _)| Some(evidence.frame((*own)?))).collect(),
        advice: "Return a result that says whether it worked, for what is expected to happen often: std::optional, std::from_chars, find() instead \
                 of at(), an error code. Keep exceptions for what is rare"
            .to_owned(),
        ..Draft::new(&CAUSE, CAUSE.title, Confidence::Likely, Cost::new(Basis::Cpu, thrown.ns, thrown.ns), place)
    };
    Some(draft.candidate(evidence, GATE, process))
}
