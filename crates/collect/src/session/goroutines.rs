//! Waits of goroutines: probes on Go's scheduler, in processes that are Go's, and the rows of what they report. A probe that is hit often
//! costs more than it tells: then they are taken out for a while.

use super::Session;
use crate::bpf::event::Parked;
use crate::bpf::{Bpf, OnHit};
use crate::clock;
use crate::counter::place;
use crate::counter::uprobe::Uprobe;
use crate::image::Image;
use crate::stacks::Stacks;
use crate::unwind::{AddressSpace, Place};
use crate::world::World;
use slowpath_recording::Tables;
use slowpath_recording::tables::{Park, ParkWindow};
use std::collections::HashMap;
use std::path::PathBuf;

/// The functions that are probed, in the order of the numbers that `bpf/parks.h` gives them.
const FUNCTIONS: [&str; 3] = ["runtime.gopark", "runtime.execute", "runtime.readyWithTime"];
/// What hits may take of the time, at most: as little as would not be noticed. And what one takes, ns: a breakpoint, and the program that
/// runs there, about as long again.
const SHARE: f64 = 0.03;
const HIT_NS: f64 = 2.0 * place::HIT_COST_NS as f64;
/// Putting probes in and out takes some ms: windows are not shorter, nor pauses.
const WINDOW_NS: u64 = 20_000_000;
/// A row of `park_windows` is closed at least so often, so that a recording that is cut short has them.
const ROW_NS: u64 = 1_000_000_000;

/// Where a function is probed.
struct Spot {
    file: PathBuf,
    offset: u64,
}

enum State {
    /// Since when without a pause; since when the next row of `park_windows` is, and how often the probes were hit by then.
    Watched { since: u64, window: u64, hits: u64, probes: Vec<Uprobe> },
    /// Until when, and from when to when it was watched last: events of that may still come.
    Paused { until: u64, last: (u64, u64) },
}

struct Process {
    number: u32,
    spots: Vec<Spot>,
    state: State,
}

impl Process {
    /// Notes until when it was watched.
    fn end(&self, now: u64, tables: &mut Tables) {
        if let State::Watched { window, .. } = self.state {
            tables.park_windows.push(ParkWindow {
                process: self.number,
                start_ns: window,
                end_ns: now.max(window),
            });
        }
    }
}

/// See the file's head.
#[derive(Default)]
pub(super) struct Goroutines {
    on_hit: Option<OnHit>,
    /// By pid; none for those that are not Go's.
    processes: HashMap<u32, Option<Process>>,
}

impl Goroutines {
    /// A process executed another program, or ended.
    pub(super) fn forget(&mut self, pid: u32, time: u64, bpf: Option<&Bpf>, tables: &mut Tables) {
        if let Some(Some(one)) = self.processes.remove(&pid) {
            one.end(time, tables);
            close(one.state);
            if let Some(bpf) = bpf {
                // Nothing to be done if it is gone already.
                let _ = bpf.watch_goroutines(pid, false);
            }
        }
    }

    /// Watches none any more.
    fn end(&mut self, now: u64, bpf: &Bpf, tables: &mut Tables) {
        for pid in self.processes.keys().copied().collect::<Vec<_>>() {
            self.forget(pid, now, Some(bpf), tables);
        }
    }

    /// Whether it is a process of Go's.
    pub(super) fn are_in(&self, pid: u32) -> bool {
        matches!(self.processes.get(&pid), Some(Some(_)))
    }

    /// Whether a wait was watched from its beginning to its end.
    fn saw(&self, park: &Parked) -> bool {
        match self.processes.get(&park.pid) {
            Some(Some(Process { state: State::Watched { since, .. }, .. })) => park.time >= *since,
            Some(Some(Process { state: State::Paused { last: (since, until), .. }, .. })) => {
                park.time >= *since && park.end <= *until
            }
            _ => false,
        }
    }
}

/// Takes probes out: the kernel waits some 100 ms for each, which is for another thread to do.
fn close(state: State) {
    if let State::Watched { probes, .. } = state {
        Uprobe::close(probes);
    }
}

impl Session {
    /// Puts probes into processes that are Go's, and takes out what costs too much.
    pub(super) fn watch_goroutines(&mut self) {
        let Some(bpf) = self.bpf.as_ref().filter(|bpf| bpf.traces) else { return };
        let now = clock::now_ns();
        let watched = &mut self.goroutines;
        // A recording that has grown large has enough of them.
        if self.grain.of_moments() > 1 {
            watched.end(now, bpf, &mut self.writer.tables);
            return;
        }
        for (pid, live) in self.world.processes().filter(|(_, live)| live.executed) {
            let one = watched.processes.entry(pid).or_insert_with(|| {
                let spots = spots(pid, &live.space)?;
                let state = State::Paused { until: 0, last: (0, 0) };
                Some(Process { number: live.row.process, spots, state })
            });
            let Some(one) = one else { continue };
            match &mut one.state {
                State::Paused { until, .. } if now >= *until => {
                    if watched.on_hit.is_none() {
                        watched.on_hit = bpf.of_goroutines().ok();
                    }
                    let Some(on_hit) = &watched.on_hit else { return };
                    let open = |(cookie, spot): (u64, &Spot)| {
                        Uprobe::open(on_hit, pid, &spot.file, spot.offset, cookie).ok()
                    };
                    let counted = bpf.watch_goroutines(pid, true).is_ok();
                    let spots = if counted { &one.spots[..] } else { &[] };
                    let probes: Option<Vec<Uprobe>> = (0..).zip(spots).map(open).collect();
                    let since = clock::now_ns();
                    one.state = match probes.filter(|_| counted) {
                        Some(probes) => State::Watched { since, window: since, hits: 0, probes },
                        None => State::Paused { until: u64::MAX, last: (0, 0) },
                    };
                }
                State::Watched { since, window, hits, .. } => {
                    let (elapsed, so_far) = (now.saturating_sub(*window), bpf.park_hits(pid));
                    let cost = HIT_NS * so_far.saturating_sub(*hits) as f64;
                    // What was saved before is not spent at once.
                    if cost > SHARE * elapsed as f64 && elapsed >= WINDOW_NS {
                        let last = (*since, now);
                        one.end(now, &mut self.writer.tables);
                        let _ = bpf.watch_goroutines(pid, false);
                        let until = now + ((cost / SHARE) as u64).max(WINDOW_NS);
                        close(std::mem::replace(&mut one.state, State::Paused { until, last }));
                    } else if elapsed >= ROW_NS {
                        (*window, *hits) = (now, so_far);
                        let row = ParkWindow { process: one.number, start_ns: now - elapsed, end_ns: now };
                        self.writer.tables.park_windows.push(row);
                    }
                }
                State::Paused { .. } => {}
            }
        }
    }

    /// Notes until when goroutines were watched.
    pub(super) fn stop_watching_goroutines(&mut self) {
        if let Some(bpf) = &self.bpf {
            self.goroutines.end(clock::now_ns(), bpf, &mut self.writer.tables);
        }
    }

    /// Writes the row of a wait.
    pub(super) fn parked(&mut self, park: &Parked) {
        if self.goroutines.saw(park) {
            write(park, &mut self.world, &mut self.stacks, &mut self.writer.tables);
        }
    }
}

/// Where the functions of Go's scheduler are in a process; none if it is not Go's, or has none where a probe does no harm.
fn spots(pid: u32, space: &AddressSpace) -> Option<Vec<Spot>> {
    let mapped = space.all().find(|mapped| mapped.image.as_ref().is_some_and(|image| image.go))?;
    let image: &Image = mapped.image.as_ref()?;
    let file = mapped.file(pid, image);
    let spot = |name: &&str| {
        let functions = image.functions()?;
        let start = functions.start_of(name)?;
        let end = functions.containing(start)?.end;
        let at = place::entry(image.code(start, (end - start) as usize)?, start, true)?;
        // Registers and the return address must be as they were at the entry.
        let offset = image.offset_of_svma(start)? + at.offset;
        (at.sp_adjust == 0).then(|| Spot { file: file.clone(), offset })
    };
    FUNCTIONS.iter().map(spot).collect()
}

fn write(park: &Parked, world: &mut World, stacks: &mut Stacks, tables: &mut Tables) {
    let Some(live) = world.process(park.pid) else { return };
    let process = live.row.process;
    let mut number = |world: &mut World, addresses: &[u64]| {
        let live = world.process(park.pid)?;
        let places: Vec<Place> = addresses.iter().filter_map(|back| live.space.caller(*back)).collect();
        stacks.of_places(&places, |module| world.image(module), tables)
    };
    let stack = number(world, &park.stack);
    let waker_stack = number(world, &park.waker_stack);
    tables.parks.push(Park {
        time_ns: park.time,
        end_ns: park.end,
        process,
        goroutine: park.goroutine,
        object: park.object,
        stack,
        waker: (park.waker != 0).then_some(park.waker),
        waker_stack,
    });
}
