//! Debug information that lies in other files, and files that are not the ones that ran.

use std::path::PathBuf;

use crate::common::{C_PROGRAM, Workshop, symbol};
use slowpath_symbols::{ElfSymbols, Error, build_id};

/// A stripped `prog`, its `prog.debug`, and an address in `outer`.
fn split(shop: &Workshop, id: &str) -> u64 {
    shop.write("prog.c", C_PROGRAM);
    shop.run(&["gcc", "-O2", "-g", &format!("-Wl,--build-id={id}"), "-o", "prog", "prog.c"]);
    let (start, _) = symbol(&shop.path("prog"), "outer");
    shop.run(&["objcopy", "--only-keep-debug", "prog", "prog.debug"]);
    shop.run(&["strip", "prog"]);
    start
}

fn assert_has_lines(mut symbols: ElfSymbols, svma: u64) {
    assert!(symbols.has_dwarf() && symbols.has_symbols());
    let frames = symbols.lookup(svma);
    let last = frames.last().expect("a frame");
    assert_eq!(last.name, "outer");
    assert!(last.line.is_some());
}

#[test]
fn a_debuglink_is_followed_beside_the_program_and_into_dot_debug() {
    for id in ["sha1", "none"] {
        let shop = Workshop::new();
        let outer = split(&shop, id);
        shop.run(&["objcopy", "--add-gnu-debuglink=prog.debug", "prog"]);
        assert_has_lines(ElfSymbols::open(&shop.path("prog"), None).expect("open"), outer);
        std::fs::create_dir(shop.path(".debug")).expect("folder");
        shop.run(&["mv", "prog.debug", ".debug/"]);
        assert_has_lines(ElfSymbols::open(&shop.path("prog"), None).expect("open"), outer);
    }
}

#[test]
fn a_debuglink_to_another_build_is_not_believed() {
    for id in ["sha1", "none"] {
        let shop = Workshop::new();
        split(&shop, id);
        shop.run(&["objcopy", "--add-gnu-debuglink=prog.debug", "prog"]);
        shop.write("other.c", "int other(int x) { return x; } int main(void) { return other(1); }");
        shop.run(&["gcc", "-g", &format!("-Wl,--build-id={id}"), "-o", "prog.debug", "other.c"]);
        assert!(!ElfSymbols::open(&shop.path("prog"), None).expect("open").has_dwarf());
    }
}

#[test]
fn a_build_id_leads_to_the_debug_file_in_a_debug_directory() {
    let shop = Workshop::new();
    let outer = split(&shop, "sha1");
    let data = std::fs::read(shop.path("prog")).expect("read");
    let id = build_id(&data).expect("build-id");
    let hex: String = id.iter().map(|byte| format!("{byte:02x}")).collect();
    let folder = shop.path("debug").join(".build-id").join(&hex[..2]);
    std::fs::create_dir_all(&folder).expect("folder");
    std::fs::rename(shop.path("prog.debug"), folder.join(format!("{}.debug", &hex[2..]))).expect("move");
    let dirs = [shop.path("debug")];
    assert!(!ElfSymbols::open(&shop.path("prog"), None).expect("open").has_dwarf());
    assert_has_lines(ElfSymbols::open_with(&shop.path("prog"), Some(&id), &dirs).expect("open"), outer);
    let held = ElfSymbols::from_bytes(data, &PathBuf::from("/gone/prog"), Some(&id), &dirs);
    assert_has_lines(held.expect("open"), outer);
}

#[test]
fn a_program_that_was_replaced_is_refused() {
    let shop = Workshop::new();
    split(&shop, "sha1");
    let error = ElfSymbols::open(&shop.path("prog"), Some(&[1, 2, 3])).err().expect("mismatch");
    assert!(matches!(&error, Error::Mismatch { wanted, found: Some(_), .. } if *wanted == [1, 2, 3]));
    assert!(error.to_string().contains("010203"), "{error}");
}

#[test]
fn dwz_files_are_read_beside_the_program() {
    if !crate::common::have("dwz", "--version") {
        return;
    }
    let shop = Workshop::new();
    shop.write("prog.c", C_PROGRAM);
    shop.run(&["gcc", "-O2", "-g", "-gdwarf-4", "-o", "prog", "prog.c"]);
    shop.run(&["cp", "prog", "twin"]);
    let (outer, size) = symbol(&shop.path("prog"), "outer");
    shop.run(&["dwz", "-m", "common.dwz", "prog", "twin"]);
    assert!(shop.path("common.dwz").exists());
    let mut symbols = ElfSymbols::open(&shop.path("prog"), None).expect("open");
    let mut found = (outer..outer + size).map(|svma| symbols.lookup(svma));
    let frames = found.find(|frames| frames.len() == 3).expect("inlined frames out of the shared file");
    let names: Vec<_> = frames.iter().map(|frame| frame.name.as_str()).collect();
    assert_eq!(names, ["innermost", "middle", "outer"]);
    assert!(frames.iter().all(|frame| frame.decl_line.is_some()));
}

#[test]
fn the_vdso_has_symbols() {
    let Some(image) = vdso() else {
        eprintln!("SKIPPED: no vDSO");
        return;
    };
    let mut symbols = ElfSymbols::from_bytes(image, &PathBuf::from("[vdso]"), None, &[]).expect("open");
    assert!(symbols.has_symbols());
    let named = (0..0x4000)
        .any(|svma| symbols.lookup(svma).iter().any(|symbol| symbol.name.contains("clock_gettime")));
    assert!(named);
}

fn vdso() -> Option<Vec<u8>> {
    use std::os::unix::fs::FileExt;
    let maps = std::fs::read_to_string("/proc/self/maps").ok()?;
    let line = maps.lines().find(|line| line.ends_with("[vdso]"))?;
    let (from, to) = line.split_whitespace().next()?.split_once('-')?;
    let (from, to) = (u64::from_str_radix(from, 16).ok()?, u64::from_str_radix(to, 16).ok()?);
    let mut image = vec![0; usize::try_from(to - from).ok()?];
    std::fs::File::open("/proc/self/mem").ok()?.read_exact_at(&mut image, from).ok()?;
    Some(image)
}
