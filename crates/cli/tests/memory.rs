//! What memory recording and reporting take. In a file of its own: a program that a test executes begins with the test's peak.

#![allow(clippy::unwrap_used)] // a test that cannot go on says so by panicking

mod support;

use std::process::{Command, Stdio};
use std::thread;
use std::time::Duration;
use support::{SLOWPATH, may_count, one_at_a_time, program};

/// Runs a command to its end; the most memory that it, or a program that it ran, held, bytes.
fn peak(run: &mut Command) -> u64 {
    peak_of(run, |_| {})
}

/// The same, while something is done with its process.
#[allow(clippy::zombie_processes)] // wait4 waits for it, and says what `wait` does not
fn peak_of(run: &mut Command, meanwhile: impl Fn(libc::pid_t)) -> u64 {
    let child = run.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    meanwhile(child.id() as libc::pid_t);
    let mut status = 0;
    // SAFETY: rusage is plain numbers that wait4 fills.
    let mut usage: libc::rusage = unsafe { std::mem::zeroed() };
    // SAFETY: a child of ours that nobody else waits for; both pointers are valid.
    let ended = unsafe { libc::wait4(child.id() as libc::pid_t, &mut status, 0, &mut usage) };
    assert_eq!((ended, status), (child.id() as libc::pid_t, 0), "{run:?}");
    usage.ru_maxrss as u64 * 1024
}

/// Memory does not depend on how quick a machine is. It once took 23 KB to report a process.
#[test]
fn each_further_process_takes_little_memory_to_record_and_to_report() {
    /// Enough of them that what piles up for a moment, some MB after a stall of the machine, is little beside what all of them together may take.
    const PROCESSES: [u64; 2] = [1_000, 8_000];
    /// Bytes for each: 40 MB for 10,000 while they are recorded. Their calls are in memory as well when they are reported: 5.5 KB each were measured, and
    /// where there are very many `recordings.rs` tests how few rows they leave.
    const EACH: [u64; 2] = [4_000, 8_000];
    let _one = one_at_a_time();
    if !may_count("memory of many processes") {
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    let both = PROCESSES.map(|processes| {
        let folder = dir.path().join(processes.to_string());
        let mut record = Command::new(SLOWPATH);
        record.arg("--dir").arg(&folder).arg("--").arg(program("exec_many")).arg(processes.to_string());
        // With which the dynamic linker asks for ever more files.
        record.env_remove("LD_LIBRARY_PATH");
        let recording = peak(&mut record);
        (recording, peak(Command::new(SLOWPATH).args(["explain", "--dir"]).arg(&folder)))
    });
    let [few, many] = both;
    // What a program held counts as held by the one that it executes: this test's own memory is the least that can be seen.
    let least = peak(&mut Command::new("true"));
    assert!(few.0 > least && few.1 > least, "{few:?}, of which nothing can be seen below {least}");
    let more = EACH.map(|each| each * (PROCESSES[1] - PROCESSES[0]));
    assert!(many.0 < few.0 + more[0], "recorded: {} bytes, then {}", few.0, many.0);
    assert!(many.1 < few.1 + more[1], "reported: {} bytes, then {}", few.1, many.1);
}

/// What is recorded while slowpath gets no CPU lies in the kernel's buffers. It is taken out part by part: it once was all in memory at a time, 57 MB after a second.
#[test]
fn what_came_while_slowpath_stood_still_takes_little_memory() {
    const MORE: u64 = 32_000_000;
    let _one = one_at_a_time();
    if !may_count("memory after a stall") {
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    let recorded = |name: &str, meanwhile: fn(libc::pid_t)| {
        let mut record = Command::new(SLOWPATH);
        record.arg("--dir").arg(dir.path().join(name)).arg("--").arg(program("exec_many")).arg("8000");
        record.env_remove("LD_LIBRARY_PATH");
        peak_of(&mut record, meanwhile)
    };
    let usual = recorded("usual", |_| {});
    let stalled = recorded("stalled", |pid| {
        let signal = |signal| {
            // SAFETY: kill takes plain numbers; the process is a child that was not waited for.
            unsafe { libc::kill(pid, signal) };
        };
        thread::sleep(Duration::from_secs(1));
        signal(libc::SIGSTOP);
        thread::sleep(Duration::from_secs(1));
        let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap();
        signal(libc::SIGCONT);
        assert!(stat.contains(") T "), "it stood still for a second: {stat}");
    });
    assert!(stalled < usual + MORE, "{usual} bytes, and {stalled} after a stall");
}
