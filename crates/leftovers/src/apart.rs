//! Starts a process of ours that outlives slowpath: out of the way of signals, and with few descriptors.

use crate::raw;
use std::ffi::CStr;
use std::io;
use std::os::fd::RawFd;

/// Forks a process that is called `name` where processes are listed, does `run` and ends. Its descriptors are those given, as 0 and 1. A signal
/// to our process group, a Ctrl-C or the end of the terminal, is not for it. Returns its number.
///
/// # Safety
/// `run` may only make the calls of [`raw`], on memory that was prepared before: other threads may hold any lock.
pub(crate) unsafe fn start(
    name: &CStr,
    descriptors: [RawFd; 2],
    run: impl FnOnce(),
) -> io::Result<libc::pid_t> {
    // SAFETY: sets of signals are plain numbers. The child is forked with all signals blocked, and keeps them so: no handler of ours
    // runs in it. The descriptors are above 1: the language's runtime has 0 to 2 open.
    unsafe {
        let (mut all, mut before): (libc::sigset_t, libc::sigset_t) =
            (std::mem::zeroed(), std::mem::zeroed());
        libc::sigfillset(&mut all);
        libc::pthread_sigmask(libc::SIG_BLOCK, &all, &mut before);
        let pid = libc::fork();
        if pid == 0 {
            libc::setsid();
            libc::prctl(libc::PR_SET_NAME, name.as_ptr());
            libc::chdir(c"/".as_ptr());
            libc::dup2(descriptors[0], 0);
            libc::dup2(descriptors[1], 1);
            raw::close_from(2);
            run();
            libc::_exit(0);
        }
        let failed = io::Error::last_os_error();
        libc::pthread_sigmask(libc::SIG_SETMASK, &before, std::ptr::null_mut());
        if pid < 0 { Err(failed) } else { Ok(pid) }
    }
}

/// Waits until a process of [`start`] has ended.
pub(crate) fn wait(pid: libc::pid_t) {
    // SAFETY: our own child, which nobody else waits for.
    while unsafe { libc::waitpid(pid, std::ptr::null_mut(), 0) } < 0 && raw::errno() == libc::EINTR {}
}
