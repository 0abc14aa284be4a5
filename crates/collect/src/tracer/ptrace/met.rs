//! Calls in which a thread was met when it was stopped at a random moment between two windows, and what they stand for.
//!
//! A window shows one moment: what comes next to it is often the start of a program, or of a phase. Stops at random moments show the whole time
//! between windows, the time in the kernel too: each stands for the CPU time since the one before. How many calls that are follows from what such a
//! call took in windows. Where none was seen there it counts as one: a count must not be made up.

use super::wanted;
use crate::tracer::event::{FileId, Finished};
use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};

/// Stops in a gap from which on they say what was done in it: fewer leave that to the window.
const STOPS: u32 = 3;
/// Places whose costs are kept.
const PLACES: usize = 1 << 16;

/// What was met of a thread since its last window.
#[derive(Debug, Default)]
pub(super) struct Met {
    /// Each call with the CPU time that it stands for, ns.
    calls: Vec<(Finished, u64)>,
    stops: u32,
    /// CPU time that all stops stand for, those in the program's own code too, ns.
    covered_ns: u64,
}

impl Met {
    /// The thread was stopped, in a call or not.
    pub(super) fn add(&mut self, call: Option<Finished>, ran_ns: u64) {
        self.stops += 1;
        self.covered_ns += ran_ns;
        self.calls.extend(call.map(|call| (call, ran_ns)));
    }

    pub(super) fn join(&mut self, next: Met) {
        self.calls.extend(next.calls);
        self.stops += next.stops;
        self.covered_ns += next.covered_ns;
    }

    /// Whether it tells what was done in a gap of so much CPU time: most of it lies between the stops.
    pub(super) fn tells(&self, gap_cpu_ns: u64) -> bool {
        self.stops >= STOPS && 2 * self.covered_ns >= gap_cpu_ns
    }

    /// Whether a read (0) or a write (1) was met.
    pub(super) fn has_moved(&self, way: usize) -> bool {
        self.calls.iter().any(|(call, _)| wanted::way(call.number) == Some(way))
    }

    /// The calls, each as often as it stands for. `moves`: how many reads and writes the kernel counted meanwhile.
    pub(super) fn counted(self, costs: &Costs, moves: Option<[u64; 2]>) -> Vec<Finished> {
        let mut calls: Vec<(Finished, u64, f64)> = Vec::with_capacity(self.calls.len());
        for (mut call, ran_ns) in self.calls {
            let cost = costs.of(&call);
            if call.number == slowpath_syscalls::CLOSE && call.file == FileId::default() {
                call.file = cost.and_then(|cost| cost.file).unwrap_or_default();
            }
            let count = cost.map_or(1.0, |cost| ran_ns as f64 / cost.mean_ns().max(1) as f64);
            calls.push((call, ran_ns, count.max(1.0)));
        }
        for (way, exact) in moves.into_iter().flatten().enumerate() {
            let of_way = |call: &Finished| wanted::way(call.number) == Some(way);
            let estimate: f64 = calls.iter().filter(|(call, ..)| of_way(call)).map(|(.., count)| count).sum();
            for (_, _, count) in calls.iter_mut().filter(|(call, ..)| of_way(call)) {
                *count *= exact as f64 / estimate;
            }
        }
        // The sums are right, though each count is a whole number.
        let mut due = 0.0;
        let whole = calls.into_iter().map(|(call, ran_ns, count)| {
            due += count;
            let times = (due.round() as u64).max(1);
            due -= times as f64;
            Finished { count: times, end: call.time + ran_ns / times, met: true, ..call }
        });
        whole.collect()
    }
}

/// What calls of a kind took in windows, without waits.
#[derive(Debug, Clone, Copy)]
pub(super) struct Cost {
    sum_ns: u64,
    calls: u64,
    /// The file that all of them were on.
    file: Option<FileId>,
}

impl Cost {
    fn mean_ns(&self) -> u64 {
        self.sum_ns / self.calls.max(1)
    }
}

/// Calls of one place in one process; of one program; and of all.
#[derive(Debug, PartialEq, Eq, Hash)]
enum Of {
    Place(u32, u64),
    Program(u64),
    Any,
}

/// What calls took in windows, by where they were made, which they were and whether they failed.
#[derive(Debug, Default)]
pub(super) struct Costs {
    known: HashMap<(Of, u32, bool), Cost>,
    places: usize,
    /// The program of each process.
    programs: HashMap<u32, u64>,
}

impl Costs {
    /// A process runs this program now; none: it has ended, or nobody knows.
    pub(super) fn runs(&mut self, pid: u32, program: Option<&str>) {
        match program {
            Some(program) => {
                let mut hasher = DefaultHasher::new();
                program.hash(&mut hasher);
                self.programs.insert(pid, hasher.finish());
            }
            None => _ = self.programs.remove(&pid),
        }
    }

    /// A process was forked: it runs what its parent does.
    pub(super) fn forked(&mut self, pid: u32, parent: u32) {
        if let Some(program) = self.programs.get(&parent).copied() {
            self.programs.insert(pid, program);
        }
    }

    fn keys(&self, call: &Finished) -> impl Iterator<Item = (Of, u32, bool)> + use<> {
        let (number, failed) = (call.number, call.result < 0);
        let program = self.programs.get(&call.pid).map(|program| Of::Program(*program));
        let all = [Some(Of::Place(call.pid, call.site)), program, Some(Of::Any)];
        all.into_iter().flatten().map(move |of| (of, number, failed))
    }

    /// Notes what the calls of a window took.
    pub(super) fn learn(&mut self, calls: &[Finished]) {
        for call in calls {
            let ns = (call.end - call.time).saturating_sub(call.blocked);
            let file = Some(call.file).filter(|file| file.inode != 0);
            for key in self.keys(call) {
                let is_place = matches!(key.0, Of::Place(..));
                if let Some(cost) = self.known.get_mut(&key) {
                    cost.sum_ns += ns;
                    cost.calls += 1;
                    cost.file = cost.file.filter(|known| file == Some(*known));
                } else if !is_place || self.places < PLACES {
                    self.places += usize::from(is_place);
                    self.known.insert(key, Cost { sum_ns: ns, calls: 1, file });
                }
            }
        }
    }

    /// What is known of calls like this one: of its place, else of its program, else of any.
    fn of(&self, call: &Finished) -> Option<Cost> {
        self.keys(call).find_map(|key| self.known.get(&key).copied())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use slowpath_syscalls::{CLOSE, OPENAT, READ};

    const US: u64 = 1_000;

    /// A call of process 1 at a place that took so long.
    fn call(number: u32, site: u64, ns: u64, inode: u64) -> Finished {
        let file = FileId { inode, ..FileId::default() };
        Finished { pid: 1, number, site, time: 500, end: 500 + ns, count: 1, file, ..Finished::default() }
    }

    fn met(calls: &[Finished]) -> Met {
        let mut met = Met::default();
        calls.iter().for_each(|call| met.add(Some(call.clone()), 4_000 * US));
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
        costs.learn(&[call(OPENAT, 7, 2 * US, 1), call(OPENAT, 7, 4 * US, 2)]);
        let counted = met(&[call(OPENAT, 7, 0, 3), call(OPENAT, 7, 0, 4)]).counted(&costs, None);
        let (count, ns) = sums(&counted);
        assert!((2_666..=2_667).contains(&count), "8 ms, 3 µs each: {count}");
        assert!((7_990 * US..=8_000 * US).contains(&ns), "{ns}");
        assert!(counted.iter().all(|call| call.met));
    }

    #[test]
    fn what_was_never_seen_in_a_window_counts_once() {
        let counted = met(&[call(OPENAT, 7, 0, 3)]).counted(&Costs::default(), None);
        assert_eq!(sums(&counted), (1, 4_000 * US));
    }

    #[test]
    fn the_nearest_that_is_known_counts() {
        let mut costs = Costs::default();
        costs.runs(1, Some("/bin/one"));
        costs.runs(2, Some("/bin/one"));
        costs.runs(3, Some("/bin/other"));
        costs.learn(&[call(OPENAT, 7, US, 1), Finished { pid: 3, ..call(OPENAT, 7, 8 * US, 1) }]);
        costs.learn(&[Finished { result: -2, ..call(OPENAT, 7, 5 * US, 1) }]);
        let mean = |of: Finished| costs.of(&of).map(|cost| cost.mean_ns());
        assert_eq!(mean(call(OPENAT, 7, 0, 1)), Some(US), "its place");
        assert_eq!(mean(Finished { pid: 2, ..call(OPENAT, 9, 0, 1) }), Some(US), "its program");
        assert_eq!(mean(Finished { pid: 4, ..call(OPENAT, 9, 0, 1) }), Some(4_500), "any");
        assert_eq!(mean(Finished { result: -13, ..call(OPENAT, 7, 0, 1) }), Some(5 * US), "those that fail");
        assert_eq!(mean(call(READ, 7, 0, 1)), None);
    }

    #[test]
    fn reads_are_as_many_as_the_kernel_counted() {
        let mut costs = Costs::default();
        costs.learn(&[call(READ, 7, US, 1), call(OPENAT, 8, US, 1)]);
        let both = [call(READ, 7, 0, 1), call(OPENAT, 8, 0, 1), call(READ, 7, 0, 1)];
        let counted = met(&both).counted(&costs, Some([500, 9]));
        let of = |number: u32| {
            sums(&counted.iter().filter(|call| call.number == number).cloned().collect::<Vec<_>>())
        };
        assert_eq!(of(READ), (500, 8_000 * US));
        assert_eq!(of(OPENAT).0, 4_000);
    }

    #[test]
    fn a_file_that_is_closed_is_the_one_that_this_place_always_closes() {
        let mut costs = Costs::default();
        costs.learn(&[
            call(CLOSE, 7, US, 5),
            call(CLOSE, 7, US, 5),
            call(CLOSE, 8, US, 5),
            call(CLOSE, 8, US, 6),
        ]);
        let counted = met(&[call(CLOSE, 7, 0, 0), call(CLOSE, 8, 0, 0)]).counted(&costs, None);
        assert_eq!(counted.iter().map(|call| call.file.inode).collect::<Vec<_>>(), [5, 0]);
    }

    #[test]
    fn few_stops_or_stops_of_a_small_part_tell_nothing() {
        let of = |stops: usize| met(&vec![call(READ, 7, 0, 1); stops]);
        assert!(!of(2).tells(8_000 * US) && of(3).tells(24_000 * US) && !of(3).tells(24_001 * US));
    }
}
