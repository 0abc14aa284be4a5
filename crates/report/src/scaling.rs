//! How a command's time rises with the size of its input, as text for a terminal and as JSON.

use crate::ink::{COST, Ink, PLAIN, STRONG};
use crate::table::{Column, draw};
use crate::{Style, phrases, units};
use slowpath_compare::scale::{Law, Scaling};

/// Columns of the longest bar.
const BAR: usize = 40;
/// Functions that are told.
const FUNCTIONS: usize = 5;

/// The sizes with their times, the laws, and the functions that rise, for a terminal of `style`. Ends with a line end.
pub fn scaling(scaling: &Scaling, style: &Style) -> String {
    let mut ink = Ink::new(style);
    let command = ink.sentence(&scaling.command);
    ink.prose(0, &command, STRONG);
    let most = scaling.points.iter().map(|point| point.cpu_ns).fold(1.0, f64::max);
    let bar = if style.unicode { "█" } else { "#" };
    let cells = |of: &dyn Fn(usize) -> String| (0..scaling.points.len()).map(of).collect::<Vec<String>>();
    let column = |head, to_the_right, paint, cells| Column { head, cells, to_the_right, paint };
    let points = &scaling.points;
    let table = vec![
        column("size", true, PLAIN, cells(&|at| units::number(points[at].size))),
        column("wall", true, PLAIN, cells(&|at| units::rough(points[at].wall_ns as u64))),
        column("CPU", true, PLAIN, cells(&|at| units::rough(points[at].cpu_ns as u64))),
        column(
            "",
            false,
            COST,
            cells(&|at| bar.repeat((points[at].cpu_ns / most * BAR as f64).round() as usize)),
        ),
    ];
    draw(&mut ink, table, 3);
    ink.line("");
    let whole = match &scaling.law {
        Some(law) => format!("CPU time rises as {}{}", power(law), parts(scaling)),
        None => "one size tells nothing of how the time rises: give several".to_owned(),
    };
    let whole = ink.sentence(&whole);
    ink.prose(0, &whole, STRONG);
    if let Some((size, ns)) = scaling.extrapolated {
        let text = format!(
            "at {}: about {} of CPU time, if it goes on like this",
            units::number(size),
            units::rough(ns as u64)
        );
        ink.prose(0, &text, PLAIN);
    }
    if scaling.rising.is_empty() && scaling.law.is_some() {
        ink.prose(0, "no function with a tenth of the time surely rises faster than the size", PLAIN);
    }
    if !scaling.rising.is_empty() {
        ink.prose(0, "faster than the size (CPU time at each size, with what they call):", PLAIN);
    }
    for rising in scaling.rising.iter().take(FUNCTIONS) {
        let place = phrases::place(rising.file.as_deref().map(phrases::base_name), rising.line);
        let place = place.map_or(String::new(), |place| format!(" ({place})"));
        let times: Vec<String> = rising.ns.iter().map(|ns| units::rough(*ns as u64)).collect();
        let text = format!("{}{place}: {}: {}", rising.function, power(&rising.law), times.join(", "));
        let text = ink.sentence(&text);
        ink.item(2, &text);
    }
    if let Some(overhead) = &scaling.overhead {
        ink.line("");
        let text = format!(
            "a call: {} and {} a byte: at {} bytes {} of it are fixed, half of the speed is reached at {} bytes",
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
            let text = format!("of this machine's limit, {}: {}", reached.what, told.join(", "));
            let text = ink.sentence(&text);
            ink.item(2, &text);
        }
    }
    for finding in &scaling.findings {
        ink.line("");
        let place = phrases::place(finding.file.as_deref().map(phrases::base_name), finding.line);
        let place = place.map_or(String::new(), |place| format!(" ({place})"));
        let head = ink.sentence(&format!("{}: {}{place}", finding.title, finding.function));
        ink.prose(0, &head, STRONG);
        for sentence in &finding.explanation {
            let sentence = ink.sentence(sentence);
            ink.item(2, &sentence);
        }
        let advice = ink.sentence(&format!("do: {}", finding.advice));
        ink.item(2, &advice);
    }
    ink.out
}

/// The same as JSON. Ends with a line end.
pub fn scaling_json(scaling: &Scaling) -> String {
    // Plain values always serialize.
    serde_json::to_string_pretty(scaling).unwrap_or_default() + "\n"
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
        .map(|(_, (part, unit))| format!("{}{unit}", fine(*part)))
        .collect();
    if told.is_empty() { String::new() } else { format!(", or {}", told.join(" + ")) }
}

/// ns with three digits, down to parts of one.
fn fine(ns: f64) -> String {
    if ns >= 1_000.0 { units::rough(ns as u64) } else { format!("{ns:.3} ns") }
}
