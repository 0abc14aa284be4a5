//! A program is started for every operation, and start-up is most of its time.
//!
//! The operations are children that one place of one process forks and that execute the same program, each with its own
//! descendants. When a child has started up is left to `started`. Who starts programs that then work for long (make and its compilers) is left alone.
//! Children that execute nothing are left to `forked`, and loops that start them to look for something to `polling`.

mod copied;
mod forked;
mod pauses;
mod polling;
mod started;
mod tracing;

use super::words::{base_name, count, time};
use super::{Find, Needs, Spec, needless_calls};
use crate::Evidence;
use crate::calls::{CallSite, Calls, Sum, fact, from, place};
use crate::candidate::Candidate;
use crate::draft::Draft;
use crate::findings::{Basis, Confidence, Cost, Sure};
use crate::gate::Gate;
use crate::intervals;
use copied::Copied;
use slowpath_recording::tables::{Process, Syscall};
use slowpath_syscalls::{CONNECT, EXECS, FORKS, POLLS};
use started::{COMMON, started};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use tracing::{as_the_others, traced};

/// See the file's head.
pub(super) const CAUSE: Spec = Spec {
    slug: "process-per-operation",
    title: "a process for every operation",
    symptom: "one call site starts a program N times, and most of the time is start-up, or `fork` copies a large process each time",
    not_known: "whether the operation can be done without a process of its own",
    page: include_str!("../../../../docs/causes/process-per-operation.md"),
    needs: &[Needs::Syscalls],
    find: Find::InRecording(find),
};

/// Operations before they count.
const OPERATIONS: usize = 10;
/// Start-up is at least this share of the operations' time.
const START_UP: f64 = 0.5;
const GATE: Gate = Gate::TENTH_OF_WALL;
/// The third quartile of the operations' times is at most so many times the first: what they are given matters little. On a busy machine 1.4 to 1.5 times, where each run
/// of the same program asked something else. Where starting up was at least half of the time as well, the fixes of four programs saved all that their children took.
const ALIKE: f64 = 2.0;
/// Starting up takes at most so many times the CPU time that it uses: of eight programs that were started ten times 1.0 to 1.7 times, and cold caches, which take
/// 4 to 20 times, are so for the first only.
const BY_CPU: f64 = 3.0;
/// Names of functions that start a process, without `_`; Go's waits there for the child to execute its program.
const STARTS: [&str; 12] = [
    "syscall.forkExec",
    "fork",
    "vfork",
    "Fork",
    "libc_fork",
    "GI__Fork",
    "libc_vfork",
    "posix_spawn",
    "posix_spawnp",
    "spawni",
    "spawnix",
    "popen",
];
/// Processes of which it is asked who in them starts others: those that start most come early, and have few of their kind.
const ASKED: usize = 100;
/// Samples and traced calls in these before it is known who calls them, and the share that one function must have.
const SPAWNING: usize = 5;
const ALONE: f64 = 0.8;
const IN_PROCESS: &str = "Do it in-process with a library, or start the program once and give it all operations (many arguments, a \
                          list on stdin, a long-running server)";
const WITHOUT_COPY: &str = "Start programs with posix_spawn or vfork, which copy nothing, or from a small helper process that is \
                            forked before the memory grows";
/// One child and its descendants.
struct Operation {
    process: u32,
    members: BTreeSet<u32>,
    /// From the parent's call of fork.
    start: u64,
    end: u64,
}

/// Operations of one place, and its forks as far as they are known.
#[derive(Default)]
struct Group {
    operations: Vec<Operation>,
    forks: Sum,
    /// Where the forks' stacks are not known: one of the place.
    stack: Option<u32>,
}

impl Group {
    /// What all operations took, ns.
    fn lives(&self) -> f64 {
        self.operations.iter().map(|operation| (operation.end - operation.start) as f64).sum()
    }
}

fn find(evidence: &Evidence<'_>) -> Vec<Candidate> {
    let calls = Calls::new(evidence);
    let tables = &evidence.recording.tables;
    // Who forked a pid: the call whose result it is, at or before the child's start.
    let mut forks: HashMap<i64, Vec<&Syscall>> = HashMap::new();
    for (row, _) in calls.all().filter(|(row, _)| FORKS.contains(&row.number) && row.result > 0) {
        forks.entry(row.result).or_default().push(row);
    }
    // What a child executes first, it executes on a copy of the stack that it was forked on, or on that stack.
    let mut execs: HashMap<u32, &Syscall> = HashMap::new();
    for (row, process) in calls.all().filter(|(row, _)| EXECS.contains(&row.number)) {
        execs.entry(process).or_insert(row);
    }
    let mut children: HashMap<u32, Vec<u32>> = HashMap::new();
    for process in &tables.processes {
        if let Some(parent) = process.parent {
            children.entry(parent).or_default().push(process.process);
        }
    }
    let starts = |function: u32| {
        let name = evidence.name(function);
        STARTS.contains(&name.trim_start_matches('_').trim_end_matches("@plt"))
    };
    let with = if evidence.by_ptrace { evidence.stacks_with(starts) } else { Vec::new() };
    // Each that is asked for is looked for in all samples and calls.
    let mut asked = 0;
    let mut spawners: HashMap<u32, Option<(u32, u32)>> = HashMap::new();
    let mut groups: BTreeMap<(CallSite, &str), Group> = BTreeMap::new();
    for process in tables.processes.iter().filter(|process| process.exec_ns.is_some()) {
        let Some(parent) = process.parent else { continue };
        let fork = forks.get(&i64::from(process.pid)).and_then(|rows| {
            let of_parent = rows.iter().filter(|row| tables.threads[row.thread as usize].process == parent);
            of_parent.filter(|row| row.time_ns <= process.start_ns).max_by_key(|row| row.time_ns)
        });
        let start = fork.map_or(process.start_ns, |fork| fork.time_ns);
        let end = process.end_ns.unwrap_or(start).max(start);
        // Where calls are traced in windows most forks are known of only that they were.
        let spawner = match fork {
            None if evidence.by_ptrace => *spawners.entry(parent).or_insert_with(|| {
                asked += 1;
                (asked <= ASKED).then(|| spawner(evidence, &calls, &with, parent)).flatten()
            }),
            _ => None,
        };
        // Of some forks the stack is not known, as of those by Go's runtime, which keeps where it returns to in a register meanwhile.
        let by_exec = || {
            let stack = execs.get(&process.process).filter(|_| fork.is_some())?.stack?;
            Some((calls.own_of(stack)?, stack))
        };
        let of_fork = fork.and_then(|fork| calls.own(fork));
        let spawner = if of_fork.is_some() { None } else { by_exec().or(spawner) };
        let own = of_fork.or(spawner.map(|(own, _)| own));
        let mut members = subtree(process.process, &children);
        // A daemon that one of them left behind is none of theirs.
        members.retain(|member| tables.processes[*member as usize].end_ns.is_some_and(|ended| ended <= end));
        members.insert(process.process);
        // A shell forks itself to start programs from there: it is the shell that starts them.
        let mut starter = parent;
        while let (None, Some(before)) =
            (tables.processes[starter as usize].exec_ns, tables.processes[starter as usize].parent)
        {
            starter = before;
        }
        let group = groups.entry(((starter, own), name(process))).or_default();
        group.operations.push(Operation { process: process.process, members, start, end });
        if let Some(fork) = fork {
            group.forks.add(fork);
        }
        group.stack = group.stack.or(spawner.map(|(_, stack)| stack));
    }
    groups.retain(|_, group| group.operations.len() >= OPERATIONS);
    // What the children do that need not be done is reported of its own, and is no part of starting them: fixing that leaves the rest.
    let needless = if groups.is_empty() { Vec::new() } else { needless_calls::find(evidence) };
    let mut judged: Vec<Judged<'_>> = groups
        .iter()
        .filter(|(_, group)| GATE.may_pass(evidence, group.lives())) // before the dearer questions
        .map(|(((parent, own), program), group)| Judged {
            parent: *parent,
            own: *own,
            program,
            at: started(evidence, &calls, &group.operations),
            group,
        })
        .collect();
    if evidence.recording.about.in_windows() {
        as_the_others(evidence, &calls, &mut judged);
    }
    let found = judged.iter().filter_map(|judged| finding(evidence, &calls, judged, &needless, &children));
    found.chain(forked::find(evidence, &calls)).collect()
}

/// A group, and when each of its operations had started up.
struct Judged<'a> {
    parent: u32,
    own: Option<u32>,
    /// The program that is started.
    program: &'a str,
    group: &'a Group,
    at: Vec<u64>,
}

/// The function of a process that starts others, as its samples show and the calls that were traced; none if there are few, or several functions do.
/// With it one of the stacks.
///
/// `with`: by stack, whether a process is started there.
fn spawner(evidence: &Evidence<'_>, calls: &Calls<'_>, with: &[bool], process: u32) -> Option<(u32, u32)> {
    let samples = evidence.recording.tables.samples.iter();
    let of_samples = samples.filter(|sample| evidence.process_of(sample) == process);
    let of_samples = of_samples.filter_map(|sample| sample.stack);
    let of_calls = calls.all().filter(|(_, of)| *of == process).filter_map(|(row, _)| row.stack);
    let mut by_function: BTreeMap<u32, (usize, u32)> = BTreeMap::new();
    for stack in of_samples.chain(of_calls).filter(|stack| with[*stack as usize]) {
        if let Some(own) = calls.own_of(stack) {
            by_function.entry(own).or_insert((0, stack)).0 += 1;
        }
    }
    let all: usize = by_function.values().map(|(seen, _)| seen).sum();
    let (function, (seen, stack)) = by_function.into_iter().max_by_key(|(_, (seen, _))| *seen)?;
    (seen >= SPAWNING && seen as f64 >= ALONE * all as f64).then_some((function, stack))
}

/// The program that starts others by one of its functions. The process may execute another one in the end.
fn starter(evidence: &Evidence<'_>, process: u32, own: Option<u32>) -> String {
    let process = &evidence.recording.tables.processes[process as usize];
    let module = own.map(|own| evidence.module(own)).unwrap_or_default();
    let is_another = module != base_name(&process.program) && evidence.is_program(&module);
    if is_another { base_name(&module).to_owned() } else { name(process).to_owned() }
}

/// The name that the program was started by, without its folder.
fn name(process: &Process) -> &str {
    // The file is not known of those that were gone before it could be asked for.
    let name = process.arguments.first().unwrap_or(&process.program);
    base_name(name)
}

fn subtree(root: u32, children: &HashMap<u32, Vec<u32>>) -> BTreeSet<u32> {
    let (mut members, mut next) = (BTreeSet::new(), vec![root]);
    while let Some(process) = next.pop() {
        if members.insert(process) {
            next.extend(children.get(&process).into_iter().flatten());
        }
    }
    members
}

fn finding(
    evidence: &Evidence<'_>,
    calls: &Calls<'_>,
    judged: &Judged<'_>,
    needless: &[Candidate],
    children: &HashMap<u32, Vec<u32>>,
) -> Option<Candidate> {
    let Judged { parent, own, group, at, .. } = judged;
    let (parent, own) = (*parent, *own);
    let Group { operations, forks, stack } = group;
    let tables = &evidence.recording.tables;
    let about = &evidence.recording.about;
    let lives = group.lives();
    let starts: Vec<(u64, u64)> =
        operations.iter().zip(at).map(|(one, at)| (one.start, (*at).max(one.start))).collect();
    // What a helper does for them is work, and stays.
    let helper = helper(evidence, calls, operations);
    let waited = helper.as_ref().map_or(0.0, |helper| helper.waited);
    let (tracing, tracing_start) = traced(evidence, calls, operations, at);
    let lives = (lives - tracing).max(0.0);
    let start_up: f64 = starts.iter().map(|(start, end)| (end - start) as f64).sum::<f64>();
    let start_up = (start_up - waited - tracing_start).max(0.0);
    let cpu: f64 = operations
        .iter()
        .flat_map(|operation| &operation.members)
        .map(|process| {
            let used = tables.processes[*process as usize].cpu_ns.unwrap_or(0) as f64;
            (used - evidence.recorded_ns(*process)).max(0.0)
        })
        .sum();
    // Both are estimates where little was traced. What was not traced may as well be a sleep or a wait for something else.
    let longest = if about.in_windows() { (lives - waited).min(BY_CPU * cpu) } else { lives - waited };
    let start_up = if about.in_windows() { start_up.min(longest) } else { start_up };
    if start_up < START_UP * (lives - waited) {
        return None;
    }
    // The work that all do alike does not hang on what they were started for. What they wait for may.
    let fixed = if are_alike(operations) { longest.min(cpu).max(start_up) } else { start_up };
    // Operations that overlap: what one of them takes is not all elapsed time.
    let spans = operations.iter().map(|operation| (operation.start, operation.end)).collect();
    let together = intervals::length(&intervals::union(spans));
    let alone = together / (lives + tracing).max(1.0);
    let meanwhile = if evidence.by_ptrace && evidence.weights.is_empty() {
        // As if the parent used its CPU time evenly.
        let cpu = tables.processes[parent as usize].cpu_ns.unwrap_or(0) as f64;
        cpu * (together / (about.wall_ns as f64).max(1.0)).min(1.0)
    } else {
        let whole: Vec<(u64, u64)> = operations.iter().map(|one| (one.start, one.end)).collect();
        sampled(evidence, parent, if fixed > start_up { &whole } else { &starts })
    };
    let needless = needless_ns(evidence, operations, needless);
    let gain = ((fixed - meanwhile - needless) * alone).max(0.0);
    if !GATE.may_pass(evidence, gain) {
        return None;
    }
    if polling::sleeps_between(evidence, calls, parent, operations, children) {
        return None;
    }
    let copied = Copied::of(evidence, calls, parent, group, start_up);
    // Of the rest of starting up a program nothing goes.
    let gain = copied.as_ref().map_or(gain, |copied| copied.ns() * alone.min(1.0));
    if !GATE.may_pass(evidence, gain) {
        return None;
    }
    let cost = if copied.is_some() { gain } else { lives * alone };
    let number = operations.len() as f64;
    let program = names(evidence, &operations[operations.len() / 2]);
    let stack = stack.or(forks.stack());
    let parent_name = starter(evidence, parent, own);
    let parent_name = parent_name.as_str();
    let mut explanation = vec![format!(
        "{parent_name} started {program} {} times{}; each run took {}, {}",
        count(number),
        from(evidence, stack, own),
        time(lives / number),
        match start_up / lives {
            all if all >= 0.995 => "all of it start-up: it accessed no input of its own".to_owned(),
            share => format!(
                "of which {} ({:.0} %) was start-up, before it first accessed its input",
                time(start_up / number),
                100.0 * share
            ),
        }
    )];
    if copied.is_none() {
        explanation.push(format!(
            "each run used {} of CPU time for fork, exec, dynamic linking, reading its configuration and the work \
             itself",
            time(cpu / number)
        ));
    }
    if copied.is_none() && fixed > start_up {
        explanation.push(String::from(
            "most runs took about as long as each other, whatever they were started for: all of their CPU time is in the gain"
        ));
    }
    if let Some(copied) = &copied {
        explanation.extend(copied.said(parent_name, number));
    } else if needless > 0.0 {
        explanation.push(format!(
            "{} of it, each time, is spent in system calls that are not needed: that is reported separately, and is not part of this gain",
            time(needless / number)
        ));
    }
    let mut facts = vec![
        fact("processes started", number, "processes", Sure::Exact),
        fact("time of each", lives / number, "ns", Sure::Exact),
        fact("start-up of each", start_up / number, "ns", Sure::Exact),
        fact("CPU time of each", cpu / number, "ns", Sure::Exact),
        fact("elapsed time of all", lives * alone, "ns", Sure::Exact),
    ];
    facts.extend(copied.iter().flat_map(|copied| copied.facts(number)));
    if let Some(helper) = helper {
        explanation.push(helper.said(number));
        facts.push(fact("time waited for a helper, each", helper.waited / number, "ns", Sure::Exact));
    }
    Some(
        Draft {
            explanation,
            facts,
            gain_is_least: copied.is_some(),
            variant: if copied.is_some() { "copied" } else { "" },
            advice: match copied {
                None => IN_PROCESS.to_owned(),
                Some(_) => {
                    format!("{WITHOUT_COPY}. Or: {}{}", IN_PROCESS[..1].to_lowercase(), &IN_PROCESS[1..])
                }
            },
            ..Draft::new(
                &CAUSE,
                if copied.is_some() {
                    "a large process is copied for every operation"
                } else {
                    "a process for every operation"
                },
                Confidence::Likely,
                Cost::new(Basis::Wall, cost, gain),
                place(evidence, stack, own, parent),
            )
        }
        .candidate(evidence, GATE, parent),
    )
}

/// CPU time of the operations in system calls that are not needed, as far as that is reported, ns.
fn needless_ns(evidence: &Evidence<'_>, operations: &[Operation], needless: &[Candidate]) -> f64 {
    let members: BTreeSet<u32> =
        operations.iter().flat_map(|operation| operation.members.iter().copied()).collect();
    let of_them = || needless.iter().filter(|one| members.contains(&one.process));
    let ns: f64 = of_them().map(|one| one.finding.cost.gain() as f64).sum();
    of_them().next().filter(|one| one.gate.passes(evidence, ns)).map_or(0.0, |_| ns)
}

/// Whether most operations took about as long: see [`ALIKE`].
fn are_alike(operations: &[Operation]) -> bool {
    let mut lives: Vec<u64> = operations.iter().map(|one| one.end - one.start).collect();
    lives.sort_unstable();
    let quarter = lives.len() / 4;
    lives[lives.len() - 1 - quarter] as f64 <= ALIKE * lives[quarter] as f64
}

/// The programs of an operation: "sh → gpg", those behind the first one by their CPU time.
fn names(evidence: &Evidence<'_>, operation: &Operation) -> String {
    let tables = &evidence.recording.tables;
    let first = name(&tables.processes[operation.process as usize]);
    let others = operation.members.iter().map(|process| &tables.processes[*process as usize]);
    let most = others
        .filter(|process| process.exec_ns.is_some() && name(process) != first)
        .max_by_key(|process| process.cpu_ns);
    most.map_or_else(|| first.to_owned(), |process| format!("{first} → {}", name(process)))
}

/// CPU time of a process within intervals, ns.
fn sampled(evidence: &Evidence<'_>, process: u32, intervals: &[(u64, u64)]) -> f64 {
    let samples = &evidence.recording.tables.samples;
    let mut total = 0.0;
    for (start, end) in intervals {
        let from = samples.partition_point(|sample| sample.time_ns < *start);
        let to = samples.partition_point(|sample| sample.time_ns < *end).max(from);
        let inside = samples[from..to].iter().zip(&evidence.weights[from..to]);
        total += inside
            .filter(|(sample, _)| evidence.process_of(sample) == process)
            .map(|(_, weight)| weight)
            .sum::<f64>();
    }
    total
}

/// A helper that the operations talk to over a socket.
struct Helper<'a> {
    address: &'a str,
    /// What all operations waited for it, ns.
    waited: f64,
    /// The process, if it is in the recording, and its CPU time, ns.
    process: Option<(&'a Process, f64)>,
}

impl Helper<'_> {
    fn said(&self, operations: f64) -> String {
        let (each, address) = (time(self.waited / operations), self.address);
        match &self.process {
            Some((process, cpu)) => format!(
                "each run also waited {each} for {} at {address}, which used {} of CPU time in total; this is not \
                 start-up and not part of the gain",
                name(process),
                time(*cpu)
            ),
            None => format!(
                "each run also waited {each} for a server at {address} outside this recording; its CPU time is not \
                 included"
            ),
        }
    }
}

/// The helper that most operations talk to, if any.
fn helper<'a>(evidence: &'a Evidence<'_>, calls: &Calls<'a>, operations: &[Operation]) -> Option<Helper<'a>> {
    let tables = &evidence.recording.tables;
    let members: BTreeSet<u32> =
        operations.iter().flat_map(|operation| operation.members.iter().copied()).collect();
    let mut addresses: BTreeMap<&str, u64> = BTreeMap::new();
    for (row, _) in calls.all().filter(|(_, process)| members.contains(process)) {
        if let Some(file) = calls.file(row).filter(|file| row.number == CONNECT && file.kind == "address") {
            *addresses.entry(&file.path).or_default() += row.count;
        }
    }
    let (address, times) = addresses.into_iter().max_by_key(|(_, times)| *times)?;
    if (times as f64) < COMMON * operations.len() as f64 {
        return None;
    }
    // It is waited for in reads of a socket, or in a poll before these.
    let on_socket = |number: u32, file: Option<u32>| {
        POLLS.contains(&number) || file.is_some_and(|file| tables.files[file as usize].kind == "socket")
    };
    let waited: u64 = calls
        .all()
        .filter(|(row, process)| members.contains(process) && on_socket(row.number, row.file))
        .map(|(row, _)| row.blocked_ns)
        .sum();
    // A helper of the tree is known by who ended the waits.
    let process_of = |thread: u32| tables.threads[thread as usize].process;
    let process = tables
        .waits
        .iter()
        .filter(|wait| members.contains(&process_of(wait.thread)) && on_socket(wait.number, wait.file))
        .filter_map(|wait| Some(process_of(wait.waker?)))
        .find(|process| !members.contains(process));
    let process = process.map(|process| {
        let row = &tables.processes[process as usize];
        let sampled = || {
            let samples = tables.samples.iter().zip(&evidence.weights);
            samples
                .filter(|(sample, _)| evidence.process_of(sample) == process)
                .map(|(_, weight)| weight)
                .sum()
        };
        (row, row.cpu_ns.map_or_else(sampled, |cpu| cpu as f64))
    });
    Some(Helper { address, waited: waited as f64, process })
}
