//! Threads that stop because of a breakpoint's signal: what begins there is noted, and the program never hears of it.

use super::Watch;
use crate::bpf::event::Event;
use crate::counter::breakpoint::notes::{Hit, Notes, Registers};
use crate::tracer::ptrace::{facts, sys};
use std::sync::Arc;

/// Notes are taken until it is dropped, also where the tracer ends by a bug.
pub(super) struct Open(Arc<Notes>);

impl Open {
    pub(super) fn new(notes: &Arc<Notes>) -> Open {
        notes.open();
        Open(notes.clone())
    }
}

impl Drop for Open {
    fn drop(&mut self) {
        self.0.close();
    }
}

impl Watch {
    /// Whether a thread has stopped for a signal of ours, which is not passed on.
    pub(super) fn noted(&mut self, tid: u32, time: u64, signal: i32) -> bool {
        let Some((notes, hit_ns)) = &self.noting else { return false };
        let Ok(info) = sys::signal_info(tid) else { return false };
        let fd = sys::descriptor_of(&info);
        if !notes.is_ours(signal, info.si_code, fd) {
            return false;
        }
        let cpu_ns = self.threads.get_mut(&tid).map_or(0, |thread| {
            let ran = thread.account.as_ref().and_then(facts::ran);
            thread.view.hit(ran.map_or(0, |ran| ran.cpu_ns), *hit_ns)
        });
        let hit = Hit { tid, time, cpu_ns };
        let entered = sys::registers(tid).ok().and_then(|registers| {
            notes.take(fd, &numbered(&registers), hit, |address, into| sys::read(tid, [(address, into)]))
        });
        match entered {
            Some(entered) => self.say(Event::Walk(entered)),
            // It blocked the signal meanwhile, and was perhaps woken by it.
            None => self.keeps_back(tid),
        }
        true
    }
}

/// Registers as instructions number them.
fn numbered(registers: &libc::user_regs_struct) -> Registers {
    let r = registers;
    [
        r.rax, r.rcx, r.rdx, r.rbx, r.rsp, r.rbp, r.rsi, r.rdi, r.r8, r.r9, r.r10, r.r11, r.r12, r.r13,
        r.r14, r.r15, r.rip,
    ]
}

#[cfg(test)]
mod tests {
    use super::super::windows::View;

    #[test]
    fn what_hits_and_stops_took_is_no_cpu_time_of_the_program() {
        let mut view = View::new(0, 0);
        assert_eq!(view.hit(50_000, 3_000), 47_000);
        view.took(20_000, 4_000);
        assert_eq!(view.hit(60_000, 3_000), 50_000);
        assert_eq!(view.hit(5_000, 3_000), 0);
    }
}
