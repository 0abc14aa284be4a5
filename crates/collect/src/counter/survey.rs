//! Where walks begin, and how long they are: short bursts of probes at the entries of hot loops that only look at things, and of
//! functions that do much work of their own, and calls of functions that are meant to be called once for an input.
//!
//! A burst of *beginnings* notes for some dozens of walks in a row the address that each begins at and what is there; it stands beside
//! other probes. A burst of *lengths* counts entries and rounds of the loop at the same time; while it stands no other probe is opened, for
//! its hits are many. What is surveyed is left to `taken_up`, what follows from it to the diagnosis.

use super::hits::Handle;
use super::origin::{ORIGINS, Origin};
use super::taken_up::{Entry, Of};
use super::*;
use crate::bpf::{MODE_LENGTH, MODE_WALK, SlotOrigin};

/// Walks in a burst of beginnings: enough to distinguish one beginning in ten from all the same.
pub(super) const BEGINNINGS: u64 = 64;
/// … and where they are dear: half of that is what the diagnosis asks for, and the last one may be noted too late. Two bursts show more than one.
const BEGINNINGS_DEAR: u64 = 40;
/// … and no probe is opened meanwhile: they must end soon.
const BEGINNINGS_DEAR_NS: u64 = 60_000_000;
/// Blocks in a burst: what is done for one item may take some dozens, and the same must come twice.
pub(super) const BLOCKS: u64 = 256;
/// Calls in a burst of a function that calls itself: it comes back to what it was given before after all calls that this took, which may be as many
/// as a tree is deep, and several times that. 1 ms.
pub(super) const CALLS: u64 = 1024;
/// … and where hits are dear: 5 to 36 ms, at 10 to 70 µs each. In bursts of 200 of a matcher's calls a quarter to a third was seen to repeat an earlier one, of 1,024 a half.
const CALLS_DEAR: u64 = 512;
/// Texts in a burst: 3 ms, or 10 where they are dear. Each burst has twice as many as the one before, up to eight times: one text in thousands
/// may be what takes all the time, and a burst that is begun meanwhile sees those that follow.
pub(super) const TEXTS: u64 = 1024;
const TEXTS_TWICE: u32 = 3;
/// The longest burst of beginnings, ns: walks of 10 ms are seen 25 times.
pub(super) const BEGINNINGS_NS: u64 = 250_000_000;
/// A burst of lengths ends after so many entries, rounds (2 ms of hits) or ns.
const LENGTHS_ENTRIES: u64 = 32;
const LENGTHS_ROUNDS: u64 = 3_000;
/// … and where hits are dear after fewer, but not before it is known that a walk has several times as many as it must (64) or, where the loop
/// only counts, more (1,000).
const LENGTHS_ROUNDS_DEAR: u64 = 300;
const LENGTHS_ROUNDS_DEAR_COUNTS: u64 = 1_100;
const LENGTHS_NS: u64 = 20_000_000;
/// … and at so many times the rounds of its own accord, should it not be ended in time: 20 ms of hits.
const LENGTHS_AT_MOST: u64 = 10 * LENGTHS_ROUNDS;
/// The least time between two bursts, ns; ever longer as a loop is looked at: a sixth of the time since the first, which makes a dozen bursts in a
/// second and seventy in an hour. Of what becomes hot late in a short run the first second says as much.
const PAUSE_NS: u64 = 60_000_000;
const PAUSE_PART: u64 = 6;
/// Of what was not entered in a burst of beginnings, which stands for 250 ms then, the next comes so many times as late, as long as that took: it is in the way of
/// others for as long as it is not.
const IDLE_PAUSE: u64 = 4;
/// Where hits are dear a burst of blocks takes eight times as long as another: so many times less often.
const BLOCKS_PAUSE: u64 = 4;
/// Bursts of lengths cost most: every so many is one. Of the first some every second one is, since a short run needs some lengths as well.
const TURN: u32 = 4;
const AT_FIRST: u32 = 8;
/// Where hits are dear one of lengths costs as much as several others.
const TURN_DEAR: u32 = 3;

/// A loop around another that is looked at is only counted, every time: so many times less often, and fewer entries and rounds of it. Each
/// round of it is many of the inner one.
const AROUND_PAUSE: u64 = 2;
const AROUND_ENTRIES: u64 = 8;
const AROUND_ROUNDS: u64 = 1_000;
/// All of this may take half of the budget, and no more: the counting of calls must go on to show growth. Without a
/// limit a schema's validator, of 10 functions and 6 loops, had its calls counted for a twentieth of the run.
const PART_OF_BUDGET: f64 = 0.5;
/// … and so much of it whatever the counting of calls took: that opens windows as soon as there is something to spend, so that in programs with many hot
/// functions a loop was looked at once in half a second.
const OWN_PART: f64 = 0.25;

/// Whether the burst with this number, from 0, is of lengths.
fn is_of_lengths(number: u32, dear: bool) -> bool {
    let turn = match number {
        ..AT_FIRST if dear => TURN_DEAR,
        ..AT_FIRST => 2,
        _ => TURN,
    };
    number % turn == turn - 1
}

/// A loop or function whose entries are looked at.
pub(super) struct Survey {
    number: u32,
    pub(super) candidate: Candidate,
    of: Of,
    /// Of a loop: it counts, or makes one result.
    counts: bool,
    /// Where the probe stands, and what it computes.
    entry: Entry,
    origins: Vec<Origin>,
    /// Of a loop, an instruction that is executed once in each round.
    round: Option<u64>,
    slot: usize,
    round_slot: Option<usize>,
    standing: Option<Standing>,
    pub(super) generation: u32,
    bursts: u32,
    /// It was not entered in the last burst of beginnings: then there is no length to measure.
    idle: bool,
    again_ns: u64,
    pub(super) made_ns: u64,
}

struct Standing {
    entry: Handle,
    /// While lengths are measured.
    rounds: Option<Handle>,
    /// Rounds when both stood.
    before: u64,
    opened_ns: u64,
}

impl Counter {
    /// Whether it can be noted where walks begin.
    pub(super) fn notes_beginnings(&self) -> bool {
        self.hits.note()
    }

    /// Whether the next burst of a survey is of lengths.
    fn is_next_of_lengths(&self, survey: &Survey) -> bool {
        let always = survey.is_around() || !self.notes_beginnings();
        let dear = self.limits.are_dear();
        survey.round.is_some() && (always || !survey.idle && is_of_lengths(survey.bursts, dear))
    }

    /// Begins to survey a loop or function, as long as there is room for more of its kind.
    pub(super) fn survey(
        &mut self,
        candidate: &Candidate,
        of: Of,
        entry: Entry,
        origins: &[(Origin, i64)],
        round: Option<u64>,
    ) {
        let process = candidate.process;
        let key = (process, candidate.function, of.one_loop());
        if self.surveyed.contains(&key) || !self.has_room(of, origins.is_empty(), candidate) {
            return;
        }
        let Some(slot) = self.slot_for(candidate.share) else { return };
        let round_slot = round.and_then(|_| self.slot_for(candidate.share));
        if round_slot.is_none() && (origins.is_empty() || !self.notes_beginnings()) {
            self.free.push(slot); // there is nothing to note
            return;
        }
        self.surveyed.insert(key);
        let number = self.walks;
        self.walks += 1;
        let strides = origins.iter().map(|(_, stride)| stride.unsigned_abs()).collect();
        let input = if let Of::Interface(input) = of { Some(input) } else { None };
        let (function, of_loop) = (candidate.function, of.one_loop());
        let arguments = entry.given;
        let (pid, live) = (candidate.pid, candidate.live);
        let rounds = round.map(|round| (live + entry.offset, live + round));
        self.tell(Told::Walk {
            walk: number,
            process,
            pid,
            function,
            of: of_loop,
            strides,
            arguments,
            rounds,
            input,
        });
        let of_function = self.loops.get(&function).map(|(loops, _)| loops);
        let counts = of_loop
            .and_then(|at| of_function?.get(at))
            .is_some_and(|one| matches!(one.work, Work::Counts | Work::Folds));
        let generation_of = |slot: usize| self.generations[slot];
        let generation = generation_of(slot).max(round_slot.map_or(0, generation_of));
        self.surveys.push(Survey {
            number,
            counts,
            candidate: candidate.clone(),
            of,
            entry,
            origins: origins.iter().map(|(origin, _)| origin.clone()).collect(),
            round: round.filter(|_| round_slot.is_some()),
            slot,
            round_slot,
            standing: None,
            generation,
            bursts: 0,
            idle: false,
            again_ns: 0,
            made_ns: clock::now_ns(),
        });
    }

    /// Ends the surveys of a process that is gone.
    pub(super) fn drop_surveys(&mut self, process: u32) {
        for at in 0..self.surveys.len() {
            if self.surveys[at].candidate.process == process {
                self.end_burst(at);
                let generation = self.surveys[at].generation;
                self.surveys[at].slots().into_iter().for_each(|slot| self.give_back(slot, generation));
            }
        }
        self.surveys.retain(|survey| survey.candidate.process != process);
        self.surveyed.retain(|(of, ..)| *of != process);
    }

    /// Ends bursts that are over and begins others, unless probes rest. Returns whether no probe may be opened now: lengths are measured, or wait for the
    /// probes that stand to be done.
    pub(super) fn look_at_walks(&mut self, rests: bool) -> bool {
        let now = clock::now_ns();
        for at in 0..self.surveys.len() {
            if self.is_over(at, now) {
                self.end_burst(at);
            }
        }
        // Where hits are dear those of others would be taken for time between two entries.
        let dear = self.limits.are_dear();
        if self.surveys.iter().any(|survey| survey.measures_lengths() || dear && survey.stands()) {
            return true;
        }
        let busy = self.probes.iter().any(|p| p.standing.as_ref().is_some_and(|s| s.trial || s.windowed));
        let mut due: Vec<usize> = (0..self.surveys.len())
            .filter(|at| self.surveys[*at].standing.is_none() && self.surveys[*at].again_ns <= now)
            .collect();
        due.sort_by_key(|at| self.surveys[*at].again_ns);
        let mut waits = false;
        for at in due {
            if rests {
                return waits;
            }
            let affordable = self.affordable() && self.is_within_budget(self.surveys_ns, PART_OF_BUDGET);
            if !affordable && !self.is_within_budget(self.surveys_ns, OWN_PART) {
                return waits;
            }
            let lengths = self.is_next_of_lengths(&self.surveys[at]);
            if (lengths || dear) && (busy || self.late_hits_come()) {
                // Beginnings may be noted meanwhile, where that costs little.
                waits = true;
                if dear {
                    return true;
                }
                continue;
            }
            if !self.makes_places(self.surveys[at].candidate.process, 1 + usize::from(lengths)) {
                continue;
            }
            self.begin_burst(at, lengths);
            if lengths || dear {
                return true;
            }
        }
        waits
    }

    pub(super) fn ends_surveys(&mut self) {
        for at in 0..self.surveys.len() {
            self.end_burst(at);
        }
    }

    fn is_over(&self, at: usize, now: u64) -> bool {
        let survey = &self.surveys[at];
        let Some(standing) = &survey.standing else { return false };
        let age = now - standing.opened_ns;
        let entered = self.hits.seen(survey.slot).stopped_ns.is_some();
        let counted = standing.rounds.as_ref().and(survey.round_slot).map(|slot| self.hits.seen(slot));
        let longest = match standing.rounds {
            Some(_) => LENGTHS_NS,
            None if self.limits.are_dear() && !matches!(survey.of, Of::Matcher(_)) => BEGINNINGS_DEAR_NS,
            None => BEGINNINGS_NS,
        };
        let most = standing.before + self.most_rounds(survey);
        // A breakpoint may run out of hits: what is counted then is no part of the whole.
        let full = counted.is_some_and(|seen| seen.count >= most || seen.stopped_ns.is_some());
        entered || full || age >= longest
    }

    /// Rounds in a burst of lengths.
    fn most_rounds(&self, survey: &Survey) -> u64 {
        let most = if survey.is_seldom() { AROUND_ROUNDS } else { LENGTHS_ROUNDS };
        // As long as so many hits of uprobes take.
        let as_long = most * place::HIT_COST_NS / self.limits.hit_ns.max(place::HIT_COST_NS);
        let least = if survey.counts { LENGTHS_ROUNDS_DEAR_COUNTS } else { LENGTHS_ROUNDS_DEAR };
        as_long.max(most.min(least))
    }

    fn begin_burst(&mut self, at: usize, lengths: bool) {
        let dear = self.limits.are_dear();
        let survey = &mut self.surveys[at];
        let stop_at = match survey.of {
            Of::Matcher(_) => TEXTS << survey.bursts.min(TEXTS_TWICE),
            Of::Loop(_) | Of::Function | Of::Interface(_) if dear => BEGINNINGS_DEAR,
            Of::Recursive if dear => CALLS_DEAR,
            of => of.beginnings(),
        };
        survey.generation += 1;
        let (generation, number) = (survey.generation, survey.number);
        let pause = clock::now_ns() + 10 * PAUSE_NS;
        let mut entry = Slot { mode: MODE_WALK, generation, probe: number, stop_at, ..Slot::default() };
        if lengths {
            let rounds = survey.round_slot.map_or(0, |slot| slot as u32 + 1);
            let entries = if survey.is_seldom() { AROUND_ENTRIES } else { LENGTHS_ENTRIES };
            (entry.mode, entry.stop_at, entry.parent) = (MODE_LENGTH, entries, rounds);
        }
        entry.texts = survey.of.texts();
        (entry.nests, entry.sp_adjust) = survey.entry.nests().map_or((0, 0), |adjust| (1, adjust));
        entry.origins_used = survey.origins.len().min(ORIGINS) as u32;
        for (to, from) in entry.origins.iter_mut().zip(&survey.origins) {
            *to = SlotOrigin::from(from);
        }
        let row =
            Slot { mode: MODE_COUNT, generation, probe: number, stop_at: LENGTHS_AT_MOST, ..Slot::default() };
        let (candidate, offset, slot) = (survey.candidate.clone(), survey.entry.offset, survey.slot);
        let round = survey.round.zip(survey.round_slot).filter(|_| lengths);
        // The rounds first: they are counted from the first entry on.
        let rounds = round.and_then(|(round, slot)| self.hits.open(slot, row, &candidate, round).ok());
        let wanted = lengths == rounds.is_some();
        let entry = if wanted { self.hits.open(slot, entry, &candidate, offset).ok() } else { None };
        let rounds = match (rounds, round) {
            (Some(handle), Some((_, slot))) if entry.is_none() => {
                self.take_out(slot, handle);
                None
            }
            (rounds, _) => rounds,
        };
        let before = round.map_or(0, |(_, slot)| self.hits.seen(slot).count);
        if let (Some(_), Some((_, slot))) = (&rounds, round) {
            let tell_at = before + self.most_rounds(&self.surveys[at]);
            self.hits.set(slot, Slot { tell_at, ..row });
        }
        // What cannot be probed is left alone: that the counter reports for functions.
        let survey = &mut self.surveys[at];
        survey.again_ns = pause;
        survey.bursts += u32::from(entry.is_none());
        survey.standing = entry.map(|entry| Standing { entry, rounds, before, opened_ns: clock::now_ns() });
    }

    fn end_burst(&mut self, at: usize) {
        let Some(standing) = self.surveys[at].standing.take() else { return };
        let survey = &self.surveys[at];
        let (slot, round_slot) = (survey.slot, standing.rounds.as_ref().and(survey.round_slot));
        let Seen { count: entries, stopped_ns: stopped, first_ns: first, .. } = self.hits.seen(slot);
        let hits = round_slot.map(|slot| self.hits.seen(slot).count);
        let (first_round, last_round) = self.hits.of_parent(slot);
        let (walks, rounds) = match hits {
            // From the first entry to the last.
            Some(_) if entries > 1 && stopped.is_some() => {
                (entries - 1, Some(last_round.saturating_sub(first_round)))
            }
            // With the one that goes on: it may be the only long one, and end the burst before another entry.
            Some(hits) if entries > 1 => (entries, Some(hits.saturating_sub(first_round))),
            // A walk has more.
            Some(hits) => (0, Some(hits.saturating_sub(standing.before))),
            None => (entries, None),
        };
        let end = stopped.unwrap_or_else(clock::now_ns).max(standing.opened_ns + 1);
        let start = if first > standing.opened_ns && first < end { first } else { standing.opened_ns };
        let (number, elapsed) = (survey.number, end.saturating_sub(survey.made_ns));
        let entered_ns = if hits.is_some() { self.limits.hit_ns } else { self.limits.noted_ns };
        let entered_ns =
            if self.limits.are_dear() { entered_ns } else { place::cost(survey.entry.stepped, entered_ns) };
        let cost = self.limits.made_ns + entries * entered_ns + hits.unwrap_or(0) * self.limits.hit_ns;
        (self.spent_ns, self.surveys_ns) = (self.spent_ns + cost, self.surveys_ns + cost);
        self.take_out(slot, standing.entry);
        if let (Some(slot), Some(handle)) = (round_slot, standing.rounds) {
            self.take_out(slot, handle);
        }
        let dear = self.limits.are_dear();
        let survey = &mut self.surveys[at];
        survey.bursts += 1;
        if hits.is_none() {
            survey.idle = entries == 0;
        }
        let pause = PAUSE_NS.max(elapsed / PAUSE_PART);
        let longer = match survey.of {
            // It is not entered now: others are.
            _ if survey.idle => IDLE_PAUSE,
            Of::Memory if dear => BLOCKS_PAUSE,
            _ if dear || survey.is_seldom() => AROUND_PAUSE,
            _ => 1,
        };
        survey.again_ns = end + longer * pause;
        // Before its first entry a burst shows nothing of how often there is one.
        self.tell(Told::Burst(WalkBurst {
            walk: number,
            start_ns: start,
            end_ns: end,
            entries: walks,
            rounds,
        }));
    }
}

impl Survey {
    /// Whether it is one of a kind, in a process.
    pub(super) fn is_alike(&self, process: u32, of: Of, around: bool) -> bool {
        self.candidate.process == process
            && std::mem::discriminant(&self.of) == std::mem::discriminant(&of)
            && self.is_around() == around
    }

    /// Whether it is a loop or function of the process that was not looked for by its name.
    pub(super) fn is_usual(&self, process: u32) -> bool {
        self.candidate.process == process && matches!(self.of, Of::Loop(_) | Of::Function | Of::Recursive)
    }

    /// By process, function and loop.
    pub(super) fn key(&self) -> (u32, u32, Option<usize>) {
        (self.candidate.process, self.candidate.function, self.of.one_loop())
    }

    /// What a hit in one of its slots takes, where one at an emulated instruction takes `hit_ns`.
    pub(super) fn hit_cost(&self, slot: usize, hit_ns: u64) -> u64 {
        place::cost(slot == self.slot && self.entry.stepped, hit_ns)
    }

    pub(super) fn slots(&self) -> Vec<usize> {
        std::iter::once(self.slot).chain(self.round_slot).collect()
    }

    /// Whether its probes stand.
    pub(super) fn stands(&self) -> bool {
        self.standing.is_some()
    }

    /// How many probes of it stand in a process.
    pub(super) fn places_in(&self, process: u32) -> usize {
        let standing = self.standing.as_ref().filter(|_| self.candidate.process == process);
        standing.map_or(0, |standing| 1 + usize::from(standing.rounds.is_some()))
    }

    /// Whether it is of a loop around another, of which it is not known where its walks begin.
    fn is_around(&self) -> bool {
        self.origins.is_empty()
    }

    /// Whether little of it is looked at: it only tells how often the loop in it is entered.
    fn is_seldom(&self) -> bool {
        self.is_around() && !self.entry.of_table
    }

    fn measures_lengths(&self) -> bool {
        self.standing.as_ref().is_some_and(|standing| standing.rounds.is_some())
    }
}
