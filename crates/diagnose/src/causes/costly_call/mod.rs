//! A helper is called for each of very many items, and takes a large part of the time: single items are handed to another thread, a stack trace is
//! recorded for each error, the clock is read for each row, a date is parsed for each line.
//!
//! Which helpers these are, and from which share of the time on they are too much, is listed in the crate `slowpath-interfaces`. Seen from samples
//! alone. Functions that prepare something, which can be kept, belong to `redundant_computation`; exceptions to `exception_per_operation`.
//!
//! - `helpers` — the helpers on stacks, and who calls them.
//! - `around` — what functions do beside them for the same purpose, and the kernel's part.
//! - `letters` — single letters that are formatted.
//! - `unread` — texts that are formatted and that nobody reads.
//! - `scheduled` — what Go's scheduler does because goroutines wait for each other's items.

mod around;
mod helpers;
mod letters;
mod scheduled;
mod unread;

pub(super) use unread::UNREAD;

use super::allocation_churn::{asked_for_ns, collecting_ns, of_collecting};
use super::busy_wait::SPINS;
use super::runtime;
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
use around::{add_kernel, count_around, is_throughout};
use helpers::{Call, Helpers};
use slowpath_interfaces::{Costly, in_source, without_arguments};
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// See the file's head.
pub(super) const CAUSE: Spec = Spec {
    slug: "costly-call-per-operation",
    title: "a costly call for every operation",
    symptom: "single items are handed to another thread, the clock is read or a date converted for each row, bytes are read one by one with fread, a shared_ptr is copied for each call",
    not_known: "whether the program can do with fewer of these calls",
    page: include_str!("../../../../../docs/causes/costly-call-per-operation.md"),
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
/// Share of the gain that another cause in the same function must save to take its place: it says why.
const EXPLAINED: f64 = 0.5;

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
    /// What Go's scheduler does for it, ns.
    scheduled_ns: f64,
    /// Time in long rows of samples, ns, and of the row in which each thread is.
    in_rows: f64,
    rows: BTreeMap<u32, f64>,
    /// How many of these rows began.
    begun: u64,
    askers: BTreeMap<Option<u32>, Spent>,
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
                true => (self.ns + self.scheduled_ns).min((1.0 + TAKES) * self.gives_ns),
                false => self.ns,
            }
    }
}

fn find(evidence: &Evidence<'_>) -> Vec<Candidate> {
    let mut found = of_listed(evidence);
    let unread = unread::find(evidence);
    // What nobody reads need not be formatted at all.
    let is_unread = |one: &Candidate| {
        unread.iter().any(|other| other.process == one.process && other.function() == one.function())
    };
    let letters: Vec<Candidate> = letters::find(evidence).into_iter().filter(|one| !is_unread(one)).collect();
    found.extend(unread.into_iter().chain(letters));
    found
}

/// Helpers of the list.
fn of_listed(evidence: &Evidence<'_>) -> Vec<Candidate> {
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
    for ((process, _), (costly, kind)) in
        kinds.iter_mut().filter(|(_, (costly, kind))| costly.may_give() && kind.samples >= SAMPLES)
    {
        kind.scheduled_ns = scheduled::ns(evidence, &helpers, *process, costly, kind.ns);
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

fn finding(evidence: &Evidence<'_>, process: u32, costly: &'static Costly, kind: &Kind) -> Option<Candidate> {
    let gate = Gate { share: costly.share(), ..GATE };
    // What is handed over is allocated by whoever hands it over.
    let collecting = match (costly.has_givers(), costly.collects) {
        (true, _) => 0.0,
        (_, true) => asked_for_ns(evidence, process, |stack| kind.is_on(stack)),
        _ => collecting_ns(evidence, process, |stack| kind.is_on(stack)),
    };
    let (cost, gain) =
        (kind.ns + kind.scheduled_ns + collecting, kind.gain(costly) + costly.goes() * collecting);
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
    if kind.scheduled_ns > 0.0 {
        parts.push(format!(
            "{} more in the scheduler, which lets others run meanwhile",
            time(kind.scheduled_ns)
        ));
    }
    let mut explanation = vec![parts.join("; ")];
    explanation.push(costly.why.clone());
    explanation.extend(match costly.collects {
        true => asked_for(collecting),
        false => of_collecting(collecting, cost),
    });
    if costly.goes() < 1.0 {
        explanation.push(format!(
            "about {:.0} % of this is expected to be saved, as was measured with other programs; what takes its place needs the rest",
            100.0 * costly.goes()
        ));
    } else if gain < cost {
        explanation.push(
            "who waits for more may spin: receiving and waiting are in the gain with at most twice the time of sending and waking".to_owned(),
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
