//! The causes: one file each, all of the type [`Find`]. To add one, add its file, a line to [`ALL`], a page to
//! `docs/causes/` and a case to `cases/`.

mod failed_lookups;
mod process_per_operation;
mod redundant_file_access;
pub(crate) mod runtime;
mod small_io;
mod superlinear_work;
mod sync_per_operation;
mod waiting;
pub mod words;

use crate::Evidence;
use crate::candidate::Candidate;
use crate::findings::Cause;

/// Looks for one cause, process by process; what they have in common is added up later. Several signs of one cause in one place
/// make one candidate.
pub type Find = fn(&Evidence<'_>) -> Vec<Candidate>;

/// Every cause that is looked for.
pub const ALL: &[(Cause, Find)] = &[
    (Cause::SuperlinearWork, superlinear_work::find),
    (Cause::RedundantFileAccess, redundant_file_access::find),
    (Cause::ProcessPerOperation, process_per_operation::find),
    (Cause::SmallIo, small_io::find),
    (Cause::FailedLookups, failed_lookups::find),
    (Cause::SyncPerOperation, sync_per_operation::find),
    (Cause::Waiting, waiting::find),
];

/// Whether a function is of a language's runtime or standard library: it does what it is asked to, so whoever asks is guilty.
pub fn is_runtime(frame: &crate::findings::Frame) -> bool {
    runtime::is_name(frame)
}

/// The page of a cause, by the name that findings carry.
pub fn page(slug: &str) -> Option<&'static str> {
    PAGES.iter().find(|(name, _)| *name == slug).map(|(_, page)| *page)
}

/// The pages of `docs/causes/`, by name.
pub const PAGES: &[(&str, &str)] = &[
    ("superlinear-work", include_str!("../../../../docs/causes/superlinear-work.md")),
    ("redundant-file-access", include_str!("../../../../docs/causes/redundant-file-access.md")),
    ("process-per-operation", include_str!("../../../../docs/causes/process-per-operation.md")),
    ("small-io", include_str!("../../../../docs/causes/small-io.md")),
    ("failed-lookups", include_str!("../../../../docs/causes/failed-lookups.md")),
    ("sync-per-operation", include_str!("../../../../docs/causes/sync-per-operation.md")),
    ("waiting", include_str!("../../../../docs/causes/waiting.md")),
    ("call-overhead", include_str!("../../../../docs/causes/call-overhead.md")),
];
