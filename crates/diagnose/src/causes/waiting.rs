//! The program waits in place of working, and need not: it sleeps and looks again where it could wait to be told, or it
//! waits for an answer that does not come.
//!
//! A sleep without a question is no sign, for it may be meant; nor is a wait that ends as soon as there is something,
//! however long it takes: whoever is waited for has its own reasons.

use super::words::{count, time};
use crate::Evidence;
use crate::calls::{Calls, Draft, Place, READS, Sum, fact, from, name};
use crate::findings::{Basis, Cause, Confidence, Finding, Sure};
use slowpath_recording::tables::Syscall;
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// Sleeps from one place before they count.
const SLEPT: u64 = 5;
/// For so many of the sleeps there was a look that found nothing.
const EMPTY: f64 = 0.8;
/// The gain is at least this share of the elapsed time, and this long, ns.
const SHARE: f64 = 0.10;
const LEAST_NS: f64 = 50e6;
/// If CPUs are used for this share of the sleeps, the program is at work meanwhile.
const BUSY: f64 = 0.5;
/// Waits for an answer in vain, ns: each, and their share of the elapsed time.
const IN_VAIN_NS: u64 = 500_000_000;
const IN_VAIN_SHARE: f64 = 0.20;

/// nanosleep, clock_nanosleep.
const SLEEPS: [u32; 2] = [35, 230];
/// select, pselect6.
const SELECTS: [u32; 2] = [23, 270];
/// poll, ppoll, epoll_wait, epoll_pwait, epoll_pwait2 and the above.
const POLLS: [u32; 7] = [7, 271, 232, 281, 441, 23, 270];
/// recvfrom, recvmsg, recvmmsg.
const RECEIVES: [u32; 3] = [45, 47, 299];
/// sendto, sendmsg, sendmmsg.
const SENDS: [u32; 3] = [44, 46, 307];
const CONNECT: u32 = 42;
/// wait4, waitid.
const WAITS: [u32; 2] = [61, 247];
/// Nothing there yet: ENOENT, ESRCH, ECHILD, EAGAIN, EBUSY, EEXIST, ENXIO, ECONNREFUSED, EALREADY, EINPROGRESS.
const NOTHING: [i64; 10] = [-2, -3, -10, -11, -16, -17, -6, -111, -114, -115];
/// ETIMEDOUT, EHOSTUNREACH.
const UNREACHED: [i64; 2] = [-110, -113];
/// What the tracer tells as the argument of a select that looks at nothing.
const LOOKS_AT_NOTHING: u64 = 2;

pub(super) fn find(evidence: &Evidence<'_>) -> Vec<Finding> {
    let calls = Calls::new(evidence);
    sleeping(evidence, &calls).into_iter().chain(in_vain(evidence, &calls)).collect()
}

fn is_sleep(row: &Syscall) -> bool {
    SLEEPS.contains(&row.number) || SELECTS.contains(&row.number) && row.argument == LOOKS_AT_NOTHING
}

/// Looks by the call that made them, and by what they were at: the path or, for want of one, the file.
type ByCall = BTreeMap<u32, BTreeMap<String, Looks>>;

/// Looks by what they brought.
#[derive(Default)]
struct Looks {
    nothing: u64,
    something: u64,
    /// Sleeps right after such a look, as far as calls are told one by one.
    before: u64,
}

/// Sleep, look, sleep again.
fn sleeping(evidence: &Evidence<'_>, calls: &Calls<'_>) -> Vec<Finding> {
    // By thread, for what another thread looks at is another matter.
    let mut sleeps: BTreeMap<Place, (Sum, Vec<(u64, u64)>)> = BTreeMap::new();
    for (row, _) in calls.all().filter(|(row, _)| is_sleep(row)) {
        let (sum, intervals) = sleeps.entry((row.thread, calls.own(row))).or_default();
        sum.add(row);
        if row.count == 1 {
            intervals.push((row.time_ns, row.end_ns));
        }
    }
    sleeps.retain(|_, (sum, _)| sum.count >= SLEPT);
    let looks = looks(calls, sleeps.keys().map(|(thread, _)| *thread).collect());
    let wall = evidence.recording.about.wall_ns as f64;
    let mut findings = Vec::new();
    for ((thread, own), (sum, intervals)) in sleeps {
        let slept = sum.count as f64;
        let each = sum.blocked_ns / slept;
        let Some((number, what, look)) = looks.get(&thread).and_then(|of| most_empty(of, slept)) else {
            continue;
        };
        // What is waited for comes at any moment of the last sleep before it is seen: half of that is lost, on average.
        let gain = 0.5 * each * (look.something as f64).min(slept);
        if gain < (SHARE * wall).max(LEAST_NS) || calls.busy_share(&intervals) > BUSY {
            continue;
        }
        let stack = sum.stack();
        let process = evidence.recording.tables.threads[thread as usize].process;
        let call = name(number);
        let named = !what.is_empty() && !what.starts_with('#');
        let of = if named { format!("{call} of {what}") } else { call };
        findings.push(
            Draft {
                cause: Cause::Waiting,
                title: "sleeps and looks again",
                confidence: Confidence::Likely,
                basis: Basis::Wall,
                cost_ns: sum.blocked_ns,
                gain_ns: gain,
                stack,
                own,
                process,
                files: if named { vec![what.clone()] } else { Vec::new() },
                explanation: vec![
                    format!(
                        "{} times{} the program slept for {}, {} in all",
                        count(slept),
                        from(evidence, stack, own),
                        time(each),
                        time(sum.blocked_ns)
                    ),
                    format!(
                        "it then looked again ({of}): {} times there was nothing, {} times there was something, which had come \
                         while it slept",
                        count(look.nothing as f64),
                        count(look.something as f64)
                    ),
                ],
                facts: vec![
                    fact("sleeps", slept, "calls", Sure::Exact),
                    fact("time of each sleep", each, "ns", Sure::Exact),
                    fact("looks that found nothing", look.nothing as f64, "calls", Sure::Exact),
                    fact("looks that found something", look.something as f64, "calls", Sure::Exact),
                ],
                advice: "Wait to be told: a blocking read, poll or epoll on the socket, pipe or pidfd, inotify for a file, a \
                         condition variable between threads"
                    .to_owned(),
            }
            .finish(evidence),
        );
    }
    findings
}

/// What `threads` looked at between their sleeps, by thread.
fn looks(calls: &Calls<'_>, threads: BTreeSet<u32>) -> HashMap<u32, ByCall> {
    let mut looks: HashMap<u32, ByCall> = HashMap::new();
    let mut last: HashMap<u32, (u32, String)> = HashMap::new();
    for (row, _) in calls.all().filter(|(row, _)| threads.contains(&row.thread)) {
        let of = looks.entry(row.thread).or_default();
        if is_sleep(row) {
            if let Some((number, what)) = last.remove(&row.thread)
                && let Some(look) = of.get_mut(&number).and_then(|of| of.get_mut(&what))
            {
                look.before += 1;
            }
            continue;
        }
        let what = match calls.file(row) {
            Some(file) if !file.path.is_empty() => file.path.clone(),
            Some(file) => format!("#{}", file.file),
            None => String::new(),
        };
        let look = of.entry(row.number).or_default().entry(what.clone()).or_default();
        let reads = READS.contains(&row.number) || RECEIVES.contains(&row.number);
        let nothing = NOTHING.contains(&row.result)
            || row.result == 0 && (WAITS.contains(&row.number) || POLLS.contains(&row.number))
            || row.result == 0 && row.bytes == 0 && row.count == 1 && reads;
        if nothing {
            look.nothing += row.count;
        } else if row.result >= 0 {
            look.something += row.count;
        }
        last.insert(row.thread, (row.number, what));
    }
    looks
}

/// The call whose looks found nothing for most of `slept` sleeps and something afterwards, where it looked most, and how
/// often in all: each time it may look at something else, such as one file after the other.
fn most_empty(looks: &ByCall, slept: f64) -> Option<(u32, String, Looks)> {
    let sums = looks.iter().filter_map(|(number, of)| {
        let told = of.values().any(|look| look.before > 0);
        let empty = || of.iter().filter(|(_, look)| look.nothing > 0 && (!told || look.before > 0));
        let nothing = empty().map(|(_, look)| look.nothing).sum();
        let something = empty().map(|(_, look)| look.something).sum();
        let before = empty().map(|(_, look)| look.before).sum();
        let (what, _) = empty().max_by_key(|(_, look)| look.nothing)?;
        Some((*number, what.clone(), Looks { nothing, something, before }))
    });
    sums.filter(|(_, _, look)| look.nothing as f64 >= EMPTY * slept)
        .max_by_key(|(_, _, look)| (look.before, look.something, look.nothing))
}

/// What a thread last asked of whom, without an answer as yet.
#[derive(Default)]
struct Asked {
    address: Option<u32>,
    sent: bool,
}

/// Waits for an answer that did not come: a connection that was not accepted, a question to an address that stays silent.
fn in_vain(evidence: &Evidence<'_>, calls: &Calls<'_>) -> Vec<Finding> {
    let tables = &evidence.recording.tables;
    let mut asked: HashMap<u32, Asked> = HashMap::new();
    let mut sums: BTreeMap<Place, (Sum, BTreeMap<&str, u64>)> = BTreeMap::new();
    for (row, process) in calls.all() {
        let asked = asked.entry(row.thread).or_default();
        let file = calls.file(row);
        let socket = file.is_some_and(|file| file.kind == "socket");
        let reads = READS.contains(&row.number) || RECEIVES.contains(&row.number);
        let long = row.count == 1 && row.blocked_ns >= IN_VAIN_NS;
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
            asked.sent = true;
        } else if reads && socket && row.result > 0 {
            *asked = Asked::default(); // an answer
        } else if long && asked.sent {
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
    let wall = evidence.recording.about.wall_ns as f64;
    let mut findings = Vec::new();
    for ((process, own), (sum, addresses)) in sums {
        if sum.blocked_ns < (IN_VAIN_SHARE * wall).max(2.0 * IN_VAIN_NS as f64) {
            continue;
        }
        let stack = sum.stack();
        let names: Vec<String> = addresses.keys().map(|address| (*address).to_owned()).collect();
        findings.push(
            Draft {
                cause: Cause::Waiting,
                title: "waits for an answer that does not come",
                confidence: Confidence::Certain,
                basis: Basis::Wall,
                cost_ns: sum.blocked_ns,
                gain_ns: sum.blocked_ns,
                stack,
                own,
                process,
                explanation: vec![format!(
                    "{} times{} the program asked {} and waited {} each time until its patience ended: {} in all, without an answer",
                    count(sum.count as f64),
                    from(evidence, stack, own),
                    crate::calls::some(&names, 3),
                    time(sum.blocked_ns / sum.count as f64),
                    time(sum.blocked_ns)
                )],
                facts: vec![
                    fact("waits in vain", sum.count as f64, "calls", Sure::Exact),
                    fact("time waited", sum.blocked_ns, "ns", Sure::Exact),
                ],
                files: names,
                advice: "See why nobody answers there: a wrong or unreachable address (of a name server: /etc/resolv.conf), a \
                         firewall that drops; ask the one that answers first, and keep the answer"
                    .to_owned(),
            }
            .finish(evidence),
        );
    }
    findings
}
