//! The last resort: if we crash, out of memory or because of a bug, the program goes on to its end, and we end as it does.
//!
//! The language ends a process that cannot allocate, and nothing can be caught of that but the signal.

use crate::{launch, signals};
use std::os::fd::RawFd;
use std::sync::atomic::{AtomicBool, AtomicI32, Ordering};

/// Who looks at a thread that stands for it, and at which; 0 for none.
static LOOKER: AtomicI32 = AtomicI32::new(0);
static LOOKED_AT: AtomicI32 = AtomicI32::new(0);
/// The program that runs, and how it ended: negative if it has not.
static PID: AtomicI32 = AtomicI32::new(0);
static EXIT: AtomicI32 = AtomicI32::new(-1);
/// What it waits on; negative if it does not.
static LINE: AtomicI32 = AtomicI32::new(-1);
/// The thread that traces it by ptrace; 0 for none.
static TRACER: AtomicI32 = AtomicI32::new(0);

/// The thread whose stop the tracer is handling; 0 for none.
static STOPPED: AtomicI32 = AtomicI32::new(0);
/// The tracer waits for a stop, or has one that it has not yet said to handle. It holds nothing meanwhile.
static WAITS: AtomicBool = AtomicBool::new(false);
/// Another thread than the tracer has crashed. It may hold what the tracer would wait for, so the tracer is to see out the program.
static ELSEWHERE: AtomicBool = AtomicBool::new(false);

/// What a crash comes as.
const CRASHES: [libc::c_int; 5] = [libc::SIGABRT, libc::SIGSEGV, libc::SIGBUS, libc::SIGILL, libc::SIGFPE];
/// So often it is looked for the end of a program that somebody of us has waited for, each 10 ms.
const LOOKS: u32 = 100;

/// From now on a crash waits for this program, which is our child. As long as it waits itself, for a word on `line`, a crash ends
/// it.
pub(crate) fn runs(pid: u32, traced: bool, line: RawFd) {
    EXIT.store(-1, Ordering::SeqCst);
    LINE.store(line, Ordering::SeqCst);
    if !traced {
        TRACER.store(0, Ordering::SeqCst); // of a former run
    }
    PID.store(pid as i32, Ordering::SeqCst);
    for signal in CRASHES {
        // SAFETY: a plain struct; what the handler does may be done in one. Its stack is the one that the language made for that.
        unsafe {
            let mut action: libc::sigaction = std::mem::zeroed();
            action.sa_sigaction = crashed as *const () as usize;
            action.sa_flags = libc::SA_SIGINFO | libc::SA_ONSTACK | libc::SA_RESTART;
            libc::sigaction(signal, &action, std::ptr::null_mut());
        }
    }
}

/// It has been let go.
pub(crate) fn let_go() {
    LINE.store(-1, Ordering::SeqCst);
}

/// The calling thread traces the program: nobody else may wait for it.
pub(crate) fn tracing() {
    // SAFETY: takes nothing, always succeeds.
    TRACER.store(unsafe { libc::gettid() }, Ordering::SeqCst);
}

/// The calling thread, which traces, will wait for a stop.
pub(crate) fn waits() {
    WAITS.store(true, Ordering::SeqCst);
}

/// The calling thread, which traces, waits no longer and handles a stop of this thread; 0: it has let it go on, or there was none.
pub(crate) fn handles(tid: u32) {
    STOPPED.store(tid as i32, Ordering::SeqCst);
    WAITS.store(false, Ordering::SeqCst);
    if ELSEWHERE.load(Ordering::SeqCst) {
        // SAFETY: this thread traces.
        unsafe { see_out(PID.load(Ordering::SeqCst)) }
    }
}

/// The calling thread holds this thread for a look at it; 0: no longer.
pub(crate) fn looks(tid: u32) {
    // SAFETY: a plain system call.
    LOOKER.store(unsafe { libc::gettid() }, Ordering::SeqCst);
    LOOKED_AT.store(tid as i32, Ordering::SeqCst);
}

/// The program has ended, with this code or 128 + the signal.
pub(crate) fn ended(exit: i32) {
    EXIT.store(exit, Ordering::SeqCst);
}

extern "C" fn crashed(signal: libc::c_int, info: *mut libc::siginfo_t, _context: *mut libc::c_void) {
    const TOLD: &[u8] =
        b"slowpath: crashed, out of memory (ulimit -v) or because of a bug: the recording is incomplete\n";
    const PAUSE: libc::timespec = libc::timespec { tv_sec: 0, tv_nsec: 10_000_000 };
    let (pid, tracer) = (PID.load(Ordering::SeqCst), TRACER.load(Ordering::SeqCst));
    let mut looks = 0;
    // SAFETY: system calls that may be made in a handler, on memory of its own.
    unsafe {
        // Who sends it to us means us.
        if (*info).si_code <= 0 && (*info).si_pid() != libc::getpid() {
            libc::signal(signal, libc::SIG_DFL);
            libc::raise(signal);
            return;
        }
        let looked_at = LOOKED_AT.load(Ordering::SeqCst);
        if looked_at != 0 && LOOKER.load(Ordering::SeqCst) == libc::gettid() {
            libc::ptrace(libc::PTRACE_DETACH, looked_at, 0usize, 0usize);
        }
        if tracer == libc::gettid() && ELSEWHERE.load(Ordering::SeqCst) {
            if WAITS.load(Ordering::SeqCst) {
                return; // to take the stop, if there is one: nobody else could let that thread go on
            }
            see_out(pid);
        }
        libc::close(LINE.swap(-1, Ordering::SeqCst));
        libc::write(2, TOLD.as_ptr().cast(), TOLD.len());
        if tracer == libc::gettid() {
            see_out(pid);
        } else if tracer != 0 {
            ELSEWHERE.store(true, Ordering::SeqCst);
            libc::syscall(libc::SYS_tgkill, libc::getpid(), tracer, libc::SIGABRT);
        }
        loop {
            let exit = EXIT.load(Ordering::SeqCst);
            if exit >= 0 {
                libc::_exit(exit);
            }
            let mut status = 0;
            // From a tracer waiting would take away what it must receive.
            match if tracer == 0 { libc::waitpid(pid, &mut status, libc::WNOHANG) } else { 0 } {
                0 => {}
                tid if tid > 0 && libc::WIFSTOPPED(status) => {}
                -1 => {
                    looks += 1;
                    if looks == LOOKS {
                        libc::_exit(libc::EXIT_FAILURE);
                    }
                }
                _ => libc::_exit(launch::exit_code(status)),
            }
            if let Some(signal) = signals::to_pass_on() {
                libc::kill(pid, signal);
            }
            libc::nanosleep(&PAUSE, std::ptr::null_mut());
        }
    }
}

/// Has what the calling thread traces go on undisturbed, until the program has ended.
///
/// # Safety
/// Does only what may be done in a handler.
unsafe fn see_out(pid: libc::pid_t) -> ! {
    let stopped = STOPPED.load(Ordering::SeqCst);
    if stopped != 0 {
        // SAFETY: a system call on numbers; it fails if that thread runs already.
        unsafe { libc::ptrace(libc::PTRACE_CONT, stopped, 0usize, 0usize) };
    }
    loop {
        let mut status = 0;
        let exit = EXIT.load(Ordering::SeqCst);
        // SAFETY: system calls on numbers, and an out-pointer that is valid.
        unsafe {
            // What it left behind goes on untraced.
            if exit >= 0 {
                libc::_exit(exit);
            }
            let tid = libc::waitpid(-1, &mut status, libc::__WALL | libc::__WNOTHREAD);
            if tid < 0 && *libc::__errno_location() != libc::EINTR {
                libc::_exit(libc::EXIT_FAILURE);
            }
            if tid > 0 && libc::WIFSTOPPED(status) {
                let signal = libc::WSTOPSIG(status);
                let by_user = matches!(signal, libc::SIGSTOP | libc::SIGTSTP | libc::SIGTTIN | libc::SIGTTOU);
                let (how, signal) = match status >> 16 {
                    libc::PTRACE_EVENT_STOP if by_user => (libc::PTRACE_LISTEN, 0),
                    0 if signal != libc::SIGTRAP | 0x80 => (libc::PTRACE_CONT, signal),
                    _ => (libc::PTRACE_CONT, 0),
                };
                libc::ptrace(how, tid, 0usize, signal as usize);
            } else if tid == pid {
                libc::_exit(launch::exit_code(status));
            }
            if let Some(signal) = signals::to_pass_on() {
                libc::kill(pid, signal);
            }
        }
    }
}
