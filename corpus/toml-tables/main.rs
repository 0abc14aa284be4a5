//! Reads a lock file and says which packages are needed most.

use std::collections::BTreeMap;
use std::error::Error;
use std::{env, fs};

use serde::Deserialize;

#[derive(Deserialize)]
struct Lock {
    package: BTreeMap<String, Package>,
}

#[derive(Deserialize)]
struct Package {
    version: String,
    #[serde(default)]
    dependencies: Vec<String>,
}

fn main() -> Result<(), Box<dyn Error>> {
    let path = env::args().nth(1).ok_or("usage: program LOCKFILE")?;
    let lock: Lock = toml::from_str(&fs::read_to_string(path)?)?;
    let mut needed: BTreeMap<&str, usize> = BTreeMap::new();
    for package in lock.package.values() {
        for dependency in &package.dependencies {
            *needed.entry(dependency).or_default() += 1;
        }
    }
    let mut order: Vec<_> = needed.into_iter().collect();
    order.sort_by_key(|&(name, count)| (std::cmp::Reverse(count), name));
    println!("{} packages", lock.package.len());
    for (name, count) in order.iter().take(10) {
        let version = lock.package.get(*name).map(|package| package.version.as_str());
        println!("{name} {} is needed by {count}", version.unwrap_or("of no version"));
    }
    Ok(())
}
