//! Small pieces that are sent on one connection one after the other, with nothing in between: they could be put together.
//!
//! A small message may be wanted at once at the other end, so that most sends are left alone. But where a thread sends so fast that a good part of
//! its time passes in sending, and neither waits nor receives anything for many sends in a row, a piece that is held back until the thread does
//! waits for some µs only. That holds for streams: datagrams stay what they are.

use super::{BYTES, CALLS, Site};
use crate::Evidence;
use crate::calls::{Calls, Sum, is_receive, is_send, is_sleep};
use slowpath_recording::tables::Syscall;
use slowpath_syscalls::POLLS;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

/// Sends on one connection for each time that its thread waits or receives something.
const IN_A_ROW: f64 = 8.0;
/// Share of a thread's elapsed time that passes in such sends: then one follows the other within a few times as long as it takes, some µs.
const BUSY: f64 = 0.2;
/// Functions of the kernel that send on a stream, as samples show them.
const STREAMS: [&str; 2] = ["tcp_sendmsg", "unix_stream_sendmsg"];

/// What each place sends in small pieces, and on how many connections.
pub(super) fn tiny(evidence: &Evidence<'_>, calls: &Calls<'_>) -> Vec<(Site, Sum, usize)> {
    let mut sent: BTreeMap<(Site, u32, u32), Sum> = BTreeMap::new();
    // Of each thread, how often it waited or received.
    let mut pauses: HashMap<u32, u64> = HashMap::new();
    for (row, process) in calls.all() {
        if pauses_for(row) {
            *pauses.entry(row.thread).or_default() += row.count;
        } else if let Some(file) = calls.file(row).filter(|file| file.kind == "socket")
            && is_send(row)
            && row.result >= 0
        {
            let site = Site { process, own: calls.own(row), writes: true };
            sent.entry((site, row.thread, file.file)).or_default().add(row);
        }
    }
    sent.retain(|(_, thread, _), sum| {
        let pauses = pauses.get(thread).copied().unwrap_or(0).max(1) as f64;
        sum.count >= CALLS
            && sum.bytes as f64 <= BYTES * sum.count as f64
            && sum.count as f64 >= IN_A_ROW * pauses
    });
    let mut busy: HashMap<u32, f64> = HashMap::new();
    sent.iter().for_each(|((_, thread, _), sum)| *busy.entry(*thread).or_default() += sum.working_ns());
    sent.retain(|(_, thread, _), _| busy[thread] >= BUSY * lived_ns(evidence, *thread));
    if sent.is_empty() {
        return Vec::new();
    }
    let streams = on_streams(evidence);
    sent.retain(|(site, ..), sum| sum.stacks().any(|stack| streams.contains(&(site.process, stack))));
    let mut places: BTreeMap<Site, (Sum, BTreeSet<u32>)> = BTreeMap::new();
    for ((site, _, file), sum) in sent {
        let (all, files) = places.entry(site).or_default();
        all.join(&sum);
        files.insert(file);
    }
    places.into_iter().map(|(site, (sum, files))| (site, sum, files.len())).collect()
}

/// Whether a thread waits in a call, or receives something: what it sent before may have had to be there first.
fn pauses_for(row: &Syscall) -> bool {
    is_receive(row) || is_sleep(row) || POLLS.contains(&row.number) || row.blocked_ns > 0 && !is_send(row)
}

/// Elapsed time from the start of a thread to its end, ns.
fn lived_ns(evidence: &Evidence<'_>, thread: u32) -> f64 {
    let about = &evidence.recording.about;
    let row = &evidence.recording.tables.threads[thread as usize];
    let end = row.end_ns.unwrap_or(about.start_ns + about.wall_ns);
    end.saturating_sub(row.start_ns) as f64
}

/// Stacks of user code from which the kernel was seen to send on a stream, by process.
fn on_streams(evidence: &Evidence<'_>) -> HashSet<(u32, u32)> {
    let tables = &evidence.recording.tables;
    let sends = |function: u32| STREAMS.iter().any(|name| evidence.name(function).starts_with(name));
    let with = evidence.stacks_with(sends);
    let in_kernel =
        |stack: u32| tables.locations[tables.stacks[stack as usize].location as usize].kind == "kernel";
    let of_user = |stack: u32| {
        let mut up = std::iter::successors(Some(stack), |stack| tables.stacks[*stack as usize].parent);
        up.find(|stack| !in_kernel(*stack))
    };
    let sending = tables.samples.iter().filter_map(|sample| {
        let stack = sample.stack.filter(|stack| with[*stack as usize])?;
        Some((evidence.process_of(sample), of_user(stack)?))
    });
    sending.collect()
}
