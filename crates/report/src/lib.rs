//! Findings to text.
