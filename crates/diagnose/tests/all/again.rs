//! Calls that do again what one before did, on synthetic recordings, at the thresholds.
//!
//! The recordings are of a `main` that calls `price`, which calls `make_plan`; stretches of it were looked at.

use crate::common::about;
use crate::sampled::{self, MS, Run};
use slowpath_diagnose::diagnose;
use slowpath_diagnose::findings::{Confidence, Finding};
use slowpath_recording::Recording;
use slowpath_recording::tables::*;
use std::path::PathBuf;

/// Functions, locations and stacks.
const MAIN: u32 = 0;
const PRICE: u32 = 1;
const MAKE_PLAN: u32 = 2;

/// What was recorded, unless a test says otherwise.
struct Seen {
    stretches: u32,
    /// Instructions of each.
    instructions: u64,
    /// Of each, in calls of `make_plan`: that repeat others, how many calls that were, and all.
    again_instructions: u64,
    again: u64,
    all_instructions: u64,
    /// In so many of them.
    in_stretches: u32,
    /// Of them inside another call of it; different ones that were repeated.
    nested: u64,
    different: u64,
    name: &'static str,
    caller: &'static str,
    /// Of a second, under `make_plan`.
    share: f64,
}

impl Default for Seen {
    fn default() -> Seen {
        Seen {
            stretches: 4,
            instructions: 400_000,
            again_instructions: 160_000,
            again: 40,
            all_instructions: 200_000,
            in_stretches: 4,
            nested: 0,
            different: 2,
            name: "make_plan",
            caller: "price",
            share: 0.5,
        }
    }
}

fn findings(seen: Seen) -> Vec<Finding> {
    let Seen { stretches, instructions, again_instructions, again, all_instructions, in_stretches, .. } =
        seen;
    let Seen { nested, different, name: again_name, caller, share, .. } = seen;
    let mut tables =
        sampled::functions("orders.c", &[("main", None), (caller, Some(MAIN)), (again_name, Some(PRICE))]);
    for stretch in 0..stretches {
        let time_ns = u64::from(stretch + 1) * 100 * MS as u64;
        tables.stretches.push(Stretch { stretch, time_ns, thread: 0, instructions, stopped_ns: 1_000 });
        let is_seen = stretch < in_stretches;
        tables.repeats.push(Repeat {
            stretch,
            location: MAKE_PLAN,
            caller: Some(PRICE),
            calls: 50,
            again: if is_seen { again } else { 0 },
            instructions: if is_seen { again_instructions } else { 0 },
            all_instructions,
            span: instructions,
            nested,
            different,
        });
    }
    let mut run = Run::new(tables);
    run.spend((1.0 - share) * 1000.0 * MS, PRICE);
    run.spend(share * 1000.0 * MS, MAKE_PLAN);
    let end_ns = run.now as u64;
    let mut tables = run.tables;
    sampled::one_thread(&mut tables, end_ns);
    let mut about = about(end_ns);
    about.format.minor = slowpath_recording::about::MINOR;
    let recording = Recording::from_tables(PathBuf::from("synthetic"), about, tables, Vec::new());
    assert_eq!(recording.dangling, 0, "the synthetic recording is whole");
    diagnose(&recording).findings
}

fn is_found(seen: Seen) -> bool {
    !findings(seen).is_empty()
}

#[test]
fn work_that_is_done_again_is_reported_with_who_asks_for_it() {
    let [finding] = &findings(Seen::default())[..] else { panic!("there is one finding") };
    assert_eq!((finding.cause.slug(), finding.confidence), ("redundant-computation", Confidence::Likely));
    assert_eq!(finding.place.frame.function, "make_plan");
    let said = &finding.explanation[0];
    assert!(said.contains("160 of 200 calls of make_plan, most from price,"), "{said}");
    // Four fifths of half a second.
    assert!((390..=410).contains(&(finding.cost.gain() / 1_000_000)), "{:?}", finding.cost);
}

#[test]
fn a_tenth_of_the_instructions_must_repeat_others() {
    let share = |again_instructions| Seen { again_instructions, all_instructions: 50_000, ..Seen::default() };
    assert!(is_found(share(40_000)));
    assert!(!is_found(share(39_900)));
}

#[test]
fn a_loop_that_does_nothing_with_the_result_is_a_benchmark() {
    // Of 400,000 instructions in each stretch, with 50 calls.
    let all = |all_instructions| Seen {
        again_instructions: 390_000,
        all_instructions,
        share: 0.99,
        ..Seen::default()
    };
    assert!(is_found(all(398_000)));
    assert!(!is_found(all(398_001)));
}

#[test]
fn it_must_be_seen_in_three_stretches_and_half_of_all() {
    assert!(is_found(Seen { stretches: 3, in_stretches: 3, ..Seen::default() }));
    assert!(!is_found(Seen { stretches: 2, in_stretches: 2, ..Seen::default() }));
    let part =
        |in_stretches| Seen { stretches: 6, in_stretches, again_instructions: 300_000, ..Seen::default() };
    assert!(is_found(part(3)));
    assert!(!is_found(part(2)));
}

#[test]
fn stretches_must_be_long_enough() {
    let short = |instructions| Seen {
        instructions,
        again_instructions: instructions / 2,
        again: 20,
        all_instructions: instructions / 2,
        ..Seen::default()
    };
    assert!(is_found(short(50_000)));
    assert!(!is_found(short(49_000)));
}

#[test]
fn short_calls_cost_no_more_than_to_look_up_their_results() {
    let each = |again| Seen { again, again_instructions: 90_000, ..Seen::default() };
    assert!(is_found(each(200)));
    assert!(!is_found(each(201)));
}

#[test]
fn a_function_whose_calls_mostly_differ_is_not_named() {
    let of_all = |all_instructions| Seen { all_instructions, again_instructions: 120_000, ..Seen::default() };
    assert!(is_found(of_all(300_000)));
    assert!(!is_found(of_all(301_000)));
}

#[test]
fn a_few_long_calls_that_repeat_are_no_habit() {
    assert!(is_found(Seen { again: 20, ..Seen::default() }));
    assert!(!is_found(Seen { again: 19, ..Seen::default() }));
}

#[test]
fn it_must_save_a_tenth_of_the_time() {
    assert!(is_found(Seen { share: 0.14, ..Seen::default() }));
    assert!(!is_found(Seen { share: 0.11, ..Seen::default() }));
}

#[test]
fn results_of_many_kinds_are_of_data_that_repeats() {
    // Of 50 calls.
    assert!(is_found(Seen { different: 8, ..Seen::default() }));
    assert!(!is_found(Seen { different: 9, again: 36, ..Seen::default() }));
    // All that comes comes again, each four times on average, but for one call in twenty.
    assert!(is_found(Seen { different: 9, again: 39, ..Seen::default() }));
    assert!(!is_found(Seen { different: 9, again: 38, ..Seen::default() }));
    assert!(!is_found(Seen { different: 10, again: 39, ..Seen::default() }));
    // In recursion each part has a result of its own.
    assert!(is_found(Seen { different: 12, nested: 20, ..Seen::default() }));
    assert!(!is_found(Seen { different: 12, nested: 19, ..Seen::default() }));
}

#[test]
fn of_each_item_that_is_sorted_there_may_be_a_result() {
    let sorted = |caller| Seen { different: 15, again: 35, caller, ..Seen::default() };
    assert!(is_found(sorted("core::slice::sort::stable::quicksort::quicksort")));
    assert!(!is_found(sorted("price")));
}

#[test]
fn what_repeats_within_one_call_is_no_benchmark() {
    let all = |nested| Seen {
        nested,
        again_instructions: 390_000,
        all_instructions: 400_000,
        share: 0.99,
        ..Seen::default()
    };
    assert!(is_found(all(20)));
    assert!(!is_found(all(19)));
}

#[test]
fn what_a_library_formats_again_is_no_result_to_keep() {
    for name in ["core::fmt::write", "alloc::fmt::format"] {
        assert!(!is_found(Seen { name, ..Seen::default() }), "{name}");
    }
}
