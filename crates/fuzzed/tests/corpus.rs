//! Replays what fuzzing found worth keeping, and some thousands of inputs of chance from a fixed seed: nothing may panic.

#![allow(clippy::print_stderr)] // which input it was is said

use std::path::Path;

/// A generator that gives every run the same numbers.
struct Dice(u64);

impl Dice {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 8
    }

    fn bytes(&mut self, most: u64) -> Vec<u8> {
        (0..self.next() % most).map(|_| self.next() as u8).collect()
    }
}

/// The kept inputs of a target, with their names.
fn kept(target: &str) -> Vec<(String, Vec<u8>)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus").join(target);
    let entries = std::fs::read_dir(&folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let paths = entries.map(|entry| entry.expect("an entry").path());
    let mut kept: Vec<_> =
        paths.map(|path| (path.display().to_string(), std::fs::read(&path).expect("an input"))).collect();
    kept.sort();
    assert!(!kept.is_empty(), "{target} has no inputs");
    kept
}

/// Runs all kept inputs, each of them changed in places, and `more` of chance.
fn replay(target: &str, run: fn(&[u8]), changed: usize, more: usize) {
    let mut dice = Dice(0x9e37_79b9_7f4a_7c15);
    for (name, input) in kept(target) {
        eprintln!("{name}");
        run(&input);
        for _ in 0..changed {
            let mut input = input.clone();
            for _ in 0..=dice.next() % 6 {
                let at = dice.next() as usize % input.len().max(1);
                if let Some(byte) = input.get_mut(at) {
                    *byte = [0, 0xff, 0x7f, 0x80, dice.next() as u8][dice.next() as usize % 5];
                }
            }
            run(&input);
        }
    }
    for number in 0..more {
        let input = dice.bytes(600);
        eprintln!("{target}: number {number} of chance");
        run(&input);
    }
}

#[test]
fn elf_files() {
    replay("elf", slowpath_fuzzed::elf, 100, 500);
}

#[test]
fn mangled_names() {
    replay("names", slowpath_fuzzed::names, 100, 1_000);
}

#[test]
fn callgrind_profiles() {
    replay("callgrind", slowpath_fuzzed::callgrind, 100, 1_000);
}

#[test]
fn recordings() {
    replay("recording", slowpath_fuzzed::recording, 10, 3_000);
}
