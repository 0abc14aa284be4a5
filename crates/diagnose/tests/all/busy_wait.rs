//! Busy waits, on synthetic recordings, at the thresholds of their cause.

use crate::traced::{BOTH, MS, Mode, Traced, US, WORK, only, silent};
use slowpath_diagnose::findings::Basis;
use slowpath_recording::Recording;
use slowpath_recording::tables::Sample;

const POLL: u32 = 7;
const YIELD: u32 = 24;
const RECEIVE: u32 = 45;

/// Looks that return at once: `empty` with nothing for each of `found` with something.
fn looking(mode: Mode, number: u32, empty: u32, found: u32) -> Recording {
    let mut traced = Traced::new(mode);
    let file = traced.file("", "socket", 0);
    let nothing = if number == RECEIVE { -11 } else { 0 };
    for _ in 0..found {
        for _ in 0..empty {
            traced.call(number, Some(file), nothing, 20 * US);
        }
        traced.call(number, Some(file), 1, 20 * US);
    }
    let ns = u64::from(empty * found) * 20 * US;
    let mut recording = traced.recording(ns);
    recording.about.format.minor = 4;
    recording
}

#[test]
fn asking_without_a_pause_is_reported_with_the_cpu_time_of_the_calls() {
    for mode in BOTH {
        for number in [RECEIVE, POLL] {
            // Added up, a poll that found something has a row of its own.
            let recording = looking(mode, number, 500, 20);
            if mode == Mode::AddedUp && number == POLL {
                continue;
            }
            let finding = only(&recording, "busy-wait");
            assert_eq!(
                (finding.cost.basis(), finding.cost.gain()),
                (Basis::Cpu, 200 * MS),
                "{mode:?} {number}"
            );
        }
    }
}

#[test]
fn there_are_twenty_empty_looks_for_each_that_finds_something_and_a_thousand() {
    only(&looking(Mode::Each, RECEIVE, 20, 200), "busy-wait");
    silent(&looking(Mode::Each, RECEIVE, 19, 200));
    silent(&looking(Mode::Each, RECEIVE, 999, 1));
}

#[test]
fn a_look_that_waits_is_no_busy_one() {
    let mut recording = looking(Mode::Each, POLL, 500, 20);
    recording.tables.syscalls.iter_mut().for_each(|row| row.blocked_ns = row.duration_ns);
    silent(&recording);
}

#[test]
fn an_older_recording_does_not_tell_which_added_up_polls_found_something() {
    let mut recording = looking(Mode::AddedUp, POLL, 500, 20);
    recording.about.format.minor = 3;
    silent(&recording);
}

#[test]
fn yielding_counts_in_the_program_and_not_in_a_library() {
    let mut traced = Traced::new(Mode::Each);
    for _ in 0..10_000 {
        traced.call(YIELD, None, 0, 20 * US);
    }
    let mut recording = traced.recording(200 * MS);
    only(&recording, "busy-wait");
    recording.tables.modules[0].path = "/usr/lib/libblas.so.3".to_owned();
    silent(&recording);
}

#[test]
fn the_runtime_of_go_yields_for_reasons_of_its_own() {
    for (name, is_reported) in [("osyield", true), ("runtime.osyield.abi0", false)] {
        let mut traced = Traced::new(Mode::Each);
        traced.tables.functions[WORK as usize].name = name.to_owned();
        for _ in 0..10_000 {
            traced.call(YIELD, None, 0, 20 * US);
        }
        let recording = traced.recording(200 * MS);
        if is_reported { drop(only(&recording, "busy-wait")) } else { silent(&recording) }
    }
}

/// Polls that return at once with an event, and reads beside them.
fn ready(polls: u32, reads: u32, cpu_ms: u64) -> Recording {
    const READ: u32 = 0;
    let mut traced = Traced::new(Mode::Each);
    let file = traced.file("", "socket", 0);
    for _ in 0..polls {
        traced.call(POLL, Some(file), 1, 20 * US);
    }
    for _ in 0..reads {
        traced.call(READ, Some(file), 100, 20 * US);
    }
    for tick in 1..=cpu_ms {
        // Where they were taken is not known, so they add nothing to what the calls took.
        let (time_ns, weight_ns, stack) = (tick * MS, MS, None);
        let row = Sample { time_ns, thread: 0, on_cpu: true, weight_ns, stack, complete: true };
        traced.tables.samples.push(row);
    }
    let mut recording = traced.recording(cpu_ms * MS);
    recording.about.format.minor = 4;
    recording
}

#[test]
fn events_that_nobody_handles_are_reported_by_the_calls_that_are_missing() {
    let finding = only(&ready(10_000, 500, 220), "busy-wait");
    assert_eq!(finding.variant, "unhandled");
    assert_eq!(finding.cost.gain(), 200 * MS);
    assert!(finding.explanation[0].contains("only 500 other calls"), "{:?}", finding.explanation);
    // One event in nineteen is taken.
    silent(&ready(9_500, 501, 220));
    // Most of the time goes to something else, as where packets are taken from memory that the kernel shares.
    only(&ready(10_000, 500, 399), "busy-wait");
    silent(&ready(10_000, 500, 401));
    // Too few.
    silent(&ready(999, 0, 100));
    // They wait for the event.
    let mut waiting = ready(10_000, 500, 220);
    waiting.tables.syscalls.iter_mut().for_each(|row| row.blocked_ns = row.duration_ns);
    silent(&waiting);
}
