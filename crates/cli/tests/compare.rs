//! `slowpath compare` as a user runs it: verdicts, exit codes, files, and sides that fail, hang or differ.

#![allow(clippy::unwrap_used)] // a test that cannot go on says so by panicking

mod support;

use serde_json::Value;
use std::path::Path;
use std::process::{Command, Output};
use support::{SLOWPATH, may_count, one_at_a_time, program};

fn compare(dir: &Path, options: &[&str], commands: &[&str]) -> Output {
    let mut run = Command::new(SLOWPATH);
    run.arg("compare").args(options).arg("--").args(commands).current_dir(dir);
    run.env_remove("GITHUB_STEP_SUMMARY").env("XDG_STATE_HOME", dir).output().unwrap()
}

fn everything(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr)
}

/// Whether a text has a number between these that is about two: 1.9 to 2.05, for starting a program is part of both.
fn is_twice(text: &str, before: &str, after: &str) -> bool {
    let number = text.split_once(before).and_then(|(_, rest)| rest.split_once(after));
    let ratio = number.and_then(|(ratio, _)| ratio.parse::<f64>().ok());
    ratio.is_some_and(|ratio| (1.9..=2.05).contains(&ratio))
}

#[test]
fn twice_as_long_is_slower_and_the_other_way_faster() {
    let _one = one_at_a_time();
    let dir = tempfile::tempdir().unwrap();
    let output =
        compare(dir.path(), &["--no-why", "-n", "short", "-n", "long"], &["sleep 0.25", "sleep 0.5"]);
    assert_eq!(output.status.code(), Some(0), "{}", everything(&output));
    assert!(is_twice(&everything(&output), "long is ", "× slower than short"), "{}", everything(&output));
    let output = compare(dir.path(), &["--no-why"], &["sleep 0.5", "sleep 0.25"]);
    assert!(everything(&output).contains("× faster than sleep 0.5"), "{}", everything(&output));
}

#[test]
fn the_same_is_not_called_different() {
    let _one = one_at_a_time();
    let dir = tempfile::tempdir().unwrap();
    let json = dir.path().join("out.json");
    let options = ["--no-why", "--indifferent", "10", "--export-json", json.to_str().unwrap()];
    let output = compare(dir.path(), &options, &["sleep 0.03", "sleep 0.03"]);
    assert!(everything(&output).starts_with("no difference larger than 10 %"), "{}", everything(&output));
    let value: Value = serde_json::from_slice(&std::fs::read(&json).unwrap()).unwrap();
    assert_eq!(
        (&value["kind"], &value["schema"], &value["verdict"]),
        (&"comparison".into(), &1.into(), &"same".into())
    );
    let pairs = value["pairs"].as_array().unwrap();
    assert!(pairs.len() >= 5);
    assert!(
        pairs.iter().all(|pair| pair["runs"].as_array().unwrap().len() == 2 && pair["runs"][0]["exit"] == 0)
    );
}

#[test]
fn expectations_make_exit_codes() {
    let _one = one_at_a_time();
    let dir = tempfile::tempdir().unwrap();
    let code = |options: &[&str], commands: &[&str]| {
        let options: Vec<&str> = ["--no-why"].iter().chain(options).copied().collect();
        let output = compare(dir.path(), &options, commands);
        output.status.code().unwrap_or_else(|| panic!("{}", everything(&output)))
    };
    let (short, long) = ("sleep 0.02", "sleep 0.04");
    assert_eq!(code(&["--fail-if-slower-than", "20"], &[short, long]), 2);
    assert_eq!(
        code(&["--fail-if-slower-than", "20", "--and-by-ms", "500"], &[short, long]),
        0,
        "20 ms are no 500"
    );
    assert_eq!(code(&["--fail-if-slower-than", "20"], &[long, short]), 0);
    assert_eq!(code(&["--expect-faster-than", "1.2"], &[long, short]), 0);
    assert_eq!(code(&["--expect-faster-than", "9"], &[long, short]), 2);
    // Two pairs can tell nothing so fine, but for one time in twenty.
    let few = ["--min-pairs", "2", "--max-pairs", "2", "--indifferent", "0.0001", "--strict"];
    assert!((0..3).any(|_| code(&few, &["sleep 0.01", "sleep 0.01"]) == 3));
}

#[test]
fn a_side_that_fails_or_hangs_or_differs_is_no_fast_run() {
    let _one = one_at_a_time();
    let dir = tempfile::tempdir().unwrap();
    let output = compare(dir.path(), &["--no-why"], &["false", "true"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(everything(&output).contains("false exited with 1"), "{}", everything(&output));
    let output =
        compare(dir.path(), &["--no-why", "--ignore-failure", "--max-pairs", "9"], &["false", "sleep 0.02"]);
    assert_eq!(output.status.code(), Some(0), "{}", everything(&output));
    let output = compare(dir.path(), &["--no-why", "--time-limit", "0.5"], &["sleep 30", "true"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(everything(&output).contains("longer than the time limit"), "{}", everything(&output));
    let output = compare(dir.path(), &["--no-why", "--same-output"], &["echo a", "echo b"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(everything(&output).contains("write different output to stdout"), "{}", everything(&output));
    let output = compare(dir.path(), &["--no-why"], &["/no/such/program", "true"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(everything(&output).contains("/no/such/program"), "{}", everything(&output));
    let once = dir.path().join("once").to_str().unwrap().to_owned();
    let output = compare(dir.path(), &["--no-why"], &[&format!("mkdir {once}"), "true"]);
    assert_eq!(output.status.code(), Some(1), "a side that changes its own input fails the second time");
}

#[test]
fn usage_is_64() {
    let _one = one_at_a_time();
    let dir = tempfile::tempdir().unwrap();
    assert_eq!(compare(dir.path(), &["--no-such-option"], &["true", "true"]).status.code(), Some(64));
    assert_eq!(compare(dir.path(), &[], &["true"]).status.code(), Some(64));
    assert_eq!(compare(dir.path(), &["-n", "one"], &["true", "true"]).status.code(), Some(64));
}

#[test]
fn setup_prepare_input_and_cleanup_are_run_where_they_belong() {
    let _one = one_at_a_time();
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("in"), "hello").unwrap();
    let options = [
        "--no-why",
        "--max-pairs",
        "2",
        "--min-pairs",
        "2",
        "--warmup",
        "0",
        "--setup",
        "echo s >> log",
        "--prepare",
        "echo p >> log",
        "--cleanup",
        "echo c >> log",
        "--input",
        "in",
        "--same-output",
    ];
    let output = compare(dir.path(), &options, &["cat", "cat -"]);
    assert_eq!(output.status.code(), Some(0), "{}", everything(&output));
    assert_eq!(std::fs::read_to_string(dir.path().join("log")).unwrap(), "s\np\np\np\np\nc\n");
}

#[test]
fn on_github_the_summary_and_a_warning_are_written() {
    let _one = one_at_a_time();
    let dir = tempfile::tempdir().unwrap();
    let summary = dir.path().join("summary.md");
    let mut run = Command::new(SLOWPATH);
    run.args(["compare", "--no-why", "--fail-if-slower-than", "10", "--", "sleep 0.25", "sleep 0.5"]);
    let output = run.env("GITHUB_STEP_SUMMARY", &summary).current_dir(dir.path()).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    let warning = "::warning title=slowpath::sleep 0.5 is ";
    let text = everything(&output);
    assert!(is_twice(&text, warning, "× slower than sleep 0.25"), "{text}");
    assert!(std::fs::read_to_string(summary).unwrap().contains("| wall |"));
}

#[test]
fn why_tells_what_is_gone_and_two_recordings_tell_the_same() {
    let _one = one_at_a_time();
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("data");
    std::fs::write(&file, vec![b'x'; 200_000]).unwrap();
    let one = format!("dd if={} of=/dev/null bs=1 status=none", file.display());
    let other = format!("dd if={} of=/dev/null bs=65536 status=none", file.display());
    let output = compare(dir.path(), &["--max-pairs", "9"], &[&one, &other]);
    assert_eq!(output.status.code(), Some(0), "{}", everything(&output));
    let text = everything(&output);
    assert!(text.contains("dd bs=65536 is ") && text.contains("faster than dd bs=1 "), "{text}");
    assert!(text.contains("why:"), "{text}");
    let recordings = slowpath_recording::folder::list(&dir.path().join("slowpath")).unwrap();
    assert_eq!(recordings.len(), 2);
    let ids: Vec<&str> = recordings.iter().map(|one| one.about.id.as_str()).collect();
    let output =
        Command::new(SLOWPATH).arg("compare").args(&ids).env("XDG_STATE_HOME", dir.path()).output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", everything(&output));
    assert!(everything(&output).contains("Recording slows a program down"), "{}", everything(&output));
    // Only with rights are system calls traced.
    // SAFETY: geteuid has no preconditions.
    if unsafe { libc::geteuid() } == 0 {
        assert!(text.contains("gone: tiny reads") && text.contains("read: "), "{text}");
    }
}

#[test]
fn the_calls_of_functions_that_explain_it_are_counted_exactly() {
    let _one = one_at_a_time();
    if !may_count("calls of both sides") {
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    let json = dir.path().join("comparison.json");
    let rising = program("rising").display().to_string();
    let sides = [format!("{rising} 1"), format!("{rising} 0.5")];
    let options = ["--max-pairs", "5", "--time-limit", "8", "--export-json", json.to_str().unwrap()];
    let output = compare(dir.path(), &options, &[&sides[0], &sides[1]]);
    assert_eq!(output.status.code(), Some(0), "{}", everything(&output));
    let value: Value = serde_json::from_slice(&std::fs::read(&json).unwrap()).unwrap();
    let calls = value["why"]["calls"].as_array().unwrap();
    let insert = calls.iter().find(|one| one["function"] == "name_list_insert");
    let count = |side: usize| insert.unwrap_or_else(|| panic!("{value:#}"))["calls"][side]["count"].as_u64();
    assert_eq!((count(0), count(1)), (Some(32_000), Some(16_000)));
}

#[test]
fn ctrl_c_ends_the_command_that_runs_and_keeps_the_pairs() {
    let _one = one_at_a_time();
    let dir = tempfile::tempdir().unwrap();
    let json = dir.path().join("out.json");
    // A duration that no other process sleeps for.
    let long = format!("sleep 4{}", std::process::id());
    let first = format!("test -e begun || {{ touch begun; exec sleep 0.01; }}; exec {long}");
    let mut run = Command::new(SLOWPATH);
    run.args(["compare", "--no-why", "--warmup", "0", "--export-json"]).arg(&json);
    run.args(["--", &first, "true"]).current_dir(dir.path());
    run.stdout(std::process::Stdio::piped()).stderr(std::process::Stdio::piped());
    let mut child = run.spawn().unwrap();
    let sleeps = || {
        let wanted = long.replace(' ', "\0") + "\0";
        let processes = std::fs::read_dir("/proc").unwrap().flatten();
        processes.into_iter().any(|entry| {
            std::fs::read(entry.path().join("cmdline")).is_ok_and(|line| line == wanted.as_bytes())
        })
    };
    let begun = std::time::Instant::now();
    while !sleeps() && child.try_wait().unwrap().is_none() {
        assert!(begun.elapsed().as_secs() < 30, "the second run of the first command began");
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
    // SAFETY: a signal to a child that was not waited for.
    assert_eq!(unsafe { libc::kill(child.id() as i32, libc::SIGINT) }, 0);
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(130), "{}", everything(&output));
    assert!(everything(&output).contains("no verdict: interrupted"), "{}", everything(&output));
    assert!(!sleeps(), "the command lives on");
    let value: Value = serde_json::from_slice(&std::fs::read(&json).unwrap()).unwrap();
    assert_eq!(value["pairs"].as_array().unwrap().len(), 1);
}

#[test]
fn ctrl_c_ends_what_is_recorded_to_say_why() {
    let _one = one_at_a_time();
    let dir = tempfile::tempdir().unwrap();
    // It goes on for long only where it is not run bare.
    let long = format!("sleep 5{}", std::process::id());
    let by = "$(tr '\\0' ' ' </proc/$PPID/cmdline | cut -d' ' -f2)";
    let command = format!("if [ {by} = record ]; then touch recorded; exec {long}; fi");
    let mut run = Command::new(SLOWPATH);
    run.args(["compare", "--min-pairs", "2", "--max-pairs", "2", "--", &command, "true"]);
    run.current_dir(dir.path()).stdout(std::process::Stdio::piped()).stderr(std::process::Stdio::piped());
    let mut child = run.spawn().unwrap();
    while !dir.path().join("recorded").exists() {
        assert!(child.try_wait().unwrap().is_none(), "the command is recorded");
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
    // SAFETY: a signal to a child that was not waited for.
    assert_eq!(unsafe { libc::kill(child.id() as i32, libc::SIGINT) }, 0);
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(130), "{}", everything(&output));
    assert!(everything(&output).contains("the reason is unknown: interrupted"), "{}", everything(&output));
}
