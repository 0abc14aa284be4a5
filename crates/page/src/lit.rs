//! What a finding is about, as numbers of the recording: its links in the page light these up.

use serde::Serialize;
use slowpath_diagnose::findings::{Finding, Frame};
use std::collections::BTreeSet;

/// See the file's head.
#[derive(Debug, Default, PartialEq, Serialize)]
pub(crate) struct Lit {
    /// The guilty function; nothing where a program stands for it.
    pub guilty: BTreeSet<u32>,
    /// Functions of its call path, the guilty one left out.
    pub path: BTreeSet<u32>,
    /// Files concerned.
    pub files: BTreeSet<u32>,
}

impl Lit {
    pub(crate) fn of(finding: &Finding) -> Lit {
        let ids = |frames: &[Frame]| frames.iter().filter_map(|frame| frame.function_id).collect();
        let guilty: BTreeSet<u32> = ids(std::slice::from_ref(&finding.place.frame));
        let path: BTreeSet<u32> = ids(&finding.place.path);
        let files = finding.files.iter().flat_map(|file| &file.ids).copied().collect();
        Lit { path: path.difference(&guilty).copied().collect(), guilty, files }
    }
}
