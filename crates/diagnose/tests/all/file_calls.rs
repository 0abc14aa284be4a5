//! The causes in files that are opened, read and listed, on synthetic recordings, at their thresholds, with calls recorded one by one and added up.
//! Questions about paths are left to `lookups`.

use crate::traced::{BOTH, MS, Mode, OTHER, Traced, US, WORK, only, silent};
use slowpath_diagnose::findings::{Confidence, Finding};
use slowpath_recording::Recording;
use slowpath_recording::tables::{Frame, Function, Location, Module, Probe, Stack, Window};

const READ: u32 = 0;
const WRITE: u32 = 1;
const OPEN: u32 = 257;
const CLOSE: u32 = 3;
const STAT: u32 = 262;
const GETDENTS: u32 = 217;
/// The stack of `work` itself.
const IN_WORK: u32 = 1;
/// A function around it, its place and its stack.
const LOAD: u32 = 4;

/// One file of a kind is opened, read and closed `times` times by calls of 100 µs; the run has `cpu_ms` of CPU time.
fn rereading(mode: Mode, times: u32, kind: &str, cpu_ms: u64) -> Recording {
    let mut traced = Traced::new(mode);
    let file = traced.file("/etc/settings", kind, 2_000);
    for _ in 0..times {
        traced.call(OPEN, Some(file), 3, 100 * US);
        traced.call(READ, Some(file), 2_000, 100 * US);
        traced.call(CLOSE, Some(file), 0, 100 * US);
    }
    traced.recording(cpu_ms * MS)
}

#[test]
fn a_file_that_is_read_again_and_again_is_told_with_its_place() {
    for mode in BOTH {
        let finding = only(&rereading(mode, 1_000, "file", 400), "redundant-file-access");
        assert_eq!(
            (finding.place.frame.function.as_str(), finding.confidence),
            ("work", Confidence::Certain)
        );
        assert_eq!(finding.files[0].path, "/etc/settings");
        assert_eq!(finding.files[0].ids.len(), 1);
        // Elapsed time between the calls is nobody's CPU time: others may have had the CPU.
        assert_eq!((finding.cost.amount(), finding.cost.gain()), (300 * MS, 300 * MS / 1_000 * 999));
        let said = finding.explanation.join("\n");
        assert!(said.contains("opened 1,000 times from work (program.c:11)"), "{said}");
        assert!(said.contains("3,000 system calls"), "{said}");
    }
}

#[test]
fn what_the_kernel_makes_up_counts_where_it_is_read_faster_than_anybody_watches_it() {
    let of = |mode: Mode, path: &str, kind: &str, pause: u64| {
        let mut traced = Traced::new(mode);
        let file = traced.file(path, kind, 0);
        for _ in 0..100 {
            traced.call(OPEN, Some(file), 3, 100 * US);
            traced.call(READ, Some(file), 8, 100 * US);
            traced.call(CLOSE, Some(file), 0, 100 * US);
            traced.now += pause;
        }
        traced.recording(60 * MS)
    };
    let reading = |mode: Mode, kind: &str, pause: u64| of(mode, "/proc/17/comm", kind, pause);
    for mode in BOTH {
        let finding = only(&reading(mode, "pseudo", MS), "redundant-file-access");
        assert_eq!(finding.confidence, Confidence::Likely);
        assert!(finding.explanation[0].contains("The kernel generates"), "{finding:#?}");
        // What is counted there is looked at because it changes.
        for path in [
            "/proc/17/statm",
            "/proc/sys/kernel/random/uuid",
            "/sys/devices/system/cpu/cpu0/cpufreq/scaling_cur_freq",
        ] {
            silent(&of(mode, path, "pseudo", MS));
        }
        only(&of(mode, "/sys/devices/system/cpu/online", "pseudo", MS), "redundant-file-access");
        assert_eq!(finding.cost.amount(), 30 * MS);
        // 100 in 460 ms, and in 530.
        only(&reading(mode, "pseudo", 4_300 * US), "redundant-file-access");
        silent(&reading(mode, "pseudo", 5_000 * US));
        silent(&reading(mode, "file", MS));
    }
}

#[test]
fn what_the_program_does_while_the_file_is_open_counts_where_samples_show_it_and_nothing_else_does() {
    let mut traced = Traced::new(Mode::Each);
    let file = traced.file("/etc/settings", "file", 2_000);
    for _ in 0..100 {
        traced.call(OPEN, Some(file), 3, 100 * US);
        traced.call(READ, Some(file), 2_000, 100 * US);
        traced.compute(IN_WORK, 2 * MS); // it works on what it read
        traced.now += 5 * MS; // others have the CPU
        traced.call(CLOSE, Some(file), 0, 100 * US);
        // An interpreter does all else in the same function.
        traced.compute(IN_WORK, 20 * MS);
    }
    let finding = only(&traced.recording(2_230 * MS), "redundant-file-access");
    assert_eq!(finding.cost.amount(), 100 * (300 * US + 2 * MS), "{finding:#?}");
}

/// A list of files, each read as often as `times` says for its place in the list.
fn going_over(mode: Mode, files: u32, times: impl Fn(u32) -> u32) -> Recording {
    let mut traced = Traced::new(mode);
    let list: Vec<u32> =
        (0..files).map(|one| traced.file(&format!("/lib/{one}.ko"), "file", 2_000)).collect();
    for (file, one) in list.into_iter().zip(0..) {
        for _ in 0..times(one) {
            traced.call(OPEN, Some(file), 3, MS);
            traced.call(READ, Some(file), 2_000, MS);
            traced.call(CLOSE, Some(file), 0, MS);
        }
    }
    traced.recording(400 * MS)
}

#[test]
fn a_list_of_files_that_is_gone_over_three_times_is_read_again() {
    for mode in BOTH {
        let finding = only(&going_over(mode, 20, |_| 3), "redundant-file-access");
        assert_eq!(finding.place.frame.function, "work");
        let said = finding.explanation.join("\n");
        assert!(said.contains("and 17 more were opened 60 times"), "{said}");
        // Two of three readings.
        assert_eq!(finding.cost.gain(), 120 * MS);
        silent(&going_over(mode, 19, |_| 3));
        silent(&going_over(mode, 20, |one| if one == 0 { 2 } else { 3 }));
        // Those that are read once each belong to another task.
        only(&going_over(mode, 40, |one| if one < 20 { 3 } else { 1 }), "redundant-file-access");
    }
}

/// A source 100 times, or so many, each with a header that takes 4 ms: opened while the source is open, or after it.
fn compiling(nested: bool, many: bool, cpu_ms: u64) -> Recording {
    let mut traced = Traced::new(Mode::Each);
    let [mut source, header] = ["/src/part.c", "/src/all.h"].map(|path| traced.file(path, "file", 2_000));
    for number in 0..100 {
        if many {
            source = traced.file(&format!("/src/{number}.c"), "file", 2_000);
        }
        traced.call(OPEN, Some(source), 3, 100 * US);
        traced.call(READ, Some(source), 2_000, 100 * US);
        if !nested {
            traced.call(CLOSE, Some(source), 0, 100 * US);
        }
        traced.call(OPEN, Some(header), 4, 100 * US);
        traced.call(READ, Some(header), 2_000, 100 * US);
        traced.compute(IN_WORK, 4 * MS);
        traced.call(CLOSE, Some(header), 0, 100 * US);
        if nested {
            traced.call(CLOSE, Some(source), 0, 100 * US);
        }
        traced.compute(IN_WORK, MS);
    }
    traced.recording(cpu_ms * MS)
}

#[test]
fn what_is_done_while_one_file_leads_to_another_is_no_work_on_one_of_them() {
    assert!(only(&compiling(false, false, 620), "redundant-file-access").cost.amount() > 400 * MS);
    // The system calls alone, and a tenth of the CPU time.
    assert_eq!(only(&compiling(true, false, 590), "redundant-file-access").cost.amount(), 60 * MS);
    silent(&compiling(true, false, 620));
    // The header alone is opened again.
    assert!(only(&compiling(false, true, 620), "redundant-file-access").cost.amount() > 400 * MS);
    silent(&compiling(true, true, 620));
}

#[test]
fn samples_that_crowd_into_a_few_spans_do_not_speak_for_all() {
    let mut traced = Traced::new(Mode::Each);
    let file = traced.file("/etc/settings", "file", 2_000);
    for number in 0..100 {
        traced.call(OPEN, Some(file), 3, 100 * US);
        traced.call(READ, Some(file), 2_000, 100 * US);
        // Ten samples in each tenth span, and 30 µs of work in each.
        if number % 10 == 0 {
            traced.compute(IN_WORK, 10 * MS);
        } else {
            traced.now += 30 * US;
        }
        traced.call(CLOSE, Some(file), 0, 100 * US);
    }
    let finding = only(&traced.recording(130 * MS), "redundant-file-access");
    // The calls, and with the steps of 1 µs between them 32 µs of each of the others.
    assert_eq!(finding.cost.amount(), 100 * (300 * US + 32 * US), "{finding:#?}");
}

#[test]
fn a_library_function_that_does_nothing_but_read_the_file_bears_all_of_it() {
    let mut traced = Traced::new(Mode::Each);
    let file = traced.file("/etc/settings", "file", 2_000);
    for _ in 0..100 {
        traced.compute(WORK, MS); // before the open
        traced.call(OPEN, Some(file), 3, 100 * US);
        traced.call(READ, Some(file), 2_000, 100 * US);
        traced.compute(WORK, 2 * MS);
        traced.call(CLOSE, Some(file), 0, 100 * US);
    }
    let finding = only(&traced.recording(330 * MS), "redundant-file-access");
    assert_eq!(finding.cost.amount(), 100 * 3 * MS, "{finding:#?}");
}

/// As when `work` is of a library, with or without symbols, that `main` asks.
fn by_library(name: &str) -> Recording {
    let mut recording = rereading(Mode::Each, 1_000, "file", 400);
    let tables = &mut recording.tables;
    tables.modules.push(Module { module: 2, path: "/lib/libconf.so.1".into(), ..tables.modules[1].clone() });
    tables.functions[1].name = name.to_owned();
    tables.functions[1].module = Some(2);
    tables.locations[1].module = Some(2);
    recording
}

#[test]
fn a_library_without_names_is_not_told_but_who_asks_it() {
    let place = |name| only(&by_library(name), "redundant-file-access").place.frame.function;
    assert_eq!(place("conf_load"), "conf_load");
    assert_eq!(place("libconf.so.1+0x100"), "main");
}

#[test]
fn what_was_inlined_into_a_runtimes_function_is_the_programs() {
    let mut recording = rereading(Mode::Each, 1_000, "file", 400);
    let tables = &mut recording.tables;
    // The body of a thread: `run` of the library, into which `load` was inlined.
    tables.functions[1].name = "std::thread::_State_impl<Work>::_M_run()".to_owned();
    let (function, kind) = (tables.functions.len() as u32, "native".to_owned());
    tables.functions.push(Function { function, name: "load".to_owned(), ..tables.functions[1].clone() });
    let at = tables.frames.iter().position(|frame| frame.location == 1).expect("a frame");
    tables.frames[at].depth = 1;
    let (file, line) = (Some("program.cpp".to_owned()), Some(7));
    tables.frames.insert(at, Frame { location: 1, depth: 0, function, file, line, kind });
    assert_eq!(only(&recording, "redundant-file-access").place.frame.function, "load");
}

#[test]
fn nineteen_readings_are_too_few_and_twenty_are_enough() {
    for mode in BOTH {
        silent(&rereading(mode, 19, "file", 20));
        only(&rereading(mode, 20, "file", 20), "redundant-file-access");
    }
}

#[test]
fn readings_that_cost_less_than_a_twentieth_are_silent() {
    for mode in BOTH {
        silent(&rereading(mode, 1_000, "file", 6_100));
        only(&rereading(mode, 1_000, "file", 5_900), "redundant-file-access");
    }
}

#[test]
fn many_files_that_are_read_once_each_are_silent() {
    let mut traced = Traced::new(Mode::Each);
    for number in 0..1_000 {
        let file = traced.file(&format!("/data/{number}"), "file", 2_000);
        traced.call(OPEN, Some(file), 3, 100 * US);
        traced.call(READ, Some(file), 2_000, 100 * US);
        traced.call(CLOSE, Some(file), 0, 100 * US);
    }
    silent(&traced.recording(400 * MS));
}

/// A log that is opened with `flags` and closed for each of `times` lines.
fn reopening(mode: Mode, times: u32, flags: u64, cpu_ms: u64) -> Recording {
    let mut traced = Traced::new(mode);
    let file = traced.file("/var/log/it", "file", 2_000);
    for _ in 0..times {
        traced.call(OPEN, Some(file), 3, 100 * US).argument = flags;
        traced.call(WRITE, Some(file), 2_000, 10 * US);
        traced.call(CLOSE, Some(file), 0, 100 * US);
    }
    traced.recording(cpu_ms * MS)
}

#[test]
fn a_log_that_is_opened_for_each_line_is_told() {
    const APPEND: u64 = 0o2101; // O_WRONLY | O_CREAT | O_APPEND
    for mode in BOTH {
        let finding = only(&reopening(mode, 1_000, APPEND, 400), "redundant-file-access");
        assert_eq!(finding.title, "a file is reopened for each write");
        assert_eq!(finding.cost.amount(), 200 * MS);
        only(&reopening(mode, 100, APPEND, 100), "redundant-file-access");
        silent(&reopening(mode, 99, APPEND, 100));
        silent(&reopening(mode, 1_000, APPEND, 4_100));
        silent(&reopening(mode, 1_000, 0o1101, 400)); // O_TRUNC: its content is made again
    }
}

#[test]
fn what_a_function_does_that_reads_a_file_and_nothing_else_is_done_again_too() {
    const SIZE: u64 = 100_000;
    let parsing = |ns: u64, writes: usize| {
        let mut traced = Traced::new(Mode::Each);
        let (file, log) = (traced.file("/etc/rules", "file", SIZE), traced.file("/log", "file", 0));
        for number in 0..100 {
            traced.call(OPEN, Some(file), 3, 10 * US);
            traced.call(READ, Some(file), SIZE as i64, 10 * US);
            traced.call(CLOSE, Some(file), 0, 10 * US);
            traced.compute(IN_WORK, ns);
            if number < writes {
                traced.call(WRITE, Some(log), 10, 10 * US);
            }
            traced.compute(OTHER, MS);
        }
        traced.recording(600 * MS)
    };
    let finding = only(&parsing(4 * MS, 10), "redundant-file-access");
    assert_eq!((finding.variant, finding.confidence), ("content", Confidence::Likely));
    assert_eq!(finding.cost.amount(), 400 * MS);
    assert!(finding.explanation[1].contains("work, which reads it"), "{:?}", finding.explanation);
    // It takes longer than any parser, or does something with what it read.
    silent(&parsing(6 * MS, 0));
    silent(&parsing(4 * MS, 11));
}

#[test]
fn who_asks_once_for_each_reading_may_work_on_what_was_read() {
    const SIZE: u64 = 100_000;
    // `load` calls `work`, which reads, and does `ns` of work itself; so many of its calls were counted.
    let loading = |ns: u64, calls: u64, counted_until: u64| {
        let mut traced = Traced::new(Mode::Each);
        let tables = &mut traced.tables;
        let name = "load".to_owned();
        tables.functions.push(Function {
            function: LOAD,
            name,
            address: 0x400,
            ..tables.functions[0].clone()
        });
        tables.locations.push(Location { location: LOAD, address: 0x400, ..tables.locations[0].clone() });
        tables.frames.push(Frame { location: LOAD, function: LOAD, ..tables.frames[0].clone() });
        for (stack, parent, location) in [(LOAD, 0, LOAD), (5, LOAD, IN_WORK), (6, 5, 2)] {
            tables.stacks.push(Stack { stack, parent: Some(parent), location });
        }
        let file = traced.file("/etc/rules", "file", SIZE);
        for _ in 0..100 {
            traced.call(OPEN, Some(file), 3, 10 * US);
            traced.call(READ, Some(file), SIZE as i64, 10 * US);
            traced.call(CLOSE, Some(file), 0, 10 * US);
            traced.compute(IN_WORK, MS);
            traced.compute(LOAD, ns);
            traced.compute(OTHER, MS);
        }
        let tables = &mut traced.tables;
        let moved = |stack: &mut Option<u32>| match *stack {
            Some(IN_WORK) => *stack = Some(5),
            Some(2) => *stack = Some(6),
            _ => {}
        };
        tables.samples.iter_mut().for_each(|row| moved(&mut row.stack));
        tables.syscalls.iter_mut().for_each(|row| moved(&mut row.stack));
        let kind = "function".to_owned();
        tables.probes.push(Probe { probe: 0, process: 0, location: LOAD, offset: 0, kind });
        let reason = "end".to_owned();
        tables.windows.push(Window { probe: 0, start_ns: MS, end_ns: counted_until, hits: calls, reason });
        let recording = traced.recording(600 * MS);
        only(&recording, "redundant-file-access")
    };
    let says = |finding: &Finding| {
        finding.explanation.iter().any(|one| one.starts_with("load, which is called once"))
    };
    // 100 readings of 5 ms.
    let finding = loading(3 * MS, 90, 600 * MS);
    assert!(says(&finding) && finding.gain_is_least, "{:?}", finding.explanation);
    assert_eq!(finding.cost.amount(), 100 * MS);
    // Called more often, or less; also in the part in which it was counted.
    assert!(!says(&loading(3 * MS, 130, 600 * MS)) && !says(&loading(3 * MS, 70, 600 * MS)));
    assert!(says(&loading(3 * MS, 60, 301 * MS)) && !says(&loading(3 * MS, 100, 301 * MS)));
    assert!(!says(&loading(3 * MS, 40, 200 * MS)));
    // It does hardly anything itself, or more than can be for what was read.
    assert!(!says(&loading(MS / 2, 90, 600 * MS)) && !says(&loading(6 * MS, 90, 600 * MS)));
}

/// An unchanged directory is listed `times` times.
fn listing(times: u32) -> Recording {
    let mut traced = Traced::new(Mode::Each);
    let directory = traced.file("store/pack", "directory", 4_096);
    for _ in 0..times {
        traced.call(OPEN, Some(directory), 3, 20 * US);
        traced.call(GETDENTS, Some(directory), 900, 80 * US);
        traced.call(GETDENTS, Some(directory), 0, 10 * US);
        traced.call(CLOSE, Some(directory), 0, 10 * US);
    }
    traced.recording(200 * MS)
}

#[test]
fn a_directory_that_is_listed_again_and_again_is_reported_with_all_that_it_takes() {
    let finding = only(&listing(1_000), "redundant-file-access");
    assert_eq!(finding.cost.amount(), 120 * MS);
    assert!(finding.explanation[0].contains("1,000 times"), "{:?}", finding.explanation);
    silent(&listing(99));
    // Opened to go on from there.
    let mut opened = listing(1_000);
    opened.tables.syscalls.retain(|row| row.number != GETDENTS);
    silent(&opened);
}

#[test]
fn questions_beside_readings_of_the_same_place_are_the_same_finding() {
    let mut traced = Traced::new(Mode::Each);
    let file = traced.file("/etc/settings", "file", 2_000);
    let path = traced.file("/etc/settings.d", "path", 0);
    for _ in 0..1_000 {
        traced.call(STAT, Some(path), 0, 100 * US);
        traced.call(OPEN, Some(file), 3, 100 * US);
        traced.call(CLOSE, Some(file), 0, 100 * US);
    }
    let finding = only(&traced.recording(400 * MS), "redundant-file-access");
    assert!(finding.explanation.iter().any(|said| said.starts_with("also /etc/settings.d was looked up")));
}

#[test]
fn in_an_interpreter_the_script_is_named() {
    let in_python = |arguments: &[&str]| {
        let mut recording = rereading(Mode::Each, 1_000, "file", 400);
        let tables = &mut recording.tables;
        tables.modules[0].path = "/usr/bin/python3.11".into();
        tables.processes[0].program = "/usr/bin/python3.11".into();
        tables.processes[0].arguments = arguments.iter().map(|one| (*one).to_owned()).collect();
        let finding = only(&recording, "redundant-file-access");
        (finding.place.frame.function, finding.place.frame.module)
    };
    assert_eq!(in_python(&["python3", "/srv/rates.py"]), ("rates.py".into(), "python3.11".into()));
    // Code that is given as an argument has no name.
    assert_eq!(in_python(&["python3", "-c", "print(1)"]).0, "work");
}
