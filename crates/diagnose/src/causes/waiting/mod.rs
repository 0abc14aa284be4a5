//! The program waits instead of working, and need not.
//!
//! - `sleeping` — it polls in a sleep loop where it could wait for the event; `children` — where it sleeps and looks through these.
//! - `unnoticed` — threads that look into memory for what another one does, and sleep in between.
//! - `stopping` — a request to stop is noticed when a time-out is over.
//! - `late` — it looks for the end of its children now and then, and sleeps in between.
//! - `in_vain` — it waits for an answer that does not come; `unanswered` — each time, until it asks another one.
//! - `delayed_ack` — two small messages in a row, and the second waits for the acknowledgement of the first; `held_back` — the same as the reader sees it.
//!
//! A sleep without a question is no sign, for it may be meant; nor is a wait that ends as soon as there is something,
//! however long it takes: whoever is waited for has its own reasons.

mod children;
mod delayed_ack;
mod held_back;
mod in_vain;
mod late;
mod sleeping;
mod stopping;
mod unanswered;
mod unnoticed;

pub(super) use delayed_ack::VARIANT as DELAYED_ACK;

use super::{Find, Needs, Spec};
use crate::Evidence;
use crate::calls::Calls;
use crate::candidate::Candidate;

/// See the file's head.
pub(super) const CAUSE: Spec = Spec {
    slug: "waiting",
    title: "waiting instead of working",
    symptom: "polling in a sleep loop (for a child, a path, or a variable that another thread sets); a request to stop that is noticed only when a time-out is over; delayed acknowledgements; an answer that does not come",
    not_known: "when exactly what was waited for had happened",
    page: include_str!("../../../../../docs/causes/waiting.md"),
    needs: &[Needs::Syscalls],
    find: Find::InRecording(find),
};

fn find(evidence: &Evidence<'_>) -> Vec<Candidate> {
    let calls = Calls::new(evidence);
    let mut findings = sleeping::find(evidence, &calls);
    let late = late::find(evidence, &calls);
    // Of those more is known.
    let is_of = |one: &Candidate, other: &Candidate| {
        (one.process, one.function()) == (other.process, other.function())
            && other.finding.cost.gain() >= one.finding.cost.gain()
    };
    findings.retain(|one| !late.iter().any(|other| is_of(one, other)));
    findings.extend(late);
    let mut unnoticed = unnoticed::find(evidence, &calls);
    let is_there = |one: &Candidate, other: &Candidate| {
        (one.process, one.function()) == (other.process, other.function())
    };
    unnoticed.retain(|one| !findings.iter().any(|other| is_there(one, other)));
    findings.extend(unnoticed);
    let in_vain = in_vain::find(evidence, &calls);
    let mut unanswered = unanswered::find(evidence, &calls);
    unanswered.retain(|one| !in_vain.iter().any(|other| is_there(one, other)));
    findings.extend(in_vain);
    findings.extend(unanswered);
    // Both sides see the same waits: those of one writer are reported once.
    let (delayed, writers) = delayed_ack::find(evidence, &calls);
    findings.extend(delayed);
    findings.extend(held_back::find(evidence, &calls, &writers));
    findings.extend(stopping::find(evidence, &calls));
    findings
}
