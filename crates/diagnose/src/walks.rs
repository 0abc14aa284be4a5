//! Walks with the indexes that causes share: where the entries of hot loops and functions began, burst by burst, how long the walks were,
//! and the CPU time that was spent in each.

use crate::Evidence;

use crate::causes::runtime;
use crate::evidence::heaviest;
use slowpath_recording::LED_TO;
use slowpath_recording::tables::{Beginning, Loop, Sample, Walk, WalkBurst};
use slowpath_stats::median;
use slowpath_syscalls::{READS, READS_AT, RECEIVES};
use std::collections::{BTreeMap, HashMap, HashSet};

/// Addresses below are numbers: the first pages are never mapped.
pub(crate) const LOWEST_ADDRESS: u64 = 1 << 16;
/// What lies below and cannot be read is a number as well: memory is mapped above, but for what is in programs that are not relocated.
const LARGEST_NUMBER: u64 = 1 << 32;
/// Entries of a burst that say something of how they follow each other.
const OF_BURST: usize = 8;
/// Bytes of the items whose size is inferred. Below, texts are gone through by characters of different lengths; above, what walks begin at are arrays
/// that were allocated one after the other rather than items of one.
const ITEM: std::ops::RangeInclusive<u64> = 8..=256;
/// One of so many walks must begin before the one before it: of look-ups in a table with a run of items one in five or six did, even where they came in the
/// order of their hashes. Items that are gone through in order, each once, may be equally far apart as well.
const BACK: usize = 8;
/// A buffer may be refilled for each walk with something that begins alike: with a read for every four walks that cannot be excluded. Where
/// there are fewer, at least three of four walks go through what was read once.
const READS_A_WALK: f64 = 0.25;
/// What a breakpoint's hit takes of its thread's CPU time is taken off. Sending a signal is not, nor hits of up to three other breakpoints: what lies
/// between two entries must be so many times as much.
pub(crate) const HITS: f64 = 5.0;
/// Share of the time between entries that must be CPU time: half, since ticks may miss some.
const ON_CPU: f64 = 0.5;
/// … or from this share of the whole time on, in which pauses between walks would be seen.
const ALL_ALONG: f64 = 0.8;
/// Samples before that is known.
const SAMPLES: usize = 20;

/// What was seen of one walk.
pub(crate) struct Entries<'a> {
    pub walk: &'a Walk,
    /// The function that is entered, or that the loop is in.
    pub function: u32,
    /// None for the function itself.
    pub one_loop: Option<&'a Loop>,
    /// Entries that were noted, in order, by burst.
    pub bursts: Vec<Vec<&'a Beginning>>,
    /// Of each burst in which entries and rounds were counted, in order.
    pub lengths: Vec<Length>,
    /// Entries a second where they were noted, at least; 0 if there were too few.
    pub rate: f64,
    /// Share of the time from the first entry that was noted to the last in which its thread used a CPU, by samples.
    pub on_cpu: f64,
    /// The thread was stopped at each entry, by a breakpoint whose hit takes so long, ns.
    pub hit_ns: Option<f64>,
}

/// Where the pointers of an entry begin: which, its address, and what is there. An index from nought is no pointer, nor is a number of bytes that are
/// left.
fn pointers(row: &Beginning) -> Vec<(usize, u64, u64)> {
    let ends = row.addresses.iter().zip(&row.contents).enumerate();
    let ends = ends.map(|(at, (address, content))| (at, *address, *content));
    let is_number = |address: u64, content: u64| {
        address < LOWEST_ADDRESS || address < LARGEST_NUMBER && content == 0 // nothing is there
    };
    ends.filter(|(_, address, content)| !is_number(*address, *content)).collect()
}

/// How many rounds the walks of a burst had.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Length {
    /// When the burst ended.
    pub time_ns: u64,
    /// On average; where no walk began meanwhile, as many as were seen of one.
    pub rounds: f64,
    pub at_least: bool,
}

/// All that were looked at.
pub(crate) fn all<'a>(evidence: &Evidence<'a>) -> Vec<Entries<'a>> {
    let tables = &evidence.recording.tables;
    let mut bursts: HashMap<u32, Vec<&WalkBurst>> = HashMap::new();
    tables.walk_bursts.iter().for_each(|burst| bursts.entry(burst.walk).or_default().push(burst));
    let mut rows: HashMap<u32, Vec<&Beginning>> = HashMap::new();
    tables.beginnings.iter().for_each(|row| rows.entry(row.walk).or_default().push(row));
    let of = |walk: &'a Walk| {
        let function = evidence.function_at(walk.location)?;
        let bursts = bursts.get(&walk.walk).map(Vec::as_slice).unwrap_or_default();
        let rows = rows.get(&walk.walk).map(Vec::as_slice).unwrap_or_default();
        let of_burst = |burst: &&WalkBurst| -> Vec<&'a Beginning> {
            // In order of time.
            let from = rows.partition_point(|row| row.time_ns < burst.start_ns);
            let to = rows.partition_point(|row| row.time_ns <= burst.end_ns);
            rows[from..to.max(from)].to_vec()
        };
        let noted = bursts.iter().filter(|burst| burst.rounds.is_none());
        let length = |burst: &&WalkBurst| {
            let rounds = burst.rounds.filter(|rounds| *rounds > 0)? as f64 / burst.entries.max(1) as f64;
            Some(Length { time_ns: burst.end_ns, rounds, at_least: burst.entries == 0 })
        };
        let mut rates: Vec<f64> = noted
            .clone()
            .filter(|burst| burst.entries as usize >= OF_BURST && burst.end_ns > burst.start_ns)
            .map(|burst| (burst.entries - 1) as f64 * 1e9 / (burst.end_ns - burst.start_ns) as f64)
            .collect();
        rates.sort_by(f64::total_cmp);
        Some(Entries {
            walk,
            function,
            one_loop: walk.loop_number.map(|number| &tables.loops[number as usize]),
            bursts: noted.map(of_burst).filter(|rows| rows.len() >= OF_BURST).collect(),
            lengths: bursts.iter().filter_map(length).collect(),
            rate: rates.get(rates.len() / 2).copied().unwrap_or(0.0),
            on_cpu: on_cpu(evidence, rows),
            hit_ns: evidence.recording.about.hit_ns.map(|ns| ns as f64),
        })
    };
    tables.walks.iter().filter_map(of).collect()
}

/// See [`Entries::on_cpu`].
fn on_cpu(evidence: &Evidence<'_>, rows: &[&Beginning]) -> f64 {
    let (Some(first), Some(last)) = (rows.first(), rows.last()) else { return 0.0 };
    let samples = &evidence.recording.tables.samples;
    let from = samples.partition_point(|sample| sample.time_ns < first.time_ns);
    let to = samples.partition_point(|sample| sample.time_ns <= last.time_ns).max(from);
    let of_thread = |sample: &Sample| Some(sample.thread) == first.thread && sample.on_cpu;
    let weights = samples[from..to].iter().zip(&evidence.weights[from..to]);
    let (used, seen) = weights
        .filter(|(sample, _)| of_thread(sample))
        .fold((0.0, 0), |(used, seen), (_, weight)| (used + weight, seen + 1));
    let alone = rows.iter().all(|row| row.thread == first.thread);
    let elapsed = (last.time_ns - first.time_ns).max(1) as f64;
    // A thread that waits for a CPU which others have does not pause.
    let occupied = |thread| evidence.occupied_between(thread, used, first.time_ns, last.time_ns);
    let had = first.thread.and_then(occupied).unwrap_or(elapsed).max(1.0);
    if seen < SAMPLES || !alone { 0.0 } else { used / had }
}

impl Entries<'_> {
    /// Entries that were noted.
    pub(crate) fn noted(&self) -> usize {
        self.bursts.iter().map(Vec::len).sum()
    }

    /// Whether they are loops of one function in one process, and one is in the other.
    pub(crate) fn shares_code(&self, other: &Entries<'_>) -> bool {
        let (Some(one), Some(two)) = (self.one_loop, other.one_loop) else { return false };
        let begins = |of: &Loop| of.ranges.first().copied().unwrap_or(0);
        (self.walk.process, self.function) == (other.walk.process, other.function)
            && (holds(one, begins(two)) || holds(two, begins(one)))
    }

    /// Adds up the entries of each burst that go through what an earlier one of it went through.
    fn repeats(&self, mut again: impl FnMut(&[&Beginning]) -> usize) -> Repeats {
        let repeated = self.bursts.iter().map(|burst| again(burst)).sum();
        // The first of a burst has none before it.
        Repeats { repeated, of: self.bursts.iter().map(|burst| burst.len() - 1).sum() }
    }

    /// Of a loop: entries whose pointers begin where those of an earlier one began, and find the same content there; or at an item that leads
    /// to where the one before began, as in a list to which items are added in front; or, in a loop that goes from item to item, at the one that
    /// followed there, as in a list whose first item is taken off.
    pub(crate) fn of_pointers(&self) -> Repeats {
        self.repeats(|burst| self.again(burst).into_iter().filter(|again| *again).count())
    }

    /// Which entries of a burst these are.
    fn again(&self, burst: &[&Beginning]) -> Vec<bool> {
        let mut known = HashSet::new();
        let again = |(at, row): (usize, &&Beginning)| {
            let ends = pointers(row);
            let readable = !ends.is_empty() && ends.iter().all(|(_, _, content)| *content != 0);
            let key: Vec<(u64, u64)> =
                ends.iter().map(|(_, address, content)| (*address, *content)).collect();
            // The first may be linked to one before the burst.
            readable && (!known.insert(key) || at > 0 && self.is_linked(row))
        };
        burst.iter().enumerate().map(again).collect()
    }

    /// The share of the time that passes from these entries to their next ones, in the middle one of the bursts and in all of them: lists that take most of the time may be searched
    /// seldom, beside many short ones. None where the thread was not on a CPU for most of that time.
    pub(crate) fn repeated_time(&self) -> Option<(f64, f64)> {
        let (mut cpu_ns, mut elapsed_ns, mut repeated_ns) = (0.0, 0.0, 0.0);
        let mut of_burst = |rows: &Vec<&Beginning>| {
            let (first, last) = (rows.first()?, rows.last()?);
            if rows.iter().any(|row| row.thread != first.thread) {
                return None;
            }
            cpu_ns += last.cpu_ns.saturating_sub(first.cpu_ns) as f64;
            let between: Vec<f64> = rows.windows(2).map(|pair| self.between(pair[0], pair[1])).collect();
            let all: f64 = between.iter().sum();
            elapsed_ns += all;
            let repeated = between.iter().zip(self.again(rows)).filter(|(_, again)| *again);
            let repeated: f64 = repeated.map(|(ns, _)| ns).sum();
            repeated_ns += repeated;
            Some(repeated / f64::max(all, 1.0))
        };
        let shares: Vec<f64> = self.bursts.iter().filter_map(&mut of_burst).collect();
        let middle = median(&shares).filter(|_| self.is_on_cpu(cpu_ns, elapsed_ns))?;
        Some((middle, repeated_ns / f64::max(elapsed_ns, 1.0)))
    }

    fn is_linked(&self, row: &Beginning) -> bool {
        let chases = self.one_loop.is_some_and(|one| one.chases == Some(true))
            && self.walk.strides.iter().all(|stride| *stride == 0);
        let all = |from: u32| {
            let bit = |at: usize| row.linked.checked_shr(from + at as u32).is_some_and(|bits| bits & 1 == 1);
            pointers(row).iter().all(|(at, _, _)| bit(*at))
        };
        all(0) || chases && all(LED_TO)
    }

    /// Whether many walks of a loop begin at the item that followed the first one of the walk before: what is searched is taken off in front, once for a
    /// few walks.
    pub(crate) fn takes_off(&self) -> bool {
        let rows = || self.bursts.iter().flatten();
        let led_to = |row: &&&Beginning| row.linked >> LED_TO != 0 && self.is_linked(row);
        4 * rows().filter(led_to).count() > rows().count()
    }

    /// Of a function that frees memory: blocks at an address at which an earlier one was.
    pub(crate) fn of_blocks(&self) -> Repeats {
        self.repeats(|burst| {
            let mut known = HashSet::new();
            let block = |row: &&Beginning| row.addresses.first().copied().filter(|at| *at >= LOWEST_ADDRESS);
            burst.iter().filter(|row| block(row).is_some_and(|at| !known.insert(at))).count()
        })
    }

    /// Of a function: calls whose first `arguments` are those of an earlier one, the first of them a pointer to the same content.
    pub(crate) fn of_arguments(&self, arguments: usize) -> Repeats {
        self.repeats(|burst| {
            let mut known = HashSet::new();
            let again = |row: &&&Beginning| {
                let ends = row.addresses.iter().zip(&row.contents).take(arguments);
                let key: Vec<(u64, u64)> = ends.map(|(address, content)| (*address, *content)).collect();
                let readable =
                    key.first().is_some_and(|(address, content)| *address >= LOWEST_ADDRESS && *content != 0);
                readable && !known.insert(key)
            };
            burst.iter().filter(again).count()
        })
    }

    /// How many times the walks of a burst go through the same memory, as a share of how many walks these are: 1 where all go through the
    /// same, little where each has a part of its own. 0 where it is not known how far a round goes.
    pub(crate) fn overlap(&self) -> f64 {
        let Some(strides) = self.strides() else { return 0.0 };
        let rounds = self.rounds();
        let of_burst = |rows: &Vec<&Beginning>| {
            // Other content at one address: a buffer that was refilled.
            let mut known: HashMap<u64, u64> = HashMap::new();
            let ends = rows.iter().flat_map(|row| row.addresses.iter().zip(&row.contents));
            let mut real = ends.filter(|(address, _)| **address >= LOWEST_ADDRESS);
            if real.any(|(address, content)| {
                known.insert(*address, *content).is_some_and(|last| last != *content)
            }) {
                return 0.0;
            }
            let of_pointer = |(at, stride): (usize, &u64)| {
                let begins = || {
                    rows.iter().filter_map(|row| row.addresses.get(at)).filter(|at| **at >= LOWEST_ADDRESS)
                };
                let (first, last) = (begins().min()?, begins().max()?);
                let bytes = rounds * *stride as f64;
                Some(bytes / ((last - first) as f64 + bytes))
            };
            strides.iter().enumerate().filter_map(of_pointer).reduce(f64::min).unwrap_or(0.0)
        };
        let sum: f64 = self.bursts.iter().map(|rows| of_burst(rows) * rows.len() as f64).sum();
        sum / self.noted().max(1) as f64
    }

    /// How far each pointer moves in a round, bytes, if that is known. Where it steps on in a way that its code does not show, such as around the end of
    /// an array, what all beginnings of a burst are apart is a multiple of an item's size.
    fn strides(&self) -> Option<Vec<u64>> {
        let of_pointer = |(at, stride): (usize, &u64)| match stride {
            0 => self.item(at),
            known => Some(*known),
        };
        let strides: Option<Vec<u64>> = self.walk.strides.iter().enumerate().map(of_pointer).collect();
        strides.filter(|strides| !strides.is_empty())
    }

    /// Whether a step is inferred from where walks begin.
    pub(crate) fn infers_strides(&self) -> bool {
        self.walk.strides.contains(&0)
    }

    /// The size of the items that one pointer moves over, in a loop that reads at no address that it read.
    fn item(&self, at: usize) -> Option<u64> {
        let straight = self.one_loop.is_some_and(|one| one.chases == Some(false));
        let (mut size, mut pairs, mut back) = (0, 0, 0);
        for rows in self.bursts.iter().filter(|_| straight) {
            let begins = rows.iter().filter_map(|row| row.addresses.get(at));
            let begins: Vec<u64> = begins.copied().filter(|at| *at >= LOWEST_ADDRESS).collect();
            size = begins.windows(2).fold(size, |size, pair| common_divisor(size, pair[0].abs_diff(pair[1])));
            pairs += begins.len().saturating_sub(1);
            back += begins.windows(2).filter(|pair| pair[1] < pair[0]).count();
        }
        (ITEM.contains(&size) && BACK * back >= pairs).then_some(size)
    }

    /// Rounds of the loop a walk, on average over the time that is spent in it: bursts are taken at moments of their own choice. Where no walk
    /// began while they were counted, how many there were at least.
    pub(crate) fn rounds(&self) -> f64 {
        let sum: f64 = self.lengths.iter().map(|length| length.rounds).sum();
        sum / self.lengths.len().max(1) as f64
    }

    /// Items that a walk looks at, on average (see `rounds`).
    pub(crate) fn length(&self) -> f64 {
        self.rounds() * f64::from(self.items())
    }

    /// Whether walks are at least so long, in items: also without the burst that had the longest, where there are others. One moment may be unlike
    /// the rest of the run.
    pub(crate) fn are_as_long_as(&self, least: f64) -> bool {
        let longest = self.lengths.iter().map(|length| length.rounds).fold(0.0, f64::max);
        let (others, rounds) = (self.lengths.len().saturating_sub(1) as f64, self.rounds());
        let without = if others > 0.0 { (rounds * (others + 1.0) - longest) / others } else { rounds };
        without * f64::from(self.items()) >= least
    }

    /// Items that a round looks at.
    fn items(&self) -> u32 {
        self.one_loop.and_then(|one| one.items).unwrap_or(1).max(1)
    }

    /// Walks of a burst, on average.
    pub(crate) fn of_burst(&self) -> f64 {
        self.noted() as f64 / self.bursts.len().max(1) as f64
    }

    /// Whether walks were longer than could be counted.
    pub(crate) fn is_longer(&self) -> bool {
        self.lengths.iter().all(|length| length.at_least)
    }

    /// Time from one entry of a thread to its next, ns. CPU time would be less exact, for the scheduler accounts it at its ticks; but where the
    /// thread was stopped at each entry the account is exact, and elapsed time is mostly that of the stops.
    pub(crate) fn between(&self, one: &Beginning, next: &Beginning) -> f64 {
        match self.hit_ns {
            Some(_) => next.cpu_ns.saturating_sub(one.cpu_ns) as f64,
            None => next.time_ns.saturating_sub(one.time_ns) as f64,
        }
    }

    /// Whether the thread was on a CPU for most of some time between entries, of which its account says so much: the account moves on at the
    /// scheduler's ticks, and bursts are short. Where the thread had a CPU nearly all along, it had one then.
    pub(crate) fn is_on_cpu(&self, cpu_ns: f64, elapsed_ns: f64) -> bool {
        cpu_ns >= ON_CPU * elapsed_ns || self.hit_ns.is_none() && self.on_cpu >= ALL_ALONG
    }

    /// Time from one entry to the next, ns, in each burst of one thread, in order. The median: it leaves out when another thread had the
    /// CPU.
    ///
    /// Empty if the thread was not on a CPU for most of that time: then it waited between searches; and if it is not known well because each
    /// entry takes longer to be noted.
    pub(crate) fn each_ns(&self) -> Vec<f64> {
        let mut cpu_ns = 0;
        let mut elapsed_ns = 0.0;
        let mut of_burst = |rows: &Vec<&Beginning>| {
            let first = rows.first()?;
            let alone = rows.iter().all(|row| row.thread == first.thread && row.thread.is_some());
            let between = rows.windows(2).map(|pair| self.between(pair[0], pair[1]));
            let least = self.hit_ns.map_or(0.0, |ns| HITS * ns);
            let each = median(&between.collect::<Vec<f64>>()).filter(|ns| alone && *ns > least)?;
            // In one burst the scheduler's ticks are coarse, in all of them they even out.
            cpu_ns += rows.last()?.cpu_ns.saturating_sub(first.cpu_ns);
            elapsed_ns += each * (rows.len() - 1) as f64;
            Some(each)
        };
        let each: Vec<f64> = self.bursts.iter().filter_map(&mut of_burst).collect();
        if self.is_on_cpu(cpu_ns as f64, elapsed_ns) { each } else { Vec::new() }
    }

    /// How unlike the times from one entry to the next are, in each burst of one thread, of those entries that begin at the same place and find the
    /// same there: the third quartile over the first. Empty where [`Entries::each_ns`] is.
    pub(crate) fn spread(&self) -> Vec<f64> {
        if self.each_ns().is_empty() {
            return Vec::new();
        }
        let of_burst = |rows: &Vec<&Beginning>| {
            let mut alike: HashMap<(&[u64], &[u64]), Vec<f64>> = HashMap::new();
            for pair in rows.windows(2).filter(|pair| pair[0].thread == pair[1].thread) {
                let key = (pair[0].addresses.as_slice(), pair[0].contents.as_slice());
                alike.entry(key).or_default().push(self.between(pair[0], pair[1]));
            }
            let mut between = alike.into_values().max_by_key(Vec::len).filter(|one| one.len() >= OF_BURST)?;
            between.sort_by(f64::total_cmp);
            let quarter = between.len() / 4;
            Some(between[between.len() - 1 - quarter] / between[quarter].max(1.0))
        };
        self.bursts.iter().filter_map(of_burst).collect()
    }

    /// The samples in it: see [`Spent`].
    pub(crate) fn spent(&self, evidence: &Evidence<'_>) -> Spent {
        let tables = &evidence.recording.tables;
        let start = tables.locations[self.walk.location as usize].address;
        let inside = |location: u32| {
            let offset = tables.locations[location as usize].address.wrapping_sub(start);
            self.one_loop.is_none_or(|one| holds(one, offset))
        };
        // Of each stack: the innermost frame in the function, if it is in the loop.
        let mut host: Vec<Option<u32>> = Vec::with_capacity(tables.stacks.len());
        for stack in &tables.stacks {
            let here = evidence.function_at(stack.location) == Some(self.function);
            host.push(match here {
                true => Some(stack.location).filter(|location| inside(*location)),
                false => stack.parent.and_then(|parent| host[parent as usize]),
            });
        }
        let reading = readers(evidence);
        let mut spent = Spent::default();
        let mut by_stack: BTreeMap<u32, f64> = BTreeMap::new();
        for (sample, weight) in tables.samples.iter().zip(&evidence.weights) {
            let Some(stack) = sample.stack else { continue };
            let Some(location) = host[stack as usize] else { continue };
            if evidence.process_of(sample) != self.walk.process {
                continue;
            }
            spent.cost_ns += weight;
            *by_stack.entry(stack).or_default() += weight;
            match self.looks(evidence, stack, location, start, &reading) {
                Some(true) => {
                    spent.looking_ns += weight;
                    spent.called_ns +=
                        if tables.stacks[stack as usize].location == location { 0.0 } else { *weight };
                }
                Some(false) => spent.other_ns += weight,
                None => {}
            }
        }
        spent.stack = heaviest(&by_stack);
        spent
    }

    /// Whether a stack through the loop at `host` ends in something that only reads and compares; none for the kernel.
    fn looks(
        &self,
        evidence: &Evidence<'_>,
        stack: u32,
        host: u32,
        start: u64,
        reading: &HashSet<u32>,
    ) -> Option<bool> {
        let tables = &evidence.recording.tables;
        if tables.locations[tables.stacks[stack as usize].location as usize].kind == "kernel" {
            return None;
        }
        let offset = tables.locations[host as usize].address.wrapping_sub(start);
        let location = self.walk.location;
        // The smallest: the usual way around a loop comes behind the loops in it.
        let around = tables.loops.iter().filter(|one| one.location == location && holds(one, offset));
        let innermost = around.min_by_key(|one| (size(one), std::cmp::Reverse(one.loop_number)));
        // What a loop does that counts or folds, the loops in it do as well.
        let counts = self.one_loop.is_some_and(|own| matches!(own.work.as_str(), "counts" | "folds"));
        let looks = |one: &Loop| {
            matches!(one.work.as_str(), "walks" | "chains" | "buckets" | "groups" | "places") || counts
        };
        if self.one_loop.is_some() && innermost.is_some_and(|one| !looks(one)) {
            return Some(false);
        }
        let called = evidence.locations(stack).take_while(|location| *location != host);
        let mut called = called.filter_map(|location| evidence.function_at(location));
        Some(called.all(|function| {
            let frame = evidence.frame(function);
            runtime::handles_bytes(&frame) && !runtime::copies_bytes(&frame) || reading.contains(&function)
        }))
    }
}

/// The greatest, by Euclid's algorithm; the other one of 0.
fn common_divisor(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { common_divisor(b, a % b) }
}

/// Whether a system call puts new content into memory.
fn fills(number: u32) -> bool {
    READS.contains(&number) || RECEIVES.contains(&number) || READS_AT.contains(&number)
}

/// Whether reads of the process are so many that they may refill what is walked over.
pub(crate) fn is_refilled(evidence: &Evidence<'_>, entries: &Entries<'_>) -> bool {
    let tables = &evidence.recording.tables;
    let process = &tables.processes[entries.walk.process as usize];
    let of = |thread: u32| tables.threads[thread as usize].process == entries.walk.process;
    let reads = tables.syscalls.iter().filter(|row| fills(row.number) && row.bytes > 0 && of(row.thread));
    let reads: u64 = reads.map(|row| row.count).sum();
    let end = process.end_ns.unwrap_or(evidence.recording.about.start_ns + evidence.recording.about.wall_ns);
    // Its walks were counted while it was busy.
    let samples = tables.samples.iter().zip(&evidence.weights);
    let busy_ns: f64 = samples.filter(|(sample, _)| of(sample.thread)).map(|(_, weight)| weight).sum();
    let seconds = busy_ns.min(end.saturating_sub(process.start_ns) as f64) / 1e9;
    reads as f64 > READS_A_WALK * entries.rate * seconds
}

/// The hot functions of the program that only read: they compare items, or tell something of one, and store nothing.
pub(crate) fn readers(evidence: &Evidence<'_>) -> HashSet<u32> {
    let bodies = evidence.recording.tables.bodies.iter();
    let reads = bodies.filter(|body| ["walks", "reads"].contains(&body.work.as_str()));
    reads.filter_map(|body| evidence.function_at(body.location)).collect()
}

/// How many entries went through what one before them went through.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Repeats {
    pub repeated: usize,
    /// Of so many that had one before them.
    pub of: usize,
}

impl Repeats {
    pub(crate) fn share(self) -> f64 {
        self.repeated as f64 / self.of.max(1) as f64
    }
}

/// Where the CPU time of a walk goes, ns.
#[derive(Debug, Default)]
pub(crate) struct Spent {
    /// In the loop (or function) and what it calls.
    pub cost_ns: f64,
    /// The part of it that only reads and compares, and the rest; the kernel's is in neither.
    pub looking_ns: f64,
    pub other_ns: f64,
    /// The part of `looking_ns` that is spent in functions that are called.
    pub called_ns: f64,
    /// The stack with most of it.
    pub stack: Option<u32>,
}

/// Bytes of code.
pub(crate) fn size(one: &Loop) -> u64 {
    one.ranges.chunks_exact(2).map(|range| range[1].saturating_sub(range[0])).sum()
}

/// Whether an instruction at an offset in the function is in a loop.
pub(crate) fn holds(one: &Loop, offset: u64) -> bool {
    one.ranges.chunks_exact(2).any(|range| (range[0]..range[1]).contains(&offset))
}
