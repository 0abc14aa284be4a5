//! `view` and `--html`: the page is written or served, and what cannot be shown is said.

#![allow(clippy::unwrap_used)] // a test that cannot go on says so by panicking

mod support;

use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::Duration;
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
    let newest = slowpath_recording::folder::find(&dir.path().join("recordings"), None).unwrap();
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

/// A page that is served, until a test ends in whatever way.
struct Serving(Child);

impl Drop for Serving {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// A folder with a program `xdg-open` that writes down what it is to open, and a served page that is opened by it.
fn opened(dir: &Path, runtime: &Path) -> (Serving, PathBuf) {
    let (bin, opened) = (dir.join("bin"), dir.join("opened"));
    std::fs::create_dir_all(&bin).unwrap();
    let _ = std::fs::remove_file(&opened);
    let script = format!("#!/bin/sh\nprintf %s \"$1\" > '{0}.new' && mv '{0}.new' '{0}'\n", opened.display());
    std::fs::write(bin.join("xdg-open"), script).unwrap();
    std::fs::set_permissions(bin.join("xdg-open"), std::fs::Permissions::from_mode(0o755)).unwrap();
    let path = std::env::join_paths([bin.as_path(), Path::new("/usr/bin"), Path::new("/bin")]).unwrap();
    // Signals that were ignored when the tests were started, as in the background, would stay so.
    let mut run = Command::new("/usr/bin/env");
    run.args(["--default-signal", SLOWPATH, "view", "--dir"]).arg(dir.join("recordings")).current_dir(dir);
    run.env("PATH", path).env("DISPLAY", ":99").env("XDG_RUNTIME_DIR", runtime);
    let child = Serving(run.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap());
    let door = std::iter::repeat_with(|| {
        std::thread::sleep(Duration::from_millis(20));
        std::fs::read_to_string(&opened)
    });
    let door = PathBuf::from(door.take(3000).find_map(Result::ok).unwrap());
    (child, door)
}

#[test]
fn the_file_that_leads_the_browser_to_the_page_is_the_callers_and_goes_with_slowpath() {
    let _one = one_at_a_time();
    let dir = tempfile::tempdir().unwrap();
    let output = slowpath(dir.path(), &[], &[program("matmul").to_str().unwrap(), "0.2"]);
    assert!(output.status.success(), "{}", said(&output));
    let runtime = tempfile::tempdir().unwrap();
    for signal in [libc::SIGINT, libc::SIGTERM, libc::SIGHUP] {
        let (mut child, door) = opened(dir.path(), runtime.path());
        assert!(door.starts_with(runtime.path()), "{}", door.display());
        assert!(std::fs::read_to_string(&door).unwrap().contains("url=http://127.0.0.1:"));
        assert_eq!(std::fs::metadata(&door).unwrap().permissions().mode() & 0o777, 0o600);
        // SAFETY: a signal to a child that was not waited for.
        unsafe { libc::kill(child.0.id() as i32, signal) };
        assert_eq!(child.0.wait().unwrap().signal(), Some(signal));
        assert_eq!(std::fs::read_dir(runtime.path()).unwrap().count(), 0);
    }
}
