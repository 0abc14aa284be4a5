//! Blocks that grow by a little each time, as lists do to which items are added one by one: each time all that is in one may have to be copied. A list that
//! doubles its memory when it is full copies each item twice at most.
//!
//! Bursts of probes at `realloc` say which size a block had (glibc keeps it right before the block) and which is wanted; samples say what it costs.

use super::asked::{Allocating, Asked, passes};
use super::{CAUSE, NOTED, SEEN};
use crate::Evidence;
use crate::candidate::Candidate;
use crate::causes::words::{count, size, time};
use crate::draft::Draft;
use crate::evidence::heaviest;
use crate::findings::{Basis, Confidence, Cost, Fact, Sure};
use crate::gate::Gate;
use crate::walks::Entries;
use slowpath_interfaces::Memory;
use std::collections::{BTreeMap, HashMap};

/// To grow by a factor is a line.
const GATE: Gate = Gate::TENTH_OF_CPU;
/// A step of a sixteenth at most is little: who grows by a factor takes an eighth (CPython's lists) or more.
const LITTLE: u64 = 16;
/// Blocks from which on it counts: copying less takes as long as the call.
const BYTES: u64 = 512;
/// Share of the bytes in such blocks that must grow by a little.
const MOSTLY: f64 = 0.9;
/// Share of the time in `realloc` that one function must ask for.
const ALONE: f64 = 0.8;
/// Flags in the size of a block, and the one that says that it has pages of its own, which are moved without being copied.
const FLAGS: u64 = 7;
const MAPPED: u64 = 2;
/// What stands between two blocks, bytes.
const HEADER: u64 = 8;
/// No block is larger, bytes: what says so is none of glibc's.
const LARGEST: u64 = 1 << 40;

/// What was seen of the blocks that a process makes larger.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Grown {
    noted: usize,
    /// Bytes in blocks that grew by a little, and in all.
    little: u64,
    bytes: u64,
    /// Bytes in shorter blocks that grew.
    small: u64,
    /// Calls in which the block was large enough.
    fitted: usize,
    strange: usize,
}

impl Grown {
    /// If nearly all of a process's blocks grow by a little.
    pub(super) fn of(entries: &Entries<'_>) -> Option<Grown> {
        let mut grown = Grown::default();
        for row in entries.bursts.iter().flatten() {
            let [wanted, word, ..] = row.addresses[..] else { continue };
            let (usable, flags) = ((word & !FLAGS).saturating_sub(HEADER), word & FLAGS);
            // Freed so, or no block yet, or it could not be read.
            if wanted == 0 || word == 0 {
                continue;
            }
            if word & !FLAGS < 32 || word & 8 != 0 || usable > LARGEST || wanted > LARGEST {
                grown.strange += 1;
            } else if wanted <= usable {
                grown.fitted += 1;
            } else if usable < BYTES {
                grown.small += usable;
            } else if flags & MAPPED == 0 {
                grown.noted += 1;
                grown.bytes += usable;
                if wanted - usable <= usable / LITTLE {
                    grown.little += usable;
                }
            }
        }
        (entries.bursts.len() >= SEEN && grown.is_slow()).then_some(grown)
    }

    fn share(&self) -> f64 {
        self.little as f64 / self.bytes.max(1) as f64
    }

    /// The part of all copying that goes.
    fn spared(&self) -> f64 {
        self.little as f64 / (self.bytes + self.small).max(1) as f64
    }

    /// Whether nearly all grow by a little. The blocks are another allocator's if what stands before them is no size.
    fn is_slow(&self) -> bool {
        let known = self.strange * 10 <= self.noted + self.fitted;
        known && self.noted >= NOTED && self.share() >= MOSTLY
    }
}

/// Time that a function's asking takes, ns.
#[derive(Default)]
struct Spent {
    ns: f64,
    stacks: BTreeMap<u32, f64>,
}

/// Functions that ask for nearly all of what `realloc` does, of processes whose blocks grow by a little.
pub(super) fn find(
    evidence: &Evidence<'_>,
    allocating: &Allocating,
    grown: &HashMap<u32, Grown>,
) -> Vec<Candidate> {
    let moves = |one: &&Asked| one.does == Memory::Moves && grown.contains_key(&one.process);
    let mut spent: BTreeMap<(u32, u32), Spent> = BTreeMap::new();
    for one in allocating.asked.iter().filter(moves) {
        if let Some(asker) = one.around.first() {
            let of_asker = spent.entry((one.process, *asker)).or_default();
            of_asker.ns += one.ns;
            *of_asker.stacks.entry(one.stack).or_default() += one.ns;
        }
    }
    let mut whole: HashMap<u32, f64> = HashMap::new();
    spent.iter().for_each(|((process, _), spent)| *whole.entry(*process).or_default() += spent.ns);
    // Whose blocks were looked at is not known.
    let alone = spent.iter().filter(|((process, _), spent)| spent.ns >= ALONE * whole[process]);
    alone.filter_map(|(at, spent)| finding(evidence, *at, spent, grown[&at.0])).collect()
}

fn finding(
    evidence: &Evidence<'_>,
    (process, asker): (u32, u32),
    spent: &Spent,
    grown: Grown,
) -> Option<Candidate> {
    let gain = spent.ns * grown.spared();
    if !GATE.may_pass(evidence, gain) {
        return None;
    }
    let stack = heaviest(&spent.stacks);
    let average = grown.bytes as f64 / grown.noted.max(1) as f64;
    let draft = Draft {
        not_known: "whether the final size is known in advance",
        variant: "growing",
        explanation: vec![
            format!(
                "{} calls of realloc that had to enlarge a block were looked at (blocks of {} on average). Most of these bytes were in blocks \
                 that grew by a sixteenth or less",
                count(grown.noted as f64),
                size(average)
            ),
            format!("each such call may copy the whole block; realloc took {} of CPU time", time(spent.ns)),
        ],
        facts: vec![
            Fact::new("calls looked at", grown.noted as f64, "calls", "probe", Sure::Exact),
            Fact::new("bytes a block", average, "bytes", "probe", Sure::Sampled),
            Fact::new("share that grows by a little", grown.share(), "ratio", "probe", Sure::Sampled),
            Fact::new("time in realloc", spent.ns, "ns", "samples", Sure::Sampled),
        ],
        advice: "Keep a capacity beside the length and double it when the block is full, or reserve the whole size first".to_owned(),
        ..Draft::new(
            &CAUSE,
            "a list grows by a little each time",
            Confidence::Likely,
            Cost::new(Basis::Cpu, spent.ns, gain),
            evidence.place(stack, asker, process, |frame| !passes(frame)),
        )
    };
    Some(draft.candidate(evidence, GATE, process))
}
