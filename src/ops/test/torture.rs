//! `test --torture`: the sample it takes, and what a scenario tells as a case.

use std::sync::Arc;
use std::time::Instant;

use miette::Diagnostic;
use serde_json::{Value, json};
use thiserror::Error;

use super::case::{Case, CaseSource};
use super::expect::{Demand, Expectation};
use super::plan::PlannedCase;
use super::run::{CaseReport, Verdict};
use crate::base::failure::{Class, Failing};
use crate::ops::call::{CallError, PreparedTool, Road, Stage, Status};
use crate::runtime::process::{Ordeal, Sample, Scenario};
use crate::tool::{Concurrency, Problem};

/// How much text the large input has.
const LARGE: usize = 1024 * 1024;

#[derive(Debug, Error, Diagnostic)]
pub(crate) enum TortureError {
    #[error("no case has an input that its tool accepts")]
    #[diagnostic(code(spark::test::no_sample), help("name a call that works with --tool and --input"))]
    NoSample,
    /// Masked; a tool's words in it.
    #[error("{why}")]
    #[diagnostic(code(spark::test::not_survived), help("docs/protocol.md says what a process has to stand"))]
    NotSurvived { why: String },
}

impl Failing for TortureError {
    fn class(&self) -> Class {
        match self {
            Self::NoSample => Class::Usage,
            Self::NotSurvived { .. } => Class::ToolBroke,
        }
    }
}

/// Returns a case for every scenario, with the tool and input of the first one that is meant to work.
pub(super) fn scenarios(planned: &[PlannedCase]) -> Result<Vec<PlannedCase>, TortureError> {
    let serves = |planned: &&PlannedCase| {
        !matches!(planned.case.expectation.demand, Some(Demand::Error(_))) && planned.tool.input.accept(planned.case.input.clone()).is_ok()
    };
    let sample = planned.iter().find(serves).ok_or(TortureError::NoSample)?;
    let case_of = |scenario: Scenario| PlannedCase {
        case: Case {
            name: scenario.as_str().to_owned(),
            source: CaseSource::Torture(scenario),
            expectation: Expectation { demand: None, max_bytes: None },
            ..sample.case.clone()
        },
        tool: Arc::clone(&sample.tool),
        launch: Arc::clone(&sample.launch),
    };
    Ok(Scenario::ALL.map(case_of).into())
}

/// Puts a process through one scenario.
pub(super) async fn run(planned: &PlannedCase, scenario: Scenario, road: &Road) -> CaseReport {
    let started = Instant::now();
    let Ok(input) = planned.tool.input.accept(planned.case.input.clone()) else {
        unreachable!("the sample was picked because its tool accepts it");
    };
    let large = (scenario == Scenario::LargeInput).then(|| large_input(&planned.tool, &input)).flatten();
    let may_overlap = planned.tool.definition.safety.concurrency() == Concurrency::Parallel;
    let sample = Sample { tool: planned.case.tool.clone(), input, large, may_overlap };
    let ordeal = tokio::select! {
        ordeal = road.host.torture(&planned.launch, &sample, scenario) => ordeal,
        _signal = road.interrupt.raised() => Ordeal::Skipped { why: "interrupted" },
    };
    let mut report = CaseReport::skipped(planned.case.clone());
    report.duration_ms = u64::try_from(started.elapsed().as_millis()).unwrap_or(u64::MAX);
    match ordeal {
        Ordeal::Survived => report.verdict = Verdict::Passed,
        Ordeal::Skipped { why } => report.problems = vec![Problem { pointer: String::new(), message: why.to_owned() }],
        Ordeal::Failed { why, stderr_tail } => {
            report.verdict = Verdict::Broke;
            report.stderr_tail = stderr_tail;
            report.error = Some(call_error(&TortureError::NotSurvived { why }));
        }
    }
    report
}

fn call_error(error: &TortureError) -> CallError {
    CallError {
        stage: Stage::Execute,
        code: error.code().map_or_else(String::new, |code| code.to_string()),
        message: error.to_string(),
        help: error.help().map(|help| help.to_string()),
        retryable: false,
        problems: Vec::new(),
        details: json!({}),
        class: error.class(),
        status: Status::Error,
    }
}

/// Returns `input` with 1 MiB of text where the schema takes it: in a property it names, else in one it doesn't.
fn large_input(tool: &PreparedTool, input: &Value) -> Option<Value> {
    let properties = tool.definition.input_schema["properties"].as_object();
    let names = properties.into_iter().flat_map(|properties| properties.keys().map(String::as_str)).chain(["x-large"]);
    let mut large = names.map(|name| {
        let mut large = input.clone();
        large[name] = "x".repeat(LARGE).into();
        large
    });
    large.find(|large| tool.input.check(large).is_ok())
}
