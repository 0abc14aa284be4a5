//! What a finding must save to be reported: one type for all causes, and the levels that most of them share.

use crate::Evidence;

/// What a part must save of its gate to be looked at at all: a thousand of them still make a finding.
const PART: f64 = 0.001;

/// What a finding must save to be reported.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Gate {
    /// This share (0 to 1) of the run's total.
    pub share: f64,
    /// … and this much in each run: ns, or instructions.
    pub least: f64,
    /// Which total.
    pub of: Whole,
}

/// The total that a gain is a share of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Whole {
    /// CPU time.
    Cpu,
    /// Elapsed time.
    Elapsed,
    /// The longer of both, without what threads waited for a CPU that others had: in a program that mostly waits half of the CPU time is little.
    Longer,
    /// Instructions, counted under valgrind.
    Instructions,
}

/// CPU time below which nobody sees a difference, ns: a third of a frame of a display.
const SEEN_NS: f64 = 5e6;
/// Elapsed time below which a person notices no delay, ns: answers within 0.1 s feel immediate (Miller 1968, Nielsen 1993); half of
/// that, since other delays come on top.
const NOTICED_NS: f64 = 50e6;

impl Gate {
    /// A twentieth of the CPU time, and what can be seen: for what is cheap to fix, such as a buffer or a cached file.
    pub const TWENTIETH_OF_CPU: Gate = Gate { share: 0.05, least: SEEN_NS, of: Whole::Cpu };
    /// A tenth of the CPU time, and what can be seen: for what takes thought to fix.
    pub const TENTH_OF_CPU: Gate = Gate { share: 0.10, least: SEEN_NS, of: Whole::Cpu };
    /// A tenth of the elapsed time, and what a person notices: for time spent waiting.
    pub const TENTH_OF_WALL: Gate = Gate { share: 0.10, least: NOTICED_NS, of: Whole::Elapsed };

    /// The gain that it takes, over all joined runs: ns, or instructions.
    pub fn needed(&self, evidence: &Evidence<'_>) -> f64 {
        let about = &evidence.recording.about;
        // What the kernel's tracer took may lie beside the waits.
        let elapsed = if evidence.by_ptrace { evidence.elapsed_ns } else { about.wall_ns as f64 };
        let whole = match self.of {
            Whole::Cpu => evidence.cpu_ns,
            Whole::Elapsed => elapsed,
            Whole::Longer => evidence.cpu_ns.max(evidence.occupied_ns().unwrap_or(elapsed)),
            Whole::Instructions => about.instructions.unwrap_or(0).max(1) as f64,
        };
        (self.share * whole).max(self.least * f64::from(about.runs.max(1)))
    }

    /// Whether a gain of one process is worth being added up.
    pub fn may_pass(&self, evidence: &Evidence<'_>, gain: f64) -> bool {
        gain > 0.0 && gain >= PART * self.needed(evidence)
    }

    /// Whether a gain of the whole run is enough.
    pub fn passes(&self, evidence: &Evidence<'_>, gain: f64) -> bool {
        gain >= self.needed(evidence)
    }
}
