// Sorts a stream of call records by subscriber and time with bounded memory: sorted runs go to temporary files,
// a heap merges them, and the sorted stream is rated on the fly.
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::fs::{self, File};
use std::io::{self, BufReader, BufWriter, Read, Write};
use std::path::{Path, PathBuf};

const RECORD: usize = 32;
const RECORDS: u64 = 19_000_000;
const RUN_RECORDS: usize = 1_000_000;
const BUFFER: usize = 256 * 1024;

#[derive(Clone, Copy)]
struct Call {
    subscriber: u64,
    at: u32,
    seconds: u32,
    cell: u32,
    kind: u32,
    serial: u64,
}

impl Call {
    fn to_bytes(self) -> [u8; RECORD] {
        let mut b = [0u8; RECORD];
        b[0..8].copy_from_slice(&self.subscriber.to_be_bytes());
        b[8..12].copy_from_slice(&self.at.to_be_bytes());
        b[12..16].copy_from_slice(&self.seconds.to_be_bytes());
        b[16..20].copy_from_slice(&self.cell.to_be_bytes());
        b[20..24].copy_from_slice(&self.kind.to_be_bytes());
        b[24..32].copy_from_slice(&self.serial.to_be_bytes());
        b
    }
    fn from_bytes(b: &[u8; RECORD]) -> Call {
        let u32_at = |i: usize| u32::from_be_bytes(b[i..i + 4].try_into().unwrap());
        let u64_at = |i: usize| u64::from_be_bytes(b[i..i + 8].try_into().unwrap());
        Call { subscriber: u64_at(0), at: u32_at(8), seconds: u32_at(12), cell: u32_at(16), kind: u32_at(20), serial: u64_at(24) }
    }
    fn key(&self) -> (u64, u32, u64) {
        (self.subscriber, self.at, self.serial)
    }
}

struct Generator {
    state: u64,
    serial: u64,
}

impl Iterator for Generator {
    type Item = Call;
    fn next(&mut self) -> Option<Call> {
        if self.serial == RECORDS {
            return None;
        }
        self.state ^= self.state << 13;
        self.state ^= self.state >> 7;
        self.state ^= self.state << 17;
        let r = self.state;
        self.serial += 1;
        Some(Call {
            subscriber: 490_000_000 + (r >> 44) % 1_500_000,
            at: (self.serial / 4) as u32,
            seconds: (r >> 20) as u32 % 1200,
            cell: (r >> 8) as u32 % 900,
            kind: (r & 3) as u32,
            serial: self.serial,
        })
    }
}

fn write_run(dir: &Path, number: usize, calls: &mut Vec<Call>) -> io::Result<PathBuf> {
    calls.sort_unstable_by_key(Call::key);
    let path = dir.join(format!("run{number:03}"));
    let mut out = BufWriter::with_capacity(BUFFER, File::create(&path)?);
    for c in calls.iter() {
        out.write_all(&c.to_bytes())?;
    }
    out.flush()?;
    calls.clear();
    Ok(path)
}

struct Run {
    input: BufReader<File>,
    current: Call,
}

impl Run {
    fn open(path: &Path) -> io::Result<Option<Run>> {
        let mut r = Run {
            input: BufReader::with_capacity(BUFFER, File::open(path)?),
            current: Call { subscriber: 0, at: 0, seconds: 0, cell: 0, kind: 0, serial: 0 },
        };
        Ok(if r.advance()? { Some(r) } else { None })
    }
    fn advance(&mut self) -> io::Result<bool> {
        let mut b = [0u8; RECORD];
        match self.input.read_exact(&mut b) {
            Ok(()) => {
                self.current = Call::from_bytes(&b);
                Ok(true)
            }
            Err(e) if e.kind() == io::ErrorKind::UnexpectedEof => Ok(false),
            Err(e) => Err(e),
        }
    }
}

#[derive(Default)]
struct Rating {
    subscribers: u64,
    calls: u64,
    cents: u64,
    handovers: u64,
    longest_day: u64,
    digest: u64,
    last: Option<(u64, u32, u64)>,
}

impl Rating {
    fn add(&mut self, c: &Call) {
        let cell_before = match self.last {
            Some((s, cell, total)) if s == c.subscriber => {
                self.last = Some((s, c.cell, total + c.seconds as u64));
                Some(cell)
            }
            _ => {
                self.subscribers += 1;
                self.last = Some((c.subscriber, c.cell, c.seconds as u64));
                None
            }
        };
        if cell_before.is_some_and(|x| x != c.cell) {
            self.handovers += 1;
        }
        self.longest_day = self.longest_day.max(self.last.unwrap().2);
        self.calls += 1;
        self.cents += match c.kind {
            0 => c.seconds as u64 / 6,
            1 => 9,
            _ => 3 + c.seconds as u64 / 30,
        };
        self.digest = (self.digest ^ c.serial).wrapping_mul(0x100000001b3);
    }
}

fn merge(paths: &[PathBuf], rating: &mut Rating) -> io::Result<()> {
    let mut runs = Vec::new();
    let mut heap = BinaryHeap::new();
    for p in paths {
        if let Some(r) = Run::open(p)? {
            heap.push(Reverse((r.current.key(), runs.len())));
            runs.push(r);
        }
    }
    while let Some(mut top) = heap.peek_mut() {
        let i = top.0 .1;
        rating.add(&runs[i].current);
        if runs[i].advance()? {
            top.0 .0 = runs[i].current.key();
        } else {
            std::collections::binary_heap::PeekMut::pop(top);
        }
    }
    Ok(())
}

fn main() -> io::Result<()> {
    let dir = PathBuf::from(format!("runs-{}", std::process::id()));
    fs::create_dir(&dir)?;
    let mut calls = Vec::with_capacity(RUN_RECORDS);
    let mut paths = Vec::new();
    for c in (Generator { state: 88172645463325252, serial: 0 }) {
        calls.push(c);
        if calls.len() == RUN_RECORDS {
            paths.push(write_run(&dir, paths.len(), &mut calls)?);
        }
    }
    if !calls.is_empty() {
        paths.push(write_run(&dir, paths.len(), &mut calls)?);
    }
    let mut rating = Rating::default();
    let merged = merge(&paths, &mut rating);
    fs::remove_dir_all(&dir)?;
    merged?;
    println!("runs {}, calls {}, subscribers {}", paths.len(), rating.calls, rating.subscribers);
    println!("cents {}, handovers {}, longest {}, digest {:016x}", rating.cents, rating.handovers, rating.longest_day, rating.digest);
    Ok(())
}
