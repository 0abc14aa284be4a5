//! One unchanged file is opened, read and closed again and again from one place, asked for its state, or rewound; or one is opened
//! again for each write; or each of many paths is asked about twice in a row.
//!
//! A file is the same if device, inode, size and modification time are. What the kernel makes up as it is read (`/proc`)
//! is one only where it is a fact that hardly changes, and is read faster than anybody looks for changes. Each process counts for itself: that every program reads its
//! libraries is no fault of its parent's.

use super::words::{count, time};
use super::{Find, Needs, Spec};
use crate::Evidence;
use crate::calls::{CallSite, Calls, Sum, fact, from, is_met, is_read_open, is_writing_open, some};
use crate::candidate::Candidate;
use crate::draft::Draft;
use crate::findings::{Basis, Confidence, Cost, Sure};
use crate::gate::Gate;
use slowpath_recording::tables::{File, Syscall};
use slowpath_stats::median;
use slowpath_syscalls::CLOSE;
use std::collections::{BTreeMap, BTreeSet};

mod asked;
mod processed;
mod rewound;
mod twice;

use processed::Again;

/// See the file's head.
pub(super) const CAUSE: Spec = Spec {
    slug: "redundant-file-access",
    title: "the same file is read again and again",
    symptom: "open, read and close of one unchanged file from one call site; the same path looked up",
    not_known: "whether the program must notice at once if the files change",
    page: include_str!("../../../../docs/causes/redundant-file-access.md"),
    needs: &[Needs::Syscalls],
    find: Find::InRecording(find),
};

/// Opens of one file, or questions about one path, from one place before they count.
const OPENED: u64 = 20;
const ASKED: u64 = 100;
/// … or of so many files, each so often on average: to go over files twice, as to check them first, is usual.
const FILES: usize = 20;
const SEVERAL: u64 = 3;
/// How often in a second a file must be opened that the kernel makes up: whoever watches one for changes looks some ten times a second, and sleeps in between.
const PACE: f64 = 200.0;
/// … and what such files say that stays as it is: of a process how it was started, of a machine and its kernel what they are. What counts or measures something is looked at
/// because it changes.
const OF_PROCESS: [&str; 8] =
    ["comm", "cmdline", "environ", "cgroup", "auxv", "limits", "mounts", "mountinfo"];
const OF_SYSTEM: [&str; 9] = [
    "/proc/cpuinfo",
    "/proc/cmdline",
    "/proc/devices",
    "/proc/filesystems",
    "/proc/mounts",
    "/proc/version",
    "/proc/sys/kernel/hostname",
    "/proc/sys/kernel/osrelease",
    "/sys/devices/system/cpu/",
];
/// … but for what a processor does now.
const CHANGES: [&str; 2] = ["freq", "stat"];
/// Share of a file that is as good as all of it; and of the opens recorded one by one that must be such readings for their time
/// to count.
const WHOLE: f64 = 0.8;
const MATCHED: f64 = 0.5;
/// Samples between open and close before they count: fewer are off by more than a third, by chance.
const SEEN: usize = 9;
/// Share of a file's opens that is as good as all of them.
const NEARLY_ALL: f64 = 0.9;
const GATE: Gate = Gate::TWENTIETH_OF_CPU;
/// Share of the opens that come while another such file is open, from which on the program goes from file to file. Where each is read by itself there is
/// none; of a compiler's headers nearly all are opened so.
const NESTED: f64 = 0.5;
/// … and what such a program must save: its files belong together, so that it takes more than a cache of one.
const NESTED_GATE: Gate = Gate::TENTH_OF_CPU;

fn find(evidence: &Evidence<'_>) -> Vec<Candidate> {
    let calls = Calls::new(evidence);
    let mut findings = opened(evidence, &calls);
    for mut question in asked::find(evidence, &calls) {
        // Questions beside the reading, from the same place, are signs of the same cause: the one that saves more is reported, with what
        // both save.
        match findings.iter_mut().find(|sign| sign.place == question.place) {
            Some(sign) => {
                if question.candidate.finding.cost.gain() > sign.candidate.finding.cost.gain() {
                    std::mem::swap(sign, &mut question);
                }
                sign.join(evidence, &calls, question);
            }
            None => findings.push(question),
        }
    }
    // Where one path is asked about often, that says more than that it was asked about twice in a row.
    let is_asked = |one: &Sign| {
        let place = |sign: &Sign| (sign.place.0, sign.candidate.finding.place.frame.function_id);
        findings.iter().any(|other| place(other) == place(one))
    };
    let twice: Vec<Sign> = twice::find(evidence, &calls).into_iter().filter(|one| !is_asked(one)).collect();
    findings.extend(twice);
    let mut candidates: Vec<Candidate> = findings.into_iter().map(|sign| sign.candidate).collect();
    candidates.extend(reopened(evidence, &calls).into_iter().map(|(_, candidate)| candidate));
    candidates.extend(rewound::find(evidence, &calls).into_iter().map(|(_, candidate)| candidate));
    candidates
}

/// A sign of the cause in one place, with the calls that it is about.
struct Sign {
    place: CallSite,
    sum: Sum,
    candidate: Candidate,
}

impl Sign {
    /// Adds what another sign in the same place saves; see [`Calls::sampled_ns`] for what surrounds the calls of both.
    fn join(&mut self, evidence: &Evidence<'_>, calls: &Calls<'_>, lesser: Sign) {
        self.sum.join(&lesser.sum);
        let finding = &mut self.candidate.finding;
        let costs = [finding.cost, lesser.candidate.finding.cost];
        let [all, gains] = [|cost: &Cost| cost.amount(), |cost: &Cost| cost.gain()]
            .map(|of| costs.iter().map(|cost| of(cost) as f64).sum::<f64>());
        let (process, own) = self.place;
        let under = own.map_or(0.0, |own| calls.sampled_ns(process, own, &self.sum));
        let cost = all.max(under).min(evidence.cpu_ns);
        let gain = cost * gains / all.max(1.0);
        finding.cost = Cost::new(Basis::Cpu, cost, gain);
        finding.share = cost / evidence.cpu_ns.max(1.0);
        let lesser = lesser.candidate.finding;
        let also = lesser.explanation.into_iter().next().map(|sentence| format!("also {sentence}"));
        finding.explanation.extend(also);
        finding.explanation.push(format!("both together take {}", time(cost)));
        finding.facts.extend(lesser.facts);
    }
}

fn opened(evidence: &Evidence<'_>, calls: &Calls<'_>) -> Vec<Sign> {
    // Opens of each file by place, and from everywhere in the process.
    let mut opens: BTreeMap<(CallSite, u32), u64> = BTreeMap::new();
    let mut all_opens: BTreeMap<(u32, u32), u64> = BTreeMap::new();
    // From when to when one was opened that the kernel makes up.
    let mut spans: BTreeMap<(CallSite, u32), (u64, u64)> = BTreeMap::new();
    for (row, process) in calls.all() {
        let is_one = |file: &&File| file.kind == "file" && file.size > 0 || is_made_up(file);
        let Some(file) = calls.file(row).filter(is_one) else { continue };
        if is_read_open(row) {
            if is_made_up(file) {
                let new = (row.time_ns, row.end_ns);
                let span = spans.entry(((process, calls.own(row)), file.file)).or_insert(new);
                *span = (span.0.min(row.time_ns), span.1.max(row.end_ns));
            }
            *opens.entry(((process, calls.own(row)), file.file)).or_default() += row.count;
            *all_opens.entry((process, file.file)).or_default() += row.count;
        }
    }
    let is_slow = |key: &(CallSite, u32), times: u64| {
        spans.get(key).is_some_and(|(first, last)| times as f64 * 1e9 < PACE * (last - first).max(1) as f64)
    };
    opens.retain(|key, times| !is_slow(key, *times));
    let mut places: BTreeMap<CallSite, Vec<u32>> = BTreeMap::new();
    for ((place, file), times) in &opens {
        if *times >= OPENED {
            places.entry(*place).or_default().push(*file);
        }
    }
    let made_up = |file: u32| is_made_up(&evidence.recording.tables.files[file as usize]);
    let of_disk = opens.iter().filter(|((_, file), _)| !made_up(*file)).map(|(key, times)| (*key, *times));
    for (place, files) in several_times(evidence, &of_disk.collect()) {
        places.entry(place).or_default().extend(files);
    }
    // Each kind by itself.
    let kinds = places.into_iter().flat_map(|(place, files)| {
        let (made, on_disk): (Vec<u32>, Vec<u32>) = files.into_iter().partition(|file| made_up(*file));
        [(place, made), (place, on_disk)]
    });
    let mut findings = Vec::new();
    for (place, files) in kinds.filter(|(_, files)| !files.is_empty()) {
        let (process, own) = place;
        let mut sum = Sum::default();
        let mut times = 0;
        // Where one place opens them, whatever is done with them belongs to it.
        let of_place = calls.all().filter(|(row, of)| {
            let here = |file: &u32| {
                let number = |opens: Option<&u64>| opens.copied().unwrap_or(0) as f64;
                let (own_opens, everywhere) = (opens.get(&(place, *file)), all_opens.get(&(process, *file)));
                files.contains(file)
                    && (calls.own(row) == own || number(own_opens) >= NEARLY_ALL * number(everywhere))
            };
            *of == process && row.file.as_ref().is_some_and(here)
        });
        of_place.for_each(|(row, _)| sum.add(row));
        files.iter().for_each(|file| times += opens[&(place, *file)]);
        let kernel = sum.working_ns();
        // What the program makes of the content is done again as well.
        let (open, gate) = match while_open(evidence, calls, place, &files) {
            Meanwhile::Used(ns) => (ns, GATE),
            Meanwhile::OtherFiles => (0.0, NESTED_GATE),
        };
        // In its windows ptrace makes the program slower than it is subtracted for: it has no more time than it used.
        let most = if evidence.by_ptrace { used_under(evidence, calls, place, &sum) } else { f64::MAX };
        let known = kernel + open.min(most);
        // A library's function that all of this goes through also bears what comes before the open and after the close.
        let under = own.map_or(0.0, |own| calls.sampled_ns(process, own, &sum));
        let known = known.max(under);
        let (begins, reads) = processed::openings(calls, place, &files);
        let (opened, bytes) = (times as f64, sum.bytes);
        let again = Again { process, files: &files, begins, reads, times: opened, known_ns: known, bytes };
        let processed = processed::find(evidence, calls, &again);
        let cost = processed.as_ref().map_or(known, |processed| processed.ns).min(evidence.cpu_ns);
        let gain = cost * (1.0 - files.len() as f64 / times as f64);
        if !gate.may_pass(evidence, gain) {
            continue;
        }
        let mut paths: Vec<String> =
            files.iter().map(|file| evidence.recording.tables.files[*file as usize].path.clone()).collect();
        paths.sort();
        paths.dedup();
        let stack = sum.stack();
        let at = from(evidence, stack, own);
        let made_up = files.iter().any(|file| made_up(*file));
        let mut explanation = vec![format!(
            "{} {} opened {} times{at}, {}",
            some(&paths, 3),
            if paths.len() == 1 { "was" } else { "were" },
            count(times as f64),
            if made_up {
                "too often to be a check for changes. The kernel generates what is in it at each reading, and that rarely changes"
            } else {
                "unchanged each time (same device, inode, size and modification time)"
            }
        )];
        // Before minor version 7 a tracer by ptrace may have seen the opens alone.
        let opens_alone = evidence.by_ptrace && sum.bytes == 0;
        let read =
            if opens_alone { String::new() } else { format!(" and read {} bytes", count(sum.bytes as f64)) };
        explanation.push(format!(
            "{} {} took {} in the kernel{read}{}",
            count(sum.count as f64),
            if opens_alone { "opens of it alone" } else { "system calls on it" },
            time(kernel),
            match &processed {
                Some(of) => format!(
                    "; {}, which reads it and makes hardly any other system calls, took {}",
                    evidence.name(of.function),
                    time(cost)
                ),
                None if cost > 1.05 * kernel =>
                    format!("; {} including the program's own work on it", time(cost)),
                None => String::new(),
            }
        ));
        explanation.push(format!("once is enough: this would save {}", time(gain)));
        let around = processed.as_ref().and_then(|processed| processed.around);
        if let Some((outer, ns)) = around {
            explanation.push(format!(
                "{}, which is called once for each reading and makes hardly any other system calls either, took {} in all: as far as that is work \
                 on the content of the file, it can be spared too",
                evidence.name(outer),
                time(ns)
            ));
        }
        let exact = own.is_some() && processed.is_none() && !made_up;
        let asker = processed.as_ref().map(|processed| processed.function).or(own);
        let candidate = Draft {
            variant: "content",
            gain_is_least: around.is_some(),
            files: evidence.concerned(paths),
            explanation,
            facts: vec![
                fact("opens", times as f64, "calls", Sure::Exact),
                fact("files", files.len() as f64, "files", Sure::Exact),
                fact("system calls", sum.count as f64, "calls", Sure::Exact),
                fact("time in the kernel", kernel, "ns", Sure::Exact),
                fact("time with the program's own work", cost, "ns", Sure::Sampled),
                fact("bytes read", sum.bytes as f64, "bytes", Sure::Exact),
            ],
            advice: "Read it once and cache the contents, or look it up only when the result is used"
                .to_owned(),
            ..Draft::new(
                &CAUSE,
                "the same file is read again and again",
                if exact { Confidence::Certain } else { Confidence::Likely },
                Cost::new(Basis::Cpu, cost, gain),
                crate::calls::place(evidence, stack, asker, process),
            )
        }
        .candidate(evidence, gate, process);
        findings.push(Sign { place, sum, candidate });
    }
    findings
}

/// Whether the kernel makes up what is in the file when it is read, and it is a fact that hardly changes.
fn is_made_up(file: &File) -> bool {
    let name = file.path.rsplit('/').next().unwrap_or_default();
    let of_process = file.path.starts_with("/proc/") && OF_PROCESS.contains(&name);
    let of_system = OF_SYSTEM.iter().any(|of| file.path.starts_with(of))
        && !CHANGES.iter().any(|part| file.path.contains(part));
    file.kind == "pseudo" && (of_process || of_system)
}

/// Files that a place opens a few times each: a program goes over a list of them several times, and forgets what it read. Where calls were traced in windows
/// alone it is not known how often a single file was opened.
fn several_times(
    evidence: &Evidence<'_>,
    opens: &BTreeMap<(CallSite, u32), u64>,
) -> BTreeMap<CallSite, Vec<u32>> {
    let mut places: BTreeMap<CallSite, (Vec<u32>, u64)> = BTreeMap::new();
    if evidence.by_ptrace && evidence.recording.about.traced_share < 1.0 {
        return BTreeMap::new();
    }
    for ((place, file), times) in opens.iter().filter(|(_, times)| (2..OPENED).contains(times)) {
        let (files, all) = places.entry(*place).or_default();
        files.push(*file);
        *all += times;
    }
    places.retain(|_, (files, all)| files.len() >= FILES && *all >= SEVERAL * files.len() as u64);
    places.into_iter().map(|(place, (files, _))| (place, files)).collect()
}

/// CPU time of the samples of user code in a process, ns: those under a function if all calls of a sum are made under it.
fn used_under(evidence: &Evidence<'_>, calls: &Calls<'_>, (process, own): CallSite, sum: &Sum) -> f64 {
    let own = own.filter(|own| sum.stacks().all(|stack| calls.is_under(stack, *own)));
    let under = own.map(|own| evidence.stacks_with(|function| function == own));
    let samples = evidence.recording.tables.samples.iter().zip(&evidence.weights);
    let here = |stack: Option<u32>| {
        under.as_ref().is_none_or(|under| stack.is_some_and(|stack| under[stack as usize]))
    };
    let tables = &evidence.recording.tables;
    let kernel =
        |stack: u32| tables.locations[tables.stacks[stack as usize].location as usize].kind == "kernel";
    let of_it = samples.filter(|(sample, _)| {
        here(sample.stack) && !sample.stack.is_some_and(kernel) && evidence.process_of(sample) == process
    });
    of_it.map(|(_, weight)| weight).sum()
}

/// What a program does while such a file is open.
enum Meanwhile {
    /// CPU time in user code, ns.
    Used(f64),
    /// It opens others of them, as a compiler does with headers: what it does is no work on one file alone.
    OtherFiles,
}

/// CPU time in user code while such a file is open: from an open to the close by which it had been read whole, which is
/// all that is known to happen for the file. Taken from the opens that were recorded one by one, and from these for all.
///
/// Only where samples show it. They know what used the CPU, but few fall into spans that are short; and half of the spans took at
/// most the median, without their system calls and what tracing these took. The lower of the two counts.
fn while_open(evidence: &Evidence<'_>, calls: &Calls<'_>, place: CallSite, files: &[u32]) -> Meanwhile {
    let tables = &evidence.recording.tables;
    let (process, own) = place;
    // Others that the same place opens may be read but once each, as the sources that include them.
    let opened = calls.all().filter(|(row, of)| *of == process && is_read_open(row) && calls.own(row) == own);
    let opened = opened.filter(|(row, _)| calls.file(row).is_some_and(|file| file.kind == "file"));
    let of_place: BTreeSet<u32> =
        opened.filter_map(|(row, _)| row.file).chain(files.iter().copied()).collect();
    let often: BTreeSet<u32> = files.iter().copied().collect();
    let is_one = |row: &Syscall| is_one(evidence, row);
    // By thread and file: since when it is open, what was read, and how many others were opened since, but for those opened since one of these.
    let mut open: BTreeMap<(u32, u32), (u64, u64, u64)> = BTreeMap::new();
    let (mut opens, mut single, mut nested) = (0u64, 0u64, 0u64);
    let mut spans: Vec<(u32, u64, u64)> = Vec::new();
    for (row, of) in calls.all() {
        let Some(file) = row.file.filter(|file| of == process && of_place.contains(file)) else { continue };
        let key = (row.thread, file);
        let is_often = often.contains(&file);
        if is_read_open(row) {
            opens += if is_often { row.count } else { 0 };
            if is_one(row) {
                single += u64::from(is_often);
                let of_thread = open
                    .range_mut((row.thread, 0)..=(row.thread, u32::MAX))
                    .filter(|((_, other), _)| *other != file);
                if let Some((_, (_, _, within))) = of_thread.max_by_key(|(_, (since, ..))| *since) {
                    *within += u64::from(is_often);
                }
                // The open itself is the kernel's.
                open.insert(key, (row.end_ns, 0, 0));
            }
        } else if is_one(row)
            && let Some((since, read, within)) = open.get_mut(&key)
        {
            *read += row.bytes / row.count.max(1);
            if row.number == CLOSE {
                nested += *within;
                if is_often && *read as f64 >= WHOLE * tables.files[file as usize].size as f64 {
                    spans.push((row.thread, *since, row.time_ns));
                }
                open.remove(&key);
            }
        }
    }
    if single > 0 && nested as f64 >= NESTED * single as f64 {
        return Meanwhile::OtherFiles;
    }
    // Few that match say nothing of all.
    if (spans.len() as f64) < OPENED as f64 / 2.0 || (spans.len() as f64) < MATCHED * single as f64 {
        return Meanwhile::Used(0.0);
    }
    let (user, seen) = calls.user_ns(&spans);
    if seen < SEEN {
        return Meanwhile::Used(0.0);
    }
    let by_samples = user / spans.len() as f64;
    Meanwhile::Used(by_samples.min(typical_span(evidence, calls, process, &spans)) * opens as f64)
}

/// Whether a row is a call that was seen by itself. Of those that ptrace saw in a window each is, for however many it stands.
fn is_one(evidence: &Evidence<'_>, row: &Syscall) -> bool {
    (row.count == 1 || evidence.by_ptrace) && !is_met(row)
}

/// Median of what a span took without the system calls in it and what tracing them took, ns.
fn typical_span(evidence: &Evidence<'_>, calls: &Calls<'_>, process: u32, spans: &[(u32, u64, u64)]) -> f64 {
    let (mut number, mut single) = (0, BTreeMap::<u32, Vec<(u64, u64)>>::new());
    for (row, _) in calls.all().filter(|(_, of)| *of == process) {
        number += row.count;
        if is_one(evidence, row) {
            single.entry(row.thread).or_default().push((row.time_ns, row.end_ns));
        }
    }
    single.values_mut().for_each(|calls| calls.sort_unstable());
    let tracing = evidence.recorded_ns(process) / number.max(1) as f64;
    let tracing = tracing.max(evidence.tracing_a_call);
    let took = spans.iter().map(|(thread, from, to)| {
        let of_thread = single.get(thread).map_or(&[][..], Vec::as_slice);
        let first = of_thread.partition_point(|(start, _)| start < from);
        let within = of_thread[first..].iter().take_while(|(start, _)| start < to);
        let (mut kernel, mut calls) = (0, 0);
        for (start, end) in within {
            kernel += end.min(to) - start;
            calls += 1;
        }
        // The close, whose tracing begins before it.
        ((to - from).saturating_sub(kernel) as f64 - tracing * f64::from(calls + 1)).max(0.0)
    });
    median(&took.collect::<Vec<f64>>()).unwrap_or(0.0)
}

/// The variant of a file that is opened again for each write.
pub(super) const REOPENED: &str = "reopened";

/// One file opened again for each of many writes: the opening and closing is what is done again.
fn reopened(evidence: &Evidence<'_>, calls: &Calls<'_>) -> Vec<(CallSite, Candidate)> {
    // By place and path, for what is written changes the file's state.
    let mut opens: BTreeMap<(CallSite, &str), Sum> = BTreeMap::new();
    let mut closes: BTreeMap<(u32, &str), Sum> = BTreeMap::new();
    for (row, process) in calls.all().filter(|(row, _)| row.result >= 0) {
        let Some(file) = calls.file(row).filter(|file| file.kind == "file" && !file.path.is_empty()) else {
            continue;
        };
        if is_writing_open(row) {
            opens.entry(((process, calls.own(row)), &file.path)).or_default().add(row);
        } else if row.number == CLOSE {
            closes.entry((process, &file.path)).or_default().add(row);
        }
    }
    let mut findings = Vec::new();
    for ((place, path), open) in opens {
        let (process, own) = place;
        let close = closes.get(&(process, path)).map_or(0.0, Sum::working_ns);
        let cost = open.working_ns() + close;
        let gain = cost * (1.0 - 1.0 / open.count.max(1) as f64);
        if open.count < ASKED || !GATE.may_pass(evidence, gain) {
            continue;
        }
        let stack = open.stack();
        let draft = Draft {
            not_known: "whether the file may be replaced meanwhile, as when logs are rotated",
            variant: REOPENED,
            files: evidence.concerned(vec![path.to_owned()]),
            explanation: vec![
                format!(
                    "{path} was opened {} times{} to write to it",
                    count(open.count as f64),
                    from(evidence, stack, own)
                ),
                format!("opening and closing it took {} in the kernel", time(cost)),
            ],
            facts: vec![
                fact("opens", open.count as f64, "calls", Sure::Exact),
                fact("time in the kernel", cost, "ns", Sure::Exact),
            ],
            advice: "Keep it open, and reopen it only when it was replaced".to_owned(),
            ..Draft::new(
                &CAUSE,
                "a file is reopened for each write",
                Confidence::Likely,
                Cost::new(Basis::Cpu, cost, gain),
                crate::calls::place(evidence, stack, own, process),
            )
        };
        findings.push((place, draft.candidate(evidence, GATE, process)));
    }
    findings
}
