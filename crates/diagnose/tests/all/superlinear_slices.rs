//! Work that grows with every call, told from slices of a run under callgrind: programs made of numbers.

use slowpath_diagnose::diagnose;
use slowpath_diagnose::findings::{Basis, Confidence, Findings};
use slowpath_recording::tables::{Function, Module, Process, Slice, SliceCall};
use slowpath_recording::{About, Recording, Tables};

/// A function that the one before it calls: its name, calls of it in each call of the caller, and instructions of its own in
/// call k of `item`.
type Model<'a> = (&'a str, &'a dyn Fn(f64) -> f64, &'a dyn Fn(f64) -> f64);

const ITEMS: usize = 2000;
const SLICES: usize = 200;

/// `main` calls `item` 2,000 times; it calls the others in turn, each being called by the one before. Slices have as many
/// instructions each.
fn recorded(besides: &dyn Fn(f64) -> f64, chain: &[Model<'_>]) -> Recording {
    let names: Vec<&str> = ["main", "item"].into_iter().chain(chain.iter().map(|one| one.0)).collect();
    // Of each item: own instructions and calls of each function.
    let items: Vec<Vec<(f64, f64)>> = (0..ITEMS)
        .map(|k| {
            let k = k as f64;
            let mut calls = 1.0;
            let mut of = vec![(20.0, 0.0), (besides(k), 1.0)];
            for (_, each, own) in chain {
                calls *= each(k);
                of.push((own(k), calls));
            }
            of
        })
        .collect();
    let whole: f64 = items.iter().flatten().map(|(own, _)| own).sum();
    let mut tables = Tables::default();
    tables.modules.push(Module {
        module: 0,
        path: "/bin/program".into(),
        build_id: None,
        device: 0,
        inode: 0,
        size: 0,
        mtime_ns: 0,
    });
    tables.processes.push(Process {
        process: 0,
        parent: None,
        pid: 1,
        run: 0,
        program: "/bin/program".into(),
        arguments: Vec::new(),
        directory: None,
        start_ns: 0,
        exec_ns: None,
        end_ns: None,
        exit: None,
        cpu_ns: None,
        user_ns: None,
        peak_memory_bytes: None,
        tracing_ns: 0,
        sample_scale: 1.0,
    });
    for (function, name) in names.iter().enumerate() {
        tables.functions.push(Function {
            function: function as u32,
            name: (*name).into(),
            module: Some(0),
            file: Some("program.c".into()),
            line: Some(10 * function as u32),
            address: 0,
        });
    }
    let (mut slice, mut done) = (0, 0.0);
    let mut sums = vec![(0.0, 0.0); names.len()];
    for (k, item) in items.iter().enumerate() {
        for (sum, (own, calls)) in sums.iter_mut().zip(item) {
            *sum = (sum.0 + own, sum.1 + calls);
        }
        done += item.iter().map(|(own, _)| own).sum::<f64>();
        if done < whole * (slice + 1) as f64 / SLICES as f64 && k + 1 < ITEMS {
            continue;
        }
        let mut inclusive = 0.0;
        for (function, (own, calls)) in sums.iter().enumerate().rev() {
            inclusive += own;
            tables.slices.push(Slice {
                process: 0,
                slice,
                function: function as u32,
                calls: *calls as u64,
                self_instructions: *own as u64,
                instructions: inclusive as u64,
            });
            if function > 0 {
                tables.slice_calls.push(SliceCall {
                    process: 0,
                    slice,
                    caller: function as u32 - 1,
                    callee: function as u32,
                    calls: *calls as u64,
                    instructions: inclusive as u64,
                });
            }
        }
        sums.fill((0.0, 0.0));
        slice += 1;
    }
    let instructions = tables.slices.iter().map(|row| row.self_instructions).sum();
    let about = About { instructions: Some(instructions), ..crate::common::about(1_000) };
    Recording::from_tables("synthetic".into(), about, tables, Vec::new())
}

fn of(besides: &dyn Fn(f64) -> f64, chain: &[Model<'_>]) -> Findings {
    diagnose(&recorded(besides, chain))
}

fn flat(_: f64) -> f64 {
    500.0
}

fn once(_: f64) -> f64 {
    1.0
}

#[test]
fn the_innermost_whose_calls_cost_ever_more_is_guilty_and_its_callee_a_victim() {
    let found = of(&flat, &[("insert", &once, &|k| 10.0 + k), ("same", &|k| 2.0 * k, &|k| 6.0 * k)]);
    assert_eq!(found.findings.len(), 1, "{:#?}", found.findings);
    let finding = &found.findings[0];
    assert_eq!((finding.place.frame.function.as_str(), finding.place.frame.line), ("insert", Some(20)));
    assert_eq!((finding.cost.basis(), finding.confidence), (Basis::Instructions, Confidence::Certain));
    assert_eq!(finding.cost.time_ns(), None);
    assert_eq!(finding.calls.map(|calls| calls.count), Some(ITEMS as u64));
    assert_eq!(finding.related.iter().map(|one| one.function.as_str()).collect::<Vec<_>>(), ["same", "item"]);
    assert_eq!(finding.fingerprint, "superlinear-work|program|insert|rising");
    let told = finding.explanation.join("\n");
    assert!(told.contains("the k-th call makes 2.0·k calls to same (R² 1.000)"), "{told}");
    let path: Vec<&str> = finding.place.path.iter().map(|frame| frame.function.as_str()).collect();
    assert_eq!(path, ["main", "item", "insert"]);
    // n · 10 of its own and nothing of its callee remain.
    let (cost, gain) = (finding.cost.amount(), finding.cost.gain());
    assert!(gain < cost && gain as f64 > 0.9 * cost as f64, "{gain} of {cost}");
}

#[test]
fn a_cost_that_falls_is_found_too() {
    let left = |k: f64| 10.0 + 4.0 * (ITEMS as f64 - k);
    let found = of(&flat, &[("take", &once, &left)]);
    assert_eq!(found.findings.len(), 1);
    assert_eq!(found.findings[0].title, "each call goes through everything that is left");
}

#[test]
fn where_the_input_grows_as_well_there_is_none() {
    let found = of(&|k| 50.0 + 2.0 * k, &[("insert", &once, &|k| 10.0 + 5.0 * k)]);
    assert_eq!(found.findings, []);
}

#[test]
fn where_nothing_else_is_done_it_is_a_hint() {
    let found = of(&|_| 3.0, &[("insert", &once, &|k| 300.0 + 5.0 * k)]);
    let confidences: Vec<Confidence> = found.findings.iter().map(|finding| finding.confidence).collect();
    assert_eq!(confidences, [Confidence::Hint]);
}

#[test]
fn where_each_call_reads_its_input_and_nothing_else_tells_of_it_there_is_none() {
    let mut recording =
        recorded(&|_| 3.0, &[("insert", &once, &|k| 300.0 + 5.0 * k), ("read", &once, &|_| 2.0)]);
    recording.tables.modules.push(Module {
        module: 1,
        path: "/lib/libc.so.6".into(),
        ..recording.tables.modules[0].clone()
    });
    recording.tables.functions[3].module = Some(1);
    assert_eq!(diagnose(&recording).findings, []);
}

#[test]
fn flat_work_phases_and_doubling_are_silent() {
    let phases = |k: f64| {
        if k < 700.0 {
            100.0
        } else if k < 1400.0 {
            400.0
        } else {
            900.0
        }
    };
    let doubling = |k: f64| if (k as u64 + 1).is_power_of_two() { 60.0 * (k + 1.0) } else { 40.0 };
    let log = |k: f64| 30.0 * (k + 2.0).log2();
    let cost: [&dyn Fn(f64) -> f64; 4] = [&|_| 900.0, &phases, &doubling, &log];
    for (at, cost) in cost.into_iter().enumerate() {
        assert_eq!(of(&flat, &[("insert", &once, cost)]).findings, [], "{at}");
    }
}

#[test]
fn the_instructions_are_told_where_the_time_would_be() {
    let found = of(&flat, &[("insert", &once, &|_| 900.0)]);
    let hottest = &found.hot[0];
    assert_eq!((hottest.function.as_str(), hottest.self_ns), ("insert", 0));
    assert_eq!(hottest.self_instructions, Some(900 * ITEMS as u64));
    assert_eq!(found.recording.instructions, Some((900 + 500 + 20) * ITEMS as u64));
}

#[test]
fn rows_of_slices_that_cannot_be_are_left_out() {
    let mut recording = recorded(&flat, &[("insert", &once, &|k| 10.0 + k)]);
    recording.tables.slices[0].slice = u32::MAX;
    recording.tables.slice_calls[0].slice = u32::MAX;
    let Recording { path, about, tables, damaged, .. } = recording;
    let recording = Recording::from_tables(path, about, tables, damaged);
    assert_eq!(recording.dangling, 2);
    let guilty: Vec<String> =
        diagnose(&recording).findings.into_iter().map(|one| one.place.frame.function).collect();
    assert_eq!(guilty, ["insert"]);
}
