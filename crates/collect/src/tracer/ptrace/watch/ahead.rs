//! At a stop for a sample, now and then, the thread's next stretch is looked at.

use super::Watch;
use crate::ahead::{Budget, Stretch, Wanted, registers, stretch};
use crate::tracer::ptrace::facts;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::Ordering;
use std::sync::mpsc::Sender;
use std::time::Instant;

/// Threads that are asked whether they run.
const OTHERS: usize = 32;

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
        let Some(ahead) = self.ahead.as_ref().filter(|ahead| ahead.is_due()) else { return };
        let Some(pid) = self.threads.get(&tid).map(|thread| thread.pid) else { return };
        let Some(code) = ahead.wanted.code(pid) else { return };
        // While one stands no stop of another is handled.
        let mut others = self.threads.iter().filter(|(other, _)| **other != tid).take(OTHERS);
        if self.threads.len() > OTHERS || others.any(|(other, thread)| facts::runs(thread.pid, *other)) {
            return;
        }
        let since = Instant::now();
        // In a call it has none.
        let Ok(registers) = registers(tid) else { return };
        let (is_first, watched) = (ahead.budget.is_first(), ahead.wanted.watched(pid));
        let stretch = || stretch(&code, tid, registers, since, is_first, &watched);
        let seen = catch_unwind(AssertUnwindSafe(stretch));
        let seen = seen.ok().flatten();
        let Some(ahead) = self.ahead.as_mut() else { return };
        ahead.budget.took(since.elapsed(), seen.as_ref());
        ahead.took_ns += since.elapsed().as_nanos() as u64;
        // Whoever listens may have ended.
        if let Some(seen) = seen {
            let _ = ahead.tell.send(seen);
        }
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
