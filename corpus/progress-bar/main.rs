//! Counts the words of a file and shows its progress, line by line.

use std::collections::HashMap;
use std::error::Error;
use std::{env, fs};

use indicatif::ProgressBar;

fn main() -> Result<(), Box<dyn Error>> {
    let path = env::args().nth(1).ok_or("usage: program FILE")?;
    let text = fs::read_to_string(path)?;
    let progress = ProgressBar::new(text.lines().count() as u64);
    let mut words: HashMap<&str, usize> = HashMap::new();
    for line in text.lines() {
        for word in line.split_whitespace() {
            *words.entry(word).or_default() += 1;
        }
        progress.inc(1);
    }
    progress.finish();
    let mut order: Vec<_> = words.into_iter().collect();
    order.sort_by_key(|&(word, count)| (std::cmp::Reverse(count), word));
    for (word, count) in order.iter().take(10) {
        println!("{count:8} {word}");
    }
    Ok(())
}
