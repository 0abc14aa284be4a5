//! A loop that counts what it meets, such as the lines before a position: it begins at the same place each time, finds the same there, and goes
//! now further, now less far. The count could be kept, and gone on with.
//!
//! A number that is counted is a result, and counting all there is may be what a program is for: so it must be most of what the program does,
//! and go another way each time.

use super::calls::{MOST, of_process};
use super::{AGAIN, LOOKING, NOTED, Scan, Unit, candidate};
use crate::Evidence;
use crate::candidate::Candidate;
use crate::walks::{self, Entries, Spent};
use std::collections::BTreeMap;

/// Items that are counted each time, on average: to count a thousand takes a microsecond.
const LENGTH: f64 = 1_000.0;
/// Bursts in which the items were counted, and how many times as many the most of them had as the least. Where each counts up to any place the
/// bursts have about the same, and where all is counted as well.
const BURSTS: usize = 3;
const DIFFER: f64 = 1.5;

/// Whether some are longer than others.
fn differ(ways: &[f64]) -> bool {
    let (least, most) = ways
        .iter()
        .fold((f64::INFINITY, 0.0), |(least, most): (f64, f64), one| (least.min(*one), most.max(*one)));
    ways.len() >= BURSTS && most >= DIFFER * least
}

/// Findings of functions whose loops count over and over again. A compiler may have made several loops of one: they are judged together.
pub(super) fn judge<'a>(
    evidence: &Evidence<'_>,
    loops: impl Iterator<Item = &'a Entries<'a>>,
) -> Vec<Candidate> {
    let mut by_function: BTreeMap<(u32, u32), Vec<&Entries<'_>>> = BTreeMap::new();
    for one in loops.filter(|one| starts_over(one) && !walks::is_refilled(evidence, one)) {
        by_function.entry((one.walk.process, one.function)).or_default().push(one);
    }
    by_function.values().filter_map(|loops| of_function(evidence, loops)).collect()
}

/// Whether most of a loop's entries begin where one before them began, and find the same there, and go far.
fn starts_over(entries: &Entries<'_>) -> bool {
    entries.noted() >= NOTED && entries.of_pointers().share() >= AGAIN && entries.length() >= LENGTH
}

fn of_function(evidence: &Evidence<'_>, loops: &[&Entries<'_>]) -> Option<Candidate> {
    let lengths = || loops.iter().flat_map(|one| &one.lengths).filter(|length| !length.at_least);
    let rounds: Vec<f64> = lengths().map(|length| length.rounds).collect();
    // Where they are too many to be counted, by the time that they take.
    let ways =
        if rounds.len() >= BURSTS { rounds } else { loops.iter().flat_map(|one| one.each_ns()).collect() };
    if !differ(&ways) {
        return None;
    }
    let mut spent = Spent::default();
    let mut largest = (0.0, *loops.first()?);
    for one in loops {
        let of_loop = one.spent(evidence);
        if of_loop.cost_ns >= largest.0 {
            largest = (of_loop.cost_ns, *one);
            spent.stack = of_loop.stack;
        }
        spent.cost_ns += of_loop.cost_ns;
        spent.looking_ns += of_loop.looking_ns;
        spent.other_ns += of_loop.other_ns;
    }
    let entries = largest.1;
    let looks = spent.looking_ns >= LOOKING * (spent.looking_ns + spent.other_ns);
    if !looks || spent.cost_ns < MOST * of_process(evidence, entries) {
        return None;
    }
    let (length, same) = (entries.length(), entries.of_pointers());
    let (at_least, spared) = (entries.is_longer(), same.share());
    let scan = Scan { length, unit: Unit::Items, at_least, same: Some(same), spared, grows: None };
    candidate(evidence, entries, &spent, &scan)
}
