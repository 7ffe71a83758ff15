//! What a version asks for, and what a person decides about it.

use miette::Diagnostic;
use serde_json::{Value, json};
use thiserror::Error;

use super::call::{consent_record, program_of};
use super::lookup::{self, find, manifest_of};
use super::screen::{Powers, row};
use super::{Ask, Question, Settings};
use crate::base::failure::{Class, Failing, Failure};
use crate::base::text::{count, listed, nearest, visible};
use crate::store::{Access, Store};
use crate::tool::{PackageId, Permission, PermissionKind, PermissionState, Version};

/// What is decided.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Decision {
    Grant,
    Deny,
    Revoke,
}

impl Decision {
    const fn state(self) -> PermissionState {
        match self {
            Self::Grant => PermissionState::Granted,
            Self::Deny => PermissionState::Denied,
            Self::Revoke => PermissionState::Pending,
        }
    }
}

/// About what.
#[derive(Clone, Copy, Debug)]
pub(crate) struct DecisionRequest<'a> {
    pub(crate) id: &'a PackageId,
    pub(crate) version: Option<&'a Version>,
    /// An effect or a capability, `os:` or `capability:` in front where both exist.
    pub(crate) names: &'a [String],
    pub(crate) all_declared: bool,
}

/// How things stand, and what changed.
#[derive(Debug)]
pub(crate) struct Reviewed {
    pub(crate) id: PackageId,
    pub(crate) version: Version,
    pub(crate) permissions: Vec<Permission>,
    pub(crate) changed: Vec<String>,
    pub(crate) disabled: bool,
}

#[derive(Debug, Error, Diagnostic)]
pub(crate) enum PermissionError {
    #[error("`{id}` {version} doesn't ask for `{name}`")]
    #[diagnostic(code(spark::permission::not_declared))]
    NotDeclared {
        id: PackageId,
        version: Version,
        name: String,
        #[help]
        help: String,
    },
    #[error("`{name}` is an effect and a capability")]
    #[diagnostic(code(spark::permission::ambiguous), help("write os:{name} or capability:{name}"))]
    Ambiguous { name: String },
}

impl Failing for PermissionError {
    fn class(&self) -> Class {
        match self {
            Self::NotDeclared { .. } => Class::Unusable,
            Self::Ambiguous { .. } => Class::Usage,
        }
    }

    fn details(&self) -> Value {
        match self {
            Self::NotDeclared { id, version, name, .. } => json!({ "id": id, "version": version, "permission": name }),
            Self::Ambiguous { name } => json!({ "permission": name }),
        }
    }
}

/// Returns what a version asks for and how that stands.
pub(crate) fn list(settings: &Settings, id: &PackageId, version: Option<&Version>) -> Result<Reviewed, Failure> {
    let store = Store::open(settings.home()?, Access::Read)?;
    let (_, installed) = find(&store, id, version, lookup::Meant::Newest)?;
    let permissions = store.permissions(id, &installed.version)?;
    Ok(Reviewed { id: id.clone(), version: installed.version, permissions, changed: Vec::new(), disabled: false })
}

/// Decides. A grant is asked about, with everything shown; taking something back never is.
pub(crate) fn decide(settings: &Settings, ask: &dyn Ask, decision: Decision, request: DecisionRequest<'_>) -> Result<Reviewed, Failure> {
    let mut store = Store::open(settings.home()?, Access::Write)?;
    let id = request.id;
    // What is given is for the next version; what is taken has to reach what runs.
    let meant = if decision == Decision::Grant { lookup::Meant::Newest } else { lookup::Meant::Current };
    let (package, mut installed) = find(&store, id, request.version, meant)?;
    let permissions = store.permissions(id, &installed.version)?;
    let mut picked = if request.all_declared { Ok(permissions.clone()) } else { pick(&permissions, request, &installed.version) };
    let reaches_all = decision != Decision::Grant && request.version.is_none();
    if reaches_all && picked.is_err() {
        // Only another version may ask for it.
        for other in &package.versions {
            let declared = store.permissions(id, other)?;
            if let Ok(found) = pick(&declared, request, other) {
                (_, installed) = find(&store, id, Some(other), meant)?;
                picked = Ok(found);
                break;
            }
        }
    }
    let version = &installed.version;
    let named = picked?;
    let open: Vec<&Permission> = named.iter().filter(|permission| permission.state != decision.state()).collect();
    if decision == Decision::Grant && !open.is_empty() {
        let manifest = manifest_of(&installed)?;
        let root = store.layout().version(id.as_str(), version.as_str());
        let program = program_of(&manifest, &root, settings.environment.get("PATH").unwrap_or_default());
        let mut lines = Powers { manifest: &manifest, program: program.as_deref(), root: &root }.lines();
        lines.push(row("grants", &open.iter().map(|permission| permission.name.as_str()).collect::<Vec<_>>().join(", ")));
        let question = Question {
            screen: lines.join("\n"),
            prompt: format!("Grant {} to {id} {version}?", count(open.len() as u64, "permission")),
            subject: format!("the grant to {id}"),
            flag: "--yes",
        };
        let consent = ask.confirm(&question)?;
        store.record_consent(&consent_record("grant", id.as_str(), &manifest, &consent, settings.clock.now()))?;
    }
    let keys: Vec<(PermissionKind, String)> = open.iter().map(|permission| (permission.kind, permission.name.clone())).collect();
    let now = settings.clock.now();
    let reviewed = store.review(id, version, &keys, decision.state(), now)?;
    if reaches_all {
        // Another version shall not bring back what was taken.
        for other in package.versions.iter().filter(|other| *other != version) {
            let declared = store.permissions(id, other)?;
            let is_named =
                |one: &Permission| request.all_declared || named.iter().any(|named| (named.kind, &named.name) == (one.kind, &one.name));
            let keys: Vec<_> = declared.into_iter().filter(is_named).map(|one| (one.kind, one.name)).collect();
            store.review(id, other, &keys, decision.state(), now)?;
        }
    }
    Ok(Reviewed {
        id: id.clone(),
        version: version.clone(),
        permissions: store.permissions(id, version)?,
        changed: reviewed.changed.into_iter().map(|permission| permission.name).collect(),
        disabled: reviewed.disabled,
    })
}

fn pick(declared: &[Permission], request: DecisionRequest<'_>, version: &Version) -> Result<Vec<Permission>, PermissionError> {
    let mut picked: Vec<Permission> = Vec::new();
    for text in request.names {
        let (kind, name) = match (text.strip_prefix("os:"), text.strip_prefix("capability:")) {
            (Some(name), _) => (Some(PermissionKind::OsEffect), name),
            (_, Some(name)) => (Some(PermissionKind::SparkCapability), name),
            _ => (None, text.as_str()),
        };
        let found: Vec<&Permission> =
            declared.iter().filter(|permission| permission.name == name && kind.is_none_or(|kind| permission.kind == kind)).collect();
        match found.as_slice() {
            [] => {
                let names = || declared.iter().map(|permission| permission.name.as_str());
                let help = match nearest(name, names()) {
                    Some(nearest) => format!("did you mean `{nearest}`?"),
                    None if declared.is_empty() => "it asks for nothing".to_owned(),
                    None => format!("it asks for {}", listed(names())),
                };
                let name = visible(name).into_owned();
                return Err(PermissionError::NotDeclared { id: request.id.clone(), version: version.clone(), name, help });
            }
            [one] if !picked.contains(one) => picked.push((*one).clone()),
            [_] => {}
            _ => return Err(PermissionError::Ambiguous { name: name.to_owned() }),
        }
    }
    Ok(picked)
}
