//! Ends and removes what slowpath would leave behind if it were killed, by `kill -9` too.
//!
//! - [`Guard`] — a small process that outlives slowpath and ends what slowpath ran.
//! - [`Keeper`] — a small process that closes what a process that is being killed must not close.
//! - [`Claim`] — whose a folder is, and whether that process still lives.
//! - [`Folder`] — temporary folders; those of the dead are removed when the next one is made.
//! - [`group`] — control groups: how one is emptied and removed, and those of the dead.
//!
//! Inside: `apart` starts these processes, `raw` holds the system calls that they may make, `closers` closes for the keeper.

mod apart;
mod claim;
mod closers;
mod folder;
pub mod group;
mod guard;
mod keeper;
mod raw;

pub use claim::{Claim, fresh_name};
pub use folder::{Folder, sweep};
pub use guard::{Guard, Wards};
pub use keeper::{Keeper, Kept};
pub use raw::{run_as_usual, run_at_once};
