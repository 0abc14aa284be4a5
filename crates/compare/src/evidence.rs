//! From pairs to an estimate of the ratio: log-ratios, the bootstrap interval of their median, Wilcoxon's signed ranks.

use crate::values::{Estimate, Pair};
use slowpath_stats::{bootstrap_median, median, signed_rank_p, student_interval};

const RESAMPLES: usize = 4_000;
const SEED: u64 = 20_080_227;

/// Which time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Metric {
    Wall,
    Cpu,
}

/// First over second of each pair, as logarithms. None if a time is not known.
pub(crate) fn log_ratios(pairs: &[&Pair], metric: Metric) -> Option<Vec<f64>> {
    let time = |pair: &Pair, side: usize| match metric {
        Metric::Wall => pair.runs[side].wall_ns,
        Metric::Cpu => pair.runs[side].cpu_ns(),
    };
    pairs
        .iter()
        .map(|pair| {
            let (first, second) = (time(pair, 0), time(pair, 1));
            (first > 0 && second > 0).then(|| (first as f64 / second as f64).ln())
        })
        .collect()
}

/// What the log-ratios say when the error rate `alpha` is spent on this look. None for less than two.
pub(crate) fn estimate(logs: &[f64], alpha: f64) -> Option<Estimate> {
    let level = 1.0 - alpha;
    let pairs = logs.len();
    if pairs < 2 {
        return None;
    }
    // Ranks of so few values can decide nothing at this rate. The mean's interval, which assumes normal errors, stands in.
    let least_p = 2.0 * 0.5f64.powi(pairs as i32);
    let (low, high, p) = if least_p > alpha {
        let (low, high) = student_interval(logs, level)?;
        (low, high, if low > 0.0 || high < 0.0 { alpha } else { 1.0 })
    } else {
        let (low, high) = bootstrap_median(logs, level, RESAMPLES, SEED)?;
        (low, high, signed_rank_p(logs))
    };
    Some(Estimate { ratio: median(logs)?.exp(), low: low.exp(), high: high.exp(), level, p, pairs })
}
