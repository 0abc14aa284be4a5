//! What the causes find in synthetic recordings, one file a cause or a kin of causes. One program for all of them: each
//! program that is linked of its own takes time to build and 60 MB.

#[path = "../common/mod.rs"]
mod common;
#[allow(dead_code, reason = "made for the tests of slowpath-symbols")]
#[path = "../../../symbols/tests/common/elf.rs"]
mod elf;
#[path = "../common/rounds.rs"]
mod rounds;
#[path = "../common/sampled.rs"]
mod sampled;
#[path = "../common/traced.rs"]
mod traced;
#[path = "../common/walked.rs"]
mod walked;

mod adding_up;
mod again;
mod allocation_churn;
mod builds;
mod busy_wait;
mod comparisons;
mod costly_calls;
mod delayed_acks;
mod duplicate_build;
mod exceptions;
mod exchanges;
mod file_calls;
mod files_read_over;
mod goroutines;
mod handing_over;
mod in_windows;
mod late_children;
mod leads;
mod locks;
mod lookups;
mod names;
mod needless_calls;
mod old_recordings;
mod page_faults;
mod polling_processes;
mod processes;
mod recursion;
mod redundant_clearing;
mod redundant_computation;
mod redundant_copy;
mod regex_backtracking;
mod registry;
mod repeated_counts;
mod repeated_scan;
mod repeated_texts;
mod rewritten_files;
mod scripts;
mod small_io;
mod spinning;
mod stopping;
mod superlinear_guilt;
mod superlinear_loops;
mod superlinear_shifts;
mod superlinear_slices;
mod superlinear_work;
mod syncs;
mod threads;
mod unnoticed;
mod unread;
mod waiting_calls;
