//! `view` and `--html`: the page is written or served, and what cannot be shown is said.

#![allow(clippy::unwrap_used)] // a test that cannot go on says so by panicking

mod support;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use std::io::Read;
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

/// The data in a page, inflated: one text for all recordings in it.
fn data(page: &Path) -> String {
    let page = std::fs::read_to_string(page).unwrap();
    let mut all = Vec::new();
    for part in page.split("<script type=\"application/x-slowpath\">").skip(1) {
        let packed = STANDARD.decode(part.split_once('<').unwrap().0).unwrap();
        flate2::read::DeflateDecoder::new(packed.as_slice()).read_to_end(&mut all).unwrap();
    }
    String::from_utf8_lossy(&all).into_owned()
}

/// As sudo sets them for a user who may do nothing here.
fn as_nobody(run: &mut Command) -> &mut Command {
    run.env("SUDO_UID", "54321").env("SUDO_GID", "54321")
}

/// A program whose functions say that they come from these files, and that is busy in each of them.
fn naming(dir: &Path, files: &[&Path]) -> PathBuf {
    let functions = (files.iter().enumerate()).map(|(number, file)| {
        format!(
            "#line 1 \"{}\"\n__attribute__((noinline)) int work_{number}(volatile int *p) {{ for (int i = 0; i < 60000000; i++) *p += i; return *p; }}\n",
            file.display()
        )
    });
    let calls = (0..files.len()).map(|number| format!("sum += work_{number}(&sum);"));
    let main = format!(
        "#line 1 \"main.c\"\nint main(void) {{ volatile int sum = 0; {} return sum == 1; }}\n",
        calls.collect::<String>()
    );
    std::fs::write(dir.join("main.c"), functions.collect::<String>() + &main).unwrap();
    let made = Command::new("cc").args(["-O1", "-g", "-o", "program", "main.c"]).current_dir(dir).status();
    assert!(made.unwrap().success());
    dir.join("program")
}

#[test]
fn a_program_cannot_have_files_put_into_the_page_that_are_none_of_its_source() {
    // SAFETY: geteuid has no preconditions.
    if unsafe { libc::geteuid() } != 0 {
        eprintln!("SKIPPED files that only root may read: it needs root");
        return;
    }
    let _one = one_at_a_time();
    let dir = tempfile::Builder::new().prefix("view").tempdir().unwrap();
    let (project, keys) = (dir.path().join("project"), dir.path().join("keys"));
    for folder in [dir.path(), &project, &keys] {
        std::fs::create_dir_all(folder).unwrap();
        std::fs::set_permissions(folder, std::fs::Permissions::from_mode(0o777)).unwrap();
    }
    let written = |path: PathBuf, text: &str, mode| {
        std::fs::write(&path, text).unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(mode)).unwrap();
        path
    };
    let root_only = written(project.join("root-only.c"), "root's own\n", 0o600);
    let outside = written(keys.join("key"), "a key\n", 0o600);
    let shared = written(keys.join("shared.c"), "shared source\n", 0o644);
    let (link, pipe, binary) = (project.join("link.c"), project.join("pipe"), project.join("binary"));
    std::os::unix::fs::symlink(&outside, &link).unwrap();
    assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    std::fs::write(&binary, b"\0\0\0binary").unwrap();
    let program = naming(&project, &[&root_only, &outside, &shared, &link, &pipe, &binary]);

    let mut run = Command::new(SLOWPATH);
    run.args(["record", "--no-count", "--no-trace", "--dir"]).arg(dir.path().join("recordings"));
    let output = as_nobody(run.arg("--").arg(&program).current_dir(&project)).output().unwrap();
    assert!(output.status.success(), "{}", said(&output));
    let viewed = |options: &[&str]| {
        let page = dir.path().join("page.html");
        let mut run = Command::new(SLOWPATH);
        run.arg("view")
            .arg("--dir")
            .arg(dir.path().join("recordings"))
            .arg("--output")
            .arg(&page)
            .args(options);
        let output = as_nobody(&mut run).output().unwrap();
        assert!(output.status.success(), "{}", said(&output));
        (data(&page), said(&output))
    };
    let source = |text: &str| format!("{text}\\n\"");

    let (page, told) = viewed(&[]);
    assert!(page.contains("work_0") && !page.contains("noinline") && told.is_empty(), "{told}");
    let (page, told) = viewed(&["--with-source"]);
    assert!(page.contains("noinline"), "main.c is in the folder that it was recorded in: {told}");
    for text in ["root's own", "a key", "shared source"] {
        assert!(!page.contains(&source(text)), "{text}: {told}");
    }
    assert!(told.contains("1 source file is in the page: ") && told.contains("main.c"), "{told}");
    for line in
        ["excluded, not readable for you: 1", "excluded, not a regular file: 1", "excluded, not text: 1"]
    {
        assert!(told.contains(line), "{line}: {told}");
    }
    assert!(told.contains("excluded, not in a folder that sources are read from: "), "{told}");

    let (page, told) = viewed(&["--source-root", keys.to_str().unwrap()]);
    assert!(page.contains(&source("shared source")), "{told}");
    assert!(!page.contains(&source("root's own")) && !page.contains(&source("a key")), "{told}");
    let (page, told) = viewed(&["--all-sources"]);
    assert!(page.contains(&source("shared source")), "{told}");
    assert!(!page.contains(&source("root's own")) && !page.contains(&source("a key")), "{told}");

    // Root itself may read all of it, so the difference above is who asks.
    let mut run = Command::new(SLOWPATH);
    run.arg("view").arg("--dir").arg(dir.path().join("recordings")).args(["--all-sources", "--output"]);
    let output = run.arg(dir.path().join("all.html")).env_remove("SUDO_UID").output().unwrap();
    let page = data(&dir.path().join("all.html"));
    assert!(page.contains(&source("root's own")) && page.contains(&source("a key")), "{}", said(&output));
    // Whoever sends the page sees each file that is in it.
    for name in ["main.c", "root-only.c", "keys/key", "shared.c"] {
        assert!(said(&output).contains(name), "{name}: {}", said(&output));
    }
}
