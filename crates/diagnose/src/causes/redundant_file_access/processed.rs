//! What a program makes of a file after it has read it: a function that reads the file and does nothing else with the kernel does the rest of its work, mostly,
//! for what it read. Where the file is unchanged it does that again as well.
//!
//! What is done while the file is open, and by a library that opens and closes it, is left to the cause itself.

use crate::Evidence;
use crate::calls::{CallSite, Calls, is_met, is_read_open};
use slowpath_recording::tables::{Syscall, Window};
use slowpath_syscalls::{CLOSE, OF_MEMORY, OPENS, READS, READS_AT};
use std::collections::{BTreeMap, BTreeSet};

/// Share of the readings that must come from the function.
const NEARLY_ALL: f64 = 0.9;
/// CPU time beside that of reading from which on a function does more than that, as a factor.
const MORE: f64 = 2.0;
/// … twice that where the time of reading is an estimate of a tracer by ptrace, and the function itself reads.
const MORE_IF_ESTIMATED: f64 = 4.0;
/// What making something of a byte takes at most, ns. Compiled parsers took 14 to 38 (libxml2), 23 (a build file, each name of which is allocated), 27 (CPython's `json`) and
/// 41 (its `csv`). Parsers written in Python took 570 and 1,400: as much as any other work may take, so they are not known from it.
const A_BYTE_NS: f64 = 50.0;
/// Other system calls of the function for each reading, but for memory: from there on it does something with what it read.
const OTHER: f64 = 0.1;
/// Calls of a function for each reading, in the part of the time in which they were counted: about one. A function that is called for each second reading, or twice
/// for each, is far from it.
const ONCE: std::ops::RangeInclusive<f64> = 0.8..=1.2;

/// Share of the time that the windows must cover: what a smaller part shows need not be so all the time.
const COVERED: f64 = 0.5;

/// A function that reads and processes files.
pub(super) struct Processed {
    pub function: u32,
    /// CPU time under it, ns.
    pub ns: f64,
    /// A function around it that is called once for each reading, and does nothing else with the kernel either, with the CPU time under it, ns: it may
    /// work on what was read, or on something else.
    pub around: Option<(u32, f64)>,
}

/// Calls by the stack that they were made on, with how many there were, or how many bytes these moved.
pub(super) type ByStack = BTreeMap<u32, u64>;

/// Where content is read again.
pub(super) struct Again<'a> {
    pub process: u32,
    pub files: &'a [u32],
    /// What begins each reading.
    pub begins: ByStack,
    pub reads: ByStack,
    /// How often a reading was begun.
    pub times: f64,
    /// CPU time that is known to be for it, ns.
    pub known_ns: f64,
    pub bytes: u64,
}

/// The opens of `files` at a place, and all reads of them.
pub(super) fn openings(calls: &Calls<'_>, (process, own): CallSite, files: &[u32]) -> (ByStack, ByStack) {
    let (mut opens, mut reads) = (ByStack::new(), ByStack::new());
    let of_files = |row: &Syscall| row.file.is_some_and(|file| files.contains(&file));
    for (row, _) in calls.all().filter(|(row, of)| *of == process && of_files(row)) {
        let Some(stack) = row.stack else { continue };
        if is_read_open(row) && calls.own(row) == own {
            *opens.entry(stack).or_default() += row.count;
        } else if READS.contains(&row.number) || READS_AT.contains(&row.number) {
            *reads.entry(stack).or_default() += row.count;
        }
    }
    (opens, reads)
}

/// The innermost function around readings in which more is done than reading.
pub(super) fn find(evidence: &Evidence<'_>, calls: &Calls<'_>, again: &Again<'_>) -> Option<Processed> {
    let Again { process, files, begins, reads, times, known_ns, bytes } = again;
    let of_files = |file: Option<u32>| file.is_some_and(|file| files.contains(&file));
    // Who does but one of both, as who gives a stream's next byte, has no part in what it is for.
    let is_common = |function: u32| {
        [begins, reads].into_iter().all(|stacks| {
            let through = stacks.iter().filter(|(stack, _)| calls.is_under(**stack, function));
            let through: u64 = through.map(|(_, count)| count).sum();
            through as f64 >= NEARLY_ALL * stacks.values().sum::<u64>() as f64
        })
    };
    // Where a tracer meets a thread in a call it is not always known which file that is on: it is one of these if no others are seen from there.
    let others: BTreeSet<u32> = calls
        .all()
        .filter(|(row, of)| of == process && row.file.is_some() && !of_files(row.file))
        .filter_map(|(row, _)| row.stack)
        .collect();
    let is_nameless = |row: &Syscall| {
        let number = &row.number;
        let reads = READS.contains(number) || READS_AT.contains(number);
        let on_a_file = reads || OPENS.contains(number) || *number == CLOSE;
        let elsewhere = row.stack.is_none_or(|stack| others.contains(&stack));
        is_met(row) && row.file.is_none() && on_a_file && !elsewhere
    };
    let (stack, _) = begins.iter().max_by_key(|(_, count)| **count)?;
    let mut chain: Vec<u32> = calls.on(*stack).collect();
    chain.dedup();
    // Everything is under the outermost one.
    chain.pop();
    let under = |function: u32| -> (f64, u64) {
        let with = evidence.stacks_with(|on| on == function);
        let samples = evidence.recording.tables.samples.iter().zip(&evidence.weights);
        let under = samples.filter(|(sample, _)| {
            sample.stack.is_some_and(|stack| with[stack as usize]) && evidence.process_of(sample) == *process
        });
        let others = calls.all().filter(|(row, of)| {
            let here = row.stack.is_some_and(|stack| with[stack as usize]);
            of == process
                && here
                && !of_files(row.file)
                && !is_nameless(row)
                && !OF_MEMORY.contains(&row.number)
        });
        (under.map(|(_, weight)| weight).sum(), others.map(|(row, _)| row.count).sum())
    };
    let is_of_content = |(ns, others): (f64, u64)| {
        ns <= known_ns + A_BYTE_NS * *bytes as f64 && others as f64 <= OTHER * times
    };
    // A tracer by ptrace does not know all of the calls: most of what the function does that makes them is reading.
    let reader = chain.first().copied().filter(|_| evidence.by_ptrace);
    let reading_ns = reader.map_or(0.0, |reader| under(reader).0).max(*known_ns);
    let mut found: Option<Processed> = None;
    for function in chain {
        if !is_common(function) {
            continue;
        }
        let spent = under(function);
        match &mut found {
            None if spent.0 < MORE * reading_ns => {}
            None if !is_of_content(spent) => break,
            None => found = Some(Processed { function, ns: spent.0, around: None }),
            Some(_) if !is_of_content(spent) => break,
            Some(inner) => {
                let once = calls_a_reading(evidence, calls, again, function);
                let once = once.is_some_and(|once| ONCE.contains(&once));
                if once && spent.0 >= MORE * inner.ns {
                    inner.around = Some((function, spent.0));
                }
            }
        }
    }
    found.or_else(|| {
        let function = reader.filter(|reader| is_common(*reader))?;
        let spent = under(function);
        let processes = spent.0 >= MORE_IF_ESTIMATED * known_ns && is_of_content(spent);
        processes.then_some(Processed { function, ns: spent.0, around: None })
    })
}

/// How often a function was called for each reading, from the windows in which its calls were counted: the part of the time of all readings that these
/// cover. None if it was not counted for half of that time.
fn calls_a_reading(
    evidence: &Evidence<'_>,
    calls: &Calls<'_>,
    again: &Again<'_>,
    function: u32,
) -> Option<f64> {
    let tables = &evidence.recording.tables;
    let of_files = |row: &&Syscall| row.file.is_some_and(|file| again.files.contains(&file));
    let rows = || calls.all().filter(|(_, of)| *of == again.process).map(|(row, _)| row).filter(of_files);
    let (from, to) = (rows().map(|row| row.time_ns).min()?, rows().map(|row| row.end_ns).max()?);
    let of_it = |probe: u32| {
        let probe = &tables.probes[probe as usize];
        probe.process == again.process
            && probe.kind == "function"
            && evidence.function_at(probe.location) == Some(function)
    };
    let windows = || tables.windows.iter().filter(|window| of_it(window.probe));
    let within = |window: &Window| window.end_ns.min(to).saturating_sub(window.start_ns.max(from));
    let covered = windows().map(within).sum::<u64>() as f64 / (to - from).max(1) as f64;
    let hits: u64 = windows().map(|window| window.hits).sum();
    (covered >= COVERED).then(|| hits as f64 / (covered * again.times))
}
