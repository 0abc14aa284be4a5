//! Searches in one text, each beginning a little further on than the one before, that take far longer than it takes to go to where the next one begins: such as
//! `src[at..].find("..")` for each number of a file that has no `..`. How far they go is not known, but from the time that it takes.

use super::calls::of_process;
use super::{AGAIN, NOTED, Scan, Unit, candidate};
use crate::Evidence;
use crate::candidate::Candidate;
use crate::causes::runtime;
use crate::walks::{self, Entries};
use slowpath_recording::tables::Beginning;
use slowpath_stats::median;

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
/// Share of the searches that go so far: one of two where each place is looked at twice. A single long one is a search through what comes next.
const OFTEN: f64 = 0.25;

/// From one search to the next one of the same thread, a little further on or at the same place.
struct Pair {
    step: f64,
    ns: f64,
}

/// Which argument says where a search begins.
fn begins(evidence: &Evidence<'_>, function: u32) -> Option<usize> {
    let frame = evidence.frame(function);
    if !runtime::handles_bytes(&frame) {
        return None;
    }
    let name = frame.function.trim_start_matches('_');
    // The C library has variants for kinds of processors: `__strstr_avx512`.
    let is = |known: &str| {
        name.strip_prefix(known).is_some_and(|rest| rest.is_empty() || rest.starts_with(['_', '@']))
    };
    SEARCHES.iter().find(|(known, _)| is(known)).map(|(_, at)| *at)
}

/// A finding, if the function is one of these and is called so.
pub(super) fn judge(evidence: &Evidence<'_>, entries: &Entries<'_>) -> Option<Candidate> {
    let at = begins(evidence, entries.function)?;
    // It uses its CPU time while it is looked at. A buffer that is filled again is another text.
    if entries.noted() < NOTED || entries.each_ns().is_empty() || walks::is_refilled(evidence, entries) {
        return None;
    }
    let all: usize = entries.bursts.iter().map(|burst| burst.len().saturating_sub(1)).sum();
    let step = |pair: &[&Beginning]| {
        let [from, next] = [pair[0], pair[1]].map(|row| row.addresses.get(at).copied().unwrap_or(0));
        let step = next.checked_sub(from).filter(|step| *step <= STEP && pair[0].thread == pair[1].thread)?;
        Some(Pair { step: step as f64, ns: entries.between(pair[0], pair[1]) })
    };
    let pairs: Vec<Pair> =
        entries.bursts.iter().flat_map(|burst| burst.windows(2)).filter_map(step).collect();
    let bytes: f64 = pairs.iter().map(|pair| pair.step).sum();
    if (pairs.len() as f64) < AGAIN * all as f64 || bytes == 0.0 {
        return None;
    }
    let spent = entries.spent(evidence);
    let within = (spent.cost_ns / of_process(evidence, entries).max(1.0)).min(1.0);
    let step = bytes / pairs.len() as f64;
    let length = |ns: f64| ns * within / BYTE_NS;
    let far: Vec<f64> =
        pairs.iter().map(|pair| pair.ns).filter(|ns| length(*ns) >= LONG.max(FURTHER * step)).collect();
    if (far.len() as f64) < OFTEN * pairs.len() as f64 {
        return None;
    }
    let (far_ns, all_ns) = (far.iter().sum::<f64>(), pairs.iter().map(|pair| pair.ns).sum::<f64>());
    let length = length(median(&far)?);
    let scan = Scan {
        length,
        unit: Unit::Rest,
        at_least: true,
        same: None,
        part: None,
        lists: None,
        spared: far_ns / all_ns.max(1.0) * (1.0 - step / length),
        grows: None,
    };
    candidate(evidence, entries, &spent, &scan)
}
