//! Which of the kernels' instructions the processor and its operating system have.
//!
//! CPUID alone is not enough: the system must save the wide registers across a switch of threads, which XCR0 tells
//! (Intel SDM volume 1, sections 14.3 and 15.2).

/// Groups of instructions that the kernels use, as bits.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct Features(u8);

impl Features {
    /// None at all.
    pub(crate) const NONE: Self = Self(0);
    /// AES-NI, PCLMULQDQ, AVX2.
    pub(crate) const AES_AVX2: Self = Self(1);
    /// AVX-512F, BW, VL, and BMI2, which makes masks of lengths.
    pub(crate) const AVX512: Self = Self(2);
    /// VAES and VPCLMULQDQ: AES and carry-less multiplication on wide registers.
    pub(crate) const VAES: Self = Self(4);

    /// These and the others.
    pub(crate) const fn and(self, others: Self) -> Self {
        Self(self.0 | others.0)
    }

    /// Whether all of the others are among these.
    pub(crate) const fn have(self, others: Self) -> bool {
        self.0 & others.0 == others.0
    }
}

/// All that this machine has. Asked of the processor once.
#[cfg(not(miri))]
pub(crate) fn features() -> Features {
    use core::sync::atomic::{AtomicU8, Ordering};
    const ASKED: u8 = 0x80;
    static KNOWN: AtomicU8 = AtomicU8::new(0);
    match KNOWN.load(Ordering::Relaxed) {
        0 => {
            let features = detect();
            KNOWN.store(features.0 | ASKED, Ordering::Relaxed);
            features
        }
        known => Features(known & !ASKED),
    }
}

/// Miri has no CPUID; it interprets the instructions that it is told to.
#[cfg(miri)]
pub(crate) fn features() -> Features {
    let all = cfg!(all(target_feature = "aes", target_feature = "pclmulqdq", target_feature = "avx2"));
    if all { Features::AES_AVX2 } else { Features::NONE }
}

#[cfg(not(miri))]
#[allow(unused_unsafe, reason = "newer versions of the standard library declare CPUID safe")]
fn detect() -> Features {
    use core::arch::x86_64::{__cpuid, __cpuid_count, _xgetbv};
    // Leaf 1, ECX.
    const PCLMULQDQ: u32 = 1 << 1;
    const AES: u32 = 1 << 25;
    const OSXSAVE: u32 = 1 << 27;
    const AVX: u32 = 1 << 28;
    // Leaf 7, EBX.
    const AVX2: u32 = 1 << 5;
    const AVX512: u32 = 1 << 8 | 1 << 16 | 1 << 30 | 1 << 31;
    // Leaf 7, ECX.
    const VAES: u32 = 1 << 9 | 1 << 10;
    // XCR0: SSE and AVX registers; mask registers and both parts of AVX-512's.
    const WIDE: u64 = 0b110;
    const WIDEST: u64 = 0b1110_0110;

    #[target_feature(enable = "xsave")]
    fn xcr0() -> u64 {
        // SAFETY: register 0 exists wherever the instruction does, which `xsave` says.
        unsafe { _xgetbv(0) }
    }

    // SAFETY: every x86-64 processor has CPUID.
    let (highest, first) = unsafe { (__cpuid(0).eax, __cpuid(1).ecx) };
    let needed = PCLMULQDQ | AES | OSXSAVE | AVX;
    if highest < 7 || first & needed != needed {
        return Features::NONE;
    }
    // SAFETY: the processor has leaf 7.
    let seventh = unsafe { __cpuid_count(7, 0) };
    // SAFETY: OSXSAVE says that the system has turned the instruction on.
    let saved = unsafe { xcr0() };
    if seventh.ebx & AVX2 == 0 || saved & WIDE != WIDE {
        return Features::NONE;
    }
    let mut features = Features::AES_AVX2;
    if seventh.ebx & AVX512 == AVX512 && saved & WIDEST == WIDEST {
        features = features.and(Features::AVX512);
    }
    if seventh.ecx & VAES == VAES {
        features = features.and(Features::VAES);
    }
    features
}
