//! AES-GCM (NIST SP 800-38D) with everything stitched into the gaps of AES, so that packets go as fast as long records.
//!
//! - [`Key`]: seals and opens in place, one message or several at once, with QUIC's header protection on the way
//! - [`quic`]: packets of QUIC (RFC 9001), where a caller cannot use a nonce twice
//! - [`Implementation`]: what a key runs on; chosen by what the processor has
//!
//! ```
//! use slowpath_aead::Key;
//!
//! let key = Key::new(&[7; 16], None);
//! let mut text = *b"to be kept secret";
//! let tag = key.seal(&[1; 12], b"header", &mut text)?;
//! assert_ne!(&text, b"to be kept secret");
//!
//! key.open(&[1; 12], b"header", &mut text, &tag)?;
//! assert_eq!(&text, b"to be kept secret");
//! # Ok::<(), slowpath_aead::Error>(())
//! ```
//!
//! Several at once, each with the mask of the 16 bytes from the third on, for QUIC's header protection:
//!
//! ```
//! use slowpath_aead::{Key, Packet};
//!
//! let key = Key::new(&[7; 16], Some(&[8; 16]));
//! let (mut one, mut two) = ([1; 1200], [2; 1200]);
//! let mut packets = [Packet::new([2; 12], b"header", &mut one), Packet::new([3; 12], b"header", &mut two)]
//!     .map(|packet| packet.with_mask(2));
//! key.seal_batch(&mut packets)?;
//! assert_ne!(packets[0].mask, packets[1].mask);
//! # Ok::<(), slowpath_aead::Error>(())
//! ```
//!
//! A nonce must never be used twice under one key: two messages under the same nonce give away the exclusive or of their texts
//! and the key of the hash. [`Key`] leaves that to its caller; [`quic`] does not.
//!
//! No allocation, and no standard library without the feature `std`. Inside: `kernel` is for x86-64, `portable` for the rest,
//! `cpu` tells which; `ffi` is the C ABI of `include/slowpath_aead.h`.

#![no_std]

#[cfg(feature = "std")]
extern crate std;

#[cfg(target_arch = "x86_64")]
mod cpu;
mod error;
#[cfg(feature = "ffi")]
pub mod ffi;
#[cfg(target_arch = "x86_64")]
mod kernel;
mod key;
mod portable;
pub mod quic;

pub use error::Error;
pub use key::{Implementation, Key, KeyBytes, Packet};

/// What proves that a message is whole and its sender had the key: 16 bytes.
pub type Tag = [u8; 16];

/// Header protection's block. QUIC uses its first five bytes (RFC 9001, section 5.4.1).
pub type Mask = [u8; 16];

/// The longest text of a message, in bytes: 2^36 − 32 (SP 800-38D, section 5.2.1.1).
pub const MAX_TEXT: u64 = (1 << 36) - 32;

/// The longest associated data, in bytes: 2^61 − 1 (the same section).
pub const MAX_AAD: u64 = (1 << 61) - 1;
