//! Names, lines and the build of real and of hostile executables, one file a subject; one program for all of them.

#[path = "../common/mod.rs"]
mod common;

mod builds;
mod damaged_files;
mod debug_files;
mod functions;
mod hostile_files;
mod hostile_names;
mod paths;
mod source_lines;
mod speed;
