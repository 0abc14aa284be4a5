//! Joins the logs of a folder into one file, each after a line with its name. Usage: program FOLDER BUNDLE

use std::error::Error;
use std::path::{Path, PathBuf};

use tokio::fs::{self, File};
use tokio::io::{self, AsyncWriteExt};

async fn append(path: &Path, bundle: &mut File) -> io::Result<u64> {
    let mut log = File::open(path).await?;
    bundle.write_all(format!("==> {} <==\n", path.display()).as_bytes()).await?;
    io::copy(&mut log, bundle).await
}

async fn paths(folder: &str) -> io::Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    let mut entries = fs::read_dir(folder).await?;
    while let Some(entry) = entries.next_entry().await? {
        found.push(entry.path());
    }
    found.sort();
    Ok(found)
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().collect();
    let mut bundle = File::create(&arguments[2]).await?;
    for path in paths(&arguments[1]).await? {
        println!("{}: {} bytes", path.display(), append(&path, &mut bundle).await?);
    }
    bundle.flush().await?;
    println!("{} bytes in all", bundle.metadata().await?.len());
    Ok(())
}
