//! DWARF that the compiler left in files of its own (`-gsplit-dwarf`): `.dwo` files beside the
//! objects, or one `.dwp` package beside the program.

use std::collections::HashSet;
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use addr2line::SplitDwarfLoad;
use addr2line::gimli::{self, SectionId};

use crate::dwarf::{Slice, Storage, load_sections};
use crate::image::Image;

/// The split files of one program.
pub(crate) struct DwoFiles {
    /// Where the package would be.
    package_path: PathBuf,
    /// `None` until it was looked for.
    package: Option<Option<gimli::DwarfPackage<Slice>>>,
    /// Device and inode of the `.dwo` files that were opened. Each holds one unit: a second unit that names it is wrong.
    opened: HashSet<(u64, u64)>,
}

impl DwoFiles {
    /// For the program at `path`; looks for nothing yet.
    pub(crate) fn beside(path: &Path) -> Self {
        let mut package_path = OsString::from(path);
        package_path.push(".dwp");
        DwoFiles { package_path: package_path.into(), package: None, opened: HashSet::new() }
    }

    /// The split DWARF that `load` asks for. Everything it borrows from is kept in `storage`.
    pub(crate) fn find(
        &mut self,
        storage: &mut Storage,
        load: &SplitDwarfLoad<Slice>,
    ) -> Option<Arc<gimli::Dwarf<Slice>>> {
        let package = self.package.get_or_insert_with(|| open_package(storage, &self.package_path));
        if let Some(package) = package
            && let Ok(Some(dwarf)) = package.find_cu(load.dwo_id, &load.parent)
        {
            return Some(Arc::new(dwarf));
        }
        self.open_dwo(storage, load)
    }

    fn open_dwo(
        &mut self,
        storage: &mut Storage,
        load: &SplitDwarfLoad<Slice>,
    ) -> Option<Arc<gimli::Dwarf<Slice>>> {
        let directory = load.comp_dir.map_or(&[][..], |directory| directory.bytes());
        let name = load.path.as_ref()?.bytes();
        let path = Path::new(OsStr::from_bytes(directory)).join(OsStr::from_bytes(name));
        let image = Image::map(&path).ok()?;
        image.elf().ok()?;
        if !image.identity.is_some_and(|file| self.opened.insert(file)) {
            return None;
        }
        let mut dwarf = load_sections(storage, &image, |id| id.dwo_name()).ok()?;
        // A file that was recompiled since does not fit the program.
        let header = dwarf.units().next().ok()??;
        if dwarf.unit(header).ok()?.dwo_id != Some(load.dwo_id) {
            return None;
        }
        dwarf.make_dwo(&load.parent);
        Some(Arc::new(dwarf))
    }
}

fn open_package(storage: &mut Storage, path: &Path) -> Option<gimli::DwarfPackage<Slice>> {
    let image = Image::map(path).ok()?;
    image.elf().ok()?;
    storage.keep(&image);
    let empty = storage.load(&image, SectionId::DebugInfo, "");
    let section = |id: SectionId| Ok(storage.load(&image, id, id.dwo_name().unwrap_or_default()));
    gimli::DwarfPackage::load::<_, gimli::Error>(section, empty).ok()
}
