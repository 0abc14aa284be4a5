//! What a comparison says, as plain values. The names are part of the JSON (`docs/comparison-json.md`).

use serde::{Deserialize, Serialize};

/// Version of the JSON that these types serialize to.
pub const SCHEMA: u32 = 1;

/// One run of one side, bare.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Run {
    /// Elapsed from start to exit, ns.
    pub wall_ns: u64,
    /// User CPU time of the command and all that it waited for, ns.
    pub user_ns: u64,
    /// Kernel CPU time, likewise, ns.
    pub sys_ns: u64,
    /// The largest resident size of one of its processes, bytes.
    pub peak_memory_bytes: u64,
    /// Exit code, or 128 + the signal that killed it.
    pub exit: i32,
    /// A hash of what it wrote to stdout; none if that was not asked for.
    pub output: Option<u64>,
}

impl Run {
    /// CPU time, ns.
    pub fn cpu_ns(&self) -> u64 {
        self.user_ns + self.sys_ns
    }
}

/// How long a fixed piece of work took beside the runs: how much of the machine there was.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Probe {
    /// Computing, ns.
    pub cpu_ns: u64,
    /// Going through memory, ns.
    pub memory_ns: u64,
}

/// One run of each side, in random order.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Pair {
    /// The runs, the first side's first, in whichever order they ran.
    pub runs: [Run; 2],
    /// Which side ran first: 0 or 1.
    pub first: usize,
    /// Before, between and after the runs.
    pub probes: [Probe; 3],
    /// The machine was not ours enough: left out of the verdict.
    pub set_aside: bool,
}

/// How many times as long the first side takes.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Estimate {
    /// Median over the pairs of first over second.
    pub ratio: f64,
    /// The interval's ends; it holds at the moment of stopping.
    pub low: f64,
    /// See `low`.
    pub high: f64,
    /// The interval's nominal level (0 to 1): above the stated one, since it may be looked at several times.
    pub level: f64,
    /// p of the signed-rank test, two-sided.
    pub p: f64,
    /// Pairs.
    pub pairs: usize,
}

/// What is known of the difference.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// The second side is faster.
    Faster,
    /// The second side is slower.
    Slower,
    /// There is no difference larger than `indifferent`.
    Same,
    /// It is unknown.
    Unknown,
}

/// One side.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Side {
    /// What it is called.
    pub name: String,
    /// The command, as it was typed.
    pub command: String,
    /// Medians over its runs.
    pub median: Run,
}

/// What the machine was like.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Machine {
    /// Host name and CPU model.
    pub host: String,
    /// See `host`.
    pub cpu: String,
    /// CPUs online.
    pub cpus: u32,
    /// One-minute load before and after.
    pub load: [f64; 2],
    /// Share (0 to 1) of the CPU time that the hypervisor took meanwhile.
    pub steal: f64,
    /// Frequency of the first CPU before and after, MHz; 0 where it is not reported.
    pub mhz: [f64; 2],
}

/// One finding, as far as a comparison reports it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Known {
    /// The cause's name.
    pub cause: String,
    /// The cause in a few words.
    pub title: String,
    /// The guilty function.
    pub function: String,
    /// What it cost in each recording, ns; 0 where it was not found.
    pub cost_ns: [u64; 2],
    /// The finding's own fingerprint.
    pub fingerprint: String,
}

/// What changed of one function or system call.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Change {
    /// Its name.
    pub name: String,
    /// Its module; empty for system calls.
    pub module: String,
    /// Time in itself in each recording, ns: CPU time of a function, from entry to return of a system call.
    pub ns: [u64; 2],
    /// Calls in each recording; none where they were not counted.
    pub calls: [Option<u64>; 2],
}

/// Calls of a function in one run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, Serialize)]
pub struct Calls {
    /// How many.
    pub count: u64,
    /// Counting ended there: there may have been more.
    pub more: bool,
}

/// How often a function is called on each side, counted exactly in a run of its own.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Counted {
    /// Its name.
    pub function: String,
    /// Calls in the command's own process on each side.
    pub calls: [Calls; 2],
}

impl From<(String, [Calls; 2])> for Counted {
    fn from((function, calls): (String, [Calls; 2])) -> Counted {
        Counted { function, calls }
    }
}

/// Why there is a difference, from one recording of each side.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Why {
    /// Found in the first recording only.
    pub gone: Vec<Known>,
    /// Found in the second recording only.
    pub new: Vec<Known>,
    /// Found in both.
    pub kept: Vec<Known>,
    /// The functions whose time changed most.
    pub functions: Vec<Change>,
    /// Functions that findings speak of or whose time changed most, where the number of their calls differs, most first.
    /// Empty where they were not counted.
    pub calls: Vec<Counted>,
    /// The system calls whose time or number changed most.
    pub syscalls: Vec<Change>,
    /// CPU time of each recording, ns. Recorded runs are slower than bare ones: no verdict follows from these.
    pub cpu_ns: [u64; 2],
    /// Share (0 to 1) of the difference in CPU time that these functions explain.
    pub explained: f64,
}

/// The whole answer.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Comparison {
    /// Always `comparison`.
    pub kind: &'static str,
    /// [`SCHEMA`].
    pub schema: u32,
    /// Both sides.
    pub sides: [Side; 2],
    /// What is known, of elapsed time (or of CPU time, if that was asked for).
    pub verdict: Verdict,
    /// The verdict rests on this: `wall` or `cpu`.
    pub metric: &'static str,
    /// A difference of this share (0.02 is 2 %) and less counts as none.
    pub indifferent: f64,
    /// Elapsed time; none if there is no pair.
    pub wall: Option<Estimate>,
    /// CPU time; none if there is no pair or a side used none.
    pub cpu: Option<Estimate>,
    /// The verdict with the pairs that were set aside is another one.
    pub disputed: bool,
    /// Every pair.
    pub pairs: Vec<Pair>,
    /// What the machine was like.
    pub machine: Machine,
    /// Whether the expectation was met, if there was one.
    pub outcome: crate::Outcome,
    /// What made it end early: a side that failed or hung, outputs that differ. The pairs before are kept.
    pub failure: Option<String>,
    /// What a reader should know.
    pub notes: Vec<String>,
    /// Why, if that was asked for.
    pub why: Option<Why>,
}
