//! What `validate` found.

use std::fmt::Write as _;

use serde::Serialize;

use super::finding::{self, FindingWire};
use super::junit::{Case, Suite, Verdict};
use super::{Format, Look, OutputError, Reporter, sarif};
use crate::base::json::Place;
use crate::base::text::{self, visible};
use crate::manifest::{Finding, Severity};
use crate::ops::validate::{Checked, Summary, Validated};

#[derive(Serialize)]
struct ValidatedWire<'a> {
    manifests: Vec<CheckedWire<'a>>,
    summary: SummaryWire,
}

#[derive(Serialize)]
struct CheckedWire<'a> {
    path: &'a str,
    id: Option<&'a str>,
    version: Option<&'a str>,
    valid: bool,
    findings: Vec<FindingWire<'a>>,
    fixed: &'a [String],
}

#[derive(Serialize)]
struct SummaryWire {
    manifests: usize,
    valid: usize,
    errors: usize,
    warnings: usize,
    advice: usize,
}

impl Reporter {
    pub(crate) fn validated(&self, validated: &Validated) -> Result<(), OutputError> {
        let summary = validated.summary();
        match self.format() {
            Format::Human | Format::Json => {}
            Format::Sarif => return self.rendered(&sarif::validated(validated)),
            Format::Github => return self.rendered(&github(validated, summary)),
            Format::Junit => return self.rendered(&junit(validated)),
        }
        let data = ValidatedWire { manifests: validated.manifests.iter().map(checked_wire).collect(), summary: summary_wire(summary) };
        self.answer(validated.is_valid(), &data, |look| human(validated, summary, look))
    }
}

fn checked_wire(checked: &Checked) -> CheckedWire<'_> {
    CheckedWire {
        path: &checked.path,
        id: checked.id.as_deref(),
        version: checked.version.as_deref(),
        valid: checked.is_valid,
        findings: checked.findings.iter().map(FindingWire::from).collect(),
        fixed: &checked.fixed,
    }
}

fn summary_wire(summary: Summary) -> SummaryWire {
    let Summary { manifests, valid, errors, warnings, advice } = summary;
    SummaryWire { manifests, valid, errors, warnings, advice }
}

fn human(validated: &Validated, summary: Summary, look: Look) -> String {
    let mut out = String::new();
    for checked in &validated.manifests {
        for finding in &checked.findings {
            out.push_str(&finding::human(finding, &checked.path, &checked.source, look));
            out.push('\n');
        }
    }
    for checked in &validated.manifests {
        for done in &checked.fixed {
            writeln!(out, "{}: {}", visible(&checked.path), visible(done)).expect("a String takes any text");
        }
    }
    for checked in &validated.manifests {
        let (style, verdict) = if checked.is_valid { ("32", "valid") } else { ("31", "not valid") };
        let name = match (&checked.id, &checked.version) {
            (Some(id), Some(version)) => format!(" ({} {})", visible(id), visible(version)),
            _ => String::new(),
        };
        writeln!(out, "{}{name}: \u{1b}[{style}m{verdict}\u{1b}[0m", visible(&checked.path)).expect("a String takes any text");
    }
    out.push_str(&summary_line(summary));
    out
}

fn summary_line(summary: Summary) -> String {
    let mut out = String::new();
    let Summary { manifests, valid, errors, warnings, advice } = summary;
    if manifests > 1 {
        write!(out, "{}, {valid} valid: ", text::count(manifests as u64, "manifest")).expect("a String takes any text");
    }
    if manifests > 1 || errors + warnings + advice > 0 {
        let (errors, warnings) = (text::count(errors as u64, "error"), text::count(warnings as u64, "warning"));
        writeln!(out, "{errors}, {warnings}, {advice} advice").expect("a String takes any text");
    }
    out
}

/// Workflow commands of GitHub Actions, which show a finding at its line, then the summary for the log.
fn github(validated: &Validated, summary: Summary) -> String {
    let mut out = String::new();
    for checked in &validated.manifests {
        for finding in &checked.findings {
            let level = match finding.severity {
                Severity::Error => "error",
                Severity::Warning => "warning",
                Severity::Advice => "notice",
            };
            let mut properties = format!("file={}", github_property(&checked.path));
            if let Some(Place { line, column, end_line, end_column }) = finding.place {
                write!(properties, ",line={line},endLine={end_line},col={column}").expect("a String takes any text");
                // A column past the line's own end is shown at a wrong place.
                if line == end_line {
                    write!(properties, ",endColumn={end_column}").expect("a String takes any text");
                }
            }
            let message = [Some(finding.message.as_str()), finding.help.as_deref()].into_iter().flatten().map(visible).collect::<Vec<_>>();
            let (title, message) = (github_property(finding.code.as_str()), github_data(&message.join("\n")));
            writeln!(out, "::{level} {properties},title={title}::{message}").expect("a String takes any text");
        }
    }
    out.push_str(&summary_line(summary));
    out
}

fn github_data(text: &str) -> String {
    text.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A")
}

fn github_property(text: &str) -> String {
    github_data(text).replace(':', "%3A").replace(',', "%2C")
}

fn junit(validated: &Validated) -> String {
    let cases = validated.manifests.iter().map(|checked| {
        let lines: Vec<String> = checked.findings.iter().map(|finding| one_line(finding, &checked.path)).collect();
        let lines = lines.join("\n");
        let count = |severity| checked.findings.iter().filter(|finding| finding.severity == severity).count() as u64;
        let message = format!("{}, {}", text::count(count(Severity::Error), "error"), text::count(count(Severity::Warning), "warning"));
        Case {
            class: "validate".to_owned(),
            name: checked.path.clone(),
            duration_ms: 0,
            output: if checked.is_valid { lines.clone() } else { String::new() },
            verdict: if checked.is_valid { Verdict::Passed } else { Verdict::Failed { kind: "findings".to_owned(), message, text: lines } },
        }
    });
    Suite { name: "validate".to_owned(), cases: cases.collect() }.to_xml()
}

/// Returns `file:line:column: severity: message [code]`.
fn one_line(finding: &Finding, path: &str) -> String {
    let place = finding.place.map_or_else(String::new, |place| format!(":{}:{}", place.line, place.column));
    format!("{path}{place}: {}: {} [{}]", finding.severity.as_str(), finding.message, finding.code.as_str())
}
