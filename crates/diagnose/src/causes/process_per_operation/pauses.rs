//! Where calls are traced by ptrace it is not known of all what they read and write: an operation has started up when it pauses between calls that
//! load code or settings.

use super::Operation;
use super::started::LOADS;
use super::tracing::executed;
use crate::Evidence;
use crate::calls::{Calls, is_met};
use slowpath_syscalls::{CONNECT, FORKS, OPENS};
use std::collections::HashMap;

/// Where calls are traced by ptrace, what is read and written is not known for all processes: what loads after such a pause comes after some work, ns.
const PAUSE_NS: u64 = 2_000_000;
/// … if this share of the operations pause there: half is more than a busy machine lets wait at one place by chance.
const PAUSED: f64 = 0.5;
/// … of which this many were traced. Of fewer a pause may be that of a thread whose turn on the CPU is over: the scheduler gives turns of 3 ms, and
/// each of 10 operations that were traced had one pause of 2.2 to 3.8 ms, at ever another place. Then it must be longer than that, ns.
const OFTEN: usize = 3;
const TURN_NS: u64 = 5_000_000;
/// … and on a busy machine, where all takes longer, after so many times what usually passes between two.
const LONG_PAUSE: u64 = 10;
/// Tracing a call takes at most so many times what it takes on average: stops take five times as long where the tracer is on another CPU.
const TRACING: f64 = 5.0;

/// The end of what each operation loads without a pause in between or a helper asked: what it reads and writes is not known.
pub(super) fn before_a_pause(
    evidence: &Evidence<'_>,
    calls: &Calls<'_>,
    of: &HashMap<u32, usize>,
    operations: &[Operation],
    few: &dyn Fn(&str) -> bool,
) -> Vec<u64> {
    // What passes before a program is executed is none of its work, nor what tracing takes of it.
    let begun: Vec<u64> = operations.iter().map(|operation| executed(evidence, operation)).collect();
    let mut loads: Vec<Vec<Load>> = vec![Vec::new(); operations.len()];
    let mut asked: Vec<u64> = vec![u64::MAX; operations.len()];
    // What tracing has taken of each operation so far is none of its pauses. Where it is not known of a call alone it is of a pause.
    let known = evidence.recording.about.tracing_calls_ns.is_some();
    let after = if known { 0 } else { evidence.tracing_a_call as u64 };
    let each = if known { apart(evidence, calls, of, operations.len()) } else { vec![0; operations.len()] };
    let mut traced: Vec<u64> = vec![0; operations.len()];
    for (row, process) in calls.all().filter(|(row, _)| !is_met(row)) {
        let Some(at) = of.get(&process).filter(|at| row.time_ns >= begun[**at]) else { continue };
        let start = row.time_ns.saturating_sub(traced[*at]);
        traced[*at] += each[*at];
        let common = OPENS.contains(&row.number)
            && calls.file(row).is_some_and(|file| !(file.kind == "file" && few(&file.path)));
        if common || LOADS.contains(&row.number) || FORKS.contains(&row.number) {
            let until = start + row.end_ns.saturating_sub(row.time_ns) + after;
            loads[*at].push(Load { start, until, end: row.end_ns + after });
        } else if row.number == CONNECT && row.result >= 0 {
            asked[*at] = asked[*at].min(start);
        }
    }
    loads.iter_mut().for_each(|loads| loads.sort_unstable_by_key(|load| (load.start, load.until)));
    let between = loads.iter().flat_map(|loads| loads.windows(2));
    let mut gaps: Vec<u64> = between.map(|pair| pair[1].start.saturating_sub(pair[0].until)).collect();
    gaps.sort_unstable();
    let usual = gaps.get(gaps.len() / 2).copied().unwrap_or(0);
    let pause = PAUSE_NS.max(LONG_PAUSE * usual);
    let works = works_after(&loads, &begun, pause);
    let ends = loads.into_iter().zip(asked).zip(operations).zip(begun).map(
        |(((loads, asked), operation), begun)| {
            let (mut until, mut end) = (begun, begun);
            for (load, works) in loads.into_iter().zip(&works) {
                if *works && load.start > until + pause || load.start > asked {
                    break;
                }
                (until, end) = (until.max(load.until), end.max(load.end));
            }
            end.min(operation.end)
        },
    );
    ends.collect()
}

/// How far apart the calls of each operation usually begin, ns, as far as that is what tracing takes: with the machine's load it differs from what
/// it takes on average.
fn apart(
    evidence: &Evidence<'_>,
    calls: &Calls<'_>,
    of: &HashMap<u32, usize>,
    operations: usize,
) -> Vec<u64> {
    let mut begins: Vec<Vec<u64>> = vec![Vec::new(); operations];
    for (row, process) in calls.all().filter(|(row, _)| !is_met(row)) {
        of.get(&process).into_iter().for_each(|at| begins[*at].push(row.time_ns));
    }
    let usual = |begins: &Vec<u64>| {
        let mut gaps: Vec<u64> = begins.windows(2).map(|pair| pair[1].saturating_sub(pair[0])).collect();
        gaps.sort_unstable();
        let tracing = evidence.tracing_a_call;
        (gaps.get(gaps.len() / 2).map_or(0.0, |gap| *gap as f64)).clamp(tracing, TRACING * tracing) as u64
    };
    begins.iter().map(usual).collect()
}

/// A call that loads code or settings: from when to when without what tracing took of the operation before, and when it really ended, ns.
#[derive(Clone, Copy)]
struct Load {
    start: u64,
    until: u64,
    end: u64,
}

/// Whether a pause before each load is work, by its number in the operation, where their programs were executed at `begun`. They run the same program: what it does there, it does
/// in most of them. A pause that few have there is the machine's, which let others run.
fn works_after(loads: &[Vec<Load>], begun: &[u64], pause: u64) -> Vec<bool> {
    let longest = loads.iter().map(Vec::len).max().unwrap_or(0);
    let mut before: Vec<(usize, usize, usize)> = vec![(0, 0, 0); longest]; // with a pause, with a long one, of how many
    for (loads, begun) in loads.iter().zip(begun) {
        let mut end = *begun;
        for ((paused, long, of), load) in before.iter_mut().zip(loads) {
            *paused += usize::from(load.start > end + pause);
            *long += usize::from(load.start > end + pause.max(TURN_NS));
            *of += 1;
            end = end.max(load.until);
        }
    }
    let works = |(paused, long, of)| {
        let paused = if of < OFTEN { long } else { paused };
        paused > 0 && paused as f64 >= PAUSED * of as f64
    };
    before.into_iter().map(works).collect()
}
