//! A function that is meant to be called once for an input, because what it returns can be kept, is called again and again with the same one:
//! an expression is compiled for each line, a statement prepared for each row, a context made for each message.
//!
//! Which functions these are is listed in the crate `slowpath-interfaces`. Their inputs are compared by a key that the collector made of each;
//! how much of the time they take is known from samples. Whoever asks for it again is guilty, not the library that does it.
//!
//! - `again` — calls that do again what one before did, as a look at every instruction of some stretches shows.
//! - `recursion` — what a function that calls itself works out several times.
//! - `comparisons` — what a sort's comparison makes from its items at each comparison.

mod again;
mod comparisons;
mod recursion;

pub(super) use again::{DONE_AGAIN, is_of_library};
pub(super) use comparisons::COMPARISON;

use super::allocation_churn::{collecting_ns, of_collecting};
use super::words::count;
use super::{Find, Needs, Spec, redundant_file_access};
use crate::Evidence;
use crate::asker::asker;
use crate::calls::place;
use crate::candidate::Candidate;
use crate::draft::Draft;
use crate::evidence::heaviest;
use crate::findings::{Basis, Confidence, Cost, Fact, Sure};
use crate::gate::Gate;
use slowpath_interfaces::{Interface, What};
use std::collections::{BTreeMap, HashMap};

/// See the file's head.
pub(super) const CAUSE: Spec = Spec {
    slug: "redundant-computation",
    title: "the same thing is prepared again and again",
    symptom: "a regular expression is compiled for each line, an SQL statement prepared for each row, a context made for each message",
    not_known: "whether the result depends on anything but the input that was compared",
    page: include_str!("../../../../../docs/causes/redundant-computation.md"),
    needs: &[Needs::Samples],
    find: Find::InRecording(find),
};

/// Keeping something and passing it on takes some thought.
const GATE: Gate = Gate::TENTH_OF_CPU;
/// Where a program is often good enough as it is, it must be a time that somebody notices, ns.
const NOTICED_NS: f64 = 50e6;
/// Calls that must have been looked at: fewer are soon explained, as by one for each of a dozen files or threads.
const NOTED: usize = 20;
/// Share of them whose input an earlier one had: from half on most of the time goes …
const AGAIN: f64 = 0.5;
/// … and from here on hardly any input is new: one in twenty may be the first of its kind.
const ALWAYS: f64 = 0.95;
/// An input that was met in so many bursts recurs all the time: in two it may have been met where a program does everything twice.
const RECURS: usize = 3;
/// Whose calls repeat an input is not known where several functions ask. Below [`ALWAYS`] one must ask for nearly all of them.
const ALONE: f64 = 0.9;

/// Share of the gain of a file that is read again which preparing something from it must save, to say why it is read.
const EXPLAINED: f64 = 0.5;

/// Calls of one interface in one process.
struct Called {
    interface: &'static Interface,
    /// How many were looked at, and how many inputs they had.
    noted: usize,
    inputs: usize,
    /// Of so many the input was met in [`RECURS`] bursts or more.
    recurring: usize,
}

impl Called {
    /// Share of the calls that had no need to be made. The first call with an input is needed. But what a small part of the run shows several times,
    /// far apart, the run has many times, so that its first call does not count.
    fn again(&self) -> f64 {
        self.repeated().max(self.recurring) as f64 / self.noted.max(1) as f64
    }

    /// Calls that were looked at whose input an earlier one had.
    fn repeated(&self) -> usize {
        self.noted - self.inputs
    }

    /// Hardly any input that was looked at was new.
    fn is_always_again(&self) -> bool {
        self.repeated() as f64 >= ALWAYS * self.noted as f64
    }
}

/// What was noted of the calls of one function.
#[derive(Default)]
struct Keys {
    noted: usize,
    /// Calls whose input is not known: it may be new.
    unknown: usize,
    /// By input: how many calls had it, in how many bursts, and in which last.
    known: HashMap<u64, (usize, usize, usize)>,
}

impl Keys {
    fn add(&mut self, key: u64, burst: usize) {
        self.noted += 1;
        if key == 0 {
            self.unknown += 1;
            return;
        }
        let (calls, bursts, last) = self.known.entry(key).or_insert((0, 1, burst));
        *calls += 1;
        *bursts += usize::from(*last != burst);
        *last = burst;
    }

    fn called(&self, interface: &'static Interface) -> Called {
        let recurring = self.known.values().filter(|(_, bursts, _)| *bursts >= RECURS);
        Called {
            interface,
            noted: self.noted,
            inputs: self.unknown + self.known.len(),
            recurring: recurring.map(|(calls, ..)| calls).sum(),
        }
    }
}

/// Where preparing something again reads a file each time, in one call, that is one bug: what is prepared is to be kept. It takes the place of the file's finding if it
/// saves at least half as much. That the call is the same is known by its line. Where samples show the program's own code alone both are left: there one has the time of that, and
/// the other that of the kernel.
pub(super) fn settle(evidence: &Evidence<'_>, found: &mut Vec<Candidate>) {
    again::give_to_unread(evidence, found);
    if evidence.is_kernel_unseen() {
        return;
    }
    let computations = found.iter().filter(|one| one.finding.cause == CAUSE.cause());
    let computations: Vec<Candidate> =
        computations.filter(|one| one.finding.place.frame.line.is_some()).cloned().collect();
    let prepares = |file: &Candidate| {
        computations.iter().any(|one| {
            let (gain, of_file) = (one.finding.cost.gain() as f64, file.finding.cost.gain() as f64);
            one.process == file.process
                && one.finding.place.frame == file.finding.place.frame
                && one.finding.cost.basis() == file.finding.cost.basis()
                && gain >= EXPLAINED * of_file
        })
    };
    found.retain(|one| one.finding.cause != redundant_file_access::CAUSE.cause() || !prepares(one));
}

/// Time in calls of one interface from one function.
#[derive(Default)]
struct Spent {
    ns: f64,
    stacks: BTreeMap<u32, f64>,
}

fn find(evidence: &Evidence<'_>) -> Vec<Candidate> {
    let found = of_the_same(evidence).into_iter().chain(comparisons::find(evidence));
    let mut found: Vec<Candidate> = found.chain(recursion::find(evidence)).collect();
    // Another finding of this cause says why the results are the same: it is reported alone.
    let again = again::find(evidence);
    found.extend(
        again
            .into_iter()
            .filter(|one| !found.iter().any(|other| again::is_part(one, other)))
            .collect::<Vec<_>>(),
    );
    found
}

/// Listed functions that are called again with the same input.
fn of_the_same(evidence: &Evidence<'_>) -> Vec<Candidate> {
    let called = called(evidence);
    if called.is_empty() {
        return Vec::new();
    }
    let mut spent: BTreeMap<(u32, u32, Option<u32>), Spent> = BTreeMap::new();
    // By process and function, ns.
    let mut cut: HashMap<(u32, u32), f64> = HashMap::new();
    let tables = &evidence.recording.tables;
    for (sample, weight) in tables.samples.iter().zip(&evidence.weights).filter(|(sample, _)| sample.on_cpu) {
        let (Some(stack), process) = (sample.stack, evidence.process_of(sample)) else { continue };
        let functions: Vec<u32> =
            evidence.locations(stack).filter_map(|at| evidence.function_at(at)).collect();
        // An interface that another one asks for is part of that.
        let Some(at) = functions.iter().rposition(|function| called.contains_key(&(process, *function)))
        else {
            continue;
        };
        let module = evidence.module(functions[at]);
        let by_itself = functions.get(at + 1).is_some_and(|caller| evidence.module(*caller) == module);
        if called[&(process, functions[at])].interface.direct && by_itself && !evidence.is_program(&module) {
            continue;
        }
        let asker = asker(evidence, &functions[at..]);
        if asker.is_none() && !sample.complete {
            *cut.entry((process, functions[at])).or_default() += weight;
            continue;
        }
        let of_asker = spent.entry((process, functions[at], asker)).or_default();
        of_asker.ns += weight;
        *of_asker.stacks.entry(stack).or_default() += weight;
    }
    give_to_the_known(&mut spent, &cut);
    let mut whole: HashMap<(u32, u32), f64> = HashMap::new();
    spent.iter().for_each(|((process, function, _), spent)| {
        *whole.entry((*process, *function)).or_default() += spent.ns
    });
    let of = |((process, function, asker), spent): (&(u32, u32, Option<u32>), &Spent)| {
        let called = &called[&(*process, *function)];
        if called.again() < ALWAYS && spent.ns < ALONE * whole[&(*process, *function)] {
            return None;
        }
        finding(evidence, *process, *function, *asker, called, spent)
    };
    spent.iter().filter_map(of).collect()
}

/// Time whose asker is not known, because the stack ends before, is of the known ones, in the same proportion; as far as that is the smaller part.
fn give_to_the_known(spent: &mut BTreeMap<(u32, u32, Option<u32>), Spent>, cut: &HashMap<(u32, u32), f64>) {
    for ((process, function), ns) in cut {
        let of_it = (*process, *function, None)..=(*process, *function, Some(u32::MAX));
        let known: f64 = spent.range(of_it.clone()).map(|(_, spent)| spent.ns).sum();
        if *ns <= known {
            spent.range_mut(of_it).for_each(|(_, spent)| spent.ns *= 1.0 + ns / known);
        }
    }
}

/// The interfaces that were called again and again, by process and function.
fn called(evidence: &Evidence<'_>) -> HashMap<(u32, u32), Called> {
    let tables = &evidence.recording.tables;
    let mut begun: HashMap<u32, Vec<u64>> = HashMap::new();
    for burst in &tables.walk_bursts {
        begun.entry(burst.walk).or_default().push(burst.start_ns);
    }
    begun.values_mut().for_each(|starts| starts.sort_unstable());
    let mut keys: HashMap<u32, Keys> = HashMap::new();
    for row in &tables.beginnings {
        // Of a loop, or of a function that works itself, addresses are noted: nothing can be read at 0.
        if let ([0], [key]) = (row.addresses.as_slice(), row.contents.as_slice()) {
            let starts = begun.get(&row.walk).map_or(&[][..], Vec::as_slice);
            let burst = starts.partition_point(|start| *start <= row.time_ns);
            keys.entry(row.walk).or_default().add(*key, burst);
        }
    }
    let mut called = HashMap::new();
    for walk in &tables.walks {
        let (Some(function), Some(keys)) = (evidence.function_at(walk.location), keys.get(&walk.walk)) else {
            continue;
        };
        if let Some(interface) = slowpath_interfaces::of(evidence.name(function)) {
            let one = keys.called(interface);
            if one.noted >= NOTED && one.again() >= AGAIN {
                called.insert((walk.process, function), one);
            }
        }
    }
    called
}

fn finding(
    evidence: &Evidence<'_>,
    process: u32,
    function: u32,
    asker: Option<u32>,
    called: &Called,
    spent: &Spent,
) -> Option<Candidate> {
    let again = called.again();
    let stack = heaviest(&spent.stacks);
    let collecting = collecting_ns(evidence, process, |stack| spent.stacks.contains_key(&stack));
    let cost = spent.ns + collecting;
    let gain = cost * again;
    // What an interpreter does for each step of a script its author can only do without.
    let in_script =
        stack.is_some_and(|stack| evidence.script_on(&evidence.path_at(stack, function)).is_some());
    let gate = match called.interface.percent {
        Some(percent) => Gate { share: f64::from(percent) / 100.0, least: NOTICED_NS, ..GATE },
        None if in_script => Gate { least: NOTICED_NS, ..GATE },
        None => GATE,
    };
    if !gate.may_pass(evidence, gain) {
        return None;
    }
    let Called { interface, noted, inputs, .. } = called;
    let frame = evidence.frame(function);
    let name = slowpath_interfaces::without_arguments(&frame.function).to_owned();
    let (looked_at, repeated) = (count(*noted as f64), count((noted - inputs) as f64));
    let any = interface.input.what == What::None;
    let does = &interface.does;
    let mut explanation = vec![match (any, inputs) {
        (true, _) => format!("{name} {does} each time it is called; {looked_at} calls were looked at"),
        (false, 1) => format!(
            "{name} {does} each time it is called; all {looked_at} calls that were looked at had the same input"
        ),
        (false, _) if called.recurring > called.repeated() => format!(
            "{name} {does} each time it is called; {} of {looked_at} calls that were looked at had an input that came up again and again in the run \
             ({} different inputs in all)",
            count(called.recurring as f64),
            count(*inputs as f64)
        ),
        (false, _) => format!(
            "{name} {does} each time it is called; {repeated} of {looked_at} calls that were looked at had an input that an earlier one \
             had ({} different inputs in all)",
            count(*inputs as f64)
        ),
    }];
    explanation.push(match any {
        true => "its result can be kept and used again".to_owned(),
        false => "its result can be kept and used again. Inputs were compared, not stored".to_owned(),
    });
    explanation.extend(of_collecting(collecting, cost));
    let draft = Draft {
        explanation,
        related: vec![frame],
        facts: vec![
            Fact::new("calls looked at", *noted as f64, "calls", "probe", Sure::Exact),
            Fact::new("different inputs", *inputs as f64, "1", "probe", Sure::Exact),
            Fact::new("share of calls that repeat one", again, "ratio", "probe", Sure::Sampled),
        ],
        advice: format!("{} ({})", interface.instead, interface.source),
        ..Draft::new(
            &CAUSE,
            format!("{} again and again", interface.does),
            // That nothing else mattered is presumed where there is nothing but a number to compare, or not even that.
            if called.is_always_again() && !matches!(interface.input.what, What::None | What::Number(_)) {
                Confidence::Certain
            } else {
                Confidence::Likely
            },
            Cost::new(Basis::Cpu, cost, gain),
            place(evidence, stack, asker.or(Some(function)), process),
        )
    };
    Some(draft.candidate(evidence, gate, process))
}
