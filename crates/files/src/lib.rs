//! Files, as the caller may touch them. slowpath often runs as root for somebody else, in folders that others can write to.
//!
//! - [`Caller`] — for whom we work: under sudo the user who called it. Lends a thread that user's rights to files.
//! - [`Folder`] — an open folder. Everything in it is reached by name from its descriptor, never through a link.
//! - [`write`](fn@write), [`read`] — single files that the user named.
//!
//! What the files hold is none of this crate's business.

mod caller;
mod folder;
mod named;
mod walk;

pub use caller::{Acting, Caller};
pub use folder::{Entry, Folder, Kind};
pub use named::{read, write};
