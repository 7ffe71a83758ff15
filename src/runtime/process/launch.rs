//! What is started and with what; what is asked and what is answered.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use serde_json::Value;
use serde_json::value::RawValue;

use crate::base::redacted::{Redacted, Redactor};
use crate::manifest::Lifecycle;
use crate::protocol::PROTOCOL_VERSION;
use crate::tool::{CapabilityName, PackageId, ToolName, VariableName, Version};

/// What a child inherits from us, if it is set (process-protocol §10, layer 1).
const INHERITED: [&str; 10] = ["PATH", "Path", "PATHEXT", "SystemRoot", "WINDIR", "TEMP", "TMP", "TMPDIR", "LANG", "LC_ALL"];

/// A package's process: everything that is started, and nothing that is called.
#[derive(Clone, Debug)]
pub(crate) struct Launch {
    pub(crate) package: PackageId,
    pub(crate) version: Version,
    /// Absolute: `child::resolve` found it, or it is a file of the package.
    pub(crate) program: PathBuf,
    pub(crate) args: Vec<String>,
    pub(crate) working_directory: PathBuf,
    /// Declared variables that have a value, secrets too.
    pub(crate) variables: Vec<(VariableName, Redacted<String>)>,
    /// The package's own writable folder; it exists (design §4, working folder).
    pub(crate) data_directory: PathBuf,
    pub(crate) lifecycle: Lifecycle,
    pub(crate) redactor: Redactor,
    pub(crate) declared_capabilities: Arc<BTreeSet<CapabilityName>>,
    pub(crate) granted_capabilities: Arc<BTreeSet<CapabilityName>>,
}

/// The part of our environment that children get.
#[derive(Clone, Debug, Default)]
pub(crate) struct Inherited(BTreeMap<OsString, OsString>);

impl Inherited {
    /// Keeps what process-protocol §10 lets through.
    pub(crate) fn from_environment(variables: impl IntoIterator<Item = (OsString, OsString)>) -> Self {
        Self(variables.into_iter().filter(|(name, _)| INHERITED.iter().any(|inherited| name == inherited)).collect())
    }
}

impl Launch {
    /// Returns the whole environment but the marker (process-protocol §10; design §4, working folder). Later layers win.
    pub(super) fn environment(&self, inherited: &Inherited) -> BTreeMap<OsString, OsString> {
        let mut environment = inherited.0.clone();
        // An interpreter's cache must not change the package's tree; a declared value wins.
        environment.insert("PYTHONPYCACHEPREFIX".into(), self.data_directory.join("pycache").into());
        environment.extend(self.variables.iter().map(|(name, value)| (name.as_str().into(), value.expose().into())));
        environment.insert("SPARK_TOOL_PACKAGE_ID".into(), self.package.as_str().into());
        environment.insert("SPARK_TOOL_PACKAGE_VERSION".into(), self.version.as_str().into());
        environment.insert("SPARK_TOOL_PROCESS_PROTOCOL".into(), PROTOCOL_VERSION.into());
        environment.insert("SPARK_TOOL_DATA_DIR".into(), self.data_directory.clone().into());
        environment
    }
}

/// One call, its input checked.
#[derive(Clone, Debug)]
pub(crate) struct Invocation {
    /// Unique among the calls of a process.
    pub(crate) id: String,
    pub(crate) tool: ToolName,
    /// An object, defaults filled in, as text: it is written into a frame and nothing else.
    pub(crate) input: Box<RawValue>,
    /// An object (design §4, `invoke.context`).
    pub(crate) context: Value,
    /// Of the whole call, its wait for a process and for its turn included (hardening P-10).
    pub(crate) deadline: Instant,
    /// What was asked for, for the words of an error.
    pub(crate) timeout: Duration,
}

/// What a tool answered.
#[derive(Clone, Debug)]
pub(crate) struct Answer {
    /// As the tool wrote it, secrets not masked: the pipeline masks values, not text.
    pub(crate) result: Box<RawValue>,
    /// The end of what the process wrote to stderr (a persistent one: during this call), masked.
    pub(crate) stderr_tail: String,
}

#[cfg(test)]
mod tests {
    use std::ffi::OsStr;

    use super::*;

    fn launch() -> Launch {
        Launch {
            package: "acme.fake".parse().expect("an id"),
            version: "1.0.0".parse().expect("a version"),
            program: "/bin/false".into(),
            args: Vec::new(),
            working_directory: "/".into(),
            variables: Vec::new(),
            data_directory: "/data".into(),
            lifecycle: Lifecycle::PerCall,
            redactor: Redactor::default(),
            declared_capabilities: Arc::default(),
            granted_capabilities: Arc::default(),
        }
    }

    fn os(text: &str) -> OsString {
        text.into()
    }

    // H: P-16
    #[test]
    fn a_child_inherits_the_documented_names_and_no_token() {
        let host =
            ["PATH", "HOME", "LANG", "TMPDIR", "AWS_SECRET_ACCESS_KEY", "GITHUB_TOKEN", "path", "LC_ALL", "LD_PRELOAD", "NODE_OPTIONS"];
        let inherited = Inherited::from_environment(host.map(|name| (os(name), os("x"))));
        let names: Vec<_> = launch().environment(&inherited).into_keys().collect();
        let expected = [
            "LANG",
            "LC_ALL",
            "PATH",
            "PYTHONPYCACHEPREFIX",
            "SPARK_TOOL_DATA_DIR",
            "SPARK_TOOL_PACKAGE_ID",
            "SPARK_TOOL_PACKAGE_VERSION",
            "SPARK_TOOL_PROCESS_PROTOCOL",
            "TMPDIR",
        ];
        assert_eq!(names, expected.map(os));
    }

    #[test]
    fn later_layers_win() {
        let mut launch = launch();
        for (name, value) in [("LANG", "tool"), ("PYTHONPYCACHEPREFIX", "/own"), ("API_KEY", "k")] {
            launch.variables.push((name.parse().expect("a name"), Redacted::new(value.to_owned())));
        }
        let environment = launch.environment(&Inherited::from_environment([(os("LANG"), os("host"))]));
        for (name, value) in [
            ("LANG", "tool"),
            ("PYTHONPYCACHEPREFIX", "/own"),
            ("API_KEY", "k"),
            ("SPARK_TOOL_PACKAGE_ID", "acme.fake"),
            ("SPARK_TOOL_PACKAGE_VERSION", "1.0.0"),
            ("SPARK_TOOL_PROCESS_PROTOCOL", "spark-tool-process-v1"),
            ("SPARK_TOOL_DATA_DIR", "/data"),
        ] {
            assert_eq!(environment.get(OsStr::new(name)), Some(&os(value)), "{name}");
        }
    }
}
