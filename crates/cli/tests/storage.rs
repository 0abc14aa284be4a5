//! Where recordings are kept: found, listed, limited, removed; and nobody but the caller gets or loses a file by it.

#![allow(clippy::print_stderr)] // SKIPPED is said
#![allow(clippy::unwrap_used)] // a test that cannot go on says so by panicking

mod support;

use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt, chown, symlink};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use support::{SLOWPATH, is_root, one_at_a_time, said};

/// A user without an account.
const USER: u32 = 12_345;
/// Plants links wherever the recorder might write, as quickly as it can, for so many seconds.
const HOSTILE: &str = r#"
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
static const char *names[] = { "about.json.tmp", "about.json", "samples", "syscalls", "processes", "stacks", "reserve" };
int main(int argc, char **argv) {
    const char *root = argv[1], *secret = argv[2], *folder = argv[3];
    time_t end = time(NULL) + atoi(argv[4]);
    char path[4096], moved[4096];
    for (int round = 0; time(NULL) < end; round++) {
        DIR *all = opendir(root);
        for (struct dirent *one; all && (one = readdir(all));) {
            if (one->d_name[0] == '.') continue;
            for (unsigned at = 0; at < sizeof names / sizeof *names; at++) {
                snprintf(path, sizeof path, "%s/%s/%s", root, one->d_name, names[at]);
                snprintf(moved, sizeof moved, "%s/%s/moved-%d-%u", root, one->d_name, round, at);
                if (round % 7 == 3) rename(path, moved);
                symlink(at < 2 ? secret : folder, path);
                if (round % 5 == 4) unlink(path);
                snprintf(path, sizeof path, "%s/%s/%s/%06d.parquet.tmp", root, one->d_name, names[at], round % 20);
                symlink(secret, path);
            }
            if (round % 100 == 99) {
                snprintf(path, sizeof path, "%s/%s", root, one->d_name);
                snprintf(moved, sizeof moved, "%s/.moved-%d", root, round);
                rename(path, moved);
                symlink(folder, path);
            }
        }
        if (all) closedir(all);
    }
    return 7;
}
"#;

fn slowpath(state: &Path, directory: &Path, arguments: &[&str]) -> Output {
    let mut run = Command::new(SLOWPATH);
    run.args(arguments).env("XDG_STATE_HOME", state).current_dir(directory).env_remove("SLOWPATH_KEEP");
    run.stdin(Stdio::null()).output().unwrap()
}

fn text(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

fn ids(state: &Path) -> Vec<String> {
    let listed = slowpath_recording::folder::list(&state.join("slowpath")).unwrap();
    listed.into_iter().map(|one| one.about.id).collect()
}

/// A folder that a user without an account may use, and in it what that user must not get.
fn guarded() -> (tempfile::TempDir, PathBuf, PathBuf) {
    let dir = tempfile::tempdir().unwrap();
    fs::set_permissions(dir.path(), fs::Permissions::from_mode(0o755)).unwrap();
    let (secret, folder) = (dir.path().join("secret"), dir.path().join("roots"));
    fs::write(&secret, "root's own").unwrap();
    fs::create_dir(&folder).unwrap();
    (dir, secret, folder)
}

fn unharmed(secret: &Path, folder: &Path) {
    assert_eq!(fs::read_to_string(secret).unwrap(), "root's own");
    for path in [secret, folder] {
        let of = fs::metadata(path).unwrap();
        assert_eq!((of.uid(), of.gid()), (0, 0), "{}", path.display());
    }
    assert_eq!(fs::read_dir(folder).unwrap().count(), 0);
}

/// Has slowpath, as `run` starts it, record the hostile program as its user, who plants links under `root` for so many seconds. `dir` is of [`guarded`].
fn races(run: &mut Command, dir: &Path, root: &Path, seconds: u32) -> Output {
    let (source, program) = (dir.join("hostile.c"), dir.join("hostile"));
    fs::write(&source, HOSTILE).unwrap();
    let made = Command::new("gcc").args(["-w", "-O1", "-o"]).args([&program, &source]).status().unwrap();
    assert!(made.success());
    run.current_dir(dir).args(["--", "setpriv", "--clear-groups"]);
    run.args(["--reuid", &USER.to_string(), "--regid", &USER.to_string()]);
    run.arg(&program).args([root, &dir.join("secret"), &dir.join("roots")]).arg(seconds.to_string());
    let output = run.stdin(Stdio::null()).output().unwrap();
    assert!(matches!(output.status.code(), Some(7 | 125)), "{:?}: {}", output.status, said(&output));
    output
}

#[test]
fn a_hostile_program_gets_no_file_of_roots_while_root_records_it_for_its_user() {
    let _one = one_at_a_time();
    if !is_root() {
        eprintln!("SKIPPED hostile program: it needs root");
        return;
    }
    let (dir, secret, folder) = guarded();
    // Under sudo: the recordings are the caller's, who runs the program too.
    let state = dir.path().join("state");
    fs::create_dir(&state).unwrap();
    chown(&state, Some(USER), Some(USER)).unwrap();
    let root = state.join("slowpath");
    let mut run = Command::new(SLOWPATH);
    run.env("SUDO_UID", USER.to_string()).env("SUDO_GID", USER.to_string()).env("XDG_STATE_HOME", &state);
    run.args(["--html", "state/page.html"]);
    let output = races(&mut run, dir.path(), &root, 10);
    unharmed(&secret, &folder);
    let raced = fs::read_dir(&root).unwrap().flatten();
    let raced = raced.filter(|entry| entry.file_name().to_string_lossy().starts_with(".moved"));
    assert!(raced.count() > 0, "the program did move and plant something: {}", said(&output));
}

/// Without sudo: root's recordings in a folder of root's, which lies in one where the user may rename what it likes, and put links in its place.
#[test]
fn whoever_owns_the_folder_around_roots_recordings_gets_no_file_of_roots() {
    let _one = one_at_a_time();
    if !is_root() {
        eprintln!("SKIPPED the folder around root's: it needs root");
        return;
    }
    let (dir, secret, folder) = guarded();
    let theirs = dir.path().join("theirs");
    fs::create_dir(&theirs).unwrap();
    let recordings = theirs.join("recordings");
    fs::create_dir(&recordings).unwrap();
    chown(&theirs, Some(USER), Some(USER)).unwrap();
    let mut run = Command::new(SLOWPATH);
    run.env_remove("SUDO_UID").env_remove("SUDO_GID").arg("--dir").arg(&recordings);
    // What it finds there is the folder of recordings itself.
    races(&mut run, dir.path(), &theirs, 3);
    unharmed(&secret, &folder);
    assert!(
        fs::read_dir(&theirs).unwrap().flatten().any(|one| one.path().is_symlink()),
        "nothing was planted"
    );
}

#[test]
fn root_writes_into_no_folder_of_another_user_and_through_none_of_its_links() {
    let _one = one_at_a_time();
    if !is_root() {
        eprintln!("SKIPPED folders of others: it needs root");
        return;
    }
    let (dir, secret, folder) = guarded();
    let theirs = dir.path().join("theirs");
    fs::create_dir(&theirs).unwrap();
    symlink(&folder, theirs.join("link")).unwrap();
    chown(&theirs, Some(USER), Some(USER)).unwrap();
    for (place, why) in [("theirs", "belongs to the user 12345"), ("theirs/link", "link of another user")] {
        let place = dir.path().join(place);
        let output = slowpath(
            dir.path(),
            dir.path(),
            &["--dir", place.to_str().unwrap(), "--", "sh", "-c", "echo ran; exit 3"],
        );
        assert_eq!((output.status.code(), text(&output).as_str()), (Some(3), "ran\n"), "{}", said(&output));
        // In one line: where it is broken depends on the length of the path.
        let said = said(&output).split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(said.contains(why) && said.contains("the recording is not kept"), "{said}");
    }
    unharmed(&secret, &folder);
    assert_eq!(fs::read_dir(&theirs).unwrap().count(), 1);
}

#[test]
fn where_recordings_cannot_be_kept_the_program_runs_and_the_report_comes() {
    let _one = one_at_a_time();
    let dir = tempfile::tempdir().unwrap();
    // A file where the folder would be.
    fs::write(dir.path().join("slowpath"), "").unwrap();
    let output = slowpath(dir.path(), dir.path(), &["--", "sh", "-c", "echo ran; exit 3"]);
    assert_eq!((output.status.code(), text(&output).as_str()), (Some(3), "ran\n"), "{}", said(&output));
    let said = said(&output);
    assert!(said.contains("the recording is not kept") && said.contains("wall "), "{said}");
    let left = fs::read_dir(std::env::temp_dir()).unwrap().flatten();
    let ours = |name: &str| name.starts_with("slowpath-") && !name.contains("suites");
    assert!(
        !left.into_iter().any(|entry| ours(&entry.file_name().to_string_lossy()) && entry.path().is_dir())
    );
}

#[test]
fn recordings_are_no_part_of_the_programs_directory_and_those_made_there_come_first() {
    let _one = one_at_a_time();
    let (state, here, there) =
        (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let output = slowpath(state.path(), here.path(), &["--", "find", "."]);
    assert_eq!(text(&output), ".\n", "{}", said(&output));
    slowpath(state.path(), there.path(), &["--", "true"]);
    let listed = text(&slowpath(state.path(), here.path(), &["list"]));
    let lines: Vec<&str> = listed.lines().collect();
    assert!(lines[0].contains("find .") && lines[0].contains(" MiB "), "{listed}");
    assert!(lines[1].contains("other directories") && lines[2].contains("true"), "{listed}");
    assert!(lines[2].contains(&fs::canonicalize(there.path()).unwrap().display().to_string()), "{listed}");
    // The newest is that of this directory.
    let newest = |directory: &Path| text(&slowpath(state.path(), directory, &["explain"]));
    assert!(newest(here.path()).contains("find .") && newest(there.path()).contains("true"));
    assert!(newest(state.path()).contains("true"), "where nothing was recorded it is the newest of all");
}

#[test]
fn the_oldest_recordings_go_when_there_is_no_more_room() {
    let _one = one_at_a_time();
    let dir = tempfile::tempdir().unwrap();
    for _ in 0..3 {
        slowpath(dir.path(), dir.path(), &["--", "true"]);
    }
    let begun = || -> Vec<u64> {
        let listed = slowpath_recording::folder::list(&dir.path().join("slowpath")).unwrap();
        listed.into_iter().map(|one| one.about.started_unix_ns).collect()
    };
    let before = begun();
    assert_eq!(before.len(), 3);
    let output = slowpath(dir.path(), dir.path(), &["--keep", "1K", "--", "true"]);
    assert!(said(&output).contains("removed the 3 oldest recordings"), "{}", said(&output));
    let after = begun();
    assert!(after.len() == 1 && before.iter().all(|one| *one < after[0]), "{before:?}, {after:?}");
    // Those in a folder that the user named are the user's affair.
    let own = dir.path().join("own");
    for _ in 0..2 {
        slowpath(dir.path(), dir.path(), &["--dir", own.to_str().unwrap(), "--keep", "1K", "--", "true"]);
    }
    assert_eq!(slowpath_recording::folder::list(&own).unwrap().len(), 2);
}

#[test]
fn recordings_that_compare_makes_are_kept_below_the_same_size() {
    let _one = one_at_a_time();
    let dir = tempfile::tempdir().unwrap();
    for _ in 0..2 {
        let mut run = Command::new(SLOWPATH);
        run.args(["compare", "--max-pairs", "3", "--min-pairs", "3", "--", "true", "echo 1"]);
        run.env("XDG_STATE_HOME", dir.path()).env("SLOWPATH_KEEP", "1K").current_dir(dir.path());
        let output = run.stdin(Stdio::null()).output().unwrap();
        assert!(output.status.success(), "{}", said(&output));
        assert_eq!(ids(dir.path()).len(), 1, "the last one: {}", said(&output));
    }
}

#[test]
fn under_sudo_recordings_are_the_callers_in_the_callers_home_also_when_slowpath_is_killed() {
    let _one = one_at_a_time();
    if !is_root() {
        eprintln!("SKIPPED the home of who called sudo: it needs root");
        return;
    }
    // That user's home is in the list of users, which a file system of its own hides.
    let dir = tempfile::tempdir().unwrap();
    fs::set_permissions(dir.path(), fs::Permissions::from_mode(0o755)).unwrap();
    let home = dir.path().join("home");
    fs::create_dir(&home).unwrap();
    chown(&home, Some(USER), Some(USER)).unwrap();
    let users = dir.path().join("passwd");
    let line = format!("root:x:0:0::/root:/bin/sh\ncaller:x:{USER}:{USER}::{}:/bin/sh\n", home.display());
    fs::write(&users, line).unwrap();
    let script = "mount --bind \"$1\" /etc/passwd && shift && exec \"$@\"";
    let mut run = Command::new("unshare");
    run.args(["--mount", "sh", "-c", script, "sh"]).arg(&users).arg(SLOWPATH);
    run.args(["--", "sh", "-c", "sleep 60"]);
    run.env("SUDO_UID", USER.to_string()).env("SUDO_GID", USER.to_string()).env("SUDO_USER", "caller");
    run.env_remove("XDG_STATE_HOME").env("HOME", "/root").current_dir(dir.path());
    run.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let mut slowpath = run.spawn().unwrap();
    let state = home.join(".local/state");
    let segments = || {
        let ids = if state.join("slowpath").exists() { ids(&state) } else { Vec::new() };
        let folder = ids.first().map(|id| state.join("slowpath").join(id));
        folder.filter(|folder| fs::read_dir(folder.join("processes")).is_ok_and(|files| files.count() > 0))
    };
    let recording = loop {
        assert!(slowpath.try_wait().unwrap().is_none(), "it waits for its program");
        if let Some(recording) = segments() {
            break recording;
        }
        std::thread::sleep(std::time::Duration::from_millis(20));
    };
    slowpath.kill().unwrap();
    slowpath.wait().unwrap();
    let mut open = vec![recording];
    while let Some(path) = open.pop() {
        let of = fs::symlink_metadata(&path).unwrap();
        assert_eq!((of.uid(), of.gid()), (USER, USER), "{}", path.display());
        if of.is_dir() {
            open.extend(fs::read_dir(&path).unwrap().map(|entry| entry.unwrap().path()));
        }
    }
}

#[test]
fn recordings_go_by_age() {
    let _one = one_at_a_time();
    let dir = tempfile::tempdir().unwrap();
    slowpath(dir.path(), dir.path(), &["--", "true"]);
    slowpath(dir.path(), dir.path(), &["--", "false"]);
    // One of them was made eight days ago.
    let old = dir.path().join("slowpath").join(&ids(dir.path())[0]).join("about.json");
    let mut about: serde_json::Value = serde_json::from_slice(&fs::read(&old).unwrap()).unwrap();
    about["started_unix_ns"] =
        (about["started_unix_ns"].as_u64().unwrap() - 8 * 86_400 * 1_000_000_000).into();
    fs::write(&old, about.to_string()).unwrap();
    assert!(slowpath(dir.path(), dir.path(), &["rm", "--older-than", "9d"]).status.success());
    assert_eq!(ids(dir.path()).len(), 2);
    assert!(slowpath(dir.path(), dir.path(), &["rm", "--older-than", "7d"]).status.success());
    let left = ids(dir.path());
    assert!(left.len() == 1 && left[0].ends_with("-false"), "{left:?}");
}

#[test]
fn only_recordings_are_removed_whole_and_never_through_a_link() {
    let _one = one_at_a_time();
    let dir = tempfile::tempdir().unwrap();
    let root = dir.path().join("slowpath");
    slowpath(dir.path(), dir.path(), &["--", "true"]);
    let id = ids(dir.path()).remove(0);
    let refused = |arguments: &[&str], why: &str| {
        let output = slowpath(dir.path(), dir.path(), &[&["rm"], arguments].concat());
        assert_eq!(output.status.code(), Some(125), "{arguments:?}");
        assert!(
            said(&output).contains(why) && said(&output).contains("was not removed"),
            "{}",
            said(&output)
        );
    };
    // A project with a file of that name.
    let project = dir.path().join("proj");
    fs::create_dir(&project).unwrap();
    fs::write(project.join("about.json"), "{\"name\": \"mine\"}").unwrap();
    fs::write(project.join("precious"), "x").unwrap();
    refused(&["./proj"], "is not in the folder of recordings");
    refused(&["./proj", "--force"], "does not contain its format");
    // A recording elsewhere, one with something else in it, and links.
    let copy = dir.path().join("copy");
    assert!(Command::new("cp").arg("-a").arg(root.join(&id)).arg(&copy).status().unwrap().success());
    refused(&["./copy"], "--force");
    fs::write(copy.join("processes/notes.txt"), "mine").unwrap();
    refused(&["./copy", "--force"], "processes/notes.txt");
    assert!(copy.join("about.json").exists() && copy.join("processes/notes.txt").exists());
    fs::remove_file(copy.join("processes/notes.txt")).unwrap();
    symlink(&copy, root.join("link")).unwrap();
    refused(&["link"], "a link to one");
    fs::remove_dir_all(copy.join("waits")).ok();
    symlink(&project, copy.join("waits")).unwrap();
    refused(&["./copy", "--force"], "waits");
    fs::remove_file(copy.join("waits")).unwrap();
    assert!(slowpath(dir.path(), dir.path(), &["rm", "./copy", "--force"]).status.success());
    assert!(!copy.exists() && project.join("precious").exists());
    // One that a full disk left without about.json.
    fs::remove_file(root.join("link")).unwrap();
    fs::create_dir(root.join("empty")).unwrap();
    assert!(slowpath(dir.path(), dir.path(), &["rm", "empty", &id]).status.success());
    assert_eq!(fs::read_dir(&root).unwrap().count(), 0);
}

#[test]
fn one_that_is_being_recorded_is_not_removed() {
    let _one = one_at_a_time();
    let dir = tempfile::tempdir().unwrap();
    let mut run = Command::new(SLOWPATH);
    run.args(["--", "sh", "-c", "read line"]).env("XDG_STATE_HOME", dir.path()).stdin(Stdio::piped());
    let mut recorded = run.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    while ids(dir.path()).is_empty() {
        assert!(recorded.try_wait().unwrap().is_none(), "it waits for its input");
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
    let output = slowpath(dir.path(), dir.path(), &["rm", "--all"]);
    assert!(said(&output).contains("it is still being recorded"), "{}", said(&output));
    drop(recorded.stdin.take());
    recorded.wait().unwrap();
    assert!(slowpath(dir.path(), dir.path(), &["rm", "--all"]).status.success());
    assert!(ids(dir.path()).is_empty());
}

#[test]
fn a_pipe_in_a_recording_keeps_no_reader_waiting() {
    let _one = one_at_a_time();
    let dir = tempfile::tempdir().unwrap();
    slowpath(dir.path(), dir.path(), &["--", "sleep", "0.01"]);
    let recording = dir.path().join("slowpath").join(&ids(dir.path())[0]);
    let pipe = |path: PathBuf| {
        fs::remove_file(&path).ok();
        assert!(Command::new("mkfifo").arg(path).status().unwrap().success());
    };
    pipe(recording.join("processes/000001.parquet"));
    let output = slowpath(dir.path(), dir.path(), &["explain"]);
    assert!(output.status.success(), "{}", said(&output));
    assert!(text(&output).contains("could not be read"), "{}", text(&output));
    pipe(recording.join("about.json"));
    assert!(text(&slowpath(dir.path(), dir.path(), &["list"])).is_empty());
    let output = slowpath(dir.path(), dir.path(), &["explain", recording.to_str().unwrap()]);
    assert!(said(&output).contains("not a regular file"), "{}", said(&output));
}

#[test]
fn names_that_would_steer_a_terminal_are_spelled_out_wherever_they_are_printed() {
    let _one = one_at_a_time();
    let dir = tempfile::tempdir().unwrap();
    let evil = "\u{1b}]0;owned\u{7}\u{202e}\n[2J";
    slowpath(dir.path(), dir.path(), &["--", "true", evil]);
    let harmless = |output: &Output, what: &str| {
        let text = text(output) + &said(output);
        let steers = |c: char| c != '\n' && c.is_control() || c == '\u{202e}';
        assert!(!text.contains(steers), "{what}: {text:?}");
        // A command is quoted as a shell would need it.
        let spelled = ["\\x1b]0;owned\\x07\\u{202e}", "\\033]0;owned\\007\\342\\200\\256"];
        // Of an argument that it does not know the parser leaves such sequences out.
        assert!(!text.contains("owned") || spelled.iter().any(|one| text.contains(one)), "{what}: {text:?}");
    };
    harmless(&slowpath(dir.path(), dir.path(), &["list"]), "list");
    harmless(&slowpath(dir.path(), dir.path(), &["explain"]), "explain");
    for arguments in [
        vec!["explain", evil],
        vec!["rm", evil],
        vec!["view", evil],
        vec!["causes", evil],
        vec![evil],
        vec!["--rate", evil],
        vec!["--dir", evil, "--", evil],
        vec!["compare", "--no-why", "--max-pairs", "2", "--min-pairs", "2", "--", evil, "true"],
        vec!["cases", "run", "--gallery", evil, "x"],
    ] {
        harmless(&slowpath(dir.path(), dir.path(), &arguments), &format!("{arguments:?}"));
    }
}
