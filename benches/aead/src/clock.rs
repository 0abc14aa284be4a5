//! Time in ticks of the time stamp counter, and the probe that says whether the machine is quiet.
//!
//! The probe is what the table is measured against: AES rounds as fast as the processor takes them. When another program runs
//! on the core, or the core's clock changes, the probe takes longer; samples beside such a probe do not count.

use slowpath_aead::Implementation;
use std::arch::asm;
use std::arch::x86_64::{_mm_lfence, _rdtsc};

/// Ticks, with all earlier instructions done.
pub fn now() -> u64 {
    // SAFETY: every x86-64 processor has both.
    unsafe {
        _mm_lfence();
        let ticks = _rdtsc();
        _mm_lfence();
        ticks
    }
}

/// What `work` takes, less what asking for the time takes.
pub fn ticks_of(work: impl FnOnce()) -> f64 {
    let start = now();
    let between = now();
    work();
    let end = now();
    (end - between).saturating_sub(between - start) as f64
}

/// Rounds of AES a probe does.
const ROUNDS: u32 = 1500 * 12;

/// Ticks an AES round on sixteen bytes takes when nothing waits for another: twelve lanes side by side.
pub fn aes_round() -> f64 {
    ticks_of(|| {
        // SAFETY: AES-NI is there (`main` looks); registers alone are changed.
        unsafe {
            asm!(
                "2:",
                "aesenc xmm0, xmm15", "aesenc xmm1, xmm15", "aesenc xmm2, xmm15", "aesenc xmm3, xmm15",
                "aesenc xmm4, xmm15", "aesenc xmm5, xmm15", "aesenc xmm6, xmm15", "aesenc xmm7, xmm15",
                "aesenc xmm8, xmm15", "aesenc xmm9, xmm15", "aesenc xmm10, xmm15", "aesenc xmm11, xmm15",
                "dec {turns:e}",
                "jnz 2b",
                turns = inout(reg) ROUNDS / 12 => _,
                out("xmm0") _, out("xmm1") _, out("xmm2") _, out("xmm3") _, out("xmm4") _, out("xmm5") _,
                out("xmm6") _, out("xmm7") _, out("xmm8") _, out("xmm9") _, out("xmm10") _, out("xmm11") _,
                options(nomem, nostack),
            );
        }
    }) / f64::from(ROUNDS)
}

/// Ticks an AES round on sixteen bytes takes with VAES on registers of 64 bytes, or of 32 where AVX-512 is missing; none on a
/// machine without VAES.
pub fn wide_aes_round() -> Option<f64> {
    /// Eight lanes side by side, in registers that `$register` names.
    macro_rules! probe {
        ($register:literal) => {
            ticks_of(|| {
                // SAFETY: the instructions are there, as the caller found; registers alone are changed.
                unsafe {
                    asm!(
                        "2:",
                        concat!("vaesenc ", $register, "0, ", $register, "0, ", $register, "15"),
                        concat!("vaesenc ", $register, "1, ", $register, "1, ", $register, "15"),
                        concat!("vaesenc ", $register, "2, ", $register, "2, ", $register, "15"),
                        concat!("vaesenc ", $register, "3, ", $register, "3, ", $register, "15"),
                        concat!("vaesenc ", $register, "4, ", $register, "4, ", $register, "15"),
                        concat!("vaesenc ", $register, "5, ", $register, "5, ", $register, "15"),
                        concat!("vaesenc ", $register, "6, ", $register, "6, ", $register, "15"),
                        concat!("vaesenc ", $register, "7, ", $register, "7, ", $register, "15"),
                        "dec {turns:e}",
                        "jnz 2b",
                        "vzeroupper",
                        turns = inout(reg) 2000 => _,
                        out("xmm0") _, out("xmm1") _, out("xmm2") _, out("xmm3") _, out("xmm4") _, out("xmm5") _,
                        out("xmm6") _, out("xmm7") _,
                        options(nomem, nostack),
                    );
                }
            }) / 16_000.0
        };
    }
    if Implementation::VaesAvx512.available() {
        Some(probe!("zmm") / 4.0)
    } else if Implementation::Vaes.available() {
        Some(probe!("ymm") / 2.0)
    } else {
        None
    }
}

/// Ticks a carry-less multiplication takes when nothing waits for another.
pub fn carryless_multiplication() -> f64 {
    ticks_of(|| {
        // SAFETY: PCLMULQDQ is there (`main` looks); registers alone are changed.
        unsafe {
            asm!(
                "2:",
                "vpclmulqdq xmm0, xmm14, xmm15, 0", "vpclmulqdq xmm1, xmm14, xmm15, 0",
                "vpclmulqdq xmm2, xmm14, xmm15, 0", "vpclmulqdq xmm3, xmm14, xmm15, 0",
                "vpclmulqdq xmm4, xmm14, xmm15, 0", "vpclmulqdq xmm5, xmm14, xmm15, 0",
                "vpclmulqdq xmm6, xmm14, xmm15, 0", "vpclmulqdq xmm7, xmm14, xmm15, 0",
                "dec {turns:e}",
                "jnz 2b",
                turns = inout(reg) 2000 => _,
                out("xmm0") _, out("xmm1") _, out("xmm2") _, out("xmm3") _, out("xmm4") _, out("xmm5") _,
                out("xmm6") _, out("xmm7") _,
                options(nomem, nostack),
            );
        }
    }) / 16_000.0
}

/// Tells quiet moments from others.
pub struct Quiet {
    limit: f64,
}

impl Quiet {
    /// Looks for the quiet speed: the fastest twentieth of many probes is within 2 % of it.
    pub fn find() -> Self {
        let mut probes: Vec<f64> = (0..4000).map(|_| aes_round()).collect();
        probes.sort_by(f64::total_cmp);
        Self { limit: probes[probes.len() / 20] * 1.02 }
    }

    /// Runs `work` between two probes: its ticks and those of an AES round, if both probes ran at quiet speed.
    pub fn sample(&self, work: impl FnOnce() -> f64) -> Option<(f64, f64)> {
        let before = aes_round();
        let ticks = work();
        let after = aes_round();
        (before <= self.limit && after <= self.limit).then_some((ticks, f64::midpoint(before, after)))
    }
}
