//! Storms of questions about paths that are there: stat, access, readlink, getcwd, and unchanged directories that are listed.
//!
//! The kernel adds up calls by path as long as there is room for new ones. Of what went beyond, only the place is known, and the calls recorded one by
//! one: the first ones of each slice of time. These are a sample of all, from which the number of paths is estimated.

use super::{ASKED, CAUSE, GATE, Sign};
use crate::Evidence;
use crate::calls::{CallSite, Calls, Sum, fact, from, is_met, is_read_open, some};
use crate::causes::words::{count, time, times};
use crate::draft::Draft;
use crate::findings::{Basis, Confidence, Cost, Sure};
use slowpath_recording::tables::Syscall;
use slowpath_syscalls::{CHDIRS, GETCWD, LISTS, STATS, STATS_AT};
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// Questions from one place about many paths count together from so many on, where each was asked about so often: a sort that asks about two files
/// at each comparison comes to 2 × log₂ n for a file, which is 20 from a thousand files on.
const ASKED_TOGETHER: u64 = 2_000;
const ASKED_EACH: u64 = 10;
/// A slice of time in which sights of a path count once, ns: what is done for one file is over by then.
const SLICE_NS: u64 = 100_000_000;
/// A path that is asked about so often in a row: a copying tool asks whether it is there, what it is, where it leads and who may read it, once each.
const IN_A_ROW_EACH: u64 = 5;
/// Questions that follow one another before they say how often that is: at five in a row 30 of them change, give or take a sixth.
const IN_A_ROW: u64 = 150;
/// Share of a place's listings that are of one directory: a name is asked about a hundred times, so that a few elsewhere matter little.
const ONE_DIRECTORY: f64 = 0.95;
/// Questions whose path is not known count from this share of those on that are known to be repeated: fewer make no difference.
const PART: f64 = 0.1;
/// … if so large a share of the paths that are known are asked about often: with some that are, and many that are not, those that are not known are of the latter.
const MOSTLY: f64 = 0.9;
/// `AT_FDCWD`, as the first argument of those of [`STATS_AT`]: a relative path leads from the working directory.
const HERE: i32 = -100;

/// Storms of questions about a path that is there: stat, access, readlink, getcwd, and unchanged directories that are listed.
pub(super) fn find(evidence: &Evidence<'_>, calls: &Calls<'_>) -> Vec<Sign> {
    let mut by_path: BTreeMap<(CallSite, Option<u32>), u64> = BTreeMap::new();
    // A relative path is another file in another directory; an open file is asked for its size before it is read.
    let mut moved: HashMap<u32, u64> = HashMap::new();
    for (row, process) in calls.all().filter(|(row, _)| CHDIRS.contains(&row.number) && row.result >= 0) {
        let last = moved.entry(process).or_default();
        *last = row.end_ns.max(*last);
    }
    let read: BTreeSet<(u32, Option<u32>, Option<u32>)> = calls
        .all()
        .filter(|(row, _)| LISTS.contains(&row.number))
        .map(|(row, process)| (process, calls.own(row), row.file))
        .collect();
    let listed = listed(calls);
    let is_in_listed = |row: &Syscall, process: u32| {
        let relative = STATS_AT.contains(&row.number) && row.argument as i32 != HERE;
        relative && listed.contains_key(&(process, calls.own(row)))
    };
    let is_listing = |row: &Syscall| calls.file(row).is_some_and(|file| file.kind == "directory");
    let question = |row: &Syscall, process: u32| {
        let here = || STATS_AT.contains(&row.number) && row.argument as i32 == HERE;
        let stays = || moved.get(&process).is_none_or(|last| row.time_ns >= *last);
        let there = || is_in_listed(row, process);
        let one = |path: &str| path.starts_with('/') || here() && stays() || there();
        let about = calls.file(row).filter(|file| file.kind == "path" && one(&file.path));
        let known = STATS.contains(&row.number) && about.is_some();
        // Others open a directory to go on from there.
        let lists =
            is_listing(row) && is_read_open(row) && read.contains(&(process, calls.own(row), row.file));
        row.result >= 0 && (known || lists || row.number == GETCWD)
    };
    let mut in_listed: BTreeSet<(CallSite, Option<u32>)> = BTreeSet::new();
    for (row, process) in calls.all().filter(|(row, process)| question(row, *process)) {
        let key = ((process, calls.own(row)), row.file);
        *by_path.entry(key).or_default() += row.count;
        let absolute = || calls.file(row).is_some_and(|file| file.path.starts_with('/'));
        if is_in_listed(row, process) && !absolute() {
            in_listed.insert(key);
        }
    }
    // A name that is asked about more often than the directory is listed is in others as well.
    by_path.retain(|key, times| {
        !in_listed.contains(key) || listed.get(&key.0).is_some_and(|all| *times <= *all)
    });
    let mut several: BTreeMap<CallSite, u64> = BTreeMap::new();
    for ((place, _), times) in by_path.iter().filter(|(_, times)| **times >= ASKED_EACH) {
        *several.entry(*place).or_default() += times;
    }
    let is_often = |place: &CallSite, times: u64| {
        times >= ASKED || times >= ASKED_EACH && several.get(place).is_some_and(|all| *all >= ASKED_TOGETHER)
    };
    let is_beyond = |row: &Syscall| STATS.contains(&row.number) && row.result >= 0 && row.file.is_none();
    let beyond = calls.all().filter(|(row, _)| row.count >= ASKED_TOGETHER && is_beyond(row));
    let mut places: BTreeSet<CallSite> = beyond.map(|(row, process)| (process, calls.own(row))).collect();
    let often = by_path.iter().filter(|((place, _), times)| is_often(place, **times));
    places.extend(often.map(|((place, _), _)| *place));
    let mut findings = Vec::new();
    for place in places {
        let (process, own) = place;
        let (mut sum, mut listing, mut paths) = (Sum::default(), Sum::default(), BTreeSet::new());
        let mut sample = Sample::default();
        for (row, of) in calls.all().filter(|(row, of)| *of == process && calls.own(row) == own) {
            let often = by_path.get(&(place, row.file)).is_some_and(|times| is_often(&place, *times));
            if often && !question(row, of) && is_listing(row) {
                listing.add(row);
            } else if question(row, of) {
                let path = calls.file(row).map_or("the working directory", |file| &file.path);
                sample.add(row, path);
                if often {
                    sum.add(row);
                    paths.insert(path.to_owned());
                }
            } else if is_beyond(row) {
                sample.beyond.add(row);
            }
        }
        let often_asked = paths.len();
        // Where all are asked about so often on average, those that are asked about a few times count as well.
        if sample.all.count >= ASKED_EACH * sample.paths.len() as u64 {
            (sum, paths) = (sample.all.clone(), sample.paths.clone());
        }
        let alike = |sample: &Sample| {
            sample.alike().filter(|_| often_asked as f64 >= MOSTLY * sample.paths.len() as f64)
        };
        let mut number = paths.len() as f64;
        // Asked from the same place, as far as paths are known most of them often.
        let is_part = sample.beyond.count as f64 > PART * sum.count as f64;
        let more = |all: &f64| {
            let questions = (sample.all.count + sample.beyond.count) as f64;
            questions - *all > sum.count as f64 - number
        };
        let estimated = sample.number().or_else(|| alike(&sample)).filter(|_| is_part).filter(more);
        if let Some(estimate) = estimated {
            (sum, paths) = (std::mem::take(&mut sample.all), std::mem::take(&mut sample.paths));
            sum.join(&sample.beyond);
            number = estimate;
        }
        // The work around questions may be that of others, which found nothing: the kernel's part is a floor.
        let cost = sum.working_ns() + listing.working_ns();
        let gain = cost * (1.0 - number / sum.count.max(1) as f64);
        if !GATE.may_pass(evidence, gain) {
            continue;
        }
        let paths: Vec<String> = paths.into_iter().collect();
        let stack = sum.stack();
        let about = if estimated.is_some() { "about " } else { "" };
        let each = format!(", {about}{} each on average", times(sum.count as f64 / number.max(1.0)));
        let candidate = Draft {
            variant: "path",
            // Of some the path is not known: they may be others.
            gain_is_least: is_part && estimated.is_none(),
            explanation: vec![
                format!(
                    "{} {} looked up {} times{}{}",
                    some_of(&paths, number),
                    if paths.len() == 1 { "was" } else { "were" },
                    count(sum.count as f64),
                    from(evidence, stack, own),
                    if paths.len() == 1 { String::new() } else { each }
                ),
                format!("this took {} in the kernel alone", time(cost)),
            ],
            facts: vec![
                fact("questions", sum.count as f64, "calls", Sure::Exact),
                fact("paths", number, "paths", if estimated.is_some() { Sure::Sampled } else { Sure::Exact }),
                fact("time in the kernel", cost, "ns", Sure::Exact),
            ],
            files: evidence.concerned(paths),
            advice: "Look it up once and cache the result while it stays valid".to_owned(),
            ..Draft::new(
                &CAUSE,
                "the same path is looked up again and again",
                Confidence::Likely,
                Cost::new(Basis::Cpu, cost, gain),
                crate::calls::place(evidence, stack, own, process),
            )
        }
        .candidate(evidence, GATE, process);
        sum.join(&listing);
        findings.push(Sign { place, sum, candidate });
    }
    findings
}

/// Places that list one directory, but for a few listings: what they ask about relative to an open directory is in that one. With how many calls list something there.
fn listed(calls: &Calls<'_>) -> BTreeMap<CallSite, u64> {
    let mut by_place: BTreeMap<CallSite, BTreeMap<Option<u32>, u64>> = BTreeMap::new();
    for (row, process) in calls.all().filter(|(row, _)| LISTS.contains(&row.number) && row.result >= 0) {
        if let Some(own) = calls.own(row) {
            *by_place.entry((process, Some(own))).or_default().entry(row.file).or_default() += row.count;
        }
    }
    let of_one = |listings: &BTreeMap<Option<u32>, u64>| {
        let most = listings.iter().filter(|(file, _)| file.is_some()).map(|(_, times)| *times).max()?;
        let all = listings.values().sum::<u64>();
        (most as f64 >= ONE_DIRECTORY * all as f64 && most >= ASKED_EACH).then_some(all)
    };
    by_place.into_iter().filter_map(|(place, listings)| Some((place, of_one(&listings)?))).collect()
}

/// The first three of so many paths, of which not all may be known.
fn some_of(paths: &[String], number: f64) -> String {
    match number.round() as usize {
        all if all > paths.len() && paths.len() > 3 => {
            format!("{} and about {} more", paths[..3].join(", "), count((all - 3) as f64))
        }
        _ => some(paths, 3),
    }
}

/// What is known of the questions from one place of which not all paths are known.
#[derive(Default)]
struct Sample {
    /// Questions whose path is known, and these paths; in which slice of time each was seen last, of those recorded one by one, and in how many.
    all: Sum,
    paths: BTreeSet<String>,
    seen: HashMap<Option<u32>, (u64, u64)>,
    /// Questions whose path is not known.
    beyond: Sum,
    /// The path of each thread's last question, and how many questions followed one of their thread, and about another path.
    last: HashMap<u32, Option<u32>>,
    followed: u64,
    changed: u64,
}

impl Sample {
    fn add(&mut self, row: &Syscall, path: &str) {
        self.all.add(row);
        if row.count == 1 && !is_met(row) {
            if let Some(last) = self.last.insert(row.thread, row.file) {
                self.followed += 1;
                self.changed += u64::from(last != row.file);
            }
            let slice = row.time_ns / SLICE_NS;
            let (last, number) = self.seen.entry(row.file).or_insert((slice, 1));
            *number += u64::from(*last != slice);
            *last = slice;
        }
        if !self.paths.contains(path) {
            self.paths.insert(path.to_owned());
        }
    }

    /// How many different paths all questions are about, if the sample says so and each is asked about often.
    fn number(&self) -> Option<f64> {
        let questions = (self.all.count + self.beyond.count) as f64;
        let often = |paths: Option<f64>, each: u64| paths.filter(|paths| questions >= each as f64 * paths);
        let anywhere = often(self.captured(), ASKED_EACH);
        let in_a_row = often(self.in_a_row(questions), IN_A_ROW_EACH);
        anywhere.into_iter().chain(in_a_row).min_by(f64::total_cmp)
    }

    /// As many for each question as of those whose paths are known, if these are asked about often: there is room for those that come first in each slice of time, and
    /// for all questions about them.
    fn alike(&self) -> Option<f64> {
        let (known, paths) = (self.all.count as f64, self.paths.len() as f64);
        let often = known >= ASKED_EACH as f64 * paths && self.all.count >= ASKED_TOGETHER;
        (often && self.captured().is_none()).then(|| paths * (known + self.beyond.count as f64) / known)
    }

    /// At most so many, if each is asked about several times in a row: as many as the questions that were seen changed from one to another.
    fn in_a_row(&self, questions: f64) -> Option<f64> {
        (self.followed >= IN_A_ROW).then(|| questions * (self.changed + 1) as f64 / self.followed as f64)
    }

    /// By Chao's estimate from those seen in one slice of
    /// time and those seen in two (A. Chao, 1987, "Estimating the population size for capture-recapture data with unequal catchability"): two questions about a
    /// path in a row are one sight of it. Ever new paths come to more than there are questions.
    fn captured(&self) -> Option<f64> {
        let seen = |times: u64| self.seen.values().filter(|(_, number)| *number == times).count() as f64;
        let (once, twice) = (seen(1), seen(2));
        let paths = self.seen.len() as f64 + once * once / (2.0 * twice.max(1.0));
        let sampled: u64 = self.seen.values().map(|(_, number)| number).sum();
        (sampled >= ASKED_TOGETHER).then_some(paths)
    }
}
