//! CPU samples with user registers, user stack and kernel frames: which events to open, and reading them in order.
//!
//! - `abi` — the kernel's constants and structs.
//! - `ring` — the memory shared with the kernel.
//! - `record` — bytes to values.
//!
//! What samples mean, unwinding and writing them down are left to `session`.

pub(crate) mod abi;
pub(crate) mod record;
mod ring;

use abi::Attr;
use record::Record;
use ring::Ring;
use std::io;
use std::os::fd::AsRawFd;

/// Whom to sample.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Scope {
    /// Every process on every CPU. Needs rights; loses no parent that forks all the time.
    Machine,
    /// One process and its descendants, from its next exec on.
    NextExec(u32),
    /// One running thread and what it starts.
    Thread(u32),
}

/// How samples are taken on this machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Plan {
    pub rate: u32,
    /// Bytes of user stack a sample, a multiple of 8.
    pub stack_bytes: u32,
    /// Hardware cycles rather than the CPU clock.
    pub cycles: bool,
    /// Kernel frames and time too.
    pub kernel: bool,
}

impl Plan {
    fn attr(&self, scope: Scope) -> Attr {
        let mut flags = abi::FLAG_DISABLED
            | abi::FLAG_EXCLUDE_HV
            | abi::FLAG_EXCLUDE_IDLE
            | abi::FLAG_MMAP
            | abi::FLAG_MMAP2
            | abi::FLAG_COMM
            | abi::FLAG_COMM_EXEC
            | abi::FLAG_TASK
            | abi::FLAG_WATERMARK
            | abi::FLAG_SAMPLE_ID_ALL
            | abi::FLAG_EXCLUDE_CALLCHAIN_USER
            | abi::FLAG_USE_CLOCKID;
        if !self.kernel {
            flags |= abi::FLAG_EXCLUDE_KERNEL;
        }
        match scope {
            Scope::Machine => {}
            Scope::NextExec(_) => flags |= abi::FLAG_INHERIT | abi::FLAG_ENABLE_ON_EXEC,
            Scope::Thread(_) => flags |= abi::FLAG_INHERIT,
        }
        let (kind, config, period_or_freq) = if self.cycles {
            flags |= abi::FLAG_FREQ;
            (abi::TYPE_HARDWARE, abi::HW_CPU_CYCLES, u64::from(self.rate))
        } else {
            (abi::TYPE_SOFTWARE, abi::SW_CPU_CLOCK, 1_000_000_000 / u64::from(self.rate))
        };
        Attr {
            kind,
            size: size_of::<Attr>() as u32,
            config,
            period_or_freq,
            sample_type: abi::SAMPLE_TID
                | abi::SAMPLE_TIME
                | abi::SAMPLE_CPU
                | abi::SAMPLE_PERIOD
                | abi::SAMPLE_CALLCHAIN
                | abi::SAMPLE_REGS_USER
                | abi::SAMPLE_STACK_USER,
            flags,
            wakeup_watermark: 64 << 10,
            sample_regs_user: abi::REGS_BP_SP_IP,
            sample_stack_user: self.stack_bytes,
            clockid: libc::CLOCK_MONOTONIC,
            ..Attr::default()
        }
    }

    /// Whether this machine lets us open such an event; the error if not. Opens one and closes it.
    pub(crate) fn probe(&self, scope: Scope) -> io::Result<()> {
        let (pid, cpu) = match scope {
            Scope::Machine => (-1, 0),
            Scope::NextExec(pid) | Scope::Thread(pid) => (pid as i32, -1),
        };
        abi::open(&self.attr(scope), pid, cpu).map(drop)
    }
}

/// Open events on every CPU, and the rings they write to.
pub(crate) struct Sampler {
    rings: Vec<Ring>,
    poll: Vec<libc::pollfd>,
}

impl Sampler {
    /// Opens the events, disabled until [`Sampler::enable`] (or the exec, for [`Scope::NextExec`]).
    ///
    /// Rings get `ring_bytes` each if the limit on locked memory allows it, else the largest power of two that it does.
    pub(crate) fn open(plan: &Plan, scopes: &[Scope], ring_bytes: usize) -> io::Result<Sampler> {
        let mut rings = Vec::new();
        // SAFETY: sysconf has no preconditions.
        let page = unsafe { libc::sysconf(libc::_SC_PAGESIZE) } as usize;
        let mut pages = (ring_bytes / page).next_power_of_two();
        for scope in scopes {
            let pid = match scope {
                Scope::Machine => -1,
                Scope::NextExec(pid) | Scope::Thread(pid) => *pid as i32,
            };
            for cpu in online_cpus()? {
                let fd = match abi::open(&plan.attr(*scope), pid, cpu) {
                    Ok(fd) => fd,
                    // A thread that ended meanwhile, or a CPU that went offline.
                    Err(error) if matches!(error.raw_os_error(), Some(libc::ESRCH | libc::ENODEV)) => {
                        continue;
                    }
                    Err(error) => return Err(error),
                };
                let ring = loop {
                    match Ring::new(fd.try_clone()?, pages) {
                        Ok(ring) => break ring,
                        Err(error)
                            if pages > 16
                                && matches!(error.raw_os_error(), Some(libc::EPERM | libc::ENOMEM)) =>
                        {
                            pages /= 2;
                        }
                        Err(error) => return Err(error),
                    }
                };
                rings.push(ring);
            }
        }
        if rings.is_empty() {
            return Err(io::Error::from_raw_os_error(libc::ESRCH));
        }
        let poll = rings
            .iter()
            .map(|ring| libc::pollfd { fd: ring.event().as_raw_fd(), events: libc::POLLIN, revents: 0 })
            .collect();
        Ok(Sampler { rings, poll })
    }

    /// The events' descriptors, such as to attach a BPF program that keeps or drops samples.
    pub(crate) fn events(&self) -> impl Iterator<Item = i32> + '_ {
        self.rings.iter().map(|ring| ring.event().as_raw_fd())
    }

    /// Starts sampling, for scopes that do not wait for an exec.
    pub(crate) fn enable(&self) -> io::Result<()> {
        const PERF_EVENT_IOC_ENABLE: libc::c_ulong = 0x2400;
        for event in self.events() {
            // SAFETY: an ioctl without argument on an event that we own.
            if unsafe { libc::ioctl(event, PERF_EVENT_IOC_ENABLE, 0) } < 0 {
                return Err(io::Error::last_os_error());
            }
        }
        Ok(())
    }

    /// Has [`Sampler::wait`] return when the process of this descriptor (a pidfd) has ended.
    pub(crate) fn watch(&mut self, pidfd: i32) {
        self.poll.truncate(self.rings.len());
        self.poll.push(libc::pollfd { fd: pidfd, events: libc::POLLIN, revents: 0 });
    }

    /// Waits until a ring has filled somewhat, the process watched has ended, a signal comes, or `timeout_ms` have passed.
    pub(crate) fn wait(&mut self, timeout_ms: i32) {
        // Once every process of an event has ended its descriptor always polls as hung up: that is no news.
        let live = self.poll.iter().any(|poll| poll.fd >= 0);
        // SAFETY: `poll` is a valid array of its own length.
        let ready =
            unsafe { libc::poll(self.poll.as_mut_ptr(), self.poll.len() as libc::nfds_t, timeout_ms) };
        if live && ready > 0 {
            for poll in &mut self.poll {
                if poll.revents & (libc::POLLHUP | libc::POLLERR) != 0 {
                    poll.fd = -1;
                }
            }
        }
    }

    /// Moves every record that is complete now to `into`, in no order across rings.
    pub(crate) fn drain(&mut self, into: &mut Vec<Record>) {
        for ring in &mut self.rings {
            ring.read(|bytes| into.extend(Record::parse(bytes)));
        }
    }
}

/// The CPUs that are online, from `/sys/devices/system/cpu/online` (such as `0-3,6`).
fn online_cpus() -> io::Result<Vec<i32>> {
    let text = std::fs::read_to_string("/sys/devices/system/cpu/online")?;
    let mut cpus = Vec::new();
    for range in text.trim().split(',') {
        let (first, last) = range.split_once('-').unwrap_or((range, range));
        if let (Ok(first), Ok(last)) = (first.parse::<i32>(), last.parse::<i32>()) {
            cpus.extend(first..=last);
        }
    }
    Ok(cpus)
}
