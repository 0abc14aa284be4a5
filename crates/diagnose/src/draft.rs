//! The one way in which findings are made, by all causes and in all crates: shares, gains and fingerprints mean the same for all.

use crate::Evidence;
use crate::candidate::Candidate;
use crate::causes::Spec;
use crate::findings::{Calls, Concerned, Confidence, Cost, Fact, Finding, Frame, Place, Series, Sure};
use crate::gate::Gate;

/// What a cause knows of a finding. Made with [`Draft::new`] and struct update syntax.
#[derive(Debug, Clone)]
pub struct Draft {
    /// See [`Finding::cause`].
    pub cause: &'static Spec,
    /// See [`Finding::variant`]: a word that never changes.
    pub variant: &'static str,
    /// See [`Finding::title`].
    pub title: String,
    /// See [`Finding::confidence`].
    pub confidence: Confidence,
    /// What is presumed where it is not certain, instead of what its cause says there; empty for the latter.
    pub not_known: &'static str,
    /// See [`Finding::cost`].
    pub cost: Cost,
    /// See [`Finding::place`].
    pub place: Place,
    /// See [`Finding::calls`].
    pub calls: Option<Calls>,
    /// See [`Finding::related`].
    pub related: Vec<Frame>,
    /// See [`Finding::files`].
    pub files: Vec<Concerned>,
    /// See [`Finding::explanation`].
    pub explanation: Vec<String>,
    /// See [`Finding::facts`].
    pub facts: Vec<Fact>,
    /// See [`Finding::series`].
    pub series: Vec<Series>,
    /// See [`Finding::advice`].
    pub advice: String,
    /// See [`Finding::gain_is_least`].
    pub gain_is_least: bool,
}

impl Draft {
    /// A finding without evidence as yet.
    pub fn new(
        cause: &'static Spec,
        title: impl Into<String>,
        confidence: Confidence,
        cost: Cost,
        place: Place,
    ) -> Draft {
        Draft {
            cause,
            variant: "",
            title: title.into(),
            confidence,
            not_known: "",
            cost,
            place,
            calls: None,
            related: Vec::new(),
            files: Vec::new(),
            explanation: Vec::new(),
            facts: Vec::new(),
            series: Vec::new(),
            advice: String::new(),
            gain_is_least: false,
        }
    }

    /// The finding, in a run with this `total` of the cost's basis, ns or instructions. `is_program` says of a module whether it is a
    /// program that ran: its name may change.
    pub fn finding(mut self, total: u64, is_program: impl FnOnce(&str) -> bool) -> Finding {
        let cost = Cost::sum(self.cost.basis(), std::iter::once(&self.cost), total);
        let share = cost.amount() as f64 / total.max(1) as f64;
        let fingerprint = self.fingerprint(is_program);
        if self.confidence != Confidence::Certain {
            let presumed = if self.not_known.is_empty() { self.cause.not_known } else { self.not_known };
            self.explanation.push(format!("not known: {presumed}"));
        }
        Finding {
            cause: self.cause.cause(),
            variant: self.variant,
            title: self.title,
            confidence: self.confidence,
            cost,
            share,
            place: self.place,
            calls: self.calls,
            related: self.related,
            files: self.files,
            explanation: self.explanation,
            facts: self.facts,
            series: self.series,
            advice: self.advice,
            gain_is_least: self.gain_is_least,
            fingerprint,
        }
    }

    /// What stays the same when the program is renamed, moved or rebuilt.
    fn fingerprint(&self, is_program: impl FnOnce(&str) -> bool) -> String {
        let Frame { function, module, .. } = &self.place.frame;
        let module = if is_program(module) { "program" } else { module };
        let variant = if self.variant.is_empty() { String::new() } else { format!("|{}", self.variant) };
        format!("{}|{module}|{function}{variant}", self.cause.slug)
    }

    /// What is seen in one process, to be added up with what is seen in others and then held against `gate`.
    pub(crate) fn candidate(mut self, evidence: &Evidence<'_>, gate: Gate, process: u32) -> Candidate {
        if evidence.by_ptrace {
            self.estimated(evidence.recording.about.traced_share);
        }
        let total = evidence.total(self.cost.basis());
        let finding = self.finding(total, |module| evidence.is_program(module));
        Candidate { finding, gate, process }
    }

    /// Says that the times are not measured but reckoned; the counts neither, unless all calls were traced.
    fn estimated(&mut self, traced_share: f64) {
        if self.confidence == Confidence::Certain {
            self.confidence = Confidence::Likely;
            self.not_known = "the exact times, which are estimated here; with them it would be certain";
        }
        let in_windows = traced_share < 1.0;
        // What probes count is all that there was.
        let is_count =
            |fact: &Fact| fact.source != "probe" && matches!(fact.unit.as_str(), "calls" | "bytes");
        let reckoned = |fact: &Fact| fact.unit == "ns" || in_windows && is_count(fact);
        for fact in self.facts.iter_mut().filter(|fact| reckoned(fact) && fact.sure == Sure::Exact) {
            fact.sure = Sure::Fitted;
        }
        self.explanation.push(
            "times are estimates: the measured cost of stopping the program at each traced call is subtracted".to_owned(),
        );
        if in_windows && self.facts.iter().any(is_count) {
            self.explanation.push(format!(
                "so are counts: calls were traced in {} of the CPU time and scaled up; they may be off by a factor of four \
                 (the number of reads and writes by a few percent, because the kernel counts these)",
                if traced_share < 0.001 {
                    "less than 0.1 %".to_owned()
                } else {
                    format!("{:.1} %", 100.0 * traced_share)
                }
            ));
        }
    }
}
