//! A function of the C library that goes through a text, such as `strlen` in the condition of a loop: it is called with the same text, and
//! whatever else it is given, again and again; or it looks for the end of one text from ever further on, as `sscanf` does for each number that it
//! is to read from a long text.

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
/// Those that go to the end of the text, `rawmemchr` if it is asked for the zero byte.
const TO_END: [&str; 2] = ["strlen", "rawmemchr"];
/// Bytes from which on a text is long: what is shorter takes less than the call itself.
const LONG: u64 = 256;
/// Share of the bytes that calls on their way to one end must have in common: with less, each has a good part for itself.
const LEAST: f64 = 0.5;
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
    let (same, spared) = match same.share() >= AGAIN {
        true => (Some(same), same.share()),
        false => (None, to_one_end(entries, *arguments > 1).filter(|_| TO_END.contains(&family))?),
    };
    if entries.noted() < NOTED {
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
    let (unit, at_least) = (Unit::Bytes, length_at.is_none());
    candidate(
        evidence,
        entries,
        &spent,
        &Scan { length: average, unit, at_least, same, part: None, lists: None, spared, grows: None },
    )
}

/// Which part of what these calls go through the call before had gone through, on its way to the same end: at least, for of a text only so many bytes were
/// looked at. None if it is not known of most calls, or it is little. `for_byte`: their second argument is what they look for, which must be the end.
fn to_one_end(entries: &Entries<'_>, for_byte: bool) -> Option<f64> {
    let (mut pairs, mut same, mut bytes, mut again) = (0, 0, 0.0, 0.0);
    for pair in entries.bursts.iter().flat_map(|burst| burst.windows(2)) {
        let [from, next] = [pair[0], pair[1]].map(|row| row.addresses.first().copied().unwrap_or(0));
        let other = |row: &&Beginning| row.addresses.get(1).is_some_and(|wanted| *wanted != 0);
        if for_byte && pair.iter().any(other) {
            return None;
        }
        pairs += 1;
        bytes += pair[0].length as f64;
        // No byte on the way from the one to the next is zero: they end at the same. In a buffer that is filled again each begins at its start.
        // The same text may be asked about several times in between.
        let content = |row: &Beginning| row.contents.first().copied().filter(|content| *content != 0);
        let alike = content(pair[0]).is_some() && content(pair[0]) == content(pair[1]);
        let unchanged = alike && pair[0].length == pair[1].length;
        let step = next.checked_sub(from).filter(|step| match step {
            0 => unchanged,
            step => *step <= pair[0].length,
        });
        if let Some(step) = step.filter(|_| pair[0].thread == pair[1].thread) {
            same += 1;
            again += (pair[0].length - step) as f64;
        }
    }
    (f64::from(same) >= AGAIN * f64::from(pairs) && again >= LEAST * bytes && bytes > 0.0)
        .then(|| again / bytes)
}
