//! What a command line names when it may name a folder or an installed package.

use std::path::{Path, PathBuf};

use miette::Diagnostic;
use thiserror::Error;

use crate::base::failure::{Class, Failing};
use crate::base::text::visible;
use crate::tool::{IdError, PackageId, Version};

/// A folder, or an installed package with the version that was named.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Target {
    Folder(PathBuf),
    Installed(PackageId, Option<Version>),
}

#[derive(Debug, Error, Diagnostic)]
pub(crate) enum TargetError {
    #[error("`{text}` is neither a folder here nor a package: the id {reason}")]
    #[diagnostic(code(spark::target::unknown), help("name a folder with a `spark-tool.json`, or an installed package as ID or ID@VERSION"))]
    Unknown { text: String, reason: IdError },
    #[error("`{text}` is not a package: the id {reason}")]
    #[diagnostic(code(spark::target::bad_id), help("write ID or ID@VERSION; `spark-tool list` shows what is installed"))]
    BadId { text: String, reason: IdError },
    #[error("`{version}` {reason}")]
    #[diagnostic(code(spark::target::bad_version), help("write ID@MAJOR.MINOR.PATCH; `spark-tool show ID` lists the versions"))]
    BadVersion { version: String, reason: IdError },
    #[error("which version of `{id}`?")]
    #[diagnostic(code(spark::target::no_version), help("write {id}@VERSION; `spark-tool show {id}` lists the versions"))]
    NoVersion { id: PackageId },
}

impl Failing for TargetError {
    fn class(&self) -> Class {
        match self {
            Self::Unknown { .. } | Self::BadId { .. } | Self::BadVersion { .. } => Class::Unusable,
            Self::NoVersion { .. } => Class::Usage,
        }
    }
}

/// Reads `PATH|ID[@V]`. What exists as a folder is one; so is what is written like a path. `here` is the working
/// folder.
pub(crate) fn folder_or_installed(text: &str, here: &Path) -> Result<Target, TargetError> {
    let path = here.join(text);
    let is_written_like_a_path = text.contains(['/', '\\']) || matches!(text, "." | "..");
    if is_written_like_a_path || path.exists() {
        return Ok(Target::Folder(path));
    }
    match installed(text) {
        Ok((id, version)) => Ok(Target::Installed(id, version)),
        Err(TargetError::BadId { text, reason }) => Err(TargetError::Unknown { text, reason }),
        Err(other) => Err(other),
    }
}

/// Reads `ID[@V]`.
pub(crate) fn installed(text: &str) -> Result<(PackageId, Option<Version>), TargetError> {
    let (id, version) = text.split_once('@').map_or((text, None), |(id, version)| (id, Some(version)));
    let parsed = id.parse().map_err(|reason| TargetError::BadId { text: visible(id).into_owned(), reason })?;
    let version = version
        .map(|version| version.parse().map_err(|reason| TargetError::BadVersion { version: visible(version).into_owned(), reason }))
        .transpose()?;
    Ok((parsed, version))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_wins_over_a_package_of_its_name() {
        let here = tempfile::tempdir().expect("a temporary folder");
        std::fs::create_dir(here.path().join("acme.hello")).expect("a folder");
        let read = |text: &str| folder_or_installed(text, here.path());
        assert_eq!(read("acme.hello").expect("read"), Target::Folder(here.path().join("acme.hello")));
        assert_eq!(read("./x").expect("read"), Target::Folder(here.path().join("./x")));
        assert_eq!(read(".").expect("read"), Target::Folder(here.path().join(".")));
        let id = "acme.other".parse().expect("an id");
        assert_eq!(read("acme.other").expect("read"), Target::Installed(id, None));
        let versioned = read("acme.other@1.2.3").expect("read");
        assert!(matches!(versioned, Target::Installed(_, Some(version)) if version.as_str() == "1.2.3"));
        assert!(matches!(read("Nope"), Err(TargetError::Unknown { .. })));
        assert!(matches!(read("acme.other@latest"), Err(TargetError::BadVersion { .. })));
    }
}
