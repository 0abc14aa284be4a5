//! Children that execute no program: the process is copied for each operation, which the copy does itself. What copying it costs is sampled: in the
//! parent, which copies its page tables and faults at the first write to each page afterwards; and in the children, which fault there as well, and are
//! thrown away. A child that ends before a sample is due shows nothing, so it may be more.

use super::{CAUSE, OPERATIONS};
use crate::Evidence;
use crate::calls::{Calls, fact, from, place};
use crate::candidate::Candidate;
use crate::causes::words::{base_name, count, time};
use crate::draft::Draft;
use crate::findings::{Basis, Confidence, Cost, Sure};
use crate::gate::Gate;
use std::collections::{BTreeMap, BTreeSet, HashSet};

const GATE: Gate = Gate::TENTH_OF_CPU;
/// Of the children of a process, the share that must execute nothing, and have no children that do: it is not known which of its time in the kernel's
/// functions below was for which.
const MOST: f64 = 0.9;
/// The kernel's functions that copy a process (before Linux 5.10 with another name), and its first write to a page that was shared then.
const COPIES: [&str; 2] = ["kernel_clone", "_do_fork"];
const FIRST_WRITE: &str = "do_wp_page";
/// What a copy spends its time on because it is one: its beginning, its end, and first writes as well. Other page faults may be of memory of its own.
const OF_A_COPY: [&str; 4] = [FIRST_WRITE, "do_exit", "ret_from_fork_asm", "ret_from_fork"];
const ADVICE: &str = "Do it in the process itself, or in a thread. If it must be apart, keep a few children and hand them one operation after another \
                      through a pipe. In a shell script, set a variable in place of $(…), and put several steps into one (…)";

/// The children of one process.
#[derive(Default)]
struct Children {
    forked: BTreeSet<u32>,
    others: usize,
}

pub(super) fn find(evidence: &Evidence<'_>, calls: &Calls<'_>) -> Vec<Candidate> {
    // Without BPF forks are stopped on their way, and the kernel's functions are not seen.
    if evidence.by_ptrace {
        return Vec::new();
    }
    let processes = &evidence.recording.tables.processes;
    let parents: HashSet<u32> = processes.iter().filter_map(|process| process.parent).collect();
    let mut by_parent: BTreeMap<u32, Children> = BTreeMap::new();
    for process in processes {
        let Some(parent) = process.parent else { continue };
        let children = by_parent.entry(parent).or_default();
        if process.exec_ns.is_none() && process.end_ns.is_some() && !parents.contains(&process.process) {
            children.forked.insert(process.process);
        } else {
            children.others += 1;
        }
    }
    by_parent.retain(|_, children| {
        let forked = children.forked.len();
        let others = children.others;
        // As many that execute a program are operations of another kind.
        forked >= OPERATIONS && others < OPERATIONS && forked as f64 >= MOST * (forked + others) as f64
    });
    by_parent.iter().filter_map(|(parent, children)| of_parent(evidence, calls, *parent, children)).collect()
}

fn of_parent(
    evidence: &Evidence<'_>,
    calls: &Calls<'_>,
    parent: u32,
    children: &Children,
) -> Option<Candidate> {
    let tables = &evidence.recording.tables;
    let number = children.forked.len() as f64;
    // A thread is made by the same function of the kernel. The first one came with the process.
    let threads = tables.threads.iter().filter(|thread| thread.process == parent).skip(1).count();
    if threads as f64 > (1.0 - MOST) * number {
        return None;
    }
    let of_kernel = |function: u32| tables.functions[function as usize].module.is_none();
    let with = |names: &[&str]| {
        evidence.stacks_with(|function| of_kernel(function) && names.contains(&evidence.name(function)))
    };
    let (copies, writes, of_a_copy) = (with(&COPIES), with(&[FIRST_WRITE]), with(&OF_A_COPY));
    let (mut copying, mut first_writes, mut copied, mut working) = (0.0, 0.0, 0.0, 0.0);
    let mut by_stack: BTreeMap<u32, f64> = BTreeMap::new();
    for (sample, weight) in tables.samples.iter().zip(&evidence.weights) {
        let process = evidence.process_of(sample);
        let on = |with: &[bool]| sample.stack.is_some_and(|stack| with[stack as usize]);
        if children.forked.contains(&process) {
            let cost = if on(&of_a_copy) { &mut copied } else { &mut working };
            *cost += weight;
        } else if process == parent && on(&copies) {
            copying += weight;
            *by_stack.entry(sample.stack?).or_default() += weight;
        } else if process == parent && on(&writes) {
            first_writes += weight;
        }
    }
    let gain = copying + first_writes + copied;
    // The end of a copy also frees memory of its own.
    if gain < working || copied > copying + first_writes || !GATE.may_pass(evidence, copying + first_writes) {
        return None;
    }
    let stack = by_stack.iter().max_by(|a, b| a.1.total_cmp(b.1)).map(|(stack, _)| *stack);
    let own = stack.and_then(|stack| calls.own_of(stack));
    let name = base_name(&tables.processes[parent as usize].program);
    let explanation = vec![
        format!(
            "{name} forked {} children{} that executed no program",
            count(number),
            from(evidence, stack, own)
        ),
        format!(
            "each time {} went into copying the process, {} into first writes to its pages afterwards, and at least {} into the copy's first writes and its end",
            time(copying / number),
            time(first_writes / number),
            time(copied / number)
        ),
    ];
    let each = |what: &str, ns: f64| fact(what, ns / number, "ns", Sure::Sampled);
    let draft = Draft {
        explanation,
        facts: vec![
            fact("processes started", number, "processes", Sure::Exact),
            each("copying of each", copying),
            each("first writes after each", first_writes),
            each("first writes in and end of each", copied),
        ],
        gain_is_least: true,
        variant: "forked",
        advice: ADVICE.to_owned(),
        ..Draft::new(
            &CAUSE,
            "the process is copied for every operation",
            Confidence::Likely,
            Cost::new(Basis::Cpu, gain, gain),
            place(evidence, stack, own, parent),
        )
    };
    Some(draft.candidate(evidence, GATE, parent))
}
