//! Sums up table exports: every file of a folder holds rows, every cell is an attribute of its row.

use std::error::Error;
use std::{env, fs};

use quick_xml::events::Event;
use quick_xml::Reader;

#[derive(Default)]
struct Table {
    rows: usize,
    cells: usize,
    sum: u64,
}

fn read(text: &str) -> Result<Table, Box<dyn Error>> {
    let mut table = Table::default();
    let mut reader = Reader::from_str(text);
    loop {
        match reader.read_event()? {
            Event::Eof => return Ok(table),
            Event::Start(tag) | Event::Empty(tag) if tag.name().as_ref() == b"row" => {
                table.rows += 1;
                for attribute in tag.attributes() {
                    let attribute = attribute?;
                    table.cells += 1;
                    table.sum += std::str::from_utf8(&attribute.value)?.parse::<u64>()?;
                }
            }
            _ => {}
        }
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let folder = env::args().nth(1).ok_or("usage: program FOLDER")?;
    let mut paths: Vec<_> = fs::read_dir(folder)?.map(|entry| Ok(entry?.path())).collect::<Result<_, std::io::Error>>()?;
    paths.sort();
    for path in paths {
        let table = read(&fs::read_to_string(&path)?)?;
        println!("{}: {} rows, {} cells, sum {}", path.display(), table.rows, table.cells, table.sum);
    }
    Ok(())
}
