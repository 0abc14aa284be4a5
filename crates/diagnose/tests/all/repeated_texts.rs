//! The cause `repeated-scan` where functions of a language's library go through texts, on synthetic recordings, at the thresholds.

use crate::walked::*;
use slowpath_diagnose::diagnose;
use slowpath_diagnose::findings::Confidence;

/// `strlen` of one text.
fn texts() -> Walked {
    Walked {
        time: vec![(STRLEN, 0.6), (PARSE, 0.4)],
        at: STRLEN,
        in_loop: false,
        strides: vec![0, 0, 0],
        entry: |n| (vec![LIST, n * 4096, n], vec![77, n, 0], 300),
        ..Walked::default()
    }
}

#[test]
fn the_length_of_a_long_text_taken_again_and_again_is_blamed_on_whoever_asks() {
    let finding = only(texts());
    assert_eq!((finding.cause.slug(), finding.place.frame.function.as_str()), ("repeated-scan", "main"));
    assert!(finding.explanation[0].ends_with("at least 300 bytes"), "{:?}", finding.explanation);
    silent(Walked { entry: |n| (vec![LIST, n, n], vec![77, n, 0], 255), ..texts() });
    silent(Walked { entry: |n| (vec![LIST + n * 4096, 0, 0], vec![n + 1, 0, 0], 300), ..texts() });
    silent(Walked { entry: |n| (vec![LIST, 0, 0], vec![n + 1, 0, 0], 300), ..texts() });
}

#[test]
fn searches_that_go_far_beyond_where_the_next_begins_are_repeated() {
    // Each takes 10 µs, of which the search has 0.6: as long as for 1,500 bytes or more.
    let found = |name: &str, entry: Entry| {
        let mut recording = recording(&Walked { entry, ..texts() });
        let function = recording.tables.functions.iter_mut().find(|one| one.name == "__strlen_avx2");
        function.expect("it is there").name = name.into();
        diagnose(&recording).findings
    };
    const RUST: &str = "core::str::pattern::TwoWaySearcher::next";
    let all = found(RUST, |n| (vec![7, 8, LIST + 20 * n], vec![1, 2, 77 + n], 0));
    assert_eq!(all[0].cause.slug(), "repeated-scan");
    assert!(
        all[0].explanation[0].contains("as long as for at least 1,500 bytes"),
        "{:?}",
        all[0].explanation
    );
    assert!(all[0].advice.contains("only as far as"), "{}", all[0].advice);
    assert_eq!(found("__strstr_avx512", |n| (vec![LIST + 20 * n, n], vec![77 + n, n], 0)).len(), 1);
    // A 64th of the way is the next one's; another argument moves on; one place; texts here and there; and what is no search.
    assert!(found(RUST, |n| (vec![7, 8, LIST + 24 * n], vec![1, 2, 77 + n], 0)).is_empty());
    assert!(found(RUST, |n| (vec![7, LIST + 20 * n, 8], vec![1, 77 + n, 2], 0)).is_empty());
    assert!(found(RUST, |n| (vec![7, 8, LIST + 5_000 * (n * 7 % 64)], vec![1, 2, n], 0)).is_empty());
    // One buffer in which ever new texts begin: every second search goes on to its end.
    assert!(
        found("strstr", |n| (vec![LIST + 20 * (n % 2), n], vec![77 + n, n], 0)).is_empty(),
        "half of the searches begin before the last one"
    );
    // A function of the program's own, by another name.
    assert!(
        found("strstr_any", |n| (vec![LIST + 20 * n, n], vec![77 + n, n], 0)).len() == 1,
        "a variant of libc's"
    );
    assert!(found("strstrs", |n| (vec![LIST + 20 * n, n], vec![77 + n, n], 0)).is_empty());
    assert!(found("strtod", |n| (vec![LIST + 20 * n, n], vec![77 + n, n], 0)).is_empty());
}

#[test]
fn looking_for_one_end_from_ever_further_on_is_a_repeated_search() {
    let found = |name: &str, entry: Entry| {
        let mut recording = recording(&Walked { entry, ..texts() });
        let strlen = recording.tables.functions.iter_mut().find(|one| one.name == "__strlen_avx2");
        strlen.expect("it is there").name = name.into();
        diagnose(&recording).findings
    };
    let all = found("__strlen_avx2", |n| (vec![LIST + 40 * n, n, 0], vec![77 + n, 0, 0], 400));
    assert_eq!(all[0].cause.slug(), "repeated-scan");
    assert!(all[0].explanation[0].contains("begins only a little further on"), "{:?}", all[0].explanation);
    assert!((530..=550).contains(&(all[0].cost.gain() / 1_000_000)), "{:?}", all[0].cost);
    // Several times for each place, unless something else is there by then.
    assert_eq!(found("strlen", |n| (vec![LIST + 40 * (n / 4)], vec![77 + n / 4], 400)).len(), 1);
    assert!(found("strlen", |n| (vec![LIST + 40 * (n / 4)], vec![77 + n], 400)).is_empty());
    // Half of the way for itself; then more; and an end in between.
    assert_eq!(found("strlen", |n| (vec![LIST + 199 * n], vec![77 + n], 400)).len(), 1);
    assert!(found("strlen", |n| (vec![LIST + 201 * n], vec![77 + n], 400)).is_empty());
    assert!(found("strlen", |n| (vec![LIST + 401 * n], vec![77 + n], 400)).is_empty());
    // Another byte than the one at the end; and whoever may stop before it.
    assert_eq!(found("rawmemchr", |n| (vec![LIST + 40 * n, 0], vec![77 + n, 0], 400)).len(), 1);
    assert!(found("rawmemchr", |n| (vec![LIST + 40 * n, 9], vec![77 + n, 0], 400)).is_empty());
    assert!(found("strchr", |n| (vec![LIST + 40 * n, 0], vec![77 + n, 0], 400)).is_empty());
}

#[test]
fn one_text_that_is_searched_for_many_patterns_one_by_one_is_a_repeated_search() {
    let found = |name: &str, entry: Entry| {
        let mut recording = recording(&Walked { entry, entries: 256, ..texts() });
        let strlen = recording.tables.functions.iter_mut().find(|one| one.name == "__strlen_avx2");
        strlen.expect("it is there").name = name.into();
        diagnose(&recording).findings
    };
    // Each burst of 64 has a text of 59 bytes that is replaced after 32 patterns, in the same buffer: 252 searches with one before them, and 4 other texts.
    let after = |patterns: u64| -> Entry {
        match patterns {
            32 => |n| (vec![LIST, 59, 4096 + n * 8], vec![77 + n / 32, 0, n], 59),
            _ => |n| (vec![LIST, 59, 4096 + n * 8], vec![77 + n / 16, 0, n], 59),
        }
    };
    let many = found("__GI___memmem", after(32));
    assert_eq!((many[0].cause.slug(), many[0].confidence), ("repeated-scan", Confidence::Likely));
    assert!(many[0].explanation[0].contains("at least 50 patterns"), "{:?}", many[0].explanation);
    // One pass of 590 ns is left, of 50.4 searches of 23.54 ns.
    assert!((303..=306).contains(&(many[0].cost.gain() / 1_000_000)), "{:?}", many[0].cost);
    assert!(found("memmem", after(16)).is_empty());
    // A longer text takes a search less for each byte, and a pass as much. And `strstr` is quicker: 252 patterns are enough.
    assert!(found("memmem", |n| (vec![LIST, 1_000, 4096 + n * 8], vec![77 + n / 32, 0, n], 0)).is_empty());
    assert_eq!(found("__strstr_avx512", |n| (vec![LIST, 4096 + n * 8, n], vec![77, n, 0], 60)).len(), 1);
    assert!(found("strstr", |n| (vec![LIST, 4096 + n * 8, n], vec![77 + n / 32, n, 0], 60)).is_empty());
    assert!(found("strstr", |n| (vec![LIST, 4096 + n * 8, n], vec![77, n, 0], 511)).is_empty());
    // The same few again are another matter, and so are texts of different lengths.
    assert!(found("strstr", |n| (vec![LIST, 4096 + n % 8, n], vec![77, n, 0], 60)).is_empty());
    assert!(found("memmem", |n| (vec![LIST, n, 4096 + n * 8], vec![77, 0, n], n)).is_empty());
    assert!(found("memchr", after(32)).is_empty());
}

#[test]
fn a_length_is_an_argument_where_the_function_has_one() {
    let memchr = |entry: Entry| {
        let mut recording = recording(&Walked { entry, ..texts() });
        let strlen = recording.tables.functions.iter_mut().find(|one| one.name == "__strlen_avx2");
        strlen.expect("it is there").name = "__memchr_avx2".into();
        diagnose(&recording).findings
    };
    // A megabyte is as large as an address.
    assert_eq!(memchr(|_| (vec![LIST, 10, 1 << 20], vec![77, 0, 0], 0)).len(), 1);
    assert!(memchr(|_| (vec![LIST, 10, 255], vec![77, 0, 0], 0)).is_empty());
    assert!(memchr(|n| (vec![LIST, 10, 300 + n], vec![77, 0, 0], 0)).is_empty());
}
