//! What counts the hits of probes: BPF programs on uprobes, or, where BPF may not be used, hardware breakpoints.

use super::breakpoint::{self, AT_ONCE, Breakpoints};
use super::place::{self, Placement};
use super::uprobe::Uprobe;
use super::{
    BUDGET_BY_BREAKPOINTS, BURST_HITS, Candidate, HOT_PER_S, RECORD_PER_S, TRIAL_HITS, WINDOW_HITS,
    WINDOW_HITS_ALONE,
};
use crate::bpf::event::Event;
use crate::bpf::{MODE_OFF, ProbeTables, SLOTS, Slot};
use std::io;
use std::sync::atomic::Ordering;
use std::time::Duration;

/// Where hits are counted.
pub(crate) enum Hits {
    Uprobes(ProbeTables),
    Breakpoints(Breakpoints),
}

/// What was counted of a slot since its probe was opened. Times are ns.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Seen {
    pub count: u64,
    /// When it reached its limit, if it did.
    pub stopped_ns: Option<u64>,
    /// When it was hit first, 0 if not yet.
    pub first_ns: u64,
    /// When it was hit last, where that is known.
    pub last_ns: Option<u64>,
    /// For how long the thread did not run between its first hit and that at the limit, or the last that is known; 0 if they were of two
    /// threads.
    pub delay_ns: u64,
}

/// How often probes may be hit.
#[derive(Debug, Clone, Copy)]
pub(super) struct Limits {
    /// CPU time of the target that one hit takes, ns.
    pub hit_ns: u64,
    /// Time that a hit takes at which it is noted what begins there, ns.
    pub noted_ns: u64,
    /// CPU time that the making of a probe takes with the hits until it is taken out, ns.
    pub made_ns: u64,
    /// How many times [`BUDGET`](super::BUDGET) they may take.
    pub budget: f64,
    /// Probes of one process that stand at a time, where that is limited.
    pub at_once: Option<usize>,
    /// Whether they slow wide accesses down while they stand.
    pub slow_moves: bool,
    /// See the constants of the same names.
    pub hot_per_s: f64,
    pub record_per_s: f64,
    pub trial_hits: u64,
    pub burst_hits: u64,
    pub window_hits: u64,
    pub window_hits_alone: u64,
}

impl Limits {
    /// Whether hits take so long that less can be looked at: those of breakpoints.
    pub(super) fn are_dear(&self) -> bool {
        self.at_once.is_some()
    }
}

/// What a hit of a uprobe takes that notes what begins there, ns: 2.4 to 4.6 µs were measured.
const NOTED_NS: u64 = 3_000;
/// What the making of a probe takes of the program, ns: the kernel changes code, or sets a register to break there. Making and removing 200 uprobes took 10 ms
/// of a busy thread on another CPU, 50 µs each. Three times that, since threads that map memory meanwhile wait for it.
const MADE_NS: u64 = 150_000;
const BREAKPOINT_MADE_NS: u64 = 50_000;
/// A breakpoint's hit takes some µs: fewer of them do.
const BREAKPOINT_TRIAL_HITS: u64 = 50;
const BREAKPOINT_WINDOW_HITS: u64 = 1_000;
const BREAKPOINT_WINDOW_HITS_ALONE: u64 = 60;

/// What one probe leaves with its owner while it stands, and its generation.
pub(super) struct Handle(Option<Uprobe>, u32);

impl Hits {
    pub(super) fn limits(&self) -> Limits {
        let uprobes = Limits {
            hit_ns: place::HIT_COST_NS,
            noted_ns: NOTED_NS,
            made_ns: MADE_NS,
            budget: 1.0,
            at_once: None,
            slow_moves: false,
            hot_per_s: HOT_PER_S,
            record_per_s: RECORD_PER_S,
            trial_hits: TRIAL_HITS,
            burst_hits: BURST_HITS,
            window_hits: WINDOW_HITS,
            window_hits_alone: WINDOW_HITS_ALONE,
        };
        match self {
            Hits::Uprobes(_) => uprobes,
            Hits::Breakpoints(breakpoints) => {
                // As much of the time as hits of uprobes at their limits.
                let fewer = place::HIT_COST_NS as f64 / breakpoints.hit_ns.max(place::HIT_COST_NS) as f64;
                Limits {
                    hit_ns: breakpoints.hit_ns,
                    noted_ns: breakpoints.hit_ns
                        + breakpoints.notes.as_ref().map_or(0, |notes| notes.wall_ns),
                    made_ns: BREAKPOINT_MADE_NS,
                    budget: BUDGET_BY_BREAKPOINTS,
                    at_once: Some(AT_ONCE),
                    slow_moves: breakpoints.slow_moves,
                    hot_per_s: HOT_PER_S * fewer,
                    record_per_s: RECORD_PER_S.min(HOT_PER_S * fewer),
                    trial_hits: BREAKPOINT_TRIAL_HITS,
                    window_hits: BREAKPOINT_WINDOW_HITS,
                    window_hits_alone: BREAKPOINT_WINDOW_HITS_ALONE,
                    ..uprobes
                }
            }
        }
    }

    /// Whether it can be noted what begins at a hit, before the program changes it: by BPF in the kernel, or by a tracer while the thread is
    /// stopped.
    pub(super) fn note(&self) -> bool {
        match self {
            Hits::Uprobes(_) => true,
            Hits::Breakpoints(breakpoints) => breakpoints.notes.as_ref().is_some_and(|notes| notes.is_open()),
        }
    }

    /// Where entries of a function are counted.
    pub(super) fn placement(&self, candidate: &Candidate) -> Option<Placement> {
        let code = candidate.image.code(candidate.start, (candidate.end - candidate.start) as usize)?;
        match self {
            Hits::Uprobes(_) => place::entry(code, candidate.start, candidate.image.go),
            Hits::Breakpoints(_) => place::first(code, candidate.start, candidate.image.go),
        }
    }

    /// Puts a probe at `offset` of the candidate's function; nothing is counted of it yet.
    pub(super) fn open(&mut self, slot: usize, row: Slot, of: &Candidate, offset: u64) -> io::Result<Handle> {
        match self {
            Hits::Uprobes(tables) => {
                let base = of.image.offset_of_svma(of.start);
                let base = base.ok_or_else(|| io::Error::from_raw_os_error(libc::ENOENT))?;
                let total = tables.totals.get(slot);
                total.count.store(0, Ordering::Relaxed);
                total.stopped_ns.store(0, Ordering::Relaxed);
                total.first_ns.store(0, Ordering::Relaxed);
                tables.set(slot, row).map_err(io::Error::other)?;
                let cookie = u64::from(row.generation) << 16 | slot as u64;
                let uprobe = Uprobe::open(&tables.on_hit, of.pid, &of.file, base + offset, cookie)?;
                Ok(Handle(Some(uprobe), row.generation))
            }
            Hits::Breakpoints(breakpoints) => breakpoints
                .open(slot, row, of, offset)
                .map(|()| Handle(None, row.generation))
                .map_err(|error| match error.raw_os_error() {
                    Some(libc::ENOENT | libc::ESRCH) | None => error,
                    _ => io::Error::other(breakpoint::obstacle(&error)),
                }),
        }
    }

    /// Changes what a standing probe does.
    pub(super) fn set(&mut self, slot: usize, row: Slot) {
        match self {
            // A slot that keeps its former content counts what it counted before.
            Hits::Uprobes(tables) => drop(tables.set(slot, row)),
            Hits::Breakpoints(breakpoints) => breakpoints.set(slot, row),
        }
    }

    pub(super) fn seen(&self, slot: usize) -> Seen {
        match self {
            Hits::Uprobes(tables) => {
                let total = tables.totals.get(slot);
                let stopped = total.stopped_ns.load(Ordering::Relaxed);
                Seen {
                    count: total.count.load(Ordering::Relaxed),
                    stopped_ns: Some(stopped).filter(|at| *at > 0),
                    first_ns: total.first_ns.load(Ordering::Relaxed),
                    last_ns: None,
                    delay_ns: total.delay_ns.load(Ordering::Relaxed),
                }
            }
            Hits::Breakpoints(breakpoints) => breakpoints.seen(slot),
        }
    }

    /// Hits of all probes that no longer counted, but for those of the probe in a slot since it reached its limit.
    pub(super) fn late(&self, but: Option<usize>) -> u64 {
        let over = but.map_or(0, |slot| self.over_in(slot));
        (0..SLOTS).map(|slot| self.late_in(slot)).sum::<u64>() - over
    }

    /// Hits of what stood in a slot since it had reached its limit.
    fn over_in(&self, slot: usize) -> u64 {
        match self {
            Hits::Uprobes(tables) => tables.totals.get(slot).over.load(Ordering::Relaxed),
            Hits::Breakpoints(_) => 0, // they are taken out while the program stands
        }
    }

    /// Hits since slowpath began of what stood in a slot, that did not count.
    pub(super) fn late_in(&self, slot: usize) -> u64 {
        let late = match self {
            Hits::Uprobes(tables) => tables.totals.get(slot).late.load(Ordering::Relaxed),
            Hits::Breakpoints(_) => 0,
        };
        late + self.over_in(slot)
    }

    /// Waits until a probe reaches its limit, or for this long. Returns whether that can be waited for.
    pub(super) fn wait(&self, at_most: Duration) -> bool {
        match self {
            Hits::Uprobes(tables) => tables.alarm.as_ref().is_some_and(|alarm| alarm.wait(at_most)),
            Hits::Breakpoints(_) => false,
        }
    }

    /// Of a slot in mode [`MODE_LENGTH`](crate::bpf::MODE_LENGTH): hits of its parent up to its first hit and up to its last.
    pub(super) fn of_parent(&self, slot: usize) -> (u64, u64) {
        match self {
            Hits::Uprobes(tables) => {
                let total = tables.totals.get(slot);
                (total.rounds_first.load(Ordering::Relaxed), total.rounds_last.load(Ordering::Relaxed))
            }
            Hits::Breakpoints(breakpoints) => breakpoints.of_parent(slot),
        }
    }

    /// Takes a probe out. What was counted can still be read.
    pub(super) fn close(&mut self, slot: usize, handle: Handle) {
        match self {
            Hits::Uprobes(tables) => {
                // It is hit until the kernel has taken it out.
                let off = Slot { mode: MODE_OFF, generation: handle.1, ..Slot::default() };
                drop(tables.set(slot, off));
                Uprobe::close(handle.0.into_iter().collect());
            }
            Hits::Breakpoints(breakpoints) => breakpoints.close(slot),
        }
    }

    /// Takes in what was hit. Returns entries that reach the session in no other way.
    pub(super) fn drain(&mut self) -> Vec<Event> {
        match self {
            Hits::Uprobes(_) => Vec::new(),
            Hits::Breakpoints(breakpoints) => breakpoints.drain(),
        }
    }

    /// A process has ended.
    pub(super) fn gone(&mut self, pid: u32) {
        if let Hits::Breakpoints(breakpoints) = self {
            breakpoints.gone(pid);
        }
    }
}
