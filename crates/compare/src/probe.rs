//! How much of the machine we get: a fixed piece of computing and one of going through memory, some ms each.
//!
//! Contention does not cancel in a ratio of short runs, so what the machine was like is measured beside them.

use crate::values::Probe;
use std::hint::black_box;
use std::time::Instant;

const STEPS: u64 = 1_000_000;
const WORDS: usize = 1 << 20; // 8 MiB: beyond what a core has to itself
const HOPS: usize = 40_000;

/// The memory that the probe goes through.
pub(crate) struct Prober {
    next: Vec<u64>,
}

impl Prober {
    pub(crate) fn new() -> Prober {
        // A walk through all of it in one circle, with a stride that no prefetcher follows (Sattolo's shuffle).
        let mut next: Vec<u64> = (0..WORDS as u64).collect();
        let mut random = fastrand::Rng::with_seed(7);
        for at in (1..WORDS).rev() {
            next.swap(at, random.usize(..at));
        }
        Prober { next }
    }

    pub(crate) fn probe(&self) -> Probe {
        let started = Instant::now();
        let mut state = black_box(1u64);
        for _ in 0..STEPS {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        }
        black_box(state);
        let cpu_ns = started.elapsed().as_nanos() as u64;
        let started = Instant::now();
        let mut at = black_box(0u64);
        for _ in 0..HOPS {
            at = self.next[at as usize];
        }
        black_box(at);
        Probe { cpu_ns, memory_ns: started.elapsed().as_nanos() as u64 }
    }
}

/// Marks the pairs beside which a probe took more than `tolerance` (0.1 is 10 %) longer than in quiet. If that were most of
/// them, none is: then it is just that kind of machine. Returns whether any is.
pub(crate) fn set_aside(pairs: &mut [crate::values::Pair], tolerance: f64) -> bool {
    let quiet = |of: fn(&Probe) -> u64| {
        let all: Vec<f64> =
            pairs.iter().flat_map(|pair| &pair.probes).map(|probe| of(probe) as f64).collect();
        slowpath_stats::quantile(&all, 0.2).unwrap_or(0.0)
    };
    let (cpu, memory) = (quiet(|probe| probe.cpu_ns), quiet(|probe| probe.memory_ns));
    // Memory is the noisier of the two by nature.
    let loud = |probe: &Probe| {
        probe.cpu_ns as f64 > (1.0 + tolerance) * cpu
            || probe.memory_ns as f64 > (1.0 + 3.0 * tolerance) * memory
    };
    let aside: Vec<bool> = pairs.iter().map(|pair| pair.probes.iter().any(loud)).collect();
    let most = 2 * aside.iter().filter(|aside| **aside).count() > pairs.len();
    for (pair, aside) in pairs.iter_mut().zip(&aside) {
        pair.set_aside = *aside && !most;
    }
    pairs.iter().any(|pair| pair.set_aside)
}
