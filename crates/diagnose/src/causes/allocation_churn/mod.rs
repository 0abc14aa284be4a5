//! A function takes memory, uses it shortly and gives it back, for each item anew: strings that are built to be compared, buffers that are made
//! for one record, lists that are returned by value. Most of its time goes to the allocator.
//!
//! Samples say who asks the allocator, and for how long. Bursts of probes where memory is taken back say that it is always the same
//! few blocks: an address that is freed twice was handed out again in between. Memory that is kept, as of a tree that a parser makes, is freed
//! once. A function is guilty that both asks for memory and gives it back, itself or by a function which it calls for that and whose
//! result it drops.
//!
//! - `collected` — memory that a collector of garbage takes back.
//! - `growing` — lists that ask for a little more memory with each item.

mod collected;
mod growing;

use super::words::{count, time};
use super::{Find, Needs, Spec, allocators, runtime};
use crate::Evidence;
use crate::candidate::Candidate;
use crate::draft::Draft;
use crate::findings::{Basis, Confidence, Cost, Fact, Frame, Place, Sure};
use crate::gate::Gate;
use crate::walks;
use slowpath_interfaces::{Memory, copied, frees_block, memory};
use std::collections::{BTreeMap, HashMap, HashSet};

/// See the file's head.
pub(super) const CAUSE: Spec = Spec {
    slug: "allocation-churn",
    title: "memory is allocated and freed again for each item",
    symptom: "temporary strings, lists or buffers are made for each item, and a large part of the time goes to the allocator",
    page: include_str!("../../../../../docs/causes/allocation-churn.md"),
    needs: &[Needs::Walks],
    find: Find::InRecording(find),
};

/// Programs allocate, and one in which a tenth goes to the allocator is nothing to worry about; a fifth in one function is.
const GATE: Gate = Gate { share: 0.20, ..Gate::TENTH_OF_CPU };
/// Blocks that must have been looked at: a quarter of a burst.
const NOTED: usize = 64;
/// Bursts of them: two, a sixteenth of a second apart, are more than what happens once, as where a list is taken down.
const SEEN: usize = 2;
/// Share of the blocks that must have been freed shortly before. In a burst of 256 that is about 26 different ones: what is made for
/// one item, and no structure.
const AGAIN: f64 = 0.9;
/// Of a function's time in the allocator so much must be for taking memory, and so much for giving it back. Each is a third at least
/// where both happen equally often.
const BOTH: f64 = 0.15;
/// A function that spends so much of its time in the allocator is part of it: one that counts, or that ends the program where there is no memory.
const WRAPS: f64 = 0.85;
/// Share of a function's samples in which it is on the stack twice: it calls itself, and so it makes or takes down a structure.
const RECURSIVE: f64 = 0.10;

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

/// A sample in an allocator.
struct Asked {
    process: u32,
    stack: u32,
    ns: f64,
    takes: bool,
    /// It is at work for a collector, or copies what is in a block: no time of handing out memory itself.
    aside: bool,
    /// The outermost function of the allocator.
    allocator: u32,
    /// The functions of the program around it, innermost first.
    around: Vec<u32>,
}

/// What was seen of the blocks that a process frees.
#[derive(Debug, Clone, Copy)]
struct Freed {
    noted: usize,
    again: f64,
    rate: f64,
}

fn find(evidence: &Evidence<'_>) -> Vec<Candidate> {
    let mut found = growing::find(evidence);
    found.extend(collected::find(evidence));
    found.extend(churning(evidence));
    found
}

/// Share of what allocating takes that another cause in the same function must save: it makes what is allocated.
const EXPLAINED: f64 = 0.5;

/// What is copied, prepared or done again allocates its memory again each time: where that is reported in the same function, the memory goes with it.
pub(super) fn settle(found: &mut Vec<Candidate>) {
    let is = |one: &Candidate| one.finding.cause == CAUSE.cause();
    let others = found.iter().filter(|one| !is(one) && one.finding.cost.basis() == Basis::Cpu);
    let known: Vec<(u32, String, u64)> =
        others.map(|one| (one.process, one.function().0.to_owned(), one.finding.cost.gain())).collect();
    found.retain(|one| {
        let explains = |(process, function, gain): &(u32, String, u64)| {
            *process == one.process
                && function == one.function().0
                && *gain as f64 >= EXPLAINED * one.finding.cost.gain() as f64
        };
        !is(one) || !known.iter().any(explains)
    });
}

/// Functions that take memory and give it back.
fn churning(evidence: &Evidence<'_>) -> Vec<Candidate> {
    let freed = freed(evidence);
    if freed.is_empty() {
        return Vec::new();
    }
    let kinds = Kinds::of(evidence, |process| freed.contains_key(&process));
    // Of each function what it and those that it calls spend.
    let mut within: HashMap<(u32, u32), Spent> = HashMap::new();
    for one in &kinds.asked {
        for function in one.around.iter().collect::<HashSet<_>>() {
            within.entry((one.process, *function)).or_default().add(one.ns, one.takes);
        }
    }
    // Who only takes memory does so for its caller, and who only gives it back does so, too; but not what makes or takes down a structure.
    let helps = |process: u32, function: &u32| {
        !kinds.recursive.contains(function) && !within[&(process, *function)].takes_and_gives()
    };
    let mut spent: BTreeMap<(u32, u32), Spent> = BTreeMap::new();
    for one in &kinds.asked {
        let Some(asker) = one.around.iter().find(|function| !helps(one.process, function)) else { continue };
        let of_asker = spent.entry((one.process, *asker)).or_default();
        of_asker.add(one.ns, one.takes);
        *of_asker.stacks.entry(one.stack).or_default() += one.ns;
        if let Some(helper) = one.around.first().filter(|first| *first != asker) {
            *of_asker.by.entry(*helper).or_default() += one.ns;
        }
    }
    let guilty =
        spent.iter().filter(|(at, spent)| spent.takes_and_gives() && !kinds.recursive.contains(&at.1));
    guilty.filter_map(|(at, spent)| finding(evidence, *at, spent, freed[&at.0])).collect()
}

/// The processes that free the same few blocks again and again.
fn freed(evidence: &Evidence<'_>) -> HashMap<u32, Freed> {
    let entries = walks::all(evidence);
    let frees =
        entries.iter().filter(|one| one.one_loop.is_none() && frees_block(evidence.name(one.function)));
    let of = |one: &walks::Entries<'_>| {
        let again = one.of_blocks();
        let enough = one.noted() >= NOTED && one.bursts.len() >= SEEN && again.share() >= AGAIN;
        enough
            .then_some((one.walk.process, Freed { noted: one.noted(), again: again.share(), rate: one.rate }))
    };
    frees.filter_map(of).collect()
}

/// What is asked of functions and samples, again and again.
struct Kinds {
    asked: Vec<Asked>,
    /// Functions that call themselves.
    recursive: HashSet<u32>,
}

impl Kinds {
    fn of(evidence: &Evidence<'_>, is_wanted: impl Fn(u32) -> bool) -> Kinds {
        let tables = &evidence.recording.tables;
        let count = tables.functions.len();
        let does: Vec<Option<Memory>> = (0..count as u32).map(|at| memory(evidence.name(at))).collect();
        let copies: Vec<bool> =
            (0..count as u32).map(|at| runtime::copies_bytes(&evidence.frame(at))).collect();
        let passes: Vec<bool> = (0..count as u32).map(|at| passes(&evidence.frame(at))).collect();
        // Of each function: its time, that in the allocator, and that in which it is on the stack twice.
        let mut whole = vec![(0.0, 0.0, 0.0); count];
        let mut asked = Vec::new();
        for (sample, ns) in tables.samples.iter().zip(&evidence.weights).filter(|(sample, _)| sample.on_cpu) {
            let (Some(stack), process) = (sample.stack, evidence.process_of(sample)) else { continue };
            if !is_wanted(process) {
                continue;
            }
            let functions: Vec<u32> =
                evidence.locations(stack).filter_map(|at| evidence.function_at(at)).collect();
            let allocator = functions.iter().rposition(|function| does[*function as usize].is_some());
            let mut known = HashSet::new();
            for (at, function) in functions.iter().enumerate() {
                let sums = &mut whole[*function as usize];
                if known.insert(*function) {
                    sums.0 += ns;
                    sums.1 += if allocator.is_some_and(|allocator| at > allocator) { *ns } else { 0.0 };
                } else {
                    sums.2 += ns;
                }
            }
            let Some(allocator) = allocator else { continue };
            let asked_of = functions[allocator];
            let takes = does[asked_of as usize] != Some(Memory::Takes);
            let aside = |function: &u32| {
                does[*function as usize] == Some(Memory::Takes) || copies[*function as usize]
            };
            let aside = takes && functions[..allocator].iter().any(aside);
            let mut around: Vec<u32> = functions[allocator + 1..].to_vec();
            around.retain(|function| !passes[*function as usize]);
            around.dedup();
            asked.push(Asked { process, stack, ns: *ns, takes, aside, allocator: asked_of, around });
        }
        // What wraps the allocator is part of it, but for the outermost function.
        let wraps = |function: &u32| {
            let (all, allocating, _) = whole[*function as usize];
            allocating >= WRAPS * all
        };
        for one in &mut asked {
            let wrappers = one.around.iter().take_while(|function| wraps(function)).count();
            one.around.drain(..wrappers.min(one.around.len().saturating_sub(1)));
        }
        let twice = |(_, (all, _, twice)): &(usize, &(f64, f64, f64))| *twice > RECURSIVE * all;
        let recursive = whole.iter().enumerate().filter(twice).map(|(at, _)| at as u32).collect();
        Kinds { asked, recursive }
    }
}

/// Functions that do what their caller wants: of a runtime, those that copy, and destructors.
fn passes(frame: &Frame) -> bool {
    let destructor = || slowpath_interfaces::without_arguments(&frame.function).contains("::~");
    runtime::is_name(frame)
        || allocators::is_allocator(frame)
        || copied(&frame.function).is_some()
        || destructor()
}

/// Where the memory is asked for: in the innermost function that was inlined there and is no runtime's.
fn place(evidence: &Evidence<'_>, stack: Option<u32>, asker: u32, process: u32) -> Place {
    let mut path = stack.map_or_else(Vec::new, |stack| evidence.path_at(stack, asker));
    path.truncate(path.iter().rposition(|frame| !passes(frame)).map_or(0, |last| last + 1));
    Place::at_end_of(path, || evidence.whole_process(process))
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
    let stack = spent.stacks.iter().max_by(|a, b| a.1.total_cmp(b.1)).map(|(stack, _)| *stack);
    let mut explanation = vec![format!(
        "allocating memory took {}, and freeing it {} of CPU time",
        time(spent.taking_ns),
        time(spent.giving_ns)
    )];
    explanation.push(format!(
        "{:.0} % of {} frees that were looked at were of an address that had been freed shortly before: the same few blocks are handed out \
         again and again. About {} blocks are freed a second",
        100.0 * again,
        count(noted as f64),
        count(rate)
    ));
    let helper = spent.by.iter().max_by(|a, b| a.1.total_cmp(b.1));
    let related: Vec<Frame> = helper.map(|(function, _)| evidence.frame(*function)).into_iter().collect();
    if let Some(helper) = related.first() {
        explanation
            .push(format!("part of it is allocated in {}, which this function calls", helper.function));
    }
    let draft = Draft {
        explanation,
        related,
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
            place(evidence, stack, asker, process),
        )
    };
    Some(draft.candidate(evidence, GATE, process))
}
