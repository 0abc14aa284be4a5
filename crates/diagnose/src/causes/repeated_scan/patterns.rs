//! One text is searched for many patterns, one after the other, by the C library's functions that look for one: all of them can be looked for in one
//! pass, or those left out that cannot begin where the text does.

use super::{AGAIN, NOTED, Scan, Unit, candidate};
use crate::Evidence;
use crate::candidate::Candidate;
use crate::causes::runtime;
use crate::walks::{Entries, LOWEST_ADDRESS, Repeats};
use std::collections::{HashMap, HashSet};

/// A function that looks for a pattern: how its name begins behind underscores; how many of the first arguments are the text, and which one is the pattern; what
/// a search takes at least, ns, in all and for each byte. Measured with words that are not in texts of 60 bytes to 100 KB: `memmem` 21 to 38 ns and 0.06 to
/// 0.55 ns a byte, `strstr` with AVX-512 5 ns and 0.02. `strcasestr` is slower than both.
struct Search {
    name: &'static str,
    text: usize,
    pattern: usize,
    call_ns: f64,
    byte_ns: f64,
}

const SEARCHES: [Search; 3] = [
    Search { name: "strstr", text: 1, pattern: 1, call_ns: 5.0, byte_ns: 0.02 },
    Search { name: "strcasestr", text: 1, pattern: 1, call_ns: 5.0, byte_ns: 0.02 },
    Search { name: "memmem", text: 2, pattern: 2, call_ns: 20.0, byte_ns: 0.06 },
];
/// Patterns from which on it is worth while: a program that looks for a handful of words in each line is as it should be.
const MANY: f64 = 20.0;
/// What looking for all in one pass takes for each byte, ns: `grep -F` took 10.5 with 30 words.
const PASS_NS: f64 = 10.0;
/// A text without a length of its own may not be read further: of one that is as long it is not known how long it is.
const READ: u64 = 511;

/// A finding, if the function is one of these and is called so.
pub(super) fn judge(evidence: &Evidence<'_>, entries: &Entries<'_>) -> Option<Candidate> {
    let frame = evidence.frame(entries.function);
    if !runtime::is_name(&frame) || entries.noted() < NOTED {
        return None;
    }
    let name = frame.function.trim_start_matches('_').trim_start_matches("GI_").trim_start_matches('_');
    let family = name.split(|c: char| !c.is_ascii_alphanumeric()).next().unwrap_or(name);
    let search = SEARCHES.iter().find(|search| search.name == family)?;
    let (mut texts, mut again, mut known, mut bytes) = (0, 0, 0, 0);
    for burst in &entries.bursts {
        // Of each text the patterns that it was searched for.
        let mut searched: HashMap<Vec<(u64, u64)>, HashSet<u64>> = HashMap::new();
        for row in burst {
            let key: Vec<(u64, u64)> =
                row.addresses.iter().copied().zip(row.contents.iter().copied()).take(search.text).collect();
            let (start, content) = key.first().copied()?;
            let length = key.get(1).map_or(row.length, |(length, _)| *length);
            if search.text == 1 && length >= READ {
                return None;
            }
            let is_known = start >= LOWEST_ADDRESS && content != 0;
            let Some(wanted) = row.addresses.get(search.pattern).filter(|_| is_known) else { continue };
            let patterns = searched.entry(key).or_default();
            // The first of a burst has none before it.
            again += usize::from(!patterns.is_empty() && !patterns.contains(wanted));
            known += usize::from(patterns.insert(*wanted));
            bytes += length;
        }
        texts += searched.len();
    }
    if (known as f64) < AGAIN * entries.noted() as f64 {
        return None;
    }
    // A burst may end before the patterns of a text do: how many there are follows from how seldom another text comes next.
    let of = entries.noted() - entries.bursts.len();
    let patterns = of as f64 / (texts.saturating_sub(entries.bursts.len()) + 1) as f64;
    let length = bytes as f64 / known as f64;
    let search_ns = search.call_ns + search.byte_ns * length;
    let spared = 1.0 - PASS_NS * length / (patterns * search_ns);
    if patterns < MANY || spared <= 0.0 {
        return None;
    }
    let scan = Scan {
        length: patterns,
        unit: Unit::Patterns,
        at_least: true,
        same: Some(Repeats { repeated: again, of }),
        part: None,
        lists: None,
        spared,
        grows: None,
    };
    candidate(evidence, entries, &entries.spent(evidence), &scan)
}
