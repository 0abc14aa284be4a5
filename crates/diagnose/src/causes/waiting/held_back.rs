//! The first part of a message arrives, and the rest some 40 ms later, although the other side wrote both at once: see `delayed_ack`, which looks
//! at a side that writes and then waits. Here the wait is the reader's, so the writer must be in the recording as well.

use super::super::words::{count, time};
use super::delayed_ack::{DELAYED_NS, GATE, MOST, NO_DELAY, SMALL, TITLE, VARIANT, WAITED};
use crate::Evidence;
use crate::calls::{CallSite, Calls, Sum, fact, from, is_receive, is_send, place};
use crate::candidate::Candidate;
use crate::draft::Draft;
use crate::findings::{Basis, Confidence, Cost, Sure};
use slowpath_recording::tables::Syscall;
use std::collections::{BTreeMap, HashMap, HashSet};

/// What arrives had been written so long before, ns: it was held back for most of the 40 ms.
const HELD_NS: u64 = 25_000_000;
/// Both were written so soon one after the other, and the first was read so soon after that, ns: who works in between has a reason of its own.
const SOON_NS: u64 = 10_000_000;

/// What a thread did last on a socket.
#[derive(Default)]
struct Side {
    socket: Option<u32>,
    /// It wrote a small message and read nothing since: of so many bytes, and when that was over.
    wrote: Option<(u64, u64)>,
    /// It wrote, and then read so many bytes; then it waited for more; of that one wait counts.
    reads: Option<u64>,
    reads_on: bool,
    counted: bool,
}

/// A message that was written right behind a small one: when, by which thread, and where; and the bytes of both.
struct Second {
    end_ns: u64,
    first: u64,
    bytes: u64,
    thread: u32,
    stack: Option<u32>,
    own: Option<u32>,
}

/// Waits of one place for the rest of a message, with the bytes of its first piece, and how many messages there were of which a rest was waited for.
#[derive(Default)]
struct Rests<'a> {
    delayed: Vec<(&'a Syscall, u64)>,
    all: u64,
}

pub(super) fn find(evidence: &Evidence<'_>, calls: &Calls<'_>) -> Vec<Candidate> {
    // Who wakes whom is not known there.
    if evidence.by_ptrace {
        return Vec::new();
    }
    let mut sides: HashMap<u32, Side> = HashMap::new();
    let mut seconds: Vec<Second> = Vec::new();
    let mut places: BTreeMap<CallSite, Rests<'_>> = BTreeMap::new();
    for (row, process) in calls.all().filter(|(row, _)| row.result > 0) {
        let (sends, receives) = (is_send(row), is_receive(row));
        if !sends && !receives {
            continue;
        }
        let Some(socket) = calls.file(row).filter(|file| file.kind == "socket").map(|file| file.file) else {
            continue;
        };
        let side = sides.entry(row.thread).or_default();
        if side.socket != Some(socket) {
            *side = Side { socket: Some(socket), ..Side::default() };
        }
        if sends {
            if let Some((first, _)) =
                side.wrote.filter(|(_, before)| row.count == 1 && row.end_ns <= before + SOON_NS)
            {
                let (stack, own) = (row.stack, calls.own(row));
                let (end_ns, bytes, thread) = (row.end_ns, row.bytes, row.thread);
                seconds.push(Second { end_ns, first, bytes, thread, stack, own });
            }
            let small = row.count == 1 && row.bytes <= SMALL;
            let wrote = small.then_some((row.bytes, row.end_ns));
            *side = Side { socket: Some(socket), wrote, ..Side::default() };
            continue;
        }
        if let Some(first) = side.reads {
            let rests = places.entry((process, calls.own(row))).or_default();
            rests.all += u64::from(!side.reads_on);
            side.reads_on = true;
            if row.count == 1 && DELAYED_NS.contains(&row.blocked_ns) && !side.counted {
                side.counted = true;
                rests.delayed.push((row, first));
            }
        }
        side.wrote = None;
        side.reads.get_or_insert(row.bytes);
    }
    // What a timer releases nobody wakes; who writes it at last does.
    let woken: HashSet<(u32, u64)> = evidence
        .recording
        .tables
        .waits
        .iter()
        .filter(|wait| wait.waker.is_some())
        .map(|wait| (wait.thread, wait.time_ns))
        .collect();
    for rests in places.values_mut() {
        rests.delayed.retain(|(wait, _)| !woken.contains(&(wait.thread, wait.time_ns)));
    }
    seconds.sort_by_key(|second| second.end_ns);
    let found =
        places.into_iter().filter_map(|(place, rests)| finding(evidence, calls, place, &rests, &seconds));
    found.collect()
}

/// Who wrote what a wait ended with, long before.
fn writer<'a>(wait: &Syscall, first_bytes: u64, seconds: &'a [Second]) -> Option<&'a Second> {
    let first = seconds.partition_point(|second| second.end_ns < wait.time_ns.saturating_sub(SOON_NS));
    let until = wait.end_ns.saturating_sub(HELD_NS);
    let held = seconds[first..].iter().take_while(|second| second.end_ns <= until);
    // The first piece arrives alone; what is written behind the second while both are held back arrives with it.
    let is_it = |second: &&Second| {
        second.thread != wait.thread && second.first == first_bytes && second.bytes <= wait.bytes
    };
    held.filter(is_it).last()
}

fn finding(
    evidence: &Evidence<'_>,
    calls: &Calls<'_>,
    (_, own): CallSite,
    rests: &Rests<'_>,
    seconds: &[Second],
) -> Option<Candidate> {
    let mut delayed = Sum::default();
    let mut writers: BTreeMap<(u32, Option<u32>, Option<u32>), u64> = BTreeMap::new();
    for (wait, first) in &rests.delayed {
        if let Some(Second { thread, stack, own, .. }) = writer(wait, *first, seconds) {
            delayed.add(wait);
            *writers.entry((*thread, *stack, *own)).or_default() += 1;
        }
    }
    let cost = delayed.blocked_ns;
    let few = delayed.count < WAITED || (delayed.count as f64) < MOST * rests.all as f64;
    if few || !GATE.may_pass(evidence, cost) {
        return None;
    }
    let ((thread, at, by), _) = writers.into_iter().max_by_key(|(_, times)| *times)?;
    let of = calls.threads()[thread as usize].process;
    let draft = Draft {
        variant: VARIANT,
        explanation: vec![
            format!(
                "{} times a message was written to a socket in several pieces{}. The reader got the first piece and waited{} for the \
                 rest: {} each time, {} in total",
                count(delayed.count as f64),
                from(evidence, at, by),
                from(evidence, delayed.stack(), own).replacen(" from ", " in ", 1),
                time(cost / delayed.count as f64),
                time(cost)
            ),
            "the reader's side delays its acknowledgement of the first piece by 40 ms; until then the writer's kernel holds the rest \
             back (Nagle's algorithm)"
                .to_owned(),
        ],
        facts: vec![
            fact("delayed waits", delayed.count as f64, "calls", Sure::Exact),
            fact("messages of which a rest was waited for", rests.all as f64, "messages", Sure::Exact),
            fact("time waited", cost, "ns", Sure::Exact),
        ],
        advice: NO_DELAY.to_owned(),
        ..Draft::new(&super::CAUSE, TITLE, Confidence::Likely, Cost::new(Basis::Wall, cost, cost), place(evidence, at, by, of))
    };
    Some(draft.candidate(evidence, GATE, of))
}
