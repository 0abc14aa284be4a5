//! Threads that look into memory for what others do, and sleep in between, on synthetic recordings.
//!
//! In each round of 20 ms one thread looks, sleeps 9 ms, looks and sleeps again, and works in the last ms. The other works from 10 to 12 ms
//! and then waits, in several ways, for the first one. So 7 ms of each round are lost.

use crate::traced::{MS, Mode, OTHER, Traced, US, WORK, only, silent};
use slowpath_diagnose::findings::{Basis, Finding};
use slowpath_recording::Recording;
use slowpath_recording::tables::{Syscall, Wait};

const NANOSLEEP: u32 = 230;
const FUTEX: u32 = 202;
const RECEIVE: u32 = 45;
const LOOKS: u32 = 1;
const WORKS: u32 = 0;

/// How the thread that works waits for the other.
#[derive(Clone, Copy, PartialEq)]
enum Waits {
    /// Until the other wakes it.
    UntilWoken,
    /// Its wait is ended by nobody who is known.
    Outside,
    /// It looks and sleeps, too.
    Looks,
    /// It sleeps once, for its own reasons.
    Sleeps,
    /// It works on.
    Not,
}

struct Rounds {
    rounds: u64,
    waits: Waits,
    /// Between a sleep and the next one of the thread that looks, ns.
    look: u64,
    /// It sleeps twice in so many of ten rounds, else once.
    twice: u64,
    /// Elapsed time in which both work, ms.
    other_ms: u64,
    /// Before so many of ten single sleeps it waits for a message, …
    told: u64,
    /// … and so many of ten are shorter by 2 ms.
    shorter: u64,
    /// All times of a round are so many times as long.
    longer: u64,
}

const ROUNDS: Rounds = Rounds {
    rounds: 20,
    waits: Waits::UntilWoken,
    look: US,
    twice: 10,
    other_ms: 0,
    told: 0,
    shorter: 0,
    longer: 1,
};

/// Thread, number, from and to, and who wakes it.
type Asleep = (u32, u32, (u64, u64), Option<u32>);

/// A call of a thread in which it is asleep, and if it is long its wait.
fn asleep(traced: &mut Traced, thread: u32, number: u32, (from, to): (u64, u64), waker: Option<u32>) {
    let now = std::mem::replace(&mut traced.now, from);
    let row: &mut Syscall = traced.sleep(number, None, 0, to - from);
    let stack = Some(if thread == LOOKS { WORK } else { OTHER });
    (row.thread, row.stack) = (thread, stack);
    let waker_stack = waker.and(Some(WORK));
    let wait =
        Wait { time_ns: from, duration_ns: to - from, thread, number, file: None, stack, waker, waker_stack };
    traced.tables.waits.push(wait);
    traced.now = now;
}

fn recording(of: &Rounds) -> Recording {
    let mut traced = Traced::new(Mode::Each);
    traced.threads(1);
    traced.tables.threads[LOOKS as usize].end_ns = None;
    for round in 0..of.rounds {
        let at = |us: u64| begin(round * of.longer) + us * US * of.longer;
        let mut calls: Vec<Asleep> = Vec::new();
        let first = at(10_000).saturating_sub(of.look);
        if round % 10 < of.twice {
            calls.push((LOOKS, NANOSLEEP, (at(1_000), first), None));
            calls.push((LOOKS, NANOSLEEP, (at(10_000), at(19_000)), None));
        } else {
            if round % 10 < of.told {
                calls.push((LOOKS, RECEIVE, (at(9_900), at(9_950)), Some(WORKS)));
            }
            let begins = if round % 10 < of.shorter { at(12_000) } else { at(10_000) };
            calls.push((LOOKS, NANOSLEEP, (begins, at(19_000)), None));
        }
        let ends = at(19_500);
        match of.waits {
            Waits::UntilWoken => calls.push((WORKS, FUTEX, (at(12_000), ends), Some(LOOKS))),
            Waits::Outside => calls.push((WORKS, RECEIVE, (at(12_000), ends), None)),
            Waits::Sleeps => calls.push((WORKS, NANOSLEEP, (at(12_000), ends), None)),
            Waits::Looks => {
                calls.push((WORKS, NANOSLEEP, (at(12_000), at(16_000)), None));
                calls.push((WORKS, NANOSLEEP, (at(16_000) + US, ends), None));
            }
            Waits::Not => {}
        }
        calls.sort_by_key(|(_, _, (from, _), _)| *from);
        for (thread, number, span, waker) in calls {
            asleep(&mut traced, thread, number, span, waker);
        }
    }
    traced.now = begin(of.rounds * of.longer) + of.other_ms * MS;
    let cpu = traced.now / 4;
    traced.recording(cpu)
}

fn begin(round: u64) -> u64 {
    MS + round * 20 * MS
}

fn found(of: &Rounds) -> Finding {
    let finding = only(&recording(of), "waiting");
    assert_eq!((finding.variant, finding.cost.basis()), ("unnoticed", Basis::Wall));
    finding
}

#[test]
fn what_another_thread_does_during_a_sleep_is_noticed_at_its_end() {
    let finding = found(&ROUNDS);
    assert_eq!(finding.place.frame.function, "work");
    // From 12 to 19 ms of each round.
    assert_eq!(finding.cost.gain(), 20 * 7 * MS);
    assert!(finding.explanation[1].starts_with("20 times another thread had done something"), "{finding:#?}");
    // Where the other looks and sleeps, too.
    assert_eq!(found(&Rounds { waits: Waits::Looks, ..ROUNDS }).cost.gain(), 20 * 7 * MS);
}

#[test]
fn who_does_something_after_each_sleep_keeps_a_time() {
    // A thread that is awake longer than a look has worked, …
    found(&Rounds { look: 10 * US, ..ROUNDS });
    silent(&recording(&Rounds { look: 11 * US, ..ROUNDS }));
    // … and one that seldom sleeps twice need not look for anything: of 12 sleeps two are followed by another at once, of 11 one.
    found(&Rounds { rounds: 50, twice: 2, ..ROUNDS });
    silent(&recording(&Rounds { rounds: 50, twice: 1, ..ROUNDS }));
    silent(&recording(&Rounds { twice: 0, ..ROUNDS }));
}

#[test]
fn what_recording_takes_of_two_calls_is_no_part_of_a_look() {
    let taken = |look: u64, a_call: u64| {
        let mut recording = recording(&Rounds { look, ..ROUNDS });
        let calls: u64 = recording.tables.syscalls.iter().map(|row| row.count).sum();
        recording.tables.processes[0].tracing_ns = calls * a_call;
        recording
    };
    only(&taken(20 * US, 5 * US), "waiting");
    silent(&taken(21 * US, 5 * US));
    only(&taken(60 * US, 40 * US), "waiting");
    silent(&taken(61 * US, 40 * US));
}

#[test]
fn who_sleeps_because_of_what_it_was_told_means_to() {
    // A server that answers late on purpose waits for a request, and sleeps then, …
    let some = Rounds { rounds: 50, twice: 2, ..ROUNDS };
    found(&Rounds { told: 4, ..some });
    silent(&recording(&Rounds { told: 5, ..some }));
    // … or until the answer is due.
    found(&Rounds { shorter: 4, ..some });
    silent(&recording(&Rounds { shorter: 5, ..some }));
}

#[test]
fn what_may_come_from_outside_is_waited_for_by_right() {
    silent(&recording(&Rounds { waits: Waits::Outside, ..ROUNDS }));
    silent(&recording(&Rounds { waits: Waits::Sleeps, ..ROUNDS }));
    silent(&recording(&Rounds { waits: Waits::Not, ..ROUNDS }));
}

#[test]
fn five_times_and_a_tenth_of_the_elapsed_time_count() {
    found(&Rounds { rounds: 5, longer: 2, ..ROUNDS });
    silent(&recording(&Rounds { rounds: 4, longer: 2, ..ROUNDS }));
    // 140 of 1,400 ms.
    found(&Rounds { other_ms: 980, ..ROUNDS });
    silent(&recording(&Rounds { other_ms: 1_020, ..ROUNDS }));
}

/// A pool of one worker in rounds of 10 ms: it looks, sleeps 4 ms twice and works in the last 2 ms. The one that gives it work sleeps as well, and is awake for a moment
/// at these times of each round.
fn pool(awake: &[u64]) -> Recording {
    let mut traced = Traced::new(Mode::Each);
    traced.threads(1);
    traced.tables.threads[LOOKS as usize].end_ns = None;
    const ROUNDS: u64 = 40;
    let at = |round: u64, us: u64| MS + (10_000 * round + us) * US;
    let gives: Vec<u64> = (0..=ROUNDS).flat_map(|round| awake.iter().map(move |us| at(round, *us))).collect();
    let mut calls: Vec<Asleep> =
        gives.windows(2).map(|pair| (WORKS, NANOSLEEP, (pair[0] + 5 * US, pair[1]), None)).collect();
    for round in 0..ROUNDS {
        calls.push((LOOKS, NANOSLEEP, (at(round, 0), at(round, 4_000)), None));
        calls.push((LOOKS, NANOSLEEP, (at(round, 4_002), at(round, 8_000)), None));
    }
    calls.sort_by_key(|(_, _, (from, _), _)| *from);
    for (thread, number, span, waker) in calls {
        asleep(&mut traced, thread, number, span, waker);
    }
    traced.now = at(ROUNDS, 0);
    traced.recording(100 * MS)
}

#[test]
fn who_is_awake_for_a_moment_before_another_finds_something_to_do_has_given_it() {
    let findings = slowpath_diagnose::diagnose(&pool(&[4_500, 9_500])).findings;
    let finding =
        findings.iter().find(|one| one.place.frame.function == "work").expect("the worker's sleeps");
    assert_eq!((finding.cause.slug(), finding.variant), ("waiting", "unnoticed"));
    // From the moment at 4.5 ms to the end of the sleep at 8, in all rounds.
    assert_eq!(finding.cost.gain() / MS, 139);
    // Nobody was awake while it slept: what it did it does by itself.
    silent(&pool(&[3_500, 8_500]));
    // Somebody was in each of its sleeps: it is not known whether that matters.
    silent(&pool(&[1_000, 6_000]));
}
