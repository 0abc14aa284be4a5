//! Stacks of the places that calls are made from, copied as the BPF program copies them.

use super::Watch;
use crate::bpf::event::Event;
use crate::sampler::record::Regs;
use crate::tracer::event::StackCopy;
use crate::tracer::ptrace::call::Place;
use crate::tracer::ptrace::sys;

/// Buffers of 64 KiB are usual on stacks, and a copy costs less than the stop.
const STACK_BYTES: usize = 80 << 10;
/// The stack of one place is copied again every so many calls, and at most so many stacks in a slice; as in `bpf/stacks.h` and `bpf/thread.h`.
const COPY_AGAIN: u32 = 1024;
const SLICE_NS: u64 = 10_390_000;
const SLICE_STACKS: u32 = 40;
/// A child's own stacks are not worth their copies until it has lived so long, but for those of calls that sleep.
const YOUNG_NS: u64 = 20_000_000;

/// When the stack of a place is copied.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Copies {
    /// Once in a while.
    Rationed,
    /// Each time.
    Always,
    /// Once in a while, in the shortest-lived process too: a thread is met less often than it calls, and sleeps less often.
    Met,
}

impl Watch {
    /// Sends the stack of a place that has not been reported lately, and before it what is mapped, if it is needed.
    pub(super) fn copy_stack(
        &mut self,
        tid: u32,
        pid: u32,
        place: &Place,
        site: u64,
        time: u64,
        copies: Copies,
    ) {
        let Some(process) = self.processes.get_mut(&pid) else { return };
        let young = pid != self.root && time.saturating_sub(process.born) < YOUNG_NS;
        if young && copies != Copies::Met {
            return;
        }
        if copies != Copies::Always {
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
        self.tell_maps(pid, place.ip, time);
        let Ok(regs) = sys::registers(tid) else { return };
        let mut bytes = vec![0; STACK_BYTES];
        let read = sys::read(tid, [(regs.rsp, &mut bytes)]);
        bytes.truncate(read);
        let regs = Regs { ip: regs.rip, sp: regs.rsp, bp: regs.rbp, wide: true };
        self.say(Event::Stack(StackCopy { pid, time, site, regs, bytes, far: None }));
    }
}
