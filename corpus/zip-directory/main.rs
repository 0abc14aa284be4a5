//! Lists what is in the archives of a folder: names and sizes, no contents.

use std::error::Error;
use std::fs::{self, File};
use std::{env, io::BufReader};

use zip::ZipArchive;

fn main() -> Result<(), Box<dyn Error>> {
    let folder = env::args().nth(1).ok_or("usage: program FOLDER")?;
    let mut paths: Vec<_> = fs::read_dir(folder)?.map(|entry| Ok(entry?.path())).collect::<Result<_, std::io::Error>>()?;
    paths.sort();
    for path in paths {
        let mut archive = ZipArchive::new(BufReader::new(File::open(&path)?))?;
        let mut size = 0;
        for index in 0..archive.len() {
            size += archive.by_index_raw(index)?.size();
        }
        println!("{}: {} files, {size} bytes", path.display(), archive.len());
    }
    Ok(())
}
