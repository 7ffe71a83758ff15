//! Packages as files: looked at, identified, put into their place, verified, taken out again.
//!
//! Nothing of a package is ever run here (hardening G-8). Trees are changed under one lock a home, and every change can
//! be finished or undone by the next process. What the database says is the caller's business.

mod digest;
mod entry;
mod error;
mod ignore;
mod inspect;
mod intent;
mod path;
mod select;
mod snapshot;
mod sweep;
mod verify;

pub(crate) use digest::command_path;
pub(crate) use entry::check_entry;
pub(crate) use error::{Change, PackageError};
pub(crate) use inspect::{EntryPoint, Inspection, MANIFEST, entry_point, inspect};
pub(crate) use intent::TreeLock;
pub(crate) use snapshot::{Step, copy_once, install, withdraw};
pub(crate) use sweep::{has_leftovers, sweep};
pub(crate) use verify::{verify_full, verify_quick};
