//! Threads or processes wait for one lock while its holder works or sleeps.
//!
//! - `locks` — which words in memory and which files are locks, who waits for each, and who releases it.
//! - `holder` — what the holder does meanwhile.
//! - `goroutines` — the same for Go's locks, whose waits are not system calls.
//!
//! The gain is what is left when nobody waits for the lock: each user of it then ends as much earlier as it waited, but all together
//! not before the CPUs have done their work. That what the lock protects can be done side by side is not known: likely at most.

mod goroutines;
mod holder;
mod locks;

use super::words::{count, time};
use super::{Find, Needs, Spec};
use crate::Evidence;
use crate::calls::{Calls, Sum, fact, from, is_sleep, place};
use crate::candidate::Candidate;
use crate::draft::Draft;
use crate::findings::{Basis, Confidence, Cost, Sure};
use crate::gate::Gate;
use locks::{Kind, Lock};
use slowpath_recording::tables::Syscall;
use slowpath_syscalls::FUTEX;
use std::collections::{BTreeMap, BTreeSet};

/// See the file's head.
pub(super) const CAUSE: Spec = Spec {
    slug: "lock-contention",
    title: "waiting for a lock",
    symptom: "threads or processes wait for one lock while its holder works or sleeps",
    not_known: "whether the work under the lock can run in parallel",
    page: include_str!("../../../../../docs/causes/lock-contention.md"),
    needs: &[Needs::Transfers],
    find: Find::InRecording(find),
};

/// The gain is an upper bound: half of it may be work that must be done in turn, as where GNU sort merges (0.13 to 0.15). The half must be a tenth.
const GATE: Gate = Gate { share: 0.20, ..Gate::TENTH_OF_WALL };

fn find(evidence: &Evidence<'_>) -> Vec<Candidate> {
    let calls = Calls::new(evidence);
    let locks = locks::locks(evidence, &calls);
    let cpu = evidence.cpu_of_threads();
    let of_threads = locks.into_iter().filter_map(|lock| finding(evidence, &calls, &lock, &cpu));
    of_threads.chain(goroutines::find(evidence, &calls)).collect()
}

fn finding(
    evidence: &Evidence<'_>,
    calls: &Calls<'_>,
    lock: &Lock,
    cpu: &BTreeMap<u32, f64>,
) -> Option<Candidate> {
    let waits = lock.waits();
    let longest = waited(evidence, lock).into_values().fold(0.0, f64::max);
    if !GATE.may_pass(evidence, longest) {
        return None; // before the dearer questions
    }
    let (cost, gain, waited_ns) = cost(evidence, calls, lock, cpu);
    if !GATE.may_pass(evidence, gain) {
        return None;
    }
    let held = holder::holder(evidence, calls, lock);
    // By ptrace it is not known who holds it.
    if held.is_at_rest() || evidence.by_ptrace && holder::are_at_rest(calls, lock, cost) {
        return None;
    }
    // The lock is held too long where it is released; where that is not known those who wait show it.
    let waiting = waits.stack().map(|stack| (stack, calls.own_of(stack)));
    let releasing = held.stack.or_else(|| lock.releases().stack());
    let releasing = releasing.and_then(|stack| Some((stack, calls.own_of(stack)?)));
    // A function that ends by releasing it is not on the stack then, only its caller is.
    let called = |(stack, own): (u32, Option<u32>), by: u32| {
        let outer = evidence
            .locations(stack)
            .filter_map(|at| evidence.function_at(at))
            .skip_while(|at| Some(*at) != own);
        outer.skip(1).any(|function| function == by)
    };
    // What it does while it holds the lock and that it releases it are parts of one function: that one holds it too long.
    let holding = releasing.and_then(|(at, _)| calls.doing(&held.busy, at));
    let (stack, own) = match (releasing, waiting) {
        _ if holding.is_some() => (holding.map(|(stack, _)| stack), holding.map(|(_, own)| own)),
        (Some((_, own)), Some(waiting)) if called(waiting, own) => (Some(waiting.0), waiting.1),
        (Some((stack, own)), _) => (Some(stack), Some(own)),
        (None, waiting) => (waiting.map(|(stack, _)| stack), waiting.and_then(|(_, own)| own)),
    };
    let process = lock.process(evidence);
    let waits_from = waiting.map_or_else(String::new, |(stack, own)| from(evidence, Some(stack), own));
    let (who, what) = described(evidence, lock);
    let mut explanation = vec![format!(
        "{who} use one lock ({what}) and waited for it {} times{waits_from}: {} summed over all of them, {} for the one that waited longest",
        count(waits.count as f64),
        time(waited_ns),
        time(cost)
    )];
    explanation.extend(held.told());
    explanation.push(match lock.holder_is_unknown() {
        true if evidence.by_ptrace => "it was not seen who held the lock; the gain is all the time waited".to_owned(),
        true => "the lock was held by a process outside of this recording; the gain is all the time waited".to_owned(),
        false if held.sleeps() => "the gain is the time saved if no thread waits for the lock: an upper bound".to_owned(),
        false => "the gain is the time saved if no thread waits for the lock: an upper bound, and less if the protected work \
                  cannot run in parallel"
            .to_owned(),
    });
    let paths = lock.files.iter().map(|file| evidence.recording.tables.files[*file as usize].path.clone());
    let paths: BTreeSet<String> = paths.filter(|path| lock.kind == Kind::File && !path.is_empty()).collect();
    let draft = Draft {
        variant: match lock.kind {
            Kind::File => "file",
            Kind::Memory => "",
        },
        not_known: if held.sleeps() {
            "whether what the holder sleeps or waits for must happen under the lock"
        } else {
            ""
        },
        files: evidence.concerned(paths),
        related: held.working.iter().map(|function| evidence.frame(*function)).collect(),
        explanation,
        facts: vec![
            fact("waits", waits.count as f64, "calls", Sure::Exact),
            fact("time waited", waited_ns, "ns", Sure::Exact),
            fact("users of the lock", lock.users.len() as f64, "threads", Sure::Exact),
        ],
        advice: held.advice(),
        ..Draft::new(
            &CAUSE,
            if lock.holder_is_unknown() { "waits for a lock" } else { "holds a lock that others wait for" },
            Confidence::Likely,
            Cost::new(Basis::Wall, cost, gain),
            place(evidence, stack, own, process),
        )
    };
    Some(draft.candidate(evidence, GATE, process))
}

/// The longest that one thread waited, how much earlier all is done if nobody waits, and the time that all waited, ns.
fn cost(
    evidence: &Evidence<'_>,
    calls: &Calls<'_>,
    lock: &Lock,
    cpu: &BTreeMap<u32, f64>,
) -> (f64, f64, f64) {
    let about = &evidence.recording.about;
    let life = |thread: u32| life(evidence, thread);
    let waited = waited(evidence, lock);
    let cost = waited.values().copied().fold(0.0, f64::max);
    let follows = |thread: u32| follows(evidence, calls, lock, &waited, thread);
    let lives: Vec<((f64, f64), f64)> = waited
        .iter()
        .filter(|(thread, _)| !follows(**thread))
        .map(|(thread, blocked)| (life(*thread), *blocked))
        .collect();
    let lives = || lives.iter().copied();
    let last = lives().map(|((_, end), _)| end).fold(0.0, f64::max);
    let without = lives().map(|((_, end), blocked)| end - blocked).fold(0.0, f64::max);
    // The CPUs cannot do the work of all threads in less; nor can a thread that does not use the lock do its own.
    let elapsed = evidence.elapsed_ns;
    let cpus = f64::from(about.cpus.max(1));
    let begins = lives().map(|((start, _), _)| start).fold(f64::INFINITY, f64::min);
    let of_users: f64 = lock.users.keys().filter_map(|thread| cpu.get(thread)).sum();
    let apart = cpu
        .iter()
        .filter(|(thread, _)| !lock.users.contains_key(thread))
        .map(|(_, ns)| *ns)
        .fold(0.0, f64::max);
    let least = (begins + of_users / cpus).max(without);
    let gain = (last - least).min(elapsed - evidence.cpu_ns / cpus).min(elapsed - apart).min(cost);
    (cost, gain, waited.values().sum())
}

/// A thread ended when the first one was done if that one waited for its end for less than this share of what it waited for the lock; or if both ends are no further
/// apart than that.
const TOLD: f64 = 0.1;
/// The kernel wakes who waits for the end of a thread so soon before or after that end is reported.
const WOKEN_NS: u64 = 1_000_000;
/// A thread that slept for less than this share of its life, but for what it waited for the lock, does work of its own.
const SLEEPS: f64 = 0.5;

/// Whether a thread lives as long as the first one, which uses the lock as well, lets it: it does something from time to time, such as showing
/// progress, and ends when the first one is done.
fn follows(
    evidence: &Evidence<'_>,
    calls: &Calls<'_>,
    lock: &Lock,
    waited: &BTreeMap<u32, f64>,
    thread: u32,
) -> bool {
    let tables = &evidence.recording.tables;
    let process = tables.threads[thread as usize].process;
    let is_first = |one: &&u32| {
        let one = &tables.threads[**one as usize];
        one.process == process && one.tid == tables.processes[process as usize].pid
    };
    let Some(first) = waited.keys().find(is_first).copied().filter(|first| *first != thread) else {
        return false;
    };
    let least = TOLD * waited[&first];
    let ((start, end), (_, first_end)) = (life(evidence, thread), life(evidence, first));
    let end_ns = end as u64;
    let awaits = |(row, _): (&Syscall, u32)| {
        row.thread == first
            && row.number == FUTEX
            && row.blocked_ns as f64 >= least
            && row.file.is_none_or(|file| !lock.files.contains(&file))
            && (end_ns.saturating_sub(WOKEN_NS)..end_ns + WOKEN_NS).contains(&row.end_ns)
    };
    if end < first_end - least || calls.all().any(awaits) {
        return false;
    }
    let sleeps = calls.all().filter(|(row, _)| row.thread == thread && is_sleep(row));
    let slept: u64 = sleeps.map(|(row, _)| row.blocked_ns).sum();
    slept as f64 >= SLEEPS * (end - start - waited[&thread])
}

/// How long each user waited, ns. Where waits were scaled up they may come to more than there was: nobody waits for longer than it lives, nor all
/// at a time.
fn waited(evidence: &Evidence<'_>, lock: &Lock) -> BTreeMap<u32, f64> {
    let waits = |(thread, user): (&u32, &locks::User)| (*thread, user.waits.blocked_ns);
    let mut waited: BTreeMap<u32, f64> = lock.users.iter().map(waits).collect();
    if !evidence.recording.about.in_windows() {
        return waited;
    }
    let mut longest: f64 = 0.0;
    for (thread, ns) in &mut waited {
        let (start, end) = life(evidence, *thread);
        *ns = ns.min(end - start);
        longest = longest.max(end - start);
    }
    let (all, most) = (waited.values().sum::<f64>(), (waited.len() as f64 - 1.0) * longest);
    if all > most && !lock.holder_is_unknown() {
        waited.values_mut().for_each(|ns| *ns *= most / all);
    }
    waited
}

/// When a thread began and ended, ns.
fn life(evidence: &Evidence<'_>, thread: u32) -> (f64, f64) {
    let about = &evidence.recording.about;
    let thread = &evidence.recording.tables.threads[thread as usize];
    (thread.start_ns as f64, thread.end_ns.unwrap_or(about.start_ns + about.wall_ns) as f64)
}

/// Who uses the lock, and which it is.
fn described(evidence: &Evidence<'_>, lock: &Lock) -> (String, String) {
    let tables = &evidence.recording.tables;
    let process = |thread: &u32| tables.threads[*thread as usize].process;
    let mut processes: Vec<u32> = lock.users.keys().map(process).collect();
    processes.sort_unstable();
    processes.dedup();
    let who = match (lock.users.len(), processes.len()) {
        (1, _) if evidence.by_ptrace => "one thread and another one, which was not seen,".to_owned(),
        (1, _) => "one thread and a process outside of this recording".to_owned(),
        (threads, 1) => format!("{threads} threads"),
        (threads, processes) if threads == processes => format!("{processes} processes"),
        (threads, processes) => format!("{threads} threads of {processes} processes"),
    };
    let file = lock.files.first().map(|file| &tables.files[*file as usize]);
    let Some(file) = file else { return (who, String::new()) };
    let what = match lock.kind {
        Kind::Memory => format!("at address {:#x}", file.inode),
        Kind::File if file.path.is_empty() => format!("of the file with inode {}", file.inode),
        Kind::File => format!("of the file {}", file.path),
    };
    (who, what)
}

impl Lock {
    /// All waits together.
    fn waits(&self) -> Sum {
        self.sum(|user| &user.waits)
    }

    /// All calls that released it with somebody waiting.
    fn releases(&self) -> Sum {
        self.sum(|user| &user.releases)
    }

    fn sum(&self, of: impl Fn(&locks::User) -> &Sum) -> Sum {
        let mut sum = Sum::default();
        self.users.values().for_each(|user| sum.join(of(user)));
        sum
    }

    /// The process whose thread waited longest.
    fn process(&self, evidence: &Evidence<'_>) -> u32 {
        let longest = self.users.iter().max_by(|a, b| a.1.waits.blocked_ns.total_cmp(&b.1.waits.blocked_ns));
        longest.map_or(0, |(thread, _)| evidence.recording.tables.threads[*thread as usize].process)
    }

    /// Nobody in the recording but the one who waits uses it.
    fn holder_is_unknown(&self) -> bool {
        self.users.len() == 1
    }
}
