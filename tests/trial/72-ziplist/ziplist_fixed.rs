// ziplist: reads the central directory of a ZIP archive, checks it for entries that overlap or appear twice, and prints what is in it.
use std::collections::{BTreeMap, HashMap};
use std::fs::File;
use std::io::{self, BufReader, Read, Seek, SeekFrom};
use std::process;

const CENTRAL: u32 = 0x02014b50;
const END: u32 = 0x06054b50;
const END_BYTES: u64 = 22;

#[derive(Debug, Clone, Copy, PartialEq)]
enum Method {
    Stored,
    Deflated,
    Other(u16),
}

struct Entry {
    name: String,
    method: Method,
    day: (u16, u8, u8),
    modified: Option<u32>,
    crc: u32,
    packed: u64,
    size: u64,
    offset: u64,
    mode: u32,
}

fn bad(what: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, what.to_string())
}

trait ReadLittle: Read {
    fn u16(&mut self) -> io::Result<u16> {
        let mut bytes = [0; 2];
        self.read_exact(&mut bytes)?;
        Ok(u16::from_le_bytes(bytes))
    }

    fn u32(&mut self) -> io::Result<u32> {
        let mut bytes = [0; 4];
        self.read_exact(&mut bytes)?;
        Ok(u32::from_le_bytes(bytes))
    }

    fn bytes_of(&mut self, n: usize) -> io::Result<Vec<u8>> {
        let mut bytes = vec![0; n];
        self.read_exact(&mut bytes)?;
        Ok(bytes)
    }
}

impl<R: Read> ReadLittle for R {}

/// The offset and the length of the central directory.
fn find_directory<R: Read + Seek>(file: &mut R) -> io::Result<(u64, u64)> {
    let size = file.seek(SeekFrom::End(0))?;
    let from = size.saturating_sub(END_BYTES + 65535);
    file.seek(SeekFrom::Start(from))?;
    let tail = file.bytes_of((size - from) as usize)?;
    for at in (0..=tail.len().saturating_sub(END_BYTES as usize)).rev() {
        let mut end = &tail[at..];
        if end.u32()? != END {
            continue;
        }
        let mut numbers = &end[8..];
        let (length, offset) = (numbers.u32()?, numbers.u32()?);
        if offset as u64 + length as u64 <= from + at as u64 {
            return Ok((offset as u64, length as u64));
        }
    }
    Err(bad("no end of central directory"))
}

/// The time of modification from an extended timestamp, if there is one.
fn modified_of(mut extra: &[u8]) -> io::Result<Option<u32>> {
    while extra.len() >= 4 {
        let (kind, length) = (extra.u16()?, extra.u16()? as usize);
        if length > extra.len() {
            return Err(bad("extra field is too long"));
        }
        let (field, rest) = extra.split_at(length);
        if kind == 0x5455 && length >= 5 && field[0] & 1 == 1 {
            return Ok(Some((&field[1..]).u32()?));
        }
        extra = rest;
    }
    Ok(None)
}

fn read_entry<R: Read>(file: &mut R) -> io::Result<(Entry, u64)> {
    if file.u32()? != CENTRAL {
        return Err(bad("no entry where one should be"));
    }
    let _made_by = file.u16()?;
    let _needs = file.u16()?;
    let flags = file.u16()?;
    let method = match file.u16()? {
        0 => Method::Stored,
        8 => Method::Deflated,
        other => Method::Other(other),
    };
    let _time = file.u16()?;
    let date = file.u16()?;
    let crc = file.u32()?;
    let packed = file.u32()? as u64;
    let size = file.u32()? as u64;
    let name_length = file.u16()? as usize;
    let extra_length = file.u16()? as usize;
    let comment_length = file.u16()? as usize;
    let _disk = file.u16()?;
    let _internal = file.u16()?;
    let mode = file.u32()? >> 16;
    let offset = file.u32()? as u64;
    let name = file.bytes_of(name_length)?;
    let extra = file.bytes_of(extra_length)?;
    let _comment = file.bytes_of(comment_length)?;
    let name = if flags & 0x800 != 0 { String::from_utf8_lossy(&name).into_owned() } else { name.iter().map(|b| *b as char).collect() };
    let day = (1980 + (date >> 9), (date >> 5 & 15) as u8, (date & 31) as u8);
    let entry = Entry { name, method, day, modified: modified_of(&extra)?, crc, packed, size, offset, mode };
    Ok((entry, 46 + (name_length + extra_length + comment_length) as u64))
}

fn read_archive(path: &str) -> io::Result<Vec<Entry>> {
    let mut file = BufReader::new(File::open(path)?);
    let (offset, length) = find_directory(&mut file)?;
    file.seek(SeekFrom::Start(offset))?;
    let mut entries = Vec::new();
    let mut done = 0;
    while done < length {
        let (entry, n) = read_entry(&mut file)?;
        entries.push(entry);
        done += n;
    }
    Ok(entries)
}

fn check(entries: &[Entry]) -> (usize, usize) {
    let mut names: HashMap<&str, usize> = HashMap::new();
    for e in entries {
        *names.entry(&e.name).or_default() += 1;
    }
    let mut order: Vec<&Entry> = entries.iter().collect();
    order.sort_by_key(|e| e.offset);
    let overlaps = order.windows(2).filter(|w| w[0].offset + 30 + w[0].name.len() as u64 + w[0].packed > w[1].offset).count();
    (names.values().filter(|n| **n > 1).count(), overlaps)
}

fn run(path: &str) -> io::Result<()> {
    let entries = read_archive(path)?;
    let (twice, overlaps) = check(&entries);
    let mut kinds: BTreeMap<&str, (usize, u64, u64, usize)> = BTreeMap::new();
    let mut months: BTreeMap<(u16, u8), usize> = BTreeMap::new();
    let (mut sum, mut newest, mut odd) = (0u64, 0, 0);
    for e in &entries {
        let kind = kinds.entry(e.name.rsplit('.').next().unwrap_or("")).or_default();
        kind.0 += 1;
        kind.1 += e.packed;
        kind.2 += e.size;
        kind.3 += (e.method == Method::Stored) as usize;
        *months.entry((e.day.0, e.day.1)).or_default() += 1;
        newest = newest.max(e.modified.unwrap_or(0));
        odd += (matches!(e.method, Method::Other(_)) || e.mode & 0o111 != 0 || e.day.2 == 0) as usize;
        sum = sum.rotate_left(7) ^ e.crc as u64 ^ e.offset;
    }
    println!("{} entries, {} names twice, {} overlap, {} odd, newest {}, checksum {:016x}", entries.len(), twice, overlaps, odd, newest, sum);
    for (kind, (n, packed, size, stored)) in &kinds {
        println!("{:10} {:6} entries {:8} of {:8} bytes, {} stored", kind, n, packed, size, stored);
    }
    for ((year, month), n) in months.iter().take(4) {
        println!("{}-{:02}: {}", year, month, n);
    }
    Ok(())
}

fn main() {
    let path = std::env::args().nth(1).unwrap_or_else(|| "data/bundle.zip".to_string());
    if let Err(e) = run(&path) {
        eprintln!("ziplist: {}: {}", path, e);
        process::exit(1);
    }
}
