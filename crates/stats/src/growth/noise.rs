//! How far a bucket's cost may lie from the truth by chance: one variance function for all models of a
//! series, and the deviance by which they are compared. Which model to believe is left to `growth`.
//!
//! The variance that comes with a bucket was usually read off that bucket's own few samples. Weighting
//! with it would trust the buckets that happened to be low. So, where the variances look like counting
//! noise, they are taken as V(m) = a + c·m, with c the cost that one sample stands for, at the mean m that
//! the model says; else as the constants they are.
//!
//! Source: R. Wedderburn, "Quasi-likelihood functions, generalized linear models, and the Gauss-Newton
//! method", Biometrika 61 (1974) 439–447.

/// No measure of cost is better than this share of the mean: caches and clocks drift.
const FINEST: f64 = 0.01;
/// V at a mean of zero, in samples: keeps an empty bucket from outweighing all others.
const EMPTY: f64 = 0.25;
/// The largest cost is 1, so a standard deviation of this says nothing at all; more would only overflow.
const LARGEST: f64 = 1e6;
/// Counting noise below this share of the constant part is not worth its formula, whose digits it loses.
const SMALLEST_SHARE: f64 = 1e-6;

/// The variance function of each bucket.
pub(super) struct Noise {
    a: Vec<f64>,
    c: Vec<f64>,
    /// The smallest dispersion to believe: 1 where variances were given.
    pub least_dispersion: f64,
    /// Were any variances given?
    pub known: bool,
}

impl Noise {
    /// From costs (at most 1) and their variances; a variance that is not positive and finite is unknown.
    pub fn new(cost: &[f64], variance: &[f64]) -> Noise {
        let n = cost.len();
        let mean = cost.iter().sum::<f64>() / n as f64;
        let finest = ((FINEST * mean) * (FINEST * mean)).max(1e-24);
        let known = |i: &usize| variance[*i] > 0.0 && variance[*i].is_finite();
        let variances: Vec<f64> = (0..n).filter(known).map(|i| variance[i]).collect();
        if variances.is_empty() {
            // Constant and of unknown size: the dispersion is all there is to estimate.
            return Noise { a: vec![1.0; n], c: vec![0.0; n], least_dispersion: finest, known: false };
        }
        let per_sample =
            |i: usize| (known(&i) && cost[i] > 0.0).then(|| variance[i] / cost[i]).filter(|c| c.is_finite());
        let counts: Vec<f64> = (0..n).filter_map(per_sample).collect();
        let counting = !counts.is_empty() && relative_spread(&counts) <= relative_spread(&variances);
        let (usual_variance, usual_count) = (middle(variances), middle(counts));
        let mut noise = Noise { a: vec![finest; n], c: vec![0.0; n], least_dispersion: 1.0, known: true };
        for (i, given) in variance.iter().enumerate() {
            if counting {
                let c = per_sample(i).unwrap_or(usual_count).min(LARGEST);
                noise.a[i] += EMPTY * c * c;
                noise.c[i] = if c < SMALLEST_SHARE * noise.a[i] { 0.0 } else { c };
            } else {
                let variance = if known(&i) { *given } else { usual_variance };
                noise.a[i] += variance.min(LARGEST * LARGEST);
            }
        }
        noise
    }

    /// The variance of bucket `i` if its true cost is `mean`.
    pub fn variance(&self, i: usize, mean: f64) -> f64 {
        self.a[i] + self.c[i] * mean.max(0.0)
    }

    /// Twice the log quasi-likelihood lost by saying `mean` where `cost` was seen: squared distance over
    /// variance for constant noise, the Poisson deviance for counting noise.
    pub fn deviance(&self, i: usize, cost: f64, mean: f64) -> f64 {
        let (a, c) = (self.a[i], self.c[i]);
        let distance = cost - mean.max(0.0);
        let m = mean.max(0.0) + if c > 0.0 { a / c } else { f64::INFINITY };
        if !m.is_finite() {
            return distance * distance / a;
        }
        let r = distance / m;
        // (1 + r)·ln(1 + r) - r loses all its digits where r is small; its series does not.
        let lost = if r.abs() < 1e-3 {
            r * r * (0.5 - r / 6.0 + r * r / 12.0)
        } else if r > -1.0 {
            (1.0 + r) * r.ln_1p() - r
        } else {
            1.0
        };
        (2.0 * m / c * lost).max(0.0)
    }

    /// The deviance of a whole series of means.
    pub fn total_deviance(&self, cost: &[f64], means: &[f64]) -> f64 {
        cost.iter().zip(means).enumerate().map(|(i, (y, m))| self.deviance(i, *y, *m)).sum()
    }

    /// Dispersion, as a multiple of V, by how far each bucket lies from the line between its neighbours.
    /// Blind to slow change, but jumps count as noise. `None` with fewer than 3 buckets.
    ///
    /// Source: T. Gasser, L. Sroka and C. Jennen-Steinmetz, "Residual variance and residual pattern in
    /// nonlinear regression", Biometrika 73 (1986) 625–633.
    pub fn roughness(&self, k: &[f64], cost: &[f64]) -> Option<f64> {
        let mut sum = 0.0;
        let n = k.len();
        for i in 1..n.saturating_sub(1) {
            let span = k[i + 1] - k[i - 1];
            let right = if span > 0.0 { (k[i] - k[i - 1]) / span } else { 0.5 };
            let left = 1.0 - right;
            let away = cost[i] - left * cost[i - 1] - right * cost[i + 1];
            let around = (cost[i - 1] + cost[i] + cost[i + 1]) / 3.0;
            let expected = self.variance(i, around)
                + left * left * self.variance(i - 1, around)
                + right * right * self.variance(i + 1, around);
            sum += away * away / expected;
        }
        (n >= 3).then(|| sum / (n - 2) as f64)
    }
}

/// Standard deviation over mean, of positive values.
fn relative_spread(values: &[f64]) -> f64 {
    let n = values.len() as f64;
    let mean = values.iter().map(|v| v / n).sum::<f64>();
    (values.iter().map(|v| (v / mean - 1.0) * (v / mean - 1.0)).sum::<f64>() / n).sqrt()
}

/// The median, or 0 for none: then nobody asks for it.
fn middle(values: Vec<f64>) -> f64 {
    crate::robust::median(&values).unwrap_or(0.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counting_noise_is_recognised_and_taken_at_the_models_mean() {
        let cost = [0.1, 0.4, 1.0];
        let noise = Noise::new(&cost, &cost.map(|c| 0.01 * c));
        assert!((noise.variance(0, 0.5) / 0.005 - 1.0).abs() < 0.02);
    }

    #[test]
    fn constant_noise_stays_constant() {
        let noise = Noise::new(&[0.1, 0.4, 1.0], &[0.01; 3]);
        assert!((noise.variance(0, 0.5) / 0.01 - 1.0).abs() < 0.02);
        assert!((noise.deviance(1, 0.4, 0.2) - 4.0).abs() < 0.1);
    }

    #[test]
    fn the_series_for_small_deviance_meets_the_formula() {
        let cost = [0.1, 0.4, 1.0];
        let noise = Noise::new(&cost, &cost.map(|c| 0.01 * c));
        let (below, above) = (noise.deviance(1, 0.4004, 0.4), noise.deviance(1, 0.40042, 0.4));
        assert!(below < above && above / below < 1.2);
    }

    #[test]
    fn a_straight_series_has_no_roughness() {
        let k = [1.0, 2.0, 4.0, 8.0];
        let noise = Noise::new(&k.map(|k| k / 8.0), &[0.0; 4]);
        assert!(noise.roughness(&k, &k.map(|k| k / 8.0)).unwrap() < 1e-20);
    }
}
