//! What slowpath has to say to people beside a report: on stderr, which may be full or closed. Then nobody can read it, and
//! nothing that follows must change for it, least of all the exit code: the macros of the standard library would panic.

use slowpath_report::Shown;
use std::io::Write;

/// Says it in a line of its own, after the command's name.
pub fn complain(message: &Shown) {
    // Its lines are spelled out already.
    hint(&Shown::lines(format_args!("slowpath: {message}")));
}

/// Says it in a line of its own.
pub fn hint(message: &Shown) {
    // At once, so that the lines of two processes do not mix.
    let _ = std::io::stderr().write_all(format!("{message}\n").as_bytes());
}
