//! Question and answer with one peer, one at a time, many times from one place: the program mostly waits for the way there and back.
//!
//! - `exchanges` — who asks whom, how often, and how long the answers take.
//! - `answers` — the same where Go's libraries have goroutines of their own for a connection, as for HTTP.
//! - `awake` — how long those who answer were not asleep.
//! - `connections` — a connection is opened for each operation, which is a cause of its own.
//!
//! Only whoever asks is looked at: a server that waits for the next question is at rest. How much of a wait is the peer's own work is known
//! only where the peer is in the recording, so half of the time waited is promised at most.

mod answers;
mod awake;
pub(super) mod connections;
mod dialed;
mod exchanges;

use super::words::{count, time, two_digits};
use super::{Find, Needs, Spec};
use crate::Evidence;
use crate::calls::{Calls, fact};
use crate::candidate::Candidate;
use crate::draft::Draft;
use crate::findings::{Basis, Confidence, Cost, Place, Sure};
use crate::gate::{Gate, Whole};
use exchanges::Exchange;
use std::collections::{BTreeMap, HashMap};

/// See the file's head.
pub(super) const CAUSE: Spec = Spec {
    slug: "round-trip-per-operation",
    title: "one request at a time",
    symptom: "a request and a wait for its answer, again and again, with one peer",
    not_known: "whether requests depend on the answers to those before",
    page: include_str!("../../../../../docs/causes/round-trip-per-operation.md"),
    needs: &[Needs::Transfers],
    find: Find::InRecording(find),
};

/// Questions before they count, …
const ASKED: u64 = 100;
/// … and of slow answers fewer: ten of 20 ms each are 0.2 s, which a person notices.
const ASKED_SLOW: u64 = 10;
const SLOW_NS: f64 = 20e6;
/// Answers that take longer on average are no answers: a worker waits for the next job, a client for news.
const IDLE_NS: f64 = 1e9;
/// What goes at least if questions are joined, sent ahead or asked side by side, as a share of the time waited. Two at a time would do; the other half
/// may be the peer's own work.
const SAVED: f64 = 0.5;
/// One wait, or waits of another kind, that make up so much of all are another matter.
const LARGEST: f64 = 0.5;
/// Half of it must be a tenth of the elapsed time: a fifth of it is spent waiting.
const GATE: Gate = Gate { share: 0.10, least: 50e6, of: Whole::Elapsed };

/// Requests from which on the messages themselves count: joined by hundreds, they all but go.
const MANY: u64 = 1_000;
/// Share of the elapsed time that they must take then: a program may have reasons to talk, but not to do hardly anything else. 60,000 look-ups in another process took
/// 58 to 80 %; none of 82 clean programs, commands and fixed versions comes to 3 %.
const TALKING: f64 = 0.25;
/// What fits into one packet of Ethernet: a request and its answer that take more are not fewer packets when they are joined. 60,000 look-ups took
/// 38 bytes each, 3,000 web pages 16,488.
const SMALL_BYTES: f64 = 1_448.0;

/// A thread with this share of the time that the longest waits at a place asks beside it: those that take jobs from one queue differ by less.
const BESIDE: f64 = 0.5;

fn find(evidence: &Evidence<'_>) -> Vec<Candidate> {
    let calls = Calls::new(evidence);
    let mut all = exchanges::exchanges(evidence, &calls);
    all.extend(answers::answers(evidence, &calls));
    let is_alone: Vec<bool> = all.iter().map(|one| is_alone(one, &all)).collect();
    let mut is_alone = is_alone.into_iter();
    all.retain(|_| is_alone.next().unwrap_or(false));
    let kept = all.into_iter().filter(|exchange| !exchange.connects_for_each());
    largest(kept.filter_map(|exchange| finding(evidence, &exchange)))
}

/// Whether no other thread of the process asks as much from the same place: those that do ask side by side already.
fn is_alone(one: &Exchange, all: &[Exchange]) -> bool {
    let same = |other: &&Exchange| (other.process, &other.path) == (one.process, &one.path);
    // Where the place is not known it may be another.
    if one.path.is_empty() {
        return true;
    }
    let longest = all.iter().filter(same).map(|other| other.waited_ns).fold(0.0, f64::max);
    all.iter().filter(same).filter(|other| other.waited_ns >= BESIDE * longest).count() == 1
}

/// Threads wait side by side: of those of one process at one place the one that waits longest counts.
fn largest(candidates: impl Iterator<Item = Candidate>) -> Vec<Candidate> {
    let mut kept: BTreeMap<(u32, String), Candidate> = BTreeMap::new();
    for one in candidates {
        let key = (one.process, one.finding.fingerprint.clone());
        let gain = one.finding.cost.gain();
        if kept.get(&key).is_none_or(|other| other.finding.cost.gain() < gain) {
            kept.insert(key, one);
        }
    }
    kept.into_values().collect()
}

/// Where most of the waits are for delayed acknowledgements that is the cause, and has a better advice.
pub(super) fn settle(found: &mut Vec<Candidate>) {
    let mut delayed: HashMap<u32, u64> = HashMap::new();
    for other in found.iter().filter(|other| other.finding.variant == super::waiting::DELAYED_ACK) {
        *delayed.entry(other.process).or_default() += other.finding.cost.amount();
    }
    let is_delayed = |one: &Candidate| {
        delayed.get(&one.process).is_some_and(|ns| *ns as f64 > LARGEST * one.finding.cost.amount() as f64)
    };
    found.retain(|one| one.finding.cause != CAUSE.cause() || !is_delayed(one));
}

fn finding(evidence: &Evidence<'_>, exchange: &Exchange) -> Option<Candidate> {
    let (asked, waited) = (exchange.asked as f64, exchange.waited_ns);
    let each = waited / asked.max(1.0);
    let enough = if each >= SLOW_NS { ASKED_SLOW } else { ASKED };
    if exchange.seen < enough || exchange.longest_ns > LARGEST * waited || each > IDLE_NS {
        return None;
    }
    let elapsed = evidence.elapsed_ns;
    let waiting = (SAVED * waited).min(waited - exchange.peer_awake_ns);
    // Both sides take turns: what is left is what they do besides.
    let messages = exchange.messages_ns.min(elapsed - exchange.own_ns);
    // By a tracer that stops at them calls seem to take longer than they do.
    let small = exchange.bytes_each <= SMALL_BYTES && !evidence.by_ptrace;
    let talks = small && exchange.asked >= MANY && messages >= TALKING * elapsed && messages > waiting;
    let gain = if talks { messages } else { waiting }.min(elapsed - exchange.apart_ns);
    let cost = if talks { waited.max(exchange.messages_ns) } else { waited };
    if !GATE.may_pass(evidence, gain) {
        return None;
    }
    let script = evidence.script_on(&exchange.path);
    let path = script.map_or_else(|| exchange.path.clone(), |script| vec![script]);
    let place = Place::at_end_of(path, || evidence.whole_process(exchange.process));
    let to = if exchange.address.is_empty() { String::new() } else { format!(" to {}", exchange.address) };
    let mut explanation = vec![format!(
        "{}{} times, the program sent a request{to} and waited {} on average for the answer before it sent the next: {} in total",
        if exchange.by_goroutine { "about " } else { "" },
        count(if exchange.by_goroutine { two_digits(asked) } else { asked }),
        time(each),
        time(waited)
    )];
    if exchange.peer_awake_ns > 0.0 {
        let awake = time(exchange.peer_awake_ns);
        explanation.push(match exchange.by_goroutine {
            true => format!("the run used {awake} of CPU time, which is not counted as gain: some of it may be the other side's work"),
            false => format!("the other side did its own work or waited for a CPU for {awake} in the whole run, which is not counted as gain"),
        });
    }
    explanation.push(match talks {
        true => format!(
            "a request and its answer were {} bytes on average. Sending and receiving them took the kernel {} of CPU time{}, which is the gain: \
             hundreds of requests joined into one cost almost nothing",
            count(exchange.bytes_each),
            time(exchange.messages_ns),
            if exchange.peer_known { " on both sides" } else { "" }
        ),
        false => "the gain is a careful estimate, at most half of the time waited: how much of it is the other side's own work is not known".to_owned(),
    });
    let sure = if exchange.by_goroutine { Sure::Sampled } else { Sure::Exact };
    let draft = Draft {
        gain_is_least: true,
        explanation,
        facts: vec![
            fact("requests", asked, "calls", sure),
            fact("time waited", waited, "ns", sure),
            fact("time of each wait", each, "ns", sure),
        ],
        advice: "Join the requests into one (a batch, a join, a list of keys), send several before waiting for the first answer \
                 (pipelining), or send several in parallel; cache answers that are needed again"
            .to_owned(),
        ..Draft::new(&CAUSE, "sends one request at a time and waits for each answer", Confidence::Likely, Cost::new(Basis::Wall, cost, gain), place)
    };
    Some(draft.candidate(evidence, GATE, exchange.process))
}
