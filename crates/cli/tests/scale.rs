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
        "#include <stdlib.h>\n\
         __attribute__((noinline)) long linear(long n) { volatile long s = 0; for (long i = 0; i < n * 4000; i++) s += i; return s; }\n\
         __attribute__((noinline)) long square(long n) { volatile long s = 0; for (long i = 0; i < n * n * 4; i++) s += i; return s; }\n\
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
    let output =
        scale(dir.path(), &["--json", "-L", "n=1000,2000,4000,8000", "--at", "16000", "--", "./quad {n}"]);
    assert_eq!(output.status.code(), Some(0), "{}", said(&output));
    let value: Value = serde_json::from_slice(&output.stdout).unwrap();
    let rising: Vec<&str> =
        value["rising"].as_array().unwrap().iter().map(|one| one["function"].as_str().unwrap()).collect();
    assert_eq!(rising, ["square"], "{value:#}");
    let exponent = value["rising"][0]["law"]["exponent"].as_f64().unwrap();
    assert!((1.8..2.2).contains(&exponent), "{exponent}");
    let text = String::from_utf8_lossy(
        &scale(dir.path(), &["--no-record", "-L", "n=1000,2000,4000", "--", "./quad {n}"]).stdout,
    )
    .into_owned();
    assert!(text.contains("CPU time rises as n^1."), "{text}");
}

#[test]
fn what_cannot_be_done_is_said() {
    let _one = one_at_a_time();
    let dir = tempfile::tempdir().unwrap();
    for (words, why) in [
        (&["-L", "n=1,2", "--", "true"][..], "has no {n} in it"),
        (&["-L", "n=1,x", "--", "echo {n}"], "x is no number"),
        (&["-L", "n=0,1", "--", "echo {n}"], "above zero"),
        (&["-L", "n", "--", "echo {n}"], "-L is NAME=SIZE"),
        (&["--files", "/no/such", "--", "cat {file}"], "/no/such"),
        (&["-L", "n=1,2", "--", "false {n}"], "exited with 1"),
        (&["--time-limit", "0.3", "-L", "n=30", "--", "sleep {n}"], "longer than"),
    ] {
        let output = scale(dir.path(), words);
        assert_eq!(output.status.code(), Some(125), "{words:?}");
        assert!(said(&output).contains(why), "{words:?}: {}", said(&output));
    }
}
