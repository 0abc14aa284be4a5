//! Exact calls of a few chosen functions while the program runs.
//!
//! - `choose` — which functions, from samples.
//! - `place` — at which instruction.
//! - `input` — what a function that is meant to be called once for its input is given.
//! - `given` — how many arguments a function is given.
//! - `listed` — functions whose calls are worth a look because of what they do.
//! - `flow` — the blocks of a function's code, and who dominates whom.
//! - `loops` — the loops of a function, whose rounds are counted where the function itself is entered only once or so.
//! - `origin` — where a walk begins, as registers tell.
//! - `walk` — whether a loop only looks at things.
//! - `reads_only` — whether a function and all that it calls only read.
//! - `messages` — what the session asks for and what it hears.
//! - `standing` — when each probe stands, on trial, for good or in windows.
//! - `late` — hits of probes that no longer count.
//! - `room` — which probes there is room for.
//! - `survey` — where the walks of hot loops begin, and how long they are.
//! - `taken_up` — which loops and functions are surveyed.
//! - `usual` — what a loop does in most rounds, as samples show it.
//! - `wide` — what breakpoints slow down without being hit.
//! - `values` — what registers and stack slots hold, in terms of what they held before.
//! - `hits` — what counts: `uprobe`, one probe in one process with BPF, or `breakpoint`, without.
//! - `turns` — who stands where only a few can at a time.
//!
//! This file decides when each probe stands, in a thread of its own, because the rate of a new probe must be known
//! within milliseconds. A probe starts on trial. One that is hit too often is closed, and stands again in short windows
//! over the whole run; one that is hit seldom reports every entry; one between is only counted, and its count read every
//! few milliseconds. All probes together may take [`BUDGET`] of the time; a quarter of that is for surveys, whatever the others took.

pub(crate) mod breakpoint;
mod bucket;
mod chase;
pub(crate) mod choose;
mod fills;
mod flow;
mod fold;
mod fresh;
mod given;
mod groups;
mod heads;
mod hits;
pub(crate) mod input;
mod late;
mod listed;
pub(crate) mod loops;
mod messages;
pub(crate) mod origin;
pub(crate) mod place;
mod places;
mod reads_only;
mod room;
mod spins;
mod standing;
mod survey;
mod taken_up;
mod turns;
mod unrolled;
pub(crate) mod uprobe;
mod usual;
mod values;
pub(crate) mod walk;
mod wide;

use crate::bpf::{CHILDREN, MODE_COUNT, MODE_RECORD, SLOTS, Slot};
use crate::clock;
pub(crate) use hits::Hits;
use hits::{Handle, Limits, Seen};
use loops::Loop;
pub(crate) use messages::{Candidate, Order, Told};
pub(crate) use place::Placement;
use slowpath_recording::tables::{Call, WalkBurst, Window};
use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender};
use std::time::Duration;
pub(crate) use uprobe::Uprobe;
use walk::Work;

/// Share of the elapsed time that hits may take, all probes together.
const BUDGET: f64 = 0.015;
/// … and so much at first, ns: a program of a second or two shows something too. With 10 ms the cause was found in 4 of 9 runs
/// of 2 to 3 s of three real programs (hash tables, a loop that searches again), with 30 in 11 of 12.
const AT_FIRST_NS: f64 = 30e6;
/// Windows of probes that are hit too often to stay may take this part of it: what they and surveys leave is for those that stay, since
/// a count of all calls shows how their cost grows, and a few windows hardly do.
const PART_FOR_WINDOWS: f64 = 0.3;
/// By breakpoints so many times as much: a hit takes ten times as long, 10 µs in a virtual machine.
const BUDGET_BY_BREAKPOINTS: f64 = 2.0;
/// Hits a second from which a probe may not stay.
const HOT_PER_S: f64 = 20_000.0;
/// Hits a second up to which every entry is reported.
const RECORD_PER_S: f64 = 2_000.0;
/// How long a probe is on trial, ns.
const TRIAL_NS: u64 = 5_000_000;
/// How often the count of a standing probe is read, ns.
const READ_NS: u64 = 10_000_000;
/// The least time between two windows of a hot probe, ns.
const PAUSE_NS: u64 = 250_000_000;
/// … and behind one that shows nothing, ns, at first: most late hits have ceased by then.
const SPOILED_PAUSE_NS: u64 = 10_000_000;
/// A window of a hot probe lasts until its caller was entered so often, but no longer than this, ns, …
const WINDOW_TURNS: u64 = 4;
const WINDOW_NS: u64 = 50_000_000;
/// … or than this, where the caller was entered at least once, …
const LONG_WINDOW_NS: u64 = 200_000_000;
/// … nor than this many hits; where no caller is counted, than these.
const WINDOW_HITS: u64 = 8_000;
const WINDOW_HITS_ALONE: u64 = 200;
/// This part of the hits shows a rate to 3 % where all that could be seen is a rate.
const RATE_PART: u64 = 8;
/// Without a caller that is counted a hot probe shows only its rate: that is worth while for the largest few, and ever more
/// seldom the longer the program runs.
const ALONE: usize = 6;
const ALONE_PAUSE: u64 = 10;
const ALONE_PAUSE_NS: u64 = 30_000_000;
/// A probe that takes less than this share of the time stays whatever the others take.
const CHEAP: f64 = 0.002;
/// Hits in a trial that show a hot probe.
const TRIAL_HITS: u64 = 100;
/// Hits that a standing probe may have until it is looked at again.
const BURST_HITS: u64 = 600;
/// Entries a second up to which a function shows too little by its calls, so that the iterations of its loops are counted.
const SELDOM_PER_S: f64 = 20.0;
/// Kinds of probes.
const FUNCTION: &str = "function";
const LOOP: &str = "loop";
/// Share of the time that one hot probe's windows may take.
const WINDOW_SHARE: f64 = 0.004;

/// Errors that say nothing of this machine: the process is gone (ENOENT, ESRCH), or the kernel cannot place a breakpoint on
/// that one instruction (ENOTSUPP).
const BENIGN: [i32; 3] = [libc::ENOENT, libc::ESRCH, 524];

struct Standing {
    handle: Handle,
    opened_ns: u64,
    /// At so many hits it counts no more.
    stop_at: u64,
    /// Hits and time at the last look.
    seen: u64,
    seen_ns: u64,
    trial: bool,
    windowed: bool,
    /// Entries of the caller when the window opened.
    caller_hits: u64,
    /// Late hits of all other probes then.
    late: u64,
}

struct Probe {
    number: u32,
    /// None for a function's entries, else the loop's place among those of its function.
    of_loop: Option<usize>,
    slot: usize,
    candidate: Candidate,
    placement: place::Placement,
    /// While it stands.
    standing: Option<Standing>,
    mode: u32,
    generation: u32,
    made_ns: u64,
    /// The generation that its slot had before it.
    before: u32,
    /// When it may stand again.
    again_ns: u64,
    /// Hits a second when last seen.
    rate: f64,
    /// Too hot to stay.
    hot: bool,
    /// Windows in a row that were spoiled.
    spoiled: u32,
}

impl Probe {
    /// Process, function and loop.
    fn key(&self) -> (u32, u32, Option<usize>) {
        (self.candidate.process, self.candidate.function, self.of_loop)
    }
}

/// The counter: runs until its orders end, then closes every probe.
pub(crate) struct Counter {
    hits: Hits,
    limits: Limits,
    probes: Vec<Probe>,
    by_function: HashMap<(u32, u32), usize>,
    /// Functions that cannot be probed.
    refused: HashSet<(u32, u32)>,
    /// Loops of functions that do work of their own, what all of the function's code does, and which of them are counted in which process.
    loops: HashMap<u32, (Arc<[Loop]>, Work)>,
    counted_loops: HashSet<(u32, u32, usize)>,
    /// Loops of functions whose usual way was looked for, and how many samples it takes to look again: no number if it is known.
    ways_known: HashMap<(u32, usize), f64>,
    /// Walks that are looked at, and every one that was, by process, function and loop.
    surveys: Vec<survey::Survey>,
    surveyed: HashSet<(u32, u32, Option<usize>)>,
    /// Of functions that call themselves the arguments, if they only read.
    readers: HashMap<u32, Option<Vec<u8>>>,
    interfaces: input::Known,
    listed: listed::Listed,
    walks: u32,
    free: Vec<usize>,
    /// The numbers of probes that made room for others, by process, function and loop.
    numbered: HashMap<(u32, u32, Option<usize>), u32>,
    /// The last generation of each slot that was given back.
    generations: [u32; SLOTS],
    numbers: u32,
    /// What all hits took, and the parts of it that windows and surveys took.
    spent_ns: u64,
    windows_ns: u64,
    late: late::Late,
    /// Late hits of each slot that are part of it.
    late_in: [u64; SLOTS],
    surveys_ns: u64,
    rest: wide::Rest,
    started_ns: u64,
    told: Sender<Told>,
}

impl Counter {
    pub(crate) fn new(hits: Hits, first_probe: u32, first_walk: u32, told: Sender<Told>) -> Counter {
        Counter {
            limits: hits.limits(),
            hits,
            probes: Vec::new(),
            by_function: HashMap::new(),
            refused: HashSet::new(),
            loops: HashMap::new(),
            counted_loops: HashSet::new(),
            ways_known: HashMap::new(),
            surveys: Vec::new(),
            surveyed: HashSet::new(),
            readers: HashMap::new(),
            interfaces: input::Known::default(),
            listed: listed::Listed::default(),
            walks: first_walk,
            free: (0..SLOTS).rev().collect(),
            numbered: HashMap::new(),
            generations: [0; SLOTS],
            numbers: first_probe,
            spent_ns: 0,
            windows_ns: 0,
            late: late::Late::default(),
            late_in: [0; SLOTS],
            surveys_ns: 0,
            rest: wide::Rest::default(),
            started_ns: clock::now_ns(),
            told,
        }
    }

    pub(crate) fn run(mut self, orders: Receiver<Order>) {
        // Of a probe that has reached its limit each hit costs as much as before until this thread has it taken out. A breakpoint stops by itself.
        let at_once = !self.limits.are_dear() && slowpath_leftovers::run_at_once(false);
        loop {
            let trial =
                self.probes.iter().any(|p| p.standing.as_ref().is_some_and(|s| s.trial || s.windowed))
                    || self.surveys.iter().any(survey::Survey::stands)
                    || self.late_hits_come();
            let wait = Duration::from_micros(if trial { 500 } else { 4000 });
            // A probe that stays reaches its limit at any time.
            let waited = self.hits.wait(wait);
            match orders.recv_timeout(if waited { Duration::ZERO } else { wait }) {
                Ok(order) => {
                    // Code is looked through then, which takes a while.
                    if at_once {
                        slowpath_leftovers::run_as_usual();
                    }
                    self.obey(order);
                    while let Ok(order) = orders.try_recv() {
                        self.obey(order);
                    }
                    if at_once {
                        slowpath_leftovers::run_at_once(false);
                    }
                }
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => break,
            }
            self.drain();
            self.look_at_late();
            self.each_probe(Counter::look);
            let rests = self.rests();
            if !self.look_at_walks(rests) && !rests && !self.late_hits_come() {
                self.open_next();
            }
        }
        self.drain();
        self.ends_surveys();
        for index in 0..self.probes.len() {
            self.close(index, "end");
        }
    }

    /// A look at a probe may end with others that make room for new ones: the list gets shorter meanwhile.
    fn each_probe(&mut self, mut look: impl FnMut(&mut Counter, usize)) {
        let mut index = 0;
        while index < self.probes.len() {
            look(self, index);
            index += 1;
        }
    }

    /// Takes in what was hit, and passes entries on.
    fn drain(&mut self) {
        for entry in self.hits.drain() {
            self.tell(Told::Entry(entry));
        }
    }

    fn tell(&self, told: Told) {
        // The session is gone only when we are about to end too.
        let _ = self.told.send(told);
    }

    fn obey(&mut self, order: Order) {
        match order {
            Order::Gone(process) => {
                for index in 0..self.probes.len() {
                    if self.probes[index].candidate.process == process {
                        self.close(index, "end");
                        let Probe { slot, generation, .. } = self.probes[index];
                        self.give_back(slot, generation);
                        self.hits.gone(self.probes[index].candidate.pid);
                    }
                }
                self.probes.retain(|probe| probe.candidate.process != process);
                self.refused.retain(|(of, _)| *of != process);
                self.numbered.retain(|(of, ..), _| *of != process);
                self.counted_loops.retain(|(of, ..)| *of != process);
                self.drop_surveys(process);
                self.forget_wide(process);
                self.reindex();
            }
            Order::Choose(candidates) => {
                self.weigh(&candidates);
                self.note_wide(&candidates);
                for candidate in candidates {
                    self.take_up_interface(&candidate);
                    self.take_up_listed(&candidate);
                    if candidate.calls_itself {
                        self.take_up_recursive(&candidate);
                    }
                    self.look_at_loops(&candidate);
                    if candidate.recursive {
                        continue;
                    }
                    let key = (candidate.process, candidate.function);
                    match self.by_function.get(&key) {
                        Some(index) => {
                            let known = &mut self.probes[*index].candidate;
                            (known.share, known.caller) = (candidate.share, candidate.caller);
                            (known.innermost, known.samples) = (candidate.innermost, candidate.samples);
                            known.places = candidate.places;
                        }
                        None => self.add(candidate),
                    }
                }
                self.relate();
            }
        }
    }

    fn reindex(&mut self) {
        self.by_function = self
            .probes
            .iter()
            .enumerate()
            .filter(|(_, probe)| probe.of_loop.is_none())
            .map(|(i, p)| ((p.candidate.process, p.candidate.function), i))
            .collect();
    }

    fn add(&mut self, candidate: Candidate) {
        let key = (candidate.process, candidate.function);
        if self.refused.contains(&key) {
            return;
        }
        let Some(placement) = self.hits.placement(&candidate) else {
            self.refused.insert(key);
            return;
        };
        if self.insert(candidate, placement, None) {
            self.by_function.insert(key, self.probes.len() - 1);
        }
    }

    /// The loops of a function that does much work of its own: reported once; and where the function is entered too seldom to
    /// measure work by its calls, their rounds are counted.
    fn look_at_loops(&mut self, candidate: &Candidate) {
        if candidate.places.is_empty() {
            return;
        }
        let key = (candidate.process, candidate.function);
        let (loops, _) = self.known(candidate);
        let loops = self.with_usual(candidate, loops);
        self.take_up(candidate, &loops);
        if candidate.recursive {
            return;
        }
        let seldom = match self.by_function.get(&key) {
            Some(index) => self.is_entered_seldom(*index),
            None => self.refused.contains(&key),
        };
        if !seldom {
            return;
        }
        for (number, one) in loops.iter().enumerate() {
            let in_it = |(address, _): &&(u64, f64)| one.contains(address - candidate.start);
            let share: f64 = candidate.places.iter().filter(in_it).map(|(_, share)| share).sum();
            let Some(offset) = one.count_at.filter(|_| one.is_whole && one.varies && share >= choose::SHARE)
            else {
                continue;
            };
            if self.counted_loops.insert((key.0, key.1, number)) {
                let placement = place::Placement::emulated(offset, 0);
                self.insert(Candidate { share, caller: None, ..candidate.clone() }, placement, Some(number));
            }
        }
    }

    /// The loops of a function and what all of its code does: told once.
    fn known(&mut self, candidate: &Candidate) -> (Arc<[Loop]>, Work) {
        if let Some(known) = self.loops.get(&candidate.function) {
            return known.clone();
        }
        let code = candidate.image.code(candidate.start, (candidate.end - candidate.start) as usize);
        let selects = heads::selecting(candidate);
        let loops: Arc<[Loop]> = code.map(|code| loops::loops_in(code, &selects)).unwrap_or_default().into();
        let work = code.map_or(Work::Calculates, walk::work_of_function);
        self.tell(Told::Loops { function: candidate.function, loops: loops.clone(), work });
        self.loops.insert(candidate.function, (loops.clone(), work));
        (loops, work)
    }

    /// Whether a function's probe has stood beyond its trial and was hit only now and then.
    fn is_entered_seldom(&self, index: usize) -> bool {
        let probe = &self.probes[index];
        let Some(standing) = &probe.standing else { return self.was_entered_seldom(probe) };
        let age = clock::now_ns() - standing.opened_ns;
        !standing.trial && !standing.windowed && rate(self.hits(index), age) <= SELDOM_PER_S
    }

    /// Makes a probe; it is opened in its turn. Fails if there are too many.
    fn insert(&mut self, candidate: Candidate, placement: place::Placement, of_loop: Option<usize>) -> bool {
        let Some(slot) = self.slot_for(candidate.share) else { return false };
        let (process, function, offset) = (candidate.process, candidate.function, placement.offset);
        let kind = if of_loop.is_some() { LOOP } else { FUNCTION };
        let number = match self.numbered.remove(&(process, function, of_loop)) {
            Some(number) => number,
            None => {
                let number = self.numbers;
                self.numbers += 1;
                self.tell(Told::Probe { probe: number, process, function, offset, kind });
                number
            }
        };
        self.probes.push(Probe {
            number,
            of_loop,
            slot,
            candidate,
            placement,
            standing: None,
            mode: MODE_COUNT,
            generation: self.generations[slot],
            before: self.generations[slot],
            made_ns: clock::now_ns(),
            again_ns: 0,
            rate: 0.0,
            hot: false,
            spoiled: 0,
        });
        true
    }

    /// The probe of the function that calls this one, if it stands and reports every entry.
    fn caller_of(&self, index: usize) -> Option<usize> {
        let candidate = &self.probes[index].candidate;
        let caller = *self.by_function.get(&(candidate.process, candidate.caller?))?;
        let probe = &self.probes[caller];
        // Goroutines change threads and their stacks move, so that "under" cannot be determined there.
        let tellable = probe.standing.is_some() && probe.mode == MODE_RECORD && !candidate.image.go;
        (tellable && caller != index).then_some(caller)
    }

    /// Rewrites the slots of active probes: who counts under whom.
    fn relate(&mut self) {
        let mut rows: Vec<(usize, Slot)> = Vec::new();
        let callers: Vec<Option<usize>> = (0..self.probes.len()).map(|index| self.caller_of(index)).collect();
        for (index, probe) in self.probes.iter().enumerate() {
            let Some(standing) = &probe.standing else { continue };
            let mut children: Vec<usize> = (0..self.probes.len())
                .filter(|child| callers[*child] == Some(index) && self.probes[*child].standing.is_some())
                .collect();
            children
                .sort_by(|a, b| self.probes[*b].candidate.share.total_cmp(&self.probes[*a].candidate.share));
            children.truncate(CHILDREN);
            let mut slot = Slot {
                mode: probe.mode,
                generation: probe.generation,
                probe: probe.number,
                parent: callers[index].map_or(0, |caller| self.probes[caller].slot as u32 + 1),
                sp_adjust: probe.placement.sp_adjust,
                children_used: children.len() as u32,
                children: [0; CHILDREN],
                stop_at: standing.stop_at,
                ..Slot::default()
            };
            for (place, child) in slot.children.iter_mut().zip(&children) {
                *place = self.probes[*child].slot as u32;
            }
            rows.push((probe.slot, slot));
        }
        for (slot, row) in rows {
            self.hits.set(slot, row);
        }
    }

    fn seen(&self, index: usize) -> Seen {
        self.hits.seen(self.probes[index].slot)
    }

    fn hits(&self, index: usize) -> u64 {
        self.seen(index).count
    }
}

/// Hits a second.
fn rate(hits: u64, ns: u64) -> f64 {
    hits as f64 * 1e9 / ns.max(1) as f64
}
