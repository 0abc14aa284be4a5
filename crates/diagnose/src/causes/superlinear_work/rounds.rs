//! Does a call go through more, or does each step of it only take longer? The rounds of the loops in which the time is spent are counted
//! exactly, now and then; a cache that overflows, or a machine that slows down, makes the same rounds dearer.

use super::candidate::Candidate;
use super::loops;
use crate::Evidence;
use crate::walks::{self, Length};
use slowpath_recording::tables::Loop;
use slowpath_stats::mean;
use std::collections::HashMap;

/// Share of the cost that must be spent in the code of one innermost loop before its rounds speak for the whole. What it calls may take longer
/// in the same rounds.
const IN_ONE: f64 = 0.6;
/// Between the earlier and the later moments at which rounds were counted a call's cost must have risen so much: the 12 samples of a bucket
/// scatter by a third.
const COST_RATIO: f64 = 1.5;
/// Moments at which the rounds of each loop must have been counted: two may differ by chance.
const COUNTED: usize = 3;
/// Rounds that grow by no more than the square root of the cost (this power of it) do not explain it.
const EXPLAINED: f64 = 0.5;
/// No path through a balanced tree is longer: that of a red-black tree of n items has 2 log2(n + 1) levels at most. A list is.
const LIST: f64 = 128.0;
/// Most of the cost: what is left over cannot double it.
const EXPOSED: f64 = 0.5;

/// How a call's cost changes with what it goes through.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Steps {
    /// It goes through as many rounds at the end as at first, or hardly more, and each of them takes longer.
    Same,
    /// It goes through more, or through a list.
    More,
    /// Too little was counted.
    Unknown,
}

/// What the counted rounds say of a growing cost.
pub(super) fn steps(evidence: &Evidence<'_>, grower: &Candidate) -> Steps {
    let entries = walks::all(evidence);
    let lengths = |one: &Loop| {
        let of_it = entries.iter().find(|other| {
            other.walk.process == grower.process && other.walk.loop_number == Some(one.loop_number)
        });
        of_it.map_or(&[][..], |entries| entries.lengths.as_slice())
    };
    let own = hot_loops(evidence, grower, Samples::Own);
    match own.as_deref().and_then(|chain| compared(grower, chain, lengths)) {
        Some(compared) if compared.is_by_rounds(grower.falling) => return Steps::More,
        Some(compared) if compared.cost >= COST_RATIO => return Steps::Same,
        _ => {}
    }
    // That rounds grow explains what is called in them, too; that they do not says nothing of it.
    let called = hot_loops(evidence, grower, Samples::Called);
    let is_list = |chain: &Vec<&Loop>| {
        let innermost = lengths(chain[0]);
        let rounds: f64 = innermost.iter().map(|length| length.rounds).sum();
        !innermost.is_empty() && rounds > LIST * innermost.len() as f64
    };
    match called.as_deref().and_then(|chain| compared(grower, chain, lengths)) {
        Some(compared) if compared.is_by_rounds(grower.falling) => Steps::More,
        Some(compared) if compared.cost >= COST_RATIO => Steps::Unknown,
        _ if called.as_ref().is_some_and(is_list) => Steps::More,
        _ => Steps::Unknown,
    }
}

/// Whether caches alone can make calls dearer: most of the work reads at places that memory leads to, in a loop of the function or of one that it
/// calls; or it is in no loop of the function at all, so that a call cannot do more of it.
pub(super) fn may_be_caches(evidence: &Evidence<'_>, grower: &Candidate) -> bool {
    let tables = &evidence.recording.tables;
    let of = loops::Loops::of(evidence, grower.function);
    let looked_at =
        tables.bodies.iter().any(|body| evidence.function_at(body.location) == Some(grower.function));
    let offsets = of.offsets(evidence);
    let counted = grower.round.as_ref().map(|round| round.loop_number);
    let mut leaves: HashMap<u32, loops::Loops<'_>> = HashMap::new();
    let (mut all, mut exposed) = (0.0, 0.0);
    for (sample, weight) in tables.samples.iter().zip(&evidence.weights) {
        let Some(stack) = sample.stack.filter(|stack| grower.on[*stack as usize]) else { continue };
        all += weight;
        let Some(offset) = offsets[stack as usize] else { continue };
        let inside = of.around(offset).take_while(|one| Some(one.loop_number) != counted);
        let (loops, chases) =
            inside.fold((0, false), |(loops, chases), one| (loops + 1, chases || one.chases == Some(true)));
        let leaf = tables.stacks[stack as usize].location;
        let function = evidence.function_at(leaf).filter(|function| *function != grower.function);
        let straight = looked_at && loops == 0 && function.is_none();
        let below = function.is_some_and(|function| {
            let of = leaves.entry(function).or_insert_with(|| loops::Loops::of(evidence, function));
            let offset = tables.locations[leaf as usize].address.checked_sub(of.start());
            offset.is_some_and(|offset| of.around(offset).any(|one| one.chases == Some(true)))
        });
        exposed += if chases || straight || below { *weight } else { 0.0 };
    }
    exposed >= EXPOSED * f64::max(all, 1.0)
}

/// Costs and rounds of the later calls over those of the earlier.
struct Compared {
    /// Of the dearer over the cheaper.
    cost: f64,
    rounds: f64,
}

impl Compared {
    fn is_by_rounds(&self, falling: bool) -> bool {
        let grown = if falling { 1.0 / self.rounds } else { self.rounds };
        self.cost >= COST_RATIO && grown > self.cost.powf(EXPLAINED)
    }
}

/// A call goes through the rounds of all levels, one inside the other. None where too few were counted.
fn compared<'a>(
    grower: &Candidate,
    chain: &[&Loop],
    lengths: impl Fn(&Loop) -> &'a [Length],
) -> Option<Compared> {
    let mut whole = Compared { cost: f64::MAX, rounds: 1.0 };
    for one in chain {
        let (early, late) = halves(grower, lengths(one))?;
        whole.rounds *= late.rounds / early.rounds;
        let cost = if grower.falling { early.cost / late.cost } else { late.cost / early.cost };
        whole.cost = whole.cost.min(cost);
    }
    Some(whole)
}

/// Mean cost of a call and mean length at the earlier half of the moments at which rounds were counted, and at the later one, in order of the
/// calls; none where there are too few, or a walk was longer than could be counted.
fn halves(grower: &Candidate, lengths: &[Length]) -> Option<(Half, Half)> {
    if lengths.iter().any(|length| length.at_least) {
        return None;
    }
    let placed = |length: &Length| {
        let (_, bucket) = grower.bucket_at(grower.process, length.time_ns as f64)?;
        Some((bucket, grower.points.get(bucket)?.cost, length.rounds))
    };
    let mut placed: Vec<(usize, f64, f64)> = lengths.iter().filter_map(placed).collect();
    if placed.len() < COUNTED {
        return None;
    }
    placed.sort_by_key(|(bucket, ..)| *bucket);
    let (early, late) = placed.split_at(placed.len() / 2);
    let half = |part: &[(usize, f64, f64)]| {
        let cost: Vec<f64> = part.iter().map(|(_, cost, _)| *cost).collect();
        let rounds: Vec<f64> = part.iter().map(|(.., rounds)| *rounds).collect();
        Some(Half { cost: mean(&cost).filter(|cost| *cost > 0.0)?, rounds: mean(&rounds)? })
    };
    Some((half(early)?, half(late)?))
}

struct Half {
    cost: f64,
    rounds: f64,
}

/// Which samples are of a loop.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Samples {
    /// Those in its own code, and in the kernel below that.
    Own,
    /// Those in what it calls, too.
    Called,
}

/// The innermost loop in which most of the cost is spent, and the loops around it in the same call, outward.
fn hot_loops<'a>(evidence: &Evidence<'a>, grower: &Candidate, samples: Samples) -> Option<Vec<&'a Loop>> {
    let of = loops::Loops::of(evidence, grower.function);
    let offsets = of.offsets(evidence);
    let counted = grower.round.as_ref().map(|round| round.loop_number);
    let mut spent: HashMap<u32, f64> = HashMap::new();
    let mut all = 0.0;
    for (sample, weight) in evidence.recording.tables.samples.iter().zip(&evidence.weights) {
        let Some(stack) = sample.stack.filter(|stack| grower.on[*stack as usize]) else { continue };
        all += weight;
        let kernel =
            |location: &u32| evidence.recording.tables.locations[*location as usize].kind == "kernel";
        let leaf = evidence.locations(stack).find(|location| !kernel(location));
        let own = leaf.and_then(|location| evidence.function_at(location)) == Some(grower.function);
        let inside = offsets[stack as usize].filter(|_| own || samples == Samples::Called);
        if let Some(one) = inside.and_then(|offset| of.around(offset).next()) {
            *spent.entry(one.loop_number).or_default() += weight;
        }
    }
    let (innermost, _) = spent.into_iter().find(|(_, spent)| *spent >= IN_ONE * all)?;
    let mut chain = Vec::new();
    let mut next = Some(innermost).filter(|number| Some(*number) != counted);
    while let Some(number) = next {
        let one = evidence.recording.tables.loops.get(number as usize)?;
        chain.push(one);
        next = one.parent.filter(|parent| Some(*parent) != counted);
    }
    (!chain.is_empty()).then_some(chain)
}
