//! macOS and other Unixes: a child's own group is all of its tree that can be found. Written, not run.
//!
//! A child is not ended by the kernel when we are, and a descendant that left the group is out of reach: the ledger
//! finds the group's leader at the next start, nothing more.

use std::io;
use std::process::Child as StdChild;

use nix::sys::wait::{WaitPidFlag, WaitStatus, waitpid};

use super::unix::pid;

pub(super) use super::unix::{ExitNews, Force, exit_of, is_in_group, outputs, signal_group, signal_one};
pub(crate) use super::unix::{Input, Output};

/// A process as it can't be mistaken for a later one; no process can be told so far here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Seen {
    pub(super) pid: u32,
    pub(super) started: u64,
}

pub(super) fn tie_to(_host: u32) -> io::Result<()> {
    Ok(())
}

pub(super) fn is_lasting_thread() -> bool {
    true
}

pub(super) fn adopt_orphans() {}

/// Reaps the child: without `waitid` its end can't be seen otherwise. Its status is kept by the standard library.
pub(super) fn has_ended(child: &mut StdChild) -> bool {
    !matches!(child.try_wait(), Ok(None))
}

pub(super) fn reap_stray(process: u32) -> bool {
    !matches!(waitpid(pid(process), Some(WaitPidFlag::WNOHANG)), Ok(WaitStatus::StillAlive))
}

pub(super) fn any_ended() -> Option<u32> {
    None
}

pub(super) fn own_children() -> Vec<u32> {
    Vec::new()
}

pub(super) fn descendants(_process: u32) -> Vec<Seen> {
    Vec::new()
}

pub(super) fn seen(_pid: u32) -> Option<Seen> {
    None
}

pub(super) fn marker(_pid: u32) -> Option<String> {
    None
}

pub(super) fn marked(_prefix: &str) -> Vec<u32> {
    Vec::new()
}
