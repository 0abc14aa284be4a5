//! The cause `redundant-copy`, on synthetic recordings, at its thresholds.
//!
//! The recordings are of a `main` that calls `units`, which copies with a function of a library, and allocates memory for it.

use crate::common::about;
use crate::sampled::{MS, Run};
use slowpath_diagnose::diagnose;
use slowpath_diagnose::findings::{Confidence, Finding};
use slowpath_recording::tables::*;
use slowpath_recording::{Recording, Tables};
use std::path::PathBuf;

/// Functions, locations and stacks.
const MAIN: u32 = 0;
const UNITS: u32 = 1;
const BETWEEN: u32 = 2;
const COPY: u32 = 3;
const MALLOC: u32 = 4;
const FREE: u32 = 5;
/// The stack of a copy that `main` asks for itself.
const BY_MAIN: u32 = 6;
/// That of allocating memory in a copy.
const WITHIN: u32 = 7;
/// Another function that copies for the same one: its function and location, and its stack.
const OTHER: u32 = 6;
const IN_OTHER: u32 = 8;

/// A pointer, and the hash of what it leads to.
const HERE: (u64, u64) = (0x5_0000_0000, 7);
const THERE: (u64, u64) = (0x6_0000_0000, 8);

struct Model {
    copies: &'static str,
    /// What calls it, and the file that this is in: 0 the program, 1 the C library.
    between: (&'static str, u32),
    /// Arguments of each call, with the hash of what they lead to.
    calls: Vec<[(u64, u64); 3]>,
    /// A `clone` was inlined where `units` asks.
    inlined: bool,
    /// In so many bursts.
    bursts: usize,
    /// Shares of a second: copying, and allocating for it.
    share: f64,
    allocating: f64,
    /// The same, asked for by `main` itself.
    by_main: f64,
    /// Reads of the process.
    reads: u64,
    /// Time in freeing memory, a share of a second, and in how many of ten parts of the run; the share of the copying that is allocating.
    freeing: (f64, usize),
    within: f64,
    /// Copies that were followed in each of so many stretches: all, those dropped, and those that were not changed.
    followed: (u32, [u64; 3]),
    /// Of another function that copies: its share of a second, and what was followed of its copies.
    other: Option<(f64, [u64; 3])>,
}

impl Default for Model {
    fn default() -> Model {
        Model {
            copies: "__memmove_avx_unaligned_erms",
            between: ("std::vector<Unit>::vector", 0),
            calls: same(100, 4096),
            inlined: false,
            bursts: 3,
            share: 0.5,
            allocating: 0.1,
            by_main: 0.0,
            reads: 0,
            freeing: (0.0, 10),
            within: 0.0,
            followed: (0, [0; 3]),
            other: None,
        }
    }
}

/// Calls that copy so many bytes of the same.
fn same(calls: usize, bytes: u64) -> Vec<[(u64, u64); 3]> {
    vec![[THERE, HERE, (bytes, 0)]; calls]
}

/// Of a hundred calls so many copy something else.
fn with_others(others: u64, bytes: u64) -> Vec<[(u64, u64); 3]> {
    let from = |call: u64| if call < others { (0x7_0000_0000 + 0x10_0000 * call, call + 100) } else { HERE };
    // In no order.
    (0..100).map(|call| [THERE, from(call * 37 % 100), (bytes, 0)]).collect()
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
        (MAIN, "main", 0, None),
        (UNITS, "units", 0, Some(MAIN)),
        (BETWEEN, model.between.0, model.between.1, Some(UNITS)),
        (COPY, model.copies, 1, Some(BETWEEN)),
        (MALLOC, "malloc", 1, Some(BETWEEN)),
        (FREE, "free", 1, Some(UNITS)),
    ];
    for (number, name, module, parent) in functions {
        let (address, line) = (u64::from(number + 1) * 0x1000, Some(number + 10));
        let (name, file) = (name.to_owned(), (module == 0).then(|| "program.c".to_owned()));
        let (module, kind) = (Some(module), "native".to_owned());
        tables.functions.push(Function { function: number, name, module, file: file.clone(), line, address });
        tables.locations.push(Location { location: number, module, address, kind: kind.clone() });
        tables.frames.push(Frame { location: number, depth: 0, function: number, file, line, kind });
        tables.stacks.push(Stack { stack: number, parent, location: number });
    }
    if model.inlined {
        let (function, kind) = (functions.len() as u32, "native".to_owned());
        let name = "<World as core::clone::Clone>::clone".to_owned();
        let (module, file, line) = (Some(0), Some("program.c".to_owned()), Some(7));
        tables.functions.push(Function { function, name, module, file: file.clone(), line, address: 0x9000 });
        let units = tables.frames.iter_mut().find(|frame| frame.location == UNITS).expect("units");
        units.depth = 1;
        let units = tables.frames.iter().position(|frame| frame.location == UNITS).expect("units");
        tables.frames.insert(units, Frame { location: UNITS, depth: 0, function, file, line, kind });
    }
    tables.stacks.push(Stack { stack: BY_MAIN, parent: Some(MAIN), location: COPY });
    tables.stacks.push(Stack { stack: WITHIN, parent: Some(COPY), location: MALLOC });
    if model.other.is_some() {
        let (address, module, kind) = (u64::from(OTHER + 1) * 0x1000, Some(1), "native".to_owned());
        let name = "<lang::Names as core::clone::Clone>::clone".to_owned();
        tables.functions.push(Function { function: OTHER, name, module, file: None, line: None, address });
        tables.locations.push(Location { location: OTHER, module, address, kind: kind.clone() });
        tables.frames.push(Frame {
            location: OTHER,
            depth: 0,
            function: OTHER,
            file: None,
            line: None,
            kind,
        });
        tables.stacks.push(Stack { stack: IN_OTHER, parent: Some(BETWEEN), location: OTHER });
    }
    for stretch in 0..model.followed.0 {
        let (time_ns, instructions) = (u64::from(stretch + 1) * 100 * MS as u64, 400_000);
        tables.stretches.push(Stretch { stretch, time_ns, thread: 0, instructions, stopped_ns: 1_000 });
        let ([calls, dropped, unchanged], caller) = (model.followed.1, Some(BETWEEN));
        tables.copied.push(Copied { stretch, location: COPY, caller, calls, dropped, unchanged });
        if let Some((_, [calls, dropped, unchanged])) = model.other {
            tables.copied.push(Copied { stretch, location: OTHER, caller, calls, dropped, unchanged });
        }
    }
    tables.walks.push(Walk {
        walk: 0,
        process: 0,
        location: COPY,
        loop_number: None,
        strides: vec![0; 3],
        arguments: None,
    });
    let mut run = Run::new(tables);
    run.spend((1.0 - model.share - model.allocating) * 1000.0 * MS, MAIN);
    let (copying, (freeing, parts)) = (model.share * 100.0 * MS, model.freeing);
    for part in 0..10 {
        run.spend(copying * (1.0 - model.within), COPY);
        run.spend(copying * model.within, WITHIN);
        if part < parts {
            run.spend(freeing * 1000.0 * MS / parts as f64, FREE);
        }
    }
    run.spend(model.allocating * 1000.0 * MS, MALLOC);
    if let Some((share, _)) = model.other {
        run.spend(share * 1000.0 * MS, IN_OTHER);
    }
    run.spend(model.by_main * 1000.0 * MS, BY_MAIN);
    let end_ns = run.now as u64;
    let mut tables = run.tables;
    crate::sampled::one_thread(&mut tables, end_ns);
    let burst = |number: u64| (number * 50_000_000, number * 50_000_000 + 20_000_000);
    for (number, calls) in model.calls.chunks(model.calls.len().div_ceil(model.bursts)).enumerate() {
        let (start_ns, end_ns) = burst(number as u64 + 1);
        let entries = calls.len() as u64;
        tables.walk_bursts.push(WalkBurst { walk: 0, start_ns, end_ns, entries, rounds: None });
        for (at, arguments) in calls.iter().enumerate() {
            tables.beginnings.push(Beginning {
                walk: 0,
                time_ns: start_ns + 100_000 * at as u64,
                thread: Some(0),
                cpu_ns: 0,
                addresses: arguments.iter().map(|(at, _)| *at).collect(),
                contents: arguments.iter().map(|(_, content)| *content).collect(),
                linked: 0,
                length: 0,
                within_ns: 0,
                below: 0,
            });
        }
    }
    if model.reads > 0 {
        tables.syscalls.push(Syscall {
            time_ns: 0,
            end_ns: 1_000,
            thread: 0,
            number: 0,
            compat: false,
            count: model.reads,
            duration_ns: 1,
            blocked_ns: 0,
            result: 0,
            bytes: model.reads * 4096,
            argument: 4096,
            file: None,
            sync: false,
            stack: None,
            goroutine: None,
            met: None,
        });
    }
    Recording::from_tables(PathBuf::from("synthetic"), about(end_ns), tables, Vec::new())
}

fn of(model: Model) -> Vec<Finding> {
    let recording = recording(&model);
    assert_eq!(recording.dangling, 0, "the synthetic recording is whole");
    let found = diagnose(&recording).findings;
    found.into_iter().filter(|finding| finding.cause.slug() == "redundant-copy").collect()
}

#[test]
fn a_list_that_is_passed_by_value_is_reported_where_it_is() {
    let [finding] = &of(Model::default())[..] else { panic!("there is one finding") };
    assert_eq!((finding.place.frame.function.as_str(), finding.confidence), ("units", Confidence::Hint));
    assert!(finding.explanation[0].contains("100 % had been copied from the same place"), "{finding:#?}");
    assert!(finding.explanation[0].contains("4,096 bytes a call"), "{finding:#?}");
    assert!((490..=510).contains(&(finding.cost.gain() / 1_000_000)), "{:?}", finding.cost);
}

#[test]
fn whoever_asks_is_reported_and_not_what_was_inlined_there_to_copy() {
    let found = of(Model { inlined: true, ..Model::default() });
    assert_eq!(found[0].place.frame.function, "units");
}

#[test]
fn one_call_in_ten_may_copy_something_else() {
    assert_eq!((of(Model { calls: with_others(8, 4096), ..Model::default() }).len()), 1);
    assert_eq!((of(Model { calls: with_others(13, 4096), ..Model::default() }).len()), 0);
}

#[test]
fn a_kilobyte_a_fifth_of_the_time_and_thirty_two_calls_count() {
    let bytes = |bytes| of(Model { calls: same(100, bytes), ..Model::default() }).len();
    assert_eq!((bytes(1_024), bytes(1_023)), (1, 0));
    let share = |share| of(Model { share, ..Model::default() }).len();
    assert_eq!((share(0.21), share(0.19)), (1, 0));
    let calls = |calls| of(Model { calls: same(calls, 4096), ..Model::default() }).len();
    assert_eq!((calls(32), calls(31)), (1, 0));
}

#[test]
fn another_length_or_content_at_the_same_place_is_something_else() {
    let with = |change: fn(u64) -> [(u64, u64); 3]| {
        of(Model { calls: (0..100).map(change).collect(), ..Model::default() })
    };
    assert_eq!(with(|_| [THERE, HERE, (4096, 0)]).len(), 1);
    assert_eq!(with(|call| [THERE, HERE, (4096 + call, 0)]).len(), 0, "a list that grows");
    assert_eq!(with(|call| [THERE, (HERE.0, call + 1), (4096, 0)]).len(), 0, "a buffer that is filled again");
    assert_eq!(with(|_| [THERE, (HERE.0, 0), (4096, 0)]).len(), 0, "it could not be read");
}

#[test]
fn into_memory_that_was_there_it_may_be_wanted() {
    assert_eq!(of(Model { allocating: 0.006, ..Model::default() }).len(), 1);
    assert_eq!(of(Model { allocating: 0.004, ..Model::default() }).len(), 0);
}

#[test]
fn what_the_c_library_copies_for_itself_and_what_is_read_again_are_left_alone() {
    assert_eq!(of(Model { between: ("_IO_file_xsputn", 1), ..Model::default() }).len(), 0);
    assert_eq!(of(Model { between: ("strdup", 1), ..Model::default() }).len(), 1);
    assert_eq!(of(Model { reads: 100_000, ..Model::default() }).len(), 0);
}

#[test]
fn objects_are_told_by_where_they_are_and_what_their_first_words_lead_to() {
    const CLONE: &str = "<proxy::Config as core::clone::Clone>::clone";
    const COPY: &str = "World::World(World const&)";
    let with = |copies, call: fn(u64) -> [(u64, u64); 3]| {
        of(Model { copies, calls: (0..100).map(call).collect(), allocating: 0.0, ..Model::default() })
    };
    const ITEMS: (u64, u64) = (0x8_0000_0000, 11);
    let found = with(CLONE, |_| [THERE, HERE, ITEMS]);
    assert_eq!((found.len(), found[0].confidence), (1, Confidence::Likely));
    assert!(found[0].explanation[0].contains("100 % of 100 calls"), "{found:#?}");
    // What was where the copy goes is nothing.
    assert_eq!(with(CLONE, |call| [(THERE.0, call), HERE, ITEMS]).len(), 1);
    assert_eq!(with(CLONE, |call| [(THERE.0 + 8 * call, 0), HERE, ITEMS]).len(), 0);
    assert_eq!(with(CLONE, |call| [THERE, (HERE.0 + 64 * call, 7), ITEMS]).len(), 0);
    assert_eq!(
        with(CLONE, |call| [THERE, HERE, (ITEMS.0, call + 1)]).len(),
        0,
        "a list that is filled again"
    );
    assert_eq!(with(COPY, |_| [HERE, ITEMS, (3, 0)]).len(), 1);
    assert_eq!(with(COPY, |call| [(HERE.0 + 64 * call, 7), ITEMS, (3, 0)]).len(), 0);
    assert_eq!(with(COPY, |call| [HERE, (ITEMS.0, call + 1), (3, 0)]).len(), 0);
    assert_eq!(with("xmlCopyDoc", |_| [HERE, (3, 0), (3, 0)]).len(), 1);
    assert_eq!(with("World::move", |_| [HERE, ITEMS, (3, 0)]).len(), 0);
}

#[test]
fn three_bursts_and_one_who_asks_count() {
    assert_eq!(of(Model { bursts: 2, ..Model::default() }).len(), 0);
    // Whose calls were looked at is not known.
    assert_eq!(of(Model { by_main: 0.12, ..Model::default() }).len(), 1);
    assert_eq!(of(Model { by_main: 0.14, ..Model::default() }).len(), 0);
}

/// A structure that differs each time is copied and dropped again.
fn dropped() -> Model {
    Model {
        copies: "<lang::Scope as core::clone::Clone>::clone",
        between: ("lang::with", 0),
        calls: (0..100).map(|call| [THERE, (HERE.0 + 64 * call, call + 1), (call, 0)]).collect(),
        share: 0.6,
        allocating: 0.0,
        freeing: (0.2, 10),
        within: 0.4,
        ..Model::default()
    }
}

#[test]
fn copies_of_anything_that_are_dropped_again_are_reported() {
    let [finding] = &of(dropped())[..] else { panic!("there is one finding") };
    assert_eq!((finding.place.frame.function.as_str(), finding.variant), ("lang::with", "dropped"));
    assert_eq!(finding.confidence, Confidence::Likely);
    // What frees the copies goes with them; half of it, where as much is allocated for something else.
    assert!((790..=810).contains(&(finding.cost.gain() / 1_000_000)), "{:?}", finding.cost);
    let beside = &of(Model { allocating: 0.24, share: 0.6, ..dropped() })[0];
    assert!((690..=710).contains(&(beside.cost.gain() / 1_000_000)), "{:?}", beside.cost);
    // Where they are of the same data, that is reported.
    let same = Model { calls: vec![[THERE, HERE, (3, 0)]; 100], ..dropped() };
    assert_eq!(of(same)[0].variant, "");
}

#[test]
fn copies_that_are_kept_or_flat_or_a_small_part_are_left_alone() {
    let share = |share| of(Model { share, ..dropped() }).len();
    // Of a second, and a fifth for freeing.
    assert_eq!((share(0.45), share(0.39)), (1, 0));
    let within = |within| of(Model { within, ..dropped() }).len();
    assert_eq!((within(0.22), within(0.18)), (1, 0));
    let freeing = |share, parts| of(Model { freeing: (share, parts), ..dropped() }).len();
    assert_eq!((freeing(0.07, 10), freeing(0.05, 10)), (1, 0));
    // What is freed takes time as well: by then six and five tenths of the time are over.
    assert_eq!((freeing(0.2, 5), freeing(0.2, 3)), (1, 0));
    assert_eq!(of(Model { copies: "__memmove_avx_unaligned_erms", ..dropped() }).len(), 0);
}

/// Copies of a tenth of a second that were followed, and nothing that is freed.
fn followed(stretches: u32, copies: [u64; 3]) -> Model {
    Model { share: 0.12, freeing: (0.0, 10), within: 0.0, followed: (stretches, copies), ..dropped() }
}

#[test]
fn copies_that_nobody_changes_are_reported() {
    let [finding] = &of(followed(3, [20, 19, 19]))[..] else { panic!("there is one finding") };
    assert_eq!((finding.place.frame.function.as_str(), finding.variant), ("lang::with", "unchanged"));
    // Of those that are left nothing is known.
    assert!((112..=116).contains(&(finding.cost.gain() / 1_000_000)), "{:?}", finding.cost);
    let number = |stretches, copies| of(followed(stretches, copies)).len();
    assert_eq!((number(3, [11, 11, 11]), number(3, [10, 10, 10])), (1, 0), "33 and 30 copies");
    assert_eq!(number(2, [20, 20, 20]), 0, "in two stretches");
    assert_eq!((number(3, [100, 100, 90]), number(3, [100, 100, 89])), (1, 0));
    assert_eq!((number(3, [100, 50, 50]), number(3, [100, 49, 49])), (0, 0), "the gain is a half of 12 %");
    let many = |copies| of(Model { share: 0.3, ..followed(3, copies) }).len();
    assert_eq!((many([100, 50, 50]), many([100, 49, 49])), (1, 0));
    assert_eq!(of(Model { share: 0.09, ..followed(3, [20, 20, 20]) }).len(), 0);
}

#[test]
fn parts_of_an_object_of_which_others_are_changed_are_needed() {
    let beside =
        |share, copies| of(Model { share: 0.2, other: Some((share, copies)), ..followed(3, [20, 20, 20]) });
    let [finding] = &beside(0.1, [20, 20, 20])[..] else { panic!("there is one finding") };
    assert!((295..=305).contains(&(finding.cost.gain() / 1_000_000)), "{:?}", finding.cost);
    assert_eq!(beside(0.05, [20, 20, 10]).len(), 0, "half of them are changed");
    // Of what is not known there may be three tenths, and it is no gain.
    let [finding] = &beside(0.08, [20, 0, 0])[..] else { panic!("there is one finding") };
    assert!((195..=205).contains(&(finding.cost.gain() / 1_000_000)), "{:?}", finding.cost);
    assert_eq!(beside(0.09, [20, 0, 0]).len(), 0);
}

#[test]
fn copies_that_are_changed_are_needed() {
    let of_all = |unchanged| of(Model { followed: (3, [20, 20, unchanged]), ..dropped() });
    assert_eq!(of_all(11)[0].variant, "dropped", "that some are changed says nothing");
    assert_eq!(of_all(10).len(), 0);
}
