//! What a recording IS: a folder of columnar tables and one small JSON file.
//!
//! - [`tables`] — the rows of each table, their columns and units.
//! - [`about`] — `about.json`: what ran, on what machine, what could not be seen.
//! - [`Writer`] — writes a recording as it grows, in closed segments.
//! - [`Recording`] — reads one back, whole or cut short.
//! - [`folder`] — where recordings live, their ids, newest, removal.
//!
//! The format is documented in `docs/recording-format.md`. This crate knows nobody: neither how a recording is
//! collected nor what is concluded from it.

pub mod about;
mod cell;
mod content;
mod error;
pub mod folder;
mod guarded;
mod origin;
mod pages;
mod reader;
mod row;
mod segment;
pub mod tables;
mod whole;
mod writer;

pub use about::About;
pub use content::{BEFORE_END, CONTENT_BYTES, LED_TO, content_hash, filled_hash};
pub use error::Error;
pub use reader::Recording;
pub use writer::{Tables, Writer};
