//! Who asks whom, how often, and how long the answers take: sends and the waits that follow them, by thread and peer.
//!
//! A peer is a socket, or a pair of pipes of which one is written to and the other read, with another process of the recording at their other
//! ends. Whoever asks has opened the connection, or was the first to write, which is known only if all calls were traced. A poll that waited counts if what came was read from that peer. Questions
//! and waits are about as many as each other: who sends much and waits seldom streams, and so does who receives much for
//! one question. Where calls are so many that they were added up their order is not known, but their numbers are.

use super::awake::awake;
use crate::Evidence;
use crate::calls::{Calls, Sum, is_connect, is_met, is_receive, is_send};
use crate::causes::runtime;
use crate::findings::Frame;
use crate::goroutines;
use slowpath_recording::tables::Syscall;
use slowpath_syscalls::{ACCEPTS, POLLS, READS, WRITES};
use std::cell::LazyCell;
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// Parts of addresses of services that send what they see fit, when they see fit: displays and sound.
const EVENTS: [&str; 4] = ["/.X11-unix/", "/wayland-", "/pulse/", "/pipewire-"];
/// Waits for each question. Some answers are there at once; a poll and a receive may both wait.
const WAITS: std::ops::RangeInclusive<f64> = 0.5..=1.5;

/// Fewer questions are not looked at any further.
const LEAST: u64 = 3;
/// Requests of a connection that is opened for one operation: a greeting, a login, a question and a farewell, at most.
const PER_CONNECTION: u64 = 5;

/// See the file's head.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Exchange {
    pub process: u32,
    /// The call path down to the function that asks and waits.
    pub path: Vec<Frame>,
    /// The peer's address, empty if it is not known.
    pub address: String,
    pub asked: u64,
    /// As many of them were recorded.
    pub seen: u64,
    pub waited_ns: f64,
    /// The longest wait that is recorded alone, ns; 0 if none is.
    pub longest_ns: f64,
    /// Connections that the thread opened.
    pub connections: u64,
    /// Time awake of the threads whose processes ended these waits, without what the kernel does for messages, ns; 0 if they are not in the
    /// recording.
    pub peer_awake_ns: f64,
    /// What sending and receiving takes the kernel on both sides, in CPU time, ns; on this side alone if the other is not in the recording.
    pub messages_ns: f64,
    /// Bytes of a request and its answer on average.
    pub bytes_each: f64,
    /// The other side is in the recording.
    pub peer_known: bool,
    /// What both sides do besides, in CPU time, ns: it takes as long however it is asked for.
    pub own_ns: f64,
    /// The largest CPU time of another thread, ns: the run takes that long in any case.
    pub apart_ns: f64,
    /// Who asks is a goroutine.
    pub by_goroutine: bool,
}

impl Exchange {
    /// Each connection is used for some requests only: a login and a question take that many.
    pub(super) fn connects_for_each(&self) -> bool {
        self.asked <= PER_CONNECTION * self.connections
    }
}

/// What a thread did with one peer.
#[derive(Default)]
struct Peer {
    sends: Sum,
    waits: Sum,
    /// Bytes that were received, whether it had to be waited for them or not.
    received: f64,
    /// Something was sent before anything was received.
    begins: Option<bool>,
    /// It is the first socket that was used after a connect.
    opened: bool,
    /// The pipes that answers came from.
    from: BTreeSet<u32>,
    longest_ns: u64,
}

/// What is known of a thread as its calls go by.
#[derive(Default)]
struct Thread<'a> {
    /// What it sent to last, and the address that it connected to last.
    sent_to: Option<u32>,
    address: Option<u32>,
    /// The next new socket is the one that was connected.
    connected: bool,
    connections: u64,
    accepts: bool,
    /// It read from a pipe before it wrote to any.
    reads_first: bool,
    /// A poll that waited, until it is known what for; and polls that were added up.
    polled: Option<&'a Syscall>,
    polls: Sum,
    /// What the kernel does for its sends and receives, ns.
    messages_ns: f64,
    peers: BTreeMap<u32, Peer>,
}

/// Which processes read and write each pipe.
#[derive(Default)]
struct Ends {
    readers: BTreeSet<u32>,
    writers: BTreeSet<u32>,
}

pub(super) fn exchanges(evidence: &Evidence<'_>, calls: &Calls<'_>) -> Vec<Exchange> {
    let tables = &evidence.recording.tables;
    let mut threads: BTreeMap<u32, Thread<'_>> = BTreeMap::new();
    let mut pipes: BTreeMap<u32, Ends> = BTreeMap::new();
    let in_windows = evidence.recording.about.in_windows();
    for (row, process) in calls.all() {
        if !is_met(row) {
            step(calls, threads.entry(row.thread).or_default(), row, in_windows);
        }
        if let Some(pipe) = calls.file(row).filter(|file| file.kind == "pipe") {
            let ends = pipes.entry(pipe.file).or_default();
            if READS.contains(&row.number) {
                ends.readers.insert(process);
            } else if WRITES.contains(&row.number) {
                ends.writers.insert(process);
            }
        }
    }
    // Who accepts connections is a server, in each of its threads.
    let process = |thread: u32| tables.threads[thread as usize].process;
    let servers: BTreeSet<u32> =
        threads.iter().filter(|(_, thread)| thread.accepts).map(|(thread, _)| process(*thread)).collect();
    // Another process reads what is asked and writes what is answered.
    let is_answered = |own: u32, to: u32, peer: &Peer| {
        let other = |pipe: u32, of: fn(&Ends) -> &BTreeSet<u32>| pipes.get(&pipe).map(of);
        let Some(readers) = other(to, |ends| &ends.readers) else { return true }; // a socket
        let writers = peer.from.iter().filter_map(|from| other(*from, |ends| &ends.writers)).flatten();
        writers.into_iter().any(|writer| *writer != own && readers.contains(writer))
    };
    let mut wakers: HashMap<u32, BTreeSet<u32>> = HashMap::new();
    for wait in &tables.waits {
        wakers.entry(wait.thread).or_default().extend(wait.waker.map(process));
    }
    let cpu = evidence.cpu_of_threads();
    // All calls are gone through for that: only if there is an exchange.
    let awake = LazyCell::new(|| awake(calls));
    let mut found = Vec::new();
    for (number, thread) in &threads {
        let own = process(*number);
        let by_goroutine = goroutines::is_one(&tables.threads[*number as usize]);
        let serves = servers.contains(&own);
        if serves && !by_goroutine {
            continue;
        }
        let mut asked: Vec<(&u32, &Peer)> =
            thread.peers.iter().filter(|(_, peer)| peer.sends.count > 0).collect();
        // Whom polls that were added up waited for is known if there is but one.
        let polls = (asked.len() == 1).then_some(&thread.polls);
        // Beside a server there may be a client in one process, where each is a goroutine: it has opened its connection.
        let begins = |peer: &Peer| peer.opened || peer.begins == Some(true) && !serves;
        asked.retain(|(to, peer)| begins(peer) && is_answered(own, **to, peer));
        // Sockets that are opened again for each question count together.
        let mut all = Peer::default();
        for (_, peer) in asked {
            let mut waits = peer.waits.clone();
            polls.into_iter().for_each(|polls| waits.join(polls));
            let ratio = waits.count as f64 / peer.sends.count.max(1) as f64;
            if WAITS.contains(&ratio) {
                all.sends.join(&peer.sends);
                all.waits.join(&waits);
                all.received += peer.received;
                all.longest_ns = all.longest_ns.max(peer.longest_ns);
            }
        }
        let address = thread.address.map_or("", |file| tables.files[file as usize].path.as_str());
        if all.sends.count.min(all.waits.count) < LEAST || EVENTS.iter().any(|part| address.contains(part)) {
            continue;
        }
        if by_goroutine && all.waits.stack().is_some_and(|stack| goroutines::serves(evidence, stack)) {
            continue;
        }
        let peers = wakers
            .get(number)
            .map_or_else(BTreeSet::new, |of| of.iter().filter(|of| **of != own).copied().collect());
        // What the kernel does to receive and send goes with the requests.
        let messages = |thread: &u32, cpu: f64| threads.get(thread).map_or(0.0, |of| of.messages_ns.min(cpu));
        let of_asker = cpu.get(number).copied().unwrap_or(0.0);
        let mut messages_ns = all.sends.working_ns() + all.waits.working_ns();
        let mut own_ns = (of_asker - messages_ns).max(0.0);
        let (mut peer_awake_ns, mut apart_ns) = (0.0, 0.0f64);
        for (other, cpu) in cpu.iter().filter(|(other, _)| *other != number) {
            if !peers.contains(&process(*other)) {
                apart_ns = apart_ns.max(*cpu);
                continue;
            }
            let of_messages = messages(other, *cpu);
            messages_ns += of_messages;
            own_ns += cpu - of_messages;
            peer_awake_ns += awake.get(other).map_or(*cpu, |awake| awake.max(*cpu)) - of_messages;
            apart_ns = apart_ns.max(cpu - of_messages);
        }
        found.push(Exchange {
            process: own,
            path: common_path(evidence, calls, &all),
            address: address.to_owned(),
            asked: all.sends.count.min(all.waits.count),
            seen: all.sends.count.min(all.waits.count),
            waited_ns: all.waits.blocked_ns,
            longest_ns: all.longest_ns as f64,
            connections: thread.connections,
            // Whose work it was that was done meanwhile is not known of goroutines.
            peer_awake_ns: if by_goroutine { evidence.cpu_ns } else { peer_awake_ns }
                .min(all.waits.blocked_ns),
            messages_ns,
            bytes_each: (all.sends.bytes as f64 + all.received)
                / all.sends.count.min(all.waits.count).max(1) as f64,
            peer_known: !peers.is_empty(),
            own_ns,
            apart_ns,
            by_goroutine,
        });
    }
    found
}

/// One more call of a thread. Where calls were traced `in_windows` it is not known who was the first to send.
fn step<'a>(calls: &Calls<'_>, thread: &mut Thread<'a>, row: &'a Syscall, in_windows: bool) {
    let file = calls.file(row);
    if is_connect(row) {
        thread.address = file.filter(|file| file.kind == "address").map(|file| file.file);
        thread.connections += row.count;
        thread.connected = true;
    }
    thread.accepts |= ACCEPTS.contains(&row.number);
    if POLLS.contains(&row.number) && row.blocked_ns > 0 {
        if row.count > 1 {
            thread.polls.add(row);
        } else if row.result > 0 {
            thread.polled = Some(row);
        }
        return;
    }
    let Some(channel) = file.filter(|file| matches!(file.kind.as_str(), "socket" | "pipe")) else { return };
    let socket = channel.kind == "socket";
    let sends = is_send(row);
    let receives = is_receive(row);
    if !sends && !receives {
        return;
    }
    thread.messages_ns += row.duration_ns.saturating_sub(row.blocked_ns) as f64;
    let to = match thread.sent_to {
        _ if sends || socket => channel.file,
        // An answer comes by another pipe.
        Some(to) if to != channel.file => to,
        Some(_) => return,
        None => {
            thread.reads_first = true;
            return;
        }
    };
    let opened = socket && !thread.peers.contains_key(&to) && std::mem::take(&mut thread.connected);
    let reads_first = thread.reads_first && !socket;
    let peer = thread.peers.entry(to).or_default();
    peer.opened |= opened;
    peer.begins.get_or_insert(sends && !reads_first && !in_windows);
    if sends {
        if row.result >= 0 {
            peer.sends.add(row);
            thread.sent_to = Some(to);
            thread.polled = None;
        }
        return;
    }
    if !socket {
        peer.from.insert(channel.file);
    }
    peer.received += row.bytes as f64;
    let polled = thread.polled.take().filter(|_| thread.sent_to == Some(to));
    for wait in polled.into_iter().chain((row.blocked_ns > 0).then_some(row)) {
        peer.waits.add(wait);
        if wait.count == 1 {
            peer.longest_ns = peer.longest_ns.max(wait.blocked_ns);
        }
    }
}

/// The call path that sending and waiting have in common, down to the program's own function: of a library's functions it is who calls the
/// library.
fn common_path(evidence: &Evidence<'_>, calls: &Calls<'_>, all: &Peer) -> Vec<Frame> {
    let outermost_first = |sum: &Sum| -> Vec<u32> {
        let mut locations: Vec<u32> =
            sum.stack().map_or_else(Vec::new, |stack| evidence.locations(stack).collect());
        locations.reverse();
        locations
    };
    let (sends, waits) = (outermost_first(&all.sends), outermost_first(&all.waits));
    let function = |location: u32| evidence.function_at(location);
    let shared = sends
        .iter()
        .zip(&waits)
        .take_while(|(a, b)| function(**a).is_some() && function(**a) == function(**b))
        .count();
    // The frames of the wait: at the last shared function both go on from different lines.
    let own = |location: &u32| {
        function(*location).is_some_and(|function| {
            let frame = evidence.frame(function);
            !runtime::is_name(&frame) && evidence.is_program(&frame.module)
        })
    };
    let innermost = waits[..shared].iter().rposition(own);
    let Some(last) = innermost else {
        // A script's interpreter, or a library that does it all.
        let stack = all.waits.stack();
        return stack
            .and_then(|stack| Some(evidence.path_at(stack, calls.own_of(stack)?)))
            .unwrap_or_default();
    };
    let stack = all.waits.stack();
    match (stack, function(waits[last])) {
        (Some(stack), Some(function)) => evidence.path_to(stack, function),
        _ => Vec::new(),
    }
}
