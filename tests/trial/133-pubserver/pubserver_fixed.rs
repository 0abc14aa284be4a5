//! A publication server: takes the deltas of its publishers, keeps the current objects, and saves its state in a directory
//! so that it can go on after a restart. At the end it loads the state again and compares.
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs::{self, File};
use std::io::{self, BufRead, BufReader, Write};
use std::path::PathBuf;

#[derive(Clone, PartialEq)]
struct Object {
    hash: u64,
    serial: u64,
    content: Vec<u8>,
}

#[derive(Clone, Default, PartialEq)]
struct Publisher {
    deltas: u64,
    bytes: u64,
}

#[derive(Clone, Default, PartialEq)]
struct Content {
    session: u64,
    serial: u64,
    objects: BTreeMap<String, Object>,
    publishers: BTreeMap<String, Publisher>,
}

enum Change {
    Publish(String, Vec<u8>),
    Update(String, Vec<u8>),
    Withdraw(String),
}

struct Delta {
    publisher: String,
    change: Change,
}

struct Store {
    dir: PathBuf,
    log: File,
    logged: u64,
}

struct Server {
    content: Content,
    store: Store,
    rejected: u64,
}

fn invalid(what: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, what.to_string())
}

fn hash(data: &[u8]) -> u64 {
    data.iter().fold(0xcbf29ce484222325, |h, &b| (h ^ b as u64).wrapping_mul(0x100000001b3))
}

fn hex(data: &[u8], out: &mut String) {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    for &b in data {
        out.push(DIGITS[(b >> 4) as usize] as char);
        out.push(DIGITS[(b & 15) as usize] as char);
    }
}

fn unhex(text: &str) -> io::Result<Vec<u8>> {
    (0..text.len() / 2).map(|i| u8::from_str_radix(&text[2 * i..2 * i + 2], 16).map_err(|_| invalid("hex"))).collect()
}

// ---- deltas ----

fn parse_delta(line: &str) -> io::Result<Delta> {
    let mut words = line.split(' ');
    let (Some(publisher), Some(op), Some(uri)) = (words.next(), words.next(), words.next()) else {
        return Err(invalid("delta"));
    };
    let body = unhex(words.next().unwrap_or(""))?;
    let change = match op {
        "publish" => Change::Publish(uri.to_string(), body),
        "update" => Change::Update(uri.to_string(), body),
        "withdraw" => Change::Withdraw(uri.to_string()),
        _ => return Err(invalid(op)),
    };
    Ok(Delta { publisher: publisher.to_string(), change })
}

impl Content {
    fn apply(&mut self, delta: &Delta) -> bool {
        self.serial += 1;
        let publisher = self.publishers.entry(delta.publisher.clone()).or_default();
        publisher.deltas += 1;
        match &delta.change {
            Change::Publish(uri, body) | Change::Update(uri, body) => {
                let known = self.objects.contains_key(uri);
                if known != matches!(delta.change, Change::Update(..)) {
                    return false;
                }
                publisher.bytes += body.len() as u64;
                self.objects.insert(uri.clone(), Object { hash: hash(body), serial: self.serial, content: body.clone() });
                true
            }
            Change::Withdraw(uri) => self.objects.remove(uri).is_some(),
        }
    }

    fn to_text(&self) -> String {
        let mut out = String::new();
        let _ = writeln!(out, "session {} {}", self.session, self.serial);
        for (name, p) in &self.publishers {
            let _ = writeln!(out, "publisher {} {} {}", name, p.deltas, p.bytes);
        }
        for (uri, o) in &self.objects {
            let _ = write!(out, "object {} {:016x} {} ", uri, o.hash, o.serial);
            hex(&o.content, &mut out);
            out.push('\n');
        }
        out
    }

    fn from_text(text: &str) -> io::Result<Content> {
        let mut content = Content::default();
        let number = |w: Option<&str>| w.and_then(|w| w.parse::<u64>().ok()).ok_or_else(|| invalid("number"));
        for line in text.lines() {
            let mut w = line.split(' ');
            match w.next() {
                Some("session") => {
                    content.session = number(w.next())?;
                    content.serial = number(w.next())?;
                }
                Some("publisher") => {
                    let name = w.next().unwrap_or("").to_string();
                    content.publishers.insert(name, Publisher { deltas: number(w.next())?, bytes: number(w.next())? });
                }
                Some("object") => {
                    let uri = w.next().unwrap_or("").to_string();
                    let hash = w.next().and_then(|h| u64::from_str_radix(h, 16).ok()).ok_or_else(|| invalid("hash"))?;
                    let serial = number(w.next())?;
                    content.objects.insert(uri, Object { hash, serial, content: unhex(w.next().unwrap_or(""))? });
                }
                _ => return Err(invalid(line)),
            }
        }
        Ok(content)
    }
}

// ---- store ----

impl Store {
    fn create(dir: PathBuf) -> io::Result<Store> {
        fs::create_dir_all(&dir)?;
        let log = File::create(dir.join("changes"))?;
        Ok(Store { dir, log, logged: 0 })
    }

    fn append(&mut self, content: &Content, line: &str) -> io::Result<()> {
        self.log.write_all(format!("{line}\n").as_bytes())?;
        self.logged += 1;
        if self.logged == 1000 { self.save(content) } else { Ok(()) }
    }

    fn save(&mut self, content: &Content) -> io::Result<()> {
        let tmp = self.dir.join("content.tmp");
        File::create(&tmp)?.write_all(content.to_text().as_bytes())?;
        fs::rename(tmp, self.dir.join("content"))?;
        self.log = File::create(self.dir.join("changes"))?;
        self.logged = 0;
        Ok(())
    }

    fn load(&self) -> io::Result<Content> {
        let mut content = Content::from_text(&fs::read_to_string(self.dir.join("content"))?)?;
        for line in fs::read_to_string(self.dir.join("changes"))?.lines() {
            content.apply(&parse_delta(line)?);
        }
        Ok(content)
    }

    fn remove(&self) -> io::Result<()> {
        fs::remove_dir_all(&self.dir)
    }
}

impl Server {
    fn start(dir: PathBuf) -> io::Result<Server> {
        let content = Content { session: 77001, ..Content::default() };
        Ok(Server { content, store: Store::create(dir)?, rejected: 0 })
    }

    fn process(&mut self, line: &str) -> io::Result<()> {
        let delta = parse_delta(line)?;
        if !self.content.apply(&delta) {
            self.rejected += 1;
        }
        self.store.append(&self.content, line)
    }

    fn finish(&mut self) -> io::Result<()> {
        let loaded = self.store.load()?;
        let digest = self.content.objects.values().fold(7u64, |h, o| h.wrapping_mul(31).wrapping_add(o.hash));
        println!("serial {}, objects {}, publishers {}, rejected {}", self.content.serial, self.content.objects.len(),
                 self.content.publishers.len(), self.rejected);
        println!("state is {}, digest {:016x}", if loaded == self.content { "the same" } else { "DIFFERENT" }, digest);
        self.store.remove()
    }
}

fn main() -> io::Result<()> {
    let mut server = Server::start(PathBuf::from(format!("state-{}", std::process::id())))?;
    for line in BufReader::new(File::open("data/deltas.txt")?).lines() {
        server.process(&line?)?;
    }
    server.finish()
}
