//! Builds a positional full-text index of articles in memory and answers queries from it.
use std::collections::{BinaryHeap, HashMap};
use std::io::{self, BufWriter, Write};

/// A list of postings: for each document its number (as a difference), the count of positions, and the positions (as differences).
#[derive(Default)]
struct PostingList {
    bytes: Vec<u8>,
    documents: u32,
    occurrences: u64,
    last_document: u32,
    skips: Vec<Skip>,
}

#[derive(Clone, Copy)]
struct Skip {
    before: u32,
    offset: u32,
}

const SKIP_EVERY: u32 = 64;

fn put_varint(out: &mut Vec<u8>, mut value: u32) {
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

fn get_varint(bytes: &[u8], at: &mut usize) -> u32 {
    let mut value = 0;
    let mut shift = 0;
    loop {
        let byte = bytes[*at];
        *at += 1;
        value |= ((byte & 0x7f) as u32) << shift;
        if byte < 0x80 {
            return value;
        }
        shift += 7;
    }
}

impl PostingList {
    fn append(&mut self, document: u32, positions: &[u32]) {
        if self.documents % SKIP_EVERY == 0 {
            self.skips.push(Skip { before: self.last_document, offset: self.bytes.len() as u32 });
        }
        put_varint(&mut self.bytes, document - self.last_document);
        put_varint(&mut self.bytes, positions.len() as u32);
        let mut last = 0;
        for &p in positions {
            put_varint(&mut self.bytes, p - last);
            last = p;
        }
        self.last_document = document;
        self.documents += 1;
        self.occurrences += positions.len() as u64;
    }

    fn cursor(&self) -> Cursor<'_> {
        let mut c = Cursor { list: self, at: 0, document: 0, count: 0, positions_at: 0, read: 0 };
        c.next();
        c
    }
}

struct Cursor<'a> {
    list: &'a PostingList,
    at: usize,
    document: u32,
    count: u32,
    positions_at: usize,
    read: u32,
}

const END: u32 = u32::MAX;

impl Cursor<'_> {
    fn next(&mut self) {
        if self.read == self.list.documents {
            self.document = END;
            return;
        }
        self.document += get_varint(&self.list.bytes, &mut self.at);
        self.count = get_varint(&self.list.bytes, &mut self.at);
        self.positions_at = self.at;
        for _ in 0..self.count {
            while self.list.bytes[self.at] >= 0x80 {
                self.at += 1;
            }
            self.at += 1;
        }
        self.read += 1;
    }

    fn seek(&mut self, document: u32) {
        if self.document >= document {
            return;
        }
        let skips = &self.list.skips;
        let block = skips.partition_point(|s| s.before < document).saturating_sub(1);
        if block as u32 * SKIP_EVERY > self.read {
            self.at = skips[block].offset as usize;
            self.document = skips[block].before;
            self.read = block as u32 * SKIP_EVERY;
            self.next();
        }
        while self.document < document {
            self.next();
        }
    }

    fn positions(&self, out: &mut Vec<u32>) {
        out.clear();
        let (mut at, mut last) = (self.positions_at, 0);
        for _ in 0..self.count {
            last += get_varint(&self.list.bytes, &mut at);
            out.push(last);
        }
    }
}

#[derive(Default)]
struct Index {
    terms: HashMap<Box<str>, u32>,
    lists: Vec<PostingList>,
    lengths: Vec<u32>,
}

/// Collects the positions of one document before they are appended to the lists.
#[derive(Default)]
struct DocumentBuffer {
    occurrences: Vec<(u32, u32)>,
    positions: Vec<u32>,
    word: String,
}

impl Index {
    fn term_id(&mut self, word: &str) -> u32 {
        if let Some(id) = self.terms.get(word) {
            return *id;
        }
        let id = self.lists.len() as u32;
        self.terms.insert(word.into(), id);
        self.lists.push(PostingList::default());
        id
    }

    fn add_document(&mut self, text: &str, buffer: &mut DocumentBuffer) {
        let document = self.lengths.len() as u32 + 1;
        buffer.occurrences.clear();
        let mut position = 0;
        for raw in text.split(|c: char| !c.is_alphanumeric()).filter(|w| !w.is_empty()) {
            buffer.word.clear();
            buffer.word.extend(raw.chars().flat_map(char::to_lowercase));
            let id = self.term_id(&buffer.word);
            buffer.occurrences.push((id, position));
            position += 1;
        }
        self.lengths.push(position);
        buffer.occurrences.sort_unstable();
        for group in buffer.occurrences.chunk_by(|a, b| a.0 == b.0) {
            buffer.positions.clear();
            buffer.positions.extend(group.iter().map(|o| o.1));
            self.lists[group[0].0 as usize].append(document, &buffer.positions);
        }
    }

    fn lookup(&self, word: &str) -> Option<&PostingList> {
        self.terms.get(word).map(|id| &self.lists[*id as usize])
    }

    fn score(&self, list: &PostingList, document: u32, count: u32) -> f64 {
        let rarity = (self.lengths.len() as f64 / list.documents as f64).ln() + 1.0;
        rarity * count as f64 / (count as f64 + 0.5 + self.lengths[document as usize - 1] as f64 / 150.0)
    }

    fn intersect(&self, lists: &[&PostingList], mut found: impl FnMut(u32, &[Cursor])) {
        let mut order: Vec<usize> = (0..lists.len()).collect();
        order.sort_by_key(|i| lists[*i].documents);
        let mut cursors: Vec<Cursor> = lists.iter().map(|l| l.cursor()).collect();
        let mut document = cursors[order[0]].document;
        'documents: while document != END {
            for &i in &order {
                cursors[i].seek(document);
                if cursors[i].document != document {
                    document = cursors[i].document;
                    continue 'documents;
                }
            }
            found(document, &cursors);
            let first = &mut cursors[order[0]];
            first.next();
            document = first.document;
        }
    }

    fn query_and(&self, lists: &[&PostingList]) -> Vec<(u32, f64)> {
        let mut hits = Vec::new();
        self.intersect(lists, |document, cursors| {
            let score = cursors.iter().map(|c| self.score(c.list, document, c.count)).sum();
            hits.push((document, score));
        });
        hits
    }

    fn query_phrase(&self, lists: &[&PostingList]) -> Vec<(u32, f64)> {
        let mut hits = Vec::new();
        let mut positions: Vec<Vec<u32>> = vec![Vec::new(); lists.len()];
        self.intersect(lists, |document, cursors| {
            for (c, out) in cursors.iter().zip(&mut positions) {
                c.positions(out);
            }
            let (first, rest) = positions.split_first().unwrap();
            let count = first.iter().filter(|p| rest.iter().enumerate().all(|(i, r)| r.binary_search(&(*p + 1 + i as u32)).is_ok())).count();
            if count > 0 {
                hits.push((document, count as f64));
            }
        });
        hits
    }

    fn query_or(&self, lists: &[&PostingList]) -> Vec<(u32, f64)> {
        let mut cursors: Vec<Cursor> = lists.iter().map(|l| l.cursor()).collect();
        let mut hits = Vec::new();
        loop {
            let document = cursors.iter().map(|c| c.document).min().unwrap_or(END);
            if document == END {
                return hits;
            }
            let mut score = 0.0;
            for c in &mut cursors {
                if c.document == document {
                    score += self.score(c.list, document, c.count);
                    c.next();
                }
            }
            hits.push((document, score));
        }
    }
}

/// The best hits, best first.
fn top(hits: &[(u32, f64)], count: usize) -> Vec<u32> {
    let mut heap = BinaryHeap::with_capacity(count + 1);
    for (document, score) in hits {
        let rank = ((score * 1e6) as u64, END - document);
        if heap.len() < count {
            heap.push(std::cmp::Reverse(rank));
        } else if heap.peek().is_some_and(|worst| worst.0 < rank) {
            heap.pop();
            heap.push(std::cmp::Reverse(rank));
        }
    }
    heap.into_sorted_vec().into_iter().map(|r| END - r.0 .1).collect()
}

fn answer(index: &Index, query: &str) -> Vec<(u32, f64)> {
    let mut words = query.split(' ');
    let kind = words.next().unwrap_or("");
    let lists: Vec<Option<&PostingList>> = words.map(|w| index.lookup(w)).collect();
    let known: Vec<&PostingList> = lists.iter().flatten().copied().collect();
    match kind {
        "or" => index.query_or(&known),
        _ if known.len() < lists.len() || known.is_empty() => Vec::new(),
        "phrase" => index.query_phrase(&known),
        _ => index.query_and(&known),
    }
}

fn main() -> io::Result<()> {
    let text = std::fs::read_to_string("data/articles.txt")?;
    let queries = std::fs::read_to_string("data/queries.txt")?;
    let mut index = Index::default();
    let mut buffer = DocumentBuffer::default();
    for line in text.lines() {
        index.add_document(line, &mut buffer);
    }
    let bytes: usize = index.lists.iter().map(|l| l.bytes.len()).sum();
    let occurrences: u64 = index.lists.iter().map(|l| l.occurrences).sum();
    let mut out = BufWriter::new(io::stdout().lock());
    writeln!(out, "{} documents, {} terms, {occurrences} occurrences in {bytes} bytes", index.lengths.len(), index.lists.len())?;
    let (mut total, mut digest) = (0, 0u64);
    for (number, query) in queries.lines().enumerate() {
        let hits = answer(&index, query);
        let best = top(&hits, 10);
        total += hits.len();
        for d in &best {
            digest = digest.rotate_left(7).wrapping_add(*d as u64);
        }
        if number % 200 == 0 {
            writeln!(out, "{query}: {} hits, best {best:?}", hits.len())?;
        }
    }
    writeln!(out, "{total} hits, digest {digest:016x}")?;
    out.flush()
}
