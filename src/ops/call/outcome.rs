//! What a call gives: a result or an error of one stage, and what it cost.

use std::fmt;

use miette::Diagnostic;
use serde_json::value::RawValue;
use serde_json::{Value, json};

use super::prepare::Prepared;
use crate::base::failure::{Class, Failing};
use crate::protocol::LogLine;
use crate::tool::{Problem, ToolName, ToolRef, Version};

/// The stages of design §3, in order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Stage {
    Parse,
    Schema,
    Authorize,
    Execute,
    CheckOutput,
}

impl Stage {
    pub(crate) const fn as_str(self) -> &'static str {
        match self {
            Self::Parse => "parse",
            Self::Schema => "schema",
            Self::Authorize => "authorize",
            Self::Execute => "execute",
            Self::CheckOutput => "check-output",
        }
    }
}

/// Why a call gave no result: `E` of design §6.1.
#[derive(Clone, Debug)]
pub(crate) struct CallError {
    pub(crate) stage: Stage,
    /// The tool's own, a wire code, or a `spark::` code.
    pub(crate) code: String,
    pub(crate) message: String,
    pub(crate) help: Option<String>,
    pub(crate) retryable: bool,
    pub(crate) problems: Vec<Problem>,
    pub(crate) details: Value,
    /// What the exit code follows from.
    pub(crate) class: Class,
    pub(crate) status: Status,
}

/// How a call ended, as its trace row says (lifecycle §10).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Status {
    Ok,
    Error,
    Timeout,
    Denied,
    Cancelled,
}

/// One finished call.
#[derive(Debug)]
pub(crate) struct CallOutcome {
    pub(crate) call_id: String,
    pub(crate) tool: ToolRef,
    pub(crate) version: Version,
    /// The result as the tool wrote it, secrets masked.
    pub(crate) result: Result<Box<RawValue>, CallError>,
    pub(crate) logs: Vec<LogLine>,
    pub(crate) logs_dropped: u64,
    pub(crate) stderr_tail: String,
    pub(crate) duration_ms: u64,
    /// Bytes of the result's JSON.
    pub(crate) bytes: u64,
}

impl CallOutcome {
    /// Returns the outcome of a call that never came to its tool.
    pub(crate) fn refused(call_id: String, package: &Prepared, tool: &ToolName, error: CallError) -> Self {
        Self {
            call_id,
            tool: ToolRef { package: package.manifest.id.clone(), tool: tool.clone() },
            version: package.manifest.version.clone(),
            result: Err(error),
            logs: Vec::new(),
            logs_dropped: 0,
            stderr_tail: String::new(),
            duration_ms: 0,
            bytes: 0,
        }
    }

    pub(crate) fn status(&self) -> Status {
        self.result.as_ref().map_or_else(|error| error.status, |_| Status::Ok)
    }
}

/// A call's error as what ends the command.
#[derive(Debug)]
pub(crate) struct CallFailure(pub(crate) CallError);

impl fmt::Display for CallFailure {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.0.message)
    }
}

impl std::error::Error for CallFailure {}

impl Diagnostic for CallFailure {
    fn code<'a>(&'a self) -> Option<Box<dyn fmt::Display + 'a>> {
        Some(Box::new(&self.0.code))
    }

    fn help<'a>(&'a self) -> Option<Box<dyn fmt::Display + 'a>> {
        self.0.help.as_ref().map(|help| Box::new(help) as Box<dyn fmt::Display>)
    }
}

impl Failing for CallFailure {
    fn class(&self) -> Class {
        self.0.class
    }

    fn details(&self) -> Value {
        let mut details = self.0.details.clone();
        if let Value::Object(details) = &mut details
            && !self.0.problems.is_empty()
        {
            let problems = self.0.problems.iter().map(|problem| json!({ "pointer": problem.pointer, "message": problem.message }));
            details.insert("problems".to_owned(), problems.collect());
        }
        details
    }
}
