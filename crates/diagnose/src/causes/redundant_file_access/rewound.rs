//! A file that stays open is gone through again and again: read on, rewound, read once more, as where each part that is asked for of a compressed file
//! starts with decompressing all before it.
//!
//! Without a rewind a file that does not grow can give no more bytes than it has. A call that names its place itself (`pread`) rewinds if it begins elsewhere than
//! where the one before ended. It may go anywhere in a file, as a database does; so most of these must go on where the one before ended.

use super::CAUSE;
use super::processed::{self, Again};
use crate::Evidence;
use crate::calls::{CallSite, Calls, Sum, fact, from, is_met, is_single, place};
use crate::candidate::Candidate;
use crate::causes::words::{count, time, times};
use crate::draft::Draft;
use crate::evidence::heaviest;
use crate::findings::{Basis, Confidence, Cost, Sure};
use crate::gate::Gate;
use slowpath_recording::tables::{File, Syscall};
use slowpath_syscalls::{LSEEK, OPENS, READS, READS_AT, WRITES, WRITES_AT};
use std::collections::{BTreeMap, HashMap};

/// How often a file was read over for each time that it was opened. Who checks a file and then reads it, or goes through it once for
/// each of a few settings, does so two to five times; who goes back for each item of many, far more often.
const OVER: f64 = 8.0;
/// Files up to this size can be kept in memory; others may be read in several passes because they cannot, bytes.
const KEPT: u64 = 1 << 30;
/// Share of the bytes that one function must have asked for; and of the seeks that must lead back.
const MOST: f64 = 0.5;
/// Bytes that are read from one seek to the next where a file is gone through: 16 pages or more, where a database reads one or a few.
const STRETCH: f64 = 65536.0;
/// Share of the reads at a place that begin where the one before ended, in a file that is read as a stream: one of four may lead elsewhere, as to an index in front of
/// each part. Pages of a database are read in any order.
const STREAMED: f64 = 0.75;
/// Reads that were recorded by themselves, of which that must be so; and so much of them, for whoever goes to and fro between two places of a file.
const SEEN: usize = 64;
const THROWN_AWAY: f64 = 0.8;
/// … in a file of so many times the bytes of a read: of reads at any places in a smaller one many begin within a recent one.
const LARGE: u64 = 16;
/// Among so many of the last reads it is looked for: between an index and what it tells of there are two or three.
const RECENT: usize = 4;
/// Share of the bytes that are read on the way that all of them take: the rest is read in some other way, as a file's head.
const COMMON: f64 = 0.9;
const GATE: Gate = Gate::TENTH_OF_CPU;

/// What to do.
const IN_ORDER: &str = "Take what is needed in the order of the file, keep what was read, or keep an index of places from which to go on (for a \
                        compressed file: points at which decompression can start)";
const KEEP: &str = "Read the whole index or table at once into memory and go through it there. Where a seek leads a little further, go on within the buffer \
                    (BufReader::seek_relative in Rust; skip the bytes by reading them in other languages); look at a place elsewhere only when it is needed";

/// What is known of one file in one process.
#[derive(Default)]
struct Read {
    opens: u64,
    bytes: u64,
    /// Reads in all, and of those and of opens what was seen one by one.
    reads: u64,
    reads_seen: u64,
    opens_seen: u64,
    places: BTreeMap<Option<u32>, Sum>,
    /// Bytes by the stack of the read.
    stacks: HashMap<u32, f64>,
    seeks: u64,
    /// Seeks by stack.
    led: BTreeMap<u32, u64>,
    /// Where the last seek led that was recorded by itself; such seeks after it, and those that led no further.
    last: Option<i64>,
    known: u64,
    back: u64,
    written: bool,
    /// Where the last read at a place ended that was recorded by itself; such reads after it, and those that began there.
    end: Option<i64>,
    at_places: u64,
    on: u64,
    ahead: Ahead,
}

/// What was read of a file a moment ago, and what of it is read again after a seek: a buffer that is filled with more than is needed, and thrown away.
#[derive(Default)]
struct Ahead {
    /// Where the next read begins, if that is known.
    at: Option<u64>,
    /// The last reads, from and to.
    last: [(u64, u64); RECENT],
    known: usize,
    bytes: u64,
    /// Those of them that begin within one of the last ones, and not where it began.
    within: usize,
}

impl Ahead {
    fn read(&mut self, bytes: u64) {
        let Some(from) = self.at else { return };
        let within = |(first, end): &(u64, u64)| (*first + 1..*end).contains(&from);
        self.within += usize::from(self.last.iter().any(within));
        self.last[self.known % RECENT] = (from, from + bytes);
        self.known += 1;
        self.bytes += bytes;
        self.at = Some(from + bytes);
    }

    fn is_thrown_away(&self, size: u64) -> bool {
        let large = size.saturating_mul(self.known as u64) >= LARGE * self.bytes;
        large && self.known >= SEEN && self.within as f64 >= THROWN_AWAY * self.known as f64
    }
}

impl Read {
    /// Notes a seek; `alone`: the row is one call, and those around it are known.
    fn seek(&mut self, row: &Syscall, alone: bool) {
        self.seeks += row.count;
        if let Some(stack) = row.stack {
            *self.led.entry(stack).or_default() += row.count;
        }
        self.ahead.at = alone.then_some(row.result as u64);
        if alone {
            self.led_to(row.result);
        }
    }

    fn led_to(&mut self, place: i64) {
        if let Some(last) = self.last.replace(place) {
            self.known += 1;
            self.back += u64::from(place <= last);
        }
    }

    fn read_at(&mut self, row: &Syscall, alone: bool) {
        // What is between two that were recorded by themselves is not known.
        if !alone {
            self.end = None;
            return;
        }
        let from = row.argument as i64;
        if let Some(end) = self.end.replace(from.saturating_add(row.result)) {
            self.at_places += 1;
            if from == end {
                self.on += 1;
            } else {
                self.led_to(from);
            }
        }
    }

    /// A tracer by ptrace meets threads in calls that take long, as reads, and hardly ever in an open: how many there were follows from how many reads there are for each
    /// where it sees all calls. One or two are those before all of the reads.
    fn opens_by_reads(&self) -> u64 {
        match self.opens_seen {
            0..=2 => 0,
            seen => self.reads * seen / self.reads_seen.max(1),
        }
    }

    /// Adds another file's.
    fn join(&mut self, other: Read) {
        self.opens += other.opens.max(1);
        self.bytes += other.bytes;
        self.seeks += other.seeks;
        for (place, sum) in &other.places {
            self.places.entry(*place).or_default().join(sum);
        }
        for (stack, bytes) in other.stacks {
            *self.stacks.entry(stack).or_default() += bytes;
        }
        for (stack, seeks) in other.led {
            *self.led.entry(stack).or_default() += seeks;
        }
    }

    /// Where the file is read over, if it is, and whether seeks throw away what was read: most of its bytes must be read there.
    fn over_at(&self, file: &File) -> Option<(Option<u32>, bool)> {
        let opens = self.opens.max(1) as f64;
        let over = self.bytes as f64 / file.size as f64 / opens;
        let is_rewound = self.is_streamed() || self.seeks as f64 >= (over - 1.0).floor() * opens;
        let thrown_away = self.ahead.is_thrown_away(file.size) && !self.written;
        if over < OVER || !is_rewound || !(thrown_away || self.goes_back(over)) {
            return None;
        }
        let (own, sum) = self.places.iter().max_by_key(|(_, sum)| sum.bytes)?;
        (sum.bytes as f64 >= MOST * self.bytes as f64).then_some((*own, thrown_away))
    }

    /// Whether it is read as a stream, whose bytes stand for themselves: more of them than the file has are read again.
    fn is_streamed(&self) -> bool {
        self.at_places > 0 && self.on as f64 >= STREAMED * self.at_places as f64
    }

    /// Whether it is gone through again, `over` times: who follows a file that grows, or returns what was read too far of a line, goes on and on. Who
    /// reads long stretches here and there, such as one chromosome of a few, goes back as often as these need it.
    fn goes_back(&self, over: f64) -> bool {
        let back = self.back as f64 / self.known.max(1) as f64;
        let in_stretches = self.bytes as f64 >= STRETCH * self.seeks as f64;
        let enough = in_stretches && back * self.seeks as f64 >= MOST * over * self.opens.max(1) as f64;
        self.known > 0 && (back >= MOST || enough) && !self.written
    }
}

/// Files of one process that one place reads over.
#[derive(Default)]
struct Together {
    files: Vec<u32>,
    /// Of all of them.
    read: Read,
    /// Bytes of a file for each time that it was opened, and how often that was read over.
    size: f64,
    times: f64,
}

impl Together {
    fn add(&mut self, file: &File, read: Read) {
        self.times += read.bytes as f64 / file.size as f64;
        self.size += file.size as f64 * read.opens.max(1) as f64;
        self.files.push(file.file);
        self.read.join(read);
    }

    /// How often each was read over for each time that it was opened.
    fn over(&self) -> f64 {
        self.read.bytes as f64 / self.size
    }
}

/// Findings by place; see the file's head.
pub(super) fn find(evidence: &Evidence<'_>, calls: &Calls<'_>) -> Vec<(CallSite, Candidate)> {
    let is_read = |number: u32| READS.contains(&number) || READS_AT.contains(&number);
    // Of thousands of processes and files few are read over: only of these is more kept.
    let mut bytes: HashMap<(u32, u32), u64> = HashMap::new();
    let mut everything: HashMap<CallSite, u64> = HashMap::new();
    for (row, process) in calls.all().filter(|(row, _)| row.result >= 0 && is_read(row.number)) {
        *everything.entry((process, calls.asks(row))).or_default() += row.bytes;
        if let Some(file) = row.file {
            *bytes.entry((process, file)).or_default() += row.bytes;
        }
    }
    let is_meant = |process: u32, file: &File| {
        let read = bytes.get(&(process, file.file)).copied().unwrap_or(0) as f64;
        file.kind == "file" && (1..=KEPT).contains(&file.size) && read >= OVER * file.size as f64
    };
    let mut files: BTreeMap<(u32, u32), Read> = BTreeMap::new();
    for (row, process) in calls.all().filter(|(row, _)| row.result >= 0) {
        let Some(file) = calls.file(row).filter(|file| is_meant(process, file)) else { continue };
        let read = files.entry((process, file.file)).or_default();
        // With ptrace each row is one call. In its windows those before and after it were seen, and windows are long enough for most to be within one.
        let alone = is_single(row) || evidence.by_ptrace && !is_met(row);
        match row.number {
            LSEEK => read.seek(row, alone),
            number if OPENS.contains(&number) => {
                read.opens += row.count;
                read.opens_seen += u64::from(alone);
            }
            number if WRITES.contains(&number) || WRITES_AT.contains(&number) => read.written = true,
            number if is_read(number) => {
                if READS_AT.contains(&number) {
                    read.read_at(row, alone);
                } else if alone {
                    read.ahead.read(row.result as u64);
                } else {
                    read.ahead.at = None;
                }
                read.bytes += row.bytes;
                read.reads += row.count;
                read.reads_seen += u64::from(alone);
                read.places.entry(calls.asks(row)).or_default().add(row);
                if let Some(stack) = row.stack {
                    *read.stacks.entry(stack).or_default() += row.bytes as f64;
                }
            }
            _ => {}
        }
    }
    let mut places: BTreeMap<(CallSite, bool), Together> = BTreeMap::new();
    for ((process, file), mut read) in files {
        if evidence.by_ptrace {
            read.opens = read.opens.max(read.opens_by_reads());
        }
        let file = &evidence.recording.tables.files[file as usize];
        if let Some((own, thrown_away)) = read.over_at(file) {
            places.entry(((process, own), thrown_away)).or_default().add(file, read);
        }
    }
    let found = places.iter().filter_map(|((place, thrown_away), together)| {
        finding(evidence, calls, *place, *thrown_away, together, &everything)
    });
    found.collect()
}

/// The innermost function of the program on the way that the reads all take from where their thread begins, and the stack of it that most bytes
/// were read on. Where they come by several ways from there, as from the parts of a decoder, all of these are under it.
fn goes_through(evidence: &Evidence<'_>, calls: &Calls<'_>, read: &Read) -> Option<(u32, u32)> {
    let stacks = &evidence.recording.tables.stacks;
    let mut through: HashMap<u32, f64> = HashMap::new();
    for (stack, bytes) in &read.stacks {
        let mut at = Some(*stack);
        while let Some(stack) = at {
            *through.entry(stack).or_default() += bytes;
            at = stacks[stack as usize].parent;
        }
    }
    // Outer stacks have lower numbers than what is called from them.
    let least = COMMON * read.bytes as f64;
    let common = through.iter().filter(|(_, bytes)| **bytes >= least).map(|(stack, _)| *stack).max()?;
    Some((calls.own_of(common)?, heaviest(&read.stacks)?))
}

fn finding(
    evidence: &Evidence<'_>,
    calls: &Calls<'_>,
    (process, own): CallSite,
    thrown_away: bool,
    together: &Together,
    everything: &HashMap<CallSite, u64>,
) -> Option<(CallSite, Candidate)> {
    let (read, over) = (&together.read, together.over());
    let opens = read.opens as f64 / together.files.len() as f64;
    let sum = read.places.get(&own)?;
    let kernel = sum.working_ns();
    // Of other files that are read in the same way it is that part.
    let part = sum.bytes as f64 / everything.get(&(process, own)).copied().unwrap_or(0).max(1) as f64;
    let within = own
        .filter(|_| !thrown_away)
        .map_or(0.0, |own| under(evidence, process, own, &read.stacks) * part.min(1.0));
    // Who decodes a stream reads on from many places. What is thrown away is not worked on.
    // Nor does what several files have in common, which may be all of the program.
    let counts = !thrown_away && together.files.len() == 1;
    let decoded = goes_through(evidence, calls, read).filter(|(outer, _)| Some(*outer) != own && counts);
    let decoded = decoded.map(|(outer, stack)| (outer, stack, under(evidence, process, outer, &read.stacks)));
    let decoded = decoded.filter(|(.., ns)| *ns > kernel.max(within)).or_else(|| {
        if !counts {
            return None;
        }
        let again = Again {
            process,
            files: &together.files,
            begins: read.led.clone(),
            reads: read.stacks.iter().map(|(stack, bytes)| (*stack, *bytes as u64)).collect(),
            times: together.times,
            known_ns: kernel.max(within),
            bytes: read.bytes,
        };
        let of = processed::find(evidence, calls, &again)?;
        Some((of.function, heaviest(&read.stacks)?, of.ns))
    });
    let cost = decoded.map_or(kernel.max(within), |(.., ns)| ns).min(evidence.cpu_ns);
    let gain = cost * (1.0 - 1.0 / over);
    if !GATE.may_pass(evidence, gain) {
        return None;
    }
    let (own, stack) = decoded.map_or((own, sum.stack()), |(outer, stack, _)| (Some(outer), Some(stack)));
    let again = match read.seeks {
        0 => "each time from an earlier place on".to_owned(),
        seeks => format!("with {} lseek calls", count(seeks as f64)),
    };
    let path = |file: &u32| evidence.recording.tables.files[*file as usize].path.clone();
    let paths: Vec<String> = together.files.iter().map(path).collect();
    let (which, were, of) = match paths.as_slice() {
        [one] => (one.clone(), "was", "a file"),
        [first, ..] => (format!("{} files such as {first}", paths.len()), "were", "files"),
        [] => return None,
    };
    // Of a tracer by ptrace it is not known that there was none.
    let opened = match evidence.by_ptrace && read.opens <= together.files.len() as u64 {
        true => String::new(),
        false => format!("opened {} and ", times(opens)),
    };
    let draft = Draft {
        not_known: match thrown_away {
            true => {
                "whether all that is looked at is needed, and whether another program changes the file meanwhile"
            }
            false => "whether the parts can be read in another order, or kept",
        },
        variant: "rewound",
        explanation: vec![
            format!(
                "{which} {were} {opened}read {} over{}{}: {} bytes of {of} of {}, {again}",
                times(over),
                if opens > 1.0 { " each time" } else { "" },
                from(evidence, stack, own),
                count(read.bytes as f64),
                count(together.size / opens),
            ),
            match thrown_away {
                true => format!(
                    "after a seek most of what was read just before is read again: a buffer is filled and thrown away. Reading took {} in the kernel",
                    time(kernel)
                ),
                false => format!(
                    "reading took {} in the kernel, and {} of CPU time with the processing of what was read",
                    time(kernel),
                    time(cost)
                ),
            },
        ],
        files: evidence.concerned(paths),
        facts: vec![
            fact("bytes read", read.bytes as f64, "bytes", Sure::Exact),
            fact("size of the file", together.size / opens, "bytes", Sure::Exact),
            fact("times read", over, "1", Sure::Exact),
            fact("time in the kernel", kernel, "ns", Sure::Exact),
            fact("time with the program's own work", cost, "ns", Sure::Sampled),
        ],
        advice: if thrown_away { KEEP } else { IN_ORDER }.to_owned(),
        ..Draft::new(
            &CAUSE,
            "the same file is read again and again",
            Confidence::Likely,
            Cost::new(Basis::Cpu, cost, gain),
            place(evidence, stack, own, process),
        )
    };
    Some(((process, own), draft.candidate(evidence, GATE, process)))
}

/// CPU time of the samples in `process` under `own` and directly behind it one of the functions through which it reads: what these do with the
/// bytes is done again as well.
fn under(evidence: &Evidence<'_>, process: u32, own: u32, stacks: &HashMap<u32, f64>) -> f64 {
    let tables = &evidence.recording.tables;
    let behind = |stack: u32| {
        let inner = evidence.locations(stack).filter_map(|location| evidence.function_at(location));
        let mut last = None;
        inner.take_while(|function| *function != own).for_each(|function| last = Some(function));
        last
    };
    let mut readers: HashMap<u32, f64> = HashMap::new();
    for stack in stacks.keys().copied() {
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
