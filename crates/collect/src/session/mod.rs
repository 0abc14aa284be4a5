//! One recording from its first event to its last: everything that collectors report is put in order of time, joined, and
//! written down about once a second.

mod ahead;
mod counting;
mod goroutines;
mod grain;
mod maps;
mod own_code;
mod sampling;
#[cfg(test)]
mod tests;
mod writing;

use crate::ahead::{Looks, Stretch, Wanted, Watched};
use crate::bpf::Bpf;
use crate::bpf::event::Event;
use crate::counter::breakpoint::notes::Notes;
use crate::counter::choose::Recent;
use crate::counter::input::Keys;
use crate::counter::{Candidate, Counter, Order, Told};
use crate::cpu::Cpu;
use crate::sampler::Sampler;
use crate::sampler::record::Record;
use crate::stacks::Stacks;
use crate::tracer::ptrace::Ptrace;
use crate::tracer::{self, Tracer};
use crate::unwind::Place;
use crate::weigh::{StandsFor, Weighed};
use crate::world::{Usage, World};
use crate::{OnProgress, Progress, clock, launch};
use goroutines::Goroutines;
use grain::Grain;
pub(crate) use maps::code_ranges;
pub(crate) use maps::executable_mapping;
use own_code::OwnCode;
use slowpath_files::Folder;
use slowpath_interfaces::Input;
use slowpath_recording::about::State;
use slowpath_recording::tables::{Beginning, Body, CUT, Call, Loop, Probe, Walk};
use slowpath_recording::{About, Writer};
use std::collections::{BTreeMap, HashMap, HashSet};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};

/// How often the counter learns what is worth counting, and how much the past fades each time (half in 2 s).
const CHOOSE_NS: u64 = 25_000_000;
const FADE: f64 = 0.9914;
const FLUSH_NS: u64 = 1_000_000_000;
/// What the kernel adds up is written down at least so often, s.
const ADD_UP_S: u64 = 64;
/// Bytes that are taken out of one buffer at once: after a stall of a second there would be tens of MB of copied stacks.
const AT_ONCE: usize = 2 << 20;
/// By so much at most an event comes into a buffer later than one that happened after it, ns: a thread may lose its CPU in between.
const DISORDER_NS: u64 = 10_000_000;
/// So long what is left is taken in at the end, ns: the buffers together are emptied in a fraction of it.
const LAST_NS: u64 = 10_000_000_000;
/// Bytes of a page, the unit of the kernel's resident sizes.
const PAGE: u64 = 4096;

enum Item {
    Perf(Record),
    Bpf(Event),
}

impl Item {
    fn time(&self) -> u64 {
        match self {
            Item::Perf(record) => record.time(),
            Item::Bpf(event) => event.time(),
        }
    }
}

struct CounterThread {
    orders: Sender<Order>,
    told: Receiver<Told>,
    thread: std::thread::JoinHandle<()>,
}

/// See the file's head.
pub(crate) struct Session {
    writer: Writer,
    pub world: World,
    stacks: Stacks,
    bpf: Option<Bpf>,
    /// The other source of system calls.
    pub ptrace: Option<Ptrace>,
    /// Calls are counted by breakpoints where there is no BPF object, and what a hit takes, ns.
    pub hit_ns: Option<u64>,
    /// … and what begins at their hits is noted where a tracer stops threads there.
    pub notes: Option<Arc<Notes>>,
    counter: Option<CounterThread>,
    ahead: ahead::Ahead,
    goroutines: Goroutines,
    tracer: Tracer,
    probes: u32,
    loops: u32,
    walks: u32,
    /// Walks that are calls of functions which are meant to be called once for an input, and what makes keys of it.
    inputs: HashMap<u32, &'static Input>,
    keys: Keys,
    /// Functions whose loops were reported, by module and first address: the number of the first of them.
    looked_at: HashMap<(u32, u64), u32>,
    /// The usual ways around loops, and which one the counter means by a function and a number.
    ways: Vec<Loop>,
    way_of: HashMap<(u32, usize), u32>,
    calls_by_probe: u64,
    pending: Vec<Item>,
    records: Vec<Record>,
    events: Vec<Event>,
    recent: HashMap<u32, Recent>,
    /// What was chosen in the last run of the command, to be counted from the start of the next.
    carried: Vec<crate::counter::choose::Choice>,
    gone: HashSet<u32>,
    places: Vec<Place>,
    horizon: u64,
    flushed: u64,
    chosen: u64,
    pub samples: u64,
    pub complete: u64,
    pub lost_samples: u64,
    pub refused: Option<String>,
    /// The first error of writing; recording goes on without.
    pub trouble: Option<String>,
    /// A bug has ended the recording.
    broken: bool,
    stands_for: StandsFor,
    own_code: OwnCode,
    progress: Option<OnProgress>,
    started: u64,
    grain: Grain,
    /// Seconds since what the kernel added up was written down.
    unwritten: u64,
}

impl Session {
    pub(crate) fn new(
        writer: Writer,
        bpf: Option<Bpf>,
        stands_for: StandsFor,
        progress: Option<OnProgress>,
    ) -> Session {
        let own_code = OwnCode::of(bpf.as_ref());
        Session {
            writer,
            world: World::default(),
            stacks: Stacks::default(),
            bpf,
            ptrace: None,
            hit_ns: None,
            notes: None,
            counter: None,
            ahead: ahead::Ahead::default(),
            goroutines: Goroutines::default(),
            tracer: Tracer::default(),
            probes: 0,
            loops: 0,
            looked_at: HashMap::new(),
            ways: Vec::new(),
            way_of: HashMap::new(),
            walks: 0,
            inputs: HashMap::new(),
            keys: Keys::default(),
            calls_by_probe: 0,
            pending: Vec::new(),
            records: Vec::new(),
            events: Vec::new(),
            recent: HashMap::new(),
            carried: Vec::new(),
            gone: HashSet::new(),
            places: Vec::new(),
            horizon: 0,
            flushed: clock::now_ns(),
            chosen: 0,
            samples: 0,
            complete: 0,
            lost_samples: 0,
            refused: None,
            trouble: None,
            broken: false,
            stands_for,
            own_code,
            progress,
            started: clock::now_ns(),
            grain: Grain::default(),
            unwritten: 0,
        }
    }

    /// The BPF object.
    pub(crate) fn bpf(&mut self) -> Option<&mut Bpf> {
        self.bpf.as_mut()
    }

    /// Goes on without it: then the source of the rest also reports exits.
    pub(crate) fn without_bpf(&mut self) {
        self.bpf = None;
    }

    /// Takes the command up, before its exec.
    pub(crate) fn start(&mut self, pid: u32) {
        self.own_code.wait();
        self.world.start(pid, false, clock::now_ns(), &mut self.writer.tables);
    }

    /// Takes a running process up, with its threads: what it uses counts from now on.
    pub(crate) fn take_up(&mut self, pid: u32, threads: &[u32]) {
        self.own_code.wait();
        self.world.take_up(pid, threads, clock::now_ns(), &mut self.writer.tables);
    }

    /// Adds what is mapped into a running process.
    pub(crate) fn map_running(&mut self, pid: u32) {
        let maps = std::fs::read_to_string(format!("/proc/{pid}/maps")).unwrap_or_default();
        self.map_all(pid, clock::now_ns(), &maps);
    }

    fn map_all(&mut self, pid: u32, time: u64, maps: &str) {
        for line in maps.lines() {
            if let Some((range, offset, device, inode, path)) = executable_mapping(line) {
                let (start, len) = (range.start, range.end - range.start);
                let tables = &mut self.writer.tables;
                self.world.map(pid, time, start, len, offset, device, inode, path.as_bytes(), tables);
            }
        }
    }

    /// Does a part of the recording. A bug of ours ends that, not what is recorded: the program goes on, and whatever reports it
    /// from then on is thrown away.
    fn guarded(&mut self, part: impl FnOnce(&mut Session)) {
        if self.broken {
            if let Some(ptrace) = &self.ptrace {
                ptrace.drain(&mut self.events);
                self.events.clear();
            }
        } else if catch_unwind(AssertUnwindSafe(|| part(self))).is_err() {
            self.broken = true;
            self.trouble
                .get_or_insert("it ended early because of a bug in slowpath: please report it".to_owned());
        }
    }

    /// One round: takes in what came, and does what is due. The caller has waited a little.
    pub(crate) fn turn(&mut self, sampler: Option<&mut Sampler>) {
        self.guarded(|session| session.one_turn(sampler));
    }

    fn one_turn(&mut self, sampler: Option<&mut Sampler>) {
        let began = clock::now_ns();
        let mut now = began;
        let mut sampler = sampler;
        // What is due waits for nothing but one buffer's worth.
        while !self.take_in(sampler.as_deref_mut()) && now - began < CHOOSE_NS {
            now = clock::now_ns();
        }
        self.hear();
        self.hear_ahead();
        now = clock::now_ns();
        if now - self.chosen >= CHOOSE_NS {
            self.chosen = now;
            self.choose();
            self.ask_ahead();
            self.watch_goroutines();
            if let Some(progress) = &mut self.progress {
                let counted = u64::from(self.probes);
                progress(&Progress { elapsed_ns: now - self.started, samples: self.samples, counted });
            }
        }
        if now - self.flushed >= FLUSH_NS {
            self.flushed = now;
            self.add_up(false);
            self.flush();
        }
    }

    /// The last round of a run: everything that is left.
    pub(crate) fn drain(&mut self, sampler: Option<&mut Sampler>) {
        self.guarded(|session| session.last_turn(sampler));
    }

    fn last_turn(&mut self, sampler: Option<&mut Sampler>) {
        let mut sampler = sampler;
        let began = clock::now_ns();
        // What is followed may go on, and faster than this.
        while !self.take_in(sampler.as_deref_mut()) && clock::now_ns() - began < LAST_NS {}
        self.process_until(u64::MAX);
        self.world.look();
        self.stop_watching_goroutines();
        self.add_up(true);
        if let Some((_, recent)) = self.recent.iter().max_by(|a, b| a.1.total().total_cmp(&b.1.total())) {
            self.carried = recent.choices();
        }
        self.recent.clear();
        self.hear();
        self.hear_ahead();
    }

    /// Takes in what came, and processes what nothing can come before any more. Returns whether that was all.
    fn take_in(&mut self, sampler: Option<&mut Sampler>) -> bool {
        // What is in the buffers before this moment is whole when they have been read the next time.
        let before = clock::now_ns();
        let mut until = None;
        if let Some(sampler) = sampler {
            until = sampler.drain(&mut self.records, AT_ONCE);
        }
        if let Some(ptrace) = &self.ptrace {
            ptrace.drain(&mut self.events);
        }
        if let Some(bpf) = &mut self.bpf {
            until = bpf.drain(&mut self.events, AT_ONCE).into_iter().chain(until).min();
        }
        self.pending.extend(self.records.drain(..).map(Item::Perf));
        self.pending.extend(self.events.drain(..).map(Item::Bpf));
        self.pending.sort_by_key(Item::time);
        let whole = until.unwrap_or(before).saturating_sub(DISORDER_NS);
        self.process_until(self.horizon.min(whole));
        self.horizon = before;
        until.is_none()
    }

    fn process_until(&mut self, horizon: u64) {
        let ready = self.pending.partition_point(|item| item.time() <= horizon);
        let items: Vec<Item> = self.pending.drain(..ready).collect();
        for item in items {
            match item {
                Item::Perf(record) => self.perf(record),
                Item::Bpf(event) => self.event(event),
            }
        }
    }

    fn perf(&mut self, record: Record) {
        let tables = &mut self.writer.tables;
        match record {
            Record::Sample(sample) => self.sample(sample),
            Record::Mmap { pid, time, start, len, offset, major, minor, inode, path } => {
                self.world.map(pid, time, start, len, offset, (major, minor), inode, &path, tables);
            }
            Record::Comm { pid, tid, exec, name, .. } => self.world.comm(pid, tid, exec, &name, tables),
            Record::Fork { pid, parent_pid, tid, time } => {
                self.gone.remove(&tid);
                self.world.fork(pid, parent_pid, tid, time, tables);
            }
            // BPF and ptrace report the same exit with what the thread used, sooner or later by kernel.
            Record::Exit { pid, tid, time } if self.bpf.is_none() && self.ptrace.is_none() => {
                self.exit(pid, tid, time, None)
            }
            Record::Exit { .. } => {}
            Record::Lost { count, .. } => self.lost_samples += count,
        }
    }

    fn exit(&mut self, pid: u32, tid: u32, time: u64, usage: Option<Usage>) {
        let Some(process) = self.world.process(pid).map(|live| live.row.process) else { return };
        self.gone.insert(tid);
        self.world.exit(pid, tid, time, usage, &mut self.writer.tables);
        if self.world.process(pid).is_none() {
            self.goroutines.forget(pid, time, self.bpf.as_ref(), &mut self.writer.tables);
            self.tracer.gone(pid);
            self.forget_code(pid);
            self.order(Order::Gone(process));
        }
    }

    fn order(&self, order: Order) {
        if let Some(counter) = &self.counter {
            let _ = counter.orders.send(order); // it ends before us only by a bug of its own
        }
    }

    /// Nobody but ptrace reports processes.
    fn alone(&self) -> bool {
        self.ptrace.as_ref().is_some_and(|ptrace| ptrace.alone)
    }

    fn event(&mut self, event: Event) {
        match event {
            Event::Exec { pid, time, mut arguments, truncated } => {
                if truncated {
                    arguments.push(CUT.to_owned());
                }
                self.world.executed(pid, time, arguments, &mut self.writer.tables);
                self.forget_code(pid);
                self.goroutines.forget(pid, time, self.bpf.as_ref(), &mut self.writer.tables);
            }
            // Where perf reports forks, programs and mappings, its word comes first.
            Event::Fork { pid, parent, tid, time } if self.alone() => {
                self.gone.remove(&tid);
                self.world.fork(pid, parent, tid, time, &mut self.writer.tables);
            }
            Event::Maps { pid, time, text } if self.alone() => self.map_all(pid, time, &text),
            Event::Fork { .. } | Event::Maps { .. } => {}
            Event::Program { pid, program, directory, arguments, .. } => {
                let (anew, tables) = (self.alone(), &mut self.writer.tables);
                self.world.program(pid, anew, program, directory, arguments, tables);
            }
            Event::Sample(sample) => self.sample(*sample),
            Event::Stack(copy) => {
                let tables = &mut self.writer.tables;
                if self.world.process(copy.pid).is_some_and(|live| live.executed) {
                    let (stack, far) = tracer::unwind(&copy, &mut self.world, &mut self.stacks, tables);
                    self.tracer.stack(copy.pid, copy.site, stack);
                    let far = far.filter(|_| self.tracer.asks_once(copy.pid, copy.site));
                    if let (Some(bpf), Some(far)) = (&self.bpf, far) {
                        // Where it is refused the callers stay unknown.
                        let _ = bpf.copy_again(copy.pid, copy.site, far);
                    }
                }
            }
            Event::Syscall(call) => {
                if self.world.process(call.pid).is_some_and(|live| live.executed) {
                    let go = self.goroutines.are_in(call.pid);
                    self.tracer.finished(*call, go, &mut self.world, &mut self.writer.tables);
                }
            }
            Event::Park(park) => self.parked(&park),
            Event::Stops { pid, stops, .. } => {
                if let Some(live) = self.world.process(pid) {
                    live.seen.stops += stops;
                }
            }
            Event::Exit {
                pid,
                tid,
                last,
                time,
                cpu_ns,
                user_ticks_ns,
                sys_ticks_ns,
                peak_pages,
                measured,
                status,
            } => {
                let usage = Usage {
                    cpu_ns,
                    user_ticks_ns,
                    sys_ticks_ns,
                    last,
                    exit: launch::exit_code(status),
                    peak_memory_bytes: peak_pages * PAGE,
                    peak_is_own: measured,
                };
                self.exit(pid, tid, time, Some(usage));
            }
            Event::Walk(entry) => self.entered(entry),
            // A running count loses nothing but moments.
            Event::Call { time, .. } if !self.grain.keeps(time) => self.calls_by_probe += 1,
            Event::Call { probe, tid, time, count, cpu_ns, under } => {
                self.hear(); // the probe's own row comes first
                self.calls_by_probe += 1;
                let thread = self.world.thread_number(tid);
                let calls = &mut self.writer.tables.calls;
                calls.push(Call { time_ns: time, thread, probe, count, under: None, cpu_ns });
                for (child, count) in under {
                    calls.push(Call {
                        time_ns: time,
                        thread,
                        probe: child,
                        count,
                        under: Some(probe),
                        cpu_ns,
                    });
                }
            }
        }
    }
}
