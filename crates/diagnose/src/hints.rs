//! Hints about time that something surer explains: they are left out, for a reader would mend one thing twice. What a hint says may still be
//! found once the surer cause is fixed.

use crate::Evidence;
use crate::findings::{Basis, Confidence, Finding};

/// A finding explains a hint if so much of the hint's time is its own.
const MOST: f64 = 0.5;

/// Leaves out hints of CPU time most of which is spent where a surer finding is.
pub fn without_explained(evidence: &Evidence<'_>, findings: Vec<Finding>) -> Vec<Finding> {
    let place = |finding: &Finding| match finding.cost.basis() {
        Basis::Cpu => finding.place.frame.function_id,
        _ => None,
    };
    let surer = findings.iter().filter(|finding| finding.confidence > Confidence::Hint);
    // That it is in a function with all of the time says little of a finding that costs a tenth of it.
    let surer: Vec<(f64, Vec<bool>)> = surer
        .filter_map(|finding| Some((place(finding)?, finding.cost.amount() as f64)))
        .map(|(function, cost)| (cost, evidence.stacks_with(|other| other == function)))
        .collect();
    let is_explained = |finding: &Finding| {
        let Some(function) = place(finding).filter(|_| finding.confidence == Confidence::Hint) else {
            return false;
        };
        let on = evidence.stacks_with(|other| other == function);
        let all = evidence.time_where(|stack| on[stack]);
        surer.iter().any(|(cost, surer)| {
            *cost >= MOST * all && evidence.time_where(|stack| on[stack] && surer[stack]) >= MOST * all
        })
    };
    let explained: Vec<bool> = findings.iter().map(is_explained).collect();
    findings
        .into_iter()
        .zip(explained)
        .filter(|(_, explained)| !explained)
        .map(|(finding, _)| finding)
        .collect()
}
