//! Which process a `running` trace belongs to, in a way that a crash can't fake: a lock that the kernel holds for it.
//!
//! A process id says nothing in another container and is reused; a lock is free exactly when its holder is dead
//! (hardening I-5). The lock files are also the list of who may have left rows `running`, so no index has to be kept for
//! that in every call's path.

use std::fs::{self, File, OpenOptions};
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::StoreError;
use super::home::make_private_folder;
use crate::base::files::Lock;
use crate::base::id;

/// A process that runs calls, for as long as this lives.
pub(super) struct HostLock {
    name: String,
    path: PathBuf,
    has_open_rows: bool,
    _lock: Lock,
}

impl HostLock {
    /// Takes a fresh lock in `hosts`. It is held before the first row that names it is written. No row of it will have
    /// a key below `first_key`.
    pub(super) fn take(hosts: &Path, first_key: i64) -> Result<Self, StoreError> {
        make_private_folder(hosts)?;
        loop {
            let name = format!("{first_key}-{}", id::random());
            let path = hosts.join(&name);
            let lock = Lock::exclusive(&path, Duration::ZERO, || {}).map_err(|error| StoreError::io("lock", &path, error))?;
            // A sweep that came between making and locking the file holds it, or has removed it: then once more.
            if let Some(lock) = lock
                && path.exists()
            {
                return Ok(Self { name, path, has_open_rows: false, _lock: lock });
            }
        }
    }

    pub(super) fn name(&self) -> &str {
        &self.name
    }

    /// Says whether rows of this process are `running`: then the file stays when the lock goes, and the next start
    /// closes them.
    pub(super) fn set_open_rows(&mut self, has_open_rows: bool) {
        self.has_open_rows = has_open_rows;
    }
}

impl Drop for HostLock {
    fn drop(&mut self) {
        if !self.has_open_rows {
            // Still locked, so nobody takes the file for a dead host's meanwhile.
            let _ignored = fs::remove_file(&self.path);
        }
    }
}

/// A process that is gone. Its lock is held by us now, so that only one start closes its rows.
pub(super) struct DeadHost {
    pub(super) name: String,
    pub(super) first_key: i64,
    path: PathBuf,
    _lock: File,
}

impl DeadHost {
    /// Returns the dead among those that have a file. Whose lock can't be tried, lives.
    pub(super) fn find(hosts: &Path) -> Vec<Self> {
        let Ok(entries) = fs::read_dir(hosts) else { return Vec::new() };
        entries.flatten().filter_map(|entry| Self::check(entry.path())).collect()
    }

    fn check(path: PathBuf) -> Option<Self> {
        let name = path.file_name()?.to_str()?.to_owned();
        let first_key = name.split_once('-')?.0.parse().ok()?;
        let file = OpenOptions::new().read(true).write(true).open(&path).ok()?;
        file.try_lock().ok()?;
        Some(Self { name, first_key, path, _lock: file })
    }

    /// Forgets it. Removed while held, so that an owner that was about to lock it sees that it is gone.
    pub(super) fn bury(self) {
        let _ignored = fs::remove_file(&self.path);
    }
}
