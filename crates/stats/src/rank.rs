//! Rank correlation: do two series rise together, whatever the shape of the curve?
//! How steeply, and along which curve, is left to `line` and `growth`.

/// Spearman's rank correlation of two series, in [-1, 1]: +1 when `y` always rises with `x`, -1 when it
/// always falls. Equal values share the average of their ranks.
///
/// `None` if the lengths differ, there are fewer than 3 points, a value is NaN, or all values of one
/// series are equal.
///
/// Source: C. Spearman, "The proof and measurement of association between two things", American Journal
/// of Psychology 15 (1904) 72–101; ties as in M. Kendall, Rank Correlation Methods, ch. 3: Pearson's
/// correlation of the average ranks.
pub fn spearman(x: &[f64], y: &[f64]) -> Option<f64> {
    if x.len() != y.len() || x.len() < 3 || x.iter().chain(y).any(|v| v.is_nan()) {
        return None;
    }
    let (rx, ry) = (average_ranks(x), average_ranks(y));
    // The mean of average ranks is (n + 1) / 2 with or without ties.
    let middle = (x.len() as f64 + 1.0) / 2.0;
    let (mut xx, mut yy, mut xy) = (0.0, 0.0, 0.0);
    for (a, b) in rx.iter().zip(&ry) {
        xx += (a - middle) * (a - middle);
        yy += (b - middle) * (b - middle);
        xy += (a - middle) * (b - middle);
    }
    if xx == 0.0 || yy == 0.0 {
        return None;
    }
    // One root of the product, not two: sums of halves are exact, so equal ranks give exactly 1.
    Some((xy / (xx * yy).sqrt()).clamp(-1.0, 1.0))
}

/// Ranks from 1; a group of equal values gets the mean of the ranks it occupies.
fn average_ranks(values: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..values.len()).collect();
    order.sort_by(|&a, &b| values[a].total_cmp(&values[b]));
    let mut ranks = vec![0.0; values.len()];
    let mut start = 0;
    while start < order.len() {
        let mut end = start + 1;
        // `==` and not the order's own equality: -0.0 and 0.0 are one value.
        while end < order.len() && values[order[end]] == values[order[start]] {
            end += 1;
        }
        let shared = (start + 1 + end) as f64 / 2.0;
        for &at in &order[start..end] {
            ranks[at] = shared;
        }
        start = end;
    }
    ranks
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rising_is_one_and_falling_is_minus_one() {
        assert_eq!(spearman(&[1.0, 2.0, 3.0], &[1.0, 10.0, 1000.0]), Some(1.0));
        assert_eq!(spearman(&[1.0, 2.0, 3.0], &[5.0, 4.0, -1.0]), Some(-1.0));
        assert_eq!(spearman(&[1.0, 1.0, 3.0], &[5.0, 5.0, 9.0]), Some(1.0));
    }

    #[test]
    fn ties_share_their_average_rank() {
        assert_eq!(average_ranks(&[3.0, 1.0, 3.0, 0.0, -0.0]), [4.5, 3.0, 4.5, 1.5, 1.5]);
        // Ranks 1, 2.5, 2.5, 4 against 1, 2, 3, 4: 4.5 / sqrt(4.5 · 5).
        let r = spearman(&[1.0, 2.0, 2.0, 3.0], &[1.0, 2.0, 3.0, 4.0]).unwrap();
        assert!((r - 0.9f64.sqrt()).abs() < 1e-12);
    }

    #[test]
    fn too_few_points_or_no_variance_has_no_answer() {
        assert_eq!(spearman(&[1.0, 2.0], &[1.0, 2.0]), None);
        assert_eq!(spearman(&[1.0, 2.0, 3.0], &[1.0, 2.0]), None);
        assert_eq!(spearman(&[1.0, 2.0, 3.0], &[7.0, 7.0, 7.0]), None);
        assert_eq!(spearman(&[1.0, 2.0, f64::NAN], &[7.0, 8.0, 9.0]), None);
    }
}
