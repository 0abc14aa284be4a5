//! Growing functions in each other: which of them is reported, so that nothing is counted twice.
//!
//! The innermost one is guilty that has most of the cost; its callers only call it. Where none has most, the function around the growing parts is
//! reported as a whole if what it does at first with what it is given does not grow.

use super::super::runtime;
use super::super::words::time;
use super::candidate::Candidate;
use super::context::{self, Rest};
use super::{INNER_SHARE, judged};
use crate::Evidence;
use crate::candidate::Candidate as Found;
use crate::findings::{Confidence, Frame};
use std::cmp::Reverse;
use std::collections::HashSet;
use std::ptr;

/// A growing function around a reported one is mentioned if nearly all of the time of the reported one is in it, and it takes half as much again: less is
/// what estimates differ by.
const HELD: f64 = 0.9;
const MUCH_MORE: f64 = 1.5;
/// A part that was entered in half of the calls of the function around it or more stands for all of them.
const PAIRED: f64 = 0.5;

/// A growing function and what would be reported of it.
type Guilty<'a> = (&'a Candidate, Found);

/// What is reported of functions that grow, the surest and largest first.
pub(super) fn reported(evidence: &Evidence<'_>, growers: &[Candidate]) -> Vec<Found> {
    let rest: Vec<Rest> =
        growers.iter().map(|grower| context::rest_of_the_caller(evidence, grower)).collect();
    let judged_by = |(grower, rest): (_, &Rest)| Some((grower, judged(evidence, grower, *rest)?));
    let mut all: Vec<Guilty<'_>> = growers.iter().zip(&rest).filter_map(judged_by).collect();
    let is_explained = |outer: &Candidate| growers.iter().any(|inner| explains(evidence, inner, outer));
    // … and by none whose input grows: then that of the whole may grow as well.
    let is_passed_over = |outer: &Candidate| {
        let by_input = |(inner, rest): (&Candidate, &Rest)| {
            matches!(rest, Rest::Grows { .. }) && explains(evidence, inner, outer)
        };
        is_explained(outer) && !growers.iter().zip(&rest).any(by_input)
    };
    let mut whole = wholes(evidence, growers, &rest, &all, is_passed_over);
    all.retain(|(grower, _)| !is_explained(grower));
    // A part that has most of it explains the whole if it is reported; one whose input grows is given that by the whole.
    whole.retain(|(outer, _)| !all.iter().any(|(inner, _)| explains(evidence, inner, outer)));
    all.retain(|(grower, _)| of(&whole, grower).is_none());
    all.extend(whole);
    let mut found: Vec<Found> = all
        .iter()
        .filter(|one| !is_in_another(evidence, &all, one) && !is_done_for_another(evidence, &all, one))
        .map(|(grower, found)| with_the_whole(evidence, growers, grower, found.clone()))
        .collect();
    found.sort_by_key(|one| Reverse((one.finding.confidence, one.finding.cost.gain())));
    let mut seen = HashSet::new();
    found.retain(|one| {
        let Frame { function, module, .. } = &one.finding.place.frame;
        seen.insert((function.clone(), module.clone()))
    });
    found
}

/// What would be reported of a grower.
fn of<'a>(found: &'a [Guilty<'_>], grower: &Candidate) -> Option<&'a Found> {
    found.iter().find(|(one, _)| ptr::eq(*one, grower)).map(|(_, found)| found)
}

/// Functions that grow in several of their parts, none of which is most of it, where what they do at first with what they are given does not grow:
/// that says as much of their own input as of that of the part which it was seen with.
fn wholes<'a>(
    evidence: &Evidence<'_>,
    growers: &'a [Candidate],
    rest: &[Rest],
    found: &[Guilty<'_>],
    is_explained: impl Fn(&Candidate) -> bool,
) -> Vec<Guilty<'a>> {
    let sure =
        |grower: &Candidate| of(found, grower).is_some_and(|one| one.finding.confidence > Confidence::Hint);
    let judged_by_a_part = |outer: &'a Candidate| {
        let first = growers.iter().zip(rest).find_map(|(inner, rest)| {
            let Rest::FlatLead { caller, pairs, entered, .. } = *rest else { return None };
            let of_it = caller == outer.function
                && inner.process == outer.process
                && pairs as f64 >= PAIRED * entered as f64
                && sure(inner)
                && (!is_most_of(evidence, inner, outer) || is_explained(inner));
            of_it.then_some(*rest)
        })?;
        Some((outer, judged(evidence, outer, first)?))
    };
    // What is done besides may slow down a little where the grower leaves caches cold.
    let may_be = |(outer, rest): &(&Candidate, &Rest)| match rest {
        Rest::Grows { ratio, at_most } => context::is_much_less(outer, *ratio, *at_most),
        _ => true,
    };
    let left = growers.iter().zip(rest).filter(|(outer, _)| !sure(outer)).filter(may_be);
    left.filter_map(|(outer, _)| judged_by_a_part(outer)).collect()
}

/// Whether most of it is in another one that is reported, or holds one: of two the surer one counts, or else the whole.
fn is_in_another(evidence: &Evidence<'_>, all: &[Guilty<'_>], (grower, found): &Guilty<'_>) -> bool {
    let sure = |found: &Found| found.finding.confidence;
    all.iter().any(|(other, by)| {
        sure(by) >= sure(found) && is_part_of(evidence, grower, other, INNER_SHARE)
            || sure(by) > sure(found) && is_part_of(evidence, other, grower, INNER_SHARE)
    })
}

/// A function and the library function that does its work, or two ways to count one loop: one cause, reported once, by the surer one.
fn is_done_for_another(evidence: &Evidence<'_>, all: &[Guilty<'_>], (grower, found): &Guilty<'_>) -> bool {
    runtime::is_name(&evidence.frame(grower.function))
        && all.iter().any(|(outer, by)| {
            !runtime::is_name(&evidence.frame(outer.function))
                && by.finding.confidence >= found.finding.confidence
                && is_most_of(evidence, grower, outer)
        })
}

/// Whether it is `inner` that makes the calls of `outer` grow.
fn explains(evidence: &Evidence<'_>, inner: &Candidate, outer: &Candidate) -> bool {
    // A runtime's function does what it is asked to; whoever asks is guilty.
    !runtime::is_name(&evidence.frame(inner.function)) && is_most_of(evidence, inner, outer)
}

/// Whether `inner` is called under `outer` and has most of its cost.
fn is_most_of(evidence: &Evidence<'_>, inner: &Candidate, outer: &Candidate) -> bool {
    if inner.function == outer.function || inner.process != outer.process {
        return false;
    }
    let both = evidence.time_where(|stack| inner.on[stack] && outer.on[stack]);
    both >= INNER_SHARE * outer.cost_ns && context::is_caller(evidence, outer.function, inner.function)
}

/// Whether so much of `inner` is in `outer`, which calls it.
fn is_part_of(evidence: &Evidence<'_>, inner: &Candidate, outer: &Candidate, share: f64) -> bool {
    let both = || evidence.time_where(|stack| inner.on[stack] && outer.on[stack]);
    outer.process == inner.process
        && outer.function != inner.function
        && both() >= share * inner.cost_ns
        && context::is_caller(evidence, outer.function, inner.function)
}

/// Adds that a function around it grows as well and takes much more, of which it is not known whether its input grows.
fn with_the_whole(
    evidence: &Evidence<'_>,
    growers: &[Candidate],
    grower: &Candidate,
    mut found: Found,
) -> Found {
    let holds = |outer: &&Candidate| {
        outer.round.is_none()
            && outer.cost_ns >= MUCH_MORE * grower.cost_ns
            && is_part_of(evidence, grower, outer, HELD)
    };
    if let Some(outer) = growers.iter().filter(holds).max_by(|a, b| a.cost_ns.total_cmp(&b.cost_ns)) {
        found.finding.explanation.push(format!(
            "the calls of {} around it grow as well, and take {} in all: the gain may be larger",
            evidence.name(outer.function),
            time(outer.cost_ns)
        ));
        found.finding.gain_is_least = true;
    }
    found
}
