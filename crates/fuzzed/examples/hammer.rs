//! x
use std::time::{Duration, Instant};
fn main() {
    let mut args = std::env::args().skip(1);
    let secs: u64 = args.next().unwrap().parse().unwrap();
    let mut seed: u64 = args.next().unwrap().parse().unwrap();
    let mut kept = Vec::new();
    for d in ["fuzz/corpus/recording", "fuzz/work/recording"] {
        for e in std::fs::read_dir(d).unwrap() {
            kept.push(std::fs::read(e.unwrap().path()).unwrap());
        }
    }
    let mut next = || {
        seed ^= seed << 13;
        seed ^= seed >> 7;
        seed ^= seed << 17;
        seed.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 8
    };
    let start = Instant::now();
    let (mut n, mut slow) = (0u64, Duration::ZERO);
    while start.elapsed().as_secs() < secs {
        let mut input = kept[next() as usize % kept.len()].clone();
        let k = next() % 40;
        for _ in 0..k {
            input.push(next() as u8);
        }
        for _ in 0..next() % 12 {
            let at = next() as usize % input.len().max(1);
            if let Some(b) = input.get_mut(at) {
                *b = next() as u8;
            }
        }
        if input.len() > 3 {
            input[3] = next() as u8;
            if next() % 4 > 0 {
                input[0] |= 0x80;
            }
        }
        std::fs::write("/tmp/hammer.last", &input).unwrap();
        let t = Instant::now();
        if std::panic::catch_unwind(|| slowpath_fuzzed::recording(&input)).is_err() {
            std::fs::write(format!("/tmp/crash-{n}"), &input).unwrap();
            eprintln!("CRASH {n}");
        }
        if t.elapsed() > slow {
            slow = t.elapsed();
            eprintln!("slow {slow:?} at {n}");
            std::fs::write("/tmp/hammer.slow", &input).unwrap();
        }
        n += 1;
    }
    eprintln!("{n} runs");
}
