//! What became of copies: the collector follows short pieces of the run instruction by instruction (`slowpath-collect`, `ahead`) and says of which copies nothing was changed
//! until they were dropped, neither of the copy nor of the original.

use crate::Evidence;
use std::collections::{BTreeMap, BTreeSet};

/// Copies of which the end was seen before they count: three of them may be changed, and of copies of which a quarter is changed so few are seen by chance in 3 %; …
const KNOWN: u64 = 32;
/// … in so many stretches: one may be of a part of the run that is not typical, such as its start.
const STRETCHES: usize = 3;
/// Share of them that must be unchanged for a reference to do: the rest may be the few that are worked on. In bedtools, which copies a record for each try, it is 0.998.
const UNCHANGED: f64 = 0.9;
/// Of copies that were changed from this share on, there is a reason to make them.
const CHANGED: f64 = 0.5;

/// Copies by one function for another one.
#[derive(Default, Clone)]
pub(super) struct Fates {
    pub copies: u64,
    pub dropped: u64,
    pub unchanged: u64,
    stretches: BTreeSet<u32>,
}

impl Fates {
    /// Whether a reference would do for most of them.
    pub(super) fn are_needless(&self) -> bool {
        self.dropped >= KNOWN
            && self.stretches.len() >= STRETCHES
            && self.unchanged as f64 >= UNCHANGED * self.dropped as f64
            && 2 * self.dropped >= self.copies
    }

    /// Whether most of them are changed, or what they were made of.
    pub(super) fn are_needed(&self) -> bool {
        self.dropped >= KNOWN
            && self.stretches.len() >= STRETCHES
            && (self.dropped - self.unchanged) as f64 >= CHANGED * self.dropped as f64
    }

    /// Adds those of another function.
    pub(super) fn add(&mut self, other: &Fates) {
        self.copies += other.copies;
        self.dropped += other.dropped;
        self.unchanged += other.unchanged;
    }

    /// The part of all copies that is known to be needless.
    pub(super) fn share(&self) -> f64 {
        self.unchanged as f64 / self.copies.max(1) as f64
    }
}

/// By process, the function that asks for the copies and the one that makes them.
pub(super) fn all(evidence: &Evidence<'_>) -> BTreeMap<(u32, u32, u32), Fates> {
    let tables = &evidence.recording.tables;
    let mut all: BTreeMap<(u32, u32, u32), Fates> = BTreeMap::new();
    for row in &tables.copied {
        let process = tables.threads[tables.stretches[row.stretch as usize].thread as usize].process;
        let Some(asker) = row.caller.and_then(|caller| evidence.function_at(caller)) else { continue };
        let Some(copier) = evidence.function_at(row.location) else { continue };
        let of = all.entry((process, asker, copier)).or_default();
        of.copies += row.calls;
        of.dropped += row.dropped.min(row.calls);
        of.unchanged += row.unchanged.min(row.dropped).min(row.calls);
        if row.dropped > 0 {
            of.stretches.insert(row.stretch);
        }
    }
    all
}
