//! What a diagnosis says, as plain values: findings, their evidence, and where the time goes.
//!
//! These types are the stable JSON (`docs/findings-json.md`) and know nothing of how they are found or shown.

use serde::Serialize;
use std::collections::BTreeMap;

/// Version of the JSON that these types serialize to.
pub const SCHEMA: u32 = 2;

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
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Basis {
    /// User and kernel CPU time of every thread of every process of the run.
    Cpu,
    /// Elapsed time from start to exit.
    Wall,
    /// Instructions, counted under valgrind: what they take is not known.
    Instructions,
}

/// What a finding costs the run, and what is saved if its cause is fixed. A gain is at most the cost.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(tag = "basis", rename_all = "kebab-case")]
pub enum Cost {
    /// User and kernel CPU time of every thread of every process of the run.
    Cpu {
        /// Time that the finding accounts for, ns.
        cost_ns: u64,
        /// Time saved, ns.
        gain_ns: u64,
    },
    /// Elapsed time from start to exit.
    Wall {
        /// Time that the finding accounts for, ns.
        cost_ns: u64,
        /// Time saved, ns.
        gain_ns: u64,
    },
    /// Instructions, counted under valgrind: what they take is not known.
    Instructions {
        /// Instructions that the finding accounts for.
        cost_instructions: u64,
        /// Instructions saved.
        gain_instructions: u64,
    },
}

impl Cost {
    /// Cost and gain in the unit of `basis`: ns or instructions. Negative ones and what is no number are 0.
    pub fn new(basis: Basis, cost: f64, gain: f64) -> Cost {
        Cost::whole(basis, cost as u64, gain as u64)
    }

    fn whole(basis: Basis, cost: u64, gain: u64) -> Cost {
        let gain = gain.min(cost);
        match basis {
            Basis::Cpu => Cost::Cpu { cost_ns: cost, gain_ns: gain },
            Basis::Wall => Cost::Wall { cost_ns: cost, gain_ns: gain },
            Basis::Instructions => Cost::Instructions { cost_instructions: cost, gain_instructions: gain },
        }
    }

    /// What cost and gain are a share of.
    pub fn basis(&self) -> Basis {
        match self {
            Cost::Cpu { .. } => Basis::Cpu,
            Cost::Wall { .. } => Basis::Wall,
            Cost::Instructions { .. } => Basis::Instructions,
        }
    }

    /// What the finding accounts for: ns, or instructions.
    pub fn amount(&self) -> u64 {
        match *self {
            Cost::Cpu { cost_ns, .. } | Cost::Wall { cost_ns, .. } => cost_ns,
            Cost::Instructions { cost_instructions, .. } => cost_instructions,
        }
    }

    /// What is saved: ns, or instructions.
    pub fn gain(&self) -> u64 {
        match *self {
            Cost::Cpu { gain_ns, .. } | Cost::Wall { gain_ns, .. } => gain_ns,
            Cost::Instructions { gain_instructions, .. } => gain_instructions,
        }
    }

    /// The cost as a time, ns; none for instructions.
    pub fn time_ns(&self) -> Option<u64> {
        (self.basis() != Basis::Instructions).then(|| self.amount())
    }

    /// The sum of several costs of one basis, at most the run's `total` of it.
    pub(crate) fn sum<'a>(basis: Basis, costs: impl Iterator<Item = &'a Cost>, total: u64) -> Cost {
        let (mut cost, mut gain) = (0u64, 0u64);
        for one in costs {
            (cost, gain) = (cost.saturating_add(one.amount()), gain.saturating_add(one.gain()));
        }
        Cost::whole(basis, cost.min(total), gain)
    }
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
    /// Its number in the recording's `functions` table; none for what stands for a whole program, and under `scale --exact`.
    pub function_id: Option<u32>,
    /// Demangled name, or `module+0xoffset` where no symbol is known.
    pub function: String,
    /// File name of the executable or library.
    pub module: String,
    /// Source file, where debug information names it.
    pub file: Option<String>,
    /// Source line, where debug information names it.
    pub line: Option<u32>,
}

impl Frame {
    /// Whether its function has a name, and not only an address in its module: `libz.so.1+0x80`.
    pub(crate) fn has_name(&self) -> bool {
        !self.function.strip_prefix(self.module.as_str()).is_some_and(|rest| rest.starts_with("+0x"))
    }
}

/// Where a finding is: the guilty function, and how the program came there.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Place {
    /// The guilty function at its first line, or at the line of the call that costs; where no stack is known, the program.
    #[serde(flatten)]
    pub frame: Frame,
    /// Call path, outermost first, the guilty function last; empty where no stack is known.
    pub path: Vec<Frame>,
}

impl Place {
    /// At the end of a path; where that is empty, at what `otherwise` says.
    pub fn at_end_of(path: Vec<Frame>, otherwise: impl FnOnce() -> Frame) -> Place {
        Place { frame: path.last().cloned().unwrap_or_else(otherwise), path }
    }
}

/// How often a function was called, in one run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Calls {
    /// The number.
    pub count: u64,
    /// How sure it is.
    pub sure: Sure,
}

/// A file that a finding concerns.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Concerned {
    /// Its path; where it has none, what it is, such as `a pipe`.
    pub path: String,
    /// Its numbers in the recording's `files` table: one for each state and process in which it was met.
    pub ids: Vec<u32>,
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

/// One reason why the program is slow. Made by [`crate::draft::Draft`].
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Finding {
    /// Which cause.
    pub cause: Cause,
    /// What tells two findings of one cause in one function apart, such as `writes` and `reads`; empty where there is nothing to.
    pub variant: &'static str,
    /// The cause in a few words, such as "work grows with every call".
    pub title: String,
    /// How sure.
    pub confidence: Confidence,
    /// What it costs and what is gained if it goes.
    #[serde(flatten)]
    pub cost: Cost,
    /// Its cost as a share (0 to 1) of the run's total of that basis.
    pub share: f64,
    /// Where it is.
    #[serde(flatten)]
    pub place: Place,
    /// How often the guilty function was called, where that was counted.
    pub calls: Option<Calls>,
    /// Other functions that the evidence is about: a callee that is called ever more often, the caller whose other work stays
    /// the same, the library function that does the work.
    pub related: Vec<Frame>,
    /// Files concerned, for causes that concern files.
    pub files: Vec<Concerned>,
    /// The evidence in sentences, most important first.
    pub explanation: Vec<String>,
    /// The evidence in numbers.
    pub facts: Vec<Fact>,
    /// The evidence as plots.
    pub series: Vec<Series>,
    /// What to do.
    pub advice: String,
    /// The gain is the part of what is saved that was measured. The rest, which is known to be there, was not.
    pub gain_is_least: bool,
    /// Stays the same across runs and rebuilds: cause, module and function names, and the variant; no addresses or numbers.
    pub fingerprint: String,
}

/// Where time goes: one function.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Hot {
    /// Its number in the recording's `functions` table.
    pub function_id: u32,
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
    /// The loop with most of the CPU time of those that are entered again and again; none if that is less than a third, or none was looked at.
    pub busy_loop: Option<BusyLoop>,
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

/// A loop that is entered again and again.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct BusyLoop {
    /// The function that the loop is in, at a line of it.
    pub function: Frame,
    /// CPU time in the loop and what it calls, ns.
    pub total_ns: u64,
    /// That as a share of the run's CPU time.
    pub share: f64,
    /// Items that it goes through each time, on average of some times that were counted.
    pub rounds: f64,
    /// Most times it begins where it began before, and finds the same there.
    pub again: bool,
}

/// What the first thread of the command waited for; where that is a child, what the child's first thread waited for.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Wait {
    /// The program that waited.
    pub program: String,
    /// The system call that it waited in.
    pub call: String,
    /// It asked to be let asleep for a time, and for nothing else.
    pub asleep: bool,
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
    /// Elapsed time without what stopping the program for tracing took of it, estimated, ns: what shares of elapsed time are of.
    pub undisturbed_wall_ns: u64,
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
