//! `tally`: the calls of a few functions over a whole run. `compare` runs it for each side, since a program that is counted
//! needs an input and an output of its own.

use crate::args::Tally;
use crate::run::{Done, failed, write_file};
use slowpath_collect::Entry;
use slowpath_compare::entries::Wanted;
use slowpath_compare::values::Calls;
use slowpath_compare::{Daemons, Enclosure, Stop};
use slowpath_leftovers::Folder;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// `slowpath tally`: writes an array of counts, `null` where a function could not be counted.
pub fn tally(tally: &Tally) -> Done {
    let entries: Option<Vec<Entry>> = tally.entry.iter().map(|text| entry(text)).collect();
    let entries = entries.ok_or_else(|| failed("--entry is ADDRESS:FILE, the address in hex"))?;
    let counts = slowpath_collect::tally(&tally.command, &entries).map_err(failed)?;
    let counts: Vec<Option<Calls>> = counts
        .into_iter()
        .map(|counted| counted.map(|counted| Calls { count: counted.count, more: counted.more }))
        .collect();
    write_file(&tally.output, &serde_json::to_string(&counts).map_err(failed)?).map_err(failed)?;
    Ok(0)
}

fn entry(text: &str) -> Option<Entry> {
    let (address, file) = text.split_once(':')?;
    Some(Entry { address: u64::from_str_radix(address, 16).ok()?, file: PathBuf::from(file) })
}

/// Runs one side once more and counts there; an error where the machine does not allow it, or if it is stopped meanwhile.
pub fn of_side(
    wanted: &[Wanted],
    side: usize,
    words: &[String],
    input: Option<&Path>,
    enclosure: &Enclosure,
    stop: &Stop,
) -> Result<Vec<Option<Calls>>, (String, u8)> {
    let scratch = Folder::new().map_err(|error| failed(format!("no temporary folder: {error}")))?;
    let json = scratch.path().join("counts.json");
    let mut run = Command::new(std::env::current_exe().map_err(failed)?);
    run.arg("tally").arg("--output").arg(&json);
    for one in wanted {
        let (file, address) = &one.at[side];
        run.arg("--entry").arg(format!("{address:x}:{}", file.display()));
    }
    let input = match input {
        Some(path) => std::fs::File::open(path).map_err(failed)?.into(),
        None => Stdio::null(),
    };
    run.arg("--").args(words).stdin(input).stdout(Stdio::null()).stderr(Stdio::piped());
    let output = enclosure.output(&mut run, Daemons::Ended, stop).map_err(failed)?;
    let text = std::fs::read_to_string(&json);
    let text = text.map_err(|_| failed(String::from_utf8_lossy(&output.stderr).trim().to_owned()))?;
    serde_json::from_str(&text).map_err(failed)
}
