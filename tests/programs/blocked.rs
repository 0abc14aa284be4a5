// Each request's client is looked for in a list of blocked ones, from the first on. Expect: repeated-scan in is_blocked.

/// Its loop begins where the function does: no instruction before it is one that the kernel emulates.
#[inline(never)]
fn is_blocked(list: &Vec<u64>, client: u64) -> bool {
    list.contains(&client)
}

fn main() {
    let scale: f64 = std::env::args().nth(1).map_or(1.0, |text| text.parse().expect("scale: a number"));
    let list: Vec<u64> = (0..8_000u64).map(|at| at.wrapping_mul(0x9e37_79b9_7f4a_7c15)).collect();
    let mut state = 1u64;
    let mut refused = 0u64;

    for _ in 0..(600_000.0 * scale) as u64 {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        let client = if state >> 63 == 0 { list[(state >> 33) as usize % list.len()] } else { state };
        refused += u64::from(is_blocked(&list, client));
    }
    println!("{refused} refused");
}
