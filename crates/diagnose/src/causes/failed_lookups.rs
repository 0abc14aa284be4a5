//! Paths are tried and missed, again and again: a search path with many wrong directories, a file that is looked for each
//! time and never there.
//!
//! All processes that ran one program are taken together, for a program that is started often pays its search each time.

use super::words::{base_name, count, time};
use super::{Find, Needs, Spec};
use crate::Evidence;
use crate::calls::{Calls, Sum, fact, from, place, some};
use crate::candidate::Candidate;
use crate::draft::Draft;
use crate::findings::{Basis, Confidence, Cost, Sure};
use crate::gate::Gate;
use slowpath_syscalls::{EXECS, OPENS, STATS};
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// See the file's head.
pub(super) const CAUSE: Spec = Spec {
    slug: "failed-lookups",
    title: "failed file lookups",
    symptom: "the same or similar paths are looked up and do not exist",
    not_known: "whether the program can search in fewer places",
    page: include_str!("../../../../docs/causes/failed-lookups.md"),
    needs: &[Needs::Syscalls],
    find: Find::InRecording(find),
};

/// Misses in a run before they count, and misses for each hit.
const MISSES: u64 = 200;
const FOR_EACH_HIT: f64 = 2.0;
/// What to do where each name is looked for in one place, and in several.
const REMEMBER: &str = "Remember which files do not exist: the same paths are asked for again. Or find out why a path is wrong (a relative one, a missing prefix)";
const SEARCH_PATH: &str = "Put the right directory first (an absolute path, an rpath, a shorter search path), or cache which files do not exist";
/// The same paths are missed so often on average: a path that is tried once had to be tried.
const EACH: f64 = 3.0;
/// … or so many places are tried for each name.
const PLACES: f64 = 4.0;
/// A search path is seldom the programmer's own: a twentieth is not worth the talk.
const GATE: Gate = Gate::TENTH_OF_CPU;
/// ENOENT and ENOTDIR.
const MISSED: [i64; 2] = [-2, -20];

#[derive(Default)]
struct Search {
    missed: Sum,
    hits: u64,
    paths: HashMap<u32, u64>,
    processes: BTreeSet<u32>,
    /// Time by function of the program itself.
    own: BTreeMap<Option<u32>, f64>,
}

fn find(evidence: &Evidence<'_>) -> Vec<Candidate> {
    let calls = Calls::new(evidence);
    let tables = &evidence.recording.tables;
    let mut searches: BTreeMap<&str, Search> = BTreeMap::new();
    for (row, process) in calls.all() {
        let looks = OPENS.contains(&row.number) || STATS.contains(&row.number) || EXECS.contains(&row.number);
        if !looks {
            continue;
        }
        // The folder is not known of the shortest-lived.
        let search = searches.entry(base_name(&tables.processes[process as usize].program)).or_default();
        if MISSED.contains(&row.result) {
            search.missed.add(row);
            search.processes.insert(process);
            *search.own.entry(calls.own(row)).or_default() += row.duration_ns as f64;
            if let Some(file) = row.file {
                *search.paths.entry(file).or_default() += row.count;
            }
        } else if row.result >= 0 {
            search.hits += row.count;
        }
    }
    searches.into_iter().filter_map(|(program, search)| finding(evidence, program, &search)).collect()
}

/// The folder and the name of a path.
fn split(path: &str) -> (&str, &str) {
    path.rsplit_once('/').unwrap_or(("", path))
}

fn finding(evidence: &Evidence<'_>, program: &str, search: &Search) -> Option<Candidate> {
    let sum = &search.missed;
    let cost = sum.working_ns();
    if sum.count < MISSES * u64::from(evidence.recording.about.runs.max(1))
        || (sum.count as f64) < FOR_EACH_HIT * search.hits as f64
    {
        return None;
    }
    if !GATE.may_pass(evidence, cost) {
        return None;
    }
    let files = &evidence.recording.tables.files;
    let mut missed: BTreeMap<&str, u64> = BTreeMap::new();
    for (file, misses) in &search.paths {
        *missed.entry(files[*file as usize].path.as_str()).or_default() += misses;
    }
    // What was missed most often first.
    let mut paths: Vec<&str> = missed.keys().copied().collect();
    paths.sort_by_key(|path| std::cmp::Reverse(missed[path]));
    let names: BTreeSet<&str> = paths.iter().map(|path| split(path).1).collect();
    // Where most was missed first.
    let mut folders: BTreeMap<&str, u64> = BTreeMap::new();
    for (file, misses) in &search.paths {
        *folders.entry(split(&files[*file as usize].path).0).or_default() += misses;
    }
    let mut folders: Vec<(&str, u64)> =
        folders.into_iter().filter(|(folder, _)| !folder.is_empty()).collect();
    folders.sort_by_key(|(folder, misses)| (std::cmp::Reverse(*misses), *folder));
    let folders: Vec<String> = folders.into_iter().map(|(folder, _)| folder.to_owned()).collect();
    // Where calls were traced in windows the paths of some are not known: they are no evidence that one was looked up again.
    let named: u64 = search.paths.values().sum();
    let each = named as f64 / paths.len().max(1) as f64;
    let places = paths.len() as f64 / names.len().max(1) as f64;
    if each < EACH && places < PLACES {
        return None;
    }
    let (own, _) = search.own.iter().max_by(|a, b| a.1.total_cmp(b.1))?;
    let stack = sum.stack();
    let process = *search.processes.first()?;
    let runs = search.processes.len();
    let by = if runs > 1 { format!("{} runs of {program}", count(runs as f64)) } else { program.to_owned() };
    let mut explanation = vec![format!(
        "{by} looked up {} files that do not exist, {} times in total{}; {} other lookups succeeded",
        count(paths.len() as f64),
        count(sum.count as f64),
        match search.own.len() {
            0 | 1 => from(evidence, stack, *own),
            _ => from(evidence, stack, *own).replacen(" from ", ", mostly from ", 1),
        },
        count(search.hits as f64)
    )];
    explanation.push(format!(
        "{} in {} directories: {}",
        if names.len() == 1 { "one name".to_owned() } else { format!("{} names", count(names.len() as f64)) },
        count(folders.len() as f64),
        some(&folders, 3)
    ));
    explanation.push(format!("the failed lookups alone took {} in the kernel", time(cost)));
    Some(
        Draft {
            files: evidence.concerned(paths.iter().take(20).map(|path| (*path).to_owned())),
            explanation,
            facts: vec![
                fact("misses", sum.count as f64, "calls", Sure::Exact),
                fact("hits", search.hits as f64, "calls", Sure::Exact),
                fact("paths missed", paths.len() as f64, "paths", Sure::Exact),
                fact("directories tried", folders.len() as f64, "paths", Sure::Exact),
                fact("processes", runs as f64, "processes", Sure::Exact),
                fact("time in the kernel", cost, "ns", Sure::Exact),
            ],
            advice: if places < PLACES { REMEMBER } else { SEARCH_PATH }.to_owned(),
            ..Draft::new(
                &CAUSE,
                "failed file lookups",
                Confidence::Likely,
                Cost::new(Basis::Cpu, cost, cost),
                place(evidence, stack.filter(|_| own.is_some()), *own, process),
            )
        }
        .candidate(evidence, GATE, process),
    )
}
