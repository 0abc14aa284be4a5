//! Code that was built without optimisation: a program, or a library of it, that works for much of its time.
//!
//! How a function was built is known since names were found (`resolve`), from its compiler or from its instructions. All that is unoptimised in one module is one finding, since it is one setting of one build.

use super::words::count;
use super::{Find, Needs, Spec};
use crate::Evidence;
use crate::calls::{Calls, place, some};
use crate::candidate::Candidate;
use crate::draft::Draft;
use crate::evidence::heaviest;
use crate::findings::{Basis, Confidence, Cost, Fact, Sure};
use crate::gate::{Gate, Whole};
use slowpath_recording::tables::Built;
use std::collections::{BTreeMap, BTreeSet};

/// See the file's head.
pub(super) const CAUSE: Spec = Spec {
    slug: "unoptimized-build",
    title: "built without optimization",
    symptom: "much work is done by code that was compiled without -O, as in a debug build",
    not_known: "with which options it was compiled: this is concluded from its code",
    page: include_str!("../../../../docs/causes/unoptimized-build.md"),
    needs: &[Needs::Builds],
    find: Find::InRecording(find),
};

/// Share of the CPU time spent in such code from which it matters: twice as quick, a sixth of the time goes.
const MUCH: f64 = 0.3;
/// Half of that share must go, and be noticed. Of the elapsed time, if that is longer: an option helps nobody who waits.
const GATE: Gate = Gate { share: 0.15, least: 50e6, of: Whole::Longer };
/// Samples in such code that it takes: of fewer the share is not known to a third.
const SAMPLES: u64 = 30;

/// What goes of the time: at -O2 zlib's sums, bzip2 and zstd took 1.5 to 9.6 times less CPU time than at -O0 (GCC 12, Clang 14); in
/// six of eight measurements more than 1.9 times less, in the others 1.5 and 1.8; the median was 3.1.
const OF_C: f64 = 0.5;
/// In C++ and Rust every small function of a container is a call as long as nothing is inlined: three measurements gave 2.6, 16 and 17 times
/// less, so at the lowest 0.62 of the time goes.
const OF_TEMPLATES: f64 = 0.6;

/// Code of one module, in all processes.
#[derive(Default)]
struct Code {
    samples: u64,
    processes: BTreeMap<u32, f64>,
    ns: f64,
    /// By the program's own function that it worked for: time, and a stack with the most.
    askers: BTreeMap<Option<u32>, (f64, BTreeMap<u32, f64>)>,
    functions: BTreeMap<u32, f64>,
}

fn find(evidence: &Evidence<'_>) -> Vec<Candidate> {
    let tables = &evidence.recording.tables;
    let builds: BTreeMap<u32, &Built> =
        tables.builds.iter().filter(|built| !built.optimized).map(|built| (built.function, built)).collect();
    if builds.is_empty() {
        return Vec::new();
    }
    let calls = Calls::new(evidence);
    let mut codes: BTreeMap<Option<u32>, Code> = BTreeMap::new();
    for (sample, weight) in tables.samples.iter().zip(&evidence.weights).filter(|(sample, _)| sample.on_cpu) {
        let Some(stack) = sample.stack else { continue };
        let function = evidence.function_at(tables.stacks[stack as usize].location);
        let Some(function) = function.filter(|function| builds.contains_key(function)) else { continue };
        let module = tables.functions[function as usize].module;
        let code = codes.entry(module).or_default();
        code.samples += 1;
        *code.processes.entry(evidence.process_of(sample)).or_default() += weight;
        code.ns += weight;
        *code.functions.entry(function).or_default() += weight;
        let (of_asker, stacks) = code.askers.entry(calls.own_of(stack)).or_default();
        *of_asker += weight;
        *stacks.entry(stack).or_default() += weight;
    }
    codes.values().filter_map(|code| finding(evidence, &calls, code, &builds)).collect()
}

fn finding(
    evidence: &Evidence<'_>,
    calls: &Calls<'_>,
    code: &Code,
    builds: &BTreeMap<u32, &Built>,
) -> Option<Candidate> {
    let gain: f64 = code.functions.iter().map(|(function, ns)| *ns * saved(evidence, *function)).sum();
    if code.samples < SAMPLES || code.ns < MUCH * evidence.cpu_ns || !GATE.may_pass(evidence, gain) {
        return None;
    }
    let (process, _) = code.processes.iter().max_by(|a, b| a.1.total_cmp(b.1))?;
    let (asker, (_, stacks)) = code.askers.iter().max_by(|a, b| a.1.0.total_cmp(&b.1.0))?;
    let stack = heaviest(stacks);
    // Of a few small functions that call each other the hottest is so by chance: what calls them is the same in each run.
    let spent: BTreeMap<u32, f64> =
        code.askers.values().flat_map(|(_, stacks)| stacks).map(|(stack, ns)| (*stack, *ns)).collect();
    let around = stack.and_then(|stack| calls.doing(&spent, stack));
    let (stack, own) = around.map_or((stack, *asker), |(stack, own)| (Some(stack), Some(own)));
    let mut functions: Vec<(&u32, &f64)> = code.functions.iter().collect();
    functions.sort_by(|a, b| b.1.total_cmp(a.1));
    let (hottest, _) = functions.first()?;
    let module = evidence.module(**hottest);
    let noted: f64 =
        functions.iter().filter(|(function, _)| is_noted(builds, **function)).map(|(_, ns)| **ns).sum();
    let is_noted = noted > 0.5 * code.ns;
    let compilers: BTreeSet<&str> = functions
        .iter()
        .filter_map(|(function, _)| builds.get(function))
        .map(|built| built.compiler.as_str())
        .collect();
    let compilers: Vec<String> =
        compilers.into_iter().filter(|name| !name.is_empty()).map(str::to_owned).collect();
    let by = if compilers.is_empty() { String::new() } else { format!(" by {}", some(&compilers, 2)) };
    let names: Vec<String> =
        functions.iter().map(|(function, _)| evidence.name(**function).to_owned()).collect();
    let share = 100.0 * code.ns / evidence.cpu_ns.max(1.0);
    let draft = Draft {
        gain_is_least: true,
        explanation: vec![
            format!("{share:.0} % of the CPU time was spent in {} of {module} compiled without optimization{by}: {}",
                if names.len() == 1 { "a function".to_owned() } else { format!("{} functions", count(names.len() as f64)) },
                some(&names, 3)),
            match is_noted {
                true => "the compiler noted its options in the debug information: optimization is off".to_owned(),
                false => "the machine code shows it: variables are loaded from memory and stored again in every statement".to_owned(),
            },
            "the gain is a cautious estimate of what optimization saves in such code; it often saves more".to_owned(),
        ],
        facts: vec![Fact::new("share of the CPU time", share, "%", "samples", Sure::Sampled)],
        advice: advice(&compilers),
        related: functions.iter().take(5).map(|(function, _)| evidence.frame(**function)).collect(),
        ..Draft::new(
            &CAUSE,
            format!("{module} was built without optimization"),
            if is_noted { Confidence::Certain } else { Confidence::Likely },
            Cost::new(Basis::Cpu, code.ns, gain),
            place(evidence, stack, own, *process),
        )
    };
    Some(draft.candidate(evidence, GATE, *process))
}

/// The share of its time that goes at least.
fn saved(evidence: &Evidence<'_>, function: u32) -> f64 {
    // Names in C++ and Rust have scopes.
    if evidence.name(function).contains("::") { OF_TEMPLATES } else { OF_C }
}

fn advice(compilers: &[String]) -> String {
    let of = |name: &str| compilers.iter().any(|compiler| compiler.contains(name));
    if of("rustc") {
        "Build with optimization: cargo build --release, or opt-level = 2 in the profile (for dependencies only: \
         [profile.dev.package.\"*\"])"
    } else if of("Go cmd") {
        "Build without -gcflags=-N"
    } else {
        "Build with optimization: -O2 in CFLAGS or CXXFLAGS, CMAKE_BUILD_TYPE=Release, --buildtype=release with meson, cargo build --release"
    }
    .to_owned()
}

fn is_noted(builds: &BTreeMap<u32, &Built>, function: u32) -> bool {
    builds.get(&function).is_some_and(|built| built.known_by == "compiler")
}
