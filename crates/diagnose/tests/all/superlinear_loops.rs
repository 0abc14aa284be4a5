//! The cause `superlinear-work` where the work was inlined into a function that is entered once: the rounds of its loop are
//! counted, on synthetic recordings, at the thresholds.
//!
//! The recordings are of a `main` with a loop at 0x10–0x80; in it an inner loop at 0x20–0x40, a call of the C library's
//! `memmove` at 0x60, one of the program's own `parse` at 0x70, and code of its own at 0x50.

use crate::common::about;
use crate::sampled::{MS, Run};
use slowpath_diagnose::diagnose;
use slowpath_diagnose::findings::{Confidence, Finding};
use slowpath_recording::tables::*;
use slowpath_recording::{Recording, Tables};
use std::path::PathBuf;

const MAIN: u32 = 0;
const INNER: u32 = 1;
const OWN: u32 = 2;
const AT_MEMMOVE: u32 = 3;
const AT_PARSE: u32 = 4;
const MEMMOVE: u32 = 5;
const PARSE: u32 = 6;
const FAULT: u32 = 7;
const FREE: u32 = 8;

/// What round k (from 1) of 200 does, ns.
struct Model {
    /// What the recorder read off the inner loop.
    work: &'static str,
    inner_ns: fn(f64) -> f64,
    memmove_ns: fn(f64) -> f64,
    own_ns: fn(f64) -> f64,
    parse_ns: fn(f64) -> f64,
    /// Of `memmove_ns` the share that the kernel takes to hand out memory.
    touched: f64,
    /// Giving memory back.
    free_ns: fn(f64) -> f64,
}

fn none(_: f64) -> f64 {
    0.0
}

fn rising(k: f64) -> f64 {
    0.1 * MS * k
}

impl Default for Model {
    fn default() -> Model {
        Model {
            work: "walks",
            inner_ns: none,
            memmove_ns: none,
            own_ns: none,
            parse_ns: none,
            touched: 0.0,
            free_ns: none,
        }
    }
}

fn module(module: u32, path: &str) -> Module {
    Module { module, path: path.into(), build_id: None, device: 0, inode: 1, size: 1, mtime_ns: 0 }
}

fn recording(model: &Model) -> Recording {
    let mut tables = Tables::default();
    tables.modules.extend([module(0, "/bin/program"), module(1, "/lib/libc.so.6")]);
    for (number, name, module, address) in [
        (0, "main", 0, 0x1000),
        (1, "__memmove_avx_unaligned_erms", 1, 0x500),
        (2, "parse", 0, 0x2000),
        (3, "free", 1, 0x700),
    ] {
        let (name, file) = (String::from(name), Some("program.c".to_owned()));
        tables.functions.push(Function {
            function: number,
            name,
            module: Some(module),
            file,
            line: Some(1),
            address,
        });
    }
    let places = [
        (MAIN, 0, 0, 0x1000, 1),
        (INNER, 0, 0, 0x1030, 13),
        (OWN, 0, 0, 0x1050, 15),
        (AT_MEMMOVE, 0, 0, 0x1060, 16),
        (AT_PARSE, 0, 0, 0x1070, 17),
        (MEMMOVE, 1, 1, 0x500, 1),
        (PARSE, 2, 0, 0x2000, 30),
        (FREE, 3, 1, 0x700, 1),
    ];
    for (location, function, module, address, line) in places {
        tables.locations.push(Location { location, module: Some(module), address, kind: "native".into() });
        let (file, kind) = (Some("program.c".to_owned()), "native".to_owned());
        tables.frames.push(Frame { location, depth: 0, function, file, line: Some(line), kind });
    }
    let kernel = Location { location: FAULT, module: None, address: 0x9000, kind: "kernel".into() };
    tables.locations.insert(FAULT as usize, kernel);
    // Stack n ends at location n.
    for location in [MAIN, INNER, OWN, AT_MEMMOVE, AT_PARSE] {
        tables.stacks.push(Stack { stack: location, parent: None, location });
    }
    tables.stacks.push(Stack { stack: MEMMOVE, parent: Some(AT_MEMMOVE), location: MEMMOVE });
    tables.stacks.push(Stack { stack: PARSE, parent: Some(AT_PARSE), location: PARSE });
    tables.stacks.push(Stack { stack: FAULT, parent: Some(MEMMOVE), location: FAULT });
    tables.stacks.push(Stack { stack: FREE, parent: Some(AT_PARSE), location: FREE });
    let outer = Loop {
        loop_number: 0,
        location: MAIN,
        parent: None,
        ranges: vec![0x10, 0x80],
        work: "calculates".into(),
        chases: None,
        usual: None,
        items: None,
    };
    let inner = Loop {
        loop_number: 1,
        location: MAIN,
        parent: Some(0),
        ranges: vec![0x20, 0x40],
        work: model.work.into(),
        chases: None,
        usual: None,
        items: None,
    };
    tables.loops.extend([outer, inner]);
    tables.probes.push(Probe { probe: 0, process: 0, location: MAIN, kind: "loop".into(), offset: 0x70 });
    let mut run = Run::new(tables);
    for round in 1..=200 {
        let k = f64::from(round);
        run.call(0, u64::from(round as u32), None);
        run.spend((model.parse_ns)(k), PARSE);
        run.spend((model.own_ns)(k), OWN);
        run.spend((model.memmove_ns)(k) * (1.0 - model.touched), MEMMOVE);
        run.spend((model.memmove_ns)(k) * model.touched, FAULT);
        run.spend((model.free_ns)(k), FREE);
        run.spend((model.inner_ns)(k), INNER);
    }
    let end_ns = run.now as u64;
    let mut tables = run.tables;
    tables.windows.push(Window { probe: 0, start_ns: 0, end_ns, hits: 200, reason: "end".into() });
    crate::sampled::one_thread(&mut tables, end_ns);
    Recording::from_tables(PathBuf::from("synthetic"), about(end_ns), tables, Vec::new())
}

fn findings(model: Model) -> Vec<Finding> {
    let recording = recording(&model);
    assert_eq!(recording.dangling, 0, "the synthetic recording is whole");
    diagnose(&recording).findings
}

fn only(model: Model) -> Finding {
    let mut findings = findings(model);
    assert_eq!(findings.len(), 1, "{findings:#?}");
    findings.remove(0)
}

fn silent(model: Model) {
    let findings = findings(model);
    assert!(findings.is_empty(), "{findings:#?}");
}

#[test]
fn a_walk_that_gets_longer_each_round_is_likely_and_told_at_its_line() {
    let finding = only(Model { inner_ns: rising, ..Model::default() });
    assert_eq!(finding.confidence, Confidence::Likely);
    assert_eq!((finding.place.frame.function.as_str(), finding.place.frame.line), ("main", Some(13)));
    assert_eq!(finding.title, "work grows with every iteration");
    assert!(finding.explanation[0].contains("its loop ran 200 iterations"), "{:?}", finding.explanation);
}

#[test]
fn moving_ever_more_by_the_runtime_is_likely_and_the_runtime_is_named() {
    let finding = only(Model { memmove_ns: rising, ..Model::default() });
    assert_eq!(finding.confidence, Confidence::Likely);
    assert_eq!(finding.place.frame.line, Some(16));
    assert!(finding.explanation[0].contains("__memmove_avx_unaligned_erms"), "{:?}", finding.explanation);
}

#[test]
fn copies_into_memory_that_was_never_touched_are_results_unless_memory_is_given_back() {
    silent(Model { memmove_ns: rising, touched: 0.5, ..Model::default() });
    only(Model { memmove_ns: rising, touched: 0.1, ..Model::default() });
    only(Model { memmove_ns: rising, touched: 0.5, free_ns: |k| 0.01 * MS * k, ..Model::default() });
}

#[test]
fn what_is_left_gets_less_and_is_told_as_such() {
    let finding = only(Model { memmove_ns: |k| 0.1 * MS * (201.0 - k), ..Model::default() });
    assert_eq!(finding.title, "each iteration goes through everything that is left");
}

#[test]
fn a_loop_that_stores_or_calculates_makes_results_unless_the_rest_shows_that_the_input_stays_the_same() {
    silent(Model { inner_ns: rising, work: "moves", ..Model::default() });
    only(Model { inner_ns: rising, work: "moves", parse_ns: |_| 1.0 * MS, ..Model::default() });
    silent(Model { inner_ns: rising, work: "calculates", ..Model::default() });
}

#[test]
fn where_all_else_in_the_round_grows_as_well_it_is_the_input_that_grows() {
    silent(Model { inner_ns: rising, own_ns: |k| 0.03 * MS * k, ..Model::default() });
    silent(Model { inner_ns: rising, parse_ns: |k| 0.03 * MS * k, ..Model::default() });
    only(Model { inner_ns: rising, parse_ns: |_| 1.0 * MS, ..Model::default() });
}

#[test]
fn work_of_the_programs_own_functions_is_left_to_their_own_calls() {
    silent(Model { parse_ns: rising, ..Model::default() });
}

#[test]
fn with_nothing_to_hold_it_against_it_must_grow_by_two_and_a_half_times() {
    // Last quarter over first: 2.1 and 3.4.
    silent(Model { inner_ns: |k| MS * (8.0 + 0.08 * k), ..Model::default() });
    only(Model { inner_ns: |k| MS * (3.5 + 0.08 * k), ..Model::default() });
}

#[test]
fn a_walk_whose_curve_bends_is_told_if_every_stretch_costs_more_than_the_one_before() {
    // µs a round of look-ups through a slice that outgrows a cache, as they were measured in a run.
    const MEASURED: [f64; 24] = [
        6.1, 19.0, 27.1, 27.8, 30.5, 30.5, 29.1, 29.1, 32.5, 44.0, 46.1, 46.8, 54.9, 59.0, 58.3, 82.7, 94.2,
        71.8, 86.7, 95.6, 98.3, 105.7, 131.5, 149.1,
    ];
    let bends = |k: f64| 0.2 * MS * MEASURED[((k - 1.0) / 200.0 * 24.0) as usize];
    assert_eq!(only(Model { inner_ns: bends, ..Model::default() }).confidence, Confidence::Likely);
    // As much in all, but in two levels.
    silent(Model { inner_ns: |k| MS * if k > 120.0 { 20.0 } else { 4.0 + 0.005 * k }, ..Model::default() });
}

#[test]
fn rounds_of_equal_cost_and_amortised_doubling_are_silent() {
    silent(Model { inner_ns: |_| 5.0 * MS, ..Model::default() });
    silent(Model {
        memmove_ns: |k| if (k as u32).is_power_of_two() { MS * k } else { 0.5 * MS },
        ..Model::default()
    });
}

#[test]
fn whoever_takes_the_largest_of_all_so_far_is_told_to_keep_it() {
    let advice = |work| {
        let recording = recording(&Model { work, inner_ns: rising, ..Model::default() });
        let findings = diagnose(&recording).findings;
        findings.first().expect("it is found").advice.clone()
    };
    assert!(advice("extremes").starts_with("Keep the largest"), "{}", advice("extremes"));
    assert!(!advice("walks").contains("largest"));
}
