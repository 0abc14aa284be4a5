//! Says in a sentence what to do if the page was not built: `make build` does it before it calls cargo.

use std::path::Path;

fn main() {
    for name in ["page.js", "page.css"] {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../page/dist").join(name);
        println!("cargo::rerun-if-changed={}", path.display());
        if !path.is_file() {
            println!(
                "cargo::error=page/dist/{name} is missing: run `make build`, which builds the page first"
            );
        }
    }
}
