//! Arrays and texts that are moved or copied as a whole for each item: taking the first item from an array, or putting one in front, has
//! `memmove` move all the others by the size of an item; adding to a text by making a new one copies all of it; and who goes on in a text by making a
//! new one of the rest copies all that is left. The arguments of the copying function say so, without a fit.

use super::{CAUSE, GATE};
use crate::Evidence;
use crate::candidate::Candidate;
use crate::causes::allocation_churn::garbage_ns;
use crate::causes::runtime;
use crate::causes::words::{count, time, two_digits};
use crate::draft::Draft;
use crate::findings::{Basis, Confidence, Cost, Fact, Place, Sure};
use crate::walks::{self, Entries};
use slowpath_recording::tables::Beginning;
use std::collections::{HashMap, HashSet};

/// Copies that must have been noted: half of a burst.
pub(super) const NOTED: usize = 32;
/// How many times as much is moved as it is moved by, items in other words; or copied as was added. Buffers from which the front was used up
/// stay below: they are moved once most of them was. So do those that double.
pub(super) const ITEMS: f64 = 64.0;
/// Go's function that copies.
const GO_COPIES: &str = "runtime.memmove";
/// Share of the bytes that are copied which must be in such copies.
pub(super) const MOSTLY: f64 = 0.9;
/// … but for one in so many that are so many times as large as those on average: of 1,169 copies that a burst caught, 5 of 8 to 66 KB were a seventh of all bytes, where the moves were of
/// 1.6 KB; in another run a fortieth.
const RARE: usize = 100;
const LARGER: f64 = 4.0;
/// Of texts that are copied for each addition so many must have been seen to grow, …
pub(super) const LONGER: usize = 8;
/// … and a copy must be so many bytes on average: what is shorter is no small change.
pub(super) const LARGE: f64 = 1024.0;

/// All that were seen.
pub(super) fn find(evidence: &Evidence<'_>) -> Vec<Candidate> {
    let copies = |one: &Entries<'_>| {
        let frame = evidence.frame(one.function);
        // Their third argument is a size: of other functions that copy it is none.
        let name = runtime::unversioned(&frame.function);
        one.one_loop.is_none()
            && runtime::is_name(&frame)
            && ["memmove", "memcpy", "mempcpy", GO_COPIES].contains(&name)
    };
    walks::all(evidence).iter().filter(|one| copies(one)).filter_map(|one| judged(evidence, one)).collect()
}

/// The kinds, as variants of the finding.
pub(super) const VARIANTS: [&str; 3] = ["moves", "additions", "rests"];

/// What is copied for each step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// All that is behind an item, by its size.
    Moves,
    /// All that was added before.
    Additions,
    /// All that is left of a text.
    Rests,
}

/// Copies of one kind, added up.
#[derive(Default)]
struct Copies {
    times: usize,
    bytes: f64,
    items: f64,
}

impl Copies {
    fn add(&mut self, size: u64, by: u64) {
        self.times += 1;
        self.bytes += size as f64;
        self.items += (size / by) as f64;
    }

    fn join(&mut self, other: &Copies) {
        self.times += other.times;
        self.bytes += other.bytes;
        self.items += other.items;
    }
}

fn arguments(row: &Beginning) -> Option<(u64, u64, u64)> {
    let [to, from, size] = row.addresses[..] else { return None };
    Some((to, from, size))
}

/// Moves by the size of an item.
fn shifts(entries: &Entries<'_>) -> Copies {
    let mut copies = Copies::default();
    for (to, from, size) in entries.bursts.iter().flatten().filter_map(|row| arguments(row)) {
        let by = to.abs_diff(from);
        if by > 0 && by < size && size as f64 >= ITEMS * by as f64 {
            copies.add(size, by);
        }
    }
    copies
}

/// Copies of what begins like something that was copied shortly before, and is as long or a little longer; none if too few are longer.
fn additions(entries: &Entries<'_>) -> Copies {
    let (mut copies, mut longer) = (Copies::default(), 0);
    for burst in &entries.bursts {
        let mut before: HashMap<u64, u64> = HashMap::new();
        for row in burst {
            let (Some((_, _, size)), Some(content)) = (arguments(row), row.contents.get(1)) else { continue };
            if *content == 0 {
                continue;
            }
            if let Some(last) = before.insert(*content, size).filter(|last| *last <= size)
                && last as f64 >= ITEMS * (size - last) as f64
            {
                longer += usize::from(size > last);
                copies.add(size, (size - last).max(1));
            }
        }
    }
    if longer < LONGER { Copies::default() } else { copies }
}

/// Copies up to the end of what one shortly before copied, from the same place or a little further on. Of one text that must go on for some steps: whoever takes the header off a message goes
/// on once.
fn rests(entries: &Entries<'_>) -> Copies {
    // By text: its copies, and how much was left in those that went on. Texts that end at one place are one, as long as they are not followed from copy to copy.
    let mut texts: Vec<(Copies, HashSet<u64>)> = Vec::new();
    let mut ends: HashMap<u64, usize> = HashMap::new();
    for burst in &entries.bursts {
        let mut before: Vec<Copied> = Vec::new();
        for row in burst {
            let (Some((to, from, size)), Some(content)) = (arguments(row), row.contents.get(1)) else {
                continue;
            };
            // The rest of the text that was copied before, or of that copy; once more, if it still begins the same.
            let step = |last: &Copied| {
                let step = last.size.checked_sub(size)?;
                let begin = from.checked_sub(step)?;
                let same = begin == last.from || begin == last.to;
                let again = step > 0 || *content != 0 && *content == last.content;
                (same && again && size as f64 >= ITEMS * step as f64 && size > 0).then_some((step, last.text))
            };
            let text = match before.iter().rev().find_map(step) {
                Some((step, text)) => {
                    let (copies, further) = &mut texts[text];
                    copies.add(size, step.max(1));
                    further.extend(Some(size).filter(|_| step > 0));
                    text
                }
                None => *ends.entry(from.wrapping_add(size)).or_insert_with(|| {
                    texts.push((Copies::default(), HashSet::new()));
                    texts.len() - 1
                }),
            };
            before.push(Copied { to, from, size, content: *content, text });
        }
    }
    let mut copies = Copies::default();
    for (of, _) in texts.into_iter().filter(|(_, further)| further.len() >= LONGER) {
        copies.join(&of);
    }
    copies
}

/// One copy, and which text it is of.
struct Copied {
    to: u64,
    from: u64,
    size: u64,
    content: u64,
    text: usize,
}

fn judged(evidence: &Evidence<'_>, entries: &Entries<'_>) -> Option<Candidate> {
    let noted = entries.noted();
    let all = entries.bursts.iter().flatten().filter_map(|row| arguments(row));
    let mut sizes: Vec<f64> = all.map(|(.., size)| size as f64).collect();
    sizes.sort_by(|a, b| b.total_cmp(a));
    let all: f64 = sizes.iter().sum();
    // Other calls copy little. A few that copy a lot are of something else, as of buffers that are made larger.
    let is = |copies: &Copies| {
        let rare = sizes.iter().take(noted / RARE);
        let rare: f64 = rare.filter(|size| **size * copies.times as f64 > LARGER * copies.bytes).sum();
        noted >= NOTED && copies.times >= LONGER && copies.bytes >= MOSTLY * (all - rare)
    };
    let is_large = |copies: &Copies| is(copies) && copies.bytes >= LARGE * copies.times as f64;
    let (moved, added, left) = (shifts(entries), additions(entries), rests(entries));
    let (copies, kind) = match () {
        () if is(&moved) => (moved, Kind::Moves),
        () if is_large(&left) => (left, Kind::Rests),
        () if is_large(&added) => (added, Kind::Additions),
        () => return None,
    };
    let times = copies.times as f64;
    let (items, bytes) = (copies.items / times, copies.bytes / times);
    let share = copies.bytes / all.max(1.0);
    let spent = entries.spent(evidence);
    if !GATE.may_pass(evidence, spent.cost_ns * share.min(1.0)) {
        return None;
    }
    let (path, _) = evidence.path_to_own(spent.stack?, entries.function);
    let frame = path.last()?.clone();
    // Each sum is made in new memory, which is dropped with the next one.
    let garbage = match frame.function_id {
        Some(function) if kind != Kind::Moves && evidence.name(entries.function) == GO_COPIES => {
            garbage_ns(evidence, entries.walk.process, function, entries.function)
        }
        _ => 0.0,
    };
    let cost = spent.cost_ns + garbage;
    let gain = cost * share.min(1.0);
    let (looked, bytes_text, items_text) =
        (count(noted as f64), count(two_digits(bytes)), count(two_digits(items)));
    let of_looked = count(times);
    let (variant, title, first, advice) = match kind {
        Kind::Moves => (
            VARIANTS[0],
            "each step moves everything behind it",
            format!(
                "{of_looked} of {looked} moves that were looked at moved about {bytes_text} bytes by the size of one item: about {items_text} items \
                 for each that is taken out or put in",
            ),
            "Take from the end, keep a position or use a ring buffer or a list: an array moves everything behind an item that is taken out \
             or put in",
        ),
        Kind::Additions => (
            VARIANTS[1],
            "each addition copies everything before it",
            format!(
                "{of_looked} of {looked} copies that were looked at begin like one shortly before and are as long or a little longer: about \
                 {bytes_text} bytes for each addition",
            ),
            "Append in place to a buffer that grows by a factor, or collect the parts and join them once",
        ),
        Kind::Rests => (
            VARIANTS[2],
            "each step copies the rest of the text",
            format!(
                "{of_looked} of {looked} copies that were looked at, {:.0} % of the bytes, copy the rest of a text again: up to the same end as one shortly \
                 before, from the same place or a little further on, about {bytes_text} bytes each",
                100.0 * share
            ),
            "Refer to the rest instead of copying it: a pointer and a length, std::string_view, &str, a slice, or a position in the text",
        ),
    };
    let asked = evidence.frame(entries.function);
    let mut explanation = vec![first, format!("{} does the work", asked.function)];
    if garbage > 0.0 {
        explanation.push(format!(
            "copying takes {} of this, and new memory for each copy, with collecting what is dropped, {}",
            time(spent.cost_ns),
            time(garbage)
        ));
    }
    let draft = Draft {
        variant,
        explanation,
        related: vec![asked],
        facts: vec![
            Fact::new("copies looked at", noted as f64, "calls", "probe", Sure::Exact),
            Fact::new("share of the bytes", share, "ratio", "probe", Sure::Exact),
            Fact::new("bytes a copy", bytes, "bytes", "probe", Sure::Sampled),
            Fact::new("items a copy", items, "1", "probe", Sure::Sampled),
        ],
        advice: advice.to_owned(),
        ..Draft::new(
            &CAUSE,
            title,
            Confidence::Certain,
            Cost::new(Basis::Cpu, cost, gain),
            Place { frame, path },
        )
    };
    Some(draft.candidate(evidence, GATE, entries.walk.process))
}
