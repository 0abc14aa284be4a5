//! What belongs to the time in helpers and is not under them: what the functions around them do for the same purpose, and the kernel's part where samples do not
//! show it.

use super::Kind;
use super::helpers::Helpers;
use crate::Evidence;
use slowpath_interfaces::Costly;
use std::collections::BTreeMap;

/// Share of a function's time in helpers from which on they are what it is there for. Reading the fields and tags of types was 24 to 28 % of the function that collects
/// them in gocsv; the rest is splitting the tags and putting lists together.
const AROUND: f64 = 0.2;
/// What such a function does else takes less than this share of the rest: a hundredth there.
const ELSE: f64 = 0.1;

/// What goes on throughout a run is seen in so many of so many equal parts of it: there may be a start before and a report after it.
const OF_PARTS: usize = 6;
const PARTS: usize = 8;

/// Adds the kernel's part, which a tracer by ptrace knows from the system calls: samples show the program's own code alone.
pub(super) fn add_kernel(
    evidence: &Evidence<'_>,
    helpers: &Helpers,
    kinds: &mut BTreeMap<(u32, &str), (&'static Costly, Kind)>,
) {
    let tables = &evidence.recording.tables;
    for row in tables.syscalls.iter().filter(|row| !row.compat) {
        let Some(call) = row.stack.and_then(|stack| helpers.call(evidence, stack)) else { continue };
        let process = tables.threads[row.thread as usize].process;
        let Some((costly, kind)) = kinds.get_mut(&(process, call.costly.kind.as_str())) else { continue };
        let Some(spent) = kind.askers.get_mut(&call.asker) else { continue };
        // Whether a loop waits is known from samples alone.
        if costly.user || costly.waits {
            continue;
        }
        let ns = row.duration_ns.saturating_sub(row.blocked_ns) as f64;
        kind.ns += ns;
        spent.ns += ns;
        if call.gives {
            kind.gives_ns += ns;
            spent.gives_ns += ns;
        }
    }
}

/// Whether samples are in these helpers in nearly all parts of the run: what is worked out once, at the start, is not.
pub(super) fn is_throughout(evidence: &Evidence<'_>, process: u32, kind: &Kind) -> bool {
    let samples = evidence.recording.tables.samples.iter();
    let samples: Vec<_> =
        samples.filter(|sample| sample.on_cpu && evidence.process_of(sample) == process).collect();
    let parts = samples.chunks(samples.len().div_ceil(PARTS).max(1));
    let with = parts.filter(|part| part.iter().any(|sample| sample.stack.is_some_and(|at| kind.is_on(at))));
    with.count() >= OF_PARTS
}

/// Takes for the time in helpers that of the functions which call them, where these do nothing else.
pub(super) fn count_around(evidence: &Evidence<'_>, process: u32, costly: &Costly, kind: &mut Kind) {
    #[derive(Default)]
    struct Around {
        ns: f64,
        stacks: BTreeMap<u32, f64>,
        /// What it does else, ns.
        else_ns: f64,
    }
    let tables = &evidence.recording.tables;
    let mut around: BTreeMap<u32, Around> =
        kind.askers.keys().flatten().map(|asker| (*asker, Around::default())).collect();
    for (sample, weight) in tables.samples.iter().zip(&evidence.weights) {
        let Some(stack) = sample.stack.filter(|_| sample.on_cpu && evidence.process_of(sample) == process)
        else {
            continue;
        };
        let locations: Vec<u32> = evidence.locations(stack).collect();
        for (asker, of) in &mut around {
            let is_asker = |location: &u32| evidence.function_at(*location) == Some(*asker);
            let Some(at) = locations.iter().rposition(is_asker) else { continue };
            let is_kernel = |location: &&u32| tables.locations[**location as usize].kind == "kernel";
            let mut below = locations[..=at].iter().skip_while(is_kernel).flat_map(|location| {
                evidence.recording.frames_of(*location).iter().map(|frame| frame.function)
            });
            if below.any(|one| one != *asker && !costly.is_within(evidence.name(one))) {
                of.else_ns += weight;
                continue;
            }
            of.ns += weight;
            *of.stacks.entry(stack).or_default() += weight;
        }
    }
    for (asker, of) in around {
        if let Some(spent) = kind.askers.get_mut(&Some(asker))
            && of.else_ns <= ELSE * of.ns
            && (AROUND * of.ns..of.ns).contains(&spent.ns)
        {
            kind.ns += of.ns - spent.ns;
            (spent.ns, spent.stacks, spent.is_all) = (of.ns, of.stacks, true);
        }
    }
}
