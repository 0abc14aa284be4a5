//! A comparison as text: for a terminal and a commit message, as Markdown for a pull request, as JSON.

use crate::Shown;
use crate::ink::{FAINT, GAIN, Ink, LABEL, PLAIN, STRONG, WARNING};
use crate::json::indented;
use crate::layout::glued;
use crate::names::{IN_A_SENTENCE, fitted};
use crate::{Style, escape, units};
use slowpath_compare::Outcome;
use slowpath_compare::values::{Change, Comparison, Counted, Estimate, Known, Verdict, Why};

/// Functions whose calls are shown.
const MOST_COUNTED: usize = 5;

/// The verdict, the medians and why, for a terminal of `style`. Ends with a line end.
pub fn comparison(comparison: &Comparison, style: &Style) -> Shown {
    Shown::made(&comparison_text(comparison, style))
}

fn comparison_text(comparison: &Comparison, style: &Style) -> String {
    let mut ink = Ink::new(style);
    if let Some(failure) = &comparison.failure {
        let failure = ink.sentence(&format!("no verdict: {failure}"));
        ink.prose(0, &failure, WARNING);
    } else {
        let verdict = ink.sentence(&verdict(comparison));
        ink.prose(0, &verdict, STRONG);
    }
    if !comparison.pairs.is_empty() {
        ink.prose(2, &medians(comparison), PLAIN);
    }
    if let Some(other) = other_metric(comparison) {
        ink.prose(2, &other, FAINT);
    }
    if let Some(outcome) = outcome(comparison.outcome) {
        let paint = if comparison.outcome == Outcome::Met { GAIN } else { WARNING };
        ink.prose(2, outcome, paint);
    }
    if let Some(why) = &comparison.why {
        why_lines(&mut ink, why, least(comparison));
    }
    for note in &comparison.notes {
        let note = ink.sentence(note);
        ink.labelled(0, "note:", &note, (LABEL, PLAIN));
    }
    ink.out
}

/// Why two recordings differ, for a terminal of `style`. Ends with a line end.
pub fn difference(why: &Why, names: [&str; 2], style: &Style) -> Shown {
    Shown::made(&difference_text(why, names, style))
}

fn difference_text(why: &Why, names: [&str; 2], style: &Style) -> String {
    let mut ink = Ink::new(style);
    let names = names.map(|name| ink.clean(name));
    let cpu = why.cpu_ns.map(units::time);
    ink.prose(
        0,
        &format!("{} and {}, as recorded: {} and {} of CPU time", names[0], names[1], cpu[0], cpu[1]),
        STRONG,
    );
    ink.prose(
        0,
        "Recording slows a program down. This shows what changed, not how much faster it is.",
        FAINT,
    );
    why_lines(&mut ink, why, 0);
    ink.out
}

/// The same as Markdown.
pub fn comparison_markdown(comparison: &Comparison) -> Shown {
    Shown::made(&comparison_markdown_text(comparison))
}

fn comparison_markdown_text(comparison: &Comparison) -> String {
    let text = |text: &str| escape::prose(text);
    let mut out = match &comparison.failure {
        Some(failure) => format!("**No verdict:** {}\n", text(failure)),
        None => format!("**{}**\n", text(&verdict(comparison))),
    };
    if !comparison.pairs.is_empty() {
        let [a, b] = &comparison.sides;
        out += &format!("\n| | {} | {} |\n|---|---|---|\n", text(&a.name), text(&b.name));
        for (name, [one, other]) in rows(comparison) {
            out += &format!("| {name} | {one} | {other} |\n");
        }
        for (name, estimate) in [("elapsed", &comparison.wall), ("CPU", &comparison.cpu)] {
            if let Some(estimate) = estimate {
                out += &format!(
                    "| {name} ratio, first / second | {} | 95 % interval {} |\n",
                    ratio(estimate.ratio),
                    interval(estimate.low, estimate.high)
                );
            }
        }
    }
    if let Some(outcome) = outcome(comparison.outcome) {
        out += &format!("\n{outcome}\n");
    }
    if let Some(why) = &comparison.why {
        out += "\nWhy:\n\n";
        for line in lines(why, least(comparison)) {
            out += &format!("- {}\n", text(&line));
        }
    }
    for note in &comparison.notes {
        out += &format!("\n_{}_\n", text(note));
    }
    for side in &comparison.sides {
        out += &format!("\n{}: `{}`  ", text(&side.name), side.command.replace(['`', '\n'], " "));
    }
    out + "\n"
}

/// The same as JSON, described in `docs/comparison-json.md`. Ends with a line end.
pub fn comparison_json(comparison: &Comparison) -> Shown {
    Shown::made(&comparison_json_text(comparison))
}

fn comparison_json_text(comparison: &Comparison) -> String {
    indented(comparison)
}

/// The verdict in one line.
fn verdict(comparison: &Comparison) -> String {
    let [a, b] = &comparison.sides;
    let (a, b) = (&a.name, &b.name);
    let estimate = if comparison.metric == "cpu" { &comparison.cpu } else { &comparison.wall };
    let less = if comparison.metric == "cpu" { " in CPU time" } else { "" };
    let Some(one) = estimate else { return format!("cannot tell {a} and {b} apart: too few pairs were run") };
    let pairs = units::counted(one.pairs as u64, "pair");
    match comparison.verdict {
        Verdict::Faster => {
            let interval = interval(one.low, one.high);
            format!("{b} is {} faster than {a}{less} (95 % interval {interval}, {pairs})", ratio(one.ratio))
        }
        Verdict::Slower => {
            let interval = interval(1.0 / one.high, 1.0 / one.low);
            format!(
                "{b} is {} slower than {a}{less} (95 % interval {interval}, {pairs})",
                ratio(1.0 / one.ratio)
            )
        }
        Verdict::Same => format!(
            "no difference larger than {} between {a} and {b}{less} (95 % interval of the ratio {}, {pairs})",
            units::share(comparison.indifferent),
            interval(one.low, one.high)
        ),
        Verdict::Unknown => format!(
            "cannot tell {a} and {b} apart{less}: the ratio is {} with a 95 % interval of {} ({pairs}). More pairs (--max-pairs, \
             --time-limit), a larger input or a quieter machine would help",
            ratio(one.ratio),
            interval(one.low, one.high)
        ),
    }
}

fn outcome(outcome: Outcome) -> Option<&'static str> {
    match outcome {
        Outcome::None => None,
        Outcome::Met => Some("as expected"),
        Outcome::Missed => Some("NOT as expected"),
        Outcome::Unknown => Some("cannot decide whether it is as expected"),
    }
}

/// The other of elapsed and CPU time.
fn other_metric(comparison: &Comparison) -> Option<String> {
    let (name, estimate) = if comparison.metric == "cpu" {
        ("elapsed time", &comparison.wall)
    } else {
        ("CPU time", &comparison.cpu)
    };
    let estimate: &Estimate = estimate.as_ref()?;
    Some(format!(
        "{name} ratio, first / second: {} (95 % interval {})",
        ratio(estimate.ratio),
        interval(estimate.low, estimate.high)
    ))
}

fn rows(comparison: &Comparison) -> Vec<(&'static str, [String; 2])> {
    let [a, b] = &comparison.sides;
    let both = |value: fn(&slowpath_compare::values::Run) -> String| [value(&a.median), value(&b.median)];
    vec![
        ("wall", both(|run| units::time(run.wall_ns))),
        ("user", both(|run| units::time(run.user_ns))),
        ("sys", both(|run| units::time(run.sys_ns))),
        (
            "peak memory",
            both(|run| match run.peak_memory_bytes {
                0 => "small".to_owned(),
                bytes => units::bytes(bytes as f64),
            }),
        ),
    ]
}

fn medians(comparison: &Comparison) -> String {
    let parts = rows(comparison).into_iter().map(|(name, [one, other])| format!("{name} {one} → {other}"));
    parts.map(|part| glued(&part)).collect::<Vec<_>>().join(", ")
}

fn why_lines(ink: &mut Ink<'_>, why: &Why, least_ns: u64) {
    for (at, line) in lines(why, least_ns).iter().enumerate() {
        let line = ink.sentence(line);
        ink.labelled(0, if at == 0 { "why:" } else { "    " }, &line, (LABEL, PLAIN));
    }
}

fn short(name: &str) -> String {
    fitted(name, IN_A_SENTENCE, "…")
}

/// get_raw_dn 51,302 → 452
fn counted(one: &Counted) -> String {
    let [before, after] = one.calls.map(|calls| {
        let more = if calls.more { "more than " } else { "" };
        format!("{more}{}", units::count(calls.count))
    });
    format!("{} {before} → {after}", short(&one.function))
}

/// The change of a function's CPU time from which it says something of the difference: a hundredth of that in elapsed time, ns. Of two
/// programs that wait, the functions differ by chance.
fn least(comparison: &Comparison) -> u64 {
    let [before, after] = [0, 1].map(|side| comparison.sides[side].median.wall_ns);
    before.abs_diff(after) / 100
}

/// What changed, a line each; of functions those whose CPU time changed by `least_ns` or more.
fn lines(why: &Why, least_ns: u64) -> Vec<String> {
    let mut lines = Vec::new();
    let known = |word: &str, side: usize, known: &Known| {
        let function = short(&known.function);
        format!("{word}: {}, {function} ({})", known.title, units::rough(known.cost_ns[side]))
    };
    lines.extend(why.gone.iter().map(|one| known("gone", 0, one)));
    lines.extend(why.new.iter().map(|one| known("new", 1, one)));
    for one in &why.kept {
        let [before, after] = one.cost_ns.map(units::rough);
        lines.push(format!("still there: {}, {} ({before} → {after})", one.title, short(&one.function)));
    }
    if lines.is_empty() {
        lines.push("no known cause of slowness in either".to_owned());
    }
    let change = |change: &Change| {
        let [before, after] = change.ns.map(units::rough);
        let calls = match change.calls {
            [Some(a), Some(b)] => format!(", {} → {}", units::count(a), units::counted(b, "call")),
            _ => String::new(),
        };
        format!("{}: {before} → {after}{calls}", short(&change.name))
    };
    let functions: Vec<&Change> =
        why.functions.iter().filter(|change| change.ns[0].abs_diff(change.ns[1]) >= least_ns).collect();
    if !functions.is_empty() {
        let told: Vec<String> = functions.iter().map(|one| change(one)).collect();
        // Known of all of them together.
        let explained = match why.explained {
            share if share >= 0.01 && functions.len() == why.functions.len() => {
                format!(" ({} of the difference)", units::share(share))
            }
            _ => String::new(),
        };
        lines.push(format!("CPU time of functions: {}{explained}", told.join("; ")));
    }
    // Where a function's time is shown its calls are too.
    let told = |one: &&Counted| {
        functions.iter().any(|change| change.name == one.function && change.calls[0].is_some())
    };
    let calls: Vec<String> =
        why.calls.iter().filter(|one| !told(one)).take(MOST_COUNTED).map(counted).collect();
    if !calls.is_empty() {
        lines.push(format!("calls: {}", calls.join("; ")));
    }
    if !why.syscalls.is_empty() {
        let told: Vec<String> = why.syscalls.iter().map(change).collect();
        lines.push(format!("system calls: {}", told.join("; ")));
    }
    lines
}

/// 118×, 1.14×
fn ratio(ratio: f64) -> String {
    format!("{}×", digits(ratio))
}

/// 115–121
fn interval(low: f64, high: f64) -> String {
    format!("{}–{}", digits(low), digits(high))
}

fn digits(value: f64) -> String {
    match value {
        value if value >= 100.0 => format!("{value:.0}"),
        value if value >= 10.0 => format!("{value:.1}"),
        value => format!("{value:.2}"),
    }
}
