//! Where walks begin, and how long they are: short bursts of probes at the entries of hot loops that only look at things, and of
//! functions that do much work of their own.
//!
//! A burst of *beginnings* notes for some dozens of walks in a row the address that each begins at and what is there; it stands beside
//! other probes. A burst of *lengths* counts entries and rounds of the loop at the same time; while it stands no other probe is opened, for
//! its hits are many. What follows from them is left to the diagnosis.

use super::loops::Loop;
use super::origin::{self, ORIGINS, Origin};
use super::*;
use crate::bpf::{MODE_LENGTH, MODE_WALK, SlotOrigin};
use crate::counter::walk::Work;
use iced_x86::{Decoder, DecoderOptions};

/// Loops of one process that are looked at, and functions, and both in all: each takes up to two of 64 slots, and half of these are left to
/// the counting of calls.
const LOOPS: usize = 6;
const FUNCTIONS: usize = 4;
const IN_ALL: usize = 16;
/// Walks in a burst of beginnings: enough to distinguish one beginning in ten from all the same.
const BEGINNINGS: u64 = 64;
/// The longest burst of beginnings, ns: walks of 10 ms are seen 25 times.
const BEGINNINGS_NS: u64 = 250_000_000;
/// A burst of lengths ends after so many entries, rounds (2 ms of hits) or ns.
const LENGTHS_ENTRIES: u64 = 32;
const LENGTHS_ROUNDS: u64 = 3_000;
const LENGTHS_NS: u64 = 20_000_000;
/// … and at so many times the rounds of its own accord, should it not be ended in time: 20 ms of hits.
const LENGTHS_AT_MOST: u64 = 10 * LENGTHS_ROUNDS;
/// The least time between two bursts, ns; ever longer as the program runs: a quarter of the time so far, which makes a dozen bursts in a
/// second and fifty in an hour.
const PAUSE_NS: u64 = 60_000_000;
const PAUSE_PART: u64 = 4;
/// CPU time of the target that a hit takes that notes a beginning, and the making of a probe with the hits until it is taken out, ns.
const NOTED_NS: u64 = 2_000;
const MADE_NS: u64 = 500_000;
/// Every so many bursts one is of lengths.
const TURN: u32 = 2;

/// A loop or function whose entries are looked at.
pub(super) struct Survey {
    number: u32,
    candidate: Candidate,
    /// It is a function's, not a loop's.
    of_function: bool,
    /// Offset of the probe, and what it computes.
    offset: u64,
    origins: Vec<Origin>,
    /// Of a loop, an instruction that is executed once in each round.
    round: Option<u64>,
    slot: usize,
    round_slot: Option<usize>,
    standing: Option<Standing>,
    generation: u32,
    bursts: u32,
    again_ns: u64,
}

struct Standing {
    entry: Uprobe,
    /// While lengths are measured.
    rounds: Option<Uprobe>,
    /// Rounds when both stood.
    before: u64,
    opened_ns: u64,
}

impl Counter {
    /// Takes up the walking loops of a hot function, and the function itself where it works itself and is entered often.
    pub(super) fn take_up(&mut self, candidate: &Candidate, loops: &[Loop]) {
        let share = |one: &Loop| -> f64 {
            let inside =
                candidate.places.iter().filter(|(address, _)| one.contains(address - candidate.start));
            inside.map(|(_, share)| share).sum()
        };
        for (at, one) in loops.iter().enumerate() {
            if one.work != Work::Walks || share(one) < choose::SHARE {
                continue;
            }
            let Some(entry) = one.entry.as_ref().filter(|entry| !entry.origins.is_empty()) else { continue };
            self.survey(candidate, Some(at), entry.offset, &entry.origins, one.count_at);
        }
        let known = self.by_function.get(&(candidate.process, candidate.function));
        if candidate.innermost < choose::SHARE || !known.is_some_and(|index| self.is_entered_often(*index)) {
            return;
        }
        let code = candidate.image.code(candidate.start, (candidate.end - candidate.start) as usize);
        let Some(code) = code else { return };
        let Some(placement) = place::entry(code, candidate.start, candidate.image.go) else { return };
        let before: Vec<_> = Decoder::with_ip(64, code, 0, DecoderOptions::NONE)
            .into_iter()
            .take_while(|instruction| instruction.ip() < placement.offset)
            .collect();
        let arguments = origin::of_arguments(before.iter(), candidate.image.go);
        let arguments: Vec<(Origin, i64)> = arguments.into_iter().map(|origin| (origin, 0)).collect();
        if !arguments.is_empty() {
            self.survey(candidate, None, placement.offset, &arguments, None);
        }
    }

    /// Whether a function's probe was hit at least so often that a burst of beginnings is soon full.
    fn is_entered_often(&self, index: usize) -> bool {
        let probe = &self.probes[index];
        let least = BEGINNINGS as f64 * 1e9 / BEGINNINGS_NS as f64;
        match &probe.standing {
            Some(standing) if standing.trial => false,
            Some(standing) => rate(self.hits(index), clock::now_ns() - standing.opened_ns) >= least,
            None => probe.rate >= least,
        }
    }

    fn survey(
        &mut self,
        candidate: &Candidate,
        of: Option<usize>,
        offset: u64,
        origins: &[(Origin, i64)],
        round: Option<u64>,
    ) {
        let process = candidate.process;
        let alike =
            |survey: &&Survey| survey.candidate.process == process && survey.of_function == of.is_none();
        let here = self.surveys.iter().filter(alike).count();
        let most = if of.is_none() { FUNCTIONS } else { LOOPS };
        if here >= most
            || self.surveys.len() >= IN_ALL
            || self.surveyed.contains(&(process, candidate.function, of))
        {
            return;
        }
        let Some(slot) = self.free.pop() else { return };
        self.surveyed.insert((process, candidate.function, of));
        let round_slot = round.and_then(|_| self.free.pop());
        let number = self.walks;
        self.walks += 1;
        let strides = origins.iter().map(|(_, stride)| stride.unsigned_abs()).collect();
        self.tell(Told::Walk { walk: number, process, function: candidate.function, of, strides });
        self.surveys.push(Survey {
            number,
            candidate: candidate.clone(),
            of_function: of.is_none(),
            offset,
            origins: origins.iter().map(|(origin, _)| origin.clone()).collect(),
            round: round.filter(|_| round_slot.is_some()),
            slot,
            round_slot,
            standing: None,
            generation: 0,
            bursts: 0,
            again_ns: 0,
        });
    }

    /// Ends the surveys of a process that is gone.
    pub(super) fn drop_surveys(&mut self, process: u32) {
        for at in 0..self.surveys.len() {
            if self.surveys[at].candidate.process == process {
                self.end_burst(at);
                self.free.push(self.surveys[at].slot);
                self.free.extend(self.surveys[at].round_slot);
            }
        }
        self.surveys.retain(|survey| survey.candidate.process != process);
        self.surveyed.retain(|(of, ..)| *of != process);
    }

    /// Ends bursts that are over and begins others. Returns whether no probe may be opened now: lengths are measured, or wait for the
    /// probes that stand to be done.
    pub(super) fn look_at_walks(&mut self) -> bool {
        let now = clock::now_ns();
        for at in 0..self.surveys.len() {
            if self.is_over(at, now) {
                self.end_burst(at);
            }
        }
        if self.surveys.iter().any(Survey::measures_lengths) {
            return true;
        }
        let busy = self.probes.iter().any(|p| p.standing.as_ref().is_some_and(|s| s.trial || s.windowed));
        let mut due: Vec<usize> = (0..self.surveys.len())
            .filter(|at| self.surveys[*at].standing.is_none() && self.surveys[*at].again_ns <= now)
            .collect();
        due.sort_by_key(|at| self.surveys[*at].again_ns);
        for at in due {
            if !self.affordable() {
                return false;
            }
            let lengths = self.surveys[at].round.is_some() && self.surveys[at].bursts % TURN == 1;
            if lengths && busy {
                return true;
            }
            self.begin_burst(at, lengths);
            if lengths {
                return true;
            }
        }
        false
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
        let entered = self.tables.totals.get(survey.slot).stopped_ns.load(Ordering::Relaxed) > 0;
        let counted = standing.rounds.as_ref().and(survey.round_slot);
        let rounds = counted.map(|slot| self.tables.totals.get(slot).count.load(Ordering::Relaxed));
        let longest = if standing.rounds.is_some() { LENGTHS_NS } else { BEGINNINGS_NS };
        entered || rounds.is_some_and(|rounds| rounds >= standing.before + LENGTHS_ROUNDS) || age >= longest
    }

    fn begin_burst(&mut self, at: usize, lengths: bool) {
        let survey = &mut self.surveys[at];
        survey.generation += 1;
        let (generation, number) = (survey.generation, survey.number);
        let pause = clock::now_ns() + 10 * PAUSE_NS;
        let Some(base) = survey.candidate.image.offset_of_svma(survey.candidate.start) else {
            survey.again_ns = u64::MAX;
            return;
        };
        let mut entry =
            Slot { mode: MODE_WALK, generation, probe: number, stop_at: BEGINNINGS, ..Slot::default() };
        if lengths {
            let rounds = survey.round_slot.map_or(0, |slot| slot as u32 + 1);
            (entry.mode, entry.stop_at, entry.parent) = (MODE_LENGTH, LENGTHS_ENTRIES, rounds);
        }
        entry.texts = u32::from(survey.of_function);
        entry.origins_used = survey.origins.len().min(ORIGINS) as u32;
        for (to, from) in entry.origins.iter_mut().zip(&survey.origins) {
            *to = SlotOrigin::from(from);
        }
        let rounds =
            Slot { mode: MODE_COUNT, generation, probe: number, stop_at: LENGTHS_AT_MOST, ..Slot::default() };
        let (pid, file) = (survey.candidate.pid, survey.candidate.file.clone());
        let (offset, slot) = (base + survey.offset, survey.slot);
        let round = survey.round.zip(survey.round_slot).filter(|_| lengths);
        let open = |slot: usize, row: Slot, offset: u64| {
            let total = self.tables.totals.get(slot);
            total.count.store(0, Ordering::Relaxed);
            total.stopped_ns.store(0, Ordering::Relaxed);
            total.first_ns.store(0, Ordering::Relaxed);
            self.tables.set(slot, row).ok()?;
            Uprobe::open(&self.tables, pid, &file, offset, u64::from(generation) << 16 | slot as u64).ok()
        };
        // The rounds first: they are counted from the first entry on.
        let rounds = round.and_then(|(round, slot)| open(slot, rounds, base + round));
        let wanted = lengths == rounds.is_some();
        let entry = wanted.then(|| open(slot, entry, offset)).flatten();
        let before = round.map_or(0, |(_, slot)| self.tables.totals.get(slot).count.load(Ordering::Relaxed));
        // What cannot be probed is left alone: that the counter reports for functions.
        let survey = &mut self.surveys[at];
        survey.again_ns = pause;
        survey.bursts += u32::from(entry.is_none());
        survey.standing = entry.map(|entry| Standing { entry, rounds, before, opened_ns: clock::now_ns() });
    }

    fn end_burst(&mut self, at: usize) {
        let Some(standing) = self.surveys[at].standing.take() else { return };
        let survey = &self.surveys[at];
        let read = |slot: usize| {
            let total = self.tables.totals.get(slot);
            let (stopped, first) =
                (total.stopped_ns.load(Ordering::Relaxed), total.first_ns.load(Ordering::Relaxed));
            (total.count.load(Ordering::Relaxed), (stopped > 0).then_some(stopped), first)
        };
        let (entries, stopped, first) = read(survey.slot);
        let hits = standing.rounds.as_ref().and(survey.round_slot).map(|slot| read(slot).0);
        let total = self.tables.totals.get(survey.slot);
        let whole = total
            .rounds_last
            .load(Ordering::Relaxed)
            .saturating_sub(total.rounds_first.load(Ordering::Relaxed));
        // From the first entry to the last; where there were not two, all rounds: a walk has more.
        let (walks, rounds) = match hits {
            Some(_) if entries > 1 => (entries - 1, Some(whole)),
            Some(hits) => (0, Some(hits.saturating_sub(standing.before))),
            None => (entries, None),
        };
        let end = stopped.unwrap_or_else(clock::now_ns).max(standing.opened_ns + 1);
        let start = if first > standing.opened_ns && first < end { first } else { standing.opened_ns };
        let (number, elapsed) = (survey.number, end.saturating_sub(self.started_ns));
        self.spent_ns += MADE_NS + entries * NOTED_NS + hits.unwrap_or(0) * place::HIT_COST_NS;
        // Closing takes a breakpoint out at once and then waits until no CPU is in the handler: in a thread of its own, as in `close`.
        for probe in standing.rounds.into_iter().chain([standing.entry]) {
            let _ = std::thread::Builder::new().spawn(move || drop(probe));
        }
        let survey = &mut self.surveys[at];
        survey.bursts += 1;
        survey.again_ns = end + PAUSE_NS.max(elapsed / PAUSE_PART);
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
    /// Whether its probes stand.
    pub(super) fn stands(&self) -> bool {
        self.standing.is_some()
    }

    fn measures_lengths(&self) -> bool {
        self.standing.as_ref().is_some_and(|standing| standing.rounds.is_some())
    }
}
