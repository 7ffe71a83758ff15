//! Finding an installed package, and saying helpfully that there is none.

use miette::Diagnostic;
use serde_json::{Value, json};
use thiserror::Error;

use crate::base::failure::{Class, Failing};
use crate::base::text::{listed, nearest, visible};
use crate::manifest::{self, Manifest};
use crate::store::{InstalledVersion, Package, Store, StoreError};
use crate::tool::{PackageId, Version};

#[derive(Debug, Error, Diagnostic)]
pub(crate) enum LookupError {
    #[error("the package `{id}` is not installed")]
    #[diagnostic(code(spark::package::not_installed))]
    NotInstalled {
        id: PackageId,
        #[help]
        help: String,
    },
    #[error("`{id}` is not installed in version {version}")]
    #[diagnostic(code(spark::package::no_such_version))]
    NoSuchVersion {
        id: PackageId,
        version: Version,
        #[help]
        help: String,
    },
    #[error("the stored manifest of `{id}` {version} can't be used: {reason}")]
    #[diagnostic(code(spark::package::bad_manifest), help("install a version that `spark-tool validate` finds nothing wrong with"))]
    BadManifest { id: PackageId, version: Version, reason: String },
    #[error(transparent)]
    #[diagnostic(transparent)]
    Store(#[from] StoreError),
}

impl Failing for LookupError {
    fn class(&self) -> Class {
        match self {
            Self::NotInstalled { .. } | Self::NoSuchVersion { .. } | Self::BadManifest { .. } => Class::Unusable,
            Self::Store(error) => error.class(),
        }
    }

    fn details(&self) -> Value {
        match self {
            Self::NotInstalled { id, .. } => json!({ "id": id }),
            Self::NoSuchVersion { id, version, .. } | Self::BadManifest { id, version, .. } => json!({ "id": id, "version": version }),
            Self::Store(error) => error.details(),
        }
    }
}

/// Which version a command means where none is named.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Meant {
    Newest,
    /// The enabled one, else the newest.
    Current,
}

/// Returns the package and the version that is meant.
pub(crate) fn find(
    store: &Store,
    id: &PackageId,
    version: Option<&Version>,
    meant: Meant,
) -> Result<(Package, InstalledVersion), LookupError> {
    let package = store.package(id)?.ok_or_else(|| not_installed(store, id))?;
    let version = version.unwrap_or_else(|| match meant {
        Meant::Newest => package.newest(),
        Meant::Current => package.current(),
    });
    if let Some(installed) = store.version(id, version)? {
        return Ok((package, installed));
    }
    let help = format!("installed are {}", listed(package.versions.iter().map(Version::as_str)));
    Err(LookupError::NoSuchVersion { id: id.clone(), version: version.clone(), help })
}

/// Reads the manifest of a version again: this release may see more in it than the one that installed it.
pub(crate) fn manifest_of(installed: &InstalledVersion) -> Result<Manifest, LookupError> {
    let reading = manifest::read(installed.manifest.as_bytes());
    reading.manifest.ok_or_else(|| LookupError::BadManifest {
        id: installed.package.clone(),
        version: installed.version.clone(),
        reason: reading
            .findings
            .into_iter()
            .next()
            .map_or_else(|| "it is broken".to_owned(), |finding| visible(&finding.message).into_owned()),
    })
}

fn not_installed(store: &Store, id: &PackageId) -> LookupError {
    let known: Vec<String> =
        store.packages().unwrap_or_default().into_iter().filter_map(|package| Some(package.ok()?.id.to_string())).collect();
    let help = match nearest(id.as_str(), known.iter().map(String::as_str)) {
        Some(nearest) => format!("did you mean `{nearest}`?"),
        None => "`spark-tool list` shows what is installed; `spark-tool install` brings more".to_owned(),
    };
    LookupError::NotInstalled { id: id.clone(), help }
}
