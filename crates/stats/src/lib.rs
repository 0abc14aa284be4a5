//! Growth fits, ranks and intervals.
