//! See `slowpath_fuzzed::callgrind`.

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| slowpath_fuzzed::callgrind(data));
