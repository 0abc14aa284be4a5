//! Memory that is given back and taken again, on synthetic recordings, at the thresholds of its cause.

use crate::traced::{BOTH, MS, Mode, Traced, US, WORK, only, silent};
use slowpath_diagnose::findings::Finding;
use slowpath_recording::Recording;
use slowpath_recording::tables::{Beginning, Frame, Function, Location, Stack, Walk};

const MMAP: u32 = 9;
const MUNMAP: u32 = 11;
const BRK: u32 = 12;
const MIB: u64 = 1 << 20;

/// What a program does with its memory.
#[derive(Clone, Copy)]
struct Churn {
    mode: Mode,
    /// Calls that give back, and how much each.
    calls: u64,
    bytes: u64,
    /// The largest size of the process, bytes.
    peak: u64,
    /// CPU time in faults, and in the program's own work, ms.
    faults: u64,
    work: u64,
    /// What is mapped and unmapped is a file.
    of_file: bool,
}

const CHURN: Churn =
    Churn { mode: Mode::Each, calls: 200, bytes: MIB, peak: 4 * MIB, faults: 200, work: 200, of_file: false };

fn churning(churn: Churn, number: u32) -> Recording {
    let mut traced = Traced::new(churn.mode);
    let (function, location, stack) = (4, 4, 4);
    let tables = &mut traced.tables;
    let (name, kind) = ("asm_exc_page_fault".to_owned(), "kernel".to_owned());
    tables.functions.push(Function {
        function,
        name,
        module: None,
        file: None,
        line: None,
        address: 1 << 63,
    });
    tables.locations.push(Location { location, module: None, address: 1 << 63, kind: kind.clone() });
    tables.frames.push(Frame { location, depth: 0, function, file: None, line: None, kind });
    tables.stacks.push(Stack { stack, parent: Some(WORK), location });
    let file = churn.of_file.then(|| traced.file("/data", "file", churn.bytes));
    for _ in 0..churn.calls {
        traced.call(MMAP, file, 0x7000_0000, US).bytes = churn.bytes;
        traced.call(number, None, 0, US).bytes = churn.bytes;
    }
    traced.compute(stack, churn.faults * MS);
    traced.compute(WORK, churn.work * MS);
    traced.tables.processes[0].peak_memory_bytes = Some(churn.peak);
    let mut recording = traced.recording((churn.faults + churn.work) * MS);
    recording.about.format.minor = 5;
    recording
}

fn found(churn: Churn) -> Finding {
    only(&churning(churn, MUNMAP), "page-fault-churn")
}

#[test]
fn what_repeats_of_the_faults_is_the_gain() {
    for mode in BOTH {
        let finding = found(Churn { mode, ..CHURN });
        assert_eq!(finding.place.frame.function, "work", "{mode:?}");
        // 200 MiB of 204 were there before.
        let gain = finding.cost.gain() as f64 / MS as f64;
        assert!((195.0..197.0).contains(&gain), "{mode:?}: {gain}");
        assert!(finding.explanation[0].contains(": 200 MiB in all"), "{:?}", finding.explanation);
    }
    // Half of what was ever there was there before.
    let half = found(Churn { peak: 50 * MIB, ..CHURN });
    assert!((159..161).contains(&(half.cost.gain() / MS)), "{}", half.cost.gain());
}

#[test]
fn a_heap_that_shrinks_is_told_with_the_allocators_option() {
    let finding = only(&churning(CHURN, BRK), "page-fault-churn");
    assert!(finding.advice.contains("trim_threshold"), "{}", finding.advice);
    assert!(found(CHURN).advice.contains("mmap_max=0"));
}

#[test]
fn four_times_the_size_and_a_hundred_calls() {
    found(Churn { peak: 50 * MIB, ..CHURN });
    silent(&churning(Churn { peak: 51 * MIB, ..CHURN }, MUNMAP));
    found(Churn { calls: 100, peak: 10 * MIB, ..CHURN });
    silent(&churning(Churn { calls: 99, peak: 10 * MIB, ..CHURN }, MUNMAP));
    // Fewer, if it is sixteen times the size.
    found(Churn { calls: 96, peak: 6 * MIB, ..CHURN });
    silent(&churning(Churn { calls: 95, peak: 6 * MIB, ..CHURN }, MUNMAP));
}

#[test]
fn a_fifth_of_the_time_and_fifty_ms() {
    found(Churn { faults: 52, work: 100, ..CHURN });
    silent(&churning(Churn { faults: 50, work: 100, ..CHURN }, MUNMAP));
    found(Churn { faults: 210, work: 800, ..CHURN });
    silent(&churning(Churn { faults: 200, work: 820, ..CHURN }, MUNMAP));
}

#[test]
fn files_that_are_mapped_one_after_the_other_are_no_churn() {
    silent(&churning(Churn { of_file: true, ..CHURN }, MUNMAP));
}

#[test]
fn before_version_5_nothing_said_how_much_is_given_back() {
    let mut recording = churning(CHURN, MUNMAP);
    recording.about.format.minor = 4;
    silent(&recording);
}

/// Churn in a function that also compiles an expression 40 times, in so many ms.
fn preparing(ms: u64) -> Recording {
    let mut recording = churning(CHURN, MUNMAP);
    let tables = &mut recording.tables;
    let (function, location, stack, kind) = (5, 5, 5, "native".to_owned());
    let name = "regcomp".to_owned();
    tables.functions.push(Function {
        function,
        name,
        module: Some(0),
        file: None,
        line: None,
        address: 0x9000,
    });
    tables.locations.push(Location { location, module: Some(0), address: 0x9000, kind: kind.clone() });
    tables.frames.push(Frame { location, depth: 0, function, file: None, line: None, kind });
    tables.stacks.push(Stack { stack, parent: Some(WORK), location });
    tables.walks.push(Walk {
        walk: 0,
        process: 0,
        location,
        loop_number: None,
        strides: vec![0],
        arguments: None,
    });
    for call in 0..40 {
        tables.beginnings.push(Beginning {
            walk: 0,
            time_ns: call,
            thread: Some(0),
            cpu_ns: 0,
            addresses: vec![0],
            contents: vec![1],
            linked: 0,
            length: 0,
            within_ns: 0,
            below: 0,
        });
    }
    let template = tables.samples[0].clone();
    let at = |sample: u64| recording.about.wall_ns + sample * MS;
    let added = (0..ms).map(|sample| slowpath_recording::tables::Sample {
        time_ns: at(sample),
        stack: Some(stack),
        weight_ns: MS,
        ..template.clone()
    });
    tables.samples.extend(added);
    recording.about.user_ns += ms * MS;
    recording
}

#[test]
fn memory_that_goes_with_work_that_goes_is_not_told_as_well() {
    let causes = |ms| -> Vec<&'static str> {
        let findings = slowpath_diagnose::diagnose(&preparing(ms)).findings;
        findings.iter().map(|finding| finding.cause.slug()).collect()
    };
    assert_eq!(causes(400), ["redundant-computation"]);
    // Where it saves less, the memory is not all that goes with it.
    assert_eq!(causes(120), ["page-fault-churn", "redundant-computation"]);
}
