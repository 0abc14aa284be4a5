//! The same data is searched again and again: a loop that only reads and compares begins at the same place each time, finds the same there,
//! and goes through many items until it finds one. An index, a map, or a position that is kept, would do.
//!
//! - `texts` — the same for the C library's functions that go through a text, which have no loop of the program's.
//! - this file — loops, and the finding.
//!
//! It needs no growth: where a walk begins is known exactly, from probes at its entry, so growth that starts anew with each document is
//! found like a list that never changes. What begins elsewhere each time (chains of a hash table, matches of a compressor, the rest of a
//! text), what calculates or stores, and short walks are none.

mod texts;

use super::words::{count, two_digits};
use super::{Find, Needs, SUPERLINEAR_WORK, Spec, runtime, superlinear_work};
use crate::Evidence;
use crate::calls::{READS, RECEIVES};
use crate::candidate::Candidate;
use crate::draft::Draft;
use crate::findings::{Basis, Confidence, Cost, Fact, Place, Sure};
use crate::gate::Gate;
use crate::walks::{self, Entries, Spent};
use std::collections::HashSet;

/// See the file's head.
pub const CAUSE: Spec = Spec {
    slug: "repeated-scan",
    title: "the same data is searched again and again",
    symptom: "a search begins at the same place each time and goes through many items",
    page: include_str!("../../../../../docs/causes/repeated-scan.md"),
    needs: &[Needs::Walks],
    find: Find::InRecording(find),
};

/// What is searched and how is to be thought over.
const GATE: Gate = Gate::TENTH_OF_CPU;
/// Entries that must have been noted: half of a burst.
const NOTED: usize = 32;
/// Share of the entries that must begin where one before them did. The rest is left for data that changes now and then: an item that was put
/// in front, a list of the next document.
const AGAIN: f64 = 0.9;
/// Where each walk begins a little further on: the memory that a burst goes through must be gone through by so much of its walks, on
/// average. A quarter of 64 walks is 16 times.
const OVERLAP: f64 = 0.25;
const BURST: f64 = 64.0;
/// Items a walk from which on an index is worth while. Below, going through them costs about as much as one look into a hash table, and
/// chains of hash tables, words of a language and fields of a record stay below.
const LENGTH: f64 = 64.0;
/// What a look into an index costs, in items gone through.
const INDEX: f64 = 16.0;
/// The loop and what it calls must read and compare for this share of its time.
const LOOKING: f64 = 0.8;
/// A buffer may be filled anew for each walk with something that begins alike: with so many reads a walk that cannot be excluded.
const READS_A_WALK: f64 = 0.25;

fn find(evidence: &Evidence<'_>) -> Vec<Candidate> {
    let entries = walks::all(evidence);
    let loops = entries.iter().filter(|one| one.one_loop.is_some()).filter_map(|one| in_loop(evidence, one));
    let texts =
        entries.iter().filter(|one| one.one_loop.is_none()).filter_map(|one| texts::judge(evidence, one));
    // A loop in a loop, both searching: the one that costs more holds the other.
    let mut found: Vec<Candidate> = loops.chain(texts).collect();
    found.sort_by_key(|one| std::cmp::Reverse(one.finding.cost.amount()));
    let mut known = HashSet::new();
    found.retain(|one| known.insert((one.process, one.function().0.to_owned(), one.function().1.to_owned())));
    found
}

/// A search that is repeated over data which grows with it shows both causes. How it grows says more, if that was seen; a fall, as where
/// each document begins anew, says less than where the searches begin.
pub(super) fn settle(found: &mut Vec<Candidate>) {
    let is = |one: &Candidate, spec: &Spec| one.finding.cause == spec.cause();
    let functions = |which: &dyn Fn(&Candidate) -> bool| -> HashSet<(String, String)> {
        let owned = |one: &Candidate| (one.function().0.to_owned(), one.function().1.to_owned());
        found.iter().filter(|one| which(one)).map(owned).collect()
    };
    let scans = functions(&|one| is(one, &CAUSE));
    let growing = functions(&|one| is(one, &SUPERLINEAR_WORK) && !superlinear_work::falls(&one.finding));
    let among = |one: &Candidate, known: &HashSet<(String, String)>| {
        known.iter().any(|(function, module)| (function.as_str(), module.as_str()) == one.function())
    };
    found.retain(|one| match one {
        one if is(one, &CAUSE) => !among(one, &growing),
        one if is(one, &SUPERLINEAR_WORK) => among(one, &growing) || !among(one, &scans),
        _ => true,
    });
}

/// What was found of a walk.
struct Scan {
    /// Items, or bytes, that each goes through on average; none where that is not known.
    length: f64,
    /// What they are.
    of: &'static str,
    /// The walks were longer than could be counted.
    at_least: bool,
    /// Share of the searches that another one had made before.
    again: f64,
    /// Each begins a little further on than the one before.
    moves_on: bool,
}

fn in_loop(evidence: &Evidence<'_>, entries: &Entries<'_>) -> Option<Candidate> {
    let length = entries.length();
    let (same, overlap) = (entries.again(usize::MAX, false), entries.overlap());
    let moves_on = same < AGAIN;
    if entries.noted() < NOTED
        || moves_on && overlap < OVERLAP
        || length < LENGTH
        || is_filled_anew(evidence, entries)
    {
        return None;
    }
    let again = if moves_on { 1.0 - 1.0 / (overlap * BURST) } else { same };
    let spent = entries.spent(evidence);
    if spent.looking_ns < LOOKING * (spent.looking_ns + spent.other_ns) {
        return None;
    }
    let scan = Scan { length, of: "items", at_least: entries.is_longer(), again, moves_on };
    candidate(evidence, entries, &spent, &scan, 1.0 - INDEX / length)
}

/// Whether a system call puts new content into memory.
fn fills(number: u32) -> bool {
    const PREAD: u32 = 17;
    READS.contains(&number) || RECEIVES.contains(&number) || number == PREAD
}

/// Whether reads of the process are so many that they may fill what is walked over.
fn is_filled_anew(evidence: &Evidence<'_>, entries: &Entries<'_>) -> bool {
    let tables = &evidence.recording.tables;
    let process = &tables.processes[entries.walk.process as usize];
    let of = |thread: u32| tables.threads[thread as usize].process == entries.walk.process;
    let reads = tables.syscalls.iter().filter(|row| fills(row.number) && row.bytes > 0 && of(row.thread));
    let reads: u64 = reads.map(|row| row.count).sum();
    let end = process.end_ns.unwrap_or(evidence.recording.about.start_ns + evidence.recording.about.wall_ns);
    let seconds = end.saturating_sub(process.start_ns) as f64 / 1e9;
    reads as f64 > READS_A_WALK * entries.rate * seconds
}

fn candidate(
    evidence: &Evidence<'_>,
    entries: &Entries<'_>,
    spent: &Spent,
    scan: &Scan,
    saved: f64,
) -> Option<Candidate> {
    let gain = spent.cost_ns * scan.again * saved;
    if !GATE.may_pass(evidence, gain) {
        return None;
    }
    let (path, host) = entries.place(evidence, spent.stack?);
    let frame = path.last().cloned().unwrap_or_else(|| evidence.frame(entries.function));
    let (noted, length) = (entries.noted(), two_digits(scan.length));
    let least = if scan.at_least { "at least " } else { "about " };
    let through = format!("each goes through {least}{} {}", count(length), scan.of);
    let mut explanation = vec![if scan.moves_on {
        format!(
            "{noted} searches were looked at: each begins only a little further on than the one before, and {through}"
        )
    } else {
        format!(
            "{} of {noted} searches that were looked at went through the same data as one shortly before; {through}",
            count((scan.again * noted as f64).round().min(noted as f64)),
        )
    }];
    if let Some(host) = host {
        explanation.push(format!("{} was inlined into {host}", frame.function));
    }
    let called = evidence.frame(entries.function);
    if runtime::is_name(&called) && called.function != frame.function {
        explanation.push(format!("{} does the work", called.function));
    }
    if frame.file.is_none() {
        explanation.push(format!(
            "{} has no line information: build it with -g to see the line. Until then, inlined functions count as part of their caller",
            frame.module
        ));
    }
    let (cost, noted) = (Cost::new(Basis::Cpu, spent.cost_ns, gain), noted as f64);
    let draft = Draft {
        explanation,
        related: vec![called],
        facts: vec![
            Fact::new("searches looked at", noted, "calls", "probe", Sure::Exact),
            Fact::new("share that was made before", scan.again, "ratio", "probe", Sure::Exact),
            Fact::new(&format!("{} a search", scan.of), scan.length, "1", "probe", Sure::Sampled),
        ],
        advice: "Build an index once (a hash table or a sorted array) and look items up in it, or keep the result or the position of the \
                 last search"
            .to_owned(),
        ..Draft::new(&CAUSE, CAUSE.title, Confidence::Certain, cost, Place { frame, path })
    };
    Some(draft.candidate(evidence, GATE, entries.walk.process))
}
