//! Who stands where only a few probes can at a time: each in its turn.
//!
//! One place is left for trials and windows. The others are taken by probes that stay; one that has stood long enough makes place when
//! another wants to stay, the first one that is hardly ever hit.

use super::*;

/// Why a probe was closed: another's turn has come.
pub(super) const TURN: &str = "turn";
/// How long a probe stays if another waits, ns, …
const TURN_NS: u64 = 250_000_000;
/// … if it was hit so often by then, or else longer, …
const TURN_HITS: u64 = 8;
const LONG_TURN_NS: u64 = 4 * TURN_NS;
/// … and how long if it was not hit more than once: it shows nothing.
const IDLE_NS: u64 = 60_000_000;
/// One that was hardly hit returns after such a part of the time so far.
const IDLE_PART: u64 = 4;

/// How long a probe waits after its turn, ns.
pub(super) fn pause(hits: u64, elapsed_ns: u64) -> u64 {
    if hits > 1 { TURN_NS } else { TURN_NS.max(elapsed_ns / IDLE_PART) }
}

/// Whether so many hits in a turn say how often there are hits.
pub(super) fn shows_a_rate(hits: u64) -> bool {
    hits >= TURN_HITS
}

/// Whether a probe that has stood so long makes place for another, and whether at once, before others.
fn makes_place(hits: u64, age_ns: u64) -> Option<bool> {
    if hits <= 1 {
        return (age_ns >= IDLE_NS).then_some(true);
    }
    (age_ns >= LONG_TURN_NS || age_ns >= TURN_NS && hits >= TURN_HITS).then_some(false)
}

impl Counter {
    /// Whether a probe may be opened now: it is worth a place, and there is one.
    pub(super) fn may_open(&self, index: usize) -> bool {
        let Some(at_once) = self.limits.at_once else { return true };
        let candidate = &self.probes[index].candidate;
        let worth = candidate.share >= choose::SHARE || self.entered_caller_of(index).is_some();
        worth && self.places_taken(candidate.process) < at_once
    }

    /// Whether a probe may stay behind its trial; takes out one that has had its turn if need be.
    pub(super) fn makes_place(&mut self, index: usize) -> bool {
        let Some(at_once) = self.limits.at_once else { return true };
        let process = self.probes[index].candidate.process;
        let others = self.stay_in(process).filter(|other| *other != index).count();
        others + 1 < at_once || self.takes_one_out(process, Some(index))
    }

    /// Whether one or two probes may be opened for a short time; takes out one that has had its turn if need be.
    pub(super) fn makes_places(&mut self, process: u32, places: usize) -> bool {
        let Some(at_once) = self.limits.at_once else { return true };
        let left = at_once.saturating_sub(self.places_taken(process));
        left >= places || left + 1 >= places && self.takes_one_out(process, None)
    }

    /// Probes of a process that stand, for counting or in a survey.
    fn places_taken(&self, process: u32) -> usize {
        let surveyed: usize = self.surveys.iter().map(|survey| survey.places_in(process)).sum();
        self.standing_with(process).count() + surveyed
    }

    /// Takes out the probe of a process, other than `but`, that has had its turn.
    fn takes_one_out(&mut self, process: u32, but: Option<usize>) -> bool {
        let now = clock::now_ns();
        let done = |other: usize| {
            let opened_ns = self.probes[other].standing.as_ref()?.opened_ns;
            let idle = makes_place(self.hits(other), now.saturating_sub(opened_ns))?;
            Some((!idle, opened_ns, other))
        };
        let others = self.stay_in(process).filter(|other| Some(*other) != but);
        let Some((_, _, other)) = others.filter_map(done).min() else { return false };
        self.close(other, TURN);
        true
    }

    /// Probes of a process that stay behind their trial.
    fn stay_in(&self, process: u32) -> impl Iterator<Item = usize> + '_ {
        let stays = |index: &usize| {
            let standing = self.probes[*index].standing.as_ref();
            standing.is_some_and(|one| !one.trial && !one.windowed)
        };
        self.standing_with(process).filter(stays)
    }

    /// The caller whose calls a window waits for: where hits are dear, one that is entered again and again.
    pub(super) fn entered_caller_of(&self, index: usize) -> Option<usize> {
        self.caller_of(index).filter(|caller| self.limits.at_once.is_none() || self.hits(*caller) > 1)
    }

    /// Whether a probe showed in its trial that it cannot stay, so that none needs to make place for it.
    pub(super) fn is_too_hot_for_a_place(&self, hits: u64, age_ns: u64) -> bool {
        self.limits.at_once.is_some() && rate(hits, age_ns) > self.limits.hot_per_s
    }

    fn standing_with(&self, process: u32) -> impl Iterator<Item = usize> + '_ {
        (0..self.probes.len()).filter(move |index| {
            let probe = &self.probes[*index];
            probe.candidate.process == process && probe.standing.is_some()
        })
    }

    /// Whether a probe that does not stand was hardly ever hit in its last turn.
    pub(super) fn was_entered_seldom(&self, probe: &Probe) -> bool {
        self.limits.at_once.is_some()
            && probe.generation > probe.before
            && !probe.hot
            && probe.rate <= SELDOM_PER_S
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_turn_lasts_until_it_shows_something_and_one_that_is_not_hit_goes_first() {
        assert_eq!(makes_place(0, IDLE_NS - 1), None);
        assert_eq!(makes_place(1, IDLE_NS), Some(true));
        assert_eq!(makes_place(TURN_HITS, TURN_NS - 1), None);
        assert_eq!(makes_place(TURN_HITS, TURN_NS), Some(false));
        assert_eq!(makes_place(TURN_HITS - 1, LONG_TURN_NS - 1), None);
        assert_eq!(makes_place(TURN_HITS - 1, LONG_TURN_NS), Some(false));
    }

    #[test]
    fn who_was_not_hit_waits_ever_longer() {
        assert_eq!(pause(5, 100 * TURN_NS), TURN_NS);
        assert_eq!(pause(0, 100 * TURN_NS), 25 * TURN_NS);
        assert!(shows_a_rate(TURN_HITS) && !shows_a_rate(TURN_HITS - 1));
    }
}
