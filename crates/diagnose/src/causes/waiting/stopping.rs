//! A thread that was asked to stop notices it only when a time-out is over: it waits for events or sleeps, and checks then whether it is to stop.
//!
//! When it was asked is known in three cases. Another process of the recording sent a signal that asks programs to end, its process handled it, and somebody
//! waited for its end. It may even wait for events once more after that. Or another thread began to wait for the end of this one, more than once, while it waited as it had before. The thread ends right
//! after the time-out. Or another thread sleeps again and again from the request on until the end, and several threads end so. A thread that sleeps once, to its own end, was asked nothing. A thread that ticks beside what really has to end may tick just
//! before the end by chance, but not each time.

use super::super::words::{base_name, time, times};
use crate::Evidence;
use crate::calls::{Calls, Sum, fact, from, is_single, is_sleep, place};
use crate::candidate::Candidate;
use crate::draft::Draft;
use crate::findings::{Basis, Confidence, Cost, Sure};
use crate::gate::Gate;
use crate::intervals;
use slowpath_recording::tables::Syscall;
use slowpath_syscalls::{FUTEX, KILL, POLLS, RT_SIGRETURN, SLEEPS, WAIT4, WAITID};
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

/// Waits that are looked at, ns: what is lost in shorter ones takes many.
const LEAST_NS: u64 = 20_000_000;
/// From the end of the time-out to that of the thread at most, as a share of it and ns, and from the end of its process to that of whoever waits for it:
/// threads that clean up took 0.2 to 3 ms, a process of nine threads 11.
const SOON: f64 = 0.1;
const SOON_NS: u64 = 50_000_000;
/// Share of the ends of a program's processes that must be noticed so at one place: a thread that ticks ends within [`SOON`] by chance in one of ten.
const NEARLY_ALL: f64 = 0.8;
/// A signal is handled so soon, ns: a thread that sleeps is woken for it, and may stand in line for a CPU.
const HANDLED_NS: u64 = 50_000_000;
/// Whoever waits for the end of a thread is woken by that, ns.
const WOKEN_NS: u64 = 5_000_000;
/// Times that another thread came to wait while one waited for the last time, before that counts; more where the waits before were of other lengths, as those of
/// a thread that tries ever more seldom, and then gives up by itself.
const JOINED: usize = 2;
const JOINED_UNLIKE: usize = 3;
/// Waits before that, in all threads that end so at that place, and one at least in each: they look for something in turns. One alone may be a pause of another
/// kind, and a thread that waits but once may work so long. They must have timed out, and be made at the same place or be as long but for this share (a busy
/// machine wakes late).
const BEFORE: usize = 3;
const DIFFERENCE: f64 = 0.2;
/// Threads of a process that must end so while another one sleeps again and again until then, and these sleeps, at the least: an idle thread that gives up by itself is one, and a program
/// that waits for a time as well sleeps in pieces for other reasons.
const TOGETHER: usize = 3;
const SLEEPS_IN_A_ROW: usize = 5;
/// One sleep begins so soon after the one before, ns: in between it is looked whether all have ended.
const NEXT_NS: u64 = 1_000_000;
/// Signals that ask a program to end: hangup, interrupt, quit, terminate.
const ENDS: [u64; 4] = [1, 2, 3, 15];
/// ETIMEDOUT.
const TIMED_OUT: i64 = -110;
const GATE: Gate = Gate::TENTH_OF_WALL;

/// An end that was noticed late.
struct Late<'a> {
    row: &'a Syscall,
    process: u32,
    asked_ns: u64,
    /// Another thread slept until it had ended: in which row of sleeps.
    slept: Option<usize>,
}

/// The ends at one place of a program.
#[derive(Default)]
struct Ends<'a> {
    late: Vec<Late<'a>>,
    /// Those that were asked and did not end with such a time-out.
    others: usize,
    /// Waits before the last ones, see [`BEFORE`]: all, and those that were as long.
    before: usize,
    as_long: usize,
}

impl Ends<'_> {
    /// Whether the threads that end so look for something in turns.
    fn is_in_turns(&self) -> bool {
        let joined = if self.as_long >= BEFORE { JOINED } else { JOINED_UNLIKE };
        self.before >= BEFORE && self.late.iter().filter(|one| one.slept.is_none()).count() >= joined
    }
}

/// The threads of one process that ended so while another one slept until the last of them had, and no longer; empty if they are few.
fn together(late: &[Late<'_>], others: &Others<'_>) -> BTreeSet<u32> {
    let mut rows: BTreeMap<usize, (BTreeSet<u32>, u64)> = BTreeMap::new();
    for one in late {
        if let Some(row) = one.slept {
            let (threads, last) = rows.entry(row).or_default();
            threads.insert(one.row.thread);
            *last = one.row.end_ns.max(*last);
        }
    }
    let ends_then = |(at, (_, last)): &(&usize, &(BTreeSet<u32>, u64))| {
        let row = &others.rows[**at];
        let each = (row.to - row.from) / row.sleeps.max(1) as u64;
        row.to <= last + 2 * each + SOON_NS
    };
    let threads = rows.iter().filter(ends_then).map(|(_, (threads, _))| threads);
    threads
        .filter(|threads| threads.len() >= TOGETHER)
        .max_by_key(|threads| threads.len())
        .cloned()
        .unwrap_or_default()
}

/// Program, own function, and whether it was asked by a signal.
type Key<'a> = (&'a str, Option<u32>, bool);

pub(super) fn find(evidence: &Evidence<'_>, calls: &Calls<'_>) -> Vec<Candidate> {
    let tables = &evidence.recording.tables;
    let mut waits: BTreeMap<u32, Vec<&Syscall>> = BTreeMap::new();
    for (row, _) in calls.all().filter(|(row, _)| is_single(row) && row.blocked_ns >= LEAST_NS) {
        waits.entry(row.thread).or_default().push(row);
    }
    let others = Others::of(calls);
    let mut places: BTreeMap<Key<'_>, Ends<'_>> = BTreeMap::new();
    for of_thread in waits.values() {
        let Some(last) = of_thread.iter().max_by_key(|row| row.end_ns) else { continue };
        let thread = &tables.threads[last.thread as usize];
        let process = &tables.processes[thread.process as usize];
        let Some(end) = thread.end_ns.or(process.end_ns) else { continue };
        let ends_so = |row: &Syscall| {
            let soon = row.end_ns + ((SOON * row.blocked_ns as f64) as u64).min(SOON_NS);
            is_timed_out(row) && (row.end_ns..soon).contains(&end)
        };
        // A short pause may follow the long one in which it was asked.
        let longest = of_thread.iter().filter(|row| ends_so(row)).max_by_key(|row| row.blocked_ns);
        let (row, ends_so) = (longest.unwrap_or(last), longest.is_some());
        let within = |asked: &u64| (row.time_ns..row.end_ns).contains(asked);
        let signalled = process.end_ns.and_then(|end| others.signalled(process.process, end));
        let program = process.program.as_str();
        if let Some(asked_ns) = signalled {
            let ends = places.entry((program, calls.own(row), true)).or_default();
            let goes = process.end_ns.is_some_and(|gone| gone < end + SOON_NS);
            // Or it asks for events once more with a time-out, where it did before. Any other wait then is a delay that somebody chose.
            let waits_again = POLLS.contains(&row.number)
                && (asked_ns..asked_ns + HANDLED_NS).contains(&row.time_ns)
                && polled_before(calls, row, asked_ns);
            if ends_so && goes && (within(&asked_ns) || waits_again) {
                ends.late.push(Late { row, process: process.process, asked_ns, slept: None });
                continue;
            }
            ends.others += 1;
        }
        // Whoever got the signal may ask the others one after another.
        let (before, as_long) = turns_before(of_thread, row);
        if ends_so {
            let joined = others.joined(process.process, row, end).filter(|_| before > 0);
            let slept = || others.slept(process.process, row, end);
            let (asked_ns, slept) = match joined.filter(within) {
                Some(asked_ns) => (asked_ns, None),
                None if let Some((at, asked_ns)) = slept() => (asked_ns, Some(at)),
                None => continue,
            };
            let ends = places.entry((program, calls.own(row), false)).or_default();
            ends.late.push(Late { row, process: process.process, asked_ns, slept });
            ends.before += before;
            ends.as_long += as_long;
        }
    }
    places.retain(|(_, _, by_signal), ends| {
        let all = ends.late.len() + ends.others;
        let is_one = || ends.is_in_turns() || !together(&ends.late, &others).is_empty();
        ends.late.len() as f64 >= NEARLY_ALL * all as f64 && (*by_signal || is_one())
    });
    let spans = |ends: &Ends<'_>| {
        intervals::union(ends.late.iter().map(|one| (one.asked_ns, one.row.end_ns)).collect())
    };
    let mut places: Vec<_> = places.into_iter().map(|(key, ends)| (key, spans(&ends), ends.late)).collect();
    places.sort_by_key(|(_, spans, _)| Reverse(intervals::length(spans) as u64));
    // What several wait through at the same time is lost once.
    let mut counted = Vec::new();
    let of_place = |(key, mut spans, mut late): (Key<'_>, Vec<(u64, u64)>, Vec<Late<'_>>)| {
        spans.retain(|one| intervals::without(*one, &counted) == [*one]);
        late.retain(|one| spans.iter().any(|(from, to)| (*from..*to).contains(&one.asked_ns)));
        counted.extend_from_slice(&spans);
        counted = intervals::union(std::mem::take(&mut counted));
        candidate(evidence, calls, key, &late, &spans, &together(&late, &others))
    };
    places.into_iter().filter_map(of_place).collect()
}

/// Whether the thread of `wait` called the same from the same place before it was asked to end.
fn polled_before(calls: &Calls<'_>, wait: &Syscall, asked_ns: u64) -> bool {
    let same = |row: &Syscall| {
        (row.thread, row.number, row.stack) == (wait.thread, wait.number, wait.stack)
            && row.time_ns < asked_ns
    };
    wait.stack.is_some() && calls.all().any(|(row, _)| same(row))
}

/// How often a thread waited in the same way before its last wait, and how often as long.
fn turns_before(waits: &[&Syscall], last: &Syscall) -> (usize, usize) {
    let length = last.blocked_ns as f64;
    let before =
        waits.iter().filter(|row| row.number == last.number && row.end_ns < last.end_ns && is_timed_out(row));
    let is_as_long = |row: &Syscall| (row.blocked_ns as f64 - length).abs() <= DIFFERENCE * length;
    let is_here = |row: &Syscall| row.stack.is_some() && row.stack == last.stack;
    let as_long = before.clone().filter(|row| is_as_long(row)).count();
    (before.filter(|row| is_here(row) || is_as_long(row)).count(), as_long)
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
    /// Sleeps in a row.
    rows: Vec<Row>,
}

/// Sleeps of one thread in a row, in one function: from when to when, and how many.
struct Row {
    process: u32,
    thread: u32,
    /// The thread had slept there before: who always sleeps there waits for no end.
    before: bool,
    from: u64,
    to: u64,
    sleeps: usize,
}

/// The last row of each thread and function.
type Latest = BTreeMap<(u32, Option<u32>), usize>;

impl<'a> Others<'a> {
    fn of(calls: &Calls<'a>) -> Others<'a> {
        let mut others = Others {
            kills: Vec::new(),
            handlers: Vec::new(),
            waits: Vec::new(),
            joins: Vec::new(),
            rows: Vec::new(),
        };
        let mut last = Latest::new();
        for (row, process) in calls.all() {
            let waited = row.blocked_ns > 0;
            match row.number {
                _ if is_sleep(row) && is_single(row) => {
                    others.sleeps(row, process, calls.own(row), &mut last)
                }
                KILL if row.result == 0 && ENDS.contains(&row.argument) => others.kills.push((row, process)),
                RT_SIGRETURN => others.handlers.push((row, process)),
                WAIT4 | WAITID if waited => others.waits.push((row, process)),
                FUTEX if waited && is_single(row) && row.result == 0 => others.joins.push((row, process)),
                _ => {}
            }
        }
        others.rows.retain(|one| one.sleeps >= SLEEPS_IN_A_ROW && !one.before);
        others
    }

    /// Adds a sleep to those in a row, of which `last` is the latest of each thread and function.
    fn sleeps(&mut self, row: &Syscall, process: u32, own: Option<u32>, last: &mut Latest) {
        let latest = last.get(&(row.thread, own)).copied();
        let goes_on = |one: &Row| own.is_some() && row.time_ns < one.to + NEXT_NS;
        if let Some(one) = latest.map(|at| &mut self.rows[at]).filter(|one| goes_on(one)) {
            (one.to, one.sleeps) = (row.end_ns, one.sleeps + 1);
            return;
        }
        last.insert((row.thread, own), self.rows.len());
        let (thread, from, to, before) = (row.thread, row.time_ns, row.end_ns, latest.is_some());
        self.rows.push(Row { process, thread, before, from, to, sleeps: 1 });
    }

    /// When another thread of the process began, during the wait, to sleep again and again until the thread had ended, or others after it; and in which row.
    fn slept(&self, process: u32, wait: &Syscall, end: u64) -> Option<(usize, u64)> {
        let until = |(_, one): &(usize, &Row)| {
            one.process == process
                && one.thread != wait.thread
                && (wait.time_ns..wait.end_ns).contains(&one.from)
                && one.to >= end
        };
        self.rows.iter().enumerate().find(until).map(|(at, one)| (at, one.from))
    }

    /// When another process last sent a signal to end which this one handled, before its end, for which another one waited.
    fn signalled(&self, process: u32, end: u64) -> Option<u64> {
        let awaits = |(row, of): &(&Syscall, u32)| {
            *of != process && row.time_ns < end && (end..end + SOON_NS).contains(&row.end_ns)
        };
        let handled = |at: u64| {
            let here =
                |(row, of): &(&Syscall, u32)| *of == process && (at..at + HANDLED_NS).contains(&row.time_ns);
            self.handlers.iter().any(here)
        };
        let asked =
            |(row, of): &&(&Syscall, u32)| *of != process && row.time_ns < end && handled(row.time_ns);
        if !self.waits.iter().any(awaits) {
            return None;
        }
        self.kills.iter().rfind(asked).map(|(row, _)| row.time_ns)
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

/// How much later than they were asked threads ended, on average, ns.
fn later(late: &[Late<'_>]) -> f64 {
    let all: u64 = late.iter().map(|one| one.row.end_ns.saturating_sub(one.asked_ns)).sum();
    all as f64 / late.len().max(1) as f64
}

fn candidate(
    evidence: &Evidence<'_>,
    calls: &Calls<'_>,
    (program, own, by_signal): Key<'_>,
    late: &[Late<'_>],
    spans: &[(u64, u64)],
    threads: &BTreeSet<u32>,
) -> Option<Candidate> {
    let together = !by_signal && !threads.is_empty();
    if !by_signal && spans.len() < JOINED && !together {
        return None;
    }
    let first = late.first()?;
    let of_thread: Vec<(u32, u64, u64)> =
        spans.iter().map(|(from, to)| (first.row.thread, *from, *to)).collect();
    let lost = intervals::length(spans);
    let gain = lost * (1.0 - calls.busy_share(&of_thread)).max(0.0);
    if !GATE.may_pass(evidence, gain) {
        return None;
    }
    let mut sum = Sum::default();
    late.iter().for_each(|one| sum.add(one.row));
    let (stack, process) = (sum.stack(), first.process);
    let name = base_name(program);
    let ends = spans.len() as f64;
    let often = times(ends);
    let again = late.iter().filter(|one| one.asked_ns < one.row.time_ns).count();
    let asked = if by_signal && 2 * again > late.len() {
        format!("{name} got a signal to end {often}, and one of its threads then waited for events")
    } else if by_signal {
        format!("{name} got a signal to end {often}, while one of its threads waited")
    } else if together {
        format!(
            "one thread of {name} slept again and again until {} others had ended; these waited",
            threads.len()
        )
    } else {
        format!("{often}, a thread of {name} began to wait for the end of another one, which waited itself")
    };
    let draft = Draft {
        not_known: "whether the thread can be woken when it is asked to stop",
        variant: "stopping",
        explanation: vec![
            format!(
                "{asked}{}; {} only when that wait timed out, {} later on average",
                from(evidence, stack, own).replacen(" from ", " in ", 1),
                if together { "each ended" } else { "it ended" },
                time(if together { later(late) } else { lost / ends })
            ),
            format!("nothing else worked meanwhile for {} in total", time(gain)),
        ],
        facts: vec![
            fact("ends noticed late", ends, "calls", Sure::Exact),
            fact("time from the request", lost, "ns", Sure::Exact),
            fact("waits that timed out", late.len() as f64, "calls", Sure::Exact),
        ],
        advice: "Wake the thread when it is to stop: add a pipe, an eventfd or a signalfd to what it waits for, and write to that; or signal the condition variable that \
                 it waits for. Let it check whether it is to stop before each wait as well. A shorter time-out is no remedy"
            .to_owned(),
        ..Draft::new(
            &super::CAUSE,
            "a request to stop is noticed late",
            Confidence::Likely,
            Cost::new(Basis::Wall, lost, gain),
            place(evidence, stack, own, process),
        )
    };
    Some(draft.candidate(evidence, GATE, process))
}
