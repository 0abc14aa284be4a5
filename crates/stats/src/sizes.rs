//! How a cost rises with the size of the input: a power law, and a + b·n + c·n².

use crate::mean;
use statrs::distribution::{ContinuousCDF, StudentsT};

/// cost = scale · n^exponent, fitted to the logarithms.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PowerLaw {
    /// The exponent: 1 is linear, 2 quadratic.
    pub exponent: f64,
    /// 95 % interval of the exponent; infinitely wide for two sizes.
    pub low: f64,
    /// See `low`.
    pub high: f64,
    /// Cost at size 1.
    pub scale: f64,
    /// Share of the variance of the logarithms that the law explains.
    pub r2: f64,
}

impl PowerLaw {
    /// The cost at a size.
    pub fn at(&self, size: f64) -> f64 {
        self.scale * size.powf(self.exponent)
    }
}

/// Fits a power law to sizes and costs. None for less than two sizes, or values that are not above zero.
pub fn power_law(sizes: &[f64], costs: &[f64]) -> Option<PowerLaw> {
    let usable = |values: &[f64]| values.iter().all(|value| value.is_finite() && *value > 0.0);
    if sizes.len() != costs.len() || sizes.len() < 2 || !usable(sizes) || !usable(costs) {
        return None;
    }
    let x: Vec<f64> = sizes.iter().map(|size| size.ln()).collect();
    let y: Vec<f64> = costs.iter().map(|cost| cost.ln()).collect();
    let (mx, my, n) = (mean(&x)?, mean(&y)?, x.len() as f64);
    let sxx: f64 = x.iter().map(|x| (x - mx).powi(2)).sum();
    let sxy: f64 = x.iter().zip(&y).map(|(x, y)| (x - mx) * (y - my)).sum();
    let syy: f64 = y.iter().map(|y| (y - my).powi(2)).sum();
    if sxx <= 0.0 {
        return None; // all of one size
    }
    let exponent = sxy / sxx;
    let left: f64 = x.iter().zip(&y).map(|(x, y)| (y - my - exponent * (x - mx)).powi(2)).sum();
    let reach = if x.len() < 3 {
        f64::INFINITY
    } else {
        let student = StudentsT::new(0.0, 1.0, n - 2.0).ok()?;
        student.inverse_cdf(0.975) * (left / (n - 2.0) / sxx).sqrt()
    };
    let r2 = if syy > 0.0 { 1.0 - left / syy } else { 1.0 };
    Some(PowerLaw {
        exponent,
        low: exponent - reach,
        high: exponent + reach,
        scale: (my - exponent * mx).exp(),
        r2,
    })
}

/// a, b and c of the cost a + b·n + c·n² by least squares of the relative errors, none of them below zero: a part that would be
/// is left out. None for fewer than three sizes, or values that are not above zero.
pub fn quadratic(sizes: &[f64], costs: &[f64]) -> Option<[f64; 3]> {
    let usable = |values: &[f64]| values.iter().all(|value| value.is_finite() && *value > 0.0);
    if sizes.len() != costs.len() || sizes.len() < 3 || !usable(sizes) || !usable(costs) {
        return None;
    }
    // Sizes near 1 keep the equations well-conditioned.
    let unit = sizes.iter().copied().fold(0.0, f64::max);
    let rows: Vec<[f64; 3]> = sizes
        .iter()
        .zip(costs)
        .map(|(size, cost)| [0, 1, 2].map(|power| (size / unit).powi(power) / cost))
        .collect();
    let best = (1..8u32)
        .filter_map(|used| {
            let terms: Vec<usize> = (0..3).filter(|term| used & 1 << term != 0).collect();
            let solved = least_squares(&rows, &terms)?;
            let whole =
                [0, 1, 2].map(|term| terms.iter().position(|of| *of == term).map_or(0.0, |at| solved[at]));
            let error: f64 = rows
                .iter()
                .map(|row| (row.iter().zip(&whole).map(|(x, c)| x * c).sum::<f64>() - 1.0).powi(2))
                .sum();
            whole.iter().all(|part| *part >= 0.0).then_some((error, whole))
        })
        .min_by(|a, b| a.0.total_cmp(&b.0))?;
    let [a, b, c] = best.1;
    Some([a, b / unit, c / (unit * unit)])
}

/// The coefficients of `terms` that bring each row's sum nearest to 1, by the normal equations.
fn least_squares(rows: &[[f64; 3]], terms: &[usize]) -> Option<Vec<f64>> {
    let n = terms.len();
    let mut matrix = vec![vec![0.0; n + 1]; n];
    for row in rows {
        for (i, a) in terms.iter().enumerate() {
            for (j, b) in terms.iter().enumerate() {
                matrix[i][j] += row[*a] * row[*b];
            }
            matrix[i][n] += row[*a];
        }
    }
    for at in 0..n {
        let pivot = (at..n).max_by(|a, b| matrix[*a][at].abs().total_cmp(&matrix[*b][at].abs()))?;
        matrix.swap(at, pivot);
        let head = matrix[at].clone();
        if head[at].abs() < 1e-300 {
            return None;
        }
        for (other, row) in matrix.iter_mut().enumerate() {
            if other != at {
                let times = row[at] / head[at];
                row.iter_mut().zip(&head).for_each(|(value, of_head)| *value -= times * of_head);
            }
        }
    }
    Some((0..n).map(|at| matrix[at][n] / matrix[at][at]).collect())
}

/// cost = fixed + per_unit · size, fitted to relative errors: a cost of 1 µs counts as much as one of 1 s.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Affine {
    /// Cost at size 0.
    pub fixed: f64,
    /// 95 % interval of `fixed`.
    pub fixed_low: f64,
    /// See `fixed_low`.
    pub fixed_high: f64,
    /// Further cost of each unit of size.
    pub per_unit: f64,
    /// Share of the variance that it explains, weighted as the fit.
    pub r2: f64,
}

impl Affine {
    /// The cost at a size.
    pub fn at(&self, size: f64) -> f64 {
        self.fixed + self.per_unit * size
    }
}

/// Fits fixed + per_unit · size by weighted least squares, weights 1/cost². None for fewer than three sizes, all of one size,
/// or values that are not above zero.
pub fn affine(sizes: &[f64], costs: &[f64]) -> Option<Affine> {
    let usable = |values: &[f64]| values.iter().all(|value| value.is_finite() && *value > 0.0);
    if sizes.len() != costs.len() || sizes.len() < 3 || !usable(sizes) || !usable(costs) {
        return None;
    }
    let weights: Vec<f64> = costs.iter().map(|cost| 1.0 / (cost * cost)).collect();
    let sum = |of: &dyn Fn(usize) -> f64| (0..sizes.len()).map(|at| weights[at] * of(at)).sum::<f64>();
    let whole = sum(&|_| 1.0);
    let (mean_size, mean_cost) = (sum(&|at| sizes[at]) / whole, sum(&|at| costs[at]) / whole);
    let spread = sum(&|at| (sizes[at] - mean_size).powi(2));
    if spread <= 0.0 {
        return None;
    }
    let per_unit = sum(&|at| (sizes[at] - mean_size) * (costs[at] - mean_cost)) / spread;
    let fixed = mean_cost - per_unit * mean_size;
    let left = sum(&|at| (costs[at] - fixed - per_unit * sizes[at]).powi(2));
    let all = sum(&|at| (costs[at] - mean_cost).powi(2));
    let free = sizes.len() as f64 - 2.0;
    let error = (left / free * (1.0 / whole + mean_size * mean_size / spread)).sqrt();
    let reach = StudentsT::new(0.0, 1.0, free).ok()?.inverse_cdf(0.975) * error;
    let r2 = if all > 0.0 { 1.0 - left / all } else { 1.0 };
    Some(Affine { fixed, fixed_low: fixed - reach, fixed_high: fixed + reach, per_unit, r2 })
}

#[cfg(test)]
mod tests {
    use super::*;

    const SIZES: [f64; 4] = [100.0, 200.0, 400.0, 800.0];

    #[test]
    fn exponents_of_clean_powers_are_theirs() {
        for exponent in [0.0, 1.0, 1.5, 2.0] {
            let costs = SIZES.map(|size| 3.0 * size.powf(exponent));
            let law = power_law(&SIZES, &costs).expect("a law");
            assert!(
                (law.exponent - exponent).abs() < 1e-9
                    && (law.at(1600.0) / (3.0 * 1600f64.powf(exponent)) - 1.0).abs() < 1e-9
            );
        }
    }

    #[test]
    fn noise_widens_the_interval_and_two_sizes_have_none() {
        let costs = [1.1e4, 3.7e4, 17.0e4, 62.0e4];
        let law = power_law(&SIZES, &costs).expect("a law");
        assert!(
            law.low > 1.5 && law.low < law.exponent && law.exponent < law.high && law.high < 2.5,
            "{law:?}"
        );
        assert_eq!(power_law(&SIZES[..2], &costs[..2]).expect("a law").high, f64::INFINITY);
        assert_eq!(power_law(&[5.0, 5.0], &[1.0, 2.0]), None);
        assert_eq!(power_law(&SIZES, &[1.0, 0.0, 2.0, 3.0]), None);
    }

    #[test]
    fn a_sum_of_parts_is_taken_apart() {
        let costs = SIZES.map(|size| 50_000.0 + 20.0 * size + 0.5 * size * size);
        let [a, b, c] = quadratic(&SIZES, &costs).expect("parts");
        assert!(
            (a / 50_000.0 - 1.0).abs() < 1e-6
                && (b / 20.0 - 1.0).abs() < 1e-6
                && (c / 0.5 - 1.0).abs() < 1e-6
        );
        let [_, b, c] = quadratic(&SIZES, &SIZES.map(|size| 7.0 * size)).expect("parts");
        assert!((b / 7.0 - 1.0).abs() < 1e-6 && c.abs() < 1e-9);
        assert_eq!(quadratic(&SIZES[..2], &[1.0, 2.0]), None);
    }

    #[test]
    fn a_fixed_part_and_a_part_of_each_unit_are_told_apart() {
        let sizes = [64.0, 256.0, 1440.0, 16384.0];
        let costs: Vec<f64> = sizes.iter().map(|size| 500.0 + 0.5 * size).collect();
        let fit = affine(&sizes, &costs).expect("a fit");
        assert!((fit.fixed - 500.0).abs() < 1e-6 && (fit.per_unit - 0.5).abs() < 1e-9, "{fit:?}");
        assert!(fit.r2 > 0.999_999 && fit.fixed_low > 499.0 && fit.fixed_high < 501.0);
        // An error of 1 % in each leaves the fixed part between bounds that hold it.
        let noisy: Vec<f64> =
            costs.iter().zip([1.01, 0.99, 1.01, 0.99]).map(|(cost, error)| cost * error).collect();
        let fit = affine(&sizes, &noisy).expect("a fit");
        assert!(fit.fixed_low < 500.0 && 500.0 < fit.fixed_high && fit.fixed_low > 400.0, "{fit:?}");
        assert!((fit.at(1440.0) / 1220.0 - 1.0).abs() < 0.03);
    }

    #[test]
    fn two_sizes_or_one_tell_no_fixed_part() {
        assert_eq!(affine(&[1.0, 2.0], &[1.0, 2.0]), None);
        assert_eq!(affine(&[5.0, 5.0, 5.0], &[1.0, 2.0, 3.0]), None);
        assert_eq!(affine(&[1.0, 2.0, 3.0], &[1.0, 0.0, 3.0]), None);
    }
}
