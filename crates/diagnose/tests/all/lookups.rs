//! The causes in questions about paths, those that are there and those that are not, on synthetic recordings, at their thresholds.

use crate::traced::{BOTH, MS, Mode, OTHER, Traced, US, WORK, only, silent};
use slowpath_diagnose::findings::Confidence;
use slowpath_recording::Recording;
use slowpath_recording::tables::{File, Syscall};

const OPEN: u32 = 257;
const STAT: u32 = 262;
const CHDIR: u32 = 80;

/// One path is asked for `times` times.
fn asking(mode: Mode, times: u32, path: &str, result: i64) -> Recording {
    let mut traced = Traced::new(mode);
    let file = traced.file(path, "path", 0);
    for _ in 0..times {
        traced.call(STAT, Some(file), result, 100 * US);
    }
    traced.recording(200 * MS)
}

#[test]
fn a_path_that_is_asked_for_again_and_again_is_told() {
    for mode in BOTH {
        let finding = only(&asking(mode, 1_000, "/etc/localtime", 0), "redundant-file-access");
        assert_eq!(finding.title, "the same path is looked up again and again");
        only(&asking(mode, 150, "/etc/localtime", 0), "redundant-file-access");
        silent(&asking(mode, 99, "/etc/localtime", 0));
        silent(&asking(mode, 1_000, "relative", 0));
    }
}

/// The same relative to a directory, by a process that changes its own before or after.
fn asking_from(directory: i32, moves: bool, moved: bool) -> Recording {
    let mut traced = Traced::new(Mode::Each);
    let file = traced.file("store/pack/a.idx", "path", 0);
    if moves {
        traced.call(CHDIR, None, 0, US);
    }
    for _ in 0..1_000 {
        traced.call(STAT, Some(file), 0, 100 * US).argument = u64::from(directory as u32);
    }
    if moved {
        traced.call(CHDIR, None, 0, US);
    }
    traced.recording(200 * MS)
}

#[test]
fn a_relative_path_is_one_file_if_the_directory_stays_the_same() {
    const AT_FDCWD: i32 = -100;
    only(&asking_from(AT_FDCWD, false, false), "redundant-file-access");
    only(&asking_from(AT_FDCWD, true, false), "redundant-file-access");
    silent(&asking_from(AT_FDCWD, false, true));
    silent(&asking_from(5, false, false));
}

/// A directory is listed 100 times, and each of its ten entries is asked about each time; another one is listed so often.
fn listing(elsewhere: u32) -> Recording {
    const GETDENTS: u32 = 217;
    let mut traced = Traced::new(Mode::Each);
    let store = traced.file("/store", "directory", 0);
    let other = traced.file("/other", "directory", 0);
    let entries: Vec<u32> = (0..10).map(|entry| traced.file(&format!("entry {entry}"), "path", 0)).collect();
    for listing in 0..100 + elsewhere {
        let directory = if listing < 100 { store } else { other };
        traced.call(GETDENTS, Some(directory), 1_000, 10 * US);
        for entry in &entries {
            traced.call(STAT, Some(*entry), 0, 100 * US).argument = 5;
        }
    }
    traced.recording(200 * MS)
}

#[test]
fn what_is_asked_of_an_open_directory_is_in_the_one_that_is_listed() {
    only(&listing(0), "redundant-file-access");
    only(&listing(5), "redundant-file-access");
    silent(&listing(6));
}

/// So many paths are asked for `times` times each, and then so many questions more whose path is not known.
fn asking_many(paths: u32, times: u32, beyond: u64) -> Recording {
    let mut traced = Traced::new(Mode::Each);
    let files: Vec<u32> =
        (0..paths).map(|number| traced.file(&format!("/pictures/{number}"), "path", 0)).collect();
    for file in files.iter().cycle().take((paths * times) as usize) {
        traced.call(STAT, Some(*file), 0, 100 * US);
    }
    if beyond > 0 {
        traced.call(STAT, None, 0, beyond * 100 * US).count = beyond;
    }
    let cpu = u64::from(paths * times) + beyond;
    traced.recording(cpu * 200 * US)
}

#[test]
fn many_paths_that_are_each_asked_for_some_times_count_together() {
    let finding = only(&asking_many(200, 10, 0), "redundant-file-access");
    assert!(finding.explanation[0].contains("2,000 times"), "{:?}", finding.explanation);
    assert_eq!(finding.cost.gain(), 2_000 * 100 * US / 10 * 9);
    silent(&asking_many(199, 10, 0));
    silent(&asking_many(300, 9, 0));
}

#[test]
fn of_questions_without_a_path_a_sample_says_how_many_paths_there_are() {
    // Seen in two slices of time each: these are about all there are.
    let finding = only(&asking_many(1_000, 2, 100_000), "redundant-file-access");
    let said = &finding.explanation[0];
    assert!(said.contains("and 997 more") && said.contains("102,000 times"), "{said}");
    assert!(said.contains("about 102 times each"), "{said}");
    silent(&asking_many(999, 2, 100_000));
    silent(&asking_many(1_000, 2, 7_999));
    only(&asking_many(1_000, 2, 8_000), "redundant-file-access");
    // Each is new.
    silent(&asking_many(3_000, 1, 100_000));
}

#[test]
fn questions_without_a_path_are_like_those_with_one_from_the_same_place() {
    // Of 200 paths that are asked about ten times each, and as many questions more: 400 paths.
    let finding = only(&asking_many(200, 10, 2_000), "redundant-file-access");
    let said = &finding.explanation[0];
    assert!(said.contains("about 397 more") && said.contains("4,000 times"), "{said}");
    assert_eq!(finding.cost.gain(), 4_000 * 100 * US / 10 * 9);
    // Where one path in ten is asked about seldom, those that are not known are of the latter kind.
    let mut mixed = asking_many(200, 10, 0);
    for number in 0..23 {
        let file = mixed.tables.files.len() as u32;
        let row = File { file, path: format!("/other/{number}"), ..mixed.tables.files[0].clone() };
        mixed.tables.files.push(row);
        let asked = Syscall { file: Some(file), ..mixed.tables.syscalls[0].clone() };
        mixed.tables.syscalls.push(asked);
    }
    let beyond =
        Syscall { file: None, count: 2_000, duration_ns: 200_000 * US, ..mixed.tables.syscalls[0].clone() };
    mixed.tables.syscalls.push(beyond);
    let said = &only(&mixed, "redundant-file-access").explanation[0];
    assert!(!said.contains("about") && !said.contains("4,0"), "{said}");
    // A tenth more makes no difference.
    let finding = only(&asking_many(200, 10, 200), "redundant-file-access");
    assert_eq!(finding.cost.gain(), 2_000 * 100 * US / 10 * 9);
}

#[test]
fn two_questions_in_a_row_about_each_of_many_paths_are_no_sign_that_there_are_few() {
    let mut traced = Traced::new(Mode::Each);
    for number in 0..3_000 {
        let file = traced.file(&format!("/pictures/{number}"), "path", 0);
        traced.call(STAT, Some(file), 0, 100 * US);
        traced.call(STAT, Some(file), 0, 100 * US);
    }
    traced.call(STAT, None, 0, 100_000 * 100 * US).count = 100_000;
    let recording = traced.recording(20_000 * MS);
    silent(&recording);
    assert_eq!(
        only(&with_flags(recording), "redundant-file-access").title,
        "each path is looked up twice in a row"
    );
}

/// Each of so many paths is asked about twice, the second time so long after the first; `between` makes another call, and `second` changes the second one.
fn asking_twice(mode: Mode, paths: u32, pause: u64, between: &[u32], second: fn(&mut Syscall)) -> Recording {
    let mut traced = Traced::new(mode);
    for number in 0..paths {
        let file = traced.file(&format!("/pictures/{number}"), "path", 0);
        traced.call(STAT, Some(file), 0, 100 * US);
        for call in between {
            traced.call(*call, None, 0, US);
        }
        traced.now += pause;
        second(traced.call(STAT, Some(file), 0, 100 * US));
    }
    with_flags(traced.recording(u64::from(paths) * 300 * US))
}

/// As of a version that records the flags of calls.
fn with_flags(mut recording: Recording) -> Recording {
    recording.about.format.minor = 18;
    recording
}

/// Each of 150 paths is asked about once from each of these stacks, one after the other.
fn asking_in_turn(stacks: &[u32], cpu_ns: u64) -> Recording {
    let mut traced = Traced::new(Mode::Each);
    for number in 0..150 {
        let file = traced.file(&format!("/pictures/{number}"), "path", 0);
        for stack in stacks {
            traced.call(STAT, Some(file), 0, 100 * US).stack = Some(*stack);
        }
    }
    with_flags(traced.recording(cpu_ns))
}

#[test]
fn places_that_ask_one_after_the_other_are_one_finding() {
    // Of the CPU time each place takes 8 %, which alone is too little.
    let finding = only(&asking_in_turn(&[WORK, OTHER, 0], 187 * MS), "redundant-file-access");
    assert_eq!(finding.cost.gain(), 300 * 100 * US);
    assert!(finding.explanation[0].starts_with("300 of 300 lookups repeat the one before"), "{finding:#?}");
    assert!(
        finding.explanation[1].contains("and again from") && finding.explanation[1].contains(", and from")
    );
    silent(&asking_in_turn(&[WORK, OTHER], 187 * MS));
}

#[test]
fn a_question_right_after_the_same_one_is_one_too_many() {
    let twice = |paths, second| asking_twice(Mode::Each, paths, 10 * US, &[], second);
    let finding = only(&twice(150, |_| ()), "redundant-file-access");
    assert!(finding.explanation[0].starts_with("150 of 300 lookups repeat the one before"), "{finding:#?}");
    assert_eq!((finding.cost.gain(), finding.confidence), (150 * 100 * US, Confidence::Likely));
    only(&twice(100, |_| ()), "redundant-file-access");
    silent(&twice(99, |_| ()));
    // With its flags, and its answer.
    silent(&twice(150, |row| row.argument = 0x100 << 32));
    silent(&twice(150, |row| row.result = 1));
    silent(&twice(150, |row| row.number = 4));
    // What access and readlink ask is not known.
    let mut access = twice(150, |_| ());
    access.tables.syscalls.iter_mut().for_each(|row| row.number = 21);
    silent(&access);
    // What came between two calls that were added up is not known.
    silent(&asking_twice(Mode::AddedUp, 150, 10 * US, &[], |_| ()));
    // Older recordings do not tell whether a link was followed.
    let mut old = twice(150, |_| ());
    old.about.format.minor = 17;
    silent(&old);
}

#[test]
fn nothing_may_lie_between_two_equal_questions_but_a_moment() {
    const MMAP: u32 = 9;
    let with = |pause, between: &[u32]| asking_twice(Mode::Each, 150, pause, between, |_| ());
    only(&with(900 * US, &[MMAP]), "redundant-file-access");
    silent(&with(1_100 * US, &[]));
    silent(&with(10 * US, &[OPEN]));
    // Calls that were added up: a chmod may have been anywhere in that time, a close changes nothing.
    const CHMOD: u32 = 90;
    const CLOSE: u32 = 3;
    let beside = |number| {
        let mut recording = with(10 * US, &[]);
        let first = recording.tables.syscalls[0].clone();
        let end_ns = recording.tables.syscalls.iter().map(|row| row.end_ns).max().expect("calls");
        recording.tables.syscalls.push(Syscall { number, end_ns, count: 150, file: None, ..first });
        recording.tables.syscalls.sort_by_key(|row| row.time_ns);
        recording
    };
    silent(&beside(CHMOD));
    only(&beside(CLOSE), "redundant-file-access");
}

#[test]
fn two_in_five_questions_must_repeat_another() {
    let with = |others: u32| {
        let mut traced = Traced::new(Mode::Each);
        for number in 0..150 {
            for path in 0..others {
                let file = traced.file(&format!("/pictures/{number}-{path}"), "path", 0);
                traced.call(STAT, Some(file), 0, 100 * US);
            }
            let file = traced.file(&format!("/pictures/{number}"), "path", 0);
            traced.call(STAT, Some(file), 0, 100 * US);
            traced.call(STAT, Some(file), 0, 100 * US);
        }
        with_flags(traced.recording(150 * 500 * US))
    };
    // One in two, and one in three.
    only(&with(0), "redundant-file-access");
    silent(&with(1));
}

#[test]
fn several_questions_in_a_row_about_each_path_are_as_many_for_those_that_were_not_seen() {
    let asking = |paths: u32, in_a_row: u32, met: bool| {
        let mut traced = Traced::new(Mode::Each);
        for number in 0..paths {
            let file = traced.file(&format!("/pictures/{number}"), "path", 0);
            for _ in 0..in_a_row {
                traced.call(STAT, Some(file), 0, 100 * US).met = met.then_some(true);
            }
        }
        traced.call(STAT, None, 0, 100_000 * 100 * US).count = 100_000;
        traced.recording(20_000 * MS)
    };
    let finding = only(&asking(100, 6, false), "redundant-file-access");
    let said = &finding.explanation[0];
    assert!(said.contains("100,600 times") && said.contains("about 6 times each"), "{said}");
    let gain = finding.cost.gain() as f64 / (100_600 * 100 * US) as f64;
    assert!((0.82..0.85).contains(&gain), "{gain}");
    silent(&asking(200, 4, false));
    silent(&asking(25, 6, false)); // 149 follow one another
    only(&asking(26, 6, false), "redundant-file-access");
    // What lies between two that were met by chance is not known.
    silent(&asking(100, 6, true));
}

/// Each of `runs` rounds tries `paths` places in vain and finds the last.
fn missing(mode: Mode, runs: u32, paths: u32, cpu_ms: u64) -> Recording {
    let mut traced = Traced::new(mode);
    let misses: Vec<u32> =
        (0..paths).map(|place| traced.file(&format!("/opt/{place}/libx.so"), "path", 0)).collect();
    let there = traced.file("/usr/lib/libx.so", "file", 1_000);
    for _ in 0..runs {
        for file in &misses {
            traced.call(OPEN, Some(*file), -2, 50 * US);
        }
        traced.call(OPEN, Some(there), 3, 50 * US).argument = 0o1002; // emptied: no rereading
    }
    traced.recording(cpu_ms * MS)
}

#[test]
fn searches_in_vain_are_told_with_their_directories() {
    for mode in BOTH {
        let finding = only(&missing(mode, 50, 40, 200), "failed-lookups");
        assert_eq!((finding.place.frame.function.as_str(), finding.cost.amount()), ("work", 100 * MS));
        let said = finding.explanation.join("\n");
        assert!(
            said.contains("2,000 times in total from work (program.c:11); 50 other lookups succeeded"),
            "{said}"
        );
        assert!(said.contains("one name in 40 directories"), "{said}");
        assert!(finding.advice.starts_with("Put the right directory first"), "{}", finding.advice);
    }
}

#[test]
fn of_names_that_are_missed_in_one_place_each_the_most_frequent_are_named_first() {
    let mut traced = Traced::new(Mode::Each);
    let [once, often] = ["/src/a.h", "/src/b.h"].map(|path| traced.file(path, "path", 0));
    for _ in 0..200 {
        for file in [once, often, often] {
            traced.call(STAT, Some(file), -2, 50 * US);
        }
    }
    let finding = only(&traced.recording(100 * MS), "failed-lookups");
    let files: Vec<&str> = finding.files.iter().map(|file| file.path.as_str()).collect();
    assert_eq!(files, ["/src/b.h", "/src/a.h"]);
    assert!(finding.advice.starts_with("Remember which files do not exist"), "{}", finding.advice);
}

#[test]
fn misses_count_from_200_on_and_two_for_each_hit_and_a_tenth_of_the_time() {
    for mode in BOTH {
        silent(&missing(mode, 19, 10, 10));
        only(&missing(mode, 20, 10, 10), "failed-lookups");
        silent(&missing(mode, 500, 1, 50));
        only(&missing(mode, 500, 2, 50), "failed-lookups");
        silent(&missing(mode, 50, 40, 1_010));
        only(&missing(mode, 50, 40, 990), "failed-lookups");
    }
}

#[test]
fn names_that_are_each_tried_once_are_silent() {
    let mut traced = Traced::new(Mode::Each);
    for number in 0..1_000 {
        let file = traced.file(&format!("/cache/{number}"), "path", 0);
        traced.call(STAT, Some(file), -2, 100 * US);
    }
    silent(&traced.recording(150 * MS));
}
