//! Replays a captured websocket session of a market data feed: frames are
//! decoded and reassembled, the updates applied to order books, and a summary
//! is printed.

use std::collections::{BTreeMap, HashMap};
use std::fmt;
use std::fs::File;
use std::io::{self, BufReader, Read};

mod ws {
    use super::*;

    pub const MAX_FRAME_SIZE: usize = 256 * 1024;

    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum OpCode {
        Continue,
        Text,
        Binary,
        Close,
        Ping,
        Pong,
    }

    impl OpCode {
        fn from_bits(b: u8) -> io::Result<OpCode> {
            Ok(match b {
                0 => OpCode::Continue,
                1 => OpCode::Text,
                2 => OpCode::Binary,
                8 => OpCode::Close,
                9 => OpCode::Ping,
                10 => OpCode::Pong,
                _ => return Err(protocol("reserved opcode")),
            })
        }

        fn is_control(self) -> bool {
            matches!(self, OpCode::Close | OpCode::Ping | OpCode::Pong)
        }
    }

    pub struct FrameHeader {
        pub fin: bool,
        pub opcode: OpCode,
        pub mask: Option<[u8; 4]>,
        pub len: usize,
    }

    pub struct Frame {
        pub header: FrameHeader,
        pub payload: Vec<u8>,
    }

    #[derive(Debug)]
    pub enum Message {
        Text(String),
        Binary(Vec<u8>),
        Ping(Vec<u8>),
        Close(u16),
    }

    pub fn protocol(msg: &str) -> io::Error {
        io::Error::new(io::ErrorKind::InvalidData, msg)
    }

    fn parse_header<R: Read>(r: &mut R) -> io::Result<FrameHeader> {
        let mut b = [0u8; 2];
        r.read_exact(&mut b)?;
        if b[0] & 0x70 != 0 {
            return Err(protocol("reserved bits are set"));
        }
        let opcode = OpCode::from_bits(b[0] & 0x0f)?;
        let len = match b[1] & 0x7f {
            126 => {
                let mut l = [0u8; 2];
                r.read_exact(&mut l)?;
                u16::from_be_bytes(l) as usize
            }
            127 => {
                let mut l = [0u8; 8];
                r.read_exact(&mut l)?;
                u64::from_be_bytes(l) as usize
            }
            n => n as usize,
        };
        let mask = if b[1] & 0x80 != 0 {
            let mut m = [0u8; 4];
            r.read_exact(&mut m)?;
            Some(m)
        } else {
            None
        };
        Ok(FrameHeader { fin: b[0] & 0x80 != 0, opcode, mask, len })
    }

    fn unmask(buf: &mut [u8], mask: [u8; 4]) {
        for (i, b) in buf.iter_mut().enumerate() {
            *b ^= mask[i & 3];
        }
    }

    /// Reads the frames of a connection and puts messages together.
    pub struct WebSocket<R> {
        stream: R,
        partial: Option<(OpCode, Vec<u8>)>,
        pub frames: u64,
        pub bytes: u64,
    }

    impl<R: Read> WebSocket<R> {
        pub fn new(stream: R) -> Self {
            WebSocket { stream, partial: None, frames: 0, bytes: 0 }
        }

        fn read_frame(&mut self) -> io::Result<Frame> {
            let header = parse_header(&mut self.stream)?;
            if header.len > MAX_FRAME_SIZE {
                return Err(protocol("frame is too large"));
            }
            if header.opcode.is_control() && (header.len > 125 || !header.fin) {
                return Err(protocol("bad control frame"));
            }
            let mut payload = vec![0u8; MAX_FRAME_SIZE];
            self.stream.read_exact(&mut payload[..header.len])?;
            payload.truncate(header.len);
            if let Some(mask) = header.mask {
                unmask(&mut payload, mask);
            }
            self.frames += 1;
            self.bytes += header.len as u64;
            Ok(Frame { header, payload })
        }

        pub fn read_message(&mut self) -> io::Result<Message> {
            loop {
                let Frame { header, payload } = self.read_frame()?;
                match header.opcode {
                    OpCode::Ping => return Ok(Message::Ping(payload)),
                    OpCode::Pong => continue,
                    OpCode::Close => {
                        let code = payload.get(..2).map_or(1005, |c| u16::from_be_bytes([c[0], c[1]]));
                        return Ok(Message::Close(code));
                    }
                    OpCode::Continue => {
                        let Some((op, mut data)) = self.partial.take() else {
                            return Err(protocol("continuation of nothing"));
                        };
                        data.extend_from_slice(&payload);
                        if header.fin {
                            return finish(op, data);
                        }
                        self.partial = Some((op, data));
                    }
                    op if header.fin => return finish(op, payload),
                    op => self.partial = Some((op, payload)),
                }
            }
        }
    }

    fn finish(op: OpCode, data: Vec<u8>) -> io::Result<Message> {
        match op {
            OpCode::Text => {
                String::from_utf8(data).map(Message::Text).map_err(|_| protocol("text is not UTF-8"))
            }
            _ => Ok(Message::Binary(data)),
        }
    }
}

#[derive(Default)]
struct Book {
    bids: BTreeMap<u64, f64>,
    asks: BTreeMap<u64, f64>,
    last_seq: u64,
    updates: u64,
}

impl Book {
    fn apply(&mut self, levels: &str) -> Result<(), FeedError> {
        for level in levels.split_ascii_whitespace() {
            let mut it = level.split(':');
            let (side, price, size) = match (it.next(), it.next(), it.next()) {
                (Some(s), Some(p), Some(z)) => (s, p, z),
                _ => return Err(FeedError::Level(level.to_string())),
            };
            let cents = price
                .parse::<f64>()
                .map(|p| (p * 100.0).round() as u64)
                .map_err(|_| FeedError::Level(level.to_string()))?;
            let size: f64 = size.parse().map_err(|_| FeedError::Level(level.to_string()))?;
            let half = if side == "b" { &mut self.bids } else { &mut self.asks };
            if size == 0.0 {
                half.remove(&cents);
            } else {
                half.insert(cents, size);
            }
        }
        self.updates += 1;
        Ok(())
    }

    fn depth(half: &BTreeMap<u64, f64>) -> f64 {
        half.values().sum()
    }
}

#[derive(Debug)]
enum FeedError {
    Field(&'static str),
    Level(String),
    Sequence { have: u64, got: u64 },
}

impl fmt::Display for FeedError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            FeedError::Field(n) => write!(f, "no field {n}"),
            FeedError::Level(l) => write!(f, "bad level {l:?}"),
            FeedError::Sequence { have, got } => write!(f, "sequence went from {have} to {got}"),
        }
    }
}

/// The value of a string or number member of a flat JSON object.
fn json_field<'a>(text: &'a str, name: &'static str) -> Result<&'a str, FeedError> {
    let mut rest = text;
    while let Some(i) = rest.find('"') {
        let after = &rest[i + 1..];
        let end = after.find('"').ok_or(FeedError::Field(name))?;
        let key = &after[..end];
        let val = after[end + 1..].strip_prefix(':').ok_or(FeedError::Field(name))?;
        let (value, next) = if let Some(s) = val.strip_prefix('"') {
            let e = s.find('"').ok_or(FeedError::Field(name))?;
            (&s[..e], &s[e + 1..])
        } else {
            let e = val.find([',', '}']).ok_or(FeedError::Field(name))?;
            (&val[..e], &val[e..])
        };
        if key == name {
            return Ok(value);
        }
        rest = next;
    }
    Err(FeedError::Field(name))
}

#[derive(Default)]
struct Feed {
    books: HashMap<String, Book>,
    snapshots: u64,
    errors: u64,
}

impl Feed {
    fn on_text(&mut self, text: &str) -> Result<(), FeedError> {
        let kind = json_field(text, "type")?;
        let sym = json_field(text, "sym")?;
        let seq = json_field(text, "seq")?.parse().map_err(|_| FeedError::Field("seq"))?;
        let levels = json_field(text, "levels")?;
        if !self.books.contains_key(sym) {
            self.books.insert(sym.to_string(), Book::default());
        }
        let book = self.books.get_mut(sym).unwrap();
        if seq < book.last_seq {
            return Err(FeedError::Sequence { have: book.last_seq, got: seq });
        }
        book.last_seq = seq;
        if kind == "snapshot" {
            self.snapshots += 1;
            book.bids.clear();
            book.asks.clear();
        }
        book.apply(levels)
    }

    fn report(&self) {
        let mut names: Vec<_> = self.books.keys().collect();
        names.sort();
        for n in names {
            let b = &self.books[n];
            println!(
                "{n}: {} updates, seq {}, {} bids ({:.4}), {} asks ({:.4})",
                b.updates,
                b.last_seq,
                b.bids.len(),
                Book::depth(&b.bids),
                b.asks.len(),
                Book::depth(&b.asks)
            );
        }
    }
}

fn main() -> io::Result<()> {
    let path = std::env::current_exe()?.parent().unwrap().join("data/feed.bin");
    let mut socket = ws::WebSocket::new(BufReader::with_capacity(64 * 1024, File::open(path)?));
    let mut feed = Feed::default();
    let (mut pings, mut binary) = (0u64, 0u64);
    let code = loop {
        match socket.read_message()? {
            ws::Message::Text(t) => {
                if let Err(e) = feed.on_text(&t) {
                    feed.errors += 1;
                    eprintln!("message dropped: {e}");
                }
            }
            ws::Message::Ping(p) => pings += p.len() as u64,
            ws::Message::Binary(b) => binary += b.len() as u64,
            ws::Message::Close(code) => break code,
        }
    };
    feed.report();
    println!(
        "{} frames, {} bytes, {} snapshots, {} errors, {} ping bytes, {} binary bytes, closed with {}",
        socket.frames, socket.bytes, feed.snapshots, feed.errors, pings, binary, code
    );
    Ok(())
}
