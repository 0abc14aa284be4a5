//! The instructions on registers of two or four blocks, as safe methods of a value that proves the processor has them.
//!
//! As [`crate::kernel::isa`] for sixteen bytes, whose methods each set brings along ([`Wide::narrow`]): all `unsafe` of the wide
//! kernels is here and in [`super::lanes`].

use crate::kernel::isa::{Avx2, Avx512, Isa, V};
use core::arch::x86_64::*;

/// AES, carry-less multiplication and the moves around them, on [`Wide::LANES`] blocks at a time.
pub(crate) trait Wide: Copy {
    /// The same for one block.
    type Narrow: Isa;
    /// A register.
    type W: Copy;
    /// Blocks in a register.
    const LANES: usize;
    /// Bytes in a register.
    const WIDTH: usize = 16 * Self::LANES;

    /// The proof for one block.
    fn narrow(self) -> Self::Narrow;
    /// The proof for four blocks, if this is one.
    fn widest(self) -> Option<Vaes512>;
    /// All bits zero.
    fn zero(self) -> Self::W;
    /// A whole register from memory, at any alignment. Panics if `from` is of any other length.
    fn load(self, from: &[u8]) -> Self::W;
    /// A whole register to memory, at any alignment. Panics if `to` is of any other length.
    fn store(self, to: &mut [u8], value: Self::W);
    /// Up to a whole register of bytes, then zeros. Reads nothing else.
    fn load_partial(self, from: &[u8]) -> Self::W;
    /// The first `to.len()` bytes of `value`, at most all. Writes nothing else.
    fn store_partial(self, to: &mut [u8], value: Self::W);
    /// The first `count` bytes of `value`, then zeros.
    fn keep(self, value: Self::W, count: usize) -> Self::W;
    /// One block for each lane, from memory. Panics if there are fewer.
    fn blocks(self, from: &[V]) -> Self::W;
    /// The same block in each lane.
    fn broadcast(self, block: &V) -> Self::W;
    /// A block in the first lane, zeros behind.
    fn widen(self, block: V) -> Self::W;
    /// `value` with `block` in place of its last lane.
    fn with_last_lane(self, value: Self::W, block: V) -> Self::W;
    /// Exclusive or of all lanes.
    fn fold(self, value: Self::W) -> V;
    /// Exclusive or.
    fn xor(self, a: Self::W, b: Self::W) -> Self::W;
    /// Exclusive or of three.
    fn xor3(self, a: Self::W, b: Self::W, c: Self::W) -> Self::W;
    /// One AES round in each lane.
    fn round(self, state: Self::W, key: Self::W) -> Self::W;
    /// The last AES round in each lane.
    fn last_round(self, state: Self::W, key: Self::W) -> Self::W;
    /// As [`Isa::carryless`], in each lane.
    fn carryless<const HALVES: i32>(self, a: Self::W, b: Self::W) -> Self::W;
    /// As [`Isa::reverse`], in each lane.
    fn reverse(self, value: Self::W) -> Self::W;
    /// As [`Isa::low_to_high`], in each lane.
    fn low_to_high(self, value: Self::W) -> Self::W;
    /// As [`Isa::high_to_low`], in each lane.
    fn high_to_low(self, value: Self::W) -> Self::W;
    /// The last register of sixteen blocks of `value`, of which the last two blocks are those of `end`.
    fn but_last_two_blocks(self, value: Self::W, end: Self::W) -> Self::W;
    /// As [`crate::kernel::isa::pin`].
    fn pin(self, value: Self::W) -> Self::W;
    /// As [`crate::kernel::isa::pin_together`].
    fn pin_together(self, a: &mut Self::W, b: &mut Self::W, c: &mut Self::W);
}

/// VAES and VPCLMULQDQ on 32 bytes, with AVX2.
#[derive(Clone, Copy)]
pub(crate) struct Vaes256(Avx2);

impl Vaes256 {
    /// # Safety
    /// The processor and its system support AES-NI, PCLMULQDQ, AVX2, VAES and VPCLMULQDQ.
    #[inline(always)]
    pub(crate) unsafe fn new() -> Self {
        // SAFETY: as the caller says.
        Self(unsafe { Avx2::new() })
    }
}

/// VAES and VPCLMULQDQ on 64 bytes, with AVX-512F, VL and BW, and BMI2.
#[derive(Clone, Copy)]
pub(crate) struct Vaes512(Avx512);

impl Vaes512 {
    /// # Safety
    /// The processor and its system support AES-NI, PCLMULQDQ, AVX2, AVX-512F, VL and BW, BMI2, VAES and VPCLMULQDQ.
    #[inline(always)]
    pub(crate) unsafe fn new() -> Self {
        // SAFETY: as the caller says.
        Self(unsafe { Avx512::new() })
    }
}

/// A safe method of one instruction or a few.
macro_rules! method {
    ($name:ident($($argument:ident: $type:ty),*) -> $result:ty, $body:expr) => {
        #[inline(always)]
        fn $name(self, $($argument: $type),*) -> $result {
            // SAFETY: `self` proves the features.
            unsafe { $body }
        }
    };
}

/// The pieces of assembly that hold values in their places: a register's class asks for a function with its feature.
macro_rules! pins {
    ($name:ident, $w:ty, $class:ident, $feature:literal) => {
        mod $name {
            use core::arch::asm;
            use core::arch::x86_64::*;

            #[inline]
            #[target_feature(enable = $feature)]
            pub(super) fn pin(mut value: $w) -> $w {
                // SAFETY: an empty assembly text changes nothing.
                unsafe { asm!("/* {0} */", inout($class) value, options(nomem, nostack, preserves_flags)) };
                value
            }

            #[inline]
            #[target_feature(enable = $feature)]
            pub(super) fn pin_together(a: &mut $w, b: &mut $w, c: &mut $w) {
                // SAFETY: an empty assembly text changes nothing.
                unsafe {
                    asm!(
                        "/* {0} {1} {2} */",
                        inout($class) * a,
                        inout($class) * b,
                        inout($class) * c,
                        options(nostack, preserves_flags)
                    );
                }
            }
        }
    };
}

pins!(pins256, __m256i, ymm_reg, "avx2");
pins!(pins512, __m512i, zmm_reg, "avx512f");

/// What differs between the two sizes in nothing but names.
macro_rules! common {
    ($w:ty, $narrow:ty, $lanes:literal, $pins:ident, zero $zero:ident, load $load:ident, store $store:ident,
     broadcast $broadcast:ident, widen $widen:ident, with_last_lane $insert:ident $last:literal, xor $xor:ident,
     round $round:ident, last_round $last_round:ident, carryless $carryless:ident, shuffle $shuffle:ident,
     low_to_high $up:ident, high_to_low $down:ident) => {
        type Narrow = $narrow;
        type W = $w;
        const LANES: usize = $lanes;

        #[inline(always)]
        fn narrow(self) -> $narrow {
            self.0
        }

        method!(zero() -> $w, $zero());
        method!(broadcast(block: &V) -> $w, $broadcast(*block));
        method!(widen(block: V) -> $w, $widen(block));
        method!(with_last_lane(value: $w, block: V) -> $w, $insert::<$last>(value, block));
        method!(xor(a: $w, b: $w) -> $w, $xor(a, b));
        method!(round(state: $w, key: $w) -> $w, $round(state, key));
        method!(last_round(state: $w, key: $w) -> $w, $last_round(state, key));
        method!(low_to_high(value: $w) -> $w, $up::<8>(value));
        method!(high_to_low(value: $w) -> $w, $down::<8>(value));
        method!(reverse(value: $w) -> $w, {
            $shuffle(value, $broadcast(_mm_set_epi8(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15)))
        });
        #[inline(always)]
        fn carryless<const HALVES: i32>(self, a: $w, b: $w) -> $w {
            // SAFETY: `self` proves the features.
            unsafe { $carryless::<HALVES>(a, b) }
        }

        #[inline(always)]
        fn load(self, from: &[u8]) -> $w {
            assert!(from.len() == Self::WIDTH, "a whole register");
            // SAFETY: as many bytes can be read; `self` proves the features.
            unsafe { $load(from.as_ptr().cast()) }
        }

        #[inline(always)]
        fn store(self, to: &mut [u8], value: $w) {
            assert!(to.len() == Self::WIDTH, "a whole register");
            // SAFETY: as many bytes can be written; `self` proves the features.
            unsafe { $store(to.as_mut_ptr().cast(), value) }
        }

        #[inline(always)]
        fn blocks(self, from: &[V]) -> $w {
            assert!(from.len() >= Self::LANES, "a whole register");
            // SAFETY: as many blocks can be read; `self` proves the features.
            unsafe { $load(from.as_ptr().cast()) }
        }

        method!(pin(value: $w) -> $w, $pins::pin(value));
        method!(pin_together(a: &mut $w, b: &mut $w, c: &mut $w) -> (), $pins::pin_together(a, b, c));
    };
}

/// As many bytes set as a register has, and as many zeros: a window on them masks a register.
static MASKS: [u8; 64] = {
    let mut masks = [0; 64];
    let mut i = 0;
    while i < 32 {
        masks[i] = 0xff;
        i += 1;
    }
    masks
};

impl Wide for Vaes256 {
    common!(__m256i, Avx2, 2, pins256, zero _mm256_setzero_si256, load _mm256_loadu_si256, store _mm256_storeu_si256,
        broadcast _mm256_broadcastsi128_si256, widen _mm256_zextsi128_si256, with_last_lane _mm256_inserti128_si256 1,
        xor _mm256_xor_si256, round _mm256_aesenc_epi128, last_round _mm256_aesenclast_epi128,
        carryless _mm256_clmulepi64_epi128, shuffle _mm256_shuffle_epi8,
        low_to_high _mm256_bslli_epi128, high_to_low _mm256_bsrli_epi128);

    #[inline(always)]
    fn widest(self) -> Option<Vaes512> {
        None
    }

    method!(fold(value: __m256i) -> V, {
        _mm_xor_si128(_mm256_castsi256_si128(value), _mm256_extracti128_si256::<1>(value))
    });
    #[inline(always)]
    fn but_last_two_blocks(self, _value: __m256i, end: __m256i) -> __m256i {
        end
    }

    #[inline(always)]
    fn xor3(self, a: __m256i, b: __m256i, c: __m256i) -> __m256i {
        self.xor(self.xor(a, b), c)
    }

    #[inline(always)]
    fn load_partial(self, from: &[u8]) -> __m256i {
        match from.split_first_chunk() {
            Some((low, high)) => {
                let high = match high.first_chunk() {
                    Some(high) => self.0.load(high),
                    None => self.0.load_partial(high),
                };
                self.with_last_lane(self.widen(self.0.load(low)), high)
            }
            None => self.widen(self.0.load_partial(from)),
        }
    }

    #[inline(always)]
    fn store_partial(self, to: &mut [u8], value: __m256i) {
        // SAFETY: `self` proves the features.
        let (low, high) = unsafe { (_mm256_castsi256_si128(value), _mm256_extracti128_si256::<1>(value)) };
        match to.split_first_chunk_mut() {
            Some((low_to, high_to)) => {
                self.0.store(low_to, low);
                match high_to.first_chunk_mut() {
                    Some(high_to) => self.0.store(high_to, high),
                    None => self.0.store_partial(high_to, high),
                }
            }
            None => self.0.store_partial(to, low),
        }
    }

    #[inline(always)]
    fn keep(self, value: __m256i, count: usize) -> __m256i {
        let mask = self.load(&MASKS[32 - count..][..32]);
        // SAFETY: `self` proves the features.
        unsafe { _mm256_and_si256(value, mask) }
    }
}

/// The lowest `count` bits.
#[inline(always)]
fn low_bits(count: usize) -> __mmask64 {
    1_u64.unbounded_shl(count as u32).wrapping_sub(1)
}

impl Wide for Vaes512 {
    common!(__m512i, Avx512, 4, pins512, zero _mm512_setzero_si512, load _mm512_loadu_si512, store _mm512_storeu_si512,
        broadcast _mm512_broadcast_i32x4, widen _mm512_zextsi128_si512, with_last_lane _mm512_inserti32x4 3,
        xor _mm512_xor_si512, round _mm512_aesenc_epi128, last_round _mm512_aesenclast_epi128,
        carryless _mm512_clmulepi64_epi128, shuffle _mm512_shuffle_epi8,
        low_to_high _mm512_bslli_epi128, high_to_low _mm512_bsrli_epi128);

    #[inline(always)]
    fn widest(self) -> Option<Vaes512> {
        Some(self)
    }

    method!(xor3(a: __m512i, b: __m512i, c: __m512i) -> __m512i, _mm512_ternarylogic_epi64::<0x96>(a, b, c));
    method!(keep(value: __m512i, count: usize) -> __m512i, _mm512_maskz_mov_epi8(low_bits(count), value));
    method!(fold(value: __m512i) -> V, {
        let half = _mm256_xor_si256(_mm512_castsi512_si256(value), _mm512_extracti64x4_epi64::<1>(value));
        _mm_xor_si128(_mm256_castsi256_si128(half), _mm256_extracti128_si256::<1>(half))
    });
    method!(but_last_two_blocks(value: __m512i, end: __m512i) -> __m512i, {
        _mm512_inserti64x4::<1>(value, _mm512_castsi512_si256(end))
    });

    #[inline(always)]
    fn load_partial(self, from: &[u8]) -> __m512i {
        let mask = low_bits(from.len().min(64));
        // SAFETY: bytes that the mask leaves out are not read, so what is read is in `from`; `self` proves the features.
        unsafe { _mm512_maskz_loadu_epi8(mask, from.as_ptr().cast()) }
    }

    #[inline(always)]
    fn store_partial(self, to: &mut [u8], value: __m512i) {
        let mask = low_bits(to.len().min(64));
        // SAFETY: bytes that the mask leaves out are not written, so what is written is in `to`; `self` proves the features.
        unsafe { _mm512_mask_storeu_epi8(to.as_mut_ptr().cast(), mask, value) }
    }
}
