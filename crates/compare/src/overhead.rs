//! The cause `call-overhead`: what each call costs whatever its size, from runs that make as many calls at several sizes.
//!
//! time of a call = fixed + bytes · n. The size at which both are equal is where half of the speed is reached (Hockney's
//! n½). With a limit of the machine, the fraction of it that is reached at each size.

use crate::scale::{Functions, Point, Scaling, functions, program_of};
use serde::Serialize;
use slowpath_diagnose::causes::CALL_OVERHEAD;
use slowpath_diagnose::draft::Draft;
use slowpath_diagnose::findings::{Basis, Confidence, Cost, Fact, Finding, Frame, Place, Series, Sure};
use slowpath_recording::Recording;
use slowpath_stats::affine;

/// The fixed part of a call is reported if it has this share of the call's time at the size in use, and surely this.
const SHARE: f64 = 0.30;
const SURELY: f64 = 0.15;
/// A call that reaches half of a limit of the machine is near enough: whatever is done, it cannot become twice as quick. The quicker its
/// bytes are, the larger is the share of the least that a call must cost.
const REACHED: f64 = 0.50;
/// The fit explains so much, relative to each cost.
const R2: f64 = 0.90;
/// A function is guilty if it has this share of the fixed part.
const GUILTY: f64 = 0.60;

/// What is asked.
#[derive(Debug, Clone, PartialEq)]
pub struct Asked {
    /// Calls that each run makes.
    pub calls: f64,
    /// The size at which the program is used, bytes.
    pub at: f64,
    /// A limit of the machine: its name, what it is, and ns for a byte.
    pub limit: Option<(String, String, f64)>,
}

/// What each call costs.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Overhead {
    /// Calls of each run.
    pub calls: f64,
    /// The size at which the program is used, bytes.
    pub at: f64,
    /// Fixed cost of a call, ns.
    pub fixed_ns: f64,
    /// Its 95 % interval, ns.
    pub fixed_low_ns: f64,
    /// See `fixed_low_ns`.
    pub fixed_high_ns: f64,
    /// Further cost of each byte, ns.
    pub byte_ns: f64,
    /// Share of the fixed cost in a call at `at`.
    pub share: f64,
    /// Bytes at which half of the speed of large calls is reached.
    pub half_size: f64,
    /// Share of the variance that fixed + byte · n explains.
    pub r2: f64,
    /// The machine's limit, if one was named.
    pub reached: Option<Reached>,
}

/// How near a limit.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Reached {
    /// The limit's name.
    pub limit: String,
    /// What it is.
    pub what: String,
    /// Fraction of it at `at`, by the fit.
    pub at: f64,
    /// Fraction of it at each size, as measured.
    pub fractions: Vec<f64>,
}

/// Adds what each call costs to a scaling, and the finding if it is one. `recordings` holds one of each size, or nothing.
pub fn add(scaling: &mut Scaling, recordings: &[Recording], asked: &Asked) {
    let sizes: Vec<f64> = scaling.points.iter().map(|point| point.size).collect();
    let each: Vec<f64> = scaling.points.iter().map(|point| point.cost() / asked.calls).collect();
    let Some(fit) = affine(&sizes, &each).filter(|fit| fit.per_unit > 0.0) else { return };
    let call = fit.at(asked.at);
    let overhead = Overhead {
        calls: asked.calls,
        at: asked.at,
        fixed_ns: fit.fixed.max(0.0),
        fixed_low_ns: fit.fixed_low.max(0.0),
        fixed_high_ns: fit.fixed_high,
        byte_ns: fit.per_unit,
        share: (fit.fixed / call).clamp(0.0, 1.0),
        half_size: (fit.fixed / fit.per_unit).max(0.0),
        r2: fit.r2,
        reached: asked.limit.as_ref().map(|(limit, what, byte_ns)| Reached {
            limit: limit.clone(),
            what: what.clone(),
            at: byte_ns * asked.at / call,
            fractions: sizes.iter().zip(&each).map(|(size, ns)| byte_ns * size / ns).collect(),
        }),
    };
    let near = overhead.reached.as_ref().is_some_and(|reached| reached.at >= REACHED);
    let found =
        !near && overhead.share >= SHARE && overhead.fixed_low_ns >= SURELY * call && overhead.r2 >= R2;
    if found {
        scaling.findings.push(finding(scaling, &overhead, &each, recordings));
    }
    scaling.overhead = Some(overhead);
}

fn finding(scaling: &Scaling, overhead: &Overhead, each: &[f64], recordings: &[Recording]) -> Finding {
    let sizes: Vec<f64> = scaling.points.iter().map(|point| point.size).collect();
    let guilty =
        (recordings.len() == sizes.len()).then(|| guilty(recordings, &scaling.points, overhead)).flatten();
    let whole = || Frame {
        function_id: None,
        function: scaling.command.clone(),
        module: String::new(),
        file: None,
        line: None,
    };
    let place = Place { frame: guilty.unwrap_or_else(whole), path: Vec::new() };
    let call_ns = overhead.fixed_ns + overhead.byte_ns * overhead.at;
    let ns = |value: f64| format!("{value:.0} ns");
    let mut explanation = vec![
        format!(
            "{} of the {} that a call of {:.0} bytes takes is a fixed cost ({:.0} %; interval {} to {}), whatever \
             the size",
            ns(overhead.fixed_ns),
            ns(call_ns),
            overhead.at,
            100.0 * overhead.share,
            ns(overhead.fixed_low_ns),
            ns(overhead.fixed_high_ns)
        ),
        format!(
            "each byte adds {:.3} ns; half of the speed of large calls is reached at {:.0} bytes",
            overhead.byte_ns, overhead.half_size
        ),
    ];
    if let Some(reached) = &overhead.reached {
        let told: Vec<String> = sizes
            .iter()
            .zip(&reached.fractions)
            .map(|(size, fraction)| format!("{:.0} % at {size:.0}", 100.0 * fraction))
            .collect();
        explanation.push(format!(
            "compared to this machine's limit ({}): {:.0} % at {:.0} bytes (measured: {})",
            reached.what,
            100.0 * reached.at,
            overhead.at,
            told.join(", ")
        ));
    }
    let fact = |name: &str, value: f64, unit: &str, sure| Fact::new(name, value, unit, "fit", sure);
    let total = overhead.calls * call_ns;
    let cost = overhead.calls * overhead.fixed_ns;
    let draft = Draft {
        explanation,
        facts: vec![
            fact("calls", overhead.calls, "calls", Sure::Exact),
            fact("fixed cost of a call", overhead.fixed_ns, "ns", Sure::Fitted),
            fact("further cost of a byte", overhead.byte_ns, "ns", Sure::Fitted),
            fact("bytes at half of the speed", overhead.half_size, "bytes", Sure::Fitted),
            fact("R² of fixed + bytes", overhead.r2, "1", Sure::Fitted),
        ],
        series: vec![Series {
            name: "cost of a call by its size".to_owned(),
            x_label: "bytes of the call".to_owned(),
            y_label: "cost of the call".to_owned(),
            y_unit: "ns".to_owned(),
            fit: sizes.iter().map(|size| overhead.fixed_ns + overhead.byte_ns * size).collect(),
            x: sizes,
            y: each.to_vec(),
        }],
        advice:
            "Share the fixed work between calls: keep the setup, pass several items in one call, or use an \
                 implementation that overlaps the fixed work with the rest"
                .to_owned(),
        ..Draft::new(
            &CALL_OVERHEAD,
            "high fixed cost per call",
            Confidence::Likely,
            Cost::new(Basis::Cpu, cost, cost),
            place,
        )
    };
    draft.finding(total as u64, |module| program_of(&scaling.command) == module)
}

/// The innermost of the program's own functions with most of the fixed part.
fn guilty(recordings: &[Recording], points: &[Point], overhead: &Overhead) -> Option<Frame> {
    let Functions { times, mut places, .. } = functions(recordings, points);
    let sizes: Vec<f64> = points.iter().map(|point| point.size).collect();
    let with_most = times.into_iter().filter_map(|(name, ns)| {
        let each: Vec<f64> = ns.iter().map(|ns| ns / overhead.calls).collect();
        let fixed = affine(&sizes, &each)?.fixed;
        (fixed >= GUILTY * overhead.fixed_ns).then(|| (each.iter().sum::<f64>(), name))
    });
    // Callers have all the time of what they call, and their own.
    let (_, name) = with_most.min_by(|a, b| a.0.total_cmp(&b.0))?;
    places.remove(&name).map(|(frame, _)| frame)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scale::{Point, scaling};

    fn judged(fixed_ns: f64, byte_ns: f64) -> Scaling {
        const CALLS: f64 = 1e6;
        let points = [64.0, 256.0, 1440.0, 16384.0]
            .map(|size| {
                let cpu_ns = CALLS * (fixed_ns + byte_ns * size);
                Point { size, wall_ns: Some(cpu_ns), cpu_ns: Some(cpu_ns), instructions: None }
            })
            .to_vec();
        let mut scaling = scaling("program {n}", points, &[], None);
        let limit = Some(("aes".to_owned(), "AES".to_owned(), 0.1));
        add(&mut scaling, &[], &Asked { calls: CALLS, at: 1440.0, limit });
        scaling
    }

    #[test]
    fn a_third_of_a_call_is_told_and_a_quarter_is_not() {
        // 1440 bytes at 0.5 ns are 720 ns.
        let told = judged(360.0, 0.5);
        assert_eq!(told.findings.len(), 1);
        let finding = &told.findings[0];
        assert_eq!(finding.cause, "call-overhead");
        assert!(finding.explanation[0].starts_with("360 ns of the 1080 ns"), "{:?}", finding.explanation);
        assert!(finding.explanation[1].contains("at 720 bytes"), "{:?}", finding.explanation);
        assert!(finding.explanation[2].contains("13 % at 1440 bytes"), "{:?}", finding.explanation);
        assert_eq!(finding.cost.gain(), 360_000_000);
        assert!(judged(240.0, 0.5).findings.is_empty());
        assert!(judged(240.0, 0.5).overhead.is_some_and(|overhead| (overhead.share - 0.25).abs() < 1e-6));
    }

    #[test]
    fn a_call_near_the_limit_is_not_told_whatever_its_share() {
        // The limit takes 144 ns: of 150 + 130 ns that is more than half, of 150 + 150 ns it is less.
        let judge = |fixed_ns: f64| judged(fixed_ns, 150.0 / 1440.0);
        let share = judge(130.0).overhead.map(|overhead| overhead.share);
        assert!(share.is_some_and(|share| share > SHARE), "{share:?}");
        assert!(judge(130.0).findings.is_empty());
        assert_eq!(judge(150.0).findings.len(), 1);
    }

    #[test]
    fn what_does_not_rise_with_the_bytes_says_nothing() {
        assert!(judged(500.0, 0.0).overhead.is_none());
        assert!(judged(500.0, 0.0).findings.is_empty());
    }

    #[test]
    fn what_does_not_lie_on_a_line_is_not_told() {
        let points = [64.0, 256.0, 1440.0, 16384.0].iter().zip([1e9, 3e9, 1e9, 4e9]);
        let points = points
            .map(|(size, cpu_ns)| Point {
                size: *size,
                wall_ns: Some(cpu_ns),
                cpu_ns: Some(cpu_ns),
                instructions: None,
            })
            .collect();
        let mut scaling = scaling("program {n}", points, &[], None);
        add(&mut scaling, &[], &Asked { calls: 1e6, at: 1440.0, limit: None });
        assert!(scaling.findings.is_empty(), "{:?}", scaling.findings);
    }
}
