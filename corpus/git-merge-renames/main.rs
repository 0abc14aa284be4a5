//! Merges two branches of a repository in memory and says how many files and conflicts come out.

use std::env;
use std::error::Error;

use git2::{MergeOptions, Repository};

fn main() -> Result<(), Box<dyn Error>> {
    let args: Vec<String> = env::args().skip(1).collect();
    let [path, ours, theirs] = args.as_slice() else {
        return Err("usage: program REPOSITORY OURS THEIRS".into());
    };
    let repository = Repository::open(path)?;
    let find = |name: &str| repository.find_commit(repository.revparse_single(name)?.id());
    let mut options = MergeOptions::new();
    options.find_renames(true);
    options.target_limit(100_000);
    let index = repository.merge_commits(&find(ours)?, &find(theirs)?, Some(&options))?;
    let moved = index.iter().filter(|entry| entry.path.starts_with(b"lib/")).count();
    println!("{} files, {moved} of them in lib, conflicts: {}", index.len(), index.has_conflicts());
    Ok(())
}
