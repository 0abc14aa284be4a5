//! What slowpath leaves behind when it is killed by `kill -9` while it measures: nothing that runs, no control group, and after
//! its next start no temporary folder.

#![allow(clippy::print_stderr)] // SKIPPED is said
#![allow(clippy::unwrap_used)] // a test that cannot go on says so by panicking

mod support;

use slowpath_leftovers::{fresh_name, group};
use std::collections::BTreeSet;
use std::fs;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::mpsc;
use std::time::{Duration, Instant};
use support::{SLOWPATH, may_count, one_at_a_time, program};

/// Nothing takes as long, unless it never ends.
const NEVER: Duration = Duration::from_secs(100);
/// In the environment of all that a killed slowpath started, and of its guard.
const MARK: &str = "SLOWPATH_TEST_KILLED";

/// Where slowpath is run: commands tell there when they have begun.
struct Place {
    folder: tempfile::TempDir,
    told: mpsc::Receiver<String>,
    daemons: bool,
}

impl Place {
    fn new() -> Place {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("tmp")).unwrap();
        let pipe = folder.path().join("told");
        assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
        let (tell, told) = mpsc::channel();
        // Open for both, so that it does not end between two commands.
        let pipe = fs::OpenOptions::new().read(true).write(true).open(pipe).unwrap();
        let lines =
            move || BufReader::new(pipe).lines().map_while(Result::ok).try_for_each(|line| tell.send(line));
        std::thread::Builder::new().spawn(lines).unwrap();
        Place { folder, told, daemons: may_make_groups() }
    }

    /// A command that starts what never ends, tells that it has begun and what for (the word behind `slowpath` on the command line of
    /// who started it), and goes on with `then`.
    fn command(&self, then: &str) -> String {
        let daemon = if self.daemons { "setsid -f sleep 1000; " } else { "" };
        daemon.to_owned() + &self.lonely(then)
    }

    /// The same without a daemon.
    fn lonely(&self, then: &str) -> String {
        let told = self.folder.path().join("told");
        format!(
            "sleep 1000 & echo ${MARK} $(tr '\\0' ' ' </proc/$PPID/cmdline | cut -d' ' -f2) >{}; exec {then}",
            told.display()
        )
    }

    fn slowpath(&self, words: &[&str]) -> Command {
        let mut run = Command::new(SLOWPATH);
        run.args(words).current_dir(self.folder.path()).env("TMPDIR", self.folder.path().join("tmp"));
        run.env_remove("GITHUB_STEP_SUMMARY");
        run.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        run
    }

    /// Kills slowpath once the command has begun `times` times for this purpose, and a little later; then nothing must be left.
    fn killed(&self, words: &[&str], purpose: &str, times: usize, later: Duration) {
        let what = format!("{words:?}, killed at {purpose} {times}");
        let mark = fresh_name();
        let mut slowpath = self.slowpath(words).env(MARK, &mark).spawn().unwrap();
        let (begun, wanted, mut left) = (Instant::now(), format!("{mark} {purpose}"), times);
        while left > 0 {
            match self.told.recv_timeout(Duration::from_millis(100)) {
                Ok(line) => left -= usize::from(line == wanted),
                Err(_) => {
                    let goes_on = slowpath.try_wait().unwrap().is_none();
                    assert!(goes_on && begun.elapsed() < NEVER, "{what}: it did not come to that");
                }
            }
        }
        std::thread::sleep(later);
        assert!(slowpath.try_wait().unwrap().is_none(), "{what}: it ended by itself");
        let mut seen: BTreeSet<PathBuf> = marked(&mark).into_iter().map(|(process, _)| process).collect();
        slowpath.kill().unwrap();
        slowpath.wait().unwrap();
        let killed = Instant::now();
        loop {
            let (processes, groups) = (marked(&mark), groups_of(slowpath.id()));
            seen.extend(processes.iter().map(|(process, _)| process.clone()));
            // One that is about to end has no environment any more, but still its files, and so their locks.
            if processes.is_empty() && groups.is_empty() && seen.iter().all(|process| has_ended(process)) {
                break;
            }
            assert!(killed.elapsed() < NEVER, "{what}: {processes:?} and {groups:?} stay");
            std::thread::sleep(Duration::from_millis(2));
        }
    }

    /// The next start removes what is left.
    fn is_swept(&self) {
        let words = ["compare", "--no-why", "--warmup", "0", "--min-pairs", "2", "--max-pairs", "2", "--"];
        let mut run = self.slowpath(&words);
        assert!(run.args(["true", "true"]).status().unwrap().success());
        let left = self.folders();
        assert!(left.is_empty(), "{left:?}");
    }

    /// What lies where temporary folders are made.
    fn folders(&self) -> Vec<PathBuf> {
        let folder = fs::read_dir(self.folder.path().join("tmp")).unwrap();
        folder.flatten().map(|entry| entry.path()).collect()
    }
}

/// Whether a process, by its folder in /proc, has closed its files: it is gone, or only its exit status is left.
fn has_ended(process: &Path) -> bool {
    let stat = fs::read_to_string(process.join("stat")).unwrap_or_default();
    // The state stands behind the name, which is in brackets.
    stat.rsplit_once(") ").is_none_or(|(_, rest)| rest.starts_with(['Z', 'X']))
}

/// What has this mark in its environment: its folder in /proc, and its command line.
fn marked(mark: &str) -> Vec<(PathBuf, String)> {
    let wanted = format!("{MARK}={mark}");
    let mut found = Vec::new();
    for entry in fs::read_dir("/proc").unwrap().flatten() {
        let environment = fs::read(entry.path().join("environ")).unwrap_or_default();
        if environment.split(|byte| *byte == 0).any(|one| one == wanted.as_bytes()) {
            let line = fs::read(entry.path().join("cmdline")).unwrap_or_default();
            found.push((entry.path(), String::from_utf8_lossy(&line).replace('\0', " ")));
        }
    }
    found
}

fn groups_of(pid: u32) -> Vec<String> {
    let groups = group::own().and_then(|own| fs::read_dir(own).ok()).into_iter().flatten().flatten();
    let names = groups.map(|entry| entry.file_name().to_string_lossy().into_owned());
    names.filter(|name| name.starts_with(&format!("slowpath-{pid}-"))).collect()
}

/// Whether slowpath can make control groups here. Says SKIPPED where not: there daemons live on.
fn may_make_groups() -> bool {
    let group = group::own().map(|own| own.join(fresh_name()));
    let may = group.is_some_and(|group| fs::create_dir(&group).is_ok() && fs::remove_dir(&group).is_ok());
    if !may {
        eprintln!("SKIPPED daemons and control groups: no cgroup v2 tree here, or no right to it");
    }
    may
}

fn ms(ms: usize) -> Duration {
    Duration::from_millis(ms as u64)
}

#[test]
fn a_comparison_that_is_killed_leaves_nothing() {
    let _one = one_at_a_time();
    let place = Place::new();
    let command = place.command("sleep 0.01");
    let words = ["compare", "--no-why", "--min-pairs", "60", "--", &command, &command];
    for moment in 0..10 {
        place.killed(&words, "compare", 1 + moment, ms(3 * moment));
    }
    let prepare = place.lonely("sleep 1000");
    place.killed(&["compare", "--prepare", &prepare, "--", "true", "false"], "compare", 1, ms(1));
    place.is_swept();
}

#[test]
fn a_comparison_that_is_killed_while_it_asks_why_leaves_nothing() {
    let _one = one_at_a_time();
    if !may_count("a comparison killed while it records and counts") {
        return;
    }
    let place = Place::new();
    let rising = program("rising").display().to_string();
    let sides = ["0.2", "0.1"].map(|size| place.command(&format!("{rising} {size}")));
    let words = ["compare", "--min-pairs", "2", "--max-pairs", "2", "--", &sides[0], &sides[1]];
    place.killed(&words, "record", 1, ms(0));
    place.killed(&words, "record", 2, ms(40));
    place.killed(&words, "tally", 1, ms(0));
    place.is_swept();
}

/// Valgrind is part of what tests need (`scripts/setup test`).
#[test]
fn a_program_under_valgrind_ends_with_slowpath() {
    let _one = one_at_a_time();
    let place = Place::new();
    let command = place.lonely("sleep 1000");
    for moment in 0..3 {
        place.killed(&["record", "--exact", "--", "sh", "-c", &command], "record", 1, ms(70 * moment));
    }
    // Its daemons count into the same folder.
    let daemon =
        format!("echo ${MARK} daemon >{}; exec sleep 1000", place.folder.path().join("told").display());
    fs::write(place.folder.path().join("daemon"), daemon).unwrap();
    let command = "setsid -f sh daemon; exec sleep 1000";
    place.killed(&["record", "--exact", "--", "sh", "-c", command], "daemon", 1, ms(0));
    assert_eq!(place.folders().len(), 1, "each start removes the one of the last, which could not");
    place.is_swept();
}

#[test]
fn a_scaling_that_is_killed_leaves_nothing() {
    let _one = one_at_a_time();
    let place = Place::new();
    let command = place.command("sleep 0.0{n}");
    for moment in 0..4 {
        let words = ["scale", "--no-record", "--runs", "9", "-L", "n=1,2,3", "--", &command];
        place.killed(&words, "scale", 1 + 2 * moment, ms(2 * moment));
    }
    for moment in 0..2 {
        let words = ["scale", "--exact", "-L", "n=1,2,3", "--", &command];
        place.killed(&words, "scale", 1 + moment, ms(100 * moment));
    }
    place.is_swept();
}

/// Where recordings cannot be kept they are in a temporary folder until the report is out.
#[test]
fn a_recording_in_a_temporary_folder_is_swept_at_the_next_one() {
    let _one = one_at_a_time();
    let place = Place::new();
    // No folder can be made below a file.
    let nowhere = place.folder.path().join("told/state");
    let record = |words: &[&str]| {
        let mut run = place.slowpath(&[]);
        run.arg("record").arg("--dir").arg(&nowhere).args(["--no-trace", "--"]).args(words);
        run
    };
    let mut slowpath = record(&["sleep", "1000"]).spawn().unwrap();
    let begun = Instant::now();
    while !place
        .folders()
        .iter()
        .any(|folder| folder.read_dir().is_ok_and(|mut entries| entries.next().is_some()))
    {
        assert!(begun.elapsed() < NEVER, "no recording was begun");
        std::thread::sleep(ms(5));
    }
    let children = fs::read_to_string(format!("/proc/{0}/task/{0}/children", slowpath.id())).unwrap();
    slowpath.kill().unwrap();
    slowpath.wait().unwrap();
    for child in children.split_whitespace() {
        // SAFETY: a signal to what slowpath had started.
        unsafe { libc::kill(child.parse().unwrap(), libc::SIGKILL) };
    }
    assert_eq!(place.folders().len(), 1);
    assert!(record(&["true"]).status().unwrap().success());
    let left = place.folders();
    assert!(left.is_empty(), "{left:?}");
}
