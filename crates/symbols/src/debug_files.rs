//! Finds the files that hold a program's debug information when the program itself does not.
//!
//! Looks where GDB does: by build-id under each debug directory, then by the name in
//! `.gnu_debuglink`. Asks no server. Reads no DWARF.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use object::{Object, ObjectSection};

use crate::bounds::LARGEST_CHECKED;
use crate::error::hex;
use crate::image::{Image, build_id, id_of};

/// Where distributions install debug files.
const SYSTEM_DEBUG_DIR: &str = "/usr/lib/debug";

/// The debug file of `program`. `None` if it has its own DWARF or no debug file fits.
pub(crate) fn separate_debug_file(program: &Image, debug_dirs: &[PathBuf]) -> Option<Image> {
    let elf = program.elf().ok()?;
    if has_dwarf(&elf) {
        return None;
    }
    let id = id_of(&elf);
    let by_id = id.into_iter().flat_map(|id| by_build_id(id, debug_dirs));
    if let Some(found) =
        by_id.filter_map(|path| open_if(&path, |image| build_id(image).as_deref() == id)).next()
    {
        return Some(found);
    }
    let (name, checksum) = elf.gnu_debuglink().ok().flatten()?;
    let fits = |image: &Image| match (id, build_id(image)) {
        (Some(wanted), Some(found)) => wanted == found,
        _ => image.len() <= LARGEST_CHECKED && crc32(image) == checksum,
    };
    by_debuglink(&program.path, name, debug_dirs).iter().find_map(|path| open_if(path, fits))
}

/// The file that dwz moved the DWARF shared by several programs to, for `debug`, which is the file
/// that holds the DWARF.
pub(crate) fn supplementary_file(debug: &Image, debug_dirs: &[PathBuf]) -> Option<Image> {
    let elf = debug.elf().ok()?;
    let (name, id) = elf.gnu_debugaltlink().ok().flatten()?;
    // A relative name counts from the debug file; joining an absolute one replaces all before it.
    let directory = real_directory(&debug.path);
    let named = directory.join(OsStr::from_bytes(name));
    std::iter::once(named)
        .chain(by_build_id(id, debug_dirs))
        .find_map(|path| open_if(&path, |image| build_id(image).as_deref() == Some(id)))
}

/// True if the file has DWARF with functions in it.
pub(crate) fn has_dwarf(elf: &object::File<'_>) -> bool {
    elf.section_by_name(".debug_info").is_some_and(|section| section.size() > 0 && has_bytes(&section))
}

/// A debug file lists the program's sections without their bytes, and the other way round.
fn has_bytes(section: &object::Section<'_, '_>) -> bool {
    section.kind() != object::SectionKind::UninitializedData && section.file_range().is_some()
}

fn all_dirs(debug_dirs: &[PathBuf]) -> impl Iterator<Item = &Path> {
    debug_dirs.iter().map(PathBuf::as_path).chain([Path::new(SYSTEM_DEBUG_DIR)])
}

fn by_build_id(id: &[u8], debug_dirs: &[PathBuf]) -> Vec<PathBuf> {
    let Some((first, rest)) = id.split_first().filter(|(_, rest)| !rest.is_empty()) else {
        return Vec::new();
    };
    let relative = format!(".build-id/{}/{}.debug", hex(&[*first]), hex(rest));
    all_dirs(debug_dirs).map(|directory| directory.join(&relative)).collect()
}

fn by_debuglink(program: &Path, name: &[u8], debug_dirs: &[PathBuf]) -> Vec<PathBuf> {
    let name = Path::new(OsStr::from_bytes(name));
    // The name is a plain file name; a path would lead anywhere.
    if name.components().count() != 1 || name.file_name().is_none() {
        return Vec::new();
    }
    let directory = real_directory(program);
    let mut paths = vec![directory.join(name), directory.join(".debug").join(name)];
    let below_root = directory.strip_prefix("/").unwrap_or(&directory);
    paths.extend(all_dirs(debug_dirs).map(|debug_dir| debug_dir.join(below_root).join(name)));
    paths.extend(debug_dirs.iter().map(|debug_dir| debug_dir.join(name)));
    paths
}

/// The directory of a file, links resolved: `.build-id` trees are made of links.
fn real_directory(path: &Path) -> PathBuf {
    let path = path.canonicalize().unwrap_or_else(|_| path.to_owned());
    path.parent().unwrap_or(Path::new(".")).to_owned()
}

fn open_if(path: &Path, fits: impl Fn(&Image) -> bool) -> Option<Image> {
    let image = Image::map(path).ok()?;
    (image.elf().is_ok() && fits(&image)).then_some(image)
}

/// The checksum of `.gnu_debuglink`: CRC-32 as in zlib. Slow and seldom needed, since nearly
/// every file has a build-id.
fn crc32(bytes: &[u8]) -> u32 {
    let table: [u32; 256] = std::array::from_fn(|byte| {
        (0..8).fold(byte as u32, |crc, _| if crc & 1 == 1 { (crc >> 1) ^ 0xedb8_8320 } else { crc >> 1 })
    });
    !bytes.iter().fold(!0, |crc, byte| (crc >> 8) ^ table[usize::from(crc.to_le_bytes()[0] ^ byte)])
}

#[cfg(test)]
mod tests {
    use std::path::{Path, PathBuf};

    #[test]
    fn the_checksum_is_that_of_zlib() {
        assert_eq!(super::crc32(b"123456789"), 0xcbf4_3926);
    }

    #[test]
    fn a_build_id_becomes_two_levels_of_path() {
        let paths = super::by_build_id(&[0xab, 0x01, 0xff], &[PathBuf::from("/d")]);
        assert_eq!(paths.first().map(PathBuf::as_path), Some(Path::new("/d/.build-id/ab/01ff.debug")));
        assert!(super::by_build_id(&[], &[]).is_empty());
    }

    #[test]
    fn a_debuglink_cannot_lead_out_of_the_directory() {
        assert!(super::by_debuglink(Path::new("/bin/x"), b"../../etc/passwd", &[]).is_empty());
        assert!(super::by_debuglink(Path::new("/bin/x"), b"/etc/passwd", &[]).is_empty());
    }
}
