//! Without rights slowpath says so and runs nothing half-way; and when it is killed it leaves no probe behind.

#![allow(clippy::unwrap_used)] // a test that cannot go on says so by panicking

mod support;

use std::os::unix::fs::FileExt;
use std::process::{Command, Stdio};
use std::time::Duration;
use support::{SLOWPATH, may_count, one_at_a_time, program, said};

/// Runs its arguments with `perf_event_open` and `bpf` refused, as a container's seccomp profile does.
const REFUSER: &str = r#"
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

#[test]
fn where_sampling_is_refused_slowpath_says_what_would_allow_it_and_runs_nothing() {
    let _one = one_at_a_time();
    let dir = tempfile::tempdir().unwrap();
    let (source, refuser, mark) =
        (dir.path().join("r.c"), dir.path().join("refuser"), dir.path().join("it-ran"));
    std::fs::write(&source, REFUSER).unwrap();
    assert!(Command::new("gcc").arg("-o").args([&refuser, &source]).status().unwrap().success());
    let mut run = Command::new(&refuser);
    run.arg(SLOWPATH).arg("--dir").arg(dir.path().join("recordings")).args(["--", "touch"]).arg(&mark);
    let output = run.output().unwrap();
    assert_eq!(output.status.code(), Some(125), "{}", said(&output));
    let said = said(&output);
    assert!(said.starts_with("slowpath: this machine does not let us sample: perf_event_open: "), "{said}");
    for way_out in ["sudo", "perf_event_paranoid", "container", "slowpath doctor"] {
        assert!(said.contains(way_out), "{said}");
    }
    assert!(!mark.exists());
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
    run.arg("--dir").arg(dir.path()).arg("--").arg(&target).arg("2");
    let mut slowpath = run.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    std::thread::sleep(Duration::from_millis(900));
    let children = std::fs::read_to_string(format!("/proc/{0}/task/{0}/children", slowpath.id())).unwrap();
    let pid: u32 = children.split_whitespace().next().expect("the program runs").parse().unwrap();
    assert!(breakpoints(pid) > 0, "it was being counted");
    slowpath.kill().unwrap();
    slowpath.wait().unwrap();
    // The kernel closes what slowpath had open; that takes some tenths of a second.
    std::thread::sleep(Duration::from_millis(1500));
    let left = breakpoints(pid);
    // SAFETY: a signal to the program of this test.
    unsafe { libc::kill(pid as i32, libc::SIGKILL) };
    assert_eq!(left, 0);
}

/// Bytes of the program's code in memory that are a breakpoint where the file has none.
fn breakpoints(pid: u32) -> usize {
    let memory = std::fs::File::open(format!("/proc/{pid}/mem")).unwrap();
    let maps = std::fs::read_to_string(format!("/proc/{pid}/maps")).unwrap();
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
        memory.read_exact_at(&mut now, start).unwrap();
        std::fs::File::open(path).unwrap().read_at(&mut file, offset).unwrap();
        found += now.iter().zip(&file).filter(|(now, file)| **now == 0xcc && **file != 0xcc).count();
    }
    found
}
