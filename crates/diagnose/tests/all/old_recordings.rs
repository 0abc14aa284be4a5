//! Recordings that older versions wrote are judged as these judged them.

use slowpath_diagnose::diagnose;
use slowpath_diagnose::findings::{Basis, Confidence, Sure};
use slowpath_recording::Recording;
use std::path::PathBuf;

/// Format 1.2, by ptrace, of a program that starts itself 300 times: only the text of its collector says that ptrace traced it.
#[test]
fn one_by_ptrace_without_a_value_for_it_is_still_known_as_such() {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/data/ptrace-1.2");
    let recording = Recording::open(&path).expect("it opens");
    assert_eq!((recording.about.format.minor, recording.about.tracer), (2, None));
    assert!(recording.about.by_ptrace() && recording.damaged.is_empty());
    let findings = diagnose(&recording).findings;
    assert_eq!(findings.len(), 1, "{findings:#?}");
    let finding = &findings[0];
    assert_eq!(finding.cause, "process-per-operation");
    assert_eq!((finding.confidence, finding.cost.basis()), (Confidence::Likely, Basis::Wall));
    assert_eq!((finding.cost.amount() / 10_000_000, finding.cost.gain() / 10_000_000), (31, 23));
    assert!(finding.explanation.iter().any(|one| one.starts_with("times are estimates")), "{finding:#?}");
    assert!(finding.facts.iter().all(|fact| fact.unit != "ns" || fact.sure != Sure::Exact));
}
