//! Programs made of numbers: what each function costs at each size, and who is found guilty.

use super::count::Counted;
use super::{Role, scaling};
use crate::scale::{Scaling, Unit};
use slowpath_diagnose::findings::{Basis, Confidence};
use slowpath_formats::callgrind::{Caller, Function};

/// A function: name, caller, and at size n its calls and the instructions of its own in all.
type Model<'a> = (&'a str, Option<&'a str>, &'a dyn Fn(f64) -> f64, &'a dyn Fn(f64) -> f64);

/// Runs of a model in which each function has one caller.
fn counted(model: &[Model<'_>], sizes: &[f64]) -> Vec<(f64, Counted)> {
    let place = |name: &str| model.iter().position(|one| one.0 == name).expect("a function of the model");
    let run = |n: f64| {
        let mut inclusive: Vec<f64> = model.iter().map(|one| (one.3)(n)).collect();
        // Callees stand behind their callers.
        for at in (0..model.len()).rev() {
            if let Some(caller) = model[at].1 {
                inclusive[place(caller)] += inclusive[at];
            }
        }
        let function = |(at, (name, caller, calls, own)): (usize, &Model<'_>)| Function {
            name: (*name).to_owned(),
            object: if name.starts_with("str") { "/lib/libc.so.6" } else { "/bin/prog" }.to_owned(),
            file: "prog.c".to_owned(),
            line: Some(at as u32 + 1),
            own: own(n) as u64,
            inclusive: inclusive[at] as u64,
            calls: calls(n) as u64,
            recursive_calls: 0,
            callers: caller
                .map(|caller| Caller {
                    function: place(caller),
                    calls: calls(n) as u64,
                    inclusive: inclusive[at] as u64,
                })
                .into_iter()
                .collect(),
        };
        let functions: Vec<Function> = model.iter().enumerate().map(function).collect();
        Counted { instructions: functions.iter().map(|function| function.own).sum(), functions }
    };
    sizes.iter().map(|size| (*size, run(*size))).collect()
}

fn of(model: &[Model<'_>]) -> Scaling {
    scaling("prog {n}", &counted(model, &[100.0, 200.0, 400.0, 800.0]), Some(10_000.0))
}

fn role(scaling: &Scaling, name: &str) -> Option<Role> {
    scaling
        .functions
        .iter()
        .find(|one| one.function == name)
        .unwrap_or_else(|| panic!("{name} is not told"))
        .role
}

fn once(_: f64) -> f64 {
    1.0
}

#[test]
fn the_guilty_one_has_linear_calls_of_growing_cost_and_its_victim_flat_ones() {
    let scaling = of(&[
        ("main", None, &once, &|n| 100_000.0 + 50.0 * n),
        ("load", Some("main"), &once, &|n| 900.0 * n),
        ("parse", Some("load"), &|n| n, &|n| 2_000.0 * n),
        ("insert", Some("load"), &|n| n, &|n| 40.0 * n + 4.0 * n * n),
        ("same", Some("insert"), &|n| n * n / 2.0, &|n| 6.0 * n * n),
    ]);
    assert_eq!(scaling.unit, Unit::Instructions);
    assert_eq!(scaling.findings.len(), 1, "{:#?}", scaling.findings);
    let finding = &scaling.findings[0];
    assert_eq!(
        (finding.place.frame.function.as_str(), finding.cost.basis()),
        ("insert", Basis::Instructions)
    );
    assert_eq!(finding.confidence, Confidence::Certain);
    assert_eq!(finding.cost.time_ns(), None, "times are never told");
    assert_eq!(finding.calls.map(|calls| calls.count), Some(800));
    assert_eq!(finding.fingerprint, "superlinear-work|program|insert|rising");
    let path: Vec<&str> = finding.place.path.iter().map(|frame| frame.function.as_str()).collect();
    assert_eq!(path, ["main", "load", "insert"]);
    assert!(finding.cost.gain() < finding.cost.amount() && finding.cost.gain() > 0);
    assert!(
        finding.explanation.iter().any(|one| one.contains("0.50·n calls to same")),
        "{:#?}",
        finding.explanation
    );
    assert_eq!(role(&scaling, "insert"), Some(Role::Guilty));
    assert_eq!(role(&scaling, "same"), Some(Role::Victim));
    for other in ["main", "load", "parse"] {
        assert_eq!(role(&scaling, other), None, "{other}");
    }
    let rising: Vec<&str> = scaling.rising.iter().map(|one| one.function.as_str()).collect();
    assert_eq!(rising, ["insert"]);
    // 10 n² of 10,000 items, and what is linear.
    let (_, at) = scaling.extrapolated.expect("it was asked for");
    assert!((9.9e8..1.2e9).contains(&at), "{at}");
    let same = scaling.functions.iter().find(|one| one.function == "same").expect("it is told");
    let exponents = [same.law, same.calls_law, same.call_law].map(|law| law.expect("a law").exponent);
    assert!(
        exponents.iter().zip([2.0, 2.0, 0.0]).all(|(found, exact)| (found - exact).abs() < 1e-6),
        "{exponents:?}"
    );
}

#[test]
fn two_guilty_ones_under_one_caller_are_both_told_and_the_caller_is_not() {
    let scaling = of(&[
        ("main", None, &once, &|n| 500.0 * n),
        ("load", Some("main"), &|n| n, &|n| 900.0 * n),
        ("first", Some("load"), &|n| n, &|n| 8.0 * n * n),
        ("second", Some("load"), &|n| n, &|n| 5.0 * n * n),
    ]);
    let guilty: Vec<&str> =
        scaling.findings.iter().map(|finding| finding.place.frame.function.as_str()).collect();
    assert_eq!(guilty, ["first", "second"]);
}

#[test]
fn whoever_has_the_c_library_scan_is_guilty() {
    let scaling = of(&[
        ("main", None, &once, &|n| 500.0 * n),
        ("append", Some("main"), &|n| n, &|n| 90.0 * n),
        ("strcat", Some("append"), &|n| n, &|n| 8.0 * n * n),
    ]);
    let guilty: Vec<&str> =
        scaling.findings.iter().map(|finding| finding.place.frame.function.as_str()).collect();
    assert_eq!(guilty, ["append"]);
}

#[test]
fn loops_within_loops_are_likely_only() {
    let scaling = of(&[
        ("main", None, &once, &|n| 500.0 * n),
        ("pairs", Some("main"), &once, &|n| 6.0 * n * n),
        ("compare", Some("pairs"), &|n| n * n, &|n| 20.0 * n * n),
    ]);
    assert_eq!(scaling.findings.len(), 1);
    let finding = &scaling.findings[0];
    assert_eq!((finding.place.frame.function.as_str(), finding.confidence), ("pairs", Confidence::Likely));
    assert_eq!(role(&scaling, "compare"), Some(Role::Victim));
}

#[test]
fn linear_work_and_sorting_and_doubling_have_no_guilty_one() {
    let scaling = of(&[
        ("main", None, &once, &|n| 100_000.0 + 500.0 * n),
        ("sort", Some("main"), &once, &|n| 30.0 * n * n.log2()),
        ("insert", Some("main"), &|n| n, &|n| 400.0 * n),
        ("grow", Some("insert"), &|n| n.log2().floor(), &|n| 300.0 * n),
        ("find", Some("main"), &|n| n, &|n| 60.0 * n * n.log2()),
    ]);
    assert_eq!(scaling.findings, []);
    assert!(scaling.rising.is_empty(), "{:#?}", scaling.rising);
    assert!(scaling.functions.iter().all(|one| one.role.is_none()));
}

#[test]
fn two_sizes_make_no_one_guilty() {
    let model: [Model<'_>; 2] =
        [("main", None, &once, &|n| 500.0 * n), ("insert", Some("main"), &|n| n, &|n| 8.0 * n * n)];
    let scaling = scaling("prog {n}", &counted(&model, &[100.0, 200.0]), None);
    assert_eq!(scaling.findings, []);
    assert!(scaling.law.is_some());
}
