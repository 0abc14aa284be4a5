//! Exact calls of a few chosen functions while the program runs.
//!
//! - `choose` — which functions, from samples.
//! - `place` — at which instruction.
//! - `loops` — the loops of a function, whose rounds are counted where the function itself is entered only once or so.
//! - `walk` — whether a loop only looks at things.
//! - `uprobe` — one probe in one process.
//!
//! This file decides when each probe stands, in a thread of its own, because the rate of a new probe must be known
//! within milliseconds. A probe starts on trial. One that is hit too often is closed, and stands again in short windows
//! over the whole run; one that is hit seldom tells of every entry; one between is only counted, and its count read every
//! few milliseconds. All probes together may take [`BUDGET`] of the time.

pub(crate) mod choose;
pub(crate) mod loops;
mod place;
mod uprobe;
mod walk;

use crate::bpf::{CHILDREN, MODE_COUNT, MODE_RECORD, ProbeTables, SLOTS, Slot};
use crate::clock;
use crate::image::Image;
use loops::Loop;
use slowpath_recording::tables::{Call, Window};
use std::collections::{HashMap, HashSet};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender};
use std::time::Duration;
use uprobe::Uprobe;

/// Share of the elapsed time that hits may take, all probes together.
const BUDGET: f64 = 0.015;
/// Hits a second from which a probe may not stay.
const HOT_PER_S: f64 = 20_000.0;
/// Hits a second up to which every entry is told.
const RECORD_PER_S: f64 = 2_000.0;
/// How long a probe is on trial, ns.
const TRIAL_NS: u64 = 5_000_000;
/// How often the count of a standing probe is read, ns.
const READ_NS: u64 = 10_000_000;
/// The least time between two windows of a hot probe, ns.
const PAUSE_NS: u64 = 250_000_000;
/// A window of a hot probe lasts until its caller was entered so often, but no longer than this, ns, …
const WINDOW_TURNS: u64 = 4;
const WINDOW_NS: u64 = 100_000_000;
/// … nor than this many hits; where no caller is counted, than these.
const WINDOW_HITS: u64 = 8_000;
const WINDOW_HITS_ALONE: u64 = 200;
/// Without a caller that is counted a hot probe tells only its rate: that is worth while for the largest few, and ever more
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
/// Entries a second up to which a function tells too little by its calls, so that the rounds of its loops are counted.
const SELDOM_PER_S: f64 = 20.0;
/// Kinds of probes.
const FUNCTION: &str = "function";
const LOOP: &str = "loop";
/// Share of the time that one hot probe's windows may take.
const WINDOW_SHARE: f64 = 0.004;

/// A function that may be counted, as the session describes it.
#[derive(Clone)]
pub(crate) struct Candidate {
    /// The process's number in the recording, and its pid.
    pub process: u32,
    pub pid: u32,
    /// The live function, and the one that calls it most.
    pub function: u32,
    pub caller: Option<u32>,
    pub share: f64,
    pub image: Arc<Image>,
    /// Where the file can be opened.
    pub file: PathBuf,
    /// The function's addresses in its module.
    pub start: u64,
    pub end: u64,
    /// Where in it its own work was done: addresses and shares; empty if there is little of it.
    pub places: Vec<(u64, f64)>,
}

/// What the session tells the counter.
pub(crate) enum Order {
    /// These are worth counting in the process, the most worthwhile first.
    Choose(Vec<Candidate>),
    /// The process ended.
    Gone(u32),
}

/// What the counter tells the session.
pub(crate) enum Told {
    /// A probe was made: its number, the candidate's process and function, the offset of the instruction, and what it
    /// counts: `function` or `loop`.
    Probe {
        probe: u32,
        process: u32,
        function: u32,
        offset: u64,
        kind: &'static str,
    },
    /// The loops of a function that was hot.
    Loops {
        function: u32,
        loops: Arc<[Loop]>,
    },
    Window(Window),
    Call(Call),
    /// A probe could not be placed.
    Refused(String),
}

/// Errors that say nothing of this machine: the process is gone (ENOENT, ESRCH), or the kernel cannot place a breakpoint on
/// that one instruction (ENOTSUPP).
const BENIGN: [i32; 3] = [libc::ENOENT, libc::ESRCH, 524];

struct Standing {
    uprobe: Uprobe,
    opened_ns: u64,
    /// At so many hits it takes itself out.
    stop_at: u64,
    /// Hits and time at the last look.
    seen: u64,
    seen_ns: u64,
    trial: bool,
    windowed: bool,
    /// Entries of the caller when the window opened.
    caller_hits: u64,
}

struct Probe {
    number: u32,
    kind: &'static str,
    slot: usize,
    candidate: Candidate,
    placement: place::Placement,
    /// While it stands.
    standing: Option<Standing>,
    mode: u32,
    generation: u32,
    /// When it may stand again.
    again_ns: u64,
    /// Hits a second when last seen.
    rate: f64,
    /// Too hot to stay.
    hot: bool,
}

/// The counter: runs until its orders end, then closes every probe.
pub(crate) struct Counter {
    tables: ProbeTables,
    probes: Vec<Probe>,
    by_function: HashMap<(u32, u32), usize>,
    /// Functions that cannot be probed.
    refused: HashSet<(u32, u32)>,
    /// Loops of functions that do work of their own, and which of them are counted in which process.
    loops: HashMap<u32, Arc<[Loop]>>,
    counted_loops: HashSet<(u32, u32, usize)>,
    free: Vec<usize>,
    numbers: u32,
    spent_ns: u64,
    started_ns: u64,
    told: Sender<Told>,
}

impl Counter {
    pub(crate) fn new(tables: ProbeTables, first_probe: u32, told: Sender<Told>) -> Counter {
        Counter {
            tables,
            probes: Vec::new(),
            by_function: HashMap::new(),
            refused: HashSet::new(),
            loops: HashMap::new(),
            counted_loops: HashSet::new(),
            free: (0..SLOTS).rev().collect(),
            numbers: first_probe,
            spent_ns: 0,
            started_ns: clock::now_ns(),
            told,
        }
    }

    pub(crate) fn run(mut self, orders: Receiver<Order>) {
        loop {
            let trial =
                self.probes.iter().any(|p| p.standing.as_ref().is_some_and(|s| s.trial || s.windowed));
            match orders.recv_timeout(Duration::from_micros(if trial { 500 } else { 4000 })) {
                Ok(order) => self.obey(order),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => break,
            }
            while let Ok(order) = orders.try_recv() {
                self.obey(order);
            }
            for index in 0..self.probes.len() {
                self.look(index);
            }
            self.open_next();
        }
        for index in 0..self.probes.len() {
            self.close(index, "end");
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
                        self.free.push(self.probes[index].slot);
                    }
                }
                self.probes.retain(|probe| probe.candidate.process != process);
                self.refused.retain(|(of, _)| *of != process);
                self.counted_loops.retain(|(of, ..)| *of != process);
                self.reindex();
            }
            Order::Choose(candidates) => {
                for candidate in candidates {
                    self.look_at_loops(&candidate);
                    let key = (candidate.process, candidate.function);
                    match self.by_function.get(&key) {
                        Some(index) => {
                            let known = &mut self.probes[*index].candidate;
                            (known.share, known.caller) = (candidate.share, candidate.caller);
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
            .filter(|(_, probe)| probe.kind == FUNCTION)
            .map(|(i, p)| ((p.candidate.process, p.candidate.function), i))
            .collect();
    }

    fn add(&mut self, candidate: Candidate) {
        let key = (candidate.process, candidate.function);
        if self.refused.contains(&key) {
            return;
        }
        let code = candidate.image.code(candidate.start, (candidate.end - candidate.start) as usize);
        let Some(placement) = code.and_then(|code| place::entry(code, candidate.start, candidate.image.go))
        else {
            self.refused.insert(key);
            return;
        };
        if self.insert(candidate, placement, FUNCTION) {
            self.by_function.insert(key, self.probes.len() - 1);
        }
    }

    /// The loops of a function that does much work of its own: told once; and where the function is entered too seldom to
    /// measure work by its calls, their rounds are counted.
    fn look_at_loops(&mut self, candidate: &Candidate) {
        if candidate.places.is_empty() {
            return;
        }
        let key = (candidate.process, candidate.function);
        let loops = match self.loops.get(&candidate.function) {
            Some(loops) => loops.clone(),
            None => {
                let code = candidate.image.code(candidate.start, (candidate.end - candidate.start) as usize);
                let loops: Arc<[Loop]> = code.map(loops::loops).unwrap_or_default().into();
                self.tell(Told::Loops { function: candidate.function, loops: loops.clone() });
                self.loops.insert(candidate.function, loops.clone());
                loops
            }
        };
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
            let Some(offset) = one.count_at.filter(|_| one.varies && share >= choose::SHARE) else {
                continue;
            };
            if self.counted_loops.insert((key.0, key.1, number)) {
                let placement = place::Placement { offset, sp_adjust: 0 };
                self.insert(Candidate { share, caller: None, ..candidate.clone() }, placement, LOOP);
            }
        }
    }

    /// Whether a function's probe has stood beyond its trial and was hit only now and then.
    fn is_entered_seldom(&self, index: usize) -> bool {
        let Some(standing) = &self.probes[index].standing else { return false };
        let age = clock::now_ns() - standing.opened_ns;
        !standing.trial && !standing.windowed && rate(self.hits(index), age) <= SELDOM_PER_S
    }

    /// Makes a probe; it is opened in its turn. Fails if there are too many.
    fn insert(&mut self, candidate: Candidate, placement: place::Placement, kind: &'static str) -> bool {
        let Some(slot) = self.free.pop() else { return false };
        let number = self.numbers;
        self.numbers += 1;
        let (process, function, offset) = (candidate.process, candidate.function, placement.offset);
        self.tell(Told::Probe { probe: number, process, function, offset, kind });
        self.probes.push(Probe {
            number,
            kind,
            slot,
            candidate,
            placement,
            standing: None,
            mode: MODE_COUNT,
            generation: 0,
            again_ns: 0,
            rate: 0.0,
            hot: false,
        });
        true
    }

    /// The probe of the function that calls this one, if it stands and tells of every entry.
    fn caller_of(&self, index: usize) -> Option<usize> {
        let candidate = &self.probes[index].candidate;
        let caller = *self.by_function.get(&(candidate.process, candidate.caller?))?;
        let probe = &self.probes[caller];
        // Goroutines change threads and their stacks move, so that "under" cannot be told there.
        let tellable = probe.standing.is_some() && probe.mode == MODE_RECORD && !candidate.image.go;
        (tellable && caller != index).then_some(caller)
    }

    /// Writes the slots of standing probes anew: who counts under whom.
    fn relate(&mut self) {
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
            };
            for (place, child) in slot.children.iter_mut().zip(&children) {
                *place = self.probes[*child].slot as u32;
            }
            // A slot that keeps its former content counts what it counted before.
            let _ = self.tables.set(probe.slot, slot);
        }
    }

    fn hits(&self, index: usize) -> u64 {
        self.tables.totals.get(self.probes[index].slot).count.load(Ordering::Relaxed)
    }

    fn affordable(&self) -> bool {
        let elapsed = clock::now_ns().saturating_sub(self.started_ns) as f64;
        (self.spent_ns as f64) < BUDGET * elapsed + 10e6
    }

    /// Opens probes whose time has come: at most two at once on trial, so that their costs do not add up; and a hot one
    /// without a caller that is counted only by itself, since all that it tells is how quickly its hits follow each other.
    fn open_next(&mut self) {
        let now = clock::now_ns();
        let busy: Vec<usize> = (0..self.probes.len())
            .filter(|i| self.probes[*i].standing.as_ref().is_some_and(|s| s.trial || s.windowed))
            .collect();
        let alone =
            |counter: &Counter, index: usize| counter.probes[index].hot && counter.caller_of(index).is_none();
        if busy.iter().any(|index| alone(self, *index)) {
            return;
        }
        let mut room = 2usize.saturating_sub(busy.len());
        let mut order: Vec<usize> =
            (0..self.probes.len()).filter(|i| self.probes[*i].standing.is_none()).collect();
        order.sort_by_key(|index| self.probes[*index].again_ns);
        let mut shares: Vec<f64> = self
            .probes
            .iter()
            .enumerate()
            .filter(|(index, _)| alone(self, *index))
            .map(|(_, probe)| probe.candidate.share)
            .collect();
        shares.sort_by(|a, b| b.total_cmp(a));
        let least = shares.get(ALONE - 1).copied().unwrap_or(0.0);
        for index in order {
            if room == 0 || self.probes[index].again_ns > now || !self.affordable() {
                break;
            }
            let probe = &self.probes[index];
            if alone(self, index) {
                if probe.candidate.share < least {
                    self.probes[index].again_ns = now + PAUSE_NS;
                    continue;
                }
                // Due, but not while others stand: these are let finish, and none is opened meanwhile.
                if room == 2 {
                    self.open(index);
                }
                break;
            }
            if self.open(index) {
                room -= 1;
            }
        }
    }

    fn open(&mut self, index: usize) -> bool {
        let caller = self.caller_of(index);
        let (caller_hits, has_caller) = (caller.map_or(0, |caller| self.hits(caller)), caller.is_some());
        let probe = &mut self.probes[index];
        probe.generation += 1;
        probe.mode = MODE_COUNT;
        let (slot, pid) = (probe.slot, probe.candidate.pid);
        let Some(offset) = probe.candidate.image.offset_of_svma(probe.candidate.start) else { return false };
        let (file, offset) = (probe.candidate.file.clone(), offset + probe.placement.offset);
        let windowed = probe.hot;
        let stop_at = match (windowed, has_caller) {
            (false, _) => TRIAL_HITS,
            (true, true) => WINDOW_HITS,
            (true, false) => WINDOW_HITS_ALONE,
        };
        let total = self.tables.totals.get(slot);
        total.count.store(0, Ordering::Relaxed);
        total.stopped_ns.store(0, Ordering::Relaxed);
        total.first_ns.store(0, Ordering::Relaxed);

        let (generation, number) = (probe.generation, probe.number);
        let blank = Slot { mode: MODE_COUNT, generation, probe: number, stop_at, ..Slot::default() };
        let cookie = u64::from(generation) << 16 | slot as u64;
        let set = self.tables.set(slot, blank);
        let opened = clock::now_ns();
        match (set, Uprobe::open(&self.tables, pid, &file, offset, cookie)) {
            (Ok(()), Ok(uprobe)) => {
                self.probes[index].standing = Some(Standing {
                    uprobe,
                    opened_ns: clock::now_ns(),
                    stop_at,
                    seen: 0,
                    seen_ns: opened,
                    trial: !windowed,
                    windowed,
                    caller_hits,
                });
                self.relate();
                true
            }
            (set, uprobe) => {
                let why = uprobe.err().map(|e| e.to_string()).or(set.err().map(|e| e.to_string()));
                let why = why.unwrap_or_default();
                let benign = BENIGN.iter().any(|code| why.contains(&format!("(os error {code})")));
                if self.probes[index].generation == 1 && !benign {
                    self.tell(Told::Refused(why));
                }
                self.probes[index].again_ns = opened + 10 * PAUSE_NS;
                false
            }
        }
    }

    /// Looks at a standing probe and decides whether it stays, and how.
    fn look(&mut self, index: usize) {
        let Some(standing) = &self.probes[index].standing else { return };
        let now = clock::now_ns();
        let (hits, stopped) = (self.hits(index), self.stopped(index));
        let (age, since) = (now - standing.opened_ns, now - standing.seen_ns);
        if standing.windowed {
            let turned = self
                .caller_of(index)
                .is_some_and(|caller| self.hits(caller) >= standing.caller_hits + WINDOW_TURNS);
            if stopped.is_some() || age >= WINDOW_NS || turned {
                self.close(index, "planned");
            }
        } else if standing.trial {
            if stopped.is_some() {
                self.close(index, "hot");
            } else if age >= TRIAL_NS {
                let mode = if rate(hits, age) <= RECORD_PER_S { MODE_RECORD } else { MODE_COUNT };
                self.stay(index, hits, now, mode, true);
                self.look_at_loops(&self.probes[index].candidate.clone());
            }
        } else if stopped.is_some() {
            self.close(index, "hot");
        } else if since >= READ_NS {
            let new = hits - standing.seen;
            let (probe, cost) = (&self.probes[index], self.probes[index].cost_ns());
            let (number, mode, now_rate) = (probe.number, probe.mode, rate(new, since));
            self.spent_ns += new * cost;
            if now_rate > HOT_PER_S || (new * cost) as f64 > 0.015 * since as f64 {
                self.close(index, "hot");
            } else if (new * cost) as f64 > CHEAP * since as f64 && !self.affordable() {
                self.close(index, "budget");
            } else {
                if new > 0 && mode == MODE_COUNT {
                    self.tell(Told::Call(Call {
                        time_ns: now,
                        thread: None,
                        probe: number,
                        count: hits,
                        under: None,
                        cpu_ns: 0,
                    }));
                }
                let wanted = match mode {
                    MODE_RECORD if now_rate > 2.0 * RECORD_PER_S => MODE_COUNT,
                    MODE_COUNT if now_rate < RECORD_PER_S / 2.0 => MODE_RECORD,
                    same => same,
                };
                self.stay(index, hits, now, wanted, wanted != mode);
            }
        }
    }

    /// Lets a standing probe go on until the next look.
    fn stay(&mut self, index: usize, hits: u64, now: u64, mode: u32, changed: bool) {
        let probe = &mut self.probes[index];
        let Some(standing) = &mut probe.standing else { return };
        (standing.trial, standing.seen, standing.seen_ns) = (false, hits, now);
        probe.mode = mode;
        let short = standing.stop_at < hits + BURST_HITS;
        if short {
            standing.stop_at = hits + 4 * BURST_HITS;
        }
        if changed || short {
            self.relate();
        }
    }

    /// When a probe took itself out, if it did.
    fn stopped(&self, index: usize) -> Option<u64> {
        let at = self.tables.totals.get(self.probes[index].slot).stopped_ns.load(Ordering::Relaxed);
        Some(at).filter(|at| *at > 0)
    }

    fn close(&mut self, index: usize, reason: &str) {
        let Some(standing) = self.probes[index].standing.take() else { return };
        let hits = self.hits(index);
        let stopped = self.stopped(index);
        let total = self.tables.totals.get(self.probes[index].slot);
        let delay = total.delay_ns.load(Ordering::Relaxed);
        let burst = stopped.is_some() && hits > 1 && (standing.trial || standing.windowed);
        let first =
            Some(total.first_ns.load(Ordering::Relaxed)).filter(|first| burst && *first > standing.opened_ns);
        let end = stopped.unwrap_or_else(clock::now_ns).max(standing.opened_ns + 1);
        // The kernel takes the breakpoint out at once but then waits, some 100 ms, until no CPU is in the handler: that
        // must not keep the other probes from being looked at in time.
        std::thread::spawn(move || drop(standing.uprobe));
        let (age, cost) = (end - standing.opened_ns, self.probes[index].cost_ns());
        let (alone, started) = (self.caller_of(index).is_none(), self.started_ns);
        self.spent_ns += (hits - standing.seen.min(hits)) * cost;
        let probe = &mut self.probes[index];
        probe.rate = rate(hits, age);
        // A window shows whether a probe has become slow enough to stay.
        let dear = (probe.rate * cost as f64) > 0.01e9 || reason == "budget";
        probe.hot = probe.rate > HOT_PER_S / 2.0 || dear;
        let pause = match reason {
            _ if alone => ALONE_PAUSE_NS.max((end - started) / ALONE_PAUSE),
            _ => PAUSE_NS.max(((hits * cost) as f64 / WINDOW_SHARE) as u64).min(3_000_000_000),
        };
        probe.again_ns = end + pause;
        // Making the breakpoint holds the program up, and so do others: a burst of hits is measured from its first to its
        // last, for as long as it really ran.
        let (start, hits) = match first {
            Some(first) => ((first + delay).min(end - 1), hits - 1),
            _ => (standing.opened_ns, hits),
        };
        let (number, reason) = (probe.number, reason.to_owned());
        self.tell(Told::Window(Window { probe: number, start_ns: start, end_ns: end, hits, reason }));
        self.relate();
    }
}

impl Probe {
    /// CPU time of the target that one hit takes, ns.
    fn cost_ns(&self) -> u64 {
        place::HIT_COST_NS
    }
}

/// Hits a second.
fn rate(hits: u64, ns: u64) -> f64 {
    hits as f64 * 1e9 / ns.max(1) as f64
}
