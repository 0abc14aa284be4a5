//! Texts that are formatted and that nobody reads, on synthetic recordings, at the thresholds.
//!
//! The recordings are of a `main` that calls `log_debug`, which has the C library format a text; stretches of it were looked at.

use crate::common::about;
use crate::sampled::{self, MS, Run};
use slowpath_diagnose::diagnose;
use slowpath_diagnose::findings::{Confidence, Finding};
use slowpath_recording::Recording;
use slowpath_recording::tables::*;
use std::path::PathBuf;

/// Functions, locations and stacks.
const MAIN: u32 = 0;
const LOG: u32 = 1;
const FORMAT: u32 = 2;

/// What was recorded, unless a test says otherwise.
struct Seen {
    stretches: u32,
    /// Texts of each.
    read: u64,
    overwritten: u64,
    /// Bytes of each.
    letters: u64,
    /// Of a second, in formatting.
    share: f64,
    /// What `log_debug` calls.
    format: &'static str,
    /// A share of a second in which `log_debug` makes the same again by `name_of`, which it calls.
    again: f64,
}

impl Default for Seen {
    fn default() -> Seen {
        Seen {
            stretches: 4,
            read: 0,
            overwritten: 20,
            letters: 40,
            share: 0.5,
            format: "vsnprintf",
            again: 0.0,
        }
    }
}

fn findings(seen: Seen) -> Vec<Finding> {
    let Seen { stretches, read, overwritten, letters, share, format, again } = seen;
    let all = [("main", None), ("log_debug", Some(MAIN)), (format, Some(LOG)), ("name_of", Some(LOG))];
    let mut tables = sampled::functions("server.c", &all);
    for stretch in 0..stretches {
        let time_ns = u64::from(stretch + 1) * 100 * MS as u64;
        let (instructions, stopped_ns) = (400_000, 1_000);
        tables.stretches.push(Stretch { stretch, time_ns, thread: 0, instructions, stopped_ns });
        tables.formatted.push(Formatted {
            stretch,
            location: LOG,
            formatted: read + overwritten + 1,
            read,
            unread: overwritten,
            bytes: Some(letters * (read + overwritten + 1)),
        });
        if again > 0.0 {
            tables.repeats.push(Repeat {
                stretch,
                location: 3,
                caller: Some(LOG),
                calls: 50,
                again: 40,
                instructions: 160_000,
                all_instructions: 200_000,
                span: instructions,
                nested: 0,
                different: 2,
            });
        }
    }
    let mut run = Run::new(tables);
    run.spend((1.0 - share - again) * 1000.0 * MS, MAIN);
    run.spend(share * 1000.0 * MS, FORMAT);
    run.spend(again * 1000.0 * MS, 3);
    let end_ns = run.now as u64;
    let mut tables = run.tables;
    sampled::one_thread(&mut tables, end_ns);
    let recording = Recording::from_tables(PathBuf::from("synthetic"), about(end_ns), tables, Vec::new());
    assert_eq!(recording.dangling, 0, "the synthetic recording is whole");
    diagnose(&recording).findings
}

fn is_found(seen: Seen) -> bool {
    !findings(seen).is_empty()
}

#[test]
fn whoever_has_texts_formatted_for_nothing_is_named() {
    let [finding] = &findings(Seen::default())[..] else { panic!("there is one finding") };
    assert_eq!((finding.cause.slug(), finding.confidence), ("costly-call-per-operation", Confidence::Likely));
    assert_eq!(finding.place.frame.function, "log_debug");
    assert!(
        finding.explanation[0].contains("80 of 80 texts that log_debug had"),
        "{}",
        finding.explanation[0]
    );
    assert!((490..=510).contains(&(finding.cost.gain() / 1_000_000)), "{:?}", finding.cost);
}

#[test]
fn enough_texts_in_enough_pieces_must_be_known() {
    assert!(is_found(Seen { stretches: 5, overwritten: 10, ..Seen::default() }));
    assert!(!is_found(Seen { stretches: 7, overwritten: 7, ..Seen::default() }));
    assert!(is_found(Seen { stretches: 3, ..Seen::default() }));
    assert!(!is_found(Seen { stretches: 2, overwritten: 100, ..Seen::default() }));
}

#[test]
fn texts_that_are_read_are_wanted() {
    assert!(is_found(Seen { read: 1, overwritten: 19, ..Seen::default() }));
    assert!(!is_found(Seen { read: 2, overwritten: 19, ..Seen::default() }));
}

#[test]
fn only_formatting_counts_and_it_must_save_a_tenth() {
    assert!(is_found(Seen { share: 0.11, ..Seen::default() }));
    assert!(!is_found(Seen { share: 0.09, ..Seen::default() }));
    assert!(!is_found(Seen { format: "memcpy", ..Seen::default() }));
}

#[test]
fn what_it_makes_again_for_the_text_is_no_finding_of_its_own() {
    let all = findings(Seen { again: 0.3, ..Seen::default() });
    let [finding] = &all[..] else { panic!("there is one finding: {all:#?}") };
    assert_eq!(finding.place.frame.function, "log_debug");
    let last = finding.explanation.last().expect("a sentence");
    assert!(last.contains("name_of"), "{last}");
}

#[test]
fn texts_of_a_letter_or_two_are_named_where_somebody_reads_them() {
    let short = || Seen { read: 20, overwritten: 0, letters: 2, ..Seen::default() };
    let [finding] = &findings(short())[..] else { panic!("there is one finding") };
    assert_eq!((finding.variant, finding.place.frame.function.as_str()), ("letters", "log_debug"));
    assert!(
        finding.explanation[0].contains("formatted 84 texts, of 2.0 characters"),
        "{:?}",
        finding.explanation
    );
    // 95 of 100 parts of half a second.
    assert!((465..=485).contains(&(finding.cost.gain() / 1_000_000)), "{:?}", finding.cost);
    assert!(!is_found(Seen { letters: 3, ..short() }));
    assert!(!is_found(Seen { letters: 0, ..short() }));
    // 49 of them, two pieces of the run, a tenth of the time.
    assert!(is_found(Seen { stretches: 5, read: 9, ..short() }));
    assert!(!is_found(Seen { stretches: 7, read: 6, ..short() }));
    assert!(!is_found(Seen { stretches: 2, read: 100, ..short() }));
    assert!(!is_found(Seen { share: 0.1, ..short() }));
    // Nobody reads them.
    assert_eq!(findings(Seen { letters: 2, ..Seen::default() })[0].variant, "unread-text");
}
