//! What commands are run in, so that all of it can be ended: each is a process group of its own, in a control group of its
//! own where there are some, and a guard ends them if slowpath is killed.

use crate::Error;
use crate::cgroup::{Group, Groups};
use crate::run::{LOOK, Stop};
use slowpath_leftovers::{Guard, Wards, sweep};
use std::io::{self, Read};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{Child, ChildStderr, Command, ExitStatus, Output};
use std::time::{Duration, Instant};

/// See the file's head. One command runs in it at a time.
#[derive(Debug)]
pub struct Enclosure {
    groups: Option<Groups>,
    guard: Guard,
}

/// How long a command of slowpath's own may go on after it was interrupted. A recording that is cut short is written in less.
const GIVEN_TO_END: Duration = Duration::from_secs(10);

/// What becomes of daemons that leave a command's process group.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Daemons {
    /// They are counted and ended with it, where there are control groups.
    Ended,
    /// They live on.
    Kept,
}

/// A command that runs. It is ended, and all that it started in its groups, when this is dropped.
pub(crate) struct Running<'e> {
    pub child: Child,
    /// When it began, by [`now_ns`]: after all that is none of its own.
    pub begun_ns: u64,
    pidfd: Option<OwnedFd>,
    group: Option<Group>,
    guard: &'e Guard,
    waited: bool,
}

impl Enclosure {
    /// A new one. What killed ones left behind is removed.
    pub fn new() -> Result<Enclosure, Error> {
        sweep();
        let folder = Groups::place();
        // The guard stands before there is anything to remove.
        let guard = Guard::start(Wards { group: folder.as_deref(), argument: None }).map_err(Error::Guard)?;
        Ok(Enclosure { groups: folder.and_then(Groups::new), guard })
    }

    /// Process groups alone, as where there are no control groups.
    #[cfg(test)]
    fn without_control_groups() -> Result<Enclosure, Error> {
        let guard = Guard::start(Wards::default()).map_err(Error::Guard)?;
        Ok(Enclosure { groups: None, guard })
    }

    /// Starts a command.
    pub(crate) fn start(&self, command: &mut Command, daemons: Daemons) -> io::Result<Running<'_>> {
        let groups = self.groups.as_ref().filter(|_| daemons == Daemons::Ended);
        let group = groups.map(Groups::run).transpose()?;
        command.process_group(0);
        self.guard.watch(command);
        if let Some(group) = &group {
            group.enter(command);
        }
        let mut begun = tell_when_it_begins(command)?;
        // One that cannot be executed has put itself under guard all the same.
        let child = command.spawn().inspect_err(|_| self.guard.over())?;
        let mut running =
            Running { child, begun_ns: 0, pidfd: None, group, guard: &self.guard, waited: false };
        running.pidfd = Some(pidfd(&running.child)?);
        let mut bytes = [0; 8];
        begun.read_exact(&mut bytes)?;
        running.begun_ns = u64::from_ne_bytes(bytes);
        Ok(running)
    }

    /// Runs a command of slowpath's own to its end; what it writes to stderr is kept if that is piped. It is interrupted as by
    /// Ctrl-C if `stop` is set meanwhile, killed if it then goes on, and not begun if it was set before: all are errors.
    pub fn output(&self, command: &mut Command, daemons: Daemons, stop: &Stop) -> Result<Output, Error> {
        if stop.is_set() {
            return Err(Error::Interrupted);
        }
        let name = command.get_program().to_string_lossy().into_owned();
        let failed = |why: io::Error| Error::Command { command: name.clone(), why: why.to_string() };
        let mut running = self.start(command, daemons).map_err(failed)?;
        let read = |mut stderr: ChildStderr| {
            std::thread::Builder::new().spawn(move || {
                let mut said = Vec::new();
                let _ = stderr.read_to_end(&mut said); // what came before is kept
                said
            })
        };
        let said = running.child.stderr.take().map(read).transpose().map_err(failed)?;
        let mut interrupted: Option<Instant> = None;
        while !running.ends_within(LOOK) {
            match interrupted {
                None if stop.is_set() => {
                    interrupted = Some(Instant::now());
                    running.interrupt();
                }
                Some(since) if since.elapsed() > GIVEN_TO_END => break, // ended below
                _ => {}
            }
        }
        let (status, _) = running.finish().map_err(failed)?;
        drop(running); // daemons may hold stderr
        let stderr = said.and_then(|said| said.join().ok()).unwrap_or_default();
        if stop.is_set() {
            Err(Error::Interrupted)
        } else {
            Ok(Output { status, stdout: Vec::new(), stderr })
        }
    }
}

impl Running<'_> {
    /// Waits for its end; whether it came.
    pub(crate) fn ends_within(&self, limit: Duration) -> bool {
        let fd = self.pidfd.as_ref().map_or(-1, AsRawFd::as_raw_fd);
        let mut poll = libc::pollfd { fd, events: libc::POLLIN, revents: 0 };
        // SAFETY: one valid pollfd.
        unsafe { libc::poll(&mut poll, 1, limit.as_millis().max(1) as libc::c_int) > 0 }
    }

    /// Ends all that is left in its process group, waits for it, and returns what it and the descendants used that it waited for.
    pub(crate) fn finish(&mut self) -> io::Result<(ExitStatus, libc::rusage)> {
        self.signal(-1, libc::SIGKILL);
        self.guard.over();
        self.waited = true;
        // SAFETY: rusage and status are plain numbers that wait4 fills.
        unsafe {
            let mut usage: libc::rusage = std::mem::zeroed();
            let mut status = 0;
            while libc::wait4(self.child.id() as libc::pid_t, &mut status, 0, &mut usage) < 0 {
                let error = io::Error::last_os_error();
                if error.kind() != io::ErrorKind::Interrupted {
                    return Err(error);
                }
            }
            Ok((ExitStatus::from_raw(status), usage))
        }
    }

    /// User and system time of all that it started, ns, where control groups count it.
    pub(crate) fn cpu_ns(&self) -> io::Result<Option<(u64, u64)>> {
        self.group.as_ref().map(Group::cpu_ns).transpose()
    }

    fn interrupt(&self) {
        self.signal(1, libc::SIGINT);
    }

    /// To its process group (-1) or itself (1).
    fn signal(&self, whom: libc::pid_t, signal: libc::c_int) {
        // SAFETY: numbers only. The number is its own, and its group's, until it was waited for.
        unsafe { libc::kill(whom * self.child.id() as libc::pid_t, signal) };
    }
}

impl Drop for Running<'_> {
    fn drop(&mut self) {
        if !self.waited {
            let _ = self.finish();
        }
    }
}

/// Makes the command report when it begins.
fn tell_when_it_begins(command: &mut Command) -> io::Result<UnixStream> {
    let (told, tell) = UnixStream::pair()?;
    told.set_nonblocking(true)?; // it has written, or was killed, when it was started
    let begin = move || {
        let now = now_ns().to_ne_bytes();
        // SAFETY: write takes a descriptor that is ours, and eight bytes; it is async-signal-safe.
        match unsafe { libc::write(tell.as_raw_fd(), now.as_ptr().cast(), now.len()) } {
            8 => Ok(()),
            _ => Err(io::Error::last_os_error()),
        }
    };
    // SAFETY: between fork and exec only a clock is read and that write is made.
    unsafe { command.pre_exec(begin) };
    Ok(told)
}

/// The monotonic clock, ns.
pub(crate) fn now_ns() -> u64 {
    let mut now = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: fills one timespec; async-signal-safe. It cannot fail for this clock.
    unsafe { libc::clock_gettime(libc::CLOCK_MONOTONIC, &mut now) };
    now.tv_sec as u64 * 1_000_000_000 + now.tv_nsec as u64
}

fn pidfd(child: &Child) -> io::Result<OwnedFd> {
    // SAFETY: pidfd_open takes a pid and flags.
    let fd = unsafe { libc::syscall(libc::SYS_pidfd_open, child.id(), 0) } as libc::c_int;
    if fd < 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: the kernel just gave this descriptor to us alone.
    Ok(unsafe { OwnedFd::from_raw_fd(fd) })
}

#[cfg(test)]
mod tests;
