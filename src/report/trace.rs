//! The record of calls.

use std::fmt::Write as _;

use serde::Serialize;

use super::{OutputError, Reporter};
use crate::base::text::{count, visible};
use crate::ops::traces::{Trace, TracePage};

#[derive(Serialize)]
struct ListWire<'a> {
    traces: Vec<TraceWire<'a>>,
    total: u64,
    limit: u32,
    offset: u64,
}

#[derive(Serialize)]
struct ShowWire<'a> {
    trace: TraceWire<'a>,
}

/// `R` of design §6.1: the fields of lifecycle §10.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct TraceWire<'a> {
    id: &'a str,
    correlation_id: &'a str,
    source_kind: &'static str,
    source_id: Option<&'a str>,
    package_id: Option<&'a str>,
    tool_id: Option<&'a str>,
    tool_name: Option<&'a str>,
    version: Option<&'a str>,
    adapter: Option<&'a str>,
    session_id: Option<&'a str>,
    turn_id: Option<&'a str>,
    project_id: Option<&'a str>,
    agent_id: Option<&'a str>,
    workflow_id: Option<&'a str>,
    invocation_source: &'static str,
    status: &'static str,
    started_at: String,
    finished_at: Option<String>,
    duration_ms: Option<u64>,
    error_code: Option<&'a str>,
    input_sha256: Option<&'a str>,
    output_bytes: Option<u64>,
    result_archived: bool,
    result_truncated: bool,
    retry_count: u32,
    created_at: String,
}

impl Reporter {
    /// Answers with one page of calls.
    pub(crate) fn traces(&self, page: &TracePage, limit: u32, offset: u64) -> Result<(), OutputError> {
        let wire = ListWire { traces: page.traces.iter().map(wire).collect(), total: page.total, limit, offset };
        self.answer(true, &wire, |_| table(page))
    }

    /// Answers with one call.
    pub(crate) fn trace(&self, trace: &Trace) -> Result<(), OutputError> {
        self.answer(true, &ShowWire { trace: wire(trace) }, |_| details(trace))
    }
}

fn wire(trace: &Trace) -> TraceWire<'_> {
    let (start, end) = (&trace.start, trace.end.as_ref());
    TraceWire {
        id: &start.id,
        correlation_id: &start.correlation_id,
        source_kind: start.kind.as_str(),
        source_id: start.source_id.as_deref(),
        package_id: start.package_id.as_deref(),
        tool_id: start.tool_id.as_deref(),
        tool_name: start.tool_name.as_deref(),
        version: start.version.as_deref(),
        adapter: start.adapter.as_deref(),
        session_id: start.session_id.as_deref(),
        turn_id: start.turn_id.as_deref(),
        project_id: start.project_id.as_deref(),
        agent_id: start.agent_id.as_deref(),
        workflow_id: start.workflow_id.as_deref(),
        invocation_source: start.invocation_source.as_str(),
        status: trace.status(),
        started_at: start.started_at.to_string(),
        finished_at: end.map(|end| end.finished_at.to_string()),
        duration_ms: end.and_then(|end| end.duration_ms),
        error_code: end.and_then(|end| end.error_code.as_deref()),
        input_sha256: start.input_sha256.as_deref(),
        output_bytes: end.and_then(|end| end.output_bytes),
        result_archived: end.is_some_and(|end| end.result_archived),
        result_truncated: end.is_some_and(|end| end.result_truncated),
        retry_count: end.map_or(0, |end| end.retry_count),
        created_at: trace.created_at.to_string(),
    }
}

fn table(page: &TracePage) -> String {
    let mut text = String::new();
    for trace in &page.traces {
        let (start, end) = (&trace.start, trace.end.as_ref());
        let duration = end.and_then(|end| end.duration_ms).map_or_else(|| "–".to_owned(), |millis| format!("{millis} ms"));
        let code = end.and_then(|end| end.error_code.as_deref()).unwrap_or_default();
        writeln!(
            text,
            "{}  {}  {:<9} {duration:>9}  {}  {}",
            start.id,
            start.started_at,
            trace.status(),
            visible(start.tool_id.as_deref().unwrap_or_default()),
            visible(code)
        )
        .expect("a String takes any text");
    }
    writeln!(text, "{} of {}", page.traces.len(), count(page.total, "call")).expect("a String takes any text");
    text
}

fn details(trace: &Trace) -> String {
    let value = serde_json::to_value(wire(trace)).unwrap_or_default();
    let mut text = String::new();
    for (key, value) in value.as_object().into_iter().flatten() {
        let shown = match value {
            serde_json::Value::Null => continue,
            serde_json::Value::String(text) => visible(text).into_owned(),
            other => other.to_string(),
        };
        writeln!(text, "{key:<17} {shown}").expect("a String takes any text");
    }
    text
}
