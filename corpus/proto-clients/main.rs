//! Generates the clients of a company's services, and says how many methods each one has. Usage: program FOLDER

use std::error::Error;
use std::path::PathBuf;
use std::{env, fs};

fn main() -> Result<(), Box<dyn Error>> {
    let folder = env::args().nth(1).ok_or("usage: program FOLDER")?;
    let mut protos: Vec<PathBuf> = fs::read_dir(&folder)?.map(|entry| Ok(entry?.path())).collect::<Result<_, std::io::Error>>()?;
    protos.sort();
    env::set_var("PROTOC", protoc_bin_vendored::protoc_bin_path()?);
    env::set_var("PROTOC_INCLUDE", protoc_bin_vendored::include_path()?);
    fs::create_dir_all("generated")?;
    tonic_build::configure().build_server(false).out_dir("generated").compile(&protos, &[PathBuf::from(folder)])?;
    let mut files: Vec<PathBuf> = fs::read_dir("generated")?.map(|entry| Ok(entry?.path())).collect::<Result<_, std::io::Error>>()?;
    files.sort();
    for path in files {
        let methods = fs::read_to_string(&path)?.matches("pub async fn do").count();
        println!("{}: {methods} methods", path.display());
    }
    Ok(())
}
