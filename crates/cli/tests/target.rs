//! The target stays its own: its output, exit code and signals; and bad input gets a clear answer.

#![allow(clippy::unwrap_used)] // a test that cannot go on says so by panicking

mod support;

use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;
use support::{SLOWPATH, interrupted, json, one_at_a_time, program, said, slowpath};

fn path(name: &str) -> String {
    program(name).to_str().expect("UTF-8").to_owned()
}

#[test]
fn slowpath_exits_as_the_program_did() {
    let _one = one_at_a_time();
    let dir = tempfile::tempdir().unwrap();
    assert_eq!(slowpath(dir.path(), &[], &["true"]).status.code(), Some(0));
    assert_eq!(slowpath(dir.path(), &[], &[&path("exit_code"), "42"]).status.code(), Some(42));
    assert_eq!(slowpath(dir.path(), &[], &[&path("crash")]).status.code(), Some(128 + libc::SIGSEGV));
    assert_eq!(slowpath(dir.path(), &[], &[&path("dies_at_once")]).status.code(), Some(128 + libc::SIGKILL));
}

#[test]
fn its_output_and_input_are_untouched() {
    let _one = one_at_a_time();
    let dir = tempfile::tempdir().unwrap();
    let mut run = Command::new(SLOWPATH);
    run.arg("--dir").arg(dir.path()).args(["--", "cat"]);
    let mut child = run.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    std::io::Write::write_all(&mut child.stdin.take().unwrap(), b"its own\n").unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.stdout, b"its own\n");
    assert!(said(&output).starts_with("slowpath  cat"), "{}", said(&output));
}

#[test]
fn what_cannot_be_run_is_said_in_one_line() {
    let _one = one_at_a_time();
    let dir = tempfile::tempdir().unwrap();
    for (command, code) in [("/no/such/program", 127), ("/etc/passwd", 126)] {
        let output = slowpath(dir.path(), &[], &[command]);
        assert_eq!(output.status.code(), Some(code));
        assert_eq!(said(&output).lines().count(), 1);
        assert!(said(&output).starts_with(&format!("slowpath: cannot run {command}: ")), "{}", said(&output));
    }
    let left = std::fs::read_dir(dir.path().join("recordings")).unwrap().count();
    assert_eq!(left, 0, "of a program that never ran nothing is kept");
}

#[test]
fn a_directory_that_cannot_be_written_is_said_and_the_program_runs() {
    let _one = one_at_a_time();
    let mut run = Command::new(SLOWPATH);
    let output = run.args(["--dir", "/proc/nowhere", "--", "sh", "-c", "exit 4"]).output().unwrap();
    assert_eq!(output.status.code(), Some(4));
    let said = said(&output).split_whitespace().collect::<Vec<_>>().join(" "); // lines are wrapped
    assert!(said.contains("/proc/nowhere: No such file"), "{said}");
}

#[test]
fn an_interrupt_reaches_the_program_and_it_decides() {
    let _one = one_at_a_time();
    let dir = tempfile::tempdir().unwrap();
    let mut run = Command::new(SLOWPATH);
    run.arg("--dir").arg(dir.path()).arg("--").arg(path("sigint"));
    assert_eq!(interrupted(run).code(), Some(7));
}

#[test]
fn ten_thousand_children_and_five_hundred_threads_live_as_they_would_without_us() {
    let _one = one_at_a_time();
    let dir = tempfile::tempdir().unwrap();
    for command in [["fork_many", "10000"], ["threads_many", "500"]] {
        let program = path(command[0]);
        let bare = Command::new(&program).arg(command[1]).output().unwrap();
        let recorded = slowpath(dir.path(), &[], &[&program, command[1]]);
        assert_eq!(
            (recorded.status.code(), recorded.stdout),
            (bare.status.code(), bare.stdout),
            "{command:?}"
        );
    }
}

#[test]
fn a_parent_that_forks_all_the_time_does_not_vanish() {
    let _one = one_at_a_time();
    if !support::may_count("forks") {
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    let files = dir.path().join("files");
    std::fs::create_dir(&files).unwrap();
    for number in 0..600 {
        std::fs::write(files.join(number.to_string()), "").unwrap();
    }
    // Which steps of a child are sampled is chance where the machine is busy: one of three runs has to show all of them.
    let shown = |_| {
        let parts = sampled_parts(&files);
        assert!(parts.iter().all(|(_, weighed)| (0.9..=1.1).contains(weighed)), "{parts:?}");
        // Before they are weighed too, but for a child's last steps, which are after its last record.
        parts.iter().all(|(raw, _)| (0.7..=1.3).contains(raw))
    };
    assert!((0..3).any(shown), "a parent or its children vanish");
}

/// CPU time of the samples of `find -exec /bin/true` over `files`, as shares of what the kernel says: of find and of true, as they
/// are and weighed.
fn sampled_parts(files: &Path) -> [(f64, f64); 2] {
    let dir = tempfile::tempdir().unwrap();
    json(dir.path(), &[], &["find", files.to_str().unwrap(), "-exec", "/bin/true", "{}", ";"]);
    let recordings = slowpath_recording::folder::list(&dir.path().join("recordings")).unwrap();
    let recording = slowpath_recording::Recording::open(&recordings[0].path).unwrap();
    let tables = &recording.tables;
    ["find", "true"].map(|name| {
        let of_name: Vec<bool> =
            tables.processes.iter().map(|process| process.program.ends_with(name)).collect();
        let exact: u64 =
            tables.processes.iter().filter(|p| p.program.ends_with(name)).filter_map(|p| p.cpu_ns).sum();
        let samples =
            tables.samples.iter().filter(|s| of_name[tables.threads[s.thread as usize].process as usize]);
        // Recording's own part has no samples, but is in what the kernel says.
        let (mut raw, mut weighed) = (0.0, 0.0);
        for process in tables.processes.iter().filter(|process| process.program.ends_with(name)) {
            raw += process.tracing_ns as f64;
            weighed += process.tracing_ns as f64 * process.sample_scale;
        }
        for sample in samples {
            raw += sample.weight_ns as f64;
            weighed += recording.weight_ns(sample);
        }
        (raw / exact as f64, weighed / exact as f64)
    })
}

#[test]
fn a_program_without_symbols_or_libraries_gets_a_true_report() {
    let _one = one_at_a_time();
    let dir = tempfile::tempdir().unwrap();
    let source = dir.path().join("busy.c");
    std::fs::write(&source, "int main(void) { volatile long n = 0; while (n < 300000000) n++; return 3; }")
        .unwrap();
    for flags in [&["-s"][..], &["-static", "-s"]] {
        let busy = dir.path().join("busy");
        let made =
            Command::new("gcc").args(["-O1", "-o"]).arg(&busy).arg(&source).args(flags).status().unwrap();
        assert!(made.success());
        let report = json(dir.path(), &[], &[busy.to_str().unwrap()]);
        assert_eq!(report["recording"]["exit"], 3);
        assert!(report["findings"].as_array().unwrap().is_empty());
        let hot = report["hot"][0]["function"].as_str().unwrap();
        assert!(hot.starts_with("busy+0x"), "{hot}");
    }
}

#[test]
fn what_is_written_belongs_to_the_user_alone() {
    let _one = one_at_a_time();
    let dir = tempfile::tempdir().unwrap();
    slowpath(dir.path(), &[], &["true"]);
    let mode = std::fs::metadata(dir.path().join("recordings")).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o700);
}

#[test]
fn strange_ways_to_use_the_kernel_give_what_they_give_without_us() {
    let _one = one_at_a_time();
    let dir = tempfile::tempdir().unwrap();
    let strange = program("strange");
    for mode in ["paths", "many-files", "thread-exec", "filtered", "traced", "vforked", "daemonized"] {
        let bare = Command::new(&strange).arg(mode).output().unwrap();
        assert!(bare.status.success(), "{mode}");
        let started = std::time::Instant::now();
        let recorded = slowpath(dir.path(), &[], &[strange.to_str().unwrap(), mode]);
        assert_eq!(
            (recorded.status.code(), &recorded.stdout),
            (bare.status.code(), &bare.stdout),
            "{mode}: {}",
            said(&recorded)
        );
        let waited = mode == "daemonized" && started.elapsed() > Duration::from_secs(30);
        assert!(!waited, "what it left behind for 40 s is not waited for");
    }
}
