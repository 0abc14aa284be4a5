//! Small programs for the tests: writes, compiles and takes them apart.

#![allow(dead_code, reason = "each test file uses its own part of this")]
#![allow(clippy::print_stderr, reason = "what was skipped is said")]

pub mod elf;

use std::path::{Path, PathBuf};
use std::process::Command;

use object::{Object, ObjectSymbol};

/// A folder of sources and programs, gone after the test.
pub struct Workshop {
    pub folder: tempfile::TempDir,
}

impl Workshop {
    pub fn new() -> Self {
        Workshop { folder: tempfile::tempdir().expect("temporary folder") }
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub fn write(&self, name: &str, text: &str) -> PathBuf {
        let path = self.path(name);
        std::fs::write(&path, text).expect("write source");
        path
    }

    /// Runs a tool in the folder; the test fails if the tool does.
    pub fn run(&self, command: &[&str]) {
        let output = self.output(command);
        let message = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{command:?} failed: {message}");
    }

    /// Runs a tool in the folder that need not support what it is asked. True if it did.
    pub fn try_run(&self, command: &[&str]) -> bool {
        self.output(command).status.success()
    }

    fn output(&self, command: &[&str]) -> std::process::Output {
        let (tool, arguments) = command.split_first().expect("a command");
        Command::new(tool)
            .args(arguments)
            .current_dir(self.folder.path())
            .output()
            .unwrap_or_else(|error| panic!("{tool}: {error}"))
    }
}

/// True if `tool` can be run. Says on the terminal that the test is skipped if not.
pub fn have(tool: &str, version_argument: &str) -> bool {
    let found = Command::new(tool).arg(version_argument).output().is_ok();
    if !found {
        eprintln!("SKIPPED: {tool} is not installed");
    }
    found
}

/// (svma, size) of a symbol.
pub fn symbol(path: &Path, name: &str) -> (u64, u64) {
    let data = std::fs::read(path).expect("read program");
    let elf = object::File::parse(&*data).expect("ELF");
    let mut symbols = elf.symbols().chain(elf.dynamic_symbols());
    let found = symbols.find(|symbol| symbol.name() == Ok(name) && symbol.is_definition());
    let found = found.unwrap_or_else(|| panic!("no symbol {name} in {}", path.display()));
    (found.address(), found.size())
}

/// First address of the first function whose name contains `part`.
pub fn symbol_with(path: &Path, part: &str) -> u64 {
    let data = std::fs::read(path).expect("read program");
    let elf = object::File::parse(&*data).expect("ELF");
    let found = elf
        .symbols()
        .find(|symbol| symbol.is_definition() && symbol.name().is_ok_and(|name| name.contains(part)));
    found.unwrap_or_else(|| panic!("no symbol with {part} in {}", path.display())).address()
}

/// The number of the line that holds `mark`, counted from 1.
pub fn line_of(source: &str, mark: &str) -> u32 {
    let index = source.lines().position(|line| line.contains(mark)).expect("marked line");
    u32::try_from(index + 1).expect("a small file")
}

/// A C program with inlined functions, and a stub for `puts`.
pub const C_PROGRAM: &str = r#"#include <stdio.h>
#include <stdlib.h>
static inline __attribute__((always_inline)) int innermost(int x) { // innermost
    int sum = 0;
    for (int i = 0; i < x; i++)
        sum += (sum ^ i) * x; // hot line
    return sum;
}
static inline __attribute__((always_inline)) int middle(int x) { // middle
    return innermost(x + 1) + 1; // call of innermost
}
__attribute__((noinline)) int outer(int x) { // outer
    return middle(x * 3); // call of middle
}
__attribute__((noinline, cold, noreturn)) void complain(const char *what) {
    puts(what);
    abort();
}
__attribute__((noinline)) int checked(int x) {
    if (__builtin_expect(x > 1000000, 0)) {
        puts("too large");
        complain("so it ends");
    }
    return outer(x) + x;
}
int main(int argc, char **argv) {
    puts(argv[0]);
    return checked(argc);
}
"#;
