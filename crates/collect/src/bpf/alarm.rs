//! Waking up when a probe has reached a limit: every hit from then on costs the program as much as one that counts.

use libbpf_rs::{MapHandle, RingBuffer, RingBufferBuilder};
use std::time::Duration;

/// What a probe rings when it has reached a limit.
pub(crate) struct Alarm {
    ring: RingBuffer<'static>,
}

impl Alarm {
    /// By the BPF object's ring buffer `limits`.
    pub(super) fn of(limits: &MapHandle) -> Result<Alarm, libbpf_rs::Error> {
        let mut builder = RingBufferBuilder::new();
        builder.add(limits, |_| 0)?;
        Ok(Alarm { ring: builder.build()? })
    }

    /// Waits until a limit is reached, or for this long: libbpf's own waiting counts in ms, so that less would be none. Returns whether it could wait.
    pub(crate) fn wait(&self, at_most: Duration) -> bool {
        let mut asked = libc::pollfd { fd: self.ring.epoll_fd(), events: libc::POLLIN, revents: 0 };
        let at_most = libc::timespec {
            tv_sec: at_most.as_secs() as libc::time_t,
            tv_nsec: at_most.subsec_nanos() as libc::c_long,
        };
        // SAFETY: one valid pollfd, and a valid time; no signal mask.
        let polled = unsafe { libc::ppoll(&mut asked, 1, &at_most, std::ptr::null()) };
        let interrupted = || std::io::Error::last_os_error().raw_os_error() == Some(libc::EINTR);
        (polled >= 0 || interrupted()) && self.ring.consume().is_ok()
    }
}
