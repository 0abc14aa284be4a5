//! AES rounds and carry-less multiplications: as many as the CPU can begin, none waiting for another.

use crate::best;
#[cfg(target_arch = "x86_64")]
use std::arch::x86_64::*;
use std::hint::black_box;

/// Chains that do not wait for each other: enough for a latency of 5 cycles at two a cycle.
const LANES: usize = 12;
/// Blocks of each chain in a piece.
const BLOCKS: usize = 2_000;
/// Rounds of AES-128.
const ROUNDS: usize = 10;

/// Time of ten AES rounds on one block, ns.
pub(crate) fn aes_block_ns() -> Result<f64, String> {
    #[cfg(target_arch = "x86_64")]
    if is_x86_feature_detected!("aes") {
        // SAFETY: the CPU has these instructions.
        let piece = best::ns(|| unsafe { aes_blocks() });
        return Ok(piece / (LANES * BLOCKS) as f64);
    }
    Err("this CPU has no AES instructions".to_owned())
}

/// Time of one multiplication, ns.
pub(crate) fn clmul_ns() -> Result<f64, String> {
    #[cfg(target_arch = "x86_64")]
    if is_x86_feature_detected!("pclmulqdq") {
        // SAFETY: the CPU has these instructions.
        let piece = best::ns(|| unsafe { multiplications() });
        return Ok(piece / (LANES * BLOCKS) as f64);
    }
    Err("this CPU has no carry-less multiplication".to_owned())
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "aes")]
fn aes_blocks() {
    let mut lanes = black_box([_mm_set1_epi64x(7); LANES]);
    let keys = black_box([_mm_set1_epi64x(3); ROUNDS]);
    for _ in 0..BLOCKS {
        for key in &keys[..ROUNDS - 1] {
            for lane in &mut lanes {
                *lane = _mm_aesenc_si128(*lane, *key);
            }
        }
        for lane in &mut lanes {
            *lane = _mm_aesenclast_si128(*lane, keys[ROUNDS - 1]);
        }
    }
    black_box(lanes);
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "pclmulqdq")]
fn multiplications() {
    let mut lanes = black_box([_mm_set1_epi64x(7); LANES]);
    let key = black_box(_mm_set1_epi64x(3));
    for _ in 0..BLOCKS {
        for lane in &mut lanes {
            *lane = _mm_clmulepi64_si128::<0>(*lane, key);
        }
    }
    black_box(lanes);
}
