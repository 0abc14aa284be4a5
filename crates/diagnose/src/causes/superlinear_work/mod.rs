//! Work grows with every call: the k-th call of a function costs a part that rises with k (or falls, where each call works
//! through what is left), so n calls cost n².
//!
//! - `timeline` — when each call happened.
//! - `candidate` — the cost of each call against its number, for every function that was counted.
//! - `context` — is it the input that grows? What else the caller does, and how often the callees are called.
//! - this file — who is guilty, and what is said.
//!
//! The GUILTY function has linear calls and a growing cost a call. Its VICTIMS, which it calls, have many calls of flat
//! cost; its callers grow because it does. Doubling arrays, phases, warm-up and caches that overflow also cost more with
//! time, but in jumps or ever less: the growth must be steady.

mod candidate;
mod context;
mod timeline;

use super::runtime;
use super::words::{count, rounded, time};
use crate::Evidence;
use crate::findings::{Basis, Cause, Confidence, Fact, Finding, Series, Sure};
use candidate::Candidate;
use context::{Callee, Rest};
use slowpath_stats::median;
use std::collections::HashSet;

/// The gain is at least this share of the run's CPU time.
const GAIN_SHARE: f64 = 0.10;
/// Without further evidence the last calls must cost so many times what the first did.
const HINT_RATIO: f64 = 4.0;
/// A grower is guilty of its caller's growth if it has this share of the caller's cost.
const INNER_SHARE: f64 = 0.6;

pub(super) fn find(evidence: &Evidence<'_>) -> Vec<Finding> {
    let counted = candidate::counted(evidence);
    let rounds = candidate::rounds(evidence, &counted);
    let mut growers: Vec<Candidate> =
        counted.into_iter().chain(rounds).filter(|one| one.grows() || one.grows_in_jumps()).collect();
    growers.retain(|grower| grower.gain_ns() >= GAIN_SHARE * evidence.cpu_ns);
    let guilty: Vec<&Candidate> = growers
        .iter()
        .filter(|outer| !growers.iter().any(|inner| explains(evidence, inner, outer)))
        .collect();
    let mut findings: Vec<Finding> =
        guilty.into_iter().filter_map(|grower| finding(evidence, grower)).collect();
    // A function and the library function that it calls, or two ways to count one loop: one cause, told once, by the surer.
    findings.sort_by(|a, b| b.confidence.cmp(&a.confidence).then(b.gain_ns.cmp(&a.gain_ns)));
    let mut seen = HashSet::new();
    findings.retain(|finding| seen.insert(finding.fingerprint.clone()));
    findings
}

/// Whether `inner` is called under `outer` and has most of its cost.
fn explains(evidence: &Evidence<'_>, inner: &Candidate, outer: &Candidate) -> bool {
    if inner.function == outer.function || inner.process != outer.process {
        return false;
    }
    if runtime::is_name(&evidence.frame(inner.function)) {
        return false; // it does what it is asked to; whoever asks is guilty
    }
    let samples = &evidence.recording.tables.samples;
    let both: f64 = samples
        .iter()
        .zip(&evidence.weights)
        .filter(|(sample, _)| sample.stack.is_some_and(|s| inner.on[s as usize] && outer.on[s as usize]))
        .map(|(_, weight)| weight)
        .sum();
    // Each is on the stack of the other's samples only if one calls the other: the caller is the one that is also seen
    // without it, or that stands further out.
    both >= INNER_SHARE * outer.cost_ns && context::is_caller(evidence, outer.function, inner.function)
}

fn finding(evidence: &Evidence<'_>, grower: &Candidate) -> Option<Finding> {
    let ramp = grower.growth.ramp.as_ref()?;
    let rest = context::rest_of_the_caller(evidence, grower);
    if let Rest::Grows = rest {
        return None; // what the caller does besides grows as well: so does the input
    }
    let callee = context::callee(evidence, grower);
    let flat = matches!(rest, Rest::Flat { .. } | Rest::FlatLead { .. });
    let exact = grower.exact_share > 0.3;
    // Growth in jumps, or with nothing but time that speaks for it, must be large: a cache that overflows grows too.
    let backed = flat || callee.is_some();
    if !backed && (!grower.grows() || grower.ratio < HINT_RATIO || grower.round.is_some()) {
        return None;
    }
    let confidence = match (flat, exact, &callee) {
        (true, ..) if grower.round.is_some() => Confidence::Likely,
        (true, true, Some(_)) => Confidence::Certain,
        (true, true, None) if ramp.r2 >= 0.9 && matches!(rest, Rest::Flat { .. }) => Confidence::Certain,
        (true, ..) => Confidence::Likely,
        (false, ..) => Confidence::Hint,
    };
    let (cost, gain) = (grower.cost_ns, grower.gain_ns());
    let mut path = grower.example.map(|stack| evidence.path_to(stack, grower.function)).unwrap_or_default();
    let mut frame = evidence.frame(grower.function);
    let mut done_by = None;
    if runtime::is_name(&frame)
        && let Some(own) = path.iter().rposition(|frame| !runtime::is_name(frame))
    {
        // The nearest caller that is the program's own is guilty, at the line of its call.
        done_by = Some(frame.function.clone());
        path.truncate(own + 1);
        frame = path[own].clone();
    }
    let caller = path.len().checked_sub(2).map(|at| path[at].clone());
    let first = grower.points.first().map_or(0.0, |point| point.cost);
    let last = grower.points.last().map_or(0.0, |point| point.cost);
    let squared = callee.is_some() && flat;

    let calls = grower.calls.round();
    let mut explanation = Vec::new();
    let from = caller.map_or(String::new(), |caller| {
        let at = match (&caller.file, caller.line) {
            (Some(file), Some(line)) => format!(" ({}:{line})", file.rsplit('/').next().unwrap_or(file)),
            _ => String::new(),
        };
        format!(" from {}{at}", caller.function)
    });
    let about = if grower.counted as f64 >= 0.98 * calls { "" } else { "about " };
    explanation.push(match (&done_by, grower.round) {
        (_, Some(marker)) => format!(
            "its loop went {about}{} rounds, counted by its calls of {}; what grows was inlined into it",
            count(calls),
            evidence.name(marker)
        ),
        (Some(done_by), None) => {
            format!("it calls {done_by}, {about}{} times, which does the work", count(calls))
        }
        (None, None) => format!("called {about}{} times{from}", count(calls)),
    });
    if let Some(callee) = &callee {
        explanation.push(callee_sentence(evidence.name(callee.function), callee, squared));
    }
    let one = if grower.round.is_some() { "round" } else { "call" };
    explanation.push(if grower.falling {
        format!(
            "a {one} costs {} at first and {} at the end: each works through all that is left",
            time(first),
            time(last)
        )
    } else {
        format!("a {one} costs {} at first and {} at the end, and it grows steadily", time(first), time(last))
    });
    let change = if grower.falling { "shrink" } else { "grow" };
    match &rest {
        Rest::Flat { ratio, .. } if grower.round.is_some() => explanation.push(format!(
            "a call of {} costs the same all the while ({ratio:.1} times as much in the second half of the rounds), so it is not \
             the input that grows",
            evidence.name(grower.round.unwrap_or_default())
        )),
        Rest::Flat { caller, ratio, .. } => explanation.push(format!(
            "what {} does besides does not {change} ({:.1} times as much in the second half of the calls), so it is not the input that does",
            evidence.name(*caller),
            ratio
        )),
        Rest::FlatLead { caller, ratio, median_ns, .. } => explanation.push(format!(
            "what {} does before it does not {change} ({}, {ratio:.1} times as much in the second half of the calls), so it is not the \
             input that does",
            evidence.name(*caller),
            time(*median_ns)
        )),
        Rest::Grows | Rest::Unknown => explanation.push(
            "whether the input of each call grows as well could not be told: too little else was done between the calls".to_owned(),
        ),
    }
    if squared && !grower.falling {
        explanation.push("at twice the input expect four times the time".to_owned());
    }
    if grower.before >= 1.0 {
        explanation.push(format!(
            "about {} calls happened before they were counted, or between; these are estimated from their time",
            count((calls - grower.counted as f64).max(grower.before).round())
        ));
    }
    if frame.file.is_none() {
        explanation.push(format!(
            "{} has no line information: build it with -g to see the line. Functions that were inlined into it count as part of it",
            frame.module
        ));
    }

    let fact = |name: &str, value: f64, unit: &str, source: &str, sure| Fact {
        name: name.to_owned(),
        value,
        unit: unit.to_owned(),
        source: source.to_owned(),
        sure,
    };
    let growth = &grower.growth;
    let mut facts = vec![
        fact("calls counted", grower.counted as f64, "calls", "probe", Sure::Exact),
        fact(
            "calls in all",
            calls,
            "calls",
            "probe",
            if about.is_empty() { Sure::Exact } else { Sure::Fitted },
        ),
        fact("cost of the first calls", first, "ns", "samples", Sure::Fitted),
        fact("cost of the last calls", last, "ns", "samples", Sure::Fitted),
        fact("rank correlation of cost and call number", growth.spearman, "1", "samples", Sure::Sampled),
        fact("last quarter over first quarter", growth.last_to_first, "ratio", "samples", Sure::Sampled),
        fact("exponent of the growth of a call's cost", grower.exponent, "1", "fit", Sure::Fitted),
        fact("R² of the growth", ramp.r2, "1", "fit", Sure::Fitted),
    ];
    if let Some(Callee { fit, pairs, .. }) = &callee {
        facts.push(fact(
            "callee's calls for each further call",
            fit.per_call,
            "calls",
            "probe",
            Sure::Fitted,
        ));
        facts.push(fact("R² of the callee's calls", fit.r2, "1", "fit", Sure::Fitted));
        facts.push(fact("calls with the callee counted", *pairs as f64, "calls", "probe", Sure::Exact));
    }
    if let Rest::Flat { ratio, samples, .. } = rest {
        facts.push(fact(
            "rest of the caller, second half over first",
            ratio,
            "ratio",
            "samples",
            Sure::Sampled,
        ));
        facts.push(fact("samples in the rest of the caller", samples, "samples", "samples", Sure::Exact));
    }
    if let Rest::FlatLead { ratio, pairs, median_ns, .. } = rest {
        facts.push(fact("time before the call in its caller", median_ns, "ns", "probe", Sure::Exact));
        facts.push(fact("the same, second half over first", ratio, "ratio", "probe", Sure::Exact));
        facts.push(fact("pairs of entries", pairs as f64, "calls", "probe", Sure::Exact));
    }
    let mut series = vec![Series {
        name: "cost of a call".to_owned(),
        x_label: format!("number of the call of {}", frame.function),
        y_label: "cost of the call".to_owned(),
        y_unit: "ns".to_owned(),
        x: grower.points.iter().map(|point| point.k).collect(),
        y: grower.points.iter().map(|point| point.cost).collect(),
        fit: ramp.fitted.clone(),
    }];
    if let Some(Callee { function, k, calls, fit, .. }) = &callee {
        series.push(Series {
            name: format!("calls to {}", evidence.name(*function)),
            x_label: format!("number of the call of {}", frame.function),
            y_label: format!("calls to {} in it", evidence.name(*function)),
            y_unit: "calls".to_owned(),
            x: k.clone(),
            y: calls.clone(),
            fit: k.iter().map(|k| fit.constant + fit.per_call * k).collect(),
        });
    }
    let advice = if grower.falling {
        format!(
            "let {} do only the work of its own item: take from the end, keep a position, or use an index in place of moving or \
             scanning what is left at each call",
            frame.function
        )
    } else {
        format!(
            "let {} do only the work of its own item: keep what earlier calls made and add to it, or look it up in a hash table or \
             sorted index, in place of going through all earlier items at each call",
            frame.function
        )
    };
    Some(Finding {
        cause: Cause::SuperlinearWork,
        title: if grower.falling {
            "each call works through all that is left"
        } else {
            "work grows with every call"
        }
        .to_owned(),
        confidence,
        basis: Basis::Cpu,
        cost_ns: cost as u64,
        share: (cost / evidence.cpu_ns).min(1.0),
        gain_ns: gain as u64,
        function: frame.function.clone(),
        module: frame.module.clone(),
        file: frame.file.clone(),
        line: frame.line,
        path,
        files: Vec::new(),
        explanation,
        facts,
        series,
        advice,
        fingerprint: format!("superlinear-work:{}:{}", frame.module, frame.function),
    })
}

/// "call k makes 2.0·k + 68 calls to G"
fn callee_sentence(name: &str, callee: &Callee, squared: bool) -> String {
    let fit = &callee.fit;
    let steady = callee.steps > 0 && callee.same_step * 4 >= callee.steps * 3;
    // Where the step from call to call is nearly always the same it tells the slope better than a line that a few
    // large items bend.
    let slope = if steady { callee.step } else { fit.per_call };
    let rest: Vec<f64> = callee.k.iter().zip(&callee.calls).map(|(k, calls)| calls - slope * k).collect();
    let constant = median(&rest).unwrap_or(fit.constant).round();
    let plus = match constant {
        c if c >= 1.0 => format!(" + {}", count(c)),
        c if c <= -1.0 => format!(" − {}", count(-c)),
        _ => String::new(),
    };
    let sign = if slope < 0.0 { "−" } else { "" };
    let evidence = if fit.r2 >= 0.98 || !steady {
        format!("R² {:.3}", fit.r2)
    } else {
        format!("in {} of {} steps from one call to the next", callee.same_step, callee.steps)
    };
    let square = if squared { ": n calls cost n²" } else { "" };
    format!("call k makes {sign}{}·k{plus} calls to {name} ({evidence}){square}", rounded(slope.abs()))
}
