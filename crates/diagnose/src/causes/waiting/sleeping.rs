//! Polling in a sleep loop: the program could wait for the event. A script sleeps and looks through children: one that only sleeps is
//! a sleep of whoever waits for its end, and the exit code of another one says whether it found something.

use super::super::words::{base_name, count, time, times};
use super::children::Children;
use crate::Evidence;
use crate::calls::{CallSite, Calls, Sum, fact, from, is_single, is_sleep, place};
use crate::candidate::Candidate;
use crate::draft::Draft;
use crate::findings::{Basis, Confidence, Cost, Sure};
use crate::gate::Gate;
use crate::goroutines;
use slowpath_recording::tables::Syscall;
use slowpath_syscalls::{POLLS, READS, RECEIVES, STATS, WAITS, name};
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// Sleeps from one place before they count.
const SLEPT: u64 = 5;
/// For so many of the sleeps there was a look that found nothing.
const EMPTY: f64 = 0.8;
const GATE: Gate = Gate::TENTH_OF_WALL;
/// Share of the things that were there at the first look from which they come by themselves. What is made only when asked for never is; the first
/// one may be.
const AT_ONCE: f64 = 0.2;
/// If other threads use CPUs for this share of the sleeps, the program is at work meanwhile.
const BUSY: f64 = 0.5;

/// Nothing there yet: ENOENT, ESRCH, ECHILD, EAGAIN, EBUSY, EEXIST, ENXIO, ECONNREFUSED, EALREADY, EINPROGRESS.
const NOTHING: [i64; 10] = [-2, -3, -10, -11, -16, -17, -6, -111, -114, -115];
/// EAGAIN.
const NOT_YET: i64 = -11;
/// Thread, from and to of each sleep, ns.
type Intervals = Vec<(u32, u64, u64)>;
/// Looks by the call that made them, and by what they were at: the path or, if there is none, the file.
type ByCall = BTreeMap<u32, BTreeMap<String, Looks>>;

/// Looks by what they brought.
#[derive(Default)]
struct Looks {
    nothing: u64,
    something: u64,
    /// Sleeps right after such a look, as far as calls are recorded one by one.
    before: u64,
    /// Looks that found something with no sleep since the last that did, where each look is at another thing.
    at_once: u64,
}

pub(super) fn find(evidence: &Evidence<'_>, calls: &Calls<'_>) -> Vec<Candidate> {
    // By thread, for what another thread looks at is another matter.
    let children = Children::new(evidence, calls);
    let mut sleeps: BTreeMap<CallSite, (Sum, Intervals)> = BTreeMap::new();
    for (row, _) in calls.all().filter(|(row, process)| is_sleep(row) || children.slept(row, *process)) {
        let (sum, intervals) = sleeps.entry((row.thread, calls.own(row))).or_default();
        sum.add(row);
        if is_single(row) {
            intervals.push((row.thread, row.time_ns, row.end_ns));
        }
    }
    sleeps.retain(|_, (sum, _)| sum.count >= SLEPT);
    let looks = looks(calls, &children, sleeps.keys().map(|(thread, _)| *thread).collect());
    let mut findings = Vec::new();
    for ((thread, own), (sum, intervals)) in sleeps {
        if goroutines::is_of_runtime(evidence, sum.stack(), own) {
            continue;
        }
        let slept = sum.count as f64;
        let each = sum.blocked_ns / slept;
        let Some((number, what, look)) = looks.get(&thread).and_then(|of| most_empty(of, slept)) else {
            continue;
        };
        // What is waited for comes at any moment of the last sleep before it is seen: half of that is lost, on average.
        // Where it often is there already, it comes whether the one before was taken up or not: only the last is waited for.
        let by_itself = look.at_once as f64 > AT_ONCE * look.something as f64;
        let waited_for = if by_itself { 1.0 } else { (look.something as f64).min(slept) };
        let gain = 0.5 * each * waited_for;
        if !GATE.may_pass(evidence, gain) || calls.busy_share(&intervals) > BUSY {
            continue;
        }
        let stack = sum.stack();
        let process = evidence.recording.tables.threads[thread as usize].process;
        let call = name(number);
        let named = !what.is_empty() && !what.starts_with('#');
        let of = if named { format!("{call} of {what}") } else { call };
        findings.push(
            Draft {
                variant: "sleep",
                files: evidence.concerned(if named { vec![what.clone()] } else { Vec::new() }),
                explanation: vec![
                    format!(
                        "{} times{}, the program slept for {}, {} in total",
                        count(slept),
                        from(evidence, stack, own),
                        time(each),
                        time(sum.blocked_ns)
                    ),
                    format!(
                        "its checks between the sleeps ({of}) found nothing {} and something {}; what arrives during \
                         a sleep waits until the sleep ends",
                        times(look.nothing as f64),
                        times(look.something as f64)
                    ),
                ],
                facts: vec![
                    fact("sleeps", slept, "calls", Sure::Exact),
                    fact("time of each sleep", each, "ns", Sure::Exact),
                    fact("checks that found nothing", look.nothing as f64, "calls", Sure::Exact),
                    fact("checks that found something", look.something as f64, "calls", Sure::Exact),
                ],
                advice: "Wait for the event instead: a blocking read, poll or epoll on the socket, pipe or pidfd, \
                         inotify for a file, a condition variable between threads"
                    .to_owned(),
                ..Draft::new(&super::CAUSE, "polls in a sleep loop", Confidence::Likely, Cost::new(Basis::Wall, sum.blocked_ns, gain), place(evidence, stack, own, process))
            }
            .candidate(evidence, GATE, process),
        );
    }
    findings
}

/// What `threads` looked at between their sleeps, by thread.
fn looks(calls: &Calls<'_>, children: &Children<'_>, threads: BTreeSet<u32>) -> HashMap<u32, ByCall> {
    let mut looks: HashMap<u32, ByCall> = HashMap::new();
    let mut since: HashMap<u32, SinceSleep> = HashMap::new();
    for (row, process) in calls.all().filter(|(row, _)| threads.contains(&row.thread)) {
        let of = looks.entry(row.thread).or_default();
        let since = since.entry(row.thread).or_default();
        // Who waits for what was not there yet does not sleep over it.
        let waits = POLLS.contains(&row.number) && row.blocked_ns > 0;
        if let Some((number, what)) = since.not_yet.take().filter(|_| !waits) {
            of.entry(number).or_default().entry(what).or_default().nothing += 1;
        }
        if is_sleep(row) || children.slept(row, process) {
            let SinceSleep { last, ended, something, .. } =
                std::mem::replace(since, SinceSleep { slept: true, ..SinceSleep::default() });
            if let Some((number, what)) = last
                && let Some(look) = of.get_mut(&number).and_then(|of| of.get_mut(&what))
            {
                look.before += 1;
            }
            // The end of a file is nothing only to who read nothing before it.
            for (number, what) in ended.into_iter().filter(|(number, _)| !something.contains(number)) {
                of.entry(number).or_default().entry(what).or_default().nothing += 1;
            }
            continue;
        }
        if let Some(child) = children.ended(row, process) {
            let what = base_name(&child.program).to_owned();
            let look = of.entry(row.number).or_default().entry(what.clone()).or_default();
            if child.exit == Some(0) {
                look.something += 1;
                look.at_once += u64::from(!std::mem::take(&mut since.slept));
            } else {
                look.nothing += 1;
            }
            since.last = Some((row.number, what));
            continue;
        }
        if children.is_asked_for_more(row, process) || is_of_an_open_file(row, calls) {
            continue;
        }
        let what = match calls.file(row) {
            Some(file) if !file.path.is_empty() => file.path.clone(),
            Some(file) => format!("#{}", file.file),
            None => String::new(),
        };
        // Go waits after each of them.
        if row.result == NOT_YET && goroutines::is_one(&calls.threads()[row.thread as usize]) {
            continue;
        }
        if row.result == NOT_YET && is_single(row) {
            since.not_yet = Some((row.number, what.clone()));
            since.last = Some((row.number, what));
            continue;
        }
        let look = of.entry(row.number).or_default().entry(what.clone()).or_default();
        let reads = READS.contains(&row.number) || RECEIVES.contains(&row.number);
        let not_yet = row.result == 0 && (WAITS.contains(&row.number) || POLLS.contains(&row.number));
        if NOTHING.contains(&row.result) || not_yet {
            look.nothing += row.count;
        } else if row.result == 0 && row.bytes == 0 && is_single(row) && reads {
            since.ended.insert((row.number, what.clone()));
        } else if row.result >= 0 {
            look.something += row.count;
            // What was read in one go is read in several calls.
            if !reads {
                look.at_once += u64::from(!std::mem::take(&mut since.slept));
            }
            since.something.insert(row.number);
        }
        since.last = Some((row.number, what));
    }
    looks
}

/// A file that was found and opened is asked for its size: that is no second look for it.
fn is_of_an_open_file(row: &Syscall, calls: &Calls<'_>) -> bool {
    STATS.contains(&row.number) && calls.file(row).is_some_and(|file| file.kind != "path")
}

/// What a thread did since its last sleep: its last look, files whose end it read, and calls that brought something.
#[derive(Default)]
struct SinceSleep {
    /// There was one since something was found.
    slept: bool,
    /// The last call, if what it asked for was not there yet and it may be waited for next.
    not_yet: Option<(u32, String)>,
    last: Option<(u32, String)>,
    ended: BTreeSet<(u32, String)>,
    something: BTreeSet<u32>,
}

/// The call whose looks found nothing for most of `slept` sleeps and something afterwards, where it looked most, and how
/// often in all: each time it may look at something else, such as one file after the other.
fn most_empty(looks: &ByCall, slept: f64) -> Option<(u32, String, Looks)> {
    let sums = looks.iter().filter_map(|(number, of)| {
        let told = of.values().any(|look| look.before > 0);
        let empty = || of.iter().filter(|(_, look)| look.nothing > 0 && (!told || look.before > 0));
        let nothing = empty().map(|(_, look)| look.nothing).sum();
        let something = empty().map(|(_, look)| look.something).sum();
        let before = empty().map(|(_, look)| look.before).sum();
        // Also of those that were never missing, beside them: one file after the other.
        let folder = |what: &str| what.rsplit_once('/').map(|(folder, _)| folder.to_owned());
        let folders: BTreeSet<String> = empty().filter_map(|(what, _)| folder(what)).collect();
        let beside = |what: &str, look: &Looks| {
            look.nothing > 0 || folder(what).is_some_and(|of| folders.contains(&of))
        };
        let at_once = of.iter().filter(|(what, look)| beside(what, look)).map(|(_, look)| look.at_once).sum();
        let (what, _) = empty().max_by_key(|(_, look)| look.nothing)?;
        Some((*number, what.clone(), Looks { nothing, something, before, at_once }))
    });
    sums.filter(|(_, _, look)| look.nothing as f64 >= EMPTY * slept)
        .max_by_key(|(_, _, look)| (look.before, look.something, look.nothing))
}
