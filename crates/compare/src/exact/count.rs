//! One run under callgrind, and what it counted.

use crate::Error;
use crate::enclosure::Enclosure;
use crate::run::{Ended, Runner, Shell, Stop, words};
use slowpath_formats::callgrind::{Function, INSTRUCTIONS, functions, tool};
use slowpath_leftovers::Folder;
use std::time::Duration;

/// What a run counted.
#[derive(Debug, Clone, PartialEq)]
pub struct Counted {
    /// Instructions of all its processes.
    pub instructions: u64,
    /// Its functions, over all processes.
    pub functions: Vec<Function>,
}

/// Runs a command once under callgrind with all its descendants. An error if valgrind is missing, or the command fails or takes
/// longer than the limit, all of it under valgrind.
pub fn count(
    command: &str,
    shell: &Shell,
    limit: Duration,
    enclosure: &Enclosure,
    stop: &Stop,
) -> Result<Counted, Error> {
    let failed = |why: String| Error::Command { command: command.to_owned(), why };
    let folder =
        Folder::new().map_err(|error| failed(format!("cannot create a temporary folder: {error}")))?;
    let asked = tool::words(folder.path(), &[]).map_err(|missing| Error::Options(missing.to_string()))?;
    let mut all: Vec<String> = asked.iter().map(|word| word.to_string_lossy().into_owned()).collect();
    all.extend(words(command, shell)?);
    match Runner::of_words(command, all, enclosure, stop).run(limit, true)? {
        Ended::Done(run) if run.exit == 0 => {}
        Ended::Done(run) => {
            let said = tool::complaints(folder.path())
                .map_or(String::new(), |said| format!(" (valgrind says: {said})"));
            return Err(failed(format!("it exited with {} under valgrind{said}", run.exit)));
        }
        Ended::Stopped => return Err(Error::Interrupted),
        Ended::TooLong => {
            return Err(failed(format!(
                "it took longer than {} s under valgrind, which runs some 50 times slower: take smaller sizes, or a larger \
                 --time-limit",
                limit.as_secs()
            )));
        }
    }
    let files = tool::files(folder.path())
        .map_err(|error| failed(format!("cannot list callgrind's files: {error}")))?;
    let profiles = files.iter().map(|file| tool::profile(file)).collect::<Result<Vec<_>, _>>();
    let profiles: Vec<_> =
        profiles.map_err(|error| failed(error.to_string()))?.into_iter().flatten().collect();
    let parts = profiles.iter().flat_map(|profile| profile.parts.iter().map(move |part| (profile, part)));
    let functions = functions(parts, INSTRUCTIONS).unwrap_or_default();
    let instructions = functions.iter().map(|function| function.own).sum();
    if instructions == 0 {
        return Err(failed("callgrind counted no instructions".to_owned()));
    }
    Ok(Counted { instructions, functions })
}
