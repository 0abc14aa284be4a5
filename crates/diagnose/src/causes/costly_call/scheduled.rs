//! What Go's scheduler does because goroutines wait for each other's items: it runs on a stack of its own, on which it is not seen who waits. How a goroutine
//! gives its thread up says for what.

use super::helpers::Helpers;
use crate::Evidence;
use slowpath_interfaces::Costly;

/// Where a goroutine gives up its thread.
const PARKS: &str = "runtime.park_m";
/// What it does last before: for a channel, and for other things.
const FOR_A_CHANNEL: [&str; 2] = ["runtime.chanparkcommit", "runtime.selparkcommit"];
const FOR_OTHERS: [&str; 3] = ["runtime.netpollblockcommit", "runtime.parkunlock_c", "runtime.resetForSleep"];
/// Samples in these, before they say for what most goroutines wait: if all of five are for channels, half of the waits are, with 97 % confidence.
const SAMPLES: usize = 5;

/// Time in Go's scheduler for waits at channels, as far as it is for helpers of this kind that take `own_ns`, CPU ns. 0 where too little of it is seen.
pub(super) fn ns(
    evidence: &Evidence<'_>,
    helpers: &Helpers,
    process: u32,
    costly: &Costly,
    own_ns: f64,
) -> f64 {
    let (mut scheduling, mut in_channels) = (0.0, 0.0);
    let (mut for_channels, mut for_others) = (0, 0);
    for (sample, ns) in evidence.recording.tables.samples.iter().zip(&evidence.weights) {
        let Some(stack) = sample.stack.filter(|_| sample.on_cpu && evidence.process_of(sample) == process)
        else {
            continue;
        };
        let functions = || {
            let frames =
                evidence.locations(stack).flat_map(|location| evidence.recording.frames_of(location));
            frames.map(|frame| frame.function)
        };
        if functions().any(|function| evidence.name(function) == PARKS) {
            scheduling += ns;
            let is = |names: &[&str]| functions().any(|function| names.contains(&evidence.name(function)));
            for_channels += usize::from(is(&FOR_A_CHANNEL));
            for_others += usize::from(is(&FOR_OTHERS));
        } else if functions().any(|function| helpers.is_listed(function, costly)) {
            in_channels += ns;
        }
    }
    if for_channels < SAMPLES || in_channels == 0.0 {
        return 0.0;
    }
    let part = for_channels as f64 / (for_channels + for_others) as f64;
    scheduling * part * (own_ns / in_channels).min(1.0)
}
