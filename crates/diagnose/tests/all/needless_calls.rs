//! System calls that are not needed, on synthetic recordings, at the thresholds of their cause.

use crate::traced::{BOTH, MS, Mode, OTHER, Traced, US, WORK, only, silent};
use slowpath_diagnose::findings::{Basis, Confidence};
use slowpath_recording::Recording;
use slowpath_recording::about::{Counter, Tracer};
use slowpath_recording::tables::{Location, Stack};

const READ: u32 = 0;
const POLL: u32 = 7;
const CLOSE: u32 = 3;
const SEEK: u32 = 8;
const IOCTL: u32 = 16;
const GETPID: u32 = 39;
const CONNECT: u32 = 42;
const MKDIR: u32 = 83;
const TGKILL: u32 = 234;
const TCGETS: u64 = 0x5401;
const FIONREAD: u64 = 0x541b;

/// So many calls of 10 µs each, in a run of `cpu_ms`.
fn calls(mode: Mode, number: u32, argument: u64, result: i64, times: u32, cpu_ms: u64) -> Recording {
    let mut traced = Traced::new(mode);
    let file = traced.file("/srv/out.log", "file", 10);
    for _ in 0..times {
        traced.call(number, Some(file), result, 10 * US).argument = argument;
    }
    traced.recording(cpu_ms * MS)
}

#[test]
fn a_question_that_is_asked_again_and_again_is_reported_with_its_time_in_the_kernel() {
    for mode in BOTH {
        let finding = only(&calls(mode, IOCTL, TCGETS, -25, 10_000, 400), "needless-system-calls");
        assert_eq!((finding.variant, finding.confidence), ("question", Confidence::Likely));
        assert_eq!(finding.place.frame.function, "work");
        assert_eq!(finding.cost.basis(), Basis::Cpu);
        assert!((99 * MS..=100 * MS).contains(&finding.cost.gain()), "{:?}", finding.cost);
        assert!(finding.explanation[0].contains("whether this is a terminal 10,000 times"), "{finding:#?}");
        only(&calls(mode, GETPID, 0, 100, 10_000, 400), "needless-system-calls");
    }
}

#[test]
fn it_takes_a_thousand_questions_and_a_tenth_of_the_time() {
    only(&calls(Mode::Each, GETPID, 0, 100, 1_000, 90), "needless-system-calls");
    silent(&calls(Mode::Each, GETPID, 0, 100, 999, 90));
    only(&calls(Mode::Each, GETPID, 0, 100, 10_000, 990), "needless-system-calls");
    silent(&calls(Mode::Each, GETPID, 0, 100, 10_000, 1_010));
    // Signal 0 asks whether a thread is there; others are sent.
    only(&calls(Mode::Each, TGKILL, 0, 0, 10_000, 400), "needless-system-calls");
    silent(&calls(Mode::Each, TGKILL, 10, 0, 10_000, 400));
    // How many bytes there are to be read is news each time.
    silent(&calls(Mode::Each, IOCTL, FIONREAD, 0, 10_000, 400));
}

#[test]
fn an_option_that_is_set_a_hundred_times_for_each_socket_is_reported() {
    const ACCEPT: u32 = 43;
    const SETSOCKOPT: u32 = 54;
    let set = |times: u32, ns: u64, sockets: u32, cpu_ms: u64| {
        let mut traced = Traced::new(Mode::Each);
        for _ in 0..sockets {
            traced.call(ACCEPT, None, 5, US);
        }
        for _ in 0..times {
            traced.call(SETSOCKOPT, None, 0, ns);
        }
        traced.recording(cpu_ms * MS)
    };
    let finding = only(&set(100_000, US, 1_000, 400), "needless-system-calls");
    assert_eq!((finding.variant, finding.confidence), ("setting", Confidence::Likely));
    assert!(finding.explanation[0].contains("but there were 1,000 sockets in all"), "{finding:#?}");
    // One call for each socket is needed.
    assert_eq!(finding.cost.gain(), 99 * MS);
    silent(&set(100_000, US, 1_010, 400));
    silent(&set(100_000, US, 1_000, 1_010));
    // It sends what was held back.
    silent(&set(100_000, US + 100, 1_000, 400));
    // All sockets were handed over: how many is not known.
    silent(&set(100_000, US, 0, 400));
}

#[test]
fn entering_the_kernel_and_leaving_it_is_part_of_a_call() {
    let cost = |stack| {
        let mut traced = Traced::new(Mode::Each);
        for _ in 0..1_000 {
            traced.call(GETPID, None, 100, 100 * US);
        }
        traced.compute(stack, 150 * MS);
        only(&traced.recording(400 * MS), "needless-system-calls").cost.amount() / MS
    };
    // In the library's function that calls; in the program's, which may do anything.
    assert_eq!((cost(WORK), cost(OTHER)), (150, 100));
}

#[test]
fn where_samples_are_of_user_code_alone_the_time_of_the_calls_is_added() {
    let cost = |counter: Option<Counter>| {
        let mut traced = Traced::new(Mode::Each);
        for _ in 0..1_000 {
            traced.call(GETPID, None, 100, 100 * US);
        }
        traced.compute(WORK, 50 * MS);
        let mut recording = traced.recording(400 * MS);
        (recording.about.tracer, recording.about.counter) = (Some(Tracer::Ptrace), counter);
        only(&recording, "needless-system-calls").cost.amount() / MS
    };
    assert_eq!((cost(Some(Counter::Breakpoints)), cost(None)), (150, 100));
}

/// Seeks, of which `moving` of 100 lead elsewhere; with a read between if `reads`.
fn seeks(times: u32, moving: u32, reads: bool) -> Recording {
    let mut traced = Traced::new(Mode::Each);
    let file = traced.file("/srv/data", "file", 1 << 30);
    let mut position = 0;
    for at in 0..times {
        position += if at % 100 < moving { 1 << 20 } else { 0 };
        traced.call(SEEK, Some(file), position, 100 * US);
        if reads {
            traced.call(READ, Some(file), 65_536, US).argument = 65_536;
        }
    }
    let ns = u64::from(times) * 200 * US;
    traced.recording(ns)
}

#[test]
fn a_seek_is_a_question_where_it_leads_nowhere_and_nothing_was_read() {
    only(&seeks(2_000, 0, false), "needless-system-calls");
    only(&seeks(2_000, 9, false), "needless-system-calls");
    silent(&seeks(2_000, 11, false));
    silent(&seeks(2_000, 0, true));
}

#[test]
fn a_file_that_is_read_again_from_its_start_is_sought_though_some_reads_are_not_known_one_by_one() {
    let mut recording = seeks(2_000, 0, true);
    let mut number = 0;
    recording.tables.syscalls.retain(|row| {
        number += u32::from(row.number == READ);
        row.number != READ || number % 20 != 0
    });
    silent(&recording);
}

#[test]
fn added_up_seeks_whose_positions_are_not_known_are_no_evidence() {
    let known = |each: u32| {
        let mut recording = calls(Mode::AddedUp, SEEK, 1, 0, 10_000, 200);
        let mut sum = recording.tables.syscalls.remove(0);
        for at in 0..each {
            let mut row = sum.clone();
            (row.count, row.duration_ns, row.time_ns) = (1, 10 * US, MS + u64::from(at));
            recording.tables.syscalls.push(row);
        }
        sum.time_ns = 2 * MS;
        recording.tables.syscalls.push(sum);
        recording
    };
    only(&known(51), "needless-system-calls");
    silent(&known(50));
}

#[test]
fn a_call_that_fails_each_time_for_the_same_reason_is_reported() {
    for mode in BOTH {
        for (number, error) in [(CLOSE, -9), (CLOSE, -22), (294, -38), (285, -95)] {
            let finding = only(&calls(mode, number, 0, error, 10_000, 400), "needless-system-calls");
            assert_eq!((finding.variant, finding.cost.gain()), ("failure", 100 * MS), "{number} {error}");
        }
    }
    silent(&calls(Mode::Each, CLOSE, 0, -9, 999, 90));
    silent(&calls(Mode::Each, CLOSE, 0, -9, 10_000, 1_010));
    // Not yet, interrupted, refused: later it may be otherwise.
    for error in [-11, -4, -111, -17] {
        silent(&calls(Mode::Each, CONNECT, 0, error, 2_000, 90));
    }
}

/// mkdir of so many directories in turn, all of which exist.
fn directories(different: u32) -> Recording {
    let mut traced = Traced::new(Mode::Each);
    let paths: Vec<u32> = (0..different).map(|at| traced.file(&format!("/srv/{at}"), "path", 0)).collect();
    for at in 0..10_000 {
        traced.call(MKDIR, Some(paths[at % paths.len()]), -17, 10 * US);
    }
    traced.recording(400 * MS)
}

#[test]
fn a_directory_must_be_asked_for_once() {
    let finding = only(&directories(1), "needless-system-calls");
    assert_eq!((finding.variant, finding.cost.gain()), ("failure", 100 * MS - 10 * US));
    assert_eq!(only(&directories(2_500), "needless-system-calls").cost.gain(), 75 * MS);
    silent(&directories(10_000));
    // Which ones they are is not known.
    silent(&{
        let mut traced = Traced::new(Mode::Each);
        for _ in 0..10_000 {
            traced.call(MKDIR, None, -17, 10 * US);
        }
        traced.recording(400 * MS)
    });
}

#[test]
fn of_ten_calls_nine_must_fail() {
    let mixed = |good: u32| {
        let mut traced = Traced::new(Mode::Each);
        for at in 0..10_000 {
            let result = if at % 100 < good { 0 } else { -9 };
            traced.call(CLOSE, None, result, 10 * US);
        }
        traced.recording(400 * MS)
    };
    only(&mixed(10), "needless-system-calls");
    silent(&mixed(11));
}

/// So many polls with 1,000 descriptors that take `each` of CPU time after a wait of 1 ms and find `ready` of them ready, in a run of `cpu`.
fn polls(times: u32, each: u64, ready: i64, cpu: u64) -> Recording {
    polls_with(1_000, times, each, ready, cpu)
}

fn polls_with(descriptors: u64, times: u32, each: u64, ready: i64, cpu: u64) -> Recording {
    let mut traced = Traced::new(Mode::Each);
    for _ in 0..times {
        let call = traced.call(POLL, None, ready, MS + each);
        (call.blocked_ns, call.argument) = (MS, descriptors << 32 | 5_000);
    }
    let kernel = in_kernel(&mut traced);
    traced.compute(kernel, u64::from(times) * each);
    let mut recording = traced.recording(cpu);
    recording.about.format.minor = 15;
    recording
}

/// A stack of a function of the kernel under `work`.
fn in_kernel(traced: &mut Traced) -> u32 {
    let (location, stack) = (traced.tables.locations.len() as u32, traced.tables.stacks.len() as u32);
    traced.tables.locations.push(Location {
        location,
        module: None,
        address: 0xffff,
        kind: "kernel".to_owned(),
    });
    traced.tables.stacks.push(Stack { stack, parent: Some(1), location });
    stack
}

#[test]
fn polls_in_which_no_cpu_was_at_work_are_none() {
    // Woken from an idle CPU: what lies between is no work.
    let mut recording = polls(1_000, 100 * US, 1, 200 * MS);
    recording.tables.samples.clear();
    silent(&recording);
}

#[test]
fn polls_that_go_through_very_many_descriptors_are_reported() {
    let finding = only(&polls(1_000, 100 * US, 1, 200 * MS), "needless-system-calls");
    assert_eq!((finding.variant, finding.cost.basis()), ("polls", Basis::Cpu));
    assert_eq!((finding.cost.amount(), finding.cost.gain()), (100 * MS, 98 * MS));
    let said = finding.explanation.join("\n");
    assert!(
        said.contains("poll was called 1,000 times from work (program.c:11) with 1,000 descriptors each time, and found 1.0 of them ready"),
        "{said}"
    );
    assert!(said.contains("each call took 100 µs of CPU time"), "{said}");
}

#[test]
fn polls_with_a_few_descriptors_that_take_long_for_other_reasons_are_none() {
    // 230 take 25 µs at most, of which 23 can go.
    let finding = only(&polls_with(230, 1_000, 100 * US, 1, 200 * MS), "needless-system-calls");
    assert_eq!((finding.cost.amount(), finding.cost.gain()), (25 * MS, 23 * MS));
    let said = finding.explanation.join("\n");
    assert!(
        said.contains("each call took 100 µs of CPU time")
            && said.contains("100 ms in total, of which 25 ms is"),
        "{said}"
    );
    silent(&polls_with(229, 1_000, 100 * US, 1, 200 * MS));
    let mut recording = polls(1_000, 100 * US, 1, 200 * MS);
    recording.about.format.minor = 14; // which did not record how many there are
    silent(&recording);
}

#[test]
fn polls_count_from_25_us_on_and_10_us_for_each_that_is_ready() {
    only(&polls(1_000, 25 * US, 1, 100 * MS), "needless-system-calls");
    silent(&polls(1_000, 24 * US, 1, 100 * MS));
    only(&polls(1_000, 100 * US, 10, 200 * MS), "needless-system-calls");
    silent(&polls(1_000, 100 * US, 11, 200 * MS));
    only(&polls(100, 100 * US, 1, 20 * MS), "needless-system-calls");
    silent(&polls(99, 100 * US, 1, 20 * MS));
    only(&polls(1_000, 102 * US, 1, 990 * MS), "needless-system-calls");
    silent(&polls(1_000, 102 * US, 1, 1_010 * MS));
}

#[test]
fn several_cases_of_one_function_are_said_with_what_each_takes() {
    let mut traced = Traced::new(Mode::Each);
    for _ in 0..10_000 {
        traced.call(TGKILL, None, 0, 10 * US);
        traced.call(GETPID, None, 100, 4 * US);
    }
    let finding = only(&traced.recording(400 * MS), "needless-system-calls");
    let said = finding.explanation.join("\n");
    assert!(said.contains("the largest of 2 such cases in this function: 100 ms and 40 ms; cost"), "{said}");
}
