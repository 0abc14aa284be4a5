//! Seeded noise for the trials: small, and the same on every machine.

// Each test file compiles its own copy and uses a part of it.
#![allow(dead_code)]

use slowpath_stats::Point;

/// SplitMix64 (G. Steele, D. Lea and C. Flood, OOPSLA 2014).
pub struct Random(u64);

impl Random {
    pub fn new(seed: u64) -> Random {
        Random(seed.wrapping_mul(0x2545_F491_4F6C_DD1D))
    }

    /// Uniform in (0, 1).
    pub fn uniform(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        (((z ^ (z >> 31)) >> 11) as f64 + 0.5) / (1u64 << 53) as f64
    }

    /// Standard normal (Box and Muller 1958).
    pub fn normal(&mut self) -> f64 {
        (-2.0 * self.uniform().ln()).sqrt() * (std::f64::consts::TAU * self.uniform()).cos()
    }

    /// A Poisson count, by the waiting times of a unit process.
    pub fn poisson(&mut self, mean: f64) -> f64 {
        let (mut time, mut count) = (-self.uniform().ln(), 0.0);
        while time < mean {
            time -= self.uniform().ln();
            count += 1.0;
        }
        count
    }
}

/// 1,000 calls in `buckets` equal buckets; `cost(k)` in samples, scaled to `per_bucket` samples a bucket
/// on average. Each bucket gives its true mean to `draw`, which answers the samples seen.
pub fn sampled(
    buckets: usize,
    per_bucket: f64,
    cost: impl Fn(f64) -> f64,
    mut draw: impl FnMut(f64) -> f64,
) -> Vec<Point> {
    let truth = exact(buckets, 1000 / buckets, cost);
    let mean = truth.iter().map(|p| p.cost).sum::<f64>() / buckets as f64;
    truth
        .iter()
        .map(|p| {
            let samples = draw(p.cost / mean * per_bucket);
            // A sample stands for 1 ms, a bucket holds 1000 / buckets calls.
            let unit = buckets as f64 / 1000.0;
            Point { k: p.k, cost: samples * unit, variance: samples * unit * unit }
        })
        .collect()
}

/// The same without noise, and with variances unknown.
pub fn exact(buckets: usize, calls_each: usize, cost: impl Fn(f64) -> f64) -> Vec<Point> {
    (0..buckets)
        .map(|b| {
            let calls = (b * calls_each + 1..=(b + 1) * calls_each).map(|k| k as f64);
            let n = calls_each as f64;
            Point {
                k: calls.clone().sum::<f64>() / n,
                cost: calls.map(&cost).sum::<f64>() / n,
                variance: 0.0,
            }
        })
        .collect()
}
