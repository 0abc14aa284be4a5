//! Which functions are worth counting: those under which much of the recent CPU time was spent, and what these call.

use std::collections::HashMap;

/// A function's share of the recent samples is at least this: it is counted.
pub(super) const SHARE: f64 = 0.10;
/// A function called by such a one is counted from this share on: it may be the step that the work is measured by.
const SHARE_OF_CALLEE: f64 = 0.01;
/// Samples of a process before anything is said of it.
const SAMPLES: f64 = 20.0;
/// A function that is on a stack more than once in this share of its samples calls itself.
const RECURSIVE: f64 = 0.10;
/// Its own work is done in its own code or at most so many calls further in: copying, comparing.
const NEAR: usize = 4;

/// Recent samples of one process, by live function. Older ones fade, so that each phase of a program gets its turn.
#[derive(Default)]
pub(crate) struct Recent {
    total: f64,
    functions: HashMap<u32, Seen>,
    /// Scratch: functions and locations of one stack, outermost first.
    path: Vec<(u32, u32)>,
}

#[derive(Default)]
struct Seen {
    inclusive: f64,
    innermost: f64,
    twice: f64,
    /// It is on the stack twice in a row: it calls itself directly.
    directly: f64,
    /// Weight by direct caller.
    callers: HashMap<u32, f64>,
    /// Weight by location in it, where it was among the innermost frames.
    places: HashMap<u32, f64>,
}

/// A function to count.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Choice {
    pub function: u32,
    pub share: f64,
    /// The share of the samples whose innermost frame of the program it is.
    pub innermost: f64,
    /// The recent samples of the process, faded.
    pub samples: f64,
    /// It is entered by others that it called: its calls are not counted, for each is a part of another.
    pub recursive: bool,
    /// That, or it calls itself directly.
    pub calls_itself: bool,
    /// The function that calls it most.
    pub caller: Option<u32>,
    /// Where in it its own work was done: locations and shares. Empty if there is little of it.
    pub places: Vec<(u32, f64)>,
}

impl Recent {
    /// Adds a sample: the live functions on its stack and the locations in them, outermost first.
    pub(crate) fn add(&mut self, frames: impl Iterator<Item = (u32, u32)>) {
        self.path.clear();
        self.path.extend(frames);
        // An address range twice in a row: a call within the function's own code.
        let own = self.path.windows(2).find(|pair| pair[0].0 == pair[1].0).map(|pair| pair[0].0);
        // Of a function that called itself the last call counts: there it is.
        self.path.dedup_by(|inner, outer| {
            let same = inner.0 == outer.0;
            if same {
                outer.1 = inner.1;
            }
            same
        });
        self.total += 1.0;
        if let Some(function) = own {
            self.functions.entry(function).or_default().directly += 1.0;
        }
        for (at, (function, location)) in self.path.iter().enumerate() {
            let is_it = |(other, _): &(u32, u32)| other == function;
            let (again, deeper) = (self.path[..at].iter().any(is_it), self.path[at + 1..].iter().any(is_it));
            let seen = self.functions.entry(*function).or_default();
            // Its own work is done where it is on the stack last.
            if !deeper {
                seen.innermost += if at + 1 == self.path.len() { 1.0 } else { 0.0 };
                if at + NEAR >= self.path.len() {
                    *seen.places.entry(*location).or_default() += 1.0;
                }
            }
            if again {
                seen.twice += 1.0;
                continue;
            }
            seen.inclusive += 1.0;
            if at > 0 {
                *seen.callers.entry(self.path[at - 1].0).or_default() += 1.0;
            }
        }
    }

    /// Lets everything seen so far count for `factor` of what it did.
    pub(crate) fn fade(&mut self, factor: f64) {
        self.total *= factor;
        self.functions.retain(|_, seen| {
            seen.inclusive *= factor;
            seen.innermost *= factor;
            seen.twice *= factor;
            seen.directly *= factor;
            seen.callers.values_mut().for_each(|weight| *weight *= factor);
            seen.places.values_mut().for_each(|weight| *weight *= factor);
            seen.inclusive > 0.5
        });
    }

    /// Recent samples, faded.
    pub(crate) fn total(&self) -> f64 {
        self.total
    }

    /// The functions to count now, the largest share first.
    pub(crate) fn choices(&self) -> Vec<Choice> {
        if self.total < SAMPLES {
            return Vec::new();
        }
        let share = |seen: &Seen| seen.inclusive / self.total;
        let large = |function: &u32| self.functions.get(function).is_some_and(|seen| share(seen) >= SHARE);
        let mut choices: Vec<Choice> = self
            .functions
            .iter()
            .filter_map(|(function, seen)| {
                let often = |weight: f64| weight > RECURSIVE * seen.inclusive;
                let recursive = often(seen.twice);
                let caller = seen.callers.iter().max_by(|a, b| a.1.total_cmp(b.1)).map(|(caller, _)| *caller);
                let wanted = share(seen) >= SHARE
                    || (!recursive
                        && share(seen) >= SHARE_OF_CALLEE
                        && seen.inclusive >= 2.0
                        && caller.as_ref().is_some_and(large));
                wanted.then(|| Choice {
                    function: *function,
                    share: share(seen),
                    innermost: seen.innermost / self.total,
                    samples: self.total,
                    recursive,
                    calls_itself: recursive || often(seen.directly),
                    caller,
                    places: self.places(seen),
                })
            })
            .collect();
        choices.sort_by(|a, b| b.share.total_cmp(&a.share).then(a.function.cmp(&b.function)));
        choices
    }

    fn places(&self, seen: &Seen) -> Vec<(u32, f64)> {
        let shares = || seen.places.iter().map(|(location, weight)| (*location, weight / self.total));
        if shares().map(|(_, share)| share).sum::<f64>() < SHARE { Vec::new() } else { shares().collect() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn recent(stacks: &[(&[u32], usize)]) -> Recent {
        let mut recent = Recent::default();
        for (stack, times) in stacks {
            for _ in 0..*times {
                recent.add(stack.iter().map(|function| (*function, *function)));
            }
        }
        recent
    }

    fn chosen(recent: &Recent) -> Vec<u32> {
        let choices = recent.choices();
        let counted = choices.iter().filter(|choice| !choice.recursive);
        let mut functions: Vec<u32> = counted.map(|choice| choice.function).collect();
        functions.sort();
        functions
    }

    #[test]
    fn functions_with_a_tenth_of_the_time_are_counted_and_what_they_call_from_a_hundredth_on() {
        let recent = recent(&[(&[1, 2, 3], 180), (&[1, 2, 4], 3), (&[1, 5], 12), (&[1, 5, 6], 5)]);
        assert_eq!(chosen(&recent), [1, 2, 3, 4, 5]);
    }

    #[test]
    fn nothing_is_chosen_from_a_handful_of_samples() {
        assert!(chosen(&recent(&[(&[1, 2], 19)])).is_empty());
        assert!(!chosen(&recent(&[(&[1, 2], 20)])).is_empty());
    }

    #[test]
    fn a_function_that_calls_itself_is_told_but_not_counted() {
        let recent = recent(&[(&[1, 2, 3, 2, 3], 100)]);
        assert_eq!(chosen(&recent), [1]);
        assert_eq!(
            recent.choices().iter().filter(|choice| choice.recursive && choice.calls_itself).count(),
            2
        );
    }

    #[test]
    fn a_function_that_calls_itself_directly_is_counted_as_well() {
        let recent = recent(&[(&[1, 2, 2, 2], 100)]);
        assert_eq!(chosen(&recent), [1, 2]);
        let itself: Vec<u32> = recent
            .choices()
            .iter()
            .filter(|choice| choice.calls_itself)
            .map(|choice| choice.function)
            .collect();
        assert_eq!(itself, [2]);
    }

    #[test]
    fn where_a_function_is_that_called_itself_is_where_its_last_call_is() {
        let mut recent = Recent::default();
        for _ in 0..100 {
            recent.add([(1, 10), (2, 20), (2, 21), (2, 22)].into_iter());
        }
        let choices = recent.choices();
        let places = choices.iter().find(|choice| choice.function == 2).map(|choice| choice.places.clone());
        assert_eq!(places, Some(vec![(22, 1.0)]));
    }

    #[test]
    fn where_a_function_is_that_others_call_again_is_where_it_is_last() {
        let mut recent = Recent::default();
        for _ in 0..100 {
            recent.add([(1, 10), (2, 20), (3, 30), (2, 21), (3, 31), (2, 22)].into_iter());
        }
        let choices = recent.choices();
        let of = |function| choices.iter().find(|choice| choice.function == function).cloned();
        let two = of(2).expect("it is hot");
        assert_eq!((two.places, two.innermost, two.recursive), (vec![(22, 1.0)], 1.0, true));
        assert_eq!(of(3).map(|three| (three.places, three.innermost)), Some((vec![(31, 1.0)], 0.0)));
    }

    #[test]
    fn what_was_hot_long_ago_fades() {
        let mut recent = recent(&[(&[1, 2], 100)]);
        for _ in 0..10 {
            recent.fade(0.5);
        }
        for _ in 0..50 {
            recent.add([(1, 1), (3, 3)].into_iter());
        }
        assert_eq!(chosen(&recent), [1, 3]);
    }

    #[test]
    fn the_innermost_function_is_the_one_that_works() {
        let choices = recent(&[(&[1, 2, 3], 60), (&[1, 2], 40)]).choices();
        let innermost =
            |function| choices.iter().find(|one| one.function == function).map(|one| one.innermost);
        assert_eq!((innermost(1), innermost(2), innermost(3)), (Some(0.0), Some(0.4), Some(0.6)));
    }

    #[test]
    fn places_are_told_of_functions_that_work_near_the_innermost_frame() {
        let mut recent = Recent::default();
        for at in 0..100 {
            recent.add([(1, 10), (2, 20), (3, 30), (4, 40), (5, 50 + at % 2)].into_iter());
        }
        let choices = recent.choices();
        let places = |function| {
            let choice = choices.iter().find(|choice| choice.function == function);
            let mut places = choice.map(|choice| choice.places.clone()).unwrap_or_default();
            places.sort_by_key(|(location, _)| *location);
            places
        };
        assert_eq!(places(5), [(50, 0.5), (51, 0.5)]);
        assert_eq!(places(2), [(20, 1.0)]);
        assert_eq!(places(1), []);
    }
}
