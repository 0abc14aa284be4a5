//! Arrays and texts that are moved or copied as a whole for each item, on synthetic recordings, at the thresholds.

use crate::walked::*;
use slowpath_diagnose::diagnose;

/// `memmove` by the size of an item.
fn moves() -> Walked {
    Walked {
        time: vec![(MEMMOVE, 0.6), (PARSE, 0.4)],
        at: MEMMOVE,
        entry: |_| (vec![LIST, LIST + 8, 6_400], vec![77, 78, 0], 0),
        in_loop: false,
        strides: vec![0, 0, 0],
        ..Walked::default()
    }
}

#[test]
fn an_array_that_is_moved_by_one_item_each_time_is_superlinear_work() {
    let finding = only(moves());
    assert_eq!((finding.cause.slug(), finding.variant), ("superlinear-work", "moves"));
    assert_eq!(finding.place.frame.function, "main");
    assert!(finding.explanation[0].contains("about 800 items"), "{:?}", finding.explanation);
    // A buffer of which a part was used up is moved to its start.
    silent(Walked { entry: |_| (vec![LIST, LIST + 200, 6_400], vec![77, 78, 0], 0), ..moves() });
    // One copy in 32 of 50 KB, or one of 400 with 100.
    fn beside(n: u64, each: u64) -> (Vec<u64>, Vec<u64>, u64) {
        let large = (vec![LIST, LIST + 1_000_000, 50_000], vec![77, 78, 0], 0);
        if n % each == 3 { large } else { (vec![LIST, LIST + 8, 6_400], vec![77, 78, 0], 0) }
    }
    silent(Walked { entry: |n| beside(n, 32), entries: 1_600, ..moves() });
    only(Walked { entry: |n| beside(n, 400), entries: 1_600, ..moves() });
    // The third argument of others is no size.
    let strcpy = recording(&Walked { at: STRCMP, time: vec![(STRCMP, 0.6), (PARSE, 0.4)], ..moves() });
    assert!(diagnose(&strcpy).findings.is_empty());
    // A copy elsewhere.
    silent(Walked { entry: |_| (vec![LIST, LIST + 8_000, 6_400], vec![77, 78, 0], 0), ..moves() });
}

/// In Go, where main has memory handed out as well, and the collector works by itself.
#[test]
fn what_additions_leave_to_a_collector_of_garbage_is_part_of_them() {
    let with = |collector: &str, elsewhere: bool| {
        let mut recording = recording(&Walked {
            time: vec![(MEMMOVE, 0.4), (PARSE, 0.2), (STRLEN, 0.3), (SEARCH, 0.1)],
            entry: |n| {
                (vec![LIST + n * 65_536, LIST + n * 65_536 - 32_768, 5_000 + n * 20], vec![0, 77, 0], 0)
            },
            ..moves()
        });
        let names = [
            (SEARCH, "runtime.concatstrings"),
            (MEMMOVE, "runtime.memmove"),
            (PARSE, "runtime.mallocgc"),
            (STRLEN, collector),
        ];
        for (function, name) in names {
            recording.tables.functions[function as usize].name = name.to_owned();
        }
        let stacks = &mut recording.tables.stacks;
        stacks[STRLEN as usize].parent = None;
        stacks[MEMMOVE as usize].parent = Some(SEARCH);
        stacks[PARSE as usize].parent = Some(if elsewhere { MAIN } else { SEARCH });
        let findings = diagnose(&recording).findings;
        let additions = findings.into_iter().find(|one| one.variant == "additions").expect("it is found");
        additions.cost.gain() / 10_000_000
    };
    // Of the copies that were noted the first of each burst repeats none.
    assert_eq!(with("runtime.gcBgMarkWorker", false), 84);
    // What main asks for otherwise is for other things.
    assert_eq!(with("runtime.gcBgMarkWorker", true), 37);
    // Where nothing collects it is not known what the memory is for.
    assert_eq!(with("parse", false), 37);
}

#[test]
fn a_text_that_is_copied_for_each_addition_is_superlinear_work() {
    let growing = Walked {
        entry: |n| (vec![LIST + n * 65_536, LIST + n * 65_536 - 32_768, 5_000 + n * 20], vec![0, 77, 0], 0),
        ..moves()
    };
    let finding = only(growing);
    assert_eq!((finding.cause.slug(), finding.variant), ("superlinear-work", "additions"));
    // The same each time, others each time, and short ones.
    silent(Walked {
        entry: |n| (vec![LIST + n * 65_536, LIST - 32_768, 5_000], vec![0, 77, 0], 0),
        ..moves()
    });
    silent(Walked {
        entry: |n| (vec![LIST + n * 65_536, LIST - 32_768, 5_000 + n * 20], vec![0, n + 1, 0], 0),
        ..moves()
    });
    silent(Walked {
        entry: |n| (vec![LIST + n * 65_536, LIST - 32_768, 700 + n], vec![0, 77, 0], 0),
        ..moves()
    });
    // A buffer that doubles.
    silent(Walked {
        entry: |n| (vec![LIST + n * 65_536, LIST - 32_768, 2_000 << (n % 8)], vec![0, 77, 0], 0),
        ..moves()
    });
}

#[test]
fn a_text_of_which_the_rest_is_copied_for_each_step_is_superlinear_work() {
    // Each rest is copied twice or so, to new memory.
    fn left(n: u64, step: u64, by: u64, size: u64) -> (Vec<u64>, Vec<u64>, u64) {
        let gone = n / step * by;
        (vec![LIST + (n + 1) * 1_000_000, LIST + gone, size - gone], vec![0, 1_000 + gone, 0], 0)
    }
    let finding = only(Walked { entry: |n| left(n, 2, 20, 40_000), entries: 128, ..moves() });
    assert_eq!((finding.cause.slug(), finding.variant), ("superlinear-work", "rests"));
    assert!(finding.advice.contains("string_view"), "{}", finding.advice);
    // The rest of the copy that was made before.
    fn chained(n: u64) -> (Vec<u64>, Vec<u64>, u64) {
        let at = |n: u64| LIST + (n % 2) * 1_000_000;
        (vec![at(n + 1), at(n) + 20, 40_000 - n * 20], vec![0, n + 1, 0], 0)
    }
    assert_eq!(only(Walked { entry: chained, ..moves() }).variant, "rests");
    // Too few steps in any text; never further on; further on by a good part of it; short.
    silent(Walked { entry: |n| left(n, 2, 20, 40_000), ..moves() });
    silent(Walked { entry: |n| left(n, 1, 0, 40_000), ..moves() });
    silent(Walked { entry: |n| left(n, 1, 700, 40_000), ..moves() });
    silent(Walked { entry: |n| left(n, 2, 1, 900), ..moves() });
    // A buffer that is filled with one message after the other, of which a header is taken off.
    silent(Walked {
        entry: |n| {
            let header = n % 2 * 5;
            (vec![LIST + (n + 1) * 1_000_000, LIST + header, 16_389 - header], vec![0, 1_000 + n, 0], 0)
        },
        ..moves()
    });
    // Parts of one size, one after the other.
    silent(Walked {
        entry: |n| (vec![LIST + (n + 1) * 1_000_000, LIST + n * 4_000, 4_000], vec![0, n + 1, 0], 0),
        ..moves()
    });
}

#[test]
fn a_list_that_is_moved_to_new_memory_for_each_item_is_superlinear_work() {
    // The n-th call moves so many bytes, from where the one before moved them to.
    fn moved(n: u64, bytes: u64) -> (Vec<u64>, Vec<u64>, u64) {
        let at = |n: u64| LIST + (n % 3) * 1_000_000;
        (vec![at(n), at(n) + bytes, at(n + 1)], vec![7, 0, 9], 0)
    }
    let list = || Walked {
        time: vec![(SEARCH, 0.6), (PARSE, 0.4)],
        entry: |n| moved(n, 40_000 + n * 32),
        work: "moves",
        in_loop: false,
        strides: vec![0, 0, 0],
        ..Walked::default()
    };
    let finding = only(list());
    assert_eq!((finding.cause.slug(), finding.variant), ("superlinear-work", "grown"));
    assert!(finding.explanation[0].contains("of find that were looked at"), "{:?}", finding.explanation);
    // As much each time; a good part more; short; and not from where it was moved to.
    silent(Walked { entry: |n| moved(n, 40_000), ..list() });
    silent(Walked { entry: |n| moved(n, 40_000 + n * 3_000), ..list() });
    silent(Walked { entry: |n| moved(n, 512 + n), ..list() });
    silent(Walked {
        entry: |n| (vec![LIST, LIST + 40_000 + n * 32, LIST + 1_000_000], vec![7, 0, 9], 0),
        ..list()
    });
    // The next row of a table is calculated from the one before, and has an item more.
    silent(Walked { work: "calculates", ..list() });
    // A list of nodes, each before the last one in memory, and something behind them.
    silent(Walked {
        entry: |n| (vec![LIST - 32 * n, LIST + 40_000, LIST - 32 * (n + 1)], vec![7, 0, 9], 0),
        ..list()
    });
    // Every third call moves another list, as long.
    silent(Walked {
        entry: |n| match n % 3 {
            0 => (vec![LIST + 9_000_000, LIST + 9_060_000, LIST + 8_000_000], vec![7, 0, 9], 0),
            _ => moved(n, 40_000 + n * 32),
        },
        ..list()
    });
}
