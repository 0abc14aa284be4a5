//! Where to look when no cause was found: the program's innermost function that most of the CPU time passes through, and the longest
//! wait. Not findings: nothing says that either could be less.

use crate::Evidence;
use crate::calls::{Calls, Sum};
use crate::causes::words::base_name;
use crate::findings::{Busiest, Leads, Wait};
use crate::hot::is_own;
use slowpath_recording::tables::Syscall;
use slowpath_syscalls::{FUTEX, WAITS, name};
use std::collections::BTreeMap;

/// A function with this share of the CPU time has most of it.
const MOST: f64 = 0.5;
/// Times that differ by chance alone.
const SAME: f64 = 1.02;
/// What is less than a tenth of the elapsed time is no lead.
const LEAST: f64 = 0.1;
/// A child's wait of this share of its parent's is what the parent waits for.
const SAME_WAIT: f64 = 0.5;
/// Children of children are followed so far.
const GENERATIONS: usize = 16;

/// See the file's head.
pub(crate) fn leads(evidence: &Evidence<'_>) -> Leads {
    Leads { busiest: busiest(evidence), wait: longest_wait(evidence) }
}

fn busiest(evidence: &Evidence<'_>) -> Option<Busiest> {
    let tables = &evidence.recording.tables;
    let about = &evidence.recording.about;
    // In order: sums of floats depend on it, and a report made again from its recording must be the same.
    let mut by_stack: BTreeMap<u32, f64> = BTreeMap::new();
    for (sample, weight) in tables.samples.iter().zip(&evidence.weights) {
        if let Some(stack) = sample.stack {
            *by_stack.entry(stack).or_default() += weight;
        }
    }
    // Time in each function with what it calls; that time, times how many of the program's own functions are around it.
    let mut times: BTreeMap<u32, (f64, f64)> = BTreeMap::new();
    for (stack, weight) in by_stack {
        let frames = evidence.locations(stack).flat_map(|location| evidence.recording.frames_of(location));
        let mut own: Vec<u32> = Vec::new();
        for function in frames.map(|frame| frame.function).filter(|function| is_own(evidence, *function)) {
            if !own.contains(&function) {
                own.push(function);
            }
        }
        for (around, function) in own.into_iter().rev().enumerate() {
            let of = times.entry(function).or_default();
            of.0 += weight;
            of.1 += weight * around as f64;
        }
    }
    times.retain(|_, (ns, _)| *ns >= MOST * evidence.cpu_ns);
    let least = times.values().map(|(ns, _)| *ns).fold(f64::INFINITY, f64::min);
    // A function and its only caller have as good as the same time: the innermost of them.
    times.retain(|_, (ns, _)| *ns <= SAME * least);
    let (function, (ns, around)) =
        times.into_iter().max_by(|a, b| (a.1.1 / a.1.0).total_cmp(&(b.1.1 / b.1.0)).then(b.0.cmp(&a.0)))?;
    // That all passes through where the program begins is no news.
    if around < MOST * ns || ns < LEAST * about.wall_ns as f64 {
        return None;
    }
    let share = (ns / evidence.cpu_ns.max(1.0)).min(1.0);
    Some(Busiest { function: evidence.frame(function), total_ns: ns as u64, share })
}

fn longest_wait(evidence: &Evidence<'_>) -> Option<Wait> {
    let tables = &evidence.recording.tables;
    let calls = Calls::new(evidence);
    let mut processes: Vec<u32> =
        tables.processes.iter().filter(|one| one.parent.is_none()).map(|one| one.process).collect();
    let mut found: Option<Wait> = None;
    let mut for_child = false;
    for _ in 0..GENERATIONS {
        let Some(mut wait) = of_threads(evidence, &calls, &processes, Threads::First) else { break };
        // Who waits for the other threads waits for what they wait for. One long call is that of a thread that idles.
        if wait.1 == FUTEX
            && let Some(others) = of_threads(evidence, &calls, &processes, Threads::Others)
            && others.0.total_ns as f64 >= SAME_WAIT * wait.0.total_ns as f64
            && others.0.calls > 1
        {
            wait = others;
        }
        if let Some(before) = &found
            && (wait.0.total_ns as f64) < SAME_WAIT * before.total_ns as f64
        {
            break;
        }
        let (wait, number) = wait;
        found = Some(wait);
        for_child = WAITS.contains(&number);
        if !for_child {
            break;
        }
        let is_child = |parent: Option<u32>| parent.is_some_and(|parent| processes.contains(&parent));
        processes =
            tables.processes.iter().filter(|one| is_child(one.parent)).map(|one| one.process).collect();
    }
    // Whoever waits for a child that works waits for that work, as a shell does.
    let is_work = |wait: &Wait| for_child && evidence.cpu_ns >= SAME_WAIT * wait.total_ns as f64;
    let is_long = |wait: &Wait| wait.total_ns as f64 >= LEAST * evidence.recording.about.wall_ns as f64;
    found.filter(|wait| is_long(wait) && !is_work(wait))
}

/// Which threads of processes.
#[derive(Clone, Copy, PartialEq)]
enum Threads {
    First,
    /// The others, where they do not wait for each other.
    Others,
}

/// What one of these threads of processes waited for longest, in one kind of call on one thing from one place; and the call's number.
fn of_threads(
    evidence: &Evidence<'_>,
    calls: &Calls<'_>,
    processes: &[u32],
    threads: Threads,
) -> Option<(Wait, u32)> {
    let tables = &evidence.recording.tables;
    let is_one = |row: &Syscall, process: u32| {
        let is_first = tables.threads[row.thread as usize].tid == tables.processes[process as usize].pid;
        is_first == (threads == Threads::First) && (is_first || row.number != FUTEX)
    };
    // By thread (several may wait at the same time), call, what it concerns, and the place.
    type Key = (u32, u32, u32, Option<u32>, Option<u32>);
    let mut waits: BTreeMap<Key, Sum> = BTreeMap::new();
    for (row, process) in calls.all() {
        if row.blocked_ns > 0 && processes.contains(&process) && is_one(row, process) {
            waits.entry((process, row.thread, row.number, row.file, calls.own(row))).or_default().add(row);
        }
    }
    let ((process, _, number, file, own), sum) =
        waits.into_iter().max_by(|a, b| a.1.blocked_ns.total_cmp(&b.1.blocked_ns))?;
    let path = sum.stack().zip(own).map(|(stack, own)| evidence.path_at(stack, own));
    let whole = &tables.processes[process as usize];
    let wait = Wait {
        program: base_name(&whole.program).to_owned(),
        call: name(number),
        file: file.map(|file| tables.files[file as usize].path.clone()).filter(|path| !path.is_empty()),
        calls: sum.count,
        total_ns: sum.blocked_ns as u64,
        function: path.and_then(|path| path.last().cloned()),
    };
    Some((wait, number))
}
