//! One text is searched for many patterns, one after the other, by the C library's functions that look for one: all of them can be looked for in one
//! pass, or those left out that cannot begin where the text does.

use super::{AGAIN, NOTED, Scan, Unit, candidate};
use crate::Evidence;
use crate::candidate::Candidate;
use crate::causes::runtime;
use crate::walks::{Entries, LOWEST_ADDRESS, Repeats};
use std::collections::{HashMap, HashSet};

/// How their names begin behind underscores, how many of the first arguments are the text, and which one is the pattern.
const FUNCTIONS: [(&str, usize, usize); 3] = [("strstr", 1, 1), ("strcasestr", 1, 1), ("memmem", 2, 2)];
/// Patterns from which on it is worth while: twice what is left. A program that looks for a handful of words in each line is as it should be.
const MANY: f64 = 20.0;
/// What looking for all at once takes, in searches for one: an automaton takes 1 to 3 ns a byte, and a search of a line of 60 bytes took 30 ns, so
/// that it is two to six.
const AT_ONCE: f64 = 10.0;

/// A finding, if the function is one of these and is called so.
pub(super) fn judge(evidence: &Evidence<'_>, entries: &Entries<'_>) -> Option<Candidate> {
    let frame = evidence.frame(entries.function);
    if !runtime::is_name(&frame) || entries.noted() < NOTED {
        return None;
    }
    let name = frame.function.trim_start_matches('_').trim_start_matches("GI_").trim_start_matches('_');
    let family = name.split(|c: char| !c.is_ascii_alphanumeric()).next().unwrap_or(name);
    let (_, text, pattern) = FUNCTIONS.iter().find(|(known, ..)| *known == family)?;
    let (mut texts, mut again, mut known) = (0, 0, 0);
    for burst in &entries.bursts {
        // Of each text the patterns that it was searched for.
        let mut searched: HashMap<Vec<(u64, u64)>, HashSet<u64>> = HashMap::new();
        for row in burst {
            let key: Vec<(u64, u64)> =
                row.addresses.iter().copied().zip(row.contents.iter().copied()).take(*text).collect();
            let readable = key.first().is_some_and(|(at, content)| *at >= LOWEST_ADDRESS && *content != 0);
            let Some(wanted) = row.addresses.get(*pattern).filter(|_| readable) else { continue };
            let patterns = searched.entry(key).or_default();
            // The first of a burst has none before it.
            again += usize::from(!patterns.is_empty() && !patterns.contains(wanted));
            known += usize::from(patterns.insert(*wanted));
        }
        texts += searched.len();
    }
    let patterns = known as f64 / texts.max(1) as f64;
    let of = entries.noted() - entries.bursts.len();
    if patterns < MANY || (known as f64) < AGAIN * entries.noted() as f64 {
        return None;
    }
    let scan = Scan {
        length: patterns,
        unit: Unit::Patterns,
        // A burst ends before the patterns do.
        at_least: true,
        same: Some(Repeats { repeated: again, of }),
        lists: None,
        spared: 1.0 - AT_ONCE / patterns,
        grows: None,
    };
    candidate(evidence, entries, &entries.spent(evidence), &scan)
}
