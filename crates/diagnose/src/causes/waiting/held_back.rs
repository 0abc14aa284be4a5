//! The first part of a message arrives, and the rest some 40 ms later, although the other side wrote both at once: see `delayed_ack`, which looks
//! at a side that writes and then waits. Here the wait is the reader's, so the writer must be in the recording as well.

use super::super::words::{count, time};
use super::delayed_ack::{DELAYED_NS, GATE, MOST, NO_DELAY, SMALL, TITLE, VARIANT, WAITED};
use crate::Evidence;
use crate::calls::{CallSite, Calls, Sum, fact, from, is_receive, is_send, is_single, place};
use crate::candidate::Candidate;
use crate::draft::Draft;
use crate::findings::{Basis, Confidence, Cost, Sure};
use slowpath_recording::tables::Syscall;
use slowpath_syscalls::POLLS;
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
    /// It has read so many bytes since it wrote; then it waited for more; of that one wait counts.
    reads: u64,
    reads_on: bool,
    counted: bool,
}

/// A wait for the rest of a message: in a call that reads, or that asks whether there is something to read.
struct Wait<'a> {
    row: &'a Syscall,
    socket: u32,
    /// Bytes of the first piece, and of what came after the wait.
    first: u64,
    rest: u64,
    /// Some reads of the socket are only known added up, as where it is read byte by byte: the first piece may have had more bytes.
    at_least: bool,
}

/// A message that was written right behind a small one: when, by which thread, and where; and the bytes of both.
struct Second {
    end_ns: u64,
    first: u64,
    bytes: u64,
    thread: u32,
    socket: u32,
    stack: Option<u32>,
    own: Option<u32>,
}

/// `reported`: threads and sockets of which the writer's own waits are reported already.
pub(super) fn find(
    evidence: &Evidence<'_>,
    calls: &Calls<'_>,
    reported: &HashSet<(u32, u32)>,
) -> Vec<Candidate> {
    // Who wakes whom is not known there.
    if evidence.by_ptrace {
        return Vec::new();
    }
    let mut sides: HashMap<u32, Side> = HashMap::new();
    let mut seconds: Vec<Second> = Vec::new();
    let mut places: BTreeMap<CallSite, Vec<Wait<'_>>> = BTreeMap::new();
    // Of each socket the messages that were read in more than one call.
    let mut messages: HashMap<u32, u64> = HashMap::new();
    let added_up: HashSet<(u32, Option<u32>)> = (calls.all().map(|(row, _)| row))
        .filter(|row| row.count > 1 && is_receive(row))
        .map(|row| (row.thread, row.file))
        .collect();
    // Of each thread the call in which it asked last whether there is something to read, and had to wait.
    let mut asked: HashMap<u32, &Syscall> = HashMap::new();
    for (row, process) in calls.all() {
        if POLLS.contains(&row.number) {
            match row.blocked_ns > 0 && is_single(row) && row.result > 0 {
                true => asked.insert(row.thread, row),
                false => asked.remove(&row.thread),
            };
        }
        let (sends, receives) = (is_send(row), is_receive(row));
        if !sends && !receives {
            continue;
        }
        // What was asked for was this.
        let before = asked.remove(&row.thread);
        let socket = calls.file(row).filter(|file| file.kind == "socket").map(|file| file.file);
        let Some(socket) = socket.filter(|_| row.result > 0) else { continue };
        let side = sides.entry(row.thread).or_default();
        if side.socket != Some(socket) {
            *side = Side { socket: Some(socket), ..Side::default() };
        }
        if sends {
            if let Some((first, _)) =
                side.wrote.filter(|(_, before)| is_single(row) && row.end_ns <= before + SOON_NS)
            {
                let (stack, own) = (row.stack, calls.own(row));
                let (end_ns, bytes, thread) = (row.end_ns, row.bytes, row.thread);
                seconds.push(Second { end_ns, first, bytes, thread, socket, stack, own });
            }
            let small = is_single(row) && row.bytes <= SMALL;
            let wrote = small.then_some((row.bytes, row.end_ns));
            *side = Side { socket: Some(socket), wrote, ..Side::default() };
            continue;
        }
        let wait = before.unwrap_or(row);
        if side.reads > 0 {
            *messages.entry(socket).or_default() += u64::from(!side.reads_on);
            side.reads_on = true;
            if is_single(row) && DELAYED_NS.contains(&wait.blocked_ns) && !side.counted {
                side.counted = true;
                let (first, rest) = (side.reads, row.bytes);
                let at_least = added_up.contains(&(row.thread, row.file));
                let waits = places.entry((process, calls.own(wait))).or_default();
                waits.push(Wait { row: wait, socket, first, rest, at_least });
            }
        }
        side.wrote = None;
        side.reads += row.bytes;
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
    seconds.sort_by_key(|second| second.end_ns);
    for waits in places.values_mut() {
        waits.retain(|wait| !woken.contains(&(wait.row.thread, wait.row.time_ns)));
        waits.retain(|wait| {
            let second = writer(wait, &seconds);
            let is_reported = second.is_some_and(|second| reported.contains(&(second.thread, second.socket)));
            if is_reported && let Some(left) = messages.get_mut(&wait.socket) {
                *left -= 1;
            }
            !is_reported
        });
    }
    let found = places.into_iter().map(|(place, waits)| {
        let sockets: HashSet<u32> = waits.iter().map(|wait| wait.socket).collect();
        let all = sockets.iter().filter_map(|socket| messages.get(socket)).sum();
        finding(evidence, calls, place, &waits, all, &seconds)
    });
    found.flatten().collect()
}

/// Who wrote what a wait ended with, long before.
fn writer<'a>(of: &Wait<'_>, seconds: &'a [Second]) -> Option<&'a Second> {
    let wait = of.row;
    let first = seconds.partition_point(|second| second.end_ns < wait.time_ns.saturating_sub(SOON_NS));
    let until = wait.end_ns.saturating_sub(HELD_NS);
    let held = seconds[first..].iter().take_while(|second| second.end_ns <= until);
    // The first piece arrives alone; what is written behind the second while both are held back arrives with it.
    let is_it = |second: &&Second| {
        let is_first = second.first == of.first || of.at_least && second.first > of.first;
        second.thread != wait.thread && is_first && second.bytes <= of.rest
    };
    held.filter(is_it).last()
}

fn finding(
    evidence: &Evidence<'_>,
    calls: &Calls<'_>,
    (_, own): CallSite,
    waits: &[Wait<'_>],
    all: u64,
    seconds: &[Second],
) -> Option<Candidate> {
    let mut delayed = Sum::default();
    let mut writers: BTreeMap<(u32, Option<u32>, Option<u32>), u64> = BTreeMap::new();
    for wait in waits {
        if let Some(Second { thread, stack, own, .. }) = writer(wait, seconds) {
            delayed.add(wait.row);
            *writers.entry((*thread, *stack, *own)).or_default() += 1;
        }
    }
    let cost = delayed.blocked_ns;
    let few = delayed.count < WAITED || (delayed.count as f64) < MOST * all as f64;
    if few || !GATE.may_pass(evidence, cost) {
        return None;
    }
    let ((thread, at, by), _) = writers.into_iter().max_by_key(|(_, times)| *times)?;
    let of = calls.threads()[thread as usize].process;
    let draft = Draft {
        not_known: "whether something else held the message back for that long: acknowledgements are not seen",
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
            fact("messages that were read in several calls", all as f64, "messages", Sure::Exact),
            fact("time waited", cost, "ns", Sure::Exact),
        ],
        advice: NO_DELAY.to_owned(),
        ..Draft::new(&super::CAUSE, TITLE, Confidence::Likely, Cost::new(Basis::Wall, cost, cost), place(evidence, at, by, of))
    };
    Some(draft.candidate(evidence, GATE, of))
}
