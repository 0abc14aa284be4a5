//! The cause `repeated-scan` where a loop counts what it meets, or goes through keys with the same hash, on synthetic recordings, at the thresholds.

use crate::walked::*;
use slowpath_diagnose::diagnose;
use slowpath_diagnose::findings::Confidence;
use slowpath_recording::tables::{Frame, Function};

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
fn sums_of_what_comes_before_are_reported_from_256_rounds_on() {
    let sums = |rounds: u64| Walked {
        work: "folds",
        counted: (10, 5 * rounds),
        further: 10 * rounds / (BURSTS - 1),
        ..lines()
    };
    let finding = only(sums(260));
    assert_eq!((finding.cause.slug(), finding.confidence), ("repeated-scan", Confidence::Likely));
    assert!(finding.advice.starts_with("Go on from where the last one ended"), "{}", finding.advice);
    silent(sums(250));
    // The same sum each time may be what a program is for.
    silent(Walked { further: 0, ..sums(20_000) });
}

#[test]
fn the_loops_in_a_loop_that_folds_are_part_of_its_work() {
    let nested = |work| Walked {
        time: vec![(SEARCH, 0.4), (PARSE, 0.2)],
        beside: 0.4,
        within: true,
        work,
        counted: (10, 5 * 260),
        further: 10 * 260 / (BURSTS - 1),
        ..lines()
    };
    let finding = only(nested("folds"));
    assert!((780..=810).contains(&(finding.cost.gain() / 1_000_000)), "{:?}", finding.cost);
    silent(nested("calculates"));
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
    assert_eq!(findings(colliding(24)).len(), 1);
    silent(colliding(23));
    // GLib's and LLVM's tables have no chains: a look-up in vain goes through more of a full one.
    let open = |keys| Walked { name: "g_hash_table_lookup", ..colliding(keys) };
    assert_eq!(findings(open(32)).len(), 1);
    silent(open(31));
    silent(Walked { name: "find", ..colliding(100) });
    // A look-up that was inlined is known by its code.
    let inlined = |keys| Walked { name: "find", work: "buckets", ..colliding(keys) };
    assert_eq!(only(inlined(8)).place.frame.function, "find");
    silent(inlined(7));
    let share = |share: f64| Walked { time: vec![(SEARCH, share), (PARSE, 1.0 - share)], ..colliding(100) };
    assert_eq!(findings(share(0.11)).len(), 1);
    silent(share(0.09));
}

#[test]
fn look_ups_that_go_through_four_groups_of_places_are_reported() {
    let grouped = |groups| Walked { name: "find", work: "groups", ..colliding(groups) };
    let finding = only(grouped(4));
    assert_eq!(
        (finding.title.as_str(), finding.confidence),
        ("many keys have the same hash", Confidence::Certain)
    );
    assert!(
        finding.explanation[0].contains("about 4 groups of places; with a good hash it is 1.1"),
        "{:?}",
        finding.explanation
    );
    // 1.14 of 4 groups are left.
    assert!((560..=590).contains(&(finding.cost.gain() / 1_000_000)), "{:?}", finding.cost);
    silent(grouped(3));
}

#[test]
fn look_ups_that_go_over_sixty_four_places_are_reported() {
    let probing = |places| Walked { name: "find", work: "places", ..colliding(places) };
    let finding = only(probing(64));
    assert_eq!(
        (finding.title.as_str(), finding.variant, finding.confidence),
        ("a hash table in which keys pile up", "collisions", Confidence::Likely)
    );
    assert!(finding.explanation[0].contains("go over about 64 places each"), "{:?}", finding.explanation);
    assert!(finding.advice.contains("before it is nearly full"), "{}", finding.advice);
    silent(probing(63));
}

#[test]
fn long_chains_of_a_hash_table_are_reported() {
    let chain = |items| Walked { name: "find", work: "chains", ..colliding(items) };
    let finding = only(chain(8));
    assert_eq!(
        (finding.title.as_str(), finding.variant, finding.confidence),
        ("a hash table with long chains", "collisions", Confidence::Likely)
    );
    assert!(finding.explanation[0].contains("a chain of about 8 items"), "{:?}", finding.explanation);
    assert!(finding.advice.contains("let the table grow"), "{}", finding.advice);
    silent(chain(7));
}

#[test]
fn a_look_up_that_was_inlined_is_one_wherever_its_loops_are() {
    let walked = Walked { name: "find", work: "chains", beside: 0.4, ..colliding(20) };
    let walked = Walked { time: vec![(SEARCH, 0.4), (PARSE, 0.2)], ..walked };
    // Of one loop two lengths are known, of the other one or none.
    let costs = |of_other: u64, inlined: bool| -> Vec<u64> {
        let mut recording = recording(&walked);
        let tables = &mut recording.tables;
        let mut left = [2, of_other];
        tables.walk_bursts.retain(|burst| {
            let known = &mut left[burst.walk as usize];
            let keeps = burst.rounds.is_none() || *known > 0;
            *known -= u64::from(burst.rounds.is_some() && *known > 0);
            keeps
        });
        if inlined {
            let function = tables.functions.len() as u32;
            let name = "look_up".to_owned();
            tables.functions.push(Function { function, name, ..tables.functions[SEARCH as usize].clone() });
            for location in [SEARCH, 12] {
                let mut frames = tables.frames.iter_mut();
                let host = frames.find(|frame| frame.location == location).expect("a frame");
                let inner = Frame { function, ..host.clone() };
                host.depth = 1;
                tables.frames.push(inner);
            }
            tables.frames.sort_by_key(|frame| (frame.location, frame.depth));
        }
        let findings = diagnose(&recording).findings;
        findings.iter().map(|finding| finding.cost.amount() / 100_000_000).collect()
    };
    assert_eq!(costs(1, true), [8]);
    assert!(costs(0, true).is_empty());
    // Two loops of one function may be of two tables.
    assert!(costs(1, false).is_empty());
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
