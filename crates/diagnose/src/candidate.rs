//! From what causes see in single processes to findings: what several processes or runs do at one place is added up, and what
//! would save too little is left out. That is judged here, once, and after the adding up: ten runs that are joined, or a
//! hundred processes that each lose a hundredth, are as slow as one that loses it all.

use crate::Evidence;
use crate::calls::{short, some};
use crate::causes::words::time;
use crate::findings::{Basis, Cost, Finding};
use crate::gate::Gate;
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// A finding that has not been added up yet.
#[derive(Debug, Clone, PartialEq)]
pub struct Candidate {
    /// What it would say alone.
    pub finding: Finding,
    /// What it must save.
    pub gate: Gate,
    /// The process that it is of.
    pub process: u32,
}

impl Candidate {
    /// The guilty function and its module.
    pub(crate) fn function(&self) -> (&str, &str) {
        let frame = &self.finding.place.frame;
        (&frame.function, &frame.module)
    }

    /// The same, and where a script stands for them the functions that it calls.
    pub(crate) fn functions(&self) -> Vec<(String, String)> {
        let of_script = self.finding.place.frame.function_id.is_none();
        let called = self.finding.related.iter().filter(|_| of_script);
        let frames = std::iter::once(&self.finding.place.frame).chain(called);
        frames.map(|frame| (frame.function.clone(), frame.module.clone())).collect()
    }

    /// Whether a function is one of them.
    pub(crate) fn is_about(&self, (function, module): (&str, &str)) -> bool {
        self.functions().iter().any(|(one, of)| (one.as_str(), of.as_str()) == (function, module))
    }
}

/// One finding for each cause, function and variant, of those that save enough.
pub(crate) fn merged(evidence: &Evidence<'_>, candidates: Vec<Candidate>) -> Vec<Finding> {
    let mut alike: Vec<Vec<Candidate>> = Vec::new();
    let mut known: HashMap<String, usize> = HashMap::new();
    for candidate in candidates {
        let at = *known.entry(candidate.finding.fingerprint.clone()).or_insert(alike.len());
        if at == alike.len() {
            alike.push(Vec::new());
        }
        alike[at].push(candidate);
    }
    alike.into_iter().filter_map(|parts| one(evidence, parts)).collect()
}

/// What is seen of one cause at one place, added up.
fn one(evidence: &Evidence<'_>, mut parts: Vec<Candidate>) -> Option<Finding> {
    // The part that says most comes first.
    parts.sort_by_key(|part| std::cmp::Reverse(part.finding.cost.gain()));
    let basis = parts[0].finding.cost.basis();
    let (processes, cases) = (processes(evidence, &parts), parts.len());
    if basis == Basis::Wall {
        parts = one_after_the_other(evidence, parts);
    }
    let costs = parts.iter().map(|part| &part.finding.cost);
    // What is needed is held against the gain before it is cut to the run's total, which is measured apart.
    let gain = costs.clone().map(Cost::gain).fold(0, u64::saturating_add);
    if !parts[0].gate.passes(evidence, gain as f64) {
        return None;
    }
    let cost = Cost::sum(basis, costs, evidence.total(basis));
    let share = parts.iter().map(|part| part.finding.share).sum::<f64>().min(1.0);
    let each = if cases > 1 { each(&parts) } else { String::new() };
    let mut finding = parts.swap_remove(0).finding;
    (finding.cost, finding.share) = (cost, share);
    if processes > 1 {
        finding
            .explanation
            .push(format!("this is one of {processes} processes that do the same; cost and gain are totals"));
    } else if cases > 1 && evidence.recording.about.runs <= 1 {
        // Several threads, programs that are started there, or functions that it was inlined into.
        finding.explanation.push(format!(
            "this is the largest of {cases} such cases in this function{each}; cost and gain are totals"
        ));
    }
    Some(finding)
}

/// Cases that are named with what each costs.
const NAMED: usize = 3;

/// `: 1.2 s when called from write_name and 0.9 s when called from write_object`; nothing where no times are known.
fn each(parts: &[Candidate]) -> String {
    let mut by_caller: Vec<(&str, u64)> = Vec::new();
    for part in parts.iter().filter(|part| part.finding.cost.basis() != Basis::Instructions) {
        let caller = part.finding.place.path.iter().rev().nth(1);
        let caller = caller.map_or("", |caller| short(&caller.function));
        let amount = part.finding.cost.amount();
        match by_caller.iter_mut().find(|(known, _)| *known == caller) {
            Some((_, sum)) => *sum = sum.saturating_add(amount),
            None => by_caller.push((caller, amount)),
        }
    }
    let time = |amount: u64| time(amount as f64);
    let said: Vec<String> = match by_caller.as_slice() {
        [] => return String::new(),
        [_] => parts.iter().map(|part| time(part.finding.cost.amount())).collect(),
        several => several
            .iter()
            .map(|(caller, sum)| {
                format!(
                    "{} when called from {}",
                    time(*sum),
                    if caller.is_empty() { "elsewhere" } else { caller }
                )
            })
            .collect(),
    };
    format!(": {}", some(&said, NAMED))
}

/// Elapsed time that processes lose side by side is lost once: of parts, the largest first, those whose process lived while that of another one
/// did are left out. Those of one process stay together.
fn one_after_the_other(evidence: &Evidence<'_>, parts: Vec<Candidate>) -> Vec<Candidate> {
    let life = |process: u32| {
        let of = evidence.recording.tables.processes.get(process as usize);
        of.map_or((0, 0, 0), |of| (of.run, of.start_ns, of.end_ns.unwrap_or(u64::MAX)))
    };
    let mut kept: BTreeMap<u32, (u32, u64, u64)> = BTreeMap::new();
    let is_apart = |kept: &BTreeMap<u32, (u32, u64, u64)>, (run, start, end): (u32, u64, u64)| {
        kept.values().all(|other| other.0 != run || end <= other.1 || other.2 <= start)
    };
    let mut apart = Vec::new();
    for part in parts {
        let life = life(part.process);
        if kept.contains_key(&part.process) || is_apart(&kept, life) {
            kept.insert(part.process, life);
            apart.push(part);
        }
    }
    apart
}

/// How many processes do so in one run; in that of several joined runs in which it is most.
fn processes(evidence: &Evidence<'_>, parts: &[Candidate]) -> usize {
    let processes = &evidence.recording.tables.processes;
    let mut by_run: BTreeMap<u32, BTreeSet<u32>> = BTreeMap::new();
    for part in parts {
        let run = processes.get(part.process as usize).map_or(0, |process| process.run);
        by_run.entry(run).or_default().insert(part.process);
    }
    by_run.values().map(BTreeSet::len).max().unwrap_or(0)
}
