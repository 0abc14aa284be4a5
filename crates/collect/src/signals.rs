//! Signals to us, and how the target finds them: as they were left to us.
//!
//! While a target runs Ctrl-C reaches it too and it decides; what was sent to us alone is passed on. Signals that would end us
//! for a file that cannot be written are made errors of writing. What a handler is installed for is at its default again
//! after an exec, in every program that we start; what is ignored stays ignored, and is put back where it was not.

use std::io;
use std::sync::atomic::{AtomicBool, AtomicI32, AtomicU32, Ordering};

static INTERRUPTS: AtomicU32 = AtomicU32::new(0);
static TO_PASS_ON: AtomicI32 = AtomicI32::new(0);
/// Was ignored when we were started.
static PIPE_IGNORED: AtomicBool = AtomicBool::new(false);
static CHILD_IGNORED: AtomicBool = AtomicBool::new(false);
static TICK_IGNORED: AtomicBool = AtomicBool::new(false);

/// The runtime of the language has SIGPIPE ignored before `main`: what it was before only an initializer sees.
#[used]
#[unsafe(link_section = ".init_array")]
static AT_START: extern "C" fn() = at_start;

extern "C" fn at_start() {
    PIPE_IGNORED.store(is_ignored(libc::SIGPIPE), Ordering::Relaxed);
    CHILD_IGNORED.store(is_ignored(libc::SIGCHLD), Ordering::Relaxed);
    TICK_IGNORED.store(is_ignored(libc::SIGRTMAX()), Ordering::Relaxed);
}

fn is_ignored(signal: libc::c_int) -> bool {
    // SAFETY: sigaction is plain data; the call only reads the disposition.
    unsafe {
        let mut old: libc::sigaction = std::mem::zeroed();
        libc::sigaction(signal, std::ptr::null(), &mut old) == 0 && old.sa_sigaction == libc::SIG_IGN
    }
}

extern "C" fn nothing(_signal: libc::c_int) {}

/// To be called once, before anything is written or started: a file that may grow no further (`ulimit -f`) is then an error of
/// writing like a full disk, and children that end can be waited for although whoever started us ignores its own.
pub fn prepare() {
    if !is_ignored(libc::SIGXFSZ) {
        // SAFETY: a handler that does nothing.
        unsafe { libc::signal(libc::SIGXFSZ, nothing as *const () as libc::sighandler_t) };
    }
    if CHILD_IGNORED.load(Ordering::Relaxed) {
        // SAFETY: back to the default.
        unsafe { libc::signal(libc::SIGCHLD, libc::SIG_DFL) };
    }
}

/// Ignores SIGPIPE again after [`give_back`], as the runtime of the language does.
pub fn ignore_pipe() {
    // SAFETY: a disposition that needs no code.
    unsafe { libc::signal(libc::SIGPIPE, libc::SIG_IGN) };
}

/// The signal that ends a thread's wait and does nothing else: its handler is installed now.
pub(crate) fn tick() -> libc::c_int {
    // SAFETY: a handler that does nothing; without SA_RESTART, for waits shall end.
    unsafe {
        let mut new: libc::sigaction = std::mem::zeroed();
        new.sa_sigaction = nothing as *const () as usize;
        libc::sigaction(libc::SIGRTMAX(), &new, std::ptr::null_mut());
    }
    libc::SIGRTMAX()
}

/// Gives signals that we ignore, or do not ignore, of our own accord back to the target as they were left to us. May be called
/// between fork and exec.
pub fn give_back() {
    let as_it_was = |ignored: &AtomicBool| match ignored.load(Ordering::Relaxed) {
        true => libc::SIG_IGN,
        false => libc::SIG_DFL,
    };
    // SAFETY: dispositions that need no code.
    unsafe {
        libc::signal(libc::SIGPIPE, as_it_was(&PIPE_IGNORED));
        libc::signal(libc::SIGCHLD, as_it_was(&CHILD_IGNORED));
        libc::signal(libc::SIGRTMAX(), as_it_was(&TICK_IGNORED));
    }
}

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
        if is_ignored(signal) {
            continue;
        }
        // SAFETY: plain structs; the handler only stores to atomics.
        unsafe {
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
