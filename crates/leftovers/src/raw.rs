//! System calls that a process may make that was forked off several threads and will not exec: no memory is allocated, no
//! lock is taken and nothing panics. What they find is passed on as it is, and what they cannot do is left undone.

use std::ffi::CStr;
use std::io;
use std::os::fd::{AsRawFd, BorrowedFd, FromRawFd, OwnedFd, RawFd};

/// The working directory, for paths from the root.
pub(crate) const ANYWHERE: i32 = libc::AT_FDCWD;

/// Signals the process group that bears the process's number (`PIDFD_SIGNAL_PROCESS_GROUP`, Linux 6.9).
const WHOLE_GROUP: u32 = 1 << 2;

/// Opens what is below an open folder, or at a path from the root.
pub(crate) fn open(at: i32, name: &CStr, flags: i32) -> Option<OwnedFd> {
    // SAFETY: a C string and numbers.
    let fd = unsafe { libc::openat(at, name.as_ptr(), flags | libc::O_CLOEXEC) };
    // SAFETY: the kernel just gave this descriptor to us alone.
    (fd >= 0).then(|| unsafe { OwnedFd::from_raw_fd(fd) })
}

/// Opens a folder, never through a link.
pub(crate) fn open_folder(at: i32, name: &CStr) -> Option<OwnedFd> {
    open(at, name, libc::O_RDONLY | libc::O_DIRECTORY | libc::O_NOFOLLOW)
}

/// Whether a name is a link that leads somewhere.
pub(crate) fn is_link(at: i32, name: &CStr) -> bool {
    let mut target = [0u8; 1];
    // SAFETY: `target` is as long as is said.
    unsafe { libc::readlinkat(at, name.as_ptr(), target.as_mut_ptr().cast(), target.len()) > 0 }
}

/// Reads from the beginning what has room.
pub(crate) fn read<'b>(fd: &OwnedFd, bytes: &'b mut [u8]) -> &'b [u8] {
    let mut all = 0;
    while let Some(room) = bytes.get_mut(all..).filter(|room| !room.is_empty()) {
        // SAFETY: `room` is as long as is said.
        let got =
            unsafe { libc::pread(fd.as_raw_fd(), room.as_mut_ptr().cast(), room.len(), all as libc::off_t) };
        match got {
            1.. => all += got as usize,
            _ => break,
        }
    }
    bytes.get(..all).unwrap_or_default()
}

/// Writes a few bytes; whether all were taken.
pub(crate) fn write(fd: &OwnedFd, bytes: &[u8]) -> bool {
    // SAFETY: `bytes` is as long as is said.
    unsafe { libc::write(fd.as_raw_fd(), bytes.as_ptr().cast(), bytes.len()) == bytes.len() as isize }
}

/// Removes an empty folder; whether it is gone.
pub(crate) fn remove_folder(at: i32, name: &CStr) -> bool {
    // SAFETY: a C string and numbers.
    unsafe { libc::unlinkat(at, name.as_ptr(), libc::AT_REMOVEDIR) == 0 || errno() == libc::ENOENT }
}

/// Removes a file or a link, but no folder.
pub(crate) fn remove_file(at: i32, name: &CStr) {
    // SAFETY: a C string and numbers.
    unsafe { libc::unlinkat(at, name.as_ptr(), 0) };
}

/// Each entry of an open folder but `.` and `..`, with its kind (`DT_DIR` and so on).
pub(crate) fn each_entry(folder: &OwnedFd, mut see: impl FnMut(&CStr, u8)) {
    #[repr(C, align(8))]
    struct Entries([u8; 2048]);
    let mut entries = Entries([0; 2048]);
    loop {
        let room = entries.0.len();
        // SAFETY: the kernel writes at most `room` bytes.
        let got =
            unsafe { libc::syscall(libc::SYS_getdents64, folder.as_raw_fd(), entries.0.as_mut_ptr(), room) };
        let Some(mut left) = entries.0.get(..got.max(0) as usize).filter(|left| !left.is_empty()) else {
            return;
        };
        // struct linux_dirent64: inode (8), offset (8), length of the entry (2), kind (1), name.
        while let [_, _, _, _, _, _, _, _, _, _, _, _, _, _, _, _, low, high, kind, rest @ ..] = left {
            let length = usize::from(u16::from_ne_bytes([*low, *high]));
            if let Ok(name) = CStr::from_bytes_until_nul(rest)
                && !matches!(name.to_bytes(), b"." | b"..")
            {
                see(name, *kind);
            }
            left = left.get(length.max(1)..).unwrap_or_default();
        }
    }
}

/// A number that consists of these digits.
pub(crate) fn number(digits: &[u8]) -> Option<i32> {
    let mut number = 0i32;
    for digit in digits {
        let digit = digit.checked_sub(b'0').filter(|digit| *digit < 10)?;
        number = number.checked_mul(10)?.checked_add(i32::from(digit))?;
    }
    (!digits.is_empty()).then_some(number)
}

/// Stands for a process whatever becomes of its number; none if it has ended.
pub(crate) fn pidfd(pid: i32) -> Option<OwnedFd> {
    // SAFETY: numbers only.
    let fd = unsafe { libc::syscall(libc::SYS_pidfd_open, pid, 0) } as i32;
    // SAFETY: the kernel just gave this descriptor to us alone.
    (fd >= 0).then(|| unsafe { OwnedFd::from_raw_fd(fd) })
}

/// Kills a process.
pub(crate) fn kill(pidfd: &OwnedFd) {
    let _ = signal(pidfd, libc::SIGKILL, 0); // one that has ended needs none
}

fn signal(pidfd: &OwnedFd, signal: i32, flags: u32) -> Result<(), i32> {
    let none = std::ptr::null::<libc::siginfo_t>();
    // SAFETY: numbers, and no siginfo.
    match unsafe { libc::syscall(libc::SYS_pidfd_send_signal, pidfd.as_raw_fd(), signal, none, flags) } {
        0 => Ok(()),
        _ => Err(errno()),
    }
}

/// Kills the process group that a process leads or led, and no other group that bears the same number by now.
pub(crate) fn kill_group(leader: &OwnedFd, pgid: i32) {
    // Other errors than this mean that there is no such group any more, or nobody in it whom we may kill.
    if signal(leader, libc::SIGKILL, WHOLE_GROUP) == Err(libc::EINVAL) {
        kill_group_by_number(leader, pgid);
    }
}

/// The same for kernels before 6.9. A number is not reused as long as a process or a group bears it: so the group is
/// ours if its leader is there, be it as a zombie, and else if no process bears its number.
pub(crate) fn kill_group_by_number(leader: &OwnedFd, pgid: i32) {
    // SAFETY: numbers only. Signal 0 only asks.
    unsafe {
        let led = signal(leader, 0, 0) != Err(libc::ESRCH);
        let borne = || libc::kill(pgid, 0) == 0 || errno() != libc::ESRCH;
        if pgid > 1 && (led || !borne()) {
            libc::kill(-pgid, libc::SIGKILL);
        }
    }
}

/// Waits some milliseconds.
pub(crate) fn pause(ms: u32) {
    let time = libc::timespec { tv_sec: 0, tv_nsec: i64::from(ms.min(999)) * 1_000_000 };
    // SAFETY: a valid timespec.
    unsafe { libc::nanosleep(&time, std::ptr::null_mut()) };
}

/// A socket to put numbers and descriptors into, and its other end.
pub(crate) fn mailbox() -> io::Result<(OwnedFd, OwnedFd)> {
    let mut ends: [RawFd; 2] = [0; 2];
    // SAFETY: `ends` has room for both descriptors.
    let made = unsafe {
        libc::socketpair(libc::AF_UNIX, libc::SOCK_SEQPACKET | libc::SOCK_CLOEXEC, 0, ends.as_mut_ptr())
    };
    if made < 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: the kernel just gave both to us alone.
    Ok(unsafe { (OwnedFd::from_raw_fd(ends[0]), OwnedFd::from_raw_fd(ends[1])) })
}

/// Closes every descriptor from `first` on.
pub(crate) fn close_from(first: u32) {
    // SAFETY: whoever calls this uses none of them any more.
    if unsafe { libc::syscall(libc::SYS_close_range, first, u32::MAX, 0) } == 0 {
        return;
    }
    // Kernels before 5.9.
    let Some(folder) = open_folder(ANYWHERE, c"/proc/self/fd") else { return };
    each_entry(&folder, |name, _| {
        if let Some(fd) = number(name.to_bytes())
            && fd >= first as i32
            && fd != folder.as_raw_fd()
        {
            // SAFETY: as above.
            unsafe { libc::close(fd) };
        }
    });
}

/// Puts a descriptor beside what stands for it in a message.
#[repr(C, align(8))]
struct Letter([u8; 64]);

/// Sends a number and a descriptor; whether there is somebody, and room, to take it.
pub(crate) fn send(socket: i32, number: i32, fd: BorrowedFd<'_>) -> bool {
    let mut letter = Letter([0; 64]);
    let mut bytes = number.to_ne_bytes();
    let mut part = libc::iovec { iov_base: bytes.as_mut_ptr().cast(), iov_len: bytes.len() };
    // SAFETY: the header points to memory on this stack, which has room for a message with one descriptor.
    unsafe {
        let mut header: libc::msghdr = std::mem::zeroed();
        (header.msg_iov, header.msg_iovlen) = (&mut part, 1);
        header.msg_control = letter.0.as_mut_ptr().cast();
        header.msg_controllen = libc::CMSG_SPACE(4) as _;
        let message = libc::CMSG_FIRSTHDR(&header);
        (*message).cmsg_level = libc::SOL_SOCKET;
        (*message).cmsg_type = libc::SCM_RIGHTS;
        (*message).cmsg_len = libc::CMSG_LEN(4) as _;
        libc::CMSG_DATA(message).cast::<i32>().write_unaligned(fd.as_raw_fd());
        libc::sendmsg(socket, &header, libc::MSG_DONTWAIT | libc::MSG_NOSIGNAL) == 4
    }
}

/// Sends a number alone, once there is room for it; nothing if nobody takes it.
pub(crate) fn send_number(socket: i32, number: i32) {
    let bytes = number.to_ne_bytes();
    // SAFETY: `bytes` is as long as is said.
    let send = || unsafe { libc::send(socket, bytes.as_ptr().cast(), bytes.len(), libc::MSG_NOSIGNAL) };
    while send() < 0 && errno() == libc::EINTR {}
}

/// Takes what [`send`] sent, if there is something.
pub(crate) fn receive(socket: i32) -> Option<(i32, OwnedFd)> {
    match receive_any(socket, libc::MSG_DONTWAIT)? {
        (number, Some(fd)) => Some((number, fd)),
        (_, None) => None,
    }
}

/// Waits for the next number, which may come with a descriptor; none when all ends to send from are closed.
pub(crate) fn await_next(socket: i32) -> Option<(i32, Option<OwnedFd>)> {
    loop {
        let next = receive_any(socket, 0);
        if next.is_some() || errno() != libc::EINTR {
            return next;
        }
    }
}

pub(crate) fn receive_any(socket: i32, flags: i32) -> Option<(i32, Option<OwnedFd>)> {
    let mut letter = Letter([0; 64]);
    let mut bytes = [0; 4];
    let mut part = libc::iovec { iov_base: bytes.as_mut_ptr().cast(), iov_len: bytes.len() };
    // SAFETY: the header points to memory on this stack; a message header is read only where the kernel left one, and the
    // descriptor in it was just given to us alone.
    unsafe {
        let mut header: libc::msghdr = std::mem::zeroed();
        (header.msg_iov, header.msg_iovlen) = (&mut part, 1);
        (header.msg_control, header.msg_controllen) = (letter.0.as_mut_ptr().cast(), letter.0.len() as _);
        let got = libc::recvmsg(socket, &mut header, flags | libc::MSG_CMSG_CLOEXEC);
        if got != 4 {
            if got >= 0 {
                *libc::__errno_location() = 0; // an end, and no error
            }
            return None;
        }
        let message = libc::CMSG_FIRSTHDR(&header);
        let has_one = !message.is_null() && (*message).cmsg_type == libc::SCM_RIGHTS;
        let fd = has_one.then(|| libc::CMSG_DATA(message).cast::<i32>().read_unaligned());
        Some((i32::from_ne_bytes(bytes), fd.map(|fd| OwnedFd::from_raw_fd(fd))))
    }
}

/// Takes what [`send`] sent and forgets it.
pub(crate) fn discard(socket: i32) {
    let mut bytes = [0u8; 4];
    // SAFETY: `bytes` is as long as is said; the kernel closes a descriptor for which there is no room.
    while unsafe { libc::recv(socket, bytes.as_mut_ptr().cast(), bytes.len(), libc::MSG_DONTWAIT) } > 0 {}
}

/// Sends a number alone if there is room for it at once.
pub(crate) fn send_number_now(socket: i32, number: i32) -> bool {
    let bytes = number.to_ne_bytes();
    let flags = libc::MSG_NOSIGNAL | libc::MSG_DONTWAIT;
    // SAFETY: `bytes` is as long as is said.
    unsafe { libc::send(socket, bytes.as_ptr().cast(), bytes.len(), flags) == bytes.len() as isize }
}

/// Waits until all children have ended, whether the kernel forgets them or not.
pub(crate) fn wait_for_children() {
    // SAFETY: our own children, which nobody else waits for.
    while unsafe { libc::waitpid(-1, std::ptr::null_mut(), 0) } > 0 || errno() == libc::EINTR {}
}

/// Why the last call failed.
pub(crate) fn errno() -> i32 {
    // SAFETY: the place is valid in each thread.
    unsafe { *libc::__errno_location() }
}

/// Has the calling thread run as soon as there is something to do, before all programs of the usual kind, where that is allowed (as root) and there is another CPU for
/// these; with `heirs`, what it starts as well. For short work that whoever is measured waits for. Returns whether it does.
pub fn run_at_once(heirs: bool) -> bool {
    // Whoever runs so for longer than this limit is sent a deadly signal.
    let mut limit = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    // SAFETY: writes to a valid struct.
    let limited = unsafe { libc::getrlimit(libc::RLIMIT_RTTIME, &mut limit) } != 0
        || limit.rlim_cur != libc::RLIM_INFINITY;
    // SAFETY: takes a number, returns one.
    let alone = unsafe { libc::sysconf(libc::_SC_NPROCESSORS_ONLN) } < 2;
    let policy = libc::SCHED_FIFO | if heirs { 0 } else { libc::SCHED_RESET_ON_FORK };
    !limited && !alone && schedule(policy, 1)
}

/// Has the calling thread run like all others again.
pub fn run_as_usual() {
    schedule(libc::SCHED_OTHER | libc::SCHED_RESET_ON_FORK, 0);
}

fn schedule(policy: i32, priority: i32) -> bool {
    let priority = libc::sched_param { sched_priority: priority };
    // SAFETY: a valid parameter; concerns this thread alone. It changes nothing if it is not allowed.
    unsafe { libc::sched_setscheduler(0, policy, &priority) == 0 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::process::{CommandExt, ExitStatusExt};
    use std::process::{Child, Command};

    #[test]
    fn what_is_started_by_a_thread_that_runs_at_once_runs_as_usual() {
        // In a thread of its own: the others keep their policy.
        let thread = std::thread::Builder::new().spawn(|| {
            // SAFETY: takes a number, returns one.
            let policy = || unsafe { libc::sched_getscheduler(0) } & !libc::SCHED_RESET_ON_FORK;
            let at_once = run_at_once(false);
            assert_eq!(policy() == libc::SCHED_FIFO, at_once);
            let output = Command::new("cat").arg("/proc/self/stat").output().expect("cat runs");
            let text = String::from_utf8_lossy(&output.stdout).into_owned();
            // The 41st field; the second, a name, is in parentheses.
            let after_name = text.rsplit_once(')').expect("a name").1;
            assert_eq!(after_name.split_whitespace().nth(38), Some("0"), "{text}");
            run_as_usual();
            assert_eq!(policy(), libc::SCHED_OTHER);
        });
        thread.expect("a thread").join().expect("it ends");
    }

    /// A process that leads a group of its own and sleeps, with this number if one is given; none if it may not be chosen.
    fn sleeper_with(pid: i32) -> Option<i32> {
        let mut wanted = [pid];
        // SAFETY: plain numbers; the child makes system calls only. `set_tid` points to one number.
        unsafe {
            let mut asked: libc::clone_args = std::mem::zeroed();
            asked.exit_signal = libc::SIGCHLD as u64;
            (asked.set_tid, asked.set_tid_size) = (wanted.as_mut_ptr() as u64, 1);
            match libc::syscall(libc::SYS_clone3, &raw mut asked, size_of::<libc::clone_args>()) {
                0 => {
                    libc::setpgid(0, 0);
                    loop {
                        libc::pause();
                    }
                }
                got if got > 0 => {
                    libc::setpgid(got as i32, 0); // before it may have come to that itself
                    Some(got as i32)
                }
                _ => None,
            }
        }
    }

    fn sleeper(script: &str) -> (Child, OwnedFd) {
        let child = Command::new("sh").args(["-c", script]).process_group(0).spawn().expect("sh runs");
        let leader = pidfd(child.id() as i32).expect("it was not waited for");
        (child, leader)
    }

    const WAYS: [fn(&OwnedFd, i32); 2] = [kill_group, kill_group_by_number];

    #[test]
    fn a_group_is_killed_whether_its_leader_lives_or_not() {
        for way in WAYS {
            let (mut child, leader) = sleeper("exec sleep 1000");
            way(&leader, child.id() as i32);
            assert_eq!(child.wait().expect("our child").signal(), Some(libc::SIGKILL));
            // The leader ends and is waited for; its child holds the pipe until it is killed.
            let (mut held, holds) = std::io::pipe().expect("a pipe");
            let mut command = Command::new("sh");
            command.args(["-c", "sleep 1000 & exit 0"]).process_group(0).stdout(holds);
            let mut child = command.spawn().expect("sh runs");
            drop(command);
            let leader = pidfd(child.id() as i32).expect("it was not waited for");
            assert!(child.wait().expect("our child").success());
            way(&leader, child.id() as i32);
            let mut nothing = String::new();
            std::io::Read::read_to_string(&mut held, &mut nothing).expect("it ends");
        }
    }

    #[test]
    fn a_stranger_who_has_the_number_by_now_is_not_killed() {
        // Somebody else may be given the number first.
        let reused = || {
            (0..20).find_map(|_| {
                let (mut child, leader) = sleeper("exit 0");
                child.wait().expect("our child");
                sleeper_with(child.id() as i32).map(|stranger| (leader, stranger, child.id() as i32))
            })
        };
        for way in WAYS {
            let Some((leader, stranger, pid)) = reused() else {
                eprintln!(
                    "SKIPPED numbers of processes given anew: only root can choose one, since Linux 5.5"
                );
                return;
            };
            assert_eq!(stranger, pid);
            way(&leader, pid);
            // Had it been killed it would end by that signal, and not by this one.
            let lives = pidfd(stranger).expect("it was not waited for");
            let _ = signal(&lives, libc::SIGTERM, 0);
            let mut status = 0;
            // SAFETY: our own child; `status` is valid.
            assert_eq!(unsafe { libc::waitpid(stranger, &mut status, 0) }, stranger);
            assert_eq!(libc::WTERMSIG(status), libc::SIGTERM, "it was killed");
        }
    }

    #[test]
    fn what_is_sent_arrives_until_it_is_discarded() {
        let (put, take) = std::os::unix::net::UnixDatagram::pair().expect("a pair of sockets");
        let file = std::fs::File::open("/proc/self/stat").expect("a file");
        send(put.as_raw_fd(), 7, std::os::fd::AsFd::as_fd(&file));
        let (number, got) = receive(take.as_raw_fd()).expect("a message");
        assert_eq!(number, 7);
        assert!(read(&got, &mut [0; 64]).starts_with(std::process::id().to_string().as_bytes()));
        assert!(receive(take.as_raw_fd()).is_none());
        send(put.as_raw_fd(), 8, std::os::fd::AsFd::as_fd(&file));
        discard(take.as_raw_fd());
        assert!(receive(take.as_raw_fd()).is_none());
    }
}
