//! Keeps events in memory, each compressed by itself with a dictionary of typical ones, and answers what happened to some accounts.
//! Usage: program DICTIONARY EVENTS

use std::collections::BTreeMap;
use std::env;
use std::error::Error;
use std::fs::{self, File};
use std::io::{BufRead, BufReader};

#[cfg(not(feature = "fixed"))]
use zstd::block::{Compressor, Decompressor};
#[cfg(feature = "fixed")]
use zstd::bulk::{Compressor, Decompressor};

const LEVEL: i32 = 3;
const LONGEST: usize = 64 * 1024;

#[cfg(not(feature = "fixed"))]
fn coders(dictionary: &[u8]) -> std::io::Result<(Compressor, Decompressor)> {
    Ok((Compressor::with_dict(dictionary.to_vec()), Decompressor::with_dict(dictionary.to_vec())))
}

#[cfg(feature = "fixed")]
fn coders(dictionary: &[u8]) -> std::io::Result<(Compressor<'static>, Decompressor<'static>)> {
    Ok((Compressor::with_dictionary(LEVEL, dictionary)?, Decompressor::with_dictionary(dictionary)?))
}

#[cfg(not(feature = "fixed"))]
fn compress(compressor: &mut Compressor, event: &[u8]) -> std::io::Result<Vec<u8>> {
    compressor.compress(event, LEVEL)
}

#[cfg(feature = "fixed")]
fn compress(compressor: &mut Compressor<'static>, event: &[u8]) -> std::io::Result<Vec<u8>> {
    compressor.compress(event)
}

/// The text of a field of an event, which is an object on one line.
fn field<'a>(event: &'a str, name: &str) -> Option<&'a str> {
    let start = event.find(&format!("\"{name}\":"))? + name.len() + 3;
    let rest = &event[start..];
    let end = rest.find([',', '}'])?;
    Some(rest[..end].trim_matches('"'))
}

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = env::args().skip(1);
    let (Some(dictionary), Some(events)) = (arguments.next(), arguments.next()) else {
        return Err("usage: program DICTIONARY EVENTS".into());
    };
    let (mut compressor, mut decompressor) = coders(&fs::read(dictionary)?)?;
    let mut accounts: BTreeMap<u32, Vec<Vec<u8>>> = BTreeMap::new();
    let (mut count, mut size, mut kept) = (0, 0, 0);
    for line in BufReader::new(File::open(events)?).lines() {
        let line = line?;
        let account = field(&line, "account").ok_or("an event has no account")?.parse()?;
        let packed = compress(&mut compressor, line.as_bytes())?;
        count += 1;
        size += line.len();
        kept += packed.len();
        accounts.entry(account).or_default().push(packed);
    }
    println!(
        "{count} events of {} accounts, {size} bytes, {}",
        accounts.len(),
        if kept * 3 < size { "packed well" } else { "packed badly" }
    );
    for (account, events) in accounts.iter().step_by(100) {
        let mut total = 0;
        for packed in events {
            let event = String::from_utf8(decompressor.decompress(packed, LONGEST)?)?;
            total += field(&event, "amount").ok_or("an event has no amount")?.parse::<u64>()?;
        }
        println!("account {account}: {} events, {total} in all", events.len());
    }
    Ok(())
}
