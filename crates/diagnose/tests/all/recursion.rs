//! A function that calls itself for the same again, on synthetic recordings, at the thresholds.
//!
//! The recordings are of a `main` that calls `size_of` for some trees.

use crate::common::about;
use crate::sampled::{self, MS, Run};
use slowpath_diagnose::diagnose;
use slowpath_diagnose::findings::{Confidence, Finding};
use slowpath_recording::Recording;
use slowpath_recording::tables::*;
use std::path::PathBuf;

const SIZE_OF: u32 = 1;
/// Stacks: main, in its call of the function, and in one that this made.
const MAIN: u32 = 0;
const ONCE: u32 = 1;
const TWICE: u32 = 2;
/// A tree's first item, and what is there.
const TREE: u64 = 0x10_0000;

/// One call: what it is given, and the number of the outermost call of its burst that it is part of, none if it is one itself.
type Called = (u64, Option<usize>);

/// What was recorded, unless a test says otherwise.
struct Seen {
    /// The calls of each burst.
    calls: Vec<Called>,
    bursts: u64,
    /// Of a second: the share in the function, and of that the share in which it called itself.
    share: f64,
    itself: f64,
    /// How many arguments it is given, if it and what it calls only read.
    arguments: Option<u32>,
    content: u64,
    /// Each call makes the next one; else the outermost makes all of them.
    nested: bool,
    /// Every second entry is of another thread.
    threads: u32,
}

impl Default for Seen {
    fn default() -> Seen {
        Seen {
            calls: within(301, 100),
            bursts: 3,
            share: 0.8,
            itself: 0.9,
            arguments: Some(1),
            content: 7,
            nested: true,
            threads: 1,
        }
    }
}

/// One outermost call, and within it calls with different arguments, but for so many in the second half that repeat one of the first half; and a last
/// one that makes no other.
fn within(calls: u64, repeated: u64) -> Vec<Called> {
    let half = calls / 2 + 1;
    let given = |call| TREE + 64 * if (half..half + repeated).contains(&call) { call - half } else { call };
    (0..=calls).map(|call| (given(call), (call > 0).then_some(0))).collect()
}

fn findings(seen: Seen) -> Vec<Finding> {
    let mut tables = sampled::functions("tree.c", &[("main", None), ("size_of", Some(MAIN))]);
    tables.stacks.push(Stack { stack: TWICE, parent: Some(ONCE), location: SIZE_OF });
    let Seen { calls, bursts, share, itself, arguments, content, nested, threads } = seen;
    let (location, loop_number, strides) = (SIZE_OF, None, vec![0]);
    tables.walks.push(Walk { walk: 0, process: 0, location, loop_number, strides, arguments });
    for burst in 0..bursts {
        let start_ns = (burst + 1) * 100 * MS as u64;
        let at = |call: usize| start_ns + 1_000 * call as u64;
        let (end_ns, entries) = (at(calls.len()), calls.len() as u64);
        tables.walk_bursts.push(WalkBurst { walk: 0, start_ns, end_ns, entries, rounds: None });
        for (number, (given, outer)) in calls.iter().enumerate() {
            tables.beginnings.push(Beginning {
                walk: 0,
                time_ns: at(number),
                thread: Some(number as u32 % threads),
                cpu_ns: 0,
                addresses: vec![*given],
                contents: vec![content],
                linked: 0,
                length: 0,
                within_ns: outer.map_or(0, at),
                below: outer.map_or(0, |outer| if nested { 64 * (number - outer) as u64 } else { 64 }),
            });
        }
    }
    let mut run = Run::new(tables);
    run.spend((1.0 - share) * 1000.0 * MS, MAIN);
    run.spend(share * (1.0 - itself) * 1000.0 * MS, ONCE);
    run.spend(share * itself * 1000.0 * MS, TWICE);
    let end_ns = run.now as u64;
    let mut tables = run.tables;
    sampled::one_thread(&mut tables, end_ns);
    let of_one = tables.threads[0].clone();
    tables.threads.extend((1..threads).map(|thread| Thread { thread, tid: thread + 1, ..of_one.clone() }));
    let recording = Recording::from_tables(PathBuf::from("synthetic"), about(end_ns), tables, Vec::new());
    assert_eq!(recording.dangling, 0, "the synthetic recording is whole");
    diagnose(&recording).findings
}

fn is_found(seen: Seen) -> bool {
    !findings(seen).is_empty()
}

#[test]
fn what_one_call_works_out_several_times_is_reported() {
    let [finding] = &findings(Seen::default())[..] else { panic!("there is one finding") };
    assert_eq!((finding.cause.slug(), finding.confidence), ("redundant-computation", Confidence::Likely));
    assert_eq!(finding.place.frame.function, "size_of");
    assert!(
        finding.explanation[0].contains("Of 450 of its calls that call it again, 300 "),
        "{}",
        finding.explanation[0]
    );
    // Two thirds of 0.8 s.
    assert!((523..=543).contains(&(finding.cost.gain() / 1_000_000)), "{:?}", finding.cost);
}

#[test]
fn from_half_of_the_calls_on_and_enough_of_them() {
    assert!(is_found(Seen { calls: within(301, 75), ..Seen::default() }));
    assert!(!is_found(Seen { calls: within(301, 74), ..Seen::default() }));
    assert!(!is_found(Seen { calls: within(166, 60), ..Seen::default() }), "498 calls");
    assert!(!is_found(Seen { calls: within(401, 150), bursts: 2, ..Seen::default() }));
}

#[test]
fn enough_of_them_are_in_the_second_halves_of_the_bursts() {
    // 400 different calls, then some that repeat one, then numbers, which do not count.
    let seen = |repeated: u64| -> Vec<Called> {
        let given = |call: u64| match call {
            0..400 => TREE + 64 * call,
            _ if call < 400 + repeated => TREE + 64 * (call - 400),
            _ => call - 400,
        };
        (0..800).map(|call| (given(call), (call > 0).then_some(0))).collect()
    };
    assert!(is_found(Seen { calls: seen(42), ..Seen::default() }));
    assert!(!is_found(Seen { calls: seen(41), ..Seen::default() }), "123 calls");
}

#[test]
fn only_where_it_calls_itself_and_only_reads() {
    assert!(is_found(Seen { itself: 0.35, ..Seen::default() }));
    assert!(!is_found(Seen { itself: 0.25, ..Seen::default() }));
    assert!(!is_found(Seen { arguments: None, ..Seen::default() }));
    assert!(!is_found(Seen { share: 0.1, ..Seen::default() }), "a fifteenth of the CPU time would be saved");
}

#[test]
fn numbers_alone_are_no_data() {
    assert!(!is_found(Seen { content: 0, ..Seen::default() }));
    let small = within(301, 100).into_iter().map(|(given, outer)| (given - TREE, outer)).collect();
    assert!(!is_found(Seen { calls: small, ..Seen::default() }));
}

/// Outermost calls for these items, each of which calls for all items from its own on.
fn outermost(items: &[u64]) -> Vec<Called> {
    let mut calls = Vec::new();
    for item in items {
        let outer = calls.len();
        calls.extend((*item..60).map(|inner| (TREE + 64 * inner, (inner > *item).then_some(outer))));
    }
    calls
}

#[test]
fn the_same_task_again_is_left_to_the_program() {
    assert!(!is_found(Seen { calls: outermost(&[0; 8]), ..Seen::default() }), "a benchmark");
    // Each level of a tree asks for what is below it.
    assert!(is_found(Seen { calls: outermost(&[0, 1, 2, 3, 4, 5, 6, 7]), ..Seen::default() }));
}

#[test]
fn calls_that_make_no_other_do_not_count() {
    // As that of the empty tree, which all trees share.
    assert!(!is_found(Seen { nested: false, ..Seen::default() }));
}

#[test]
fn what_two_threads_call_at_a_time_is_left_alone() {
    assert!(!is_found(Seen { threads: 2, ..Seen::default() }));
}
