//! Lists that are moved to new memory for each item that is added, by code that moves items one by one, as C++'s vectors do for types with constructors. The
//! arguments of the moving function say so: first, end and where to, and the next call begins where the last one moved them to.
//! What `memmove` copies so is left to `shifts`, blocks that `realloc` makes larger to `allocation_churn`.

use super::shifts::{ITEMS, LARGE, LONGER, MOSTLY, NOTED};
use super::told::short;
use super::{CAUSE, GATE};
use crate::Evidence;
use crate::candidate::Candidate;
use crate::causes::runtime;
use crate::causes::words::{count, size, two_digits};
use crate::draft::Draft;
use crate::findings::{Basis, Confidence, Cost, Fact, Place, Sure};
use crate::walks::{self, Entries, LOWEST_ADDRESS};
use slowpath_recording::tables::Loop;
use std::collections::HashMap;

pub(super) const VARIANT: &str = "grown";
/// No list is larger, bytes: what says so is none.
const LARGEST: u64 = 1 << 40;

pub(super) fn find(evidence: &Evidence<'_>) -> Vec<Candidate> {
    let moves = |one: &&Entries<'_>| {
        let frame = evidence.frame(one.function);
        one.one_loop.is_none() && !runtime::handles_bytes(&frame) && mostly_moves(evidence, one)
    };
    walks::all(evidence).iter().filter(moves).filter_map(|one| judged(evidence, one)).collect()
}

/// Whether the loops of the function only move what they read.
fn mostly_moves(evidence: &Evidence<'_>, entries: &Entries<'_>) -> bool {
    let of_function = |one: &&Loop| one.location == entries.walk.location && one.parent.is_none();
    let mut loops = evidence.recording.tables.loops.iter().filter(of_function).peekable();
    loops.peek().is_some() && loops.all(|one| one.work == "moves")
}

/// What was seen of the calls of one function.
#[derive(Default)]
struct Moves {
    /// Calls that move anything, and bytes.
    calls: usize,
    bytes: u64,
    /// Calls that move what one shortly before had moved, and a few items more.
    again: usize,
    again_bytes: u64,
    items: u64,
}

impl Moves {
    fn of(entries: &Entries<'_>) -> Moves {
        let mut moves = Moves::default();
        for burst in &entries.bursts {
            // What was moved to each place.
            let mut before: HashMap<u64, u64> = HashMap::new();
            for row in burst {
                let [first, end, to] = row.addresses[..] else { continue };
                let bytes = end.checked_sub(first).filter(|bytes| (1..LARGEST).contains(bytes));
                let Some(bytes) = bytes.filter(|_| first.min(to) >= LOWEST_ADDRESS) else { continue };
                // Within what is moved, or next to it: items of one array, or no place to move to.
                if to < end && first < to.saturating_add(bytes) {
                    moves.calls += 1;
                    moves.bytes += bytes;
                    continue;
                }
                moves.calls += 1;
                moves.bytes += bytes;
                let last = before.get(&first);
                let more = last.and_then(|last| bytes.checked_sub(*last)).filter(|more| *more > 0);
                if let Some(more) = more.filter(|more| bytes as f64 >= ITEMS * *more as f64) {
                    moves.again += 1;
                    moves.again_bytes += bytes;
                    moves.items += bytes / more;
                }
                before.insert(to, bytes);
            }
        }
        moves
    }

    fn share(&self) -> f64 {
        self.again_bytes as f64 / self.bytes.max(1) as f64
    }

    fn is_slow(&self) -> bool {
        let large = self.again_bytes as f64 >= LARGE * self.again as f64;
        self.calls >= NOTED && self.again >= LONGER && large && self.share() >= MOSTLY
    }
}

fn judged(evidence: &Evidence<'_>, entries: &Entries<'_>) -> Option<Candidate> {
    let moves = Moves::of(entries);
    if !moves.is_slow() {
        return None;
    }
    let spent = entries.spent(evidence);
    let gain = spent.cost_ns * moves.share();
    if !GATE.may_pass(evidence, gain) {
        return None;
    }
    let (path, _) = evidence.path_to_own(spent.stack?, entries.function);
    let frame = path.last()?.clone();
    let asked = evidence.frame(entries.function);
    let again = moves.again as f64;
    let (bytes, items) = (moves.again_bytes as f64 / again, moves.items as f64 / again);
    let draft = Draft {
        not_known: "whether the final size is known in advance",
        variant: VARIANT,
        explanation: vec![
            format!(
                "{} of {} calls of {} that were looked at move the items that a call shortly before had moved, and a few more: {} a call on \
                 average, about {} times as much as was added",
                count(again),
                count(moves.calls as f64),
                short(&asked.function),
                size(bytes),
                count(two_digits(items))
            ),
        ],
        related: vec![asked],
        facts: vec![
            Fact::new("calls looked at", moves.calls as f64, "calls", "probe", Sure::Exact),
            Fact::new("share of the bytes", moves.share(), "ratio", "probe", Sure::Exact),
            Fact::new("bytes a call", bytes, "bytes", "probe", Sure::Sampled),
        ],
        advice: "Let the list grow by a factor: do not reserve exactly what the next items need each time; reserve once for all \
                 of them, or leave it to push_back"
            .to_owned(),
        ..Draft::new(
            &CAUSE,
            "each addition moves all items to new memory",
            Confidence::Likely,
            Cost::new(Basis::Cpu, spent.cost_ns, gain),
            Place { frame, path },
        )
    };
    Some(draft.candidate(evidence, GATE, entries.walk.process))
}
