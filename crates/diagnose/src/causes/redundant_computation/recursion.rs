//! A function that calls itself is given, while it works out one result, the very same several times, and works it out each time: a matcher that
//! comes back to a place where it failed before, a graph that is followed along every way, a size that each level of a tree adds up anew.
//!
//! The function and all that it calls only read (the collector looked at their code), and what it is given was noted with its first bytes: so it
//! comes to the same result. That a program calls it several times for the same is not enough: a test or a benchmark does so on purpose. It must be
//! within one call, or a call for a part of what an earlier call was for.

use super::{CAUSE, GATE, comparisons};
use crate::Evidence;
use crate::candidate::Candidate;
use crate::causes::words::count;
use crate::draft::Draft;
use crate::evidence::heaviest;
use crate::findings::{Basis, Confidence, Cost, Fact, Sure};
use crate::walks::{self, Entries, LOWEST_ADDRESS};
use slowpath_recording::tables::Beginning;
use std::collections::{BTreeMap, HashMap, HashSet};

/// Variant of these findings, for their fingerprints.
const RECURSION: &str = "recursion";
/// Calls that must have been looked at: a burst has some hundreds.
const NOTED: usize = 500;
/// … and of them in the second halves of the bursts, of which the share is taken: half of what there usually is then. The share of 125 is known to 0.09 (95 %).
const LATER: usize = 125;
/// … in so many bursts: one may show what happens once.
const BURSTS: usize = 3;
/// Share of those in the second halves of the bursts that repeat an earlier one: below, a table of results costs about as much as it saves.
const AGAIN: f64 = 0.5;
/// It must call itself in this share of its samples: else it is entered once for each of its callers' calls.
const CALLS_ITSELF: f64 = 0.3;

pub(super) fn find(evidence: &Evidence<'_>) -> Vec<Candidate> {
    let all = walks::all(evidence);
    let recursive =
        all.iter().filter(|entries| entries.walk.arguments.is_some() && entries.one_loop.is_none());
    let mut found: Vec<(Candidate, HashSet<u32>)> =
        recursive.filter_map(|entries| finding(evidence, entries)).collect();
    found.sort_by_key(|(one, _)| std::cmp::Reverse(one.finding.cost.gain()));
    // Of functions that call each other one is reported: what is under both is the same.
    let mut kept: Vec<(Candidate, HashSet<u32>)> = Vec::new();
    for (one, stacks) in found {
        let same = |(other, of): &(Candidate, HashSet<u32>)| {
            other.process == one.process && 2 * of.intersection(&stacks).count() > stacks.len()
        };
        if !kept.iter().any(same) {
            kept.push((one, stacks));
        }
    }
    kept.into_iter().map(|(one, _)| one).collect()
}

/// What a call is given: each argument and what is there.
type Given<'a> = (&'a [u64], &'a [u64]);

/// Calls of one burst that come to a result which an earlier one of it came to.
#[derive(Default)]
struct Again {
    /// All that were looked at.
    noted: usize,
    /// In the second halves of the bursts, since the first calls of each repeat what came before it as well, unseen; and those that repeat one.
    later: usize,
    repeated: usize,
}

impl Again {
    fn add(&mut self, arguments: usize, burst: &[&Beginning]) {
        fn given(row: &Beginning, arguments: usize) -> Option<Given<'_>> {
            Some((row.addresses.get(..arguments)?, row.contents.get(..arguments)?))
        }
        // What another thread calls meanwhile is not part of the same call.
        if burst.iter().any(|row| row.thread != burst[0].thread) {
            return;
        }
        // By thread and moment, what outermost calls were given.
        let mut outermost: HashMap<(Option<u32>, u64), Given<'_>> = HashMap::new();
        // What was met within some outermost call, and in which of them.
        let mut inner: HashSet<Given<'_>> = HashSet::new();
        let mut known: HashMap<Given<'_>, HashSet<u64>> = HashMap::new();
        for (at, row) in burst.iter().enumerate() {
            let Some(key) = given(row, arguments) else { continue };
            // Of numbers alone it calculates: the Fibonacci numbers are often worked out so in order to spend time.
            let data = |(address, content): (&u64, &u64)| *address >= LOWEST_ADDRESS && *content != 0;
            if !key.0.iter().zip(key.1).any(data) {
                continue;
            }
            let of = if row.within_ns == 0 { row.time_ns } else { row.within_ns };
            // One that calls nothing takes next to nothing: a leaf that is shared, as that of an empty tree.
            let calls = burst.get(at + 1).is_some_and(|next| next.within_ns == of && next.below > row.below);
            let later = calls && 2 * at >= burst.len();
            self.noted += usize::from(calls);
            self.later += usize::from(later);
            if row.within_ns == 0 {
                outermost.insert((row.thread, row.time_ns), key);
            } else {
                inner.insert(key);
            }
            let before = known.entry(key).or_default();
            let a_part = || outermost.get(&(row.thread, of)).is_some_and(|outer| inner.contains(outer));
            let again = before.contains(&of) || !before.is_empty() && a_part();
            self.repeated += usize::from(later && again);
            before.insert(of);
        }
    }

    fn share(&self) -> f64 {
        self.repeated as f64 / self.later.max(1) as f64
    }
}

/// CPU time under a function, counted once where it is on a stack several times.
#[derive(Default)]
struct Spent {
    ns: f64,
    twice_ns: f64,
    stacks: BTreeMap<u32, f64>,
}

impl Spent {
    fn of(evidence: &Evidence<'_>, entries: &Entries<'_>) -> Spent {
        let mut spent = Spent::default();
        let tables = &evidence.recording.tables;
        for (sample, weight) in
            tables.samples.iter().zip(&evidence.weights).filter(|(sample, _)| sample.on_cpu)
        {
            let Some(stack) = sample.stack.filter(|_| evidence.process_of(sample) == entries.walk.process)
            else {
                continue;
            };
            let here = |location: &u32| evidence.function_at(*location) == Some(entries.function);
            let times = evidence.locations(stack).filter(here).count();
            if times > 0 {
                spent.ns += weight;
                spent.twice_ns += if times > 1 { *weight } else { 0.0 };
                *spent.stacks.entry(stack).or_default() += weight;
            }
        }
        spent
    }
}

/// With it the stacks that it is on.
fn finding(evidence: &Evidence<'_>, entries: &Entries<'_>) -> Option<(Candidate, HashSet<u32>)> {
    let arguments = entries.walk.arguments? as usize;
    let mut again = Again::default();
    entries.bursts.iter().for_each(|burst| again.add(arguments, burst));
    if entries.bursts.len() < BURSTS || again.noted < NOTED || again.later < LATER || again.share() < AGAIN {
        return None;
    }
    let spent = Spent::of(evidence, entries);
    let gain = spent.ns * again.share();
    if spent.twice_ns < CALLS_ITSELF * spent.ns || !GATE.may_pass(evidence, gain) {
        return None;
    }
    let stack = heaviest(&spent.stacks)?;
    let name = slowpath_interfaces::without_arguments(evidence.name(entries.function)).to_owned();
    let draft = Draft {
        not_known: "whether something behind the bytes that were compared changes between the calls",
        variant: RECURSION,
        // A burst does not see what came before it.
        gain_is_least: true,
        explanation: vec![
            format!(
                "{name} calls itself. Of {} of its calls that call it again, {} had the same arguments as an earlier call for the same task",
                count(again.later as f64),
                count(again.repeated as f64)
            ),
            "it changes no memory, nor does what it calls, so such a call very probably has the same result again. Arguments and the first 64 bytes \
             behind each pointer were compared: check that what lies behind them does not change meanwhile"
                .to_owned(),
        ],
        facts: vec![
            Fact::new("calls looked at", again.noted as f64, "calls", "probe", Sure::Exact),
            Fact::new("share of calls that repeat one", again.share(), "ratio", "probe", Sure::Sampled),
        ],
        advice: format!(
            "Store each result of {name} in a table (arguments → result) and look there first (memoization); empty the table when the outermost call \
             returns. For a tree: compute the children first and store the result in the node. For a matcher: return at once from all levels when no \
             way can succeed any more"
        ),
        ..Draft::new(
            &CAUSE,
            "recursion computes the same results again",
            Confidence::Likely,
            Cost::new(Basis::Cpu, spent.ns, gain),
            comparisons::place_of(evidence, stack, entries.function, entries.walk.process),
        )
    };
    Some((draft.candidate(evidence, GATE, entries.walk.process), spent.stacks.into_keys().collect()))
}
