//! One file is mapped into memory again and again: after each record that is added to it, or for each look into it. Each time the kernel makes the mapping
//! and takes it down, and the pages that are used fault again.
//!
//! The mapping calls say which file it is. That it was taken down in between is known from how many were: calls that unmap name no file.

use super::{CAUSE, unseen};
use crate::Evidence;
use crate::calls::{Calls, Sum, fact, from, place};
use crate::candidate::Candidate;
use crate::causes::words::{count, size, time};
use crate::draft::Draft;
use crate::findings::{Basis, Confidence, Cost, Fact, Sure};
use crate::gate::Gate;
use slowpath_recording::tables::Syscall;
use slowpath_syscalls::{MMAP, MUNMAP};
use std::collections::BTreeMap;

/// Mappings of one file by one function in a run before they count: a program that opens a database some dozens of times does it for a reason.
const MAPPED: u64 = 200;
/// Share of them after which a mapping must have been taken down: a file of which many parts stay mapped is mapped for good.
const UNMAPPED: f64 = 0.8;
/// How names of kernel functions begin that handle a fault of a mapped file, and of other memory.
const OF_FILES: [&str; 5] = ["do_fault", "filemap_", "do_read_fault", "do_shared_fault", "do_cow_fault"];
const OF_MEMORY: [&str; 3] = ["do_anonymous_page", "do_wp_page", "do_huge_pmd_anonymous_page"];
const GATE: Gate = Gate::TENTH_OF_CPU;

/// Mappings in one process.
#[derive(Default)]
struct Mappings {
    /// By the function that asks and the file's path.
    files: BTreeMap<(u32, String), Sum>,
    /// All, and those of files.
    all: Sum,
    of_files: Sum,
    unmapped: Sum,
}

pub(super) fn find(evidence: &Evidence<'_>, calls: &Calls<'_>) -> Vec<Candidate> {
    let mut by_process: BTreeMap<u32, Mappings> = BTreeMap::new();
    for (row, process) in calls.all().filter(|(row, _)| [MMAP, MUNMAP].contains(&row.number)) {
        by_process.entry(process).or_default().add(calls, row);
    }
    let found = |(process, mappings): (u32, Mappings)| finding(evidence, calls, process, &mappings);
    by_process.into_iter().filter_map(found).collect()
}

impl Mappings {
    fn add(&mut self, calls: &Calls<'_>, row: &Syscall) {
        if row.number == MUNMAP {
            return self.unmapped.add(row);
        }
        self.all.add(row);
        let Some(file) = calls.file(row).filter(|file| file.kind == "file") else { return };
        self.of_files.add(row);
        if let Some(asks) = calls.asks(row).filter(|_| !file.path.is_empty()) {
            self.files.entry((asks, file.path.clone())).or_default().add(row);
        }
    }
}

/// CPU time that a process spent in page faults of mapped files, ns. What a fault is of is seen where the kernel looks for the page; samples before and behind
/// that are shared out alike.
fn in_faults_of_files(evidence: &Evidence<'_>, process: u32) -> f64 {
    let tables = &evidence.recording.tables;
    let with = |is: &dyn Fn(&str) -> bool| {
        let of_kernel = |function: u32| tables.functions[function as usize].module.is_none();
        evidence.stacks_with(|function| of_kernel(function) && is(evidence.name(function)))
    };
    let faults = with(&|name| name.ends_with("page_fault") || name.ends_with("do_user_addr_fault"));
    let of_files = with(&|name| OF_FILES.iter().any(|start| name.starts_with(start)));
    let of_memory = with(&|name| OF_MEMORY.iter().any(|start| name.starts_with(start)));
    let (mut all, mut files, mut memory) = (0.0, 0.0, 0.0);
    for (sample, weight) in tables.samples.iter().zip(&evidence.weights) {
        let Some(stack) = sample.stack.map(|stack| stack as usize).filter(|stack| faults[*stack]) else {
            continue;
        };
        if evidence.process_of(sample) == process {
            all += weight;
            files += if of_files[stack] { *weight } else { 0.0 };
            memory += if of_memory[stack] { *weight } else { 0.0 };
        }
    }
    if files > 0.0 { all * files / (files + memory) } else { 0.0 }
}

fn finding(
    evidence: &Evidence<'_>,
    calls: &Calls<'_>,
    process: u32,
    mappings: &Mappings,
) -> Option<Candidate> {
    let ((asks, path), sum) = mappings.files.iter().max_by_key(|(_, sum)| sum.count)?;
    let times = sum.count as f64;
    let part = |of: &Sum| times / (of.count as f64).max(times);
    if sum.count < MAPPED * u64::from(evidence.recording.about.runs.max(1))
        || (mappings.unmapped.count as f64) < UNMAPPED * mappings.all.count as f64
    {
        return None;
    }
    // Which of the calls that unmap are of this file is not known: as many as map it.
    let unmapping = mappings.unmapped.working_ns() * part(&mappings.unmapped);
    let calls_ns = sum.working_ns() + unmapping;
    let unseen = unseen::again_ns(evidence, calls, process) * part(&mappings.all);
    let faults_ns = in_faults_of_files(evidence, process) * part(&mappings.of_files) + unseen;
    let cost = calls_ns + faults_ns;
    if !GATE.may_pass(evidence, cost) {
        return None;
    }
    let (stack, own) = (sum.stack(), &Some(*asks));
    let mut explanation = vec![
        format!(
            "{path} was mapped into memory {} times{}, {} each time on average, and taken down again",
            count(times),
            from(evidence, stack, *own),
            size(sum.bytes as f64 / times),
        ),
        format!("these calls of mmap and munmap took {} in the kernel", time(calls_ns)),
    ];
    if faults_ns > 0.0 {
        explanation.push(format!(
            "each mapping begins empty: {} went into page faults at the first use of its pages",
            time(faults_ns)
        ));
    }
    let draft = Draft {
        explanation,
        facts: vec![
            fact("mappings", times, "calls", Sure::Exact),
            fact("mapped each time", sum.bytes as f64 / times, "bytes", Sure::Exact),
            fact("time in calls that map and unmap", calls_ns, "ns", Sure::Exact),
            Fact::new("CPU time in page faults of files", faults_ns, "ns", "samples", Sure::Sampled),
        ],
        files: evidence.concerned([path.clone()].into_iter()),
        not_known: "whether the file must not be mapped in between",
        advice: "Map the file once and keep the mapping. For a file that grows, map a range that is larger than the file (pages behind its end may \
                 not be used until it has grown), and twice as large when it is used up"
            .to_owned(),
        ..Draft::new(
            &CAUSE,
            "maps the same file again and again",
            Confidence::Likely,
            Cost::new(Basis::Cpu, cost, cost),
            place(evidence, stack, *own, process),
        )
    };
    Some(draft.candidate(evidence, GATE, process))
}
