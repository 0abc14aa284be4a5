//! What an ordinary user, who may sample own programs but not use BPF, finds in small programs: calls are counted by hardware
//! breakpoints.

#![allow(clippy::unwrap_used)] // a test that cannot go on says so by panicking
#![allow(clippy::print_stderr)] // what was missed is said

mod support;

use serde_json::Value;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use support::{
    BUSY, SLOWPATH, built, is_made_smaller, is_root, one_at_a_time, program, said, scaled, share_of_cpus,
};

/// So often a program with a cause is recorded before it counts as missed. A clean one has to be silent at once.
const ATTEMPTS: u32 = 4;

/// slowpath as an ordinary user: as nobody if we are root.
fn as_user() -> Command {
    if !is_root() {
        return Command::new(SLOWPATH);
    }
    let mut run = Command::new("setpriv");
    run.args(["--reuid", "65534", "--regid", "65534", "--clear-groups"]).arg(SLOWPATH);
    // What cargo sets there makes every program look for its libraries in vain.
    run.env_remove("LD_LIBRARY_PATH");
    run
}

/// Whether an ordinary user may use breakpoints here, and not BPF. Says SKIPPED where not.
fn may_break(test: &str) -> bool {
    let output = as_user().arg("doctor").stdin(Stdio::null()).output().unwrap();
    let told = String::from_utf8_lossy(&output.stdout).into_owned();
    let has = |name: &str| told.lines().any(|line| line.starts_with(&format!("  yes  {name}")));
    let may = has("hardware breakpoints") && !has("BPF");
    if !may {
        eprintln!("SKIPPED {test}: needs hardware breakpoints for an ordinary user: {told}");
    }
    may
}

/// The report on a program of tests/programs; its time is `exponent` in its scale.
fn report(dir: &Path, name: &str, scale: f64, exponent: f64) -> Value {
    recorded(dir, name, &scaled(scale, exponent)).1
}

/// What it printed, and the report.
fn recorded(dir: &Path, name: &str, scale: &str) -> (Output, Value) {
    recorded_of(dir, &program(name), scale)
}

/// The same of a program that is made anywhere.
fn recorded_of(dir: &Path, program: &Path, scale: &str) -> (Output, Value) {
    std::fs::set_permissions(dir, std::fs::Permissions::from_mode(0o777)).unwrap();
    // The folder that it was built in may not be open to others.
    let copy = dir.join("program");
    std::fs::copy(program, &copy).unwrap();
    let file = dir.join("findings.json");
    let mut run = as_user();
    run.args(["record", "--json", "--output"]).arg(&file).arg("--dir").arg(dir.join("recordings"));
    run.arg("--").arg(&copy).arg(scale);
    let output = run.stdin(Stdio::null()).output().unwrap();
    let text = std::fs::read(&file).unwrap_or_else(|error| panic!("{error}: {}", said(&output)));
    let report = serde_json::from_slice(&text).unwrap();
    (output, report)
}

/// Asks for the working directory, with some reckoning in between, for 400 ms of the kernel's time.
const ASKS: &str = r#"
#include <stddef.h>
#include <sys/resource.h>
#include <unistd.h>
static long sys_ms(void) {
    struct rusage used;
    getrusage(RUSAGE_SELF, &used);
    return used.ru_stime.tv_sec * 1000 + used.ru_stime.tv_usec / 1000;
}
int main(void) {
    char path[4096];
    volatile double x = 1;
    while (sys_ms() < 400) {
        for (int i = 0; i < 1000; i++) {
            if (getcwd(path, sizeof path) == NULL) return 1;
            for (int j = 0; j < 100; j++) x *= 1.0000001;
        }
    }
    return 0;
}
"#;

#[test]
fn time_in_the_kernel_that_no_sample_shows_is_charged_to_who_calls() {
    let _one = one_at_a_time();
    if !may_break("time_in_the_kernel_that_no_sample_shows_is_charged_to_who_calls") {
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    let (_, report) = recorded_of(dir.path(), &built(dir.path(), "asks", ASKS), "1");
    let hot = report["hot"].as_array().unwrap();
    let shown = hot.iter().filter(|hot| hot["function"].as_str().unwrap().contains("getcwd"));
    let shown_ns: f64 = shown.map(|hot| hot["self_ns"].as_f64().unwrap()).sum();
    // In windows alone it is a tenth of that. What stops take is part of the 400 ms.
    assert!((150e6..600e6).contains(&shown_ns), "of 400 ms: {hot:#?}");
}

/// `exponent`: the program's time in its scale. `also`: a cause that is true as well, and is what windows show that see too little: of an input
/// made smaller on purpose, or where others use the CPUs.
fn finds(name: &str, cause: &str, also: Option<&str>, guilty: &str, exponent: f64) {
    let _one = one_at_a_time();
    if !may_break(name) {
        return;
    }
    let mut findings = Vec::new();
    for attempt in 1..=ATTEMPTS {
        let dir = tempfile::tempdir().unwrap();
        let report = report(dir.path(), name, 1.3, exponent);
        let degraded = report["recording"]["degraded"].as_array().unwrap();
        let counted = degraded
            .iter()
            .any(|said| said.as_str().unwrap().contains("counted with four hardware breakpoints"));
        assert!(counted, "{degraded:#?}");
        let found = report["findings"].as_array().unwrap().clone();
        if !found.is_empty() {
            findings = found;
            if findings[0]["cause"] == cause {
                break;
            }
        }
        eprintln!("MISSED {name} in attempt {attempt}");
    }
    assert_eq!(findings.len(), 1, "{name}: {findings:#?}");
    if findings[0]["cause"] != cause {
        assert!(also.is_some_and(|also| findings[0]["cause"] == also), "{findings:#?}");
        let share = share_of_cpus();
        assert!(
            is_made_smaller() || share < BUSY,
            "{findings:#?}\n{ATTEMPTS} times, where a test gets {share:.2} of the CPUs"
        );
        eprintln!("SKIPPED {name}: a test gets {share:.2} of the CPUs");
    }
    assert_ne!(findings[0]["confidence"], "certain", "{findings:#?}");
    assert!(findings[0]["function"].as_str().unwrap().contains(guilty), "{findings:#?}");
}

fn silent(name: &str) {
    let _one = one_at_a_time();
    if !may_break(name) {
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    let report = report(dir.path(), name, 1.0, 1.0);
    assert!(report["findings"].as_array().unwrap().is_empty(), "{name}: {report:#}");
}

macro_rules! tests {
    ($($test:ident: $check:ident($($argument:expr),*);)*) => { $(#[test] fn $test() { $check($($argument),*); })* };
}

/// A program that has growing work. It goes through the same items each time.
fn grows(name: &str, guilty: &str) {
    finds(name, "superlinear-work", Some("repeated-scan"), guilty, 2.0);
}

/// A breakpoint's signal is no signal of the program's.
#[test]
fn a_program_hears_its_own_signals_and_no_others_while_entries_are_noted() {
    let _one = one_at_a_time();
    if !may_break("resized") {
        return;
    }
    let scale = scaled(1.3, 1.0);
    let bare = Command::new(program("resized")).arg(&scale).output().unwrap();
    let noted = (0..ATTEMPTS).any(|_| {
        let dir = tempfile::tempdir().unwrap();
        let (output, report) = recorded(dir.path(), "resized", &scale);
        assert_eq!((output.status.code(), &output.stdout), (Some(0), &bare.stdout), "{}", said(&output));
        !report["findings"].as_array().unwrap().is_empty()
    });
    assert!(noted, "without what was noted there is no finding");
}

tests! {
    a_rising_cost_is_found_without_bpf: grows("rising", "name_list_insert");
    a_falling_cost_is_found_without_bpf: grows("falling", "queue_take");
    growth_in_a_forked_child_is_found_without_bpf: grows("in_child", "name_list_insert");
    growth_in_one_of_several_threads_is_found_without_bpf: grows("in_thread", "name_list_insert");
    growth_that_was_inlined_into_main_is_found_without_bpf: grows("inlined", "is_known");
    a_list_that_is_searched_for_each_item_is_found_without_bpf: finds("resized", "repeated-scan", None, "find_price", 1.0);

    a_buffer_that_is_filled_anew_for_each_search_is_clean_without_bpf: silent("refilled");
    a_doubling_hash_table_is_clean_without_bpf: silent("hash_doubling");
    a_matrix_product_is_clean_without_bpf: silent("matmul");
    compressing_is_clean_without_bpf: silent("compress");
    a_pool_of_threads_is_clean_without_bpf: silent("threads_pool");
    items_of_random_size_are_clean_without_bpf: silent("random_sizes");
    a_tree_that_outgrows_the_caches_is_clean_without_bpf: silent("cache_growth");
}
