//! See `slowpath_fuzzed::elf`.

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| slowpath_fuzzed::elf(data));
