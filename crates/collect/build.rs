//! Builds the BPF object from source with clang, and embeds it. The header with the system calls is made from their table.

use std::path::PathBuf;
use std::process::Command;

fn main() {
    println!("cargo:rerun-if-changed=bpf");
    let folder = PathBuf::from(std::env::var_os("OUT_DIR").expect("cargo sets OUT_DIR"));
    let out = folder.join("slowpath.bpf.o");
    std::fs::write(folder.join("calls.h"), slowpath_syscalls::header()).expect("OUT_DIR can be written");
    // libbpf's own headers, from the crate that carries it.
    let headers = std::env::var_os("DEP_BPF_INCLUDE").map(PathBuf::from);
    let clang = std::env::var_os("CLANG").unwrap_or_else(|| "clang".into());
    let mut command = Command::new(&clang);
    command.args([
        "-g",
        "-O2",
        "-Wall",
        "-Wno-unused-function",
        "-target",
        "bpf",
        "-mcpu=v3",
        "-D__TARGET_ARCH_x86",
    ]);
    if let Some(headers) = headers {
        command.arg("-I").arg(headers);
    }
    command.arg("-I").arg(&folder);
    // Debian keeps <asm/types.h> in the folder of the machine's own architecture.
    command.arg("-I/usr/include/x86_64-linux-gnu");
    command.args(["-c", "bpf/slowpath.bpf.c", "-o"]).arg(&out);
    match command.status() {
        Ok(status) if status.success() => {}
        Ok(status) => panic!("{} could not compile bpf/slowpath.bpf.c ({status})", clang.to_string_lossy()),
        Err(error) => panic!(
            "cannot run {}: {error}. The BPF object is built with clang: install it (Debian: apt install clang) or name it in $CLANG",
            clang.to_string_lossy()
        ),
    }
}
