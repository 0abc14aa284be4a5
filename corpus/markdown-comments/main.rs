//! Turns every note of a folder into HTML and says how long the pages are.

use std::error::Error;
use std::{env, fs};

use pulldown_cmark::{html, Options, Parser};

fn main() -> Result<(), Box<dyn Error>> {
    let folder = env::args().nth(1).ok_or("usage: program FOLDER")?;
    let mut paths: Vec<_> = fs::read_dir(folder)?.map(|entry| Ok(entry?.path())).collect::<Result<_, std::io::Error>>()?;
    paths.sort();
    for path in paths {
        let text = fs::read_to_string(&path)?;
        let mut page = String::with_capacity(text.len() * 3 / 2);
        html::push_html(&mut page, Parser::new_ext(&text, Options::all()));
        let sum = page.bytes().fold(0u32, |sum, byte| sum.rotate_left(5) ^ u32::from(byte));
        println!("{}: {} bytes, sum {sum:08x}", path.display(), page.len());
    }
    Ok(())
}
