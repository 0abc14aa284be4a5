//! What slowpath says of waits of goroutines, which no system call of a thread shows: `tests/programs/waiting_go.go`.

#![allow(clippy::print_stderr)] // what was missed is said

mod support;

use serde_json::Value;
use support::{is_root, json, may_count, one_at_a_time, program};

/// So often a program with a cause is recorded before it counts as missed.
const ATTEMPTS: u32 = 3;

fn findings(mode: &str) -> Option<Vec<Value>> {
    let path = program("waiting_go");
    if !path.exists() || !is_root() || !may_count(mode) {
        eprintln!("SKIPPED {mode}: Go's compiler is not here, or BPF not allowed");
        return None;
    }
    let dir = tempfile::tempdir().expect("a folder");
    let report = json(dir.path(), &[], &[path.to_str().expect("UTF-8"), mode]);
    Some(report["findings"].as_array().expect("a list").clone())
}

fn finds(mode: &str, cause: &str, guilty: &str) {
    let _one = one_at_a_time();
    for attempt in 1..=ATTEMPTS {
        let Some(found) = findings(mode) else { return };
        if found.is_empty() {
            eprintln!("MISSED {mode} in attempt {attempt}");
            continue;
        }
        assert_eq!(found.len(), 1, "{mode}: {found:#?}");
        assert_eq!((&found[0]["cause"], &found[0]["function"]), (&cause.into(), &guilty.into()));
        return;
    }
    panic!("{mode} was missed {ATTEMPTS} times");
}

#[test]
fn a_lock_held_while_an_answer_is_waited_for_is_found() {
    finds("lock", "lock-contention", "main.(*directory).name");
}

#[test]
fn requests_over_http_one_at_a_time_are_found() {
    finds("asks", "round-trip-per-operation", "main.priceOf");
}

#[test]
fn a_sleep_between_looks_for_a_file_is_found() {
    finds("polls", "waiting", "main.await");
}

#[test]
fn clients_beside_each_other_are_clean() {
    let _one = one_at_a_time();
    let found = findings("beside");
    assert!(found.as_ref().is_none_or(Vec::is_empty), "{found:#?}");
}
