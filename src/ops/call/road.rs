//! The road itself: one function that every call goes through, stage by stage.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use serde_json::value::RawValue;
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};
use tokio::time::timeout_at;

use super::outcome::{CallError, CallOutcome, Stage, Status};
use super::prepare::{Prepared, PreparedTool};
use super::question::call_question;
use super::recorder::Recorder;
use super::recorder::consent_record;
use super::turn::Turns;
use crate::base::clock::Clock;
use crate::base::failure::{Class, Failing};
use crate::base::limits::{LOG_BYTES_KEPT, LOGS_KEPT};
use crate::base::redacted::{MASK, Redactor};
use crate::base::{id, json};
use crate::ops::{Ask, AskError, Consent, Interrupt, NoAsking};
use crate::protocol::{LogLine, Progress};
use crate::runtime::EventSink;
use crate::runtime::process::{Invocation, Launch, ProcessError, ProcessHost};
use crate::store::{InvocationSource, StoreError, TraceEnd, TraceKind, TraceOp, TraceOutcome, TraceStart};
use crate::tool::{Problem, ToolRef};

/// Who calls; decides what the trace row says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Caller {
    /// A person or a script at the command line.
    Terminal,
    /// `spark-tool test`.
    Test,
}

impl Caller {
    const fn as_str(self) -> &'static str {
        match self {
            Self::Terminal => "terminal",
            Self::Test => "test",
        }
    }
}

/// What stands for the person's yes where a tool's risk asks for one.
#[derive(Clone, Copy)]
pub(crate) enum Authority<'a> {
    /// Ask when it is needed.
    Ask(&'a (dyn Ask + Sync)),
    /// Asked before, for all calls of the command.
    Given(#[expect(dead_code, reason = "held as the proof that somebody said yes")] &'a Consent),
    /// Nobody was asked: enough for a tool that only reads.
    Unasked,
}

/// One call on its way.
pub(crate) struct CallRequest<'a> {
    pub(crate) package: &'a Prepared,
    pub(crate) tool: Arc<PreparedTool>,
    pub(crate) launch: Arc<Launch>,
    pub(crate) input: Value,
    pub(crate) caller: Caller,
    pub(crate) authority: Authority<'a>,
    pub(crate) timeout: Duration,
}

impl CallRequest<'_> {
    fn reference(&self) -> ToolRef {
        ToolRef { package: self.package.manifest.id.clone(), tool: self.tool.definition.name.clone() }
    }
}

/// Everything that calls share: processes, traces, turns.
pub(crate) struct Road {
    pub(crate) host: ProcessHost,
    pub(crate) recorder: Recorder,
    pub(crate) turns: Turns,
    pub(crate) clock: Clock,
    pub(crate) interrupt: Interrupt,
    pub(crate) locale: Option<String>,
}

impl Road {
    /// Takes a call through every stage. Always answers, and leaves one trace row whatever happens.
    pub(crate) async fn call(&self, mut request: CallRequest<'_>, events: &dyn EventSink) -> CallOutcome {
        let call_id = id::ordered(self.clock.now());
        let started = Instant::now();
        let manifest = &request.package.manifest;
        let tool = request.reference();
        let given = text_of(&request.input);
        let row = self.row(&call_id, &request, &given);
        let kept = Kept { live: events, logs: Mutex::default() };
        let admitted = self.admit(&mut request);
        let deadline = Instant::now() + request.timeout;
        let begun = admitted.is_ok();
        let mut stderr_tail = String::new();
        let result = match admitted {
            Err(error) => Err(error),
            Ok(input) => {
                let text = if request.tool.input.fills_defaults() { text_of(&input) } else { given };
                // It may have 4 MiB, and the call may take long.
                drop(input);
                let turn = self.turns.take(&tool, request.tool.definition.safety.concurrency());
                let turn = timeout_at(deadline.into(), turn).await;
                self.recorder.begin(TraceOp::Begin(row.clone())).await;
                match turn {
                    Ok(_turn) => self.execute(&request, &call_id, (text, deadline), &kept, &mut stderr_tail).await,
                    Err(_) => Err(self.failed(&ProcessError::turn_never_came(tool.to_string(), request.timeout))),
                }
            }
        };
        let Logs { lines: logs, dropped: logs_dropped, .. } = kept.logs.into_inner().unwrap_or_else(PoisonError::into_inner);
        let outcome = CallOutcome {
            call_id,
            version: manifest.version.clone(),
            tool,
            bytes: result.as_ref().map_or(0, |result| result.get().len() as u64),
            result,
            logs,
            logs_dropped,
            stderr_tail,
            duration_ms: u64::try_from(started.elapsed().as_millis()).unwrap_or(u64::MAX),
        };
        let end = self.end(&outcome);
        self.recorder.end(if begun { TraceOp::Finish { id: row.id, end } } else { TraceOp::Record(row, end) });
        outcome
    }

    /// Stops every process, writes every row, and returns why some could not be written.
    pub(crate) async fn close(&self) -> Option<StoreError> {
        self.host.close().await;
        self.recorder.flush();
        self.recorder.take_problem()
    }

    /// Checks what may be called with what: the input as the tool gets it, defaults filled.
    fn admit(&self, request: &mut CallRequest<'_>) -> Result<Value, CallError> {
        let input = request.tool.input.accept(std::mem::take(&mut request.input)).map_err(broken_input)?;
        if !request.tool.definition.safety.runs_unasked() {
            self.authorize(request, &input)?;
        }
        Ok(input)
    }

    fn authorize(&self, request: &CallRequest<'_>, input: &Value) -> Result<(), CallError> {
        let question = call_question(request.package, &request.tool, input);
        let asked = match request.authority {
            Authority::Given(_) => return Ok(()),
            Authority::Ask(ask) => ask.confirm(&question),
            Authority::Unasked => Err(AskError::Required { subject: question.subject, why: NoAsking::NoInput, flag: question.flag }),
        };
        let consent = asked.map_err(|error| failed_in(Stage::Authorize, &error, Status::Denied))?;
        self.remember(request, &consent);
        Ok(())
    }

    async fn execute(
        &self,
        request: &CallRequest<'_>,
        call_id: &str,
        (input, deadline): (Box<RawValue>, Instant),
        kept: &Kept<'_>,
        stderr_tail: &mut String,
    ) -> Result<Box<RawValue>, CallError> {
        let context = json!({
            "correlationId": call_id,
            "deadlineMs": u64::try_from(request.timeout.as_millis()).unwrap_or(u64::MAX),
            "locale": self.locale,
            "caller": request.caller.as_str(),
        });
        let invocation = Invocation {
            id: call_id.to_owned(),
            tool: request.tool.definition.name.clone(),
            input,
            context,
            deadline,
            timeout: request.timeout,
        };
        let cancelled = async {
            let _signal = self.interrupt.raised().await;
        };
        let answer = self.host.call(&request.launch, invocation, kept, cancelled).await.map_err(|error| {
            stderr_tail.clone_from(&error.about().stderr_tail);
            self.failed(&error)
        })?;
        *stderr_tail = answer.stderr_tail;
        if let Some(schema) = &request.tool.output {
            check_output(schema, &answer.result, &request.reference())?;
        }
        Ok(masked(&request.launch.redactor, answer.result))
    }
}

/// A call's log lines, passed on while it runs and the first of them kept for its outcome.
struct Kept<'a> {
    live: &'a dyn EventSink,
    logs: Mutex<Logs>,
}

#[derive(Default)]
struct Logs {
    lines: Vec<LogLine>,
    bytes: usize,
    dropped: u64,
}

impl Kept<'_> {
    fn logs(&self) -> MutexGuard<'_, Logs> {
        self.logs.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl EventSink for Kept<'_> {
    fn log(&self, line: &LogLine) {
        let mut logs = self.logs();
        logs.bytes += line.message.len();
        if logs.lines.len() < LOGS_KEPT && logs.bytes <= LOG_BYTES_KEPT {
            logs.lines.push(line.clone());
        } else {
            logs.dropped += 1;
        }
        drop(logs);
        self.live.log(line);
    }

    fn progress(&self, progress: &Progress) {
        self.live.progress(progress);
    }

    fn lost(&self, lines: u64) {
        self.logs().dropped += lines;
        self.live.lost(lines);
    }
}

impl Road {
    /// Records a call whose input is no JSON at all.
    pub(crate) fn refuse(&self, request: &CallRequest<'_>, fault: &json::Fault) -> CallOutcome {
        let error = CallError {
            stage: Stage::Parse,
            code: "spark::call::broken_json".to_owned(),
            message: format!("{} at byte {}", fault.message(), fault.span.start),
            help: fault.help(),
            retryable: true,
            problems: Vec::new(),
            details: Value::Object(serde_json::Map::new()),
            class: Class::AnswerNo,
            status: Status::Error,
        };
        let outcome = CallOutcome::refused(id::ordered(self.clock.now()), request.package, &request.tool.definition.name, error);
        let row = self.row(&outcome.call_id, request, &text_of(&request.input));
        self.recorder.end(TraceOp::Record(row, self.end(&outcome)));
        outcome
    }

    fn row(&self, call_id: &str, request: &CallRequest<'_>, input: &RawValue) -> TraceStart {
        let tool = request.reference();
        let (kind, source) = match request.caller {
            Caller::Terminal => (TraceKind::ToolPackage, InvocationSource::Platform),
            Caller::Test => (TraceKind::Test, InvocationSource::Test),
        };
        let manifest = &request.package.manifest;
        TraceStart {
            package_id: Some(manifest.id.to_string()),
            tool_id: Some(tool.to_string()),
            tool_name: Some(tool.tool.to_string()),
            version: Some(manifest.version.to_string()),
            adapter: Some(manifest.runtime.adapter().to_owned()),
            input_sha256: Some(data_encoding::HEXLOWER.encode(&Sha256::digest(input.get().as_bytes()))),
            ..TraceStart::new(call_id.to_owned(), kind, source, self.clock.now())
        }
    }

    fn end(&self, outcome: &CallOutcome) -> TraceEnd {
        TraceEnd {
            outcome: match outcome.status() {
                Status::Ok => TraceOutcome::Ok,
                Status::Error => TraceOutcome::Error,
                Status::Timeout => TraceOutcome::Timeout,
                Status::Denied => TraceOutcome::Denied,
                Status::Cancelled => TraceOutcome::Cancelled,
            },
            finished_at: self.clock.now(),
            duration_ms: Some(outcome.duration_ms),
            error_code: outcome.result.as_ref().err().map(|error| error.code.clone()),
            output_bytes: outcome.result.is_ok().then_some(outcome.bytes),
            result_archived: false,
            result_truncated: false,
            retry_count: 0,
        }
    }

    fn failed(&self, error: &ProcessError) -> CallError {
        let status = match error {
            ProcessError::TimedOut { .. } => Status::Timeout,
            ProcessError::Cancelled { .. } => Status::Cancelled,
            _ => Status::Error,
        };
        let ours = failed_in(Stage::Execute, error, status);
        match error {
            ProcessError::Tool { code, message, .. } => CallError { code: code.clone(), message: message.clone(), ..ours },
            // Whoever sent the signal wants to hear of it by its number.
            ProcessError::Cancelled { .. } => CallError { class: self.interrupt.signal().map_or(ours.class, Class::Interrupted), ..ours },
            _ => ours,
        }
    }

    fn remember(&self, request: &CallRequest<'_>, consent: &Consent) {
        let manifest = &request.package.manifest;
        self.recorder.remember(&consent_record("call", &request.reference().to_string(), manifest, consent, self.clock.now()));
    }
}

/// Returns a value as it is hashed and sent.
fn text_of(value: &Value) -> Box<RawValue> {
    serde_json::value::to_raw_value(value).expect("a value is JSON")
}

fn broken_input(problems: Vec<Problem>) -> CallError {
    CallError {
        stage: Stage::Schema,
        code: "spark::call::invalid_input".to_owned(),
        message: "the input breaks the tool's input schema".to_owned(),
        help: None,
        retryable: true,
        problems,
        details: json!({}),
        class: Class::AnswerNo,
        status: Status::Error,
    }
}

/// An error of ours as a call's error.
fn failed_in(stage: Stage, error: &dyn Failing, status: Status) -> CallError {
    CallError {
        stage,
        code: error.code().map_or_else(String::new, |code| code.to_string()),
        message: error.to_string(),
        help: error.help().map(|help| help.to_string()),
        retryable: false,
        problems: Vec::new(),
        details: error.details(),
        class: error.class(),
        status,
    }
}

fn check_output(schema: &crate::tool::Schema, result: &RawValue, tool: &ToolRef) -> Result<(), CallError> {
    // Its frame was read strictly; that isn't done twice.
    let problems = match serde_json::from_str(result.get()) {
        Ok(value) => schema.check(&value).err().unwrap_or_default(),
        Err(error) => vec![Problem { pointer: String::new(), message: error.to_string() }],
    };
    if problems.is_empty() {
        return Ok(());
    }
    Err(CallError {
        stage: Stage::CheckOutput,
        code: "spark::call::invalid_output".to_owned(),
        message: "the result breaks the tool's own output schema".to_owned(),
        help: Some("the author's to repair: make `outputSchema` and what the tool returns agree".to_owned()),
        retryable: false,
        problems,
        details: json!({ "tool": tool.to_string() }),
        class: Class::ToolBroke,
        status: Status::Error,
    })
}

/// Masks secrets in a result. The text shows whether there is one; the value is where it can be masked without
/// breaking the JSON.
fn masked(redactor: &Redactor, result: Box<RawValue>) -> Box<RawValue> {
    if redactor.is_idle() || matches!(redactor.redact(result.get()), std::borrow::Cow::Borrowed(_)) {
        return result;
    }
    let value = json::parse(result.get().as_bytes()).map(|value| masked_value(redactor, value));
    let text = value.map_or_else(|_| format!("\"{MASK}\""), |value| value.to_string());
    RawValue::from_string(text).unwrap_or(result)
}

fn masked_value(redactor: &Redactor, value: Value) -> Value {
    match value {
        Value::String(text) => Value::String(redactor.redact(&text).into_owned()),
        Value::Number(number) => match redactor.redact(number.as_str()) {
            std::borrow::Cow::Borrowed(_) => Value::Number(number),
            std::borrow::Cow::Owned(text) => Value::String(text),
        },
        Value::Array(items) => Value::Array(items.into_iter().map(|item| masked_value(redactor, item)).collect()),
        Value::Object(members) => Value::Object(
            members.into_iter().map(|(key, value)| (redactor.redact(&key).into_owned(), masked_value(redactor, value))).collect(),
        ),
        Value::Null | Value::Bool(_) => value,
    }
}
