//! The one door to processes: started with exactly what the caller names, stopped with everything they started,
//! remembered across a crash of ours.
//!
//! Nothing here knows what a child is for. What depends on the system is in one file a system: `linux.rs` is tested,
//! `macos.rs` and `windows.rs` are written and have not been run. Invariants: no shell, no inherited environment, no
//! descriptor but 0, 1 and 2; a pid is only signalled while it can't have become another process's.

mod ledger;
mod lookup;
mod spawn;
mod stop;

#[cfg(unix)]
mod unix;

#[cfg(target_os = "linux")]
#[path = "linux.rs"]
mod system;
#[cfg(all(unix, not(target_os = "linux")))]
#[path = "macos.rs"]
mod system;
#[cfg(windows)]
#[path = "windows.rs"]
mod system;

pub(crate) use ledger::Ledger;
pub(crate) use lookup::resolve;
pub(crate) use spawn::{Child, Exit, Pipes, Start, spawn};
pub(crate) use stop::Stop;
pub(crate) use system::{Input, Output};
