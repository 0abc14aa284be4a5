//! Runs a program and fills a recording.
