//! What a program makes of a file after it has read it: a function that reads the file and does nothing else with the kernel does the rest of its work, mostly,
//! for what it read. Where the file is unchanged it does that again as well.
//!
//! What is done while the file is open, and by a library that opens and closes it, is left to the cause itself.

use crate::Evidence;
use crate::calls::Calls;
use slowpath_syscalls::OF_MEMORY;
use std::collections::BTreeMap;

/// Share of the readings that must come from the function.
const NEARLY_ALL: f64 = 0.9;
/// CPU time beside that of reading from which on a function does more than that, as a factor.
const MORE: f64 = 2.0;
/// What making something of a byte takes at most, ns. Parsers of JSON take 3 to 20 (RapidJSON, Python's), of XML 10 to 50, and a parser of a build file that allocates
/// each name 23. A function that takes longer does more than read its input.
const A_BYTE_NS: f64 = 50.0;
/// Other system calls of the function for each reading, but for memory: from there on it does something with what it read.
const OTHER: f64 = 0.1;

/// A function that reads and processes files.
pub(super) struct Processed {
    pub function: u32,
    /// CPU time under it, ns.
    pub ns: f64,
}

/// Where content is read again.
pub(super) struct Again<'a> {
    pub process: u32,
    pub files: &'a [u32],
    /// The stacks of what begins each reading, and of the reads, with how many of these there were.
    pub stacks: [BTreeMap<u32, u64>; 2],
    /// How often a reading was begun.
    pub times: f64,
    /// CPU time that is known to be for it, ns.
    pub known_ns: f64,
    pub bytes: u64,
}

/// The innermost function around readings in which more is done than reading.
pub(super) fn find(evidence: &Evidence<'_>, calls: &Calls<'_>, again: &Again<'_>) -> Option<Processed> {
    let Again { process, files, stacks, times, known_ns, bytes } = again;
    let of_files = |file: Option<u32>| file.is_some_and(|file| files.contains(&file));
    // Who does but one of both, as who gives a stream's next byte, has no part in what it is for.
    let is_common = |function: u32| {
        stacks.iter().all(|stacks| {
            let through = stacks.iter().filter(|(stack, _)| calls.is_under(**stack, function));
            let through: u64 = through.map(|(_, count)| count).sum();
            through as f64 >= NEARLY_ALL * stacks.values().sum::<u64>() as f64
        })
    };
    let (stack, _) = stacks[0].iter().max_by_key(|(_, count)| **count)?;
    let mut chain: Vec<u32> = calls.on(*stack).collect();
    chain.dedup();
    // Everything is under the outermost one.
    chain.pop();
    for function in chain {
        if !is_common(function) {
            continue;
        }
        let with = evidence.stacks_with(|on| on == function);
        let samples = evidence.recording.tables.samples.iter().zip(&evidence.weights);
        let under = samples.filter(|(sample, _)| {
            sample.stack.is_some_and(|stack| with[stack as usize]) && evidence.process_of(sample) == *process
        });
        let ns: f64 = under.map(|(_, weight)| weight).sum();
        if ns < MORE * known_ns {
            continue;
        }
        let others = calls.all().filter(|(row, of)| {
            let here = row.stack.is_some_and(|stack| with[stack as usize]);
            of == process && here && !of_files(row.file) && !OF_MEMORY.contains(&row.number)
        });
        let others: u64 = others.map(|(row, _)| row.count).sum();
        let is_of_content = ns <= known_ns + A_BYTE_NS * *bytes as f64 && others as f64 <= OTHER * times;
        return is_of_content.then_some(Processed { function, ns });
    }
    None
}
