//! Reports the settings that a configuration file gives twice, with their places.

use std::collections::HashMap;
use std::error::Error;
use std::{env, fs};

use pest::iterators::Pair;
use pest::Parser;
use pest_derive::Parser;

#[derive(Parser)]
#[grammar_inline = r#"
    WHITESPACE = _{ " " | "\t" }
    name  = @{ (ASCII_ALPHANUMERIC | "_" | "-" | ".")+ }
    value = @{ (!NEWLINE ~ ANY)+ }
    setting = { name ~ "=" ~ value }
    file = { SOI ~ (setting? ~ NEWLINE)* ~ EOI }
"#]
struct Conf;

struct Place {
    line: usize,
    column: usize,
}

fn check<'t>(file: Pair<'t, Rule>) -> Vec<(&'t str, Place, Place)> {
    let mut seen: HashMap<&str, Place> = HashMap::new();
    let mut twice = Vec::new();
    for setting in file.into_inner().filter(|pair| pair.as_rule() == Rule::setting) {
        let (line, column) = setting.line_col();
        let place = Place { line, column };
        let name = setting.into_inner().next().map_or("", |name| name.as_str());
        match seen.remove(name) {
            Some(first) => twice.push((name, first, place)),
            None => {
                seen.insert(name, place);
            }
        }
    }
    twice
}

fn main() -> Result<(), Box<dyn Error>> {
    let path = env::args().nth(1).ok_or("usage: program FILE")?;
    let text = fs::read_to_string(path)?;
    let file = Conf::parse(Rule::file, &text)?.next().ok_or("an empty parse")?;
    let twice = check(file);
    for (name, first, second) in &twice {
        println!("{name}: {}:{} and {}:{}", first.line, first.column, second.line, second.column);
    }
    println!("{} settings are given twice", twice.len());
    Ok(())
}
