//! Callgrind's output: small files made by hand, files that are broken, and a real run beside what `callgrind_annotate` says.

use slowpath_formats::callgrind::{Function, INSTRUCTIONS, Profile, functions, read};
use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

fn profile(text: &str) -> Profile {
    read(text, "made-by-hand").unwrap_or_else(|error| panic!("{error}"))
}

fn totals(profile: &Profile) -> Vec<Function> {
    functions(profile.parts.iter().map(|part| (profile, part)), INSTRUCTIONS).expect("it counts instructions")
}

fn one<'a>(functions: &'a [Function], name: &str) -> &'a Function {
    let mut found = functions.iter().filter(|function| function.name == name);
    let function = found.next().unwrap_or_else(|| panic!("no {name} in {functions:#?}"));
    assert!(found.next().is_none(), "{name} is there twice");
    function
}

const SMALL: &str = "\
# callgrind format
version: 1
creator: by hand
pid: 7
part: 1
desc: Trigger: Program termination
positions: line
events: Ir Dr
summary: 820 10

ob=(1) /bin/prog
fl=(1) main.c
fn=(1) main
16 20 4
cfn=(2) work
calls=2 -6
* 700 6
fi=(2) inline.h
400 50
fe=(1)
+2 30
cob=(2) /lib/libc.so.6
cfi=(3) string.c
cfn=(3) memcpy
calls=3 80
* 20

fn=(2)
10 300
cob=(2)
cfi=(3)
cfn=(3)
calls=40 80
+1 400

ob=(2)
fl=(3)
fn=(3)
81 410
-1 10
";

#[test]
fn names_and_positions_are_written_out_again() {
    let profile = profile(SMALL);
    let functions = totals(&profile);
    let main = one(&functions, "main");
    assert_eq!((main.own, main.inclusive, main.calls), (100, 820, 0));
    assert_eq!((main.object.as_str(), main.file.as_str(), main.line), ("/bin/prog", "main.c", Some(16)));
    let work = one(&functions, "work");
    assert_eq!((work.own, work.inclusive, work.calls, work.line), (300, 700, 2, Some(10)));
    assert_eq!((work.object.as_str(), work.file.as_str()), ("/bin/prog", "main.c"));
    let copy = one(&functions, "memcpy");
    assert_eq!((copy.own, copy.inclusive, copy.calls, copy.line), (420, 420, 43, Some(80)));
    assert_eq!((copy.object.as_str(), copy.file.as_str()), ("/lib/libc.so.6", "string.c"));
    let callers: Vec<(&str, u64, u64)> = copy
        .callers
        .iter()
        .map(|caller| (functions[caller.function].name.as_str(), caller.calls, caller.inclusive))
        .collect();
    assert_eq!(callers, [("work", 40, 400), ("main", 3, 20)]);
    assert_eq!(profile.parts[0].pid, Some(7));
    assert_eq!(profile.parts[0].trigger, "Program termination");
    assert_eq!(profile.parts[0].summary, [820, 10]);
    let loads = sum_of(&profile, 1);
    assert_eq!(loads, 4, "only main has loads of its own");
}

fn sum_of(profile: &Profile, event: usize) -> u64 {
    profile.parts.iter().flat_map(|part| part.own.values()).map(|costs| costs[event]).sum()
}

#[test]
fn a_function_that_calls_itself_is_counted_once() {
    let functions = totals(&profile(
        "events: Ir\nfl=a.c\nfn=main\n1 10\ncfn=fact\ncalls=3 2\n1 600\n\n\
         fn=fact\n2 30\ncfn=fact'2\ncalls=3 2\n2 570\n\nfn=fact'2\n2 570\ncfn=fact'2\ncalls=50 2\n2 9000\n",
    ));
    let fact = one(&functions, "fact");
    assert_eq!((fact.own, fact.inclusive, fact.calls, fact.recursive_calls), (600, 600, 3, 53));
    assert_eq!(one(&functions, "main").inclusive, 610);
}

#[test]
fn functions_that_call_each_other_are_counted_once() {
    // even → odd → even'2 → odd'2, and so on.
    let functions = totals(&profile(
        "events: Ir\nfl=a.c\nfn=even\n1 5\ncfn=odd\ncalls=1 2\n1 45\n\nfn=odd\n2 5\ncfn=even'2\ncalls=1 1\n2 40\n\n\
         fn=even'2\n1 20\ncfn=odd'2\ncalls=4 2\n1 80\n\nfn=odd'2\n2 20\ncfn=even'2\ncalls=3 1\n2 60\n",
    ));
    let even = one(&functions, "even");
    assert_eq!((even.own, even.inclusive), (25, 50));
    let odd = one(&functions, "odd");
    assert_eq!((odd.own, odd.inclusive, odd.calls), (25, 45, 1));
}

#[test]
fn parts_and_threads_are_kept_apart_and_share_their_names() {
    let profile = profile(
        "pid: 5\npart: 1\nthread: 1\nevents: Ir\nfl=(1) a.c\nfn=(1) work\n1 10\n\ntotals: 10\n\
         part: 1\nthread: 2\nfn=(1)\n+1 7\n\ntotals: 7\npart: 2\nthread: 1\nfl=(1)\nfn=(1)\n1 4\n",
    );
    let parts: Vec<_> = profile
        .parts
        .iter()
        .map(|part| {
            (part.pid, part.number, part.thread, part.own.values().map(|costs| costs[0]).sum::<u64>())
        })
        .collect();
    let (pid, first, second) = (Some(5), Some(1), Some(2));
    assert_eq!(parts, [(pid, first, first, 10), (pid, first, second, 7), (pid, second, first, 4)]);
    assert_eq!(one(&totals(&profile), "work").own, 21);
}

#[test]
fn instructions_and_jumps_are_read_over() {
    let functions = totals(&profile(
        "positions: instr line\nevents: Ir\nfl=a.c\nfn=main\n0x401000 5 3\njcnd=4/9 +0x20 +2\n* *\njump=3 -6 *\n+4 +1\n\
         +3 * 8\ncfn=f\ncalls=2 0x402000 40\n* * 12\n",
    ));
    let main = one(&functions, "main");
    assert_eq!((main.own, main.inclusive, main.line), (11, 23, Some(5)));
    assert_eq!(one(&functions, "f").line, Some(40));
}

#[test]
fn what_is_unknown_has_no_name() {
    let functions = totals(&profile("events: Ir\nob=???\nfl=???\nfn=0x1234\n0 5\n\nfn=(below main)\n0 2\n"));
    let unknown = one(&functions, "0x1234");
    assert_eq!((unknown.object.as_str(), unknown.file.as_str(), unknown.line), ("", "", None));
    assert_eq!(one(&functions, "(below main)").own, 2);
}

#[test]
fn broken_files_are_refused_with_the_line() {
    for (text, line, why) in [
        ("", 1, "names no events"),
        ("events: Ir\nfn=(3)\n", 2, "name (3) was never given"),
        ("events: Ir\n1 2\n", 2, "before the function"),
        ("1 2\n", 1, "before the events"),
        ("events: Ir\nfn=f\n1 x\n", 3, "`x` is not a cost"),
        ("events: Ir\nfn=f\n-3 1\n", 3, "`-3` is not a position"),
        ("events: Ir\nfn=f\n1 2 3\n", 3, "2 costs for 1 events"),
        ("events: Ir\nfn=f\ncalls=2 1\n1 2\n", 3, "without a callee"),
        ("events: Ir\nfn=f\ncfn=g\ncalls=many 1\n1 2\n", 4, "not a number of calls"),
        ("events: Ir\nfn=f\ncfn=g\ncalls=1 1\n", 4, "in the middle of a call"),
        ("events: Ir\nwhatever\n", 2, "not a line of callgrind's format"),
        ("version: 2\n", 1, "version 2"),
        ("positions: moon\n", 1, "positions moon"),
        ("part: x\n", 1, "part x is not a number"),
        ("events: Ir\nfn=f\n99999999999999999999 1\n", 3, "not a position"),
    ] {
        let error = read(text, "broken").expect_err(text).to_string();
        assert!(error.starts_with(&format!("broken:{line}: ")), "{text:?}: {error}");
        assert!(error.contains(why), "{text:?}: {error}");
    }
}

#[test]
fn a_file_cut_off_anywhere_is_read_or_refused_but_never_fatal() {
    for end in 0..SMALL.len() {
        match read(&SMALL[..end], "cut") {
            Ok(profile) if profile.event(INSTRUCTIONS).is_some() => assert!(totals(&profile).len() <= 3),
            Ok(profile) => assert_eq!(profile.events, ["I"]),
            Err(error) => assert!(error.line <= SMALL[..end].lines().count().max(1), "{error}"),
        }
    }
}

const PROGRAM: &str = r#"
#include <stdlib.h>
#include <string.h>
#define APART __attribute__((noinline, noclone))
static char text[4096];
static inline size_t middle(size_t n) { return strlen(text) / 2 + n; }
APART long fact(long n) { return n < 2 ? 1 : n * fact(n - 1) % 1009; }
APART int odd(int n);
APART int even(int n) { return n == 0 ? 1 : odd(n - 1); }
APART int odd(int n) { return n == 0 ? 0 : even(n - 1); }
APART long work(int n) { long sum = 0; for (int i = 0; i < n; i++) sum += fact(i % 30) + even(i % 9) + middle(i); return sum; }
int main(int argc, char **argv) { memset(text, 'x', argc * 1000); return work(atoi(argv[1])) == 42; }
"#;

/// Valgrind is part of what tests need (`scripts/setup test`), so that it is missing is a failure.
fn run(dir: &Path, options: &[&str]) -> Vec<String> {
    std::fs::write(dir.join("program.c"), PROGRAM).expect("a file");
    let built = Command::new("cc")
        .args(["-O1", "-g", "-fno-optimize-sibling-calls", "-o", "program", "program.c"])
        .current_dir(dir)
        .status();
    assert!(built.expect("a compiler").success());
    let out = format!("--callgrind-out-file={}/out", dir.display());
    let mut valgrind = Command::new("valgrind");
    valgrind
        .args(["-q", "--tool=callgrind", &out])
        .args(options)
        .args(["./program", "2000"])
        .current_dir(dir);
    assert!(valgrind.status().expect("valgrind, which `make setup-test` installs").success());
    let mut files: Vec<String> = std::fs::read_dir(dir)
        .expect("the folder")
        .filter_map(|entry| entry.expect("an entry").file_name().into_string().ok())
        .filter(|name| name.starts_with("out"))
        .collect();
    files.sort();
    files
}

/// What `callgrind_annotate` says: the costs of each function by its name, and the total. It tells what was inlined into a
/// function from another file apart, and the whole once more where it was called.
fn annotated(dir: &Path, file: &str, options: &[&str]) -> (BTreeMap<String, Vec<u64>>, u64) {
    let output = Command::new("callgrind_annotate")
        .args(["--threshold=100", "--auto=no", "--show-percs=no"])
        .args(options)
        .arg(file)
        .current_dir(dir)
        .output()
        .expect("callgrind_annotate");
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let (mut costs, mut total): (BTreeMap<String, Vec<u64>>, u64) = (BTreeMap::new(), 0);
    for line in text.lines() {
        let Some((cost, what)) = line.trim().split_once(' ') else { continue };
        let Ok(cost) = cost.replace(',', "").parse::<u64>() else { continue };
        if what.contains("PROGRAM TOTALS") {
            total = cost;
            continue;
        }
        // `  file:function [object]`
        let Some((_, name)) = what.trim().split_once(':') else { continue };
        let name = name.rsplit_once(" [").map_or(name, |(name, _)| name).trim();
        costs.entry(name.to_owned()).or_default().push(cost);
    }
    assert!(total > 0, "{text}");
    (costs, total)
}

#[test]
fn a_real_run_adds_up_to_what_callgrind_annotate_says() {
    for options in [
        &[][..],
        &["--dump-instr=yes", "--collect-jumps=yes"],
        &["--compress-strings=no", "--compress-pos=no"],
    ] {
        let dir = tempfile::tempdir().expect("a folder");
        assert_eq!(run(dir.path(), options), ["out"]);
        let text = std::fs::read_to_string(dir.path().join("out")).expect("its output");
        let profile = profile(&text);
        let functions = totals(&profile);
        let (own, total) = annotated(dir.path(), "out", &["--inclusive=no"]);
        assert_eq!(functions.iter().map(|function| function.own).sum::<u64>(), total, "{options:?}");
        assert_eq!(profile.parts[0].summary, [total], "{options:?}");
        let (inclusive, _) = annotated(dir.path(), "out", &["--inclusive=yes"]);
        for name in ["main", "work"] {
            let function = one(&functions, name);
            let whole = inclusive[name].iter().max().copied();
            assert_eq!(Some(function.inclusive), whole, "{options:?}: {name}");
        }
        for name in ["main", "work", "fact", "even", "odd"] {
            let function = one(&functions, name);
            let told: u64 = own.iter().filter(|(of, _)| base(of) == name).flat_map(|(_, costs)| costs).sum();
            assert_eq!(function.own, told, "{options:?}: {name}");
            assert!(
                function.file.ends_with("program.c") && function.object.ends_with("/program"),
                "{function:#?}"
            );
        }
        let fact = one(&functions, "fact");
        let outer = inclusive["fact"].iter().max().copied().unwrap_or(0);
        assert_eq!((fact.calls, fact.inclusive), (2000, outer), "{options:?}");
        assert_eq!(fact.line, Some(7));
        assert!(fact.inclusive < one(&functions, "work").inclusive);
        // i % 30 calls of itself each, but none for 0 and 1: 1 + … + 28 in each thirty.
        let inner: u64 = (0..2000u64).map(|i| (i % 30).saturating_sub(1)).sum();
        assert_eq!(fact.recursive_calls, inner);
    }
}

/// Without the mark of the level.
fn base(name: &str) -> &str {
    name.split('\'').next().unwrap_or(name)
}

#[test]
fn the_dumps_of_a_run_add_up_to_the_whole() {
    let (whole, parts) = (tempfile::tempdir().expect("a folder"), tempfile::tempdir().expect("a folder"));
    run(whole.path(), &[]);
    let files = run(parts.path(), &["--dump-every-bb=1000", "--combine-dumps=yes"]);
    assert_eq!(files.len(), 1);
    let read_in = |dir: &Path| profile(&std::fs::read_to_string(dir.join("out")).expect("its output"));
    let (whole, parts) = (read_in(whole.path()), read_in(parts.path()));
    assert!(parts.parts.len() > 3, "{}", parts.parts.len());
    let (whole, parts) = (totals(&whole), totals(&parts));
    for name in ["main", "work", "fact", "even", "odd"] {
        let (a, b) = (one(&whole, name), one(&parts, name));
        assert_eq!((a.own, a.inclusive, a.calls), (b.own, b.inclusive, b.calls), "{name}");
    }
}
