//! Who is guilty: a function whose calls rise at most as the input does, while each costs more, and by its own doing.
//!
//! Its VICTIMS are called ever more often and each call costs the same; its callers grow because it does. Counts have no noise,
//! so the slope between the two largest sizes shows what the exponent tends to, where fixed parts hide it at small ones.

use super::across::{Across, Of, Role, each, last, law};

/// The guilty one has this share of the instructions at the largest size.
const SHARE: f64 = 0.10;
/// Its calls rise at most with this exponent, a call's cost at least with this, and all of it at least with this.
const CALLS: f64 = 1.15;
const CALL: f64 = 0.4;
const WHOLE: f64 = 1.4;
/// A victim's calls rise at least with this exponent, a call's cost at most with this, and this share of them is made under
/// the guilty one.
const MANY: f64 = 1.4;
const FLAT: f64 = 0.2;
const UNDER: f64 = 0.5;

/// A guilty function, by place, and those that it calls ever more often.
pub(super) struct Guilty {
    pub function: usize,
    /// Places of direct callees, the most instructions first.
    pub victims: Vec<usize>,
}

/// Finds the guilty and their symptoms, and marks them.
pub(super) fn judge(across: &mut Across) -> Vec<Guilty> {
    let mut guilty: Vec<usize> = Vec::new();
    let mut callers: Vec<Vec<bool>> = Vec::new();
    // Who is called has less than who calls it: from the innermost outward.
    for at in (0..across.functions.len()).rev() {
        let function = &across.functions[at];
        if !grows(across, function, &function.counts.instructions) {
            continue;
        }
        // What is left of its cost without that of guilty ones under it must grow too, else it grows because they do.
        let mut left = function.counts.instructions.clone();
        for (inner, _) in guilty.iter().zip(&callers).filter(|(_, callers)| callers[at]) {
            let of_inner = &across.functions[*inner].counts.instructions;
            left.iter_mut().zip(of_inner).for_each(|(left, inner)| *left = (*left - inner).max(0.0));
        }
        if grows(across, function, &left) {
            guilty.push(at);
            callers.push(across.callers(at));
        }
    }
    guilty.reverse();
    let found: Vec<Guilty> = guilty
        .iter()
        .map(|function| {
            let of = |at: &usize| victim(across, *function, &across.functions[*at]);
            Guilty { function: *function, victims: (0..across.functions.len()).filter(of).collect() }
        })
        .collect();
    for one in &found {
        across.functions[one.function].counts.role = Some(Role::Guilty);
        for victim in &one.victims {
            across.functions[*victim].counts.role.get_or_insert(Role::Victim);
        }
    }
    found
}

/// The exponent that costs tend to: by the law, or between the two largest sizes, whichever says more.
fn exponent(sizes: &[f64], costs: &[f64], most: bool) -> Option<f64> {
    let whole = law(sizes, costs)?.exponent;
    let [.., (s0, c0), (s1, c1)] = sizes.iter().zip(costs).collect::<Vec<_>>()[..] else { return None };
    if *c0 <= 0.0 || *c1 <= 0.0 || s1 <= s0 {
        return Some(whole);
    }
    let end = (c1 / c0).ln() / (s1 / s0).ln();
    Some(if most { whole.max(end) } else { whole.min(end) })
}

/// Whether a function's calls rise as the input at most, while these instructions of it rise faster, and those of a call do.
fn grows(across: &Across, function: &Of, instructions: &[f64]) -> bool {
    if function.runtime || last(instructions) < SHARE * last(&across.totals) {
        return false;
    }
    let sizes = &across.sizes;
    let calls = &function.counts.calls;
    let at_least =
        |costs: &[f64], least: f64| exponent(sizes, costs, true).is_some_and(|exponent| exponent >= least);
    let few = law(sizes, calls).is_some_and(|law| law.exponent <= CALLS);
    few && at_least(&each(instructions, calls), CALL) && at_least(instructions, WHOLE)
}

/// Whether the guilty one calls `callee` ever more often, at a flat cost.
fn victim(across: &Across, guilty: usize, callee: &Of) -> bool {
    let Some((calls, _)) = callee.callers.get(&guilty) else { return false };
    let many = exponent(&across.sizes, &callee.counts.calls, true).is_some_and(|exponent| exponent >= MANY);
    let flat = exponent(&across.sizes, &callee.each(), false).is_some_and(|exponent| exponent <= FLAT);
    many && flat && last(calls) >= UNDER * last(&callee.counts.calls)
}
