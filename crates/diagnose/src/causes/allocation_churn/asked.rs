//! Samples in allocators, and the functions of the program that ask for memory or give it back.
//!
//! Functions of a language's runtime, destructors and functions that copy do what their caller wants. What wraps the allocator is part of it.

use crate::Evidence;
use crate::causes::runtime::Language;
use crate::causes::{allocators, runtime};
use crate::findings::Frame;
use slowpath_interfaces::{Memory, copied, is_barrier, memory};
use std::collections::{HashMap, HashSet};

/// A function that spends so much of its time in the allocator is part of it: one that counts, or that ends the program where there is no memory.
const WRAPS: f64 = 0.85;
/// In Go it is part of it where no caller has so much of that time, or so much of it is not in `make`, `new` and `append` of its own: these need no helper, and what one
/// function calls to have large lists made is its own way to work.
const IN_ONE: f64 = 0.5;
/// Share of a function's samples in which it is on the stack twice: it calls itself, and so it makes or takes down a structure.
const RECURSIVE: f64 = 0.10;

/// A sample in an allocator.
pub(super) struct Asked {
    pub process: u32,
    pub stack: u32,
    pub ns: f64,
    /// It is at work for a collector, or copies what is in a block: no time of handing out memory itself.
    pub aside: bool,
    /// What the outermost function of the allocator does.
    pub does: Memory,
    /// The functions of the program around it, innermost first.
    pub around: Vec<u32>,
    /// The innermost one asks the allocator itself, and not by a library.
    direct: bool,
}

impl Asked {
    /// Memory is taken from the allocator, and not given back.
    pub(super) fn takes(&self) -> bool {
        self.does != Memory::Takes
    }
}

/// The samples in allocators of some processes.
pub(super) struct Allocating {
    pub asked: Vec<Asked>,
    /// Functions that call themselves.
    pub recursive: HashSet<u32>,
}

impl Allocating {
    pub(super) fn of(evidence: &Evidence<'_>, processes: &HashSet<u32>) -> Allocating {
        let tables = &evidence.recording.tables;
        let count = tables.functions.len();
        let does: Vec<Option<Memory>> = (0..count as u32).map(|at| memory(evidence.name(at))).collect();
        let copies: Vec<bool> =
            (0..count as u32).map(|at| runtime::copies_bytes(&evidence.frame(at))).collect();
        let passes: Vec<bool> = (0..count as u32).map(|at| passes(&evidence.frame(at))).collect();
        // Of each function: its time, that in the allocator, and that in which it is on the stack twice.
        let mut whole = vec![(0.0, 0.0, 0.0); count];
        let mut asked = Vec::new();
        for (sample, ns) in tables.samples.iter().zip(&evidence.weights).filter(|(sample, _)| sample.on_cpu) {
            let (Some(stack), process) = (sample.stack, evidence.process_of(sample)) else { continue };
            if !processes.contains(&process) {
                continue;
            }
            let functions: Vec<u32> =
                evidence.locations(stack).filter_map(|at| evidence.function_at(at)).collect();
            let allocator = functions.iter().rposition(|function| does[*function as usize].is_some());
            // Who writes a pointer while the collector is at work did not ask for that.
            let collects = allocator.is_some_and(|at| is_barrier(evidence.name(functions[at])));
            let wanted = allocator.filter(|_| !collects);
            let mut known = HashSet::new();
            for (at, function) in functions.iter().enumerate() {
                let sums = &mut whole[*function as usize];
                if known.insert(*function) {
                    sums.0 += ns;
                    sums.1 += if wanted.is_some_and(|allocator| at > allocator) { *ns } else { 0.0 };
                } else {
                    sums.2 += ns;
                }
            }
            let Some((allocator, outermost)) =
                allocator.and_then(|at| Some((at, does[functions[at] as usize]?)))
            else {
                continue;
            };
            let aside = |function: &u32| {
                does[*function as usize] == Some(Memory::Takes) || copies[*function as usize]
            };
            let aside = outermost != Memory::Takes && functions[..allocator].iter().any(aside);
            let outer = if collects { &[] } else { &functions[allocator + 1..] };
            let mut around: Vec<u32> = outer.to_vec();
            around.retain(|function| !passes[*function as usize]);
            around.dedup();
            let direct = around.first().is_some_and(|first| outer.first() == Some(first));
            asked.push(Asked { process, stack, ns: *ns, does: outermost, aside, around, direct });
        }
        let twice = |(_, (all, _, twice)): &(usize, &(f64, f64, f64))| *twice > RECURSIVE * all;
        let recursive: HashSet<u32> =
            whole.iter().enumerate().filter(twice).map(|(at, _)| at as u32).collect();
        // What wraps the allocator is part of it, but for the outermost function.
        let callers = callers(&asked);
        let is_of_one = |function: &u32| {
            let of_one = callers.get(function).is_some_and(|of| of.is_one(&recursive));
            of_one && Language::of(evidence.name(*function)) == Language::Go
        };
        let wraps = |function: &u32| {
            let (all, allocating, _) = whole[*function as usize];
            allocating >= WRAPS * all && !is_of_one(function)
        };
        for one in &mut asked {
            let wrappers = one.around.iter().take_while(|function| wraps(function)).count();
            one.around.drain(..wrappers.min(one.around.len().saturating_sub(1)));
        }
        Allocating { asked, recursive }
    }
}

/// For whom a function is around samples in allocators, ns.
#[derive(Default)]
struct Callers {
    /// None where it is the outermost one.
    by: HashMap<Option<u32>, f64>,
    /// As far as it asks the allocator itself.
    direct_ns: f64,
}

impl Callers {
    /// Whether one function has most of it, which does not make a structure of it by calling itself.
    fn is_one(&self, recursive: &HashSet<u32>) -> bool {
        let all: f64 = self.by.values().sum();
        let most = self.by.iter().max_by(|a, b| a.1.total_cmp(b.1));
        most.is_some_and(|(caller, ns)| {
            let is_one = caller.is_some_and(|caller| !recursive.contains(&caller));
            is_one && ns.min(self.direct_ns) >= IN_ONE * all
        })
    }
}

fn callers(asked: &[Asked]) -> HashMap<u32, Callers> {
    let mut callers: HashMap<u32, Callers> = HashMap::new();
    for one in asked {
        for (at, function) in one.around.iter().enumerate() {
            let of = callers.entry(*function).or_default();
            *of.by.entry(one.around.get(at + 1).copied()).or_default() += one.ns;
            of.direct_ns += if at == 0 && one.direct { one.ns } else { 0.0 };
        }
    }
    callers
}

/// Functions that do what their caller wants: of a runtime, those that copy, and destructors.
pub(super) fn passes(frame: &Frame) -> bool {
    let destructor = || slowpath_interfaces::without_arguments(&frame.function).contains("::~");
    runtime::is_name(frame)
        || allocators::is_allocator(frame)
        || copied(&frame.function).is_some()
        || destructor()
}
