//! Installing a package folder: looked at, asked about, put into its place as an immutable version, disabled.

use std::ops::ControlFlow;
use std::path::Path;

use miette::Diagnostic;
use serde_json::{Value, json};
use thiserror::Error;

use super::call::{consent_record, program_of};
use super::gates::Gated;
use super::inspect::asks_for;
use super::screen::{Powers, row, tool_line};
use super::tidy::sweep_with;
use super::{Ask, Question, Settings};
use crate::base::failure::{Class, Failing, Failure};
use crate::base::limits::BUSY_WAIT;
use crate::base::text::{count, visible};
use crate::package::{self, Inspection, PackageError, TreeLock, verify_full, verify_quick};
use crate::store::{Access, DeclaredPermission, InstalledVersion, NewVersion, Package, Provenance, Recorded, Store};
use crate::tool::{Digest, Origin, PackageId, Permission, PermissionState, Source, Version};

pub(crate) use crate::package::Step;

/// What is to be installed.
#[derive(Clone, Copy, Debug)]
pub(crate) struct InstallRequest<'a> {
    pub(crate) source: &'a Path,
    /// What the content must be.
    pub(crate) digest: Option<Digest>,
}

/// What is installed now.
#[derive(Debug)]
pub(crate) struct InstalledPackage {
    pub(crate) package: Package,
    pub(crate) version: InstalledVersion,
    pub(crate) already_installed: bool,
    pub(crate) permissions: Vec<Permission>,
    /// Commands that lead to a call, in order.
    pub(crate) next: Vec<String>,
}

impl InstalledPackage {
    /// Returns the names of the permissions that nobody has decided about.
    pub(crate) fn pending(&self) -> impl Iterator<Item = &str> {
        self.permissions.iter().filter(|permission| permission.state == PermissionState::Pending).map(|permission| permission.name.as_str())
    }
}

/// Who hears how far an install is.
pub(crate) trait InstallWatch {
    /// Another process changes installed packages; it is waited for.
    fn waiting(&self);
    fn step(&mut self, step: Step);
}

#[derive(Debug, Error, Diagnostic)]
pub(crate) enum InstallError {
    #[error("`{}` is not what was asked for", .path)]
    #[diagnostic(code(spark::install::digest), help("wanted: {wanted}\nfound:  {found}"))]
    OtherDigest { path: String, wanted: Digest, found: Digest },
    #[error("the path of the folder is not UTF-8")]
    #[diagnostic(code(spark::install::path), help("rename the folder"))]
    PathNotUtf8,
}

impl Failing for InstallError {
    fn class(&self) -> Class {
        Class::Unusable
    }

    fn details(&self) -> Value {
        match self {
            Self::OtherDigest { wanted, found, .. } => json!({ "wanted": wanted.to_string(), "found": found.to_string() }),
            Self::PathNotUtf8 => json!({}),
        }
    }
}

/// Installs a folder as a version that is disabled. The same content again changes nothing, but mends an installed tree
/// that was damaged.
pub(crate) fn install(
    settings: &Settings,
    ask: &dyn Ask,
    request: InstallRequest<'_>,
    watch: &mut dyn InstallWatch,
) -> Result<InstalledPackage, Failure> {
    let mut store = Store::open(settings.home()?, Access::Write)?;
    let search_path = settings.environment.get("PATH").unwrap_or_default();
    let inspection = package::inspect(request.source, search_path)?;
    settings.interrupt.check()?;
    if let Some(wanted) = request.digest.filter(|wanted| *wanted != inspection.digest) {
        let path = request.source.display().to_string();
        return Err(InstallError::OtherDigest { path, wanted, found: inspection.digest }.into());
    }
    if stands(&store, &inspection)? == Standing::Whole {
        return finished(&store, &inspection, true);
    }
    let consent = ask.confirm(&question(settings, &inspection))?;
    let subject = format!("{}@{}", inspection.manifest.id, inspection.manifest.version);
    store.record_consent(&consent_record("install", &subject, &inspection.manifest, &consent, settings.clock.now()))?;

    let lock = TreeLock::take(store.layout(), BUSY_WAIT, || watch.waiting())?;
    sweep_with(&lock, &store)?;
    // Another process may have been first while this one asked.
    let standing = stands(&store, &inspection)?;
    if standing != Standing::Whole {
        put(settings, &mut store, &lock, &inspection, standing, watch)?;
    }
    drop(lock);
    finished(&store, &inspection, standing == Standing::Whole)
}

/// How the version that is to be installed stands in the home.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Standing {
    Absent,
    /// The same content, recorded and in its place.
    Whole,
    /// Recorded with the same content, but the tree is not it.
    Damaged,
}

fn stands(store: &Store, inspection: &Inspection) -> Result<Standing, Failure> {
    let (id, version) = (&inspection.manifest.id, &inspection.manifest.version);
    if let Some(other) = store.look_alike(id)? {
        return Err(PackageError::LookAlike { id: id.clone(), other }.into());
    }
    let Some(installed) = store.version(id, version)? else { return Ok(Standing::Absent) };
    if installed.digest != inspection.digest {
        return Err(immutable(id, version, installed.digest, inspection.digest));
    }
    let tree = store.layout().version(id.as_str(), version.as_str());
    let recorded = store.files(id, version)?;
    if verify_quick(&tree, &recorded)?.is_empty() {
        return Ok(Standing::Whole);
    }
    let verified = verify_full(&tree, &recorded, installed.digest, inspection.command_path().as_deref())?;
    Ok(if verified.changes.is_empty() { Standing::Whole } else { Standing::Damaged })
}

fn immutable(id: &PackageId, version: &Version, installed: Digest, offered: Digest) -> Failure {
    PackageError::Immutable { id: id.clone(), version: version.clone(), installed, offered }.into()
}

fn question(settings: &Settings, inspection: &Inspection) -> Question {
    let manifest = &inspection.manifest;
    let program = program_of(manifest, &inspection.root, settings.environment.get("PATH").unwrap_or_default());
    let mut lines = Powers { manifest, program: program.as_deref(), root: &inspection.root }.lines();
    lines.extend(manifest.tools.iter().map(tool_line));
    lines.push(row("from", &visible(&inspection.root.to_string_lossy())));
    let size = format!("{}, {} bytes", count(inspection.selection.files.len() as u64, "file"), inspection.selection.bytes);
    lines.push(row("size", &size));
    lines.push(row("digest", &inspection.digest.to_string()));
    lines.push("  Nothing of it runs now; it stays disabled until you enable it.".to_owned());
    Question {
        screen: lines.join("\n"),
        prompt: format!("Install {} {}?", manifest.id, manifest.version),
        subject: format!("installing {}", manifest.id),
        flag: "--yes",
    }
}

/// Puts the tree into its place and tells the database.
fn put(
    settings: &Settings,
    store: &mut Store,
    lock: &TreeLock,
    inspection: &Inspection,
    standing: Standing,
    watch: &mut dyn InstallWatch,
) -> Result<(), Failure> {
    let mut step = |step: Step| {
        watch.step(step);
        if settings.interrupt.check().is_err() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    };
    let placed = match package::install(lock, inspection, standing == Standing::Damaged, &mut step) {
        Ok(placed) => placed,
        Err(PackageError::Stopped) => {
            return Err(settings.interrupt.check().err().map_or_else(|| PackageError::Stopped.into(), Failure::from));
        }
        Err(error) => return Err(error.into()),
    };
    match record(settings, store, inspection, &placed.files) {
        Ok(Recorded::New) => {}
        Ok(Recorded::Same) => store.restamp(&inspection.manifest.id, &inspection.manifest.version, &placed.files)?,
        Ok(Recorded::Other { digest }) => {
            placed.undo()?;
            return Err(immutable(&inspection.manifest.id, &inspection.manifest.version, digest, inspection.digest));
        }
        Ok(Recorded::LooksLike { other }) => {
            placed.undo()?;
            return Err(PackageError::LookAlike { id: inspection.manifest.id.clone(), other }.into());
        }
        Err(error) => {
            placed.undo()?;
            return Err(error);
        }
    }
    // It is installed; what can't be cleared away now is swept by the next command.
    let _swept_later = placed.finish(&mut step);
    Ok(())
}

fn record(
    settings: &Settings,
    store: &mut Store,
    inspection: &Inspection,
    files: &[crate::base::stamp::StampedFile],
) -> Result<Recorded, Failure> {
    let manifest = &inspection.manifest;
    let path = inspection.root.to_str().ok_or(InstallError::PathNotUtf8)?;
    let asked = asks_for(manifest);
    let written = manifest.document.get("tools").and_then(Value::as_array);
    let definition = |at: usize| written.and_then(|tools| tools.get(at)).map_or_else(|| "{}".to_owned(), Value::to_string);
    let new = NewVersion {
        id: &manifest.id,
        version: &manifest.version,
        name: &manifest.name,
        description: &manifest.description,
        source: Source::LocalDirectory,
        origin: &Origin::folder(path),
        provenance: &Provenance { path: Some(path.to_owned()), ..Provenance::default() },
        digest: inspection.digest,
        adapter: manifest.runtime.adapter(),
        bytes: inspection.selection.bytes,
        manifest: &inspection.manifest_text,
        tools: manifest.tools.iter().enumerate().map(|(at, tool)| (&tool.name, definition(at))).collect(),
        permissions: asked
            .iter()
            .map(|asked| DeclaredPermission { kind: asked.kind, name: &asked.name, required: asked.required })
            .collect(),
        files,
        at: settings.clock.now(),
    };
    Ok(store.record_install(&new)?)
}

fn finished(store: &Store, inspection: &Inspection, already_installed: bool) -> Result<InstalledPackage, Failure> {
    let (id, version) = (&inspection.manifest.id, &inspection.manifest.version);
    let (package, installed) = super::lookup::find(store, id, Some(version), super::lookup::Meant::Newest)?;
    let (permissions, config) = (store.permissions(id, version)?, store.config(id)?);
    let asked =
        Gated { package: &package, manifest: &inspection.manifest, origin: &installed.origin, permissions: &permissions, config: &config };
    let mut next: Vec<String> = asked.gates().into_iter().filter(|gate| !gate.is_open).filter_map(|gate| gate.command).collect();
    if package.enabled.as_ref() != Some(version) {
        next.push(if package.newest() == version {
            format!("spark-tool enable {id}")
        } else {
            format!("spark-tool enable {id}@{version}")
        });
    }
    Ok(InstalledPackage { package, version: installed, already_installed, permissions, next })
}
