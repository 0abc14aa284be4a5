//! The nl command of uutils.

fn main() {
    std::process::exit(uu_nl::uumain(std::env::args_os()));
}
