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
use std::collections::{BTreeMap, BTreeSet, HashMap};

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
    /// From where the questions before them came, and how many.
    asked_from: BTreeMap<CallSite, u64>,
}

impl Group {
    /// Time in repetitions, ns. Of those that are not known one by one as many are taken to be repetitions.
    fn cost_ns(&self) -> f64 {
        let part = self.again.sum.working_ns() / self.seen.sum.working_ns().max(1.0);
        self.again.sum.working_ns() + self.beyond.working_ns() * part
    }

    /// How many repeat the one before, as far as that is known; of the others as many.
    fn number(&self) -> f64 {
        let share = self.again.rows as f64 / self.seen.rows.max(1) as f64;
        share * (self.seen.sum.count + self.beyond.count) as f64
    }

    fn is_repeated(&self) -> bool {
        self.again.rows >= REPEATED && self.again.rows as f64 >= SHARE * self.seen.rows as f64
    }

    fn join(&mut self, other: &Group) {
        for (sum, of) in [(&mut self.seen, &other.seen), (&mut self.again, &other.again)] {
            sum.sum.join(&of.sum);
            sum.rows += of.rows;
        }
        self.beyond.join(&other.beyond);
        self.before.join(&other.before);
        self.example = self.example.or(other.example);
    }
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
            *group.asked_from.entry((process, calls.own(before))).or_default() += 1;
            group.again.add(row);
            group.example = group.example.or(row.file);
            group.before.add(before);
        }
    }
    let chains = chains(&groups);
    chains.iter().filter_map(|places| finding(evidence, calls, &groups, places)).collect()
}

/// Places that ask one after the other about the same path: one fix spares the repetitions of all.
fn chains(groups: &BTreeMap<CallSite, Group>) -> Vec<Vec<CallSite>> {
    let mut chains: Vec<Vec<CallSite>> = Vec::new();
    for (place, group) in groups.iter().filter(|(_, group)| group.is_repeated()) {
        let usual = |(of, number): (&CallSite, &u64)| (2 * number > group.again.rows).then_some(*of);
        let before = group
            .asked_from
            .iter()
            .find_map(usual)
            .filter(|of| groups.get(of).is_some_and(Group::is_repeated));
        let links =
            |chain: &Vec<CallSite>| chain.contains(place) || before.is_some_and(|of| chain.contains(&of));
        let (mut linked, rest): (Vec<_>, Vec<_>) = chains.into_iter().partition(links);
        linked.push(before.into_iter().chain([*place]).collect());
        let linked: BTreeSet<CallSite> = linked.into_iter().flatten().collect();
        chains = rest;
        chains.push(linked.into_iter().collect());
    }
    chains
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

/// `places` ask one after the other. The one that loses most by that is reported.
fn finding(
    evidence: &Evidence<'_>,
    calls: &Calls<'_>,
    groups: &BTreeMap<CallSite, Group>,
    places: &[CallSite],
) -> Option<Sign> {
    let worst = |a: &&CallSite, b: &&CallSite| groups[a].cost_ns().total_cmp(&groups[b].cost_ns());
    let place = *places.iter().max_by(worst)?;
    let (process, own) = place;
    let mut of_all = Group::default();
    // In this order: an example and a stack are those of the first.
    let others: Vec<CallSite> = places.iter().copied().filter(|one| *one != place).collect();
    [place].iter().chain(&others).for_each(|one| of_all.join(&groups[one]));
    // Each place with its own share of repetitions.
    let cost: f64 = places.iter().map(|one| groups[one].cost_ns()).sum();
    let number: f64 = places.iter().map(|one| groups[one].number()).sum();
    let Group { seen, beyond, .. } = &of_all;
    if !GATE.may_pass(evidence, cost) {
        return None;
    }
    let questions = (seen.sum.count + beyond.count) as f64;
    let (about, sure) = if beyond.count > 0 { ("about ", Sure::Sampled) } else { ("", Sure::Exact) };
    let worst = &groups[&place];
    let (first, stack) = (worst.before.stack(), worst.again.sum.stack());
    let asked_before = from(evidence, first, first.and_then(|first| calls.own_of(first)));
    let also: String = others
        .iter()
        .map(|(_, own)| from(evidence, groups[&(process, *own)].again.sum.stack(), *own))
        .filter(|from| !from.is_empty())
        .map(|from| format!(", and{from}"))
        .collect();
    let candidate = Draft {
        variant: "again",
        explanation: vec![
            format!(
                "{about}{} of {} lookups repeat the one before: the same call about the same path, with no other system call in between{}",
                count(two_digits(number)),
                count(two_digits(questions)),
                of_all.example.map_or(String::new(), |file| {
                    format!("; one of the paths is {}", evidence.recording.tables.files[file as usize].path)
                })
            ),
            format!("asked before{asked_before}, and again{}{also}", from(evidence, stack, own)),
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
    Some(Sign { place, sum: of_all.again.sum, candidate })
}
