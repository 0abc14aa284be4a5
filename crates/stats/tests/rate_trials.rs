//! Does the interval of a rate ratio hold the truth as often as it says?

mod trial;

use slowpath_stats::rate_ratio_interval;
use trial::Random;

#[test]
fn intervals_cover_the_true_ratio_at_least_as_often_as_promised() {
    let mut random = Random::new(1);
    for (mean1, mean2) in [(5.0, 5.0), (30.0, 10.0)] {
        let covered = (0..300)
            .filter(|_| {
                let (n1, n2) = (random.poisson(mean1), random.poisson(mean2));
                let (low, high) = rate_ratio_interval(n1, 1.0, n2, 1.0, 0.95);
                (low..=high).contains(&(mean1 / mean2))
            })
            .count();
        assert!(covered >= 280, "{covered} of 300");
    }
}
