//! Synthetic recordings of a program `main → load → { parse, grow → leaf }`: each round of `load` parses an item, then calls `grow`, which calls
//! `leaf`. A model says what each costs in round k; samples fall every millisecond of it.

use crate::common::about;
use crate::sampled::{self, MS, Run};
use slowpath_diagnose::diagnose;
use slowpath_diagnose::findings::{Finding, Findings};
use slowpath_recording::tables::*;
use slowpath_recording::{Recording, Tables};
use std::path::PathBuf;

pub const MAIN: u32 = 0;
pub const LOAD: u32 = 1;
pub const GROW: u32 = 2;
pub const LEAF: u32 = 3;
pub const PARSE: u32 = 4;
pub const OTHER: u32 = 5;
pub const NAMES: [&str; 6] = ["main", "load", "grow", "leaf", "parse", "other"];

/// What round k (from 1) of n does, times in ns.
pub struct Model {
    pub rounds: u32,
    pub grow_ns: fn(f64, f64) -> f64,
    pub parse_ns: fn(f64, f64) -> f64,
    /// Calls of `leaf` in it, where they are counted.
    pub leaf_calls: Option<fn(f64) -> u64>,
    /// Where they are counted in windows, in every tenth round, but not together with those of `grow`: what one of them takes, ns.
    pub leaf_ns: Option<fn(f64) -> f64>,
    /// Time of something else after all rounds, and of it in each of them.
    pub other_ns: f64,
    pub each_ns: fn(f64) -> f64,
    /// Time of `load` itself after `grow` in each round.
    pub after_ns: fn(f64) -> f64,
    /// Time of `parse` after all rounds.
    pub end_ns: f64,
    /// `load` is counted too.
    pub count_load: bool,
    /// `leaf` is the kernel's, and has this share of the cost of `grow`.
    pub leaf_in_kernel: bool,
    pub leaf_share: f64,
    /// That share is of so many functions like `leaf`, in equal parts.
    pub kinds: u32,
    /// Share of the run in which `grow` is counted, from its start on.
    pub counted: f64,
    /// Rounds of the loop in `grow` that were counted in its k-th call, and of a loop around it.
    pub loop_rounds: Option<fn(f64) -> f64>,
    pub around: Option<fn(f64) -> f64>,
    /// The loops read at addresses that they read.
    pub chases: bool,
    /// `load` is counted, and entered again after so many rounds: k is counted from there.
    pub restarts_every: Option<u32>,
}

impl Default for Model {
    fn default() -> Model {
        Model {
            rounds: 200,
            grow_ns: |k, _| 0.2 * MS * k,
            parse_ns: |_, _| 1.0 * MS,
            leaf_calls: None,
            leaf_ns: None,
            other_ns: 0.0,
            each_ns: |_| 0.0,
            after_ns: |_| 0.0,
            end_ns: 0.0,
            count_load: false,
            leaf_in_kernel: false,
            leaf_share: 0.8,
            kinds: 1,
            counted: 1.0,
            loop_rounds: None,
            around: None,
            chases: false,
            restarts_every: None,
        }
    }
}

/// Bursts in which the rounds of a loop of `grow` were counted, in so many of its calls.
pub const BURSTS: u32 = 6;
/// Entries of the loop in each.
pub const ENTRIES: u64 = 30;

/// A loop of `grow`, the first around the second; none is left out.
pub fn loops_of_grow(tables: &mut Tables, model: &Model) {
    for (number, rounds) in [(0, model.around), (1, model.loop_rounds)] {
        let (loop_number, strides) = (Some(number), Vec::new());
        tables.walks.push(Walk {
            walk: number,
            process: 0,
            location: GROW,
            loop_number,
            strides,
            arguments: None,
        });
        let Some(rounds) = rounds else { continue };
        let entries: Vec<u64> =
            tables.calls.iter().filter(|row| row.probe == 0).map(|row| row.time_ns).collect();
        for burst in 1..=BURSTS {
            let k = (model.rounds * burst / BURSTS - 1).max(1);
            let end_ns = entries[k as usize];
            tables.walk_bursts.push(WalkBurst {
                walk: number,
                start_ns: end_ns - 1,
                end_ns,
                entries: ENTRIES,
                rounds: Some((rounds(f64::from(k)) * ENTRIES as f64) as u64),
            });
        }
    }
    for (number, parent) in [(0, None), (1, Some(0))] {
        let (ranges, work) = (vec![0, 0x10], "walks".to_owned());
        let chases = Some(model.chases);
        tables.loops.push(Loop {
            loop_number: number,
            location: GROW,
            parent,
            ranges,
            work,
            chases,
            usual: None,
            items: None,
        });
    }
}

pub fn recording(model: &Model) -> Recording {
    let mut tables = Tables::default();
    tables.modules.push(Module {
        module: 0,
        path: "/bin/program".into(),
        build_id: None,
        device: 0,
        inode: 1,
        size: 1,
        mtime_ns: 0,
    });
    let further: Vec<String> = (1..model.kinds).map(|kind| format!("kind{kind}")).collect();
    for (number, name) in (0..).zip(NAMES.into_iter().chain(further.iter().map(String::as_str))) {
        let address = u64::from(number) * 0x100;
        let kind = if number == LEAF && model.leaf_in_kernel { "kernel" } else { "native" };
        tables.locations.push(Location { location: number, module: Some(0), address, kind: kind.into() });
        let file = Some("program.c".to_owned());
        let line = Some(number + 10);
        tables.functions.push(Function {
            function: number,
            name: name.into(),
            module: Some(0),
            file,
            line,
            address,
        });
        let (file, kind) = (Some("program.c".to_owned()), "native".to_owned());
        tables.frames.push(Frame { location: number, depth: 0, function: number, file, line, kind });
    }
    // Stack n ends in function n.
    for (stack, parent) in [
        (MAIN, None),
        (LOAD, Some(MAIN)),
        (GROW, Some(LOAD)),
        (LEAF, Some(GROW)),
        (PARSE, Some(LOAD)),
        (OTHER, Some(MAIN)),
    ] {
        tables.stacks.push(Stack { stack, parent, location: stack });
    }
    for stack in OTHER + 1..OTHER + model.kinds {
        tables.stacks.push(Stack { stack, parent: Some(GROW), location: stack });
    }
    for (probe, location) in [(0, GROW), (1, LEAF), (2, LOAD)] {
        tables.probes.push(Probe { probe, process: 0, location, kind: "function".into(), offset: 0 });
    }
    let mut run = Run::new(tables);
    let n = f64::from(model.rounds);
    let mut leaves = 0;
    let mut windows = Vec::new();
    for round in 1..=model.rounds {
        let every = model.restarts_every.unwrap_or(u32::MAX);
        let k = f64::from((round - 1) % every + 1);
        run.spend((model.each_ns)(k), OTHER);
        if model.count_load || model.restarts_every.is_some() && (round - 1) % every == 0 {
            run.call(2, u64::from(round), None);
        }
        run.spend((model.parse_ns)(k, n), PARSE);
        run.call(0, u64::from(round), None);
        if model.leaf_calls.is_some() {
            run.call(1, leaves, Some(0));
        }
        leaves += model.leaf_calls.map_or(0, |calls| calls(k));
        let cost = (model.grow_ns)(k, n);
        let start = run.now as u64;
        run.spend(cost * (1.0 - model.leaf_share), GROW);
        for kind in 0..model.kinds {
            let each = cost * model.leaf_share / f64::from(model.kinds);
            run.spend(each, if kind == 0 { LEAF } else { OTHER + kind });
        }
        if let Some(each) = model.leaf_ns.filter(|_| round % 10 == 0) {
            let hits = (cost * model.leaf_share / each(k)) as u64;
            windows.push(Window {
                probe: 1,
                start_ns: start,
                end_ns: run.now as u64,
                hits,
                reason: "hits".into(),
            });
        }
        run.spend((model.after_ns)(k), LOAD);
    }
    run.spend(model.end_ns, PARSE);
    run.spend(model.other_ns, OTHER);
    let end_ns = run.now as u64;
    let mut tables = run.tables;
    let until = (end_ns as f64 * model.counted) as u64;
    tables.calls.retain(|call| call.probe != 0 || call.time_ns <= until);
    if model.loop_rounds.is_some() {
        loops_of_grow(&mut tables, model);
    }
    let hits = tables.calls.iter().filter(|call| call.probe == 0).count() as u64;
    tables.windows.push(Window { probe: 0, start_ns: 0, end_ns: until, hits, reason: "budget".into() });
    tables.windows.extend(windows);
    let mut window = |probe, hits| {
        tables.windows.push(Window { probe, start_ns: 0, end_ns, hits, reason: "end".into() });
    };
    if model.leaf_calls.is_some() {
        window(1, leaves);
    }
    if model.count_load {
        window(2, u64::from(model.rounds));
    }
    if let Some(every) = model.restarts_every {
        window(2, u64::from(model.rounds.div_ceil(every)));
    }
    sampled::one_thread(&mut tables, end_ns);
    Recording::from_tables(PathBuf::from("synthetic"), about(end_ns), tables, Vec::new())
}

pub fn diagnosed(model: Model) -> Findings {
    let recording = recording(&model);
    assert_eq!(recording.dangling, 0, "the synthetic recording is whole");
    diagnose(&recording)
}

pub fn only(mut findings: Findings) -> Finding {
    assert_eq!(findings.findings.len(), 1, "{:#?}", findings.findings);
    findings.findings.remove(0)
}

pub fn silent(model: Model) {
    let findings = diagnosed(model).findings;
    assert!(findings.is_empty(), "{findings:#?}");
}
