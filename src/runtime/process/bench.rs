//! What the tests of this room share: a host in a temporary home, the child that misbehaves on request, and eyes that
//! see whether anything of it is left.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::launch::Answer;
use super::{Inherited, Invocation, Launch, ProcessError, ProcessHost};
use crate::base::failure::{Failing as _, Failure};
use crate::base::id;
use crate::base::redacted::{Redacted, Redactor};
use crate::child::Ledger;
use crate::manifest::Lifecycle;
use crate::protocol::{LogLine, Progress};
use crate::runtime::EventSink;

/// The test child, built beside this test's folder.
pub(super) fn fake_tool() -> PathBuf {
    let here = std::env::current_exe().expect("a test has a path");
    let tool = here.ancestors().nth(2).expect("target/debug").join(format!("fake-tool{}", std::env::consts::EXE_SUFFIX));
    assert!(tool.exists(), "{} is built with all binaries: run the tests through cargo nextest", tool.display());
    tool
}

/// A host, a home, and one way to launch.
pub(super) struct Bench {
    pub(super) home: tempfile::TempDir,
    pub(super) host: ProcessHost,
    pub(super) launch: Launch,
    pub(super) limit: Duration,
}

impl Bench {
    /// `mode` is the test child's mode with its arguments, divided by blanks.
    pub(super) fn new(mode: &str) -> Self {
        let home = tempfile::tempdir().expect("a home");
        let (work, data) = (home.path().join("work"), home.path().join("data"));
        std::fs::create_dir_all(&work).expect("a working folder");
        std::fs::create_dir_all(&data).expect("a data folder");
        let launch = Launch {
            package: "acme.fake".parse().expect("an id"),
            version: "1.0.0".parse().expect("a version"),
            program: fake_tool(),
            args: mode.split(' ').map(str::to_owned).collect(),
            working_directory: work,
            variables: Vec::new(),
            data_directory: data,
            lifecycle: Lifecycle::PerCall,
            redactor: Redactor::default(),
            declared_capabilities: Arc::default(),
            granted_capabilities: Arc::default(),
        };
        let ledger = Arc::new(Ledger::new(home.path().join("run/children")));
        let inherited = Inherited::from_environment(
            [("LANG", "C"), ("PATH", "/usr/bin:/bin")].map(|(name, value)| (OsString::from(name), OsString::from(value))),
        );
        Self { host: ProcessHost::new(ledger, inherited), home, launch, limit: Duration::from_secs(20) }
    }

    pub(super) fn persistent(mode: &str) -> Self {
        let mut bench = Self::new(mode);
        bench.launch.lifecycle = Lifecycle::Persistent;
        bench
    }

    pub(super) fn limit(mut self, millis: u64) -> Self {
        self.limit = Duration::from_millis(millis);
        self
    }

    pub(super) fn secret(mut self, name: &str, value: &str) -> Self {
        let secret = Redacted::new(value.to_owned());
        self.launch.redactor = Redactor::new([&secret]);
        self.launch.variables.push((name.parse().expect("a name"), secret));
        self
    }

    pub(super) fn invocation(&self, input: &Value) -> Invocation {
        Invocation {
            id: id::random(),
            tool: "work".parse().expect("a tool's name"),
            input: serde_json::value::to_raw_value(input).expect("JSON"),
            context: json!({}),
            deadline: Instant::now() + self.limit,
            timeout: self.limit,
        }
    }

    pub(super) async fn call(&self, input: Value) -> Result<Answer, ProcessError> {
        self.call_hearing(input, &crate::runtime::Silent).await
    }

    pub(super) async fn call_hearing(&self, input: Value, events: &dyn EventSink) -> Result<Answer, ProcessError> {
        self.host.call(&self.launch, self.invocation(&input), events, std::future::pending()).await
    }

    pub(super) async fn result(&self, input: Value) -> Value {
        let answer = self.call(input).await.expect("an answer");
        serde_json::from_str(answer.result.get()).expect("a result is JSON")
    }

    pub(super) async fn failure(&self, input: Value) -> Failed {
        let error = self.call(input).await.map(|answer| answer.result).expect_err("no answer");
        Failed::from(error)
    }

    /// Says which processes that this host started are alive.
    pub(super) fn alive(&self) -> Vec<u32> {
        alive_below(self.home.path())
    }
}

/// An error as a reader meets it.
#[derive(Debug)]
pub(super) struct Failed {
    pub(super) code: String,
    pub(super) message: String,
    pub(super) details: Value,
}

impl From<ProcessError> for Failed {
    fn from(error: ProcessError) -> Self {
        let (message, details) = (error.to_string(), error.details());
        Self { code: Failure::from(error).code(), message, details }
    }
}

/// Processes that carry a data folder below `home` in their environment, or were started in it.
pub(super) fn alive_below(home: &Path) -> Vec<u32> {
    let wanted = home.display().to_string();
    let mut found = Vec::new();
    for entry in std::fs::read_dir("/proc").into_iter().flatten().flatten() {
        let Some(pid) = entry.file_name().to_str().and_then(|name| name.parse::<u32>().ok()) else { continue };
        let folder = std::fs::read_link(entry.path().join("cwd")).map(|cwd| cwd.display().to_string()).unwrap_or_default();
        if folder.starts_with(&wanted) {
            found.push(pid);
        }
    }
    found
}

/// Keeps what it hears.
#[derive(Default)]
pub(super) struct Recorder {
    heard: Mutex<Vec<String>>,
    pub(super) lost: AtomicU64,
}

impl Recorder {
    pub(super) fn heard(&self) -> Vec<String> {
        self.heard.lock().expect("not poisoned").clone()
    }
}

impl EventSink for Recorder {
    fn log(&self, line: &LogLine) {
        self.heard.lock().expect("not poisoned").push(format!("{} {}", line.level.as_str(), line.message));
    }

    fn progress(&self, progress: &Progress) {
        self.heard.lock().expect("not poisoned").push(format!("{:?} {:?}", progress.fraction, progress.message));
    }

    fn lost(&self, lines: u64) {
        self.lost.fetch_add(lines, Ordering::Relaxed);
    }
}
