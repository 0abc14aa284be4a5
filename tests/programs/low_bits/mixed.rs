const LOOKUPS: f64 = 120_000_000.0;

fn hash(address: u64) -> u64 {
    let mixed = address.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    mixed ^ mixed >> 32
}
