// Blocks of memory by their addresses, with a hash whose low bits are those of the address: always zero. Expect: repeated-scan in Blocks::owner. With a
// hash that mixes all bits, as in mixed_bits, nothing is to be found.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

#[derive(Default)]
struct OfAddress(u64);

impl Hasher for OfAddress {
    fn write(&mut self, _: &[u8]) {
        unreachable!("addresses only");
    }
    fn write_u64(&mut self, address: u64) {
        self.0 = hash(address);
    }
    fn finish(&self) -> u64 {
        self.0
    }
}

struct Blocks(HashMap<u64, u32, BuildHasherDefault<OfAddress>>);

impl Blocks {
    fn owner(&self, address: u64) -> u32 {
        self.0.get(&(address & !0xf_ffff)).copied().unwrap_or(0)
    }
}

fn main() {
    let scale: f64 = std::env::args().nth(1).map_or(1.0, |text| text.parse().expect("scale: a number"));
    let mut blocks = Blocks(HashMap::default());
    for at in 0..2_000u64 {
        blocks.0.insert(at << 20, at as u32);
    }
    let mut state = 1u64;
    let mut sum = 0u64;
    for _ in 0..(LOOKUPS * scale) as u64 {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        sum += u64::from(blocks.owner((state >> 33) % (2_000 << 20)));
    }
    println!("{sum}");
}

include!("low_bits/hash.rs");
