//! The session's side of looking ahead: which processes are worth it, and what was seen.

use super::*;
use crate::ahead::Code;
use crate::resources::why;
use crate::unwind::Mapped;
use slowpath_recording::tables::WalkBurst;
use slowpath_recording::tables::{Copied, Formatted, Repeat, Stretch as Row};

/// A process is looked at from so many samples on; of those that have as many only the first few.
const SAMPLES: f64 = 20.0;
const PROCESSES: usize = 2;

/// Who looks, and what for.
#[derive(Default)]
pub(super) struct Ahead {
    wanted: Wanted,
    seen: Option<Receiver<Stretch>>,
    looks: Option<Looks>,
    stretches: u32,
    /// Code of the processes that run most; none inside for one that is left alone.
    codes: HashMap<u32, Option<Arc<Code>>>,
}

impl Ahead {
    /// A loop of a process is to be watched.
    pub(super) fn watch(&self, pid: u32, watched: Watched) {
        self.wanted.watch(pid, watched);
    }
}

impl Session {
    /// Looks ahead from now on, by a thread of its own.
    pub(crate) fn look_ahead(&mut self) {
        let (tell, seen) = channel();
        self.ahead.seen = Some(seen);
        match Looks::start(self.ahead.wanted.clone(), tell) {
            Ok(looks) => self.ahead.looks = Some(looks),
            Err(error) => {
                self.refused.get_or_insert(format!("cannot create a thread: {}", why(&error)));
            }
        }
    }

    /// What a tracer that stops the threads itself is to look at, and where it sends what it saw.
    pub(crate) fn asks_tracer(&mut self) -> (Wanted, Sender<Stretch>) {
        let (tell, seen) = channel();
        self.ahead.seen = Some(seen);
        (self.ahead.wanted.clone(), tell)
    }

    /// Ends it.
    pub(crate) fn stop_looking(&mut self) {
        self.ahead.wanted.set(HashMap::new());
        drop(self.ahead.looks.take());
        self.guarded(Session::hear_ahead);
    }

    /// Says which processes are worth a look.
    pub(super) fn ask_ahead(&mut self) {
        if self.ahead.seen.is_none() {
            return;
        }
        let world = &mut self.world;
        self.ahead.wanted.keep(|pid| world.process(pid).is_some());
        let mut most: Vec<(u32, f64)> =
            self.recent.iter().map(|(pid, recent)| (*pid, recent.total())).collect();
        most.retain(|(_, samples)| *samples >= SAMPLES);
        most.sort_by(|a, b| b.1.total_cmp(&a.1));
        most.truncate(PROCESSES);
        let mut codes = HashMap::new();
        for (pid, _) in most {
            let Some(live) = self.world.process(pid).filter(|live| live.executed) else { continue };
            let mapped: Vec<Mapped> = live.space.all().cloned().collect();
            let known = self
                .ahead
                .codes
                .remove(&pid)
                .filter(|code| code.as_ref().is_none_or(|code| code.is_of(&mapped)));
            codes.insert(pid, known.unwrap_or_else(|| Code::new(pid, mapped).map(Arc::new)));
        }
        let wanted = codes.iter().filter_map(|(pid, code)| Some((*pid, code.clone()?)));
        self.ahead.wanted.set(wanted.collect());
        self.ahead.codes = codes;
    }

    /// A process ended, or executes another program: its code is not looked at any more.
    pub(super) fn forget_code(&mut self, pid: u32) {
        self.ahead.wanted.keep(|other| other != pid);
        if self.ahead.codes.remove(&pid).is_some() {
            let wanted = self.ahead.codes.iter().filter_map(|(pid, code)| Some((*pid, code.clone()?)));
            self.ahead.wanted.set(wanted.collect());
        }
    }

    /// Takes in what was seen.
    pub(super) fn hear_ahead(&mut self) {
        let seen: Vec<Stretch> = self.ahead.seen.iter().flat_map(Receiver::try_iter).collect();
        for seen in seen {
            self.looked_ahead(&seen);
        }
    }

    fn looked_ahead(&mut self, seen: &Stretch) {
        let Some(thread) = self.world.thread_number(seen.tid) else { return };
        let stretch = self.ahead.stretches;
        let mut repeats = Vec::new();
        for ((function, caller), of) in &seen.functions {
            let Some(location) = self.location_of(seen.pid, *function) else { continue };
            let caller = caller.and_then(|caller| self.location_of(seen.pid, caller));
            repeats.push(Repeat {
                stretch,
                location,
                caller,
                calls: of.calls,
                again: of.again,
                instructions: of.instructions,
                all_instructions: of.all_instructions,
                span: of.span,
                nested: of.nested,
                different: of.different,
            });
        }
        let mut formatted = Vec::new();
        for (function, of) in &seen.texts {
            let Some(location) = self.location_of(seen.pid, *function) else { continue };
            formatted.push(Formatted {
                stretch,
                location,
                formatted: of.formatted,
                read: of.read,
                unread: of.unread,
                bytes: Some(of.bytes),
            });
        }
        let mut copied = Vec::new();
        for ((function, caller), of) in &seen.copies {
            let Some(location) = self.location_of(seen.pid, *function) else { continue };
            let caller = caller.and_then(|caller| self.location_of(seen.pid, caller));
            copied.push(Copied {
                stretch,
                location,
                caller,
                calls: of.calls,
                dropped: of.dropped,
                unchanged: of.unchanged,
            });
        }
        self.ahead.stretches += 1;
        let tables = &mut self.writer.tables;
        let end_ns = seen.time_ns;
        let start_ns = end_ns.saturating_sub(seen.took_ns);
        tables.walk_bursts.extend(seen.rounds.iter().map(|(walk, entries, rounds)| WalkBurst {
            walk: *walk,
            start_ns,
            end_ns,
            entries: *entries,
            rounds: Some(*rounds),
        }));
        tables.stretches.push(Row {
            stretch,
            time_ns: seen.time_ns,
            thread,
            instructions: seen.instructions,
            stopped_ns: seen.took_ns,
        });
        tables.repeats.extend(repeats);
        tables.formatted.extend(formatted);
        tables.copied.extend(copied);
    }

    /// The location of an address in a process's code.
    fn location_of(&mut self, pid: u32, address: u64) -> Option<u32> {
        // As a call that returns behind it.
        let place = self.world.process(pid)?.space.caller(address + 1)?;
        let Place::Native { module, .. } = place else { return None };
        let image = self.world.image(module);
        Some(self.stacks.location(place, image, &mut self.writer.tables.locations))
    }
}
