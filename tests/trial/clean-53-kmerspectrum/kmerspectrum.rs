//! kmerspectrum - counts the canonical k-mers of sequencing reads in an open
//! addressing table and prints their abundance spectrum.

const K: usize = 27;
const EMPTY: u64 = u64::MAX;

struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }
    fn below(&mut self, n: u64) -> u64 {
        (self.next() >> 20) % n
    }
}

struct Table {
    keys: Vec<u64>,
    counts: Vec<u16>,
    used: usize,
    shift: u32,
}

impl Table {
    fn with_bits(bits: u32) -> Table {
        Table { keys: vec![EMPTY; 1 << bits], counts: vec![0; 1 << bits], used: 0, shift: 64 - bits }
    }

    fn slot(&self, key: u64) -> usize {
        let mask = self.keys.len() - 1;
        let mut h = key.wrapping_mul(0xff51afd7ed558ccd);
        h ^= h >> 33;
        let mut i = (h.wrapping_mul(0x9E3779B97F4A7C15) >> self.shift) as usize;
        while self.keys[i] != EMPTY && self.keys[i] != key {
            i = (i + 1) & mask;
        }
        i
    }

    fn add(&mut self, key: u64) {
        let i = self.slot(key);
        if self.keys[i] == EMPTY {
            self.keys[i] = key;
            self.used += 1;
        }
        self.counts[i] = self.counts[i].saturating_add(1);
        if self.used * 10 > self.keys.len() * 6 {
            self.grow();
        }
    }

    fn grow(&mut self) {
        let mut bigger = Table::with_bits(64 - self.shift + 1);
        for (key, count) in self.keys.iter().zip(&self.counts) {
            if *key != EMPTY {
                let i = bigger.slot(*key);
                bigger.keys[i] = *key;
                bigger.counts[i] = *count;
            }
        }
        bigger.used = self.used;
        *self = bigger;
    }
}

fn make_genome(len: usize, rng: &mut Random) -> Vec<u8> {
    let mut g: Vec<u8> = (0..len).map(|_| rng.below(4) as u8).collect();
    for _ in 0..60 {
        let n = 500 + rng.below(3000) as usize;
        let from = rng.below((len - n) as u64) as usize;
        let to = rng.below((len - n) as u64) as usize;
        let copy = g[from..from + n].to_vec();
        g[to..to + n].copy_from_slice(&copy);
    }
    g
}

fn make_read(genome: &[u8], rng: &mut Random, read: &mut Vec<u8>) {
    let len = 150;
    let at = rng.below((genome.len() - len) as u64) as usize;
    read.clear();
    read.extend_from_slice(&genome[at..at + len]);
    if rng.below(2) == 0 {
        read.reverse();
        read.iter_mut().for_each(|b| *b = 3 - *b);
    }
    for b in read.iter_mut() {
        if rng.below(400) == 0 {
            *b = rng.below(4) as u8;
        }
    }
}

fn count_read(read: &[u8], table: &mut Table) {
    let mask = (1u64 << (2 * K)) - 1;
    let (mut fwd, mut rev) = (0u64, 0u64);
    for (i, b) in read.iter().enumerate() {
        fwd = (fwd << 2 | *b as u64) & mask;
        rev = rev >> 2 | (3 - *b as u64) << (2 * (K - 1));
        if i + 1 >= K {
            table.add(fwd.min(rev));
        }
    }
}

fn spectrum(table: &Table) -> Vec<u64> {
    let mut bins = vec![0u64; 64];
    for (key, count) in table.keys.iter().zip(&table.counts) {
        if *key != EMPTY {
            bins[(*count as usize).min(63)] += 1;
        }
    }
    bins
}

fn estimate_size(bins: &[u64]) -> (usize, u64) {
    let valley = (2..30).find(|&i| bins[i + 1] > bins[i]).unwrap_or(2);
    let peak = (valley..60).max_by_key(|&i| bins[i]).unwrap_or(valley);
    let total: u64 = (valley..64).map(|i| bins[i] * i as u64).sum();
    (peak, total / peak.max(1) as u64)
}

fn main() {
    let mut rng = Random(0x1357_9bdf_2468_ace0);
    let genome = make_genome(1_600_000, &mut rng);
    let mut table = Table::with_bits(16);
    let mut read = Vec::with_capacity(150);
    let reads = 250_000;
    for _ in 0..reads {
        make_read(&genome, &mut rng, &mut read);
        count_read(&read, &mut table);
    }
    let bins = spectrum(&table);
    let (peak, size) = estimate_size(&bins);
    println!("{} reads, {} distinct {}-mers", reads, table.used, K);
    println!("peak at {}, estimated genome size {}", peak, size);
    for (i, n) in bins.iter().enumerate().filter(|(_, n)| **n > 0) {
        println!("{:>3} {}", i, n);
    }
}
