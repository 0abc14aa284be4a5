//! Every operation waits until the disk has it: fsync and its like after each small record, or writes to a file that was
//! opened with `O_SYNC`. The cost is elapsed time.

use super::words::{count, time};
use super::{Find, Needs, Spec};
use crate::Evidence;
use crate::calls::{CallSite, Calls, Sum, fact, from, place};
use crate::candidate::Candidate;
use crate::draft::Draft;
use crate::findings::{Basis, Confidence, Cost, Sure};
use crate::gate::Gate;
use slowpath_syscalls::{MSYNC, READS, RECEIVES, SENDS, SYNCS, WRITES, WRITES_AT};
use std::collections::BTreeMap;

/// See the file's head.
pub(super) const CAUSE: Spec = Spec {
    slug: "sync-per-operation",
    title: "every operation waits for the disk",
    symptom: "a sync for each small record",
    page: include_str!("../../../../docs/causes/sync-per-operation.md"),
    needs: &[Needs::Syscalls],
    find: Find::InRecording(find),
};

/// Syncs from one place before they count, and the most bytes written for each: who syncs after a large block means it.
const SYNCED: u64 = 20;
const BYTES: f64 = 16_384.0;
/// Less is a fair price for what is safe on the disk.
const GATE: Gate = Gate::TENTH_OF_WALL;
/// If other threads use CPUs for this share of the waits, other work goes on meanwhile.
const BUSY: f64 = 0.5;

/// Waits for each turn of a peer before they are not its commits: a file, its folder, a log and its mark.
const A_TURN: u64 = 4;

/// A thread and its peer: what it did since its last wait for the disk.
#[derive(Default, Clone, Copy)]
struct Turn {
    /// The socket that it last wrote to.
    told: Option<u32>,
    /// Then it read from it.
    asked: bool,
}

/// Waits of one place, when they were, and for which files, by path.
#[derive(Default)]
struct Waits {
    /// How often the place came after an answer to a peer that then asked again, and which one that was.
    turns: BTreeMap<u32, u64>,
    sum: Sum,
    intervals: Vec<(u32, u64, u64)>,
    files: BTreeMap<String, u64>,
    /// What the process wrote between two syncs, to any file, where single writes are not recorded.
    bytes: u64,
}

fn find(evidence: &Evidence<'_>) -> Vec<Candidate> {
    let calls = Calls::new(evidence);
    let mut sums: BTreeMap<CallSite, Waits> = BTreeMap::new();
    // Bytes written to each file by each process.
    let mut written: BTreeMap<(u32, u32), u64> = BTreeMap::new();
    let mut talks: BTreeMap<u32, Turn> = BTreeMap::new();
    for (row, process) in calls.all() {
        if let Some(socket) = calls.file(row).filter(|file| file.kind == "socket") {
            let turn = talks.entry(row.thread).or_default();
            if WRITES.contains(&row.number) || SENDS.contains(&row.number) {
                *turn = Turn { told: Some(socket.file), asked: false };
            } else if READS.contains(&row.number) || RECEIVES.contains(&row.number) {
                turn.asked |= turn.told == Some(socket.file);
            }
        }
        let writes = WRITES.contains(&row.number) || WRITES_AT.contains(&row.number);
        if let Some(file) = row.file.filter(|_| writes && row.result >= 0) {
            *written.entry((process, file)).or_default() += row.bytes;
        }
        if !(SYNCS.contains(&row.number) || writes && row.sync) || row.result < 0 {
            continue;
        }
        // Pages that were written to in memory are in no count of bytes.
        if evidence.by_ptrace && row.number == MSYNC {
            continue;
        }
        let Waits { turns, sum, intervals, files, bytes } =
            sums.entry((process, calls.own(row))).or_default();
        if evidence.by_ptrace {
            *bytes = bytes.saturating_add(row.argument); // whatever the program asked for
        }
        sum.add(row);
        if let Some(Turn { told: Some(peer), asked: true }) = talks.remove(&row.thread) {
            *turns.entry(peer).or_default() += row.count;
        }
        if row.count == 1 {
            intervals.push((row.thread, row.time_ns, row.end_ns));
        }
        if let Some(file) = calls.file(row) {
            files.insert(file.path.clone(), u64::from(file.file));
        }
    }
    let mut findings = Vec::new();
    for ((process, own), Waits { turns, sum, intervals, files, bytes }) in sums {
        let told: u64 = files.values().filter_map(|file| written.get(&(process, *file as u32))).sum();
        let bytes = told.max(bytes);
        let each = bytes as f64 / sum.count.max(1) as f64;
        let cost = sum.duration_ns;
        let gain = cost * (1.0 - 1.0 / sum.count.max(1) as f64);
        if sum.count < SYNCED || each > BYTES || !GATE.may_pass(evidence, gain) {
            continue;
        }
        // One peer that asks for something only when it knows that what was before is safe: there is nothing to put together.
        let turns = turns.into_values().max().unwrap_or(0);
        if calls.busy_share(&intervals) > BUSY || turns * A_TURN >= sum.count {
            continue;
        }
        let stack = sum.stack();
        let names: Vec<String> = files.into_keys().filter(|path| !path.is_empty()).collect();
        findings.push(
            Draft {
                explanation: vec![
                    format!(
                        "{} times{}, the program waited for {} to be written to disk, {} each time",
                        count(sum.count as f64),
                        from(evidence, stack, own),
                        if names.is_empty() { "a file".to_owned() } else { crate::calls::some(&names, 3) },
                        time(cost / sum.count as f64)
                    ),
                    format!(
                        "on average {} bytes were written between two waits; nothing else in the program ran \
                         meanwhile",
                        count(each)
                    ),
                ],
                facts: vec![
                    fact("waits for the disk", sum.count as f64, "calls", Sure::Exact),
                    fact("time waited", cost, "ns", Sure::Exact),
                    fact("bytes for each", each, "bytes", Sure::Exact),
                ],
                files: evidence.concerned(names),
                advice: "Let several records share one sync (group commit): collect records for a few ms, sync once, \
                         then confirm all of them"
                    .to_owned(),
                ..Draft::new(&CAUSE, "every operation waits for the disk", Confidence::Likely, Cost::new(Basis::Wall, cost, gain), place(evidence, stack, own, process))
            }
            .candidate(evidence, GATE, process),
        );
    }
    findings
}
