//! Work grows with every call: the k-th call of a function costs a part that rises with k (or falls, where each call works
//! through what is left), so n calls cost n².
//!
//! - `clock` — the CPU time of the threads that make the calls.
//! - `timeline` — when each call happened.
//! - `candidate` — every function that was counted.
//! - `fit` — the cost of each call against its number.
//! - `restarts` — growth that starts over with each call of an outer function.
//! - `loops` — what a function's loops do, and the cost of each round of those that were counted.
//! - `carried` — growth that comes from a callee's number of calls, by what one of them costs.
//! - `context` — is it the input that grows? What else the caller does, and how often the callees are called.
//! - `parts` — growing functions in each other: which of them is reported.
//! - `rounds` — does a call go through more, or does each step take longer?
//! - `grown` — lists that are moved to new memory for each item.
//! - `shifts` — arrays whose items are moved by one, again and again.
//! - `slices` — the same from a run under callgrind, where all calls and their instructions were counted.
//! - `told` — the finding's texts.
//! - this file — whether one is guilty.
//!
//! The GUILTY function has linear calls and a growing cost a call. Its VICTIMS, which it calls, have many calls of flat
//! cost; its callers grow because it does. Doubling arrays, phases, warm-up and caches that overflow also cost more with
//! time, but in jumps or ever less: the growth must be steady.

mod candidate;
mod carried;
mod clock;
mod context;
mod fit;
mod grown;
mod loops;
mod parts;
mod restarts;
mod rounds;
mod shifts;
mod slices;
mod timeline;
mod told;

use super::{Find, Needs, Spec};
use crate::Evidence;
use crate::candidate::Candidate as Found;
use crate::findings::{Confidence, Finding};
use crate::gate::{Gate, Whole};
use candidate::{Candidate, EXACT};
use context::{Callee, Rest};
use loops::Shares;
use rounds::Steps;
use slowpath_recording::about::Counter;

/// See the file's head.
pub const CAUSE: Spec = Spec {
    slug: "superlinear-work",
    title: "work grows with every call",
    symptom: "the k-th call of a function costs more than the one before",
    not_known: "whether later items need more work because they are larger",
    page: include_str!("../../../../../docs/causes/superlinear-work.md"),
    needs: &[Needs::CountedCalls],
    find: Find::InRecording(find),
};

/// A tenth; what is least is ruled by the number of samples or calls that show growth.
const GATE: Gate = Gate { share: 0.10, least: 0.0, of: Whole::Cpu };
/// Where the calls' times are not exact the growth must fit a curve so well, and be so large.
const WINDOWS_R2: f64 = 0.9;
const WINDOWS_RATIO: f64 = 3.5;
/// Without further evidence the last calls must cost so many times what the first did.
const HINT_RATIO: f64 = 4.0;
/// A cost of which more than half is the kernel's is the kernel's.
const KERNEL: f64 = 0.5;
/// A grower is guilty of its caller's growth if it has this share of the caller's cost; and it does its work itself, or has one function do it, if
/// that has so much of its own.
const INNER_SHARE: f64 = 0.6;
/// Work that for this share walks speaks for itself, if it grows so many times, and as a curve that fits so well.
const WALKS: f64 = 0.6;
const WALKS_RATIO: f64 = 2.5;
const WALKS_R2: f64 = 0.95;
/// … or, if it grows as much as for a hint, in such strict order.
const WALKS_RANK: f64 = 0.97;

fn find(evidence: &Evidence<'_>) -> Vec<Found> {
    let shifts: Vec<Found> = shifts::find(evidence).into_iter().chain(grown::find(evidence)).collect();
    // What is moved is known exactly; that it takes ever longer, or ever less long, was inferred.
    let is_shift = |one: &Found| shifts.iter().any(|shift| one.is_about(shift.function()));
    let growing = growing(evidence).into_iter().filter(|one| !is_shift(one));
    growing.chain(shifts.iter().cloned()).collect()
}

pub(super) use told::FALLING;

/// Whether a finding of this cause is of steps that get shorter.
pub(super) fn falls(finding: &Finding) -> bool {
    finding.variant == FALLING
}

/// Whether a finding of this cause is of what a copying function takes by itself: what else its caller does is no part of it.
pub(super) fn is_of_copies(finding: &Finding) -> bool {
    shifts::VARIANTS.contains(&finding.variant) || finding.variant == grown::VARIANT
}

/// Over all processes and runs.
fn growing(evidence: &Evidence<'_>) -> Vec<Found> {
    if !evidence.recording.tables.slices.is_empty() {
        return slices::find(evidence);
    }
    let counted = candidate::counted(evidence);
    let rounds = loops::rounds(evidence);
    let is_grower = |one: &Candidate| one.grows() || one.grows_in_jumps() || is_counted_growth(evidence, one);
    let (mut growers, others): (Vec<Candidate>, Vec<Candidate>) =
        counted.into_iter().chain(rounds).partition(is_grower);
    growers.retain(|grower| GATE.passes(evidence, grower.gain_ns()));
    for grower in &mut growers {
        grower.carrier = carried::carrier(evidence, grower, &others);
    }
    parts::reported(evidence, &growers)
}

/// Whether a function that it calls, and that does most of its work, is called more often each time: that is counted exactly, however fast
/// the machine was at the time.
fn is_counted_growth(evidence: &Evidence<'_>, grower: &Candidate) -> bool {
    let is_most = |callee: Callee| {
        let under = evidence.stacks_with(|function| function == callee.function);
        evidence.time_where(|stack| grower.on[stack] && under[stack]) >= INNER_SHARE * grower.cost_ns
    };
    let worth = grower.grows_with_noise() && GATE.passes(evidence, grower.gain_ns());
    worth && context::callee(evidence, grower).is_some_and(is_most)
}

/// Nearly all of the time: of a falling cost no stretch may be guessed.
const NEARLY_ALL: f64 = 0.8;
/// What is left falls by as much with each call: the exponent is 1 then. The rest is for noise; a cost that falls with the square is none of these.
const STRAIGHT: std::ops::RangeInclusive<f64> = 0.6..=1.5;

/// What can be said at most of a function's growth. `flat`: what is done besides stays the same; `counted`: counts of a
/// callee show the growth.
fn strength(grower: &Candidate, flat: bool, counted: bool, shares: Shares) -> Option<Confidence> {
    let r2 = grower.growth.ramp.as_ref().map_or(0.0, |ramp| ramp.r2);
    // Over again with each document: numbers, matrices and prompts that get longer take more by their nature.
    if grower.restarts.is_some() && !counted && shares.calculates + shares.moves >= 0.5 {
        return None;
    }
    // Rates from short windows scatter, and a cache that overflows grows too, if not on a curve.
    let exact = grower.exact_share > EXACT;
    if counted || flat && (exact || r2 >= WINDOWS_R2 && grower.ratio >= WINDOWS_RATIO) {
        return Some(Confidence::Likely);
    }
    // Work of growing matrices and numbers grows by its nature.
    if shares.calculates + shares.moves >= 0.5 {
        return None;
    }
    // It only looks for something, or copies what is there, ever longer. What else loops store may be results.
    let on_a_curve = grower.grows() && r2 >= WALKS_R2 && grower.ratio >= WALKS_RATIO;
    // Out of a cache the curve bends, but each stretch costs more than the one before.
    let in_order =
        r2 >= WINDOWS_R2 && grower.growth.spearman.abs() >= WALKS_RANK && grower.ratio >= HINT_RATIO;
    if shares.walks >= WALKS && (on_a_curve || in_order) {
        return Some(Confidence::Likely);
    }
    if flat || !grower.grows() {
        return None;
    }
    // Nothing but time speaks for it: then it must be large. Rounds that get shorter are mostly pairs of all with all.
    let pairs = grower.falling && grower.round.is_some();
    (grower.ratio >= HINT_RATIO && !pairs).then_some(Confidence::Hint)
}

/// Whether a cost that falls is that of going through what is left, by time alone: it falls in a straight line, and was measured nearly all the time. The larger
/// items may have come first: of the files of a source tree, formatted one by one, the first ones took thirty times as long as the last.
fn is_what_is_left(grower: &Candidate, exponent: f64, estimated: bool) -> bool {
    !estimated && grower.exact_share >= NEARLY_ALL && STRAIGHT.contains(&exponent)
}

/// A finding if it is guilty; `rest`: what is done besides.
fn judged(evidence: &Evidence<'_>, grower: &Candidate, rest: Rest) -> Option<Found> {
    let ramp = grower.growth.ramp.as_ref()?;
    // What a runtime does of its own accord, as collecting garbage, nobody has asked for in a loop.
    if told::is_asked_by_nobody(evidence, grower) {
        return None;
    }
    // A cold start: what the kernel does for a call falls as its caches fill, whatever the program goes through.
    if grower.falling && loops::kernel_share(evidence, grower) > KERNEL {
        return None;
    }
    if let Rest::Grows { .. } = rest {
        return None; // what the caller does besides grows as well: so does the input
    }
    // Four breakpoints at a time show parts of the run, and each hit of them takes longer than many calls.
    let estimated = evidence.recording.about.counter == Some(Counter::Breakpoints);
    let hit_ns = evidence.recording.about.hit_ns.filter(|_| estimated).unwrap_or(0) as f64;
    let callee = context::callee(evidence, grower);
    if callee.is_none() && grower.round.is_none() && context::passes_on(evidence, grower) {
        return None;
    }
    // A call of which few do a lot of work, as one that fills a buffer: a window with such a one shows a cost that is none.
    // Or a few windows that happen to be in order.
    if callee.is_none() && (grower.in_one_window || grower.by_chance) {
        return None;
    }
    if callee.is_none() {
        match rounds::steps(evidence, grower) {
            // As many steps as before, each of them dearer: a cache, or the machine.
            Steps::Same => return None,
            // Time alone cannot tell growth from caches that overflow.
            Steps::Unknown if grower.carrier.is_none() && rounds::may_be_caches(evidence, grower) => {
                return None;
            }
            // What a hit of a breakpoint takes is not the same at all times, and is subtracted.
            Steps::Unknown if grower.round.is_none() && grower.rise_ns < hit_ns => return None,
            Steps::Unknown if grower.falling && !is_what_is_left(grower, ramp.exponent, estimated) => {
                return None;
            }
            Steps::Unknown | Steps::More => {}
        }
    }
    let flat = matches!(rest, Rest::Flat { .. } | Rest::FlatLead { .. });
    let exact = grower.exact_share > EXACT;
    let shares = loops::shares(evidence, grower);
    let strength = strength(grower, flat, callee.is_some(), shares)?;
    let confidence = match (flat, exact, &callee) {
        _ if strength < Confidence::Likely => strength,
        (true, ..) if grower.round.is_some() => Confidence::Likely,
        (true, true, Some(_)) => Confidence::Certain,
        (true, true, None) if ramp.r2 >= 0.9 && matches!(rest, Rest::Flat { .. }) => Confidence::Certain,
        (true, ..) => Confidence::Likely,
        (false, ..) => strength,
    };
    let confidence = if estimated { confidence.min(Confidence::Likely) } else { confidence };
    Some(told::candidate(evidence, grower, &Verdict { rest, callee, flat, confidence }))
}

/// What was found out about a growing function.
struct Verdict {
    rest: Rest,
    callee: Option<Callee>,
    /// What is done besides stays the same.
    flat: bool,
    confidence: Confidence,
}
