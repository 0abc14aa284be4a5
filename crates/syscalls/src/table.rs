//! The table: each call that the tracers keep something of, or that a group names.

use ::syscalls::x86_64::Sysno;

macro_rules! classes {
    ($($(#[$doc:meta])* $name:ident = $value:expr;)*) => {
        $($(#[$doc])* pub const $name: u32 = $value;)*
        /// The classes by name, as the header has them.
        pub(crate) const CLASSES: &[(&str, u32)] = &[$((stringify!($name), $name)),*];
    };
}

classes! {
    /// Argument 0 is a descriptor; the file that it is open on matters.
    FD = 1;
    /// Argument 0 is a path.
    PATH0 = 2;
    /// Argument 1 is a path.
    PATH1 = 4;
    /// The result is how many bytes were moved.
    BYTES = 8;
    /// The result is a new descriptor.
    NEW_FD = 16;
    /// Argument 1 is the address of a socket.
    ADDRESS = 32;
    /// A process is made, executed or waited for.
    PROCESS = 64;
    /// Argument 4 is a descriptor.
    FD4 = 128;
    /// The argument that says most is how many bytes are mapped or given back.
    MEMORY = 256;
    /// Argument 3 is a path.
    PATH3 = 512;
}

/// A call of which something is kept.
#[derive(Debug)]
pub struct Call {
    /// Its name in capitals.
    pub constant: &'static str,
    /// Its number.
    pub number: u32,
    /// See [`crate::class`].
    pub class: u32,
    /// See [`crate::telling`].
    pub telling: Option<usize>,
}

/// The argument that says most is made out of several.
const SEVERAL: Option<usize> = None;
const FIRST: Option<usize> = Some(0);
const SECOND: Option<usize> = Some(1);
const THIRD: Option<usize> = Some(2);
const FOURTH: Option<usize> = Some(3);

macro_rules! table {
    ($($constant:ident $name:ident: $class:expr, $telling:expr;)*) => {
        $(#[doc = concat!("The number of `", stringify!($name), "`.")] pub const $constant: u32 = Sysno::$name as u32;)*
        /// All of them.
        pub const CALLS: &[Call] =
            &[$(Call { constant: stringify!($constant), number: $constant, class: $class, telling: $telling }),*];
    };
}

table! {
    // Bytes. What was asked for, or of the p-calls the place in the file.
    READ read: FD | BYTES, THIRD;
    WRITE write: FD | BYTES, THIRD;
    PREAD64 pread64: FD | BYTES, FOURTH;
    PWRITE64 pwrite64: FD | BYTES, FOURTH;
    READV readv: FD | BYTES, FIRST;
    WRITEV writev: FD | BYTES, FIRST;
    PREADV preadv: FD | BYTES, FOURTH;
    PWRITEV pwritev: FD | BYTES, FOURTH;
    PREADV2 preadv2: FD | BYTES, FOURTH;
    PWRITEV2 pwritev2: FD | BYTES, FOURTH;
    SENDFILE sendfile: FD | BYTES, FIRST;
    SPLICE splice: FD | BYTES, FIRST;
    COPY_FILE_RANGE copy_file_range: FD | BYTES, FIRST;
    SENDTO sendto: FD | BYTES, THIRD;
    RECVFROM recvfrom: FD | BYTES, THIRD;
    SENDMSG sendmsg: FD | BYTES, FIRST;
    RECVMSG recvmsg: FD | BYTES, FIRST;
    SENDMMSG sendmmsg: 0, FIRST;
    RECVMMSG recvmmsg: 0, FIRST;
    GETDENTS getdents: 0, FIRST;
    GETDENTS64 getdents64: FD | BYTES, FIRST;
    GETRANDOM getrandom: BYTES, SECOND;
    // Open files. Of fcntl, flock and ioctl the command.
    CLOSE close: FD, FIRST;
    FSTAT fstat: FD, FIRST;
    LSEEK lseek: FD, THIRD;
    IOCTL ioctl: FD, SECOND;
    FCNTL fcntl: FD, SECOND;
    FLOCK flock: FD, SECOND;
    FTRUNCATE ftruncate: FD, FIRST;
    FSYNC fsync: FD, FIRST;
    FDATASYNC fdatasync: FD, FIRST;
    SYNC_FILE_RANGE sync_file_range: FD, FIRST;
    SYNCFS syncfs: FD, FIRST;
    SYNC sync: 0, FIRST;
    MSYNC msync: 0, FIRST;
    // Paths. Of open and openat the flags; openat2 has them in memory.
    OPEN open: PATH0 | NEW_FD, SECOND;
    CREAT creat: PATH0 | NEW_FD, FIRST;
    OPENAT openat: PATH1 | NEW_FD, THIRD;
    OPENAT2 openat2: PATH1 | NEW_FD, FIRST;
    STAT stat: PATH0, FIRST;
    LSTAT lstat: PATH0, FIRST;
    ACCESS access: PATH0, FIRST;
    READLINK readlink: PATH0, FIRST;
    CHDIR chdir: PATH0, FIRST;
    FCHDIR fchdir: 0, FIRST;
    // Of renames the new name: that file is replaced.
    RENAME rename: PATH1, FIRST;
    RENAMEAT renameat: PATH3, FIRST;
    RENAMEAT2 renameat2: PATH3, FIRST;
    MKDIR mkdir: PATH0, FIRST;
    RMDIR rmdir: PATH0, FIRST;
    UNLINK unlink: PATH0, FIRST;
    STATFS statfs: PATH0, FIRST;
    GETXATTR getxattr: PATH0, FIRST;
    LGETXATTR lgetxattr: PATH0, FIRST;
    // Without a path they are of the descriptor itself.
    NEWFSTATAT newfstatat: PATH1 | FD, SEVERAL;
    STATX statx: PATH1 | FD, SEVERAL;
    READLINKAT readlinkat: PATH1, FIRST;
    FACCESSAT faccessat: PATH1, FIRST;
    FACCESSAT2 faccessat2: PATH1, FIRST;
    MKDIRAT mkdirat: PATH1, FIRST;
    UNLINKAT unlinkat: PATH1, FIRST;
    GETCWD getcwd: 0, FIRST;
    // Processes. Of wait4 the options.
    EXECVE execve: PATH0 | PROCESS, FIRST;
    EXECVEAT execveat: PATH1 | PROCESS, FIRST;
    CLONE clone: PROCESS, FIRST;
    FORK fork: PROCESS, FIRST;
    VFORK vfork: PROCESS, FIRST;
    CLONE3 clone3: PROCESS, FIRST;
    WAIT4 wait4: PROCESS, THIRD;
    WAITID waitid: PROCESS, FIRST;
    EXIT exit: 0, FIRST;
    EXIT_GROUP exit_group: 0, FIRST;
    KILL kill: 0, SECOND;
    TKILL tkill: 0, SECOND;
    TGKILL tgkill: 0, THIRD;
    // Sockets.
    SOCKET socket: 0, FIRST;
    CONNECT connect: FD | ADDRESS, FIRST;
    ACCEPT accept: FD, FIRST;
    ACCEPT4 accept4: FD, FIRST;
    BIND bind: 0, FIRST;
    GETSOCKNAME getsockname: 0, FIRST;
    GETPEERNAME getpeername: 0, FIRST;
    SETSOCKOPT setsockopt: 0, FIRST;
    GETSOCKOPT getsockopt: 0, FIRST;
    // Memory. The length; of madvise only where its pages are given back. What a brk gives back follows from its result.
    MMAP mmap: FD4 | MEMORY, SECOND;
    MUNMAP munmap: MEMORY, SECOND;
    BRK brk: MEMORY, FIRST;
    MADVISE madvise: MEMORY, SEVERAL;
    MPROTECT mprotect: 0, FIRST;
    // Waits. The timeout; of a futex the operation and its number; of poll and its kin also how many descriptors.
    POLL poll: 0, SEVERAL;
    PPOLL ppoll: 0, SEVERAL;
    SELECT select: 0, SEVERAL;
    PSELECT6 pselect6: 0, SEVERAL;
    EPOLL_WAIT epoll_wait: 0, FOURTH;
    EPOLL_PWAIT epoll_pwait: 0, FIRST;
    EPOLL_PWAIT2 epoll_pwait2: 0, FIRST;
    FUTEX futex: 0, SEVERAL;
    NANOSLEEP nanosleep: 0, FIRST;
    CLOCK_NANOSLEEP clock_nanosleep: 0, FIRST;
    SEMOP semop: 0, FIRST;
    SEMTIMEDOP semtimedop: 0, FIRST;
    MSGSND msgsnd: 0, FIRST;
    MSGRCV msgrcv: 0, FIRST;
    RT_SIGTIMEDWAIT rt_sigtimedwait: 0, FIRST;
    RT_SIGRETURN rt_sigreturn: 0, FIRST;
    RESTART_SYSCALL restart_syscall: 0, FIRST;
    IO_GETEVENTS io_getevents: 0, FIRST;
    IO_PGETEVENTS io_pgetevents: 0, FIRST;
    IO_URING_ENTER io_uring_enter: 0, FIRST;
    SCHED_YIELD sched_yield: 0, FIRST;
    // What a process asks about itself and the machine.
    GETPID getpid: 0, FIRST;
    GETTID gettid: 0, FIRST;
    GETPPID getppid: 0, FIRST;
    GETUID getuid: 0, FIRST;
    GETGID getgid: 0, FIRST;
    GETEUID geteuid: 0, FIRST;
    GETEGID getegid: 0, FIRST;
    GETRESUID getresuid: 0, FIRST;
    GETRESGID getresgid: 0, FIRST;
    UNAME uname: 0, FIRST;
    GETRLIMIT getrlimit: 0, FIRST;
    PRLIMIT64 prlimit64: 0, FIRST;
    SCHED_GETAFFINITY sched_getaffinity: 0, FIRST;
    SYSINFO sysinfo: 0, FIRST;
    // Clocks.
    GETTIMEOFDAY gettimeofday: 0, FIRST;
    TIME time: 0, FIRST;
    CLOCK_GETTIME clock_gettime: 0, FIRST;
    GETRUSAGE getrusage: 0, FIRST;
    TIMES times: 0, FIRST;
}
