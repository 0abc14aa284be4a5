//! Exact counts: "call k of F makes a·k + b calls to G".
//! Counts carry no noise, so a plain line is enough; noisy costs are for `growth`.

use crate::line::line;

/// How many calls to another function call number k makes: `per_call` · k + `constant`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CountFit {
    /// Further calls for each further k; about 0 when every call does the same work.
    pub per_call: f64,
    /// Calls at k = 0.
    pub constant: f64,
    /// Share of the variance of the counts that the line explains, 0 to 1; 0 where they do not vary.
    pub r2: f64,
    /// Points used.
    pub n: usize,
    /// Every count is less than half a call away from the line: rounding alone explains the rest.
    pub exact: bool,
}

/// Fits a line to exact counts: `calls[i]` calls made by call number `k[i]`.
///
/// `None` with fewer than 3 points (any 2 lie on a line) and wherever [`line`](crate::line()) gives `None`.
///
/// Source: ordinary least squares, as in [`line`](crate::line()).
pub fn count_fit(k: &[f64], calls: &[f64]) -> Option<CountFit> {
    if k.len() < 3 {
        return None;
    }
    let found = line(k, calls, None)?;
    let exact = k.iter().zip(calls).all(|(k, c)| (c - (found.slope * k + found.intercept)).abs() < 0.5);
    Some(CountFit { per_call: found.slope, constant: found.intercept, r2: found.r2, n: k.len(), exact })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_calls_more_for_each_call_is_found_exactly() {
        let k: Vec<f64> = (1..=206).map(f64::from).collect();
        let calls: Vec<f64> = k.iter().map(|k| 2.0 * k - 1.0).collect();
        let fit = count_fit(&k, &calls).unwrap();
        assert!((fit.per_call - 2.0).abs() < 1e-9 && (fit.constant + 1.0).abs() < 1e-9);
        assert!(fit.exact && fit.r2 > 0.999_999 && fit.n == 206);
    }

    #[test]
    fn halves_that_were_rounded_down_still_count_as_exact() {
        let k: Vec<f64> = (1..=100).map(f64::from).collect();
        let calls: Vec<f64> = k.iter().map(|k| (k / 2.0).floor()).collect();
        let fit = count_fit(&k, &calls).unwrap();
        assert!(fit.exact && (fit.per_call - 0.5).abs() < 0.01);
    }

    #[test]
    fn the_same_count_each_time_grows_by_nothing() {
        let fit = count_fit(&[1.0, 2.0, 3.0, 4.0], &[7.0; 4]).unwrap();
        assert!(fit.exact && fit.per_call == 0.0 && fit.constant == 7.0);
    }

    #[test]
    fn squares_are_no_line() {
        let k: Vec<f64> = (1..=30).map(f64::from).collect();
        let calls: Vec<f64> = k.iter().map(|k| k * k).collect();
        assert!(!count_fit(&k, &calls).unwrap().exact);
    }

    #[test]
    fn two_points_prove_no_line() {
        assert_eq!(count_fit(&[1.0, 2.0], &[1.0, 2.0]), None);
    }
}
