//! Calls as they went: results, errors, log lines while they come.

use std::fmt::Write as _;
use std::path::Path;
use std::sync::Mutex;

use serde::Serialize;
use serde_json::Value;
use serde_json::value::RawValue;

use super::failure::stderr_lines;
use super::{Format, OutputError, Progress, Reporter, json};
use crate::base::text::{visible, visible_lines};
use crate::ops::call::{CallError, CallOutcome, EventSink, OpenTool, Planned};
use crate::protocol::{LogLine, Progress as ToolProgress};
use crate::tool::Problem;

/// Lines that are written in one go hold about this much (ours: what a pipe holds on Linux).
const HELD_BYTES: usize = 64 * 1024;

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct CallWire<'a> {
    call_id: &'a str,
    tool: String,
    version: &'a str,
    result: Option<&'a RawValue>,
    error: Option<CallErrorWire<'a>>,
    meta: MetaWire,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct MetaWire {
    duration_ms: u64,
    bytes: u64,
    truncated: bool,
}

/// `E` of design §6.1.
#[derive(Serialize)]
pub(super) struct CallErrorWire<'a> {
    stage: &'static str,
    code: &'a str,
    message: &'a str,
    help: Option<&'a str>,
    retryable: bool,
    problems: Vec<ProblemWire<'a>>,
    details: &'a Value,
}

#[derive(Serialize)]
pub(super) struct ProblemWire<'a> {
    pointer: &'a str,
    message: &'a str,
}

/// A log line as design §6.1 has it.
#[derive(Serialize)]
pub(super) struct LogWire<'a> {
    level: &'static str,
    message: &'a str,
}

impl<'a> From<&'a CallError> for CallErrorWire<'a> {
    fn from(error: &'a CallError) -> Self {
        Self {
            stage: error.stage.as_str(),
            code: &error.code,
            message: &error.message,
            help: error.help.as_deref(),
            retryable: error.retryable,
            problems: problems(&error.problems),
            details: &error.details,
        }
    }
}

pub(super) fn problems(problems: &[Problem]) -> Vec<ProblemWire<'_>> {
    problems.iter().map(|problem| ProblemWire { pointer: &problem.pointer, message: &problem.message }).collect()
}

pub(super) fn logs(logs: &[LogLine]) -> Vec<LogWire<'_>> {
    logs.iter().map(|line| LogWire { level: line.level.as_str(), message: &line.message }).collect()
}

impl Reporter {
    /// Answers with one call.
    pub(crate) fn call(&self, outcome: &CallOutcome) -> Result<(), OutputError> {
        self.detail(&format!("call {} of {} {} took {} ms", outcome.call_id, outcome.tool, outcome.version, outcome.duration_ms));
        match (&outcome.result, self.format()) {
            // stdout has results alone: what a script takes from there must never be an error.
            (Err(error), Format::Human) => {
                self.err(&(error_lines(error) + &stderr_lines(&outcome.stderr_tail)));
                Ok(())
            }
            (result, _) => {
                let human = |_| result.as_ref().map_or_else(|_| String::new(), |result| format!("{}\n", pretty(result)));
                self.answer(result.is_ok(), &wire(outcome), human)
            }
        }
    }

    /// Answers with calls out of many, a line each.
    pub(crate) fn calls_of_many(&self, outcomes: &[CallOutcome]) -> Result<(), OutputError> {
        let mut text = String::new();
        for outcome in outcomes {
            let line = self.answer_text(outcome.result.is_ok(), &wire(outcome), |_| one_line(outcome));
            if text.is_empty() {
                text = line;
            } else {
                text.push_str(&line);
            }
            if text.len() > HELD_BYTES {
                self.rendered(&text)?;
                text.clear();
            }
        }
        if text.is_empty() { Ok(()) } else { self.rendered(&text) }
    }

    /// Shows a log line while the call runs.
    pub(crate) fn log_line(&self, prefix: &str, line: &LogLine) {
        if !self.is_quiet() {
            self.err(&format!("\u{1b}[2m{}{}: {}\u{1b}[0m\n", visible(prefix), line.level.as_str(), visible(&line.message)));
        }
    }
}

fn wire(outcome: &CallOutcome) -> CallWire<'_> {
    CallWire {
        call_id: &outcome.call_id,
        tool: outcome.tool.to_string(),
        version: outcome.version.as_str(),
        result: outcome.result.as_ref().ok().map(Box::as_ref),
        error: outcome.result.as_ref().err().map(CallErrorWire::from),
        meta: MetaWire { duration_ms: outcome.duration_ms, bytes: outcome.bytes, truncated: false },
    }
}

fn one_line(outcome: &CallOutcome) -> String {
    match &outcome.result {
        Ok(result) => format!("{}\n", on_one_line(result)),
        Err(error) => format!("error {}: {}\n", visible(&error.code), visible(&error.message)),
    }
}

/// An error of a call with all its problems.
pub(super) fn error_lines(error: &CallError) -> String {
    let mut text = format!("\u{1b}[31merror\u{1b}[0m {}: {}\n", visible(&error.code), visible_lines(&error.message));
    for problem in &error.problems {
        let place = if problem.pointer.is_empty() { "the value itself" } else { &problem.pointer };
        writeln!(text, "  {} {}", visible(place), visible(&problem.message)).expect("a String takes any text");
    }
    if let Some(help) = &error.help {
        writeln!(text, "  help: {}", visible(help)).expect("a String takes any text");
    }
    text
}

/// Returns a result as a person reads it: indented JSON; text alone for a string.
pub(super) fn pretty(result: &RawValue) -> String {
    match serde_json::from_str::<Value>(result.get()) {
        Ok(Value::String(text)) => visible_lines(&text).into_owned(),
        Ok(value) => json::indented(&value),
        // Deeper than serde_json reads: as it came.
        Err(_) => on_one_line(result),
    }
}

/// Returns a result as it came, as JSON that a terminal may see.
fn on_one_line(result: &RawValue) -> String {
    // A line end or a tab is between two tokens, where a space means the same.
    json::escaped(result.get()).replace(['\n', '\r', '\t'], " ")
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct PlannedWire<'a> {
    tool: String,
    version: &'a str,
    input: Option<&'a Value>,
    problems: Vec<ProblemWire<'a>>,
    asks: bool,
    argv: Vec<&'a str>,
    program: &'a Path,
    working_directory: &'a Path,
    variables: Vec<&'a str>,
}

impl Reporter {
    /// Answers with what a call would do.
    pub(crate) fn planned(&self, planned: &Planned) -> Result<(), OutputError> {
        let OpenTool { package, tool, launch } = planned.tool.as_ref();
        let wire = PlannedWire {
            tool: format!("{}/{}", package.manifest.id, tool.definition.name),
            version: package.manifest.version.as_str(),
            input: planned.input.as_ref().ok(),
            problems: planned.input.as_ref().err().map_or_else(Vec::new, |found| problems(found)),
            asks: !tool.definition.safety.runs_unasked(),
            argv: package.argv().collect(),
            program: &launch.program,
            working_directory: &launch.working_directory,
            variables: launch.variables.iter().map(|(name, _)| name.as_str()).collect(),
        };
        self.answer(planned.input.is_ok(), &wire, |_| planned_text(planned))
    }
}

fn planned_text(planned: &Planned) -> String {
    let mut lines = planned.tool.screen();
    match &planned.input {
        Ok(input) => lines.push(format!("  input:       {}", json::escaped(&input.to_string()))),
        Err(problems) => {
            lines.push("  the input breaks the tool's input schema:".to_owned());
            lines.extend(problems.iter().map(|problem| format!("    {} {}", visible(&problem.pointer), visible(&problem.message))));
        }
    }
    let asks = !planned.tool.tool.definition.safety.runs_unasked();
    lines.push(if asks { "It would ask before the call." } else { "It would run without asking." }.to_owned());
    lines.join("\n") + "\n"
}

/// Shows what a tool says while one call runs.
pub(crate) struct LiveCall {
    reporter: Reporter,
    bar: Mutex<Progress>,
}

impl LiveCall {
    pub(crate) fn new(reporter: &Reporter, what: &str) -> Self {
        Self { reporter: reporter.clone(), bar: Mutex::new(Progress::begin(reporter, what, None)) }
    }
}

impl EventSink for LiveCall {
    fn log(&self, line: &LogLine) {
        self.reporter.log_line("", line);
    }

    fn progress(&self, progress: &ToolProgress) {
        if let Ok(mut bar) = self.bar.lock() {
            bar.say(&progress_words(progress));
        }
    }
}

/// Returns `40 % message`.
pub(super) fn progress_words(progress: &ToolProgress) -> String {
    let part = progress.fraction.map_or(String::new(), |fraction| format!("{:.0} % ", fraction * 100.0));
    format!("{part}{}", progress.message.as_deref().unwrap_or_default())
}
