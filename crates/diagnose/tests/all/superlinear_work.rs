//! The cause `superlinear-work` on synthetic recordings, at the thresholds of growth.

use crate::rounds::*;
use crate::sampled::MS;
use slowpath_diagnose::diagnose;
use slowpath_diagnose::findings::Confidence;
use slowpath_recording::about::Counter;
use slowpath_recording::tables::Window;

#[test]
fn a_call_that_costs_more_each_time_beside_a_flat_parser_is_certain() {
    let finding = only(diagnosed(Model { leaf_calls: Some(|k| 2 * k as u64), ..Model::default() }));
    assert_eq!((finding.place.frame.function.as_str(), finding.confidence), ("grow", Confidence::Certain));
    assert_eq!(
        (finding.place.frame.file.as_deref(), finding.place.frame.line),
        (Some("program.c"), Some(12))
    );
    let said = finding.explanation.join("\n");
    assert_eq!(finding.calls.map(|calls| calls.count), Some(200));
    let related: Vec<&str> = finding.related.iter().map(|frame| frame.function.as_str()).collect();
    assert_eq!(related, ["leaf", "load"]);
    assert!(
        said.contains("the k-th call makes 2.0·k calls to leaf (R² 1.000), so the total cost grows as n²"),
        "{said}"
    );
    assert!(finding.share > 0.9 && finding.cost.gain() < finding.cost.amount(), "{finding:#?}");
    let path: Vec<&str> = finding.place.path.iter().map(|frame| frame.function.as_str()).collect();
    assert_eq!(path, ["main", "load", "grow"]);
}

#[test]
fn what_breakpoints_counted_is_at_most_likely() {
    let mut recording = recording(&Model { leaf_calls: Some(|k| 2 * k as u64), ..Model::default() });
    (recording.about.counter, recording.about.hit_ns) = (Some(Counter::Breakpoints), Some(7_000));
    let finding = only(diagnose(&recording));
    assert_eq!((finding.place.frame.function.as_str(), finding.confidence), ("grow", Confidence::Likely));
}

#[test]
fn a_rise_that_is_less_than_a_hit_of_a_breakpoint_takes_shows_nothing() {
    // By quarters of the calls from 5 to 35 ms.
    let by_breakpoints = |hit_ms: u64, leaf_calls| {
        let mut recording = recording(&Model { leaf_calls, ..Model::default() });
        (recording.about.counter, recording.about.hit_ns) =
            (Some(Counter::Breakpoints), Some(hit_ms * 1_000_000));
        diagnose(&recording)
    };
    assert_eq!(only(by_breakpoints(27, None)).confidence, Confidence::Likely);
    assert!(by_breakpoints(33, None).findings.is_empty());
    // Counts of a callee show it.
    only(by_breakpoints(33, Some(|k| 2 * k as u64)));
}

#[test]
fn without_counts_of_a_callee_no_square_is_claimed() {
    let finding = only(diagnosed(Model::default()));
    assert_eq!(finding.place.frame.function, "grow");
    assert!(!finding.explanation.join(" ").contains("n²"));
}

#[test]
fn a_cost_that_falls_to_the_end_is_found_as_well() {
    let finding = only(diagnosed(Model { grow_ns: |k, n| 0.2 * MS * (n + 1.0 - k), ..Model::default() }));
    assert_eq!(finding.title, "each call goes through everything that is left");
}

#[test]
fn by_time_alone_a_falling_cost_is_one_in_a_straight_line_that_was_measured_nearly_all_the_time() {
    let falling = |counted| Model { grow_ns: |k, n| 0.2 * MS * (n + 1.0 - k), counted, ..Model::default() };
    only(diagnosed(falling(0.85)));
    silent(falling(0.75));
    // The larger items came first.
    let square = |k: f64, n: f64| 2e-3 * MS * (n + 1.0 - k) * (n + 1.0 - k);
    silent(Model { grow_ns: square, ..Model::default() });
    // With rounds that were counted it is known.
    only(diagnosed(Model {
        grow_ns: square,
        loop_rounds: Some(|k| 0.1 * (201.0 - k) * (201.0 - k)),
        ..Model::default()
    }));
    // Breakpoints show parts of the run.
    let mut by_breakpoints = recording(&falling(1.0));
    by_breakpoints.about.counter = Some(Counter::Breakpoints);
    assert!(diagnose(&by_breakpoints).findings.is_empty());
}

#[test]
fn a_cost_that_falls_in_the_kernel_is_a_cold_start() {
    let falling = |leaf_share| Model {
        grow_ns: |k, n| 0.2 * MS * (n + 1.0 - k),
        leaf_in_kernel: true,
        leaf_share,
        ..Model::default()
    };
    silent(falling(0.6));
    only(diagnosed(falling(0.4)));
    // What rises is no cold start.
    only(diagnosed(Model { grow_ns: |k, _| 0.2 * MS * k, ..falling(0.8) }));
}

#[test]
fn forty_calls_are_too_few_and_sixty_are_enough() {
    silent(Model { rounds: 40, grow_ns: |k, _| MS * k, ..Model::default() });
    only(diagnosed(Model { rounds: 60, grow_ns: |k, _| MS * k, ..Model::default() }));
}

#[test]
fn a_rise_by_half_is_silent_and_one_to_five_times_is_not() {
    silent(Model { grow_ns: |k, n| 10.0 * MS * (1.0 + 0.5 * k / n), ..Model::default() });
    only(diagnosed(Model { grow_ns: |k, n| 10.0 * MS * (1.0 + 4.0 * k / n), ..Model::default() }));
}

#[test]
fn growth_of_a_small_part_of_the_run_is_not_worth_a_finding() {
    silent(Model { other_ns: 60_000.0 * MS, ..Model::default() });
}

#[test]
fn flat_calls_are_silent() {
    silent(Model { grow_ns: |_, _| 20.0 * MS, ..Model::default() });
}

#[test]
fn amortised_doubling_is_silent() {
    let doubling = |k: f64, _| if (k as u64).is_power_of_two() { 4.0 * MS * k } else { 5.0 * MS };
    silent(Model { rounds: 300, grow_ns: doubling, ..Model::default() });
}

#[test]
fn two_and_three_phases_of_different_cost_are_silent() {
    silent(Model { grow_ns: |k, n| if k < n / 2.0 { 5.0 * MS } else { 20.0 * MS }, ..Model::default() });
    silent(Model {
        grow_ns: |k, n| MS * [5.0, 12.0, 20.0][(3.0 * (k - 1.0) / n) as usize],
        ..Model::default()
    });
}

#[test]
fn warm_up_is_silent() {
    silent(Model { grow_ns: |k, _| if k < 8.0 { 200.0 * MS } else { 10.0 * MS }, ..Model::default() });
}

#[test]
fn growth_that_leaves_a_cache_goes_on_and_a_cache_that_overflows_is_none() {
    // A step takes seven times as long from 75 % of the calls on, and less again at the end, when other work leaves the cache.
    let out_of_cache = |k: f64, n: f64| 0.1 * MS * if k < 0.75 * n { k } else { 13.0 * n - 8.0 * k };
    assert_eq!(
        only(diagnosed(Model { grow_ns: out_of_cache, ..Model::default() })).place.frame.function,
        "grow"
    );
    // The same the other way round: as a list is emptied it comes to fit the cache.
    let into_cache = |k: f64, n: f64| {
        let left = n + 1.0 - k;
        0.1 * MS * if left < 0.75 * n { left } else { 13.0 * n - 8.0 * left }
    };
    let finding = only(diagnosed(Model { grow_ns: into_cache, ..Model::default() }));
    assert_eq!(finding.title, "each call goes through everything that is left");
    // The curve that is drawn goes through the points that it was fitted to.
    let series = &finding.series[0];
    let half = series.y.len() / 2;
    for (cost, fit) in series.y.iter().zip(&series.fit).skip(half) {
        assert!((cost - fit).abs() < 0.15 * series.y[half], "{cost} {fit}");
    }
    // A rise from hits to misses and no further, begun from the first call on or in the middle.
    silent(Model { grow_ns: |k, n| 3.0 * MS * (1.0 + 9.0 * (k / n / 0.4).min(1.0)), ..Model::default() });
    silent(Model {
        grow_ns: |k, n| 3.0 * MS * (1.0 + 9.0 * ((k / n - 0.3) / 0.3).clamp(0.0, 1.0)),
        ..Model::default()
    });
    // From one level to the next in the end.
    silent(Model {
        grow_ns: |k, n| MS * if k < 0.7 * n { 8.0 + 4.0 * k / n } else { 40.0 },
        ..Model::default()
    });
}

#[test]
fn logarithmic_growth_is_silent() {
    silent(Model { grow_ns: |k, _| 5.0 * MS * (1.0 + k).ln(), ..Model::default() });
}

#[test]
fn growth_that_starts_over_is_reported_with_the_function_it_starts_over_with() {
    let model = |rounds, every| Model { rounds, restarts_every: Some(every), ..Model::default() };
    let finding = only(diagnosed(model(600, 100)));
    assert_eq!((finding.place.frame.function.as_str(), finding.confidence), ("grow", Confidence::Certain));
    let said = finding.explanation.join("\n");
    assert!(said.contains("it starts over with each call of load; 6 of them were compared"), "{said}");
    assert!(said.contains("the other work in load does not grow"), "{said}");
    assert_eq!(finding.calls.map(|calls| calls.count), Some(600));
    // Half of the cost of the last call of each is what goes on average, but for the first ones.
    let share = finding.cost.gain() as f64 / finding.cost.amount() as f64;
    assert!((0.9..1.0).contains(&share), "{share}");
    // Of a document that is too short to be compared nothing is promised: 50 of 650 calls, 4 % of the time.
    let mixed = only(diagnosed(model(650, 100)));
    let of_mixed = mixed.cost.gain() as f64 / mixed.cost.amount() as f64;
    assert!((0.94..0.98).contains(&(of_mixed / share)), "{of_mixed} {share}");
    // With counts of a callee it grows as a square, from each start.
    let counted = Model { leaf_calls: Some(|k| 2 * k as u64), ..model(600, 100) };
    assert!(only(diagnosed(counted)).explanation.join(" ").contains("makes 2.0·k calls to leaf"));
    // It must start over three times, with fifty calls each.
    only(diagnosed(model(300, 100)));
    silent(model(200, 100));
    silent(model(45 * 8, 45));
    only(diagnosed(model(55 * 8, 55)));
    // What is cheap or dear from the first call on.
    silent(Model { grow_ns: |_, _| 10.0 * MS, ..model(600, 100) });
    silent(Model { grow_ns: |k, _| MS * if k < 40.0 { 5.0 } else { 20.0 }, ..model(600, 100) });
    // Each document's items get bigger.
    silent(Model { parse_ns: |k, _| 0.05 * MS * k, ..model(600, 100) });
    // The same of so many documents that what is done before the first call of each could be compared.
    silent(Model { parse_ns: |k, _| 0.05 * MS * k, ..model(4_000, 100) });
    // … and where a document is opened first, which takes as long as half of it.
    silent(Model { parse_ns: |k, _| if k == 1.0 { 200.0 * MS } else { 0.05 * MS * k }, ..model(600, 100) });
}

#[test]
fn a_call_that_goes_through_as_much_as_before_is_slowed_down_by_something_else() {
    let model = |loop_rounds, around| Model {
        leaf_share: 0.0,
        loop_rounds: Some(loop_rounds),
        around,
        ..Model::default()
    };
    let one: fn(f64) -> f64 = |_| 1.0;
    // The way down a tree gets a little longer; what is between the halves of the bursts costs 2.7 times as much.
    silent(model(|k| 10.0 + k / 50.0, Some(one)));
    silent(model(|k| 10.0 + k / 14.0, Some(one)));
    only(diagnosed(model(|k| 10.0 + k / 7.0, Some(one))));
    only(diagnosed(model(|k| k, Some(one))));
    // What is inside is as long as before, and gone through more often.
    only(diagnosed(model(|_| 10.0, Some(|k| k))));
    silent(model(|_| 10.0, Some(|_| 100.0)));
    // How often was not counted: what is read in order costs as much as before, what is read here and there may not.
    only(diagnosed(model(|_| 10.0, None)));
    silent(Model { chases: true, ..model(|_| 10.0, None) });
    // No tree has so long a path.
    only(diagnosed(Model { chases: true, ..model(|_| 129.0, None) }));
    silent(Model { chases: true, ..model(|_| 128.0, None) });
    // Counted is what is called, whatever the loop reads.
    only(diagnosed(Model { chases: true, leaf_calls: Some(|k| 2 * k as u64), ..model(|_| 10.0, None) }));
    // The calls of a callee are counted, and grow.
    only(diagnosed(Model { leaf_calls: Some(|k| 2 * k as u64), ..model(|_| 10.0, Some(one)) }));
}

#[test]
fn a_callee_whose_calls_cost_the_same_at_all_times_is_called_more_often_and_no_cache_that_overflows() {
    let model = |leaf_share, each: fn(f64) -> f64| Model {
        leaf_share,
        leaf_ns: Some(each),
        chases: true,
        ..Model { loop_rounds: Some(|_| 10.0), ..Model::default() }
    };
    let finding = only(diagnosed(model(0.9, |_| 50e3)));
    let said = finding.explanation.join(" ");
    assert!(said.contains("leaf takes 90 % of this time"), "{said}");
    assert!(said.contains("so it is called more often in each call"), "{said}");
    // The last quarter of the calls costs seven times what the first does, and the fourth root of that is 1.6.
    only(diagnosed(model(0.9, |k| 50e3 * (1.0 + 0.4 * k / 200.0))));
    silent(model(0.9, |k| 50e3 * (1.0 + 1.6 * k / 200.0)));
    // Its own calls get dearer, as those of a function that looks something up in ever more memory.
    silent(model(0.9, |k| 1e3 * k));
    // A fifth of the cost may double the rest.
    silent(model(0.7, |_| 50e3));
    // Two calls in each at the end are none.
    silent(model(0.9, |_| 12e6));
}

#[test]
fn counts_show_growth_where_the_machine_was_slow_at_times() {
    // Half as fast in two stretches.
    let noisy = |k: f64, n: f64| {
        let slow = (0.2..0.3).contains(&(k / n)) || (0.45..0.55).contains(&(k / n));
        0.2 * MS * k * if slow { 2.2 } else { 1.0 }
    };
    let model = |leaf_calls, leaf_share| Model { grow_ns: noisy, leaf_calls, leaf_share, ..Model::default() };
    let calls: Option<fn(f64) -> u64> = Some(|k| 2 * k as u64);
    assert_eq!(only(diagnosed(model(calls, 0.8))).place.frame.function, "grow");
    // It gets so slow that the cost seems to grow with the third power.
    let ever_slower = |k: f64, n: f64| 0.2 * MS * k * (k / n).powi(2);
    only(diagnosed(Model { grow_ns: ever_slower, ..model(calls, 0.8) }));
    silent(Model { grow_ns: ever_slower, ..model(None, 0.8) });
    // What is counted must be most of the work, and must grow.
    silent(model(calls, 0.5));
    silent(model(Some(|_| 10), 0.8));
    silent(model(None, 0.8));
}

#[test]
fn what_was_counted_for_a_small_part_of_the_run_says_nothing_of_the_rest() {
    silent(Model { counted: 0.3, ..Model::default() });
    only(diagnosed(Model { counted: 0.8, ..Model::default() }));
}

/// `grow` was counted only in windows of eight calls, at such moments, ms, each of which took so long, ms.
fn in_windows(grow_ns: fn(f64, f64) -> f64, seen: &[(f64, f64)]) -> usize {
    let model = Model { rounds: 1_600, grow_ns, parse_ns: |_, _| 0.0, ..Model::default() };
    let mut recording = recording(&model);
    recording.tables.calls.clear();
    let window = |(at, cost): &(f64, f64)| {
        let (start_ns, hits) = ((at * MS) as u64, 8);
        let end_ns = start_ns + (8.0 * cost * MS) as u64;
        Window { probe: 0, start_ns, end_ns, hits, reason: "planned".into() }
    };
    recording.tables.windows = seen.iter().map(window).collect();
    diagnose(&recording).findings.len()
}

#[test]
fn growth_that_only_one_window_shows_is_none() {
    // One call in many does all the work, and the last window has one of those.
    let same = |_: f64, _: f64| 0.5 * MS;
    let usual = [(5.0, 0.5), (77.0, 0.55), (108.0, 0.42)];
    assert_eq!(in_windows(same, &usual), 0);
    assert_eq!(in_windows(same, &[&usual[..], &[(660.0, 2.8)]].concat()), 0);
    // The k-th call takes 2·k µs: after t ms one takes sqrt(0.004·t) ms.
    let ever_more = |at: &f64| (*at, (0.004 * at).sqrt());
    let seen: Vec<_> = [50.0, 300.0, 550.0, 800.0, 1050.0, 1300.0, 1550.0, 1800.0, 2050.0, 2300.0]
        .iter()
        .map(ever_more)
        .collect();
    let rising = |k: f64, _: f64| 0.002 * MS * k;
    assert_eq!(in_windows(rising, &seen), 1);
    assert_eq!(in_windows(rising, &[seen[0], seen[3], seen[5], seen[7], seen[9]]), 1);
}

#[test]
fn growth_in_few_windows_must_not_be_in_order_by_chance() {
    // The k-th call takes 2·k µs, and each window is off by some part of it.
    let rising = |k: f64, _: f64| 0.002 * MS * k;
    let seen = |off: &[f64]| -> Vec<(f64, f64)> {
        let at = |one: usize| 200.0 + 2000.0 / off.len() as f64 * one as f64;
        off.iter().enumerate().map(|(one, off)| (at(one), off * (0.004 * at(one)).sqrt())).collect()
    };
    assert_eq!(in_windows(rising, &seen(&[1.0, 1.0, 1.0, 1.0, 1.0, 1.0])), 1);
    // One pair in disorder: 6 of 720 orders are as good.
    assert_eq!(in_windows(rising, &seen(&[1.0, 1.0, 1.12, 0.95, 1.0, 1.0])), 1);
    // Two pairs: 20 of 720.
    assert_eq!(in_windows(rising, &seen(&[1.0, 1.0, 1.12, 0.95, 1.12, 1.0])), 0);
}

#[test]
fn the_fingerprint_stays_the_same_when_the_numbers_change() {
    let one = only(diagnosed(Model::default()));
    let two = only(diagnosed(Model { rounds: 300, ..Model::default() }));
    assert_eq!(one.fingerprint, two.fingerprint);
}
