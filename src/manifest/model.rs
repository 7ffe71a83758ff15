//! A manifest without errors: what every other room works with. Nothing in it is optional that isn't.

use std::time::Duration;

use serde_json::Value;

use crate::http::HttpSpec;
use crate::tool::{CapabilityName, OsEffect, PackageId, ToolDefinition, ToolName, Variable, Version};

/// What `spark-tool.json` says, checked (manifest §2).
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Manifest {
    pub(crate) id: PackageId,
    pub(crate) version: Version,
    pub(crate) name: String,
    pub(crate) description: String,
    pub(crate) author: Option<Author>,
    pub(crate) runtime: Runtime,
    pub(crate) development: Development,
    pub(crate) guidance: Option<PackageGuidance>,
    pub(crate) tools: Vec<ToolDefinition>,
    pub(crate) environment: Vec<Variable>,
    pub(crate) permissions: Permissions,
    /// The file as written, numbers and the order of keys included.
    pub(crate) document: Value,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Author {
    pub(crate) name: String,
    pub(crate) url: Option<String>,
}

/// How the tools are run (manifest §3 to §7).
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Runtime {
    Process(ProcessRuntime),
    RemoteHttp(RemoteHttpRuntime),
    DeclarativeHttp(DeclarativeHttpRuntime),
    McpImport(McpImportRuntime),
    LegacyCustomTool(LegacyCustomToolRuntime),
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ProcessRuntime {
    /// `./…` is a file of the package; anything else is absolute or looked up in `PATH`.
    pub(crate) command: String,
    pub(crate) args: Vec<String>,
    pub(crate) lifecycle: Lifecycle,
    /// A folder of the package, `/` between its parts; `None` is the package's own folder.
    pub(crate) working_directory: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Lifecycle {
    PerCall,
    Persistent,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct RemoteHttpRuntime {
    /// http or https.
    pub(crate) base_url: String,
    /// Names and values in the order of the file; `${NAME}` in a value is a declared variable.
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) timeout: Duration,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct DeclarativeHttpRuntime {
    /// One for each tool of the manifest.
    pub(crate) tools: Vec<(ToolName, HttpSpec)>,
    pub(crate) timeout: Duration,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct McpImportRuntime {
    pub(crate) server_id: String,
    /// Name here, name on the server.
    pub(crate) tool_name_overrides: Vec<(String, String)>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct LegacyCustomToolRuntime {
    pub(crate) tool_id: String,
}

/// Shell command lines for whoever works on the package (manifest §8).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Development {
    pub(crate) install_command: Option<String>,
    pub(crate) build_command: Option<String>,
}

/// Text about the package as a whole (manifest §10). Untrusted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct PackageGuidance {
    pub(crate) overview: Option<String>,
    pub(crate) shared_instructions: Option<String>,
    pub(crate) prerequisites: Vec<String>,
}

/// What the package asks for (manifest §12). Each entry once, in the order of the file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Permissions {
    pub(crate) os_effects: Vec<OsEffect>,
    pub(crate) required_capabilities: Vec<CapabilityName>,
    pub(crate) optional_capabilities: Vec<CapabilityName>,
}

impl Manifest {
    pub(crate) fn tool(&self, name: &ToolName) -> Option<&ToolDefinition> {
        self.tools.iter().find(|tool| tool.name == *name)
    }
}

impl Runtime {
    /// Returns the word of `runtime.adapter`.
    pub(crate) const fn adapter(&self) -> &'static str {
        match self {
            Self::Process(_) => "process",
            Self::RemoteHttp(_) => "remote-http",
            Self::DeclarativeHttp(_) => "declarative-http",
            Self::McpImport(_) => "mcp-import",
            Self::LegacyCustomTool(_) => "legacy-custom-tool",
        }
    }
}
