//! Texts that are formatted for nothing: the message of a log whose level is looked at afterwards.
//!
//! The collector follows short pieces of the run instruction by instruction (`slowpath-collect`, `ahead`) and notes of each text that the C library formats into a function's own memory what comes
//! first: that somebody reads a part of it, or that its beginning is overwritten or the function returns.

use super::{CAUSE, Fact, GATE};
use crate::Evidence;
use crate::calls::place;
use crate::candidate::Candidate;
use crate::causes::redundant_computation::is_of_library;
use crate::causes::words::{count, time};
use crate::draft::Draft;
use crate::evidence::heaviest;
use crate::findings::{Basis, Confidence, Cost, Sure};
use slowpath_interfaces::{formats, without_arguments};
use std::collections::{BTreeMap, BTreeSet};

/// Variant of these findings, for their fingerprints.
pub(in crate::causes) const UNREAD: &str = "unread-text";
/// Texts of one function whose fate must be known, in so many pieces of the run: …
pub(super) const TEXTS: u64 = 50;
pub(super) const PIECES: usize = 3;
/// … and this share of all that it had formatted unread, but for the last one of each piece.
const NEARLY_ALL: f64 = 0.95;

/// What became of the texts of a function.
#[derive(Default)]
pub(super) struct Of {
    pub formatted: u64,
    read: u64,
    unread: u64,
    /// Of all; none if it is not known.
    pub bytes: Option<u64>,
    /// Pieces of the run.
    pub pieces: BTreeSet<u32>,
}

/// What became of texts, by process and by the function that had them formatted.
pub(super) fn texts(evidence: &Evidence<'_>) -> BTreeMap<(u32, u32), Of> {
    let tables = &evidence.recording.tables;
    let mut all: BTreeMap<(u32, u32), Of> = BTreeMap::new();
    for row in &tables.formatted {
        let Some(function) = evidence.function_at(row.location) else { continue };
        let thread = tables.stretches[row.stretch as usize].thread;
        let of = all.entry((tables.threads[thread as usize].process, function)).or_default();
        of.read += row.read;
        of.formatted += row.formatted;
        of.unread += row.unread;
        of.bytes = row.bytes.map(|bytes| bytes + of.bytes.unwrap_or(0));
        of.pieces.insert(row.stretch);
    }
    all
}

pub(super) fn find(evidence: &Evidence<'_>) -> Vec<Candidate> {
    texts(evidence)
        .into_iter()
        .filter_map(|((process, function), of)| finding(evidence, process, function, &of))
        .collect()
}

fn finding(evidence: &Evidence<'_>, process: u32, function: u32, of: &Of) -> Option<Candidate> {
    // Of the last text of a piece it is not known.
    let known = of.formatted.saturating_sub(of.pieces.len() as u64).max(of.read + of.unread);
    let share = of.unread as f64 / known.max(1) as f64;
    if known < TEXTS
        || of.pieces.len() < PIECES
        || share < NEARLY_ALL
        || is_of_library(&evidence.frame(function))
    {
        return None;
    }
    let (ns, stacks) = formatting(evidence, process, function);
    let gain = ns * share;
    if !GATE.may_pass(evidence, gain) {
        return None;
    }
    let name = without_arguments(evidence.name(function)).to_owned();
    let draft = Draft {
        not_known: "whether only the length of a text is used, and whether texts are needed in other runs, as when the program logs more",
        variant: UNREAD,
        explanation: vec![
            format!(
                "slowpath followed short pieces of the run instruction by instruction. There {} of {} texts that {name} had formatted were gone before anything had read them",
                count(of.unread as f64),
                count(known as f64)
            ),
            format!("formatting for it took {} of CPU time", time(ns)),
        ],
        facts: vec![
            Fact::new("texts looked at", known as f64, "1", "ahead", Sure::Exact),
            Fact::new("texts that nobody read", of.unread as f64, "1", "ahead", Sure::Exact),
        ],
        advice: format!(
            "Look first whether anybody wants the text, such as at the level of the log, and have it formatted only then. If {name} is what looks, move that before the formatting"
        ),
        ..Draft::new(
            &CAUSE,
            "formats texts that nobody reads",
            Confidence::Likely,
            Cost::new(Basis::Cpu, ns, gain),
            place(evidence, heaviest(&stacks), Some(function), process),
        )
    };
    Some(draft.candidate(evidence, GATE, process))
}

/// CPU time in formatting that a function has called, ns, by stack.
pub(super) fn formatting(evidence: &Evidence<'_>, process: u32, function: u32) -> (f64, BTreeMap<u32, f64>) {
    let (mut ns, mut stacks) = (0.0, BTreeMap::new());
    let tables = &evidence.recording.tables;
    for (sample, weight) in tables.samples.iter().zip(&evidence.weights).filter(|(sample, _)| sample.on_cpu) {
        let Some(stack) = sample.stack.filter(|_| evidence.process_of(sample) == process) else { continue };
        let on: Vec<u32> = evidence.locations(stack).filter_map(|at| evidence.function_at(at)).collect();
        let is_called =
            on.windows(2).any(|two| two[1] == function && formats(evidence.name(two[0])).is_some());
        if is_called {
            ns += weight;
            *stacks.entry(stack).or_default() += weight;
        }
    }
    (ns, stacks)
}
