//! Says how many branches each remote of a configuration file fetches.

use std::collections::BTreeMap;
use std::env;
use std::error::Error;
use std::path::Path;

use git2::Config;

fn main() -> Result<(), Box<dyn Error>> {
    let path = env::args().nth(1).ok_or("usage: program GITCONFIG")?;
    let config = Config::open(Path::new(&path))?;
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    let entries = config.entries(Some("remote\\..*\\.fetch"))?;
    for entry in &entries {
        let entry = entry?;
        if let Some(name) = entry.name() {
            *counts.entry(name.to_owned()).or_default() += 1;
        }
    }
    for (name, count) in counts {
        println!("{name}: {count}");
    }
    Ok(())
}
