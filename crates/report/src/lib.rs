//! Findings to text: for a terminal, as Markdown, as JSON.
//!
//! - [`terminal`] — what a person reads after a run; [`Style`] says what the terminal can show.
//! - [`markdown`] — the same for an issue or a review, with all the evidence.
//! - [`json`] — the same for programs, described in `docs/findings-json.md`.
//! - [`syscalls`] — what the program asked of the kernel, as tables.
//! - [`comparison`](fn@comparison), [`comparison_markdown`], [`comparison_json`], [`difference`] — the same for two commands or recordings.
//! - [`scaling`](fn@scaling), [`scaling_json`] — how a command's time rises with the size of its input.
//! - [`said`](fn@said), [`run_said`] — the sentences of these reports, for the page to lay out.
//! - [`Shown`], [`shown!`] — text that may be printed: what came from outside is spelled out in it. [`visible`] does that.
//! - [`units`] — numbers as people read them, for whoever prints beside a report.
//!
//! Nothing here decides what is slow: that is `slowpath_diagnose`. Nothing here writes to a stream.

mod comparison;
mod escape;
mod hot;
mod ink;
mod json;
mod layout;
mod markdown;
mod names;
mod path;
mod phrases;
mod said;
mod scaling;
mod shown;
mod sparkline;
mod style;
mod syscalls;
mod table;
mod terminal;
pub mod units;

pub use comparison::{comparison, comparison_json, comparison_markdown, difference};
pub use escape::visible;
pub use json::json;
pub use markdown::markdown;
pub use said::{RunSaid, Said, run_said, said};
pub use scaling::{scaling, scaling_json};
pub use shown::Shown;
pub use style::Style;
pub use syscalls::syscalls;
pub use terminal::terminal;
