//! Counts the headings and the words of every article of a folder.

use std::error::Error;
use std::{env, fs};

fn main() -> Result<(), Box<dyn Error>> {
    let folder = env::args().nth(1).ok_or("usage: program FOLDER")?;
    let mut paths: Vec<_> = fs::read_dir(folder)?.map(|entry| Ok(entry?.path())).collect::<Result<_, std::io::Error>>()?;
    paths.sort();
    for path in paths {
        let text = fs::read_to_string(&path)?;
        let document = roxmltree::Document::parse(&text)?;
        let headings = document.descendants().filter(|node| node.has_tag_name("h")).count();
        let words: usize = document
            .descendants()
            .filter(|node| node.is_text())
            .filter_map(|node| node.text())
            .map(|text| text.split_whitespace().count())
            .sum();
        println!("{}: {headings} headings, {words} words", path.display());
    }
    Ok(())
}
