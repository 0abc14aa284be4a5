//! `slowpath scale` as a user runs it.

#![allow(clippy::unwrap_used)] // a test that cannot go on says so by panicking

mod support;

use serde_json::Value;
use std::path::Path;
use std::process::{Command, Output};
use support::{SLOWPATH, one_at_a_time, said};

fn scale(dir: &Path, words: &[&str]) -> Output {
    Command::new(SLOWPATH).arg("scale").args(words).current_dir(dir).output().unwrap()
}

#[test]
fn the_function_that_is_quadratic_is_named_and_the_linear_one_is_not() {
    let _one = one_at_a_time();
    let dir = tempfile::tempdir().unwrap();
    let source = dir.path().join("quad.c");
    std::fs::write(
        &source,
        // A chain of multiplications: what passes through memory takes twice as long at some times.
        "#include <stdlib.h>\n\
         #define STEP s *= 4097; __asm__ volatile(\"\" : \"+r\"(s))\n\
         #define APART __attribute__((noinline))\n\
         APART long linear(long n) { long s = 1; for (long i = 0; i < n * 1000; i++) { STEP; } return s; }\n\
         APART long square(long n) { long s = 1; for (long i = 0; i < n * n; i++) { STEP; } return s; }\n\
         int main(int c, char **v) { long n = atol(v[c - 1]); return linear(n) + square(n) == 42; }\n",
    )
    .unwrap();
    let built = Command::new("cc")
        .args(["-O1", "-g", "-o", "quad"])
        .arg(&source)
        .current_dir(dir.path())
        .status()
        .unwrap();
    assert!(built.success());
    let measured = || {
        let output = scale(
            dir.path(),
            &["--json", "-L", "n=5000,10000,20000,30000", "--at", "60000", "--", "./quad {n}"],
        );
        assert_eq!(output.status.code(), Some(0), "{}", said(&output));
        let value: Value = serde_json::from_slice(&output.stdout).unwrap();
        let rising: Vec<&str> =
            value["rising"].as_array().unwrap().iter().map(|one| one["function"].as_str().unwrap()).collect();
        assert!(rising.is_empty() || rising == ["square"], "{value:#}");
        rising.first().map(|_| value["rising"][0]["law"]["exponent"].as_f64().unwrap())
    };
    // Times on a busy machine scatter: one of three measurements has to be good. No other may be named in any.
    let near_two = |exponent: f64| (1.8..2.2).contains(&exponent);
    assert!((0..3).any(|_| measured().is_some_and(near_two)), "no exponent near 2");
    let whole = || {
        let text = String::from_utf8_lossy(
            &scale(dir.path(), &["--no-record", "-L", "n=5000,10000,20000", "--", "./quad {n}"]).stdout,
        )
        .into_owned();
        let (_, rises) = text.split_once("CPU time grows as n^").unwrap_or_else(|| panic!("{text}"));
        rises.split_whitespace().next().unwrap().parse::<f64>().unwrap()
    };
    assert!((0..3).any(|_| (1.5..2.3).contains(&whole())), "no exponent of the whole near 2");
}

/// Valgrind is part of what tests need (`scripts/setup test`). Counts are exact, so nothing here depends on time.
#[test]
fn exact_counts_name_the_guilty_function_and_its_victim() {
    let _one = one_at_a_time(); // others take times
    let dir = tempfile::tempdir().unwrap();
    let source = dir.path().join("list.c");
    std::fs::write(
        &source,
        "#include <stdlib.h>\n\
         #define APART __attribute__((noinline, noclone))\n\
         struct item { struct item *next; long value; } *first;\n\
         APART int same(long a, long b) { __asm__ volatile(\"\"); return a == b; }\n\
         APART void insert(long value) {\n\
           struct item **at = &first;\n\
           for (; *at; at = &(*at)->next) if (same((*at)->value, value)) return;\n\
           (*at = calloc(1, sizeof **at))->value = value; }\n\
         APART long digest(long n) { volatile long s = 0; for (long i = 0; i < 500; i++) s += i ^ n; return s; }\n\
         APART void load(long n) { for (long i = 0; i < n; i++) { digest(i); insert(i); } }\n\
         int main(int c, char **v) { load(atol(v[c - 1])); return 0; }\n",
    )
    .unwrap();
    let built = Command::new("cc")
        .args(["-O1", "-g", "-o", "list"])
        .arg(&source)
        .current_dir(dir.path())
        .status()
        .unwrap();
    assert!(built.success());
    let sizes = "n=100,200,400,800";
    let output = scale(dir.path(), &["--exact", "--json", "-L", sizes, "--", "./list {n}"]);
    assert_eq!(output.status.code(), Some(0), "{}", said(&output));
    let value: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(value["unit"], "instructions");
    assert!(value["points"].as_array().unwrap().iter().all(|point| point["cpu_ns"].is_null()), "{value:#}");
    let findings = value["findings"].as_array().unwrap();
    assert_eq!(findings.len(), 1, "{findings:#?}");
    let finding = &findings[0];
    assert_eq!((&finding["function"], &finding["line"]), (&Value::from("insert"), &Value::from(5)));
    assert_eq!((&finding["basis"], finding.get("cost_ns")), (&Value::from("instructions"), None));
    let role = |name: &str| {
        let functions = value["functions"].as_array().unwrap();
        functions.iter().find(|one| one["function"] == name).unwrap()["role"].clone()
    };
    assert_eq!(role("insert"), "guilty");
    assert_eq!(role("same"), "victim");
    assert!(["load", "digest"].iter().all(|name| role(name).is_null()));
    // Each insert compares with all that are there: n(n − 1)/2 in all.
    let same = value["functions"].as_array().unwrap().iter().find(|one| one["function"] == "same").unwrap();
    let calls = [100.0, 200.0, 400.0, 800.0].map(|n: f64| Value::from(n * (n - 1.0) / 2.0));
    assert_eq!(same["calls"].as_array().unwrap(), &calls);

    let words = ["--exact", "--html", "page.html", "-L", sizes, "--at", "8000", "--", "./list {n}"];
    let text = scale(dir.path(), &words).stdout;
    assert!(std::fs::read_to_string(dir.path().join("page.html")).unwrap().starts_with("<!doctype html>"));
    let text = String::from_utf8_lossy(&text).into_owned();
    assert!(text.contains("work grows with every call: insert (list.c:5)"), "{text}");
    assert!(text.contains("0.50·n calls to same"), "{text}");
    assert!(text.contains("extrapolated to 8,000: about ") && text.contains(" instructions\n"), "{text}");
    assert!(!text.contains(" ms") && !text.contains("CPU"), "times are never told from valgrind: {text}");
}

#[test]
fn exact_counts_add_up_the_processes_of_a_command() {
    let _one = one_at_a_time(); // others take times
    let dir = tempfile::tempdir().unwrap();
    let whole = |command: &str| {
        let output = scale(dir.path(), &["--exact", "--json", "-L", "n=1", "--", command]);
        assert_eq!(output.status.code(), Some(0), "{}", said(&output));
        let value: Value = serde_json::from_slice(&output.stdout).unwrap();
        value["points"][0]["instructions"].as_f64().unwrap()
    };
    let (one, three) = (whole("true {n}; true {n}"), whole("/bin/true {n}; /bin/true {n}; /bin/true {n}"));
    // The shell's own `true` starts no process; the other is run three times, the last one in the shell's place or not.
    assert!(three > one + 100_000.0, "{one} {three}");
}

#[test]
fn without_valgrind_it_is_said_how_to_get_it() {
    let dir = tempfile::tempdir().unwrap();
    let output = Command::new(SLOWPATH)
        .args(["scale", "--exact", "-L", "n=1,2", "--", "/bin/true {n}"])
        .env("PATH", dir.path())
        .current_dir(dir.path())
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(125));
    assert!(said(&output).contains("apt-get install valgrind"), "{}", said(&output));
}

#[test]
fn what_cannot_be_done_is_said() {
    let _one = one_at_a_time();
    let dir = tempfile::tempdir().unwrap();
    for (words, why) in [
        (&["-L", "n=1,2", "--", "true"][..], "does not contain {n} where the size belongs"),
        (&["-L", "n=1,x", "--", "echo {n}"], "x is not a number"),
        (&["-L", "n=0,1", "--", "echo {n}"], "above zero"),
        (&["-L", "n", "--", "echo {n}"], "-L needs NAME=SIZE"),
        (&["--files", "/no/such", "--", "cat {file}"], "/no/such"),
        (&["-L", "n=1,2", "--", "false {n}"], "exited with 1"),
        (&["--time-limit", "0.3", "-L", "n=30", "--", "sleep {n}"], "longer than"),
        (&["--exact", "-L", "n=1,2", "--", "false {n}"], "exited with 1 under valgrind"),
        (&["--exact", "--time-limit", "0.3", "-L", "n=30", "--", "sleep {n}"], "smaller sizes"),
    ] {
        let output = scale(dir.path(), words);
        assert_eq!(output.status.code(), Some(125), "{words:?}");
        assert!(said(&output).contains(why), "{words:?}: {}", said(&output));
    }
}
