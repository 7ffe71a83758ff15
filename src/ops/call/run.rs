//! `call`: one call, many calls, or what a call would do.

use std::fs::File;
use std::io;
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use miette::Diagnostic;
use serde_json::Value;
use thiserror::Error;

use super::each::{EachCall, each};
use super::host::{open_road, open_store};
use super::lines::LineSource;
use super::open::{OpenError, OpenTool, open_tool};
use super::outcome::CallOutcome;
use super::question::calls_question;
use super::recorder::{Recorder, consent_record};
use super::road::{Authority, CallRequest, Caller, Road};
use crate::base::failure::{Class, Failing, Failure};
use crate::base::id;
use crate::base::text::visible;
use crate::ops::{Ask, InputArgs, Settings, assemble};
use crate::runtime::EventSink;
use crate::store::{InvocationSource, StoreError, TraceEnd, TraceKind, TraceOp, TraceOutcome, TraceStart};
use crate::tool::{IdError, Problem, ToolRef, Version, prepare_schemas};

/// What `call` names.
#[derive(Clone, Debug)]
pub(crate) struct OneRequest<'a> {
    /// `PKG/TOOL`, or `PKG@VERSION/TOOL`.
    pub(crate) tool: &'a str,
    pub(crate) input: InputArgs<'a>,
    pub(crate) timeout: Duration,
}

/// What `call --each` names.
#[derive(Clone, Debug)]
pub(crate) struct EachRequest<'a> {
    pub(crate) tool: &'a str,
    pub(crate) from: EachFrom,
    pub(crate) timeout: Duration,
    pub(crate) parallel: usize,
}

#[derive(Clone, Debug)]
pub(crate) enum EachFrom {
    Stdin,
    File(PathBuf),
}

/// What a call would do.
#[derive(Debug)]
pub(crate) struct Planned {
    pub(crate) tool: Arc<OpenTool>,
    /// As the tool would get it, or what is wrong with it.
    pub(crate) input: Result<Value, Vec<Problem>>,
}

#[derive(Debug, Error, Diagnostic)]
pub(crate) enum CallUsageError {
    #[error("`{text}` names no tool: {reason}")]
    #[diagnostic(
        code(spark::call::bad_name),
        help("write PACKAGE/TOOL, for example acme.hello/say_hello; `spark-tool list` shows the packages")
    )]
    BadName { text: String, reason: IdError },
    #[error("can't read the inputs from {origin}")]
    #[diagnostic(code(spark::call::unreadable_inputs), help("--each takes a file with one JSON object a line, or - for standard input"))]
    UnreadableInputs { origin: String, source: io::Error },
}

impl Failing for CallUsageError {
    fn class(&self) -> Class {
        match self {
            Self::BadName { .. } => Class::Usage,
            Self::UnreadableInputs { .. } => Class::Unusable,
        }
    }
}

/// Calls a tool once. The warning says why there is no trace of it, if so.
pub(crate) async fn call_one(
    settings: &Settings,
    ask: &(dyn Ask + Sync),
    request: &OneRequest<'_>,
    events: &dyn EventSink,
) -> Result<(CallOutcome, Option<StoreError>), Failure> {
    let (road, tool) = open(settings, request.tool)?;
    let input = assemble(request.input, &tool.tool.definition.input_schema)?;
    let call = CallRequest {
        package: &tool.package,
        tool: Arc::clone(&tool.tool),
        launch: Arc::clone(&tool.launch),
        input,
        caller: Caller::Terminal,
        authority: Authority::Ask(ask),
        timeout: request.timeout,
    };
    let outcome = road.call(call, events).await;
    Ok((outcome, road.close().await))
}

/// Calls a tool once for each line and hands the outcomes to `done` in the order of the lines, until it has
/// enough.
pub(crate) async fn call_each<E: Into<Failure>>(
    settings: &Settings,
    ask: &(dyn Ask + Sync),
    request: &EachRequest<'_>,
    done: impl FnMut(Vec<CallOutcome>) -> Result<ControlFlow<()>, E>,
) -> Result<Option<StoreError>, Failure> {
    let (road, tool) = open(settings, request.tool)?;
    let unreadable = |source| {
        let origin = match &request.from {
            EachFrom::Stdin => "standard input".to_owned(),
            EachFrom::File(path) => format!("`{}`", visible(&path.to_string_lossy())),
        };
        CallUsageError::UnreadableInputs { origin, source }
    };
    let mut lines = match &request.from {
        EachFrom::Stdin => LineSource::stdin().map_err(unreadable)?,
        EachFrom::File(path) => LineSource::file(File::open(settings.resolve(path)).map_err(unreadable)?),
    };
    let consent = if tool.tool.definition.safety.runs_unasked() {
        None
    } else {
        let consent = ask.confirm(&calls_question(&tool.package, &tool.tool))?;
        let manifest = &tool.package.manifest;
        road.recorder.remember(&consent_record("call", request.tool, manifest, &consent, settings.clock.now()));
        Some(consent)
    };
    let road = Arc::new(road);
    let call = EachCall { tool: Arc::new(tool), consent, timeout: request.timeout, parallel: request.parallel.max(1) };
    let called = each(&road, &call, &mut lines, done).await;
    let problem = road.close().await;
    called.map_err(unreadable)?.map_err(Into::into)?;
    settings.interrupt.check()?;
    Ok(problem)
}

/// Says what a call would do, and starts nothing.
pub(crate) fn plan_one(settings: &Settings, request: &OneRequest<'_>) -> Result<Planned, Failure> {
    let (reference, version) = read_name(request.tool)?;
    let store = open_store(settings.home()?)?;
    let tool = open_tool(&store, &reference, version.as_ref(), path_value(settings))?;
    let input = assemble(request.input, &tool.tool.definition.input_schema)?;
    let input = tool.tool.input.accept(input);
    Ok(Planned { tool: Arc::new(tool), input })
}

fn open(settings: &Settings, name: &str) -> Result<(Road, OpenTool), Failure> {
    let (reference, version) = read_name(name)?;
    // Two cores do in one go what one does after the other. Nobody joins it: whoever needs it first waits for it.
    drop(std::thread::Builder::new().name("schemas".to_owned()).spawn(prepare_schemas));
    let store = open_store(settings.home()?)?;
    let opened = open_tool(&store, &reference, version.as_ref(), path_value(settings));
    let road = open_road(settings, store);
    match opened {
        Ok(tool) => Ok((road, tool)),
        Err(error) => {
            record_refusal(&road.recorder, settings, &reference, &error);
            Err(error.into())
        }
    }
}

fn path_value(settings: &Settings) -> &std::ffi::OsStr {
    settings.environment.get("PATH").unwrap_or_default()
}

/// Reads `PKG/TOOL` or `PKG@VERSION/TOOL`.
fn read_name(text: &str) -> Result<(ToolRef, Option<Version>), CallUsageError> {
    let bad = |reason| CallUsageError::BadName { text: visible(text).into_owned(), reason };
    let (package, tool) = text.rsplit_once('/').ok_or_else(|| bad(IdError::NotARef))?;
    let (package, version) = package.split_once('@').map_or((package, None), |(package, version)| (package, Some(version)));
    let version = version.map(str::parse).transpose().map_err(bad)?;
    Ok((ToolRef { package: package.parse().map_err(bad)?, tool: tool.parse().map_err(bad)? }, version))
}

/// A call that was refused before it had a tool leaves a row too (design §3).
fn record_refusal(recorder: &Recorder, settings: &Settings, tool: &ToolRef, error: &OpenError) {
    let now = settings.clock.now();
    let start = TraceStart {
        package_id: Some(tool.package.to_string()),
        tool_id: Some(tool.to_string()),
        tool_name: Some(tool.tool.to_string()),
        ..TraceStart::new(id::ordered(now), TraceKind::ToolPackage, InvocationSource::Platform, now)
    };
    let end = TraceEnd {
        outcome: if error.class() == Class::NotAllowed { TraceOutcome::Denied } else { TraceOutcome::Error },
        finished_at: now,
        duration_ms: Some(0),
        error_code: Diagnostic::code(error).map(|code| code.to_string()),
        output_bytes: None,
        result_archived: false,
        result_truncated: false,
        retry_count: 0,
    };
    recorder.record(TraceOp::Record(start, end));
}
