//! Functions over the runs of several sizes, and how their instructions, their calls and the instructions of a call rise.

use super::count::Counted;
use crate::scale::Law;
use serde::Serialize;
use slowpath_diagnose::causes::is_runtime;
use slowpath_diagnose::findings::Frame;
use slowpath_stats::power_law;
use std::collections::{BTreeMap, HashMap};

/// Sizes at which a function was called before its laws say anything.
const SIZES: usize = 3;

/// What a function has to do with work that grows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Role {
    /// Each of its calls costs more the larger the input, by its own doing.
    Guilty,
    /// It is called ever more often by a guilty one; a call costs the same.
    Victim,
}

/// A function as counted at each size.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Counts {
    /// Its name.
    pub function: String,
    /// File name of its executable or library.
    pub module: String,
    /// Its source file, where known.
    pub file: Option<String>,
    /// Its line, where known.
    pub line: Option<u32>,
    /// Guilty or a victim; none for all others.
    pub role: Option<Role>,
    /// Instructions of it and what it calls, at each size.
    pub instructions: Vec<f64>,
    /// Instructions of its own code, at each size.
    pub own: Vec<f64>,
    /// Calls from outside of itself, at each size.
    pub calls: Vec<f64>,
    /// How `instructions` rise; none where it was not called at three sizes.
    pub law: Option<Law>,
    /// How `calls` rise.
    pub calls_law: Option<Law>,
    /// How the instructions of one call rise.
    pub call_law: Option<Law>,
}

/// One function, with what only judging needs.
pub(super) struct Of {
    pub counts: Counts,
    /// It does what it is asked to.
    pub runtime: bool,
    /// Its callers, by place, with calls and instructions under it at each size.
    pub callers: BTreeMap<usize, (Vec<f64>, Vec<f64>)>,
}

impl Of {
    /// Instructions of a call at each size; 0 where there was none.
    pub(super) fn each(&self) -> Vec<f64> {
        each(&self.counts.instructions, &self.counts.calls)
    }
}

/// Of a call, where there was one.
pub(super) fn each(instructions: &[f64], calls: &[f64]) -> Vec<f64> {
    instructions.iter().zip(calls).map(|(all, calls)| if *calls > 0.0 { all / calls } else { 0.0 }).collect()
}

/// All functions, those with the most instructions at the largest size first.
pub(super) struct Across {
    pub sizes: Vec<f64>,
    pub functions: Vec<Of>,
    /// Instructions of the whole, at each size.
    pub totals: Vec<f64>,
}

/// Name, module and file of a function.
type Key = (String, String, String);

impl Across {
    pub(super) fn new(counted: &[(f64, Counted)]) -> Across {
        let sizes: Vec<f64> = counted.iter().map(|(size, _)| *size).collect();
        let mut numbers: HashMap<Key, usize> = HashMap::new();
        let mut functions: Vec<Of> = Vec::new();
        for (at, (_, counted)) in counted.iter().enumerate() {
            let places: Vec<usize> = counted
                .functions
                .iter()
                .map(|function| {
                    let module = function.object.rsplit('/').next().unwrap_or_default().to_owned();
                    let key = (function.name.clone(), module, function.file.clone());
                    let place = *numbers.entry(key.clone()).or_insert_with(|| {
                        functions.push(empty(key, sizes.len()));
                        functions.len() - 1
                    });
                    let counts = &mut functions[place].counts;
                    counts.line = counts.line.or(function.line);
                    // The same program may be there under two paths.
                    counts.instructions[at] += function.inclusive as f64;
                    counts.own[at] += function.own as f64;
                    counts.calls[at] += function.calls as f64;
                    place
                })
                .collect();
            for (function, place) in counted.functions.iter().zip(&places) {
                for caller in &function.callers {
                    let Some(from) = places.get(caller.function) else { continue };
                    let none = || (vec![0.0; sizes.len()], vec![0.0; sizes.len()]);
                    let sum = functions[*place].callers.entry(*from).or_insert_with(none);
                    sum.0[at] += caller.calls as f64;
                    sum.1[at] += caller.inclusive as f64;
                }
            }
        }
        for function in &mut functions {
            let each = function.each();
            let counts = &mut function.counts;
            let law = |costs: &[f64]| law(&sizes, costs);
            (counts.law, counts.calls_law, counts.call_law) =
                (law(&counts.instructions), law(&counts.calls), law(&each));
        }
        let totals = counted.iter().map(|(_, counted)| counted.instructions as f64).collect();
        sorted(Across { sizes, functions, totals })
    }

    /// Its share of the instructions at the largest size.
    pub(super) fn share(&self, function: &Of) -> f64 {
        last(&function.counts.instructions) / last(&self.totals).max(1.0)
    }

    /// For each function whether it only starts the program: what stands outside of `main`.
    pub(super) fn starts(&self) -> Vec<bool> {
        let main = self.functions.iter().position(|function| function.counts.function == "main");
        main.map_or_else(|| vec![false; self.functions.len()], |main| self.callers(main))
    }

    /// Those through which a function is called, at the largest size, itself not among them.
    pub(super) fn callers(&self, function: usize) -> Vec<bool> {
        let mut seen = vec![false; self.functions.len()];
        let mut open = vec![function];
        while let Some(at) = open.pop() {
            for (caller, (calls, _)) in &self.functions[at].callers {
                if last(calls) > 0.0 && *caller != function && !std::mem::replace(&mut seen[*caller], true) {
                    open.push(*caller);
                }
            }
        }
        seen
    }
}

fn empty((function, module, file): Key, sizes: usize) -> Of {
    let none = || vec![0.0; sizes];
    let file = (!file.is_empty()).then_some(file);
    let frame = Frame {
        function_id: None,
        function: function.clone(),
        module: module.clone(),
        file: file.clone(),
        line: None,
    };
    // What starts a program stands outside of it.
    let runtime = is_runtime(&frame) || function == "(below main)" || function.starts_with("0x");
    let counts = Counts {
        function,
        module,
        file,
        line: None,
        role: None,
        instructions: none(),
        own: none(),
        calls: none(),
        law: None,
        calls_law: None,
        call_law: None,
    };
    Of { counts, runtime, callers: BTreeMap::new() }
}

/// The most costly first; places of callers follow.
fn sorted(across: Across) -> Across {
    let mut order: Vec<usize> = (0..across.functions.len()).collect();
    let key = |at: &usize| &across.functions[*at].counts;
    order.sort_by(|a, b| {
        last(&key(b).instructions)
            .total_cmp(&last(&key(a).instructions))
            .then_with(|| (&key(a).function, &key(a).module).cmp(&(&key(b).function, &key(b).module)))
    });
    let mut place = vec![0; order.len()];
    for (to, from) in order.iter().enumerate() {
        place[*from] = to;
    }
    let mut functions: Vec<Option<Of>> = across.functions.into_iter().map(Some).collect();
    let functions = order.into_iter().filter_map(|at| functions[at].take()).map(|mut function| {
        function.callers = function.callers.into_iter().map(|(from, sums)| (place[from], sums)).collect();
        function
    });
    Across { functions: functions.collect(), ..across }
}

/// A law through the sizes at which there is a cost.
pub(super) fn law(sizes: &[f64], costs: &[f64]) -> Option<Law> {
    let known = sizes.iter().zip(costs).filter(|(_, cost)| **cost > 0.0);
    let (sizes, costs): (Vec<f64>, Vec<f64>) = known.unzip();
    if sizes.len() < SIZES {
        return None;
    }
    power_law(&sizes, &costs).map(Law::from)
}

pub(super) fn last(values: &[f64]) -> f64 {
    values.last().copied().unwrap_or(0.0)
}
