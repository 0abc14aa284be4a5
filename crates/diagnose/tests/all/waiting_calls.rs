//! The causes in calls that wait, on synthetic recordings, at their thresholds, with calls recorded one by one and added up.

use crate::traced::{BOTH, MS, Mode, OTHER, Traced, US, only, silent};
use slowpath_diagnose::findings::{Basis, Confidence};
use slowpath_recording::Recording;

const READ: u32 = 0;
const OPEN: u32 = 257;
const NANOSLEEP: u32 = 230;
const RECEIVE: u32 = 45;
const SEND: u32 = 44;
const POLL: u32 = 7;
const CONNECT: u32 = 42;

/// `answers` questions on a socket; before each answer there are `empty` looks, and a sleep after each.
fn polling(answers: u32, empty: u32, sleep: u64, other_ms: u64) -> Recording {
    let mut traced = Traced::new(Mode::Each);
    let socket = traced.file("", "socket", 0);
    for _ in 0..answers {
        for _ in 0..empty {
            traced.call(RECEIVE, Some(socket), -11, 5 * US);
            traced.sleep(NANOSLEEP, None, 0, sleep);
        }
        traced.call(RECEIVE, Some(socket), 100, 5 * US);
    }
    traced.compute(OTHER, other_ms * MS);
    traced.recording(10 * MS + other_ms * MS)
}

#[test]
fn sleeping_and_looking_again_is_told_with_half_a_sleep_for_each_answer() {
    let finding = only(&polling(100, 1, 10 * MS, 0), "waiting");
    assert_eq!((finding.title.as_str(), finding.cost.basis()), ("polls in a sleep loop", Basis::Wall));
    assert_eq!((finding.cost.amount(), finding.cost.gain()), (1_000 * MS, 500 * MS));
    assert!(finding.explanation[1].contains("recvfrom"), "{:?}", finding.explanation);
    assert_eq!(only(&polling(100, 3, 10 * MS, 0), "waiting").cost.gain(), 500 * MS);
}

#[test]
fn a_thread_of_a_runtime_sleeps_for_its_own_reasons() {
    let mut recording = polling(100, 1, 10 * MS, 0);
    recording.tables.functions.iter_mut().for_each(|function| function.name = "runtime.sysmon".into());
    silent(&recording);
}

#[test]
fn sleeps_shorter_than_a_wait_of_their_own_are_told_in_both_modes() {
    for mode in BOTH {
        let mut traced = Traced::new(mode);
        let socket = traced.file("", "socket", 0);
        for _ in 0..1_000 {
            traced.call(RECEIVE, Some(socket), -11, 5 * US);
            traced.sleep(NANOSLEEP, None, 0, 900 * US);
            traced.call(RECEIVE, Some(socket), 100, 5 * US);
        }
        only(&traced.recording(20 * MS), "waiting");
    }
}

#[test]
fn a_file_that_was_found_is_opened_and_its_size_asked_which_is_no_second_look() {
    const LOOK: u32 = 262;
    let gain = |asked: bool| {
        let mut traced = Traced::new(Mode::Each);
        for number in 0..12 {
            let path = format!("/tmp/result{number}");
            let (name, opened) = (traced.file(&path, "path", 0), traced.file(&path, "file", 1));
            traced.call(LOOK, Some(name), -2, 5 * US);
            traced.sleep(NANOSLEEP, None, 0, 100 * MS);
            traced.call(LOOK, Some(name), 0, 5 * US);
            traced.call(OPEN, Some(opened), 3, 5 * US);
            for _ in 0..2 * u32::from(asked) {
                traced.call(LOOK, Some(opened), 0, US);
            }
        }
        only(&traced.recording(10 * MS), "waiting").cost.gain()
    };
    assert_eq!([gain(false), gain(true)], [600 * MS, 600 * MS]);
}

#[test]
fn one_long_wait_however_often_it_looks_is_silent() {
    silent(&polling(1, 500, 10 * MS, 0));
}

#[test]
fn sleeps_of_less_than_a_fifth_of_the_time_are_silent() {
    silent(&polling(100, 1, 10 * MS, 4_200));
    only(&polling(100, 1, 10 * MS, 3_800), "waiting");
}

#[test]
fn sleeps_without_a_look_are_pacing_and_silent() {
    let mut traced = Traced::new(Mode::Each);
    let socket = traced.file("", "socket", 0);
    for _ in 0..100 {
        traced.call(SEND, Some(socket), 100, 5 * US);
        traced.sleep(NANOSLEEP, None, 0, 10 * MS);
    }
    silent(&traced.recording(10 * MS));
}

/// A question to an address and a poll that expires after `wait`, `times` times; then other work.
fn unanswered(times: u32, wait: u64, answered: bool, other_ms: u64) -> Recording {
    let mut traced = Traced::new(Mode::Each);
    let address = traced.file("192.0.2.1:53", "address", 0);
    let socket = traced.file("", "socket", 0);
    for _ in 0..times {
        traced.call(CONNECT, Some(address), 0, 5 * US);
        traced.call(SEND, Some(socket), 30, 5 * US);
        if answered {
            traced.call(RECEIVE, Some(socket), 30, 5 * US);
        }
        traced.sleep(POLL, None, 0, wait);
    }
    traced.compute(OTHER, other_ms * MS);
    traced.recording(10 * MS + other_ms * MS)
}

#[test]
fn waits_in_vain_are_told_with_the_address() {
    let finding = only(&unanswered(2, 5_000 * MS, false, 0), "waiting");
    assert!(
        finding.explanation[0].contains("waited for an answer from 192.0.2.1:53"),
        "{:?}",
        finding.explanation
    );
    assert_eq!((finding.confidence, finding.cost.amount()), (Confidence::Certain, 10_000 * MS));
}

#[test]
fn waits_in_vain_count_from_one_second_and_a_fifth_of_the_time_on() {
    silent(&unanswered(1, 900 * MS, false, 0));
    only(&unanswered(1, 1_000 * MS, false, 0), "waiting");
    silent(&unanswered(1, 1_000 * MS, false, 4_100));
    only(&unanswered(1, 1_000 * MS, false, 3_900), "waiting");
}

#[test]
fn a_wait_after_an_answer_is_idleness() {
    silent(&unanswered(5, 2_000 * MS, true, 0));
}

#[test]
fn calls_that_are_not_looked_at_are_said() {
    let mut traced = Traced::new(Mode::Each);
    for _ in 0..7 {
        traced.call(426, None, 1, US);
    }
    traced.call(4, None, 0, US).compat = true;
    let notes = slowpath_diagnose::diagnose(&traced.recording(MS)).notes.join("\n");
    assert!(notes.contains("work was submitted through io_uring 7 times"), "{notes}");
    assert!(notes.contains("1 32-bit system calls"), "{notes}");
}

#[test]
fn a_sampler_that_reads_a_file_to_its_end_and_sleeps_is_silent() {
    let mut traced = Traced::new(Mode::Each);
    let stat = traced.file("/proc/stat", "pseudo", 0);
    for _ in 0..100 {
        traced.call(READ, Some(stat), 900, 50 * US);
        traced.call(READ, Some(stat), 0, 5 * US);
        traced.sleep(NANOSLEEP, None, 0, 50 * MS);
    }
    silent(&traced.recording(20 * MS));
}

#[test]
fn datagrams_to_others_than_name_servers_need_no_answer() {
    let mut traced = Traced::new(Mode::Each);
    let address = traced.file("127.0.0.1:8125", "address", 0);
    let socket = traced.file("", "socket", 0);
    for _ in 0..5 {
        traced.call(CONNECT, Some(address), 0, 5 * US);
        traced.call(SEND, Some(socket), 30, 5 * US);
        traced.sleep(POLL, None, 0, 700 * MS);
    }
    silent(&traced.recording(20 * MS));
}

#[test]
fn an_idle_connection_that_was_made_without_blocking_is_silent() {
    let mut traced = Traced::new(Mode::Each);
    let address = traced.file("192.0.2.1:80", "address", 0);
    traced.call(CONNECT, Some(address), -115, 5 * US);
    traced.sleep(POLL, None, 1, 20 * MS);
    for _ in 0..5 {
        traced.sleep(POLL, None, 0, 1_000 * MS);
    }
    silent(&traced.recording(20 * MS));
    let mut traced = Traced::new(Mode::Each);
    let address = traced.file("192.0.2.1:80", "address", 0);
    traced.call(CONNECT, Some(address), -115, 5 * US);
    traced.sleep(POLL, None, 0, 3_000 * MS);
    only(&traced.recording(20 * MS), "waiting");
}

/// `times` questions that are not answered within `wait`, and are asked again: then there is an answer after `answer`, if so many of ten are
/// answered; else the next question follows.
fn asking_two(times: u32, wait: u64, answer: u64, of_ten: u32) -> Recording {
    let mut traced = Traced::new(Mode::Each);
    let socket = traced.file("socket", "socket", 0);
    for time in 0..times {
        traced.call(SEND, Some(socket), 40, 10 * US);
        traced.sleep(POLL, None, 0, wait);
        traced.call(SEND, Some(socket), 40, 10 * US);
        if time % 10 < of_ten {
            traced.sleep(POLL, None, 1, answer);
            traced.call(RECEIVE, Some(socket), 60, 10 * US);
        }
    }
    traced.recording(MS)
}

#[test]
fn a_server_that_does_not_answer_and_is_asked_each_time_is_reported() {
    let finding = only(&asking_two(100, 25 * MS, MS, 10), "waiting");
    assert_eq!(
        (finding.title.as_str(), finding.confidence),
        ("waits for an answer that does not come", Confidence::Likely)
    );
    assert_eq!((finding.cost.basis(), finding.cost.amount()), (Basis::Wall, 2_500 * MS));
    assert_eq!(finding.cost.gain(), 2_475 * MS);
    assert!(finding.explanation[1].starts_with("100 of these times"), "{:?}", finding.explanation);
}

#[test]
fn waits_that_expire_count_from_ten_on_where_the_next_question_is_answered_at_once() {
    let is_reported = |times, wait, answer, of_ten| {
        let findings = slowpath_diagnose::diagnose(&asking_two(times, wait, answer, of_ten)).findings;
        findings.iter().any(|finding| finding.cause == "waiting")
    };
    assert!(is_reported(10, 25 * MS, MS, 10));
    assert!(!is_reported(9, 25 * MS, MS, 10));
    // Whoever sends now and then, and may receive something, waits for the next time.
    assert!(is_reported(100, 25 * MS, 6 * MS, 10));
    assert!(!is_reported(100, 25 * MS, 7 * MS, 10));
    assert!(!is_reported(100, 25 * MS, MS, 7));
    assert!(!is_reported(100, 25 * MS, MS, 0));
    // Shorter ones are looks.
    assert!(!is_reported(10_000, 900 * US, US, 10));
}

#[test]
fn a_timer_between_a_message_that_needs_no_answer_and_another_question_is_none() {
    let mut traced = Traced::new(Mode::Each);
    let (database, log) = (traced.file("socket", "socket", 0), traced.file("log", "socket", 0));
    for _ in 0..100 {
        traced.call(SEND, Some(database), 40, 10 * US);
        traced.sleep(POLL, None, 1, MS);
        traced.call(RECEIVE, Some(database), 60, 10 * US);
        traced.call(SEND, Some(log), 90, 10 * US);
        traced.sleep(POLL, None, 0, 25 * MS);
    }
    let findings = slowpath_diagnose::diagnose(&traced.recording(MS)).findings;
    assert!(findings.iter().all(|finding| finding.cause != "waiting"), "{findings:#?}");
}

/// `times` heads of requests whose sender waits in vain for a word of the other side, and then sends the body in two pieces; so many of ten are then
/// answered after `answer`.
fn sending_in_parts(times: u32, wait: u64, answer: u64, of_ten: u32) -> Vec<String> {
    let mut traced = Traced::new(Mode::Each);
    let socket = traced.file("socket", "socket", 0);
    for time in 0..times {
        traced.call(SEND, Some(socket), 160, 10 * US);
        traced.sleep(POLL, None, 0, wait);
        traced.call(SEND, Some(socket), 65_536, 10 * US);
        traced.call(SEND, Some(socket), 12_000, 10 * US);
        if time % 10 < of_ten {
            traced.sleep(POLL, None, 1, answer);
            traced.call(RECEIVE, Some(socket), 60, 10 * US);
        }
    }
    let findings = slowpath_diagnose::diagnose(&traced.recording(MS)).findings;
    findings
        .iter()
        .filter(|finding| finding.cause == "waiting")
        .map(|one| one.explanation[1].clone())
        .collect()
}

#[test]
fn a_wait_for_a_word_that_never_comes_before_the_rest_is_sent_is_reported() {
    let said = &sending_in_parts(5, 1_000 * MS, MS, 10)[..];
    assert!(
        said.len() == 1 && said[0].starts_with("5 of these times it then sent something else"),
        "{said:?}"
    );
    let is_reported = |times, wait, answer, of_ten| !sending_in_parts(times, wait, answer, of_ten).is_empty();
    assert!(is_reported(3, 200 * MS, MS, 10));
    assert!(!is_reported(2, 200 * MS, MS, 10));
    // Ticks of a game, or answers that come when they like.
    assert!(!is_reported(100, 199 * MS, MS, 10));
    assert!(is_reported(10, 200 * MS, 49 * MS, 10));
    assert!(!is_reported(10, 200 * MS, 51 * MS, 10));
    assert!(is_reported(10, 200 * MS, MS, 8));
    assert!(!is_reported(10, 200 * MS, MS, 7));
}
