//! Running the cases of a plan and judging what they give.

use std::sync::Arc;

use serde_json::Value;
use serde_json::value::RawValue;
use tokio::sync::Semaphore;
use tokio::task::JoinSet;

use super::case::Case;
use super::expect::{Demand, Expectation, Given, unmet};
use super::plan::{PlannedCase, TestPlan};
use super::torture;
use crate::base::failure::Class;
use crate::base::json;
use crate::ops::Consent;
use crate::ops::call::{Authority, CallError, CallOutcome, CallRequest, Caller, Road, Status};
use crate::protocol::{LogLine, Progress};
use crate::runtime::EventSink;
use crate::tool::Problem;

/// How a case ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    Passed,
    /// The tool works, but gives something else.
    Failed,
    /// The tool didn't start, crashed, broke the protocol or its own schema, or ran out of time.
    Broke,
    /// Not run: an earlier case ended the run, or it can't happen to this tool.
    Skipped,
}

impl Verdict {
    pub(crate) const fn as_str(self) -> &'static str {
        match self {
            Self::Passed => "passed",
            Self::Failed => "failed",
            Self::Broke => "broke",
            Self::Skipped => "skipped",
        }
    }
}

/// One case as it went.
#[derive(Debug)]
pub(crate) struct CaseReport {
    pub(crate) case: Case,
    pub(crate) verdict: Verdict,
    pub(crate) result: Option<Box<RawValue>>,
    pub(crate) error: Option<CallError>,
    pub(crate) problems: Vec<Problem>,
    pub(crate) logs: Vec<LogLine>,
    pub(crate) logs_dropped: u64,
    pub(crate) stderr_tail: String,
    pub(crate) duration_ms: u64,
}

impl CaseReport {
    pub(super) fn skipped(case: Case) -> Self {
        Self {
            case,
            verdict: Verdict::Skipped,
            result: None,
            error: None,
            problems: Vec::new(),
            logs: Vec::new(),
            logs_dropped: 0,
            stderr_tail: String::new(),
            duration_ms: 0,
        }
    }

    /// Returns what the case should demand so that it passes with what it gave, in the kind that it demands; `None` if it
    /// passes, or gave nothing to be kept: an error of ours, or what no demand of that kind or size fits.
    pub(super) fn golden(&self) -> Option<Demand> {
        let Expectation { demand, max_bytes } = &self.case.expectation;
        if self.verdict != Verdict::Failed && !(self.verdict == Verdict::Passed && demand.is_none()) {
            return None;
        }
        if let Some(error) = &self.error {
            let is_theirs = matches!(demand, None | Some(Demand::Error(_))) && !error.code.starts_with("spark::");
            return is_theirs.then(|| Demand::Error(error.code.clone()));
        }
        let result = self.result.as_ref()?;
        let value: Value = json::parse(result.get().as_bytes()).ok()?;
        let golden = match demand {
            Some(Demand::Schema(_) | Demand::Error(_)) => return None,
            Some(Demand::Includes(wanted)) => Demand::Includes(part_of(wanted, &value)),
            Some(Demand::Equals(_)) | None => Demand::Equals(value),
        };
        let expectation = Expectation { demand: Some(golden), max_bytes: *max_bytes };
        if unmet_by_result(&expectation, result).is_empty() { expectation.demand } else { None }
    }

    /// Notes that the case's file demands now what the case gave.
    pub(super) fn meets_its_file(&mut self) {
        self.verdict = Verdict::Passed;
        self.problems.clear();
    }
}

/// Returns of `found` what `wanted` speaks of.
fn part_of(wanted: &Value, found: &Value) -> Value {
    match (wanted, found) {
        (Value::Object(wanted), Value::Object(found)) => {
            wanted.iter().filter_map(|(key, wanted)| Some((key.clone(), part_of(wanted, found.get(key)?)))).collect()
        }
        (Value::Array(wanted), Value::Array(found)) => wanted.iter().zip(found).map(|(wanted, found)| part_of(wanted, found)).collect(),
        _ => found.clone(),
    }
}

/// Hears of cases while they run.
pub(crate) trait Watch: Send + Sync {
    fn started(&self, case: &Case);
    fn log(&self, case: &Case, line: &LogLine);
    fn progress(&self, case: &Case, progress: &Progress);
    fn ended(&self, report: &CaseReport);
}

/// How many cases run at once, and whether the first that doesn't pass ends the run.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RunOptions {
    pub(crate) jobs: usize,
    pub(crate) fail_fast: bool,
    /// Write what the cases gave into their files.
    pub(crate) update: bool,
}

/// Runs the cases; the reports in the order of the plan.
pub(crate) async fn run(
    plan: &Arc<TestPlan>,
    road: &Arc<Road>,
    consent: &Consent,
    options: RunOptions,
    watch: &Arc<dyn Watch>,
) -> Vec<CaseReport> {
    let free = Arc::new(Semaphore::new(options.jobs.max(1)));
    let mut running = JoinSet::new();
    let mut reports: Vec<Option<CaseReport>> = plan.cases.iter().map(|_| None).collect();
    let mut next = 0;
    let mut is_over = false;
    loop {
        while next < plan.cases.len() && !is_over {
            // With every seat taken, wait for an end instead.
            let Ok(seat) = Arc::clone(&free).try_acquire_owned() else { break };
            let (plan, road, consent, watch, at) = (Arc::clone(plan), Arc::clone(road), consent.clone(), Arc::clone(watch), next);
            running.spawn(async move {
                let report = run_case(&plan, &plan.cases[at], &road, &consent, &watch).await;
                drop(seat);
                (at, report)
            });
            next += 1;
        }
        match running.join_next().await {
            None => break,
            Some(Ok((at, report))) => {
                watch.ended(&report);
                is_over |= road.interrupt.signal().is_some() || (options.fail_fast && report.verdict != Verdict::Passed);
                reports[at] = Some(report);
            }
            Some(Err(error)) => std::panic::resume_unwind(error.into_panic()),
        }
    }
    let cases = plan.cases.iter().map(|planned| &planned.case);
    reports.into_iter().zip(cases).map(|(report, case)| report.unwrap_or_else(|| CaseReport::skipped(case.clone()))).collect()
}

async fn run_case(plan: &TestPlan, planned: &PlannedCase, road: &Road, consent: &Consent, watch: &Arc<dyn Watch>) -> CaseReport {
    watch.started(&planned.case);
    if let Some(scenario) = planned.case.scenario() {
        return torture::run(planned, scenario, road).await;
    }
    let request = CallRequest {
        package: &plan.package,
        tool: Arc::clone(&planned.tool),
        launch: Arc::clone(&planned.launch),
        input: planned.case.input.clone(),
        caller: Caller::Test,
        authority: Authority::Given(consent),
        timeout: plan.timeout,
    };
    let sink = CaseSink { case: &planned.case, watch: watch.as_ref() };
    judge(planned.case.clone(), road.call(request, &sink).await)
}

struct CaseSink<'a> {
    case: &'a Case,
    watch: &'a dyn Watch,
}

impl EventSink for CaseSink<'_> {
    fn log(&self, line: &LogLine) {
        self.watch.log(self.case, line);
    }

    fn progress(&self, progress: &Progress) {
        self.watch.progress(self.case, progress);
    }
}

fn judge(case: Case, outcome: CallOutcome) -> CaseReport {
    let (result, error, verdict, problems) = match outcome.result {
        Ok(result) => {
            let problems = unmet_by_result(&case.expectation, &result);
            let verdict = if problems.is_empty() { Verdict::Passed } else { Verdict::Failed };
            (Some(result), None, verdict, problems)
        }
        Err(error) => {
            let problems = unmet(&case.expectation, Given::Error { code: &error.code, message: &error.message });
            let verdict = match error.class {
                _ if problems.is_empty() => Verdict::Passed,
                _ if error.status == Status::Cancelled => Verdict::Skipped,
                Class::AnswerNo => Verdict::Failed,
                _ => Verdict::Broke,
            };
            let problems = if error.problems.is_empty() { problems } else { error.problems.clone() };
            (None, Some(error), verdict, if verdict == Verdict::Passed { Vec::new() } else { problems })
        }
    };
    CaseReport {
        case,
        verdict,
        result,
        error,
        problems,
        logs: outcome.logs,
        logs_dropped: outcome.logs_dropped,
        stderr_tail: outcome.stderr_tail,
        duration_ms: outcome.duration_ms,
    }
}

fn unmet_by_result(expectation: &Expectation, result: &RawValue) -> Vec<Problem> {
    let bytes = result.get().len() as u64;
    // Most cases demand something; one that doesn't is spared the tree.
    let value = match &expectation.demand {
        None => Value::Null,
        Some(_) => json::parse(result.get().as_bytes()).unwrap_or(Value::Null),
    };
    unmet(expectation, Given::Result { value: &value, bytes })
}
