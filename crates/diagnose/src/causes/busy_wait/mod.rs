//! A program that asks again and again whether there is something, without a pause: it burns a CPU where it could sleep until there is. Or an
//! event is reported each time and not handled: interest in a socket that can be written to stays registered though there is nothing to
//! write, or what can be read is not read.
//!
//! Looks that find nothing are common where a program reads until there is no more. So there must be many of them for each that finds
//! something. A library's threads that yield while they wait for their next part of a computation do so by design: a yield counts
//! where the program itself makes it, and not Go's runtime.

mod spins;

pub(super) use spins::SPINS;

use super::words::{count, time};
use super::{Find, Needs, Spec};
use crate::Evidence;
use crate::calls::{CallSite, Calls, Sum, fact, from, is_receive, is_send, is_single, place};
use crate::candidate::Candidate;
use crate::draft::Draft;
use crate::findings::{Basis, Confidence, Cost, Sure};
use crate::gate::{Gate, Whole};
use slowpath_recording::tables::Syscall;
use slowpath_syscalls::{ACCEPTS, FLOCK, POLLS, SCHED_YIELD, WAIT4, name};
use std::collections::{BTreeMap, BTreeSet};

/// See the file's head.
pub(super) const CAUSE: Spec = Spec {
    slug: "busy-wait",
    title: "busy waiting",
    symptom: "polling, or reading a flag, in a loop without sleeping",
    not_known: "whether the program polls on purpose, to answer a few microseconds sooner",
    page: include_str!("../../../../../docs/causes/busy-wait.md"),
    needs: &[Needs::TransfersOrLoops],
    find: Find::InRecording(find),
};

/// Looks that found nothing, from one place, before they count: some 10 ms of a CPU at a µs each are burnt far sooner.
const LOOKS: u64 = 1_000;
/// … and for each that found something. An event loop that reads until there is no more has one or two.
const EMPTY: f64 = 20.0;
/// Share of the CPU time of the threads that look. Recording can take half of what the kernel reports of them, and the loop itself takes some.
const MOST: f64 = 0.3;
/// The same for events that are not handled: a program that handles them in memory which it shares with the kernel (a ring of packets) makes no
/// calls for them either, but works on them.
const MOST_UNHANDLED: f64 = 0.5;
/// A tenth of a CPU for the whole run, or of all CPU time where that is more.
const GATE: Gate = Gate { share: 0.10, least: 50e6, of: Whole::Longer };

/// EAGAIN.
const NOT_NOW: i64 = -11;

/// Calls of one kind, and who made them.
#[derive(Default)]
struct Made {
    sum: Sum,
    threads: BTreeSet<u32>,
}

impl Made {
    fn add(&mut self, row: &Syscall) {
        self.sum.add(row);
        self.threads.insert(row.thread);
    }

    /// The CPU time of the calls, if they take enough of the whole, and at least the share `most` of the threads that made them: who mostly does
    /// other things looks in between.
    fn burnt_ns(
        &self,
        evidence: &Evidence<'_>,
        calls: &Calls<'_>,
        (process, own): CallSite,
        most: f64,
    ) -> Option<f64> {
        let sampled = own.map_or(0.0, |own| calls.sampled_ns(process, own, &self.sum));
        let cost = self.sum.working_ns().max(sampled);
        let cpu = evidence.cpu_of_threads();
        let of_threads: f64 = self.threads.iter().filter_map(|thread| cpu.get(thread)).sum();
        (GATE.may_pass(evidence, cost) && cost >= most * of_threads).then_some(cost)
    }
}

/// Looks from one place by what they brought.
#[derive(Default)]
struct Looks {
    nothing: Made,
    something: u64,
    /// Of polls, those that found something and returned at once.
    ready: Made,
}

fn find(evidence: &Evidence<'_>) -> Vec<Candidate> {
    let mut found = Vec::new();
    // Older tracers by ptrace recorded no calls that move bytes.
    let moves = |row: &Syscall| is_send(row) || is_receive(row) || POLLS.contains(&row.number);
    if !evidence.by_ptrace || evidence.recording.tables.syscalls.iter().any(moves) {
        found.extend(calls_in_vain(evidence));
    }
    // A loop that yields is known by its calls.
    let is_known = |one: &Candidate| {
        found.iter().any(|other| (one.process, one.function()) == (other.process, other.function()))
    };
    let spins: Vec<Candidate> = spins::find(evidence).into_iter().filter(|one| !is_known(one)).collect();
    found.extend(spins);
    found
}

/// Calls that return with nothing, and events that are not handled.
fn calls_in_vain(evidence: &Evidence<'_>) -> Vec<Candidate> {
    let calls = Calls::new(evidence);
    // Before, a poll that found something and one that did not were added up as one.
    let format = &evidence.recording.about.format;
    let told_apart = (format.major, format.minor) >= (1, 4);
    let mut places: BTreeMap<(CallSite, u32), Looks> = BTreeMap::new();
    for (row, process) in calls.all() {
        let Some(nothing) = found_nothing(row, told_apart) else { continue };
        if row.number == SCHED_YIELD && (!calls.is_direct(row) || calls.is_of_go(row)) {
            continue;
        }
        // Where only a runtime is on the stack it has its own reasons, as Go's has.
        if row.stack.is_some() && calls.asks(row).is_none() {
            continue;
        }
        let looks = places.entry(((process, calls.asks(row)), row.number)).or_default();
        if nothing {
            looks.nothing.add(row);
        } else {
            looks.something += row.count;
            if POLLS.contains(&row.number) && row.result > 0 && row.blocked_ns <= row.duration_ns / 2 {
                looks.ready.add(row);
            }
        }
    }
    // What a process does beside asking.
    let mut others: BTreeMap<u32, u64> = BTreeMap::new();
    for (row, process) in calls.all().filter(|(row, _)| !POLLS.contains(&row.number)) {
        *others.entry(process).or_default() += row.count;
    }
    let found = places.iter().flat_map(|(of, looks)| {
        let others = others.get(&of.0.0).copied().unwrap_or(0);
        [finding(evidence, &calls, *of, looks), unhandled(evidence, &calls, *of, &looks.ready, others)]
    });
    found.flatten().collect()
}

/// Whether a look found nothing, and did not wait for it; none if the call is no look.
fn found_nothing(row: &Syscall, told_apart: bool) -> Option<bool> {
    let waited = row.blocked_ns > row.duration_ns / 2;
    let takes = is_receive(row) || ACCEPTS.contains(&row.number) || row.number == FLOCK;
    if takes {
        Some(row.result == NOT_NOW && !waited)
    } else if POLLS.contains(&row.number) || row.number == WAIT4 {
        Some(row.result == 0 && (told_apart || is_single(row)) && !waited)
    } else if row.number == SCHED_YIELD {
        Some(!waited)
    } else {
        None
    }
}

fn finding(
    evidence: &Evidence<'_>,
    calls: &Calls<'_>,
    ((process, own), number): (CallSite, u32),
    looks: &Looks,
) -> Option<Candidate> {
    let nothing = &looks.nothing.sum;
    if nothing.count < LOOKS || (nothing.count as f64) < EMPTY * looks.something as f64 {
        return None;
    }
    let cost = looks.nothing.burnt_ns(evidence, calls, (process, own), MOST)?;
    let stack = nothing.stack();
    // Where calls are traced in windows the program is many times slower in them, and what it waits for is not: each of its looks finds more.
    let in_windows = evidence.recording.about.in_windows();
    let found = match (number, looks.something) {
        (SCHED_YIELD, _) => String::new(),
        _ if in_windows => String::new(),
        (_, 0) => "; it never found anything".to_owned(),
        (_, something) => format!("; it found something {} times", count(something as f64)),
    };
    let mut facts = vec![
        fact("checks that found nothing", nothing.count as f64, "calls", Sure::Exact),
        fact("CPU time of these calls", cost, "ns", Sure::Exact),
    ];
    if !in_windows {
        facts.insert(1, fact("checks that found something", looks.something as f64, "calls", Sure::Exact));
    }
    let draft = Draft {
        explanation: vec![format!(
            "{} times{}, the program called {}{}, {} a second{found}",
            count(nothing.count as f64),
            from(evidence, stack, own),
            name(number),
            if number == SCHED_YIELD { "" } else { " and got nothing" },
            count(nothing.count as f64 / (evidence.recording.about.wall_ns as f64 / 1e9).max(1e-3)),
        ), format!("these calls used {} of CPU time", time(cost))],
        facts,
        advice: "Wait for the event: a blocking call, or poll or epoll with a non-zero timeout; a condition variable or a futex \
                 between threads"
            .to_owned(),
        ..Draft::new(&CAUSE, "polls without sleeping", Confidence::Likely, Cost::new(Basis::Cpu, cost, cost), place(evidence, stack, own, process))
    };
    Some(draft.candidate(evidence, GATE, process))
}

/// Polls that return at once with an event, and hardly another call of the process: what they report is not handled, and so reported again.
fn unhandled(
    evidence: &Evidence<'_>,
    calls: &Calls<'_>,
    ((process, own), number): (CallSite, u32),
    made: &Made,
    others: u64,
) -> Option<Candidate> {
    let ready = &made.sum;
    if ready.count < LOOKS || (ready.count as f64) < EMPTY * others as f64 {
        return None;
    }
    let cost = made.burnt_ns(evidence, calls, (process, own), MOST_UNHANDLED)?;
    let stack = ready.stack();
    let draft = Draft {
        not_known: "why the events are not handled",
        variant: "unhandled",
        explanation: vec![
            format!(
                "{} times{}, {} returned at once with an event, {} a second; the process made only {} other calls, so most of these events \
                 are not handled and are reported again",
                count(ready.count as f64),
                from(evidence, stack, own),
                name(number),
                count(ready.count as f64 / (evidence.recording.about.wall_ns as f64 / 1e9).max(1e-3)),
                count(others as f64)
            ),
            format!("these calls used {} of CPU time", time(cost)),
        ],
        facts: vec![
            fact("polls that returned at once with an event", ready.count as f64, "calls", Sure::Exact),
            fact("other calls of the process", others as f64, "calls", Sure::Exact),
            fact("CPU time of these calls", cost, "ns", Sure::Exact),
        ],
        advice: "Handle each event, or stop asking for it: remove EPOLLOUT (POLLOUT) once nothing is left to write, read what can be read \
                 (also from an eventfd or timerfd), close what has ended"
            .to_owned(),
        ..Draft::new(
            &CAUSE,
            "polls without handling the events",
            Confidence::Likely,
            Cost::new(Basis::Cpu, cost, cost),
            place(evidence, stack, own, process),
        )
    };
    Some(draft.candidate(evidence, GATE, process))
}
