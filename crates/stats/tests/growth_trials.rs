//! Seeded trials of `growth`: what it must find, and what it must not take for growth.

mod trial;

use slowpath_stats::{Growth, Point, Shape, growth};
use trial::{Random, exact, sampled};

/// How many of the seeded trials satisfy `is`.
fn count(trials: u64, draw: impl Fn(&mut Random) -> Vec<Point>, is: impl Fn(&Growth) -> bool) -> usize {
    (1..=trials).filter(|seed| is(&growth(&draw(&mut Random::new(*seed))))).count()
}

/// 20 buckets with Poisson counts of samples.
fn poisson(per_bucket: f64, cost: impl Fn(f64) -> f64) -> impl Fn(&mut Random) -> Vec<Point> {
    move |random| sampled(20, per_bucket, &cost, |mean| random.poisson(mean))
}

/// Poisson samples on the exact costs of a run, `per_bucket` on average.
fn observed(truth: Vec<Point>, per_bucket: f64) -> impl Fn(&mut Random) -> Vec<Point> {
    let mean = truth.iter().map(|p| p.cost).sum::<f64>() / truth.len() as f64;
    move |random| {
        let seen = |p: &Point| {
            let samples = random.poisson(p.cost / mean * per_bucket);
            Point { k: p.k, cost: samples, variance: samples }
        };
        truth.iter().map(seen).collect()
    }
}

fn exponent(found: &Growth) -> Option<(f64, bool)> {
    match found.shape {
        Shape::Power { exponent, falling, .. } => Some((exponent, falling)),
        _ => None,
    }
}

fn is_power(found: &Growth) -> bool {
    exponent(found).is_some()
}

fn is_steps(found: &Growth) -> bool {
    matches!(found.shape, Shape::Steps { .. })
}

/// A power near `p`, with the direction asked for.
fn near(p: f64, falling: bool) -> impl Fn(&Growth) -> bool {
    move |found| exponent(found).is_some_and(|(e, f)| f == falling && (e - p).abs() <= 0.35)
}

/// A power that a caller would take for real growth.
fn convincing(found: &Growth) -> bool {
    found.r2 >= 0.8 && exponent(found).is_some_and(|(e, _)| (0.6..=2.5).contains(&e))
}

fn merge_sort(levels: u32) -> impl Fn(f64) -> f64 {
    let n = 2f64.powi(levels as i32);
    // n/2 merges of 1, n/4 of 2, ... : merge k belongs to the level that has all but (n - k) behind it.
    move |k| 2f64.powf(((n / (n - k).max(1.0)).log2() - 1e-9).floor().max(0.0))
}

#[test]
fn linear_growth_is_found_with_its_exponent() {
    assert!(count(200, poisson(25.0, |k| k), near(1.0, false)) >= 190);
}

#[test]
fn quadratic_growth_is_found_with_its_exponent() {
    assert!(count(200, poisson(25.0, |k| k * k), near(2.0, false)) >= 190);
}

#[test]
fn linear_fall_to_the_last_call_is_found_with_its_exponent() {
    assert!(count(200, poisson(25.0, |k| 1001.0 - k), near(1.0, true)) >= 186);
    let found = growth(&poisson(100.0, |k| 1001.0 - k)(&mut Random::new(1)));
    assert!(found.last_to_first > 3.0 && found.spearman < -0.9);
}

#[test]
fn growth_over_a_fixed_cost_is_found_with_enough_samples() {
    assert!(count(100, poisson(100.0, |k| 200.0 + k), near(1.0, false)) >= 85);
    assert!(count(100, poisson(400.0, |k| 500.0 + k), near(1.0, false)) >= 90);
}

#[test]
fn flat_cost_is_called_flat() {
    assert!(count(1000, poisson(25.0, |_| 1.0), |g| g.shape != Shape::Flat) <= 10);
}

#[test]
fn flat_cost_with_few_samples_is_called_flat() {
    assert!(count(300, poisson(2.0, |_| 1.0), |g| g.shape != Shape::Flat) <= 3);
}

#[test]
fn noise_larger_than_poisson_is_not_taken_for_growth() {
    let fourfold = |random: &mut Random| {
        sampled(20, 100.0, |_| 1.0, |mean| (mean + 2.0 * mean.sqrt() * random.normal()).max(0.0).round())
    };
    assert!(count(300, fourfold, |g| g.shape != Shape::Flat) <= 9);
    assert!(count(300, fourfold, is_power) <= 2);
    let uneven = |random: &mut Random| {
        sampled(
            20,
            100.0,
            |_| 1.0,
            |mean| {
                let swing = (0.3 * random.normal()).exp();
                random.poisson(mean * swing)
            },
        )
    };
    assert!(count(300, uneven, is_power) <= 2);
    let found = growth(&uneven(&mut Random::new(1)));
    assert!(found.reduced_chi2 > 3.0, "{}", found.reduced_chi2);
}

#[test]
fn amortised_doubling_is_no_power() {
    for dearness in [1.0, 3.0, 10.0] {
        let spikes = |k: f64| if (k as u64).is_power_of_two() { 1.0 + dearness * k } else { 1.0 };
        for per_bucket in [25.0, 400.0] {
            assert_eq!(count(100, poisson(per_bucket, spikes), |g| is_power(g) && g.r2 >= 0.8), 0);
        }
        assert!(!is_power(&growth(&exact(20, 50, spikes))));
    }
}

#[test]
fn two_phases_are_steps() {
    let phases = |k: f64| if k <= 400.0 { 1.0 } else { 3.0 };
    assert!(count(100, poisson(25.0, phases), is_steps) >= 98);
    let found = growth(&poisson(400.0, phases)(&mut Random::new(1)));
    let Shape::Steps { levels, breaks } = found.shape else { panic!("{found:?}") };
    assert_eq!(breaks, [8]);
    assert!((levels[1] / levels[0] - 3.0).abs() < 0.3);
}

#[test]
fn three_rising_phases_are_steps() {
    let phases = |k: f64| if k <= 350.0 { 1.0 } else { (2.0 * (k / 700.0).ceil()).min(4.0) };
    assert!(count(100, poisson(100.0, phases), is_steps) >= 98);
    // With a quarter of the samples a good part is unclear, and about 3 % still look like growth.
    assert!(count(200, poisson(25.0, phases), convincing) <= 10);
}

#[test]
fn logarithmic_growth_has_a_small_exponent_if_any() {
    for base in [0.0, 1.0] {
        for per_bucket in [25.0, 400.0] {
            let too_steep = |g: &Growth| exponent(g).is_some_and(|(e, _)| e >= 0.5);
            assert_eq!(count(100, poisson(per_bucket, |k| base + k.ln()), too_steep), 0);
        }
        assert!(exponent(&growth(&exact(20, 50, |k| base + k.ln()))).is_none_or(|(e, _)| e < 0.5));
    }
}

fn cache(k0: f64, sharpness: i32) -> impl Fn(f64) -> f64 {
    move |k| 1.0 + 4.0 / (1.0 + (k0 / k).powi(sharpness))
}

#[test]
fn a_cache_that_overflows_within_the_run_is_no_power() {
    let guilty = |g: &Growth| g.r2 > 0.9 && exponent(g).is_some_and(|(e, _)| (0.6..=3.0).contains(&e));
    for (k0, sharpness) in [(100.0, 2), (300.0, 2), (300.0, 4), (500.0, 4), (500.0, 8), (700.0, 8)] {
        let wrong = count(100, poisson(400.0, cache(k0, sharpness)), guilty);
        assert!(wrong <= 2, "{k0} {sharpness}: {wrong}");
        assert!(!guilty(&growth(&exact(20, 50, cache(k0, sharpness)))), "{k0} {sharpness}");
    }
}

#[test]
fn a_cache_that_is_still_overflowing_at_the_end_cannot_be_told_from_growth() {
    // Not wished for: the costs do grow up to the last call. Stated here so that a change is noticed.
    assert!(count(100, poisson(400.0, cache(1000.0, 2)), is_power) >= 50);
}

#[test]
fn merges_of_a_bottom_up_sort_are_no_power() {
    for levels in [10, 12] {
        let n = 1usize << levels;
        let truth = exact(20, n / 20, merge_sort(levels));
        assert!(truth[19].cost > 10.0 && (truth[3].cost - 1.0).abs() < 1e-9);
        let wrong = |g: &Growth| g.r2 >= 0.9 && exponent(g).is_some_and(|(e, _)| e <= 2.5);
        assert!(!wrong(&growth(&truth)));
        assert_eq!(count(100, observed(truth.clone(), 25.0), wrong), 0);
        assert_eq!(count(100, observed(truth, 400.0), wrong), 0);
    }
}

#[test]
fn a_warm_up_is_not_falling_cost() {
    let first = |part: f64| move |k: f64| if k <= part * 1000.0 { 10.0 } else { 1.0 };
    for part in [0.02, 0.05] {
        assert_eq!(count(100, poisson(25.0, first(part)), convincing), 0);
        assert!(!convincing(&growth(&exact(20, 50, first(part)))));
    }
    let decay = |k: f64| 1.0 + 3.0 * (-k / 100.0).exp();
    assert_eq!(count(100, poisson(25.0, decay), convincing), 0);
}

#[test]
fn a_small_rise_says_so_in_last_to_first() {
    let found = growth(&exact(20, 50, |k| 1.0 + 0.1 * k / 1000.0));
    assert!((1.05..1.1).contains(&found.last_to_first), "{}", found.last_to_first);
}

#[test]
fn the_fit_follows_the_points_in_the_order_given() {
    let mut points = exact(20, 50, |k| 5.0 + 0.01 * k);
    points.reverse();
    let found = growth(&points);
    assert!(near(1.0, false)(&found), "{found:?}");
    assert!(points.iter().zip(&found.fitted).all(|(p, f)| (p.cost - f).abs() < 0.01 * p.cost));
    assert!(found.r2 > 0.99);
    let Shape::Power { base, scale, exponent, .. } = found.shape else { panic!("{found:?}") };
    assert!((base + scale * 1000f64.powf(exponent) - 15.0).abs() < 0.1);
}

#[test]
fn few_points_are_unclear_and_no_cost_is_flat() {
    assert_eq!(growth(&[]).shape, Shape::Unclear);
    assert_eq!(growth(&exact(5, 10, |k| k)).shape, Shape::Unclear);
    assert_eq!(growth(&exact(20, 10, |_| 0.0)).shape, Shape::Flat);
    assert_eq!(growth(&exact(20, 10, |_| 7.0)).shape, Shape::Flat);
}
