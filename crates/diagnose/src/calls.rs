//! System calls with the indexes that causes share: whose each is, which function of the program itself made it, and which
//! function of a library everything between the two goes through.

use crate::Evidence;
use crate::causes::runtime::{self, Language};
use crate::causes::words::base_name;
use crate::evidence::heaviest;
use crate::findings::{Fact, Frame, Place, Sure};
use slowpath_interfaces::without_arguments;
use slowpath_recording::tables::{File, Syscall, Thread};
use slowpath_syscalls::{CONNECT, CREAT, OPENAT2, OPENS, READS, RECEIVES, SELECTS, SENDS, SLEEPS, WRITES};
use std::collections::{BTreeMap, HashMap};

/// What is done under one function for more than this share of the time is mostly done there: more than anywhere else.
const MOST: f64 = 0.5;

/// A process (or thread), and the function of its own that makes a call.
pub(crate) type CallSite = (u32, Option<u32>);

/// See the file's head.
pub(crate) struct Calls<'a> {
    evidence: &'a Evidence<'a>,
    /// For each stack the innermost function on it that is of no runtime.
    own: Vec<Option<u32>>,
    /// … and the innermost of these that is in a program, not in a library.
    program: Vec<Option<u32>>,
}

/// Calls that belong together: what they cost, and a stack that shows where from.
#[derive(Debug, Clone, Default)]
pub(crate) struct Sum {
    pub count: u64,
    pub bytes: u64,
    pub duration_ns: f64,
    pub blocked_ns: f64,
    /// Time by stack.
    stacks: HashMap<u32, f64>,
}

impl Sum {
    pub(crate) fn add(&mut self, row: &Syscall) {
        self.count += row.count;
        self.bytes += row.bytes;
        self.duration_ns += row.duration_ns as f64;
        self.blocked_ns += row.blocked_ns as f64;
        if let Some(stack) = row.stack {
            *self.stacks.entry(stack).or_default() += row.duration_ns as f64;
        }
    }

    /// Adds another sum.
    pub(crate) fn join(&mut self, other: &Sum) {
        self.count += other.count;
        self.bytes += other.bytes;
        self.duration_ns += other.duration_ns;
        self.blocked_ns += other.blocked_ns;
        for (stack, ns) in &other.stacks {
            *self.stacks.entry(*stack).or_default() += ns;
        }
    }

    /// Time in the kernel, working.
    pub(crate) fn working_ns(&self) -> f64 {
        (self.duration_ns - self.blocked_ns).max(0.0)
    }

    /// The stack with most of the time.
    pub(crate) fn stack(&self) -> Option<u32> {
        heaviest(&self.stacks)
    }

    /// Each stack with the time of its calls, ns.
    pub(crate) fn times_by_stack(&self) -> impl Iterator<Item = (u32, f64)> + '_ {
        self.stacks.iter().map(|(stack, ns)| (*stack, *ns))
    }

    pub(crate) fn stacks(&self) -> impl Iterator<Item = u32> + '_ {
        self.stacks.keys().copied()
    }
}

impl<'a> Calls<'a> {
    pub(crate) fn new(evidence: &'a Evidence<'a>) -> Calls<'a> {
        let tables = &evidence.recording.tables;
        let foreign: Vec<bool> = (0..tables.functions.len() as u32)
            .map(|function| runtime::is_name(&evidence.frame(function)))
            .collect();
        let programs: Vec<bool> = (0..tables.functions.len() as u32)
            .map(|function| evidence.is_program(&evidence.module(function)))
            .collect();
        let mut own: Vec<Option<u32>> = Vec::with_capacity(tables.stacks.len());
        let mut program: Vec<Option<u32>> = Vec::with_capacity(tables.stacks.len());
        for stack in &tables.stacks {
            let outer = |of: &[Option<u32>]| stack.parent.and_then(|parent| of[parent as usize]);
            // A function of a library into which the program's own was inlined, as the body of a thread, is the program's.
            let own_frame = |frame: &slowpath_recording::tables::Frame| !foreign[frame.function as usize];
            let is_own = || evidence.recording.frames_of(stack.location).iter().any(own_frame);
            let in_kernel = tables.locations[stack.location as usize].kind == "kernel";
            let here = evidence.function_at(stack.location).filter(|_| !in_kernel);
            let here = here.filter(|function| !foreign[*function as usize] || is_own());
            program.push(here.filter(|function| programs[*function as usize]).or(outer(&program)));
            own.push(here.or(outer(&own)));
        }
        Calls { evidence, own, program }
    }

    /// Finished calls of the 64-bit interface with the process of each.
    pub(crate) fn all(&self) -> impl Iterator<Item = (&'a Syscall, u32)> + use<'a> {
        let tables = &self.evidence.recording.tables;
        let rows = tables.syscalls.iter().filter(|row| !row.compat);
        rows.map(|row| (row, tables.threads[row.thread as usize].process))
    }

    /// The threads that they are of.
    pub(crate) fn threads(&self) -> &'a [Thread] {
        &self.evidence.recording.tables.threads
    }

    /// The function of the program itself that makes the call; none if its stack is not known.
    pub(crate) fn own(&self, row: &Syscall) -> Option<u32> {
        self.own[row.stack? as usize]
    }

    /// The function that makes the call: the innermost one of a program, not of a library that it asks; where there is none, as
    /// [`Calls::own`].
    pub(crate) fn asks(&self, row: &Syscall) -> Option<u32> {
        let stack = row.stack? as usize;
        self.program[stack].or(self.own[stack])
    }

    /// Whether a program's own code is at the end of a stack, and not a library that it asked.
    pub(crate) fn is_own_code(&self, stack: Option<u32>) -> bool {
        let here = |stack: u32| {
            self.evidence.function_at(self.evidence.recording.tables.stacks[stack as usize].location)
        };
        stack.is_some_and(|stack| here(stack).is_some() && here(stack) == self.program[stack as usize])
    }

    /// Whether Go's runtime makes the call: what a program asks it for is not what it calls, as when it yields while it waits for a lock of its own.
    pub(crate) fn is_of_go(&self, row: &Syscall) -> bool {
        let innermost = row.stack.and_then(|stack| self.evidence.locations(stack).next());
        innermost.and_then(|location| self.evidence.function_at(location)).is_some_and(|function| {
            let name = self.evidence.name(function);
            name.starts_with("runtime.") && Language::of(name) == Language::Go
        })
    }

    /// Whether a program makes the call itself, with nothing but a runtime between: no library does it for its own reasons.
    pub(crate) fn is_direct(&self, row: &Syscall) -> bool {
        let stack = row.stack.map(|stack| stack as usize);
        stack.is_some_and(|stack| self.program[stack].is_some() && self.program[stack] == self.own[stack])
    }

    /// The innermost function of the program itself on a stack.
    pub(crate) fn own_of(&self, stack: u32) -> Option<u32> {
        self.own[stack as usize]
    }

    /// The innermost function of the program itself on the stack `at` under which most of some time (by stack, ns) is spent, and the stack with
    /// most of that. None if that is only where the thread begins: everything is under that.
    pub(crate) fn doing(&self, spent: &BTreeMap<u32, f64>, at: u32) -> Option<(u32, u32)> {
        let total: f64 = spent.values().sum();
        let mut around: Vec<u32> = self.on(at).collect();
        around.dedup();
        around.pop().filter(|_| !around.is_empty())?;
        around.into_iter().find_map(|function| {
            let under = || spent.iter().filter(|(stack, _)| self.on(**stack).any(|on| on == function));
            let ns: f64 = under().map(|(_, ns)| ns).sum();
            let (stack, _) = under().max_by(|a, b| a.1.total_cmp(b.1))?;
            (ns > MOST * total).then_some((*stack, function))
        })
    }

    /// Whether a function of the program itself is on a stack.
    pub(crate) fn is_under(&self, stack: u32, function: u32) -> bool {
        self.on(stack).any(|on| on == function)
    }

    /// The functions of the program itself on a stack, innermost first.
    pub(crate) fn on(&self, stack: u32) -> impl Iterator<Item = u32> + '_ {
        let stacks = &self.evidence.recording.tables.stacks;
        let parent = |stack: &u32| stacks[*stack as usize].parent;
        std::iter::successors(Some(stack), parent).filter_map(|stack| self.own[stack as usize])
    }

    pub(crate) fn file(&self, row: &Syscall) -> Option<&'a File> {
        Some(&self.evidence.recording.tables.files[row.file? as usize])
    }

    /// CPU time of the samples in `process` under `own` and under the outermost library function that all of `sums`' stacks
    /// go through behind it; 0 if there is none, for then `own` does other things as well. Of a function that makes other calls
    /// too it is the part that these calls have of the time of all. Where samples are of user code alone the time of the calls is added.
    pub(crate) fn sampled_ns(&self, process: u32, own: u32, sum: &Sum) -> f64 {
        let evidence = self.evidence;
        let of_user = evidence.is_kernel_unseen();
        if evidence.by_ptrace && !of_user {
            return 0.0; // samples there are of its stops as well
        }
        // The outermost function behind `own` on each stack.
        let mut behind = sum.stacks().map(|stack| {
            let inner = evidence.locations(stack).filter_map(|location| evidence.function_at(location));
            inner.take_while(|function| *function != own).last()
        });
        let Some(common) = behind.next().flatten() else { return 0.0 };
        if behind.any(|first| first != Some(common)) {
            return 0.0;
        }
        let stacks = &evidence.recording.tables.stacks;
        // 1: under own; 2: and then directly under the common one.
        let mut depth: Vec<u8> = Vec::with_capacity(stacks.len());
        for stack in stacks {
            let outer = stack.parent.map_or(0, |parent| depth[parent as usize]);
            let function = evidence.function_at(stack.location);
            depth.push(match (outer, function) {
                (2, _) => 2,
                (_, Some(function)) if function == own => 1,
                (1, Some(function)) if function == common => 2,
                _ => 0,
            });
        }
        let inside = |stack: Option<u32>| stack.is_some_and(|stack| depth[stack as usize] == 2);
        let mut all = Sum::default();
        self.all().filter(|(row, of)| *of == process && inside(row.stack)).for_each(|(row, _)| all.add(row));
        let part = (sum.working_ns() / all.working_ns().max(1.0)).min(1.0);
        let samples = evidence.recording.tables.samples.iter().zip(&evidence.weights);
        let sampled: f64 = samples
            .filter(|(sample, _)| inside(sample.stack))
            .filter(|(sample, _)| evidence.process_of(sample) == process)
            .map(|(_, weight)| weight)
            .sum();
        part * (sampled + if of_user { all.working_ns() } else { 0.0 })
    }

    /// CPU time in user code by the samples of threads in spans of time (thread, from, to; ns), in all, ns, and how many samples those are.
    pub(crate) fn user_ns(&self, spans: &[(u32, u64, u64)]) -> (f64, usize) {
        let tables = &self.evidence.recording.tables;
        let in_user = |stack: u32| {
            let inner = tables.stacks[stack as usize].location;
            tables.locations[inner as usize].kind != "kernel"
        };
        let (mut user, mut seen) = (0.0, 0);
        for (thread, from, to) in spans {
            let first = tables.samples.partition_point(|sample| sample.time_ns < *from);
            let within = tables.samples[first..].iter().zip(&self.evidence.weights[first..]);
            let own = within
                .take_while(|(sample, _)| sample.time_ns <= *to)
                .filter(|(sample, _)| sample.thread == *thread && sample.stack.is_some_and(in_user));
            for (_, weight) in own {
                user += weight;
                seen += 1;
            }
        }
        (user, seen)
    }

    /// Share of the time in which threads were in their calls (thread, from, to; ns, in order of their start) that some other
    /// thread of the tree used a CPU: what the thread itself used was for the call. Without samples the most that it can be.
    pub(crate) fn busy_share(&self, intervals: &[(u32, u64, u64)]) -> f64 {
        let total: u64 = intervals.iter().map(|(_, start, end)| end.saturating_sub(*start)).sum();
        if self.evidence.by_ptrace && self.evidence.weights.is_empty() {
            return self.evidence.cpu_ns / (total as f64).max(1.0);
        }
        let samples = &self.evidence.recording.tables.samples;
        let mut busy = 0.0;
        for (thread, start, end) in intervals {
            let from = samples.partition_point(|sample| sample.time_ns < *start);
            let to = samples.partition_point(|sample| sample.time_ns < *end).max(from);
            let inside = samples[from..to].iter().zip(&self.evidence.weights[from..to]);
            busy +=
                inside.filter(|(sample, _)| sample.thread != *thread).map(|(_, weight)| weight).sum::<f64>();
        }
        busy / (total as f64).max(1.0)
    }
}

/// What the tracer reports as the argument of a select that looks at nothing.
const LOOKS_AT_NOTHING: u64 = 2;

/// A thread asked to be let asleep for a time.
pub(crate) fn is_sleep(row: &Syscall) -> bool {
    SLEEPS.contains(&row.number) || SELECTS.contains(&row.number) && row.argument == LOOKS_AT_NOTHING
}

/// A thread was met in the call: what came before and after it is not known.
pub(crate) fn is_met(row: &Syscall) -> bool {
    row.met == Some(true)
}

/// One call that was recorded with those before and after it.
pub(crate) fn is_single(row: &Syscall) -> bool {
    row.count == 1 && !is_met(row)
}

/// When a call began and ended, and for how many it stands, if that is known of each: by ptrace a row is one call of a window, and stands for others like it.
pub(crate) fn moment(evidence: &Evidence<'_>, row: &Syscall) -> Option<(u64, u64, f64)> {
    if is_single(row) {
        return Some((row.time_ns, row.end_ns, 1.0));
    }
    let each = row.duration_ns.checked_div(row.count).filter(|_| evidence.by_ptrace && !is_met(row))?;
    Some((row.time_ns, row.time_ns.saturating_add(each), row.count as f64))
}

/// Bytes go out: to a file, a pipe or a socket.
pub(crate) fn is_send(row: &Syscall) -> bool {
    SENDS.contains(&row.number) || WRITES.contains(&row.number)
}

/// Bytes come in.
pub(crate) fn is_receive(row: &Syscall) -> bool {
    RECEIVES.contains(&row.number) || READS.contains(&row.number)
}

/// A connection was opened, or is under way (EINPROGRESS).
pub(crate) fn is_connect(row: &Syscall) -> bool {
    row.number == CONNECT && (row.result == 0 || row.result == -115)
}

/// A file was opened to be read, and only that.
pub(crate) fn is_read_open(row: &Syscall) -> bool {
    // open and openat keep their flags; openat2's are in memory.
    let flags = if row.number == OPENAT2 { 0 } else { row.argument as i32 };
    let reads = flags & ACCESS_MODE == 0 && flags & (CREATE | TRUNCATE) == 0;
    OPENS.contains(&row.number) && row.result >= 0 && reads && row.number != CREAT
}
/// A file was opened to be written to, and emptied, or made anew.
pub(crate) fn is_emptying_open(row: &Syscall) -> bool {
    const ANEW: i32 = TRUNCATE | EXCLUSIVE;
    // openat2 keeps its flags in memory.
    row.number == CREAT
        || OPENS.contains(&row.number)
            && row.number != OPENAT2
            && writes(row)
            && row.argument as i32 & ANEW != 0
}

/// A file was opened to be written to as it is.
pub(crate) fn is_writing_open(row: &Syscall) -> bool {
    OPENS.contains(&row.number)
        && row.number != OPENAT2
        && row.number != CREAT
        && writes(row)
        && !is_emptying_open(row)
}

/// Whether an open's flags allow writing.
fn writes(row: &Syscall) -> bool {
    row.argument as i32 & ACCESS_MODE != 0
}
const ACCESS_MODE: i32 = 3;
const EXCLUSIVE: i32 = 0o200;
const CREATE: i32 = 0o100;
const TRUNCATE: i32 = 0o1000;

/// Where calls are made: the program's own function on a stack that shows where from; the process where none is known.
pub(crate) fn place(evidence: &Evidence<'_>, stack: Option<u32>, own: Option<u32>, process: u32) -> Place {
    let path = stack.zip(own).map_or_else(Vec::new, |(stack, own)| own_path(evidence, stack, own));
    Place::at_end_of(path, || evidence.whole_process(process))
}

/// The call path down to the program's own innermost frame: what was inlined there from a library is left out. So is a library whose functions
/// have no names: nobody knows what to do about an address in it, but whoever calls it may do so less often. Of an interpreter it is the script.
fn own_path(evidence: &Evidence<'_>, stack: u32, own: u32) -> Vec<Frame> {
    let mut path = evidence.path_at(stack, own);
    let last = path.iter().rposition(|frame| !runtime::is_name(frame));
    path.truncate(last.map_or(path.len(), |last| last + 1));
    if path.last().is_some_and(|frame| !frame.has_name()) {
        let named = |frame: &Frame| frame.has_name() && !runtime::is_name(frame);
        let program = path.iter().rposition(|frame| named(frame) && evidence.is_program(&frame.module));
        path.truncate(program.map_or(path.len(), |last| last + 1));
    }
    match evidence.script_on(&path) {
        Some(script) => vec![script],
        None => path,
    }
}

/// A fact of the trace.
pub(crate) fn fact(name: &str, value: f64, unit: &str, sure: Sure) -> Fact {
    Fact::new(name, value, unit, "trace", sure)
}

/// " from load_config (main.c:12)", or nothing where it is not known.
pub(crate) fn from(evidence: &Evidence<'_>, stack: Option<u32>, own: Option<u32>) -> String {
    let Some(frame) = stack.zip(own).and_then(|(stack, own)| own_path(evidence, stack, own).pop()) else {
        return String::new();
    };
    let at = match (&frame.file, frame.line) {
        (Some(file), Some(line)) => format!(" ({}:{line})", base_name(file)),
        _ => String::new(),
    };
    format!(" from {}{at}", short(&frame.function))
}

/// A function's name in a sentence: its arguments tell nothing there, and may be longer than all else.
pub(crate) fn short(name: &str) -> &str {
    let short = without_arguments(name);
    if short.ends_with("::") || short.ends_with("operator") { name } else { short }
}

/// Several names, the first few shown: "a, b and 3 more".
pub(crate) fn some(names: &[String], most: usize) -> String {
    match names {
        [] => String::new(),
        [one] => one.clone(),
        _ if names.len() <= most => {
            format!("{} and {}", names[..names.len() - 1].join(", "), names[names.len() - 1])
        }
        _ => format!("{} and {} more", names[..most].join(", "), names.len() - most),
    }
}
