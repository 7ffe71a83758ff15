//! The plain values of a package's variables: listed, set, unset. Secrets are refused here; they have a chain of their
//! own.

use miette::Diagnostic;
use serde_json::{Value, json};
use thiserror::Error;

use super::call::find_tool_in;
use super::lookup::{self, find, manifest_of};
use super::values;
use super::{Settings, input};
use crate::base::failure::{Class, Failing, Failure};
use crate::base::text::visible;
use crate::manifest::Manifest;
use crate::store::{Access, ConfigEntry, InstalledVersion, Setting, Store, Target};
use crate::tool::{Origin, PackageId, ToolName, Variable, VariableName, Version};

/// One declared variable and what it has.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct VariableStatus {
    pub(crate) name: VariableName,
    pub(crate) kind: &'static str,
    pub(crate) secret: bool,
    pub(crate) required: bool,
    pub(crate) source: ValueSource,
    /// Where the value applies; `None` without one.
    pub(crate) target: Option<Target>,
    /// Of plain ones only.
    pub(crate) value: Option<Value>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ValueSource {
    Configured,
    Default,
    Missing,
}

impl ValueSource {
    pub(crate) const fn as_str(self) -> &'static str {
        match self {
            Self::Configured => "configured",
            Self::Default => "default",
            Self::Missing => "missing",
        }
    }
}

/// All variables of a version.
#[derive(Debug)]
pub(crate) struct Environment {
    pub(crate) id: PackageId,
    pub(crate) version: Version,
    pub(crate) variables: Vec<VariableStatus>,
}

/// What was set or unset.
#[derive(Debug)]
pub(crate) struct Changed {
    pub(crate) id: PackageId,
    pub(crate) names: Vec<VariableName>,
    pub(crate) target: Target,
}

#[derive(Debug, Error, Diagnostic)]
pub(crate) enum VariablesError {
    #[error("`{text}` sets nothing")]
    #[diagnostic(code(spark::env::not_an_assignment), help("write NAME=VALUE, or NAME:=JSON"))]
    NotAnAssignment { text: String },
    #[error("`{name}` is a secret: `env` keeps values in plain text")]
    #[diagnostic(code(spark::env::secret_refused), help("this release keeps no secrets yet; `test -e {name}` hands one over for a run"))]
    Secret { name: VariableName },
    #[error("`{name}` is given twice")]
    #[diagnostic(code(spark::env::duplicate), help("keep one of the two"))]
    Duplicate { name: VariableName },
}

impl Failing for VariablesError {
    fn class(&self) -> Class {
        match self {
            Self::NotAnAssignment { .. } | Self::Duplicate { .. } => Class::Usage,
            Self::Secret { .. } => Class::NotAllowed,
        }
    }

    fn details(&self) -> Value {
        match self {
            Self::NotAnAssignment { .. } => json!({}),
            Self::Secret { name } | Self::Duplicate { name } => json!({ "names": [name] }),
        }
    }
}

/// Returns every variable that a version declares, as a call of `tool` (or of any) would find it.
pub(crate) fn list(
    settings: &Settings,
    id: &PackageId,
    version: Option<&Version>,
    tool: Option<&ToolName>,
) -> Result<Environment, Failure> {
    let store = Store::open(settings.home()?, Access::Read)?;
    let (_, installed) = find(&store, id, version, lookup::Meant::Current)?;
    let manifest = manifest_of(&installed)?;
    if let Some(tool) = tool {
        find_tool_in(&manifest, tool)?;
    }
    let variables = status(&manifest, &installed.origin, &store.config(id)?, tool);
    Ok(Environment { id: id.clone(), version: installed.version, variables })
}

/// Judges each variable by the values of the package and, if one is named, of a tool.
pub(crate) fn status(manifest: &Manifest, origin: &Origin, config: &[ConfigEntry], tool: Option<&ToolName>) -> Vec<VariableStatus> {
    manifest.environment.iter().map(|variable| variable_status(variable, origin, config, tool)).collect()
}

fn variable_status(variable: &Variable, origin: &Origin, config: &[ConfigEntry], tool: Option<&ToolName>) -> VariableStatus {
    let entries = || config.iter().filter(|entry| entry.name == variable.name && entry.origin == *origin);
    let usable = |target: &Target| {
        entries().filter(|entry| entry.target == *target).find_map(|entry| match &entry.setting {
            Setting::Plain(value) if !variable.secret && variable.check(value).is_ok() => Some(Some(value.clone())),
            Setting::Keystore(_) if variable.secret => Some(None),
            Setting::Plain(_) | Setting::Keystore(_) => None,
        })
    };
    let targets = tool.map(|tool| Target::Tool(tool.clone())).into_iter().chain([Target::Package]);
    let found = targets.into_iter().find_map(|target| usable(&target).map(|value| (target, value)));
    let (source, target, value) = match (found, &variable.default) {
        (Some((target, value)), _) => (ValueSource::Configured, Some(target), value),
        (None, Some(default)) => (ValueSource::Default, None, Some(default.clone())),
        (None, None) => (ValueSource::Missing, None, None),
    };
    VariableStatus {
        name: variable.name.clone(),
        kind: variable.kind.as_str(),
        secret: variable.secret,
        required: variable.required,
        source,
        target,
        value: value.filter(|_| !variable.secret),
    }
}

/// Returns the version that is named. Without one, the enabled version or the newest, unless only another one declares
/// all of `names`: what an update will need is set before the update.
fn declaring(store: &Store, id: &PackageId, version: Option<&Version>, names: &[&str]) -> Result<(InstalledVersion, Manifest), Failure> {
    let (package, installed) = find(store, id, version, lookup::Meant::Current)?;
    let manifest = manifest_of(&installed)?;
    let declares = |manifest: &Manifest| names.iter().all(|name| values::find(&manifest.environment, name).is_ok());
    if version.is_none() && !declares(&manifest) {
        for other in package.versions.iter().filter(|other| **other != installed.version) {
            let (_, installed) = find(store, id, Some(other), lookup::Meant::Current)?;
            if let Ok(manifest) = manifest_of(&installed)
                && declares(&manifest)
            {
                return Ok((installed, manifest));
            }
        }
    }
    Ok((installed, manifest))
}

/// Sets plain values, all or none.
pub(crate) fn set(
    settings: &Settings,
    id: &PackageId,
    version: Option<&Version>,
    tool: Option<&ToolName>,
    assignments: &[String],
) -> Result<Changed, Failure> {
    let mut store = Store::open(settings.home()?, Access::Write)?;
    let names: Vec<&str> = assignments.iter().filter_map(|text| Some(text.split_once('=')?.0.trim_end_matches(':'))).collect();
    let (installed, manifest) = declaring(&store, id, version, &names)?;
    let target = target(&manifest, tool)?;
    let mut given: Vec<(VariableName, Setting)> = Vec::new();
    for text in assignments {
        let (name, value) = read_assignment(&manifest, text)?;
        if given.iter().any(|(known, _)| *known == name) {
            return Err(VariablesError::Duplicate { name }.into());
        }
        given.push((name, Setting::Plain(value)));
    }
    store.set_config(id, &target, &given, &installed.origin, settings.clock.now())?;
    Ok(Changed { id: id.clone(), names: given.into_iter().map(|(name, _)| name).collect(), target })
}

/// Unsets values; a declared name without one is no error.
pub(crate) fn unset(
    settings: &Settings,
    id: &PackageId,
    version: Option<&Version>,
    tool: Option<&ToolName>,
    names: &[VariableName],
) -> Result<Changed, Failure> {
    let mut store = Store::open(settings.home()?, Access::Write)?;
    let (_, manifest) = declaring(&store, id, version, &names.iter().map(VariableName::as_str).collect::<Vec<_>>())?;
    for name in names {
        values::find(&manifest.environment, name.as_str())?;
    }
    let target = target(&manifest, tool)?;
    let names = store.unset_config(id, &target, names)?;
    Ok(Changed { id: id.clone(), names, target })
}

fn target(manifest: &Manifest, tool: Option<&ToolName>) -> Result<Target, Failure> {
    match tool {
        None => Ok(Target::Package),
        Some(tool) => {
            find_tool_in(manifest, tool)?;
            Ok(Target::Tool(tool.clone()))
        }
    }
}

fn read_assignment(manifest: &Manifest, text: &str) -> Result<(VariableName, Value), Failure> {
    let not_an_assignment = || VariablesError::NotAnAssignment { text: visible(text.split('=').next().unwrap_or_default()).into_owned() };
    let (left, right) = text.split_once('=').ok_or_else(not_an_assignment)?;
    let (name, is_json) = left.strip_suffix(':').map_or((left, false), |name| (name, true));
    let variable = values::find(&manifest.environment, name)?;
    if variable.secret {
        return Err(VariablesError::Secret { name: variable.name.clone() }.into());
    }
    let unusable = |reason: String| values::ValuesError::Unusable { name: variable.name.clone(), reason };
    let value = if is_json {
        let value = input::parse_json(right.as_bytes(), name)?;
        variable.check(&value).map_err(|fault| unusable(fault.to_string()))?;
        value
    } else {
        variable.parse_text(right).map_err(|fault| unusable(fault.to_string()))?
    };
    Ok((variable.name.clone(), value))
}
