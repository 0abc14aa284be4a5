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
use slowpath_recording::tables::Syscall;
use slowpath_syscalls::{OF_MEMORY, STATS};
use std::collections::{BTreeMap, HashMap};

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

/// Questions of a group, and those of them that repeat the one before.
#[derive(Default)]
struct Group {
    seen: Sum,
    again: Sum,
    /// What the questions before them took, by stack.
    before: Sum,
}

/// See the file's head.
pub(super) fn find(evidence: &Evidence<'_>, calls: &Calls<'_>) -> Vec<Sign> {
    let format = evidence.recording.about.format;
    if (format.major, format.minor) < WITH_FLAGS {
        return Vec::new();
    }
    // By the function under which both are asked.
    let mut groups: BTreeMap<CallSite, Group> = BTreeMap::new();
    let mut last: HashMap<u32, &Syscall> = HashMap::new();
    let mut of_stack: HashMap<(u32, Option<u32>), CallSite> = HashMap::new();
    let in_order = |row: &&Syscall| !is_met(row) && !OF_MEMORY.contains(&row.number);
    for (row, process) in calls.all().filter(|(row, _)| in_order(row)) {
        let Some((start, _, _)) = moment(evidence, row) else {
            last.remove(&row.thread); // calls added up: what came last is not known
            continue;
        };
        let Some(before) = last.insert(row.thread, row) else { continue };
        let ended = moment(evidence, before).map_or(0, |(_, end, _)| end);
        if !is_repeated(calls, before, row) || start.saturating_sub(ended) > RIGHT_AWAY_NS {
            continue;
        }
        let place = (process, under_both(calls, before, row));
        let group = groups.entry(place).or_default();
        group.again.add(row);
        group.before.add(before);
        for one in [before, row] {
            of_stack.insert((process, one.stack), place);
        }
    }
    // All questions from the same places: also those of which not each was recorded.
    let mut all: BTreeMap<CallSite, Sum> = BTreeMap::new();
    for (row, process) in calls.all().filter(|(row, _)| STATS.contains(&row.number) && row.result >= 0) {
        let Some(place) = of_stack.get(&(process, row.stack)) else { continue };
        all.entry(*place).or_default().add(row);
        let single = in_order(&row) && moment(evidence, row).is_some();
        groups.get_mut(place).filter(|_| single).into_iter().for_each(|group| group.seen.add(row));
    }
    let finding =
        |(place, group): (&CallSite, &Group)| finding(evidence, calls, *place, group, all.get(place)?);
    groups.iter().filter_map(finding).collect()
}

/// Whether a call asks what the one before it asked, and is answered the same.
fn is_repeated(calls: &Calls<'_>, before: &Syscall, row: &Syscall) -> bool {
    let asked = |row: &Syscall| (row.number, row.file, row.argument, row.result);
    let of_path = || calls.file(row).is_some_and(|file| file.kind == "path");
    STATS.contains(&row.number) && row.result >= 0 && asked(before) == asked(row) && of_path()
}

/// The innermost function of the program itself under which both calls are made.
fn under_both(calls: &Calls<'_>, before: &Syscall, row: &Syscall) -> Option<u32> {
    let of_first: Vec<u32> = calls.on(before.stack?).collect();
    calls.on(row.stack?).find(|function| of_first.contains(function))
}

fn finding(
    evidence: &Evidence<'_>,
    calls: &Calls<'_>,
    place: CallSite,
    group: &Group,
    all: &Sum,
) -> Option<Sign> {
    let (process, own) = place;
    let share = group.again.count as f64 / group.seen.count.max(1) as f64;
    if group.again.count < REPEATED || share < SHARE {
        return None;
    }
    // Of the questions that were added up as many are taken to be repetitions.
    let unseen = (all.working_ns() - group.seen.working_ns()).max(0.0);
    let part = group.again.working_ns() / group.seen.working_ns().max(1.0);
    let cost = group.again.working_ns() + unseen * part;
    if !GATE.may_pass(evidence, cost) {
        return None;
    }
    let (number, questions) = (share * all.count as f64, all.count as f64);
    let stack = group.again.stack();
    let asker = stack.and_then(|stack| calls.own_of(stack)).or(own);
    let first = group.before.stack();
    let before = from(evidence, first, first.and_then(|first| calls.own_of(first)));
    let candidate = Draft {
        variant: "again",
        explanation: vec![
            format!(
                "{} of {} lookups repeat the one before: the same call about the same path, with no other system call in between",
                count(two_digits(number)),
                count(two_digits(questions))
            ),
            format!("asked before{before}, and again{}", from(evidence, stack, asker)),
            format!("those that repeat took {} in the kernel alone", time(cost)),
        ],
        facts: vec![
            fact("questions", questions, "calls", Sure::Exact),
            fact("repeated questions", number, "calls", Sure::Sampled),
            fact("time in the kernel", cost, "ns", Sure::Exact),
        ],
        advice: "Ask once, and pass the answer on: metadata of a path tells whether it exists, what it is, its size and its times".to_owned(),
        ..Draft::new(
            &CAUSE,
            "the same path is looked up twice in a row",
            Confidence::Likely,
            Cost::new(Basis::Cpu, cost, cost),
            crate::calls::place(evidence, stack, asker, process),
        )
    }
    .candidate(evidence, GATE, process);
    let mut sum = Sum::default();
    sum.join(&group.again);
    Some(Sign { place, sum, candidate })
}
