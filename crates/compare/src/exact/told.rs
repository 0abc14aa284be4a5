//! What is said of a guilty function: its finding, in instructions.

use super::across::{Across, Counts, Of, last, law};
use super::rule::Guilty;
use crate::scale::Law;
use slowpath_diagnose::causes::SUPERLINEAR_WORK;
use slowpath_diagnose::draft::Draft;
use slowpath_diagnose::findings::{
    Basis, Calls, Confidence, Cost, Fact, Finding, Frame, Place, Series, Sure,
};
use slowpath_diagnose::words;
use slowpath_stats::affine;

/// Symptoms that are reported.
const VICTIMS: usize = 3;
/// A function whose calls rise with at least this exponent is called for every item of the input.
const EVERY: f64 = 0.5;
/// A line through the calls that each call makes explains so much before it is reported.
const LINE: f64 = 0.95;
/// Frames of a call path.
const FRAMES: usize = 32;

/// The finding; `program` is the file name of what ran.
pub(super) fn finding(across: &Across, guilty: &Guilty, program: &str) -> Finding {
    let function = &across.functions[guilty.function];
    let counts = &function.counts;
    let each = function.each();
    let (size, cost) = (last(&across.sizes), last(&counts.instructions));
    let (calls, first, end) = (last(&counts.calls), seen_first(&across.sizes, &each), last(&each));
    let every = counts.calls_law.is_some_and(|law| law.exponent >= EVERY);
    // Linear work: each call costs what it does at the smallest size; or the one call costs in proportion to the size.
    let linear = first.map_or(cost, |(at, each)| calls * each * if every { 1.0 } else { size / at });
    let gain = (cost - linear).max(0.0);
    let path = path(across, guilty.function);
    let mut explanation = Vec::new();
    if let (Some((at, first)), Some(law)) = (first, counts.call_law) {
        explanation.push(format!(
            "a call takes {} instructions at size {} and {} at size {}: the cost per call grows as n^{:.2}, the \
             number of calls as n^{:.2}, the total as n^{:.2}",
            count(first),
            number(at),
            count(end),
            number(size),
            law.exponent,
            exponent(counts.calls_law),
            exponent(counts.law)
        ));
    }
    let mut facts = facts(function, calls, first, end);
    let mut series = vec![Series {
        name: "instructions of a call".to_owned(),
        x_label: "size".to_owned(),
        y_label: format!("instructions of a call of {}", counts.function),
        y_unit: "instructions".to_owned(),
        x: across.sizes.clone(),
        fit: at_sizes(&across.sizes, counts.call_law),
        y: each,
    }];
    let mut victims: Vec<(&Of, Vec<f64>)> = guilty
        .victims
        .iter()
        .filter_map(|victim| {
            let victim = &across.functions[*victim];
            let (under, _) = victim.callers.get(&guilty.function)?;
            let each = under.iter().zip(&counts.calls).map(|(under, calls)| under / calls.max(1.0)).collect();
            Some((victim, each))
        })
        .collect();
    victims.truncate(VICTIMS);
    for (victim, each) in &victims {
        explanation.push(victim_sentence(&across.sizes, victim, each));
    }
    if let Some((victim, each)) = victims.first() {
        let name = &victim.counts.function;
        facts.push(fact(
            &format!("calls to {name} in a call at the largest size"),
            last(each),
            "calls",
            Sure::Exact,
        ));
        series.push(Series {
            name: format!("calls to {name}"),
            x_label: "size".to_owned(),
            y_label: format!("calls to {name} in a call"),
            y_unit: "calls".to_owned(),
            x: across.sizes.clone(),
            fit: at_sizes(&across.sizes, law(&across.sizes, each)),
            y: each.clone(),
        });
    }
    if let Some(law) = counts.law {
        explanation
            .push(format!("twice the size takes {:.1} times the instructions", 2f64.powf(law.exponent)));
    }
    let name = &counts.function;
    let title = if every { "work grows with every call" } else { "work grows faster than the input" };
    // That the whole input was made larger and nothing else is what whoever gave the sizes says.
    let confidence = if every { Confidence::Certain } else { Confidence::Likely };
    let place = Place::at_end_of(path, || frame(counts));
    let draft = Draft {
        variant: "rising",
        calls: Some(Calls { count: calls as u64, sure: Sure::Exact }),
        related: victims.iter().map(|(victim, _)| frame(&victim.counts)).collect(),
        explanation,
        facts,
        series,
        advice: if every {
            format!(
                "Make {name} process only its own item: keep the result of earlier calls and add to it, or use a \
                 hash table or sorted index, instead of going through all earlier items on each call"
            )
        } else {
            format!(
                "Make {name} go through its input once: use a hash table or sorted index, instead of going through \
                 all items for each item"
            )
        },
        ..Draft::new(&SUPERLINEAR_WORK, title, confidence, Cost::new(Basis::Instructions, cost, gain), place)
    };
    draft.finding(last(&across.totals) as u64, |module| module == program)
}

/// A function as counted, which has no number in a recording.
fn frame(counts: &Counts) -> Frame {
    Frame {
        function_id: None,
        function: counts.function.clone(),
        module: counts.module.clone(),
        file: counts.file.clone(),
        line: counts.line,
    }
}

/// "a call makes 0.50·n calls to same (25 at size 50, 200 at size 400), each of the same cost: it is the victim"
fn victim_sentence(sizes: &[f64], victim: &Of, each: &[f64]) -> String {
    let name = &victim.counts.function;
    let line = affine(sizes, each).filter(|line| line.r2 >= LINE && line.per_unit > 0.0);
    let how = match (line, law(sizes, each)) {
        (Some(line), _) => format!("{}·n", words::rounded(line.per_unit)),
        (None, Some(law)) => format!("n^{:.2} times as many", law.exponent),
        (None, None) => "more and more".to_owned(),
    };
    let ends = match (sizes.first(), each.first()) {
        (Some(size), Some(calls)) => {
            format!(
                "{} at size {}, {} at size {}",
                count(*calls),
                number(*size),
                count(last(each)),
                number(last(sizes))
            )
        }
        _ => String::new(),
    };
    format!(
        "a call makes {how} calls to {name} ({ends}), each at the same cost: {name} is a symptom, not the cause"
    )
}

fn facts(function: &Of, calls: f64, first: Option<(f64, f64)>, end: f64) -> Vec<Fact> {
    let counts = &function.counts;
    let mut facts = vec![
        fact("calls in all", calls, "calls", Sure::Exact),
        fact(
            "instructions of a call at the smallest size",
            first.map_or(0.0, |(_, each)| each),
            "instructions",
            Sure::Exact,
        ),
        fact("instructions of a call at the largest size", end, "instructions", Sure::Exact),
    ];
    for (name, law) in [
        ("exponent of the instructions", counts.law),
        ("exponent of the calls", counts.calls_law),
        ("exponent of the instructions of a call", counts.call_law),
    ] {
        if let Some(law) = law {
            facts.push(Fact { source: "fit".to_owned(), ..fact(name, law.exponent, "1", Sure::Fitted) });
        }
    }
    facts
}

fn fact(name: &str, value: f64, unit: &str, sure: Sure) -> Fact {
    Fact { name: name.to_owned(), value, unit: unit.to_owned(), source: "callgrind".to_owned(), sure }
}

/// The callers that ask for most of each other, outermost first, the function last.
fn path(across: &Across, function: usize) -> Vec<Frame> {
    let mut path = Vec::new();
    let mut seen = vec![function];
    loop {
        let at = seen[seen.len() - 1];
        let of = &across.functions[at];
        let counts = &of.counts;
        path.push(frame(counts));
        let callers = of.callers.iter().filter(|(caller, _)| !seen.contains(caller));
        let most = callers.max_by(|a, b| last(&a.1.1).total_cmp(&last(&b.1.1))).map(|(caller, _)| *caller);
        match most {
            // What starts the program is no part of it.
            Some(caller) if path.len() < FRAMES && counts.function != "main" => seen.push(caller),
            _ => break,
        }
    }
    path.reverse();
    path
}

/// The smallest size at which it was called, and the cost of a call there.
fn seen_first(sizes: &[f64], each: &[f64]) -> Option<(f64, f64)> {
    sizes.iter().copied().zip(each.iter().copied()).find(|(_, each)| *each > 0.0)
}

fn exponent(law: Option<Law>) -> f64 {
    law.map_or(0.0, |law| law.exponent)
}

fn at_sizes(sizes: &[f64], law: Option<Law>) -> Vec<f64> {
    law.map_or_else(Vec::new, |law| sizes.iter().map(|size| law.scale * size.powf(law.exponent)).collect())
}

/// A size, as it was given.
fn number(size: f64) -> String {
    if size.fract() == 0.0 { words::count(size) } else { size.to_string() }
}

/// Numbers below ten with a decimal where they have one.
fn count(value: f64) -> String {
    if value < 10.0 && value.fract().abs() >= 0.05 { format!("{value:.1}") } else { words::count(value) }
}
