//! Times two commands: warm-up, then pairs in random order, with probes of the machine beside them, until it knows.

use crate::Error;
use crate::decide::{self, Expectation, Outcome, alpha_left, alpha_of, looks};
use crate::enclosure::Enclosure;
use crate::evidence::{Metric, estimate, log_ratios};
use crate::machine;
use crate::probe::{Prober, set_aside};
use crate::run::{Ended, Runner, Shell, Stop};
use crate::values::{Comparison, Estimate, Machine, Pair, Run, SCHEMA, Side, Verdict};
use slowpath_stats::median;
use std::path::PathBuf;
use std::time::{Duration, Instant};

/// How to compare.
#[derive(Debug, Clone)]
pub struct Options {
    /// The two commands, the one to compare with first.
    pub commands: [String; 2],
    /// What they are called.
    pub names: [String; 2],
    /// How a command line becomes a program.
    pub shell: Shell,
    /// Run once before everything.
    pub setup: Option<String>,
    /// Run before each run of the side.
    pub prepare: [Option<String>; 2],
    /// Run once after everything.
    pub cleanup: Option<String>,
    /// Runs of each side before the first pair.
    pub warmup: u32,
    /// Pairs before the first look, and at most.
    pub min_pairs: usize,
    /// See `min_pairs`.
    pub max_pairs: usize,
    /// No pair is begun after this, and no run takes longer.
    pub time_limit: Duration,
    /// What both read from stdin; nothing if none.
    pub input: Option<PathBuf>,
    /// Both must write the same to stdout.
    pub same_output: bool,
    /// A side may exit with another code than 0, if it is always the same.
    pub ignore_failure: bool,
    /// A difference of this share (0.02 is 2 %) and less counts as none.
    pub indifferent: f64,
    /// How much slower a probe may be than in quiet before its pair is set aside (0.1 is 10 %).
    pub tolerance: f64,
    /// CPU time decides, not elapsed time.
    pub cpu_decides: bool,
    /// What somebody hopes for.
    pub expectation: Option<Expectation>,
    /// What the sides' stderr says is shown.
    pub loud: bool,
    /// Ends it, with what was measured so far.
    pub stop: Stop,
}

/// How far it is.
#[derive(Debug, Clone, Copy)]
pub struct Progress {
    /// Pairs run.
    pub pairs: usize,
    /// Pairs at most.
    pub max_pairs: usize,
    /// What the last look saw.
    pub estimate: Option<Estimate>,
}

/// A comparison in the making.
struct Timing<'o> {
    options: &'o Options,
    enclosure: &'o Enclosure,
    runners: [Runner<'o>; 2],
    prober: Prober,
    random: fastrand::Rng,
    started: Instant,
    pairs: Vec<Pair>,
    failure: Option<String>,
}

/// Compares two commands. What was measured before a side failed is in the result, with `failure` set.
pub fn timed(
    options: &Options,
    enclosure: &Enclosure,
    mut progress: impl FnMut(&Progress),
) -> Result<Comparison, Error> {
    if options.min_pairs < 2 || options.max_pairs < options.min_pairs {
        return Err(Error::Options(
            "--min-pairs must be at least 2, and --max-pairs must not be smaller than --min-pairs".to_owned(),
        ));
    }
    let runner = |side: usize| {
        let runner = Runner::new(&options.commands[side], &options.shell, enclosure, &options.stop);
        runner.map(|runner| runner.reading(options.input.clone()).hashed(options.same_output))
    };
    let mut timing = Timing {
        options,
        enclosure,
        runners: [runner(0)?, runner(1)?],
        prober: Prober::new(),
        random: fastrand::Rng::new(),
        started: Instant::now(),
        pairs: Vec::new(),
        failure: None,
    };
    let before = machine::now();
    timing.helper(options.setup.as_deref(), &options.stop)?;
    let looked = match timing.pairs(&mut progress) {
        // What was measured before is kept.
        Err(error) if !timing.pairs.is_empty() => {
            timing.failure = Some(error.to_string());
            Ok(Look { alpha: decide::ALPHA })
        }
        looked => looked,
    };
    // Cleaning up is done even if it was stopped.
    timing.helper(options.cleanup.as_deref(), &Stop::default())?;
    let looked = looked?;
    Ok(timing.comparison(looked, before))
}

/// What a comparison does, but for running anything.
#[derive(Debug, Clone, Copy)]
pub struct Plan {
    /// As in [`Options`].
    pub min_pairs: usize,
    /// As in [`Options`].
    pub max_pairs: usize,
    /// As in [`Options`].
    pub indifferent: f64,
    /// As in [`Options`].
    pub tolerance: f64,
    /// CPU time decides.
    pub cpu: bool,
}

/// What a comparison would have said of these pairs, in this order, and after how many.
pub fn replay(pairs: &[Pair], plan: &Plan) -> (Verdict, usize) {
    let metric = if plan.cpu { Metric::Cpu } else { Metric::Wall };
    let mut before = 0;
    for look in looks(plan.min_pairs, plan.max_pairs) {
        let mut seen = pairs[..look.min(pairs.len())].to_vec();
        let estimate =
            estimate_of(&mut seen, metric, alpha_of(look, before, plan.max_pairs), plan.tolerance, false);
        let verdict = decide::verdict(estimate.as_ref(), plan.indifferent);
        if verdict != Verdict::Unknown || look >= pairs.len() {
            return (verdict, seen.len());
        }
        before = look;
    }
    (Verdict::Unknown, pairs.len())
}

/// What pairs say, without those that were set aside or with all.
fn estimate_of(
    pairs: &mut [Pair],
    metric: Metric,
    alpha: f64,
    tolerance: f64,
    all: bool,
) -> Option<Estimate> {
    set_aside(pairs, tolerance);
    let pairs: Vec<&Pair> = pairs.iter().filter(|pair| all || !pair.set_aside).collect();
    estimate(&log_ratios(&pairs, metric)?, alpha)
}

/// The last look: what it may err, and where it was.
#[derive(Clone, Copy)]
struct Look {
    alpha: f64,
}

impl Timing<'_> {
    /// A command beside the runs; it must succeed.
    fn helper(&self, command: Option<&str>, stop: &Stop) -> Result<(), Error> {
        let Some(command) = command else { return Ok(()) };
        let shell = match &self.options.shell {
            Shell::None => Shell::None,
            _ => Shell::Named("sh".to_owned()),
        };
        let failed = |why: String| Error::Command { command: command.to_owned(), why };
        // It may well start a server that the runs ask.
        let runner = Runner::new(command, &shell, self.enclosure, stop)?.keeping_daemons();
        match runner.run(self.options.time_limit, true)? {
            Ended::Done(run) if run.exit == 0 => Ok(()),
            Ended::Done(run) => Err(failed(format!("it exited with {}", run.exit))),
            Ended::TooLong => Err(failed("it took longer than the time limit".to_owned())),
            Ended::Stopped => Err(Error::Interrupted),
        }
    }

    /// One run; none if it failed, which ends the comparison.
    fn run(&mut self, side: usize) -> Result<Option<Run>, Error> {
        self.helper(self.options.prepare[side].as_deref(), &self.options.stop)?;
        let name = &self.options.names[side];
        let limit = self.options.time_limit;
        let run = match self.runners[side].run(limit, self.options.loud)? {
            Ended::Done(run) => run,
            Ended::Stopped => return Err(Error::Interrupted),
            Ended::TooLong => {
                self.failure = Some(format!(
                    "{name} ran for longer than the time limit of {} s and was ended",
                    limit.as_secs()
                ));
                return Ok(None);
            }
        };
        if run.exit != 0 && !self.options.ignore_failure {
            self.failure = Some(format!(
                "{name} exited with {}: failing runs are not timed (--ignore-failure allows them)",
                run.exit
            ));
            return Ok(None);
        }
        Ok(Some(run))
    }

    fn pairs(&mut self, progress: &mut impl FnMut(&Progress)) -> Result<Look, Error> {
        let options = self.options;
        for _ in 0..options.warmup {
            for side in [0, 1] {
                if self.run(side)?.is_none() {
                    return Ok(Look { alpha: decide::ALPHA });
                }
            }
        }
        let mut planned = looks(options.min_pairs, options.max_pairs).into_iter();
        let (mut next, mut before, mut last) = (planned.next(), 0, None);
        while let Some(look) = next {
            // A pair that would end after the limit is not begun.
            let each = self.started.elapsed() / (self.pairs.len() as u32 + options.warmup).max(1);
            let late = self.started.elapsed() + each > options.time_limit && !self.pairs.is_empty();
            if late {
                let alpha = alpha_left(before, options.max_pairs);
                return Ok(Look { alpha });
            }
            if !self.pair()? {
                break;
            }
            let done = self.pairs.len();
            if done == look {
                let alpha = alpha_of(look, before, options.max_pairs);
                let estimate = self.estimate(self.metric(), alpha, false);
                last = estimate;
                if self.knows(estimate.as_ref()) {
                    return Ok(Look { alpha });
                }
                if done == options.max_pairs {
                    return Ok(Look { alpha });
                }
                before = look;
                next = planned.next();
            }
            progress(&Progress { pairs: done, max_pairs: options.max_pairs, estimate: last });
        }
        Ok(Look { alpha: alpha_left(before, options.max_pairs) })
    }

    /// Runs a pair; false if a side failed.
    fn pair(&mut self) -> Result<bool, Error> {
        // By lot, but of two pairs each side is first in one: who runs second may find warmer caches.
        let first = match self.pairs.last() {
            Some(last) if self.pairs.len() % 2 == 1 => 1 - last.first,
            _ => self.random.usize(..2),
        };
        let before = self.prober.probe();
        let Some(one) = self.run(first)? else { return Ok(false) };
        let between = self.prober.probe();
        let Some(other) = self.run(1 - first)? else { return Ok(false) };
        let after = self.prober.probe();
        let runs = if first == 0 { [one, other] } else { [other, one] };
        self.pairs.push(Pair { runs, first, probes: [before, between, after], set_aside: false });
        let [a, b] = &self.options.names;
        if self.options.same_output && runs[0].output != runs[1].output {
            self.failure = Some(format!("{a} and {b} write different output to stdout"));
            return Ok(false);
        }
        if runs.iter().zip(&self.pairs[0].runs).any(|(run, at_first)| run.exit != at_first.exit) {
            self.failure = Some("a command does not always exit with the same code".to_owned());
            return Ok(false);
        }
        Ok(true)
    }

    fn metric(&self) -> Metric {
        if self.options.cpu_decides { Metric::Cpu } else { Metric::Wall }
    }

    /// What the pairs say, without those that were set aside or with all.
    fn estimate(&mut self, metric: Metric, alpha: f64, all: bool) -> Option<Estimate> {
        estimate_of(&mut self.pairs, metric, alpha, self.options.tolerance, all)
    }

    fn knows(&self, estimate: Option<&Estimate>) -> bool {
        if self.options.expectation.is_some() {
            let outcome = decide::outcome(estimate, self.options.expectation, self.decisive_ns(0));
            return outcome != Outcome::Unknown;
        }
        decide::verdict(estimate, self.options.indifferent) != Verdict::Unknown
    }

    /// A side's median of the time that decides.
    fn decisive_ns(&self, side: usize) -> u64 {
        let median = self.median(side);
        if self.options.cpu_decides { median.cpu_ns() } else { median.wall_ns }
    }

    /// Medians over a side's runs.
    fn median(&self, side: usize) -> Run {
        let of = |value: fn(&Run) -> u64| {
            let all: Vec<f64> = self.pairs.iter().map(|pair| value(&pair.runs[side]) as f64).collect();
            median(&all).unwrap_or(0.0) as u64
        };
        Run {
            wall_ns: of(|run| run.wall_ns),
            user_ns: of(|run| run.user_ns),
            sys_ns: of(|run| run.sys_ns),
            peak_memory_bytes: of(|run| run.peak_memory_bytes),
            exit: self.pairs.first().map_or(0, |pair| pair.runs[side].exit),
            output: None,
        }
    }

    fn comparison(mut self, look: Look, before: (Machine, (u64, u64))) -> Comparison {
        let options = self.options;
        let (wall, cpu) =
            (self.estimate(Metric::Wall, look.alpha, false), self.estimate(Metric::Cpu, look.alpha, false));
        let metric = self.metric();
        let decisive = if metric == Metric::Cpu { cpu } else { wall };
        let with_all = self.estimate(metric, look.alpha, true);
        let verdict = decide::verdict(decisive.as_ref(), options.indifferent);
        let disputed = decide::verdict(with_all.as_ref(), options.indifferent) != verdict;
        let failed = self.failure.is_some();
        let outcome = decide::outcome(decisive.as_ref(), options.expectation, self.decisive_ns(0));
        let mut notes = Vec::new();
        let aside = self.pairs.iter().filter(|pair| pair.set_aside).count();
        if aside > 0 {
            notes.push(format!(
                "{aside} of {} pairs were excluded: the machine was slower than usual while they ran",
                self.pairs.len()
            ));
        }
        if disputed && !failed {
            notes.push(
                "with the excluded pairs the verdict would be different: repeat on a quiet machine"
                    .to_owned(),
            );
        }
        if decisive.is_some_and(|one| 2.0 * 0.5f64.powi(one.pairs as i32) > look.alpha) && !failed {
            notes.push("with so few pairs the interval assumes normally distributed errors: more time (--time-limit) \
                        gives a more reliable one".to_owned());
        }
        let side = |at: usize| Side {
            name: options.names[at].clone(),
            command: options.commands[at].clone(),
            median: self.median(at),
        };
        let after = machine::now();
        let steal =
            after.1.0.saturating_sub(before.1.0) as f64 / after.1.1.saturating_sub(before.1.1).max(1) as f64;
        let machine = Machine {
            load: [before.0.load[0], after.0.load[0]],
            mhz: [before.0.mhz[0], after.0.mhz[0]],
            steal,
            ..after.0
        };
        Comparison {
            kind: "comparison",
            schema: SCHEMA,
            sides: [side(0), side(1)],
            verdict: if failed { Verdict::Unknown } else { verdict },
            metric: if metric == Metric::Cpu { "cpu" } else { "wall" },
            indifferent: options.indifferent,
            // A ratio is never computed from a failed run.
            wall: wall.filter(|_| !failed),
            cpu: cpu.filter(|_| !failed),
            disputed: disputed && !failed,
            outcome: if failed && options.expectation.is_some() { Outcome::Unknown } else { outcome },
            pairs: self.pairs,
            machine,
            failure: self.failure,
            notes,
            why: None,
        }
    }
}
