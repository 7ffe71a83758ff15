//! What a process is about to do with installed trees, written down so that the next one can finish or undo it.
//!
//! Each piece of work has a folder of its own in `staging/`, beside the trees (hardening I-7): `intent.json`, and the
//! trees that are on their way in or out. Its folder is gone when the work is done. Who works holds [`TreeLock`].

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::error::PackageError;
use crate::base::files::{self, Lock};
use crate::base::id;
use crate::base::layout::Layout;
use crate::tool::{PackageId, Version};

/// That no other process changes installed trees meanwhile. The kernel frees it with the process (hardening I-5).
#[derive(Debug)]
pub(crate) struct TreeLock {
    layout: Layout,
    _lock: Lock,
}

impl TreeLock {
    /// Takes the lock of a home, waiting at most `wait` for another process; `waiting` is called once if it has to.
    pub(crate) fn take(layout: &Layout, wait: Duration, waiting: impl FnOnce()) -> Result<Self, PackageError> {
        private_folder(&layout.run())?;
        let path = layout.install_lock();
        let lock = Lock::exclusive(&path, wait, waiting).map_err(|error| PackageError::io("lock", &path, error))?;
        let lock = lock.ok_or(PackageError::Busy { waited: wait })?;
        Ok(Self { layout: layout.clone(), _lock: lock })
    }

    pub(super) fn layout(&self) -> &Layout {
        &self.layout
    }
}

impl Drop for TreeLock {
    fn drop(&mut self) {
        // What is empty is left by nobody: no folder tells of packages that are gone.
        for folder in [self.layout.staging(), self.layout.packages(), self.layout.home().join("data")] {
            let _not_empty = fs::remove_dir(folder);
        }
    }
}

/// What is done to which versions.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Intent {
    pub(super) act: Act,
    pub(super) package: PackageId,
    pub(super) versions: Vec<Version>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) enum Act {
    Install,
    Remove,
}

/// The folder of one piece of work.
#[derive(Debug)]
pub(super) struct Work {
    pub(super) folder: PathBuf,
}

impl Work {
    const INTENT: &'static str = "intent.json";

    /// Makes a folder for a piece of work. The intent is not synced: whatever is renamed because of it is synced first,
    /// and the intent with it.
    pub(super) fn begin(lock: &TreeLock, intent: &Intent) -> Result<Self, PackageError> {
        let folder = lock.layout().staging().join(id::random());
        private_folder(&folder)?;
        let text = serde_json::to_vec(intent).unwrap_or_default();
        let path = folder.join(Self::INTENT);
        write_private(&path, &text).map_err(|error| PackageError::write(&path, 0, error))?;
        Ok(Self { folder })
    }

    /// Returns what other processes left, each with its intent; `None` if it died before that was written.
    pub(super) fn left(layout: &Layout) -> Result<Vec<(Self, Option<Intent>)>, PackageError> {
        let staging = layout.staging();
        let entries = match fs::read_dir(&staging) {
            Ok(entries) => entries,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => return Err(PackageError::io("read", &staging, error)),
        };
        let mut left = Vec::new();
        for entry in entries {
            let folder = entry.map_err(|error| PackageError::io("read", &staging, error))?.path();
            let intent = fs::read(folder.join(Self::INTENT)).ok().and_then(|text| serde_json::from_slice(&text).ok());
            left.push((Self { folder }, intent));
        }
        Ok(left)
    }

    /// The tree on its way in.
    pub(super) fn tree(&self) -> PathBuf {
        self.folder.join("tree")
    }

    /// A version's tree on its way out.
    pub(super) fn withdrawn(&self, version: &Version) -> PathBuf {
        self.folder.join(format!("out-{version}"))
    }

    /// The package's own data on their way out.
    pub(super) fn data(&self) -> PathBuf {
        self.folder.join("data")
    }

    /// Takes away what a call that still ran has made in a place since something was moved out of it; that comes back.
    pub(super) fn make_way(&self, place: &Path) -> Result<(), PackageError> {
        if place.exists() { move_tree(place, &self.folder.join("remade")) } else { Ok(()) }
    }

    pub(super) fn end(self) -> Result<(), PackageError> {
        files::remove_tree(&self.folder).map_err(|error| PackageError::io("remove", &self.folder, error))
    }
}

/// Makes a folder of mode 0700 and its parents.
pub(super) fn private_folder(path: &Path) -> Result<(), PackageError> {
    files::make_private_folder(path).map_err(|error| PackageError::write(path, 0, error))
}

fn write_private(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut options = fs::OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    io::Write::write_all(&mut options.open(path)?, bytes)
}

/// Moves a tree, and leaves its own folder open to its owner alone: it must be writable to be moved.
pub(super) fn move_tree(from: &Path, to: &Path) -> Result<(), PackageError> {
    set_mode(from, 0o700)?;
    fs::rename(from, to).map_err(|error| PackageError::io("move", from, error))
}

/// Sets permission bits where there are such.
#[cfg(unix)]
pub(super) fn set_mode(path: &Path, mode: u32) -> Result<(), PackageError> {
    use std::os::unix::fs::PermissionsExt as _;
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).map_err(|error| PackageError::io("set the mode of", path, error))
}

#[cfg(not(unix))]
pub(super) fn set_mode(_path: &Path, _mode: u32) -> Result<(), PackageError> {
    Ok(())
}
