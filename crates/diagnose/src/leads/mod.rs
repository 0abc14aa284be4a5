//! Where to look when no cause was found: the program's innermost function that most of the CPU time passes through, the loop that takes most
//! of the time, and the longest wait. Not findings: nothing says that any of them could be less.

mod loops;

use crate::Evidence;
use crate::calls::{Calls, Sum, is_single, is_sleep};
use crate::causes::runtime;
use crate::causes::words::base_name;
use crate::findings::{Busiest, Leads, Wait};
use crate::goroutines;
use crate::hot::is_own;
use slowpath_recording::Tables;
use slowpath_recording::tables::{Process, Syscall};
use slowpath_syscalls::{FUTEX, POLL, WAITS, name};
use std::collections::{BTreeMap, BTreeSet};

/// A function with this share of the CPU time has most of it.
const MOST: f64 = 0.5;
/// Times that differ by chance alone.
const SAME: f64 = 1.02;
/// What is less than a tenth of the elapsed time is no lead.
const LEAST: f64 = 0.1;
/// A child's wait of this share of its parent's is what the parent waits for.
const SAME_WAIT: f64 = 0.5;
/// A child whose end was waited for for this share of all that its parent waited for children is one of those that matter.
const LEAST_OF_WAIT: f64 = 0.05;
/// The first version whose recordings tell how many descriptors a poll looks at.
const WITH_DESCRIPTORS: (u32, u32) = (1, 15);
/// Children of children are followed so far.
const GENERATIONS: usize = 16;

/// See the file's head.
pub(crate) fn leads(evidence: &Evidence<'_>) -> Leads {
    Leads { busiest: busiest(evidence), busy_loop: loops::busiest(evidence), wait: longest_wait(evidence) }
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
        // So does the first thread of Go's runtime, which any goroutine may run on.
        if (wait.1 == FUTEX || wait.2)
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
        if wait.2 {
            // What a child's runtime waits for is not known, and that somebody waits for the child says nothing.
            found = None;
            break;
        }
        let (wait, number, _) = wait;
        let of_parent = wait.total_ns as f64;
        found = Some(wait);
        for_child = WAITS.contains(&number);
        if !for_child {
            break;
        }
        let is_child = |parent: Option<u32>| parent.is_some_and(|parent| processes.contains(&parent));
        let children: Vec<&Process> = tables.processes.iter().filter(|one| is_child(one.parent)).collect();
        // Servers that run beside those that are waited for idle.
        let waited_for: Vec<&Syscall> = calls
            .all()
            .filter(|(row, process)| processes.contains(process) && WAITS.contains(&row.number))
            .filter(|(row, _)| {
                is_single(row) && row.result > 0 && row.blocked_ns as f64 >= LEAST_OF_WAIT * of_parent
            })
            .map(|(row, _)| row)
            .collect();
        let explained: f64 = waited_for.iter().map(|row| row.blocked_ns as f64).sum();
        let pids: BTreeSet<i64> = waited_for.into_iter().map(|row| row.result).collect();
        let is_waited_for =
            |child: &&Process| explained < SAME_WAIT * of_parent || pids.contains(&i64::from(child.pid));
        processes = children.into_iter().filter(is_waited_for).map(|one| one.process).collect();
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

/// What one of these threads of processes waited for longest, in one kind of call on one thing from one place; the call's number, and whether it is a language's
/// runtime that waits for something to run. Of other threads such waits do not count, nor where the runtime sleeps.
fn of_threads(
    evidence: &Evidence<'_>,
    calls: &Calls<'_>,
    processes: &[u32],
    threads: Threads,
) -> Option<(Wait, u32, bool)> {
    let tables = &evidence.recording.tables;
    let is_one = |row: &Syscall, process: u32| {
        let is_first = tables.threads[row.thread as usize].tid == tables.processes[process as usize].pid;
        is_first == (threads == Threads::First) && (is_first || row.number != FUTEX)
    };
    // Those of one program that run one after the other wait as one.
    let stands_for = one_after_the_other(tables, processes);
    // By thread (several may wait at the same time), call, what it concerns, and the place.
    let version = evidence.recording.about.format;
    // With a time-out: without one it waits for a signal. Of `ppoll` it is not recorded how long that is.
    let polls_nothing = |row: &Syscall| {
        (version.major, version.minor) >= WITH_DESCRIPTORS
            && row.number == POLL
            && row.argument >> 32 == 0
            && row.argument as i32 >= 0
    };
    type Key = (u32, Option<u32>, u32, Option<u32>, Option<u32>);
    let mut waits: BTreeMap<Key, (Sum, bool)> = BTreeMap::new();
    for (row, process) in calls.all() {
        if row.blocked_ns > 0 && processes.contains(&process) && is_one(row, process) {
            let first = stands_for.get(&process).copied().unwrap_or(process);
            let thread = if threads == Threads::First { None } else { Some(row.thread) };
            let key = (first, thread, row.number, row.file, calls.own(row));
            let (sum, asleep) = waits.entry(key).or_insert_with(|| (Sum::default(), true));
            sum.add(row);
            *asleep &= is_sleep(row) || polls_nothing(row);
        }
    }
    let of_program = |((.., own), (sum, asleep)): &(Key, (Sum, bool))| {
        let counts = !*asleep && threads == Threads::First;
        counts || !goroutines::is_of_runtime(evidence, sum.stack(), *own)
    };
    let ((process, _, number, file, own), (sum, asleep)) =
        waits.into_iter().filter(of_program).max_by(|a, b| a.1.0.blocked_ns.total_cmp(&b.1.0.blocked_ns))?;
    let of_runtime = goroutines::is_of_runtime(evidence, sum.stack(), own);
    let path = sum.stack().zip(own).map(|(stack, own)| evidence.path_at(stack, own));
    let whole = &tables.processes[process as usize];
    let wait = Wait {
        program: base_name(&whole.program).to_owned(),
        call: name(number),
        asleep,
        file: file.map(|file| tables.files[file as usize].path.clone()).filter(|path| !path.is_empty()),
        calls: sum.count,
        total_ns: sum.blocked_ns as u64,
        // What was inlined of the language's library says less.
        function: path.and_then(|path| {
            path.iter().rev().find(|frame| !runtime::is_name(frame)).or(path.last()).cloned()
        }),
    };
    Some((wait, number, of_runtime))
}

/// For each process the first one of its program, where these ran one after the other.
fn one_after_the_other(tables: &Tables, processes: &[u32]) -> BTreeMap<u32, u32> {
    let mut by_program: BTreeMap<&str, Vec<&Process>> = BTreeMap::new();
    for process in processes {
        let one = &tables.processes[*process as usize];
        by_program.entry(base_name(&one.program)).or_default().push(one);
    }
    for of_program in by_program.values_mut() {
        of_program.sort_by_key(|one| one.start_ns);
    }
    let apart = |of_program: &&Vec<&Process>| {
        let ends = |one: &Process| one.end_ns.unwrap_or(u64::MAX);
        of_program.windows(2).all(|pair| ends(pair[0]) <= pair[1].start_ns)
    };
    let of_each = |of_program: &Vec<&Process>| {
        let first = of_program.first().map_or(0, |one| one.process);
        of_program.iter().map(|one| (one.process, first)).collect::<Vec<_>>()
    };
    by_program.values().filter(apart).flat_map(of_each).collect()
}
