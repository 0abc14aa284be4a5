//! Signals that ask a program to end, as BPF shows them by the calls that send one and that return from its handler. The tracer hears of each signal whether
//! calls are traced or not.

use super::Watch;
use crate::tracer::event::FileId;
use crate::tracer::ptrace::call::{Entry, finished};
use crate::tracer::ptrace::{facts, sys};
use slowpath_syscalls::{KILL, RT_SIGRETURN};

/// Hangup, interrupt, quit, terminate.
const ENDS: [i32; 4] = [libc::SIGHUP, libc::SIGINT, libc::SIGQUIT, libc::SIGTERM];

impl Watch {
    /// A thread is about to take a signal. Says who sent it and that it is handled, if it asks the program to end and there is a handler.
    pub(super) fn asked(&mut self, tid: u32, time: u64, signal: i32) {
        if !ENDS.contains(&signal) || !facts::handles(tid, signal) {
            return;
        }
        let Some(pid) = self.threads.get(&tid).map(|thread| thread.pid) else { return };
        let entry = |number: u32, arguments: [u64; 6]| Entry {
            number,
            arguments,
            time,
            site: 0,
            path: Vec::new(),
            link: Vec::new(),
            ran: None,
            file: FileId::default(),
        };
        let sender = sys::signal_info(tid).ok().filter(|info| info.si_code == libc::SI_USER);
        // SAFETY: of a signal that a process sent the kernel has filled this part.
        let sender = sender.map(|info| unsafe { info.si_pid() } as u32);
        // A call that is traced has a row already.
        if let Some(from) =
            sender.filter(|from| self.threads.get(from).is_some_and(|thread| !thread.view.traced))
        {
            let arguments = [u64::from(pid), signal as u64, 0, 0, 0, 0];
            self.say(finished(from, from, entry(KILL, arguments), time, 0, 0));
        }
        self.say(finished(tid, pid, entry(RT_SIGRETURN, [0; 6]), time, 0, 0));
    }
}
