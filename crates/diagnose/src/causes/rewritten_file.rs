//! A file is written as a whole again and again, as where a program saves all it knows after each change.
//!
//! Known by its name: it was opened to be emptied, or another file was renamed to it, which is how one is replaced safely. Nobody read it in
//! between, so only the last contents were needed. Each process counts for itself.

use super::words::{count, time};
use super::{Find, Needs, Spec};
use crate::Evidence;
use crate::calls::{Calls, Sum, fact, from, is_read_open, place, some};
use crate::candidate::Candidate;
use crate::draft::Draft;
use crate::findings::{Basis, Confidence, Cost, Sure};
use crate::gate::Gate;
use slowpath_recording::tables::Syscall;
use slowpath_stats::median;
use slowpath_syscalls::{CLOSE, CREAT, OPEN, OPENAT, RENAMES, UNLINKS, WRITES, WRITES_AT};
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// See the file's head.
pub(super) const CAUSE: Spec = Spec {
    slug: "rewritten-file",
    title: "a file is written as a whole again and again",
    symptom: "one file emptied or replaced, and written with about as many bytes each time; nobody reads it in between",
    page: include_str!("../../../../docs/causes/rewritten-file.md"),
    needs: &[Needs::Syscalls],
    find: Find::InRecording(find),
};

/// How often a file was written before it counts: less is what a program does that saves from time to time.
const WRITTEN: u64 = 20;
/// Share of those after which it was read, removed or renamed to something else, from which on it was needed each time.
const NEEDED: f64 = 0.1;
/// It has about the same contents if its size differs by at most this share from the time before, in this share of the cases.
const SIZE: f64 = 0.25;
const SAME_SIZE: f64 = 0.75;
/// How many times the median a time may take of which that is asked.
const LONG: f64 = 3.0;
/// Share of the opens that must come from one function, and how many there may be of temporary files for one rename.
const MOST: f64 = 0.5;
const TEMPORARY: std::ops::RangeInclusive<f64> = 0.8..=1.25;
/// Gaps between two times in which a thread did something elsewhere, before it is known that the function which writes had returned.
const GAPS: usize = 5;
/// From this share of the cost on that is waiting, it is elapsed time that would be saved.
const WAITING: f64 = 0.25;
/// … unless other threads use CPUs for this share of the waits.
const BUSY: f64 = 0.5;

/// What happened to one name.
#[derive(Default)]
struct Name {
    /// Opens that emptied it, and renames to it, by the function that asks.
    emptied: BTreeMap<Option<u32>, Sum>,
    replaced: BTreeMap<Option<u32>, Sum>,
    all: Sum,
    by: BTreeMap<Option<u32>, Sum>,
    written: u64,
    unlinked: u64,
    /// When each was recorded by itself: thread, from, to.
    intervals: Vec<(u32, u64, u64)>,
    /// Bytes written between being emptied and closed, and the time between, ns, where each call was recorded by itself.
    sizes: Vec<(u64, u64)>,
    /// Since when it is open, and bytes since.
    open: Option<(u64, u64)>,
}

impl Name {
    fn add(&mut self, row: &Syscall, by: Option<u32>) {
        self.all.add(row);
        self.by.entry(by).or_default().add(row);
        if row.count == 1 {
            self.intervals.push((row.thread, row.time_ns, row.end_ns));
        }
        if empties(row) {
            self.emptied.entry(by).or_default().add(row);
            self.open = Some((row.time_ns, 0));
        } else if RENAMES.contains(&row.number) {
            self.replaced.entry(by).or_default().add(row);
        } else if UNLINKS.contains(&row.number) {
            self.unlinked += row.count;
        } else if WRITES.contains(&row.number) || WRITES_AT.contains(&row.number) {
            self.written += row.bytes;
            if let Some((_, size)) = &mut self.open {
                *size += row.bytes;
            }
        } else if row.number == CLOSE
            && let Some((since, size)) = self.open.take()
        {
            self.sizes.push((size, row.end_ns - since));
        }
        if row.count > 1 {
            self.open = None;
        }
    }

    /// Adds what happened to another name.
    fn join(&mut self, other: &Name) {
        for (by, sum) in &other.emptied {
            self.emptied.entry(*by).or_default().join(sum);
        }
        for (by, sum) in &other.by {
            self.by.entry(*by).or_default().join(sum);
        }
        self.all.join(&other.all);
        self.written += other.written;
        self.unlinked += other.unlinked;
        self.intervals.extend(&other.intervals);
        self.sizes.extend(&other.sizes);
    }

    /// Whether about as much was written each time.
    fn has_same_contents(&self) -> bool {
        let alike = |pair: &[u64]| {
            let (less, more) = (pair[0].min(pair[1]), pair[0].max(pair[1]));
            less as f64 >= (1.0 - SIZE) * more as f64
        };
        // Where calls are many, only bursts of them are recorded by themselves. A span over two bursts lacks what was between.
        let took: Vec<f64> = self.sizes.iter().map(|(_, ns)| *ns as f64).collect();
        let longest = LONG * median(&took).unwrap_or(0.0);
        let whole = self.sizes.iter().filter(|(_, ns)| *ns as f64 <= longest);
        let sizes: Vec<u64> = whole.map(|(size, _)| *size).collect();
        let pairs = sizes.len().saturating_sub(1);
        let same = sizes.windows(2).filter(|pair| alike(pair)).count();
        self.written > 0 && pairs as u64 >= WRITTEN / 2 && same as f64 >= SAME_SIZE * pairs as f64
    }
}

/// A file was opened and emptied, or made.
fn empties(row: &Syscall) -> bool {
    const WRITING: u64 = 0o3;
    const ANEW: u64 = 0o1000 | 0o200; // O_TRUNC, O_EXCL
    row.number == CREAT
        || matches!(row.number, OPEN | OPENAT) && row.argument & WRITING != 0 && row.argument & ANEW != 0
}

fn folder(path: &str) -> &str {
    path.rsplit_once('/').map_or("", |(folder, _)| folder)
}

fn base(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

/// How often by all functions.
fn number(of: &BTreeMap<Option<u32>, Sum>) -> u64 {
    of.values().map(|sum| sum.count).sum()
}

fn find(evidence: &Evidence<'_>) -> Vec<Candidate> {
    let calls = Calls::new(evidence);
    let mut names: BTreeMap<u32, BTreeMap<&str, Name>> = BTreeMap::new();
    // How often a file of this name was opened to be read, by anybody: in which folder, is not always known.
    let mut read: HashMap<&str, u64> = HashMap::new();
    for (row, process) in calls.all().filter(|(row, _)| row.result >= 0) {
        let Some(file) = calls.file(row).filter(|file| !file.path.is_empty()) else { continue };
        let is_file = file.kind == "file" || file.kind == "path";
        if !is_file || ["/dev/", "/proc/", "/sys/"].iter().any(|of| file.path.starts_with(of)) {
            continue;
        }
        names.entry(process).or_default().entry(&file.path).or_default().add(row, calls.asks(row));
        if is_read_open(row) {
            *read.entry(base(&file.path)).or_default() += row.count;
        }
    }
    let mut findings = Vec::new();
    for (process, of_process) in &names {
        for (path, name) in of_process {
            let Some((written, as_what)) = rewritten(path, name, of_process) else { continue };
            let times = number(&written.emptied);
            let needed = read.get(base(path)).copied().unwrap_or(0) + written.unlinked;
            if times < WRITTEN || needed as f64 > NEEDED * times as f64 || !written.has_same_contents() {
                continue;
            }
            findings.extend(finding(evidence, &calls, *process, path, &as_what, &written));
        }
    }
    findings
}

/// All that was done to write the file of this name again and again, with how it was replaced, if it was.
fn rewritten(path: &str, name: &Name, all: &BTreeMap<&str, Name>) -> Option<(Name, String)> {
    let (emptied, replaced) = (number(&name.emptied), number(&name.replaced));
    // In its folder, other names to which files were renamed, and the temporary files themselves.
    let beside = || all.iter().filter(|(other, _)| **other != path && folder(other) == folder(path));
    let to_others: u64 = beside().map(|(_, other)| number(&other.replaced)).sum();
    let mut written = Name::default();
    written.join(name);
    if replaced < WRITTEN {
        // A file that was renamed to something else after it had been written was no vain work.
        return (to_others as f64 <= NEEDED * emptied as f64).then_some((written, String::new()));
    }
    let temporary: Vec<_> = beside().filter(|(_, other)| number(&other.emptied) > 0).collect();
    for (_, other) in &temporary {
        written.join(other);
    }
    let opened = number(&written.emptied) as f64 / replaced as f64;
    let to_others = to_others as f64 <= NEEDED * replaced as f64;
    let names: Vec<String> = temporary.iter().map(|(path, _)| (**path).to_owned()).collect();
    (TEMPORARY.contains(&opened) && to_others).then(|| {
        let through = format!(" by renaming {} to it", some(&names, 1));
        (written, through)
    })
}

fn finding(
    evidence: &Evidence<'_>,
    calls: &Calls<'_>,
    process: u32,
    path: &str,
    through: &str,
    written: &Name,
) -> Option<Candidate> {
    let times = number(&written.emptied);
    let (own, sum) = written.emptied.iter().max_by_key(|(_, sum)| sum.count)?;
    if (sum.count as f64) < MOST * times as f64 {
        return None;
    }
    let stack = sum.stack();
    let place = place(evidence, stack, *own, process);
    let prepared = own.map_or(0.0, |own| {
        let through_library = calls.sampled_ns(process, own, &written.by[&Some(own)]);
        through_library.max(under(evidence, calls, process, place.frame.function_id.unwrap_or(own)))
    });
    let cpu = written.all.working_ns().max(prepared).min(evidence.cpu_ns);
    let waited = written.all.blocked_ns;
    let waits = waited >= WAITING * (cpu + waited) && calls.busy_share(&written.intervals) < BUSY;
    let (basis, cost, gate) = match waits {
        true => (Basis::Wall, cpu + waited, Gate::TENTH_OF_WALL),
        false => (Basis::Cpu, cpu, Gate::TENTH_OF_CPU),
    };
    let gain = cost * (1.0 - 1.0 / times as f64);
    if !gate.may_pass(evidence, gain) {
        return None;
    }
    let each = written.written as f64 / times as f64;
    let mut explanation = vec![
        format!(
            "{path} was written {} times{}{through}, with {} bytes each time on average; nobody opened it to read it in between",
            count(times as f64),
            from(evidence, stack, *own),
            count(each)
        ),
        format!("the system calls for this took {}", time(written.all.duration_ns)),
    ];
    if cost > 1.05 * written.all.duration_ns {
        explanation[1]
            .push_str(&format!("; with the program's own work on the contents it is {}", time(cost)));
    }
    let draft = Draft {
        explanation,
        files: evidence.concerned(vec![path.to_owned()]),
        facts: vec![
            fact("times written", times as f64, "calls", Sure::Exact),
            fact("bytes each time", each, "bytes", Sure::Exact),
            fact("bytes written", written.written as f64, "bytes", Sure::Exact),
            fact("system calls", written.all.count as f64, "calls", Sure::Exact),
            fact("time in system calls", written.all.duration_ns, "ns", Sure::Exact),
            fact("time waited in them", waited, "ns", Sure::Exact),
            fact("time with the program's own work", cost, "ns", Sure::Sampled),
        ],
        advice: "Write it once, when all changes are made or after a pause; where each change must survive a crash, append the \
                 change to a log and write the whole now and then"
            .to_owned(),
        ..Draft::new(
            &CAUSE,
            "a file is written as a whole again and again",
            Confidence::Likely,
            Cost::new(basis, cost, gain),
            place,
        )
    };
    Some(draft.candidate(evidence, gate, process))
}

/// CPU time of all samples under the function that opens the file, ns, which may be inlined: what makes the contents is done there. 0 unless it is
/// called for each time.
fn under(evidence: &Evidence<'_>, calls: &Calls<'_>, process: u32, writer: u32) -> f64 {
    let on = stacks_through(evidence, writer);
    if evidence.by_ptrace || !returns(evidence, calls, process, &on) {
        return 0.0;
    }
    let samples = evidence.recording.tables.samples.iter().zip(&evidence.weights);
    let of_it = samples.filter(|(sample, _)| {
        sample.stack.is_some_and(|stack| on[stack as usize]) && evidence.process_of(sample) == process
    });
    of_it.map(|(_, weight)| weight).sum()
}

/// For each stack whether a function is on it, inlined or not.
fn stacks_through(evidence: &Evidence<'_>, function: u32) -> Vec<bool> {
    let recording = evidence.recording;
    let mut through: Vec<bool> = Vec::with_capacity(recording.tables.stacks.len());
    for stack in &recording.tables.stacks {
        let above = stack.parent.is_some_and(|parent| through[parent as usize]);
        through.push(
            above || recording.frames_of(stack.location).iter().any(|frame| frame.function == function),
        );
    }
    through
}

/// Whether a function is left between one time and the next that it empties a file: its thread is seen elsewhere, in gaps all over the run. `on`:
/// stacks with the function.
fn returns(evidence: &Evidence<'_>, calls: &Calls<'_>, process: u32, on: &[bool]) -> bool {
    let here = |stack: Option<u32>| stack.is_some_and(|stack| on[stack as usize]);
    let elsewhere = |stack: Option<u32>| stack.is_some_and(|stack| !on[stack as usize]);
    let alone = || calls.all().filter(|(row, of)| *of == process && row.count == 1);
    let mut opens: BTreeMap<u32, Vec<u64>> = BTreeMap::new();
    for (row, _) in alone().filter(|(row, _)| empties(row) && here(row.stack)) {
        opens.entry(row.thread).or_default().push(row.time_ns);
    }
    opens.values_mut().for_each(|times| times.sort_unstable());
    let samples = evidence.recording.tables.samples.iter().filter(|sample| elsewhere(sample.stack));
    let moments = samples.map(|sample| (sample.thread, sample.time_ns));
    let asked = alone().filter(|(row, _)| elsewhere(row.stack)).map(|(row, _)| (row.thread, row.time_ns));
    let (mut seen, mut gaps) = (0, BTreeSet::new());
    for (thread, at) in moments.chain(asked) {
        let Some(times) = opens.get(&thread) else { continue };
        let gap = times.partition_point(|time| *time <= at);
        if (1..times.len()).contains(&gap) {
            seen += 1;
            gaps.insert((thread, gap));
        }
    }
    let possible: usize = opens.values().map(|times| times.len().saturating_sub(1)).sum();
    gaps.len() >= GAPS && 2 * gaps.len() >= possible.min(seen)
}
