//! Calls that do again what one before did: they were given the same, read the same memory, and nothing had changed it.
//!
//! The collector runs some stretches of a thread on a copy of its memory and compares what calls were given (`slowpath-collect`, `ahead`). That the
//! same is done twice in a stretch of a hundred thousand instructions is no chance, and seldom meant: what a benchmark repeats on purpose is all
//! that it does.

use super::{CAUSE, comparisons};
use crate::Evidence;
use crate::candidate::Candidate;
use crate::causes::costly_call::UNREAD;
use crate::causes::runtime;
use crate::causes::words::{count, time};
use crate::draft::Draft;
use crate::evidence::heaviest;
use crate::findings::{Basis, Confidence, Cost, Fact, Frame, Sure};
use crate::gate::Gate;
use slowpath_interfaces::{sorts, without_arguments};
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

/// Variant of these findings, for their fingerprints.
pub(in crate::causes) const DONE_AGAIN: &str = "again";
/// Stretches of a process before they count, and instructions in all of them: …
const STRETCHES: usize = 3;
const INSTRUCTIONS: u64 = 200_000;
/// … in so large a share of them it must be seen, so that it is not one part of the run alone.
const IN_STRETCHES: f64 = 0.5;
/// Share of the instructions of all stretches that only did again what was done before. In 43 clean programs that could be followed for 200,000 instructions it was less than 0.001; a tenth is worth a fix. Allocating and
/// copying, which such calls often do as well, is no part of it.
const SHARE: f64 = 0.1;
/// Instructions between two calls, from which on something is done with their results. A loop that only repeats a call, as a benchmark does on purpose, has no more than it takes to count and to add up.
const BETWEEN: u64 = 40;
/// Share of a function's instructions that are of calls which do the same again, for it to be named.
const OF_FUNCTION: f64 = 0.4;
/// … and share of its calls: a few long ones that repeat are no habit. In libutp, toml11 and jq it was 0.5 to 0.95; of a function that builds trees of nodes, each new, 7 of 2,150.
const OF_CALLS: f64 = 0.4;
/// Instructions of such a call on average: one of fewer takes hardly longer than to look up what was kept of it, a few dozen and a miss of the cache or two. In libutp they had
/// 1,600, in toml11 5,700, in jq 570 to 590.
const EACH: u64 = 450;
/// Different results in a stretch that come again, on average: of more it is the data that repeats, as words of a text do. In toml11 it was 2 to 4, in libutp up to 6.
const RESULTS: u64 = 8;
/// … unless all that comes comes again, so many times on average, but for so large a share of the calls: those are what the program itself asks for, such as its constants. jq took up 24 of them, 7 times
/// each, and none that came once. Of the words of a text many come once.
const TIMES: u64 = 4;
const ONCE: f64 = 0.05;
/// Share of the instructions that repeat others for which a sort must ask, for the number of results not to matter.
const IN_SORTS: f64 = 0.8;
/// The minor version of recordings that say how many different calls come again.
const COUNTS_DIFFERENT: u32 = 21;
/// Functions besides the first are named from this share of the instructions on, and so many.
const BESIDE: f64 = 0.01;
const NAMED: usize = 5;
/// How the names of system libraries begin.
const LIBRARIES: [&str; 5] = ["libc.", "libm.", "libstdc++.", "libc++", "ld-"];
const GATE: Gate = Gate::TENTH_OF_CPU;

/// Calls of a function, in all stretches of a process.
#[derive(Default)]
struct Calls {
    calls: u64,
    again: u64,
    instructions: u64,
    all_instructions: u64,
    stretches: BTreeSet<u32>,
    callers: BTreeMap<u32, u64>,
    /// Instructions of those that a sort asked for: its items are compared several times each.
    in_sorts: u64,
    nested: u64,
    /// Different calls that were done again, in all stretches, and in how many there were any.
    different: u64,
    /// It is that, and not how many were new, as before minor version 21.
    counts_different: bool,
    seen_in: u64,
    /// By stretch, instructions since the first of them.
    spans: BTreeMap<u32, u64>,
}

impl Calls {
    /// The part of what it does that it did before.
    fn share(&self) -> f64 {
        (self.instructions as f64 / self.all_instructions.max(1) as f64).min(1.0)
    }

    /// There are but a few results, or each part of what calls itself has its own, or each item of a list that is sorted.
    fn has_few_results(&self) -> bool {
        self.different <= RESULTS * self.seen_in
            || self.all_come_again()
            || self.is_recursive()
            || self.is_of_sort()
    }

    fn is_of_sort(&self) -> bool {
        self.in_sorts as f64 >= IN_SORTS * self.instructions as f64
    }

    fn all_come_again(&self) -> bool {
        if !self.counts_different {
            return false;
        }
        let once = self.calls.saturating_sub(self.again + self.different);
        self.again >= TIMES * self.different && once as f64 <= ONCE * self.calls as f64
    }

    /// Most of what it does again it does within a call of its own: that no loop around it repeats on purpose.
    fn is_recursive(&self) -> bool {
        2 * self.nested >= self.again
    }

    /// Instructions outside of them, for each.
    fn between(&self) -> u64 {
        let span: u64 = self.spans.values().sum();
        span.saturating_sub(self.all_instructions) / self.calls.max(1)
    }
}

/// What stretches of a process showed.
#[derive(Default)]
struct Seen {
    stretches: usize,
    instructions: u64,
    functions: BTreeMap<u32, Calls>,
}

pub(super) fn find(evidence: &Evidence<'_>) -> Vec<Candidate> {
    seen(evidence).into_iter().filter_map(|(process, seen)| finding(evidence, process, seen)).collect()
}

/// Whether one of these findings tells of what another one tells as well.
pub(super) fn is_part(one: &Candidate, other: &Candidate) -> bool {
    one.process == other.process && other.finding.cost.gain() * 2 >= one.finding.cost.gain()
}

/// What a function makes again for a text that nobody reads goes with that text: one bug.
pub(super) fn give_to_unread(evidence: &Evidence<'_>, found: &mut Vec<Candidate>) {
    let is_again = |one: &Candidate| one.finding.variant == DONE_AGAIN && one.finding.cause == CAUSE.cause();
    let again: Vec<Candidate> = found.iter().filter(|one| is_again(one)).cloned().collect();
    let mut given: Vec<(u32, String)> = Vec::new();
    let is_text = |one: &Candidate| {
        one.finding.variant == UNREAD && GATE.passes(evidence, one.finding.cost.gain() as f64)
    };
    for text in found.iter_mut().filter(|one| is_text(one)) {
        let around = text.function().0.to_owned();
        let is_for_it = |one: &&Candidate| {
            let caller = one.finding.place.path.iter().rev().nth(1);
            one.process == text.process
                && caller.is_some_and(|frame| frame.function == around)
                && one.finding.cost.gain() <= text.finding.cost.gain()
        };
        for one in again.iter().filter(is_for_it) {
            let name = without_arguments(&one.finding.place.frame.function).to_owned();
            text.finding.explanation.push(format!(
                "{name}, which it calls and which computes the same result again and again, took {}: as far as that is for the text, it can be spared too",
                time(one.finding.cost.amount() as f64)
            ));
            text.finding.gain_is_least = true;
            given.push((one.process, one.function().0.to_owned()));
        }
    }
    let is_given = |one: &Candidate| {
        given.iter().any(|(process, name)| (*process, name.as_str()) == (one.process, one.function().0))
    };
    found.retain(|one| !(is_again(one) && is_given(one)));
}

/// By process.
fn seen(evidence: &Evidence<'_>) -> BTreeMap<u32, Seen> {
    let tables = &evidence.recording.tables;
    let process_of = |thread: u32| tables.threads[thread as usize].process;
    let mut all: BTreeMap<u32, Seen> = BTreeMap::new();
    for stretch in &tables.stretches {
        let seen = all.entry(process_of(stretch.thread)).or_default();
        seen.stretches += 1;
        seen.instructions += stretch.instructions;
    }
    for row in &tables.repeats {
        let process = process_of(tables.stretches[row.stretch as usize].thread);
        let (Some(function), Some(seen)) = (evidence.function_at(row.location), all.get_mut(&process)) else {
            continue;
        };
        let of = seen.functions.entry(function).or_default();
        of.counts_different = evidence.recording.about.format.minor >= COUNTS_DIFFERENT;
        of.calls += row.calls;
        of.again += row.again;
        of.instructions += row.instructions;
        of.all_instructions += row.all_instructions;
        of.nested += row.nested;
        if !of.spans.contains_key(&row.stretch) {
            of.different += row.different;
            of.seen_in += 1;
        }
        let span = of.spans.entry(row.stretch).or_default();
        *span = row.span.max(*span);
        if row.instructions > 0 {
            of.stretches.insert(row.stretch);
            if let Some(caller) = row.caller.and_then(|caller| evidence.function_at(caller)) {
                *of.callers.entry(caller).or_default() += row.instructions;
                of.in_sorts += if sorts(evidence.name(caller)) { row.instructions } else { 0 };
            }
        }
    }
    all
}

fn finding(evidence: &Evidence<'_>, process: u32, seen: Seen) -> Option<Candidate> {
    let whole = seen.instructions as f64;
    if seen.stretches < STRETCHES || seen.instructions < INSTRUCTIONS {
        return None;
    }
    let is_one = |of: &Calls| {
        of.share() >= OF_FUNCTION
            && of.has_few_results()
            && of.again > 0
            && of.again as f64 >= OF_CALLS * of.calls as f64
            && of.instructions >= EACH * of.again
            && (of.between() >= BETWEEN || of.is_recursive())
    };
    let is_own = |function: u32| !is_of_library(&evidence.frame(function));
    let mut functions: Vec<(u32, Calls)> =
        seen.functions.into_iter().filter(|(function, of)| is_one(of) && is_own(*function)).collect();
    functions.retain(|(_, of)| of.instructions as f64 >= BESIDE * whole);
    functions.sort_by_key(|(_, of)| Reverse(of.instructions));
    let again: u64 = functions.iter().map(|(_, of)| of.instructions).sum();
    let share = again as f64 / whole;
    let stretches: BTreeSet<u32> =
        functions.iter().flat_map(|(_, of)| of.stretches.iter().copied()).collect();
    let spread = stretches.len() as f64 / seen.stretches as f64;
    if share < SHARE || spread < IN_STRETCHES {
        return None;
    }
    let (cost, gain, stacks) = time_under(evidence, process, &functions);
    // Of recursive functions the outermost calls, which did not end in a stretch, may repeat less.
    let gain = gain.min(share * cpu_of(evidence, process));
    if !GATE.may_pass(evidence, gain) {
        return None;
    }
    let (first, of) = functions.first()?;
    let name = |function: u32| without_arguments(evidence.name(function)).to_owned();
    let caller = of.callers.iter().max_by_key(|(_, instructions)| **instructions).map(|(caller, _)| *caller);
    let stack = heaviest(stacks.get(first)?)?;
    let mut explanation = vec![format!(
        "slowpath followed {} short pieces of the run instruction by instruction. There {} of {} calls of {}{} repeated an earlier call: it had the same arguments, read \
         the same memory, and found the same values there",
        count(seen.stretches as f64),
        count(of.again as f64),
        count(of.calls as f64),
        name(*first),
        caller.map_or_else(String::new, |caller| format!(", most from {},", name(caller)))
    )];
    let others: Vec<String> = functions
        .iter()
        .skip(1)
        .take(NAMED)
        .map(|(function, of)| {
            format!("{} ({} of {} calls)", name(*function), count(of.again as f64), count(of.calls as f64))
        })
        .collect();
    if !others.is_empty() {
        let more = functions.len() - 1 - others.len();
        let more = if more > 0 { format!(" and {} more", count(more as f64)) } else { String::new() };
        explanation.push(format!("so did {}{more}", others.join(", ")));
    }
    explanation.push(format!(
        "such calls ran {:.0} % of all instructions in these pieces; the gain is reckoned from that share. The real gain may be larger: a call whose equal came before the \
         piece counts as new",
        100.0 * share
    ));
    let related: Vec<Frame> =
        functions.iter().skip(1).take(NAMED).map(|(function, _)| evidence.frame(*function)).collect();
    let draft = Draft {
        not_known: "whether each caller needs a result of its own, because it changes it, and whether the function does something else that is needed each time, such as output",
        variant: DONE_AGAIN,
        // What comes before a stretch is not seen in it, and freeing what is made is elsewhere.
        gain_is_least: true,
        explanation,
        related,
        facts: vec![
            Fact::new("stretches looked at", seen.stretches as f64, "1", "ahead", Sure::Exact),
            Fact::new("calls looked at", of.calls as f64, "calls", "ahead", Sure::Exact),
            Fact::new("calls that repeat one", of.again as f64, "calls", "ahead", Sure::Exact),
            Fact::new("share of instructions that repeat others", share, "ratio", "ahead", Sure::Sampled),
        ],
        advice: if of.is_of_sort() {
            format!(
                "Compute what {} returns once for each item before the sort, and sort by that (sort_by_cached_key, a list of pairs of key and item). Where only the smallest or largest item \
                 is needed, look for that alone",
                name(*first)
            )
        } else {
            format!(
                "If the result is not always needed, call {} only where it is. Otherwise keep it: compute it once before the loop that asks for it, store it in the object that it is \
             about, or in a table (arguments → result). Discard a stored result when what it was made from changes",
                name(*first)
            )
        },
        ..Draft::new(
            &CAUSE,
            "computes the same result again and again",
            Confidence::Likely,
            Cost::new(Basis::Cpu, cost, gain),
            comparisons::place_of(evidence, stack, *first, process),
        )
    };
    Some(draft.candidate(evidence, GATE, process))
}

/// Whether a function is of a language's or a system's library: what it formats or converts again is what it was asked for.
pub(in crate::causes) fn is_of_library(frame: &Frame) -> bool {
    runtime::is_name(frame) || LIBRARIES.iter().any(|begin| frame.module.starts_with(begin))
}

/// CPU time of a process, as sampled, ns.
fn cpu_of(evidence: &Evidence<'_>, process: u32) -> f64 {
    let samples = evidence.recording.tables.samples.iter().zip(&evidence.weights);
    let of_it = samples.filter(|(sample, _)| sample.on_cpu && evidence.process_of(sample) == process);
    of_it.map(|(_, weight)| weight).sum()
}

/// CPU time of stacks by function.
type ByFunction = BTreeMap<u32, BTreeMap<u32, f64>>;

/// CPU time under the functions and the part of it that repeats other work, ns. What is under several of them is of the outermost.
fn time_under(evidence: &Evidence<'_>, process: u32, functions: &[(u32, Calls)]) -> (f64, f64, ByFunction) {
    let shares: BTreeMap<u32, f64> = functions.iter().map(|(function, of)| (*function, of.share())).collect();
    let (mut cost, mut gain) = (0.0, 0.0);
    let mut stacks: ByFunction = BTreeMap::new();
    let tables = &evidence.recording.tables;
    for (sample, weight) in tables.samples.iter().zip(&evidence.weights).filter(|(sample, _)| sample.on_cpu) {
        let Some(stack) = sample.stack.filter(|_| evidence.process_of(sample) == process) else { continue };
        let on: Vec<u32> = evidence.locations(stack).filter_map(|at| evidence.function_at(at)).collect();
        let Some((function, share)) =
            on.iter().rev().find_map(|function| Some((*function, *shares.get(function)?)))
        else {
            continue;
        };
        cost += weight;
        gain += weight * share;
        *stacks.entry(function).or_default().entry(stack).or_default() += weight;
    }
    (cost, gain, stacks)
}
