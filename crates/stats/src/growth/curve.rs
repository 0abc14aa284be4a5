//! Smooth models of cost against call number: base + scale · x, for a power x = k^p or a saturating x.
//! Both are linear once x is fixed, so one fit serves all. Jumps are left to `steps`.

use super::noise::Noise;

/// The steepest power that is looked for; beyond it the last bucket alone decides.
const STEEPEST: f64 = 3.0;
/// The shallowest: flatter powers cannot be distinguished from a logarithm.
const SHALLOWEST: f64 = 0.2;

/// A fitted curve, in the units of the costs and the x that it was given.
pub(super) struct Curve {
    pub base: f64,
    pub scale: f64,
    pub exponent: f64,
    pub deviance: f64,
    pub parameters: usize,
    pub fitted: Vec<f64>,
}

impl Curve {
    /// Deviance, and parameters.
    pub fn merit(&self) -> (f64, usize) {
        (self.deviance, self.parameters)
    }
}

/// base + scale · x by iterated weighted least squares, with base ≥ 0 and scale > 0, or with base = 0
/// where `through_zero`. `None` where the costs do not rise with x.
///
/// Source: P. McCullagh and J. Nelder, Generalized Linear Models, 2nd ed., ch. 2.5, identity link.
fn fit(x: &[f64], cost: &[f64], noise: &Noise, through_zero: bool) -> Option<Curve> {
    let mean = cost.iter().sum::<f64>() / cost.len() as f64;
    let (mut base, mut scale) = (mean, 0.0);
    for _ in 0..12 {
        let (mut w_sum, mut x_sum, mut y_sum) = (0.0, 0.0, 0.0);
        let (mut xx, mut xy) = (0.0, 0.0);
        for i in 0..x.len() {
            let w = 1.0 / noise.variance(i, base + scale * x[i]);
            w_sum += w;
            x_sum += w * x[i];
            y_sum += w * cost[i];
            xx += w * x[i] * x[i];
            xy += w * x[i] * cost[i];
        }
        let spread = xx * w_sum - x_sum * x_sum;
        let before = (base, scale);
        scale = (xy * w_sum - x_sum * y_sum) / spread;
        base = (y_sum - scale * x_sum) / w_sum;
        if through_zero || base < 0.0 {
            base = 0.0;
            scale = xy / xx;
        }
        if !(scale > 0.0 && scale.is_finite() && base.is_finite()) {
            return None;
        }
        if (base - before.0).abs() + (scale - before.1).abs() < 1e-5 * (base + scale) {
            break;
        }
    }
    let fitted: Vec<f64> = x.iter().map(|x| base + scale * x).collect();
    let deviance = noise.total_deviance(cost, &fitted);
    let parameters = if through_zero { 2 } else { 3 };
    deviance.is_finite().then_some(Curve { base, scale, exponent: 0.0, deviance, parameters, fitted })
}

/// The best base + scale · x^p, for x in (0, 1]: p over a grid, then refined by golden section.
pub(super) fn power(x: &[f64], cost: &[f64], noise: &Noise, through_zero: bool) -> Option<Curve> {
    let at = |p: f64| {
        let raised: Vec<f64> = x.iter().map(|x| x.powf(p)).collect();
        fit(&raised, cost, noise, through_zero).map(|curve| Curve { exponent: p, ..curve })
    };
    let step = 0.2;
    let grid =
        (0..=((STEEPEST - SHALLOWEST) / step).round() as u32).map(|i| SHALLOWEST + step * f64::from(i));
    let mut best = grid.filter_map(at).min_by(|a, b| a.deviance.total_cmp(&b.deviance))?;
    let mut low = (best.exponent - step).max(SHALLOWEST);
    let mut high = (best.exponent + step).min(STEEPEST);
    for _ in 0..10 {
        let width = 0.381_966 * (high - low);
        let (left, right) = (at(low + width), at(high - width));
        let deviance = |curve: &Option<Curve>| curve.as_ref().map_or(f64::INFINITY, |c| c.deviance);
        if deviance(&left) <= deviance(&right) {
            high -= width;
        } else {
            low += width;
        }
        for curve in [left, right].into_iter().flatten() {
            if curve.deviance < best.deviance {
                best = curve;
            }
        }
    }
    Some(best)
}

/// The best smooth step from one level to another, base + scale / (1 + (x0 / x)^s), that is over before
/// the end of the series: what a working set does when it outgrows a cache. 4 parameters.
pub(super) fn saturation(x: &[f64], cost: &[f64], noise: &Noise) -> Option<Curve> {
    let mut best: Option<Curve> = None;
    for middle in 1..=15 {
        let x0 = 0.05 * f64::from(middle);
        for sharpness in [2, 4, 8] {
            // A bend as soft and late as this has not levelled off: a power may claim it.
            if middle > 12 && sharpness == 2 {
                continue;
            }
            let bent: Vec<f64> = x.iter().map(|x| 1.0 / (1.0 + (x0 / x).powi(sharpness))).collect();
            if let Some(curve) = fit(&bent, cost, noise, false)
                && best.as_ref().is_none_or(|b| curve.deviance < b.deviance)
            {
                best = Some(Curve { parameters: 4, ..curve });
            }
        }
    }
    best
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_exact_power_over_a_base_is_found_again() {
        let x: Vec<f64> = (1..=20).map(|i| f64::from(i) / 20.0).collect();
        let cost: Vec<f64> = x.iter().map(|x| 0.2 + 0.8 * x.powf(1.7)).collect();
        let found = power(&x, &cost, &Noise::new(&cost, &[0.0; 20]), false).unwrap();
        assert!((found.exponent - 1.7).abs() < 0.02, "{}", found.exponent);
        assert!((found.base - 0.2).abs() < 0.01 && (found.scale - 0.8).abs() < 0.01);
    }

    #[test]
    fn what_falls_is_no_rising_power() {
        let x: Vec<f64> = (1..=20).map(|i| f64::from(i) / 20.0).collect();
        let cost: Vec<f64> = x.iter().map(|x| 1.0 - 0.9 * x).collect();
        assert!(power(&x, &cost, &Noise::new(&cost, &[0.0; 20]), false).is_none());
    }
}
