//! The cost of each call against its number: calls in buckets of equal number, the CPU time of a bucket from the samples under the function
//! while its calls ran; and the shape of that.

use super::candidate::{CALLS, Candidate, SUPPORT};
use super::timeline::Timeline;
use slowpath_stats::{Growth, Point, Shape, growth};
use std::collections::HashMap;

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

/// Fewer samples under a function than this show none either: the fewest buckets have enough each. With 66 a library's function that
/// formats numbers was seen to grow by chance.
const SAMPLES: f64 = 96.0;

/// Of more stretches than about this only some are asked how well they are supported: that takes time.
const LOOKED_AT: usize = 50;

/// When the calls of a function happened in one process.
pub(super) struct Counted {
    pub probe: u32,
    pub process: u32,
    pub timeline: Timeline,
}

/// Calls that follow each other: all of a process, or those from one restart to the next.
pub(super) struct Stretch<'a> {
    pub of: &'a Counted,
    /// Calls before it.
    pub first: f64,
    /// Calls that are compared, and all of it.
    pub calls: f64,
    all: f64,
}

/// The buckets of a stretch.
pub(super) struct Span {
    pub probe: u32,
    pub process: u32,
    /// Calls before it.
    pub first: f64,
    /// The moments that part it into buckets of as many calls each, ns.
    pub bounds: Vec<f64>,
}

/// What is counted, and the samples of it.
pub(super) struct Work<'a> {
    pub function: u32,
    /// For each stack whether it is of it.
    pub on: &'a [bool],
    /// Process, time and weight of the samples on them, ns.
    pub under: &'a [(u32, f64, f64)],
}

impl<'a> Stretch<'a> {
    pub(super) fn new(of: &'a Counted, first: f64, calls: f64) -> Stretch<'a> {
        Stretch { of, first, calls, all: calls }
    }

    /// All calls of a process.
    pub(super) fn whole(of: &'a Counted) -> Stretch<'a> {
        Stretch::new(of, 0.0, of.timeline.total())
    }

    /// Samples of its calls: how many of those that are compared, and the time of all, ns.
    fn samples(&self, work: &Work<'_>) -> (usize, f64) {
        let at = |call: f64| self.of.timeline.time_of(self.first + call);
        let (start, compared, end) = (at(0.0), at(self.calls), at(self.all));
        let inside =
            work.under.iter().filter(|(of, time, _)| *of == self.of.process && (start..end).contains(time));
        inside.fold((0, 0.0), |(count, sum), (_, time, weight)| {
            (count + usize::from(*time < compared), sum + weight)
        })
    }

    /// The moments that part it into buckets of as many calls each.
    fn bounds(&self, buckets: usize) -> Vec<f64> {
        let at = |bucket: usize| self.first + self.calls * bucket as f64 / buckets as f64;
        (0..=buckets).map(|bucket| self.of.timeline.time_of(at(bucket))).collect()
    }
}

/// What is known of some stretches together.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Together {
    /// The same work in another process or run: each must have been counted well.
    Runs,
    /// The same work started over: they must have been on average.
    Restarts,
}

/// The cost of each call, of all stretches together, in as many buckets as samples allow, but no more than were counted in:
/// windows that stood seldom in a short run say as much in fewer.
pub(super) fn fit(work: &Work<'_>, stretches: &[Stretch<'_>], together: Together) -> Option<Candidate> {
    let calls = stretches.iter().map(|stretch| stretch.calls).fold(0.0, f64::max);
    let (samples, seen_ns) = match together {
        Together::Runs => (work.under.len(), work.under.iter().map(|(_, _, weight)| weight).sum()),
        Together::Restarts => {
            let each = stretches.iter().map(|stretch| stretch.samples(work));
            each.fold((0, 0.0), |(count, sum), (samples, ns)| (count + samples, sum + ns))
        }
    };
    let samples = samples as f64;
    if calls < CALLS || samples < SAMPLES {
        return None;
    }
    let most = ((samples / BUCKET_SAMPLES) as usize).clamp(BUCKETS.0, BUCKETS.1).min((calls / 3.0) as usize);
    let supported = |buckets: &usize| support(stretches, together, *buckets) >= SUPPORT;
    let fewest = BUCKETS.0.min(most);
    let buckets = (fewest..=most).rev().find(supported).unwrap_or(most);
    Some(Candidate { seen_ns, ..in_buckets(work, stretches, together, calls, buckets)? })
}

/// Share of the buckets in or next to which calls were counted.
fn support(stretches: &[Stretch<'_>], together: Together, buckets: usize) -> f64 {
    let enough = stretches.iter().filter(|stretch| stretch.calls >= CALLS);
    let some = enough.step_by(1 + stretches.len() / LOOKED_AT);
    let each: Vec<f64> = some.map(|stretch| stretch.of.timeline.support(&stretch.bounds(buckets))).collect();
    match together {
        Together::Runs => each.iter().copied().fold(1.0, f64::min),
        Together::Restarts => each.iter().sum::<f64>() / each.len().max(1) as f64,
    }
}

/// The cost of each call, of all stretches together.
fn in_buckets(
    work: &Work<'_>,
    stretches: &[Stretch<'_>],
    together: Together,
    calls: f64,
    buckets: usize,
) -> Option<Candidate> {
    let first = stretches.first()?.of;
    let mut cost = vec![0.0; buckets];
    let mut squares = vec![0.0; buckets];
    let mut number = vec![0.0; buckets];
    let mut spans = Vec::new();
    let mut under: HashMap<u32, Vec<(f64, f64)>> = HashMap::new();
    work.under.iter().for_each(|(of, time, weight)| under.entry(*of).or_default().push((*time, *weight)));
    for stretch in stretches.iter().filter(|stretch| stretch.calls >= CALLS) {
        let bounds = stretch.bounds(buckets);
        let (start, end) = (bounds[0], bounds[buckets]);
        number.iter_mut().for_each(|calls| *calls += stretch.calls / buckets as f64);
        let process = stretch.of.process;
        let of_process = under.get(&process).map(Vec::as_slice).unwrap_or_default();
        let from = of_process.partition_point(|(time, _)| *time < start);
        let to = match together {
            // Behind the last call there is no other.
            Together::Runs => of_process.len(),
            Together::Restarts => of_process.partition_point(|(time, _)| *time < end).max(from),
        };
        for (time, weight) in &of_process[from..to] {
            let bucket = bounds[1..].partition_point(|bound| bound <= time).min(buckets - 1);
            cost[bucket] += weight;
            squares[bucket] += weight * weight;
        }
        spans.push(Span { probe: stretch.of.probe, process, first: stretch.first, bounds });
    }
    spans.sort_by(|a, b| a.process.cmp(&b.process).then(a.bounds[0].total_cmp(&b.bounds[0])));
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
        function: work.function,
        round: None,
        restarts: None,
        process: first.process,
        spans,
        on: work.on.to_vec(),
        example: None,
        calls,
        counted: first.timeline.counted,
        before: first.timeline.before,
        exact_share: first.timeline.exact_share,
        support: support(stretches, together, buckets),
        cost_ns: work.under.iter().map(|(_, _, weight)| weight).sum(),
        seen_ns: 0.0,
        points,
        growth,
        exponent,
        falling,
        rise_ns: 0.0,
        ratio: 0.0,
        carrier: None,
        in_one_window: false,
        by_chance: false,
    };
    Some(found.with_ratio())
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
