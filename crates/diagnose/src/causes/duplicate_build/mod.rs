//! A build makes the same thing twice: the same command, in the same directory, reads the same files and writes the same file again. Mostly two
//! targets each start a make of their own for a third one: neither knows of the other, and both find it out of date.
//!
//! - `work` — what processes read and make, and whether two do the same.
//! - this file — which of them are copies, who started them, and what they cost.
//!
//! A loop in which one process does the same again and again, one after the other, is left alone: it may measure, or wait for something. So are
//! retries after a failure, and all that is told what to do by a pipe or a socket.

mod work;

use super::words::{base_name, count, time};
use super::{Find, Needs, Spec};
use crate::Evidence;
use crate::calls::{fact, some};
use crate::candidate::Candidate;
use crate::draft::Draft;
use crate::findings::{Basis, Confidence, Cost, Frame, Place, Sure};
use crate::gate::Gate;
use slowpath_recording::tables::Process;
use std::collections::{BTreeMap, BTreeSet};
use work::{Builds, Work};

/// See the file's head.
pub(super) const CAUSE: Spec = Spec {
    slug: "duplicate-build",
    title: "the same thing is built twice",
    symptom: "a build runs the same command twice, for the same output and from the same input",
    page: include_str!("../../../../../docs/causes/duplicate-build.md"),
    needs: &[Needs::Syscalls],
    find: Find::InRecording(find),
};

/// It takes a change of the build's rules.
const GATE: Gate = Gate::TENTH_OF_CPU;
/// Letters of a command that are shown.
const SHOWN: usize = 60;
/// Commands that are named.
const NAMED: usize = 3;

/// A command that did what another had done, or was doing.
struct Copy<'a> {
    first: &'a Process,
    again: &'a Process,
    /// The copy with all that it started, and both.
    members: BTreeSet<u32>,
    both: BTreeSet<u32>,
    /// The files that both made.
    made: BTreeSet<String>,
}

impl Copy<'_> {
    /// Whether it is a part of what another one, or what that one repeats, started.
    fn is_within(&self, other: &Copy<'_>) -> bool {
        let process = self.again.process;
        process != other.again.process && process != other.first.process && other.both.contains(&process)
    }
}

fn find(evidence: &Evidence<'_>) -> Vec<Candidate> {
    let builds = Builds::new(evidence);
    let copies = copies(evidence, &builds);
    // By whoever started the outermost commands that are the same.
    let mut groups: BTreeMap<(u32, [Option<u32>; 2]), Vec<&Copy<'_>>> = BTreeMap::new();
    for copy in &copies {
        let (first, again) = outermost(evidence, &builds, copy);
        let mut by = [first, again].map(|process| builds.parent(process));
        by.sort_unstable();
        groups.entry((copy.again.run, by)).or_default().push(copy);
    }
    groups.into_values().filter_map(|copies| finding(evidence, &builds, &copies)).collect()
}

/// Commands that repeat an earlier one, and those that are parts of them.
fn copies<'a>(evidence: &Evidence<'a>, builds: &Builds<'a>) -> Vec<Copy<'a>> {
    let mut alike: BTreeMap<_, Vec<&Process>> = BTreeMap::new();
    for process in &evidence.recording.tables.processes {
        if process.exec_ns.is_some() && process.directory.is_some() {
            alike.entry((process.run, identity(process))).or_default().push(process);
        }
    }
    let mut copies: Vec<Copy<'a>> = Vec::new();
    for mut same in alike.into_values().filter(|same| same.len() > 1) {
        same.sort_by_key(|process| process.start_ns);
        let mut first: Option<(&Process, Work)> = None;
        for again in same {
            let Some(work) = builds.work(again) else { continue };
            match &first {
                Some((before, of)) if of.is_same(&work) => {
                    let of_one = builds.parent(before.process) == builds.parent(again.process);
                    if !of_one || overlap_ns(before, again) > 0 {
                        let made = of.made.intersection(&work.made).cloned().collect();
                        let both = of.members.union(&work.members).copied().collect();
                        copies.push(Copy { first: before, again, members: work.members, both, made });
                    }
                }
                // The input was changed: from here on there is another to be repeated.
                _ => first = Some((again, work)),
            }
        }
    }
    copies.sort_by_key(|copy| copy.again.start_ns);
    copies
}

/// What makes two commands the same.
fn identity(process: &Process) -> (&str, &[String], Option<&str>) {
    (&process.program, &process.arguments, process.directory.as_deref())
}

/// The outermost of the processes that started a command and its copy that are still the same command as each other.
fn outermost(evidence: &Evidence<'_>, builds: &Builds<'_>, copy: &Copy<'_>) -> (u32, u32) {
    let processes = &evidence.recording.tables.processes;
    let mut pair = (copy.first.process, copy.again.process);
    while let (Some(first), Some(again)) = (builds.parent(pair.0), builds.parent(pair.1)) {
        if first == again || identity(&processes[first as usize]) != identity(&processes[again as usize]) {
            break;
        }
        pair = (first, again);
    }
    pair
}

/// For how long two processes lived at the same time, ns.
fn overlap_ns(one: &Process, other: &Process) -> u64 {
    let end = |process: &Process| process.end_ns.unwrap_or(process.start_ns);
    end(one).min(end(other)).saturating_sub(one.start_ns.max(other.start_ns))
}

/// A command as it would be typed, cut to what a line has room for.
fn command(process: &Process) -> String {
    let name = process.arguments.first().map_or("", |name| base_name(name)).to_owned();
    let words = std::iter::once(name).chain(process.arguments.iter().skip(1).cloned());
    let whole = words.collect::<Vec<String>>().join(" ");
    match whole.char_indices().nth(SHOWN) {
        Some((end, _)) => format!("{}…", &whole[..end]),
        None => whole,
    }
}

fn finding(evidence: &Evidence<'_>, builds: &Builds<'_>, copies: &[&Copy<'_>]) -> Option<Candidate> {
    let processes = &evidence.recording.tables.processes;
    let cost_of = |copy: &Copy<'_>| builds.cpu_ns(&copy.members);
    let is_part = |copy: &Copy<'_>| copies.iter().any(|other| copy.is_within(other));
    let (parts, whole): (Vec<&Copy<'_>>, Vec<&Copy<'_>>) =
        copies.iter().copied().partition(|copy| is_part(copy));
    let cost: f64 = whole.iter().map(|copy| cost_of(copy)).sum();
    if !GATE.may_pass(evidence, cost) {
        return None;
    }
    // The pair that stands for all: the one under which most is done again.
    let mut under: BTreeMap<(u32, u32), f64> = BTreeMap::new();
    for copy in &whole {
        *under.entry(outermost(evidence, builds, copy)).or_default() += cost_of(copy);
    }
    let (&(first, again), _) = under.iter().max_by(|a, b| a.1.total_cmp(b.1).then(b.0.cmp(a.0)))?;
    let (first, again) = (&processes[first as usize], &processes[again as usize]);
    // What is done in a repeated make says more than that make.
    let has_parts = |copy: &Copy<'_>| parts.iter().any(|part| part.is_within(copy));
    let outer_parts = parts.iter().filter(|part| !parts.iter().any(|other| part.is_within(other)));
    let mut commands: Vec<&Copy<'_>> =
        whole.iter().filter(|copy| !has_parts(copy)).chain(outer_parts).copied().collect();
    // The longest first: they are what is worth knowing.
    commands.sort_by(|a, b| cost_of(b).total_cmp(&cost_of(a)).then(a.again.process.cmp(&b.again.process)));
    let side_by_side: Vec<&Copy<'_>> =
        commands.iter().copied().filter(|copy| overlap_ns(copy.first, copy.again) > 0).collect();
    let made: BTreeSet<&String> = copies.iter().flat_map(|copy| &copy.made).collect();
    let names: Vec<String> = commands.iter().map(|copy| format!("`{}`", command(copy.again))).collect();
    let name = |process: Option<u32>| process.map(|process| command(&processes[process as usize]));
    let (by, by_again) = (builds.parent(first.process), builds.parent(again.process));
    let alike = processes.iter().filter(|other| {
        other.run == again.run && identity(other) == identity(again) && other.exec_ns.is_some()
    });
    let started = match (name(by), name(by_again)) {
        (Some(one), Some(_)) if by == by_again => format!("started by `{one}`"),
        (Some(one), Some(other)) => format!("started by `{one}` and by `{other}`"),
        _ => "it is not known by whom".to_owned(),
    };
    let one = commands.len() == 1;
    let mut explanation = vec![
        format!(
            "`{}` ran {} times in {}, {started}",
            command(again),
            count(alike.count() as f64),
            again.directory.as_deref().unwrap_or("its directory"),
        ),
        format!(
            "{} run again: {}. {} read the same files as the first time, and none of these had changed",
            if one {
                "one command was".to_owned()
            } else {
                format!("{} commands were", count(names.len() as f64))
            },
            some(&names, NAMED),
            if one { "It" } else { "Each" },
        ),
    ];
    if let Some(worst) = side_by_side.iter().max_by_key(|copy| overlap_ns(copy.first, copy.again)) {
        let file = worst.made.first().map_or("the same file", |path| base_name(path));
        explanation.push(format!(
            "{} at the same time as the first, for up to {}: both write {file}, and whoever reads it meanwhile gets \
             a part of it",
            if one { "it ran".to_owned() } else { format!("{} of them ran", count(side_by_side.len() as f64)) },
            time(overlap_ns(worst.first, worst.again) as f64),
        ));
    }
    let module = base_name(&again.program).to_owned();
    let frame = Frame { function_id: None, function: command(again), module, file: None, line: None };
    let confidence = if side_by_side.is_empty() { Confidence::Likely } else { Confidence::Certain };
    let draft = Draft {
        explanation,
        facts: vec![
            fact("commands run again", commands.len() as f64, "calls", Sure::Exact),
            fact("at the same time as the first", side_by_side.len() as f64, "calls", Sure::Exact),
            fact("CPU time of those run again", cost, "ns", Sure::Sampled),
        ],
        files: evidence.concerned(made.into_iter().cloned()),
        advice: "Build it in one make: list it as a prerequisite of all that need it, in one Makefile, instead of starting a \
                 make for it in each recipe; or build it once before the others start"
            .to_owned(),
        ..Draft::new(
            &CAUSE,
            "the same thing is built twice",
            confidence,
            Cost::new(Basis::Cpu, cost, cost),
            Place { frame, path: Vec::new() },
        )
    };
    Some(draft.candidate(evidence, GATE, again.process))
}
