//! Whether code was built with optimisation: programs built by several compilers at several levels, with and without debug information.

use crate::common::Workshop;
use slowpath_symbols::{Build, ElfSymbols, KnownBy};
use std::path::Path;

/// Functions of several kinds: with loops, calls, structures and arrays.
const PROGRAM: &str = r#"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
struct item { struct item *next; char name[16]; long key; double weight; };
static struct item *buckets[256];
unsigned hash(const char *text) {
    unsigned sum = 5381;
    for (const char *at = text; *at; at++) sum = sum * 33 + (unsigned char)*at;
    return sum;
}
struct item *find(const char *name) {
    for (struct item *at = buckets[hash(name) % 256]; at; at = at->next)
        if (!strcmp(at->name, name)) return at;
    return NULL;
}
struct item *add(const char *name, long key) {
    struct item *made = calloc(1, sizeof(*made));
    strncpy(made->name, name, sizeof(made->name) - 1);
    made->key = key;
    made->weight = (double)key / 3;
    unsigned at = hash(name) % 256;
    made->next = buckets[at];
    buckets[at] = made;
    return made;
}
double total(void) {
    double sum = 0;
    for (int bucket = 0; bucket < 256; bucket++)
        for (struct item *at = buckets[bucket]; at; at = at->next)
            sum += at->weight * (double)(at->key % 7 + 1);
    return sum;
}
int main(int argc, char **argv) {
    char name[16];
    for (int i = 0; i < 1000 * argc; i++) {
        snprintf(name, sizeof(name), "n%d", i % 300);
        struct item *item = find(name);
        if (item) item->key += i; else add(name, i);
    }
    printf("%.1f %s\n", total(), argv[0]);
    return 0;
}
"#;

/// How the function `name` of `program`, built with these arguments, is said to be built.
fn build(shop: &Workshop, compiler: &[&str], strip: bool, name: &str) -> Option<Build> {
    let command: Vec<&str> = compiler.iter().copied().chain(["-o", "prog"]).collect();
    shop.run(&command);
    let prog = shop.path("prog");
    let (start, _) = crate::common::symbol(&prog, name);
    if strip {
        shop.run(&["strip", "prog"]);
    }
    ElfSymbols::open(Path::new(&prog), None).expect("open").build(start + 8)
}

#[test]
fn the_compiler_notes_its_options() {
    let shop = Workshop::new();
    shop.write("prog.c", PROGRAM);
    for (level, optimized) in [("-O0", false), ("-O2", true), ("-Og", true)] {
        let build = build(&shop, &["gcc", "-g", level, "prog.c"], false, "find").expect(level);
        assert_eq!((build.optimized, build.known_by), (optimized, KnownBy::Compiler), "{level}");
        assert!(build.compiler.is_some_and(|compiler| compiler.starts_with("GNU C")), "{level}");
    }
}

#[test]
fn without_debug_information_the_code_tells() {
    let shop = Workshop::new();
    shop.write("prog.c", PROGRAM);
    for compiler in ["gcc", "clang"] {
        for (level, optimized) in [("-O0", false), ("-O1", true), ("-O2", true), ("-Os", true)] {
            for name in ["total", "main"] {
                let found = build(&shop, &[compiler, level, "prog.c"], true, name);
                let found = found.map(|build| (build.optimized, build.known_by, build.compiler));
                assert_eq!(found, Some((optimized, KnownBy::Code, None)), "{compiler} {level} {name}");
            }
        }
    }
}

#[test]
fn rustc_notes_no_level_and_its_code_tells() {
    let shop = Workshop::new();
    let source = r#"
        use std::collections::HashMap;
        #[inline(never)]
        fn tally(words: &[String]) -> HashMap<&str, usize> {
            let mut counts = HashMap::new();
            for word in words { *counts.entry(word.as_str()).or_insert(0) += word.len(); }
            counts
        }
        #[inline(never)]
        fn weigh(counts: &HashMap<&str, usize>, words: &[String]) -> f64 {
            let mut sum = 0.0;
            for (at, word) in words.iter().enumerate() {
                if let Some(count) = counts.get(word.as_str()) { sum += (*count * (at % 7 + 1)) as f64 / 3.0; }
            }
            sum
        }
        fn main() {
            let words: Vec<String> = (0..1000).map(|at| format!("w{}", at % 37)).collect();
            println!("{}", weigh(&tally(&words), &words));
        }"#;
    shop.write("prog.rs", source);
    for (level, optimized) in [("opt-level=0", false), ("opt-level=2", true)] {
        let compiler = ["rustc", "--edition", "2021", "-g", "-C", level, "prog.rs"];
        let command: Vec<&str> = compiler.into_iter().chain(["-o", "prog"]).collect();
        shop.run(&command);
        let prog = shop.path("prog");
        let start = crate::common::symbol_with(&prog, "weigh");
        let build = ElfSymbols::open(Path::new(&prog), None).expect("open").build(start + 8).expect(level);
        assert_eq!((build.optimized, build.known_by), (optimized, KnownBy::Code), "{level}");
        assert!(build.compiler.is_some_and(|compiler| compiler.starts_with("rustc 1.")), "{level}");
    }
}
