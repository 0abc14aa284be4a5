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
        let wanted = std::env::var("SLOWPATH_TEST_SPEED").ok().and_then(|text| text.parse::<f64>().ok());
        REFERENCE / best.max(1e-3) * wanted.unwrap_or(1.0)
    })
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
