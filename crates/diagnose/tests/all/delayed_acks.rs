//! Messages that the kernel holds back for a delayed acknowledgement, on synthetic recordings, as the side sees them that writes and the one that reads.

use crate::traced::{MS, Mode, OTHER, Traced, US, only, silent};
use slowpath_recording::Recording;
use slowpath_recording::tables::{File, Syscall, Wait};

const READ: u32 = 0;
const WRITE: u32 = 1;
const POLL: u32 = 7;
const CONNECT: u32 = 42;

/// `times` a server sends `first` small messages, reads a question in two parts `after` ns later, and answers; the other side goes on after `wait`.
fn crossing(times: u32, first: u32, after: u64, wait: u64) -> Traced {
    let mut traced = Traced::new(Mode::Each);
    let socket = traced.file("", "socket", 0);
    for _ in 0..times {
        for _ in 0..first {
            traced.call(WRITE, Some(socket), 255, 5 * US);
        }
        traced.sleep(READ, Some(socket), 5, after);
        traced.call(READ, Some(socket), 51, 5 * US);
        traced.call(WRITE, Some(socket), 72, 5 * US);
        traced.sleep(READ, Some(socket), 10, wait);
    }
    traced
}

#[test]
fn what_crosses_two_small_messages_acknowledges_the_first_alone() {
    const SETSOCKOPT: u32 = 54;
    let is_delayed = |traced: Traced| {
        let findings = slowpath_diagnose::diagnose(&traced.recording(10 * MS)).findings;
        findings.iter().any(|one| one.variant == "delayed-ack")
    };
    assert!(is_delayed(crossing(20, 2, 100 * US, 42 * MS)));
    assert!(is_delayed(crossing(10, 3, 100 * US, 42 * MS)));
    // Too few; one message; not so soon; not the kernel's timer.
    assert!(!is_delayed(crossing(9, 2, 100 * US, 42 * MS)));
    assert!(!is_delayed(crossing(20, 1, 100 * US, 42 * MS)));
    assert!(!is_delayed(crossing(20, 2, 1_100 * US, 42 * MS)));
    assert!(!is_delayed(crossing(20, 2, 100 * US, 37 * MS)));
    // On one of which options were set nothing may be held back.
    let mut no_delay = Traced::new(Mode::Each);
    let socket = no_delay.file("", "socket", 0);
    no_delay.call(SETSOCKOPT, Some(socket), 0, US);
    let at = no_delay.now;
    let mut rest = crossing(20, 2, 100 * US, 42 * MS);
    for row in &mut rest.tables.syscalls {
        (row.time_ns, row.end_ns) = (row.time_ns + at, row.end_ns + at);
    }
    no_delay.tables.syscalls.append(&mut rest.tables.syscalls);
    no_delay.now = rest.now + at;
    assert!(!is_delayed(no_delay));
    // An answer that a server works on for just as long now and then is not all of them.
    let mut mixed = crossing(20, 2, 100 * US, 42 * MS);
    let socket = Some(0);
    for _ in 0..4 {
        mixed.call(WRITE, socket, 255, 5 * US);
        mixed.call(WRITE, socket, 255, 5 * US);
        mixed.sleep(READ, socket, 5, 100 * US);
        mixed.call(WRITE, socket, 72, 5 * US);
        mixed.sleep(READ, socket, 10, MS);
    }
    assert!(!is_delayed(mixed));
}

/// `times` questions of so many messages of `bytes`, each answered after `wait`; then other work.
fn chatty(times: u32, messages: u32, bytes: i64, wait: u64, other_ms: u64) -> Recording {
    let mut traced = Traced::new(Mode::Each);
    let socket = traced.file("", "socket", 0);
    for _ in 0..times {
        for _ in 0..messages {
            traced.call(WRITE, Some(socket), bytes, 5 * US);
        }
        traced.sleep(READ, Some(socket), 10, wait);
    }
    traced.compute(OTHER, other_ms * MS);
    traced.recording(10 * MS + other_ms * MS)
}

#[test]
fn two_small_messages_and_a_wait_of_40_ms_are_a_delayed_acknowledgement() {
    let finding = only(&chatty(20, 2, 8, 42 * MS, 0), "waiting");
    assert_eq!(
        (finding.title.as_str(), finding.cost.gain()),
        ("waits for delayed acknowledgements", 840 * MS)
    );
    only(&chatty(5, 2, 8, 42 * MS, 0), "waiting");
    silent(&chatty(4, 2, 8, 42 * MS, 0));
    for otherwise in [
        chatty(20, 1, 8, 42 * MS, 0),
        chatty(20, 2, 1_500, 42 * MS, 0),
        chatty(20, 2, 8, 30 * MS, 0),
        chatty(20, 2, 8, 60 * MS, 0),
    ] {
        // Questions with slow answers, and no delayed acknowledgements.
        only(&otherwise, "round-trip-per-operation");
    }
    silent(&chatty(20, 2, 8, 42 * MS, 8_000));
    only(&chatty(20, 2, 8, 42 * MS, 7_000), "waiting");
}

#[test]
fn a_question_whether_there_is_room_between_two_messages_is_no_wait() {
    let asked = |blocked: u64| {
        let mut traced = Traced::new(Mode::Each);
        let socket = traced.file("", "socket", 0);
        for _ in 0..20 {
            for _ in 0..2 {
                traced.sleep(POLL, None, 1, blocked);
                traced.call(WRITE, Some(socket), 8, 5 * US);
            }
            traced.sleep(POLL, None, 1, 42 * MS);
            traced.call(READ, Some(socket), 10, 5 * US);
        }
        slowpath_diagnose::diagnose(&traced.recording(10 * MS)).findings
    };
    assert_eq!(asked(0).iter().filter(|one| one.variant == "delayed-ack").count(), 1);
    assert!(asked(MS).iter().all(|one| one.variant != "delayed-ack"));
}

/// Requests of two pieces that one thread writes and another one reads, which gets the second `late` after the first, and answers. The writer's wait is
/// longer than the delay, for the other one works. `gap`: time between the writes; `first`: bytes of the first piece as it is read.
fn held_back(times: u32, late: u64, gap: u64, first: i64) -> Recording {
    let mut traced = Traced::new(Mode::Each);
    let other = traced.process(Some(0), "/bin/server", 1_000 * MS);
    let (client, server) = (traced.file("", "socket", 0), traced.file("", "socket", 0));
    for _ in 0..times {
        traced.call(WRITE, Some(client), 8, 5 * US);
        traced.now += gap;
        traced.call(WRITE, Some(client), 900, 5 * US);
        let asked = traced.now;
        traced.now = asked - gap;
        traced.call(READ, Some(server), first, 5 * US).thread = other;
        traced.sleep(READ, Some(server), 900, late).thread = other;
        traced.now += 20 * MS;
        traced.call(WRITE, Some(server), 8, 5 * US).thread = other;
        let answered = traced.now;
        traced.now = asked;
        traced.sleep(READ, Some(client), 8, answered - asked);
    }
    traced.recording(20 * MS)
}

/// The same, of which the first piece is read in so many parts of a byte by a function of its own, and waited for the rest before it is read; `written`: bytes of the
/// first piece; `on_time`: further messages, of which nothing was held back; `sum`: reads that are known added up.
fn in_parts(parts: u32, written: i64, on_time: u32, sum: u64) -> Recording {
    let mut traced = Traced::new(Mode::Each);
    let other = traced.process(Some(0), "/bin/server", 1_000 * MS);
    let (client, server) = (traced.file("", "socket", 0), traced.file("", "socket", 0));
    for number in 0..20 + on_time {
        traced.call(WRITE, Some(client), written, 5 * US);
        traced.call(WRITE, Some(client), 900, 5 * US);
        for _ in 0..parts {
            let row = traced.call(READ, Some(server), 1, 5 * US);
            (row.thread, row.stack) = (other, Some(OTHER));
        }
        if number < 20 {
            traced.sleep(POLL, None, 1, 42 * MS).thread = other;
        }
        traced.call(READ, Some(server), 900, 5 * US).thread = other;
        traced.now += 20 * MS;
        traced.call(WRITE, Some(server), 8, 5 * US).thread = other;
        traced.call(READ, Some(client), 8, 5 * US);
    }
    if sum > 0 {
        let row = traced.call(READ, Some(server), 1, 5 * US);
        (row.thread, row.count) = (other, sum);
    }
    traced.recording(20 * MS)
}

#[test]
fn a_piece_that_comes_40_ms_after_the_first_was_held_back_if_both_were_written_at_once() {
    let finding = only(&held_back(20, 42 * MS, 0, 8), "waiting");
    assert_eq!(
        (finding.title.as_str(), finding.cost.gain(), finding.variant),
        ("waits for delayed acknowledgements", 840 * MS, "delayed-ack")
    );
    assert!(finding.explanation[0].contains("in several pieces"), "{:?}", finding.explanation);
    only(&held_back(5, 42 * MS, 0, 8), "waiting");
    let none = |recording: &Recording| {
        let findings = slowpath_diagnose::diagnose(recording).findings;
        assert!(findings.iter().all(|one| one.variant != "delayed-ack"), "{findings:?}");
    };
    none(&held_back(4, 42 * MS, 0, 8));
    none(&held_back(20, 30 * MS, 0, 8));
    none(&held_back(20, 60 * MS, 0, 8));
    // The second piece was written later. Or both are none of what was read.
    none(&held_back(20, 42 * MS, 30 * MS, 8));
    none(&held_back(20, 42 * MS, 11 * MS, 8));
    none(&held_back(20, 42 * MS, 0, 9));
    let mut longer = held_back(20, 42 * MS, 0, 8);
    longer.tables.syscalls.iter_mut().filter(|row| row.bytes == 900).for_each(|row| {
        row.bytes += u64::from(row.number == WRITE);
    });
    none(&longer);
    // It reads byte by byte, and asks first whether there is something: only sums leave open how long the first piece was.
    for (parts, written, on_time, sum, found) in [
        (8, 8, 0, 0, 1),
        (8, 7, 0, 5, 0),
        (2, 9, 0, 0, 0),
        (2, 9, 0, 5, 1),
        // Half of all messages, wherever their first pieces are read.
        (8, 8, 20, 0, 1),
        (8, 8, 21, 0, 0),
    ] {
        let findings = slowpath_diagnose::diagnose(&in_parts(parts, written, on_time, sum)).findings;
        let delayed = findings.iter().filter(|one| one.variant == "delayed-ack").count();
        assert_eq!(delayed, found, "{parts} of {written}, {on_time}, {sum}: {findings:?}");
    }
    // It asks for something else: a timer that it reads in between.
    let mut timer = in_parts(8, 8, 0, 0);
    let polls: Vec<Syscall> =
        timer.tables.syscalls.iter().filter(|row| row.number == POLL).cloned().collect();
    let tick = |poll: &Syscall| Syscall {
        number: READ,
        time_ns: poll.end_ns,
        end_ns: poll.end_ns,
        blocked_ns: 0,
        file: None,
        result: 8,
        bytes: 8,
        ..poll.clone()
    };
    timer.tables.syscalls.extend(polls.iter().map(tick));
    timer.tables.syscalls.sort_by_key(|row| (row.time_ns, row.number == READ && row.file.is_some()));
    none(&timer);
    // Somebody ended the wait.
    let mut woken = held_back(20, 42 * MS, 0, 8);
    let waits = woken.tables.syscalls.iter().filter(|row| row.number == READ && row.blocked_ns == 42 * MS);
    let woken_by = |row: &Syscall| Wait {
        time_ns: row.time_ns,
        duration_ns: row.blocked_ns,
        thread: row.thread,
        number: row.number,
        file: row.file,
        stack: row.stack,
        waker: Some(0),
        waker_stack: None,
    };
    woken.tables.waits = waits.map(woken_by).collect();
    assert_eq!(woken.tables.waits.len(), 20);
    none(&woken);
}

#[test]
fn the_second_message_may_be_larger_than_a_packet_of_ethernet() {
    let second = |bytes: u64, address: &str| {
        let mut recording = chatty(20, 2, 8, 42 * MS, 0);
        let file = File {
            file: 1,
            path: address.into(),
            kind: "address".into(),
            ..recording.tables.files[0].clone()
        };
        recording.tables.files.push(file);
        let first = recording.tables.syscalls[0].clone();
        let connect = Syscall {
            number: CONNECT,
            file: Some(1),
            time_ns: first.time_ns - 1,
            result: 0,
            bytes: 0,
            ..first
        };
        recording.tables.syscalls.insert(0, connect);
        let writes = recording.tables.syscalls.iter_mut().filter(|row| row.number == WRITE);
        for row in writes.skip(1).step_by(2) {
            (row.bytes, row.result) = (bytes, bytes as i64);
        }
        recording
    };
    only(&second(65_483, "127.0.0.1:80"), "waiting");
    only(&second(65_484, "127.0.0.1:80"), "round-trip-per-operation");
    only(&second(1_400, "10.0.0.1:80"), "waiting");
    only(&second(1_401, "10.0.0.1:80"), "round-trip-per-operation");
}

#[test]
fn a_delayed_acknowledgement_is_reported_where_the_messages_are_written() {
    let mut recording = chatty(20, 2, 8, 42 * MS, 0);
    for row in recording.tables.syscalls.iter_mut().filter(|row| row.number == WRITE) {
        row.stack = Some(OTHER);
    }
    let finding = only(&recording, "waiting");
    assert_eq!(finding.place.frame.function, "other");
    assert!(
        finding.explanation[0].contains("from other (program.c:13) and then waited in work"),
        "{finding:#?}"
    );
    // A file behind a header, sent without being read.
    const SENDFILE: u32 = 40;
    for pair in recording.tables.syscalls.chunk_by_mut(|a, b| a.number == WRITE && b.number == WRITE) {
        if let [_, second] = pair {
            second.number = SENDFILE;
        }
    }
    assert!(recording.tables.syscalls.iter().any(|row| row.number == SENDFILE));
    assert_eq!(only(&recording, "waiting").place.frame.function, "other");
}
