//! Threads that run are stopped a few hundred times a second, and it is noted where they are. What a stop stands for is the CPU time that its
//! thread has used since the one before.
//!
//! The kernel lets a thread stop on its way back to the program. One that was in a system call is met as it returns from it: so time in the kernel is
//! seen, between windows too ([`met`](crate::tracer::ptrace::met)). Where the kernel gives no samples each stop is one as well,
//! of the program's code: of one at a call a part is what the program did before it.

use super::ahead::Ahead;
use super::stacks::Copies;
use super::{BEGUN_ANEW, Memory, Watch};
use crate::bpf::event::Event;
use crate::clock::now_ns;
use crate::sampler::record::{Regs, Sample};
use crate::tracer::event::Finished;
use crate::tracer::ptrace::call::{Place, finished_call};
use crate::tracer::ptrace::{facts, sys, wanted};
use slowpath_syscalls::{EXECS, EXITS, OPENS};

/// How often it is looked who runs, ns: some µs longer than 4 ms, so that a program which does the same each ms is met at all its moments.
pub(super) const EACH_NS: u64 = 4_012_461;
/// Samples a second, as they are described.
pub(crate) const RATE: u64 = 250;
/// Stopping for samples may take so much at first, ns, and one in so many ns of the elapsed time: a stop takes some 20 µs, so that this is for
/// many threads and slow machines.
const AT_FIRST_NS: u64 = 2_000_000;
const ONE_IN: u64 = 50;
/// Threads that are looked at in a turn.
const LOOKS: usize = 32;
/// A thread whose call was cut short is left alone for so long, ns, and twice as long each time: a call that must begin anew comes to its end. First
/// for a dozen turns; at most so long that it is met again in a long run.
const SPARED_NS: std::ops::RangeInclusive<u64> = 50_000_000..=10_000_000_000;
/// What is mapped is read again after such a part of the time that the process has lived, no sooner and no later than after so many ns:
/// most libraries are loaded at its start.
const AGAIN_PART: u64 = 4;
const AGAIN_NS: std::ops::RangeInclusive<u64> = 20_000_000..=1_000_000_000;

/// Stopping the threads that are traced at random moments.
pub(in crate::tracer::ptrace) struct Sampling {
    /// Bytes of stack that a sample copies; none if nobody asks for samples.
    pub stack_bytes: Option<u32>,
    began: u64,
    taken: u64,
    /// Where the next turn begins among the threads.
    next: usize,
}

impl Sampling {
    pub(in crate::tracer::ptrace) fn new(stack_bytes: Option<u32>) -> Sampling {
        Sampling { stack_bytes, began: now_ns(), taken: 0, next: 0 }
    }

    fn is_over(&self, now: u64) -> bool {
        self.taken > AT_FIRST_NS + now.saturating_sub(self.began) / ONE_IN
    }

    /// A stop for a sample took so much.
    pub(super) fn took(&mut self, ns: u64) {
        self.taken += ns;
    }
}

/// Until when a thread is left alone, and for how long, ns.
#[derive(Debug, Default)]
pub(super) struct Spared {
    until: u64,
    each: u64,
}

impl Spared {
    fn is(&self, now: u64) -> bool {
        now < self.until
    }

    /// It was stopped now, and its call was cut short or not.
    fn stopped(&mut self, cut: bool, now: u64) {
        self.each = if cut { (2 * self.each).clamp(*SPARED_NS.start(), *SPARED_NS.end()) } else { 0 };
        self.until = now + self.each;
    }
}

/// Whether a thread that has stopped is about to make a call: the kernel has set no result.
fn begins_a_call(regs: &libc::user_regs_struct) -> bool {
    regs.orig_rax as i64 >= 0 && regs.rax as i64 == -i64::from(libc::ENOSYS)
}

/// When what is mapped into a process that was born then is to be read again.
fn reads_again(born: u64, read: u64, now: u64) -> bool {
    let after = (now.saturating_sub(born) / AGAIN_PART).clamp(*AGAIN_NS.start(), *AGAIN_NS.end());
    now.saturating_sub(read) >= after
}

impl Watch {
    /// Has the threads stop that run now.
    pub(super) fn look_where(&mut self) {
        let ahead = self.ahead.as_ref().is_some_and(Ahead::is_due);
        let Some(sampling) = self.sampling.as_mut() else { return };
        let threads = self.threads.len();
        let now = now_ns();
        if threads == 0 || sampling.is_over(now) {
            return;
        }
        let first = sampling.next % threads;
        sampling.next = first + LOOKS.min(threads);
        let order = self.threads.keys().copied().cycle().skip(first).take(LOOKS.min(threads));
        for tid in order.collect::<Vec<u32>>() {
            let Some(thread) = self.threads.get_mut(&tid) else { continue };
            // One that has not stopped since it was asked to stands in line for a CPU.
            let due = !thread.to_sample && !thread.exited && !thread.view.fresh && !thread.spared.is(now);
            let wanted = sampling.stack_bytes.is_some() || !thread.view.traced || ahead;
            if due && wanted && facts::runs(thread.pid, tid) {
                let ran = thread.account.as_ref().and_then(facts::ran);
                if sys::interrupt(tid).is_ok() {
                    (thread.to_sample, thread.may_be_cut) = (true, true);
                    thread.delay_ns = ran.map_or(0, |ran| ran.delay_ns);
                }
            }
        }
    }

    /// Whether a thread was to stop for a sample, as it has now.
    pub(super) fn is_to_sample(&mut self, tid: u32) -> bool {
        self.threads.get_mut(&tid).is_some_and(|thread| std::mem::take(&mut thread.to_sample))
    }

    /// A thread has stopped for something else than that we asked it to for a sample: then the kernel has forgotten that we did, unless
    /// we did while it was stopped.
    pub(super) fn stopped_instead(&mut self, tid: u32, event: i32) {
        // What it executed is gone.
        if self.is_to_sample(tid) && event != libc::PTRACE_EVENT_EXEC {
            self.sample(tid);
        }
    }

    /// Whether a call that a thread now leaves may have been cut short for a sample. It is if we asked for that while the thread was stopped
    /// at its beginning.
    pub(super) fn may_be_cut(&mut self, tid: u32) -> bool {
        self.threads.get_mut(&tid).is_some_and(|thread| std::mem::take(&mut thread.may_be_cut))
    }

    /// A stop for a sample has cut a call of a thread short, or has not.
    pub(super) fn spare(&mut self, tid: u32, cut: bool) {
        if let Some(thread) = self.threads.get_mut(&tid) {
            thread.spared.stopped(cut, now_ns());
        }
    }

    /// Asks a stopped thread again to stop for a window, if it has not.
    pub(super) fn asks_again(&mut self, tid: u32) {
        if self.threads.get(&tid).is_some_and(|thread| thread.view.asked && !thread.exited) {
            let _ = sys::interrupt(tid); // if it was killed meanwhile it needs no window
        }
    }

    /// Notes where a thread is that has stopped for it.
    pub(super) fn sample(&mut self, tid: u32) {
        let part = self.meet(tid);
        self.look_ahead(tid);
        let Some(stack_bytes) = self.sampling.as_ref().and_then(|sampling| sampling.stack_bytes) else {
            return;
        };
        let mut stack = vec![0; stack_bytes as usize];
        let Some(thread) = self.threads.get_mut(&tid) else { return };
        let (pid, time) = (thread.pid, now_ns());
        let Some(ran) = thread.account.as_ref().and_then(facts::ran) else { return };
        // Stops took a part of it.
        let own_ns = thread.view.without_stops(ran.cpu_ns);
        let period = own_ns.saturating_sub(thread.sampled_ns);
        thread.sampled_ns = thread.sampled_ns.max(own_ns);
        let Ok(regs) = sys::registers(tid) else { return };
        let read = sys::read(tid, [(regs.rsp, &mut stack)]);
        stack.truncate(read);
        self.tell_maps(pid, regs.rip, time);
        let regs =
            Regs { ip: regs.rip, sp: regs.rsp, bp: regs.rbp, wide: regs.cs != super::cut_short::COMPAT };
        let before_call = (period as f64 * (1.0 - part)) as u64;
        let sample = Sample {
            pid,
            tid,
            time,
            period,
            kernel: Vec::new(),
            chain: Vec::new(),
            regs: Some(regs),
            stack,
            before_call,
        };
        self.say(Event::Sample(Box::new(sample)));
    }

    /// Notes which call a thread returns from that has stopped between two windows. How likely it was at the place where it has stopped when it was asked to.
    fn meet(&mut self, tid: u32) -> f64 {
        let Some(thread) = self.threads.get(&tid) else { return 1.0 };
        if thread.view.traced {
            let begins = sys::registers(tid).is_ok_and(|regs| begins_a_call(&regs));
            return f64::from(u8::from(!begins));
        }
        let Some(ran) = thread.account.as_ref().and_then(facts::ran) else { return 1.0 };
        // One that stood in line for a CPU meanwhile has not run on: it stops where it was.
        let ran_on = ran.delay_ns == thread.delay_ns;
        let call = self.met_call(tid, thread.pid);
        let part = call.as_ref().filter(|_| ran_on).map_or(1.0, |call| self.costs.was_in(call));
        let in_call = call.is_some();
        let Some(thread) = self.threads.get_mut(&tid) else { return part };
        thread.view.meet(call, part, ran.cpu_ns);
        if in_call && ran_on { part * thread.view.kept_of_calls() } else { 1.0 }
    }

    fn met_call(&mut self, tid: u32, pid: u32) -> Option<Finished> {
        let regs = sys::registers(tid).ok()?;
        let number = u32::try_from(regs.orig_rax as i64).ok()?; // else it is in no call
        let result = regs.rax as i64;
        // One that the stop has cut short is not over; and of a program that begins the registers are new.
        let over = !BEGUN_ANEW.contains(&result) && result != -i64::from(libc::EINTR);
        let arguments = [regs.rdi, regs.rsi, regs.rdx, regs.r10, regs.r8, regs.r9];
        let usual =
            regs.cs != super::cut_short::COMPAT && !EXECS.contains(&number) && !EXITS.contains(&number);
        if !over || !usual || !wanted::is_wanted(number, &arguments) {
            return None;
        }
        let place = Place { ip: regs.rip, sp: regs.rsp, number };
        let mut entry = self.entry(tid, &place, arguments);
        if OPENS.contains(&number) && result >= 0 {
            self.opened(tid, &mut entry, result);
        }
        self.copy_stack(tid, pid, &place, entry.site, entry.time, Copies::Met);
        // What a call of brk gave back is known of those that follow another one in a window alone.
        Some(finished_call(tid, pid, entry, 0, 0, result))
    }

    /// Sends what is mapped into a process, if there is news for who unwinds from `ip`.
    pub(super) fn tell_maps(&mut self, pid: u32, ip: u64, time: u64) {
        let samples = self.sampling.as_ref().is_some_and(|sampling| sampling.stack_bytes.is_some());
        let Some(process) = self.processes.get_mut(&pid).filter(|_| self.alone) else { return };
        let known = |process: &Memory| process.code.iter().any(|range| range.contains(&ip));
        let again = reads_again(process.born, process.mapped, time);
        let unknown = !known(process);
        if process.stale || unknown && (again || !process.in_vain) || samples && again {
            let text = std::fs::read_to_string(format!("/proc/{pid}/maps")).unwrap_or_default();
            process.code = crate::session::code_ranges(&text);
            // Code that belongs to no file is never known.
            process.in_vain = unknown && !known(process);
            (process.stale, process.mapped) = (false, time);
            let _ = self.tell.send(Event::Maps { pid, time, text });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;

    #[test]
    fn what_is_mapped_is_read_often_at_first() {
        assert!(!reads_again(0, 0, 19 * MS) && reads_again(0, 0, 20 * MS));
        assert!(!reads_again(0, 300 * MS, 390 * MS) && reads_again(0, 300 * MS, 400 * MS));
        assert!(!reads_again(0, 9_000 * MS, 9_999 * MS) && reads_again(0, 9_000 * MS, 10_000 * MS));
    }

    #[test]
    fn a_thread_whose_calls_are_cut_short_is_left_alone_ever_longer() {
        let mut spared = Spared::default();
        assert!(!spared.is(0));
        spared.stopped(true, 0);
        assert!(spared.is(50 * MS - 1) && !spared.is(50 * MS));
        spared.stopped(true, 50 * MS);
        assert!(spared.is(150 * MS - 1) && !spared.is(150 * MS));
        (0..20).for_each(|_| spared.stopped(true, 0));
        assert!(spared.is(9_999 * MS) && !spared.is(10_000 * MS));
        spared.stopped(false, 0);
        assert!(!spared.is(0));
        spared.stopped(true, 0);
        assert!(!spared.is(50 * MS), "it begins anew");
    }

    #[test]
    fn stops_for_samples_take_a_small_part_of_the_time() {
        let mut sampling = Sampling { stack_bytes: None, began: 0, taken: 0, next: 0 };
        sampling.took(AT_FIRST_NS + MS);
        assert!(sampling.is_over(49 * MS) && !sampling.is_over(50 * MS));
    }
}
