//! Code that was built without optimisation, on synthetic recordings, at the thresholds of its cause.

use crate::traced::{MS, Mode, OTHER, Traced, WORK};
use slowpath_diagnose::diagnose;
use slowpath_diagnose::findings::{Confidence, Finding};
use slowpath_recording::tables::Built;

/// The stack `main → work`, and its function.
const OWN: u32 = 1;

/// A run of `wall` ms that spent so many ms in the function `name`, which was built as `built` says, and in libc.
fn run(name: &str, built: Option<(bool, &str)>, work: u64, library: u64, wall: u64) -> Vec<Finding> {
    let mut traced = Traced::new(Mode::Each);
    traced.tables.functions[OWN as usize].name = name.to_owned();
    if let Some((optimized, known_by)) = built {
        let (known_by, compiler) = (known_by.to_owned(), "GNU C17 12.2.0".to_owned());
        traced.tables.builds.push(Built { function: OWN, optimized, known_by, compiler });
        let (known_by, compiler) = ("code".to_owned(), String::new());
        traced.tables.builds.push(Built { function: WORK, optimized: true, known_by, compiler });
    }
    traced.compute(OWN, work * MS);
    traced.compute(WORK, library * MS);
    traced.now = wall * MS;
    diagnose(&traced.recording((work + library) * MS)).findings
}

fn only(findings: &[Finding]) -> &Finding {
    let [finding] = findings else { panic!("one finding: {findings:?}") };
    assert_eq!(finding.cause.slug(), "unoptimized-build");
    finding
}

const NOTED: Option<(bool, &str)> = Some((false, "compiler"));
const SEEN: Option<(bool, &str)> = Some((false, "code"));

#[test]
fn what_the_compiler_noted_is_certain_and_what_the_code_shows_is_likely() {
    let findings = run("work", NOTED, 400, 100, 500);
    let finding = only(&findings);
    assert_eq!((finding.confidence, finding.place.frame.function.as_str()), (Confidence::Certain, "work"));
    assert_eq!((finding.cost.amount(), finding.cost.gain()), (400 * MS, 200 * MS));
    assert!(finding.explanation[0].contains("GNU C17 12.2.0"), "{:?}", finding.explanation);
    assert_eq!(only(&run("work", SEEN, 400, 100, 500)).confidence, Confidence::Likely);
}

#[test]
fn optimised_code_and_code_of_which_nothing_is_known_are_silent() {
    assert_eq!(run("work", Some((true, "compiler")), 400, 100, 500), []);
    assert_eq!(run("work", None, 400, 100, 500), []);
}

#[test]
fn it_takes_three_tenths_of_the_cpu_time() {
    only(&run("work", NOTED, 300, 700, 1000));
    assert_eq!(run("work", NOTED, 299, 701, 1000), []);
}

#[test]
fn fifty_ms_must_go_and_15_percent_of_the_elapsed_time() {
    only(&run("work", NOTED, 100, 10, 120));
    assert_eq!(run("work", NOTED, 99, 10, 120), []);
    only(&run("work", NOTED, 300, 0, 1000));
    assert_eq!(run("work", NOTED, 299, 0, 1000), []);
}

#[test]
fn in_cpp_and_rust_more_goes() {
    assert_eq!(only(&run("work", SEEN, 400, 0, 400)).cost.gain(), 200 * MS);
    assert_eq!(only(&run("shop::work()", SEEN, 400, 0, 400)).cost.gain(), 240 * MS);
}

/// `main → work`, which calls two functions of the program; each is at work for so many ms.
fn of_three(work: u64, first: u64, second: u64) -> String {
    let mut traced = Traced::new(Mode::Each);
    traced.tables.functions[WORK as usize].module = Some(0);
    traced.tables.locations[WORK as usize].module = Some(0);
    traced.tables.stacks[OTHER as usize].parent = Some(OWN);
    for function in [OWN, WORK, OTHER] {
        let (known_by, compiler) = ("compiler".to_owned(), "GNU C17 12.2.0".to_owned());
        traced.tables.builds.push(Built { function, optimized: false, known_by, compiler });
    }
    for (stack, ms) in [(OWN, work), (WORK, first), (OTHER, second)] {
        traced.compute(stack, ms * MS);
    }
    traced.now = (work + first + second) * MS;
    let findings = diagnose(&traced.recording((work + first + second) * MS)).findings;
    only(&findings).place.frame.function.clone()
}

#[test]
fn the_function_around_most_of_it_is_reported_whichever_of_its_callees_is_the_hottest() {
    assert_eq!(of_three(100, 200, 190), "work");
    assert_eq!(of_three(100, 190, 200), "work");
    assert_eq!(of_three(100, 300, 190), "read_file");
}
