//! What is installed, what it asks for, what it has.

use std::fmt::Write as _;

use serde::Serialize;
use serde_json::Value;

use super::{OutputError, Reporter};
use crate::base::text::{count, cut, visible};
use crate::ops::enable::EnabledPackage;
use crate::ops::gates::Gate;
use crate::ops::packages::{BrokenPackage, Package, PackageDetail, VariableStatus};
use crate::ops::permissions::Reviewed;
use crate::ops::variables::{Changed, Environment};
use crate::tool::{Permission, PermissionKind, ToolDefinition};

/// `K` of design §6.1.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct PackageWire<'a> {
    id: &'a str,
    name: Option<&'a str>,
    description: Option<&'a str>,
    source: Option<&'static str>,
    trust: Option<&'static str>,
    state: &'static str,
    enabled_version: Option<&'a str>,
    versions: Vec<&'a str>,
    tool_count: Option<u64>,
    problem: Option<&'a str>,
    updated_at: Option<String>,
}

#[derive(Serialize)]
struct ListWire<'a> {
    packages: Vec<PackageWire<'a>>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ShowWire<'a> {
    id: &'a str,
    name: &'a str,
    description: &'a str,
    source: &'static str,
    trust: &'static str,
    state: &'static str,
    enabled_version: Option<&'a str>,
    versions: Vec<&'a str>,
    tool_count: u64,
    problem: Option<&'a str>,
    updated_at: String,
    version: &'a str,
    digest: String,
    provenance: ProvenanceWire<'a>,
    install_path: String,
    permissions: Vec<PermissionWire<'a>>,
    environment: Vec<VariableWire<'a>>,
    gates: Vec<GateWire<'a>>,
    tools: Vec<ToolWire<'a>>,
}

/// Where a version came from, as `install` and `show` tell it.
#[derive(Serialize)]
pub(super) struct ProvenanceWire<'a> {
    pub(super) url: Option<&'a str>,
    #[serde(rename = "ref")]
    pub(super) reference: Option<&'a str>,
    pub(super) commit: Option<&'a str>,
    pub(super) subdirectory: Option<&'a str>,
}

/// `P` of design §6.1.
#[derive(Serialize)]
pub(super) struct PermissionWire<'a> {
    kind: &'static str,
    name: &'a str,
    required: bool,
    state: &'static str,
}

/// `T` of design §6.1.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct ToolWire<'a> {
    name: &'a str,
    served_name: &'a str,
    title: &'a str,
    description: &'a str,
    risk: &'static str,
    effect: &'static str,
    idempotency: &'static str,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct VariableWire<'a> {
    name: &'a str,
    #[serde(rename = "type")]
    kind: &'static str,
    secret: bool,
    required: bool,
    configured: bool,
    source: &'static str,
    scope: Option<&'static str>,
    tool_name: Option<&'a str>,
    value: Option<&'a Value>,
}

#[derive(Serialize)]
struct GateWire<'a> {
    gate: &'static str,
    open: bool,
    subject: Option<&'a str>,
    message: &'a str,
    command: Option<&'a str>,
}

#[derive(Serialize)]
struct PermissionsWire<'a> {
    id: &'a str,
    version: &'a str,
    permissions: Vec<PermissionWire<'a>>,
    changed: Vec<&'a str>,
    disabled: bool,
}

#[derive(Serialize)]
struct EnvironmentWire<'a> {
    id: &'a str,
    version: &'a str,
    environment: Vec<VariableWire<'a>>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ChangedWire<'a> {
    id: &'a str,
    names: Vec<&'a str>,
    scope: &'static str,
    tool_name: Option<&'a str>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct EnabledWire<'a> {
    id: &'a str,
    version: &'a str,
    previous_version: Option<&'a str>,
    served_names: &'a [String],
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct DisabledWire<'a> {
    id: &'a str,
    was_enabled: bool,
}

impl Reporter {
    /// Answers with every package in short.
    pub(crate) fn packages(&self, packages: &[Result<Package, BrokenPackage>]) -> Result<(), OutputError> {
        let wire = ListWire { packages: packages.iter().map(|package| package.as_ref().map_or_else(broken_wire, package_wire)).collect() };
        self.answer(true, &wire, |_| list_text(packages))
    }

    /// Answers with one package in full.
    pub(crate) fn package(&self, detail: &PackageDetail) -> Result<(), OutputError> {
        self.answer(true, &show_wire(detail), |_| show_text(detail))
    }

    /// Answers with what a version asks for, and what was decided.
    pub(crate) fn permissions(&self, permissions: &Reviewed) -> Result<(), OutputError> {
        let wire = PermissionsWire {
            id: permissions.id.as_str(),
            version: permissions.version.as_str(),
            permissions: permission_wires(&permissions.permissions),
            changed: permissions.changed.iter().map(String::as_str).collect(),
            disabled: permissions.disabled,
        };
        self.answer(true, &wire, |_| permissions_text(permissions))
    }

    /// Answers with the variables of a version.
    pub(crate) fn environment(&self, environment: &Environment) -> Result<(), OutputError> {
        let wire = EnvironmentWire {
            id: environment.id.as_str(),
            version: environment.version.as_str(),
            environment: environment.variables.iter().map(variable_wire).collect(),
        };
        self.answer(true, &wire, |_| match environment.variables.as_slice() {
            [] => format!("{} {} declares no variables\n", environment.id, environment.version),
            variables => variables_text(variables),
        })
    }

    /// Answers with the names that were set or unset.
    pub(crate) fn changed_variables(&self, changed: &Changed, verb: &str) -> Result<(), OutputError> {
        let wire = ChangedWire {
            id: changed.id.as_str(),
            names: changed.names.iter().map(crate::tool::VariableName::as_str).collect(),
            scope: changed.target.scope().as_str(),
            tool_name: changed.target.tool().map(crate::tool::ToolName::as_str),
        };
        self.answer(true, &wire, |_| match wire.names.as_slice() {
            [] => format!("{}: nothing to change\n", changed.id),
            names => format!("{}: {verb} {}\n", changed.id, names.join(", ")),
        })
    }

    /// Answers with the version that is enabled now.
    pub(crate) fn enabled(&self, enabled: &EnabledPackage) -> Result<(), OutputError> {
        let wire = EnabledWire {
            id: enabled.id.as_str(),
            version: enabled.version.as_str(),
            previous_version: enabled.previous.as_ref().map(crate::tool::Version::as_str),
            served_names: &enabled.served_names,
        };
        self.answer(true, &wire, |_| {
            let word = if enabled.was_enabled { "is enabled already" } else { "is enabled" };
            format!("{} {} {word}: {}\n", enabled.id, enabled.version, enabled.served_names.join(", "))
        })
    }

    /// Answers that a package is out of use.
    pub(crate) fn disabled(&self, id: &crate::tool::PackageId, was_enabled: bool) -> Result<(), OutputError> {
        self.answer(true, &DisabledWire { id: id.as_str(), was_enabled }, |_| {
            format!("{id} {}\n", if was_enabled { "is disabled" } else { "was not enabled" })
        })
    }
}

fn package_wire(package: &Package) -> PackageWire<'_> {
    PackageWire {
        id: package.id.as_str(),
        name: Some(&package.name),
        description: Some(&package.description),
        source: Some(package.source.as_str()),
        trust: Some(package.trust.as_str()),
        state: package.state(),
        enabled_version: package.enabled.as_ref().map(crate::tool::Version::as_str),
        versions: package.versions.iter().map(crate::tool::Version::as_str).collect(),
        tool_count: Some(package.tool_count),
        problem: None,
        updated_at: Some(package.updated_at.to_string()),
    }
}

fn broken_wire(broken: &BrokenPackage) -> PackageWire<'_> {
    PackageWire {
        id: &broken.id,
        name: None,
        description: None,
        source: None,
        trust: None,
        state: "error",
        enabled_version: None,
        versions: Vec::new(),
        tool_count: None,
        problem: Some(&broken.problem),
        updated_at: None,
    }
}

fn show_wire(detail: &PackageDetail) -> ShowWire<'_> {
    let PackageDetail { package, installed, .. } = detail;
    let content = detail.content.as_ref();
    ShowWire {
        id: package.id.as_str(),
        name: &package.name,
        description: &package.description,
        source: package.source.as_str(),
        trust: package.trust.as_str(),
        state: package.state(),
        enabled_version: package.enabled.as_ref().map(crate::tool::Version::as_str),
        versions: package.versions.iter().map(crate::tool::Version::as_str).collect(),
        tool_count: package.tool_count,
        problem: content.err().map(String::as_str),
        updated_at: package.updated_at.to_string(),
        version: installed.version.as_str(),
        digest: installed.digest.to_string(),
        provenance: ProvenanceWire {
            url: installed.provenance.url.as_deref(),
            reference: installed.provenance.reference.as_deref(),
            commit: installed.provenance.commit.as_deref(),
            subdirectory: installed.provenance.subdirectory.as_deref(),
        },
        install_path: detail.install_path.to_string_lossy().into_owned(),
        permissions: permission_wires(&detail.permissions),
        environment: content.map_or_else(|_| Vec::new(), |content| content.environment.iter().map(variable_wire).collect()),
        gates: content.map_or_else(|_| Vec::new(), |content| content.gates.iter().map(gate_wire).collect()),
        tools: content.map_or_else(|_| Vec::new(), |content| content.tools.iter().map(|(tool, served)| tool_wire(tool, served)).collect()),
    }
}

pub(super) fn permission_wires(permissions: &[Permission]) -> Vec<PermissionWire<'_>> {
    let wire = |permission: &'_ Permission| (permission.kind.as_str(), permission.required, permission.state.as_str());
    permissions
        .iter()
        .map(|permission| {
            let (kind, required, state) = wire(permission);
            PermissionWire { kind, name: &permission.name, required, state }
        })
        .collect()
}

pub(super) fn tool_wire<'a>(tool: &'a ToolDefinition, served_name: &'a str) -> ToolWire<'a> {
    ToolWire {
        name: tool.name.as_str(),
        served_name,
        title: &tool.title,
        description: &tool.description,
        risk: tool.safety.risk.as_str(),
        effect: tool.safety.effect.as_str(),
        idempotency: tool.safety.idempotency.as_str(),
    }
}

fn variable_wire(variable: &VariableStatus) -> VariableWire<'_> {
    VariableWire {
        name: variable.name.as_str(),
        kind: variable.kind,
        secret: variable.secret,
        required: variable.required,
        configured: variable.target.is_some(),
        source: variable.source.as_str(),
        scope: variable.target.as_ref().map(|target| target.scope().as_str()),
        tool_name: variable.target.as_ref().and_then(|target| target.tool()).map(crate::tool::ToolName::as_str),
        value: variable.value.as_ref(),
    }
}

fn gate_wire(gate: &Gate) -> GateWire<'_> {
    GateWire {
        gate: gate.name.as_str(),
        open: gate.is_open,
        subject: gate.subject.as_deref(),
        message: &gate.message,
        command: gate.command.as_deref(),
    }
}

fn list_text(packages: &[Result<Package, BrokenPackage>]) -> String {
    if packages.is_empty() {
        return "nothing is installed; `spark-tool install FOLDER` does that\n".to_owned();
    }
    let mut text = String::new();
    for package in packages {
        match package {
            Ok(package) => {
                let state = if package.enabled.is_some() { "enabled" } else { "disabled" };
                let tools = count(package.tool_count, "tool");
                let name = visible(&package.name);
                writeln!(text, "{:<32} {:<12} {state:<9} {tools:<9} {name}", package.id.as_str(), package.current().as_str())
            }
            Err(broken) => writeln!(text, "{:<32} {:<12} broken    {}", visible(&broken.id), "–", visible(&broken.problem)),
        }
        .expect("a String takes any text");
    }
    text
}

fn show_text(detail: &PackageDetail) -> String {
    let PackageDetail { package, installed, .. } = detail;
    let mut text = format!("{} {} – {}\n", package.id, installed.version, visible(&package.name));
    let mut add = |label: &str, value: &str| writeln!(text, "  {label:<12} {value}").expect("a String takes any text");
    add("about", &cut(&visible(&package.description), 400));
    let state = match &package.enabled {
        Some(version) if *version == installed.version => "enabled".to_owned(),
        Some(version) => format!("disabled; {version} is enabled"),
        None => "disabled".to_owned(),
    };
    add("state", &state);
    add("trust", package.trust.as_str());
    let source = installed.provenance.path.as_deref().or(installed.provenance.url.as_deref()).unwrap_or_default();
    add("source", &format!("{} {}", installed.source, visible(source)));
    add("versions", &package.versions.iter().map(crate::tool::Version::as_str).collect::<Vec<_>>().join(", "));
    add("digest", &installed.digest.to_string());
    add("installed in", &visible(&detail.install_path.to_string_lossy()));
    match &detail.content {
        Err(problem) => add("problem", &visible(problem)),
        Ok(content) => {
            text.push_str("permissions\n");
            text.push_str(&permission_lines(&detail.permissions));
            text.push_str("variables\n");
            text.push_str(&if content.environment.is_empty() { "  none\n".to_owned() } else { variables_text(&content.environment) });
            text.push_str("gates\n");
            for gate in &content.gates {
                let word = if gate.is_open { "open  " } else { "closed" };
                writeln!(text, "  {word} {:<24} {}", gate.name.as_str(), visible(&gate.message)).expect("a String takes any text");
                if let Some(command) = &gate.command {
                    writeln!(text, "         {command}").expect("a String takes any text");
                }
            }
            text.push_str("tools\n");
            for (tool, served) in &content.tools {
                let safety = tool.safety;
                writeln!(
                    text,
                    "  {:<24} risk {}, effect {}, served as {served}\n    {}",
                    tool.name.as_str(),
                    safety.risk,
                    safety.effect,
                    cut(&visible(&tool.description), 200)
                )
                .expect("a String takes any text");
            }
        }
    }
    text
}

fn permission_lines(permissions: &[Permission]) -> String {
    if permissions.is_empty() {
        return "  none\n".to_owned();
    }
    permissions.iter().fold(String::new(), |text, permission| {
        let kind = match permission.kind {
            PermissionKind::OsEffect => "effect",
            PermissionKind::SparkCapability => "capability",
        };
        let need = if permission.required { "required" } else { "optional" };
        format!("{text}  {:<24} {kind:<10} {need}  {}\n", permission.name, permission.state)
    })
}

fn permissions_text(permissions: &Reviewed) -> String {
    let mut text = format!("{} {}\n{}", permissions.id, permissions.version, permission_lines(&permissions.permissions));
    if permissions.disabled {
        text.push_str("the package is disabled now: a permission that it requires is not granted\n");
    }
    text
}

fn variables_text(variables: &[VariableStatus]) -> String {
    variables.iter().fold(String::new(), |text, variable| {
        let need = if variable.required { "required" } else { "optional" };
        let value = match (&variable.value, variable.secret) {
            (_, true) => "(secret)".to_owned(),
            (Some(value), false) => cut(&visible(&value.to_string()), 200).into_owned(),
            (None, false) => String::new(),
        };
        let scope = variable.target.as_ref().and_then(|target| target.tool()).map_or(String::new(), |tool| format!(" for {tool}"));
        format!("{text}  {:<24} {:<8} {need}  {}{scope} {value}\n", variable.name.as_str(), variable.kind, variable.source.as_str())
    })
}
