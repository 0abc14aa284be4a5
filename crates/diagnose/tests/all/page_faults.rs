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
    for item in 0..churn.calls {
        let file = churn.of_file.then(|| traced.file(&format!("/data/{item}"), "file", churn.bytes));
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

/// One file that is mapped and taken down.
#[derive(Clone, Copy)]
struct Mapped {
    maps: u64,
    /// Of so many mappings the first ones are taken down.
    unmaps: u64,
    /// CPU time in faults of files, of other memory, and in the program's own work, ms.
    faults: u64,
    others: u64,
    work: u64,
    /// The file's size, and by how much each mapping is longer than the one before, from 4 MiB on.
    size: u64,
    longer: u64,
    /// Another file is mapped once, of so many bytes.
    beside: u64,
}

const MAPPED: Mapped =
    Mapped { maps: 200, unmaps: 200, faults: 100, others: 0, work: 300, size: 4 * MIB, longer: 0, beside: 0 };

/// A stack of kernel functions under `work`, the outermost first.
fn kernel_stack(tables: &mut slowpath_recording::Tables, names: &[&str]) -> u32 {
    let mut parent = WORK;
    for name in names {
        let (function, location, stack) =
            (tables.functions.len() as u32, tables.locations.len() as u32, tables.stacks.len() as u32);
        let (address, kind) = (1 << 63 | u64::from(location), "kernel".to_owned());
        let name = (*name).to_owned();
        tables.functions.push(Function { function, name, module: None, file: None, line: None, address });
        tables.locations.push(Location { location, module: None, address, kind: kind.clone() });
        tables.frames.push(Frame { location, depth: 0, function, file: None, line: None, kind });
        tables.stacks.push(Stack { stack, parent: Some(parent), location });
        parent = stack;
    }
    parent
}

fn mapping(mapped: Mapped) -> Traced {
    let mut traced = Traced::new(Mode::Each);
    let of_files = kernel_stack(&mut traced.tables, &["asm_exc_page_fault", "filemap_map_pages"]);
    let of_memory = kernel_stack(&mut traced.tables, &["asm_exc_page_fault", "do_anonymous_page"]);
    let file = traced.file("/data", "file", mapped.size);
    if mapped.beside > 0 {
        let other = traced.file("/large", "file", mapped.beside);
        traced.call(MMAP, Some(other), 0x6000_0000, US).bytes = mapped.beside;
    }
    for number in 0..mapped.maps {
        let bytes = 4 * MIB + number * mapped.longer;
        traced.call(MMAP, Some(file), 0x7000_0000, 100 * US).bytes = bytes;
        if number < mapped.unmaps {
            traced.call(MUNMAP, None, 0, 100 * US).bytes = bytes;
        }
    }
    traced.compute(of_files, mapped.faults * MS);
    traced.compute(of_memory, mapped.others * MS);
    traced.compute(WORK, mapped.work * MS);
    traced.tables.processes[0].peak_memory_bytes = Some(1_000 * MIB);
    traced
}

fn mapped(mapped: Mapped) -> Recording {
    let mut recording = mapping(mapped).recording((mapped.faults + mapped.others + mapped.work) * MS);
    recording.about.format.minor = 5;
    recording
}

#[test]
fn a_file_that_is_mapped_again_and_again_costs_its_calls_and_its_faults() {
    let finding = only(&mapped(MAPPED), "page-fault-churn");
    assert_eq!(finding.place.frame.function, "work");
    // 400 calls of 0.1 ms, and 100 ms of faults.
    assert_eq!(finding.cost.gain() / MS, 140);
    assert!(finding.explanation[0].contains("/data was mapped into memory 200 times"), "{finding:?}");
    silent(&mapped(Mapped { maps: 199, ..MAPPED }));
    // Faults of other memory are no part of it.
    let others = only(&mapped(Mapped { others: 100, ..MAPPED }), "page-fault-churn");
    assert_eq!(others.cost.gain() / MS, 140);
    // Nor those of a large file beside it: by their bytes a half.
    let beside = only(&mapped(Mapped { beside: 800 * MIB, ..MAPPED }), "page-fault-churn");
    assert_eq!(beside.cost.gain() / MS, 90);
    // A page's fault takes no longer than 1 µs: of 204,800 pages.
    let slow = only(&mapped(Mapped { faults: 300, work: 100, ..MAPPED }), "page-fault-churn");
    assert_eq!(slow.cost.gain() / MS, 244);
}

#[test]
fn a_file_that_is_mapped_part_by_part_is_mapped_once() {
    // 800 MiB in all are four times its size.
    only(&mapped(Mapped { size: 200 * MIB, ..MAPPED }), "page-fault-churn");
    silent(&mapped(Mapped { size: 201 * MIB, ..MAPPED }));
    // It was new when it was opened: then it must grow to twice its size.
    silent(&mapped(Mapped { size: 0, ..MAPPED }));
    silent(&mapped(Mapped { size: 0, longer: 20 * 1024, ..MAPPED }));
    only(&mapped(Mapped { size: 0, longer: 21 * 1024, ..MAPPED }), "page-fault-churn");
}

#[test]
fn a_file_of_which_many_parts_stay_mapped_is_mapped_for_good() {
    only(&mapped(Mapped { unmaps: 160, ..MAPPED }), "page-fault-churn");
    silent(&mapped(Mapped { unmaps: 159, ..MAPPED }));
}

#[test]
fn a_tenth_of_the_time_for_a_file_that_is_mapped_again() {
    only(&mapped(Mapped { faults: 20, work: 560, ..MAPPED }), "page-fault-churn");
    silent(&mapped(Mapped { faults: 20, work: 600, ..MAPPED }));
}

/// The same where the kernel gives no samples of itself: as much CPU time as the process had beyond its samples and its calls, ms.
fn unseen(mut traced: Traced, work: u64, beyond: u64) -> Recording {
    // Older tracers by ptrace did not see calls that move bytes.
    traced.call(0, None, 1, US);
    let calls: u64 = traced.tables.syscalls.iter().map(|row| row.duration_ns).sum();
    traced.tables.locations.iter_mut().for_each(|one| one.kind = "native".to_owned());
    traced.tables.frames.iter_mut().for_each(|one| one.kind = "native".to_owned());
    let cpu = work * MS + calls + beyond * MS;
    traced.tables.threads[0].cpu_ns = Some(cpu);
    let mut recording = traced.recording(cpu);
    recording.about.format.minor = 5;
    recording.about.tracer = Some(slowpath_recording::about::Tracer::Ptrace);
    recording.about.counter = Some(slowpath_recording::about::Counter::Breakpoints);
    recording
}

#[test]
fn what_is_left_of_the_kernels_time_went_into_faults_where_it_is_not_sampled() {
    let quiet = Mapped { faults: 0, work: 300, ..MAPPED };
    let with = |beyond| {
        let mut traced = mapping(quiet);
        traced.tables.processes[0].peak_memory_bytes = Some(0);
        only(&unseen(traced, 300, beyond), "page-fault-churn").cost.gain() / MS
    };
    // 60 ms and 3 % of the CPU time may have gone into hits of breakpoints.
    assert_eq!((with(0), with(200)), (40, 163));
    // The first touch of 1,000 MiB, 256,000 pages, takes 512 ms of it.
    let first = only(&unseen(mapping(quiet), 300, 700), "page-fault-churn");
    assert_eq!(first.cost.gain() / MS, 136);
}

#[test]
fn memory_is_given_back_where_faults_are_not_sampled_too() {
    let given = |peak: u64, share: f64| {
        let mut traced = Traced::new(Mode::Each);
        for _ in 0..200 {
            traced.call(MMAP, None, 0x7000_0000, US).bytes = MIB;
            traced.call(MUNMAP, None, 0, 100 * US).bytes = MIB;
        }
        traced.compute(WORK, 200 * MS);
        traced.tables.processes[0].peak_memory_bytes = Some(peak);
        let mut recording = unseen(traced, 200, 200);
        recording.about.traced_share = share;
        recording
    };
    // 200 ms beyond, of which 73 may have gone into hits, and 20 in calls that give back; the first touch of 4 MiB takes 2 ms.
    let finding = only(&given(4 * MIB, 1.0), "page-fault-churn");
    assert!((144..147).contains(&(finding.cost.gain() / MS)), "{}", finding.cost.gain());
    // In windows the bytes may be too many by four times.
    only(&given(12 * MIB, 0.5), "page-fault-churn");
    silent(&given(13 * MIB, 0.5));
    only(&given(13 * MIB, 1.0), "page-fault-churn");
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
