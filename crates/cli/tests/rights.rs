//! Without rights slowpath says so and does what it can by ptrace, or runs nothing; and when it is killed it leaves no probe behind.

#![allow(clippy::print_stderr)] // what was missed is said
#![allow(clippy::unwrap_used)] // a test that cannot go on says so by panicking

mod support;

use std::os::unix::fs::{FileExt, PermissionsExt};
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::time::Duration;
use support::{
    BUSY, REFUSER, SLOWPATH, built, interrupted, may_count, one_at_a_time, program, refused, said, scaled,
    share_of_cpus,
};

/// Opens one file 200,000 times: for 0.15 s on a fast machine, enough for windows of tracing to see it.
const SAME: &str = r#"
#include <fcntl.h>
#include <unistd.h>
__attribute__((noinline)) static int look_up(const char *path) {
    char bytes[4096];
    int fd = open(path, O_RDONLY), size = read(fd, bytes, sizeof bytes);
    close(fd);
    return size;
}
int main(void) { long sum = 0; for (int i = 0; i < 200000; i++) sum += look_up("/etc/passwd"); return sum == 0; }
"#;

/// Starts 300 processes, and ends with 3.
const STARTS: &str = r#"
#include <stdio.h>
__attribute__((noinline)) static void ask(void) {
    char line[100];
    FILE *from = popen("date +%Y", "r");
    if (fgets(line, sizeof line, from)) pclose(from);
}
int main(void) { for (int i = 0; i < 300; i++) ask(); puts("asked"); return 3; }
"#;

/// Computes, and opens a few files.
const CLEAN: &str = r#"
#include <fcntl.h>
#include <unistd.h>
int main(void) {
    volatile long n = 0;
    for (int i = 0; i < 40; i++) { while (n % 10000000 != 9999999) n++; n++; close(open("/etc/passwd", O_RDONLY)); }
    return 0;
}
"#;

/// A C program is run under `REFUSER`: the report, and how the run went.
fn reported(dir: &Path, user: Option<&str>, source: &str) -> (serde_json::Value, Output) {
    let program = built(dir, "program", source);
    let file = dir.join("findings.json");
    let options = ["--json", "--output", file.to_str().unwrap()];
    let output = refused(dir, user, &options, &[program.to_str().unwrap()]);
    let text = std::fs::read(&file).unwrap_or_else(|error| panic!("{error}: {}", said(&output)));
    (serde_json::from_slice(&text).unwrap(), output)
}

/// The causes that are found in a C program under `REFUSER`, and all of the report.
fn found(dir: &Path, user: Option<&str>, source: &str) -> (Vec<String>, serde_json::Value, Option<i32>) {
    let (report, output) = reported(dir, user, source);
    let causes = report["findings"].as_array().unwrap().iter();
    let causes = causes.map(|finding| finding["cause"].as_str().unwrap().to_owned()).collect();
    (causes, report, output.status.code())
}

/// Attempts at a finding: on a machine that is busy itself one run may say nothing, for what a stop takes scatters.
const ATTEMPTS: u32 = 4;

/// The first of some runs in which anything is found. None, which is said, where others use the CPUs as well.
fn found_at_last(
    dir: &Path,
    user: Option<&str>,
    source: &str,
) -> Option<(Vec<String>, serde_json::Value, Option<i32>)> {
    for attempt in 1..=ATTEMPTS {
        let found = found(dir, user, source);
        if !found.0.is_empty() {
            return Some(found);
        }
        eprintln!("MISSED in attempt {attempt}");
    }
    let share = share_of_cpus();
    assert!(share < BUSY, "missed {ATTEMPTS} times, where a test gets {share:.2} of the CPUs");
    eprintln!("SKIPPED: a test gets {share:.2} of the CPUs");
    None
}

#[test]
fn where_perf_and_bpf_are_refused_ptrace_gives_the_findings() {
    let _one = one_at_a_time();
    let dir = tempfile::tempdir().unwrap();
    if let Some((causes, report, exit)) = found_at_last(dir.path(), None, SAME) {
        assert_eq!((causes, exit), (vec!["redundant-file-access".to_owned()], Some(0)), "{report:#}");
        let finding = &report["findings"][0];
        assert_eq!(finding["function"], "look_up");
        assert_eq!(finding["confidence"], "likely");
        assert_ne!(report["recording"]["samples"], 0);
        let degraded = report["recording"]["degraded"].to_string();
        for said in [
            "sampled by stopping the program",
            "charged to who called it",
            "perf_event_open",
            "sudo",
            "ptrace",
            "in windows",
            "set-uid",
        ] {
            assert!(degraded.contains(said), "{degraded}");
        }
    }
    if let Some((causes, report, exit)) = found_at_last(dir.path(), None, STARTS) {
        assert_eq!((causes, exit), (vec!["process-per-operation".to_owned()], Some(3)), "{report:#}");
        assert_eq!(report["findings"][0]["function"], "ask");
    }
    let (causes, report, exit) = found(dir.path(), None, CLEAN);
    assert_eq!((causes, exit), (vec![], Some(0)), "{report:#}");
}

/// Two threads compute, each in a function of its own; a third one sleeps, and counts what woke it early. Prints that and the share of the first
/// in the CPU time of both.
const THREADS: &str = r#"
#include <pthread.h>
#include <stdio.h>
#include <time.h>
static int early;
static double used[2];
static double cpu(void) {
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return now.tv_sec + now.tv_nsec / 1e9;
}
#define WORK(name, rounds) \
    __attribute__((noinline)) static void *name(void *of) { \
        for (volatile long i = 0; i < rounds; i++) { } \
        *(double *)of = cpu(); \
        return of; \
    }
WORK(longer, 600000000)
WORK(shorter, 300000000)
static void *sleeper(void *of) {
    for (int i = 0; i < 20; i++) { struct timespec some = { 0, 20000000 }; early += nanosleep(&some, 0) != 0; }
    return of;
}
int main(void) {
    pthread_t threads[3];
    pthread_create(&threads[0], 0, longer, &used[0]);
    pthread_create(&threads[1], 0, shorter, &used[1]);
    pthread_create(&threads[2], 0, sleeper, 0);
    for (int i = 0; i < 3; i++) pthread_join(threads[i], 0);
    printf("%d %.3f\n", early, used[0] / (used[0] + used[1]));
    return 0;
}
"#;

#[test]
fn where_perf_is_refused_stops_show_where_the_time_goes() {
    let _one = one_at_a_time();
    let dir = tempfile::tempdir().unwrap();
    let (report, output) = reported(dir.path(), None, THREADS);
    let printed = String::from_utf8_lossy(&output.stdout).into_owned();
    let (early, truly) = printed.trim().split_once(' ').unwrap_or_else(|| panic!("{}", said(&output)));
    assert_eq!(early, "0", "a stop for a sample wakes nobody");
    let truly: f64 = truly.parse().unwrap();
    assert!(report["findings"].as_array().unwrap().is_empty(), "{report:#}");
    let recording = &report["recording"];
    let of = |function: &str| {
        let hot = report["hot"].as_array().unwrap().iter();
        hot.filter(|row| row["function"] == function).map(|row| row["self_ns"].as_f64().unwrap()).sum::<f64>()
    };
    let whole = recording["user_ns"].as_f64().unwrap() + recording["sys_ns"].as_f64().unwrap();
    let (longer, shorter) = (of("longer"), of("shorter"));
    let share = longer / (longer + shorter);
    assert!((share - truly).abs() < 0.1, "{share} {truly} {report:#}");
    assert!(longer + shorter > 0.8 * whole, "{report:#}");
    assert!(recording["sampled_share"].as_f64().unwrap() > 0.8, "{recording:#}");
    // Each of the two is stopped 250 times a second, which takes some 1 % of its time.
    assert!(recording["tracing_ns"].as_f64().unwrap() < 0.1 * whole, "{recording:#}");
}

/// Calls the kernel every µs or so, with work of its own between; then does that work alone. Prints the share of the calls in its CPU time. The work counts in a register: what
/// counts in memory was seen to take three times as long between system calls as without them, so that the calls seemed to take 0.6 of the time where the kernel counted 0.05.
const CALLS: &str = r#"
#include <stdio.h>
#include <time.h>
#include <unistd.h>
static double cpu(void) {
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return now.tv_sec + now.tv_nsec / 1e9;
}
__attribute__((noinline)) static void work(void) { for (int i = 0; i < 700; i++) __asm__ volatile("" : "+r"(i)); }
int main(void) {
    char directory[4096];
    for (int i = 0; i < 1000000; i++) { getcwd(directory, sizeof directory); work(); }
    double both = cpu();
    for (int i = 0; i < 1000000; i++) work();
    printf("%.3f\n", (2 * both - cpu()) / cpu());
    return 0;
}
"#;

#[test]
fn where_perf_is_refused_what_a_program_does_between_its_calls_is_seen() {
    let _one = one_at_a_time();
    let dir = tempfile::tempdir().unwrap();
    let bare = Command::new(built(dir.path(), "program", CALLS)).output().unwrap();
    let truly: f64 = String::from_utf8_lossy(&bare.stdout).trim().parse().unwrap();
    assert!((0.1..0.8).contains(&truly), "{truly}");
    // On a busy machine a thread runs on for longer when it is asked to stop, and is met in its next call.
    let shares: Vec<f64> = (0..ATTEMPTS).map(|_| share_of_calls(dir.path())).collect();
    let nearest = shares.iter().map(|share| (share - truly).abs()).fold(1.0, f64::min);
    // If each stop counted where it is it would be 0.6 of 0.3.
    assert!(nearest < 0.15, "{shares:?} {truly}");
}

fn share_of_calls(dir: &Path) -> f64 {
    let (report, _) = reported(dir, None, CALLS);
    let hot = report["hot"].as_array().unwrap();
    let own = |row: &serde_json::Value| row["self_ns"].as_f64().unwrap();
    let calls: f64 = hot.iter().filter(|row| row["function"] == "getcwd").map(own).sum();
    calls / hot.iter().map(own).sum::<f64>()
}

#[test]
fn an_ordinary_user_has_them_too() {
    let _one = one_at_a_time();
    // SAFETY: geteuid has no preconditions.
    if unsafe { libc::geteuid() } != 0 {
        return; // then the other test is this one
    }
    let dir = tempfile::tempdir().unwrap();
    std::fs::set_permissions(dir.path(), std::fs::Permissions::from_mode(0o777)).unwrap();
    if let Some((causes, report, exit)) = found_at_last(dir.path(), Some("65534"), SAME) {
        assert_eq!((causes, exit), (vec!["redundant-file-access".to_owned()], Some(0)), "{report:#}");
    }
}

#[test]
fn beside_samples_of_user_code_ptrace_tells_of_calls_and_its_stops_are_in_no_figure() {
    let _one = one_at_a_time();
    // SAFETY: geteuid has no preconditions.
    let root = unsafe { libc::geteuid() } == 0;
    let paranoid = std::fs::read_to_string("/proc/sys/kernel/perf_event_paranoid").unwrap();
    if !root || !(1..=2).contains(&paranoid.trim().parse::<i32>().unwrap()) {
        return; // an ordinary user may sample nothing here, or everything
    }
    let dir = tempfile::tempdir().unwrap();
    std::fs::set_permissions(dir.path(), std::fs::Permissions::from_mode(0o777)).unwrap();
    let recorded = |name: &str, source: &str| -> serde_json::Value {
        let program = built(dir.path(), name, source);
        let mut run = Command::new("setpriv");
        run.args(["--reuid", "65534", "--regid", "65534", "--clear-groups"])
            .args([SLOWPATH, "record", "--json"]);
        run.arg("--dir").arg(dir.path().join("recordings")).env_remove("LD_LIBRARY_PATH");
        let output = run.arg("--").arg(&program).stdin(Stdio::null()).output().unwrap();
        assert!(output.status.success(), "{}", said(&output));
        serde_json::from_slice(&output.stdout).unwrap()
    };
    let report = recorded("same", SAME);
    assert_eq!(report["findings"][0]["cause"], "redundant-file-access", "{report:#}");
    assert_eq!(report["findings"][0]["function"], "look_up");
    let recording = &report["recording"];
    assert!(recording["samples"].as_u64().unwrap() > 0, "{recording:#}");
    let ns = |field: &str| recording[field].as_u64().unwrap();
    // None of what stops take is where "the CPU time goes".
    // It is some µs for each of thousands of stops: the allowance at the beginning is used up.
    assert!(ns("tracing_ns") > 1_000_000, "{recording:#}");
    let hot = report["hot"].as_array().unwrap().iter();
    let told: u64 = hot.map(|row| row["self_ns"].as_u64().unwrap()).sum();
    assert!(told <= (ns("user_ns") + ns("sys_ns") - ns("tracing_ns")) * 11 / 10, "{report:#}");
    let report = recorded("clean", CLEAN);
    assert!(report["findings"].as_array().unwrap().is_empty(), "{report:#}");
    let share = report["recording"]["sampled_share"].as_f64().unwrap();
    assert!(share > 0.8, "{report:#}");
}

#[test]
fn where_nothing_may_be_sampled_or_traced_slowpath_says_what_would_allow_it_and_runs_nothing() {
    let _one = one_at_a_time();
    let dir = tempfile::tempdir().unwrap();
    let mark = dir.path().join("it-ran");
    let output = refused(dir.path(), None, &["--no-trace"], &["touch", mark.to_str().unwrap()]);
    assert_eq!(output.status.code(), Some(125), "{}", said(&output));
    let said = said(&output);
    assert!(said.starts_with("slowpath: this machine does not allow sampling: perf_event_open: "), "{said}");
    for way_out in ["sudo", "perf_event_paranoid", "container", "slowpath doctor"] {
        assert!(said.contains(way_out), "{said}");
    }
    assert!(!mark.exists());
}

#[test]
fn a_program_traced_by_ptrace_is_as_without_us() {
    let _one = one_at_a_time();
    let dir = tempfile::tempdir().unwrap();
    // A debugger cannot trace what is traced: that one mode of `strange` is mentioned in the report.
    let strange = ["paths", "many-files", "thread-exec", "filtered", "vforked", "daemonized"];
    let mut commands: Vec<[&str; 2]> = strange.iter().map(|mode| ["strange", mode]).collect();
    commands.extend([["fork_many", "3000"], ["threads_many", "500"], ["exit_code", "42"]]);
    commands.extend([["crash", ""], ["dies_at_once", ""]]);
    for [name, argument] in commands {
        let path = program(name);
        let bare = Command::new(&path).arg(argument).output().unwrap();
        let traced = refused(dir.path(), None, &[], &[path.to_str().unwrap(), argument]);
        let exit = bare.status.code().or(bare.status.signal().map(|signal| 128 + signal));
        assert_eq!((traced.status.code(), &traced.stdout), (exit, &bare.stdout), "{name}: {}", said(&traced));
    }
}

#[test]
fn runs_are_joined_and_a_stopped_program_goes_on_under_ptrace() {
    let _one = one_at_a_time();
    let dir = tempfile::tempdir().unwrap();
    let traced = refused(dir.path(), None, &["--repeat", "3"], &["sh", "-c", "echo run; exit 4"]);
    assert_eq!((traced.status.code(), traced.stdout.as_slice()), (Some(4), &b"run\nrun\nrun\n"[..]));
    // The shell stops itself; whom it started before continues it.
    let script = "(sleep 0.3; kill -CONT $$) & kill -STOP $$; wait; echo went on";
    let traced = refused(dir.path(), None, &[], &["sh", "-c", script]);
    assert_eq!((traced.status.code(), traced.stdout.as_slice()), (Some(0), &b"went on\n"[..]));
    assert!(said(&traced).contains("debuggers do not work"), "{}", said(&traced));
}

/// Stops and continues a child as a shell does, and tells what it and everybody else can see of that.
const JOBS: &str = r#"
#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>
struct seen { char state; unsigned long ran; };
static struct seen look(pid_t pid) {
    char path[64];
    struct seen seen = {0};
    unsigned long user = 0, sys = 0;
    snprintf(path, sizeof path, "/proc/%d/stat", pid);
    FILE *stat = fopen(path, "r");
    fscanf(stat, "%*d (%*[^)]) %c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %lu %lu", &seen.state, &user, &sys);
    fclose(stat);
    seen.ran = user + sys;
    return seen;
}
int main(int argc, char **argv) {
    const int stops[] = { SIGSTOP, SIGTSTP, SIGTTIN, SIGTTOU };
    int status = 0, begun[2];
    char byte;
    (void) argc;
    pipe(begun);
    fcntl(begun[1], F_SETFD, FD_CLOEXEC);
    pid_t child = fork();
    if (child == 0) {
        setpgid(0, 0);
        execv(argv[1], argv + 1);
        _exit(9);
    }
    close(begun[1]);
    read(begun[0], &byte, 1);
    for (int i = 0; i < 4; i++) {
        kill(child, stops[i]);
        waitpid(child, &status, WUNTRACED);
        struct seen before = look(child);
        usleep(100000);
        struct seen after = look(child);
        int stays = (before.state == 'T' || before.state == 't') && after.state == before.state;
        printf("stopped by %d: %d, stays %d, ran %lu\n", stops[i], WIFSTOPPED(status) ? WSTOPSIG(status) : 0, stays,
            after.ran - before.ran);
        kill(child, SIGCONT);
        waitpid(child, &status, WCONTINUED);
        do after = look(child); while (after.state == 'T' || after.state == 't');
        printf("continued %d\n", WIFCONTINUED(status));
    }
    kill(child, SIGSTOP);
    waitpid(child, &status, WUNTRACED);
    kill(child, SIGKILL);
    waitpid(child, &status, 0);
    printf("killed by %d\n", WIFSIGNALED(status) ? WTERMSIG(status) : 0);
    return 0;
}
"#;

#[test]
fn job_control_works_under_ptrace_as_without() {
    let _one = one_at_a_time();
    let dir = tempfile::tempdir().unwrap();
    let jobs = built(dir.path(), "jobs", &format!("#define _GNU_SOURCE\n#include <fcntl.h>\n{JOBS}"));
    let pool = program("threads_pool");
    for stopped in [&["/bin/sleep", "1000"][..], &[pool.to_str().unwrap(), "1000"]] {
        let bare = Command::new(&jobs).args(stopped).stdin(Stdio::null()).output().unwrap();
        let command = [&[jobs.to_str().unwrap()], stopped].concat();
        let traced = refused(dir.path(), None, &[], &command);
        let told = |output: &Output| String::from_utf8_lossy(&output.stdout).into_owned();
        assert_eq!((traced.status.code(), told(&traced)), (Some(0), told(&bare)), "{}", said(&traced));
        assert_eq!(told(&bare).matches("stays 1, ran 0\ncontinued 1\n").count(), 4, "{}", told(&bare));
        assert!(told(&bare).ends_with("killed by 9\n"), "{}", told(&bare));
    }
}

#[test]
fn an_interrupt_reaches_a_program_traced_by_ptrace_and_it_decides() {
    let _one = one_at_a_time();
    let dir = tempfile::tempdir().unwrap();
    let mut run = Command::new(built(dir.path(), "refuser", REFUSER));
    run.arg(SLOWPATH).arg("--dir").arg(dir.path().join("recordings")).arg("--").arg(program("sigint"));
    assert_eq!(interrupted(run).code(), Some(7));
}

#[test]
fn slowpath_killed_while_it_counts_leaves_no_breakpoint_in_the_program() {
    let _one = one_at_a_time();
    if !may_count("leftovers") {
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    let target = program("rising");
    let mut run = Command::new(SLOWPATH);
    run.arg("--dir").arg(dir.path()).arg("--").arg(&target).arg(scaled(8.0, 2.0)); // killed below
    let mut slowpath = run.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let pid = loop {
        assert!(slowpath.try_wait().unwrap().is_none(), "the program is counted before it ends");
        match counted(slowpath.id()) {
            Some(pid) => break pid,
            None => std::thread::sleep(Duration::from_millis(5)),
        }
    };
    slowpath.kill().unwrap();
    slowpath.wait().unwrap();
    // The kernel closes what slowpath had open in its own time, some tenths of a second.
    let killed = std::time::Instant::now();
    let left = loop {
        let left = breakpoints(pid).expect("the program goes on");
        if left == 0 || killed.elapsed() > Duration::from_secs(20) {
            break left;
        }
        std::thread::sleep(Duration::from_millis(50));
    };
    // SAFETY: a signal to the program of this test.
    unsafe { libc::kill(pid as i32, libc::SIGKILL) };
    assert_eq!(left, 0);
}

/// The child of `slowpath` that has a breakpoint of ours in its code.
fn counted(slowpath: u32) -> Option<u32> {
    let children = std::fs::read_to_string(format!("/proc/{slowpath}/task/{slowpath}/children")).ok()?;
    let mut children = children.split_whitespace().filter_map(|pid| pid.parse().ok());
    children.find(|pid| breakpoints(*pid).is_some_and(|found| found > 0))
}

/// Bytes of the program's code in memory that are a breakpoint where the file has none; `None` if it does not run.
fn breakpoints(pid: u32) -> Option<usize> {
    let memory = std::fs::File::open(format!("/proc/{pid}/mem")).ok()?;
    let maps = std::fs::read_to_string(format!("/proc/{pid}/maps")).ok()?;
    let mut found = 0;
    for line in maps.lines() {
        let fields: Vec<&str> = line.split_whitespace().collect();
        let [range, rights, offset, _, _, path] = fields[..] else { continue };
        if !rights.contains('x') || !path.starts_with('/') {
            continue;
        }
        let (start, end) = range.split_once('-').unwrap();
        let hex = |text| u64::from_str_radix(text, 16).unwrap();
        let (start, end, offset) = (hex(start), hex(end), hex(offset));
        let (mut now, mut file) = (vec![0; (end - start) as usize], vec![0; (end - start) as usize]);
        memory.read_exact_at(&mut now, start).ok()?;
        std::fs::File::open(path).unwrap().read_at(&mut file, offset).unwrap();
        found += now.iter().zip(&file).filter(|(now, file)| **now == 0xcc && **file != 0xcc).count();
    }
    Some(found)
}
