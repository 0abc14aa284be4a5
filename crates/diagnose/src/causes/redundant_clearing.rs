//! A large block of memory is cleared again and again for work that uses little of it: marks of visited nodes for each query, the buckets of a
//! table that was large once, a buffer for each small message.
//!
//! Known from the arguments of `memset` and from what it finds: the block begins, or ends, with what it is filled with. Filling a block is the quickest
//! thing that can be done to it, so where it takes a large part of all time most of the block was not used in between. Pages that the kernel
//! clears belong to `page_fault_churn`.

use super::words::{count, time};
use super::{Find, Needs, Spec, runtime};
use crate::Evidence;
use crate::calls::{Calls, place};
use crate::candidate::Candidate;
use crate::draft::Draft;
use crate::evidence::heaviest;
use crate::findings::{Basis, Confidence, Cost, Fact, Sure};
use crate::gate::{Gate, Whole};
use crate::walks::{self, Entries};
use slowpath_recording::{BEFORE_END, filled_hash};
use std::collections::{BTreeMap, HashSet};

/// See the file's head.
pub(super) const CAUSE: Spec = Spec {
    slug: "redundant-clearing",
    title: "memory is cleared that is clear already",
    symptom: "a large block is set to zero for each item, and little of it is used",
    not_known: "what is in the block between the places that were read",
    page: include_str!("../../../../docs/causes/redundant-clearing.md"),
    needs: &[Needs::Walks],
    find: Find::InRecording(find),
};

/// Large blocks that must have been seen to be cleared again: many small ones may be cleared in between, of each string that is made, say. The time that it
/// takes shows that they are no exceptions.
const SEEN: usize = 3;
/// Of the bytes that are cleared again: share in blocks that begin or end with what they are filled with. Blocks that are used as a whole never do;
/// those of which a little is used, from their start on or somewhere, mostly do.
const CLEAR: f64 = 0.5;
/// To use a byte takes so many times what clearing it does: it is written, and read.
const USES: f64 = 2.0;
/// Since this version of the format the third of a filling function's addresses is [`BEFORE_END`] before the end of its block, or its size where the code did
/// not show that it fills; before, always its size.
const END_SINCE: (u32, u32) = (1, 19);
/// Bytes of a large block: a page. Clearing it takes some 50 ns.
const LARGE: f64 = 4096.0;
/// Share of the clearing that one function of the program must ask for: the arguments do not say who did.
const OF_ONE: f64 = 0.7;
/// Who uses all of a block writes each byte once at least, which takes as long as clearing it, and reads it. So where clearing takes a quarter of
/// all time, a good part of it is of no use.
const GATE: Gate = Gate { share: 0.25, least: 5e6, of: Whole::Cpu };

fn find(evidence: &Evidence<'_>) -> Vec<Candidate> {
    let all = walks::all(evidence);
    let fills = |one: &&Entries<'_>| {
        let frame = evidence.frame(one.function);
        one.one_loop.is_none() && runtime::is_name(&frame) && slowpath_interfaces::fills(&frame.function)
    };
    let calls = Calls::new(evidence);
    all.iter().filter(fills).filter_map(|one| finding(evidence, &calls, one)).collect()
}

/// What the noted entries say of large blocks.
#[derive(Default)]
struct Cleared {
    /// Blocks that had been cleared before, in the same size, and their bytes.
    again: usize,
    bytes: f64,
    /// Those of them that were clear, at their beginning.
    clear: usize,
    bytes_clear: f64,
    /// Of these the bytes of blocks that are so at their end alone: a part of them was used.
    bytes_at_end: f64,
}

impl Cleared {
    /// `end_is_noted`: in place of the size the address of the last bytes, see [`END_SINCE`].
    fn of(entries: &Entries<'_>, end_is_noted: bool) -> Cleared {
        let mut cleared = Cleared::default();
        let mut known: HashSet<(u64, u8, u64)> = HashSet::new();
        for row in entries.bursts.iter().flatten() {
            let Some([block, byte, third]) = row.addresses.first_chunk().copied() else { continue };
            let end = third.saturating_add(BEFORE_END as u64);
            let end_is_noted = end_is_noted && end > block;
            let size = if end_is_noted { end - block } else { third };
            let byte = byte as u8;
            if (size as f64) < LARGE || known.insert((block, byte, size)) {
                continue;
            }
            let is_clear = |content: Option<&u64>| content == Some(&filled_hash(byte));
            let at_start = is_clear(row.contents.first());
            let clear = at_start || end_is_noted && is_clear(row.contents.get(2));
            cleared.again += 1;
            cleared.bytes += size as f64;
            cleared.clear += usize::from(clear);
            cleared.bytes_clear += if clear { size as f64 } else { 0.0 };
            cleared.bytes_at_end += if clear && !at_start { size as f64 } else { 0.0 };
        }
        cleared
    }
}

fn finding(evidence: &Evidence<'_>, calls: &Calls<'_>, entries: &Entries<'_>) -> Option<Candidate> {
    let format = &evidence.recording.about.format;
    let cleared = Cleared::of(entries, (format.major, format.minor) >= END_SINCE);
    let average = cleared.bytes_clear / cleared.clear.max(1) as f64;
    let share = cleared.bytes_clear / cleared.bytes.max(1.0);
    if cleared.clear < SEEN || share < CLEAR {
        return None;
    }
    let tables = &evidence.recording.tables;
    let inside = evidence.stacks_with(|function| function == entries.function);
    let mut askers: BTreeMap<Option<u32>, BTreeMap<u32, f64>> = BTreeMap::new();
    for (sample, weight) in tables.samples.iter().zip(&evidence.weights).filter(|(sample, _)| sample.on_cpu) {
        let Some(stack) = sample.stack.filter(|stack| inside[*stack as usize]) else { continue };
        if evidence.process_of(sample) == entries.walk.process {
            *askers.entry(calls.own_of(stack)).or_default().entry(stack).or_default() += weight;
        }
    }
    let sum = |stacks: &BTreeMap<u32, f64>| stacks.values().sum::<f64>();
    let whole: f64 = askers.values().map(sum).sum();
    let (own, stacks) = askers.iter().max_by(|a, b| sum(a.1).total_cmp(&sum(b.1)))?;
    let cost = sum(stacks);
    // Who uses a byte writes it and reads it: with all the time that is left at most so much of the blocks was used.
    let rest = (evidence.cpu_ns - cost).max(0.0);
    let used = (rest / (USES * cost).max(1.0)).min(1.0);
    let gain = cost * (share - used * cleared.bytes_at_end / cleared.bytes.max(1.0));
    if cost < OF_ONE * whole || !GATE.may_pass(evidence, gain) {
        return None;
    }
    let place = place(evidence, heaviest(stacks), *own, entries.walk.process);
    let draft = Draft {
        explanation: vec![
            format!(
                "{} of {} clearings that were looked at filled a block that began or ended with the same already: about {} bytes each",
                count(cleared.clear as f64),
                count(cleared.again as f64),
                count(super::words::two_digits(average))
            ),
            format!(
                "clearing takes {}, and all other work {}; to write and read all of each block takes about {} times what clearing it does",
                time(cost),
                time(rest),
                USES
            ),
        ],
        related: vec![evidence.frame(entries.function)],
        facts: vec![
            Fact::new("clearings looked at", cleared.again as f64, "calls", "probe", Sure::Exact),
            Fact::new("bytes of a block", average, "bytes", "probe", Sure::Sampled),
            Fact::new("time of clearing", cost, "ns", "samples", Sure::Sampled),
        ],
        advice: "Clear only what was used: keep a list of it, or mark with a number that is one higher for each item. Make the block as large as the \
                 item needs. Replace a container that was large once by a new one"
            .to_owned(),
        ..Draft::new(&CAUSE, CAUSE.title, Confidence::Likely, Cost::new(Basis::Cpu, cost, gain), place)
    };
    Some(draft.candidate(evidence, GATE, entries.walk.process))
}
