//! Looking at a package folder: everything that installing it needs known, and nothing of it is run (manifest §14,
//! hardening G-8).

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};

use super::check_entry;
use super::digest::{command_path, digest};
use super::error::PackageError;
use super::select::{Selection, select};
use crate::base::files;
use crate::base::limits::MANIFEST_BYTES;
use crate::child::resolve;
use crate::manifest::{self, Finding, Manifest, Runtime, Severity};
use crate::tool::Digest;

/// The name of a manifest, exactly at the root of its package (manifest §1).
pub(crate) const MANIFEST: &str = "spark-tool.json";

/// What a package is, as it was looked at.
#[derive(Debug)]
pub(crate) struct Inspection {
    /// Canonical.
    pub(crate) root: PathBuf,
    pub(crate) manifest: Manifest,
    /// The text of `spark-tool.json`, which the digest covers.
    pub(crate) manifest_text: String,
    pub(crate) selection: Selection,
    pub(crate) digest: Digest,
    /// Warnings and advice, those of the manifest and of what it names.
    pub(crate) findings: Vec<Finding>,
}

/// What would be started.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct EntryPoint {
    /// As the manifest has it.
    pub(crate) argv: Vec<String>,
    /// The file that `argv[0]` means here; `None` if there is none.
    pub(crate) program: Option<PathBuf>,
}

impl Inspection {
    /// Returns the path that the manifest's `./…` command names in the package.
    pub(crate) fn command_path(&self) -> Option<String> {
        command_of(&self.manifest)
    }
}

fn command_of(manifest: &Manifest) -> Option<String> {
    match &manifest.runtime {
        Runtime::Process(process) => command_path(&process.command),
        Runtime::RemoteHttp(_) | Runtime::DeclarativeHttp(_) | Runtime::McpImport(_) | Runtime::LegacyCustomTool(_) => None,
    }
}

/// Returns what starts a process package whose files are at `root`; `None` for other adapters.
pub(crate) fn entry_point(root: &Path, manifest: &Manifest, search_path: &OsStr) -> Option<EntryPoint> {
    let Runtime::Process(process) = &manifest.runtime else { return None };
    let program = match command_path(&process.command) {
        Some(path) => fs::canonicalize(root.join(path)).ok(),
        None if Path::new(&process.command).is_absolute() => Some(PathBuf::from(&process.command)).filter(|path| path.is_file()),
        None => resolve(&process.command, search_path),
    };
    let argv = std::iter::once(&process.command).chain(&process.args).cloned().collect();
    Some(EntryPoint { argv, program })
}

/// Looks at the package in the folder `path`. `search_path` is the text of `PATH`.
pub(crate) fn inspect(path: &Path, search_path: &OsStr) -> Result<Inspection, PackageError> {
    let root = find_root(path)?;
    let selection = select(&root)?;
    let bytes = read_manifest(&root, &selection)?;
    let manifest_path = root.join(MANIFEST);
    let reading = manifest::read(&bytes);
    let mut findings = reading.findings;
    findings.extend(check_entry(&root, &bytes, search_path));
    let is_sound = !findings.iter().any(|finding| finding.severity == Severity::Error);
    let (Some(manifest), true) = (reading.manifest, is_sound) else {
        return Err(PackageError::InvalidManifest { path: manifest_path, findings });
    };
    let command = command_of(&manifest);
    let mut rest = bytes.as_slice();
    let mut is_same = true;
    let digest = digest(&root, &selection, command.as_deref(), |path, chunk| {
        if path == MANIFEST {
            is_same &= rest.starts_with(chunk);
            rest = rest.get(chunk.len()..).unwrap_or_default();
        }
    })?;
    // What was read as the manifest and what was hashed as the manifest is one text.
    if !(is_same && rest.is_empty()) {
        return Err(PackageError::ChangedMeanwhile { path: manifest_path });
    }
    let manifest_text = String::from_utf8(bytes).expect("a manifest without errors is UTF-8");
    Ok(Inspection { root, manifest, manifest_text, selection, digest, findings })
}

/// Returns the canonical place of a folder that is no link (manifest §14).
fn find_root(path: &Path) -> Result<PathBuf, PackageError> {
    let metadata = match fs::symlink_metadata(path) {
        Ok(metadata) => metadata,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Err(PackageError::NotFound { path: path.into() }),
        Err(error) => return Err(PackageError::io("read", path, error)),
    };
    if metadata.is_symlink() {
        return Err(PackageError::RootIsLink { path: path.into() });
    }
    if !metadata.is_dir() {
        return Err(PackageError::NotAFolder { path: path.into() });
    }
    fs::canonicalize(path).map_err(|error| PackageError::io("read", path, error))
}

fn read_manifest(root: &Path, selection: &Selection) -> Result<Vec<u8>, PackageError> {
    let path = root.join(MANIFEST);
    let Some(file) = selection.find(MANIFEST) else {
        return Err(PackageError::NoManifest { path: root.into(), is_left_out: path.is_file() });
    };
    if file.size > MANIFEST_BYTES {
        // One byte more than is allowed makes the finding; the file is not read.
        let size = usize::try_from(MANIFEST_BYTES).unwrap_or(usize::MAX) + 1;
        let findings = manifest::read(&vec![b' '; size]).findings;
        return Err(PackageError::InvalidManifest { path, findings });
    }
    files::read_regular(&file.source).map_err(|error| PackageError::io("read", &path, error))
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// Writes a package of a program, a data file in a folder and whatever else is named.
    pub(in crate::package) fn sample(root: &Path, version: &str, more: &[(&str, &str)]) {
        let manifest = format!(
            r#"{{"schemaVersion": 1, "id": "demo.hello", "version": "{version}", "name": "Hello", "description": "Greets somebody",
            "runtime": {{"adapter": "process", "protocol": "spark-tool-process-v1", "command": "./bin/hello", "workingDirectory": "work/deep"}},
            "tools": [{{"name": "say_hello", "title": "Say hello", "description": "Return a greeting", "inputSchema": {{"type": "object"}},
            "risk": "read", "effect": "read", "idempotency": "safe"}}]}}"#
        );
        fs::create_dir_all(root.join("work/deep")).expect("made");
        for (path, content) in [(MANIFEST, manifest.as_str()), ("bin/hello", "hello"), ("lib/data.txt", "data")].iter().chain(more) {
            let path = root.join(path);
            fs::create_dir_all(path.parent().expect("it is below the root")).expect("made");
            fs::write(path, content).expect("written");
        }
    }

    fn inspected(root: &Path) -> Result<Inspection, PackageError> {
        inspect(root, OsStr::new(""))
    }

    #[test]
    fn a_package_is_known_by_its_content_alone() {
        let (one, two) = (tempfile::tempdir().expect("a folder"), tempfile::tempdir().expect("a folder"));
        sample(one.path(), "1.0.0", &[]);
        sample(two.path(), "1.0.0", &[(".git/HEAD", "x"), ("__pycache__/a.pyc", "x")]);
        #[cfg(unix)]
        fs::set_permissions(two.path().join("lib/data.txt"), std::os::unix::fs::PermissionsExt::from_mode(0o777)).expect("set");
        let (one, two) = (inspected(one.path()).expect("sound"), inspected(two.path()).expect("sound"));
        assert_eq!(one.digest, two.digest);
        assert_eq!((one.selection.files.len(), one.command_path().as_deref()), (3, Some("bin/hello")));
        let entry = entry_point(&one.root, &one.manifest, OsStr::new("")).expect("a process");
        assert_eq!(entry.program, Some(one.root.join("bin/hello")));
    }

    #[test]
    fn what_is_no_package_is_told_apart() {
        let root = tempfile::tempdir().expect("a folder");
        let path = |name: &str| root.path().join(name);
        fs::write(path("file"), "").expect("written");
        fs::create_dir(path("empty")).expect("made");
        sample(&path("broken"), "1", &[]);
        sample(&path("incomplete"), "1.0.0", &[]);
        fs::remove_file(path("incomplete/bin/hello")).expect("removed");
        sample(&path("hiding"), "1.0.0", &[(".sparkignore", "*.json")]);
        let error = |name: &str| inspected(&path(name)).expect_err(name);
        assert!(matches!(error("nowhere"), PackageError::NotFound { .. }));
        assert!(matches!(error("file"), PackageError::NotAFolder { .. }));
        assert!(matches!(error("empty"), PackageError::NoManifest { is_left_out: false, .. }));
        assert!(matches!(error("hiding"), PackageError::NoManifest { is_left_out: true, .. }));
        assert!(matches!(error("broken"), PackageError::InvalidManifest { .. }));
        assert!(matches!(error("incomplete"), PackageError::InvalidManifest { .. }));
        #[cfg(unix)]
        {
            std::os::unix::fs::symlink(path("hiding"), path("link")).expect("linked");
            assert!(matches!(error("link"), PackageError::RootIsLink { .. }));
        }
    }
}
