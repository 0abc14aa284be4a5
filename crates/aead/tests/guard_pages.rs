//! Nothing outside of the caller's buffers is read or written: texts, associated data, nonces and tags lie right before and
//! right behind pages that may not be touched.

#![cfg(all(unix, not(miri)))]

mod common;

use common::{array, bytes, implementations, key};
use slowpath_aead::{Key, Packet};

/// Memory between two pages that may not be touched.
struct Guarded {
    map: *mut u8,
    inner: usize,
}

const PAGE: usize = 4096;

impl Guarded {
    fn new(pages: usize) -> Self {
        let inner = pages * PAGE;
        // SAFETY: a new mapping, of which the first and last page become inaccessible.
        unsafe {
            let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS;
            let map = libc::mmap(std::ptr::null_mut(), inner + 2 * PAGE, libc::PROT_NONE, flags, -1, 0);
            assert_ne!(map, libc::MAP_FAILED, "{}", std::io::Error::last_os_error());
            let map: *mut u8 = map.cast();
            let changed = libc::mprotect(map.add(PAGE).cast(), inner, libc::PROT_READ | libc::PROT_WRITE);
            assert_eq!(changed, 0, "{}", std::io::Error::last_os_error());
            Self { map, inner }
        }
    }

    /// The first or the last `length` bytes, holding `content`.
    fn place(&mut self, at_end: bool, content: &[u8]) -> &mut [u8] {
        let offset = if at_end { self.inner - content.len() } else { 0 };
        // SAFETY: within the pages that may be touched, and borrowed from `self`.
        let bytes = unsafe { std::slice::from_raw_parts_mut(self.map.add(PAGE + offset), content.len()) };
        bytes.copy_from_slice(content);
        bytes
    }
}

impl Drop for Guarded {
    fn drop(&mut self) {
        // SAFETY: the mapping is ours, and nothing borrows from it any more.
        unsafe { libc::munmap(self.map.cast(), self.inner + 2 * PAGE) };
    }
}

/// Seals, alone and in a batch, and opens, with all that is handed over at the end or the beginning of a page.
fn check(key: &Key, length: usize, aad_length: usize, at_end: bool) {
    let (mut text_map, mut aad_map) = (Guarded::new(5), Guarded::new(1));
    let (mut nonce_map, mut tag_map) = (Guarded::new(1), Guarded::new(1));
    let text = bytes(length as u64, length);
    let aad = aad_map.place(at_end, &bytes(3, aad_length));
    let nonce: &[u8; 12] = nonce_map.place(at_end, &[9; 12]).first_chunk().expect("12 bytes");

    let placed = text_map.place(at_end, &text);
    let tag = if length >= 18 {
        key.seal_with_mask(nonce, aad, placed, length - 16).expect("within limits").0
    } else {
        key.seal(nonce, aad, placed).expect("within limits")
    };
    let sealed = placed.to_vec();
    let tag: &[u8; 16] = tag_map.place(at_end, &tag).first_chunk().expect("16 bytes");
    key.open(nonce, aad, placed, tag).expect("authentic");
    assert!(*placed == *text, "{length} bytes");

    let mut before = [1; 40];
    let mut packets = [
        Packet::new([1; 12], aad, &mut before),
        Packet::new(*nonce, aad, placed),
        Packet::new([2; 12], aad, &mut []),
    ];
    key.seal_batch(&mut packets).expect("within limits");
    assert_eq!(packets[1].tag, *tag, "{length} bytes");
    assert!(*packets[1].text == *sealed, "{length} bytes");
}

/// Seals eight alike, each between pages of its own, and compares with each alone.
fn check_alike(key: &Key, length: usize, aad_length: usize, at_end: bool) {
    let mut maps: [(Guarded, Guarded); 8] = std::array::from_fn(|_| (Guarded::new(1), Guarded::new(1)));
    let mut packets: Vec<Packet<'_>> = maps
        .iter_mut()
        .zip(0..)
        .map(|((text, aad), at)| {
            let (text, aad) =
                (text.place(at_end, &bytes(at, length)), aad.place(at_end, &bytes(3, aad_length)));
            Packet::new([at as u8; 12], aad, text).with_mask(length.min(2))
        })
        .collect();
    key.seal_batch(&mut packets).expect("within limits");
    for (packet, at) in packets.iter().zip(0..) {
        let mut text = bytes(at, length);
        let alone = key.seal_with_mask(&packet.nonce, packet.aad, &mut text, length.min(2));
        assert_eq!(alone, Ok((packet.tag, packet.mask)), "{length} bytes");
        assert!(*packet.text == *text, "{length} bytes");
    }
}

#[test]
fn nothing_outside_is_touched() {
    for on in implementations() {
        let short = key::<[u8; 16]>(on, &array(1), Some(&array(2)));
        let long = key::<[u8; 32]>(on, &array(1), Some(&array(2)));
        for key in [&short, &long] {
            for at_end in [false, true] {
                for length in (0..=420).chain(1430..=1450).chain([2047, 2049, 4095, 4096, 4097, 10_007]) {
                    check(key, length, length % 40, at_end);
                }
                for aad_length in 0..=66 {
                    check(key, 20, aad_length, at_end);
                    check_alike(key, 20, aad_length, at_end);
                }
                for length in 0..=300 {
                    check_alike(key, length, length % 20, at_end);
                }
            }
        }
    }
}
