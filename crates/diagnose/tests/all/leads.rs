//! Where to look when no cause was found, on synthetic recordings.

use crate::traced::{MS, Mode, OTHER, Traced, US, WORK};
use crate::walked::{self, LIST, PARSE, SEARCH, Walked};
use slowpath_diagnose::diagnose;
use slowpath_diagnose::findings::Leads;

const READ: u32 = 0;
const WAIT4: u32 = 61;

fn leads(traced: Traced, cpu_ns: u64) -> Leads {
    let found = diagnose(&traced.recording(cpu_ns));
    assert!(found.findings.is_empty(), "{:#?}", found.findings);
    found.leads
}

#[test]
fn the_innermost_function_of_the_program_with_most_of_the_time_is_named() {
    let mut traced = Traced::new(Mode::Each);
    traced.compute(WORK, 700 * MS);
    traced.compute(OTHER, 300 * MS);
    let busiest = leads(traced, 1_000 * MS).busiest.expect("one has most");
    assert_eq!((busiest.function.function.as_str(), busiest.total_ns), ("work", 700 * MS));
    // Its only caller has the same time.
    let mut traced = Traced::new(Mode::Each);
    traced.compute(WORK, 1_000 * MS);
    assert_eq!(leads(traced, 1_000 * MS).busiest.expect("one has all").function.function, "work");
    // Where the program begins has all of it, and nothing else most.
    let mut traced = Traced::new(Mode::Each);
    traced.compute(WORK, 490 * MS);
    traced.compute(OTHER, 490 * MS);
    traced.compute(0, 20 * MS);
    assert_eq!(leads(traced, 1_000 * MS).busiest, None);
    // Half a second of a minute is no lead.
    let mut traced = Traced::new(Mode::Each);
    traced.compute(WORK, 500 * MS);
    traced.now += 60_000 * MS;
    assert_eq!(leads(traced, 500 * MS).busiest, None);
}

#[test]
fn the_longest_wait_is_named_and_that_for_a_child_is_what_the_child_waits_for() {
    let mut traced = Traced::new(Mode::Each);
    let pipe = traced.file("pipe", "pipe", 0);
    let child = traced.process(Some(0), "/usr/bin/sort", MS);
    traced.sleep(READ, Some(pipe), 10, 50 * MS);
    let from = traced.now;
    let row = traced.sleep(READ, Some(pipe), 10, 900 * MS);
    (row.thread, row.time_ns) = (child, from);
    traced.now = from;
    traced.sleep(WAIT4, None, i64::from(child) + 100, 950 * MS);
    traced.tables.processes[child as usize].end_ns = Some(traced.now);
    let wait = leads(traced, 2 * MS).wait.expect("there are waits");
    assert_eq!((wait.program.as_str(), wait.call.as_str()), ("sort", "read"));
    assert_eq!((wait.file.as_deref(), wait.calls, wait.total_ns), (Some("pipe"), 1, 900 * MS));
    assert_eq!(wait.function.expect("its stack is known").function, "work");
}

/// The first thread waits 1 s for others, one of which reads `calls` times, 1 s / `part` in all.
fn waiting_for_a_reader(calls: u64, part: u64) -> (String, u64) {
    const FUTEX: u32 = 202;
    let mut traced = Traced::new(Mode::Each);
    let file = traced.file("/data", "file", 4096);
    let reader = traced.tables.threads.len() as u32;
    traced.threads(1);
    let from = traced.now;
    for _ in 0..calls {
        traced.sleep(READ, Some(file), 100, 1_000 * MS / part / calls).thread = reader;
    }
    traced.now = from;
    traced.sleep(FUTEX, None, 0, 1_000 * MS);
    let wait = leads(traced, 2 * MS).wait.expect("there are waits");
    (wait.call, wait.total_ns / MS)
}

#[test]
fn who_waits_for_other_threads_waits_for_what_they_wait_for() {
    assert_eq!(waiting_for_a_reader(4, 1), ("read".to_owned(), 1_000));
    assert_eq!(waiting_for_a_reader(4, 2), ("read".to_owned(), 500));
    // They do something else for most of that time; one of them idles.
    assert_eq!(waiting_for_a_reader(4, 3), ("futex".to_owned(), 1_000));
    assert_eq!(waiting_for_a_reader(1, 1), ("futex".to_owned(), 1_000));
}

/// Three runs of one program, one after the other, read for 300 ms each; a server beside them waits all the time.
#[test]
fn children_that_are_waited_for_one_after_the_other_wait_as_one_and_who_is_not_waited_for_idles() {
    let mut traced = Traced::new(Mode::Each);
    let (pipe, socket) = (traced.file("pipe", "pipe", 0), traced.file("socket", "socket", 0));
    let server = traced.process(Some(0), "/usr/sbin/server", MS);
    let from = traced.now;
    for _ in 0..3 {
        let began = traced.now;
        let child = traced.process(Some(0), "/usr/bin/get", MS);
        traced.sleep(READ, Some(pipe), 10, 300 * MS).thread = child;
        traced.tables.processes[child as usize].end_ns = Some(traced.now);
        let (end, pid) = (traced.now, i64::from(traced.tables.processes[child as usize].pid));
        traced.now = began;
        traced.sleep(WAIT4, None, pid, end + MS - began);
    }
    let end = traced.now;
    traced.now = from;
    traced.sleep(READ, Some(socket), 0, end - from).thread = server;
    traced.tables.syscalls.sort_by_key(|row| row.time_ns);
    let wait = leads(traced, 2 * MS).wait.expect("there are waits");
    assert_eq!((wait.program.as_str(), wait.calls, wait.total_ns), ("get", 3, 900 * MS));
}

#[test]
fn children_that_wait_at_the_same_time_do_not_wait_twice_as_long() {
    let mut traced = Traced::new(Mode::Each);
    let pipe = traced.file("pipe", "pipe", 0);
    let from = traced.now;
    for _ in 0..2 {
        let child = traced.process(Some(0), "/usr/bin/sort", MS);
        traced.now = from;
        traced.sleep(READ, Some(pipe), 10, 900 * MS).thread = child;
        traced.tables.processes[child as usize].end_ns = Some(traced.now);
    }
    traced.now = from;
    traced.sleep(WAIT4, None, 101, 950 * MS);
    let wait = leads(traced, 2 * MS).wait.expect("there are waits");
    assert_eq!((wait.program.as_str(), wait.calls, wait.total_ns), ("sort", 1, 900 * MS));
}

#[test]
fn waits_of_less_than_a_tenth_of_the_time_are_no_lead() {
    for (wait, named) in [(110 * MS, true), (90 * MS, false)] {
        let mut traced = Traced::new(Mode::Each);
        let pipe = traced.file("pipe", "pipe", 0);
        traced.sleep(READ, Some(pipe), 10, wait);
        traced.now += 1_000 * MS - wait - 2 * US;
        assert_eq!(leads(traced, MS).wait.is_some(), named);
    }
}

#[test]
fn who_only_sleeps_is_said_to_sleep_and_a_runtime_that_sleeps_while_it_looks_for_work_is_no_lead() {
    const NANOSLEEP: u32 = 35;
    let mut traced = Traced::new(Mode::Each);
    traced.sleep(NANOSLEEP, None, 0, 500 * MS);
    let wait = leads(traced, 2 * MS).wait.expect("it sleeps");
    assert!(wait.asleep);
    let mut traced = Traced::new(Mode::Each);
    traced.sleep(NANOSLEEP, None, 0, 500 * MS);
    for function in &mut traced.tables.functions {
        function.name = format!("runtime/{}", function.name);
    }
    traced.tables.functions[0].name = "runtime.usleep".to_owned();
    assert_eq!(leads(traced, 2 * MS).wait, None);
}

#[test]
fn where_the_first_thread_waits_for_goroutines_it_is_these_that_wait() {
    const FUTEX: u32 = 202;
    const NANOSLEEP: u32 = 35;
    let waits = |other: u64| {
        let mut traced = Traced::new(Mode::Each);
        let goroutine = traced.tables.threads.len() as u32;
        traced.threads(1);
        let from = traced.now;
        for _ in 0..5 {
            traced.sleep(NANOSLEEP, None, 0, other * MS / 5).thread = goroutine;
        }
        traced.now = from;
        traced.sleep(FUTEX, None, 0, 1_000 * MS).stack = Some(OTHER);
        // `main → other` of the runtime; `main → work` is the program's.
        traced.tables.functions[0].name = "runtime.futex".to_owned();
        traced.tables.functions[3].name = "runtime/internal.wait".to_owned();
        leads(traced, 2 * MS).wait.map(|wait| (wait.call, wait.calls, wait.total_ns / MS))
    };
    assert_eq!(waits(900), Some(("nanosleep".to_owned(), 5, 900)));
    assert_eq!(waits(400), None, "that it waits for something to run is no lead");
}

#[test]
fn a_wait_for_a_child_is_no_lead_where_only_its_runtime_is_seen_to_wait() {
    const FUTEX: u32 = 202;
    let named = |runtime_ms: u64| {
        let mut traced = Traced::new(Mode::Each);
        let child = traced.process(Some(0), "/usr/bin/server", MS);
        let from = traced.now;
        let row = traced.sleep(FUTEX, None, 0, runtime_ms * MS);
        (row.thread, row.stack) = (child, Some(OTHER));
        traced.tables.functions[0].name = "runtime.futex".to_owned();
        traced.tables.functions[3].name = "runtime/internal.wait".to_owned();
        traced.now = from;
        traced.sleep(WAIT4, None, i64::from(child) + 100, 1_000 * MS);
        traced.tables.processes[child as usize].end_ns = Some(traced.now);
        leads(traced, 2 * MS).wait.map(|wait| wait.call)
    };
    assert_eq!(named(900), None);
    // What is less than half of it says nothing of the rest.
    assert_eq!(named(400), Some("wait4".to_owned()));
}

#[test]
fn a_wait_for_a_child_that_works_is_no_lead() {
    for (cpu_ms, named) in [(400, true), (500, false)] {
        let mut traced = Traced::new(Mode::Each);
        let child = traced.process(Some(0), "/usr/bin/sort", cpu_ms * MS);
        traced.sleep(WAIT4, None, i64::from(child) + 100, 1_000 * MS);
        traced.tables.processes[child as usize].end_ns = Some(traced.now);
        assert_eq!(leads(traced, cpu_ms * MS).wait.is_some(), named);
    }
}

/// The lead of a loop that is no finding: each time it works on something else.
fn of_loop(walked: Walked) -> Option<(String, u64, bool)> {
    let found = diagnose(&walked::recording(&walked));
    assert!(found.findings.is_empty(), "{:#?}", found.findings);
    let told = found.leads.busy_loop?;
    Some((told.function.function, told.rounds as u64, told.again))
}

#[test]
fn the_loop_with_most_of_the_time_is_named_with_how_far_it_goes() {
    let elsewhere: walked::Entry = |n| (vec![LIST + 4096 * n], vec![n + 1], 0);
    let time = || vec![(SEARCH, 0.31), (PARSE, 0.69)];
    let walked = || Walked { time: time(), entry: elsewhere, ..Walked::default() };
    assert_eq!(of_loop(walked()), Some(("find".to_owned(), 200, false)));
    // Too little of the time; too short; not entered often enough.
    assert_eq!(of_loop(Walked { time: vec![(SEARCH, 0.29), (PARSE, 0.71)], ..walked() }), None);
    assert_eq!(of_loop(Walked { counted: (10, 150), ..walked() }), None);
    assert_eq!(of_loop(Walked { counted: (10, 160), ..walked() }).map(|told| told.1), Some(16));
    assert_eq!(of_loop(Walked { entries: 36, ..walked() }), None);
    // It begins at the same place, but does more there than look.
    let again = Walked { time: time(), work: "moves", ..Walked::default() };
    assert_eq!(of_loop(again), Some(("find".to_owned(), 200, true)));
}
