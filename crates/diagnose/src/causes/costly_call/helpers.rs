//! The helpers on a recording's stacks: which count, who calls them, and which of them give something to another thread.

use super::super::runtime::{self, Language};
use crate::Evidence;
use crate::asker::is_of_one_package;
use slowpath_interfaces::{Costly, Helper, costly, without_arguments};
use std::collections::{HashMap, HashSet};

/// Libraries beside a language's that have such helpers: how their file names begin.
const LIBRARIES: [&str; 3] = ["libglib-2.0.", "libunwind", "[vdso]"];

/// A helper on a stack: what it is, its function, whether it gives something to another thread, and who calls it.
#[derive(Clone, Copy)]
pub(super) struct Call {
    pub(super) costly: &'static Costly,
    pub(super) helper: u32,
    pub(super) gives: bool,
    /// The function that it is in, and the program's own that was inlined there.
    pub(super) asker: Option<u32>,
    pub(super) own: Option<u32>,
}

/// The helpers among the functions of a recording, and where they are.
pub(super) struct Helpers {
    /// By function.
    known: Vec<Vec<Helper>>,
    /// By location: the outermost of those that were inlined there, or that it is in.
    pub(super) at: Vec<Option<u32>>,
    /// By stack: whether one is on it.
    on: Vec<bool>,
    /// By function: it is of a language's runtime.
    foreign: Vec<bool>,
    /// Places that call a helper which gives something there, as seen by what it calls.
    giving: HashSet<u32>,
}

impl Helpers {
    pub(super) fn of(evidence: &Evidence<'_>) -> Helpers {
        let tables = &evidence.recording.tables;
        let known: Vec<_> =
            (0..tables.functions.len() as u32).map(|function| helpers(evidence, function)).collect();
        let helper_at = |location: u32| {
            let mut frames = evidence.recording.frames_of(location).iter().rev().map(|frame| frame.function);
            frames.find(|function| !known[*function as usize].is_empty())
        };
        let at: Vec<Option<u32>> = (0..tables.locations.len() as u32).map(helper_at).collect();
        let mut on: Vec<bool> = Vec::with_capacity(tables.stacks.len());
        for stack in &tables.stacks {
            let outer = stack.parent.is_some_and(|parent| on[parent as usize]);
            on.push(outer || at[stack.location as usize].is_some());
        }
        let is_runtime = |function: u32| runtime::is_name(&evidence.frame(function));
        let foreign = (0..tables.functions.len() as u32).map(is_runtime).collect();
        let giving = giving(evidence, &known, &at, &on);
        Helpers { known, at, on, foreign, giving }
    }

    /// Whether a function is a helper of one kind.
    pub(super) fn is_listed(&self, function: u32, kind: &Costly) -> bool {
        self.known[function as usize].iter().any(|one| one.kind.kind == kind.kind)
    }

    /// The outermost one on a stack that counts.
    pub(super) fn call(&self, evidence: &Evidence<'_>, stack: u32) -> Option<Call> {
        if !self.on[stack as usize] {
            return None;
        }
        let locations: Vec<u32> = evidence.locations(stack).collect();
        (0..locations.len()).rev().find_map(|at| self.call_at(evidence, &locations, at))
    }

    /// The one at a place of a stack, of which these are the locations, if there is one that counts.
    fn call_at(&self, evidence: &Evidence<'_>, locations: &[u32], at: usize) -> Option<Call> {
        let helper = self.at[locations[at] as usize]?;
        let module = evidence.module(helper);
        let library = !evidence.is_program(&module);
        let is_own = |function: u32| {
            let of_it = match library {
                true => evidence.module(function) == module,
                false => is_of_one_package(evidence.name(function), evidence.name(helper)),
            };
            !of_it && !self.foreign[function as usize]
        };
        // The functions around it, with where each is: it may have been inlined into whoever calls it, and that into the runtime that starts a thread.
        let mut around = locations[at..].iter().flat_map(|location| {
            evidence.recording.frames_of(*location).iter().map(|frame| (frame.function, *location))
        });
        around.find(|(function, _)| *function == helper)?;
        let mut around = around.peekable();
        let direct = around.peek().map(|(function, _)| *function);
        let caller = direct.map(|function| evidence.name(function));
        let of = self.known[helper as usize].iter().find(|one| one.is_one_for(caller))?;
        let at_giver = || locations.get(at + 1).is_some_and(|caller| self.giving.contains(caller));
        let (costly, gives) = (of.kind, of.gives || of.kind.may_give() && at_giver());
        if costly.direct && !direct.is_some_and(is_own)
            || is_needed(evidence, costly, &locations[..=at], helper, is_own)
        {
            return None;
        }
        // Go's runtime looks at the clock for reasons of its own.
        let of_go = direct.is_some_and(|direct| evidence.name(direct).starts_with("runtime."));
        if of_go && Language::of(evidence.name(helper)) == Language::C {
            return None;
        }
        let asker = around.find(|(function, _)| is_own(*function));
        let own = asker.map(|(function, _)| function);
        let asker = asker.and_then(|(_, location)| evidence.function_at(location));
        Some(Call { costly, helper, gives, asker, own })
    }
}

/// Samples of a place that gives, before it counts as one: of a select that gives now and then most of the time may go to what it takes.
const GIVES_SEEN: usize = 3;

/// The places that call a helper of which samples below it show that it gives something there, and at least as often as it takes: one function of Go gives in
/// one place and takes in another.
fn giving(evidence: &Evidence<'_>, known: &[Vec<Helper>], at: &[Option<u32>], on: &[bool]) -> HashSet<u32> {
    let may_give: Vec<bool> = known.iter().map(|of| of.iter().any(|helper| helper.kind.may_give())).collect();
    if !may_give.contains(&true) {
        return HashSet::new();
    }
    // Where a helper is called, and whether it gives there.
    let seen = |stack: u32| -> Option<(u32, bool)> {
        let locations: Vec<u32> = evidence.locations(stack).collect();
        let helper = |location: &u32| at[*location as usize].filter(|helper| may_give[*helper as usize]);
        let place = locations.iter().rposition(|location| helper(location).is_some())?;
        let helpers = &known[helper(&locations[place])? as usize];
        let mut below =
            locations[..=place].iter().flat_map(|location| evidence.recording.frames_of(*location));
        let gives = below.find_map(|frame| {
            helpers.iter().find_map(|one| one.kind.gives_by(evidence.name(frame.function)))
        })?;
        Some((*locations.get(place + 1)?, gives))
    };
    let mut by_stack: HashMap<u32, Option<(u32, bool)>> = HashMap::new();
    let mut places: HashMap<u32, (usize, usize)> = HashMap::new();
    let samples = evidence.recording.tables.samples.iter().filter(|sample| sample.on_cpu);
    for stack in samples.filter_map(|sample| sample.stack).filter(|stack| on[*stack as usize]) {
        if let Some((place, gives)) = *by_stack.entry(stack).or_insert_with(|| seen(stack)) {
            let (given, taken) = places.entry(place).or_default();
            *if gives { given } else { taken } += 1;
        }
    }
    let gives = |(given, taken): &(usize, usize)| *given >= GIVES_SEEN.max(*taken);
    places.into_iter().filter(|(_, of)| gives(of)).map(|(place, _)| place).collect()
}

/// Whether what a helper does at the end of a stack, of which these are the locations up to the helper's, is needed in any case: reading and writing itself,
/// copying large blocks, and what functions of the program do that it calls.
fn is_needed(
    evidence: &Evidence<'_>,
    costly: &Costly,
    below: &[u32],
    helper: u32,
    is_own: impl Fn(u32) -> bool,
) -> bool {
    let tables = &evidence.recording.tables;
    let is_kernel = |location: &u32| tables.locations[*location as usize].kind == "kernel";
    let frames = || below.iter().flat_map(|location| evidence.recording.frames_of(*location));
    let mut under = frames().map(|frame| frame.function).take_while(|function| *function != helper);
    costly.user && below.first().is_some_and(is_kernel)
        || under.any(|function| costly.needs(evidence.name(function)) || costly.user && is_own(function))
}

/// The helpers that a function is. A plain name is one only in a library that has it: a program, or another library, may have a `backtrace` of its own.
fn helpers(evidence: &Evidence<'_>, function: u32) -> Vec<Helper> {
    let name = evidence.name(function);
    let found: Vec<Helper> = costly(name).collect();
    let of_library = || {
        let frame = evidence.frame(function);
        runtime::is_name(&frame) || LIBRARIES.iter().any(|start| frame.module.starts_with(start))
    };
    let is_plain = !without_arguments(name).contains(['.', ':']);
    // Names of C++ have their arguments.
    if found.is_empty() || is_plain && !(Language::of(name) == Language::C && of_library()) {
        return Vec::new();
    }
    found
}
