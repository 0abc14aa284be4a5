//! Does the cost of a call grow with its number, and along which curve?
//! Judges the shape only: how many calls are enough, who is guilty and what it costs is the caller's
//! affair, as is turning samples into buckets.
//!
//! Four explanations compete, by deviance and BIC: one level; a power of the call number; a power of the
//! calls still to come; up to five levels. Saying "grows" wrongly is worse than missing it, so the one level
//! has a head start, and a smooth step between two levels may veto a power without being reported itself.

mod curve;
mod noise;
mod steps;

use crate::rank::spearman;
use curve::Curve;
use noise::Noise;
use steps::Steps;

/// How much BIC anything but `Flat` must gain over it. Above 10 is "very strong" evidence in R. Kass and
/// A. Raftery, "Bayes factors", Journal of the American Statistical Association 90 (1995) 773–795.
const HEAD_START: f64 = 10.0;
/// How much BIC a power must be ahead of the best steps; nearer than this, three phases still look like one.
const POWER_MARGIN: f64 = 4.0;
/// With fewer buckets than this, three-parameter curves fit anything.
const FEWEST_POINTS: usize = 6;
/// A model that explains less than this and leaves `MISFIT` times the noise is not an explanation.
const LEAST_R2: f64 = 0.8;
const MISFIT: f64 = 3.0;

/// One bucket of consecutive calls.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Point {
    /// Mean number of the calls in the bucket; the first call is 1. May be fractional.
    pub k: f64,
    /// Mean cost of one call, in any unit; below 0 is read as 0.
    pub cost: f64,
    /// Variance of `cost` as an estimate of the mean, in that unit squared: for `s` samples in `c` calls,
    /// with `u` the cost of one sample, s·(u/c)². Not positive or not finite means unknown.
    pub variance: f64,
}

/// How the cost of a call develops with its number.
#[derive(Clone, Debug, PartialEq)]
pub enum Shape {
    /// One level, or nothing that noise could not have done.
    Flat,
    /// `base` + `scale` · k^`exponent`; where `falling`, in (K + 1 - k) instead of k, with K the last call
    /// (the largest k and half a bucket).
    Power {
        /// Cost that does not depend on k, at least 0, in the unit of the costs.
        base: f64,
        /// Positive, in the unit of the costs per k^`exponent`.
        scale: f64,
        /// Between 0.2 and 3; at either end the truth may lie beyond it.
        exponent: f64,
        /// The cost falls to the last call, as when each call scans what is left.
        falling: bool,
    },
    /// Levels with jumps between them.
    Steps {
        /// Cost of each level, in order, in the unit of the costs: 2 to 5 of them.
        levels: Vec<f64>,
        /// Position, in order of k and from 0, of the first point of each level but the first.
        breaks: Vec<usize>,
    },
    /// Not flat, but none of the others explains it, or a power is hardly ahead of steps or behind a smooth
    /// step; or there are too few points (below 6), or a value
    /// that is not finite.
    Unclear,
}

/// What [`growth`] found.
#[derive(Clone, Debug, PartialEq)]
pub struct Growth {
    /// The curve that was chosen.
    pub shape: Shape,
    /// Rank correlation of cost with k, in [-1, 1]; 0 where there is none to compute.
    pub spearman: f64,
    /// Mean cost of the last quarter of the points over that of the first; for a falling power first over
    /// last. A quarter counts as at least 1/1000 of the mean of all, so it is finite. 1 where all is 0.
    pub last_to_first: f64,
    /// Share of the deviance from one level that the chosen curve explains, 0 to 1: R² with weights. 0 for
    /// `Flat` and `Unclear`. Source: A. C. Cameron and F. Windmeijer, "An R-squared measure of goodness of
    /// fit for some common nonlinear regression models", Journal of Econometrics 77 (1997) 329–342.
    pub r2: f64,
    /// Cost that the chosen curve says for each point, in the order given; for `Unclear` the mean.
    pub fitted: Vec<f64>,
    /// Deviance of the chosen curve for each degree of freedom, against the variances given: about 1 where
    /// they explain what is left, above 1 where noise is larger than they say or the curve is not the
    /// whole truth. Where no variance is known, against the noise seen between neighbours.
    pub reduced_chi2: f64,
    /// The best power, whether it was chosen or not: growth that is real but comes in many small jumps, as where items
    /// differ, is described better by steps and still is growth. None for too few points.
    pub ramp: Option<Ramp>,
}

/// A power through the points; see [`Shape::Power`] for the first four.
#[derive(Clone, Debug, PartialEq)]
pub struct Ramp {
    /// Cost that does not depend on k.
    pub base: f64,
    /// Of the power.
    pub scale: f64,
    /// Of k.
    pub exponent: f64,
    /// In what is left, instead of k.
    pub falling: bool,
    /// Share of the deviance from one level that it explains, 0 to 1.
    pub r2: f64,
    /// Cost that it says for each point, in the order given.
    pub fitted: Vec<f64>,
}

/// Chooses the shape that explains how cost depends on call number.
///
/// The models are compared by G. Schwarz, "Estimating the dimension of a model", Annals of Statistics 6
/// (1978) 461–464: deviance / φ + parameters · ln n. The dispersion φ says how many times larger the noise
/// is than the variances given, and is never below 1 where any were; so noise that they understate is not
/// taken for structure. Without variances, noise of 1 % of the mean is the least that is believed.
///
/// Never fails: see [`Shape::Unclear`]. Points need not be sorted.
pub fn growth(points: &[Point]) -> Growth {
    if points.iter().any(|p| !p.k.is_finite() || !p.cost.is_finite()) {
        return unclear(points, 0.0, 1.0, 1.0);
    }
    let mut order: Vec<usize> = (0..points.len()).collect();
    order.sort_by(|&a, &b| points[a].k.total_cmp(&points[b].k));
    let Some(series) = Series::new(points, &order) else {
        let nothing = points.len() >= FEWEST_POINTS && points.iter().all(|p| p.cost <= 0.0);
        let found = unclear(points, 0.0, 1.0, 1.0);
        return if nothing { Growth { shape: Shape::Flat, ..found } } else { found };
    };
    let rank = spearman(&series.k, &series.cost).unwrap_or(0.0);
    if points.len() < FEWEST_POINTS {
        return unclear(points, rank, series.last_to_first(), 1.0);
    }
    let judged = series.judge();
    let falling = matches!(judged.shape, Shape::Power { falling: true, .. });
    let ratio = series.last_to_first();
    let last_to_first = if falling { 1.0 / ratio } else { ratio };
    let in_order_given = |values: &[f64]| {
        let mut given = vec![0.0; points.len()];
        for (value, &at) in values.iter().zip(&order) {
            given[at] = finite(value * series.cost_unit);
        }
        given
    };
    let ramp = judged.ramp.map(|(shape, r2, fitted)| {
        let Shape::Power { base, scale, exponent, falling } = shape else {
            unreachable!("made by power_shape")
        };
        Ramp { base, scale, exponent, falling, r2, fitted: in_order_given(&fitted) }
    });
    if judged.shape == Shape::Unclear {
        return Growth { ramp, ..unclear(points, rank, ratio, judged.reduced_chi2) };
    }
    let fitted = in_order_given(&judged.fitted);
    Growth {
        shape: judged.shape,
        spearman: rank,
        last_to_first,
        r2: judged.r2,
        fitted,
        reduced_chi2: judged.reduced_chi2,
        ramp,
    }
}

fn unclear(points: &[Point], spearman: f64, last_to_first: f64, reduced_chi2: f64) -> Growth {
    let known: Vec<f64> = points.iter().map(|p| p.cost.max(0.0)).filter(|c| c.is_finite()).collect();
    let fitted = vec![crate::robust::mean(&known).map_or(0.0, finite); points.len()];
    Growth { shape: Shape::Unclear, spearman, last_to_first, r2: 0.0, fitted, reduced_chi2, ramp: None }
}

/// Keeps the results of extreme units within what a double can say.
fn finite(value: f64) -> f64 {
    value.clamp(-f64::MAX, f64::MAX)
}

/// The points in order, in units that make the largest cost and the last call number 1.
struct Series {
    k: Vec<f64>,
    cost: Vec<f64>,
    noise: Noise,
    cost_unit: f64,
    /// K, the number of the last call.
    last_call: f64,
}

/// A shape with its merits, costs still in the units of the series but for those inside `shape`.
struct Judged {
    shape: Shape,
    fitted: Vec<f64>,
    r2: f64,
    reduced_chi2: f64,
    /// The best power with its R² and what it says.
    ramp: Option<(Shape, f64, Vec<f64>)>,
}

/// What deviances are measured against.
struct Scale {
    dispersion: f64,
    /// Deviance from one level.
    flat: f64,
    /// Buckets.
    n: usize,
}

impl Scale {
    /// Schwarz's criterion of a deviance with its number of parameters, up to a constant.
    fn bic(&self, (deviance, parameters): (f64, usize)) -> f64 {
        deviance / self.dispersion + parameters as f64 * (self.n as f64).ln()
    }

    /// BIC gained over one level. A dispersion that was estimated from these very points is itself unsure,
    /// most so when it is too small; then the deviance counts by its logarithm, as with an unknown
    /// variance (K. Burnham and D. Anderson, Model Selection and Multimodel Inference, 2nd ed., ch. 2.2).
    fn gain(&self, (deviance, parameters): (f64, usize), least_dispersion: f64) -> f64 {
        let n = self.n as f64;
        let gained = ((self.flat - deviance) / self.dispersion).max(0.0);
        let sure = if self.dispersion > least_dispersion { n * (gained / n).ln_1p() } else { gained };
        sure - (parameters - 1) as f64 * n.ln()
    }
}

impl Series {
    /// `None` where all costs are 0, or no call has a number above 0.
    fn new(points: &[Point], order: &[usize]) -> Option<Series> {
        let cost_unit = points.iter().map(|p| p.cost).fold(0.0, f64::max);
        let k: Vec<f64> = order.iter().map(|&i| points[i].k.max(0.0)).collect();
        let last = *k.last()?;
        let half_bucket = if k.len() > 1 { (last - k[k.len() - 2]) / 2.0 } else { 0.0 };
        let last_call = finite(last + half_bucket);
        if cost_unit <= 0.0 || last_call <= 0.0 {
            return None;
        }
        let cost: Vec<f64> = order.iter().map(|&i| points[i].cost.max(0.0) / cost_unit).collect();
        // Divided twice, since the square of an extreme unit may not exist.
        let variance: Vec<f64> = order.iter().map(|&i| points[i].variance / cost_unit / cost_unit).collect();
        let noise = Noise::new(&cost, &variance);
        Some(Series { k, cost, noise, cost_unit, last_call })
    }

    fn last_to_first(&self) -> f64 {
        let n = self.cost.len();
        let quarter = (n / 4).max(1);
        let mean = |costs: &[f64]| costs.iter().sum::<f64>() / costs.len() as f64;
        let least = mean(&self.cost) / 1000.0;
        mean(&self.cost[n - quarter..]).max(least) / mean(&self.cost[..quarter]).max(least)
    }

    /// k as a share of the last call; never 0, where a power of it would have no logarithm.
    fn rising(&self) -> Vec<f64> {
        self.k.iter().map(|k| (k / self.last_call).max(1e-12)).collect()
    }

    /// (K + 1 - k) as a share of the last call.
    fn falling(&self) -> Vec<f64> {
        self.k.iter().map(|k| ((self.last_call - k + 1.0) / self.last_call).max(1e-12)).collect()
    }

    fn judge(&self) -> Judged {
        let powers = self.powers();
        let cuts = steps::segment(&self.cost, &self.noise);
        let flat = cuts[0].deviance;
        let best = powers.iter().min_by(|a, b| a.0.deviance.total_cmp(&b.0.deviance));
        let ramp = best.filter(|_| flat > 0.0).map(|(curve, falling)| {
            let r2 = (1.0 - curve.deviance / flat).clamp(0.0, 1.0);
            (self.power_shape(curve, *falling), r2, curve.fitted.clone())
        });
        Judged { ramp, ..self.choose(&cuts, &powers) }
    }

    fn choose(&self, cuts: &[Steps], powers: &[(Curve, bool)]) -> Judged {
        let n = self.cost.len();
        let scale = Scale { dispersion: self.dispersion(cuts, powers), flat: cuts[0].deviance, n };
        let as_flat = || self.merits(Shape::Flat, cuts[0].fitted(n), (cuts[0].deviance, 1), &scale);

        let step = cuts[1..].iter().min_by(|a, b| scale.bic(a.merit()).total_cmp(&scale.bic(b.merit())));
        let power = powers.iter().min_by(|a, b| scale.bic(a.0.merit()).total_cmp(&scale.bic(b.0.merit())));
        let certain = |merit| scale.gain(merit, self.noise.least_dispersion) >= HEAD_START;
        if !step.is_some_and(|s| certain(s.merit())) && !power.is_some_and(|(p, _)| certain(p.merit())) {
            return as_flat();
        }
        let step_bic = step.map_or(f64::INFINITY, |s| scale.bic(s.merit()));
        let power_bic = power.map_or(f64::INFINITY, |(p, _)| scale.bic(p.merit()));
        match (step, power) {
            (Some(cut), _) if step_bic <= power_bic => {
                self.merits(self.steps_shape(cut), cut.fitted(n), cut.merit(), &scale)
            }
            (_, Some((curve, falling))) => {
                let x = if *falling { self.falling() } else { self.rising() };
                let saturates = curve::saturation(&x, &self.cost, &self.noise)
                    .is_some_and(|s| scale.bic(s.merit()) < power_bic);
                let doubtful = saturates || step_bic < power_bic + POWER_MARGIN;
                let shape = if doubtful { Shape::Unclear } else { self.power_shape(curve, *falling) };
                self.merits(shape, curve.fitted.clone(), curve.merit(), &scale)
            }
            _ => as_flat(),
        }
    }

    /// The best powers of k and of what is left, each also through zero: that has one parameter less,
    /// and so a surer exponent. With each, whether it falls.
    fn powers(&self) -> Vec<(Curve, bool)> {
        let mut found = Vec::new();
        for (x, falling) in [(self.rising(), false), (self.falling(), true)] {
            for through_zero in [true, false] {
                found.extend(curve::power(&x, &self.cost, &self.noise, through_zero).map(|c| (c, falling)));
            }
        }
        found
    }

    /// The shape with its R² and what it leaves; `Unclear` in its place if it explains too little.
    fn merits(&self, shape: Shape, fitted: Vec<f64>, merit: (f64, usize), scale: &Scale) -> Judged {
        let (deviance, parameters) = merit;
        let flat = shape == Shape::Flat;
        let r2 = if scale.flat > 0.0 && !flat { (1.0 - deviance / scale.flat).clamp(0.0, 1.0) } else { 0.0 };
        let left = deviance / scale.n.saturating_sub(parameters).max(1) as f64;
        let explains = flat || r2 >= LEAST_R2 || left / scale.dispersion <= MISFIT;
        // Where no variance was given, the dispersion is the only measure of noise there is.
        let unit = if self.noise.known { 1.0 } else { scale.dispersion };
        let shape = if explains { shape } else { Shape::Unclear };
        Judged { shape, fitted, r2, reduced_chi2: finite(left / unit), ramp: None }
    }

    /// How many times larger the noise is than the variances given: what the best of the models leaves
    /// for each degree of freedom, or the roughness between neighbours where that is less, as for a curve
    /// that no model follows. A break counts as 3 degrees of freedom beside its level: it was searched for
    /// (Y. Ninomiya, "Change-point model selection via AIC", Annals of the Institute of Statistical
    /// Mathematics 67 (2015) 943–961).
    fn dispersion(&self, cuts: &[Steps], powers: &[(Curve, bool)]) -> f64 {
        let n = self.cost.len();
        let left = |deviance: f64, used: usize| (used + n / 4 < n).then(|| deviance / (n - used) as f64);
        let by_steps = cuts.iter().filter_map(|c| left(c.deviance, 1 + 4 * c.breaks.len()));
        let by_powers = powers.iter().filter_map(|(c, _)| left(c.deviance, c.parameters));
        let by_neighbours = self.noise.roughness(&self.k, &self.cost);
        let least = by_steps.chain(by_powers).chain(by_neighbours).fold(f64::INFINITY, f64::min);
        least.max(self.noise.least_dispersion)
    }

    fn steps_shape(&self, cut: &Steps) -> Shape {
        let levels = cut.levels.iter().map(|l| finite(l * self.cost_unit)).collect();
        Shape::Steps { levels, breaks: cut.breaks.clone() }
    }

    fn power_shape(&self, curve: &Curve, falling: bool) -> Shape {
        Shape::Power {
            base: finite(curve.base * self.cost_unit),
            // k was divided by K, so the scale is for (k / K)^p.
            scale: finite(curve.scale / self.last_call.powf(curve.exponent) * self.cost_unit),
            exponent: curve.exponent,
            falling,
        }
    }
}
