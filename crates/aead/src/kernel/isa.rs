//! The instructions that the kernels use, as safe methods of a value that proves the processor has them.
//!
//! All of the kernels' `unsafe` is in this file and in the dispatch of [`super`]. An [`Isa`] value can only be made by an unsafe
//! function, whose caller promises the features; so whoever holds one may use the instructions.
//! What differs between the sets of instructions is how a partial block is read, written and cut, and how accumulators
//! add up; everything else is shared.

use core::arch::x86_64::*;

/// Sixteen bytes in a register.
pub(crate) type V = __m128i;

/// A block in memory.
pub(crate) type Block = [u8; 16];

/// Keeps a value in a register and in its place among the instructions around.
///
/// LLVM's scheduler would take apart what the kernels interleave by hand (AES rounds of eight lanes with the
/// multiplications of GHASH). An empty piece of assembly that "changes" the register holds each value in its place.
#[inline(always)]
pub(crate) fn pin(value: V) -> V {
    #[cfg(not(miri))]
    {
        let mut value = value;
        // SAFETY: an empty assembly text changes nothing.
        unsafe {
            core::arch::asm!("/* {0} */", inout(xmm_reg) value, options(nomem, nostack, preserves_flags));
        }
        value
    }
    #[cfg(miri)]
    value
}

/// As [`pin`], of three that belong together; moreover no read from memory is moved across.
#[inline(always)]
pub(crate) fn pin_together(a: &mut V, b: &mut V, c: &mut V) {
    #[cfg(not(miri))]
    // SAFETY: an empty assembly text changes nothing.
    unsafe {
        core::arch::asm!(
            "/* {0} {1} {2} */",
            inout(xmm_reg) * a,
            inout(xmm_reg) * b,
            inout(xmm_reg) * c,
            options(nostack, preserves_flags)
        );
    }
    #[cfg(miri)]
    let _ = (a, b, c);
}

/// The same reference, of which LLVM does not know that it is the same: what is read through it is not read ahead of a loop,
/// only to be spilled to the stack.
#[inline(always)]
pub(crate) fn reread<T>(from: &T) -> &T {
    #[cfg(not(miri))]
    {
        let mut from: *const T = from;
        // SAFETY: an empty assembly text changes nothing, so the pointer is the reference it was.
        unsafe {
            core::arch::asm!("/* {0} */", inout(reg) from, options(readonly, nostack, preserves_flags));
            &*from
        }
    }
    #[cfg(miri)]
    from
}

/// AES, carry-less multiplication and the moves around them, on sixteen bytes.
pub(crate) trait Isa: Copy {
    /// All bits zero.
    #[inline(always)]
    fn zero(self) -> V {
        // SAFETY: `self` proves the features.
        unsafe { _mm_setzero_si128() }
    }

    /// Two halves as a vector.
    #[inline(always)]
    fn halves(self, low: u64, high: u64) -> V {
        // SAFETY: `self` proves the features.
        unsafe { _mm_set_epi64x(high.cast_signed(), low.cast_signed()) }
    }

    /// A nonce with the counter 0 behind it.
    #[inline(always)]
    fn nonce(self, nonce: &[u8; 12]) -> V {
        let [a, b, c, d, e, f, g, h, i, j, k, l] = *nonce;
        let low = u64::from_le_bytes([a, b, c, d, e, f, g, h]);
        let high = u32::from_le_bytes([i, j, k, l]);
        // SAFETY: `self` proves the features.
        unsafe { _mm_insert_epi32::<2>(_mm_cvtsi64_si128(low.cast_signed()), high.cast_signed()) }
    }

    /// Four bytes, then zeros.
    #[inline(always)]
    fn word(self, word: u32) -> V {
        // SAFETY: `self` proves the features.
        unsafe { _mm_cvtsi32_si128(word.cast_signed()) }
    }

    /// A block from memory, at any alignment.
    #[inline(always)]
    fn load(self, from: &Block) -> V {
        // SAFETY: `from` is sixteen readable bytes; `self` proves the features.
        unsafe { _mm_loadu_si128(from.as_ptr().cast()) }
    }

    /// A block to memory, at any alignment.
    #[inline(always)]
    fn store(self, to: &mut Block, value: V) {
        // SAFETY: `to` is sixteen writable bytes; `self` proves the features.
        unsafe { _mm_storeu_si128(to.as_mut_ptr().cast(), value) }
    }

    /// Exclusive or.
    #[inline(always)]
    fn xor(self, a: V, b: V) -> V {
        // SAFETY: `self` proves the features.
        unsafe { _mm_xor_si128(a, b) }
    }

    /// One AES round.
    #[inline(always)]
    fn round(self, state: V, key: V) -> V {
        // SAFETY: `self` proves the features.
        unsafe { _mm_aesenc_si128(state, key) }
    }

    /// The last AES round.
    #[inline(always)]
    fn last_round(self, state: V, key: V) -> V {
        // SAFETY: `self` proves the features.
        unsafe { _mm_aesenclast_si128(state, key) }
    }

    /// The sixteen bytes in the opposite order: GCM's blocks are numbers with the first byte highest.
    #[inline(always)]
    fn reverse(self, value: V) -> V {
        // SAFETY: `self` proves the features.
        unsafe { _mm_shuffle_epi8(value, _mm_set_epi8(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15)) }
    }

    /// Each 32-bit column made of the four bytes of `value` that `bytes` names.
    #[inline(always)]
    fn broadcast_bytes(self, value: V, bytes: u32) -> V {
        // SAFETY: `self` proves the features.
        unsafe { _mm_shuffle_epi8(value, _mm_set1_epi32(bytes.cast_signed())) }
    }

    /// Moved up by four bytes, zeros below.
    #[inline(always)]
    fn up_four_bytes(self, value: V) -> V {
        // SAFETY: `self` proves the features.
        unsafe { _mm_slli_si128::<4>(value) }
    }

    /// The low half moved to the high one, zeros below.
    #[inline(always)]
    fn low_to_high(self, value: V) -> V {
        // SAFETY: `self` proves the features.
        unsafe { _mm_slli_si128::<8>(value) }
    }

    /// The high half moved to the low one, zeros above.
    #[inline(always)]
    fn high_to_low(self, value: V) -> V {
        // SAFETY: `self` proves the features.
        unsafe { _mm_srli_si128::<8>(value) }
    }

    /// The halves exchanged.
    #[inline(always)]
    fn swap_halves(self, value: V) -> V {
        // SAFETY: `self` proves the features.
        unsafe { _mm_shuffle_epi32::<0b0100_1110>(value) }
    }

    /// Carry-less product of one half of each: bit 0 of `HALVES` chooses that of `a`, bit 4 that of `b`.
    #[inline(always)]
    fn carryless<const HALVES: i32>(self, a: V, b: V) -> V {
        // SAFETY: `self` proves the features.
        unsafe { _mm_clmulepi64_si128::<HALVES>(a, b) }
    }

    /// Whether two blocks are equal, found in a time that does not depend on where they differ.
    #[inline(always)]
    fn equal(self, a: V, b: V) -> bool {
        let difference = self.xor(a, b);
        // SAFETY: `self` proves the features.
        unsafe { _mm_testz_si128(difference, difference) == 1 }
    }

    /// Exclusive or of three.
    fn xor3(self, a: V, b: V, c: V) -> V;

    /// Up to fifteen bytes, then zeros. Reads nothing else.
    fn load_partial(self, from: &[u8]) -> V;

    /// The first `to.len()` (up to fifteen) bytes of `value`. Writes nothing else.
    fn store_partial(self, to: &mut [u8], value: V);

    /// The first `count` (up to sixteen) bytes of `value`, then zeros.
    fn keep(self, value: V, count: usize) -> V;
}

/// AES-NI, PCLMULQDQ and AVX2.
#[derive(Clone, Copy)]
pub(crate) struct Avx2(());

impl Avx2 {
    /// # Safety
    /// The processor and its system support AES-NI, PCLMULQDQ and AVX2.
    #[inline(always)]
    pub(crate) unsafe fn new() -> Self {
        Self(())
    }
}

/// Sixteen bytes set and sixteen zeros: a window on them masks a vector.
static MASKS: [u8; 32] = {
    let mut masks = [0; 32];
    let mut i = 0;
    while i < 16 {
        masks[i] = 0xff;
        i += 1;
    }
    masks
};

impl Isa for Avx2 {
    #[inline(always)]
    fn xor3(self, a: V, b: V, c: V) -> V {
        self.xor(self.xor(a, b), c)
    }

    // From two reads that overlap, in registers: a detour through memory would wait for the store.
    #[inline(always)]
    fn load_partial(self, from: &[u8]) -> V {
        let count = from.len();
        if let (Some(first), Some(last)) = (from.first_chunk(), from.last_chunk()) {
            let high = u64::from_le_bytes(*last).unbounded_shr(8 * (16 - count) as u32);
            self.halves(u64::from_le_bytes(*first), high)
        } else if let (Some(first), Some(last)) = (from.first_chunk(), from.last_chunk()) {
            let high = u64::from(u32::from_le_bytes(*last)) << (8 * (count - 4));
            self.halves(u64::from(u32::from_le_bytes(*first)) | high, 0)
        } else if let (Some(first), Some(last)) = (from.first(), from.last()) {
            let low = u64::from(*first) | u64::from(from[count / 2]) << (8 * (count / 2));
            self.halves(low | u64::from(*last) << (8 * (count - 1)), 0)
        } else {
            self.zero()
        }
    }

    #[inline(always)]
    fn store_partial(self, to: &mut [u8], value: V) {
        // SAFETY: `self` proves the features.
        let (low, high) = unsafe {
            (_mm_cvtsi128_si64(value).cast_unsigned(), _mm_extract_epi64::<1>(value).cast_unsigned())
        };
        let whole = u128::from(low) | u128::from(high) << 64;
        let count = to.len();
        if let Some(first) = to.first_chunk_mut() {
            *first = low.to_le_bytes();
            if let Some(last) = to.last_chunk_mut() {
                *last = ((whole >> (8 * (count - 8))) as u64).to_le_bytes();
            }
        } else if let Some(first) = to.first_chunk_mut() {
            *first = (low as u32).to_le_bytes();
            if let Some(last) = to.last_chunk_mut() {
                *last = ((low >> (8 * (count - 4))) as u32).to_le_bytes();
            }
        } else {
            for (at, byte) in to.iter_mut().enumerate() {
                *byte = (low >> (8 * at)) as u8;
            }
        }
    }

    #[inline(always)]
    fn keep(self, value: V, count: usize) -> V {
        match MASKS[16 - count..].first_chunk() {
            // SAFETY: `self` proves the features.
            Some(mask) => unsafe { _mm_and_si128(value, self.load(mask)) },
            None => value,
        }
    }
}

/// As [`Avx2`], with the byte masks of AVX-512VL and BW for partial blocks and its three-way logic for sums.
#[derive(Clone, Copy)]
pub(crate) struct Avx512(());

impl Avx512 {
    /// # Safety
    /// The processor and its system support AES-NI, PCLMULQDQ, AVX2, AVX-512F, VL and BW, and BMI2.
    #[inline(always)]
    pub(crate) unsafe fn new() -> Self {
        Self(())
    }
}

/// The lowest `count` bits.
#[inline(always)]
fn low_bits(count: usize) -> __mmask16 {
    ((1_u32 << count) - 1) as __mmask16
}

impl Isa for Avx512 {
    #[inline(always)]
    fn xor3(self, a: V, b: V, c: V) -> V {
        // SAFETY: `self` proves the features.
        unsafe { _mm_ternarylogic_epi64::<0x96>(a, b, c) }
    }

    #[inline(always)]
    fn load_partial(self, from: &[u8]) -> V {
        let mask = low_bits(from.len().min(16));
        // SAFETY: bytes that the mask leaves out are not read, so what is read is in `from`; `self` proves the features.
        unsafe { _mm_maskz_loadu_epi8(mask, from.as_ptr().cast()) }
    }

    #[inline(always)]
    fn store_partial(self, to: &mut [u8], value: V) {
        let mask = low_bits(to.len().min(16));
        // SAFETY: bytes that the mask leaves out are not written, so what is written is in `to`; `self` proves the features.
        unsafe { _mm_mask_storeu_epi8(to.as_mut_ptr().cast(), mask, value) }
    }

    #[inline(always)]
    fn keep(self, value: V, count: usize) -> V {
        // SAFETY: `self` proves the features.
        unsafe { _mm_maskz_mov_epi8(low_bits(count), value) }
    }
}
