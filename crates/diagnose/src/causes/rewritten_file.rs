//! A file is written as a whole again and again, as where a program saves all it knows after each change.
//!
//! Known by its name: it was opened to be emptied, or another file was renamed to it, which is how one is replaced safely. Nobody read it in
//! between, so only the last contents were needed. Each process counts for itself.

use super::words::{count, time, times as often};
use super::{Find, Needs, Spec};
use crate::Evidence;
use crate::calls::{
    Calls, Sum, fact, from, is_emptying_open, is_read_open, is_single, is_writing_open, place, some,
};
use crate::candidate::Candidate;
use crate::draft::Draft;
use crate::findings::{Basis, Confidence, Cost, Sure};
use crate::gate::Gate;
use slowpath_recording::tables::Syscall;
use slowpath_stats::median;
use slowpath_syscalls::{CLOSE, CREAT, READS, READS_AT, RENAMES, UNLINKS, WRITES, WRITES_AT};
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// See the file's head.
pub(super) const CAUSE: Spec = Spec {
    slug: "rewritten-file",
    title: "a file is written as a whole again and again",
    symptom: "one file emptied or replaced, and written with about as many bytes each time; nobody reads it in between",
    not_known: "whether another program reads the file each time",
    page: include_str!("../../../../docs/causes/rewritten-file.md"),
    needs: &[Needs::Syscalls],
    find: Find::InRecording(find),
};

/// Before this minor version of the format renames had their old name.
const NEW_NAMES: u32 = 12;
/// How often a file was written before it counts: less is what a program does that saves from time to time.
const WRITTEN: u64 = 20;
/// Share of those after which it was read, removed or renamed to something else, from which on it was needed each time.
const NEEDED: f64 = 0.1;
/// It has about the same contents if its size differs by at most this share from the time before, in this share of the cases: a state gains or loses
/// little at a time, while texts, pictures or results of separate inputs differ by more than a quarter in most pairs.
const SIZE: f64 = 0.25;
const SAME_SIZE: f64 = 0.75;
/// A time that took so many times the median was a longer one, or several of which not all calls are known.
const LONG: f64 = 3.0;
/// Share of the opens that must come from one function, and of the writing that must be done under it.
const MOST: f64 = 0.5;
/// Openings of temporary files for one rename: one, but for some that failed or stood for something else.
const TEMPORARY: std::ops::RangeInclusive<f64> = 0.8..=1.25;
/// Share of the openings of a relative name that may be of files which had not been seen under it: in another folder each is another file, while
/// a file system uses the place of a file that was replaced again.
const OTHERS: f64 = 0.5;
/// From this share of the cost on that is waiting, it is elapsed time that would be saved: with less, what the CPU does is the greater part by far.
const WAITING: f64 = 0.25;
/// … unless other threads use CPUs for this share of the waits: then other work goes on meanwhile.
const BUSY: f64 = 0.5;
/// Samples before they count: fewer are off by more than a third, by chance.
const SEEN: usize = 9;

/// From being emptied to being closed.
#[derive(Clone, Copy)]
struct Span {
    thread: u32,
    from: u64,
    to: u64,
    bytes: u64,
}

/// What happened to one name.
#[derive(Default)]
struct Name {
    /// Opens that emptied it, and renames to it, by the function that asks.
    emptied: BTreeMap<Option<u32>, Sum>,
    replaced: u64,
    all: Sum,
    by: BTreeMap<Option<u32>, Sum>,
    writes: Sum,
    unlinked: u64,
    /// Reads where it was opened to be read as well when it was emptied.
    read_back: u64,
    threads: BTreeSet<u32>,
    /// Openings that emptied it and were recorded by themselves, and the inodes that they were of.
    known: usize,
    inodes: BTreeSet<u64>,
    /// When each call was recorded by itself: thread, from, to.
    intervals: Vec<(u32, u64, u64)>,
    spans: Vec<Span>,
    open: Option<Span>,
    both_ways: bool,
}

impl Name {
    fn add(&mut self, row: &Syscall, by: Option<u32>, inode: u64) {
        self.all.add(row);
        self.by.entry(by).or_default().add(row);
        let alone = is_single(row);
        if alone {
            self.intervals.push((row.thread, row.time_ns, row.end_ns));
        }
        if is_emptying_open(row) {
            self.emptied.entry(by).or_default().add(row);
            self.threads.insert(row.thread);
            self.both_ways |= row.number != CREAT && row.argument & ACCESS_MODE == BOTH_WAYS;
            self.open = Some(Span { thread: row.thread, from: row.end_ns, to: row.end_ns, bytes: 0 });
            if alone {
                self.known += 1;
                self.inodes.insert(inode);
            }
        } else if RENAMES.contains(&row.number) {
            self.replaced += row.count;
        } else if UNLINKS.contains(&row.number) {
            self.unlinked += row.count;
        } else if WRITES.contains(&row.number) || WRITES_AT.contains(&row.number) {
            self.writes.add(row);
            if let Some(open) = &mut self.open {
                open.bytes = open.bytes.saturating_add(row.bytes);
            }
        } else if READS.contains(&row.number) || READS_AT.contains(&row.number) {
            self.read_back += row.count;
        } else if row.number == CLOSE
            && let Some(open) = self.open.take()
            && open.thread == row.thread
        {
            self.spans.push(Span { to: row.time_ns.max(open.from), ..open });
        }
        if !alone {
            self.open = None;
        }
    }

    /// Adds what happened to another name.
    fn join(&mut self, other: &Name) {
        for (to, of) in [(&mut self.emptied, &other.emptied), (&mut self.by, &other.by)] {
            of.iter().for_each(|(by, sum)| to.entry(*by).or_default().join(sum));
        }
        self.all.join(&other.all);
        self.writes.join(&other.writes);
        self.unlinked += other.unlinked;
        self.read_back += if other.both_ways { other.read_back } else { 0 };
        self.threads.extend(&other.threads);
        self.known += other.known;
        self.inodes.extend(&other.inodes);
        self.intervals.extend(&other.intervals);
        self.spans.extend(&other.spans);
    }

    fn times(&self) -> u64 {
        self.emptied.values().map(|sum| sum.count).sum()
    }

    /// Those that are whole, in order of time: where calls are many, only bursts of them are recorded by themselves, and a span over two bursts lacks
    /// what was between.
    fn whole(&self) -> Vec<Span> {
        let took: Vec<f64> = self.spans.iter().map(|span| (span.to - span.from) as f64).collect();
        let longest = LONG * median(&took).unwrap_or(0.0);
        let whole = self.spans.iter().filter(|span| (span.to - span.from) as f64 <= longest);
        let mut whole: Vec<Span> = whole.copied().collect();
        whole.sort_unstable_by_key(|span| span.from);
        whole
    }

    /// Whether about as much was written each time.
    fn has_same_contents(&self) -> bool {
        let sizes: Vec<u64> = self.whole().iter().map(|span| span.bytes).collect();
        let alike = |pair: &[u64]| {
            let (less, more) = (pair[0].min(pair[1]), pair[0].max(pair[1]));
            less as f64 >= (1.0 - SIZE) * more as f64
        };
        let pairs = sizes.len().saturating_sub(1);
        let same = sizes.windows(2).filter(|pair| alike(pair)).count();
        self.writes.bytes > 0 && pairs as u64 >= WRITTEN / 2 && same as f64 >= SAME_SIZE * pairs as f64
    }
}

/// A file was opened to be read, or to be read and written on.
fn reads(row: &Syscall) -> bool {
    is_read_open(row) || is_writing_open(row) && row.argument & ACCESS_MODE == BOTH_WAYS
}
const ACCESS_MODE: u64 = 0o3;
const BOTH_WAYS: u64 = 0o2;

fn folder(path: &str) -> &str {
    path.rsplit_once('/').map_or("", |(folder, _)| folder)
}

fn base(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

/// The names of one process.
#[derive(Default)]
struct Names<'a> {
    all: BTreeMap<&'a str, Name>,
    /// Those that were emptied, by folder.
    emptied: BTreeMap<&'a str, Vec<&'a str>>,
    /// Renames to names that were replaced now and then only: files that were kept.
    kept: u64,
    /// Folders with a name that was replaced again and again: what is emptied there is on its way to it.
    replaced: BTreeSet<&'a str>,
}

fn find(evidence: &Evidence<'_>) -> Vec<Candidate> {
    let format = evidence.recording.about.format;
    if (format.major, format.minor) < (1, NEW_NAMES) {
        return Vec::new();
    }
    let calls = Calls::new(evidence);
    // Of a hundred thousand processes few write the same again: what happened to the files of the others is not kept.
    let mut written: HashMap<u32, u64> = HashMap::new();
    for (row, process) in calls.all().filter(|(row, _)| row.result >= 0) {
        if is_emptying_open(row) || RENAMES.contains(&row.number) {
            *written.entry(process).or_default() += row.count;
        }
    }
    written.retain(|_, times| *times >= WRITTEN);
    if written.is_empty() {
        return Vec::new();
    }
    let mut processes: BTreeMap<u32, Names<'_>> = BTreeMap::new();
    // How often a file of this name was opened to be read, by anybody: in which folder, is not always known.
    let mut read: HashMap<&str, u64> = HashMap::new();
    for (row, process) in calls.all().filter(|(row, _)| row.result >= 0) {
        let Some(file) = calls.file(row).filter(|file| !file.path.is_empty()) else { continue };
        let is_file = file.kind == "file" || file.kind == "path";
        if !is_file || ["/dev/", "/proc/", "/sys/"].iter().any(|of| file.path.starts_with(of)) {
            continue;
        }
        if written.contains_key(&process) {
            let names = processes.entry(process).or_default();
            names.all.entry(&file.path).or_default().add(row, calls.asks(row), file.inode);
        }
        if reads(row) {
            *read.entry(base(&file.path)).or_default() += row.count;
        }
    }
    let mut findings = Vec::new();
    for (process, names) in &mut processes {
        for (path, name) in &names.all {
            if !name.emptied.is_empty() {
                names.emptied.entry(folder(path)).or_default().push(path);
            }
            if name.replaced < WRITTEN {
                names.kept += name.replaced;
            } else {
                names.replaced.insert(folder(path));
            }
        }
        for (path, name) in names.all.iter().filter(|(_, name)| name.times() + name.replaced >= WRITTEN) {
            let Some((written, temporary)) = rewritten(path, name, names) else { continue };
            let times = written.times() as f64;
            let relative = !path.starts_with('/');
            if relative && written.inodes.len() as f64 > OTHERS * written.known as f64 {
                continue;
            }
            let of = |path: &str| read.get(base(path)).copied().unwrap_or(0);
            let opened = of(path) + temporary.iter().map(|path| of(path)).sum::<u64>();
            let needed = opened + written.unlinked + written.read_back + names.kept;
            if (written.times() < WRITTEN || needed as f64 > NEEDED * times) || !written.has_same_contents() {
                continue;
            }
            findings.extend(finding(evidence, &calls, *process, (path, &temporary, opened), &written));
        }
    }
    findings
}

/// All that was done to write the file of this name again and again, with the names of temporary files that were renamed to it.
fn rewritten(path: &str, name: &Name, names: &Names<'_>) -> Option<(Name, Vec<String>)> {
    let mut written = Name::default();
    written.join(name);
    if name.replaced < WRITTEN {
        return (!names.replaced.contains(folder(path))).then_some((written, Vec::new()));
    }
    let beside = names.emptied.get(folder(path)).map(Vec::as_slice).unwrap_or_default();
    let temporary: Vec<String> =
        beside.iter().filter(|other| **other != path).map(|path| (*path).to_owned()).collect();
    temporary.iter().filter_map(|path| names.all.get(path.as_str())).for_each(|other| written.join(other));
    let opened = written.times() as f64 / name.replaced as f64;
    (TEMPORARY.contains(&opened) && !temporary.is_empty()).then_some((written, temporary))
}

fn finding(
    evidence: &Evidence<'_>,
    calls: &Calls<'_>,
    process: u32,
    (path, temporary, opened): (&str, &[String], u64),
    written: &Name,
) -> Option<Candidate> {
    let times = written.times();
    let (own, sum) = written.emptied.iter().max_by_key(|(_, sum)| sum.count)?;
    if (sum.count as f64) < MOST * times as f64 || !is_written_there(evidence, *own, &written.writes) {
        return None;
    }
    let kernel = written.all.working_ns();
    let through_library = own.map_or(0.0, |own| calls.sampled_ns(process, own, &written.by[&Some(own)]));
    let cpu = (kernel + while_open(evidence, calls, written)).max(through_library).min(evidence.cpu_ns);
    let waited = written.all.blocked_ns;
    let waits = written.threads.len() == 1
        && waited >= WAITING * (cpu + waited)
        && calls.busy_share(&written.intervals) < BUSY;
    let (basis, cost, gate) = match waits {
        true => (Basis::Wall, cpu + waited, Gate::TENTH_OF_WALL),
        false => (Basis::Cpu, cpu, Gate::TENTH_OF_CPU),
    };
    let gain = cost * (1.0 - 1.0 / times as f64);
    if !gate.may_pass(evidence, gain) {
        return None;
    }
    let stack = sum.stack();
    let each = written.writes.bytes as f64 / times as f64;
    let through = match temporary {
        [] => String::new(),
        names => format!(" by renaming {} to it", some(names, 1)),
    };
    let read = match opened {
        0 => "nobody opened it to read it in between".to_owned(),
        opened => format!("it was opened to be read {}", often(opened as f64)),
    };
    let mut explanation = vec![
        format!(
            "{path} was written {} times{}{through}, with {} bytes each time on average; {read}",
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
            fact("bytes written", written.writes.bytes as f64, "bytes", Sure::Exact),
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
            place(evidence, stack, *own, process),
        )
    };
    Some(draft.candidate(evidence, gate, process))
}

/// Whether the function that opens the file also writes most of it, by itself or by what it calls: a log that is emptied now and then is
/// written to by others.
fn is_written_there(evidence: &Evidence<'_>, own: Option<u32>, writes: &Sum) -> bool {
    let Some(own) = own else { return true };
    let on = evidence.stacks_with(|function| function == own);
    let (here, all) = writes.times_by_stack().fold((0.0, 0.0), |(here, all), (stack, ns)| {
        (here + if on[stack as usize] { ns } else { 0.0 }, all + ns)
    });
    here >= MOST * all
}

/// CPU time in user code from the moment at which the file is emptied until it is closed, ns, over all times: what makes the contents, as far as that is done
/// while they are written. Of the times that are known whole, and from these for all.
fn while_open(evidence: &Evidence<'_>, calls: &Calls<'_>, written: &Name) -> f64 {
    if evidence.by_ptrace {
        return 0.0; // samples there are of its stops as well
    }
    let spans: Vec<(u32, u64, u64)> =
        written.whole().iter().map(|span| (span.thread, span.from, span.to)).collect();
    let (user, seen) = calls.user_ns(&spans);
    if seen < SEEN { 0.0 } else { user / spans.len() as f64 * written.times() as f64 }
}
