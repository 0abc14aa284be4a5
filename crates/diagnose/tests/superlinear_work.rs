//! The cause `superlinear-work` on synthetic recordings, at its thresholds.
//!
//! The recordings are of a program `main → load → { parse, grow → leaf }`: each round of `load` parses an item, then calls
//! `grow`, which calls `leaf`. A model says what each costs in round k; samples fall every millisecond of it.

mod common;
#[path = "common/sampled.rs"]
mod sampled;

use common::about;
use sampled::{MS, Run};
use slowpath_diagnose::diagnose;
use slowpath_diagnose::findings::{Confidence, Finding, Findings};
use slowpath_recording::about::Counter;
use slowpath_recording::tables::*;
use slowpath_recording::{Recording, Tables};
use std::path::PathBuf;

const MAIN: u32 = 0;
const LOAD: u32 = 1;
const GROW: u32 = 2;
const LEAF: u32 = 3;
const PARSE: u32 = 4;
const OTHER: u32 = 5;
const NAMES: [&str; 6] = ["main", "load", "grow", "leaf", "parse", "other"];

/// What round k (from 1) of n does, times in ns.
struct Model {
    rounds: u32,
    grow_ns: fn(f64, f64) -> f64,
    parse_ns: fn(f64, f64) -> f64,
    /// Calls of `leaf` in it, where they are counted.
    leaf_calls: Option<fn(f64) -> u64>,
    /// Time of something else after all rounds, and of it in each of them.
    other_ns: f64,
    each_ns: fn(f64) -> f64,
    /// Time of `load` itself after `grow` in each round.
    after_ns: fn(f64) -> f64,
    /// Time of `parse` after all rounds.
    end_ns: f64,
    /// `load` is counted too.
    count_load: bool,
    /// `leaf` is the kernel's, and has this share of the cost of `grow`.
    leaf_in_kernel: bool,
    leaf_share: f64,
    /// That share is of so many functions like `leaf`, in equal parts.
    kinds: u32,
    /// Share of the run in which `grow` is counted, from its start on.
    counted: f64,
    /// Rounds of the loop in `grow` that were counted in its k-th call, and of a loop around it.
    loop_rounds: Option<fn(f64) -> f64>,
    around: Option<fn(f64) -> f64>,
    /// The loops read at addresses that they read.
    chases: bool,
    /// `load` is counted, and entered again after so many rounds: k is counted from there.
    anew: Option<u32>,
}

impl Default for Model {
    fn default() -> Model {
        Model {
            rounds: 200,
            grow_ns: |k, _| 0.2 * MS * k,
            parse_ns: |_, _| 1.0 * MS,
            leaf_calls: None,
            other_ns: 0.0,
            each_ns: |_| 0.0,
            after_ns: |_| 0.0,
            end_ns: 0.0,
            count_load: false,
            leaf_in_kernel: false,
            leaf_share: 0.8,
            kinds: 1,
            counted: 1.0,
            loop_rounds: None,
            around: None,
            chases: false,
            anew: None,
        }
    }
}

/// Bursts in which the rounds of a loop of `grow` were counted, in so many of its calls.
const BURSTS: u32 = 6;
/// Entries of the loop in each.
const ENTRIES: u64 = 30;

/// A loop of `grow`, the first around the second; none is left out.
fn loops_of_grow(tables: &mut Tables, model: &Model) {
    for (number, rounds) in [(0, model.around), (1, model.loop_rounds)] {
        let (loop_number, strides) = (Some(number), Vec::new());
        tables.walks.push(Walk { walk: number, process: 0, location: GROW, loop_number, strides });
        let Some(rounds) = rounds else { continue };
        let entries: Vec<u64> =
            tables.calls.iter().filter(|row| row.probe == 0).map(|row| row.time_ns).collect();
        for burst in 1..=BURSTS {
            let k = (model.rounds * burst / BURSTS - 1).max(1);
            let end_ns = entries[k as usize];
            tables.walk_bursts.push(WalkBurst {
                walk: number,
                start_ns: end_ns - 1,
                end_ns,
                entries: ENTRIES,
                rounds: Some((rounds(f64::from(k)) * ENTRIES as f64) as u64),
            });
        }
    }
    for (number, parent) in [(0, None), (1, Some(0))] {
        let (ranges, work) = (vec![0, 0x10], "walks".to_owned());
        let chases = Some(model.chases);
        tables.loops.push(Loop {
            loop_number: number,
            location: GROW,
            parent,
            ranges,
            work,
            chases,
            usual: None,
        });
    }
}

fn recording(model: &Model) -> Recording {
    let mut tables = Tables::default();
    tables.modules.push(Module {
        module: 0,
        path: "/bin/program".into(),
        build_id: None,
        device: 0,
        inode: 1,
        size: 1,
        mtime_ns: 0,
    });
    let further: Vec<String> = (1..model.kinds).map(|kind| format!("kind{kind}")).collect();
    for (number, name) in (0..).zip(NAMES.into_iter().chain(further.iter().map(String::as_str))) {
        let address = u64::from(number) * 0x100;
        let kind = if number == LEAF && model.leaf_in_kernel { "kernel" } else { "native" };
        tables.locations.push(Location { location: number, module: Some(0), address, kind: kind.into() });
        let file = Some("program.c".to_owned());
        let line = Some(number + 10);
        tables.functions.push(Function {
            function: number,
            name: name.into(),
            module: Some(0),
            file,
            line,
            address,
        });
        let (file, kind) = (Some("program.c".to_owned()), "native".to_owned());
        tables.frames.push(Frame { location: number, depth: 0, function: number, file, line, kind });
    }
    // Stack n ends in function n.
    for (stack, parent) in [
        (MAIN, None),
        (LOAD, Some(MAIN)),
        (GROW, Some(LOAD)),
        (LEAF, Some(GROW)),
        (PARSE, Some(LOAD)),
        (OTHER, Some(MAIN)),
    ] {
        tables.stacks.push(Stack { stack, parent, location: stack });
    }
    for stack in OTHER + 1..OTHER + model.kinds {
        tables.stacks.push(Stack { stack, parent: Some(GROW), location: stack });
    }
    for (probe, location) in [(0, GROW), (1, LEAF), (2, LOAD)] {
        tables.probes.push(Probe { probe, process: 0, location, kind: "function".into(), offset: 0 });
    }
    let mut run = Run::new(tables);
    let n = f64::from(model.rounds);
    let mut leaves = 0;
    for round in 1..=model.rounds {
        let every = model.anew.unwrap_or(u32::MAX);
        let k = f64::from((round - 1) % every + 1);
        run.spend((model.each_ns)(k), OTHER);
        if model.count_load || model.anew.is_some() && (round - 1) % every == 0 {
            run.call(2, u64::from(round), None);
        }
        run.spend((model.parse_ns)(k, n), PARSE);
        run.call(0, u64::from(round), None);
        if model.leaf_calls.is_some() {
            run.call(1, leaves, Some(0));
        }
        leaves += model.leaf_calls.map_or(0, |calls| calls(k));
        let cost = (model.grow_ns)(k, n);
        run.spend(cost * (1.0 - model.leaf_share), GROW);
        for kind in 0..model.kinds {
            let each = cost * model.leaf_share / f64::from(model.kinds);
            run.spend(each, if kind == 0 { LEAF } else { OTHER + kind });
        }
        run.spend((model.after_ns)(k), LOAD);
    }
    run.spend(model.end_ns, PARSE);
    run.spend(model.other_ns, OTHER);
    let end_ns = run.now as u64;
    let mut tables = run.tables;
    let until = (end_ns as f64 * model.counted) as u64;
    tables.calls.retain(|call| call.probe != 0 || call.time_ns <= until);
    if model.loop_rounds.is_some() {
        loops_of_grow(&mut tables, model);
    }
    let hits = tables.calls.iter().filter(|call| call.probe == 0).count() as u64;
    tables.windows.push(Window { probe: 0, start_ns: 0, end_ns: until, hits, reason: "budget".into() });
    let mut window = |probe, hits| {
        tables.windows.push(Window { probe, start_ns: 0, end_ns, hits, reason: "end".into() });
    };
    if model.leaf_calls.is_some() {
        window(1, leaves);
    }
    if model.count_load {
        window(2, u64::from(model.rounds));
    }
    if let Some(every) = model.anew {
        window(2, u64::from(model.rounds.div_ceil(every)));
    }
    sampled::one_thread(&mut tables, end_ns);
    Recording::from_tables(PathBuf::from("synthetic"), about(end_ns), tables, Vec::new())
}

fn diagnosed(model: Model) -> Findings {
    let recording = recording(&model);
    assert_eq!(recording.dangling, 0, "the synthetic recording is whole");
    diagnose(&recording)
}

fn only(mut findings: Findings) -> Finding {
    assert_eq!(findings.findings.len(), 1, "{:#?}", findings.findings);
    findings.findings.remove(0)
}

fn silent(model: Model) {
    let findings = diagnosed(model).findings;
    assert!(findings.is_empty(), "{findings:#?}");
}

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
fn the_innermost_function_that_grows_is_guilty_and_not_its_caller() {
    let finding = only(diagnosed(Model { count_load: true, ..Model::default() }));
    assert_eq!(finding.place.frame.function, "grow");
}

#[test]
fn where_nothing_tells_of_the_input_it_is_at_most_a_hint() {
    let finding = only(diagnosed(Model { parse_ns: |_, _| 0.0, ..Model::default() }));
    assert_eq!(finding.confidence, Confidence::Hint);
}

#[test]
fn items_that_get_bigger_are_no_finding_where_their_parser_shows_it() {
    silent(Model { parse_ns: |k, _| 0.02 * MS * k, ..Model::default() });
}

/// `load` parses an item, calls `grow`, and does as much again itself; `main` does something between.
fn in_parts(after_ns: fn(f64) -> f64, each_ns: fn(f64) -> f64) -> Model {
    Model { grow_ns: |k, _| 0.1 * MS * k, after_ns, count_load: true, each_ns, ..Model::default() }
}

#[test]
fn a_function_that_grows_in_several_parts_is_reported_as_a_whole_if_it_begins_the_same() {
    let finding = only(diagnosed(in_parts(|k| 0.1 * MS * k, |_| 0.0)));
    assert_eq!(finding.place.frame.function, "load");
    assert!(
        finding.explanation.join(" ").contains("what it does at first with what it is given does not grow")
    );
    // What is done besides slows down by much less.
    let finding = only(diagnosed(in_parts(|k| 0.1 * MS * k, |k| MS * (1.0 + k / 200.0))));
    assert_eq!(finding.place.frame.function, "load");
    // It grows as much: so does what `load` is given, and of `grow` alone it is known that it does not.
    let finding = only(diagnosed(in_parts(|k| 0.1 * MS * k, |k| 0.02 * MS * k)));
    assert_eq!(finding.place.frame.function, "grow");
    let said = finding.explanation.join(" ");
    assert!(said.contains("the calls of load around it grow as well"), "{said}");
    // One part is most of it.
    let finding = only(diagnosed(in_parts(|_| 0.0, |_| 0.0)));
    assert_eq!(finding.place.frame.function, "grow");
}

#[test]
fn who_reads_and_parses_ever_larger_items_is_no_finding_whatever_its_caller_does() {
    for each_ns in [|_| 0.0, |_| MS] {
        let parse_ns = |k, _| 0.02 * MS * k;
        silent(Model { parse_ns, count_load: true, each_ns, ..Model::default() });
    }
}

#[test]
fn what_is_done_behind_the_last_call_says_nothing_of_the_input() {
    let finding = only(diagnosed(Model { end_ns: 300.0 * MS, ..Model::default() }));
    assert!(finding.confidence > Confidence::Hint, "{finding:#?}");
}

#[test]
fn in_an_interpreter_the_script_is_reported_with_the_function_that_does_the_work() {
    let of = |function: &str, arguments: &[&str]| {
        let mut recording = recording(&Model::default());
        let tables = &mut recording.tables;
        tables.modules[0].path = "/usr/bin/python3.11".into();
        tables.functions[GROW as usize].name = function.to_owned();
        tables.processes[0].program = "/usr/bin/python3.11".into();
        tables.processes[0].arguments = arguments.iter().map(|one| (*one).to_owned()).collect();
        only(diagnose(&recording))
    };
    let finding = of("python3.11+0x200", &["python3.11", "job.py"]);
    assert_eq!(finding.place.frame.function, "job.py");
    assert!(
        finding.explanation[0]
            .starts_with("it calls python3.11+0x200 200 times, which does the work, mostly in leaf")
    );
    assert!(!finding.explanation.join(" ").contains("line information"));
    let named = of("grow", &["python3.11", "job.py"]);
    assert_eq!(named.place.frame.function, "job.py");
    assert!(named.explanation[0].starts_with("it calls grow 200 times, which does the work"), "{named:#?}");
    assert!(!named.explanation[0].contains("mostly in"));
    // There is no script.
    assert_eq!(of("grow", &["python3.11"]).place.frame.function, "grow");
    assert_eq!(of("python3.11+0x200", &["python3.11"]).place.frame.function, "python3.11+0x200");
}

#[test]
fn a_cost_that_falls_to_the_end_is_found_as_well() {
    let finding = only(diagnosed(Model { grow_ns: |k, n| 0.2 * MS * (n + 1.0 - k), ..Model::default() }));
    assert_eq!(finding.title, "each call goes through everything that is left");
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
    let model = |rounds, every| Model { rounds, anew: Some(every), ..Model::default() };
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
fn a_function_that_passes_on_to_many_others_grows_as_these_do() {
    // 0.4 of its own and 0.3 of one of two; then 0.4 and 0.15 of one of four.
    let model = |kinds| Model { leaf_share: 0.6, kinds, ..Model::default() };
    only(diagnosed(model(2)));
    silent(model(4));
    // What is counted speaks for itself.
    only(diagnosed(Model { leaf_calls: Some(|k| 2 * k as u64), ..model(4) }));
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

#[test]
fn a_caller_whose_other_work_grows_as_the_cost_falls_is_no_sign_of_the_same_input() {
    let changing = Model {
        rounds: 300,
        grow_ns: |k, n| 0.2 * MS * (n + 1.0 - k),
        parse_ns: |k, _| 0.2 * MS * k,
        ..Model::default()
    };
    for finding in diagnosed(changing).findings {
        assert_eq!(finding.confidence, Confidence::Hint, "{finding:#?}");
    }
}

#[test]
fn the_fingerprint_stays_the_same_when_the_numbers_change() {
    let one = only(diagnosed(Model::default()));
    let two = only(diagnosed(Model { rounds: 300, ..Model::default() }));
    assert_eq!(one.fingerprint, two.fingerprint);
}
