//! The gates before a version can be enabled (lifecycle §4), all of them asked, in their order.

use crate::manifest::{Manifest, Runtime};
use crate::store::{ConfigEntry, Package, Setting, Target};
use crate::tool::{Origin, Permission, PermissionState, Trust, Variable};

/// One gate, open or closed, and what opens it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Gate {
    pub(crate) name: GateName,
    pub(crate) is_open: bool,
    /// What it is about: names, if it has some.
    pub(crate) subject: Option<String>,
    pub(crate) message: String,
    /// The command that opens it; `None` if it is open, or this release can't.
    pub(crate) command: Option<String>,
}

/// The names of design §6.1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum GateName {
    VersionInstalled,
    NotBlocked,
    AdapterAvailable,
    McpServerPresent,
    CapabilitiesAvailable,
    PermissionsGranted,
    EnvironmentComplete,
}

impl GateName {
    pub(crate) const fn as_str(self) -> &'static str {
        match self {
            Self::VersionInstalled => "version-installed",
            Self::NotBlocked => "not-blocked",
            Self::AdapterAvailable => "adapter-available",
            Self::McpServerPresent => "mcp-server-present",
            Self::CapabilitiesAvailable => "capabilities-available",
            Self::PermissionsGranted => "permissions-granted",
            Self::EnvironmentComplete => "environment-complete",
        }
    }
}

/// What the gates look at.
pub(crate) struct Gated<'a> {
    pub(crate) package: &'a Package,
    pub(crate) manifest: &'a Manifest,
    pub(crate) origin: &'a Origin,
    pub(crate) permissions: &'a [Permission],
    pub(crate) config: &'a [ConfigEntry],
}

impl Gated<'_> {
    /// Asks every gate.
    pub(crate) fn gates(&self) -> Vec<Gate> {
        vec![
            open(GateName::VersionInstalled, "the version is installed"),
            self.not_blocked(),
            self.adapter(),
            self.mcp_server(),
            self.capabilities(),
            self.granted(),
            self.environment(),
        ]
    }

    fn not_blocked(&self) -> Gate {
        match self.package.trust {
            Trust::Blocked => closed(GateName::NotBlocked, None, "the package is blocked on this machine".to_owned(), None),
            Trust::TrustedLocal | Trust::Verified => open(GateName::NotBlocked, "the package is not blocked"),
        }
    }

    fn adapter(&self) -> Gate {
        let adapter = self.manifest.runtime.adapter();
        match self.manifest.runtime {
            Runtime::Process(_) => open(GateName::AdapterAvailable, "this release runs the adapter `process`"),
            Runtime::RemoteHttp(_) | Runtime::DeclarativeHttp(_) | Runtime::McpImport(_) | Runtime::LegacyCustomTool(_) => closed(
                GateName::AdapterAvailable,
                Some(adapter.to_owned()),
                format!("this release can't run the adapter `{adapter}`"),
                None,
            ),
        }
    }

    fn mcp_server(&self) -> Gate {
        match &self.manifest.runtime {
            Runtime::McpImport(import) => {
                let message = format!("no MCP server `{}` is configured, and this release can't add one", import.server_id);
                closed(GateName::McpServerPresent, Some(import.server_id.clone()), message, None)
            }
            _ => open(GateName::McpServerPresent, "no MCP server is needed"),
        }
    }

    fn capabilities(&self) -> Gate {
        let required = &self.manifest.permissions.required_capabilities;
        if required.is_empty() {
            return open(GateName::CapabilitiesAvailable, "no host capability is required");
        }
        let names = joined(required.iter().map(ToString::to_string));
        let message = format!("this release has none of the host capabilities it requires: {names}");
        closed(GateName::CapabilitiesAvailable, Some(names), message, None)
    }

    fn granted(&self) -> Gate {
        let missing: Vec<&Permission> =
            self.permissions.iter().filter(|permission| permission.required && permission.state != PermissionState::Granted).collect();
        if missing.is_empty() {
            return open(GateName::PermissionsGranted, "every required permission is granted");
        }
        let names = joined(missing.iter().map(|permission| permission.name.clone()));
        let command = format!("spark-tool grant {} {}", self.named(), names.replace(", ", " "));
        closed(GateName::PermissionsGranted, Some(names.clone()), format!("not granted: {names}"), Some(command))
    }

    fn environment(&self) -> Gate {
        let missing: Vec<&Variable> =
            self.manifest.environment.iter().filter(|variable| variable.required && !self.has_value(variable)).collect();
        if missing.is_empty() {
            return open(GateName::EnvironmentComplete, "every required variable has a value");
        }
        let (secret, plain): (Vec<&&Variable>, Vec<&&Variable>) = missing.iter().partition(|variable| variable.secret);
        let all =
            |variables: &[&&Variable], end: &str| variables.iter().map(|variable| format!("{}{end}", variable.name)).collect::<Vec<_>>();
        let mut reasons = Vec::new();
        if !plain.is_empty() {
            reasons.push(format!("no value for {}", all(&plain, "").join(", ")));
        }
        if !secret.is_empty() {
            reasons.push(format!("no value for the secret {}, and this release keeps no secrets", all(&secret, "").join(", ")));
        }
        let command = (!plain.is_empty()).then(|| format!("spark-tool env set {} {}", self.named(), all(&plain, "=…").join(" ")));
        let names = joined(missing.iter().map(|variable| variable.name.to_string()));
        closed(GateName::EnvironmentComplete, Some(names), reasons.join("; "), command)
    }

    /// Returns the version as a command has to name it so that no other is meant.
    fn named(&self) -> String {
        let Manifest { id, version, .. } = self.manifest;
        if self.package.versions.len() > 1 { format!("{id}@{version}") } else { id.to_string() }
    }

    /// Says whether a call of any tool resolves the variable: a usable value of the package, one of each tool, or a
    /// default.
    fn has_value(&self, variable: &Variable) -> bool {
        let configured = || self.config.iter().filter(|entry| entry.name == variable.name && entry.origin == *self.origin);
        let is_usable = |setting: &Setting| match setting {
            Setting::Plain(value) => !variable.secret && variable.check(value).is_ok(),
            Setting::Keystore(_) => variable.secret,
        };
        let has = |target: &Target| configured().any(|entry| entry.target == *target && is_usable(&entry.setting));
        let mut tools = self.manifest.tools.iter().map(|tool| Target::Tool(tool.name.clone()));
        variable.default.is_some() || has(&Target::Package) || tools.all(|tool| has(&tool))
    }
}

fn open(name: GateName, message: &str) -> Gate {
    Gate { name, is_open: true, subject: None, message: message.to_owned(), command: None }
}

fn closed(name: GateName, subject: Option<String>, message: String, command: Option<String>) -> Gate {
    Gate { name, is_open: false, subject, message, command }
}

fn joined(names: impl Iterator<Item = String>) -> String {
    names.collect::<Vec<_>>().join(", ")
}
