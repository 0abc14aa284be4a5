//! What the processes of a build do to files: what each of them, with all that it starts, reads and makes, and whether two do the same.

use crate::Evidence;
use crate::calls::{Calls, FORKS, OPENS, READS, RECEIVES, SENDS, is_connect, is_read_open};
use slowpath_recording::tables::Process;
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// A file is made, or emptied: O_CREAT with O_EXCL or O_TRUNC, or O_TRUNC alone.
const CREATE: i32 = 0o100;
const EXCLUSIVE: i32 = 0o200;
const TRUNCATE: i32 = 0o1000;
const ACCESS_MODE: i32 = 3;
/// creat; and openat2, whose flags are in memory.
const CREAT: u32 = 85;
const OPENAT2: u32 = 437;

/// Device, inode, size and time of the last change: as long as these are the same, so is what is in the file.
type State = (u64, u64, u64, u64);

/// What processes do to files, by process.
pub(super) struct Builds<'a> {
    evidence: &'a Evidence<'a>,
    children: HashMap<u32, Vec<u32>>,
    read: HashMap<u32, BTreeMap<String, BTreeSet<State>>>,
    made: HashMap<u32, BTreeSet<String>>,
    /// Pipes and sockets that each reads from, and who uses each.
    sources: HashMap<u32, BTreeSet<(u64, u64)>>,
    users: HashMap<(u64, u64), BTreeSet<u32>>,
    /// Who asked somebody else.
    asks: BTreeSet<u32>,
    cpu_ns: Vec<f64>,
}

/// A process that executed a program, with all that it started.
pub(super) struct Work {
    pub members: BTreeSet<u32>,
    read: BTreeMap<String, BTreeSet<State>>,
    /// Paths of the files that it made.
    pub made: BTreeSet<String>,
}

impl<'a> Builds<'a> {
    pub(super) fn new(evidence: &'a Evidence<'a>) -> Builds<'a> {
        let tables = &evidence.recording.tables;
        let mut builds = Builds {
            evidence,
            children: HashMap::new(),
            read: HashMap::new(),
            made: HashMap::new(),
            sources: HashMap::new(),
            users: HashMap::new(),
            asks: BTreeSet::new(),
            cpu_ns: cpu_ns(evidence),
        };
        for process in &tables.processes {
            if let Some(parent) = process.parent {
                builds.children.entry(parent).or_default().push(process.process);
            }
        }
        let calls = Calls::new(evidence);
        for (row, process) in calls.all().filter(|(row, _)| row.result >= 0 && !FORKS.contains(&row.number)) {
            if is_connect(row) {
                builds.asks.insert(process);
            }
            let Some(file) = calls.file(row) else { continue };
            match file.kind.as_str() {
                "pipe" | "socket" if file.inode != 0 => {
                    let object = (file.device, file.inode);
                    builds.users.entry(object).or_default().insert(process);
                    if READS.contains(&row.number) || RECEIVES.contains(&row.number) {
                        builds.sources.entry(process).or_default().insert(object);
                    }
                    if SENDS.contains(&row.number) {
                        builds.asks.insert(process);
                    }
                }
                "file" if OPENS.contains(&row.number) && !file.path.is_empty() => {
                    let path = absolute(&tables.processes[process as usize], &file.path);
                    if is_read_open(row) {
                        let state = (file.device, file.inode, file.size, file.mtime_ns);
                        builds.read.entry(process).or_default().entry(path).or_default().insert(state);
                    } else if makes(row.number, row.argument as i32) {
                        builds.made.entry(process).or_default().insert(path);
                    }
                }
                _ => {}
            }
        }
        builds
    }

    /// What a process did with all that it started; none if it made nothing, failed, did not end, or was told something by others: then it is
    /// not known what it had to do.
    pub(super) fn work(&self, process: &Process) -> Option<Work> {
        if process.exec_ns.is_none() || process.exit != Some(0) || process.arguments.len() < 2 {
            return None;
        }
        let members = self.tree(process.process);
        let mut work = Work { read: BTreeMap::new(), made: BTreeSet::new(), members };
        for member in &work.members {
            if self.asks.contains(member) {
                return None;
            }
            let of_others = |object: &(u64, u64)| !self.users[object].is_subset(&work.members);
            if self.sources.get(member).is_some_and(|sources| sources.iter().any(of_others)) {
                return None;
            }
            work.made.extend(self.made.get(member).into_iter().flatten().cloned());
            for (path, states) in self.read.get(member).into_iter().flatten() {
                work.read.entry(path.clone()).or_default().extend(states);
            }
        }
        // What it made for itself.
        work.read.retain(|path, _| !work.made.contains(path));
        (!work.made.is_empty()).then_some(work)
    }

    /// A process and all that it started.
    pub(super) fn tree(&self, root: u32) -> BTreeSet<u32> {
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
        !self.read.is_empty() && self.read == other.read && !self.made.is_disjoint(&other.made)
    }
}

/// Whether a call that opens a file makes it anew.
fn makes(number: u32, flags: i32) -> bool {
    let writes = flags & ACCESS_MODE != 0;
    let anew = flags & TRUNCATE != 0 || flags & (CREATE | EXCLUSIVE) == CREATE | EXCLUSIVE;
    number == CREAT || number != OPENAT2 && writes && anew
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
        assert!(makes(257, 0o1101)); // O_WRONLY | O_CREAT | O_TRUNC
        assert!(makes(2, 0o302)); // O_RDWR | O_CREAT | O_EXCL
        assert!(makes(CREAT, 0o644));
        assert!(!makes(257, 0o102)); // O_RDWR | O_CREAT: a database
        assert!(!makes(257, 0o2101)); // O_WRONLY | O_CREAT | O_APPEND: a log
        assert!(!makes(257, 0));
        assert!(!makes(OPENAT2, 0o1101)); // that is a length
    }
}
