//! Goroutines as threads: a goroutine that waits leaves its thread to another one, so that the calls of a thread have no order that says
//! anything. Each goroutine that waited becomes a thread of its own, with the calls that it made; a wait for a file or a socket becomes a poll, a
//! sleep one of the kernel's. So all that is known of threads holds for goroutines.
//!
//! Waits for locks are `causes::lock_contention`'s, those for other goroutines are left as they are.

use crate::Evidence;
use slowpath_recording::Recording;
use slowpath_recording::tables::{Syscall, Thread};
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

const POLL: u32 = 7;
const NANOSLEEP: u32 = 35;
/// The timeout of a poll that waits for as long as it takes.
const FOR_EVER: u64 = u32::MAX as u64;
/// The function of Go's library that waits for a file or a socket, and the one that sleeps.
const WAITS_FOR_IO: &str = "internal/poll.runtime_pollWait";
const SLEEPS: &str = "time.Sleep";
/// Frames, from the innermost on, among which these are: gopark's callers.
const INNER: usize = 6;

/// The name of a thread that is a goroutine.
const NAME: &str = "goroutine";

/// Whether a stack is one of Go's runtime at work for itself: its threads sleep while they look for goroutines to run. `own` is the program's function on
/// it.
pub(crate) fn is_of_runtime(evidence: &Evidence<'_>, stack: Option<u32>, own: Option<u32>) -> bool {
    let of_go = |stack| {
        let functions = evidence.locations(stack).filter_map(|location| evidence.function_at(location));
        functions.into_iter().any(|function| evidence.name(function).starts_with("runtime."))
    };
    own.is_none_or(|own| evidence.name(own).starts_with("runtime/")) && stack.is_some_and(of_go)
}

/// Whether a thread of the changed recording is one.
pub(crate) fn is_one(thread: &Thread) -> bool {
    thread.tid == 0 && thread.name == NAME
}

/// Share of the time from the first window to the last in which waits must have been recorded, for the calls of goroutines to be in order.
const WHOLE: f64 = 0.95;
/// A wait stands for so many at most: watching is paused for longer only where next to nothing was seen.
const MOST: f64 = 20.0;

/// When the waits of a process's goroutines were recorded.
pub(crate) struct Watched {
    /// From, to, and how many waits one stands for that ended in it: a pause behind it was as long as what was seen in it was dear.
    windows: Vec<(u64, u64, f64)>,
}

impl Watched {
    /// None if they were not.
    pub(crate) fn of(recording: &Recording, process: u32) -> Option<Watched> {
        let of_it = recording.tables.park_windows.iter().filter(|window| window.process == process);
        let mut rows: Vec<(u64, u64)> = of_it.map(|window| (window.start_ns, window.end_ns)).collect();
        rows.sort_unstable();
        let next = rows.iter().skip(1).map(|(start, _)| Some(*start)).chain([None]);
        let window = |((start, end), next): (&(u64, u64), Option<u64>)| {
            let lasts = (end - start).max(1) as f64;
            let until = next.map_or(*end, |next| next.max(*end));
            (*start, *end, ((until - start) as f64 / lasts).clamp(1.0, MOST))
        };
        let windows: Vec<_> = rows.iter().zip(next).map(window).collect();
        (!windows.is_empty()).then_some(Watched { windows })
    }

    /// How many waits one stands for that ended then.
    pub(crate) fn times(&self, end_ns: u64) -> f64 {
        let before = self.windows.partition_point(|(start, ..)| *start <= end_ns);
        before.checked_sub(1).map_or(1.0, |at| self.windows[at].2)
    }

    /// Hardly any can be missing.
    pub(crate) fn is_whole(&self) -> bool {
        let sum: u64 = self.windows.iter().map(|(start, end, _)| end - start).sum();
        let first = self.windows.first().map_or(0, |(start, ..)| *start);
        let last = self.windows.last().map_or(0, |(_, end, _)| *end);
        sum as f64 >= WHOLE * last.saturating_sub(first) as f64
    }
}

/// The recording as if each goroutine were a thread; as it is, where no goroutine waited, or not all waits were recorded.
pub(crate) fn as_threads(recording: &Recording) -> Cow<'_, Recording> {
    let whole = |process: u32| Watched::of(recording, process).is_some_and(|watched| watched.is_whole());
    let processes: BTreeSet<u32> = recording.tables.parks.iter().map(|park| park.process).collect();
    let processes: BTreeSet<u32> = processes.into_iter().filter(|process| whole(*process)).collect();
    if processes.is_empty() {
        return Cow::Borrowed(recording);
    }
    let mut changed = recording.clone();
    let tables = &mut changed.tables;
    let mut lives: BTreeMap<(u32, u64), (u64, u64)> = BTreeMap::new();
    for park in tables.parks.iter().filter(|park| processes.contains(&park.process)) {
        let life = lives.entry((park.process, park.goroutine)).or_insert((park.time_ns, park.end_ns));
        *life = (life.0.min(park.time_ns), life.1.max(park.end_ns));
    }
    for row in &tables.syscalls {
        let process = tables.threads[row.thread as usize].process;
        if let Some(life) = row.goroutine.and_then(|goroutine| lives.get_mut(&(process, goroutine))) {
            *life = (life.0.min(row.time_ns), life.1.max(row.end_ns));
        }
    }
    let mut numbers: BTreeMap<(u32, u64), u32> = BTreeMap::new();
    for ((process, goroutine), (start_ns, end_ns)) in lives {
        let thread = tables.threads.len() as u32;
        numbers.insert((process, goroutine), thread);
        tables.threads.push(Thread {
            thread,
            process,
            tid: 0,
            name: NAME.to_owned(),
            start_ns,
            end_ns: Some(end_ns),
            cpu_ns: None,
        });
    }
    for row in &mut tables.syscalls {
        let process = tables.threads[row.thread as usize].process;
        if let Some(thread) = row.goroutine.and_then(|goroutine| numbers.get(&(process, goroutine))) {
            row.thread = *thread;
        }
    }
    let mut kinds: BTreeMap<u32, Option<(u32, u64, i64)>> = BTreeMap::new();
    for park in &recording.tables.parks {
        let Some(stack) = park.stack else { continue };
        let Some((number, argument, result)) = *kinds.entry(stack).or_insert_with(|| kind(recording, stack))
        else {
            continue;
        };
        let Some(thread) = numbers.get(&(park.process, park.goroutine)) else { continue };
        let waited = park.end_ns - park.time_ns;
        tables.syscalls.push(Syscall {
            time_ns: park.time_ns,
            end_ns: park.end_ns,
            thread: *thread,
            number,
            compat: false,
            count: 1,
            duration_ns: waited,
            blocked_ns: waited,
            result,
            bytes: 0,
            argument,
            file: None,
            sync: false,
            stack: Some(stack),
            goroutine: Some(park.goroutine),
            met: None,
        });
    }
    tables.syscalls.sort_by_key(|row| row.time_ns);
    Cow::Owned(changed)
}

/// The call that a wait with this stack is like: number, argument and result.
fn kind(recording: &Recording, stack: u32) -> Option<(u32, u64, i64)> {
    let tables = &recording.tables;
    let mut at = Some(stack);
    for _ in 0..INNER {
        let row = &tables.stacks[at? as usize];
        for frame in recording.frames_of(row.location) {
            match tables.functions[frame.function as usize].name.as_str() {
                WAITS_FOR_IO => return Some((POLL, FOR_EVER, 1)),
                SLEEPS => return Some((NANOSLEEP, 0, 0)),
                _ => {}
            }
        }
        at = row.parent;
    }
    None
}

/// Functions that call a program's handler for each request of others.
const SERVES: [&str; 6] = [
    "net/http.(*conn).serve",
    "net/http.(*http2serverConn).runHandler",
    "net/http/internal/http2.(*serverConn).runHandler",
    "google.golang.org/grpc.(*Server).handleStream",
    "google.golang.org/grpc.(*Server).processUnaryRPC",
    "net/rpc.(*service).call",
];

/// Whether a goroutine with this stack works for whoever asked: how many requests there are at a time is theirs to say.
pub(crate) fn serves(evidence: &Evidence<'_>, stack: u32) -> bool {
    let mut functions = evidence.locations(stack).filter_map(|location| evidence.function_at(location));
    functions.any(|function| SERVES.contains(&evidence.name(function)))
}
