//! What is said of calls that were traced by ptrace, for the whole run or in windows.

use crate::traced::{MS, Mode, OTHER, Traced, US, only};
use slowpath_diagnose::diagnose;
use slowpath_diagnose::findings::{Confidence, Finding, Sure};
use slowpath_recording::Recording;
use slowpath_recording::about::{Counter, Tracer};

const WRITE: u32 = 1;
const RECEIVE: u32 = 45;
const FSYNC: u32 = 74;
const OPEN: u32 = 257;

/// 10,000 calls of 20 µs each from one place, in 200 ms of CPU time.
fn calling(number: u32, kind: &str, result: i64) -> Recording {
    let mut traced = Traced::new(Mode::Each);
    let file = traced.file("/tmp/out", kind, 0);
    for _ in 0..10_000 {
        traced.call(number, Some(file), result, 20 * US);
    }
    traced.recording(200 * MS)
}

fn by_ptrace(mut recording: Recording, traced_share: f64) -> Recording {
    (recording.about.tracer, recording.about.traced_share) = (Some(Tracer::Ptrace), traced_share);
    recording
}

fn says(finding: &Finding, part: &str) -> bool {
    finding.explanation.iter().any(|line| line.contains(part))
}

#[test]
fn tiny_writes_are_certain_by_bpf_and_likely_by_ptrace() {
    let calls = |finding: &Finding| {
        finding.facts.iter().find(|fact| fact.name == "calls").map(|fact| (fact.value, fact.sure))
    };
    let writes = || calling(WRITE, "file", 20);
    let bpf = only(&writes(), "small-io");
    assert_eq!((bpf.confidence, calls(&bpf)), (Confidence::Certain, Some((10_000.0, Sure::Exact))));
    let whole = only(&by_ptrace(writes(), 1.0), "small-io");
    assert_eq!((whole.confidence, calls(&whole)), (Confidence::Likely, Some((10_000.0, Sure::Exact))));
    assert!(says(&whole, "times are estimates") && !says(&whole, "so are counts"));
    let part = only(&by_ptrace(writes(), 0.01), "small-io");
    assert_eq!((part.confidence, calls(&part)), (Confidence::Likely, Some((10_000.0, Sure::Fitted))));
    assert!(says(&part, "times are estimates") && says(&part, "so are counts") && says(&part, "1.0 %"));
}

#[test]
fn how_often_something_was_found_is_not_said_of_windows_in_which_the_program_was_slower() {
    let nothing = || calling(RECEIVE, "socket", -11);
    let found =
        |finding: &Finding| finding.facts.iter().any(|fact| fact.name == "checks that found something");
    let bpf = only(&nothing(), "busy-wait");
    assert!(found(&bpf) && says(&bpf, "it never found anything"));
    let part = only(&by_ptrace(nothing(), 0.01), "busy-wait");
    assert!(!found(&part) && !says(&part, "never found"));
}

#[test]
fn what_the_program_does_with_a_file_that_it_reads_again_is_known_from_windows_as_well() {
    const READ: u32 = 0;
    const CLOSE: u32 = 3;
    // Each call stands for ten; between open and close the program works for 2 ms. Between windows only samples are taken.
    let recording = |between: u64| {
        let mut traced = Traced::new(Mode::Each);
        let file = traced.file("/etc/settings", "file", 2_000);
        for _ in 0..40 {
            for (number, result) in [(OPEN, 3), (READ, 2_000), (CLOSE, 0)] {
                if number == CLOSE {
                    traced.compute(1, 2 * MS);
                }
                let row = traced.call(number, Some(file), result, 20 * US);
                (row.count, row.duration_ns, row.bytes) = (10, row.duration_ns * 10, row.bytes * 10);
            }
            traced.compute(1, 2 * MS);
        }
        traced.compute(1, between);
        traced.recording(2_000 * MS)
    };
    // 400 times 2 ms and 60 µs.
    let finding = only(&by_ptrace(recording(1_440 * MS), 0.1), "redundant-file-access");
    assert!((700 * MS..=830 * MS).contains(&finding.cost.amount()), "{finding:#?}");
    // What it is slowed down by in windows is no time of its own: all samples of it are of 400 ms.
    let finding = only(&by_ptrace(recording(240 * MS), 0.1), "redundant-file-access");
    assert!((380 * MS..=430 * MS).contains(&finding.cost.amount()), "{finding:#?}");
    // Elsewhere a row of ten calls is their sum: it has no beginning.
    assert!(slowpath_diagnose::diagnose(&recording(1_440 * MS)).findings.is_empty());
}

/// `work` reads a file 100 times, and makes something of it for so long each time, of 600 ms. It is met in opens of which the file is not known, and so often in one that
/// is made at the same place for another file.
fn parsing(ns: u64, elsewhere: usize) -> Recording {
    const READ: u32 = 0;
    const CLOSE: u32 = 3;
    const IN_WORK: u32 = 1;
    let mut traced = Traced::new(Mode::Each);
    let file = traced.file("/etc/rules", "file", 100_000);
    let others = traced.file("/etc/others", "file", 100_000);
    for number in 0..100 {
        for (call, result) in [(OPEN, 3), (READ, 100_000), (CLOSE, 0)] {
            traced.call(call, Some(file), result, 10 * US);
        }
        let met = traced.call(OPEN, None, 3, 10 * US);
        met.met = Some(true);
        traced.compute(IN_WORK, ns);
        if number < elsewhere {
            traced.call(OPEN, Some(others), 3, 10 * US).met = Some(true);
        }
        traced.compute(OTHER, MS);
    }
    by_ptrace(traced.recording(600 * MS), 1.0)
}

#[test]
fn opens_that_are_met_without_a_name_are_of_the_file_that_is_opened_there() {
    let made = |recording: &Recording| {
        let findings = diagnose(recording).findings;
        findings.iter().find(|one| one.cause.slug() == "redundant-file-access").map(|one| one.cost.amount())
    };
    assert_eq!(made(&parsing(4 * MS, 0)), Some(400 * MS));
    // Others are opened there: that may have been one of them, and then `work` does more than to read this one.
    assert_ne!(made(&parsing(4 * MS, 5)), Some(400 * MS));
}

#[test]
fn who_reads_makes_something_of_it_if_it_takes_four_times_as_long() {
    let made = |ns: u64| {
        let findings = diagnose(&parsing(ns, 0)).findings;
        findings.into_iter().find(|one| one.cause.slug() == "redundant-file-access")
    };
    let says = |ns| made(ns).is_some_and(|one| says(&one, "work, which reads it"));
    // Reading takes 3 ms in all, as far as calls were traced.
    assert!(says(MS) && !says(100 * US));
}

#[test]
fn a_file_that_was_open_already_and_whose_buffers_each_seek_throws_away_is_known_from_windows() {
    const READ: u32 = 0;
    const LSEEK: u32 = 8;
    // 200 entries of an index, and the heads that they tell of; each call stands for ten.
    let recording = |step: u64, by_ptrace_of: fn(Recording, f64) -> Recording| {
        let mut traced = Traced::new(Mode::Each);
        let file = traced.file("/data/0.zip", "file", 400_000);
        for entry in 0..100 {
            for place in [300_000 + entry * step, entry * step] {
                for (number, result, ns) in [(LSEEK, place as i64, US), (READ, 8_192, 10 * US)] {
                    let row = traced.call(number, Some(file), result, ns);
                    (row.count, row.duration_ns) = (10, row.duration_ns * 10);
                    row.bytes *= 10;
                }
            }
        }
        by_ptrace_of(traced.recording(100 * MS), 0.1)
    };
    let finding = only(&recording(40, by_ptrace), "redundant-file-access");
    assert!(says(&finding, "was read 41 times over"), "{finding:#?}");
    assert!(says(&finding, "a buffer is filled and thrown away"), "{finding:#?}");
    // 41 times the file in 20 ms, all but once.
    assert!((19 * MS..20 * MS).contains(&finding.cost.gain()), "{finding:#?}");
    // Elsewhere a row of ten calls is their sum, and says nothing of each.
    assert!(diagnose(&recording(40, |recording, _| recording)).findings.is_empty());
    // Each time another buffer: what is read is used.
    assert!(!says(&only(&recording(8_192, by_ptrace), "redundant-file-access"), "thrown away"));
}

#[test]
fn a_file_that_is_opened_for_each_reading_is_not_read_over() {
    const READ: u32 = 0;
    const LSEEK: u32 = 8;
    // A status that is read as a whole; threads are met in reads.
    let found = |opens: u32| {
        let mut traced = Traced::new(Mode::Each);
        let file = traced.file("/run/status", "file", 4_000);
        for reading in 0..100 {
            if reading < opens {
                traced.call(OPEN, Some(file), 3, US);
            }
            traced.call(LSEEK, Some(file), 0, US);
            traced.call(READ, Some(file), 4_000, 10 * US);
            let met = traced.call(READ, Some(file), 4_000, 100 * US);
            (met.count, met.bytes, met.met) = (10, 40_000, Some(true));
            let met = traced.call(LSEEK, Some(file), 0, 10 * US);
            (met.count, met.met) = (10, Some(true));
        }
        let recording = by_ptrace(traced.recording(50 * MS), 0.1);
        diagnose(&recording).findings.iter().any(|one| one.variant == "rewound")
    };
    // One or two opens are those of who reads it over and over.
    assert!(found(2) && !found(20));
}

#[test]
fn time_in_the_kernel_that_no_sample_shows_is_that_of_the_system_calls() {
    let hot = |counter: Option<Counter>| {
        let mut recording = by_ptrace(calling(WRITE, "file", 20), 0.01);
        recording.about.counter = counter;
        let hot = slowpath_diagnose::diagnose(&recording).hot;
        hot.into_iter().map(|hot| (hot.function, hot.self_ns / MS, hot.total_ns / MS)).collect::<Vec<_>>()
    };
    assert_eq!(hot(Some(Counter::Breakpoints)), [("read_file".to_owned(), 200, 200)]);
    // Where samples are taken by stops they show it.
    assert!(hot(None).is_empty());
}

#[test]
fn syncs_of_one_operation_are_judged_together() {
    // As of a database's journal, its folder, a mark, and the pages: 12 KiB for each on average.
    let operations = |pages: u64| {
        let mut traced = Traced::new(Mode::Each);
        let file = traced.file("/var/lib/db", "file", 0);
        for _ in 0..100 {
            for (bytes, wait) in [(4_096, MS), (0, MS), (12, MS), (pages, 4 * MS)] {
                traced.sleep(FSYNC, Some(file), 0, wait).argument = bytes;
            }
        }
        only(&by_ptrace(traced.recording(10 * MS), 0.1), "sync-per-operation").cost.amount() / MS
    };
    assert!((690..=705).contains(&operations(45_000)), "{}", operations(45_000));
    // Who writes more before one of them than some pages means it, and so do all where it is much on average.
    assert!((290..=305).contains(&operations(66_000)), "{}", operations(66_000));
    // Opening it for each operation is part of it.
    let opening = |path: &str| {
        let mut traced = Traced::new(Mode::Each);
        let (synced, other) = (traced.file("/var/lib/db", "file", 0), traced.file(path, "file", 0));
        for _ in 0..100 {
            traced.call(OPEN, Some(other), 3, MS);
            traced.sleep(FSYNC, Some(synced), 0, MS).argument = 100;
        }
        only(&by_ptrace(traced.recording(10 * MS), 0.1), "sync-per-operation").cost.amount() / MS
    };
    assert!((190..=205).contains(&opening("/var/lib/db")), "{}", opening("/var/lib/db"));
    assert!((95..=105).contains(&opening("/var/lib/other")), "{}", opening("/var/lib/other"));
}

/// 100 syncs in windows, before each of which the kernel counts so many bytes, and behind each fifth, the first of a window, many more. How many writes
/// there were is estimated 30 times too high.
fn syncing(bytes: u64) -> Recording {
    let mut traced = Traced::new(Mode::Each);
    let file = traced.file("/var/log/journal", "file", 0);
    for number in 0..100u64 {
        let first = number % 5 == 0;
        traced.now += if first { 20 * MS } else { 0 };
        let row = traced.call(WRITE, Some(file), bytes as i64, 10 * US);
        (row.count, row.bytes) = (30, 30 * bytes);
        traced.sleep(FSYNC, Some(file), 0, 3 * MS).argument = if first { 40 * bytes } else { bytes };
    }
    by_ptrace(traced.recording(10 * MS), 0.1)
}

#[test]
fn what_is_written_between_two_syncs_is_that_which_the_kernel_counts() {
    let finding = only(&syncing(16_384), "sync-per-operation");
    assert!(says(&finding, "on average 16,384 bytes were written"), "{:?}", finding.explanation);
    assert!(diagnose(&syncing(16_385)).findings.is_empty());
    // Where the kernel does not say it, writes that were seen do.
    let mut unknown = syncing(16_384);
    unknown
        .tables
        .syscalls
        .iter_mut()
        .filter(|row| row.number == FSYNC)
        .for_each(|row| row.argument = u64::MAX);
    assert!(diagnose(&unknown).findings.is_empty());
}

#[test]
fn syncs_behind_large_blocks_are_no_part_of_the_cost() {
    // Of each operation one behind 10 MB, which takes 30 ms, and two behind next to nothing, of 1 ms.
    let operations = |large: u64| {
        let mut traced = Traced::new(Mode::Each);
        let file = traced.file("/var/lib/store", "file", 0);
        for _ in 0..100 {
            for (bytes, wait) in [(10_000_000, large), (0, MS), (10, MS)] {
                traced.sleep(FSYNC, Some(file), 0, wait).argument = bytes;
            }
        }
        by_ptrace(traced.recording(10 * MS), 0.1)
    };
    assert!(diagnose(&operations(30 * MS)).findings.is_empty());
    let finding = only(&operations(2 * MS), "sync-per-operation");
    assert!((195 * MS..=205 * MS).contains(&finding.cost.amount()), "{finding:#?}");
}

/// `known` rows of two small messages and a wait, each for 3 of them; 10 rows for 2 waits each of which the messages before are not known, since they begin a window; and
/// so many waits of the same length behind one message.
fn delayed(known: u32, wait: u64, single: u32) -> Recording {
    let mut traced = Traced::new(Mode::Each);
    let socket = traced.file("", "socket", 0);
    for number in 0..known + 10 + single {
        let messages = if number < known { 2 } else { u32::from(number >= known + 10) };
        traced.now += 20 * MS;
        for _ in 0..messages {
            let row = traced.call(WRITE, Some(socket), 100, 15 * US);
            (row.count, row.bytes) = (3, 300);
        }
        let times = if messages > 0 { 3 } else { 2 };
        traced.sleep(RECEIVE, Some(socket), 10, times * wait).count = times;
    }
    by_ptrace(traced.recording(10 * MS), 0.1)
}

#[test]
fn waits_for_delayed_acknowledgements_are_known_from_windows_and_those_between_them_are_alike() {
    for single in [0, 30] {
        let finding = only(&delayed(5, 42 * MS, single), "waiting");
        assert_eq!((finding.variant, finding.cost.amount()), ("delayed-ack", 35 * 42 * MS));
        let waits = finding
            .facts
            .iter()
            .find(|fact| fact.name == "delayed waits")
            .map(|fact| (fact.value, fact.sure));
        assert_eq!(waits, Some((35.0, Sure::Fitted)));
    }
    let is_delayed = |recording| diagnose(&recording).findings.iter().any(|one| one.variant == "delayed-ack");
    assert!(!is_delayed(delayed(4, 42 * MS, 0)));
    assert!(!is_delayed(delayed(5, 51 * MS, 0)));
    // A window that ends behind a message, and one that begins with the next, show no two in a row.
    let mut apart = Traced::new(Mode::Each);
    let socket = apart.file("", "socket", 0);
    for _ in 0..20 {
        for _ in 0..2 {
            apart.now += 20 * MS;
            apart.call(WRITE, Some(socket), 100, 15 * US);
        }
        apart.sleep(RECEIVE, Some(socket), 10, 42 * MS);
    }
    assert!(!is_delayed(by_ptrace(apart.recording(10 * MS), 0.1)));
}
