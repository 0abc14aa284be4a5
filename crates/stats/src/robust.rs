//! The middle of a sample: mean, median and quantiles. Intervals are left to others.

/// Arithmetic mean, in the unit of the values. `None` for an empty slice.
pub fn mean(values: &[f64]) -> Option<f64> {
    if values.is_empty() {
        return None;
    }
    let n = values.len() as f64;
    // Dividing first keeps huge values from overflowing the sum.
    Some(values.iter().map(|v| v / n).sum())
}

/// The median: [`quantile`] at 0.5. `None` for an empty slice or one that holds NaN.
pub fn median(values: &[f64]) -> Option<f64> {
    quantile(values, 0.5)
}

/// The `q`-quantile, in the unit of the values, by linear interpolation between order statistics;
/// `q` is clamped to [0, 1]. `None` for an empty slice, one that holds NaN, or a NaN `q`.
///
/// Source: R. Hyndman and Y. Fan, "Sample quantiles in statistical packages", The American Statistician
/// 50 (1996) 361–365, definition 7.
pub fn quantile(values: &[f64], q: f64) -> Option<f64> {
    if values.is_empty() || q.is_nan() || values.iter().any(|v| v.is_nan()) {
        return None;
    }
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let at = q.clamp(0.0, 1.0) * (sorted.len() - 1) as f64;
    let (low, part) = (at.floor() as usize, at.fract());
    if part == 0.0 {
        return Some(sorted[low]);
    }
    Some(sorted[low] * (1.0 - part) + sorted[low + 1] * part)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_median_is_the_middle_value_or_halfway_between_two() {
        assert_eq!(median(&[9.0, 1.0, 5.0]), Some(5.0));
        assert_eq!(median(&[4.0, 1.0, 3.0, 2.0]), Some(2.5));
        assert_eq!(median(&[]), None);
        assert_eq!(median(&[1.0, f64::NAN]), None);
    }

    #[test]
    fn quantiles_interpolate_and_end_at_the_extremes() {
        let values = [10.0, 20.0, 30.0, 40.0, 50.0];
        assert_eq!(quantile(&values, 0.0), Some(10.0));
        assert_eq!(quantile(&values, 0.25), Some(20.0));
        assert_eq!(quantile(&values, 0.9), Some(46.0));
        assert_eq!(quantile(&values, 7.0), Some(50.0));
    }

    #[test]
    fn the_mean_of_huge_values_does_not_overflow() {
        assert_eq!(mean(&[1.0, 2.0, 6.0]), Some(3.0));
        assert_eq!(mean(&[f64::MAX, f64::MAX]), Some(f64::MAX));
        assert_eq!(mean(&[]), None);
    }
}
