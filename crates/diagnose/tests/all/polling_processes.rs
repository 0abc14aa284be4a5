//! Processes that a loop starts between sleeps, to look whether something has happened: not of the cause `process-per-operation`.

use crate::processes::{children, delay};
use crate::traced::{MS, only, silent};
use slowpath_recording::Recording;

const NANOSLEEP: u32 = 230;

/// Who sleeps: the process that starts the others, a child that it starts each time, or one that runs beside it.
#[derive(Clone, Copy)]
enum Sleeper {
    Starter,
    Child,
    Beside,
}

/// 50 children that start up for 8 ms and work for 2; after so many of them somebody sleeps so long.
fn with_sleeps(sleeper: Sleeper, after: u64, sleep: u64) -> Recording {
    let mut traced = children(50, 8 * MS, 2 * MS, false);
    let end = traced.now;
    traced.now = MS;
    let beside = traced.process(Some(0), "/usr/bin/server", MS);
    for number in 0..50u64 {
        traced.now = delay(&mut traced, number, sleep * number).end_ns.unwrap_or(0);
        if number < after {
            let thread = match sleeper {
                Sleeper::Starter => 0,
                Sleeper::Child => traced.process(Some(0), "/usr/bin/sleep", MS / 10),
                Sleeper::Beside => beside,
            };
            traced.call(NANOSLEEP, None, 0, sleep).thread = thread;
            if thread > beside {
                traced.tables.processes[thread as usize].end_ns = Some(traced.now);
            }
        }
    }
    traced.tables.syscalls.sort_by_key(|row| row.time_ns);
    traced.now = end + 51 * sleep;
    traced.recording(300 * MS)
}

#[test]
fn processes_that_look_for_something_between_sleeps_are_no_operations() {
    for sleeper in [Sleeper::Starter, Sleeper::Child] {
        only(&with_sleeps(sleeper, 39, MS), "process-per-operation");
        silent(&with_sleeps(sleeper, 40, MS));
        only(&with_sleeps(sleeper, 50, MS - 1), "process-per-operation");
    }
    // A server in the background sleeps for reasons of its own.
    only(&with_sleeps(Sleeper::Beside, 50, MS), "process-per-operation");
}
