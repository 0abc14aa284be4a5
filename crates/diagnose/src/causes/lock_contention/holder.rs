//! What the holder of a lock does while others wait for it: from the waits of which it is known whose call ended them.

use super::super::words::time;
use super::locks::Lock;
use crate::Evidence;
use crate::calls::{Calls, is_receive, is_send, is_single};
use slowpath_recording::tables::{Syscall, Wait};
use slowpath_syscalls::{ACCEPTS, FUTEX, POLLS, name};
use std::collections::{BTreeMap, HashMap};

/// From this share of the time on the holder mostly slept, or rested.
const MOST: f64 = 0.5;
/// Of less than this share nothing is said.
const SOME: f64 = 0.1;

/// See the file's head.
#[derive(Debug, Default)]
pub(super) struct Holder {
    /// Time of the waits that this is known of, ns.
    waited_ns: f64,
    /// A stack from which the lock was released.
    pub stack: Option<u32>,
    /// CPU time of the holder meanwhile, ns, and the program's own function with most of it.
    cpu_ns: f64,
    pub working: Option<u32>,
    working_name: String,
    /// Time asleep in system calls meanwhile, ns, and the call with most of it.
    asleep_ns: f64,
    asleep_in: Option<String>,
    /// All that time by stack, ns.
    pub busy: BTreeMap<u32, f64>,
    /// … and waiting for work, ns: for a connection, a message that it did not ask for, or another thread.
    resting_ns: f64,
}

pub(super) fn holder(evidence: &Evidence<'_>, calls: &Calls<'_>, lock: &Lock) -> Holder {
    let tables = &evidence.recording.tables;
    let mut holder = Holder::default();
    let mut stacks: BTreeMap<u32, f64> = BTreeMap::new();
    // By thread that held it, from and to, in order.
    let mut held: HashMap<u32, Vec<(u64, u64)>> = HashMap::new();
    let of_lock = |wait: &&Wait| wait.file.is_some_and(|file| lock.files.contains(&file));
    for wait in tables.waits.iter().filter(of_lock) {
        let Some(waker) =
            wait.waker.filter(|waker| *waker != wait.thread && lock.users.contains_key(&wait.thread))
        else {
            continue;
        };
        let of = held.entry(waker).or_default();
        let until = wait.time_ns.saturating_add(wait.duration_ns);
        // Others may have held it before this one did; and of several who wait at once for one holder the time counts once.
        let waited_until = lock.users.get(&waker).map_or(&[][..], |user| &user.waited_until);
        let took =
            waited_until[..waited_until.partition_point(|end| *end < until)].last().copied().unwrap_or(0);
        let from = of.last().map_or(wait.time_ns, |(_, until)| wait.time_ns.max(*until)).max(took);
        if from < until {
            of.push((from, until));
        }
        // How long it was held before that, not how long it was waited for: others held it then.
        if let Some(stack) = wait.waker_stack {
            *stacks.entry(stack).or_default() += until.saturating_sub(from) as f64;
        }
    }
    holder.waited_ns = held.values().flatten().map(|(from, until)| (until - from) as f64).sum();
    holder.stack = stacks.into_iter().max_by(|a, b| a.1.total_cmp(&b.1)).map(|(stack, _)| stack);
    let overlap = |thread: u32, from: u64, until: u64| -> u64 {
        let of = held.get(&thread).map_or(&[][..], Vec::as_slice);
        let first = of.partition_point(|(_, end)| *end <= from);
        of[first..]
            .iter()
            .take_while(|(start, _)| *start < until)
            .map(|(start, end)| until.min(*end) - from.max(*start))
            .sum()
    };
    let mut functions: BTreeMap<u32, f64> = BTreeMap::new();
    for (sample, weight) in tables.samples.iter().zip(&evidence.weights) {
        if overlap(sample.thread, sample.time_ns, sample.time_ns + 1) > 0 {
            holder.cpu_ns += weight;
            if let Some(stack) = sample.stack {
                *holder.busy.entry(stack).or_default() += weight;
            }
            if let Some(own) = sample.stack.and_then(|stack| calls.own_of(stack)) {
                *functions.entry(own).or_default() += weight;
            }
        }
    }
    let most = functions.into_iter().max_by(|a, b| a.1.total_cmp(&b.1));
    holder.working = most.map(|(function, _)| function);
    holder.working_name = most.map_or_else(String::new, |(function, _)| evidence.name(function).to_owned());
    let mut slept: BTreeMap<u32, f64> = BTreeMap::new();
    // When each holder last sent something: what it then waits for is an answer.
    let mut sent: HashMap<u32, u64> = HashMap::new();
    // A row of calls that were added up says when the first began and the last ended.
    for (row, _) in calls.all().filter(|(row, _)| is_single(row) && held.contains_key(&row.thread)) {
        if is_send(row) {
            sent.insert(row.thread, row.time_ns);
        }
        let ns = (overlap(row.thread, row.time_ns, row.end_ns) as f64).min(row.blocked_ns as f64);
        if ns > 0.0 {
            *slept.entry(row.number).or_default() += ns;
            if let Some(stack) = row.stack {
                *holder.busy.entry(stack).or_default() += ns;
            }
            let user = lock.users.get(&row.thread);
            let took = user.and_then(|user| {
                let before = user.waited_until.partition_point(|end| *end <= row.time_ns);
                before.checked_sub(1).map(|last| user.waited_until[last])
            });
            let asked = sent.get(&row.thread).is_some_and(|at| took.is_none_or(|took| *at >= took));
            if rests(calls, row) && !asked {
                holder.resting_ns += ns;
            }
        }
    }
    holder.asleep_ns = slept.values().sum();
    let most = slept.into_iter().max_by(|a, b| a.1.total_cmp(&b.1));
    holder.asleep_in = most.map(|(number, _)| name(number));
    holder
}

/// Whether the users of a lock wait for something to do, rather than for each other, where it is not known who holds it: of workers that wait for the
/// right to wait one always does. `cost`: the longest that one of them waited for the lock, ns.
pub(super) fn are_at_rest(calls: &Calls<'_>, lock: &Lock, cost: f64) -> bool {
    let mut asked: BTreeMap<u32, bool> = BTreeMap::new();
    let mut sum = 0.0;
    for (row, _) in calls.all().filter(|(row, _)| lock.users.contains_key(&row.thread)) {
        let asked = asked.entry(row.thread).or_default();
        if is_send(row) {
            *asked = true;
        } else if rests(calls, row) && row.file.is_none_or(|file| !lock.files.contains(&file)) {
            sum += if *asked { 0.0 } else { row.blocked_ns as f64 };
            *asked &= !is_receive(row);
        }
    }
    sum >= MOST * cost
}

/// Whether a call waits for something to do, unless it is for an answer.
fn rests(calls: &Calls<'_>, row: &Syscall) -> bool {
    let reads = is_receive(row);
    let channel = || calls.file(row).is_some_and(|file| matches!(file.kind.as_str(), "socket" | "pipe"));
    ACCEPTS.contains(&row.number) || POLLS.contains(&row.number) || row.number == FUTEX || reads && channel()
}

impl Holder {
    /// Workers often wait for the right to wait: one of them waits for work, and holds the lock.
    pub(super) fn is_at_rest(&self) -> bool {
        self.resting_ns >= MOST * self.waited_ns && self.resting_ns > 0.0
    }

    /// What it did, in a sentence.
    pub(super) fn told(&self) -> Option<String> {
        let share = |ns: f64| (ns / self.waited_ns.max(1.0)).min(1.0);
        let percent = |ns: f64| format!("{:.0} %", 100.0 * share(ns));
        let mut parts = Vec::new();
        if share(self.cpu_ns) >= SOME {
            let most = if self.working_name.is_empty() {
                String::new()
            } else {
                format!(", mostly in {}", self.working_name)
            };
            parts.push(format!("was running {} of the time{most}", percent(self.cpu_ns)));
        }
        if let Some(call) = self.asleep_in.as_ref().filter(|_| share(self.asleep_ns) >= SOME) {
            parts.push(format!("was sleeping {}, mostly in {call}", percent(self.asleep_ns)));
        }
        if parts.is_empty() {
            return None;
        }
        Some(format!(
            "while others waited ({}, overlapping waits counted once, waits under 1 ms left out) the holder {}",
            time(self.waited_ns),
            parts.join(" and ")
        ))
    }

    /// Whether it mostly slept.
    pub(super) fn sleeps(&self) -> bool {
        self.asleep_ns >= MOST * self.waited_ns && self.asleep_in.is_some()
    }

    /// What to do.
    pub(super) fn advice(&self) -> String {
        let first = if self.sleeps() {
            "Do not sleep or wait while holding the lock: do that before it is taken or after it is released"
        } else {
            "Hold the lock only while the shared data is accessed: do the work before it is taken or after it is released"
        };
        format!("{first}. Or use several locks, one for each part of the data, or a read-write lock")
    }
}
