//! Connections of Go programs: whoever asks for an answer waits until another goroutine has opened one, with the TLS handshake that this takes.
//!
//! Where the wait is known, so is what a connection takes: more than its `connect`, which is all that its threads show.

use super::connections::{CAUSE, GATE, OPENED, is_stream};
use crate::Evidence;
use crate::calls::{Calls, fact, from, is_connect, place};
use crate::candidate::Candidate;
use crate::causes::words::{count, time};
use crate::draft::Draft;
use crate::evidence::heaviest;
use crate::findings::{Basis, Confidence, Cost, Sure};
use crate::goroutines::Watched;
use slowpath_syscalls::CLOSE;
use std::collections::{BTreeMap, HashMap};

/// Functions of Go's library in which a goroutine waits for a connection of its own, or sets it up.
const DIALS: [&str; 5] = [
    POOLED,
    "net.(*Dialer).DialContext",
    "net.(*Dialer).Dial",
    "crypto/tls.(*Conn).clientHandshake",
    "golang.org/x/crypto/ssh.(*connection).clientHandshake",
];
/// The one that may wait for a connection which others have.
const POOLED: &str = "net/http.(*Transport).getConn";
/// Share of the connections that must be closed again: others are kept.
const CLOSED: f64 = 0.5;
/// Share of all these waits that one function must have: the connections are counted for the whole process.
const MOST: f64 = 0.8;
/// Of waits that are so many times as many as connections were opened, some were for one that others had.
const OWN: f64 = 1.25;

/// What one function waits for its connections.
#[derive(Default)]
struct Dials {
    waits: f64,
    ns: f64,
    /// From when to when, as recorded.
    intervals: Vec<(u64, u64)>,
    stacks: HashMap<u32, f64>,
}

/// A finding for each process that has one.
pub(super) fn find(evidence: &Evidence<'_>, calls: &Calls<'_>) -> Vec<Candidate> {
    let tables = &evidence.recording.tables;
    let dials = evidence.stacks_with(|function| DIALS.contains(&evidence.name(function)));
    let pooled = evidence.stacks_with(|function| evidence.name(function) == POOLED);
    let mut by_process: BTreeMap<u32, BTreeMap<u32, Dials>> = BTreeMap::new();
    let mut watched: BTreeMap<u32, Option<Watched>> = BTreeMap::new();
    for park in &tables.parks {
        let Some(stack) = park.stack.filter(|stack| dials[*stack as usize]) else { continue };
        let Some(own) = calls.own_of(stack) else { continue };
        let watched =
            watched.entry(park.process).or_insert_with(|| Watched::of(evidence.recording, park.process));
        let Some(watched) = watched else { continue };
        let times = watched.times(park.end_ns);
        let of = by_process.entry(park.process).or_default().entry(own).or_default();
        let ns = (park.end_ns - park.time_ns) as f64 * times;
        of.waits += if pooled[stack as usize] { times } else { 0.0 };
        of.ns += ns;
        of.intervals.push((park.time_ns, park.end_ns));
        *of.stacks.entry(stack).or_default() += ns;
    }
    by_process.iter().filter_map(|(process, dials)| of_process(evidence, calls, *process, dials)).collect()
}

fn of_process(
    evidence: &Evidence<'_>,
    calls: &Calls<'_>,
    process: u32,
    dials: &BTreeMap<u32, Dials>,
) -> Option<Candidate> {
    let mut opened: BTreeMap<u32, u64> = BTreeMap::new();
    let mut closed = 0;
    for (row, _) in calls.all().filter(|(_, of)| *of == process) {
        let Some(file) = calls.file(row) else { continue };
        if is_connect(row) && is_stream(file) {
            *opened.entry(file.file).or_default() += row.count;
        } else if row.number == CLOSE && file.kind == "socket" {
            closed += row.count;
        }
    }
    let (address, opened) = opened.into_iter().max_by_key(|(_, opened)| *opened)?;
    let all: f64 = dials.values().map(|dials| dials.ns).sum();
    let (own, most) = dials.iter().max_by(|a, b| a.1.ns.total_cmp(&b.1.ns))?;
    // Those who wait side by side save the time of one of them.
    let waited = most.ns / most_at_a_time(&most.intervals) as f64;
    let gain = waited * (1.0 - 1.0 / opened.max(1) as f64);
    let few = opened < OPENED || most.waits > OWN * opened as f64 || (closed as f64) < CLOSED * opened as f64;
    if few || most.ns < MOST * all || !GATE.may_pass(evidence, gain) {
        return None;
    }
    let stack = heaviest(&most.stacks);
    let address = &evidence.recording.tables.files[address as usize].path;
    let draft = Draft {
        variant: "dialed",
        explanation: vec![
            format!(
                "{} connections to {address} were opened{}, which waited {} for each, {} in total, with the TLS handshake where there is one",
                count(opened as f64),
                from(evidence, stack, Some(*own)),
                time(most.ns / opened as f64),
                time(most.ns)
            ),
        ],
        facts: vec![
            fact("connections", opened as f64, "calls", Sure::Exact),
            fact("time to connect", most.ns, "ns", Sure::Sampled),
        ],
        advice: "Keep connections and use them again: one http.Client for all requests, whose answers are read to the end and closed; a pool; \
                 enough idle connections for each host (MaxIdleConnsPerHost)"
            .to_owned(),
        ..Draft::new(
            &CAUSE,
            "opens a connection for each operation",
            Confidence::Likely,
            Cost::new(Basis::Wall, waited, gain),
            place(evidence, stack, Some(*own), process),
        )
    };
    Some(draft.candidate(evidence, GATE, process))
}

/// How many of some intervals there are at one time, at most; at least one.
fn most_at_a_time(intervals: &[(u64, u64)]) -> usize {
    let starts = intervals.iter().map(|(start, _)| (*start, 1));
    let mut changes: Vec<(u64, i64)> = starts.chain(intervals.iter().map(|(_, end)| (*end, -1))).collect();
    changes.sort_unstable();
    let (mut now, mut most) = (0i64, 1);
    for (_, change) in changes {
        now += change;
        most = most.max(now);
    }
    most as usize
}
