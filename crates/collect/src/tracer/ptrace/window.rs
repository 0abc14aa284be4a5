//! What was seen of a thread in a window, and what it stands for: its calls wait here until it is known how long the thread ran
//! undisturbed before (and, at its end, after) it. Then their counts are scaled up.
//!
//! Two ratios, of what the thread did itself in both to what it did in the window: CPU time, and time asleep. Calls that hardly
//! sleep are scaled by the first, or by that of both together, if that is less and the thread sleeps steadily. A wait is scaled by the
//! lesser of the two: what sleeps as it works in each round of a loop is in both, but a single long sleep says nothing of others, whichever
//! side it falls on. Reads and writes the kernel counts itself. A call that is known to be the only one on its file in
//! the window is no evidence that the file was used again: the rest of what it stands for has no file.

use super::met::{Costs, Met};
use super::wanted::way;
use crate::tracer::LONG_WAIT_NS;
use crate::tracer::event::{FileId, Finished};
use std::collections::{BTreeMap, HashMap, HashSet};
use std::hash::{DefaultHasher, Hash, Hasher};

/// A window that was traced on is divided into such ones: so many calls or so long, ns. The last of them stands for what follows: the start of a
/// program is not in it.
pub(super) const CALLS: u64 = 100;
pub(super) const LENGTH_NS: u64 = 20_000_000;
/// Files that are remembered from former windows of a process.
const FILES: usize = 4096;
/// Sleeps of a window, none of them half of all, that show that the thread sleeps as a rule: two would each be half.
const SLEEPS: usize = 3;
/// CPU time tells how many calls there were to such a factor.
const UNSURE: f64 = 4.0;
/// A file that a thread was met with so often in a gap stands for all that was done then: two may be one that was opened twice.
const APART: u32 = 3;
/// From a tenth of a window on reads or writes are what a thread does.
const FEW_MOVES: usize = CALLS as usize / 10;

/// What a thread did itself, without what tracing took, ns.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Own {
    pub cpu_ns: u64,
    pub asleep_ns: u64,
}

impl Own {
    fn both_ns(self) -> u64 {
        self.cpu_ns + self.asleep_ns
    }

    fn plus(self, other: Own) -> Own {
        Own { cpu_ns: self.cpu_ns + other.cpu_ns, asleep_ns: self.asleep_ns + other.asleep_ns }
    }
}

/// A window that is over.
#[derive(Debug, Default)]
pub(super) struct Window {
    /// Of the thread in the window, and while it ran undisturbed.
    pub own: Own,
    pub gap: Own,
    /// Of the CPU time of the gap at most so much was in the kernel, ns.
    pub gap_sys_ns: u64,
    /// Reads and writes in the gap, where the kernel counts them.
    pub gap_moves: Option<[u64; 2]>,
    /// What the reference's call takes where it is not traced, ns.
    pub bare_ns: u64,
    pub calls: Vec<Finished>,
    /// CPU time of the thread itself before each of them, since the call before, ns.
    pub before: Vec<u64>,
    /// What was met in the gap.
    pub met: Met,
}

/// What a call takes at least, as a part of the reference's: one that looks up a path, and any other.
const LEAST_LOOKUP: u64 = 2;
pub(super) const LEAST: u64 = 4;

impl Window {
    /// Adds one that follows.
    pub(super) fn join(&mut self, next: Window) {
        self.own = self.own.plus(next.own);
        self.gap_sys_ns += next.gap_sys_ns;
        // What is not known of one is not known of both; where there was no gap there is nothing to be known.
        let no_gap = |window: &Window| window.gap == Own::default();
        self.gap_moves = match (self.gap_moves, next.gap_moves) {
            (Some(a), Some(b)) => Some([a[0] + b[0], a[1] + b[1]]),
            (known, None) if no_gap(&next) => known,
            (None, known) if no_gap(self) => known,
            _ => None,
        };
        self.gap = self.gap.plus(next.gap);
        self.calls.extend(next.calls);
        self.before.extend(next.before);
        self.met.join(next.met);
    }

    /// Its calls, scaled, and those that were met in its gap. `files`: what was seen in former windows of the process.
    pub(super) fn scaled(mut self, files: &mut HashSet<u64>, costs: &mut Costs) -> Vec<Finished> {
        let own = self.own;
        if self.gap == Own::default() {
            costs.learn(&self.calls, &self.before);
            return self.calls; // nothing was missed
        }
        self.at_least();
        costs.learn(&self.calls, &self.before);
        let by_met = self.is_told_by_met();
        self.count(by_met);
        self.limit(own, by_met);
        let met = std::mem::take(&mut self.met);
        let met = if by_met { met.counted(costs, self.gap_moves, self.asleep_besides()) } else { Vec::new() };
        self.without_files(met, files)
    }

    /// Whether what was met in the gap says what was done in it. Who sleeps for most of the time is seldom met: its window says more, unless it was of another kind.
    fn is_told_by_met(&self) -> bool {
        (self.gap.cpu_ns >= self.gap.asleep_ns || self.is_of_another_kind())
            && self.met.tells(self.gap.cpu_ns)
    }

    /// Whether the kernel counted many more reads or writes in the gap than the window would have stood for, and some were met. So it is where threads take turns, as
    /// those that run goroutines do: one window is of a thread that looks for work.
    fn is_of_another_kind(&self) -> bool {
        let Some(gap) = self.gap_moves else { return false };
        let busy = self.gap.cpu_ns as f64 / self.own.cpu_ns.max(1) as f64;
        [0, 1].into_iter().any(|at| {
            let told = UNSURE * busy * self.moved(at) as f64;
            self.moved(at) < FEW_MOVES && gap[at] as f64 > told && gap[at] > CALLS && self.met.has_moved(at)
        })
    }

    /// How many reads (0) or writes (1) it saw.
    fn moved(&self, at: usize) -> usize {
        self.calls.iter().filter(|call| way(call.number) == Some(at)).count()
    }

    /// What a stop takes is known to a few percent only, and is many times what a short call takes: where too much was taken off, nothing
    /// would be left of it.
    fn at_least(&mut self) {
        let mut least = 0;
        for call in &mut self.calls {
            let part = if call.path.is_empty() { LEAST } else { LEAST_LOOKUP };
            let work = (call.end - call.time).saturating_sub(call.blocked).max(self.bare_ns / part);
            call.end = call.time + call.blocked + work;
            least += self.bare_ns / part;
        }
        self.own.cpu_ns = self.own.cpu_ns.max(least);
    }

    fn count(&mut self, by_met: bool) {
        let ratio = |own: u64, gap: u64| 1.0 + gap as f64 / own.max(1) as f64;
        let mut busy = ratio(self.own.cpu_ns, self.gap.cpu_ns);
        let waits = busy.min(ratio(self.own.asleep_ns, self.gap.asleep_ns));
        if self.sleeps_steadily() {
            // What it works is little beside what stopping it takes, but it sleeps as long as it does otherwise.
            busy = busy.min(ratio(self.own.both_ns(), self.gap.both_ns()));
        }
        let (mut moves, mut busy) = self.by_moves(busy);
        if by_met {
            // Each is one; what was met stands for the others.
            busy = 1.0;
            moves = [0, 1].map(|way| {
                if self.met.has_moved(way) || self.gap_moves.is_none() { 1.0 } else { moves[way] }
            });
        }
        // The sums are right, though each count is a whole number.
        let mut due = [0.0; 4];
        for call in &mut self.calls {
            let wait = call.blocked >= LONG_WAIT_NS;
            let way = way(call.number).filter(|_| !wait);
            let due = &mut due[way.map_or(usize::from(wait), |way| 2 + way)];
            // Each exec is reported by itself.
            *due += match () {
                () if slowpath_syscalls::EXECS.contains(&call.number) => 1.0,
                () if wait => waits,
                () => way.map_or(busy, |way| moves[way]),
            };
            call.count = (*due as u64).max(1);
            *due -= call.count as f64;
        }
    }

    /// What reads and writes are scaled by, and other calls that hardly sleep, if by CPU time they were by `busy`. Where the kernel counted
    /// reads and writes they are as many as there were, and other calls as many for each of them as in the window. A few may have been another
    /// matter than those of the gap: they are made no more than their CPU time allows.
    fn by_moves(&self, busy: f64) -> ([f64; 2], f64) {
        let Some(gap) = self.gap_moves else { return ([busy; 2], busy) };
        let seen = [0, 1].map(|at| self.moved(at));
        let exact = |gap: u64, seen: usize| {
            let exact = 1.0 + gap as f64 / seen.max(1) as f64;
            if seen >= FEW_MOVES { exact } else { exact.min(busy) }
        };
        let moves = [0, 1].map(|at| exact(gap[at], seen[at]));
        let all = seen[0] + seen[1];
        (moves, if all >= FEW_MOVES { exact(gap[0] + gap[1], all).min(UNSURE * busy) } else { busy })
    }

    /// How long it slept in the gap besides what the calls of the window stand for, ns.
    fn asleep_besides(&self) -> u64 {
        let told: u64 = self.calls.iter().map(|call| (call.count - 1) * call.blocked).sum();
        self.gap.asleep_ns.saturating_sub(told)
    }

    /// Whether it sleeps for most of its time, a little at a time.
    fn sleeps_steadily(&self) -> bool {
        let sleeps = || self.calls.iter().map(|call| call.blocked).filter(|ns| *ns > 0);
        let longest = sleeps().max().unwrap_or(0);
        sleeps().count() >= SLEEPS
            && longest <= self.own.asleep_ns / 2
            && self.own.asleep_ns > self.own.cpu_ns
    }

    /// What the calls stand for is no more than what the thread did.
    fn limit(&mut self, own: Own, by_met: bool) {
        let whole = own.plus(self.gap);
        let (mut busy, mut asleep) = (0, 0);
        for call in &self.calls {
            asleep += call.count * call.blocked;
            busy += call.count * (call.end - call.time).saturating_sub(call.blocked);
        }
        let part = |of: u64, most: u64| if of > most { most as f64 / of as f64 } else { 1.0 };
        // Of reads that were not met, though there were some, there was less than a stop stands for.
        let of_gap = if by_met { self.met.of_a_stop() } else { self.gap_sys_ns };
        let most = own.cpu_ns + of_gap.min(self.gap.cpu_ns);
        let (busy, asleep) = (part(busy, most), part(asleep, whole.asleep_ns));
        for call in &mut self.calls {
            let work = (call.end - call.time).saturating_sub(call.blocked);
            call.blocked = (call.blocked as f64 * asleep) as u64;
            call.end = call.time + call.blocked + (work as f64 * busy) as u64;
        }
    }

    fn without_files(self, met: Vec<Finished>, files: &mut HashSet<u64>) -> Vec<Finished> {
        let mut places: HashMap<u64, (usize, usize)> = HashMap::new();
        for (at, call) in self.calls.iter().enumerate() {
            if let Some(file) = file(call) {
                places.entry(file).or_insert((at, at)).1 = at;
            }
        }
        // Used all the time, or in more than one window.
        let half = (self.calls.len() / 2).max(1);
        let through = |(first, last): (usize, usize)| last - first >= half;
        // What was met is ms apart.
        let mut times: HashMap<u64, u32> = HashMap::new();
        met.iter().filter_map(file).for_each(|file| *times.entry(file).or_default() += 1);
        let again = |call: &Finished, file: u64| {
            let before = files.contains(&file);
            let times = times.get(&file).copied().unwrap_or(0);
            match call.met {
                true => times >= APART || times + 1 >= APART && (before || places.contains_key(&file)),
                false => before || times > 0 || places.get(&file).is_some_and(|at| through(*at)),
            }
        };
        let mut all = Vec::with_capacity(self.calls.len() + met.len());
        let mut rest: BTreeMap<(u32, u64, i64, bool), Vec<Finished>> = BTreeMap::new();
        for mut call in self.calls.into_iter().chain(met) {
            if call.count > 1 && file(&call).is_some_and(|file| !again(&call, file)) {
                let other = Finished {
                    path: Vec::new(),
                    link: Vec::new(),
                    file: FileId::default(),
                    count: call.count - 1,
                    ..call
                };
                let key = (other.number, other.site, other.result.min(0), other.met);
                rest.entry(key).or_default().push(other);
                call.count = 1;
            }
            all.push(call);
        }
        if files.len() < FILES {
            files.extend(places.into_keys().chain(times.into_keys()));
        }
        all.extend(rest.into_values().filter_map(mean));
        all
    }
}

/// What tells a file from others: its path, or where no path is known its device and inode.
fn file(call: &Finished) -> Option<u64> {
    let mut hasher = DefaultHasher::new();
    match call.path.is_empty() {
        false => call.path.hash(&mut hasher),
        true if call.file.inode != 0 => (call.file.device, call.file.inode).hash(&mut hasher),
        true => return None,
    }
    Some(hasher.finish())
}

/// Calls of one kind as one.
fn mean(calls: Vec<Finished>) -> Option<Finished> {
    let count: u64 = calls.iter().map(|call| call.count).sum();
    let of = |what: fn(&Finished) -> u64| {
        calls.iter().map(|call| call.count * what(call)).sum::<u64>() / count.max(1)
    };
    let (length, blocked) = (of(|call| call.end - call.time), of(|call| call.blocked));
    let result = of(|call| call.result.max(0) as u64) as i64;
    let first = calls.into_iter().next()?;
    let result = if first.result < 0 { first.result } else { result };
    Some(Finished { count, blocked, end: first.time + length, result, ..first })
}

#[cfg(test)]
mod tests {
    use super::*;

    const US: u64 = 1_000;

    /// Calls of 10 µs each on these files, 10 µs apart, and a sleep of so long if it is not 0.
    fn window(files: impl IntoIterator<Item = u64>, sleep: u64, gap: Own) -> Window {
        let mut calls: Vec<Finished> = Vec::new();
        for (at, inode) in files.into_iter().enumerate() {
            let time = at as u64 * 20 * US;
            let file = FileId { inode, ..FileId::default() };
            calls.push(Finished {
                time,
                end: time + 10 * US,
                count: 1,
                number: 0,
                result: 8,
                file,
                ..Finished::default()
            });
        }
        let own = Own { cpu_ns: calls.len() as u64 * 20 * US, asleep_ns: sleep };
        if sleep > 0 {
            let end = sleep + US;
            calls.push(Finished { end, blocked: sleep, count: 1, number: 35, ..Finished::default() });
        }
        Window {
            own,
            gap,
            calls,
            gap_sys_ns: gap.cpu_ns,
            bare_ns: 400,
            gap_moves: None,
            before: Vec::new(),
            met: Met::default(),
        }
    }

    fn sums(calls: &[Finished], number: u32) -> (u64, u64, u64) {
        let of = calls.iter().filter(|call| call.number == number);
        of.fold((0, 0, 0), |(count, length, asleep), call| {
            let each = call.end - call.time;
            (count + call.count, length + call.count * each, asleep + call.count * call.blocked)
        })
    }

    #[test]
    fn where_nothing_was_missed_everything_is_exact() {
        let calls =
            window([1; 100], 5_000 * US, Own::default()).scaled(&mut HashSet::new(), &mut Costs::default());
        assert!(calls.len() == 101 && calls.iter().all(|call| call.count == 1));
    }

    #[test]
    fn calls_stand_for_the_cpu_time_of_the_gap_too() {
        // 2 ms of CPU time in the window, 47 ms before it.
        let gap = Own { cpu_ns: 47_000 * US, asleep_ns: 0 };
        let calls = window([1; 100], 0, gap).scaled(&mut HashSet::new(), &mut Costs::default());
        let (count, length, _) = sums(&calls, 0);
        assert!((2_440..=2_450).contains(&count), "{count}");
        assert!(length <= 24_500 * US, "{length}");
    }

    #[test]
    fn they_never_take_more_than_there_was() {
        // What tracing took was overestimated: the window seems to have had little time of its own.
        let mut window = window([1; 100], 0, Own { cpu_ns: 10_000 * US, asleep_ns: 0 });
        window.own.cpu_ns = 100 * US;
        let (_, length, _) = sums(&window.scaled(&mut HashSet::new(), &mut Costs::default()), 0);
        assert!(length <= 10_100 * US, "{length}");
    }

    #[test]
    fn calls_take_no_more_than_the_time_in_the_kernel_and_no_less_than_a_call_can() {
        let mut user = window([1; 100], 0, Own { cpu_ns: 100_000 * US, asleep_ns: 0 });
        user.gap_sys_ns = 1_000 * US;
        assert!(sums(&user.scaled(&mut HashSet::new(), &mut Costs::default()), 0).1 <= 3_000 * US);
        // Too much was taken off: nothing seems to be left of the calls, and of the window.
        let mut none = window([1; 100], 0, Own { cpu_ns: 100 * US, asleep_ns: 0 });
        none.own.cpu_ns = 0;
        none.calls.iter_mut().for_each(|call| call.end = call.time);
        let (count, length, _) = sums(&none.scaled(&mut HashSet::new(), &mut Costs::default()), 0);
        assert!((1_000..=1_100).contains(&count) && length >= 90 * US, "{count} {length}");
    }

    #[test]
    fn a_wait_is_scaled_by_the_lesser_of_both_ratios() {
        // In a loop both are the same.
        let gap = Own { cpu_ns: 20_000 * US, asleep_ns: 50_000 * US };
        let calls = window([1; 100], 5_000 * US, gap).scaled(&mut HashSet::new(), &mut Costs::default());
        let (count, _, asleep) = sums(&calls, 35);
        assert!((10..=11).contains(&count) && asleep <= 55_000 * US, "{count} {asleep}");
        // One long sleep in the window, none before: there was one.
        let gap = Own { cpu_ns: 200_000 * US, asleep_ns: 0 };
        assert_eq!(
            sums(&window([1; 100], 5_000 * US, gap).scaled(&mut HashSet::new(), &mut Costs::default()), 35).0,
            1
        );
        // One long sleep before, a short one in the window: it is not made thousands of them.
        let gap = Own { cpu_ns: 2_000 * US, asleep_ns: 10_000_000 * US };
        let calls = window([1; 100], 2_000 * US, gap).scaled(&mut HashSet::new(), &mut Costs::default());
        assert!(sums(&calls, 35).0 <= 2 && sums(&calls, 0).0 <= 201);
    }

    #[test]
    fn reads_and_writes_are_as_many_as_the_kernel_counted() {
        // By CPU time ten times as many; the kernel counted 30 or 50 times as many. Of calls beside them that is at most four times as many.
        let gap = Own { cpu_ns: 18_000 * US, asleep_ns: 0 };
        for (gap_moves, others) in [(2_900, 30), (4_900, 40)] {
            let mut counted = window([1; 100], 0, gap);
            counted.gap_moves = Some([gap_moves, 0]);
            counted.calls[50].number = 257;
            let calls = counted.scaled(&mut HashSet::new(), &mut Costs::default());
            assert!(
                (gap_moves + 98..=gap_moves + 99).contains(&sums(&calls, 0).0),
                "but for a part of a call"
            );
            assert_eq!(sums(&calls, 257).0, others);
        }
        // A few are made no more than CPU time allows, and fewer if there were fewer.
        for (gap_moves, reads) in [(4_900, 90), (45, 54)] {
            let mut few = window([1; 100], 0, gap);
            few.calls[9..].iter_mut().for_each(|call| call.number = 4);
            few.gap_moves = Some([gap_moves, 0]);
            let calls = few.scaled(&mut HashSet::new(), &mut Costs::default());
            assert_eq!((sums(&calls, 0).0, sums(&calls, 4).0), (reads, 910));
        }
    }

    #[test]
    fn reads_of_two_gaps_are_added_up_if_both_are_known() {
        let gap = Own { cpu_ns: 18_000 * US, asleep_ns: 0 };
        let with = |gap, gap_moves| Window { gap_moves, ..window([1; 100], 0, gap) };
        for (first, next, both) in [
            (with(gap, Some([1, 2])), with(gap, Some([3, 4])), Some([4, 6])),
            (with(gap, Some([1, 2])), with(Own::default(), None), Some([1, 2])),
            (with(Own::default(), None), with(gap, Some([3, 4])), Some([3, 4])),
            (with(gap, None), with(gap, Some([3, 4])), None),
        ] {
            let mut whole = first;
            whole.join(next);
            assert_eq!(whole.gap_moves, both);
        }
    }

    #[test]
    fn calls_of_a_thread_that_sleeps_steadily_are_scaled_by_its_whole_time() {
        // A request each ms; of its CPU time a hundredth was measured in the window.
        let steady = |longest: u64| {
            let gap = Own { cpu_ns: 9_000 * US, asleep_ns: 90_000 * US };
            let mut window = window([1; 20], 0, gap);
            window.calls.iter_mut().skip(1).step_by(2).for_each(|call| {
                (call.number, call.end, call.blocked) = (7, call.end + 900 * US, 900 * US);
            });
            window.calls[1].blocked = longest;
            window.own = Own { cpu_ns: 100 * US, asleep_ns: 8_100 * US + longest };
            sums(&window.scaled(&mut HashSet::new(), &mut Costs::default()), 0).0
        };
        assert!((115..=125).contains(&steady(900 * US)), "{}", steady(900 * US));
        // One sleep is most of what it slept.
        assert!((900..=920).contains(&steady(9_000 * US)), "{}", steady(9_000 * US));
    }

    #[test]
    fn a_file_seen_once_is_not_claimed_to_be_used_again() {
        let gap = Own { cpu_ns: 18_000 * US, asleep_ns: 0 };
        let mut known = HashSet::new();
        let calls = window(1..=100, 0, gap).scaled(&mut known, &mut Costs::default());
        assert!(calls.iter().filter(|call| call.file.inode != 0).all(|call| call.count == 1));
        assert_eq!(sums(&calls, 0).0, 1_000);
        assert_eq!(calls.len(), 101, "the rest is one row");
        // In the next window it is known to be.
        let calls = window(1..=100, 0, gap).scaled(&mut known, &mut Costs::default());
        assert!(calls.len() == 100 && calls.iter().all(|call| call.count == 10));
    }

    #[test]
    fn what_was_met_between_windows_says_what_was_done_there() {
        // 100 lookups at the start of the program; then it reads, one file again and again and others once each.
        let gap = Own { cpu_ns: 40_000 * US, asleep_ns: 0 };
        let met = |stops: u64| {
            let mut met = Met::default();
            for stop in 0..stops {
                let inode = if stop.is_multiple_of(2) { 500 } else { 1_000 + stop };
                let file = FileId { inode, ..FileId::default() };
                met.add(Some(Finished { number: 4, file, count: 1, ..Finished::default() }), 1.0, 4_000 * US);
            }
            met
        };
        let mut costs = Costs::default();
        costs.learn(&[Finished { number: 4, end: 10 * US, ..Finished::default() }], &[]);
        let mut known = HashSet::new();
        let calls = Window { met: met(10), ..window(1..=100, 0, gap) }.scaled(&mut known, &mut costs);
        assert_eq!((sums(&calls, 0).0, sums(&calls, 4).0), (100, 4_000));
        let of_one: u64 = calls.iter().filter(|call| call.file.inode == 500).map(|call| call.count).sum();
        assert_eq!(of_one, 2_000, "others are not known to be used again");
        // Where it sleeps for most of the time, and where it was hardly met, the window stands for the gap.
        let asleep = Own { asleep_ns: 50_000 * US, ..gap };
        for (stops, gap) in [(10, asleep), (2, gap)] {
            let window = Window { met: met(stops), ..window(1..=100, 0, gap) };
            let calls = window.scaled(&mut HashSet::new(), &mut costs);
            assert_eq!((sums(&calls, 0).0, sums(&calls, 4).0), (2_100, 0));
        }
    }

    #[test]
    fn a_window_of_another_kind_than_its_gap_does_not_stand_for_it() {
        // It wakes others and sleeps; in the gap it read, and slept for most of the time.
        let mut costs = Costs::default();
        costs.learn(&[Finished { number: 0, end: 10 * US, ..Finished::default() }], &[]);
        let mut told = |reads: u64, met_reads: bool| {
            let gap = Own { cpu_ns: 40_000 * US, asleep_ns: 50_000 * US };
            let mut met = Met::default();
            for _ in 0..10 {
                let number = if met_reads { 0 } else { 4 };
                met.add(Some(Finished { number, count: 1, ..Finished::default() }), 1.0, 4_000 * US);
            }
            let mut window = Window { met, gap_moves: Some([reads, 0]), ..window(1..=100, 0, gap) };
            window.calls.iter_mut().for_each(|call| call.number = 202);
            let calls = window.scaled(&mut HashSet::new(), &mut costs);
            (sums(&calls, 0).0, sums(&calls, 202).0)
        };
        assert_eq!(told(5_000, true), (5_000, 100));
        // None was met, or a few reads are beside the point.
        assert_eq!(told(5_000, false), (0, 2_100));
        assert_eq!(told(100, true), (0, 2_100));
    }

    #[test]
    fn at_the_end_two_windows_are_one() {
        let mut first = window([1; 64], 0, Own { cpu_ns: 1_280 * US, asleep_ns: 0 });
        first.join(window([1; 2], 0, Own { cpu_ns: 40 * US, asleep_ns: 0 }));
        assert_eq!(sums(&first.scaled(&mut HashSet::new(), &mut Costs::default()), 0).0, 132);
    }
}
