//! treelist - lists all entries of a file name database that match a set of
//! conditions, with size and date, and writes the listing to a file.

use std::collections::BTreeMap;
use std::env;
use std::fs::{self, File};
use std::io::{self, Write};

struct Entry {
    parent: u32,
    name: String,
    size: u64,
    mtime: i64,
    is_dir: bool,
}

struct Database {
    entries: Vec<Entry>,
}

struct Query {
    extensions: Vec<&'static str>,
    min_size: u64,
    newer_than: i64,
    exclude_dirs: Vec<&'static str>,
}

struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E3779B97F4A7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58476D1CE4E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D049BB133111EB);
        z ^ (z >> 31)
    }
    fn below(&mut self, n: u64) -> u64 {
        self.next() % n
    }
}

impl Database {
    fn generate(dirs: usize, files: usize) -> Database {
        let names = ["src", "include", "build", "target", "docs", "images", "node_modules", "test", "share"];
        let exts = ["rs", "c", "h", "png", "md", "o", "json", "txt"];
        let mut rng = Random(42);
        let mut entries =
            vec![Entry { parent: 0, name: "home".to_string(), size: 0, mtime: 0, is_dir: true }];
        for i in 1..dirs {
            let parent = rng.below(i as u64) as u32;
            let name = format!("{}{}", names[rng.below(9) as usize], rng.below(30));
            entries.push(Entry { parent, name, size: 4096, mtime: 1_700_000_000, is_dir: true });
        }
        for _ in 0..files {
            let parent = rng.below(dirs as u64) as u32;
            let name = format!("f{:x}.{}", rng.below(1 << 28), exts[rng.below(8) as usize]);
            let bits = 4 + rng.below(20);
            let size = rng.below(1 << bits);
            let mtime = 1_600_000_000 + rng.below(150_000_000) as i64;
            entries.push(Entry { parent, name, size, mtime, is_dir: false });
        }
        Database { entries }
    }

    fn path(&self, mut at: u32, out: &mut String) {
        let mut chain = Vec::with_capacity(16);
        loop {
            chain.push(at);
            if at == 0 {
                break;
            }
            at = self.entries[at as usize].parent;
        }
        out.clear();
        for id in chain.iter().rev() {
            out.push('/');
            out.push_str(&self.entries[*id as usize].name);
        }
    }

    fn is_excluded(&self, mut at: u32, q: &Query) -> bool {
        while at != 0 {
            at = self.entries[at as usize].parent;
            if q.exclude_dirs.iter().any(|d| self.entries[at as usize].name == *d) {
                return true;
            }
        }
        false
    }
}

impl Query {
    fn accepts(&self, db: &Database, id: u32) -> bool {
        let e = &db.entries[id as usize];
        if e.is_dir || e.size < self.min_size || e.mtime < self.newer_than {
            return false;
        }
        let ext = e.name.rsplit('.').next().unwrap_or("");
        self.extensions.contains(&ext) && !db.is_excluded(id, self)
    }
}

fn human_size(n: u64) -> String {
    match n {
        0..=9999 => format!("{}B", n),
        10000..=9999999 => format!("{}K", n / 1024),
        _ => format!("{}M", n / 1024 / 1024),
    }
}

fn date(mtime: i64) -> (i64, i64, i64) {
    let z = mtime / 86400 + 719468;
    let era = z / 146097;
    let doe = z - era * 146097;
    let yoe = (doe - doe / 1460 + doe / 36524 - doe / 146096) / 365;
    let doy = doe - (365 * yoe + yoe / 4 - yoe / 100);
    let mp = (5 * doy + 2) / 153;
    let month = if mp < 10 { mp + 3 } else { mp - 9 };
    (yoe + era * 400 + (month <= 2) as i64, month, doy - (153 * mp + 2) / 5 + 1)
}

fn print_entry<W: Write>(out: &mut W, db: &Database, id: u32, path: &str) -> io::Result<()> {
    let e = &db.entries[id as usize];
    let (y, m, d) = date(e.mtime);
    writeln!(out, "{:>8} {:04}-{:02}-{:02} {}", human_size(e.size), y, m, d, path)
}

fn open_output(name: &str) -> io::Result<File> {
    File::create(name)
}

fn list_matches(db: &Database, q: &Query, target: &str) -> io::Result<(u64, BTreeMap<String, u64>)> {
    let mut out = open_output(target)?;
    let mut path = String::new();
    let mut count = 0;
    let mut sizes = BTreeMap::new();
    for id in 0..db.entries.len() as u32 {
        if !q.accepts(db, id) {
            continue;
        }
        db.path(id, &mut path);
        print_entry(&mut out, db, id, &path)?;
        let ext = path.rsplit('.').next().unwrap_or("").to_string();
        *sizes.entry(ext).or_insert(0) += db.entries[id as usize].size;
        count += 1;
    }
    out.flush()?;
    Ok((count, sizes))
}

fn check(name: &str) -> io::Result<(usize, u32)> {
    let data = fs::read(name)?;
    let mut h = 2166136261u32;
    for b in &data {
        h = (h ^ *b as u32).wrapping_mul(16777619);
    }
    Ok((data.len(), h))
}

fn main() -> io::Result<()> {
    let target = env::temp_dir().join(format!("treelist-{}.txt", std::process::id()));
    let target = target.to_string_lossy().into_owned();
    let db = Database::generate(9000, 420_000);
    let query = Query {
        extensions: vec!["rs", "c", "h", "md", "json", "txt"],
        min_size: 16,
        newer_than: 1_610_000_000,
        exclude_dirs: vec!["node_modules7", "target3"],
    };
    let (count, sizes) = list_matches(&db, &query, &target)?;
    let (bytes, sum) = check(&target)?;
    fs::remove_file(&target)?;
    println!("{} entries, listing {} bytes, check {:08x}", count, bytes, sum);
    for (ext, total) in sizes {
        println!("{:>6} {}", ext, total);
    }
    Ok(())
}
