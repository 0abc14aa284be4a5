//! What the reports say of a run and of a finding, in parts, for whoever lays them out elsewhere (the page).

use crate::{path, phrases};
use slowpath_diagnose::findings::{Finding, Findings, Frame, RecordingSummary};

/// The sentences about a finding. Text from the recorded program is in them as it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Said<'a> {
    /// The cause, with how sure it is unless it is certain.
    pub title: String,
    /// Its cost and the total that it is a share of.
    pub cost: String,
    /// What is gained if it goes; none if nothing is.
    pub gain: Option<String>,
    /// How often and from where the guilty function was called.
    pub called: Option<String>,
    /// The evidence.
    pub explanation: Vec<String>,
    /// The call path without what merely starts a program; frames with how many times each follows itself.
    pub path: Vec<(&'a Frame, usize)>,
}

/// The sentences about a finding.
pub fn said<'a>(finding: &'a Finding, recording: &RecordingSummary) -> Said<'a> {
    Said {
        title: phrases::title(finding),
        cost: phrases::cost(finding, recording),
        gain: phrases::gain(finding, recording),
        called: phrases::called(finding),
        explanation: finding.explanation.clone(),
        path: path::steps(&finding.place.path).into_iter().map(|step| (step.frame, step.times)).collect(),
    }
}

/// The sentences about a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunSaid {
    /// Times, exit status and number of runs: name and value.
    pub facts: Vec<(&'static str, String)>,
    /// What the samples cover.
    pub coverage: String,
    /// What could not be seen.
    pub unseen: Vec<String>,
    /// Where there is no finding: what then.
    pub nothing: Vec<String>,
    /// Where there are findings that say little of why the program mostly did not run: that.
    pub not_explained: Vec<String>,
    /// The recording ends before the program: said first.
    pub cut_short: Option<&'static str>,
}

/// The sentences about a run.
pub fn run_said(findings: &Findings) -> RunSaid {
    let recording = &findings.recording;
    RunSaid {
        facts: phrases::run_facts(recording),
        coverage: phrases::coverage(recording),
        unseen: phrases::unseen(recording),
        nothing: if findings.findings.is_empty() { phrases::nothing_found(findings) } else { Vec::new() },
        not_explained: phrases::not_explained(findings),
        cut_short: recording.cut_short.then_some(phrases::CUT_SHORT),
    }
}
