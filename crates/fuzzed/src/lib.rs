//! What fuzzing asks of slowpath: each function takes any bytes and must return, without a panic, soon and in little memory.
//!
//! - [`elf`] — a program or library, and addresses in it.
//! - [`names`] — a mangled name.
//! - [`callgrind`] — a profile.
//! - [`recording`] — a whole recording: diagnosed, reported, compared and made a page.
//!
//! `fuzz/` gives them bytes that a fuzzer thinks of, `tests/corpus.rs` those that were worth keeping and some of chance.

mod base;
#[path = "../../diagnose/tests/common/mod.rs"]
mod common;
mod input;
mod recorded;
#[path = "../../diagnose/tests/common/sampled.rs"]
mod sampled;
#[allow(dead_code, reason = "made for the tests of slowpath-diagnose")]
#[path = "../../diagnose/tests/common/traced.rs"]
mod traced;
#[path = "../../recording/tests/common/mod.rs"]
mod whole;
mod wild;

pub use recorded::recording;

use input::Input;
use slowpath_formats::callgrind;
use slowpath_symbols::{ElfSymbols, FunctionRanges, build_id, section_of};
use std::path::Path;

/// Reads a profile and adds it up.
pub fn callgrind(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    if let Ok(profile) = callgrind::read(&text, "fuzzed") {
        let parts = profile.parts.iter().map(|part| (&profile, part));
        let _ = callgrind::functions(parts, callgrind::INSTRUCTIONS);
    }
}

/// Shows a mangled name.
pub fn names(data: &[u8]) {
    let shown = slowpath_symbols::demangle(&String::from_utf8_lossy(data));
    assert!(shown.len() < 100_000, "{} bytes stand for {}", data.len(), shown.len());
}

/// Looks up addresses in a file. The first byte says how many, 8 bytes each; the file follows.
pub fn elf(data: &[u8]) {
    let mut input = Input::new(data);
    let mut addresses = vec![0, 1, 0x1000, 0x1010, u64::MAX - 1, u64::MAX];
    addresses.extend((0..input.byte() % 16).map(|_| input.u64()));
    let file = input.rest();
    let _ = (build_id(file), section_of(file, ".debug_frame"), section_of(file, ".debug_info"));
    if let Ok(ranges) = FunctionRanges::from_elf(file) {
        for svma in &addresses {
            if let Some(name) = ranges.containing(*svma).and_then(|range| range.name) {
                let _ = ranges.start_of(name);
            }
        }
    }
    if let Ok(mut symbols) =
        ElfSymbols::from_bytes(file.to_vec(), Path::new("/nonexistent/fuzzed"), None, &[])
    {
        for svma in addresses {
            let frames = symbols.lookup(svma);
            assert!(frames.len() <= 257 && frames.iter().all(|frame| frame.name.len() < 100_000));
            let _ = (symbols.producer(svma), symbols.build(svma));
        }
        let _ = (symbols.has_symbols(), symbols.left_out());
    }
}
