// Replays an allocator chunk trace and attributes live memory to call sites.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hash, Hasher};

const SEED: u64 = 0x51_7c_c1_b7_27_22_0a_95;

#[derive(Default, Clone, Copy)]
struct IdHasher {
    hash: u64,
}

impl IdHasher {
    #[inline]
    fn add(&mut self, word: u64) {
        self.hash = (self.hash.rotate_left(5) ^ word).wrapping_mul(SEED);
    }
}

impl Hasher for IdHasher {
    fn write(&mut self, bytes: &[u8]) {
        for chunk in bytes.chunks(8) {
            let mut buf = [0u8; 8];
            buf[..chunk.len()].copy_from_slice(chunk);
            self.add(u64::from_le_bytes(buf));
        }
    }

    #[inline]
    fn write_u32(&mut self, n: u32) {
        self.add(n as u64);
    }

    #[inline]
    fn write_u64(&mut self, n: u64) {
        self.add(n);
    }

    #[inline]
    fn finish(&self) -> u64 {
        self.hash.rotate_left(26)
    }
}

type FastMap<K, V> = HashMap<K, V, BuildHasherDefault<IdHasher>>;

#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
struct Address(u64);

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
struct SiteId(u32);

#[derive(Debug)]
enum Event {
    Map { addr: Address, len: u64, site: SiteId },
    Unmap { addr: Address },
    Touch { addr: Address, bytes: u64 },
}

struct Interner {
    ids: FastMap<String, SiteId>,
    names: Vec<String>,
}

impl Interner {
    fn new() -> Self {
        Interner { ids: FastMap::default(), names: Vec::new() }
    }

    fn intern(&mut self, name: &str) -> SiteId {
        if let Some(id) = self.ids.get(name) {
            return *id;
        }
        let id = SiteId(self.names.len() as u32);
        self.names.push(name.to_string());
        self.ids.insert(name.to_string(), id);
        id
    }
}

fn parse_event(line: &str, sites: &mut Interner) -> Option<Event> {
    let mut f = line.split(' ');
    let kind = f.next()?;
    let addr = Address(u64::from_str_radix(f.next()?.strip_prefix("0x")?, 16).ok()?);
    match kind {
        "m" => {
            let len = f.next()?.parse().ok()?;
            Some(Event::Map { addr, len, site: sites.intern(f.next()?) })
        }
        "u" => Some(Event::Unmap { addr }),
        "t" => Some(Event::Touch { addr, bytes: f.next()?.parse().ok()? }),
        _ => None,
    }
}

#[derive(Default, Clone)]
struct Chunk {
    len: u64,
    touched: u64,
    site: u32,
}

#[derive(Default, Debug)]
struct SiteStats {
    mapped: u64,
    released: u64,
    touched: u64,
    peak: u64,
    live: u64,
}

#[derive(Default)]
struct Profile {
    live: FastMap<Address, Chunk>,
    stats: Vec<SiteStats>,
    unknown: u64,
}

impl Profile {
    fn apply(&mut self, ev: Event) {
        match ev {
            Event::Map { addr, len, site } => {
                let idx = site.0 as usize;
                if self.stats.len() <= idx {
                    self.stats.resize_with(idx + 1, SiteStats::default);
                }
                if let Some(old) = self.live.insert(addr, Chunk { len, touched: 0, site: site.0 }) {
                    self.retire(old);
                }
                let s = &mut self.stats[idx];
                s.mapped += len;
                s.live += len;
                s.peak = s.peak.max(s.live);
            }
            Event::Unmap { addr } => match self.live.remove(&addr) {
                Some(chunk) => self.retire(chunk),
                None => self.unknown += 1,
            },
            Event::Touch { addr, bytes } => match self.live.get_mut(&addr) {
                Some(chunk) => chunk.touched = (chunk.touched + bytes).min(chunk.len),
                None => self.unknown += 1,
            },
        }
    }

    fn retire(&mut self, chunk: Chunk) {
        let s = &mut self.stats[chunk.site as usize];
        s.released += chunk.len;
        s.live -= chunk.len;
        s.touched += chunk.touched;
    }
}

fn trace(events: usize) -> String {
    let mut out = String::with_capacity(events * 24);
    let mut state = 88172645463325252u64;
    let mut rnd = |m: u64| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state % m
    };
    let base = 0x7f10_0000_0000u64;
    let mut top = 0u64;
    for _ in 0..events {
        let roll = rnd(100);
        let pick = if top == 0 { 0 } else { rnd(top) };
        if roll < 8 || top < 64 {
            out.push_str(&format!("m {:#x} {} pool::site_{}\n", base + (top << 22), 1 << 22, rnd(300)));
            top += 1;
        } else if roll < 10 {
            out.push_str(&format!("u {:#x}\n", base + (pick << 22)));
        } else {
            out.push_str(&format!("t {:#x} {}\n", base + (pick << 22), rnd(90_000)));
        }
    }
    out
}

fn main() {
    let text = trace(730_000);
    let mut sites = Interner::new();
    let mut profile = Profile::default();
    let mut bad = 0;
    for line in text.lines() {
        match parse_event(line, &mut sites) {
            Some(ev) => profile.apply(ev),
            None => bad += 1,
        }
    }
    let mut order: Vec<usize> = (0..profile.stats.len()).collect();
    order.sort_by_key(|&i| (std::cmp::Reverse(profile.stats[i].live), i));
    for &i in order.iter().take(5) {
        let s = &profile.stats[i];
        println!("{:<16} live={} peak={} touched={}", sites.names[i], s.live, s.peak, s.touched);
    }
    println!("{} chunks live, {} unknown, {bad} malformed", profile.live.len(), profile.unknown);
}
