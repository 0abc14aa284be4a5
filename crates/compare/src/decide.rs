//! When it is enough, and what is known then.
//!
//! The data is looked at several times, and each look could find a difference by chance. So each look may err only at a part
//! of the stated rate: what the spending function of Lan and DeMets (`slowpath_stats::spent`, Pocock's kind) allows it, each
//! part taken by itself. That the looks depend on each other makes the sum smaller still, so the stated rate holds, and
//! the interval at each look is one of a family that all hold together (Jennison and Turnbull, "Repeated Confidence
//! Intervals", Biometrika 71, 1984).

use crate::values::{Estimate, Verdict};
use serde::Serialize;
use slowpath_stats::spent;

/// How often a difference may be said where there is none.
pub(crate) const ALPHA: f64 = 0.05;
/// Each look has so many times the pairs of the one before.
const STRIDE: f64 = 1.3;

/// What somebody hopes for.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Expectation {
    /// The second side is not slower than the first by more than this share (0.05 is 5 %), and, if given, this time, ns.
    NotSlowerThan {
        /// See above.
        share: f64,
        /// See above.
        least_ns: Option<u64>,
    },
    /// The second side is at least so many times as fast.
    FasterThan(f64),
}

/// Whether an expectation was met.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Outcome {
    /// There was none.
    None,
    /// Met.
    Met,
    /// Not met.
    Missed,
    /// It is unknown.
    Unknown,
}

/// Pairs at which the data is looked at, from `min` to `max`.
pub(crate) fn looks(min: usize, max: usize) -> Vec<usize> {
    let mut looks = vec![min.min(max)];
    while let Some(last) = looks.last().copied().filter(|last| *last < max) {
        looks.push(((last as f64 * STRIDE).ceil() as usize).min(max));
    }
    looks
}

/// The error rate of the look at `pairs`, after one at `before` (0 for none), of `max` planned.
pub(crate) fn alpha_of(pairs: usize, before: usize, max: usize) -> f64 {
    let at = |pairs: usize| spent(ALPHA, pairs as f64 / max as f64);
    at(pairs) - at(before)
}

/// The error rate that is left after a look at `before`, for a look that has to be the last.
pub(crate) fn alpha_left(before: usize, max: usize) -> f64 {
    ALPHA - spent(ALPHA, before as f64 / max as f64)
}

/// What an estimate says.
pub(crate) fn verdict(estimate: Option<&Estimate>, indifferent: f64) -> Verdict {
    let Some(estimate) = estimate else { return Verdict::Unknown };
    let sure = estimate.p <= 1.0 - estimate.level + 1e-12;
    match estimate {
        one if one.low > 1.0 && sure => Verdict::Faster,
        one if one.high < 1.0 && sure => Verdict::Slower,
        one if one.low >= 1.0 / (1.0 + indifferent) && one.high <= 1.0 + indifferent => Verdict::Same,
        _ => Verdict::Unknown,
    }
}

/// Whether what somebody hopes for is so, by the interval's bounds. `first_ns` is the first side's median time.
pub(crate) fn outcome(
    estimate: Option<&Estimate>,
    expectation: Option<Expectation>,
    first_ns: u64,
) -> Outcome {
    let Some(expectation) = expectation else { return Outcome::None };
    let Some(estimate) = estimate else { return Outcome::Unknown };
    // How many times as long the second side takes: at least, at most.
    let (least, most) = (1.0 / estimate.high, 1.0 / estimate.low);
    match expectation {
        Expectation::FasterThan(times) if estimate.low >= times => Outcome::Met,
        Expectation::FasterThan(times) if estimate.high < times => Outcome::Missed,
        Expectation::NotSlowerThan { share, least_ns } => {
            // Both sizes have to be exceeded.
            let by_time = least_ns.map_or(0.0, |ns| ns as f64 / first_ns.max(1) as f64);
            let bound = 1.0 + share.max(by_time);
            match () {
                () if most <= bound => Outcome::Met,
                () if least > bound => Outcome::Missed,
                () => Outcome::Unknown,
            }
        }
        Expectation::FasterThan(_) => Outcome::Unknown,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(low: f64, high: f64, p: f64) -> Estimate {
        Estimate { ratio: (low * high).sqrt(), low, high, level: 0.99, p, pairs: 9 }
    }

    #[test]
    fn looks_go_from_the_first_to_the_last_and_spend_all() {
        let looks = looks(9, 50);
        assert_eq!((looks[0], *looks.last().expect("looks")), (9, 50));
        let mut before = 0;
        let spent: f64 = looks
            .iter()
            .map(|pairs| {
                let alpha = alpha_of(*pairs, before, 50);
                before = *pairs;
                alpha
            })
            .sum();
        assert!((spent - ALPHA).abs() < 1e-12);
        assert_eq!(super::looks(9, 4), [4]);
        assert!((alpha_left(9, 50) + alpha_of(9, 0, 50) - ALPHA).abs() < 1e-12);
    }

    #[test]
    fn a_difference_needs_the_interval_and_the_ranks() {
        assert_eq!(verdict(Some(&of(1.1, 1.2, 0.004)), 0.02), Verdict::Faster);
        assert_eq!(verdict(Some(&of(1.1, 1.2, 0.04)), 0.02), Verdict::Unknown);
        assert_eq!(verdict(Some(&of(0.8, 0.9, 0.004)), 0.02), Verdict::Slower);
        assert_eq!(verdict(Some(&of(0.99, 1.01, 0.5)), 0.02), Verdict::Same);
        assert_eq!(verdict(Some(&of(0.9, 1.1, 0.5)), 0.02), Verdict::Unknown);
        assert_eq!(verdict(None, 0.02), Verdict::Unknown);
    }

    #[test]
    fn a_gate_looks_at_the_bound_and_not_at_the_middle() {
        let slower = |share| Some(Expectation::NotSlowerThan { share, least_ns: None });
        let estimate = of(1.0 / 1.15, 1.0 / 1.05, 0.004); // slower by 5 to 15 %
        assert_eq!(outcome(Some(&estimate), slower(0.04), 1), Outcome::Missed);
        assert_eq!(outcome(Some(&estimate), slower(0.10), 1), Outcome::Unknown);
        assert_eq!(outcome(Some(&estimate), slower(0.20), 1), Outcome::Met);
        let with_least = Expectation::NotSlowerThan { share: 0.04, least_ns: Some(10_000_000) };
        assert_eq!(
            outcome(Some(&estimate), Some(with_least), 20_000_000),
            Outcome::Met,
            "5 to 15 % of 20 ms are no 10 ms"
        );
        assert_eq!(outcome(Some(&of(2.0, 3.0, 0.004)), Some(Expectation::FasterThan(1.5)), 1), Outcome::Met);
        assert_eq!(
            outcome(Some(&of(2.0, 3.0, 0.004)), Some(Expectation::FasterThan(2.5)), 1),
            Outcome::Unknown
        );
        assert_eq!(
            outcome(Some(&of(2.0, 3.0, 0.004)), Some(Expectation::FasterThan(4.0)), 1),
            Outcome::Missed
        );
        assert_eq!(outcome(None, None, 1), Outcome::None);
    }
}
