//! How sure is the ratio of two counted rates, such as samples a second before and after a change?
//! Measured times (not counts) are left to paired comparison.

/// Counts above this take the normal form: it then agrees with the exact one to a small part of the
/// interval's width, and the continued fraction would need thousands of terms.
const MANY: f64 = 1e6;

/// The two-sided interval, at confidence `level` (0.95 for 95 %), of the rate `n1`/`t1` divided by the
/// rate `n2`/`t2`. `n1`, `n2` are Poisson counts (they may be fractional, as after weighting), `t1`, `t2`
/// the exposures in one common unit; the result has no unit.
///
/// Given n1 + n2, n1 is binomial with share p = ρ·t1 / (ρ·t1 + t2) for a ratio ρ, so an exact binomial
/// interval of p becomes one of ρ. It is conservative: it covers at least `level`. The lower end is 0
/// when `n1` is 0, the upper one infinite when `n2` is 0. (0, ∞), "anything is possible", for negative or
/// non-finite counts, exposures that are not positive, and a level outside of (0, 1).
///
/// Sources: J. Przyborowski and H. Wilenski, "Homogeneity of results in testing samples from Poisson
/// series", Biometrika 31 (1940) 313–323, for the conditional binomial; C. Clopper and E. Pearson, "The
/// use of confidence or fiducial limits illustrated in the case of the binomial", Biometrika 26 (1934)
/// 404–413, for its interval, by beta quantiles. Counts above 10^6: normal interval of the log-ratio.
pub fn rate_ratio_interval(n1: f64, t1: f64, n2: f64, t2: f64, level: f64) -> (f64, f64) {
    let anything = (0.0, f64::INFINITY);
    let usable = [n1, n2].iter().all(|n| n.is_finite() && *n >= 0.0)
        && [t1, t2].iter().all(|t| t.is_finite() && *t > 0.0)
        && level > 0.0
        && level < 1.0;
    if !usable {
        return anything;
    }
    let tail = (1.0 - level) / 2.0;
    // The odds p / (1 - p) of the share, times the exposures the other way round.
    let ratio = |low_odds: f64, high_odds: f64| {
        // A quotient of extreme exposures can be 0 / 0 or 0 · ∞; such an end says nothing.
        let exposures = t2 / t1;
        let (low, high) = (low_odds * exposures, high_odds * exposures);
        (if low.is_nan() { 0.0 } else { low }, if high.is_nan() { f64::INFINITY } else { high })
    };
    if n1.min(n2) > MANY {
        // The normal quantile is read off the beta distribution with equal, large parameters.
        let share = beta_quantile(MANY, MANY, 1.0 - tail);
        let z = (share - 0.5) * 2.0 * (2.0 * MANY + 1.0).sqrt();
        let spread = z * (1.0 / n1 + 1.0 / n2).sqrt();
        return ratio(n1 / n2 * (-spread).exp(), n1 / n2 * spread.exp());
    }
    // One side huge and the other not: the huge one is as good as known, so it is cut down to MANY
    // and its exposure with it.
    let (m1, m2) = (n1.min(MANY), n2.min(MANY));
    let (stretch1, stretch2) = (n1.max(1.0) / m1.max(1.0), n2.max(1.0) / m2.max(1.0));
    let low = if n1 == 0.0 { 0.0 } else { odds(m1, m2 + 1.0, tail) };
    let high = if n2 == 0.0 { f64::INFINITY } else { odds(m1 + 1.0, m2, 1.0 - tail) };
    ratio(low * stretch1 / stretch2, high * stretch1 / stretch2)
}

/// x / (1 - x) for the `p`-quantile x of the beta distribution.
fn odds(a: f64, b: f64, p: f64) -> f64 {
    // Whichever end is nearer to 0 is found there, where doubles are dense.
    if a <= b {
        let x = beta_quantile(a, b, p);
        x / (1.0 - x)
    } else {
        let y = beta_quantile(b, a, 1.0 - p);
        if y == 0.0 { f64::INFINITY } else { (1.0 - y) / y }
    }
}

/// The `p`-quantile of the beta distribution, by bisection: slow but without a case that fails.
fn beta_quantile(a: f64, b: f64, p: f64) -> f64 {
    let (mut low, mut high) = (0.0, 1.0);
    for _ in 0..200 {
        let middle = 0.5 * (low + high);
        if middle == low || middle == high {
            break;
        }
        if beta_cdf(a, b, middle) < p {
            low = middle;
        } else {
            high = middle;
        }
    }
    0.5 * (low + high)
}

/// The regularised incomplete beta function I_x(a, b), by the continued fraction of DLMF 8.17.22
/// evaluated with Lentz's method (W. Lentz, Applied Optics 15 (1976) 668–671).
fn beta_cdf(a: f64, b: f64, x: f64) -> f64 {
    if x <= 0.0 {
        return 0.0;
    }
    if x >= 1.0 {
        return 1.0;
    }
    // The fraction converges fast only below the mean; above it, the mirrored one does.
    if x > (a + 1.0) / (a + b + 2.0) {
        return 1.0 - beta_fraction(b, a, 1.0 - x);
    }
    beta_fraction(a, b, x)
}

fn beta_fraction(a: f64, b: f64, x: f64) -> f64 {
    let front = (ln_gamma(a + b) - ln_gamma(a) - ln_gamma(b) + a * x.ln() + b * (-x).ln_1p()).exp() / a;
    // Lentz's guard against a zero denominator.
    let away = |v: f64| if v.abs() < 1e-300 { 1e-300 } else { v };
    let mut c = 1.0;
    let mut d = 1.0 / away(1.0 - (a + b) * x / (a + 1.0));
    let mut sum = d;
    for m in 1..20_000 {
        let m = f64::from(m);
        let even = m * (b - m) * x / ((a + 2.0 * m - 1.0) * (a + 2.0 * m));
        d = 1.0 / away(1.0 + even * d);
        c = away(1.0 + even / c);
        sum *= d * c;
        let odd = -(a + m) * (a + b + m) * x / ((a + 2.0 * m) * (a + 2.0 * m + 1.0));
        d = 1.0 / away(1.0 + odd * d);
        c = away(1.0 + odd / c);
        sum *= d * c;
        if (d * c - 1.0).abs() < 1e-14 {
            break;
        }
    }
    (front * sum).clamp(0.0, 1.0)
}

/// ln Γ(x) for x > 0: Stirling's series (DLMF 5.11.1) after raising x above 12 by Γ(x + 1) = x·Γ(x).
fn ln_gamma(mut x: f64) -> f64 {
    let mut raised = 0.0;
    while x < 12.0 {
        raised += x.max(f64::MIN_POSITIVE).ln();
        x += 1.0;
    }
    let r = 1.0 / (x * x);
    let series = (1.0 / 12.0 - r * (1.0 / 360.0 - r * (1.0 / 1260.0 - r * (1.0 / 1680.0 - r / 1188.0)))) / x;
    (x - 0.5) * x.ln() - x + 0.5 * std::f64::consts::TAU.ln() + series - raised
}

#[cfg(test)]
mod tests {
    use super::*;

    fn near(found: f64, wanted: f64) {
        assert!((found / wanted - 1.0).abs() < 1e-3, "{found} is not {wanted}");
    }

    #[test]
    fn ten_against_ten_agrees_with_the_binomial_table() {
        // Clopper–Pearson for 10 of 20 is (0.27196, 0.72804): odds 0.37355 and 2.6770.
        let (low, high) = rate_ratio_interval(10.0, 1.0, 10.0, 1.0, 0.95);
        near(low, 0.37355);
        near(high, 2.6770);
    }

    #[test]
    fn none_against_ten_has_the_closed_form() {
        // Upper share for 0 of 10: 1 - 0.025^(1/10).
        let (low, high) = rate_ratio_interval(0.0, 1.0, 10.0, 1.0, 0.95);
        let share = 1.0 - 0.025f64.powf(0.1);
        assert_eq!(low, 0.0);
        near(high, share / (1.0 - share));
    }

    #[test]
    fn nothing_counted_leaves_anything_possible() {
        assert_eq!(rate_ratio_interval(0.0, 1.0, 0.0, 1.0, 0.95), (0.0, f64::INFINITY));
        assert_eq!(rate_ratio_interval(3.0, 0.0, 1.0, 1.0, 0.95), (0.0, f64::INFINITY));
        assert_eq!(rate_ratio_interval(3.0, 1.0, 1.0, 1.0, 1.5), (0.0, f64::INFINITY));
    }

    #[test]
    fn exposures_scale_the_ratio() {
        let (low, high) = rate_ratio_interval(30.0, 2.0, 20.0, 1.0, 0.95);
        let (low1, high1) = rate_ratio_interval(30.0, 1.0, 20.0, 1.0, 0.95);
        near(low, low1 / 2.0);
        near(high, high1 / 2.0);
    }

    #[test]
    fn exact_and_normal_form_meet_where_they_change_over() {
        let (low, high) = rate_ratio_interval(0.999e6, 1.0, 0.999e6, 1.0, 0.95);
        let (low2, high2) = rate_ratio_interval(1.001e6, 1.0, 1.001e6, 1.0, 0.95);
        assert!((low - low2).abs() < 1e-5 && (high - high2).abs() < 1e-5);
        assert!((high - 1.0 - 1.96 * (2e-6f64).sqrt()).abs() < 1e-5);
    }

    #[test]
    fn a_huge_side_leaves_the_doubt_of_the_small_one() {
        let (low, high) = rate_ratio_interval(9.0, 1.0, 9e12, 1e12, 0.95);
        assert!(low > 0.44 && low < 0.47 && high > 1.88 && high < 1.92, "{low} {high}");
    }
}
