//! How fine a recording is: every sample and many single calls at first, ever fewer as it grows, so that neither memory nor disk
//! grows with the length of the run. What is left out is in the weights and sums of what is kept.
//!
//! Each time so many rows of a kind have been written its rate is halved: a run twice as long has [`ROWS`] rows more, not twice as many.

use slowpath_recording::Tables;

/// Rows at full detail, and at each further level: about 25 MB in a reader's memory. A program that makes 10,000 single calls a
/// second has twenty seconds in full detail; an hour of it takes seven levels.
const ROWS: u64 = 250_000;
/// One in a million: some weeks of a program that makes a million single calls a second.
const LEVELS: u32 = 20;
/// Single moments are kept for stretches of this length, one stretch of so many, ns: what follows each other stays together.
const STRETCH_NS: u64 = 100_000_000;

/// Rows of one kind, and how fine they are.
#[derive(Debug, Clone, Default)]
struct Level {
    rows: u64,
    level: u32,
}

impl Level {
    fn written(&mut self, rows: usize) -> bool {
        self.rows += rows as u64;
        let before = self.level;
        self.level = u32::try_from(self.rows / ROWS).unwrap_or(LEVELS).min(LEVELS);
        self.level > before
    }
}

/// See the file's head. Samples have a level of their own: many calls do not make a profile coarse, nor samples the calls.
#[derive(Debug, Clone, Default)]
pub(crate) struct Grain {
    samples: Level,
    moments: Level,
    /// State of a generator of random numbers.
    random: u64,
}

/// Rows that grow with the run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Rows {
    pub samples: usize,
    /// Single system calls and their files, waits and counted calls.
    pub moments: usize,
}

impl Rows {
    pub(crate) fn of(tables: &Tables) -> Rows {
        let moments = tables.syscalls.len()
            + tables.files.len()
            + tables.waits.len()
            + tables.parks.len()
            + tables.calls.len();
        Rows { samples: tables.samples.len(), moments }
    }

    pub(crate) fn since(self, after: Rows) -> Rows {
        Rows {
            samples: self.samples.saturating_sub(after.samples),
            moments: self.moments.saturating_sub(after.moments),
        }
    }
}

impl Grain {
    /// Takes note of rows that were written; the new level of single moments if it rose.
    pub(crate) fn written(&mut self, rows: Rows) -> Option<u32> {
        self.samples.written(rows.samples);
        self.moments.written(rows.moments).then_some(self.moments.level)
    }

    /// One sample in so many is kept.
    pub(crate) fn of_samples(&self) -> u64 {
        1 << self.samples.level
    }

    /// One stretch of single moments in so many is kept.
    pub(crate) fn of_moments(&self) -> u64 {
        1 << self.moments.level
    }

    /// For a sample that is kept, how many it stands for. By chance, for a program may do the same every so many ms.
    pub(crate) fn sample(&mut self) -> Option<u64> {
        let level = self.samples.level;
        if level == 0 {
            return Some(1);
        }
        // Knuth's linear congruential generator; its upper bits are good enough to choose samples by.
        self.random =
            self.random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.random >> (64 - level) == 0).then_some(self.of_samples())
    }

    /// What to say of it at the end, if anything.
    pub(crate) fn says(&self) -> Option<String> {
        let samples = (self.of_samples() > 1).then(|| {
            format!(
                "at the end of the recording only one of {} samples was kept, weighted for all of them",
                self.of_samples()
            )
        });
        let moments = (self.of_moments() > 1)
            .then(|| "single system calls and function calls were kept for part of the time".to_owned());
        let parts: Vec<String> = samples.into_iter().chain(moments).collect();
        (!parts.is_empty()).then(|| {
            format!(
                "{}: the recording grew large. Record a shorter part of the run for more detail",
                parts.join(", and ")
            )
        })
    }

    /// Whether moments at this time are kept.
    pub(crate) fn keeps(&self, time_ns: u64) -> bool {
        (time_ns / STRETCH_NS).is_multiple_of(self.of_moments())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn samples(samples: usize) -> Rows {
        Rows { samples, moments: 0 }
    }

    fn moments(moments: usize) -> Rows {
        Rows { samples: 0, moments }
    }

    #[test]
    fn at_any_rate_the_rows_of_a_long_run_are_bounded() {
        for kind in [samples, moments] {
            for per_second in [100u64, 10_000, 1_000_000] {
                let (mut grain, mut rows) = (Grain::default(), 0);
                for _ in 0..100_000 {
                    let kept = per_second / grain.of_samples().max(grain.of_moments());
                    grain.written(kind(kept as usize));
                    rows += kept;
                }
                // A day of it is at most twenty levels' worth, but for the overshoot of the first second.
                assert!(rows <= u64::from(LEVELS) * ROWS + per_second, "{per_second} a second: {rows}");
            }
        }
    }

    #[test]
    fn what_is_kept_stands_for_all() {
        let mut grain = Grain::default();
        assert_eq!(grain.written(samples(3 * ROWS as usize)), None);
        let kept: Vec<u64> = (0..800_000).filter_map(|_| grain.sample()).collect();
        assert!(kept.iter().all(|weight| *weight == 8));
        let all: u64 = kept.iter().sum();
        assert!((780_000..820_000).contains(&all), "{all}");
        assert_eq!(grain.written(moments(3 * ROWS as usize)), Some(3));
        let stretches = (0..80).filter(|at| grain.keeps(at * STRETCH_NS)).count();
        assert_eq!(stretches, 10);
    }

    #[test]
    fn many_calls_leave_the_samples_as_fine_as_they_were() {
        let mut grain = Grain::default();
        assert_eq!(grain.written(moments(5 * ROWS as usize)), Some(5));
        assert_eq!((grain.of_samples(), grain.sample()), (1, Some(1)));
        grain.written(samples(2 * ROWS as usize));
        assert_eq!((grain.of_samples(), grain.of_moments()), (4, 32));
    }

    #[test]
    fn a_short_recording_keeps_everything() {
        let mut grain = Grain::default();
        assert_eq!(grain.written(moments(ROWS as usize - 1)), None);
        grain.written(samples(ROWS as usize - 1));
        assert_eq!((grain.of_moments(), grain.sample(), grain.keeps(123_456_789)), (1, Some(1), true));
    }
}
