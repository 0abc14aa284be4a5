//! What each function costs in all: by itself, and with what it calls.
//!
//! Recursion: a function's level 1 is on the stack once at most, and everything that deeper levels cost is under it. So
//! the inclusive cost is that of level 1 alone, and nothing is counted twice.

use super::{Part, Place, Profile};
use std::collections::HashMap;

/// A function over several parts, with all its levels of recursion.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Function {
    /// Its name.
    pub name: String,
    /// Executable or library, empty where unknown.
    pub object: String,
    /// Source file, empty where unknown.
    pub file: String,
    /// Line of its entry, where known.
    pub line: Option<u32>,
    /// Cost of its own code, in the event asked for.
    pub own: u64,
    /// Cost of it and all that it calls.
    pub inclusive: u64,
    /// Calls from outside.
    pub calls: u64,
    /// Calls from within itself, directly or through others.
    pub recursive_calls: u64,
    /// Who calls it from outside: the place of the function in the list, the most costly first.
    pub callers: Vec<Caller>,
}

/// All calls from one function.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Caller {
    /// Its place in the list of functions.
    pub function: usize,
    /// How many.
    pub calls: u64,
    /// What they cost, with all that is called in turn.
    pub inclusive: u64,
}

/// Adds up the functions of parts, each with the profile that it is of, in the event `name`. Functions of one name, object
/// and file are one. The dearest first, by inclusive cost. None if a profile does not count the event.
pub fn functions<'a>(
    parts: impl IntoIterator<Item = (&'a Profile, &'a Part)>,
    name: &str,
) -> Option<Vec<Function>> {
    let mut sums = Sums::default();
    for (profile, part) in parts {
        sums.part(profile, part, profile.event(name)?);
    }
    Some(sums.finish())
}

type Key<'a> = (&'a str, &'a str, &'a str);

#[derive(Default)]
struct Sums<'a> {
    numbers: HashMap<Key<'a>, usize>,
    functions: Vec<Function>,
    callers: HashMap<(usize, usize), (u64, u64)>,
}

impl<'a> Sums<'a> {
    /// The number of the function at `at` in the profile's places.
    fn number(&mut self, profile: &'a Profile, at: usize) -> Option<(usize, &'a Place)> {
        let place = profile.places.get(at)?;
        let key = (place.name.as_str(), place.object.as_str(), place.file.as_str());
        let number = *self.numbers.entry(key).or_insert_with(|| {
            self.functions.push(Function {
                name: place.name.clone(),
                object: place.object.clone(),
                file: place.file.clone(),
                ..Function::default()
            });
            self.functions.len() - 1
        });
        let line = &mut self.functions[number].line;
        *line = line.or(profile.lines.get(&at).copied());
        Some((number, place))
    }

    fn part(&mut self, profile: &'a Profile, part: &'a Part, event: usize) {
        let cost = |costs: &[u64]| costs.get(event).copied().unwrap_or(0);
        for (at, costs) in &part.own {
            let Some((number, place)) = self.number(profile, *at) else { continue };
            let function = &mut self.functions[number];
            function.own = function.own.saturating_add(cost(costs));
            if place.level == 1 {
                function.inclusive = function.inclusive.saturating_add(cost(costs));
            }
        }
        for ((from, to), calls) in &part.calls {
            let Some((from, caller)) = self.number(profile, *from) else { continue };
            let Some((to, callee)) = self.number(profile, *to) else { continue };
            let inclusive = cost(&calls.cost);
            if caller.level == 1 && from != to {
                let of_caller = &mut self.functions[from].inclusive;
                *of_caller = of_caller.saturating_add(inclusive);
            }
            // Level 1 is called from outside: where a function calls itself the callee has a deeper level.
            if callee.level == 1 && from != to {
                let function = &mut self.functions[to];
                function.calls = function.calls.saturating_add(calls.count);
                let sum = self.callers.entry((to, from)).or_default();
                *sum = (sum.0.saturating_add(calls.count), sum.1.saturating_add(inclusive));
            } else {
                let function = &mut self.functions[to];
                function.recursive_calls = function.recursive_calls.saturating_add(calls.count);
                // The levels of one function are distinguished, so what level 1 calls of itself is under it, once.
                if caller.level == 1 && from == to && callee.level > 1 {
                    function.inclusive = function.inclusive.saturating_add(inclusive);
                }
            }
        }
    }

    fn finish(self) -> Vec<Function> {
        let mut functions = self.functions;
        let mut order: Vec<usize> = (0..functions.len()).collect();
        let key =
            |function: &Function| (function.name.clone(), function.object.clone(), function.file.clone());
        order.sort_by(|a, b| {
            let (a, b) = (&functions[*a], &functions[*b]);
            b.inclusive.cmp(&a.inclusive).then_with(|| key(a).cmp(&key(b)))
        });
        let mut place = vec![0; order.len()];
        for (to, from) in order.iter().enumerate() {
            place[*from] = to;
        }
        for ((callee, caller), (calls, inclusive)) in self.callers {
            functions[callee].callers.push(Caller { function: place[caller], calls, inclusive });
        }
        let mut sorted: Vec<Function> =
            order.into_iter().map(|at| std::mem::take(&mut functions[at])).collect();
        for function in &mut sorted {
            function.callers.sort_by_key(|caller| (std::cmp::Reverse(caller.inclusive), caller.function));
        }
        sorted
    }
}
