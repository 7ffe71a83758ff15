//! What stops a command, as a class that gives the exit code. No error type of an adapter is known here.

use std::fmt;

use serde_json::Value;

/// Why a command could not do what it was asked, in the classes of design §6. `cli/exit.rs` has the numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Class {
    /// It ran and the answer is no.
    AnswerNo,
    /// The command line says something that can't be meant.
    Usage,
    /// Consent missing, a rule denies, a gate is closed, a value is missing.
    NotAllowed,
    /// The input can't be used, or the thing named doesn't exist.
    Unusable,
    /// It contradicts what is there.
    Conflict,
    /// The tool did not start, crashed, broke the protocol or its own promise, or ran out of time.
    ToolBroke,
    /// Store, disk, descriptors: this machine.
    Machine,
    /// Ours.
    Bug,
    /// A signal asked us to stop; its number.
    Interrupted(i32),
}

/// An error that ends a use case: a miette diagnostic with a class and, for `--json`, details.
pub(crate) trait Failing: miette::Diagnostic + Send + Sync + 'static {
    fn class(&self) -> Class;

    /// Returns the `details` object of design §6.1, camelCase; an empty object says nothing more is known.
    fn details(&self) -> Value {
        Value::Object(serde_json::Map::new())
    }
}

/// Any [`Failing`], on its way up to the exit code.
pub(crate) struct Failure(Box<dyn Failing>);

impl Failure {
    pub(crate) fn class(&self) -> Class {
        self.0.class()
    }

    pub(crate) fn details(&self) -> Value {
        self.0.details()
    }

    pub(crate) fn diagnostic(&self) -> &dyn Failing {
        self.0.as_ref()
    }

    /// Returns the diagnostic code, `spark::folder::what`.
    pub(crate) fn code(&self) -> String {
        self.0.code().map_or_else(|| "spark::bug".to_owned(), |code| code.to_string())
    }

    pub(crate) fn help(&self) -> Option<String> {
        self.0.help().map(|help| help.to_string())
    }
}

impl<E: Failing> From<E> for Failure {
    fn from(error: E) -> Self {
        Self(Box::new(error))
    }
}

impl fmt::Debug for Failure {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{:?}", self.0)
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}", self.0)
    }
}
