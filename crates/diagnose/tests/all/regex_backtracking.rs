//! Regular expressions that try too many ways, on synthetic recordings, at the thresholds of their cause.

use crate::walked::*;
use slowpath_diagnose::diagnose;
use slowpath_diagnose::findings::{Confidence, Finding};
use slowpath_recording::Recording;

/// Calls of a matcher 1 ms after each other, in four bursts, with texts of 20 bytes: 51 µs for each byte.
fn matching() -> Walked {
    Walked {
        time: vec![(STRLEN, 0.6), (PARSE, 0.4)],
        at: STRLEN,
        in_loop: false,
        strides: vec![0, 0],
        usual_ns: 1_000_000,
        entry: |n| (vec![LIST + n * 64, 20], vec![n, 0], 20),
        ..Walked::default()
    }
}

fn found_in(matcher: &str, walked: Walked) -> Vec<Finding> {
    let mut recording = recording(&walked);
    name(&mut recording, matcher);
    diagnose(&recording).findings
}

fn name(recording: &mut Recording, matcher: &str) {
    let strlen = recording.tables.functions.iter_mut().find(|one| one.name == "__strlen_avx2");
    strlen.expect("it is there").name = matcher.into();
}

fn found(walked: Walked) -> Vec<Finding> {
    found_in("pcre2_match_8", walked)
}

#[test]
fn a_matcher_that_takes_long_for_each_byte_is_blamed_on_whoever_asks() {
    let found = found(matching());
    let [finding] = &found[..] else { panic!("one finding: {found:#?}") };
    assert_eq!((finding.cause.slug(), finding.confidence), ("regex-backtracking", Confidence::Likely));
    assert_eq!(
        (finding.place.frame.function.as_str(), finding.related[0].function.as_str()),
        ("main", "pcre2_match_8")
    );
    let each = finding.facts.iter().find(|fact| fact.name == "time of a byte").expect("it is told");
    assert!((50_000.0..52_000.0).contains(&each.value), "{each:?}");
    assert!((600..=606).contains(&(finding.cost.gain() / 1_000_000)), "{:?}", finding.cost);
}

#[test]
fn it_takes_5_us_a_byte() {
    assert_eq!(found(Walked { entry: |n| (vec![LIST + n * 64, 200], vec![n, 0], 0), ..matching() }).len(), 1);
    assert!(found(Walked { entry: |n| (vec![LIST + n * 64, 208], vec![n, 0], 0), ..matching() }).is_empty());
}

#[test]
fn one_slow_text_among_many_is_enough() {
    // What follows the ninth text of each burst comes 5 ms later.
    let seldom = |ninth: Entry| {
        let mut recording = recording(&Walked { usual_ns: 1_000, entry: ninth, ..matching() });
        name(&mut recording, "pcre2_match_8");
        let tables = &mut recording.tables;
        tables
            .beginnings
            .iter_mut()
            .enumerate()
            .filter(|(at, _)| at % 16 > 8)
            .for_each(|(_, row)| row.time_ns += 5_000_000);
        tables
            .walk_bursts
            .iter_mut()
            .filter(|burst| burst.rounds.is_none())
            .for_each(|burst| burst.end_ns += 5_000_000);
        diagnose(&recording).findings
    };
    let found = seldom(|n| (vec![LIST, if n == 8 { 200 } else { 20_000 }], vec![n, 0], 0));
    let [finding] = &found[..] else { panic!("one finding: {found:#?}") };
    assert!(finding.explanation[0].contains("of 4 of the 64 texts"), "{finding:#?}");
    assert!(seldom(|n| (vec![LIST, 20_000], vec![n, 0], 0)).is_empty());
}

#[test]
fn it_takes_ten_samples_and_a_tenth_of_the_time() {
    // 4 bursts of 3 samples each, and of 2.
    let brief =
        |usual_ns| Walked { usual_ns, entry: |n| (vec![LIST + n * 8, 1], vec![n, 0], 0), ..matching() };
    let none = Walked { time: vec![(STRLEN, 0.09), (PARSE, 0.91)], ..matching() };
    assert_eq!(found(brief(500_000)).len(), 1);
    assert!(found(Walked { entries: 4, usual_ns: 100_000, ..brief(0) }).is_empty());
    assert!(found(none).is_empty());
}

#[test]
fn texts_are_cut_further_on_since_version_17() {
    // Few calls of 22 ms: 5.4 µs for each of 4,095 bytes.
    let found = |minor, entry: Entry| {
        let mut recording = recording(&Walked { usual_ns: 22_000_000, entries: 16, entry, ..matching() });
        name(&mut recording, "regexec");
        recording.about.format.minor = minor;
        diagnose(&recording).findings.len()
    };
    let cut_before: Entry = |n| (vec![LIST + n * 64], vec![n], 511);
    let whole: Entry = |n| (vec![LIST + n * 64], vec![n], 4_094);
    let cut: Entry = |n| (vec![LIST + n * 64], vec![n], 4_095);
    assert_eq!((found(16, cut_before), found(17, cut_before)), (0, 1));
    assert_eq!((found(17, whole), found(17, cut)), (1, 0));
}

#[test]
fn lengths_are_read_as_each_matcher_is_given_them() {
    // From here to there.
    let range: Entry = |n| (vec![LIST + n, LIST + n + 20], vec![n, 0], 0);
    assert_eq!(found_in("onig_search", Walked { entry: range, ..matching() }).len(), 1);
    assert!(found_in("pcre2_match_8", Walked { entry: range, ..matching() }).is_empty(), "2 GB");
    // To the zero behind it; a text that was cut has no known length.
    let text: Entry = |n| (vec![LIST + n * 64], vec![n], 20);
    let cut: Entry = |n| (vec![LIST + n * 64], vec![n], 511);
    assert_eq!(found_in("regexec", Walked { entry: text, ..matching() }).len(), 1);
    assert!(found_in("regexec", Walked { entry: cut, ..matching() }).is_empty());
    assert!(found_in("regexec2", Walked { entry: text, ..matching() }).is_empty(), "no matcher");
}
