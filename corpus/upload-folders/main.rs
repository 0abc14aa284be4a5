//! Waits until the folders of an upload are quiet, that is until two listings are the same, and says what is in them.
//! Usage: program FOLDER

use std::collections::BTreeMap;
use std::env;
use std::error::Error;
use std::path::{Path, PathBuf};

use tokio::fs;

type Listing = BTreeMap<PathBuf, (usize, u64)>;

async fn list(folder: &Path) -> Result<Listing, std::io::Error> {
    let mut listing = Listing::new();
    let mut open = vec![folder.to_owned()];
    while let Some(folder) = open.pop() {
        let (mut files, mut names) = (0, 0u64);
        let mut entries = fs::read_dir(&folder).await?;
        while let Some(entry) = entries.next_entry().await? {
            let name = entry.file_name();
            let name = name.to_string_lossy();
            // Files have a suffix and folders none.
            if name.contains('.') {
                files += 1;
                names = names.wrapping_add(name.bytes().fold(7, |sum, byte| sum.wrapping_mul(31).wrapping_add(byte.into())));
            } else {
                open.push(entry.path());
            }
        }
        listing.insert(folder, (files, names));
    }
    Ok(listing)
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let folder = PathBuf::from(env::args().nth(1).ok_or("usage: program FOLDER")?);
    let mut before = list(&folder).await?;
    let mut listings = 1;
    loop {
        let now = list(&folder).await?;
        listings += 1;
        if now == before {
            break;
        }
        before = now;
    }
    println!("quiet after {listings} listings");
    for (folder, (files, names)) in &before {
        println!("{}: {files} files, {names:x}", folder.display());
    }
    Ok(())
}
