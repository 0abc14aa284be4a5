//! Keys that have the same hash: each look-up in a hash table goes through many of them. A hash that leaves out a part of the key, or that gives one
//! number for many pairs, makes a list of the table.

use super::{GATE, Scan, Unit, candidate};
use crate::Evidence;
use crate::candidate::Candidate;
use crate::walks::Entries;
use slowpath_interfaces::{has_chains, searches_bucket};
use slowpath_recording::tables::Loop;

/// Keys a look-up goes through from which on the hash is at fault. In a table with chains, as full as it may be, a good one leaves 1.5 on average, and
/// five times as many never.
const CHAINED: f64 = 8.0;
/// C++'s library goes through all keys of a table of 20 or fewer, where a hash takes long.
const BY_NAME: f64 = 24.0;
/// With open addressing a look-up in vain goes through 1 / (1 - load) places (Knuth, TAOCP 3, 6.4): 4 in LLVM's tables, 17 in GLib's when they are
/// fullest.
const OPEN: f64 = 32.0;
/// The work of a loop that divides to see which list an item belongs in.
const BUCKETS: &str = "buckets";
/// … and of one that goes over the places of a table group by group.
const GROUPS: &str = "groups";
/// What a good hash leaves to go through.
const GOOD: f64 = 1.5;
/// Of groups, of 16 places mostly, seven eighths are taken when they are fullest. One in eight is full by chance, so that a look-up in vain goes through 1.14
/// on average, and four times as many never.
const GROUPED: f64 = 4.0;
const GOOD_GROUPS: f64 = 1.14;
/// Bursts in which keys were counted.
const BURSTS: usize = 3;

/// Whether the loop is one of a look-up in a hash table, by the name of its function or by its code: its items are no list to be indexed.
pub(super) fn is_of_table(evidence: &Evidence<'_>, entries: &Entries<'_>) -> bool {
    searches_bucket(evidence.name(entries.function)) || entries.one_loop.is_some_and(is_of_bucket)
}

fn is_of_bucket(one: &Loop) -> bool {
    one.work == BUCKETS || is_of_groups(one)
}

fn is_of_groups(one: &Loop) -> bool {
    one.work == GROUPS
}

/// From which length on the hash is at fault.
fn fault(evidence: &Evidence<'_>, entries: &Entries<'_>) -> f64 {
    match entries.one_loop.is_some_and(is_of_bucket) {
        true if entries.one_loop.is_some_and(is_of_groups) => GROUPED,
        true => CHAINED,
        false if has_chains(evidence.name(entries.function)) => BY_NAME,
        false => OPEN,
    }
}

/// A finding, if the loop goes through keys with the same hash, and many of them.
pub(super) fn judge(evidence: &Evidence<'_>, entries: &Entries<'_>) -> Option<Candidate> {
    let length = entries.length();
    let through_keys = |one: &Loop| is_of_bucket(one) || one.parent.is_none();
    // A loop in a function that searches compares keys.
    if !is_of_table(evidence, entries)
        || !entries.one_loop.is_some_and(through_keys)
        || entries.lengths.len() < BURSTS
        || length < fault(evidence, entries)
    {
        return None;
    }
    let spent = entries.spent(evidence);
    let groups = entries.one_loop.is_some_and(is_of_groups);
    let (good, unit) = if groups { (GOOD_GROUPS, Unit::Groups) } else { (GOOD, Unit::Keys) };
    let (at_least, spared) = (entries.is_longer(), 1.0 - good / length);
    if !GATE.may_pass(evidence, spent.cost_ns * spared) {
        return None;
    }
    let scan = Scan { length, unit, at_least, same: None, lists: None, spared, grows: None };
    candidate(evidence, entries, &spent, &scan)
}
