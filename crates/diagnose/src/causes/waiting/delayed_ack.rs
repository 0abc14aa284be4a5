//! Two small messages in a row on a TCP socket, then a wait for the answer of some 40 ms: the kernel holds the second message
//! back until the first is acknowledged (Nagle's algorithm, RFC 896), and the other side delays the acknowledgement (RFC 1122,
//! 4.2.3.2; 40 ms at least in Linux), since it has nothing to answer as yet.

use super::super::words::{count, time};
use crate::Evidence;
use crate::calls::{CallSite, Calls, Sum, fact, from, is_connect, is_receive, is_send, moment, place};
use crate::candidate::Candidate;
use crate::draft::Draft;
use crate::findings::{Basis, Confidence, Cost, Sure};
use crate::gate::Gate;
use slowpath_recording::tables::Syscall;
use slowpath_syscalls::{POLLS, SENDFILE, SETSOCKOPT};
use std::collections::{BTreeMap, HashMap, HashSet};

/// Messages that do not fill a packet, bytes: the first is sent at once, and acknowledged late.
pub(super) const SMALL: u64 = 1_400;
/// What fits into one packet on the loopback device, bytes: its MTU of 65,536 less the headers, as Linux has it. Of a second message the end is held back if it does not fill a packet.
const PACKET: u64 = 65_483;
/// How addresses of this machine begin.
const HERE: [&str; 3] = ["127.", "::1", "[::1]"];
/// A wait of such a length, ns, is one for a delayed acknowledgement.
pub(super) const DELAYED_NS: std::ops::RangeInclusive<u64> = 36_000_000..=50_000_000;
/// Such waits from one place before they count, and their share of all waits after two small messages.
pub(super) const WAITED: u64 = 5;
pub(super) const MOST: f64 = 0.5;
/// What the other side sends so soon after it was written to, ns, it may have sent before it had read that; and what comes so soon behind another call was traced in the
/// same window: between two windows are several ms.
const SOON_NS: u64 = 1_000_000;
/// That a message crossed others is concluded from what follows: nearly all waits behind it, and no fewer, are as long as the kernel's timer of 40 ms makes them. Of 60
/// each took 40.5 to 42 ms. Whoever answers after just that time each time is left out as far as can be.
const CROSSED: u64 = 10;
const NEARLY_ALL: f64 = 0.9;
const TIMER_NS: std::ops::RangeInclusive<u64> = 39_000_000..=46_000_000;
/// See [`crate::findings::Finding::variant`].
pub(in crate::causes) const VARIANT: &str = "delayed-ack";
pub(super) const GATE: Gate = Gate::TENTH_OF_WALL;

/// The finding's title, and what to do.
pub(super) const TITLE: &str = "waits for delayed acknowledgements";
const AT_ONCE: &str =
    "Set TCP_NODELAY on the socket: joining the messages is not possible, since one is read between them";
pub(super) const NO_DELAY: &str = "Write each message in one call (writev, or a buffer that is flushed once), set TCP_NODELAY, or mark all but the last part with MSG_MORE";

/// Waits after two small messages in a row: those that were delayed, and how many there were.
#[derive(Default)]
struct Waits {
    delayed: Sum,
    /// In windows: as long, but what came before is not known.
    alike: Sum,
    /// Waits that were looked at, those of them that were delayed, and those that took as long as the timer.
    all: u64,
    late: u64,
    by_timer: u64,
    /// Who wrote the last of the messages, and how often.
    writers: BTreeMap<(Option<u32>, Option<u32>), u64>,
    /// Threads, and the sockets that they wrote to.
    sides: HashSet<(u32, u32)>,
}

/// What a thread last wrote to: the socket, and how many small messages in a row.
#[derive(Default)]
struct Written {
    socket: Option<u32>,
    small: u32,
    /// When the last one was written, and whether a message of the other side came since that acknowledged but the first of several.
    end_ns: u64,
    crossed: bool,
    answered_ns: u64,
    /// The stack of the last one, and the function that wrote it.
    by: (Option<u32>, Option<u32>),
}

impl Written {
    /// A message of the other side came. With it comes the acknowledgement of what had arrived there; if it comes so soon that it may have crossed ours, that is the first
    /// of several, and the others, held back until now, are on their way. It may be read in parts.
    fn answered(&mut self, now_ns: u64) {
        let soon = now_ns.saturating_sub(self.end_ns) <= SOON_NS;
        let crosses = soon && (self.small >= 2 || self.crossed && self.small == 1);
        (self.small, self.crossed) = (u32::from(crosses), crosses);
        self.answered_ns = now_ns;
    }
}

/// What is reported, and the threads that wrote, with their sockets.
pub(super) fn find(evidence: &Evidence<'_>, calls: &Calls<'_>) -> (Vec<Candidate>, HashSet<(u32, u32)>) {
    let mut threads: HashMap<u32, Written> = HashMap::new();
    // Those behind messages that crossed apart: all others of the place may be on time.
    let mut places: BTreeMap<(CallSite, bool), Waits> = BTreeMap::new();
    // Threads whose last connection is to this machine.
    let mut local: HashSet<u32> = HashSet::new();
    // Sockets of which an option was set: they may hold nothing back.
    let mut set: HashSet<(u32, u32)> = HashSet::new();
    // When the last call of each thread was over.
    let mut ended: HashMap<u32, u64> = HashMap::new();
    let in_windows = evidence.recording.about.in_windows();
    // In windows a row stands for others like it.
    let is_known = |row: &Syscall| moment(evidence, row).is_some();
    for (row, process) in calls.all() {
        if is_connect(row) {
            let here =
                calls.file(row).is_some_and(|file| HERE.iter().any(|here| file.path.starts_with(here)));
            if here {
                local.insert(row.thread)
            } else {
                local.remove(&row.thread)
            };
        }
        let socket = calls.file(row).filter(|file| file.kind == "socket").map(|file| file.file);
        // Of a file a part may be sent without being read.
        let sends = is_send(row) || row.number == SENDFILE;
        let receives = is_receive(row);
        let before_ns = ended.insert(row.thread, row.end_ns).unwrap_or(0);
        // Whether there is room for the next message, asked before it is written, or whether an answer is there that then is read.
        if POLLS.contains(&row.number) && row.blocked_ns == 0 {
            continue;
        }
        let written = threads.entry(row.thread).or_default();
        // A cork that is taken out sends what it held back.
        if row.number == SETSOCKOPT {
            (written.small, written.crossed) = (0, false);
            set.extend(socket.map(|socket| (process, socket)));
        }
        if receives && socket.is_some() && socket != written.socket {
            written.crossed = false; // the event was that
        }
        if sends && socket.is_some() && row.result > 0 {
            let since = row.time_ns.saturating_sub(written.end_ns.max(written.answered_ns));
            // Of two that lie apart the call between them may not have been traced.
            let behind = written.socket == socket && (since <= SOON_NS || !in_windows && !written.crossed);
            let before = if behind { written.small } else { 0 };
            let most = if before > 0 && local.contains(&row.thread) { PACKET } else { SMALL };
            let small = is_known(row) && row.bytes <= most.saturating_mul(row.count);
            let by = (row.stack, calls.own(row));
            let crossed = written.crossed && before > 0;
            *written = Written {
                socket,
                small: if small { before + 1 } else { 0 },
                end_ns: row.end_ns,
                crossed,
                answered_ns: 0,
                by,
            };
        } else if receives && socket.is_some() && socket == written.socket || POLLS.contains(&row.number) {
            let is_late = DELAYED_NS.contains(&(row.blocked_ns / row.count.max(1)));
            let of_set =
                |written: &Written| written.socket.is_some_and(|socket| set.contains(&(process, socket)));
            let may_hold_back = |written: &Written| !written.crossed || !of_set(written);
            let unknown = in_windows && row.time_ns.saturating_sub(before_ns) > SOON_NS;
            if unknown && is_late && row.result > 0 {
                places.entry(((process, calls.own(row)), false)).or_default().alike.add(row);
            } else if written.small >= 2 && is_known(row) && row.result > 0 && may_hold_back(written) {
                let crossed = written.crossed;
                let waits = places.entry(((process, calls.own(row)), crossed)).or_default();
                waits.all += 1;
                waits.by_timer += u64::from(TIMER_NS.contains(&(row.blocked_ns / row.count.max(1))));
                if is_late {
                    waits.late += 1;
                    waits.delayed.add(row);
                    *waits.writers.entry(written.by).or_default() += 1;
                    waits.sides.extend(written.socket.map(|socket| (row.thread, socket)));
                }
            }
            if row.result > 0 {
                written.answered(row.end_ns);
            }
        }
    }
    let found = places.into_iter().filter_map(|((place, crossed), waits)| {
        Some((finding(evidence, place, crossed, &waits)?, waits.sides))
    });
    let (found, sides): (Vec<Candidate>, Vec<HashSet<(u32, u32)>>) = found.unzip();
    (found, sides.into_iter().flatten().collect())
}

fn finding(
    evidence: &Evidence<'_>,
    (process, own): CallSite,
    crossed: bool,
    waits: &Waits,
) -> Option<Candidate> {
    let delayed = &waits.delayed;
    if waits.late < WAITED || (waits.late as f64) < MOST * waits.all as f64 {
        return None;
    }
    let by_timer = waits.by_timer >= CROSSED && waits.by_timer as f64 >= NEARLY_ALL * waits.all as f64;
    if crossed && !by_timer {
        return None;
    }
    // Of those of which it is not known what came before as many are delayed.
    let part = waits.late as f64 / waits.all.max(1) as f64;
    let alike = part * waits.alike.count as f64;
    let number = delayed.count as f64 + alike;
    let cost = delayed.blocked_ns + part * waits.alike.blocked_ns;
    let sure = if waits.alike.count > 0 { Sure::Fitted } else { Sure::Exact };
    if !GATE.may_pass(evidence, cost) {
        return None;
    }
    let stack = delayed.stack();
    // The fix is where the messages are written.
    let writer = waits.writers.iter().filter(|((_, own), _)| own.is_some()).max_by_key(|(_, times)| **times);
    let (at, by) = writer.map_or((stack, own), |((stack, own), _)| (*stack, *own));
    let waiting =
        if by == own { String::new() } else { from(evidence, stack, own).replacen(" from ", " in ", 1) };
    let draft = Draft {
        not_known: "whether the other side itself takes that long to answer: its acknowledgements are not seen",
        variant: VARIANT,
        explanation: vec![
            format!(
                "{} times the program {}{} and then waited{} for the answer: {} each time, {} in total",
                count(number),
                match crossed {
                    true =>
                        "wrote small messages to a socket, read one from it less than 1 ms later, wrote another small one",
                    false => "wrote a small message and then another one to a socket",
                },
                from(evidence, at, by),
                waiting,
                time(cost / number),
                time(cost)
            ),
            format!(
                "the other side delays its acknowledgement of {} by 40 ms; until then the kernel holds the {} message back (Nagle's algorithm)",
                if crossed { "the messages before" } else { "the first message" },
                if crossed { "last" } else { "second" }
            ),
        ],
        facts: vec![
            fact("delayed waits", number, "calls", sure),
            fact("waits after two small messages", number / part.max(f64::EPSILON), "calls", sure),
            fact("time waited", cost, "ns", sure),
        ],
        advice: if crossed { AT_ONCE } else { NO_DELAY }.to_owned(),
        ..Draft::new(
            &super::CAUSE,
            TITLE,
            Confidence::Likely,
            Cost::new(Basis::Wall, cost, cost),
            place(evidence, at, by, process),
        )
    };
    Some(draft.candidate(evidence, GATE, process))
}
