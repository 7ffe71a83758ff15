//! Why a package can't be read, put in its place or taken from it.

use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use miette::Diagnostic;
use serde_json::json;
use thiserror::Error;

use super::path::PathFault;
use crate::base::failure::{Class, Failing};
use crate::base::limits::{PACKAGE_BYTES, PACKAGE_FILES};
use crate::base::text::{count, visible};
use crate::manifest::{Finding, Severity};
use crate::tool::{Digest, PackageId, Version};

#[derive(Debug, Error, Diagnostic)]
pub(crate) enum PackageError {
    #[error("there is no folder `{}`", .path.display())]
    #[diagnostic(code(spark::package::not_found), help("name the folder that holds `spark-tool.json`"))]
    NotFound { path: PathBuf },
    /// What it leads to may change between the look and the use.
    #[error("`{}` is a link", .path.display())]
    #[diagnostic(code(spark::package::root_is_link), help("name the folder itself"))]
    RootIsLink { path: PathBuf },
    #[error("`{}` is not a folder", .path.display())]
    #[diagnostic(code(spark::package::not_a_folder), help("name the folder that holds `spark-tool.json`"))]
    NotAFolder { path: PathBuf },
    #[error("`{}` has no `spark-tool.json`{}", .path.display(), if *.is_left_out { " that belongs to it: `.sparkignore` leaves it out" } else { "" })]
    #[diagnostic(code(spark::package::no_manifest), help("`spark-tool init` writes a package"))]
    NoManifest { path: PathBuf, is_left_out: bool },
    #[error("the manifest `{}` has {}", .path.display(), count(errors(.findings), "error"))]
    #[diagnostic(code(spark::package::invalid_manifest), help("`spark-tool validate` shows each with its lines"))]
    InvalidManifest { path: PathBuf, findings: Vec<Finding> },
    #[error("`{}` can't be a package: {}", .path.display(), count(.faults.len() as u64 + .more, "reason"))]
    #[diagnostic(code(spark::package::refused), help("nothing was changed; mend the files, or leave them out by `.sparkignore`"))]
    Refused {
        path: PathBuf,
        #[related]
        faults: Vec<TreeFault>,
        /// How many others there are.
        more: u64,
    },
    #[error("`{}` was changed while it was read", .path.display())]
    #[diagnostic(
        code(spark::package::changed_meanwhile),
        help("nothing was installed; wait until nothing writes to the folder, then run this again")
    )]
    ChangedMeanwhile { path: PathBuf },
    #[error("version {version} of `{id}` is installed with other content")]
    #[diagnostic(
        code(spark::package::immutable),
        help("a version never changes: give the new content another version\ninstalled: {installed}\nhere:      {offered}")
    )]
    Immutable { id: PackageId, version: Version, installed: Digest, offered: Digest },
    #[error("`{id}` looks like `{other}`, which is installed")]
    #[diagnostic(code(spark::package::look_alike), help("give the package an id that differs in more than `.`, `_` and `-`"))]
    LookAlike { id: PackageId, other: String },
    #[error("`{}` holds files that the store knows nothing of", .path.display())]
    #[diagnostic(
        code(spark::package::unrecorded),
        help("they have other content than what is to be installed; move the folder away, then run this again")
    )]
    Unrecorded { path: PathBuf },
    #[error("the installed files of `{id}` {version} are not what was installed: {}", count(.changes.len() as u64, "change"))]
    #[diagnostic(
        code(spark::package::changed),
        help("`spark-tool inspect {id}@{version} --verify` lists them; install the same version again to restore it")
    )]
    Changed {
        id: PackageId,
        version: Version,
        #[related]
        changes: Vec<Change>,
    },
    #[error("another process has been changing installed packages for {} s", .waited.as_secs())]
    #[diagnostic(code(spark::package::busy), help("wait until the other spark-tool is done, then run this again"))]
    Busy { waited: Duration },
    #[error("the disk with `{}` is full; the package needs {needed} bytes", .path.display())]
    #[diagnostic(code(spark::package::disk_full), help("make room, then run this again; nothing was installed"))]
    DiskFull { path: PathBuf, needed: u64 },
    #[error("can't {action} `{}`", .path.display())]
    #[diagnostic(code(spark::package::io))]
    Io { action: &'static str, path: PathBuf, source: io::Error },
    #[error("stopped on request")]
    #[diagnostic(code(spark::package::stopped))]
    Stopped,
}

impl PackageError {
    pub(super) fn io(action: &'static str, path: &Path, source: io::Error) -> Self {
        Self::Io { action, path: path.into(), source }
    }

    /// As [`PackageError::io`] while `needed` bytes are being written.
    pub(super) fn write(path: &Path, needed: u64, source: io::Error) -> Self {
        match source.kind() {
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => Self::DiskFull { path: path.into(), needed },
            _ => Self::io("write", path, source),
        }
    }
}

fn errors(findings: &[Finding]) -> u64 {
    findings.iter().filter(|finding| finding.severity == Severity::Error).count() as u64
}

impl Failing for PackageError {
    fn class(&self) -> Class {
        match self {
            Self::NotFound { .. }
            | Self::RootIsLink { .. }
            | Self::NotAFolder { .. }
            | Self::NoManifest { .. }
            | Self::InvalidManifest { .. }
            | Self::Refused { .. }
            | Self::ChangedMeanwhile { .. }
            | Self::LookAlike { .. }
            | Self::Changed { .. } => Class::Unusable,
            Self::Immutable { .. } | Self::Unrecorded { .. } => Class::Conflict,
            Self::Busy { .. } | Self::DiskFull { .. } | Self::Io { .. } => Class::Machine,
            // Use cases turn it into the interrupt that was the reason.
            Self::Stopped => Class::Bug,
        }
    }

    fn details(&self) -> serde_json::Value {
        match self {
            Self::InvalidManifest { path, findings } => {
                json!({ "path": path.display().to_string(), "findings": findings.iter().map(told).collect::<Vec<_>>() })
            }
            Self::Refused { path, faults, more } => {
                let reasons: Vec<_> = faults.iter().map(|fault| json!({ "path": fault.path, "reason": fault.kind.to_string() })).collect();
                json!({ "path": path.display().to_string(), "reasons": reasons, "more": more })
            }
            Self::Immutable { installed, offered, .. } => json!({ "installed": installed.to_string(), "offered": offered.to_string() }),
            Self::LookAlike { other, .. } => json!({ "other": other }),
            Self::Changed { changes, .. } => {
                let changes: Vec<_> = changes.iter().map(|change| json!({ "path": change.path, "change": change.kind.as_str() })).collect();
                json!({ "changes": changes })
            }
            Self::DiskFull { needed, .. } => json!({ "needed": needed }),
            _ => json!({}),
        }
    }
}

fn told(finding: &Finding) -> serde_json::Value {
    json!({
        "code": finding.code.as_str(),
        "severity": finding.severity.as_str(),
        "message": finding.message,
        "pointer": finding.pointer,
        "line": finding.place.map(|place| place.line),
        "column": finding.place.map(|place| place.column),
    })
}

/// One reason why a tree can't be a package.
#[derive(Debug, Error, Diagnostic)]
#[error("{}: {kind}", visible(.path))]
pub(crate) struct TreeFault {
    /// From the root, `/` between components. Not yet made visible.
    pub(crate) path: String,
    pub(crate) kind: TreeFaultKind,
}

#[derive(Debug, Error)]
pub(crate) enum TreeFaultKind {
    #[error("the name is not UTF-8")]
    NotUtf8,
    #[error("{0}")]
    Path(PathFault),
    #[error("the link leads out of the package, to `{}`", visible(.target))]
    LinkLeaves { target: String },
    #[error("the link leads to nothing")]
    LinkDangles,
    #[error("the link leads back to a folder that it is in")]
    LinkLoops,
    #[error("the link leads to `{}`, which doesn't belong to the package", visible(.target))]
    LinkToLeftOut { target: String },
    #[error("it is a {kind}, not a file or folder")]
    Special { kind: &'static str },
    #[error("it can't be read: {0}")]
    Unreadable(io::Error),
    #[error("the package has more than {PACKAGE_FILES} files")]
    TooManyFiles,
    #[error("the package has more than {PACKAGE_FILES} folders")]
    TooManyFolders,
    #[error("the package has more than {PACKAGE_BYTES} bytes (2 GiB)")]
    TooManyBytes,
    #[error("line {line} is no pattern: {reason}")]
    Pattern { line: usize, reason: String },
}

/// One way in which an installed tree is not what was installed (hardening P-18).
#[derive(Clone, Debug, PartialEq, Eq, Error, Diagnostic)]
#[error("{}: {}", visible(.path), .kind.as_str())]
pub(crate) struct Change {
    pub(crate) path: String,
    pub(crate) kind: ChangeKind,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ChangeKind {
    Added,
    Removed,
    /// Another content.
    Edited,
    /// A link, a folder or something special where a file was.
    Replaced,
    /// Other permission bits.
    Mode,
    /// Size, times or inode differ; only reading it tells whether the content does.
    Touched,
}

impl ChangeKind {
    pub(crate) const fn as_str(self) -> &'static str {
        match self {
            Self::Added => "added",
            Self::Removed => "removed",
            Self::Edited => "edited",
            Self::Replaced => "replaced by something that is no file",
            Self::Mode => "permission bits changed",
            Self::Touched => "touched",
        }
    }
}
