//! Findings: for people with the lines they are about, for programs field by field.

use std::fmt;

use miette::{Diagnostic, LabeledSpan, SourceCode};
use serde::Serialize;

use super::excerpt::Excerpt;
use super::{Look, failure};
use crate::base::text::{visible, visible_lines};
use crate::manifest::{Finding, Severity};

/// A finding of design §6.1.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct FindingWire<'a> {
    code: &'static str,
    severity: &'static str,
    message: &'a str,
    help: Option<&'a str>,
    pointer: &'a str,
    line: Option<usize>,
    column: Option<usize>,
    end_line: Option<usize>,
    end_column: Option<usize>,
}

impl<'a> From<&'a Finding> for FindingWire<'a> {
    fn from(finding: &'a Finding) -> Self {
        Self {
            code: finding.code.as_str(),
            severity: finding.severity.as_str(),
            message: &finding.message,
            help: finding.help.as_deref(),
            pointer: &finding.pointer,
            line: finding.place.map(|place| place.line),
            column: finding.place.map(|place| place.column),
            end_line: finding.place.map(|place| place.end_line),
            end_column: finding.place.map(|place| place.end_column),
        }
    }
}

/// Returns a finding as a person reads it. `source` is the text of the file called `path`.
pub(super) fn human(finding: &Finding, path: &str, source: &[u8], look: Look) -> String {
    let path = visible(path);
    let excerpt = match (finding.span, finding.place) {
        (Some(span), Some(place)) => Some(Excerpt::new(path.clone().into_owned(), source, span, place)),
        _ => None,
    };
    let message = visible(&finding.message);
    let message = if excerpt.is_some() { message.into_owned() } else { format!("{path}: {message}") };
    let shown = ShownFinding { message, finding, help: finding.help.as_ref().map(|help| visible_lines(help).into_owned()), excerpt };
    failure::rendered(&shown, look)
}

#[derive(Debug)]
struct ShownFinding<'a> {
    message: String,
    finding: &'a Finding,
    help: Option<String>,
    excerpt: Option<Excerpt>,
}

impl fmt::Display for ShownFinding<'_> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.message)
    }
}

impl std::error::Error for ShownFinding<'_> {}

impl Diagnostic for ShownFinding<'_> {
    fn code<'a>(&'a self) -> Option<Box<dyn fmt::Display + 'a>> {
        Some(Box::new(self.finding.code.as_str()))
    }

    fn severity(&self) -> Option<miette::Severity> {
        Some(match self.finding.severity {
            Severity::Error => miette::Severity::Error,
            Severity::Warning => miette::Severity::Warning,
            Severity::Advice => miette::Severity::Advice,
        })
    }

    fn help<'a>(&'a self) -> Option<Box<dyn fmt::Display + 'a>> {
        self.help.as_ref().map(|help| Box::new(help) as Box<dyn fmt::Display>)
    }

    fn source_code(&self) -> Option<&dyn SourceCode> {
        self.excerpt.as_ref().map(|excerpt| excerpt as &dyn SourceCode)
    }

    fn labels(&self) -> Option<Box<dyn Iterator<Item = LabeledSpan> + '_>> {
        let excerpt = self.excerpt.as_ref()?;
        Some(Box::new(std::iter::once(LabeledSpan::new_with_span(None, excerpt.marked()))))
    }
}
