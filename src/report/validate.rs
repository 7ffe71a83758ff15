//! What `validate` found.

use std::fmt::Write as _;

use serde::Serialize;

use super::finding::{self, FindingWire};
use super::{Look, OutputError, Reporter};
use crate::base::text::{count, visible};
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
        let (style, verdict) = if checked.is_valid { ("32", "valid") } else { ("31", "not valid") };
        let name = match (&checked.id, &checked.version) {
            (Some(id), Some(version)) => format!(" ({} {})", visible(id), visible(version)),
            _ => String::new(),
        };
        writeln!(out, "{}{name}: \u{1b}[{style}m{verdict}\u{1b}[0m", visible(&checked.path)).expect("a String takes any text");
    }
    let Summary { manifests, valid, errors, warnings, advice } = summary;
    if manifests > 1 {
        write!(out, "{}, {valid} valid: ", count(manifests as u64, "manifest")).expect("a String takes any text");
    }
    if manifests > 1 || errors + warnings + advice > 0 {
        let (errors, warnings) = (count(errors as u64, "error"), count(warnings as u64, "warning"));
        writeln!(out, "{errors}, {warnings}, {advice} advice").expect("a String takes any text");
    }
    out
}
