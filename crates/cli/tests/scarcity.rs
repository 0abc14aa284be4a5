//! Where slowpath has less than it would like — no room for its words or files, few descriptors, little memory, no threads —
//! the program runs as without it, and what is missing is said.

#![allow(clippy::unwrap_used)] // a test that cannot go on says so by panicking

mod support;

use std::fs::File;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use support::{SLOWPATH, one_at_a_time, said};

/// Runs a script of bash, in which `$SLOWPATH` is slowpath and `$DIR` a folder for recordings.
fn bash(dir: &Path, script: &str) -> Output {
    let mut run = Command::new("bash");
    run.args(["-c", script]).env("SLOWPATH", SLOWPATH).env("DIR", dir.join("recordings"));
    run.env_remove("LD_LIBRARY_PATH"); // of cargo's: every program would look for its libraries in vain
    run.stdin(Stdio::null()).output().unwrap()
}

fn stdout(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

#[test]
fn where_nothing_can_be_said_the_exit_code_stays_the_programs() {
    let _one = one_at_a_time();
    let dir = tempfile::tempdir().unwrap();
    let full = || File::options().write(true).open("/dev/full").unwrap();
    for (command, code) in [("exit 3", 3), ("kill -KILL $$", 128 + libc::SIGKILL)] {
        let mut run = Command::new(SLOWPATH);
        run.arg("record").arg("--dir").arg(dir.path().join("recordings")).args(["--", "sh", "-c", command]);
        let status = run.stderr(full()).status().unwrap();
        assert_eq!(status.code(), Some(code), "{command}");
    }
    let output = bash(dir.path(), "$SLOWPATH record --dir $DIR -- sh -c 'echo hi; exit 3' 2>&-");
    assert_eq!((output.status.code(), stdout(&output).as_str()), (Some(3), "hi\n"));
    // What is slowpath's own failure is so without words too.
    for arguments in [&["explain", "/no/such/recording"][..], &["--no-such-option"], &["ech", "hi"]] {
        let status = Command::new(SLOWPATH).args(arguments).stderr(full()).status().unwrap();
        assert_eq!(status.code(), Some(125), "{arguments:?}");
    }
}

#[test]
fn a_report_that_cannot_be_written_where_it_was_asked_for_is_said_and_changes_no_exit_code() {
    let _one = one_at_a_time();
    let dir = tempfile::tempdir().unwrap();
    let output = bash(dir.path(), "$SLOWPATH record --dir $DIR --json --output /dev/full -- sh -c 'exit 3'");
    assert_eq!(output.status.code(), Some(3));
    assert!(said(&output).contains("slowpath: cannot write /dev/full: "), "{}", said(&output));
}

#[test]
fn a_limit_on_files_is_like_a_full_disk() {
    let _one = one_at_a_time();
    let dir = tempfile::tempdir().unwrap();
    // Some 30 KiB of samples, and a limit of 4.
    let busy = "i=0; while [ $i -lt 300000 ]; do i=$((i+1)); done; echo done; exit 3";
    let script = format!("ulimit -f 4; $SLOWPATH record --dir $DIR -- sh -c '{busy}'");
    let output = bash(dir.path(), &script);
    assert_eq!((output.status.code(), stdout(&output).as_str()), (Some(3), "done\n"), "{}", said(&output));
    assert!(said(&output).contains("slowpath: the recording is not whole: "), "{}", said(&output));
    assert!(said(&output).contains("File too large"), "{}", said(&output));
}

#[test]
fn a_program_finds_its_signals_as_they_were_left_to_us() {
    let _one = one_at_a_time();
    let dir = tempfile::tempdir().unwrap();
    let ignored = |before: &str| {
        let bare = bash(dir.path(), &format!("{before} exec grep -E 'Sig(Ign|Blk)' /proc/self/status"));
        let recorded =
            format!("{before} exec $SLOWPATH record --dir $DIR -- grep -E 'Sig(Ign|Blk)' /proc/self/status");
        let recorded = bash(dir.path(), &recorded);
        assert_eq!(recorded.status.code(), Some(0), "{before}: {}", said(&recorded));
        // The C library keeps 32 and 33 for itself, and may not be asked about them.
        let sets = |output: &Output| -> Vec<u64> {
            let own = |line: &str| u64::from_str_radix(line.split_once('\t')?.1, 16).ok();
            stdout(output).lines().map(|line| own(line).unwrap() & !(3 << 31)).collect()
        };
        assert_eq!(sets(&recorded), sets(&bare), "{before}");
        sets(&bare)
    };
    let none = ignored("");
    for signal in ["PIPE", "XFSZ", "CHLD", "INT", "HUP", "USR1"] {
        assert_ne!(ignored(&format!("trap '' {signal};")), none, "{signal}");
    }
}
