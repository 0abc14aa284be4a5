//! A connection for each operation: opened, used for a moment and closed, again and again from one place to one address.
//!
//! What a connection takes is the time from its `connect` to the first bytes that are sent or received on a socket, but for those of a TLS
//! handshake: with the wait until it is established, and what a library does to set it up. What the program's own code computes in between is left out. The calls that make the
//! socket before and close it afterwards are added. Traced by ptrace it is these calls and `connect` alone.
//! In Go a thread runs other goroutines while one waits for its connection. If it is not known which goroutine made each call, only the call of
//! `connect` counts there.

use super::super::words::{count, time};
use super::super::{Find, Needs, Spec};
use super::dialed;
use crate::Evidence;
use crate::calls::{CallSite, Calls, Sum, fact, from, is_connect, is_receive, is_send, is_single, place};
use crate::candidate::Candidate;
use crate::draft::Draft;
use crate::findings::{Basis, Confidence, Cost, Sure};
use crate::gate::{Gate, Whole};
use crate::goroutines;
use slowpath_recording::tables::File;
use slowpath_syscalls::{BIND, CLOSE, GETPEERNAME, GETSOCKNAME, GETSOCKOPT, SETSOCKOPT, SOCKET};
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// See the file's head.
pub(in crate::causes) const CAUSE: Spec = Spec {
    slug: "connection-per-operation",
    title: "a connection for each operation",
    symptom: "connecting to the same address again and again",
    not_known: "whether the other side insists on a new connection each time",
    page: include_str!("../../../../../docs/causes/connection-per-operation.md"),
    needs: &[Needs::Syscalls],
    find: Find::InRecording(find),
};

/// Connections from one place to one address before they count. Pools and retries open some dozens.
pub(super) const OPENED: u64 = 100;
/// What makes a socket ready to be connected.
const MAKES: [u32; 6] = [SOCKET, BIND, GETSOCKNAME, GETPEERNAME, SETSOCKOPT, GETSOCKOPT];
pub(super) const GATE: Gate = Gate { share: 0.10, least: 50e6, of: Whole::Longer };

/// Functions that make the TLS handshake of a connection: what they send and receive is none of the program's bytes.
const HANDSHAKES: [&str; 7] = [
    "SSL_connect",
    "SSL_do_handshake",
    "ossl_statem_connect",
    "gnutls_handshake",
    "mbedtls_ssl_handshake",
    "wolfSSL_connect",
    "SSL_ForceHandshake",
];
/// How the files of TLS libraries begin whose functions call each other at their ends, so that none of these is on the stack. All that they send
/// and receive is the handshake's, unless it is under a function that transfers the program's bytes.
const TLS_FILES: [&str; 4] = ["libssl.so", "libgnutls.so", "libmbedtls.so", "libwolfssl.so"];
const TRANSFERS: [&str; 15] = [
    "SSL_write",
    "SSL_write_ex",
    "SSL_read",
    "SSL_read_ex",
    "SSL_peek",
    "SSL_peek_ex",
    "gnutls_record_send",
    "gnutls_record_send2",
    "gnutls_record_recv",
    "_gnutls_recv_int",
    "gnutls_record_uncork",
    "mbedtls_ssl_write",
    "mbedtls_ssl_read",
    "wolfSSL_write",
    "wolfSSL_read",
];
/// EINPROGRESS: the caller waits in another way until the connection is there.
const IN_PROGRESS: i64 = -115;
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
    let handshakes = handshakes(evidence);
    let of_go: BTreeSet<u32> = evidence.recording.tables.parks.iter().map(|park| park.process).collect();
    for (row, process) in calls.all() {
        if is_connect(row) {
            let Some(address) = calls.file(row).filter(|file| is_stream(file)) else { continue };
            let key = ((row.thread, calls.asks(row)), address.file);
            let sum = sums.entry(key).or_default();
            sum.add(row);
            sum.duration_ns += making.remove(&row.thread).unwrap_or(0.0);
            // Of several at a time it is not known which one the next bytes are of.
            let swaps = row.result == IN_PROGRESS
                && of_go.contains(&process)
                && !goroutines::is_one(&calls.threads()[row.thread as usize]);
            let alone = is_single(row) && !opening.contains_key(&row.thread) && !swaps;
            opening.insert(row.thread, alone.then_some((key, row.end_ns)));
        } else if MAKES.contains(&row.number) && !opening.contains_key(&row.thread) {
            *making.entry(row.thread).or_default() += row.duration_ns as f64;
        } else if let Some(socket) = calls.file(row).filter(|file| file.kind == "socket") {
            if row.number == CLOSE {
                let place = used.remove(&socket.file);
                place
                    .into_iter()
                    .for_each(|key| sums.entry(key).or_default().duration_ns += row.duration_ns as f64);
            } else if (is_send(row) || is_receive(row))
                && !row.stack.is_some_and(|stack| handshakes[stack as usize])
            {
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
    let mut found = dialed::find(evidence, &calls);
    let known: BTreeSet<u32> = found.iter().map(|one| one.process).collect();
    let by_threads = super::largest(sums.iter().filter_map(|(key, sum)| finding(evidence, *key, sum)));
    found.extend(by_threads.into_iter().filter(|one| !known.contains(&one.process)));
    found
}

/// By stack, whether it is one of a TLS handshake.
fn handshakes(evidence: &Evidence<'_>) -> Vec<bool> {
    let named = evidence.stacks_with(|function| HANDSHAKES.contains(&evidence.name(function)));
    let within = evidence.stacks_with(|function| {
        let file = evidence.module(function);
        TLS_FILES.iter().any(|begin| file.starts_with(begin))
    });
    let transfers = evidence.stacks_with(|function| TRANSFERS.contains(&evidence.name(function)));
    // A program may transfer its bytes by other functions, which are not known.
    let known = within.iter().zip(&transfers).any(|(within, transfers)| *within && *transfers);
    let any = named.into_iter().zip(within.into_iter().zip(transfers));
    any.map(|(named, (within, transfers))| named || known && within && !transfers).collect()
}

/// Whether it is an address of a connection: to a name server it is one of datagrams, and port 0 is asked for a route only.
pub(super) fn is_stream(file: &File) -> bool {
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
