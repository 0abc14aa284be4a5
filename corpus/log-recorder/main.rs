//! Keeps the last part of each service's log, as a flight recorder does, and says what it holds when the log ends.
//! Usage: program FILE

use std::collections::BTreeMap;
use std::error::Error;
use std::env;
use std::fs::File;
use std::io::{BufRead, BufReader};

use bytes::{Buf, BytesMut};

/// A service keeps so many bytes.
const KEPT: usize = 512 * 1024;

struct Recorder {
    recent: BytesMut,
    lines: usize,
}

impl Recorder {
    fn new() -> Recorder {
        Recorder { recent: BytesMut::with_capacity(KEPT), lines: 0 }
    }

    fn record(&mut self, line: &[u8]) {
        while !self.recent.is_empty() && self.recent.len() + line.len() > KEPT {
            let first = self.recent.iter().position(|&byte| byte == b'\n').map_or(self.recent.len(), |end| end + 1);
            self.recent.advance(first);
        }
        self.recent.extend_from_slice(line);
        self.lines += 1;
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let path = env::args().nth(1).ok_or("usage: program FILE")?;
    let mut recorders: BTreeMap<Vec<u8>, Recorder> = BTreeMap::new();
    let mut reader = BufReader::new(File::open(path)?);
    let mut line = Vec::new();
    while reader.read_until(b'\n', &mut line)? > 0 {
        let service = line.iter().position(|&byte| byte == b' ').unwrap_or(line.len());
        if !recorders.contains_key(&line[..service]) {
            recorders.insert(line[..service].to_vec(), Recorder::new());
        }
        if let Some(recorder) = recorders.get_mut(&line[..service]) {
            recorder.record(&line);
        }
        line.clear();
    }
    for (service, recorder) in &recorders {
        let held = recorder.recent.iter().filter(|&&byte| byte == b'\n').count();
        println!("{}: {} lines, the last {held} are kept", String::from_utf8_lossy(service), recorder.lines);
    }
    Ok(())
}
