//! A regular expression is matched by trying one way after the other, and there are far too many ways: the time for a text grows with its square or
//! twofold with each byte, as with `(a+)+b`, or a long list of alternatives is tried at each byte.
//!
//! Matchers and where their texts are stand in the crate `slowpath-interfaces`. Of the calls that were noted those count after which the next came late for
//! the length of their text; what a byte takes is the CPU time that was sampled in the matcher meanwhile, over these lengths. A matcher that knows where
//! it stands takes some ns for a byte.

use super::words::{count, time, two_digits};
use super::{Find, Needs, Spec};
use crate::Evidence;
use crate::calls::{Calls, place};
use crate::candidate::Candidate;
use crate::draft::Draft;
use crate::evidence::heaviest;
use crate::findings::{Basis, Confidence, Cost, Fact, Frame, Sure};
use crate::gate::Gate;
use crate::walks::HITS;
use slowpath_interfaces::What;
use slowpath_recording::tables::{Beginning, Walk};
use std::collections::BTreeMap;

/// See the file's head.
pub(super) const CAUSE: Spec = Spec {
    slug: "regex-backtracking",
    title: "a regular expression tries too many ways",
    symptom: "matching takes microseconds or milliseconds for each byte of text",
    not_known: "whether another expression matches the same",
    page: include_str!("../../../../docs/causes/regex-backtracking.md"),
    needs: &[Needs::Walks],
    find: Find::InRecording(find),
};

/// What a byte must take, ns. Engines that backtrack take 1 to 100 ns, `std::regex` up to 300, and ten times that without optimisation.
const BYTE_NS: f64 = 5_000.0;
/// What a byte takes with a good expression, or with an engine that does not backtrack, ns: high, so that the gain is no promise too much.
const GOOD_NS: f64 = 100.0;
/// Samples in calls that took so long: of fewer the time of a byte is not known to a factor of two, and 5 µs is that far beyond what is usual.
const SAMPLES: usize = 10;
/// A text of so many bytes was cut: its length is not known. Before version 1.17 of recordings, and since.
const CUT_BEFORE: u64 = 511;
const CUT: u64 = 4095;
/// To find what is wrong with an expression takes thought.
const GATE: Gate = Gate::TENTH_OF_CPU;

/// What was noted of the calls of one matcher, in bursts.
#[derive(Default)]
struct Noted {
    texts: usize,
    /// CPU time that was sampled in the matcher meanwhile, ns.
    ns: f64,
    /// Texts that took long for their length, their bytes, and those of the longest.
    slow: usize,
    bytes: u64,
    longest: u64,
    /// Samples in the matcher for these, and their time, ns.
    slow_samples: usize,
    slow_ns: f64,
}

impl Noted {
    fn byte_ns(&self) -> f64 {
        self.slow_ns / self.bytes.max(1) as f64
    }
}

/// Samples in a matcher: time, stack and CPU time, in order.
type Samples = Vec<(u64, u32, f64)>;

fn find(evidence: &Evidence<'_>) -> Vec<Candidate> {
    let tables = &evidence.recording.tables;
    let of = |walk: &Walk| {
        let function = evidence.function_at(walk.location).filter(|_| walk.loop_number.is_none())?;
        let text = slowpath_interfaces::matches(evidence.name(function))?;
        let inside = evidence.stacks_with(|one| one == function);
        let samples: Samples = tables
            .samples
            .iter()
            .zip(&evidence.weights)
            .filter(|(sample, _)| sample.on_cpu && evidence.process_of(sample) == walk.process)
            .filter_map(|(sample, weight)| Some((sample.time_ns, sample.stack?, *weight)))
            .filter(|(_, stack, _)| inside[*stack as usize])
            .collect();
        let noted = noted(evidence, walk, text, &samples);
        finding(evidence, walk.process, function, &noted, &samples)
    };
    tables.walks.iter().filter_map(of).collect()
}

/// What a matcher does inside, over and over, is no cause of its own.
pub(super) fn settle(found: &mut Vec<Candidate>) {
    let matchers: Vec<(u32, Frame)> = found
        .iter()
        .filter(|one| one.finding.cause == CAUSE.cause())
        .flat_map(|one| one.finding.related.iter().map(|matcher| (one.process, matcher.clone())))
        .collect();
    let is_of_matcher = |one: &Candidate, (process, matcher): &(u32, Frame)| {
        let goes_through =
            |frame: &Frame| (&frame.function, &frame.module) == (&matcher.function, &matcher.module);
        one.process == *process && one.finding.place.path.iter().any(goes_through)
    };
    found.retain(|one| {
        one.finding.cause == CAUSE.cause() || !matchers.iter().any(|matcher| is_of_matcher(one, matcher))
    });
}

fn noted(evidence: &Evidence<'_>, walk: &Walk, text: What, samples: &Samples) -> Noted {
    let tables = &evidence.recording.tables;
    let rows: Vec<&Beginning> = tables.beginnings.iter().filter(|row| row.walk == walk.walk).collect();
    let sampled = |from: u64, to: u64| {
        let from = samples.partition_point(|(time, ..)| *time < from);
        let to = samples.partition_point(|(time, ..)| *time < to).max(from);
        (to - from, samples[from..to].iter().map(|(_, _, ns)| ns).sum::<f64>())
    };
    // Where each entry stops the thread that takes a part of the time.
    let stopped = evidence.recording.about.hit_ns.map_or(0.0, |ns| HITS * ns as f64);
    let format = &evidence.recording.about.format;
    let cut = if (format.major, format.minor) < (1, 17) { CUT_BEFORE } else { CUT };
    let mut noted = Noted::default();
    for burst in tables.walk_bursts.iter().filter(|burst| burst.walk == walk.walk && burst.rounds.is_none()) {
        let from = rows.partition_point(|row| row.time_ns < burst.start_ns);
        let to = rows.partition_point(|row| row.time_ns <= burst.end_ns).max(from);
        let rows = &rows[from..to];
        let Some(first) = rows.first() else { continue };
        noted.texts += rows.len();
        noted.ns += sampled(first.time_ns, burst.end_ns).1;
        for (at, row) in rows.iter().enumerate() {
            let next = rows[at + 1..].iter().find(|next| next.thread == row.thread);
            let end = next.map_or(burst.end_ns, |next| next.time_ns);
            let Some(length) = length(text, row, cut) else { continue };
            if end.saturating_sub(row.time_ns) as f64 - stopped < BYTE_NS * length as f64 {
                continue;
            }
            let (samples, ns) = sampled(row.time_ns, end);
            noted.slow += 1;
            noted.bytes = noted.bytes.saturating_add(length);
            noted.longest = noted.longest.max(length);
            noted.slow_samples += samples;
            noted.slow_ns += ns;
        }
    }
    noted
}

/// Bytes of the text that a call was given; none if that is not known.
fn length(text: What, row: &Beginning, cut: u64) -> Option<u64> {
    match (text, row.addresses.as_slice()) {
        (What::Text(_), _) => Some(row.length).filter(|length| *length < cut),
        (_, [begin, second, ..]) => text.length(*begin, *second),
        _ => None,
    }
}

fn finding(
    evidence: &Evidence<'_>,
    process: u32,
    function: u32,
    noted: &Noted,
    samples: &Samples,
) -> Option<Candidate> {
    let each = noted.byte_ns();
    if noted.slow_samples < SAMPLES || each < BYTE_NS {
        return None;
    }
    let calls = Calls::new(evidence);
    let mut askers: BTreeMap<Option<u32>, BTreeMap<u32, f64>> = BTreeMap::new();
    for (_, stack, ns) in samples {
        *askers.entry(calls.own_of(*stack)).or_default().entry(*stack).or_default() += ns;
    }
    let sum = |stacks: &BTreeMap<u32, f64>| stacks.values().sum::<f64>();
    let cost: f64 = askers.values().map(sum).sum();
    // Of the calls that were not noted so many are slow as of those that were.
    let gain = cost * (noted.slow_ns / noted.ns.max(1.0)).min(1.0) * (1.0 - GOOD_NS / each);
    if !GATE.may_pass(evidence, gain) {
        return None;
    }
    let (own, stacks) = askers.iter().max_by(|a, b| sum(a.1).total_cmp(&sum(b.1)))?;
    let place = place(evidence, heaviest(stacks), *own, process);
    let frame = evidence.frame(function);
    let draft = Draft {
        explanation: vec![
            format!(
                "{} took {} for each byte of {} of the {} texts that were looked at; the longest of these has {} bytes",
                slowpath_interfaces::without_arguments(&frame.function),
                time(each),
                count(noted.slow as f64),
                count(noted.texts as f64),
                count(noted.longest as f64)
            ),
            format!("{} or less is usual; many ways to match are tried, one after the other", time(GOOD_NS)),
        ],
        related: vec![frame],
        facts: vec![
            Fact::new("texts looked at", noted.texts as f64, "calls", "probe", Sure::Exact),
            Fact::new("texts that took long", noted.slow as f64, "calls", "probe", Sure::Exact),
            Fact::new("bytes of these", noted.bytes as f64, "bytes", "probe", Sure::Exact),
            Fact::new("time of a byte", two_digits(each), "ns", "samples", Sure::Sampled),
        ],
        advice: "Look for repetitions inside repetitions, as in (a+)+, and for alternatives that begin alike, and write the expression so that there is \
                 one way to match; or use an engine that does not backtrack (RE2, Rust's regex, Hyperscan)"
            .to_owned(),
        ..Draft::new(&CAUSE, CAUSE.title, Confidence::Likely, Cost::new(Basis::Cpu, cost, gain), place)
    };
    Some(draft.candidate(evidence, GATE, process))
}
