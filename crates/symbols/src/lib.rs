//! Addresses to functions, files, lines and inlined frames.
//!
//! - [`ElfSymbols`]: everything about the addresses of one ELF file, after a run;
//! - [`FunctionRanges`]: only which function an address lies in, quick enough during a run;
//! - [`kernel::KernelSymbols`]: the functions of the running kernel;
//! - [`demangle`] and [`build_id`].
//!
//! All addresses of user code are svma: those of the file's own program headers, before it is
//! loaded anywhere. Whoever knows the mappings of a process subtracts the load bias.

mod debug_files;
mod decl_line;
mod dwarf;
mod elf_symbols;
mod error;
mod fde_table;
mod image;
pub mod kernel;
mod names;
mod plt;
mod ranges;
mod split_dwarf;
mod symbol_table;

pub use elf_symbols::{ElfSymbols, Symbol};
pub use error::Error;
pub use image::build_id;
pub use names::demangle;
pub use ranges::{FunctionRange, FunctionRanges, RangeSource};
