//! The tracer's loop: every stop of every thread of the target, what it means, and how the thread goes on. Signals, stops by
//! the user, exits and exec happen as they would without us. Which threads stop at their calls is `windows`' business, what begins and ends
//! that of `lives`.

pub(in crate::tracer::ptrace) mod ahead;
mod asked;
pub(in crate::tracer::ptrace) mod cut_short;
mod floor;
pub(in crate::tracer::ptrace) mod legs;
mod lives;
mod noted;
mod quiet;
pub(in crate::tracer::ptrace) mod sampled;
mod stacks;
mod tracee;
mod windows;

use super::budget::{Budget, Starts};
use super::call::{Entry, Inside, Place, finished_call, open_flags, rest_of_path, site};
use super::facts::{self, Devices, Ran};
use super::met::Costs;
use super::reference::Reference;
use super::sys::{self, At, Go};
use super::wanted;
use super::{Cost, Floor, Shared};
use crate::bpf::event::Event;
use crate::clock::now_ns;
use crate::counter::breakpoint::notes::Notes;
use crate::crash;
use crate::launch::Ended;
use legs::Kind;
use sampled::Sampling;
use stacks::Copies;
use std::collections::{HashMap, HashSet, VecDeque};
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::sync::mpsc::Sender;
use tracee::Tracee;

/// What the tracer's own delay can be: a shorter sleep in a call cannot be distinguished from it.
const NO_SLEEP_NS: u64 = 50_000;
/// How often it is looked whether a window may be opened, ns.
const TICK_NS: i64 = 10_000_000;
/// So many stops at most are handled after the command has ended: those of processes that end with it.
const LAST_STOPS: u32 = 10_000;
/// Results of calls that the kernel restarts after a signal: ERESTARTSYS to ERESTART_RESTARTBLOCK.
const BEGUN_ANEW: [i64; 4] = [-512, -513, -514, ANEW_BY_RESTART];
/// ERESTART_RESTARTBLOCK: by a system call of that purpose.
const ANEW_BY_RESTART: i64 = -516;

/// A process: its threads that live, and what is known of its memory.
#[derive(Default, Clone)]
struct Memory {
    threads: HashSet<u32>,
    born: u64,
    code: Vec<Range<u64>>,
    /// Something was mapped since `code` was read.
    stale: bool,
    /// When it was read.
    mapped: u64,
    /// For the sake of code that is not of a file.
    in_vain: bool,
    /// Places whose stack was copied, and calls since then.
    sites: HashMap<u64, u32>,
    /// Where its heap ended at the call of brk before, in the same window; 0 if there was none.
    heap_end: u64,
    /// Bytes written when it last synced.
    written: u64,
    /// Files that were seen in its windows.
    files: HashSet<u64>,
}

pub(super) struct Watch {
    root: u32,
    tell: Sender<Event>,
    shared: Arc<Shared>,
    /// What a call takes besides its own work now.
    floor: Floor,
    /// See [`Cost`]: before the command ran.
    cost: Cost,
    /// Legs of the reference without work, as long as they are wanted, and the leg behind each, to its next call; ns.
    probes: Option<Vec<(u64, Option<u64>)>>,
    /// What the last leg of any thread took that had no work, ns.
    alone_ns: u64,
    budget: Budget,
    /// Threads whose calls do not stop them.
    undisturbed: VecDeque<u32>,
    reference: Option<Reference>,
    /// What the reference reported last.
    told: Option<Floor>,
    /// It has sent the result of a batch.
    answered: bool,
    /// Nobody else reports mappings.
    alone: bool,
    threads: HashMap<u32, Tracee>,
    processes: HashMap<u32, Memory>,
    devices: Devices,
    /// The first programs that were started.
    programs: HashMap<String, Starts>,
    /// What calls took in windows.
    costs: Costs,
    slice: (u64, u32),
    /// Threads are stopped at random moments.
    pub(in crate::tracer::ptrace) sampling: Option<Sampling>,
    /// What is noted at hits of breakpoints, and what a hit takes, ns.
    pub(in crate::tracer::ptrace) noting: Option<(Arc<Notes>, u64)>,
    /// Stretches are looked at.
    pub(in crate::tracer::ptrace) ahead: Option<ahead::Ahead>,
}

impl Watch {
    pub(super) fn new(root: u32, alone: bool, cost: Cost, tell: Sender<Event>, shared: Arc<Shared>) -> Watch {
        let mut watch = Watch {
            root,
            tell,
            shared,
            floor: cost.floor,
            cost,
            probes: None,
            alone_ns: cost.floor.cpu_ns,
            budget: Budget::new(now_ns()),
            undisturbed: VecDeque::new(),
            reference: None,
            told: None,
            answered: false,
            alone,
            threads: HashMap::new(),
            processes: HashMap::new(),
            devices: Devices::default(),
            programs: HashMap::new(),
            costs: Costs::default(),
            slice: (0, 0),
            sampling: None,
            noting: None,
            ahead: None,
        };
        watch.insert(root, root, now_ns());
        watch
    }

    /// Goes on until the command has ended. What it leaves behind goes on untraced: the kernel lets it go when this thread ends.
    pub(super) fn run(mut self) {
        let open = self.noting.as_ref().map(|(notes, _)| noted::Open::new(notes));
        let each = if self.sampling.is_some() { sampled::EACH_NS as i64 } else { TICK_NS };
        let ticks = sys::Ticks::start(each);
        // Without them there are no further windows, and nothing wakes us when we are to let go.
        self.shared.ticking.store(ticks.is_ok(), Ordering::Relaxed);
        let (mut over, mut last, mut ticked, mut turned) = (false, 0, now_ns(), now_ns());
        while last < LAST_STOPS {
            crash::waits();
            let waited = if over { sys::wait_no_longer() } else { sys::wait() };
            match waited {
                sys::Waited::Of(tid, status, usage) => {
                    if libc::WIFSTOPPED(status) {
                        self.stopped(tid, status);
                    } else {
                        let root = (tid == self.root).then(|| Ended::new(status, &usage));
                        if let Some(how) = &root {
                            crash::ended(how.exit);
                        }
                        crash::handles(0);
                        self.ended(tid, status);
                        if let Some(how) = root {
                            self.shared.end(how);
                            over = true;
                        }
                    }
                    last += u32::from(over);
                }
                sys::Waited::Nothing if over => break,
                sys::Waited::Nothing => crash::handles(0),
                sys::Waited::NoneLeft => break,
            }
            if self.shared.let_go.load(Ordering::Relaxed) {
                break;
            }
            let now = now_ns();
            if now.saturating_sub(ticked) >= TICK_NS as u64 / 2 {
                ticked = now;
                self.look();
            }
            if now.saturating_sub(turned) >= sampled::EACH_NS / 2 {
                turned = now;
                self.look_where();
            }
        }
        crash::handles(0);
        drop(open);
        // Signals that were sent before, one a thread at most, are not left to the program.
        for _ in 0..self.threads.len() {
            crash::waits();
            match sys::wait_no_longer() {
                sys::Waited::Of(tid, status, _) if libc::WIFSTOPPED(status) => self.stopped(tid, status),
                sys::Waited::Of(tid, status, _) => self.ended(tid, status),
                sys::Waited::Nothing | sys::Waited::NoneLeft => break,
            }
        }
        crash::handles(0);
        let left: Vec<u32> = self.threads.keys().copied().collect();
        left.into_iter().for_each(|tid| self.settle(tid));
    }

    fn say(&self, event: Event) {
        let _ = self.tell.send(event); // whoever listens may have ended before the last of the target's threads
    }

    fn insert(&mut self, tid: u32, pid: u32, since: u64) {
        self.threads.insert(tid, Tracee::new(tid, pid, since, self.alone_ns));
        self.processes.entry(pid).or_default().threads.insert(tid);
    }

    fn stopped(&mut self, tid: u32, status: i32) {
        crash::handles(tid);
        self.handle(tid, status);
        crash::handles(0);
    }

    fn handle(&mut self, tid: u32, status: i32) {
        let (seen, signal) = (now_ns(), libc::WSTOPSIG(status));
        if !self.threads.contains_key(&tid) {
            self.adopt(tid);
        }
        let probe = self.threads.get_mut(&tid).and_then(|thread| thread.probe.take());
        let mut pass_on = 0;
        let (mut of_call, mut noted, mut sampled) = (false, false, false);
        if status >> 16 != libc::PTRACE_EVENT_STOP {
            self.stopped_instead(tid, status >> 16);
        }
        match status >> 16 {
            libc::PTRACE_EVENT_FORK | libc::PTRACE_EVENT_VFORK | libc::PTRACE_EVENT_CLONE => self.forked(tid),
            libc::PTRACE_EVENT_EXEC => self.executed(tid),
            libc::PTRACE_EVENT_EXIT => self.exits(tid),
            libc::PTRACE_EVENT_STOP => {
                if matches!(signal, libc::SIGSTOP | libc::SIGTSTP | libc::SIGTTIN | libc::SIGTTOU) {
                    return sys::go(tid, Go::Listen, 0);
                }
                // Unless it begins.
                let asked = self.threads.get(&tid).is_some_and(|thread| thread.view.asked);
                of_call = probe.is_some() || asked;
                sampled = self.is_to_sample(tid);
                if sampled {
                    self.sample(tid);
                }
                if self.may_be_cut(tid) || asked {
                    let cut = self.as_it_was(tid);
                    if sampled {
                        self.spare(tid, cut);
                    }
                }
                // The end of what is left of a call must be seen.
                if self.threads.get(&tid).is_some_and(|thread| thread.rest.is_some()) {
                    self.open(tid, 0);
                }
                if let Some(before) = probe {
                    self.probed(tid, before);
                }
                self.arrived(tid);
            }
            0 if signal == libc::SIGTRAP | 0x80 => {
                of_call = true;
                match sys::call(tid) {
                    Ok(At::Entry { abi, number, arguments, ip, sp }) => {
                        self.entered(tid, abi, Place { ip, sp, number }, arguments);
                    }
                    Ok(At::Exit { result }) => {
                        self.returned_the_rest(tid, result);
                        self.returned(tid, seen, result);
                        if self.may_be_cut(tid) {
                            let cut = self.as_it_was(tid);
                            self.spare(tid, cut);
                        }
                    }
                    Ok(At::Other) | Err(_) => {}
                }
            }
            0 if self.noted(tid, seen, signal) => noted = true,
            0 => {
                pass_on = signal;
                self.asked(tid, seen, signal);
                self.ignores(tid, signal);
                // After its handler a call may be made again by the program itself, much later.
                if let Some(thread) = self.threads.get_mut(&tid).filter(|thread| thread.interrupted.is_some())
                    && !facts::ignores(tid, signal)
                {
                    thread.interrupted = None;
                }
            }
            _ => {}
        }
        let ahead_ns = self.took_ahead();
        let took = self.count_stop(tid, (now_ns() - seen).saturating_sub(ahead_ns), of_call, sampled);
        // The counter's own budget says how much noting may take, and that of samples how much these. Forks, programs and exits stop in any case: where they
        // take more than windows may, the processes that start others must be heard nevertheless.
        match self.sampling.as_mut().filter(|_| sampled && !of_call) {
            Some(sampling) => sampling.took(took),
            None if noted => {}
            None if !of_call => {}
            None if self.threads.get(&tid).is_some_and(|thread| thread.view.quiet.is()) => {
                self.budget.add_quiet(took);
            }
            None => self.budget.add(took),
        }
        self.went(tid, Kind::Other); // unless it was a call's
        self.asks_again(tid);
        let traced = self.threads.get_mut(&tid).is_some_and(|thread| {
            thread.leave();
            thread.view.traced
        });
        sys::go(tid, if traced { Go::ToCall } else { Go::On }, pass_on);
    }

    fn entered(&mut self, tid: u32, abi: u32, mut place: Place, arguments: [u64; 6]) {
        self.went(tid, Kind::Between);
        let Some(thread) = self.threads.get_mut(&tid) else { return };
        let pid = thread.pid;
        let goes_on = place.number == slowpath_syscalls::RESTART_SYSCALL;
        if goes_on {
            place.number = thread.restarts.take().unwrap_or(slowpath_syscalls::RESTART_SYSCALL);
        }
        let asleep_since = thread.asleep_since.take().filter(|_| goes_on);
        let interrupted = thread.interrupted.take();
        let number = place.number;
        if abi != wanted::AUDIT_ARCH_X86_64 || !wanted::is_wanted(number, &arguments) {
            let ran = thread.account.as_ref().and_then(facts::ran);
            thread.inside = Inside::Unwanted(number, now_ns(), ran);
            return;
        }
        let mut entry = self.entry(tid, &place, arguments);
        let waits = slowpath_syscalls::WAITS.contains(&number);
        let copies = match number {
            _ if waits => Copies::Always,
            number if wanted::goes_on_after_a_stop(number) => Copies::Met,
            _ => Copies::Rationed,
        };
        self.copy_stack(tid, pid, &place, entry.site, now_ns(), copies);
        if let Some(thread) = self.threads.get_mut(&tid) {
            (entry.ran, entry.time) = match interrupted.filter(|before| entry.goes_on(before)) {
                Some(before) => (before.ran, before.time),
                None => {
                    let ran = thread.account.as_ref().and_then(facts::ran);
                    let now = now_ns();
                    let since = asleep_since.unwrap_or(now);
                    thread.view.began_to_sleep_before(now.saturating_sub(since));
                    (ran, since)
                }
            };
            thread.inside = Inside::Wanted(Box::new(entry));
        }
    }

    /// What a thread asks for in a call, while it is stopped in it: the place, the path, the file.
    fn entry(&mut self, tid: u32, place: &Place, arguments: [u64; 6]) -> Entry {
        let number = place.number;
        let mut path = Vec::new();
        let site = match slowpath_syscalls::path_argument(number) {
            Some(argument) => {
                let address = arguments[argument];
                path.resize(sys::to_page_end(address).min(256), 0);
                let site = site(tid, place, &mut [(address, &mut path)]);
                rest_of_path(tid, address, &mut path);
                site
            }
            None => site(tid, place, &mut []),
        };
        let descriptor =
            if wanted::is_on_file(number) { Some(arguments[0]) } else { wanted::mapped(number, &arguments) };
        let file = descriptor.and_then(|descriptor| self.devices.file(tid, descriptor)).unwrap_or_default();
        let link = descriptor.map(|descriptor| self.devices.name(tid, descriptor, &file)).unwrap_or_default();
        if number == slowpath_syscalls::CONNECT {
            path.resize((arguments[2] as usize).min(110), 0);
            let read = sys::read(tid, [(arguments[1], &mut path)]);
            path.truncate(read);
        }
        Entry { number, arguments, time: now_ns(), site, path, link, ran: None, file }
    }

    /// Notes the file that a call has opened.
    fn opened(&mut self, tid: u32, entry: &mut Entry, result: i64) {
        entry.file = self.devices.file(tid, result as u64).unwrap_or_default();
        entry.file.flags = open_flags(entry) as u32;
    }

    /// Bytes of the heap that a call of brk gave back, which returns where the heap ends now.
    fn gives_back(&mut self, pid: u32, result: i64) -> u64 {
        let Some(process) = self.processes.get_mut(&pid).filter(|_| result > 0) else { return 0 };
        let before = std::mem::replace(&mut process.heap_end, result as u64);
        // Another thread may have moved it meanwhile, unseen.
        if process.threads.len() > 1 { 0 } else { before.saturating_sub(result as u64) }
    }

    fn returned(&mut self, tid: u32, seen: u64, result: i64) {
        let floor = self.floor;
        let Some(thread) = self.threads.get_mut(&tid) else { return };
        let pid = thread.pid;
        let mut entry = match std::mem::replace(&mut thread.inside, Inside::Nothing) {
            Inside::Wanted(entry) => *entry,
            Inside::Unwanted(number, since, before) => {
                let wall = seen.saturating_sub(since);
                thread.view.called();
                if wall >= NO_SLEEP_NS {
                    let after = thread.account.as_ref().and_then(facts::ran);
                    let (_, asleep) = divided(wall, before, after);
                    thread.view.slept(asleep.saturating_sub(floor.asleep_ns), seen);
                }
                self.went(tid, Kind::Call(number));
                self.after_call(tid);
                return self.probe(tid);
            }
            Inside::Nothing => return,
        };
        if BEGUN_ANEW.contains(&result) {
            thread.restarts = Some(entry.number).filter(|_| result == ANEW_BY_RESTART);
            thread.interrupted = Some(Box::new(entry));
            return;
        }
        let wall = seen.saturating_sub(entry.time);
        let after = thread.account.as_ref().and_then(facts::ran);
        if let Some(reference) = self.reference.as_mut().filter(|reference| reference.pid == pid) {
            if entry.number == slowpath_syscalls::WRITE {
                self.answered = true;
            } else if entry.number == slowpath_syscalls::ACCESS {
                let (cpu, off) = off_cpu(wall, entry.ran, after);
                if let Some(floor) = reference.call(cpu, off) {
                    (self.floor, self.told) = (floor, Some(floor));
                }
            }
            if self.probes.is_some() {
                self.probe(tid);
            }
            return;
        }
        let (cpu, asleep) = divided(wall, entry.ran, after);
        // What it worked is known at the end of the window; where the scheduler keeps no account of it, by the mean of stops.
        let leg = self.went(tid, Kind::Call(entry.number));
        let work = if leg.is_some() { 0 } else { cpu.saturating_sub(self.floor.cpu_ns) };
        let asleep = asleep.saturating_sub(self.floor.asleep_ns);
        let asleep = if asleep < NO_SLEEP_NS { 0 } else { asleep };
        if slowpath_syscalls::OPENS.contains(&entry.number) && result >= 0 {
            self.opened(tid, &mut entry, result);
            if let Some(process) = self.processes.get_mut(&pid) {
                process.stale |= entry.path.windows(3).any(|part| part == b".so");
            }
        }
        let synced = slowpath_syscalls::SYNCS.contains(&entry.number);
        let mut event = finished_call(tid, pid, entry, work + asleep, asleep, result);
        if event.number == slowpath_syscalls::BRK {
            event.argument = self.gives_back(pid, result);
        }
        if synced && let Some(process) = self.processes.get_mut(&pid) {
            let written = facts::written(pid);
            event.argument = written.map_or(u64::MAX, |written| written.saturating_sub(process.written));
            process.written = written.unwrap_or(process.written);
        }
        if let Some(thread) = self.threads.get_mut(&tid) {
            thread.view.called();
            thread.view.slept(event.blocked, seen);
            thread.view.see(event, leg);
        }
        self.after_call(tid);
        self.probe(tid);
    }
}

/// CPU time of a call that took so long, and for how long no CPU was asked for, by what the thread had run before and after it.
fn off_cpu(wall: u64, before: Option<Ran>, after: Option<Ran>) -> (u64, u64) {
    let Some((before, after)) = before.zip(after) else { return (wall, 0) };
    let cpu = after.cpu_ns.saturating_sub(before.cpu_ns);
    let delay = after.delay_ns.saturating_sub(before.delay_ns);
    (cpu, wall.saturating_sub(cpu + delay))
}

/// CPU time and sleep of a call. Who was given a CPU once, to go from one stop to the next, has not slept: the rest is how long we took to hear
/// that it had stopped, which may be ms on a busy machine.
fn divided(wall: u64, before: Option<Ran>, after: Option<Ran>) -> (u64, u64) {
    let (cpu, off) = off_cpu(wall, before, after);
    let once = before.zip(after).is_some_and(|(before, after)| after.turns.saturating_sub(before.turns) == 1);
    (cpu, if once { 0 } else { off })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_who_was_given_a_cpu_again_has_slept() {
        let before = Ran { cpu_ns: 5_000, delay_ns: 100, turns: 7 };
        let after = |turns| Some(Ran { cpu_ns: 6_000, delay_ns: 300, turns });
        assert_eq!(divided(900_000, Some(before), after(8)), (1_000, 0));
        assert_eq!(divided(900_000, Some(before), after(9)), (1_000, 898_800));
        assert_eq!(divided(900_000, None, after(9)), (900_000, 0), "no account is kept");
    }
}
