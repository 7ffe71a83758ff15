//! Opening a folder to be tested: read whole, checked as an install would check it.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use miette::Diagnostic;
use serde_json::{Value, json};
use thiserror::Error;

use super::plan::Opened;
use crate::base::failure::{Class, Failing, Failure};
use crate::base::text::{count, visible};
use crate::manifest::{self, Finding, Severity};
use crate::ops::Settings;
use crate::ops::call::{Gate, Prepared, open_package, program_of};
use crate::store::Store;

#[derive(Debug, Error, Diagnostic)]
pub(crate) enum FolderError {
    #[error("`{}` has no manifest that can be read", .path.display())]
    #[diagnostic(code(spark::test::no_manifest), help("name a folder with a spark-tool.json, or make one with `spark-tool init`"))]
    NoManifest { path: PathBuf, source: std::io::Error },
    #[error("the manifest of `{}` has {}", .path.display(), count(.findings.len() as u64, "error"))]
    #[diagnostic(code(spark::manifest::invalid), help("`spark-tool validate` shows each with its place"))]
    Invalid { path: PathBuf, findings: Vec<Finding> },
}

impl Failing for FolderError {
    fn class(&self) -> Class {
        match self {
            Self::NoManifest { .. } | Self::Invalid { .. } => Class::Unusable,
        }
    }

    fn details(&self) -> Value {
        match self {
            Self::NoManifest { path, .. } => json!({ "path": path }),
            Self::Invalid { path, findings } => {
                let findings: Vec<Value> = findings.iter().map(|finding| json!({ "code": finding.code.as_str(), "message": visible(&finding.message), "pointer": finding.pointer })).collect();
                json!({ "path": path, "findings": findings })
            }
        }
    }
}

/// Opens a folder. The values of an installed package of the same id serve where nothing stronger gives one.
pub(super) fn open_folder(settings: &Settings, store: &Store, path: &Path, path_value: &OsStr) -> Result<Opened, Failure> {
    let no_manifest = |source| FolderError::NoManifest { path: path.to_owned(), source };
    let root = path.canonicalize().map_err(no_manifest)?;
    let bytes = std::fs::read(root.join("spark-tool.json")).map_err(no_manifest)?;
    let reading = manifest::read(&bytes);
    let Some(manifest) = reading.manifest else {
        let errors = reading.findings.into_iter().filter(|finding| finding.severity == Severity::Error).collect();
        return Err(FolderError::Invalid { path: path.to_owned(), findings: errors }.into());
    };
    let installed = open_package(store, &manifest.id, None, Gate::Installed, path_value).ok();
    let program = program_of(&manifest, &root, path_value);
    let data = store.layout().staging().join(crate::base::id::random());
    // In a test of a folder the confirmed screen is the grant, for that run (issue of the process host; capabilities §2).
    let granted: BTreeSet<_> =
        manifest.permissions.required_capabilities.iter().chain(&manifest.permissions.optional_capabilities).cloned().collect();
    let package = Prepared::new(Arc::new(manifest), root.clone(), program, data, granted);
    let _ = settings;
    Ok(Opened { package: Arc::new(package), path: root, installed, kept: None })
}
