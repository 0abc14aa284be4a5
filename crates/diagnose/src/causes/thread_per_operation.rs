//! A thread is started for every operation, and starting and ending it takes a large part of the time: 10 to 50 µs each, for a stack that is mapped,
//! protected and given back, and a scheduler that finds a place for it. A pool of threads starts each once.
//!
//! Seen from the list of threads and from samples alone: what runs under the functions that make threads and wait for their end, and what a
//! thread does before it comes to the program's own code and after it. Processes that are started belong to `process_per_operation`.

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
    slug: "thread-per-operation",
    title: "a thread for every operation",
    symptom: "threads are started for single items, and much of the time goes to starting and ending them",
    not_known: "whether the operations can share threads",
    page: include_str!("../../../../docs/causes/thread-per-operation.md"),
    needs: &[Needs::Samples],
    find: Find::InRecording(find),
};

/// Threads of a process before they count: at 50 µs each, fewer take no time that can be seen, and a large machine has a pool of some hundred.
const THREADS: u64 = 500;
/// Samples that it takes: of fewer the share is not known to a third.
const SAMPLES: u64 = 30;
/// A pool is to be thought over.
const GATE: Gate = Gate::TENTH_OF_CPU;
/// What makes threads, and what waits for their end.
const MAKES: [&str; 9] = [
    "pthread_create",
    "__pthread_create_2_1",
    "thrd_create",
    "pthread_join",
    "__pthread_clockjoin_ex",
    "thrd_join",
    "pthread_detach",
    "__clone3",
    "__clone",
];

/// Time for the sake of threads, in one process.
#[derive(Default)]
struct Spent {
    samples: u64,
    /// Under the functions that make threads, and in threads outside the program's code, ns.
    making_ns: f64,
    beside_ns: f64,
    /// Time under those functions, by the program's own function that calls them and by stack.
    makers: BTreeMap<Option<u32>, BTreeMap<u32, f64>>,
}

/// Threads of one process that came after its first and ended.
#[derive(Default, Clone, Copy)]
struct Short {
    number: u64,
    cpu_ns: u64,
}

fn find(evidence: &Evidence<'_>) -> Vec<Candidate> {
    let tables = &evidence.recording.tables;
    let mut short: BTreeMap<u32, Short> = BTreeMap::new();
    let is_short = |thread: u32| {
        let thread = &tables.threads[thread as usize];
        thread.tid != tables.processes[thread.process as usize].pid && thread.end_ns.is_some()
    };
    for thread in tables.threads.iter().filter(|thread| is_short(thread.thread)) {
        let short = short.entry(thread.process).or_default();
        short.number += 1;
        short.cpu_ns += thread.cpu_ns.unwrap_or(0);
    }
    short.retain(|_, short| short.number >= THREADS);
    if short.is_empty() {
        return Vec::new();
    }
    let calls = Calls::new(evidence);
    // The body of a thread may be inlined into a function of the runtime: what is in a program is not the runtime's.
    let programs = evidence.stacks_with(|function| evidence.is_program(&evidence.module(function)));
    let makes = evidence.stacks_with(|function| MAKES.contains(&evidence.name(function)));
    let mut spent: BTreeMap<u32, Spent> = BTreeMap::new();
    for (sample, weight) in tables.samples.iter().zip(&evidence.weights).filter(|(sample, _)| sample.on_cpu) {
        let process = evidence.process_of(sample);
        if !short.contains_key(&process) {
            continue;
        }
        let spent = spent.entry(process).or_default();
        let in_program = |stack: u32| calls.own_of(stack).is_some() || programs[stack as usize];
        match sample.stack {
            Some(stack) if makes[stack as usize] && in_program(stack) => {
                spent.samples += 1;
                spent.making_ns += weight;
                *spent.makers.entry(calls.own_of(stack)).or_default().entry(stack).or_default() += weight;
            }
            Some(stack) if is_short(sample.thread) && !in_program(stack) => {
                spent.samples += 1;
                spent.beside_ns += weight;
            }
            _ => {}
        }
    }
    spent.iter().filter_map(|(process, spent)| finding(evidence, *process, short[process], spent)).collect()
}

fn finding(evidence: &Evidence<'_>, process: u32, short: Short, spent: &Spent) -> Option<Candidate> {
    let cost = spent.making_ns + spent.beside_ns;
    if spent.samples < SAMPLES || !GATE.may_pass(evidence, cost) {
        return None;
    }
    let number = short.number as f64;
    let by_time = |stacks: &BTreeMap<u32, f64>| stacks.values().sum::<f64>();
    let most = spent.makers.iter().max_by(|a, b| by_time(a.1).total_cmp(&by_time(b.1)));
    let (own, stack) = most.map_or((None, None), |(own, stacks)| (*own, heaviest(stacks)));
    let explanation = vec![
        format!("{} threads were started and ended, one after the other or some at a time", count(number)),
        format!(
            "each used {} of CPU time, and starting and ending one took {}: {} in all",
            time(short.cpu_ns as f64 / number),
            time(cost / number),
            time(cost)
        ),
    ];
    let draft = Draft {
        explanation,
        facts: vec![
            Fact::new("threads", number, "threads", "trace", Sure::Exact),
            Fact::new("time of starting and waiting for threads", spent.making_ns, "ns", "samples", Sure::Sampled),
            Fact::new("time of threads outside the program's code", spent.beside_ns, "ns", "samples", Sure::Sampled),
        ],
        advice: "Start as many threads as there are CPUs, once, and give them the operations through a queue (a thread pool); or do \
                 short operations in the thread that asks for them"
            .to_owned(),
        ..Draft::new(&CAUSE, CAUSE.title, Confidence::Likely, Cost::new(Basis::Cpu, cost, cost), place(evidence, stack, own, process))
    };
    Some(draft.candidate(evidence, GATE, process))
}
