//! The cost of each call against its number, for every function that was counted: calls in buckets of equal number, the
//! CPU time of a bucket from the samples under the function while its calls ran.

use super::clock::Clock;
use super::timeline::{Timeline, Trend};
use crate::Evidence;
use slowpath_stats::{Growth, Point, Shape, growth};
use std::collections::{HashMap, HashSet};

/// Fewer calls than this show no growth.
pub(super) const CALLS: f64 = 50.0;
/// Fewer samples under a function than this show none either.
const SAMPLES: f64 = 40.0;
/// The last quarter of the calls costs more than so many times the first.
const RATIO: f64 = 1.8;
/// Share of the buckets that must have been counted: a rate that was seen once or twice says nothing of the rest of a run.
const SUPPORT: f64 = 0.6;
/// Samples that a bucket should have on average, and bounds of the number of buckets.
const BUCKET_SAMPLES: f64 = 12.0;
const BUCKETS: (usize, usize) = (8, 24);

/// Growth out of a cache: how strictly all points rise, and of the part that lies on a power how large it is, how well it fits, which
/// powers, and how far it rises. Caches alone make no straight rise to five times the cost.
const CACHE_RANK: f64 = 0.95;
const CACHE_PART: f64 = 0.6;
const CACHE_R2: f64 = 0.97;
const CACHE_EXPONENTS: std::ops::RangeInclusive<f64> = 0.8..=1.4;
const CACHE_RATIO: f64 = 5.0;

/// A function that was counted in one process (or in the same process of every run), and the cost of its calls.
pub(super) struct Candidate {
    pub function: u32,
    /// For work inside a function that is entered only once or so: the rounds of its loop are counted instead of its calls.
    pub round: Option<Round>,
    /// The process; of several runs, that of the first.
    pub process: u32,
    /// The probes that counted it, with the bounds of their buckets, ns.
    pub probes: Vec<(u32, Vec<f64>)>,
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
    pub points: Vec<Point>,
    pub growth: Growth,
    pub exponent: f64,
    pub falling: bool,
    /// Cost of the last quarter of the calls over that of the first (of the dearer over the cheaper).
    pub ratio: f64,
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

    fn like_a_power(&self, least_rank: f64, least_r2: f64) -> bool {
        if self.support < SUPPORT {
            return false;
        }
        let Some(ramp) = &self.growth.ramp else { return false };
        let (rank, exponents) =
            if ramp.falling { (-self.growth.spearman, 0.7..=2.6) } else { (self.growth.spearman, 0.6..=2.6) };
        rank > least_rank && self.ratio > RATIO && ramp.r2 >= least_r2 && exponents.contains(&ramp.exponent)
    }

    fn with_ratio(mut self) -> Candidate {
        let n = self.points.len();
        let quarter = (n / 4).max(1);
        let mean =
            |points: &[Point]| points.iter().map(|point| point.cost).sum::<f64>() / points.len() as f64;
        let (first, last) = (mean(&self.points[..quarter]), mean(&self.points[n - quarter..]));
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
        if average <= 0.0 { 0.0 } else { self.cost_ns * (1.0 - cheapest / average).max(0.0) }
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
    let timelines = |trend: Trend| -> Vec<(u32, u32, Timeline)> {
        let of = |(probe, number): (&u32, &u32)| {
            let process = &tables.processes[*number as usize];
            // Its first call is not before its first sample, but for a sample's length, nor its last one behind the last.
            let own = || under.iter().filter(|(of, ..)| of == number);
            let first = own().next().map_or(0.0, |(_, time, weight)| time - weight);
            let last = own().next_back().map_or(u64::MAX, |(_, time, weight)| (time + weight) as u64);
            let start = process.start_ns.max(first as u64);
            let end = process.end_ns.unwrap_or(run_end).min(last);
            let clock = clock(evidence, *number, &threads);
            Some((*probe, *number, Timeline::of(evidence.recording, *probe, (start, end), clock, trend)?))
        };
        probes.iter().zip(&processes).filter_map(of).collect()
    };
    let first = timelines(Trend::Unknown);
    let fitted = fit(function, &on, &under, &first)?;
    // Where it falls, the calls behind the last that were counted are ever cheaper.
    if fitted.growth.ramp.as_ref().is_some_and(|ramp| ramp.falling && ramp.r2 >= 0.8) {
        let again = fit(function, &on, &under, &timelines(Trend::Falls)).unwrap_or(fitted);
        return Some(Candidate { example: largest(&example), ..again });
    }
    // Where the cost rises, the calls before counting began were cheaper, and so more, than the first that were counted.
    let rising = fitted.growth.ramp.as_ref().filter(|ramp| !ramp.falling && ramp.r2 >= 0.8);
    let Some(ramp) = rising else { return Some(Candidate { example: largest(&example), ..fitted }) };
    let cheapest = fitted.points[0].cost.max(1e-9);
    let power = ramp.exponent.min(2.0) * (1.0 - ramp.base / cheapest).clamp(0.0, 1.0).max(0.5);
    let timelines: Vec<_> = first
        .iter()
        .zip(timelines(Trend::Rises))
        .map(|((_, _, first), (probe, process, timeline))| {
            let before = timeline.before.max(first.before * (1.0 + power));
            (probe, process, timeline.with_before(before, power.max(1.0)))
        })
        .collect();
    let again = fit(function, &on, &under, &timelines).unwrap_or(fitted);
    Some(Candidate { example: largest(&example), ..again })
}

/// The shape of all points; where no power explains them, that of a power on the cheaper part of them while the dearer ones stay
/// above it: what grows out of a cache costs more a step from there on, and grows still.
fn shape(points: &[Point]) -> Growth {
    let whole = growth(points);
    if matches!(whole.shape, Shape::Power { .. }) || whole.spearman.abs() < CACHE_RANK {
        return whole;
    }
    let falling = whole.spearman < 0.0;
    let n = points.len();
    for cut in 1..=(n as f64 * (1.0 - CACHE_PART)) as usize {
        let (part, beyond) =
            if falling { (&points[cut..], &points[..cut]) } else { (&points[..n - cut], &points[n - cut..]) };
        let mut of_part = growth(part);
        let Some(ramp) = of_part.ramp.as_mut().filter(|ramp| ramp.falling == falling) else { continue };
        let dearest = ramp.fitted.iter().copied().fold(0.0, f64::max);
        let a_power = matches!(of_part.shape, Shape::Power { .. })
            && ramp.r2 >= CACHE_R2
            && CACHE_EXPONENTS.contains(&ramp.exponent)
            && of_part.last_to_first >= CACHE_RATIO
            && beyond.iter().all(|point| point.cost >= dearest);
        if a_power {
            // Points stand in the middle of their buckets: the last call is half a bucket behind the last of them.
            let last_call = points[n - 1].k + (points[n - 1].k - points[n - 2].k) / 2.0;
            let says = |k: f64| {
                let x = if falling { last_call + 1.0 - k } else { k };
                ramp.base + ramp.scale * x.max(0.0).powf(ramp.exponent)
            };
            let fitted: Vec<f64> = points.iter().map(|point| says(point.k)).collect();
            ramp.fitted.clone_from(&fitted);
            return Growth { spearman: whole.spearman, fitted, ..of_part };
        }
    }
    whole
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

/// The cost of each call, of all timelines together, in as many buckets as samples allow, but no more than were counted in:
/// windows that stood seldom in a short run say as much in fewer.
fn fit(
    function: u32,
    on: &[bool],
    under: &[(u32, f64, f64)],
    timelines: &[(u32, u32, Timeline)],
) -> Option<Candidate> {
    let calls = timelines.iter().map(|(_, _, timeline)| timeline.total()).fold(0.0, f64::max);
    if calls < CALLS || (under.len() as f64) < SAMPLES {
        return None;
    }
    let most = ((under.len() as f64 / BUCKET_SAMPLES) as usize)
        .clamp(BUCKETS.0, BUCKETS.1)
        .min((calls / 3.0) as usize);
    let supported = |buckets: &usize| {
        let of_timeline = |timeline: &Timeline| timeline.support(&bounds(timeline, *buckets)) >= SUPPORT;
        timelines.iter().all(|(_, _, timeline)| timeline.total() < CALLS || of_timeline(timeline))
    };
    let fewest = BUCKETS.0.min(most);
    let buckets = (fewest..=most).rev().find(supported).unwrap_or(most);
    in_buckets(function, on, under, timelines, calls, buckets)
}

/// The moments that part a timeline into buckets of as many calls each.
fn bounds(timeline: &Timeline, buckets: usize) -> Vec<f64> {
    let total = timeline.total();
    (0..=buckets).map(|bucket| timeline.time_of(total * bucket as f64 / buckets as f64)).collect()
}

/// The cost of each call, of all timelines together. `under` are process, time and weight of the samples.
fn in_buckets(
    function: u32,
    on: &[bool],
    under: &[(u32, f64, f64)],
    timelines: &[(u32, u32, Timeline)],
    calls: f64,
    buckets: usize,
) -> Option<Candidate> {
    let (_, process, first) = timelines.first()?;
    let process = *process;
    let mut cost = vec![0.0; buckets];
    let mut squares = vec![0.0; buckets];
    let mut number = vec![0.0; buckets];
    let mut bounds_of = Vec::new();
    let mut support: f64 = 1.0;
    for (probe, process, timeline) in timelines {
        let total = timeline.total();
        if total < CALLS {
            continue;
        }
        let bounds = bounds(timeline, buckets);
        support = support.min(timeline.support(&bounds));
        number.iter_mut().for_each(|calls| *calls += total / buckets as f64);
        for (_, time, weight) in under.iter().filter(|(of, ..)| of == process) {
            let bucket = bounds[1..].partition_point(|bound| bound <= time).min(buckets - 1);
            if *time >= bounds[0] {
                cost[bucket] += weight;
                squares[bucket] += weight * weight;
            }
        }
        bounds_of.push((*probe, bounds));
    }
    let points: Vec<Point> = (0..buckets)
        .map(|bucket| Point {
            k: calls * (bucket as f64 + 0.5) / buckets as f64 + 0.5,
            cost: cost[bucket] / number[bucket].max(1e-9),
            variance: squares[bucket] / (number[bucket] * number[bucket]).max(1e-9),
        })
        .collect();
    let growth = shape(&points);
    let (exponent, falling) = growth.ramp.as_ref().map_or((0.0, false), |ramp| (ramp.exponent, ramp.falling));
    let found = Candidate {
        function,
        round: None,
        process,
        probes: bounds_of,
        on: on.to_vec(),
        example: None,
        calls,
        counted: first.counted,
        before: first.before,
        exact_share: first.exact_share,
        support,
        cost_ns: under.iter().map(|(_, _, weight)| weight).sum(),
        points,
        growth,
        exponent,
        falling,
        ratio: 0.0,
    };
    Some(found.with_ratio())
}
