//! What a diagnosis says, as plain values: findings, their evidence, and where the time goes.
//!
//! These types are the stable JSON (`docs/findings-json.md`) and know nothing of how they are found or shown.

use serde::Serialize;
use std::collections::BTreeMap;

/// Version of the JSON that these types serialize to.
pub const SCHEMA: u32 = 1;

/// Why a program is slow: the name of one of [`crate::causes::ALL`]. It is part of the JSON and of fingerprints.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(transparent)]
pub struct Cause(&'static str);

impl Cause {
    /// Only a cause in the list has a name.
    pub(crate) const fn named(slug: &'static str) -> Cause {
        Cause(slug)
    }

    /// The name used in JSON, in `docs/causes/` and by `slowpath causes`.
    pub fn slug(self) -> &'static str {
        self.0
    }
}

impl PartialEq<&str> for Cause {
    fn eq(&self, slug: &&str) -> bool {
        self.0 == *slug
    }
}

/// How sure a finding is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Confidence {
    /// Consistent with the evidence; another explanation fits as well.
    Hint,
    /// The evidence points here; one link of it is inferred.
    Likely,
    /// Every link of the evidence was measured.
    Certain,
}

/// What a cost is a share of. CPU time of all threads, wall time and instructions are never mixed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Basis {
    /// User and kernel CPU time of every thread of every process of the run.
    Cpu,
    /// Elapsed time from start to exit.
    Wall,
    /// Instructions, counted under valgrind: what they take is not known.
    Instructions,
}

/// How a number was come by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Sure {
    /// Every event was counted.
    Exact,
    /// Estimated from samples; has sampling error.
    Sampled,
    /// The result of a fit or an extrapolation.
    Fitted,
}

/// One frame of a call path.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Frame {
    /// Demangled name, or `module+0xoffset` where no symbol is known.
    pub function: String,
    /// File name of the executable or library.
    pub module: String,
    /// Source file, where debug information names it.
    pub file: Option<String>,
    /// Source line, where debug information names it.
    pub line: Option<u32>,
}

/// One number of the evidence.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Fact {
    /// What was measured, a short noun phrase.
    pub name: String,
    /// The number.
    pub value: f64,
    /// Its unit: `ns`, `calls`, `bytes`, `ratio`, `1` …
    pub unit: String,
    /// Where it comes from: `probe`, `samples`, `rusage`, `fit` …
    pub source: String,
    /// How sure it is.
    pub sure: Sure,
}

impl Fact {
    /// A number with its unit, where it comes from and how sure it is.
    pub fn new(name: &str, value: f64, unit: &str, source: &str, sure: Sure) -> Fact {
        Fact { name: name.to_owned(), value, unit: unit.to_owned(), source: source.to_owned(), sure }
    }
}

/// Points to plot, with the fit drawn through them where there is one.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Series {
    /// What the plot shows.
    pub name: String,
    /// Label of the x axis.
    pub x_label: String,
    /// Label of the y axis.
    pub y_label: String,
    /// Unit of y, as in [`Fact::unit`].
    pub y_unit: String,
    /// x of each point.
    pub x: Vec<f64>,
    /// y of each point; as many as `x`.
    pub y: Vec<f64>,
    /// y of the fit at each x; empty if there is none.
    pub fit: Vec<f64>,
}

/// One reason why the program is slow.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Finding {
    /// Which cause.
    pub cause: Cause,
    /// The cause in a few words, such as "work grows with every call".
    pub title: String,
    /// How sure.
    pub confidence: Confidence,
    /// What `share` is a share of.
    pub basis: Basis,
    /// Time that the finding accounts for, ns of `basis`; 0 where that is instructions.
    pub cost_ns: u64,
    /// Its cost as a share (0 to 1) of the run's total of that basis.
    pub share: f64,
    /// Time saved if the cause goes, ns of `basis`; 0 where that is instructions.
    pub gain_ns: u64,
    /// Instructions that the finding accounts for; none where `basis` is a time.
    pub cost_instructions: Option<u64>,
    /// Instructions saved if the cause goes; none where `basis` is a time.
    pub gain_instructions: Option<u64>,
    /// The guilty function.
    pub function: String,
    /// Its executable or library.
    pub module: String,
    /// Its source file.
    pub file: Option<String>,
    /// Its line.
    pub line: Option<u32>,
    /// How the program came there, outermost first, the guilty function last.
    pub path: Vec<Frame>,
    /// Files concerned, for causes that concern files.
    pub files: Vec<String>,
    /// The evidence in sentences, most important first.
    pub explanation: Vec<String>,
    /// The evidence in numbers.
    pub facts: Vec<Fact>,
    /// The evidence as plots.
    pub series: Vec<Series>,
    /// What to do.
    pub advice: String,
    /// Stays the same across runs and rebuilds: cause, module and function names, no addresses or numbers.
    pub fingerprint: String,
}

/// Where time goes: one function.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Hot {
    /// Demangled name.
    pub function: String,
    /// Executable or library.
    pub module: String,
    /// Source file, where known.
    pub file: Option<String>,
    /// Source line, where known.
    pub line: Option<u32>,
    /// CPU time in the function itself, ns; 0 where instructions were counted instead of it.
    pub self_ns: u64,
    /// CPU time in it and everything it calls, ns.
    pub total_ns: u64,
    /// Instructions of the function itself; none where CPU time was sampled.
    pub self_instructions: Option<u64>,
    /// Instructions of it and everything it calls.
    pub total_instructions: Option<u64>,
    /// For a function of the kernel, the C library or a language's own library: the program's function that asks for most
    /// of it.
    pub asked_by: Option<String>,
}

/// Where to look when no cause was found.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct Leads {
    /// The program's innermost function that most of the CPU time passes through; none if that is only where it begins.
    pub busiest: Option<Busiest>,
    /// The longest wait; none if none is a tenth of the elapsed time, or none was recorded.
    pub wait: Option<Wait>,
}

/// A function that most of the CPU time passes through.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Busiest {
    /// The function.
    pub function: Frame,
    /// CPU time in it and what it calls, ns.
    pub total_ns: u64,
    /// That as a share of the run's CPU time.
    pub share: f64,
}

/// What the first thread of the command waited for; where that is a child, what the child's first thread waited for.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Wait {
    /// The program that waited.
    pub program: String,
    /// The system call that it waited in.
    pub call: String,
    /// What the call concerns, where known.
    pub file: Option<String>,
    /// How many of these calls waited.
    pub calls: u64,
    /// For how long in all, ns.
    pub total_ns: u64,
    /// The program's function that made the calls, at the line of the call.
    pub function: Option<Frame>,
}

/// What was recorded, for the head of a report.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct RecordingSummary {
    /// The recording's id, its folder's name.
    pub id: String,
    /// The command and its arguments.
    pub command: Vec<String>,
    /// Elapsed time, ns.
    pub wall_ns: u64,
    /// User CPU time of the whole tree, ns.
    pub user_ns: u64,
    /// Kernel CPU time of the whole tree, ns.
    pub sys_ns: u64,
    /// Exit code, 128 + signal if killed by one; none if the program's end was not seen.
    pub exit: Option<i32>,
    /// CPU samples in the recording.
    pub samples: u64,
    /// Share (0 to 1) of the CPU time that samples stand for before weighting.
    pub sampled_share: f64,
    /// The part of `user_ns` and `sys_ns` that recording itself took, ns: no other figure counts it.
    pub tracing_ns: u64,
    /// CPU time of the program without that, and with that of daemons it started, ns: what shares are of.
    pub cpu_ns: u64,
    /// Elapsed time that a tracer by ptrace kept threads stopped, estimated, ns; of all threads.
    pub tracing_wall_ns: u64,
    /// Share (0 to 1) of the samples whose stack reaches the program's or thread's start.
    pub complete_stacks_share: f64,
    /// What the collectors could not do on this machine, each a sentence that names the way out.
    pub degraded: Vec<String>,
    /// Counts of what was lost, by kind. Only kinds with a count above zero.
    pub lost: BTreeMap<String, u64>,
    /// The recording ends before the program did.
    pub cut_short: bool,
    /// Runs joined in this recording (`--repeat`), 1 for an ordinary one.
    pub runs: u32,
    /// Instructions of all processes, counted under valgrind (`--exact`); none in an ordinary recording.
    pub instructions: Option<u64>,
}

/// The whole answer.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Findings {
    /// Always `findings`.
    pub kind: &'static str,
    /// [`SCHEMA`].
    pub schema: u32,
    /// What was recorded.
    pub recording: RecordingSummary,
    /// Causes found, the largest gain first. Empty for a program with nothing wrong.
    pub findings: Vec<Finding>,
    /// Where the time goes, the largest self time first.
    pub hot: Vec<Hot>,
    /// Where to look when no cause was found.
    pub leads: Leads,
    /// What a reader should know that is neither a finding nor a loss, such as "too short to see growth".
    pub notes: Vec<String>,
}
