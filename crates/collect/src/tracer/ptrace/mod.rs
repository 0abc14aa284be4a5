//! System calls of the target without rights: ptrace, in windows, so that it takes little of the run.
//!
//! - `budget` — how much it may take.
//! - `watch` — the loop over the stops, and when a thread's calls stop it.
//! - `window` — what was seen in a window, and what it stands for.
//! - `wanted` — which calls become events.
//! - `met` — calls between windows in which a thread was met, and what they stand for.
//! - `call` — one call: its place, its path, the event it becomes.
//! - `facts` — what `/proc` reports about a stopped thread.
//! - `reference` — a child that shows what tracing takes.
//! - `sys` — the kernel's interface.
//!
//! The tracer is a thread of its own, since only the thread that seized a process hears of its stops. It reports the same
//! events as the BPF object. What a stop costs is measured on a small child before the target runs ([`measure`])
//! and on the target's own threads while it does, and is taken off each call's time.

mod budget;
mod call;
mod facts;
mod met;
mod reference;
mod sys;
mod wanted;
mod watch;
mod window;

use crate::ahead::{Stretch, Wanted};
use crate::bpf::event::Event;
use crate::counter::breakpoint::notes::Notes;
use crate::launch::Ended;
use crate::{Error, crash};
use reference::{Reference, median};
use std::io;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, OnceLock};
pub(crate) use watch::cut_short::goes_on;
pub(crate) use watch::sampled::RATE as SAMPLES;
use watch::sampled::Sampling;

/// What a traced call takes besides its own work, ns: of the thread's CPU time, and not running.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Floor {
    pub cpu_ns: u64,
    pub asleep_ns: u64,
}

/// What one stop takes: elapsed time, and CPU time of the thread that stops.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Cost {
    pub wall_ns: u64,
    pub cpu_ns: u64,
    pub floor: Floor,
    /// What a short call takes where it is not traced.
    pub bare_ns: u64,
    /// CPU time of entering a call and stopping there, more than of a stop elsewhere, ns.
    pub entry_ns: i64,
}

/// What tracing a run took.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Taken {
    pub stops: u64,
    /// Elapsed and CPU time, estimated, ns.
    pub wall_ns: u64,
    pub cpu_ns: u64,
    /// Of the elapsed time what stops at calls took, and those at random moments, ns: the others report forks, programs and exits.
    pub calls_ns: u64,
    pub samples_ns: u64,
    /// CPU time of the threads themselves while their calls were traced, and while they were not, ns.
    pub traced_ns: u64,
    pub missed_ns: u64,
}

impl Taken {
    /// Adds another run's.
    pub(crate) fn add(&mut self, other: Taken) {
        self.stops += other.stops;
        self.wall_ns += other.wall_ns;
        self.cpu_ns += other.cpu_ns;
        self.calls_ns += other.calls_ns;
        self.samples_ns += other.samples_ns;
        self.traced_ns += other.traced_ns;
        self.missed_ns += other.missed_ns;
    }

    /// The share of the threads' CPU time in which their calls were traced.
    pub(crate) fn share(&self) -> f64 {
        match self.missed_ns {
            0 => 1.0,
            missed => self.traced_ns as f64 / (self.traced_ns + missed) as f64,
        }
    }
}

/// Messages between the tracer's thread and the others.
#[derive(Default)]
struct Shared {
    stops: AtomicU64,
    /// What they took, estimated: elapsed and CPU time, ns.
    calls_ns: AtomicU64,
    samples_ns: AtomicU64,
    wall_ns: AtomicU64,
    cpu_ns: AtomicU64,
    traced_ns: AtomicU64,
    missed_ns: AtomicU64,
    /// The tracer looks at least now and then whether it is to let go.
    ticking: AtomicBool,
    /// It is to end although the command has not.
    let_go: AtomicBool,
    ended: OnceLock<Ended>,
}

impl Shared {
    /// The command has ended.
    fn end(&self, how: Ended) {
        crash::ended(how.exit);
        let _ = self.ended.set(how);
    }
}

/// The tracer of one run of the command.
pub(crate) struct Ptrace {
    thread: Option<std::thread::JoinHandle<()>>,
    events: Receiver<Event>,
    shared: Arc<Shared>,
    /// Nobody else reports forks, programs and mappings.
    pub alone: bool,
}

impl Ptrace {
    /// Seizes a process that waits before its exec.
    ///
    /// `alone`: nobody else reports forks, programs and mappings, or takes samples; then it does, with so many bytes of stack.
    /// `noting`: what it notes at hits of breakpoints, and what a hit takes, ns. `ahead`: which processes are worth a look ahead, and where to tell what was seen.
    pub(crate) fn seize(
        pid: u32,
        alone: Option<u32>,
        cost: Cost,
        noting: Option<(Arc<Notes>, u64)>,
        ahead: Option<(Wanted, Sender<Stretch>)>,
    ) -> io::Result<Ptrace> {
        let shared = Arc::new(Shared::default());
        let (tell, events) = channel();
        let (say, seized) = channel();
        let of_thread = shared.clone();
        let thread = std::thread::Builder::new().name("tracer".to_owned()).spawn(move || {
            // It stops when it has been let go: a window begins with its first call.
            let done = sys::seize(pid).and_then(|()| sys::interrupt(pid));
            let go_on = done.is_ok();
            crash::tracing();
            if say.send(done).is_ok() && go_on {
                let mut watch = watch::Watch::new(pid, alone.is_some(), cost, tell, of_thread);
                watch.sampling = Some(Sampling::new(alone));
                watch.noting = noting;
                watch.ahead = ahead.map(|(wanted, tell)| watch::ahead::Ahead::new(wanted, tell));
                watch.run();
            }
        })?;
        seized.recv().unwrap_or_else(|_| Err(io::Error::other("the tracer thread ended")))?;
        Ok(Ptrace { thread: Some(thread), events, shared, alone: alone.is_some() })
    }

    /// Moves the events that came since the last call to `into`.
    pub(crate) fn drain(&self, into: &mut Vec<Event>) {
        into.extend(self.events.try_iter());
    }

    /// How the command ended, once it has; the error if that will never be known.
    pub(crate) fn ended(&self) -> io::Result<Option<Ended>> {
        let over = self.thread.as_ref().is_none_or(|thread| thread.is_finished());
        match self.shared.ended.get() {
            None if over => Err(io::Error::other("the tracer thread ended")),
            ended => Ok(ended.copied()),
        }
    }

    /// Lets the command go, if it has not ended.
    pub(crate) fn let_go(&self) {
        self.shared.let_go.store(true, Ordering::Relaxed);
    }

    /// Waits for the tracer's end.
    pub(crate) fn finish(&mut self) -> Taken {
        let waits = self.shared.ended.get().is_some() || self.shared.ticking.load(Ordering::Relaxed);
        if let Some(thread) = self.thread.take().filter(|thread| waits || thread.is_finished()) {
            let _ = thread.join(); // had it panicked, the kernel would have let go what it traced
        }
        let read = |of: &AtomicU64| of.load(Ordering::Relaxed);
        let shared = &self.shared;
        Taken {
            stops: read(&shared.stops),
            wall_ns: read(&shared.wall_ns),
            cpu_ns: read(&shared.cpu_ns),
            calls_ns: read(&shared.calls_ns),
            samples_ns: read(&shared.samples_ns),
            traced_ns: read(&shared.traced_ns),
            missed_ns: read(&shared.missed_ns),
        }
    }
}

/// Batches of calls, of which the median counts: a busy machine disturbs some of them.
const BATCHES: usize = 7;

/// Measures what a stop takes here, on a child that does little else. The error if this machine does not let us trace.
pub(crate) fn measure() -> Result<Cost, Error> {
    let (say, said) = channel();
    let thread = std::thread::Builder::new().name("measure".to_owned()).spawn(move || {
        let _ = say.send(measured()); // nobody else drops the other end
    });
    let thread = thread.map_err(Error::system("start a thread"))?;
    let ended = || Error::system("measure the tracer")(io::Error::other("its thread ended"));
    let cost = said.recv().unwrap_or_else(|_| Err(ended()));
    let _ = thread.join(); // it has said all; where few may run it must be gone before the next is started
    cost
}

fn measured() -> Result<Cost, Error> {
    let reference = Reference::fork()?;
    let bare_ns = reference.bare_ns;
    if let Err(error) = sys::seize(reference.pid).and_then(|()| sys::interrupt(reference.pid)) {
        let pid = reference.pid;
        drop(reference); // which ends the child
        // SAFETY: waits for our own child; no status is asked for.
        unsafe { libc::waitpid(pid as i32, std::ptr::null_mut(), libc::__WALL) };
        return Err(Error::system("trace a program of one's own (ptrace)")(error));
    }
    let (tell, _events) = channel();
    let mut watch = watch::Watch::new(0, false, Cost::default(), tell, Arc::new(Shared::default()));
    let (mut walls, mut cpus, mut floors) = (Vec::new(), Vec::new(), Vec::new());
    watch.refer(reference);
    for _ in 0..BATCHES {
        let none = || io::Error::other("no call was seen");
        let Some((floor, took)) = watch.batch() else {
            watch.stop_referring();
            return Err(Error::system("trace a program of one's own")(none()));
        };
        floors.push(floor);
        walls.push(took[0]);
        cpus.push(took[1]);
    }
    let entry_ns = watch.entries().unwrap_or(0);
    watch.stop_referring();
    let cpu_ns = median(floors.iter().map(|floor| floor.cpu_ns).collect()).unwrap_or(0);
    let stops = 2 * (reference::BATCH as u64 + 1); // and one to read a clock
    Ok(Cost {
        wall_ns: median(walls).unwrap_or(0) / stops,
        cpu_ns: (median(cpus).unwrap_or(0) / stops).saturating_sub(bare_ns / 2),
        floor: Floor {
            cpu_ns,
            asleep_ns: median(floors.iter().map(|floor| floor.asleep_ns).collect()).unwrap_or(0),
        },
        bare_ns,
        entry_ns,
    })
}
