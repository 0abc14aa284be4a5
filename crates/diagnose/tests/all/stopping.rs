//! The cause `waiting` where a thread that is to end notices it when a time-out is over, on synthetic recordings, at its thresholds.

use crate::traced::{MS, Mode, Traced, US, WORK, only, silent};
use slowpath_diagnose::findings::Basis;
use slowpath_recording::Recording;
use slowpath_recording::tables::Syscall;

const NANOSLEEP: u32 = 230;
const POLL: u32 = 7;
const RT_SIGRETURN: u32 = 15;
const KILL: u32 = 62;
const WAIT4: u32 = 61;
const FUTEX: u32 = 202;

/// A program starts servers, one after the other, and ends each of them by a signal; a thread of it polls with a time-out.
#[derive(Clone, Copy)]
struct Servers {
    number: u32,
    time_out: u64,
    /// When it gets a signal to end after the poll began, and which.
    asked: u64,
    signal: u64,
    /// What the poll returns.
    result: i64,
    /// The signal is handled; the program waits for the end.
    handled: bool,
    awaited: bool,
    /// From the end of the poll to that of the process.
    cleans_up: u64,
    /// The first process works meanwhile.
    works: bool,
    /// Other work at the end.
    other_ms: u64,
}

impl Default for Servers {
    fn default() -> Servers {
        Servers {
            number: 1,
            time_out: 400 * MS,
            asked: 100 * MS,
            signal: 15,
            result: 0,
            handled: true,
            awaited: true,
            cleans_up: 5 * MS,
            works: false,
            other_ms: 0,
        }
    }
}

fn recording(servers: Servers) -> Recording {
    let mut traced = Traced::new(Mode::Each);
    for _ in 0..servers.number {
        let server = traced.process(Some(0), "/bin/server", MS);
        let began = traced.now;
        traced.sleep(POLL, None, servers.result, servers.time_out).thread = server;
        let polled = traced.now;
        traced.now = began + servers.asked;
        traced.call(KILL, None, 0, US).argument = servers.signal;
        if servers.handled {
            traced.call(RT_SIGRETURN, None, -4, US).thread = server;
        }
        let end = polled + servers.cleans_up;
        if servers.works {
            let (from, until) = (traced.now, end);
            traced.compute(WORK, until - from);
            traced.now = from;
        }
        traced.tables.processes[server as usize].end_ns = Some(end);
        traced.tables.threads[server as usize].end_ns = Some(end);
        if servers.awaited {
            let wait = end + MS - traced.now;
            traced.sleep(WAIT4, None, i64::from(server) + 100, wait);
        }
        traced.now = end + 2 * MS;
    }
    traced.compute(WORK, servers.other_ms * MS);
    traced.tables.syscalls.sort_by_key(|row| row.time_ns);
    traced.recording(servers.other_ms * MS + 2 * MS)
}

#[test]
fn the_time_from_the_signal_to_the_end_of_the_time_out_is_lost() {
    let finding = only(&recording(Servers::default()), "waiting");
    assert_eq!((finding.variant, finding.cost.basis()), ("stopping", Basis::Wall));
    assert_eq!(finding.cost.gain() / MS, 300, "{finding:#?}");
    let said = &finding.explanation[0];
    assert!(
        said.starts_with(
            "server got a signal to end once, while one of its threads waited in work (program.c:11);"
        ) && said.contains("300 ms later"),
        "{said}"
    );
    let twice = only(&recording(Servers { number: 2, ..Servers::default() }), "waiting");
    assert_eq!(twice.cost.gain() / MS, 600, "{twice:#?}");
}

#[test]
fn an_end_that_was_not_asked_for_or_that_was_noticed_is_left_alone() {
    let one = Servers::default();
    // SIGALRM; a signal that ended it by itself; nobody waits; an event ended the poll; it did more afterwards; others work.
    silent(&recording(Servers { signal: 14, ..one }));
    silent(&recording(Servers { handled: false, ..one }));
    silent(&recording(Servers { awaited: false, ..one }));
    silent(&recording(Servers { result: 1, ..one }));
    // Within a tenth of the time-out.
    only(&recording(Servers { cleans_up: 39 * MS, ..one }), "waiting");
    silent(&recording(Servers { cleans_up: 40 * MS, ..one }));
    silent(&recording(Servers { works: true, ..one }));
}

#[test]
fn who_was_asked_and_waits_for_events_once_more_ends_late_as_well() {
    // The signal comes so long before the poll; or before a sleep.
    let with = |ms: u64, number: u32, turns: bool| {
        let mut recording = recording(Servers { asked: 0, ..Servers::default() });
        let rows = &mut recording.tables.syscalls;
        let polled = rows.iter().find(|row| row.number == POLL).expect("it polls").time_ns;
        rows.iter_mut().for_each(|row| match row.number {
            POLL => {
                (row.number, row.time_ns) = (number, polled + ms * MS);
                (row.duration_ns, row.blocked_ns) = (400 * MS - ms * MS, 400 * MS - ms * MS);
            }
            KILL | RT_SIGRETURN => (row.time_ns, row.end_ns) = (polled, polled + US),
            _ => {}
        });
        // An earlier turn of its loop, in which there was an event.
        if turns {
            let poll = rows.iter().find(|row| row.number == number).expect("it polls").clone();
            let (time_ns, end_ns) = (polled - 2 * US, polled - US);
            rows.push(Syscall { time_ns, end_ns, duration_ns: US, blocked_ns: 0, result: 1, ..poll });
        }
        rows.sort_by_key(|row| row.time_ns);
        recording
    };
    let before = |ms, number| with(ms, number, true);
    silent(&with(1, POLL, false));
    let finding = only(&before(1, POLL), "waiting");
    assert_eq!((finding.variant, finding.cost.gain() / MS), ("stopping", 400));
    assert!(finding.explanation[0].contains("then waited for events"), "{finding:#?}");
    only(&before(49, POLL), "waiting");
    silent(&before(50, POLL));
    silent(&before(1, 230));
}

#[test]
fn a_tenth_of_the_elapsed_time_and_fifty_ms_are_worth_telling() {
    let one = Servers { time_out: 160 * MS, ..Servers::default() };
    assert_eq!(only(&recording(one), "waiting").cost.gain() / MS, 60);
    silent(&recording(Servers { time_out: 149 * MS, ..one }));
    only(&recording(Servers { other_ms: 400, ..one }), "waiting");
    silent(&recording(Servers { other_ms: 460, ..one }));
    // Waits of less than 20 ms are not looked at.
    let many = |time_out| Servers { number: 100, time_out, asked: MS, cleans_up: MS, ..one };
    only(&recording(many(20 * MS)), "waiting");
    silent(&recording(many(19 * MS)));
}

#[test]
fn who_ticks_by_chance_just_before_one_end_does_not_hold_up_all() {
    // Of five servers four end with a time-out, or three.
    let some = |late: u32| {
        let mut traced = recording(Servers { number: 5, ..Servers::default() });
        for row in traced.tables.syscalls.iter_mut().filter(|row| row.number == POLL).skip(late as usize) {
            row.result = 1;
        }
        traced
    };
    assert_eq!(only(&some(4), "waiting").cost.gain() / MS, 1_200);
    silent(&some(3));
}

/// Threads sleep so often until they are asked to stop, and another one joins each of them in its last sleep.
fn joined(number: u32, sleeps: u32, timed_out: bool) -> Recording {
    joined_after(number, sleeps, timed_out, |_| 200 * MS, |_| ())
}

/// The same with sleeps of other lengths, and with something that is changed in each.
fn joined_after(
    number: u32,
    sleeps: u32,
    timed_out: bool,
    length: fn(u32) -> u64,
    change: fn(&mut Syscall),
) -> Recording {
    let mut traced = Traced::new(Mode::Each);
    for _ in 0..number {
        let worker = traced.tables.threads.len() as u32;
        traced.threads(1);
        let mut began = 0;
        for at in 0..sleeps {
            began = traced.now;
            let result = if timed_out { -110 } else { 0 };
            let row = traced.sleep(FUTEX, None, result, length(sleeps - 1 - at));
            row.thread = worker;
            change(row);
        }
        let end = traced.now;
        traced.tables.threads[worker as usize].end_ns = Some(end);
        traced.now = began + 50 * MS;
        let wait = end + 10 * US - traced.now;
        traced.sleep(FUTEX, None, 0, wait);
    }
    traced.tables.syscalls.sort_by_key(|row| row.time_ns);
    traced.recording(2 * MS)
}

#[test]
fn who_comes_to_wait_twice_in_the_last_of_several_sleeps_waits_for_a_flag_to_be_seen() {
    let finding = only(&joined(2, 3, true), "waiting");
    assert_eq!((finding.variant, finding.cost.gain() / MS), ("stopping", 300));
    let said = &finding.explanation[0];
    assert!(
        said.starts_with("twice, a thread of program began to wait for the end of another one"),
        "{said}"
    );
    silent(&joined(1, 3, true));
    // It sleeps to its own end, in one sleep or two.
    silent(&joined(3, 1, true));
    silent(&joined(2, 2, true));
    only(&joined(3, 2, true), "waiting");
    // It was woken.
    silent(&joined(2, 3, false));
}

#[test]
fn sleeps_before_the_last_one_may_be_shorter_if_they_are_made_at_the_same_place() {
    let longer = |before: u32| 200 * MS / u64::from(1 + before);
    only(&joined_after(3, 3, true, longer, |_| ()), "waiting");
    silent(&joined_after(2, 3, true, longer, |_| ()));
    silent(&joined_after(3, 3, true, longer, |row| row.stack = None));
    // As long, but for a fifth.
    let alike = |before: u32| if before == 0 { 200 * MS } else { 165 * MS };
    only(&joined_after(2, 3, true, alike, |row| row.stack = None), "waiting");
}

#[test]
fn a_short_pause_may_follow_the_long_one() {
    let with = |pause: u64| {
        let mut recording = joined(3, 4, true);
        // The last sleep begins later, after a pause: in the one before it was asked.
        let last: Vec<usize> = (1..4).map(|worker| worker * 4 - 1).collect();
        let sleeps: Vec<usize> = (0..recording.tables.syscalls.len())
            .filter(|at| recording.tables.syscalls[*at].result == -110)
            .collect();
        for at in last {
            let (before, after) = (sleeps[at - 1], sleeps[at]);
            let end = recording.tables.syscalls[after].end_ns;
            recording.tables.syscalls[after].time_ns = end - pause;
            recording.tables.syscalls[after].blocked_ns = pause;
            let start = recording.tables.syscalls[before].time_ns;
            recording.tables.syscalls[before].end_ns = end - pause - US;
            recording.tables.syscalls[before].blocked_ns = end - pause - US - start;
        }
        recording
    };
    // The one before takes 380 ms.
    assert_eq!(only(&with(21 * MS), "waiting").cost.gain() / MS, 386);
    silent(&with(60 * MS));
}

/// So many threads poll for 1 s from the same moment on and end then; 100 ms after it began, the main thread sleeps for 10 ms again and again until all
/// have ended, `pause` apart. `before`: it had slept there once before all that.
fn polled_for(threads: u32, timed_out: bool, pause: u64, before: bool) -> Recording {
    polled_until(threads, timed_out, pause, before, 1_005 * MS)
}

/// The same where it sleeps so long after the threads began.
fn polled_until(threads: u32, timed_out: bool, pause: u64, before: bool, until: u64) -> Recording {
    let mut traced = Traced::new(Mode::Each);
    if before {
        traced.sleep(NANOSLEEP, None, 0, 10 * MS);
        traced.now += 10 * MS;
    }
    let began = traced.now;
    for _ in 0..threads {
        let worker = traced.tables.threads.len() as u32;
        traced.threads(1);
        traced.now = began;
        traced.sleep(POLL, None, i64::from(!timed_out), 1_000 * MS).thread = worker;
        traced.tables.threads[worker as usize].end_ns = Some(traced.now);
    }
    traced.now = began + 100 * MS;
    while traced.now < began + until {
        traced.sleep(NANOSLEEP, None, 0, 10 * MS);
        traced.now += pause;
    }
    traced.tables.syscalls.sort_by_key(|row| row.time_ns);
    traced.recording(2 * MS)
}

#[test]
fn who_sleeps_until_several_threads_have_ended_waits_for_a_flag_to_be_seen() {
    let finding = only(&polled_for(3, true, US, false), "waiting");
    assert_eq!((finding.variant, finding.cost.gain() / MS), ("stopping", 900));
    let said = &finding.explanation[0];
    assert!(said.contains("slept again and again until 3 others had ended"), "{said}");
    let is_late = |recording: &Recording| {
        let findings = slowpath_diagnose::diagnose(recording).findings;
        findings.iter().any(|one| one.variant == "stopping")
    };
    assert!(!is_late(&polled_for(2, true, US, false)));
    // They were woken; it does something in between; and it slept there before.
    assert!(!is_late(&polled_for(3, false, US, false)));
    assert!(!is_late(&polled_for(3, true, MS, false)));
    assert!(!is_late(&polled_for(3, true, US, true)));
    // It goes on to sleep: it does so for reasons of its own.
    assert!(is_late(&polled_until(3, true, US, false, 1_060 * MS)));
    assert!(!is_late(&polled_until(3, true, US, false, 1_100 * MS)));
}

#[test]
fn who_got_the_signal_may_wait_for_a_thread_that_sleeps() {
    // A signal before the last sleep: it is not what that thread looks at.
    let mut recording = joined(3, 2, true);
    let (first, last) = (recording.tables.syscalls[0].time_ns, u64::MAX);
    let end = recording.tables.syscalls.iter().map(|row| row.end_ns).max().unwrap_or(last);
    let row = |number, time_ns, end_ns, argument, thread| Syscall {
        number,
        time_ns,
        end_ns,
        argument,
        thread,
        blocked_ns: end_ns - time_ns,
        duration_ns: end_ns - time_ns,
        result: 0,
        ..recording.tables.syscalls[0].clone()
    };
    let mut parent = recording.tables.processes[0].clone();
    (parent.process, parent.pid) = (1, 101);
    let mut thread = recording.tables.threads[0].clone();
    (thread.thread, thread.process, thread.tid) = (recording.tables.threads.len() as u32, 1, 101);
    let number = thread.thread;
    let rows = [
        row(KILL, first, first + US, 15, number),
        row(WAIT4, first + 2 * US, end + MS, 0, number),
        row(RT_SIGRETURN, first + US, first + 2 * US, 0, 0),
    ];
    recording.tables.syscalls.extend(rows);
    recording.tables.syscalls.sort_by_key(|row| row.time_ns);
    recording.tables.processes[0].end_ns = Some(end);
    recording.tables.processes.push(parent);
    recording.tables.threads.push(thread);
    assert_eq!(only(&recording, "waiting").cost.gain() / MS, 450);
}
