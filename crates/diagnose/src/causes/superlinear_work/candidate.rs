//! Every function whose calls were counted, and what they cost. Fitting a curve is left to `fit`, growth that starts over to `restarts`.

use super::carried::Carrier;
use super::clock::Clock;
use super::fit::{Counted, Span, Stretch, Together, Work, fit};
use super::restarts::{self, Restarts};
use super::timeline::{Timeline, Trend};
use crate::Evidence;
use slowpath_stats::{Growth, Point, Shape, order_p};
use std::collections::{BTreeSet, HashMap, HashSet};

/// Fewer calls than this show no growth.
pub(super) const CALLS: f64 = 50.0;
/// The last quarter of the calls costs more than so many times the first.
const RATIO: f64 = 1.8;
/// Share of the buckets that must have been counted: a rate that was seen once or twice says nothing of the rest of a run.
pub(super) const SUPPORT: f64 = 0.6;
/// Half of the changes in a noisy cost must lie on the curve, because the gain is computed from it. On a shared machine a program that otherwise
/// has 0.95 had 0.84. The order must be as strict as for growth that only time shows.
const NOISY_R2: f64 = 0.5;
const NOISY_RANK: f64 = 0.8;

/// From this share of the time in which every call was counted on, the calls' times are exact; else they are reckoned from
/// short windows.
pub(super) const EXACT: f64 = 0.3;
/// Among more windows than these one does not make a curve: the fit takes at least eight points.
const FEW_WINDOWS: usize = 8;
/// Without any one of them the last calls cost so many times what the first did at least. Of a curve through one window that was far off 1.1 was left;
/// of a cost that rises in a straight line and was counted in five windows 1.6, without the first of them. Between the two.
const RATIO_LEFT: f64 = 1.3;
/// How likely it may be that costs in short windows rise, or fall, in their order by chance. In 50 recordings of one clean program and
/// in those of the cases' fixed programs 30 functions had rising or falling costs through 1 to 9 windows: such an order is as likely as 1 in 24 at least. Where
/// growth is there, in eleven test programs and three others, it was 1 in 120 at most.
const BY_CHANCE: f64 = 0.01;
/// What a call adds to the cost of all later ones, ns, at least: going through an item takes 0.02 ns (4 of 64 bytes that are read in a cycle), and
/// one call in twenty adds one. What takes 230 ns at first and 8 at the end, in 5,500,000 calls, was counted wrongly: hits take longer.
const LEAST_NS: f64 = 0.001;
/// One thread at a time takes no more CPU time than passes, but for a few samples that a virtual machine gives too late.
const SIDE_BY_SIDE: f64 = 1.05;

/// A function that was counted in one process (or in the same process of every run), and the cost of its calls.
pub(super) struct Candidate {
    pub function: u32,
    /// For work inside a function that is entered only once or so: the rounds of its loop are counted instead of its calls.
    pub round: Option<Round>,
    /// The function with whose calls the growth starts over, if it does: then calls are counted from there.
    pub restarts: Option<Restarts>,
    /// The process; of several runs, that of the first.
    pub process: u32,
    /// What was counted, in buckets: of each process, or from each restart to the next; in order of process and time.
    pub spans: Vec<Span>,
    /// For each stack whether the function is on it.
    pub on: Vec<bool>,
    /// A stack with the function on it.
    pub example: Option<u32>,
    /// Calls in all, counted and estimated, of one run.
    pub calls: f64,
    pub counted: u64,
    /// Calls before counting began, estimated.
    pub before: f64,
    pub exact_share: f64,
    /// Share of the buckets in or next to which calls were counted.
    pub support: f64,
    /// CPU time under the function, ns, all runs.
    pub cost_ns: f64,
    /// The part of it of which the growth was seen: where it starts over, that of the documents that were compared.
    pub seen_ns: f64,
    pub points: Vec<Point>,
    pub growth: Growth,
    pub exponent: f64,
    pub falling: bool,
    /// By how much the cost of the last quarter of the calls differs from that of the first, ns.
    pub rise_ns: f64,
    /// Cost of the last quarter of the calls over that of the first (of the dearer over the cheaper).
    pub ratio: f64,
    /// A callee whose number of calls explains the growth.
    pub carrier: Option<Carrier>,
    /// Whether nothing grows if one of the windows in which it was counted is left out.
    pub in_one_window: bool,
    /// Whether the costs in its windows may be in that order by chance.
    pub by_chance: bool,
}

/// A loop whose rounds were counted.
pub(super) struct Round {
    pub loop_number: u32,
    /// For each stack whether it is of what the loop does besides.
    pub rest: Vec<bool>,
    /// For each stack whether it is in the loop at all.
    pub whole: Vec<bool>,
}

impl Candidate {
    /// Whether the cost of a call grows (or falls) steadily with its number.
    pub(super) fn grows(&self) -> bool {
        matches!(self.growth.shape, Shape::Power { .. }) && self.like_a_power(0.8, 0.8)
    }

    /// Whether it grows in many jumps, as where the items differ in what they add: to be believed only with further
    /// evidence. Two or three levels are phases of the program.
    pub(super) fn grows_in_jumps(&self) -> bool {
        let many = match &self.growth.shape {
            Shape::Steps { levels, .. } => {
                levels.len() >= 4 && (levels.is_sorted() || levels.iter().rev().is_sorted())
            }
            Shape::Unclear => true,
            _ => false,
        };
        many && self.like_a_power(0.9, 0.85)
    }

    /// Whether it grows in order, though its times lie on no curve, as on a machine whose speed changes: to be believed only where exact
    /// counts show the same, since they do not depend on the speed. They show the exponent as well.
    pub(super) fn grows_with_noise(&self) -> bool {
        let Some(ramp) = &self.growth.ramp else { return false };
        let rank = if ramp.falling { -self.growth.spearman } else { self.growth.spearman };
        self.support >= SUPPORT && rank > NOISY_RANK && self.ratio > RATIO && ramp.r2 >= NOISY_R2
    }

    /// Whether the calls at one end cost more than those at the other.
    fn is_dearer_at_one_end(&self, falling: bool) -> bool {
        self.falling == falling && self.ratio > RATIO_LEFT
    }

    /// The probes that counted it.
    pub(super) fn probes(&self) -> BTreeSet<u32> {
        self.spans.iter().map(|span| span.probe).collect()
    }

    /// The span of a moment, ns, and the bucket in it.
    pub(super) fn bucket_at(&self, process: u32, time: f64) -> Option<(&Span, usize)> {
        let begun = |span: &Span| (span.process, span.bounds[0]) <= (process, time);
        let span = self.spans.get(self.spans.partition_point(begun).checked_sub(1)?)?;
        if span.process != process || span.bounds.last().is_none_or(|end| *end < time) {
            return None;
        }
        let bucket = span.bounds[1..].partition_point(|bound| *bound <= time);
        Some((span, bucket.min(self.points.len().checked_sub(1)?)))
    }

    fn like_a_power(&self, least_rank: f64, least_r2: f64) -> bool {
        if self.support < SUPPORT {
            return false;
        }
        let Some(ramp) = &self.growth.ramp else { return false };
        let (rank, exponents) =
            if ramp.falling { (-self.growth.spearman, 0.7..=2.6) } else { (self.growth.spearman, 0.6..=2.6) };
        rises_enough(&self.points)
            && rank > least_rank
            && self.ratio > RATIO
            && ramp.r2 >= least_r2
            && exponents.contains(&ramp.exponent)
    }

    pub(super) fn with_ratio(mut self) -> Candidate {
        let n = self.points.len();
        let quarter = (n / 4).max(1);
        let mean =
            |points: &[Point]| points.iter().map(|point| point.cost).sum::<f64>() / points.len() as f64;
        let (first, last) = (mean(&self.points[..quarter]), mean(&self.points[n - quarter..]));
        self.rise_ns = (last - first).abs();
        self.ratio = if self.falling { first / last.max(1e-9) } else { last / first.max(1e-9) };
        self
    }

    /// What is saved if every call costs what the cheapest does, ns.
    pub(super) fn gain_ns(&self) -> f64 {
        let Some(ramp) = &self.growth.ramp else { return 0.0 };
        // By the curve, or as measured in the first calls (the last, where the cost falls), whichever is less.
        let end = if ramp.falling { self.points.last() } else { self.points.first() };
        let cheapest = (ramp.base + ramp.scale).min(end.map_or(f64::MAX, |point| point.cost));
        let average =
            self.points.iter().map(|point| point.cost).sum::<f64>() / self.points.len().max(1) as f64;
        if average <= 0.0 { 0.0 } else { self.seen_ns * (1.0 - cheapest / average).max(0.0) }
    }
}

/// Every function with enough counted calls and samples.
pub(super) fn counted(evidence: &Evidence<'_>) -> Vec<Candidate> {
    let tables = &evidence.recording.tables;
    let mut groups: HashMap<(u32, Option<u32>), Vec<u32>> = HashMap::new();
    for probe in tables.probes.iter().filter(|probe| probe.kind == "function") {
        let Some(function) = evidence.function_at(probe.location) else { continue };
        let key = same_in_every_run(evidence, probe.process);
        groups.entry((function, key)).or_default().push(probe.probe);
    }
    let mut groups: Vec<_> = groups.into_iter().collect();
    groups.sort();
    groups.into_iter().filter_map(|((function, _), probes)| candidate(evidence, function, &probes)).collect()
}

/// Each run of the command has a root of its own; these are one and the same, of no number. Others have theirs.
pub(super) fn same_in_every_run(evidence: &Evidence<'_>, process: u32) -> Option<u32> {
    let root = evidence.recording.tables.processes[process as usize].parent.is_none();
    (evidence.recording.about.runs <= 1 || !root).then_some(process)
}

fn candidate(evidence: &Evidence<'_>, function: u32, probes: &[u32]) -> Option<Candidate> {
    let on = evidence.stacks_with(|other| other == function);
    costed(evidence, function, on, probes)
}

/// The cost of the calls that probes counted: the samples on stacks `on`.
pub(super) fn costed(
    evidence: &Evidence<'_>,
    function: u32,
    on: Vec<bool>,
    probes: &[u32],
) -> Option<Candidate> {
    let tables = &evidence.recording.tables;
    let run_end = evidence.recording.about.start_ns + evidence.recording.about.wall_ns;
    let processes: Vec<u32> = probes.iter().map(|probe| tables.probes[*probe as usize].process).collect();
    let mut example: HashMap<u32, f64> = HashMap::new();
    let mut under: Vec<(u32, f64, f64)> = Vec::new();
    let mut threads: HashSet<u32> = HashSet::new();
    for (sample, weight) in tables.samples.iter().zip(&evidence.weights) {
        let Some(stack) = sample.stack.filter(|stack| on[*stack as usize]) else { continue };
        let of = evidence.process_of(sample);
        if processes.contains(&of) {
            under.push((of, sample.time_ns as f64, *weight));
            threads.insert(sample.thread);
            *example.entry(stack).or_default() += weight;
        }
    }
    let timelines_without = |trend: Trend, without: Option<usize>| -> Vec<Counted> {
        let of = |(probe, number): (&u32, &u32)| {
            let process = &tables.processes[*number as usize];
            // Its first call is not before its first sample, but for a sample's length, nor its last one behind the last.
            let own = || under.iter().filter(|(of, ..)| of == number);
            let first = own().next().map_or(0.0, |(_, time, weight)| time - weight);
            let last = own().next_back().map_or(u64::MAX, |(_, time, weight)| (time + weight) as u64);
            let start = process.start_ns.max(first as u64);
            let end = process.end_ns.unwrap_or(run_end).min(last);
            let clock = clock(evidence, *number, &threads);
            let timeline = Timeline::of(evidence.recording, *probe, (start, end), clock, trend, without)?;
            Some(Counted { probe: *probe, process: *number, timeline })
        };
        probes.iter().zip(&processes).filter_map(of).collect()
    };
    let timelines = |trend: Trend| timelines_without(trend, None);
    let work = Work { function, on: &on, under: &under };
    let fit_to = |timelines: &[Counted]| {
        let stretches: Vec<Stretch<'_>> = timelines.iter().map(Stretch::whole).collect();
        fit(&work, &stretches, Together::Runs)
    };
    let example = largest(&example);
    let first = timelines(Trend::Unknown);
    let fitted = Candidate { example, ..fit_to(&first)? };
    let ramp = fitted.growth.ramp.as_ref().filter(|ramp| ramp.r2 >= 0.8);
    let (again, timelines) = match ramp {
        // Where it falls, the calls behind the last that were counted are ever cheaper.
        Some(ramp) if ramp.falling => {
            let falling = timelines(Trend::Falls);
            (fit_to(&falling), falling)
        }
        // Where the cost rises, the calls before counting began were cheaper, and so more, than the first that were counted.
        Some(ramp) => {
            let cheapest = fitted.points[0].cost.max(1e-9);
            let power = ramp.exponent.min(2.0) * (1.0 - ramp.base / cheapest).clamp(0.0, 1.0).max(0.5);
            let risen = |(first, counted): (&Counted, Counted)| {
                let before = counted.timeline.before.max(first.timeline.before * (1.0 + power));
                Counted { timeline: counted.timeline.with_before(before, power.max(1.0)), ..counted }
            };
            let rising: Vec<Counted> = first.iter().zip(timelines(Trend::Rises)).map(risen).collect();
            (fit_to(&rising), rising)
        }
        None => (None, first),
    };
    let mut found = again.map_or(fitted, |again| Candidate { example, ..again });
    if found.grows() || found.grows_in_jumps() {
        let windows = timelines.iter().map(|counted| counted.timeline.windows.len()).max().unwrap_or(0);
        let costs: Vec<Vec<f64>> = timelines.iter().map(|counted| counted.timeline.costs.clone()).collect();
        let estimated = found.exact_share <= EXACT;
        found.by_chance = estimated && order_p(&costs, !found.falling) > BY_CHANCE;
        found.in_one_window = estimated
            && windows <= FEW_WINDOWS
            && (0..windows).any(|one| {
                let other = fit_to(&timelines_without(Trend::Unknown, Some(one)));
                other.is_none_or(|other| !other.is_dearer_at_one_end(found.falling))
            });
    }
    if found.grows() || found.grows_in_jumps() || is_done_side_by_side(&under) {
        return Some(found);
    }
    let folded = restarts::fold(evidence, &work, &found, &timelines);
    Some(folded.map_or(found, |folded| Candidate { example, ..folded }))
}

/// Whether the cost changes by so much that calls can go through what earlier ones left.
fn rises_enough(points: &[Point]) -> bool {
    let (Some(first), Some(last)) = (points.first(), points.last()) else { return false };
    (last.cost - first.cost).abs() >= LEAST_NS * (last.k - first.k)
}

/// Whether several threads do it at the same time: then nobody knows of which of them a moment is.
fn is_done_side_by_side(under: &[(u32, f64, f64)]) -> bool {
    let mut of: HashMap<u32, (f64, f64, f64)> = HashMap::new();
    for (process, time, weight) in under {
        let (first, last, sum) = of.entry(*process).or_insert((time - weight, *time, 0.0));
        (*first, *last, *sum) = (first.min(time - weight), last.max(*time), *sum + weight);
    }
    of.values().any(|(first, last, sum)| *sum > SIDE_BY_SIDE * (last - first))
}

/// The CPU time of those of the threads that are of a process.
fn clock(evidence: &Evidence<'_>, process: u32, threads: &HashSet<u32>) -> Clock {
    let samples = evidence.recording.tables.samples.iter();
    let of =
        samples.filter(|sample| threads.contains(&sample.thread) && evidence.process_of(sample) == process);
    let of: Vec<_> = of.collect();
    let several = of.iter().any(|sample| sample.thread != of[0].thread);
    Clock::of(of.iter().map(|sample| (sample.time_ns as f64, sample.weight_ns as f64)), several)
}

fn largest(weights: &HashMap<u32, f64>) -> Option<u32> {
    weights.iter().max_by(|a, b| a.1.total_cmp(b.1).then(a.0.cmp(b.0))).map(|(stack, _)| *stack)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_item_is_gone_through_in_next_to_no_time() {
        let points = |calls: f64, first: f64, last: f64| -> Vec<Point> {
            [(0.0, first), (calls, last)].map(|(k, cost)| Point { k, cost, variance: 0.0 }).to_vec()
        };
        assert!(!rises_enough(&points(5.5e6, 230.0, 8.0)));
        assert!(!rises_enough(&points(1e5, 100.0, 199.0)));
        assert!(rises_enough(&points(1e5, 100.0, 201.0)));
        assert!(rises_enough(&points(3e4, 60e3, 100.0)));
    }
}
