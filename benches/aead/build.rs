//! Compiles the shim that calls the peers written in C.

fn main() {
    println!("cargo::rerun-if-changed=src/peers.c");
    cc::Build::new().file("src/peers.c").opt_level(2).warnings(true).compile("peers");
    for library in ["crypto", "sodium", "IPSec_MB"] {
        println!("cargo::rustc-link-lib=dylib={library}");
    }
}
