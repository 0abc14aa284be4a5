//! The cause `waiting` where children that have ended are noticed late, on synthetic recordings, at its thresholds.

use crate::traced::{MS, Mode, Traced, US, WORK, only, silent};
use slowpath_diagnose::findings::Basis;
use slowpath_recording::Recording;

const NANOSLEEP: u32 = 230;
const WAIT4: u32 = 61;
const CLONE: u32 = 56;

/// A program that starts one child after the other, sleeps, and looks whether it has ended.
#[derive(Clone, Copy)]
struct Jobs {
    number: u32,
    sleep: u64,
    /// When each child ends after the sleep began.
    works: u64,
    /// So many of them are followed by another one at once; the rest after a further sleep.
    goes_on: u32,
    /// The options of the look.
    options: u64,
    /// Other work of the first process, at the end.
    other_ms: u64,
    /// Another child waits for something all the time; and one of somebody else works.
    sibling: bool,
    beside: bool,
}

impl Default for Jobs {
    fn default() -> Jobs {
        Jobs {
            number: 20,
            sleep: 40 * MS,
            works: 10 * MS,
            goes_on: 20,
            options: 1,
            other_ms: 0,
            sibling: false,
            beside: false,
        }
    }
}

fn recording(jobs: Jobs) -> Recording {
    let mut traced = Traced::new(Mode::Each);
    let sibling = jobs.sibling.then(|| traced.process(Some(0), "/bin/download", MS));
    let beside = jobs.beside.then(|| traced.process(None, "/bin/other", MS));
    for number in 0..jobs.number {
        let child = traced.process(Some(0), "/bin/job", MS);
        let pid = i64::from(child) + 100;
        traced.call(CLONE, None, pid, 50 * US);
        let began = traced.now;
        traced.sleep(NANOSLEEP, None, 0, jobs.sleep);
        traced.tables.processes[child as usize].end_ns = Some(began + jobs.works);
        let row = traced.call(WAIT4, None, pid, US);
        row.argument = jobs.options;
        if number >= jobs.goes_on {
            traced.sleep(NANOSLEEP, None, 0, jobs.sleep);
        }
    }
    traced.compute(WORK, jobs.other_ms * MS);
    if let Some(sibling) = sibling {
        traced.tables.processes[sibling as usize].end_ns = Some(traced.now);
    }
    if let Some(beside) = beside {
        let until = traced.now;
        traced.now = MS;
        traced.compute(WORK, until - MS);
        traced.tables.samples.iter_mut().for_each(|sample| sample.thread = beside);
        traced.tables.processes[beside as usize].end_ns = Some(until);
    }
    let mut recording = traced.recording(2 * MS);
    (recording.about.format.major, recording.about.format.minor) = (1, 7);
    recording
}

#[test]
fn the_time_from_the_end_of_a_child_to_that_of_the_sleep_is_lost() {
    let finding = only(&recording(Jobs::default()), "waiting");
    assert_eq!((finding.variant, finding.cost.basis()), ("late", Basis::Wall));
    assert_eq!(finding.place.frame.function, "work");
    // 30 of each 40 ms.
    assert_eq!((finding.cost.amount() / MS, finding.cost.gain() / MS), (600, 600));
    assert!(finding.explanation[0].starts_with("20 times from work"), "{finding:#?}");
    assert!(finding.explanation[0].contains("after the sleep, 30 ms later"), "{finding:#?}");
}

#[test]
fn by_ptrace_a_sleep_of_a_window_stands_for_others() {
    let mut recording = recording(Jobs { number: 6, goes_on: 6, other_ms: 3_000, ..Jobs::default() });
    recording.about.tracer = Some(slowpath_recording::about::Tracer::Ptrace);
    let late = |recording: &Recording| {
        let finding = only(recording, "waiting");
        (finding.cost.gain() / MS, finding.explanation[0].split(' ').next().map(str::to_owned))
    };
    for row in recording.tables.syscalls.iter_mut().filter(|row| row.number == NANOSLEEP) {
        (row.count, row.duration_ns, row.blocked_ns) = (10, 10 * row.duration_ns, 10 * row.blocked_ns);
    }
    // 30 of each 40 ms, ten times each.
    assert_eq!(late(&recording), (1_800, Some("60".to_owned())));
    // By BPF such a row is of calls that were added up, and it is not known when each was.
    recording.about.tracer = Some(slowpath_recording::about::Tracer::Bpf);
    silent(&recording);
}

#[test]
fn a_child_that_ended_before_the_sleep_began_was_waited_for_through_all_of_it() {
    let mut recording = recording(Jobs::default());
    let ends: Vec<u64> =
        recording.tables.syscalls.iter().filter(|row| row.number == CLONE).map(|row| row.end_ns).collect();
    let children = recording.tables.processes.iter_mut().filter(|process| process.program == "/bin/job");
    children.zip(ends).for_each(|(child, end)| child.end_ns = Some(end));
    assert_eq!(only(&recording, "waiting").cost.gain() / MS, 800);
}

#[test]
fn five_of_them_a_tenth_of_the_time_and_half_a_second_of_sleep_count() {
    let with = |change: fn(&mut Jobs)| {
        let mut jobs = Jobs::default();
        change(&mut jobs);
        recording(jobs)
    };
    let few = |number: u32| recording(Jobs { number, ..Jobs::default() });
    only(&few(5), "waiting");
    silent(&few(4));
    // 600 ms of 6 s and more.
    only(&with(|jobs| jobs.other_ms = 5_100), "waiting");
    silent(&with(|jobs| jobs.other_ms = 5_300));
    only(&with(|jobs| jobs.sleep = 499 * MS), "waiting");
    silent(&with(|jobs| jobs.sleep = 501 * MS));
}

#[test]
fn where_nothing_is_started_afterwards_or_the_look_waits_or_others_work_nothing_is_lost() {
    only(&recording(Jobs { goes_on: 11, ..Jobs::default() }), "waiting");
    silent(&recording(Jobs { goes_on: 8, ..Jobs::default() }));
    silent(&recording(Jobs { options: 0, ..Jobs::default() }));
    silent(&recording(Jobs { works: 60 * MS, ..Jobs::default() }));
    silent(&recording(Jobs { sibling: true, ..Jobs::default() }));
    silent(&recording(Jobs { beside: true, ..Jobs::default() }));
    // Before, the options of a look were not recorded.
    let mut before = recording(Jobs::default());
    before.about.format.minor = 6;
    silent(&before);
}

/// `number` processes of one program, each started when the one before has ended. Each starts a child, whose end cuts its sleep short; it sleeps on, and looks.
/// `apart`: how long after its end the next one is started, or, if it is negative, how long after its start, before it looks. `threads`: all of them are
/// threads of one process.
fn one_after_another(number: u32, apart: i64, threads: bool) -> Recording {
    let mut traced = Traced::new(Mode::Each);
    let mut first = None;
    for _ in 0..number {
        let began = traced.now;
        let timeout = traced.process(Some(0), "/bin/timeout", MS);
        let process = *first.get_or_insert(timeout);
        let parent = if threads { process } else { timeout };
        traced.tables.threads[timeout as usize].process = parent;
        let child = traced.process(Some(parent), "/bin/job", MS);
        let pid = i64::from(child) + 100;
        traced.call(CLONE, None, pid, 50 * US).thread = timeout;
        let row = traced.sleep(NANOSLEEP, None, -516, 10 * MS);
        (row.thread, row.result) = (timeout, -516);
        traced.tables.processes[child as usize].end_ns = Some(traced.now);
        traced.call(15, None, -4, US).thread = timeout;
        traced.sleep(NANOSLEEP, None, 0, 30 * MS).thread = timeout;
        let row = traced.call(WAIT4, None, pid, US);
        (row.thread, row.argument) = (timeout, 1);
        traced.tables.processes[timeout as usize].end_ns = Some(traced.now);
        traced.now = if apart < 0 { began + apart.unsigned_abs() } else { traced.now + apart as u64 };
    }
    traced.process(Some(0), "/bin/last", MS);
    let mut recording = traced.recording(2 * MS);
    (recording.about.format.major, recording.about.format.minor) = (1, 7);
    recording
}

#[test]
fn what_each_of_many_processes_loses_adds_up_if_they_come_one_after_another() {
    let late = |recording: &Recording| -> Vec<u64> {
        let findings = slowpath_diagnose::diagnose(recording).findings;
        findings.iter().filter(|one| one.variant == "late").map(|one| one.cost.gain()).collect()
    };
    let after = MS as i64;
    let twenty = late(&one_after_another(20, after, false));
    assert!(twenty.len() == 1 && (595 * MS..=605 * MS).contains(&twenty[0]), "{twenty:?}");
    assert_eq!(late(&one_after_another(5, after, false)).len(), 1);
    assert!(late(&one_after_another(4, after, false)).is_empty());
    assert_eq!(late(&one_after_another(20, 49 * after, false)).len(), 1);
    assert!(late(&one_after_another(20, 51 * after, false)).is_empty());
    assert!(late(&one_after_another(20, -20 * after, false)).is_empty());
    assert!(late(&one_after_another(20, after, true)).is_empty());
}

#[test]
fn processes_that_were_not_traced_lose_as_much_if_most_of_those_do_that_were() {
    // Of twenty `heard` were traced, and `late` of these see their child late; the others wait for it.
    let gain = |heard: u32, late: u32| {
        let mut recording = one_after_another(20, MS as i64, false);
        let threads = &recording.tables.threads;
        let ours = threads
            .iter()
            .filter(|thread| recording.tables.processes[thread.process as usize].program == "/bin/timeout");
        let ours: Vec<u32> = ours.map(|thread| thread.thread).collect();
        let place = |thread: u32| ours.iter().position(|one| *one == thread).map_or(0, |at| at as u32);
        recording.tables.syscalls.retain(|row| row.number == CLONE || place(row.thread) < heard);
        for row in recording.tables.syscalls.iter_mut().filter(|row| row.number == WAIT4) {
            row.argument = u64::from(place(row.thread) < late);
        }
        only(&recording, "waiting").cost.gain() / MS
    };
    // 30 ms each.
    assert!((595..=605).contains(&gain(10, 10)), "{}", gain(10, 10));
    assert!((295..=305).contains(&gain(12, 6)), "{}", gain(12, 6));
    assert!((148..=152).contains(&gain(12, 5)), "{}", gain(12, 5));
}
