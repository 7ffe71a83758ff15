//! A package made ready to be called: its manifest, its place, and each tool's compiled schemas, made when first asked.

use std::collections::{BTreeSet, HashMap};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use crate::base::redacted::Redactor;
use crate::manifest::{Manifest, Runtime};
use crate::ops::values::Resolved;
use crate::runtime::process::Launch;
use crate::tool::{CapabilityName, Schema, ToolDefinition, ToolName};

/// A package that can be called, installed or a folder under test.
#[derive(Debug)]
pub(crate) struct Prepared {
    pub(crate) manifest: Arc<Manifest>,
    /// The tree that the child starts in.
    pub(crate) root: PathBuf,
    /// The program that the manifest's command stands for on this machine; `None` if there is none.
    pub(crate) program: Option<PathBuf>,
    /// The package's own writable folder.
    pub(crate) data_directory: PathBuf,
    pub(crate) granted_capabilities: Arc<BTreeSet<CapabilityName>>,
    tools: Mutex<HashMap<ToolName, Arc<PreparedTool>>>,
}

/// One tool with its schemas compiled.
#[derive(Debug)]
pub(crate) struct PreparedTool {
    pub(crate) definition: ToolDefinition,
    pub(crate) input: Schema,
    pub(crate) output: Option<Schema>,
}

impl Prepared {
    pub(crate) fn new(
        manifest: Arc<Manifest>,
        root: PathBuf,
        program: Option<PathBuf>,
        data_directory: PathBuf,
        granted_capabilities: BTreeSet<CapabilityName>,
    ) -> Self {
        Self { manifest, root, program, data_directory, granted_capabilities: Arc::new(granted_capabilities), tools: Mutex::default() }
    }

    /// Returns a tool ready to be called; `None` if the package has none of that name, or its schemas don't compile any
    /// more (a stored manifest from another release: it holds that tool alone).
    pub(crate) fn tool(&self, name: &ToolName) -> Option<Arc<PreparedTool>> {
        let mut tools = self.tools.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(tool) = tools.get(name) {
            return Some(Arc::clone(tool));
        }
        let definition = self.manifest.tools.iter().find(|tool| tool.name == *name)?;
        let input = Schema::compile(&definition.input_schema).ok()?;
        let output = match &definition.output_schema {
            None => None,
            Some(schema) => Some(Schema::compile(schema).ok()?),
        };
        let tool = Arc::new(PreparedTool { definition: definition.clone(), input, output });
        tools.insert(name.clone(), Arc::clone(&tool));
        Some(tool)
    }

    /// Returns the command line as the manifest has it; empty if it isn't a process.
    pub(crate) fn argv(&self) -> impl Iterator<Item = &str> {
        let process = match &self.manifest.runtime {
            Runtime::Process(process) => Some(process),
            Runtime::RemoteHttp(_) | Runtime::DeclarativeHttp(_) | Runtime::McpImport(_) | Runtime::LegacyCustomTool(_) => None,
        };
        process.into_iter().flat_map(|process| std::iter::once(process.command.as_str()).chain(process.args.iter().map(String::as_str)))
    }

    /// Returns how the child is started for a call that has these values; `None` if the package isn't a process or its
    /// program isn't there.
    pub(crate) fn launch(&self, values: &Resolved) -> Option<Launch> {
        let Runtime::Process(process) = &self.manifest.runtime else { return None };
        let permissions = &self.manifest.permissions;
        Some(Launch {
            package: self.manifest.id.clone(),
            version: self.manifest.version.clone(),
            program: self.program.clone()?,
            args: process.args.clone(),
            working_directory: process.working_directory.as_ref().map_or_else(|| self.root.clone(), |folder| self.root.join(folder)),
            variables: values.variables.clone(),
            data_directory: self.data_directory.clone(),
            lifecycle: process.lifecycle,
            redactor: Redactor::new(&values.secrets),
            declared_capabilities: Arc::new(
                permissions.required_capabilities.iter().chain(&permissions.optional_capabilities).cloned().collect(),
            ),
            granted_capabilities: Arc::clone(&self.granted_capabilities),
        })
    }
}
