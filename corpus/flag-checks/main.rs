//! Builds the C libraries of a project, each folder of sources into a static library, as a build script does, with warnings and
//! hardening where the compiler knows them, and says how large the libraries are. Usage: program SOURCES OBJECTS

use std::env;
use std::error::Error;
use std::fs;
use std::path::{Path, PathBuf};

const OPTIONAL: [&str; 9] = [
    "-Wlogical-op",
    "-Wshadow",
    "-Wformat=2",
    "-Wduplicated-cond",
    "-Wnull-dereference",
    "-fstack-protector-strong",
    "-fstack-clash-protection",
    "-fcf-protection",
    "-Wno-unused-parameter",
];

fn sources(folder: &Path) -> std::io::Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.extension().is_some_and(|extension| extension == "c") {
            files.push(path);
        }
    }
    files.sort();
    Ok(files)
}

fn build(name: &str, files: &[PathBuf], objects: &Path) -> std::io::Result<u64> {
    let mut library = cc::Build::new();
    library
        .target("x86_64-unknown-linux-gnu")
        .host("x86_64-unknown-linux-gnu")
        .opt_level(2)
        .debug(false)
        .cargo_metadata(false);
    library.out_dir(objects).warnings(false);
    for flag in OPTIONAL {
        library.flag_if_supported(flag);
    }
    for file in files {
        library.file(file);
    }
    let archive = format!("lib{name}.a");
    library.compile(&archive);
    Ok(fs::metadata(objects.join(archive))?.len())
}

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = env::args().skip(1).map(PathBuf::from);
    let (Some(folder), Some(objects)) = (arguments.next(), arguments.next()) else {
        return Err("usage: program SOURCES OBJECTS".into());
    };
    let mut libraries: Vec<PathBuf> =
        fs::read_dir(&folder)?.map(|entry| entry.map(|entry| entry.path())).collect::<Result<_, _>>()?;
    libraries.sort();
    for library in libraries {
        let name = library
            .file_name()
            .and_then(|name| name.to_str())
            .ok_or("a folder's name is no text")?
            .to_owned();
        let files = sources(&library)?;
        let place = objects.join(&name);
        fs::create_dir_all(&place)?;
        let size = build(&name, &files, &place)?;
        eprintln!("{name}: {} files, {size} bytes", files.len());
    }
    Ok(())
}
