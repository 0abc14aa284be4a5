//! A loop that counts what it meets, such as the lines before a position: it begins at the same place each time, finds the same there, and goes
//! now further, now less far. The count could be kept, and gone on with.
//!
//! A number that is counted is a result, and counting all there is may be what a program is for: so it must be most of what the program does,
//! and go another way each time.

use super::calls::{MOST, of_process};
use super::{AGAIN, LOOKING, NOTED, Scan, Unit, candidate};
use crate::Evidence;
use crate::candidate::Candidate;
use crate::walks::{self, Entries};

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

/// A finding, if the loop counts over and over again.
pub(super) fn judge(evidence: &Evidence<'_>, entries: &Entries<'_>) -> Option<Candidate> {
    let (length, same) = (entries.length(), entries.of_pointers());
    if entries.noted() < NOTED || same.share() < AGAIN || length < LENGTH {
        return None;
    }
    let rounds: Vec<f64> =
        entries.lengths.iter().filter(|length| !length.at_least).map(|length| length.rounds).collect();
    // Where they are too many to be counted, by the time that they take.
    let ways = if rounds.len() >= BURSTS { rounds } else { entries.each_ns() };
    if !differ(&ways) || walks::is_refilled(evidence, entries) {
        return None;
    }
    let spent = entries.spent(evidence);
    let looks = spent.looking_ns >= LOOKING * (spent.looking_ns + spent.other_ns);
    if !looks || spent.cost_ns < MOST * of_process(evidence, entries) {
        return None;
    }
    let (at_least, spared) = (entries.is_longer(), same.share());
    let scan = Scan { length, unit: Unit::Items, at_least, same: Some(same), spared, grows: None };
    candidate(evidence, entries, &spent, &scan)
}
