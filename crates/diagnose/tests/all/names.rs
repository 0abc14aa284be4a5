//! Names for addresses out of files that are not what they should be: what could not be read is said.

use slowpath_diagnose::resolve::resolve;
use slowpath_recording::tables::{Location, Module};
use slowpath_recording::{Recording, Tables};
use std::collections::HashMap;
use std::path::Path;

/// The notes of resolving one address in the file at `path`, and the name that it gets.
fn named(path: &Path) -> (Vec<String>, String) {
    let path = path.display().to_string();
    let module = Module { module: 0, path, build_id: None, device: 0, inode: 0, size: 0, mtime_ns: 0 };
    let location = Location { location: 0, module: Some(0), address: 0x1010, kind: "native".into() };
    let tables = Tables { modules: vec![module], locations: vec![location], ..Tables::default() };
    let mut recording = Recording::from_tables("/".into(), crate::common::about(1), tables, Vec::new());
    let notes = resolve(&mut recording, &HashMap::new());
    (notes, recording.tables.functions[0].name.clone())
}

#[test]
fn debug_information_that_was_left_out_is_said_beside_the_name_of_the_symbol() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("hostile");
    let file = crate::elf::elf(vec![
        crate::elf::code(0x1000, 0x100),
        crate::elf::names(b"\0work\0".to_vec()),
        crate::elf::symbols(2, [(0x1000, 0x100, 1)].into_iter()),
        crate::elf::compressed(".debug_info", &[], &[0; 1 << 20], 1_000, &[]),
    ]);
    std::fs::write(&path, file).expect("write");
    let (notes, name) = named(&path);
    assert_eq!(name, "work");
    assert!(notes.iter().all(|note| note.starts_with(&path.display().to_string())), "{notes:?}");
    assert!(notes.iter().any(|note| note.contains(".debug_info is ignored")), "{notes:?}");
}

#[test]
fn what_is_no_regular_file_is_said_and_the_address_keeps_its_number() {
    let (notes, name) = named(Path::new("/dev/zero"));
    assert_eq!(name, "zero+0x1010");
    assert!(notes.iter().any(|note| note.contains("not a regular file")), "{notes:?}");
}
