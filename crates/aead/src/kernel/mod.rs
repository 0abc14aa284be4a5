//! The kernels for x86-64: AES-NI and PCLMULQDQ, with everything else in the gaps of AES.
//!
//! - [`isa`]: the instructions, as safe methods of a proof that the processor has them
//! - [`aes`], [`ghash`]: key expansion, round-1 caching's table, sums of products
//! - [`schedule`]: all that is computed once a key
//! - [`group`]: eight counter blocks side by side, with gaps for other work
//! - [`single`], [`batch`]: one message, several messages
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

use crate::cpu::Features;
use crate::{Packet, Tag};
use isa::{Avx2, Avx512, Block, Isa, V};
use schedule::Schedule;

/// A message to be sealed or opened in place.
pub(crate) struct Message<'a> {
    pub(crate) nonce: &'a [u8; 12],
    pub(crate) aad: &'a [u8],
    pub(crate) text: &'a mut [u8],
    /// Where header protection's sample begins; all of it lies in the text.
    pub(crate) sample_at: Option<usize>,
}

/// What sealing gives.
struct Sealed {
    tag: V,
    mask: V,
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

/// Which compilation of the kernels to call.
#[derive(Clone, Copy)]
struct Path {
    avx512: bool,
    long_key: bool,
}

/// Compiles a kernel for each set of instructions and number of rounds, and a function that chooses among them.
///
/// Safety of the calls: a [`Path`] says AVX-512 only where [`Features`] do, and there is none without AES-NI, PCLMULQDQ and
/// AVX2 ([`Key::new`]).
macro_rules! dispatch {
    ($name:ident = $module:ident::$kernel:ident, ($($argument:ident: $type:ty),*) -> $result:ty, |$isa:ident, $value:ident| $convert:expr) => {
        fn $name(path: Path, $($argument: $type),*) -> $result {
            #[target_feature(enable = "aes,pclmulqdq,avx2")]
            fn avx2<const ROUNDS: usize>($($argument: $type),*) -> $result {
                // SAFETY: this function has the features.
                let $isa = unsafe { Avx2::new() };
                let $value = $module::$kernel::<_, ROUNDS>($isa, $($argument),*);
                $convert
            }
            #[target_feature(enable = "aes,pclmulqdq,avx2,avx512f,avx512vl,avx512bw")]
            fn avx512<const ROUNDS: usize>($($argument: $type),*) -> $result {
                // SAFETY: this function has the features.
                let $isa = unsafe { Avx512::new() };
                let $value = $module::$kernel::<_, ROUNDS>($isa, $($argument),*);
                $convert
            }
            // SAFETY: the processor and its system have the features that the path names, as the macro says.
            unsafe {
                match (path.avx512, path.long_key) {
                    (false, false) => avx2::<10>($($argument),*),
                    (false, true) => avx2::<14>($($argument),*),
                    (true, false) => avx512::<10>($($argument),*),
                    (true, true) => avx512::<14>($($argument),*),
                }
            }
        }
    };
}

fn bytes<I: Isa>(isa: I, value: V) -> Block {
    let mut bytes = [0; 16];
    isa.store(&mut bytes, value);
    bytes
}

dispatch!(build = schedule::build, (key: &[u8], header_protection_key: &[u8]) -> Schedule, |isa, schedule| schedule);
dispatch!(seal = single::seal, (key: &Schedule, message: Message<'_>) -> (Tag, Block),
    |isa, sealed| (bytes(isa, sealed.tag), bytes(isa, sealed.mask)));
dispatch!(open = single::open, (key: &Schedule, message: Message<'_>, tag: &Tag) -> bool, |isa, right| right);
dispatch!(seal_batch = batch::seal, (key: &Schedule, packets: &mut [Packet<'_>]) -> (), |isa, done| done);
dispatch!(header_mask = schedule::header_mask, (key: &Schedule, sample: &Block) -> Block, |isa, mask| bytes(isa, mask));

impl Key {
    /// For the set of instructions that `features` have, if there is a kernel for it. Keys are of 16 or 32 bytes; that of
    /// header protection is as long or empty.
    pub(crate) fn new(features: Features, key: &[u8], header_protection_key: &[u8]) -> Option<Self> {
        let path = Path { avx512: features == Features::AesAvx512, long_key: key.len() == 32 };
        match features {
            Features::None => None,
            Features::AesAvx2 | Features::AesAvx512 => {
                Some(Self { schedule: build(path, key, header_protection_key), path })
            }
        }
    }

    /// Seals; the sample, if any, lies in the text.
    pub(crate) fn seal(&self, message: Message<'_>) -> (Tag, Block) {
        seal(self.path, &self.schedule, message)
    }

    /// Seals each; where the sample does not lie in the text, the mask is left as it was.
    pub(crate) fn seal_batch(&self, packets: &mut [Packet<'_>]) {
        seal_batch(self.path, &self.schedule, packets);
    }

    /// Decrypts; whether the tag is right. If it is not, the text must be wiped.
    #[must_use]
    pub(crate) fn open(&self, message: Message<'_>, tag: &Tag) -> bool {
        open(self.path, &self.schedule, message, tag)
    }

    /// The sample encrypted under the header protection key.
    pub(crate) fn header_mask(&self, sample: &Block) -> Block {
        header_mask(self.path, &self.schedule, sample)
    }
}
