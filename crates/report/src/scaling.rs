//! How a command's time, or its instructions, rise with the size of its input, as text for a terminal and as JSON.

use crate::Shown;
use crate::ink::{COST, Ink, PLAIN, STRONG};
use crate::json::indented;
use crate::table::{Column, draw};
use crate::{Style, phrases, units};
use slowpath_compare::exact::{Counts, Role};
use slowpath_compare::scale::{Law, Scaling, Unit};

/// Columns of the longest bar.
const BAR: usize = 40;
/// Functions that are shown.
const FUNCTIONS: usize = 5;
/// Functions whose counts are shown, besides causes and symptoms.
const COUNTED: usize = 12;

/// The sizes with their times, the laws, and the functions that rise, for a terminal of `style`. Ends with a line end.
pub fn scaling(scaling: &Scaling, style: &Style) -> Shown {
    Shown::made(&scaling_text(scaling, style))
}

fn scaling_text(scaling: &Scaling, style: &Style) -> String {
    let mut ink = Ink::new(style);
    let command = ink.sentence(&scaling.command);
    ink.prose(0, &command, STRONG);
    let most = scaling.points.iter().map(|point| point.cost()).fold(1.0, f64::max);
    let bar = if style.unicode { "█" } else { "#" };
    let cells = |of: &dyn Fn(usize) -> String| (0..scaling.points.len()).map(of).collect::<Vec<String>>();
    let column = |head, to_the_right, paint, cells| Column { head, cells, to_the_right, paint };
    let points = &scaling.points;
    let time = |ns: Option<f64>| ns.map_or(String::new(), |ns| units::rough(ns as u64));
    let mut table = vec![column("size", true, PLAIN, cells(&|at| units::number(points[at].size)))];
    table.extend(match scaling.unit {
        Unit::Ns => vec![
            column("wall", true, PLAIN, cells(&|at| time(points[at].wall_ns))),
            column("CPU", true, PLAIN, cells(&|at| time(points[at].cpu_ns))),
        ],
        Unit::Instructions => {
            vec![column("instructions", true, PLAIN, cells(&|at| units::count(points[at].cost() as u64)))]
        }
    });
    let bars = |at: usize| bar.repeat((points[at].cost() / most * BAR as f64).round() as usize);
    table.push(column("", false, COST, cells(&bars)));
    let bars = table.len() - 1;
    draw(&mut ink, table, bars);
    ink.line("");
    let whole = match &scaling.law {
        Some(law) => {
            let what = match scaling.unit {
                Unit::Ns => "CPU time grows",
                Unit::Instructions => "instructions grow",
            };
            format!("{what} as {}{}", power(law), parts(scaling))
        }
        None => "one size does not show how the cost grows: give several".to_owned(),
    };
    let whole = ink.sentence(&whole);
    ink.prose(0, &whole, STRONG);
    let of = match scaling.unit {
        Unit::Ns => "CPU time",
        Unit::Instructions => "instructions",
    };
    if let Some((size, cost)) = scaling.extrapolated {
        let cost = match scaling.unit {
            Unit::Ns => format!("{} of CPU time", units::rough(cost as u64)),
            Unit::Instructions => format!("{} instructions", units::large(cost as u64)),
        };
        let text = format!("extrapolated to {}: about {cost}", units::number(size));
        ink.prose(0, &text, PLAIN);
    }
    if scaling.rising.is_empty() && scaling.law.is_some() {
        ink.prose(
            0,
            &format!("no function with at least 10 % of the {of} clearly grows faster than the size"),
            PLAIN,
        );
    }
    if !scaling.rising.is_empty() {
        ink.prose(
            0,
            &format!("functions that grow faster than the size (inclusive {of} at each size):"),
            PLAIN,
        );
    }
    for rising in scaling.rising.iter().take(FUNCTIONS) {
        let place = phrases::place(rising.file.as_deref().map(phrases::base_name), rising.line);
        let place = place.map_or(String::new(), |place| format!(" ({place})"));
        let told = |cost: &f64| match scaling.unit {
            Unit::Ns => units::rough(*cost as u64),
            Unit::Instructions => units::large(*cost as u64),
        };
        let times: Vec<String> = rising.costs().iter().map(told).collect();
        let text = format!("{}{place}: {}: {}", rising.function, power(&rising.law), times.join(", "));
        let text = ink.sentence(&text);
        ink.item(2, &text);
    }
    if let Some(overhead) = &scaling.overhead {
        ink.line("");
        let text = format!(
            "cost of a call: {} fixed plus {} per byte. At {} bytes, {} of the cost is fixed. Half of the top speed \
             is reached at {} bytes",
            fine(overhead.fixed_ns),
            fine(overhead.byte_ns),
            units::number(overhead.at),
            units::share(overhead.share),
            units::number(overhead.half_size.round())
        );
        ink.prose(0, &text, STRONG);
        if let Some(reached) = &overhead.reached {
            let fractions = reached.fractions.iter().zip(points);
            let told: Vec<String> = fractions
                .map(|(fraction, point)| {
                    format!("{} at {}", units::share(*fraction), units::number(point.size))
                })
                .collect();
            let text = format!("compared to this machine's limit ({}): {}", reached.what, told.join(", "));
            let text = ink.sentence(&text);
            ink.item(2, &text);
        }
    }
    for finding in &scaling.findings {
        ink.line("");
        let frame = &finding.place.frame;
        let place = phrases::place(frame.file.as_deref().map(phrases::base_name), frame.line);
        let place = place.map_or(String::new(), |place| format!(" ({place})"));
        let share = match scaling.unit {
            Unit::Ns => String::new(),
            Unit::Instructions => {
                format!(", {} of the instructions at the largest size", units::share(finding.share))
            }
        };
        let title = phrases::title(finding);
        let head = ink.sentence(&format!("{title}: {}{place}{share}", frame.function));
        ink.prose(0, &head, STRONG);
        if let Some(called) = phrases::called(finding) {
            let called = ink.sentence(&format!("{called} at the largest size"));
            ink.item(2, &called);
        }
        for sentence in &finding.explanation {
            let sentence = ink.sentence(sentence);
            ink.item(2, &sentence);
        }
        let advice = ink.sentence(&format!("fix: {}", finding.advice));
        ink.item(2, &advice);
    }
    if !scaling.functions.is_empty() {
        ink.line("");
        ink.prose(
            0,
            "instructions and calls by function at the largest size, and how they grow with the size n:",
            PLAIN,
        );
        let table = functions(&ink, scaling);
        let name = table.len() - 2;
        draw(&mut ink, table, name);
    }
    ink.out
}

/// What was counted of each function.
fn functions(ink: &Ink<'_>, scaling: &Scaling) -> Vec<Column> {
    let shown: Vec<&Counts> = scaling
        .functions
        .iter()
        .enumerate()
        .filter(|(at, counts)| *at < COUNTED || counts.role.is_some())
        .map(|(_, counts)| counts)
        .collect();
    let column = |head, to_the_right, cell: &dyn Fn(&Counts) -> String| {
        let cells = shown.iter().map(|counts| ink.clean(&cell(counts))).collect();
        Column { head, cells, to_the_right, paint: PLAIN }
    };
    let last = |values: &[f64]| values.last().copied().unwrap_or(0.0) as u64;
    let rises = |law: &Option<Law>| law.map_or("?".to_owned(), |law| format!("n^{:.2}", law.exponent));
    vec![
        column("instructions", true, &|counts| units::large(last(&counts.instructions))),
        column("growth", true, &|counts| rises(&counts.law)),
        column("calls", true, &|counts| units::large(last(&counts.calls))),
        column("growth", true, &|counts| rises(&counts.calls_law)),
        column("per call", true, &|counts| rises(&counts.call_law)),
        column("function", false, &|counts| counts.function.clone()),
        column("", false, &|counts| match counts.role {
            Some(Role::Guilty) => "cause".to_owned(),
            Some(Role::Victim) => "symptom".to_owned(),
            None => String::new(),
        }),
    ]
}

/// The same as JSON. Ends with a line end.
pub fn scaling_json(scaling: &Scaling) -> Shown {
    Shown::made(&scaling_json_text(scaling))
}

fn scaling_json_text(scaling: &Scaling) -> String {
    indented(scaling)
}

/// n^1.98 (95 % interval 1.90–2.06)
fn power(law: &Law) -> String {
    if law.high.is_finite() {
        format!("n^{:.2} (95 % interval {:.2}–{:.2})", law.exponent, law.low, law.high)
    } else {
        format!("n^{:.2} (two sizes give no interval)", law.exponent)
    }
}

/// The parts that are there: ", or 2 ms + 30 µs·n + 12 ns·n²"
fn parts(scaling: &Scaling) -> String {
    let Some(parts) = scaling.parts else { return String::new() };
    let largest = scaling.points.iter().map(|point| point.size).fold(0.0, f64::max);
    let whole = parts[0] + parts[1] * largest + parts[2] * largest * largest;
    let told: Vec<String> = parts
        .iter()
        .zip(["", "·n", "·n²"])
        .enumerate()
        .filter(|(power, (part, _))| **part * largest.powi(*power as i32) >= 0.005 * whole)
        .map(|(_, (part, power))| match scaling.unit {
            Unit::Ns => format!("{}{power}", fine(*part)),
            Unit::Instructions => format!("{}{power}", units::number(*part)),
        })
        .collect();
    if told.is_empty() { String::new() } else { format!(", or {}", told.join(" + ")) }
}

/// ns with three digits, down to parts of one.
fn fine(ns: f64) -> String {
    if ns >= 1_000.0 { units::rough(ns as u64) } else { format!("{ns:.3} ns") }
}
