//! Bytes that are moved a few at a time, on synthetic recordings, at the thresholds of their cause, with calls recorded one by one and added up.

use crate::traced::{BOTH, MS, Mode, Traced, US, WORK, only, silent};
use slowpath_diagnose::diagnose;
use slowpath_diagnose::findings::{Basis, Confidence};
use slowpath_recording::Recording;
use slowpath_recording::about::{Counter, Tracer};
use slowpath_recording::tables::{Frame, Function, Location, Stack};

const READ: u32 = 0;
const WRITE: u32 = 1;
const SEEK: u32 = 8;

/// `calls` writes or reads of `bytes` each, of 10 µs each.
fn tiny(mode: Mode, number: u32, calls: u32, bytes: i64, kind: &str, cpu_ms: u64) -> Recording {
    let mut traced = Traced::new(mode);
    let file = traced.file("/tmp/out", kind, 0);
    for _ in 0..calls {
        traced.call(number, Some(file), bytes, 10 * US);
    }
    traced.recording(cpu_ms * MS)
}

#[test]
fn tiny_writes_and_reads_are_told() {
    for mode in BOTH {
        let finding = only(&tiny(mode, WRITE, 10_000, 20, "file", 200), "small-io");
        assert_eq!((finding.title.as_str(), finding.cost.basis()), ("tiny writes", Basis::Cpu));
        assert_eq!(finding.confidence, Confidence::Certain);
        assert!(
            finding.explanation[0]
                .starts_with("10,000 writes to /tmp/out from work (program.c:11), 20 bytes each")
        );
        let finding = only(&tiny(mode, READ, 10_000, 1, "pipe", 200), "small-io");
        assert_eq!((finding.title.as_str(), finding.confidence), ("tiny reads", Confidence::Likely));
    }
}

#[test]
fn tiny_io_counts_from_a_thousand_calls_of_few_bytes_and_a_twentieth_of_the_time_on() {
    for mode in BOTH {
        silent(&tiny(mode, WRITE, 999, 20, "file", 100));
        only(&tiny(mode, WRITE, 1_000, 20, "file", 100), "small-io");
        silent(&tiny(mode, WRITE, 10_000, 513, "pipe", 200));
        only(&tiny(mode, WRITE, 10_000, 512, "pipe", 200), "small-io");
        silent(&tiny(mode, WRITE, 10_000, 2_049, "file", 200));
        let small = only(&tiny(mode, WRITE, 10_000, 2_048, "file", 200), "small-io");
        let tiny_ones = only(&tiny(mode, WRITE, 10_000, 512, "file", 200), "small-io");
        assert_eq!([&small.title, &tiny_ones.title], ["small writes", "tiny writes"]);
        // The bytes must be moved, 0.3 ns each, and of the rest 313 calls of 10,000 are needed.
        let kept = small.cost.amount() - small.cost.gain();
        let expected = 6.144e6 + (small.cost.amount() as f64 - 6.144e6) * 0.0313;
        assert!((kept as f64 / expected - 1.0).abs() < 0.01, "{kept}");
        silent(&tiny(mode, WRITE, 10_000, 20, "file", 2_100));
        only(&tiny(mode, WRITE, 10_000, 20, "file", 1_900), "small-io");
    }
}

#[test]
fn small_messages_to_terminals_and_sockets_and_big_blocks_are_silent() {
    for mode in BOTH {
        silent(&tiny(mode, WRITE, 10_000, 20, "terminal", 200));
        silent(&tiny(mode, WRITE, 10_000, 20, "socket", 200));
        silent(&tiny(mode, READ, 10_000, 65_536, "file", 200));
    }
}

/// Reads of `asked` bytes each from a socket, which take 10 µs and sleep for `asleep_ns` of that; then one that reads `rest` bytes.
fn from_socket(mode: Mode, calls: u32, asked: u64, come: i64, asleep_ns: u64, rest: i64) -> Recording {
    const RECEIVE: u32 = 45;
    let mut traced = Traced::new(mode);
    let file = traced.file("", "socket", 0);
    for _ in 0..calls {
        let row = traced.call(RECEIVE, Some(file), come, 10 * US);
        (row.argument, row.blocked_ns) = (asked, asleep_ns);
    }
    let row = traced.call(RECEIVE, Some(file), rest, 10 * US);
    (row.argument, row.stack) = (1 << 20, Some(crate::traced::OTHER));
    traced.recording(100 * MS)
}

#[test]
fn reads_of_a_few_bytes_from_a_socket_that_has_more_are_reported() {
    for mode in BOTH {
        let finding = only(&from_socket(mode, 10_000, 1, 1, 0, 0), "small-io");
        assert_eq!((finding.title.as_str(), finding.confidence), ("tiny reads", Confidence::Likely));
        only(&from_socket(mode, 1_000, 64, 64, 0, 0), "small-io");
        silent(&from_socket(mode, 999, 64, 64, 0, 0));
        silent(&from_socket(mode, 10_000, 65, 65, 0, 0));
        // Less came than was asked for: that was all.
        only(&from_socket(mode, 10_000, 60, 54, 0, 0), "small-io");
        silent(&from_socket(mode, 10_000, 60, 53, 0, 0));
        // Each waits until something comes.
        only(&from_socket(mode, 10_000, 1, 1, 900, 0), "small-io");
        silent(&from_socket(mode, 10_000, 1, 1, 1_100, 0));
        // The heads of messages, whose rest is read as a whole: in another place, or in the same one.
        only(&from_socket(mode, 10_000, 8, 8, 0, 79_000), "small-io");
        silent(&from_socket(mode, 10_000, 8, 8, 0, 81_000));
    }
}

#[test]
fn random_numbers_that_are_asked_for_byte_by_byte_are_reported() {
    const RANDOM: u32 = 318;
    let asked = |calls, bytes: i64| {
        let mut traced = Traced::new(Mode::Each);
        for _ in 0..calls {
            traced.call(RANDOM, None, bytes, 10 * US).bytes = bytes as u64;
        }
        traced.recording(100 * MS)
    };
    let finding = only(&asked(1_000, 1), "small-io");
    assert!(finding.explanation[0].contains("reads from the kernel's random numbers"), "{finding:#?}");
    silent(&asked(999, 1));
    only(&asked(1_000, 512), "small-io");
    silent(&asked(1_000, 513));
}

#[test]
fn small_reads_at_places_that_are_sought_are_silent() {
    for mode in BOTH {
        let mut traced = Traced::new(mode);
        let file = traced.file("/data/index", "file", 1 << 30);
        for _ in 0..10_000 {
            traced.call(SEEK, Some(file), 0, US);
            traced.call(READ, Some(file), 100, 10 * US);
        }
        silent(&traced.recording(200 * MS));
    }
}

/// Reads of 4 bytes, each after a seek by so many bytes.
fn seeking(mode: Mode, by: i64) -> Recording {
    let mut traced = Traced::new(mode);
    let file = traced.file("/data/archive", "file", 1 << 30);
    for call in 0..10_000 {
        traced.call(SEEK, Some(file), (1 << 40) - call * by, US);
        traced.call(READ, Some(file), 4, 10 * US);
    }
    traced.recording(200 * MS)
}

#[test]
fn small_reads_with_seeks_that_stay_near_are_told_where_the_places_are_known() {
    only(&seeking(Mode::Each, 1), "small-io");
    only(&seeking(Mode::Each, 4_096), "small-io");
    // What the seeks take, 10 of 110 ms, would go as well.
    let finding = only(&seeking(Mode::Each, 1), "small-io");
    assert_eq!(finding.cost.amount(), 110 * MS);
    assert!(finding.cost.gain() > 109 * MS && finding.advice.contains("into memory at once"));
    // A block would hold no more than one of them.
    silent(&seeking(Mode::Each, 65_536));
    silent(&seeking(Mode::Each, 65_537));
    silent(&seeking(Mode::Each, 0));
    silent(&seeking(Mode::AddedUp, 1));
}

#[test]
fn files_of_which_few_seeks_are_known_are_judged_together() {
    // Of each of so many files three seeks are recorded one by one, and 2,000 are added up.
    let reading = |files: usize, by: i64| {
        let mut traced = Traced::new(Mode::Each);
        for number in 0..files {
            let file = traced.file(&format!("/data/{number}"), "file", 1 << 30);
            for call in 0..3 {
                traced.call(SEEK, Some(file), (1 << 40) - call * by, US);
            }
            traced.call(READ, Some(file), 4, 10 * US);
            traced.call(SEEK, Some(file), 1 << 30, US);
            let rows = &mut traced.tables.syscalls;
            let all = rows.len();
            for row in &mut rows[all - 2..] {
                (row.count, row.bytes) = (2_000, row.bytes * 2_000);
                row.duration_ns *= 2_000;
            }
        }
        traced.recording(files as u64 * 40 * MS)
    };
    only(&reading(25, 4_096), "small-io");
    silent(&reading(24, 4_096));
    silent(&reading(25, 1 << 20));
}

/// Calls of 4 bytes at places so far from each other.
fn at_places(mode: Mode, number: u32, by: u64) -> Recording {
    at_places_in(mode, number, |call| call * by)
}

fn at_places_in(mode: Mode, number: u32, place: impl Fn(u64) -> u64) -> Recording {
    let mut traced = Traced::new(mode);
    let file = traced.file("/data/archive", "file", 1 << 30);
    for call in 0..10_000 {
        traced.call(number, Some(file), 4, 10 * US).argument = place(call);
    }
    traced.recording(200 * MS)
}

#[test]
fn small_calls_that_name_their_place_are_reported_where_the_next_place_is_near() {
    const AT: [(u32, &str); 6] = [
        (17, "tiny reads"),
        (295, "tiny reads"),
        (327, "tiny reads"),
        (18, "tiny writes"),
        (296, "tiny writes"),
        (328, "tiny writes"),
    ];
    for (number, title) in AT {
        assert_eq!(only(&at_places(Mode::Each, number, 4), "small-io").title, title);
        only(&at_places(Mode::Each, number, 4_096), "small-io");
        // A block would hold no more than one of them.
        silent(&at_places(Mode::Each, number, 65_536));
        silent(&at_places(Mode::Each, number, 65_537));
        // Backwards: reads of a table from its end; writes that go back to the head of the file.
        let back = at_places_in(Mode::Each, number, |call| (10_000 - call) * 4);
        assert_eq!(diagnose(&back).findings.len(), usize::from(title == "tiny reads"), "{number}");
        // The same place again is no sequence.
        silent(&at_places(Mode::Each, number, 0));
        silent(&at_places(Mode::AddedUp, number, 4));
    }
}

#[test]
fn a_pipe_that_refuses_to_be_sought_in_is_read_in_sequence() {
    for mode in BOTH {
        let mut traced = Traced::new(mode);
        let pipe = traced.file("", "pipe", 0);
        for _ in 0..10_000 {
            traced.call(SEEK, Some(pipe), -29, US); // ESPIPE
            traced.call(READ, Some(pipe), 1, 10 * US);
        }
        only(&traced.recording(200 * MS), "small-io");
    }
}

#[test]
fn reads_of_a_tenth_of_a_small_file_are_not_tiny() {
    let reads = |size: u64| {
        let mut traced = Traced::new(Mode::AddedUp);
        let file = traced.file("/etc/small", "file", size);
        for _ in 0..10_000 {
            traced.call(READ, Some(file), 20, 10 * US);
        }
        traced.recording(200 * MS)
    };
    silent(&reads(200));
    only(&reads(201), "small-io");
}

#[test]
fn by_ptrace_reads_from_a_socket_do_not_wait_if_the_thread_hardly_ever_did() {
    for mode in BOTH {
        let with = |cpu_ns: Option<u64>| {
            let mut recording = from_socket(mode, 10_000, 1, 1, 0, 0);
            recording.about.tracer = Some(Tracer::Ptrace);
            let thread = &mut recording.tables.threads[0];
            thread.cpu_ns =
                cpu_ns.map(|off| recording.about.start_ns + recording.about.wall_ns - thread.start_ns - off);
            recording
        };
        // 10,000 reads, of which one in five may have slept for 5 µs.
        only(&with(Some(10 * MS)), "small-io");
        silent(&with(Some(10 * MS + 1)));
        silent(&with(None));
    }
}

#[test]
fn one_place_may_read_single_bytes_and_bodies() {
    const RECEIVE: u32 = 45;
    for mode in BOTH {
        let with = |bodies: u32| {
            let mut traced = Traced::new(mode);
            let file = traced.file("", "socket", 0);
            for at in 0..10_000 {
                let body = at < bodies;
                let row = traced.call(RECEIVE, Some(file), if body { 4_096 } else { 1 }, 10 * US);
                row.argument = if body { 4_096 } else { 1 };
            }
            traced.recording(100 * MS)
        };
        only(&with(0), "small-io");
        // Each of two bodies is read with a head: most of the bytes come in bodies.
        silent(&with(5_000));
        // Of calls that were added up the sizes are not known.
        let few = with(2);
        match mode {
            Mode::Each => drop(only(&few, "small-io")),
            Mode::AddedUp => silent(&few),
        }
    }
}

/// Sends of 20 bytes each on one connection, of 10 µs each and `pause_us` apart, in a row of `in_a_row`, behind which something is received; `stream`: as a sample
/// in the kernel shows.
fn sends(mode: Mode, calls: u32, in_a_row: u32, pause_us: u64, bytes: i64, stream: bool) -> Recording {
    const SEND: u32 = 44;
    const RECEIVE: u32 = 45;
    let mut traced = Traced::new(mode);
    let (function, location, stack) = (4, 4, 4);
    let (address, kind) = (1 << 63, "kernel".to_owned());
    let name = if stream { "tcp_sendmsg_locked" } else { "udp_sendmsg" }.to_owned();
    let tables = &mut traced.tables;
    tables.functions.push(Function { function, name, module: None, file: None, line: None, address });
    tables.locations.push(Location { location, module: None, address, kind: kind.clone() });
    tables.frames.push(Frame { location, depth: 0, function, file: None, line: None, kind });
    tables.stacks.push(Stack { stack, parent: Some(WORK), location });
    let file = traced.file("", "socket", 0);
    traced.compute(stack, 2 * MS);
    for call in 1..=calls {
        traced.call(SEND, Some(file), bytes, 10 * US);
        traced.now += pause_us * US;
        if call % in_a_row == 0 {
            traced.call(RECEIVE, Some(file), 8_000, 10 * US).stack = Some(crate::traced::OTHER);
        }
    }
    traced.recording(100 * MS)
}

#[test]
fn small_pieces_sent_in_a_row_on_a_stream_are_reported() {
    for mode in BOTH {
        let finding = only(&sends(mode, 10_000, 100, 0, 20, true), "small-io");
        assert_eq!((finding.title.as_str(), finding.confidence), ("tiny writes", Confidence::Likely));
        assert!(
            finding.explanation[0].starts_with("10,000 writes to a connection"),
            "{:?}",
            finding.explanation
        );
        assert!(finding.advice.contains("one call"), "{}", finding.advice);
        silent(&sends(mode, 10_000, 100, 0, 20, false));
        only(&sends(mode, 10_000, 100, 0, 512, true), "small-io");
        silent(&sends(mode, 10_000, 100, 0, 513, true));
        only(&sends(mode, 1_000, 100, 0, 20, true), "small-io");
        silent(&sends(mode, 999, 100, 0, 20, true));
    }
}

#[test]
fn sends_that_are_answered_or_come_now_and_then_are_silent() {
    for mode in BOTH {
        only(&sends(mode, 10_000, 8, 0, 20, true), "small-io");
        silent(&sends(mode, 10_000, 7, 0, 20, true));
        // 10 of 51 µs, and of 49.
        silent(&sends(mode, 10_000, 100, 41, 20, true));
        only(&sends(mode, 10_000, 100, 37, 20, true), "small-io");
    }
}

#[test]
fn what_the_library_does_around_the_calls_is_saved_as_well_unless_it_makes_text() {
    let through = |name: &str, calls: u32| {
        let mut traced = Traced::new(Mode::Each);
        let file = traced.file("/tmp/out", "file", 0);
        for _ in 0..calls {
            traced.call(WRITE, Some(file), 20, 10 * US);
        }
        traced.compute(WORK, 150 * MS);
        traced.tables.functions[2].name = name.to_owned();
        traced.recording(200 * MS)
    };
    let with = only(&through("os.(*File).Write", 10_000), "small-io");
    assert_eq!(with.cost.amount(), 150 * MS);
    assert!(with.explanation[1].contains("100 ms in the kernel, and 150 ms with the library's"), "{with:#?}");
    let formatted = only(&through("compress/gzip.(*Writer).Write", 10_000), "small-io");
    assert_eq!(formatted.cost.amount(), 100 * MS);
    // Calls that take less than a twentieth are not told because of what surrounds them.
    let few = |calls: u32| {
        let mut recording = through("os.(*File).Write", calls);
        recording.about.user_ns += 50 * MS;
        recording
    };
    silent(&few(1_000));
}

#[test]
fn where_samples_are_of_user_code_alone_the_time_of_the_calls_is_added() {
    let cost = |counter: Option<Counter>| {
        let mut traced = Traced::new(Mode::Each);
        let file = traced.file("/tmp/out", "file", 0);
        for _ in 0..10_000 {
            traced.call(WRITE, Some(file), 20, 10 * US);
        }
        traced.compute(WORK, 50 * MS);
        traced.tables.functions[2].name = "os.(*File).Write".to_owned();
        let mut recording = traced.recording(200 * MS);
        (recording.about.tracer, recording.about.counter) = (Some(Tracer::Ptrace), counter);
        only(&recording, "small-io").cost.amount() / MS
    };
    // Breakpoints are set where samples are by perf; without perf they are of the tracer's stops.
    assert_eq!((cost(Some(Counter::Breakpoints)), cost(None)), (150, 100));
}
