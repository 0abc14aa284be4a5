//! The other ways to use slowpath: attached to what runs, several runs joined, as another user; and what ends it early.

#![allow(clippy::unwrap_used)] // a test that cannot go on says so by panicking

mod support;

use serde_json::Value;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};
use support::{SLOWPATH, is_root, json, may_count, one_at_a_time, program, said, scaled, slowpath};

#[test]
fn attached_to_a_program_that_runs_it_finds_what_it_finds_from_the_start() {
    let _one = one_at_a_time();
    if !may_count("attach") {
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    let mut target =
        Command::new(program("rising")).arg(scaled(3.0, 2.0)).stdout(Stdio::null()).spawn().unwrap();
    std::thread::sleep(Duration::from_millis(300));
    let report = dir.path().join("report.json");
    let mut attach = Command::new(SLOWPATH);
    attach.args(["attach", "--pid", &target.id().to_string(), "--json", "--output"]).arg(&report);
    let output = attach.arg("--dir").arg(dir.path().join("recordings")).output().unwrap();
    assert!(output.status.success(), "{}", said(&output));
    assert!(target.wait().unwrap().success(), "the target lives as it would without us");
    let report: Value = serde_json::from_slice(&std::fs::read(report).unwrap()).unwrap();
    assert_eq!(report["findings"][0]["cause"], "superlinear-work", "{report:#}");
    assert_eq!(report["findings"][0]["function"], "name_list_insert");
}

#[test]
fn an_attachment_ends_after_its_time_and_the_program_goes_on() {
    let _one = one_at_a_time();
    let dir = tempfile::tempdir().unwrap();
    let mut target = Command::new("sleep").arg("30").spawn().unwrap();
    let mut attach = Command::new(SLOWPATH);
    attach.args(["attach", "--pid", &target.id().to_string(), "--duration", "0.5", "--dir"]).arg(dir.path());
    let begun = Instant::now();
    let output = attach.output().unwrap();
    assert!(output.status.success(), "{}", said(&output));
    assert!(begun.elapsed() < Duration::from_secs(15));
    assert!(target.try_wait().unwrap().is_none(), "the target goes on");
    target.kill().unwrap();
    target.wait().unwrap();
    let output = Command::new(SLOWPATH).args(["attach", "--pid", "999999999"]).output().unwrap();
    assert_eq!(output.status.code(), Some(125));
    assert!(said(&output).contains("999999999"), "{}", said(&output));
}

#[test]
fn runs_that_are_too_short_alone_are_joined() {
    let _one = one_at_a_time();
    let dir = tempfile::tempdir().unwrap();
    let count = dir.path().join("runs");
    let script = format!("echo x >> {}; exit 3", count.display());
    let report = json(dir.path(), &["--repeat", "4"], &["sh", "-c", &script]);
    assert_eq!((&report["recording"]["runs"], &report["recording"]["exit"]), (&4.into(), &3.into()));
    assert_eq!(std::fs::read_to_string(count).unwrap().lines().count(), 4);
}

#[test]
fn a_second_interrupt_ends_the_recording_of_a_program_that_will_not_end() {
    let _one = one_at_a_time();
    let dir = tempfile::tempdir().unwrap();
    let pid = dir.path().join("pid");
    let script = format!("trap '' INT; echo $$ > {}; while :; do :; done", pid.display());
    let mut run = Command::new(SLOWPATH);
    run.arg("--dir").arg(dir.path().join("recordings")).args(["--", "sh", "-c", &script]);
    let errors = std::fs::File::create(dir.path().join("stderr")).unwrap();
    let mut slowpath = run.stdout(Stdio::null()).stderr(errors).spawn().unwrap();
    let begun = Instant::now();
    let target: i32 = loop {
        if let Some(pid) = std::fs::read_to_string(&pid).ok().and_then(|text| text.trim().parse().ok()) {
            break pid;
        }
        assert!(begun.elapsed() < Duration::from_secs(20), "the program begins");
        std::thread::sleep(Duration::from_millis(10));
    };
    for _ in 0..2 {
        std::thread::sleep(Duration::from_millis(300));
        // SAFETY: a signal to a child that was not waited for.
        unsafe { libc::kill(slowpath.id() as i32, libc::SIGINT) };
    }
    let begun = Instant::now();
    while slowpath.try_wait().unwrap().is_none() {
        assert!(begun.elapsed() < Duration::from_secs(20), "slowpath ends");
        std::thread::sleep(Duration::from_millis(10));
    }
    // SAFETY: a signal to our grandchild, which only this ends; its pid is not reused while it lives.
    let lived = unsafe { libc::kill(target, libc::SIGKILL) } == 0;
    assert!(lived, "the program decides for itself when it ends");
    let said = std::fs::read_to_string(dir.path().join("stderr")).unwrap();
    assert!(
        said.contains("samples") && said.contains("The recording is incomplete"),
        "what was recorded is reported: {said}"
    );
}

#[test]
fn root_may_run_the_program_as_another_user() {
    let _one = one_at_a_time();
    if !is_root() {
        eprintln!("SKIPPED --user: it needs root");
        return;
    }
    let dir = tempfile::Builder::new().prefix("slowpath").tempdir_in("/tmp").unwrap();
    let open = std::os::unix::fs::PermissionsExt::from_mode(0o777);
    std::fs::set_permissions(dir.path(), open).unwrap();
    let output = slowpath(dir.path(), &["--user", "nobody"], &["id", "-un"]);
    assert_eq!(String::from_utf8_lossy(&output.stdout).trim(), "nobody", "{}", said(&output));
    let output = slowpath(dir.path(), &["--user", "no-such-user"], &["true"]);
    assert_eq!(output.status.code(), Some(125));
    assert!(said(&output).contains("no-such-user"), "{}", said(&output));
}

/// Everything in a folder, itself too.
fn everything(path: &Path) -> Vec<PathBuf> {
    let mut found = vec![path.to_owned()];
    if path.is_dir() {
        found.extend(std::fs::read_dir(path).unwrap().flat_map(|entry| everything(&entry.unwrap().path())));
    }
    found
}

#[test]
fn what_root_writes_for_a_caller_of_sudo_is_the_callers() {
    let _one = one_at_a_time();
    if !is_root() {
        eprintln!("SKIPPED sudo: it needs root");
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    std::os::unix::fs::chown(dir.path(), Some(12345), Some(23456)).unwrap();
    let caller = |arguments: &[&str]| {
        let mut run = Command::new(SLOWPATH);
        run.args(arguments).current_dir(dir.path()).env("XDG_STATE_HOME", dir.path()).stdin(Stdio::null());
        let output = run.env("SUDO_UID", "12345").env("SUDO_GID", "23456").output().unwrap();
        assert!(output.status.success(), "{}", said(&output));
    };
    caller(&["record", "--json", "--output", "findings.json", "--html", "page.html", "--", "true"]);
    caller(&["record", "--repeat", "2", "--", "true"]);
    caller(&["explain", "--markdown", "--output", "again.md"]);
    caller(&["view", "--output", "view.html"]);
    caller(&[
        "compare",
        "--export-json",
        "a.json",
        "--export-markdown",
        "a.md",
        "--html",
        "a.html",
        "--",
        "true",
        "true",
    ]);
    let all = everything(dir.path());
    assert!(all.len() > 30, "{all:?}");
    for path in all.iter().skip(1) {
        let of = std::fs::symlink_metadata(path).unwrap();
        assert_eq!((of.uid(), of.gid()), (12345, 23456), "{}", path.display());
    }
}

/// A file system of so many KiB, unmounted at the end.
struct Small<'d>(&'d Path);

impl<'d> Small<'d> {
    fn mounted(at: &'d Path, kib: u32) -> Option<Small<'d>> {
        let size = format!("size={kib}k");
        let status = Command::new("mount").args(["-t", "tmpfs", "-o", &size, "tmpfs"]).arg(at).status();
        status.is_ok_and(|status| status.success()).then_some(Small(at))
    }
}

impl Drop for Small<'_> {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg(self.0).status();
    }
}

#[test]
fn a_full_disk_is_said_and_what_was_written_before_is_told() {
    let _one = one_at_a_time();
    let dir = tempfile::tempdir().unwrap();
    let Some(_mount) = is_root().then(|| Small::mounted(dir.path(), 160)).flatten() else {
        eprintln!("SKIPPED full disk: it needs a file system of its own, which root may mount");
        return;
    };
    let output = slowpath(dir.path(), &["--rate", "4000"], &[program("matmul").to_str().unwrap(), "3"]);
    assert!(output.status.success(), "the program itself is not disturbed: {}", said(&output));
    assert!(said(&output).contains("No space left on device"), "{}", said(&output));
    let kept = slowpath_recording::folder::list(&dir.path().join("recordings")).unwrap();
    assert_eq!(kept[0].about.state, slowpath_recording::about::State::CutShort, "its last words had room");
    let explain = Command::new(SLOWPATH)
        .args(["explain", "--json", "--dir"])
        .arg(dir.path().join("recordings"))
        .output();
    let explain = explain.unwrap();
    assert!(explain.status.success(), "{}", said(&explain));
    let report: Value = serde_json::from_slice(&explain.stdout).unwrap();
    assert_eq!(report["recording"]["cut_short"], true);
    assert!(report["recording"]["samples"].as_u64().unwrap() > 0);
}

#[test]
fn a_disk_without_room_for_a_recording_gets_none_and_the_program_runs() {
    let _one = one_at_a_time();
    let dir = tempfile::tempdir().unwrap();
    let Some(_mount) = is_root().then(|| Small::mounted(dir.path(), 8)).flatten() else {
        eprintln!("SKIPPED full disk: it needs a file system of its own, which root may mount");
        return;
    };
    let output = slowpath(dir.path(), &[], &["sh", "-c", "exit 3"]);
    assert_eq!(output.status.code(), Some(3), "{}", said(&output));
    assert!(said(&output).contains("the recording is not kept"), "{}", said(&output));
    assert_eq!(std::fs::read_dir(dir.path().join("recordings")).unwrap().count(), 0, "no folder remains");
}
