//! The cause `superlinear-work` on synthetic recordings: which function is reported, and whether its input grows.

use crate::rounds::*;
use crate::sampled::MS;
use slowpath_diagnose::diagnose;
use slowpath_diagnose::findings::{Basis, Confidence, Cost};
use slowpath_recording::tables::Stack;

#[test]
fn the_innermost_function_that_grows_is_guilty_and_not_its_caller() {
    let finding = only(diagnosed(Model { count_load: true, ..Model::default() }));
    assert_eq!(finding.place.frame.function, "grow");
}

/// As in an event loop: for half of its time `grow` calls back into the function that called it.
#[test]
fn of_functions_that_call_each_other_the_one_that_is_entered_first_is_the_caller() {
    let mut recording = recording(&Model { count_load: true, ..Model::default() });
    let tables = &mut recording.tables;
    let in_grow: Vec<u32> =
        tables.stacks.iter().filter(|one| one.location == GROW).map(|one| one.stack).collect();
    let back = tables.stacks.len() as u32;
    tables.stacks.push(Stack { stack: back, parent: in_grow.first().copied(), location: LOAD });
    let of_grow =
        tables.samples.iter_mut().filter(|row| row.stack.is_some_and(|stack| in_grow.contains(&stack)));
    of_grow.step_by(2).for_each(|row| row.stack = Some(back));
    assert!(tables.samples.iter().filter(|row| row.stack == Some(back)).count() > 20);
    assert_eq!(only(diagnose(&recording)).place.frame.function, "grow");
}

#[test]
fn what_a_runtime_does_of_its_own_accord_nobody_has_asked_for() {
    let mut recording = recording(&Model { count_load: true, ..Model::default() });
    let of_program = diagnose(&recording).findings.len();
    for function in &mut recording.tables.functions {
        function.name = format!("runtime.{}.func2", function.name);
    }
    assert_eq!((of_program, diagnose(&recording).findings.len()), (1, 0));
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

#[test]
fn a_few_samples_more_in_the_second_half_are_growth_only_where_they_lie_as_the_growing_cost_does() {
    // 11 samples in the first half, 25 in the second: in its first rounds, or in its last.
    let early = |k: f64, _| if k <= 100.0 { 0.11 * MS } else { f64::from(k <= 125.0) * MS };
    let late = |k: f64, _| if k <= 100.0 { 0.11 * MS } else { f64::from(k > 175.0) * MS };
    assert_eq!(only(diagnosed(Model { parse_ns: early, ..Model::default() })).confidence, Confidence::Hint);
    silent(Model { parse_ns: late, ..Model::default() });
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
    // By four fifths as much, which is surely less; by so few samples that it may be as much; by nearly as much.
    let finding = only(diagnosed(in_parts(|k| 0.1 * MS * k, |k| MS * (1.0 + k / 22.0))));
    assert_eq!(finding.place.frame.function, "load");
    let finding = only(diagnosed(in_parts(|k| 0.1 * MS * k, |k| 0.05 * MS * (1.0 + k / 22.0))));
    assert_eq!(finding.place.frame.function, "grow");
    let finding = only(diagnosed(in_parts(|k| 0.1 * MS * k, |k| MS * (1.0 + k / 12.0))));
    assert_eq!(finding.place.frame.function, "grow");
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
fn a_function_that_passes_on_to_many_others_grows_as_these_do() {
    // 0.4 of its own and 0.3 of one of two; then 0.4 and 0.15 of one of four.
    let model = |kinds| Model { leaf_share: 0.6, kinds, ..Model::default() };
    only(diagnosed(model(2)));
    silent(model(4));
    // What is counted speaks for itself.
    only(diagnosed(Model { leaf_calls: Some(|k| 2 * k as u64), ..model(4) }));
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
fn a_hint_about_time_that_a_surer_finding_explains_is_left_out() {
    let recording = recording(&Model { parse_ns: |_, _| 0.0, ..Model::default() });
    let evidence = slowpath_diagnose::Evidence::new(&recording);
    let hint = only(diagnose(&recording));
    assert_eq!(hint.confidence, Confidence::Hint);
    let cost = hint.cost.amount() as f64;
    let left = |function, share: f64| {
        let mut surer = hint.clone();
        surer.confidence = Confidence::Likely;
        surer.place.frame.function_id = Some(function);
        surer.cost = Cost::new(Basis::Cpu, share * cost, share * cost);
        slowpath_diagnose::hints::without_explained(&evidence, vec![hint.clone(), surer]).len()
    };
    // `leaf` has four fifths of the time of `grow`, and the kernel's part of it may be known exactly.
    assert_eq!((left(LEAF, 0.8), left(LEAF, 0.4)), (1, 2));
    // All of it is under `main`, which does a tenth of it otherwise than it should.
    assert_eq!((left(MAIN, 1.0), left(MAIN, 0.1)), (1, 2));
    // Elsewhere.
    assert_eq!(left(PARSE, 0.8), 2);
}
