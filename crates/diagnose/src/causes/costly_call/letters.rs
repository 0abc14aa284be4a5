//! Single letters that are formatted: `snprintf(…, "%c", letter)` for each letter of a text reads its format, makes a stream and copies a letter, which
//! takes many times as long as to store it.
//!
//! How long texts are is noted where the collector follows short pieces of the run instruction by instruction (`slowpath-collect`, `ahead`).

use super::unread::{Of, PIECES, TEXTS, formatting, texts};
use super::{CAUSE, Fact, GATE};
use crate::Evidence;
use crate::calls::place;
use crate::candidate::Candidate;
use crate::causes::redundant_computation::is_of_library;
use crate::causes::words::{count, time};
use crate::draft::Draft;
use crate::evidence::heaviest;
use crate::findings::{Basis, Confidence, Cost, Sure};
use slowpath_interfaces::without_arguments;

/// Bytes of a text on average: single letters with a longer text now and then, or two digits. In tinyxml2 it was 1.5.
const LETTERS: f64 = 2.0;
/// Share of the time in formatting that goes: something must store the character. In `tests/pairs/escape_text` the fix saved 1.02 times what this comes to.
const SPARED: f64 = 0.95;

pub(super) fn find(evidence: &Evidence<'_>) -> Vec<Candidate> {
    texts(evidence)
        .into_iter()
        .filter_map(|((process, function), of)| finding(evidence, process, function, &of))
        .collect()
}

fn finding(evidence: &Evidence<'_>, process: u32, function: u32, of: &Of) -> Option<Candidate> {
    let length = of.bytes? as f64 / of.formatted.max(1) as f64;
    let enough = of.formatted >= TEXTS && of.pieces.len() >= PIECES;
    if !enough || length > LETTERS || length == 0.0 || is_of_library(&evidence.frame(function)) {
        return None;
    }
    let (ns, stacks) = formatting(evidence, process, function);
    let gain = SPARED * ns;
    if !GATE.may_pass(evidence, gain) {
        return None;
    }
    let name = without_arguments(evidence.name(function)).to_owned();
    let draft = Draft {
        not_known: "whether all of what it formats is so short",
        variant: "letters",
        explanation: vec![
            format!(
                "slowpath followed short pieces of the run instruction by instruction. There {name} formatted {} texts, of {length:.1} characters each on average",
                count(of.formatted as f64)
            ),
            format!("formatting for it took {} of CPU time", time(ns)),
        ],
        facts: vec![
            Fact::new("texts looked at", of.formatted as f64, "1", "ahead", Sure::Exact),
            Fact::new("characters of a text", length, "bytes", "ahead", Sure::Exact),
        ],
        advice: "Append the characters themselves to the output (push_back, putc, buffer[n++] = c) where they are passed one by one, or copy all up to the next \
                 one that must be escaped at once. Keep printf for what has to be formatted"
            .to_owned(),
        ..Draft::new(
            &CAUSE,
            "formats one or two characters at a time",
            Confidence::Likely,
            Cost::new(Basis::Cpu, ns, gain),
            place(evidence, heaviest(&stacks), Some(function), process),
        )
    };
    Some(draft.candidate(evidence, GATE, process))
}
