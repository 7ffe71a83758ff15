//! The world a command runs in: a temporary folder, an empty environment but for what is named, a fixed width. What
//! changes from run to run is replaced in its output.

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::Duration;

use tempfile::TempDir;

/// How long a test waits for what must come. Far above what a busy machine needs.
pub(crate) const PATIENCE: Duration = Duration::from_mins(1);

pub(crate) struct World {
    root: TempDir,
    environment: Vec<(String, String)>,
}

impl World {
    pub(crate) fn new() -> Self {
        let root = TempDir::new().expect("a temporary folder");
        fs::create_dir(root.path().join("work")).expect("a working folder");
        Self { root, environment: Vec::new() }
    }

    /// Sets one more variable for every command.
    pub(crate) fn with(mut self, name: &str, value: &str) -> Self {
        self.environment.push((name.to_owned(), value.to_owned()));
        self
    }

    /// The working folder of every command.
    pub(crate) fn folder(&self) -> PathBuf {
        self.root.path().join("work")
    }

    /// Where the commands keep what they keep. It doesn't exist until one makes it.
    pub(crate) fn home(&self) -> PathBuf {
        self.root.path().join("home")
    }

    /// Writes a file into the working folder, and the folders on its way.
    pub(crate) fn file(self, path: &str, content: impl AsRef<[u8]>) -> Self {
        let path = self.folder().join(path);
        fs::create_dir_all(path.parent().expect("a file is in a folder")).expect("folders");
        fs::write(path, content).expect("a file");
        self
    }

    /// Copies `tests/packages/<name>` into the working folder.
    pub(crate) fn package(self, name: &str) -> Self {
        copy_tree(&repository().join("tests/packages").join(name), &self.folder().join(name));
        self
    }

    pub(crate) fn command<I: IntoIterator<Item = S>, S: AsRef<OsStr>>(&self, args: I) -> Command {
        #[expect(clippy::disallowed_methods, reason = "the tests' door to processes")]
        let mut command = Command::new(env!("CARGO_BIN_EXE_spark-tool"));
        #[expect(clippy::disallowed_methods, reason = "programs of the machine are found as usual")]
        let path = std::env::var_os("PATH").unwrap_or_default();
        command
            .args(args)
            .current_dir(self.folder())
            .env_clear()
            .env("PATH", path)
            .env("SPARK_TOOL_HOME", self.home())
            .env("COLUMNS", "100");
        command.envs(self.environment.iter().map(|(name, value)| (name, value)));
        command
    }

    /// Runs a command without a terminal and an empty stdin.
    pub(crate) fn output<I: IntoIterator<Item = S>, S: AsRef<OsStr>>(&self, args: I) -> Output {
        self.command(args).stdin(Stdio::null()).output().expect("the program runs")
    }

    /// As [`Self::output`], as one text: stdout, stderr, exit code, always all three.
    pub(crate) fn spark<I: IntoIterator<Item = S>, S: AsRef<OsStr>>(&self, args: I) -> String {
        self.shown(&self.output(args))
    }

    /// As [`Self::spark`], with `input` on stdin.
    pub(crate) fn spark_fed<I: IntoIterator<Item = S>, S: AsRef<OsStr>>(&self, args: I, input: &[u8]) -> String {
        use std::io::Write as _;

        let mut child =
            self.command(args).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("the program runs");
        let mut stdin = child.stdin.take().expect("it is piped");
        // A program that doesn't read to the end closes the pipe, which is its right.
        drop(stdin.write_all(input));
        drop(stdin);
        self.shown(&child.wait_with_output().expect("the program ends"))
    }

    /// Returns the answer of a command with `--json`, after checking that it is exactly one object of the documented
    /// shape.
    pub(crate) fn json<I: IntoIterator<Item = S>, S: AsRef<OsStr>>(&self, args: I) -> serde_json::Value {
        let output = self.output(args);
        let text = String::from_utf8(output.stdout).expect("JSON is UTF-8");
        assert_eq!(text.lines().count(), 1, "one object: {text}");
        let answer = serde_json::from_str(&text).expect("JSON");
        crate::json::check_answer(&answer);
        answer
    }

    /// Runs a command on a terminal of its own.
    #[cfg(unix)]
    pub(crate) fn terminal<I: IntoIterator<Item = S>, S: AsRef<OsStr>>(&self, args: I) -> expectrl::session::OsSession {
        let mut command = self.command(args);
        command.env("TERM", "xterm-256color").env("LANG", "C.UTF-8");
        let mut session = expectrl::Session::spawn(command).expect("a terminal");
        session.set_expect_timeout(Some(PATIENCE));
        session
    }

    fn shown(&self, output: &Output) -> String {
        let mut shown = String::from_utf8_lossy(&output.stdout).into_owned();
        if !output.stderr.is_empty() {
            shown.push_str("-- stderr --\n");
            shown.push_str(&String::from_utf8_lossy(&output.stderr));
        }
        let code = output.status.code().map_or_else(|| "by a signal".to_owned(), |code| code.to_string());
        format!("{}[exit {code}]", self.settled(&shown))
    }

    /// Replaces what changes from run to run.
    pub(crate) fn settled(&self, text: &str) -> String {
        let root = self.root.path().to_string_lossy();
        let text = text.replace(&*root, "[ROOT]");
        replaced(
            &text,
            &[
                (r"\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z", "[TIME]"),
                (r"[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}", "[UUID]"),
                (r#"("[a-z]*[dD]urationMs"):\d+"#, "$1:0"),
                (r"\b\d+(\.\d+)? m?s\b", "[DURATION]"),
            ],
        )
    }
}

fn replaced(text: &str, patterns: &[(&str, &str)]) -> String {
    patterns.iter().fold(text.to_owned(), |text, (pattern, by)| {
        regex::Regex::new(pattern).expect("a pattern of ours").replace_all(&text, *by).into_owned()
    })
}

/// The folder of the repository.
pub(crate) fn repository() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// Says whether committed files that a test compares are to be written instead.
pub(crate) fn may_update() -> bool {
    #[expect(clippy::disallowed_methods, reason = "a switch for whoever runs the tests")]
    let update = std::env::var_os("UPDATE");
    update.is_some_and(|value| value == "1")
}

/// Compares a committed file with what it should be; with `UPDATE=1` writes it.
pub(crate) fn check_committed(path: &str, expected: &str) {
    let file = repository().join(path);
    let found = fs::read_to_string(&file).unwrap_or_default();
    if found == expected {
        return;
    }
    assert!(may_update(), "{path} is not what the program makes; run the tests with UPDATE=1 and commit it");
    fs::create_dir_all(file.parent().expect("a file is in a folder")).expect("folders");
    fs::write(file, expected).expect("updated");
}

/// Returns every file below `folder`, in order.
pub(crate) fn files_below(folder: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).expect("a folder") {
            let path = entry.expect("an entry").path();
            if path.is_dir() { folders.push(path) } else { files.push(path) }
        }
    }
    files.sort();
    files
}

fn copy_tree(from: &Path, to: &Path) {
    for file in files_below(from) {
        let target = to.join(file.strip_prefix(from).expect("it is below"));
        fs::create_dir_all(target.parent().expect("a file is in a folder")).expect("folders");
        fs::copy(&file, target).expect("a copy");
    }
}
