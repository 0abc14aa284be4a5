//! Where a recording goes: into the folder of recordings; where that cannot be written, into a temporary one that lasts until the
//! report is out. A program is never kept from running because there is no place for its recording.

use crate::{Error, Options};
use slowpath_leftovers::Folder;
use slowpath_recording::{About, Writer, folder};
use std::path::{Path, PathBuf};

/// A recording's place.
pub(crate) struct Storage {
    /// What writes it.
    pub writer: Writer,
    /// The temporary folder that it is in, if it will not be kept.
    pub temporary: Option<Folder>,
}

/// Begins the recording of `program`: notes its id in `about`, and there also if it will not be kept, and why.
pub(crate) fn begin(
    options: &Options,
    about: &mut About,
    program: Option<&String>,
) -> Result<Storage, Error> {
    let program = program.map_or("", String::as_str);
    let first = match &options.root {
        Some(root) => match begin_in(root, options, about, program) {
            Ok(writer) => return Ok(Storage { writer, temporary: None }),
            Err(error) => error.to_string(),
        },
        None => "there is no home directory to keep it in".to_owned(),
    };
    let degraded = about.degraded.len();
    about.degraded.push(format!(
        "the recording is not kept, only this report: {first}. Use --dir to choose another folder for recordings"
    ));
    let mut last = None;
    for place in [std::env::temp_dir(), PathBuf::from("/dev/shm")] {
        match temporary(&place, options, about, program) {
            Ok(storage) => return Ok(storage),
            Err(error) => last = Some(error),
        }
    }
    about.degraded.truncate(degraded);
    Err(last.unwrap_or(Error::NoPlace(first)))
}

fn begin_in(root: &Path, options: &Options, about: &mut About, program: &str) -> Result<Writer, Error> {
    let caller = &options.caller;
    let created = folder::create(root, about.started_unix_ns / 1_000_000_000, program, caller)?;
    about.id = created.id;
    Writer::create(created.folder.clone(), about, caller).map_err(|error| {
        folder::discard(&created.folder, caller);
        error.into()
    })
}

/// The folder belongs to the caller as all of the recording does.
fn temporary(place: &Path, options: &Options, about: &mut About, program: &str) -> Result<Storage, Error> {
    let folder = {
        let _acting = options.caller.act().map_err(Error::system("act as the caller"))?;
        Folder::of_recordings(place, options.caller.uid())
            .map_err(Error::system("make a temporary folder"))?
    };
    let writer = begin_in(folder.path(), options, about, program)?;
    Ok(Storage { writer, temporary: Some(folder) })
}
