//! The slices of a process: joined two by two whenever there are too many, so that a run of any length has between half as
//! many and as many as that, each about as long.

use slowpath_formats::callgrind;
use std::collections::{BTreeMap, HashMap};

/// Slices of a process at most.
const MOST: usize = 256;

/// What a function cost in a slice.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Cost {
    pub calls: u64,
    pub own: u64,
    pub inclusive: u64,
}

/// One slice; functions are numbers of [`Names`].
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct One {
    pub functions: BTreeMap<u32, Cost>,
    /// From caller to callee: calls, and their instructions.
    pub calls: BTreeMap<(u32, u32), (u64, u64)>,
}

impl One {
    fn add(&mut self, other: One) {
        for (function, cost) in other.functions {
            let sum = self.functions.entry(function).or_default();
            sum.calls = sum.calls.saturating_add(cost.calls);
            sum.own = sum.own.saturating_add(cost.own);
            sum.inclusive = sum.inclusive.saturating_add(cost.inclusive);
        }
        for (call, (calls, inclusive)) in other.calls {
            let sum = self.calls.entry(call).or_default();
            *sum = (sum.0.saturating_add(calls), sum.1.saturating_add(inclusive));
        }
    }
}

/// See the file's head.
#[derive(Default)]
pub(super) struct Slices {
    whole: Vec<One>,
    /// The next one, of so many dumps.
    next: One,
    dumps: usize,
    /// Dumps that make a slice, less one.
    more: usize,
}

impl Slices {
    pub(super) fn push(&mut self, dump: One) {
        self.next.add(dump);
        self.dumps += 1;
        if self.dumps <= self.more {
            return;
        }
        self.whole.push(std::mem::take(&mut self.next));
        self.dumps = 0;
        if self.whole.len() >= MOST {
            self.more = 2 * self.more + 1;
            let mut slices = std::mem::take(&mut self.whole).into_iter();
            while let Some(mut slice) = slices.next() {
                slice.add(slices.next().unwrap_or_default());
                self.whole.push(slice);
            }
        }
    }

    pub(super) fn instructions(&self) -> u64 {
        let all = self.whole.iter().chain([&self.next]).flat_map(|slice| slice.functions.values());
        all.map(|cost| cost.own).sum()
    }
}

impl IntoIterator for Slices {
    type Item = One;
    type IntoIter = std::iter::Chain<std::vec::IntoIter<One>, std::option::IntoIter<One>>;

    fn into_iter(self) -> Self::IntoIter {
        let rest = (!self.next.functions.is_empty()).then_some(self.next);
        self.whole.into_iter().chain(rest)
    }
}

/// A function.
pub(super) struct Name {
    pub name: String,
    pub module: Option<u32>,
    pub file: Option<String>,
    pub line: Option<u32>,
}

/// Functions and modules of the whole recording, each once.
#[derive(Default)]
pub(super) struct Names {
    pub functions: Vec<Name>,
    pub modules: Vec<String>,
    numbers: HashMap<(String, String, String), u32>,
}

impl Names {
    /// A dump as a slice.
    pub(super) fn slice(&mut self, functions: &[callgrind::Function]) -> One {
        let numbers: Vec<u32> = functions.iter().map(|function| self.number(function)).collect();
        let mut one = One::default();
        for (function, number) in functions.iter().zip(&numbers) {
            let cost = one.functions.entry(*number).or_default();
            cost.calls += function.calls;
            cost.own += function.own;
            cost.inclusive += function.inclusive;
            for caller in &function.callers {
                if let Some(from) = numbers.get(caller.function) {
                    let sum = one.calls.entry((*from, *number)).or_default();
                    *sum = (sum.0 + caller.calls, sum.1 + caller.inclusive);
                }
            }
        }
        one
    }

    fn number(&mut self, function: &callgrind::Function) -> u32 {
        let key = (function.name.clone(), function.object.clone(), function.file.clone());
        if let Some(number) = self.numbers.get(&key) {
            let known = &mut self.functions[*number as usize];
            known.line = known.line.or(function.line);
            return *number;
        }
        let module = (!function.object.is_empty()).then(|| {
            let known = self.modules.iter().position(|path| *path == function.object);
            known.unwrap_or_else(|| {
                self.modules.push(function.object.clone());
                self.modules.len() - 1
            }) as u32
        });
        let number = self.functions.len() as u32;
        self.functions.push(Name {
            name: function.name.clone(),
            module,
            file: (!function.file.is_empty()).then(|| function.file.clone()),
            line: function.line,
        });
        self.numbers.insert(key, number);
        number
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn dump(calls: u64) -> One {
        One {
            functions: BTreeMap::from([(0, Cost { calls, own: 10, inclusive: 10 })]),
            calls: BTreeMap::from([((1, 0), (calls, 10))]),
        }
    }

    #[test]
    fn however_many_dumps_there_are_the_slices_are_few_and_alike_and_nothing_is_lost() {
        for dumps in [1, 5, MOST - 1, MOST, MOST + 1, 1000, 5000] {
            let mut slices = Slices::default();
            (0..dumps).for_each(|_| slices.push(dump(3)));
            assert_eq!(slices.instructions(), 10 * dumps as u64);
            let all: Vec<One> = slices.into_iter().collect();
            assert!(all.len() <= MOST && all.len() >= dumps.min(MOST / 2), "{dumps}: {}", all.len());
            let calls: Vec<u64> = all.iter().map(|slice| slice.functions[&0].calls).collect();
            assert_eq!(calls.iter().sum::<u64>(), 3 * dumps as u64);
            let whole = &calls[..calls.len() - 1];
            assert!(whole.iter().all(|one| *one == calls[0]), "{dumps}: {calls:?}");
            assert_eq!(all.iter().map(|slice| slice.calls[&(1, 0)].1).sum::<u64>(), 10 * dumps as u64);
        }
    }
}
