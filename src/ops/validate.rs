//! `validate`: everything there is to say about manifests, without installing or running anything.

use std::fs::File;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

use miette::Diagnostic;
use serde_json::json;
use thiserror::Error;

use super::stdin::read_stdin;
use super::{Interrupted, Settings};
use crate::base::failure::{Class, Failing};
use crate::base::limits::MANIFEST_BYTES;
use crate::manifest::{self, Code, Finding, Reading, Severity};

/// The name of a manifest, exactly at the root of its package (manifest §1).
pub(crate) const MANIFEST: &str = "spark-tool.json";
/// As a path: the manifest on stdin.
const STDIN: &str = "-";

#[derive(Debug)]
pub(crate) struct ValidateRequest {
    /// Folders, manifests, `-`.
    pub(crate) paths: Vec<PathBuf>,
    /// Warnings count as errors; advice never does.
    pub(crate) strict: bool,
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
    pub(crate) findings: Vec<Finding>,
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
    #[error(transparent)]
    #[diagnostic(transparent)]
    Interrupted(#[from] Interrupted),
}

impl Failing for ValidateError {
    fn class(&self) -> Class {
        match self {
            Self::Unreadable { .. } => Class::Unusable,
            Self::Interrupted(interrupted) => interrupted.class(),
        }
    }

    fn details(&self) -> serde_json::Value {
        match self {
            Self::Unreadable { paths } => {
                let paths: Vec<_> = paths.iter().map(|(path, why)| json!({ "path": path, "why": why.to_string() })).collect();
                json!({ "paths": paths })
            }
            Self::Interrupted(_) => json!({}),
        }
    }
}

/// Checks every path. One that can't be read fails the whole, after all were tried.
pub(crate) fn validate(settings: &Settings, request: &ValidateRequest) -> Result<Validated, ValidateError> {
    let mut manifests = Vec::new();
    let mut unreadable = Vec::new();
    for path in &request.paths {
        settings.interrupt.check()?;
        let shown = path.display().to_string();
        match check(settings, path, request.strict)? {
            Ok(checked) => manifests.push(checked),
            Err(error) => unreadable.push((shown, error)),
        }
    }
    if unreadable.is_empty() { Ok(Validated { manifests }) } else { Err(ValidateError::Unreadable { paths: unreadable }) }
}

fn told(paths: &[(String, io::Error)]) -> String {
    let paths: Vec<String> = paths.iter().map(|(path, why)| format!("`{path}` ({why})")).collect();
    paths.join(", ")
}

fn check(settings: &Settings, path: &Path, strict: bool) -> Result<io::Result<Checked>, Interrupted> {
    if path == Path::new(STDIN) {
        return Ok(match read_stdin(&settings.interrupt, MANIFEST_BYTES) {
            Ok(bytes) => Ok(checked(STDIN.to_owned(), bytes?, strict)),
            Err(error) => Err(error),
        });
    }
    let is_folder = settings.resolve(path).is_dir();
    let file = match path {
        path if !is_folder => path.to_owned(),
        path if path == Path::new(".") => PathBuf::from(MANIFEST),
        path => path.join(MANIFEST),
    };
    let shown = file.display().to_string();
    Ok(match read_file(&settings.resolve(&file)) {
        Ok(bytes) => Ok(checked(shown, bytes, strict)),
        // The folder is there, and what it lacks is its author's to hear.
        Err(error) if is_folder && error.kind() == io::ErrorKind::NotFound => Ok(no_manifest(shown)),
        Err(error) => Err(error),
    })
}

fn no_manifest(path: String) -> Checked {
    let finding = Finding {
        code: Code::MissingFile,
        severity: Severity::Error,
        message: format!("the folder has no {MANIFEST}"),
        help: Some("`spark-tool init` writes a package; `validate --recursive` looks for packages in folders".to_owned()),
        pointer: String::new(),
        span: None,
        place: None,
    };
    Checked { path, id: None, version: None, is_valid: false, findings: vec![finding], source: Vec::new() }
}

/// Reads a manifest; one byte more than is allowed tells that it is too long.
fn read_file(path: &Path) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    File::open(path)?.take(MANIFEST_BYTES + 1).read_to_end(&mut bytes)?;
    Ok(bytes)
}

fn checked(path: String, bytes: Vec<u8>, strict: bool) -> Checked {
    let Reading { findings, id, version, .. } = manifest::read(&bytes);
    let fails = |finding: &Finding| match finding.severity {
        Severity::Error => true,
        Severity::Warning => strict,
        Severity::Advice => false,
    };
    let is_valid = !findings.iter().any(fails);
    let source = if findings.is_empty() { Vec::new() } else { bytes };
    Checked { path, id, version, is_valid, findings, source }
}
