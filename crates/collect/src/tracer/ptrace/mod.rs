//! System calls of the target without rights: ptrace, stopping only where a seccomp filter says so.
//!
//! - `filter` — which calls stop.
//! - `watch` — the loop over the stops.
//! - `facts` — what `/proc` tells of a stopped thread.
//! - `sys` — the kernel's interface.
//!
//! The tracer is a thread of its own, since only the thread that seized a process hears of its stops. It tells the same
//! events as the BPF object. What a stop costs is measured on a small child before the target runs ([`measure`]), and is
//! taken off each call's time.

mod facts;
mod filter;
mod sys;
mod watch;

pub(crate) use filter::Filter;

use crate::Error;
use crate::bpf::event::Event;
use crate::launch::{self, Ended};
use std::fs::File;
use std::io::{self, Read, Write};
use std::os::fd::AsRawFd;
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

/// What the tracer's thread and the others tell each other.
#[derive(Default)]
struct Shared {
    stops: AtomicU64,
    /// Processes that were alive when tracing ended.
    left: AtomicU64,
    /// Do not wait for what the command leaves behind.
    hurry: AtomicBool,
    ended: OnceLock<Ended>,
}

/// The tracer of one run of the command.
pub(crate) struct Ptrace {
    thread: Option<std::thread::JoinHandle<()>>,
    events: Receiver<Event>,
    shared: Arc<Shared>,
    /// Nobody else tells of forks, programs and mappings.
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
            if say.send(done).is_ok() && go_on {
                watch::Watch::new(pid, alone, floor, tell, of_thread).run();
            }
        })?;
        seized.recv().unwrap_or_else(|_| Err(io::Error::other("the tracer's thread ended")))?;
        Ok(Ptrace { thread: Some(thread), events, shared, alone })
    }

    /// Moves the events that came since the last call to `into`.
    pub(crate) fn drain(&self, into: &mut Vec<Event>) {
        into.extend(self.events.try_iter());
    }

    /// How the command ended, once it has.
    pub(crate) fn ended(&self) -> Option<Ended> {
        self.shared.ended.get().copied()
    }

    /// Does not wait for what the command leaves behind.
    pub(crate) fn hurry(&self) {
        self.shared.hurry.store(true, Ordering::Relaxed);
    }

    /// Waits for the tracer's end. Returns the number of stops, and of processes that outlived the command and were ended.
    pub(crate) fn finish(&mut self) -> (u64, u64) {
        if let Some(thread) = self.thread.take() {
            let _ = thread.join(); // had it panicked, the kernel would have ended what it traced
        }
        (self.shared.stops.load(Ordering::Relaxed), self.shared.left.load(Ordering::Relaxed))
    }
}

/// Calls in a batch, and batches, of which the median counts: a busy machine disturbs some of them.
const BATCH: usize = 40;
const BATCHES: usize = 7;

/// Measures what a stop takes here, on a child that does little else. The error if this machine does not let us trace.
pub(crate) fn measure() -> Result<Cost, Error> {
    let filter = Filter::new();
    let (wait, go) = launch::pipe().map_err(Error::system("make a pipe"))?;
    let (results, tell) = launch::pipe().map_err(Error::system("make a pipe"))?;
    // SAFETY: the child calls only what may be called after fork, on memory prepared before.
    let pid = match unsafe { libc::fork() } {
        -1 => return Err(Error::system("fork")(io::Error::last_os_error())),
        0 => {
            // SAFETY: as above; `_exit` ends the child without running anything of the parent's.
            unsafe {
                libc::close(go.as_raw_fd());
                measured(&filter, wait.as_raw_fd(), tell.as_raw_fd());
                libc::_exit(0)
            }
        }
        pid => pid as u32,
    };
    drop((wait, tell));
    let mut tracer = match Ptrace::seize(pid, false, Floor::default()) {
        Ok(tracer) => tracer,
        Err(error) => {
            drop(go); // which ends the child
            // SAFETY: waits for our own child; no status is asked for.
            unsafe { libc::waitpid(pid as i32, std::ptr::null_mut(), 0) };
            return Err(Error::system("trace a program of one's own (ptrace)")(error));
        }
    };
    File::from(go).write_all(b"!").map_err(Error::system("measure the tracer"))?;
    let mut bytes = Vec::new();
    File::from(results).read_to_end(&mut bytes).map_err(Error::system("measure the tracer"))?;
    tracer.finish();
    let mut events = Vec::new();
    tracer.drain(&mut events);
    let word = |bytes: &[u8]| u64::from_ne_bytes(bytes.try_into().unwrap_or_default());
    let (walls, cpus) = bytes.chunks_exact(16).map(|pair| (word(&pair[..8]), word(&pair[8..]))).unzip();
    let (mut run, mut asleep) = (Vec::new(), Vec::new());
    for event in &events {
        if let Event::Syscall(call) = event {
            run.push((call.end - call.time).saturating_sub(call.blocked));
            asleep.push(call.blocked);
        }
    }
    let stops = 2 * BATCH as u64;
    let none =
        || Error::system("trace a program of one's own (seccomp)")(io::Error::other("nothing was seen"));
    Ok(Cost {
        wall_ns: median(walls).ok_or_else(none)? / stops,
        cpu_ns: median(cpus).ok_or_else(none)? / stops,
        floor: Floor { cpu_ns: median(run).ok_or_else(none)?, asleep_ns: median(asleep).ok_or_else(none)? },
    })
}

fn median(mut values: Vec<u64>) -> Option<u64> {
    values.sort_unstable();
    values.get(values.len() / 2).copied()
}

/// Runs in the measured child: batches of calls that do nothing, the elapsed and CPU time of each batch told.
///
/// # Safety
/// Only after fork.
unsafe fn measured(filter: &Filter, wait: i32, tell: i32) {
    let now = |clock| {
        let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
        // SAFETY: `time` is a valid timespec.
        unsafe { libc::clock_gettime(clock, &mut time) };
        time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
    };
    let both = || [now(libc::CLOCK_MONOTONIC), now(libc::CLOCK_THREAD_CPUTIME_ID)];
    let mut byte = 0u8;
    // SAFETY: system calls on our own descriptors and memory; access fails on its null pointer.
    unsafe {
        if libc::read(wait, (&raw mut byte).cast(), 1) != 1 || filter.install().is_err() {
            return;
        }
        for _ in 0..BATCHES {
            let before = both();
            for _ in 0..BATCH {
                libc::syscall(libc::SYS_access, std::ptr::null::<libc::c_char>(), 0);
            }
            let after = both();
            let took = [after[0] - before[0], after[1] - before[1]];
            libc::write(tell, took.as_ptr().cast(), 16);
        }
    }
}
