//! A file that stays open is gone through again and again: read on, rewound, read once more, as where each part that is asked for of a compressed file
//! starts with decompressing all before it.
//!
//! Without a rewind a file that does not grow can give no more bytes than it has. What names its places itself (`pread`) is not meant: that goes anywhere in a file, and
//! whether twice to the same place is not known.

use super::CAUSE;
use crate::Evidence;
use crate::calls::{CallSite, Calls, Sum, fact, from, place};
use crate::candidate::Candidate;
use crate::causes::words::{count, time, times};
use crate::draft::Draft;
use crate::findings::{Basis, Confidence, Cost, Sure};
use crate::gate::Gate;
use slowpath_recording::tables::Syscall;
use slowpath_syscalls::{LSEEK, OPENS, READS, WRITES, WRITES_AT};
use std::collections::{BTreeMap, HashMap};

/// How often a file was read over for each time that it was opened. Who checks a file and then reads it, or reads it in two passes, does so twice or
/// three times.
const OVER: f64 = 4.0;
/// Files up to this size can be kept in memory; others may be read in several passes because they cannot, bytes.
const KEPT: u64 = 1 << 30;
/// Share of the bytes that one function must have asked for; and of the seeks that must lead back.
const MOST: f64 = 0.5;
const GATE: Gate = Gate::TENTH_OF_CPU;

/// What is known of one file in one process.
#[derive(Default)]
struct Read {
    opens: u64,
    bytes: u64,
    places: BTreeMap<Option<u32>, Sum>,
    seeks: u64,
    /// Where the last seek led that was recorded by itself; such seeks after it, and those that led no further.
    last: Option<i64>,
    known: u64,
    back: u64,
    written: bool,
}

impl Read {
    fn seek(&mut self, row: &Syscall) {
        self.seeks += row.count;
        if row.count == 1
            && let Some(last) = self.last.replace(row.result)
        {
            self.known += 1;
            self.back += u64::from(row.result <= last);
        }
    }

    /// Whether it is gone through again: who follows a file that grows, or returns what was read too far of a line, goes on and on.
    fn goes_back(&self) -> bool {
        self.known > 0 && self.back as f64 >= MOST * self.known as f64 && !self.written
    }
}

/// Findings by place; see the file's head.
pub(super) fn find(evidence: &Evidence<'_>, calls: &Calls<'_>) -> Vec<(CallSite, Candidate)> {
    // Where a tracer stops at some calls only, what is between them is not known.
    if evidence.by_ptrace {
        return Vec::new();
    }
    let mut files: BTreeMap<(u32, u32), Read> = BTreeMap::new();
    for (row, process) in calls.all().filter(|(row, _)| row.result >= 0) {
        let Some(file) =
            calls.file(row).filter(|file| file.kind == "file" && (1..=KEPT).contains(&file.size))
        else {
            continue;
        };
        let read = files.entry((process, file.file)).or_default();
        match row.number {
            LSEEK => read.seek(row),
            number if OPENS.contains(&number) => read.opens += row.count,
            number if WRITES.contains(&number) || WRITES_AT.contains(&number) => read.written = true,
            number if READS.contains(&number) => {
                read.bytes += row.bytes;
                read.places.entry(calls.asks(row)).or_default().add(row);
            }
            _ => {}
        }
    }
    let mut everything: BTreeMap<CallSite, u64> = BTreeMap::new();
    for (row, process) in calls.all().filter(|(row, _)| READS.contains(&row.number) && row.result >= 0) {
        *everything.entry((process, calls.asks(row))).or_default() += row.bytes;
    }
    let found = files
        .into_iter()
        .filter_map(|((process, file), read)| finding(evidence, process, file, &read, &everything));
    found.collect()
}

fn finding(
    evidence: &Evidence<'_>,
    process: u32,
    file: u32,
    read: &Read,
    everything: &BTreeMap<CallSite, u64>,
) -> Option<(CallSite, Candidate)> {
    let file = &evidence.recording.tables.files[file as usize];
    let opens = read.opens.max(1) as f64;
    let over = read.bytes as f64 / file.size as f64 / opens;
    if over < OVER || (read.seeks as f64) < (over - 1.0).floor() * opens || !read.goes_back() {
        return None;
    }
    let (own, sum) = read.places.iter().max_by_key(|(_, sum)| sum.bytes)?;
    if (sum.bytes as f64) < MOST * read.bytes as f64 {
        return None;
    }
    let kernel = sum.working_ns();
    // Of other files that are read in the same way it is that part.
    let part = sum.bytes as f64 / everything.get(&(process, *own)).copied().unwrap_or(0).max(1) as f64;
    let under = own.map_or(0.0, |own| under(evidence, process, own, sum) * part.min(1.0));
    let cost = kernel.max(under).min(evidence.cpu_ns);
    let gain = cost * (1.0 - 1.0 / over);
    if !GATE.may_pass(evidence, gain) {
        return None;
    }
    let stack = sum.stack();
    let draft = Draft {
        variant: "rewound",
        explanation: vec![
            format!(
                "{} was opened {} and read {} over each time{}: {} bytes of a file of {}, with {} lseek calls",
                file.path,
                times(opens),
                times(over),
                from(evidence, stack, *own),
                count(read.bytes as f64),
                count(file.size as f64),
                count(read.seeks as f64)
            ),
            format!(
                "reading took {} in the kernel, and with what is made of the bytes {} of CPU time",
                time(kernel),
                time(cost)
            ),
        ],
        files: evidence.concerned(vec![file.path.clone()]),
        facts: vec![
            fact("bytes read", read.bytes as f64, "bytes", Sure::Exact),
            fact("size of the file", file.size as f64, "bytes", Sure::Exact),
            fact("times read", over, "1", Sure::Exact),
            fact("time in the kernel", kernel, "ns", Sure::Exact),
            fact("time with the program's own work", cost, "ns", Sure::Sampled),
        ],
        advice: "Take what is needed in the order of the file, keep what was read, or keep an index of places from which to go on (for a \
                 compressed file: points at which decompression can start)"
            .to_owned(),
        ..Draft::new(
            &CAUSE,
            "the same file is read again and again",
            Confidence::Likely,
            Cost::new(Basis::Cpu, cost, gain),
            place(evidence, stack, *own, process),
        )
    };
    Some(((process, *own), draft.candidate(evidence, GATE, process)))
}

/// CPU time of the samples in `process` under `own` and directly behind it one of the functions through which it reads: what these do with the
/// bytes is done again as well.
fn under(evidence: &Evidence<'_>, process: u32, own: u32, sum: &Sum) -> f64 {
    let tables = &evidence.recording.tables;
    let behind = |stack: u32| {
        let inner = evidence.locations(stack).filter_map(|location| evidence.function_at(location));
        let mut last = None;
        inner.take_while(|function| *function != own).for_each(|function| last = Some(function));
        last
    };
    let mut readers: HashMap<u32, f64> = HashMap::new();
    for stack in sum.stacks() {
        if let Some(reader) = behind(stack) {
            readers.insert(reader, 0.0);
        }
    }
    // Of each stack which of them it is under, directly behind `own`.
    let mut within: Vec<(bool, Option<u32>)> = Vec::with_capacity(tables.stacks.len());
    for stack in &tables.stacks {
        let (here, under) = stack.parent.map_or((false, None), |parent| within[parent as usize]);
        let function = evidence.function_at(stack.location);
        within.push(match (under, function) {
            (Some(_), _) => (false, under),
            (None, Some(function)) if function == own => (true, None),
            (None, Some(function)) if here && readers.contains_key(&function) => (false, Some(function)),
            _ => (false, None),
        });
    }
    for (sample, weight) in tables.samples.iter().zip(&evidence.weights) {
        let under = sample.stack.and_then(|stack| within[stack as usize].1);
        if let Some(ns) = under.and_then(|reader| readers.get_mut(&reader))
            && evidence.process_of(sample) == process
        {
            *ns += weight;
        }
    }
    readers.values().sum()
}
