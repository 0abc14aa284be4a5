//! Searches in one text, each beginning a little further on than the one before, that take far longer than it takes to go to where the next one begins: such as
//! `src[at..].find("..")` for each number of a file that has no `..`. How far they go is not known, but from the time that it takes.

use super::calls::of_process;
use super::{AGAIN, NOTED, Scan, Unit, candidate};
use crate::Evidence;
use crate::candidate::Candidate;
use crate::walks::Entries;

/// How the names of functions that search forward begin, and which of their arguments says where.
const SEARCHES: [(&str, usize); 10] = [
    ("strstr", 0),
    ("memmem", 0),
    ("memchr", 0),
    ("strchr", 0),
    ("strpbrk", 0),
    ("strcspn", 0),
    ("core::str::pattern::TwoWaySearcher::next", 2),
    ("core::slice::memchr::memchr_aligned", 1),
    ("memchr::arch::x86_64::memchr::memchr_raw::find_avx2", 1),
    ("memchr::arch::x86_64::memchr::memchr_raw::find_sse2", 1),
];
/// A byte takes so many ns at most: Rust's search for a text of two letters took 1.1, and 0.05 to 1 is usual.
const BYTE_NS: f64 = 4.0;
/// A step to the next search of so many bytes at most is one within a text.
const STEP: u64 = 4096;
/// How many times as far as the next step a search must go, at least, as that of copies of what is left (`superlinear_work`); and bytes.
const FURTHER: f64 = 64.0;
const LONG: f64 = 1024.0;

/// A finding, if the function is one of these and is called so.
pub(super) fn judge(evidence: &Evidence<'_>, entries: &Entries<'_>) -> Option<Candidate> {
    let frame = evidence.frame(entries.function);
    let name = frame.function.trim_start_matches('_');
    let (_, at) = SEARCHES.iter().find(|(known, _)| {
        name.strip_prefix(known).is_some_and(|rest| !rest.starts_with(|c: char| c.is_ascii_alphanumeric()))
    })?;
    // It uses its CPU time while it is looked at.
    if entries.noted() < NOTED || entries.each_ns().is_empty() {
        return None;
    }
    let (mut pairs, mut on, mut bytes, mut ns) = (0, 0, 0, 0.0);
    for pair in entries.bursts.iter().flat_map(|burst| burst.windows(2)) {
        let [from, next] = [pair[0], pair[1]].map(|row| row.addresses.get(*at).copied().unwrap_or(0));
        pairs += 1;
        ns += entries.between(pair[0], pair[1]);
        // Now and then a token was looked at once more.
        if from.abs_diff(next) <= STEP && pair[0].thread == pair[1].thread {
            on += 1;
            bytes += next.saturating_sub(from);
        }
    }
    if f64::from(on) < AGAIN * f64::from(pairs) || bytes == 0 {
        return None;
    }
    let spent = entries.spent(evidence);
    let within = (spent.cost_ns / of_process(evidence, entries).max(1.0)).min(1.0);
    let (step, length) = (bytes as f64 / f64::from(on), ns / f64::from(pairs) * within / BYTE_NS);
    if length < LONG || length < FURTHER * step {
        return None;
    }
    let scan = Scan {
        length,
        unit: Unit::Rest,
        at_least: true,
        same: None,
        part: None,
        lists: None,
        spared: 1.0 - step / length,
        grows: None,
    };
    candidate(evidence, entries, &spent, &scan)
}
