// treelist: reads a dump of a file tree and prints a listing, sorted without regard to case, as `ls`-like tools do.
use std::collections::BTreeMap;
use std::fs;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Kind {
    Dir,
    File,
    Link,
}

#[derive(Debug)]
struct Entry {
    path: String,
    name_at: usize,
    size: u64,
    kind: Kind,
    mtime: u64,
}

impl Entry {
    fn name(&self) -> &str {
        &self.path[self.name_at..]
    }

    fn extension(&self) -> &str {
        match self.name().rfind('.') {
            Some(i) if i > 0 => &self.name()[i + 1..],
            _ => "",
        }
    }
}

fn parse(text: &str) -> Result<Vec<Entry>, String> {
    let mut out = Vec::new();
    for (nr, line) in text.lines().enumerate() {
        let mut f = line.split('\t');
        let mut field = |what: &str| f.next().ok_or_else(|| format!("line {}: no {}", nr + 1, what));
        let path = field("path")?.to_string();
        let size = field("size")?.parse().map_err(|_| format!("line {}: bad size", nr + 1))?;
        let kind = match field("kind")? {
            "d" => Kind::Dir,
            "l" => Kind::Link,
            _ => Kind::File,
        };
        let mtime = field("mtime")?.parse().map_err(|_| format!("line {}: bad time", nr + 1))?;
        let name_at = path.rfind('/').map_or(0, |i| i + 1);
        out.push(Entry { path, name_at, size, kind, mtime });
    }
    Ok(out)
}

fn sort_entries(entries: &mut Vec<Entry>) {
    let mut keyed: Vec<(String, Entry)> = entries.drain(..).map(|e| (e.name().to_lowercase(), e)).collect();
    keyed.sort_by(|a, b| a.0.cmp(&b.0).then_with(|| a.1.path.cmp(&b.1.path)));
    entries.extend(keyed.into_iter().map(|k| k.1));
}

fn human(size: u64) -> String {
    let units = ["B", "K", "M", "G"];
    let mut v = size as f64;
    let mut u = 0;
    while v >= 1024.0 && u + 1 < units.len() {
        v /= 1024.0;
        u += 1;
    }
    format!("{:.1}{}", v, units[u])
}

fn checksum<'a>(names: impl Iterator<Item = &'a str>) -> u64 {
    let mut h: u64 = 0xcbf29ce484222325;
    for n in names {
        for b in n.bytes() {
            h = (h ^ b as u64).wrapping_mul(0x100000001b3);
        }
    }
    h
}

fn summary(entries: &[Entry]) {
    let mut by_ext: BTreeMap<&str, (usize, u64)> = BTreeMap::new();
    for e in entries.iter().filter(|e| e.kind == Kind::File) {
        let s = by_ext.entry(e.extension()).or_default();
        s.0 += 1;
        s.1 += e.size;
    }
    for (ext, (n, size)) in &by_ext {
        println!("{:<8}{:>8}{:>10}", ext, n, human(*size));
    }
}

fn main() {
    let path = std::env::args().nth(1).unwrap_or_else(|| "data/listing.txt".into());
    let text = fs::read_to_string(&path).expect("listing");
    let mut entries = match parse(&text) {
        Ok(e) => e,
        Err(m) => {
            eprintln!("{}", m);
            std::process::exit(1);
        }
    };
    sort_entries(&mut entries);
    let newest = entries.iter().max_by_key(|e| (e.mtime, e.size)).unwrap();
    println!("{} entries, first {}, last {}", entries.len(), entries[0].name(), entries[entries.len() - 1].name());
    println!("newest {} dirs {}", newest.path, entries.iter().filter(|e| e.kind == Kind::Dir).count());
    println!("order {:016x}", checksum(entries.iter().map(|e| e.path.as_str())));
    summary(&entries);
}
