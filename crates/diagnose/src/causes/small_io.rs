//! Bytes are moved a few at a time: one write a line, one read a byte, where a buffer would do.
//!
//! Terminals and sockets are left out: there a small message may be wanted at once. So is a file in which the program
//! seeks about. The cost is the time in the kernel, so that many calls which cost nothing are none.

use super::words::{count, time};
use super::{Find, Needs, Spec};
use crate::Evidence;
use crate::calls::{Calls, Draft, READS, SEEK, Sum, WRITES, fact, from};
use crate::candidate::Candidate;
use crate::findings::{Basis, Confidence, Sure};
use crate::gate::{Gate, Whole};
use std::collections::BTreeMap;

/// See the file's head.
pub(super) const CAUSE: Spec = Spec {
    slug: "small-io",
    title: "tiny writes, tiny reads",
    symptom: "a few bytes per call",
    page: include_str!("../../../../docs/causes/small-io.md"),
    needs: &[Needs::AllSyscalls],
    find: Find::InRecording(find),
};

/// Calls on one file from one place before they count, and the most bytes a call on average.
const CALLS: u64 = 1_000;
const BYTES: f64 = 512.0;
/// What one call could move.
const BLOCK: f64 = 65_536.0;
/// A read of this share of its file's size is none of a few bytes.
const WHOLE: f64 = 0.1;
/// Seeks for each call from which it is no sequence.
const SEEKS: f64 = 0.1;
/// A program that mostly waits loses little by CPU time alone.
const GATE: Gate = Gate { of: Whole::Longer, ..Gate::TWENTIETH_OF_CPU };

fn find(evidence: &Evidence<'_>) -> Vec<Candidate> {
    let calls = Calls::new(evidence);
    let mut sums: BTreeMap<(u32, u32, Option<u32>, bool), Sum> = BTreeMap::new();
    let mut seeks: BTreeMap<(u32, u32), u64> = BTreeMap::new();
    for (row, process) in calls.all() {
        let Some(file) = calls.file(row) else { continue };
        // A pipe refuses to be sought in, and a shell asks it before each line.
        if row.number == SEEK && row.result >= 0 {
            *seeks.entry((process, file.file)).or_default() += row.count;
        }
        let (reads, writes) = (READS.contains(&row.number), WRITES.contains(&row.number));
        if !(reads || writes) || row.result < 0 || !matches!(file.kind.as_str(), "file" | "pipe" | "device") {
            continue;
        }
        sums.entry((process, file.file, calls.own(row), writes)).or_default().add(row);
    }
    let mut findings = Vec::new();
    for ((process, file, own, writes), sum) in sums {
        let average = sum.bytes as f64 / sum.count.max(1) as f64;
        let sought = seeks.get(&(process, file)).copied().unwrap_or(0) as f64;
        if sum.count < CALLS || average > BYTES || sought > SEEKS * sum.count as f64 || sum.bytes == 0 {
            continue;
        }
        // A small file that is read whole takes small reads.
        let size = evidence.recording.tables.files[file as usize].size as f64;
        if !writes && size > 0.0 && average >= WHOLE * size {
            continue;
        }
        let needed = (sum.bytes as f64 / BLOCK).ceil().max(1.0);
        let cost = sum.working_ns();
        let gain = cost * (1.0 - needed / sum.count as f64);
        if !GATE.may_pass(evidence, gain) {
            continue;
        }
        let file = &evidence.recording.tables.files[file as usize];
        let what = match (file.path.as_str(), file.kind.as_str()) {
            ("", "file") => "a file".to_owned(),
            ("", kind) => format!("a {kind}"),
            (path, _) => path.to_owned(),
        };
        let (verb, way) = if writes { ("writes", "to") } else { ("reads", "from") };
        let stack = sum.stack();
        findings.push(
            Draft {
                cause: &CAUSE,
                title: if writes { "tiny writes" } else { "tiny reads" },
                // What is at the other end of a pipe may want each piece at once.
                confidence: if file.kind == "pipe" { Confidence::Likely } else { Confidence::Certain },
                basis: Basis::Cpu,
                cost_ns: cost,
                gain_ns: gain,
                gate: GATE,
                stack,
                own,
                process,
                explanation: vec![
                    format!(
                        "{} {verb} {way} {what}{}, {} bytes each on average",
                        count(sum.count as f64),
                        from(evidence, stack, own),
                        if average >= 10.0 { count(average) } else { format!("{average:.1}") }
                    ),
                    format!(
                        "this took {} in the kernel; in blocks of 64 KiB, the same {} bytes need {} {verb}",
                        time(cost),
                        count(sum.bytes as f64),
                        count(needed)
                    ),
                ],
                facts: vec![
                    fact("calls", sum.count as f64, "calls", Sure::Exact),
                    fact("bytes a call", average, "bytes", Sure::Exact),
                    fact("bytes in all", sum.bytes as f64, "bytes", Sure::Exact),
                    fact("time in the kernel", cost, "ns", Sure::Exact),
                    fact("calls needed in blocks of 64 KiB", needed, "calls", Sure::Fitted),
                ],
                files: vec![what],
                advice: if writes {
                    "Buffer the output and write it when the buffer is full; do not flush after each line \
                     (std::endl, fflush, an unbuffered stream)"
                        .to_owned()
                } else {
                    "Read through a buffer of several KiB".to_owned()
                },
            }
            .finish(evidence),
        );
    }
    findings
}
