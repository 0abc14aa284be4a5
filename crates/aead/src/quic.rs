//! Packets of QUIC protected as RFC 9001 says (section 5), with no way to use a nonce twice.
//!
//! [`PacketKey`] makes nonces from packet numbers, which must rise when sealing; applies and removes header protection; and
//! counts packets sealed and packets refused against the limits of section 6.6, beyond which it does nothing any more.
//! Deriving keys (section 5.1), key updates and what the fields of a header mean are left to the caller.

use crate::{Error as AeadError, Key, KeyBytes, Mask, Packet};
use core::fmt;
use core::ops::Range;
use zeroize::Zeroize;

/// Packets that may be sealed under one key: 2^23 (RFC 9001, section 6.6, for AES-GCM).
pub const CONFIDENTIALITY_LIMIT: u64 = 1 << 23;

/// Packets that may fail to open under one key: 2^52 (the same section).
pub const INTEGRITY_LIMIT: u64 = 1 << 52;

/// The highest packet number (RFC 9000, section 12.3).
pub const MAX_NUMBER: u64 = (1 << 62) - 1;

/// Bytes that a tag adds to a packet.
pub const TAG: usize = 16;

/// Packets that [`PacketKey::seal_batch`] hands to the kernel at a time.
const BATCH: usize = 8;

/// Why a packet was not sealed or opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Error {
    /// The packet number is not higher than the last one sealed, or higher than [`MAX_NUMBER`]. Nothing was done.
    Number,
    /// The header does not hold the low bytes of the packet number. Nothing was done.
    Header,
    /// The packet is too short for a packet number of four bytes, a sample and a tag (RFC 9001, section 5.4.2). Nothing was
    /// done.
    TooShort,
    /// The packet is not authentic; its text is wiped. Discard it.
    Unauthentic,
    /// [`CONFIDENTIALITY_LIMIT`] packets were sealed: the keys must be updated. Nothing was done.
    ConfidentialityLimit,
    /// [`INTEGRITY_LIMIT`] packets failed to open: the connection must be closed with AEAD_LIMIT_REACHED. Nothing was done.
    IntegrityLimit,
    /// The packet is longer than AES-GCM allows. Nothing was done.
    TooLong,
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Number => "the packet number does not rise",
            Self::Header => "the header holds another packet number",
            Self::TooShort => "the packet is too short for header protection",
            Self::Unauthentic => "the packet is not authentic",
            Self::ConfidentialityLimit => "the key has sealed as many packets as it may",
            Self::IntegrityLimit => "as many packets were refused under the key as may be",
            Self::TooLong => "the packet is longer than AES-GCM allows",
        })
    }
}

impl core::error::Error for Error {}

impl From<AeadError> for Error {
    fn from(error: AeadError) -> Self {
        match error {
            AeadError::Unauthentic => Self::Unauthentic,
            AeadError::TooLong => Self::TooLong,
            // The key has header protection, always; samples are looked at before.
            AeadError::NoSample | AeadError::NoHeaderProtectionKey => Self::TooShort,
        }
    }
}

/// What protects the packets of one direction at one encryption level.
pub struct PacketKey {
    key: Key,
    iv: [u8; 12],
    /// The lowest number that may be sealed.
    next: u64,
    sealed: u64,
    refused: u64,
}

/// A packet to be sealed in a batch.
#[derive(Debug)]
pub struct Outgoing<'a> {
    /// Its packet number.
    pub number: u64,
    /// The packet as [`PacketKey::seal`] takes it.
    pub bytes: &'a mut [u8],
    /// Where the packet number begins in it.
    pub number_at: usize,
}

impl PacketKey {
    /// From the key, the initialization vector and the header protection key (RFC 9001, section 5.1), of AES-128 or AES-256.
    pub fn new<K: KeyBytes>(key: &K, iv: &[u8; 12], header_protection_key: &K) -> Self {
        Self { key: Key::new(key, Some(header_protection_key)), iv: *iv, next: 0, sealed: 0, refused: 0 }
    }

    /// Packets sealed so far, at most [`CONFIDENTIALITY_LIMIT`].
    #[must_use]
    pub fn sealed(&self) -> u64 {
        self.sealed
    }

    /// Packets that failed to open so far, at most [`INTEGRITY_LIMIT`].
    #[must_use]
    pub fn refused(&self) -> u64 {
        self.refused
    }

    /// Protects a packet in place: header (not protected yet), payload, and [`TAG`] bytes of room at its end. The packet number
    /// begins at `number_at`, as long as the first byte's low two bits say.
    ///
    /// # Errors
    /// Any but [`Error::Unauthentic`] and [`Error::IntegrityLimit`].
    pub fn seal(&mut self, number: u64, packet: &mut [u8], number_at: usize) -> Result<(), Error> {
        let mut one = [Outgoing { number, bytes: packet, number_at }];
        self.check_outgoing(&one)?;
        let [Outgoing { bytes, .. }] = &mut one;
        let nonce = self.nonce(number);
        let (header, text, tag_at, sample_at) = parts(bytes, number_at);
        let (tag, mask) = self.key.seal_with_mask(&nonce, header, text, sample_at)?;
        tag_at.copy_from_slice(&tag);
        protect(header, number_at, &mask);
        (self.next, self.sealed) = (number + 1, self.sealed + 1);
        Ok(())
    }

    /// Protects several packets, of which the numbers rise; faster than one at a time.
    ///
    /// # Errors
    /// As [`PacketKey::seal`], for any of the packets. Then none was sealed.
    pub fn seal_batch(&mut self, packets: &mut [Outgoing<'_>]) -> Result<(), Error> {
        self.check_outgoing(packets)?;
        for some in packets.chunks_mut(BATCH) {
            let mut headers: [(&mut [u8], usize); BATCH] = Default::default();
            let mut tags: [&mut [u8]; BATCH] = Default::default();
            let mut texts: [&mut [u8]; BATCH] = Default::default();
            let mut nonces = [[0; 12]; BATCH];
            let mut samples = [0; BATCH];
            let count = some.len();
            for (at, one) in some.iter_mut().enumerate() {
                nonces[at] = self.nonce(one.number);
                let (header, text, tag_at, sample_at) = parts(one.bytes, one.number_at);
                (headers[at], texts[at]) = ((header, one.number_at), text);
                (tags[at], samples[at]) = (tag_at, sample_at);
                self.next = one.number + 1;
            }
            self.sealed += count as u64;
            let mut masks = [[0; 16]; BATCH];
            {
                let mut texts = texts.iter_mut();
                let mut batch: [Packet<'_>; BATCH] = core::array::from_fn(|at| {
                    let text: &mut [u8] = texts.next().map_or(&mut [], |text| text);
                    let packet = Packet::new(nonces[at], &*headers[at].0, text);
                    if at < count { packet.with_mask(samples[at]) } else { packet }
                });
                self.key.seal_batch(&mut batch[..count])?;
                for (at, packet) in batch[..count].iter().enumerate() {
                    tags[at].copy_from_slice(&packet.tag);
                    masks[at] = packet.mask;
                }
            }
            for ((header, number_at), mask) in headers[..count].iter_mut().zip(&masks) {
                protect(header, *number_at, mask);
            }
        }
        Ok(())
    }

    /// Removes the protection of a packet in place: gives its number, and where its payload is.
    ///
    /// `expected` is the highest number opened so far in this packet number space and one more; the number in the header is
    /// taken to be near it (RFC 9000, appendix A.3). Whether the number was seen before, and whether the reserved bits are zero,
    /// is left to the caller, as is discarding what is not authentic. Under a key update, [`PacketKey::key_phase`] tells which
    /// key to open with.
    ///
    /// # Errors
    /// [`Error::TooShort`], [`Error::Unauthentic`], [`Error::IntegrityLimit`], [`Error::TooLong`]; [`Error::Number`] where the
    /// number would be higher than [`MAX_NUMBER`].
    pub fn open(
        &mut self,
        expected: u64,
        packet: &mut [u8],
        number_at: usize,
    ) -> Result<(u64, Range<usize>), Error> {
        if self.refused >= INTEGRITY_LIMIT {
            return Err(Error::IntegrityLimit);
        }
        let mask = self.mask_of(packet, number_at)?;
        packet[0] ^= mask[0] & protected_bits(packet[0]);
        let length = number_length(packet[0]);
        let mut truncated = 0;
        for (byte, mask) in packet[number_at..number_at + length].iter_mut().zip(&mask[1..]) {
            *byte ^= mask;
            truncated = truncated << 8 | u64::from(*byte);
        }
        let number = nearest(expected, truncated, length);
        if number > MAX_NUMBER {
            return Err(Error::Number);
        }
        let begin = number_at + length;
        let end = packet.len() - TAG;
        let (header, rest) = packet.split_at_mut(begin);
        let (text, tag) = rest.split_at_mut(end - begin);
        let Some(tag) = tag.first_chunk() else { return Err(Error::TooShort) };
        match self.key.open(&self.nonce(number), header, text, tag) {
            Ok(()) => Ok((number, begin..end)),
            Err(error) => {
                self.refused += u64::from(error == AeadError::Unauthentic);
                Err(error.into())
            }
        }
    }

    /// The key phase bit of a packet with a short header that is still protected (RFC 9001, section 6.3). The packet stays as
    /// it is. Header protection's key outlives key updates, so any of the keys can tell.
    ///
    /// # Errors
    /// [`Error::TooShort`].
    pub fn key_phase(&self, packet: &[u8], number_at: usize) -> Result<bool, Error> {
        Ok((packet.first().ok_or(Error::TooShort)? ^ self.mask_of(packet, number_at)?[0]) & 0x04 != 0)
    }

    /// Header protection's mask of a packet that has come in.
    fn mask_of(&self, packet: &[u8], number_at: usize) -> Result<Mask, Error> {
        // The sample begins as if the packet number had four bytes (RFC 9001, section 5.4.2).
        let sample = packet.get(number_at.saturating_add(4)..).and_then(|rest| rest.first_chunk());
        match sample {
            Some(sample) if number_at > 0 => Ok(self.key.header_mask(sample)?),
            _ => Err(Error::TooShort),
        }
    }

    /// The initialization vector, exclusive or the number (RFC 9001, section 5.3).
    fn nonce(&self, number: u64) -> [u8; 12] {
        let mut nonce = self.iv;
        for (to, from) in nonce[4..].iter_mut().zip(number.to_be_bytes()) {
            *to ^= from;
        }
        nonce
    }

    fn check_outgoing(&self, packets: &[Outgoing<'_>]) -> Result<(), Error> {
        if packets.len() as u64 > CONFIDENTIALITY_LIMIT - self.sealed {
            return Err(Error::ConfidentialityLimit);
        }
        let mut next = self.next;
        for Outgoing { number, bytes, number_at } in packets {
            if *number < next || *number > MAX_NUMBER {
                return Err(Error::Number);
            }
            next = number + 1;
            let length = number_length(*bytes.first().ok_or(Error::TooShort)?);
            if *number_at == 0 || bytes.len() < number_at.saturating_add(4 + TAG) {
                return Err(Error::TooShort);
            }
            if bytes[*number_at..number_at + length] != number.to_be_bytes()[8 - length..] {
                return Err(Error::Header);
            }
            if bytes.len() as u64 > crate::MAX_TEXT {
                return Err(Error::TooLong);
            }
        }
        Ok(())
    }

    /// For tests of the limits, which no test reaches by sealing.
    #[doc(hidden)]
    pub fn pretend(&mut self, sealed: u64, refused: u64) {
        (self.sealed, self.refused) = (self.sealed.max(sealed), self.refused.max(refused));
    }
}

impl Drop for PacketKey {
    fn drop(&mut self) {
        self.iv.zeroize();
    }
}

/// Header, text, place for the tag, and where the sample begins in the text. The lengths are checked.
fn parts(packet: &mut [u8], number_at: usize) -> (&mut [u8], &mut [u8], &mut [u8], usize) {
    let length = number_length(packet[0]);
    let (header, rest) = packet.split_at_mut(number_at + length);
    let (text, tag_at) = rest.split_at_mut(rest.len() - TAG);
    (header, text, tag_at, 4 - length)
}

/// Applies header protection (RFC 9001, section 5.4.1). The header ends with the packet number.
fn protect(header: &mut [u8], number_at: usize, mask: &Mask) {
    header[0] ^= mask[0] & protected_bits(header[0]);
    for (byte, mask) in header[number_at..].iter_mut().zip(&mask[1..]) {
        *byte ^= mask;
    }
}

/// Four bits of a long header's first byte, five of a short one's.
fn protected_bits(first: u8) -> u8 {
    if first & 0x80 == 0 { 0x1f } else { 0x0f }
}

fn number_length(first: u8) -> usize {
    usize::from(first & 3) + 1
}

/// The number nearest to `expected` that ends in the `length` bytes `truncated` (RFC 9000, appendix A.3).
fn nearest(expected: u64, truncated: u64, length: usize) -> u64 {
    let expected = expected.min(MAX_NUMBER);
    let window = 1_u64 << (8 * length);
    let candidate = (expected & !(window - 1)) | truncated;
    if candidate + window / 2 <= expected && candidate + window <= MAX_NUMBER {
        candidate + window
    } else if candidate > expected + window / 2 && candidate >= window {
        candidate - window
    } else {
        candidate
    }
}
