//! Threads that sleep for most of the time and seldom call. They are traced all the time, from a budget of their own: what they wait for is known only if all of
//! their calls are, and others take whatever there is.

use crate::tracer::ptrace::budget::Budget;

/// What a thread's stops took longer ago counts half, ns: one that begins to call all the time is noticed soon, and a program's start is not held against it.
const FADES_NS: u64 = 200_000_000;

/// Whether a thread is quiet.
#[derive(Debug, Default)]
pub(super) struct Quiet {
    is: bool,
    /// Since when that is looked at, and what its stops took since.
    since: u64,
    took: u64,
    /// It was not quiet, and is not looked at again before then.
    rests_until: u64,
}

impl Quiet {
    pub(super) fn is(&self) -> bool {
        self.is
    }

    pub(super) fn set(&mut self, is: bool) {
        self.is = is;
    }

    /// Its calls stop it from now on.
    pub(super) fn begin(&mut self, now: u64) {
        (self.since, self.took) = (now, 0);
    }

    /// A stop took so much.
    pub(super) fn add(&mut self, took: u64) {
        self.took += took;
    }

    pub(super) fn fade(&mut self, now: u64) {
        let elapsed = now.saturating_sub(self.since);
        if elapsed >= FADES_NS {
            (self.since, self.took) = (now - elapsed / 2, self.took / 2);
        }
    }

    /// Whether it may be traced on although others have taken what there is. `sleeps`: it does for most of the time.
    pub(super) fn goes_on(&mut self, now: u64, sleeps: bool, budget: &Budget) -> bool {
        let seldom = Budget::is_quiet(self.took, now.saturating_sub(self.since)) && (self.is || sleeps);
        if !seldom {
            self.rests_until = now + Budget::rest(self.took);
        }
        self.is = seldom && budget.has_room_for_quiet(now);
        self.is
    }

    /// Whether it may be looked at again.
    pub(super) fn has_rested(&self, now: u64) -> bool {
        now >= self.rests_until
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;

    #[test]
    fn who_sleeps_and_seldom_calls_goes_on_and_others_rest() {
        let budget = Budget::new(0);
        let mut quiet = Quiet::default();
        quiet.begin(0);
        quiet.add(3 * MS);
        assert!(!quiet.goes_on(100 * MS, false, &budget), "it runs all the time");
        assert!(!quiet.has_rested(219 * MS) && quiet.has_rested(220 * MS));
        assert!(quiet.goes_on(100 * MS, true, &budget) && quiet.is());
        // 2.5 ms at once, and a fortieth.
        quiet.add(3 * MS);
        assert!(!quiet.goes_on(139 * MS, true, &budget) && !quiet.is());
        assert!(quiet.goes_on(140 * MS, true, &budget));
    }

    #[test]
    fn what_was_long_ago_is_forgotten() {
        let mut quiet = Quiet::default();
        quiet.begin(0);
        quiet.add(8 * MS);
        quiet.fade(199 * MS);
        assert_eq!((quiet.since, quiet.took), (0, 8 * MS));
        quiet.fade(200 * MS);
        assert_eq!((quiet.since, quiet.took), (100 * MS, 4 * MS));
    }

    #[test]
    fn without_room_nobody_is() {
        let mut budget = Budget::new(0);
        budget.add_quiet(10 * MS);
        let mut quiet = Quiet::default();
        quiet.set(true);
        quiet.begin(0);
        assert!(!quiet.goes_on(MS, true, &budget));
    }
}
