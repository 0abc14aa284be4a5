// Ships traces: builds the tree of spans of each request from the events of a (simulated) service, encodes it as
// nested length-prefixed messages, checks what was encoded by reading it back, and prints statistics.
use std::collections::BTreeMap;

#[derive(Default, Clone)]
struct Attribute {
    key: String,
    value: String,
}

#[derive(Default)]
struct Span {
    name: String,
    id: u64,
    start: u64,
    duration: u64,
    attributes: Vec<Attribute>,
    children: Vec<Span>,
    cached_len: usize,
}

struct Rng(u64);

impl Rng {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }
    fn below(&mut self, n: u64) -> u64 {
        (self.next() >> 11) % n
    }
}

const CALLS: [&str; 8] = ["handler", "auth.check", "db.query", "cache.get", "render", "template.include", "rpc.call", "serialize"];

struct Builder {
    rng: Rng,
    next_id: u64,
}

impl Builder {
    fn span(&mut self, depth: u32, start: u64) -> Span {
        let call = CALLS[self.rng.below(8) as usize];
        let id = self.next_id;
        self.next_id += 1;
        let mut s = Span { name: call.to_string(), id, start, duration: 20 + self.rng.below(900), ..Span::default() };
        for _ in 0..self.rng.below(3) {
            let key = ["http.status", "db.table", "peer", "user"][self.rng.below(4) as usize].to_string();
            let value = format!("{}-{}", call, self.rng.below(5000));
            s.attributes.push(Attribute { key, value });
        }
        if depth > 0 {
            let leaves = self.rng.below(3);
            for i in 0..leaves {
                let leaf = self.span(0, start + 1 + i);
                s.children.push(leaf);
            }
            let inner = self.span(depth - 1, start + 5);
            s.duration += inner.duration;
            s.children.push(inner);
        }
        s
    }

    fn trace(&mut self, n: u64) -> Span {
        self.next_id = n * 1000;
        let depth = 90 + self.rng.below(90) as u32;
        self.span(depth, 1_700_000_000_000 + n * 250)
    }
}

// ---- encoding ----

fn varint_len(mut v: u64) -> usize {
    let mut n = 1;
    while v >= 128 {
        v >>= 7;
        n += 1;
    }
    n
}

fn put_varint(out: &mut Vec<u8>, mut v: u64) {
    while v >= 128 {
        out.push(v as u8 | 128);
        v >>= 7;
    }
    out.push(v as u8);
}

fn put_text(out: &mut Vec<u8>, tag: u8, s: &str) {
    out.push(tag);
    put_varint(out, s.len() as u64);
    out.extend_from_slice(s.as_bytes());
}

fn text_len(s: &str) -> usize {
    1 + varint_len(s.len() as u64) + s.len()
}

impl Attribute {
    fn encoded_len(&self) -> usize {
        text_len(&self.key) + text_len(&self.value)
    }
    fn encode(&self, out: &mut Vec<u8>) {
        put_text(out, 0x0a, &self.key);
        put_text(out, 0x12, &self.value);
    }
}

impl Span {
    fn own_len(&self) -> usize {
        let mut n = text_len(&self.name) + 3 + varint_len(self.id) + varint_len(self.start) + varint_len(self.duration);
        for a in &self.attributes {
            let len = a.encoded_len();
            n += 1 + varint_len(len as u64) + len;
        }
        n
    }

    fn encoded_len(&mut self) -> usize {
        let mut n = self.own_len();
        for c in &mut self.children {
            let len = c.encoded_len();
            n += 1 + varint_len(len as u64) + len;
        }
        self.cached_len = n;
        n
    }

    fn encode(&self, out: &mut Vec<u8>) {
        put_text(out, 0x0a, &self.name);
        out.push(0x10);
        put_varint(out, self.id);
        out.push(0x18);
        put_varint(out, self.start);
        out.push(0x20);
        put_varint(out, self.duration);
        for a in &self.attributes {
            out.push(0x2a);
            put_varint(out, a.encoded_len() as u64);
            a.encode(out);
        }
        for c in &self.children {
            out.push(0x32);
            put_varint(out, c.cached_len as u64);
            c.encode(out);
        }
    }
}

// ---- reading back ----

struct Reader<'a> {
    data: &'a [u8],
    at: usize,
}

impl<'a> Reader<'a> {
    fn varint(&mut self) -> Option<u64> {
        let (mut v, mut shift) = (0u64, 0);
        loop {
            let b = *self.data.get(self.at)?;
            self.at += 1;
            v |= ((b & 127) as u64) << shift;
            if b < 128 {
                return Some(v);
            }
            shift += 7;
        }
    }
    fn bytes(&mut self) -> Option<&'a [u8]> {
        let n = self.varint()? as usize;
        let s = self.data.get(self.at..self.at + n)?;
        self.at += n;
        Some(s)
    }
}

#[derive(Default)]
struct Stats {
    spans: u64,
    attributes: u64,
    deepest: u32,
    by_name: BTreeMap<String, (u64, u64)>,
}

fn read_span(data: &[u8], depth: u32, st: &mut Stats) -> Option<()> {
    let mut r = Reader { data, at: 0 };
    let (mut name, mut duration) = ("", 0);
    let mut inner = Vec::new();
    st.spans += 1;
    st.deepest = st.deepest.max(depth);
    while r.at < data.len() {
        match r.varint()? {
            0x0a => name = std::str::from_utf8(r.bytes()?).ok()?,
            0x10 | 0x18 => {
                r.varint()?;
            }
            0x20 => duration = r.varint()?,
            0x2a => {
                r.bytes()?;
                st.attributes += 1;
            }
            0x32 => inner.push(r.bytes()?),
            _ => return None,
        }
    }
    if let Some(e) = st.by_name.get_mut(name) {
        e.0 += 1;
        e.1 += duration;
    } else {
        st.by_name.insert(name.to_string(), (1, duration));
    }
    for d in inner {
        read_span(d, depth + 1, st)?;
    }
    Some(())
}

fn checksum(h: u64, data: &[u8]) -> u64 {
    data.chunks(8).fold(h, |h, c| {
        let mut b = [0u8; 8];
        b[..c.len()].copy_from_slice(c);
        (h ^ u64::from_le_bytes(b)).wrapping_mul(0x100000001b3)
    })
}

fn main() {
    let mut b = Builder { rng: Rng(0x2545f4914f6cdd1d), next_id: 0 };
    let mut st = Stats::default();
    let (mut total, mut digest, mut largest) = (0usize, 1u64, 0usize);
    let mut out = Vec::new();
    for n in 0..8000 {
        let mut root = b.trace(n);
        out.clear();
        let len = root.encoded_len();
        out.reserve(len);
        root.encode(&mut out);
        assert_eq!(out.len(), len);
        if read_span(&out, 1, &mut st).is_none() {
            eprintln!("traceship: trace {n} cannot be read back");
            std::process::exit(1);
        }
        total += len;
        largest = largest.max(len);
        digest = checksum(digest, &out);
    }
    for (name, (count, time)) in &st.by_name {
        println!("{name:<18} {count:>8} {:>10.1}", *time as f64 / *count as f64);
    }
    println!("spans {}, attributes {}, deepest {}, bytes {total}, largest {largest}, digest {digest:016x}", st.spans, st.attributes, st.deepest);
}
