//! What must hold for any input: no panic, no NaN, results within their ranges, exponents found again.

mod trial;

use proptest::collection::vec;
use proptest::prelude::*;
use slowpath_stats::{
    Growth, Point, Shape, count_fit, growth, line, mean, median, quantile, rate_ratio_interval, spearman,
};
use trial::{Random, sampled};

/// Finite numbers of every size, with many zeros and repeats among them.
fn number() -> impl Strategy<Value = f64> {
    let any = proptest::num::f64::NORMAL | proptest::num::f64::SUBNORMAL | proptest::num::f64::ZERO;
    prop_oneof![Just(0.0), Just(1.0), Just(-1.0), (0..9).prop_map(f64::from), -1e3..1e3, any]
}

fn points() -> impl Strategy<Value = Vec<Point>> {
    let point = (number(), number(), number()).prop_map(|(k, cost, variance)| Point { k, cost, variance });
    vec(point, 0..30)
}

/// Series that look like the real thing, but with empty and repeated buckets.
fn plausible_points() -> impl Strategy<Value = Vec<Point>> {
    vec((0..4u32, 0..60u32, any::<bool>()), 0..40).prop_map(|buckets| {
        let mut k = 0.0;
        let point = |(gap, samples, known): (u32, u32, bool)| {
            k += f64::from(gap);
            let cost = f64::from(samples);
            Point { k, cost, variance: if known { cost } else { 0.0 } }
        };
        buckets.into_iter().map(point).collect()
    })
}

fn is_sound(found: &Growth, n: usize) -> bool {
    let shape = match &found.shape {
        Shape::Power { base, scale, exponent, .. } => {
            *base >= 0.0
                && *scale >= 0.0
                && base.is_finite()
                && scale.is_finite()
                && (0.1..=3.1).contains(exponent)
        }
        Shape::Steps { levels, breaks } => {
            levels.len() == breaks.len() + 1
                && (2..=5).contains(&levels.len())
                && levels.iter().all(|l| l.is_finite() && *l >= 0.0)
                && breaks.windows(2).all(|w| w[0] < w[1])
                && breaks.iter().all(|b| *b > 0 && *b < n)
        }
        Shape::Flat | Shape::Unclear => true,
    };
    shape
        && (-1.0..=1.0).contains(&found.spearman)
        && (0.0..=1.0).contains(&found.r2)
        && found.last_to_first.is_finite()
        && found.last_to_first > 0.0
        && found.reduced_chi2.is_finite()
        && found.reduced_chi2 >= 0.0
        && found.fitted.len() == n
        && found.fitted.iter().all(|f| f.is_finite())
}

/// Of 360,000 series 2 were left undecided when this was written; here the seeds are always the same.
#[test]
fn a_noisy_power_is_found_again() {
    let undecided = (0..1_000u64).filter(|&seed| {
        let p = 0.7 + 1.7 * seed as f64 / 1_000.0;
        let mut random = Random::new(seed);
        let found = growth(&sampled(20, 400.0, |k| k.powf(p), |m| random.poisson(m)));
        !matches!(found.shape, Shape::Power { falling: false, .. })
    });
    assert_eq!(undecided.collect::<Vec<u64>>(), []);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn growth_is_sound_for_any_finite_points(points in points()) {
        let found = growth(&points);
        prop_assert!(is_sound(&found, points.len()), "{found:?}");
    }

    #[test]
    fn growth_is_sound_for_plausible_points(points in plausible_points()) {
        let found = growth(&points);
        prop_assert!(is_sound(&found, points.len()), "{found:?}");
    }

    #[test]
    fn growth_survives_values_that_are_not_finite(mut points in plausible_points(), at in any::<prop::sample::Index>()) {
        if !points.is_empty() {
            let n = points.len();
            points[at.index(n)].cost = f64::NAN;
            points[at.index(n)].variance = f64::INFINITY;
            let found = growth(&points);
            prop_assert_eq!(&found.shape, &Shape::Unclear);
            prop_assert!(is_sound(&found, n));
        }
    }

    #[test]
    fn growth_does_not_depend_on_the_unit_of_cost(seed in 1..500u64, unit in -8..8i32) {
        let points = sampled(20, 60.0, |k| 100.0 + k, |m| Random::new(seed ^ m.to_bits()).poisson(m));
        let factor = 2f64.powi(unit);
        let scale = |p: &Point| Point { k: p.k, cost: p.cost * factor, variance: p.variance * factor * factor };
        let scaled: Vec<Point> = points.iter().map(scale).collect();
        let (a, b) = (growth(&points), growth(&scaled));
        prop_assert_eq!(std::mem::discriminant(&a.shape), std::mem::discriminant(&b.shape));
        prop_assert!((a.r2 - b.r2).abs() < 1e-6);
    }

    /// Noise may leave it undecided (how often: the test below), but it never leads to something wrong.
    #[test]
    fn a_noisy_power_is_never_taken_for_another(p in 0.7..2.4f64, seed in any::<u64>()) {
        let mut random = Random::new(seed);
        let found = growth(&sampled(20, 400.0, |k| k.powf(p), |m| random.poisson(m)));
        match found.shape {
            Shape::Power { exponent, falling: false, .. } => {
                prop_assert!((exponent - p).abs() < 0.3, "{} for {}", exponent, p);
            }
            shape => prop_assert_eq!(shape, Shape::Unclear),
        }
    }

    #[test]
    fn rank_correlation_stays_in_its_range(pairs in vec((number(), number()), 0..40)) {
        let (x, y): (Vec<f64>, Vec<f64>) = pairs.into_iter().unzip();
        if let Some(r) = spearman(&x, &y) {
            prop_assert!((-1.0..=1.0).contains(&r));
        }
    }

    #[test]
    fn rank_correlation_only_sees_the_order(pairs in vec((-30..30i32, -30..30i32), 3..40)) {
        let (x, y): (Vec<f64>, Vec<f64>) = pairs.iter().map(|(x, y)| (f64::from(*x), f64::from(*y))).unzip();
        let bent: Vec<f64> = x.iter().map(|x| (x / 5.0).exp() - 7.0).collect();
        let turned: Vec<f64> = y.iter().map(|y| -y * y * y).collect();
        let r = spearman(&x, &y);
        prop_assert_eq!(r, spearman(&bent, &y));
        prop_assert_eq!(r.map(|r| -r + 0.0), spearman(&x, &turned).map(|r| r + 0.0));
    }

    #[test]
    fn lines_are_finite_or_nothing(triples in vec((number(), number(), number()), 0..20)) {
        let x: Vec<f64> = triples.iter().map(|t| t.0).collect();
        let y: Vec<f64> = triples.iter().map(|t| t.1).collect();
        let w: Vec<f64> = triples.iter().map(|t| t.2.abs()).collect();
        for found in [line(&x, &y, None), line(&x, &y, Some(&w))].into_iter().flatten() {
            prop_assert!(found.slope.is_finite() && found.intercept.is_finite());
            prop_assert!((0.0..=1.0).contains(&found.r2));
        }
        if let Some(found) = count_fit(&x, &y) {
            prop_assert!(found.per_call.is_finite() && found.constant.is_finite());
        }
    }

    #[test]
    fn a_line_is_found_again(slope in -50.0..50.0f64, intercept in -50.0..50.0f64, n in 2..40u32) {
        let x: Vec<f64> = (0..n).map(f64::from).collect();
        let y: Vec<f64> = x.iter().map(|x| intercept + slope * x).collect();
        let found = line(&x, &y, None).unwrap();
        prop_assert!((found.slope - slope).abs() < 1e-8 && (found.intercept - intercept).abs() < 1e-8);
    }

    #[test]
    fn quantiles_lie_between_the_extremes_and_rise(values in vec(-1e6..1e6f64, 1..40), a in 0.0..1.0f64, b in 0.0..1.0f64) {
        let (low, high) = (quantile(&values, 0.0).unwrap(), quantile(&values, 1.0).unwrap());
        let (qa, qb) = (quantile(&values, a.min(b)).unwrap(), quantile(&values, a.max(b)).unwrap());
        prop_assert!(low <= qa && qa <= qb + 1e-9 && qb <= high);
        prop_assert!(low <= median(&values).unwrap() && mean(&values).unwrap() <= high + 1e-6);
    }
}

proptest! {
    // Each case is a few hundred continued fractions.
    #![proptest_config(ProptestConfig { cases: 100, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn rate_intervals_are_ordered_for_any_input(n1 in number(), t1 in number(), n2 in number(), t2 in number()) {
        let (low, high) = rate_ratio_interval(n1, t1, n2, t2, 0.95);
        prop_assert!(low >= 0.0 && low <= high, "{} {}", low, high);
    }

    #[test]
    fn rate_intervals_hold_the_ratio_and_turn_over_with_the_sides(n1 in 1..3000u32, n2 in 1..3000u32, t in 0.1..10.0f64) {
        let (n1, n2) = (f64::from(n1), f64::from(n2));
        let (low, high) = rate_ratio_interval(n1, t, n2, 1.0, 0.95);
        let ratio = n1 / t / n2;
        prop_assert!(low < ratio && ratio < high);
        let (turned_low, turned_high) = rate_ratio_interval(n2, 1.0, n1, t, 0.95);
        prop_assert!((low * turned_high - 1.0).abs() < 1e-6 && (high * turned_low - 1.0).abs() < 1e-6);
        let (wide_low, wide_high) = rate_ratio_interval(n1, t, n2, 1.0, 0.99);
        prop_assert!(wide_low < low && high < wide_high);
    }
}
