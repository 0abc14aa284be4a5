//! Processes that close descriptors for the keeper, because a close may wait in the kernel for long. Like the keeper they make only the calls of
//! [`raw`], or others that allocate nothing. Which descriptors are held, and when one is closed, is left to `keeper`.

use crate::raw;
use std::os::fd::{AsRawFd, IntoRawFd, OwnedFd};
use std::sync::atomic::{AtomicU32, Ordering};

/// Processes that share our table of descriptors and close what they are told to.
pub(crate) struct Closers {
    tell: OwnedFd,
    orders: OwnedFd,
    started: u32,
    /// Orders that are not yet done, in memory that all of them share.
    open: &'static AtomicU32,
}

impl Closers {
    /// Starts so many; none if there can be none.
    pub(crate) fn start(most: u32) -> Option<Closers> {
        let (tell, orders) = raw::mailbox().ok()?;
        let (read, shared) = (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_SHARED | libc::MAP_ANONYMOUS);
        // SAFETY: new memory of a page, zeroed, which is never unmapped.
        let open = unsafe {
            let memory = libc::mmap(std::ptr::null_mut(), size_of::<AtomicU32>(), read, shared, -1, 0);
            if memory == libc::MAP_FAILED {
                return None;
            }
            &*memory.cast::<AtomicU32>()
        };
        let mut closers = Closers { tell, orders, started: 0, open };
        closers.started = (0..most).filter(|_| closers.start_one()).count() as u32;
        Some(closers)
    }

    /// Starts a process that closes descriptors by number until one is below 0. It looks now and then whether we live: who shares a table does not see
    /// the other end of a socket in it close. Whether there could be one.
    fn start_one(&self) -> bool {
        let every = libc::timeval { tv_sec: 1, tv_usec: 0 };
        let flags = (libc::CLONE_FILES | libc::SIGCHLD) as libc::c_ulong;
        let socket = self.orders.as_raw_fd();
        // SAFETY: like a fork: the child has memory of its own, and makes system calls on its stack only. Whoever sends a number gave that
        // descriptor up.
        unsafe {
            let (size, parent) = (size_of_val(&every) as libc::socklen_t, libc::getpid());
            libc::setsockopt(socket, libc::SOL_SOCKET, libc::SO_RCVTIMEO, (&raw const every).cast(), size);
            let child = libc::syscall(libc::SYS_clone, flags, 0, 0, 0, 0);
            if child != 0 {
                return child > 0;
            }
            loop {
                match raw::receive_any(socket, 0) {
                    Some((fd, _)) if fd < 0 => break,
                    Some((fd, _)) => {
                        libc::close(fd);
                        self.open.fetch_sub(1, Ordering::Relaxed);
                    }
                    None if libc::getppid() != parent => break,
                    None => {}
                }
            }
            libc::_exit(0);
        }
    }

    /// Has one of them close it; a further process, where all are busy.
    pub(crate) fn close(&self, fd: OwnedFd) {
        if self.open.fetch_add(1, Ordering::Relaxed) < self.started
            && raw::send_number_now(self.tell.as_raw_fd(), fd.as_raw_fd())
        {
            std::mem::forget(fd); // it is theirs
            return;
        }
        self.open.fetch_sub(1, Ordering::Relaxed);
        close_elsewhere(fd);
    }

    /// Has them end when they have done what they were told.
    pub(crate) fn end(&self) {
        (0..self.started).for_each(|_| raw::send_number(self.tell.as_raw_fd(), -1));
    }
}

/// Closes a descriptor in a process of its own, for that may take long; here, where there can be none.
pub(crate) fn close_elsewhere(fd: OwnedFd) {
    let fd = fd.into_raw_fd();
    // The table of descriptors is shared, so that no other process holds what is to be closed.
    let flags = (libc::CLONE_FILES | libc::SIGCHLD) as libc::c_ulong;
    // SAFETY: like a fork: the child has memory of its own, and makes two system calls. The descriptor is ours alone.
    unsafe {
        let child = libc::syscall(libc::SYS_clone, flags, 0, 0, 0, 0);
        if child <= 0 {
            libc::close(fd);
        }
        if child == 0 {
            libc::_exit(0);
        }
    }
}
