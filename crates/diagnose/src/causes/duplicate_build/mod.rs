//! A build makes the same thing twice: the same command, in the same directory, reads the same files and writes the same file again. Mostly two
//! targets each start a make of their own for a third one: neither knows of the other, and both find it out of date.
//!
//! - `work` — what processes read and make, and whether two do the same.
//! - this file — which of them are copies, who started them, and what they cost.
//!
//! A loop in which one process does the same again and again, one after the other, is left alone: it may measure, or wait for something. So are
//! retries after a failure, and commands that read from a pipe of other processes or from a socket.

mod work;

use super::words::{base_name, count, time};
use super::{Find, Needs, Spec};
use crate::Evidence;
use crate::calls::{fact, some};
use crate::candidate::Candidate;
use crate::draft::Draft;
use crate::findings::{Basis, Confidence, Cost, Frame, Place, Sure};
use crate::gate::Gate;
use slowpath_recording::tables::{CUT, Process, REDACTED};
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use work::{Builds, Work};

/// See the file's head.
pub(super) const CAUSE: Spec = Spec {
    slug: "duplicate-build",
    title: "the same thing is built twice",
    symptom: "a build runs the same command twice, for the same output and from the same input",
    not_known: "whether something that the second one reads had changed in between",
    page: include_str!("../../../../../docs/causes/duplicate-build.md"),
    needs: &[Needs::AllSyscalls],
    find: Find::InRecording(find),
};

/// It takes a change of the build's rules.
const GATE: Gate = Gate::TENTH_OF_CPU;
/// Letters of a command that are shown.
const SHOWN: usize = 60;
/// Commands that are named.
const NAMED: usize = 3;
/// Share of the cost that was spent beside the first time before it counts as a conflict.
const MOSTLY: f64 = 0.5;

/// A command that did what another had done, or was doing.
struct Copy<'a> {
    first: &'a Process,
    again: &'a Process,
    /// The outermost of the processes that started both that are still the same command as each other.
    outermost: (u32, u32),
    /// The copy with all that it started.
    members: BTreeSet<u32>,
    /// The files that both wrote, by their numbers in [`Builds`].
    made: BTreeSet<u32>,
}

/// Copies that belong together.
struct Group<'a> {
    /// Those that are no part of another one, and of all of them those that say most: of a repeated make what was done in it.
    whole: Vec<&'a Copy<'a>>,
    commands: Vec<&'a Copy<'a>>,
    /// The files that were written twice.
    made: BTreeSet<u32>,
}

impl<'a> Group<'a> {
    fn of(processes: &[Process], copies: &'a [Copy<'a>]) -> Group<'a> {
        // A command that a repeated one started, or that what it repeats did, is a part of it: also one that is the same, as where a program
        // starts itself again.
        let ancestors = |copy: &Copy<'_>| {
            let next = |process: &u32| processes[*process as usize].parent;
            std::iter::successors(next(&copy.again.process), next).collect::<Vec<u32>>()
        };
        let all = heads(copies.iter());
        let is_part = |copy: &&Copy<'_>| ancestors(copy).iter().any(|one| all.contains(one));
        let (parts, whole): (Vec<&Copy<'_>>, Vec<&Copy<'_>>) = copies.iter().partition(is_part);
        let with_parts: HashSet<u32> = parts.iter().flat_map(|part| ancestors(part)).collect();
        let is_plain =
            |copy: &&Copy<'_>| [copy.first, copy.again].iter().all(|one| !with_parts.contains(&one.process));
        let of_parts = heads(parts.iter().copied());
        let is_outer = |part: &&Copy<'_>| !ancestors(part).iter().any(|one| of_parts.contains(one));
        let plain = whole.iter().copied().filter(is_plain);
        Group {
            commands: plain.chain(parts.iter().copied().filter(is_outer)).collect(),
            whole,
            made: copies.iter().flat_map(|copy| copy.made.iter().copied()).collect(),
        }
    }
}

/// The processes of copies and of what they repeat.
fn heads<'a>(copies: impl Iterator<Item = &'a Copy<'a>>) -> HashSet<u32> {
    copies.flat_map(|copy| [copy.first.process, copy.again.process]).collect()
}

fn find(evidence: &Evidence<'_>) -> Vec<Candidate> {
    let mut alike: BTreeMap<_, Vec<&Process>> = BTreeMap::new();
    for process in evidence.recording.tables.processes.iter().filter(|process| is_command(process)) {
        alike.entry((process.run, identity(process))).or_default().push(process);
    }
    alike.retain(|_, same| same.len() > 1);
    if alike.is_empty() {
        return Vec::new();
    }
    let builds = Builds::new(evidence);
    // By whoever started the outermost commands that are the same.
    let mut groups: BTreeMap<(u32, [Option<u32>; 2]), Vec<Copy<'_>>> = BTreeMap::new();
    for same in alike.into_values() {
        for copy in copies(evidence, &builds, same) {
            let mut by = [copy.outermost.0, copy.outermost.1].map(|process| builds.parent(process));
            by.sort_unstable();
            groups.entry((copy.again.run, by)).or_default().push(copy);
        }
    }
    groups.into_values().filter_map(|copies| finding(evidence, &builds, &copies)).collect()
}

/// Whether it is known what was executed.
fn is_command(process: &Process) -> bool {
    let whole = |word: &String| word != REDACTED && word != CUT;
    process.exec_ns.is_some()
        && process.directory.is_some()
        && process.arguments.len() > 1
        && process.arguments.iter().all(whole)
}

/// Of processes that are the same command those that repeat an earlier one.
fn copies<'a>(evidence: &Evidence<'a>, builds: &Builds<'a>, mut same: Vec<&'a Process>) -> Vec<Copy<'a>> {
    same.sort_by_key(|process| process.start_ns);
    let mut copies = Vec::new();
    let mut first: Option<(&Process, Work)> = None;
    for again in same {
        let Some(work) = builds.work(again) else { continue };
        match &first {
            Some((before, of)) if of.is_same(&work) => {
                let outermost = outermost(evidence, builds, (before.process, again.process));
                if overlap_ns(before, again) > 0 || is_by_two(evidence, builds, outermost) {
                    let made = of.both_made(&work);
                    copies.push(Copy { first: before, again, outermost, members: work.members, made });
                }
            }
            // The input was changed: from here on there is another to be repeated.
            _ => first = Some((again, work)),
        }
    }
    copies
}

/// Whether two commands that ran one after the other were started by different processes, and the first did not fail: one that starts the same again
/// measures, waits for something, or tries again.
fn is_by_two(evidence: &Evidence<'_>, builds: &Builds<'_>, (first, again): (u32, u32)) -> bool {
    let exit = evidence.recording.tables.processes[first as usize].exit;
    builds.parent(first) != builds.parent(again) && exit == Some(0)
}

/// What makes two commands the same.
fn identity(process: &Process) -> (&str, &[String], Option<&str>) {
    (&process.program, &process.arguments, process.directory.as_deref())
}

/// See [`Copy::outermost`].
fn outermost(evidence: &Evidence<'_>, builds: &Builds<'_>, mut pair: (u32, u32)) -> (u32, u32) {
    let processes = &evidence.recording.tables.processes;
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

/// What they are called, each name once.
fn named(copies: &[&Copy<'_>]) -> Vec<String> {
    let mut times: Vec<(String, usize)> = Vec::new();
    let mut places: HashMap<String, usize> = HashMap::new();
    for copy in copies {
        let name = format!("`{}`", command(copy.again));
        let at = *places.entry(name.clone()).or_insert(times.len());
        if at == times.len() {
            times.push((name, 0));
        }
        times[at].1 += 1;
    }
    let told =
        |(name, times): (String, usize)| if times > 1 { format!("{name} ({times} times)") } else { name };
    times.into_iter().map(told).collect()
}

fn finding(evidence: &Evidence<'_>, builds: &Builds<'_>, copies: &[Copy<'_>]) -> Option<Candidate> {
    let processes = &evidence.recording.tables.processes;
    let cost_of = |copy: &Copy<'_>| builds.cpu_ns(&copy.members);
    let Group { whole, mut commands, made } = Group::of(processes, copies);
    let cost: f64 = whole.iter().map(|copy| cost_of(copy)).sum();
    if !GATE.may_pass(evidence, cost) {
        return None;
    }
    // The pair that stands for all: the one under which most is done again.
    let mut under: BTreeMap<(u32, u32), f64> = BTreeMap::new();
    for copy in &whole {
        *under.entry(copy.outermost).or_default() += cost_of(copy);
    }
    let (&(first, again), _) = under.iter().max_by(|a, b| a.1.total_cmp(b.1).then(b.0.cmp(a.0)))?;
    let again = &processes[again as usize];
    // The longest first: they are what is worth knowing.
    commands.sort_by(|a, b| cost_of(b).total_cmp(&cost_of(a)).then(a.again.process.cmp(&b.again.process)));
    let side_by_side: Vec<&Copy<'_>> =
        commands.iter().copied().filter(|copy| overlap_ns(copy.first, copy.again) > 0).collect();
    let sum = |of: &[&Copy<'_>]| of.iter().map(|copy| cost_of(copy)).sum::<f64>();
    let at_once = sum(&side_by_side) >= MOSTLY * sum(&commands);
    let mut explanation = vec![how_often(evidence, builds, first, again), what_was_done(&commands)];
    if let Some(worst) =
        side_by_side.iter().max_by_key(|copy| overlap_ns(copy.first, copy.again)).filter(|_| at_once)
    {
        let file = worst.made.first().map_or("the same file", |path| base_name(builds.path(*path)));
        explanation.push(format!(
            "{} at the same time as the first time, for up to {}: both write {file}, and whoever reads it meanwhile may get \
             a part of it",
            if commands.len() == 1 { "it ran".to_owned() } else { format!("{} of them ran", side_by_side.len()) },
            time(overlap_ns(worst.first, worst.again) as f64),
        ));
    }
    let module = base_name(&again.program).to_owned();
    let frame = Frame { function_id: None, function: command(again), module, file: None, line: None };
    let confidence = if at_once { Confidence::Certain } else { Confidence::Likely };
    let draft = Draft {
        explanation,
        facts: vec![
            fact("commands run again", commands.len() as f64, "commands", Sure::Exact),
            fact("at the same time as the first", side_by_side.len() as f64, "commands", Sure::Exact),
            fact("CPU time of those run again", cost, "ns", Sure::Sampled),
        ],
        files: made.into_iter().map(|path| builds.concerned(path)).collect(),
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

/// "`make shared` ran 2 times in /src, started by `make -j2`"
fn how_often(evidence: &Evidence<'_>, builds: &Builds<'_>, first: u32, again: &Process) -> String {
    let processes = &evidence.recording.tables.processes;
    let alike = processes.iter().filter(|other| {
        other.run == again.run && identity(other) == identity(again) && other.exec_ns.is_some()
    });
    let name = |process: Option<u32>| process.map(|process| command(&processes[process as usize]));
    let (by, by_again) = (builds.parent(first), builds.parent(again.process));
    let started = match (name(by), name(by_again)) {
        (Some(one), Some(_)) if by == by_again => format!("`{one}`"),
        (Some(one), Some(other)) => format!("`{one}` and `{other}`"),
        _ => "unknown processes".to_owned(),
    };
    format!(
        "`{}` ran {} times in {}, started by {started}",
        command(again),
        count(alike.count() as f64),
        again.directory.as_deref().unwrap_or("its directory"),
    )
}

/// "2 commands were run again: …"
fn what_was_done(commands: &[&Copy<'_>]) -> String {
    let (were, each) = match commands.len() {
        1 => ("one command was".to_owned(), "It"),
        several => (format!("{several} commands were"), "Each"),
    };
    format!(
        "{were} run again: {}. {each} read the same files as the first time, and none of these had changed",
        some(&named(commands), NAMED),
    )
}
