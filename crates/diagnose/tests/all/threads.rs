//! A thread for every operation, on synthetic recordings, at the thresholds of its cause.

use crate::traced::{MS, Mode, OTHER, Traced, WORK, only, silent};
use slowpath_diagnose::findings::{Basis, Confidence};
use slowpath_recording::Recording;
use slowpath_recording::tables::Stack;

/// So many threads, started by a function of the C library, for so many ms, beside other work.
fn run(threads: u32, library: &str, making_ms: u64, other_ms: u64) -> Recording {
    let mut traced = Traced::new(Mode::Each);
    traced.tables.functions[WORK as usize].name = library.to_owned();
    traced.compute(WORK, making_ms * MS);
    traced.compute(OTHER, other_ms * MS);
    traced.threads(threads);
    traced.recording((making_ms + other_ms) * MS)
}

#[test]
fn the_function_that_starts_threads_is_named() {
    for library in ["pthread_create", "pthread_join", "__clone3"] {
        let finding = only(&run(2_000, library, 200, 100), "thread-per-operation");
        assert_eq!((finding.cost.basis(), finding.cost.gain()), (Basis::Cpu, 200 * MS), "{library}");
        assert_eq!((finding.place.frame.function.as_str(), finding.confidence), ("work", Confidence::Likely));
    }
    silent(&run(2_000, "pthread_mutex_lock", 200, 100));
}

#[test]
fn what_a_thread_does_outside_the_programs_code_counts() {
    let lone = |name: &str, module: Option<u32>| {
        let mut recording = run(2_000, "pthread_create", 40, 260);
        let tables = &mut recording.tables;
        // `start_thread`, which nothing called.
        let mut function = tables.functions[WORK as usize].clone();
        let mut location = tables.locations[WORK as usize].clone();
        let mut frame = tables.frames[WORK as usize].clone();
        let number = tables.functions.len() as u32;
        (function.function, function.name, function.module) = (number, name.to_owned(), module);
        (location.location, location.module) = (number, module);
        (frame.location, frame.function) = (number, number);
        tables.functions.push(function);
        tables.locations.push(location);
        tables.frames.push(frame);
        let stack = tables.stacks.len() as u32;
        tables.stacks.push(Stack { stack, parent: None, location: number });
        for (at, sample) in tables.samples.iter_mut().skip(40).take(100).enumerate() {
            (sample.thread, sample.stack) = (1 + at as u32, Some(stack));
        }
        only(&recording, "thread-per-operation").cost.gain()
    };
    assert_eq!(lone("start_thread", Some(1)), 140 * MS);
    // The program's own work, inlined into a function of the library that stands in the program.
    assert_eq!(lone("std::thread::_State_impl<Job>::_M_run()", Some(0)), 40 * MS);
}

#[test]
fn it_takes_500_threads_thirty_samples_and_a_tenth_of_the_time() {
    only(&run(500, "pthread_create", 200, 100), "thread-per-operation");
    silent(&run(499, "pthread_create", 200, 100));
    only(&run(500, "pthread_create", 30, 100), "thread-per-operation");
    silent(&run(500, "pthread_create", 29, 100));
    only(&run(500, "pthread_create", 100, 890), "thread-per-operation");
    silent(&run(500, "pthread_create", 100, 910));
}
