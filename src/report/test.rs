//! `test`: cases while they run, and the report at the end.

use std::fmt::Write as _;
use std::path::Path;

use serde::Serialize;
use serde_json::Value;
use serde_json::value::RawValue;

use super::call::{CallErrorWire, LogWire, ProblemWire, error_lines, logs, pretty, problems, progress_words};
use super::failure::stderr_lines;
use super::junit::{Case as JunitCase, Suite, Verdict as JunitVerdict};
use super::{OutputError, Reporter};
use crate::base::text::{count, cut, visible};
use crate::ops::test::{Case, CaseReport, CaseSource, TestPlan, TestReport, Verdict, Watch};
use crate::protocol::{LogLine, Progress as ToolProgress};

#[derive(Serialize)]
struct TestWire<'a> {
    package: PackageWire<'a>,
    cases: Vec<CaseWire<'a>>,
    summary: SummaryWire,
}

#[derive(Serialize)]
struct PackageWire<'a> {
    id: &'a str,
    version: &'a str,
    path: &'a Path,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct CaseWire<'a> {
    name: &'a str,
    source: &'static str,
    tool: &'a str,
    status: &'static str,
    input: &'a Value,
    result: Option<&'a RawValue>,
    error: Option<CallErrorWire<'a>>,
    problems: Vec<ProblemWire<'a>>,
    logs: Vec<LogWire<'a>>,
    logs_dropped: u64,
    stderr_tail: &'a str,
    duration_ms: u64,
}

#[derive(Serialize)]
struct SummaryWire {
    passed: usize,
    failed: usize,
    broke: usize,
    skipped: usize,
}

#[derive(Serialize)]
struct ListWire<'a> {
    package: PackageWire<'a>,
    cases: Vec<ListedWire<'a>>,
}

#[derive(Serialize)]
struct ListedWire<'a> {
    name: &'a str,
    source: &'static str,
    tool: &'a str,
    input: &'a Value,
}

impl Reporter {
    /// Answers with every case and what it gave.
    pub(crate) fn tests(&self, report: &TestReport) -> Result<(), OutputError> {
        let ok = report.worst() == Verdict::Passed;
        match self.format() {
            super::Format::Junit => self.rendered(&junit(report).to_xml()),
            _ => self.answer(ok, &wire(report), |_| human(report)),
        }
    }

    /// Answers with the cases that would run.
    pub(crate) fn listed_cases(&self, plan: &TestPlan) -> Result<(), OutputError> {
        let manifest = &plan.package.manifest;
        let cases = || plan.cases.iter().map(|planned| &planned.case);
        let listed = cases()
            .map(|case| ListedWire { name: &case.name, source: case.source.as_str(), tool: case.tool.as_str(), input: &case.input })
            .collect();
        let package = PackageWire { id: manifest.id.as_str(), version: manifest.version.as_str(), path: plan.path() };
        self.answer(true, &ListWire { package, cases: listed }, |_| {
            lines(cases().map(|case| format!("{:<32} {:<8} {}", visible(&case.name), case.source.as_str(), case.tool)))
        })
    }
}

fn wire(report: &TestReport) -> TestWire<'_> {
    TestWire {
        package: PackageWire { id: report.id.as_str(), version: report.version.as_str(), path: &report.path },
        cases: report.cases.iter().map(case_wire).collect(),
        summary: summary(&report.cases),
    }
}

fn case_wire(report: &CaseReport) -> CaseWire<'_> {
    CaseWire {
        name: &report.case.name,
        source: report.case.source.as_str(),
        tool: report.case.tool.as_str(),
        status: report.verdict.as_str(),
        input: &report.case.input,
        result: report.result.as_deref(),
        error: report.error.as_ref().map(CallErrorWire::from),
        problems: problems(&report.problems),
        logs: logs(&report.logs),
        logs_dropped: report.logs_dropped,
        stderr_tail: &report.stderr_tail,
        duration_ms: report.duration_ms,
    }
}

fn summary(cases: &[CaseReport]) -> SummaryWire {
    let number = |verdict| cases.iter().filter(|case| case.verdict == verdict).count();
    SummaryWire {
        passed: number(Verdict::Passed),
        failed: number(Verdict::Failed),
        broke: number(Verdict::Broke),
        skipped: number(Verdict::Skipped),
    }
}

fn junit(report: &TestReport) -> Suite {
    let cases = report.cases.iter().map(|case| {
        let why = || {
            let problems: Vec<String> = case.problems.iter().map(|problem| format!("{} {}", problem.pointer, problem.message)).collect();
            match &case.error {
                Some(error) => (error.code.clone(), error.message.clone(), format!("{}\n{}", problems.join("\n"), case.stderr_tail)),
                None => ("unexpected result".to_owned(), problems.first().cloned().unwrap_or_default(), problems.join("\n")),
            }
        };
        let verdict = match case.verdict {
            Verdict::Passed => JunitVerdict::Passed,
            Verdict::Skipped => JunitVerdict::Skipped,
            Verdict::Failed => {
                let (kind, message, text) = why();
                JunitVerdict::Failed { kind, message, text }
            }
            Verdict::Broke => {
                let (kind, message, text) = why();
                JunitVerdict::Broke { kind, message, text }
            }
        };
        JunitCase {
            class: format!("{}/{}", report.id, case.case.tool),
            name: case.case.name.clone(),
            duration_ms: case.duration_ms,
            output: lines(case.logs.iter().map(|line| format!("{}: {}", line.level.as_str(), line.message))),
            verdict,
        }
    });
    Suite { name: format!("{} {}", report.id, report.version), cases: cases.collect() }
}

fn human(report: &TestReport) -> String {
    let mut text = String::new();
    for case in &report.cases {
        let (style, word) = match case.verdict {
            Verdict::Passed => ("32", "ok"),
            Verdict::Failed => ("31", "failed"),
            Verdict::Broke => ("31", "broke"),
            Verdict::Skipped => ("33", "skipped"),
        };
        writeln!(text, "\u{1b}[{style}m{word:<8}\u{1b}[0m{} ({}, {} ms)", visible(&case.case.name), case.case.tool, case.duration_ms)
            .expect("a String takes any text");
        let shows_result = case.verdict == Verdict::Failed || (case.verdict == Verdict::Passed && case.case.source == CaseSource::Flags);
        for problem in &case.problems {
            let place = match case.verdict {
                Verdict::Skipped => "not run",
                _ if problem.pointer.is_empty() => "the result",
                _ => &problem.pointer,
            };
            writeln!(text, "  {}: {}", visible(place), visible(&problem.message)).expect("a String takes any text");
        }
        if let Some(error) = case.error.as_ref().filter(|_| case.verdict != Verdict::Passed) {
            text.push_str(&indented(&error_lines(error)));
        }
        if let Some(result) = case.result.as_deref().filter(|_| shows_result) {
            text.push_str(&indented(&format!("{}\n", cut(&pretty(result), 4_000))));
        }
        if !matches!(case.verdict, Verdict::Passed | Verdict::Skipped) {
            text.push_str(&stderr_lines(&case.stderr_tail));
        }
    }
    let summary = summary(&report.cases);
    let parts = [("passed", summary.passed), ("failed", summary.failed), ("broke", summary.broke), ("skipped", summary.skipped)];
    let parts: Vec<String> =
        parts.iter().filter(|(word, number)| *number > 0 || *word == "passed").map(|(word, number)| format!("{number} {word}")).collect();
    writeln!(text, "{} {}: {} of {}", report.id, report.version, parts.join(", "), count(report.cases.len() as u64, "case"))
        .expect("a String takes any text");
    text
}

fn lines(lines: impl Iterator<Item = String>) -> String {
    lines.fold(String::new(), |text, line| text + &line + "\n")
}

fn indented(text: &str) -> String {
    lines(text.lines().map(|line| format!("  {line}")))
}

/// Shows log lines and progress on stderr while cases run.
pub(crate) struct WatchCases {
    reporter: Reporter,
    bar: std::sync::Mutex<super::Progress>,
}

impl WatchCases {
    pub(crate) fn new(reporter: &Reporter, cases: usize) -> Self {
        let bar = super::Progress::begin(reporter, "test", Some(cases as u64));
        Self { reporter: reporter.clone(), bar: std::sync::Mutex::new(bar) }
    }
}

impl Watch for WatchCases {
    fn started(&self, case: &Case) {
        if let Ok(mut bar) = self.bar.lock() {
            bar.say(&case.name);
        }
    }

    fn log(&self, case: &Case, line: &LogLine) {
        self.reporter.log_line(&format!("{} | ", case.name), line);
    }

    fn progress(&self, case: &Case, progress: &ToolProgress) {
        if let Ok(mut bar) = self.bar.lock() {
            bar.say(&format!("{} {}", case.name, progress_words(progress)));
        }
    }

    fn ended(&self, _report: &CaseReport) {
        if let Ok(mut bar) = self.bar.lock() {
            bar.step();
        }
    }
}
