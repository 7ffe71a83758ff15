//! Everything a run was told from outside, resolved: flags, environment and platform, in that order. `cli/settings.rs`
//! makes it; nothing below reads the environment again.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::fmt;
use std::path::{Path, PathBuf};

use miette::Diagnostic;
use thiserror::Error;

use super::Interrupt;
use crate::base::clock::Clock;
use crate::base::failure::{Class, Failing};

#[derive(Clone, Debug)]
pub(crate) struct Settings {
    pub(crate) home: Home,
    /// The file of this program.
    pub(crate) program: PathBuf,
    /// The working folder, absolute, after `-C`.
    pub(crate) folder: PathBuf,
    /// The caller's environment. What a child may inherit of it is decided where the child is started.
    pub(crate) environment: Environment,
    pub(crate) clock: Clock,
    pub(crate) interrupt: Interrupt,
}

impl Settings {
    /// Returns the folder that holds store, packages and data (design §5), absolute; it may not exist yet.
    pub(crate) fn home(&self) -> Result<&Path, SettingsError> {
        match &self.home {
            Home::At(path) => Ok(path),
            Home::Unknown => Err(SettingsError::NoHome),
        }
    }

    /// Returns `path` seen from the working folder.
    pub(crate) fn resolve(&self, path: &Path) -> PathBuf {
        self.folder.join(path)
    }
}

/// Where the home is. Commands that need none work without one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Home {
    At(PathBuf),
    /// Nothing was named, and the system knows no folder of this user's.
    Unknown,
}

#[derive(Debug, Error, Diagnostic)]
#[expect(clippy::enum_variant_names, reason = "each says what there is none of")]
pub(crate) enum SettingsError {
    #[error("there is no folder to keep packages and their data in: this user has no home folder")]
    #[diagnostic(code(spark::settings::no_home), help("name one with --home, or set SPARK_TOOL_HOME"))]
    NoHome,
    #[error("cannot work in the folder `{}`", path.display())]
    #[diagnostic(code(spark::settings::no_folder), help("-C takes a folder that exists"))]
    NoFolder { path: PathBuf, source: std::io::Error },
    #[error("cannot write the log file `{}`", path.display())]
    #[diagnostic(code(spark::settings::no_log), help("--log takes a file in a folder that exists"))]
    NoLog { path: PathBuf, source: std::io::Error },
}

impl Failing for SettingsError {
    fn class(&self) -> Class {
        match self {
            Self::NoHome => Class::Machine,
            Self::NoFolder { .. } | Self::NoLog { .. } => Class::Unusable,
        }
    }
}

/// Environment variables as they were when the run began. Values may be secrets: `Debug` shows names alone.
#[derive(Clone, Default, PartialEq, Eq)]
pub(crate) struct Environment(BTreeMap<OsString, OsString>);

impl Environment {
    pub(crate) fn get(&self, name: &str) -> Option<&OsStr> {
        self.0.get(OsStr::new(name)).map(OsString::as_os_str)
    }

    /// Returns a variable that is there and not empty.
    pub(crate) fn filled(&self, name: &str) -> Option<&OsStr> {
        self.get(name).filter(|value| !value.is_empty())
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = (&OsStr, &OsStr)> {
        self.0.iter().map(|(name, value)| (name.as_os_str(), value.as_os_str()))
    }
}

impl FromIterator<(OsString, OsString)> for Environment {
    fn from_iter<I: IntoIterator<Item = (OsString, OsString)>>(variables: I) -> Self {
        Self(variables.into_iter().collect())
    }
}

impl fmt::Debug for Environment {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_list().entries(self.0.keys()).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn environment(variables: &[(&str, &str)]) -> Environment {
        variables.iter().map(|(name, value)| (OsString::from(name), OsString::from(value))).collect()
    }

    // H: K-5
    #[test]
    fn a_debug_print_shows_no_value() {
        let shown = format!("{:?}", environment(&[("TOKEN", "canary-canary")]));
        assert_eq!(shown, "[\"TOKEN\"]");
    }

    #[test]
    fn an_empty_variable_counts_as_absent_where_it_says_so() {
        let environment = environment(&[("A", ""), ("B", "b")]);
        assert_eq!((environment.filled("A"), environment.filled("B")), (None, Some(OsStr::new("b"))));
    }
}
