//! For every processor: AES-GCM of the crate `aes-gcm`, in constant time without tables.
//!
//! Nothing is stitched here; this is so that programs run everywhere, and a second opinion for the tests.

use crate::{Mask, Tag};
use aes::cipher::BlockCipherEncrypt;
use aes::{Aes128, Aes256};
use aes_gcm::{AeadInOut, Aes128Gcm, Aes256Gcm, KeyInit};

/// A key and that of header protection; both wiped on drop by their crates.
#[allow(clippy::large_enum_variant, reason = "both are large, and boxes would need an allocator")]
pub(crate) enum Key {
    /// Of 16 bytes.
    Short(Aes128Gcm, Option<Aes128>),
    /// Of 32 bytes.
    Long(Aes256Gcm, Option<Aes256>),
}

impl Key {
    pub(crate) fn new_128(key: &[u8; 16], header_protection_key: Option<&[u8; 16]>) -> Self {
        Self::Short(Aes128Gcm::new(key.into()), header_protection_key.map(|key| Aes128::new(key.into())))
    }

    pub(crate) fn new_256(key: &[u8; 32], header_protection_key: Option<&[u8; 32]>) -> Self {
        Self::Long(Aes256Gcm::new(key.into()), header_protection_key.map(|key| Aes256::new(key.into())))
    }

    /// Encrypts `text` in place. None if a length is beyond GCM's limits.
    pub(crate) fn seal(&self, nonce: &[u8; 12], aad: &[u8], text: &mut [u8]) -> Option<Tag> {
        let nonce = nonce.into();
        let tag = match self {
            Self::Short(key, _) => key.encrypt_inout_detached(nonce, aad, text.into()),
            Self::Long(key, _) => key.encrypt_inout_detached(nonce, aad, text.into()),
        };
        tag.ok().map(Into::into)
    }

    /// Whether the tag is right. If not, what is in `text` is of no meaning.
    #[must_use]
    pub(crate) fn open(&self, nonce: &[u8; 12], aad: &[u8], text: &mut [u8], tag: &Tag) -> bool {
        let (nonce, tag) = (nonce.into(), tag.into());
        match self {
            Self::Short(key, _) => key.decrypt_inout_detached(nonce, aad, text.into(), tag).is_ok(),
            Self::Long(key, _) => key.decrypt_inout_detached(nonce, aad, text.into(), tag).is_ok(),
        }
    }

    /// The sample encrypted under the header protection key; zeros if there is none.
    pub(crate) fn header_mask(&self, sample: &Mask) -> Mask {
        let mut block = (*sample).into();
        match self {
            Self::Short(_, Some(key)) => key.encrypt_block(&mut block),
            Self::Long(_, Some(key)) => key.encrypt_block(&mut block),
            _ => return [0; 16],
        }
        block.into()
    }
}
