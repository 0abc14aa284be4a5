//! The cause `redundant-computation`, on synthetic recordings, at its thresholds.
//!
//! The recordings are of a `main` that calls `is_valid`, which calls the C library's `regcomp`; or `search` in a library of its own, which
//! calls `regcomp`, too.

use crate::common::about;
use crate::sampled::{MS, Run};
use crate::traced::{Mode, Traced, WORK};
use slowpath_diagnose::diagnose;
use slowpath_diagnose::findings::{Confidence, Finding};
use slowpath_recording::tables::*;
use slowpath_recording::{Recording, Tables};
use std::path::PathBuf;

/// Functions, locations and stacks.
const MAIN: u32 = 0;
const IS_VALID: u32 = 1;
const COMPILE: u32 = 2;
const PARSE: u32 = 3;

/// A call that was looked at, and the key of its input.
fn noted(number: u64, key: u64) -> Beginning {
    Beginning {
        walk: 0,
        time_ns: 1_000 * number,
        thread: Some(0),
        cpu_ns: 0,
        addresses: vec![0],
        contents: vec![key],
        linked: 0,
        length: 0,
        within_ns: 0,
        below: 0,
    }
}

/// `compile`: what is called, and the library it is in. `keys` of the calls that were looked at. `share`: of a second, in it.
fn recording(compile: &str, library: &str, keys: impl Iterator<Item = u64>, share: f64) -> Recording {
    let mut tables = Tables::default();
    for (number, path) in [(0, "/bin/program"), (1, library)] {
        let (build_id, device) = (None, 0);
        tables.modules.push(Module {
            module: number,
            path: path.into(),
            build_id,
            device,
            inode: 1,
            size: 1,
            mtime_ns: 0,
        });
    }
    let functions = [
        (MAIN, "main", 0, None),
        (IS_VALID, "is_valid", 0, Some(MAIN)),
        (COMPILE, compile, 1, Some(IS_VALID)),
        (PARSE, "parse_branch", 1, Some(COMPILE)),
    ];
    for (number, name, module, parent) in functions {
        let address = u64::from(number + 1) * 0x1000;
        let (name, file) = (name.to_owned(), (module == 0).then(|| "program.c".to_owned()));
        let module = Some(module);
        tables.functions.push(Function {
            function: number,
            name,
            module,
            file: file.clone(),
            line: Some(1),
            address,
        });
        tables.locations.push(Location { location: number, module, address, kind: "native".into() });
        let line = Some(number + 10);
        tables.frames.push(Frame {
            location: number,
            depth: 0,
            function: number,
            file,
            line,
            kind: "native".into(),
        });
        tables.stacks.push(Stack { stack: number, parent, location: number });
    }
    tables.walks.push(Walk {
        walk: 0,
        process: 0,
        location: COMPILE,
        loop_number: None,
        strides: vec![0],
        arguments: None,
    });
    let mut run = Run::new(tables);
    run.spend((1.0 - share) * 1000.0 * MS, MAIN);
    run.spend(share * 800.0 * MS, PARSE);
    run.spend(share * 200.0 * MS, COMPILE);
    let end_ns = run.now as u64;
    let mut tables = run.tables;
    crate::sampled::one_thread(&mut tables, end_ns);
    for (number, key) in keys.enumerate() {
        tables.beginnings.push(noted(number as u64, key));
    }
    Recording::from_tables(PathBuf::from("synthetic"), about(end_ns), tables, Vec::new())
}

fn findings(recording: &Recording) -> Vec<Finding> {
    assert_eq!(recording.dangling, 0, "the synthetic recording is whole");
    diagnose(recording).findings
}

fn of(calls: u64, inputs: u64, share: f64) -> Vec<Finding> {
    findings(&recording("regcomp", "/lib/libc.so.6", (0..calls).map(|call| 1 + call % inputs), share))
}

#[test]
fn an_expression_that_is_compiled_again_is_reported_where_it_is_asked_for() {
    let [finding] = &of(200, 3, 0.8)[..] else { panic!("there is one finding") };
    assert_eq!((finding.cause.slug(), finding.confidence), ("redundant-computation", Confidence::Certain));
    assert_eq!((finding.place.frame.function.as_str(), finding.place.frame.line), ("is_valid", Some(11)));
    assert_eq!(finding.title, "compiles a regular expression again and again");
    let said = &finding.explanation[0];
    assert!(said.starts_with("regcomp compiles") && said.contains("197 of 200 calls"), "{said}");
    assert!(said.contains("(3 different inputs in all)"), "{said}");
    // 0.8 s, of which 197 of 200 go.
    assert!((780..=792).contains(&(finding.cost.gain() / 1_000_000)), "{:?}", finding.cost);
}

/// `regcomp`, which `work` calls at two lines, reads a file for 300 µs at `read_at` each time, and works for so many ms besides.
fn reading(read_at: u32, work_ms: u64) -> Vec<(&'static str, u64)> {
    const US: u64 = 1_000;
    let mut traced = Traced::new(Mode::Each);
    traced.tables.functions[WORK as usize].name = "regcomp".to_owned();
    let file = traced.file("/etc/locale", "file", 2_000);
    // Another call of the same function.
    let tables = &mut traced.tables;
    let (location, stack) = (tables.locations.len() as u32, tables.stacks.len() as u32);
    let of_work = tables.stacks[WORK as usize].parent.expect("`work` calls it");
    let place = tables.stacks[of_work as usize].location as usize;
    tables.locations.push(Location { location, address: 0x9000, ..tables.locations[place].clone() });
    let frame = tables.frames.iter().find(|frame| frame.location as usize == place).expect("a frame");
    tables.frames.push(slowpath_recording::tables::Frame { location, line: Some(read_at), ..frame.clone() });
    let parent = tables.stacks[of_work as usize].parent;
    tables.stacks.push(Stack { stack, parent, location });
    tables.stacks.push(Stack {
        stack: stack + 1,
        parent: Some(stack),
        location: tables.stacks[WORK as usize].location,
    });
    traced.tables.beginnings.extend((0..100).map(|call| noted(call, 1)));
    let location = traced.tables.stacks[WORK as usize].location;
    traced.tables.walks.push(Walk {
        walk: 0,
        process: 0,
        location,
        loop_number: None,
        strides: vec![0],
        arguments: None,
    });
    for _ in 0..1_000 {
        for (number, result) in [(257, 3), (0, 2_000), (3, 0)] {
            traced.call(number, Some(file), result, 100 * US).stack = Some(stack + 1);
        }
    }
    traced.compute(WORK, work_ms * 1_000 * US);
    let found = diagnose(&traced.recording(1_000 * 1_000 * US)).findings;
    found.iter().map(|one| (one.cause.slug(), one.cost.gain() / 1_000_000)).collect()
}

#[test]
fn a_file_that_is_read_because_something_is_prepared_again_is_part_of_that() {
    assert_eq!(reading(11, 400), [("redundant-computation", 396)]);
    // It saves less than half as much, or it is another call.
    assert_eq!(reading(11, 140).len(), 2);
    assert_eq!(reading(12, 400).len(), 2);
}

#[test]
fn where_most_inputs_are_new_it_is_silent() {
    let confidence = |inputs| of(200, inputs, 0.8).first().map(|finding| finding.confidence);
    assert_eq!(confidence(10), Some(Confidence::Certain));
    assert_eq!(confidence(11), Some(Confidence::Likely));
    assert_eq!(confidence(100), Some(Confidence::Likely));
    assert_eq!(confidence(101), None);
    assert_eq!(confidence(200), None);
}

/// 300 calls that were looked at in three bursts of 100, each after other calls. `input` of the burst and the call in it.
fn in_bursts(input: impl Fn(u64, u64) -> u64) -> Vec<Finding> {
    let keys = (0..3).flat_map(|burst| (0..100).map(move |call| (burst, call)));
    let mut recording =
        recording("regcomp", "/lib/libc.so.6", keys.map(|(burst, call)| 1 + input(burst, call)), 0.8);
    let bursts = (0..3).map(|burst| (burst * 100_000, burst * 100_000 + 99_000));
    recording.tables.walk_bursts = bursts
        .map(|(start_ns, end_ns)| WalkBurst { walk: 0, start_ns, end_ns, entries: 100, rounds: None })
        .collect();
    findings(&recording)
}

#[test]
fn what_is_met_far_apart_recurs_all_the_time() {
    // Each input once in each burst: 200 of 300 calls repeat one, but of all calls of the run nearly all do.
    let [finding] = &in_bursts(|_, call| call)[..] else { panic!("there is one finding") };
    assert_eq!(finding.confidence, Confidence::Likely);
    assert!(finding.explanation[0].contains("300 of 300 calls"), "{finding:#?}");
    assert!((795..=805).contains(&(finding.cost.gain() / 1_000_000)), "{:?}", finding.cost);
    // In each burst others, each of them twice: half of the calls are needed.
    let [finding] = &in_bursts(|burst, call| burst * 100 + call / 2)[..] else {
        panic!("there is one finding")
    };
    assert!((395..=403).contains(&(finding.cost.gain() / 1_000_000)), "{:?}", finding.cost);
    assert!(in_bursts(|burst, call| burst * 100 + call).is_empty());
    // In two bursts of three: a program that does everything twice.
    let [finding] = &in_bursts(|burst, call| if burst == 2 { 100 + call / 2 } else { call })[..] else {
        panic!("there is one finding")
    };
    assert!((395..=403).contains(&(finding.cost.gain() / 1_000_000)), "{:?}", finding.cost);
}

#[test]
fn who_asks_in_a_stack_that_ends_early_is_nobody_else() {
    let keys = (0..200).map(|call| 1 + call % 20);
    let mut recording = recording("regcomp", "/lib/libc.so.6", keys, 0.8);
    let number = recording.tables.stacks.len() as u32;
    recording.tables.stacks.push(Stack { stack: number, parent: None, location: PARSE });
    recording.tables.stacks.push(Stack { stack: number + 1, parent: Some(number), location: COMPILE });
    let mut left = 200;
    for sample in recording.tables.samples.iter_mut().filter(|sample| sample.stack == Some(PARSE)) {
        if left > 0 {
            (sample.stack, sample.complete, left) = (Some(number + 1), false, left - 1);
        }
    }
    let [finding] = &findings(&recording)[..] else { panic!("there is one finding") };
    assert_eq!(finding.place.frame.function, "is_valid");
    // All of it is given to the only one that is known: 0.8 s, of which 180 of 200 go.
    assert!((715..=725).contains(&(finding.cost.gain() / 1_000_000)), "{:?}", finding.cost);
}

#[test]
fn twenty_calls_and_a_tenth_of_the_time_count() {
    assert_eq!((of(20, 1, 0.8).len(), of(19, 1, 0.8).len()), (1, 0));
    assert_eq!((of(200, 1, 0.11).len(), of(200, 1, 0.09).len()), (1, 0));
}

#[test]
fn streams_count_from_a_quarter_of_the_time_on() {
    let stream = "std::basic_ios<char, std::char_traits<char> >::init(std::basic_streambuf<char>*)";
    let of = |share| {
        let keys = std::iter::repeat_n(1, 100);
        findings(&recording(stream, "/lib/libstdc++.so.6", keys, share)).len()
    };
    assert_eq!((of(0.26), of(0.24)), (1, 0));
}

#[test]
fn of_an_interpreter_of_a_script_it_must_be_noticed() {
    // A tenth of a second in all.
    let found = |share: f64, script: bool| {
        let mut recording = recording("regcomp", "/lib/libc.so.6", (0..200).map(|_| 1), share);
        recording.tables.samples.iter_mut().for_each(|sample| sample.weight_ns /= 10);
        if script {
            recording.tables.modules[0].path = "/usr/bin/bash".into();
            let process = &mut recording.tables.processes[0];
            process.program = "/usr/bin/bash".into();
            process.arguments = vec!["bash".into(), "report.sh".into()];
        }
        (recording.about.user_ns, recording.about.sys_ns) = (100_000_000, 0);
        findings(&recording).first().map(|finding| finding.place.frame.function.clone())
    };
    assert_eq!(found(0.4, false).as_deref(), Some("is_valid"));
    assert_eq!(found(0.4, true), None);
    assert_eq!(found(0.6, true).as_deref(), Some("report.sh"));
}

#[test]
fn what_has_no_input_is_likely() {
    let context = |library| findings(&recording("SSL_CTX_new", library, (0..100).map(|_| 1), 0.5));
    let [finding] = &context("/lib/libssl.so.3")[..] else { panic!("there is one finding") };
    assert_eq!((finding.confidence, finding.place.frame.function.as_str()), (Confidence::Likely, "is_valid"));
    assert!(finding.explanation[0].contains("100 calls were looked at"), "{:?}", finding.explanation);
    // A number is seldom all that matters.
    let plan = findings(&recording("fftw_plan_dft_1d", "/lib/libfftw3.so.3", (0..100).map(|_| 7), 0.5));
    assert_eq!(plan.iter().map(|finding| finding.confidence).collect::<Vec<_>>(), [Confidence::Likely]);
}

#[test]
fn inputs_that_are_not_known_may_be_new() {
    let of = |unknown: u64| {
        let keys = (0..200).map(|call| u64::from(call >= unknown));
        findings(&recording("regcomp", "/lib/libc.so.6", keys, 0.8)).len()
    };
    assert_eq!((of(0), of(99), of(100)), (1, 1, 0));
}

#[test]
fn what_is_not_listed_and_addresses_of_a_loop_are_none() {
    assert!(findings(&recording("my_compile", "/lib/libmine.so", (0..200).map(|_| 1), 0.8)).is_empty());
    let mut of_a_loop = recording("regcomp", "/lib/libc.so.6", (0..200).map(|_| 1), 0.8);
    of_a_loop.tables.beginnings.iter_mut().for_each(|row| row.addresses = vec![0x7000_0000]);
    assert!(findings(&of_a_loop).is_empty());
}

#[test]
fn where_several_ask_and_some_inputs_are_new_it_is_not_known_who_repeats() {
    let of = |inputs: u64| {
        let mut recording =
            recording("regcomp", "/lib/libc.so.6", (0..200).map(|call| 1 + call % inputs), 0.8);
        // Every fifth sample in it is called from main itself.
        let tables = &mut recording.tables;
        tables.stacks.push(Stack { stack: 4, parent: Some(MAIN), location: COMPILE });
        let inside = tables.samples.iter_mut().filter(|sample| sample.stack != Some(MAIN));
        inside.step_by(5).for_each(|sample| sample.stack = Some(4));
        findings(&recording).len()
    };
    assert_eq!((of(1), of(10), of(11)), (2, 2, 0));
}

#[test]
fn what_a_library_asks_of_itself_is_asked_by_its_caller() {
    // The library's own function calls it: whoever called that is reported.
    let mut tables = recording("g_regex_new", "/lib/libglib-2.0.so.0", (0..200).map(|_| 1), 0.8).tables;
    let simple = Function {
        function: 4,
        name: "g_regex_match_simple".into(),
        module: Some(1),
        file: None,
        line: None,
        address: 0x9000,
    };
    tables.functions.push(simple);
    tables.locations.push(Location { location: 4, module: Some(1), address: 0x9000, kind: "native".into() });
    tables.frames.push(Frame {
        location: 4,
        depth: 0,
        function: 4,
        file: None,
        line: None,
        kind: "native".into(),
    });
    // main → is_valid → g_regex_match_simple → g_regex_new → …
    tables.stacks[COMPILE as usize] = Stack { stack: COMPILE, parent: Some(IS_VALID), location: 4 };
    tables.stacks[PARSE as usize] = Stack { stack: PARSE, parent: Some(COMPILE), location: COMPILE };
    let wall_ns = 1_000_000_000;
    let recording = Recording::from_tables(PathBuf::from("synthetic"), about(wall_ns), tables, Vec::new());
    let [finding] = &findings(&recording)[..] else { panic!("there is one finding") };
    assert_eq!(finding.place.frame.function, "is_valid");
}
