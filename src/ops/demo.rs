//! `demo`: what it shows, and the room it shows it in.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use miette::Diagnostic;
use thiserror::Error;

use super::Settings;
use crate::base::failure::{Class, Failing};
use crate::base::{files, id};
use crate::child::resolve;

/// Templates and the program each needs, best first: `python3` is often a shim of a version manager, which takes half a
/// second to start what starts in a fiftieth.
const TEMPLATES: &[(&str, &str)] = &[("node", "node"), ("python", "python3")];
/// The package of the demo.
const ID: &str = "demo.hello";
/// For machines that have none of them: its process is part of this program.
const SAMPLE: &str = "sample";

/// A temporary folder with a home and a working folder, removed when it is dropped.
#[derive(Debug)]
pub(crate) struct Room {
    root: PathBuf,
}

#[derive(Debug, Error, Diagnostic)]
#[error("cannot make the temporary folder `{}`", path.display())]
#[diagnostic(code(spark::demo::no_room), help("TMPDIR names another place for it"))]
pub(crate) struct NoRoom {
    path: PathBuf,
    source: io::Error,
}

impl Failing for NoRoom {
    fn class(&self) -> Class {
        Class::Machine
    }
}

impl Room {
    pub(crate) fn new() -> Result<Self, NoRoom> {
        let root = std::env::temp_dir().join(format!("spark-tool-demo-{}", id::random()));
        let made = Self { root };
        let fails = |source| NoRoom { path: made.root.clone(), source };
        make_private(&made.root).map_err(fails)?;
        fs::create_dir(made.folder()).map_err(fails)?;
        Ok(made)
    }

    fn folder(&self) -> PathBuf {
        self.root.join("work")
    }

    /// Returns the settings of a command that is run in here.
    pub(crate) fn settings(&self, settings: &Settings) -> Settings {
        Settings { home: super::Home::At(self.root.join("home")), folder: self.folder(), ..settings.clone() }
    }

    /// Removes it now, to be able to say if that failed.
    pub(crate) fn close(self) -> io::Result<()> {
        files::remove_tree(&self.root)
    }
}

impl Drop for Room {
    fn drop(&mut self) {
        // `close` said what there is to say; without it the command failed for another reason.
        let _ignored = files::remove_tree(&self.root);
    }
}

/// Makes a folder that is its owner's alone; one that exists is somebody else's.
fn make_private(path: &Path) -> io::Result<()> {
    let mut builder = fs::DirBuilder::new();
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(path)
}

/// Returns the commands of the demo, each as the words after `spark-tool`.
pub(crate) fn commands(settings: &Settings) -> Vec<Vec<&'static str>> {
    let path_value = settings.environment.get("PATH").unwrap_or_default();
    let template = TEMPLATES.iter().find(|(_, program)| resolve(program, path_value).is_some()).map_or(SAMPLE, |(name, _)| name);
    vec![
        vec!["init", "hello", "--template", template, "--id", ID, "--no-input"],
        vec!["validate", "hello"],
        vec!["test", "hello", "--yes"],
        vec!["install", "hello", "--yes"],
        vec!["grant", ID, "--all-declared", "--yes"],
        vec!["enable", ID, "--yes"],
        vec!["call", "demo.hello/greet", "name=Ada"],
        vec!["trace", "list"],
        vec!["disable", ID],
        vec!["uninstall", ID, "--yes"],
    ]
}
