//! Every operation waits until the disk has it: fsync and its like after each small record, or writes to a file that was
//! opened with `O_SYNC`. The cost is elapsed time.

use super::words::{count, time};
use super::{Find, Needs, Spec};
use crate::Evidence;
use crate::calls::{
    CallSite, Calls, Sum, fact, from, is_connect, is_met, is_receive, is_send, moment, place,
};
use crate::candidate::Candidate;
use crate::draft::Draft;
use crate::findings::{Basis, Confidence, Cost, Sure};
use crate::gate::Gate;
use slowpath_syscalls::{CLOSE, FCNTL, FLOCK, FTRUNCATE, MSYNC, OPENS, SYNCS, UNLINKS, WRITES, WRITES_AT};
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// See the file's head.
pub(super) const CAUSE: Spec = Spec {
    slug: "sync-per-operation",
    title: "every operation waits for the disk",
    symptom: "a sync for each small record",
    not_known: "whether each record must be safe on the disk before the next one begins",
    page: include_str!("../../../../docs/causes/sync-per-operation.md"),
    needs: &[Needs::Syscalls],
    find: Find::InRecording(find),
};

/// Syncs from one place before they count, and the most bytes written for each: who syncs after a large block means it.
const SYNCED: u64 = 20;
const BYTES: f64 = 16_384.0;
/// An operation of a few syncs, which together have little before them, may have so many times as much before one of them.
const OF_A_FEW: f64 = 4.0;
/// Between two syncs of one window is less than this, ns: a window lasts some ms, and so does the gap behind it.
const APART_NS: u64 = 5_000_000;
/// Less is a fair price for what is safe on the disk.
const GATE: Gate = Gate::TENTH_OF_WALL;
/// If other threads use CPUs for this share of the waits, other work goes on meanwhile.
const BUSY: f64 = 0.5;

/// Calls of one kind on a file that may belong to a sync of it. For each operation SQLite opened its journal once, which it synced twice, and called `fcntl` nine times
/// for its database, which it synced once: of these some may be for what it read.
const FOR_A_SYNC: u64 = 2;
/// What is done with the files besides is reported from this share of the waits on.
const SOME: f64 = 0.1;
/// Waits for each turn of a peer before they are not its commits: a file, its folder, a log and its mark.
const A_TURN: u64 = 4;

/// Share of these turns that must be of one peer: with several, their records can be put together.
const ONE_PEER: f64 = 0.9;

/// A thread and its peer.
#[derive(Default)]
struct Talk {
    /// The socket that it last wrote to.
    told: Option<u32>,
    /// Then it read from it.
    asked: bool,
    /// How often it did both.
    turn: u64,
}

/// Waits of one place, when they were, and for which files, by path.
#[derive(Default)]
struct Waits {
    /// Turns of each peer in which the place came, and the last one of each thread.
    turns: BTreeMap<u32, u64>,
    last: BTreeMap<u32, u64>,
    /// Syncs that the turns are compared with.
    seen: u64,
    sum: Sum,
    intervals: Vec<(u32, u64, u64)>,
    files: BTreeMap<String, Synced>,
    /// Of each sync what the process had written since the one before, to any file, where single writes are not recorded, and how long it took, ns: of those behind
    /// another one of the same window.
    between: Vec<(u64, f64)>,
}

/// A file with one path.
#[derive(Default)]
struct Synced {
    /// Its row in `files`, as it was last.
    file: u32,
    times: u64,
}

/// The syncs behind little data among those of which it is known.
struct Small {
    /// Bytes before each of them: on average where that is little for all syncs, else before the usual one of the small.
    each: f64,
    is_average: bool,
    /// Their share of the time of all.
    part: f64,
}

impl Small {
    /// None where it is known of none, or not to be had.
    fn of(between: &mut [(u64, f64)]) -> Option<Small> {
        if between.is_empty() || between.iter().any(|(bytes, _)| *bytes == u64::MAX) {
            return None;
        }
        between.sort_unstable_by_key(|(bytes, _)| *bytes);
        let average = between.iter().map(|(bytes, _)| *bytes as f64).sum::<f64>() / between.len() as f64;
        let is_average = average <= BYTES;
        // A database syncs a journal, its folder, a mark and some pages for each operation.
        let most = if is_average { OF_A_FEW * BYTES } else { BYTES };
        let number = between.partition_point(|(bytes, _)| *bytes as f64 <= most);
        let time = |of: &[(u64, f64)]| of.iter().map(|(_, ns)| ns).sum::<f64>();
        let usual = between.get(number.saturating_sub(1) / 2)?.0 as f64;
        let each = if is_average { average } else { usual };
        Some(Small { each, is_average, part: time(&between[..number]) / time(between).max(1.0) })
    }
}

fn find(evidence: &Evidence<'_>) -> Vec<Candidate> {
    let calls = Calls::new(evidence);
    let mut sums: BTreeMap<CallSite, Waits> = BTreeMap::new();
    // Bytes written to each file by each process.
    let mut written: BTreeMap<(u32, u32), u64> = BTreeMap::new();
    let mut talks: BTreeMap<u32, Talk> = BTreeMap::new();
    // Answers by socket: those that are known one by one, and all.
    let mut answers: BTreeMap<u32, (u64, u64)> = BTreeMap::new();
    // When the last sync of each process that was traced was over.
    let mut synced: BTreeMap<u32, u64> = BTreeMap::new();
    // Who asks others over the network is no server, as far as is known: what it writes to disk it may put together.
    let mut clients: BTreeSet<u32> = BTreeSet::new();
    for (row, process) in calls.all() {
        if is_connect(row) && calls.file(row).is_some_and(|file| !file.path.starts_with('/')) {
            clients.insert(process);
        }
        // In windows each call stands for others, and turns are compared with calls that were seen.
        let moves = (row.count == 1 || evidence.by_ptrace) && !is_met(row) && row.result > 0;
        let socket = calls.file(row).filter(|file| file.kind == "socket");
        if let Some(socket) = socket.filter(|_| row.bytes > 0 && is_send(row)) {
            let (single, all) = answers.entry(socket.file).or_default();
            *single += if moves { row.count } else { 0 };
            *all += row.count;
        }
        if let Some(socket) = socket.filter(|_| moves) {
            let talk = talks.entry(row.thread).or_default();
            if is_send(row) {
                (talk.told, talk.asked) = (Some(socket.file), false);
            } else if is_receive(row) && !talk.asked && talk.told == Some(socket.file) {
                (talk.asked, talk.turn) = (true, talk.turn + 1);
            }
        }
        let writes = WRITES.contains(&row.number) || WRITES_AT.contains(&row.number);
        if let Some(file) = row.file.filter(|_| writes && row.result >= 0) {
            *written.entry((process, file)).or_default() += row.bytes;
        }
        if !(SYNCS.contains(&row.number) || writes && row.sync) || row.result < 0 {
            continue;
        }
        // Pages that were written to in memory are in no count of bytes.
        if evidence.by_ptrace && row.number == MSYNC {
            continue;
        }
        let Waits { turns, last, seen, sum, intervals, files, between } =
            sums.entry((process, calls.own(row))).or_default();
        // What came before it, and how much was written since the last one, is not known.
        if is_met(row) {
            sum.add(row);
            continue;
        }
        if evidence.by_ptrace {
            let until = moment(evidence, row).map_or(row.end_ns, |(_, until, _)| until);
            let before = synced.insert(process, until).unwrap_or(0);
            // One that was under way when its window began, or beside another: what came before it is not known.
            if row.time_ns.checked_sub(before).is_some_and(|gap| gap <= APART_NS) {
                between.push((row.argument, row.duration_ns as f64));
            }
        }
        sum.add(row);
        *seen += if evidence.by_ptrace { 1 } else { row.count };
        if let Some(Talk { told: Some(peer), asked: true, turn }) = talks.get(&row.thread)
            && last.insert(row.thread, *turn) != Some(*turn)
        {
            *turns.entry(*peer).or_default() += 1;
        }
        if let Some((from, to, _)) = moment(evidence, row) {
            intervals.push((row.thread, from, to));
        }
        if let Some(file) = calls.file(row) {
            let synced = files.entry(file.path.clone()).or_default();
            (synced.file, synced.times) = (file.file, synced.times + row.count);
        }
    }
    // Syncs of each file of each process, from wherever.
    let mut all_syncs: BTreeMap<u32, HashMap<&str, u64>> = BTreeMap::new();
    for ((process, _), waits) in &sums {
        let of_process = all_syncs.entry(*process).or_default();
        for (path, synced) in &waits.files {
            *of_process.entry(path).or_default() += synced.times;
        }
    }
    let beside = beside(&calls, &all_syncs);
    let mut all_beside: BTreeMap<CallSite, f64> = BTreeMap::new();
    for (place, waits) in &sums {
        let of_path = |(path, synced): (&String, &Synced)| {
            let part = synced.times as f64 / all_syncs[&place.0][path.as_str()].max(1) as f64;
            beside.get(&(place.0, path.as_str())).map_or(0.0, |ns| ns * part)
        };
        all_beside.insert(*place, waits.files.iter().map(of_path).sum());
    }
    let mut findings = Vec::new();
    for ((process, own), Waits { turns, seen, sum, intervals, files, mut between, .. }) in sums {
        let told: u64 = files.values().filter_map(|one| written.get(&(process, one.file))).sum();
        // By ptrace the number of writes is an estimate, and what was written between two syncs is counted by the kernel.
        let small = Small::of(&mut between);
        let each = small.as_ref().map_or(told as f64 / sum.count.max(1) as f64, |small| small.each);
        let part = small.as_ref().map_or(1.0, |small| small.part);
        let waited = sum.duration_ns * part;
        // At most as much again: what was done besides is not known to belong to each of the syncs.
        let beside = (all_beside[&(process, own)] * part).min(waited);
        let cost = (waited + beside).min(evidence.elapsed_ns);
        let gain = cost * (1.0 - 1.0 / sum.count.max(1) as f64);
        if sum.count < SYNCED || each > BYTES || !GATE.may_pass(evidence, gain) {
            continue;
        }
        // One peer that asks for something only when it knows that what was before is safe: there is nothing to put together.
        // The syncs before the first turn belong to none.
        let all: u64 = turns.values().sum();
        let (peer, of_one) = turns.into_iter().max_by_key(|(_, turns)| *turns).unwrap_or_default();
        // Where many calls come at once some are only known added up, and so are turns.
        let known = answers.get(&peer).map_or(1.0, |(single, all)| *single as f64 / (*all).max(1) as f64);
        let often = ((of_one + 1) * A_TURN) as f64 >= seen as f64 * known;
        let one_peer = of_one as f64 >= ONE_PEER * all as f64 && often;
        if calls.busy_share(&intervals) > BUSY || of_one > 0 && one_peer && !clients.contains(&process) {
            continue;
        }
        let stack = sum.stack();
        let names: Vec<String> = files.into_keys().filter(|path| !path.is_empty()).collect();
        let opens = (beside >= SOME * waited).then(|| {
            format!(
                "opening, closing, locking and removing these files for each operation took {} more: that goes as well where several \
                 operations share one sync",
                time(beside)
            )
        });
        let explanation = |first: Vec<String>| first.into_iter().chain(opens).collect();
        findings.push(
            Draft {
                explanation: explanation(vec![
                    format!(
                        "{} times{}, the program waited for {} to be written to disk, {} each time",
                        count(sum.count as f64),
                        from(evidence, stack, own),
                        if names.is_empty() { "a file".to_owned() } else { crate::calls::some(&names, 3) },
                        time(sum.duration_ns / sum.count as f64)
                    ),
                    format!(
                        "{} {} bytes were written between two waits; nothing else in the program ran meanwhile",
                        if small.as_ref().is_none_or(|small| small.is_average) { "on average" } else { "usually" },
                        count(each)
                    ),
                ]),
                facts: vec![
                    fact("waits for the disk", sum.count as f64, "calls", Sure::Exact),
                    fact("time waited", waited, "ns", Sure::Exact),
                    fact("time for what is done with these files besides", beside, "ns", Sure::Exact),
                    fact("bytes for each", each, "bytes", Sure::Exact),
                ],
                files: evidence.concerned(names),
                advice: "Let several records share one sync: in a database one transaction around many of them; else collect \
                         records for a few ms, sync once, then confirm all of them (group commit)"
                    .to_owned(),
                ..Draft::new(&CAUSE, "every operation waits for the disk", Confidence::Likely, Cost::new(Basis::Wall, cost, gain), place(evidence, stack, own, process))
            }
            .candidate(evidence, GATE, process),
        );
    }
    findings
}

/// What a process does besides with each file that is synced again and again, such as a database's journal: it is opened, locked, closed, cut off and
/// removed for each operation as well, ns. As often as belongs to its syncs at most. Files that are synced once or twice are each an operation's own.
fn beside<'a>(
    calls: &Calls<'_>,
    syncs: &BTreeMap<u32, HashMap<&'a str, u64>>,
) -> BTreeMap<(u32, &'a str), f64> {
    // How often and how long, and how often it may belong to a sync.
    let mut by_call: BTreeMap<(u32, &'a str, u32), (u64, f64, u64)> = BTreeMap::new();
    for (row, process) in calls.all() {
        let locks = row.number == FCNTL || row.number == FLOCK;
        let is_beside = locks
            || row.number == CLOSE
            || row.number == FTRUNCATE
            || OPENS.contains(&row.number)
            || UNLINKS.contains(&row.number);
        let Some(file) = calls.file(row).filter(|file| is_beside && !file.path.is_empty()) else { continue };
        let known = syncs.get(&process).and_then(|of| of.get_key_value(file.path.as_str()));
        let Some((path, times)) = known else { continue };
        if *times >= SYNCED {
            // Waiting for a lock is a cause of its own.
            let ns = row.duration_ns - if locks { row.blocked_ns.min(row.duration_ns) } else { 0 };
            let sum = by_call.entry((process, path, row.number)).or_default();
            *sum = (sum.0 + row.count, sum.1 + ns as f64, FOR_A_SYNC * times);
        }
    }
    let mut beside: BTreeMap<(u32, &'a str), f64> = BTreeMap::new();
    for ((process, path, _), (count, ns, most)) in by_call {
        *beside.entry((process, path)).or_default() += ns * (most as f64 / count.max(1) as f64).min(1.0);
    }
    beside
}

/// A file that is opened and synced for each operation is one thing to mend: this one.
pub(super) fn settle(found: &mut Vec<Candidate>) {
    let synced: Vec<(u32, BTreeSet<String>)> = found
        .iter()
        .filter(|one| one.finding.cause == CAUSE.cause())
        .map(|one| (one.process, one.finding.files.iter().map(|file| file.path.clone()).collect()))
        .collect();
    let is_of_sync = |one: &Candidate| {
        let of = |(process, files): &(u32, BTreeSet<String>)| {
            *process == one.process && one.finding.files.iter().all(|file| files.contains(&file.path))
        };
        one.finding.variant == super::redundant_file_access::REOPENED && synced.iter().any(of)
    };
    found.retain(|one| !is_of_sync(one));
}
