//! `scale`: one command at several sizes of its input, timed bare and recorded once each, or counted under valgrind.

use crate::args::Scale;
use crate::compare::stopped_by_signals;
use crate::limits::machine;
use crate::progress::spinner;
use crate::recorded::{Within, recorded};
use crate::run::{Done, failed, say, write_file};
use crate::view::page;
use slowpath_compare::overhead;
use slowpath_compare::scale::{Scaling, measure, scaling};
use slowpath_compare::{Enclosure, Shell, exact, words};
use slowpath_diagnose::findings::{Finding, Findings, Frame};
use slowpath_recording::Recording;
use slowpath_report::{Style, shown};
use std::path::Path;
use std::time::Duration;

/// A run that used less CPU time than this is recorded several times, joined, ns.
const SHORT_NS: f64 = 100e6;
const REPEAT_MOST: u64 = 20;

/// `slowpath scale`.
pub fn scale(scale: &Scale) -> Done {
    let template = match scale.command.as_slice() {
        [one] => one.clone(),
        // Several words are a command without a shell's meaning.
        words => words.iter().map(|word| quoted(word)).collect::<Vec<_>>().join(" "),
    };
    let sizes = sizes(scale, &template)?;
    let limit = Duration::try_from_secs_f64(scale.time_limit)
        .map_err(|error| failed(format!("--time-limit: {error}")))?;
    let enclosure = Enclosure::new().map_err(failed)?;
    let scaling = if scale.exact {
        counted(scale, &template, &sizes, limit, &enclosure)?
    } else {
        timed(scale, &template, &sizes, limit, &enclosure)?
    };
    say(&if scale.json {
        slowpath_report::scaling_json(&scaling)
    } else {
        slowpath_report::scaling(&scaling, &Style::detect(std::io::stdout()))
    })?;
    Ok(0)
}

/// Each size, in order, with its command.
type Sizes = [(f64, String)];

/// Each size once under callgrind.
fn counted(
    scale: &Scale,
    template: &str,
    sizes: &Sizes,
    limit: Duration,
    enclosure: &Enclosure,
) -> Result<Scaling, (String, u8)> {
    let stop = stopped_by_signals();
    let bar = spinner();
    let mut counted = Vec::new();
    for (size, command) in sizes {
        if let Some(bar) = &bar {
            bar.set_message(
                shown!("{} of {} sizes, under valgrind: {}", counted.len() + 1, sizes.len(), command)
                    .to_string(),
            );
            bar.tick();
        }
        counted.push((*size, exact::count(command, &Shell::Auto, limit, enclosure, &stop).map_err(failed)?));
    }
    if let Some(bar) = bar {
        bar.finish_and_clear();
    }
    let scaling = exact::scaling(template, &counted, scale.at);
    if let (Some(path), Some((_, command))) = (&scale.html, sizes.last()) {
        let words = words(command, &Shell::Auto).map_err(failed)?;
        let within = Within { enclosure, stop: &stop, at: &scale.kept };
        let (recording, found) = recorded(&words, &["--exact"], None, &within)?;
        write_page(path, &recording, found, scaling.findings.clone())?;
    }
    Ok(scaling)
}

/// Writes the page of the largest size. What several sizes show comes first: no single run could.
fn write_page(
    path: &Path,
    recording: &Recording,
    mut found: Findings,
    findings: Vec<Finding>,
) -> Result<(), (String, u8)> {
    let told = |one: &Finding| {
        findings.iter().any(|other| {
            let of = |one: &Finding| {
                let Frame { function, module, .. } = &one.place.frame;
                (one.cause, function.clone(), module.clone())
            };
            of(other) == of(one)
        })
    };
    found.findings.retain(|one| !told(one));
    found.findings.splice(0..0, findings);
    let page = page(&[(recording, &found)], None)?;
    write_file(path, &page).map_err(|error| failed(format!("cannot write {}: {error}", path.display())))
}

/// Each size timed bare, and recorded.
fn timed(
    scale: &Scale,
    template: &str,
    sizes: &Sizes,
    limit: Duration,
    enclosure: &Enclosure,
) -> Result<Scaling, (String, u8)> {
    let stop = stopped_by_signals();
    let bar = spinner();
    let shell = Shell::Auto;
    let mut done = 0;
    let show = |command: &str| {
        done += 1;
        if let Some(bar) = &bar {
            bar.set_message(shown!("run {} at {} sizes: {}", done, sizes.len(), command).to_string());
            bar.tick();
        }
    };
    let points = measure(sizes, &shell, scale.runs, limit, enclosure, &stop, show).map_err(failed)?;
    let (mut recordings, mut findings) = (Vec::new(), None);
    if !scale.no_record {
        for ((_, command), point) in sizes.iter().zip(&points) {
            if let Some(bar) = &bar {
                bar.set_message(
                    shown!("recording {} of {} sizes: {}", recordings.len() + 1, sizes.len(), command)
                        .to_string(),
                );
                bar.tick();
            }
            let repeat = ((SHORT_NS / point.cost().max(1.0)) as u64).clamp(1, REPEAT_MOST);
            let words = words(command, &shell).map_err(failed)?;
            let within = Within { enclosure, stop: &stop, at: &scale.kept };
            let (recording, found) = recorded(&words, &["--repeat", &repeat.to_string()], None, &within)?;
            recordings.push(recording);
            findings = Some(found);
        }
    }
    if let Some(bar) = bar {
        bar.finish_and_clear();
    }
    let mut scaling = scaling(template, points, &recordings, scale.at);
    if let (Some(calls), Some(at)) = (scale.calls, scale.used) {
        let limit = scale.limit.as_deref().map(of_machine).transpose()?;
        overhead::add(&mut scaling, &recordings, &overhead::Asked { calls, at, limit });
    }
    if let (Some(path), Some(recording), Some(found)) = (&scale.html, recordings.last(), findings) {
        let cpu_ns = (recording.about.user_ns + recording.about.sys_ns).max(1)
            / u64::from(recording.about.runs.max(1));
        // There its share is of that recording's time, as for all others.
        let of_this = |finding: &Finding| Finding {
            share: (finding.cost.amount() as f64 / cpu_ns as f64).min(1.0),
            ..finding.clone()
        };
        write_page(path, recording, found, scaling.findings.iter().map(of_this).collect())?;
    }
    Ok(scaling)
}

/// A limit that has a rate: its name, what it is, and ns for a byte.
fn of_machine(name: &str) -> Result<(String, String, f64), (String, u8)> {
    let limits = machine(false)?;
    let named = limits
        .named(name)
        .ok_or_else(|| failed(format!("there is no limit {name}: `slowpath limits` lists them")))?;
    let byte_ns = named.ns_for(1.0).ok_or_else(|| match &named.obstacle {
        Some(why) => failed(format!("the limit {name} could not be measured: {why}")),
        None => failed(format!("the limit {name} is not measured per byte")),
    })?;
    Ok((named.name.clone(), named.what.clone(), byte_ns))
}

/// A word as a shell takes it, its braces left as they are.
fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "_-./=:,+@%{}".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', "'\\''"))
    }
}

/// Each size with its command, in order of size.
fn sizes(scale: &Scale, template: &str) -> Result<Vec<(f64, String)>, (String, u8)> {
    let mut sizes = Vec::new();
    let place = match &scale.list {
        Some(list) => {
            let (name, values) = list
                .split_once('=')
                .ok_or_else(|| failed("-L needs NAME=SIZE,SIZE,…, such as n=100,200,400"))?;
            let place = format!("{{{name}}}");
            for value in values.split(',') {
                let size: f64 =
                    value.trim().parse().map_err(|_| failed(format!("-L: {value} is not a number")))?;
                sizes.push((size, template.replace(&place, value.trim())));
            }
            place
        }
        None => {
            for file in &scale.files {
                let size = std::fs::metadata(file)
                    .map_err(|error| failed(format!("{}: {error}", file.display())))?
                    .len();
                sizes.push((size as f64, template.replace("{file}", &quoted(&file.to_string_lossy()))));
            }
            "{file}".to_owned()
        }
    };
    if !template.contains(&place) {
        return Err(failed(format!("the command does not contain {place} where the size belongs")));
    }
    if sizes.iter().any(|(size, _)| !size.is_finite() || *size <= 0.0) {
        return Err(failed("sizes must be above zero"));
    }
    sizes.sort_by(|a, b| a.0.total_cmp(&b.0));
    Ok(sizes)
}
