//! The tracer's loop: every stop of every thread of the target, what it means, and how the thread goes on. Signals, stops by
//! the user, exits and exec happen as they would without us.

mod floor;

use super::call::{Entry, finished, finished_call, open_flags, rest_of_path, site};
use super::facts::{self, Devices, Ran};
use super::filter;
use super::reference::Reference;
use super::sys::{self, Go};
use super::{Floor, Shared};
use crate::bpf::event::Event;
use crate::clock::now_ns;
use crate::launch::Ended;
use crate::sampler::record::Regs;
use crate::tracer::event::{FileId, StackCopy};
use std::collections::{HashMap, HashSet};
use std::fs::File;
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::sync::mpsc::Sender;
use std::time::Duration;

const STACK_BYTES: usize = 8192;
/// The stack of one place is copied again every so many calls, and at most so many stacks in a slice; as in `bpf/tracer.h`.
const COPY_AGAIN: u32 = 1024;
const SLICE_NS: u64 = 10_390_000;
const SLICE_STACKS: u32 = 40;
/// A child's own stacks are not worth their copies until it has lived so long.
const YOUNG_NS: u64 = 20_000_000;
/// What the tracer's own delay can be: a shorter sleep in a call cannot be distinguished from it.
const NO_SLEEP_NS: u64 = 50_000;
/// What the command leaves behind is let end so long before it is ended.
const GRACE_NS: u64 = 2_000_000_000;
/// Results of calls that the kernel restarts after a signal: ERESTARTSYS to ERESTART_RESTARTBLOCK.
const BEGUN_ANEW: [i64; 3] = [-512, -513, -514];

struct Tracee {
    pid: u32,
    entry: Option<Entry>,
    account: Option<File>,
    /// Its exit was reported.
    exited: bool,
    /// When it was first seen.
    since: u64,
    calls: u32,
    /// When it was let go on to stop again at once, and what it had run by then.
    probe: Option<(u64, Ran)>,
}

impl Tracee {
    fn new(tid: u32, pid: u32, since: u64) -> Tracee {
        let account = facts::account(tid);
        Tracee { pid, entry: None, account, exited: false, since, calls: 0, probe: None }
    }
}

/// A process: its threads that live, and what is known of its memory.
#[derive(Default, Clone)]
struct Memory {
    threads: HashSet<u32>,
    born: u64,
    code: Vec<Range<u64>>,
    /// Something was mapped since `code` was read.
    stale: bool,
    /// Places whose stack was copied, and calls since then.
    sites: HashMap<u64, u32>,
    /// What calls took less than tracing takes on average, ns.
    debt: u64,
    /// Bytes written when it last synced.
    written: u64,
}

pub(super) struct Watch {
    root: u32,
    tell: Sender<Event>,
    shared: Arc<Shared>,
    /// What a call takes besides its own work now.
    floor: Floor,
    reference: Option<Reference>,
    /// What the reference reported last.
    told: Option<Floor>,
    /// Nobody else reports mappings.
    alone: bool,
    threads: HashMap<u32, Tracee>,
    processes: HashMap<u32, Memory>,
    devices: Devices,
    slice: (u64, u32),
}

impl Watch {
    pub(super) fn new(
        root: u32,
        alone: bool,
        floor: Floor,
        tell: Sender<Event>,
        shared: Arc<Shared>,
    ) -> Watch {
        let mut watch = Watch {
            root,
            tell,
            shared,
            floor,
            reference: None,
            told: None,
            alone,
            threads: HashMap::new(),
            processes: HashMap::new(),
            devices: Devices::default(),
            slice: (0, 0),
        };
        watch.insert(root, root, now_ns());
        watch
    }

    /// Goes on until the command has ended, and what it left behind too or its time of grace is over. What lives then is
    /// ended by the kernel when this thread ends: with the filter and no tracer it could open no file.
    pub(super) fn run(mut self) {
        let mut over = None;
        loop {
            let waited = if over.is_none() { sys::wait() } else { sys::wait_no_longer() };
            match waited {
                sys::Waited::Of(tid, status, usage) => {
                    if libc::WIFSTOPPED(status) {
                        self.stopped(tid, status);
                    } else {
                        self.ended(tid, status);
                        if tid == self.root {
                            self.shared.end(Ended::new(status, &usage));
                            over = Some(now_ns());
                        }
                    }
                }
                sys::Waited::Nothing => std::thread::sleep(Duration::from_millis(2)),
                sys::Waited::NoneLeft => break,
            }
            let hurry = self.shared.hurry.load(Ordering::Relaxed);
            let nobody = self.processes.is_empty();
            if over.is_some_and(|over| hurry || nobody || now_ns() - over > GRACE_NS) {
                break;
            }
        }
        self.shared.left.store(self.processes.len() as u64, Ordering::Relaxed);
    }

    fn say(&self, event: Event) {
        let _ = self.tell.send(event); // whoever listens may have ended before the last of the target's threads
    }

    fn insert(&mut self, tid: u32, pid: u32, since: u64) {
        self.threads.insert(tid, Tracee::new(tid, pid, since));
        self.processes.entry(pid).or_default().threads.insert(tid);
    }

    fn stopped(&mut self, tid: u32, status: i32) {
        let (seen, signal) = (now_ns(), libc::WSTOPSIG(status));
        if !self.threads.contains_key(&tid) {
            self.adopt(tid);
        }
        let probe = self.threads.get_mut(&tid).and_then(|thread| thread.probe.take());
        let mut pass_on = 0;
        match status >> 16 {
            libc::PTRACE_EVENT_SECCOMP => self.entered(tid),
            libc::PTRACE_EVENT_FORK | libc::PTRACE_EVENT_VFORK | libc::PTRACE_EVENT_CLONE => self.forked(tid),
            libc::PTRACE_EVENT_EXEC => self.executed(tid),
            libc::PTRACE_EVENT_EXIT => self.exits(tid),
            libc::PTRACE_EVENT_STOP => {
                if matches!(signal, libc::SIGSTOP | libc::SIGTSTP | libc::SIGTTIN | libc::SIGTTOU) {
                    return sys::go(tid, Go::Listen, 0);
                }
                if let Some(before) = probe {
                    self.probed(tid, before);
                }
            }
            0 if signal == libc::SIGTRAP | 0x80 => self.returned(tid),
            0 => pass_on = signal,
            _ => {}
        }
        let within = self.threads.get(&tid).is_some_and(|thread| thread.entry.is_some());
        self.count_stop(now_ns() - seen);
        sys::go(tid, if within { Go::ToReturn } else { Go::On }, pass_on);
    }

    /// A new thread that stopped before its parent's fork was reported.
    fn adopt(&mut self, tid: u32) {
        let Some((pid, parent)) = facts::process_of(tid) else { return };
        self.born(tid, pid, if pid == tid { parent } else { pid }, now_ns());
    }

    fn born(&mut self, tid: u32, pid: u32, parent: u32, time: u64) {
        if pid == tid {
            let mut memory = self.processes.get(&parent).cloned().unwrap_or_default();
            memory.threads.clear();
            memory.sites.clear();
            (memory.born, memory.written, memory.debt) = (time, 0, 0);
            self.processes.insert(pid, memory);
        }
        self.insert(tid, pid, time);
        self.say(Event::Fork { pid, parent, tid, time });
    }

    fn forked(&mut self, tid: u32) {
        const CLONE: u64 = 56;
        const CLONE3: u64 = 435;
        let (Ok(new), Ok(regs)) = (sys::message(tid), sys::registers(tid)) else { return };
        let Some(pid) = self.threads.get(&tid).map(|thread| thread.pid) else { return };
        // The child may have been heard of before.
        let new = new as u32;
        let time = self.threads.get(&new).map_or_else(now_ns, |child| child.since);
        let flags = match regs.orig_rax {
            CLONE => regs.rdi,
            CLONE3 => {
                let mut flags = [0; 8];
                sys::read(tid, [(regs.rdi, &mut flags)]);
                u64::from_ne_bytes(flags)
            }
            _ => 0,
        };
        let thread = flags & libc::CLONE_THREAD as u64 != 0;
        if !self.threads.contains_key(&new) {
            self.born(new, if thread { pid } else { new }, pid, time);
        }
        let site = site(tid, &regs, &mut []);
        self.copy_stack(tid, pid, &regs, site, time, true);
        let entry = Entry {
            number: regs.orig_rax as u32,
            arguments: [flags, 0, 0, 0, 0, 0],
            time,
            site,
            path: Vec::new(),
            ran: None,
            file: FileId::default(),
        };
        self.say(finished(tid, pid, entry, time, 0, i64::from(new)));
    }

    /// A thread of the process has executed a program: it is the first now, and the only one.
    fn executed(&mut self, tid: u32) {
        let (former, time) = (sys::message(tid).unwrap_or(u64::from(tid)) as u32, now_ns());
        if former != tid
            && let Some(mut thread) = self.threads.remove(&former)
        {
            thread.account = facts::account(tid);
            if let Some(entry) = &mut thread.entry {
                entry.ran = None;
            }
            self.threads.insert(tid, thread);
        }
        self.threads.retain(|other, thread| *other == tid || thread.pid != tid);
        self.processes.insert(
            tid,
            Memory { threads: HashSet::from([tid]), born: time, stale: true, ..Memory::default() },
        );
        let (program, directory, arguments) = facts::program(tid);
        let after = arguments.clone();
        self.say(Event::Program { pid: tid, time, program, directory, arguments });
        self.say(Event::Exec { pid: tid, time, arguments: after, truncated: false });
    }

    fn exits(&mut self, tid: u32) {
        let status = sys::message(tid).unwrap_or(0) as i32;
        self.tell_exit(tid, status);
    }

    fn tell_exit(&mut self, tid: u32, status: i32) {
        let Some(thread) = self.threads.get_mut(&tid) else { return };
        if std::mem::replace(&mut thread.exited, true) {
            return;
        }
        let pid = thread.pid;
        thread.entry = None;
        let account = thread.account.take();
        let last = self.processes.get_mut(&pid).is_none_or(|process| {
            process.threads.remove(&tid);
            process.threads.is_empty()
        });
        let cpu_ns = account.as_ref().and_then(facts::ran).map_or(0, |ran| ran.cpu_ns);
        let (user_ticks_ns, sys_ticks_ns) = facts::ticks(pid, tid);
        let peak_pages = if last { facts::peak_pages(pid) } else { 0 };
        let time = now_ns();
        self.say(Event::Exit {
            pid,
            tid,
            last,
            time,
            cpu_ns,
            user_ticks_ns,
            sys_ticks_ns,
            peak_pages,
            status,
        });
    }

    /// A thread is gone, whether it could be stopped at its exit or not.
    fn ended(&mut self, tid: u32, status: i32) {
        self.tell_exit(tid, status);
        if let Some(thread) = self.threads.remove(&tid)
            && self.processes.get(&thread.pid).is_some_and(|process| process.threads.is_empty())
        {
            self.processes.remove(&thread.pid);
        }
    }

    fn entered(&mut self, tid: u32) {
        let Ok(regs) = sys::registers(tid) else { return };
        let Some(pid) = self.threads.get(&tid).map(|thread| thread.pid) else { return };
        let number = regs.orig_rax as u32;
        let arguments = [regs.rdi, regs.rsi, regs.rdx, regs.r10, regs.r8, regs.r9];
        let mut path = Vec::new();
        let site = match filter::path_argument(number) {
            Some(argument) => {
                let address = arguments[argument];
                path.resize(sys::to_page_end(address).min(256), 0);
                let site = site(tid, &regs, &mut [(address, &mut path)]);
                rest_of_path(tid, address, &mut path);
                site
            }
            None => site(tid, &regs, &mut []),
        };
        let mut file = FileId::default();
        if filter::SYNCS.contains(&number) && number != filter::MSYNC {
            file = self.devices.file(tid, regs.rdi).unwrap_or_default();
        } else if number == filter::CONNECT {
            path.resize((regs.rdx as usize).min(110), 0);
            let read = sys::read(tid, [(regs.rsi, &mut path)]);
            path.truncate(read);
        }
        self.copy_stack(tid, pid, &regs, site, now_ns(), number == 61 || number == 247);
        if let Some(thread) = self.threads.get_mut(&tid) {
            let ran = thread.account.as_ref().and_then(facts::ran);
            thread.entry = Some(Entry { number, arguments, time: now_ns(), site, path, ran, file });
        }
    }

    fn returned(&mut self, tid: u32) {
        let seen = now_ns();
        let Some(thread) = self.threads.get_mut(&tid) else { return };
        let pid = thread.pid;
        let (Some(mut entry), Ok(regs)) = (thread.entry.take(), sys::registers(tid)) else { return };
        let result = regs.rax as i64;
        if BEGUN_ANEW.contains(&result) {
            return;
        }
        let wall = seen.saturating_sub(entry.time);
        let after = thread.account.as_ref().and_then(facts::ran);
        let (cpu, asleep) = match entry.ran.zip(after) {
            Some((before, after)) => {
                let cpu = after.cpu_ns.saturating_sub(before.cpu_ns);
                let delay = after.delay_ns.saturating_sub(before.delay_ns);
                (cpu, wall.saturating_sub(cpu + delay))
            }
            None => (wall, 0),
        };
        if let Some(reference) = self.reference.as_mut().filter(|reference| reference.pid == pid) {
            if let Some(floor) = reference.call(cpu, asleep) {
                (self.floor, self.told) = (floor, Some(floor));
            }
            return;
        }
        // What one call falls short of the mean is taken off the next ones, so that their sum is true.
        let Some(process) = self.processes.get_mut(&pid) else { return };
        let off = self.floor.cpu_ns + process.debt;
        process.debt = off.saturating_sub(cpu);
        let cpu = cpu.saturating_sub(off);
        let asleep = asleep.saturating_sub(self.floor.asleep_ns);
        let asleep = if asleep < NO_SLEEP_NS { 0 } else { asleep };
        if filter::OPENS.contains(&entry.number) && result >= 0 {
            entry.file = self.devices.file(tid, result as u64).unwrap_or_default();
            entry.file.flags = open_flags(&entry) as u32;
            if let Some(process) = self.processes.get_mut(&pid) {
                process.stale |= entry.path.windows(3).any(|part| part == b".so");
            }
        }
        let synced = filter::SYNCS.contains(&entry.number);
        let mut event = finished_call(tid, pid, entry, cpu + asleep, asleep, result);
        if synced && let Some(process) = self.processes.get_mut(&pid) {
            let written = facts::written(pid).unwrap_or(u64::MAX);
            event.argument = written.saturating_sub(process.written);
            process.written = written;
        }
        self.say(Event::Syscall(Box::new(event)));
        self.probe(tid);
    }

    /// Sends the stack of a place that has not been reported lately, and before it what is mapped, if it is needed.
    fn copy_stack(
        &mut self,
        tid: u32,
        pid: u32,
        regs: &libc::user_regs_struct,
        site: u64,
        time: u64,
        always: bool,
    ) {
        let Some(process) = self.processes.get_mut(&pid) else { return };
        if pid != self.root && time.saturating_sub(process.born) < YOUNG_NS {
            return;
        }
        if !always {
            if let Some(calls) = process.sites.get_mut(&site) {
                *calls += 1;
                if *calls < COPY_AGAIN {
                    return;
                }
            }
            if self.slice.0 != time / SLICE_NS {
                self.slice = (time / SLICE_NS, 0);
            }
            self.slice.1 += 1;
            if self.slice.1 > SLICE_STACKS {
                return;
            }
            process.sites.insert(site, 0);
        }
        let known = process.code.iter().any(|range| range.contains(&regs.rip));
        if self.alone && (process.stale || !known) {
            let text = std::fs::read_to_string(format!("/proc/{pid}/maps")).unwrap_or_default();
            process.code = crate::session::code_ranges(&text);
            process.stale = false;
            let _ = self.tell.send(Event::Maps { pid, time, text });
        }
        let mut bytes = vec![0; STACK_BYTES];
        let read = sys::read(tid, [(regs.rsp, &mut bytes)]);
        bytes.truncate(read);
        let regs = Regs { ip: regs.rip, sp: regs.rsp, bp: regs.rbp, wide: true };
        self.say(Event::Stack(StackCopy { pid, time, site, regs, bytes }));
    }
}
