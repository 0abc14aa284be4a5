//! Page statistics over several access logs. Each log is counted on its own
//! (partial tables), then the partial tables are merged and the report made.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

mod table {
    //! An open addressing hash table with linear probing and string keys.

    use std::sync::atomic::{AtomicU64, Ordering};

    const MIN_BITS: u32 = 4;
    static NEXT_SEED: AtomicU64 = AtomicU64::new(0x5bd1e995);

    struct Slot<V> {
        hash: u64,
        key: Box<str>,
        value: V,
    }

    pub struct FlatMap<V> {
        slots: Vec<Option<Slot<V>>>,
        bits: u32,
        len: usize,
        seed: u64,
    }

    fn hash_bytes(seed: u64, bytes: &[u8]) -> u64 {
        let mut h = seed ^ (bytes.len() as u64).wrapping_mul(0x9e3779b97f4a7c15);
        for chunk in bytes.chunks(8) {
            let mut w = [0u8; 8];
            w[..chunk.len()].copy_from_slice(chunk);
            h = (h ^ u64::from_le_bytes(w)).wrapping_mul(0xff51afd7ed558ccd);
            h ^= h >> 32;
        }
        h ^= h >> 29;
        h.wrapping_mul(0xc4ceb9fe1a85ec53)
    }

    impl<V: Default> FlatMap<V> {
        pub fn new() -> Self {
            let seed = NEXT_SEED.fetch_add(0x9e3779b97f4a7c15, Ordering::Relaxed);
            FlatMap { slots: Self::empty_slots(MIN_BITS), bits: MIN_BITS, len: 0, seed }
        }

        fn empty_slots(bits: u32) -> Vec<Option<Slot<V>>> {
            std::iter::repeat_with(|| None).take(1 << bits).collect()
        }

        pub fn len(&self) -> usize {
            self.len
        }

        /// The slot with the key, or the free one where it belongs.
        fn find_slot(&self, hash: u64, key: &str) -> usize {
            let mask = self.slots.len() - 1;
            let mut i = (hash >> (64 - self.bits)) as usize;
            loop {
                match &self.slots[i] {
                    None => return i,
                    Some(s) if s.hash == hash && &*s.key == key => return i,
                    Some(_) => i = (i + 1) & mask,
                }
            }
        }

        fn grow(&mut self) {
            self.bits += 1;
            let old = std::mem::replace(&mut self.slots, Self::empty_slots(self.bits));
            for s in old.into_iter().flatten() {
                let i = self.find_slot(s.hash, &s.key);
                self.slots[i] = Some(s);
            }
        }

        pub fn entry(&mut self, key: &str) -> &mut V {
            if (self.len + 1) * 8 > self.slots.len() * 7 {
                self.grow();
            }
            let hash = hash_bytes(self.seed, key.as_bytes());
            let i = self.find_slot(hash, key);
            let slot = &mut self.slots[i];
            if slot.is_none() {
                self.len += 1;
                *slot = Some(Slot { hash, key: key.into(), value: V::default() });
            }
            &mut slot.as_mut().unwrap().value
        }

        pub fn get(&self, key: &str) -> Option<&V> {
            let i = self.find_slot(hash_bytes(self.seed, key.as_bytes()), key);
            self.slots[i].as_ref().map(|s| &s.value)
        }

        pub fn iter(&self) -> impl Iterator<Item = (&str, &V)> {
            self.slots.iter().flatten().map(|s| (&*s.key, &s.value))
        }
    }
}

use table::FlatMap;

#[derive(Default, Clone, Debug)]
struct PageStats {
    hits: u64,
    bytes: u64,
    errors: u64,
    first_hour: Option<u8>,
    last_hour: Option<u8>,
}

impl PageStats {
    fn add(&mut self, e: &Entry) {
        self.hits += 1;
        self.bytes += e.bytes;
        self.errors += (e.status >= 400) as u64;
        self.first_hour = Some(self.first_hour.map_or(e.hour, |h| h.min(e.hour)));
        self.last_hour = Some(self.last_hour.map_or(e.hour, |h| h.max(e.hour)));
    }

    fn merge(&mut self, other: &PageStats) {
        self.hits += other.hits;
        self.bytes += other.bytes;
        self.errors += other.errors;
        self.first_hour = match (self.first_hour, other.first_hour) {
            (Some(a), Some(b)) => Some(a.min(b)),
            (a, b) => a.or(b),
        };
        self.last_hour = self.last_hour.max(other.last_hour);
    }
}

struct Entry<'a> {
    client: &'a str,
    hour: u8,
    path: &'a str,
    status: u16,
    bytes: u64,
}

fn parse_line(line: &str) -> Option<Entry<'_>> {
    let mut w = line.split(' ');
    let client = w.next()?;
    let hour = w.next()?.split(':').next()?.parse().ok()?;
    if w.next()? != "GET" {
        return None;
    }
    let path = w.next()?;
    let status = w.next()?.parse().ok()?;
    let bytes = w.next()?.parse().ok()?;
    Some(Entry { client, hour, path, status, bytes })
}

struct Partial {
    pages: FlatMap<PageStats>,
    clients: FlatMap<u64>,
    hours: [u64; 24],
    bad_lines: u64,
}

impl Partial {
    fn new() -> Partial {
        Partial { pages: FlatMap::new(), clients: FlatMap::new(), hours: [0; 24], bad_lines: 0 }
    }
}

fn count_log(path: &Path) -> io::Result<Partial> {
    let text = fs::read_to_string(path)?;
    let mut p = Partial::new();
    for line in text.lines() {
        let Some(e) = parse_line(line) else {
            p.bad_lines += 1;
            continue;
        };
        p.pages.entry(e.path).add(&e);
        *p.clients.entry(e.client) += 1;
        p.hours[e.hour as usize % 24] += 1;
    }
    Ok(p)
}

fn merge_into(total: &mut Partial, part: &Partial) {
    for (path, stats) in part.pages.iter() {
        total.pages.entry(path).merge(stats);
    }
    for (client, n) in part.clients.iter() {
        *total.clients.entry(client) += n;
    }
    for (t, n) in total.hours.iter_mut().zip(part.hours) {
        *t += n;
    }
    total.bad_lines += part.bad_lines;
}

fn top_pages(pages: &FlatMap<PageStats>, n: usize) -> Vec<(&str, &PageStats)> {
    let mut all: Vec<(&str, &PageStats)> = pages.iter().collect();
    all.sort_by(|a, b| b.1.hits.cmp(&a.1.hits).then_with(|| a.0.cmp(b.0)));
    all.truncate(n);
    all
}

fn by_section(pages: &FlatMap<PageStats>) -> Vec<(String, PageStats)> {
    let mut sections: FlatMap<PageStats> = FlatMap::new();
    for (path, s) in pages.iter() {
        let section = path[1..].split('/').next().unwrap_or("");
        sections.entry(section).merge(s);
    }
    let mut out: Vec<(String, PageStats)> =
        sections.iter().map(|(k, v)| (k.to_string(), v.clone())).collect();
    out.sort_by(|a, b| a.0.cmp(&b.0));
    out
}

/// Pages of the first day which were still asked for on every other day.
fn evergreen(parts: &[Partial]) -> usize {
    let (first, rest) = parts.split_first().expect("at least one log");
    first.pages.iter().filter(|(path, _)| rest.iter().all(|p| p.pages.get(path).is_some())).count()
}

fn log_files(dir: &Path) -> io::Result<Vec<PathBuf>> {
    let mut files: Vec<PathBuf> = fs::read_dir(dir)?.map(|e| e.map(|e| e.path())).collect::<io::Result<_>>()?;
    files.retain(|p| p.extension().is_some_and(|e| e == "log"));
    files.sort();
    Ok(files)
}

fn main() -> io::Result<()> {
    let dir = std::env::current_exe()?.parent().unwrap().join("data");
    let mut parts = Vec::new();
    for file in log_files(&dir)? {
        let p = count_log(&file)?;
        println!(
            "{}: {} pages, {} clients, {} bad lines",
            file.file_name().unwrap().to_string_lossy(),
            p.pages.len(),
            p.clients.len(),
            p.bad_lines
        );
        parts.push(p);
    }
    let mut total = Partial::new();
    for p in &parts {
        merge_into(&mut total, p);
    }
    println!("total: {} pages, {} clients", total.pages.len(), total.clients.len());
    println!("evergreen pages: {}", evergreen(&parts));
    for (path, s) in top_pages(&total.pages, 8) {
        println!("{:>7} {} {} bytes, {} errors, hours {:?}-{:?}", s.hits, path, s.bytes, s.errors, s.first_hour, s.last_hour);
    }
    for (name, s) in by_section(&total.pages) {
        println!("section {:<6} {:>7} hits {:>12} bytes {:>6} errors", name, s.hits, s.bytes, s.errors);
    }
    println!("hours {:?}", total.hours);
    Ok(())
}
