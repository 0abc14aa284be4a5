//! A thread that is to end notices it only when a time-out is over: it waits for events or sleeps, and looks then whether it was told to.
//!
//! When it was told is known in two cases: its process handled a signal that asks programs to end, sent by another one of the tree that waits for its
//! end; or another thread began to wait for the end of the thread, more than once. The thread ends right after the time-out. A thread that works
//! or sleeps to its own end was told nothing: once, that another one comes to wait for it in its last sleep may be chance.

use super::super::words::{time, times};
use crate::Evidence;
use crate::calls::{Calls, Sum, fact, from, place};
use crate::candidate::Candidate;
use crate::draft::Draft;
use crate::findings::{Basis, Confidence, Cost, Sure};
use crate::gate::Gate;
use crate::intervals;
use slowpath_recording::tables::Syscall;
use slowpath_syscalls::{FUTEX, KILL, POLLS, RT_SIGRETURN, SLEEPS, WAIT4, WAITID};
use std::cmp::Reverse;
use std::collections::BTreeMap;

/// Waits that are looked at, ns: what is lost in shorter ones takes many.
const LEAST_NS: u64 = 20_000_000;
/// From the end of the time-out to that of the thread at most, ns, and from the end of its process to that of whoever waits for it: threads that clean up
/// took 0.2 to 3 ms, a process of eight threads 15.
const SOON_NS: u64 = 50_000_000;
/// A signal is handled so soon, ns: a thread that sleeps is woken for it, and may stand in line for a CPU.
const HANDLED_NS: u64 = 50_000_000;
/// Whoever waits for the end of a thread is woken by that, ns.
const WOKEN_NS: u64 = 5_000_000;
/// Times that another thread came to wait while one slept for the last time, before that counts.
const JOINED: u64 = 2;
/// Signals that ask a program to end: hangup, interrupt, quit, terminate.
const ENDS: [u64; 4] = [1, 2, 3, 15];
/// ETIMEDOUT.
const TIMED_OUT: i64 = -110;
const GATE: Gate = Gate::TENTH_OF_WALL;

/// An end that was noticed late.
struct Late<'a> {
    row: &'a Syscall,
    process: u32,
    told_ns: u64,
    by_signal: bool,
}

pub(super) fn find(evidence: &Evidence<'_>, calls: &Calls<'_>) -> Vec<Candidate> {
    let tables = &evidence.recording.tables;
    let mut last: BTreeMap<u32, &Syscall> = BTreeMap::new();
    for (row, _) in calls.all().filter(|(row, _)| row.count == 1 && row.blocked_ns >= LEAST_NS) {
        let before = last.entry(row.thread).or_insert(row);
        if row.end_ns >= before.end_ns {
            *before = row;
        }
    }
    let others = Others::of(calls);
    let mut places: BTreeMap<(&str, Option<u32>), Vec<Late<'_>>> = BTreeMap::new();
    for row in last.into_values().filter(|row| is_timed_out(row)) {
        let thread = &tables.threads[row.thread as usize];
        let process = &tables.processes[thread.process as usize];
        let Some(end) = thread.end_ns.or(process.end_ns) else { continue };
        if !(row.end_ns..row.end_ns + SOON_NS).contains(&end) {
            continue;
        }
        let by_signal = process.end_ns.and_then(|end| others.signalled(process.process, row, end));
        let told = by_signal.or_else(|| others.joined(process.process, row, end));
        if let Some(told_ns) = told {
            let late = Late { row, process: process.process, told_ns, by_signal: by_signal.is_some() };
            places.entry((process.program.as_str(), calls.own(row))).or_default().push(late);
        }
    }
    let spans =
        |late: &[Late<'_>]| intervals::union(late.iter().map(|one| (one.told_ns, one.row.end_ns)).collect());
    let mut places: Vec<_> = places.into_iter().map(|(place, late)| (place, spans(&late), late)).collect();
    places.sort_by_key(|(_, spans, _)| Reverse(intervals::length(spans) as u64));
    // What several wait through at the same time is lost once.
    let mut counted = Vec::new();
    let of_place = |((program, own), mut spans, late): (_, Vec<(u64, u64)>, Vec<Late<'_>>)| {
        spans.retain(|one| intervals::without(*one, &counted) == [*one]);
        counted.extend_from_slice(&spans);
        counted = intervals::union(std::mem::take(&mut counted));
        candidate(evidence, calls, program, own, &late, &spans)
    };
    places.into_iter().filter_map(of_place).collect()
}

/// Whether a wait went on until its time was over.
fn is_timed_out(row: &Syscall) -> bool {
    match row.number {
        FUTEX => row.result == TIMED_OUT,
        number => row.result == 0 && (POLLS.contains(&number) || SLEEPS.contains(&number)),
    }
}

/// What others did that may have to do with an end, with their processes.
struct Others<'a> {
    kills: Vec<(&'a Syscall, u32)>,
    handlers: Vec<(&'a Syscall, u32)>,
    waits: Vec<(&'a Syscall, u32)>,
    joins: Vec<(&'a Syscall, u32)>,
}

impl<'a> Others<'a> {
    fn of(calls: &Calls<'a>) -> Others<'a> {
        let mut others =
            Others { kills: Vec::new(), handlers: Vec::new(), waits: Vec::new(), joins: Vec::new() };
        for (row, process) in calls.all() {
            let waited = row.blocked_ns > 0;
            match row.number {
                KILL if row.result == 0 && ENDS.contains(&row.argument) => others.kills.push((row, process)),
                RT_SIGRETURN => others.handlers.push((row, process)),
                WAIT4 | WAITID if waited => others.waits.push((row, process)),
                FUTEX if waited && row.count == 1 && row.result == 0 => others.joins.push((row, process)),
                _ => {}
            }
        }
        others
    }

    /// When another process sent a signal to end, which this one handled during the wait, and then waited for its end, at `end`.
    fn signalled(&self, process: u32, wait: &Syscall, end: u64) -> Option<u64> {
        let awaits = |(row, of): &(&Syscall, u32)| {
            *of != process && row.time_ns < wait.end_ns && (end..end + SOON_NS).contains(&row.end_ns)
        };
        let handled = |at: u64| {
            let here =
                |(row, of): &(&Syscall, u32)| *of == process && (at..at + HANDLED_NS).contains(&row.time_ns);
            self.handlers.iter().any(here)
        };
        let told = |(row, of): &&(&Syscall, u32)| {
            *of != process && (wait.time_ns..wait.end_ns).contains(&row.time_ns) && handled(row.time_ns)
        };
        if end > wait.end_ns + SOON_NS || !self.waits.iter().any(awaits) {
            return None;
        }
        self.kills.iter().find(told).map(|(row, _)| row.time_ns)
    }

    /// When another thread of the process began to wait, during the wait, for the thread's end at `end`.
    fn joined(&self, process: u32, wait: &Syscall, end: u64) -> Option<u64> {
        let joins = |(row, of): &&(&Syscall, u32)| {
            *of == process
                && row.thread != wait.thread
                && (wait.time_ns..wait.end_ns).contains(&row.time_ns)
                && (end.saturating_sub(WOKEN_NS)..end + WOKEN_NS).contains(&row.end_ns)
        };
        self.joins.iter().find(joins).map(|(row, _)| row.time_ns)
    }
}

fn candidate(
    evidence: &Evidence<'_>,
    calls: &Calls<'_>,
    program: &str,
    own: Option<u32>,
    late: &[Late<'_>],
    spans: &[(u64, u64)],
) -> Option<Candidate> {
    let by_signal = late.iter().any(|one| one.by_signal);
    if !by_signal && (spans.len() as u64) < JOINED {
        return None;
    }
    let thread = late.first()?.row.thread;
    let busy = calls.busy_share(&spans.iter().map(|(from, to)| (thread, *from, *to)).collect::<Vec<_>>());
    let lost = intervals::length(spans);
    let gain = lost * (1.0 - busy).max(0.0);
    if !GATE.may_pass(evidence, gain) {
        return None;
    }
    let mut sum = Sum::default();
    late.iter().for_each(|one| sum.add(one.row));
    let (stack, process) = (sum.stack(), late.first()?.process);
    let name = program.rsplit('/').next().unwrap_or(program);
    let ends = spans.len() as f64;
    let often = times(ends);
    let told = if by_signal {
        format!("{name} was told to end by a signal {often}, while a thread of it waited")
    } else {
        format!("another thread of {name} came {often} to wait for the end of one that waited")
    };
    let draft = Draft {
        variant: "stopping",
        explanation: vec![
            format!(
                "{told}{}; it ended only when the time-out of that wait was over, {} later on average",
                from(evidence, stack, own),
                time(lost / ends)
            ),
            format!("nothing else worked meanwhile for {} in total", time(gain)),
        ],
        facts: vec![
            fact("ends noticed late", ends, "ends", Sure::Exact),
            fact("time from when it was to end", lost, "ns", Sure::Exact),
            fact("waits that timed out", late.len() as f64, "calls", Sure::Exact),
        ],
        advice: "Wake the thread that is to end: poll on an eventfd or a pipe as well, that is written to then; signal the condition variable that it waits for; \
                 or shut the socket down. A shorter time-out is no remedy"
            .to_owned(),
        ..Draft::new(
            &super::CAUSE,
            "notices late that it is to end",
            Confidence::Likely,
            Cost::new(Basis::Wall, lost, gain),
            place(evidence, stack, own, process),
        )
    };
    Some(draft.candidate(evidence, GATE, process))
}
