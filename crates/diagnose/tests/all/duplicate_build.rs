//! Builds that make a thing twice, and those that only seem to, on synthetic recordings.

use crate::traced::{MS, Mode, OTHER, Traced, US, only, silent};
use slowpath_diagnose::findings::Confidence;
use slowpath_recording::Recording;
use slowpath_recording::tables::{Process, Syscall, Thread};

const OPENAT: u32 = 257;
const READ: u32 = 0;
const CONNECT: u32 = 42;
/// O_WRONLY | O_CREAT | O_TRUNC.
const MADE: u64 = 0o1101;
/// O_WRONLY | O_CREAT | O_APPEND.
const LOGGED: u64 = 0o2101;

/// What the second of two makes does, and how.
struct Build {
    /// It starts while the first one is at work.
    side_by_side: bool,
    /// Each command is started by a make of its own; else by the same one.
    two_makes: bool,
    /// … and each make by a shell of its own.
    two_shells: bool,
    /// The arguments of the second compiler, where it runs, and how the first one ended.
    arguments: [&'static str; 4],
    directory: &'static str,
    exit: i32,
    /// The source was changed in between.
    changed: bool,
    /// The second one reads another file as well.
    reads_more: bool,
    opens_with: u64,
    connects: bool,
    /// It reads from a pipe that the make writes to as well.
    told: bool,
    /// CPU time of each compiler, and of other work.
    compiler_ns: u64,
    other_ns: u64,
}

impl Default for Build {
    fn default() -> Build {
        Build {
            side_by_side: true,
            two_makes: true,
            two_shells: false,
            arguments: ["cc", "-c", "-o", "a.o"],
            directory: "/src",
            exit: 0,
            changed: false,
            reads_more: false,
            opens_with: MADE,
            connects: false,
            told: false,
            compiler_ns: 100 * MS,
            other_ns: 50 * MS,
        }
    }
}

fn started(traced: &mut Traced, parent: u32, arguments: &[&str], directory: &str) -> u32 {
    let process = traced.process(Some(parent), &format!("/usr/bin/{}", arguments[0]), 0);
    let row = &mut traced.tables.processes[process as usize];
    row.arguments = arguments.iter().map(|&word| word.to_owned()).collect();
    row.directory = Some(directory.to_owned());
    process
}

fn ended(traced: &mut Traced, process: u32, exit: i32) {
    let row = &mut traced.tables.processes[process as usize];
    (row.end_ns, row.exit) = (Some(traced.now), Some(exit));
}

/// Samples of a process.
fn computed(traced: &mut Traced, process: u32, ns: u64) {
    let from = traced.tables.samples.len();
    traced.compute(OTHER, ns);
    traced.tables.samples[from..].iter_mut().for_each(|sample| sample.thread = process);
}

fn recording(build: &Build) -> Recording {
    let mut traced = Traced::new(Mode::Each);
    traced.tables.processes[0].arguments = vec!["make".into(), "-j2".into()];
    traced.tables.processes[0].directory = Some("/src".into());
    let source = traced.file("a.c", "file", 100);
    let objects = ["a.o", build.arguments[3]].map(|path| traced.file(path, "file", 0));
    let more = traced.file("/usr/include/more.h", "file", 10);
    let pipe = traced.file("", "pipe", 0);
    let changed = traced.file("a.c", "file", 100);
    traced.tables.files[changed as usize].mtime_ns = 2;
    let mut makes = Vec::new();
    let mut compilers = Vec::new();
    for again in [false, true] {
        let make = match build.two_makes {
            true => {
                let recipe = if again { "make shared; ./b" } else { "make shared; ./a" };
                let shell = match build.two_shells {
                    true => started(&mut traced, 0, &["sh", "-c", recipe], "/src"),
                    false => 0,
                };
                makes.extend((shell > 0).then_some(shell));
                started(&mut traced, shell, &["make", "shared"], "/src")
            }
            false => 0,
        };
        let (arguments, directory) =
            if again { (build.arguments, build.directory) } else { (["cc", "-c", "-o", "a.o"], "/src") };
        let compiler = started(&mut traced, make, &arguments, directory);
        traced.now += US;
        let source = if again && build.changed { changed } else { source };
        traced.call(OPENAT, Some(source), 3, US).thread = compiler;
        if again && build.reads_more {
            traced.call(OPENAT, Some(more), 3, US).thread = compiler;
        }
        let opened = traced.call(OPENAT, Some(objects[usize::from(again)]), 4, US);
        (opened.thread, opened.argument) = (compiler, build.opens_with);
        if build.connects {
            traced.call(CONNECT, None, 0, US).thread = compiler;
        }
        if build.told {
            traced.call(1, Some(pipe), 1, US).thread = 0;
            traced.call(READ, Some(pipe), 1, US).thread = compiler;
        }
        if !build.side_by_side {
            computed(&mut traced, compiler, build.compiler_ns);
            ended(&mut traced, compiler, build.exit);
            makes.drain(..).chain([make]).filter(|make| *make > 0).for_each(|make| {
                ended(&mut traced, make, build.exit);
            });
        } else {
            makes.push(make);
        }
        compilers.push(compiler);
    }
    if build.side_by_side {
        for compiler in compilers {
            computed(&mut traced, compiler, build.compiler_ns);
            ended(&mut traced, compiler, build.exit);
        }
    }
    for make in makes.into_iter().filter(|make| *make > 0) {
        ended(&mut traced, make, build.exit);
    }
    computed(&mut traced, 0, build.other_ns);
    let cpu_ns = 2 * build.compiler_ns + build.other_ns;
    traced.recording(cpu_ns)
}

#[test]
fn two_makes_that_compile_one_file_at_the_same_time_are_told() {
    let finding = only(&recording(&Build::default()), "duplicate-build");
    assert_eq!(finding.place.frame.function, "make shared");
    assert_eq!(finding.confidence, Confidence::Certain);
    assert_eq!((finding.cost.gain() + MS / 2) / MS, 100);
    let said = finding.explanation.join(" ");
    assert!(said.contains("`make shared` ran 2 times in /src, started by `make -j2`"), "{said}");
    assert!(said.contains("`cc -c -o a.o`") && said.contains("it ran at the same time"), "{said}");
}

#[test]
fn one_after_the_other_it_is_likely() {
    let build = Build { side_by_side: false, two_shells: true, ..Build::default() };
    let finding = only(&recording(&build), "duplicate-build");
    assert_eq!(finding.confidence, Confidence::Likely);
    assert!(!finding.explanation.join(" ").contains("same time"), "{:?}", finding.explanation);
}

#[test]
fn whoever_does_it_again_and_again_may_be_measuring() {
    let loop_of_one = Build { two_makes: false, side_by_side: false, ..Build::default() };
    silent(&recording(&loop_of_one));
    // So may a shell that starts a make again and again.
    silent(&recording(&Build { side_by_side: false, ..Build::default() }));
    // At the same time both write one file all the same.
    let finding = only(&recording(&Build { side_by_side: true, ..loop_of_one }), "duplicate-build");
    assert_eq!(finding.place.frame.function, "cc -c -o a.o");
}

#[test]
fn other_arguments_another_directory_or_another_input_are_other_work() {
    silent(&recording(&Build { arguments: ["cc", "-c", "-o", "b.o"], ..Build::default() }));
    silent(&recording(&Build { directory: "/other", ..Build::default() }));
    silent(&recording(&Build { changed: true, ..Build::default() }));
    silent(&recording(&Build { reads_more: true, ..Build::default() }));
}

#[test]
fn a_failure_a_log_and_what_is_told_by_others_are_left_alone() {
    silent(&recording(&Build { exit: 1, ..Build::default() }));
    silent(&recording(&Build { opens_with: LOGGED, ..Build::default() }));
    silent(&recording(&Build { connects: true, ..Build::default() }));
    silent(&recording(&Build { told: true, ..Build::default() }));
    // A lock: there was no such file.
    silent(&recording(&Build { opens_with: 0o302, ..Build::default() }));
}

/// The first compiler becomes the parent of one with the same arguments that does the same.
fn starts_itself(mut whole: Recording) -> Recording {
    let tables = &mut whole.tables;
    let outer =
        tables.processes.iter().find(|one| one.arguments.first().is_some_and(|name| name == "cc")).cloned();
    let outer = outer.expect("a compiler");
    let number = tables.processes.len() as u32;
    let thread = Thread { thread: number, process: number, ..tables.threads[outer.process as usize].clone() };
    let of_outer = |row: &&Syscall| row.thread == outer.process;
    let mut calls: Vec<Syscall> = tables.syscalls.iter().filter(of_outer).cloned().collect();
    calls.iter_mut().for_each(|row| row.thread = number);
    tables.syscalls.extend(calls);
    for sample in tables.samples.iter_mut().filter(|sample| sample.thread == outer.process) {
        sample.thread = number;
    }
    let parent = Some(outer.process);
    tables.processes.push(Process { process: number, parent, pid: number + 100, ..outer });
    tables.threads.push(thread);
    whole
}

#[test]
fn a_program_that_starts_itself_again_is_no_copy_of_itself() {
    let other = Build { arguments: ["cc", "-c", "-o", "b.o"], ..Build::default() };
    silent(&starts_itself(recording(&other)));
    // Beside a copy only that counts.
    for two_makes in [false, true] {
        let finding =
            only(&starts_itself(recording(&Build { two_makes, ..Build::default() })), "duplicate-build");
        let said = &finding.explanation[1];
        assert!(said.starts_with("one command was run again: `cc -c -o a.o`. It"), "{said}");
        assert_eq!((finding.cost.gain() + MS / 2) / MS, 100);
    }
    // It runs beside what started it, but that is not the second one, which came later.
    let later = Build { side_by_side: false, two_shells: true, ..Build::default() };
    let finding = only(&starts_itself(recording(&later)), "duplicate-build");
    assert_eq!(finding.confidence, Confidence::Likely);
}

#[test]
fn a_file_that_is_read_and_then_written_is_input() {
    // Both read a.o before they empty it, and it was another one the second time.
    let mut whole = recording(&Build::default());
    let rows = whole.tables.syscalls.clone();
    let mut objects = rows.iter().filter(|row| row.argument == MADE);
    let (first, again) = (objects.next().expect("one"), objects.next().expect("another"));
    for (row, size) in [(first, 0), (again, 500)] {
        let mut file = whole.tables.files[row.file.expect("a file") as usize].clone();
        (file.file, file.size) = (whole.tables.files.len() as u32, size);
        let read = Syscall { argument: 0, time_ns: row.time_ns - 1, file: Some(file.file), ..row.clone() };
        whole.tables.files.push(file);
        whole.tables.syscalls.push(read);
    }
    silent(&whole);
}

#[test]
fn a_tenth_of_the_cpu_time_is_worth_telling() {
    let build = |other| Build { compiler_ns: 100 * MS, other_ns: other * MS, ..Build::default() };
    only(&recording(&build(790)), "duplicate-build");
    silent(&recording(&build(810)));
}

#[test]
fn a_command_that_is_repeated_within_a_repeated_one_counts_once() {
    // The compilers start an assembler each, whose arguments are the same as well.
    let mut whole = recording(&Build::default());
    let tables = &mut whole.tables;
    let compilers: Vec<u32> = tables
        .processes
        .iter()
        .filter(|process| process.arguments.first().is_some_and(|name| name == "cc"))
        .map(|process| process.process)
        .collect();
    for compiler in compilers {
        let number = tables.processes.len() as u32;
        let mut assembler = tables.processes[compiler as usize].clone();
        (assembler.process, assembler.parent, assembler.pid) = (number, Some(compiler), number + 100);
        assembler.arguments = vec!["as".into(), "-o".into(), "a.o".into()];
        let mut thread = tables.threads[compiler as usize].clone();
        (thread.thread, thread.process) = (number, number);
        let mut calls: Vec<_> = tables
            .syscalls
            .iter()
            .filter(|row| row.thread == compiler && row.file.is_some())
            .cloned()
            .collect();
        calls.iter_mut().for_each(|row| row.thread = number);
        tables.syscalls.extend(calls);
        tables.processes.push(assembler);
        tables.threads.push(thread);
    }
    let finding = only(&whole, "duplicate-build");
    assert_eq!((finding.cost.gain() + MS / 2) / MS, 100);
    assert!(finding.explanation[1].starts_with("one command was run again: `cc -c -o a.o`"), "{finding:#?}");
}
