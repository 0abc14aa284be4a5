//! It asks, waits until it times out, asks again and is answered at once: the server that it asks first does not answer, and is asked first for each
//! question.
//!
//! That the second question is as long and answered soon tells it from what sends now and then and lets its waits expire as timers, as a game sends where its
//! player is. Who is asked is not known of datagrams; one that stays silent for long and has an address is `in_vain`'s.

use super::super::words::{count, time, times};
use crate::Evidence;
use crate::calls::{CallSite, Calls, Sum, fact, from, is_receive, is_send, place};
use crate::candidate::Candidate;
use crate::draft::Draft;
use crate::findings::{Basis, Confidence, Cost, Sure};
use crate::gate::Gate;
use slowpath_recording::tables::Syscall;
use slowpath_syscalls::POLLS;
use std::collections::{BTreeMap, HashMap, HashSet};

/// Waits that expired before they count.
const EXPIRED: u64 = 10;
/// Shorter ones are looks whether there is something, ns.
const LEAST_NS: u64 = 1_000_000;
/// Time after which it asks again, as a share of the wait; and in which it is answered then.
const SOON: f64 = 0.25;
/// Share of the waits that must have gone so.
const MOST: f64 = 0.8;
const EAGAIN: i64 = -11;
const GATE: Gate = Gate::TENTH_OF_WALL;

/// What a thread is at.
#[derive(Default)]
struct Asking {
    /// It has sent so many bytes and received nothing since.
    sent: Option<u64>,
    /// Waits that expired since it was answered last: where, and how long; and the bytes of the question.
    expired: Vec<(CallSite, u64)>,
    question: u64,
    /// When the last of them expired, and when it sent again.
    since_ns: u64,
    again_ns: Option<u64>,
}

#[derive(Default)]
struct Vain {
    sum: Sum,
    /// After so many it asked again and was answered at once.
    answered: u64,
}

pub(super) fn find(evidence: &Evidence<'_>, calls: &Calls<'_>) -> Vec<Candidate> {
    // Reads may not have been seen: an answer may have come.
    if evidence.by_ptrace {
        return Vec::new();
    }
    let mut asking: HashMap<u32, Asking> = HashMap::new();
    let mut vain: BTreeMap<CallSite, Vain> = BTreeMap::new();
    // Where answers were added up it is not known to which question each came.
    let added_up: HashSet<u32> = calls
        .all()
        .filter(|(row, _)| row.count > 1 && is_receive(row) && is_socket(calls, row))
        .map(|(row, _)| row.thread)
        .collect();
    for (row, process) in calls.all().filter(|(row, _)| row.count == 1 && !added_up.contains(&row.thread)) {
        let socket = is_socket(calls, row);
        let asking = asking.entry(row.thread).or_default();
        if socket && is_send(row) && row.result >= 0 {
            // It goes on without an answer, or asks for something else.
            if asking.again_ns.is_some() || asking.question != row.bytes {
                asking.expired.clear();
            }
            asking.sent = Some(row.bytes);
            asking.again_ns = Some(row.time_ns).filter(|_| !asking.expired.is_empty());
        } else if socket && is_receive(row) && row.result > 0 {
            for (at, _) in asking.expired.iter().filter(|(_, wait_ns)| asking.is_at_once(row, *wait_ns)) {
                vain.entry(*at).or_default().answered += 1;
            }
            *asking = Asking::default();
        } else if let Some(question) = asking.sent
            && has_expired(row, socket)
        {
            let at = (process, calls.own(row));
            vain.entry(at).or_default().sum.add(row);
            asking.expired.push((at, row.blocked_ns));
            (asking.sent, asking.since_ns, asking.again_ns) = (None, row.end_ns, None);
            asking.question = question;
        }
    }
    vain.into_iter().filter_map(|(at, vain)| finding(evidence, at, &vain)).collect()
}

impl Asking {
    /// Whether it asked again soon after a wait, and this is the answer to that.
    fn is_at_once(&self, answer: &Syscall, wait_ns: u64) -> bool {
        let soon = SOON * wait_ns as f64;
        self.again_ns.is_some_and(|again| {
            (again.saturating_sub(self.since_ns) as f64) < soon
                && (answer.end_ns.saturating_sub(again) as f64) < soon
        })
    }
}

fn is_socket(calls: &Calls<'_>, row: &Syscall) -> bool {
    calls.file(row).is_some_and(|file| file.kind == "socket")
}

/// A poll, or a receive with a timeout, ended without anything (EAGAIN).
fn has_expired(row: &Syscall, socket: bool) -> bool {
    let nothing =
        POLLS.contains(&row.number) && row.result == 0 || socket && is_receive(row) && row.result == EAGAIN;
    nothing && row.blocked_ns >= LEAST_NS
}
fn finding(evidence: &Evidence<'_>, (process, own): CallSite, vain: &Vain) -> Option<Candidate> {
    let Vain { sum, answered } = vain;
    // Once it has to find out who does not answer.
    let gain = sum.blocked_ns * (1.0 - 1.0 / sum.count.max(1) as f64);
    let often = sum.count >= EXPIRED && *answered as f64 >= MOST * sum.count as f64;
    if !often || !GATE.may_pass(evidence, gain) {
        return None;
    }
    let stack = sum.stack();
    let draft = Draft {
        variant: "no-answer",
        explanation: vec![
            format!(
                "{}{}, the program sent a question and waited {} on average for an answer until it timed out: {} in total",
                times(sum.count as f64),
                from(evidence, stack, own),
                time(sum.blocked_ns / sum.count as f64),
                time(sum.blocked_ns)
            ),
            format!("{} of these times it asked again and had an answer at once", count(*answered as f64)),
        ],
        facts: vec![
            fact("waits in vain", sum.count as f64, "calls", Sure::Exact),
            fact("asked again and answered at once", *answered as f64, "times", Sure::Exact),
            fact("time waited", sum.blocked_ns, "ns", Sure::Exact),
        ],
        advice: "Ask the one that answers first, and remember who did not answer, for some time: do not wait for it at each question. Or ask \
                 several at once and take the first answer"
            .to_owned(),
        ..Draft::new(
            &super::CAUSE,
            "waits for an answer that does not come",
            Confidence::Likely,
            Cost::new(Basis::Wall, sum.blocked_ns, gain),
            place(evidence, stack, own, process),
        )
    };
    Some(draft.candidate(evidence, GATE, process))
}
