//! It asks, waits until it times out, asks again and is answered at once: the server that it asks first does not answer, and is asked first for each
//! question. Or it sends a part of something, waits for a word of the other side until it times out, sends the rest and is answered at once: both sides
//! waited for each other.
//!
//! That the second question is as long and answered soon tells it from what sends now and then and lets its waits expire as timers, as a game sends where its
//! player is. Who is asked is not known of datagrams; one that stays silent for long and has an address is `in_vain`'s.

use super::super::words::{count, time, times};
use crate::Evidence;
use crate::calls::{CallSite, Calls, Sum, fact, from, is_receive, is_send, is_single, is_sleep, place};
use crate::candidate::Candidate;
use crate::draft::Draft;
use crate::findings::{Basis, Confidence, Cost, Sure};
use crate::gate::Gate;
use slowpath_recording::tables::Syscall;
use slowpath_syscalls::POLLS;
use std::collections::{BTreeMap, HashMap, HashSet};

/// Waits that expired before they count.
const EXPIRED: u64 = 10;
/// … and where it then goes on with something else, if they are so long: no frame of a game, no limited rate is.
const EXPIRED_LONG: u64 = 3;
const LONG_NS: u64 = 200_000_000;
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
    /// What it sent then was not the question again but more, on the same connection: so many bytes.
    goes_on: bool,
    rest: u64,
    /// The connection that it sent on last, and on which it sent the question.
    whom: Option<u32>,
    asked: Option<u32>,
}

#[derive(Default)]
struct Vain {
    sum: Sum,
    /// After so many it asked again and was answered at once.
    answered: u64,
    /// After so many, long ones, it sent something else and was answered at once.
    went_on: u64,
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
    for (row, process) in calls.all().filter(|(row, _)| is_single(row) && !added_up.contains(&row.thread)) {
        let socket = is_socket(calls, row);
        let asking = asking.entry(row.thread).or_default();
        if socket && is_send(row) && row.result >= 0 {
            asking.sends(row);
        } else if socket && is_receive(row) && row.result > 0 {
            for (at, wait_ns) in asking.expired.iter().filter(|(_, wait_ns)| asking.is_at_once(row, *wait_ns))
            {
                let vain = vain.entry(*at).or_default();
                vain.answered += u64::from(!asking.goes_on);
                vain.went_on += u64::from(asking.went_on(row) && *wait_ns >= LONG_NS);
            }
            *asking = Asking::default();
        } else if let Some(question) = asking.sent
            && has_expired(row, socket)
        {
            let whom = asking.whom;
            let at = (process, calls.own(row));
            vain.entry(at).or_default().sum.add(row);
            // It went on without an answer.
            if std::mem::take(&mut asking.goes_on) {
                asking.expired.clear();
            }
            (asking.asked, asking.rest) = (whom, 0);
            asking.expired.push((at, row.blocked_ns));
            (asking.sent, asking.since_ns, asking.again_ns) = (None, row.end_ns, None);
            asking.question = question;
        }
    }
    vain.into_iter().filter_map(|(at, vain)| finding(evidence, at, &vain)).collect()
}

impl Asking {
    /// It sends something: the question again, more of it, or something else.
    fn sends(&mut self, row: &Syscall) {
        if !self.expired.is_empty() {
            let same = row.file.is_some() && row.file == self.asked;
            let again = self.again_ns.is_none() && self.question == row.bytes;
            if !again && same && (self.again_ns.is_none() || self.goes_on) {
                self.goes_on = true;
                self.rest += row.bytes;
            } else if !again {
                self.expired.clear();
                self.goes_on = false;
            }
        }
        (self.sent, self.whom) = (Some(row.bytes), row.file);
        self.again_ns = self.again_ns.or(Some(row.time_ns)).filter(|_| !self.expired.is_empty());
    }

    /// Whether this answers the rest of what it began to send: that comes on the same connection and is no shorter, as a reminder would be.
    fn went_on(&self, answer: &Syscall) -> bool {
        self.goes_on && answer.file == self.asked && self.rest >= self.question
    }

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
    let nothing = POLLS.contains(&row.number) && !is_sleep(row) && row.result == 0
        || socket && is_receive(row) && row.result == EAGAIN;
    nothing && row.blocked_ns >= LEAST_NS
}
fn finding(evidence: &Evidence<'_>, (process, own): CallSite, vain: &Vain) -> Option<Candidate> {
    let Vain { sum, answered, went_on } = vain;
    let of_all = |times: u64| times as f64 >= MOST * sum.count as f64;
    let again = sum.count >= EXPIRED && of_all(*answered);
    let goes_on = sum.count >= EXPIRED_LONG && of_all(*went_on);
    if !(again || goes_on) {
        return None;
    }
    // Once it has to find out who does not answer.
    let found_out = if again { 1.0 / sum.count.max(1) as f64 } else { 0.0 };
    let gain = sum.blocked_ns * (1.0 - found_out);
    if !GATE.may_pass(evidence, gain) {
        return None;
    }
    let stack = sum.stack();
    let (sent, then, advice) = match again {
        true => (
            "a question",
            format!("{} of these times it asked again and had an answer at once", count(*answered as f64)),
            "Ask the one that answers first, and remember who did not answer, for some time: do not wait for it at each question. Or ask \
             several at once and take the first answer",
        ),
        false => (
            "something",
            format!(
                "{} of these times it then sent something else without having received anything, and had an answer at once",
                count(*went_on as f64)
            ),
            "Send all of it at once. If the program waits for the other side's word before it sends the rest, have the other side give it, wait for \
             a shorter time, or do without; in HTTP this is the header Expect: 100-continue (curl -H 'Expect:' leaves it out)",
        ),
    };
    let draft = Draft {
        not_known: "whether an answer was to come at all",
        variant: if again { "no-answer" } else { "goes-on" },
        explanation: vec![
            format!(
                "{}{}, the program sent {sent} and waited {} on average for an answer until it timed out: {} in total",
                times(sum.count as f64),
                from(evidence, stack, own),
                time(sum.blocked_ns / sum.count as f64),
                time(sum.blocked_ns)
            ),
            then,
        ],
        facts: vec![
            fact("waits in vain", sum.count as f64, "calls", Sure::Exact),
            fact(
                "answered at once after the next message",
                (*answered).max(*went_on) as f64,
                "times",
                Sure::Exact,
            ),
            fact("time waited", sum.blocked_ns, "ns", Sure::Exact),
        ],
        advice: advice.to_owned(),
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
