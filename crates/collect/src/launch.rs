//! Starts the target, held before its exec until the collectors stand, and waits for it.
//!
//! Its stdin, stdout, stderr, terminal, signals and limits are its own; ours are left as they were given to us.

use crate::{Error, crash, resources, signals};
use std::ffi::{CString, OsStr};
use std::io::{self, Read, Write};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::net::UnixStream;
use std::time::Duration;

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

/// A command, ready to be executed.
pub(crate) struct Command {
    /// As it was given, to be named in errors.
    program: String,
    arguments: Vec<CString>,
    user: Option<User>,
}

impl Command {
    /// Takes the words of a command, which shall run as `user` if one is named.
    pub(crate) fn new(words: &[impl AsRef<OsStr>], user: Option<&str>) -> Result<Command, Error> {
        let program = words.first().map(|word| word.as_ref().to_string_lossy().into_owned());
        let arguments: Result<Vec<CString>, _> =
            words.iter().map(|word| CString::new(word.as_ref().as_bytes())).collect();
        let arguments = arguments.map_err(|error| Error::System {
            what: "pass an argument with a zero byte in it",
            source: error.into(),
        })?;
        let user = user.map(User::named).transpose()?;
        Ok(Command { program: program.unwrap_or_default(), arguments, user })
    }
}

/// How often and how long it is waited for a process or thread of ours to be gone where no more may be made.
const FORK_TRIES: u32 = 50;
const FORK_PAUSE: Duration = Duration::from_millis(2);

/// Forks; both sides return. The number is that of the child, 0 in the child.
///
/// # Safety
/// The child may call only what may be called between fork and exec.
pub(crate) unsafe fn fork() -> io::Result<u32> {
    let mut tries = 0;
    loop {
        // SAFETY: as the caller promises.
        let pid = unsafe { libc::fork() };
        if pid >= 0 {
            return Ok(pid as u32);
        }
        let error = io::Error::last_os_error();
        tries += 1;
        // A thread that has ended counts for a moment longer.
        if error.raw_os_error() != Some(libc::EAGAIN) || tries == FORK_TRIES {
            return Err(error);
        }
        std::thread::sleep(FORK_PAUSE);
    }
}

/// A child that waits to be let go. It ends if this is dropped before.
pub(crate) struct Held<'c> {
    pub pid: u32,
    command: &'c Command,
    /// None where there is no descriptor left for it: then the child does not wait.
    line: Option<UnixStream>,
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

impl<'c> Held<'c> {
    /// Forks the child, which waits for [`Held::go`] if there is a descriptor for that.
    pub(crate) fn fork(command: &'c Command) -> Result<Held<'c>, Error> {
        let short =
            |error: io::Error| Error::Short { what: "start the program", why: resources::why(&error) };
        let mut pointers: Vec<*const libc::c_char> =
            command.arguments.iter().map(|argument| argument.as_ptr()).collect();
        pointers.push(std::ptr::null());
        let (line, childs) = UnixStream::pair().ok().unzip();
        // SAFETY: the child calls only what may be called between fork and exec, on memory prepared before.
        match unsafe { fork() }.map_err(short)? {
            0 => {
                // SAFETY: as above; `_exit` ends the child without running anything of the parent's.
                unsafe {
                    let number = |end: &Option<UnixStream>| end.as_ref().map_or(-1, |end| end.as_raw_fd());
                    libc::close(number(&line));
                    let exit = child(&pointers, command.user.as_ref(), number(&childs));
                    libc::_exit(exit)
                }
            }
            pid => Ok(Held { pid, command, line }),
        }
    }

    /// Lets the child exec, and returns whether it did. `traced`: by ptrace.
    pub(crate) fn go(mut self, traced: bool) -> Result<(), Error> {
        crash::runs(self.pid, traced, self.line.as_ref().map_or(-1, |line| line.as_raw_fd()));
        let done = self.let_go();
        crash::let_go();
        done
    }

    fn let_go(&mut self) -> Result<(), Error> {
        let Some(line) = &mut self.line else { return Ok(()) };
        match line.write_all(b"!") {
            // It was killed before it began. How it ended is told like any other end.
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => return Ok(()),
            done => done.map_err(Error::system("start the program"))?,
        }
        let mut code = [0; 4];
        match line.read_exact(&mut code) {
            Err(_) => Ok(()), // closed by the exec
            Ok(()) => {
                let source = io::Error::from_raw_os_error(i32::from_ne_bytes(code));
                let program = self.command.program.clone();
                Err(if source.kind() == io::ErrorKind::NotFound {
                    Error::NotFound { program, source }
                } else {
                    Error::NotExecutable { program, source }
                })
            }
        }
    }
}

/// Runs in the child, and returns only where it cannot exec: its exit code. It waits for a word on `line`, unless that is negative.
///
/// # Safety
/// Only between fork and exec, with `arguments` ended by a null pointer.
unsafe fn child(arguments: &[*const libc::c_char], user: Option<&User>, line: i32) -> i32 {
    let mut byte = 0u8;
    // SAFETY: system calls on our own descriptors and on memory that outlives them.
    unsafe {
        if line >= 0 && libc::read(line, (&raw mut byte).cast(), 1) != 1 {
            return 125; // the parent is gone
        }
        let failed = match user {
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
        if !failed {
            // Last: our descriptors may be more than the target may have. Signals that we handle go back to their defaults by the
            // exec.
            resources::give_back();
            signals::give_back();
            libc::execvp(arguments[0], arguments.as_ptr());
        }
        let code = *libc::__errno_location();
        if line >= 0 {
            libc::write(line, (&raw const code).cast(), 4);
        }
        if code == libc::ENOENT { 127 } else { 126 }
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
    // We may have stopped it ourselves for a moment (`ahead`).
    if found == 0 || libc::WIFSTOPPED(status) {
        return Ok(None);
    }
    Ok(Some(Ended::new(status, &usage)))
}

impl Ended {
    /// From what waiting for it returned.
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

/// Waits until the process of a pidfd has ended, a signal comes, or `timeout_ms` have passed; without a pidfd for the latter two.
pub(crate) fn wait_for(pidfd: Option<&OwnedFd>, timeout_ms: i32) {
    // A negative number is passed over.
    let fd = pidfd.map_or(-1, |pidfd| pidfd.as_raw_fd());
    let mut poll = libc::pollfd { fd, events: libc::POLLIN, revents: 0 };
    // SAFETY: one valid pollfd.
    unsafe { libc::poll(&mut poll, 1, timeout_ms) };
}

/// A wait status as one number: the exit code, or 128 + the signal.
pub(crate) fn exit_code(status: i32) -> i32 {
    if libc::WIFSIGNALED(status) { 128 + libc::WTERMSIG(status) } else { libc::WEXITSTATUS(status) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_that_is_killed_before_it_begins_was_started() {
        let command = Command::new(&["true"], None).expect("a command");
        let held = Held::fork(&command).expect("a child");
        let pid = held.pid as i32;
        let mut status = 0;
        // SAFETY: our own child, which nobody else waits for.
        let ended =
            unsafe { libc::kill(pid, libc::SIGKILL) == 0 && libc::waitpid(pid, &raw mut status, 0) == pid };
        assert!(ended && libc::WIFSIGNALED(status));
        held.go(false).expect("no error");
    }
}
