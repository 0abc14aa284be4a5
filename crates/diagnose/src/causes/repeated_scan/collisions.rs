//! Keys that have the same hash: each look-up in a hash table goes through many of them. A hash that leaves out a part of the key, or that gives one
//! number for many pairs, makes a list of the table.

use super::{GATE, Scan, Unit, candidate};
use crate::Evidence;
use crate::candidate::Candidate;
use crate::walks::Entries;
use slowpath_interfaces::searches_bucket;

/// Keys a look-up goes through from which on the hash is at fault: in a table as full as these may be, a good one leaves 1.5 on average, and a
/// look-up in vain in a table with open addressing, three quarters full, goes through 8.5 (Knuth, TAOCP 3, 6.4).
const LENGTH: f64 = 16.0;
/// What a good hash leaves to go through.
const GOOD: f64 = 1.5;
/// Bursts in which keys were counted.
const BURSTS: usize = 3;

/// A finding, if the loop goes through keys with the same hash, and many of them.
pub(super) fn judge(evidence: &Evidence<'_>, entries: &Entries<'_>) -> Option<Candidate> {
    let length = entries.length();
    if entries.one_loop.is_none()
        || !searches_bucket(evidence.name(entries.function))
        || entries.lengths.len() < BURSTS
        || length < LENGTH
    {
        return None;
    }
    let spent = entries.spent(evidence);
    let (at_least, spared) = (entries.is_longer(), 1.0 - GOOD / length);
    if !GATE.may_pass(evidence, spent.cost_ns * spared) {
        return None;
    }
    let scan = Scan { length, unit: Unit::Keys, at_least, same: None, spared, grows: None };
    candidate(evidence, entries, &spent, &scan)
}
