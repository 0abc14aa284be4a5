//! The same few blocks, taken and given back for each item.
//!
//! An address that is freed twice was handed out again in between. Memory that is kept, as of a tree that a parser makes, is freed once. A function is
//! guilty that both asks for memory and gives it back, itself or by a function which it calls for that and whose result it drops.

use super::asked::{Allocating, passes};
use super::{CAUSE, NOTED, SEEN};
use crate::Evidence;
use crate::candidate::Candidate;
use crate::causes::words::{count, time};
use crate::draft::Draft;
use crate::evidence::heaviest;
use crate::findings::{Basis, Confidence, Cost, Fact, Sure};
use crate::gate::Gate;
use crate::walks::Entries;
use std::collections::{BTreeMap, HashMap, HashSet};

/// Programs allocate, and one in which a tenth goes to the allocator is nothing to worry about. Of 82 clean programs, commands
/// and fixed versions (`tests/trial`, `corpus`) none comes to 2 % of what is looked for here; three slow ones have 29 to 41 %, and the case 27 to 30 %,
/// where its fix saves 65 %. A program that formats each of its words into a new string, as many do without harm, has 15 %.
const GATE: Gate = Gate { share: 0.20, ..Gate::TENTH_OF_CPU };
/// Share of the blocks that must have been freed shortly before. In a burst of 256 that is about 26 different ones: what is made for
/// one item, and no structure.
const AGAIN: f64 = 0.9;
/// Of a function's time in the allocator so much must be for taking memory, and so much for giving it back. Where both happen equally often the lesser
/// one was 31 to 39 %, in three programs.
const BOTH: f64 = 0.15;
/// Time that a function's asking takes in the allocator, ns.
#[derive(Default)]
struct Spent {
    taking_ns: f64,
    giving_ns: f64,
    stacks: BTreeMap<u32, f64>,
    /// Of functions that take memory for this one.
    by: BTreeMap<u32, f64>,
}

impl Spent {
    fn ns(&self) -> f64 {
        self.taking_ns + self.giving_ns
    }

    fn add(&mut self, ns: f64, takes: bool) {
        *if takes { &mut self.taking_ns } else { &mut self.giving_ns } += ns;
    }

    fn takes_and_gives(&self) -> bool {
        self.taking_ns.min(self.giving_ns) >= BOTH * self.ns()
    }
}

/// What was seen of the blocks that a process frees.
#[derive(Debug, Clone, Copy)]
pub(super) struct Freed {
    noted: usize,
    again: f64,
    /// Frees a second; none where noting them took longer than they do.
    rate: Option<f64>,
}

impl Freed {
    /// If a process frees the same few blocks again and again.
    pub(super) fn of(entries: &Entries<'_>) -> Option<Freed> {
        let (noted, again) = (entries.noted(), entries.of_blocks().share());
        let enough = noted >= NOTED && entries.bursts.len() >= SEEN && again >= AGAIN;
        enough.then_some(Freed { noted, again, rate: entries.hit_ns.is_none().then_some(entries.rate) })
    }
}

/// Functions that take memory and give it back, of processes that free the same few blocks.
pub(super) fn find(
    evidence: &Evidence<'_>,
    allocating: &Allocating,
    freed: &HashMap<u32, Freed>,
) -> Vec<Candidate> {
    let asked = || allocating.asked.iter().filter(|one| freed.contains_key(&one.process));
    // Of each function what it and those that it calls spend.
    let mut within: HashMap<(u32, u32), Spent> = HashMap::new();
    for one in asked() {
        for function in one.around.iter().collect::<HashSet<_>>() {
            within.entry((one.process, *function)).or_default().add(one.ns, one.takes());
        }
    }
    // Who only takes memory does so for its caller, and who only gives it back does so, too; but not what makes or takes down a structure.
    let helps = |process: u32, function: &u32| {
        !allocating.recursive.contains(function) && !within[&(process, *function)].takes_and_gives()
    };
    let mut spent: BTreeMap<(u32, u32), Spent> = BTreeMap::new();
    for one in asked() {
        let Some(asker) = one.around.iter().find(|function| !helps(one.process, function)) else { continue };
        let of_asker = spent.entry((one.process, *asker)).or_default();
        of_asker.add(one.ns, one.takes());
        *of_asker.stacks.entry(one.stack).or_default() += one.ns;
        if let Some(helper) = one.around.first().filter(|first| *first != asker) {
            *of_asker.by.entry(*helper).or_default() += one.ns;
        }
    }
    let guilty =
        spent.iter().filter(|(at, spent)| spent.takes_and_gives() && !allocating.recursive.contains(&at.1));
    guilty.filter_map(|(at, spent)| finding(evidence, *at, spent, freed[&at.0])).collect()
}

fn finding(
    evidence: &Evidence<'_>,
    (process, asker): (u32, u32),
    spent: &Spent,
    freed: Freed,
) -> Option<Candidate> {
    let Freed { noted, again, rate } = freed;
    let gain = spent.ns() * again;
    if !GATE.may_pass(evidence, gain) {
        return None;
    }
    let stack = heaviest(&spent.stacks);
    let mut explanation = vec![format!(
        "allocating memory took {}, and freeing it {} of CPU time",
        time(spent.taking_ns),
        time(spent.giving_ns)
    )];
    explanation.push(format!(
        "{:.0} % of {} frees that were looked at were of an address that had been freed shortly before: the same few blocks are handed out \
         again and again{}",
        100.0 * again,
        count(noted as f64),
        rate.map_or(String::new(), |rate| format!(". About {} blocks are freed a second", count(rate)))
    ));
    let helper = heaviest(&spent.by).map(|function| evidence.frame(function));
    if let Some(helper) = &helper {
        explanation
            .push(format!("part of it is allocated in {}, which this function calls", helper.function));
    }
    let draft = Draft {
        gain_is_least: true,
        explanation,
        related: helper.into_iter().collect(),
        facts: vec![
            Fact::new("blocks looked at", noted as f64, "1", "probe", Sure::Exact),
            Fact::new("share freed shortly before", again, "ratio", "probe", Sure::Sampled),
            Fact::new("time allocating", spent.taking_ns, "ns", "samples", Sure::Sampled),
            Fact::new("time freeing", spent.giving_ns, "ns", "samples", Sure::Sampled),
        ],
        advice: "Keep one buffer outside of the loop and clear it for each item, reserve the size that is needed, or work on the original by \
                 reference (a string_view, a &str, a pointer and a length) where no copy is needed"
            .to_owned(),
        ..Draft::new(
            &CAUSE,
            CAUSE.title,
            Confidence::Likely,
            Cost::new(Basis::Cpu, spent.ns(), gain),
            evidence.place(stack, asker, process, |frame| !passes(frame)),
        )
    };
    Some(draft.candidate(evidence, GATE, process))
}
