//! Counts the accesses to each memory page in a trace: one address in hexadecimal a line, aligned to pages.

use std::error::Error;
use std::{env, fs};

use rustc_hash::FxHashMap;

#[inline(never)]
fn count(trace: &str) -> Result<FxHashMap<u64, u32>, Box<dyn Error>> {
    let mut pages = FxHashMap::default();
    for line in trace.lines() {
        *pages.entry(u64::from_str_radix(line, 16)?).or_insert(0) += 1;
    }
    Ok(pages)
}

fn main() -> Result<(), Box<dyn Error>> {
    let path = env::args().nth(1).ok_or("usage: program TRACE")?;
    let pages = count(&fs::read_to_string(path)?)?;
    let mut order: Vec<_> = pages.iter().map(|(&page, &accesses)| (accesses, page)).collect();
    order.sort_unstable_by_key(|&(accesses, page)| (std::cmp::Reverse(accesses), page));
    println!("{} pages", order.len());
    for (accesses, page) in order.iter().take(10) {
        println!("{page:#x}: {accesses} accesses");
    }
    Ok(())
}
