//! `validate`: everything there is to say about manifests, without installing or running anything.

use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

use miette::Diagnostic;
use serde_json::json;
use thiserror::Error;

use super::stdin::read_stdin;
use super::{Interrupted, Settings};
use crate::base::failure::{Class, Failing};
use crate::base::files;
use crate::base::limits::MANIFEST_BYTES;
use crate::manifest::{self, Client, Code, Finding, Reading, Severity};
use crate::package::{self, MANIFEST};

/// Folders that hold other people's packages, or none.
const SKIPPED: &[&str] = &[".git", "node_modules", "__pycache__"];
/// As a path: the manifest on stdin.
const STDIN: &str = "-";

#[derive(Debug)]
pub(crate) struct ValidateRequest {
    /// Folders, manifests, `-`.
    pub(crate) paths: Vec<PathBuf>,
    /// Warnings count as errors; advice never does.
    pub(crate) strict: bool,
    /// Every package below the folders.
    pub(crate) recursive: bool,
    /// Repair what has one right answer, in the files themselves.
    pub(crate) fix: bool,
    /// Also what these would refuse, cut or misread.
    pub(crate) clients: Vec<Client>,
}

#[derive(Debug)]
pub(crate) struct Validated {
    /// In the order of the paths.
    pub(crate) manifests: Vec<Checked>,
}

/// One manifest and what was found.
#[derive(Debug)]
pub(crate) struct Checked {
    /// The file, as it was named; `-` for stdin.
    pub(crate) path: String,
    pub(crate) id: Option<String>,
    pub(crate) version: Option<String>,
    /// No errors, and with `strict` no warnings.
    pub(crate) is_valid: bool,
    /// What is wrong with it now, after repairs.
    pub(crate) findings: Vec<Finding>,
    /// What was repaired, a sentence each.
    pub(crate) fixed: Vec<String>,
    /// The text that the findings' spans are about; empty if there are none.
    pub(crate) source: Vec<u8>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Summary {
    pub(crate) manifests: usize,
    pub(crate) valid: usize,
    pub(crate) errors: usize,
    pub(crate) warnings: usize,
    pub(crate) advice: usize,
}

impl Validated {
    pub(crate) fn is_valid(&self) -> bool {
        self.manifests.iter().all(|checked| checked.is_valid)
    }

    pub(crate) fn summary(&self) -> Summary {
        let mut summary = Summary { manifests: self.manifests.len(), ..Summary::default() };
        for checked in &self.manifests {
            summary.valid += usize::from(checked.is_valid);
            for finding in &checked.findings {
                *match finding.severity {
                    Severity::Error => &mut summary.errors,
                    Severity::Warning => &mut summary.warnings,
                    Severity::Advice => &mut summary.advice,
                } += 1;
            }
        }
        summary
    }
}

#[derive(Debug, Error, Diagnostic)]
pub(crate) enum ValidateError {
    #[error("cannot read {}", told(paths))]
    #[diagnostic(code(spark::validate::unreadable), help("`validate` takes folders that hold a {MANIFEST}, such files, and - for stdin"))]
    Unreadable { paths: Vec<(String, io::Error)> },
    #[error("cannot write the repaired `{path}`")]
    #[diagnostic(code(spark::validate::unwritable))]
    Unwritable { path: String, source: io::Error },
    #[error("what comes on stdin can't be repaired")]
    #[diagnostic(code(spark::validate::fix_stdin), help("--fix takes files and folders"))]
    FixStdin,
    #[error(transparent)]
    #[diagnostic(transparent)]
    Interrupted(#[from] Interrupted),
}

impl Failing for ValidateError {
    fn class(&self) -> Class {
        match self {
            Self::Unreadable { .. } => Class::Unusable,
            Self::Unwritable { .. } => Class::Machine,
            Self::FixStdin => Class::Usage,
            Self::Interrupted(interrupted) => interrupted.class(),
        }
    }

    fn details(&self) -> serde_json::Value {
        match self {
            Self::Unreadable { paths } => {
                let paths: Vec<_> = paths.iter().map(|(path, why)| json!({ "path": path, "why": why.to_string() })).collect();
                json!({ "paths": paths })
            }
            Self::Unwritable { .. } | Self::FixStdin | Self::Interrupted(_) => json!({}),
        }
    }
}

/// Checks every path. One that can't be read fails the whole, after all were tried.
pub(crate) fn validate(settings: &Settings, request: &ValidateRequest) -> Result<Validated, ValidateError> {
    if request.fix && request.paths.iter().any(|path| path == Path::new(STDIN)) {
        return Err(ValidateError::FixStdin);
    }
    let mut manifests = Vec::new();
    let mut unreadable = Vec::new();
    let mut read = |path: &Path, result: io::Result<Checked>| match result {
        Ok(checked) => manifests.push(checked),
        Err(error) => unreadable.push((path.display().to_string(), error)),
    };
    for path in &request.paths {
        settings.interrupt.check()?;
        if path == Path::new(STDIN) {
            let bytes = match read_stdin(&settings.interrupt, MANIFEST_BYTES) {
                Ok(bytes) => Ok(checked(STDIN.to_owned(), bytes?, request, None)),
                Err(error) => Err(error),
            };
            read(path, bytes);
        } else if request.recursive && settings.resolve(path).is_dir() {
            let found = packages_below(settings, path)?;
            if found.is_empty() {
                read(path, Ok(no_manifest(path.display().to_string(), "there is no package below the folder")));
            }
            for (folder, result) in found {
                match result {
                    Ok(()) => read(&folder, check(settings, &folder, request)?),
                    Err(error) => read(&folder, Err(error)),
                }
            }
        } else {
            read(path, check(settings, path, request)?);
        }
    }
    if unreadable.is_empty() { Ok(Validated { manifests }) } else { Err(ValidateError::Unreadable { paths: unreadable }) }
}

/// Returns the folders below `path` (itself included) that hold a manifest, in order, and those that can't be listed.
/// Links are not followed: what they lead to is found where it is, or belongs to somebody else.
fn packages_below(settings: &Settings, path: &Path) -> Result<Vec<(PathBuf, io::Result<()>)>, Interrupted> {
    let mut found = Vec::new();
    let mut folders = vec![path.to_owned()];
    while let Some(folder) = folders.pop() {
        settings.interrupt.check()?;
        match list(&settings.resolve(&folder)) {
            Ok(listing) => {
                if listing.has_manifest {
                    found.push((folder.clone(), Ok(())));
                }
                folders.extend(listing.folders.iter().map(|name| joined(&folder, name)));
            }
            Err(error) => found.push((folder, Err(error))),
        }
    }
    found.sort_by(|(a, _), (b, _)| a.cmp(b));
    Ok(found)
}

#[derive(Default)]
struct Listing {
    has_manifest: bool,
    folders: Vec<std::ffi::OsString>,
}

fn list(folder: &Path) -> io::Result<Listing> {
    let mut listing = Listing::default();
    for entry in std::fs::read_dir(folder)? {
        let entry = entry?;
        let (name, kind) = (entry.file_name(), entry.file_type()?);
        if kind.is_dir() && !SKIPPED.iter().any(|skipped| name == *skipped) {
            listing.folders.push(name);
        } else if name == MANIFEST && !kind.is_dir() {
            listing.has_manifest = true;
        }
    }
    Ok(listing)
}

/// Returns `folder/name`, without a `./` in front.
fn joined(folder: &Path, name: impl AsRef<Path>) -> PathBuf {
    if folder == Path::new(".") { name.as_ref().to_owned() } else { folder.join(name) }
}

fn told(paths: &[(String, io::Error)]) -> String {
    let paths: Vec<String> = paths.iter().map(|(path, why)| format!("`{path}` ({why})")).collect();
    paths.join(", ")
}

fn check(settings: &Settings, path: &Path, request: &ValidateRequest) -> Result<io::Result<Checked>, ValidateError> {
    let is_folder = settings.resolve(path).is_dir();
    let file = if is_folder { joined(path, MANIFEST) } else { path.to_owned() };
    let shown = file.display().to_string();
    let place = settings.resolve(&file);
    // What is no manifest by its name may be a pipe that the shell made.
    let is_manifest = file.file_name().is_some_and(|name| name == MANIFEST);
    let opened = if is_manifest { files::open_regular(&place) } else { File::open(&place) };
    let bytes = match opened.and_then(read_manifest) {
        Ok(bytes) => bytes,
        // The folder is there, and what it lacks is its author's to hear.
        Err(error) if is_folder && error.kind() == io::ErrorKind::NotFound => {
            return Ok(Ok(no_manifest(shown, "the folder has no spark-tool.json")));
        }
        Err(error) => return Ok(Err(error)),
    };
    let fixed = if request.fix { manifest::fix(&bytes) } else { None };
    // Another name may be a draft; what it names is checked once it is a package's manifest.
    let package = if is_manifest { place.parent() } else { None };
    let package = package.map(|root| (root, settings.environment.get("PATH").unwrap_or_default()));
    let Some(fixed) = fixed else { return Ok(Ok(checked(shown, bytes, request, package))) };
    replace(&place, &bytes, &fixed.bytes).map_err(|source| ValidateError::Unwritable { path: shown.clone(), source })?;
    Ok(Ok(Checked { fixed: fixed.applied, ..checked(shown, fixed.bytes, request, package) }))
}

/// Replaces a file that still holds what was read from it; a link keeps leading to it.
fn replace(path: &Path, read: &[u8], bytes: &[u8]) -> io::Result<()> {
    let path = path.canonicalize()?;
    if files::open_regular(&path).and_then(read_manifest)? != read {
        return Err(io::Error::other("it was changed by another program meanwhile"));
    }
    files::write_atomically(&path, bytes)
}

fn no_manifest(path: String, message: &str) -> Checked {
    let finding = Finding {
        code: Code::MissingFile,
        severity: Severity::Error,
        message: message.to_owned(),
        help: Some("`spark-tool init` writes a package; `validate --recursive` looks for packages in folders".to_owned()),
        pointer: String::new(),
        span: None,
        place: None,
    };
    Checked { path, id: None, version: None, is_valid: false, findings: vec![finding], fixed: Vec::new(), source: Vec::new() }
}

/// Reads a manifest; one byte more than is allowed tells that it is too long.
fn read_manifest(file: File) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    file.take(MANIFEST_BYTES + 1).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Says what there is to say about a manifest. `package` is the folder it is the manifest of, and the text of `PATH`.
fn checked(path: String, bytes: Vec<u8>, request: &ValidateRequest, package: Option<(&Path, &OsStr)>) -> Checked {
    let Reading { mut findings, id, version, .. } = manifest::read_for(&bytes, &request.clients);
    if let Some((root, search_path)) = package {
        findings.extend(package::check_entry(root, &bytes, search_path));
        findings.sort_by_key(|finding| finding.span.map(|span| span.start));
    }
    let fails = |finding: &Finding| match finding.severity {
        Severity::Error => true,
        Severity::Warning => request.strict,
        Severity::Advice => false,
    };
    let is_valid = !findings.iter().any(fails);
    let source = if findings.is_empty() { Vec::new() } else { bytes };
    Checked { path, id, version, is_valid, findings, fixed: Vec::new(), source }
}
