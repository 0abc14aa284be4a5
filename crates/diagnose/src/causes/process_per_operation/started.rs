//! When a child has started up: as soon as it touches what only it (or its parent) has, the input that it was started for, or writes a result. One without any has
//! started up with the last library or settings that it loads. What only samples or pauses tell is left to `pauses` and `tracing`.

use super::Operation;
use super::pauses::before_a_pause;
use crate::Evidence;
use crate::calls::{Calls, is_met, is_read_open, is_sleep};
use slowpath_recording::tables::Syscall;
use slowpath_syscalls::{EXECVE, EXECVEAT, MMAP, MPROTECT, MUNMAP, OPENS, READS, WRITES};
use std::collections::{BTreeSet, HashMap};

/// A file that this share of the operations touches is part of starting up.
pub(super) const COMMON: f64 = 0.5;
/// Where only one could be traced: folders of what programs load and of their settings.
const OF_THE_SYSTEM: [&str; 4] = ["/usr/", "/lib", "/etc/", "/proc/"];
/// What loads a program.
pub(super) const LOADS: [u32; 5] = [EXECVE, EXECVEAT, MMAP, MPROTECT, MUNMAP];
/// A sleep of this length is no part of starting up, ns.
const SLEEP_NS: u64 = 1_000_000;

/// When each operation had started up.
pub(super) fn started(evidence: &Evidence<'_>, calls: &Calls<'_>, operations: &[Operation]) -> Vec<u64> {
    let tables = &evidence.recording.tables;
    let of: HashMap<u32, usize> = operations
        .iter()
        .enumerate()
        .flat_map(|(at, operation)| operation.members.iter().map(move |process| (*process, at)))
        .collect();
    // Named files and who opens them; pipes and sockets, and how many sides of the whole tree use them.
    let mut openers: HashMap<&str, BTreeSet<usize>> = HashMap::new();
    let mut users: HashMap<(u64, u64), BTreeSet<Option<usize>>> = HashMap::new();
    let mut own: BTreeSet<(usize, u32)> = BTreeSet::new();
    for (row, process) in calls.all().filter(|(row, _)| row.result >= 0 && !is_met(row)) {
        let Some(file) = calls.file(row) else { continue };
        match of.get(&process) {
            Some(at) if OPENS.contains(&row.number) => {
                openers.entry(&file.path).or_default().insert(*at);
                own.insert((*at, file.file));
            }
            operation if file.inode != 0 => {
                users.entry((file.device, file.inode)).or_default().insert(operation.copied());
            }
            _ => {}
        }
    }
    // Of those that were not traced it is not known what they opened.
    let traced: BTreeSet<usize> = openers.values().flatten().copied().collect();
    let few = |path: &str| match openers.get(path) {
        Some(_) if traced.len() == 1 => !OF_THE_SYSTEM.iter().any(|folder| path.starts_with(folder)),
        Some(by) => (by.len() as f64) < (COMMON * traced.len() as f64).max(2.0),
        None => true,
    };
    let mut at: Vec<u64> = vec![u64::MAX; operations.len()];
    // The end of the last call that loads code or settings, for those that have no input.
    let mut loaded: Vec<u64> = operations.iter().map(|operation| operation.start).collect();
    for (row, process) in calls.all().filter(|(row, _)| row.result >= 0 && !is_met(row)) {
        let Some(operation) = of.get(&process) else { continue };
        if LOADS.contains(&row.number) {
            loaded[*operation] = loaded[*operation].max(row.end_ns.min(operations[*operation].end));
        }
        // To wait for a time is what it was started for.
        if is_sleep(row) && row.duration_ns >= SLEEP_NS {
            at[*operation] = at[*operation].min(row.time_ns);
        }
        let Some(file) = calls.file(row) else { continue };
        let executed = tables.processes[process as usize].exec_ns.unwrap_or(u64::MAX);
        if file.kind == "file" && reads_or_opens(row) && !few(&file.path) {
            loaded[*operation] = loaded[*operation].max(row.end_ns.min(operations[*operation].end));
        }
        if row.time_ns < executed {
            continue;
        }
        let shared = users.get(&(file.device, file.inode)).is_some_and(|users| users.len() > 1);
        let (reads, writes) = (READS.contains(&row.number), WRITES.contains(&row.number));
        let input = match file.kind.as_str() {
            "file" => (is_read_open(row) || reads) && !file.path.is_empty() && few(&file.path),
            "pipe" | "socket" => reads && shared,
            "terminal" => reads,
            _ => false,
        };
        // To what was open when it started, or a pipe that others use too: not to a lock or a log of its own.
        let output = writes
            && match file.kind.as_str() {
                "pipe" | "socket" => shared,
                _ => !own.contains(&(*operation, file.file)),
            };
        if input || output {
            at[*operation] = at[*operation].min(row.time_ns);
        }
    }
    if evidence.by_ptrace {
        loaded = before_a_pause(evidence, calls, &of, operations, &few);
    }
    let either = |at: u64, loaded: u64| match at {
        u64::MAX => loaded,
        at if evidence.by_ptrace => at.min(loaded),
        at => at,
    };
    at.into_iter().zip(loaded).map(|(at, loaded)| either(at, loaded)).collect()
}

fn reads_or_opens(row: &Syscall) -> bool {
    READS.contains(&row.number) || OPENS.contains(&row.number)
}
