//! One source file, from its path to its text. What is read is what was looked at: a descriptor is opened that can do nothing
//! but check what it is (`O_PATH`), and only that is opened for reading, if it may be.

use super::Why;
use super::folders::Folders;
use rustix::fs::{FileType, Mode, OFlags};
use std::fs::File;
use std::io::{ErrorKind, Read};
use std::os::fd::AsRawFd;
use std::path::{Path, PathBuf};

/// A larger file is left out, bytes.
const LARGEST: u64 = 1 << 20;
/// Of a text one byte in so many may be one that shows nothing.
const CONTROL: usize = 100;

/// The text of a file, and when it was changed, ns since 1970.
pub(super) fn read(path: &Path, folders: &Folders) -> Result<(String, u64), Why> {
    let absent = |error: rustix::io::Errno| {
        let there = error.kind() != ErrorKind::NotFound && error.kind() != ErrorKind::NotADirectory;
        folders.absent(path, if there { Why::Unreadable } else { Why::Missing })
    };
    let seen = rustix::fs::open(path, OFlags::PATH | OFlags::CLOEXEC, Mode::empty()).map_err(absent)?;
    // Where it is in truth, links resolved.
    let link = PathBuf::from(format!("/proc/self/fd/{}", seen.as_raw_fd()));
    folders.permit(&std::fs::read_link(&link).map_err(|_| Why::Unreadable)?)?;
    let stat = rustix::fs::fstat(&seen).map_err(|_| Why::Unreadable)?;
    if FileType::from_raw_mode(stat.st_mode) != FileType::RegularFile {
        return Err(Why::NoFile);
    }
    let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
    let file = rustix::fs::open(&link, flags, Mode::empty()).map_err(|_| Why::Unreadable)?;
    let mut bytes = Vec::new();
    let read = File::from(file).take(LARGEST + 1).read_to_end(&mut bytes);
    read.map_err(|_| Why::Unreadable)?;
    if bytes.len() as u64 > LARGEST {
        return Err(Why::Large);
    }
    let seconds = u64::try_from(stat.st_mtime).unwrap_or(0);
    let changed = seconds.saturating_mul(1_000_000_000).saturating_add(stat.st_mtime_nsec as u64);
    Ok((text(bytes).ok_or(Why::NoText)?, changed))
}

/// Bytes as text: UTF-8, or what shows something in another encoding.
fn text(bytes: Vec<u8>) -> Option<String> {
    let shows_nothing = |byte: &&u8| matches!(byte, 0..=8 | 11 | 14..=31 | 127);
    let controls = bytes.iter().filter(shows_nothing).count();
    if bytes.contains(&0) || controls > bytes.len() / CONTROL {
        return None;
    }
    // In UTF-8 nearly everything is read without a change.
    Some(match String::from_utf8(bytes) {
        Ok(text) => text,
        Err(error) => String::from_utf8_lossy(error.as_bytes()).into_owned(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_told_from_other_bytes() {
        let code = "int main(void) {\n\treturn 0;\r\n}\x0c\n";
        assert_eq!(text(code.into()).as_deref(), Some(code));
        assert_eq!(text("größe".into()).as_deref(), Some("größe"));
        // Latin 1.
        assert_eq!(text(b"gr\xf6\xdfe".to_vec()).as_deref(), Some("gr\u{fffd}\u{fffd}e"));
        assert_eq!(text(Vec::new()).as_deref(), Some(""));
        assert_eq!(text(b"\x7fELF\x02\x01\x01\0\0".to_vec()), None);
        assert_eq!(text((0..=255).filter(|byte| *byte != 0).collect()), None);
        // A few are in many texts.
        assert!(text([vec![b'x'; 500], vec![0x1b]].concat()).is_some());
    }
}
