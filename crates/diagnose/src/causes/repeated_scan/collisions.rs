//! Keys that have the same hash: each look-up in a hash table goes through many of them. A hash that leaves out a part of the key, or that gives one
//! number for many pairs, makes a list of the table.

use super::{GATE, LOOKING, Scan, Unit, candidate};
use crate::Evidence;
use crate::candidate::Candidate;
use crate::causes::runtime;
use crate::walks::{Entries, Spent};
use slowpath_interfaces::{has_chains, searches_bucket};
use slowpath_recording::tables::Loop;
use std::collections::HashMap;

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
/// … of one that begins where a mask or a remainder leads in an array, and goes from item to item …
const CHAINS: &str = "chains";
/// … and of one that goes over the places of a table group by group.
const GROUPS: &str = "groups";
/// … and of one that goes over them one by one, …
const PLACES: &str = "places";
/// … where a look-up in vain goes over (1 + 1 / (1 - load)²) / 2 of them on average: 8.5 in a table that is three quarters full, 50 in one that is nine
/// tenths full. In a fuller one they pile up with the best hash.
const PROBED: f64 = 64.0;
const GOOD_PLACES: f64 = 8.5;
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
    one.work == BUCKETS || is_of_groups(one) || is_of_places(one)
}

/// Whether a loop goes along a chain of a hash table, by its code. It is a list as well, which may be judged as one of many.
pub(super) fn is_of_chain(entries: &Entries<'_>) -> bool {
    // A loop whose rare branches were left out may do something for each item once.
    entries.one_loop.is_some_and(|one| one.work == CHAINS && one.usual != Some(true))
}

fn is_of_groups(one: &Loop) -> bool {
    one.work == GROUPS
}

fn is_of_places(one: &Loop) -> bool {
    one.work == PLACES
}

/// From which length on the hash is at fault.
fn fault(evidence: &Evidence<'_>, entries: &Entries<'_>) -> f64 {
    match entries.one_loop.is_some_and(is_of_bucket) || is_of_chain(entries) {
        true if entries.one_loop.is_some_and(is_of_groups) => GROUPED,
        true if entries.one_loop.is_some_and(is_of_places) => PROBED,
        true => CHAINED,
        false if has_chains(evidence.name(entries.function)) => BY_NAME,
        false => OPEN,
    }
}

/// Loops that go through keys with the same hash, and many of them.
pub(super) fn all<'e, 'a>(
    evidence: &Evidence<'_>,
    entries: &'e [Entries<'a>],
) -> Vec<(&'e Entries<'a>, Candidate)> {
    // A loop in a function that searches compares keys.
    let through_keys = |entries: &Entries<'_>| {
        let known = |one: &Loop| is_of_bucket(one) || one.parent.is_none() && is_of_table(evidence, entries);
        entries.one_loop.is_some_and(known) || is_of_chain(entries)
    };
    let loops = entries.iter().filter(|one| !one.lengths.is_empty() && through_keys(one));
    let loops = loops.map(|one| (one, one.spent(evidence))).collect::<Vec<_>>();
    // One look-up that was inlined into many functions is one: each of its loops may have been looked at too rarely. Every other loop stands for itself.
    let of = |(entries, spent): &(&Entries<'_>, Spent)| {
        let host = evidence.frame(entries.function);
        let own = |stack: u32| evidence.path_to_own(stack, entries.function).0.pop();
        let inlined = spent.stack.and_then(own).filter(|frame| frame.function != host.function);
        let inlined = inlined.filter(|_| !runtime::is_name(&host));
        let alone = inlined.is_none().then_some(entries.walk.walk);
        (entries.walk.process, inlined.map(|frame| (frame.function, frame.module)), alone)
    };
    let mut bursts = HashMap::new();
    for one in &loops {
        *bursts.entry(of(one)).or_insert(0) += one.0.lengths.len();
    }
    let seen = loops.iter().filter(|one| bursts[&of(one)] >= BURSTS);
    seen.filter_map(|(entries, spent)| Some((*entries, judge(evidence, entries, spent)?))).collect()
}

/// A finding, if the look-ups of a loop go through too many keys.
fn judge(evidence: &Evidence<'_>, entries: &Entries<'_>, spent: &Spent) -> Option<Candidate> {
    let (length, chain) = (entries.length(), is_of_chain(entries));
    let looks = spent.looking_ns >= LOOKING * (spent.looking_ns + spent.other_ns);
    let places = entries.one_loop.is_some_and(is_of_places);
    if length < fault(evidence, entries) || (chain || places) && !looks {
        return None;
    }
    let (good, unit) = match entries.one_loop {
        Some(one) if is_of_groups(one) => (GOOD_GROUPS, Unit::Groups),
        Some(one) if is_of_places(one) => (GOOD_PLACES, Unit::Places),
        _ if chain => (GOOD, Unit::Chain),
        _ => (GOOD, Unit::Keys),
    };
    let (at_least, spared) = (entries.is_longer(), 1.0 - good / length);
    if !GATE.may_pass(evidence, spent.cost_ns * spared) {
        return None;
    }
    let scan = Scan { length, unit, at_least, same: None, part: None, lists: None, spared, grows: None };
    candidate(evidence, entries, spent, &scan)
}
