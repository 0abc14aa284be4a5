//! How fine a recording is: every sample and many single calls at first, ever fewer as it grows, so that neither memory nor disk
//! grows with the length of the run. What is left out is in the weights and sums of what is kept.
//!
//! Each time so many rows have been written all rates are halved: a run twice as long has [`ROWS`] rows more, not twice as many.

use slowpath_recording::Tables;

/// Rows at full detail, and at each further level: about 25 MB in a reader's memory. A program that makes 10,000 single calls a
/// second has twenty seconds in full detail; an hour of it takes seven levels.
const ROWS: u64 = 250_000;
/// One in a million: some weeks of a program that makes a million single calls a second.
const LEVELS: u32 = 20;
/// Single moments are kept for stretches of this length, one stretch of so many, ns: what follows each other stays together.
const STRETCH_NS: u64 = 100_000_000;

/// See the file's head.
#[derive(Debug, Clone, Default)]
pub(crate) struct Grain {
    rows: u64,
    level: u32,
    /// State of a generator of random numbers.
    random: u64,
}

impl Grain {
    /// The rows that grow with the run.
    pub(crate) fn rows(tables: &Tables) -> usize {
        tables.samples.len()
            + tables.syscalls.len()
            + tables.waits.len()
            + tables.parks.len()
            + tables.calls.len()
    }

    /// Takes note of rows that were written; the new level if it rose.
    pub(crate) fn written(&mut self, rows: usize) -> Option<u32> {
        self.rows += rows as u64;
        let level = u32::try_from(self.rows / ROWS).unwrap_or(LEVELS).min(LEVELS);
        let rose = level > self.level;
        self.level = level;
        rose.then_some(level)
    }

    /// One in so many is kept.
    pub(crate) fn stride(&self) -> u64 {
        1 << self.level
    }

    /// For a sample that is kept, how many it stands for. By chance, for a program may do the same every so many ms.
    pub(crate) fn sample(&mut self) -> Option<u64> {
        if self.level == 0 {
            return Some(1);
        }
        // Knuth's linear congruential generator; its upper bits are good enough to choose samples by.
        self.random =
            self.random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.random >> (64 - self.level) == 0).then_some(self.stride())
    }

    /// Whether moments at this time are kept.
    pub(crate) fn keeps(&self, time_ns: u64) -> bool {
        (time_ns / STRETCH_NS).is_multiple_of(self.stride())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn at_any_rate_the_rows_of_a_long_run_are_bounded() {
        for per_second in [100u64, 10_000, 1_000_000] {
            let (mut grain, mut rows) = (Grain::default(), 0);
            for _ in 0..100_000 {
                let kept = per_second / grain.stride();
                grain.written(kept as usize);
                rows += kept;
            }
            // A day of it is at most twenty levels' worth, but for the overshoot of the first second.
            assert!(rows <= u64::from(LEVELS) * ROWS + per_second, "{per_second} a second: {rows}");
        }
    }

    #[test]
    fn what_is_kept_stands_for_all() {
        let mut grain = Grain::default();
        assert_eq!(grain.written(3 * ROWS as usize), Some(3));
        let kept: Vec<u64> = (0..800_000).filter_map(|_| grain.sample()).collect();
        assert!(kept.iter().all(|weight| *weight == 8));
        let all: u64 = kept.iter().sum();
        assert!((780_000..820_000).contains(&all), "{all}");
        let stretches = (0..80).filter(|at| grain.keeps(at * STRETCH_NS)).count();
        assert_eq!(stretches, 10);
    }

    #[test]
    fn a_short_recording_keeps_everything() {
        let mut grain = Grain::default();
        assert_eq!(grain.written(ROWS as usize - 1), None);
        assert_eq!((grain.stride(), grain.sample(), grain.keeps(123_456_789)), (1, Some(1), true));
    }
}
