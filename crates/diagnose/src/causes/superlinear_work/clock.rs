//! The CPU time of the threads that a function runs in, by the clock, from their samples: other programs that take the CPU away
//! meanwhile do not make a call cost more.

/// CPU time against the time of day. Both rise.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct Clock {
    /// When each sample was taken, ns.
    times: Vec<f64>,
    /// The time that each stands for: what passed just before it, ns.
    weights: Vec<f64>,
    /// CPU time up to and with each, ns.
    sums: Vec<f64>,
    /// Several threads ran.
    threads: bool,
}

/// How far around a moment it is looked how many threads run, ns.
const AROUND_NS: f64 = 20e6;

impl Clock {
    /// From time and weight of the samples of some threads, in order of time, ns.
    pub(crate) fn of(samples: impl Iterator<Item = (f64, f64)>, threads: bool) -> Clock {
        let mut clock = Clock { threads, ..Clock::default() };
        let mut sum = 0.0;
        for (time, weight) in samples {
            sum += weight;
            clock.times.push(time);
            clock.weights.push(weight);
            clock.sums.push(sum);
        }
        clock
    }

    /// CPU time until `time`, ns.
    pub(crate) fn cpu(&self, time: f64) -> f64 {
        let next = self.times.partition_point(|sample| *sample <= time);
        let before = if next == 0 { 0.0 } else { self.sums[next - 1] };
        let Some(sample) = self.times.get(next) else { return before };
        before + (time - (sample - self.weights[next])).clamp(0.0, self.weights[next])
    }

    /// When so much CPU time had passed, ns.
    pub(crate) fn time(&self, cpu: f64) -> f64 {
        let at = self.sums.partition_point(|sum| *sum < cpu);
        match (self.times.get(at), self.times.last()) {
            (Some(sample), _) => sample - (self.sums[at] - cpu).clamp(0.0, self.weights[at]),
            (None, last) => last.copied().unwrap_or(cpu),
        }
    }

    /// CPU time in a window of `length` ns from `start` on. Its own clock is finer than samples are, unless they show that another
    /// program had the CPU for more of it than they can be wrong by: the time that one of them stands for.
    pub(crate) fn short(&self, start: f64, length: f64) -> f64 {
        let ran = self.cpu(start + length) - self.cpu(start);
        let next = self.times.partition_point(|sample| *sample <= start);
        let sample = self.weights.get(next).or(self.weights.last()).copied().unwrap_or(f64::INFINITY);
        let own = length * self.running(start);
        if ran + sample < own { ran.max(sample) } else { own }
    }

    /// CPU time that passes in a short while around `time` in which at least one of the threads runs, per ns.
    fn running(&self, time: f64) -> f64 {
        if !self.threads {
            return 1.0;
        }
        ((self.cpu(time + AROUND_NS) - self.cpu(time - AROUND_NS)) / (2.0 * AROUND_NS)).max(1.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn while_another_program_has_the_cpu_no_time_passes() {
        // 1 ms each, and none between 3 ms and 8 ms.
        let clock = Clock::of([1e6, 2e6, 3e6, 9e6].into_iter().map(|time| (time, 1e6)), false);
        assert_eq!(
            (clock.cpu(2.5e6), clock.cpu(3e6), clock.cpu(7e6), clock.cpu(8.5e6)),
            (2.5e6, 3e6, 3e6, 3.5e6)
        );
        assert_eq!(
            (clock.time(2.5e6), clock.time(3.5e6), clock.time(4e6), clock.time(9e6)),
            (2.5e6, 8.5e6, 9e6, 9e6)
        );
        assert_eq!(clock.running(2e6), 1.0);
    }

    #[test]
    fn a_short_window_has_a_clock_of_its_own_unless_another_program_has_the_cpu() {
        // 1 ms each, and none between 3 ms and 13 ms.
        let times = [1e6, 2e6, 3e6, 14e6, 15e6, 16e6, 17e6, 18e6];
        let clock = Clock::of(times.into_iter().map(|time| (time, 1e6)), false);
        assert_eq!(clock.short(0.5e6, 0.2e6), 0.2e6);
        assert_eq!(clock.short(13e6, 5e6), 5e6);
        assert_eq!(clock.short(2e6, 13e6), 3e6, "1 ms before, 2 ms behind");
        assert_eq!(clock.short(2.5e6, 1.4e6), 1.4e6, "which may be the end of what the next one stands for");
        assert_eq!(clock.short(4e6, 8e6), 1e6, "no more than a sample stands for");
        assert_eq!(Clock::default().short(0.0, 5e6), 5e6);
    }

    #[test]
    fn of_two_threads_as_well() {
        // Each has 1 ms a sample; none runs between 50 ms and 55 ms.
        let at = |tick: u32| f64::from(tick / 2 + 1) * 1e6;
        let times = (0..200).map(|tick| if at(tick) <= 50e6 { at(tick) } else { at(tick) + 5e6 });
        let clock = Clock::of(times.map(|time| (time, 1e6)), true);
        let (held_up, free) = (clock.short(48e6, 10e6), clock.short(20e6, 10e6));
        assert!((9e6..=11.5e6).contains(&held_up), "{held_up}");
        assert!((19e6..=21e6).contains(&free), "{free}");
    }

    #[test]
    fn two_threads_make_twice_the_time() {
        let samples = (1..=200).map(|at| ((at + 1) as f64 / 2.0 * 1e6, 1e6));
        let clock = Clock::of(samples, true);
        assert!((clock.running(50e6) - 2.0).abs() < 0.1, "{}", clock.running(50e6));
        assert!((clock.cpu(50e6) - 100e6).abs() < 3e6);
    }
}
