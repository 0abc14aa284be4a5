//! Kendall's test: whether values rise in their order, or came so by chance.

use statrs::distribution::{ContinuousCDF, Normal};
use std::cmp::Ordering;

/// For more values than these the distribution is as good as normal (the error at 1 in 100 is below 1 in 1,000), and the exact one takes ever longer.
const EXACT: usize = 100;

/// The probability that random orders have at most as many pairs of values in disorder as these (rising, or falling). Of several series, each with an
/// order of its own; ties count half. 1 if there is nothing to compare.
///
/// Source: M. G. Kendall, "A new measure of rank correlation", Biometrika 30 (1938) 81–93.
pub fn order_p(series: &[Vec<f64>], rising: bool) -> f64 {
    let disorder: f64 = series.iter().map(|values| disorder(values, rising)).sum();
    if series.iter().map(Vec::len).sum::<usize>() > EXACT {
        return normal_p(series, disorder);
    }
    // Share of the orders that have so many pairs out of order: the product of (1 + q + … + q^(i − 1)) / i.
    let mut orders = vec![1.0];
    for i in series.iter().flat_map(|values| 1..=values.len()) {
        let mut sum: f64 = 0.0;
        let next = (0..orders.len() + i - 1).map(|pairs| {
            sum += orders.get(pairs).unwrap_or(&0.0);
            sum -= pairs.checked_sub(i).and_then(|gone| orders.get(gone)).unwrap_or(&0.0);
            sum.max(0.0) / i as f64
        });
        orders = next.collect();
    }
    orders.iter().take(disorder.ceil() as usize + 1).sum::<f64>().min(1.0)
}

/// Pairs of values that are out of order.
fn disorder(values: &[f64], rising: bool) -> f64 {
    let pairs =
        values.iter().enumerate().flat_map(|(at, late)| values[..at].iter().map(move |early| (early, late)));
    pairs
        .map(|(early, late)| match late.total_cmp(early) {
            Ordering::Equal => 0.5,
            order if order.is_gt() == rising => 0.0,
            _ => 1.0,
        })
        .sum()
}

fn normal_p(series: &[Vec<f64>], disorder: f64) -> f64 {
    let sum = |of: fn(f64) -> f64| series.iter().map(|values| of(values.len() as f64)).sum::<f64>();
    let mean = sum(|n| n * (n - 1.0) / 4.0);
    let variance = sum(|n| n * (n - 1.0) * (2.0 * n + 5.0) / 72.0);
    Normal::new(mean, variance.sqrt()).map_or(1.0, |normal| normal.cdf(disorder + 0.5))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_five_values_one_order_in_120_rises() {
        let p = |values: &[f64], rising| order_p(&[values.to_vec()], rising);
        assert!((p(&[1.0, 2.0, 3.0, 4.0, 5.0], true) - 1.0 / 120.0).abs() < 1e-12);
        assert!((p(&[5.0, 4.0, 3.0, 2.0, 1.0], false) - 1.0 / 120.0).abs() < 1e-12);
        assert!((p(&[5.0, 4.0, 3.0, 2.0, 1.0], true) - 1.0).abs() < 1e-12);
        // One pair in disorder: four more orders.
        assert!((p(&[2.0, 1.0, 3.0, 4.0, 5.0], true) - 5.0 / 120.0).abs() < 1e-12);
        assert!(p(&[3.0, 3.0, 3.0], true) > 0.4);
    }

    #[test]
    fn two_series_say_more_than_one() {
        let three = vec![1.0, 2.0, 3.0];
        assert!((order_p(&[three.clone(), three], true) - 1.0 / 36.0).abs() < 1e-12);
        assert!((order_p(&[], true) - 1.0).abs() < 1e-12);
    }

    #[test]
    fn many_values_take_the_normal_form_which_agrees_with_the_exact_one() {
        // A falling part of a rising series.
        let values = |n: usize, falling: usize| -> Vec<f64> {
            (0..n).map(|at| if at < falling { (falling - at) as f64 } else { at as f64 + 1.0 }).collect()
        };
        let series = [values(EXACT, 66)];
        let exact = order_p(&series, true);
        assert!((0.001..0.1).contains(&exact), "{exact}");
        assert!((normal_p(&series, disorder(&series[0], true)) - exact).abs() < 0.001, "{exact}");
        assert!(order_p(&[values(5_000, 100)], true) < 1e-9);
        assert!(order_p(&[values(5_000, 5_000)], true) > 0.999);
    }
}
