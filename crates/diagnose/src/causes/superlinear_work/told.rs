//! The finding of work that grows: where it is, the evidence in sentences and numbers, and what to do.

use super::super::runtime;
use super::super::words::{count, rounded, time, two_digits};
use super::Verdict;
use super::candidate::Candidate;
use super::carried::Carrier;
use super::context::{Callee, Rest};
use super::loops;
use super::restarts::Restarts;
use super::{CAUSE, GATE};
use crate::Evidence;
use crate::candidate::Candidate as Found;
use crate::draft::Draft;
use crate::findings::{Basis, Calls, Confidence, Cost, Fact, Frame, Place, Series, Sure};
use slowpath_stats::{Point, median};

/// A ratio of halves from which on it is not said that there is no growth: 1.1 is how they scatter.
const MORE: f64 = 1.2;
/// The variant of steps that take less than the one before.
pub(in crate::causes) const FALLING: &str = "falling";

/// Where the work is, and the runtime's function that does it, if the program's own only asks for it.
struct Asked {
    place: Place,
    done_by: Option<Frame>,
}

impl Asked {
    /// The nearest function of the program's own is guilty, at the line of its call: a runtime does what it is asked to.
    fn of(evidence: &Evidence<'_>, grower: &Candidate) -> Asked {
        let frame = evidence.frame(grower.function);
        let Some(example) = grower.example else {
            return Asked { place: Place { frame, path: Vec::new() }, done_by: None };
        };
        if grower.round.is_some() {
            return Asked::in_loop(evidence, grower, example);
        }
        let path = evidence.path_to(example, grower.function);
        if let Some(script) = evidence.script_on(&path) {
            // As for the other causes: what the script asks for can be changed by whoever wrote it.
            return Asked {
                place: Place { frame: script.clone(), path: vec![script] },
                done_by: Some(frame),
            };
        }
        match path.iter().rposition(|frame| !runtime::is_name(frame)) {
            Some(own) if own + 1 < path.len() => Asked::up_to(path, own, Some(frame)),
            _ => Asked { place: Place { frame, path }, done_by: None },
        }
    }

    /// In a loop: the line that is hot, in the innermost function of the program's own that was inlined there, but none that
    /// the runtime calls back.
    fn in_loop(evidence: &Evidence<'_>, grower: &Candidate, example: u32) -> Asked {
        let (path, asked) = evidence.path_to_own(example, grower.function);
        let called = evidence.locations(example).find_map(|location| {
            evidence.function_at(location).filter(|function| !evidence.module(*function).is_empty())
        });
        let called = called.filter(|called| *called != grower.function).map(|called| evidence.frame(called));
        let own = path.len().saturating_sub(1);
        Asked::up_to(path, own, asked.or(called))
    }

    fn up_to(mut path: Vec<Frame>, own: usize, done_by: Option<Frame>) -> Asked {
        path.truncate(own + 1);
        let frame = path[own].clone();
        Asked { place: Place { frame, path }, done_by }
    }
}

/// Whether a runtime's function was called by no function of the program, nor by a script.
pub(super) fn is_asked_by_nobody(evidence: &Evidence<'_>, grower: &Candidate) -> bool {
    let Some(example) = grower.example else { return false };
    let path = evidence.path_to(example, grower.function);
    !path.is_empty() && path.iter().all(runtime::is_name) && evidence.script_on(&path).is_none()
}

pub(super) fn candidate(evidence: &Evidence<'_>, grower: &Candidate, verdict: &Verdict) -> Found {
    let Verdict { rest, callee, flat, confidence } = verdict;
    let Asked { place, done_by } = Asked::of(evidence, grower);
    let frame = place.frame.clone();
    let done_by_name = done_by.as_ref().map(|frame| frame.function.as_str());
    let growth = &grower.growth;
    let (r2, fitted) = growth.ramp.as_ref().map_or((0.0, Vec::new()), |ramp| (ramp.r2, ramp.fitted.clone()));
    let (cost, gain) = (grower.cost_ns, grower.gain_ns());
    // Where calls were too short for a sample, none was seen.
    let seen = |point: &&Point| point.cost > 0.0;
    let first = grower.points.iter().find(seen).map_or(0.0, |point| point.cost);
    let last = grower.points.iter().rfind(seen).map_or(0.0, |point| point.cost);
    // Where it starts over with each document, this is true of one document, not of all.
    let squared = callee.is_some() && *flat && grower.restarts.is_none();

    let calls = grower.calls.round();
    let mut explanation = Vec::new();
    let about = if grower.counted as f64 >= 0.98 * calls { "" } else { "about " };
    // What facts are called stays as it is documented; sentences say what a reader knows.
    let one = if grower.round.is_some() { "round" } else { "call" };
    let (step, a_step) =
        if grower.round.is_some() { ("iteration", "an iteration") } else { ("call", "a call") };
    // The function whose calls were counted may be the runtime's, and not the one that is reported.
    let asked = done_by_name.filter(|_| grower.round.is_none()).map(short);
    let such = if asked.is_some() { "each such" } else { "each" };
    // Estimates are shown with two digits: more would be false precision.
    let times = if about.is_empty() { count(calls) } else { count(two_digits(calls)) };
    // Calls of the reported function itself are a value of the finding, not a sentence.
    let mut counted = None;
    match (&grower.round, &done_by) {
        (Some(_), done_by) => {
            let host = evidence.name(grower.function);
            let inlined = match host == frame.function {
                true => "its loop".to_owned(),
                false => format!("it was inlined into {host}, whose loop"),
            };
            let asks = done_by
                .as_ref()
                .map_or(String::new(), |done_by| format!("; {} does the work", short(&done_by.function)));
            explanation.push(format!("{inlined} ran {about}{times} iterations{asks}"));
        }
        (None, Some(done_by)) => {
            let through = named_within(evidence, grower, done_by);
            let through = through.map_or(String::new(), |name| format!(", mostly in {}", short(&name)));
            explanation.push(format!(
                "it calls {} {about}{times} times, which does the work{through}",
                short(&done_by.function)
            ));
        }
        (None, None) => {
            let sure = if about.is_empty() { Sure::Exact } else { Sure::Fitted };
            let count = if about.is_empty() { calls } else { two_digits(calls) };
            counted = Some(Calls { count: count as u64, sure });
        }
    }
    if let Some(callee) = callee {
        explanation.push(callee_sentence(evidence.name(callee.function), callee, squared));
    } else if let Some(Carrier { function, share, call_ns, .. }) = grower.carrier {
        explanation.push(format!(
            "{} takes {:.0} % of this time, and each of its calls takes about {} from first to last, so it is called {} often \
             in each {step}",
            short(evidence.name(function)),
            100.0 * share,
            time(call_ns),
            if grower.falling { "less" } else { "more" },
        ));
    }
    explanation.push(if grower.falling {
        format!(
            "{such} {step} takes {} at first and {} at the end: each one goes through everything that is left",
            time(first),
            time(last)
        )
    } else {
        format!(
            "{such} {step} takes {} at first and {} at the end, growing steadily",
            time(first),
            time(last)
        )
    });
    if let Some(Restarts { outer, times }) = grower.restarts {
        explanation.push(format!(
            "it starts over with each call of {}; {times} of them were compared",
            short(evidence.name(outer))
        ));
    }
    let (change, changing) = if grower.falling { ("shrink", "shrinking") } else { ("grow", "growing") };
    // A little more of the rest does not look like none.
    let hardly = |ratio: &f64| ratio.max(1.0 / ratio.max(0.01)) >= MORE;
    match rest {
        Rest::Flat { caller, ratio, .. } if hardly(ratio) => explanation.push(format!(
            "the other work in {} {change}s far less (second half of the {step}s: {:.1}× the first half), so that the input is \
             {changing} does not explain it",
            short(evidence.name(*caller)),
            ratio
        )),
        Rest::Flat { caller, ratio, .. } => explanation.push(format!(
            "the other work in {} does not {change} (second half of the {step}s: {:.1}× the first half), so the \
             input is not {changing}",
            short(evidence.name(*caller)),
            ratio
        )),
        Rest::FlatLead { caller, ratio, median_ns, .. } if *caller == grower.function => explanation.push(format!(
            "what it does at first with what it is given does not {change} ({}; second half of the calls: {ratio:.1}× the \
             first half), so its input is not {changing}",
            time(*median_ns)
        )),
        Rest::FlatLead { caller, ratio, median_ns, .. } => explanation.push(format!(
            "the work of {} before each call does not {change} ({}; second half of the calls: {ratio:.1}× the first \
             half), so the input is not {changing}",
            short(evidence.name(*caller)),
            time(*median_ns)
        )),
        _ if *confidence > Confidence::Hint => explanation.push(format!(
            "it {}, and each {step} {} than the one before; slowpath infers that this comes from earlier {step}s, \
             not from the input",
            if done_by.is_some() { "compares or copies existing data" } else { "only compares, copies or advances" },
            if grower.falling { "goes through less" } else { "goes through more" },
        )),
        Rest::Grows { .. } | Rest::Unknown => explanation.push(
            "unknown whether the input of each call also grows: too little other work happens between the calls".to_owned(),
        ),
    }
    if squared && !grower.falling {
        explanation.push("twice the input takes four times as long".to_owned());
    }
    if grower.before >= 1.0 {
        explanation.push(format!(
            "about {} {step}s were not counted (before counting started, or between counting windows); they are \
             estimated from their time",
            count(two_digits((calls - grower.counted as f64).max(grower.before)))
        ));
    }
    // A script has no function of its own.
    if frame.file.is_none() && frame.function_id.is_some() {
        explanation.push(format!(
            "{} has no line information: build it with -g to see the line. Until then, inlined functions count as \
             part of their caller",
            frame.module
        ));
    }

    let fact = Fact::new;
    let ones = match &asked {
        Some(asked) => format!("calls of {asked}"),
        None => format!("{one}s"),
    };
    let mut facts = vec![
        fact(&format!("{ones} counted"), grower.counted as f64, "calls", "probe", Sure::Exact),
        fact(
            &format!("{ones} in all"),
            calls,
            "calls",
            "probe",
            if about.is_empty() { Sure::Exact } else { Sure::Fitted },
        ),
        fact(&format!("cost of the first {one}s"), first, "ns", "samples", Sure::Fitted),
        fact(&format!("cost of the last {one}s"), last, "ns", "samples", Sure::Fitted),
        fact(
            &format!("rank correlation of cost and {one} number"),
            growth.spearman,
            "1",
            "samples",
            Sure::Sampled,
        ),
        fact("last quarter over first quarter", growth.last_to_first, "ratio", "samples", Sure::Sampled),
        fact(&format!("exponent of the growth of a {one}'s cost"), grower.exponent, "1", "fit", Sure::Fitted),
        fact("R² of the growth", r2, "1", "fit", Sure::Fitted),
    ];
    if let Some(Callee { fit, pairs, .. }) = callee {
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
    if let (None, Some(carrier)) = (callee, grower.carrier) {
        let name = "cost of the callee's calls, last quarter over first or the reverse";
        facts.push(fact(name, carrier.ratio, "ratio", "samples", Sure::Sampled));
    }
    if let Rest::Flat { ratio, samples, .. } = *rest {
        facts.push(fact(
            "rest of the caller, second half over first",
            ratio,
            "ratio",
            "samples",
            Sure::Sampled,
        ));
        facts.push(fact("samples in the rest of the caller", samples, "samples", "samples", Sure::Exact));
    }
    if let Rest::FlatLead { ratio, pairs, median_ns, .. } = *rest {
        facts.push(fact("time before the call in its caller", median_ns, "ns", "probe", Sure::Exact));
        facts.push(fact("the same, second half over first", ratio, "ratio", "probe", Sure::Exact));
        facts.push(fact("pairs of entries", pairs as f64, "calls", "probe", Sure::Exact));
    }
    let number = match grower.round {
        Some(_) => format!("iteration number in {}", evidence.name(grower.function)),
        None => format!("call number of {}", asked.as_ref().unwrap_or(&frame.function)),
    };
    let number = match grower.restarts {
        Some(Restarts { outer, .. }) => format!("{number}, from each call of {}", evidence.name(outer)),
        None => number,
    };
    let mut series = vec![Series {
        name: format!("cost of {a_step}"),
        x_label: number.clone(),
        y_label: format!("cost of the {step}"),
        y_unit: "ns".to_owned(),
        x: grower.points.iter().map(|point| point.k).collect(),
        y: grower.points.iter().map(|point| point.cost).collect(),
        fit: fitted,
    }];
    if let Some(Callee { function, k, calls, fit, .. }) = callee {
        series.push(Series {
            name: format!("calls to {}", evidence.name(*function)),
            x_label: number,
            y_label: format!("calls to {} in it", evidence.name(*function)),
            y_unit: "calls".to_owned(),
            x: k.clone(),
            y: calls.clone(),
            fit: k.iter().map(|k| fit.constant + fit.per_call * k).collect(),
        });
    }
    let advice = match (&grower.round, grower.falling) {
        _ if loops::keeps_extremes(evidence, grower.function) => {
            "Keep the largest (or smallest) so far, and compare it with what is new alone. If items are also taken out, use a heap"
                .to_owned()
        }
        (Some(_), true) => "Take from the end, keep a position or use a ring buffer, instead of moving or scanning \
                            what is left in each iteration"
            .to_owned(),
        (Some(_), false) => "Remember where the last iteration ended (a pointer or a length), append in place, or \
                             use a hash table or sorted index, instead of going through all earlier items in each \
                             iteration"
            .to_owned(),
        (None, true) => format!(
            "Make {} process only its own item: take from the end, keep a position, or use an index, instead of \
             moving or scanning what is left on each call",
            frame.function
        ),
        (None, false) => format!(
            "Make {} process only its own item: keep the result of earlier calls, such as where the last item is, and \
             add to it, or use a hash table or sorted index, instead of going through all earlier items on each call",
            frame.function
        ),
    };
    let title = if grower.falling {
        format!("each {step} goes through everything that is left")
    } else {
        format!("work grows with every {step}")
    };
    let same = match rest {
        Rest::Flat { caller, .. } | Rest::FlatLead { caller, .. } => Some(*caller),
        Rest::Grows { .. } | Rest::Unknown => None,
    };
    let related = callee.as_ref().map(|callee| callee.function).into_iter().chain(same);
    let related = related.map(|function| evidence.frame(function)).chain(done_by).collect();
    let draft = Draft {
        not_known: if grower.falling {
            "whether earlier items need more work because they are larger"
        } else {
            ""
        },
        variant: if grower.falling { FALLING } else { "rising" },
        calls: counted,
        related,
        explanation,
        facts,
        series,
        advice,
        ..Draft::new(&CAUSE, title, *confidence, Cost::new(Basis::Cpu, cost, gain), place)
    };
    draft.candidate(evidence, GATE, grower.process)
}

/// Where `done_by` has no name, the outermost function with one that it calls on the way to where the time goes.
fn named_within(evidence: &Evidence<'_>, grower: &Candidate, done_by: &Frame) -> Option<String> {
    if done_by.has_name() {
        return None;
    }
    let inner = evidence.locations(grower.example?).filter_map(|location| evidence.function_at(location));
    let inner: Vec<u32> = inner.take_while(|function| *function != grower.function).collect();
    let frames = inner.into_iter().rev().map(|function| evidence.frame(function));
    frames.into_iter().find(|frame| frame.has_name() && !runtime::is_name(frame)).map(|frame| frame.function)
}

/// A function's name without the arguments of its templates, which may fill pages.
pub(super) fn short(name: &str) -> String {
    let name = &without_trait(name);
    let mut depth = 0;
    let kept = name.chars().filter(|c| {
        depth += i32::from(*c == '<');
        let outside = depth <= 0;
        depth -= i32::from(*c == '>');
        outside
    });
    let kept: String = kept.collect();
    let name = if kept.is_empty() { name.clone() } else { kept.replace("::::", "::") };
    if name.starts_with("_Z") {
        return "the C++ library".to_owned(); // a name that could not be read
    }
    if name.contains("operator") || name.starts_with(' ') {
        name
    } else {
        name.split('(').next().unwrap_or(&name).to_owned()
    }
}

/// `<alloc::string::String as core::fmt::Write>::write_str` as `alloc::string::String::write_str`.
fn without_trait(name: &str) -> String {
    let mut depth = 0;
    let end = name.char_indices().find_map(|(at, c)| {
        depth += i32::from(c == '<') - i32::from(c == '>');
        (depth == 0).then_some(at)
    });
    match (name.strip_prefix('<'), end) {
        (Some(inner), Some(end)) if end > 0 => {
            let implementor = inner[..end - 1].split(" as ").next().unwrap_or_default();
            format!("{implementor}{}", &name[end + 1..])
        }
        _ => name.to_owned(),
    }
}

/// "call k makes 2.0·k + 68 calls to G"
fn callee_sentence(name: &str, callee: &Callee, squared: bool) -> String {
    let fit = &callee.fit;
    let steady = callee.steps > 0 && callee.same_step * 4 >= callee.steps * 3;
    // Where the step from call to call is nearly always the same it gives the slope better than a line that a few
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
        format!("fits {} of {} steps", callee.same_step, callee.steps)
    };
    let square = if squared { ", so the total cost grows as n²" } else { "" };
    format!("the k-th call makes {sign}{}·k{plus} calls to {name} ({evidence}){square}", rounded(slope.abs()))
}

#[cfg(test)]
mod tests {
    use super::short;

    #[test]
    fn names_are_told_without_their_templates_and_traits() {
        for (name, told) in [
            ("<alloc::string::String as core::fmt::Write>::write_str", "alloc::string::String::write_str"),
            ("<&T as core::fmt::Display>::fmt", "&T::fmt"),
            ("std::vector<Job, std::allocator<Job> >::erase(int)", "std::vector::erase"),
            (
                "std::vector<std::pair<int, long>, A>::operator[](unsigned long)",
                "std::vector::operator[](unsigned long)",
            ),
            ("_ZNSt6vectorI", "the C++ library"),
            ("memcpy", "memcpy"),
            ("<unfinished", "<unfinished"),
            ("", ""),
        ] {
            assert_eq!(short(name), told, "{name}");
        }
    }
}
