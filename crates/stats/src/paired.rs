//! Differences of pairs: an interval of their median, tests of whether it is zero, and how an error rate is spent over looks.

use crate::{mean, median, quantile};
use statrs::distribution::{ContinuousCDF, StudentsT};

/// Bootstrap interval of the median, percentile method, at `level` (0 to 1) with `resamples` draws from a generator seeded with
/// `seed`. None for no data or data that is not finite.
///
/// Efron, "Bootstrap Methods: Another Look at the Jackknife", Annals of Statistics 7 (1979).
pub fn bootstrap_median(data: &[f64], level: f64, resamples: usize, seed: u64) -> Option<(f64, f64)> {
    if data.is_empty() || resamples == 0 || !data.iter().all(|value| value.is_finite()) {
        return None;
    }
    let mut random = fastrand::Rng::with_seed(seed);
    let mut draw = vec![0.0; data.len()];
    let medians: Vec<f64> = (0..resamples)
        .filter_map(|_| {
            draw.fill_with(|| data[random.usize(..data.len())]);
            median(&draw)
        })
        .collect();
    let tail = (1.0 - level.clamp(0.0, 1.0)) / 2.0;
    Some((quantile(&medians, tail)?, quantile(&medians, 1.0 - tail)?))
}

/// Two-sided p of Wilcoxon's signed-rank test that the differences are symmetric about zero: the exact distribution of the
/// rank sum given the ranks, so ties are no matter. Zeros are left out, as Wilcoxon did. 1 if nothing is left.
///
/// Wilcoxon, "Individual Comparisons by Ranking Methods", Biometrics Bulletin 1 (1945).
pub fn signed_rank_p(differences: &[f64]) -> f64 {
    let mut sorted: Vec<f64> =
        differences.iter().copied().filter(|value| *value != 0.0 && value.is_finite()).collect();
    sorted.sort_by(|a, b| a.abs().total_cmp(&b.abs()));
    // Twice the rank is a whole number even where ranks are shared.
    let mut ranks = Vec::with_capacity(sorted.len());
    let mut at = 0;
    while at < sorted.len() {
        let same = sorted[at..].iter().take_while(|value| value.abs() == sorted[at].abs()).count();
        ranks.extend(std::iter::repeat_n(2 * at + same + 1, same));
        at += same;
    }
    let total: usize = ranks.iter().sum();
    let positive: usize =
        ranks.iter().zip(&sorted).filter(|(_, value)| **value > 0.0).map(|(rank, _)| rank).sum();
    // chance[s] is the probability that the ranks with a plus add up to s.
    let mut chance = vec![0.0; total + 1];
    chance[0] = 1.0;
    let mut reach = 0;
    for rank in &ranks {
        reach += rank;
        for sum in (0..=reach).rev() {
            let with = if sum >= *rank { chance[sum - rank] } else { 0.0 };
            chance[sum] = 0.5 * (chance[sum] + with);
        }
    }
    let low = positive.min(total - positive);
    (2.0 * chance[..=low].iter().sum::<f64>()).min(1.0)
}

/// Student's interval of the mean at `level`, for so few values that ranks can decide nothing. None for less than two.
pub fn student_interval(data: &[f64], level: f64) -> Option<(f64, f64)> {
    let n = data.len() as f64;
    let middle = mean(data)?;
    if n < 2.0 {
        return None;
    }
    let variance = data.iter().map(|value| (value - middle).powi(2)).sum::<f64>() / (n - 1.0);
    let student = StudentsT::new(0.0, 1.0, n - 1.0).ok()?;
    let reach = student.inverse_cdf(0.5 + level.clamp(0.0, 1.0 - 1e-9) / 2.0) * (variance / n).sqrt();
    Some((middle - reach, middle + reach))
}

/// The part of the error rate `alpha` that is spent when the share `information` (0 to 1) of the data is there: Pocock's
/// boundary as a spending function, alpha · ln(1 + (e − 1)·t).
///
/// Lan and DeMets, "Discrete Sequential Boundaries for Clinical Trials", Biometrika 70 (1983).
pub fn spent(alpha: f64, information: f64) -> f64 {
    alpha * (1.0 + (std::f64::consts::E - 1.0) * information.clamp(0.0, 1.0)).ln()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Fixed data, and what SciPy 1.x says of it (`scipy.stats.wilcoxon(x, method='exact').pvalue`,
    /// `scipy.stats.t.interval`, `scipy.stats.bootstrap` of the median by percentiles with 100,000 resamples).
    const DATA: [f64; 12] = [0.11, -0.02, 0.31, 0.07, 0.19, -0.05, 0.26, 0.14, 0.03, 0.22, -0.01, 0.17];
    const SCIPY_P: f64 = 0.00927734375;
    const SCIPY_P_SMALL: f64 = 0.4375;
    const SCIPY_T: (f64, f64) = (0.044245387, 0.19242128);
    const SCIPY_BOOTSTRAP: (f64, f64) = (0.01, 0.205);

    #[test]
    fn signed_ranks_are_as_scipy_has_them() {
        assert!((signed_rank_p(&DATA) - SCIPY_P).abs() < 1e-12, "{}", signed_rank_p(&DATA));
        let small = [1.0, 2.0, 3.0, -4.0, 5.0];
        assert!((signed_rank_p(&small) - SCIPY_P_SMALL).abs() < 1e-12, "{}", signed_rank_p(&small));
    }

    #[test]
    fn all_of_one_sign_is_the_least_p_there_is() {
        assert!((signed_rank_p(&[0.1; 9]) - 2.0 / 512.0).abs() < 1e-12);
        assert_eq!(signed_rank_p(&[0.0; 9]), 1.0);
        assert_eq!(signed_rank_p(&[]), 1.0);
    }

    #[test]
    fn students_interval_is_as_scipy_has_it() {
        let (low, high) = student_interval(&DATA, 0.95).expect("data");
        assert!((low - SCIPY_T.0).abs() < 1e-6 && (high - SCIPY_T.1).abs() < 1e-6, "{low} {high}");
        assert_eq!(student_interval(&[1.0], 0.95), None);
    }

    #[test]
    fn the_bootstrap_is_as_scipy_has_it() {
        let (low, high) = bootstrap_median(&DATA, 0.95, 20_000, 1).expect("data");
        assert!(
            (low - SCIPY_BOOTSTRAP.0).abs() < 0.011 && (high - SCIPY_BOOTSTRAP.1).abs() < 0.011,
            "{low} {high}"
        );
        assert_eq!(bootstrap_median(&[], 0.95, 100, 1), None);
        assert_eq!(bootstrap_median(&[f64::NAN], 0.95, 100, 1), None);
    }

    #[test]
    fn all_is_spent_at_the_end_and_nothing_before_the_start() {
        assert_eq!(spent(0.05, 0.0), 0.0);
        assert!((spent(0.05, 1.0) - 0.05).abs() < 1e-12);
        assert!(spent(0.05, 0.5) > 0.025);
    }
}
