//! Seeks between small reads, and calls that say where in a file they read or write: whether they stay so near that a buffer would hold what they
//! lead to.

use super::BLOCK;
use crate::calls::is_single;
use slowpath_recording::tables::Syscall;

/// Where so many of them are known to go no further than a block, a buffer would hold what is read next. Random access to a
/// file of more than some 100 KiB goes further more often.
const NEAR: f64 = 0.9;
pub(super) const KNOWN: u64 = 50;

/// The seeks of a process in one file, or the places of calls that name them.
#[derive(Default)]
pub(super) struct Seeks {
    pub count: u64,
    /// Of those that were recorded one by one: how many there were after the first, and how far these went that went no further than a
    /// block, bytes.
    pub known: u64,
    pub near: Vec<u64>,
    last: Option<i64>,
}

impl Seeks {
    /// A call that goes to this place, in order of time. `forward`: what goes back is not near, as a record that is written between its file's
    /// head and the next one.
    pub fn add(&mut self, row: &Syscall, to: i64, forward: bool) {
        self.count += row.count;
        // Of calls that were added up the places are not known.
        if is_single(row)
            && let Some(last) = self.last.replace(to)
        {
            self.known += 1;
            let gone = to.abs_diff(last);
            // Coming back to the same place, as for the head of a database, is something else.
            if (1..=BLOCK as u64).contains(&gone) && (to > last || !forward) {
                self.near.push(gone);
            }
        }
    }

    /// How far all of them went, bytes: the median, for between two that are known there may have been others.
    pub fn distance(&self) -> f64 {
        let near: Vec<f64> = self.near.iter().map(|gone| *gone as f64).collect();
        slowpath_stats::median(&near).unwrap_or(0.0) * self.count as f64
    }

    pub fn stay_near(&self) -> bool {
        are_near(self.known, self.near.len() as u64)
    }
}

/// Whether so many of the known seeks went no further than a block that a buffer would hold what they lead to.
pub(super) fn are_near(known: u64, near: u64) -> bool {
    known >= KNOWN && near as f64 >= NEAR * known as f64
}
