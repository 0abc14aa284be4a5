//! `about.json`: what ran, on what machine, with which collectors, and what was lost.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Major version of the format: another one is refused. Minor: columns and fields were only added.
pub const MAJOR: u32 = 1;
/// See [`MAJOR`].
pub const MINOR: u32 = 22;

/// The format's version, as in `about.json`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Format {
    /// See [`MAJOR`].
    pub major: u32,
    /// See [`MINOR`].
    pub minor: u32,
}

/// Whether the recording was ended in order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum State {
    /// Being written, or its writer was killed.
    Recording,
    /// Ended in order.
    Complete,
    /// Ended by its writer before the program did, or without all of its data (a full disk).
    CutShort,
}

/// How system calls were traced.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Tracer {
    /// BPF at entry and return of every system call.
    Bpf,
    /// ptrace: only some of the calls, and their times are estimates, where [`About::in_windows`] their counts too.
    Ptrace,
    /// One that this version does not know.
    #[serde(other)]
    Other,
}

/// How calls were counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Counter {
    /// BPF programs on uprobes.
    Bpf,
    /// Hardware breakpoints, at most four at a time in a process: a hit costs the program some µs.
    Breakpoints,
    /// One that this version does not know.
    #[serde(other)]
    Other,
}

fn first_arch() -> String {
    "x86_64".to_owned()
}

/// How [`Collector::how`] of a tracer by ptrace began before minor version 3, which has [`About::tracer`].
const PTRACE_BEFORE_3: &str = "ptrace with a seccomp filter:";

/// One collector that ran.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Collector {
    /// `sampler`, `counter` …
    pub name: String,
    /// How it ran, such as `cpu-clock at 1000 Hz, per CPU`.
    pub how: String,
}

/// The whole of `about.json`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct About {
    /// The format's version.
    pub format: Format,
    /// The version of slowpath that wrote it.
    pub slowpath: String,
    /// The recording's id, its folder's name.
    pub id: String,
    /// State of the recording, see below.
    pub state: State,
    /// The command and its arguments; of a program that was attached to, its own.
    pub command: Vec<String>,
    /// Working directory of the command.
    pub directory: String,
    /// Vouches for where it was made: see [`About::is_from_here`]. None where the machine has no id, or in older recordings.
    #[serde(default)]
    pub machine: Option<String>,
    /// Host name.
    pub host: String,
    /// Kernel release.
    pub kernel: String,
    /// CPU model.
    pub cpu: String,
    /// CPUs online.
    pub cpus: u32,
    /// Its instruction set, as Rust names it: `x86_64`. Numbers of system calls and registers are of it. Before minor version 14 it was not
    /// written, and always that.
    #[serde(default = "first_arch")]
    pub arch: String,
    /// Start, ns since 1970.
    pub started_unix_ns: u64,
    /// Start, ns of CLOCK_MONOTONIC, to which all times of the tables refer.
    pub start_ns: u64,
    /// Elapsed from start to exit (to the end of the recording if it ended before), ns. With several runs, their sum.
    pub wall_ns: u64,
    /// User CPU time of the command and its descendants while they were recorded, as far as it is known: of those it waited for
    /// always, of others where their end or they themselves could be looked at. ns.
    pub user_ns: u64,
    /// Kernel CPU time, likewise, ns.
    pub sys_ns: u64,
    /// Exit code, or 128 + signal; none if the end was not seen.
    pub exit: Option<i32>,
    /// Runs merged in the recording.
    pub runs: u32,
    /// slowpath attached to a running program.
    pub attached: bool,
    /// Collectors that ran.
    pub collectors: Vec<Collector>,
    /// How system calls were traced; none if they were not, and before minor version 3.
    #[serde(default)]
    pub tracer: Option<Tracer>,
    /// How calls were counted; none if they were not, and before minor version 4, when it was BPF.
    #[serde(default)]
    pub counter: Option<Counter>,
    /// CPU time of the program that one hit of a breakpoint takes, measured on this machine, ns; none where calls were counted in
    /// another way, or not at all.
    #[serde(default)]
    pub hit_ns: Option<u64>,
    /// What could not be recorded and why: a sentence each, with a remedy.
    pub degraded: Vec<String>,
    /// What was lost, counted by kind.
    pub lost: BTreeMap<String, u64>,
    /// Share (0 to 1) of the CPU time that the samples represent before weighting.
    pub sampled_share: f64,
    /// The part of `user_ns` and `sys_ns` used by recording itself, in the kernel, ns; its samples are left out.
    #[serde(default)]
    pub tracing_ns: u64,
    /// Elapsed time that a tracer by ptrace kept threads stopped, estimated from what one stop takes, ns; of all threads.
    #[serde(default)]
    pub tracing_wall_ns: u64,
    /// Of that what stops at calls took, ns; the rest is of forks, programs and exits. Absent before minor version 7.
    #[serde(default)]
    pub tracing_calls_ns: Option<u64>,
    /// … and what stops at random moments took, ns.
    #[serde(default)]
    pub tracing_samples_ns: u64,
    /// Share (0 to 1) of the threads' CPU time in which system calls were traced. Below 1 their rows stand for the rest too, and their
    /// counts are estimates.
    #[serde(default = "all")]
    pub traced_share: f64,
    /// Instructions of all processes, counted under valgrind; none in an ordinary recording.
    #[serde(default)]
    pub instructions: Option<u64>,
}

fn all() -> f64 {
    1.0
}

impl About {
    /// Whether the counts of system calls are estimates: they were traced in windows.
    pub fn in_windows(&self) -> bool {
        self.traced_share < 1.0
    }

    /// Whether system calls were traced by ptrace. Recordings before minor version 3 say so only in how the collector ran.
    pub fn by_ptrace(&self) -> bool {
        let described = || self.collectors.iter().any(|collector| collector.how.starts_with(PTRACE_BEFORE_3));
        match self.tracer {
            Some(tracer) => tracer == Tracer::Ptrace,
            None => (self.format.major, self.format.minor) < (1, 3) && described(),
        }
    }
}
