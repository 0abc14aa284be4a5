//! The same data is copied again and again, as a whole: a list is passed by value, a configuration cloned for each request, where a reference
//! would do.
//!
//! Which functions make copies is listed in the crate `slowpath-interfaces`. Two calls copy the same if the data is at the same
//! place and begins the same; the earlier call must be shortly before. Whoever asks for the copy is guilty, not the function that makes it. Bytes
//! that are copied count where there are many, and where memory is allocated for them besides: into memory of its own a program may copy what
//! it then changes, such as the start of a search. The C library's own buffers are left alone.

mod dropped;
mod fates;
mod freeing;
mod unchanged;

use super::words::{count, time};
use super::{Find, Needs, Spec, allocators, runtime};
use crate::Evidence;
use crate::candidate::Candidate;
use crate::draft::Draft;
use crate::evidence::heaviest;
use crate::findings::{Basis, Confidence, Cost, Fact, Frame, Sure};
use crate::gate::Gate;
use crate::walks::{self, Entries, LOWEST_ADDRESS};
use slowpath_interfaces::{Copied, copied, copies_objects};
use slowpath_recording::tables::Beginning;
use std::collections::{BTreeMap, HashMap, HashSet};

/// See the file's head.
pub(super) const CAUSE: Spec = Spec {
    slug: "redundant-copy",
    title: "the same data is copied again and again",
    symptom: "a list is passed by value, a configuration cloned for each request",
    not_known: "whether the copies are needed because one of the two is changed later",
    page: include_str!("../../../../../docs/causes/redundant-copy.md"),
    needs: &[Needs::Samples],
    find: Find::InRecording(find),
};

/// A copy may be wanted, to be changed: only where it takes a fifth is it worth asking.
const GATE: Gate = Gate { share: 0.20, ..Gate::TENTH_OF_CPU };
/// Calls that must have been looked at: half of a burst.
const NOTED: usize = 32;
/// Bursts of them: in three it is more than what happened once, as when the program began.
const SEEN: usize = 3;
/// Share of a function's copies that one caller must ask for: in a burst it is not known who calls.
const ALONE: f64 = 0.8;
/// Share of the calls (of the bytes) that must copy what one shortly before copied. The rest is left for data that changes now and then.
const AGAIN: f64 = 0.9;
/// Fewer bytes are a field, not a list: copying them takes as long as a look into an index.
const BYTES: u64 = 1_024;
/// Share of the copying that allocating memory for it takes at least: for a megabyte it is a page fault for each 4 KiB, for a few KiB some
/// 50 ns beside 200.
const ALLOCATED: f64 = 0.01;

/// Copies of one function that were looked at.
#[derive(Debug, Clone, Copy)]
struct Looked {
    what: Copied,
    noted: usize,
    again: f64,
    /// Bytes a call on average, where they are known.
    bytes: f64,
}

/// Time in copies that one function asks for, and in allocating memory for them, ns.
#[derive(Default)]
struct Spent {
    ns: f64,
    allocating_ns: f64,
    stacks: BTreeMap<u32, f64>,
    /// By the function that copies.
    functions: BTreeMap<u32, f64>,
    /// Who calls the one that asks.
    callers: HashSet<u32>,
}

fn find(evidence: &Evidence<'_>) -> Vec<Candidate> {
    let kinds = Kinds::of(evidence);
    let mut found = of_the_same(evidence, &kinds);
    // That it is the same data says more than that it is dropped.
    let dropped = dropped::find(evidence, &kinds).into_iter();
    let is_known = |one: &Candidate| {
        found.iter().any(|other| (other.process, other.function()) == (one.process, one.function()))
    };
    let dropped: Vec<Candidate> = dropped.filter(|one| !is_known(one)).collect();
    found.extend(dropped);
    found
}

/// Copies of what was copied shortly before.
fn of_the_same(evidence: &Evidence<'_>, kinds: &Kinds) -> Vec<Candidate> {
    let entries = walks::all(evidence);
    let functions = entries.iter().filter(|one| one.one_loop.is_none());
    let looked: HashMap<(u32, u32), Looked> = functions
        .filter_map(|one| Some(((one.walk.process, one.function), looked_at(evidence, one)?)))
        .collect();
    if looked.is_empty() {
        return Vec::new();
    }
    let mut spent: BTreeMap<(u32, u32), Spent> = BTreeMap::new();
    let tables = &evidence.recording.tables;
    for (sample, weight) in tables.samples.iter().zip(&evidence.weights).filter(|(sample, _)| sample.on_cpu) {
        let (Some(stack), process) = (sample.stack, evidence.process_of(sample)) else { continue };
        // Page faults of memory that was just allocated are part of copying.
        let of_program = |at: &u32| tables.locations[*at as usize].kind != "kernel";
        let locations = evidence.locations(stack).filter(of_program);
        let functions: Vec<u32> = locations.filter_map(|at| evidence.function_at(at)).collect();
        // What a copy copies is part of it.
        let copy = functions.iter().rposition(|function| looked.contains_key(&(process, *function)));
        let Some(asker) = kinds.asker(&functions[copy.map_or(0, |at| at + 1)..]) else { continue };
        let of_asker = spent.entry((process, asker)).or_default();
        match copy {
            Some(at) => {
                of_asker.ns += weight;
                let behind = functions.iter().skip_while(|function| **function != asker);
                of_asker.callers.extend(behind.copied().find(|function| *function != asker));
                *of_asker.stacks.entry(stack).or_default() += weight;
                *of_asker.functions.entry(functions[at]).or_default() += weight;
            }
            None if functions.iter().any(|function| kinds.allocates[*function as usize]) => {
                of_asker.allocating_ns += weight;
            }
            None => {}
        }
    }
    let mut whole: HashMap<(u32, u32), f64> = HashMap::new();
    for ((process, _), spent) in &spent {
        for (function, ns) in &spent.functions {
            *whole.entry((*process, *function)).or_default() += ns;
        }
    }
    let of = |((process, asker), spent): (&(u32, u32), &Spent)| {
        // Whose calls were looked at is not known.
        let (function, ns) = spent.functions.iter().max_by(|a, b| a.1.total_cmp(b.1))?;
        if *ns < ALONE * whole[&(*process, *function)] {
            return None;
        }
        let what = looked[&(*process, *function)];
        // Bytes are copied into blocks, which stay or go for reasons of their own.
        let freeing_ns = if what.what == Copied::Bytes {
            0.0
        } else {
            let near = spent.callers.iter().copied().chain([*asker]).collect();
            let copy = |_, function| looked.contains_key(&(*process, function));
            freeing::with_copies(evidence, kinds, (*process, *asker), &near, copy)
        };
        finding(evidence, (*process, *asker), spent, freeing_ns, (*function, what))
    };
    spent.iter().filter_map(of).collect()
}

/// What was seen of the calls of a function, if it makes copies, and of the same data again and again.
fn looked_at(evidence: &Evidence<'_>, entries: &Entries<'_>) -> Option<Looked> {
    let what = copied(evidence.name(entries.function))?;
    let noted = entries.noted();
    let (mut again, mut all, mut bytes) = (0.0, 0.0, 0.0);
    for burst in &entries.bursts {
        let mut known = HashSet::new();
        for (at, row) in burst.iter().enumerate() {
            let size = if what == Copied::Bytes { row.addresses.get(2).copied().unwrap_or(0) } else { 1 };
            let enough = what != Copied::Bytes || size >= BYTES;
            let same = key(what, row).is_some_and(|key| !known.insert(key));
            bytes += size as f64;
            // The first of a burst has none before it.
            if at > 0 {
                all += size as f64;
                again += if same && enough { size as f64 } else { 0.0 };
            }
        }
    }
    let again = if all > 0.0 { again / all } else { 0.0 };
    let looked = Looked { what, noted, again, bytes: bytes / noted.max(1) as f64 };
    (noted >= NOTED
        && entries.bursts.len() >= SEEN
        && again >= AGAIN
        && !walks::is_refilled(evidence, entries))
    .then_some(looked)
}

/// What tells what is copied from anything else; none where that cannot be read. Of objects all that was noted must be the same: where the copy
/// goes, if that is said, what is copied, and what its first words lead to.
fn key(what: Copied, row: &Beginning) -> Option<Vec<u64>> {
    let value = |of: &[u64], at: usize| of.get(at).copied().unwrap_or(0);
    let from = match what {
        Copied::Bytes | Copied::Returned => 1,
        Copied::Object(_) => 0,
    };
    let (address, content) = (value(&row.addresses, from), value(&row.contents, from));
    if address < LOWEST_ADDRESS || content == 0 {
        return None;
    }
    Some(match what {
        Copied::Bytes => vec![address, content, value(&row.addresses, 2)],
        // What was where the copy goes does not matter.
        Copied::Returned => row.addresses.iter().chain(&row.contents[from..]).copied().collect(),
        Copied::Object(_) => row.addresses.iter().chain(&row.contents).copied().collect(),
    })
}

/// What is asked of functions, again and again.
struct Kinds {
    copies: Vec<bool>,
    /// … as a whole, or what is in a container.
    copies_objects: Vec<bool>,
    allocates: Vec<bool>,
    frees: Vec<bool>,
    runtime: Vec<bool>,
    /// The C library's own work, such as filling a buffer.
    of_libc: Vec<bool>,
}

impl Kinds {
    fn of(evidence: &Evidence<'_>) -> Kinds {
        let frames = || (0..evidence.recording.tables.functions.len() as u32).map(|at| evidence.frame(at));
        let in_libc =
            |module: &str| ["libc.", "libc-", "ld-musl"].iter().any(|start| module.starts_with(start));
        Kinds {
            copies: frames().map(|frame| copied(&frame.function).is_some()).collect(),
            copies_objects: frames().map(|frame| copies_objects(&frame.function)).collect(),
            allocates: frames().map(|frame| allocators::is_allocator(&frame)).collect(),
            frees: frames().map(|frame| allocators::frees(&frame)).collect(),
            runtime: frames().map(|frame| runtime::is_name(&frame)).collect(),
            of_libc: frames()
                .map(|frame| in_libc(&frame.module) && !runtime::handles_bytes(&frame))
                .collect(),
        }
    }

    /// The function of the program that asks, given those around a copy, innermost first; none where the C library copies for itself.
    fn asker(&self, around: &[u32]) -> Option<u32> {
        let passes =
            |at: usize| self.copies[at] || self.allocates[at] || self.runtime[at] && !self.of_libc[at];
        let first = around.iter().copied().find(|function| !passes(*function as usize))?;
        (!self.of_libc[first as usize]).then_some(first)
    }
}

/// Whether a frame's function asks for a copy, and makes none itself.
fn asks(frame: &Frame) -> bool {
    !runtime::is_name(frame) && copied(&frame.function).is_none()
}

fn finding(
    evidence: &Evidence<'_>,
    (process, asker): (u32, u32),
    spent: &Spent,
    freeing_ns: f64,
    (function, looked): (u32, Looked),
) -> Option<Candidate> {
    let Looked { what, noted, again, bytes } = looked;
    let cost = (spent.ns + freeing_ns).min(evidence.cpu_ns);
    let gain = cost * again;
    if what == Copied::Bytes && spent.allocating_ns < ALLOCATED * spent.ns || !GATE.may_pass(evidence, gain) {
        return None;
    }
    let stack = heaviest(&spent.stacks);
    let frame = evidence.frame(function);
    let (share, calls) = (format!("{:.0} %", 100.0 * again), count(noted as f64));
    let mut explanation = vec![match what {
        Copied::Bytes => format!(
            "of the bytes that {calls} calls of {} copied, {share} had been copied from the same place shortly before; {} bytes a call on \
             average",
            frame.function,
            count(bytes)
        ),
        _ => format!(
            "{share} of {calls} calls of {} that were looked at copied the same as one shortly before",
            frame.function
        ),
    }];
    let (besides, compared) = match what {
        Copied::Bytes => {
            (", without allocating memory for it".to_owned(), "how the data begins was compared")
        }
        _ => (
            format!(", and freeing the copies about {}", time(freeing_ns)),
            "how the data and its first items begin was compared",
        ),
    };
    explanation.push(format!("copying took {} of CPU time{besides}", time(spent.ns)));
    explanation.push(format!("{compared}; where a copy is not changed, a reference to the original will do"));
    let mut facts = vec![
        Fact::new("calls looked at", noted as f64, "calls", "probe", Sure::Exact),
        Fact::new("share that repeats one", again, "ratio", "probe", Sure::Sampled),
        Fact::new("time in copies", spent.ns, "ns", "samples", Sure::Sampled),
        Fact::new("time freeing copies", freeing_ns, "ns", "samples", Sure::Fitted),
    ];
    if what == Copied::Bytes {
        facts.push(Fact::new("bytes a copy", bytes, "bytes", "probe", Sure::Sampled));
    }
    let draft = Draft {
        explanation,
        related: vec![frame],
        facts,
        advice: "Pass a reference or a shared pointer, or a part of it; copy once and keep the copy, or copy only what is changed"
            .to_owned(),
        ..Draft::new(
            &CAUSE,
            CAUSE.title,
            // Of bytes only the first are compared: a field that is copied at each step may have changed behind them.
            if what == Copied::Bytes { Confidence::Hint } else { Confidence::Likely },
            Cost::new(Basis::Cpu, cost, gain),
            evidence.place(stack, asker, process, asks),
        )
    };
    Some(draft.candidate(evidence, GATE, process))
}
