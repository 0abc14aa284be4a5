//! Copies that are never changed: they were followed to their end (`fates`), and a reference to the original would have done for most of them.

use super::dropped::Spent;
use super::fates::Fates;
use super::{CAUSE, asks};
use crate::Evidence;
use crate::candidate::Candidate;
use crate::causes::words::{count, time};
use crate::draft::Draft;
use crate::evidence::heaviest;
use crate::findings::{Basis, Confidence, Cost, Fact, Sure};
use crate::gate::Gate;
use slowpath_interfaces::without_arguments;

/// Copies that were followed are known to be needless.
pub(super) const GATE: Gate = Gate::TENTH_OF_CPU;
/// Freeing that took less is not reported: a sample or two.
const LEAST_FREEING_NS: f64 = 2e6;
/// Share of the time in a function's copies that must be in such ones: where others of its copies are changed, they are parts of one object.
const MOST: f64 = 0.7;

/// Copies that are never changed, for one function.
pub(super) struct Needless {
    /// The time in them, as far as they are known not to be changed.
    pub ns: f64,
    fates: Fates,
    copier: u32,
}

impl Needless {
    /// Only copies by functions whose fate is known count; of what was inlined as large a part as of those.
    pub(super) fn of<'f>(spent: &Spent, fate: impl Fn(&u32) -> Option<&'f Fates>) -> Option<Needless> {
        let (mut ns, mut all, mut fates, mut most) = (0.0, 0.0, Fates::default(), (0.0, None));
        let mut in_needless = 0.0;
        for (copier, of_copier) in &spent.called {
            all += of_copier;
            if fate(copier).is_some_and(Fates::are_needed) {
                return None;
            }
            let Some(fate) = fate(copier).filter(|fate| fate.are_needless()) else { continue };
            in_needless += of_copier;
            ns += of_copier * fate.share();
            fates.add(fate);
            if *of_copier > most.0 {
                most = (*of_copier, Some(*copier));
            }
        }
        if in_needless < MOST * all {
            return None;
        }
        ns += if all > 0.0 { spent.inlined_ns * ns / all } else { 0.0 };
        Some(Needless { ns, fates, copier: most.1? })
    }
}

/// What is reported of them.
pub(super) fn finding(
    evidence: &Evidence<'_>,
    (process, asker): (u32, u32),
    spent: &Spent,
    of_copies: f64,
    needless: &Needless,
) -> Option<Candidate> {
    let fates = &needless.fates;
    let cost = (spent.ns + of_copies).min(evidence.cpu_ns);
    let gain = cost * needless.ns / spent.ns.max(1.0);
    let stack = heaviest(&spent.stacks);
    let copier = evidence.frame(needless.copier);
    let freeing = if of_copies >= LEAST_FREEING_NS {
        format!(", and freeing the copies about {}", time(of_copies))
    } else {
        String::new()
    };
    let draft = Draft {
        not_known: "whether the original lives as long as the copy in all cases, and whether another thread may change it meanwhile",
        variant: "unchanged",
        explanation: vec![
            format!(
                "slowpath followed {} copies for {} instruction by instruction, in short pieces of the run, and saw the end of {}. {} of these were dropped or replaced without the copy \
                 or the original ever having been changed: a reference to the original would do",
                count(fates.copies as f64),
                without_arguments(evidence.name(asker)),
                count(fates.dropped as f64),
                if fates.unchanged == fates.dropped {
                    "All".to_owned()
                } else {
                    count(fates.unchanged as f64)
                }
            ),
            format!("copying took {} of CPU time, most in {}{freeing}", time(spent.ns), copier.function),
        ],
        related: vec![copier],
        facts: vec![
            Fact::new("copies followed", fates.copies as f64, "copies", "ahead", Sure::Exact),
            Fact::new("copies dropped", fates.dropped as f64, "copies", "ahead", Sure::Exact),
            Fact::new("copies dropped unchanged", fates.unchanged as f64, "copies", "ahead", Sure::Exact),
            Fact::new("time in copies", spent.ns, "ns", "samples", Sure::Sampled),
            Fact::new("time freeing copies", of_copies, "ns", "samples", Sure::Fitted),
        ],
        advice: "Use a reference to the original, such as const T& or &T, or only the part that is needed"
            .to_owned(),
        ..Draft::new(
            &CAUSE,
            "copies are made that are never changed",
            Confidence::Likely,
            Cost::new(Basis::Cpu, cost, gain),
            evidence.place(stack, asker, process, asks),
        )
    };
    Some(draft.candidate(evidence, GATE, process))
}
