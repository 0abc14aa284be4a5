//! At a stop for a sample, now and then, the thread's next stretch is looked at.

use super::Watch;
use crate::ahead::{Budget, Code, Stretch, Wanted, registers, stretch};
use crate::tracer::ptrace::sys;
use std::sync::atomic::Ordering;
use std::sync::mpsc::Sender;
use std::time::Instant;

/// What is wanted, and who hears of it.
pub(in crate::tracer::ptrace) struct Ahead {
    wanted: Wanted,
    tell: Sender<Stretch>,
    budget: Budget,
    /// What the last took, until it is counted, ns.
    took_ns: u64,
}

impl Ahead {
    pub(in crate::tracer::ptrace) fn new(wanted: Wanted, tell: Sender<Stretch>) -> Ahead {
        Ahead { wanted, tell, budget: Budget::new(), took_ns: 0 }
    }

    pub(super) fn is_due(&self) -> bool {
        self.budget.is_due()
    }
}

impl Watch {
    /// Looks at the next stretch of a thread that has stopped, if one is due.
    pub(super) fn look_ahead(&mut self, tid: u32) {
        let Some(ahead) = self.ahead.as_mut().filter(|ahead| ahead.is_due()) else { return };
        let Some(pid) = self.threads.get(&tid).map(|thread| thread.pid) else { return };
        let Some(mapped) = ahead.wanted.mapped(pid) else { return };
        // One that is in a call goes on in the kernel.
        if sys::registers(tid).map_or(true, |regs| regs.orig_rax as i64 >= 0) {
            return;
        }
        let since = Instant::now();
        let seen = registers(tid)
            .ok()
            .and_then(|registers| stretch(&mut Code::new(pid, mapped), tid, registers, since));
        ahead.budget.took(since.elapsed(), seen.as_ref());
        ahead.took_ns += since.elapsed().as_nanos() as u64;
        // Whoever listens may have ended.
        seen.map(|seen| ahead.tell.send(seen));
    }

    /// What looking ahead took at this stop, ns: counted here, and no part of what the stop itself took.
    pub(super) fn took_ahead(&mut self) -> u64 {
        let took = self.ahead.as_mut().map_or(0, |ahead| std::mem::take(&mut ahead.took_ns));
        if took > 0 {
            self.shared.wall_ns.fetch_add(took, Ordering::Relaxed);
            self.shared.samples_ns.fetch_add(took, Ordering::Relaxed);
        }
        took
    }
}
