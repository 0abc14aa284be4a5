//! What several processes or joined runs do at one place is one finding, and is judged as one.

use crate::traced::{MS, Mode, Traced, US, WORK, only, silent};
use slowpath_recording::Recording;

const WRITE: u32 = 1;

/// Processes of one program that each make `calls` tiny writes of 10 µs, each to a file of its own; in one run, or each in its own.
fn writers(processes: u32, calls: u32, cpu_ms: u64, joined: bool) -> Recording {
    let mut traced = Traced::new(Mode::Each);
    for number in 0..processes {
        let process = if number == 0 {
            0
        } else {
            traced.process(if joined { None } else { Some(0) }, "/bin/program", MS)
        };
        traced.tables.processes[process as usize].run = if joined { number } else { 0 };
        let file = traced.file(&format!("/tmp/out{number}"), "file", 0);
        for _ in 0..calls {
            let row = traced.call(WRITE, Some(file), 20, 10 * US);
            (row.thread, row.stack) = (process, Some(WORK));
        }
    }
    let mut recording = traced.recording(cpu_ms * MS);
    if joined {
        recording.about.runs = processes;
    }
    recording
}

#[test]
fn a_hundred_processes_that_each_lose_a_hundredth_are_one_finding() {
    let finding = only(&writers(100, 1_000, 2_000, false), "small-io");
    assert!((0.95e9..=1.0e9).contains(&(finding.cost.gain() as f64)), "{}", finding.cost.gain());
    assert!((0.45..=0.55).contains(&finding.share));
    let said = finding.explanation.join("\n");
    assert!(said.contains("one of 100 processes that do the same"), "{said}");
}

#[test]
fn joined_runs_say_what_one_of_them_says() {
    for runs in [1, 2, 10, 100] {
        let finding = only(&writers(runs, 1_000, 20 * u64::from(runs), true), "small-io");
        assert!((0.45..=0.55).contains(&finding.share), "{}", finding.share);
        assert!(!finding.explanation.join("\n").contains("processes"), "{:?}", finding.explanation);
        // Below the gate in each run is below it in all.
        silent(&writers(runs, 1_000, 400 * u64::from(runs), true));
    }
}

#[test]
fn two_files_written_at_one_place_of_one_process_are_one_finding_that_names_both() {
    let mut traced = Traced::new(Mode::Each);
    for path in ["/tmp/a", "/tmp/b"] {
        let file = traced.file(path, "file", 0);
        for _ in 0..1_000 {
            traced.call(WRITE, Some(file), 20, 10 * US);
        }
    }
    let finding = only(&traced.recording(40 * MS), "small-io");
    let said = finding.explanation.join("\n");
    assert!(said.contains("2,000 writes to /tmp/a and /tmp/b") && !said.contains("this is"), "{said}");
    assert_eq!(finding.files.iter().map(|file| file.ids.clone()).collect::<Vec<_>>(), [[0], [1]]);
    assert!((0.45..=0.55).contains(&finding.share), "{}", finding.share);
}

#[test]
fn reads_and_writes_of_one_function_are_two_findings_with_names_of_their_own() {
    const READ: u32 = 0;
    let mut traced = Traced::new(Mode::Each);
    let file = traced.file("/tmp/a", "file", 0);
    for _ in 0..1_000 {
        traced.call(WRITE, Some(file), 20, 10 * US);
        traced.call(READ, Some(file), 20, 10 * US);
    }
    let findings = slowpath_diagnose::diagnose(&traced.recording(40 * MS)).findings;
    let names: Vec<&str> = findings.iter().map(|finding| finding.fingerprint.as_str()).collect();
    assert_eq!(names, ["small-io|program|work|reads", "small-io|program|work|writes"]);
    for finding in &findings {
        assert_eq!(finding.place.frame.function_id, Some(1));
        assert!(!finding.explanation.join("\n").contains("this is"), "{:?}", finding.explanation);
    }
}

#[test]
fn what_is_added_up_is_never_above_the_whole() {
    // The tracer's times and the run's CPU time are measured apart.
    let finding = only(&writers(10, 1_000, 50, false), "small-io");
    assert!(
        finding.cost.amount() <= 50 * MS
            && finding.cost.gain() <= finding.cost.amount()
            && finding.share <= 1.0
    );
}
