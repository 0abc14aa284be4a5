//! Memory that is given back to the kernel and taken again: each time every page of it faults once more, and is cleared.
//!
//! System calls say how much is given back, and from where; samples in the kernel say what the faults and these calls cost. The first touch
//! of each page must be paid for once: the part of the faults that repeats is what was given back, of all that was ever there.
//!
//! - `mapped` — one file that is mapped into memory again and again.
//! - `unseen` — what faults took where the kernel gives no samples of them.

mod mapped;
mod unseen;

use super::words::{count, size, time};
use super::{Find, Needs, SUPERLINEAR_WORK, Spec, redundant_computation, thread_per_operation};
use crate::Evidence;
use crate::calls::{Calls, Sum, fact, from, place};
use crate::candidate::Candidate;
use crate::draft::Draft;
use crate::findings::{Basis, Confidence, Cost, Sure};
use crate::gate::{Gate, Whole};
use slowpath_recording::tables::Syscall;
use slowpath_syscalls::{BRK, MADVISE, MMAP, MUNMAP, name};
use std::collections::BTreeMap;

/// See the file's head.
pub(super) const CAUSE: Spec = Spec {
    slug: "page-fault-churn",
    title: "memory is given back and taken again",
    symptom: "the same memory is unmapped and mapped again and again, and its pages fault each time",
    not_known: "which of the pages were used",
    page: include_str!("../../../../docs/causes/page-fault-churn.md"),
    needs: &[Needs::Transfers],
    find: Find::InRecording(find),
};

/// How names of kernel functions end that stand around all that is done for a fault, or to map memory and give it back. What stands
/// before differs: `asm_exc_page_fault`, `__x64_sys_munmap`, `__do_sys_brk`.
const CONCERNED: [&str; 8] = [
    "page_fault",
    "do_user_addr_fault",
    "handle_mm_fault",
    "sys_munmap",
    "vm_munmap",
    "sys_brk",
    "sys_madvise",
    "mmap_pgoff",
];

/// How much is given back, as a multiple of the largest resident size: less is what programs do whose phases need different memory.
const TIMES: f64 = 4.0;
/// … and so many times that where calls were traced in windows: their number may be off by a factor of four.
const OF_WINDOWS: f64 = 4.0;
/// Share of the calls that map which may be of files where calls were traced in windows: the libraries of a program are mapped at its start.
const FEW_FILES: f64 = 0.1;
/// Calls that give back, from one place, before they count: a program of some phases frees some dozens of structures.
const OFTEN: u64 = 100;
/// … or so many times that size: each phase would have to be as large as the largest, and there would be so many.
const TIMES_AT_ONCE: f64 = 16.0;
/// Share of what is given back that one place must have: else a function is looked for that all of it is under.
const ALONE: f64 = 0.9;
/// A page's bytes, and the least CPU time that its fault takes, ns: of a huge page each of its 4 KiB takes some 300 ns to be cleared.
const PAGE: f64 = 4096.0;
const PAGE_NS: f64 = 100.0;
/// A fifth: git, which unpacks objects of all sizes, was seen to spend an eighth so on a busy machine.
const GATE: Gate = Gate { share: 0.20, least: 50e6, of: Whole::Longer };
/// Collectors of garbage give memory back when they see fit, and not because somebody asked.
const COLLECTORS: [&str; 5] = ["v8::", "JSC::", "GC_", "mono_", "js::gc::"];

/// Work that grows, or that is done again, allocates its memory again each time, and each thread has a stack. Where it is found in the same function and saves more, fixing it
/// saves the memory too.
pub(super) fn settle(found: &mut Vec<Candidate>) {
    let saves = |one: &Candidate| {
        let of = |spec: &Spec| one.finding.cause == spec.cause();
        [&SUPERLINEAR_WORK, &redundant_computation::CAUSE, &thread_per_operation::CAUSE]
            .into_iter()
            .any(of)
            .then_some(one.finding.cost.gain())
    };
    let known: Vec<(u32, String, u64)> = found
        .iter()
        .filter_map(|one| Some((one.process, one.function().0.to_owned(), saves(one)?)))
        .collect();
    found.retain(|one| {
        let goes_with = |(process, function, gain): &(u32, String, u64)| {
            *process == one.process && function == one.function().0 && *gain >= one.finding.cost.gain()
        };
        one.finding.cause != CAUSE.cause() || !known.iter().any(goes_with)
    });
}

/// What one function gives back: in all, and bytes by system call.
type Place = (Sum, BTreeMap<u32, u64>);

/// What one process gives back.
#[derive(Default)]
struct Given {
    /// By the function that asks for it; and by system call, to say which. What a runtime gives back of its own accord, as the stack of a
    /// thread that ends, was hardly touched.
    places: BTreeMap<u32, Place>,
    /// Bytes by stack.
    stacks: BTreeMap<u32, f64>,
    bytes: f64,
    /// Bytes of files that were mapped: they are unmapped as well, and their pages are in memory already.
    of_files: f64,
    /// Rows of calls that map, and of those that map a file. In windows a row stands for others like it, whose files are not known.
    maps: usize,
    maps_of_files: usize,
    /// Time in these calls, ns.
    calls_ns: f64,
}

fn find(evidence: &Evidence<'_>) -> Vec<Candidate> {
    let format = &evidence.recording.about.format;
    // Before, nothing said how much is given back.
    if (format.major, format.minor) < (1, 5) {
        return Vec::new();
    }
    let calls = Calls::new(evidence);
    let mut given: BTreeMap<u32, Given> = BTreeMap::new();
    let peak = |process: u32| evidence.recording.tables.processes[process as usize].peak_memory_bytes;
    for (row, process) in calls.all().filter(|(row, _)| row.bytes > 0) {
        // What was only reserved is given back as well: no call gives back more than there was.
        let most = peak(process).unwrap_or(u64::MAX).saturating_mul(row.count);
        let row = &Syscall { bytes: row.bytes.min(most), ..row.clone() };
        match row.number {
            MMAP => {
                let given = given.entry(process).or_default();
                given.of_files += if row.file.is_some() { row.bytes as f64 } else { 0.0 };
                given.maps += 1;
                given.maps_of_files += usize::from(row.file.is_some());
            }
            MUNMAP | BRK | MADVISE => {
                let Some(asks) = calls.asks(row) else { continue };
                if COLLECTORS.iter().any(|start| evidence.name(asks).starts_with(start)) {
                    continue;
                }
                let given = given.entry(process).or_default();
                given.bytes += row.bytes as f64;
                given.calls_ns += row.duration_ns.saturating_sub(row.blocked_ns) as f64;
                if let Some(stack) = row.stack {
                    *given.stacks.entry(stack).or_default() += row.bytes as f64;
                }
                let (sum, by_call) = given.places.entry(asks).or_default();
                sum.add(row);
                *by_call.entry(row.number).or_default() += row.bytes;
            }
            _ => {}
        }
    }
    let cost = if given.is_empty() { BTreeMap::new() } else { cost(evidence) };
    let found = |(process, given): (u32, Given)| finding(evidence, &calls, process, &given, &cost);
    let of_memory: Vec<Candidate> = given.into_iter().filter_map(found).collect();
    // Both ask about the same faults: in each process what saves more is reported.
    let mut best: BTreeMap<u32, Candidate> = BTreeMap::new();
    for one in of_memory.into_iter().chain(mapped::find(evidence, &calls)) {
        match best.get(&one.process) {
            Some(known) if known.finding.cost.gain() >= one.finding.cost.gain() => {}
            _ => drop(best.insert(one.process, one)),
        }
    }
    best.into_values().collect()
}

impl Given {
    /// The function that gives back most; or the innermost one that nearly all is given back under, in several functions that it calls.
    ///
    /// The last says whether it is several.
    fn place(&self, calls: &Calls<'_>) -> Option<(u32, Place, bool)> {
        let (own, largest) = self.places.iter().max_by_key(|(_, (sum, _))| sum.bytes)?;
        if (largest.0.bytes as f64) < ALONE * self.bytes
            && let Some((_, around)) = calls.doing(&self.stacks, largest.0.stack()?)
            && self.under(calls, around) >= ALONE * self.bytes
        {
            let mut all = Place::default();
            for (sum, by_call) in self.places.values() {
                all.0.join(sum);
                by_call.iter().for_each(|(call, bytes)| *all.1.entry(*call).or_default() += bytes);
            }
            return Some((around, all, true));
        }
        Some((*own, largest.clone(), false))
    }

    /// Bytes that are given back under a function.
    fn under(&self, calls: &Calls<'_>, function: u32) -> f64 {
        self.stacks
            .iter()
            .filter(|(stack, _)| calls.is_under(**stack, function))
            .map(|(_, bytes)| bytes)
            .sum()
    }
}

/// CPU time in faults and in calls that give memory back, by process.
fn cost(evidence: &Evidence<'_>) -> BTreeMap<u32, f64> {
    let tables = &evidence.recording.tables;
    let of_kernel = |function: u32| tables.functions[function as usize].module.is_none();
    let concerned = |function: u32| {
        of_kernel(function) && CONCERNED.iter().any(|end| evidence.name(function).ends_with(end))
    };
    let with = evidence.stacks_with(concerned);
    let mut cost: BTreeMap<u32, f64> = BTreeMap::new();
    for (sample, weight) in tables.samples.iter().zip(&evidence.weights) {
        if sample.stack.is_some_and(|stack| with[stack as usize]) {
            *cost.entry(evidence.process_of(sample)).or_default() += weight;
        }
    }
    cost
}

fn finding(
    evidence: &Evidence<'_>,
    calls: &Calls<'_>,
    process: u32,
    given: &Given,
    cost: &BTreeMap<u32, f64>,
) -> Option<Candidate> {
    let peak = evidence.recording.tables.processes[process as usize].peak_memory_bytes? as f64;
    let times = if evidence.recording.about.in_windows() { OF_WINDOWS * TIMES } else { TIMES };
    if given.bytes - given.of_files < times * peak {
        return None;
    }
    let unseen = evidence.is_kernel_unseen();
    let all = match unseen {
        true => unseen::again_ns(evidence, calls, process) + given.calls_ns,
        false => cost.get(&process).copied().unwrap_or(0.0),
    };
    if !GATE.may_pass(evidence, all) {
        return None; // before the dearer questions
    }
    let (own, (sum, by_call), joined) = given.place(calls)?;
    // Which function unmaps the files is not asked: it may be this one.
    let again = sum.bytes as f64 - given.of_files;
    // Memory that was never touched has no faults.
    if all < PAGE_NS * again / PAGE {
        return None;
    }
    // What the first touch takes is not in what is left of the kernel's time.
    let cost = if unseen { all * again / given.bytes } else { all * again / (given.bytes + peak) };
    let often = !joined && sum.count >= OFTEN || again >= TIMES_AT_ONCE * peak;
    if again < times * peak || !often || !GATE.may_pass(evidence, cost) {
        return None;
    }
    let stack = sum.stack();
    let (call, _) = by_call.iter().max_by_key(|(_, bytes)| **bytes)?;
    // What is unmapped may be files then, each of them mapped once.
    let in_windows = evidence.recording.about.in_windows();
    if in_windows && *call == MUNMAP && given.maps_of_files as f64 > FEW_FILES * given.maps as f64 {
        return None;
    }
    let own = &Some(own);
    let draft = Draft {
        explanation: vec![
            format!(
                "{} gave back {} on average, {} times{}: {} in all, {:.0} times the largest size of the process ({})",
                name(*call),
                size(again / sum.count.max(1) as f64),
                count(sum.count as f64),
                from(evidence, stack, *own),
                size(again),
                again / peak.max(1.0),
                size(peak),
            ),
            format!(
                "its pages must be mapped and cleared again at the next use: {} of CPU time in page faults and in these calls{}",
                time(cost),
                unseen::estimated(evidence)
            ),
        ],
        facts: vec![
            fact("calls", sum.count as f64, "calls", Sure::Exact),
            fact("memory given back", again, "bytes", Sure::Exact),
            unseen::fact(evidence, "CPU time in all page faults and calls that map or give back", all),
        ],
        advice: advice(*call),
        ..Draft::new(
            &CAUSE,
            "gives memory back and takes it again",
            Confidence::Likely,
            Cost::new(Basis::Cpu, cost, cost),
            place(evidence, stack, *own, process),
        )
    };
    Some(draft.candidate(evidence, GATE, process))
}

fn advice(call: u32) -> String {
    let allocator = match call {
        MADVISE => "Or let the allocator keep it: a longer decay or less eager scavenging",
        _ => {
            "Or let the allocator keep it: GLIBC_TUNABLES=glibc.malloc.mmap_max=0:glibc.malloc.trim_threshold=2000000000 \
             (mallopt with M_MMAP_MAX and M_TRIM_THRESHOLD). Then the process stays as large as it once was"
        }
    };
    format!(
        "Keep the memory and use it again: one buffer or object for all items, made before the loop; if it is a list that grows, let it \
         grow by a factor. {allocator}"
    )
}
