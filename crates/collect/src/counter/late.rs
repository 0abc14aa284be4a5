//! Hits of probes that no longer count: the kernel takes a breakpoint out some ms after it was asked to, and each hit until then takes
//! as long as one that counts.
//!
//! What is timed meanwhile is timed wrongly, so that nothing is opened; and what was open shows nothing.

use super::*;

/// Hits between two looks that are more than a few stragglers.
const HITS: u64 = 10;
/// For so long without them it is quiet, ns: a look is taken every 0.5 ms.
const QUIET_NS: u64 = 1_000_000;
/// So long is waited at most, ns. A breakpoint was taken out after 50 ms at most where two CPUs were busy.
const AT_MOST_NS: u64 = 100_000_000;
/// A window in which they took more than this part of the time shows no rate.
const PART: f64 = 0.1;

/// What was seen of them.
#[derive(Debug, Default)]
pub(super) struct Late {
    hits: u64,
    since_ns: u64,
    last_ns: u64,
}

impl Late {
    /// Takes in how many there were by now.
    fn note(&mut self, hits: u64, now: u64) {
        if hits.saturating_sub(self.hits) > HITS {
            if now >= self.last_ns + QUIET_NS {
                self.since_ns = now;
            }
            self.last_ns = now;
        }
        self.hits = hits;
    }

    /// Whether there are some at this time, for which it is worth to wait.
    fn come(&self, now: u64) -> bool {
        self.last_ns > 0 && now < self.last_ns + QUIET_NS && now < self.since_ns + AT_MOST_NS
    }
}

impl Counter {
    pub(super) fn look_at_late(&mut self) {
        self.late.note(self.hits.late(None), clock::now_ns());
    }

    pub(super) fn late_hits_come(&self) -> bool {
        self.late.come(clock::now_ns())
    }

    /// Whether since `before`, when there were so many, late hits of others took a part of `ns` that spoils what was timed in a slot.
    pub(super) fn is_spoiled(&self, slot: usize, before: u64, ns: u64) -> bool {
        let late = self.hits.late(Some(slot)).saturating_sub(before) * self.limits.hit_ns;
        late as f64 > PART * ns as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn late_hits_are_waited_for_until_they_cease_but_not_for_ever() {
        let mut late = Late::default();
        assert!(!late.come(500));
        late.note(HITS, QUIET_NS);
        assert!(!late.come(QUIET_NS), "a few stragglers");
        let begun = 2 * QUIET_NS;
        late.note(2 * HITS + 1, begun);
        assert!(late.come(begun + QUIET_NS - 1) && !late.come(begun + QUIET_NS));
        let mut now = begun;
        while now < begun + AT_MOST_NS {
            assert!(late.come(now));
            now += QUIET_NS / 2;
            late.note(late.hits + 2 * HITS, now);
        }
        assert!(!late.come(now));
        // The next ones are waited for anew.
        late.note(late.hits + 2 * HITS, now + 2 * QUIET_NS);
        assert!(late.come(now + 2 * QUIET_NS));
    }
}
