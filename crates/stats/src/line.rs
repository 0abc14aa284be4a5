//! A straight line through points, by least squares. Curves are left to `growth`.

/// The line y = `intercept` + `slope` · x.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Line {
    /// Rise of y for each unit of x.
    pub slope: f64,
    /// y at x = 0.
    pub intercept: f64,
    /// Share of the (weighted) variance of y that the line explains, 0 to 1. 0 where y does not vary:
    /// there was nothing to explain.
    pub r2: f64,
}

/// The line of least (weighted) squared distance in y. Weights are relative, usually 1 / variance of y;
/// a weight of 0 leaves its point out.
///
/// `None` if lengths differ, a value is not finite, a weight is negative, fewer than 2 points have
/// weight, or x does not vary (to 14 digits), or the result does not fit a double.
///
/// Source: P. Bevington and D. Robinson, Data Reduction and Error Analysis for the Physical Sciences,
/// 3rd ed., ch. 6, in its centred form, which does not cancel when x is far from 0.
pub fn line(x: &[f64], y: &[f64], w: Option<&[f64]>) -> Option<Line> {
    let fits = |s: &[f64]| s.len() == x.len() && s.iter().all(|v| v.is_finite());
    if !fits(x) || !fits(y) || w.is_some_and(|w| !fits(w) || w.iter().any(|&v| v < 0.0)) {
        return None;
    }
    // Everything is brought to at most 1 first, so that no square can overflow.
    let (x_unit, y_unit) = (largest(x)?, largest(y)?);
    let w_unit = w.map_or(Some(1.0), largest)?;
    let point = |i: usize| {
        let weight = w.map_or(1.0, |w| w[i] / w_unit);
        (x[i] / x_unit, y[i] / y_unit, weight)
    };
    let (mut total, mut x_sum, mut y_sum, mut used) = (0.0, 0.0, 0.0, 0);
    for i in 0..x.len() {
        let (x, y, w) = point(i);
        total += w;
        x_sum += w * x;
        y_sum += w * y;
        used += usize::from(w > 0.0);
    }
    if used < 2 {
        return None;
    }
    let (x_mean, y_mean) = (x_sum / total, y_sum / total);
    let (mut xx, mut xy, mut yy) = (0.0, 0.0, 0.0);
    for i in 0..x.len() {
        let (x, y, w) = point(i);
        let (dx, dy) = (x - x_mean, y - y_mean);
        xx += w * dx * dx;
        xy += w * dx * dy;
        yy += w * dy * dy;
    }
    if xx <= total * 1e-28 {
        return None;
    }
    let slope = xy / xx;
    let intercept = y_mean - slope * x_mean;
    let r2 = if yy <= total * 1e-30 { 0.0 } else { (xy / xx * (xy / yy)).clamp(0.0, 1.0) };
    let found = Line { slope: slope / x_unit * y_unit, intercept: intercept * y_unit, r2 };
    (found.slope.is_finite() && found.intercept.is_finite()).then_some(found)
}

/// The largest magnitude, or 1 where all are 0; `None` for an empty slice.
fn largest(values: &[f64]) -> Option<f64> {
    let most = values.iter().map(|v| v.abs()).reduce(f64::max)?;
    Some(if most > 0.0 { most } else { 1.0 })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn points_on_a_line_give_that_line() {
        let found = line(&[1.0, 2.0, 5.0], &[5.0, 8.0, 17.0], None).unwrap();
        assert!((found.slope - 3.0).abs() < 1e-12);
        assert!((found.intercept - 2.0).abs() < 1e-12);
        assert!((found.r2 - 1.0).abs() < 1e-12);
    }

    #[test]
    fn a_point_of_no_weight_has_no_say() {
        let found = line(&[0.0, 1.0, 2.0], &[0.0, 1.0, 900.0], Some(&[1.0, 1.0, 0.0])).unwrap();
        assert!((found.slope - 1.0).abs() < 1e-12);
    }

    #[test]
    fn x_far_from_zero_loses_no_digits() {
        let x: Vec<f64> = (0..10).map(|i| 1e9 + f64::from(i)).collect();
        let y: Vec<f64> = (0..10).map(|i| 2.0 * f64::from(i)).collect();
        assert!((line(&x, &y, None).unwrap().slope - 2.0).abs() < 1e-6);
    }

    #[test]
    fn no_variance_in_y_is_a_level_line_that_explains_nothing() {
        let found = line(&[1.0, 2.0, 3.0], &[4.0, 4.0, 4.0], None).unwrap();
        assert_eq!((found.slope, found.r2), (0.0, 0.0));
    }

    #[test]
    fn what_is_no_line_has_no_answer() {
        assert_eq!(line(&[], &[], None), None);
        assert_eq!(line(&[1.0], &[1.0], None), None);
        assert_eq!(line(&[2.0, 2.0], &[1.0, 5.0], None), None);
        assert_eq!(line(&[1.0, 2.0], &[1.0, f64::NAN], None), None);
        assert_eq!(line(&[1.0, 2.0], &[1.0, 2.0], Some(&[1.0, -1.0])), None);
    }
}
