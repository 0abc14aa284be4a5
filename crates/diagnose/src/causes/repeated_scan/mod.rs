//! The same data is searched again and again: a loop that only reads and compares begins at the same place each time, finds the same there,
//! and goes through many items until it finds one. An index, a map, or a position that is kept, would do.
//!
//! - `calls` — the same for functions of the program that only count or compare, whose loops may do more than look.
//! - `chains` — many lists, each long and searched again and again.
//! - `collisions` — look-ups in a hash table that go through many keys with the same hash.
//! - `counts` — the same for loops that count what they meet.
//! - `far` — searches that begin a little further on each time and go far beyond that.
//! - `patterns` — texts that are searched for many patterns one by one.
//! - `settle` — which finding is reported where data that is searched grows.
//! - `texts` — the same for the C library's functions that go through a text, which have no loop of the program's.
//! - this file — loops, and the finding.
//!
//! Where each search takes longer than those before, what is searched grows with the searches: that is `superlinear-work`, though the windows
//! of counted calls may have missed it.
//!
//! It needs no growth: where a walk begins is known exactly, from probes at its entry, so growth that starts over with each document is
//! found like a list that never changes. What begins elsewhere each time (chains of a hash table, matches of a compressor, the rest of a
//! text), what calculates or stores, and short walks are none.

mod calls;
mod chains;
mod collisions;
mod counts;
mod far;
mod patterns;
pub(super) mod settle;
mod texts;

use super::words::{count, short, time, two_digits};
use super::{Find, Needs, SUPERLINEAR_WORK, Spec, runtime};
use crate::Evidence;
use crate::candidate::Candidate;
use crate::draft::Draft;
use crate::findings::{Basis, Confidence, Cost, Fact, Place, Sure};
use crate::gate::Gate;
use crate::walks::{self, Entries, Repeats, Spent};
use chains::Lists;
use slowpath_stats::{mean, spearman};
use std::collections::HashMap;
use std::collections::hash_map::Entry;

/// See the file's head.
pub const CAUSE: Spec = Spec {
    slug: "repeated-scan",
    title: "the same data is searched again and again",
    symptom: "a search begins at the same place each time and goes through many items",
    not_known: "whether the data changes between the searches at places that were not compared",
    page: include_str!("../../../../../docs/causes/repeated-scan.md"),
    needs: &[Needs::Walks],
    find: Find::InRecording(find),
};

/// What is searched and how is to be thought over.
const GATE: Gate = Gate::TENTH_OF_CPU;
/// Entries that must have been noted: half of a burst.
const NOTED: usize = 32;
/// Share of the entries that must go through what one before them went through. The rest is left for data that changes now and then, such as
/// the list of the next document.
const AGAIN: f64 = 0.9;
/// … or share of the time that is spent in it, where most entries are others, which are short. A quarter less than all of them leaves most of the gain.
const AGAIN_OF_TIME: f64 = 0.75;
/// … of that in all bursts together, in which other programs may interrupt some: half of the time in a loop is worth a finding.
const OF_ALL_BURSTS: f64 = 0.5;
/// Where each walk begins a little further on: the memory that a burst goes through must be gone through by so much of its walks, on
/// average. A quarter of 64 walks is 16 times.
const OVERLAP: f64 = 0.25;
/// Items a walk from which on an index is worth while: chains of hash tables, words of a language and fields of a record are shorter.
const LENGTH: f64 = 64.0;
/// What a look into an index costs, ns: a `hsearch` of the case's fixed version takes 100 ns.
const INDEX_NS: f64 = 100.0;
/// What an item costs, ns, in a loop that compares by itself and in one that calls a function for it. The quickest of four such loops took
/// 1.07 ns (`std::find`; a list 3 ns, Rust's `contains` 2.5 ns), the case's call of `strcmp` 6 ns.
const ITEM_NS: f64 = 1.0;
const CALL_NS: f64 = 4.0;
/// … and one of several that a round of an unrolled loop compares: Rust's `contains` takes 2.5 ns for eight.
const UNROLLED_NS: f64 = 0.3;
/// The loop and what it calls must read and compare for this share of its time.
const LOOKING: f64 = 0.8;

/// What to do.
const INDEX: &str = "Build an index once (a hash table or a sorted array) and look items up in it, or keep the result or the position of the last \
                     search";
const QUEUE: &str = "Keep what is taken in order in a heap or a balanced tree, where putting an item in takes a few steps. To add at the end of a list, keep a \
                        pointer to its last item";
const COLLISIONS: &str = "Use a hash that depends on all of the key and mixes its bits: combine the hashes of its parts with a multiplication, not by xor \
                          or a sum alone";

const COUNT_ON: &str = "Go on from where the last one ended: keep its position (an iterator) and its result (a running count or sum). Or make a table \
                        of the results for all positions once";

const PLACES: &str = "Use a hash that spreads the keys over the table, also after the mask or the remainder that makes a place of it; let the table grow \
                      before it is nearly full, and rebuild it if many of its entries were deleted";
const CHAINS: &str = "If this is a look-up in a hash table, let the table grow with the number of its items, so that a look-up compares one or two, and use a \
                      hash that spreads the keys. Else build an index (a hash table, a sorted array), or keep what a search found";

const PATTERNS: &str = "Look for all patterns in one pass: an Aho-Corasick automaton, or one regular expression of all of them. Or group them by their first \
                        bytes, and look only for those that may begin at each place of the text";
const END: &str = "Look for the end once and keep the length. Functions such as sscanf look for the end of their text each time: read numbers with \
                   strtol or strtod, or give each call only its own part of the text";

const REST: &str = "Search only as far as the answer matters: in the token or the line, not in all that is left of the text. Or search \
                    once, keep the position of the next match, and search again only after that";

/// The work of a loop that counts what it meets, and of one that makes one result of it in another way.
const COUNTS: &str = "counts";
const FOLDS: &str = "folds";
/// A search with so much of the cost of a function around it is what that function does.
const NEARLY_ALL: f64 = 0.95;
/// The variant of `superlinear-work` that is found here.
const GROWING: &str = "walks";
/// Searches take ever longer if those of the last third of the bursts take so many times as long as those of the first: a machine that
/// is busy at times makes less of a difference to the median of a burst.
const LONGER: f64 = 2.0;
/// … and if there are few of them: one slow moment of the machine makes less than that of a third that is one burst.
const LONGER_FEW: f64 = 2.5;
const FEW: usize = 5;
/// … and if the bursts are in order, by rank correlation with time or since each of the second half takes longer than all of the first. Three
/// bursts that do not grow are in order by chance once in six times, four five times in 24; the more there are the seldomer.
const BURSTS: usize = 3;
const IN_ORDER: f64 = 0.8;

fn find(evidence: &Evidence<'_>) -> Vec<Candidate> {
    let entries = walks::all(evidence);
    let loops = entries.iter().filter(|one| one.one_loop.is_some() && !is_counting(one));
    let loops = loops.filter(|one| !collisions::is_of_table(evidence, one));
    let in_lists = |one: &&Entries<'_>| in_loop(evidence, one).or_else(|| chains::judge(evidence, one));
    let loops = loops.filter_map(|one| Some((one, in_lists(&one)?)));
    let counting = counts::judge(evidence, entries.iter().filter(|one| is_counting(one)));
    let collisions = collisions::all(evidence, &entries);
    let loops = apart(loops.chain(counting).chain(collisions).collect());
    let functions = || entries.iter().filter(|one| one.one_loop.is_none());
    let texts: Vec<Candidate> = functions()
        .filter_map(|one| {
            texts::judge(evidence, one)
                .or_else(|| far::judge(evidence, one))
                .or_else(|| patterns::judge(evidence, one))
        })
        .collect();
    // Of a loop more is known than of the function around it.
    let is_known =
        |one: &Candidate| loops.iter().chain(&texts).any(|other| other.function() == one.function());
    let calls = functions().filter_map(|one| calls::judge(evidence, one)).filter(|one| !is_known(one));
    let calls: Vec<Candidate> = calls.collect();
    let in_loops = loops.into_iter().map(|one| (true, one));
    let mut found: Vec<(bool, Candidate)> =
        in_loops.chain(texts.into_iter().chain(calls).map(|one| (false, one))).collect();
    // A text that is searched in a loop which searches: the one that costs more holds the other. Loops of one function, which was inlined into
    // others, add up.
    found.sort_by_key(|(_, one)| std::cmp::Reverse(one.finding.cost.amount()));
    let mut known: HashMap<(u32, String, String), bool> = HashMap::new();
    found.retain(|(in_loop, one)| {
        let (function, module) = one.function();
        match known.entry((one.process, function.to_owned(), module.to_owned())) {
            Entry::Vacant(entry) => {
                entry.insert(*in_loop);
                true
            }
            Entry::Occupied(entry) => *in_loop && *entry.get(),
        }
    });
    found.into_iter().map(|(_, one)| one).collect()
}

fn is_counting(entries: &Entries<'_>) -> bool {
    entries.one_loop.is_some_and(|one| one.work == COUNTS || one.work == FOLDS)
}

/// Of loops in each other, both searching, the one that costs more: it holds the other.
fn apart(mut found: Vec<(&Entries<'_>, Candidate)>) -> Vec<Candidate> {
    found.sort_by_key(|(_, one)| std::cmp::Reverse(one.finding.cost.amount()));
    let mut kept: Vec<(&Entries<'_>, Candidate)> = Vec::new();
    for (entries, one) in found {
        // What counts was added up over all of its function.
        let function = |of: &Entries<'_>| (of.walk.process, of.function);
        let shares = |(other, _): &(&Entries<'_>, Candidate)| {
            entries.shares_code(other)
                || function(entries) == function(other) && (is_counting(entries) || is_counting(other))
        };
        if !kept.iter().any(shares) {
            kept.push((entries, one));
        }
    }
    kept.into_iter().map(|(_, one)| one).collect()
}

/// What was found of a walk.
struct Scan {
    /// What each goes through on average, or how long it takes.
    length: f64,
    unit: Unit,
    /// The walks were longer than could be counted.
    at_least: bool,
    /// Searches that another one had made before; none where each begins a little further on than the one before.
    same: Option<Repeats>,
    /// The share of the time that these take, where most searches are others.
    part: Option<f64>,
    /// Lists that are searched by turns.
    lists: Option<Lists>,
    /// Share of the time that is spared if each is made once, and then if an index is asked.
    spared: f64,
    /// What a search takes at first and at the end, ns, where each takes longer than those before.
    grows: Option<(f64, f64)>,
}

/// The unit in which the length of a search is reported.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Unit {
    Items,
    Bytes,
    Ns,
    /// Keys with the same hash.
    Keys,
    /// Groups of places of a hash table.
    Groups,
    /// Places of a hash table, one after the other.
    Places,
    /// Items of a chain of a hash table.
    Chain,
    /// Patterns that one text is searched for.
    Patterns,
    /// Bytes that are searched, by the time that it takes.
    Rest,
}

impl Unit {
    fn name(self) -> &'static str {
        match self {
            Unit::Items | Unit::Chain => "items",
            Unit::Bytes | Unit::Rest => "bytes",
            Unit::Ns => "ns",
            Unit::Keys => "keys",
            Unit::Groups => "groups of places",
            Unit::Places => "places",
            Unit::Patterns => "patterns",
        }
    }

    /// What the fact is called, and its unit.
    fn fact(self) -> String {
        match self {
            Unit::Items
            | Unit::Bytes
            | Unit::Keys
            | Unit::Groups
            | Unit::Places
            | Unit::Chain
            | Unit::Rest => {
                format!("{} a search", self.name())
            }
            Unit::Ns => "time of a search".to_owned(),
            Unit::Patterns => "patterns a text".to_owned(),
        }
    }

    fn of_fact(self) -> &'static str {
        match self {
            Unit::Ns => "ns",
            _ => "1",
        }
    }

    /// What each search does.
    fn sentence(self, length: f64, at_least: bool) -> String {
        let least = if at_least { "at least " } else { "about " };
        match self {
            Unit::Items | Unit::Bytes | Unit::Keys | Unit::Groups | Unit::Places | Unit::Chain => {
                format!("each goes through {least}{} {}", count(two_digits(length)), self.name())
            }
            Unit::Rest => format!("each takes as long as for {least}{} bytes", count(two_digits(length))),
            Unit::Ns => format!("each takes {least}{}", time(length)),
            Unit::Patterns => format!(
                "each text is searched for {least}{} patterns, one after the other",
                count(two_digits(length))
            ),
        }
    }
}

/// What a search takes in the first and in the last third of the bursts, where it takes ever longer.
fn growth(each: &[f64]) -> Option<(f64, f64)> {
    let order: Vec<f64> = (0..each.len()).map(|at| at as f64).collect();
    let third = (each.len() / 3).max(1);
    let (first, last) =
        (mean(&each[..third.min(each.len())])?, mean(&each[each.len().saturating_sub(third)..])?);
    let longer = if each.len() < FEW { LONGER_FEW } else { LONGER };
    let (early, late) = each.split_at(each.len() / 2);
    let highest = early.iter().copied().fold(0.0, f64::max);
    let in_order =
        spearman(&order, each)? >= IN_ORDER || early.len() > 1 && late.iter().all(|ns| *ns > highest);
    (each.len() >= BURSTS && in_order && last >= longer * first).then_some((first, last))
}

fn in_loop(evidence: &Evidence<'_>, entries: &Entries<'_>) -> Option<Candidate> {
    let length = entries.length();
    if entries.noted() < NOTED || !entries.are_as_long_as(LENGTH) || walks::is_refilled(evidence, entries) {
        return None;
    }
    let spent = entries.spent(evidence);
    let (all, overlap) = (entries.of_pointers(), entries.overlap());
    let mostly = all.share() >= AGAIN;
    let of_time = || {
        let (middle, all) = entries.repeated_time()?;
        let share = |of| at_least_again(evidence, entries, &spent, of);
        // What interrupts a burst says nothing of the walks, but a burst of other walks limits the gain.
        let least = share(middle.min(all));
        (share(middle) >= AGAIN_OF_TIME && least >= OF_ALL_BURSTS).then_some(least)
    };
    let part = if mostly || overlap >= OVERLAP { None } else { Some(of_time()?) };
    let same = (mostly || part.is_some()).then_some(all);
    if spent.looking_ns < LOOKING * (spent.looking_ns + spent.other_ns) {
        return None;
    }
    let an_item = if spent.called_ns > spent.looking_ns / 2.0 { CALL_NS } else { ITEM_NS };
    let search_ns = (entries.rounds() * an_item).max(length * UNROLLED_NS);
    // Where it costs more than the search, nothing is gained.
    let by_index = (1.0 - INDEX_NS / search_ns).max(0.0);
    let of_entries = || same.map_or_else(|| 1.0 - 1.0 / (overlap * entries.of_burst()), Repeats::share);
    let again = part.unwrap_or_else(of_entries);
    let (at_least, spared, grows) = (entries.is_longer(), again * by_index, growth(&entries.each_ns()));
    let scan = Scan { length, unit: Unit::Items, at_least, same, part, lists: None, spared, grows };
    candidate(evidence, entries, &spent, &scan)
}

/// The share of the time of a loop, or a function, that is spent in walks which another one has made before, at least, where so much of the time between entries follows
/// these: what else the process does may all have been done between them and the next ones.
fn at_least_again(evidence: &Evidence<'_>, entries: &Entries<'_>, spent: &Spent, repeated: f64) -> f64 {
    let within = (spent.cost_ns / calls::of_process(evidence, entries).max(1.0)).min(1.0);
    (repeated - (1.0 - within)) / within.max(f64::MIN_POSITIVE)
}

fn candidate(
    evidence: &Evidence<'_>,
    entries: &Entries<'_>,
    spent: &Spent,
    scan: &Scan,
) -> Option<Candidate> {
    let gain = spent.cost_ns * scan.spared;
    if !GATE.may_pass(evidence, gain) {
        return None;
    }
    let (path, _) = evidence.path_to_own(spent.stack?, entries.function);
    let called = evidence.frame(entries.function);
    let frame = path.last().cloned().unwrap_or_else(|| called.clone());
    let noted = entries.noted() as f64;
    let through = scan.unit.sentence(scan.length, scan.at_least);
    let mut explanation = vec![match scan.same {
        // The first of each burst has none before it.
        Some(Repeats { repeated, of }) if scan.unit == Unit::Patterns => format!(
            "{} of {} searches that were looked at were of the same text as one shortly before, for another pattern; {through}",
            count(repeated as f64),
            count(of as f64),
        ),
        Some(Repeats { repeated, of }) => format!(
            "{} of {} searches that were looked at{} went through the same data as one shortly before; {through}",
            count(repeated as f64),
            count(of as f64),
            scan.part.map_or_else(String::new, |part| format!(
                ", with {:.0} % of the time or more,",
                100.0 * part
            )),
        ),
        None if scan.unit == Unit::Groups => format!(
            "each look-up in a hash table goes through about {} groups of places; with a good hash it is 1.1",
            count(two_digits(scan.length))
        ),
        None if scan.unit == Unit::Places => format!(
            "the look-ups in a hash table that take the time go over about {} places each; with a good hash, in a table that is three quarters full, it \
             is 2 to 9",
            count(two_digits(scan.length))
        ),
        None if scan.unit == Unit::Chain => format!(
            "each look-up in a hash table goes along a chain of about {} items; with enough buckets and a hash that spreads the keys it is one or two",
            count(two_digits(scan.length))
        ),
        None if scan.unit == Unit::Keys => format!(
            "each look-up in a hash table compares about {} keys; with a good hash it is one or two",
            count(two_digits(scan.length))
        ),
        None if let Some(Lists { different, times }) = scan.lists => format!(
            "searches begin at about {} different items, at each of them about {} times in the run, and {through}",
            count(two_digits(different)),
            count(two_digits(times))
        ),
        None => format!(
            "{} searches were looked at: each begins only a little further on than the one before, and {through}",
            count(noted)
        ),
    }];
    if !runtime::is_name(&called) && called.function != frame.function {
        explanation.push(format!("{} was inlined into {}", frame.function, short(&called.function)));
    }
    if runtime::is_name(&called) && called.function != frame.function {
        explanation.push(format!("{} does the work", short(&called.function)));
    }
    if frame.file.is_none() {
        explanation.push(format!(
            "{} has no line information: build it with -g to see the line. Until then, inlined functions count as part of their caller",
            frame.module
        ));
    }
    if let Some((first, last)) = scan.grows {
        explanation.push(format!(
            "a search takes {} at first and {} at the end: the data grows",
            time(first),
            time(last)
        ));
    }
    let usual = entries.one_loop.is_some_and(|one| one.usual == Some(true));
    let counts = is_counting(entries);
    let collide = matches!(scan.unit, Unit::Keys | Unit::Groups);
    // In a table with open addressing, say, where the step leads around the end.
    let inferred = scan.same.is_none() && scan.unit == Unit::Items && entries.infers_strides();
    let (cause, variant, confidence) = match scan.grows {
        // That it is a hash table is inferred from its code.
        None if matches!(scan.unit, Unit::Chain | Unit::Places) => (&CAUSE, "collisions", Confidence::Likely),
        None if collide => (&CAUSE, "collisions", Confidence::Certain),
        Some(_) => (&SUPERLINEAR_WORK, GROWING, Confidence::Likely),
        // Where it begins is known, but not how far it goes.
        // Nor is it certain what runs in each round of a usual way.
        // Nor is it certain that the end is far, of a text of which only the next bytes were looked at.
        None if scan.unit == Unit::Ns
            || counts
            || scan.lists.is_some()
            // It may be the first item of another list.
            || scan.same.is_some() && entries.takes_off()
            || inferred
            || usual
            // Whether all can be looked for at once is not known.
            || scan.unit == Unit::Patterns
            || matches!(scan.unit, Unit::Bytes | Unit::Rest) && scan.same.is_none() =>
        {
            (&CAUSE, "", Confidence::Likely)
        }
        None => (&CAUSE, "", Confidence::Certain),
    };
    let title = match scan.unit {
        Unit::Chain => "a hash table with long chains",
        Unit::Places => "a hash table in which keys pile up",
        _ if collide => "many keys have the same hash",
        _ => cause.title,
    };
    let cost = Cost::new(Basis::Cpu, spent.cost_ns, gain);
    let draft = Draft {
        not_known: match scan.unit {
            Unit::Rest => "how far the searches go: that is reckoned from the time that they take",
            _ => CAUSE.not_known,
        },
        variant,
        explanation,
        related: vec![called],
        facts: vec![
            Fact::new("searches looked at", noted, "calls", "probe", Sure::Exact),
            Fact::new("share of the time that is spared", scan.spared, "ratio", "probe", Sure::Fitted),
            Fact::new(&scan.unit.fact(), scan.length, scan.unit.of_fact(), "probe", Sure::Sampled),
        ],
        advice: match (scan.unit, scan.same) {
            (Unit::Chain, _) => CHAINS,
            (Unit::Places, _) => PLACES,
            (Unit::Keys | Unit::Groups, _) => COLLISIONS,
            (Unit::Bytes, None) => END,
            (Unit::Rest, _) => REST,
            (Unit::Patterns, _) => PATTERNS,
            _ if scan.lists.is_some() || inferred => CHAINS,
            _ if counts => COUNT_ON,
            _ if entries.takes_off() => QUEUE,
            _ => INDEX,
        }
        .to_owned(),
        ..Draft::new(cause, title, confidence, cost, Place { frame, path })
    };
    Some(draft.candidate(evidence, GATE, entries.walk.process))
}
