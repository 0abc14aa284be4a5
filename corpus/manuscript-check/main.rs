//! Applies edits to a manuscript and checks its lines, as an editor does while its user writes. Usage: program TEXT EDITS
//! An edit is a line of EDITS: the place in characters and what is written there. An empty line of EDITS asks for a check.

use std::env;
use std::error::Error;
use std::fs::{self, File};
use std::io::BufReader;

use ropey::Rope;

#[derive(Default)]
struct Found {
    lines: usize,
    empty: usize,
    trailing: usize,
    long: usize,
}

fn check(text: &Rope) -> Found {
    let mut found = Found::default();
    for line in text.lines() {
        found.lines += 1;
        let length = line.len_bytes();
        if length <= 1 {
            found.empty += 1;
        } else if line.byte(length - 2) == b' ' {
            found.trailing += 1;
        }
        if length > 60 {
            found.long += 1;
        }
    }
    found
}

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = env::args().skip(1);
    let (Some(path), Some(edits)) = (arguments.next(), arguments.next()) else {
        return Err("usage: program TEXT EDITS".into());
    };
    let mut text = Rope::from_reader(BufReader::new(File::open(path)?))?;
    for line in fs::read_to_string(edits)?.lines() {
        match line.split_once(' ') {
            Some((place, words)) => text.insert(place.parse::<usize>()?.min(text.len_chars()), words),
            None => {
                let found = check(&text);
                println!("{} lines, {} empty, {} with spaces at the end, {} long", found.lines, found.empty, found.trailing, found.long);
            }
        }
    }
    Ok(())
}
