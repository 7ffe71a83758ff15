//! Putting a version to use, and taking it out of use.

use miette::Diagnostic;
use serde_json::{Value, json};
use thiserror::Error;

use super::call::{consent_record, program_of};
use super::gates::{Gate, Gated};
use super::lookup::{self, find, manifest_of};
use super::packages::served_name;
use super::screen::{Powers, row, tool_line};
use super::verify::{Care, check_tree};
use super::{Ask, Question, Settings};
use crate::base::failure::{Class, Failing, Failure};
use crate::base::text::{count, visible};
use crate::store::{Access, InstalledVersion, Package, Store, StoreError};
use crate::tool::{PackageId, ToolName, Version};

/// A version that is enabled now.
#[derive(Debug)]
pub(crate) struct EnabledPackage {
    pub(crate) id: PackageId,
    pub(crate) version: Version,
    pub(crate) previous: Option<Version>,
    pub(crate) served_names: Vec<String>,
    /// It was enabled before; nothing changed.
    pub(crate) was_enabled: bool,
}

#[derive(Debug, Error, Diagnostic)]
pub(crate) enum EnableError {
    #[error("`{id}` {version} can't be enabled: {}", told(.gates))]
    #[diagnostic(code(spark::gate::closed))]
    Closed {
        id: PackageId,
        version: Version,
        gates: Vec<Gate>,
        #[help]
        help: String,
    },
    #[error("`{id}` {version} changed while it was asked about")]
    #[diagnostic(code(spark::enable::changed), help("run it again"))]
    Changed { id: PackageId, version: Version },
}

impl Failing for EnableError {
    fn class(&self) -> Class {
        match self {
            Self::Closed { .. } => Class::NotAllowed,
            Self::Changed { .. } => Class::Conflict,
        }
    }

    fn details(&self) -> Value {
        match self {
            Self::Closed { id, version, gates, .. } => {
                let gates: Vec<Value> = gates
                    .iter()
                    .map(|gate| {
                        json!({
                            "gate": gate.name.as_str(),
                            "open": gate.is_open,
                            "subject": gate.subject,
                            "message": gate.message,
                            "command": gate.command,
                        })
                    })
                    .collect();
                json!({ "id": id, "version": version, "gates": gates })
            }
            Self::Changed { id, version } => json!({ "id": id, "version": version }),
        }
    }
}

fn told(gates: &[Gate]) -> String {
    let closed: Vec<&str> = gates.iter().filter(|gate| !gate.is_open).map(|gate| gate.message.as_str()).collect();
    closed.join("; ")
}

/// Enables a version, the newest if none is named. Every gate is asked, and all closed ones are told; then the person.
pub(crate) fn enable(settings: &Settings, ask: &dyn Ask, id: &PackageId, version: Option<&Version>) -> Result<EnabledPackage, Failure> {
    let mut store = Store::open(settings.home()?, Access::Write)?;
    let (package, installed) = find(&store, id, version, lookup::Meant::Newest)?;
    let manifest = manifest_of(&installed)?;
    let served = store.served_names(id)?;
    let version = installed.version.clone();
    if package.enabled.as_ref() == Some(&version) {
        let served_names = manifest.tools.iter().map(|tool| served_name(id, tool, &served)).collect();
        return Ok(EnabledPackage { id: id.clone(), version, previous: package.enabled, served_names, was_enabled: true });
    }
    let (permissions, config) = (store.permissions(id, &version)?, store.config(id)?);
    let gates =
        Gated { package: &package, manifest: &manifest, origin: &installed.origin, permissions: &permissions, config: &config }.gates();
    if gates.iter().any(|gate| !gate.is_open) {
        let commands: Vec<&str> = gates.iter().filter_map(|gate| gate.command.as_deref()).collect();
        let help = if commands.is_empty() { "this release can't open it".to_owned() } else { commands.join("\n") };
        return Err(EnableError::Closed { id: id.clone(), version, gates, help }.into());
    }
    if let Some(files) = check_tree::<Failure>(&store, &installed, &manifest, Care::Full)? {
        store.restamp(id, &version, &files)?;
    }
    let root = store.layout().version(id.as_str(), version.as_str());
    let program = program_of(&manifest, &root, settings.environment.get("PATH").unwrap_or_default());
    let mut lines = Powers { manifest: &manifest, program: program.as_deref(), root: &root }.lines();
    lines.extend(manifest.tools.iter().map(tool_line));
    lines.extend(origin_lines(&store, &package, &installed)?);
    let question = Question {
        screen: lines.join("\n"),
        prompt: format!("Enable {id} {version} with {}?", count(manifest.tools.len() as u64, "tool")),
        subject: format!("enabling {id}"),
        flag: "--yes",
    };
    let consent = ask.confirm(&question)?;
    store.record_consent(&consent_record("enable", id.as_str(), &manifest, &consent, settings.clock.now()))?;
    let tools: Vec<ToolName> = manifest.tools.iter().map(|tool| tool.name.clone()).collect();
    let enabled = store.enable(id, &version, &tools, settings.clock.now())?;
    let enabled = enabled.ok_or_else(|| EnableError::Changed { id: id.clone(), version: version.clone() })?;
    Ok(EnabledPackage {
        id: id.clone(),
        version,
        previous: enabled.previous,
        served_names: enabled.served_names.into_iter().map(|(_, name)| name).collect(),
        was_enabled: false,
    })
}

/// Says that a version comes from somewhere else than the one before it, if so (design §4, consent on update).
fn origin_lines(store: &Store, package: &Package, installed: &InstalledVersion) -> Result<Vec<String>, StoreError> {
    let enabled = package.enabled.iter();
    for version in enabled.chain(package.versions.iter().filter(|version| **version != installed.version)) {
        let Some(other) = store.version(&package.id, version)?.filter(|other| other.origin != installed.origin) else { continue };
        return Ok(vec![
            row("comes from", &visible(installed.origin.as_str())),
            row("not from", &format!("{}, as {version} does", visible(other.origin.as_str()))),
            "  None of the values or grants that were given to the other one carry over.".to_owned(),
        ]);
    }
    Ok(Vec::new())
}

/// Takes a package out of use; says whether it was in use. No gate, no question.
pub(crate) fn disable(settings: &Settings, id: &PackageId) -> Result<bool, Failure> {
    let mut store = Store::open(settings.home()?, Access::Write)?;
    find(&store, id, None, lookup::Meant::Current)?;
    Ok(store.disable(id, settings.clock.now())?.is_some())
}
