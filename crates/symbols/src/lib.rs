//! Addresses to functions, files, lines and inlined frames.
//!
//! - [`ElfSymbols`]: everything about the addresses of one ELF file, after a run;
//! - [`FunctionRanges`]: only which function an address lies in, quick enough during a run;
//! - [`kernel::KernelSymbols`]: the functions of the running kernel;
//! - [`Build`]: whether a function was built with optimisation;
//! - [`demangle`] and [`build_id`].
//!
//! Files come from outside, and paths too: only regular files are opened ([`open_regular`]), and what the numbers in a file may
//! ask for is bounded (`bounds`, `metered`). What goes beyond is left out, and [`ElfSymbols::left_out`] says so.
//!
//! All addresses of user code are svma: those of the file's own program headers, before it is
//! loaded anywhere. Whoever knows the mappings of a process subtracts the load bias.
//!
//! # Why addr2line
//!
//! addr2line 0.27 with gimli and object was measured against blazesym 0.2.7 (release builds, two
//! cores, best of three): 5,000 unique addresses, demangled, with lines and inlined frames.
//!
//! | file | addr2line alone | this crate | blazesym, one call | blazesym, call by call |
//! |---|---|---|---|---|
//! | Rust program with `-g`, 26 MB | 76 ms | 84 ms | 78 ms | 83 ms |
//! | libc.so.6 with its compressed debug file | finds none by itself | 86 ms | 72 ms | 80 ms |
//! | libc.so.6 without debug information | 1.3 ms | 1.5 ms | 2.3 ms | 8.5 ms |
//!
//! "Alone" is its context with a plain symbol map; "this crate" was built with overflow checks and
//! debug assertions and adds first lines, bounds and the choice among names, which blazesym's
//! figures lack in part. This crate and blazesym found the same 17,223 frames in the first file
//! and the same 5,866 in the second. Either pulls in about twenty crates.
//!
//! So speed does not decide. Bytes in memory do: blazesym takes ELF files by path, while the vDSO
//! and deleted files are bytes. So do zstd, which is C code there and Rust here, the address's unit
//! for its compiler options and first lines, and the unwind tables, which need gimli and object in
//! any case. blazesym follows debug links and dwz by itself; here `debug_files` does.

mod bounds;
mod build;
mod debug_files;
mod decl_line;
mod dwarf;
mod elf_symbols;
mod error;
mod fde_table;
mod image;
pub mod kernel;
mod metered;
mod names;
mod open;
mod plt;
mod ranges;
mod split_dwarf;
mod symbol_table;

pub use build::{Build, KnownBy};
pub use elf_symbols::{ElfSymbols, Symbol};
pub use error::Error;
pub use image::{build_id, section_of};
pub use names::demangle;
pub use open::open_regular;
pub use ranges::{FunctionRange, FunctionRanges, RangeSource};
