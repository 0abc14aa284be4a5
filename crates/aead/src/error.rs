//! What sealing and opening refuse.

use core::fmt;

/// Why a message was not sealed or opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Error {
    /// The text is longer than [`MAX_TEXT`](crate::MAX_TEXT) or the associated data longer than
    /// [`MAX_AAD`](crate::MAX_AAD). Nothing was done.
    TooLong,
    /// The tag is wrong: the message, its associated data or its nonce is not what was sealed. The text is wiped.
    Unauthentic,
    /// Header protection's sample does not lie within text and tag. Nothing was done.
    NoSample,
    /// Header protection was asked for and the key has none. Nothing was done.
    NoHeaderProtectionKey,
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::TooLong => "the message is longer than AES-GCM allows",
            Self::Unauthentic => "the message is not authentic",
            Self::NoSample => "header protection's sample lies outside of the message",
            Self::NoHeaderProtectionKey => "the key has no header protection key",
        })
    }
}

impl core::error::Error for Error {}
