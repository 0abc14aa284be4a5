//! Threads that look into memory whether another one has done something, and sleep in between: what is done during a sleep is noticed at its end.
//!
//! No system call tells of such a look. But a thread that sleeps again as soon as it wakes has looked, and found nothing: who sleeps to keep a
//! rate or a time does something after each sleep. And while all threads of a program sleep so, or wait for one another, nothing from outside can
//! end that, and each of them could have been woken as soon as the last one had done its work.
//!
//! Lost is the time from when the last thread of the tree ceased to run to the end of the sleep. That another thread waits for the one that sleeps is
//! no sign: so it does for a timer, for a frame of a game, for a rate that is limited.

use super::super::words::{count, time, times};
use crate::Evidence;
use crate::calls::{CallSite, Calls, Sum, fact, from, is_single, is_sleep, place};
use crate::candidate::Candidate;
use crate::draft::Draft;
use crate::findings::{Basis, Confidence, Cost, Sure};
use crate::gate::Gate;
use crate::intervals;
use slowpath_recording::tables::Syscall;
use slowpath_stats::median;
use slowpath_syscalls::{FUTEX, WAIT4, WAITID};
use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap, HashSet};

/// Sleeps in which something happened that was noticed late, before they count.
const LATE: u64 = 5;
/// Whoever is awake so short, and calls nothing, has only looked, ns: a look took 1 to 5 µs where it was measured, and another thread may hold
/// the lock meanwhile. What recording took of the call before and the one behind comes on top, …
const LOOK_NS: u64 = 10_000;
const CALLS_AROUND: f64 = 2.0;
/// … up to this in all: where recording took 6 µs a call nine of ten looks took up to 23, and where it took 33 up to 55.
const LOOK_MOST_NS: u64 = 60_000;
/// Sleeps recorded one by one are at least so long, ns; so are waits. A shorter one loses little.
const SLEEP_NS: u64 = 1_000_000;
/// Whoever sleeps longer does so at leisure: a second is the least that schedulers and monitors rest, ns.
const LONG_NS: u64 = 500_000_000;
/// Looks that found nothing, before they tell that something is looked for.
const EMPTY: u64 = 5;
/// … and this share of all sleeps: now and then two sleeps follow each other for other reasons.
const EMPTY_SHARE: f64 = 0.1;
/// Who looks for news sleeps for one time each time, and waits in nothing else: so many of the sleeps are as long as their median, …
const ALIKE: f64 = 0.8;
/// … but for this share of it, …
const DIFFERENCE: f64 = 0.2;
/// … and before at most so many of them it waited for something else since the last. Who sleeps after it was woken for work means to, as a
/// server that answers late on purpose.
const WOKEN: f64 = 0.2;
/// Sleeps in which nobody was awake may end with something to do in so many cases: as when a timer of its own is due.
const BY_ITSELF: f64 = 0.2;
/// What ends such a wait is a thread or a process of the tree, or that it was given up.
const WITHIN: [u32; 3] = [FUTEX, WAIT4, WAITID];
const GATE: Gate = Gate::TENTH_OF_WALL;

/// A sleep of a thread.
struct Slept<'a> {
    row: &'a Syscall,
    own: Option<u32>,
    process: u32,
    from: u64,
    to: u64,
    /// When the thread waits again.
    next: u64,
    /// It slept again at once.
    empty: bool,
    /// It waited for something else since the sleep before.
    woken: bool,
}

/// What is known of the sleeps from one place.
#[derive(Default)]
struct Place {
    sum: Sum,
    /// Sleeps after which the thread slept again at once.
    empty: u64,
    /// … and of those in which something happened that it noticed afterwards: from when nothing ran, to the end.
    late: Vec<(u64, u64)>,
    /// When they were, how long, ns, and before how many of them it waited for something else.
    spans: Vec<(u64, u64)>,
    lengths: Vec<f64>,
    woken: u64,
}

impl Place {
    /// It sleeps at intervals, whatever happens.
    fn is_steady(&self) -> bool {
        let all = self.lengths.len() as f64;
        let median = median(&self.lengths).unwrap_or(0.0);
        let alike = self.lengths.iter().filter(|length| (*length - median).abs() <= DIFFERENCE * median);
        alike.count() as f64 >= ALIKE * all && self.woken as f64 <= WOKEN * all
    }

    /// The thread looks for something, and sleeps in between.
    fn looks(&self) -> bool {
        self.is_steady() && self.empty >= EMPTY && self.empty as f64 >= EMPTY_SHARE * self.sum.count as f64
    }
}

pub(super) fn find(evidence: &Evidence<'_>, calls: &Calls<'_>) -> Vec<Candidate> {
    let mut slept = slept(evidence, calls);
    if slept.is_empty() {
        return Vec::new();
    }
    let givers = more_than_looks(&slept, &running(evidence, &slept));
    for at in givers {
        slept[at].empty = false;
    }
    let running = running(evidence, &slept);
    let mut places: BTreeMap<CallSite, Place> = BTreeMap::new();
    for one in &slept {
        let place = places.entry((one.process, one.own)).or_default();
        place.sum.add(one.row);
        place.spans.push((one.from, one.to));
        place.lengths.push((one.to - one.from) as f64);
        place.woken += u64::from(one.woken);
        if one.empty {
            place.empty += 1;
            continue;
        }
        if let Some(since) = last_running(&running, one).filter(|since| *since < one.to) {
            place.late.push((since, one.to));
        }
    }
    places.retain(|_, place| place.looks());
    let outside = outside(evidence, &slept, &places);
    let mut places: Vec<(CallSite, Place)> = places.into_iter().collect();
    let lost = |place: &Place| intervals::length(&intervals::union(place.late.clone())) as u64;
    places.sort_by_key(|(_, place)| Reverse(lost(place)));
    // What several sleep through at the same time is lost once, and what one waits for from outside not at all.
    let mut counted = outside;
    let mut findings = Vec::new();
    for (site, mut place) in places {
        let left: Vec<Vec<(u64, u64)>> =
            place.late.iter().map(|one| intervals::without(*one, &counted)).collect();
        let late = left.iter().filter(|one| !one.is_empty()).count() as u64;
        place.late = intervals::union(left.into_iter().flatten().collect());
        counted.extend_from_slice(&place.late);
        counted = intervals::union(counted);
        if late >= LATE {
            findings.extend(candidate(evidence, site, place, late));
        }
    }
    findings
}

/// When a thread waited for something that may have come from outside, or slept elsewhere than at the places where threads look; in order, disjoint.
fn outside(
    evidence: &Evidence<'_>,
    slept: &[Slept<'_>],
    places: &BTreeMap<CallSite, Place>,
) -> Vec<(u64, u64)> {
    let sleeps: HashSet<(u32, u64)> = slept.iter().map(|one| (one.row.thread, one.row.time_ns)).collect();
    let waits = evidence.recording.tables.waits.iter().filter(|wait| {
        wait.waker.is_none()
            && !WITHIN.contains(&wait.number)
            && !sleeps.contains(&(wait.thread, wait.time_ns))
    });
    let mut outside: Vec<(u64, u64)> =
        waits.map(|wait| (wait.time_ns, wait.time_ns + wait.duration_ns)).collect();
    let meant = slept.iter().filter(|one| !places.contains_key(&(one.process, one.own)));
    outside.extend(meant.map(|one| (one.from, one.to)));
    intervals::union(outside)
}

/// The sleeps that are known one by one.
fn slept<'a>(evidence: &'a Evidence<'_>, calls: &Calls<'a>) -> Vec<Slept<'a>> {
    let mut slept: Vec<Slept<'a>> = Vec::new();
    // By thread: its last sleep, while nothing was called since.
    let mut last: HashMap<u32, usize> = HashMap::new();
    // Threads that waited for something else since.
    let mut woken: HashSet<u32> = HashSet::new();
    // By thread, when its waits begin.
    let mut waits: HashMap<u32, Vec<u64>> = HashMap::new();
    for wait in &evidence.recording.tables.waits {
        waits.entry(wait.thread).or_default().push(wait.time_ns);
    }
    waits.values_mut().for_each(|times| times.sort_unstable());
    let mut called: BTreeMap<u32, u64> = BTreeMap::new();
    for (row, process) in calls.all() {
        *called.entry(process).or_default() += row.count;
    }
    let look_ns = |process: u32| {
        let of_a_call =
            evidence.recorded_ns(process) / called.get(&process).copied().unwrap_or(1).max(1) as f64;
        (LOOK_NS + (CALLS_AROUND * of_a_call) as u64).min(LOOK_MOST_NS)
    };
    for (row, process) in calls.all() {
        let before = last.remove(&row.thread);
        let length = row.blocked_ns;
        if !is_single(row) || !is_sleep(row) || !(SLEEP_NS..LONG_NS).contains(&length) {
            if row.blocked_ns > 0 {
                woken.insert(row.thread);
            }
            continue;
        }
        let (own, from) = (calls.own(row), row.time_ns);
        if let Some(before) = before.and_then(|at: usize| slept.get_mut(at)) {
            before.empty = before.own == own && from.saturating_sub(before.row.end_ns) <= look_ns(process);
        }
        let to = from + length;
        let times = waits.get(&row.thread).map_or(&[][..], Vec::as_slice);
        let next = times.get(times.partition_point(|time| *time < to)).copied().unwrap_or(u64::MAX);
        last.insert(row.thread, slept.len());
        let woken = woken.remove(&row.thread);
        slept.push(Slept { row, own, process, from, to, next, empty: false, woken });
    }
    slept
}

/// When any thread of the tree ran and did more than to look; in order, disjoint.
fn running(evidence: &Evidence<'_>, slept: &[Slept<'_>]) -> Vec<(u64, u64)> {
    let tables = &evidence.recording.tables;
    let about = &evidence.recording.about;
    let end = about.start_ns + about.wall_ns;
    let mut away: HashMap<u32, Vec<(u64, u64)>> = HashMap::new();
    for wait in &tables.waits {
        away.entry(wait.thread).or_default().push((wait.time_ns, wait.time_ns + wait.duration_ns));
    }
    for one in slept {
        // What it did until it slept again was only a look.
        let to = if one.empty { one.next.max(one.to) } else { one.to };
        away.entry(one.row.thread).or_default().push((one.from, to));
    }
    let mut running = Vec::new();
    for thread in &tables.threads {
        let away = intervals::union(away.remove(&thread.thread).unwrap_or_default());
        let mut since = thread.start_ns;
        for (from, to) in away {
            running.push((since, from.max(since)));
            since = since.max(to);
        }
        running.push((since, thread.end_ns.unwrap_or(end).max(since)));
    }
    running.retain(|(from, to)| from < to);
    intervals::union(running)
}

/// Sleeps after which a thread was awake for a moment, and did more than look: another one found something to do after a sleep in which nobody ran, and that
/// thread alone was awake. A task is put into a queue in less time than a look may take. Whoever finds something after sleeps in which nobody was awake either does so by
/// itself, as at a time that has come. Places in `slept`.
fn more_than_looks(slept: &[Slept<'_>], running: &[(u64, u64)]) -> Vec<usize> {
    let mut looks: HashMap<u32, Vec<(u64, usize)>> = HashMap::new();
    for (at, one) in slept.iter().enumerate().filter(|(_, one)| one.empty) {
        looks.entry(one.process).or_default().push((one.to, at));
    }
    looks.values_mut().for_each(|of| of.sort_unstable());
    let giver = |one: &Slept<'_>| {
        let of = looks.get(&one.process)?;
        let before = of.partition_point(|(time, _)| *time < one.to);
        let during = of[..before].iter().rev().take_while(|(time, _)| *time > one.from);
        during.map(|(_, at)| *at).find(|at| slept[*at].row.thread != one.row.thread)
    };
    // By place: sleeps in which nobody was awake, after how many of these there was something to do, and who was awake in the others.
    let mut places: HashMap<CallSite, (u64, u64, Vec<usize>)> = HashMap::new();
    for one in slept.iter().filter(|one| last_running(running, one).is_none()) {
        let (alone, found, givers) = places.entry((one.process, one.own)).or_default();
        match giver(one) {
            None => {
                *alone += 1;
                *found += u64::from(!one.empty);
            }
            Some(at) if !one.empty => givers.push(at),
            Some(_) => {}
        }
    }
    let told = |(alone, found, givers): (u64, u64, Vec<usize>)| {
        let given = alone >= EMPTY && found as f64 <= BY_ITSELF * alone as f64;
        if given { givers } else { Vec::new() }
    };
    places.into_values().flat_map(told).collect()
}

/// When the last thread ceased to run during a sleep, if one ran.
fn last_running(running: &[(u64, u64)], slept: &Slept<'_>) -> Option<u64> {
    let before = running.partition_point(|(from, _)| *from < slept.to);
    let (_, until) = running[..before].last()?;
    (*until > slept.from).then(|| (*until).min(slept.to))
}

fn candidate(
    evidence: &Evidence<'_>,
    (process, own): CallSite,
    found: Place,
    late: u64,
) -> Option<Candidate> {
    let lost = intervals::length(&found.late);
    if !GATE.may_pass(evidence, lost) {
        return None;
    }
    let Place { sum, empty, spans, .. } = &found;
    let stack = sum.stack();
    let slept = sum.count as f64;
    let explanation = vec![
        format!(
            "{} times{}, a thread slept for {} and then looked whether there was something to do",
            count(slept),
            from(evidence, stack, own),
            time(sum.blocked_ns / slept)
        ),
        format!(
            "{} another thread had done something meanwhile; from then to the end of the sleep no thread of the program ran: {} in total",
            times(late as f64),
            time(lost)
        ),
        format!("{} there was nothing to do, and it slept again", times(*empty as f64)),
    ];
    let draft = Draft {
        not_known: "whether the thread can be woken instead of sleeping",
        variant: "unnoticed",
        explanation,
        facts: vec![
            fact("sleeps", slept, "calls", Sure::Exact),
            fact("sleeps in which another thread did something", late as f64, "calls", Sure::Exact),
            fact("sleeps after which it slept again at once", *empty as f64, "calls", Sure::Exact),
        ],
        advice: "Wait for the event instead: a condition variable or a semaphore that the other thread signals, a blocking queue"
            .to_owned(),
        ..Draft::new(
            &super::CAUSE,
            "polls in a sleep loop",
            Confidence::Likely,
            // Of several threads that sleep at a time it counts once.
            Cost::new(Basis::Wall, intervals::length(&intervals::union(spans.clone())), lost),
            place(evidence, stack, own, process),
        )
    };
    Some(draft.candidate(evidence, GATE, process))
}
