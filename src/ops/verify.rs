//! Is the tree of an installed version what was installed? Asked before it is enabled and before its program is
//! started (design §4, digest).

use super::lookup::{self, LookupError};
use crate::base::stamp::StampedFile;
use crate::manifest::{Manifest, Runtime};
use crate::package::{Change, PackageError, command_path, verify_full, verify_quick};
use crate::store::{InstalledVersion, Store, StoreError};

/// How much is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Care {
    /// Files that look as they did when they were installed are taken to be the same.
    Quick,
    Full,
}

/// Refuses a tree that was changed. Returns how its files look now if that is another way than recorded.
pub(crate) fn check_tree<E: From<StoreError> + From<PackageError> + From<LookupError>>(
    store: &Store,
    installed: &InstalledVersion,
    manifest: &Manifest,
    care: Care,
) -> Result<Option<Vec<StampedFile>>, E> {
    let checked = check_files(store, installed, manifest, care);
    // Taken away by another command meanwhile, it was changed by nobody.
    if checked.is_err() && !store.has_version(installed.package.as_str(), installed.version.as_str())? {
        lookup::find(store, &installed.package, Some(&installed.version), lookup::Meant::Current)?;
    }
    checked
}

fn check_files<E: From<StoreError> + From<PackageError>>(
    store: &Store,
    installed: &InstalledVersion,
    manifest: &Manifest,
    care: Care,
) -> Result<Option<Vec<StampedFile>>, E> {
    let (id, version) = (&installed.package, &installed.version);
    let tree = store.layout().version(id.as_str(), version.as_str());
    let recorded = store.files(id, version)?;
    let looks_as_recorded = verify_quick(&tree, &recorded)?.is_empty();
    if looks_as_recorded && care == Care::Quick {
        return Ok(None);
    }
    let verified = verify_full(&tree, &recorded, installed.digest, command_of(manifest).as_deref())?;
    if verified.changes.is_empty() {
        return Ok((!looks_as_recorded).then_some(verified.files));
    }
    Err(changed(installed, verified.changes).into())
}

/// Returns the path that a manifest's `./…` command names in its package.
pub(crate) fn command_of(manifest: &Manifest) -> Option<String> {
    match &manifest.runtime {
        Runtime::Process(process) => command_path(&process.command),
        Runtime::RemoteHttp(_) | Runtime::DeclarativeHttp(_) | Runtime::McpImport(_) | Runtime::LegacyCustomTool(_) => None,
    }
}

/// Returns the error that names what was changed.
pub(crate) fn changed(installed: &InstalledVersion, changes: Vec<Change>) -> PackageError {
    PackageError::Changed { id: installed.package.clone(), version: installed.version.clone(), changes }
}
