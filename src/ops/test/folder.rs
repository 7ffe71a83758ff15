//! Opening a folder to be tested: inspected and copied as an install would have it, so that what passes here passes
//! there, and no tool changes its author's files.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;
use std::{fs, io};

use super::plan::Opened;
use crate::base::failure::Failure;
use crate::base::files::{self, Lock};
use crate::base::id;
use crate::ops::call::{Gate, OpenError, Prepared, make_data_folder, open_package, program_of};
use crate::package::{copy_once, inspect};
use crate::store::Store;

/// Opens a folder. The values of an installed package of the same id serve where nothing stronger gives one.
pub(super) fn open_folder(store: &Store, path: &Path, path_value: &OsStr) -> Result<Opened, Failure> {
    let inspection = inspect(path, path_value)?;
    let workshop = Workshop::new()?;
    let root = workshop.path.join("package");
    copy_once(&inspection, &root)?;
    let manifest = inspection.manifest;
    let installed = open_package(store, &manifest.id, None, Gate::Installed, path_value).ok();
    let program = program_of(&manifest, &root, path_value);
    let data = workshop.path.join("data");
    make_data_folder(&data)?;
    // The confirmed screen is the grant, for this run.
    let permissions = &manifest.permissions;
    let granted: BTreeSet<_> = permissions.required_capabilities.iter().chain(&permissions.optional_capabilities).cloned().collect();
    let package = Prepared::new(Arc::new(manifest), root, program, data, granted);
    Ok(Opened { package: Arc::new(package), path: inspection.root, installed, kept: Some(Box::new(workshop)) })
}

/// What every workshop's name starts with.
const PREFIX: &str = "spark-tool-test-";
/// Held by the run whose workshop it is in; whose lock is free is dead.
const LOCK: &str = "lock";

/// A temporary folder, removed with everything in it when the run is over, or by the next run if this one is killed.
struct Workshop {
    path: PathBuf,
    lock: Option<Lock>,
}

impl Workshop {
    fn new() -> Result<Self, OpenError> {
        let parent = std::env::temp_dir();
        sweep(&parent);
        Self::make(&parent).map_err(|source| OpenError::NoDataFolder { path: parent, source })
    }

    fn make(parent: &Path) -> io::Result<Self> {
        loop {
            let path = parent.join(format!("{PREFIX}{}", id::random()));
            files::make_private_folder(&path)?;
            let place = path.join(LOCK);
            match Lock::exclusive(&place, Duration::ZERO, || {}) {
                // Resolved, so that the paths a child sees are the paths it is shown with.
                Ok(Some(lock)) if place.exists() => return Ok(Self { path: path.canonicalize().unwrap_or(path), lock: Some(lock) }),
                // A sweep came between making and locking, and has removed it or is about to: then once more.
                Ok(_) => {}
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                Err(error) => return Err(error),
            }
        }
    }
}

impl Drop for Workshop {
    fn drop(&mut self) {
        if let Some(lock) = self.lock.take() {
            clear(&self.path, lock);
        }
    }
}

/// Removes the workshops of runs that were killed. What can't be removed now, the next run tries.
fn sweep(parent: &Path) {
    let Ok(entries) = fs::read_dir(parent) else { return };
    for path in entries.flatten().filter(is_workshop).map(|entry| entry.path()) {
        let place = path.join(LOCK);
        if !place.exists() {
            // Only an empty one goes: killed before it had a lock, or after all else was removed.
            let _kept = fs::remove_dir(&path);
        } else if let Ok(Some(lock)) = Lock::exclusive(&place, Duration::ZERO, || {}) {
            clear(&path, lock);
        }
    }
}

/// Says whether an entry has the name of a workshop and is a folder of this user's.
fn is_workshop(entry: &fs::DirEntry) -> bool {
    let name = entry.file_name();
    let is_named = name.to_str().and_then(|name| name.strip_prefix(PREFIX)).is_some_and(id::is_id);
    is_named && entry.metadata().is_ok_and(|metadata| metadata.is_dir() && is_ours(&metadata))
}

#[cfg(unix)]
fn is_ours(metadata: &fs::Metadata) -> bool {
    std::os::unix::fs::MetadataExt::uid(metadata) == nix::unistd::geteuid().as_raw()
}

#[cfg(not(unix))]
fn is_ours(_metadata: &fs::Metadata) -> bool {
    true
}

/// Removes a workshop, its lock last: what is interrupted is done by the next sweep.
fn clear(path: &Path, lock: Lock) {
    let entries = fs::read_dir(path).into_iter().flatten().flatten();
    let is_clear = entries.filter(|entry| entry.file_name() != LOCK).all(|entry| files::remove_tree(&entry.path()).is_ok());
    // Some systems remove no file that is open.
    drop(lock);
    if is_clear {
        let _left = files::remove_tree(path);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // H: I-5
    #[test]
    fn the_workshop_of_a_run_that_was_killed_is_swept_and_no_other() {
        let parent = tempfile::tempdir().expect("a temporary folder");
        let path = |name: &str| parent.path().join(name);
        let alive = Workshop::make(parent.path()).expect("made");
        let dead = path(&format!("{PREFIX}{}", id::random()));
        let unborn = path(&format!("{PREFIX}{}", id::random()));
        let unlocked = path(&format!("{PREFIX}{}", id::random()));
        for folder in [&dead.join("package/read-only"), &unborn, &unlocked.join("package"), &path("spark-tool-test-mine/package")] {
            fs::create_dir_all(folder).expect("made");
        }
        fs::write(dead.join("package/read-only/file"), "text").expect("written");
        for theirs in [dead.join(LOCK), path("spark-tool-test-mine").join(LOCK)] {
            fs::write(theirs, "").expect("written");
        }
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt as _;
            fs::set_permissions(dead.join("package/read-only"), fs::Permissions::from_mode(0o500)).expect("set");
            std::os::unix::fs::symlink(path("spark-tool-test-mine"), path(&format!("{PREFIX}{}", id::random()))).expect("linked");
        }
        sweep(parent.path());
        assert!(!dead.exists() && !unborn.exists());
        assert!(alive.path.join(LOCK).exists() && unlocked.exists() && path("spark-tool-test-mine/package").exists());
        let place = alive.path.clone();
        drop(alive);
        assert!(!place.exists());
    }
}
