//! What a thread that is stopped at each call did itself.
//!
//! Between two stops it goes one *leg*: it is let go, works, and stops. The scheduler's account says what CPU time a leg took; what letting go
//! and stopping took of it is many times what a short call takes, and is twice or five times as much where the tracer and the thread are on
//! different CPUs, which changes every few ms. So it is measured where the work is: now and then a thread is stopped once more right after a call,
//! and that leg has no work. Of a leg as much is taken off as such legs before and after it took. Where the rest is no further from the median
//! of its kind than stops are from each other, it is the median: only what lies beyond is work that can be seen.
//!
//! The sum has an error all the same: a dozen stops show only so well what a stop takes, and a few long legs may be work or a machine that was
//! busy with something else.

use crate::tracer::ptrace::reference::median;
use std::collections::BTreeMap;

/// What a leg was.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(in crate::tracer::ptrace) enum Kind {
    /// Within a call, by its number.
    Call(u32),
    /// From a call to the next.
    Between,
    /// To a stop that is none of a call.
    Other,
}

/// A leg: what CPU time it took, ns, and how many legs without work were before it.
#[derive(Debug, Clone, Copy)]
pub(in crate::tracer::ptrace) struct Leg {
    pub kind: Kind,
    pub took: u64,
    pub behind: usize,
}

/// What was done in all legs of a window, ns.
#[derive(Debug, Default)]
pub(in crate::tracer::ptrace) struct Whole {
    /// In each.
    pub works: Vec<i64>,
    /// In all; may be less than nothing.
    pub sum_ns: i64,
    /// The standard error of that.
    pub error_ns: i64,
}

impl Whole {
    /// The value that lies nearest to what is usual, of those that the measurement allows (95 %).
    pub(super) fn nearest_to(&self, usual_ns: u64) -> u64 {
        let (least, most) = (self.sum_ns - 2 * self.error_ns, self.sum_ns + 2 * self.error_ns);
        (usual_ns as i64).clamp(least, most.max(least)).max(0) as u64
    }
}

/// The legs of a thread in a window.
#[derive(Debug, Default)]
pub(in crate::tracer::ptrace) struct Legs {
    /// What legs without work took: the last one before, and each in it, ns.
    first: u64,
    alone: Vec<u64>,
    all: Vec<Leg>,
}

/// Legs of a kind before they have a median.
const FEW: usize = 5;
/// Stops of one thread on one CPU differ by so much of their median at least.
const SCATTER: f64 = 0.25;
/// From the first tenth to the last of a normal distribution, in standard deviations; and the error of its median over that of its mean.
const TENTHS: f64 = 2.563;
const MEDIAN_ERROR: f64 = 1.253;
/// No stop takes so many times what one usually takes: the account is of the thread's own CPU time, and interrupts in it are short.
const LONG: f64 = 30.0;
/// Two stops that differ by more than this part of the shorter one were on one CPU and on two.
const CHANGED: f64 = 0.5;

impl Legs {
    /// Starts a window; a leg without work took so long last.
    pub(super) fn new(first: u64) -> Legs {
        Legs { first, ..Legs::default() }
    }

    /// What the last leg without work took, ns.
    pub(super) fn last_alone(&self) -> u64 {
        self.alone.last().copied().unwrap_or(self.first)
    }

    /// A leg without work.
    pub(super) fn add_alone(&mut self, took: u64) {
        self.alone.push(took);
    }

    /// Another one; its number.
    pub(super) fn add(&mut self, kind: Kind, took: u64) -> usize {
        self.all.push(Leg { kind, took, behind: self.alone.len() });
        self.all.len() - 1
    }

    /// The number of the leg from the call before to the one of this leg.
    pub(super) fn before(&self, call: usize) -> Option<usize> {
        let before = call.checked_sub(1)?;
        (self.all.get(before)?.kind == Kind::Between).then_some(before)
    }

    /// What was done in all legs. `entry_ns` as for [`Legs::works`].
    pub(super) fn whole(&self, entry_ns: i64) -> Whole {
        let works = self.works(entry_ns);
        let mut kinds: BTreeMap<Kind, Vec<f64>> = BTreeMap::new();
        for (leg, work) in self.all.iter().zip(&works) {
            kinds.entry(leg.kind).or_default().push(*work as f64);
        }
        let longest = LONG * self.usual_stop();
        let variance = |works: &Vec<f64>| {
            let by_chance = || works.iter().filter(|work| **work < longest);
            let mean = by_chance().sum::<f64>() / by_chance().count().max(1) as f64;
            by_chance().map(|work| (work - mean).powi(2)).sum::<f64>()
        };
        // An exec happens once.
        let by_chance =
            kinds.iter().filter(|(kind, _)| **kind != Kind::Other).map(|(_, works)| variance(works));
        let by_chance = by_chance.sum::<f64>().sqrt();
        // Few stops do not show how far they lie apart.
        let apart = if self.alone.len() < FEW { CHANGED * self.usual_stop() } else { 0.0 };
        let deviation = (scatter(&self.alone) as f64).max(apart) / TENTHS;
        let of_stops = MEDIAN_ERROR * deviation / (self.alone.len().max(1) as f64).sqrt();
        let error_ns = by_chance.hypot(of_stops * self.all.len() as f64);
        Whole { sum_ns: works.iter().sum(), error_ns: error_ns as i64, works }
    }

    /// What a leg without work usually takes, ns.
    fn usual_stop(&self) -> f64 {
        median(self.alone.clone()).unwrap_or(self.first) as f64
    }

    /// The work of each leg, ns. One may be less than nothing; then others seem to be more than they were. `entry_ns`: what it takes to enter a
    /// call and stop there more than to stop without one.
    fn works(&self, entry_ns: i64) -> Vec<i64> {
        let rests: Vec<i64> = self.all.iter().map(|leg| self.rest(leg, entry_ns)).collect();
        let mut kinds: BTreeMap<Kind, Vec<i64>> = BTreeMap::new();
        for (leg, rest) in self.all.iter().zip(&rests) {
            kinds.entry(leg.kind).or_default().push(*rest);
        }
        let medians: BTreeMap<Kind, i64> = kinds
            .into_iter()
            .filter(|(kind, rests)| *kind != Kind::Other && rests.len() >= FEW)
            .filter_map(|(kind, rests)| Some((kind, median(rests)?)))
            .collect();
        let scatter = scatter(&self.alone);
        let work = |(leg, rest): (&Leg, i64)| {
            let usual = medians.get(&leg.kind).copied().filter(|median| (rest - median).abs() <= scatter);
            usual.unwrap_or(rest)
        };
        self.all.iter().zip(rests).map(work).collect()
    }

    /// What a leg took more than one without work.
    fn rest(&self, leg: &Leg, entry_ns: i64) -> i64 {
        let before = leg.behind.checked_sub(1).map_or(self.first, |at| self.alone[at]);
        let after = self.alone.get(leg.behind).copied().unwrap_or(before);
        let stop = if before.abs_diff(after) as f64 > CHANGED * before.min(after) as f64 {
            if leg.took.abs_diff(before) <= leg.took.abs_diff(after) { before } else { after }
        } else {
            u64::midpoint(before, after)
        };
        let more = if leg.kind == Kind::Between { entry_ns } else { 0 };
        leg.took as i64 - stop as i64 - more
    }
}

/// How far stops lie apart: all but a tenth at each end, ns.
fn scatter(alone: &[u64]) -> i64 {
    let mut sorted = alone.to_vec();
    sorted.sort_unstable();
    let Some(last) = sorted.len().checked_sub(1) else { return 0 };
    let at = |part: f64| sorted[(last as f64 * part).round() as usize];
    let apart = at(0.9) - at(0.1);
    (apart as f64).max(SCATTER * at(0.5) as f64) as i64
}

#[cfg(test)]
mod tests {
    use super::*;

    const STAT: Kind = Kind::Call(4);

    /// Legs of a loop that stats, in which a stop takes 3 µs or, on another CPU, 14; each eighth call is followed by a leg without work.
    fn looped(call_ns: impl Fn(u64) -> u64, user_ns: u64) -> Legs {
        let mut legs = Legs::new(3_000);
        for call in 0..200 {
            let stop = if call / 37 % 2 == 0 { 3_000 } else { 14_000 } + call * 7919 % 600;
            legs.add(STAT, stop + call_ns(call));
            if call % 8 == 0 {
                legs.add_alone(stop + call * 104_729 % 300);
            }
            legs.add(Kind::Between, stop + user_ns);
        }
        legs
    }

    fn sums(legs: &Legs) -> (i64, i64) {
        let works = legs.works(0);
        let of =
            |kind| legs.all.iter().zip(&works).filter(|(leg, _)| leg.kind == kind).map(|(_, ns)| ns).sum();
        (of(STAT), of(Kind::Between))
    }

    #[test]
    fn short_calls_are_seen_though_stops_take_much_longer_and_change() {
        let (calls, between) = sums(&looped(|_| 600, 100));
        assert!((200 * 300..200 * 1_200).contains(&calls), "{calls}");
        assert!(between.abs() < 200 * 500, "{between}");
    }

    #[test]
    fn a_few_long_calls_count_in_full() {
        let (calls, _) = sums(&looped(|call| if call % 50 == 0 { 1_000_000 } else { 600 }, 100));
        assert!((4_000_000..4_300_000).contains(&calls), "{calls}");
    }

    #[test]
    fn work_between_calls_is_seen() {
        let (_, between) = sums(&looped(|_| 600, 50_000));
        assert!((9_700_000..10_400_000).contains(&between), "{between}");
    }

    #[test]
    fn a_few_long_legs_are_no_proof_of_work_and_many_are() {
        let seen = |long: u64| looped(|call| if call % long == 0 { 100_000 } else { 600 }, 0).whole(0);
        // One that no stop takes is work.
        let long = looped(|call| if call == 100 { 5_000_000 } else { 600 }, 0).whole(0);
        assert!(long.nearest_to(120_000) > 4_000_000, "{long:?}");
        // 3 of 200.
        let few = seen(67);
        assert!((few.sum_ns - 300_000).abs() < 150_000, "{few:?}");
        assert!(few.nearest_to(120_000) < 160_000, "{few:?}");
        // 20 of them.
        let many = seen(10);
        assert!((700_000..2_200_000).contains(&many.nearest_to(120_000)), "{many:?}");
        assert_eq!(Whole { works: Vec::new(), sum_ns: -500, error_ns: 100 }.nearest_to(50), 0);
    }

    #[test]
    fn a_leg_is_compared_with_stops_before_and_after_it() {
        let works = |alone: [u64; 2], took| {
            let mut legs = Legs::new(alone[0]);
            legs.add(Kind::Other, took);
            legs.add_alone(alone[1]);
            legs.works(0)
        };
        assert_eq!(works([2_000, 3_000], 5_000), [2_500]);
        // The thread was moved to another CPU.
        assert_eq!(works([2_000, 12_000], 12_500), [500]);
        assert_eq!(works([2_000, 12_000], 2_500), [500]);
        assert_eq!(works([12_000, 2_000], 500), [-1_500]);
    }

    #[test]
    fn a_leg_that_ends_with_the_entry_of_a_call_takes_more() {
        let mut legs = Legs::new(2_000);
        for kind in [STAT, Kind::Between, Kind::Other] {
            legs.add(kind, 3_000);
        }
        assert_eq!(legs.works(100), [1_000, 900, 1_000]);
        assert!(Legs::new(0).works(0).is_empty());
    }
}
