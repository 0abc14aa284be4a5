//! Calls in which a thread was met when it was stopped at a random moment between two windows, and what they stand for.
//!
//! A window shows one moment: what comes next to it is often the start of a program, or of a phase. Stops at random moments show the whole time
//! between windows, the time in the kernel too: each stands for the CPU time since the one before. How many calls that are follows from what such a
//! call took in windows. Where none was seen there it counts as one: a count must not be made up.

use super::wanted;
use crate::tracer::LONG_WAIT_NS;
use crate::tracer::event::{FileId, Finished};
use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};

/// Stops in a gap from which on they say what was done in it: fewer leave that to the window. Over many gaps the sums are right however few there are in
/// each; one or two stand for all of a gap of ms.
const STOPS: u32 = 3;
/// Places of a process whose costs are kept: three programs that were looked at had 74 to 131.
const PLACES: usize = 1 << 12;

/// How long a thread runs on when it is asked to stop, ns: it takes an interrupt of another CPU. On a virtual machine 4 to 5.5 µs were measured, by calls of 0.1 µs
/// with 2 to 125 µs of the program's own work between them. A call that it enters meanwhile is met as if it had been in it.
const RUNS_ON_NS: u64 = 4_500;
/// Calls that are kept of a gap: of a longer one every second is, and stands for twice the time, and so on. As many as there are in 16 s.
const KEPT: usize = 4096;
/// What calls of one place move, in bytes, is alike up to such a factor: what moves more or less says nothing of how many there were. As uncertain as other counts
/// from windows are.
const ALIKE: f64 = 4.0;
/// Calls of one place that say how long such a call sleeps: one or two may be the exception.
const SLEEPS: u64 = 3;

/// What was met of a thread since its last window.
#[derive(Debug)]
pub(super) struct Met {
    /// Each call with the CPU time that it stands for, ns.
    calls: Vec<(Finished, u64)>,
    /// Every so many calls are kept; how many were met.
    each: u64,
    number: u64,
    stops: u32,
    /// CPU time that all stops stand for, those in the program's own code too, and that of calls, ns.
    covered_ns: u64,
    calls_ns: u64,
}

impl Default for Met {
    fn default() -> Met {
        Met { calls: Vec::new(), each: 1, number: 0, stops: 0, covered_ns: 0, calls_ns: 0 }
    }
}

impl Met {
    /// The thread was stopped, in a call or not. `part`: how likely it was in the call before it was asked to stop.
    pub(super) fn add(&mut self, call: Option<Finished>, part: f64, ran_ns: u64) {
        self.stops += 1;
        self.covered_ns += ran_ns;
        let Some(call) = call else { return };
        let ran_ns = (ran_ns as f64 * part) as u64;
        self.calls_ns += ran_ns;
        self.number += 1;
        if !self.number.is_multiple_of(self.each) {
            return;
        }
        self.calls.push((call, ran_ns * self.each));
        if self.calls.len() >= KEPT {
            let mut at = 0;
            self.calls.retain_mut(|(_, ran_ns)| {
                (at, *ran_ns) = (at + 1, 2 * *ran_ns);
                at % 2 == 0
            });
            self.each *= 2;
        }
    }

    pub(super) fn join(&mut self, next: Met) {
        self.calls.extend(next.calls);
        self.stops += next.stops;
        self.covered_ns += next.covered_ns;
        self.calls_ns += next.calls_ns;
    }

    /// CPU time that all stops stand for, and that of calls, ns.
    pub(super) fn times(&self) -> (u64, u64) {
        (self.covered_ns, self.calls_ns)
    }

    /// Makes what the calls stand for this part of it.
    pub(super) fn scale(&mut self, part: f64) {
        let scaled = |ns: u64| (ns as f64 * part) as u64;
        self.calls.iter_mut().for_each(|(_, ran_ns)| *ran_ns = scaled(*ran_ns));
        self.calls_ns = scaled(self.calls_ns);
    }

    /// Whether it tells what was done in a gap of so much CPU time: most of it lies between the stops.
    pub(super) fn tells(&self, gap_cpu_ns: u64) -> bool {
        self.stops >= STOPS && 2 * self.covered_ns >= gap_cpu_ns
    }

    /// CPU time that a stop stands for, on average, ns.
    pub(super) fn of_a_stop(&self) -> u64 {
        self.covered_ns / u64::from(self.stops.max(1))
    }

    /// Whether a read (0) or a write (1) was met.
    pub(super) fn has_moved(&self, way: usize) -> bool {
        self.calls.iter().any(|(call, _)| wanted::way(call.number) == Some(way))
    }

    /// The calls, each as often as it stands for. `moves`: how many reads and writes the kernel counted meanwhile. `asleep_ns`: how long the thread slept
    /// meanwhile, of which stops show nothing: calls sleep for as long as they did in windows, and together no longer than that.
    pub(super) fn counted(self, costs: &Costs, moves: Option<[u64; 2]>, asleep_ns: u64) -> Vec<Finished> {
        let mut calls: Vec<(Finished, u64, f64)> = Vec::with_capacity(self.calls.len());
        let mut sleeps: Vec<f64> = Vec::with_capacity(self.calls.len());
        for (mut call, ran_ns) in self.calls {
            let cost = costs.of(&call);
            if call.number == slowpath_syscalls::CLOSE && call.file == FileId::default() {
                call.file = cost.and_then(|cost| cost.file).unwrap_or_default();
            }
            let count = cost.map_or(1.0, |cost| ran_ns as f64 / cost.mean_ns().max(1) as f64);
            calls.push((call, ran_ns, count.max(1.0)));
            sleeps.push(cost.map_or(0.0, |cost| cost.sleep_ns()));
        }
        for (way, exact) in moves.into_iter().flatten().enumerate() {
            let of_way = |call: &Finished| wanted::way(call.number) == Some(way);
            let estimate: f64 = calls.iter().filter(|(call, ..)| of_way(call)).map(|(.., count)| count).sum();
            for (_, _, count) in calls.iter_mut().filter(|(call, ..)| of_way(call)) {
                *count *= exact as f64 / estimate;
            }
        }
        let all: f64 = calls.iter().zip(&sleeps).map(|((.., count), sleep)| count * sleep).sum();
        let part = if all > 0.0 { (asleep_ns as f64 / all).min(1.0) } else { 0.0 };
        // The sums are right, though each count is a whole number.
        let mut due = 0.0;
        let whole = calls.into_iter().zip(sleeps).map(|((call, ran_ns, count), sleep)| {
            due += count;
            let times = (due.round() as u64).max(1);
            due -= times as f64;
            // It was over when the thread was stopped.
            let (end, blocked) = (call.time, (part * sleep) as u64);
            let time = end.saturating_sub(ran_ns / times + blocked);
            Finished { count: times, time, end, blocked, met: true, ..call }
        });
        whole.collect()
    }
}

/// What calls of a kind took in windows, without waits.
#[derive(Debug, Clone, Copy)]
pub(super) struct Cost {
    sum_ns: u64,
    calls: u64,
    /// The thread's own CPU time before them, ns; more than a stop takes to arrive is as much.
    before_ns: u64,
    /// How long they slept in all, but for long waits, which are told one by one, ns.
    asleep_ns: u64,
    /// What they returned, those that succeeded.
    results: f64,
    /// The file that all of them were on.
    file: Option<FileId>,
}

impl Cost {
    fn mean_ns(&self) -> u64 {
        self.sum_ns / self.calls.max(1)
    }

    /// How long a call sleeps, on average, ns; nothing where few were seen.
    fn sleep_ns(&self) -> f64 {
        if self.calls < SLEEPS { 0.0 } else { self.asleep_ns as f64 / self.calls as f64 }
    }

    /// Whether a call moves about as many bytes as these.
    fn is_like(&self, call: &Finished) -> bool {
        let moves = slowpath_syscalls::class(call.number) & slowpath_syscalls::BYTES != 0;
        let (mean, result) = (self.results / self.calls.max(1) as f64, call.result as f64);
        !moves || call.result <= 0 || (mean / ALIKE..=mean * ALIKE).contains(&result)
    }

    fn add(&mut self, call: &Finished, before_ns: u64, file: Option<FileId>) {
        self.sum_ns += (call.end - call.time).saturating_sub(call.blocked);
        self.asleep_ns += if call.blocked < LONG_WAIT_NS { call.blocked } else { 0 };
        self.before_ns += before_ns.min(RUNS_ON_NS);
        self.calls += 1;
        self.results += call.result.max(0) as f64;
        self.file = self.file.filter(|known| file == Some(*known));
    }
}

/// Which call, and whether it failed.
type Kind = (u32, bool);

/// What calls took in windows, by where they were made, which they were and whether they failed.
#[derive(Debug, Default)]
pub(super) struct Costs {
    /// By place in each process that lives.
    places: HashMap<u32, HashMap<(u64, Kind), Cost>>,
    /// By program.
    programs: HashMap<(u64, Kind), Cost>,
    /// The program of each process.
    runs: HashMap<u32, u64>,
}

impl Costs {
    /// A process runs this program now; none: it has ended, or nobody knows. Its places are others from now on.
    pub(super) fn runs(&mut self, pid: u32, program: Option<&str>) {
        self.places.remove(&pid);
        match program {
            Some(program) => {
                let mut hasher = DefaultHasher::new();
                program.hash(&mut hasher);
                self.runs.insert(pid, hasher.finish());
            }
            None => _ = self.runs.remove(&pid),
        }
    }

    /// A process was forked: it runs what its parent does.
    pub(super) fn forked(&mut self, pid: u32, parent: u32) {
        if let Some(program) = self.runs.get(&parent).copied() {
            self.runs.insert(pid, program);
        }
    }

    /// Notes what the calls of a window took.
    pub(super) fn learn(&mut self, calls: &[Finished], before: &[u64]) {
        for (call, before) in calls.iter().zip(before.iter().copied().chain(std::iter::repeat(0))) {
            let file = Some(call.file).filter(|file| file.inode != 0);
            let kind = (call.number, call.result < 0);
            let new = || Cost { sum_ns: 0, calls: 0, before_ns: 0, asleep_ns: 0, results: 0.0, file };
            let places = self.places.entry(call.pid).or_default();
            if places.len() < PLACES || places.contains_key(&(call.site, kind)) {
                places.entry((call.site, kind)).or_insert_with(new).add(call, before, file);
            }
            if let Some(program) = self.runs.get(&call.pid) {
                self.programs.entry((*program, kind)).or_insert_with(new).add(call, before, file);
            }
        }
    }

    /// How likely a thread that is met in a call was in it when it was asked to stop, and not about to enter it.
    pub(super) fn was_in(&self, call: &Finished) -> f64 {
        self.of(call).map_or(1.0, |cost| {
            let (in_it, before) = (cost.sum_ns.max(cost.calls) as f64, cost.before_ns as f64);
            in_it / (in_it + before)
        })
    }

    /// What is known of calls like this one: of its place, else of its program, if it is one that takes about as long wherever it is made.
    fn of(&self, call: &Finished) -> Option<Cost> {
        let kind = (call.number, call.result < 0);
        let here = self.places.get(&call.pid).and_then(|places| places.get(&(call.site, kind)));
        let anywhere = slowpath_syscalls::path_argument(call.number).is_some()
            || call.number == slowpath_syscalls::CLOSE
            || call.result < 0;
        let elsewhere = || {
            let program = self.runs.get(&call.pid).filter(|_| anywhere)?;
            let cost = self.programs.get(&(*program, kind))?;
            Some(Cost { file: None, ..*cost })
        };
        here.copied().filter(|cost| cost.is_like(call)).or_else(elsewhere)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use slowpath_syscalls::{CLOSE, OPENAT, READ};

    const US: u64 = 1_000;
    const BEGAN: u64 = 10_000_000_000;

    /// A call of process 1 at a place that took so long.
    fn call(number: u32, site: u64, ns: u64, inode: u64) -> Finished {
        let file = FileId { inode, ..FileId::default() };
        Finished { pid: 1, number, site, time: BEGAN, end: BEGAN + ns, count: 1, file, ..Finished::default() }
    }

    fn met(calls: &[Finished]) -> Met {
        let mut met = Met::default();
        calls.iter().for_each(|call| met.add(Some(call.clone()), 1.0, 4_000 * US));
        met
    }

    fn sums(calls: &[Finished]) -> (u64, u64) {
        calls
            .iter()
            .fold((0, 0), |(count, ns), call| (count + call.count, ns + call.count * (call.end - call.time)))
    }

    #[test]
    fn a_call_stands_for_as_many_as_fit_into_the_time_since_the_stop_before() {
        let mut costs = Costs::default();
        costs.learn(&[call(OPENAT, 7, 2 * US, 1), call(OPENAT, 7, 4 * US, 2)], &[]);
        let counted = met(&[call(OPENAT, 7, 0, 3), call(OPENAT, 7, 0, 4)]).counted(&costs, None, 0);
        let (count, ns) = sums(&counted);
        assert!((2_666..=2_667).contains(&count), "8 ms, 3 µs each: {count}");
        assert!((7_990 * US..=8_000 * US).contains(&ns), "{ns}");
        assert!(counted.iter().all(|call| call.met));
    }

    #[test]
    fn what_was_never_seen_in_a_window_counts_once() {
        let counted = met(&[call(OPENAT, 7, 0, 3)]).counted(&Costs::default(), None, 0);
        assert_eq!(sums(&counted), (1, 4_000 * US));
    }

    #[test]
    fn the_nearest_that_is_known_counts() {
        let mut costs = Costs::default();
        costs.runs(1, Some("/bin/one"));
        costs.runs(2, Some("/bin/one"));
        costs.runs(3, Some("/bin/other"));
        costs.learn(&[call(OPENAT, 7, US, 1), Finished { pid: 3, ..call(OPENAT, 7, 8 * US, 1) }], &[]);
        costs.learn(&[Finished { result: -2, ..call(OPENAT, 7, 5 * US, 1) }, call(READ, 6, US, 1)], &[]);
        let mean = |costs: &Costs, of: Finished| costs.of(&of).map(|cost| cost.mean_ns());
        assert_eq!(mean(&costs, call(OPENAT, 7, 0, 1)), Some(US), "its place");
        assert_eq!(mean(&costs, Finished { pid: 2, ..call(OPENAT, 9, 0, 1) }), Some(US), "its program");
        assert_eq!(
            mean(&costs, Finished { pid: 4, ..call(OPENAT, 9, 0, 1) }),
            None,
            "of another program nothing is known"
        );
        assert_eq!(
            mean(&costs, Finished { result: -13, ..call(OPENAT, 7, 0, 1) }),
            Some(5 * US),
            "those that fail"
        );
        assert_eq!(mean(&costs, call(READ, 7, 0, 1)), None, "a read takes as long as it moves");
        costs.runs(1, Some("/bin/one"));
        assert_eq!(mean(&costs, call(READ, 6, 0, 1)), None, "its places are gone with the program before");
    }

    #[test]
    fn reads_are_as_many_as_the_kernel_counted() {
        let mut costs = Costs::default();
        costs.learn(&[call(READ, 7, US, 1), call(OPENAT, 8, US, 1)], &[]);
        let both = [call(READ, 7, 0, 1), call(OPENAT, 8, 0, 1), call(READ, 7, 0, 1)];
        let counted = met(&both).counted(&costs, Some([500, 9]), 0);
        let of = |number: u32| {
            sums(&counted.iter().filter(|call| call.number == number).cloned().collect::<Vec<_>>())
        };
        assert_eq!(of(READ), (500, 8_000 * US));
        assert_eq!(of(OPENAT).0, 4_000);
    }

    #[test]
    fn a_file_that_is_closed_is_the_one_that_this_place_always_closes() {
        let mut costs = Costs::default();
        costs.learn(
            &[call(CLOSE, 7, US, 5), call(CLOSE, 7, US, 5), call(CLOSE, 8, US, 5), call(CLOSE, 8, US, 6)],
            &[],
        );
        let counted = met(&[call(CLOSE, 7, 0, 0), call(CLOSE, 8, 0, 0)]).counted(&costs, None, 0);
        assert_eq!(counted.iter().map(|call| call.file.inode).collect::<Vec<_>>(), [5, 0]);
    }

    #[test]
    fn what_moves_many_times_as_much_says_nothing_of_how_many_there_were() {
        let mut costs = Costs::default();
        let of = |result: i64| Finished { result, ..call(READ, 7, US, 1) };
        costs.learn(&[of(100)], &[]);
        let count = |result: i64| met(&[of(result)]).counted(&costs, None, 0)[0].count;
        assert_eq!([count(25), count(400), count(24), count(401)], [4_000, 4_000, 1, 1]);
    }

    #[test]
    fn calls_sleep_as_long_as_in_windows_and_together_no_longer_than_the_thread_did() {
        let slept = |seen: usize, blocked: u64, asleep: u64| {
            let mut costs = Costs::default();
            let one = Finished { blocked, ..call(OPENAT, 7, 2 * US + blocked, 1) };
            costs.learn(&vec![one; seen], &[]);
            let counted = met(&[call(OPENAT, 7, 0, 1)]).counted(&costs, None, asleep);
            let (of, asleep) =
                (sums(&counted), counted.iter().map(|call| call.count * call.blocked).sum::<u64>());
            assert_eq!((of.0, of.1 - asleep), (2_000, 4_000 * US));
            asleep / US
        };
        assert_eq!(slept(3, 5 * US, 20_000 * US), 10_000);
        assert_eq!(slept(3, 5 * US, 4_000 * US), 4_000);
        assert_eq!(slept(2, 5 * US, 20_000 * US), 0, "too few were seen");
        assert_eq!(slept(3, LONG_WAIT_NS, 20_000 * US), 0, "long waits are told one by one");
    }

    #[test]
    fn a_call_that_begins_while_the_stop_is_under_way_was_not_gone_on_with() {
        let mut costs = Costs::default();
        costs.learn(&[call(OPENAT, 7, US, 1), call(OPENAT, 7, 3 * US, 1)], &[2 * US, 100 * US]);
        let part = costs.was_in(&call(OPENAT, 7, 0, 1));
        assert!((part - 4.0 / (4.0 + 2.0 + 4.5)).abs() < 1e-9, "{part}");
        assert_eq!(costs.was_in(&call(READ, 8, 0, 1)), 1.0, "nothing is known");
        let mut met = Met::default();
        met.add(Some(call(OPENAT, 7, 0, 1)), part, 10_500);
        assert_eq!(met.times(), (10_500, 4_000));
    }

    #[test]
    fn a_long_gap_is_thinned_out_and_keeps_its_time() {
        let mut of_gap = Met::default();
        (0..3 * KEPT).for_each(|_| of_gap.add(Some(call(OPENAT, 7, 0, 1)), 1.0, 1_000));
        assert!(of_gap.calls.len() < KEPT);
        let kept: u64 = of_gap.calls.iter().map(|(_, ns)| ns).sum();
        assert!((kept as f64 / (3_000.0 * KEPT as f64) - 1.0).abs() < 0.01, "{kept}");
    }

    #[test]
    fn few_stops_or_stops_of_a_small_part_tell_nothing() {
        let of = |stops: usize| met(&vec![call(READ, 7, 0, 1); stops]);
        assert!(!of(2).tells(8_000 * US) && of(3).tells(24_000 * US) && !of(3).tells(24_001 * US));
    }
}
