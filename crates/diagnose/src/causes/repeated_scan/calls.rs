//! A function of the program that only counts or compares what is there, such as one that finds the line of a position by counting from the
//! start of the text: it is called with the same data again and again, and each time takes long.
//!
//! Nothing is known of how far it goes, but it stores nothing and takes long: so it is asked for something that it, or an index, could have
//! kept. A number that it is given besides, such as a position or a key, differs. Where it is asked the very same each time (the cost of a tour, the
//! checksum of a frame), something behind the first bytes has changed: that is left alone.

use super::{AGAIN, AGAIN_OF_TIME, LOOKING, NOTED, OF_ALL_BURSTS, Scan, Unit, at_least_again, candidate};
use crate::Evidence;
use crate::candidate::Candidate;
use crate::causes::runtime;
use crate::walks::{self, Entries, HITS, LOWEST_ADDRESS, Repeats};
use slowpath_recording::tables::Beginning;
use slowpath_stats::median;
use std::collections::{HashMap, HashSet};

/// From so many ns on a call goes through much: the way down a tree of 64 levels, each a miss of the caches at 200 ns, takes less.
const LONG_NS: f64 = 20_000.0;
/// Share of the CPU time of its process that it must have: what passes from one call to the next is theirs only where hardly anything else is
/// done.
pub(super) const MOST: f64 = 0.7;

/// A finding, if the function only reads and is called so.
pub(super) fn judge(evidence: &Evidence<'_>, entries: &Entries<'_>) -> Option<Candidate> {
    // The time to the next entry of one that calls itself is not that of the call.
    if entries.walk.arguments.is_some() {
        return None;
    }
    let own = !runtime::is_name(&evidence.frame(entries.function));
    if !own || !walks::readers(evidence).contains(&entries.function) || entries.noted() < NOTED {
        return None;
    }
    let seen = Seen::of(entries);
    if !entries.is_on_cpu(seen.cpu_ns, seen.elapsed_ns) || walks::is_refilled(evidence, entries) {
        return None;
    }
    let spent = entries.spent(evidence);
    let (mostly, of_long) = (median(&seen.shares)?, median(&seen.of_long)?);
    let of_time = at_least_again(evidence, entries, &spent, mostly);
    // Short calls besides, for which noting them takes a part of the time.
    if mostly < AGAIN && (of_long < AGAIN || of_time < AGAIN_OF_TIME) {
        return None;
    }
    // Bursts of other calls limit what is spared; what interrupts some of them says nothing.
    let in_all = seen.repeated_ns / seen.elapsed_ns.max(1.0);
    if in_all < OF_ALL_BURSTS {
        return None;
    }
    let part = (mostly < AGAIN).then_some(of_time);
    let of_bursts = if in_all < AGAIN { in_all } else { 1.0 };
    if spent.cost_ns < MOST * of_process(evidence, entries) {
        return None;
    }
    if spent.looking_ns < LOOKING * (spent.looking_ns + spent.other_ns) {
        return None;
    }
    let scan = Scan {
        length: seen.repeated_ns / seen.long.repeated.max(1) as f64,
        unit: Unit::Ns,
        at_least: false,
        same: Some(seen.long),
        part,
        lists: None,
        spared: part.unwrap_or(1.0).min(seen.long.share()).min(of_bursts),
        grows: None,
    };
    candidate(evidence, entries, &spent, &scan)
}

/// CPU time of the process of a walk, ns.
pub(super) fn of_process(evidence: &Evidence<'_>, entries: &Entries<'_>) -> f64 {
    let samples = evidence.recording.tables.samples.iter().zip(&evidence.weights);
    let of_it = samples.filter(|(sample, _)| evidence.process_of(sample) == entries.walk.process);
    of_it.map(|(_, weight)| weight).sum()
}

/// What the bursts show.
#[derive(Default)]
struct Seen {
    /// From each entry to the next, ns; and of those from long calls that repeat another.
    elapsed_ns: f64,
    repeated_ns: f64,
    /// The part of `elapsed_ns` in which the thread was on a CPU.
    cpu_ns: f64,
    /// Of each burst the part of `elapsed_ns` that is in `repeated_ns`: what interrupts one says nothing of the others.
    shares: Vec<f64>,
    /// … and of the time of long calls.
    of_long: Vec<f64>,
    long_ns: f64,
    /// Of the long ones.
    long: Repeats,
}

impl Seen {
    fn of(entries: &Entries<'_>) -> Seen {
        let mut seen = Seen::default();
        for burst in &entries.bursts {
            let mut begun = false;
            let before = (seen.elapsed_ns, seen.repeated_ns, seen.long_ns);
            // How long the last one of a burst took is not known.
            for (pair, again) in burst.windows(2).zip(asked_again(burst)) {
                let took = entries.between(pair[0], pair[1]);
                let one_thread = pair[0].thread == pair[1].thread;
                // CPU times of two threads have nothing in common.
                if entries.hit_ns.is_some() && !one_thread {
                    continue;
                }
                let least = LONG_NS + entries.hit_ns.map_or(0.0, |ns| HITS * ns);
                let long = took >= least && one_thread;
                // The first long one of a burst has none before it.
                if long && !std::mem::replace(&mut begun, true) {
                    continue;
                }
                seen.elapsed_ns += took;
                let cpu_ns = pair[1].cpu_ns.saturating_sub(pair[0].cpu_ns) as f64;
                seen.cpu_ns += if one_thread { cpu_ns } else { 0.0 };
                if long {
                    seen.long.of += 1;
                    seen.long_ns += took;
                    seen.long.repeated += usize::from(again);
                    seen.repeated_ns += if again { took } else { 0.0 };
                }
            }
            let (elapsed, repeated) = (seen.elapsed_ns - before.0, seen.repeated_ns - before.1);
            seen.shares.push(repeated / elapsed.max(1.0));
            seen.of_long.push(repeated / (seen.long_ns - before.2).max(1.0));
        }
        seen
    }
}

/// What a call is given: readable data, and numbers.
type Given = (Vec<(u64, u64)>, Vec<u64>);

/// Calls with the same data, and the numbers that they are given besides.
type Numbers<'a> = (usize, HashSet<&'a [u64]>);

fn given(row: &Beginning) -> Given {
    let arguments = row.addresses.iter().copied().zip(row.contents.iter().copied());
    let (data, rest): (Vec<_>, Vec<_>) =
        arguments.partition(|(at, content)| *at >= LOWEST_ADDRESS && *content != 0);
    (data, rest.into_iter().map(|(number, _)| number).collect())
}

/// Of the calls that are given the same data in a burst so many must have numbers of their own: two or three in a row may well ask the same.
const DIFFERENT: f64 = 0.25;

/// Which calls of a burst are given the same readable data as one before them, with which many numbers are given in it.
fn asked_again(burst: &[&Beginning]) -> Vec<bool> {
    let given: Vec<Given> = burst.iter().map(|row| given(row)).collect();
    let mut numbers: HashMap<&[(u64, u64)], Numbers<'_>> = HashMap::new();
    for (data, with) in given.iter().filter(|(data, _)| !data.is_empty()) {
        let (calls, different) = numbers.entry(data).or_default();
        *calls += 1;
        different.insert(with);
    }
    let differ = |(calls, different): &Numbers<'_>| {
        different.len() > 1 && different.len() as f64 >= DIFFERENT * *calls as f64
    };
    let mut known = HashSet::new();
    let mut again = Vec::with_capacity(burst.len());
    for (data, _) in &given {
        let differ = numbers.get(data.as_slice()).is_some_and(differ);
        again.push(!known.insert(data.as_slice()) && differ);
    }
    again
}
