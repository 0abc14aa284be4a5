//! What the figures of a recording come to: CPU time is that of every process as long as it was recorded, and shares are shares.

#![allow(clippy::unwrap_used)] // a test that cannot go on says so by panicking

mod support;

use slowpath_recording::{Recording, folder};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};
use support::{SLOWPATH, may_count, one_at_a_time, program, said, slowpath};

fn recording(dir: &Path) -> Recording {
    Recording::open(&folder::find(&dir.join("recordings"), None, None).unwrap()).unwrap()
}

/// Attaches for so long; the recording, and what it took in all.
fn attached(dir: &Path, target: &Child, seconds: &str) -> (Recording, Duration) {
    let begun = Instant::now();
    let mut attach = Command::new(SLOWPATH);
    attach.args(["attach", "--pid", &target.id().to_string(), "--duration", seconds, "--dir"]);
    let output = attach.arg(dir.join("recordings")).output().unwrap();
    assert!(output.status.success(), "{}", said(&output));
    (recording(dir), begun.elapsed())
}

/// CPU time of all processes, each of which must be known, ns.
fn of_processes(recording: &Recording) -> u64 {
    recording.tables.processes.iter().map(|process| process.cpu_ns.expect("it is known")).sum()
}

/// What must hold for every recording.
fn check(recording: &Recording) {
    let about = &recording.about;
    assert!((0.0..=1.0).contains(&about.sampled_share), "{about:#?}");
    assert!(about.tracing_ns <= about.user_ns + about.sys_ns, "{about:#?}");
    // Samples are weighed so that they add up to the CPU time, without what recording took.
    let weighed: f64 = recording.tables.samples.iter().map(|sample| recording.weight_ns(sample)).sum();
    assert!(weighed <= 1.01 * (about.user_ns + about.sys_ns) as f64, "{weighed}: {about:#?}");
}

/// CPU time of a process so far, in clock ticks, of 10 ms everywhere.
fn ticks(pid: u32) -> u64 {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap();
    let fields = stat.rsplit_once(") ").unwrap().1.split(' ').skip(11).take(2);
    fields.map(|field| field.parse::<u64>().unwrap()).sum()
}

#[test]
fn what_the_command_did_not_wait_for_counts_too() {
    let _one = one_at_a_time();
    if !may_count("background") {
        return;
    }
    let matmul = program("matmul");
    let matmul = matmul.to_str().unwrap();
    // One has ended by itself and was waited for by nobody, one still runs when the command ends, one is a daemon.
    let scripts = [
        format!(
            "trap '' CHLD; {matmul} 0.1 >/dev/null 2>&1 & while kill -0 $! 2>/dev/null; do sleep 0.1; done"
        ),
        format!("{matmul} 20 >/dev/null 2>&1 & sleep 1"),
        format!("(setsid {matmul} 20 >/dev/null 2>&1 &); sleep 1"),
    ];
    for script in scripts {
        let dir = tempfile::tempdir().unwrap();
        let output = slowpath(dir.path(), &["--repeat", "2"], &["sh", "-c", &script]);
        for process in recording(dir.path()).tables.processes.iter().filter(|p| p.end_ns.is_none()) {
            // SAFETY: a signal to what this test has left behind.
            unsafe { libc::kill(process.pid as i32, libc::SIGKILL) };
        }
        assert!(output.status.code().is_some(), "{}", said(&output));
        let recording = recording(dir.path());
        check(&recording);
        let about = &recording.about;
        let all = of_processes(&recording);
        assert!(all > 20_000_000, "{script}: {:#?}", recording.tables.processes);
        // All but what slowpath's child did before its exec.
        let told = about.user_ns + about.sys_ns;
        assert!(told.abs_diff(all) < all / 10, "{script}: {all}, {about:#?}");
        assert!(about.sampled_share > 0.3, "{script}: {about:#?}");
    }
}

/// Waits for a child: what it has used in all, ns.
fn used(mut target: Child) -> u64 {
    let waited_for = || {
        // SAFETY: rusage is plain numbers that getrusage fills.
        let usage = unsafe {
            let mut usage: libc::rusage = std::mem::zeroed();
            libc::getrusage(libc::RUSAGE_CHILDREN, &mut usage);
            usage
        };
        let ns = |time: libc::timeval| time.tv_sec as u64 * 1_000_000_000 + time.tv_usec as u64 * 1000;
        ns(usage.ru_utime) + ns(usage.ru_stime)
    };
    let before = waited_for();
    target.wait().unwrap();
    waited_for() - before
}

#[test]
fn of_a_program_that_ran_before_only_what_was_recorded_counts() {
    let _one = one_at_a_time();
    for ends in [false, true] {
        let dir = tempfile::tempdir().unwrap();
        let mut target =
            Command::new(program("matmul")).arg("1").stdout(Stdio::null()).spawn().expect("it runs");
        let before = loop {
            match ticks(target.id()) {
                ticks if ticks >= 80 => break ticks * 10_000_000,
                _ => std::thread::sleep(Duration::from_millis(20)),
            }
        };
        let (recording, took) = attached(dir.path(), &target, if ends { "600" } else { "0.3" });
        if !ends {
            target.kill().unwrap();
        }
        let used = used(target);
        check(&recording);
        let all = of_processes(&recording);
        assert_eq!(recording.about.user_ns + recording.about.sys_ns, all);
        // A program of one thread uses no more than there is, and clock ticks are coarse.
        assert!(all > 0 && u128::from(all) <= took.as_nanos(), "{all} ns in {took:?}");
        assert!(all <= used - before + 20_000_000, "{all} ns of {used} after {before}");
        assert!(recording.about.sampled_share > 0.5, "{:#?}", recording.about);
    }
}

#[test]
fn what_recording_took_of_a_program_that_sleeps_is_no_more_than_it_used() {
    let _one = one_at_a_time();
    let dir = tempfile::tempdir().unwrap();
    let mut target = Command::new("sh").args(["-c", "while :; do sleep 0.01; done"]).spawn().unwrap();
    for _ in 0..3 {
        let (recording, _) = attached(dir.path(), &target, "0.4");
        check(&recording);
        // Children that it started meanwhile are a part of it.
        assert!(recording.about.user_ns + recording.about.sys_ns > 0, "{:#?}", recording.about);
    }
    target.kill().unwrap();
    target.wait().unwrap();
}

/// The largest size is the program's own, not that of slowpath, which forked it.
#[test]
fn the_largest_size_is_that_of_the_program() {
    const MIB: u64 = 1 << 20;
    let _one = one_at_a_time();
    let name = "the_largest_size_is_that_of_the_program";
    if !may_count(name) {
        return;
    }
    let peak = |size: &str| {
        let dir = tempfile::tempdir().unwrap();
        let (size, count) = (format!("bs={size}"), "count=1");
        let output = slowpath(dir.path(), &[], &["dd", "if=/dev/zero", "of=/dev/null", &size, count]);
        assert!(output.status.success(), "{}", said(&output));
        recording(dir.path()).tables.processes[0].peak_memory_bytes.expect("it is known")
    };
    let (small, large) = (peak("1K"), peak("64M"));
    assert!((MIB / 2..8 * MIB).contains(&small), "{small}");
    assert!((64 * MIB..72 * MIB).contains(&large), "{large}");
}
