//! `view` and `--html`: the page is written, and what cannot be shown is said.

#![allow(clippy::unwrap_used)] // a test that cannot go on says so by panicking

mod support;

use std::path::Path;
use std::process::{Command, Output};
use support::{SLOWPATH, one_at_a_time, program, said, slowpath};

fn view(dir: &Path, arguments: &[&str]) -> Output {
    let mut run = Command::new(SLOWPATH);
    run.current_dir(dir).args(["view", "--no-open", "--dir"]).arg(dir.join("recordings"));
    run.args(arguments).output().unwrap()
}

#[test]
fn a_recording_and_its_page_are_made_in_one_go_and_the_page_again_from_the_recording() {
    let _one = one_at_a_time();
    let dir = tempfile::tempdir().unwrap();
    let first = dir.path().join("first.html");
    let program = program("matmul");
    let output =
        slowpath(dir.path(), &["--html", first.to_str().unwrap()], &[program.to_str().unwrap(), "0.3"]);
    assert!(output.status.success(), "{}", said(&output));
    let output = view(dir.path(), &["--output", "second.html"]);
    assert!(output.status.success(), "{}", said(&output));
    let page = std::fs::read_to_string(&first).unwrap();
    assert!(page.starts_with("<!doctype html>") && page.ends_with("</html>\n"));
    assert!(page.contains("<title>matmul · slowpath</title>"));
    assert!(page.contains("content=\"default-src 'none'; script-src 'sha256-"));
    assert_eq!(page.matches("application/x-slowpath\">").count(), 1);
    assert_eq!(page, std::fs::read_to_string(dir.path().join("second.html")).unwrap());
}

#[test]
fn two_recordings_are_in_one_page_and_three_in_none() {
    let _one = one_at_a_time();
    let dir = tempfile::tempdir().unwrap();
    let output = slowpath(dir.path(), &[], &[program("matmul").to_str().unwrap(), "0.2"]);
    assert!(output.status.success(), "{}", said(&output));
    let newest = slowpath_recording::folder::find(&dir.path().join("recordings"), None, None).unwrap();
    let newest = newest.to_str().unwrap();
    for arguments in [[newest, newest], [newest, "--compare"]] {
        let rest: &[&str] = if arguments[1] == "--compare" { &[newest] } else { &[] };
        let all = [&arguments[..], rest, &["--output", "both.html"]].concat();
        let output = view(dir.path(), &all);
        assert!(output.status.success(), "{}", said(&output));
        let page = std::fs::read_to_string(dir.path().join("both.html")).unwrap();
        assert_eq!(page.matches("application/x-slowpath\">").count(), 2);
    }
    let output = view(dir.path(), &[newest, newest, "--compare", newest, "--output", "three.html"]);
    assert_eq!(output.status.code(), Some(125));
    assert!(said(&output).contains("one recording or two"), "{}", said(&output));
}

#[test]
fn what_is_not_there_or_cannot_be_written_is_named() {
    let dir = tempfile::tempdir().unwrap();
    let output = view(dir.path(), &["nowhere", "--output", "page.html"]);
    assert_eq!(output.status.code(), Some(125));
    assert!(said(&output).contains("nowhere"), "{}", said(&output));
    assert!(!dir.path().join("page.html").exists());
}
