//! Memory that is cleared again and again, on synthetic recordings, at the thresholds of its cause.

use crate::walked::*;
use slowpath_diagnose::diagnose;
use slowpath_diagnose::findings::{Confidence, Finding};
use slowpath_recording::{Recording, filled_hash};

/// Stands for the content of a block that is clear.
const CLEAR: u64 = 1;

/// `memset` of one block, which begins each time as it was left.
fn clearing() -> Walked {
    Walked {
        time: vec![(STRLEN, 0.6), (PARSE, 0.4)],
        at: STRLEN,
        in_loop: false,
        strides: vec![0, 0, 0],
        entry: |_| (vec![LIST, 0, 100_000], vec![CLEAR, 0, 0], 0),
        ..Walked::default()
    }
}

fn memsets(walked: Walked) -> Recording {
    let mut recording = recording(&walked);
    let strlen = recording.tables.functions.iter_mut().find(|one| one.name == "__strlen_avx2");
    strlen.expect("it is there").name = "__memset_avx512_unaligned_erms".into();
    // What differs from entry to entry does so from burst to burst as well.
    for (at, row) in (1..).zip(recording.tables.beginnings.iter_mut()) {
        row.contents[0] = if row.contents[0] == CLEAR { filled_hash(0) } else { row.contents[0] };
        row.addresses[0] += if row.addresses[0] > LIST { 1_000_000_000 * at } else { 0 };
        row.addresses[2] += if row.addresses[2] > 100_000 { 1_000 * at } else { 0 };
    }
    recording
}

fn found(walked: Walked) -> Vec<Finding> {
    diagnose(&memsets(walked)).findings
}

#[test]
fn a_block_that_is_cleared_as_it_was_left_is_blamed_on_whoever_asks() {
    let found = found(clearing());
    let [finding] = &found[..] else { panic!("one finding: {found:#?}") };
    assert_eq!((finding.cause.slug(), finding.confidence), ("redundant-clearing", Confidence::Likely));
    assert_eq!(finding.place.frame.function, "main");
    assert!((590..=610).contains(&(finding.cost.gain() / 1_000_000)), "{:?}", finding.cost);
}

#[test]
fn a_block_of_which_only_the_beginning_was_used_ends_as_it_was_left() {
    // The address of the last 256 of 100,000 bytes, which are clear, or were used as the first were.
    let with = |minor: u32, entry: Entry| {
        let mut recording = memsets(Walked { entry, ..clearing() });
        recording.about.format.minor = minor;
        for row in &mut recording.tables.beginnings {
            row.addresses[2] = LIST + 100_000 - 256;
            row.contents[2] = if row.contents[2] == CLEAR { filled_hash(0) } else { row.contents[2] };
        }
        diagnose(&recording).findings
    };
    let used: Entry = |n| (vec![LIST, 0, 0], vec![n + 100, 0, n + 200], 0);
    let clear_behind: Entry = |n| (vec![LIST, 0, 0], vec![n + 100, 0, CLEAR], 0);
    let found = with(19, clear_behind);
    assert_eq!(found.len(), 1);
    assert!(found[0].explanation[0].ends_with("about 100,000 bytes each"), "{found:#?}");
    assert!(with(19, used).is_empty());
    // Of 0.6 s of clearing and 0.4 s of other work, which uses a third of the blocks at most.
    assert!((390..=410).contains(&(found[0].cost.gain() / 1_000_000)), "{:?}", found[0].cost);
    // Before, it was the size.
    assert!(with(18, clear_behind).is_empty());
}

#[test]
fn half_of_the_bytes_must_be_in_blocks_that_begin_as_they_were_left() {
    // Every other one, and two of three, were used at the beginning.
    let half: Entry = |n| (vec![LIST, 0, 100_000], vec![if n % 2 == 0 { CLEAR } else { n + 100 }, 0, 0], 0);
    let third: Entry = |n| (vec![LIST, 0, 100_000], vec![if n % 3 == 0 { CLEAR } else { n + 100 }, 0, 0], 0);
    let most: Entry = |n| (vec![LIST, 0, 100_000], vec![if n % 3 > 0 { CLEAR } else { n + 100 }, 0, 0], 0);
    assert_eq!(found(Walked { entry: most, ..clearing() }).len(), 1);
    assert!(found(Walked { entry: half, ..clearing() }).is_empty());
    assert!(found(Walked { entry: third, ..clearing() }).is_empty());
}

#[test]
fn it_is_the_same_block_of_the_same_size_and_a_page_at_least() {
    let with = |entry: Entry| found(Walked { entry, ..clearing() }).len();
    assert_eq!(with(|_| (vec![LIST, 0, 4_096], vec![CLEAR, 0, 0], 0)), 1);
    assert_eq!(with(|_| (vec![LIST, 0, 4_095], vec![CLEAR, 0, 0], 0)), 0);
    assert_eq!(with(|n| (vec![LIST + 1 + n * 200_000, 0, 100_000], vec![CLEAR, 0, 0], 0)), 0);
    assert_eq!(with(|n| (vec![LIST, 0, 100_001 + n], vec![CLEAR, 0, 0], 0)), 0);
    // It holds something else, always the same; what it is filled with is another byte; what it holds could not be read.
    assert_eq!(with(|_| (vec![LIST, 0, 100_000], vec![77, 0, 0], 0)), 0);
    assert_eq!(with(|_| (vec![LIST, 255, 100_000], vec![CLEAR, 0, 0], 0)), 0);
    assert_eq!(with(|_| (vec![LIST, 0, 100_000], vec![0, 0, 0], 0)), 0);
}

#[test]
fn small_blocks_in_between_are_left_out_and_three_large_ones_must_be_cleared_again() {
    let every: fn(u64) -> Entry = |each| match each {
        16 => |n| {
            if n % 16 == 0 {
                (vec![LIST, 0, 100_000], vec![CLEAR, 0, 0], 0)
            } else {
                (vec![LIST + n, 0, 6], vec![n, 0, 0], 0)
            }
        },
        _ => |n| {
            if n == 0 {
                (vec![LIST, 0, 100_000], vec![CLEAR, 0, 0], 0)
            } else {
                (vec![LIST + n, 0, 6], vec![n, 0, 0], 0)
            }
        },
    };
    assert_eq!(found(Walked { entry: every(16), ..clearing() }).len(), 1);
    // One in each of four bursts: three of them again.
    assert_eq!(found(Walked { entry: every(64), ..clearing() }).len(), 1);
    let mut few = memsets(Walked { entry: every(64), ..clearing() });
    let last = few
        .tables
        .walk_bursts
        .iter()
        .filter(|burst| burst.rounds.is_none())
        .map(|burst| burst.start_ns)
        .max();
    few.tables.beginnings.retain(|row| Some(row.time_ns) < last);
    assert!(diagnose(&few).findings.is_empty());
}

#[test]
fn it_takes_a_quarter_of_the_time() {
    let share =
        |share: f64| found(Walked { time: vec![(STRLEN, share), (PARSE, 1.0 - share)], ..clearing() }).len();
    assert_eq!(share(0.26), 1);
    assert_eq!(share(0.24), 0);
}
