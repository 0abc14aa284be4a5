//! Recordings that `compare` and `scale` make for themselves: a command recorded as a user would, and opened again.

use crate::args::At;
use crate::kept::place;
use crate::run::failed;
use slowpath_compare::{Daemons, Enclosure, Stop};
use slowpath_diagnose::findings::Findings;
use slowpath_files::Caller;
use slowpath_leftovers::Folder;
use slowpath_recording::{Recording, folder};
use std::collections::HashMap;
use std::path::Path;
use std::process::{Command, Stdio};

/// Where and how a command is recorded.
pub struct Within<'w> {
    /// Ends it with us.
    pub enclosure: &'w Enclosure,
    /// Ends it before.
    pub stop: &'w Stop,
    /// Where recordings are kept.
    pub at: &'w At,
}

/// Records a command as a user would with these options, its output thrown away, and opens the recording.
///
/// # Errors
///
/// If it could not be recorded, or was stopped meanwhile.
pub fn recorded(
    words: &[String],
    options: &[&str],
    input: Option<&Path>,
    within: &Within<'_>,
) -> Result<(Recording, Findings), (String, u8)> {
    let kept = place(within.at)?;
    let scratch = scratch()?;
    let json = scratch.path().join("findings.json");
    let mut run = Command::new(std::env::current_exe().map_err(failed)?);
    run.arg("record").args(options).args(["--json", "--output"]).arg(&json);
    // A folder that is named is not kept below a size.
    if !kept.is_usual {
        run.arg("--dir").arg(&kept.root);
    }
    run.arg("--").args(words);
    let input = match input {
        Some(path) => std::fs::File::open(path).map_err(failed)?.into(),
        None => Stdio::null(),
    };
    run.stdin(input).stdout(Stdio::null()).stderr(Stdio::piped());
    let output = within.enclosure.output(&mut run, Daemons::Ended, within.stop).map_err(failed)?;
    let text = std::fs::read_to_string(&json);
    let text = text.map_err(|_| failed(String::from_utf8_lossy(&output.stderr).trim().to_owned()))?;
    let id = id(&text).ok_or_else(|| failed("the recording has no id"))?;
    opened(&kept.root, &id)
}

/// A temporary folder that is the caller's, who writes reports there.
pub fn scratch() -> Result<Folder, (String, u8)> {
    let _acting = Caller::detect().act().map_err(failed)?;
    Folder::new().map_err(|error| failed(format!("cannot create a temporary folder: {error}")))
}

/// The recording's id in a report.
fn id(report: &str) -> Option<String> {
    let report: serde_json::Value = serde_json::from_str(report).ok()?;
    Some(report["recording"]["id"].as_str()?.to_owned())
}

/// A recording with its symbols, and what is diagnosed of it.
pub fn opened(dir: &Path, name: &str) -> Result<(Recording, Findings), (String, u8)> {
    let path = folder::find(dir, Some(name), None).map_err(failed)?;
    let mut recording = Recording::open(&path).map_err(failed)?;
    slowpath_diagnose::resolve::resolve(&mut recording, &HashMap::new());
    let findings = slowpath_diagnose::diagnose(&recording);
    Ok((recording, findings))
}
