//! A helper is called for each of very many items, and takes a large part of the time: single items are handed to another thread, a stack trace is
//! recorded for each error, the clock is read for each row, a date is parsed for each line.
//!
//! Which helpers these are, and from which share of the time on they are too much, is listed in the crate `slowpath-interfaces`. Seen from samples
//! alone. Functions that prepare something, which can be kept, belong to `redundant_computation`; exceptions to `exception_per_operation`.

use super::allocation_churn::{asked_for_ns, collecting_ns, of_collecting};
use super::busy_wait::SPINS;
use super::runtime::{self, Language};
use super::words::time;
use super::{Find, Needs, Spec, unoptimized_build};
use crate::Evidence;
use crate::asker::is_of_one_package;
use crate::calls::{place, short};
use crate::candidate::Candidate;
use crate::draft::Draft;
use crate::evidence::heaviest;
use crate::findings::{Basis, Confidence, Cost, Fact, Frame, Place, Sure};
use crate::gate::{Gate, Whole};
use slowpath_interfaces::{Costly, Helper, costly, in_source, without_arguments};
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// See the file's head.
pub(super) const CAUSE: Spec = Spec {
    slug: "costly-call-per-operation",
    title: "a costly call for every operation",
    symptom: "single items are handed to another thread, the clock is read or a date converted for each row, bytes are read one by one with fread, a shared_ptr is copied for each call",
    not_known: "whether the program can do with fewer of these calls",
    page: include_str!("../../../../docs/causes/costly-call-per-operation.md"),
    needs: &[Needs::Samples],
    find: Find::InRecording(find),
};

/// Samples that it takes: of fewer the share is not known to a third.
const SAMPLES: u64 = 30;
/// In a program that mostly waits half of the CPU time is little: so the gain is held against the longer of CPU and elapsed time.
const GATE: Gate = Gate { of: Whole::Longer, ..Gate::TENTH_OF_CPU };
/// Who hands something over can hand over more at a time. One with a tenth of the time or more is named before those who take it; if all of them have less
/// nothing much is handed over, but waited for.
const GIVES: f64 = 0.1;
/// What takes of those that are given something counts up to so many times what giving takes: who waits for more may spin. In a finder
/// of files (fd) it took 1.5 times as long.
const TAKES: f64 = 2.0;
/// So long in the clock at a stretch, ns, is a wait for a moment, and no row of items: of items that spend half of their time in the clock a fifth of a thousand
/// samples a second are in such rows, by chance. …
const IN_A_ROW_NS: f64 = 5e6;
/// … More of them wait.
const WAITS: f64 = 0.3;
/// Moments at which garbage must be seen to be collected: one collection of a large heap takes long, and is no habit.
const MOMENTS: u64 = 8;
/// Libraries beside a language's that have such helpers: how their file names begin.
const LIBRARIES: [&str; 3] = ["libglib-2.0.", "libunwind", "[vdso]"];
/// Share of the gain that another cause in the same function must save to take its place: it says why.
const EXPLAINED: f64 = 0.5;

/// Share of a function's time in helpers from which on they are what it is there for. Reading the fields and tags of types was 24 to 28 % of the function that collects
/// them in gocsv; the rest is splitting the tags and putting lists together.
const AROUND: f64 = 0.2;
/// What such a function does else takes less than this share of the rest: a hundredth there.
const ELSE: f64 = 0.1;

/// What goes on throughout a run is seen in so many of so many equal parts of it: there may be a start before and a report after it.
const OF_PARTS: usize = 6;
const PARTS: usize = 8;

/// Callers that are named.
const NAMED: usize = 3;

/// Time under the helpers of one kind, for one function that calls them.
#[derive(Default)]
struct Spent {
    ns: f64,
    /// As far as it gives something to another thread, ns.
    gives_ns: f64,
    stacks: BTreeMap<u32, f64>,
    /// By the program's own function that was inlined there, ns.
    own: BTreeMap<u32, f64>,
    /// By the helper, ns.
    helpers: BTreeMap<u32, f64>,
    /// The function does nothing else than this, and all of its time counts.
    is_all: bool,
}

/// Time under the helpers of one kind in one process.
#[derive(Default)]
struct Kind {
    samples: u64,
    ns: f64,
    /// As far as it gives something to another thread, ns.
    gives_ns: f64,
    /// Time in long rows of samples, ns, and of the row in which each thread is.
    in_rows: f64,
    rows: BTreeMap<u32, f64>,
    /// How many of these rows began.
    begun: u64,
    askers: BTreeMap<Option<u32>, Spent>,
}

/// A helper on a stack: what it is, its function, whether it gives something to another thread, and who calls it.
#[derive(Clone, Copy)]
struct Call {
    costly: &'static Costly,
    helper: u32,
    gives: bool,
    /// The function that it is in, and the program's own that was inlined there.
    asker: Option<u32>,
    own: Option<u32>,
}

/// The helpers among the functions of a recording, and where they are.
struct Helpers {
    /// By function.
    known: Vec<Vec<Helper>>,
    /// By location: the outermost of those that were inlined there, or that it is in.
    at: Vec<Option<u32>>,
    /// By stack: whether one is on it.
    on: Vec<bool>,
    /// By function: it is of a language's runtime.
    foreign: Vec<bool>,
}

impl Kind {
    /// A sample of a thread, and whether it is in one of these helpers.
    fn sample(&mut self, thread: u32, is: bool, ns: f64) {
        let row = self.rows.entry(thread).or_default();
        let before = *row;
        *row = if is { before + ns } else { 0.0 };
        self.begun += u64::from(is && before == 0.0);
        self.in_rows += match (before >= IN_A_ROW_NS, *row >= IN_A_ROW_NS) {
            (false, true) => *row,
            (true, true) => ns,
            _ => 0.0,
        };
    }

    /// Whether a sample of this stack is in one of these helpers.
    fn is_on(&self, stack: u32) -> bool {
        self.askers.values().any(|spent| spent.stacks.contains_key(&stack))
    }

    /// Most of it is in loops that do nothing else.
    fn waits(&self) -> bool {
        self.in_rows > WAITS * self.ns
    }

    /// What of it would go, ns.
    fn gain(&self, costly: &Costly) -> f64 {
        costly.goes()
            * match costly.has_givers() {
                true => self.ns.min((1.0 + TAKES) * self.gives_ns),
                false => self.ns,
            }
    }
}

impl Helpers {
    fn of(evidence: &Evidence<'_>) -> Helpers {
        let tables = &evidence.recording.tables;
        let known: Vec<_> =
            (0..tables.functions.len() as u32).map(|function| helpers(evidence, function)).collect();
        let helper_at = |location: u32| {
            let mut frames = evidence.recording.frames_of(location).iter().rev().map(|frame| frame.function);
            frames.find(|function| !known[*function as usize].is_empty())
        };
        let at: Vec<Option<u32>> = (0..tables.locations.len() as u32).map(helper_at).collect();
        let mut on: Vec<bool> = Vec::with_capacity(tables.stacks.len());
        for stack in &tables.stacks {
            let outer = stack.parent.is_some_and(|parent| on[parent as usize]);
            on.push(outer || at[stack.location as usize].is_some());
        }
        let is_runtime = |function: u32| runtime::is_name(&evidence.frame(function));
        let foreign = (0..tables.functions.len() as u32).map(is_runtime).collect();
        Helpers { known, at, on, foreign }
    }

    /// The outermost one on a stack that counts.
    fn call(&self, evidence: &Evidence<'_>, stack: u32) -> Option<Call> {
        if !self.on[stack as usize] {
            return None;
        }
        let locations: Vec<u32> = evidence.locations(stack).collect();
        (0..locations.len()).rev().find_map(|at| self.call_at(evidence, &locations, at))
    }

    /// The one at a place of a stack, of which these are the locations, if there is one that counts.
    fn call_at(&self, evidence: &Evidence<'_>, locations: &[u32], at: usize) -> Option<Call> {
        let helper = self.at[locations[at] as usize]?;
        let module = evidence.module(helper);
        let library = !evidence.is_program(&module);
        let is_own = |function: u32| {
            let of_it = match library {
                true => evidence.module(function) == module,
                false => is_of_one_package(evidence.name(function), evidence.name(helper)),
            };
            !of_it && !self.foreign[function as usize]
        };
        // The functions around it, with where each is: it may have been inlined into whoever calls it, and that into the runtime that starts a thread.
        let mut around = locations[at..].iter().flat_map(|location| {
            evidence.recording.frames_of(*location).iter().map(|frame| (frame.function, *location))
        });
        around.find(|(function, _)| *function == helper)?;
        let mut around = around.peekable();
        let direct = around.peek().map(|(function, _)| *function);
        let caller = direct.map(|function| evidence.name(function));
        let of = self.known[helper as usize].iter().find(|one| one.is_one_for(caller))?;
        let (costly, gives) = (of.kind, of.gives);
        if costly.direct && !direct.is_some_and(is_own)
            || is_needed(evidence, costly, &locations[..=at], helper, is_own)
        {
            return None;
        }
        // Go's runtime looks at the clock for reasons of its own.
        let of_go = direct.is_some_and(|direct| evidence.name(direct).starts_with("runtime."));
        if of_go && Language::of(evidence.name(helper)) == Language::C {
            return None;
        }
        let asker = around.find(|(function, _)| is_own(*function));
        let own = asker.map(|(function, _)| function);
        let asker = asker.and_then(|(_, location)| evidence.function_at(location));
        Some(Call { costly, helper, gives, asker, own })
    }
}

/// Whether what a helper does at the end of a stack, of which these are the locations up to the helper's, is needed in any case: reading and writing itself,
/// copying large blocks, and what functions of the program do that it calls.
fn is_needed(
    evidence: &Evidence<'_>,
    costly: &Costly,
    below: &[u32],
    helper: u32,
    is_own: impl Fn(u32) -> bool,
) -> bool {
    let tables = &evidence.recording.tables;
    let is_kernel = |location: &u32| tables.locations[*location as usize].kind == "kernel";
    let frames = || below.iter().flat_map(|location| evidence.recording.frames_of(*location));
    let mut under = frames().map(|frame| frame.function).take_while(|function| *function != helper);
    costly.user && below.first().is_some_and(is_kernel)
        || under.any(|function| costly.needs(evidence.name(function)) || costly.user && is_own(function))
}

/// The helpers that a function is. A plain name is one only in a library that has it: a program, or another library, may have a `backtrace` of its own.
fn helpers(evidence: &Evidence<'_>, function: u32) -> Vec<Helper> {
    let name = evidence.name(function);
    let found: Vec<Helper> = costly(name).collect();
    let of_library = || {
        let frame = evidence.frame(function);
        runtime::is_name(&frame) || LIBRARIES.iter().any(|start| frame.module.starts_with(start))
    };
    let is_plain = !without_arguments(name).contains(['.', ':']);
    // Names of C++ have their arguments.
    if found.is_empty() || is_plain && !(Language::of(name) == Language::C && of_library()) {
        return Vec::new();
    }
    found
}

fn find(evidence: &Evidence<'_>) -> Vec<Candidate> {
    let tables = &evidence.recording.tables;
    let helpers = Helpers::of(evidence);
    if helpers.at.iter().all(Option::is_none) {
        return Vec::new();
    }
    let mut kinds: BTreeMap<(u32, &str), (&'static Costly, Kind)> = BTreeMap::new();
    let spinning: BTreeSet<u32> = tables
        .loops
        .iter()
        .filter(|one| one.work == SPINS)
        .filter_map(|one| evidence.function_at(one.location))
        .collect();
    // Where loops are not looked at a loop that waits is not known.
    let is_judged = evidence.recording.about.counter.is_some();
    let mut known: HashMap<u32, Option<Call>> = HashMap::new();
    for (sample, weight) in tables.samples.iter().zip(&evidence.weights).filter(|(sample, _)| sample.on_cpu) {
        let process = evidence.process_of(sample);
        let spins = |call: &Call| {
            call.costly.waits && (!is_judged || call.asker.is_some_and(|asker| spinning.contains(&asker)))
        };
        let call = sample
            .stack
            .and_then(|stack| *known.entry(stack).or_insert_with(|| helpers.call(evidence, stack)))
            .filter(|call| !spins(call));
        if let Some(call) = &call {
            kinds
                .entry((process, call.costly.kind.as_str()))
                .or_insert_with(|| (call.costly, Kind::default()));
        }
        for ((_, kind), (_, of)) in kinds.range_mut((process, "")..(process + 1, "")) {
            of.sample(sample.thread, call.as_ref().is_some_and(|call| call.costly.kind == *kind), *weight);
        }
        let Some((stack, call)) = sample.stack.zip(call) else { continue };
        let Some((_, kind)) = kinds.get_mut(&(process, call.costly.kind.as_str())) else { continue };
        kind.samples += 1;
        kind.ns += weight;
        kind.gives_ns += if call.gives { *weight } else { 0.0 };
        let spent = kind.askers.entry(call.asker).or_default();
        spent.ns += weight;
        spent.gives_ns += if call.gives { *weight } else { 0.0 };
        *spent.stacks.entry(stack).or_default() += weight;
        *spent.helpers.entry(call.helper).or_default() += weight;
        if let Some(own) = call.own {
            *spent.own.entry(own).or_default() += weight;
        }
    }
    if evidence.is_kernel_unseen() {
        add_kernel(evidence, &helpers, &mut kinds);
    }
    for ((process, _), (costly, kind)) in kinds.iter_mut().filter(|(_, (costly, _))| costly.counts_around()) {
        count_around(evidence, *process, costly, kind);
    }
    let found = kinds.iter().filter(|(_, (costly, kind))| {
        let once = costly.collects && kind.begun < MOMENTS;
        kind.samples >= SAMPLES && !once && !(costly.waits && kind.waits())
    });
    let found = found.filter(|((process, _), (costly, kind))| {
        !costly.counts_around() || is_throughout(evidence, *process, kind)
    });
    found.filter_map(|((process, _), (costly, kind))| finding(evidence, *process, costly, kind)).collect()
}

/// Adds the kernel's part, which a tracer by ptrace knows from the system calls: samples show the program's own code alone.
fn add_kernel(
    evidence: &Evidence<'_>,
    helpers: &Helpers,
    kinds: &mut BTreeMap<(u32, &str), (&'static Costly, Kind)>,
) {
    let tables = &evidence.recording.tables;
    for row in tables.syscalls.iter().filter(|row| !row.compat) {
        let Some(call) = row.stack.and_then(|stack| helpers.call(evidence, stack)) else { continue };
        let process = tables.threads[row.thread as usize].process;
        let Some((costly, kind)) = kinds.get_mut(&(process, call.costly.kind.as_str())) else { continue };
        let Some(spent) = kind.askers.get_mut(&call.asker) else { continue };
        // Whether a loop waits is known from samples alone.
        if costly.user || costly.waits {
            continue;
        }
        let ns = row.duration_ns.saturating_sub(row.blocked_ns) as f64;
        kind.ns += ns;
        spent.ns += ns;
        if call.gives {
            kind.gives_ns += ns;
            spent.gives_ns += ns;
        }
    }
}

/// Whether samples are in these helpers in nearly all parts of the run: what is worked out once, at the start, is not.
fn is_throughout(evidence: &Evidence<'_>, process: u32, kind: &Kind) -> bool {
    let samples = evidence.recording.tables.samples.iter();
    let samples: Vec<_> =
        samples.filter(|sample| sample.on_cpu && evidence.process_of(sample) == process).collect();
    let parts = samples.chunks(samples.len().div_ceil(PARTS).max(1));
    let with = parts.filter(|part| part.iter().any(|sample| sample.stack.is_some_and(|at| kind.is_on(at))));
    with.count() >= OF_PARTS
}

/// Takes for the time in helpers that of the functions which call them, where these do nothing else.
fn count_around(evidence: &Evidence<'_>, process: u32, costly: &Costly, kind: &mut Kind) {
    #[derive(Default)]
    struct Around {
        ns: f64,
        stacks: BTreeMap<u32, f64>,
        /// What it does else, ns.
        else_ns: f64,
    }
    let tables = &evidence.recording.tables;
    let mut around: BTreeMap<u32, Around> =
        kind.askers.keys().flatten().map(|asker| (*asker, Around::default())).collect();
    for (sample, weight) in tables.samples.iter().zip(&evidence.weights) {
        let Some(stack) = sample.stack.filter(|_| sample.on_cpu && evidence.process_of(sample) == process)
        else {
            continue;
        };
        let locations: Vec<u32> = evidence.locations(stack).collect();
        for (asker, of) in &mut around {
            let is_asker = |location: &u32| evidence.function_at(*location) == Some(*asker);
            let Some(at) = locations.iter().rposition(is_asker) else { continue };
            let is_kernel = |location: &&u32| tables.locations[**location as usize].kind == "kernel";
            let mut below = locations[..=at].iter().skip_while(is_kernel).flat_map(|location| {
                evidence.recording.frames_of(*location).iter().map(|frame| frame.function)
            });
            if below.any(|one| one != *asker && !costly.is_within(evidence.name(one))) {
                of.else_ns += weight;
                continue;
            }
            of.ns += weight;
            *of.stacks.entry(stack).or_default() += weight;
        }
    }
    for (asker, of) in around {
        if let Some(spent) = kind.askers.get_mut(&Some(asker))
            && of.else_ns <= ELSE * of.ns
            && (AROUND * of.ns..of.ns).contains(&spent.ns)
        {
            kind.ns += of.ns - spent.ns;
            (spent.ns, spent.stacks, spent.is_all) = (of.ns, of.stacks, true);
        }
    }
}

fn finding(evidence: &Evidence<'_>, process: u32, costly: &'static Costly, kind: &Kind) -> Option<Candidate> {
    let gate = Gate { share: costly.share(), ..GATE };
    // What is handed over is allocated by whoever hands it over.
    let collecting = match (costly.has_givers(), costly.collects) {
        (true, _) => 0.0,
        (_, true) => asked_for_ns(evidence, process, |stack| kind.is_on(stack)),
        _ => collecting_ns(evidence, process, |stack| kind.is_on(stack)),
    };
    let (cost, gain) = (kind.ns + collecting, kind.gain(costly) + costly.goes() * collecting);
    let (cost, gain) = (cost.min(evidence.cpu_ns), gain.min(evidence.cpu_ns));
    if !gate.may_pass(evidence, gain) || costly.has_givers() && kind.gives_ns < GIVES * kind.ns {
        return None;
    }
    let mut askers: Vec<(Option<u32>, &Spent)> =
        kind.askers.iter().map(|(asker, spent)| (*asker, spent)).collect();
    askers.sort_by(|a, b| {
        let gives = |spent: &Spent| spent.gives_ns >= GIVES * kind.ns;
        (gives(b.1), b.1.ns).partial_cmp(&(gives(a.1), a.1.ns)).unwrap_or(std::cmp::Ordering::Equal)
    });
    let (asker, most) = *askers.first()?;
    let helper = heaviest(&most.helpers)?;
    let place = of_caller(evidence, heaviest(&most.stacks), asker, helper, process);
    let name = |function: u32| short(in_source(without_arguments(evidence.name(function)))).to_owned();
    let part = |spent: &Spent| {
        let helper = heaviest(&spent.helpers).map(name).unwrap_or_default();
        if let Some(asker) = heaviest(&spent.own).filter(|_| spent.is_all) {
            let asker = name(asker);
            return format!(
                "{} of CPU time in {asker}, in {helper} and the like and in what it makes of their answers",
                time(spent.ns)
            );
        }
        let caller =
            heaviest(&spent.own).map(|asker| format!(", called by {}", name(asker))).unwrap_or_default();
        format!("{} of CPU time in {helper}{caller}", time(spent.ns))
    };
    let mut parts: Vec<String> = askers.iter().take(NAMED).map(|(_, spent)| part(spent)).collect();
    if askers.len() > NAMED {
        let rest: f64 = askers[NAMED..].iter().map(|(_, spent)| spent.ns).sum();
        parts.push(format!("{} elsewhere", time(rest)));
    }
    let mut explanation = vec![parts.join("; ")];
    explanation.push(costly.why.clone());
    explanation.extend(match costly.collects {
        true => asked_for(collecting),
        false => of_collecting(collecting, cost),
    });
    if costly.goes() < 1.0 {
        explanation.push(format!(
            "what takes their place costs time as well: {:.0} % of this is expected to be saved, as was measured with other programs",
            100.0 * costly.goes()
        ));
    } else if gain < cost {
        explanation.push(
            "who waits for more takes time as well: of that at most twice what the other side takes is in the gain".to_owned(),
        );
    }
    let draft = Draft {
        variant: &costly.kind,
        not_known: &costly.unsure,
        explanation,
        facts: vec![Fact::new(
            if askers.iter().any(|(_, spent)| spent.is_all) {
                "time of these calls and around them"
            } else {
                "time of these calls"
            },
            kind.ns,
            "ns",
            "samples",
            Sure::Sampled,
        )],
        related: askers
            .iter()
            .skip(1)
            .take(4)
            .filter_map(|(asker, _)| Some(evidence.frame((*asker)?)))
            .collect(),
        advice: costly.instead.clone(),
        ..Draft::new(&CAUSE, &costly.does, Confidence::Likely, Cost::new(Basis::Cpu, cost, gain), place)
    };
    Some(draft.candidate(evidence, gate, process))
}

/// Says what the collector's own threads take for it.
fn asked_for(collecting_ns: f64) -> Option<String> {
    let says = || {
        format!(
            "{} more are spent by the garbage collector's own threads in these cycles",
            time(collecting_ns)
        )
    };
    (collecting_ns > 0.0).then(says)
}

/// Where a helper is called. What was inlined there of the helper's library is left out.
fn of_caller(
    evidence: &Evidence<'_>,
    stack: Option<u32>,
    asker: Option<u32>,
    helper: u32,
    process: u32,
) -> Place {
    let usual = place(evidence, stack, asker.or(Some(helper)), process);
    let of_helper = |frame: &Frame| {
        frame.function_id == Some(helper) || is_of_one_package(&frame.function, evidence.name(helper))
    };
    match asker {
        Some(asker) if usual.path.iter().any(of_helper) => {
            evidence.place(stack, asker, process, |frame| !of_helper(frame) && !runtime::is_name(frame))
        }
        _ => usual,
    }
}

/// Where another cause is reported in the same function, of the same kind of time, it says why these calls are made.
pub(super) fn settle(evidence: &Evidence<'_>, found: &mut Vec<Candidate>) {
    let is = |one: &Candidate| one.finding.cause == CAUSE.cause();
    let says_why = |one: &&Candidate| {
        let cost = &one.finding.cost;
        let of_it = cost.basis() == Basis::Cpu && one.gate.passes(evidence, cost.gain() as f64);
        of_it && !is(one) && one.finding.cause != unoptimized_build::CAUSE.cause()
    };
    let others: Vec<Candidate> = found.iter().filter(says_why).cloned().collect();
    let explains = |other: &Candidate, one: &Candidate| {
        let share = other.finding.cost.gain() as f64 / one.finding.cost.gain().max(1) as f64;
        other.process == one.process && share >= EXPLAINED && one.is_about(other.function())
    };
    found.retain(|one| !is(one) || !others.iter().any(|other| explains(other, one)));
}
