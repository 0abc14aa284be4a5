//! The least time of many short pieces: other load on the machine only ever adds.

use std::time::{Duration, Instant};

/// Time for each limit.
const EACH: Duration = Duration::from_millis(250);

/// The least time of one call of `piece`, ns, of as many as fit into a quarter of a second, and of three at least.
pub(crate) fn ns(mut piece: impl FnMut()) -> f64 {
    let begun = Instant::now();
    let mut least = f64::INFINITY;
    let mut pieces = 0;
    while pieces < 3 || begun.elapsed() < EACH {
        let started = Instant::now();
        piece();
        least = least.min(started.elapsed().as_nanos() as f64);
        pieces += 1;
    }
    least
}
