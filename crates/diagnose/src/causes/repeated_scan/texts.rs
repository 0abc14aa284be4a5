//! A function of the C library that goes through a text, such as `strlen` in the condition of a loop: it is called with the same text, and
//! whatever else it is given, again and again.

use super::{AGAIN, NOTED, Scan, Unit, candidate};
use crate::Evidence;
use crate::candidate::Candidate;
use crate::causes::runtime;
use crate::walks::Entries;
use slowpath_recording::tables::Beginning;

/// How their names begin behind underscores, how many of the arguments are what they are asked, and which of these is the length.
const FUNCTIONS: [(&str, usize, Option<usize>); 15] = [
    ("strlen", 1, None),
    ("strnlen", 2, None),
    ("rawmemchr", 2, None),
    ("memchr", 3, Some(2)),
    ("memrchr", 3, Some(2)),
    ("strchr", 2, None),
    ("strchrnul", 2, None),
    ("strrchr", 2, None),
    ("strstr", 2, None),
    ("strpbrk", 2, None),
    ("strcspn", 2, None),
    ("strspn", 2, None),
    // These go to the end of the text first.
    ("strcat", 1, None),
    ("strncat", 1, None),
    ("index", 2, None),
];
/// Bytes from which on a text is long: what is shorter takes less than the call itself.
const LONG: u64 = 256;
/// Share of the texts that must be, as of the calls that must be repeated.
const MOSTLY: f64 = AGAIN;

/// A finding, if the function is one of these and is called so.
pub(super) fn judge(evidence: &Evidence<'_>, entries: &Entries<'_>) -> Option<Candidate> {
    let frame = evidence.frame(entries.function);
    if !runtime::is_name(&frame) {
        return None;
    }
    let name = frame.function.trim_start_matches('_');
    let family = name.split(|c: char| !c.is_ascii_alphanumeric()).next().unwrap_or(name);
    let (_, arguments, length_at) = FUNCTIONS.iter().find(|(known, ..)| *known == family)?;
    let same = entries.of_arguments(*arguments);
    if entries.noted() < NOTED || same.share() < AGAIN {
        return None;
    }
    let length = |row: &Beginning| match length_at {
        Some(at) => row.addresses.get(*at).copied().unwrap_or(0),
        None => row.length,
    };
    let rows = || entries.bursts.iter().flatten();
    let long = rows().filter(|row| length(row) >= LONG).count();
    if (long as f64) < MOSTLY * entries.noted() as f64 {
        return None;
    }
    let average = rows().map(|row| length(row) as f64).sum::<f64>() / entries.noted() as f64;
    let spent = entries.spent(evidence);
    // What is found once can be kept.
    let (unit, at_least, spared) = (Unit::Bytes, length_at.is_none(), same.share());
    candidate(
        evidence,
        entries,
        &spent,
        &Scan { length: average, unit, at_least, same: Some(same), spared, grows: None },
    )
}
