//! Looking at a package, in a folder or installed. Nothing of it is run (hardening G-8).

use super::call::program_of;
use super::lookup::{self, find, manifest_of};
use super::packages::served_name;
use super::verify::{Care, check_tree};
use super::{Settings, Target};
use crate::base::failure::Failure;
use crate::manifest::{self, Finding, Manifest};
use crate::package::{self, EntryPoint, check_entry, entry_point};
use crate::store::{Access, Store};
use crate::tool::{Digest, PermissionKind};

/// What a package is.
#[derive(Debug)]
pub(crate) struct Inspected {
    pub(crate) manifest: Manifest,
    pub(crate) digest: Digest,
    pub(crate) files: u64,
    pub(crate) bytes: u64,
    /// `None` where no process is started.
    pub(crate) entry: Option<EntryPoint>,
    /// The names that the tools are served under, or would be, in the manifest's order.
    pub(crate) served_names: Vec<String>,
    pub(crate) findings: Vec<Finding>,
    /// All files were read and are what was installed.
    pub(crate) is_verified: bool,
}

/// A permission that a manifest asks for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Asked {
    pub(crate) kind: PermissionKind,
    pub(crate) name: String,
    pub(crate) required: bool,
}

/// Returns what a manifest asks for in the order it is shown in: effects, then capabilities, the required ones first.
pub(crate) fn asks_for(manifest: &Manifest) -> Vec<Asked> {
    let permissions = &manifest.permissions;
    let capability = |required| {
        move |name: &crate::tool::CapabilityName| Asked { kind: PermissionKind::SparkCapability, name: name.to_string(), required }
    };
    let effects =
        permissions.os_effects.iter().map(|effect| Asked { kind: PermissionKind::OsEffect, name: effect.to_string(), required: true });
    effects
        .chain(permissions.required_capabilities.iter().map(capability(true)))
        .chain(permissions.optional_capabilities.iter().map(capability(false)))
        .collect()
}

/// Looks at a folder or an installed version, the newest if none is named. With `verify` every file of an installed one
/// is read; a folder always is.
pub(crate) fn inspect(settings: &Settings, target: &Target, verify: bool) -> Result<Inspected, Failure> {
    let search_path = settings.environment.get("PATH").unwrap_or_default();
    match target {
        Target::Folder(path) => {
            let found = package::inspect(path, search_path)?;
            let entry = entry_point(&found.root, &found.manifest, search_path);
            let served_names = found.manifest.tools.iter().map(|tool| served_name(&found.manifest.id, tool, &[])).collect();
            let (files, bytes) = (found.selection.files.len() as u64, found.selection.bytes);
            Ok(Inspected {
                manifest: found.manifest,
                digest: found.digest,
                files,
                bytes,
                entry,
                served_names,
                findings: found.findings,
                is_verified: false,
            })
        }
        Target::Installed(id, version) => {
            let store = Store::open(settings.home()?, Access::Read)?;
            let (_, installed) = find(&store, id, version.as_ref(), lookup::Meant::Newest)?;
            let manifest = manifest_of(&installed)?;
            let root = store.layout().version(id.as_str(), installed.version.as_str());
            if verify {
                check_tree::<Failure>(&store, &installed, &manifest, Care::Full)?;
            }
            let text = installed.manifest.as_bytes();
            let mut findings = manifest::read(text).findings;
            findings.extend(check_entry(&root, text, search_path));
            let program = program_of(&manifest, &root, search_path);
            let entry = entry_point(&root, &manifest, search_path).map(|entry| EntryPoint { program, ..entry });
            let served = store.served_names(id)?;
            let served_names = manifest.tools.iter().map(|tool| served_name(id, tool, &served)).collect();
            Ok(Inspected {
                manifest,
                digest: installed.digest,
                files: installed.files,
                bytes: installed.bytes,
                entry,
                served_names,
                findings,
                is_verified: verify,
            })
        }
    }
}
