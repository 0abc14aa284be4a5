// tripindex - index generated trip records by vehicle (hash) and by time (B-tree), then query.
use std::collections::{BTreeMap, HashMap};

#[derive(Clone, Copy)]
struct Trip {
    vehicle: u64,
    start: u64,
    metres: u32,
}

struct Rng(u64);

impl Rng {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }
}

#[derive(Default)]
struct Totals {
    trips: u32,
    metres: u64,
    last: u64,
}

#[derive(Default)]
struct Index {
    vehicles: HashMap<u64, Totals>,
    by_time: BTreeMap<(u64, u64), u32>,
}

fn read_trips(n: usize) -> Vec<Trip> {
    let mut rng = Rng(88172645463325252);
    (0..n)
        .map(|_| Trip {
            vehicle: rng.next() % 900_000 * 7919,
            start: 1_700_000_000_000 + rng.next() % 31_536_000_000,
            metres: (rng.next() % 40_000) as u32 + 100,
        })
        .collect()
}

impl Index {
    fn insert(&mut self, t: &Trip) {
        let v = self.vehicles.entry(t.vehicle).or_default();
        v.trips += 1;
        v.metres += t.metres as u64;
        v.last = v.last.max(t.start);
        self.by_time.insert((t.start, t.vehicle), t.metres);
    }

    fn between(&self, from: u64, to: u64) -> (usize, u64) {
        let mut n = 0;
        let mut m = 0;
        for (_, metres) in self.by_time.range((from, 0)..(to, 0)) {
            n += 1;
            m += *metres as u64;
        }
        (n, m)
    }

    fn busiest(&self, limit: usize) -> Vec<(u64, u32, u64)> {
        let mut all: Vec<(u64, u32, u64)> = self.vehicles.iter().map(|(k, v)| (*k, v.trips, v.metres)).collect();
        all.sort_by(|a, b| b.1.cmp(&a.1).then(b.2.cmp(&a.2)).then(a.0.cmp(&b.0)));
        all.truncate(limit);
        all
    }
}

fn main() {
    let n = std::env::args().nth(1).and_then(|s| s.parse().ok()).unwrap_or(2_200_000);
    let trips = read_trips(n);
    let mut index = Index::default();
    for t in &trips {
        index.insert(t);
    }
    for (vehicle, trips, metres) in index.busiest(8) {
        println!("vehicle {:>12} {:>4} trips {:>9} m", vehicle, trips, metres);
    }
    for month in 0..12u64 {
        let from = 1_700_000_000_000 + month * 2_628_000_000;
        let (n, m) = index.between(from, from + 2_628_000_000);
        println!("month {:>2}: {:>7} trips {:>12} m", month + 1, n, m);
    }
    println!("{} vehicles, {} entries", index.vehicles.len(), index.by_time.len());
}
