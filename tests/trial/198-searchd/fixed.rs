//! A small full text search daemon and the tool which loads documents into it.
//! Both ends run in this process and talk over a TCP connection on loopback.

use std::collections::{BTreeMap, HashMap};
use std::fmt::Write as _;
use std::io::{self, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::thread;

mod proto {
    use super::*;

    pub const MAX_BODY: u32 = 1 << 20;

    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    #[repr(u8)]
    pub enum Op {
        AddBatch = 1,
        Search = 2,
        Stats = 3,
        Quit = 4,
    }

    impl Op {
        pub fn from_u8(b: u8) -> io::Result<Op> {
            match b {
                1 => Ok(Op::AddBatch),
                2 => Ok(Op::Search),
                3 => Ok(Op::Stats),
                4 => Ok(Op::Quit),
                _ => Err(io::Error::new(io::ErrorKind::InvalidData, format!("opcode {b}"))),
            }
        }
    }

    /// op, id of the request, length of the body
    pub fn encode_header(op: u8, id: u32, len: u32) -> [u8; 9] {
        let mut h = [0u8; 9];
        h[0] = op;
        h[1..5].copy_from_slice(&id.to_be_bytes());
        h[5..9].copy_from_slice(&len.to_be_bytes());
        h
    }

    pub fn read_message<R: Read>(r: &mut R) -> io::Result<(u8, u32, Vec<u8>)> {
        let mut h = [0u8; 9];
        r.read_exact(&mut h)?;
        let id = u32::from_be_bytes([h[1], h[2], h[3], h[4]]);
        let len = u32::from_be_bytes([h[5], h[6], h[7], h[8]]);
        if len > MAX_BODY {
            return Err(io::Error::new(io::ErrorKind::InvalidData, "body is too large"));
        }
        let mut body = vec![0u8; len as usize];
        r.read_exact(&mut body)?;
        Ok((h[0], id, body))
    }
}

use proto::Op;

// ---- the index ----

#[derive(Default)]
struct Index {
    terms: HashMap<String, Vec<(u32, u16)>>,
    doc_len: Vec<u32>,
}

const STOPWORDS: [&str; 8] = ["the", "and", "of", "to", "in", "is", "that", "for"];

fn tokenize(text: &str) -> impl Iterator<Item = String> + '_ {
    text.split(|c: char| !c.is_alphanumeric())
        .filter(|w| w.len() > 1)
        .map(|w| stem(&w.to_lowercase()))
        .filter(|w| !STOPWORDS.contains(&w.as_str()))
}

fn stem(w: &str) -> String {
    for suffix in ["ations", "ation", "ingly", "ings", "ing", "edly", "ed", "ies", "es", "s"] {
        if let Some(base) = w.strip_suffix(suffix) {
            if base.len() >= 3 {
                return base.to_string();
            }
        }
    }
    w.to_string()
}

impl Index {
    fn add(&mut self, text: &str) {
        let doc = self.doc_len.len() as u32;
        let mut freq: BTreeMap<String, u16> = BTreeMap::new();
        let mut len = 0;
        for t in tokenize(text) {
            *freq.entry(t).or_default() += 1;
            len += 1;
        }
        for (t, n) in freq {
            self.terms.entry(t).or_default().push((doc, n));
        }
        self.doc_len.push(len);
    }

    /// The best documents by BM25.
    fn search(&self, query: &str, limit: usize) -> Vec<(u32, f64)> {
        let n = self.doc_len.len() as f64;
        let avg = self.doc_len.iter().map(|l| *l as f64).sum::<f64>() / n.max(1.0);
        let mut scores: HashMap<u32, f64> = HashMap::new();
        for t in tokenize(query) {
            let Some(list) = self.terms.get(&t) else { continue };
            let df = list.len() as f64;
            let idf = ((n - df + 0.5) / (df + 0.5) + 1.0).ln();
            for (doc, tf) in list {
                let (tf, dl) = (*tf as f64, self.doc_len[*doc as usize] as f64);
                *scores.entry(*doc).or_default() += idf * tf * 2.2 / (tf + 1.2 * (0.25 + 0.75 * dl / avg));
            }
        }
        let mut hits: Vec<(u32, f64)> = scores.into_iter().collect();
        hits.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
        hits.truncate(limit);
        hits
    }
}

// ---- the daemon ----

fn handle_request(index: &mut Index, op: Op, body: &str) -> String {
    let mut out = String::new();
    match op {
        Op::AddBatch => {
            let before = index.doc_len.len();
            body.split('\n').filter(|l| !l.is_empty()).for_each(|l| index.add(l));
            let _ = write!(out, "added {}", index.doc_len.len() - before);
        }
        Op::Search => {
            for (doc, score) in index.search(body, 5) {
                let _ = write!(out, "{doc}:{score:.3} ");
            }
        }
        Op::Stats => {
            let postings: usize = index.terms.values().map(Vec::len).sum();
            let _ = write!(out, "{} docs {} terms {} postings", index.doc_len.len(), index.terms.len(), postings);
        }
        Op::Quit => out.push_str("bye"),
    }
    out
}

fn serve(listener: TcpListener) -> io::Result<u64> {
    let (stream, _) = listener.accept()?;
    let mut reader = BufReader::with_capacity(64 * 1024, stream.try_clone()?);
    let mut writer = stream;
    let mut index = Index::default();
    let mut served = 0;
    loop {
        let (op, id, body) = proto::read_message(&mut reader)?;
        let op = Op::from_u8(op)?;
        let body = String::from_utf8(body).map_err(|e| io::Error::new(io::ErrorKind::InvalidData, e))?;
        let reply = handle_request(&mut index, op, &body);
        let mut msg = proto::encode_header(0x80, id, reply.len() as u32).to_vec();
        msg.extend_from_slice(reply.as_bytes());
        writer.write_all(&msg)?;
        served += 1;
        if op == Op::Quit {
            return Ok(served);
        }
    }
}

// ---- the client ----

struct Client {
    reader: BufReader<TcpStream>,
    writer: TcpStream,
    next_id: u32,
}

impl Client {
    fn connect(addr: SocketAddr) -> io::Result<Client> {
        let stream = TcpStream::connect(addr)?;
        stream.set_nodelay(true)?;
        Ok(Client { reader: BufReader::new(stream.try_clone()?), writer: stream, next_id: 1 })
    }

    fn send_request(&mut self, op: Op, body: &[u8]) -> io::Result<u32> {
        let id = self.next_id;
        self.next_id += 1;
        self.writer.write_all(&proto::encode_header(op as u8, id, body.len() as u32))?;
        if !body.is_empty() {
            self.writer.write_all(body)?;
        }
        Ok(id)
    }

    fn call(&mut self, op: Op, body: &str) -> io::Result<String> {
        let id = self.send_request(op, body.as_bytes())?;
        let (_, got, reply) = proto::read_message(&mut self.reader)?;
        if got != id {
            return Err(io::Error::new(io::ErrorKind::InvalidData, format!("reply to {got}, not {id}")));
        }
        String::from_utf8(reply).map_err(|e| io::Error::new(io::ErrorKind::InvalidData, e))
    }
}

// ---- documents ----

struct Rng(u64);

impl Rng {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    /// Small numbers are much more frequent.
    fn skewed(&mut self, n: u64) -> u64 {
        let a = self.next() % n + 1;
        let b = self.next() % n + 1;
        a * b / n * (a.min(b)) / n
    }
}

fn make_word(mut n: u64) -> String {
    const SYL: [&str; 16] =
        ["ba", "ket", "mo", "lin", "sur", "ta", "vel", "ing", "ro", "ed", "pan", "s", "dor", "ation", "ki", "the"];
    let mut w = String::new();
    loop {
        w.push_str(SYL[(n % 16) as usize]);
        n /= 16;
        if n == 0 {
            return w;
        }
    }
}

fn make_document(rng: &mut Rng, words: &[String]) -> String {
    let n = 40 + rng.next() % 120;
    let mut doc = String::new();
    for i in 0..n {
        if i > 0 {
            doc.push_str(if rng.next() % 12 == 0 { ". " } else { " " });
        }
        doc.push_str(&words[rng.skewed(words.len() as u64) as usize % words.len()]);
    }
    doc
}

fn checksum(h: u64, s: &str) -> u64 {
    s.bytes().fold(h, |h, b| (h ^ b as u64).wrapping_mul(0x100000001b3))
}

fn load_documents(client: &mut Client, words: &[String]) -> io::Result<usize> {
    const BATCHES: usize = 64;
    const BATCH: usize = 150;
    let mut rng = Rng(0x9e3779b97f4a7c15);
    let mut added = 0;
    for _ in 0..BATCHES {
        let docs: Vec<String> = (0..BATCH).map(|_| make_document(&mut rng, words)).collect();
        let reply = client.call(Op::AddBatch, &docs.join("\n"))?;
        added += reply.rsplit(' ').next().and_then(|n| n.parse::<usize>().ok()).unwrap_or(0);
    }
    Ok(added)
}

fn main() -> io::Result<()> {
    let listener = TcpListener::bind(("127.0.0.1", 0))?;
    let addr = listener.local_addr()?;
    let server = thread::spawn(move || serve(listener));
    let words: Vec<String> = (0..6000).map(|i| make_word(i * 7 + 3)).collect();

    let mut client = Client::connect(addr)?;
    let added = load_documents(&mut client, &words)?;
    println!("{added} documents added; {}", client.call(Op::Stats, "")?);
    let mut rng = Rng(77);
    let mut sum = 0xcbf29ce484222325;
    for i in 0..50 {
        let query: Vec<&str> = (0..3).map(|_| words[rng.skewed(6000) as usize].as_str()).collect();
        let hits = client.call(Op::Search, &query.join(" "))?;
        sum = checksum(sum, &hits);
        if i % 10 == 0 {
            println!("{:?}: {}", query, hits);
        }
    }
    println!("checksum {sum:016x}; {}", client.call(Op::Quit, "")?);
    println!("{} requests served", server.join().unwrap()?);
    Ok(())
}
