//! What being stopped takes of a thread, measured: on a reference before the command runs, and on its own threads now and then.

use super::legs::Kind;
use super::{Tracee, Watch};
use crate::clock::now_ns;
use crate::tracer::ptrace::Floor;
use crate::tracer::ptrace::facts::{self, Ran};
use crate::tracer::ptrace::reference::{Reference, median};
use crate::tracer::ptrace::sys::{self, Go};
use std::sync::atomic::Ordering;

/// The first calls of a thread are probed, then each so many; and over how many probes the mean fades.
const PROBE_FIRST: u32 = 8;
const PROBE_EACH: u32 = 8;
const FADE: u64 = 16;
/// Batches of the reference in which each call is probed: the median of 150 stops that scatter by 3 µs is known to 0.3.
const ENTRY_BATCHES: usize = 5;

impl Watch {
    /// Takes up a reference, which is traced already.
    pub(in crate::tracer::ptrace) fn refer(&mut self, reference: Reference) {
        self.threads
            .insert(reference.pid, Tracee::new(reference.pid, reference.pid, now_ns(), self.alone_ns));
        self.reference = Some(reference);
    }

    /// Ends the reference and waits for that.
    pub(in crate::tracer::ptrace) fn stop_referring(&mut self) {
        let Some(pid) = self.reference.take().map(|reference| reference.pid) else { return };
        // SAFETY: a signal to our own child, which was not yet waited for.
        unsafe { libc::kill(pid as i32, libc::SIGKILL) };
        loop {
            match sys::wait() {
                sys::Waited::Of(tid, status, _) if tid == pid && !libc::WIFSTOPPED(status) => break,
                sys::Waited::Of(tid, ..) if tid == pid => sys::go(tid, Go::On, 0),
                sys::Waited::Of(..) => {} // there is no other
                sys::Waited::Nothing => {}
                sys::Waited::NoneLeft => break,
            }
        }
    }

    /// Has the reference make its calls and handles nothing else; the floor, and elapsed and CPU time of all of them.
    pub(in crate::tracer::ptrace) fn batch(&mut self) -> Option<(Floor, [u64; 2])> {
        (self.told, self.answered) = (None, false);
        self.reference.as_mut()?.begin().ok()?;
        while self.told.is_none() || !self.answered {
            match sys::wait() {
                sys::Waited::Of(tid, status, _) if libc::WIFSTOPPED(status) => self.stopped(tid, status),
                sys::Waited::Nothing => {}
                sys::Waited::Of(..) | sys::Waited::NoneLeft => return None,
            }
        }
        let took = self.reference.as_mut()?.took().ok()?;
        Some((self.told?, took))
    }

    /// What the reference's way into a call takes more than a leg without work, ns.
    pub(in crate::tracer::ptrace) fn entries(&mut self) -> Option<i64> {
        self.probes = Some(Vec::new());
        for _ in 0..ENTRY_BATCHES {
            self.batch()?;
        }
        // Legs that follow each other, for both are on the same CPU or both are not.
        let probes = self.probes.take()?.into_iter();
        median(probes.filter_map(|(alone, between)| Some(between? as i64 - alone as i64)).collect())
    }

    /// A thread has gone a leg, if it was let go to be stopped; its number in the window.
    pub(super) fn went(&mut self, tid: u32, kind: Kind) -> Option<usize> {
        let thread = self.threads.get_mut(&tid)?;
        let took = thread.leg()?;
        if let Some((_, between)) = self.probes.as_mut().and_then(|probes| probes.last_mut())
            && kind == Kind::Between
        {
            between.get_or_insert(took);
        }
        Some(thread.view.legs.add(kind, took))
    }

    /// Adds up what stops take: being handled, and going on and stopping again.
    pub(super) fn count_stop(&mut self, tid: u32, handled_ns: u64, of_call: bool, sampled: bool) -> u64 {
        let Floor { cpu_ns, asleep_ns } = self.floor;
        let took = handled_ns + cpu_ns + asleep_ns;
        // Between two calls as well as within one, in the proportion that the reference showed.
        let of_reference = self.cost.floor.cpu_ns;
        let cpu_ns = match of_reference {
            0 => cpu_ns,
            _ => (cpu_ns as f64 * self.cost.cpu_ns as f64 / of_reference as f64) as u64,
        };
        if let Some(thread) = self.threads.get_mut(&tid) {
            thread.view.took(took, cpu_ns);
        }
        self.shared.stops.fetch_add(1, Ordering::Relaxed);
        self.shared.wall_ns.fetch_add(took, Ordering::Relaxed);
        let part = match (of_call, sampled) {
            (true, _) => Some(&self.shared.calls_ns),
            (false, true) => Some(&self.shared.samples_ns),
            (false, false) => None,
        };
        part.into_iter().for_each(|of| _ = of.fetch_add(took, Ordering::Relaxed));
        self.shared.cpu_ns.fetch_add(cpu_ns, Ordering::Relaxed);
        took
    }

    /// Now and then a thread is stopped once more right after a call: what that takes, a call takes besides its own work. It
    /// depends on where the thread and we run just then, so that only the thread itself can show it.
    pub(super) fn probe(&mut self, tid: u32) {
        let Some(thread) = self.threads.get_mut(&tid) else { return };
        thread.calls += 1;
        let always = self.probes.is_some();
        if thread.view.traced
            && (always || thread.calls <= PROBE_FIRST || thread.calls.is_multiple_of(PROBE_EACH))
            && let Some(ran) = thread.account.as_ref().and_then(facts::ran)
            && sys::interrupt(tid).is_ok()
        {
            thread.probe = Some((now_ns(), ran));
        }
    }

    pub(super) fn probed(&mut self, tid: u32, before: (u64, Ran)) {
        let wall = now_ns().saturating_sub(before.0);
        // The kernel waits for the thread to be off its CPU before it reports its registers.
        if sys::registers(tid).is_err() {
            return;
        }
        let account = self.threads.get(&tid).and_then(|thread| thread.account.as_ref());
        let Some(after) = account.and_then(facts::ran) else { return };
        let cpu = after.cpu_ns.saturating_sub(before.1.cpu_ns);
        let asleep = wall.saturating_sub(cpu + after.delay_ns.saturating_sub(before.1.delay_ns));
        if let Some(thread) = self.threads.get_mut(&tid) {
            thread.left = None;
            thread.view.legs.add_alone(cpu);
        }
        self.alone_ns = cpu;
        if let Some(probes) = &mut self.probes {
            return probes.push((cpu, None));
        }
        let faded = |old: u64, new: u64| (old * (FADE - 1) + new) / FADE;
        self.floor =
            Floor { cpu_ns: faded(self.floor.cpu_ns, cpu), asleep_ns: faded(self.floor.asleep_ns, asleep) };
    }
}
