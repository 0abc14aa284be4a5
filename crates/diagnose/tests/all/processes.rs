//! The cause `process-per-operation`, and other causes across processes, on synthetic recordings, at the thresholds.

use crate::traced::{MS, Mode, OTHER, Traced, US, WORK, only, silent};
use slowpath_diagnose::findings::Basis;
use slowpath_recording::Recording;
use slowpath_recording::about::Tracer;
use slowpath_recording::tables::{Frame, Function, Location, Module, Process, Sample, Stack};

const READ: u32 = 0;
const OPEN: u32 = 257;
const NANOSLEEP: u32 = 230;
const CONNECT: u32 = 42;
const CLONE: u32 = 56;
const MMAP: u32 = 9;

/// `times` children of one place: each starts up for `start` and then works on a file of its own for `work`.
pub fn children(times: u32, start: u64, work: u64, at_once: bool) -> Traced {
    let mut traced = Traced::new(Mode::Each);
    let settings = traced.file("/etc/sign.conf", "file", 100);
    let began = traced.now;
    for number in 0..times {
        if at_once {
            traced.now = began;
        }
        let from = traced.now;
        let child = traced.process(Some(0), "/usr/bin/sign", start / 2);
        let pid = i64::from(child) + 100;
        traced.call(CLONE, None, pid, 50 * US).time_ns = from;
        traced.call(OPEN, Some(settings), 3, 10 * US).thread = child;
        traced.now = from + start;
        let input = traced.file(&format!("/data/{number}"), "file", 100);
        traced.call(OPEN, Some(input), 3, 10 * US).thread = child;
        traced.now = from + start + work;
        traced.tables.processes[child as usize].end_ns = Some(traced.now);
    }
    traced
}

/// Has a child begin and end so much later, with its calls and the one that forks it.
pub fn delay(traced: &mut Traced, number: u64, later: u64) -> &mut Process {
    for row in traced.tables.syscalls.iter_mut() {
        let of_it = row.thread == number as u32 + 1 || row.result == number as i64 + 101;
        (row.time_ns, row.end_ns) =
            if of_it { (row.time_ns + later, row.end_ns + later) } else { (row.time_ns, row.end_ns) };
    }
    let child = &mut traced.tables.processes[number as usize + 1];
    child.start_ns += later;
    child.exec_ns = child.exec_ns.map(|exec| exec + later);
    child.end_ns = child.end_ns.map(|end| end + later);
    child
}

#[test]
fn a_process_for_every_operation_is_told_with_its_start_up() {
    let finding = only(&children(50, 8 * MS, 2 * MS, false).recording(300 * MS), "process-per-operation");
    assert_eq!((finding.place.frame.function.as_str(), finding.cost.basis()), ("work", Basis::Wall));
    assert_eq!((finding.cost.amount(), finding.cost.gain()), (500 * MS, 400 * MS));
    let said = finding.explanation.join("\n");
    assert!(said.contains("started sign 50 times from work (program.c:11); each run took 10 ms"), "{said}");
    assert!(said.contains("8.0 ms (80 %)"), "{said}");
}

#[test]
fn where_children_take_very_different_times_only_their_start_up_is_the_gain() {
    // Every second one takes 9 ms more, or 11 ms.
    let some_longer = |more: u64, busy: u64| {
        let mut traced = children(50, 8 * MS, 2 * MS, false);
        for number in 0..50u64 {
            let later = more * (number / 2);
            let child = delay(&mut traced, number, later);
            child.end_ns = child.end_ns.map(|end| end + more * (number % 2));
            child.cpu_ns = Some((10 * MS + more * (number % 2)) * busy / 100);
        }
        traced.tables.syscalls.sort_by_key(|row| row.time_ns);
        traced.now += more * 25;
        only(&traced.recording(300 * MS), "process-per-operation")
    };
    let alike = some_longer(9 * MS, 100);
    assert_eq!((alike.cost.amount() / MS, alike.cost.gain() / MS), (725, 725));
    assert!(alike.explanation[2].starts_with("most runs took about as long"), "{alike:#?}");
    // What they wait for is none of it: of 725 ms they use the CPU for four fifths.
    assert_eq!(some_longer(9 * MS, 80).cost.gain() / MS, 580);
    let unlike = some_longer(11 * MS, 100);
    assert_eq!((unlike.cost.amount() / MS, unlike.cost.gain() / MS), (775, 400));
}

#[test]
fn what_recording_took_of_children_is_in_no_figure() {
    let mut traced = children(50, 8 * MS, 2 * MS, false);
    // Of the 4 ms that each used, 1 ms was recording's (as sampled: half of it): of its two calls one was made while it started up.
    for child in &mut traced.tables.processes[1..] {
        (child.tracing_ns, child.sample_scale) = (MS / 2, 2.0);
    }
    let mut recording = traced.recording(300 * MS);
    let finding = only(&recording, "process-per-operation");
    assert_eq!((finding.cost.amount(), finding.cost.gain()), (450 * MS, 375 * MS));
    assert!(finding.explanation[1].contains("used 3.0 ms of CPU time"), "{:?}", finding.explanation);
    // The elapsed time is without it, too: one ran after the other.
    recording.about.tracing_ns = 50 * MS;
    let run = slowpath_diagnose::diagnose(&recording).recording;
    assert_eq!(run.wall_ns - run.undisturbed_wall_ns, 50 * MS);
}

/// 50 children whose fork and exec take so long of the 8 ms in which they start up.
fn copied(fork: u64, exec: u64) -> Recording {
    const EXECVE: u32 = 59;
    let mut traced = children(50, 8 * MS, 2 * MS, false);
    for row in traced.tables.syscalls.iter_mut().filter(|row| row.number == CLONE) {
        row.duration_ns = fork;
    }
    let end = traced.now;
    for child in 1..=50u32 {
        traced.now = traced.tables.processes[child as usize].start_ns + MS;
        traced.call(EXECVE, None, 0, exec).thread = child;
    }
    traced.now = end;
    traced.recording(300 * MS)
}

#[test]
fn forks_that_copy_a_large_process_are_told_as_such() {
    let finding = only(&copied(3 * MS, 3 * MS), "process-per-operation");
    // What an exec takes anyway stays: 1 ms.
    assert_eq!((finding.variant, finding.cost.gain()), ("copied", 50 * (3 + 2) * MS));
    assert!(
        finding.explanation.join("\n").contains("which took 3.0 ms, and the copy was thrown away"),
        "{:?}",
        finding.explanation
    );
    assert!(finding.advice.contains("posix_spawn"), "{}", finding.advice);
    // Short forks, and those that are less than half of starting up, are the usual case.
    assert_eq!(only(&copied(MS, 5 * MS), "process-per-operation").variant, "copied");
    assert_eq!(only(&copied(MS - 1, 5 * MS), "process-per-operation").variant, "");
    assert_eq!(only(&copied(2 * MS, 3 * MS), "process-per-operation").variant, "copied");
    assert_eq!(only(&copied(2 * MS, 3 * MS - 1), "process-per-operation").variant, "");
}

#[test]
fn a_fork_without_a_stack_is_told_by_what_its_child_executes() {
    let mut recording = copied(MS / 2, 2 * MS);
    let without = |recording: &mut Recording, number: u32| {
        recording
            .tables
            .syscalls
            .iter_mut()
            .filter(|row| row.number == number)
            .for_each(|row| row.stack = None);
        only(recording, "process-per-operation")
    };
    let finding = without(&mut recording, CLONE);
    assert_eq!(finding.place.frame.function, "work");
    assert!(finding.explanation[0].contains("50 times from work"), "{:?}", finding.explanation);
    assert_eq!(without(&mut recording, 59).place.frame.function, "program");
}

#[test]
fn nine_children_are_too_few_and_ten_are_enough() {
    silent(&children(9, 8 * MS, 2 * MS, false).recording(100 * MS));
    only(&children(10, 8 * MS, 2 * MS, false).recording(100 * MS), "process-per-operation");
}

#[test]
fn children_that_work_for_longer_than_they_start_are_silent() {
    silent(&children(50, 4 * MS, 6 * MS, false).recording(300 * MS));
}

#[test]
fn children_that_were_started_to_sleep_are_silent() {
    for (asleep, told) in [(20 * MS, false), (MS / 2, true)] {
        let mut traced = children(50, 8 * MS, 2 * MS, false);
        for child in 1..=50 {
            let start = traced.tables.processes[child].start_ns;
            let row = traced.sleep(NANOSLEEP, None, 0, asleep);
            (row.thread, row.time_ns, row.end_ns) = (child as u32, start + MS, start + MS + asleep);
        }
        let findings = slowpath_diagnose::diagnose(&traced.recording(300 * MS)).findings;
        let causes: Vec<_> = findings.iter().map(|finding| finding.cause.slug()).collect();
        assert_eq!(causes.contains(&"process-per-operation"), told, "{causes:?}");
    }
}

/// 50 children that each ask so often for their process id, in 6 µs each, while they start up.
fn asking(calls: u32) -> Vec<(&'static str, u64)> {
    const GETPID: u32 = 39;
    let mut traced = children(50, 8 * MS, 2 * MS, false);
    for child in 1..=50u32 {
        traced.now = traced.tables.processes[child as usize].start_ns + MS;
        for _ in 0..calls {
            traced.call(GETPID, Some(0), 100, 6 * US).thread = child;
        }
    }
    traced.now = traced.tables.processes[50].end_ns.expect("it ended");
    let findings = slowpath_diagnose::diagnose(&traced.recording(300 * MS)).findings;
    findings.iter().map(|finding| (finding.cause.slug(), finding.cost.gain() / MS)).collect()
}

#[test]
fn calls_of_the_children_that_are_not_needed_are_reported_of_their_own() {
    assert_eq!(asking(0), [("process-per-operation", 400)]);
    let [(first, one), (second, other)] = asking(1_000)[..] else {
        panic!("two findings: {:?}", asking(1_000))
    };
    assert_eq!((first, second), ("needless-system-calls", "process-per-operation"));
    assert!(other < 200 && (398..=401).contains(&(one + other)), "{one} and {other} ms");
}

/// 50 children under ptrace, which sees no reads: each maps 8 libraries, 0.1 ms apart, and then touches nothing more for 1 ms.
/// `pause` says which children rest for 5 ms before which of these.
fn loading_by_ptrace(pause: impl Fn(u64) -> Option<u64>) -> Recording {
    loading_after(0, pause)
}

/// The same, with so much time, ns, from the fork until the program is executed.
fn loading_after(late: u64, pause: impl Fn(u64) -> Option<u64>) -> Recording {
    const LOADS: u64 = 8;
    let mut traced = Traced::new(Mode::Each);
    for number in 0..50 {
        let from = traced.now;
        let child = traced.process(Some(0), "/usr/bin/sign", MS);
        traced.call(CLONE, None, i64::from(child) + 100, 50 * US).time_ns = from;
        traced.now += late;
        traced.tables.processes[child as usize].exec_ns = Some(traced.now);
        for load in 0..LOADS {
            traced.now += if pause(number) == Some(load) { 5 * MS } else { 100 * US };
            traced.call(MMAP, None, 1, 10 * US).thread = child;
        }
        traced.now += MS;
        traced.tables.processes[child as usize].end_ns = Some(traced.now);
    }
    let mut recording = traced.recording(60 * MS);
    recording.about.tracer = Some(Tracer::Ptrace);
    recording
}

#[test]
fn by_ptrace_a_pause_that_most_children_have_at_one_place_is_work_and_any_other_is_the_machine() {
    // 25 of 50 rest before the second, and work from there on; 24 of them do not, or one child in three, somewhere.
    silent(&loading_by_ptrace(|number| number.is_multiple_of(2).then_some(1)));
    for chance in
        [|n: u64| (n.is_multiple_of(2) && n > 0).then_some(1), |n: u64| n.is_multiple_of(3).then_some(n % 8)]
    {
        let finding = only(&loading_by_ptrace(chance), "process-per-operation");
        assert!(finding.cost.gain() > finding.cost.amount() / 2, "{finding:#?}");
    }
}

#[test]
fn by_ptrace_what_passes_before_a_program_is_executed_is_no_work_of_it() {
    let finding = only(&loading_after(5 * MS, |_| None), "process-per-operation");
    assert!(finding.cost.gain() > finding.cost.amount() / 2, "{finding:#?}");
    silent(&loading_after(5 * MS, |_| Some(0)));
}

/// 50 children under ptrace, of which one alone was traced: 100 calls of it set signals, but for one that opens a file, and 20 load libraries, each
/// call 100 µs after the one before, with a pause before the last ten; then it works for `work`. The others live for 2 ms.
fn one_traced(settings: &str, pause: u64, work: u64) -> Recording {
    const OPEN: u32 = 257;
    const SIGNAL: u32 = 13;
    let mut traced = Traced::new(Mode::Each);
    let file = traced.file(settings, "file", 100);
    for number in 0..50 {
        let from = traced.now;
        let child = traced.process(Some(0), "/usr/bin/sign", MS);
        traced.call(CLONE, None, i64::from(child) + 100, 50 * US).time_ns = from;
        if number == 20 {
            for call in 0..120 {
                let number = if call == 20 { OPEN } else { [SIGNAL, MMAP][usize::from(call >= 100)] };
                traced.now += 99 * US + if call == 110 { pause } else { 0 };
                let row = traced.call(number, (number == OPEN).then_some(file), 3, 0);
                (row.thread, row.argument) = (child, 0);
            }
            traced.now += work;
        } else {
            traced.now += 2 * MS;
        }
        traced.tables.processes[child as usize].end_ns = Some(traced.now);
    }
    let mut recording = traced.recording(60 * MS);
    recording.about.tracer = Some(Tracer::Ptrace);
    recording.about.traced_share = 0.01;
    // A call of 60 µs on average, here it takes 100; and 0.1 ms a process.
    let (calls, threads) = (recording.tables.syscalls.len(), recording.tables.threads.len());
    let of_calls = calls as u64 * 60 * US;
    recording.about.tracing_calls_ns = Some(of_calls);
    recording.about.tracing_wall_ns = of_calls + threads as u64 * 100 * US;
    recording
}

#[test]
fn by_ptrace_one_child_that_was_traced_stands_for_the_others() {
    let finding = only(&one_traced("/etc/settings", 0, 0), "process-per-operation");
    let value = |name: &str| finding.facts.iter().find(|fact| fact.name == name).map(|fact| fact.value);
    let (each, start_up) = (value("time of each").expect("known"), value("start-up of each").expect("known"));
    assert!((1.5e6..2.2e6).contains(&each) && start_up <= each, "{finding:#?}");
    // It does most of its work behind: what it loads is no start-up of all.
    silent(&one_traced("/etc/settings", 0, 60 * MS));
    // A pause of one turn on the CPU is the machine's, a longer one is work.
    only(&one_traced("/etc/settings", 4 * MS, 0), "process-per-operation");
    silent(&one_traced("/etc/settings", 60 * MS, 0));
    // What it opens of its own is its input.
    silent(&one_traced("/home/user/letter", 0, 0));
}

/// 60 children under ptrace that live for 2 ms each, of which the first 12 were traced: they load for 1.6 ms. `long` of these work for 50 ms more. A second process
/// of the same program has 60 children as well, none of which was traced, that live for so long.
fn some_traced(long: u32, second_lives: u64) -> Recording {
    let mut traced = Traced::new(Mode::Each);
    let second = traced.process(None, "/bin/program", 0);
    for number in 0..120 {
        let from = traced.now;
        let parent = if number < 60 { 0 } else { second };
        let child = traced.process(Some(parent), "/usr/bin/sign", 2 * MS);
        let row = traced.call(CLONE, None, i64::from(child) + 100, 50 * US);
        (row.time_ns, row.thread) = (from, parent);
        for _ in 0..16 * u32::from(number < 12) {
            let at = traced.now;
            traced.call(MMAP, None, 0, US).thread = child;
            traced.now = at + 100 * US;
        }
        let lives = if number < 60 { 2 * MS } else { second_lives };
        traced.now = from + if number < long { 52 * MS } else { lives };
        traced.tables.processes[child as usize].end_ns = Some(traced.now);
    }
    let mut recording = traced.recording(300 * MS);
    recording.about.tracer = Some(Tracer::Ptrace);
    recording.about.traced_share = 0.1;
    recording.about.tracing_calls_ns = Some(0);
    recording
}

#[test]
fn by_ptrace_children_of_one_process_tell_what_those_of_another_do() {
    let of_both = |second_lives: u64| {
        let finding = only(&some_traced(0, second_lives), "process-per-operation");
        finding.explanation.iter().any(|said| said.contains("one of 2 processes that do the same"))
    };
    assert!(of_both(2 * MS) && of_both(8 * MS));
    // What takes many times as long does something else.
    assert!(!of_both(9 * MS));
}

#[test]
fn by_ptrace_a_child_that_does_something_else_tells_nothing_of_the_others() {
    for long in [0, 1] {
        let finding = only(&some_traced(long, 2 * MS), "process-per-operation");
        let start_up =
            finding.facts.iter().find(|fact| fact.name == "start-up of each").expect("known").value;
        assert!((1.4e6..2e6).contains(&start_up), "{finding:#?}");
    }
    // Where most work for long what they take is work.
    silent(&some_traced(12, 2 * MS));
}

/// 50 children under ptrace of which no call was traced. Each executes its program after `forked`, and lives on for 4 ms; so many of its samples, of which there is one
/// for each ms, are in `main`. `known`: their fork was traced.
fn none_traced(forked: u64, in_main: u64, known: bool) -> Recording {
    const LOADER: u32 = 4;
    let mut traced = Traced::new(Mode::Each);
    let (function, location, stack, kind) = (LOADER, LOADER, LOADER, "native".to_owned());
    let (name, module, address) = ("_dl_relocate_object".to_owned(), Some(1), 0x9000);
    let tables = &mut traced.tables;
    tables.functions.push(Function { function, name, module, file: None, line: None, address });
    tables.locations.push(Location { location, module, address, kind: kind.clone() });
    tables.frames.push(Frame { location, depth: 0, function, file: None, line: None, kind });
    tables.stacks.push(Stack { stack, parent: None, location });
    traced.call(OPEN, None, -2, 10 * US);
    for _ in 0..50 {
        let from = traced.now;
        let child = traced.process(Some(0), "/usr/bin/sign", 4 * MS);
        if known {
            traced.call(CLONE, None, i64::from(child) + 100, 50 * US).time_ns = from;
        }
        traced.tables.processes[child as usize].exec_ns = Some(from + forked);
        traced.now = from + forked;
        for sample in 0..4 {
            traced.compute(if sample < in_main { OTHER } else { LOADER }, MS);
            traced.tables.samples.last_mut().expect("just pushed").thread = child;
        }
        traced.tables.processes[child as usize].end_ns = Some(traced.now);
    }
    let mut recording = traced.recording(200 * MS);
    recording.about.tracer = Some(Tracer::Ptrace);
    recording.about.traced_share = 0.01;
    recording.about.tracing_calls_ns = Some(0);
    recording
}

#[test]
fn by_ptrace_where_no_child_was_traced_it_has_started_when_main_begins() {
    let finding = only(&none_traced(MS, 1, true), "process-per-operation");
    // 1 ms until its program is executed, and three of four after that.
    assert!(finding.explanation[0].contains("4.0 ms (80 %) was start-up"), "{finding:#?}");
    assert_eq!((finding.cost.amount(), finding.cost.gain()), (250 * MS, 200 * MS));
    silent(&none_traced(MS, 3, true));
    only(&none_traced(3 * MS, 3, true), "process-per-operation");
    // Without names nothing is known of what comes before.
    silent(&none_traced(MS, 0, true));
    // Code of the program itself is no starting up, though no `main` is around it: a language may have stacks of its own.
    let mut own = none_traced(MS, 1, true);
    let tables = &mut own.tables;
    tables.modules.push(Module { module: 2, path: "/usr/bin/sign".into(), ..tables.modules[1].clone() });
    tables.locations[4].module = Some(2);
    silent(&own);
    // Who used little of the CPU did not start up all the time: of 5 ms 0.8, three times, are less than half.
    let used = |each: u64| {
        let mut recording = none_traced(MS, 1, true);
        recording.tables.processes.iter_mut().skip(1).for_each(|process| process.cpu_ns = Some(each));
        recording
    };
    silent(&used(800 * US));
    only(&used(850 * US), "process-per-operation");
}

#[test]
fn by_ptrace_who_starts_them_is_known_from_samples() {
    let place = |spawning: usize| {
        let mut recording = none_traced(MS, 1, false);
        let tables = &mut recording.tables;
        // In place of the C library's function that reads.
        tables.functions[2].name = "posix_spawn".to_owned();
        let sample = tables.samples[0].clone();
        let spawns = Sample { thread: 0, stack: Some(crate::traced::WORK), ..sample };
        tables.samples.splice(0..0, std::iter::repeat_n(spawns, spawning));
        only(&recording, "process-per-operation").place.frame.function
    };
    // The call that was traced counts as well.
    assert_eq!((place(4).as_str(), place(3).as_str()), ("work", "program"));
}

/// So many children that execute nothing and work for so long each, of a process that copies itself for so long in all. Of 1 s of CPU time the rest is the
/// parent's own work.
fn forked(times: u32, copying: u64, working: u64) -> Traced {
    let mut traced = Traced::new(Mode::Each);
    // In place of the C library's function that reads.
    (traced.tables.functions[2].name, traced.tables.functions[2].module) = ("kernel_clone".to_owned(), None);
    (traced.tables.locations[2].kind, traced.tables.locations[2].module) = ("kernel".to_owned(), None);
    traced.compute(WORK, copying);
    traced.compute(OTHER, 1_000 * MS - copying - working);
    for number in 0..times {
        let child = traced.process(Some(0), "/bin/program", 0);
        traced.call(CLONE, None, i64::from(child) + 100, 50 * US);
        let from = traced.now;
        let share = |number: u32| working / MS * u64::from(number) / u64::from(times) * MS;
        traced.compute(OTHER, share(number + 1) - share(number));
        let samples = traced.tables.samples.iter_mut();
        samples.filter(|sample| sample.time_ns >= from).for_each(|sample| sample.thread = child);
        let row = &mut traced.tables.processes[child as usize];
        (row.exec_ns, row.end_ns) = (None, Some(traced.now));
    }
    traced
}

#[test]
fn a_process_that_is_copied_for_each_operation_is_told_with_what_copying_takes() {
    let finding = only(&forked(20, 400 * MS, 300 * MS).recording(1_000 * MS), "process-per-operation");
    assert_eq!((finding.place.frame.function.as_str(), finding.cost.basis()), ("work", Basis::Cpu));
    assert_eq!(finding.cost.gain(), 400 * MS);
    let said = finding.explanation.join("\n");
    assert!(said.contains("forked 20 children from work (program.c:11) that executed no program"), "{said}");
    assert!(said.contains("each time 20 ms went into copying the process"), "{said}");
}

#[test]
fn few_children_or_such_as_work_for_longer_than_copying_takes_are_left_alone() {
    only(&forked(10, 400 * MS, 0).recording(1_000 * MS), "process-per-operation");
    silent(&forked(9, 400 * MS, 0).recording(1_000 * MS));
    only(&forked(20, 300 * MS, 290 * MS).recording(1_000 * MS), "process-per-operation");
    silent(&forked(20, 300 * MS, 310 * MS).recording(1_000 * MS));
    // A tenth of the CPU time.
    only(&forked(20, 110 * MS, 0).recording(1_000 * MS), "process-per-operation");
    silent(&forked(20, 90 * MS, 0).recording(1_000 * MS));
    // Freeing what the children had of their own is part of their end.
    let ending = |copying: u64, ending: u64| {
        let mut recording = forked(20, copying, ending).recording(1_000 * MS);
        let function = &mut recording.tables.functions[3];
        (function.name, function.module) = ("do_exit".to_owned(), None);
        recording
    };
    assert_eq!(only(&ending(300 * MS, 290 * MS), "process-per-operation").cost.gain(), 590 * MS);
    silent(&ending(300 * MS, 310 * MS));
    // It may be threads that took the time, or children that execute a program.
    let with = |threads: u32, executed: u32| {
        let mut traced = forked(20, 400 * MS, 0);
        traced.threads(threads);
        for _ in 0..executed {
            traced.process(Some(0), "/bin/tool", 0);
        }
        traced.recording(1_000 * MS)
    };
    only(&with(1, 2), "process-per-operation");
    silent(&with(3, 0));
    silent(&with(0, 3));
}

#[test]
fn children_side_by_side_count_in_elapsed_time() {
    let traced = children(50, 80 * MS, 20 * MS, true);
    let finding = only(&traced.recording(4_000 * MS), "process-per-operation");
    assert!((99 * MS..=101 * MS).contains(&finding.cost.amount()), "{}", finding.cost.amount());
    assert!((79 * MS..=81 * MS).contains(&finding.cost.gain()), "{}", finding.cost.gain());
}

#[test]
fn children_of_a_long_run_are_silent() {
    let mut traced = children(50, 8 * MS, 2 * MS, false);
    traced.compute(OTHER, 4_000 * MS);
    silent(&traced.recording(4_300 * MS));
}

#[test]
fn what_a_helper_behind_a_socket_took_is_told_or_that_it_is_not_known() {
    let with_helper = |inside: bool| {
        let mut traced = children(50, 8 * MS, 2 * MS, false);
        let address = traced.file("unix:/run/agent", "address", 0);
        let helper = traced.process(Some(0), "/usr/bin/agent", 77 * MS);
        for child in 1..=50 {
            let start = traced.tables.processes[child].start_ns;
            let socket = traced.file("", "socket", 0);
            traced.call(CONNECT, Some(address), 0, 5 * US).thread = child as u32;
            let row = traced.sleep(READ, Some(socket), 10, 2 * MS);
            (row.thread, row.time_ns, row.end_ns) = (child as u32, start + MS, start + 3 * MS);
            let waker = inside.then_some(helper);
            let (time_ns, duration_ns) = (start + MS, 2 * MS);
            traced.tables.waits.push(slowpath_recording::tables::Wait {
                time_ns,
                duration_ns,
                thread: child as u32,
                number: READ,
                file: Some(socket),
                stack: None,
                waker,
                waker_stack: None,
            });
        }
        traced.tables.syscalls.sort_by_key(|row| row.time_ns);
        only(&traced.recording(300 * MS), "process-per-operation").explanation.join("\n")
    };
    let said = with_helper(true);
    assert!(
        said.contains("each run also waited 2.0 ms for agent at unix:/run/agent, which used 77 ms"),
        "{said}"
    );
    let said = with_helper(false);
    assert!(said.contains("outside this recording; its CPU time is not included"), "{said}");
}
