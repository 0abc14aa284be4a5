//! One perf ring buffer: memory that the kernel writes records to and we read them from.
//!
//! The protocol is that of `perf_event_open(2)`, "MMAP layout": the kernel advances `data_head` behind what it wrote,
//! we advance `data_tail` behind what we read.

use std::io;
use std::os::fd::{AsRawFd, OwnedFd};
use std::sync::atomic::{AtomicU64, Ordering};

/// Offsets in the first page (`struct perf_event_mmap_page`).
const DATA_HEAD: usize = 1024;
const DATA_TAIL: usize = 1032;

/// A mapped ring.
pub(crate) struct Ring {
    base: *mut u8,
    page: usize,
    size: usize,
    scratch: Vec<u8>,
}

// SAFETY: the mapping belongs to this value alone and the kernel's side is synchronised by head and tail.
unsafe impl Send for Ring {}

impl Ring {
    /// Maps `pages` (a power of two, of `page` bytes each) of data for the event.
    pub(crate) fn new(event: &OwnedFd, pages: usize, page: usize) -> io::Result<Ring> {
        // SAFETY: a new mapping of an open descriptor.
        let base = unsafe {
            libc::mmap(
                std::ptr::null_mut(),
                page * (pages + 1),
                libc::PROT_READ | libc::PROT_WRITE,
                libc::MAP_SHARED,
                event.as_raw_fd(),
                0,
            )
        };
        if base == libc::MAP_FAILED {
            return Err(io::Error::last_os_error());
        }
        Ok(Ring { base: base.cast(), page, size: page * pages, scratch: Vec::new() })
    }

    /// Calls `each` with every record (header included) that is complete now, or only with the first ones, of about `most` bytes. Returns whether it was with all.
    pub(crate) fn read(&mut self, most: usize, mut each: impl FnMut(&[u8])) -> bool {
        // SAFETY: both words are in the first page, aligned, and live as long as the mapping.
        let (head, tail) = unsafe {
            (
                &*(self.base.add(DATA_HEAD) as *const AtomicU64),
                &*(self.base.add(DATA_TAIL) as *const AtomicU64),
            )
        };
        let end = head.load(Ordering::Acquire);
        let first = tail.load(Ordering::Relaxed);
        let mut at = first;
        while at < end && at - first < most as u64 {
            let mut header = [0; 8];
            self.copy(at, &mut header);
            let size = u16::from_ne_bytes([header[6], header[7]]) as usize;
            if size < 8 {
                at = end; // never written by the kernel; do not loop on it
                break;
            }
            let start = (at % self.size as u64) as usize;
            if start + size <= self.size {
                // SAFETY: the range is inside the data pages, and the kernel does not write it before we move the tail.
                each(unsafe { std::slice::from_raw_parts(self.base.add(self.page + start), size) });
            } else {
                let mut scratch = std::mem::take(&mut self.scratch);
                scratch.resize(size, 0);
                self.copy(at, &mut scratch);
                each(&scratch);
                self.scratch = scratch;
            }
            at += size as u64;
        }
        tail.store(at, Ordering::Release);
        at == end
    }

    /// Copies from the data at running position `at`, around the end if need be.
    fn copy(&self, at: u64, into: &mut [u8]) {
        let start = (at % self.size as u64) as usize;
        let first = into.len().min(self.size - start);
        // SAFETY: both parts are inside the data pages; `into` is not.
        unsafe {
            std::ptr::copy_nonoverlapping(self.base.add(self.page + start), into.as_mut_ptr(), first);
            std::ptr::copy_nonoverlapping(
                self.base.add(self.page),
                into.as_mut_ptr().add(first),
                into.len() - first,
            );
        }
    }
}

impl Drop for Ring {
    fn drop(&mut self) {
        // SAFETY: the mapping is ours and no reference to it is left.
        unsafe { libc::munmap(self.base.cast(), self.size + self.page) };
    }
}
