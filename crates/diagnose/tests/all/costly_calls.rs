//! Costly helpers that are called for every item, on synthetic recordings, at the thresholds of their cause.

use crate::traced::{MS, Mode, OTHER, Traced, WORK, only, silent};
use slowpath_diagnose::diagnose;
use slowpath_diagnose::findings::{Basis, Confidence, Finding};
use slowpath_recording::Recording;
use slowpath_recording::about::{About, Counter, Tracer};
use slowpath_recording::tables::{Frame, Function, Location, Loop, Stack};

pub(crate) const CAUSE: &str = "costly-call-per-operation";

/// A run of so many ms in a function of a library that `work` calls, and of so many in another.
pub(crate) fn run(library: &str, helper_ms: u64, other_ms: u64) -> Recording {
    let mut traced = Traced::new(Mode::Each);
    traced.tables.functions[WORK as usize].name = library.to_owned();
    traced.compute(WORK, helper_ms * MS);
    traced.compute(OTHER, other_ms * MS);
    let mut recording = traced.recording((helper_ms + other_ms) * MS);
    recording.about.counter = Some(Counter::Bpf);
    recording
}

pub(crate) fn findings(recording: &Recording) -> Vec<Finding> {
    diagnose(recording).findings
}

/// A function that is called from `parent`; its stack.
pub(crate) fn called(recording: &mut Recording, name: &str, module: u32, parent: u32) -> u32 {
    let tables = &mut recording.tables;
    let number = tables.stacks.len() as u32;
    let (address, kind) = (0x1000 + u64::from(number), "native".to_owned());
    let function = Function {
        function: number,
        name: name.into(),
        module: Some(module),
        file: None,
        line: None,
        address,
    };
    tables.functions.push(function);
    tables.locations.push(Location { location: number, module: Some(module), address, kind: kind.clone() });
    tables.frames.push(Frame { location: number, depth: 0, function: number, file: None, line: None, kind });
    tables.stacks.push(Stack { stack: number, parent: Some(parent), location: number });
    number
}

/// Moves the samples of `from` to another stack, so many of them.
pub(crate) fn moved(recording: &mut Recording, from: u32, to: u32, samples: usize) {
    let of_it = recording.tables.samples.iter_mut().filter(|sample| sample.stack == Some(from));
    of_it.take(samples).for_each(|sample| sample.stack = Some(to));
}

/// Puts the samples under a function into so many stretches, with others between them.
fn spread(recording: &mut Recording, function: u32, stretches: usize) {
    let tables = &recording.tables;
    let is_under = |stack: &Option<u32>| {
        let mut at = *stack;
        while let Some(number) = at {
            let one = &tables.stacks[number as usize];
            if one.location == function {
                return true;
            }
            at = one.parent;
        }
        false
    };
    let all = tables.samples.iter().map(|sample| sample.stack);
    let (under, others): (Vec<_>, Vec<_>) = all.partition(is_under);
    let part = |all: &[Option<u32>], at: usize| {
        all[all.len() * at / stretches..all.len() * (at + 1) / stretches].to_vec()
    };
    let order = (0..stretches).flat_map(|at| [part(&under, at), part(&others, at)].concat());
    let order: Vec<Option<u32>> = order.collect();
    recording.tables.samples.iter_mut().zip(order).for_each(|(sample, stack)| sample.stack = stack);
}

#[test]
fn each_kind_is_reported_where_the_program_calls_it() {
    for (helper, kind) in [
        ("backtrace", "stack-trace"),
        ("__dynamic_cast", "type-of-object"),
        ("sem_post", "waking"),
        ("g_async_queue_push", "handing-over"),
        ("runtime.ReadMemStats", "stopped-world"),
    ] {
        let finding = only(&run(helper, 200, 100), CAUSE);
        assert_eq!((finding.cost.basis(), finding.cost.gain()), (Basis::Cpu, 200 * MS), "{helper}");
        assert_eq!((finding.variant, finding.confidence), (kind, Confidence::Likely), "{helper}");
        assert_eq!(finding.place.frame.function, "work", "{helper}");
    }
    for other in ["clock_nanosleep", "memcpy", "pthread_mutex_lock", "gmtime_r", "fgets", "fputs"] {
        silent(&run(other, 200, 100));
    }
}

#[test]
fn where_something_must_take_its_place_not_all_of_the_time_is_a_gain() {
    for (helper, kind, goes) in [
        ("mktime", "calendar", 160),
        ("fread", "small-pieces", 180),
        ("getc", "single-bytes", 160),
        ("rand", "random-numbers", 150),
    ] {
        let finding = only(&run(helper, 200, 100), CAUSE);
        assert_eq!((finding.variant, finding.cost.gain()), (kind, goes * MS), "{helper}");
        assert_eq!(finding.cost.amount(), 200 * MS);
        let says = format!("{:.0} % of this is expected to be saved", goes as f64 / 2.0);
        assert!(finding.explanation.iter().any(|line| line.contains(&says)), "{:?}", finding.explanation);
    }
}

#[test]
fn collecting_what_the_calls_allocate_is_part_of_them() {
    // 100 of 200 ms are spent on memory; another function asks for so many ms' worth; the collector takes 60 ms.
    let reported = |others: usize| {
        let mut recording = run("encoding/binary.Read", 200, 300);
        let own = called(&mut recording, "runtime.mallocgc", 0, WORK);
        moved(&mut recording, WORK, own, 100);
        let other = called(&mut recording, "runtime.mallocgc", 0, OTHER);
        moved(&mut recording, OTHER, other, others);
        let collector = called(&mut recording, "runtime.gcBgMarkWorker", 0, OTHER);
        recording.tables.stacks[collector as usize].parent = None;
        moved(&mut recording, OTHER, collector, 60);
        let finding = only(&recording, CAUSE);
        assert!(finding.explanation.iter().any(|line| line.contains("garbage collection")));
        (finding.cost.amount() / MS, finding.cost.gain() / MS)
    };
    assert_eq!(reported(0), (260, 169));
    assert_eq!(reported(100), (230, 149));
}

#[test]
fn all_of_a_function_counts_that_does_little_else_than_to_look_at_types() {
    // 100 of 800 ms are spent on tags; `columns` around that takes so many by itself, so many in Go's own functions, and so many in one of the program.
    let found = |itself: usize, of_go: usize, own: usize, stretches: usize| {
        let mut recording = run("read_file", 200, 600);
        recording.tables.functions[OTHER as usize].name = "main.columns".to_owned();
        for (name, ms) in [("reflect.StructTag.Get", 100), ("strings.Split", of_go), ("main.price", own)] {
            let stack = called(&mut recording, name, 0, OTHER);
            moved(&mut recording, OTHER, stack, ms);
        }
        moved(&mut recording, OTHER, WORK, 500 - itself - of_go - own);
        spread(&mut recording, OTHER, stretches);
        findings(&recording).first().map(|finding| {
            assert_eq!(
                (finding.variant, finding.place.frame.function.as_str()),
                ("type-description", "main.columns")
            );
            finding.cost.gain() / MS
        })
    };
    assert_eq!(found(100, 100, 0, 16), Some(300));
    // What is done at the start alone is not done again and again.
    assert_eq!(found(100, 100, 0, 1), None);
    // A fifth of it must be for types, and hardly anything for something else: else only these calls count.
    assert_eq!(found(200, 200, 0, 16), Some(500));
    assert_eq!(found(201, 200, 0, 16), None);
    assert_eq!(found(50, 50, 20, 16), Some(200));
    assert_eq!(found(50, 50, 21, 16), None);
}

#[test]
fn cycles_of_the_collector_that_the_program_asks_for_are_reported_with_what_its_threads_do_in_them() {
    // 100 ms under runtime.GC: so many of them begin cycles, and so many sweep, as ten and twenty for memory that is asked for, and fifty of its own thread that sweeps. The collector's threads take 200 ms.
    let run = |begin: usize, sweep: usize| {
        let mut recording = run("runtime.GC", 100, 300);
        let asks = called(&mut recording, "runtime.mallocgc", 0, OTHER);
        for (from, parent, name, samples) in [
            (WORK, WORK, "runtime.gcStart", begin),
            (WORK, WORK, "runtime.(*sweepLocked).sweep", sweep),
            (OTHER, asks, "runtime.gcStart", 10),
            (OTHER, asks, "runtime.(*sweepLocked).sweep", 20),
        ] {
            let to = called(&mut recording, name, 0, parent);
            moved(&mut recording, from, to, samples);
        }
        for (thread, samples) in [("runtime.gcBgMarkWorker", 150), ("runtime.bgsweep", 50)] {
            let to = called(&mut recording, thread, 0, OTHER);
            recording.tables.stacks[to as usize].parent = None;
            moved(&mut recording, OTHER, to, samples);
        }
        spread(&mut recording, WORK, 8);
        recording
    };
    let cost = |begin, sweep| {
        let finding = only(&run(begin, sweep), CAUSE);
        assert_eq!(finding.variant, "forced-collection");
        finding.cost.amount() / MS
    };
    // What begins cycles tells how many of them are asked for; where it is hardly seen, all that a cycle does; where that is hardly seen too, nothing does.
    assert_eq!(cost(30, 20), 100 + 150);
    assert_eq!(cost(9, 21), 100 + 54);
    assert_eq!(cost(0, 9), 100);
    // One collection of a large heap, or a few, are no habit.
    let mut few = run(30, 20);
    spread(&mut few, WORK, 7);
    silent(&few);
    // Nor does it count what the library of Go asks for.
    let mut recording = run(30, 20);
    let work = recording.tables.functions.iter_mut().filter(|one| one.name == "work");
    work.for_each(|one| one.name = "testing.(*B).runN".to_owned());
    silent(&recording);
    // Without it cycles are the runtime's own, whatever they cost.
    let mut recording = run(30, 20);
    recording.tables.functions[WORK as usize].name = "runtime.mallocgc".to_owned();
    silent(&recording);
}

#[test]
fn what_a_reader_does_under_a_function_that_scans_is_needed() {
    let scanning = |below: &str| {
        let mut recording = run("fmt.Fscan", 200, 100);
        let below = called(&mut recording, below, 0, WORK);
        moved(&mut recording, WORK, below, 150);
        recording
    };
    assert_eq!(only(&scanning("fmt.(*ss).doScan"), CAUSE).cost.gain(), 180 * MS);
    for below in ["compress/gzip.(*Reader).Read", "github.com/x/y.(*Reader).Read", "main.(*reader).Read"] {
        silent(&scanning(below));
    }
}

#[test]
fn where_the_outer_one_does_not_count_an_inner_one_may() {
    // 130 of 200 ms in a function of the program that `fread` calls back, which draws random numbers.
    let mut recording = run("fread", 200, 100);
    let back = called(&mut recording, "decompress", 0, WORK);
    let draws = called(&mut recording, "rand", 1, back);
    moved(&mut recording, WORK, draws, 130);
    let found = findings(&recording);
    let kinds: Vec<&str> = found.iter().map(|one| one.variant).collect();
    assert_eq!((kinds.as_slice(), found[0].cost.amount()), (["random-numbers"].as_slice(), 130 * MS));
}

#[test]
fn streams_that_are_made_all_over_a_program_count_together() {
    let make = "std::__cxx11::basic_istringstream<char, std::char_traits<char>, std::allocator<char> >::basic_istringstream(std::__cxx11::basic_string<char> const&)";
    // A quarter of the time in all, in two functions, each with less.
    let making = |ms: usize| {
        let mut recording = run("getenv", 1, 299);
        let (here, there) = (called(&mut recording, make, 1, 1), called(&mut recording, make, 1, OTHER));
        moved(&mut recording, OTHER, here, ms / 2);
        moved(&mut recording, OTHER, there, ms / 2);
        recording
    };
    let finding = only(&making(76), CAUSE);
    assert_eq!((finding.variant, finding.cost.gain()), ("streams", 76 * MS));
    assert!(finding.explanation[0].contains("in making a std::istringstream"), "{:?}", finding.explanation);
    silent(&making(74));
}

#[test]
fn streams_are_known_by_who_calls() {
    let reading = |caller: &str, ms: usize| {
        let mut recording = run("std::num_get<char>::_M_extract_int<long>(It, It) const", 1, 299);
        recording.tables.functions[WORK as usize].name = caller.to_owned();
        let getc = called(&mut recording, "getc", 1, WORK);
        moved(&mut recording, OTHER, getc, ms);
        recording
    };
    let finding = only(&reading("std::num_get<char>::_M_extract_int<long>(It, It) const", 40), CAUSE);
    assert_eq!((finding.variant, finding.cost.gain()), ("synced-streams", 40 * MS));
    silent(&reading("std::thread::_State_impl<X>::_M_run()", 40));
    silent(&reading("std::num_get<char>::_M_extract_int<long>(It, It) const", 29));
}

#[test]
fn reading_and_copying_large_blocks_is_needed() {
    // Of 200 ms so many are in what `fread` calls.
    let reading = |name: &str, module: u32, kind: &str, ms: usize| {
        let mut recording = run("fread", 200, 100);
        let below = called(&mut recording, name, module, WORK);
        recording.tables.locations[below as usize].kind = kind.to_owned();
        moved(&mut recording, WORK, below, ms);
        recording
    };
    assert_eq!(only(&reading("_IO_file_xsgetn", 1, "native", 150), CAUSE).cost.gain(), 180 * MS);
    assert_eq!(only(&reading("vfs_read", 1, "kernel", 90), CAUSE).cost.gain(), 99 * MS);
    assert_eq!(only(&reading("__memcpy_avx512_unaligned_erms", 1, "native", 90), CAUSE).cost.gain(), 99 * MS);
    // Variants of the library's functions that the processor chooses have no name where there is no debug information.
    assert_eq!(only(&reading("libc.so.6+0x15e3b0", 1, "native", 90), CAUSE).cost.gain(), 99 * MS);
    silent(&reading("libc.so.6+0x15e3b0", 1, "native", 150));
    silent(&reading("__GI___libc_read", 1, "native", 150));
    // A function of the program that is called back, as by fopencookie.
    silent(&reading("decompress", 0, "native", 150));
    silent(&reading("vfs_read", 1, "kernel", 150));
    silent(&reading("__memcpy_avx512_unaligned_erms", 1, "native", 150));
}

#[test]
fn it_takes_a_tenth_a_fifth_or_three_tenths_of_the_time_and_thirty_samples() {
    for (helper, least) in
        [("backtrace", 100), ("g_async_queue_push", 100), ("sem_post", 200), ("mktime", 250), ("fread", 333)]
    {
        only(&run(helper, least, 990 - least), CAUSE);
        silent(&run(helper, least, 1_010 - least));
    }
    only(&run("backtrace", 30, 100), CAUSE);
    silent(&run("backtrace", 29, 100));
}

/// A run of 300 samples, of which those satisfy `is` that are in the clock; and what its loop does.
fn with_clock(is: impl Fn(usize) -> bool, work: &str) -> Recording {
    let mut recording = run("clock_gettime", 1, 299);
    for (at, sample) in recording.tables.samples.iter_mut().enumerate() {
        sample.stack = Some(if is(at) { WORK } else { OTHER });
    }
    // `work`, which is at location 1, has a loop.
    recording.tables.loops.push(Loop {
        loop_number: 0,
        location: 1,
        parent: None,
        ranges: vec![0x110, 0x140],
        work: work.to_owned(),
        chases: None,
        usual: None,
        items: None,
    });
    recording
}

#[test]
fn a_loop_that_waits_for_a_moment_would_not_end_sooner_without_the_clock() {
    let each_second = |at: usize| at.is_multiple_of(2);
    only(&with_clock(each_second, "computes"), CAUSE);
    silent(&with_clock(each_second, "spins"));
    // In rows of four or of five.
    only(&with_clock(|at| at % 8 < 4, "computes"), CAUSE);
    silent(&with_clock(|at| at % 10 < 5, "computes"));
    // 30 % of them in rows, or more.
    only(&with_clock(|at| if at < 45 { true } else { at.is_multiple_of(2) && at < 255 }, "computes"), CAUSE);
    silent(&with_clock(|at| if at < 45 { true } else { at.is_multiple_of(2) && at < 251 }, "computes"));
    // 15 % of the time.
    only(&with_clock(|at| at % 20 < 3 || at == 10, "computes"), CAUSE);
    silent(&with_clock(|at| at % 20 < 3 && at > 0, "computes"));
}

#[test]
fn half_of_little_cpu_time_is_not_much_where_the_program_waits() {
    let mut recording = run("sem_post", 100, 100);
    only(&recording, CAUSE);
    recording.about.wall_ns = 550 * MS;
    silent(&recording);
    // Where all system calls were traced it is known for how long it waited for one, and not for a CPU that others had.
    recording.about.tracer = Some(Tracer::Bpf);
    only(&recording, CAUSE);
    let waited = |blocked_ns: u64| {
        let mut recording = recording.clone();
        let mut traced = Traced::new(Mode::Each);
        traced.call(35, None, 0, blocked_ns).blocked_ns = blocked_ns;
        recording.tables.syscalls = traced.tables.syscalls;
        diagnose(&recording).findings.iter().any(|one| one.cause.slug() == CAUSE)
    };
    // The helper has 100 of 200 ms, and a fifth is asked for.
    assert_eq!([290, 310].map(|ms| waited(ms * MS)), [true, false]);
    // Of several runs, of a program that was attached to, and where too much is missing it is not.
    let with = |change: fn(&mut About)| {
        let mut recording = recording.clone();
        change(&mut recording.about);
        recording
    };
    only(&with(|about| about.wall_ns = 590 * MS), CAUSE);
    silent(&with(|about| about.wall_ns = 610 * MS));
    silent(&with(|about| about.attached = true));
    silent(&with(|about| about.runs = 2));
}

#[test]
fn programs_and_other_libraries_may_have_functions_of_such_names() {
    let with = |name: &str, module: u32, library: &str| {
        let mut recording = run(name, 200, 100);
        recording.tables.functions[WORK as usize].module = Some(module);
        recording.tables.modules[1].path = library.to_owned();
        findings(&recording).len()
    };
    assert_eq!(with("backtrace", 1, "/lib/libc.so.6"), 1);
    assert_eq!(with("g_async_queue_push", 1, "/lib/libglib-2.0.so.0"), 1);
    assert_eq!(with("backtrace", 1, "/lib/libalign.so.2"), 0);
    assert_eq!(with("backtrace", 0, "/lib/libc.so.6"), 0);
    assert_eq!(with("backtrace(Matrix const&)", 0, "/lib/libc.so.6"), 0);
}

#[test]
fn the_clock_that_gos_runtime_reads_is_not_the_programs() {
    let with = |caller: &str| {
        let mut recording = run("clock_gettime", 200, 100);
        let caller = called(&mut recording, caller, 0, 1);
        let reads = called(&mut recording, "clock_gettime", 1, caller);
        recording.tables.samples.iter_mut().enumerate().for_each(|(at, sample)| {
            sample.stack = Some(if at.is_multiple_of(2) { reads } else { OTHER });
        });
        findings(&recording).len()
    };
    assert_eq!((with("main.read"), with("runtime.nanotime1")), (1, 0));
}

#[test]
fn where_loops_are_not_looked_at_a_wait_for_a_moment_is_not_known() {
    let mut recording = with_clock(|at| at.is_multiple_of(2), "computes");
    recording.about.counter = None;
    silent(&recording);
}

#[test]
fn a_helper_that_was_inlined_counts_for_the_function_it_is_in() {
    let mut recording = run("read_file", 200, 100);
    let tables = &mut recording.tables;
    let number = tables.functions.len() as u32;
    let sender = "crossbeam_channel::channel::Sender<T>::send".to_owned();
    tables.functions.push(Function {
        function: number,
        name: sender,
        ..tables.functions[OTHER as usize].clone()
    });
    let at = tables.frames.iter().position(|frame| frame.location == OTHER).expect("a frame");
    let inlined = Frame { function: number, ..tables.frames[at].clone() };
    tables.frames[at].depth = 1;
    tables.frames.insert(at, inlined);
    let finding = only(&recording, CAUSE);
    assert_eq!((finding.place.frame.function.as_str(), finding.cost.gain()), ("other", 100 * MS));
}

#[test]
fn by_ptrace_the_kernels_part_is_known_from_the_system_calls() {
    // 100 of 400 ms in `rand` are seen in samples, and as many are spent in its waits for the lock.
    let found = |tracer: Option<Tracer>, counter: Counter, helper: &str| {
        let mut recording = run(helper, 100, 200);
        let mut traced = Traced::new(Mode::Each);
        for _ in 0..1_000 {
            traced.call(202, None, 0, 100_000);
        }
        recording.tables.syscalls = traced.tables.syscalls;
        recording.tables.syscalls.iter_mut().for_each(|row| row.stack = Some(WORK));
        (recording.about.tracer, recording.about.sys_ns) = (tracer, 100 * MS);
        recording.about.counter = Some(counter);
        findings(&recording).first().map(|finding| (finding.variant, finding.cost.amount() / MS))
    };
    let by_perf = Counter::Breakpoints;
    assert_eq!(found(Some(Tracer::Ptrace), by_perf, "rand"), Some(("random-numbers", 200)));
    // Where the kernel is sampled too, or where stops are the samples, its time is in these, and of reading it does not count.
    assert_eq!(found(Some(Tracer::Bpf), Counter::Bpf, "rand"), None);
    assert_eq!(found(Some(Tracer::Ptrace), Counter::Bpf, "rand"), None);
    assert_eq!(found(Some(Tracer::Ptrace), by_perf, "fread"), None);
}

#[test]
fn a_type_that_the_library_asks_for_is_not_the_programs() {
    let mut recording = run("__dynamic_cast", 200, 100);
    let library = called(&mut recording, "std::use_facet", 1, OTHER);
    let asked = called(&mut recording, "__dynamic_cast", 1, library);
    moved(&mut recording, WORK, asked, 200);
    silent(&recording);
}

#[test]
fn what_another_cause_in_the_same_function_says_is_enough() {
    let with = |thrown: usize| {
        let mut recording = run("backtrace", 200, 300);
        let throws = called(&mut recording, "__cxa_throw", 1, 1);
        moved(&mut recording, OTHER, throws, thrown);
        let mut causes: Vec<String> =
            findings(&recording).iter().map(|one| one.cause.slug().to_owned()).collect();
        causes.sort();
        causes
    };
    assert_eq!(with(100), ["exception-per-operation"]);
    assert_eq!(with(99), [CAUSE, "exception-per-operation"]);
    // Less than that is reported from on says nothing.
    assert_eq!(with(40), [CAUSE]);
}
