//! From a name to a tool that can be called: installed, enabled, its program and its values there.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::Arc;

use miette::Diagnostic;
use serde_json::{Value, json};
use thiserror::Error;

use super::prepare::{Prepared, PreparedTool};
use crate::base::failure::{Class, Failing};
use crate::base::files::{is_closed_to_writes, make_private_folder};
use crate::base::text::{listed, nearest, visible};
use crate::child::resolve as find_program;
use crate::manifest::{Manifest, Runtime};
use crate::ops::lookup::{self, LookupError};
use crate::ops::screen::{Powers, tool_line};
use crate::ops::values::{self, Layer, ValuesError};
use crate::ops::verify::{Care, check_tree};
use crate::package::PackageError;
use crate::runtime::process::Launch;
use crate::store::{ConfigEntry, Setting, Store, StoreError, Target};
use crate::tool::{
    CapabilityName, Origin, PackageId, PermissionKind, PermissionState, ToolDefinition, ToolName, ToolRef, Trust, VariableName, Version,
};

/// A tool with everything that a call of it needs.
#[derive(Debug)]
pub(crate) struct OpenTool {
    pub(crate) package: Arc<Prepared>,
    pub(crate) tool: Arc<PreparedTool>,
    pub(crate) launch: Arc<Launch>,
}

impl OpenTool {
    /// Returns what a person reads about it before a call.
    pub(crate) fn screen(&self) -> Vec<String> {
        let Prepared { manifest, program, root, .. } = self.package.as_ref();
        let mut lines = Powers { manifest, program: program.as_deref(), root }.lines();
        lines.push(tool_line(&self.tool.definition));
        lines
    }
}

#[derive(Debug, Error, Diagnostic)]
pub(crate) enum OpenError {
    #[error("`{id}` has no tool `{tool}`")]
    #[diagnostic(code(spark::call::unknown_tool))]
    UnknownTool {
        id: PackageId,
        tool: ToolName,
        #[help]
        help: String,
    },
    #[error("`{id}` {version} is not enabled")]
    #[diagnostic(
        code(spark::call::not_enabled),
        help("see what it asks for with `spark-tool permissions {id}`, then `spark-tool enable {id}`")
    )]
    NotEnabled { id: PackageId, version: Version },
    #[error("`{id}` is blocked")]
    #[diagnostic(code(spark::call::blocked), help("somebody blocked it on this machine; `spark-tool show {id}` tells more"))]
    Blocked { id: PackageId },
    #[error("this release can't call tools of the adapter `{adapter}`")]
    #[diagnostic(code(spark::call::adapter_unavailable), help("`process` is the adapter that it runs"))]
    AdapterUnavailable { adapter: &'static str },
    #[error("the program `{command}` is not there")]
    #[diagnostic(code(spark::call::no_program), help("install it, or add its folder to PATH; only absolute folders of PATH are searched"))]
    NoProgram { command: String },
    #[error("can't make the data folder `{}`", .path.display())]
    #[diagnostic(code(spark::call::no_data_folder), help("the package may write there; check the disk and that the home is yours"))]
    NoDataFolder { path: PathBuf, source: std::io::Error },
    #[error(transparent)]
    #[diagnostic(transparent)]
    Lookup(#[from] LookupError),
    #[error(transparent)]
    #[diagnostic(transparent)]
    Package(#[from] PackageError),
    #[error(transparent)]
    #[diagnostic(transparent)]
    Values(#[from] ValuesError),
    #[error(transparent)]
    #[diagnostic(transparent)]
    Store(#[from] StoreError),
}

impl Failing for OpenError {
    fn class(&self) -> Class {
        match self {
            Self::UnknownTool { .. } => Class::Unusable,
            Self::Lookup(error) => error.class(),
            Self::NotEnabled { .. } | Self::Blocked { .. } | Self::AdapterUnavailable { .. } => Class::NotAllowed,
            Self::NoProgram { .. } => Class::ToolBroke,
            Self::NoDataFolder { .. } => Class::Machine,
            Self::Package(error) => error.class(),
            Self::Values(error) => error.class(),
            Self::Store(error) => error.class(),
        }
    }

    fn details(&self) -> Value {
        match self {
            Self::Lookup(error) => error.details(),
            Self::Blocked { id } => json!({ "id": id }),
            Self::NotEnabled { id, version } => json!({ "id": id, "version": version }),
            Self::UnknownTool { id, tool, .. } => json!({ "id": id, "tool": tool }),
            Self::AdapterUnavailable { adapter } => json!({ "adapter": adapter }),
            Self::NoProgram { command } => json!({ "command": command }),
            Self::NoDataFolder { path, .. } => json!({ "path": path }),
            Self::Package(error) => error.details(),
            Self::Values(error) => error.details(),
            Self::Store(error) => error.details(),
        }
    }
}

/// Whether a package must be enabled to be opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Gate {
    Enabled,
    /// For `test`, which also runs what is only installed.
    Installed,
}

/// An installed package, opened: its manifest read again, its program found.
pub(crate) struct Installed {
    pub(crate) package: Arc<Prepared>,
    config: Vec<ConfigEntry>,
    origin: Origin,
}

/// Opens the version that is named, else the enabled one, else the newest.
pub(crate) fn open_package(
    store: &Store,
    id: &PackageId,
    version: Option<&Version>,
    gate: Gate,
    path_value: &std::ffi::OsStr,
) -> Result<Installed, OpenError> {
    let (package, installed) = lookup::find(store, id, version, lookup::Meant::Current)?;
    let version = &installed.version;
    if package.trust == Trust::Blocked {
        return Err(OpenError::Blocked { id: id.clone() });
    }
    if gate == Gate::Enabled && package.enabled.as_ref() != Some(version) {
        return Err(OpenError::NotEnabled { id: id.clone(), version: version.clone() });
    }
    let manifest = lookup::manifest_of(&installed)?;
    check_tree::<OpenError>(store, &installed, &manifest, Care::Quick)?;
    let granted = store.permissions(id, version)?;
    let granted: BTreeSet<CapabilityName> = granted
        .into_iter()
        .filter(|permission| permission.kind == PermissionKind::SparkCapability && permission.state == PermissionState::Granted)
        .filter_map(|permission| permission.name.parse().ok())
        .collect();
    let root = store.layout().version(id.as_str(), version.as_str());
    let data = store.layout().data(id.as_str());
    let program = program_of(&manifest, &root, path_value);
    let package = Prepared::new(Arc::new(manifest), root, program, data, granted);
    Ok(Installed { package: Arc::new(package), config: store.config(id)?, origin: installed.origin })
}

/// Opens one tool of an enabled package, with the values that its child is given.
pub(crate) fn open_tool(
    store: &Store,
    reference: &ToolRef,
    version: Option<&Version>,
    path_value: &std::ffi::OsStr,
) -> Result<OpenTool, OpenError> {
    let installed = open_package(store, &reference.package, version, Gate::Enabled, path_value)?;
    let package = Arc::clone(&installed.package);
    let tool = find_tool(&package, &reference.tool)?;
    let layers = config_layers(&installed, &reference.tool);
    let id = &reference.package;
    let values = values::resolve(&package.manifest.environment, &layers.iter().collect::<Vec<_>>(), |missing| {
        format!("set it with `spark-tool env set {id} {}=…`", missing.first().map_or("NAME", VariableName::as_str))
    })?;
    let launch = launch_of(&package, &values)?;
    make_data_folder(&launch.data_directory)?;
    Ok(OpenTool { package, tool, launch })
}

/// Finds a tool of a manifest, or says which is nearest.
pub(crate) fn find_tool_in<'a>(manifest: &'a Manifest, name: &ToolName) -> Result<&'a ToolDefinition, OpenError> {
    manifest.tool(name).ok_or_else(|| unknown_tool(manifest, name))
}

/// Finds a tool ready to be called, or says which is nearest.
pub(crate) fn find_tool(package: &Prepared, name: &ToolName) -> Result<Arc<PreparedTool>, OpenError> {
    package.tool(name).ok_or_else(|| unknown_tool(&package.manifest, name))
}

fn unknown_tool(manifest: &Manifest, name: &ToolName) -> OpenError {
    let names = || manifest.tools.iter().map(|tool| tool.name.as_str());
    let help = match nearest(name.as_str(), names()) {
        Some(nearest) if nearest != name.as_str() => format!("did you mean `{nearest}`?"),
        Some(_) => "its schema can't be used by this release; install a newer version of the package".to_owned(),
        None => format!("it has {}", listed(names())),
    };
    OpenError::UnknownTool { id: manifest.id.clone(), tool: name.clone(), help }
}

/// Returns how the child is started, or why it can't be.
pub(crate) fn launch_of(package: &Prepared, values: &values::Resolved) -> Result<Arc<Launch>, OpenError> {
    match &package.manifest.runtime {
        Runtime::Process(process) => {
            package.launch(values).map(Arc::new).ok_or_else(|| OpenError::NoProgram { command: visible(&process.command).into_owned() })
        }
        other @ (Runtime::RemoteHttp(_) | Runtime::DeclarativeHttp(_) | Runtime::McpImport(_) | Runtime::LegacyCustomTool(_)) => {
            Err(OpenError::AdapterUnavailable { adapter: other.adapter() })
        }
    }
}

/// Returns the program that the manifest's command stands for: a file of the package, an absolute path, or what `PATH`
/// finds (hardening P-11).
pub(crate) fn program_of(manifest: &Manifest, root: &std::path::Path, path_value: &std::ffi::OsStr) -> Option<PathBuf> {
    let Runtime::Process(process) = &manifest.runtime else { return None };
    let named = std::path::Path::new(&process.command);
    match process.command.strip_prefix("./") {
        Some(relative) => Some(root.join(relative)).filter(|path| path.is_file()),
        None if named.is_absolute() => Some(named.to_owned()).filter(|path| path.is_file()),
        None => find_program(&process.command, path_value),
    }
}

/// Returns the layers of configured values for calls of a tool, the stronger one last.
///
/// A value that was given to code of another origin is handed out to none of this one (design §4, consent on update).
pub(crate) fn config_layers(installed: &Installed, tool: &ToolName) -> [Layer; 2] {
    let layer = |wanted: &dyn Fn(&Target) -> bool| -> Layer {
        let entries = installed.config.iter().filter(|entry| entry.origin == installed.origin && wanted(&entry.target));
        let plain = entries.filter_map(|entry| match &entry.setting {
            Setting::Plain(value) => Some((entry.name.clone(), value.clone())),
            Setting::Keystore(_) => None,
        });
        plain.collect()
    };
    [layer(&|target| matches!(target, Target::Package)), layer(&|target| matches!(target, Target::Tool(name) if name == tool))]
}

/// Makes the package's own writable folder.
pub(crate) fn make_data_folder(path: &std::path::Path) -> Result<(), OpenError> {
    match make_private_folder(path) {
        // Nothing can be kept there, and a tool that keeps nothing works (hardening I-8, Q-4).
        Err(error) if is_closed_to_writes(&error) => Ok(()),
        made => made.map_err(|source| OpenError::NoDataFolder { path: path.to_owned(), source }),
    }
}
