//! What several tests need: the kernels of this machine, and keys and bytes from seeds.

#![allow(dead_code, reason = "each test uses a part")]
#![allow(clippy::print_stdout, reason = "what was skipped is said")]

use slowpath_aead::{Implementation, Key, KeyBytes};

/// The implementations to be tested: all but the portable one, which is what they are compared with.
pub fn kernels() -> Vec<Implementation> {
    let (have, lack): (Vec<_>, Vec<_>) =
        Implementation::ALL.into_iter().skip(1).partition(|one| one.available());
    for one in lack {
        println!("SKIPPED, since this machine lacks it: {one:?}");
    }
    have
}

/// All that this machine has, the portable one with them.
pub fn implementations() -> impl Iterator<Item = Implementation> {
    Implementation::ALL.into_iter().filter(|one| one.available())
}

/// A key on an implementation that was found available.
pub fn key<K: KeyBytes>(on: Implementation, key: &K, header_protection_key: Option<&K>) -> Key {
    Key::with_implementation(on, key, header_protection_key).expect("it was found available")
}

/// Bytes from a seed.
pub fn bytes(seed: u64, count: usize) -> Vec<u8> {
    let mut random = fastrand::Rng::with_seed(seed);
    std::iter::repeat_with(|| random.u8(..)).take(count).collect()
}

/// As many as an array holds.
pub fn array<const N: usize>(seed: u64) -> [u8; N] {
    bytes(seed, N).try_into().expect("N bytes")
}
