//! Which system calls become events, and what of their arguments is read. All of them stop while a window is open.

/// open, openat, openat2, creat.
pub(super) const OPENS: [u32; 4] = [2, 257, 437, 85];
/// execve, execveat: their path is read before, for there is another memory after.
pub(super) const EXECS: [u32; 2] = [59, 322];
/// wait4, waitid.
pub(super) const WAITS: [u32; 2] = [61, 247];
/// fsync, fdatasync, msync, sync, syncfs, sync_file_range.
pub(super) const SYNCS: [u32; 6] = [74, 75, 26, 162, 306, 277];
pub(super) const MSYNC: u32 = 26;
/// nanosleep, clock_nanosleep.
const SLEEPS: [u32; 2] = [35, 230];
pub(super) const CONNECT: u32 = 42;
/// clone, fork, vfork, clone3, which are reported as what they make; rt_sigreturn, which returns into what a signal interrupted; and fstat,
/// which is asked after each open.
const UNWANTED: [u32; 6] = [56, 57, 58, 435, 15, 5];
/// newfstatat and statx, and the argument with their flags: of an open file (`AT_EMPTY_PATH`), which is asked after each open,
/// they are not wanted.
const BY_FLAGS: [(u32, usize); 2] = [(262, 3), (332, 2)];
/// select, pselect6.
const SELECTS: [u32; 2] = [23, 270];
/// Calls on the file behind their first argument: read, write, close, lseek, ioctl, pread64, pwrite64, readv, writev, sendfile, accept,
/// sendto, recvfrom, sendmsg, recvmsg, fcntl, flock, ftruncate, getdents64, accept4, preadv, pwritev, preadv2, pwritev2.
const ON_FILES: [u32; 24] =
    [0, 1, 3, 8, 16, 17, 18, 19, 20, 40, 43, 44, 45, 46, 47, 72, 73, 77, 217, 288, 295, 296, 327, 328];
/// What the kernel counts as reads: read, pread64, readv, preadv, preadv2; and as writes.
pub(super) const MOVES: [[u32; 5]; 2] = [[0, 17, 19, 295, 327], [1, 18, 20, 296, 328]];
/// restart_syscall: the kernel goes on with a call that a stop has ended.
pub(super) const RESTART: u32 = 219;
/// What the reference calls, and how it answers (see `reference`).
pub(super) const ACCESS: u32 = 21;
pub(super) const WRITE: u32 = 1;

/// The ABI of the calls that are looked at: the 32-bit interface has other numbers.
pub(super) const AUDIT_ARCH_X86_64: u32 = 0xc000_003e;

/// The path's place among a call's arguments, if it has one.
pub(super) fn path_argument(number: u32) -> Option<usize> {
    match number {
        // open, creat, stat, lstat, access, readlink, execve; chdir, rename, mkdir, rmdir, unlink, statfs; getxattr, lgetxattr.
        2 | 85 | 4 | 6 | 21 | 89 | 59 | 80 | 82..=84 | 87 | 137 | 191 | 192 => Some(0),
        // openat, openat2, newfstatat, statx, readlinkat, faccessat, faccessat2, execveat; mkdirat, unlinkat.
        257 | 437 | 262 | 332 | 267 | 269 | 439 | 322 | 258 | 263 => Some(1),
        _ => None,
    }
}

/// Whether the file behind the first argument is noted when the call begins.
pub(super) fn is_on_file(number: u32) -> bool {
    ON_FILES.contains(&number) || SYNCS.contains(&number) && number != MSYNC
}

/// Whether a call becomes an event.
pub(super) fn is_wanted(number: u32, arguments: &[u64; 6]) -> bool {
    let flags = |argument: usize| arguments[argument] & libc::AT_EMPTY_PATH as u64;
    if let Some((_, argument)) = BY_FLAGS.iter().find(|(of, _)| *of == number) {
        return flags(*argument) == 0;
    }
    !UNWANTED.contains(&number)
}

/// Whether a thread may be stopped inside a call: it goes on with it, and nothing of it is different. Sleeps, futex, wait4, waitid,
/// poll, select, pselect6, ppoll. All others wait for a better moment: see signal(7), "Interruption of system calls and library
/// functions by stop signals".
pub(super) fn goes_on_after_a_stop(number: u32) -> bool {
    SLEEPS.contains(&number)
        || WAITS.contains(&number)
        || SELECTS.contains(&number)
        || matches!(number, 202 | 7 | 271)
}

/// Whether a call that a stop made fail with EINTR before it did anything may be made again: read (inotify), readv, sendto, recvfrom,
/// sendmsg, recvmsg, accept, connect, semop, msgsnd, msgrcv, rt_sigtimedwait, futex, io_getevents, semtimedop, epoll_wait, epoll_pwait,
/// accept4, recvmmsg, io_pgetevents, io_uring_enter, epoll_pwait2.
pub(super) fn can_be_made_again(number: u32) -> bool {
    matches!(
        number,
        0 | 19 | 42..=47 | 65 | 69 | 70 | 128 | 202 | 208 | 220 | 232 | 281 | 288 | 299 | 333 | 426 | 441
    )
}
