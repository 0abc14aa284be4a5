//! An interpreter of x86-64 that shows what a thread will do next, without doing it.
//!
//! It begins with a thread's registers and reads pages of its memory as they are needed; what it writes stays here. So a stretch of a program
//! can be looked at instruction by instruction, at some tens of nanoseconds each, while single steps of the kernel take microseconds.
//!
//! - `memory` — pages, copied when first touched.
//! - `registers` — registers and flags, and how their parts are read and written.
//! - `machine` — operands, blocks of decoded instructions, and the loop that runs them.
//! - `integer` — instructions on general registers; `strings` — those that repeat.
//! - `moves`, `lanes`, `floats` — instructions on vector registers: what moves, what works on lanes of whole numbers, what works on fractions; `ciphers` — what is made for
//!   ciphers and checksums.
//! - `x87` — instructions on fractions of 80 bits.
//!
//! Only what compilers make for ordinary code is known: an unknown instruction ends the run ([`End::Unknown`]), as does a system call. Vectors have
//! up to 32 bytes. The auxiliary carry flag, exceptions of floating-point arithmetic and, in vectors, rounding other than to nearest are left out: no compiler's code reads them
//! where it does not ask for them first.
//!
//! Source: Intel 64 and IA-32 Architectures Software Developer's Manual, volume 2.

mod ciphers;
mod floats;
mod integer;
mod lanes;
mod machine;
mod memory;
mod moves;
mod registers;
mod strings;
mod x87;

pub use machine::{End, Machine, Watch};
pub use memory::{Memory, PAGE, Source};
pub use registers::{Flags, Registers};
pub use x87::Fractions;
