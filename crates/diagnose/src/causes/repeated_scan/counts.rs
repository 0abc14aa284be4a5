//! A loop that counts what it meets, such as the lines before a position, or makes one result of it in another way, such as a sum: it begins at the same place each time, finds the same there, and goes
//! now further, now less far. The count could be kept, and gone on with.
//!
//! A number that is counted is a result, and counting all there is may be what a program is for: so it must be most of what the program does,
//! and go another way each time.

use super::calls::{MOST, of_process};
use super::{AGAIN, FOLDS, LOOKING, NOTED, Scan, Unit, candidate};
use crate::Evidence;
use crate::candidate::Candidate;
use crate::walks::{self, Entries, Spent};
use std::collections::BTreeMap;

/// Items that are counted each time, on average: to count a thousand takes a microsecond.
const LENGTH: f64 = 1_000.0;
/// … and rounds of a loop that makes one result in another way, for which compilers often take several items at once: 1.1 ns a round where fractions are
/// added one by one, 2.0 where 32 characters are counted. 256 of them take several times what a look into a table does.
const LENGTH_FOLDS: f64 = 256.0;
/// Bursts in which the items were counted, and how many times as many the most of them had as the least. Where each counts up to any place the
/// bursts have about the same, and where all is counted as well.
const BURSTS: usize = 3;
const DIFFER: f64 = 1.5;
/// … or how unlike the times of its ways are within most of the bursts, by their third quartile over the first. Where each goes to any place it is
/// 3. Where all is counted each time it is at most 2.4, if what is done besides takes 30 % of the time, in 30 % of the rounds.
const UNLIKE: f64 = 2.5;

/// Whether some of a loop's ways are longer than others.
fn differ(ways: &[f64]) -> bool {
    let ends = |(least, most): (f64, f64), one: &f64| (least.min(*one), most.max(*one));
    let (least, most) = ways.iter().fold((f64::INFINITY, 0.0), ends);
    ways.len() > 1 && most >= DIFFER * least
}

/// Whether most bursts have ways of unlike lengths.
fn is_unlike(spread: &[f64]) -> bool {
    let unlike = spread.iter().filter(|ratio| **ratio >= UNLIKE).count();
    spread.len() >= BURSTS && 2 * unlike > spread.len()
}

/// Findings of functions whose loops count over and over again. A compiler may have made several loops of one: they are judged together.
pub(super) fn judge<'a>(
    evidence: &Evidence<'_>,
    loops: impl Iterator<Item = &'a Entries<'a>>,
) -> Vec<(&'a Entries<'a>, Candidate)> {
    let mut by_function: BTreeMap<(u32, u32), Vec<&'a Entries<'a>>> = BTreeMap::new();
    for one in loops.filter(|one| starts_over(one) && !walks::is_refilled(evidence, one)) {
        by_function.entry((one.walk.process, one.function)).or_default().push(one);
    }
    by_function.values().filter_map(|loops| of_function(evidence, loops)).collect()
}

/// Whether most of a loop's entries begin where one before them began, and find the same there, and go far.
fn starts_over(entries: &Entries<'_>) -> bool {
    let folds = entries.one_loop.is_some_and(|one| one.work == FOLDS);
    let least = if folds { LENGTH_FOLDS } else { LENGTH };
    entries.noted() >= NOTED && entries.of_pointers().share() >= AGAIN && entries.length() >= least
}

fn of_function<'a>(
    evidence: &Evidence<'_>,
    loops: &[&'a Entries<'a>],
) -> Option<(&'a Entries<'a>, Candidate)> {
    let mut loops: Vec<(&Entries<'_>, Spent)> = loops.iter().map(|one| (*one, one.spent(evidence))).collect();
    loops.sort_by(|a, b| b.1.cost_ns.total_cmp(&a.1.cost_ns));
    // Of loops in each other the one that costs more holds the other.
    let mut apart: Vec<(&'a Entries<'a>, Spent)> = Vec::new();
    for (one, spent) in loops {
        if !apart.iter().any(|(other, _)| one.shares_code(other)) {
            apart.push((one, spent));
        }
    }
    let ways: Vec<Vec<f64>> = apart.iter().map(|(one, _)| ways(one)).collect();
    // Each by itself: two loops may well go through lists of different lengths.
    let enough = ways.iter().map(Vec::len).sum::<usize>() >= BURSTS;
    let unlike = apart.iter().any(|(one, _)| is_unlike(&one.spread()));
    if !enough || !unlike && !ways.iter().any(|ways| differ(ways)) {
        return None;
    }
    let (entries, stack) = apart.first().map(|(one, spent)| (*one, spent.stack))?;
    let mut spent = Spent { stack, ..Spent::default() };
    for (_, of_loop) in &apart {
        spent.cost_ns += of_loop.cost_ns;
        spent.looking_ns += of_loop.looking_ns;
        spent.other_ns += of_loop.other_ns;
    }
    let looks = spent.looking_ns >= LOOKING * (spent.looking_ns + spent.other_ns);
    if !looks || spent.cost_ns < MOST * of_process(evidence, entries) {
        return None;
    }
    let (length, same) = (entries.length(), entries.of_pointers());
    let (at_least, spared) = (entries.is_longer(), same.share());
    let scan = Scan {
        length,
        unit: Unit::Items,
        at_least,
        same: Some(same),
        part: None,
        lists: None,
        spared,
        grows: None,
    };
    Some((entries, candidate(evidence, entries, &spent, &scan)?))
}

/// How far a loop goes, burst by burst: in rounds; where they are too many to be counted, by the time that they take.
fn ways(entries: &Entries<'_>) -> Vec<f64> {
    let counted = entries.lengths.iter().filter(|length| !length.at_least);
    let rounds: Vec<f64> = counted.map(|length| length.rounds).collect();
    let each = entries.each_ns();
    if rounds.len() >= BURSTS || each.is_empty() { rounds } else { each }
}
