//! Recordings that were cut short, damaged, foreign, or made at the same moment; and what is no part of one.

#![allow(clippy::print_stderr)] // what was skipped is said
#![allow(clippy::unwrap_used)] // a test that cannot go on says so by panicking

mod support;

use serde_json::Value;
use slowpath_recording::Recording;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::time::Duration;
use support::{SLOWPATH, built, may_count, one_at_a_time, program, said, slowpath};

fn explain(dir: &Path, recording: Option<&Path>) -> Output {
    let mut run = Command::new(SLOWPATH);
    run.args(["explain", "--json", "--dir"]).arg(dir.join("recordings"));
    run.args(recording).output().unwrap()
}

fn newest(dir: &Path) -> std::path::PathBuf {
    slowpath_recording::folder::find(&dir.join("recordings"), None, None).unwrap()
}

/// Kills slowpath, or the program that it records, so many ms after the recording began; the report of what was recorded.
fn killed(after_ms: u64, the_target: bool) -> Value {
    let dir = tempfile::tempdir().unwrap();
    let program = program("matmul");
    let mut run = Command::new(SLOWPATH);
    run.arg("--dir").arg(dir.path().join("recordings")).arg("--").arg(&program).arg("2");
    let mut child = run.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    // From when there is a recording, which its about.json begins.
    let begun = || {
        let folders = dir.path().join("recordings").read_dir().into_iter().flatten().flatten();
        folders.into_iter().any(|folder| folder.path().join("about.json").exists())
    };
    while !begun() && child.try_wait().unwrap().is_none() {
        std::thread::sleep(Duration::from_millis(1));
    }
    std::thread::sleep(Duration::from_millis(after_ms));
    let children = std::fs::read_to_string(format!("/proc/{0}/task/{0}/children", child.id())).unwrap();
    if !the_target {
        child.kill().unwrap();
        child.wait().unwrap();
    }
    // Of a slowpath that was killed the program goes on: fifty of them would starve the tests that follow.
    for target in children.split_whitespace() {
        // SAFETY: a signal to a child that slowpath has not waited for: it was in its list, and slowpath was ended, or waits for
        // no other in these moments.
        unsafe { libc::kill(target.parse().unwrap(), libc::SIGKILL) };
    }
    child.wait().unwrap();
    let output = explain(dir.path(), None);
    assert!(output.status.success(), "{}", said(&output));
    serde_json::from_slice(&output.stdout).unwrap()
}

/// Several at once, each at a moment of its own in the first second.
fn killed_at_many_moments(the_target: bool) -> Vec<Value> {
    let moments: Vec<u64> = (0..50).map(|at| at * 19).collect();
    let of = |moments: &[u64]| -> Vec<Value> {
        std::thread::scope(|scope| {
            let runs: Vec<_> =
                moments.iter().map(|after| scope.spawn(move || killed(*after, the_target))).collect();
            runs.into_iter().map(|run| run.join().unwrap()).collect()
        })
    };
    moments.chunks(5).flat_map(of).collect()
}

#[test]
fn slowpath_killed_at_any_moment_leaves_a_recording_that_opens_and_says_so() {
    let _one = one_at_a_time();
    let reports = killed_at_many_moments(false);
    // The program takes longer than the latest moment: none had ended.
    assert!(reports.iter().all(|report| report["recording"]["cut_short"] == true));
}

#[test]
fn a_program_killed_at_any_moment_leaves_a_whole_recording() {
    let _one = one_at_a_time();
    let reports = killed_at_many_moments(true);
    assert!(reports.iter().all(|report| report["recording"]["cut_short"] == false));
    let ended = reports.iter().filter(|report| report["recording"]["exit"] == 128 + libc::SIGKILL).count();
    // At the earliest moments there may be no program yet.
    assert!(ended >= 40, "only {ended} programs were killed by it");
}

#[test]
fn a_killed_program_leaves_a_whole_recording() {
    let _one = one_at_a_time();
    let dir = tempfile::tempdir().unwrap();
    let output =
        slowpath(dir.path(), &[], &["timeout", "-s", "KILL", "0.4", program("matmul").to_str().unwrap()]);
    assert_eq!(output.status.code(), Some(128 + libc::SIGKILL));
    let report: Value = serde_json::from_slice(&explain(dir.path(), None).stdout).unwrap();
    assert_eq!(report["recording"]["cut_short"], false);
    assert!(report["recording"]["samples"].as_u64().unwrap() > 100);
}

#[test]
fn a_damaged_segment_is_said_and_the_rest_is_told() {
    let _one = one_at_a_time();
    let dir = tempfile::tempdir().unwrap();
    slowpath(dir.path(), &[], &[program("matmul").to_str().unwrap()]);
    let segment = newest(dir.path()).join("samples/000001.parquet");
    let mut bytes = std::fs::read(&segment).unwrap();
    let half = bytes.len() / 2;
    bytes.truncate(half);
    std::fs::write(&segment, bytes).unwrap();
    let report: Value = serde_json::from_slice(&explain(dir.path(), None).stdout).unwrap();
    assert_eq!(report["recording"]["cut_short"], true);
    assert!(
        report["notes"].to_string().contains("1 segments of the recording could not be read"),
        "{}",
        report["notes"]
    );
    assert!(report["recording"]["samples"].as_u64().unwrap() > 100);
}

#[test]
fn what_is_no_recording_and_one_of_a_later_format_are_refused() {
    let _one = one_at_a_time();
    let dir = tempfile::tempdir().unwrap();
    let output = explain(dir.path(), Some(dir.path()));
    assert_eq!(output.status.code(), Some(125));
    assert!(said(&output).contains("is not a recording: it has no about.json"), "{}", said(&output));
    slowpath(dir.path(), &[], &["true"]);
    let about = newest(dir.path()).join("about.json");
    let text = std::fs::read_to_string(&about).unwrap().replace("\"major\": 1", "\"major\": 9");
    std::fs::write(&about, text).unwrap();
    let output = explain(dir.path(), Some(&newest_folder(dir.path())));
    assert_eq!(output.status.code(), Some(125));
    assert!(said(&output).contains("has format 9, and this slowpath reads format 1"), "{}", said(&output));
}

fn newest_folder(dir: &Path) -> std::path::PathBuf {
    let entries = std::fs::read_dir(dir.join("recordings")).unwrap();
    entries.map(|entry| entry.unwrap().path()).find(|path| path.is_dir()).unwrap()
}

#[test]
fn two_recordings_at_the_same_moment_do_not_disturb_each_other() {
    let _one = one_at_a_time();
    let dir = tempfile::tempdir().unwrap();
    let start = || {
        let mut run = Command::new(SLOWPATH);
        run.arg("--dir").arg(dir.path().join("recordings")).arg("--").arg(program("matmul")).arg("0.3");
        run.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap()
    };
    let both = [start(), start()];
    for mut child in both {
        assert!(child.wait().unwrap().success());
    }
    let all = slowpath_recording::folder::list(&dir.path().join("recordings")).unwrap();
    assert_eq!(all.len(), 2);
    for one in all {
        let recording = slowpath_recording::Recording::open(&one.path).unwrap();
        assert!(!recording.cut_short());
        let roots = recording.tables.processes.iter().filter(|process| process.parent.is_none()).count();
        assert_eq!(roots, 1, "nothing of the other is in it");
    }
}

/// A bound that holds at any speed of the machine: each level of detail has 250,000 rows, and each halves the rate.
#[test]
fn a_program_that_asks_for_ever_new_files_leaves_few_rows_and_all_its_calls() {
    let _one = one_at_a_time();
    if !may_count("rows of ever new files") {
        return;
    }
    // As many as it can, of which some are put together under no name; and so many that each has a name and the table of them fills.
    for (rate, seconds, times) in [("1000000000", "6", "1"), ("30000", "3", "2")] {
        let dir = tempfile::tempdir().unwrap();
        let program = program("names_many").display().to_string();
        let output = slowpath(dir.path(), &["--no-count"], &[&program, rate, seconds, times]);
        assert!(output.status.success(), "{}", said(&output));
        let made: u64 = String::from_utf8_lossy(&output.stdout).trim().parse().unwrap();
        let recording = Recording::open(&newest(dir.path())).unwrap();
        let tables = &recording.tables;
        const NEWFSTATAT: u32 = 262;
        let counted: u64 =
            tables.syscalls.iter().filter(|row| row.number == NEWFSTATAT).map(|row| row.count).sum();
        let lost: u64 = recording.about.lost.values().sum();
        // The dynamic linker asks for files too, in each folder of LD_LIBRARY_PATH.
        assert!(counted + lost >= made && counted <= made + 500, "{counted} of {made}, {lost} lost");
        let (rows, levels) =
            (tables.syscalls.len() + tables.files.len(), (made as f64 / 250_000.0).log2().max(0.0) + 2.0);
        assert!((rows as f64) < levels * 250_000.0, "{rows} rows of {made} calls");
        assert!(
            tables.samples.iter().all(|sample| sample.weight_ns < 10_000_000),
            "samples are as fine as ever"
        );
    }
}

/// A crash of the machine leaves no file under its final name without what it promises.
#[test]
fn what_is_written_is_on_the_disk_before_it_gets_its_name() {
    let _one = one_at_a_time();
    let here = Command::new("strace").arg("-V").stdout(Stdio::null()).status().is_ok();
    if !here || !may_count("syncing before renaming") {
        eprintln!(
            "SKIPPED syncing before renaming: it needs strace, and BPF, since only one may trace a program"
        );
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    let trace = dir.path().join("trace");
    let mut run = Command::new("strace");
    run.args(["-f", "-y", "-e", "trace=fdatasync,fsync,rename,renameat,renameat2", "-o"]).arg(&trace);
    run.arg(SLOWPATH).arg("--dir").arg(dir.path().join("recordings")).args(["--", "sh", "-c", "true; true"]);
    let output = run.stdin(Stdio::null()).output().unwrap();
    assert!(output.status.success(), "{}", said(&output));
    let (mut synced, mut renamed) = (std::collections::HashSet::new(), Vec::new());
    for line in std::fs::read_to_string(&trace).unwrap().lines() {
        // Where two threads are at it a call is split into two lines; the second one says nothing more.
        if line.contains(" resumed>") {
            continue;
        }
        // fdatasync(46</folder/about.json.tmp>) = 0
        let path = line.split(['<', '>']).nth(1).unwrap_or_default();
        if line.contains("sync(") {
            synced.insert(path.to_owned());
        } else if line.contains("renameat(") || line.contains("renameat2(") {
            // renameat(47</folder>, "about.json.tmp", …
            let from = format!("{path}/{}", line.split('"').nth(1).unwrap_or_default());
            assert!(synced.contains(&from), "{from} is renamed before it is synced");
            renamed.push(from);
        }
    }
    let of = |part: &str| renamed.iter().filter(|from| from.contains(part)).count();
    assert!(of("about.json") > 0 && of("/processes/") > 0, "{renamed:?}");
}

#[test]
fn whoever_runs_when_a_timer_ends_a_wait_has_not_ended_it() {
    if !may_count("who ended a wait") {
        return;
    }
    let _one = one_at_a_time();
    let dir = tempfile::tempdir().unwrap();
    let mut run = Command::new(SLOWPATH);
    run.args(["--no-count", "--dir"]).arg(dir.path().join("recordings"));
    let output = run.arg("--").arg(program("wakers")).output().unwrap();
    assert!(output.status.success(), "{}", said(&output));
    let tables = Recording::open(&newest(dir.path())).unwrap().tables;
    // Waits, and those of them with a waker.
    let of = |numbers: &[u32]| {
        let waits = tables.waits.iter().filter(|wait| numbers.contains(&wait.number));
        (waits.clone().count(), waits.filter(|wait| wait.waker.is_some()).count())
    };
    let (sleeps, woken) = of(&[35, 230]);
    assert!(sleeps >= 60 && woken == 0, "{woken} of {sleeps} sleeps");
    let (polls, woken) = of(&[7, 271]);
    assert!(polls >= 40 && woken == 0, "{woken} of {polls} polls");
    // The last wait of the main thread is for the others to end, which they do.
    let (locks, woken) = of(&[202]);
    assert!(locks >= 40 && woken <= 2, "{woken} of {locks} locks");
    let (reads, woken) = of(&[0]);
    assert!(reads >= 40 && woken >= reads - 2, "{woken} of {reads} reads");
}

/// Its hot function begins with a nop of five bytes, from which newer kernels get to a probe by a system call.
const NOP: &str = r#"
#include <stdio.h>
__attribute__((naked, noinline)) static long sum_down(long from) {
    __asm__(".byte 0x0f,0x1f,0x44,0,0; xor %eax,%eax; 1: add %rdi,%rax; dec %rdi; jnz 1b; ret");
}
int main(void) {
    long sum = 0;
    for (long i = 0; i < 20000; i++) sum += sum_down(100000);
    printf("%ld\n", sum);
    return 0;
}
"#;

#[test]
fn how_a_program_gets_to_probes_is_none_of_its_system_calls() {
    if !may_count("system calls of probes") {
        return;
    }
    let _one = one_at_a_time();
    let dir = tempfile::tempdir().unwrap();
    let nop = built(dir.path(), "nop", NOP);
    slowpath(dir.path(), &[], &[nop.to_str().unwrap()]);
    let tables = Recording::open(&newest(dir.path())).unwrap().tables;
    assert!(
        tables.windows.iter().any(|window| window.hits > 100),
        "its calls were counted: {:#?}",
        tables.windows
    );
    let of = |numbers: &[u32]| tables.syscalls.iter().filter(|one| numbers.contains(&one.number)).count();
    assert!(of(&[1]) == 1 && of(&[12]) > 0, "its own are there");
    assert_eq!(of(&[335, 336]), 0);
    let kernel = std::fs::read_to_string("/proc/sys/kernel/osrelease").unwrap();
    let mut numbers = kernel.split('.').map(|part| part.parse::<u32>().unwrap_or(0));
    if (numbers.next(), numbers.next()) < (Some(6), Some(18)) {
        eprintln!("SKIPPED calls of probes: Linux {} makes none", kernel.trim());
    }
}

/// Reads a file into a large buffer of its own, called by a function that then writes over all that was left of it on the stack. For half a second: that a part of
/// the stack is missing is seen, and asked for, some ms after the first calls, of which the caller is not known.
const LARGE_FRAME: &str = r#"
#include <fcntl.h>
#include <string.h>
#include <unistd.h>
__attribute__((noinline)) static long contents(const char *path) {
    char buffer[65536];
    int file = open(path, O_RDONLY);
    long bytes = read(file, buffer, sizeof buffer);
    close(file);
    return bytes + buffer[0];
}
__attribute__((noinline)) static long forget(int with) {
    char over[150000];
    memset(over, with, sizeof over);
    __asm__ volatile("" : : "r"(over) : "memory");
    return over[with];
}
__attribute__((noinline)) static long of_item(const char *path, int item) {
    long sum = contents(path);
    return sum + forget(item & 63);
}
int main(int count, char **arguments) {
    long sum = 0;
    for (int item = 0; item < 40000; item++) sum += of_item(arguments[0], item);
    return sum == count;
}
"#;

#[test]
fn who_calls_a_function_with_a_large_buffer_on_its_stack_is_known() {
    let _one = one_at_a_time();
    let dir = tempfile::tempdir().unwrap();
    let large = built(dir.path(), "large_frame", LARGE_FRAME);
    slowpath(dir.path(), &["--no-count"], &[large.to_str().unwrap()]);
    let tables = Recording::open(&newest(dir.path())).unwrap().tables;
    let named = |location: u32, name: &str| {
        let mut frames = tables.frames.iter().filter(|frame| frame.location == location);
        frames.any(|frame| tables.functions[frame.function as usize].name == name)
    };
    let is_under = |stack: u32, name: &str| {
        let outward = |stack: &u32| tables.stacks[*stack as usize].parent;
        std::iter::successors(Some(stack), outward)
            .any(|stack| named(tables.stacks[stack as usize].location, name))
    };
    let of = |name: &str| -> u64 {
        let opens = tables.syscalls.iter().filter(|row| row.number == 257);
        opens.filter(|row| row.stack.is_some_and(|stack| is_under(stack, name))).map(|row| row.count).sum()
    };
    let (inner, outer) = (of("contents"), of("of_item"));
    assert!(inner >= 100, "{inner} were seen");
    assert!(outer as f64 >= 0.9 * inner as f64, "{outer} of {inner}");
}

#[test]
fn recordings_are_listed_and_removed() {
    let _one = one_at_a_time();
    let dir = tempfile::tempdir().unwrap();
    slowpath(dir.path(), &[], &["true"]);
    let run = |arguments: &[&str]| {
        Command::new(SLOWPATH)
            .args(arguments)
            .arg("--dir")
            .arg(dir.path().join("recordings"))
            .output()
            .unwrap()
    };
    let listed = String::from_utf8(run(&["list"]).stdout).unwrap();
    assert_eq!(listed.lines().count(), 1);
    let id = listed.split_whitespace().next().unwrap();
    assert!(run(&["rm", id]).status.success());
    assert!(run(&["list"]).stdout.is_empty());
    let nothing = run(&["explain"]);
    assert_eq!(nothing.status.code(), Some(125));
    assert!(said(&nothing).contains("make one with `slowpath -- COMMAND`"), "{}", said(&nothing));
}
