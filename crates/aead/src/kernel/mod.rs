//! The kernels for x86-64: AES and carry-less multiplication, with everything else in the gaps of AES.
//!
//! - [`isa`]: the instructions, as safe methods of a proof that the processor has them
//! - [`aes`], [`ghash`]: key expansion, round-1 caching's table, sums of products
//! - [`schedule`]: all that is computed once a key
//! - [`group`]: eight counter blocks side by side, with gaps for other work
//! - [`single`], [`batch`]: one message, several messages
//! - [`wide`]: the same again for processors with VAES, which take two or four blocks in a register
//!
//! This file chooses the set of instructions and the number of rounds, once a call. Lengths and samples are checked before, in
//! the crate's root.

mod aes;
mod batch;
mod ghash;
mod group;
mod isa;
mod schedule;
mod single;
mod wide;

use crate::cpu::Features;
use crate::{Error, Implementation, Mask, Packet, Tag};
use isa::{Avx2, Avx512, Block, V};
use schedule::Schedule;
use wide::isa::{Vaes256, Vaes512};

/// A message to be sealed or opened in place.
pub(crate) struct Message<'a> {
    pub(crate) nonce: &'a [u8; 12],
    pub(crate) aad: &'a [u8],
    pub(crate) text: &'a mut [u8],
    /// Where header protection's sample begins.
    pub(crate) sample_at: Option<usize>,
}

/// Calls with the constant `N` that equals `$count`, which must be one of those listed.
macro_rules! exact {
    ($count:expr, $($n:literal)+, |N| $owner:ident.$method:ident::<ROUNDS, { N + 1 }, N>$arguments:tt) => {
        match $count {
            $($n => $owner.$method::<ROUNDS, { $n + 1 }, $n>$arguments,)+
            _ => unreachable!("groups have at most eight lanes"),
        }
    };
    ($count:expr, $($n:literal)+, |N| $owner:ident.$method:ident::<ROUNDS, N, N>$arguments:tt) => {
        match $count {
            $($n => $owner.$method::<ROUNDS, $n, $n>$arguments,)+
            _ => unreachable!("groups have at most eight lanes"),
        }
    };
    ($count:expr, $($n:literal)+, |N| $owner:ident.$method:ident::<ROUNDS, N>$arguments:tt) => {
        match $count {
            $($n => $owner.$method::<ROUNDS, $n>$arguments,)+
            _ => unreachable!("groups have at most eight lanes"),
        }
    };
}
use exact;

/// A key for one of the sets of instructions.
pub(crate) struct Key {
    schedule: Schedule,
    path: Path,
}

/// A set of instructions for which the kernels are compiled.
#[derive(Clone, Copy)]
pub(crate) enum Set {
    Avx2,
    Avx512,
    Vaes256,
    Vaes512,
}

impl Set {
    /// That of an implementation; none for the portable one.
    pub(crate) fn of(implementation: Implementation) -> Option<Self> {
        match implementation {
            Implementation::Portable => None,
            Implementation::AesNi => Some(Self::Avx2),
            Implementation::AesNiAvx512 => Some(Self::Avx512),
            Implementation::Vaes => Some(Self::Vaes256),
            Implementation::VaesAvx512 => Some(Self::Vaes512),
        }
    }

    /// What the machine must have for it.
    pub(crate) fn features(self) -> Features {
        match self {
            Self::Avx2 => Features::AES_AVX2,
            Self::Avx512 => Features::AES_AVX2.and(Features::AVX512),
            Self::Vaes256 => Features::AES_AVX2.and(Features::VAES),
            Self::Vaes512 => Features::AES_AVX2.and(Features::AVX512).and(Features::VAES),
        }
    }
}

/// Which compilation of the kernels to call.
#[derive(Clone, Copy)]
struct Path {
    set: Set,
    long_key: bool,
}

/// Compiles a kernel for each set of instructions and number of rounds, and a function that chooses among them: that of the
/// first path for sixteen bytes a register, that of the second for more.
///
/// Safety of the calls: the set of a [`Path`] is that of an implementation that was found available ([`Key::new`]).
macro_rules! dispatch {
    ($name:ident = $narrow:ident::$kernel:ident | $wide:ident, ($($argument:ident: $type:ty),*) -> $result:ty, |$value:ident| $convert:expr) => {
        #[inline(always)]
        fn $name(path: Path, $($argument: $type),*) -> $result {
            #[target_feature(enable = "aes,pclmulqdq,avx2")]
            fn avx2<const ROUNDS: usize>($($argument: $type),*) -> $result {
                // SAFETY: this function has the features.
                let isa = unsafe { Avx2::new() };
                let $value = $narrow::$kernel::<_, ROUNDS>(isa, $($argument),*);
                $convert
            }
            #[target_feature(enable = "aes,pclmulqdq,avx2,avx512f,avx512vl,avx512bw,bmi2")]
            fn avx512<const ROUNDS: usize>($($argument: $type),*) -> $result {
                // SAFETY: this function has the features.
                let isa = unsafe { Avx512::new() };
                let $value = $narrow::$kernel::<_, ROUNDS>(isa, $($argument),*);
                $convert
            }
            #[target_feature(enable = "aes,pclmulqdq,avx2,vaes,vpclmulqdq")]
            fn vaes256<const ROUNDS: usize>($($argument: $type),*) -> $result {
                // SAFETY: this function has the features.
                let isa = unsafe { Vaes256::new() };
                let $value = $wide::$kernel::<_, ROUNDS>(isa, $($argument),*);
                $convert
            }
            #[target_feature(enable = "aes,pclmulqdq,avx2,vaes,vpclmulqdq,avx512f,avx512vl,avx512bw,bmi2")]
            fn vaes512<const ROUNDS: usize>($($argument: $type),*) -> $result {
                // SAFETY: this function has the features.
                let isa = unsafe { Vaes512::new() };
                let $value = $wide::$kernel::<_, ROUNDS>(isa, $($argument),*);
                $convert
            }
            // SAFETY: the processor and its system have the features that the path names, as the macro says.
            unsafe {
                match (path.set, path.long_key) {
                    (Set::Avx2, false) => avx2::<10>($($argument),*),
                    (Set::Avx2, true) => avx2::<14>($($argument),*),
                    (Set::Avx512, false) => avx512::<10>($($argument),*),
                    (Set::Avx512, true) => avx512::<14>($($argument),*),
                    (Set::Vaes256, false) => vaes256::<10>($($argument),*),
                    (Set::Vaes256, true) => vaes256::<14>($($argument),*),
                    (Set::Vaes512, false) => vaes512::<10>($($argument),*),
                    (Set::Vaes512, true) => vaes512::<14>($($argument),*),
                }
            }
        }
    };
}

/// Seals a message that is short for registers of 64 bytes ([`wide::short::fits`]), and makes its mask if `MASK` says so.
///
/// Never fails. It takes and gives what [`crate::Key::seal_with_mask`] does, so that one jumps to the other.
#[inline(always)]
fn seal_short<const MASK: bool>(
    path: Path,
    key: &Schedule,
    nonce: &[u8; 12],
    aad: &[u8],
    text: &mut [u8],
    sample_at: usize,
) -> Result<(Tag, Mask), Error> {
    #[target_feature(enable = "aes,pclmulqdq,avx2,vaes,vpclmulqdq,avx512f,avx512vl,avx512bw,bmi2")]
    fn vaes512<const ROUNDS: usize, const MASK: bool>(
        key: &Schedule,
        nonce: &[u8; 12],
        aad: &[u8],
        text: &mut [u8],
        sample_at: usize,
    ) -> Result<(Tag, Mask), Error> {
        // SAFETY: this function has the features.
        let isa = unsafe { Vaes512::new() };
        let (tag, mask) = wide::short::seal::<_, ROUNDS, MASK>(isa, key, nonce, aad, text, sample_at);
        Ok((bytes(tag), bytes(mask)))
    }
    // SAFETY: as for the macro's functions.
    unsafe {
        if path.long_key {
            vaes512::<14, MASK>(key, nonce, aad, text, sample_at)
        } else {
            vaes512::<10, MASK>(key, nonce, aad, text, sample_at)
        }
    }
}

/// The bytes of a register.
#[inline(always)]
fn bytes(value: V) -> Block {
    // SAFETY: both are sixteen bytes, of which every value is valid.
    unsafe { core::mem::transmute(value) }
}

dispatch!(build = schedule::build | wide, (key: &[u8], header_protection_key: &[u8]) -> Schedule, |schedule| schedule);
dispatch!(seal = single::seal | wide, (key: &Schedule, message: Message<'_>, tag: &mut Tag, mask: &mut Block) -> (), |done| done);
dispatch!(open = single::open | wide, (key: &Schedule, message: Message<'_>, tag: &Tag) -> bool, |right| right);
dispatch!(seal_batch = batch::seal_batch | wide, (key: &Schedule, packets: &mut [Packet<'_>], alike: bool) -> (), |done| done);
dispatch!(header_mask = schedule::header_mask | wide, (key: &Schedule, sample: &Block) -> Block, |mask| bytes(mask));

impl Key {
    /// For an implementation that this machine has, if it is one of the kernels. Keys are of 16 or 32 bytes; that of header
    /// protection is as long or empty.
    pub(crate) fn new(
        implementation: Implementation,
        key: &[u8],
        header_protection_key: &[u8],
    ) -> Option<Self> {
        let path = Path { set: Set::of(implementation)?, long_key: key.len() == 32 };
        Some(Self { schedule: build(path, key, header_protection_key), path })
    }

    /// Seals; where the sample does not lie in the text, the mask is left as it was.
    #[inline(always)]
    pub(crate) fn seal(&self, message: Message<'_>, tag: &mut Tag, mask: &mut Block) {
        seal(self.path, &self.schedule, message, tag, mask);
    }

    /// Whether [`Key::seal_short`] seals such a message.
    #[inline(always)]
    pub(crate) fn seals_short(&self, aad: &[u8], text: &[u8], sample_at: Option<usize>) -> bool {
        matches!(self.path.set, Set::Vaes512) && wide::short::fits::<Vaes512>(aad, text, sample_at)
    }

    /// Seals a short message; the mask means nothing unless `MASK` says that there is a sample. Never fails.
    #[inline(always)]
    pub(crate) fn seal_short<const MASK: bool>(
        &self,
        nonce: &[u8; 12],
        aad: &[u8],
        text: &mut [u8],
        sample_at: usize,
    ) -> Result<(Tag, Mask), Error> {
        seal_short::<MASK>(self.path, &self.schedule, nonce, aad, text, sample_at)
    }

    /// Seals each; where the sample does not lie in the text, the mask is left as it was. `alike` says that all are like the
    /// first ([`Packet::is_like`]), as far as that is known.
    #[inline(always)]
    pub(crate) fn seal_batch(&self, packets: &mut [Packet<'_>], alike: bool) {
        seal_batch(self.path, &self.schedule, packets, alike);
    }

    /// Decrypts; whether the tag is right. If it is not, the text must be wiped.
    #[inline(always)]
    #[must_use]
    pub(crate) fn open(&self, message: Message<'_>, tag: &Tag) -> bool {
        open(self.path, &self.schedule, message, tag)
    }

    /// The sample encrypted under the header protection key.
    #[inline(always)]
    pub(crate) fn header_mask(&self, sample: &Block) -> Block {
        header_mask(self.path, &self.schedule, sample)
    }
}
