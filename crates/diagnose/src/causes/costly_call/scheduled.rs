//! What Go's scheduler does because goroutines wait for each other's items: it runs on a stack of its own, on which it is not seen who waits. How a goroutine
//! gives its thread up says for what.

use super::helpers::Helpers;
use crate::Evidence;
use slowpath_interfaces::Costly;
use std::collections::HashMap;

/// Where a goroutine gives up its thread.
const PARKS: &str = "runtime.park_m";
/// What it does last before: for a channel, and for other things.
const FOR_A_CHANNEL: [&str; 2] = ["runtime.chanparkcommit", "runtime.selparkcommit"];
const FOR_OTHERS: [&str; 3] = ["runtime.netpollblockcommit", "runtime.parkunlock_c", "runtime.resetForSleep"];
/// Standard errors of the samples for channels that do not count: below that the real number is in one of forty cases.
const ERRORS: f64 = 2.0;
/// Samples of other waits that are presumed beside those that were seen: not each wait gives up its thread by a function that is listed.
const UNSEEN: f64 = 2.0;

/// What a sample shows.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Shows {
    ParksForAChannel,
    ParksForOthers,
    Parks,
    InAHelper,
    Nothing,
}

/// Time in Go's scheduler for waits at channels, as far as it is for helpers of this kind that take `own_ns` of the samples' time, CPU ns. 0 where too little of
/// it is seen.
pub(super) fn ns(
    evidence: &Evidence<'_>,
    helpers: &Helpers,
    process: u32,
    costly: &Costly,
    own_ns: f64,
) -> f64 {
    if !(0..evidence.recording.tables.functions.len() as u32).any(|function| evidence.name(function) == PARKS)
    {
        return 0.0;
    }
    let shows = |stack: u32| {
        let frames = evidence.locations(stack).flat_map(|location| evidence.recording.frames_of(location));
        let functions: Vec<u32> = frames.map(|frame| frame.function).collect();
        let is = |names: &[&str]| functions.iter().any(|one| names.contains(&evidence.name(*one)));
        if is(&[PARKS]) {
            match (is(&FOR_A_CHANNEL), is(&FOR_OTHERS)) {
                (true, _) => Shows::ParksForAChannel,
                (_, true) => Shows::ParksForOthers,
                _ => Shows::Parks,
            }
        } else if functions.iter().any(|one| helpers.is_listed(*one, costly)) {
            Shows::InAHelper
        } else {
            Shows::Nothing
        }
    };
    let mut by_stack: HashMap<u32, Shows> = HashMap::new();
    let (mut scheduling, mut in_helpers) = (0.0, 0.0);
    let (mut for_channels, mut for_others) = (0.0, 0.0);
    for (sample, ns) in evidence.recording.tables.samples.iter().zip(&evidence.weights) {
        let Some(stack) = sample.stack.filter(|_| sample.on_cpu && evidence.process_of(sample) == process)
        else {
            continue;
        };
        match *by_stack.entry(stack).or_insert_with(|| shows(stack)) {
            Shows::Nothing => {}
            Shows::InAHelper => in_helpers += ns,
            parks => {
                scheduling += ns;
                for_channels += if parks == Shows::ParksForAChannel { 1.0 } else { 0.0 };
                for_others += if parks == Shows::ParksForOthers { 1.0 } else { 0.0 };
            }
        }
    }
    let part =
        (for_channels - ERRORS * f64::sqrt(for_channels)).max(0.0) / (for_channels + for_others + UNSEEN);
    if in_helpers == 0.0 { 0.0 } else { scheduling * part * (own_ns / in_helpers).min(1.0) }
}
