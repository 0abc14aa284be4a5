//! The causes: one file each, all of the type [`Find`]. To add one, add its file, a line to [`ALL`], a page to
//! `docs/causes/` and a case to `cases/`.

mod superlinear_work;

use crate::Evidence;
use crate::findings::{Cause, Finding};

/// Looks for one cause. Several signs of one cause in one place make one finding.
pub type Find = fn(&Evidence<'_>) -> Vec<Finding>;

/// Every cause that is looked for.
pub const ALL: &[(Cause, Find)] = &[(Cause::SuperlinearWork, superlinear_work::find)];

/// The page of a cause, by the name that findings carry.
pub fn page(slug: &str) -> Option<&'static str> {
    PAGES.iter().find(|(name, _)| *name == slug).map(|(_, page)| *page)
}

/// The pages of `docs/causes/`, by name.
pub const PAGES: &[(&str, &str)] =
    &[("superlinear-work", include_str!("../../../../docs/causes/superlinear-work.md"))];
