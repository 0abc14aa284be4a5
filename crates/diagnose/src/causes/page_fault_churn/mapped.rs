//! One file is mapped into memory again and again: after each record that is added to it, or for each look into it. Each time the kernel makes the mapping
//! and takes it down, and the pages that are used fault again.
//!
//! The mapping calls say which file it is. That it was taken down in between is known from how many were: calls that unmap name no file.

use super::{CAUSE, OF_WINDOWS, PAGE, unseen};
use crate::Evidence;
use crate::calls::{Calls, Sum, fact, from, place};
use crate::candidate::Candidate;
use crate::causes::words::{count, size, time};
use crate::draft::Draft;
use crate::findings::{Basis, Confidence, Cost, Sure};
use crate::gate::Gate;
use slowpath_recording::tables::Syscall;
use slowpath_syscalls::{BRK, MADVISE, MMAP, MUNMAP, OPENS};
use std::collections::{BTreeMap, HashMap};

/// Mappings of one file by one function before they count: a program that opens a database some dozens of times does it for a reason.
const MAPPED: f64 = 200.0;
/// As many mappings as this share of those of the file may be left: a file of which many parts stay mapped is mapped for good.
const LEFT: f64 = 0.2;
/// In all so many times the file's size is mapped: whoever maps one part after the other maps each of them once.
const TIMES: f64 = 4.0;
/// … or, where its size is not known, as of one that was new when it was opened, the largest mapping is so many times the smallest: it grows, and is mapped as a whole.
const GROWS: f64 = 2.0;
/// What faults take at most for each page of a mapping, ns: going through a file took 93 to 130 a page, since the kernel maps those around as well; where one page
/// in 37 was written, 200.
const FAULT_NS: f64 = 1_000.0;
/// How names of kernel functions begin that handle a fault of a mapped file, and of other memory.
const OF_FILES: [&str; 5] = ["do_fault", "filemap_", "do_read_fault", "do_shared_fault", "do_cow_fault"];
const OF_MEMORY: [&str; 3] = ["do_anonymous_page", "do_wp_page", "do_huge_pmd_anonymous_page"];
const GATE: Gate = Gate::TENTH_OF_CPU;

/// Mappings of one file by one function.
#[derive(Default)]
struct OfFile {
    sum: Sum,
    /// Of one mapping, bytes.
    smallest: f64,
    largest: f64,
}

/// Mappings in one process.
#[derive(Default)]
struct Mappings {
    /// By the function that asks and the file: if it changes before it is opened again, it is another one.
    files: BTreeMap<(u32, u32), OfFile>,
    /// All, and those of files.
    all: Sum,
    of_files: Sum,
    unmapped: Sum,
    /// Memory that was given back in other ways.
    others: Sum,
}

pub(super) fn find(evidence: &Evidence<'_>, calls: &Calls<'_>) -> Vec<Candidate> {
    let mut by_process: BTreeMap<u32, Mappings> = BTreeMap::new();
    // How often each path was opened: a file that is created again for each mapping is another one each time.
    let mut opened: HashMap<(u32, &str), u64> = HashMap::new();
    for (row, process) in calls.all() {
        match row.number {
            MMAP | MUNMAP | BRK | MADVISE => by_process.entry(process).or_default().add(calls, row),
            number if OPENS.contains(&number) && row.result >= 0 => {
                if let Some(file) = calls.file(row) {
                    *opened.entry((process, file.path.as_str())).or_default() += row.count;
                }
            }
            _ => {}
        }
    }
    let found = |(process, mappings): (u32, Mappings)| finding(evidence, calls, process, &mappings, &opened);
    by_process.into_iter().filter_map(found).collect()
}

impl Mappings {
    fn add(&mut self, calls: &Calls<'_>, row: &Syscall) {
        match row.number {
            MUNMAP => return self.unmapped.add(row),
            MMAP => self.all.add(row),
            _ => return self.others.add(row),
        }
        let file = calls.file(row).filter(|file| file.kind == "file" && file.path.starts_with('/'));
        let Some(file) = file else { return };
        self.of_files.add(row);
        if let Some(asks) = calls.asks(row) {
            let each = row.bytes as f64 / row.count.max(1) as f64;
            let of = self.files.entry((asks, file.file)).or_default();
            of.smallest = if of.sum.count == 0 { each } else { of.smallest.min(each) };
            of.largest = of.largest.max(each);
            of.sum.add(row);
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
    opened: &HashMap<(u32, &str), u64>,
) -> Option<Candidate> {
    let ((asks, file), of) = mappings.files.iter().max_by_key(|(_, of)| of.sum.count)?;
    let file = &evidence.recording.tables.files[*file as usize];
    let (sum, path) = (&of.sum, &file.path);
    let (times, bytes) = (sum.count as f64, sum.bytes as f64);
    let least = if evidence.recording.about.in_windows() { OF_WINDOWS * MAPPED } else { MAPPED };
    let left = mappings.all.count as f64 - mappings.unmapped.count as f64;
    if times < least || left > LEFT * times {
        return None;
    }
    let again = match file.size {
        0 => of.largest >= GROWS * of.smallest,
        size => bytes >= TIMES * size as f64,
    };
    // As an ordinary user it is not known whether a file that is opened again is the same.
    let opens = opened.get(&(process, path.as_str())).copied().unwrap_or(0);
    if !again || evidence.by_ptrace && 2 * opens > sum.count {
        return None;
    }
    // Which of the calls that unmap are of this file is not known: as many as map it.
    let part = |of: f64| times / of.max(times);
    let calls_ns = sum.working_ns() + mappings.unmapped.working_ns() * part(mappings.unmapped.count as f64);
    // Which faults are of it is not known either: by their number as by their bytes, whichever is less.
    let share = |of: &Sum, more: f64| part(of.count as f64).min(bytes / (of.bytes as f64 + more).max(bytes));
    let seen = in_faults_of_files(evidence, process) * share(&mappings.of_files, 0.0);
    let unseen =
        unseen::again_ns(evidence, calls, process) * share(&mappings.all, mappings.others.bytes as f64);
    let faults_ns = (seen + unseen).min(bytes / PAGE * FAULT_NS);
    let cost = calls_ns + faults_ns;
    if !GATE.may_pass(evidence, cost) {
        return None;
    }
    let (stack, own) = (sum.stack(), &Some(*asks));
    let mut explanation = vec![
        format!(
            "{path} was mapped into memory {} times{}, {} each time on average, and unmapped again",
            count(times),
            from(evidence, stack, *own),
            size(bytes / times),
        ),
        format!("these calls of mmap and munmap took {} in the kernel", time(calls_ns)),
    ];
    if faults_ns > 0.0 {
        explanation.push(format!(
            "each mapping begins empty: {} went into page faults at the first use of its pages{}",
            time(faults_ns),
            unseen::estimated(evidence)
        ));
    }
    let draft = Draft {
        explanation,
        facts: vec![
            fact("mappings", times, "calls", Sure::Exact),
            fact("mapped each time", bytes / times, "bytes", Sure::Exact),
            fact("time in calls that map and unmap", calls_ns, "ns", Sure::Exact),
            unseen::fact(evidence, "CPU time in page faults of files", faults_ns),
        ],
        variant: "mapped",
        files: evidence.concerned([path.clone()]),
        not_known: "whether the file has to be unmapped in between",
        advice: "Map the file once and keep the mapping. For a file that grows, map a range that is larger than the file (pages beyond its end may \
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
