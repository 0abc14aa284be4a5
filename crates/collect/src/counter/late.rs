//! Hits of probes that no longer count: the kernel takes a breakpoint out some ms after it was asked to, and each hit until then takes
//! as long as one that counts.
//!
//! What is timed meanwhile is timed wrongly. So no window is opened then; and one that was open is dropped if they took much of its time. They are part of what
//! may be spent: of a function that does little they took three times as long as those that counted.

use super::*;

/// Hits between two looks that are more than a few stragglers.
const HITS: u64 = 10;
/// For so long without them it is quiet, ns: a look is taken every 0.5 ms.
const QUIET_NS: u64 = 1_000_000;
/// So long is waited at most, ns. A breakpoint was taken out after 50 ms at most where two CPUs were busy.
const AT_MOST_NS: u64 = 100_000_000;
/// A window in which they took more than this part of the time shows no rate: the curve of a cost is fitted to a few percent, and costs that are said to
/// grow differ by 80 % at least.
const PART: f64 = 0.1;

/// What was seen of them.
#[derive(Debug, Default)]
pub(super) struct Late {
    hits: u64,
    /// When they began to come, if there were some at the last look.
    since_ns: Option<u64>,
    /// Until when it is not known to be quiet.
    until_ns: u64,
}

impl Late {
    /// Takes in how many there were by now.
    fn note(&mut self, hits: u64, now: u64) {
        if hits.saturating_sub(self.hits) > HITS {
            self.since_ns.get_or_insert(now);
            self.until_ns = now + QUIET_NS;
        } else {
            self.since_ns = None;
        }
        self.hits = hits;
    }

    /// A probe is being taken out: it will be hit for a moment.
    pub(super) fn closed(&mut self, now: u64) {
        self.until_ns = self.until_ns.max(now + QUIET_NS);
    }

    /// Whether there may be some at this time, for which it is worth to wait.
    fn come(&self, now: u64) -> bool {
        now < self.until_ns && self.since_ns.is_none_or(|since| now < since + AT_MOST_NS)
    }
}

impl Counter {
    pub(super) fn look_at_late(&mut self) {
        self.late.note(self.hits.late(None), clock::now_ns());
        for slot in 0..SLOTS {
            let hits = self.hits.late_in(slot);
            let new = hits - std::mem::replace(&mut self.late_in[slot], hits);
            if new > 0 {
                self.spend_late(slot, new);
            }
        }
    }

    /// Adds late hits of what stands in a slot, or stood there last, to what was spent.
    fn spend_late(&mut self, slot: usize, hits: u64) {
        let hit_ns = self.limits.hit_ns;
        let survey = self.surveys.iter().find(|survey| survey.slots().contains(&slot));
        let probe = self.probes.iter().find(|probe| probe.slot == slot);
        let cost = match (survey, probe) {
            (Some(survey), _) => survey.hit_cost(slot, hit_ns),
            (_, Some(probe)) => probe.placement.cost(hit_ns),
            _ => hit_ns,
        };
        let spent = hits * cost;
        self.spent_ns += spent;
        self.surveys_ns += if survey.is_some() { spent } else { 0 };
        self.windows_ns += if survey.is_none() && probe.is_some_and(|probe| probe.hot) { spent } else { 0 };
    }

    /// Has a probe taken out. What it counted can still be read.
    pub(super) fn take_out(&mut self, slot: usize, handle: Handle) {
        if !self.limits.are_dear() {
            self.late.closed(clock::now_ns()); // breakpoints are taken out while the program stands
        }
        self.hits.close(slot, handle);
    }

    pub(super) fn late_hits_come(&self) -> bool {
        self.late.come(clock::now_ns())
    }

    /// Whether late hits took so much of the time since a probe stood that what it shows is spoiled; `before`: how many there were then.
    pub(super) fn is_spoiled(&self, slot: usize, before: u64, opened_ns: u64) -> bool {
        let late = self.hits.late(Some(slot)).saturating_sub(before);
        spoils(late * self.limits.hit_ns, clock::now_ns().saturating_sub(opened_ns))
    }
}

fn spoils(late_ns: u64, ns: u64) -> bool {
    late_ns as f64 > PART * ns as f64
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
            now += 5 * QUIET_NS; // a probe was made meanwhile
            late.note(late.hits + 2 * HITS, now);
        }
        assert!(!late.come(now));
        // The next ones are waited for anew.
        late.note(late.hits, now + QUIET_NS);
        late.note(late.hits + 2 * HITS, now + 2 * QUIET_NS);
        assert!(late.come(now + 2 * QUIET_NS));
    }

    #[test]
    fn who_was_just_taken_out_will_be_hit() {
        let mut late = Late::default();
        late.closed(QUIET_NS);
        assert!(late.come(2 * QUIET_NS - 1) && !late.come(2 * QUIET_NS));
    }

    #[test]
    fn a_tenth_of_the_time_spoils_a_window() {
        assert!(!spoils(100, 1000) && spoils(101, 1000));
    }
}
