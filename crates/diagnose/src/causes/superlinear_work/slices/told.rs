//! What is said of a function whose calls cost ever more instructions. Who that is, is decided in `mod.rs`.

use super::*;

pub(super) fn judged(
    evidence: &Evidence<'_>,
    process: &Process,
    grower: &Grower,
    rest: Rest,
) -> Option<Found> {
    let callee = callee(process, grower);
    let confidence = match rest {
        Rest::Grows => return None,
        Rest::Flat(..) => Confidence::Certain,
        // How large what is read for each call is the kernel alone has seen.
        Rest::Unknown if reads(evidence, process) >= OWN_INPUT * grower.calls => return None,
        Rest::Unknown if grower.ratio >= HINT_RATIO => Confidence::Hint,
        Rest::Unknown => return None,
    };
    let frame = evidence.frame(grower.function);
    let place = Place { path: path(evidence, process, grower.function), frame };
    let name = place.frame.function.clone();
    let (first, last) = (grower.points.first()?.cost, grower.points.last()?.cost);
    let mut explanation = Vec::new();
    let same = if let Rest::Flat(caller, _) = rest { Some(caller) } else { None };
    let related = callee.as_ref().map(|(callee, ..)| *callee).into_iter().chain(same);
    let related = related.map(|function| evidence.frame(function)).collect();
    if let Some((callee, fit, _)) = &callee {
        let sign = if fit.per_call < 0.0 { "−" } else { "" };
        let square = if matches!(rest, Rest::Flat(..)) { ", so the total cost grows as n²" } else { "" };
        explanation.push(format!(
            "the k-th call makes {sign}{}·k calls to {} (R² {:.3}){square}",
            words::rounded(fit.per_call.abs()),
            evidence.name(*callee),
            fit.r2
        ));
    }
    explanation.push(format!(
        "each call takes {} instructions at first and {} at the end{}",
        words::count(first),
        words::count(last),
        if grower.ramp.falling {
            ": each one goes through everything that is left"
        } else {
            ", growing steadily"
        }
    ));
    explanation.push(match rest {
        Rest::Flat(caller, ratio) => format!(
            "the other work in {} stays the same (instructions in the second half of the calls: {ratio:.2}× the \
             first half), so the input is not changing",
            evidence.name(caller)
        ),
        _ => "unknown whether the input of each call also grows: no other work happens between the calls".to_owned(),
    });
    let fact = Fact::new;
    let mut facts = vec![
        fact("calls in all", grower.calls, "calls", "callgrind", Sure::Exact),
        fact("cost of the first calls", first, "instructions", "callgrind", Sure::Exact),
        fact("cost of the last calls", last, "instructions", "callgrind", Sure::Exact),
        fact(
            "rank correlation of cost and call number",
            grower.growth.spearman,
            "1",
            "callgrind",
            Sure::Exact,
        ),
        fact(
            "last quarter over first quarter",
            grower.growth.last_to_first,
            "ratio",
            "callgrind",
            Sure::Exact,
        ),
        fact("exponent of the growth of a call's cost", grower.ramp.exponent, "1", "fit", Sure::Fitted),
        fact("R² of the growth", grower.ramp.r2, "1", "fit", Sure::Fitted),
    ];
    if let Rest::Flat(_, ratio) = rest {
        facts.push(fact(
            "rest of the caller, second half over first",
            ratio,
            "ratio",
            "callgrind",
            Sure::Exact,
        ));
    }
    let number = format!("call number of {name}");
    let k: Vec<f64> = grower.points.iter().map(|point| point.k).collect();
    let mut series = vec![Series {
        name: "cost of a call".to_owned(),
        x_label: number.clone(),
        y_label: "cost of the call".to_owned(),
        y_unit: "instructions".to_owned(),
        x: k.clone(),
        y: grower.points.iter().map(|point| point.cost).collect(),
        fit: grower.ramp.fitted.clone(),
    }];
    if let Some((callee, fit, each)) = callee {
        facts.push(fact("callee's calls for each further call", fit.per_call, "calls", "fit", Sure::Fitted));
        series.push(Series {
            name: format!("calls to {}", evidence.name(callee)),
            x_label: number,
            y_label: format!("calls to {} in it", evidence.name(callee)),
            y_unit: "calls".to_owned(),
            fit: k.iter().map(|k| fit.constant + fit.per_call * k).collect(),
            x: k,
            y: each,
        });
    }
    let advice = if grower.ramp.falling {
        format!(
            "Make {name} process only its own item: take from the end, keep a position, or use an index, instead of \
             moving or scanning what is left on each call"
        )
    } else {
        format!(
            "Make {name} process only its own item: keep the result of earlier calls and add to it, or use a hash \
             table or sorted index, instead of going through all earlier items on each call"
        )
    };
    let title = if grower.ramp.falling {
        "each call goes through everything that is left"
    } else {
        "work grows with every call"
    };
    let cost = Cost::new(Basis::Instructions, grower.instructions, grower.gain());
    let draft = Draft {
        variant: if grower.ramp.falling { "falling" } else { "rising" },
        calls: Some(Calls { count: grower.calls as u64, sure: Sure::Exact }),
        related,
        explanation,
        facts,
        series,
        advice,
        ..Draft::new(&CAUSE, title, confidence, cost, place)
    };
    Some(draft.candidate(evidence, GATE, process.number))
}

/// The callers that ask for most of each other, outermost first, the function last.
fn path(evidence: &Evidence<'_>, process: &Process, function: u32) -> Vec<Frame> {
    let mut seen = vec![function];
    while seen.len() < FRAMES && evidence.name(seen[seen.len() - 1]) != "main" {
        match process.callers(seen[seen.len() - 1]).iter().find(|caller| !seen.contains(caller)) {
            Some(caller) => seen.push(*caller),
            None => break,
        }
    }
    seen.into_iter().rev().map(|function| evidence.frame(function)).collect()
}
