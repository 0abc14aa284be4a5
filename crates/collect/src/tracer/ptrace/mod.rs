//! System calls of the target without rights: ptrace, stopping only where a seccomp filter says so.
//!
//! - `filter` — which calls stop.
//! - `watch` — the loop over the stops.
//! - `call` — one call: its place, its path, the event it becomes.
//! - `facts` — what `/proc` reports about a stopped thread.
//! - `reference` — a child that shows what tracing takes.
//! - `sys` — the kernel's interface.
//!
//! The tracer is a thread of its own, since only the thread that seized a process hears of its stops. It reports the same
//! events as the BPF object. What a stop costs is measured on a small child before the target runs ([`measure`])
//! and on the target's own threads while it does, and is taken off each call's time.

mod call;
mod facts;
mod filter;
mod reference;
mod sys;
mod watch;

pub(crate) use filter::Filter;

use crate::bpf::event::Event;
use crate::launch::Ended;
use crate::{Error, crash};
use reference::{Reference, median};
use std::io;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, channel};
use std::sync::{Arc, OnceLock};

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
}

/// What tracing a run took.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Taken {
    pub stops: u64,
    /// Elapsed and CPU time, estimated, ns.
    pub wall_ns: u64,
    pub cpu_ns: u64,
    /// Processes that outlived the command and were ended.
    pub left: u64,
}

impl Taken {
    /// Adds another run's.
    pub(crate) fn add(&mut self, other: Taken) {
        self.stops += other.stops;
        self.wall_ns += other.wall_ns;
        self.cpu_ns += other.cpu_ns;
        self.left += other.left;
    }
}

/// Messages between the tracer's thread and the others.
#[derive(Default)]
struct Shared {
    stops: AtomicU64,
    /// What they took, estimated: elapsed and CPU time, ns.
    wall_ns: AtomicU64,
    cpu_ns: AtomicU64,
    /// Processes that were alive when tracing ended.
    left: AtomicU64,
    /// Do not wait for what the command leaves behind.
    hurry: AtomicBool,
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
    pub(crate) fn seize(pid: u32, alone: bool, floor: Floor) -> io::Result<Ptrace> {
        let shared = Arc::new(Shared::default());
        let (tell, events) = channel();
        let (say, seized) = channel();
        let of_thread = shared.clone();
        let thread = std::thread::Builder::new().name("tracer".to_owned()).spawn(move || {
            let done = sys::seize(pid);
            let go_on = done.is_ok();
            crash::tracing();
            if say.send(done).is_ok() && go_on {
                watch::Watch::new(pid, alone, floor, tell, of_thread).run();
            }
        })?;
        seized.recv().unwrap_or_else(|_| Err(io::Error::other("the tracer thread ended")))?;
        Ok(Ptrace { thread: Some(thread), events, shared, alone })
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

    /// Does not wait for what the command leaves behind.
    pub(crate) fn hurry(&self) {
        self.shared.hurry.store(true, Ordering::Relaxed);
    }

    /// Waits for the tracer's end.
    pub(crate) fn finish(&mut self) -> Taken {
        if let Some(thread) = self.thread.take() {
            let _ = thread.join(); // had it panicked, the kernel would have ended what it traced
        }
        let read = |of: &AtomicU64| of.load(Ordering::Relaxed);
        let shared = &self.shared;
        Taken {
            stops: read(&shared.stops),
            wall_ns: read(&shared.wall_ns),
            cpu_ns: read(&shared.cpu_ns),
            left: read(&shared.left),
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
    let filter = Filter::new();
    let reference = Reference::fork(&filter)?;
    if let Err(error) = sys::seize(reference.pid) {
        let pid = reference.pid;
        drop(reference); // which ends the child
        // SAFETY: waits for our own child; no status is asked for.
        unsafe { libc::waitpid(pid as i32, std::ptr::null_mut(), libc::__WALL) };
        return Err(Error::system("trace a program of one's own (ptrace)")(error));
    }
    let (tell, _events) = channel();
    let mut watch = watch::Watch::new(0, false, Floor::default(), tell, Arc::new(Shared::default()));
    let (mut walls, mut cpus, mut floors) = (Vec::new(), Vec::new(), Vec::new());
    watch.refer(reference);
    for _ in 0..BATCHES {
        let none = || io::Error::other("no call was seen (seccomp)");
        let (floor, took) =
            watch.batch().ok_or_else(none).map_err(Error::system("trace a program of one's own"))?;
        floors.push(floor);
        walls.push(took[0]);
        cpus.push(took[1]);
    }
    watch.stop_referring();
    let stops = 2 * reference::BATCH as u64;
    Ok(Cost {
        wall_ns: median(walls).unwrap_or(0) / stops,
        cpu_ns: median(cpus).unwrap_or(0) / stops,
        floor: Floor {
            cpu_ns: median(floors.iter().map(|floor| floor.cpu_ns).collect()).unwrap_or(0),
            asleep_ns: median(floors.iter().map(|floor| floor.asleep_ns).collect()).unwrap_or(0),
        },
    })
}
