//! Lists what is in the archives of a folder: names and sizes, no contents.

use std::error::Error;
use std::fs::{self, File};
use std::env;
use std::path::Path;

use zip::ZipArchive;

fn list(path: &Path) -> Result<(usize, u64), Box<dyn Error>> {
    let mut archive = ZipArchive::new(File::open(path)?)?;
    let mut size = 0;
    for index in 0..archive.len() {
        size += archive.by_index_raw(index)?.size();
    }
    Ok((archive.len(), size))
}

fn main() -> Result<(), Box<dyn Error>> {
    let folder = env::args().nth(1).ok_or("usage: program FOLDER")?;
    let mut paths: Vec<_> = fs::read_dir(folder)?.map(|entry| Ok(entry?.path())).collect::<Result<_, std::io::Error>>()?;
    paths.sort();
    for path in paths {
        let (files, size) = list(&path)?;
        println!("{}: {files} files, {size} bytes", path.display());
    }
    Ok(())
}
