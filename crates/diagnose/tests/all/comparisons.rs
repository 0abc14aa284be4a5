//! The cause `redundant-computation` where a sort's comparison makes keys, on synthetic recordings, at its thresholds.
//!
//! The recordings are of a `main` that calls glibc's `msort_with_tmp`, which calls itself and then `by_name`, which calls `key_of` and `free`;
//! `key_of` calls `malloc`.

use crate::common::about;
use crate::sampled::{MS, Run};
use slowpath_diagnose::diagnose;
use slowpath_diagnose::findings::{Confidence, Finding};
use slowpath_recording::tables::*;
use slowpath_recording::{Recording, Tables};
use std::path::PathBuf;

/// Functions and their locations.
const MAIN: u32 = 0;
const SORT: u32 = 1;
const COMPARE: u32 = 2;
const KEY: u32 = 3;
const ALLOCATE: u32 = 4;
const FREE: u32 = 5;

/// What differs from the program above.
#[derive(Clone, Copy)]
struct Names {
    sort: &'static str,
    compare: &'static str,
    key: &'static str,
    allocate: &'static str,
    /// So many calls of the sort are in each other, and fewer where `key_of` spends this share of its time.
    depth: u32,
    short: f64,
    /// Time that `by_name` spends itself, ms.
    own: f64,
}

const NAMES: Names = Names {
    sort: "msort_with_tmp",
    compare: "by_name",
    key: "key_of",
    allocate: "malloc",
    depth: 5,
    short: 0.0,
    own: 10.0,
};

/// Time of a second, ms: in `key_of` itself, in allocating, in freeing; the rest in `main`.
fn recording(names: Names, (key, allocate, free): (f64, f64, f64)) -> Recording {
    let mut tables = Tables::default();
    for (number, path) in [(0, "/bin/program"), (1, "/lib/libc.so.6")] {
        let (build_id, device) = (None, 0);
        let path = path.into();
        tables.modules.push(Module {
            module: number,
            path,
            build_id,
            device,
            inode: 1,
            size: 1,
            mtime_ns: 0,
        });
    }
    let functions = [
        (MAIN, "main", 0),
        (SORT, names.sort, 1),
        (COMPARE, names.compare, 0),
        (KEY, names.key, 0),
        (ALLOCATE, names.allocate, 1),
        (FREE, "free", 1),
    ];
    for (number, name, module) in functions {
        let address = u64::from(number + 1) * 0x1000;
        let (name, module) = (name.to_owned(), Some(module));
        let (file, line) = (None, None);
        tables.functions.push(Function { function: number, name, module, file: file.clone(), line, address });
        tables.locations.push(Location { location: number, module, address, kind: "native".into() });
        let kind = "native".into();
        tables.frames.push(Frame { location: number, depth: 0, function: number, file, line, kind });
    }
    let mut stack = |parent: Option<u32>, location: u32| {
        let stack = tables.stacks.len() as u32;
        tables.stacks.push(Stack { stack, parent, location });
        stack
    };
    let main = stack(None, MAIN);
    let first = stack(Some(main), SORT);
    let sort = (1..names.depth).fold(first, |outer, _| stack(Some(outer), SORT));
    let compare = stack(Some(sort), COMPARE);
    let made = stack(Some(compare), KEY);
    let (allocating, freeing) = (stack(Some(made), ALLOCATE), stack(Some(compare), FREE));
    let short = stack(Some(first), COMPARE);
    let made_short = stack(Some(short), KEY);
    let mut run = Run::new(tables);
    run.spend((1000.0 - key - allocate - free - names.own) * MS, main);
    run.spend(names.own * MS, compare);
    run.spend((1.0 - names.short) * key * MS, made);
    run.spend(names.short * key * MS, made_short);
    run.spend(allocate * MS, allocating);
    run.spend(free * MS, freeing);
    let end_ns = run.now as u64;
    let mut tables = run.tables;
    crate::sampled::one_thread(&mut tables, end_ns);
    Recording::from_tables(PathBuf::from("synthetic"), about(end_ns), tables, Vec::new())
}

fn findings(names: Names, times: (f64, f64, f64)) -> Vec<Finding> {
    let recording = recording(names, times);
    assert_eq!(recording.dangling, 0, "the synthetic recording is whole");
    diagnose(&recording).findings
}

#[test]
fn keys_that_are_made_at_each_comparison_are_reported_where_they_are_compared() {
    let [finding] = &findings(NAMES, (300.0, 100.0, 50.0))[..] else { panic!("there is one finding") };
    assert_eq!((finding.cause.slug(), finding.confidence), ("redundant-computation", Confidence::Likely));
    assert_eq!(finding.place.frame.function, "by_name");
    let said = &finding.explanation[0];
    assert!(
        said.starts_with(
            "by_name compares two items of a sort (msort_with_tmp), and for that calls key_of and free:"
        ),
        "{said}"
    );
    // 450 of 460 ms, of which one sample or two may fall elsewhere.
    let share =
        finding.facts.iter().find(|fact| fact.name == "share of the comparisons").expect("it is known");
    assert!((97.0..=98.5).contains(&share.value), "{}", share.value);
    // Of 0.45 s, nine tenths.
    assert!((395..=415).contains(&(finding.cost.gain() / 1_000_000)), "{:?}", finding.cost);
}

#[test]
fn a_tenth_of_the_time_counts() {
    assert_eq!(findings(NAMES, (90.0, 20.0, 10.0)).len(), 1, "0.9 of 12 %");
    assert_eq!(findings(NAMES, (70.0, 20.0, 10.0)).len(), 0, "0.9 of 10 %");
}

#[test]
fn what_is_not_freed_is_kept() {
    assert_eq!(findings(NAMES, (300.0, 100.0, 44.0)).len(), 1);
    assert_eq!(findings(NAMES, (300.0, 100.0, 36.0)).len(), 0);
    assert_eq!(findings(NAMES, (300.0, 100.0, 0.0)).len(), 0);
    // A block that grows is none that is given back.
    assert_eq!(findings(Names { allocate: "realloc", ..NAMES }, (300.0, 100.0, 0.0)).len(), 0);
}

#[test]
fn a_list_of_a_few_items_has_few_comparisons() {
    assert_eq!(findings(Names { depth: 4, ..NAMES }, (300.0, 100.0, 50.0)).len(), 0);
    // Of 460 ms less than a third are spent in a long list.
    let mixed = |short| findings(Names { short, ..NAMES }, (450.0, 6.0, 4.0)).len();
    assert_eq!((mixed(0.68), mixed(0.76)), (1, 0));
}

#[test]
fn what_is_made_and_not_compared_is_a_hint() {
    let of = |own| findings(Names { own, ..NAMES }, (300.0, 100.0, 50.0))[0].confidence;
    assert_eq!((of(3.0), of(0.0)), (Confidence::Likely, Confidence::Hint));
}

#[test]
fn what_makes_nothing_compares() {
    // What is freed and never allocated is another matter, and little of the time.
    assert_eq!(findings(NAMES, (400.0, 0.0, 20.0)).len(), 0);
    assert_eq!(findings(NAMES, (400.0, 4.0, 20.0)).len(), 1);
}

#[test]
fn where_nothing_is_sorted_it_is_silent() {
    assert_eq!(findings(Names { sort: "for_each", ..NAMES }, (300.0, 100.0, 50.0)).len(), 0);
}

#[test]
fn who_frees_is_not_known_where_garbage_is_collected() {
    let go = Names { sort: "sort.pdqsort_func", allocate: "runtime.mallocgc", ..NAMES };
    let found: Vec<Confidence> =
        findings(go, (300.0, 100.0, 0.0)).iter().map(|finding| finding.confidence).collect();
    assert_eq!(found, [Confidence::Hint]);
}

#[test]
fn reading_a_value_is_a_hint() {
    let of = |ms| findings(Names { allocate: "strtod", ..NAMES }, (300.0, ms, 0.0));
    let [finding] = &of(200.0)[..] else { panic!("there is one finding") };
    assert_eq!(finding.confidence, Confidence::Hint);
    // What is done besides is not counted.
    assert!((170..=190).contains(&(finding.cost.gain() / 1_000_000)), "{:?}", finding.cost);
    assert!(of(100.0).is_empty(), "0.9 of a tenth");
}

#[test]
fn where_the_comparison_was_inlined_whoever_sorts_is_reported() {
    // A sort of Rust that calls the standard library itself.
    let rust = Names {
        sort: "core::slice::sort::stable::quicksort::quicksort",
        compare: "<str>::to_lowercase",
        key: "core::str::to_lower",
        ..NAMES
    };
    let [finding] = &findings(rust, (300.0, 100.0, 50.0))[..] else { panic!("there is one finding") };
    assert_eq!(finding.place.frame.function, "main");
    let said = &finding.explanation[0];
    assert!(
        said.starts_with("main sorts (") && said.contains("each comparison calls <str>::to_lowercase:"),
        "{said}"
    );
    let buffer = Names { compare: "alloc::vec::Vec<T>::with_capacity", ..rust };
    assert_eq!(findings(buffer, (300.0, 100.0, 50.0)).len(), 0, "memory to merge in");
}

#[test]
fn moving_and_copying_items_is_no_comparison() {
    let cpp = Names { sort: "void std::__introsort_loop<Row*, long, Less>(Row*, Row*, long, Less)", ..NAMES };
    assert_eq!(
        findings(Names { compare: "Less::operator()(Row const&, Row const&)", ..cpp }, (300.0, 100.0, 50.0))
            .len(),
        1
    );
    for items in ["Row::Row(Row const&)", "Row::operator=(Row&&)", "swap(Row&, Row&)", "Row::~Row()"] {
        assert_eq!(findings(Names { compare: items, ..cpp }, (300.0, 100.0, 50.0)).len(), 0, "{items}");
    }
    let go = Names {
        sort: "sort.insertionSort",
        compare: "main.rows.Swap",
        allocate: "runtime.mallocgc",
        ..NAMES
    };
    assert_eq!(findings(go, (300.0, 100.0, 0.0)).len(), 0);
}
