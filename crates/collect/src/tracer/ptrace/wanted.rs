//! Which system calls become events. All of them stop while a window is open; of any other nothing is read but its number.

/// open, openat, openat2, creat.
pub(super) const OPENS: [u32; 4] = [2, 257, 437, 85];
/// execve, execveat: their path is read before, for there is another memory after.
pub(super) const EXECS: [u32; 2] = [59, 322];
/// wait4, waitid.
pub(super) const WAITS: [u32; 2] = [61, 247];
/// fsync, fdatasync, msync, sync, syncfs, sync_file_range.
pub(super) const SYNCS: [u32; 6] = [74, 75, 26, 162, 306, 277];
pub(super) const MSYNC: u32 = 26;
/// stat, lstat, access, readlink, readlinkat, faccessat, faccessat2.
const LOOKS: [u32; 7] = [4, 6, 21, 89, 267, 269, 439];
/// nanosleep, clock_nanosleep.
const SLEEPS: [u32; 2] = [35, 230];
pub(super) const CONNECT: u32 = 42;
/// newfstatat and statx, and the argument with their flags: of an open file (`AT_EMPTY_PATH`), which is asked after each open,
/// they are not wanted.
const BY_FLAGS: [(u32, usize); 2] = [(262, 3), (332, 2)];
/// select and pselect6, where they look at no descriptor, which is a sleep.
const SELECTS: [u32; 2] = [23, 270];
/// Calls on the file behind their first argument: read, write, lseek, pread64, pwrite64, readv, writev, sendto, recvfrom, sendmsg,
/// recvmsg, getdents64.
const ON_FILES: [u32; 12] = [0, 1, 8, 17, 18, 19, 20, 44, 45, 46, 47, 217];
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
        2 | 85 | 4 | 6 | 21 | 89 | 59 => Some(0),
        257 | 437 | 262 | 332 | 267 | 269 | 439 | 322 => Some(1),
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
    if SELECTS.contains(&number) {
        return arguments[0] as u32 == 0;
    }
    let always = [&OPENS[..], &EXECS, &WAITS, &SYNCS, &LOOKS, &SLEEPS, &ON_FILES, &[CONNECT]];
    always.iter().any(|some| some.contains(&number))
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
