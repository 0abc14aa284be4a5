//! See `slowpath_fuzzed::names`.

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| slowpath_fuzzed::names(data));
