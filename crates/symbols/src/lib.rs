//! Addresses to functions.
