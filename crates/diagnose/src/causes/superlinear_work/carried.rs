//! Growth that is carried by one function: it has most of the grower's cost, and each of its own calls costs the same at all times, so the grower
//! must call it more often each time. Caches that overflow, or a machine that slows down, would make its calls dearer. This says so where
//! too few calls of both were counted at once to see it directly (`context::callee`).

use super::candidate::{Candidate, SUPPORT};
use super::context;
use crate::Evidence;

/// The callee has so much of the grower's cost: what is left over cannot double it.
const MOST: f64 = 0.8;
/// … and so much of the callee's own cost is under the grower: its other calls may be of another kind.
const FOR_IT: f64 = 0.9;
/// It is called at least so many times a call, on average: else its cost is the call's.
const TIMES: f64 = 4.0;
/// Its own cost a call changes by at most this power of the change that is to be explained, so three quarters of that
/// (in orders of magnitude) come from the number of calls.
const FLAT: f64 = 0.25;

/// A function whose number of calls explains the growth.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Carrier {
    pub function: u32,
    /// Its part of the grower's cost.
    pub share: f64,
    /// What one of its calls takes on average, ns.
    pub call_ns: f64,
    /// The dearer of first and last quarter of its calls over the cheaper.
    pub ratio: f64,
}

/// The carrier of a grower, the one with most of its cost; among all functions that were counted.
pub(super) fn carrier(evidence: &Evidence<'_>, grower: &Candidate, counted: &[Candidate]) -> Option<Carrier> {
    if grower.round.is_some() {
        return None;
    }
    let of = |callee: &Candidate| {
        let ratio = callee.ratio.max(1.0 / callee.ratio.max(1e-9));
        let is_flat = callee.support >= SUPPORT && ratio <= grower.ratio.powf(FLAT);
        let often = callee.calls >= TIMES * grower.calls;
        if callee.process != grower.process || callee.function == grower.function || !is_flat || !often {
            return None;
        }
        let both = evidence.time_where(|stack| grower.on[stack] && callee.on[stack]);
        let share = both / grower.cost_ns.max(1.0);
        let carries = share >= MOST
            && both >= FOR_IT * callee.cost_ns
            && context::is_caller(evidence, grower.function, callee.function);
        let call_ns = callee.cost_ns / callee.calls;
        carries.then_some(Carrier { function: callee.function, share, call_ns, ratio })
    };
    counted.iter().filter_map(of).max_by(|a, b| a.share.total_cmp(&b.share))
}
