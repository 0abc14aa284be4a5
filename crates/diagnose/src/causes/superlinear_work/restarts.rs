//! Growth that starts over with each document, request or file that an outer function works through. Over the whole run it is a sawtooth; if
//! calls are counted from each call of that function, it is growth like any other.

use super::candidate::{CALLS, Candidate};
use super::context;
use super::fit::{Counted, Stretch, Together, Work, fit};
use crate::Evidence;
use crate::causes::runtime;

/// Documents, or whatever the outer function is called for, that must be compared: two may be two halves of a program.
const TIMES: usize = 3;
/// So many of all calls must be compared, or what is seen says nothing of the rest.
const MOST: f64 = 0.5;
/// This part of the stretches, the shorter ones, is not compared. Of the others as many calls are compared as the shortest of them has, …
const SHORTEST: f64 = 0.25;
/// … less this part: stretches with the same number of calls seem to differ a little, since moments are known to a sample.
const SLACK: f64 = 0.05;
/// Of this share of the outer function's entries the moment must be known.
const KNOWN: f64 = 0.95;

/// The function with whose calls it starts over, and how many of them were compared.
#[derive(Debug, Clone, Copy)]
pub(super) struct Restarts {
    pub outer: u32,
    pub times: usize,
}

/// The same calls, counted from each call of the nearest outer function with which their cost grows. None if there is no such function.
pub(super) fn fold(
    evidence: &Evidence<'_>,
    work: &Work<'_>,
    whole: &Candidate,
    timelines: &[Counted],
) -> Option<Candidate> {
    let mut outers = context::callers(evidence, whole);
    outers.retain(|outer| !runtime::is_name(&evidence.frame(*outer)));
    outers.into_iter().find_map(|outer| {
        let mut stretches = Vec::new();
        for counted in timelines {
            stretches.extend(between(counted, &entries(evidence, outer, counted.process)?));
        }
        let stretches = of_one_length(stretches, timelines)?;
        let times = stretches.len();
        let found = fit(work, &stretches, Together::Restarts)?;
        let calls = timelines.iter().map(|counted| counted.timeline.total()).fold(0.0, f64::max);
        let found = Candidate { calls, restarts: Some(Restarts { outer, times }), ..found };
        found.grows().then_some(found)
    })
}

/// When a function was entered in a process, ns, if all entries are known.
fn entries(evidence: &Evidence<'_>, function: u32, process: u32) -> Option<Vec<f64>> {
    let tables = &evidence.recording.tables;
    let probe = context::probe_of(evidence, function, process)?;
    let rows = tables.calls.iter().filter(|row| row.probe == probe.probe && row.under.is_none());
    let entries: Vec<f64> = rows.filter(|row| row.thread.is_some()).map(|row| row.time_ns as f64).collect();
    let windows = || tables.windows.iter().filter(|window| window.probe == probe.probe);
    let hits: u64 = windows().map(|window| window.hits).sum();
    let stood: u64 = windows().map(|window| window.end_ns.saturating_sub(window.start_ns)).sum();
    let since = windows().map(|window| window.start_ns).min()?;
    let until = windows().map(|window| window.end_ns).max()?;
    let all = entries.len() as f64 >= KNOWN * hits as f64;
    (all && stood as f64 >= KNOWN * until.saturating_sub(since) as f64).then_some(entries)
}

/// The calls from each entry to the next. A stretch begins with its first call: what is done once before it is none of them.
fn between<'a>(counted: &'a Counted, entries: &[f64]) -> Vec<Stretch<'a>> {
    let total = counted.timeline.total();
    let numbers: Vec<f64> = entries.iter().map(|entry| counted.timeline.number_at(*entry).ceil()).collect();
    let ends = numbers.iter().skip(1).copied().chain([total]);
    let stretches = numbers.iter().zip(ends);
    stretches.map(|(first, end)| Stretch::new(counted, *first, end - first)).collect()
}

/// Those that are long enough, each as far as most of them go.
fn of_one_length<'a>(mut stretches: Vec<Stretch<'a>>, timelines: &[Counted]) -> Option<Vec<Stretch<'a>>> {
    stretches.retain(|stretch| stretch.calls >= CALLS);
    let mut lengths: Vec<f64> = stretches.iter().map(|stretch| stretch.calls).collect();
    lengths.sort_by(f64::total_cmp);
    let all: f64 = timelines.iter().map(|counted| counted.timeline.total()).sum();
    let length = *lengths.get((lengths.len() as f64 * SHORTEST) as usize)? * (1.0 - SLACK);
    stretches.retain(|stretch| stretch.calls >= length);
    stretches.iter_mut().for_each(|stretch| stretch.calls = length);
    let enough = stretches.len() >= TIMES && stretches.len() as f64 * length >= MOST * all;
    enough.then_some(stretches)
}
