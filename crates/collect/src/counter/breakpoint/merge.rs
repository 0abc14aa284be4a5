//! Hits of single threads put together by slot: what the BPF object does in the kernel where it counts.
//!
//! Whether a call happens under another is seen by where it returns to: into the other's code. Calls through a third
//! function are not counted so.

use super::event::Hit;
use crate::bpf::event::Event;
use crate::bpf::{MODE_LENGTH, MODE_RECORD, Slot};
use crate::counter::hits::Seen;
use std::collections::HashMap;
use std::ops::Range;

/// Hits for each that came in another thread than the one before, at least, where one thread at a time runs.
const SWITCHES: u64 = 8;

/// One slot since its probe was opened.
#[derive(Default)]
struct State {
    row: Slot,
    /// The live addresses of the function.
    code: Range<u64>,
    seen: Seen,
    /// The event of the last hit, when it was, and the CPU time of its thread by then.
    last: Option<(u64, u64, u64)>,
    /// How long threads did not run between two hits of their own in a row, ns.
    idle_ns: u64,
    /// Hits that came in another thread than the one before.
    switches: u64,
    /// By thread: hits that were called by the parent.
    under: HashMap<u32, u64>,
    /// In mode [`MODE_LENGTH`]: hits of the parent at the first hit and at the last.
    of_parent: Option<(u64, u64)>,
}

/// How many hits an event may have, and how many it has had.
struct Grant {
    slot: usize,
    limit: u64,
    number: u64,
    /// The limit before, and until when it held.
    before: Option<(u64, u64)>,
}

/// All slots.
pub(super) struct Merged {
    slots: Vec<State>,
    grants: HashMap<u64, Grant>,
    /// Entries of functions that report each, in order of time.
    pub entries: Vec<Event>,
}

impl Merged {
    pub(super) fn new(slots: usize) -> Merged {
        Merged {
            slots: (0..slots).map(|_| State::default()).collect(),
            grants: HashMap::new(),
            entries: Vec::new(),
        }
    }

    /// A probe is opened: nothing was counted yet.
    pub(super) fn begin(&mut self, slot: usize, row: Slot, code: Range<u64>) {
        self.slots[slot] = State { row, code, ..State::default() };
    }

    pub(super) fn set(&mut self, slot: usize, row: Slot) {
        self.slots[slot].row = row;
    }

    pub(super) fn seen(&self, slot: usize) -> Seen {
        self.slots[slot].seen
    }

    pub(super) fn of_parent(&self, slot: usize) -> (u64, u64) {
        self.slots[slot].of_parent.unwrap_or_default()
    }

    /// An event of the slot may have so many hits.
    pub(super) fn add(&mut self, event: u64, slot: usize, hits: u64) {
        self.grants.insert(event, Grant { slot, limit: hits, number: 0, before: None });
    }

    /// An event is closed.
    pub(super) fn remove(&mut self, event: u64) {
        self.grants.remove(&event);
    }

    /// How many hits more an event may be given at `now`, so that there are `room` ahead and the slot's limit is kept; 0 for none.
    pub(super) fn renew(&mut self, event: u64, room: u64, now: u64) -> u64 {
        let Some(grant) = self.grants.get_mut(&event) else { return 0 };
        let State { row, seen, .. } = &self.slots[grant.slot];
        let left = grant.limit.saturating_sub(grant.number);
        let wanted = room.min(row.stop_at.saturating_sub(seen.count));
        if seen.stopped_ns.is_some() || left > room / 2 || wanted <= left {
            return 0;
        }
        grant.before = Some((grant.limit, now));
        grant.limit += wanted - left;
        wanted - left
    }

    /// Takes in a hit. Those of one thread come in order.
    pub(super) fn take(&mut self, hit: &Hit) {
        let Some(grant) = self.grants.get_mut(&hit.event) else { return };
        let new = hit.number.saturating_sub(grant.number);
        grant.number = hit.number;
        let renewed_late = grant.before.is_some_and(|(limit, at)| hit.number == limit && hit.time < at);
        let is_dry = hit.number >= grant.limit || renewed_late;
        let slot = grant.slot;
        let row = self.slots[slot].row;
        if self.slots[slot].seen.stopped_ns.is_some() {
            return;
        }
        if row.mode == MODE_LENGTH
            && let Some(parent) = row.parent.checked_sub(1)
        {
            let Seen { count, stopped_ns, .. } = self.slots[parent as usize].seen;
            if stopped_ns.is_some() {
                return; // rounds are no longer counted
            }
            let of_parent = self.slots[slot].of_parent.get_or_insert((count, count));
            of_parent.1 = count;
        }
        let state = &mut self.slots[slot];
        state.seen.count = (state.seen.count + new).min(state.row.stop_at);
        match state.last.replace((hit.event, hit.time, hit.ran_ns)) {
            Some((event, time, ran_ns)) if event == hit.event => {
                let ran_ns = hit.ran_ns.saturating_sub(ran_ns);
                state.idle_ns += hit.time.saturating_sub(time).saturating_sub(ran_ns);
            }
            Some(_) => state.switches += 1,
            None => {}
        }
        if state.seen.first_ns == 0 {
            state.seen.first_ns = hit.time;
        }
        let seen = &mut state.seen;
        seen.last_ns = Some(hit.time);
        // Now and then what runs moves to another thread, as in Go. Of threads that run at once it is no loss if one does not.
        seen.delay_ns = if state.switches * SWITCHES <= seen.count { state.idle_ns } else { 0 };
        if is_dry || seen.count >= state.row.stop_at {
            seen.stopped_ns = Some(hit.time);
        }
        if row.mode == MODE_LENGTH {
            return;
        }
        if let Some(parent) = row.parent.checked_sub(1)
            && self.slots[parent as usize].code.contains(&hit.top)
        {
            *self.slots[slot].under.entry(hit.tid).or_default() += 1;
        }
        if row.mode != MODE_RECORD {
            return;
        }
        let children = row.children.iter().take(row.children_used as usize);
        let under = children.map(|child| {
            let child = &self.slots[*child as usize];
            (child.row.probe, child.under.get(&hit.tid).copied().unwrap_or(0))
        });
        self.entries.push(Event::Call {
            probe: row.probe,
            tid: hit.tid,
            time: hit.time,
            count: self.slots[slot].seen.count,
            cpu_ns: hit.ran_ns,
            under: under.collect(),
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bpf::MODE_COUNT;

    fn row(mode: u32, probe: u32, stop_at: u64) -> Slot {
        Slot { mode, probe, stop_at, ..Slot::default() }
    }

    /// Hit `number` of event and thread 1.
    fn hit(number: u64) -> Hit {
        Hit { event: 1, tid: 1, time: 1000 * number, number, ran_ns: 600 * number, top: 0 }
    }

    #[test]
    fn rounds_are_counted_from_the_first_entry_to_the_last_as_long_as_they_are_counted() {
        let mut merged = Merged::new(2);
        merged.begin(0, row(MODE_COUNT, 0, 100), 0..0);
        merged.begin(1, Slot { parent: 1, ..row(MODE_LENGTH, 1, 8) }, 0..0);
        merged.add(1, 0, 5);
        merged.add(2, 1, 100);
        let rounds = |merged: &mut Merged, numbers: std::ops::RangeInclusive<u64>| {
            numbers.for_each(|number| merged.take(&hit(number)));
        };
        let entry = |merged: &mut Merged, number: u64| {
            merged.take(&Hit { event: 2, number, time: 10_000 + number, ..hit(1) });
        };
        rounds(&mut merged, 1..=1); // of a walk that had begun
        entry(&mut merged, 1);
        rounds(&mut merged, 2..=3);
        entry(&mut merged, 2);
        rounds(&mut merged, 4..=4);
        entry(&mut merged, 3);
        assert_eq!((merged.of_parent(1), merged.seen(1).count), ((1, 4), 3));
        // The breakpoint in the loop runs out of hits: no entry counts any more.
        rounds(&mut merged, 5..=5);
        entry(&mut merged, 4);
        assert_eq!((merged.of_parent(1), merged.seen(1).count, merged.seen(0).count), ((1, 4), 3, 5));
    }

    #[test]
    fn a_slot_stops_at_its_limit_over_all_threads_and_knows_for_how_long_it_ran() {
        let mut merged = Merged::new(2);
        merged.begin(0, row(MODE_COUNT, 5, 3), 0..0);
        merged.add(1, 0, 3);
        merged.take(&hit(1));
        merged.take(&hit(2));
        assert_eq!(
            merged.seen(0),
            Seen { count: 2, stopped_ns: None, first_ns: 1000, last_ns: Some(2000), delay_ns: 400 }
        );
        merged.take(&hit(3));
        let last_ns = Some(3000);
        let stopped = Seen { count: 3, stopped_ns: last_ns, first_ns: 1000, last_ns, delay_ns: 800 };
        assert_eq!(merged.seen(0), stopped);
        // What comes behind is not counted any more.
        merged.take(&hit(4));
        assert_eq!(merged.seen(0), stopped);

        merged.begin(0, row(MODE_COUNT, 5, 3), 0..0);
        assert_eq!(merged.seen(0), Seen::default());
        merged.add(1, 0, 3);
        merged.add(2, 0, 3);
        merged.take(&hit(1));
        merged.take(&Hit { event: 2, tid: 2, number: 2, time: 5000, ran_ns: 10, top: 0 });
        // A hit of the second thread was lost, but for its number.
        let last_ns = Some(5000);
        let stopped = Seen { count: 3, stopped_ns: last_ns, first_ns: 1000, last_ns, delay_ns: 0 };
        assert_eq!(merged.seen(0), stopped);
    }

    #[test]
    fn what_moves_to_another_thread_has_the_time_of_both() {
        let mut merged = Merged::new(1);
        merged.begin(0, row(MODE_COUNT, 5, 100), 0..0);
        merged.add(1, 0, 100);
        merged.add(2, 0, 100);
        (1..=10).for_each(|number| merged.take(&hit(number)));
        let there = |number: u64| Hit {
            event: 2,
            tid: 2,
            time: 10_000 + 1000 * number,
            ran_ns: 900 * number,
            ..hit(number)
        };
        (1..=10).for_each(|number| merged.take(&there(number)));
        // Nine times 400 ns, and nine times 100 ns.
        assert_eq!(merged.seen(0).delay_ns, 4500);
        merged.take(&Hit { time: 21_000, ..hit(11) });
        merged.take(&Hit { time: 22_000, ..there(11) });
        assert_eq!(merged.seen(0).delay_ns, 0, "they run at once");
    }

    #[test]
    fn an_event_that_ran_out_of_hits_stops_its_slot_even_if_it_was_given_more_too_late() {
        let mut merged = Merged::new(1);
        merged.begin(0, row(MODE_COUNT, 5, 1000), 0..0);
        merged.add(1, 0, 4);
        (1..=2).for_each(|number| merged.take(&hit(number)));
        assert_eq!(merged.renew(1, 4, 4500), 2, "two are left of four");
        assert_eq!(merged.renew(1, 4, 4600), 0, "it has them now");
        merged.take(&hit(3));
        assert_eq!(merged.seen(0).stopped_ns, None);
        // Its old limit was reached before it was given more: nobody knows what it missed.
        merged.take(&hit(4));
        assert_eq!(merged.seen(0).stopped_ns, Some(4000));
        assert_eq!(merged.renew(1, 4, 5000), 0);

        merged.begin(0, row(MODE_COUNT, 5, 1000), 0..0);
        merged.add(1, 0, 4);
        (1..=2).for_each(|number| merged.take(&hit(number)));
        assert_eq!(merged.renew(1, 4, 3500), 2);
        (3..=5).for_each(|number| merged.take(&hit(number)));
        assert_eq!(merged.seen(0).stopped_ns, None, "it was given more in time");
        merged.take(&hit(6));
        assert_eq!(merged.seen(0).stopped_ns, Some(6000));
    }

    #[test]
    fn no_event_is_given_more_than_the_slot_may_have() {
        let mut merged = Merged::new(1);
        merged.begin(0, row(MODE_COUNT, 5, 10), 0..0);
        merged.add(1, 0, 4);
        (1..=3).for_each(|number| merged.take(&hit(number)));
        assert_eq!(merged.renew(1, 100, 0), 6, "seven are left to the slot, and one to the event");
        merged.remove(1);
        assert_eq!(merged.renew(1, 100, 0), 0);
    }

    #[test]
    fn calls_are_counted_under_the_function_that_they_return_to_by_thread() {
        let mut merged = Merged::new(3);
        let children = [1, 0, 0, 0, 0, 0];
        merged.begin(0, Slot { children, children_used: 1, ..row(MODE_RECORD, 5, 100) }, 0x1000..0x1100);
        merged.begin(1, Slot { parent: 1, ..row(MODE_COUNT, 6, 100) }, 0x2000..0x2100);
        merged.add(1, 0, 100);
        merged.add(2, 1, 100);
        let call = |number, time, top, tid| Hit { event: 2, tid, time, number, ran_ns: time, top };
        merged.take(&hit(1));
        merged.take(&call(1, 1100, 0x1050, 1));
        merged.take(&call(2, 1200, 0x3000, 1)); // by another function
        merged.take(&call(3, 1300, 0x1060, 9)); // in another thread
        merged.take(&call(4, 1400, 0x1050, 1));
        merged.take(&hit(2));
        let entry = |count, time, cpu_ns, under| Event::Call {
            probe: 5,
            tid: 1,
            time,
            count,
            cpu_ns,
            under: vec![(6, under)],
        };
        assert_eq!(merged.entries, [entry(1, 1000, 600, 0), entry(2, 2000, 1200, 2)]);
    }
}
