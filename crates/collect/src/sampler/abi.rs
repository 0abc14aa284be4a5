//! The kernel's interface for samples: `perf_event_open(2)`, its attributes, and the layout of its records' headers.
//!
//! Constants and layouts are those of `linux/perf_event.h`. Nothing here decides anything.

use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};

/// `struct perf_event_attr`, up to `aux_sample_size` (PERF_ATTR_SIZE_VER6, kernel 5.5).
#[repr(C)]
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Attr {
    pub kind: u32,
    pub size: u32,
    pub config: u64,
    pub period_or_freq: u64,
    pub sample_type: u64,
    pub read_format: u64,
    pub flags: u64,
    pub wakeup_watermark: u32,
    pub bp_type: u32,
    pub config1: u64,
    pub config2: u64,
    pub branch_sample_type: u64,
    pub sample_regs_user: u64,
    pub sample_stack_user: u32,
    pub clockid: i32,
    pub sample_regs_intr: u64,
    pub aux_watermark: u32,
    pub sample_max_stack: u16,
    pub reserved: u16,
    pub aux_sample_size: u32,
    pub reserved_3: u32,
}

pub(crate) const TYPE_HARDWARE: u32 = 0;
pub(crate) const TYPE_SOFTWARE: u32 = 1;
pub(crate) const TYPE_BREAKPOINT: u32 = 5;
pub(crate) const HW_CPU_CYCLES: u64 = 0;
pub(crate) const SW_CPU_CLOCK: u64 = 0;
/// Counts nothing.
pub(crate) const SW_DUMMY: u64 = 9;
/// `bp_type`: where an instruction is executed. The address is in `config1`, the length in `config2`.
pub(crate) const BREAKPOINT_EXECUTE: u32 = 4;

pub(crate) const FLAG_DISABLED: u64 = 1 << 0;
pub(crate) const FLAG_INHERIT: u64 = 1 << 1;
pub(crate) const FLAG_EXCLUDE_KERNEL: u64 = 1 << 5;
pub(crate) const FLAG_EXCLUDE_HV: u64 = 1 << 6;
pub(crate) const FLAG_EXCLUDE_IDLE: u64 = 1 << 7;
pub(crate) const FLAG_MMAP: u64 = 1 << 8;
pub(crate) const FLAG_COMM: u64 = 1 << 9;
pub(crate) const FLAG_FREQ: u64 = 1 << 10;
pub(crate) const FLAG_ENABLE_ON_EXEC: u64 = 1 << 12;
pub(crate) const FLAG_TASK: u64 = 1 << 13;
pub(crate) const FLAG_WATERMARK: u64 = 1 << 14;
pub(crate) const FLAG_SAMPLE_ID_ALL: u64 = 1 << 18;
pub(crate) const FLAG_EXCLUDE_CALLCHAIN_USER: u64 = 1 << 22;
pub(crate) const FLAG_MMAP2: u64 = 1 << 23;
pub(crate) const FLAG_COMM_EXEC: u64 = 1 << 24;
pub(crate) const FLAG_USE_CLOCKID: u64 = 1 << 25;
pub(crate) const FLAG_REMOVE_ON_EXEC: u64 = 1 << 36;

pub(crate) const SAMPLE_TID: u64 = 1 << 1;
pub(crate) const SAMPLE_TIME: u64 = 1 << 2;
pub(crate) const SAMPLE_READ: u64 = 1 << 4;
pub(crate) const SAMPLE_CALLCHAIN: u64 = 1 << 5;
pub(crate) const SAMPLE_ID: u64 = 1 << 6;
pub(crate) const SAMPLE_CPU: u64 = 1 << 7;
pub(crate) const SAMPLE_PERIOD: u64 = 1 << 8;
pub(crate) const SAMPLE_REGS_USER: u64 = 1 << 12;
pub(crate) const SAMPLE_STACK_USER: u64 = 1 << 13;

/// Bits of `sample_regs_user` (`asm/perf_regs.h`): bp, sp, ip; in a record they come in this order.
pub(crate) const REGS_BP_SP_IP: u64 = 1 << 6 | 1 << 7 | 1 << 8;
/// The stack pointer alone.
pub(crate) const REGS_SP: u64 = 1 << 7;

/// `read_format`: behind the count for how long the event was enabled, ns.
pub(crate) const FORMAT_TOTAL_TIME_ENABLED: u64 = 1 << 0;

pub(crate) const RECORD_LOST: u32 = 2;
pub(crate) const RECORD_COMM: u32 = 3;
pub(crate) const RECORD_EXIT: u32 = 4;
pub(crate) const RECORD_FORK: u32 = 7;
pub(crate) const RECORD_SAMPLE: u32 = 9;
pub(crate) const RECORD_MMAP2: u32 = 10;
pub(crate) const RECORD_LOST_SAMPLES: u32 = 13;

pub(crate) const MISC_COMM_EXEC: u16 = 1 << 13;
pub(crate) const MISC_MMAP_BUILD_ID: u16 = 1 << 14;

/// In a call chain, values from here on mark where the frames of a context begin.
pub(crate) const CONTEXT_MAX: u64 = -4095i64 as u64;
/// Kernel frames follow.
pub(crate) const CONTEXT_KERNEL: u64 = -128i64 as u64;
/// User frames follow.
pub(crate) const CONTEXT_USER: u64 = -512i64 as u64;

const FLAG_FD_CLOEXEC: libc::c_ulong = 8;

/// `perf_event_open(2)`. `pid` −1 is every process, `cpu` −1 every CPU.
pub(crate) fn open(attr: &Attr, pid: i32, cpu: i32) -> io::Result<OwnedFd> {
    // SAFETY: `attr` is a valid perf_event_attr of the size it states; the call keeps no pointer to it.
    let fd = unsafe {
        libc::syscall(libc::SYS_perf_event_open, attr as *const Attr, pid, cpu, -1, FLAG_FD_CLOEXEC)
    };
    if fd < 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: the kernel just gave this descriptor to us alone.
    Ok(unsafe { OwnedFd::from_raw_fd(fd as i32) })
}

/// Starts an event.
pub(crate) fn enable(event: &OwnedFd) -> io::Result<()> {
    const PERF_EVENT_IOC_ENABLE: libc::c_ulong = 0x2400;
    ioctl(event, PERF_EVENT_IOC_ENABLE, 0)
}

/// Starts an event, or lets it go on, for so many overflows; then the kernel stops it.
pub(crate) fn refresh(event: &OwnedFd, overflows: i32) -> io::Result<()> {
    const PERF_EVENT_IOC_REFRESH: libc::c_ulong = 0x2402;
    ioctl(event, PERF_EVENT_IOC_REFRESH, overflows)
}

/// The number that an event has in samples.
pub(crate) fn id(event: &OwnedFd) -> io::Result<u64> {
    const PERF_EVENT_IOC_ID: libc::c_ulong = 0x8008_2407;
    let mut id = 0u64;
    // SAFETY: the request writes a u64 there.
    match unsafe { libc::ioctl(event.as_raw_fd(), PERF_EVENT_IOC_ID, &raw mut id) } {
        0.. => Ok(id),
        _ => Err(io::Error::last_os_error()),
    }
}

/// Has an event write to the ring that was mapped from `owner`, which must be of the same CPU, or thread.
pub(crate) fn write_to(event: &OwnedFd, owner: &OwnedFd) -> io::Result<()> {
    const PERF_EVENT_IOC_SET_OUTPUT: libc::c_ulong = 0x2405;
    ioctl(event, PERF_EVENT_IOC_SET_OUTPUT, owner.as_raw_fd())
}

fn ioctl(event: &OwnedFd, request: libc::c_ulong, argument: i32) -> io::Result<()> {
    // SAFETY: a request of perf events that takes a number, on an event that is open.
    match unsafe { libc::ioctl(event.as_raw_fd(), request, argument) } {
        0.. => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}
