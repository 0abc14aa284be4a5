//! What tracing does to operations: the time that it took of them; and those of which a tracer by ptrace saw nothing.

use super::{Judged, Operation};
use crate::Evidence;
use crate::calls::{Calls, is_met};
use slowpath_stats::median;
use slowpath_syscalls::FORKS;
use std::collections::{BTreeMap, HashMap};

/// Operations of which calls were traced before they say how long the others start up: in a window of a few ms one is seen from its middle on.
const TRACED: usize = 10;
/// Samples of operations before it is said what share of their time passes before `main`.
const SAMPLES: usize = 20;
/// Functions that call a program's `main`, or are it.
const MAINS: [&str; 5] = ["main", "__libc_start_call_main", "main.main", "runtime.main", "__libc_main"];

/// What takes so many times as long as the usual operation is another one, as where `git` is started once to check out and then for each file: what it does is no
/// share of what those take. On a busy machine those that were traced took 0.4 to 2.3 times the usual.
const LONGER: f64 = 4.0;

/// What is known of the operations that were traced.
#[derive(Clone, Default)]
struct Traced {
    /// What the usual operation of the group takes, traced or not, ns.
    usual: f64,
    /// How many were traced.
    seen: usize,
    /// What they took by themselves in all, and until they had started up, ns.
    lives: f64,
    starts: f64,
}

impl Traced {
    fn of(evidence: &Evidence<'_>, calls: &Calls<'_>, operations: &[Operation], at: &[u64]) -> Traced {
        let traced = rows(calls, operations, at);
        let own = |operation: &Operation, time: u64, calls: u32| {
            let threads = operation.members.len() as f64 * evidence.tracing_a_thread;
            (time as f64 - threads - f64::from(calls) * evidence.tracing_a_call).max(0.0)
        };
        let of_traced = || operations.iter().zip(at).zip(&traced).filter(|(_, (all, _))| *all > 0);
        // One that took many times as long as the others did something else.
        let usual = LONGER * middle(of_traced().map(|((operation, _), _)| life(operation)));
        let of_group = middle(operations.iter().map(life));
        let mut sum = Traced { usual: of_group, seen: of_traced().count(), ..Traced::default() };
        for ((operation, at), (all, before)) in
            of_traced().filter(|((operation, _), _)| life(operation) <= usual)
        {
            sum.lives += own(operation, operation.end - operation.start, *all);
            sum.starts += own(operation, at.saturating_sub(operation.start), *before);
        }
        sum
    }

    fn join(&mut self, other: &Traced) {
        self.seen += other.seen;
        self.lives += other.lives;
        self.starts += other.starts;
    }
}

fn life(operation: &Operation) -> f64 {
    (operation.end - operation.start) as f64
}

fn by_process(operations: &[Operation]) -> HashMap<u32, usize> {
    let members = operations.iter().enumerate();
    members.flat_map(|(at, operation)| operation.members.iter().map(move |process| (*process, at))).collect()
}

/// Traced calls of each operation: all, and those before it had started up. Forks are reported in any case.
fn rows(calls: &Calls<'_>, operations: &[Operation], at: &[u64]) -> Vec<(u32, u32)> {
    let of = by_process(operations);
    let mut traced = vec![(0u32, 0u32); operations.len()];
    for (row, process) in calls.all().filter(|(row, _)| !FORKS.contains(&row.number) && !is_met(row)) {
        if let Some(operation) = of.get(&process) {
            traced[*operation].0 += 1;
            traced[*operation].1 += u32::from(row.time_ns < at[*operation]);
        }
    }
    traced
}

/// Operations that were not traced start up as those that were: of the same program, started by the same function, in whichever process.
pub(super) fn as_the_others(evidence: &Evidence<'_>, calls: &Calls<'_>, judged: &mut [Judged<'_>]) {
    let all: Vec<Traced> =
        judged.iter().map(|one| Traced::of(evidence, calls, &one.group.operations, &one.at)).collect();
    // Those of one function by which one program is started; where it is not known by which, there may be several.
    let mut alike: BTreeMap<(u32, &str), Vec<usize>> = BTreeMap::new();
    for (at, one) in judged.iter().enumerate() {
        if let Some(own) = one.own {
            alike.entry((own, one.program)).or_default().push(at);
        }
    }
    for (at, one) in judged.iter_mut().enumerate() {
        let mut known = all[at].clone();
        let others = one.own.and_then(|own| alike.get(&(own, one.program))).into_iter().flatten();
        let takes_as_long =
            |other: &Traced| other.usual <= LONGER * all[at].usual && all[at].usual <= LONGER * other.usual;
        if known.seen < TRACED {
            others
                .filter(|other| **other != at && takes_as_long(&all[**other]))
                .for_each(|other| known.join(&all[*other]));
        }
        infer(evidence, calls, &one.group.operations, &known, &mut one.at);
    }
}

/// Operations of which no call was traced start up as long as those that were (`known`), in proportion.
fn infer(
    evidence: &Evidence<'_>,
    calls: &Calls<'_>,
    operations: &[Operation],
    known: &Traced,
    at: &mut [u64],
) {
    let usual = LONGER * middle(operations.iter().map(life));
    let sampled = if known.seen < TRACED { before_main(evidence, &by_process(operations)) } else { None };
    if sampled.is_some() || known.seen == 0 {
        until_main(evidence, sampled.unwrap_or(0.0), operations, at);
        return;
    }
    let share = if known.lives > 0.0 { (known.starts / known.lives).min(1.0) } else { 0.0 };
    let traced = rows(calls, operations, at);
    for ((operation, at), (all, _)) in operations.iter().zip(at).zip(&traced) {
        if *all == 0 {
            *at = operation.start + (life(operation).min(usual) * share) as u64;
        }
        // When a program was executed is known of all.
        *at = (*at).max(executed(evidence, operation));
    }
}

fn middle(values: impl Iterator<Item = f64>) -> f64 {
    median(&values.collect::<Vec<f64>>()).unwrap_or(0.0)
}

/// Where calls of few operations were traced: they have started up when `main` begins, as far as samples show what `share` of their time, once their
/// program is executed, passes before it: loading libraries, and what these do to begin with.
fn until_main(evidence: &Evidence<'_>, share: f64, operations: &[Operation], at: &mut [u64]) {
    for (operation, at) in operations.iter().zip(at) {
        let executed = executed(evidence, operation);
        *at = executed + ((operation.end - executed) as f64 * share) as u64;
    }
}

/// When the program of an operation was executed, as far as that is within it.
pub(super) fn executed(evidence: &Evidence<'_>, operation: &Operation) -> u64 {
    let process = &evidence.recording.tables.processes[operation.process as usize];
    process.exec_ns.unwrap_or(operation.start).clamp(operation.start, operation.end)
}

/// The share of the CPU time of operations before `main`; none where that is not known.
fn before_main(evidence: &Evidence<'_>, of: &HashMap<u32, usize>) -> Option<f64> {
    let tables = &evidence.recording.tables;
    let in_main = evidence.stacks_with(|function| MAINS.contains(&evidence.name(function)));
    let mut first: HashMap<u32, u32> = HashMap::new();
    for thread in &tables.threads {
        first.entry(thread.process).or_insert(thread.thread);
    }
    let (mut samples, mut all_ns, mut main_ns, mut named) = (0, 0.0, 0.0, false);
    for (sample, weight) in tables.samples.iter().zip(&evidence.weights) {
        let process = evidence.process_of(sample);
        let Some(stack) = sample.stack.filter(|_| of.contains_key(&process)) else { continue };
        let inside = in_main[stack as usize];
        // Other threads are begun by what `main` does; of a stack that is cut it is not known, nor of code of the program itself: languages with
        // stacks of their own have no `main` on them.
        let program = &tables.processes[process as usize].program;
        let is_own = |location: u32| {
            let module = tables.locations[location as usize].module;
            module.is_some_and(|module| tables.modules[module as usize].path == *program)
        };
        let before = sample.complete
            && !inside
            && first.get(&process) == Some(&sample.thread)
            && !is_own(tables.stacks[stack as usize].location);
        (samples, all_ns, named) = (samples + 1, all_ns + weight, named || inside);
        main_ns += if before { 0.0 } else { *weight };
    }
    // A program whose functions have no names has no `main`.
    (samples >= SAMPLES && named).then(|| 1.0 - main_ns / all_ns)
}

/// Of a thread's stops, at its fork, its beginning, its program and its end, so many are part of starting up. Where they are not known apart from
/// those of calls, only the last one was counted.
const BEFORE: f64 = 0.75;

/// Elapsed time that tracing took of operations, and of their starting up (until `at`), ns.
pub(super) fn traced(
    evidence: &Evidence<'_>,
    calls: &Calls<'_>,
    operations: &[Operation],
    at: &[u64],
) -> (f64, f64) {
    let until: HashMap<u32, u64> = operations
        .iter()
        .zip(at)
        .flat_map(|(operation, at)| operation.members.iter().map(move |process| (*process, *at)))
        .collect();
    // A row is a call that was traced, whatever it stands for.
    let (mut all, mut before) = (0u64, 0u64);
    for (row, process) in calls.all().filter(|(row, _)| !is_met(row)) {
        if let Some(until) = until.get(&process) {
            let traced = if evidence.by_ptrace { 1 } else { row.count };
            all += traced;
            before += traced * u64::from(row.time_ns < *until);
        }
    }
    if !evidence.by_ptrace {
        // The kernel's tracer runs in the process itself, at each call about as long.
        let took: f64 = until.keys().map(|process| evidence.recorded_ns(*process)).sum();
        return (took, took * before as f64 / all.max(1) as f64);
    }
    let threads = until.len() as f64 * evidence.tracing_a_thread;
    let of = |calls: u64, threads: f64| calls as f64 * evidence.tracing_a_call + threads;
    let begins = if evidence.recording.about.tracing_calls_ns.is_some() { BEFORE * threads } else { 0.0 };
    (of(all, threads), of(before, begins))
}
