//! Stops a thread for a moment and tells its registers, where no tracer does: by ptrace, without a signal that the program could see.
//!
//! A thread that waits in a system call is left alone: some calls are not begun again after a stop. One that is in a call nevertheless is only made to go on.

use crate::crash;
use crate::tracer::ptrace::goes_on;
use slowpath_emulate::{Flags, Fractions, Registers};
use std::arch::x86_64::__cpuid_count;
use std::io;
use std::time::{Duration, Instant};

/// A thread stops within microseconds of running. One that the kernel keeps is waited for a little: whoever asked it to stop must end then, so that the
/// kernel lets it go.
const SOON: Duration = Duration::from_millis(2);
const LATEST: Duration = Duration::from_millis(60);
/// The code segment of 64-bit code, and where in the saved area the control word of vectors is; what it must be: rounding to nearest, nothing flushed.
const CODE: u64 = 0x33;
const CONTROL: usize = 24;
const USUAL: u32 = 0x1f80;
const EXCEPTIONS: u32 = 0x3f;
/// The registers of vectors, as the processor saves them: NT_X86_XSTATE.
const XSTATE: usize = 0x202;
/// Bytes of that, with the largest vectors there are.
const AREA: usize = 16_384;
/// Where in it the fractions of 80 bits are (behind their control and status words), the vectors of 16 bytes, and the header, whose bits say which parts are there.
const FRACTIONS: usize = 32;
const VECTORS: usize = 160;
const HEADER: usize = 512;

/// A thread that stands until this is dropped. Where that fails, as of a thread that was killed meanwhile, the kernel lets it go when the thread ends that has stopped it: so
/// that one must end soon.
pub(super) struct Stopped {
    tid: u32,
    /// A signal that it stopped for, which it is to get.
    signal: i32,
}

fn request(what: libc::c_uint, tid: u32, address: usize, data: usize) -> io::Result<()> {
    // SAFETY: a request on a thread that we traced; where it writes, `data` leads to memory of ours that is large enough.
    match unsafe { libc::ptrace(what, tid as i32, address, data) } {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}

impl Stopped {
    /// Stops a thread; none if it is traced already, or gone.
    pub(super) fn new(tid: u32) -> Option<Stopped> {
        request(libc::PTRACE_SEIZE, tid, 0, 0).ok()?;
        let asked = request(libc::PTRACE_INTERRUPT, tid, 0, 0);
        let began = Instant::now();
        // Whoever waits for the program must not miss its end: so we do not wait for its stop but look whether it has stopped.
        crash::looks(tid);
        while asked.is_ok() && began.elapsed() < LATEST {
            // SAFETY: a struct of plain numbers.
            let mut info: libc::siginfo_t = unsafe { std::mem::zeroed() };
            if request(libc::PTRACE_GETSIGINFO, tid, 0, (&raw mut info) as usize).is_ok() {
                let by_us = info.si_code >> 8 == libc::PTRACE_EVENT_STOP;
                // A call that this has cut short goes on.
                goes_on(tid);
                return Some(Stopped { tid, signal: if by_us { 0 } else { info.si_signo } });
            }
            if is_gone(tid) {
                break;
            }
            if began.elapsed() > SOON {
                std::thread::sleep(SOON);
            }
        }
        let _ = request(libc::PTRACE_DETACH, tid, 0, 0);
        crash::looks(0);
        None
    }

    pub(super) fn registers(&self) -> io::Result<Registers> {
        registers(self.tid)
    }
}

impl Drop for Stopped {
    fn drop(&mut self) {
        let _ = request(libc::PTRACE_DETACH, self.tid, 0, self.signal as usize);
        crash::looks(0);
    }
}

/// Whether a thread has ended.
fn is_gone(tid: u32) -> bool {
    state(&std::fs::read_to_string(format!("/proc/{tid}/stat")).unwrap_or_default())
        .is_none_or(|state| "ZX".contains(state))
}

/// The state of a thread, as `/proc` says it.
pub(super) fn state(stat: &str) -> Option<char> {
    stat.rsplit_once(')')?.1.trim_start().chars().next()
}

/// The registers of a thread that is stopped by ptrace, by the thread that traces it.
pub(crate) fn registers(tid: u32) -> io::Result<Registers> {
    // SAFETY: a struct of plain numbers.
    let mut user: libc::user_regs_struct = unsafe { std::mem::zeroed() };
    request(libc::PTRACE_GETREGS, tid, 0, (&raw mut user) as usize)?;
    let other = |what: &str| Err(io::Error::other(what.to_owned()));
    if user.cs != CODE || user.orig_rax as i64 >= 0 {
        return other("it runs 32-bit code, or is in a system call");
    }
    let mut area = vec![0u8; AREA];
    let mut into = libc::iovec { iov_base: area.as_mut_ptr().cast(), iov_len: area.len() };
    request(libc::PTRACE_GETREGSET, tid, XSTATE, (&raw mut into) as usize)?;
    // The upper halves of vectors of 32 bytes: part 2.
    let upper = __cpuid_count(0xd, 2).ebx as usize;
    let at = |at: usize| {
        area.get(at..).and_then(|from| from.first_chunk()).map_or(0, |bytes| u128::from_le_bytes(*bytes))
    };
    let control =
        area.get(CONTROL..).and_then(|from| from.first_chunk()).map_or(0, |word| u32::from_le_bytes(*word));
    if control & !EXCEPTIONS != USUAL {
        return other("it calculates with other rules");
    }
    let is_there = |part: u8| area[HEADER] >> part & 1 == 1;
    let vector = |number: usize| {
        let low = if is_there(1) { at(VECTORS + 16 * number) } else { 0 };
        [low, if upper > 0 && is_there(2) { at(upper + 16 * number) } else { 0 }]
    };
    let word = |at: usize| u16::from_le_bytes([area[at], area[at + 1]]);
    let fraction = |number: usize| -> [u8; 10] {
        let from = FRACTIONS + 16 * number;
        area.get(from..).and_then(|from| from.first_chunk()).copied().unwrap_or_default()
    };
    let fractions = if is_there(0) {
        let (control, top) = (word(0), (word(2) >> 11 & 7) as u8);
        Fractions { stack: std::array::from_fn(fraction), top, control }
    } else {
        Fractions::default()
    };
    Ok(Registers {
        general: [
            user.rax, user.rcx, user.rdx, user.rbx, user.rsp, user.rbp, user.rsi, user.rdi, user.r8, user.r9,
            user.r10, user.r11, user.r12, user.r13, user.r14, user.r15,
        ],
        ip: user.rip,
        flags: Flags::of(user.eflags),
        fs: user.fs_base,
        gs: user.gs_base,
        vectors: std::array::from_fn(vector),
        fractions,
    })
}
