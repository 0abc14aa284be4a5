//! Groups of calls that do the same, by several names.

use crate::table::*;

/// Calls that open a file by its path.
pub const OPENS: [u32; 4] = [OPEN, CREAT, OPENAT, OPENAT2];
/// Calls that ask about a path without opening it.
pub const STATS: [u32; 9] =
    [STAT, LSTAT, ACCESS, READLINK, NEWFSTATAT, READLINKAT, FACCESSAT, STATX, FACCESSAT2];
/// Those of [`STATS`] whose path may start at an open directory.
pub const STATS_AT: [u32; 5] = [NEWFSTATAT, READLINKAT, FACCESSAT, STATX, FACCESSAT2];
/// Calls that give a file another name; their path is the new one.
pub const RENAMES: [u32; 3] = [RENAME, RENAMEAT, RENAMEAT2];
/// Calls that remove a file.
pub const UNLINKS: [u32; 2] = [UNLINK, UNLINKAT];
/// Calls that list a directory.
pub const LISTS: [u32; 2] = [GETDENTS, GETDENTS64];
/// Calls that make a directory.
pub const MKDIRS: [u32; 2] = [MKDIR, MKDIRAT];
/// Calls that change the working directory.
pub const CHDIRS: [u32; 2] = [CHDIR, FCHDIR];
/// Calls that execute a program.
pub const EXECS: [u32; 2] = [EXECVE, EXECVEAT];
/// Calls that make a process or a thread.
pub const FORKS: [u32; 4] = [CLONE, FORK, VFORK, CLONE3];
/// Calls that wait for a child.
pub const WAITS: [u32; 2] = [WAIT4, WAITID];
/// Calls that end a thread or a process.
pub const EXITS: [u32; 2] = [EXIT, EXIT_GROUP];
/// Calls that read what comes next in a file, and those that write there.
pub const READS: [u32; 2] = [READ, READV];
/// See [`READS`].
pub const WRITES: [u32; 2] = [WRITE, WRITEV];
/// Calls that read at a place in a file that they name, and those that write there.
pub const READS_AT: [u32; 3] = [PREAD64, PREADV, PREADV2];
/// See [`READS_AT`].
pub const WRITES_AT: [u32; 3] = [PWRITE64, PWRITEV, PWRITEV2];
/// Calls that put what was written on the disk.
pub const SYNCS: [u32; 6] = [FSYNC, FDATASYNC, MSYNC, SYNC, SYNCFS, SYNC_FILE_RANGE];
/// Calls that wait for one of several descriptors.
pub const POLLS: [u32; 7] = [POLL, PPOLL, SELECT, PSELECT6, EPOLL_WAIT, EPOLL_PWAIT, EPOLL_PWAIT2];
/// Those of [`POLLS`] that are a sleep if they are given no descriptor.
pub const SELECTS: [u32; 2] = [SELECT, PSELECT6];
/// Calls that succeed with 0 when there is nothing.
pub const ASKS: [u32; 8] = [POLL, PPOLL, SELECT, PSELECT6, EPOLL_WAIT, EPOLL_PWAIT, EPOLL_PWAIT2, WAIT4];
/// Calls that let a thread sleep for a time.
pub const SLEEPS: [u32; 2] = [NANOSLEEP, CLOCK_NANOSLEEP];
/// Calls that receive from a socket.
pub const RECEIVES: [u32; 3] = [RECVFROM, RECVMSG, RECVMMSG];
/// Calls that send to a socket.
pub const SENDS: [u32; 3] = [SENDTO, SENDMSG, SENDMMSG];
/// Calls that accept a connection.
pub const ACCEPTS: [u32; 2] = [ACCEPT, ACCEPT4];
/// Memory is taken, given back or changed.
pub const OF_MEMORY: [u32; 5] = [MMAP, MUNMAP, BRK, MADVISE, MPROTECT];
