//! The key, the checks before and after the kernels, and the choice among implementations.

use crate::{Error, MAX_AAD, MAX_TEXT, Mask, Tag, portable};

#[cfg(target_arch = "x86_64")]
use crate::{cpu, kernel};

/// What a key runs on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Implementation {
    /// The crate `aes-gcm`, on every processor.
    Portable,
    /// AES-NI, PCLMULQDQ and AVX2.
    AesNi,
    /// The same with the byte masks of AVX-512VL and BW for the ends of texts.
    AesNiAvx512,
    /// VAES and VPCLMULQDQ on registers of 32 bytes, without AVX-512.
    Vaes,
    /// VAES and VPCLMULQDQ on registers of 64 bytes, with the byte masks of AVX-512BW.
    VaesAvx512,
}

impl Implementation {
    /// All of them, from the slowest to the fastest.
    pub const ALL: [Self; 5] = [Self::Portable, Self::AesNi, Self::AesNiAvx512, Self::Vaes, Self::VaesAvx512];

    /// The fastest that this machine has.
    #[must_use]
    pub fn best() -> Self {
        Self::ALL.into_iter().rev().find(|one| one.available()).unwrap_or(Self::Portable)
    }

    /// Whether this machine has it.
    #[must_use]
    pub fn available(self) -> bool {
        #[cfg(target_arch = "x86_64")]
        let available = match kernel::Set::of(self) {
            Some(set) => cpu::features().have(set.features()),
            None => true,
        };
        #[cfg(not(target_arch = "x86_64"))]
        let available = self == Self::Portable;
        available
    }
}

/// The bytes of a key: 16 for AES-128, 32 for AES-256.
pub trait KeyBytes: sealed::Bytes {}

impl KeyBytes for [u8; 16] {}
impl KeyBytes for [u8; 32] {}

mod sealed {
    use crate::portable;

    /// What [`super::Key`] needs of them.
    pub trait Bytes: AsRef<[u8]> + Sized {
        /// The portable key.
        fn portable(&self, header_protection_key: Option<&Self>) -> Portable;
    }

    /// Hides the type within.
    pub struct Portable(pub(super) portable::Key);

    impl Bytes for [u8; 16] {
        fn portable(&self, header_protection_key: Option<&Self>) -> Portable {
            Portable(portable::Key::new_128(self, header_protection_key))
        }
    }

    impl Bytes for [u8; 32] {
        fn portable(&self, header_protection_key: Option<&Self>) -> Portable {
            Portable(portable::Key::new_256(self, header_protection_key))
        }
    }
}

/// A key for sealing and opening, with what is computed from it once: about 6.8 KB, wiped when it is dropped.
///
/// Setting it up costs as much as sealing a few packets. A move copies its bytes and wipes nothing, as for all values in Rust:
/// put a key where it is to stay.
pub struct Key {
    engine: Engine,
    protects_headers: bool,
}

#[allow(clippy::large_enum_variant, reason = "both are large, and boxes would need an allocator")]
enum Engine {
    Portable(portable::Key),
    #[cfg(target_arch = "x86_64")]
    Kernel(kernel::Key),
}

/// A message of a batch: what goes in, and the place for what comes out.
#[derive(Debug)]
pub struct Packet<'a> {
    /// Never the same twice under one key.
    pub nonce: [u8; 12],
    /// Authenticated and not encrypted.
    pub aad: &'a [u8],
    /// Encrypted in place.
    pub text: &'a mut [u8],
    /// Where header protection's sample of 16 bytes begins, counted from the beginning of the text; it may reach into the tag.
    pub sample_at: Option<usize>,
    /// Written.
    pub tag: Tag,
    /// Written, if there is a sample.
    pub mask: Mask,
}

impl<'a> Packet<'a> {
    /// A packet without header protection.
    pub fn new(nonce: [u8; 12], aad: &'a [u8], text: &'a mut [u8]) -> Self {
        Self { nonce, aad, text, sample_at: None, tag: [0; 16], mask: [0; 16] }
    }

    /// The same, with header protection's sample at `sample_at`.
    #[must_use]
    pub fn with_mask(self, sample_at: usize) -> Self {
        Self { sample_at: Some(sample_at), ..self }
    }

    /// Whether the sample reaches into the tag.
    #[inline]
    fn samples_tag(&self) -> bool {
        self.sample_at.is_some_and(|at| self.text.len() < at + 16)
    }

    /// Whether all lengths are those of the other, and the sample's place.
    #[inline(always)]
    pub(crate) fn is_like(&self, other: &Packet<'_>) -> bool {
        self.text.len() == other.text.len()
            && self.aad.len() == other.aad.len()
            && self.sample_at == other.sample_at
    }
}

impl Key {
    /// On the fastest implementation that this machine has.
    pub fn new<K: KeyBytes>(key: &K, header_protection_key: Option<&K>) -> Self {
        Self::build(Implementation::best(), key, header_protection_key)
    }

    /// On an implementation of the caller's choice, if this machine has it.
    pub fn with_implementation<K: KeyBytes>(
        implementation: Implementation,
        key: &K,
        header_protection_key: Option<&K>,
    ) -> Option<Self> {
        implementation.available().then(|| Self::build(implementation, key, header_protection_key))
    }

    fn build<K: KeyBytes>(
        implementation: Implementation,
        key: &K,
        header_protection_key: Option<&K>,
    ) -> Self {
        let protects_headers = header_protection_key.is_some();
        #[cfg(target_arch = "x86_64")]
        {
            let second = header_protection_key.map_or(&[][..], AsRef::as_ref);
            if let Some(key) = kernel::Key::new(implementation, key.as_ref(), second) {
                return Self { engine: Engine::Kernel(key), protects_headers };
            }
        }
        #[cfg(not(target_arch = "x86_64"))]
        let _ = implementation;
        Self { engine: Engine::Portable(key.portable(header_protection_key).0), protects_headers }
    }

    /// Encrypts `text` in place and gives the tag.
    ///
    /// # Errors
    /// [`Error::TooLong`].
    pub fn seal(&self, nonce: &[u8; 12], aad: &[u8], text: &mut [u8]) -> Result<Tag, Error> {
        #[cfg(target_arch = "x86_64")]
        if let Engine::Kernel(key) = &self.engine
            && key.seals_short(aad, text, None)
        {
            return key.seal_short::<false>(nonce, aad, text, 0).map(|(tag, _)| tag);
        }
        check_lengths(aad, text)?;
        // The kernel stores into the result itself: what is moved there is copied as one byte and fifteen.
        let mut sealed = Ok([0; 16]);
        if let Ok(tag) = &mut sealed {
            self.seal_checked(nonce, aad, text, None, tag, &mut [0; 16])?;
        }
        sealed
    }

    /// As [`Key::seal`], and encrypts under the header protection key the 16 bytes that begin at `sample_at` of text and tag:
    /// header protection's mask (RFC 9001, section 5.4.3).
    ///
    /// # Errors
    /// [`Error::TooLong`], [`Error::NoSample`], [`Error::NoHeaderProtectionKey`].
    pub fn seal_with_mask(
        &self,
        nonce: &[u8; 12],
        aad: &[u8],
        text: &mut [u8],
        sample_at: usize,
    ) -> Result<(Tag, Mask), Error> {
        // Short ones with the sample in the text are within all limits.
        #[cfg(target_arch = "x86_64")]
        if let Engine::Kernel(key) = &self.engine
            && self.protects_headers
            && key.seals_short(aad, text, Some(sample_at))
        {
            return key.seal_short::<true>(nonce, aad, text, sample_at);
        }
        self.check(aad, text, Some(sample_at))?;
        let mut made = ([0; 16], [0; 16]);
        self.seal_checked(nonce, aad, text, Some(sample_at), &mut made.0, &mut made.1)?;
        Ok(made)
    }

    /// Seals all of `packets`, of any sizes; faster than one at a time. Packets of about the same size are fastest.
    ///
    /// # Errors
    /// Those of [`Key::seal_with_mask`], for any of the packets. Then none was sealed.
    pub fn seal_batch(&self, packets: &mut [Packet<'_>]) -> Result<(), Error> {
        let Some((first, rest)) = packets.split_first() else { return Ok(()) };
        self.check(first.aad, first.text, first.sample_at)?;
        let (mut alike, mut beyond) = (true, first.samples_tag());
        for packet in rest {
            // What holds for the first holds for those like it.
            if !packet.is_like(first) {
                self.check(packet.aad, packet.text, packet.sample_at)?;
                alike = false;
                beyond |= packet.samples_tag();
            }
        }
        match &self.engine {
            #[cfg(target_arch = "x86_64")]
            Engine::Kernel(key) => {
                key.seal_batch(packets, alike);
                for packet in packets.iter_mut().filter(|packet| beyond && packet.samples_tag()) {
                    if let Some(at) = packet.sample_at {
                        packet.mask = key.header_mask(&sample(packet.text, &packet.tag, at));
                    }
                }
            }
            Engine::Portable(_) => {
                for Packet { nonce, aad, text, sample_at, tag, mask } in packets {
                    self.seal_checked(nonce, aad, text, *sample_at, tag, mask)?;
                }
            }
        }
        Ok(())
    }

    /// Decrypts `text` in place, if `tag` is right. If it is not, the text is overwritten with zeros.
    ///
    /// # Errors
    /// [`Error::Unauthentic`]; [`Error::TooLong`].
    pub fn open(&self, nonce: &[u8; 12], aad: &[u8], text: &mut [u8], tag: &Tag) -> Result<(), Error> {
        check_lengths(aad, text)?;
        let right = match &self.engine {
            #[cfg(target_arch = "x86_64")]
            Engine::Kernel(key) => {
                key.open(kernel::Message { nonce, aad, text: &mut *text, sample_at: None }, tag)
            }
            Engine::Portable(key) => key.open(nonce, aad, text, tag),
        };
        if right {
            Ok(())
        } else {
            text.fill(0);
            Err(Error::Unauthentic)
        }
    }

    /// Header protection's mask for a sample of a packet that has come in.
    ///
    /// # Errors
    /// [`Error::NoHeaderProtectionKey`].
    pub fn header_mask(&self, sample: &[u8; 16]) -> Result<Mask, Error> {
        if !self.protects_headers {
            return Err(Error::NoHeaderProtectionKey);
        }
        Ok(self.header_mask_checked(sample))
    }

    fn header_mask_checked(&self, sample: &[u8; 16]) -> Mask {
        match &self.engine {
            #[cfg(target_arch = "x86_64")]
            Engine::Kernel(key) => key.header_mask(sample),
            Engine::Portable(key) => key.header_mask(sample),
        }
    }

    /// Writes the tag, and the mask if there is a sample.
    ///
    /// Inlined with all that leads to a kernel, since on packets of 64 bytes each call on the way costs a tenth. And what the
    /// kernel stores is handed on where it is: a tag returned by value was copied as one byte and fifteen, which wait until
    /// the store is done.
    #[inline(always)]
    fn seal_checked(
        &self,
        nonce: &[u8; 12],
        aad: &[u8],
        text: &mut [u8],
        sample_at: Option<usize>,
        tag: &mut Tag,
        mask: &mut Mask,
    ) -> Result<(), Error> {
        match &self.engine {
            #[cfg(target_arch = "x86_64")]
            Engine::Kernel(key) => {
                key.seal(kernel::Message { nonce, aad, text: &mut *text, sample_at }, tag, mask);
                if sample_at.is_none_or(|at| at + 16 <= text.len()) {
                    return Ok(());
                }
            }
            Engine::Portable(key) => *tag = key.seal(nonce, aad, text).ok_or(Error::TooLong)?,
        }
        if let Some(at) = sample_at {
            *mask = self.header_mask_beyond(text, tag, at);
        }
        Ok(())
    }

    /// Where the sample does not lie in the text.
    #[cold]
    fn header_mask_beyond(&self, text: &[u8], tag: &Tag, at: usize) -> Mask {
        self.header_mask_checked(&sample(text, tag, at))
    }

    /// What sealing refuses.
    #[inline]
    pub(crate) fn check(&self, aad: &[u8], text: &[u8], sample_at: Option<usize>) -> Result<(), Error> {
        check_lengths(aad, text)?;
        match sample_at {
            Some(_) if !self.protects_headers => Err(Error::NoHeaderProtectionKey),
            Some(at) if at > text.len() => Err(Error::NoSample),
            _ => Ok(()),
        }
    }
}

#[inline]
fn check_lengths(aad: &[u8], text: &[u8]) -> Result<(), Error> {
    if text.len() as u64 > MAX_TEXT || aad.len() as u64 > MAX_AAD { Err(Error::TooLong) } else { Ok(()) }
}

/// Sixteen bytes of text and tag, from `at` (at most the text's length) on.
fn sample(text: &[u8], tag: &Tag, at: usize) -> Mask {
    let mut sample = [0; 16];
    for (to, from) in sample.iter_mut().zip(text[at..].iter().chain(tag)) {
        *to = *from;
    }
    sample
}
