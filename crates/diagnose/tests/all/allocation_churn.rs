//! The cause `allocation-churn`, on synthetic recordings, at its thresholds.
//!
//! The recordings are of a `main` that calls `count`, which asks `text` for memory, with or without a library in between, and frees it.

use crate::common::about;
use crate::sampled::{MS, Run};
use slowpath_diagnose::diagnose;
use slowpath_diagnose::findings::{Confidence, Finding};
use slowpath_recording::tables::*;
use slowpath_recording::{Recording, Tables};
use std::path::PathBuf;

/// Functions and locations.
const MAIN: u32 = 0;
const COUNT: u32 = 1;
const TEXT: u32 = 2;
const MALLOC: u32 = 3;
const FREE: u32 = 4;
const REALLOC: u32 = 5;
const MALLOCGC: u32 = 6;
const COLLECTOR: u32 = 7;

struct Model {
    /// What `count` calls for memory.
    text: &'static str,
    /// Functions on the way to `malloc`, and to `free`, outermost first.
    takes: Vec<u32>,
    gives: Vec<u32>,
    /// Shares of a second.
    taking: f64,
    giving: f64,
    /// What `text` does besides.
    filling: f64,
    /// Blocks that are freed, in order.
    blocks: Vec<u64>,
    bursts: usize,
    /// Calls of `realloc` instead: the size that is wanted, and the word before the block.
    grown: Vec<(u64, u64)>,
    /// Of a program in Go instead: bytes a piece, and the largest resident size.
    collected: Option<(u64, u64)>,
}

impl Default for Model {
    fn default() -> Model {
        Model {
            text: "text",
            takes: vec![MAIN, COUNT, TEXT, MALLOC],
            gives: vec![MAIN, COUNT, FREE],
            taking: 0.2,
            giving: 0.2,
            filling: 0.2,
            blocks: few(512, 4),
            bursts: 2,
            grown: Vec::new(),
            collected: None,
        }
    }
}

/// So many frees of so few blocks.
fn few(frees: u64, blocks: u64) -> Vec<u64> {
    (0..frees).map(|free| 0x5_0000_0000 + 0x20 * (free % blocks)).collect()
}

/// Of 500 frees, in two bursts, so many in a thousand are of blocks that are freed for the first time.
fn with_others(others: u64) -> Vec<u64> {
    (0..500)
        .map(|free| if free * 37 % 1_000 < others { 0x6_0000_0000 + 0x20 * free } else { 0x5_0000_0000 })
        .collect()
}

fn recording(model: &Model) -> Recording {
    let mut tables = Tables::default();
    for (number, path) in [(0, "/bin/program"), (1, "/lib/libc.so.6")] {
        let (build_id, device, inode, size, mtime_ns) = (None, 0, 1, 1, 0);
        tables.modules.push(Module {
            module: number,
            path: path.into(),
            build_id,
            device,
            inode,
            size,
            mtime_ns,
        });
    }
    let functions = [
        (MAIN, if model.collected.is_some() { "main.main" } else { "main" }, 0),
        (COUNT, "count", 0),
        (TEXT, model.text, 0),
        (MALLOC, "malloc", 1),
        (FREE, "free", 1),
        (REALLOC, "realloc", 1),
        (MALLOCGC, "runtime.mallocgc", 0),
        (COLLECTOR, "runtime.gcBgMarkWorker", 0),
    ];
    for (number, name, module) in functions {
        let (address, line) = (u64::from(number + 1) * 0x1000, Some(number + 10));
        let (name, file) = (name.to_owned(), (module == 0).then(|| "program.c".to_owned()));
        let (module, kind) = (Some(module), "native".to_owned());
        tables.functions.push(Function { function: number, name, module, file: file.clone(), line, address });
        tables.locations.push(Location { location: number, module, address, kind: kind.clone() });
        tables.frames.push(Frame { location: number, depth: 0, function: number, file, line, kind });
    }
    // Each path has stacks of its own; the last frame's is the one that time is spent on.
    let mut stack_of = |path: &[u32]| {
        let mut parent = None;
        for location in path {
            let stack = tables.stacks.len() as u32;
            tables.stacks.push(Stack { stack, parent, location: *location });
            parent = Some(stack);
        }
        parent.expect("a path")
    };
    let (main, looks, filling) =
        (stack_of(&[MAIN]), stack_of(&[MAIN, COUNT]), stack_of(&[MAIN, COUNT, TEXT]));
    let (takes, gives) = (stack_of(&model.takes), stack_of(&model.gives));
    let mut run = Run::new(tables);
    run.spend((0.9 - model.taking - model.giving - model.filling) * 1000.0 * MS, main);
    run.spend(100.0 * MS, looks);
    // Item by item.
    for _ in 0..20 {
        run.spend(model.filling * 50.0 * MS, filling);
        run.spend(model.taking * 50.0 * MS, takes);
        run.spend(model.giving * 50.0 * MS, gives);
    }
    let end_ns = run.now as u64;
    let mut tables = run.tables;
    crate::sampled::one_thread(&mut tables, end_ns);
    let blocks: Vec<Vec<u64>> = model.blocks.iter().map(|block| vec![*block]).collect();
    crate::sampled::entered(&mut tables, FREE, &blocks, model.bursts);
    if let Some((bytes, peak)) = model.collected {
        tables.processes[0].peak_memory_bytes = Some(peak);
        crate::sampled::entered(&mut tables, MALLOCGC, &vec![vec![bytes]; 32 * model.bursts], model.bursts);
    }
    if !model.grown.is_empty() {
        let calls: Vec<Vec<u64>> = model.grown.iter().map(|(wanted, word)| vec![*wanted, *word]).collect();
        crate::sampled::entered(&mut tables, REALLOC, &calls, model.bursts);
    }
    Recording::from_tables(PathBuf::from("synthetic"), about(end_ns), tables, Vec::new())
}

fn of(model: Model) -> Vec<Finding> {
    let recording = recording(&model);
    assert_eq!(recording.dangling, 0, "the synthetic recording is whole");
    let found = diagnose(&recording).findings;
    found.into_iter().filter(|finding| finding.cause.slug() == "allocation-churn").collect()
}

#[test]
fn who_drops_what_it_asked_for_is_reported_with_who_allocates_it() {
    let [finding] = &of(Model::default())[..] else { panic!("there is one finding") };
    assert_eq!((finding.place.frame.function.as_str(), finding.confidence), ("count", Confidence::Likely));
    assert!(finding.explanation[1].contains("99 % of 512 frees"), "{finding:#?}");
    assert!(finding.explanation[2].contains("allocated in text"), "{finding:#?}");
    assert!((385..=405).contains(&(finding.cost.gain() / 1_000_000)), "{:?}", finding.cost);
}

#[test]
fn who_allocates_and_frees_itself_is_reported() {
    let gives = vec![MAIN, COUNT, TEXT, FREE];
    let found = of(Model { gives: gives.clone(), ..Model::default() });
    assert_eq!(found[0].place.frame.function, "text");
    // A runtime's function does it for its caller, and so does a destructor.
    for text in
        ["std::vector<int>::push_back(int const&)", "<prog::Key as core::clone::Clone>::clone", "Key::~Key()"]
    {
        let found = of(Model { text, gives: gives.clone(), ..Model::default() });
        assert_eq!(found[0].place.frame.function, "count", "{text}");
    }
    // So does what is nearly all allocator.
    let found = of(Model { gives: gives.clone(), filling: 0.06, ..Model::default() });
    assert_eq!(found[0].place.frame.function, "count");
    let found = of(Model { gives, filling: 0.08, ..Model::default() });
    assert_eq!(found[0].place.frame.function, "text");
}

#[test]
fn what_makes_a_structure_and_what_takes_it_down_are_not() {
    let found = |takes: &[u32]| of(Model { takes: takes.to_vec(), ..Model::default() }).len();
    assert_eq!(found(&[MAIN, COUNT, TEXT, MALLOC]), 1);
    assert_eq!(found(&[MAIN, COUNT, TEXT, TEXT, TEXT, MALLOC]), 0, "it calls itself");
    assert_eq!(found(&[MAIN, TEXT, COUNT, TEXT, MALLOC]), 0, "by another function");
}

#[test]
fn a_fifth_of_the_time_counts_and_a_part_of_both() {
    let spent = |taking, giving| of(Model { taking, giving, ..Model::default() }).len();
    assert_eq!((spent(0.105, 0.105), spent(0.095, 0.095)), (1, 0));
    assert_eq!((spent(0.32, 0.08), spent(0.36, 0.04)), (1, 0));
    assert_eq!((spent(0.08, 0.32), spent(0.04, 0.36)), (1, 0));
}

#[test]
fn the_same_few_blocks_in_two_bursts_of_sixty_four() {
    let blocks = |blocks, bursts| of(Model { blocks, bursts, ..Model::default() }).len();
    assert_eq!((blocks(few(64, 2), 2), blocks(few(63, 2), 2)), (1, 0));
    assert_eq!((blocks(few(512, 4), 2), blocks(few(512, 4), 1)), (1, 0));
    assert_eq!((blocks(few(512, 25), 2), blocks(few(512, 27), 2)), (1, 0));
    assert_eq!((blocks(with_others(90), 2), blocks(with_others(110), 2)), (1, 0));
    assert_eq!(blocks(vec![0; 512], 2), 0, "no block at all");
}

/// A list of 8 bytes an item grows from so many bytes on, in so many calls: the size that is wanted, and the word before the block, with the flag
/// that the block before it is used.
fn growing(from: u64, calls: u64, by: impl Fn(u64) -> u64) -> Model {
    // A block has 8 bytes more than the multiple of 16 that it begins at.
    let call = |at: u64| {
        let usable = from + 16 * at;
        (usable + by(usable), (usable + 8) | 1)
    };
    Model {
        takes: vec![MAIN, COUNT, TEXT, REALLOC],
        giving: 0.0,
        blocks: Vec::new(),
        grown: (0..calls).map(call).collect(),
        ..Model::default()
    }
}

#[test]
fn a_list_that_grows_by_one_each_time_is_reported() {
    let [finding] = &of(growing(1_000, 100, |_| 8))[..] else { panic!("there is one finding") };
    assert_eq!((finding.place.frame.function.as_str(), finding.variant), ("text", "growing"));
    assert!((195..=205).contains(&(finding.cost.gain() / 1_000_000)), "{:?}", finding.cost);
    assert!(finding.explanation[0].contains("100 calls of realloc"), "{finding:#?}");
}

#[test]
fn lists_that_grow_by_a_part_or_are_short_or_of_another_allocator_are_left_alone() {
    let found = |model: Model| of(model).len();
    // A sixteenth of what there was, and CPython's eighth.
    assert_eq!(
        (found(growing(1_000, 100, |size| size / 16)), found(growing(1_000, 100, |size| size / 15))),
        (1, 0)
    );
    assert_eq!(found(growing(1_000, 100, |size| size / 8 + 6)), 0);
    // It fits.
    assert_eq!(found(growing(1_000, 100, |_| 0)), 0);
    assert_eq!((found(growing(1_000, 64, |_| 8)), found(growing(1_000, 63, |_| 8))), (1, 0));
    // From 512 bytes on.
    assert_eq!((found(growing(520, 64, |_| 8)), found(growing(504, 64, |_| 8))), (1, 0));
    let changed = |change: fn(&mut (u64, u64))| {
        let mut model = growing(1_000, 100, |_| 8);
        model.grown.iter_mut().for_each(change);
        found(model)
    };
    assert_eq!(changed(|call| call.1 |= 2), 0, "pages of its own");
    assert_eq!(changed(|call| call.1 += 8), 0, "no size of glibc's");
    assert_eq!(changed(|call| call.1 = 0), 0, "it could not be read");
    let time = |taking| Model { taking, filling: 0.1, ..growing(1_000, 100, |_| 8) };
    assert_eq!((found(time(0.11)), found(time(0.09))), (1, 0));
    assert_eq!(found(Model { bursts: 1, ..growing(1_000, 100, |_| 8) }), 0);
}

/// A program in Go that allocates for a fifth of a second, pieces of 40 bytes: that makes at least 125 MB.
fn collected() -> Model {
    Model {
        text: "main.text",
        takes: vec![MAIN, TEXT, MALLOCGC],
        gives: vec![COLLECTOR],
        taking: 0.2,
        giving: 0.2,
        filling: 0.1,
        blocks: Vec::new(),
        collected: Some((40, 10_000_000)),
        ..Model::default()
    }
}

#[test]
fn what_a_collector_takes_back_is_reported_where_it_is_allocated() {
    let [finding] = &of(collected())[..] else { panic!("there is one finding") };
    assert_eq!((finding.place.frame.function.as_str(), finding.variant), ("main.text", "collected"));
    assert!((390..=410).contains(&(finding.cost.gain() / 1_000_000)), "{:?}", finding.cost);
    assert!(
        finding.explanation[1].contains("117 MiB were allocated in all, in pieces of 40 bytes"),
        "{finding:#?}"
    );
}

#[test]
fn memory_that_is_kept_or_asked_for_everywhere_or_takes_little_is_left_alone() {
    let found = |model: Model| of(model).len();
    // Eight times what the program has.
    let peak = |peak| found(Model { collected: Some((40, peak)), ..collected() });
    assert_eq!((peak(15_200_000), peak(15_500_000)), (1, 0));
    // 0.3 of the time.
    let time = |taking, giving| found(Model { taking, giving, ..collected() });
    assert_eq!((time(0.2, 0.11), time(0.2, 0.09)), (1, 0));
    assert_eq!(found(Model { bursts: 1, ..collected() }), 0);
    let trees = vec![MAIN, TEXT, COUNT, TEXT, MALLOCGC];
    assert_eq!(found(Model { takes: trees, ..collected() }), 0, "a tree is made");
    assert_eq!(found(Model { text: "runtime.growslice", ..collected() }), 1, "its caller asks");
}

#[test]
fn what_the_collector_has_others_do_as_they_write_pointers_is_its_own_work() {
    let mut recording = recording(&Model { gives: vec![MAIN, COUNT, FREE], ..collected() });
    recording.tables.functions[FREE as usize].name = "runtime.gcWriteBarrier2".to_owned();
    let [finding] = &diagnose(&recording).findings[..] else { panic!("there is one finding") };
    // `count`, which writes them, asks for nothing.
    assert_eq!(finding.place.frame.function, "main.text");
    assert!((390..=410).contains(&(finding.cost.gain() / 1_000_000)), "{:?}", finding.cost);
}

#[test]
fn in_go_what_does_nothing_but_allocate_is_reported_where_it_asks_by_itself_for_one_caller() {
    let found = |model: &Model, library: Option<&str>| {
        let mut recording = recording(model);
        if let Some(name) = library {
            recording.tables.functions[COUNT as usize].name = name.to_owned();
        }
        let [finding] = &diagnose(&recording).findings[..] else { panic!("there is one finding") };
        finding.place.frame.function.clone()
    };
    let wraps = || Model { filling: 0.0, ..collected() };
    assert_eq!(found(&wraps(), None), "main.text");
    // A library's writer allocates for whoever has it made, and not for who writes first.
    let by_library = Model { takes: vec![MAIN, TEXT, COUNT, MALLOCGC], ..wraps() };
    assert_eq!(found(&by_library, None), "count");
    assert_eq!(found(&by_library, Some("compress/flate.NewWriter")), "main.main");
    // What makes the nodes of a tree does so for whoever makes the tree.
    assert_eq!(of(Model { takes: vec![MAIN, COUNT, COUNT, TEXT, MALLOCGC], ..wraps() }).len(), 0);
}

#[test]
fn a_function_that_asks_wherever_it_was_inlined_is_one() {
    // Half of the time it is in `main` and half in `count`.
    let mut recording = recording(&Model { takes: vec![MAIN, COUNT, MALLOCGC], ..collected() });
    let (stacks, samples) = (&mut recording.tables.stacks, &mut recording.tables.samples);
    let takes = stacks.iter().find(|one| one.location == MALLOCGC).map(|one| one.stack);
    let of_main = stacks.iter().position(|one| one.location == MAIN && one.parent.is_none());
    let (stack, parent) = (stacks.len() as u32, of_main.map(|at| at as u32));
    stacks.push(Stack { stack, parent, location: MALLOCGC });
    let asking = samples.iter_mut().filter(|sample| sample.stack == takes);
    asking.step_by(2).for_each(|sample| sample.stack = Some(stack));
    assert_eq!(diagnose(&recording).findings.len(), 0, "each of two asks for half");
    let frames = &mut recording.tables.frames;
    for location in [MAIN, COUNT] {
        let at = frames.iter().position(|frame| frame.location == location).expect("it has a frame");
        let inner = Frame { function: TEXT, kind: "inlined".to_owned(), ..frames[at].clone() };
        frames[at].depth = 1;
        frames.insert(at, inner);
    }
    let tables = recording.tables;
    let recording = Recording::from_tables(PathBuf::from("synthetic"), recording.about, tables, Vec::new());
    let [finding] = &diagnose(&recording).findings[..] else { panic!("there is one finding") };
    assert_eq!(finding.place.frame.function, "main.text");
    assert!((390..=410).contains(&(finding.cost.gain() / 1_000_000)), "{:?}", finding.cost);
}

/// The same with little collecting, 250 ms in the scheduler because of yields, and so many samples of the collector and of `main` yielding.
fn yielding(collector: usize, own: usize) -> Vec<Finding> {
    let mut recording = recording(&Model { giving: 0.05, filling: 0.0, ..collected() });
    let tables = &mut recording.tables;
    let mut stack = |name: &str, parent: Option<u32>| {
        let (number, stack) = (tables.functions.len() as u32, tables.stacks.len() as u32);
        let (address, file, line) = (u64::from(number + 1) * 0x1000, None, None);
        let (kind, module) = ("native".to_owned(), Some(0));
        let function = number;
        tables.functions.push(Function { function, name: name.into(), module, file: None, line, address });
        tables.locations.push(Location { location: number, module, address, kind: kind.clone() });
        tables.frames.push(Frame { location: number, depth: 0, function, file, line, kind });
        tables.stacks.push(Stack { stack, parent, location: number });
        stack
    };
    let switches = stack("runtime.gosched_m", None);
    let sweeps = stack("runtime.bgsweep", None);
    let by_collector = stack("runtime.goschedIfBusy", Some(sweeps));
    let by_main = stack("runtime.Gosched", Some(MAIN));
    let of = [(switches, 250), (by_collector, collector), (by_main, own)];
    let stacks = of.into_iter().flat_map(|(stack, samples)| std::iter::repeat_n(stack, samples));
    let of_main = tables.samples.iter_mut().filter(|sample| sample.stack == Some(MAIN));
    of_main.zip(stacks).for_each(|(sample, stack)| sample.stack = Some(stack));
    diagnose(&recording).findings
}

#[test]
fn the_scheduler_works_for_the_collector_that_yields_to_it() {
    let [finding] = &yielding(5, 0)[..] else { panic!("there is one finding") };
    // 0.2 s allocating, 0.05 and 5 ms collecting, and the 0.25 s.
    assert!((495..=515).contains(&(finding.cost.gain() / 1_000_000)), "{:?}", finding.cost);
    assert_eq!(yielding(4, 0).len(), 0);
    let [finding] = &yielding(5, 5)[..] else { panic!("there is one finding") };
    assert!((370..=390).contains(&(finding.cost.gain() / 1_000_000)), "{:?}", finding.cost);
}

#[test]
fn memory_of_what_is_copied_in_the_same_function_goes_with_it() {
    // `count` clones a scope for 0.7 s, most of it in the allocator, and drops it again.
    let model = Model {
        text: "<lang::Scope as core::clone::Clone>::clone",
        taking: 0.4,
        giving: 0.15,
        filling: 0.25,
        ..Model::default()
    };
    let recording = recording(&model);
    let causes: Vec<&str> =
        diagnose(&recording).findings.iter().map(|finding| finding.cause.slug()).collect();
    assert_eq!(causes, ["redundant-copy"]);
}

#[test]
fn who_asks_for_less_than_most_of_realloc_is_not_told() {
    // What comes from elsewhere in the program.
    let mut with = growing(1_000, 100, |_| 8);
    with.takes = vec![MAIN, COUNT, REALLOC];
    assert_eq!(of(with)[0].place.frame.function, "count");
    let mut recording = recording(&growing(1_000, 100, |_| 8));
    let reallocs: Vec<usize> = {
        let tables = &recording.tables;
        let ends = |sample: &&Sample| {
            sample.stack.is_some_and(|stack| tables.stacks[stack as usize].location == REALLOC)
        };
        (0..tables.samples.len()).filter(|at| ends(&&tables.samples[*at])).collect()
    };
    // A quarter of it is asked for by `main` itself.
    let (stack, location) = (recording.tables.stacks.len() as u32, REALLOC);
    recording.tables.stacks.push(Stack { stack, parent: Some(0), location });
    for at in reallocs.iter().step_by(4) {
        recording.tables.samples[*at].stack = Some(stack);
    }
    let found = diagnose(&recording).findings;
    assert!(found.iter().all(|finding| finding.cause.slug() != "allocation-churn"), "{found:#?}");
}
