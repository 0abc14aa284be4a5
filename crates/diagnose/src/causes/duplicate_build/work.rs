//! What the processes of a build do to files: what each of them, with all that it starts, reads and makes, and whether two do the same.

use crate::Evidence;
use crate::calls::{Calls, is_connect, is_read_open};
use crate::findings::Concerned;
use slowpath_recording::tables::{File, Process};
use slowpath_syscalls::{OPENS, READS, RECEIVES, SENDS};
use std::collections::{BTreeMap, BTreeSet, HashMap};

const CREATE: i32 = 0o100;
const EXCLUSIVE: i32 = 0o200;
const TRUNCATE: i32 = 0o1000;
const ACCESS_MODE: i32 = 3;
const READ_AND_WRITE: i32 = 2;
/// creat; and openat2, whose flags are in memory.
const CREAT: u32 = 85;
const OPENAT2: u32 = 437;

/// A path, by its number.
type Path = u32;
/// A path and the file's device, inode, size and time of the last change, by their number: as long as these are the same, so is what is in it.
type State = u32;

/// What a process does to files: the first moment of each.
#[derive(Default)]
struct Files {
    read: BTreeMap<State, u64>,
    /// Emptied or written from the start; and created where there was none.
    made: BTreeMap<Path, u64>,
    new: BTreeMap<Path, u64>,
    /// Pipes that it reads from.
    pipes: BTreeSet<(u64, u64)>,
    /// It connected to something, sent something, or read from a socket.
    asks: bool,
}

/// What processes do to files.
pub(super) struct Builds<'a> {
    evidence: &'a Evidence<'a>,
    children: HashMap<u32, Vec<u32>>,
    files: HashMap<u32, Files>,
    /// Who uses each pipe.
    users: HashMap<(u64, u64), BTreeSet<u32>>,
    /// Of each path the rows of `files` that have it.
    paths: Vec<Concerned>,
    /// Of each state its path, and whether it is a program's input: what every program loads is none.
    states: Vec<(Path, bool)>,
    cpu_ns: Vec<f64>,
}

/// A process that executed a program, with all that it started.
pub(super) struct Work {
    pub members: BTreeSet<u32>,
    read: BTreeSet<State>,
    has_input: bool,
    made: BTreeSet<Path>,
}

impl<'a> Builds<'a> {
    pub(super) fn new(evidence: &'a Evidence<'a>) -> Builds<'a> {
        let tables = &evidence.recording.tables;
        let mut builds = Builds {
            evidence,
            children: HashMap::new(),
            files: HashMap::new(),
            users: HashMap::new(),
            paths: Vec::new(),
            states: Vec::new(),
            cpu_ns: cpu_ns(evidence),
        };
        for process in &tables.processes {
            if let Some(parent) = process.parent {
                builds.children.entry(parent).or_default().push(process.process);
            }
        }
        let mut known_paths: HashMap<String, Path> = HashMap::new();
        let mut known_states: HashMap<(Path, u64, u64, u64, u64), State> = HashMap::new();
        let calls = Calls::new(evidence);
        for (row, process) in calls.all().filter(|(row, _)| row.result >= 0) {
            let files = builds.files.entry(process).or_default();
            files.asks |= is_connect(row) || SENDS.contains(&row.number);
            let Some(file) = calls.file(row) else { continue };
            let reads = READS.contains(&row.number) || RECEIVES.contains(&row.number);
            match file.kind.as_str() {
                "pipe" if file.inode != 0 => {
                    let object = (file.device, file.inode);
                    builds.users.entry(object).or_default().insert(process);
                    if reads {
                        files.pipes.insert(object);
                    }
                }
                "socket" => files.asks |= reads,
                "file" | "directory" if OPENS.contains(&row.number) && !file.path.is_empty() => {
                    let text = absolute(&tables.processes[process as usize], &file.path);
                    let is_input = file.kind == "file" && !is_loaded(&text);
                    let next = builds.paths.len() as Path;
                    let path = *known_paths.entry(text.clone()).or_insert(next);
                    if path == next {
                        builds.paths.push(Concerned { path: text, ids: Vec::new() });
                    }
                    let ids = &mut builds.paths[path as usize].ids;
                    if let Err(at) = ids.binary_search(&file.file) {
                        ids.insert(at, file.file);
                    }
                    let flags = if row.number == OPENAT2 { 0 } else { row.argument as i32 };
                    let opened = if row.number == CREAT { Opened::Made } else { opened(flags) };
                    match opened {
                        Opened::Made => first(&mut files.made, path, row.time_ns),
                        Opened::New => first(&mut files.new, path, row.time_ns),
                        Opened::Kept if is_read_open(row) || flags & ACCESS_MODE == READ_AND_WRITE => {
                            let File { device, inode, size, mtime_ns, .. } = *file;
                            let next = builds.states.len() as State;
                            let key = (path, device, inode, size, mtime_ns);
                            let state = *known_states.entry(key).or_insert(next);
                            if state == next {
                                builds.states.push((path, is_input));
                            }
                            first(&mut files.read, state, row.time_ns);
                        }
                        Opened::Kept => {}
                    }
                }
                _ => {}
            }
        }
        builds
    }

    /// What a process did with all that it started; none if it wrote nothing, failed, did not end, or read from a pipe or socket of others: then
    /// it is not known what it had to do.
    pub(super) fn work(&self, process: &Process) -> Option<Work> {
        if process.exit != Some(0) {
            return None;
        }
        let members = self.tree(process.process);
        let mut whole = Files::default();
        for files in members.iter().filter_map(|member| self.files.get(member)) {
            if files.asks || files.pipes.iter().any(|pipe| !self.users[pipe].is_subset(&members)) {
                return None;
            }
            files.made.iter().for_each(|(path, at)| first(&mut whole.made, *path, *at));
            files.new.iter().for_each(|(path, at)| first(&mut whole.new, *path, *at));
            files.read.iter().for_each(|(state, at)| first(&mut whole.read, *state, *at));
        }
        // What it had made for itself by then is no input.
        let made_before = |path: &Path, at: u64| {
            [&whole.made, &whole.new].iter().any(|made| made.get(path).is_some_and(|made| *made < at))
        };
        whole.read.retain(|state, at| !made_before(&self.states[*state as usize].0, *at));
        let read: BTreeSet<State> = whole.read.into_keys().collect();
        let has_input = read.iter().any(|state| self.states[*state as usize].1);
        let made: BTreeSet<Path> = whole.made.into_keys().collect();
        (!made.is_empty()).then_some(Work { members, read, has_input, made })
    }

    /// A path by its number.
    pub(super) fn path(&self, number: u32) -> &str {
        &self.paths[number as usize].path
    }

    /// The file at a path.
    pub(super) fn concerned(&self, number: u32) -> Concerned {
        self.paths[number as usize].clone()
    }

    /// A process and all that it started.
    fn tree(&self, root: u32) -> BTreeSet<u32> {
        let (mut members, mut next) = (BTreeSet::new(), vec![root]);
        while let Some(process) = next.pop() {
            if members.insert(process) {
                next.extend(self.children.get(&process).into_iter().flatten());
            }
        }
        members
    }

    /// The process that started another one: shells fork themselves to do so.
    pub(super) fn parent(&self, process: u32) -> Option<u32> {
        let processes = &self.evidence.recording.tables.processes;
        let mut parent = processes[process as usize].parent?;
        while let (None, Some(before)) =
            (processes[parent as usize].exec_ns, processes[parent as usize].parent)
        {
            parent = before;
        }
        Some(parent)
    }

    /// CPU time, ns.
    pub(super) fn cpu_ns(&self, members: &BTreeSet<u32>) -> f64 {
        members.iter().map(|process| self.cpu_ns[*process as usize]).sum()
    }
}

/// CPU time of each process, ns.
fn cpu_ns(evidence: &Evidence<'_>) -> Vec<f64> {
    let tables = &evidence.recording.tables;
    if evidence.by_ptrace || evidence.weights.is_empty() {
        return tables.processes.iter().map(|process| process.cpu_ns.unwrap_or(0) as f64).collect();
    }
    let mut cpu = vec![0.0; tables.processes.len()];
    for (sample, weight) in tables.samples.iter().zip(&evidence.weights) {
        cpu[evidence.process_of(sample) as usize] += weight;
    }
    cpu
}

impl Work {
    /// Whether both read the same files, which nobody changed in between, and made the same file.
    pub(super) fn is_same(&self, other: &Work) -> bool {
        // Without any input it is not known what it depends on.
        self.has_input && self.read == other.read && !self.made.is_disjoint(&other.made)
    }

    /// The files that both made, by their paths' numbers.
    pub(super) fn both_made(&self, other: &Work) -> BTreeSet<u32> {
        self.made.intersection(&other.made).copied().collect()
    }
}

/// Keeps the earliest moment.
fn first(of: &mut BTreeMap<u32, u64>, key: u32, at: u64) {
    of.entry(key).and_modify(|earliest| *earliest = at.min(*earliest)).or_insert(at);
}

/// What opening a file does to it.
#[derive(Debug, PartialEq, Eq)]
enum Opened {
    /// What was in it is gone.
    Made,
    /// There was none: a temporary file or a lock.
    New,
    Kept,
}

fn opened(flags: i32) -> Opened {
    let writes = flags & ACCESS_MODE != 0;
    match () {
        () if flags & (CREATE | EXCLUSIVE) == CREATE | EXCLUSIVE => Opened::New,
        () if writes && flags & TRUNCATE != 0 => Opened::Made,
        () => Opened::Kept,
    }
}

/// Whether it is what a program consists of, and not its input: a shared library, or the loader's list of these.
fn is_loaded(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path);
    name.ends_with(".so") || name.contains(".so.")
}

fn absolute(process: &Process, path: &str) -> String {
    match &process.directory {
        Some(directory) if !path.starts_with('/') => format!("{directory}/{path}"),
        _ => path.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_made_if_what_was_in_it_is_gone() {
        assert_eq!(opened(0o1101), Opened::Made); // O_WRONLY | O_CREAT | O_TRUNC
        assert_eq!(opened(0o1302), Opened::New); // O_RDWR | O_CREAT | O_EXCL | O_TRUNC
        assert_eq!(opened(0o301), Opened::New); // O_WRONLY | O_CREAT | O_EXCL: a lock
        assert_eq!(opened(0o102), Opened::Kept); // O_RDWR | O_CREAT: a database
        assert_eq!(opened(0o2101), Opened::Kept); // O_WRONLY | O_CREAT | O_APPEND: a log
        assert_eq!(opened(0), Opened::Kept);
    }

    #[test]
    fn libraries_are_no_input() {
        assert!(
            is_loaded("/etc/ld.so.cache") && is_loaded("/lib/libc.so.6") && is_loaded("/usr/lib/plugin.so")
        );
        assert!(!is_loaded("/src/a.c") && !is_loaded("/src/so.so/a.c"));
    }
}
