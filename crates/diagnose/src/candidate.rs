//! From what causes see in single processes to findings: what several processes or runs do at one place is added up, and what
//! would save too little is left out. That is judged here, once, and after the adding up: ten runs that are joined, or a
//! hundred processes that each lose a hundredth, are as slow as one that loses it all.

use crate::Evidence;
use crate::causes::words::base_name;
use crate::findings::{Basis, Finding};
use crate::gate::Gate;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

/// A finding that has not been added up yet.
#[derive(Debug, Clone, PartialEq)]
pub struct Candidate {
    /// What it would say alone.
    pub finding: Finding,
    /// What it must save; none for a cause that judges that itself, over all processes.
    pub gate: Option<Gate>,
    /// The process that it is of.
    pub process: u32,
}

/// One finding for each place of those that save enough.
pub(crate) fn merged(evidence: &Evidence<'_>, candidates: Vec<Candidate>) -> Vec<Finding> {
    let tables = &evidence.recording.tables;
    let programs: HashSet<&str> =
        tables.processes.iter().map(|process| base_name(&process.program)).collect();
    // What stays the same when the program is renamed, moved or rebuilt.
    let fingerprint = |finding: &Finding| {
        let own = programs.contains(finding.module.as_str());
        let module = if own { "program" } else { &finding.module };
        format!("{}|{module}|{}", finding.cause.slug(), finding.function)
    };
    let mut places: Vec<Vec<Candidate>> = Vec::new();
    let mut known: HashMap<(String, String), usize> = HashMap::new();
    for mut candidate in candidates {
        candidate.finding.fingerprint = fingerprint(&candidate.finding);
        // Two signs of one cause are two findings: what is to be done differs.
        let key = (candidate.finding.fingerprint.clone(), candidate.finding.title.clone());
        let place = *known.entry(key).or_insert(places.len());
        if place == places.len() {
            places.push(Vec::new());
        }
        places[place].push(candidate);
    }
    places.into_iter().filter_map(|place| one(evidence, place)).collect()
}

/// What is seen at one place, added up.
fn one(evidence: &Evidence<'_>, mut parts: Vec<Candidate>) -> Option<Finding> {
    let gain = |one: &Candidate| (one.finding.gain_ns, one.finding.gain_instructions);
    // The part that says most comes first.
    parts.sort_by_key(|one| std::cmp::Reverse(gain(one)));
    let sum = |of: fn(&Finding) -> u64| parts.iter().map(|one| of(&one.finding)).fold(0, u64::saturating_add);
    let (cost_ns, gain_ns) = (sum(|one| one.cost_ns), sum(|one| one.gain_ns));
    let instructions = |of: fn(&Finding) -> Option<u64>| {
        parts.iter().map(|one| of(&one.finding)).try_fold(0u64, |sum, one| Some(sum.saturating_add(one?)))
    };
    let (cost_instructions, gain_instructions) =
        (instructions(|one| one.cost_instructions), instructions(|one| one.gain_instructions));
    let gate = parts[0].gate;
    if gate.is_some_and(|gate| (gain_ns as f64) < gate.needed(evidence)) {
        return None;
    }
    let total = match parts[0].finding.basis {
        Basis::Cpu => evidence.cpu_ns as u64,
        Basis::Wall => evidence.recording.about.wall_ns,
        Basis::Instructions => 0,
    };
    let (processes, files) = (alike(evidence, &parts), parts.len());
    let share = parts.iter().map(|one| one.finding.share).sum::<f64>().min(1.0);
    let mut finding = parts.swap_remove(0).finding;
    finding.cost_ns = cost_ns.min(total);
    finding.gain_ns = gain_ns.min(finding.cost_ns);
    (finding.cost_instructions, finding.gain_instructions) = (cost_instructions, gain_instructions);
    finding.share = share;
    if processes > 1 {
        finding
            .explanation
            .push(format!("this is one of {processes} processes that do the same; cost and gain are totals"));
    } else if files > 1 && evidence.recording.about.runs <= 1 {
        finding.explanation.push(format!(
            "this is the largest of {files} such cases at this call site; cost and gain are totals"
        ));
    }
    Some(finding)
}

/// How many processes do so in one run; in that of several joined runs in which it is most.
fn alike(evidence: &Evidence<'_>, parts: &[Candidate]) -> usize {
    let processes = &evidence.recording.tables.processes;
    let mut by_run: BTreeMap<u32, BTreeSet<u32>> = BTreeMap::new();
    for part in parts {
        let run = processes.get(part.process as usize).map_or(0, |process| process.run);
        by_run.entry(run).or_default().insert(part.process);
    }
    by_run.values().map(BTreeSet::len).max().unwrap_or(0)
}
