//! Locks that threads and processes wait for, on synthetic recordings, at the thresholds of their cause.

use crate::traced::{MS, Mode, OTHER, Traced, US, WORK, only, silent};
use slowpath_diagnose::findings::Basis;
use slowpath_recording::Recording;
use slowpath_recording::about::Tracer;
use slowpath_recording::tables::{File, Stack, Syscall, Wait};

const NANOSLEEP: u32 = 35;
const SEND: u32 = 44;
const RECEIVE: u32 = 45;
const FCNTL: u32 = 72;
const FUTEX: u32 = 202;
const SETLKW: u64 = 7;
const WAIT: u64 = 128;
const WAKE_ONE: u64 = 1 << 32 | 129;
const WAKE_ALL: u64 = 0x7fff_ffff << 32 | 129;

/// Two threads take turns at a word: each waits `wait` ns for it, then calls a wake, of `wakes` for every ten waits.
fn taking_turns(rounds: u32, wait: u64, wakes: u32, wake: u64, cpu_ns: u64) -> Recording {
    let mut traced = Traced::new(Mode::Each);
    traced.process(None, "/bin/program", 0);
    // A second thread of the first process.
    traced.tables.threads[1].process = 0;
    let lock = traced.file("", "futex", 0);
    for round in 0..rounds {
        for thread in 0..2 {
            let from = traced.now;
            let row = traced.sleep(FUTEX, Some(lock), 0, wait);
            (row.thread, row.argument) = (thread, WAIT);
            if wait >= MS {
                traced.tables.waits.push(Wait {
                    time_ns: from,
                    duration_ns: wait,
                    thread,
                    number: FUTEX,
                    file: Some(lock),
                    stack: Some(WORK),
                    waker: Some(1 - thread),
                    waker_stack: Some(OTHER),
                });
            }
            if round % 10 < wakes {
                let row = traced.call(FUTEX, Some(lock), 1, US);
                (row.thread, row.argument, row.stack) = (thread, wake, Some(OTHER));
            }
        }
    }
    let mut recording = traced.recording(cpu_ns);
    recording.about.cpus = 2;
    recording
}

#[test]
fn a_lock_that_threads_wait_for_is_reported_where_it_is_released() {
    let finding = only(&taking_turns(50, 2 * MS, 10, WAKE_ONE, MS), "lock-contention");
    assert_eq!((finding.place.frame.function.as_str(), finding.cost.basis()), ("other", Basis::Wall));
    assert_eq!(finding.cost.amount(), 100 * MS);
    // Each thread waited for half of the time: without the lock both are done then.
    let gain = finding.cost.gain() as f64 / MS as f64;
    assert!((95.0..=101.0).contains(&gain), "{gain}");
    assert!(finding.explanation[0].starts_with("2 threads use one lock"), "{:?}", finding.explanation);
}

#[test]
fn who_sleeps_and_releases_it_holds_it_too_long() {
    let mut recording = taking_turns(50, 2 * MS, 10, WAKE_ONE, MS);
    // `main → work → other`, by which it is released: the function that sleeps meanwhile is `work`, in a library's.
    let tables = &mut recording.tables;
    let helper = tables.stacks.len() as u32;
    let location = tables.stacks[OTHER as usize].location;
    tables.stacks.push(Stack { stack: helper, parent: Some(1), location });
    for row in tables.syscalls.iter_mut().filter(|row| row.stack == Some(OTHER)) {
        row.stack = Some(helper);
    }
    let first = tables.syscalls[0].clone();
    for wait in &mut tables.waits {
        wait.waker_stack = Some(helper);
        let (time_ns, end_ns) = (wait.time_ns + US, wait.time_ns + wait.duration_ns - US);
        let (thread, blocked_ns) = (1 - wait.thread, end_ns - time_ns);
        let (number, file, stack) = (NANOSLEEP, None, Some(WORK));
        let duration_ns = blocked_ns;
        tables.syscalls.push(Syscall {
            time_ns,
            end_ns,
            thread,
            number,
            file,
            stack,
            blocked_ns,
            duration_ns,
            ..first
        });
    }
    tables.syscalls.sort_by_key(|row| row.time_ns);
    let finding = only(&recording, "lock-contention");
    assert_eq!(finding.place.frame.function, "work");
    let slept = finding.explanation.iter().any(|said| said.contains("mostly in nanosleep"));
    assert!(slept, "{:?}", finding.explanation);
}

#[test]
fn the_cpus_must_still_do_the_work() {
    // 0.2 s of CPU time on two CPUs take 0.1 s; 0.3 s take 0.15 of 0.2 s.
    let gain = |cpu: u64| {
        only(&taking_turns(50, 2 * MS, 10, WAKE_ONE, cpu * MS), "lock-contention").cost.gain() / MS
    };
    assert!((98..=100).contains(&gain(200)), "{}", gain(200));
    assert!((48..=51).contains(&gain(300)), "{}", gain(300));
    silent(&taking_turns(50, 2 * MS, 10, WAKE_ONE, 400 * MS));
}

#[test]
fn short_waits_count_as_well() {
    only(&taking_turns(2_000, 50 * US, 10, WAKE_ONE, MS), "lock-contention");
}

#[test]
fn who_waits_for_a_lock_releases_it_later_one_at_a_time() {
    only(&taking_turns(50, 2 * MS, 5, WAKE_ONE, MS), "lock-contention");
    silent(&taking_turns(50, 2 * MS, 4, WAKE_ONE, MS)); // workers that wait for work
    silent(&taking_turns(50, 2 * MS, 10, WAKE_ALL, MS)); // a barrier
}

/// The same traced by ptrace in windows, where wakes are missed, in a library's function of such a name; waits take `scale` times as long.
fn in_windows(name: &str, scale: u64) -> Recording {
    let mut recording = taking_turns(50, 2 * MS, 0, WAKE_ONE, MS);
    (recording.about.tracer, recording.about.traced_share) = (Some(Tracer::Ptrace), 0.1);
    recording.tables.waits.clear();
    // What stands between the program and the system call.
    recording.tables.functions[2].name = name.to_owned();
    // That a tracer stops at all calls shows in reads.
    let first = recording.tables.syscalls[0].clone();
    recording.tables.syscalls.push(Syscall { number: RECEIVE, file: None, blocked_ns: 0, ..first });
    for row in &mut recording.tables.syscalls {
        (row.blocked_ns, row.duration_ns) = (row.blocked_ns * scale, row.duration_ns * scale);
    }
    recording
}

#[test]
fn by_ptrace_the_function_that_waits_says_that_it_is_a_lock() {
    let finding = only(&in_windows("__pthread_mutex_lock", 1), "lock-contention");
    assert_eq!((finding.place.frame.function.as_str(), finding.cost.amount()), ("work", 100 * MS));
    only(&in_windows("std::sys::sync::mutex::futex::Mutex::lock_contended", 1), "lock-contention");
    silent(&in_windows("wait_for_turn", 1));
    silent(&in_windows("__pthread_mutex_cond_lock", 1));
    let mut half = in_windows("__pthread_mutex_lock", 1);
    half.tables.syscalls.iter_mut().filter(|row| row.thread == 1).for_each(|row| row.stack = None);
    silent(&half);
    // One of two does not wait: both together wait no longer than the run takes.
    let scaled = only(&in_windows("__pthread_mutex_lock", 10), "lock-contention");
    assert!((98..=102).contains(&(scaled.cost.amount() / MS)), "{:?}", scaled.cost);
    let waited = scaled.facts.iter().find(|fact| fact.name == "time waited").map_or(0.0, |fact| fact.value);
    assert!((196e6..204e6).contains(&waited), "{waited}");
}

#[test]
fn by_ptrace_workers_that_wait_for_the_right_to_wait_are_no_users_of_a_lock() {
    // Each waits for a message for so long while the other one waits for its turn.
    let resting = |each_ns: u64| {
        let mut recording = in_windows("__pthread_mutex_lock", 1);
        let waits = recording.tables.syscalls.iter().filter(|row| row.blocked_ns > 0);
        let messages = waits.map(|row| Syscall {
            number: RECEIVE,
            thread: 1 - row.thread,
            file: None,
            duration_ns: each_ns,
            blocked_ns: each_ns,
            ..row.clone()
        });
        let messages: Vec<Syscall> = messages.collect();
        recording.tables.syscalls.extend(messages);
        let file = recording.tables.files.len() as u32;
        let socket = File {
            file,
            path: String::new(),
            kind: "socket".to_owned(),
            ..recording.tables.files[0].clone()
        };
        recording.tables.files.push(socket);
        let messages = recording.tables.syscalls.iter_mut().filter(|row| row.number == RECEIVE);
        messages.for_each(|row| row.file = Some(file));
        recording
    };
    // 100 waits in all; the longest user waits 100 ms.
    only(&resting(490 * US), "lock-contention");
    silent(&resting(510 * US));
    // An answer is waited for as part of the work.
    let mut asking = resting(2 * MS);
    let sends: Vec<Syscall> =
        asking.tables.syscalls.iter().filter(|row| row.number == RECEIVE).cloned().collect();
    let sends = sends.into_iter().map(|row| Syscall { number: SEND, blocked_ns: 0, duration_ns: US, ..row });
    let all: Vec<Syscall> = sends.collect();
    let mut rows: Vec<Syscall> = Vec::new();
    let mut next = all.into_iter();
    for row in asking.tables.syscalls.drain(..) {
        if row.number == RECEIVE {
            rows.extend(next.next());
        }
        rows.push(row);
    }
    asking.tables.syscalls = rows;
    let found = slowpath_diagnose::diagnose(&asking).findings;
    assert!(found.iter().any(|one| one.cause == "lock-contention"), "{found:?}");
}

/// Two threads take turns at a word; before each turn of the first it is woken `lost` times, finds the lock taken, and waits again
/// after `pause` ns. The second takes it `lost` times more.
fn losing(lost: u32, pause: u64, second_waits: bool) -> Recording {
    let mut traced = Traced::new(Mode::Each);
    traced.process(None, "/bin/program", 0);
    traced.tables.threads[1].process = 0;
    let lock = traced.file("", "futex", 0);
    for _ in 0..20 {
        for attempt in 0..=lost {
            let row = traced.sleep(FUTEX, Some(lock), 0, 4 * MS);
            (row.thread, row.argument) = (0, WAIT);
            if attempt < lost {
                let row = traced.call(FUTEX, Some(lock), 1, US);
                (row.thread, row.argument, row.stack) = (1, WAKE_ONE, Some(OTHER));
                traced.now += pause;
            }
        }
        let row = traced.call(FUTEX, Some(lock), 1, US);
        (row.thread, row.argument, row.stack) = (0, WAKE_ONE, Some(OTHER));
        if second_waits {
            let row = traced.sleep(FUTEX, Some(lock), 0, 4 * MS);
            (row.thread, row.argument) = (1, WAIT);
            let row = traced.call(FUTEX, Some(lock), 1, US);
            (row.thread, row.argument, row.stack) = (1, WAKE_ONE, Some(OTHER));
        }
    }
    // The first one goes on alone.
    traced.tables.threads[1].end_ns = Some(traced.now);
    traced.sleep(NANOSLEEP, None, 0, 200 * MS).thread = 0;
    let mut recording = traced.recording(MS);
    recording.about.cpus = 2;
    recording
}

#[test]
fn who_is_woken_too_late_waits_again_in_the_same_turn() {
    // A running thread takes the lock again before the one that it woke does: three waits for each turn.
    only(&losing(2, 50 * US, true), "lock-contention");
    // That waits again later, after it worked for a while: it had what it waited for, and did not give it back.
    silent(&losing(2, 150 * US, true));
    // Only the one that never waits wakes: it makes work for the other.
    silent(&losing(2, 50 * US, false));
    // It may be quick enough never to wait for a lock that the other gives back.
    only(&losing(1, 50 * US, false), "lock-contention");
}

/// The first thread waits for a lock, 30 times 10 ms, which the second one holds; so many times while it sleeps. The first one waits there in a function of such a name,
/// and for so long for the second one's end.
fn ticking(name: &str, sleeps: u32, joined: u64) -> Recording {
    let mut traced = Traced::new(Mode::Each);
    traced.process(None, "/bin/program", 0);
    traced.tables.threads[1].process = 0;
    let (lock, end) = (traced.file("", "futex", 0), traced.file("", "futex", 0));
    for round in 0..30 {
        let from = traced.now;
        if round < sleeps {
            let row = traced.sleep(NANOSLEEP, None, 0, 10 * MS);
            (row.thread, row.stack) = (1, Some(OTHER));
        }
        traced.now = from;
        traced.sleep(FUTEX, Some(lock), 0, 10 * MS).argument = WAIT;
        let row = traced.call(FUTEX, Some(lock), 1, US);
        (row.thread, row.argument, row.stack) = (1, WAKE_ONE, Some(OTHER));
        traced.tables.waits.push(Wait {
            time_ns: from,
            duration_ns: 10 * MS,
            thread: 0,
            number: FUTEX,
            file: Some(lock),
            stack: Some(WORK),
            waker: Some(1),
            waker_stack: Some(OTHER),
        });
    }
    traced.sleep(FUTEX, Some(end), 0, joined).argument = WAIT;
    traced.tables.threads[1].end_ns = Some(traced.now);
    traced.tables.functions[2].name = name.to_owned();
    let mut recording = traced.recording(MS);
    recording.about.cpus = 2;
    recording
}

#[test]
fn who_ends_when_the_first_thread_is_done_does_not_hold_up_the_end() {
    const LOCK: &str = "std::sys::sync::mutex::futex::Mutex::lock_contended";
    let finding = only(&ticking(LOCK, 30, MS), "lock-contention");
    assert!((295..=300).contains(&(finding.cost.gain() / MS)), "{:?}", finding.cost);
    assert!(
        finding.explanation.iter().any(|said| said.contains("must happen under the lock")),
        "{finding:#?}"
    );
    // It works by itself, or was waited for: it would end no sooner.
    silent(&ticking(LOCK, 14, MS));
    silent(&ticking(LOCK, 30, 31 * MS));
    // The second one never waits there: without a name it may be work that is waited for.
    silent(&ticking("wait_for_turn", 30, MS));
}

/// Workers that queue for the right to wait for work: the holder of the lock is at rest, unless it asked for something.
#[test]
fn a_holder_that_waits_for_work_is_no_reason_to_wait() {
    let holding = |sends: bool| {
        let mut recording = taking_turns(50, 2 * MS, 10, WAKE_ONE, MS);
        let tables = &mut recording.tables;
        let socket = tables.files.len() as u32;
        let (path, kind) = (String::new(), "socket".to_owned());
        tables.files.push(File { file: socket, path, device: 1, inode: 9, size: 0, mtime_ns: 0, kind });
        let waits: Vec<Syscall> =
            tables.syscalls.iter().filter(|row| row.argument == WAIT).cloned().collect();
        for wait in waits {
            // While one waits for the lock the other one, which holds it, waits for a message.
            let (thread, file, time_ns) = (1 - wait.thread, Some(socket), wait.time_ns + 2 * US);
            let row = Syscall { thread, number: RECEIVE, file, time_ns, result: 9, ..wait };
            if sends {
                let (time_ns, end_ns) = (row.time_ns - US, row.time_ns);
                tables.syscalls.push(Syscall { number: SEND, time_ns, end_ns, blocked_ns: 0, ..row.clone() });
            }
            tables.syscalls.push(row);
        }
        tables.syscalls.sort_by_key(|row| row.time_ns);
        recording
    };
    let is_found = |recording: &Recording| {
        let findings = slowpath_diagnose::diagnose(recording).findings;
        findings.iter().any(|one| one.cause == "lock-contention")
    };
    assert!(is_found(&holding(true)));
    assert!(!is_found(&holding(false)));
}

#[test]
fn a_condition_is_no_lock() {
    let mut recording = taking_turns(50, 2 * MS, 10, WAKE_ONE, MS);
    // What stands between the program and the system call.
    recording.tables.functions[2].name = "pthread_cond_wait".to_owned();
    silent(&recording);
}

#[test]
fn a_fifth_of_the_elapsed_time_is_worth_telling() {
    let lasting = |wall_ms: u64| {
        let mut recording = taking_turns(50, 2 * MS, 10, WAKE_ONE, MS);
        recording.about.wall_ns = wall_ms * MS;
        recording
    };
    let gain = only(&lasting(300), "lock-contention").cost.gain() / MS;
    only(&lasting(gain * 100 / 21), "lock-contention");
    silent(&lasting(gain * 100 / 19));
}

#[test]
fn five_waits_that_cost_fifty_ms_make_a_finding() {
    only(&taking_turns(3, 40 * MS, 10, WAKE_ONE, MS), "lock-contention");
    silent(&taking_turns(2, 60 * MS, 10, WAKE_ONE, MS));
    silent(&taking_turns(12, 4 * MS, 10, WAKE_ONE, MS));
    only(&taking_turns(13, 4 * MS, 10, WAKE_ONE, MS), "lock-contention");
}

/// One process holds a file's lock and computes, another waits for it; or one that is not in the recording holds it.
fn file_lock(held: u64, outside: bool) -> Recording {
    let mut traced = Traced::new(Mode::Each);
    let file = traced.file("/var/mail/inbox", "file", 0);
    if !outside {
        traced.process(None, "/bin/holder", held);
        let row = traced.call(FCNTL, Some(file), 0, US);
        (row.thread, row.argument) = (1, SETLKW);
    }
    traced.sleep(FCNTL, Some(file), 0, held).argument = SETLKW;
    let released = traced.now;
    traced.tables.threads.iter_mut().skip(1).for_each(|holder| holder.end_ns = Some(released));
    traced.compute(OTHER, 100 * MS);
    let mut recording = traced.recording(100 * MS);
    recording.about.cpus = 2;
    recording
}

#[test]
fn a_locked_file_is_named() {
    let finding = only(&file_lock(100 * MS, false), "lock-contention");
    assert_eq!(finding.files[0].path, "/var/mail/inbox");
    assert!(finding.explanation[0].starts_with("2 processes use one lock"), "{:?}", finding.explanation);
    silent(&file_lock(49 * MS, false));
}

#[test]
fn a_lock_held_by_somebody_outside_costs_all_the_time_waited() {
    let finding = only(&file_lock(100 * MS, true), "lock-contention");
    assert_eq!((finding.title.as_str(), finding.cost.gain()), ("waits for a lock", 100 * MS));
}
