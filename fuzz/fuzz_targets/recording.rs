//! See `slowpath_fuzzed::recording`.

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| slowpath_fuzzed::recording(data));
