//! Tables made by hand, with numbers that cannot be: what is read back is safe to walk and to add up.

mod common;

use common::assert_whole;
use slowpath_recording::about::{Format, MAJOR, State};
use slowpath_recording::tables::*;
use slowpath_recording::{About, Recording, Tables};

fn about() -> About {
    About {
        format: Format { major: MAJOR, minor: 0 },
        slowpath: "0".into(),
        id: "x".into(),
        state: State::Complete,
        command: vec!["x".into()],
        directory: "/".into(),
        host: String::new(),
        kernel: String::new(),
        cpu: String::new(),
        cpus: 1,
        arch: "x86_64".into(),
        started_unix_ns: 0,
        start_ns: 0,
        wall_ns: 1,
        user_ns: 1,
        sys_ns: 0,
        exit: None,
        runs: 1,
        attached: false,
        collectors: Vec::new(),
        tracer: None,
        counter: None,
        hit_ns: None,
        degraded: Vec::new(),
        lost: Default::default(),
        sampled_share: 1.0,
        tracing_ns: 0,
        tracing_wall_ns: 0,
        tracing_calls_ns: None,
        tracing_samples_ns: 0,
        traced_share: 1.0,
        instructions: None,
        machine: None,
    }
}

fn read_back(tables: Tables) -> Recording {
    let recording = Recording::from_tables("/".into(), about(), tables, Vec::new());
    assert_whole(&recording);
    recording
}

fn process(number: u32) -> Process {
    Process {
        process: number,
        parent: None,
        pid: 1,
        run: 0,
        program: "x".into(),
        arguments: Vec::new(),
        directory: None,
        start_ns: 5,
        exec_ns: None,
        end_ns: None,
        exit: None,
        cpu_ns: None,
        user_ns: None,
        peak_memory_bytes: None,
        tracing_ns: 0,
        sample_scale: 1.0,
    }
}

fn thread(number: u32) -> Thread {
    Thread { thread: number, process: 0, tid: 1, name: "x".into(), start_ns: 5, end_ns: None, cpu_ns: None }
}

fn location(number: u32, module: Option<u32>) -> Location {
    Location { location: number, module, address: 0, kind: "native".into() }
}

fn function(number: u32, module: Option<u32>) -> Function {
    Function { function: number, name: "f".into(), module, file: None, line: None, address: 0 }
}

fn frame(location: u32, depth: u32, function: u32) -> Frame {
    Frame { location, depth, function, file: None, line: None, kind: "native".into() }
}

fn syscall(time_ns: u64, end_ns: u64) -> Syscall {
    Syscall {
        time_ns,
        end_ns,
        thread: 0,
        number: 0,
        compat: false,
        count: 1,
        duration_ns: 0,
        blocked_ns: 0,
        result: 0,
        bytes: 0,
        argument: u64::MAX,
        file: None,
        sync: false,
        stack: None,
        goroutine: None,
        met: None,
    }
}

fn one_thread() -> Tables {
    Tables { processes: vec![process(0)], threads: vec![thread(0)], ..Tables::default() }
}

#[test]
fn a_module_that_is_not_there_is_none() {
    let recording = read_back(Tables {
        locations: vec![location(0, Some(0))],
        functions: vec![function(0, Some(0)), function(1, Some(u32::MAX))],
        frames: vec![frame(0, 0, 0)],
        ..Tables::default()
    });
    assert!(recording.tables.functions.iter().all(|row| row.module.is_none()));
    assert_eq!(recording.tables.locations[0].module, None);
}

#[test]
fn what_ends_before_it_began_ends_when_it_began() {
    let mut tables = one_thread();
    tables.processes[0].end_ns = Some(1);
    tables.processes[0].exec_ns = Some(2);
    tables.threads[0].end_ns = Some(3);
    tables.syscalls = vec![syscall(9, 7)];
    let recording = read_back(tables);
    let tables = &recording.tables;
    assert_eq!((tables.processes[0].end_ns, tables.processes[0].exec_ns), (Some(5), Some(5)));
    assert_eq!((tables.threads[0].end_ns, tables.syscalls[0].end_ns), (Some(5), 9));
    assert_eq!(recording.dangling, 0);
}

#[test]
fn moments_that_cannot_be_are_bounded_and_counted() {
    let mut tables = one_thread();
    tables.syscalls = (0..100).map(|_| syscall(u64::MAX, u64::MAX)).collect();
    tables.threads[0].start_ns = u64::MAX;
    tables.syscalls.extend((0..100).map(|_| syscall(0, 1 << 59)));
    let recording = read_back(tables);
    assert_eq!(recording.tables.syscalls.len(), 200);
    assert!(recording.dangling > 200 && recording.cut_short());
}

#[test]
fn amounts_that_do_not_add_up_become_nothing_and_those_that_do_stay() {
    let mut tables = one_thread();
    tables.syscalls = (0..10).map(|at| Syscall { count: 3, bytes: at, ..syscall(0, 0) }).collect();
    tables.syscalls[4].bytes = u64::MAX;
    tables.syscalls[5].count = (1 << 62) - 3;
    let recording = read_back(tables);
    let bytes: Vec<u64> = recording.tables.syscalls.iter().map(|row| row.bytes).collect();
    assert_eq!(bytes, [0, 1, 2, 3, 0, 5, 6, 7, 8, 9]);
    assert_eq!(recording.tables.syscalls[5].count, 0);
    assert_eq!(recording.dangling, 2);
}

#[test]
fn scales_that_are_no_numbers_become_one() {
    for scale in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, -1.0, 1e300] {
        let mut tables = one_thread();
        tables.processes[0].sample_scale = scale;
        let recording = read_back(tables);
        assert_eq!((recording.tables.processes[0].sample_scale, recording.dangling), (1.0, 1));
    }
    for (share, believed) in [(f64::NAN, 0.0), (f64::INFINITY, 0.0), (-0.5, 0.0), (1.5, 1.5)] {
        let about = About { sampled_share: share, ..about() };
        let recording = Recording::from_tables("/".into(), about, Tables::default(), Vec::new());
        assert_eq!(recording.about.sampled_share, believed);
    }
}

#[test]
fn a_stack_deeper_than_any_that_is_recorded_is_cut_off() {
    let stacks =
        |count: u32| (0..count).map(|stack| Stack { stack, parent: stack.checked_sub(1), location: 0 });
    let recording = read_back(Tables {
        locations: vec![location(0, None)],
        stacks: stacks(10_000).collect(),
        ..Tables::default()
    });
    assert_eq!(recording.tables.stacks.len(), 10_000);
    assert_eq!(recording.tables.stacks.iter().filter(|row| row.parent.is_none()).count(), 3);
    // Functions that are inlined count.
    let recording = read_back(Tables {
        locations: vec![location(0, None)],
        functions: vec![function(0, None)],
        frames: (0..100).map(|depth| frame(0, depth, 0)).collect(),
        stacks: stacks(1_000).collect(),
        ..Tables::default()
    });
    assert_eq!(recording.tables.stacks.iter().filter(|row| row.parent.is_none()).count(), 25);
}

#[test]
fn a_location_with_more_frames_than_are_ever_inlined_loses_the_outer_ones() {
    let recording = read_back(Tables {
        locations: vec![location(0, None)],
        functions: vec![function(0, None)],
        frames: (0..10_000).map(|depth| frame(0, depth, 0)).collect(),
        ..Tables::default()
    });
    assert_eq!(recording.frames_of(0).len(), 512);
    assert_eq!(recording.dangling, 10_000 - 512);
}

#[test]
fn a_slice_that_no_recording_has_is_dropped() {
    let slice =
        |slice| Slice { process: 0, slice, function: 0, calls: 1, self_instructions: 1, instructions: 1 };
    let mut tables = one_thread();
    tables.functions = vec![function(0, None)];
    tables.slices = vec![slice(0), slice(1_023), slice(1_024), slice(u32::MAX)];
    let recording = read_back(tables);
    assert_eq!((recording.tables.slices.len(), recording.dangling), (2, 2));
}

#[test]
fn long_names_are_cut_between_characters() {
    let mut named = function(0, None);
    named.name = "ä".repeat(1 << 20);
    let recording = read_back(Tables { functions: vec![named], ..Tables::default() });
    assert_eq!(recording.tables.functions[0].name, "ä".repeat(16 << 10));
}
