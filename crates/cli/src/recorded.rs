//! Recordings that `compare` and `scale` make for themselves: a command recorded as a user would, and opened again.

use crate::run::failed;
use slowpath_compare::{Daemons, Enclosure, Stop};
use slowpath_diagnose::findings::Findings;
use slowpath_leftovers::Folder;
use slowpath_recording::{Recording, folder};
use std::collections::HashMap;
use std::path::Path;
use std::process::{Command, Stdio};

/// Records a command as a user would with these options, its output thrown away, and returns the recording's id. An error if
/// it is stopped meanwhile.
pub fn record_one(
    words: &[String],
    options: &[&str],
    input: Option<&Path>,
    dir: &Path,
    enclosure: &Enclosure,
    stop: &Stop,
) -> Result<String, (String, u8)> {
    let scratch = Folder::new().map_err(|error| failed(format!("no temporary folder: {error}")))?;
    let json = scratch.path().join("findings.json");
    let mut run = Command::new(std::env::current_exe().map_err(failed)?);
    run.arg("record").args(options).args(["--json", "--output"]).arg(&json);
    run.arg("--dir").arg(dir).arg("--").args(words);
    let input = match input {
        Some(path) => std::fs::File::open(path).map_err(failed)?.into(),
        None => Stdio::null(),
    };
    run.stdin(input).stdout(Stdio::null()).stderr(Stdio::piped());
    let output = enclosure.output(&mut run, Daemons::Ended, stop).map_err(failed)?;
    let text = std::fs::read_to_string(&json);
    let text = text.map_err(|_| failed(String::from_utf8_lossy(&output.stderr).trim().to_owned()))?;
    id(&text).ok_or_else(|| failed("the recording has no id"))
}

/// The recording's id in a report.
fn id(report: &str) -> Option<String> {
    let report: serde_json::Value = serde_json::from_str(report).ok()?;
    Some(report["recording"]["id"].as_str()?.to_owned())
}

/// A recording with its symbols, and what is diagnosed of it.
pub fn opened(dir: &Path, name: &str) -> Result<(Recording, Findings), (String, u8)> {
    let path = folder::find(dir, Some(name)).map_err(failed)?;
    let mut recording = Recording::open(&path).map_err(failed)?;
    slowpath_diagnose::resolve::resolve(&mut recording, &HashMap::new());
    let findings = slowpath_diagnose::diagnose(&recording);
    Ok((recording, findings))
}
