//! Starts the target, held before its exec until the collectors stand, and waits for it.
//!
//! Its stdin, stdout, stderr, terminal and signals are its own; ours are left as they were given to us.

use crate::tracer::ptrace::Filter;
use crate::{Error, signals};
use std::ffi::{CString, OsStr};
use std::io::{self, Read, Write};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;

/// Whom the target runs as, where that is not us.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct User {
    pub name: CString,
    pub uid: u32,
    pub gid: u32,
    pub home: CString,
}

impl User {
    /// Looks a user up by name.
    pub(crate) fn named(name: &str) -> Result<User, Error> {
        let unknown = || Error::NoSuchUser(name.to_owned());
        let c_name = CString::new(name).map_err(|_| unknown())?;
        // SAFETY: getpwnam takes a C string; its answer is read before any further call.
        let entry = unsafe { libc::getpwnam(c_name.as_ptr()).as_ref() }.ok_or_else(unknown)?;
        // SAFETY: pw_dir is a C string as long as the entry lives.
        let home = unsafe { std::ffi::CStr::from_ptr(entry.pw_dir) }.to_owned();
        Ok(User { name: c_name, uid: entry.pw_uid, gid: entry.pw_gid, home })
    }
}

/// A child that waits to be let go.
pub(crate) struct Held {
    pub pid: u32,
    go: std::fs::File,
    failure: std::fs::File,
}

/// How the target ended, and what it used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Ended {
    /// Exit code, or 128 + signal.
    pub exit: i32,
    pub user_ns: u64,
    pub sys_ns: u64,
    pub peak_memory_bytes: u64,
}

pub(crate) fn pipe() -> io::Result<(OwnedFd, OwnedFd)> {
    let mut ends = [0; 2];
    // SAFETY: `ends` has room for both descriptors.
    if unsafe { libc::pipe2(ends.as_mut_ptr(), libc::O_CLOEXEC) } < 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: the kernel just gave both to us alone.
    Ok(unsafe { (OwnedFd::from_raw_fd(ends[0]), OwnedFd::from_raw_fd(ends[1])) })
}

impl Held {
    /// Forks the child, which waits for [`Held::go`]. With a filter it must be traced by then.
    pub(crate) fn fork(
        command: &[impl AsRef<OsStr>],
        user: Option<&User>,
        filter: Option<&Filter>,
    ) -> Result<Held, Error> {
        let arguments: Result<Vec<CString>, _> =
            command.iter().map(|argument| CString::new(argument.as_ref().as_bytes())).collect();
        let arguments = arguments.map_err(|error| Error::System {
            what: "pass an argument with a zero byte in it",
            source: error.into(),
        })?;
        let mut pointers: Vec<*const libc::c_char> =
            arguments.iter().map(|argument| argument.as_ptr()).collect();
        pointers.push(std::ptr::null());
        let (wait, go) = pipe().map_err(Error::system("make a pipe"))?;
        let (failure, fail) = pipe().map_err(Error::system("make a pipe"))?;
        // SAFETY: the child calls only what may be called between fork and exec, on memory prepared before.
        match unsafe { libc::fork() } {
            -1 => Err(Error::system("fork")(io::Error::last_os_error())),
            0 => {
                // SAFETY: as above; `_exit` ends the child without running anything of the parent's.
                unsafe {
                    libc::close(go.as_raw_fd());
                    child(&pointers, user, filter, wait.as_raw_fd(), fail.as_raw_fd());
                    libc::_exit(127)
                }
            }
            pid => Ok(Held { pid: pid as u32, go: go.into(), failure: failure.into() }),
        }
    }

    /// Lets the child exec, and tells whether it did.
    pub(crate) fn go(mut self, program: &str) -> Result<(), Error> {
        self.go.write_all(b"!").map_err(Error::system("start the program"))?;
        drop(self.go);
        let mut code = [0; 4];
        match self.failure.read_exact(&mut code) {
            Err(_) => Ok(()), // the pipe closed at exec
            Ok(()) => {
                let source = io::Error::from_raw_os_error(i32::from_ne_bytes(code));
                let program = program.to_owned();
                Err(if source.kind() == io::ErrorKind::NotFound {
                    Error::NotFound { program, source }
                } else {
                    Error::NotExecutable { program, source }
                })
            }
        }
    }
}

/// Runs in the child.
///
/// # Safety
/// Only between fork and exec, with `arguments` ended by a null pointer.
unsafe fn child(
    arguments: &[*const libc::c_char],
    user: Option<&User>,
    filter: Option<&Filter>,
    wait: i32,
    fail: i32,
) {
    let mut byte = 0u8;
    // SAFETY: system calls on our own descriptors and on memory that outlives them.
    unsafe {
        if libc::read(wait, (&raw mut byte).cast(), 1) != 1 {
            return; // the parent is gone
        }
        let filtered = filter.is_none_or(|filter| filter.install().is_ok());
        let failed = !filtered
            || match user {
                Some(user) => {
                    libc::setenv(c"HOME".as_ptr(), user.home.as_ptr(), 1);
                    libc::setenv(c"USER".as_ptr(), user.name.as_ptr(), 1);
                    libc::setenv(c"LOGNAME".as_ptr(), user.name.as_ptr(), 1);
                    libc::initgroups(user.name.as_ptr(), user.gid) < 0
                        || libc::setgid(user.gid) < 0
                        || libc::setuid(user.uid) < 0
                }
                None => false,
            };
        // Those that we handle go back to their defaults by the exec.
        signals::give_back();
        if !failed {
            libc::execvp(arguments[0], arguments.as_ptr());
        }
        let code = *libc::__errno_location();
        libc::write(fail, (&raw const code).cast(), 4);
    }
}

/// A descriptor that polls as readable once the process has ended.
pub(crate) fn pidfd(pid: u32) -> io::Result<OwnedFd> {
    // SAFETY: a plain system call.
    let fd = unsafe { libc::syscall(libc::SYS_pidfd_open, pid, 0) };
    if fd < 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: the kernel just gave this descriptor to us alone.
    Ok(unsafe { OwnedFd::from_raw_fd(fd as i32) })
}

/// Whether the child has ended, and how.
pub(crate) fn ended(pid: u32) -> io::Result<Option<Ended>> {
    let mut status = 0;
    // SAFETY: rusage is plain numbers.
    let mut usage: libc::rusage = unsafe { std::mem::zeroed() };
    // SAFETY: both out-pointers are valid.
    let found = unsafe { libc::wait4(pid as i32, &mut status, libc::WNOHANG, &mut usage) };
    if found < 0 {
        return Err(io::Error::last_os_error());
    }
    if found == 0 {
        return Ok(None);
    }
    Ok(Some(Ended::new(status, &usage)))
}

impl Ended {
    /// From what waiting for it told.
    pub(crate) fn new(status: i32, usage: &libc::rusage) -> Ended {
        let ns = |time: libc::timeval| time.tv_sec as u64 * 1_000_000_000 + time.tv_usec as u64 * 1000;
        Ended {
            exit: exit_code(status),
            user_ns: ns(usage.ru_utime),
            sys_ns: ns(usage.ru_stime),
            peak_memory_bytes: usage.ru_maxrss as u64 * 1024,
        }
    }
}

/// Waits until the process of a pidfd has ended, a signal comes, or `timeout_ms` have passed.
pub(crate) fn wait_for(pidfd: &OwnedFd, timeout_ms: i32) {
    let mut poll = libc::pollfd { fd: pidfd.as_raw_fd(), events: libc::POLLIN, revents: 0 };
    // SAFETY: one valid pollfd.
    unsafe { libc::poll(&mut poll, 1, timeout_ms) };
}

/// A wait status as one number: the exit code, or 128 + the signal.
pub(crate) fn exit_code(status: i32) -> i32 {
    if libc::WIFSIGNALED(status) { 128 + libc::WTERMSIG(status) } else { libc::WEXITSTATUS(status) }
}
