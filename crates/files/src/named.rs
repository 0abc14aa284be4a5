//! Single files that the user named on the command line: written and read with the caller's rights.

use crate::{Caller, walk};
use rustix::fs::{Mode, OFlags};
use std::fs::File;
use std::io::{self, Read, Write};
use std::path::Path;

/// Writes a file that the caller named, with the caller's rights. As root it is made for its owner alone: what root sees of a
/// program is not for everybody.
///
/// A link is followed only where nobody but root and the caller could have put it there.
///
/// # Errors
///
/// The system's answer, the caller's missing rights among them.
pub fn write(path: &Path, caller: &Caller, bytes: &[u8]) -> io::Result<()> {
    let _acting = caller.act()?;
    // SAFETY: geteuid has no preconditions.
    let mut file = if unsafe { libc::geteuid() } == 0 {
        let name = path.file_name().ok_or_else(|| io::Error::from_raw_os_error(libc::EISDIR))?;
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let folder = walk::to(folder, caller, false)?;
        let mut flags = OFlags::WRONLY | OFlags::CREATE | OFlags::TRUNC | OFlags::CLOEXEC | OFlags::NOCTTY;
        if !walk::is_ours(&folder, caller)? {
            flags |= OFlags::NOFOLLOW;
        }
        let file = File::from(rustix::fs::openat(&folder, name, flags, Mode::RUSR | Mode::WUSR)?);
        // One that was there already may be open to everybody.
        if file.metadata()?.is_file() {
            // Where it is another user's, that user reads it anyway.
            let _ = rustix::fs::fchmod(&file, Mode::RUSR | Mode::WUSR);
        }
        file
    } else {
        File::create(path)?
    };
    file.write_all(bytes)
}

/// Reads a file that the caller named, with the caller's rights, at most `most` bytes.
///
/// # Errors
///
/// The system's answer, and if it is larger.
pub fn read(path: &Path, caller: &Caller, most: u64) -> io::Result<Vec<u8>> {
    let _acting = caller.act()?;
    let mut bytes = Vec::new();
    File::open(path)?.take(most.saturating_add(1)).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > most {
        return Err(io::Error::other(format!("it is larger than {most} bytes")));
    }
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::{PermissionsExt, symlink};

    #[test]
    fn root_writes_through_no_link_of_others() {
        // SAFETY: geteuid has no preconditions.
        if unsafe { libc::geteuid() } != 0 {
            eprintln!("SKIPPED links of others: it needs root");
            return;
        }
        let dir = tempfile::tempdir().unwrap();
        std::fs::set_permissions(dir.path(), std::fs::Permissions::from_mode(0o777)).unwrap();
        let secret = tempfile::NamedTempFile::new().unwrap();
        symlink(secret.path(), dir.path().join("report")).unwrap();
        let caller = Caller::detect();
        assert!(write(&dir.path().join("report"), &caller, b"x").is_err());
        assert_eq!(std::fs::read(secret.path()).unwrap(), b"");
        write(&dir.path().join("new"), &caller, b"x").unwrap();
        let old = dir.path().join("old");
        std::fs::write(&old, b"for all").unwrap();
        std::fs::set_permissions(&old, std::fs::Permissions::from_mode(0o644)).unwrap();
        write(&old, &caller, b"x").unwrap();
        for name in ["new", "old"] {
            let mode = std::fs::metadata(dir.path().join(name)).unwrap().permissions().mode();
            assert_eq!(mode & 0o777, 0o600, "{name}");
        }
        write(Path::new("/dev/stdout"), &caller, b"").unwrap();
    }
}
