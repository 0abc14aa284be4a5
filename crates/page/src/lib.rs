//! Recordings and findings as one HTML file that needs nothing else.
//!
//! - [`html`] — the file: the built page (`page/dist`) with the data of one recording, or of two to compare.
//! - [`Side`] — a recording with what was diagnosed of it.
//! - [`Sources`] — the text of source files that may go into it.
//! - [`serve`](mod@serve) — gives such a file to a browser of this machine.
//!
//! What is shown, and how, is `page/`'s. Nothing here decides what is slow. Everything from the recorded program is data:
//! it stands in the file compressed, in base64, and can neither end an element nor begin one.

mod columns;
mod counted;
mod data;
mod html;
mod lit;
pub mod serve;
mod source;

pub use html::html;
pub use source::{Reach, Source, Sources, Why};

use slowpath_diagnose::findings::Findings;
use slowpath_recording::Recording;

/// A recording whose symbols were resolved, and what was diagnosed of it.
#[derive(Debug, Clone, Copy)]
pub struct Side<'a> {
    /// What it is called where two are compared.
    pub name: &'a str,
    /// The recording.
    pub recording: &'a Recording,
    /// What was diagnosed.
    pub findings: &'a Findings,
    /// Source files to put into the file, which they leave with it; none to show no source.
    pub sources: Option<&'a Sources>,
}

/// What goes into the file beside the recordings.
#[derive(Debug, Clone, Copy, Default)]
pub struct Options<'a> {
    /// The timed comparison of the two sides, if there is one.
    pub comparison: Option<&'a slowpath_compare::values::Comparison>,
}
