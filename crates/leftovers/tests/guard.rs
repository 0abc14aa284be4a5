//! A guard ends what a killed process ran, and nothing else. Each killed process is this test program once more (`owner`).

use slowpath_leftovers::{Guard, Wards};
use std::ffi::OsStr;
use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{Child, ChildStdout, Command, Stdio};
use std::sync::mpsc;
use std::time::Duration;

/// Nothing takes as long, unless it never ends.
const NEVER: Duration = Duration::from_secs(100);
const ROLE: &str = "SLOWPATH_TEST_OWNER";

/// What a killed process does: its role is in the environment.
#[test]
#[ignore = "run by the other tests, which kill it"]
fn owner() {
    let Ok(role) = std::env::var(ROLE) else { return };
    let argument = format!("--mark={}", std::process::id());
    let argument = (role == "argument").then_some(OsStr::new(&argument));
    let guard = Guard::start(Wards { group: None, argument }).expect("a guard");
    let mut command = Command::new("sh");
    match argument {
        // A daemon, which is in no group of ours.
        Some(argument) => {
            let daemon = "setsid -f sh -c 'echo ready; kill -STOP $$' -- \"$1\"; exit 0";
            command.args(["-c", daemon, "--"]).arg(argument);
        }
        None => {
            // It says so only once it has been told to go on.
            command.args(["-c", "sleep 1000 & read go; echo ready; exec sleep 1000"]).process_group(0);
            command.stdin(Stdio::piped());
            guard.watch(&mut command);
        }
    }
    let mut child = command.spawn().expect("sh runs");
    if role == "over" {
        guard.over();
    }
    if let Some(mut stdin) = child.stdin.take() {
        stdin.write_all(b"go\n").expect("it reads");
    }
    child.wait().expect("our child");
    std::thread::sleep(NEVER);
}

struct Owner {
    child: Child,
    output: BufReader<ChildStdout>,
}

impl Owner {
    /// Starts one, and waits until its command says that it runs.
    fn ready(role: &str) -> Owner {
        let mut run = Command::new(std::env::current_exe().expect("our path"));
        run.args(["--exact", "owner", "--ignored", "--nocapture"]).env(ROLE, role);
        let mut child = run.stdout(Stdio::piped()).spawn().expect("it runs");
        let mut output = BufReader::new(child.stdout.take().expect("a pipe"));
        let mut line = String::new();
        while !line.ends_with("ready\n") {
            line.clear();
            assert!(output.read_line(&mut line).expect("it speaks") > 0, "it ended");
        }
        Owner { child, output }
    }

    fn guard(&self) -> i32 {
        let tasks = fs::read_dir(format!("/proc/{}/task", self.child.id())).expect("it lives").flatten();
        let children = tasks.flat_map(|task| {
            let children = fs::read_to_string(task.path().join("children")).unwrap_or_default();
            children.split_whitespace().map(str::to_owned).collect::<Vec<_>>()
        });
        let name = |pid: &String| fs::read_to_string(format!("/proc/{pid}/comm")).unwrap_or_default();
        let guard = children.into_iter().find(|pid| name(pid) == "sp-guard\n");
        guard.and_then(|pid| pid.parse().ok()).expect("it has a guard")
    }

    fn kill(&mut self) {
        self.child.kill().expect("our child");
        assert_eq!(self.child.wait().expect("our child").signal(), Some(libc::SIGKILL));
    }

    /// Waits until all have ended that hold its stdout.
    fn all_end(mut self) -> bool {
        let (tell, told) = mpsc::channel();
        std::thread::Builder::new()
            .spawn(move || tell.send(self.output.read_to_end(&mut Vec::new())))
            .expect("a thread");
        told.recv_timeout(NEVER).is_ok()
    }
}

#[test]
fn the_group_of_the_command_ends_with_its_owner() {
    let mut owner = Owner::ready("group");
    owner.kill();
    assert!(owner.all_end(), "the command lives on");
}

#[test]
fn who_has_the_argument_ends_with_the_owner_wherever_it_went() {
    let mut owner = Owner::ready("argument");
    owner.kill();
    assert!(owner.all_end(), "the daemon lives on");
}

/// The processes that have this role in their environment.
fn processes_of(role: &str) -> Vec<i32> {
    let marked = |environment: Vec<u8>| {
        environment.split(|byte| *byte == 0).any(|one| one == format!("{ROLE}={role}").as_bytes())
    };
    let processes = fs::read_dir("/proc").expect("processes").flatten();
    let of_role = processes.filter(|entry| fs::read(entry.path().join("environ")).is_ok_and(marked));
    of_role.map(|entry| entry.file_name().to_string_lossy().parse().expect("a process")).collect()
}

#[test]
fn a_command_whose_end_was_told_is_no_business_of_the_guard() {
    let mut owner = Owner::ready("over");
    let guard = owner.guard();
    // SAFETY: numbers only.
    let watch = unsafe { libc::syscall(libc::SYS_pidfd_open, guard, 0) } as i32;
    assert!(watch >= 0, "the guard lives");
    owner.kill();
    let mut poll = libc::pollfd { fd: watch, events: libc::POLLIN, revents: 0 };
    // SAFETY: one valid pollfd.
    assert_eq!(unsafe { libc::poll(&mut poll, 1, NEVER.as_millis() as i32) }, 1, "the guard ends");
    // A process that executes just now has no environment for a moment; and one that is killed lets the other one end.
    let mut left = processes_of("over");
    let began = std::time::Instant::now();
    while left.len() < 2 && began.elapsed() < NEVER / 10 {
        std::thread::sleep(std::time::Duration::from_millis(5));
        left = processes_of("over");
    }
    for pid in &left {
        // SAFETY: a signal to a process of this test.
        assert_eq!(unsafe { libc::kill(*pid, libc::SIGKILL) }, 0, "{pid} lives");
    }
    assert_eq!(left.len(), 2, "both processes of the command");
    assert!(owner.all_end());
}

#[test]
fn a_guard_holds_nothing_and_signals_do_not_reach_it() {
    let mut owner = Owner::ready("group");
    let guard = owner.guard();
    let of = |what: &str| fs::read_to_string(format!("/proc/{guard}/{what}")).expect("it lives");
    let stat = of("stat");
    let (_, fields) = stat.rsplit_once(") ").expect("fields");
    let fields: Vec<&str> = fields.split(' ').collect();
    assert_eq!((fields[2], fields[3]), (&*guard.to_string(), &*guard.to_string()), "group and session");
    let held = fs::read_dir(format!("/proc/{guard}/fd")).expect("it lives").count();
    assert_eq!(held, 2, "the pipe and the mailbox");
    for signal in [libc::SIGINT, libc::SIGTERM, libc::SIGHUP, libc::SIGQUIT, libc::SIGUSR1, libc::SIGALRM] {
        // SAFETY: a signal to a process of this test.
        assert_eq!(unsafe { libc::kill(guard, signal) }, 0);
    }
    owner.kill();
    assert!(owner.all_end(), "the command lives on");
}

#[test]
fn a_guard_that_is_not_needed_any_more_ends_nothing_and_is_no_zombie() {
    let mark = format!("--mark={}", std::process::id());
    let guard = Guard::start(Wards { group: None, argument: Some(OsStr::new(&mark)) }).expect("a guard");
    let mut command = Command::new("sh");
    command.args(["-c", "read line", "--", &mark]).process_group(0).stdin(Stdio::piped());
    guard.watch(&mut command);
    let mut child = command.spawn().expect("sh runs");
    drop(guard); // it has ended by then
    assert!(child.try_wait().expect("our child").is_none(), "the command was ended");
    drop(child.stdin.take());
    assert!(child.wait().expect("our child").signal().is_none());
}
