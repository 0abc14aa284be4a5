//! One command at several sizes, each run once under callgrind: exact counts of instructions and calls, without noise, and
//! dear (some 50 times the time). Times are never reported from such runs.
//!
//! - `count` — a run, and what it counted.
//! - `across` — the functions of all runs, each with its laws: instructions, calls, and instructions a call.
//! - `rule` — who is guilty, and who only its victim.
//! - `told` — the finding's texts.
//! - this file — all of it, as a [`Scaling`].

mod across;
mod count;
mod rule;
mod told;

#[cfg(test)]
mod tests;

pub use across::{Counts, Role};
pub use count::{Counted, count};

use crate::scale::{Point, Rising, Scaling, fitted, innermost, program_of};
use across::Across;

/// A function is reported if it has this share of the instructions at the largest size.
const TOLD: f64 = 0.01;
/// … and so many at most.
const MOST: usize = 40;
/// It rises faster than the size from this exponent on: n·log n at small sizes has about so much.
const RISES: f64 = 1.25;

/// Fits what was counted; `counted` holds one run of each size, in the order of sizes.
pub fn scaling(command: &str, counted: &[(f64, Counted)], at: Option<f64>) -> Scaling {
    let point = |(size, counted): &(f64, Counted)| Point {
        size: *size,
        wall_ns: None,
        cpu_ns: None,
        instructions: Some(counted.instructions as f64),
    };
    let mut scaling = fitted(command, counted.iter().map(point).collect(), at);
    let mut across = Across::new(counted);
    let guilty = rule::judge(&mut across);
    let program = program_of(command);
    scaling.findings = guilty.iter().map(|guilty| told::finding(&across, guilty, program)).collect();
    scaling.rising = rising(&across);
    let starts = across.starts();
    let told = across.functions.iter().zip(starts).filter(|(function, starts)| {
        let large = across.share(function) >= TOLD && function.counts.law.is_some();
        function.counts.role.is_some() || large && !starts
    });
    scaling.functions = told.take(MOST).map(|(function, _)| function.counts.clone()).collect();
    scaling
}

/// Functions of the program itself that rise faster than the size: neither symptoms nor those that only call the steepest.
fn rising(across: &Across) -> Vec<Rising> {
    // Whoever is called has less than who calls it: the innermost come first.
    let inward = across.functions.iter().rev();
    let rising = inward.filter_map(|function| {
        let law = function.counts.law.filter(|law| law.low > 1.0 && law.exponent >= RISES)?;
        let counts = &function.counts;
        let told = across.share(function) >= crate::scale::SHARE
            && !function.runtime
            && counts.role != Some(Role::Victim);
        told.then(|| Rising {
            function: counts.function.clone(),
            file: counts.file.clone(),
            line: counts.line,
            ns: None,
            instructions: Some(counts.instructions.clone()),
            law,
        })
    });
    innermost(rising.collect())
}
