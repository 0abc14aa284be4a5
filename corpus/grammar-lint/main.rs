//! Checks the patterns of the grammars of a syntax highlighter. Usage: program FILE
//! A line of FILE has a grammar, a tab and a pattern.

use std::collections::BTreeMap;
use std::env;
use std::error::Error;
use std::fs;

use regex_syntax::ParserBuilder;

#[derive(Default)]
struct Checked {
    good: usize,
    bad: Vec<usize>,
}

fn lint(text: &str) -> Result<BTreeMap<&str, Checked>, Box<dyn Error>> {
    let mut grammars: BTreeMap<&str, Checked> = BTreeMap::new();
    for (number, line) in text.lines().enumerate() {
        let (grammar, pattern) = line.split_once('\t').ok_or("a line needs a grammar and a pattern")?;
        let checked = grammars.entry(grammar).or_default();
        match ParserBuilder::new().nest_limit(50).build().parse(pattern) {
            Ok(_) => checked.good += 1,
            Err(_) => checked.bad.push(number + 1),
        }
    }
    Ok(grammars)
}

fn main() -> Result<(), Box<dyn Error>> {
    let path = env::args().nth(1).ok_or("usage: program FILE")?;
    let text = fs::read_to_string(path)?;
    for (grammar, checked) in lint(&text)? {
        println!("{grammar}: {} patterns are good, bad ones in lines {:?}", checked.good, checked.bad);
    }
    Ok(())
}
