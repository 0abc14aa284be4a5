//! What stands for content in a recording: content itself is never stored.

/// Bytes at an address of which `beginnings.contents` has a hash.
pub const CONTENT_BYTES: usize = 64;
/// Of a block that is filled, so far from its end is looked at as well: in the last bytes an allocator keeps the size of a block that is free.
pub const BEFORE_END: usize = 256;

/// From this bit on the column `linked` of `beginnings` tells of items that the one before pointed to.
pub const LED_TO: u32 = 8;

/// FNV-1a over words (Fowler, Noll, Vo), as `bpf/walk.h` computes it.
pub fn content_hash(words: impl IntoIterator<Item = u64>) -> u64 {
    const BASIS: u64 = 14_695_981_039_346_656_037;
    const PRIME: u64 = 1_099_511_628_211;
    words.into_iter().fold(BASIS, |hash, word| (hash ^ word).wrapping_mul(PRIME))
}

/// The hash of memory that was filled with one byte.
pub fn filled_hash(byte: u8) -> u64 {
    content_hash([u64::from_ne_bytes([byte; 8]); CONTENT_BYTES / 8])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_filled_with_another_byte_has_another_hash() {
        assert_eq!(filled_hash(0), content_hash([0; 8]));
        assert_eq!(filled_hash(0xff), content_hash([u64::MAX; 8]));
        assert_ne!(filled_hash(0), filled_hash(0xff));
        // The basis of FNV-1a, of no words.
        assert_eq!(content_hash([]), 0xcbf2_9ce4_8422_2325);
    }
}
