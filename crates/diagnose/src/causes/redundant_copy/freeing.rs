//! What freeing the copies took: it goes away with them.
//!
//! Which block is a copy is not seen when it is freed. But under the function that asks for copies, and under its callers, most blocks are freed
//! that were allocated there; so of the time that freeing takes there, the copies have the part that they have of the time of allocating.

use super::Kinds;
use crate::Evidence;
use std::collections::{BTreeMap, HashSet};

/// From this share of freeing on, a function that is called and allocates next to nothing frees a structure, and all that it does is that: its way
/// from part to part goes as well. `xmlFreeDoc` frees for 63 % of its time; half of that leaves room for structures of larger parts.
const FREES: f64 = 0.3;
const ALLOCATES: f64 = 0.1;

/// CPU time of freeing the copies of one `asker`, ns, in one process. `near`: that function and its callers; `copy`: whether a location and function
/// is where a copy is made.
pub(super) fn with_copies(
    evidence: &Evidence<'_>,
    kinds: &Kinds,
    (process, asker): (u32, u32),
    near: &HashSet<u32>,
    copy: impl Fn(u32, u32) -> bool,
) -> f64 {
    let (mut by_copies, mut by_others) = (0.0, 0.0);
    // By the function that is called from there: all that it does but copying, freeing in it, and allocating.
    let mut called: BTreeMap<u32, [f64; 3]> = BTreeMap::new();
    let tables = &evidence.recording.tables;
    let samples = tables.samples.iter().zip(&evidence.weights);
    for (sample, ns) in samples.filter(|(sample, _)| sample.on_cpu && evidence.process_of(sample) == process)
    {
        let Some(stack) = sample.stack else { continue };
        let frames: Vec<(u32, u32)> =
            evidence.locations(stack).filter_map(|at| Some((at, evidence.function_at(at)?))).collect();
        let Some(from) = frames.iter().position(|(_, function)| near.contains(function)) else { continue };
        let frees = frames[..from].iter().any(|(_, function)| kinds.frees[*function as usize]);
        let allocates =
            !frees && frames[..from].iter().any(|(_, function)| kinds.allocates[*function as usize]);
        // One that was inlined is at the location that asks for it.
        if frames[..=from].iter().any(|(location, function)| copy(*location, *function)) {
            let of_asker = frames.iter().any(|(_, function)| *function == asker);
            *(if of_asker { &mut by_copies } else { &mut by_others }) += if allocates { *ns } else { 0.0 };
            continue;
        }
        by_others += if allocates { *ns } else { 0.0 };
        if let Some((_, function)) = frames[..from].last() {
            let [all, freeing, allocating] = called.entry(*function).or_default();
            *all += ns;
            *freeing += if frees { *ns } else { 0.0 };
            *allocating += if allocates { *ns } else { 0.0 };
        }
    }
    let freeing = |[all, freeing, allocating]: &[f64; 3]| {
        if *freeing >= FREES * all && *allocating <= ALLOCATES * freeing { *all } else { *freeing }
    };
    let allocating: f64 = by_copies + by_others;
    if allocating <= 0.0 { 0.0 } else { called.values().map(freeing).sum::<f64>() * by_copies / allocating }
}
