//! Questions about a path that repeat the one before: the same call about the same path in the same thread, with nothing of the kernel asked in
//! between, as where one function wants to know whether a file is there, the next whether it is a file, and a third how large it is.
//!
//! Each path may be asked about two or three times only, and there may be any number of them: that one is asked about often is `asked`'s.

use super::{CAUSE, Sign};
use crate::Evidence;
use crate::calls::{CallSite, Calls, Sum, fact, from, is_met, moment};
use crate::causes::words::{count, time, two_digits};
use crate::draft::Draft;
use crate::findings::{Basis, Confidence, Cost, Sure};
use crate::gate::Gate;
use crate::intervals;
use slowpath_recording::tables::Syscall;
use slowpath_syscalls::{
    CLOSE, FSTAT, FUTEX, GETDENTS64, LSEEK, LSTAT, NEWFSTATAT, OF_MEMORY, SCHED_YIELD, STAT, STATS, STATX,
};
use std::collections::{BTreeMap, HashMap};

/// Questions that are known well enough to be compared: of `access` it is not recorded what it asks.
const ASKS: [u32; 4] = [STAT, LSTAT, NEWFSTATAT, STATX];
const BY_NAME: [u32; 2] = [STAT, LSTAT];
/// Calls that change no path, besides those of memory and other questions: of others that were added up it is not known when each was.
const HARMLESS: [u32; 6] = [FUTEX, CLOSE, LSEEK, FSTAT, SCHED_YIELD, GETDENTS64];
/// The first version whose recordings tell `lstat` from `stat`.
const WITH_FLAGS: (u32, u32) = (1, 18);
/// From the end of one to the start of the next, ns: what the program does with an answer before it asks again takes a few microseconds. Who comes back after a
/// millisecond may want to know whether it changed.
const RIGHT_AWAY_NS: u64 = 1_000_000;
/// Repetitions before they say how many there are: of 100 the share is known to a tenth.
const REPEATED: u64 = 100;
/// Share of the questions in places that repeat some which must be repetitions: where each path is asked about twice it is half.
const SHARE: f64 = 0.4;
/// One of the two must be spared, and each is cheap: other causes that are as easy to be right about count from a twentieth on, this one from
/// where it is felt.
const GATE: Gate = Gate::TENTH_OF_CPU;

/// Questions from one place, and those of them that repeat the one before.
#[derive(Default)]
struct Group {
    seen: Seen,
    again: Seen,
    /// One of the paths.
    example: Option<u32>,
    /// What the questions before them took, by stack.
    before: Sum,
    /// Questions about ever new paths, beyond those of which each was recorded; and those in which a thread was met.
    beyond: Sum,
}

/// Calls that were seen one by one: by ptrace each stands for others.
#[derive(Default)]
struct Seen {
    sum: Sum,
    rows: u64,
}

impl Seen {
    fn add(&mut self, row: &Syscall) {
        self.sum.add(row);
        self.rows += 1;
    }
}

/// See the file's head.
pub(super) fn find(evidence: &Evidence<'_>, calls: &Calls<'_>) -> Vec<Sign> {
    let format = evidence.recording.about.format;
    if (format.major, format.minor) < WITH_FLAGS {
        return Vec::new();
    }
    let unknown = added_up(evidence, calls);
    let mut groups: BTreeMap<CallSite, Group> = BTreeMap::new();
    let mut last: HashMap<u32, &Syscall> = HashMap::new();
    for (row, process) in calls.all().filter(|(row, _)| !OF_MEMORY.contains(&row.number)) {
        let asks = ASKS.contains(&row.number) && row.result >= 0;
        let place = (process, calls.own(row));
        let Some((start, _, _)) = moment(evidence, row) else {
            if asks && (row.file.is_none() || is_met(row)) {
                groups.entry(place).or_default().beyond.add(row);
            }
            continue;
        };
        let before = last.insert(row.thread, row);
        if !asks {
            continue;
        }
        let again = before.filter(|before| {
            let ended = moment(evidence, before).map_or(0, |(_, end, _)| end);
            start.saturating_sub(ended) <= RIGHT_AWAY_NS && is_repeated(calls, before, row)
        });
        let known = |spans: &Vec<(u64, u64)>| {
            let ended = again.map_or(start, |before| before.end_ns);
            let behind = spans.partition_point(|(_, to)| *to <= ended);
            spans.get(behind).is_none_or(|(from, _)| *from >= start)
        };
        if !unknown.get(&row.thread).is_none_or(known) {
            continue;
        }
        let group = groups.entry(place).or_default();
        group.seen.add(row);
        if let Some(before) = again {
            group.again.add(row);
            group.example = group.example.or(row.file);
            group.before.add(before);
        }
    }
    groups.iter().filter_map(|(place, group)| finding(evidence, calls, *place, group)).collect()
}

/// When each thread made calls that were added up and may have changed something: a union of intervals.
fn added_up(evidence: &Evidence<'_>, calls: &Calls<'_>) -> HashMap<u32, Vec<(u64, u64)>> {
    let mut spans: HashMap<u32, Vec<(u64, u64)>> = HashMap::new();
    for (row, _) in calls.all().filter(|(row, _)| moment(evidence, row).is_none() && !is_met(row)) {
        let number = &row.number;
        if !OF_MEMORY.contains(number) && !STATS.contains(number) && !HARMLESS.contains(number) {
            spans.entry(row.thread).or_default().push((row.time_ns, row.end_ns));
        }
    }
    spans.values_mut().for_each(|spans| *spans = intervals::union(std::mem::take(spans)));
    spans
}

/// Whether a call asks what the one before it asked, and both succeeded.
fn is_repeated(calls: &Calls<'_>, before: &Syscall, row: &Syscall) -> bool {
    // Where from and the flags; `stat` and `lstat` have neither.
    let how = |row: &Syscall| if BY_NAME.contains(&row.number) { 0 } else { row.argument };
    let asked = |row: &Syscall| (row.number, row.file, how(row), row.result);
    asked(before) == asked(row) && calls.file(row).is_some_and(|file| file.kind == "path")
}

fn finding(evidence: &Evidence<'_>, calls: &Calls<'_>, place: CallSite, group: &Group) -> Option<Sign> {
    let (process, own) = place;
    let Group { seen, again, before, beyond, .. } = group;
    let share = again.rows as f64 / seen.rows.max(1) as f64;
    if again.rows < REPEATED || share < SHARE {
        return None;
    }
    // Of those that are not known one by one as many are taken to be repetitions.
    let part = again.sum.working_ns() / seen.sum.working_ns().max(1.0);
    let cost = again.sum.working_ns() + beyond.working_ns() * part;
    if !GATE.may_pass(evidence, cost) {
        return None;
    }
    let questions = (seen.sum.count + beyond.count) as f64;
    let number = share * questions;
    let (about, sure) = if beyond.count > 0 { ("about ", Sure::Sampled) } else { ("", Sure::Exact) };
    let (first, stack) = (before.stack(), again.sum.stack());
    let asked_before = from(evidence, first, first.and_then(|first| calls.own_of(first)));
    let candidate = Draft {
        variant: "again",
        explanation: vec![
            format!(
                "{about}{} of {} lookups repeat the one before: the same call about the same path, with no other system call in between{}",
                count(two_digits(number)),
                count(two_digits(questions)),
                group.example.map_or(String::new(), |file| {
                    format!("; one of the paths is {}", evidence.recording.tables.files[file as usize].path)
                })
            ),
            format!("asked before{asked_before}, and again{}", from(evidence, stack, own)),
            format!("those that repeat took {about}{} in the kernel alone", time(cost)),
        ],
        facts: vec![
            fact("questions", questions, "calls", Sure::Exact),
            fact("repeated questions", number, "calls", sure),
            fact("time in the kernel", cost, "ns", sure),
        ],
        advice: "Ask once, and pass the answer on: metadata of a path tells whether it exists, what it is, its size and its times".to_owned(),
        ..Draft::new(
            &CAUSE,
            "each path is looked up twice in a row",
            Confidence::Likely,
            Cost::new(Basis::Cpu, cost, cost),
            crate::calls::place(evidence, stack, own, process),
        )
    }
    .candidate(evidence, GATE, process);
    let mut sum = Sum::default();
    sum.join(&again.sum);
    Some(Sign { place, sum, candidate })
}
