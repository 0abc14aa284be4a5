//! `slowpath record --exact`: what it says of small programs, run under valgrind's callgrind.
//!
//! Valgrind is part of what tests need (`scripts/setup test`). Counts are exact: nothing here depends on time, and each
//! program is run once.

#![allow(clippy::unwrap_used)] // a test that cannot go on says so by panicking

mod support;

use serde_json::Value;
use std::os::unix::fs::PermissionsExt;
use std::process::Command;
use support::{SLOWPATH, interrupted, json, one_at_a_time, program, said, slowpath};

fn report(name: &str, scale: &str) -> Value {
    let dir = tempfile::tempdir().unwrap();
    json(dir.path(), &["--exact"], &[program(name).to_str().unwrap(), scale])
}

fn findings(name: &str, scale: &str) -> Vec<Value> {
    let _one = one_at_a_time(); // others take times
    report(name, scale)["findings"].as_array().unwrap().clone()
}

/// The program has work that grows with every call, in a function whose name contains `guilty`, and nothing else.
fn finds(name: &str, guilty: &str) {
    let findings = findings(name, "0.03");
    assert_eq!(findings.len(), 1, "{name}: {findings:#?}");
    let finding = &findings[0];
    assert_eq!(finding["cause"], "superlinear-work");
    assert!(finding["function"].as_str().unwrap().contains(guilty), "{name}: {finding:#?}");
    assert_eq!(finding["confidence"], "certain", "{name}: {finding:#?}");
    assert_eq!(finding["basis"], "instructions");
    assert!(finding.get("cost_ns").is_none() && finding.get("gain_ns").is_none());
    let [cost, gain] = ["cost_instructions", "gain_instructions"].map(|key| finding[key].as_u64().unwrap());
    assert!(gain > 0 && gain < cost, "{name}: {finding:#?}");
}

/// The program is clean.
fn silent(name: &str) {
    let findings = findings(name, "0.03");
    assert!(findings.is_empty(), "{name}: {findings:#?}");
}

macro_rules! tests {
    ($($test:ident: $check:ident($($argument:expr),*);)*) => { $(#[test] fn $test() { $check($($argument),*); })* };
}

tests! {
    a_rising_cost_is_found: finds("rising", "name_list_insert");
    a_falling_cost_is_found: finds("falling", "queue_take");
    growth_in_a_library_is_found: finds("in_library", "unique_add");
    growth_in_a_forked_child_is_found: finds("in_child", "name_list_insert");
    growth_in_a_program_that_a_child_executes_is_found: finds("in_exec", "name_list_insert");
    growth_in_cpp_is_found: finds("rising_cpp", "Registry::add");
    whoever_has_the_c_library_scan_is_guilty: finds("strcat_build", "append_line");

    a_doubling_hash_table_is_clean: silent("hash_doubling");
    sorting_is_clean: silent("sort");
    recursion_is_clean: silent("recursion");
    phases_are_clean: silent("phases");
    a_matrix_product_is_clean: silent("matmul");
    compressing_is_clean: silent("compress");
    a_pool_of_threads_is_clean: silent("threads_pool");
    a_tree_that_outgrows_the_caches_is_clean: silent("cache_growth");
    warm_up_is_clean: silent("warmup");
    items_of_random_size_are_clean: silent("random_sizes");
    items_sorted_by_size_are_clean: silent("sizes");
}

#[test]
fn items_that_simply_get_bigger_are_at_most_a_hint() {
    for finding in findings("bigger_items", "0.03") {
        assert_eq!(finding["confidence"], "hint", "{finding:#?}");
    }
}

#[test]
fn the_report_tells_instructions_and_no_times() {
    let _one = one_at_a_time();
    let dir = tempfile::tempdir().unwrap();
    let page = dir.path().join("page.html");
    let options = ["--exact", "--html", page.to_str().unwrap()];
    let output = slowpath(dir.path(), &options, &[program("rising").to_str().unwrap(), "0.02"]);
    assert_eq!(output.status.code(), Some(0), "{}", said(&output));
    assert!(
        String::from_utf8_lossy(&output.stdout).ends_with("names\n"),
        "the program's own output is its own"
    );
    let text = said(&output);
    for part in [
        "instructions counted exactly",
        "name_list_insert",
        "where instructions are executed:",
        "under valgrind",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
    for time in ["wall", " ms", "CPU", "user"] {
        assert!(!text.replace("prove a fix", "").contains(time), "{time}: {text}");
    }
    assert!(std::fs::metadata(page).unwrap().len() > 10_000);
    let about =
        Command::new("sh").arg("-c").arg("cat recordings/*/about.json").current_dir(dir.path()).output();
    let about: Value = serde_json::from_slice(&about.unwrap().stdout).unwrap();
    assert_eq!(about["collectors"][0]["name"], "callgrind");
    assert_eq!(about["collectors"].as_array().unwrap().len(), 1, "nothing else ran: {about:#}");
    assert!(about["instructions"].as_u64().unwrap() > 1_000_000);
    // Told again from what was written.
    let again = Command::new(SLOWPATH)
        .args(["explain", "--dir", "recordings"])
        .current_dir(dir.path())
        .output()
        .unwrap();
    assert!(String::from_utf8_lossy(&again.stdout).contains("name_list_insert"));
}

#[test]
fn it_exits_as_the_program_does() {
    let _one = one_at_a_time();
    let dir = tempfile::tempdir().unwrap();
    let script = dir.path().join("not-executable");
    std::fs::write(&script, "#!/bin/sh\n").unwrap();
    std::fs::set_permissions(&script, std::fs::Permissions::from_mode(0o644)).unwrap();
    let status = |command: &[&str]| slowpath(dir.path(), &["--exact"], command).status.code();
    assert_eq!(status(&[program("exit_code").to_str().unwrap(), "7"]), Some(7));
    assert_eq!(status(&["/no/such/program"]), Some(127));
    assert_eq!(status(&[script.to_str().unwrap()]), Some(126));
}

#[test]
fn an_interrupted_program_is_recorded_up_to_its_end() {
    let _one = one_at_a_time();
    let dir = tempfile::tempdir().unwrap();
    let mut run = Command::new(SLOWPATH);
    run.args(["record", "--exact", "--dir"])
        .arg(dir.path().join("recordings"))
        .arg("--")
        .arg(program("sigint"));
    assert_eq!(interrupted(run).code(), Some(7));
    let list = Command::new(SLOWPATH)
        .args(["list", "--dir", "recordings"])
        .current_dir(dir.path())
        .output()
        .unwrap();
    assert!(String::from_utf8_lossy(&list.stdout).contains("sigint"));
}
