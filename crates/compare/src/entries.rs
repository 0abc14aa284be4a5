//! Which functions' calls are worth counting on both sides of a difference, and what the counts add to what is reported about it.
//! Counting itself is left to whoever runs the commands.

use crate::values::{Calls, Why};
use crate::why::unversioned;
use slowpath_diagnose::findings::Findings;
use slowpath_recording::Recording;
use slowpath_recording::tables::Function;
use slowpath_symbols::FunctionRanges;
use std::collections::HashMap;
use std::path::{Path, PathBuf};

/// Functions at most.
const MOST: usize = 12;

/// A function and where it begins on each side: its file, and its address as the file counts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Wanted {
    /// Its name.
    pub name: String,
    /// On each side.
    pub at: [(PathBuf, u64); 2],
}

/// The functions whose calls may explain a difference: those that findings blame or are about, and those whose time changed
/// most; if they are found on both sides. Findings first.
pub fn wanted(recordings: [&Recording; 2], findings: [&Findings; 2], why: &Why) -> Vec<Wanted> {
    let mut files = Files::default();
    let mut wanted: Vec<Wanted> = Vec::new();
    let concern =
        (0..2).flat_map(|side| concern(recordings[side], findings[side]).map(move |one| (side, one)));
    let changed = (0..2).flat_map(|side| {
        let functions = recordings[side].tables.functions.iter();
        functions.filter(move |function| changed(recordings[side], function, why)).map(move |one| (side, one))
    });
    for (side, function) in concern.chain(changed) {
        if wanted.len() == MOST {
            break;
        }
        let Some(own) = file(recordings[side], function) else { continue };
        let Some(there) = files.counterpart(own, function.address, recordings[1 - side]) else { continue };
        let mut at = [(own.to_owned(), function.address), there];
        if side == 1 {
            at.swap(0, 1);
        }
        if !wanted.iter().any(|one| one.at[side] == at[side]) {
            wanted.push(Wanted { name: function.name.clone(), at });
        }
    }
    wanted
}

/// Whether a function is reported as one whose time changed.
fn changed(recording: &Recording, function: &Function, why: &Why) -> bool {
    let module = file(recording, function).and_then(Path::file_name).unwrap_or_default().to_string_lossy();
    let same = |told: &str| told.is_empty() || unversioned(&module) == told;
    why.functions.iter().any(|one| one.name == function.name && same(&one.module))
}

/// Functions that findings blame, then those that the evidence is about.
fn concern<'a>(recording: &'a Recording, findings: &'a Findings) -> impl Iterator<Item = &'a Function> {
    let blamed = findings.findings.iter().map(|finding| &finding.place.frame);
    let related = findings.findings.iter().flat_map(|finding| &finding.related);
    blamed.chain(related).filter_map(|frame| with_entry(recording, frame.function_id?))
}

/// A function, or where it was inlined its copy that has an entry of its own.
fn with_entry(recording: &Recording, id: u32) -> Option<&Function> {
    let functions = &recording.tables.functions;
    let one = functions.get(id as usize)?;
    let same =
        |other: &&Function| other.address != 0 && (&other.name, other.module) == (&one.name, one.module);
    if one.address != 0 { Some(one) } else { functions.iter().find(same) }
}

fn file<'a>(recording: &'a Recording, function: &Function) -> Option<&'a Path> {
    let module = &recording.tables.modules[function.module? as usize];
    (module.inode != 0).then(|| Path::new(&module.path))
}

/// The symbol tables of files, each read once.
#[derive(Default)]
struct Files(HashMap<PathBuf, Option<FunctionRanges>>);

impl Files {
    fn ranges(&mut self, path: &Path) -> Option<&FunctionRanges> {
        let read = || FunctionRanges::open(path).ok();
        self.0.entry(path.to_owned()).or_insert_with(read).as_ref()
    }

    /// Where the function that begins there in `file` begins in the other recording: in the same file, else in the only one
    /// that has a symbol of its name.
    fn counterpart(&mut self, file: &Path, address: u64, other: &Recording) -> Option<(PathBuf, u64)> {
        let modules = || other.tables.modules.iter().filter(|module| module.inode != 0);
        if modules().any(|module| Path::new(&module.path) == file) {
            return Some((file.to_owned(), address));
        }
        let name =
            self.ranges(file)?.containing(address).filter(|range| range.start == address)?.name?.to_owned();
        let mut found = Vec::new();
        for module in modules() {
            let path = Path::new(&module.path);
            if let Some(start) = self.ranges(path).and_then(|ranges| ranges.start_of(&name)) {
                found.push((path.to_owned(), start));
            }
        }
        found.dedup();
        if found.len() == 1 { found.pop() } else { None }
    }
}

/// Adds what was counted: for each of `wanted` the calls on each side, none where they could not be counted. What was called
/// on neither side is left out.
pub fn add(why: &mut Why, wanted: &[Wanted], counts: [&[Option<Calls>]; 2]) {
    for (at, one) in wanted.iter().enumerate() {
        let [Some(a), Some(b)] = [0, 1].map(|side| counts[side].get(at).copied().flatten()) else { continue };
        if a.count == 0 && b.count == 0 {
            continue;
        }
        for change in why.functions.iter_mut().filter(|change| change.name == one.name) {
            change.calls = [a, b].map(|calls| (!calls.more).then_some(calls.count));
        }
        why.calls.push((one.name.clone(), [a, b]).into());
    }
    let factor = |calls: &[Calls; 2]| {
        let [a, b] = calls.map(|calls| calls.count.max(1) as f64);
        (a / b).ln().abs()
    };
    why.calls.retain(|change| change.calls[0] != change.calls[1]);
    why.calls.sort_by(|a, b| factor(&b.calls).total_cmp(&factor(&a.calls)));
}
