//! Which system calls become events, and what of their arguments is read. All of them stop while a window is open.

use slowpath_syscalls::*;

/// Calls that are reported as what they make; rt_sigreturn, which returns into what a signal interrupted; and fstat, which is asked after
/// each open.
const UNWANTED: [u32; 6] = [CLONE, FORK, VFORK, CLONE3, RT_SIGRETURN, FSTAT];
/// The argument with the flags of these: of an open file (`AT_EMPTY_PATH`), which is asked after each open, they are not wanted.
const BY_FLAGS: [(u32, usize); 2] = [(NEWFSTATAT, 3), (STATX, 2)];
/// What the kernel counts as reads, and as writes.
const MOVES: [[u32; 5]; 2] =
    [[READ, PREAD64, READV, PREADV, PREADV2], [WRITE, PWRITE64, WRITEV, PWRITEV, PWRITEV2]];

/// The ABI of the calls that are looked at: the 32-bit interface has other numbers.
pub(super) const AUDIT_ARCH_X86_64: u32 = 0xc000_003e;

/// Whether the file behind the first argument is noted when the call begins.
pub(super) fn is_on_file(number: u32) -> bool {
    let class = class(number);
    class & FD != 0 && class & (PATH1 | ADDRESS) == 0
}

/// The descriptor of the file that a call maps into memory; none if it maps none.
pub(super) fn mapped(number: u32, arguments: &[u64; 6]) -> Option<u64> {
    let descriptor = arguments[4] as i32; // the kernel reads no more of it
    let of_file = arguments[3] & libc::MAP_ANONYMOUS as u64 == 0;
    (class(number) & FD4 != 0 && of_file && descriptor >= 0).then_some(descriptor as u64)
}

/// Whether a call reads (0) or writes (1).
pub(super) fn way(number: u32) -> Option<usize> {
    MOVES.iter().position(|of| of.contains(&number))
}

/// Whether a call becomes an event.
pub(super) fn is_wanted(number: u32, arguments: &[u64; 6]) -> bool {
    let flags = |argument: usize| arguments[argument] & libc::AT_EMPTY_PATH as u64;
    if let Some((_, argument)) = BY_FLAGS.iter().find(|(of, _)| *of == number) {
        return flags(*argument) == 0;
    }
    !UNWANTED.contains(&number)
}

/// Whether a thread may be stopped inside a call: it goes on with it, and nothing of it is different. All others wait for a better moment: see
/// signal(7), "Interruption of system calls and library functions by stop signals".
pub(super) fn goes_on_after_a_stop(number: u32) -> bool {
    SLEEPS.contains(&number)
        || WAITS.contains(&number)
        || SELECTS.contains(&number)
        || matches!(number, FUTEX | POLL | PPOLL)
}

/// Whether a call that a stop made fail with EINTR before it did anything may be made again (a read is one of inotify).
pub(super) fn can_be_made_again(number: u32) -> bool {
    const FALLOCATE: u32 = libc::SYS_fallocate as u32;
    const AGAIN: [u32; 22] = [
        FALLOCATE, // of tmpfs, in older kernels
        READ,
        READV,
        CONNECT,
        ACCEPT,
        ACCEPT4,
        SENDTO,
        SENDMSG,
        RECVFROM,
        RECVMSG,
        RECVMMSG,
        SEMOP,
        SEMTIMEDOP,
        MSGSND,
        MSGRCV,
        RT_SIGTIMEDWAIT,
        FUTEX,
        EPOLL_WAIT,
        EPOLL_PWAIT,
        EPOLL_PWAIT2,
        IO_GETEVENTS,
        IO_PGETEVENTS,
    ];
    AGAIN.contains(&number) || number == IO_URING_ENTER
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_of_no_file_has_none_whatever_descriptor_is_given() {
        let with = |flags: i32, descriptor: i32| [0, 4096, 3, flags as u64, descriptor as u64, 0];
        assert_eq!(mapped(MMAP, &with(libc::MAP_SHARED, 3)), Some(3));
        assert_eq!(mapped(MMAP, &with(libc::MAP_PRIVATE, 0)), Some(0));
        assert_eq!(mapped(MMAP, &with(libc::MAP_PRIVATE | libc::MAP_ANONYMOUS, 0)), None);
        assert_eq!(mapped(MMAP, &with(libc::MAP_PRIVATE, -1)), None);
        assert_eq!(mapped(MUNMAP, &with(libc::MAP_SHARED, 3)), None);
    }
}
