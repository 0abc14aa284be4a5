//! What the end-to-end tests share: the programs of `tests/programs`, built once, and slowpath run on them.
//!
//! One recording at a time: two that run at once on few CPUs disturb each other.

#![allow(dead_code)] // each test file uses its part
#![allow(clippy::print_stderr)] // what was skipped is said

use serde_json::Value;
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Output, Stdio};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

pub const SLOWPATH: &str = env!("CARGO_BIN_EXE_slowpath");

static ONE: Mutex<()> = Mutex::new(());

pub fn one_at_a_time() -> MutexGuard<'static, ()> {
    ONE.lock().unwrap_or_else(PoisonError::into_inner)
}

pub fn is_root() -> bool {
    // SAFETY: takes nothing, always succeeds.
    unsafe { libc::geteuid() == 0 }
}

/// Whether this user may count calls here. Says SKIPPED where not.
pub fn may_count(test: &str) -> bool {
    static MAY: OnceLock<bool> = OnceLock::new();
    let may = *MAY.get_or_init(|| {
        let output = Command::new(SLOWPATH).arg("doctor").output().expect("doctor runs");
        String::from_utf8_lossy(&output.stdout).lines().any(|line| line.starts_with("  yes  BPF"))
    });
    if !may {
        eprintln!("SKIPPED {test}: counting calls needs root or CAP_BPF and CAP_PERFMON");
    }
    may
}

/// A built program of `tests/programs`.
pub fn program(name: &str) -> PathBuf {
    static BUILT: OnceLock<PathBuf> = OnceLock::new();
    let folder = BUILT.get_or_init(|| {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/programs");
        let made = Command::new("make").arg("-s").current_dir(&folder).status().expect("make runs");
        assert!(made.success(), "tests/programs builds");
        folder.join("build")
    });
    folder.join(name)
}

/// How quick this machine is beside the one on which the programs' times were taken (`tests/programs/README.md`), measured once.
/// `SLOWPATH_TEST_SPEED` multiplies it, to try the tests with smaller and larger inputs.
fn speed() -> f64 {
    /// CPU time of `matmul 0.2` there, s.
    const REFERENCE: f64 = 0.38;
    static SPEED: OnceLock<f64> = OnceLock::new();
    *SPEED.get_or_init(|| {
        let cpu = || {
            let children = || {
                // SAFETY: rusage is plain numbers that getrusage fills.
                let mut usage: libc::rusage = unsafe { std::mem::zeroed() };
                // SAFETY: a valid pointer.
                unsafe { libc::getrusage(libc::RUSAGE_CHILDREN, &mut usage) };
                usage.ru_utime.tv_sec as f64 + usage.ru_utime.tv_usec as f64 / 1e6
            };
            let before = children();
            let ended = Command::new(program("matmul")).arg("0.2").stdout(Stdio::null()).status();
            assert!(ended.expect("it runs").success(), "matmul runs to its end");
            children() - before
        };
        let best = (0..3).map(|_| cpu()).fold(f64::MAX, f64::min);
        REFERENCE / best.max(1e-3) * wanted_speed()
    })
}

fn wanted_speed() -> f64 {
    let wanted = std::env::var("SLOWPATH_TEST_SPEED").ok();
    wanted.and_then(|text| text.parse().ok()).unwrap_or(1.0)
}

/// Inputs are made smaller than this machine calls for.
#[allow(dead_code)] // each test file uses its part
pub fn is_made_smaller() -> bool {
    wanted_speed() < 1.0
}

/// The share of the CPUs that a test gets below which others use them as well: all but a quarter is more than other tests leave running.
#[allow(dead_code)] // each test file uses its part
pub const BUSY: f64 = 0.75;

/// The share of the CPUs that threads of ours get which want all of them, now: 1 on a machine that does nothing else, about a half where
/// each CPU has another thread to run.
#[allow(dead_code)] // each test file uses its part
pub fn share_of_cpus() -> f64 {
    const SPIN: std::time::Duration = std::time::Duration::from_millis(300);
    let cpus = std::thread::available_parallelism().map_or(1, |cpus| cpus.get());
    let spin = || {
        let began = std::time::Instant::now();
        while began.elapsed() < SPIN {}
        let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
        // SAFETY: a valid pointer. The thread's own clock began with it.
        unsafe { libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, &mut time) };
        (time.tv_sec as f64 + time.tv_nsec as f64 / 1e9) / began.elapsed().as_secs_f64()
    };
    let thread = |_| std::thread::Builder::new().spawn(spin).expect("a thread can be made");
    let threads: Vec<_> = (0..cpus).map(thread).collect();
    threads.into_iter().map(|thread| thread.join().expect("it only counts")).sum::<f64>() / cpus as f64
}

/// The scale at which a program takes as long here as it took there at `scale`. `exponent`: of its time in its scale.
pub fn scaled(scale: f64, exponent: f64) -> String {
    format!("{:.4}", scale * speed().powf(1.0 / exponent))
}

/// Runs slowpath on `sigint` and interrupts it when that program says that it is ready.
pub fn interrupted(mut run: Command) -> ExitStatus {
    let mut child = run.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().expect("slowpath runs");
    let mut said = String::new();
    let mut output = BufReader::new(child.stdout.take().expect("a pipe"));
    output.read_line(&mut said).expect("the program speaks");
    assert_eq!(said, "ready\n");
    // SAFETY: a signal to a child that was not waited for.
    unsafe { libc::kill(child.id() as i32, libc::SIGINT) };
    output.read_to_string(&mut said).expect("the program speaks");
    child.wait().expect("it ends")
}

/// Runs slowpath with these options on a command, its recordings in `dir`.
pub fn slowpath(dir: &Path, options: &[&str], command: &[&str]) -> Output {
    let mut run = Command::new(SLOWPATH);
    run.arg("record").arg("--dir").arg(dir.join("recordings")).args(options).arg("--").args(command);
    run.stdin(Stdio::null()).output().expect("slowpath runs")
}

/// Runs slowpath and returns its JSON.
pub fn json(dir: &Path, options: &[&str], command: &[&str]) -> Value {
    let file = dir.join("findings.json");
    let mut all = vec!["--json", "--output", file.to_str().expect("a path in UTF-8")];
    all.extend(options);
    let output = slowpath(dir, &all, command);
    let text = std::fs::read(&file).unwrap_or_else(|error| panic!("{error}: {}", said(&output)));
    serde_json::from_slice(&text).expect("the report is JSON")
}

/// What slowpath wrote to stderr.
pub fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// Runs its arguments with `perf_event_open` and `bpf` refused, as a container's seccomp profile does.
pub const REFUSER: &str = r#"
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>
int main(int argc, char **argv) {
    struct sock_filter filter[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_perf_event_open, 1, 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_bpf, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog program = { sizeof filter / sizeof *filter, filter };
    if (argc < 2 || prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program))
        return 99;
    execv(argv[1], argv + 1);
    return 98;
}
"#;

/// A C program, built.
pub fn built(dir: &Path, name: &str, source: &str) -> PathBuf {
    let (file, program) = (dir.join(format!("{name}.c")), dir.join(name));
    std::fs::write(&file, source).expect("the source is written");
    let made =
        Command::new("gcc").args(["-g", "-O1", "-o"]).args([&program, &file]).status().expect("gcc runs");
    assert!(made.success());
    program
}

/// Runs slowpath under `REFUSER`, as `user` if there is one.
pub fn refused(dir: &Path, user: Option<&str>, options: &[&str], command: &[&str]) -> Output {
    let refuser = built(dir, "refuser", REFUSER);
    let mut run = match user {
        Some(user) => {
            let mut run = Command::new("setpriv");
            run.args(["--reuid", user, "--regid", user, "--clear-groups"]).arg(&refuser);
            run
        }
        None => Command::new(&refuser),
    };
    run.arg(SLOWPATH).arg("record").arg("--dir").arg(dir.join("recordings")).args(options);
    // What cargo sets there makes every program look for its libraries in vain.
    run.env_remove("LD_LIBRARY_PATH");
    run.arg("--").args(command).stdin(Stdio::null()).output().expect("slowpath runs")
}
