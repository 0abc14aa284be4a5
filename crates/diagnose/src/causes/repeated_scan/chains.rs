//! Many lists, each of which is searched again and again, and each of which is long: the buckets of a hash table that has too few of them, the
//! parents of sets that are joined without making their ways shorter.
//!
//! No list is searched twice in a row, so where one burst of searches begins says little. How many lists there are follows from how often two
//! searches of the whole run begin at the same item.

use super::calls::{MOST, of_process};
use super::{GATE, INDEX_NS, LENGTH, LOOKING, NOTED, Scan, Unit, candidate};
use crate::Evidence;
use crate::candidate::Candidate;
use crate::walks::{self, Entries, LOWEST_ADDRESS};
use slowpath_recording::tables::Loop;
use std::collections::HashMap;

/// Pairs of searches that begin at the same item, before it is known how many lists there are: the number of pairs has about a Poisson
/// distribution, so that 16 are within half and twice the true number with 99 %.
const PAIRS: f64 = 16.0;
/// Searches of each list: going through its items so often costs more than any index that is made of them.
const TIMES: f64 = 64.0;
/// Bursts of beginnings and of lengths: the lists of one moment may be others than those of the run.
const BURSTS: usize = 3;
const WALKS: [&str; 2] = ["walks", "chains"];

/// How many lists there are, and how often each is searched in the run.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Lists {
    pub different: f64,
    pub times: f64,
}

/// A finding, if the loop goes from item to item, and each of its lists is long and searched often.
pub(super) fn judge(evidence: &Evidence<'_>, entries: &Entries<'_>) -> Option<Candidate> {
    // A loop whose rare branches were left out may do something for each item once.
    let follows = |one: &Loop| {
        WALKS.contains(&one.work.as_str()) && one.chases == Some(true) && one.usual != Some(true)
    };
    let of_lists = !entries.walk.strides.is_empty() && entries.walk.strides.iter().all(|stride| *stride == 0);
    let length = entries.length();
    let seen = entries.bursts.len() >= BURSTS && entries.lengths.len() >= BURSTS;
    if !entries.one_loop.is_some_and(follows)
        || !of_lists
        || !seen
        || entries.noted() < NOTED
        || !entries.are_as_long_as(LENGTH)
    {
        return None;
    }
    if walks::is_refilled(evidence, entries) {
        return None;
    }
    // Bursts are taken while it is busy.
    let searches = entries.rate * of_process(evidence, entries) / 1e9;
    let different = different(entries)?;
    let lists = Lists { different, times: searches / different };
    let spent = entries.spent(evidence);
    // At the address of a list that is gone there may be another one. Making its items takes several times what going through them takes: where this is most of
    // what is done, each is gone through several times.
    if lists.times < TIMES || spent.cost_ns < MOST * of_process(evidence, entries) {
        return None;
    }
    if spent.looking_ns < LOOKING * (spent.looking_ns + spent.other_ns) {
        return None;
    }
    let each_ns = spent.cost_ns / searches;
    let spared = (1.0 - INDEX_NS / each_ns).max(0.0);
    if !GATE.may_pass(evidence, spent.cost_ns * spared) {
        return None;
    }
    let at_least = entries.is_longer();
    let scan = Scan {
        length,
        unit: Unit::Items,
        at_least,
        same: None,
        part: None,
        lists: Some(lists),
        spared,
        grows: None,
    };
    candidate(evidence, entries, &spent, &scan)
}

/// How many items searches begin at, as if each were as likely as the others: the number of pairs of searches over that of equal pairs (the
/// inverse of Simpson's index). None if there are too few equal ones.
///
/// Only pairs from different bursts count: a list that is made for one task may be searched twice in a row, and never again.
fn different(entries: &Entries<'_>) -> Option<f64> {
    let pairs = |number: f64| number * (number - 1.0) / 2.0;
    let mut whole: HashMap<u64, f64> = HashMap::new();
    let (mut all, mut within, mut equal_within) = (0.0, 0.0, 0.0);
    for burst in &entries.bursts {
        let mut begins: HashMap<u64, f64> = HashMap::new();
        let heads = burst.iter().filter_map(|row| row.addresses.first());
        heads
            .filter(|address| **address >= LOWEST_ADDRESS)
            .for_each(|address| *begins.entry(*address).or_default() += 1.0);
        let number: f64 = begins.values().sum();
        all += number;
        within += pairs(number);
        equal_within += begins.values().map(|times| pairs(*times)).sum::<f64>();
        begins.into_iter().for_each(|(address, times)| *whole.entry(address).or_default() += times);
    }
    let equal = whole.values().map(|times| pairs(*times)).sum::<f64>() - equal_within;
    (equal >= PAIRS).then(|| (pairs(all) - within) / equal)
}
