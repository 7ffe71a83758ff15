//! Taking versions and whole packages away, with nothing left but what they did: traces and answers.

use miette::Diagnostic;
use serde_json::{Value, json};
use thiserror::Error;

use super::call::consent_record;
use super::lookup::{self, LookupError, find, manifest_of};
use super::screen::row;
use super::tidy::sweep_with;
use super::{Ask, Question, Settings};
use crate::base::failure::{Class, Failing, Failure};
use crate::base::limits::BUSY_WAIT;
use crate::base::text::{count, visible};
use crate::package::{TreeLock, withdraw};
use crate::store::{Access, ConsentRecord, InstalledVersion, Means, Package, Removed, Reply, Store, Uninstalled};
use crate::tool::{PackageId, Version};

/// What a package left behind.
#[derive(Debug)]
pub(crate) struct UninstalledPackage {
    pub(crate) id: PackageId,
    /// In order.
    pub(crate) versions: Vec<Version>,
    pub(crate) leftovers: Vec<Leftover>,
}

/// Something that couldn't be removed. The next command tries again.
#[derive(Debug)]
pub(crate) struct Leftover {
    pub(crate) what: String,
    pub(crate) why: String,
}

#[derive(Debug, Error, Diagnostic)]
pub(crate) enum RemoveError {
    #[error("`{id}` {version} is enabled")]
    #[diagnostic(code(spark::remove::enabled), help("take it out of use first: spark-tool disable {id}"))]
    Enabled { id: PackageId, version: Version },
    #[error("{version} is the last version of `{id}`")]
    #[diagnostic(code(spark::remove::last_version), help("remove the package as a whole: spark-tool uninstall {id}"))]
    LastVersion { id: PackageId, version: Version },
    #[error("`{id}` changed while it was asked about")]
    #[diagnostic(code(spark::remove::changed), help("run it again"))]
    Changed { id: PackageId },
}

impl Failing for RemoveError {
    fn class(&self) -> Class {
        Class::Conflict
    }

    fn details(&self) -> Value {
        match self {
            Self::Enabled { id, version } | Self::LastVersion { id, version } => json!({ "id": id, "version": version }),
            Self::Changed { id } => json!({ "id": id }),
        }
    }
}

/// Deletes one version that is neither enabled nor the last. Values and decisions of the others stay.
pub(crate) fn remove(settings: &Settings, ask: &dyn Ask, id: &PackageId, version: &Version, waiting: impl FnOnce()) -> Result<(), Failure> {
    let mut store = Store::open(settings.home()?, Access::Write)?;
    let (package, installed) = find(&store, id, Some(version), lookup::Meant::Newest)?;
    check_removable(&store, id, version)?;
    let others = package.versions.len() - 1;
    let question = Question {
        screen: [
            format!("{id} {version}"),
            row("deletes", &visible(&store.layout().version(id.as_str(), version.as_str()).to_string_lossy())),
            row("keeps", &format!("{}, values, traces", count(others as u64, "other version"))),
        ]
        .join("\n"),
        prompt: format!("Remove {id} {version}?"),
        subject: format!("removing {id} {version}"),
        flag: "--yes",
    };
    confirm(settings, &mut store, ask, "remove", &question, &installed)?;
    let lock = TreeLock::take(store.layout(), BUSY_WAIT, waiting)?;
    sweep_with(&lock, &store)?;
    check_removable(&store, id, version)?;
    let withdrawn = withdraw(&lock, id, std::slice::from_ref(version), false)?;
    match store.remove_version(id, version, settings.clock.now()) {
        // What can't be deleted now is swept by the next command.
        Ok(true) => drop(withdrawn.finish()),
        Ok(false) => {
            withdrawn.undo()?;
            return Err(RemoveError::Changed { id: id.clone() }.into());
        }
        Err(error) => {
            withdrawn.undo()?;
            return Err(error.into());
        }
    }
    Ok(())
}

fn check_removable(store: &Store, id: &PackageId, version: &Version) -> Result<(), Failure> {
    match store.may_remove(id, version)? {
        Removed::Done => Ok(()),
        Removed::Missing => {
            let help = "another process removed it".to_owned();
            Err(LookupError::NoSuchVersion { id: id.clone(), version: version.clone(), help }.into())
        }
        Removed::IsEnabled => Err(RemoveError::Enabled { id: id.clone(), version: version.clone() }.into()),
        Removed::IsLast => Err(RemoveError::LastVersion { id: id.clone(), version: version.clone() }.into()),
    }
}

/// Deletes a package that is not enabled: trees, data, rows. Traces and answers stay.
pub(crate) fn uninstall(settings: &Settings, ask: &dyn Ask, id: &PackageId, waiting: impl FnOnce()) -> Result<UninstalledPackage, Failure> {
    let mut store = Store::open(settings.home()?, Access::Write)?;
    let (package, installed) = find(&store, id, None, lookup::Meant::Newest)?;
    check_disabled(&package)?;
    let question = uninstall_question(&store, &package)?;
    confirm(settings, &mut store, ask, "uninstall", &question, &installed)?;
    let lock = TreeLock::take(store.layout(), BUSY_WAIT, waiting)?;
    sweep_with(&lock, &store)?;
    // Versions may have come meanwhile, or it may have been enabled.
    let (package, _) = find(&store, id, None, lookup::Meant::Newest)?;
    check_disabled(&package)?;
    let withdrawn = withdraw(&lock, id, &package.versions, true)?;
    let versions = match store.uninstall(id) {
        Ok(Uninstalled::Done { versions }) => versions,
        Ok(Uninstalled::IsEnabled { version }) => {
            withdrawn.undo()?;
            return Err(RemoveError::Enabled { id: id.clone(), version }.into());
        }
        Ok(Uninstalled::Missing) => {
            withdrawn.undo()?;
            return Err(RemoveError::Changed { id: id.clone() }.into());
        }
        Err(error) => {
            withdrawn.undo()?;
            return Err(error.into());
        }
    };
    let mut leftovers = Vec::new();
    if let Err(error) = withdrawn.finish() {
        leftovers.push(Leftover { what: "files".into(), why: error.to_string() });
    }
    Ok(UninstalledPackage { id: id.clone(), versions, leftovers })
}

fn check_disabled(package: &Package) -> Result<(), RemoveError> {
    match &package.enabled {
        Some(version) => Err(RemoveError::Enabled { id: package.id.clone(), version: version.clone() }),
        None => Ok(()),
    }
}

fn uninstall_question(store: &Store, package: &Package) -> Result<Question, Failure> {
    let id = &package.id;
    let versions: Vec<&str> = package.versions.iter().map(Version::as_str).collect();
    let values = store.config(id)?.len() as u64;
    let mut lines = vec![
        format!("{id} ({})", visible(&package.name)),
        row("versions", &versions.join(", ")),
        row("deletes", &visible(&store.layout().package(id.as_str()).to_string_lossy())),
    ];
    let data = store.layout().data(id.as_str());
    if data.exists() {
        lines.push(row("its data", &visible(&data.to_string_lossy())));
    }
    lines.push(row("values", &count(values, "value")));
    lines.push(row("keeps", "traces and consent records"));
    Ok(Question {
        screen: lines.join("\n"),
        prompt: format!("Uninstall {id} with {}?", count(versions.len() as u64, "version")),
        subject: format!("uninstalling {id}"),
        flag: "--yes",
    })
}

/// Asks, and keeps the answer. A package whose stored manifest can't be read can be removed like any other.
fn confirm(
    settings: &Settings,
    store: &mut Store,
    ask: &dyn Ask,
    command: &str,
    question: &Question,
    installed: &InstalledVersion,
) -> Result<(), Failure> {
    let consent = ask.confirm(question)?;
    let at = settings.clock.now();
    let record = match manifest_of(installed) {
        Ok(manifest) => consent_record(command, installed.package.as_str(), &manifest, &consent, at),
        Err(_) => ConsentRecord {
            command: command.to_owned(),
            subject: installed.package.to_string(),
            package: Some(installed.package.clone()),
            version: Some(installed.version.clone()),
            reply: Reply::Yes,
            means: match consent.how() {
                super::How::Terminal => Means::Terminal,
                super::How::Flag => Means::Flag,
            },
            shown_sha256: consent.shown().to_owned(),
            at,
        },
    };
    Ok(store.record_consent(&record)?)
}
