//! How much tracing may take of a run: little of its elapsed time, once a short program would have ended.

/// What it may take however short the run is, ns: so a short program is traced as a whole.
const ALLOWANCE_NS: u64 = 30_000_000;
/// One in so many ns of the elapsed time after that: 4 %, for the last window may take a little more than was left.
const ONE_IN: u64 = 25;
/// Calls that a window has at least: fewer say too little of what they stand for.
pub(super) const CALLS: u64 = 64;
/// A new process is traced for so many calls before it is let run: its beginning is of no use in part.
pub(super) const FIRST_CALLS: u64 = 200;

/// Threads that sleep for most of the time and seldom call are traced all the time, beside those above: that may take one in so many ns of the elapsed time, and as much
/// of each of them. A thread that starts a child each 65 ms and looks for its end half a dozen times takes 1.7 %.
const QUIET_ONE_IN: u64 = 40;
const QUIET_AT_FIRST_NS: u64 = 3_000_000;
/// What it may take at once, ns: a child is started, its end looked for ever less often, and so on; that is a dozen calls in a few ms.
const QUIET_AT_ONCE_NS: u64 = 2_500_000;
/// One that turned out to call too often is looked at again after so many times what that took.
const REST: u64 = QUIET_ONE_IN;
/// It sleeps for most of the time if it runs for less than one in so many ns: in a tenth of a second 100 calls of 50 µs with their stops are as much.
const SELDOM_RUNS: u64 = 10;

/// So many programs are traced for that long at some of their starts, even when tracing has taken all that it may: where processes are started all the
/// time, their stops alone take that, and nothing would be known of any. A shell's loop has seldom more.
pub(super) const FIRST_PROGRAMS: usize = 6;

/// Starts of a program: the first two are traced, and then ever fewer, each time that there are half as many again. Of a thousand that are 15, which
/// take 3 to 10 ms each: a few percent of what a thousand processes take.
#[derive(Debug, Default)]
pub(super) struct Starts {
    number: u64,
    traced: u64,
}

impl Starts {
    /// Whether the one that begins now is traced in any case.
    pub(super) fn next(&mut self) -> bool {
        self.number += 1;
        let due = self.number > self.traced + self.traced / 2;
        if due {
            self.traced = self.number;
        }
        due
    }
}

/// See the file's head. All times are ns.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Budget {
    began: u64,
    /// What tracing took so far, estimated, and the stops that took it.
    pub taken: u64,
    pub stops: u64,
    /// What it took of threads that are quiet.
    quiet_taken: u64,
}

impl Budget {
    pub(super) fn new(began: u64) -> Budget {
        Budget { began, ..Budget::default() }
    }

    /// A stop was handled.
    pub(super) fn add(&mut self, took: u64) {
        self.taken += took;
        self.stops += 1;
    }

    fn allowed(&self, now: u64) -> u64 {
        ALLOWANCE_NS + now.saturating_sub(self.began) / ONE_IN
    }

    /// Tracing has taken more than it may.
    pub(super) fn is_over(&self, now: u64) -> bool {
        self.taken > self.allowed(now)
    }

    /// A stop of a quiet thread was handled.
    pub(super) fn add_quiet(&mut self, took: u64) {
        self.quiet_taken += took;
    }

    /// Whether there is room for threads that are quiet.
    pub(super) fn has_room_for_quiet(&self, now: u64) -> bool {
        self.quiet_taken <= QUIET_AT_FIRST_NS + now.saturating_sub(self.began) / QUIET_ONE_IN
    }

    /// Whether a thread whose stops took so much of so long is quiet.
    pub(super) fn is_quiet(took: u64, elapsed: u64) -> bool {
        took.saturating_sub(QUIET_AT_ONCE_NS).saturating_mul(QUIET_ONE_IN) <= elapsed
    }

    /// Whether one that ran so much of so long may be quiet.
    pub(super) fn seldom_runs(ran: u64, elapsed: u64) -> bool {
        ran.saturating_mul(SELDOM_RUNS) <= elapsed
    }

    /// How long one that was not quiet is left alone.
    pub(super) fn rest(took: u64) -> u64 {
        REST * took
    }

    /// A start of a program of which some have been seen may be traced only as long as half is left: the others who run must be heard too.
    pub(super) fn has_half(&self, now: u64) -> bool {
        2 * self.taken <= self.allowed(now)
    }

    /// For how many more windows there is room.
    pub(super) fn windows(&self, now: u64) -> u64 {
        let each = self.taken / self.stops.max(1);
        self.allowed(now).saturating_sub(self.taken) / (2 * CALLS * each).max(1)
    }

    /// Whether a thread whose stops took so much of so long takes so little that it may be traced all the time, beside others
    /// that take more: half of an equal part.
    pub(super) fn is_frugal(took: u64, elapsed: u64, threads: usize) -> bool {
        took.saturating_mul(2 * ONE_IN * threads.max(1) as u64) <= elapsed
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;

    #[test]
    fn a_short_run_may_be_traced_whole_and_a_long_one_for_a_small_part() {
        let mut budget = Budget::new(0);
        (0..2_000).for_each(|_| budget.add(15_000)); // 30 ms
        assert!(!budget.is_over(MS));
        (0..10).for_each(|_| budget.add(15_000));
        assert!(budget.is_over(MS) && !budget.is_over(10 * MS));
        // A loop of calls as fast as it can be is never over for long, and takes 4 %.
        let mut now = 0;
        while now < 100_000 * MS {
            now += 10 * MS;
            for _ in 0..budget.windows(now) * 2 * CALLS {
                budget.add(15_000);
                now += 15_000;
            }
        }
        let share = budget.taken as f64 / now as f64;
        assert!((0.035..0.045).contains(&share), "{share}");
    }

    #[test]
    fn ever_fewer_starts_of_a_program_are_traced() {
        let mut starts = Starts::default();
        let traced: Vec<u64> = (1..=1_000).filter(|_| starts.next()).collect();
        assert_eq!(traced[..7], [1, 2, 4, 7, 11, 17, 26]);
        assert_eq!(traced.len(), 15);
    }

    #[test]
    fn quiet_threads_have_a_budget_of_their_own() {
        let mut budget = Budget::new(0);
        budget.add_quiet(QUIET_AT_FIRST_NS + MS);
        assert!(!budget.has_room_for_quiet(39 * MS) && budget.has_room_for_quiet(40 * MS));
        assert!(!budget.is_over(0));
        let took = QUIET_AT_ONCE_NS + MS;
        assert!(Budget::is_quiet(took, 40 * MS) && !Budget::is_quiet(took, 39 * MS));
        assert!(Budget::seldom_runs(MS, 10 * MS) && !Budget::seldom_runs(MS, 9 * MS));
        assert_eq!(Budget::rest(MS), 40 * MS);
    }

    #[test]
    fn starts_of_a_known_program_leave_half_to_others() {
        let mut budget = Budget::new(0);
        budget.add(ALLOWANCE_NS / 2 + MS);
        assert!(!budget.has_half(49 * MS) && budget.has_half(50 * MS) && !budget.is_over(0));
    }

    #[test]
    fn who_seldom_calls_is_traced_all_the_time() {
        assert!(Budget::is_frugal(0, 0, 1));
        assert!(Budget::is_frugal(MS, 60 * MS, 1) && !Budget::is_frugal(MS, 40 * MS, 1));
        assert!(!Budget::is_frugal(MS, 60 * MS, 4));
    }
}
