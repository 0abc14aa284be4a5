//! Other tools' formats of profiles. Knows nothing of recordings: readers return plain values.
//!
//! - [`callgrind`] — what `valgrind --tool=callgrind` writes.

pub mod callgrind;
