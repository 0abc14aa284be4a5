// The newest first: each entry is put in front of a vector, or pushed and read backwards.
#[inline(never)]
fn record(history: &mut Vec<u64>, entry: u64, fixed: bool) {
    if fixed {
        history.push(entry);
    } else {
        history.insert(0, entry);
    }
}

fn main() {
    let fixed = std::env::args().nth(1).as_deref() == Some("fixed");
    let mut history = Vec::new();
    for entry in 0..100_000u64 {
        record(&mut history, entry.wrapping_mul(2_654_435_761), fixed);
    }
    if fixed {
        history.reverse();
    }
    let digest = history.iter().fold(0u64, |sum, entry| sum.rotate_left(5) ^ entry);
    println!("{digest:x}");
}
