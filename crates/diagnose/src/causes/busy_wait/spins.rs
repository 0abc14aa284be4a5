//! Loops that wait for what another thread changes in memory: each round reads the same places, stores nothing and takes nothing over from the one before. Between
//! two looks such a loop asks at most what time it is, or lets others run.

use super::{CAUSE, GATE};
use crate::Evidence;
use crate::calls::fact;
use crate::candidate::Candidate;
use crate::causes::runtime::{self, Language};
use crate::causes::words::time;
use crate::draft::Draft;
use crate::evidence::heaviest;
use crate::findings::{Basis, Confidence, Cost, Place, Sure};
use crate::walks;
use slowpath_interfaces::without_arguments;
use slowpath_recording::tables::{Loop, Sample};
use std::collections::{BTreeMap, HashMap};

/// What a loop does that waits.
pub(in crate::causes) const SPINS: &str = "spins";
/// Share of a loop's time in the loop itself and in what tells the time: if it calls anything else that takes time, that is work.
const WAITS: f64 = 0.95;
/// A wait shows if so many samples of a thread in a row, at a thousand a second, are in such a loop. A loop that is left in its first round, as where what it waits for is
/// there already, is met now and then.
const IN_A_ROW: usize = 5;
/// Share of the loop's time in such rows.
const MOSTLY: f64 = 0.8;
/// Share of it that the kernel may take beside the clock: interrupts.
const INTERRUPTS: f64 = 0.1;
/// Functions that tell the time or let others run; and what the kernel maps into each process, which only tells the time.
const CLOCKS: [&str; 14] = [
    "time",
    "difftime",
    "clock",
    "clock_gettime",
    "__clock_gettime",
    "gettimeofday",
    "sched_yield",
    "pthread_yield",
    "thrd_yield",
    "std::this_thread::yield",
    "std::thread::yield_now",
    "std::time::Instant::now",
    "std::time::Instant::elapsed",
    "runtime.nanotime1",
];
const NOW: &str = "::now";
const VDSO: &str = "[vdso]";
const STD: &str = "std::";
const GO: &str = "runtime.";
const STUB: &str = "@plt";

/// Time in the loops of a function that wait, ns.
#[derive(Default)]
struct Spun {
    waits: f64,
    other: f64,
    /// Of `waits`: of the kernel, where the loop itself has called it; and in long rows of samples.
    kernel: f64,
    in_rows: f64,
    stacks: BTreeMap<u32, f64>,
}

pub(super) fn find(evidence: &Evidence<'_>) -> Vec<Candidate> {
    let tables = &evidence.recording.tables;
    let mut loops: HashMap<u32, Vec<&Loop>> = HashMap::new();
    for one in &tables.loops {
        // Libraries that share out computations let their threads wait so by design.
        let own = |function: &u32| {
            let frame = evidence.frame(*function);
            evidence.is_program(&frame.module) && !runtime::is_name(&frame)
        };
        if let Some(function) = evidence.function_at(one.location).filter(own) {
            loops.entry(function).or_default().push(one);
        }
    }
    loops.retain(|_, loops| loops.iter().any(|one| one.work == SPINS));
    if loops.is_empty() {
        return Vec::new();
    }
    let mut spun: BTreeMap<(u32, u32), Spun> = BTreeMap::new();
    // The loop that a thread was in last, with how many samples in a row and their time, ns.
    let mut rows: HashMap<u32, ((u32, u32), usize, f64)> = HashMap::new();
    for (sample, weight) in tables.samples.iter().zip(&evidence.weights).filter(|(sample, _)| sample.on_cpu) {
        let here = met(evidence, &loops, sample);
        let Some(met) = here else {
            if let Some((of, number, ns)) = rows.remove(&sample.thread) {
                end_row(&mut spun, of, number, ns);
            }
            continue;
        };
        let of = (evidence.process_of(sample), met.function);
        let row = rows.entry(sample.thread).or_insert((of, 0, 0.0));
        if row.0 != of {
            let (before, number, ns) = std::mem::replace(row, (of, 0, 0.0));
            end_row(&mut spun, before, number, ns);
        }
        (row.1, row.2) = (row.1 + 1, row.2 + weight);
        let spun = spun.entry(of).or_default();
        *(if met.waits { &mut spun.waits } else { &mut spun.other }) += weight;
        spun.kernel += if met.kernel { *weight } else { 0.0 };
        if let Some(stack) = sample.stack {
            *spun.stacks.entry(stack).or_default() += weight;
        }
    }
    rows.into_values().for_each(|(of, number, ns)| end_row(&mut spun, of, number, ns));
    spun.iter()
        .filter_map(|((process, function), spun)| finding(evidence, *process, *function, spun))
        .collect()
}

fn end_row(spun: &mut BTreeMap<(u32, u32), Spun>, of: (u32, u32), number: usize, ns: f64) {
    if number >= IN_A_ROW {
        spun.entry(of).or_default().in_rows += ns;
    }
}

/// A sample in a loop that waits.
struct Met {
    function: u32,
    /// All that the loop has called only tells the time.
    waits: bool,
    /// It is in the kernel, and not by way of the clock.
    kernel: bool,
}

fn met(evidence: &Evidence<'_>, loops: &HashMap<u32, Vec<&Loop>>, sample: &Sample) -> Option<Met> {
    let locations = &evidence.recording.tables.locations;
    let (mut waits, mut in_kernel, mut clock) = (true, false, false);
    for location in evidence.locations(sample.stack?) {
        let row = &locations[location as usize];
        let Some(function) = evidence.function_at(location).filter(|_| row.kind != "kernel") else {
            in_kernel |= row.kind == "kernel";
            waits &= row.kind == "kernel";
            continue;
        };
        if let Some(loops) = loops.get(&function) {
            let start = locations.get(loops[0].location as usize)?.address;
            innermost(start, row.address, loops).filter(|one| one.work == SPINS)?;
            return Some(Met { function, waits, kernel: in_kernel && !clock });
        }
        let tells = is_clock(evidence, function);
        clock |= tells;
        waits &= tells;
    }
    None
}

/// The smallest loop around an address of a function that begins at `start`.
fn innermost<'a>(start: u64, address: u64, loops: &[&'a Loop]) -> Option<&'a Loop> {
    let offset = address.checked_sub(start)?;
    let around = loops.iter().filter(|one| walks::holds(one, offset));
    around.min_by_key(|one| walks::size(one)).copied()
}

fn is_clock(evidence: &Evidence<'_>, function: u32) -> bool {
    let frame = evidence.frame(function);
    let name = without_arguments(&frame.function);
    // A program's own function of such a name may do anything; its stub only goes to the library's.
    let (name, stub) = name.strip_suffix(STUB).map_or((name, false), |name| (name, true));
    let library =
        stub || !evidence.is_program(&frame.module) || name.starts_with(STD) || name.starts_with(GO);
    frame.module == VDSO || library && (CLOCKS.contains(&name) || name.ends_with(NOW))
}

fn finding(evidence: &Evidence<'_>, process: u32, function: u32, spun: &Spun) -> Option<Candidate> {
    let cost = spun.waits;
    let in_loop = cost + spun.other;
    let long = spun.in_rows >= MOSTLY * in_loop && spun.kernel <= INTERRUPTS * in_loop;
    if cost < WAITS * in_loop || !long || !GATE.may_pass(evidence, cost) {
        return None;
    }
    let stack = heaviest(&spun.stacks);
    let path = stack.map_or_else(Vec::new, |stack| evidence.path_at(stack, function));
    let name = evidence.frame(function).function;
    let draft = Draft {
        variant: "spins",
        explanation: vec![
            format!(
                "{name} loops: in all rounds, or all but a few, it reads the same memory again (and at most the clock) and changes nothing. It waits for another thread, or for a point in time"
            ),
            format!(
                "this used {} of CPU time. The elapsed time gets shorter only if other threads or programs need a CPU meanwhile",
                time(cost)
            ),
        ],
        facts: vec![fact("CPU time in the loop", cost, "ns", Sure::Sampled)],
        advice: format!(
            "Wait for the event: {}. Where answers must come within a microsecond, spin for a few rounds and then wait",
            match Language::of(&name) {
                Language::Go => "a channel or a sync.Cond that the other goroutine signals",
                Language::Rust => "std::sync::Condvar, a channel or a barrier",
                Language::Cpp =>
                    "a std::condition_variable that the other thread signals, a future or a barrier",
                Language::C =>
                    "pthread_cond_wait, and pthread_cond_signal in the other thread; a semaphore or a futex",
            }
        ),
        ..Draft::new(
            &CAUSE,
            "waits in a loop without sleeping",
            Confidence::Likely,
            Cost::new(Basis::Cpu, cost, cost),
            Place::at_end_of(path, || evidence.whole_process(process)),
        )
    };
    Some(draft.candidate(evidence, GATE, process))
}
