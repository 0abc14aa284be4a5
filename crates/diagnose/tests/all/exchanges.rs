//! Exchanges with peers and connections, on synthetic recordings, at the thresholds of their causes.

use crate::traced::{BOTH, MS, Mode, OTHER, Traced, US, WORK, only, silent};
use slowpath_recording::Recording;
use slowpath_recording::about::Tracer;
use slowpath_recording::tables::{File, Park, Process, Syscall, Thread, Wait};

const READ: u32 = 0;
const WRITE: u32 = 1;
const STAT: u32 = 4;
const POLL: u32 = 7;
const CONNECT: u32 = 42;
const ACCEPT: u32 = 43;
const SEND: u32 = 44;
const RECEIVE: u32 = 45;
const SOCKET: u32 = 41;
const CLOSE: u32 = 3;

/// `requests` on a socket from one place, each sent and waited for.
fn asking(
    mode: Mode,
    requests: u32,
    wait: u64,
    other_ms: u64,
    change: impl Fn(&mut Traced, u32),
) -> Recording {
    let mut traced = Traced::new(mode);
    let (address, socket) = (traced.file("10.0.0.1:5432", "address", 0), traced.file("", "socket", 0));
    traced.call(CONNECT, Some(address), 0, 10 * US);
    for request in 0..requests {
        traced.call(SEND, Some(socket), 40, 5 * US);
        traced.sleep(RECEIVE, Some(socket), 200, wait);
        change(&mut traced, socket);
        let _ = request;
    }
    traced.compute(OTHER, other_ms * MS);
    traced.recording(10 * MS + other_ms * MS)
}

#[test]
fn one_question_at_a_time_is_reported_with_half_of_the_wait() {
    for mode in BOTH {
        let finding = only(&asking(mode, 1_000, 200 * US, 0, |_, _| {}), "round-trip-per-operation");
        assert_eq!((finding.cost.amount(), finding.cost.gain()), (200 * MS, 100 * MS), "{mode:?}");
        assert_eq!(finding.place.frame.function, "work");
        assert!(finding.explanation[0].contains("10.0.0.1:5432"), "{:?}", finding.explanation);
    }
}

#[test]
fn a_hundred_questions_count_or_ten_with_slow_answers() {
    only(&asking(Mode::Each, 100, 2 * MS, 0, |_, _| {}), "round-trip-per-operation");
    silent(&asking(Mode::Each, 99, 2 * MS, 0, |_, _| {}));
    only(&asking(Mode::Each, 10, 20 * MS, 0, |_, _| {}), "round-trip-per-operation");
    silent(&asking(Mode::Each, 9, 20 * MS, 0, |_, _| {}));
    silent(&asking(Mode::Each, 90, 19 * MS, 0, |_, _| {}));
}

#[test]
fn half_of_the_wait_must_be_a_tenth_of_the_time() {
    only(&asking(Mode::Each, 1_000, 200 * US, 760, |_, _| {}), "round-trip-per-operation");
    silent(&asking(Mode::Each, 1_000, 200 * US, 820, |_, _| {}));
}

/// Requests that are answered after `wait` ns, each of which takes the kernel so many ns to send and to receive.
fn answered(requests: u32, message: u64, wait: u64, other_ms: u64) -> Recording {
    let mut traced = Traced::new(Mode::Each);
    let (address, socket) = (traced.file("10.0.0.1:5432", "address", 0), traced.file("", "socket", 0));
    traced.call(CONNECT, Some(address), 0, 10 * US);
    for _ in 0..requests {
        traced.call(SEND, Some(socket), 40, message);
        traced.call(RECEIVE, Some(socket), 200, message + wait).blocked_ns = wait;
    }
    let messages = 2 * u64::from(requests) * message;
    traced.compute(OTHER, other_ms * MS);
    traced.recording(messages + other_ms * MS)
}

/// The same, answered at once.
fn talking(requests: u32, message: u64, other_ms: u64) -> Recording {
    answered(requests, message, US, other_ms)
}

#[test]
fn what_the_other_side_does_for_messages_counts_and_what_it_does_besides_does_not() {
    const REQUESTS: u32 = 5_000;
    let answered_by = |own_ms: u64| {
        let mut recording = answered(REQUESTS, 20 * US, 20 * US, 300);
        recording.tables.threads[0].cpu_ns = Some(500 * MS);
        let tables = &mut recording.tables;
        let theirs = tables.processes.len() as u32;
        tables.processes.push(Process {
            process: theirs,
            parent: Some(0),
            pid: 200,
            ..tables.processes[0].clone()
        });
        let messages = 2 * u64::from(REQUESTS) * 10 * US;
        let cpu_ns = Some(messages + own_ms * MS);
        tables.threads.push(Thread {
            thread: theirs,
            process: theirs,
            tid: 200,
            cpu_ns,
            ..tables.threads[0].clone()
        });
        let (mut first, its_end) = (None, tables.files.len() as u32);
        let socket = tables.files.iter().find(|file| file.kind == "socket").expect("a socket").clone();
        tables.files.push(File { file: its_end, ..socket });
        let asked: Vec<Syscall> =
            tables.syscalls.iter().filter(|row| [SEND, RECEIVE].contains(&row.number)).cloned().collect();
        for row in asked {
            let number = if row.number == SEND { RECEIVE } else { SEND };
            let (thread, file, duration_ns) = (theirs, Some(its_end), 10 * US);
            first.get_or_insert(row.time_ns);
            tables.syscalls.push(Syscall {
                thread,
                number,
                file,
                duration_ns,
                blocked_ns: 0,
                stack: None,
                ..row
            });
        }
        tables.waits.push(Wait {
            time_ns: first.expect("a request"),
            duration_ns: 1_000,
            thread: 0,
            number: RECEIVE,
            file: None,
            stack: Some(WORK),
            waker: Some(theirs),
            waker_stack: None,
        });
        only(&recording, "round-trip-per-operation")
    };
    // 200 ms on this side and 100 on the other.
    let finding = answered_by(0);
    assert_eq!(finding.cost.gain(), 300 * MS);
    assert!(finding.explanation[2].contains("300 ms of CPU time on both sides"), "{finding:#?}");
    // What is left of the run when both have done what they do besides.
    assert!(answered_by(100).cost.gain() < answered_by(0).cost.gain());
}

#[test]
fn a_thousand_messages_that_take_a_quarter_of_the_time_count_by_themselves() {
    let finding = only(&talking(5_000, 20 * US, 0), "round-trip-per-operation");
    assert_eq!(finding.cost.gain(), 200 * MS);
    assert!(finding.explanation[1].contains("200 ms of CPU time, which is the gain"), "{finding:#?}");
    only(&talking(1_000, 100 * US, 0), "round-trip-per-operation");
    silent(&talking(999, 100 * US, 0));
    // Of 0.8 s, and a little between the calls.
    only(&talking(5_000, 20 * US, 560), "round-trip-per-operation");
    silent(&talking(5_000, 20 * US, 620));
}

/// 5,000 requests of 40 bytes; the program waits in `poll` for each answer, and reads it then.
fn polling(answer: u64) -> Recording {
    let mut traced = Traced::new(Mode::Each);
    let (address, socket) = (traced.file("10.0.0.1:5432", "address", 0), traced.file("", "socket", 0));
    traced.call(CONNECT, Some(address), 0, 10 * US);
    for _ in 0..5_000 {
        traced.call(SEND, Some(socket), 40, 40 * US);
        traced.sleep(POLL, None, 1, 5 * US);
        traced.call(RECEIVE, Some(socket), answer as i64, 5 * US);
    }
    traced.recording(5_000 * 50 * US)
}

#[test]
fn messages_that_fill_a_packet_do_not_count_by_themselves() {
    let finding = only(&polling(1_408), "round-trip-per-operation");
    assert!(finding.explanation[1].starts_with("a request and its answer were 1,448 bytes on average"));
    silent(&polling(1_409));
}

#[test]
fn streams_are_no_questions() {
    // Two messages out, or two in, for each.
    silent(&asking(Mode::Each, 1_000, 200 * US, 0, |traced, socket| {
        traced.call(SEND, Some(socket), 40, 5 * US);
        traced.call(SEND, Some(socket), 40, 5 * US);
    }));
    silent(&asking(Mode::Each, 1_000, 100 * US, 0, |traced, socket| {
        traced.sleep(RECEIVE, Some(socket), 200, 100 * US);
    }));
}

#[test]
fn a_server_waits_for_questions() {
    let mut recording = asking(Mode::Each, 1_000, 200 * US, 0, |_, _| {});
    recording.tables.syscalls[0].number = ACCEPT;
    silent(&recording);
}

/// Requests on two sockets, each poll of which wakes for one of them.
#[test]
fn polls_count_if_the_answer_is_that_of_the_last_request() {
    let polling = |own: bool| {
        let mut traced = Traced::new(Mode::Each);
        let address = traced.file("10.0.0.1:80", "address", 0);
        let sockets = [traced.file("", "socket", 0), traced.file("", "socket", 0)];
        for number in 0..1_000 {
            if number < 2 {
                traced.call(CONNECT, Some(address), 0, 10 * US);
            }
            traced.call(SEND, Some(sockets[number % 2]), 40, 5 * US);
            traced.sleep(POLL, None, 1, 200 * US);
            let answered = if own { number % 2 } else { (number + 1) % 2 };
            traced.call(RECEIVE, Some(sockets[answered]), 200, 5 * US);
        }
        traced.recording(10 * MS)
    };
    only(&polling(true), "round-trip-per-operation");
    silent(&polling(false)); // they are under way side by side
}

#[test]
fn answers_that_take_more_than_a_second_are_no_answers() {
    only(&asking(Mode::Each, 12, 900 * MS, 0, |_, _| {}), "round-trip-per-operation");
    silent(&asking(Mode::Each, 12, 1_100 * MS, 0, |_, _| {}));
}

/// Threads of one process that ask from one place, each `requests[i]` times over a socket of its own.
fn side_by_side(requests: &[u32]) -> Recording {
    let mut traced = Traced::new(Mode::Each);
    let address = traced.file("10.0.0.1:5432", "address", 0);
    for (thread, requests) in (0u32..).zip(requests) {
        if thread > 0 {
            traced.process(None, "/bin/program", 0);
            traced.tables.threads[thread as usize].process = 0;
        }
        let socket = traced.file("", "socket", 0);
        let begins = traced.now;
        traced.now = MS;
        traced.call(CONNECT, Some(address), 0, 10 * US).thread = thread;
        for _ in 0..*requests {
            traced.call(SEND, Some(socket), 40, 5 * US).thread = thread;
            traced.sleep(RECEIVE, Some(socket), 200, MS).thread = thread;
        }
        traced.now = traced.now.max(begins);
    }
    traced.recording(10 * MS)
}

#[test]
fn threads_that_ask_side_by_side_already_do_what_would_be_advised() {
    silent(&side_by_side(&[300, 150]));
    // One does nearly all of it.
    only(&side_by_side(&[300, 148]), "round-trip-per-operation");
}

#[test]
fn a_display_sends_what_it_sees_fit() {
    let mut recording = asking(Mode::Each, 1_000, 200 * US, 0, |_, _| {});
    recording.tables.files[0].path = "unix:@/tmp/.X11-unix/X0".to_owned();
    silent(&recording);
}

#[test]
fn a_run_takes_as_long_as_its_busiest_thread() {
    let mut recording = asking(Mode::Each, 1_000, 200 * US, 0, |_, _| {});
    let mut busy = recording.tables.threads[0].clone();
    (busy.thread, busy.cpu_ns) = (1, Some(200 * MS));
    recording.tables.threads.push(busy);
    silent(&recording);
}

#[test]
fn one_long_wait_is_no_question_of_many() {
    let mut recording = asking(Mode::Each, 1_000, 200 * US, 0, |_, _| {});
    let row =
        recording.tables.syscalls.iter_mut().rfind(|row| row.number == RECEIVE).expect("there are some");
    row.blocked_ns = 250 * MS;
    silent(&recording);
}

/// Questions through one pipe, answers through another; the helper uses `cpu` ns, stands in line for a CPU for `in_line` ns, and for the rest
/// of the time waits for a disk.
fn helper(asks_first: bool, cpu: u64, in_line: u64) -> Recording {
    let mut traced = Traced::new(Mode::Each);
    traced.process(Some(0), "/bin/helper", cpu);
    traced.tables.threads[1].cpu_ns = Some(cpu);
    let (to, from) = (traced.file("", "pipe", 0), traced.file("", "pipe", 0));
    if !asks_first {
        traced.sleep(READ, Some(from), 20, 100 * US);
    }
    for _ in 0..200 {
        traced.call(WRITE, Some(to), 20, 5 * US);
        let time_ns = traced.now;
        traced.sleep(READ, Some(from), 20, 2 * MS);
        let rows = &mut traced.tables.syscalls;
        let (asked, answered) = (rows.len() - 2, rows.len() - 1);
        let asleep = 2 * MS - 2 * US - (cpu + in_line) / 200;
        let theirs = |of: &Syscall, number, time_ns, duration_ns, blocked_ns| {
            let end_ns = time_ns + duration_ns;
            Syscall { thread: 1, number, time_ns, end_ns, duration_ns, blocked_ns, ..of.clone() }
        };
        let theirs = [
            theirs(&rows[asked], READ, time_ns - US, US, 0),
            theirs(&rows[asked], STAT, time_ns, asleep, asleep),
            theirs(&rows[answered], WRITE, time_ns + 2 * MS - US, US, 0),
        ];
        rows.extend(theirs);
        traced.tables.waits.push(Wait {
            time_ns,
            duration_ns: 2 * MS,
            thread: 0,
            number: READ,
            file: Some(from),
            stack: Some(WORK),
            waker: Some(1),
            waker_stack: None,
        });
    }
    traced.recording(10 * MS)
}

#[test]
fn a_helper_behind_pipes_is_a_peer_and_its_work_is_no_gain() {
    assert_eq!(only(&helper(true, MS, 0), "round-trip-per-operation").cost.gain(), 200 * MS);
    let gain = |cpu, in_line| only(&helper(true, cpu, in_line), "round-trip-per-operation").cost.gain() / MS;
    assert!((98..=100).contains(&gain(300 * MS, 0)), "{}", gain(300 * MS, 0));
    silent(&helper(true, 370 * MS, 0));
    // On a busy machine it waits for a CPU.
    assert!((98..=100).contains(&gain(MS, 299 * MS)), "{}", gain(MS, 299 * MS));
    silent(&helper(true, MS, 369 * MS));
    // A filter reads first, and what is at the ends of its pipes may be two programs.
    silent(&helper(false, MS, 0));
    let mut two = helper(true, MS, 0);
    two.tables.syscalls.retain(|row| row.thread == 0);
    silent(&two);
}

#[test]
fn who_was_the_first_to_send_is_not_known_where_calls_were_missed() {
    let traced = |share: f64| {
        let mut recording = helper(true, MS, 0);
        (recording.about.tracer, recording.about.traced_share) = (Some(Tracer::Ptrace), share);
        recording
    };
    only(&traced(1.0), "round-trip-per-operation");
    silent(&traced(0.9));
}

/// `count` connections to one address from one place, each with a request.
fn connecting(mode: Mode, count: u32, connect: u64) -> Recording {
    let mut traced = Traced::new(mode);
    let (address, socket) = (traced.file("10.0.0.1:80", "address", 0), traced.file("", "socket", 0));
    for _ in 0..count {
        traced.call(CONNECT, Some(address), 0, connect);
        traced.call(SEND, Some(socket), 40, 5 * US);
        traced.sleep(RECEIVE, Some(socket), 200, 100 * US);
    }
    traced.recording(10 * MS)
}

#[test]
fn opening_a_connection_takes_until_the_first_bytes_are_sent() {
    for mode in BOTH {
        let finding = only(&connecting(mode, 1_000, 90 * US), "connection-per-operation");
        assert_eq!(finding.cost.amount() / MS, if mode == Mode::Each { 91 } else { 90 }, "{mode:?}");
    }
    // A library waits for the connection and sets it up: 1 ms each. What the program itself computes then is its own.
    let with = |stack: u32| {
        let mut traced = Traced::new(Mode::Each);
        let (address, socket) = (traced.file("10.0.0.1:80", "address", 0), traced.file("", "socket", 0));
        for _ in 0..200 {
            traced.call(CONNECT, Some(address), -115, 50 * US);
            traced.compute(stack, MS);
            traced.call(SEND, Some(socket), 40, 5 * US);
            traced.sleep(RECEIVE, Some(socket), 200, 100 * US);
        }
        slowpath_diagnose::diagnose(&traced.recording(200 * MS)).findings
    };
    let [finding] = &with(WORK)[..] else { panic!("there is one finding") };
    assert_eq!((finding.cause.slug(), finding.cost.amount() / MS), ("connection-per-operation", 210));
    assert!(with(OTHER).is_empty());
    // A tracer that stops at calls takes time between them.
    let mut by_ptrace = connecting(Mode::Each, 1_000, 90 * US);
    by_ptrace.about.tracer = Some(Tracer::Ptrace);
    assert_eq!(only(&by_ptrace, "connection-per-operation").cost.amount() / MS, 90);
}

/// What 200 connections cost, ms: after each comes an exchange of 1 ms in `function`, and then something is sent in `writes`; both are of `library`.
fn exchanging_first(library: &str, function: &str, writes: &str) -> u64 {
    let mut traced = Traced::new(Mode::Each);
    let (address, socket) = (traced.file("10.0.0.1:443", "address", 0), traced.file("", "socket", 0));
    traced.tables.modules[1].path = library.into();
    traced.tables.functions[2].name = function.to_owned();
    (traced.tables.functions[3].name, traced.tables.functions[3].module) = (writes.to_owned(), Some(1));
    for _ in 0..200 {
        traced.call(CONNECT, Some(address), 0, 500 * US);
        traced.call(SEND, Some(socket), 300, 5 * US);
        traced.sleep(RECEIVE, Some(socket), 2_000, 994 * US);
        traced.call(SEND, Some(socket), 40, 5 * US).stack = Some(OTHER);
    }
    only(&traced.recording(200 * MS), "connection-per-operation").cost.amount() / MS
}

#[test]
fn a_tls_handshake_is_part_of_a_connection() {
    let cost = |function| exchanging_first("/lib/libc.so.6", function, "other");
    assert_eq!((cost("gnutls_handshake"), cost("send")), (300, 100));
}

#[test]
fn what_a_tls_library_sends_before_the_program_writes_is_its_handshake() {
    // Its functions end with a jump to the next one: none that is known by name is on the stack.
    let (tls, unknown) = ("/lib/libssl.so.3", "libssl.so.3+0x65ee0");
    assert_eq!(exchanging_first(tls, unknown, "SSL_write"), 300);
    assert_eq!(exchanging_first(tls, "SSL_write", "SSL_write"), 100);
    assert_eq!(exchanging_first("/lib/libpq.so.5", "libpq.so.5+0x65ee0", "SSL_write"), 100);
    // It is not known how the program's own bytes are sent.
    assert_eq!(exchanging_first(tls, unknown, "libssl.so.3+0x12340"), 100);
}

#[test]
fn making_and_closing_the_socket_is_part_of_a_connection() {
    let gain = |made: bool, closed: bool| {
        let mut traced = Traced::new(Mode::Each);
        let (address, socket, other) = (
            traced.file("10.0.0.1:80", "address", 0),
            traced.file("", "socket", 0),
            traced.file("", "socket", 0),
        );
        for _ in 0..1_000 {
            // Of a socket that is already in use nothing is added.
            traced.call(SOCKET, None, 9, 500 * US);
            traced.call(SEND, Some(other), 1, US);
            if made {
                traced.call(SOCKET, None, 7, 20 * US);
            }
            traced.call(CONNECT, Some(address), 0, 90 * US);
            traced.call(SEND, Some(socket), 40, 5 * US);
            traced.call(CLOSE, Some(if closed { socket } else { other }), 0, 60 * US);
        }
        only(&traced.recording(10 * MS), "connection-per-operation").cost.amount() / MS
    };
    assert_eq!([gain(false, false), gain(true, false), gain(true, true)], [91, 111, 171]);
}

#[test]
fn bytes_on_one_of_several_connections_say_nothing_of_the_others() {
    let mut traced = Traced::new(Mode::Each);
    let (address, socket) = (traced.file("10.0.0.1:80", "address", 0), traced.file("", "socket", 0));
    for _ in 0..200 {
        traced.call(CONNECT, Some(address), -115, 5 * US);
    }
    traced.now += 100 * MS;
    traced.call(SEND, Some(socket), 40, 5 * US);
    silent(&traced.recording(10 * MS));
}

/// Connections that are opened without waiting, each by another one of two threads, which then sends on another socket: 10 ms
/// later, for another task.
fn tasks(in_progress: bool) -> Recording {
    let mut traced = Traced::new(Mode::Each);
    traced.process(None, "/bin/program", 0);
    traced.tables.threads[1].process = 0;
    let (address, socket) = (traced.file("10.0.0.1:80", "address", 0), traced.file("", "socket", 0));
    for turn in 0..300 {
        let result = if in_progress { -115 } else { 0 };
        traced.call(CONNECT, Some(address), result, 20 * US).thread = turn % 2;
        traced.now += 10 * MS;
        traced.call(SEND, Some(socket), 40, 5 * US).thread = turn % 2;
    }
    // Goroutines wait, but it is not known when they were watched.
    traced.tables.parks.push(Park {
        time_ns: MS,
        end_ns: 2 * MS,
        process: 0,
        goroutine: 1,
        object: 1,
        stack: None,
        waker: None,
        waker_stack: None,
    });
    traced.recording(10 * MS)
}

#[test]
fn what_a_thread_does_for_another_task_is_no_part_of_a_connection() {
    // 300 times 20 µs.
    silent(&tasks(true));
    only(&tasks(false), "connection-per-operation");
}

#[test]
fn a_hundred_connections_count() {
    only(&connecting(Mode::Each, 100, MS), "connection-per-operation");
    silent(&connecting(Mode::Each, 99, MS));
}
