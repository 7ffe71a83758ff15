//! Opening a folder to be tested: inspected and copied as an install would have it, so that what passes here passes
//! there, and no tool changes its author's files.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::plan::Opened;
use crate::base::failure::Failure;
use crate::base::{files, id};
use crate::ops::call::{Gate, OpenError, Prepared, make_data_folder, open_package, program_of};
use crate::package::{copy_once, inspect};
use crate::store::Store;

/// Opens a folder. The values of an installed package of the same id serve where nothing stronger gives one.
pub(super) fn open_folder(store: &Store, path: &Path, path_value: &OsStr) -> Result<Opened, Failure> {
    let inspection = inspect(path, path_value)?;
    let workshop = Workshop::new()?;
    let root = workshop.0.join("package");
    copy_once(&inspection, &root)?;
    let manifest = inspection.manifest;
    let installed = open_package(store, &manifest.id, None, Gate::Installed, path_value).ok();
    let program = program_of(&manifest, &root, path_value);
    let data = workshop.0.join("data");
    make_data_folder(&data)?;
    // The confirmed screen is the grant, for this run.
    let permissions = &manifest.permissions;
    let granted: BTreeSet<_> = permissions.required_capabilities.iter().chain(&permissions.optional_capabilities).cloned().collect();
    let package = Prepared::new(Arc::new(manifest), root, program, data, granted);
    Ok(Opened { package: Arc::new(package), path: inspection.root, installed, kept: Some(Box::new(workshop)) })
}

/// A temporary folder, removed with everything in it when the run is over.
struct Workshop(PathBuf);

impl Workshop {
    fn new() -> Result<Self, OpenError> {
        let path = std::env::temp_dir().join(format!("spark-tool-test-{}", id::random()));
        let made = std::fs::create_dir(&path).and_then(|()| make_private(&path));
        made.map_err(|source| OpenError::NoDataFolder { path: path.clone(), source })?;
        // Resolved, so that the paths a child sees are the paths it is shown with.
        Ok(Self(path.canonicalize().unwrap_or(path)))
    }
}

impl Drop for Workshop {
    fn drop(&mut self) {
        // What can't be removed is the system's to clean: it is in its folder for such things.
        let _left = files::remove_tree(&self.0);
    }
}

#[cfg(unix)]
fn make_private(path: &Path) -> std::io::Result<()> {
    use std::os::unix::fs::PermissionsExt as _;
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o700))
}

#[cfg(not(unix))]
fn make_private(_path: &Path) -> std::io::Result<()> {
    Ok(())
}
