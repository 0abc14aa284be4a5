//! One unchanged file is opened, read and closed again and again from one place, or asked for its state.
//!
//! A file is the same if device, inode, size and modification time are. What the kernel makes up as it is read (`/proc`)
//! is no such file, nor is one that is opened for writing. Each process counts for itself: that every program reads its
//! libraries is no fault of its parent's.

use super::words::{count, time};
use crate::Evidence;
use crate::calls::{Calls, Draft, GETCWD, Place, STATS, Sum, fact, from, is_read_open, some};
use crate::findings::{Basis, Cause, Confidence, Finding, Sure};
use slowpath_recording::tables::Syscall;
use std::collections::{BTreeMap, BTreeSet};

/// Opens of one file, or questions about one path, from one place before they count.
const OPENED: u64 = 20;
const ASKED: u64 = 100;
/// The gain is at least this share of the run's CPU time, and this long, ns.
const SHARE: f64 = 0.05;
const LEAST_NS: f64 = 5e6;

pub(super) fn find(evidence: &Evidence<'_>) -> Vec<Finding> {
    let calls = Calls::new(evidence);
    let mut findings = opened(evidence, &calls);
    for (place, question) in asked(evidence, &calls) {
        // Questions beside the reading, from the same place, are signs of the same cause.
        match findings.iter_mut().find(|(of, _)| *of == place) {
            Some((_, finding)) => {
                let also = question.explanation.into_iter().next().map(|sentence| format!("also {sentence}"));
                finding.explanation.extend(also);
                finding.facts.extend(question.facts);
            }
            None => findings.push((place, question)),
        }
    }
    findings.into_iter().map(|(_, finding)| finding).collect()
}

fn opened(evidence: &Evidence<'_>, calls: &Calls<'_>) -> Vec<(Place, Finding)> {
    // Opens of each file by place; all that was done with it there; and files that were written to.
    let mut opens: BTreeMap<(Place, u32), u64> = BTreeMap::new();
    let mut all: BTreeMap<(Place, u32), Sum> = BTreeMap::new();
    for (row, process) in calls.all() {
        let Some(file) = calls.file(row).filter(|file| file.kind == "file" && file.size > 0) else {
            continue;
        };
        let key = ((process, calls.own(row)), file.file);
        all.entry(key).or_default().add(row);
        if is_read_open(row) {
            *opens.entry(key).or_default() += row.count;
        }
    }
    let mut places: BTreeMap<Place, Vec<u32>> = BTreeMap::new();
    for ((place, file), times) in &opens {
        if *times >= OPENED {
            places.entry(*place).or_default().push(*file);
        }
    }
    let mut findings = Vec::new();
    for (place, files) in places {
        let (process, own) = place;
        let mut sum = Sum::default();
        let mut times = 0;
        let of_place = calls.all().filter(|(row, of)| {
            *of == process && calls.own(row) == own && row.file.is_some_and(|file| files.contains(&file))
        });
        of_place.for_each(|(row, _)| sum.add(row));
        files.iter().for_each(|file| times += opens[&(place, *file)]);
        let kernel = sum.working_ns();
        let sampled = own.map_or(0.0, |own| calls.sampled_ns(process, own, &sum));
        let cost = kernel.max(sampled);
        let gain = cost * (1.0 - files.len() as f64 / times as f64);
        if gain < (SHARE * evidence.cpu_ns).max(LEAST_NS) {
            continue;
        }
        let mut paths: Vec<String> =
            files.iter().map(|file| evidence.recording.tables.files[*file as usize].path.clone()).collect();
        paths.sort();
        paths.dedup();
        let stack = sum.stack();
        let at = from(evidence, stack, own);
        let mut explanation = vec![format!(
            "{} {} opened {} times{at}, the same each time: device, inode, size and modification time did not change",
            some(&paths, 3),
            if paths.len() == 1 { "was" } else { "were" },
            count(times as f64)
        )];
        explanation.push(format!(
            "{} system calls on it took {} in the kernel and read {} bytes{}",
            count(sum.count as f64),
            time(kernel),
            count(sum.bytes as f64),
            if sampled > kernel {
                format!("; with the program's own work on it {}", time(sampled))
            } else {
                String::new()
            }
        ));
        explanation.push(format!("once would do: {} saved", time(gain)));
        let exact = own.is_some();
        findings.push((
            place,
            Draft {
                cause: Cause::RedundantFileAccess,
                title: "the same file is read again and again",
                confidence: if exact { Confidence::Certain } else { Confidence::Likely },
                basis: Basis::Cpu,
                cost_ns: cost,
                gain_ns: gain,
                stack,
                own,
                process,
                files: paths,
                explanation,
                facts: vec![
                    fact("opens", times as f64, "calls", Sure::Exact),
                    fact("files", files.len() as f64, "files", Sure::Exact),
                    fact("system calls", sum.count as f64, "calls", Sure::Exact),
                    fact("time in the kernel", kernel, "ns", Sure::Exact),
                    fact("time with the program's own work", cost, "ns", Sure::Sampled),
                    fact("bytes read", sum.bytes as f64, "bytes", Sure::Exact),
                ],
                advice:
                    "Read it once and keep what it says; or look it up only when the answer is really used"
                        .to_owned(),
            }
            .finish(evidence),
        ));
    }
    findings
}

/// Storms of questions about a path that is there: stat, access, readlink, getcwd.
fn asked(evidence: &Evidence<'_>, calls: &Calls<'_>) -> Vec<(Place, Finding)> {
    let mut by_path: BTreeMap<(Place, Option<u32>), u64> = BTreeMap::new();
    let question = |row: &Syscall| {
        // A relative path is another file in another directory; an open file is asked for its size before it is read.
        let absolute = |path: &str| path.starts_with('/');
        let about = calls.file(row).filter(|file| file.kind == "path" && absolute(&file.path));
        let known = STATS.contains(&row.number) && about.is_some();
        row.result >= 0 && (known || row.number == GETCWD)
    };
    for (row, process) in calls.all().filter(|(row, _)| question(row)) {
        *by_path.entry(((process, calls.own(row)), row.file)).or_default() += row.count;
    }
    let places: BTreeSet<Place> =
        by_path.iter().filter(|(_, times)| **times >= ASKED).map(|((place, _), _)| *place).collect();
    let mut findings = Vec::new();
    for place in places {
        let (process, own) = place;
        let (mut sum, mut paths) = (Sum::default(), BTreeSet::new());
        for (row, _) in
            calls.all().filter(|(row, of)| *of == process && calls.own(row) == own && question(row))
        {
            if by_path.get(&(place, row.file)).is_some_and(|times| *times >= ASKED) {
                sum.add(row);
                paths.insert(calls.file(row).map_or("the working directory", |file| &file.path).to_owned());
            }
        }
        let cost = sum.working_ns().max(own.map_or(0.0, |own| calls.sampled_ns(process, own, &sum)));
        let gain = cost * (1.0 - paths.len() as f64 / sum.count.max(1) as f64);
        if gain < (SHARE * evidence.cpu_ns).max(LEAST_NS) {
            continue;
        }
        let paths: Vec<String> = paths.into_iter().collect();
        let stack = sum.stack();
        findings.push((
            place,
            Draft {
                cause: Cause::RedundantFileAccess,
                title: "the same path is looked up again and again",
                confidence: Confidence::Likely,
                basis: Basis::Cpu,
                cost_ns: cost,
                gain_ns: gain,
                stack,
                own,
                process,
                explanation: vec![
                    format!(
                        "{} {} looked up {} times{}, each {} times on average",
                        some(&paths, 3),
                        if paths.len() == 1 { "was" } else { "were" },
                        count(sum.count as f64),
                        from(evidence, stack, own),
                        count(sum.count as f64 / paths.len().max(1) as f64)
                    ),
                    format!(
                        "that took {} in the kernel, {} with the work around it",
                        time(sum.working_ns()),
                        time(cost)
                    ),
                ],
                facts: vec![
                    fact("questions", sum.count as f64, "calls", Sure::Exact),
                    fact("paths", paths.len() as f64, "paths", Sure::Exact),
                    fact("time in the kernel", sum.working_ns(), "ns", Sure::Exact),
                ],
                files: paths,
                advice: "Ask once and keep the answer for as long as it holds".to_owned(),
            }
            .finish(evidence),
        ));
    }
    findings
}
