//! The ls command of uutils.

fn main() {
    std::process::exit(uu_ls::uumain(std::env::args_os()));
}
