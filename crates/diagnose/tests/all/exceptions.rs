//! Exceptions on the hot path, on synthetic recordings, at the thresholds of their cause.

use crate::traced::{MS, Mode, OTHER, Traced, WORK, only, silent};
use slowpath_diagnose::findings::{Basis, Confidence};
use slowpath_recording::Recording;

/// A run of so many ms in a function of a library that `work` calls, and of so many in another.
fn run(library: &str, thrown_ms: u64, other_ms: u64) -> Recording {
    let mut traced = Traced::new(Mode::Each);
    traced.tables.functions[WORK as usize].name = library.to_owned();
    traced.compute(WORK, thrown_ms * MS);
    traced.compute(OTHER, other_ms * MS);
    traced.recording((thrown_ms + other_ms) * MS)
}

#[test]
fn throwing_is_reported_in_the_function_of_the_program_that_throws() {
    for library in ["__cxa_throw", "_Unwind_RaiseException", "_Unwind_Resume", "__cxa_end_catch"] {
        let finding = only(&run(library, 200, 100), "exception-per-operation");
        assert_eq!((finding.cost.basis(), finding.cost.gain()), (Basis::Cpu, 200 * MS));
        assert_eq!(
            (finding.place.frame.function.as_str(), finding.confidence),
            ("work", Confidence::Likely),
            "{library}"
        );
    }
}

#[test]
fn several_functions_that_throw_are_one_finding() {
    let mut recording = run("__cxa_throw", 200, 100);
    // `other` throws too: a stack main → other → __cxa_throw.
    let number = recording.tables.stacks.len() as u32;
    let row = slowpath_recording::tables::Stack { stack: number, parent: Some(OTHER), location: WORK };
    recording.tables.stacks.push(row);
    let others = recording.tables.samples.iter_mut().filter(|sample| sample.stack == Some(OTHER));
    others.take(50).for_each(|sample| sample.stack = Some(number));
    let finding = only(&recording, "exception-per-operation");
    assert_eq!((finding.place.frame.function.as_str(), finding.cost.gain()), ("work", 250 * MS));
    assert_eq!(finding.related.iter().map(|frame| frame.function.as_str()).collect::<Vec<_>>(), ["other"]);
}

#[test]
fn it_takes_thirty_samples_and_a_tenth_of_the_time() {
    only(&run("__cxa_throw", 30, 100), "exception-per-operation");
    silent(&run("__cxa_throw", 29, 100));
    only(&run("__cxa_throw", 100, 890), "exception-per-operation");
    silent(&run("__cxa_throw", 100, 910));
}

#[test]
fn other_functions_of_the_runtime_are_none() {
    silent(&run("longjmp", 200, 100));
    silent(&run("_Unwind_Backtrace", 200, 100));
}
