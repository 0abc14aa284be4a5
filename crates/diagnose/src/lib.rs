//! From a recording to findings.

pub mod findings;
