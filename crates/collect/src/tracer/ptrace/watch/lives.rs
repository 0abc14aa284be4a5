//! Threads, processes and programs that begin and end.

use super::stacks::Copies;
use super::{Inside, Memory, Watch};
use crate::bpf::event::Event;
use crate::clock::now_ns;
use crate::tracer::event::FileId;
use crate::tracer::ptrace::call::{Entry, Place, finished, site};
use crate::tracer::ptrace::{budget, facts, sys};
use std::collections::HashSet;

impl Watch {
    /// A new thread that stopped before its parent's fork was reported.
    pub(super) fn adopt(&mut self, tid: u32) {
        let Some((pid, parent)) = facts::process_of(tid) else { return };
        self.born(tid, pid, if pid == tid { parent } else { pid }, now_ns());
    }

    pub(super) fn born(&mut self, tid: u32, pid: u32, parent: u32, time: u64) {
        if pid == tid {
            let mut memory = self.processes.get(&parent).cloned().unwrap_or_default();
            memory.threads.clear();
            memory.sites.clear();
            memory.files.clear();
            (memory.born, memory.written) = (time, 0);
            self.processes.insert(pid, memory);
            self.costs.forked(pid, parent);
        }
        self.insert(tid, pid, time);
        self.say(Event::Fork { pid, parent, tid, time });
    }

    pub(super) fn forked(&mut self, tid: u32) {
        const CLONE: u64 = slowpath_syscalls::CLONE as u64;
        const CLONE3: u64 = slowpath_syscalls::CLONE3 as u64;
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
        let place = Place { ip: regs.rip, sp: regs.rsp, number: regs.orig_rax as u32 };
        let site = site(tid, &place, &mut []);
        self.copy_stack(tid, pid, &place, site, time, Copies::Always);
        let entry = Entry {
            number: place.number,
            arguments: [flags, 0, 0, 0, 0, 0],
            time,
            site,
            path: Vec::new(),
            link: Vec::new(),
            ran: None,
            file: FileId::default(),
        };
        self.say(finished(tid, pid, entry, time, 0, i64::from(new)));
    }

    /// A thread of the process has executed a program: it is the first now, and the only one.
    pub(super) fn executed(&mut self, tid: u32) {
        let (former, time) = (sys::message(tid).unwrap_or(u64::from(tid)) as u32, now_ns());
        // By its process: what was seen of the former program is reported before the new one.
        let gone: Vec<u32> =
            self.threads.iter().filter(|(_, one)| one.pid == tid).map(|(tid, _)| *tid).collect();
        gone.into_iter().for_each(|thread| self.settle(thread));
        if former != tid
            && let Some(mut thread) = self.threads.remove(&former)
        {
            thread.account = facts::account(tid);
            // It waits for a window under its former number.
            thread.view.queued = false;
            thread.rest = None;
            if let Inside::Wanted(entry) = &mut thread.inside {
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
        self.costs.runs(tid, program.as_deref());
        let known = program.as_ref().is_some_and(|program| self.programs.contains_key(program));
        let anyway = program.clone().is_some_and(|program| self.is_traced_anyway(program));
        self.say(Event::Program { pid: tid, time, program, directory, arguments });
        self.say(Event::Exec { pid: tid, time, arguments: after, truncated: false });
        if anyway {
            self.open(tid, budget::FIRST_CALLS);
        } else if !known || self.budget.has_half(now_ns()) {
            self.may_open(tid);
        } else {
            self.begins_undisturbed(tid);
        }
    }

    /// Whether a program is one of the first, and this start of it is traced in any case.
    fn is_traced_anyway(&mut self, program: String) -> bool {
        if self.programs.len() >= budget::FIRST_PROGRAMS && !self.programs.contains_key(&program) {
            return false;
        }
        self.programs.entry(program).or_default().next()
    }

    pub(super) fn exits(&mut self, tid: u32) {
        let status = sys::message(tid).unwrap_or(0) as i32;
        self.tell_exit(tid, status);
    }

    fn tell_exit(&mut self, tid: u32, status: i32) {
        if self.threads.get(&tid).is_some_and(|thread| !thread.exited) {
            self.settle(tid);
        }
        let Some(thread) = self.threads.get_mut(&tid) else { return };
        if std::mem::replace(&mut thread.exited, true) {
            return;
        }
        let pid = thread.pid;
        thread.inside = Inside::Nothing;
        let account = thread.account.take();
        let last = self.processes.get_mut(&pid).is_none_or(|process| {
            process.threads.remove(&tid);
            process.threads.is_empty()
        });
        let cpu_ns = account.as_ref().and_then(facts::ran).map_or(0, |ran| ran.cpu_ns);
        let (user_ticks_ns, sys_ticks_ns) = facts::ticks(pid, tid);
        let peak_pages = if last { facts::peak_pages(tid) } else { 0 };
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
            measured: last,
            status,
        });
    }

    /// A thread is gone, whether it could be stopped at its exit or not.
    pub(super) fn ended(&mut self, tid: u32, status: i32) {
        self.tell_exit(tid, status);
        if let Some(thread) = self.threads.remove(&tid)
            && self.processes.get(&thread.pid).is_some_and(|process| process.threads.is_empty())
        {
            self.processes.remove(&thread.pid);
            self.costs.runs(thread.pid, None);
        }
    }
}
