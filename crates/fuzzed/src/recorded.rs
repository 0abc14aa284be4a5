//! A whole recording out of bytes, and everything that is made of one.

use crate::base::{self, Base};
use crate::input::Input;
use crate::whole::assert_whole;
use crate::wild;
use slowpath_diagnose::findings::Findings;
use slowpath_files::{Caller, Folder};
use slowpath_page::Side;
use slowpath_recording::about::{State, Tracer};
use slowpath_recording::{About, Recording, Writer};
use slowpath_report::Style;
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

/// Diagnoses and reports a recording that the bytes describe: which one to start from, and what to change. Some are written and
/// read back first, of which most have bytes of their files changed; of some a page is made, which takes as long as all else, and
/// some are compared with what they were made from.
pub fn recording(data: &[u8]) {
    let mut input = Input::new(data);
    let (way, style) = (input.byte(), input.byte());
    let base = input.below(base::all().len());
    let (mut about, mut tables) = base::all()[base].clone();
    if way & 1 != 0 {
        change_about(&mut about, &mut input);
    }
    // The last bytes are for files.
    let changes = usize::from(input.byte() % 48);
    for _ in 0..changes {
        if input.is_empty() {
            break;
        }
        wild::change(&mut tables, &mut input);
    }
    let read = match way >> 4 {
        0 => written((about, tables), &mut Input::new(&[])),
        1 | 2 => written((about, tables), &mut input),
        _ => Some(Recording::from_tables("/nonexistent".into(), about, tables, Vec::new())),
    };
    if let Some(recording) = read {
        let (page, compared) = (way & 6 == 0, way & 8 == 0);
        make_all_of(recording, style, page, compared.then(|| &before()[base]));
    }
}

fn change_about(about: &mut About, input: &mut Input<'_>) {
    for _ in 0..input.byte() % 8 {
        match input.byte() % 16 {
            0 => about.wall_ns = input.number(about.wall_ns),
            1 => about.user_ns = input.number(about.user_ns),
            2 => about.sys_ns = input.number(about.sys_ns),
            3 => about.start_ns = input.number(about.start_ns),
            4 => about.started_unix_ns = input.u64(),
            5 => about.tracing_ns = input.number(about.user_ns),
            6 => {
                about.tracing_wall_ns = input.number(about.wall_ns);
                about.tracing_calls_ns = input.once_in(2).then(|| input.number(about.wall_ns));
                about.tracing_samples_ns = input.number(about.wall_ns);
            }
            7 => about.instructions = input.once_in(2).then(|| input.number(1_000_000)),
            8 => about.sampled_share = input.float(1.0),
            9 => about.runs = input.number(10) as u32,
            10 => about.cpus = input.number(8) as u32,
            11 => about.exit = Some(input.u64() as i32),
            12 => about.command = (0..input.byte() % 4).map(|_| input.text("a b")).collect(),
            13 => about.state = State::CutShort,
            14 => about.degraded.push(input.text("a sentence")),
            _ => about.tracer = Some(Tracer::Ptrace),
        }
    }
}

/// Writes a recording, changes bytes of its files, and reads it back.
fn written((about, tables): Base, input: &mut Input<'_>) -> Option<Recording> {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let place = Arc::new(Folder::open(folder.path()).expect("a temporary folder"));
    let mut writer = Writer::create(place, &about, &Caller::detect()).expect("it is created");
    writer.tables = tables;
    writer.finish(about).expect("it is written");
    let files = files(folder.path());
    for _ in 0..input.byte() % 8 {
        change_file(&files[input.below(files.len())], input);
    }
    Recording::open(folder.path()).ok()
}

/// `about.json`, and the segments of all tables.
fn files(folder: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        match std::fs::read_dir(entry.path()) {
            Ok(segments) => files.extend(segments.flatten().map(|segment| segment.path())),
            Err(_) => files.push(entry.path()),
        }
    }
    files.sort();
    files
}

fn change_file(path: &Path, input: &mut Input<'_>) {
    let mut bytes = std::fs::read(path).unwrap_or_default();
    if bytes.is_empty() {
        return;
    }
    // Numbers of what is where stand at the end of a segment.
    let at =
        if input.once_in(2) { input.below(bytes.len()) } else { bytes.len() - 1 - input.below(bytes.len()) };
    match input.byte() % 8 {
        0 => bytes.truncate(at),
        1 => bytes.extend(vec![input.byte(); usize::from(input.byte())]),
        2 => bytes[at..].fill(input.byte()),
        3 => drop(bytes.remove(at)),
        4 => bytes.insert(at, input.byte()),
        5 => bytes[at] ^= 1 << (input.byte() % 8),
        _ => bytes[at] = input.byte(),
    }
    std::fs::write(path, bytes).expect("it is written");
}

/// The recordings to start from, diagnosed.
fn before() -> &'static [(Recording, Findings)] {
    static BEFORE: OnceLock<Vec<(Recording, Findings)>> = OnceLock::new();
    BEFORE.get_or_init(|| {
        let diagnosed = |(about, tables): &Base| {
            let path = "/nonexistent".into();
            let recording = Recording::from_tables(path, about.clone(), tables.clone(), Vec::new());
            let findings = slowpath_diagnose::diagnose(&recording);
            (recording, findings)
        };
        base::all().iter().map(diagnosed).collect()
    })
}

/// What is made of a recording.
fn make_all_of(mut recording: Recording, style: u8, page: bool, before: Option<&(Recording, Findings)>) {
    assert_whole(&recording);
    slowpath_diagnose::resolve::resolve(&mut recording, &HashMap::new());
    assert_whole(&recording);
    let findings = slowpath_diagnose::diagnose(&recording);
    let width = 1 + usize::from(style >> 2) * 3;
    let style = Style { color: style & 1 != 0, width, unicode: style & 2 != 0 };
    let summary = slowpath_diagnose::syscalls::summary(&recording);
    let texts = [
        slowpath_report::terminal(&findings, &style),
        slowpath_report::markdown(&findings),
        slowpath_report::json(&findings),
        slowpath_report::syscalls(&summary, &style),
    ];
    assert!(texts.iter().all(|text| text.ends_with('\n')));
    if let Some((before, of_before)) = before {
        let why = slowpath_compare::why([before, &recording], [of_before, &findings]);
        let _ = slowpath_report::difference(&why, ["before", "after"], &style);
    }
    if page {
        let side = Side { name: "side", recording: &recording, findings: &findings, sources: None };
        let page = slowpath_page::html(&[side], &slowpath_page::Options::default());
        assert!(page.is_ok_and(|page| page.ends_with("</html>\n")));
    }
}
