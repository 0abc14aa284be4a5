//! The kernel's interface for tracing, by `libc`: thin and checked. What to do with a stop is `watch`'s business.

use crate::signals;
use std::io;

/// Never `PTRACE_O_EXITKILL`: what is traced goes on if we end.
const OPTIONS: i32 = libc::PTRACE_O_TRACEFORK
    | libc::PTRACE_O_TRACEVFORK
    | libc::PTRACE_O_TRACECLONE
    | libc::PTRACE_O_TRACEEXEC
    | libc::PTRACE_O_TRACEEXIT
    | libc::PTRACE_O_TRACESYSGOOD;

/// How a stopped thread goes on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Go {
    /// Undisturbed until an event: a fork, an exec, a signal, its end.
    On,
    /// Until it enters a system call, or returns from the one that it is in.
    ToCall,
    /// It stays stopped as its user has asked, but is heard of again.
    Listen,
}

fn request(request: libc::c_uint, tid: u32, address: usize, data: usize) -> io::Result<()> {
    // SAFETY: ptrace on a thread's number; where `data` is a pointer its callers hand a valid one.
    match unsafe { libc::ptrace(request, tid as libc::pid_t, address, data) } {
        -1 => Err(io::Error::last_os_error()),
        _ => Ok(()),
    }
}

/// Makes the calling thread the tracer of a process of one thread, which is not stopped by it.
pub(super) fn seize(pid: u32) -> io::Result<()> {
    request(libc::PTRACE_SEIZE, pid, 0, OPTIONS as usize)
}

/// Has a thread stop again as soon as it may.
pub(super) fn interrupt(tid: u32) -> io::Result<()> {
    request(libc::PTRACE_INTERRUPT, tid, 0, 0)
}

/// Lets a stopped thread go on. One that was killed meanwhile is reported by [`wait`].
pub(super) fn go(tid: u32, how: Go, signal: i32) {
    let how = match how {
        Go::On => libc::PTRACE_CONT,
        Go::ToCall => libc::PTRACE_SYSCALL,
        Go::Listen => libc::PTRACE_LISTEN,
    };
    let _ = request(how, tid, 0, signal as usize);
}

/// The registers of a stopped thread.
pub(super) fn registers(tid: u32) -> io::Result<libc::user_regs_struct> {
    // SAFETY: a struct of plain numbers.
    let mut registers: libc::user_regs_struct = unsafe { std::mem::zeroed() };
    request(libc::PTRACE_GETREGS, tid, 0, (&raw mut registers) as usize)?;
    Ok(registers)
}

/// Sets the registers of a stopped thread.
pub(super) fn set_registers(tid: u32, registers: &libc::user_regs_struct) -> io::Result<()> {
    request(libc::PTRACE_SETREGS, tid, 0, std::ptr::from_ref(registers) as usize)
}

/// The signal that a thread stopped for.
pub(super) fn signal_info(tid: u32) -> io::Result<libc::siginfo_t> {
    // SAFETY: a struct of plain numbers.
    let mut info: libc::siginfo_t = unsafe { std::mem::zeroed() };
    request(libc::PTRACE_GETSIGINFO, tid, 0, (&raw mut info) as usize)?;
    Ok(info)
}

/// The descriptor of a signal that one has sent (`si_fd`, behind `si_band`); of others it is no descriptor.
pub(super) fn descriptor_of(info: &libc::siginfo_t) -> i32 {
    const SI_FD: usize = 24;
    // SAFETY: inside the struct, which is larger, and aligned; all of it is plain numbers.
    unsafe { (&raw const *info).cast::<u8>().add(SI_FD).cast::<i32>().read() }
}

/// Why a thread stopped at a system call.
pub(super) enum At {
    /// It enters one: the ABI, number, arguments, instruction and stack pointer.
    Entry { abi: u32, number: u32, arguments: [u64; 6], ip: u64, sp: u64 },
    /// It returns from one.
    Exit { result: i64 },
    /// Neither: it stopped for something else.
    Other,
}

/// The system call that a thread stopped at.
pub(super) fn call(tid: u32) -> io::Result<At> {
    // SAFETY: a struct of plain numbers.
    let mut info: libc::ptrace_syscall_info = unsafe { std::mem::zeroed() };
    request(libc::PTRACE_GET_SYSCALL_INFO, tid, size_of_val(&info), (&raw mut info) as usize)?;
    let (abi, ip, sp) = (info.arch, info.instruction_pointer, info.stack_pointer);
    Ok(match info.op {
        libc::PTRACE_SYSCALL_INFO_ENTRY => {
            // SAFETY: `op` says that the kernel has filled this part; all are plain numbers.
            let entry = unsafe { info.u.entry };
            At::Entry { abi, number: entry.nr as u32, arguments: entry.args, ip, sp }
        }
        // SAFETY: likewise.
        libc::PTRACE_SYSCALL_INFO_EXIT => At::Exit { result: unsafe { info.u.exit.sval } },
        _ => At::Other,
    })
}

/// The content of the event that a thread stopped for: a new thread, a former number, a wait status.
pub(super) fn message(tid: u32) -> io::Result<u64> {
    let mut message: libc::c_ulong = 0;
    request(libc::PTRACE_GETEVENTMSG, tid, 0, (&raw mut message) as usize)?;
    Ok(message)
}

/// What waiting brought.
pub(super) enum Waited {
    /// A thread stopped or ended: its number, status and usage.
    Of(u32, i32, libc::rusage),
    /// Nothing as yet: a tick ([`Ticks`]), or it was not waited.
    Nothing,
    /// There is no thread left.
    NoneLeft,
}

/// Waits for the next thread that stops or ends.
pub(super) fn wait() -> Waited {
    wait_with(0)
}

/// The next thread that has stopped or ended already.
pub(super) fn wait_no_longer() -> Waited {
    wait_with(libc::WNOHANG)
}

fn wait_with(flags: i32) -> Waited {
    let mut status = 0;
    // SAFETY: rusage is plain numbers.
    let mut usage: libc::rusage = unsafe { std::mem::zeroed() };
    // Only this thread's own: other children of the process are none of ours.
    let flags = flags | libc::__WALL | libc::__WNOTHREAD;
    // SAFETY: both out-pointers are valid.
    match unsafe { libc::wait4(-1, &mut status, flags, &mut usage) } {
        0 => Waited::Nothing,
        tid if tid > 0 => Waited::Of(tid as u32, status, usage),
        _ if io::Error::last_os_error().kind() == io::ErrorKind::Interrupted => Waited::Nothing,
        _ => Waited::NoneLeft,
    }
}

/// Wakes the calling thread from [`wait`] every so often, until it is dropped.
pub(super) struct Ticks(libc::timer_t);

impl Ticks {
    /// Starts them; the error where no timer is left.
    pub(super) fn start(each_ns: i64) -> io::Result<Ticks> {
        let signal = signals::tick();
        // SAFETY: structs of plain numbers, filled as timer_create(2) and timer_settime(2) ask for.
        unsafe {
            let mut set: libc::sigset_t = std::mem::zeroed();
            libc::sigaddset(&mut set, signal);
            libc::pthread_sigmask(libc::SIG_UNBLOCK, &set, std::ptr::null_mut());
            let mut event: libc::sigevent = std::mem::zeroed();
            event.sigev_notify = libc::SIGEV_THREAD_ID;
            event.sigev_signo = signal;
            event.sigev_notify_thread_id = libc::gettid();
            let mut timer: libc::timer_t = std::mem::zeroed();
            if libc::timer_create(libc::CLOCK_MONOTONIC, &mut event, &mut timer) < 0 {
                return Err(io::Error::last_os_error());
            }
            let ticks = Ticks(timer);
            let each = libc::timespec { tv_sec: 0, tv_nsec: each_ns };
            let times = libc::itimerspec { it_interval: each, it_value: each };
            match libc::timer_settime(timer, 0, &times, std::ptr::null_mut()) {
                0 => Ok(ticks),
                _ => Err(io::Error::last_os_error()),
            }
        }
    }
}

impl Drop for Ticks {
    fn drop(&mut self) {
        // SAFETY: our own timer, deleted once.
        unsafe { libc::timer_delete(self.0) };
    }
}

/// Reads memory of a thread's process: each of `parts` is an address and where to. Returns the bytes read in all, in order;
/// reading ends at the first page that cannot be.
pub(super) fn read<const N: usize>(tid: u32, parts: [(u64, &mut [u8]); N]) -> usize {
    let mut here = [libc::iovec { iov_base: std::ptr::null_mut(), iov_len: 0 }; N];
    let mut there = here;
    for (part, (address, into)) in parts.into_iter().enumerate() {
        here[part] = libc::iovec { iov_base: into.as_mut_ptr().cast(), iov_len: into.len() };
        there[part] = libc::iovec { iov_base: address as *mut libc::c_void, iov_len: into.len() };
    }
    let (parts, flags) = (N as libc::c_ulong, 0);
    // SAFETY: the local parts are buffers that we hold exclusively; the others are only read, by the kernel.
    let read =
        unsafe { libc::process_vm_readv(tid as i32, here.as_ptr(), parts, there.as_ptr(), parts, flags) };
    read.max(0) as usize
}

const PAGE: u64 = 4096;

/// Bytes from an address to the end of its page.
pub(super) fn to_page_end(address: u64) -> usize {
    (PAGE - address % PAGE) as usize
}
