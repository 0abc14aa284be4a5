//! The cause `repeated-scan` on synthetic recordings, at the thresholds.

use crate::traced::{MS, Mode, Traced};
use crate::walked::*;
use slowpath_diagnose::diagnose;
use slowpath_diagnose::findings::{Confidence, Finding};
use slowpath_recording::about::{Counter, Tracer};
use slowpath_recording::tables::Beginning;
use slowpath_recording::{LED_TO, Recording};

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
    // Two calls may ask the same, as long as others ask something else.
    only(Walked { entry: |n| (vec![LIST, n / 2], vec![77, 0], 0), ..counting() });
    only(Walked { entry: |n| (vec![LIST, n / 4], vec![77, 0], 0), ..counting() });
    silent(Walked { entry: |n| (vec![LIST, n / 6], vec![77, 0], 0), ..counting() });
    // The very same question each time: something that is not seen here must have changed.
    silent(Walked { entry: |_| (vec![LIST, 7], vec![77, 0], 0), ..counting() });
    // It waits, or something else takes the time between the calls.
    silent(Walked { on_cpu: 0.4, ..counting() });
    // The account of the CPU time stood still, by chance; the thread had a CPU all along, or not.
    let at_ticks = |on_cpu| {
        let mut recording = recording(&Walked { on_cpu, ..counting() });
        recording.tables.beginnings.iter_mut().for_each(|row| row.cpu_ns = 0);
        diagnose(&recording).findings.len()
    };
    assert_eq!((at_ticks(0.85), at_ticks(0.75)), (1, 0));
    // Where all system calls were traced, and it was blocked in none, it waited for a CPU; unless too much of the time is missing.
    let traced = |on_cpu, blocked_ns| {
        let mut recording = recording(&Walked { on_cpu, ..counting() });
        recording.tables.beginnings.iter_mut().for_each(|row| row.cpu_ns = 0);
        recording.about.tracer = Some(Tracer::Bpf);
        let mut sleeping = Traced::new(Mode::Each);
        let call = sleeping.call(35, None, 0, 2_000 * MS);
        (call.time_ns, call.blocked_ns) = (0, blocked_ns);
        recording.tables.syscalls = sleeping.tables.syscalls;
        diagnose(&recording).findings.len()
    };
    assert_eq!([traced(0.5, 0), traced(0.3, 0), traced(0.5, 1_000 * MS)], [1, 0, 0]);
    silent(Walked { time: vec![(SEARCH, 0.6), (PARSE, 0.4)], ..counting() });
    // Reads may fill the text again.
    silent(Walked { reads: 40_000, ..counting() });
}

#[test]
fn short_calls_of_such_a_function_besides_hold_nothing_up() {
    // Each second call is a short one with another text, of so many ns; a long one takes 100 µs.
    let besides = |short_ns: u64, entry: Entry| {
        let mut recording = recording(&Walked { entries: 256, entry, ..counting() });
        timed(&mut recording, |row| if row.addresses[0] < LIST + 4096 { 100_000 } else { short_ns }, 1.0);
        diagnose(&recording).findings
    };
    let found = besides(12_000, |n| (vec![LIST + n % 2 * 4096 * n, n], vec![77, 0], 0));
    let said = &found[0].explanation[0];
    // 89 % of the time, of which a tenth may have passed elsewhere.
    assert!(said.contains(", with 88 % of the time or more, went through the same data"), "{said}");
    assert_eq!(besides(40_000, |n| (vec![LIST + n % 2 * 4096 * n, n], vec![77, 0], 0)), []);
    // One of five long ones is another.
    assert_eq!(
        besides(12_000, |n| {
            let elsewhere = if n % 2 == 1 { 4096 * n } else { u64::from(n % 10 == 0) * (64 + n) };
            (vec![LIST + elsewhere, n], vec![77, 0], 0)
        }),
        []
    );
}

/// The same, recorded with breakpoints at which the program is stopped; a hit takes so long.
fn stopped(walked: Walked, hit_ns: u64) -> Vec<Finding> {
    let mut recording = recording(&walked);
    (recording.about.counter, recording.about.hit_ns) = (Some(Counter::Breakpoints), Some(hit_ns));
    diagnose(&recording).findings
}

#[test]
fn where_entries_stop_the_program_what_lies_between_must_be_more_than_hits_may_take() {
    // A call of 20 us or more, and five hits of 1 us.
    assert!(stopped(Walked { usual_ns: 24_900, ..counting() }, 1_000).is_empty());
    let found = stopped(Walked { usual_ns: 25_100, ..counting() }, 1_000);
    assert_eq!((found[0].cause.slug(), found[0].confidence), ("repeated-scan", Confidence::Likely));
    // Searches that take ever longer: with hits of 4 us it is not known that they do.
    let longer = || Walked { each_ns: &[10_000, 14_000, 13_000, 19_000, 30_000], ..Walked::default() };
    let cause = |hit_ns| stopped(longer(), hit_ns)[0].cause.slug();
    assert_eq!((cause(1_000), cause(4_000)), ("superlinear-work", "repeated-scan"));
    // Stops are no CPU time.
    assert!(stopped(Walked { usual_ns: 60_000, on_cpu: 0.4, ..counting() }, 1_000).is_empty());
}

#[test]
fn short_searches_are_none() {
    silent(Walked { counted: (10, 630), ..Walked::default() });
    only(Walked { counted: (10, 650), ..Walked::default() });
}

#[test]
fn one_moment_of_long_searches_says_nothing_where_others_were_short() {
    let of_long = |long: usize| {
        let walked = Walked { counted: (10, 30), each_ns: &[10_000; 4], ..Walked::default() };
        let mut recording = recording(&walked);
        let counted = recording.tables.walk_bursts.iter_mut().filter(|burst| burst.rounds.is_some());
        counted.take(long).for_each(|burst| (burst.entries, burst.rounds) = (0, Some(3_000)));
        diagnose(&recording).findings
    };
    assert!(of_long(1).is_empty());
    assert_eq!(of_long(2).len(), 1);
}

#[test]
fn a_round_of_an_unrolled_search_looks_at_several_items() {
    let unrolled = |rounds| Walked { counted: (10, rounds), items: Some(8), ..Walked::default() };
    silent(unrolled(70));
    let finding = only(unrolled(4_000));
    assert!(
        finding.explanation[0].contains("each goes through about 3,200 items"),
        "{:?}",
        finding.explanation
    );
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

/// Gives each entry so many ns until the next one.
fn timed(recording: &mut Recording, ns: impl Fn(&Beginning) -> u64, on_cpu: f64) {
    let tables = &mut recording.tables;
    for burst in tables.walk_bursts.iter_mut().filter(|burst| burst.rounds.is_none()) {
        let is_of_burst = |row: &&mut Beginning| (burst.start_ns..=burst.end_ns).contains(&row.time_ns);
        let mut passed = 0;
        for row in tables.beginnings.iter_mut().filter(is_of_burst) {
            (row.time_ns, row.cpu_ns) = (burst.start_ns + passed, (passed as f64 * on_cpu) as u64);
            passed += ns(row);
        }
        burst.end_ns = burst.start_ns + passed;
    }
}

/// One of four searches goes through the same list, for 100 µs; the others through short ones, each another, for so many ns. So much of the time is spent
/// in the loop.
fn among_short_ones(short_ns: u64, in_loop: f64, on_cpu: f64) -> Recording {
    let mut recording = recording(&Walked {
        entries: 256,
        entry: |n| (vec![if n % 4 == 3 { LIST } else { LIST + 4096 * (n + 1) }], vec![77], 0),
        time: vec![(SEARCH, in_loop), (PARSE, 1.0 - in_loop)],
        on_cpu,
        ..Walked::default()
    });
    timed(&mut recording, |row| if row.addresses[0] == LIST { 100_000 } else { short_ns }, on_cpu);
    recording
}

#[test]
fn where_most_searches_are_short_ones_of_other_lists_their_time_tells() {
    let found = diagnose(&among_short_ones(1_000, 0.8, 1.0)).findings;
    let finding = &found[0];
    // 1.4 of 1.548 ms pass between searches that another one had made and their next ones. If all that is done besides, a fifth, were among that, it is 88 %.
    assert!(
        finding.explanation[0]
            .starts_with("60 of 252 searches that were looked at, with 88 % of the time or more,"),
        "{finding:#?}"
    );
    let expected = 0.8e9 * 0.880 * (1.0 - 100.0 / 200.0);
    assert!((0.98..1.02).contains(&(finding.cost.gain() as f64 / expected)), "{:?}", finding.cost);
    assert_eq!(finding.confidence, Confidence::Certain);
    let silent = |recording: &Recording| assert_eq!(diagnose(recording).findings, []);
    assert_eq!(diagnose(&among_short_ones(4_500, 0.8, 1.0)).findings.len(), 1);
    silent(&among_short_ones(5_500, 0.8, 1.0));
    // Less of the time in the loop: more may have passed besides.
    silent(&among_short_ones(4_500, 0.5, 1.0));
    // It waits after the searches.
    silent(&among_short_ones(1_000, 0.8, 0.4));
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
fn a_number_of_what_is_left_is_no_pointer() {
    let with = |entry: Entry| Walked { strides: vec![0, 0], entry, ..Walked::default() };
    only(with(|n| (vec![LIST, 900_000 - 8 * n], vec![77, 0], 0)));
    only(with(|n| (vec![LIST, (1 << 32) - 1 - n], vec![77, 0], 0)));
    silent(with(|n| (vec![LIST, (1 << 32) + n], vec![77, 0], 0)));
    silent(with(|n| (vec![LIST, 900_000 - 8 * n], vec![77, n + 1], 0)));
    silent(with(|n| (vec![900_000 - 8 * n], vec![0], 0)));
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
fn a_list_whose_first_item_is_taken_off_is_the_same_list() {
    let next = |n: u64| (vec![LIST + n * 4096], vec![n + 1], 0);
    let led_to = |linked, chases| Walked { entry: next, linked, chases, ..Walked::default() };
    let finding = only(led_to(1 << LED_TO, Some(true)));
    assert_eq!(finding.confidence, Confidence::Likely);
    assert!(finding.advice.contains("heap"), "{}", finding.advice);
    // It may be several lists that are searched by turns.
    assert!(!only(led_to(1 << (LED_TO + 1), Some(true))).advice.contains("heap"));
    // What an array of pointers points to first is no next item of it.
    silent(led_to(1 << LED_TO, Some(false)));
    silent(led_to(1 << LED_TO, None));
    silent(Walked { strides: vec![4], ..led_to(1 << LED_TO, Some(true)) });
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

#[test]
fn the_usual_way_around_a_loop_is_likely() {
    let mut recording = recording(&Walked::default());
    assert_eq!(diagnose(&recording).findings[0].confidence, Confidence::Certain);
    recording.tables.loops[0].usual = Some(true);
    assert_eq!(diagnose(&recording).findings[0].confidence, Confidence::Likely);
}

/// 16 lists, each of which is searched once in each of four bursts.
fn lists() -> Walked {
    Walked { chases: Some(true), entry: |n| (vec![LIST + 0x1000 * n], vec![77 + n], 0), ..Walked::default() }
}

#[test]
fn long_lists_that_are_searched_in_turn_are_likely() {
    let finding = only(lists());
    assert_eq!((finding.cause.slug(), finding.confidence), ("repeated-scan", Confidence::Likely));
    let said = &finding.explanation[0];
    assert!(said.starts_with("searches begin at about 16 different items"), "{said}");
    assert!(said.ends_with("each goes through about 200 items"), "{said}");
    assert!(finding.advice.contains("hash table"), "{}", finding.advice);
}

#[test]
fn lists_are_long_and_searched_64_times_each() {
    only(lists());
    silent(Walked { counted: (10, 635), ..lists() }); // 63.5 items
    only(Walked { counted: (10, 645), ..lists() });
    // 16 lists, 1,000 ms: with 900 µs a search 65 times each.
    only(Walked { usual_ns: 900_000, ..lists() });
    silent(Walked { usual_ns: 930_000, ..lists() });
    silent(Walked { reads: 1_000_000, ..lists() }); // buffers
    let share = |share: f64| Walked { time: vec![(SEARCH, share), (PARSE, 1.0 - share)], ..lists() };
    only(share(0.72));
    silent(share(0.68));
    silent(Walked { chases: Some(false), ..lists() }); // no list
    silent(Walked { work: "calculates", ..lists() });
    silent(Walked { strides: vec![8], ..lists() }); // parts of an array
}

#[test]
fn how_many_lists_there_are_is_known_from_16_pairs() {
    let with = |pairs: u64| {
        let mut recording = recording(&lists());
        for (at, row) in (0..).zip(recording.tables.beginnings.iter_mut()) {
            // Those of the second burst are the same as those of the first.
            let list = if (16..16 + pairs).contains(&at) { at - 16 } else { at };
            (row.addresses, row.contents) = (vec![LIST + 0x1000 * list], vec![77]);
        }
        diagnose(&recording).findings.len()
    };
    assert_eq!((with(16), with(15)), (1, 0));
    // Twice in a row, and never again.
    let mut recording = recording(&lists());
    for (at, row) in (0..).zip(recording.tables.beginnings.iter_mut()) {
        (row.addresses, row.contents) = (vec![LIST + 0x1000 * (at / 2)], vec![77]);
    }
    assert_eq!(diagnose(&recording).findings.len(), 0);
}

/// Look-ups in a table with open addressing, in which a run of items has grown together.
fn probing() -> Walked {
    Walked {
        chases: Some(false),
        entry: |n| (vec![LIST + 32 * (7 * n % 16)], vec![77 + n], 0),
        ..Walked::default()
    }
}

#[test]
fn a_run_of_items_that_is_gone_through_from_many_places_is_likely() {
    let finding = only(probing());
    assert_eq!((finding.cause.slug(), finding.confidence), ("repeated-scan", Confidence::Likely));
    assert!(
        finding.explanation[0].contains("each begins only a little further on"),
        "{:?}",
        finding.explanation
    );
    assert!(finding.advice.contains("hash that spreads the keys"), "{}", finding.advice);
    // How far a step goes is not known where it may lead anywhere, nor of items of four bytes.
    silent(Walked { chases: None, ..probing() });
    silent(Walked { entry: |n| (vec![LIST + 4 * (7 * n % 16)], vec![77 + n], 0), ..probing() });
    // 200 items of 32 bytes each: a quarter of the walks goes through each byte, or less.
    only(Walked {
        entry: |n| (vec![LIST + 32 * (39 * (n ^ 1) + u64::from((n ^ 1) % 3 == 1))], vec![77 + n], 0),
        ..probing()
    });
    silent(Walked {
        entry: |n| (vec![LIST + 32 * (41 * (n ^ 1) + u64::from((n ^ 1) % 3 == 1))], vec![77 + n], 0),
        ..probing()
    });
    // Arrays that were allocated one after the other, and lines that are gone through in order.
    silent(Walked { entry: |n| (vec![LIST + 264 * (7 * n % 16)], vec![77 + n], 0), ..probing() });
    silent(Walked { entry: |n| (vec![LIST + 128 * n], vec![77 + n], 0), ..probing() });
}
