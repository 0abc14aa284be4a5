//! Locks of Go: a goroutine that waits for one leaves its thread to others, so no system call shows it. Go's scheduler does: which goroutine waits,
//! at what, and which one gave it the lock.
//!
//! A lock is known by the function that waits, `(*Mutex).Lock` and its like. What its holder does meanwhile is known from the holder's own
//! waits: for an answer, a file, a timer. A holder that waits for something to do (a connection, a message of another goroutine) is at
//! rest: then others wait for work as well.

use super::super::words::{count, time};
use super::{CAUSE, GATE};
use crate::Evidence;
use crate::calls::{Calls, fact, from, place};
use crate::candidate::Candidate;
use crate::draft::Draft;
use crate::findings::{Basis, Confidence, Cost, Sure};
use crate::goroutines::Watched;
use slowpath_recording::tables::Park;
use std::collections::{BTreeMap, HashMap, HashSet};

/// Functions that wait for a lock.
const LOCKS: [&str; 4] =
    ["sync.(*Mutex).", "sync.(*RWMutex).", "sync.runtime_SemacquireMutex", "sync.runtime_SemacquireRWMutex"];
/// A condition takes its lock again after it was waited for: who waits there waits for the condition. Who waits for what is made once cannot do without.
const OTHERS: [&str; 2] = ["sync.(*Cond).", "sync.(*Once)."];
/// Functions that wait for another goroutine.
const FOR_ANOTHER: [&str; 4] =
    ["runtime.chanrecv", "runtime.selectgo", "sync.(*Cond).Wait", "sync.(*WaitGroup).Wait"];
/// … of these by a channel alone.
const BY_A_CHANNEL: &str = "runtime.chanrecv";
/// Parts of names of those that wait for somebody to connect.
const FOR_A_CLIENT: [&str; 2] = ["Accept", "accept"];
/// Waits before they count: once can be an accident.
const WAITED: usize = 5;
/// From this share of the time on the holder mostly rested, or waited.
const MOST: f64 = 0.5;
/// Of less than this share nothing is said.
const SOME: f64 = 0.1;

/// What one goroutine did at a lock.
#[derive(Default)]
struct User {
    waited_ns: f64,
    /// When it got it after a wait, in order.
    got: Vec<u64>,
    /// From its first wait of any kind to the end of its last, ns.
    first: f64,
    last: f64,
}

struct Lock<'a> {
    waits: Vec<&'a Park>,
    /// How many these stand for, where some were not recorded.
    all: f64,
    users: BTreeMap<u64, User>,
}

/// What the holders did while others waited.
#[derive(Default)]
struct Holder {
    /// Time of the waits that this is known of, ns; overlapping ones counted once.
    waited_ns: f64,
    /// A stack that gave the lock up.
    stack: Option<u32>,
    /// Time that the holder waited meanwhile, ns, and most of it for what.
    asleep_ns: f64,
    asleep_in: Option<u32>,
    /// All of it by stack, ns.
    asleep: BTreeMap<u32, f64>,
    resting_ns: f64,
}

/// The waits of a recording.
struct Parks<'a> {
    /// By process and goroutine, in order.
    by_goroutine: HashMap<(u32, u64), Vec<&'a Park>>,
    /// See [`answers`].
    answers: HashSet<(u32, u32)>,
}

pub(super) fn find(evidence: &Evidence<'_>, calls: &Calls<'_>) -> Vec<Candidate> {
    let tables = &evidence.recording.tables;
    let mut waits: HashMap<(u32, u64), Vec<&Park>> = HashMap::new();
    let mut by_goroutine: HashMap<(u32, u64), Vec<&Park>> = HashMap::new();
    for park in &tables.parks {
        by_goroutine.entry((park.process, park.goroutine)).or_default().push(park);
        if park.stack.is_some_and(|stack| is_for_a_lock(evidence, calls, stack)) {
            waits.entry((park.process, park.object)).or_default().push(park);
        }
    }
    let mut locks: Vec<((u32, u64), Vec<&Park>)> =
        waits.into_iter().filter(|(_, waits)| waits.len() >= WAITED).collect();
    locks.sort_by_key(|(key, _)| *key);
    let parks = Parks { by_goroutine, answers: answers(&tables.parks) };
    let of = |((process, _), waits): ((u32, u64), Vec<&Park>)| {
        finding(evidence, calls, process, &Lock::new(evidence, waits, &parks.by_goroutine)?, &parks)
    };
    locks.into_iter().filter_map(of).collect()
}

/// Stacks, by process, at which goroutines wait at another channel each time: one that is made for the wait brings an answer. Work comes by the same channel
/// again and again.
fn answers(parks: &[Park]) -> HashSet<(u32, u32)> {
    let mut objects: HashMap<(u32, u32, u64), Vec<u64>> = HashMap::new();
    for park in parks {
        if let Some(stack) = park.stack {
            objects.entry((park.process, stack, park.goroutine)).or_default().push(park.object);
        }
    }
    // Of goroutines that waited there twice or more: how often, and at how many channels.
    let mut waits: HashMap<(u32, u32), (usize, usize)> = HashMap::new();
    for ((process, stack, _), objects) in objects.into_iter().filter(|(_, objects)| objects.len() > 1) {
        let (all, different) = waits.entry((process, stack)).or_default();
        *all += objects.len();
        *different += objects.iter().collect::<HashSet<_>>().len();
    }
    let are_new =
        |(all, different): &(usize, usize)| *all >= WAITED && *different as f64 > MOST * *all as f64;
    waits.into_iter().filter(|(_, of)| are_new(of)).map(|(at, _)| at).collect()
}

/// The functions between the program's own and the end of a stack, innermost first.
fn behind<'a>(
    evidence: &'a Evidence<'_>,
    calls: &Calls<'_>,
    stack: u32,
) -> impl Iterator<Item = u32> + use<'a> {
    let own = calls.own_of(stack);
    let functions = evidence.locations(stack).filter_map(|location| evidence.function_at(location));
    functions.take_while(move |function| Some(*function) != own).collect::<Vec<_>>().into_iter()
}

fn is_for_a_lock(evidence: &Evidence<'_>, calls: &Calls<'_>, stack: u32) -> bool {
    let mut is = false;
    for function in behind(evidence, calls, stack) {
        let name = evidence.name(function);
        if OTHERS.iter().any(|other| name.contains(other)) {
            return false;
        }
        is |= LOCKS.iter().any(|lock| name.contains(lock));
    }
    is
}

/// The function of the program on a stack, as somebody wrote it: Go's compiler makes others for what is deferred.
fn written(evidence: &Evidence<'_>, calls: &Calls<'_>, stack: u32) -> Option<u32> {
    let own = calls.own_of(stack)?;
    let made = |function: u32| {
        let name = evidence.name(function);
        name.contains(".deferwrap") || name.contains(".gowrap")
    };
    let functions = evidence.locations(stack).filter_map(|location| evidence.function_at(location));
    let mut outward = functions.skip_while(|function| *function != own).filter(|function| !made(*function));
    Some(outward.next().unwrap_or(own))
}

impl<'a> Lock<'a> {
    fn new(
        evidence: &Evidence<'_>,
        waits: Vec<&'a Park>,
        by_goroutine: &HashMap<(u32, u64), Vec<&'a Park>>,
    ) -> Option<Lock<'a>> {
        let process = waits.first()?.process;
        let watched = Watched::of(evidence.recording, process)?;
        let about = &evidence.recording.about;
        let mut users: BTreeMap<u64, User> = BTreeMap::new();
        for park in &waits {
            let user = users.entry(park.goroutine).or_default();
            user.waited_ns += (park.end_ns - park.time_ns) as f64 * watched.times(park.end_ns);
            user.got.push(park.end_ns);
        }
        for park in &waits {
            if let Some(waker) = park.waker {
                users.entry(waker).or_default();
            }
        }
        for (goroutine, user) in &mut users {
            let of = by_goroutine.get(&(process, *goroutine)).map_or(&[][..], Vec::as_slice);
            user.got.sort_unstable();
            user.first = of.first().map_or(f64::INFINITY, |park| park.time_ns as f64);
            // One that never waits may work to the end.
            let end = if of.is_empty() { about.start_ns.saturating_add(about.wall_ns) as f64 } else { 0.0 };
            user.last = of.iter().map(|park| park.end_ns as f64).fold(end, f64::max);
        }
        let all = waits.iter().map(|park| watched.times(park.end_ns)).sum();
        Some(Lock { waits, all, users })
    }

    /// The longest that one goroutine waited, how much earlier all are done if none waits, and the time that all waited, ns.
    fn cost(&self, evidence: &Evidence<'_>, process: u32) -> (f64, f64, f64) {
        let about = &evidence.recording.about;
        let waited = |user: &User| user.waited_ns.min((user.last - user.first).max(0.0));
        let cost = self.users.values().map(waited).fold(0.0, f64::max);
        let last = self.users.values().map(|user| user.last).fold(0.0, f64::max);
        let without = self.users.values().map(|user| user.last - waited(user)).fold(0.0, f64::max);
        // Nor can the CPUs do the work in less.
        let samples = evidence.recording.tables.samples.iter().zip(&evidence.weights);
        let cpu: f64 = samples
            .filter(|(sample, _)| evidence.process_of(sample) == process)
            .map(|(_, weight)| weight)
            .sum();
        let elapsed = evidence.elapsed_ns;
        let on_cpus = elapsed - cpu / f64::from(about.cpus.max(1));
        // … nor can one that computes all along, whoever waits meanwhile.
        let apart = evidence.cpu_of_threads().into_values().fold(0.0, f64::max);
        let gain = (last - without).min(on_cpus).min(elapsed - apart).min(cost).max(0.0);
        (cost, gain, self.users.values().map(waited).sum())
    }

    fn holder(&self, evidence: &Evidence<'_>, calls: &Calls<'_>, parks: &Parks<'_>) -> Holder {
        let mut holder = Holder::default();
        let mut stacks: BTreeMap<u32, f64> = BTreeMap::new();
        let mut held: HashMap<u64, Vec<(u64, u64)>> = HashMap::new();
        for park in &self.waits {
            let Some(waker) = park.waker else { continue };
            // Others may have held it before this one did; and of several who wait at once for one holder the time counts once.
            let got = self.users.get(&waker).map_or(&[][..], |user| &user.got);
            let got = got[..got.partition_point(|at| *at < park.end_ns)].last().copied().unwrap_or(0);
            let of = held.entry(waker).or_default();
            let from = of.last().map_or(park.time_ns, |(_, until)| park.time_ns.max(*until)).max(got);
            if from < park.end_ns {
                of.push((from, park.end_ns));
            }
            // How long it was held before that, not how long it was waited for: others held it then.
            if let Some(stack) = park.waker_stack {
                *stacks.entry(stack).or_default() += park.end_ns.saturating_sub(from) as f64;
            }
        }
        holder.stack = stacks.into_iter().max_by(|a, b| a.1.total_cmp(&b.1)).map(|(stack, _)| stack);
        let process = self.waits.first().map_or(0, |park| park.process);
        let mut asleep: BTreeMap<u32, f64> = BTreeMap::new();
        for (goroutine, intervals) in &held {
            holder.waited_ns += intervals.iter().map(|(from, until)| (until - from) as f64).sum::<f64>();
            for park in parks.by_goroutine.get(&(process, *goroutine)).into_iter().flatten() {
                let Some(stack) = park.stack.filter(|stack| !is_for_a_lock(evidence, calls, *stack)) else {
                    continue;
                };
                let first = intervals.partition_point(|(_, until)| *until <= park.time_ns);
                let overlapping = intervals[first..].iter().take_while(|(from, _)| *from < park.end_ns);
                let ns: f64 = overlapping
                    .map(|(from, until)| (park.end_ns.min(*until) - park.time_ns.max(*from)) as f64)
                    .sum();
                holder.asleep_ns += ns;
                *asleep.entry(stack).or_default() += ns;
                if rests(evidence, calls, parks, (process, stack)) {
                    holder.resting_ns += ns;
                }
            }
        }
        let most = asleep.iter().max_by(|a, b| a.1.total_cmp(b.1));
        holder.asleep_in = most.map(|(stack, _)| *stack);
        holder.asleep = asleep;
        holder
    }
}

/// Whether a goroutine waits for something to do: for somebody to connect, or in the program's own code for another goroutine. What a library waits for in such
/// a way is an answer.
fn rests(
    evidence: &Evidence<'_>,
    calls: &Calls<'_>,
    parks: &Parks<'_>,
    (process, stack): (u32, u32),
) -> bool {
    let behind: Vec<u32> = behind(evidence, calls, stack).collect();
    let accepts =
        behind.iter().any(|function| FOR_A_CLIENT.iter().any(|name| evidence.name(*function).contains(name)));
    // The outermost of them is what the program calls.
    let called = behind.last().map_or("", |function| evidence.name(*function));
    let answered = called.starts_with(BY_A_CHANNEL) && parks.answers.contains(&(process, stack));
    let direct = FOR_ANOTHER.iter().any(|name| called.starts_with(name)) && !answered;
    accepts || direct || calls.own_of(stack).is_none()
}

fn finding(
    evidence: &Evidence<'_>,
    calls: &Calls<'_>,
    process: u32,
    lock: &Lock<'_>,
    parks: &Parks<'_>,
) -> Option<Candidate> {
    if lock.users.len() < 2 {
        return None;
    }
    let (cost, gain, waited_ns) = lock.cost(evidence, process);
    if !GATE.may_pass(evidence, gain) {
        return None;
    }
    let held = lock.holder(evidence, calls, parks);
    if held.waited_ns == 0.0 || held.resting_ns >= MOST * held.waited_ns {
        return None;
    }
    let mut stacks: BTreeMap<u32, f64> = BTreeMap::new();
    for park in &lock.waits {
        if let Some(stack) = park.stack {
            *stacks.entry(stack).or_default() += (park.end_ns - park.time_ns) as f64;
        }
    }
    let waiting = stacks.into_iter().max_by(|a, b| a.1.total_cmp(&b.1)).map(|(stack, _)| stack);
    // The lock is held too long where it is released; where that is not known those who wait show it.
    let at = |stack: u32| Some((stack, written(evidence, calls, stack)?));
    // What it waits for while it holds the lock and that it releases it are parts of one function.
    let mostly = held.asleep_ns >= MOST * held.waited_ns;
    let holding = held.stack.filter(|_| mostly).and_then(|released| calls.doing(&held.asleep, released));
    let (stack, own) = holding.or_else(|| held.stack.and_then(at)).or_else(|| waiting.and_then(at))?;
    let sure = if lock.all > lock.waits.len() as f64 { Sure::Sampled } else { Sure::Exact };
    let waits_from = from(evidence, waiting, waiting.and_then(|stack| written(evidence, calls, stack)));
    let mut explanation = vec![format!(
        "{} goroutines use one lock and waited for it {} times{waits_from}: {} summed over all of them, {} for the one that waited longest",
        lock.users.len(),
        count(lock.all),
        time(waited_ns),
        time(cost)
    )];
    let share = (held.asleep_ns / held.waited_ns).min(1.0);
    let sleeps = held.asleep_in.filter(|_| share >= SOME);
    if let Some(stack) = sleeps {
        let what = behind(evidence, calls, stack).last().map_or("", |function| evidence.name(function));
        explanation.push(format!(
            "while others waited ({}, overlapping waits counted once) the holder was waiting itself {:.0} % of the time, mostly in {what}{}",
            time(held.waited_ns),
            100.0 * share,
            from(evidence, Some(stack), written(evidence, calls, stack)),
        ));
    }
    explanation.push(
        "the gain is the time saved if no goroutine waits for the lock: an upper bound, and less if the protected work cannot run in parallel"
            .to_owned(),
    );
    let advice = match share >= MOST {
        true => {
            "Do not sleep or wait while holding the lock: do that before it is taken or after it is released"
        }
        false => {
            "Hold the lock only while the shared data is accessed: do the work before it is taken or after it is released"
        }
    };
    let draft = Draft {
        variant: "goroutines",
        related: sleeps
            .and_then(|stack| written(evidence, calls, stack))
            .map(|function| evidence.frame(function))
            .into_iter()
            .collect(),
        explanation,
        facts: vec![
            fact("waits", lock.all, "calls", sure),
            fact("time waited", waited_ns, "ns", sure),
            fact("users of the lock", lock.users.len() as f64, "goroutines", Sure::Exact),
        ],
        advice: format!(
            "{advice}. Or use several locks, one for each part of the data, or a read-write lock"
        ),
        ..Draft::new(
            &CAUSE,
            "holds a lock that others wait for",
            Confidence::Likely,
            Cost::new(Basis::Wall, cost, gain),
            place(evidence, Some(stack), Some(own), process),
        )
    };
    Some(draft.candidate(evidence, GATE, process))
}
