//! Each step moves everything behind it: taking the first item from an array, or putting one in front, has `memmove` move all the others by
//! the size of an item. Its arguments say so, without a fit: it moves much, and not far.

use super::{CAUSE, GATE};
use crate::Evidence;
use crate::candidate::Candidate;
use crate::causes::runtime;
use crate::causes::words::{count, two_digits};
use crate::findings::{Basis, Confidence, Fact, Finding, Sure};
use crate::walks::{self, Entries};

/// Moves that must have been noted: half of a burst.
const NOTED: usize = 32;
/// How many times as much is moved as it is moved by, items in other words. Buffers from which the front was used up stay below: they are
/// moved once most of them was.
const ITEMS: f64 = 64.0;
/// Share of the moves that must be such.
const MOSTLY: f64 = 0.9;

/// All that were seen.
pub(super) fn find(evidence: &Evidence<'_>) -> Vec<Candidate> {
    let copies = |one: &Entries<'_>| {
        let frame = evidence.frame(one.function);
        one.one_loop.is_none() && runtime::is_name(&frame) && runtime::copies_bytes(&frame)
    };
    walks::all(evidence).iter().filter(|one| copies(one)).filter_map(|one| judged(evidence, one)).collect()
}

fn judged(evidence: &Evidence<'_>, entries: &Entries<'_>) -> Option<Candidate> {
    let noted = entries.noted();
    let (mut items, mut bytes, mut shifts) = (0.0, 0.0, 0usize);
    for row in entries.bursts.iter().flatten() {
        let [to, from, size] = row.addresses[..] else { continue };
        let by = to.abs_diff(from);
        if by > 0 && by < size && size as f64 >= ITEMS * by as f64 {
            items += (size / by) as f64;
            bytes += size as f64;
            shifts += 1;
        }
    }
    if noted < NOTED || (shifts as f64) < MOSTLY * noted as f64 {
        return None;
    }
    let spent = entries.spent(evidence);
    let (cost, share) = (spent.cost_ns, shifts as f64 / noted as f64);
    let gain = cost * share;
    if !GATE.may_pass(evidence, gain) {
        return None;
    }
    let (path, _) = entries.place(evidence, spent.stack?);
    let frame = path.last()?.clone();
    let (items, bytes) = (items / shifts as f64, bytes / shifts as f64);
    let finding = Finding {
        cause: CAUSE.cause(),
        title: "each step moves everything behind it".to_owned(),
        confidence: Confidence::Certain,
        basis: Basis::Cpu,
        cost_ns: cost as u64,
        share: (cost / evidence.cpu_ns).min(1.0),
        gain_ns: gain as u64,
        cost_instructions: None,
        gain_instructions: None,
        function: frame.function.clone(),
        module: frame.module.clone(),
        file: frame.file.clone(),
        line: frame.line,
        path,
        files: Vec::new(),
        explanation: vec![
            format!(
                "{} of {} moves that were looked at moved about {} bytes by the size of one item: about {} items for each that is taken out \
                 or put in",
                count(shifts as f64),
                count(noted as f64),
                count(two_digits(bytes)),
                count(two_digits(items)),
            ),
            format!("{} does the work", evidence.name(entries.function)),
        ],
        facts: vec![
            Fact::new("moves looked at", noted as f64, "calls", "probe", Sure::Exact),
            Fact::new("share that moves many items by one", share, "ratio", "probe", Sure::Exact),
            Fact::new("bytes a move", bytes, "bytes", "probe", Sure::Sampled),
            Fact::new("items a move", items, "1", "probe", Sure::Sampled),
        ],
        series: Vec::new(),
        advice: "Take from the end, keep a position or use a ring buffer or a list: an array moves everything behind an item that is taken \
                 out or put in"
            .to_owned(),
        fingerprint: String::new(),
    };
    Some(Candidate { finding, gate: Some(GATE), process: entries.walk.process })
}
