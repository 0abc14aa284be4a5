//! Memory: copying and reading more than caches hold, and the first touch of a page.

use crate::best;
use std::hint::black_box;

/// Bytes of a large block.
pub(crate) const LARGE: usize = 64 << 20;
/// Pages that are touched in a piece, and their size.
const PAGES: usize = 1024;
const PAGE: usize = 4096;

/// Time of copying a large block, ns.
pub(crate) fn copy_ns() -> Result<f64, String> {
    let from = vec![1u8; LARGE];
    let mut to = vec![2u8; LARGE];
    Ok(best::ns(|| {
        to.copy_from_slice(&from);
        black_box(&to);
    }))
}

/// Time of reading a large block, ns.
pub(crate) fn read_ns() -> Result<f64, String> {
    let block = vec![1u64; LARGE / 8];
    Ok(best::ns(|| {
        // Four sums, so that none waits for the one before.
        let sums = block.chunks_exact(4).fold([0u64; 4], |sums, part| {
            [sums[0] ^ part[0], sums[1] ^ part[1], sums[2] ^ part[2], sums[3] ^ part[3]]
        });
        black_box(sums);
    }))
}

/// Time of the first write to a page, ns.
pub(crate) fn fault_ns() -> Result<f64, String> {
    let size = PAGES * PAGE;
    let mut failed = None;
    let piece = best::ns(|| {
        // SAFETY: a new private mapping, written to inside its size, and unmapped.
        unsafe {
            let base = libc::mmap(
                std::ptr::null_mut(),
                size,
                libc::PROT_READ | libc::PROT_WRITE,
                libc::MAP_PRIVATE | libc::MAP_ANONYMOUS,
                -1,
                0,
            );
            if base == libc::MAP_FAILED {
                failed = Some(std::io::Error::last_os_error().to_string());
                return;
            }
            // Large pages would hide it.
            libc::madvise(base, size, libc::MADV_NOHUGEPAGE);
            for page in 0..PAGES {
                base.cast::<u8>().add(page * PAGE).write_volatile(1);
            }
            libc::munmap(base, size);
        }
    });
    failed.map_or(Ok(piece / PAGES as f64), Err)
}
