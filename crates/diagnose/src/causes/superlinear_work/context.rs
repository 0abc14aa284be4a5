//! Is it the input that grows? What else is done between the calls of a growing function, and how often that function
//! calls others.

use super::candidate::Candidate;
use crate::Evidence;
use crate::causes::runtime;
use slowpath_recording::tables::Probe;
use slowpath_stats::{CountFit, count_fit, median, rate_ratio_interval, spearman};
use std::collections::HashMap;

/// Samples that the rest of a caller must have before it says anything.
const REST_SAMPLES: f64 = 20.0;
/// The rest stays the same if its cost in the second half of the calls is at most so many times that of the first, at the
/// upper end of the 95 % interval; it grows if it is at least so many times, at the lower end.
const FLAT: f64 = 1.7;
const GROWS: f64 = 1.4;
/// Where the interval says neither, this ratio is enough not to believe in the function's own growth.
const SUSPECT: f64 = 2.2;
/// … or if it grows by less than this share of what the function does.
const SHARE_OF_GROWTH: f64 = 0.75;
/// … or than this, where the interval excludes as much: the grower's own halves scatter by a tenth.
const SOMEWHAT_LESS: f64 = 0.85;
/// The least cost of a call by which samples are weighed then, in means of all: with 24 buckets the first of a growth from nothing has this.
const LEAST_COST: f64 = 0.04;
/// Where the kernel enters for a probe or a non-maskable interrupt.
const APART: [&str; 3] = ["asm_exc_int3", "asm_exc_debug", "asm_exc_nmi"];
/// Pairs of entries, the least median time between them, and the ratios of halves that count as flat and as growth: as
/// powers of the grower's own ratio. Work on an input that grows would grow about as much (1), while that on the same
/// input may still slow down a little, where the grower leaves ever colder caches behind.
const LEAD_PAIRS: usize = 30;
const LEAD_NS: f64 = 5_000.0;
const LEAD_FLAT: f64 = 0.4;
const LEAD_GROWS: f64 = 0.5;
/// A growth of halves beyond what work in proportion to the number of the call has, which is 3.
const FAR: f64 = 6.0;
/// Calls with exact counts of a callee before a line through them says anything.
const PAIRS: usize = 12;
/// R² from which they lie on a line; or the least number of steps from one call to the next, and the share of them that
/// must be the same.
const LINE: f64 = 0.95;
const STEPS: usize = 8;
const SAME_STEP: f64 = 0.75;

/// What the callers of a growing function do besides calling it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Rest {
    /// As much in the second half of the calls as in the first, by so many samples.
    Flat { caller: u32, ratio: f64, samples: f64 },
    /// The time from the entry of the caller to that of the function is the same, ns, by so many exact pairs of entries; the caller was entered so
    /// often while the function's calls were counted.
    FlatLead { caller: u32, ratio: f64, pairs: usize, entered: usize, median_ns: f64 },
    /// More, by so much in the second half, and by so much at most (infinite where that is not known): the input grows.
    Grows { ratio: f64, at_most: f64 },
    /// Too little data.
    Unknown,
}

/// Looks outward from the function for the first caller that does something besides, and compares what it does in the
/// second half of the calls with the first.
pub(super) fn rest_of_the_caller(evidence: &Evidence<'_>, grower: &Candidate) -> Rest {
    if let Some(round) = &grower.round {
        let rest = rest_in_buckets(evidence, grower, &round.rest);
        return compared(grower, grower.function, &rest).unwrap_or(Rest::Unknown);
    }
    let callers = callers(evidence, grower);
    for caller in &callers {
        let Some(lead) = lead(evidence, grower, *caller) else { continue };
        let (ratio, rank) =
            if grower.falling { (1.0 / lead.ratio, -lead.rank) } else { (lead.ratio, lead.rank) };
        let growth = growth_of_halves(grower).max(1.0);
        if ratio <= growth.powf(LEAD_FLAT) {
            return Rest::FlatLead {
                caller: *caller,
                ratio: lead.ratio,
                pairs: lead.pairs,
                entered: lead.entered,
                median_ns: lead.median_ns,
            };
        }
        if ratio >= growth.powf(LEAD_GROWS) && rank >= 0.5 {
            return Rest::Grows { ratio, at_most: f64::INFINITY };
        }
    }
    for caller in callers {
        let with = evidence.stacks_with(|function| function == caller);
        if let Some(rest) = compared(grower, caller, &rest_in_buckets(evidence, grower, &with)) {
            return rest;
        }
    }
    Rest::Unknown
}

/// The functions that call it in its example, from the inside out.
pub(super) fn callers(evidence: &Evidence<'_>, grower: &Candidate) -> Vec<u32> {
    let mut callers: Vec<u32> = Vec::new();
    let mut seen = false;
    for location in grower.example.into_iter().flat_map(|example| evidence.locations(example)) {
        let Some(function) = evidence.function_at(location) else { continue };
        if seen && function != grower.function && !callers.contains(&function) {
            callers.push(function);
        }
        seen |= function == grower.function;
    }
    callers
}

/// The probe that counts the calls of a function in a process, with most calls if there are several.
pub(super) fn probe_of<'a>(evidence: &Evidence<'a>, function: u32, process: u32) -> Option<&'a Probe> {
    let tables = &evidence.recording.tables;
    let of_it = tables.probes.iter().filter(|probe| {
        probe.process == process
            && probe.kind == "function"
            && evidence.function_at(probe.location) == Some(function)
    });
    // One that had made room for others may have been made again.
    let calls = |probe: &&Probe| tables.calls.iter().filter(|call| call.probe == probe.probe).count();
    let mut all: Vec<&Probe> = of_it.collect();
    if all.len() > 1 {
        all.sort_by_key(|probe| std::cmp::Reverse(calls(probe)));
    }
    all.into_iter().next()
}

/// What samples of the rest, by bucket of calls, say of it; none if they say nothing.
fn compared(grower: &Candidate, caller: u32, rest: &[f64]) -> Option<Rest> {
    let (first, second) = halves(rest);
    if first + second < REST_SAMPLES {
        return None;
    }
    let (low, high) = rate_ratio_interval(second, 1.0, first, 1.0, 0.95);
    let (low, high) = if grower.falling { (1.0 / high, 1.0 / low.max(1e-9)) } else { (low, high) };
    // Flat, or at least surely growing by less than the function does.
    let growth = growth_of_halves(grower);
    let least = growth * SHARE_OF_GROWTH;
    // What changes as much the other way (where sizes change from phase to phase, say) is not the same either.
    if high <= FLAT.max(least) && low < GROWS {
        if high < 1.0 / SUSPECT {
            return None;
        }
        return Some(Rest::Flat { caller, ratio: second / first.max(0.5), samples: first + second });
    }
    let ratio = second / first.max(0.5);
    let ratio = if grower.falling { 1.0 / ratio.max(1e-9) } else { ratio };
    if growth >= FAR && ratio < growth.powf(LEAD_GROWS) {
        return None; // what leaves caches cold slows down all else a little
    }
    let suspect = ratio >= SUSPECT || (ratio >= 1.6 && low >= 1.15);
    (low >= GROWS || suspect && follows(grower, rest)).then_some(Rest::Grows { ratio, at_most: high })
}

/// Whether samples of the rest lie rather as they would if it cost as much as the grower's calls at all times than as if it cost the same: the ratio
/// of the likelihoods, which tells two hypotheses apart best (Neyman and Pearson 1933).
///
/// Drawn at random, 6,000 times, with a cost in proportion to the number of the call: the halves alone suspect a steady rest of 20 samples in 6 % of
/// the cases, of 40 in 0.5 %; with this it is 3 % and 0.2 %. Of a rest that grows as much, 7 and 0.5 of 1,000 are lost by it, of one that grows with the
/// root of that 7 to 15 % of those suspected.
fn follows(grower: &Candidate, rest: &[f64]) -> bool {
    let mean = grower.points.iter().map(|point| point.cost).sum::<f64>() / grower.points.len().max(1) as f64;
    // Calls too short for a sample cost something.
    let shares = grower.points.iter().map(|point| (point.cost / mean.max(1e-9)).max(LEAST_COST));
    rest.iter().zip(shares).map(|(samples, share)| samples * share.ln()).sum::<f64>() > 0.0
}

/// What a caller does before it calls the grower.
struct Lead {
    ratio: f64,
    rank: f64,
    pairs: usize,
    /// Entries of the caller while the grower's calls were counted.
    entered: usize,
    median_ns: f64,
}

/// The time from each entry of the caller to the grower's entry in it, where both are known: second half over first, by
/// medians, which a few preemptions do not move.
///
/// None where the growth starts over: what is done once for each document would be taken for what is done for each call.
fn lead(evidence: &Evidence<'_>, grower: &Candidate, caller: u32) -> Option<Lead> {
    if grower.restarts.is_some() {
        return None;
    }
    let tables = &evidence.recording.tables;
    let mut leads: Vec<f64> = Vec::new();
    let mut entered = 0;
    // The caller's own hit is in it; where BPF counts that is little.
    let hit_ns = evidence.recording.about.hit_ns.unwrap_or(0) as f64;
    for probe in grower.probes() {
        let process = tables.probes[probe as usize].process;
        let of_caller = probe_of(evidence, caller, process)?;
        let windows: Vec<_> = tables.windows.iter().filter(|window| window.probe == probe).collect();
        let is_counted =
            |time| windows.iter().any(|window| (window.start_ns..=window.end_ns).contains(&time));
        // Of each thread the entry of the caller that was not yet followed by one of the grower.
        let mut open: HashMap<u32, u64> = HashMap::new();
        for call in tables.calls.iter().filter(|call| call.under.is_none()) {
            let Some(thread) = call.thread else { continue };
            if call.probe == of_caller.probe {
                open.insert(thread, call.time_ns);
                entered += usize::from(is_counted(call.time_ns));
            } else if call.probe == probe
                && let Some(entered) = open.remove(&thread)
            {
                leads.push(((call.time_ns - entered) as f64 - hit_ns).max(0.0));
            }
        }
    }
    let half = leads.len() / 2;
    let (median_ns, first, second) = (median(&leads)?, median(&leads[..half])?, median(&leads[half..])?);
    // The entry probes themselves take about a µs: a lead of a few says nothing.
    if leads.len() < LEAD_PAIRS || median_ns < LEAD_NS.max(hit_ns) {
        return None;
    }
    let number: Vec<f64> = (0..leads.len()).map(|at| at as f64).collect();
    let rank = spearman(&number, &leads).unwrap_or(0.0);
    Some(Lead { ratio: second / first.max(1.0), rank, pairs: leads.len(), entered, median_ns })
}

/// Whether what is done besides grows by much less than the grower, or by somewhat less and surely not by as much.
pub(super) fn is_much_less(grower: &Candidate, ratio: f64, at_most: f64) -> bool {
    let growth = growth_of_halves(grower);
    ratio <= SHARE_OF_GROWTH * growth || ratio <= SOMEWHAT_LESS * growth && at_most < growth
}

/// The cost of the second half of the grower's calls over that of the first (of the dearer over the cheaper).
fn growth_of_halves(grower: &Candidate) -> f64 {
    let half = grower.points.len() / 2;
    let sum = |points: &[slowpath_stats::Point]| points.iter().map(|point| point.cost).sum::<f64>().max(1e-9);
    let ratio = sum(&grower.points[grower.points.len() - half..]) / sum(&grower.points[..half]);
    if grower.falling { 1.0 / ratio } else { ratio }
}

/// Samples on stacks `with` but without the grower, in each of its buckets, which have as many calls each. What comes behind
/// the grower's last sample, such as the program's end, is not done between calls.
fn rest_in_buckets(evidence: &Evidence<'_>, grower: &Candidate, with: &[bool]) -> Vec<f64> {
    let tables = &evidence.recording.tables;
    // Interrupts and the traps of our own probes come with time, not with the program's work.
    let apart = evidence.stacks_with(|function| {
        let name = evidence.name(function);
        name.starts_with("asm_sysvec_") || name.starts_with("asm_common_interrupt") || APART.contains(&name)
    });
    let mut last: HashMap<u32, u64> = HashMap::new();
    for sample in tables.samples.iter().filter(|one| one.stack.is_some_and(|stack| grower.on[stack as usize]))
    {
        last.insert(evidence.process_of(sample), sample.time_ns);
    }
    let mut buckets = vec![0.0; grower.points.len()];
    for sample in &tables.samples {
        let Some(stack) = sample.stack.map(|stack| stack as usize) else { continue };
        let behind = || last.get(&evidence.process_of(sample)).is_none_or(|last| sample.time_ns > *last);
        if !with[stack] || grower.on[stack] || apart[stack] || behind() {
            continue;
        }
        if let Some((_, bucket)) = grower.bucket_at(evidence.process_of(sample), sample.time_ns as f64) {
            buckets[bucket] += 1.0;
        }
    }
    buckets
}

/// The sums of the first and the second half. With an odd number the one in the middle belongs to neither.
fn halves(buckets: &[f64]) -> (f64, f64) {
    let half = buckets.len() / 2;
    (buckets[..half].iter().sum(), buckets[buckets.len() - half..].iter().sum())
}

/// Whether `outer` stands further out than `inner` for most of the time that both take together. By the outermost frame of each: functions that
/// call each other, as those of an event loop do, are entered by one of them.
pub(super) fn is_caller(evidence: &Evidence<'_>, outer: u32, inner: u32) -> bool {
    let stacks = &evidence.recording.tables.stacks;
    // Of each stack which of the two comes first from outside, and whether the other comes at all.
    let mut met: Vec<(Option<u32>, bool)> = Vec::with_capacity(stacks.len());
    for stack in stacks {
        let (first, both) = stack.parent.map_or((None, false), |parent| met[parent as usize]);
        let one = evidence.function_at(stack.location).filter(|one| *one == outer || *one == inner);
        met.push((first.or(one), both || one.is_some_and(|one| first.is_some_and(|first| first != one))));
    }
    let time = |first: u32| evidence.time_where(|stack| met[stack] == (Some(first), true));
    time(outer) > time(inner)
}

/// Whether a function mostly passes on to many others, as one that runs the passes of a compiler or handles events does: its calls are of many
/// kinds, and cost more or less as these come.
pub(super) fn passes_on(evidence: &Evidence<'_>, grower: &Candidate) -> bool {
    let tables = &evidence.recording.tables;
    let (mut all, mut own) = (0.0, 0.0);
    let mut called: HashMap<u32, f64> = HashMap::new();
    for (sample, weight) in tables.samples.iter().zip(&evidence.weights) {
        let Some(stack) = sample.stack.filter(|stack| grower.on[*stack as usize]) else { continue };
        all += weight;
        let inner = evidence.locations(stack).map(|location| evidence.function_at(location));
        let below = inner.take_while(|function| *function != Some(grower.function));
        match below.last().flatten().filter(|function| !runtime::is_name(&evidence.frame(*function))) {
            Some(function) => *called.entry(function).or_default() += weight,
            None => own += weight,
        }
    }
    let most = called.into_values().fold(0.0, f64::max);
    own + most < super::INNER_SHARE * all
}

/// A function that the grower calls more often with each call.
pub(super) struct Callee {
    pub function: u32,
    /// Number of the grower's call, and calls to the callee in it.
    pub k: Vec<f64>,
    pub calls: Vec<f64>,
    pub fit: CountFit,
    pub pairs: usize,
    /// From one call to the very next: the usual further calls, in how many cases of how many.
    pub step: f64,
    pub same_step: usize,
    pub steps: usize,
}

/// The usual increase from one call to the very next, how often it is that, and of how many.
fn steps(k: &[f64], calls: &[f64]) -> (f64, usize, usize) {
    let increases: Vec<f64> = (1..k.len())
        .filter(|at| (k[*at] - k[at - 1] - 1.0).abs() < 0.01)
        .map(|at| calls[at] - calls[at - 1])
        .collect();
    let step = median(&increases).unwrap_or(0.0);
    let same = increases.iter().filter(|increase| (**increase - step).abs() <= 0.5).count();
    (step, same, increases.len())
}

/// Moments at which a probe's count was reported, with that count: of one thread, in order of time.
type Counts = Vec<(u64, u64)>;

/// The callee whose exact counts a line in k explains best.
pub(super) fn callee(evidence: &Evidence<'_>, grower: &Candidate) -> Option<Callee> {
    let tables = &evidence.recording.tables;
    let mut best: Option<Callee> = None;
    // Counts start at 0 with each window of a probe: their numbers since a restart are known within one.
    let windows = |probe: u32| tables.windows.iter().filter(|window| window.probe == probe).count();
    let probes = grower.probes().into_iter();
    for probe in probes.filter(|probe| grower.restarts.is_none() || windows(*probe) == 1) {
        // The grower's own count at each of its entries, by moment.
        let numbers: HashMap<(u64, Option<u32>), u64> = tables
            .calls
            .iter()
            .filter(|call| call.probe == probe && call.under.is_none() && call.thread.is_some())
            .map(|call| ((call.time_ns, call.thread), call.count))
            .collect();
        let mut series: HashMap<(u32, Option<u32>), Counts> = HashMap::new();
        for call in tables.calls.iter().filter(|call| call.under == Some(probe)) {
            series.entry((call.probe, call.thread)).or_default().push((call.time_ns, call.count));
        }
        for ((callee, thread), counts) in series {
            let number = |time| numbers.get(&(time, thread)).copied();
            let process = tables.probes[probe as usize].process;
            // Where the growth starts over, their number since then.
            let number_of = |time: u64, count: u64| match grower.restarts {
                None => Some(grower.before + count as f64),
                Some(_) => grower
                    .bucket_at(process, time as f64)
                    .map(|(span, _)| grower.before + count as f64 - span.first)
                    .filter(|number| *number >= 0.0),
            };
            let whole = whole_calls(evidence, (probe, callee), &counts, number);
            let numbered =
                whole.into_iter().filter_map(|(time, k, calls)| Some((number_of(time, k)?, calls)));
            let (k, calls): (Vec<f64>, Vec<f64>) = numbered.unzip();
            let Some(function) = evidence.function_at(tables.probes[callee as usize].location) else {
                continue;
            };
            if let Some(found) = judged(function, k, calls, grower.falling)
                && best.as_ref().is_none_or(|best| found.fit.r2 > best.fit.r2)
            {
                best = Some(found);
            }
        }
    }
    best
}

/// The calls of the first probe during which both stood: when each began, its number, and how often the second was hit in it.
fn whole_calls(
    evidence: &Evidence<'_>,
    probes: (u32, u32),
    counts: &Counts,
    number: impl Fn(u64) -> Option<u64>,
) -> Vec<(u64, u64, f64)> {
    let windows = &evidence.recording.tables.windows;
    let stood = |probe: u32, from: u64, to: u64| {
        windows.iter().any(|window| window.probe == probe && window.start_ns <= from && to <= window.end_ns)
    };
    let mut whole = Vec::new();
    for pair in counts.windows(2) {
        let ((t0, n0), (t1, n1)) = (pair[0], pair[1]);
        let (Some(from), Some(to)) = (number(t0), number(t1)) else { continue };
        if to == from + 1 && n1 >= n0 && stood(probes.0, t0, t1) && stood(probes.1, t0, t1) {
            whole.push((t0, from, (n1 - n0) as f64));
        }
    }
    whole
}

/// Whether a callee's calls rise (or fall) with the number of the call.
fn judged(function: u32, k: Vec<f64>, calls: Vec<f64>, falling: bool) -> Option<Callee> {
    let fit = count_fit(&k, &calls)?;
    let (step, same_step, steps) = steps(&k, &calls);
    let sign = if falling { -1.0 } else { 1.0 };
    // A line through all of them, or, where items differ in what they add, the same step nearly every time.
    let line = fit.r2 >= LINE && fit.per_call * sign > 0.0;
    let steady = steps >= STEPS
        && same_step as f64 >= SAME_STEP * steps as f64
        && step * sign > 0.0
        && spearman(&k, &calls).is_some_and(|rank| rank * sign >= 0.9);
    let enough = k.len() >= PAIRS && (line || steady);
    enough.then_some(Callee { function, pairs: k.len(), k, calls, fit, step, same_step, steps })
}
