//! A comparison of a sort makes something from its two items first: it converts both names to lower case, parses both dates. What it makes
//! depends on one item alone, yet it is made again at each of the some 2·log2 n comparisons that the item is part of.
//!
//! What is made shows in memory that is allocated for it, or in a listed function that reads a value from a text. It may be made when it is first
//! compared, and then kept: a comparison that frees most of what it allocates keeps nothing. Where garbage is collected that is not known, which is a
//! hint. A list must be long, as parts of the sort show. Which functions sort is listed in the crate `slowpath-interfaces`; those that call a
//! function once for each item before they sort, such as Python's with `key`, are not among them.

use super::{CAUSE, GATE};
use crate::Evidence;
use crate::calls::some;
use crate::candidate::Candidate;
use crate::causes::runtime;
use crate::draft::Draft;
use crate::evidence::heaviest;
use crate::findings::{Basis, Confidence, Cost, Fact, Place, Sure};
use slowpath_interfaces::{
    Memory, converts, copies_objects, memory, reads_a_value, sorts, sorts_many, without_arguments,
};
use std::collections::BTreeMap;

/// Variant of these findings, for their fingerprints.
pub(in crate::causes) const COMPARISON: &str = "comparison";
/// What goes if each item's is made once: of a list of 32 items, which are compared some 32·log2(32) times, two items each time, nine tenths.
/// It is more of a longer one: 95 % for 1,000 items.
const SAVED: f64 = 0.9;
/// Share of the time that must be spent in parts of the sort which only a list of so many items gets to. Of a list of 64, glibc's sort spends a
/// third of it there.
const LONG: f64 = 0.3;
/// Samples in what a function makes, of which a share is known to a third; and of these in allocating memory: one may be where something is made once.
const SAMPLES: usize = 10;
const ALLOCATING: usize = 2;
/// Samples in freeing memory for each one in allocating it: 8 ns and 12 ns for a block in glibc. Of two blocks of which one is freed it is a third.
const FREED: f64 = 0.4;
/// Samples in comparing what was made that show that it is made to be compared: one may be chance.
const COMPARING: usize = 2;

/// What one comparison makes: time and samples by the function that makes it.
#[derive(Default)]
struct Made {
    ns: f64,
    samples: usize,
    /// In functions that hand out memory, in those that let a block grow, in those that only take memory back, and in those that read a value.
    allocating: usize,
    growing: usize,
    freeing: usize,
    reading: usize,
    reading_ns: f64,
    /// Memory is taken back by a collector of garbage, at some other time.
    collected: bool,
    stacks: BTreeMap<u32, f64>,
}

impl Made {
    /// Whether something is made in memory, or what was made is dropped.
    fn is_made(&self) -> bool {
        self.samples >= SAMPLES && self.allocating + self.growing + self.freeing >= ALLOCATING
    }
}

/// Time of comparisons, ns.
#[derive(Default)]
struct Sorting {
    ns: f64,
    /// … of long lists.
    long_ns: f64,
    /// By the functions of the sort that ask for them.
    by: BTreeMap<u32, f64>,
    /// Samples in the comparison itself.
    own: usize,
    /// It was inlined into the sort.
    inlined: bool,
}

/// Where a comparison is: the process, and its function.
type Comparison = (u32, u32);

pub(super) fn find(evidence: &Evidence<'_>) -> Vec<Candidate> {
    let kinds = Kinds::of(evidence);
    if !kinds.sorts.contains(&true) {
        return Vec::new();
    }
    let mut made: BTreeMap<Comparison, BTreeMap<u32, Made>> = BTreeMap::new();
    let mut sorting: BTreeMap<Comparison, Sorting> = BTreeMap::new();
    let tables = &evidence.recording.tables;
    for (sample, weight) in tables.samples.iter().zip(&evidence.weights).filter(|(sample, _)| sample.on_cpu) {
        let Some(stack) = sample.stack else { continue };
        let functions = functions(evidence, stack);
        let Some(parts) = kinds.parts(&functions) else { continue };
        let key = (evidence.process_of(sample), parts.comparison);
        let of = sorting.entry(key).or_default();
        *of.by.entry(parts.sort).or_default() += weight;
        of.ns += weight;
        of.inlined |= parts.inlined;
        let names = functions.iter().filter(|function| kinds.sorts[**function as usize]);
        of.long_ns += if sorts_many(names.map(|function| evidence.name(*function))) { *weight } else { 0.0 };
        let Some(at) = parts.maker else {
            of.own += 1;
            continue;
        };
        let of = made.entry(key).or_default().entry(functions[at]).or_default();
        of.ns += weight;
        of.samples += 1;
        let below = || functions[..=at].iter().map(|function| *function as usize);
        let has = |what: Memory| below().any(|function| kinds.memory[function] == Some(what));
        // An allocator may do the one for the other: a block grows by being moved, and memory is given back before more is handed out.
        match (has(Memory::Moves), has(Memory::Gives), has(Memory::Takes)) {
            (true, ..) => of.growing += 1,
            (_, true, _) => of.allocating += 1,
            (.., true) => of.freeing += 1,
            _ => {}
        }
        if below().any(|function| kinds.reads[function]) {
            of.reading += 1;
            of.reading_ns += weight;
        }
        of.collected |= below().any(|function| kinds.collects[function]);
        *of.stacks.entry(stack).or_default() += weight;
    }
    let found = made.into_iter().filter_map(|(key, of)| finding(evidence, &kinds, key, of, &sorting[&key]));
    found.collect()
}

/// The functions on a stack, innermost first, those that were inlined as well. The kernel works for who calls it.
fn functions(evidence: &Evidence<'_>, stack: u32) -> Vec<u32> {
    let tables = &evidence.recording.tables;
    let of = |location: u32| evidence.recording.frames_of(location).iter().map(|frame| frame.function);
    let of_program = |location: &u32| tables.locations[*location as usize].kind != "kernel";
    evidence.locations(stack).filter(of_program).flat_map(of).collect()
}

/// What is known of each function by its name.
struct Kinds {
    sorts: Vec<bool>,
    memory: Vec<Option<Memory>>,
    /// An allocator's, of a runtime that collects garbage.
    collects: Vec<bool>,
    reads: Vec<bool>,
    runtime: Vec<bool>,
    /// Makes something new: what a sort calls itself may as well be memory to merge in.
    converts: Vec<bool>,
    /// Copies, moves or destroys items as such: a sort asks for that besides comparing.
    handles_items: Vec<bool>,
}

/// A stack below a sort.
struct Parts {
    /// The function that compares; where it was inlined into the sort, the one that sorts.
    comparison: u32,
    /// The innermost function of the sort.
    sort: u32,
    /// Where among the functions the one is that the comparison calls.
    maker: Option<usize>,
    inlined: bool,
}

impl Kinds {
    fn of(evidence: &Evidence<'_>) -> Kinds {
        let frames: Vec<_> =
            (0..evidence.recording.tables.functions.len() as u32).map(|at| evidence.frame(at)).collect();
        let of = |is: &dyn Fn(&crate::findings::Frame) -> bool| frames.iter().map(is).collect();
        Kinds {
            sorts: of(&|frame| sorts(&frame.function)),
            memory: frames.iter().map(|frame| memory(&frame.function)).collect(),
            collects: of(&|frame| {
                memory(&frame.function).is_some() && frame.function.starts_with("runtime.")
            }),
            reads: of(&|frame| reads_a_value(&frame.function)),
            runtime: of(&runtime::is_name),
            converts: of(&|frame| converts(&frame.function)),
            handles_items: of(&|frame| handles_items(&frame.function)),
        }
    }

    /// `functions`: of a stack, innermost first. None if it is not below a sort, or if nobody knows who asked for the sort.
    fn parts(&self, functions: &[u32]) -> Option<Parts> {
        let is = |of: &[bool], at: usize| of[functions[at] as usize];
        let sort = (0..functions.len()).find(|at| is(&self.sorts, *at))?;
        let comparison = (0..sort).rev().find(|at| !is(&self.runtime, *at));
        let parts = |comparison: usize, maker| Parts {
            comparison: functions[comparison],
            sort: functions[sort],
            maker,
            inlined: functions[..sort].iter().all(|function| self.runtime[*function as usize]),
        };
        if let Some(comparison) = comparison {
            if is(&self.handles_items, comparison) {
                return None;
            }
            return Some(parts(comparison, comparison.checked_sub(1)));
        }
        let asker = (sort..functions.len()).find(|at| !is(&self.sorts, *at) && !is(&self.runtime, *at))?;
        // It was inlined.
        let maker = sort.checked_sub(1).filter(|at| is(&self.converts, *at) || is(&self.reads, *at));
        Some(parts(asker, maker))
    }
}

/// Whether a function copies, moves or destroys an object as a whole.
fn handles_items(name: &str) -> bool {
    let plain = without_arguments(name);
    let last = plain.rsplit("::").next().unwrap_or_default();
    let class = plain.rsplit("::").nth(1).unwrap_or_default();
    // The other two methods of Go's `sort.Interface`.
    let of_interface = name.ends_with(".Swap") || name.ends_with(".Len");
    copies_objects(name)
        || of_interface
        || last.starts_with('~')
        || last == "operator="
        || last.starts_with("swap")
        || name.starts_with("core::ptr::drop_in_place")
        || !class.is_empty() && class.split('<').next() == Some(last)
        || ["_M_create", "_M_dispose", "_M_construct", "_M_assign"].contains(&last)
}

fn finding(
    evidence: &Evidence<'_>,
    kinds: &Kinds,
    (process, comparison): Comparison,
    of: BTreeMap<u32, Made>,
    sorting: &Sorting,
) -> Option<Candidate> {
    let sum = |count: fn(&Made) -> usize| of.values().map(count).sum::<usize>() as f64;
    let collected = of.values().any(|made| made.collected);
    // What is not freed was made for later.
    let freed = sum(|made| made.freeing);
    let dropped = freed > 0.0 && freed >= FREED * sum(|made| made.allocating);
    let made_ns = |(function, made): (&u32, &Made)| {
        let is_made = kinds.memory[*function as usize].is_some() || made.is_made();
        match (collected || dropped) && is_made {
            true => made.ns,
            false if made.reading >= SAMPLES => made.reading_ns,
            false => 0.0,
        }
    };
    let mut makers: Vec<(u32, f64)> = of.iter().map(|one| (*one.0, made_ns(one))).collect();
    makers.retain(|(_, ns)| *ns > 0.0);
    makers.sort_by(|a, b| b.1.total_cmp(&a.1));
    let ns: f64 = makers.iter().map(|(_, ns)| ns).sum();
    let gain = SAVED * ns;
    if !GATE.may_pass(evidence, gain) || sorting.long_ns < LONG * sorting.ns {
        return None;
    }
    // What is made is compared outside of what makes it.
    let others = of.iter().filter(|one| made_ns(*one) == 0.0).map(|(_, made)| made.samples);
    let comparing = sorting.own + others.sum::<usize>();
    let is_sure = dropped && !collected && comparing >= COMPARING;
    let confidence = if is_sure { Confidence::Likely } else { Confidence::Hint };
    let mut stacks: BTreeMap<u32, f64> = BTreeMap::new();
    for (stack, ns) in makers.iter().flat_map(|(function, _)| &of[function].stacks) {
        *stacks.entry(*stack).or_default() += ns;
    }
    let mut names: Vec<String> = Vec::new();
    for (function, _) in &makers {
        // A stub of the linker's is the function that it jumps to.
        let name = without_arguments(evidence.name(*function)).trim_end_matches("@plt").to_owned();
        if !names.contains(&name) {
            names.push(name);
        }
    }
    let by = evidence.name(heaviest(&sorting.by)?);
    let share = 100.0 * ns / sorting.ns.max(1.0);
    let (who, by) = (without_arguments(evidence.name(comparison)), without_arguments(by));
    let compares = match sorting.inlined {
        true => format!("sorts ({by}), and each comparison calls"),
        false => format!("compares two items of a sort ({by}), and for that calls"),
    };
    let draft = Draft {
        not_known: "whether what is made depends on one item alone",
        variant: COMPARISON,
        explanation: vec![
            format!(
                "{who} {compares} {}: {share:.0} % of the time of these comparisons",
                some(&names, 3)
            ),
            "if what is made there depends on one item only, it is made again at each comparison that the item is part of: 10 times if the list \
             has 32 items, 20 times if it has 1,000"
                .to_owned(),
        ],
        facts: vec![Fact::new("share of the comparisons", share, "%", "samples", Sure::Sampled)],
        related: makers.iter().take(3).map(|(function, _)| evidence.frame(*function)).collect(),
        advice: "Make what is compared once for each item, before sorting: a list of pairs of key and item (Rust: sort_by_cached_key; Python: key=), \
                 or a field of the item. Or compare without making anything, character by character (strcasecmp, eq_ignore_ascii_case, \
                 strings.EqualFold)"
            .to_owned(),
        ..Draft::new(
            &CAUSE,
            "makes the keys of a sort again at each comparison",
            confidence,
            Cost::new(Basis::Cpu, ns, gain),
            place_of(evidence, heaviest(&stacks)?, comparison, process),
        )
    };
    Some(draft.candidate(evidence, GATE, process))
}

/// The innermost frame of a function on a stack, which may have been inlined.
pub(super) fn place_of(evidence: &Evidence<'_>, stack: u32, function: u32, process: u32) -> Place {
    let leaf = evidence.locations(stack).next().and_then(|location| evidence.function_at(location));
    let mut path = leaf.map_or_else(Vec::new, |leaf| evidence.path_at(stack, leaf));
    let at = path.iter().rposition(|frame| frame.function_id == Some(function));
    path.truncate(at.map_or(0, |at| at + 1));
    Place::at_end_of(path, || evidence.whole_process(process))
}
