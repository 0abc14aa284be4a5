//! A connection for each operation: opened, used for a moment and closed, again and again from one place to one address.
//!
//! What a connection takes is the time from its `connect` to the first bytes that are sent or received on a socket: with the wait until it is
//! established, and what a library does to set it up. What the program's own code computes in between is left out. The calls that make the
//! socket before and close it afterwards are added. Traced by ptrace it is these calls and `connect` alone.
//!
//! Where tasks wait by themselves and threads go on with others, as in Go, what a thread does next is another task's. Then it is the time
//! in which there was a `connect`, or a goroutine that waited in one.

use super::super::words::{count, time};
use super::super::{Find, Needs, Spec};
use crate::Evidence;
use crate::calls::{CLOSE, CallSite, Calls, Sum, fact, from, is_connect, is_receive, is_send, place};
use crate::candidate::Candidate;
use crate::draft::Draft;
use crate::findings::{Basis, Confidence, Cost, Sure};
use crate::gate::{Gate, Whole};
use slowpath_recording::tables::File;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

/// See the file's head.
pub(in crate::causes) const CAUSE: Spec = Spec {
    slug: "connection-per-operation",
    title: "a connection for each operation",
    symptom: "connecting to the same address again and again",
    page: include_str!("../../../../../docs/causes/connection-per-operation.md"),
    needs: &[Needs::Syscalls],
    find: Find::InRecording(find),
};

/// Connections from one place to one address before they count. Pools and retries open some dozens.
const OPENED: u64 = 100;
/// socket, bind, getsockname, getpeername, setsockopt, getsockopt: what makes a socket ready to be connected.
const MAKES: [u32; 6] = [41, 49, 51, 52, 54, 55];
const GATE: Gate = Gate { share: 0.10, least: 50e6, of: Whole::Longer };

/// EINPROGRESS: the caller waits in another way until the connection is there.
const IN_PROGRESS: i64 = -115;
/// Go's function that waits until a connection is there.
const WAITS: &str = "net.(*netFD).connect";

/// Where connections are opened: a thread, its function, and the address.
type Place = (CallSite, u32);

fn find(evidence: &Evidence<'_>) -> Vec<Candidate> {
    let calls = Calls::new(evidence);
    let mut sums: BTreeMap<Place, Sum> = BTreeMap::new();
    // By thread: where the connection that is being opened was, and since when; none while several are. And from when to when others were,
    // in order.
    let mut opening: HashMap<u32, Option<(Place, u64)>> = HashMap::new();
    let mut opened: HashMap<u32, Vec<(u64, u64, Place)>> = HashMap::new();
    // By thread: what making the next socket has taken, ns. By file: the place of the connection that it is.
    let mut making: HashMap<u32, f64> = HashMap::new();
    let mut used: HashMap<u32, Place> = HashMap::new();
    // Where threads go on with other tasks: when there was a connect, by place. All of a process's threads count as its first.
    let firsts = threads_with_tasks(&calls);
    let mut connecting: BTreeMap<Place, Vec<(u64, u64)>> = BTreeMap::new();
    for (row, process) in calls.all() {
        if let Some(first) = firsts.get(&process) {
            if is_connect(row)
                && let Some(address) = calls.file(row).filter(|file| is_stream(file))
            {
                let key = ((*first, calls.asks(row)), address.file);
                sums.entry(key).or_default().add(row);
                if row.count == 1 {
                    connecting.entry(key).or_default().push((row.time_ns, row.end_ns));
                }
            }
        } else if is_connect(row) {
            let Some(address) = calls.file(row).filter(|file| is_stream(file)) else { continue };
            let key = ((row.thread, calls.asks(row)), address.file);
            let sum = sums.entry(key).or_default();
            sum.add(row);
            sum.duration_ns += making.remove(&row.thread).unwrap_or(0.0);
            // Of several at a time it is not known which one the next bytes are of.
            let alone = row.count == 1 && !opening.contains_key(&row.thread);
            opening.insert(row.thread, alone.then_some((key, row.end_ns)));
        } else if MAKES.contains(&row.number) && !opening.contains_key(&row.thread) {
            *making.entry(row.thread).or_default() += row.duration_ns as f64;
        } else if let Some(socket) = calls.file(row).filter(|file| file.kind == "socket") {
            if row.number == CLOSE {
                let place = used.remove(&socket.file);
                place
                    .into_iter()
                    .for_each(|key| sums.entry(key).or_default().duration_ns += row.duration_ns as f64);
            } else if is_send(row) || is_receive(row) {
                making.remove(&row.thread);
                if let Some(Some((key, since))) = opening.remove(&row.thread) {
                    opened.entry(row.thread).or_default().push((since, row.time_ns.max(since), key));
                    used.insert(socket.file, key);
                }
            }
        }
    }
    // A tracer that stops at calls stops at those in between, too.
    if evidence.by_ptrace {
        opened.clear();
    }
    for (since, until, key) in opened.values().flatten() {
        sums.entry(*key).or_default().duration_ns += (until - since) as f64;
    }
    let tables = &evidence.recording.tables;
    for (sample, weight) in tables.samples.iter().zip(&evidence.weights) {
        let Some(of) = opened.get(&sample.thread).filter(|_| calls.is_own_code(sample.stack)) else {
            continue;
        };
        let next = of.partition_point(|(_, until, _)| *until <= sample.time_ns);
        if let Some((_, _, key)) = of.get(next).filter(|(since, ..)| *since <= sample.time_ns) {
            let sum = sums.entry(*key).or_default();
            sum.duration_ns = (sum.duration_ns - weight).max(0.0);
        }
    }
    for (key, mut times) in connecting {
        times.extend(goroutines(evidence, &calls, key));
        sums.entry(key).or_default().duration_ns = together(times);
    }
    super::largest(sums.iter().filter_map(|(key, sum)| finding(evidence, *key, sum)))
}

/// The first thread of each process whose threads go on with other tasks while a connection is made: several of them use sockets, and
/// connect without waiting.
fn threads_with_tasks(calls: &Calls<'_>) -> HashMap<u32, u32> {
    let mut threads: HashMap<u32, BTreeSet<u32>> = HashMap::new();
    let mut in_progress: HashSet<u32> = HashSet::new();
    for (row, process) in calls.all() {
        if is_connect(row) && row.result == IN_PROGRESS {
            in_progress.insert(process);
        }
        if is_connect(row) || is_send(row) || is_receive(row) {
            threads.entry(process).or_default().insert(row.thread);
        }
    }
    threads.retain(|process, threads| threads.len() > 1 && in_progress.contains(process));
    threads.into_iter().filter_map(|(process, threads)| Some((process, *threads.first()?))).collect()
}

/// When goroutines waited for a connection that is opened at a place.
fn goroutines(evidence: &Evidence<'_>, calls: &Calls<'_>, ((thread, own), _): Place) -> Vec<(u64, u64)> {
    let tables = &evidence.recording.tables;
    let process = tables.threads[thread as usize].process;
    let is_here = |stack: u32| {
        let mut functions = evidence.locations(stack).filter_map(|at| evidence.function_at(at));
        calls.own_of(stack) == own && functions.any(|function| evidence.name(function) == WAITS)
    };
    let here = tables.parks.iter().filter(|park| park.process == process && park.stack.is_some_and(is_here));
    here.map(|park| (park.time_ns, park.end_ns)).collect()
}

/// How long there was at least one of them, ns.
fn together(mut times: Vec<(u64, u64)>) -> f64 {
    times.sort_unstable();
    let (mut sum, mut until) = (0, 0);
    for (start, end) in times {
        sum += end.saturating_sub(start.max(until));
        until = until.max(end);
    }
    sum as f64
}

/// Whether it is an address of a connection: to a name server it is one of datagrams, and port 0 is asked for a route only.
fn is_stream(file: &File) -> bool {
    file.kind == "address" && !file.path.ends_with(":53") && !file.path.ends_with(":0")
}

fn finding(evidence: &Evidence<'_>, ((thread, own), address): Place, sum: &Sum) -> Option<Candidate> {
    let process = evidence.recording.tables.threads[thread as usize].process;
    if sum.count < OPENED {
        return None;
    }
    let opened = sum.count as f64;
    let gain = sum.duration_ns * (1.0 - 1.0 / opened);
    if !GATE.may_pass(evidence, gain) {
        return None;
    }
    let stack = sum.stack();
    let address = &evidence.recording.tables.files[address as usize].path;
    let draft = Draft {
        explanation: vec![
            format!(
                "{} connections to {address} were opened{}, {} each, {} in total",
                count(opened),
                from(evidence, stack, own),
                time(sum.duration_ns / opened),
                time(sum.duration_ns)
            ),
            "what the other side does for each connection, such as accepting it or a login, is extra and not in the gain".to_owned(),
        ],
        facts: vec![
            fact("connections", opened, "calls", Sure::Exact),
            fact("time to connect", sum.duration_ns, "ns", Sure::Exact),
        ],
        advice: "Open one connection and keep it (keep-alive, a session, a pool of connections)".to_owned(),
        ..Draft::new(&CAUSE, "opens a connection for each operation", Confidence::Likely, Cost::new(Basis::Wall, sum.duration_ns, gain), place(evidence, stack, own, process))
    };
    Some(draft.candidate(evidence, GATE, process))
}
