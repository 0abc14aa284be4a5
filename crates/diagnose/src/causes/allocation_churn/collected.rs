//! Memory that a collector of garbage takes back, in Go: far more is allocated than the program ever has at a time, and allocating and collecting it
//! takes a good part of the CPU time.
//!
//! Bursts of probes where memory is allocated say how large the pieces are; samples say who asks for them, and what the collector takes, which is
//! divided among those who allocate. How many pieces there are follows from the time that allocating them takes: counting them all would take longer than the
//! program.

use super::asked::{Allocating, passes};
use super::{CAUSE, NOTED, SEEN};
use crate::Evidence;
use crate::candidate::Candidate;
use crate::causes::words::{size, time};
use crate::draft::Draft;
use crate::evidence::heaviest;
use crate::findings::{Basis, Confidence, Cost, Fact, Sure};
use crate::gate::Gate;
use crate::walks::Entries;
use slowpath_interfaces::{Memory, memory};
use std::collections::{BTreeMap, HashMap, HashSet};

/// Decoding JSON into a structure, as it should be done, took 24 %.
const GATE: Gate = Gate { share: 0.30, ..Gate::TENTH_OF_CPU };
/// Share of the time in allocating that one function must ask for: else it is spread over all of the program.
const ALONE: f64 = 0.6;
/// … and where it was inlined into several, one of these for so much of it: it was 57 % in go-diff.
const IN_ONE: f64 = 0.5;
/// How much must be allocated in all, as a multiple of the largest resident size: a program that keeps all has one, and one that replaces all of it
/// a few times has some.
const TIMES: f64 = 8.0;
/// What a piece costs at most, on average: so much, and so much for each byte that is cleared, ns: twice what was measured. Pieces of 16 to 46 bytes took 20 to
/// 32 ns in three programs, and those of 1 MiB 0.05 ns a byte (samples, and `runtime.MemStats`).
const PIECE_NS: f64 = 60.0;
const BYTE_NS: f64 = 0.1;

/// Go's runtime takes pieces of more bytes from its heap one by one, whole pages each: that clears them, and is no matter of short texts.
const LARGE: f64 = 32_768.0;

/// Samples of goroutines that yield, before they say who does: of fewer one more or less would change it by a quarter.
const YIELDS: usize = 5;

/// Time that a function's asking takes, ns.
#[derive(Default)]
struct Spent {
    ns: f64,
    stacks: BTreeMap<u32, f64>,
    /// The function that it is part of, by stack: another one where it was inlined.
    within: HashMap<u32, u32>,
}

impl Spent {
    /// A helper that all of the program uses asks for none of it.
    fn is_mostly_in_one(&self) -> bool {
        let mut places: BTreeMap<u32, f64> = BTreeMap::new();
        for (stack, ns) in &self.stacks {
            *places.entry(self.within[stack]).or_default() += ns;
        }
        places.values().any(|ns| *ns >= IN_ONE * self.ns)
    }
}

/// What a process spends, ns: on what its functions ask for, of that on handing out memory and nothing else, and on what the collector does of its
/// own accord.
#[derive(Default)]
struct Whole {
    asked_ns: f64,
    handing_out_ns: f64,
    collecting_ns: f64,
}

/// Pieces of memory that a process allocates.
#[derive(Debug, Clone, Copy)]
pub(super) struct Pieces {
    noted: usize,
    /// Bytes a piece on average.
    bytes: f64,
}

impl Pieces {
    pub(super) fn of(entries: &Entries<'_>) -> Option<Pieces> {
        let noted = entries.noted();
        let bytes = entries.bursts.iter().flatten().filter_map(|row| row.addresses.first());
        let bytes = bytes.map(|bytes| *bytes as f64).sum::<f64>() / noted.max(1) as f64;
        (noted >= NOTED && entries.bursts.len() >= SEEN).then_some(Pieces { noted, bytes })
    }

    /// How much is allocated at least in so many ns.
    fn in_all(&self, ns: f64) -> f64 {
        self.bytes * ns / (PIECE_NS + BYTE_NS * self.bytes)
    }
}

/// Functions that ask for most of what is allocated, of processes that allocate far more than they have.
pub(super) fn find(
    evidence: &Evidence<'_>,
    allocating: &Allocating,
    pieces: &HashMap<u32, Pieces>,
) -> Vec<Candidate> {
    // By function, and by what was inlined into it.
    let mut spent: [BTreeMap<(u32, u32), Spent>; 2] = Default::default();
    let mut whole: HashMap<u32, Whole> = HashMap::new();
    for one in allocating.asked.iter().filter(|one| pieces.contains_key(&one.process)) {
        let of_process = whole.entry(one.process).or_default();
        if one.takes() && !one.aside {
            of_process.handing_out_ns += one.ns;
        }
        let asker = one.around.first();
        if asker.is_none() && !one.takes() {
            of_process.collecting_ns += one.ns;
            continue;
        }
        of_process.asked_ns += one.ns;
        // Who else asks is not known: a library's own functions, or a stack that was cut.
        let Some(asker) = asker else { continue };
        // What makes a structure, as of trees, allocates what it needs.
        if allocating.recursive.contains(asker) {
            continue;
        }
        for (spent, asks) in spent.iter_mut().zip([*asker, inlined(evidence, one.stack, *asker)]) {
            let of_asker = spent.entry((one.process, asks)).or_default();
            of_asker.ns += one.ns;
            *of_asker.stacks.entry(one.stack).or_default() += one.ns;
            of_asker.within.insert(one.stack, *asker);
        }
    }
    for (process, ns) in yielded(evidence) {
        if let Some(whole) = whole.get_mut(&process) {
            whole.collecting_ns += ns;
        }
    }
    let of = |(at, spent): (&(u32, u32), &Spent)| {
        let whole = &whole[&at.0];
        let (part, collecting) = (spent.ns / whole.asked_ns.max(1.0), whole.collecting_ns);
        let bytes = pieces[&at.0].in_all(whole.handing_out_ns);
        let peak = evidence.recording.tables.processes[at.0 as usize].peak_memory_bytes? as f64;
        let dropped = part >= ALONE && peak > 0.0 && bytes >= TIMES * peak && spent.is_mostly_in_one();
        dropped.then(|| finding(evidence, at.0, spent, part * collecting, (pieces[&at.0], bytes, peak)))?
    };
    let [by_function, by_inlined] = &spent;
    let found: Vec<Candidate> = by_function.iter().filter_map(of).collect();
    if found.is_empty() { by_inlined.iter().filter_map(of).collect() } else { found }
}

/// The innermost function of the program that was inlined into `asker` where that is on this stack; it asks wherever it was inlined.
fn inlined(evidence: &Evidence<'_>, stack: u32, asker: u32) -> u32 {
    let at = evidence.locations(stack).find(|at| evidence.function_at(*at) == Some(asker));
    let frames = at.map_or(&[][..], |at| evidence.recording.frames_of(at));
    let own = frames.iter().map(|frame| frame.function).find(|one| !passes(&evidence.frame(*one)));
    own.unwrap_or(asker)
}

/// What the memory for copies costs that a function has made by `copies`, where a collector takes it back, CPU ns: handing it out, and its part of the collecting. Without the
/// time of `copies` itself. 0 where there is no collector.
pub(in crate::causes) fn garbage_ns(
    evidence: &Evidence<'_>,
    process: u32,
    function: u32,
    copies: u32,
) -> f64 {
    // What the function calls for the copies: it may ask for memory for other things as well.
    let called = |stack: u32| {
        let on: Vec<u32> = evidence.locations(stack).filter_map(|at| evidence.function_at(at)).collect();
        let at = on.iter().position(|one| *one == function).filter(|at| *at > 0)?;
        Some((on[at - 1], on[..at].contains(&copies)))
    };
    let samples = evidence.recording.tables.samples.iter().filter_map(|sample| sample.stack);
    let for_copies: HashSet<u32> =
        samples.filter_map(called).filter(|(_, copies)| *copies).map(|(first, _)| first).collect();
    let allocating = Allocating::of(evidence, &HashSet::from([process]));
    let (mut own, mut asked, mut collecting) = (0.0, 0.0, 0.0);
    for one in &allocating.asked {
        let of_function = called(one.stack);
        if of_function.is_some_and(|(_, copies)| copies) {
            continue;
        }
        match one.around.first() {
            None if !one.takes() => collecting += one.ns,
            asker => {
                asked += one.ns;
                let is_for_copies = of_function.is_some_and(|(first, _)| for_copies.contains(&first));
                own += if asker == Some(&function) && is_for_copies { one.ns } else { 0.0 };
            }
        }
    }
    if collecting == 0.0 {
        return 0.0;
    }
    collecting += yielded(evidence).get(&process).copied().unwrap_or(0.0);
    own + own / f64::max(asked, 1.0) * collecting
}

/// What collecting costs for the sake of what is allocated on stacks that satisfy `is_for`, CPU ns: their part of the time in which memory is handed out, of the
/// collector's own. 0 where there is no collector.
pub(in crate::causes) fn collecting_ns(
    evidence: &Evidence<'_>,
    process: u32,
    is_for: impl Fn(u32) -> bool,
) -> f64 {
    let allocating = Allocating::of(evidence, &HashSet::from([process]));
    let (mut own, mut asked, mut collecting) = (0.0, 0.0, 0.0);
    for one in &allocating.asked {
        if one.around.is_empty() && !one.takes() {
            // What such a stack has to do for the collector is in its own time.
            collecting += if is_for(one.stack) { 0.0 } else { one.ns };
            continue;
        }
        asked += one.ns;
        own += if is_for(one.stack) { one.ns } else { 0.0 };
    }
    if collecting == 0.0 || own == 0.0 {
        return 0.0;
    }
    collecting += yielded(evidence).get(&process).copied().unwrap_or(0.0);
    own / f64::max(asked, 1.0) * collecting
}

/// What Go's collector takes in cycles that the program asks for, on stacks that satisfy `is_asked`, CPU ns, without those stacks: their part of what begins cycles is that of the cycles.
/// Where that is hardly seen, since each cycle takes long, what sweeps counts as well, which the threads of the collector do in part. 0 where too little of both is seen.
pub(in crate::causes) fn asked_for_ns(
    evidence: &Evidence<'_>,
    process: u32,
    is_asked: impl Fn(u32) -> bool,
) -> f64 {
    /// If all of ten samples are of cycles that were asked for three quarters of the cycles are, with 95 % confidence.
    const SAMPLES: usize = 10;
    #[derive(Default)]
    struct Part {
        asked: usize,
        all: usize,
    }
    let (mut begun, mut swept, mut collecting) = (Part::default(), Part::default(), 0.0);
    for (sample, ns) in evidence.recording.tables.samples.iter().zip(&evidence.weights) {
        let Some(stack) = sample.stack.filter(|_| sample.on_cpu && evidence.process_of(sample) == process)
        else {
            continue;
        };
        let names: Vec<&str> = evidence
            .locations(stack)
            .flat_map(|at| evidence.recording.frames_of(at))
            .map(|frame| evidence.name(frame.function))
            .collect();
        let has = |wanted: &str| names.contains(&wanted);
        let of_asked = is_asked(stack);
        swept.all += usize::from(has("runtime.bgsweep"));
        if names.iter().any(|name| name.starts_with("runtime.gcBgMarkWorker")) || has("runtime.bgsweep") {
            collecting += ns;
            continue;
        }
        for (part, is) in [(&mut begun, "runtime.gcStart"), (&mut swept, "runtime.(*sweepLocked).sweep")] {
            part.all += usize::from(has(is));
            part.asked += usize::from(has(is) && of_asked);
        }
    }
    if begun.asked < SAMPLES {
        begun = Part { asked: begun.asked + swept.asked, all: begun.all + swept.all };
    }
    if begun.asked < SAMPLES {
        return 0.0;
    }
    collecting += yielded(evidence).get(&process).copied().unwrap_or(0.0);
    begun.asked as f64 / begun.all as f64 * collecting
}

/// Says which part of a cost is collecting, where it is worth a word.
pub(in crate::causes) fn of_collecting(collecting_ns: f64, cost_ns: f64) -> Option<String> {
    const WORTH_A_WORD: f64 = 0.05;
    let says = || format!("plus {} of garbage collection, caused by what they allocate", time(collecting_ns));
    (collecting_ns > WORTH_A_WORD * cost_ns).then(says)
}

/// Time in Go's scheduler because the collector yields, by process, ns: the goroutine that sweeps does so after every few spans, and the scheduler, which
/// finds nothing else, goes on with it. On the scheduler's own stack it is not seen who yielded; samples just before say how often that is the
/// collector.
fn yielded(evidence: &Evidence<'_>) -> HashMap<u32, f64> {
    #[derive(Default)]
    struct Yielded {
        switching_ns: f64,
        by_the_collector: usize,
        all: usize,
    }
    let functions = 0..evidence.recording.tables.functions.len() as u32;
    let which = |is: fn(&str) -> bool| -> HashSet<u32> {
        functions.clone().filter(|function| is(evidence.name(*function))).collect()
    };
    let switches = which(|name| name == "runtime.gosched_m");
    let mut processes: HashMap<u32, Yielded> = HashMap::new();
    if switches.is_empty() {
        return HashMap::new();
    }
    let yields = which(|name| name == "runtime.Gosched" || name == "runtime.goschedIfBusy");
    let collects = which(|name| memory(name) == Some(Memory::Takes));
    let samples = evidence.recording.tables.samples.iter().zip(&evidence.weights);
    for (sample, ns) in samples.filter(|(sample, _)| sample.on_cpu) {
        let Some(stack) = sample.stack else { continue };
        let on: HashSet<u32> = evidence
            .locations(stack)
            .flat_map(|at| evidence.recording.frames_of(at).iter().map(|frame| frame.function))
            .collect();
        let of = processes.entry(evidence.process_of(sample)).or_default();
        if !on.is_disjoint(&switches) {
            of.switching_ns += ns;
        } else if !on.is_disjoint(&yields) {
            of.all += 1;
            of.by_the_collector += usize::from(!on.is_disjoint(&collects));
        }
    }
    processes.retain(|_, of| of.all >= YIELDS);
    let ns = |of: Yielded| of.switching_ns * of.by_the_collector as f64 / of.all as f64;
    processes.into_iter().map(|(process, of)| (process, ns(of))).collect()
}

fn finding(
    evidence: &Evidence<'_>,
    process: u32,
    spent: &Spent,
    collecting_ns: f64,
    (pieces, bytes, peak): (Pieces, f64, f64),
) -> Option<Candidate> {
    let gain = spent.ns + collecting_ns;
    if !GATE.may_pass(evidence, gain) {
        return None;
    }
    let stack = heaviest(&spent.stacks);
    let asker = *spent.within.get(&stack?)?;
    let draft = Draft {
        gain_is_least: true,
        variant: "collected",
        explanation: vec![
            format!(
                "allocating memory took {} of CPU time, and the garbage collector {}",
                time(spent.ns),
                time(collecting_ns)
            ),
            format!(
                "at least {} were allocated in all, in pieces of {} on average, but the program never had more than {}: nearly all of it soon \
                 became garbage",
                size(bytes),
                size(pieces.bytes),
                size(peak)
            ),
        ],
        facts: vec![
            Fact::new("pieces looked at", pieces.noted as f64, "1", "probe", Sure::Exact),
            Fact::new("bytes allocated", bytes, "bytes", "probe", Sure::Sampled),
            Fact::new("time allocating", spent.ns, "ns", "samples", Sure::Sampled),
            Fact::new("time collecting", collecting_ns, "ns", "samples", Sure::Sampled),
        ],
        advice: match pieces.bytes > LARGE {
            true => {
                "Ask first whether pieces of this size are needed at all, or can be smaller. If one is used again for each item (sync.Pool, a slice cut to [:0]), \
                 clearing it still takes time, which is in the gain"
            }
            false => {
                "Keep buffers and use them again (Reset, a slice cut to [:0], sync.Pool), reserve slices with make, and append to one buffer \
                 (strconv.AppendInt) instead of joining strings"
            }
        }
        .to_owned(),
        ..Draft::new(
            &CAUSE,
            "most of the memory that is allocated soon becomes garbage",
            Confidence::Likely,
            Cost::new(Basis::Cpu, gain, gain),
            evidence.place(stack, asker, process, |frame| !passes(frame)),
        )
    };
    Some(draft.candidate(evidence, GATE, process))
}
