//! Where slowpath has less than it would like — no room for its words or files, few descriptors, little memory, no threads —
//! the program runs as without it, and what is missing is said.

#![allow(clippy::unwrap_used)] // a test that cannot go on says so by panicking

mod support;

use serde_json::Value;
use std::fs::File;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use support::{SLOWPATH, may_count, one_at_a_time, program, said};

/// Starts a script of bash, in which `$SLOWPATH` is slowpath and `$DIR` a folder for recordings.
fn start(dir: &Path, script: &str) -> Child {
    let mut run = Command::new("bash");
    run.args(["-c", script]).env("SLOWPATH", SLOWPATH).env("DIR", dir.join("recordings"));
    run.env_remove("LD_LIBRARY_PATH"); // of cargo's: every program would look for its libraries in vain
    run.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
}

fn bash(dir: &Path, script: &str) -> Output {
    start(dir, script).wait_with_output().unwrap()
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
    assert!(said(&output).contains("slowpath: the recording is incomplete: "), "{}", said(&output));
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

/// A folder for recordings that everybody may write to.
fn open_folder() -> tempfile::TempDir {
    let dir = tempfile::Builder::new().prefix("slowpath").tempdir_in("/tmp").unwrap();
    std::fs::set_permissions(dir.path(), std::fs::Permissions::from_mode(0o777)).unwrap();
    dir
}

fn is_root() -> bool {
    // SAFETY: takes nothing, always succeeds.
    unsafe { libc::geteuid() == 0 }
}

/// Turns the shell into one of an ordinary user, if we are none. To be put before `bash -c`.
fn ordinary() -> &'static str {
    if is_root() { "setpriv --reuid 65534 --regid 65534 --clear-groups" } else { "env" }
}

/// Records a shell under limits that a script sets before: its report. The shell must have run as without slowpath, with its own
/// limits, output and exit code.
fn limited(dir: &Path, user: &str, limits: &str) -> (Value, String) {
    let program = "ulimit -Sn; ulimit -Hn; ulimit -Sl; ulimit -Hl; ulimit -v; exit 3";
    let run = |slowpath: &str| bash(dir, &format!("{limits}; exec {user} {slowpath} sh -c '{program}'"));
    let bare = run("");
    let report = dir.join("report.json");
    let _ = std::fs::remove_file(&report);
    let recorded = run(&format!("$SLOWPATH record --dir $DIR --json --output {} --", report.display()));
    let told = said(&recorded);
    assert_eq!((recorded.status.code(), stdout(&recorded)), (Some(3), stdout(&bare)), "{limits}: {told}");
    // With almost no descriptors not even the report can be written.
    let report = std::fs::read(&report).map_or(Value::Null, |text| serde_json::from_slice(&text).unwrap());
    (report, told)
}

/// What a report says that could not be done.
fn degraded(report: &Value) -> String {
    report["recording"]["degraded"].as_array().unwrap().iter().map(|one| format!("{one}\n")).collect()
}

#[test]
fn with_few_descriptors_the_program_runs_and_what_they_were_too_few_for_is_said() {
    let _one = one_at_a_time();
    for user in ["", ordinary()] {
        let dir = open_folder();
        for most in (16..=64).step_by(4).chain([5, 8, 46]) {
            let (report, told) = limited(dir.path(), user, &format!("ulimit -n {most}"));
            if most >= 16 {
                assert_eq!(report["recording"]["exit"], 3, "{most}: {told}");
            }
            // So few are too few for BPF, or for samples even.
            let counts = user.is_empty() && may_count("descriptors");
            if (8..=40).contains(&most) && counts || (8..=12).contains(&most) {
                let degraded = degraded(&report);
                let limit = format!("at most {most} files may be open (ulimit -n)");
                assert!(degraded.contains(&limit), "{most}: {degraded}");
            }
        }
    }
}

#[test]
fn a_soft_limit_of_descriptors_is_raised_for_us_and_left_to_the_program() {
    let _one = one_at_a_time();
    let dir = open_folder();
    let (report, _) = limited(dir.path(), "", "ulimit -Sn 20; ulimit -Sl 0");
    let degraded = degraded(&report);
    assert!(!degraded.contains("ulimit"), "{degraded}");
}

#[test]
fn without_locked_memory_the_program_runs_with_small_rings_or_none() {
    let _one = one_at_a_time();
    let dir = open_folder();
    for limits in ["ulimit -l 0", "ulimit -l 16", "ulimit -l 64"] {
        let (report, told) = limited(dir.path(), ordinary(), limits);
        assert_eq!(report["recording"]["exit"], 3, "{limits}: {told}");
        assert!(!degraded(&report).contains("not sampled: locked memory"), "{limits}: {report:#}");
    }
    // Rings of 512 KiB a CPU may be had by all processes of a user together: so many at once have small ones, or none.
    let busy = "i=0; while [ $i -lt 200000 ]; do i=$((i+1)); done; echo done; exit 3";
    let reports: Vec<_> = (0..8).map(|number| dir.path().join(format!("report-{number}.json"))).collect();
    let mut runs: Vec<_> = reports
        .iter()
        .map(|report| {
            let script = format!(
                "ulimit -l 0; exec {} $SLOWPATH record --dir $DIR --json --output {} -- sh -c '{busy}'",
                ordinary(),
                report.display()
            );
            start(dir.path(), &script)
        })
        .collect();
    for (run, report) in runs.drain(..).zip(&reports) {
        let output = run.wait_with_output().unwrap();
        let told = said(&output);
        assert_eq!((output.status.code(), stdout(&output).as_str()), (Some(3), "done\n"), "{told}");
        let report: Value = serde_json::from_slice(&std::fs::read(report).unwrap()).unwrap();
        let degraded = degraded(&report);
        let sampled = report["recording"]["samples"].as_u64().unwrap() > 0;
        let explained = degraded.contains("not sampled")
            && degraded.contains("locked memory is limited to 0 KiB (ulimit -l)")
            && degraded.contains("kernel.perf_event_mlock_kb");
        assert!(sampled || explained, "{report:#}");
    }
}

#[test]
fn without_threads_the_program_runs_and_what_they_were_for_is_said() {
    let _one = one_at_a_time();
    if !is_root() {
        return; // other processes of this user would count
    }
    let dir = open_folder();
    // The shell of these scripts has become slowpath by then: the first count leaves room for the program alone. This user must
    // have no other process.
    let user = "setpriv --reuid 64321 --regid 64321 --clear-groups";
    let most = |most: u32| format!("ulimit -u {most}");
    let (report, told) = limited(dir.path(), user, &most(2));
    assert_eq!(report["recording"]["exit"], 3, "{told}");
    let degraded = degraded(&report);
    assert!(degraded.contains("system calls were not traced: cannot "), "{degraded}");
    assert!(degraded.contains("at most 2 processes and threads of a user (ulimit -u)"), "{degraded}");
    for more in [3, 4, 6] {
        let (report, told) = limited(dir.path(), user, &most(more));
        assert_eq!(report["recording"]["exit"], 3, "{more}: {told}");
    }
}

#[test]
fn where_no_recording_can_be_begun_the_program_runs_without() {
    let _one = one_at_a_time();
    let dir = tempfile::tempdir().unwrap();
    let output = bash(dir.path(), "ulimit -f 0; $SLOWPATH record --dir $DIR -- sh -c 'echo hi; exit 3'");
    assert_eq!((output.status.code(), stdout(&output).as_str()), (Some(3), "hi\n"), "{}", said(&output));
    assert!(said(&output).starts_with("slowpath: nothing was recorded: cannot "), "{}", said(&output));
    assert!(said(&output).contains("File too large"), "{}", said(&output));
    // Each of several runs, and until one is interrupted.
    let script = "ulimit -f 0; $SLOWPATH record --dir $DIR --repeat 3 -- sh -c 'echo hi; exit 3'";
    assert_eq!(stdout(&bash(dir.path(), script)), "hi\nhi\nhi\n");
    let output = bash(dir.path(), "ulimit -f 0; $SLOWPATH record --dir $DIR -- /no/such/program");
    assert_eq!(output.status.code(), Some(127), "{}", said(&output));
}

#[test]
fn attached_with_few_descriptors_it_samples_some_threads_and_says_of_how_many() {
    let _one = one_at_a_time();
    let paranoid = std::fs::read_to_string("/proc/sys/kernel/perf_event_paranoid").unwrap();
    if paranoid.trim().parse::<i32>().unwrap() > 2 {
        return; // an ordinary user may sample nothing here
    }
    let dir = open_folder();
    let pool = format!("exec {} {} 30 >/dev/null", ordinary(), program("threads_pool").display());
    let mut target = start(dir.path(), &pool);
    while std::fs::read_dir(format!("/proc/{}/task", target.id())).map_or(0, |threads| threads.count()) < 5 {
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
    // SAFETY: sysconf has no preconditions.
    let cpus = unsafe { libc::sysconf(libc::_SC_NPROCESSORS_ONLN) };
    let report = dir.path().join("report.json");
    let attach = format!(
        "ulimit -n {}; exec {} $SLOWPATH attach --pid {} --duration 0.5 --dir $DIR --json --output {}",
        16 + 2 * cpus,
        ordinary(),
        target.id(),
        report.display()
    );
    let output = bash(dir.path(), &attach);
    let goes_on = target.try_wait().unwrap().is_none();
    target.kill().unwrap();
    target.wait().unwrap();
    assert!(output.status.success() && goes_on, "{}", said(&output));
    let report: Value = serde_json::from_slice(&std::fs::read(report).unwrap()).unwrap();
    let degraded = degraded(&report);
    assert!(
        degraded.contains("only ") && degraded.contains("of 5 threads, and what they start, were sampled"),
        "{degraded}"
    );
    assert!(degraded.contains("(ulimit -n)"), "{degraded}");
    assert!(report["recording"]["samples"].as_u64().unwrap() > 0, "{report:#}");
}

#[test]
fn with_little_memory_the_program_runs_and_the_soft_limit_is_only_the_programs() {
    let _one = one_at_a_time();
    for user in ["", ordinary()] {
        let dir = open_folder();
        for kib in [60_000, 100_000, 200_000, 400_000] {
            limited(dir.path(), user, &format!("ulimit -v {kib}"));
        }
        let (report, _) = limited(dir.path(), user, "ulimit -Sv 60000");
        assert!(!degraded(&report).contains("ulimit -v"), "{report:#}");
    }
}

/// Makes slowpath abort when the program says so, as in the middle of an allocation: from then on its other threads get no memory.
const ABORTS: &str = r#"
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
void *__libc_malloc(size_t size);
static pthread_mutex_t allocator = PTHREAD_MUTEX_INITIALIZER;
void *malloc(size_t size) {
    pthread_mutex_lock(&allocator);
    void *made = __libc_malloc(size);
    pthread_mutex_unlock(&allocator);
    return made;
}
static void on(int signal) { (void) signal; pthread_mutex_trylock(&allocator); abort(); }
__attribute__((constructor)) static void begin(void) {
    char name[16] = {0};
    FILE *comm = fopen("/proc/self/comm", "r");
    if (comm && fgets(name, sizeof name, comm) && !strcmp(name, "slowpath\n")) signal(SIGUSR2, on);
    if (comm) fclose(comm);
}
"#;

#[test]
fn a_crash_of_slowpath_leaves_the_program_its_end_and_its_exit_code() {
    let _one = one_at_a_time();
    let dir = open_folder();
    let (source, library) = (dir.path().join("aborts.c"), dir.path().join("aborts.so"));
    std::fs::write(&source, ABORTS).unwrap();
    let mut gcc = Command::new("gcc");
    assert!(gcc.args(["-shared", "-fPIC", "-o"]).args([&library, &source]).status().unwrap().success());
    for user in ["", ordinary()] {
        let dir = open_folder();
        for (end, code) in [("exit 3", 3), ("kill -TERM $$", 128 + libc::SIGTERM)] {
            // From a program that it starts the shell looks for files: under ptrace somebody must go on answering.
            let program = format!("kill -USR2 $PPID; sleep 0.3; ls /dev/null; {end}");
            let preload = format!("LD_PRELOAD={}", library.display());
            let script =
                format!("exec {user} env {preload} $SLOWPATH record --dir $DIR -- sh -c '{program}'");
            let output = bash(dir.path(), &script);
            let told = said(&output);
            assert_eq!(
                (output.status.code(), stdout(&output).as_str()),
                (Some(code), "/dev/null\n"),
                "{told}"
            );
            assert!(told.contains("slowpath: crashed, out of memory"), "{told}");
        }
    }
}
