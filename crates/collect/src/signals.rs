//! Signals to us while a target runs: Ctrl-C reaches the target too and the target decides; what was sent to us alone is
//! passed on.

use std::io;
use std::sync::atomic::{AtomicI32, AtomicU32, Ordering};

static INTERRUPTS: AtomicU32 = AtomicU32::new(0);
static TO_PASS_ON: AtomicI32 = AtomicI32::new(0);

extern "C" fn handle(signal: libc::c_int, info: *mut libc::siginfo_t, _context: *mut libc::c_void) {
    // SAFETY: the kernel passes a valid siginfo to a handler installed with SA_SIGINFO.
    let by_terminal = unsafe { (*info).si_code } > 0;
    if signal == libc::SIGINT {
        INTERRUPTS.fetch_add(1, Ordering::Relaxed);
    }
    if !by_terminal {
        TO_PASS_ON.store(signal, Ordering::Relaxed);
    }
}

/// Installs the handlers, but for signals that were ignored when we were started (as under nohup).
pub(crate) fn install() -> io::Result<()> {
    for signal in [libc::SIGINT, libc::SIGTERM, libc::SIGHUP, libc::SIGQUIT] {
        // SAFETY: plain structs; the handler only stores to atomics.
        unsafe {
            let mut old: libc::sigaction = std::mem::zeroed();
            if libc::sigaction(signal, std::ptr::null(), &mut old) < 0 {
                return Err(io::Error::last_os_error());
            }
            if old.sa_sigaction == libc::SIG_IGN {
                continue;
            }
            let mut new: libc::sigaction = std::mem::zeroed();
            new.sa_sigaction = handle as *const () as usize;
            new.sa_flags = libc::SA_SIGINFO | libc::SA_RESTART;
            if libc::sigaction(signal, &new, std::ptr::null_mut()) < 0 {
                return Err(io::Error::last_os_error());
            }
        }
    }
    Ok(())
}

/// How often we were interrupted so far.
pub(crate) fn interrupts() -> u32 {
    INTERRUPTS.load(Ordering::Relaxed)
}

/// A signal that was sent to us alone since the last call.
pub(crate) fn to_pass_on() -> Option<i32> {
    Some(TO_PASS_ON.swap(0, Ordering::Relaxed)).filter(|signal| *signal != 0)
}
