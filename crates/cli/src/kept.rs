//! Where recordings are kept, and which one a user means.

use crate::args::At;
use crate::run::failed;
use slowpath_files::Caller;
use slowpath_recording::folder;
use std::path::{Path, PathBuf};

/// Room for all recordings together where nobody says otherwise, bytes.
pub const ROOM: &str = "5G";

impl At {
    /// The folder of recordings: what `--dir` says, else the caller's own. None for a user without a home.
    pub fn root(&self) -> Option<PathBuf> {
        self.dir.clone().or_else(|| folder::home(&Caller::detect()))
    }

    /// The folder of recordings, to read from.
    ///
    /// # Errors
    ///
    /// If there can be none.
    pub fn known(&self) -> Result<PathBuf, (String, u8)> {
        self.root().ok_or_else(|| {
            failed("there is no home directory to keep recordings in: name a folder with --dir")
        })
    }

    /// The folder that a name of a recording means: see [`folder::find`]. Of those that were made in this directory the newest
    /// comes first.
    ///
    /// # Errors
    ///
    /// If there is none of that name.
    pub fn find(&self, name: Option<&str>) -> Result<PathBuf, (String, u8)> {
        let here = std::env::current_dir().ok();
        folder::find(&self.known()?, name, here.as_deref()).map_err(failed)
    }
}

/// A folder for the recordings that a command makes for itself.
pub struct Place {
    /// Where they go.
    pub root: PathBuf,
    /// It is the caller's own folder of recordings, whose size is limited; `record` finds it by itself.
    pub is_usual: bool,
    /// It is removed with this, where the folder of recordings cannot be written.
    _temporary: Option<slowpath_leftovers::Folder>,
}

/// The folder of recordings if the caller can write there, else a temporary one.
///
/// # Errors
///
/// If there is neither.
pub fn place(at: &At) -> Result<Place, (String, u8)> {
    let caller = Caller::detect();
    let usable = |root: &Path| match folder::create(root, 0, "try", &caller) {
        Ok(created) => {
            folder::discard(&created.folder, &caller);
            true
        }
        Err(_) => false,
    };
    if let Some(root) = at.root().filter(|root| usable(root)) {
        return Ok(Place { root, is_usual: at.dir.is_none(), _temporary: None });
    }
    let _acting = caller.act().map_err(failed)?;
    let folder =
        slowpath_leftovers::Folder::of_recordings(&std::env::temp_dir(), caller.uid()).map_err(failed)?;
    Ok(Place { root: folder.path().to_owned(), is_usual: false, _temporary: Some(folder) })
}

/// A size such as `500M`, `5G` or a number of bytes.
///
/// # Errors
///
/// What is wrong with it.
pub fn size(text: &str) -> Result<u64, String> {
    let (number, factor) = match text.char_indices().last() {
        Some((at, unit)) if unit.is_ascii_alphabetic() => {
            let shift = match unit.to_ascii_uppercase() {
                'K' => 10,
                'M' => 20,
                'G' => 30,
                'T' => 40,
                _ => return Err(format!("{unit} is not a unit: use K, M, G or T")),
            };
            (&text[..at], 1u64 << shift)
        }
        _ => (text, 1),
    };
    let number: u64 = number.parse().map_err(|error| format!("{error}"))?;
    number.checked_mul(factor).ok_or_else(|| "the size is too large".to_owned())
}

/// An age such as `7d`, `12h`, `30m` or `45s`, in seconds.
///
/// # Errors
///
/// What is wrong with it.
pub fn age(text: &str) -> Result<u64, String> {
    let (at, unit) = text.char_indices().last().ok_or("it is empty")?;
    let factor = match unit {
        's' => 1,
        'm' => 60,
        'h' => 3_600,
        'd' => 86_400,
        'w' => 604_800,
        _ => return Err("an age ends with s, m, h, d or w: 7d is seven days".to_owned()),
    };
    let number: u64 = text[..at].parse().map_err(|error| format!("{error}"))?;
    number.checked_mul(factor).ok_or_else(|| "the age is too large".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_and_ages_have_units() {
        assert_eq!((size("5G"), size("500m"), size("12")), (Ok(5 << 30), Ok(500 << 20), Ok(12)));
        assert!(size("5X").is_err() && size("G").is_err() && size("").is_err() && size("99999999T").is_err());
        assert_eq!((age("7d"), age("90s"), age("2h")), (Ok(604_800), Ok(90), Ok(7_200)));
        assert!(age("7").is_err() && age("").is_err() && age("d").is_err() && age("é").is_err());
    }
}
