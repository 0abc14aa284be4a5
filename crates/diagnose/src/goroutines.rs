//! Goroutines as threads: a goroutine that waits leaves its thread to another one, so that the calls of a thread have no order that says
//! anything. Each goroutine that waited becomes a thread of its own, with the calls that it made; a wait for a file or a socket becomes a poll, a
//! sleep one of the kernel's. So all that is known of threads holds for goroutines.
//!
//! Waits for locks are `causes::lock_contention`'s, those for other goroutines are left as they are.

use slowpath_recording::Recording;
use slowpath_recording::tables::{Syscall, Thread};
use std::borrow::Cow;
use std::collections::BTreeMap;

const POLL: u32 = 7;
const NANOSLEEP: u32 = 35;
/// The timeout of a poll that waits for as long as it takes.
const FOR_EVER: u64 = u64::MAX;
/// The function of Go's library that waits for a file or a socket, and the one that sleeps.
const WAITS_FOR_IO: &str = "internal/poll.runtime_pollWait";
const SLEEPS: &str = "time.Sleep";
/// Frames, from the innermost on, among which these are: gopark's callers.
const INNER: usize = 6;

/// The name of a thread that is a goroutine.
const NAME: &str = "goroutine";

/// Whether a thread of the changed recording is one.
pub(crate) fn is_one(thread: &Thread) -> bool {
    thread.tid == 0 && thread.name == NAME
}

/// Share of the time from the first window to the last in which waits must have been recorded, for them to stand for all of it.
const WATCHED: f64 = 0.05;

/// The part of the time in which the waits of a process's goroutines were recorded, from the first window to the last: as many more there were in
/// all. None if it is too little to say.
pub(crate) fn watched(recording: &Recording, process: u32) -> Option<f64> {
    let windows = || recording.tables.park_windows.iter().filter(|window| window.process == process);
    let sum: u64 = windows().map(|window| window.end_ns - window.start_ns).sum();
    let from = windows().map(|window| window.start_ns).min()?;
    let until = windows().map(|window| window.end_ns).max()?;
    let share = sum as f64 / until.saturating_sub(from).max(1) as f64;
    (share >= WATCHED).then_some(share.min(1.0))
}

/// The recording as if each goroutine were a thread; as it is, where no goroutine waited.
pub(crate) fn as_threads(recording: &Recording) -> Cow<'_, Recording> {
    if recording.tables.parks.is_empty() {
        return Cow::Borrowed(recording);
    }
    let mut changed = recording.clone();
    let tables = &mut changed.tables;
    let mut lives: BTreeMap<(u32, u64), (u64, u64)> = BTreeMap::new();
    for park in &tables.parks {
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
