//! The loop that takes most of the time of those that are entered again and again, with how far it goes each time.
//!
//! The first step of what one would do by hand: not only where the time goes, but how much is done there for one of whatever it is.

use super::LEAST;
use crate::Evidence;
use crate::findings::BusyLoop;
use crate::walks::{self, Entries};

/// A loop with less of the CPU time says little of the run.
const SHARE: f64 = 0.3;
/// Entries that must have been noted: what is entered but a few times is the program's main loop. A burst has 64, or 40 by breakpoints.
const ENTRIES: usize = 40;
/// Rounds that are worth a thought: a loop over the characters of a word has as many.
const ROUNDS: f64 = 16.0;
/// Loops in each other take about the same time: of those with so much of the most, the one with most rounds.
const SAME: f64 = 0.8;
/// Most of its entries begin where one before began, and find the same there.
const MOST: f64 = 0.5;

/// See the file's head.
pub(super) fn busiest(evidence: &Evidence<'_>) -> Option<BusyLoop> {
    let least = (SHARE * evidence.cpu_ns).max(LEAST * evidence.recording.about.wall_ns as f64);
    let is_told = |one: &Entries<'_>| {
        one.one_loop.is_some() && one.noted() >= ENTRIES && one.length() >= ROUNDS && !one.is_longer()
    };
    let entries = walks::all(evidence);
    let told = entries.iter().filter(|one| is_told(one)).map(|one| (one, one.spent(evidence)));
    let told: Vec<_> = told.filter(|(_, spent)| spent.cost_ns >= least).collect();
    let most = told.iter().map(|(_, spent)| spent.cost_ns).fold(0.0, f64::max);
    let (entries, spent) = told
        .into_iter()
        .filter(|(_, spent)| spent.cost_ns >= SAME * most)
        .max_by(|(a, _), (b, _)| a.length().total_cmp(&b.length()))?;
    let path = evidence.path_at(spent.stack?, entries.function);
    Some(BusyLoop {
        function: path.last()?.clone(),
        total_ns: spent.cost_ns as u64,
        share: (spent.cost_ns / evidence.cpu_ns.max(1.0)).min(1.0),
        rounds: entries.length(),
        again: entries.of_pointers().share() >= MOST && !walks::is_refilled(evidence, entries),
    })
}
