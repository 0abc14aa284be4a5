//! Children that have ended are noticed late: the program looks for them now and then, and sleeps in between. The next one is started only then.
//!
//! When a child ended is known, and when its parent woke: what lies between is lost where no other child lives and nothing else works
//! meanwhile. A long sleep may be meant, and so may one after which nothing is started.

use super::super::words::{count, time};
use super::children::Children;
use crate::Evidence;
use crate::calls::{CallSite, Calls, Sum, fact, from, is_met, is_sleep, moment, place};
use crate::candidate::Candidate;
use crate::draft::Draft;
use crate::findings::{Basis, Confidence, Cost, Sure};
use crate::gate::Gate;
use slowpath_recording::tables::Process;
use slowpath_syscalls::FORKS;
use std::collections::{BTreeMap, HashMap, HashSet};

/// Children that were noticed late before they count: as many as sleeps of a loop that polls.
const LATE: u64 = 5;
/// Whoever sleeps longer does so at leisure: a second is the least that schedulers and monitors rest, ns.
const LONG_NS: u64 = 500_000_000;
/// After so many of them another child is started before the next sleep: else what they did was all that was wanted.
const GOES_ON: f64 = 0.5;
/// The option of wait4 not to wait, and the minor version since which the options are known.
const WNOHANG: u64 = 1;
const WITH_OPTIONS: (u32, u32) = (1, 7);
const GATE: Gate = Gate::TENTH_OF_WALL;
/// What a sleep returns that a signal ended, as the end of a child may: EINTR, and what the kernel has for itself (ERESTARTNOHAND and ERESTART_RESTARTBLOCK). The rest
/// is slept right after the signal's handler.
const INTERRUPTED: [i64; 3] = [-4, -514, -516];
const SOON_NS: u64 = 1_000_000;
/// A process that ended is followed by the next one so soon, ns: `xargs` took 0.34 to 0.67 ms, and may have to wait for a CPU.
const NEXT_NS: u64 = 50_000_000;

/// A sleep that has ended, until the next one.
struct Slept {
    own: Option<u32>,
    from: u64,
    to: u64,
    cut_short: bool,
    /// For how many sleeps it stands.
    times: f64,
    /// When the last child ended in it that was seen afterwards.
    ended: Option<u64>,
    counted: bool,
}

/// From a child's end to that of the sleep in a thread, ns, and for how many of them it stands.
struct Interval {
    thread: u32,
    from: u64,
    to: u64,
    times: f64,
}

/// What is lost at one place.
#[derive(Default)]
struct Lost {
    sum: Sum,
    /// Seen, and how many they stand for.
    seen: u64,
    late: f64,
    goes_on: f64,
    intervals: Vec<Interval>,
}

pub(super) fn find(evidence: &Evidence<'_>, calls: &Calls<'_>) -> Vec<Candidate> {
    let format = &evidence.recording.about.format;
    if (format.major, format.minor) < WITH_OPTIONS {
        return Vec::new();
    }
    let children = Children::new(evidence, calls);
    let mut places: BTreeMap<CallSite, Lost> = BTreeMap::new();
    let mut last: HashMap<u32, Slept> = HashMap::new();
    for (row, process) in calls.all() {
        if is_sleep(row) {
            let own = calls.own(row);
            places.entry((row.thread, own)).or_default().sum.add(row);
            // A sleep that a signal cut short is slept to its end.
            let rest = |last: &&Slept| {
                last.cut_short
                    && last.ended.is_none()
                    && last.own == own
                    && row.time_ns.saturating_sub(last.to) <= SOON_NS
            };
            let from = last.get(&row.thread).filter(rest).map_or(row.time_ns, |last| last.from);
            let cut_short = INTERRUPTED.contains(&row.result);
            // Of those that were added up it is not known when they were.
            match moment(evidence, row).filter(|(_, to, _)| to.saturating_sub(from) <= LONG_NS) {
                Some((_, to, times)) => {
                    let slept = Slept { own, from, to, cut_short, times, ended: None, counted: false };
                    last.insert(row.thread, slept);
                }
                None => _ = last.remove(&row.thread),
            }
            continue;
        }
        let Some(slept) = last.get_mut(&row.thread) else { continue };
        let Some(lost) = places.get_mut(&(row.thread, slept.own)) else { continue };
        if let Some(end) = children.ended(row, process).and_then(|child| child.end_ns) {
            // It ended in the sleep or before it, and the look for it would not have waited.
            if row.argument & WNOHANG != 0 && end < slept.to && slept.from < slept.to {
                let end = end.max(slept.from);
                let last = slept.ended.map_or(end, |known| known.max(end));
                match lost.intervals.last_mut().filter(|_| slept.ended.is_some()) {
                    Some(interval) => interval.from = last,
                    None => {
                        (lost.seen, lost.late) = (lost.seen + 1, lost.late + slept.times);
                        let interval =
                            Interval { thread: row.thread, from: last, to: slept.to, times: slept.times };
                        lost.intervals.push(interval);
                    }
                }
                slept.ended = Some(last);
            }
        } else if FORKS.contains(&row.number)
            && slept.ended.is_some()
            && children.is_child(process, row.result)
        {
            lost.goes_on += if std::mem::replace(&mut slept.counted, true) { 0.0 } else { slept.times };
        }
    }
    let (mut few, many): (Vec<OfThread>, Vec<OfThread>) =
        places.into_iter().partition(|(_, lost)| lost.seen < LATE);
    few.retain(|(_, lost)| lost.seen > 0);
    let alone = many.into_iter().filter_map(|(site, lost)| finding(evidence, calls, site, lost, 1));
    alone.chain(one_after_another(evidence, calls, few)).collect()
}

/// What a thread lost at one place.
type OfThread = (CallSite, Lost);
/// A parent, the program of its children, and the function that sleeps.
type Alike<'a> = (Option<u32>, &'a str, Option<u32>);

/// Processes of one program and one parent, each of which sees children late in one thread and then ends, after which the next one is started.
fn one_after_another(evidence: &Evidence<'_>, calls: &Calls<'_>, few: Vec<OfThread>) -> Vec<Candidate> {
    let tables = &evidence.recording.tables;
    let of = |thread: u32| &tables.processes[tables.threads[thread as usize].process as usize];
    let mut groups: BTreeMap<Alike<'_>, BTreeMap<u32, Vec<OfThread>>> = BTreeMap::new();
    for (site, lost) in few {
        let process = of(site.0);
        let group = groups.entry((process.parent, process.program.as_str(), site.1)).or_default();
        group.entry(process.process).or_default().push((site, lost));
    }
    let traced: HashSet<u32> = calls
        .all()
        .filter(|(row, _)| !FORKS.contains(&row.number) && !is_met(row))
        .map(|(_, process)| process)
        .collect();
    let together = |((parent, program, _), group): (Alike<'_>, BTreeMap<u32, Vec<OfThread>>)| {
        let siblings = || tables.processes.iter().filter(|other| other.parent == parent);
        // What threads of one process lose at the same time is lost once: it is not known how much that is.
        let alone = group.into_values().filter(|threads| threads.len() == 1).flatten();
        let mut all = Lost::default();
        let mut first = None;
        let mut processes = 0;
        for (site, mut lost) in alone {
            let own = of(site.0);
            // One that runs beside it goes on anyway.
            let beside = |at: u64| {
                let lives = |other: &&Process| other.start_ns < at && other.end_ns.is_none_or(|end| end > at);
                siblings().filter(lives).any(|other| other.process != own.process)
            };
            lost.intervals.retain(|interval| !beside(interval.to));
            let next = |end: u64| siblings().any(|other| (end..end + NEXT_NS).contains(&other.start_ns));
            (all.seen, all.late) = (all.seen + lost.seen, all.late + lost.late);
            all.goes_on += if own.end_ns.is_some_and(next) { lost.late } else { lost.goes_on };
            all.sum.join(&lost.sum);
            all.intervals.extend(lost.intervals);
            first.get_or_insert(site);
            processes += 1;
        }
        // Others of this program, of which no call was traced, are like those that were, if most of those lost time so: a shell may do anything.
        let alike = |other: &&Process| other.program == program;
        let number = siblings().filter(alike).count() as f64;
        let heard = siblings().filter(alike).filter(|other| traced.contains(&other.process)).count() as f64;
        let part = if 2.0 * processes as f64 >= heard { number / heard.max(1.0) } else { 1.0 };
        (all.late, all.goes_on) = (all.late * part, all.goes_on * part);
        all.intervals.iter_mut().for_each(|interval| interval.times *= part);
        finding(evidence, calls, first?, all, processes)
    };
    groups.into_iter().filter_map(together).collect()
}

fn finding(
    evidence: &Evidence<'_>,
    calls: &Calls<'_>,
    (thread, own): CallSite,
    mut lost: Lost,
    processes: u64,
) -> Option<Candidate> {
    if lost.seen < LATE || lost.goes_on < GOES_ON * lost.late {
        return None;
    }
    lost.intervals.sort_unstable_by_key(|interval| interval.from);
    let process = evidence.recording.tables.threads[thread as usize].process;
    // Another child that lives until then may be waited for anyway.
    let tables = &evidence.recording.tables;
    let lives = |thread: u32, at: u64| {
        let parent = tables.threads[thread as usize].process;
        let mut children = tables.processes.iter().filter(|other| other.parent == Some(parent));
        children.any(|other| other.start_ns < at && other.end_ns.is_none_or(|end| end > at))
    };
    lost.intervals.retain(|interval| !lives(interval.thread, interval.to));
    let each = |interval: &Interval| interval.to.saturating_sub(interval.from) as f64;
    let late: f64 = lost.intervals.iter().map(|interval| interval.times * each(interval)).sum();
    let late = late.min(evidence.elapsed_ns);
    let number: f64 = lost.intervals.iter().map(|interval| interval.times).sum();
    let spans: Vec<(u32, u64, u64)> =
        lost.intervals.iter().map(|interval| (interval.thread, interval.from, interval.to)).collect();
    let gain = late * (1.0 - calls.busy_share(&spans)).max(0.0);
    if !GATE.may_pass(evidence, gain) {
        return None;
    }
    let stack = lost.sum.stack();
    let draft = Draft {
        not_known: "whether what follows can begin as soon as the child has ended",
        variant: "late",
        explanation: vec![
            format!(
                "{} times{}{}, a child ended while the program slept, and was seen after the sleep, {} later on average where no other child was running",
                count(lost.late),
                if processes > 1 { format!(" in {} processes", count(processes as f64)) } else { String::new() },
                from(evidence, stack, own),
                time(late / number.max(1.0))
            ),
            format!("nothing else worked meanwhile for {} in total; then the next one was started", time(gain)),
        ],
        facts: vec![
            fact("children seen late", lost.late, "processes", Sure::Exact),
            fact("time from their end", late, "ns", Sure::Exact),
            fact("sleeps", lost.sum.count as f64, "calls", Sure::Exact),
        ],
        advice: "Wait for the child instead: waitpid without WNOHANG, or poll on a pidfd or on a pipe that SIGCHLD's handler writes to"
            .to_owned(),
        ..Draft::new(
            &super::CAUSE,
            "sees the end of its children late",
            Confidence::Likely,
            Cost::new(Basis::Wall, late, gain),
            place(evidence, stack, own, process),
        )
    };
    Some(draft.candidate(evidence, GATE, process))
}
