//! Says what changed between two versions of a table: the lines of each group of changes. Usage: program OLD NEW

use std::error::Error;
use std::{env, fs};

use similar::{ChangeTag, TextDiff};

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = env::args().collect();
    let (old, new) = (fs::read_to_string(&arguments[1])?, fs::read_to_string(&arguments[2])?);
    let diff = TextDiff::from_lines(&old, &new);
    let (mut removed, mut added, mut kept) = (0, 0, 0);
    for change in diff.iter_all_changes() {
        match change.tag() {
            ChangeTag::Delete => removed += 1,
            ChangeTag::Insert => added += 1,
            ChangeTag::Equal => kept += 1,
        }
    }
    println!("{removed} lines were removed, {added} added, {kept} kept, in {} steps", diff.ops().len());
    Ok(())
}
