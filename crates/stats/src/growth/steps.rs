//! Piecewise-constant models: the best cut of a series into 1 to 5 levels.
//! Whether the levels mean anything is left to `growth`.

use super::noise::Noise;

/// More phases than this are no phases any more.
const MOST_LEVELS: usize = 5;

/// A cut into levels. `breaks` are the positions of the first bucket of each level but the first.
pub(super) struct Steps {
    pub levels: Vec<f64>,
    pub breaks: Vec<usize>,
    pub deviance: f64,
}

impl Steps {
    /// Deviance, and parameters: one for the first level, 2 for each further one, as its place is one too.
    pub fn merit(&self) -> (f64, usize) {
        (self.deviance, 1 + 2 * self.breaks.len())
    }

    /// The level of each of `n` buckets.
    pub fn fitted(&self, n: usize) -> Vec<f64> {
        (0..n).map(|i| self.levels[self.breaks.partition_point(|b| *b <= i)]).collect()
    }
}

/// The best cut into each number of levels, from 1 up. A level lasts at least two buckets (more in long
/// series), since a single dear bucket is a spike and no phase; only the first may be one bucket long:
/// that is a warm-up.
///
/// Source: R. Bellman, "On the approximation of curves by line segments using dynamic programming",
/// Communications of the ACM 4 (1961) 284.
pub(super) fn segment(cost: &[f64], noise: &Noise) -> Vec<Steps> {
    let n = cost.len();
    let shortest = 2.max(n / 15);
    // level[from][to]: the best level of buckets from..to, and its deviance.
    let level: Vec<Vec<(f64, f64)>> =
        (0..n).map(|from| (0..=n).map(|to| one_level(cost, noise, from, to)).collect()).collect();
    // best[l][to]: the least deviance of 0..to in l + 1 levels, and where the last of them begins.
    let mut best: Vec<Vec<(f64, usize)>> = vec![(0..=n).map(|to| (level[0][to].1, 0)).collect()];
    let mut cuts = Vec::new();
    for levels in 1..=MOST_LEVELS {
        if levels > 1 {
            let before = &best[levels - 2];
            let row = (0..=n).map(|to| {
                (1..=to.saturating_sub(shortest))
                    .map(|from| (before[from].0 + level[from][to].1, from))
                    .min_by(|a, b| a.0.total_cmp(&b.0))
                    .unwrap_or((f64::INFINITY, 0))
            });
            let row = row.collect();
            best.push(row);
        }
        let deviance = best[levels - 1][n].0;
        // One level always fits; more may not find room.
        if levels > 1 && !deviance.is_finite() {
            break;
        }
        let (mut breaks, mut to) = (Vec::new(), n);
        for l in (1..levels).rev() {
            to = best[l][to].1;
            breaks.push(to);
        }
        breaks.reverse();
        let from = std::iter::once(0).chain(breaks.iter().copied());
        let to = breaks.iter().copied().chain(std::iter::once(n));
        let values = from.zip(to).map(|(from, to)| level[from][to].0).collect();
        cuts.push(Steps { levels: values, breaks, deviance });
    }
    cuts
}

/// The level of buckets `from..to` and its deviance; nothing fits an empty range.
fn one_level(cost: &[f64], noise: &Noise, from: usize, to: usize) -> (f64, f64) {
    if from >= to {
        return (0.0, f64::INFINITY);
    }
    let mut mean = cost[from..to].iter().sum::<f64>() / (to - from) as f64;
    // Weights depend on the mean, but where the buckets are alike not their ratio: two rounds do.
    for _ in 0..2 {
        let (mut w_sum, mut y_sum) = (0.0, 0.0);
        for (i, y) in cost.iter().enumerate().take(to).skip(from) {
            let w = 1.0 / noise.variance(i, mean);
            w_sum += w;
            y_sum += w * y;
        }
        mean = y_sum / w_sum;
    }
    (mean, (from..to).map(|i| noise.deviance(i, cost[i], mean)).sum())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clean_levels_are_cut_where_they_change() {
        let cost = [0.2, 0.2, 0.2, 0.5, 0.5, 1.0, 1.0, 1.0];
        let cuts = segment(&cost, &Noise::new(&cost, &[0.0; 8]));
        assert_eq!(cuts[1].breaks, [5]);
        assert_eq!(cuts[2].breaks, [3, 5]);
        assert!(cuts[2].deviance < 1e-20);
        assert!(cuts[2].fitted(8).iter().zip(cost).all(|(f, c)| (f - c).abs() < 1e-12));
    }

    #[test]
    fn a_single_dear_bucket_is_no_level_of_its_own_except_the_first() {
        let mut cost = [0.1; 12];
        cost[6] = 1.0;
        let cuts = segment(&cost, &Noise::new(&cost, &[0.0; 12]));
        assert!(cuts.iter().all(|c| c.deviance > 0.2));
        let mut cost = [0.1; 12];
        cost[0] = 1.0;
        let cuts = segment(&cost, &Noise::new(&cost, &[0.0; 12]));
        assert_eq!(cuts[1].breaks, [1]);
    }
}
