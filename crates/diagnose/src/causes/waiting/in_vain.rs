//! Waits for an answer that does not come: a connection that is not accepted, a question to an address that stays silent.

use super::super::words::{time, times};
use crate::Evidence;
use crate::calls::{CallSite, Calls, Sum, fact, from, is_receive, is_single, place, some};
use crate::candidate::Candidate;
use crate::draft::Draft;
use crate::findings::{Basis, Confidence, Cost, Sure};
use crate::gate::{Gate, Whole};
use slowpath_syscalls::{CONNECT, POLLS, SENDS};
use std::collections::{BTreeMap, HashMap};

/// A wait without an answer, ns.
const IN_VAIN_NS: u64 = 500_000_000;
/// One alone can be an accident.
const GATE: Gate = Gate { share: 0.20, least: 2.0 * IN_VAIN_NS as f64, of: Whole::Elapsed };

/// How the address of a name server ends: its port.
const NAME_SERVICE: &str = ":53";
/// ETIMEDOUT, EHOSTUNREACH.
const UNREACHED: [i64; 2] = [-110, -113];

/// What a thread last asked of whom, without an answer as yet.
#[derive(Default)]
struct Asked {
    address: Option<u32>,
    sent: bool,
}

pub(super) fn find(evidence: &Evidence<'_>, calls: &Calls<'_>) -> Vec<Candidate> {
    let tables = &evidence.recording.tables;
    let mut asked: HashMap<u32, Asked> = HashMap::new();
    let mut sums: BTreeMap<CallSite, (Sum, BTreeMap<&str, u64>)> = BTreeMap::new();
    for (row, process) in calls.all() {
        let asked = asked.entry(row.thread).or_default();
        let file = calls.file(row);
        let socket = file.is_some_and(|file| file.kind == "socket");
        let reads = is_receive(row);
        let long = is_single(row) && row.blocked_ns >= IN_VAIN_NS;
        let mut address = None;
        if row.number == CONNECT {
            let remote = file.filter(|file| file.kind == "address" && !file.path.starts_with("unix:"));
            *asked = Asked { address: remote.map(|file| file.file), sent: false };
            if UNREACHED.contains(&row.result) && long {
                address = asked.address.take();
            } else if row.result == -115 {
                asked.sent = true; // under way
            }
        } else if SENDS.contains(&row.number) && row.result >= 0 {
            // To a datagram there need not be an answer, but from a name server.
            let asks = |address: u32| tables.files[address as usize].path.ends_with(NAME_SERVICE);
            asked.sent = asked.address.is_some_and(asks);
        } else if (reads && socket || POLLS.contains(&row.number)) && row.result > 0 {
            *asked = Asked::default(); // an answer, or the connection stands
        } else if long && asked.sent && !evidence.by_ptrace {
            // Where calls are traced by ptrace reads may not have been seen: an answer may have come.
            let expired =
                POLLS.contains(&row.number) && row.result == 0 || reads && socket && row.result == -11;
            address = asked.address.filter(|_| expired);
        }
        if let Some(address) = address {
            let (sum, addresses) = sums.entry((process, calls.own(row))).or_default();
            sum.add(row);
            *addresses.entry(&tables.files[address as usize].path).or_default() += 1;
        }
    }
    let mut findings = Vec::new();
    for ((process, own), (sum, addresses)) in sums {
        if !GATE.may_pass(evidence, sum.blocked_ns) {
            continue;
        }
        let stack = sum.stack();
        let names: Vec<String> = addresses.keys().map(|address| (*address).to_owned()).collect();
        findings.push(
            Draft {
                variant: "no-answer",
                explanation: vec![format!(
                    "{}{}, the program waited for an answer from {}, {} each time until it timed out: {} in total",
                    times(sum.count as f64),
                    from(evidence, stack, own),
                    some(&names, 3),
                    time(sum.blocked_ns / sum.count as f64),
                    time(sum.blocked_ns)
                )],
                facts: vec![
                    fact("waits in vain", sum.count as f64, "calls", Sure::Exact),
                    fact("time waited", sum.blocked_ns, "ns", Sure::Exact),
                ],
                advice: "Find out why there is no answer: a wrong or unreachable address (for a name server, see \
                         /etc/resolv.conf) or a firewall that drops packets; ask the server that answers first, and \
                         cache the answer"
                    .to_owned(),
                ..Draft::new(&super::CAUSE, "waits for an answer that does not come", Confidence::Certain, Cost::new(Basis::Wall, sum.blocked_ns, sum.blocked_ns), place(evidence, stack, own, process))
            }
            .candidate(evidence, GATE, process),
        );
    }
    findings
}
