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

/// Whether a call goes through as many rounds at the end as at first, or hardly more, while it costs ever more (or ever less). False where
/// too little is known.
pub(super) fn are_the_same(evidence: &Evidence<'_>, grower: &Candidate) -> bool {
    let Some(chain) = hot_loops(evidence, grower) else { return false };
    let entries = walks::all(evidence);
    let (mut rounds, mut cost) = (1.0, f64::MAX);
    // A call goes through the rounds of all levels, one inside the other.
    for one in chain {
        let of_it = entries.iter().find(|other| {
            other.walk.process == grower.process && other.walk.loop_number == Some(one.loop_number)
        });
        let Some((early, late)) = of_it.and_then(|entries| halves(grower, &entries.lengths)) else {
            return false;
        };
        rounds *= late.rounds / early.rounds;
        cost = f64::min(cost, if grower.falling { early.cost / late.cost } else { late.cost / early.cost });
    }
    let grown = if grower.falling { 1.0 / rounds } else { rounds };
    cost >= COST_RATIO && grown <= cost.powf(EXPLAINED)
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

/// The innermost loop in which most of the cost is spent, and the loops around it in the same call, outward.
fn hot_loops<'a>(evidence: &Evidence<'a>, grower: &Candidate) -> Option<Vec<&'a Loop>> {
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
        let inside = offsets[stack as usize].filter(|_| own);
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
