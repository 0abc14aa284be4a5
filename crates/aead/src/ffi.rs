//! The C ABI. What each function does, its header says: `include/slowpath_aead.h`.
//!
//! Pointers and lengths become slices here and nowhere else. No function panics on what a caller may pass.

use crate::{Error, Key, Packet};
use core::mem::{MaybeUninit, align_of, size_of};
use core::{ptr, slice};
use zeroize::Zeroize;

const OK: i32 = 0;
const BAD_ARGUMENT: i32 = 5;
const NO_SAMPLE_AT: usize = usize::MAX;

/// Of the opaque key in the header.
const KEY_SIZE: usize = 6912;
const KEY_ALIGNMENT: usize = 64;
const _: () = assert!(size_of::<Key>() <= KEY_SIZE && align_of::<Key>() <= KEY_ALIGNMENT);

/// Packets handed to the kernel at a time.
const BATCH: usize = 16;

/// A message of a batch, as C has it.
#[repr(C)]
pub struct CPacket {
    nonce: [u8; 12],
    aad: *const u8,
    aad_length: usize,
    text: *mut u8,
    text_length: usize,
    sample_at: usize,
    tag: [u8; 16],
    mask: [u8; 16],
}

fn code(error: Error) -> i32 {
    match error {
        Error::TooLong => 1,
        Error::Unauthentic => 2,
        Error::NoSample => 3,
        Error::NoHeaderProtectionKey => 4,
    }
}

/// The bytes at a pointer; none where it is NULL and should not be.
///
/// # Safety
/// Unless NULL, there are `length` readable bytes, and no one writes to them for as long as `'a`.
unsafe fn bytes<'a>(from: *const u8, length: usize) -> Option<&'a [u8]> {
    if length == 0 {
        Some(&[])
    } else if from.is_null() || length > isize::MAX as usize {
        None
    } else {
        // SAFETY: as the caller says.
        Some(unsafe { slice::from_raw_parts(from, length) })
    }
}

/// As [`bytes`], to be written to.
///
/// # Safety
/// As for [`bytes`], writable, and no one else reads them either.
unsafe fn bytes_mut<'a>(from: *mut u8, length: usize) -> Option<&'a mut [u8]> {
    if length == 0 {
        Some(&mut [])
    } else if from.is_null() || length > isize::MAX as usize {
        None
    } else {
        // SAFETY: as the caller says.
        Some(unsafe { slice::from_raw_parts_mut(from, length) })
    }
}

/// Sets a key up.
///
/// # Safety
/// `key` is NULL or the place for a key; `bytes` is NULL or has `key_length` bytes; so has `header_protection_key`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn slowpath_aead_key_init(
    key: *mut Key,
    bytes: *const u8,
    key_length: usize,
    header_protection_key: *const u8,
) -> i32 {
    if key.is_null() || bytes.is_null() {
        return BAD_ARGUMENT;
    }
    // SAFETY: as the caller says; the place is large and aligned enough, as is asserted above.
    unsafe {
        let made = match key_length {
            16 => Key::new(&*bytes.cast::<[u8; 16]>(), header_protection_key.cast::<[u8; 16]>().as_ref()),
            32 => Key::new(&*bytes.cast::<[u8; 32]>(), header_protection_key.cast::<[u8; 32]>().as_ref()),
            _ => return BAD_ARGUMENT,
        };
        let mut made = MaybeUninit::new(made);
        ptr::copy_nonoverlapping(made.as_ptr(), key, 1);
        // The key has moved; its bytes here would stay on the stack.
        made.zeroize();
    }
    OK
}

/// Overwrites a key with zeros.
///
/// # Safety
/// `key` is NULL or was set up, in a place of the header's size.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn slowpath_aead_key_wipe(key: *mut Key) {
    if !key.is_null() {
        // SAFETY: a key that was set up is dropped; its place may be overwritten then. The whole place, which is larger than
        // a key of ours: C sees one object, and nothing says which of its bytes are meant.
        unsafe {
            ptr::drop_in_place(key);
            (*key.cast::<MaybeUninit<[u8; KEY_SIZE]>>()).zeroize();
        }
    }
}

/// Encrypts in place.
///
/// # Safety
/// `key` was set up; pointers are NULL or lead to as many bytes as the header says.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn slowpath_aead_seal(
    key: *const Key,
    nonce: *const [u8; 12],
    aad: *const u8,
    aad_length: usize,
    text: *mut u8,
    text_length: usize,
    tag: *mut [u8; 16],
) -> i32 {
    // SAFETY: as the caller says.
    let arguments = unsafe {
        (key.as_ref(), nonce.as_ref(), bytes(aad, aad_length), bytes_mut(text, text_length), tag.as_mut())
    };
    let (Some(key), Some(nonce), Some(aad), Some(text), Some(tag)) = arguments else { return BAD_ARGUMENT };
    match key.seal(nonce, aad, text) {
        Ok(made) => {
            *tag = made;
            OK
        }
        Err(error) => code(error),
    }
}

/// Encrypts in place and makes header protection's mask.
///
/// # Safety
/// `key` was set up; pointers are NULL or lead to as many bytes as the header says.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn slowpath_aead_seal_with_mask(
    key: *const Key,
    nonce: *const [u8; 12],
    aad: *const u8,
    aad_length: usize,
    text: *mut u8,
    text_length: usize,
    sample_at: usize,
    tag: *mut [u8; 16],
    mask: *mut [u8; 16],
) -> i32 {
    // SAFETY: as the caller says.
    let (inputs, outputs) = unsafe {
        (
            (key.as_ref(), nonce.as_ref(), bytes(aad, aad_length), bytes_mut(text, text_length)),
            (tag.as_mut(), mask.as_mut()),
        )
    };
    let ((Some(key), Some(nonce), Some(aad), Some(text)), (Some(tag), Some(mask))) = (inputs, outputs) else {
        return BAD_ARGUMENT;
    };
    match key.seal_with_mask(nonce, aad, text, sample_at) {
        Ok(made) => {
            (*tag, *mask) = made;
            OK
        }
        Err(error) => code(error),
    }
}

/// Encrypts several in place.
///
/// # Safety
/// `key` was set up; there are `count` packets, of which the pointers are NULL or lead to as many bytes as they say.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn slowpath_aead_seal_batch(
    key: *const Key,
    packets: *mut CPacket,
    count: usize,
) -> i32 {
    if count == 0 {
        return OK;
    }
    // SAFETY: as the caller says.
    let Some(key) = (unsafe { key.as_ref() }) else { return BAD_ARGUMENT };
    if packets.is_null() || count > isize::MAX as usize / size_of::<CPacket>() {
        return BAD_ARGUMENT;
    }
    // SAFETY: as the caller says.
    let packets = unsafe { slice::from_raw_parts_mut(packets, count) };
    for packet in &*packets {
        // SAFETY: as the caller says. Both are let go at once.
        let (aad, text) =
            unsafe { (bytes(packet.aad, packet.aad_length), bytes_mut(packet.text, packet.text_length)) };
        let (Some(aad), Some(text)) = (aad, text) else { return BAD_ARGUMENT };
        let sample_at = (packet.sample_at != NO_SAMPLE_AT).then_some(packet.sample_at);
        if let Err(error) = key.check(aad, text, sample_at) {
            return code(error);
        }
    }
    for some in packets.chunks_mut(BATCH) {
        let count = some.len();
        let mut each = some.iter();
        let mut batch: [Packet<'_>; BATCH] = core::array::from_fn(|_| {
            let Some(packet) = each.next() else { return Packet::new([0; 12], &[], &mut []) };
            // SAFETY: as the caller says.
            let (aad, text) =
                unsafe { (bytes(packet.aad, packet.aad_length), bytes_mut(packet.text, packet.text_length)) };
            let one = Packet::new(packet.nonce, aad.unwrap_or_default(), text.unwrap_or_default());
            if packet.sample_at == NO_SAMPLE_AT { one } else { one.with_mask(packet.sample_at) }
        });
        if let Err(error) = key.seal_batch(&mut batch[..count]) {
            return code(error);
        }
        let made = batch.map(|packet| (packet.tag, packet.mask));
        for (packet, (tag, mask)) in some.iter_mut().zip(made) {
            packet.tag = tag;
            if packet.sample_at != NO_SAMPLE_AT {
                packet.mask = mask;
            }
        }
    }
    OK
}

/// Decrypts in place if the tag is right.
///
/// # Safety
/// `key` was set up; pointers are NULL or lead to as many bytes as the header says.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn slowpath_aead_open(
    key: *const Key,
    nonce: *const [u8; 12],
    aad: *const u8,
    aad_length: usize,
    text: *mut u8,
    text_length: usize,
    tag: *const [u8; 16],
) -> i32 {
    // SAFETY: as the caller says.
    let arguments = unsafe {
        (key.as_ref(), nonce.as_ref(), bytes(aad, aad_length), bytes_mut(text, text_length), tag.as_ref())
    };
    let (Some(key), Some(nonce), Some(aad), Some(text), Some(tag)) = arguments else { return BAD_ARGUMENT };
    key.open(nonce, aad, text, tag).map_or_else(code, |()| OK)
}

/// Header protection's mask of a sample.
///
/// # Safety
/// `key` was set up; pointers are NULL or lead to 16 bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn slowpath_aead_header_mask(
    key: *const Key,
    sample: *const [u8; 16],
    mask: *mut [u8; 16],
) -> i32 {
    // SAFETY: as the caller says.
    let arguments = unsafe { (key.as_ref(), sample.as_ref(), mask.as_mut()) };
    let (Some(key), Some(sample), Some(mask)) = arguments else { return BAD_ARGUMENT };
    match key.header_mask(sample) {
        Ok(made) => {
            *mask = made;
            OK
        }
        Err(error) => code(error),
    }
}
