//! CPU samples with user registers, user stack and kernel frames: which events to open, and reading them in order.
//!
//! - `abi` — the kernel's constants and structs.
//! - `ring` — the memory shared with the kernel.
//! - `record` — bytes to values.
//!
//! What samples mean, unwinding and writing them down are left to `session`.

pub(crate) mod abi;
pub(crate) mod record;
pub(crate) mod ring;

use crate::resources::{self, why, why_not_locked};
use abi::Attr;
use record::Record;
use ring::Ring;
use std::io;
use std::os::fd::{AsRawFd, OwnedFd};

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

/// The ring of a CPU where locked memory is not limited, bytes.
const RING_BYTES: usize = 4 << 20;
/// So many stacks fit into a ring: a turn brings several samples.
const STACKS_IN_RING: usize = 8;
/// A ring wakes us when so much is in it, or half of it.
const WATERMARK: usize = 64 << 10;
/// Descriptors that are left for the files of modules.
const FOR_MODULES: i32 = 6;

/// A period a little longer than that, ns: a program that does the same each ms, or each 200 µs, would else be met at the same
/// moment each time, and one half of what it does not be seen at all.
fn out_of_step(period: u64) -> u64 {
    /// No whole number of such programs' periods fits: after 321 samples all phases have been met.
    const STEPS: u64 = 321;
    period + period / STEPS
}

impl Plan {
    /// Bytes of stack that a ring of so many bytes has room for, a multiple of 8.
    fn stack_bytes_in(&self, ring_bytes: usize) -> u32 {
        self.stack_bytes.min((ring_bytes / STACKS_IN_RING) as u32)
    }

    fn attr(&self, scope: Scope, ring_bytes: usize) -> Attr {
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
            | abi::FLAG_USE_CLOCKID;
        if !self.kernel {
            flags |= abi::FLAG_EXCLUDE_KERNEL;
        }
        // A chain takes up to 1 KiB, which there is no room for beside a stack that is cut already.
        if self.stack_bytes_in(ring_bytes) < self.stack_bytes {
            flags |= abi::FLAG_EXCLUDE_CALLCHAIN_USER;
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
            (abi::TYPE_SOFTWARE, abi::SW_CPU_CLOCK, out_of_step(1_000_000_000 / u64::from(self.rate)))
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
            wakeup_watermark: WATERMARK.min(ring_bytes / 2) as u32,
            sample_regs_user: abi::REGS_BP_SP_IP,
            sample_stack_user: self.stack_bytes_in(ring_bytes),
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
        abi::open(&self.attr(scope, RING_BYTES), pid, cpu).map(drop)
    }
}

/// Open events on every CPU, and the rings they write to: one a CPU, whatever the number of events.
pub(crate) struct Sampler {
    rings: Vec<Ring>,
    /// Those that the rings were mapped from, in the same order, and then the others.
    events: Vec<OwnedFd>,
    poll: Vec<libc::pollfd>,
    /// Bytes of a ring.
    ring_bytes: usize,
    /// Bytes of user stack with each sample: fewer than planned where the rings are small.
    pub stack_bytes: u32,
    /// Of several scopes there were descriptors for so many.
    pub scopes: usize,
}

/// What stands in the way of a ring.
enum Obstacle {
    Event(io::Error),
    Ring(io::Error),
}

/// Opens an event; none for a thread that ended meanwhile, or a CPU that went offline.
fn event(plan: &Plan, scope: Scope, cpu: i32, ring_bytes: usize) -> io::Result<Option<OwnedFd>> {
    let pid = match scope {
        Scope::Machine => -1,
        Scope::NextExec(pid) | Scope::Thread(pid) => pid as i32,
    };
    match abi::open(&plan.attr(scope, ring_bytes), pid, cpu) {
        Ok(event) => match resources::keep(event, FOR_MODULES) {
            Some(event) => Ok(Some(event)),
            None => Err(io::Error::from_raw_os_error(libc::EMFILE)),
        },
        Err(error) if matches!(error.raw_os_error(), Some(libc::ESRCH | libc::ENODEV)) => Ok(None),
        Err(error) => Err(error),
    }
}

/// One event a CPU, of the first scope that has one there, with its ring of so many pages: (CPU, place of the scope, …).
fn first_events(
    plan: &Plan,
    scopes: &[Scope],
    cpus: &[i32],
    pages: usize,
    page: usize,
) -> Result<Vec<(i32, usize, OwnedFd, Ring)>, Obstacle> {
    let mut first = Vec::new();
    for cpu in cpus {
        for (number, scope) in scopes.iter().enumerate() {
            if let Some(event) = event(plan, *scope, *cpu, pages * page).map_err(Obstacle::Event)? {
                let ring = Ring::new(&event, pages, page).map_err(Obstacle::Ring)?;
                first.push((*cpu, number, event, ring));
                break;
            }
        }
    }
    Ok(first)
}

impl Sampler {
    /// Opens the events, disabled until [`Sampler::enable`] (or the exec, for [`Scope::NextExec`]).
    ///
    /// Rings are as large as the limit on locked memory allows, down to one page, and all of one size; stacks are copied as far as
    /// there is room. Where there are no descriptors for every scope the last ones are left out. The error says what stands
    /// in the way and what would help.
    pub(crate) fn open(plan: &Plan, scopes: &[Scope]) -> Result<Sampler, String> {
        // SAFETY: sysconf has no preconditions.
        let page = unsafe { libc::sysconf(libc::_SC_PAGESIZE) } as usize;
        let cpus = online_cpus().map_err(|error| format!("cannot list the CPUs: {}", why(&error)))?;
        let most = (RING_BYTES / page).next_power_of_two();
        let mut pages = most;
        // Without a limit of our own that goes a good way rings come out of what all processes of a user share.
        let mut shared = resources::may_lock() < (cpus.len() * 2 * WATERMARK) as u64;
        let first = loop {
            match first_events(plan, scopes, &cpus, pages, page) {
                // Half of what is left is left for others, so that several recordings at once each have some.
                Ok(_) if shared && pages > 1 && pages < most => (shared, pages) = (false, pages / 2),
                Ok(first) => break first,
                Err(Obstacle::Event(error)) => return Err(format!("perf_event_open: {}", why(&error))),
                Err(Obstacle::Ring(error)) => match error.raw_os_error() {
                    Some(libc::EPERM | libc::ENOMEM) if pages > 1 => pages /= 2,
                    Some(libc::EPERM) => return Err(why_not_locked()),
                    _ => return Err(format!("cannot map a ring: {}", why(&error))),
                },
            }
        };
        if first.is_empty() {
            return Err("none of its threads is running any more".to_owned());
        }
        let mut rings = Vec::new();
        let mut events = Vec::new();
        let mut at = Vec::new();
        for (cpu, scope, event, ring) in first {
            at.push((cpu, scope));
            rings.push(ring);
            events.push(event);
        }
        let mut opened = 0;
        'scopes: for (number, scope) in scopes.iter().enumerate() {
            let mut of_scope = Vec::new();
            for (place, (cpu, owner)) in at.iter().enumerate() {
                if *owner == number {
                    continue;
                }
                match event(plan, *scope, *cpu, pages * page) {
                    Ok(Some(event)) => {
                        abi::write_to(&event, &events[place])
                            .map_err(|error| format!("cannot share a ring: {}", why(&error)))?;
                        of_scope.push(event);
                    }
                    Ok(None) => {}
                    Err(error) if resources::is_short(&error) => break 'scopes,
                    Err(error) => return Err(format!("perf_event_open: {}", why(&error))),
                }
            }
            events.extend(of_scope);
            opened = number + 1;
        }
        let poll = events[..rings.len()]
            .iter()
            .map(|event| libc::pollfd { fd: event.as_raw_fd(), events: libc::POLLIN, revents: 0 })
            .collect();
        let stack_bytes = plan.stack_bytes_in(pages * page);
        Ok(Sampler { rings, events, poll, ring_bytes: pages * page, stack_bytes, scopes: opened })
    }

    /// What is less than planned because the rings are small, in a sentence.
    pub(crate) fn small(&self, plan: &Plan) -> Option<String> {
        let kib = self.ring_bytes >> 10;
        (self.stack_bytes < plan.stack_bytes).then(|| {
            format!(
                "only {} bytes of each sampled stack were copied, and samples may be lost, because the ring buffer \
                 is {kib} KiB per CPU: {}",
                self.stack_bytes,
                why_not_locked()
            )
        })
    }

    /// The events' descriptors, such as to attach a BPF program that keeps or drops samples.
    pub(crate) fn events(&self) -> impl Iterator<Item = i32> + '_ {
        self.events.iter().map(|event| event.as_raw_fd())
    }

    /// Starts sampling, for scopes that do not wait for an exec.
    pub(crate) fn enable(&self) -> io::Result<()> {
        self.events.iter().try_for_each(abi::enable)
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

    /// Moves the records that are complete now to `into`, in no order across rings: all of them, or the first of each ring, of `most`
    /// bytes together. Then returns up to which time nothing is missing.
    pub(crate) fn drain(&mut self, into: &mut Vec<Record>, most: usize) -> Option<u64> {
        let most = most / self.rings.len().max(1);
        let mut until = None;
        for ring in &mut self.rings {
            let before = into.len();
            if !ring.read(most, |bytes| into.extend(Record::parse(bytes))) {
                let last = into[before..].iter().map(Record::time).max().unwrap_or(0);
                until = Some(until.map_or(last, |until: u64| until.min(last)));
            }
        }
        until
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
