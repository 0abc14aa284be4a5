//! Lists the albums of a collection of photos, as the lines of a list ask for them. Usage: program FOLDER LIST
//! A line of LIST has a name and a pattern of folders.

use std::collections::BTreeMap;
use std::env;
use std::error::Error;
use std::fs;
use std::path::PathBuf;

fn albums(folder: &str, pattern: &str) -> Result<Vec<PathBuf>, Box<dyn Error>> {
    let mut found = Vec::new();
    for path in glob::glob(&format!("{folder}/{pattern}"))? {
        found.push(path?);
    }
    Ok(found)
}

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = env::args().skip(1);
    let (Some(folder), Some(list)) = (arguments.next(), arguments.next()) else {
        return Err("usage: program FOLDER LIST".into());
    };
    for line in fs::read_to_string(list)?.lines() {
        let (name, pattern) = line.split_once(' ').ok_or("a line needs a name and a pattern")?;
        let albums = albums(&folder, pattern)?;
        let mut depths: BTreeMap<usize, usize> = BTreeMap::new();
        for album in &albums {
            *depths.entry(album.components().count() - 1).or_default() += 1;
        }
        let depths: Vec<_> = depths.iter().map(|(depth, count)| format!("{count} at level {depth}")).collect();
        let last = albums.last().map_or_else(|| "-".to_owned(), |path| path.display().to_string());
        println!("{name}: {} albums ({}), the last is {last}", albums.len(), depths.join(", "));
    }
    Ok(())
}
