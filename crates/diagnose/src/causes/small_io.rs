//! Bytes are moved a few at a time: one write a line, one read a byte, where a buffer would do.
//!
//! Terminals and writes to sockets are left out, but for `sends`: there a small message may be wanted at once. Reads from sockets count where more was
//! there already. A file in which the program seeks about, or reads here and there (pread), is left out, unless it stays where a block
//! would hold it all. The cost is the time in the kernel, so that many calls which cost nothing are none.

mod seeks;
mod sends;

use seeks::{KNOWN, Seeks, are_near};

use super::runtime::Language;
use super::words::{count, time};
use super::{Find, Needs, Spec};
use crate::Evidence;
use crate::calls::{Calls, Sum, fact, from, is_receive, place, some};
use crate::candidate::Candidate;
use crate::draft::Draft;
use crate::findings::{Basis, Confidence, Cost, Sure};
use crate::gate::{Gate, Whole};
use slowpath_recording::tables::{File, Syscall};
use slowpath_syscalls::{LSEEK, READS, READS_AT, RECEIVES, WRITES, WRITES_AT};
use std::collections::{BTreeMap, BTreeSet};

/// See the file's head.
pub(super) const CAUSE: Spec = Spec {
    slug: "small-io",
    title: "tiny writes, tiny reads",
    symptom: "a few bytes per call",
    not_known: "whether the other end needs each piece at once",
    page: include_str!("../../../../docs/causes/small-io.md"),
    needs: &[Needs::Transfers],
    find: Find::InRecording(find),
};

/// Calls on one file from one place before they count, and the most bytes a call on average.
const CALLS: u64 = 1_000;
const BYTES: f64 = 512.0;
/// … of a regular file: half a page, the least that buffers of standard libraries hold. On ext4 a write of 2,048 bytes took 2.7 µs and a read 1.0, of
/// which the same bytes in blocks take a quarter.
const BYTES_OF_FILE: f64 = 2_048.0;
/// What a byte takes in blocks of 64 KiB, ns, where the kernel keeps it in memory: of a read (0.12 on ext4, 0.23 on tmpfs), of a write (0.30, 0.38).
const READ_NS: f64 = 0.15;
const WRITTEN_NS: f64 = 0.3;
/// What one call could move.
const BLOCK: f64 = 65_536.0;
/// A read of this share of its file's size is none of a few bytes.
const WHOLE: f64 = 0.1;
/// Devices that take and give one message a call.
const BY_MESSAGE: [&str; 7] =
    ["/dev/fuse", "/dev/net/", "/dev/input/", "/dev/snd/", "/dev/dri/", "/dev/kvm", "/dev/vhost"];
/// Reads that fill this share of what they ask for are limited by it. Lines of text fill buffers for lines by half or less.
const FILLED: f64 = 0.5;
/// Of a socket: the most bytes that a read asks for. Heads of messages, which tell how long the rest is, have so many at most. …
const OF_SOCKET: u64 = 64;
/// … So much of what is asked for must come, …
const ALL_OF_IT: f64 = 0.9;
/// … without waiting: waking takes 5 µs (a byte there and back between two processes takes 10), so at most one read of five sleeps. …
const ASLEEP_NS: f64 = 1_000.0;
/// … And this share of all that comes in must come so: else the rest of each message is read as a whole.
const MOST: f64 = 0.5;
const RANDOM: u32 = 318;
/// Seeks for each call from which it is no sequence, but where they stay near.
const SEEKS: f64 = 0.1;
/// What the library's functions take besides is reported from this ratio on.
const TOLD: f64 = 1.1;
/// What seeks take is said from this share of the cost on.
const WORTH_A_WORD: f64 = 0.05;
/// Blocks for so many times as many bytes hold others as well.
const SPREAD: f64 = 2.0;
/// A program that mostly waits loses little by CPU time alone.
const GATE: Gate = Gate { of: Whole::Longer, ..Gate::TWENTIETH_OF_CPU };

fn find(evidence: &Evidence<'_>) -> Vec<Candidate> {
    let calls = Calls::new(evidence);
    // With the most bytes that a read asked for.
    let mut sums: BTreeMap<(Site, u32), (Sum, u64)> = BTreeMap::new();
    let mut seeks: BTreeMap<(u32, u32), Seeks> = BTreeMap::new();
    let mut seeking: BTreeMap<(u32, u32), f64> = BTreeMap::new();
    // Calls that say themselves where in the file.
    let mut placed: BTreeMap<(Site, u32), Seeks> = BTreeMap::new();
    let mut random: BTreeMap<Site, Sum> = BTreeMap::new();
    let mut sockets = Sockets::default();
    for (row, process) in calls.all() {
        if row.number == RANDOM && row.result >= 0 {
            let site = Site { process, own: calls.own(row), writes: false };
            random.entry(site).or_default().add(row);
        }
        let Some(file) = calls.file(row) else { continue };
        if file.kind == "socket" && row.result >= 0 {
            sockets.add(row, Site { process, own: calls.own(row), writes: false }, file);
        }
        // A pipe refuses to be sought in, and a shell asks it before each line.
        if row.number == LSEEK && row.result >= 0 {
            seeks.entry((process, file.file)).or_default().add(row, row.result, false);
            *seeking.entry((process, file.file)).or_default() +=
                row.duration_ns.saturating_sub(row.blocked_ns) as f64;
        }
        let (reads_at, writes_at) = (READS_AT.contains(&row.number), WRITES_AT.contains(&row.number));
        let reads = reads_at || READS.contains(&row.number);
        let writes = writes_at || WRITES.contains(&row.number);
        if file.kind == "device" && BY_MESSAGE.iter().any(|folder| file.path.starts_with(folder)) {
            continue;
        }
        if !(reads || writes) || row.result < 0 || !matches!(file.kind.as_str(), "file" | "pipe" | "device") {
            continue;
        }
        let site = Site { process, own: calls.own(row), writes };
        let (sum, asked) = sums.entry((site, file.file)).or_default();
        sum.add(row);
        if row.number == READS[0] {
            *asked = row.argument.max(*asked);
        }
        if reads_at || writes_at {
            placed.entry((site, file.file)).or_default().add(row, row.argument as i64, writes_at);
        }
    }
    // Each file is judged by itself; what one place does with several of them is fixed there. Of which few seeks are known, those are judged together.
    let mut together: BTreeMap<Site, (u64, u64)> = BTreeMap::new();
    for (site, file) in sums.keys() {
        if let Some(seeks) = seeks.get(&(site.process, *file)) {
            let (known, near) = together.entry(*site).or_default();
            (*known, *near) = (*known + seeks.known, *near + seeks.near.len() as u64);
        }
    }
    let mut sites: BTreeMap<Site, Tiny> = BTreeMap::new();
    let mut seen: BTreeSet<(u32, u32)> = BTreeSet::new();
    for ((site, file), (sum, asked)) in sums {
        let places = placed.get(&(site, file));
        if places.is_some_and(|places| !places.stay_near()) {
            continue;
        }
        let seeks = seeks.get(&(site.process, file));
        let sought = seeks.map_or(0, |seeks| seeks.count) as f64;
        let of_all = together.get(&site).is_some_and(|(known, near)| are_near(*known, *near));
        let stay = |seeks: &Seeks| seeks.stay_near() || seeks.known < KNOWN && of_all;
        let near = seeks.filter(|seeks| !site.writes && sought > 0.0 && stay(seeks));
        let between = (site.process, file);
        let file = &evidence.recording.tables.files[file as usize];
        if is_tiny(&sum, asked, file, site.writes) && (sought <= SEEKS * sum.count as f64 || near.is_some()) {
            let gone = near.or(places).map_or(0.0, Seeks::distance);
            let tiny = sites.entry(site).or_default();
            tiny.add(&sum, file, site.writes, gone);
            if near.is_some() && seen.insert(between) {
                tiny.seeking_ns += seeking.get(&between).copied().unwrap_or(0.0);
            }
        }
    }
    for (site, sum) in random {
        if sum.count >= CALLS && sum.bytes as f64 <= BYTES * sum.count as f64 {
            sites.entry(site).or_default().add_named(&sum, ["the kernel's random numbers".to_owned()], 0.0);
        }
    }
    for (site, sum, connections) in sends::tiny(evidence, &calls) {
        let tiny = sites.entry(site).or_default();
        (tiny.unsure, tiny.sends) = (true, true);
        let name =
            if connections == 1 { "a connection".to_owned() } else { format!("{connections} connections") };
        tiny.add_named(&sum, [name], 0.0);
    }
    for (site, of) in sockets.tiny() {
        // While a tracer by ptrace stops one side the other one sends: reads that would have waited do not. But the threads were seldom stopped.
        if evidence.by_ptrace
            && !off_cpu_ns(evidence, &of.threads).is_some_and(|ns| ns <= ASLEEP_NS * of.sum.count as f64)
        {
            continue;
        }
        let tiny = sites.entry(site).or_default();
        tiny.unsure = true;
        tiny.add_named(&of.sum, of.names.iter().cloned(), 0.0);
    }
    sites.into_iter().filter_map(|(site, tiny)| candidate(evidence, &calls, site, tiny)).collect()
}

/// What is read from sockets, from each place: a server has a new socket for each that asks.
#[derive(Default)]
struct Sockets {
    places: BTreeMap<Site, OfSocket>,
    /// Bytes received on each socket of a process.
    received: BTreeMap<(u32, u32), u64>,
}

#[derive(Default)]
struct OfSocket {
    /// Reads that asked for little and got it.
    sum: Sum,
    threads: BTreeSet<u32>,
    names: BTreeSet<String>,
    files: BTreeSet<u32>,
}

/// Elapsed time in which threads did not run, ns: at most so long they waited. None if it is not known how long they ran.
fn off_cpu_ns(evidence: &Evidence<'_>, threads: &BTreeSet<u32>) -> Option<f64> {
    let tables = &evidence.recording.tables;
    let of = |thread: &u32| {
        let row = &tables.threads[*thread as usize];
        let about = &evidence.recording.about;
        let end = row.end_ns.unwrap_or(about.start_ns + about.wall_ns);
        let lived = end.saturating_sub(row.start_ns);
        Some(lived.saturating_sub(row.cpu_ns?) as f64)
    };
    threads.iter().map(of).sum()
}

impl Sockets {
    fn add(&mut self, row: &Syscall, site: Site, file: &File) {
        if !is_receive(row) {
            return;
        }
        *self.received.entry((site.process, file.file)).or_default() += row.bytes;
        // One place may read heads and bodies, by a byte and by larger pieces. Calls that were added up have the size of the first.
        let asked = row.argument.saturating_mul(row.count);
        let got = row.bytes <= asked && row.bytes as f64 >= ALL_OF_IT * asked as f64;
        if [READS[0], RECEIVES[0]].contains(&row.number) && (1..=OF_SOCKET).contains(&row.argument) && got {
            let place = self.places.entry(site).or_default();
            place.sum.add(row);
            place.threads.insert(row.thread);
            place.files.insert(file.file);
            place.names.insert(if file.path.is_empty() { "a socket".to_owned() } else { file.path.clone() });
        }
    }

    /// The places that read less than is there, again and again.
    fn tiny(&self) -> impl Iterator<Item = (Site, &OfSocket)> {
        self.places.iter().map(|(site, of)| (*site, of)).filter(|(site, of)| {
            let received: u64 = of.files.iter().map(|file| self.received[&(site.process, *file)]).sum();
            let calls = of.sum.count as f64;
            of.sum.count >= CALLS
                && of.sum.blocked_ns <= ASLEEP_NS * calls
                && of.sum.bytes as f64 >= MOST * received as f64
        })
    }
}

/// Where small pieces are moved, and which way.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Site {
    process: u32,
    own: Option<u32>,
    writes: bool,
}

/// Small pieces moved at one site.
#[derive(Default)]
struct Tiny {
    sum: Sum,
    /// Calls that would do in blocks, and what moving the bytes takes then, ns.
    needed: f64,
    moved_ns: f64,
    /// What the seeks between them take, which a buffer makes needless as well, ns.
    seeking_ns: f64,
    /// What it is moved to or from.
    names: Vec<String>,
    /// What is at the other end may want each piece at once.
    unsure: bool,
    /// It is sent on a connection.
    sends: bool,
}

impl Tiny {
    /// `gone`: bytes that seeks went, from which blocks must be read as well.
    fn add(&mut self, sum: &Sum, file: &File, writes: bool, gone: f64) {
        self.unsure |= file.kind == "pipe";
        if file.kind == "file" {
            self.moved_ns += sum.bytes as f64 * if writes { WRITTEN_NS } else { READ_NS };
        }
        let name = match (file.path.as_str(), file.kind.as_str()) {
            ("", "file") => "a file".to_owned(),
            ("", kind) => format!("a {kind}"),
            (path, _) => path.to_owned(),
        };
        self.add_named(sum, [name], gone);
    }

    fn add_named(&mut self, sum: &Sum, names: impl IntoIterator<Item = String>, gone: f64) {
        self.sum.join(sum);
        let needed = (gone.max(sum.bytes as f64) / BLOCK).ceil();
        self.needed += needed.clamp(1.0, sum.count.max(1) as f64);
        for name in names {
            if !self.names.contains(&name) {
                self.names.push(name);
            }
        }
    }
}

/// Whether a file is read or written in small pieces, and often.
fn is_tiny(sum: &Sum, asked: u64, file: &File, writes: bool) -> bool {
    let average = sum.bytes as f64 / sum.count.max(1) as f64;
    // A small file that is read whole takes small reads.
    let whole = !writes && file.size > 0 && average >= WHOLE * file.size as f64;
    // Who gets less from a pipe than was asked for has all that is there: a larger buffer would not fill.
    let less = !writes && average < FILLED * asked as f64;
    // … and of a file all that was added to it since, if it is not little.
    let short = less && (file.kind == "pipe" || average > BYTES);
    let most = if file.kind == "file" { BYTES_OF_FILE } else { BYTES };
    sum.count >= CALLS && average <= most && sum.bytes > 0 && !whole && !short
}

/// With what names of functions begin that only pass bytes on: of Go's, Rust's, C's and C++'s libraries. Others may compress, encrypt or format.
const PASS_ON: [&str; 37] = [
    "os.",
    "io.(*LimitedReader)",
    "io.(*SectionReader)",
    "io.ReadAtLeast",
    "io.ReadFull",
    "io.WriteString",
    "syscall.",
    "internal/poll.",
    "internal/syscall",
    "internal/runtime/syscall",
    "<std::fs::File",
    "<&std::fs::File",
    "std::fs::File",
    "<std::io::stdio",
    "std::io::Write::write_all",
    "std::sys",
    "<std::sys",
    "_IO_",
    "new_do_write",
    "write",
    "read",
    "pwrite",
    "pread",
    "fwrite",
    "fread",
    "fputs",
    "fputc",
    "fflush",
    "std::ostream::flush",
    "std::basic_filebuf",
    "recv",
    "send",
    "<std::net::",
    "<&std::net::",
    "std::net::",
    "net.(*conn)",
    "net.(*netFD)",
];
/// … and what they are called of which the program buffers by other means than these languages'.
const STDIO: [&str; 5] = ["_IO_", "fwrite", "fputs", "fputc", "fflush"];
const STREAMS: [&str; 3] = ["ostream", "filebuf", "endl"];
/// At most so many times what the calls take: it was 1.6 times where Go read 2 bytes each, and 1.4 where it wrote.
const WRAPPERS: f64 = 3.0;

/// The functions between the program's own and the system call, of one stack.
fn behind<'a>(evidence: &'a Evidence<'_>, stack: u32, own: u32) -> impl Iterator<Item = &'a str> {
    let inner = evidence.locations(stack).filter_map(|location| evidence.function_at(location));
    inner.take_while(move |function| *function != own).map(|function| evidence.name(function))
}

/// CPU time of the calls with the library's functions that do nothing but make them, ns.
fn with_wrappers(evidence: &Evidence<'_>, calls: &Calls<'_>, site: Site, sum: &Sum) -> f64 {
    let kernel = sum.working_ns();
    let Some(own) = site.own else { return kernel };
    let passes_on = |name: &str| {
        let name = name.trim_start_matches("__").trim_start_matches("libc_");
        PASS_ON.iter().any(|start| name.starts_with(start)) && !name.contains("print")
    };
    if sum.stacks().any(|stack| !behind(evidence, stack, own).all(passes_on)) {
        return kernel;
    }
    kernel.max(calls.sampled_ns(site.process, own, sum)).min(WRAPPERS * kernel)
}

/// How output is buffered by the means of the language, as far as these are used; empty if they are not.
fn buffered(evidence: &Evidence<'_>, own: Option<u32>, stack: Option<u32>) -> &'static str {
    let (Some(own), Some(stack)) = (own, stack) else { return "" };
    if evidence.script_on(&evidence.path_at(stack, own)).is_some() {
        return "";
    }
    let uses = |parts: &[&str]| {
        behind(evidence, stack, own).any(|name| parts.iter().any(|part| name.contains(part)))
    };
    match Language::of(evidence.name(own)) {
        Language::Go => " (bufio.Writer)",
        Language::Rust => " (std::io::BufWriter)",
        Language::C | Language::Cpp if uses(&STREAMS) => " (no std::endl, no flush after each line)",
        Language::C | Language::Cpp if uses(&STDIO) => " (setvbuf; no fflush after each line)",
        Language::C | Language::Cpp => "",
    }
}

fn candidate(evidence: &Evidence<'_>, calls: &Calls<'_>, site: Site, tiny: Tiny) -> Option<Candidate> {
    let Tiny { sum, needed, moved_ns, seeking_ns, names, unsure, sends } = tiny;
    let kernel = sum.working_ns();
    let saved = |cost: f64| ((cost - moved_ns) * (1.0 - needed / sum.count as f64)).max(0.0);
    if !GATE.may_pass(evidence, saved(kernel)) {
        return None;
    }
    // Whether it is worth telling is judged by what was measured of the calls alone.
    let worth = GATE.passes(evidence, saved(kernel));
    let around = if worth { with_wrappers(evidence, calls, site, &sum) } else { kernel };
    let (cost, gain) = (around + seeking_ns, saved(around) + seeking_ns);
    let average = sum.bytes as f64 / sum.count as f64;
    let (title, verb, way) = match (site.writes, average > BYTES) {
        (true, false) => ("tiny writes", "writes", "to"),
        (true, true) => ("small writes", "writes", "to"),
        (false, false) => ("tiny reads", "reads", "from"),
        (false, true) => ("small reads", "reads", "from"),
    };
    let confidence = if unsure { Confidence::Likely } else { Confidence::Certain };
    let stack = sum.stack();
    let buffer = buffered(evidence, site.own, stack);
    let buffer = if site.writes || buffer.contains("Writer") { buffer } else { "" };
    let sought = seeking_ns > WORTH_A_WORD * cost;
    let seeks =
        || format!("the seeks between them took {}; they go no further than such a block", time(seeking_ns));
    let draft = Draft {
        variant: verb,
        explanation: [
            format!(
                "{} {verb} {way} {}{}, {} bytes each on average",
                count(sum.count as f64),
                some(&names, 3),
                from(evidence, stack, site.own),
                if average >= 10.0 { count(average) } else { format!("{average:.1}") }
            ),
            format!(
                "this took {} in the kernel{}; in blocks of 64 KiB, {} {verb} are enough for these {} bytes{}",
                time(kernel),
                if around > TOLD * kernel {
                    format!(", and {} with the library's functions around it", time(around))
                } else {
                    String::new()
                },
                count(needed),
                count(sum.bytes as f64),
                if needed * BLOCK > SPREAD * (sum.bytes as f64 + BLOCK) {
                    " and what lies between them"
                } else {
                    ""
                }
            ),
        ]
        .into_iter()
        .chain(sought.then(seeks))
        .collect(),
        facts: vec![
            fact("calls", sum.count as f64, "calls", Sure::Exact),
            fact("bytes a call", average, "bytes", Sure::Exact),
            fact("bytes in all", sum.bytes as f64, "bytes", Sure::Exact),
            fact("time in the kernel", kernel, "ns", Sure::Exact),
            fact("calls needed in blocks of 64 KiB", needed, "calls", Sure::Fitted),
        ],
        files: evidence.concerned(names).into_iter().filter(|file| !file.ids.is_empty()).collect(),
        advice: if sends {
            format!(
                "Collect the pieces and send them with one call: a buffer{buffer}, flushed when it is full and whenever the program has nothing more to \
                 send, or writev (or MSG_MORE) for the head and the body of a message. Not if the other end needs each piece at once"
            )
        } else if site.writes && average > BYTES {
            "Write larger blocks: collect the pieces in a buffer of 64 KiB and write it when it is full, or write several with one writev".to_owned()
        } else if site.writes {
            format!("Buffer the output and write it when the buffer is full{buffer}")
        } else if sought {
            "Read the whole range that is looked through into memory at once, and search it there. A buffered reader does not help where the seeks go back: it \
             fills its buffer again for each"
                .to_owned()
        } else {
            format!("Read through a buffer of several KiB{}", buffer.replace("Writer", "Reader"))
        },
        ..Draft::new(
            &CAUSE,
            title,
            confidence,
            Cost::new(Basis::Cpu, cost, gain),
            place(evidence, stack, site.own, site.process),
        )
    };
    Some(draft.candidate(evidence, GATE, site.process))
}
