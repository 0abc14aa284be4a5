//! What is left of an enclosure whose process was killed. That process is this test program once more (`owner`).

use super::*;
use crate::{Shell, run::Runner};
use slowpath_leftovers::group;
use std::fs;
use std::io::{BufRead, BufReader};
use std::path::PathBuf;
use std::process::Stdio;
use std::sync::mpsc;

/// Nothing takes as long, unless it never ends.
const NEVER: Duration = Duration::from_secs(100);
const WAY: &str = "SLOWPATH_TEST_ENCLOSURE";

/// What is killed: it runs a command again and again, which reports when it has started all that it starts.
#[test]
#[ignore = "run by the other tests, which kill it"]
fn owner() {
    let Ok(way) = std::env::var(WAY) else { return };
    let enclosure = match way.as_str() {
        "control groups" => Enclosure::new(),
        _ => Enclosure::without_control_groups(),
    };
    let enclosure = enclosure.expect("a guard");
    // What it starts ends when it is killed, or else never. It speaks by stderr, which stays ours.
    let daemon = if way == "control groups" { "setsid -f sleep 1000; " } else { "" };
    let command = format!("{daemon}sleep 1000 & echo ready >&2; exec sleep 0.002");
    let runner = Runner::new(&command, &Shell::Auto, &enclosure, &Stop::default()).expect("a command");
    loop {
        runner.run(NEVER, true).expect("it runs");
    }
}

/// Kills an owner after so many runs of its command have begun, and a little later each time; waits until all have ended that
/// it started. Its control groups, as long as it lived.
fn killed(way: &str, runs: usize, later: Duration) -> Vec<PathBuf> {
    let mut command = Command::new(std::env::current_exe().expect("our path"));
    command.args(["--exact", "enclosure::tests::owner", "--ignored", "--nocapture"]).env(WAY, way);
    let mut owner = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().expect("it runs");
    let mut said = BufReader::new(owner.stderr.take().expect("a pipe"));
    for _ in 0..runs {
        let mut line = String::new();
        said.read_line(&mut line).expect("it speaks");
        assert_eq!(line, "ready\n");
    }
    std::thread::sleep(later);
    let groups = groups_of(owner.id());
    owner.kill().expect("our child");
    owner.wait().expect("our child");
    let (tell, told) = mpsc::channel();
    std::thread::Builder::new().spawn(move || tell.send(io::copy(&mut said, &mut io::sink()))).unwrap();
    assert!(told.recv_timeout(NEVER).is_ok(), "{way}, {runs} runs: something lives on");
    groups
}

fn groups_of(pid: u32) -> Vec<PathBuf> {
    let groups = group::own().and_then(|own| fs::read_dir(own).ok()).into_iter().flatten().flatten();
    let prefix = format!("slowpath-{pid}-");
    groups
        .filter(|entry| entry.file_name().to_string_lossy().starts_with(&prefix))
        .map(|entry| entry.path())
        .collect()
}

#[test]
fn a_process_group_ends_with_its_owner_whenever_that_is_killed() {
    for moment in 0..20 {
        killed("process groups", 1 + moment % 4, Duration::from_micros(311 * moment as u64));
    }
}

#[test]
fn control_groups_end_and_go_with_their_owner_whenever_that_is_killed() {
    if Groups::place().and_then(Groups::new).is_none() {
        eprintln!("SKIPPED control groups of a killed process: no cgroup v2 tree here, or no right to it");
        return;
    }
    for moment in 0..20 {
        let groups = killed("control groups", 1 + moment % 4, Duration::from_micros(1_700 * moment as u64));
        assert_eq!(groups.len(), 1);
        let begun = std::time::Instant::now();
        while groups[0].exists() {
            assert!(begun.elapsed() < NEVER, "the group stays");
            std::thread::sleep(Duration::from_millis(1));
        }
    }
}

#[test]
fn a_group_that_was_left_with_our_number_does_not_stand_in_the_way() {
    let Some(place) = Groups::place() else {
        eprintln!("SKIPPED left control groups: no cgroup v2 tree here");
        return;
    };
    let left = place.with_file_name(format!("slowpath-{}", std::process::id()));
    if fs::create_dir(&left).is_err() {
        eprintln!("SKIPPED left control groups: no right to make one");
        return;
    }
    let counts = Enclosure::new().expect("a guard").groups.is_some();
    fs::remove_dir(&left).expect("it is empty");
    assert!(counts, "daemons are not counted");
}

/// A pipe that sets `stop` once something is written to it.
fn stopper(stop: &Stop) -> io::PipeWriter {
    let (mut begun, tell) = io::pipe().expect("a pipe");
    let stop = stop.clone();
    let wait = move || {
        let _ = begun.read(&mut [0]);
        stop.0.store(true, std::sync::atomic::Ordering::Relaxed);
    };
    std::thread::Builder::new().spawn(wait).expect("a thread");
    tell
}

#[test]
fn what_slowpath_runs_of_its_own_is_interrupted_and_its_words_are_kept() {
    let enclosure = Enclosure::new().expect("a guard");
    let shell = |script: &str| {
        // Whoever runs this test in the background may have it ignore interrupts.
        let mut command = Command::new("env");
        command
            .args(["--default-signal=INT", "sh", "-c", script])
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::piped());
        command
    };
    let stop = Stop::default();
    let output =
        enclosure.output(&mut shell("echo why >&2; exit 3"), Daemons::Ended, &stop).expect("it runs");
    assert_eq!((output.status.code(), &*output.stderr), (Some(3), &b"why\n"[..]));
    // It stops us itself once it runs, and then goes on for ever.
    let tell = stopper(&stop);
    let mut command = shell("echo; sleep 1000 & exec sleep 1000");
    let output = enclosure.output(command.stdout(tell), Daemons::Ended, &stop);
    assert!(matches!(output, Err(Error::Interrupted)));
    // One that ignores interrupts is killed.
    let (began, stop) = (Instant::now(), Stop::default());
    let tell = stopper(&stop);
    let mut command = shell("trap '' INT; echo; exec sleep 1000");
    assert!(matches!(enclosure.output(command.stdout(tell), Daemons::Ended, &stop), Err(Error::Interrupted)));
    assert!(began.elapsed() >= GIVEN_TO_END);
}
