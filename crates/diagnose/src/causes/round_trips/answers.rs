//! Answers that a goroutine waits for in a library which has goroutines of its own to send and to receive, as Go's for HTTP: who asks is
//! known only where it waits.

use super::exchanges::Exchange;
use crate::Evidence;
use crate::calls::Calls;
use crate::goroutines::{self, Watched};
use slowpath_recording::tables::Park;
use std::collections::BTreeMap;

/// Functions that send a request, and return when the answer has begun to come.
const ASKS: [&str; 6] = [
    "net/http.(*persistConn).roundTrip",
    "net/http.(*http2ClientConn).RoundTrip",
    "net/http.(*http2ClientConn).roundTrip",
    "net/http/internal/http2.(*ClientConn).roundTrip",
    "net/rpc.(*Client).Call",
    "google.golang.org/grpc.(*ClientConn).Invoke",
];
/// Such a function may wait twice for one request: until it is sent, and for the answer. Between two requests there is more: building one and taking
/// the answer apart took 60 µs and more.
const ONE_NS: u64 = 20_000;

/// The waits of one goroutine at one place.
#[derive(Default)]
struct Waits {
    asked: u64,
    waited_ns: f64,
    /// What these stand for, where some were not recorded.
    all: f64,
    all_ns: f64,
    longest_ns: f64,
    until: u64,
    stacks: BTreeMap<u32, f64>,
}

pub(super) fn answers(evidence: &Evidence<'_>, calls: &Calls<'_>) -> Vec<Exchange> {
    let tables = &evidence.recording.tables;
    let mut watched: BTreeMap<u32, Option<Watched>> = BTreeMap::new();
    let mut asks: BTreeMap<u32, bool> = BTreeMap::new();
    let mut waits: BTreeMap<(u32, u64, u32), Waits> = BTreeMap::new();
    for park in &tables.parks {
        let Some(stack) = park.stack else { continue };
        let Some(own) = calls.own_of(stack) else { continue };
        let asks_itself = || is_for_an_answer(evidence, stack) && !goroutines::serves(evidence, stack);
        if *asks.entry(stack).or_insert_with(asks_itself) {
            let Some(watched) =
                watched.entry(park.process).or_insert_with(|| Watched::of(evidence.recording, park.process))
            else {
                continue;
            };
            waits.entry((park.process, park.goroutine, own)).or_default().add(
                park,
                stack,
                watched.times(park.end_ns),
            );
        }
    }
    let elapsed = evidence.elapsed_ns;
    let cpu = evidence.cpu_of_threads().into_values().fold(0.0, f64::max);
    let exchange = |((process, _, own), waits): ((u32, u64, u32), Waits)| {
        let stack = crate::evidence::heaviest(&waits.stacks)?;
        Some(Exchange {
            process,
            path: evidence.path_to(stack, own),
            address: String::new(),
            asked: waits.all.round() as u64,
            seen: waits.asked,
            waited_ns: waits.all_ns.min(elapsed),
            longest_ns: waits.longest_ns * waits.all_ns / waits.waited_ns.max(1.0),
            connections: 0,
            // Which of it is the other side's is not known.
            peer_awake_ns: evidence.cpu_ns.min(waits.all_ns),
            messages_ns: 0.0,
            bytes_each: f64::INFINITY,
            peer_known: false,
            own_ns: 0.0,
            apart_ns: cpu,
            by_goroutine: true,
        })
    };
    waits.into_iter().filter_map(exchange).collect()
}

fn is_for_an_answer(evidence: &Evidence<'_>, stack: u32) -> bool {
    let mut functions = evidence.locations(stack).filter_map(|location| evidence.function_at(location));
    functions.any(|function| ASKS.contains(&evidence.name(function)))
}

impl Waits {
    fn add(&mut self, park: &Park, stack: u32, times: f64) {
        let waited = (park.end_ns - park.time_ns) as f64;
        let another = self.asked == 0 || park.time_ns > self.until + ONE_NS;
        self.asked += u64::from(another);
        self.all += if another { times } else { 0.0 };
        self.all_ns += waited * times;
        self.until = park.end_ns;
        self.waited_ns += waited;
        self.longest_ns = self.longest_ns.max(waited);
        *self.stacks.entry(stack).or_default() += waited;
    }
}
