//! The cause `repeated-scan`, and arrays and texts that are moved or copied as a whole, on synthetic recordings, at the thresholds.
//!
//! The recordings are of a `main` that calls `find`, whose loop at 0x10–0x30 calls the C library's `strcmp`, and the C library's `strlen` and
//! `memmove`.

mod common;
#[path = "common/sampled.rs"]
mod sampled;

use common::about;
use sampled::{MS, Run};
use slowpath_diagnose::diagnose;
use slowpath_diagnose::findings::{Confidence, Finding};
use slowpath_recording::tables::*;
use slowpath_recording::{Recording, Tables};
use std::path::PathBuf;

/// Locations; stack n ends at location n.
const MAIN: u32 = 0;
const SEARCH: u32 = 1;
const STRCMP: u32 = 2;
const STRLEN: u32 = 3;
const MEMMOVE: u32 = 4;
const PARSE: u32 = 5;
/// The stack of the second loop.
const BESIDE: u32 = 6;

/// A list somewhere in memory.
const LIST: u64 = 0x7000_0000;
const BURSTS: u64 = 4;

/// Addresses, contents and length of the n-th entry of a burst.
type Entry = fn(u64) -> (Vec<u64>, Vec<u64>, u64);

/// What the entries of a walk are like.
struct Walked {
    /// Where the time goes: stack and share of a second.
    time: Vec<(u32, f64)>,
    /// The function that the walk is of, and whether it is its loop that is.
    at: u32,
    in_loop: bool,
    /// Work of the loop.
    work: &'static str,
    entries: u64,
    strides: Vec<u64>,
    entry: Entry,
    /// Each begins at an item that leads to where the one before began.
    linked: u64,
    /// Entries and rounds counted in a burst of lengths.
    counted: (u64, u64),
    /// By how many rounds the next burst of lengths has more.
    further: u64,
    /// Reads of the process.
    reads: u64,
    /// CPU time from one entry to the next, ns, in each burst; not known where there are none.
    each_ns: &'static [u64],
    /// The same where it is not given for each burst; what part of it the thread is on a CPU.
    usual_ns: u64,
    on_cpu: f64,
    /// What the code of `find` does as a whole.
    body: &'static str,
    /// Share of a second in a second loop of the same kind, at 0x40–0x60, or, if so, in the first.
    beside: f64,
    within: bool,
    /// The function with the loop.
    name: &'static str,
}

impl Default for Walked {
    fn default() -> Walked {
        Walked {
            time: vec![(STRCMP, 0.7), (SEARCH, 0.1), (PARSE, 0.2)],
            at: SEARCH,
            in_loop: true,
            work: "walks",
            entries: 64,
            strides: vec![0],
            entry: |_| (vec![LIST], vec![77], 0),
            linked: 0,
            counted: (10, 2_000),
            further: 0,
            reads: 0,
            each_ns: &[],
            usual_ns: 10_000,
            on_cpu: 1.0,
            body: "calculates",
            beside: 0.0,
            within: false,
            name: "find",
        }
    }
}

fn recording(walked: &Walked) -> Recording {
    let mut tables = Tables::default();
    for (number, path) in [(0, "/bin/program"), (1, "/lib/libc.so.6")] {
        let module = Module {
            module: number,
            path: path.into(),
            build_id: None,
            device: 0,
            inode: 1,
            size: 1,
            mtime_ns: 0,
        };
        tables.modules.push(module);
    }
    let places = [
        (MAIN, "main", 0, 0x1000, None),
        (SEARCH, walked.name, 0, 0x2020, Some(MAIN)),
        (STRCMP, "strcmp", 1, 0x500, Some(SEARCH)),
        (STRLEN, "__strlen_avx2", 1, 0x600, Some(MAIN)),
        (MEMMOVE, "__memmove_avx_unaligned_erms", 1, 0x700, Some(MAIN)),
        (PARSE, "parse", 0, 0x3000, Some(MAIN)),
    ];
    for (number, name, module, address, parent) in places {
        let (name, file) = (name.to_owned(), Some("program.c".to_owned()));
        let first = address & !0xff;
        let function = Function {
            function: number,
            name,
            module: Some(module),
            file: file.clone(),
            line: Some(1),
            address: first,
        };
        tables.functions.push(function);
        tables.locations.push(Location {
            location: number,
            module: Some(module),
            address,
            kind: "native".into(),
        });
        let frame = Frame {
            location: number,
            depth: 0,
            function: number,
            file,
            line: Some(number + 10),
            kind: "native".into(),
        };
        tables.frames.push(frame);
        tables.stacks.push(Stack { stack: number, parent, location: number });
    }
    // The first addresses of functions, as walks and loops name them.
    for (number, function) in (6..).zip([MAIN, SEARCH, STRCMP, STRLEN, MEMMOVE, PARSE]) {
        let of = &tables.functions[function as usize];
        let first =
            Location { location: number, module: of.module, address: of.address, kind: "native".into() };
        tables.locations.push(first);
        let frame =
            Frame { location: number, depth: 0, function, file: None, line: None, kind: "native".into() };
        tables.frames.push(frame);
    }
    let location = walked.at + 6;
    let second = if walked.within { vec![0x18, 0x28] } else { vec![0x40, 0x60] };
    for (loop_number, ranges) in [(0, vec![0x10, 0x30]), (1, second)] {
        let (work, parent) = (walked.work.into(), (loop_number == 1 && walked.within).then_some(0));
        tables.loops.push(Loop {
            loop_number,
            location: SEARCH + 6,
            parent,
            ranges,
            work,
            chases: None,
            usual: None,
        });
    }
    let (number, module) = (12, Some(0));
    let address = if walked.within { 0x2020 } else { 0x2050 };
    tables.locations.push(Location { location: number, module, address, kind: "native".into() });
    let (file, line, kind) = (Some("program.c".to_owned()), Some(21), "native".to_owned());
    tables.frames.push(Frame { location: number, depth: 0, function: SEARCH, file, line, kind });
    tables.stacks.push(Stack { stack: BESIDE, parent: Some(MAIN), location: number });
    tables.bodies.push(Body { location: SEARCH + 6, work: walked.body.into() });
    let loop_number = walked.in_loop.then_some(0);
    let strides = || walked.strides.clone();
    tables.walks.push(Walk { walk: 0, process: 0, location, loop_number, strides: strides() });
    if walked.beside > 0.0 {
        tables.walks.push(Walk { walk: 1, process: 0, location, loop_number: Some(1), strides: strides() });
    }
    let mut run = Run::new(tables);
    for (stack, share) in &walked.time {
        run.spend(share * 1000.0 * MS, *stack);
    }
    run.spend(walked.beside * 1000.0 * MS, BESIDE);
    let end_ns = run.now as u64;
    let mut tables = run.tables;
    sampled::one_thread(&mut tables, end_ns);
    let bursts = BURSTS.max(walked.each_ns.len() as u64);
    for burst in 0..bursts {
        let start_ns = (burst + 1) * 100_000_000;
        let each = walked.entries / BURSTS;
        let each_ns = walked.each_ns.get(burst as usize).copied().unwrap_or(walked.usual_ns);
        // In the middle of such a burst another thread has the CPU for a while.
        let pause = if walked.each_ns.is_empty() { 0 } else { 3_000_000 };
        let at = |n: u64| start_ns + n * each_ns + if 2 * n > each { pause } else { 0 };
        for n in 0..each {
            let (addresses, contents, length) = (walked.entry)(n);
            let time_ns = at(n);
            tables.beginnings.push(Beginning {
                walk: 0,
                time_ns,
                thread: Some(0),
                cpu_ns: (n as f64 * each_ns as f64 * walked.on_cpu) as u64,
                addresses,
                contents,
                linked: walked.linked,
                length,
            });
        }
        let end_ns = at(each);
        tables.walk_bursts.push(WalkBurst { walk: 0, start_ns, end_ns, entries: each, rounds: None });
        let (entries, rounds) = (walked.counted.0, walked.counted.1 + burst * walked.further);
        let counted =
            WalkBurst { walk: 0, start_ns: end_ns, end_ns: end_ns + 1_000, entries, rounds: Some(rounds) };
        tables.walk_bursts.push(counted);
    }
    if walked.beside > 0.0 {
        let again: Vec<Beginning> =
            tables.beginnings.iter().map(|row| Beginning { walk: 1, ..row.clone() }).collect();
        let bursts: Vec<WalkBurst> =
            tables.walk_bursts.iter().map(|burst| WalkBurst { walk: 1, ..burst.clone() }).collect();
        tables.beginnings.extend(again);
        tables.walk_bursts.extend(bursts);
    }
    if walked.reads > 0 {
        tables.syscalls.push(Syscall {
            time_ns: 0,
            end_ns,
            thread: 0,
            number: 0,
            compat: false,
            count: walked.reads,
            duration_ns: 1,
            blocked_ns: 0,
            result: 0,
            bytes: walked.reads * 4096,
            argument: 4096,
            file: None,
            sync: false,
            stack: None,
        });
    }
    Recording::from_tables(PathBuf::from("synthetic"), about(end_ns), tables, Vec::new())
}

fn findings(walked: Walked) -> Vec<Finding> {
    let recording = recording(&walked);
    assert_eq!(recording.dangling, 0, "the synthetic recording is whole");
    diagnose(&recording).findings
}

fn only(walked: Walked) -> Finding {
    let mut findings = findings(walked);
    assert_eq!(findings.len(), 1, "{findings:#?}");
    findings.remove(0)
}

fn silent(walked: Walked) {
    let findings = findings(walked);
    assert!(findings.is_empty(), "{findings:#?}");
}

#[test]
fn searches_that_take_ever_longer_are_work_that_grows() {
    let cause = |each_ns| only(Walked { each_ns, ..Walked::default() }).cause.slug();
    let finding = only(Walked { each_ns: &[10_000, 14_000, 13_000, 19_000, 20_000], ..Walked::default() });
    assert_eq!((finding.cause.slug(), finding.confidence), ("superlinear-work", Confidence::Likely));
    assert_eq!(finding.place.frame.function, "find");
    assert!(
        finding.explanation.join(" ").contains("takes 10 µs at first and 20 µs at the end"),
        "{finding:#?}"
    );
    // All in order, but for neighbours, or the second half above the first.
    for each_ns in [
        &[10_000, 14_000, 17_000, 25_000][..],
        &[10_000, 19_000, 18_000, 25_000],
        &[10_000, 9_000, 26_000, 25_500],
    ] {
        assert_eq!(cause(each_ns), "superlinear-work", "{each_ns:?}");
    }
    // Less than twice, too few, out of order, and over and over again.
    assert_eq!(cause(&[10_000, 14_000, 13_000, 19_000, 19_900]), "repeated-scan");
    assert_eq!(cause(&[10_000, 19_000, 13_000, 18_000, 20_000, 17_000, 30_000]), "repeated-scan");
    assert_eq!(cause(&[10_000, 20_000, 30_000, 10_000, 20_000, 30_000]), "repeated-scan");
}

#[test]
fn a_search_that_begins_at_the_same_place_each_time_is_certain_and_reported_at_its_line() {
    let finding = only(Walked::default());
    assert_eq!((finding.cause.slug(), finding.confidence), ("repeated-scan", Confidence::Certain));
    assert_eq!((finding.place.frame.function.as_str(), finding.place.frame.line), ("find", Some(11)));
    let said = &finding.explanation[0];
    assert!(said.starts_with("60 of 60 searches"), "{said}");
    assert!(said.ends_with("each goes through about 200 items"), "{said}");
    // 200 items of 4 ns each, of which a look into an index takes 100 ns: seven eighths of 0.8 s.
    assert!((0.69e9..0.71e9).contains(&(finding.cost.gain() as f64)), "{:?}", finding.cost);
}

/// A function that only reads, is given a text and a position in it, and takes long.
fn counting() -> Walked {
    Walked {
        time: vec![(SEARCH, 0.9), (PARSE, 0.1)],
        in_loop: false,
        body: "reads",
        usual_ns: 21_000,
        entry: |n| (vec![LIST, n, 7 * n], vec![77, 0, 0], 0),
        ..Walked::default()
    }
}

#[test]
fn a_function_that_only_reads_the_same_data_for_long_each_time_is_likely() {
    let finding = only(counting());
    assert_eq!((finding.cause.slug(), finding.confidence), ("repeated-scan", Confidence::Likely));
    assert_eq!(finding.place.frame.function, "find");
    let said = &finding.explanation[0];
    assert!(said.starts_with("56 of 56 searches") && said.ends_with("each takes about 21 µs"), "{said}");
    // All of it could be kept.
    assert!((0.88e9..0.91e9).contains(&(finding.cost.gain() as f64)), "{:?}", finding.cost);
    only(Walked { body: "walks", ..counting() });
}

#[test]
fn what_is_short_stores_or_is_given_something_else_is_no_repeated_reading() {
    silent(Walked { usual_ns: 19_000, ..counting() });
    silent(Walked { body: "calculates", ..counting() });
    silent(Walked { body: "moves", ..counting() });
    // Another text, another content, or a text beside the same pattern.
    silent(Walked { entry: |n| (vec![LIST + 64 * n, 0], vec![77, 0], 0), ..counting() });
    silent(Walked { entry: |n| (vec![LIST, 0], vec![77 + n, 0], 0), ..counting() });
    silent(Walked { entry: |n| (vec![LIST, LIST + 4096 + n], vec![77, 5 + n], 0), ..counting() });
    // Most are given the same; one in eight is not.
    only(Walked { entries: 256, entry: |n| (vec![LIST + n / 62, n], vec![77, 0], 0), ..counting() });
    silent(Walked {
        entries: 256,
        entry: |n| (vec![LIST + if n % 8 == 0 { n } else { 0 }, n], vec![77, 0], 0),
        ..counting()
    });
    // The very same question each time: something that is not seen here must have changed.
    silent(Walked { entry: |_| (vec![LIST, 7], vec![77, 0], 0), ..counting() });
    // It waits, or something else takes the time between the calls.
    silent(Walked { on_cpu: 0.4, ..counting() });
    silent(Walked { time: vec![(SEARCH, 0.6), (PARSE, 0.4)], ..counting() });
    // Reads may fill the text again.
    silent(Walked { reads: 40_000, ..counting() });
}

#[test]
fn short_searches_are_none() {
    silent(Walked { counted: (10, 630), ..Walked::default() });
    only(Walked { counted: (10, 650), ..Walked::default() });
}

#[test]
fn searches_that_an_index_would_hardly_spare_are_none() {
    // Items that the loop compares itself take a nanosecond: an index that takes 100 ns saves an eighth of 114, a tenth of the run.
    let alone = |rounds| Walked {
        time: vec![(SEARCH, 0.8), (PARSE, 0.2)],
        counted: (10, rounds),
        ..Walked::default()
    };
    silent(alone(1_000));
    silent(alone(1_130));
    only(alone(1_160));
}

#[test]
fn walks_that_begin_elsewhere_each_time_are_none() {
    silent(Walked { entry: |n| (vec![LIST + n * 4096], vec![n + 1], 0), ..Walked::default() });
    // One in sixteen begins elsewhere, and one in seven.
    only(Walked { entry: |n| (vec![LIST + n / 15 * 4096], vec![77], 0), ..Walked::default() });
    silent(Walked { entry: |n| (vec![LIST + n % 7 / 6 * n * 4096], vec![77], 0), ..Walked::default() });
}

#[test]
fn a_buffer_that_is_refilled_is_none() {
    silent(Walked { entry: |n| (vec![LIST], vec![n + 1], 0), ..Walked::default() });
    silent(Walked { entry: |n| (vec![LIST], vec![n + 1], 0), strides: vec![1], ..Walked::default() });
    // Entries are 10 µs apart: 100,000 in the second. A read for every four may fill it with what begins alike.
    silent(Walked { reads: 30_000, ..Walked::default() });
    only(Walked { reads: 20_000, ..Walked::default() });
}

#[test]
fn what_cannot_be_read_is_not_known() {
    silent(Walked { entry: |_| (vec![LIST], vec![0], 0), ..Walked::default() });
    silent(Walked { entry: |_| (vec![0], vec![0], 0), ..Walked::default() });
}

#[test]
fn every_pointer_must_begin_where_it_did() {
    let pairs = |second: Entry| Walked { strides: vec![0, 0], entry: second, ..Walked::default() };
    silent(pairs(|n| (vec![LIST, LIST + (n + 1) * 4096], vec![77, n + 1], 0)));
    only(pairs(|_| (vec![LIST, LIST + 4096], vec![77, 78], 0)));
    // An index from nought is no pointer.
    only(pairs(|_| (vec![LIST, 0], vec![77, 0], 0)));
}

#[test]
fn a_list_to_which_items_are_added_in_front_is_the_same_list() {
    let in_front = |n: u64| (vec![LIST + n * 4096], vec![n + 1], 0);
    only(Walked { entry: in_front, linked: 1, ..Walked::default() });
    silent(Walked { entry: in_front, linked: 2, ..Walked::default() });
}

#[test]
fn walks_that_begin_a_little_further_on_go_through_the_same_memory() {
    // 200 rounds of 8 bytes each, one item further on each time: 16 walks of a burst go through 1.1 times what one does.
    let next = |n: u64| (vec![LIST + n * 8], vec![n + 1], 0);
    let finding = only(Walked { strides: vec![8], entry: next, ..Walked::default() });
    assert!(finding.explanation[0].contains("only a little further on"), "{:?}", finding.explanation);
    // Each where the one before ended.
    silent(Walked {
        strides: vec![8],
        entry: |n| (vec![LIST + n * 1_600], vec![n + 1], 0),
        ..Walked::default()
    });
    // By how much a round moves on is not known.
    silent(Walked { strides: vec![0], entry: next, ..Walked::default() });
}

#[test]
fn loops_that_do_more_than_look_are_none() {
    silent(Walked { work: "calculates", ..Walked::default() });
    silent(Walked { work: "moves", ..Walked::default() });
    // In a function of the program's own that is called there something else may be done.
    let own = |looking: f64| vec![(STRCMP, looking), (PARSE, 1.0 - looking)];
    only(Walked { time: own(0.5), ..Walked::default() });
}

#[test]
fn less_than_a_tenth_of_the_time_is_not_worth_it() {
    silent(Walked { time: vec![(STRCMP, 0.1), (PARSE, 0.9)], ..Walked::default() });
    only(Walked { time: vec![(STRCMP, 0.12), (PARSE, 0.88)], ..Walked::default() });
}

#[test]
fn too_few_entries_say_nothing() {
    silent(Walked { entries: 28, ..Walked::default() });
    only(Walked { entries: 36, ..Walked::default() });
}

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

/// `memmove` by the size of an item.
fn moves() -> Walked {
    Walked {
        time: vec![(MEMMOVE, 0.6), (PARSE, 0.4)],
        at: MEMMOVE,
        entry: |_| (vec![LIST, LIST + 8, 6_400], vec![77, 78, 0], 0),
        ..texts()
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
    // The third argument of others is no size.
    let strcpy = recording(&Walked { at: STRCMP, time: vec![(STRCMP, 0.6), (PARSE, 0.4)], ..moves() });
    assert!(diagnose(&strcpy).findings.is_empty());
    // A copy elsewhere.
    silent(Walked { entry: |_| (vec![LIST, LIST + 8_000, 6_400], vec![77, 78, 0], 0), ..moves() });
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

/// A loop that counts the lines before a position, further on in each burst, for most of the time.
fn lines() -> Walked {
    let time = vec![(SEARCH, 0.8), (PARSE, 0.2)];
    Walked { work: "counts", time, counted: (10, 20_000), further: 10_000, ..Walked::default() }
}

#[test]
fn lines_that_are_counted_from_the_start_again_and_again_are_reported() {
    let found = findings(lines());
    let [finding] = &found[..] else { panic!("one finding: {found:#?}") };
    assert_eq!((finding.cause.slug(), finding.confidence), ("repeated-scan", Confidence::Likely));
    assert_eq!(finding.place.frame.function, "find");
    assert!((780..=810).contains(&(finding.cost.gain() / 1_000_000)), "{:?}", finding.cost);
}

#[test]
fn counting_a_little_or_all_there_is_or_beside_other_work_is_left_alone() {
    // A thousand items on average.
    let length =
        |items: u64| Walked { counted: (10, 5 * items), further: 10 * items / (BURSTS - 1), ..lines() };
    assert_eq!(findings(length(1_010)).len(), 1);
    silent(length(990));
    // The last burst has one and a half times as many as the first.
    silent(Walked { further: 0, ..lines() });
    silent(Walked { further: 9_000 / (BURSTS - 1), ..lines() });
    assert_eq!(findings(Walked { further: 11_000 / (BURSTS - 1), ..lines() }).len(), 1);
    // Too many to be counted: then the time that they take shows it.
    let endless = |each_ns| Walked { counted: (0, 20_000), further: 0, each_ns, ..lines() };
    assert_eq!(findings(endless(&[40_000, 50_000, 61_000, 40_000])).len(), 1);
    silent(endless(&[40_000, 50_000, 58_000, 40_000]));
    // Seven tenths of the time.
    let share = |share: f64| Walked { time: vec![(SEARCH, share), (PARSE, 1.0 - share)], ..lines() };
    assert_eq!(findings(share(0.72)).len(), 1);
    silent(share(0.68));
    // Elsewhere each time, or in a buffer that is filled again.
    silent(Walked { entry: |n| (vec![LIST + 4096 * n], vec![77], 0), ..lines() });
    silent(Walked { reads: 1_000_000, ..lines() });
}

#[test]
fn loops_that_count_are_judged_together() {
    let share = |first, beside| Walked {
        time: vec![(SEARCH, first), (PARSE, 1.0 - first - beside)],
        beside,
        ..lines()
    };
    let finding = only(share(0.4, 0.35));
    assert!((730..=760).contains(&(finding.cost.gain() / 1_000_000)), "{:?}", finding.cost);
    silent(share(0.36, 0.32));
}

#[test]
fn loops_that_search_add_up_unless_one_is_in_the_other() {
    let with = |within| {
        let time = vec![(SEARCH, 0.4), (PARSE, 0.3)];
        only(Walked { time, beside: 0.3, within, ..Walked::default() }).cost.gain() / 1_000_000
    };
    let (apart, within) = (with(false), with(true));
    // Of 0.7 s a half, since an index takes a half of what 200 items do. The inner loop's time is in the outer one's.
    assert!((340..=360).contains(&apart) && (340..=360).contains(&within), "{apart} {within}");
}

/// Look-ups in a hash table that go through so many keys each.
fn colliding(keys: u64) -> Walked {
    let entry: Entry = |n| (vec![LIST + 64 * n], vec![n], 0);
    let name = "std::_Hashtable<int, int, Hash>::_M_find_before_node(unsigned long, int const&, unsigned long) const";
    let time = vec![(SEARCH, 0.8), (PARSE, 0.2)];
    Walked { time, work: "calculates", entry, counted: (10, 10 * keys), name, ..Walked::default() }
}

#[test]
fn keys_with_the_same_hash_are_reported_where_they_are_looked_up() {
    let finding = only(colliding(100));
    assert_eq!((finding.variant, finding.title.as_str()), ("collisions", "many keys have the same hash"));
    assert_eq!((finding.place.frame.function.as_str(), finding.confidence), ("main", Confidence::Certain));
    assert!((780..=795).contains(&(finding.cost.gain() / 1_000_000)), "{:?}", finding.cost);
}

#[test]
fn a_few_keys_with_the_same_hash_and_other_tables_are_left_alone() {
    assert_eq!(findings(colliding(32)).len(), 1);
    silent(colliding(31));
    silent(Walked { name: "find", ..colliding(100) });
    let share = |share: f64| Walked { time: vec![(SEARCH, share), (PARSE, 1.0 - share)], ..colliding(100) };
    assert_eq!(findings(share(0.11)).len(), 1);
    silent(share(0.09));
}

#[test]
fn two_loops_that_count_so_far_each_are_none_that_counts_now_further_and_now_less_far() {
    // Each has two bursts in which it was counted, and goes as far in both.
    let mut recording = recording(&Walked {
        time: vec![(SEARCH, 0.4), (PARSE, 0.25)],
        beside: 0.35,
        further: 0,
        counted: (10, 20_000),
        ..lines()
    });
    for burst in recording.tables.walk_bursts.iter_mut().filter(|burst| burst.walk == 1) {
        burst.rounds = burst.rounds.map(|rounds| 5 * rounds);
    }
    assert_eq!(diagnose(&recording).findings.len(), 0);
}

#[test]
fn the_usual_way_around_a_loop_is_likely() {
    let mut recording = recording(&Walked::default());
    assert_eq!(diagnose(&recording).findings[0].confidence, Confidence::Certain);
    recording.tables.loops[0].usual = Some(true);
    assert_eq!(diagnose(&recording).findings[0].confidence, Confidence::Likely);
}
