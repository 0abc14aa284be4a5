//! Kendall's test: whether values rise in their order, or came so by chance.

/// One value of each pair is the later one: how many pairs rise, how many fall, and how likely it is that as many pairs or more go one way
/// where the order is chance. Of several series, each with an order of its own. M. G. Kendall, A new measure of rank correlation, 1938.
pub fn order_p(series: &[Vec<f64>], rising: bool) -> f64 {
    // Number of orders of all series by how many pairs are in disorder, over all orders: a product of (1 + q + … + q^(i − 1)) / i.
    let mut orders = vec![1.0];
    let mut disorder: f64 = 0.0;
    for values in series {
        for i in 1..=values.len() {
            let mut sum: f64 = 0.0;
            let next = (0..orders.len() + i - 1).map(|pairs| {
                sum += orders.get(pairs).unwrap_or(&0.0);
                sum -= pairs.checked_sub(i).and_then(|gone| orders.get(gone)).unwrap_or(&0.0);
                sum.max(0.0) / i as f64
            });
            orders = next.collect();
        }
        for (at, late) in values.iter().enumerate() {
            for early in &values[..at] {
                disorder += match late.total_cmp(early) {
                    std::cmp::Ordering::Equal => 0.5,
                    order if order.is_gt() == rising => 0.0,
                    _ => 1.0,
                };
            }
        }
    }
    orders.iter().take(disorder.ceil() as usize + 1).sum::<f64>().min(1.0)
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
}
