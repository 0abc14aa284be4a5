//! When a stretch is looked at, and of which thread.

use super::stop::{Stopped, state};
use super::{Code, Stretch, Watched, stretch};
use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// The first stretch is looked at after this: programs read their files first.
const FIRST: Duration = Duration::from_millis(120);
/// From one stretch to the next passes so many times what it took, and at least this, so that stretches are of different parts of the run.
const PAUSE: f64 = 24.0;
const LEAST_PAUSE: Duration = Duration::from_millis(80);
/// So many stretches are short.
const SHORT: u32 = 4;
/// So many stretches in a row may show nothing; then they are looked at more seldom, by this factor.
const IN_VAIN: u32 = 6;
const SELDOM: f64 = 4.0;
/// A look is given up after this: the thread that does it ends by itself soon.
const PATIENCE: Duration = Duration::from_millis(500);
/// A thread that stands where nothing can be looked at is looked at so often, if that took but so long each time, after so long.
const TRIES: u32 = 8;
const BRIEFLY: Duration = Duration::from_millis(2);
const A_LITTLE: Duration = Duration::from_micros(50);
/// How often it is looked whether one is due.
const TURN: Duration = Duration::from_millis(5);

/// The processes that are worth a look, and their code.
#[derive(Clone, Default)]
pub(crate) struct Wanted {
    codes: Arc<Mutex<HashMap<u32, Arc<Code>>>>,
    watched: Arc<Mutex<HashMap<u32, Vec<Watched>>>>,
}

impl Wanted {
    /// The processes that run most.
    pub(crate) fn set(&self, processes: HashMap<u32, Arc<Code>>) {
        *self.codes.lock().unwrap_or_else(PoisonError::into_inner) = processes;
    }

    /// A loop of a process is to be watched.
    pub(crate) fn watch(&self, pid: u32, watched: Watched) {
        let mut all = self.watched.lock().unwrap_or_else(PoisonError::into_inner);
        all.entry(pid).or_default().push(watched);
    }

    /// The loops of processes for which this does not hold are no more.
    pub(crate) fn keep(&self, mut lives: impl FnMut(u32) -> bool) {
        self.watched.lock().unwrap_or_else(PoisonError::into_inner).retain(|pid, _| lives(*pid));
    }

    /// The loops of a process that are watched.
    pub(crate) fn watched(&self, pid: u32) -> Vec<Watched> {
        let all = self.watched.lock().unwrap_or_else(PoisonError::into_inner);
        all.get(&pid).cloned().unwrap_or_default()
    }

    /// The code of a process, if it is worth a look.
    pub(crate) fn code(&self, pid: u32) -> Option<Arc<Code>> {
        self.codes.lock().unwrap_or_else(PoisonError::into_inner).get(&pid).cloned()
    }

    fn all(&self) -> Vec<Arc<Code>> {
        self.codes.lock().unwrap_or_else(PoisonError::into_inner).values().cloned().collect()
    }
}

/// How much stretches may take.
pub(crate) struct Budget {
    due: Instant,
    in_vain: u32,
    seen: u32,
}

impl Budget {
    pub(crate) fn new() -> Budget {
        Budget { due: Instant::now() + FIRST, in_vain: 0, seen: 0 }
    }

    pub(crate) fn is_due(&self) -> bool {
        Instant::now() >= self.due
    }

    /// Whether the next is one of the first.
    pub(crate) fn is_first(&self) -> bool {
        self.seen < SHORT
    }

    /// One took so long.
    pub(crate) fn took(&mut self, took: Duration, stretch: Option<&Stretch>) {
        // One that came to nothing says nothing.
        if let Some(stretch) = stretch {
            self.seen += 1;
            let showed = stretch.functions.iter().any(|(_, of)| of.again > 0)
                || stretch.texts.iter().any(|(_, of)| of.shows())
                || stretch.copies.iter().any(|(_, of)| of.shows());
            self.in_vain = if showed { 0 } else { self.in_vain + 1 };
        }
        let times = if self.in_vain > IN_VAIN { SELDOM * PAUSE } else { PAUSE };
        let least = if stretch.is_some() { LEAST_PAUSE } else { TURN };
        self.due = Instant::now() + took.mul_f64(times).max(least);
    }
}

/// Looks at threads that nobody traces.
pub(crate) struct Looks {
    end: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Looks {
    /// Starts a thread that looks, and sends what it sees.
    pub(crate) fn start(wanted: Wanted, tell: Sender<Stretch>) -> std::io::Result<Looks> {
        let end = Arc::new(AtomicBool::new(false));
        let ends = end.clone();
        let thread = std::thread::Builder::new().spawn(move || {
            let mut budget = Budget::new();
            while !ends.load(Ordering::Relaxed) {
                std::thread::sleep(TURN);
                if !budget.is_due() {
                    continue;
                }
                for code in wanted.all() {
                    let Some(tid) = running(code.pid()) else { continue };
                    let began = Instant::now();
                    let watched = wanted.watched(code.pid());
                    let seen = look_apart(code, tid, budget.is_first(), watched);
                    budget.took(began.elapsed(), seen.as_ref());
                    // Whoever listens may have ended.
                    if let Some(seen) = seen {
                        let _ = tell.send(seen);
                    }
                    break;
                }
            }
        })?;
        Ok(Looks { end, thread: Some(thread) })
    }
}

impl Drop for Looks {
    fn drop(&mut self) {
        self.end.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join(); // a bug of ours ends it alone
        }
    }
}

/// Looks at a thread in a thread of its own: when that ends the kernel lets go whatever it still holds, as a thread that was killed while it stood.
fn look_apart(code: Arc<Code>, tid: u32, is_first: bool, watched: Vec<Watched>) -> Option<Stretch> {
    let (say, said) = channel();
    std::thread::Builder::new()
        .spawn(move || {
            let _ = say.send(look(&code, tid, is_first, &watched)); // nobody may listen any more
        })
        .ok()?;
    said.recv_timeout(PATIENCE).ok()?
}

fn look(code: &Code, tid: u32, is_first: bool, watched: &[Watched]) -> Option<Stretch> {
    // One that stands within what is done here, or within what is not known, is let go on a little.
    for _ in 0..TRIES {
        // It may have begun to wait meanwhile.
        let call = std::fs::read_to_string(format!("/proc/{tid}/syscall"));
        if !call.is_ok_and(|call| call.starts_with("running")) {
            return None;
        }
        let stopped = Stopped::new(tid)?;
        let since = Instant::now();
        let seen = stretch(code, tid, stopped.registers().ok()?, since, is_first, watched);
        if seen.is_some() || since.elapsed() > BRIEFLY {
            return seen;
        }
        drop(stopped);
        std::thread::sleep(A_LITTLE);
    }
    None
}

/// The thread of a process that runs now and has run longest.
fn running(pid: u32) -> Option<u32> {
    let tasks = std::fs::read_dir(format!("/proc/{pid}/task")).ok()?;
    let tids = tasks.flatten().filter_map(|task| task.file_name().to_str()?.parse::<u32>().ok());
    let ran = |tid: u32| {
        let stat = std::fs::read_to_string(format!("/proc/{pid}/task/{tid}/stat")).ok()?;
        let ticks: u64 = stat.rsplit_once(')')?.1.split_whitespace().nth(11)?.parse().ok()?;
        (state(&stat)? == 'R').then_some((ticks, tid))
    };
    tids.take(MOST_THREADS).filter_map(ran).max().map(|(_, tid)| tid)
}

/// Threads of a process that are looked at.
const MOST_THREADS: usize = 64;
