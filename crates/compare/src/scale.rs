//! One command at several sizes of its input: how its time rises, and which function's does most.
//!
//! The same answer with instructions instead of times is made by [`crate::exact`].

use crate::Error;
use crate::enclosure::Enclosure;
use crate::exact::Counts;
use crate::overhead::Overhead;
use crate::run::{Ended, Runner, Shell, Stop};
use serde::Serialize;
use slowpath_diagnose::Evidence;
use slowpath_diagnose::findings::{Finding, Frame};
use slowpath_recording::Recording;
use slowpath_stats::{PowerLaw, median, power_law, quadratic};
use std::collections::{BTreeMap, HashSet};
use std::time::Duration;

/// A function is reported if it has this share of the CPU time at the largest size, and this exponent at least, surely.
pub(crate) const SHARE: f64 = 0.10;
const RISES: f64 = 1.0;
/// A function with this share of another's time stands for it; one whose exponent is so much below the steepest only calls it.
const INSIDE: f64 = 0.8;
const THINNED: f64 = 0.3;
/// Two runs that took the same, up to this factor. Six runs of a chain of multiplications took 0.58 to 0.63 s of CPU time on a shared
/// machine at rest, which is a factor of 1.09.
const AGREE: f64 = 1.1;
/// Rounds at most, as a multiple of those asked for, where times do not agree.
const PATIENCE: u32 = 3;
/// It has samples at this many sizes at least.
const SIZES: usize = 3;

/// One size, measured.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Point {
    /// The size.
    pub size: f64,
    /// Median elapsed time of the bare runs, ns; none where instructions were counted.
    pub wall_ns: Option<f64>,
    /// Least CPU time of the bare runs, ns: noise only adds to it; none where instructions were counted.
    pub cpu_ns: Option<f64>,
    /// Instructions of the one run under callgrind; none where time was taken.
    pub instructions: Option<f64>,
}

impl Point {
    /// The cost that laws are fitted to: instructions, or CPU time in ns.
    pub fn cost(&self) -> f64 {
        self.instructions.or(self.cpu_ns).unwrap_or(0.0)
    }
}

/// What costs are in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Unit {
    /// Nanoseconds of CPU time.
    Ns,
    /// Instructions, counted under callgrind. What they take is not known.
    Instructions,
}

/// How a cost rises.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Law {
    /// cost = scale · n^exponent.
    pub exponent: f64,
    /// 95 % interval of the exponent.
    pub low: f64,
    /// See `low`.
    pub high: f64,
    /// Cost at size 1, in the scaling's unit.
    pub scale: f64,
    /// Share of the variance of the logarithms that it explains.
    pub r2: f64,
}

impl From<PowerLaw> for Law {
    fn from(law: PowerLaw) -> Law {
        Law { exponent: law.exponent, low: law.low, high: law.high, scale: law.scale, r2: law.r2 }
    }
}

/// A function whose time rises.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Rising {
    /// Its name.
    pub function: String,
    /// Its source file, where known.
    pub file: Option<String>,
    /// Its line, where known.
    pub line: Option<u32>,
    /// CPU time in it and what it calls at each size, ns; none where instructions were counted.
    pub ns: Option<Vec<f64>>,
    /// Instructions likewise; none where time was taken.
    pub instructions: Option<Vec<f64>>,
    /// How it rises.
    pub law: Law,
}

impl Rising {
    /// The cost at each size, in the scaling's unit.
    pub fn costs(&self) -> &[f64] {
        self.instructions.as_deref().or(self.ns.as_deref()).unwrap_or_default()
    }
}

/// The whole answer.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Scaling {
    /// Always `scaling`.
    pub kind: &'static str,
    /// Version of these fields.
    pub schema: u32,
    /// The command, with its place for the size.
    pub command: String,
    /// What costs are in.
    pub unit: Unit,
    /// Each size, in order.
    pub points: Vec<Point>,
    /// How the cost rises; none for a single size.
    pub law: Option<Law>,
    /// a, b and c of a + b·n + c·n² for the cost; none for fewer than three sizes.
    pub parts: Option<[f64; 3]>,
    /// Functions whose cost rises faster than the size, the innermost first.
    pub rising: Vec<Rising>,
    /// The functions with the most instructions and those that have a role in a finding; empty where time was taken.
    pub functions: Vec<Counts>,
    /// The cost at `at`, by the parts or else the law.
    pub extrapolated: Option<(f64, f64)>,
    /// The fixed cost of a call; none if it was not asked for, or could not be determined.
    pub overhead: Option<Overhead>,
    /// Causes that the sizes show: `call-overhead`, and, where instructions were counted, `superlinear-work`.
    pub findings: Vec<Finding>,
}

/// Runs the command of each size bare, in rounds of all sizes, and returns their points in the order given. Rounds, for what else
/// the machine does lasts seconds: it then touches one run of each size, and not all runs of one. `rounds` of them; where two or
/// more were asked for, the sizes whose two least CPU times differ by more than [`AGREE`] are run again, up to [`PATIENCE`] times
/// as often. `before` is called with each command before it runs. An error if one fails or takes longer than the limit.
pub fn measure(
    commands: &[(f64, String)],
    shell: &Shell,
    rounds: u32,
    limit: Duration,
    enclosure: &Enclosure,
    stop: &Stop,
    mut before: impl FnMut(&str),
) -> Result<Vec<Point>, Error> {
    let mut times = vec![Times::default(); commands.len()];
    let rounds = rounds.max(1);
    for round in 0..rounds.saturating_mul(PATIENCE) {
        for ((_, command), times) in commands.iter().zip(&mut times) {
            if round >= rounds && times.settled() {
                continue;
            }
            before(command);
            let failed = |why: String| Error::Command { command: command.clone(), why };
            match Runner::new(command, shell, enclosure, stop)?.run(limit, true)? {
                Ended::Done(run) if run.exit == 0 => {
                    times.walls.push(run.wall_ns as f64);
                    times.cpus.push(run.cpu_ns() as f64);
                }
                Ended::Done(run) => return Err(failed(format!("it exited with {}", run.exit))),
                Ended::Stopped => return Err(Error::Interrupted),
                Ended::TooLong => return Err(failed(format!("it took longer than {} s", limit.as_secs()))),
            }
        }
    }
    let point = |((size, _), times): (&(f64, String), &Times)| Point {
        size: *size,
        wall_ns: Some(median(&times.walls).unwrap_or(0.0)),
        cpu_ns: times.least().first().copied(),
        instructions: None,
    };
    Ok(commands.iter().zip(&times).map(point).collect())
}

/// The bare runs of one size so far, ns.
#[derive(Debug, Clone, Default)]
struct Times {
    walls: Vec<f64>,
    cpus: Vec<f64>,
}

impl Times {
    /// CPU times from the least up.
    fn least(&self) -> Vec<f64> {
        let mut cpus = self.cpus.clone();
        cpus.sort_by(f64::total_cmp);
        cpus
    }

    /// Whether its least time was met twice. Noise only adds to a time, so then it is what the command needs. One run that was
    /// asked for is all there is to know.
    fn settled(&self) -> bool {
        match self.least()[..] {
            [least, next, ..] => next <= least * AGREE,
            _ => true,
        }
    }
}

/// Fits what was measured; `recordings` holds one of each size, in the order of the points, symbols resolved.
pub fn scaling(command: &str, points: Vec<Point>, recordings: &[Recording], at: Option<f64>) -> Scaling {
    let mut scaling = fitted(command, points, at);
    if recordings.len() == scaling.points.len() {
        scaling.rising = rising(recordings, &scaling.points);
    }
    scaling
}

/// The laws of the whole.
pub(crate) fn fitted(command: &str, points: Vec<Point>, at: Option<f64>) -> Scaling {
    let sizes: Vec<f64> = points.iter().map(|point| point.size).collect();
    let costs: Vec<f64> = points.iter().map(|point| point.cost().max(1.0)).collect();
    let law = power_law(&sizes, &costs);
    let parts = quadratic(&sizes, &costs);
    let extrapolated = at.and_then(|size| {
        let by_parts = parts.map(|[a, b, c]| a + b * size + c * size * size);
        Some((size, by_parts.or(law.map(|law| law.at(size)))?))
    });
    let counted = points.iter().any(|point| point.instructions.is_some());
    Scaling {
        kind: "scaling",
        schema: 1,
        command: command.to_owned(),
        unit: if counted { Unit::Instructions } else { Unit::Ns },
        law: law.map(Law::from),
        parts,
        rising: Vec::new(),
        functions: Vec::new(),
        points,
        extrapolated,
        overhead: None,
        findings: Vec::new(),
    }
}

/// The file name of the program that a command runs: its first word.
pub(crate) fn program_of(command: &str) -> &str {
    let word = command.split_whitespace().next().unwrap_or_default();
    word.rsplit('/').next().unwrap_or_default()
}

/// Name and module of a function.
pub(crate) type Name = (String, String);

/// The program's own functions over recordings of several sizes.
pub(crate) struct Functions {
    /// CPU time in each and what it calls, a run, at each size, ns.
    pub times: BTreeMap<Name, Vec<f64>>,
    /// Each as it is in the recording of the largest size that has it, and the least number of frames further in.
    pub places: BTreeMap<Name, (Frame, usize)>,
    /// CPU time of a run at the largest size, ns.
    pub total: f64,
}

/// What each function took at each size: its share of the one recording of that size, of what the bare run took. A recorded run
/// takes longer, by how much depends on what it does, and chance that holds one up does not change the shares.
pub(crate) fn functions(recordings: &[Recording], points: &[Point]) -> Functions {
    let mut times: BTreeMap<Name, Vec<f64>> = BTreeMap::new();
    let mut places: BTreeMap<Name, (Frame, usize)> = BTreeMap::new();
    let mut total = 0.0;
    for (at, recording) in recordings.iter().enumerate() {
        let evidence = Evidence::new(recording);
        // Short runs are recorded several times in one.
        let runs = f64::from(recording.about.runs.max(1));
        let recorded = (evidence.cpu_ns / runs).max(1.0);
        let bare = points.get(at).and_then(|point| point.cpu_ns).unwrap_or(recorded);
        let scale = bare / recorded / runs;
        total = bare;
        for (sample, weight) in recording.tables.samples.iter().zip(&evidence.weights) {
            let Some(stack) = sample.stack else { continue };
            let mut seen = HashSet::new();
            for (depth, location) in evidence.locations(stack).enumerate() {
                let Some(function) = evidence.function_at(location).filter(|function| seen.insert(*function))
                else {
                    continue;
                };
                let frame = evidence.frame(function);
                if slowpath_diagnose::causes::is_runtime(&frame) {
                    continue; // it does what it is asked to
                }
                let name = (frame.function.clone(), frame.module.clone());
                times.entry(name.clone()).or_insert_with(|| vec![0.0; recordings.len()])[at] +=
                    weight * scale;
                let least = places.get(&name).map_or(depth, |(_, least)| depth.min(*least));
                places.insert(name, (frame, least));
            }
        }
    }
    Functions { times, places, total }
}

/// Functions whose time surely rises faster than the size, those that no other of them calls for most of it first.
fn rising(recordings: &[Recording], points: &[Point]) -> Vec<Rising> {
    let Functions { mut places, times, total } = functions(recordings, points);
    let mut rising: Vec<(usize, Rising)> = times
        .into_iter()
        .filter(|(_, ns)| ns.last().is_some_and(|largest| *largest >= SHARE * total))
        .filter_map(|(name, ns)| {
            let known: Vec<(f64, f64)> = points
                .iter()
                .map(|point| point.size)
                .zip(ns.iter().copied())
                .filter(|(_, ns)| *ns > 0.0)
                .collect();
            if known.len() < SIZES {
                return None;
            }
            let (of, costs): (Vec<f64>, Vec<f64>) = known.into_iter().unzip();
            let law = power_law(&of, &costs).filter(|law| law.low > RISES)?;
            let (Frame { file, line, .. }, depth) = places.remove(&name)?;
            let ns = Some(ns);
            Some((depth, Rising { function: name.0, file, line, ns, instructions: None, law: law.into() }))
        })
        .collect();
    rising.sort_by(|a, b| a.0.cmp(&b.0).then(b.1.law.exponent.total_cmp(&a.1.law.exponent)));
    innermost(rising.into_iter().map(|(_, rising)| rising).collect())
}

/// Of functions in order, innermost first, those that stand for themselves. A caller has the cost of what it calls, thinned by
/// what else it does.
pub(crate) fn innermost(rising: Vec<Rising>) -> Vec<Rising> {
    let steepest = rising.iter().map(|rising| rising.law.exponent).fold(0.0, f64::max);
    let largest = |rising: &Rising| rising.costs().last().copied().unwrap_or(0.0);
    let mut told: Vec<Rising> = Vec::new();
    for one in rising {
        let inside = |other: &Rising| largest(other) >= INSIDE * largest(&one);
        if one.law.exponent >= steepest - THINNED && !told.iter().any(inside) {
            told.push(one);
        }
    }
    told
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_size_has_settled_once_its_least_time_was_met_twice() {
        let settled = |cpus: &[f64]| Times { walls: Vec::new(), cpus: cpus.to_vec() }.settled();
        assert!(settled(&[100.0]) && settled(&[]), "one run that was asked for is all there is");
        assert!(settled(&[300.0, 100.0, 109.0]) && !settled(&[300.0, 100.0, 111.0]));
    }

    #[test]
    fn a_run_that_was_disturbed_is_made_up_for_by_further_rounds() {
        let enclosure = Enclosure::new().expect("a guard");
        let folder = slowpath_leftovers::Folder::new().expect("a folder");
        let log = folder.path().join("log");
        // The second computes 200,000 rounds, then a quarter and a ninth of them: no noise makes these equal.
        let busy = |rounds: &str| format!("i=0; while [ $i -lt {rounds} ]; do i=$((i + 1)); done");
        let count = format!("echo >> {0}; n=$(wc -l < {0})", log.display());
        let second = format!("{count}; [ $n -gt 3 ] && n=3; {}", busy("$((200000 / n / n))"));
        let commands = [(1.0, busy("20000")), (2.0, second)];
        let mut order = Vec::new();
        let (shell, limit) = (Shell::Auto, Duration::from_secs(60));
        let seen = |command: &str| order.push(command == commands[0].1);
        let points =
            measure(&commands, &shell, 2, limit, &enclosure, &Stop::default(), seen).expect("they run");
        assert_eq!(points.iter().map(|point| point.size).collect::<Vec<_>>(), [1.0, 2.0]);
        assert_eq!(order[..4], [true, false, true, false], "all sizes in turn");
        let of_second = order.iter().filter(|first| !**first).count();
        assert!((4..=6).contains(&of_second), "{order:?}");
    }
}
