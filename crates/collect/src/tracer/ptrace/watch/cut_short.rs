//! Calls that a stop of ours, or a signal that means nothing to the program, has cut short: they go on, so that the program sees no difference.
//!
//! - One that failed with EINTR before it did anything is made again, with its whole timeout: that is too long by the time until the stop.
//! - One that has moved a part of its bytes is made for the rest, and then returns the sum.
//!
//! Calls that move bytes from or to several places (writev, sendmsg, splice, sendfile) are not gone on with: they return what they moved.

use super::{ANEW_BY_RESTART, BEGUN_ANEW, Watch};
use crate::tracer::ptrace::{facts, sys, wanted};
use slowpath_syscalls::{GETRANDOM, PWRITE64, RECVFROM, SENDTO, WRITE};

/// What is left of a call that has moved a part of its bytes.
pub(super) struct Rest {
    /// Bytes that it has moved.
    done: u64,
    /// The registers before the call was made for the rest.
    regs: libc::user_regs_struct,
}

/// The length of the instruction `syscall`.
const SYSCALL: u64 = 2;
/// As the number of the call in which a thread is: in none. Where it is about to make one again it must not be taken for one that has returned from
/// it, by a further stop before it goes on.
const IN_NO_CALL: u64 = u64::MAX;
/// The code segment of the 32-bit interface, whose calls have other numbers.
pub(super) const COMPAT: u64 = 0x23;

impl Watch {
    /// Sees to it that the call in which a thread was stopped goes on, and is known when it does. Returns whether it was cut short.
    pub(super) fn as_it_was(&mut self, tid: u32) -> bool {
        let Ok(regs) = sys::registers(tid) else { return false };
        let Ok(number) = u32::try_from(regs.orig_rax as i64) else { return false }; // in no call
        let Some(thread) = self.threads.get_mut(&tid).filter(|_| regs.cs != COMPAT) else { return false };
        match regs.rax as i64 {
            ANEW_BY_RESTART => thread.restarts = Some(number),
            result if result == -i64::from(libc::EINTR) => make_again(tid, number, regs),
            result if result > 0 && !facts::has_a_signal(tid) => {
                let Some(rest) = for_the_rest(number, &regs) else { return false };
                if sys::set_registers(tid, &rest).is_ok() {
                    thread.rest = Some(Rest { done: result as u64, regs });
                }
            }
            result => return BEGUN_ANEW.contains(&result),
        }
        true
    }

    /// A signal is about to be taken that the program ignores: untraced it would not have been woken.
    pub(super) fn ignores(&mut self, tid: u32, signal: i32) {
        if let Some((number, regs)) = woken(tid)
            && facts::ignores(tid, signal)
        {
            make_again(tid, number, regs);
        }
    }

    /// A thread has stopped for a signal of which the program does not hear.
    pub(super) fn keeps_back(&mut self, tid: u32) {
        if let Some((number, regs)) = woken(tid) {
            make_again(tid, number, regs);
        }
    }

    /// A call has returned. If it was made for the rest of another one it returns for both.
    pub(super) fn returned_the_rest(&mut self, tid: u32, result: i64) {
        let Some(thread) = self.threads.get_mut(&tid) else { return };
        let (Some(rest), Ok(now)) = (thread.rest.take(), sys::registers(tid)) else { return };
        if now.rip != rest.regs.rip {
            thread.rest = Some(rest); // a signal's handler came first, and this is a call of its
            return;
        }
        // The kernel would restart it, or it failed: what was moved before was moved.
        let more = if BEGUN_ANEW.contains(&result) { 0 } else { result.max(0) as u64 };
        let regs = libc::user_regs_struct { rax: rest.done + more, ..rest.regs };
        let _ = sys::set_registers(tid, &regs);
    }
}

/// The call that a signal has woken a thread in, if it is over for that.
fn woken(tid: u32) -> Option<(u32, libc::user_regs_struct)> {
    let regs = sys::registers(tid).ok()?;
    let number = u32::try_from(regs.orig_rax as i64).ok()?;
    (regs.rax as i64 == -i64::from(libc::EINTR) && regs.cs != COMPAT).then_some((number, regs))
}

/// Has a thread go on with the call that a stop has cut short, if it can be made again.
pub(crate) fn goes_on(tid: u32) {
    if let Some((number, regs)) = woken(tid) {
        make_again(tid, number, regs);
    }
}

fn make_again(tid: u32, number: u32, mut regs: libc::user_regs_struct) {
    if wanted::can_be_made_again(number) && !facts::has_a_signal(tid) {
        (regs.rax, regs.orig_rax) = (regs.orig_rax, IN_NO_CALL);
        regs.rip -= SYSCALL;
        let _ = sys::set_registers(tid, &regs);
    }
}

/// The registers with which a call that has returned is made for the bytes that are left; none if there are none, or it is no such call.
fn for_the_rest(number: u32, regs: &libc::user_regs_struct) -> Option<libc::user_regs_struct> {
    let done = regs.rax;
    let mut rest =
        libc::user_regs_struct { rax: regs.orig_rax, orig_rax: IN_NO_CALL, rip: regs.rip - SYSCALL, ..*regs };
    let size = match number {
        WRITE | PWRITE64 | SENDTO => regs.rdx,
        // Where it waits for all.
        RECVFROM if regs.r10 & libc::MSG_WAITALL as u64 != 0 => regs.rdx,
        GETRANDOM => regs.rsi,
        _ => return None,
    };
    if done >= size {
        return None;
    }
    match number {
        GETRANDOM => {
            rest.rdi += done;
            rest.rsi -= done;
        }
        _ => {
            rest.rsi += done;
            rest.rdx -= done;
            rest.r10 += if number == PWRITE64 { done } else { 0 };
        }
    }
    Some(rest)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_left_of_a_call_is_asked_for() {
        // SAFETY: all-zero registers are valid ones.
        let zero: libc::user_regs_struct = unsafe { std::mem::zeroed() };
        let regs = |number: u64, size: u64| libc::user_regs_struct {
            orig_rax: number,
            rax: 300,
            rip: 0x1002,
            rdi: 5,
            rsi: 0x7000,
            rdx: size,
            r10: 0x100,
            ..zero
        };
        let rest = for_the_rest(1, &regs(1, 1000)).expect("700 bytes are left");
        assert_eq!(
            (rest.rax, rest.orig_rax, rest.rip, rest.rdi, rest.rsi, rest.rdx, rest.r10),
            (1, IN_NO_CALL, 0x1000, 5, 0x712c, 700, 0x100)
        );
        let rest = for_the_rest(18, &regs(18, 1000)).expect("700 bytes are left");
        assert_eq!((rest.rsi, rest.rdx, rest.r10), (0x712c, 700, 0x22c));
        let random = libc::user_regs_struct { rdi: 0x7000, rsi: 512, ..regs(318, 0) };
        let rest = for_the_rest(318, &random).expect("212 bytes are left");
        assert_eq!((rest.rdi, rest.rsi), (0x712c, 212));
        assert!(for_the_rest(45, &regs(45, 1000)).is_some(), "it waits for all");
        let some = libc::user_regs_struct { r10: 0, ..regs(45, 1000) };
        // All was moved; it takes what there is; a read does.
        assert!(for_the_rest(1, &regs(1, 300)).is_none());
        assert!(for_the_rest(45, &some).is_none() && for_the_rest(0, &regs(0, 1000)).is_none());
    }
}
